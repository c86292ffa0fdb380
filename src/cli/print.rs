//! Commands that print what the program itself knows: rules, keys, schemas.

use std::path::Path;
use std::sync::Arc;

use crate::cli::codes::CLEAN;
use crate::cli::codes::FOUND;
use crate::cli::options::ListFormat;
use crate::cli::out::Colour;
use crate::cli::out::Out;
use stepscope_base::json::Tape;
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_io::failure::Failure;
use stepscope_io::source::input::try_map;
use stepscope_io::source::maps::{self, RowMap};
use stepscope_judge::case::{Case, Context, Location};
use stepscope_judge::rule::Rule;
use stepscope_judge::rules;
use stepscope_judge::rules::RULES;
use stepscope_judge::triage::Reason;
use stepscope_record::Record;
use stepscope_record::schemas;
use stepscope_report::text::write;

/// Row of the table of keys.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// Context in which the key works.
    pub context: &'static str,
    /// Keys, as they are written.
    pub keys: String,
    /// Id of the action, for remapping.
    pub action: &'static str,
    /// Description of the action.
    pub help: &'static str,
}

/// Lists that the screen owns, and how it copies. This layer does not know the screen: `main` hands them over.
#[derive(Clone, Copy, Debug)]
pub struct ScreenLists<'a> {
    /// Table of keys.
    pub keys: &'a [KeyRow],
    /// Names of the themes that are built in.
    pub themes: &'a [&'static str],
    /// Way to the clipboard, and what has to be set for it.
    pub clipboard: &'a str,
}

pub(super) fn keys(keys: &[KeyRow], format: ListFormat, out: &mut Out) {
    if format == ListFormat::Jsonl {
        for row in keys {
            Style::ASCII.line(out, |object| {
                object.text("context", row.context).text("keys", &row.keys);
                object.text("action", row.action).text("help", row.help);
            });
        }
        return;
    }
    let width = |of: fn(&KeyRow) -> usize| keys.iter().map(of).max().unwrap_or(0);
    let keys_width = width(|row| row.keys.chars().count());
    let action_width = width(|row| row.action.len());
    let mut context = "";
    for row in keys {
        if row.context != context {
            context = row.context;
            out.line(&shown!(
                "{}{context}",
                if row.context == keys.first().map_or("", |row| row.context) { "" } else { "\n" }
            ));
        }
        let name = Shown::line(row.keys.as_bytes());
        out.line(&shown!("  {name:keys_width$}  {:action_width$}  {}", row.action, row.help));
    }
}

pub(super) fn rules(id: Option<&str>, format: ListFormat, out: &mut Out) -> Result<u8, Shown> {
    let Some(id) = id else {
        if format == ListFormat::Jsonl {
            for rule in RULES {
                write_json(rule, out);
            }
            return Ok(CLEAN);
        }
        let width = RULES.iter().map(|rule| rule.id.word().len()).max().unwrap_or(0);
        for rule in RULES {
            out.line(&shown!("{:width$}  {:10}  {}", rule.id, rule.id.severity(), rule.summary));
        }
        return Ok(CLEAN);
    };
    if let Some(reason) = Reason::from_word(id) {
        match format {
            ListFormat::Text => {
                out.line(&shown!("{} (reason for a place to fix)\n\n{}", reason.word(), reason.phrase()));
            }
            ListFormat::Jsonl => Style::ASCII.line(out, |object| {
                object.text("id", reason.word()).text("summary", reason.phrase());
            }),
        }
        return Ok(CLEAN);
    }
    let Some(rule) = rules::rule(id) else {
        let word = id.rsplit('/').next().unwrap_or(id);
        let near: Vec<_> = RULES
            .iter()
            .filter(|rule| !word.is_empty() && rule.id.word().contains(word))
            .map(|rule| rule.id.word())
            .collect();
        let name = Shown::line(id.as_bytes());
        return Err(if near.is_empty() {
            shown!("no rule \"{name}\"; `stepscope rules` lists them")
        } else {
            shown!("no rule \"{name}\". Did you mean \"{}\"?", near.join(", "))
        });
    };
    match format {
        ListFormat::Text => explain(rule, out),
        ListFormat::Jsonl => write_json(rule, out),
    }
    Ok(CLEAN)
}

fn write_json(rule: &Rule, out: &mut Out) {
    Style::ASCII.line(out, |object| {
        object.text("id", rule.id.word()).text("severity", rule.id.severity().word());
        object.text("summary", rule.summary).text("explanation", rule.explanation);
        object.text("bad", rule.bad).text("good", rule.good);
    });
}

