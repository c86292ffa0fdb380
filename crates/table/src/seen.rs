//! The text of a record that a person reads, in reading order (question, steps, names, values, replies, answers),
//! without JSON keys, schemas and the prompts that hold them; those are looked through apart.

use stepscope_base::json::{Kind, Member, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, head};
use stepscope_record::Record;
use stepscope_record::formats;
use stepscope_record::procedure::Procedure;
use stepscope_record::trace::by_position;

/// More of a name is not said.
const MAX_NAME: usize = 60;

/// Finds the first place in the text of a record where `holds` finds something that a person sees; `None`: nowhere. If
/// the text is not JSON, all of it is seen.
pub fn place_in(text: &[u8], holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    read_if_held(text, holds, |record| match record {
        Some(record) => first_place(record, holds),
        None => Some(Shown::own("text")),
    })
}

/// Finds the first prompt of a record in which `holds` finds something; `None`: in none.
pub fn prompt_in(text: &[u8], holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    read_if_held(text, holds, |record| {
        let record = record?;
        let is = |prompt: Option<Value<'_>>| prompt.is_some_and(|prompt| in_values(prompt, holds));
        let creation = record.root.get("trace").and_then(|trace| trace.get("creation")?.get("prompt"));
        for (word, prompt) in [("prompt", record.root.get("prompt")), ("creation, prompt", creation)] {
            if is(prompt) {
                return Some(Shown::own(word));
            }
        }
        let steps = record.procedure.map(|procedure| Procedure::read(procedure).steps.len());
        let calls = by_position(record, steps);
        let step = calls.iter().position(|call| is(call.as_ref().and_then(|call| call.get("prompt"))))?;
        Some(shown!("step {}, prompt", step + 1))
    })
}

/// Reads a record, if its text holds the letters at all: most do not.
fn read_if_held(
    text: &[u8],
    holds: &impl Fn(&[u8]) -> bool,
    look: impl FnOnce(Option<&Record<'_>>) -> Option<Shown>,
) -> Option<Shown> {
    if !holds(text) {
        return None;
    }
    let mut tape = Tape::default();
    tape.read(text);
    look(tape.root(text).map(formats::read).as_ref())
}

/// Finds the first place where a text is seen, in a few words; `holds` is asked about pieces of JSON as they are
/// written. `None`: nowhere.
pub(crate) fn first_place(record: &Record<'_>, holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    let plain = |word: &'static str, value: Option<Value<'_>>| {
        value.is_some_and(|value| in_values(value, holds)).then(|| Shown::own(word))
    };
    let first = plain("id", record.id).or_else(|| plain("question", record.question));
    let first = first.or_else(|| in_procedure(record, holds)).or_else(|| in_typed(record, holds));
    first
        .or_else(|| plain("expected answer", record.gold_answer))
        .or_else(|| plain("expected answer", record.gold_num))
        .or_else(|| plain("answer", record.answer.filter(|_| record.state.is_none())))
        .or_else(|| plain("answer", record.pred_answer))
        .or_else(|| plain("answer", record.pred_num))
        .or_else(|| plain("reply", record.raw))
        .or_else(|| plain("error", record.error_type))
        .or_else(|| plain("error", record.error))
        .or_else(|| in_other_fields(record, holds))
}

/// Tells whether a value holds it, itself or in its contents.
fn in_values(value: Value<'_>, holds: &impl Fn(&[u8]) -> bool) -> bool {
    value.walk().any(|stop| !stop.value.is_container() && holds(stop.value.raw()))
}

fn in_member(member: &Member<'_>, holds: &impl Fn(&[u8]) -> bool) -> bool {
    holds(member.key.raw()) || in_values(member.value, holds)
}

fn name_of(member: &Member<'_>) -> Shown {
    Shown::line(head(member.name().bytes(), MAX_NAME))
}

