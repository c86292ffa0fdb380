//! One call of a model, as people log them: a prompt and the reply, one per line.

use crate::format::Format;
use crate::messages::is_marked;
use crate::{Record, RecordKind};
use stepscope_base::json::{Kind, Value};

/// See the module.
pub(crate) const FORMAT: Format = Format {
    id: "call",
    example: r#"{"model": "m", "prompt": "2 + 3?", "response": "5", "error": null}"#,
    recognise: |value| {
        value.get("prompt").is_some_and(|prompt| is_prompt(prompt) || is_recorded(value, prompt))
            && reply(value).is_some()
    },
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

/// Tells whether a value was sent to a model: a text, or messages.
pub(crate) fn is_prompt(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::String => true,
        Kind::Array => value.items().next().is_some_and(|first| first.kind() == Kind::String || is_marked(first)),
        _ => false,
    }
}

/// Tells whether our own recorder wrote a call of a function that takes no prompt.
fn is_recorded(call: Value<'_>, prompt: Value<'_>) -> bool {
    prompt.is_null() && ["started_utc", "duration_ms"].iter().all(|key| call.get(key).is_some())
}

/// The reply, under the names that it has.
fn reply(value: Value<'_>) -> Option<Value<'_>> {
    ["response", "raw", "completion", "reply"].into_iter().find_map(|key| value.get(key))
}
