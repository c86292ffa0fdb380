//! Records too large to read in full: what is left out is counted and reported. No real record comes near these
//! numbers, and a hostile one of a few megabytes would cost hundreds: so the rest of a list is counted, never kept, and
//! the record is said to be too large.

use crate::chain;
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_evidence::typed::{Dialect, MAX_CITATIONS, MAX_ITEMS, UnreadRest};
use stepscope_record::Record;
use stepscope_record::procedure::last_step::last_step;
use stepscope_record::procedure::{MAX_FIELDS, MAX_STEPS, Procedure};
use stepscope_record::state::{MAX_SHOWN, MAX_VARIABLES, answer_keys, own_keys};
use stepscope_record::trace::{MAX_CALLS, MAX_SETS, set_list};

/// A list of which only the beginning is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excess {
    /// Its items, in the plural.
    pub what: &'static str,
    /// Number of its items.
    pub count: usize,
    /// Number of items that are read.
    pub read: usize,
    /// Position of the list in the record, as a JSON pointer.
    pub pointer: Pointer,
}

/// In a record with no more values than that, nothing is too much.
const SHORT: usize = 1_000;
/// Maximum number of keys of an answer schema that are read in any case, however many steps are run with it.
const FEW_KEYS: usize = 6;

/// Every list of a record of which only the beginning is read, most often none.
pub(crate) fn of(record: &Record<'_>, procedure: Option<&Procedure<'_>>, rest: UnreadRest) -> Vec<Excess> {
    let mut found = Vec::new();
    if !is_long(record.root, SHORT) {
        return found;
    }
    let mut note = |what, count, read, pointer: Pointer| {
        if count > read {
            found.push(Excess { what, count, read, pointer });
        }
    };
    if let Some(procedure) = procedure.filter(|procedure| !procedure.is_whole()) {
        let steps = record.procedure_pointer.then("steps");
        note("steps", procedure.steps.len() + procedure.steps_left, MAX_STEPS, steps.clone());
        let fields: usize = procedure.steps.iter().map(|step| step.inputs.len() + step.outputs.len()).sum();
        note("inputs and outputs", fields + procedure.fields_left, MAX_FIELDS, steps);
    }
    if let Some(parts) = record.chain.as_deref() {
        note("steps", count(parts.steps, chain::MAX_STEPS), chain::MAX_STEPS, parts.pointer.clone());
    }
    if let Some((procedure, keys)) = procedure.zip(own_keys(record).filter(|keys| is_long(*keys, FEW_KEYS))) {
        let most = answer_keys(&last_step(&procedure.steps));
        let pointer = Pointer::from_iter(["trace", "answer_schema", "properties"]);
        note("keys of the answer schema", count(keys, most), most, pointer);
    }
    if let Some(state) = record.state {
        note("variables of the state", count(state, MAX_VARIABLES), MAX_VARIABLES, Pointer::from_iter(["state"]));
    }
    if let Some(calls) = record.trace_steps {
        let pointer = Pointer::from_iter(["trace", "steps"]);
        note("recorded calls", count(calls, MAX_CALLS), MAX_CALLS, pointer.clone());
        note("recorded inputs and outputs", shown(calls), MAX_SHOWN, pointer);
    }
    if let Some((place, list)) = set_list(record) {
        note("values that were set", count(list, MAX_SETS), MAX_SETS, place);
    }
    if let Some(typed) = record.typed.as_deref() {
        let is_list = typed.dialect() == Some(Dialect::Items);
        let pointer = if is_list { typed.pointer.then("items") } else { typed.pointer.clone() };
        note("items", MAX_ITEMS + rest.items, MAX_ITEMS, pointer.clone());
        note("citations", MAX_CITATIONS + rest.citations, MAX_CITATIONS, pointer);
    }
    found
}

/// Tells whether a list or an object can hold more than so many: each is two bytes at least, with its comma.
fn is_long(value: Value<'_>, most: usize) -> bool {
    value.raw().len() / 2 > most
}

/// Counts the items or members of a value, if they can be more than so many; else 0.
fn count(value: Value<'_>, most: usize) -> usize {
    if is_long(value, most) { value.len() } else { 0 }
}

