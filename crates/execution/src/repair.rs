//! Repair of a procedure: evoproc's repair prompt, byte for byte (`evoproc_procedures.repairs`), and the fixes that
//! need no model, as previews. A fix is judged as the procedure was: by what upstream's validator says before and
//! after.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use stepscope_base::json::write::{Letters, Raw, Spacing, Style, tight};
use stepscope_base::json::{Kind, Part, Pointer, Tape, Value};
use stepscope_base::python::repr_text;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::case::Case;
use stepscope_judge::rules::check_by;
use stepscope_judge::rules::procedure::UPSTREAM;
use stepscope_record::finding::{Datum, Finding, Findings};
use stepscope_record::formats;
use stepscope_record::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Procedure};
use stepscope_record::rule_id::RuleId;
use stepscope_record::schemas;

pub mod model;

/// Number of times upstream asks before it gives up.
pub const MAX_TRIES: u32 = 10;
/// Upstream's temperature for repairs.
pub const TEMPERATURE: f64 = 0.0;
/// Procedures with more inputs and outputs get no fixes: nobody wrote them.
const MAX_FIELDS: usize = 2_000;
/// Maximum number of fixes that are tried, each alone.
const MAX_FIXES: usize = 100;
/// Maximum number of characters of a name that are said.
const MAX_NAME: usize = 80;
/// So often all fixes together are tried, in whole or in part.
const MAX_TRIALS: usize = 200;

/// Finds what upstream's validator reports in a procedure.
pub fn diagnostics(procedure: &[u8]) -> Findings {
    check_by(&Case::read(procedure).view_as(formats::procedure::FORMAT.read), |rule| UPSTREAM.contains(&rule))
}

/// The schema that a repaired procedure must have.
pub(crate) fn schema() -> Untrusted<'static> {
    let schema = schemas::ALL.iter().find(|schema| schema.name == "procedure");
    Untrusted::from(schema.map_or("", |schema| schema.text.trim_ascii_end()))
}

/// Style of JSON in prompts.
const DUMPED: Style = Style::python(Letters::Kept, Spacing::Wide);

/// Upstream's prompt for a procedure and what is wrong with it.
pub fn prompt(procedure: Value<'_>, diagnostics: &[Finding]) -> Untrusted<'static> {
    let mut out = b"You will make the requested minimal structural fixes to the following procedure JSON so that it \
        validates against the schema.\n\n# Schema (verbatim)\n"
        .to_vec();
    append_dumped(schema().bytes(), &mut out);
    out.extend_from_slice(b"\n\n# Fix Instructions\n- ");
    for (n, finding) in diagnostics.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b"\n- " } else { b"" });
        diagnostic(finding, &mut out);
    }
    out.extend_from_slice(b"\n\n# Procedure JSON\n");
    DUMPED.append(procedure, &mut out);
    out.extend_from_slice(b"\n\nReturn ONLY the corrected JSON object. No commentary.");
    Untrusted::owned(out)
}

