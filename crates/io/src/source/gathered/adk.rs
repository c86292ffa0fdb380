//! Sessions of Google ADK: events of agents, with what each wrote into the state.

use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::{Members, Plain, object};
use super::session::{AgentSession, SessionTurn, sessions};
use super::step::started;
use crate::failure::Failure;
use stepscope_base::json::Value;

/// Tells whether a value is a session: whose it is, and events that name their author and their invocation.
pub(super) fn is_session(root: Value<'_>) -> bool {
    let first = root.get("events").and_then(|events| events.items().next());
    let is_event = |event: Value<'_>| event.get("author").is_some() && event.get("invocation_id").is_some();
    root.get("app_name").is_some() && first.is_some_and(is_event)
}

/// Reads the sessions of a file.
pub(super) fn read(values: &Values, _: &[Neighbour]) -> Result<GatheredLines, Failure> {
    sessions(values, ("adk", "sessions of Google ADK"), |root, all| {
        if !is_session(root) {
            return false;
        }
        all.push(session_of(&Plain::of(root)));
        true
    })
}

/// Reads a session with its events.
pub(super) fn session_of(told: &Plain) -> AgentSession {
    let mut session = AgentSession::new(told.get("id").cloned());
    session.state = told.get("state").cloned();
    for event in told.get("events").map_or(&[][..], Plain::items) {
        add(event, &mut session);
    }
    session
}

fn add(event: &Plain, session: &mut AgentSession) {
    let parts = event.get("content").and_then(|content| content.get("parts")).map_or(&[][..], Plain::items);
    let is_thought = |part: &Plain| part.get("thought").is_some_and(|thought| thought.json() == b"true");
    let texts = |thoughts: bool| {
        let said = parts.iter().filter(|part| is_thought(part) == thoughts);
        let said: Vec<&[u8]> = said.filter_map(|part| part.get("text")?.text()).collect();
        (!said.is_empty()).then(|| Plain::Text(said.concat()))
    };
    let time = event.get("timestamp").map(Plain::json);
    let seconds = time.and_then(|time| std::str::from_utf8(&time).ok()?.parse::<f64>().ok());
    let began =
        seconds.filter(|seconds| (0.0..1e10).contains(seconds)).and_then(|seconds| started((seconds * 1e9) as u64));
    let author = event.get("author").map_or_else(|| b"agent".to_vec(), Plain::as_text);
    let results: Vec<&Plain> = parts.iter().filter_map(|part| part.get("function_response")).collect();
    if author == b"user" && results.is_empty() {
        if let Some(text) = texts(false) {
            session.add_person(text, began);
        }
        return;
    }
    let delta = event.get("actions").and_then(|actions| actions.get("state_delta"));
    let delta = delta.filter(|delta| **delta != Plain::Object(Members::new())).cloned();
    let code = event.get("error_code").map(Plain::as_text);
    let message = event.get("error_message").map(Plain::as_text);
    let error = match (code, message) {
        (Some(code), Some(message)) => Some(Plain::Text([code.as_slice(), b": ", &message].concat())),
        (code, message) => code.or(message).map(Plain::Text),
    };
    if !results.is_empty() {
        // What the tools of one event wrote into the state is told once.
        let mut wrote = delta;
        for response in results {
            let result = response.get("response").cloned().unwrap_or_else(Plain::null);
            let turn = SessionTurn {
                name: response.get("name").map_or_else(|| b"tool".to_vec(), Plain::as_text),
                outputs: wrote.take(),
                error: error.clone(),
                started: began.clone(),
                ..SessionTurn::default()
            };
            session.add_result(response.get("id"), result, turn);
        }
        return;
    }
    let call = |call: &Plain| {
        object([
            ("id", call.get("id").cloned()),
            ("name", call.get("name").cloned()),
            ("arguments", call.get("args").cloned()),
        ])
    };
    let used = |key: &str| event.get("usage_metadata").and_then(|usage| usage.get(key)).cloned();
    session.add(SessionTurn {
        name: author,
        said: texts(false),
        calls: parts.iter().filter_map(|part| part.get("function_call")).map(call).collect(),
        thoughts: texts(true),
        model: event.get("model_version").cloned(),
        tokens: [used("prompt_token_count"), used("candidates_token_count")],
        outputs: delta,
        error,
        started: began,
        ..SessionTurn::default()
    });
}
