//! The record under the cursor at a glance, next to the table where there is room for a third column.

use std::ops::Range;

use crate::screens::table::state::Table;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use stepscope_io::pipeline::store::Store;
use unicode_width::UnicodeWidthStr;

use crate::app::open_record::OpenRecord;
use crate::screens::run::findings::sign_of;
use crate::screens::run::question;
use crate::screens::run::steps::sign_of_step;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, Spans, grounding_glyph, grounding_role, kind_role, pane, route_sign};
use crate::widgets::prose::{fit, pad, wrapped};
use crate::widgets::theme::Role;
use stepscope_base::text::{Shown, head};
use stepscope_evidence::document::Document;
use stepscope_judge::triage::Fix;
use stepscope_present::answer::SpanView;
use stepscope_present::answer::route_name;
use stepscope_present::notes::Note;
use stepscope_present::steps::StepRow;
use stepscope_present::variables::VariableRow;
use stepscope_present::variables::WriteRow;
use stepscope_record::finding::counted;
use stepscope_record::state::Badge;

/// Number of lines of the question that are shown.
const QUESTION: usize = 8;
/// Number of lines of one finding that are shown.
const FINDING: usize = 4;
/// Number of lines of one step.
const STEP: usize = 2;
/// Number of findings, citations and steps of a record that people decide about.
const MAX_EVIDENCE: usize = 60;
/// Number of lines of the document around one citation, and of citations.
const MAX_PASSAGE: usize = 16;
const MAX_PASSAGES: usize = 6;
/// Number of bytes of the document's words for one citation.
const MAX_WORDS: usize = 1 << 10;
/// Number of lines of the words of one citation.
const QUOTE: usize = 3;

