//! Run records: procedural, baseline, fixed and error rows, with or without a run trace.
//!
//! The run trace is the record that upstream's users save plus one key, `trace`, so that every tool that reads the
//! record reads the trace too: `{"format": "stepscope.run_trace", "version": 1, "steps": [...]}`.

use super::answer::schema_of;
use crate::fork_origin::fork_of;
use crate::format::Format;
use crate::procedure::Procedure;
use crate::{AnswerSchema, Record, RecordKind};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_evidence::typed::flag;

/// The words that evoproc's users have for the ways of running.
const MODES: [&str; 3] = ["baseline", "procedural", "procedural_fixed"];

/// See the module.
pub const FORMAT: Format = Format {
    id: "run",
    example: r#"{"id": "a1", "question": "2 + 3?", "gold_num": 5.0, "status": "ok", "mode": "baseline", "state": {"final_answer": "5"}, "correct": true}"#,
    recognise,
    read,
};

/// Tells whether an object is a run. One key is never enough: others have a `state`, an `error` or an `id` too.
fn recognise(value: Value<'_>) -> bool {
    let (mut parts, mut partners, mut shared) = (0, 0, 0);
    let (mut question, mut procedure) = (false, false);
    for member in value.members() {
        let value = member.value;
        let name = member.name();
        match name.bytes() {
            b"state" => parts += usize::from(value.kind() == Kind::Object || value.is_null()),
            b"procedure" if Procedure::is_like(value) => return true,
            b"trace" if is_trace(value) => return true,
            b"procedure" => (parts, procedure) = (parts + 1, true),
            b"trace" | b"gold_answer" | b"gold_num" | b"pred_num" => parts += 1,
            // Others name what a program predicted like that.
            b"pred_answer" => partners += 1,
            b"question" => question = true,
            b"mode" => partners += usize::from(MODES.iter().any(|mode| value.is_string(mode))),
            b"row_index" => partners += 1,
            b"raw" => partners += usize::from(value.kind() == Kind::String),
            b"id" | b"status" | b"correct" => shared += 1,
            b"error" => shared += usize::from(!value.is_null()),
            _ => {}
        }
    }
    let with_partner = parts + partners + usize::from(question);
    (parts > 0 && with_partner > 1)
        || (procedure && shared > 1)
        || (question && partners + shared > 1)
        || (partners > 0 && partners + shared > 2)
}

/// Tells whether a value is a run trace.
fn is_trace(value: Value<'_>) -> bool {
    value.get("format").is_some_and(|format| format.is_string("stepscope.run_trace"))
        || value.get("steps").is_some_and(|steps| steps.kind() == Kind::Array)
}

