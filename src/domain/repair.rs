//! Mending a procedure: upstream's repair prompt, byte for byte (`evoproc_procedures.repairs`), and the fixes that need
//! no model, as previews. A fix is judged as the procedure was: by what upstream's validator says before and after.

use std::collections::HashSet;

use super::compose::{Object, list, one_line, text};
use super::finding::{Datum, Finding, Findings};
use super::formats;
use super::json::{Kind, Part, Pointer, Tape, Value};
use super::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Procedure, Step};
use super::pyjson::{Letters, Spacing, write_line, write_value};
use super::python::repr_text;
use super::rules::procedure::UPSTREAM;
use super::rules::{Subject, check};
use super::schemas;
use super::text::{Shown, Untrusted};
use crate::shown;

pub mod mending;

/// How often upstream asks before it gives up.
pub const MAX_TRIES: u32 = 10;
/// Upstream's temperature for repairs.
pub const TEMPERATURE: f64 = 0.0;
/// Procedures with more inputs and outputs get no fixes: nobody wrote them.
const MAX_FIELDS: usize = 2_000;
/// So many fixes are tried.
const MAX_FIXES: usize = 100;

/// What upstream's validator says of a procedure.
pub fn diagnostics(procedure: &[u8]) -> Findings {
    let mut tape = Tape::default();
    tape.read(procedure);
    let record = tape.root(procedure).map(formats::procedure::FORMAT.read);
    let mut findings = check(&Subject::new(procedure, &tape.problems, record));
    findings.retain(|finding| UPSTREAM.contains(&finding.rule));
    findings
}

/// The schema that a repaired procedure must have.
pub fn schema() -> Untrusted<'static> {
    let schema = schemas::ALL.iter().find(|schema| schema.name == "procedure");
    Untrusted::from(schema.map_or("", |schema| schema.text.trim_ascii_end()))
}

/// Upstream's prompt for a procedure and what is wrong with it.
pub fn prompt(procedure: Value<'_>, diagnostics: &[Finding]) -> Untrusted<'static> {
    let mut out = b"You will make the requested minimal structural fixes to the following procedure JSON so that it \
        validates against the schema.\n\n# Schema (verbatim)\n"
        .to_vec();
    let mut tape = Tape::default();
    if let Some(schema) = tape.parse(schema().bytes()) {
        write_line(schema, Spacing::Wide, &mut out);
    }
    out.extend_from_slice(b"\n\n# Fix Instructions\n- ");
    for (n, finding) in diagnostics.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b"\n- " } else { b"" });
        diagnostic(finding, &mut out);
    }
    out.extend_from_slice(b"\n\n# Procedure JSON\n");
    write_line(procedure, Spacing::Wide, &mut out);
    out.extend_from_slice(b"\n\nReturn ONLY the corrected JSON object. No commentary.");
    Untrusted::owned(out)
}

/// A diagnostic as Python prints its dict.
fn diagnostic(finding: &Finding, out: &mut Vec<u8>) {
    let texts = [
        ("{'severity': ", finding.severity.word().as_bytes()),
        (", 'action': ", finding.action.map_or("", |action| action.word()).as_bytes()),
        (", 'message': ", finding.message.bytes()),
    ];
    for (key, text) in texts {
        out.extend_from_slice(key.as_bytes());
        repr_text(text, out);
    }
    out.extend_from_slice(b", 'details': {");
    for (n, (key, datum)) in finding.details.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b", '" } else { b"'" });
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"': ");
        // Pydantic gives the place of an error as a tuple.
        repr_datum(datum, *key == "loc", out);
    }
    out.extend_from_slice(b"}}");
}

fn repr_datum(datum: &Datum, is_tuple: bool, out: &mut Vec<u8>) {
    match datum {
        Datum::Null => out.extend_from_slice(b"None"),
        Datum::Text(text) => repr_text(text.bytes(), out),
        Datum::Int(digits) => out.extend_from_slice(digits.as_bytes()),
        Datum::List(items) => {
            out.push(if is_tuple { b'(' } else { b'[' });
            for (n, item) in items.iter().enumerate() {
                out.extend_from_slice(if n > 0 { b", " } else { b"" });
                repr_datum(item, false, out);
            }
            let lone = is_tuple && items.len() == 1;
            out.extend_from_slice(if lone {
                b",)"
            } else if is_tuple {
                b")"
            } else {
                b"]"
            });
        }
    }
}

