//! Frames of a reply -> its text, for each kind of server. Tolerant: what is not understood is counted and passed over,
//! what a server says of an error is an error, and a reply is complete only if the server said so.

use std::borrow::Cow;
use std::collections::HashMap;

use super::endpoint::Backend;
use super::redact::Redactor;
use crate::model::frames::{Frame, Framer, Framing, TooLong};
use stepscope_base::json::write::{Object, Style};
use stepscope_base::json::{Kind, ProblemKind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::call::{Finish, ReplyPart, Stop};
use stepscope_redact::Redaction;

/// Decoding of a body.
#[derive(Debug)]
pub(crate) enum BodyDecoder {
    /// Not known before its first byte.
    Open,
    Frames(Framer),
    Whole(Vec<u8>),
}

impl BodyDecoder {
    /// Takes bytes of a body that began like this; frames, and a body that has none, are at most so long. Types lie;
    /// the first byte tells an object from events.
    pub(crate) fn push(
        &mut self,
        backend: Backend,
        beginning: &[u8],
        bytes: &[u8],
        limit: usize,
        frames: &mut Vec<Frame>,
    ) -> Result<(), TooLong> {
        if let Self::Open = self {
            *self = match (backend.framing(), beginning.trim_ascii_start().first()) {
                (Framing::Events, None) => Self::Open,
                (Framing::Events, Some(b'{' | b'[' | b'<')) => Self::Whole(Vec::new()),
                (framing, _) => Self::Frames(Framer::new(framing, limit)),
            };
        }
        match self {
            Self::Open => {}
            Self::Frames(framer) => return framer.push(bytes, frames),
            Self::Whole(body) if body.len().saturating_add(bytes.len()) > limit => return Err(TooLong { limit }),
            Self::Whole(body) => body.extend_from_slice(bytes),
        }
        Ok(())
    }
}

/// A piece of the reply.
pub(crate) type ReplyPiece = (ReplyPart, Untrusted<'static>);

/// The server says that it failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerFault(pub Untrusted<'static>);

/// Progress of a reply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Progress {
    Open,
    /// The model has stopped; only counts may follow.
    Stopped,
    /// Nothing more is to come.
    Complete,
}

/// Reads one reply.
#[derive(Debug)]
pub struct ReplyReader {
    backend: Backend,
    tape: Tape,
    progress: Progress,
    /// Something came that such a server says.
    seen: bool,
    has_content: bool,
    finish: Finish,
    frames: usize,
    unknown: usize,
    /// The model called a tool, though no request offers any.
    called_tool: bool,
    /// Text that began as no whole line: perhaps one value over several lines.
    stash: Option<Vec<u8>>,
}

impl ReplyReader {
    /// Makes a reader for the reply of a kind of server.
    pub fn new(backend: Backend) -> Self {
        Self {
            backend,
            tape: Tape::default(),
            progress: Progress::Open,
            seen: false,
            has_content: false,
            finish: Finish::default(),
            frames: 0,
            unknown: 0,
            called_tool: false,
            stash: None,
        }
    }

    /// Tells whether the server said that nothing more comes.
    pub(crate) fn is_complete(&self) -> bool {
        self.progress == Progress::Complete
    }

    /// Tells whether the model has stopped.
    pub fn is_stopped(&self) -> bool {
        self.progress != Progress::Open
    }

    /// Tells whether anything came that such a server says.
    pub(crate) fn has_seen(&self) -> bool {
        self.seen
    }

    /// Returns how the reply ended, and notes on what was odd.
    pub(crate) fn into_finish(mut self) -> Finish {
        if self.unknown > 0 {
            let what = if self.unknown == 1 { "chunk was" } else { "chunks were" };
            self.finish.notes.push(shown!("{} {what} not understood and skipped", self.unknown));
        }
        if self.called_tool {
            self.finish.notes.push(Shown::own("the model called a tool, though none was offered; a call is no reply"));
        }
        self.finish
    }

    /// Takes one frame of a stream.
    pub fn frame(&mut self, frame: &Frame, pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        if self.is_complete() {
            return Ok(());
        }
        let data = frame.data.trim_ascii();
        if data == b"[DONE]" {
            let is_foreign = self.frames > 0 && !self.seen;
            self.complete();
            // Other kinds of servers end in the same way.
            self.seen = !is_foreign;
            return Ok(());
        }
        self.frames += 1;
        let is_line = self.backend.framing() == Framing::Lines;
        if let Some(stash) = &mut self.stash {
            stash.extend_from_slice(&frame.data);
            stash.push(b'\n');
            return Ok(());
        }
        let mut tape = std::mem::take(&mut self.tape);
        tape.read(data);
        let heard = match tape.root(data) {
            Some(root) if frame.event == b"error" => Err(ServerFault(told_in(root))),
            Some(root) => self.value(root, false, pieces),
            None if is_line && self.frames == 1 && is_open(&tape) => {
                self.stash = Some([&frame.data[..], b"\n"].concat());
                Ok(())
            }
            None => {
                self.unknown += 1;
                Ok(())
            }
        };
        self.tape = tape;
        heard
    }

    /// Ends the stream. `lines`: the server promised one value per line, and so a last one.
    pub fn end(&mut self, lines: bool, pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        if let Some(stash) = self.stash.take() {
            self.frames = 1;
            self.whole(&stash, pieces)?;
        }
        // Without streaming a server may leave out that it is done.
        if !lines && self.frames == 1 && self.has_content && self.backend.framing() == Framing::Lines {
            self.complete();
        }
        Ok(())
    }

    /// Takes a reply that came in one piece.
    pub fn whole(&mut self, body: &[u8], pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        let mut tape = std::mem::take(&mut self.tape);
        let heard = if let Some(root) = tape.parse(body) {
            self.value(root, true, pieces)
        } else {
            self.unknown += 1;
            Ok(())
        };
        self.tape = tape;
        heard
    }

    fn value(&mut self, root: Value<'_>, whole: bool, pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        if let Some(said) = error_of(root) {
            return Err(ServerFault(said));
        }
        let before = pieces.len();
        match self.backend {
            Backend::Ollama | Backend::OllamaChat => self.ollama(root, pieces),
            Backend::Chat => self.chat(root, whole, pieces)?,
            Backend::Responses => self.responses(root, whole, pieces)?,
            Backend::Anthropic => self.anthropic(root, whole, pieces),
        }
        let content = pieces.iter().skip(before).any(|(part, _)| *part == ReplyPart::Content);
        self.has_content |= content;
        Ok(())
    }

    fn complete(&mut self) {
        (self.progress, self.seen) = (Progress::Complete, true);
    }

    fn ollama(&mut self, root: Value<'_>, pieces: &mut Vec<ReplyPiece>) {
        let message = root.get("message");
        let content = root.get("response").or_else(|| message?.get("content"));
        let thinking = root.get("thinking").or_else(|| message?.get("thinking"));
        take_text(ReplyPart::Reasoning, thinking, pieces);
        take_text(ReplyPart::Content, content, pieces);
        self.tools(message.and_then(|message| message.get("tool_calls")));
        self.model(root.get("model"));
        self.stop(root.get("done_reason"));
        self.usage(Some(root), ["prompt_eval_count", "eval_count"]);
        if root.get("done").and_then(Value::bool) == Some(true) {
            self.complete();
        }
        // An empty text is a text too.
        if content.is_some_and(|content| content.kind() == Kind::String) {
            (self.seen, self.has_content) = (true, true);
        }
    }

    fn chat(&mut self, root: Value<'_>, whole: bool, pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        self.model(root.get("model"));
        self.usage(root.get("usage"), ["prompt_tokens", "completion_tokens"]);
        let Some(choices) = root.get("choices").filter(|choices| choices.kind() == Kind::Array) else {
            // Without choices some servers say what went wrong. Counts come alone, and nothing keeps a connection open.
            if let Some(said) = message_in(root) {
                return Err(ServerFault(said));
            }
            let is_known = root.get("usage").is_some() || root.entries().is_empty();
            self.unknown += usize::from(!is_known);
            return Ok(());
        };
        self.seen |= !whole;
        let Some(choice) = choices.items().next() else { return Ok(()) };
        // Some servers say the whole message again at the end.
        let message = choice.get("message").filter(|_| !self.has_content);
        if let Some(said) = choice.get("delta").or(message).filter(|said| said.kind() == Kind::Object) {
            let reasoning = ["reasoning_content", "reasoning"].into_iter();
            let reasoning = reasoning.filter_map(|key| said.get(key)).find(|reasoning| !reasoning.is_null());
            take_text(ReplyPart::Reasoning, reasoning, pieces);
            Self::parts(said.get("content"), pieces);
            take_text(ReplyPart::Content, said.get("refusal"), pieces);
            self.tools(said.get("tool_calls"));
            self.seen = true;
            if whole {
                self.complete();
            }
        }
        if self.stop(choice.get("finish_reason")) {
            self.progress = self.progress.max(Progress::Stopped);
        }
        Ok(())
    }

    /// Notes that tools are called.
    fn tools(&mut self, calls: Option<Value<'_>>) {
        self.called_tool |= calls.is_some_and(|calls| calls.items().next().is_some());
    }

    fn responses(&mut self, root: Value<'_>, whole: bool, pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        if whole {
            return self.response(root, pieces);
        }
        let kind = Value::text_of(root.get("type"));
        self.seen |= kind.bytes().starts_with(b"response.");
        match kind.bytes() {
            b"response.output_text.delta" | b"response.refusal.delta" => {
                take_text(ReplyPart::Content, root.get("delta"), pieces);
            }
            b"response.reasoning_summary_text.delta" | b"response.reasoning_text.delta" => {
                take_text(ReplyPart::Reasoning, root.get("delta"), pieces);
            }
            b"response.completed" | b"response.incomplete" | b"response.failed" => {
                if let Some(response) = root.get("response") {
                    self.response(response, pieces)?;
                }
                self.complete();
            }
            b"error" => {
                return Err(ServerFault(Value::text_of(root.get("message")).into_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the whole object of a response; its text counts only if it was not streamed before.
    fn response(&mut self, response: Value<'_>, pieces: &mut Vec<ReplyPiece>) -> Result<(), ServerFault> {
        if let Some(said) = error_of(response) {
            return Err(ServerFault(said));
        }
        self.model(response.get("model"));
        self.usage(response.get("usage"), ["input_tokens", "output_tokens"]);
        self.stop(response.get("incomplete_details").and_then(|details| details.get("reason")));
        let Some(output) = response.get("output").filter(|output| output.kind() == Kind::Array) else { return Ok(()) };
        self.complete();
        if self.has_content {
            return Ok(());
        }
        for item in output.items() {
            self.called_tool |= item.get("type").is_some_and(|kind| kind.is_string("function_call"));
            let reasoning = item.get("type").is_some_and(|kind| kind.is_string("reasoning"));
            let parts = item.get(if reasoning { "summary" } else { "content" });
            for part in parts.into_iter().flat_map(Value::items) {
                let part_text = part.get("text").or_else(|| part.get("refusal"));
                take_text(if reasoning { ReplyPart::Reasoning } else { ReplyPart::Content }, part_text, pieces);
            }
        }
        Ok(())
    }

    fn anthropic(&mut self, root: Value<'_>, whole: bool, pieces: &mut Vec<ReplyPiece>) {
        if whole {
            let Some(content) = root.get("content").filter(|content| content.kind() == Kind::Array) else { return };
            content.items().for_each(|block| self.block(block, pieces));
            self.message(root);
            self.complete();
            return;
        }
        let kind = Value::text_of(root.get("type"));
        match kind.bytes() {
            b"message_start" => {
                if let Some(message) = root.get("message") {
                    self.message(message);
                }
            }
            b"content_block_start" => {
                root.get("content_block").into_iter().for_each(|block| self.block(block, pieces));
            }
            b"content_block_delta" => root.get("delta").into_iter().for_each(|block| self.block(block, pieces)),
            b"message_delta" => {
                if let Some(delta) = root.get("delta") {
                    self.message(delta);
                }
                self.counts(root.get("usage"));
            }
            b"message_stop" => self.complete(),
            _ => return,
        }
        self.seen = true;
    }

    fn block(&mut self, block: Value<'_>, pieces: &mut Vec<ReplyPiece>) {
        self.called_tool |= block.get("type").is_some_and(|kind| kind.is_string("tool_use"));
        take_text(ReplyPart::Reasoning, block.get("thinking"), pieces);
        take_text(ReplyPart::Content, block.get("text"), pieces);
    }

    fn message(&mut self, message: Value<'_>) {
        self.model(message.get("model"));
        self.counts(message.get("usage"));
        if self.stop(message.get("stop_reason")) {
            self.progress = self.progress.max(Progress::Stopped);
        }
    }

    /// Takes down the tokens of prompt and reply, where they are counted under these names.
    fn usage(&mut self, usage: Option<Value<'_>>, [prompt, completion]: [&str; 2]) {
        let count = |key| usage?.get(key).and_then(Value::whole);
        let known = &mut self.finish.usage;
        (known.prompt, known.completion) = (count(prompt).or(known.prompt), count(completion).or(known.completion));
    }

    fn counts(&mut self, usage: Option<Value<'_>>) {
        self.usage(usage, ["input_tokens", "output_tokens"]);
        let Some(usage) = usage else { return };
        let count = |key: &str| usage.get(key).and_then(Value::whole);
        if let Some(read) = count("input_tokens") {
            // What was cached is counted apart.
            let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"].into_iter().filter_map(count);
            self.finish.usage.prompt = Some(cached.fold(read, u64::saturating_add));
        }
    }

    /// Reads content, which is a text, or a list of parts with a text or with thoughts each.
    fn parts(content: Option<Value<'_>>, pieces: &mut Vec<ReplyPiece>) {
        take_text(ReplyPart::Content, content, pieces);
        for part in content.into_iter().flat_map(Value::items) {
            for thought in part.get("thinking").into_iter().flat_map(Value::items) {
                take_text(ReplyPart::Reasoning, thought.get("text"), pieces);
            }
            take_text(ReplyPart::Content, part.get("text"), pieces);
        }
    }

    fn model(&mut self, model: Option<Value<'_>>) {
        if let Some(model) = model.and_then(Value::string).filter(|model| !model.is_empty()) {
            self.finish.model = Some(model.into_owned());
        }
    }

    /// Takes down why the reply ended; tells whether that is said.
    fn stop(&mut self, reason: Option<Value<'_>>) -> bool {
        let Some(reason) = reason.and_then(Value::string) else { return false };
        self.finish.stop = Stop::named(&reason);
        true
    }
}

/// Texts of an answer, collected as it comes, to know before it is played again whether a key is in what a reader puts
/// together: the one that was sent, or anything else that looks like a secret.
#[derive(Debug)]
pub struct KeptNames {
    backend: Backend,
    intake: BodyDecoder,
    reader: ReplyReader,
    content: Vec<u8>,
    reasoning: Vec<u8>,
    failed: Option<ServerFault>,
    redactor: Redactor,
    redaction: Redaction,
    /// The strings of all frames: those of one key and depth together, as somebody else may put them together.
    joined: HashMap<(usize, Vec<u8>), Redactor>,
    /// True if a key is in it, or that cannot be told.
    found: bool,
}

impl KeptNames {
    /// Number of names of strings that are told apart; of an answer with more of them it is unknown what they say
    /// together.
    const MAX_NAMES: usize = 1000;

    /// Makes one for a kind of server, looking for the key of this redactor.
    pub fn by(backend: Backend, redactor: Redactor) -> Self {
        Self {
            backend,
            intake: BodyDecoder::Open,
            reader: ReplyReader::new(backend),
            content: Vec::new(),
            reasoning: Vec::new(),
            failed: None,
            redactor,
            redaction: Redaction::secrets(),
            joined: HashMap::new(),
            found: false,
        }
    }

    /// Takes the next bytes. Whoever listens to the answer itself ends what is too long.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut frames = Vec::new();
        // Without a limit nothing is too long.
        let _ = self.intake.push(self.backend, bytes, bytes, usize::MAX, &mut frames);
        self.read(&frames);
    }

    /// Ends the answer. `lines`: the server promised one value per line.
    pub fn end(&mut self, lines: bool) {
        let (mut frames, mut pieces) = (Vec::new(), Vec::new());
        match std::mem::replace(&mut self.intake, BodyDecoder::Open) {
            BodyDecoder::Open => {}
            BodyDecoder::Frames(mut framer) => {
                framer.finish(&mut frames);
                self.read(&frames);
                let ended = self.reader.end(lines, &mut pieces);
                self.keep(pieces, ended);
            }
            BodyDecoder::Whole(body) => {
                self.join(&body);
                let ended = self.reader.whole(&body, &mut pieces);
                self.keep(pieces, ended);
            }
        }
        for mut joined in std::mem::take(&mut self.joined).into_values() {
            joined.finish();
            self.found |= joined.has_found();
        }
        let finish = &self.reader.finish;
        let stop = match &finish.stop {
            Stop::Other(reason) => Some(reason.bytes()),
            _ => None,
        };
        let model = finish.model.as_ref().map(Untrusted::bytes);
        let failed = self.failed.as_ref().map(|said| said.0.bytes());
        let mut texts = [self.content.as_slice(), &self.reasoning].into_iter().chain(stop).chain(model).chain(failed);
        let is_secret = |text: &[u8]| matches!(self.redaction.text(text), Cow::Owned(_));
        self.found |= texts.any(|text| self.redactor.finds(text) || is_secret(text));
    }

    /// Tells whether it gives the key away.
    pub const fn gives_away(&self) -> bool {
        self.found
    }

    fn read(&mut self, frames: &[Frame]) {
        for frame in frames {
            self.join(&frame.data);
            if self.failed.is_none() {
                let mut pieces = Vec::new();
                let heard = self.reader.frame(frame, &mut pieces);
                self.keep(pieces, heard);
            }
        }
    }

    fn keep(&mut self, pieces: Vec<ReplyPiece>, heard: Result<(), ServerFault>) {
        for (part, text) in pieces {
            let kept = if part == ReplyPart::Content { &mut self.content } else { &mut self.reasoning };
            kept.extend_from_slice(text.bytes());
        }
        self.failed = self.failed.take().or(heard.err());
    }

    /// Adds the strings of a value to those before it.
    fn join(&mut self, value: &[u8]) {
        if self.found || !self.redactor.is_needed() {
            return;
        }
        let mut tape = std::mem::take(&mut self.reader.tape);
        tape.read(value);
        let mut name = Vec::new();
        for stop in tape.root(value).into_iter().flat_map(Value::walk) {
            if let Some(key) = stop.key.and_then(Value::string) {
                name = key.bytes().to_vec();
            }
            if let Some(text) = stop.value.string() {
                if self.joined.len() >= Self::MAX_NAMES {
                    self.found = true;
                    break;
                }
                let joined = self.joined.entry((stop.depth, name.clone())).or_insert_with(|| self.redactor.clone());
                joined.push(text.bytes());
                self.found |= joined.has_found();
            }
        }
        self.reader.tape = tape;
    }

    /// Writes the same in one piece, without a key.
    pub fn written(&self) -> Vec<u8> {
        let clean = |text: &[u8]| self.redaction.text(&self.redactor.whole(text)).into_owned();
        if let Some(said) = &self.failed {
            return Style::SAVED.object(|object| _ = object.text("error", clean(said.0.bytes())));
        }
        let finish = &self.reader.finish;
        let stop = match &finish.stop {
            Stop::Other(reason) => Stop::Other(Untrusted::owned(clean(reason.bytes()))),
            stop => stop.clone(),
        };
        let model = finish.model.as_ref().map(|model| Untrusted::owned(clean(model.bytes())));
        let finish = Finish { stop, model, ..finish.clone() };
        written(self.backend, &clean(&self.content), &clean(&self.reasoning), &finish)
    }
}

/// Writes a reply in one piece, as a server of that kind would say it: what [`ReplyReader::whole`] reads.
pub fn written(backend: Backend, content: &[u8], reasoning: &[u8], finish: &Finish) -> Vec<u8> {
    let stop = match &finish.stop {
        Stop::End if backend == Backend::Anthropic => b"end_turn",
        Stop::End => &b"stop"[..],
        Stop::Length if backend == Backend::Anthropic => b"max_tokens",
        Stop::Length if backend == Backend::Responses => b"max_output_tokens",
        Stop::Length => b"length",
        Stop::Other(other) => other.bytes(),
    };
    let usage = &finish.usage;
    let thought = Some(Untrusted::new(reasoning)).filter(|thought| !thought.is_empty());
    Style::SAVED.object(|body| {
        body.maybe("model", finish.model.as_ref());
        let (prompt, completion) = match backend {
            Backend::Ollama | Backend::OllamaChat => {
                body.object("message", |said| _ = said.maybe("thinking", thought).text("content", content));
                body.put("done", true).text("done_reason", stop);
                body.maybe("prompt_eval_count", usage.prompt).maybe("eval_count", usage.completion);
                return;
            }
            Backend::Chat => {
                body.objects("choices", [thought], |thought, choice| {
                    let said =
                        |said: &mut Object<'_>| _ = said.maybe("reasoning_content", thought).text("content", content);
                    choice.object("message", said).text("finish_reason", stop);
                });
                ("prompt_tokens", "completion_tokens")
            }
            Backend::Responses => {
                let parts = [("reasoning", "summary", reasoning), ("message", "content", content)];
                body.objects("output", parts, |(kind, key, said), part| {
                    part.text("type", kind).objects(key, [said], |said, part| _ = part.text("text", said));
                });
                body.object("incomplete_details", |details| _ = details.text("reason", stop));
                ("input_tokens", "output_tokens")
            }
            Backend::Anthropic => {
                let blocks = [("thinking", thought), ("text", Some(Untrusted::new(content)))];
                body.objects("content", blocks, |(key, said), block| _ = block.maybe(key, said));
                body.text("stop_reason", stop);
                ("input_tokens", "output_tokens")
            }
        };
        body.object("usage", |counts| _ = counts.maybe(prompt, usage.prompt).maybe(completion, usage.completion));
    })
}

fn take_text(part: ReplyPart, value: Option<Value<'_>>, pieces: &mut Vec<ReplyPiece>) {
    if let Some(text) = value.and_then(Value::string).filter(|text| !text.is_empty()) {
        pieces.push((part, text.into_owned()));
    }
}

/// Tells whether what was read is only the beginning of a value.
fn is_open(tape: &Tape) -> bool {
    tape.problems().last().is_some_and(|problem| problem.kind == ProblemKind::Cut)
}

/// Reads the error message of a server, in the shapes that servers use.
pub(crate) fn error_of(root: Value<'_>) -> Option<Untrusted<'static>> {
    if root.get("object").is_some_and(|object| object.is_string("error")) {
        return message_in(root);
    }
    let error = root.get("error").filter(|error| !error.is_null() && error.kind() != Kind::False)?;
    let said = match error.kind() {
        Kind::Object => error.get("message").filter(|message| message.kind() == Kind::String).unwrap_or(error),
        _ => error,
    };
    Some(said.string().unwrap_or_else(|| Untrusted::new(said.raw())).into_owned())
}

/// Reads the message of an object that is no reply: servers say so what went wrong.
fn message_in(root: Value<'_>) -> Option<Untrusted<'static>> {
    ["message", "detail"].into_iter().find_map(|key| root.get(key)?.string()).map(Untrusted::into_owned)
}

/// Reads what a value that is known to be an error says; all of it, where no message is found.
fn told_in(root: Value<'_>) -> Untrusted<'static> {
    error_of(root).or_else(|| message_in(root)).unwrap_or_else(|| Untrusted::new(root.raw()).into_owned())
}

/// Reads the message in the body of an error, at the longest so many bytes.
pub(crate) fn error_text(body: &[u8], longest: usize) -> Untrusted<'static> {
    let mut tape = Tape::default();
    let said = tape.parse(body).and_then(|root| error_of(root).or_else(|| message_in(root)));
    let text = said.unwrap_or_else(|| Untrusted::new(body.trim_ascii()).into_owned());
    Untrusted::new(stepscope_base::text::head(text.bytes(), longest)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::key::ApiKey;
    use stepscope_execution::call::Usage;

    /// A key that only a reader puts together is found at once, and of a very long answer only its text is kept.
    #[test]
    fn what_is_told_piece_by_piece_is_told_at_once() {
        const KEY: &str = "sk-Told/0123_456789";
        let redactor = Redactor::new(ApiKey::new(KEY).as_ref());
        let frame = |delta: &str| format!("data: {{\"choices\": [{{\"delta\": {{{delta}}}}}]}}\n\n");
        let spelled = |field: &str| KEY.chars().map(|c| frame(&format!("\"{field}\": \"{c}\""))).collect::<String>();
        for (body, found) in
            [(spelled("content"), true), (spelled("elsewhere"), true), (frame("\"content\": \"sk-\"").repeat(9), false)]
        {
            for size in [1, 40, body.len()] {
                let mut told = KeptNames::by(Backend::Chat, redactor.clone());
                body.as_bytes().chunks(size).for_each(|piece| told.push(piece));
                told.end(false);
                assert_eq!(told.gives_away(), found, "{body}");
                assert!(!redactor.finds(&told.written()), "{body}");
            }
        }
        let mut told = KeptNames::by(Backend::Chat, redactor.clone());
        for n in 0..=KeptNames::MAX_NAMES {
            told.push(frame(&format!("\"name{n}\": \"s\"")).as_bytes());
        }
        assert!(told.gives_away(), "of so many names nobody knows what they say together");
        let mut told = KeptNames::by(Backend::Chat, redactor);
        let comment = [b": ", &b"x".repeat(1 << 16)[..], b"\n"].concat();
        for _ in 0..256 {
            told.push(&comment);
        }
        let BodyDecoder::Frames(framer) = &told.intake else { panic!("{:?}", told.intake) };
        assert!(framer.is_empty() && told.content.is_empty() && told.joined.is_empty());
    }

    #[test]
    fn the_end_of_another_kind_of_reply_is_no_reply() {
        let seen = |backend: Backend, frames: &[&[u8]]| {
            let mut reader = ReplyReader::new(backend);
            for data in frames {
                let frame = Frame { data: data.to_vec(), ..Frame::default() };
                reader.frame(&frame, &mut Vec::new()).unwrap();
            }
            (reader.is_stopped(), reader.has_seen())
        };
        let said: &[u8] = br#"{"choices": [{"delta": {"content": "5"}}]}"#;
        assert_eq!(seen(Backend::Anthropic, &[said, b"[DONE]"]), (true, false));
        assert_eq!(seen(Backend::Chat, &[said, b"[DONE]"]), (true, true));
        assert_eq!(seen(Backend::Chat, &[b"[DONE]"]), (true, true));
    }

    /// Reads a stream, and tells what it said, or how it ended.
    fn heard(backend: Backend, frames: &[(&str, &str)]) -> Result<(String, Vec<String>), String> {
        let (mut reader, mut pieces) = (ReplyReader::new(backend), Vec::new());
        for (event, data) in frames {
            let frame = Frame { event: event.as_bytes().to_vec(), data: data.as_bytes().to_vec() };
            reader.frame(&frame, &mut pieces).map_err(|said| said.0.line().into_string())?;
        }
        let text = pieces.iter().map(|(part, text)| format!("{part:?} {}", text.line())).collect::<Vec<_>>().join(" ");
        Ok((text, reader.into_finish().notes.into_iter().map(Shown::into_string).collect()))
    }

    #[test]
    fn an_error_within_a_stream_is_told_in_every_form() {
        let began = ("", r#"{"choices": [{"delta": {"content": "5"}}]}"#);
        for error in [
            ("", r#"{"error": {"message": "engine died"}}"#),
            ("", r#"{"object": "error", "message": "engine died", "code": 500}"#),
            ("", r#"{"status": 500, "detail": "engine died"}"#),
            ("error", r#"{"message": "engine died"}"#),
        ] {
            assert_eq!(heard(Backend::Chat, &[began, error, ("", "[DONE]")]).unwrap_err(), "engine died", "{error:?}");
        }
        assert_eq!(heard(Backend::Chat, &[began, ("error", "{\"odd\": 1}")]).unwrap_err(), "{\"odd\": 1}");
        // Counts alone, and what is not known, are no errors.
        let counts = ("", r#"{"usage": {"prompt_tokens": 3}}"#);
        let odd = ("", r#"{"x": 1}"#);
        let (_, notes) = heard(Backend::Chat, &[began, counts, odd, ("", "[DONE]")]).unwrap();
        assert_eq!(notes, ["1 chunk was not understood and skipped"]);
    }

    #[test]
    fn a_call_of_a_tool_is_no_reply_however_it_comes() {
        let note = "the model called a tool, though none was offered; a call is no reply";
        for (backend, frames) in [
            (Backend::Chat, &[r#"{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]}"#][..]),
            (Backend::OllamaChat, &[r#"{"message": {"content": "", "tool_calls": [{"function": {}}]}, "done": true}"#]),
            (
                Backend::Anthropic,
                &[
                    r#"{"type": "content_block_start", "content_block": {"type": "tool_use", "input": {}}}"#,
                    r#"{"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{}"}}"#,
                ],
            ),
        ] {
            let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
            let (text, notes) = heard(backend, &frames).unwrap();
            assert_eq!((text.replace("Content ", "").trim(), notes), ("", vec![note.to_owned()]), "{backend:?}");
        }
        let whole = br#"{"content": [{"type": "tool_use", "input": {"x": 1}}], "stop_reason": "tool_use"}"#;
        let (mut reader, mut pieces) = (ReplyReader::new(Backend::Anthropic), Vec::new());
        reader.whole(whole, &mut pieces).unwrap();
        assert!(pieces.is_empty() && reader.into_finish().notes.iter().any(|said| said.as_str() == note));
    }

    #[test]
    fn reasoning_is_found_beside_a_null() {
        let frame = r#"{"choices": [{"delta": {"reasoning_content": null, "reasoning": "hm"}}]}"#;
        assert_eq!(heard(Backend::Chat, &[("", frame)]).unwrap().0, "Reasoning hm");
    }

    #[test]
    fn reasoning_is_found_among_the_parts_of_the_content() {
        let frame = r#"{"choices": [{"delta": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "5"}]}}]}"#;
        assert_eq!(heard(Backend::Chat, &[("", frame)]).unwrap().0, "Reasoning hm Content 5");
    }

    #[test]
    fn a_normal_end_is_known_by_every_name() {
        for reason in ["stop", "eos_token", "end_turn"] {
            let mut reader = ReplyReader::new(Backend::Chat);
            let data = format!(r#"{{"choices": [{{"delta": {{}}, "finish_reason": "{reason}"}}]}}"#).into_bytes();
            reader.frame(&Frame { data, ..Frame::default() }, &mut Vec::new()).unwrap();
            assert_eq!((reader.is_stopped(), reader.into_finish().stop), (true, Stop::End), "{reason}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for backend in Backend::ALL {
            for stop in [Stop::End, Stop::Length, Stop::Other(Untrusted::from("odd\u{7f}"))] {
                let usage = Usage { prompt: Some(3), completion: Some(5) };
                let finish =
                    Finish { stop: stop.clone(), usage, model: Some(Untrusted::from("m:1")), ..Finish::default() };
                for reasoning in ["", "hm \"so\""] {
                    let text = written(backend, b"{\"a\": \"\xff\"}\n", reasoning.as_bytes(), &finish);
                    let (mut reader, mut pieces) = (ReplyReader::new(backend), Vec::new());
                    reader.whole(&text, &mut pieces).unwrap();
                    let of = |wanted: ReplyPart| -> Vec<u8> {
                        pieces
                            .iter()
                            .filter(|(part, _)| *part == wanted)
                            .flat_map(|(_, text)| text.bytes().to_vec())
                            .collect()
                    };
                    assert_eq!(of(ReplyPart::Content), "{\"a\": \"\u{fffd}\"}\n".as_bytes(), "{backend:?}");
                    assert_eq!(of(ReplyPart::Reasoning), reasoning.as_bytes(), "{backend:?}");
                    assert!(reader.is_complete(), "{backend:?}");
                    let read = reader.into_finish();
                    assert_eq!((read.stop, read.usage, read.model), (stop.clone(), usage, finish.model.clone()));
                }
            }
        }
    }
}
