//! A procedure alone, as `evoproc_procedures` writes it, or as an individual of a population that was dumped.

use super::Format;
use crate::procedure::Procedure;
use crate::record::{Record, RecordKind};
use stepscope_base::json::{Kind, Pointer, Value};

/// See the module.
pub const FORMAT: Format = Format {
    id: "procedure",
    summary: "a global-state procedure: NameDescription and steps",
    example: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
    recognise: |value| Procedure::is_like(value),
    read: |value| read(value, value),
};

/// An individual of evoproc's genetic search: a procedure with what the search said of it.
pub(crate) const INDIVIDUAL: Format = Format {
    id: "individual",
    summary: "an individual of evoproc's population: proc, fitness, notes",
    example: r#"{"proc": {"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}, "fitness": 1.0, "notes": ""}"#,
    recognise: |value| {
        let has = |key: &str| value.get(key).is_some();
        value.get("proc").is_some_and(|proc| proc.kind() == Kind::Object) && (has("fitness") || has("notes"))
    },
    read: |value| {
        let proc = value.get("proc").unwrap_or(value);
        let fitness = value.get("fitness").filter(|fitness| fitness.is_number());
        Record { procedure_pointer: Pointer::from_iter(["proc"]), fitness, ..read(value, proc) }
    },
};

fn read<'a>(root: Value<'a>, procedure: Value<'a>) -> Record<'a> {
    // The model's text is shown where a reply is shown.
    let raw = Procedure::unread(procedure);
    Record { procedure: Some(procedure), raw, ..Record::bare(RecordKind::Procedure, root) }
}