/// Appends a JSON text as prompts hold it: on one line, as Python dumps it.
pub(crate) fn append_dumped(text: &[u8], out: &mut Vec<u8>) {
    let mut tape = Tape::default();
    if let Some(value) = tape.parse(text) {
        DUMPED.append(value, out);
    }
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
pub struct SuggestedFix {
    /// Description of the change.
    pub title: Shown,
    /// The procedure with it, as JSON with an indent of two.
    pub procedure: Vec<u8>,
    /// Number of diagnostics before the fix.
    pub before: usize,
    /// Number of diagnostics after the fix.
    pub after: usize,
}

/// Change of a value.
enum Edit {
    Remove,
    Replace(Vec<u8>),
    /// Adds an item to a list.
    Append(Vec<u8>),
}

type Edits = Vec<(Pointer, Edit)>;

/// Edits by place: what lies at or below a place stands together.
type Placed<'e> = BTreeMap<&'e Pointer, &'e Edit>;

/// Fills in missing descriptions, where nothing else breaks the schema: the procedure with them, and what was done.
fn with_descriptions(procedure: &[u8]) -> Option<(Vec<u8>, Shown)> {
    let mut tape = Tape::default();
    let (text, missing) = Procedure::read(tape.parse(procedure)?).described()?;
    let what = if missing == 1 { Shown::own("its name") } else { shown!("{missing} names") };
    Some((pretty(&text), shown!("write missing descriptions from {what}")))
}

/// The fixes that help, each alone, in the order of the steps. Of a procedure that breaks the schema otherwise than by
/// missing descriptions there are none: it would be a guess what was meant.
pub fn fixes(procedure: &[u8]) -> Vec<SuggestedFix> {
    let before = diagnostics(procedure);
    if let Some((procedure, title)) = with_descriptions(procedure) {
        // What is told then was hidden before: there may be more of it.
        let (before, after) = (before.total(), diagnostics(&procedure).total());
        return vec![SuggestedFix { title, procedure, before, after }];
    }
    let mut tape = Tape::default();
    let Some((root, read)) = fixable(&mut tape, procedure, &before) else { return Vec::new() };
    let before = before.total();
    let candidates = KINDS.iter().flat_map(|kind| kind(&read));
    let tried = candidates.take(MAX_FIXES).filter_map(|(title, edits)| {
        let procedure = pretty(&edited(root, &edits));
        let after = diagnostics(&procedure).total();
        (after < before).then_some(SuggestedFix { title, procedure, before, after })
    });
    tried.collect()
}

/// Applies all fixes that help, until none does any more. All of one kind are tried at once, and only where they do
/// not help as much as they are many, by halves: so the work grows with the procedure, not with the number of fixes.
pub fn fix_all(procedure: &[u8]) -> (Vec<u8>, Vec<Shown>) {
    let (procedure, done) = match with_descriptions(procedure) {
        Some((procedure, title)) => (procedure, vec![title]),
        None => (procedure.to_vec(), Vec::new()),
    };
    let left = diagnostics(&procedure).total();
    let mut search = FixSearch { procedure, left, done, tries: MAX_TRIALS };
    // Every round but the last takes a diagnostic away, and no round tries without a limit: this ends.
    loop {
        let before = search.left;
        for kind in KINDS {
            search.apply(*kind, 0..usize::MAX);
        }
        if search.left == 0 || search.left >= before || search.tries == 0 {
            return (search.procedure, search.done);
        }
    }
}

/// A procedure on its way to being sound.
struct FixSearch {
    procedure: Vec<u8>,
    /// Number of its diagnostics.
    left: usize,
    /// The titles of what was done.
    done: Vec<Shown>,
    /// So often it may still be tried.
    tries: usize,
}

impl FixSearch {
    /// Applies those fixes of a kind whose numbers are in a range, if they help, else those of its halves that do. How
    /// many fixes of the kind are left behind the range.
    fn apply(&mut self, kind: Kindred, range: Range<usize>) {
        let found = diagnostics(&self.procedure);
        let mut tape = Tape::default();
        let Some((root, read)) = fixable(&mut tape, &self.procedure, &found) else { return };
        let candidates: Candidates = kind(&read).into_iter().skip(range.start).take(range.len()).collect();
        if candidates.is_empty() || self.tries == 0 {
            return;
        }
        self.tries -= 1;
        let count = candidates.len();
        let (titles, edits): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
        let fixed = pretty(&edited(root, &edits.into_iter().flatten().collect()));
        let after = diagnostics(&fixed).total();
        if after + count <= self.left {
            (self.procedure, self.left) = (fixed, after);
            self.done.extend(titles);
        } else if count > 1 {
            // The second half first: what was fixed in it does not move the numbers of the first.
            let middle = range.start + count / 2;
            self.apply(kind, middle..range.start + count);
            self.apply(kind, range.start..middle);
        }
    }
}

/// A sound JSON procedure with diagnostics, as it is read; `None`: it has none, or nothing in it can be fixed.
fn fixable<'t>(tape: &'t mut Tape, text: &'t [u8], found: &Findings) -> Option<(Value<'t>, Procedure<'t>)> {
    let root = tape.parse(text)?;
    let read = Procedure::read(root);
    if !read.is_whole() {
        return None;
    }
    let fields: usize = read.steps.iter().map(|step| step.inputs.len() + step.outputs.len()).sum();
    let breaks_schema = found.iter().any(|finding| finding.rule == RuleId::ProcedureSchema);
    (!found.is_empty() && !breaks_schema && !read.steps.is_empty() && fields <= MAX_FIELDS).then_some((root, read))
}