/// A fix that needs no model: what it does, and what the validator says then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does.
    pub title: Shown,
    /// The procedure with it, as JSON with an indent of two.
    pub procedure: Vec<u8>,
    /// How many diagnostics there were.
    pub before: usize,
    /// How many there are then.
    pub after: usize,
}

/// What becomes of a value.
enum Edit {
    Remove,
    Replace(Vec<u8>),
    /// Adds an item to a list.
    Append(Vec<u8>),
}

type Edits = Vec<(Pointer, Edit)>;

/// The fixes that help, each alone, in the order of the steps. Of a procedure that breaks the schema there are none: it
/// would be a guess what was meant.
pub fn fixes(procedure: &[u8]) -> Vec<Fix> {
    helpful(procedure, MAX_FIXES)
}

/// Applies one fix after another until none helps any more.
pub fn fix_all(procedure: &[u8]) -> (Vec<u8>, Vec<Shown>) {
    let (mut procedure, mut done) = (procedure.to_vec(), Vec::new());
    // Every fix takes a diagnostic away, so this ends.
    while let Some(fix) = helpful(&procedure, 1).pop() {
        procedure = fix.procedure;
        done.push(fix.title);
    }
    (procedure, done)
}

/// The first fixes that help.
fn helpful(procedure: &[u8], count: usize) -> Vec<Fix> {
    let found = diagnostics(procedure);
    let mut tape = Tape::default();
    let Some(root) = tape.parse(procedure) else { return Vec::new() };
    let read = Procedure::read(root);
    let fields: usize = read.steps.iter().map(|step| step.inputs.len() + step.outputs.len()).sum();
    let breaks_schema = found.iter().any(|finding| Some(&finding.rule) == UPSTREAM.first());
    if found.is_empty() || breaks_schema || read.steps.is_empty() || fields > MAX_FIELDS {
        return Vec::new();
    }
    let candidates = [first_step(&read), misspelt(&read), redefined(&read), final_step(&read), unused(&read)];
    let tried = candidates.into_iter().flatten().take(MAX_FIXES).filter_map(|(title, edits)| {
        let procedure = pretty(&edited(root, &Pointer::default(), &edits));
        let after = diagnostics(&procedure).len();
        (after < found.len()).then_some(Fix { title, procedure, before: found.len(), after })
    });
    tried.take(count).collect()
}

type Candidates = Vec<(Shown, Edits)>;

fn step_pointer(position: usize) -> Pointer {
    Procedure::step_pointer(&Pointer::default(), position)
}

fn field(name: &[u8], description: &str) -> Vec<u8> {
    Object::new(Letters::All).text("name", name).text("description", description).end()
}

/// The first step reads `problem_text` and nothing else.
fn first_step(procedure: &Procedure<'_>) -> Candidates {
    let Some(step) = procedure.steps.first() else { return Vec::new() };
    if step.input_names().eq([Untrusted::from(PROBLEM_TEXT)]) {
        return Vec::new();
    }
    let inputs = list([field(PROBLEM_TEXT.as_bytes(), "The full text of the problem.")]);
    let edit = member_edit(step, 0, step.inputs_member.is_some(), "inputs", inputs);
    vec![(Shown::own("let step 1 read exactly problem_text"), vec![edit])]
}

/// An input that differs from an earlier output in its letters' case, in underscores or by one or two letters.
fn misspelt(procedure: &Procedure<'_>) -> Candidates {
    let mut known: Vec<Untrusted<'_>> = vec![Untrusted::from(PROBLEM_TEXT)];
    let mut found = Vec::new();
    for (position, step) in procedure.steps.iter().enumerate() {
        for (n, input) in step.inputs.iter().enumerate() {
            let Some(name) = input.name_text().filter(|name| !known.contains(name)) else { continue };
            if let Some(meant) = nearest(&name, &known) {
                let title = shown!("let step {} read {} instead of {}", position + 1, meant.line(), name.line());
                let place = step.input_pointer(&step_pointer(position), n).then("name");
                found.push((title, vec![(place, Edit::Replace(text(meant.bytes())))]));
            }
        }
        known.extend(step.output_names());
    }
    found
}

