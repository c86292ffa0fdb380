//! Batches of `OpenAI` and Anthropic: requests and replies, joined by `custom_id` into calls.

use std::collections::{HashMap, HashSet};

use super::Gathered;
use super::chat::{Replied, replied};
use super::neighbours::{Neighbour, Values};
use super::plain::{Plain, object};
use super::shelf::{Shelf, Slot};
use crate::failure::Failure;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_record::hash_of;

/// One of the two halves of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    Request,
    Reply,
}

impl Half {
    /// Recognises a line of a batch by its id and a second mark.
    fn of(line: Value<'_>) -> Option<Self> {
        let is = |key: &str, kind: Kind| line.get(key).is_some_and(|value| value.kind() == kind);
        let inside = |outer: &str, key: &str| line.get(outer).and_then(|inner| inner.get(key)).is_some();
        if !is("custom_id", Kind::String) {
            return None;
        }
        let asks = (is("body", Kind::Object) && (is("method", Kind::String) || is("url", Kind::String)))
            || (inside("params", "messages") && inside("params", "model"));
        let answers = inside("response", "status_code") || inside("response", "body") || inside("error", "code");
        match () {
            () if asks => Some(Self::Request),
            () if answers || inside("result", "type") => Some(Self::Reply),
            () => None,
        }
    }
}

/// Tells whether a value is a line of a batch.
pub(super) fn is_line(root: Value<'_>) -> bool {
    Half::of(root).is_some()
}

/// The requests of all files, by their ids.
struct Requests {
    shelf: Shelf,
    places: HashMap<u64, Slot>,
}

/// Reads a file of a batch: replies with their requests, and the requests that nothing replies to.
pub(super) fn read(values: &Values, neighbours: &[Neighbour]) -> Result<Gathered, Failure> {
    let mut requests = Requests { shelf: Shelf::new(values.name())?, places: HashMap::new() };
    let own_replies = ids(values, Half::Reply)?;
    requests.add(values)?;
    let (mut joined, mut shown_in) = (None, None);
    // Replies elsewhere show the requests of this file, if they are read too.
    let mut elsewhere = HashSet::new();
    for neighbour in neighbours.iter().filter(|neighbour| neighbour.begins(is_line)) {
        let before = requests.places.len();
        requests.add(&neighbour.values)?;
        if requests.places.len() > before {
            joined.get_or_insert_with(|| neighbour.values.name().clone());
        }
        if neighbour.is_read {
            let theirs = ids(&neighbour.values, Half::Reply)?;
            if !theirs.is_empty() {
                shown_in.get_or_insert_with(|| neighbour.values.name().clone());
            }
            elsewhere.extend(theirs);
        }
    }
    let (mut lines, mut left_out, mut alone, mut unanswered) = (Shelf::new(values.name())?, 0_usize, 0_usize, 0_usize);
    values.each(&mut |root, text| {
        let half = root.and_then(|root| Some((root, Half::of(root)?)));
        let line = match half {
            Some((root, Half::Reply)) => {
                let request = requests.of(root)?;
                alone += usize::from(request.is_none());
                reply_line(&Plain::of(root), request.as_ref())
            }
            Some((root, Half::Request)) => {
                let id = id_of(root);
                if own_replies.contains(&id) {
                    return Ok(());
                }
                if elsewhere.contains(&id) {
                    left_out += 1;
                    return Ok(());
                }
                unanswered += 1;
                request_line(&Plain::of(root))
            }
            None => text.split(|byte| matches!(byte, b'\n' | b'\r')).collect::<Vec<_>>().join(&b' '),
        };
        lines.put(&line)?;
        lines.put(b"\n").map(drop)
    })?;
    let mut note = shown!("read as a batch");
    if let Some(joined) = joined.filter(|_| !own_replies.is_empty()) {
        note = shown!("{note}, with the requests in {joined}");
    }
    if alone > 0 {
        note = shown!("{note}; the requests of {alone} replies are not here, so their prompts are not known");
    }
    if unanswered > 0 {
        note = shown!("{note}; {unanswered} requests have no reply here");
    }
    if let (true, Some(shown_in)) = (left_out > 0, shown_in) {
        note = shown!("{note}; {left_out} of its requests are shown with their replies in {shown_in}");
    }
    Ok(Gathered { lines: lines.into_lines()?, note })
}

fn id_of(line: Value<'_>) -> u64 {
    line.get("custom_id").and_then(Value::string).map_or(0, |id| hash_of(id.bytes()))
}

fn ids(values: &Values, half: Half) -> Result<HashSet<u64>, Failure> {
    let mut found = HashSet::new();
    values.each(&mut |root, _| {
        found.extend(root.filter(|root| Half::of(*root) == Some(half)).map(id_of));
        Ok(())
    })?;
    Ok(found)
}

