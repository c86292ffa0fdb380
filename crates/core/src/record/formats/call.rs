//! One call of a model, as people log them: a prompt and the reply, one per line.

use super::Format;
use crate::record::{Record, RecordKind};
use stepscope_base::json::Value;

/// See the module.
pub(crate) const FORMAT: Format = Format {
    id: "call",
    example: r#"{"model": "m", "prompt": "2 + 3?", "response": "5", "error": null}"#,
    recognise: |value| value.get("prompt").is_some() && reply(value).is_some(),
    read: |value| Record {
        // Not `run_id`: all calls of a run share it.
        id: value.get("id"),
        question: value.get("prompt"),
        raw: reply(value),
        model: value.get("model"),
        error: value.get("error").filter(|error| !error.is_null()),
        ..Record::bare(RecordKind::Call, value)
    },
};

/// The reply, under the names that it has.
fn reply(value: Value<'_>) -> Option<Value<'_>> {
    ["response", "raw", "completion", "reply"].into_iter().find_map(|key| value.get(key))
}