fn nearest<'k>(name: &Untrusted<'_>, known: &'k [Untrusted<'k>]) -> Option<&'k Untrusted<'k>> {
    let plain = |name: &Untrusted<'_>| String::from_utf8_lossy(name.bytes()).to_lowercase().replace('_', "");
    let name = plain(name);
    let distances = known.iter().map(|other| (distance(&name, &plain(other)), other));
    let (nearest, other) = distances.min_by_key(|(distance, _)| *distance)?;
    (nearest <= 2 && nearest * 3 < name.chars().count()).then_some(other)
}

/// How many letters have to be added, removed or exchanged; beyond three it does not matter.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(80).collect(), b.chars().take(80).collect());
    if a.len().abs_diff(b.len()) > 3 {
        return 4;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// A variable that is written again gets a name of its own, and those that read it afterwards read that.
fn redefined(procedure: &Procedure<'_>) -> Candidates {
    let all: HashSet<Untrusted<'_>> = procedure.steps.iter().flat_map(Step::output_names).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (position, step) in procedure.steps.iter().enumerate() {
        for name in step.output_names().filter(|name| *name != FINAL_ANSWER) {
            if seen.contains(&name)
                && let Some(fresh) = fresh_name(&name, &all)
            {
                let mut edits = renamed(step, position, &name, &fresh, false);
                for (later, step) in procedure.steps.iter().enumerate().skip(position + 1) {
                    edits.extend(renamed(step, later, &name, &fresh, true));
                    if step.output_names().any(|other| other == name) {
                        break;
                    }
                }
                let title =
                    shown!("call what step {} writes {} instead of {}", position + 1, fresh.line(), name.line());
                found.push((title, edits));
            }
        }
        seen.extend(step.output_names());
    }
    found
}

fn fresh_name(name: &Untrusted<'_>, taken: &HashSet<Untrusted<'_>>) -> Option<Untrusted<'static>> {
    let numbered = |n: usize| Untrusted::owned([name.bytes(), format!("_{n}").as_bytes()].concat());
    (2..taken.len() + 3).map(numbered).find(|fresh| !taken.contains(fresh))
}

/// The edits that give a step's inputs or outputs of a name another one.
fn renamed(step: &Step<'_>, position: usize, from: &Untrusted<'_>, to: &Untrusted<'_>, inputs: bool) -> Edits {
    let fields = if inputs { &step.inputs } else { &step.outputs };
    let place = |n| {
        let step_at = step_pointer(position);
        if inputs { step.input_pointer(&step_at, n) } else { step.output_pointer(&step_at, n) }
    };
    let is_it = |field: &Field<'_>| field.name_text().is_some_and(|name| name == *from);
    let named = fields.iter().enumerate().filter(|(_, field)| is_it(field));
    named.map(|(n, _)| (place(n).then("name"), Edit::Replace(text(to.bytes())))).collect()
}

/// Outputs that nobody reads are not written.
fn unused(procedure: &Procedure<'_>) -> Candidates {
    let mut found = Vec::new();
    // What the last step should write is another question.
    let last = procedure.steps.len().saturating_sub(1);
    for (position, step) in procedure.steps.iter().enumerate().take(last) {
        let later: HashSet<_> = procedure.steps.iter().skip(position + 1).flat_map(Step::input_names).collect();
        let is_unused = |name: &Untrusted<'_>| *name != FINAL_ANSWER && *name != PROBLEM_TEXT && !later.contains(name);
        let fields = step.outputs.iter().enumerate();
        let unused: Vec<_> = fields.filter_map(|(n, field)| Some((n, field.name_text().filter(is_unused)?))).collect();
        if unused.is_empty() {
            continue;
        }
        let names: Vec<String> = unused.iter().map(|(_, name)| name.line().into_string()).collect();
        let edits = unused.iter().map(|(n, _)| (step.output_pointer(&step_pointer(position), *n), Edit::Remove));
        found.push((shown!("remove {} from what step {} writes", names.join(", "), position + 1), edits.collect()));
    }
    found
}