fn explain(rule: &Rule, out: &mut Out) {
    out.line(&shown!("{} ({})\n\n{}\n\n{}\n", rule.id, rule.id.severity(), rule.summary, rule.explanation));
    out.line(&shown!("Found in\n\n{}\n", indented(rule.bad)));
    example(rule, out);
    out.line(&shown!("Not in\n\n{}", indented(rule.good)));
}

#[derive(Debug)]
struct Example;

impl Context for Example {
    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        Untrusted::new(b"example")
    }
}

/// Prints the findings of a rule on its own bad example.
fn example(rule: &Rule, out: &mut Out) {
    let mut tape = Tape::default();
    let bad = rules::example(rule.bad);
    // Examples of rules about sources are whole sources: what is said is said of the last record in them.
    let around = rules::of_example(rule.id);
    let bad = if around.is_some() { last_value(&bad) } else { bad.as_ref() };
    tape.read(bad);
    let case = Case::of(bad, tape, Location { line: 1, column: 1, ..Location::default() }, Arc::new(Example));
    let mut findings = case.findings().clone();
    findings.retain(|finding| finding.rule == rule.id);
    findings.extend(around);
    let mut text = Vec::new();
    write(&case.view(), &findings, &out.look(Colour::Never).nameless(), &mut text);
    out.styled(&text);
}

/// Returns the last object of an example in which none is nested in another.
fn last_value(text: &[u8]) -> &[u8] {
    let start = memchr::memmem::rfind(text, br#"{"id""#).unwrap_or(0);
    text.get(start..).unwrap_or_default()
}

fn indented(example: &str) -> Shown {
    // Some rules speak only of very long records.
    const LONG: usize = 4_000;
    let cut = |line: &str| match line.char_indices().nth(LONG) {
        Some((at, _)) => format!("    {}…", line.get(..at).unwrap_or_default()),
        None => format!("    {line}"),
    };
    let lines: Vec<String> = example.lines().map(cut).collect();
    Shown::prose(lines.join("\n").as_bytes())
}

pub(super) fn schema(name: Option<&str>, format: ListFormat, out: &mut Out) -> Result<u8, Shown> {
    let all = schemas::ALL.iter().chain(&schemas::TYPES);
    let Some(name) = name else {
        for schema in all {
            match format {
                ListFormat::Text => out.line(&shown!("{:14}{}", schema.name, schema.summary)),
                ListFormat::Jsonl => {
                    Style::ASCII
                        .line(out, |object| _ = object.text("name", schema.name).text("summary", schema.summary));
                }
            }
        }
        return Ok(CLEAN);
    };
    if let Some(schema) = all.clone().find(|schema| schema.name == name) {
        out.write(schema.text.as_bytes());
        return Ok(CLEAN);
    }
    let names: Vec<_> = all.map(|schema| schema.name).collect();
    let name = Shown::line(name.as_bytes());
    Err(shown!("no schema \"{name}\" (available: {})", names.join(", ")))
}

/// Lists the maps for files of other programs, or prints one.
pub(super) fn map(name: Option<&str>, out: &mut Out) -> Result<u8, Shown> {
    let Some(name) = name else {
        for (name, text) in maps::FILES {
            let about = text.lines().next().unwrap_or_default().trim_start_matches("# ");
            out.line(&shown!("{name:22}{about}"));
        }
        return Ok(CLEAN);
    };
    match maps::FILES.iter().find(|(own, _)| *own == name) {
        Some((_, text)) => out.write(text.as_bytes()),
        None => {
            let names = maps::FILES.map(|(name, _)| name).join(", ");
            return Err(shown!("no map \"{}\" (available: {names})", Shown::line(name.as_bytes())));
        }
    }
    Ok(CLEAN)
}

/// Tries a map on the first row of a file.
pub(super) fn map_on(file: &Path, map: Option<&Path>, out: &mut Out) -> Result<u8, Failure> {
    let map = map.map(RowMap::read).transpose()?;
    let tried = try_map(file, map.as_ref())?;
    let Some(name) = &tried.map else {
        out.line(&Shown::own("# No map fits the first row. A first one, made of its names:"));
        out.write(tried.draft.as_bytes());
        for (path, value) in &tried.left_over {
            out.line(&shown!("# {path}  {value}"));
        }
        return Ok(FOUND);
    };
    out.line(&shown!("map: {name}"));
    for (key, value) in &tried.keys {
        out.line(&shown!("  {key:18}{}", value.as_ref().map_or("missing", Shown::as_str)));
    }
    if !tried.left_over.is_empty() {
        out.line(&Shown::own("left over:"));
    }
    for (path, value) in &tried.left_over {
        out.line(&shown!("  {path}  {value}"));
    }
    Ok(CLEAN)
}
