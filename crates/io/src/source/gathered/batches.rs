//! Batches of `OpenAI` and Anthropic: requests and replies, joined by `custom_id` into calls.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::chat::{Replied, replied, told};
use super::cited;
use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::{Plain, object};
use super::shelf::{Shelf, Slot, on_one_line};
use crate::failure::Failure;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::hash_of;

/// One of the two halves of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    Request,
    Reply,
}

/// Whoever takes the batch: ids of one say nothing about those of the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vendor {
    OpenAi,
    Anthropic,
}

/// Recognises a line of a batch by its id and a second mark.
fn half_of(line: Value<'_>) -> Option<(Half, Vendor)> {
    let is = |key: &str, kind: Kind| line.get(key).is_some_and(|value| value.kind() == kind);
    let inside = |outer: &str, key: &str| line.get(outer).and_then(|inner| inner.get(key)).is_some();
    if !is("custom_id", Kind::String) {
        return None;
    }
    let named = || is("method", Kind::String) || is("url", Kind::String);
    match () {
        () if is("body", Kind::Object) && named() => Some((Half::Request, Vendor::OpenAi)),
        () if inside("params", "messages") && inside("params", "model") => Some((Half::Request, Vendor::Anthropic)),
        () if inside("response", "status_code") || inside("response", "body") || inside("error", "code") => {
            Some((Half::Reply, Vendor::OpenAi))
        }
        () if inside("result", "type") => Some((Half::Reply, Vendor::Anthropic)),
        () => None,
    }
}

/// Tells whether a value is a line of a batch.
pub(super) fn is_line(root: Value<'_>) -> bool {
    half_of(root).is_some()
}

/// A request that waits for its reply.
#[derive(Clone, Copy)]
struct Waiting {
    slot: Slot,
    hash: u64,
}

/// The requests of one file, by their ids.
struct OfFile {
    name: Shown,
    stem: Vec<u8>,
    places: HashMap<u64, Waiting>,
}

/// The requests of all files; the first is the file that is read.
struct Requests {
    shelf: Shelf,
    files: Vec<OfFile>,
}

/// Requests that replies in other files show.
#[derive(Default)]
struct Elsewhere {
    ids: HashSet<u64>,
    shown_in: Option<Shown>,
}

/// Reads a file of a batch: replies with their requests, and the requests that nothing replies to.
pub(super) fn read(values: &Values, neighbours: &[Neighbour]) -> Result<GatheredLines, Failure> {
    let mut requests = Requests { shelf: Shelf::new(values.name())?, files: Vec::new() };
    requests.add(values)?;
    let parts: Vec<&Neighbour> = neighbours.iter().filter(|neighbour| neighbour.begins(is_line)).collect();
    parts.iter().try_for_each(|neighbour| requests.add(&neighbour.values))?;
    let own_replies = replies(values)?;
    let mut elsewhere = Elsewhere::default();
    for (n, neighbour) in parts.iter().enumerate().filter(|(_, neighbour)| neighbour.is_read) {
        let theirs = replies(&neighbour.values)?;
        let ours = theirs.into_iter().filter(|id| requests.file_of(*id, n + 1).is_some_and(|(file, _)| file == 0));
        elsewhere.ids.extend(ours);
        if !elsewhere.ids.is_empty() {
            elsewhere.shown_in.get_or_insert_with(|| neighbour.values.name().clone());
        }
    }
    let (mut lines, mut counts) = (Shelf::new(values.name())?, Counts::default());
    values.each(&mut |root, text| {
        let line = match root.and_then(|root| Some((root, half_of(root)?.0))) {
            Some((root, Half::Reply)) => {
                let request = requests.of(root)?;
                counts.alone += usize::from(request.is_none());
                if let Some((file, _)) = &request {
                    counts.joined.get_or_insert_with(|| file.clone());
                }
                reply_line(&Plain::of(root), request.as_ref().map(|(_, request)| request))
            }
            Some((root, Half::Request)) if own_replies.contains(&id_of(root)) => return Ok(()),
            Some((root, Half::Request)) if elsewhere.ids.contains(&id_of(root)) => {
                counts.left_out += 1;
                return Ok(());
            }
            Some((root, Half::Request)) => {
                counts.unanswered += 1;
                request_line(&Plain::of(root))
            }
            None => on_one_line(text),
        };
        lines.put(&line)?;
        lines.put(b"\n").map(drop)
    })?;
    let note = counts.note(values.name(), elsewhere.shown_in.as_ref());
    Ok(GatheredLines { lines: lines.into_lines()?, note })
}

/// Numbers of lines that are told.
#[derive(Default)]
struct Counts {
    joined: Option<Shown>,
    /// Replies without their requests.
    alone: usize,
    unanswered: usize,
    left_out: usize,
}

impl Counts {
    fn note(self, own: &Shown, shown_in: Option<&Shown>) -> Shown {
        let mut note = shown!("read as a batch");
        if let Some(joined) = self.joined.filter(|joined| joined != own) {
            note = shown!("{note}, with the requests in {joined}");
        }
        match self.alone {
            0 => {}
            1 => note = shown!("{note}; the request of 1 reply is not here, so its prompt is not known"),
            alone => {
                note = shown!("{note}; the requests of {alone} replies are not here, so their prompts are not known")
            }
        }
        match self.unanswered {
            0 => {}
            1 => note = shown!("{note}; 1 request has no reply here"),
            unanswered => note = shown!("{note}; {unanswered} requests have no reply here"),
        }
        if let (true, Some(shown_in)) = (self.left_out > 0, shown_in) {
            note = shown!("{note}; {} of its requests are shown with their replies in {shown_in}", self.left_out);
        }
        note
    }
}

