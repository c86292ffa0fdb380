//! Sessions of coding agents: the logs of Claude Code and of Codex, each session as a run.

use super::chat::replied;
use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::{Plain, object};
use super::session::{AgentSession, SessionTurn, sessions};
use crate::failure::Failure;
use stepscope_base::json::{Kind, Value};

/// Kinds of a line of Codex.
const CODEX: [&str; 5] = ["session_meta", "response_item", "turn_context", "event_msg", "compacted"];

/// Tells whether a value is a line of Claude Code: it belongs to a session, and is a turn or its summary.
pub(super) fn is_claude(root: Value<'_>) -> bool {
    let is = |kind: &str| root.get("type").is_some_and(|value| value.is_string(kind));
    let is_turn = (is("user") || is("assistant")) && root.get("uuid").is_some();
    let has_role = root.get("message").is_some_and(|message| message.get("role").is_some());
    (is_turn && has_role && root.get("sessionId").is_some()) || (is("summary") && root.get("leafUuid").is_some())
}

/// Tells whether a value is a line of Codex: its kind, and what it holds.
pub(super) fn is_codex(root: Value<'_>) -> bool {
    let kind = root.get("type").is_some_and(|kind| CODEX.iter().any(|known| kind.is_string(known)));
    kind && root.get("payload").is_some_and(|payload| payload.kind() == Kind::Object) && root.get("timestamp").is_some()
}

/// Reads the sessions of Claude Code that are in a file.
pub(super) fn read_claude(values: &Values, _: &[Neighbour]) -> Result<GatheredLines, Failure> {
    // Each block of a reply has a line of its own, under the id of the reply.
    let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
    sessions(values, ("claude_code", "sessions of Claude Code"), |root, all| {
        if root.get("sessionId").is_none() {
            return is_claude(root);
        }
        let line = Plain::of(root);
        let id = line.get("sessionId").cloned();
        let at = all.iter().position(|session| session.id == id).unwrap_or_else(|| {
            all.push(AgentSession::new(id.clone()));
            all.len() - 1
        });
        match all.get_mut(at) {
            Some(session) if is_claude(root) => add_claude(&line, session, &mut last),
            Some(session) => session.untold += 1,
            None => {}
        }
        true
    })
}

fn text_of(value: Option<&Plain>) -> Vec<u8> {
    value.map_or_else(Vec::new, Plain::as_text)
}

fn time_of(line: &Plain) -> Option<String> {
    line.get("timestamp").map(|time| String::from_utf8_lossy(&time.as_text()).into_owned())
}

fn add_claude(line: &Plain, session: &mut AgentSession, last: &mut Option<(Vec<u8>, Vec<u8>)>) {
    let Some(message) = line.get("message") else { return };
    let started = time_of(line);
    if line.get("type").and_then(Plain::text) == Some(b"user") {
        *last = None;
        let content = message.get("content").cloned().unwrap_or_else(Plain::null);
        if content.text().is_some() {
            return session.add_person(content, started);
        }
        for block in content.items() {
            if block.get("type").and_then(Plain::text) != Some(b"tool_result") {
                session.add_person(block.get("text").cloned().unwrap_or_else(Plain::null), started.clone());
                continue;
            }
            let result = block.get("content").cloned().unwrap_or_else(Plain::null);
            let is_error = block.get("is_error").is_some_and(|is_error| is_error.json() == b"true");
            let error = is_error.then(|| Plain::Text(result.as_text()));
            let turn =
                SessionTurn { name: b"tool".to_vec(), error, started: started.clone(), ..SessionTurn::default() };
            session.add_result(block.get("tool_use_id"), result, turn);
        }
        return;
    }
    let reply = replied(message);
    let is_side = line.get("isSidechain").is_some_and(|is_side| is_side.json() == b"true");
    let used = |key: &str| message.get("usage").and_then(|usage| usage.get(key)).cloned();
    let said = reply.text.filter(|text| !text.is_empty()).map(Plain::Text);
    let here = (text_of(line.get("sessionId")), text_of(message.get("id")));
    let goes_on = !here.1.is_empty() && last.as_ref() == Some(&here);
    *last = Some(here);
    let turn = SessionTurn {
        name: if is_side { b"sidechain".to_vec() } else { b"assistant".to_vec() },
        said,
        calls: reply.calls,
        thoughts: reply.thoughts,
        model: message.get("model").cloned(),
        tokens: [used("input_tokens"), used("output_tokens")],
        started,
        ..SessionTurn::default()
    };
    if goes_on { session.join(turn) } else { session.add(turn) }
}