impl Requests {
    fn add(&mut self, values: &Values) -> Result<(), Failure> {
        values.each(&mut |root, _| {
            if let Some(root) = root.filter(|root| Half::of(*root) == Some(Half::Request)) {
                let id = id_of(root);
                if !self.places.contains_key(&id) {
                    let slot = self.shelf.put(&Plain::of(root).json())?;
                    self.places.insert(id, slot);
                }
            }
            Ok(())
        })
    }

    fn of(&mut self, reply: Value<'_>) -> Result<Option<Plain>, Failure> {
        let Some(slot) = self.places.get(&id_of(reply)).copied() else { return Ok(None) };
        let (mut json, mut tape) = (Vec::new(), Tape::default());
        self.shelf.take(slot, &mut json)?;
        Ok(tape.parse(&json).map(Plain::of))
    }
}

fn request_line(request: &Plain) -> Vec<u8> {
    let about = about(Some(request), None);
    object([("response", Some(Plain::null()))]).followed(about)
}

fn reply_line(reply: &Plain, request: Option<&Plain>) -> Vec<u8> {
    let response = reply.get("response");
    let body = response.and_then(|response| response.get("body"));
    let result = reply.get("result");
    let message = body.or_else(|| result.and_then(|result| result.get("message")));
    let error = error_of(reply);
    let made = match message.filter(|_| error.is_none()) {
        Some(message) => replied(message),
        None => Replied::default(),
    };
    let calls = Some(Plain::List(made.calls)).filter(|calls| !calls.items().is_empty());
    let citations = Some(Plain::List(made.citations)).filter(|list| !list.items().is_empty());
    let text = made.text.map_or_else(Plain::null, Plain::Text);
    let count = |keys: [&str; 2]| {
        let usage = message.and_then(|message| message.get("usage"));
        keys.into_iter().find_map(|key| usage?.get(key)).filter(|count| count.is_number()).cloned()
    };
    let usage = object([
        ("prompt_tokens", count(["prompt_tokens", "input_tokens"])),
        ("completion_tokens", count(["completion_tokens", "output_tokens"])),
    ]);
    let usage = Some(usage).filter(|usage| matches!(usage, Plain::Object(members) if !members.is_empty()));
    object([
        ("response", Some(text)),
        ("tool_calls", calls),
        ("reasoning", made.thoughts),
        ("refusal", made.refusal),
        ("finish_reason", made.stop),
        ("citations", citations),
        ("usage", usage),
        ("error", error.map(Plain::Text)),
    ])
    .followed(about(request.or(Some(reply)), message))
}

/// Returns what a call says of itself: its id, its prompt and its model.
fn about(line: Option<&Plain>, message: Option<&Plain>) -> Plain {
    let body = line.and_then(|line| line.get("body").or_else(|| line.get("params")));
    let member = |key: &str| body.and_then(|body| body.get(key)).cloned();
    let prompt = ["messages", "input", "prompt"].into_iter().find_map(member);
    let system = member("system").or_else(|| member("instructions"));
    let prompt = match (prompt, system) {
        (Some(Plain::List(mut messages)), Some(system)) => {
            messages.insert(0, object([("role", Some(Plain::text_of(b"system"))), ("content", Some(system))]));
            Some(Plain::List(messages))
        }
        (prompt, _) => prompt,
    };
    let is_known = prompt.is_some();
    let model = message.and_then(|message| message.get("model")).cloned().or_else(|| member("model"));
    // As a recorded call without a prompt has it.
    let unknown = || (!is_known).then(Plain::null);
    object([
        ("id", line.and_then(|line| line.get("custom_id")).cloned()),
        ("prompt", Some(prompt.unwrap_or_else(Plain::null))),
        ("model", model),
        ("temperature", member("temperature")),
        ("max_tokens", member("max_tokens")),
        ("started_utc", unknown()),
        ("duration_ms", unknown()),
    ])
}

/// Returns the reason why a request got no reply.
fn error_of(reply: &Plain) -> Option<Vec<u8>> {
    let words = |error: &Plain| {
        let error = error.get("error").unwrap_or(error);
        let part = |key: &str| error.get(key).map(Plain::as_text);
        let parts: Vec<Vec<u8>> = [part("code").or_else(|| part("type")), part("message")].into_iter().flatten().collect();
        if parts.is_empty() { error.as_text() } else { parts.join(b": ".as_slice()) }
    };
    let own = reply.get("error").map(words);
    let response = reply.get("response");
    let status = response.and_then(|response| response.get("status_code")).map(Plain::as_text);
    let failed = status.as_ref().filter(|status| !status.starts_with(b"2"));
    let in_body = response.and_then(|response| response.get("body")?.get("error")).map(words);
    let of_status = || Some([b"status ".as_slice(), failed?].concat());
    let of_result = || {
        let result = reply.get("result")?;
        let kind = result.get("type")?.as_text();
        (kind != b"succeeded").then(|| result.get("error").map_or(kind, words))
    };
    own.or(in_body).or_else(of_status).or_else(of_result)
}