/// Returns the id of a line, which is one of its vendor.
fn id_of(line: Value<'_>) -> u64 {
    let vendor: &[u8] = match half_of(line) {
        Some((_, Vendor::Anthropic)) => b"a",
        _ => b"o",
    };
    line.get("custom_id").and_then(Value::string).map_or(0, |id| hash_of(&[vendor, id.bytes()].concat()))
}

fn is_half(line: Value<'_>, wanted: Half) -> bool {
    half_of(line).is_some_and(|(half, _)| half == wanted)
}

fn replies(values: &Values) -> Result<HashSet<u64>, Failure> {
    let mut found = HashSet::new();
    values.each(&mut |root, _| {
        found.extend(root.filter(|root| is_half(*root, Half::Reply)).map(id_of));
        Ok(())
    })?;
    Ok(found)
}

impl Requests {
    fn add(&mut self, values: &Values) -> Result<(), Failure> {
        let mut places = HashMap::new();
        values.each(&mut |root, _| {
            if let Some(root) = root.filter(|root| is_half(*root, Half::Request))
                && let Entry::Vacant(free) = places.entry(id_of(root))
            {
                let json = Plain::of(root).json();
                free.insert(Waiting { hash: hash_of(&json), slot: self.shelf.put(&json)? });
            }
            Ok(())
        })?;
        let stem = values.blob.place().and_then(|place| place.path().file_stem());
        let stem = stem.map_or_else(Vec::new, |stem| stem.as_encoded_bytes().to_vec());
        self.files.push(OfFile { name: values.name().clone(), stem, places });
        Ok(())
    }

    /// Finds the file with the request of a reply: its own, the only one, the one whose name is most like its own, or any
    /// of several that ask the same. Else none: it would be a guess.
    fn file_of(&self, id: u64, reply_in: usize) -> Option<(usize, Waiting)> {
        let of = |(n, file): (usize, &OfFile)| Some((n, *file.places.get(&id)?));
        let found: Vec<(usize, Waiting)> = self.files.iter().enumerate().filter_map(of).collect();
        let first = *found.first()?;
        if let Some(own) = found.iter().find(|(n, _)| *n == reply_in) {
            return Some(*own);
        }
        if found.iter().all(|(_, waiting)| waiting.hash == first.1.hash) {
            return Some(first);
        }
        let stem = |n: usize| self.files.get(n).map_or(&[][..], |file| file.stem.as_slice());
        let likeness = |n: usize| stem(n).iter().zip(stem(reply_in)).take_while(|(one, other)| one == other).count();
        let best = found.iter().map(|(n, _)| likeness(*n)).max()?;
        let mut most_like = found.iter().filter(|(n, _)| likeness(*n) == best);
        let one = most_like.next()?;
        most_like.next().is_none().then_some(*one)
    }

    fn of(&mut self, reply: Value<'_>) -> Result<Option<(Shown, Plain)>, Failure> {
        let Some((file, waiting)) = self.file_of(id_of(reply), 0) else { return Ok(None) };
        let (mut json, mut tape) = (Vec::new(), Tape::default());
        self.shelf.take(waiting.slot, &mut json)?;
        let name = self.files.get(file).map_or_else(Shown::default, |file| file.name.clone());
        Ok(tape.parse(&json).map(|request| (name, Plain::of(request))))
    }
}

fn request_line(request: &Plain) -> Vec<u8> {
    let about = about(Some(request), None);
    object([("response", Some(Plain::null()))]).behind(about).json()
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
    let text = told(&made).map_or_else(Plain::null, Plain::Text);
    let calls = Some(Plain::List(made.calls)).filter(|calls| !calls.items().is_empty());
    let citations = Some(Plain::List(made.citations)).filter(|list| !list.items().is_empty());
    let count = |keys: [&str; 2]| {
        let usage = message.and_then(|message| message.get("usage"));
        keys.into_iter().find_map(|key| usage?.get(key)).filter(|count| count.is_number()).cloned()
    };
    let usage = object([
        ("prompt_tokens", count(["prompt_tokens", "input_tokens"])),
        ("completion_tokens", count(["completion_tokens", "output_tokens"])),
    ]);
    let usage = Some(usage).filter(|usage| matches!(usage, Plain::Object(members) if !members.is_empty()));
    let answer = request.zip(message).and_then(|(request, message)| cited::answer(request, message));
    let call = object([
        ("response", Some(text)),
        ("tool_calls", calls),
        ("reasoning", made.thoughts),
        ("refusal", made.refusal),
        ("finish_reason", made.stop),
        ("citations", citations),
        ("usage", usage),
        ("error", error.map(Plain::Text)),
    ]);
    let call = call.behind(about(request.or(Some(reply)), message));
    answer.map_or(call.clone(), |answer| call.behind(answer)).json()
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
        let parts: Vec<Vec<u8>> =
            [part("code").or_else(|| part("type")), part("message")].into_iter().flatten().collect();
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