type Candidates = Vec<(Shown, Edits)>;
/// Makes all fixes of one kind; none touches what another of its kind touches.
type Kindred = fn(&Procedure<'_>) -> Candidates;

/// The kinds of fixes, in the order in which they are tried.
const KINDS: &[Kindred] = &[first_step, misspelt, redefined, final_step, unused];

fn named(name: &Untrusted<'_>) -> Shown {
    name.line().cut(MAX_NAME)
}

fn step_pointer(position: usize) -> Pointer {
    Procedure::step_pointer(&Pointer::default(), position)
}

fn field(name: &[u8], description: &str) -> Vec<u8> {
    Style::BODY.object(|object| _ = object.text("name", name).text("description", description))
}

/// The first step reads `problem_text` and nothing else.
fn first_step(procedure: &Procedure<'_>) -> Candidates {
    let Some(step) = procedure.steps.first() else { return Vec::new() };
    if step.input_names().eq([Untrusted::from(PROBLEM_TEXT)]) {
        return Vec::new();
    }
    let inputs = [b"[", &*field(PROBLEM_TEXT.as_bytes(), "The full text of the problem."), b"]"].concat();
    let place = step_pointer(0);
    let edit = if step.inputs_member.is_some() {
        (place.then("inputs"), Edit::Replace(inputs))
    } else {
        let whole = Style::BODY.object(|object| {
            for member in step.value.entries() {
                object.put(member.name(), tight(member.value));
            }
            object.put("inputs", Raw(inputs));
        });
        (place, Edit::Replace(whole))
    };
    vec![(Shown::own("make step 1 read only problem_text"), vec![edit])]
}

/// An input that differs from an earlier output in its letters' case, in underscores or by one or two letters.
fn misspelt(procedure: &Procedure<'_>) -> Candidates {
    let mut known = EarlierNames::default();
    known.add(Untrusted::from(PROBLEM_TEXT));
    let mut found = Vec::new();
    for (position, step) in procedure.steps.iter().enumerate() {
        for (n, input) in step.inputs.iter().enumerate() {
            let Some(name) = input.name_text().filter(|name| !known.names.contains(name)) else { continue };
            if let Some(meant) = known.nearest(&name) {
                let title = shown!("make step {} read {} instead of {}", position + 1, named(meant), named(&name));
                let place = step.input_pointer(&step_pointer(position), n).then("name");
                found.push((title, vec![(place, Edit::Replace(Style::ASCII.of(meant)))]));
            }
        }
        step.output_names().for_each(|name| known.add(name));
    }
    found
}

/// The variables that are written so far, with their letters in small and without underscores.
#[derive(Default)]
struct EarlierNames<'k> {
    names: HashSet<Untrusted<'k>>,
    plain: Vec<(Vec<char>, Untrusted<'k>)>,
}

impl<'k> EarlierNames<'k> {
    fn plain(name: &Untrusted<'_>) -> Vec<char> {
        String::from_utf8_lossy(name.bytes()).to_lowercase().chars().filter(|c| *c != '_').collect()
    }

    fn add(&mut self, name: Untrusted<'k>) {
        if self.names.insert(name.clone()) {
            self.plain.push((Self::plain(&name), name));
        }
    }

    fn nearest(&self, name: &Untrusted<'_>) -> Option<&Untrusted<'k>> {
        let name = Self::plain(name);
        let distances = self.plain.iter().map(|(other, known)| (distance(&name, other), known));
        let (nearest, other) = distances.min_by_key(|(distance, _)| *distance)?;
        (nearest <= FAR && nearest * 3 < name.len()).then_some(other)
    }
}

/// Maximum number of letters that differ.
const FAR: usize = 2;

/// Counts the letters that have to be added, removed or exchanged; beyond two the count does not matter.
fn distance(a: &[char], b: &[char]) -> usize {
    const LETTERS: usize = 80;
    let (a, b) = (a.get(..LETTERS).unwrap_or(a), b.get(..LETTERS).unwrap_or(b));
    if a.len().abs_diff(b.len()) > FAR {
        return FAR + 1;
    }
    // What is the same at both ends costs nothing, and mostly that is all.
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        let mut least = left;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
            least = least.min(best);
        }
        if least > FAR {
            return FAR + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// A variable that is written again gets a name of its own, and those that read it afterwards read that.
fn redefined(procedure: &Procedure<'_>) -> Candidates {
    let mut uses: HashMap<Untrusted<'_>, Uses> = HashMap::new();
    for (position, step) in procedure.steps.iter().enumerate() {
        for (n, name) in names(&step.inputs) {
            uses.entry(name).or_default().reads.push((position, n));
        }
        for (n, name) in names(&step.outputs) {
            uses.entry(name).or_default().writes.push((position, n));
        }
    }
    let is_written = |(_, uses): &(&Untrusted<'_>, &Uses)| !uses.writes.is_empty();
    let mut taken: HashSet<Untrusted<'_>> = uses.iter().filter(is_written).map(|(name, _)| name.clone()).collect();
    let mut next: HashMap<&Untrusted<'_>, usize> = HashMap::new();
    let mut found = Vec::new();
    let mut seen: HashSet<Untrusted<'_>> = HashSet::new();
    for (position, step) in procedure.steps.iter().enumerate() {
        let mut own = HashSet::new();
        for name in step.output_names().filter(|name| *name != FINAL_ANSWER) {
            let Some((name, uses)) = uses.get_key_value(&name) else { continue };
            if !seen.contains(name) || !own.insert(name) {
                continue;
            }
            let fresh = fresh_name(name, &taken, next.entry(name).or_insert(2));
            let title = shown!("rename output {} of step {} to {}", named(name), position + 1, named(&fresh));
            found.push((title, uses.renamed(procedure, position, &fresh)));
            taken.insert(fresh);
        }
        seen.extend(step.output_names());
    }
    found
}

/// Uses of a variable, by reads and writes: steps, and positions in their lists.
#[derive(Default)]
struct Uses {
    reads: Vec<(usize, usize)>,
    writes: Vec<(usize, usize)>,
}

impl Uses {
    /// The edits that give what a step writes another name, up to where it is written again.
    fn renamed(&self, procedure: &Procedure<'_>, position: usize, to: &Untrusted<'_>) -> Edits {
        let after = self.writes.partition_point(|(step, _)| *step <= position);
        let until = self.writes.get(after).map_or(usize::MAX, |(step, _)| *step);
        let own = self.writes.partition_point(|(step, _)| *step < position)..after;
        let read = self.reads.partition_point(|(step, _)| *step <= position);
        let writes = self.writes[own].iter().map(|place| (place, false));
        let reads = self.reads[read..].iter().take_while(|(step, _)| *step <= until);
        let place = |((position, n), is_read): (&(usize, usize), bool)| {
            let (step, at) = (procedure.steps.get(*position)?, step_pointer(*position));
            let place = if is_read { step.input_pointer(&at, *n) } else { step.output_pointer(&at, *n) };
            Some((place.then("name"), Edit::Replace(Style::ASCII.of(to))))
        };
        writes.chain(reads.map(|place| (place, true))).filter_map(place).collect()
    }
}

/// The names in a list, each with its place.
fn names<'p, 'a>(fields: &'p [Field<'a>]) -> impl Iterator<Item = (usize, Untrusted<'a>)> + 'p {
    fields.iter().enumerate().filter_map(|(n, field)| Some((n, field.name_text()?)))
}

/// A name with a number that no variable has, from a number on.
fn fresh_name(name: &Untrusted<'_>, taken: &HashSet<Untrusted<'_>>, from: &mut usize) -> Untrusted<'static> {
    loop {
        let fresh = Untrusted::owned([name.bytes(), format!("_{from}").as_bytes()].concat());
        *from += 1;
        if !taken.contains(&fresh) {
            return fresh;
        }
    }
}

/// Outputs that nobody reads are not written.
fn unused(procedure: &Procedure<'_>) -> Candidates {
    let mut found = Vec::new();
    let mut later: HashSet<Untrusted<'_>> = HashSet::new();
    for (position, step) in procedure.steps.iter().enumerate().rev() {
        let is_unused = |(_, name): &(usize, Untrusted<'_>)| {
            *name != FINAL_ANSWER && *name != PROBLEM_TEXT && !later.contains(name)
        };
        // What the last step should write is another question.
        let unused: Vec<_> =
            names(&step.outputs).filter(|_| position + 1 < procedure.steps.len()).filter(is_unused).collect();
        if !unused.is_empty() {
            let names: Vec<String> = unused.iter().map(|(_, name)| named(name).into_string()).collect();
            let edits = unused.iter().map(|(n, _)| (step.output_pointer(&step_pointer(position), *n), Edit::Remove));
            found.push((
                shown!("remove {} from the outputs of step {}", names.join(", "), position + 1),
                edits.collect(),
            ));
        }
        later.extend(step.input_names());
    }
    found.reverse();
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
        let edit = (place(0).then("name"), Edit::Replace(Style::ASCII.of(FINAL_ANSWER)));
        return vec![(shown!("rename output {} of the last step to final_answer", named(only)), vec![edit])];
    }
    if names.iter().any(is_final) {
        let mut kept = false;
        let others = step.outputs.iter().enumerate().filter(|(_, field)| {
            let is_it = field.name_text().as_ref().is_some_and(is_final);
            !is_it || std::mem::replace(&mut kept, true)
        });
        let edits = others.map(|(n, _)| (place(n), Edit::Remove)).collect();
        return vec![(Shown::own("make the last step write only final_answer"), edits)];
    }
    let inputs = step.outputs.iter().filter(|field| field.name_text().is_some()).map(|field| tight(field.value));
    let mut inputs: Vec<_> = inputs.collect();
    if inputs.is_empty() {
        inputs.push(Raw(field(PROBLEM_TEXT.as_bytes(), "The full text of the problem.")));
    }
    let answer = field(FINAL_ANSWER.as_bytes(), "Description of the final answer.");
    let added = Style::BODY.object(|object| {
        object.put("id", procedure.steps.len() + 1).put("inputs", inputs);
        object.text("stepDescription", "State the final answer.").list("output", [Raw(answer)]);
    });
    let edit = (Pointer::from_iter(["steps"]), Edit::Append(added));
    vec![(Shown::own("add a last step that writes final_answer"), vec![edit])]
}

/// A value with the edits below it; what is not edited stays letter for letter.
fn edited(value: Value<'_>, edits: &Edits) -> Vec<u8> {
    let (mut out, mut placed) = (Vec::new(), Placed::new());
    for (place, edit) in edits {
        placed.entry(place).or_insert(edit);
    }
    write_edited(value, &Pointer::default(), &placed, &mut out);
    out
}

fn write_edited(value: Value<'_>, at: &Pointer, edits: &Placed<'_>, out: &mut Vec<u8>) {
    let own = edits.get(at).copied();
    if let Some(Edit::Replace(json)) = own {
        return out.extend_from_slice(json);
    }
    // The next edit in order lies below this value, if any does.
    if !edits.range::<Pointer, _>(at..).next().is_some_and(|(place, _)| place.0.starts_with(&at.0)) {
        return out.extend_from_slice(value.raw());
    }
    let is_removed = |part: &Pointer| matches!(edits.get(part), Some(Edit::Remove));
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
    let style = Style::python(Letters::All, Spacing::Indented);
    tape.parse(json).map_or_else(|| json.to_vec(), |value| style.of(value))
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
                ("make step 1 read only problem_text", 2),
                ("make step 2 read price_total instead of priceTotal", 1),
                ("rename output left of step 2 to left_2", 1),
                ("rename output answer of the last step to final_answer", 2),
                ("remove price_total, dead from the outputs of step 1", 1),
            ]
        );
        let renamed = String::from_utf8(found[2].procedure.clone()).unwrap();
        assert_eq!(renamed.matches("left_2").count(), 2, "{renamed}");
        assert!(String::from_utf8(found[0].procedure.clone()).unwrap().contains("\"dé\""));
    }

    #[test]
    fn missing_descriptions_are_written_and_the_rest_is_fixed() {
        let plan = br#"{"NameDescription": "x", "steps": [
            {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "s", "output": [{"name": "a_b"}, {"name": "c"}]},
            {"id": 2, "inputs": [{"name": "a_b"}], "stepDescription": "s", "output": [{"name": "final_answer"}]}]}"#;
        let suggested = fixes(plan);
        let said: Vec<_> = suggested.iter().map(|fix| (fix.title.as_str(), fix.before, fix.after)).collect();
        assert_eq!(said, [("write missing descriptions from 5 names", 5, 1)]);
        let (fixed, done) = fix_all(plan);
        assert_eq!((diagnostics(&fixed).total(), done.len()), (0, 2), "{done:?}");
        assert!(memchr::memmem::find(&fixed, br#""description": "a b""#).is_some());
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

    /// A procedure whose steps all write the same variable, or what nobody reads, or read what is misspelt.
    fn faulty(count: usize, step: impl Fn(usize) -> (String, String)) -> String {
        let field = |name: &str| format!(r#"{{"name": "{name}", "description": "d"}}"#);
        let steps = (0..count).map(|n| {
            let (reads, writes) = step(n);
            let (reads, writes) = (field(&reads), field(&writes));
            format!(r#"{{"id": {}, "inputs": [{reads}], "stepDescription": "s", "output": [{writes}]}}"#, n + 1)
        });
        format!(r#"{{"NameDescription": "n", "steps": [{}]}}"#, steps.collect::<Vec<_>>().join(","))
    }

    /// The names that a step reads and writes.
    type Step<'s> = &'s dyn Fn(usize) -> (String, String);

    #[test]
    fn all_fixes_of_a_kind_are_made_at_once() {
        let read = |n: usize, name: &str| if n == 0 { PROBLEM_TEXT.to_owned() } else { name.to_owned() };
        let kinds: [(&str, Step<'_>, usize); 3] = [
            ("redefined", &|n| (read(n, "total"), "total".to_owned()), 400),
            ("unused", &|n| (PROBLEM_TEXT.to_owned(), format!("v{n}")), 400),
            ("misspelt", &|n| (read(n, &format!("valueOf{}", n.wrapping_sub(1))), format!("value_of_{n}")), 400),
        ];
        for (kind, step, count) in kinds {
            let text = faulty(count, step);
            let mut search =
                FixSearch { procedure: text.clone().into_bytes(), left: 0, done: Vec::new(), tries: MAX_TRIALS };
            search.left = diagnostics(text.as_bytes()).total();
            let before = search.left;
            for kind in KINDS {
                search.apply(*kind, 0..usize::MAX);
            }
            let tried = MAX_TRIALS - search.tries;
            assert!(before >= count - 1 && search.left == 0, "{kind}: {before} {}", search.left);
            assert!(tried <= 3 && search.done.len() >= count - 1, "{kind}: {tried} {}", search.done.len());
        }
    }

    #[test]
    fn letters_are_counted() {
        for (a, b, letters) in [
            ("", "", 0),
            ("abc", "abd", 1),
            ("abc", "ac", 1),
            ("kitten", "sitten", 1),
            ("ab", "ba", 2),
            ("kitten", "sitting", 3),
            ("a", "abcdef", 3),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&chars(a), &chars(b)), letters, "{a} {b}");
        }
    }
}
