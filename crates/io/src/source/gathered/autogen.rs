//! Conversations of `AutoGen`'s teams: the result of a task, or its messages as JSON lines.

use super::chat::plain_calls;
use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::{Plain, object};
use super::session::{AgentSession, SessionTurn, sessions};
use crate::failure::Failure;
use stepscope_base::json::{Kind, Value};

/// Tells whether a value is the result of a task, or one of its messages.
pub(super) fn is_part(root: Value<'_>) -> bool {
    is_result(root) || is_message(root)
}

fn is_result(root: Value<'_>) -> bool {
    let first = root.get("messages").and_then(|messages| messages.items().next());
    root.get("stop_reason").is_some() && first.is_some_and(is_message)
}

fn is_message(value: Value<'_>) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(|text| text.kind() == Kind::String);
    let kind = value.get("type").and_then(Value::string);
    let kind = kind.is_some_and(|kind| kind.bytes().ends_with(b"Message") || kind.bytes().ends_with(b"Event"));
    kind && is_text("source") && value.get("models_usage").is_some()
}

/// Reads the conversations of a file; its single messages are one.
pub(super) fn read(values: &Values, _: &[Neighbour]) -> Result<GatheredLines, Failure> {
    let mut lines: Option<usize> = None;
    sessions(values, ("autogen", "conversations of AutoGen"), |root, all| {
        let plain = Plain::of(root);
        if is_result(root) {
            let mut session = AgentSession::new(None);
            session.stop = plain.get("stop_reason").cloned();
            plain.get("messages").map_or(&[][..], Plain::items).iter().for_each(|message| add(message, &mut session));
            all.push(session);
            return true;
        }
        if !is_message(root) {
            return false;
        }
        let at = *lines.get_or_insert_with(|| {
            all.push(AgentSession::default());
            all.len() - 1
        });
        if let Some(session) = all.get_mut(at) {
            add(&plain, session);
        }
        true
    })
}

fn add(message: &Plain, session: &mut AgentSession) {
    let name = message.get("source").map_or_else(|| b"agent".to_vec(), Plain::as_text);
    let started = message.get("created_at").map(|time| String::from_utf8_lossy(&time.as_text()).into_owned());
    let content = message.get("content");
    let text = content.filter(|content| content.items().is_empty()).map(|content| Plain::Text(content.as_text()));
    if name == b"user" {
        session.add_person(text.unwrap_or_else(Plain::null), started);
        return;
    }
    let kind = message.get("type").and_then(Plain::text).unwrap_or(b"");
    if kind == b"ToolCallExecutionEvent" {
        for result in content.map_or(&[][..], Plain::items) {
            let said = result.get("content").cloned().unwrap_or_else(Plain::null);
            let is_error = result.get("is_error").is_some_and(|is_error| is_error.json() == b"true");
            let turn = SessionTurn {
                name: result.get("name").map_or_else(|| b"tool".to_vec(), Plain::as_text),
                error: is_error.then(|| Plain::Text(said.as_text())),
                started: started.clone(),
                ..SessionTurn::default()
            };
            session.add_result(result.get("call_id"), said, turn);
        }
        return;
    }
    let used = |key: &str| message.get("models_usage").and_then(|usage| usage.get(key)).cloned();
    let calls = if kind == b"ToolCallRequestEvent" { content.map_or_else(Vec::new, plain_calls) } else { Vec::new() };
    let is_structured = text.is_none() && calls.is_empty();
    session.add(SessionTurn {
        name,
        said: text,
        calls,
        tokens: [used("prompt_tokens"), used("completion_tokens")],
        outputs: content.filter(|_| is_structured).map(|content| object([("content", Some(content.clone()))])),
        started,
        ..SessionTurn::default()
    });
}
