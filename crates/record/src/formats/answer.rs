//! An answer object of one of the four published schemas (`evoproc_procedures.schemas`).

use crate::format::Format;
use crate::{AnswerSchema, Record, RecordKind};
use stepscope_base::json::{Kind, Value};

/// See the module.
pub const FORMAT: Format = Format {
    id: "answer",
    example: r#"{"final_answer": "It is 7.", "final_answer_numerical": 7, "confidence": 0.9}"#,
    recognise: |value| value.get("final_answer").is_some() || value.get("final_answer_numerical").is_some(),
    read,
};

/// Takes a value as an answer, whatever it is.
pub fn read(value: Value<'_>) -> Record<'_> {
    Record {
        id: value.get("id"),
        answer: Some(value),
        answer_schema: Some(schema_of(value)),
        ..Record::bare(RecordKind::Answer, value)
    }
}

/// The schema whose own keys an answer object has.
pub(crate) fn schema_of(value: Value<'_>) -> AnswerSchema {
    let has = |key| value.get(key).is_some();
    let letter = || {
        value.get("final_answer").is_some_and(|answer| {
            answer.kind() == Kind::String && ["A", "B", "C", "D"].iter().any(|letter| answer.is_string(letter))
        })
    };
    if has("final_answer_numerical") {
        AnswerSchema::Gsm
    } else if has("final_answer_bool") {
        AnswerSchema::Bool
    } else if has("choice_rationale") || (has("confidence") && letter()) {
        AnswerSchema::Arc
    } else {
        AnswerSchema::General
    }
}