fn in_procedure(record: &Record<'_>, holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    let procedure = record.procedure.map(Procedure::read);
    let is = |value: Option<Value<'_>>| value.is_some_and(|value| in_values(value, holds));
    if procedure.as_ref().is_some_and(|procedure| is(procedure.name)) {
        return Some(Shown::own("procedure"));
    }
    let steps = procedure.as_ref().map_or(&[][..], |procedure| procedure.steps.as_slice());
    let of_members = |value: Option<Value<'_>>| {
        let mut members = value.filter(|value| value.kind() == Kind::Object).into_iter().flat_map(Value::members);
        members.find(|member| in_member(member, holds)).map(|member| name_of(&member))
    };
    let calls = by_position(record, procedure.as_ref().map(|_| steps.len()));
    for n in 0..steps.len().max(calls.len()) {
        if let Some(step) = steps.get(n) {
            if is(step.text) {
                return Some(shown!("step {}", n + 1));
            }
            let mut fields = step.inputs.iter().chain(&step.outputs);
            if let Some(field) = fields.find(|field| is(field.name) || is(field.description)) {
                let name = Value::text_of(field.name);
                return Some(shown!("step {}, {}", n + 1, Shown::line(head(name.bytes(), MAX_NAME))));
            }
        }
        let Some(call) = calls.get(n).copied().flatten() else { continue };
        if let Some(name) = of_members(call.outputs) {
            return Some(shown!("step {}, {name}", n + 1));
        }
        for (word, value) in [("reply", call.get("raw")), ("error", call.error)] {
            if is(value) {
                return Some(shown!("step {}, {word}", n + 1));
            }
        }
    }
    let name = of_members(record.state)?;
    let writes = |n: &usize| {
        let mut outputs = steps.get(*n).into_iter().flat_map(stepscope_record::procedure::Step::output_names);
        outputs.any(|output| Shown::line(head(output.bytes(), MAX_NAME)) == name)
    };
    let writer = (0..steps.len()).rev().find(writes);
    Some(writer.map_or_else(|| name.clone(), |n| shown!("step {}, {name}", n + 1)))
}

fn in_typed(record: &Record<'_>, holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    let typed = record.typed.as_deref()?;
    let is = |value: Option<Value<'_>>| value.is_some_and(|value| in_values(value, holds));
    for (n, item) in typed.items().iter().enumerate() {
        if item.citations.iter().any(|citation| is(citation.quote)) {
            return Some(shown!("item {}, quote", n + 1));
        }
        if in_values(item.root, holds) {
            return Some(shown!("item {}", n + 1));
        }
    }
    if is(typed.answer) || is(typed.answer_text) {
        return Some(Shown::own("answer"));
    }
    is(typed.document).then(|| Shown::own("document"))
}

/// Fields that stepscope does not know are shown as JSON, and so is a record of no known shape; not the trace, whose
/// prompts are looked through apart.
fn in_other_fields(record: &Record<'_>, holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    let root = record.root;
    let typed = record.typed.as_deref();
    let known = [
        record.procedure,
        record.state,
        record.trace_steps,
        record.trace_fork,
        record.trace_values,
        record.answer,
        typed.and_then(|typed| typed.document),
    ];
    // The whole record may be one of them.
    let is_known = |value: Value<'_>| {
        let range = value.range();
        known.into_iter().flatten().any(|known| range.start <= known.range().start && known.range().end <= range.end)
    };
    if root.kind() != Kind::Object {
        return in_json(root, root, holds);
    }
    let is_own = |key: Value<'_>| is_schema(key) || key.is_string("trace") && record.trace_steps.is_some();
    let mut others = root.members().filter(|member| !is_own(member.key) && !is_known(member.value));
    others.find_map(|member| in_json(root, member.value, holds))
}

fn is_schema(key: Value<'_>) -> bool {
    ["schema", "json_schema", "$schema"].iter().any(|word| key.is_string(word))
}

