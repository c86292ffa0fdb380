//! The fitness of evoproc's genetic search: its `StructuralHygieneScorer`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use foldhash::{HashSet, HashSetExt};

use super::UPSTREAM;
use crate::case::CaseView;
use stepscope_base::json::{Kind, Value};
use stepscope_base::python::{self, PythonNumber};
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::procedure::flow::Flow;
use stepscope_record::procedure::{FINAL_ANSWER, PROBLEM_TEXT, Procedure, Step};

/// Words by which a first step looks like an extraction; any part of a word counts, as in `already`.
const EXTRACTION: [&str; 5] = ["extract", "read", "gather", "identify", "parse"];
static EXTRACTION_WORDS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(EXTRACTION).ok());
/// Longer procedures lose some fitness.
const TARGET_STEPS: usize = 6;

/// The fitness of a case's procedure, bit for bit; `None` where upstream's scorer raises an exception.
///
/// The penalties count what upstream's rules found (`findings` may hold those of other rules too). The rest looks at
/// the object as it stands, not at what the model made of it, so that `outputs` in snake case counts as no output.
pub fn fitness(case: &CaseView<'_>, findings: &[Finding]) -> Option<f64> {
    let procedure = case.procedure()?.value;
    if procedure.kind() != Kind::Object {
        return None;
    }
    let found = match case.valid_flow() {
        Some((procedure, flow)) if procedure.steps.iter().all(has_outputs_as_read) => of_flow(procedure, flow),
        _ => as_it_stands(procedure)?,
    };
    let count = |severity| {
        let own = |finding: &&Finding| finding.severity == severity && UPSTREAM.contains(&finding.rule);
        findings.iter().filter(own).map(Finding::count).sum::<usize>() as f64
    };
    let excess = found.steps.saturating_sub(TARGET_STEPS) as f64;
    // The same operations in the same order as upstream, for the same last bit.
    let mut score = 1.0;
    // Of a text that was no JSON upstream's validator says that both keys are missing.
    let fatal = if Procedure::unread(procedure).is_some() { 2.0 } else { count(Severity::Fatal) };
    score -= 1.0 * fatal;
    score -= 0.2 * count(Severity::Repairable);
    score -= 0.25 * found.redefinitions as f64;
    score -= 0.25 * found.unused as f64;
    score -= 0.3 * (1.0 / (1.0 + (-0.7 * excess).exp()) - 0.5) * 2.0;
    if items(procedure.get("steps"))?.next().is_some_and(looks_like_extraction) {
        score += 0.25;
    }
    Some(score)
}

/// Upstream's counts in the steps. Unlike the rule, upstream counts as redefined a name that one step writes twice.
#[derive(PartialEq, Eq, Debug)]
struct Counted {
    steps: usize,
    redefinitions: usize,
    unused: usize,
}

/// Tells whether the object as it stands has the outputs that the model sees.
fn has_outputs_as_read(step: &Step<'_>) -> bool {
    step.outputs_member.is_none_or(|member| member.key.spells(b"output"))
}

/// The counts of a procedure that holds the schema, from what the rules know already.
fn of_flow(procedure: &Procedure<'_>, flow: &Flow<'_>) -> Counted {
    let mut unused = 0;
    for step in flow.steps(procedure) {
        unused += step.writes.iter().filter(|&&variable| flow.is_unused(variable, step.position)).count();
    }
    Counted { steps: procedure.steps.len(), redefinitions: flow.redefinitions(), unused }
}

/// The counts of any object; `None` where Python stumbles over a shape.
fn as_it_stands(procedure: Value<'_>) -> Option<Counted> {
    let (steps, uses) = read(procedure)?;
    Some(Counted { steps, redefinitions: redefinitions(&uses), unused: unused(&uses) })
}

/// A name that a step reads or writes.
struct Use<'a> {
    step: usize,
    writes: bool,
    name: Name<'a>,
}

/// The number of steps, and what each reads and writes in their order.
fn read(procedure: Value<'_>) -> Option<(usize, Vec<Use<'_>>)> {
    let (mut steps, mut uses) = (0, Vec::with_capacity(64));
    for step in items(procedure.get("steps"))? {
        if step.kind() != Kind::Object {
            return None;
        }
        for (key, writes) in [("inputs", false), ("output", true)] {
            for item in items(step.get(key))? {
                uses.push(Use { step: steps, writes, name: Name::of(item.get("name")?)? });
            }
        }
        steps += 1;
    }
    Some((steps, uses))
}