/// Counts the inputs and outputs of the calls that are read, if they can be too many; else 0.
fn shown<'a>(calls: Value<'a>) -> usize {
    let objects = |call: Value<'a>| [call.get("inputs"), call.get("outputs")].into_iter().flatten();
    let all = || calls.items().take(MAX_CALLS).flat_map(objects).filter(|object| object.kind() == Kind::Object);
    if is_long(calls, MAX_SHOWN) { all().map(Value::len).sum() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    /// Lists the findings of a record, and counts the variables and steps of its state.
    fn said(text: &str) -> (Vec<String>, usize, usize) {
        let case = Case::read(text.as_bytes());
        let view = case.view();
        let (state, found) = (view.state(), view.findings());
        let said = |finding: &stepscope_record::finding::Finding| {
            format!("{} {}: {}", finding.rule, finding.place().pointer().text().line(), finding.message.line())
        };
        (found.iter().map(said).collect(), state.variables().len(), state.step_count())
    }

    fn items(count: usize, item: impl Fn(usize) -> String) -> String {
        (0..count).map(item).collect::<Vec<_>>().join(",")
    }

    fn run(steps: &str, state: &str, trace: &str) -> String {
        format!(
            r#"{{"id": 1, "question": "?", "mode": "procedural", "procedure": {{"NameDescription": "n", "steps": [{steps}]}},
            "state": {{{state}}}, "trace": {{{trace}}}}}"#
        )
    }

    #[test]
    fn of_a_long_list_the_first_are_read_and_the_rest_is_counted() {
        let too_large = |place: &str, message: &str| format!("record/too_large {place}: {message}");
        // Whatever else could be said of these records is not: it need not hold for the whole.
        let extra = 3;
        let name = |n: usize| format!(r#"{{"name": "v{n}", "description": "d"}}"#);
        let step =
            |n: usize| format!(r#"{{"id": {}, "inputs": [], "stepDescription": "s", "output": [{}]}}"#, n + 1, name(n));
        let (found, variables, steps) = said(&run(&items(MAX_STEPS + extra, step), "", ""));
        assert_eq!(found, [too_large("/procedure/steps", "Only the first 20,000 of 20,003 steps are read.")]);
        assert_eq!((variables, steps), (MAX_STEPS + 1, MAX_STEPS));

        let fields = format!(
            r#"{{"id": 1, "inputs": [], "stepDescription": "s", "output": [{}]}}"#,
            items(MAX_FIELDS + extra, name)
        );
        let (found, variables, _) = said(&run(&fields, "", ""));
        assert_eq!(
            found,
            [too_large("/procedure/steps", "Only the first 100,000 of 100,003 inputs and outputs are read.")]
        );
        assert_eq!(variables, MAX_FIELDS + 1);

        let member = |n: usize| format!(r#""v{n}": 1"#);
        let (found, variables, _) = said(&run("", &items(MAX_VARIABLES + extra, member), ""));
        let read = "Only the first 50,000 of 50,003 variables of the state are read.";
        assert_eq!(found[0], too_large("/state", read));
        assert_eq!(variables, MAX_VARIABLES + 1);

        let calls = format!(r#""steps": [{}]"#, items(MAX_CALLS + extra, |_| "{}".to_owned()));
        let (found, ..) = said(&run("", "", &calls));
        assert_eq!(found[0], too_large("/trace/steps", "Only the first 20,000 of 20,003 recorded calls are read."));

        let outputs = format!(r#""steps": [{{"step_index": 0, "outputs": {{{}}}}}]"#, items(MAX_SHOWN + extra, member));
        let (found, variables, _) = said(&run(&step(1), "", &outputs));
        let read = "Only the first 50,000 of 50,003 recorded inputs and outputs are read.";
        assert_eq!(found, [too_large("/trace/steps", read)]);
        assert_eq!(variables, MAX_SHOWN + 1);

        let last = |_| r#"{"id": 400, "inputs": [], "stepDescription": "s", "output": []}"#.to_owned();
        let schema = format!(r#""answer_schema": {{"properties": {{{}}}}}, "steps": []"#, items(500, member));
        let (found, variables, _) = said(&run(&items(400, last), &items(500, member), &schema));
        let read = "Only the first 300 of 500 keys of the answer schema are read.";
        assert_eq!(found, [too_large("/trace/answer_schema/properties", read)]);
        assert_eq!(variables, 501);
    }

    #[test]
    fn of_a_long_answer_the_first_items_and_citations_are_read() {
        let answer = |items: &str| format!(r#"{{"answer_found": true, "confidence": 1, "items": [{items}]}}"#);
        let (found, ..) = said(&answer(&items(MAX_ITEMS + 3, |n| format!(r#"{{"text": "{n}", "spans": []}}"#))));
        assert_eq!(found, ["record/too_large /items: Only the first 20,000 of 20,003 items are read."]);
        let spans = format!(r#"{{"text": "a", "spans": [{}]}}"#, items(MAX_CITATIONS + 3, |_| "{}".to_owned()));
        let (found, ..) = said(&answer(&spans));
        assert_eq!(found, ["record/too_large /items: Only the first 50,000 of 50,003 citations are read."]);
        let field = |n: usize| format!(r#""f{n}": {{"value": 1, "quote": "q", "line_start": 1}}"#);
        let (found, ..) = said(&format!("{{{}}}", items(MAX_ITEMS + 3, field)));
        assert_eq!(found, ["record/too_large : Only the first 20,000 of 20,003 items are read."]);
    }

    #[test]
    fn a_record_at_the_limit_is_judged_as_a_whole() {
        let step = |n: usize| format!(r#"{{"id": {}, "inputs": [], "stepDescription": "s", "output": []}}"#, n + 1);
        let (found, _, steps) = said(&run(&items(MAX_STEPS, step), "", ""));
        assert_eq!(steps, MAX_STEPS);
        assert!(found.iter().any(|said| said.starts_with("procedure/first_step_inputs")), "{found:?}");
        assert!(!found.iter().any(|said| said.contains("too_large")), "{found:?}");
    }
}
