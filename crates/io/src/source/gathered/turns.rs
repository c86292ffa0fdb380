//! Messages of pydantic-ai, requests and responses with parts: each conversation is one call, with all that came before its
//! last response as the prompt.

use std::collections::HashMap;

use super::chat::{Replied, replied, told};
use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::{Plain, object};
use super::shelf::Shelf;
use crate::failure::Failure;
use stepscope_base::json::{Kind, MAX_TEXT, Value};
use stepscope_base::shown;

/// Name of the tool by which a model gives the answer that was asked for.
const FINAL: &[u8] = b"final_result";

/// Tells whether a value is a message, or a list of them.
pub(super) fn is_part(root: Value<'_>) -> bool {
    match root.kind() {
        Kind::Array => root.items().next().is_some_and(is_message),
        _ => is_message(root),
    }
}

fn is_message(value: Value<'_>) -> bool {
    let is = |word: &str| value.get("kind").is_some_and(|kind| kind.is_string(word));
    let first = value.get("parts").and_then(|parts| parts.items().next());
    (is("request") || is("response")) && first.is_some_and(|part| part.get("part_kind").is_some())
}

/// The conversations of a file, each with its messages, in the order in which they began.
#[derive(Default)]
struct Conversations {
    all: Vec<(Option<Vec<u8>>, Vec<Plain>)>,
    places: HashMap<Option<Vec<u8>>, usize>,
    size: usize,
}

/// Reads all conversations of a file.
pub(super) fn read(values: &Values, _: &[Neighbour]) -> Result<GatheredLines, Failure> {
    const LONG: &str = "its conversations are longer than 64 MB together; write them to several files";
    let (mut conversations, mut others) = (Conversations::default(), Vec::new());
    values.each(&mut |root, text| {
        conversations.size += text.len();
        if conversations.size > MAX_TEXT {
            return Err(Failure::own("cannot read", values.name(), LONG));
        }
        match root.filter(|root| is_part(*root)) {
            Some(root) if root.kind() == Kind::Array => {
                let id = root
                    .items()
                    .find_map(|message| message.get("conversation_id")?.string())
                    .map(|id| id.bytes().to_vec());
                conversations.all.push((id, root.items().map(Plain::of).collect()));
            }
            Some(root) => conversations.add(&Plain::of(root)),
            None => others.push(text.to_vec()),
        }
        Ok(())
    })?;
    let mut lines = Shelf::new(values.name())?;
    for (id, messages) in conversations.all {
        lines.put(&line(id, &messages))?;
        lines.put(b"\n")?;
    }
    for other in others {
        lines.put_line(&other)?;
    }
    Ok(GatheredLines { lines: lines.into_lines()?, note: shown!("read as messages of pydantic-ai") })
}

impl Conversations {
    /// Adds a message to its conversation; one that names none goes with all that name none.
    fn add(&mut self, message: &Plain) {
        let id = message.get("conversation_id").and_then(Plain::text).map(<[u8]>::to_vec);
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.all.push((id, Vec::new()));
            self.all.len() - 1
        });
        if let Some((_, messages)) = self.all.get_mut(place) {
            messages.push(message.clone());
        }
    }
}

fn line(id: Option<Vec<u8>>, messages: &[Plain]) -> Vec<u8> {
    let is_response = |message: &&Plain| message.get("kind").and_then(Plain::text) == Some(b"response");
    let last = messages.iter().rposition(|message| is_response(&message));
    let (asked, response) = match last {
        Some(last) => (messages.get(..last).unwrap_or(messages), messages.get(last)),
        None => (messages, None),
    };
    let prompt: Vec<Plain> = asked.iter().flat_map(messages_of).collect();
    let made = response
        .map_or_else(Replied::default, |response| messages_of(response).first().map_or_else(Replied::default, replied));
    let answer = made.calls.iter().find(|call| call.get("name").and_then(Plain::text) == Some(FINAL));
    let answer = answer.and_then(|call| call.get("arguments")).map(Plain::as_text);
    let about = |key: &str| response.and_then(|response| response.get(key)).cloned();
    let count = |key: &str| response.and_then(|response| response.get("usage")?.get(key)).cloned();
    let usage = object([("prompt_tokens", count("input_tokens")), ("completion_tokens", count("output_tokens"))]);
    object([
        ("id", id.map(Plain::Text)),
        ("prompt", Some(Plain::List(prompt))),
        ("response", Some(answer.or_else(|| told(&made)).map_or_else(Plain::null, Plain::Text))),
        ("tool_calls", Some(Plain::List(made.calls)).filter(|calls| !calls.items().is_empty())),
        ("reasoning", made.thoughts),
        ("model", about("model_name")),
        ("finish_reason", about("finish_reason")),
        ("usage", Some(usage)),
        ("started_utc", about("timestamp")),
    ])
    .json()
}

/// Returns the messages that one of pydantic-ai holds: each part of a request is one, a response is one.
fn messages_of(message: &Plain) -> Vec<Plain> {
    let parts = message.get("parts").map_or(&[][..], Plain::items);
    let kind = |part: &Plain| part.get("part_kind").and_then(Plain::text).map(<[u8]>::to_vec);
    if message.get("kind").and_then(Plain::text) == Some(b"response") {
        let said = |wanted: &[u8]| {
            let of_kind = parts.iter().filter(|part| kind(part).as_deref() == Some(wanted));
            let texts: Vec<Vec<u8>> = of_kind.filter_map(|part| part.get("content")).map(Plain::as_text).collect();
            (!texts.is_empty()).then(|| Plain::Text(texts.join(&b'\n')))
        };
        let calls = parts.iter().filter(|part| kind(part).as_deref() == Some(b"tool-call")).map(|part| {
            let arguments = part.get("args").cloned().map(Plain::parsed);
            object([
                ("id", part.get("tool_call_id").cloned()),
                ("name", part.get("tool_name").cloned()),
                ("arguments", arguments),
            ])
        });
        let calls = Some(Plain::List(calls.collect())).filter(|calls| !calls.items().is_empty());
        let content = Some(said(b"text").unwrap_or_else(Plain::null));
        let role = Some(Plain::text_of(b"assistant"));
        return vec![object([
            ("role", role),
            ("content", content),
            ("tool_calls", calls),
            ("reasoning", said(b"thinking")),
        ])];
    }
    let instructions = message
        .get("instructions")
        .map(|text| object([("role", Some(Plain::text_of(b"system"))), ("content", Some(text.clone()))]));
    let of_part = |part: &Plain| {
        let role: &[u8] = match kind(part).as_deref() {
            Some(b"system-prompt") => b"system",
            Some(b"tool-return") => b"tool",
            // What was wrong with a reply is said to the model by the one who asks.
            _ if part.get("tool_name").is_some() => b"tool",
            _ => b"user",
        };
        object([
            ("role", Some(Plain::text_of(role))),
            ("tool_call_id", part.get("tool_call_id").cloned()),
            ("content", Some(part.get("content").cloned().unwrap_or_else(Plain::null))),
        ])
    };
    instructions.into_iter().chain(parts.iter().map(of_part)).collect()
}