fn looks_like_extraction(step: Value<'_>) -> bool {
    let text = step.get("stepDescription").map(python::str);
    EXTRACTION_WORDS.as_ref().zip(text).is_some_and(|(words, text)| words.is_match(text.bytes()))
}

/// Iterates as Python does where that gives objects or nothing: over a list, or something empty.
fn items(value: Option<Value<'_>>) -> Option<impl Iterator<Item = Value<'_>>> {
    let list = match value.map(|value| (value, value.kind())) {
        None => None,
        Some((value, Kind::Array)) => Some(value),
        Some((value, Kind::Object)) if value.is_empty() => None,
        Some((value, Kind::String)) if value.is_string("") => None,
        Some(_) => return None,
    };
    Some(list.into_iter().flat_map(Value::items))
}

/// A name as a member of a Python set: 1, 1.0 and True are one.
#[derive(PartialEq, Eq, Hash)]
enum Name<'a> {
    Text(Untrusted<'a>),
    Number(PythonNumber),
    None,
}

impl<'a> Name<'a> {
    /// `None`: not hashable.
    fn of(value: Value<'a>) -> Option<Self> {
        Some(match value.kind() {
            Kind::String | Kind::Key => Self::Text(value.string()?),
            Kind::Int | Kind::Float | Kind::NotFinite => Self::Number(PythonNumber::of(value)?),
            Kind::True => Self::Number(PythonNumber::from(1.0)),
            Kind::False => Self::Number(PythonNumber::from(0.0)),
            Kind::Null => Self::None,
            Kind::Array | Kind::Object => return None,
        })
    }

    fn is(&self, text: &str) -> bool {
        matches!(self, Self::Text(name) if *name == text)
    }
}

fn redefinitions(uses: &[Use<'_>]) -> usize {
    let mut seen = HashSet::with_capacity(uses.len());
    let outputs = uses.iter().filter(|used| used.writes && !used.name.is(FINAL_ANSWER));
    outputs.filter(|used| !seen.insert(&used.name)).count()
}

fn unused(uses: &[Use<'_>]) -> usize {
    let mut read_later = HashSet::with_capacity(uses.len());
    let mut unused = 0;
    for step in uses.chunk_by(|one, next| one.step == next.step).rev() {
        let dead = |used: &&Use<'_>| {
            let name = &used.name;
            used.writes && !name.is(FINAL_ANSWER) && !name.is(PROBLEM_TEXT) && !read_later.contains(name)
        };
        unused += step.iter().filter(dead).count();
        read_later.extend(step.iter().filter(|used| !used.writes).map(|used| &used.name));
    }
    unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use stepscope_record::formats;

    /// Counts both ways.
    fn counted(steps: &[(&str, &str)]) -> (Option<Counted>, Option<Counted>) {
        let fields = |names: &str| {
            let field = |name| format!(r#"{{"name": "{name}", "description": "d"}}"#);
            names.split_whitespace().map(field).collect::<Vec<_>>().join(",")
        };
        let step = |(inputs, outputs): &(&str, &str)| {
            let (inputs, outputs) = (fields(inputs), fields(outputs));
            format!(r#"{{"id": 1, "inputs": [{inputs}], "stepDescription": "s", "output": [{outputs}]}}"#)
        };
        let steps: Vec<_> = steps.iter().map(step).collect();
        let text = format!(r#"{{"NameDescription": "n", "steps": [{}]}}"#, steps.join(","));
        let case = Case::read(text.as_bytes());
        let view = case.view_as(formats::procedure::FORMAT.read);
        let (procedure, flow) = view.valid_flow().expect("holds the schema");
        (Some(of_flow(procedure, flow)), as_it_stands(procedure.value))
    }

    #[test]
    fn the_flow_counts_what_the_object_holds() {
        for (steps, redefinitions, unused) in [
            (&[("problem_text", "a"), ("a", "final_answer")][..], 0, 0),
            (&[("problem_text", "a b b"), ("a", "a problem_text"), ("a", "final_answer final_answer")], 2, 2),
            (&[("a", "a"), ("", "a c"), ("a c", "c")], 2, 1),
        ] {
            let expected = Some(Counted { steps: steps.len(), redefinitions, unused });
            let (by_flow, as_it_stands) = counted(steps);
            assert_eq!(as_it_stands, expected, "{steps:?}");
            assert_eq!(by_flow, expected, "{steps:?}");
        }
    }
}