pub(crate) fn draw(store: &Store, table: &Table, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let look = Look { focused: false, ..look };
    let opened = table.chosen(store.len()).and_then(|record| table.preview(record));
    let lines = opened.map(|opened| content(opened, inner_width(area), inner_height(area), look)).unwrap_or_default();
    let rows = Rows { top: 0, len: lines.len().min(inner_height(area)), at: None };
    let title = table.chosen(store.len()).map(|record| format!("Record {}", record + 1)).unwrap_or_default();
    pane(vec![look.span(title, Role::Title)], rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// Returns the gravest finding, for the line below the table.
pub(crate) fn first_finding(opened: &OpenRecord, look: Look<'_>) -> Option<Spans> {
    // What speaks for a correct answer is no news.
    let is_news = |note: &&Note| note.finding.is_some() || opened.correct != Some(true);
    let note = opened.notes.iter().find(is_news)?;
    let (glyph, role) = sign_of(note);
    Some(vec![look.span(format!("{glyph} "), role), look.span(note.message.as_str(), Role::Text)])
}

/// Lists what is shown of a record, the most important first: lines that do not fit are the least important.
fn content(opened: &OpenRecord, width: usize, height: usize, look: Look<'_>) -> Vec<Spans> {
    let mut lines = text(opened.question.as_str(), width, QUESTION, Role::Text, look);
    lines.push(Vec::new());
    lines.extend(facts(opened, width, look));
    if let Some(error) = &opened.error {
        lines.extend(text(error.as_str(), width, FINDING, Role::Fatal, look));
    }
    let findings = findings(opened, width, height, look);
    let heading = match opened.notes.iter().filter(|note| note.finding.is_some()).count() {
        0 => "No findings".to_owned(),
        count => counted(count, "finding"),
    };
    section(&mut lines, &heading, findings, look);
    section(&mut lines, "Citations", citations(opened, width, height, look), look);
    section(&mut lines, &counted(opened.steps.len(), "step"), steps(opened, width, height, look), look);
    section(&mut lines, "Final state", state(opened, width, height, look), look);
    let whole = |shown: &Option<Shown>, role: Role| {
        shown.as_ref().map(|shown| text(shown.as_str(), width, height, role, look)).unwrap_or_default()
    };
    section(&mut lines, "Expected answer (gold)", whole(&opened.worked, Role::Text), look);
    section(&mut lines, "Reply", whole(&opened.reply, Role::Dim), look);
    lines
}

/// Lists what speaks for and against a record, for people who decide about it: its route, items, findings, and the words of
/// each citation next to those of the document.
pub(crate) fn evidence(opened: &OpenRecord, width: usize, look: Look<'_>) -> Vec<Spans> {
    let most = MAX_EVIDENCE;
    let mut lines = Vec::new();
    let name =
        opened.structured.as_ref().and_then(|structured| structured.document.as_ref()?.origin().map(Shown::last_part));
    lines.extend(name.map(|name| vec![look.span("document  ", Role::Faint), look.span(name.as_str(), Role::Text)]));
    lines.extend(facts(opened, width, look));
    section(&mut lines, "Findings", findings(opened, width, most, look), look);
    section(&mut lines, "Citations", citations(opened, width, most, look), look);
    section(&mut lines, "Document", passages(opened, width, look), look);
    section(&mut lines, &counted(opened.steps.len(), "step"), steps(opened, width, most, look), look);
    lines
}

/// Lists the lines of the document around each citation, marked where they are cited and where the quote is.
fn passages(opened: &OpenRecord, width: usize, look: Look<'_>) -> Vec<Spans> {
    let Some(structured) = &opened.structured else { return Vec::new() };
    let Some(document) = structured.document.as_deref() else { return Vec::new() };
    let line = |span: &SpanView, n: usize| {
        let holds = |lines: Option<&Range<usize>>| lines.is_some_and(|lines| lines.contains(&n));
        let (sign, role) = match (holds(span.found.as_ref().map(|found| &found.lines)), holds(span.cited.as_ref())) {
            (true, _) => ("» ", Role::Ok),
            (false, true) => ("▌ ", Role::Accent),
            (false, false) => ("  ", Role::Faint),
        };
        let text = Shown::line(document.line(n).map_or(&[][..], <[u8]>::trim_ascii_end));
        vec![look.span(sign, role), look.span(fit(text.as_str(), width.saturating_sub(2)), Role::Text)]
    };
    let passage = |span: &SpanView| {
        let found = span.found.as_ref().map(|found| found.lines.clone()).or_else(|| span.near.clone());
        let (cited, found) = (span.cited.clone().or_else(|| found.clone())?, found.or_else(|| span.cited.clone())?);
        let (from, to) = (cited.start.min(found.start), cited.end.max(found.end));
        // Where they are far apart, that which was found says more.
        let around = if to - from > MAX_PASSAGE { found } else { from..to };
        let end = (around.end + 1).min(around.start + MAX_PASSAGE).min(document.len());
        Some((around.start.saturating_sub(1)..end).map(|n| line(span, n)).collect::<Vec<_>>())
    };
    let passages: Vec<_> = structured.spans.iter().take(MAX_PASSAGES).filter_map(passage).collect();
    passages.join(&Spans::new())
}

/// Adds a heading and its lines, if there are any.
fn section(lines: &mut Vec<Spans>, heading: &str, content: Vec<Spans>, look: Look<'_>) {
    if !content.is_empty() {
        lines.extend([Vec::new(), vec![look.span(heading, Role::Title)]]);
        lines.extend(content);
    }
}

fn text(text: &str, width: usize, most: usize, role: Role, look: Look<'_>) -> Vec<Spans> {
    wrapped(text, width, most).take(most).map(|line| vec![look.span(line, role)]).collect()
}

/// Wraps a text behind its sign, under itself up to so many lines.
fn signed(
    (sign, sign_role): (&str, Role),
    text: &str,
    (width, most): (usize, usize),
    role: Role,
    look: Look<'_>,
) -> Vec<Spans> {
    let indent = sign.width();
    let lines = wrapped(text, width.saturating_sub(indent), most).take(most).enumerate();
    let head = |n: usize| if n == 0 { sign.to_owned() } else { " ".repeat(indent) };
    lines.map(|(n, line)| vec![look.span(head(n), sign_role), look.span(line, role)]).collect()
}

fn findings(opened: &OpenRecord, width: usize, height: usize, look: Look<'_>) -> Vec<Spans> {
    let lines = |note: &Note| {
        let (glyph, role) = sign_of(note);
        signed((&format!("{glyph} "), role), note.message.as_str(), (width, FINDING), Role::Text, look)
    };
    opened.notes.iter().take(height).flat_map(lines).collect()
}

/// Lists every citation of a structured answer with its words, under the value that it supports.
fn citations(opened: &OpenRecord, width: usize, height: usize, look: Look<'_>) -> Vec<Spans> {
    let Some(structured) = &opened.structured else { return Vec::new() };
    let lines =
        |span: &SpanView| {
            let place = format!("{}  {}", span.written, span.badge);
            let head = format!("{} ", grounding_glyph(span.standing));
            let mut lines = signed((&head, grounding_role(span.standing)), &place, (width, 1), Role::Dim, look);
            let quote = span.quote.iter();
            lines.extend(
                quote.flat_map(|quote| signed(("  ", Role::Text), quote.as_str(), (width, QUOTE), Role::Text, look)),
            );
            let words = words_there(span, structured.document.as_deref());
            lines.extend(words.iter().flat_map(|words| {
                signed(("  document: ", Role::Faint), words.as_str(), (width, QUOTE), Role::Text, look)
            }));
            lines
        };
    structured.spans.iter().take(height).flat_map(lines).collect()
}

/// Returns the document's words for a quote that are not those of the quote: those that were found, else those of the lines
/// that are cited.
fn words_there(span: &SpanView, document: Option<&Document>) -> Option<Shown> {
    let is_same = span.found.is_some() && span.quote_marks.is_empty() && span.recovered_marks.is_empty();
    if is_same {
        return None;
    }
    let cited = || Some(Shown::line(head(document?.text(span.cited.clone()?), MAX_WORDS).trim_ascii_end()));
    span.recovered.clone().or_else(cited)
}

fn steps(opened: &OpenRecord, width: usize, height: usize, look: Look<'_>) -> Vec<Spans> {
    let lines = |(n, step): (usize, &StepRow)| {
        let (glyph, role) = sign_of_step(opened, n, step);
        let text = format!("{}  {}", n + 1, step.text);
        signed((&format!("{glyph} "), role), &text, (width, STEP), Role::Text, look)
    };
    opened.steps.iter().enumerate().take(height).flat_map(lines).collect()
}

/// Lists the last value of each variable that a step wrote or a person set, and which step.
fn state(opened: &OpenRecord, width: usize, height: usize, look: Look<'_>) -> Vec<Spans> {
    let is_listed = |write: &WriteRow| write.step.is_some() || write.badge == Badge::Override;
    let rows = || opened.variables.iter().filter(|row| row.writes.last().is_some_and(is_listed));
    let names = rows().take(height).map(|row| row.name.as_str().width());
    let name_width = names.max().unwrap_or(0).min(width * 2 / 5);
    let line = |row: &VariableRow| {
        let write = row.writes.last()?;
        let step =
            write.step.map_or_else(|| format!("  {}", write.badge.label()), |step| format!("  step {}", step + 1));
        let (value, role) = match &write.value {
            Some(value) => (value.line.as_str(), kind_role(value.kind)),
            None => (write.badge.label(), Role::Dim),
        };
        let room = width.saturating_sub(name_width + 2 + step.width());
        Some(vec![
            look.span(pad(row.name.as_str(), name_width), Role::Key),
            look.span("  ", Role::Text),
            look.span(fit(value, room), role),
            look.span(step, Role::Faint),
        ])
    };
    rows().take(height).filter_map(line).collect()
}

/// Lists answer, expected answer and where to fix.
fn facts(opened: &OpenRecord, width: usize, look: Look<'_>) -> Vec<Spans> {
    let fact = |name: &str, value: &str, role: Role| {
        let value = fit(value, width.saturating_sub(10));
        vec![look.span(format!("{name:9} "), Role::Faint), look.span(value, role)]
    };
    let mut lines = Vec::new();
    lines.extend(question::answer(opened).map(|(answer, role)| fact("answer", answer, role)));
    lines.extend(opened.gold.as_ref().map(|gold| fact("expected", gold.as_str(), Role::Gold)));
    let fix = opened.where_to_fix.as_ref().filter(|verdict| !matches!(verdict.fix, Fix::None | Fix::Unknown));
    lines.extend(fix.map(|verdict| {
        let step = verdict.step.map(|step| format!(", step {}", step + 1)).unwrap_or_default();
        fact("fix", &format!("{}{step} ({})", verdict.phrase, verdict.confidence.word()), Role::Accent)
    }));
    lines.extend(
        opened
            .route
            .map(|route| fact("route", &format!("{}: {}", route_name(route), route.phrase()), route_sign(route).1)),
    );
    if let Some(structured) = &opened.structured {
        lines.extend(structured.items.iter().take(8).map(|item| {
            let value = item.lines.first().map_or("", |line| line.as_str());
            vec![
                look.span(format!("{} ", grounding_glyph(item.standing)), grounding_role(item.standing)),
                look.span(format!("{}  ", item.title), Role::Key),
                look.span(fit(value, width.saturating_sub(12)), Role::Text),
            ]
        }));
    }
    lines
}