/// The last step writes `final_answer` and nothing else: it is renamed, kept alone, or added in a step of its own.
fn final_step(procedure: &Procedure<'_>) -> Candidates {
    let Some((position, step)) = procedure.steps.iter().enumerate().next_back() else { return Vec::new() };
    let names: Vec<_> = step.output_names().collect();
    let is_final = |name: &Untrusted<'_>| *name == FINAL_ANSWER;
    if names.len() == 1 && names.iter().all(is_final) {
        return Vec::new();
    }
    let place = |n: usize| step.output_pointer(&step_pointer(position), n);
    if let [only] = names.as_slice() {
        let edit = (place(0).then("name"), Edit::Replace(text(FINAL_ANSWER)));
        return vec![(shown!("call what the last step writes final_answer instead of {}", only.line()), vec![edit])];
    }
    if names.iter().any(is_final) {
        let mut kept = false;
        let others = step.outputs.iter().enumerate().filter(|(_, field)| {
            let is_it = field.name_text().as_ref().is_some_and(is_final);
            !is_it || std::mem::replace(&mut kept, true)
        });
        let edits = others.map(|(n, _)| (place(n), Edit::Remove)).collect();
        return vec![(Shown::own("let the last step write final_answer alone"), edits)];
    }
    let inputs =
        step.outputs.iter().filter(|field| field.name_text().is_some()).map(|field| one_line(field.value.raw()));
    let inputs: Vec<_> = inputs.collect();
    let inputs =
        if inputs.is_empty() { vec![field(PROBLEM_TEXT.as_bytes(), "The full text of the problem.")] } else { inputs };
    let added = Object::new(Letters::All)
        .plain("id", procedure.steps.len() + 1)
        .raw("inputs", list(inputs))
        .text("stepDescription", "State the final answer.")
        .raw("output", list([field(FINAL_ANSWER.as_bytes(), "Description of the final answer.")]))
        .end();
    let edit = (Pointer::from_iter(["steps"]), Edit::Append(added));
    vec![(Shown::own("add a last step that writes final_answer"), vec![edit])]
}

/// Replaces a member of a step, or adds it.
fn member_edit(step: &Step<'_>, position: usize, is_there: bool, key: &'static str, json: Vec<u8>) -> (Pointer, Edit) {
    let place = step_pointer(position);
    if is_there {
        return (place.then(key), Edit::Replace(json));
    }
    let mut object = Object::new(Letters::All);
    for member in step.value.entries() {
        object = object.raw(&String::from_utf8_lossy(member.name().bytes()), one_line(member.value.raw()));
    }
    (place, Edit::Replace(object.raw(key, json).end()))
}

/// A value with the edits at or below its place; what is not edited stays letter for letter.
fn edited(value: Value<'_>, at: &Pointer, edits: &Edits) -> Vec<u8> {
    let mut out = Vec::new();
    write_edited(value, at, edits, &mut out);
    out
}