/// Reads a session of Codex: a file is one.
pub(super) fn read_codex(values: &Values, _: &[Neighbour]) -> Result<GatheredLines, Failure> {
    let (mut model, mut thoughts): (Option<Plain>, Option<Plain>) = (None, None);
    sessions(values, ("codex", "a session of Codex"), |root, all| {
        if !is_codex(root) {
            return false;
        }
        if all.is_empty() {
            all.push(AgentSession::default());
        }
        let (line, Some(session)) = (Plain::of(root), all.first_mut()) else { return false };
        let Some(payload) = line.get("payload") else { return false };
        match line.get("type").and_then(Plain::text) {
            Some(b"session_meta") => session.id = payload.get("id").cloned(),
            Some(b"turn_context") => model = payload.get("model").cloned().or(model.take()),
            Some(b"response_item") => {
                let turn = SessionTurn { model: model.clone(), started: time_of(&line), ..SessionTurn::default() };
                add_item(payload, turn, &mut thoughts, session);
            }
            _ => session.untold += 1,
        }
        true
    })
}

/// Adds an item of the Responses API to a session.
pub(super) fn add_item(item: &Plain, turn: SessionTurn, thoughts: &mut Option<Plain>, session: &mut AgentSession) {
    let texts = |key: &str| {
        let content = item.get(key)?;
        let blocks = content.items().iter();
        let said = blocks.filter_map(|block| block.get("text").or_else(|| block.get("refusal")).map(Plain::as_text));
        let said: Vec<Vec<u8>> = said.collect();
        let joined = (!said.is_empty()).then(|| Plain::Text(said.join(&b'\n')));
        joined.or_else(|| content.text().map(Plain::text_of))
    };
    let call = |name: Option<Plain>| {
        let arguments = ["arguments", "input", "action"].into_iter().find_map(|key| item.get(key));
        let id = ["call_id", "id"].into_iter().find_map(|key| item.get(key)).cloned();
        object([("id", id), ("name", name), ("arguments", arguments.cloned().map(Plain::parsed))])
    };
    let role = item.get("role").and_then(Plain::text);
    // What a person says needs no type.
    let kind = item.get("type").and_then(Plain::text).or_else(|| role.map(|_| &b"message"[..]));
    match (kind, role) {
        (Some(b"message"), Some(b"user")) => {
            session.add_person(texts("content").unwrap_or_else(Plain::null), turn.started);
        }
        (Some(b"message"), Some(b"assistant")) => {
            let (said, thoughts) = (texts("content"), thoughts.take());
            session.add(SessionTurn { name: b"assistant".to_vec(), said, thoughts, ..turn });
        }
        (Some(b"reasoning"), _) => *thoughts = texts("summary").or_else(|| texts("content")).or(thoughts.take()),
        (Some(b"message"), Some(role @ (b"system" | b"developer"))) => {
            let outputs = texts("content").map(|text| object([("text", Some(text))]));
            session.add(SessionTurn { name: role.to_vec(), outputs, model: None, ..turn });
        }
        (Some(kind), _) if kind.ends_with(b"_call") => {
            let named = item.get("name").cloned();
            let name = named.or_else(|| Some(Plain::text_of(kind.strip_suffix(b"_call").unwrap_or(kind))));
            let (calls, thoughts) = (vec![call(name)], thoughts.take());
            let (name, model, started) = (b"assistant".to_vec(), turn.model.clone(), turn.started.clone());
            session.add(SessionTurn { name, calls, thoughts, model, started, ..SessionTurn::default() });
            // The server calls its own tools itself.
            if let Some(result) = ["output", "results", "result", "outputs"].into_iter().find_map(|key| item.get(key)) {
                let id = ["call_id", "id"].into_iter().find_map(|key| item.get(key));
                session.add_result(id, result.clone().parsed(), SessionTurn { model: None, ..turn });
            }
        }
        (Some(kind), _) if kind.ends_with(b"_call_output") => {
            let result = item.get("output").cloned().unwrap_or_else(Plain::null).parsed();
            let turn = SessionTurn { name: b"tool".to_vec(), model: None, ..turn };
            session.add_result(item.get("call_id"), result, turn);
        }
        _ => session.untold += 1,
    }
}
