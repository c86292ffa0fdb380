//! Conversations: lists of messages, each with the role of who wrote it, in the dialects of model servers and of training
//! sets.

mod conversation;
mod said;

pub use self::conversation::{Conversation, Message};
use self::said::{SaidText, role_of_item};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::text::{Shown, Untrusted, head};

/// Roles of a model.
const BY_MODEL: [&str; 5] = ["assistant", "gpt", "model", "ai", "function_call"];
/// Roles of who asks.
const BY_PERSON: [&str; 2] = ["user", "human"];
/// Types of messages that are the role of who wrote them.
const BY_TYPE: [&str; 4] = ["human", "ai", "system", "tool"];
/// More of a conversation is not laid out.
const MAX_TOLD: usize = 1 << 20;

/// Lists the messages of a conversation; empty: the value is none.
fn messages(value: Value<'_>) -> Vec<Value<'_>> {
    let is_message = |value: &Value<'_>| value.kind() == Kind::Object && role(*value).is_some();
    let all: Vec<Value<'_>> = value.items().map(unwrapped).collect();
    if all.iter().all(is_message) { all } else { Vec::new() }
}

/// Takes a message out of what `LangChain` wraps it in.
fn unwrapped(message: Value<'_>) -> Value<'_> {
    let inside = message.get("data").or_else(|| message.get("kwargs"));
    inside.filter(|inside| inside.get("content").is_some() && role(*inside).is_some()).unwrap_or(message)
}

/// Tells whether a value is a message by two marks: who wrote it, and what it says.
pub(crate) fn is_marked(message: Value<'_>) -> bool {
    let message = unwrapped(message);
    let says = ["content", "parts", "value"].iter().any(|key| message.get(key).is_some());
    says && role(message).is_some() || role_of_item(message).is_some()
}

/// Splits a conversation into what the model was asked and what its last message says; `None` for that: it has none.
pub fn split(value: Value<'_>) -> (Vec<Value<'_>>, Option<Vec<u8>>) {
    let mut all = messages(value);
    let Some(at) = all.iter().rposition(|message| is_by_model(*message)) else { return (all, None) };
    let reply = all.split_off(at).first().map(|message| SaidText::of(*message).told());
    (all, reply)
}

/// Tells whether a model wrote a message.
fn is_by_model(message: Value<'_>) -> bool {
    role(message).is_some_and(|role| is_of_model(role.bytes()))
}

/// Tells whether a role is a model's.
fn is_of_model(role: &[u8]) -> bool {
    BY_MODEL.iter().any(|known| role == known.as_bytes())
}

/// Lays a conversation out: each message behind its role, each call of a tool with what came of it. `None`: the value is
/// none, and no text that holds one.
pub fn told(value: Value<'_>) -> Option<Shown> {
    let conversation = listed_in(value, Conversation::of_list)?;
    let text = joined(&conversation.messages);
    (!text.as_str().is_empty()).then_some(text)
}

/// Reads a list, or the one that a text holds.
fn listed_in<T>(value: Value<'_>, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    match value.string() {
        Some(text) if text.bytes().trim_ascii_start().starts_with(b"[") => {
            Tape::default().parse(text.bytes()).map(read)
        }
        Some(_) => None,
        None => Some(read(value)),
    }
}

/// Lays messages out, each behind its role.
pub fn joined<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Shown {
    let mut text = String::new();
    for message in messages {
        if text.len() > MAX_TOLD {
            break;
        }
        let between = if text.is_empty() { "" } else { "\n\n" };
        text.extend([between, message.role.as_str(), ": ", message.whole().as_str()]);
    }
    Shown::prose(head(text.as_bytes(), MAX_TOLD))
}

/// Returns what was asked last in a conversation.
pub fn last_asked(value: Value<'_>) -> Option<Vec<u8>> {
    let by_person = |message: &Value<'_>| {
        role(*message).is_some_and(|role| BY_PERSON.iter().any(|known| role.bytes() == known.as_bytes()))
    };
    let last =
        |list: Value<'_>| messages(list).into_iter().rev().find(by_person).map(|message| SaidText::of(message).told());
    listed_in(value, last).flatten().filter(|said| !said.is_empty())
}

/// Returns the role of who wrote a message; `None`: the value is none.
fn role(message: Value<'_>) -> Option<Untrusted<'_>> {
    let named =
        ["role", "from"].into_iter().find_map(|key| message.get(key)).filter(|role| role.kind() == Kind::String);
    // LangChain's messages say it as their type.
    let typed = || message.get("type").filter(|kind| BY_TYPE.iter().any(|known| kind.is_string(known)));
    match named.or_else(|| typed().filter(|_| message.get("content").is_some())) {
        Some(role) => role.string(),
        None => role_of_item(message).map(|role| Untrusted::new(role.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(json: &str, read: impl FnOnce(Value<'_>) -> T) -> T {
        let mut tape = Tape::default();
        read(tape.parse(json.as_bytes()).unwrap())
    }

    #[test]
    fn conversations_of_every_dialect_are_told() {
        let openai = r#"[{"role": "system", "content": "Be short."}, {"role": "user", "content": "2 + 2?"},
            {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "add", "arguments": "{\"a\": 2, \"b\": 2}"}}]},
            {"role": "tool", "content": "4"}]"#;
        let told = with(openai, |value| told(value).unwrap().into_string());
        assert_eq!(told, "system: Be short.\n\nuser: 2 + 2?\n\nassistant: add(a=2, b=2) → 4");
        let anthropic = r#"[{"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "add", "input": {"a": 2}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "4"}]}]"#;
        assert_eq!(with(anthropic, |value| String::from_utf8(last_asked(value).unwrap()).unwrap()), "4");
        let picture = r#"[{"role": "user", "content": [{"type": "image_url", "url": "x"}]}, {"role": "tool", "content": {"a": 1}}]"#;
        let told = with(picture, |value| super::told(value).unwrap().into_string());
        assert_eq!(told, "user: {\"type\":\"image_url\",\"url\":\"x\"}\n\ntool: {\"a\":1}", "nothing is left out");
        let shared = r#"[{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "4"}]"#;
        assert_eq!(with(shared, |value| (split(value).0.len(), split(value).1)), (1, Some(b"4".to_vec())));
    }

    #[test]
    fn other_lists_are_no_conversations() {
        for json in [r#"["a"]"#, r#"[{"content": "a"}]"#, r#"[{"role": 1}]"#, r#"{"role": "user"}"#, "[]", "7"] {
            assert!(with(json, |value| messages(value).is_empty() && told(value).is_none()), "{json}");
        }
    }
}