/// A value that is seen as JSON.
fn in_json(root: Value<'_>, value: Value<'_>, holds: &impl Fn(&[u8]) -> bool) -> Option<Shown> {
    let mut walk = value.walk();
    while let Some(stop) = walk.next() {
        let schema = stop.key.is_some_and(is_schema);
        if stop.value.is_container() {
            if schema {
                walk.skip_inside();
            }
        } else if !schema && holds(stop.value.raw()) {
            let pointer = root.pointer_to(stop.value).text();
            return Some(if pointer.is_empty() { Shown::own("value") } else { pointer.line() });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::text_patterns;

    fn place(text: &str, typed: &str) -> Option<String> {
        let [pattern, _] = text_patterns(typed).unwrap();
        place_in(text.as_bytes(), &|bytes| pattern.is_match(bytes)).map(Shown::into_string)
    }

    #[test]
    fn what_a_person_sees_is_found_where_they_see_it() {
        let run = r#"{"id": "r7", "question": "How many eggs?", "gold_answer": "so #### 18", "mode": "procedural", "procedure": {"NameDescription": "Egg count",
            "steps": [{"id": 1, "stepDescription": "Read the \u201cfacts\u201d", "inputs": [{"name": "problem_text", "description": "task"}], "output": [{"name": "laid", "description": "daily"}]},
                {"id": 2, "stepDescription": "Sell", "inputs": [{"name": "laid", "description": "d"}], "output": [{"name": "final_answer", "description": "money"}]}]},
            "state": {"laid": 16, "final_answer": "forty dollars"}, "correct": false, "status": "ok",
            "trace": {"version": 1, "steps": [{"step_index": 0, "schema": {"properties": {"hidden_key": {"title": "hidden words"}}}, "prompt": "Be exact", "raw": "sixteen it is", "outputs": {"laid": 16}}]}}"#;
        for (typed, expected) in [
            ("r7", "id"),
            ("eggs", "question"),
            ("egg count", "procedure"),
            ("“facts”", "step 1"),
            ("daily", "step 1, laid"),
            ("16", "step 1, laid"),
            ("sixteen", "step 1, reply"),
            ("sell", "step 2"),
            ("final_ans", "step 2, final_answer"),
            ("forty", "step 2, final_answer"),
            ("18", "expected answer"),
        ] {
            assert_eq!(place(run, typed).as_deref(), Some(expected), "{typed}");
        }
        for hidden in
            ["hidden_key", "hidden words", "stepDescription", "NameDescription", "status", "properties", "exact"]
        {
            assert_eq!(place(run, hidden), None, "{hidden}");
        }
        let [pattern, _] = text_patterns("exact").unwrap();
        let in_prompt =
            |text: &str| prompt_in(text.as_bytes(), &|bytes| pattern.is_match(bytes)).map(Shown::into_string);
        assert_eq!(in_prompt(run).as_deref(), Some("step 1, prompt"));
        assert_eq!(in_prompt(r#"{"id": "r1", "question": "exact?", "state": {"final_answer": "7"}}"#), None);
    }

    #[test]
    fn answers_and_unknown_records_are_seen_without_their_keys() {
        let typed = r#"{"answer_found": true, "items": [{"text": "blue", "spans": [{"quote": "the sea is blue", "line_start": 1}]}]}"#;
        assert_eq!(place(typed, "the sea").as_deref(), Some("item 1, quote"));
        assert_eq!(place(typed, "line_start"), None);
        let unknown = r#"{"a": {"b": ["x", "needle"]}, "schema": {"title": "secret"}}"#;
        assert_eq!(place(unknown, "needle").as_deref(), Some("/a/b/1"));
        assert_eq!((place(unknown, "secret"), place(unknown, "b")), (None, None));
        let tagged = r#"{"id": "r1", "question": "q", "state": {"final_answer": "7"}, "tag": {"level": "hard"}, "status": "ok"}"#;
        assert_eq!(place(tagged, "hard").as_deref(), Some("/tag/level"), "unknown fields are shown");
        assert_eq!((place(tagged, "level"), place(tagged, "final")), (None, Some("final_answer".to_owned())));
        assert_eq!(place(r#"{"final_answer": "Paris"}"#, "paris").as_deref(), Some("answer"));
        assert_eq!((place("no json", "json").as_deref(), place("no json", "xml")), (Some("text"), None));
    }
}
