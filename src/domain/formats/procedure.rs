//! A procedure alone, as `evoproc_procedures` writes it.

use super::Format;
use crate::domain::procedure::Procedure;
use crate::domain::record::{Record, RecordKind};

/// See the module.
pub const FORMAT: Format = Format {
    id: "procedure",
    summary: "a global-state procedure: NameDescription and steps",
    example: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
    recognise: |value| Procedure::is_like(value),
    read: |value| Record { procedure: Some(value), ..Record::bare(RecordKind::Procedure, value) },
};