fn read(root: Value<'_>) -> Record<'_> {
    let mut record = Record::bare(RecordKind::Procedural, root);
    let (mut mode, mut status, mut trace) = (None, None, None);
    for member in root.members() {
        let value = member.value;
        let slot = match member.name().bytes() {
            b"id" => &mut record.id,
            b"question" => &mut record.question,
            b"gold_answer" => &mut record.gold_answer,
            b"gold_num" => &mut record.gold_num,
            b"procedure" => &mut record.procedure,
            b"state" => &mut record.state,
            b"fitness" => &mut record.fitness,
            b"pred_answer" => &mut record.pred_answer,
            b"pred_num" => &mut record.pred_num,
            b"raw" => &mut record.raw,
            b"error_type" => &mut record.error_type,
            b"error" => &mut record.error,
            b"mode" => &mut mode,
            b"status" => &mut status,
            b"trace" => &mut trace,
            b"model" => &mut record.model,
            b"correct" => {
                record.correct = flag(value);
                continue;
            }
            _ => continue,
        };
        *slot = Some(value);
    }
    record.procedure_pointer = Pointer::from_iter(["procedure"]);
    if let Some(trace) = trace {
        read_trace(&mut record, trace);
    }
    record.kind = kind_of(&record, mode, status);
    // A run that should have a procedure and has `null` is judged as upstream judges `null`.
    if !matches!(record.kind, RecordKind::Procedural | RecordKind::Fixed) || record.state.is_some() {
        record.procedure = record.procedure.filter(|value| !value.is_null());
    }
    // A trace tells that the run crashed before its answer, even if the state holds one from before. Without a trace
    // the state is taken at its word.
    let answers = record.kind != RecordKind::Error || trace.is_none();
    record.answer = record.state.filter(|state| answers && state.kind() == Kind::Object);
    if record.answer_schema.is_none() {
        record.answer_schema = record.answer.map(schema_of);
    }
    record
}

fn read_trace<'a>(record: &mut Record<'a>, trace: Value<'a>) {
    record.trace_fork = fork_of(trace);
    let is_own = |_: &Value<'_>| trace.get("format").is_some_and(|format| format.is_string("stepscope.run_trace"));
    record.trace_values = trace.get("values").filter(|_| record.trace_fork.is_none()).filter(is_own);
    // A fork for which nobody was asked has a trace that only says where it comes from.
    let is_bare = |steps: &Value<'_>| steps.is_empty() && record.trace_fork.is_some();
    record.trace_steps = trace.get("steps").filter(|steps| !is_bare(steps));
    record.is_gathered = trace.get("source").is_some();
    if record.procedure.is_none_or(Value::is_null)
        && let Some(procedure) = trace.get("procedure").filter(|value| !value.is_null())
    {
        record.procedure = Some(procedure);
        record.procedure_pointer = Pointer::from_iter(["trace", "procedure"]);
    }
    let schema = trace.get("answer_schema").and_then(Value::string);
    record.answer_schema = schema.and_then(|name| AnswerSchema::named(name.utf8()?)).map(|named| named.schema);
}

fn kind_of(record: &Record<'_>, mode: Option<Value<'_>>, status: Option<Value<'_>>) -> RecordKind {
    let is = |value: Option<Value<'_>>, word: &str| value.is_some_and(|value| value.is_string(word));
    if is(status, "error") {
        RecordKind::Error
    } else if is(mode, "baseline")
        || (mode.is_none() && record.procedure.is_none_or(Value::is_null) && record.raw.is_some())
    {
        RecordKind::Baseline
    } else if is(mode, "procedural_fixed") {
        RecordKind::Fixed
    } else {
        RecordKind::Procedural
    }
}

#[cfg(test)]
mod tests {
    use super::recognise;
    use stepscope_base::json::Tape;

    #[test]
    fn one_key_does_not_make_a_run() {
        let is_run = |text: &str| recognise(Tape::default().parse(text.as_bytes()).unwrap());
        for other in [
            r#"{"city": "Ulm", "state": "BW"}"#,
            r#"{"city": "Ulm", "state": "BW", "question": "?"}"#,
            r#"{"type": "end_entry", "state": {"question": "?"}, "exception": null}"#,
            r#"{"id": "a", "custom_id": "b", "response": {}, "error": null}"#,
            r#"{"id": 1, "state": {}}"#,
            r#"{"state": {}, "error": "x"}"#,
            r#"{"id": 1, "error": "x", "status": "error"}"#,
            r#"{"parts": [], "kind": "response", "state": "complete"}"#,
            r#"{"question": "?", "pred_answer": "x"}"#,
            r#"{"id": 1, "trace": "x"}"#,
        ] {
            assert!(!is_run(other), "{other}");
        }
        for run in [
            r#"{"id": 1, "question": "?", "state": {}}"#,
            r#"{"mode": "baseline", "state": {}}"#,
            r#"{"procedure": null, "state": {}}"#,
            r#"{"id": 1, "question": "?", "status": "error", "error": "x"}"#,
            r#"{"question": "?", "gold_answer": "4"}"#,
            r#"{"state": {}, "pred_num": 4}"#,
            r#"{"trace": {"steps": []}}"#,
            r#"{"id": 1, "procedure": null, "status": "error", "error": "x"}"#,
        ] {
            assert!(is_run(run), "{run}");
        }
    }
}