fn write_edited(value: Value<'_>, at: &Pointer, edits: &Edits, out: &mut Vec<u8>) {
    let own = edits.iter().find(|(place, _)| place == at).map(|(_, edit)| edit);
    if let Some(Edit::Replace(json)) = own {
        return out.extend_from_slice(json);
    }
    let touches = |place: &Pointer| place.0.starts_with(&at.0);
    if !edits.iter().any(|(place, _)| touches(place)) {
        return out.extend_from_slice(value.raw());
    }
    let is_removed = |part: &Pointer| edits.iter().any(|(place, edit)| place == part && matches!(edit, Edit::Remove));
    let mut first = true;
    let mut separate = |out: &mut Vec<u8>| {
        if !std::mem::replace(&mut first, false) {
            out.push(b',');
        }
    };
    match value.kind() {
        Kind::Array => {
            out.push(b'[');
            for (n, item) in value.items().enumerate() {
                let place = at.then(n);
                if !is_removed(&place) {
                    separate(out);
                    write_edited(item, &place, edits, out);
                }
            }
            if let Some(Edit::Append(json)) = own {
                separate(out);
                out.extend_from_slice(json);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for member in value.entries() {
                let place = at.then(Part::Key(member.name().into_owned()));
                if !is_removed(&place) {
                    separate(out);
                    out.extend_from_slice(member.key.raw());
                    out.push(b':');
                    write_edited(member.value, &place, edits, out);
                }
            }
            out.push(b'}');
        }
        _ => out.extend_from_slice(value.raw()),
    }
}

/// A JSON text with an indent of two, as upstream's users save procedures.
pub fn pretty(json: &[u8]) -> Vec<u8> {
    let mut tape = Tape::default();
    let Some(value) = tape.parse(json) else { return json.to_vec() };
    let mut out = Vec::new();
    write_value(value, 0, &mut out);
    super::pyjson::spelled(&out, Letters::All)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = r#"{"NameDescription": "n", "steps": [
        {"id": 1, "inputs": [{"name": "question", "description": "q"}], "stepDescription": "Read", "output": [
            {"name": "price_total", "description": "p"}, {"name": "left", "description": "l"}, {"name": "dead", "description": "dé"}]},
        {"id": 2, "inputs": [{"name": "priceTotal", "description": "p"}, {"name": "left", "description": "l"}], "stepDescription": "Take", "output": [{"name": "left", "description": "again"}]},
        {"id": 3, "inputs": [{"name": "left", "description": "l"}], "stepDescription": "Say", "output": [{"name": "answer", "description": "a"}]}]}"#;

    #[test]
    fn every_fix_takes_diagnostics_away() {
        let found = fixes(ODD.as_bytes());
        let titles: Vec<_> = found.iter().map(|fix| (fix.title.as_str(), fix.before - fix.after)).collect();
        assert_eq!(
            titles,
            [
                ("let step 1 read exactly problem_text", 2),
                ("let step 2 read price_total instead of priceTotal", 1),
                ("call what step 2 writes left_2 instead of left", 1),
                ("call what the last step writes final_answer instead of answer", 2),
                ("remove price_total, dead from what step 1 writes", 1),
            ]
        );
        let renamed = String::from_utf8(found[2].procedure.clone()).unwrap();
        assert_eq!(renamed.matches("left_2").count(), 2, "{renamed}");
        assert!(String::from_utf8(found[0].procedure.clone()).unwrap().contains("\"dé\""));
    }

    #[test]
    fn all_fixes_together_leave_nothing() {
        let (fixed, done) = fix_all(ODD.as_bytes());
        assert!(diagnostics(&fixed).is_empty(), "{done:?} {}", String::from_utf8_lossy(&fixed));
        assert!(fixed.starts_with(b"{\n  \"NameDescription\": \"n\",\n  \"steps\": ["));
        let (same, done) = fix_all(&fixed);
        assert!(done.is_empty() && same == fixed);
    }

    #[test]
    fn a_last_step_is_renamed_kept_alone_or_added() {
        let last = |outputs: &str| {
            let text = format!(
                r#"{{"NameDescription": "n", "steps": [{{"id": 1, "stepDescription": "Read", "inputs": [{{"name": "problem_text", "description": "q"}}], "output": [{outputs}]}}]}}"#
            );
            let (fixed, done) = fix_all(text.as_bytes());
            (diagnostics(&fixed).len(), done.last().map(|title| title.as_str().to_owned()).unwrap_or_default())
        };
        let field = |name| format!(r#"{{"name": "{name}", "description": "d"}}"#);
        assert_eq!(last(&field("final_answer")), (0, String::new()));
        assert_eq!(last(&field("x")).0, 0);
        assert_eq!(last(""), (0, "add a last step that writes final_answer".to_owned()));
        assert_eq!(last(&[field("final_answer"), field("x")].join(",")).0, 0);
    }

    #[test]
    fn what_breaks_the_schema_is_not_guessed() {
        for text in ["[1]", "{}", "{\"steps\": 7}", "no", r#"{"NameDescription": "n", "steps": [{"id": 0}]}"#] {
            assert!(fixes(text.as_bytes()).is_empty(), "{text}");
        }
    }

    #[test]
    fn letters_are_counted() {
        for (a, b, letters) in
            [("", "", 0), ("abc", "abd", 1), ("abc", "ac", 1), ("kitten", "sitting", 3), ("a", "abcdef", 4)]
        {
            assert_eq!(distance(a, b), letters, "{a} {b}");
        }
    }
}
