//! One call from beginning to end: send, wait, retry with less, receive; with a deadline for everything.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::Client;
use super::body::{body, downgrades};
use super::cassette::{RECORDING, Take};
use super::endpoint::{Backend, NOT_SENT, origin};
use super::head::Head;
use super::redact::Redactor;
use super::reply::{BodyDecoder, ReplyPiece, ReplyReader, ServerFault, error_text};
use super::wire::Answer;
use crate::model::frames::{Frame, TooLong};
use stepscope_base::canonical::sha256;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head as head_of};
use stepscope_execution::call::{Call, Enforcement, Finish, ReplyPart, RunEvent, Stop, Trouble, TroubleKind};

/// However long a server wants us to wait, it is no longer than that.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Time in which counts may still follow when the model has stopped.
const GRACE: Duration = Duration::from_secs(2);
/// Time for which the text of an error is listened to.
const ERROR_PATIENCE: Duration = Duration::from_secs(5);
/// Number of bytes of the text of an error that are read.
const MAX_ERROR: usize = 64 << 10;
/// Number of bytes of it that are shown.
const MAX_SAID: usize = 300;
/// Number of bytes that are shown of what is no reply.
const MAX_HEAD: usize = 160;
/// A stream of more bytes is not listened to, whatever it says.
const MAX_STREAM: usize = 512 << 20;

/// Reason why an attempt ended without a reply.
enum AttemptEnd {
    /// The receiver is gone.
    Gone,
    /// A failure for good.
    Failed(Trouble),
    /// The server is busy or failed before anything of a reply came: it may be asked again.
    Busy { trouble: Trouble, after: Option<Duration> },
    /// The server does not take the schema.
    Refuses(Trouble),
}

impl From<Trouble> for AttemptEnd {
    fn from(trouble: Trouble) -> Self {
        Self::Failed(trouble)
    }
}

/// Runs a call and tells everything that happens.
pub(super) async fn exchange(client: Client, call: Call, out: mpsc::Sender<RunEvent>) {
    let total = Instant::now() + client.limits.total;
    let exchange = OneCall { client: &client, call: &call, out: &out, total };
    let last = match exchange.run().await {
        Ok(finish) => RunEvent::Done(finish),
        Err(AttemptEnd::Gone) => return,
        Err(AttemptEnd::Failed(trouble) | AttemptEnd::Busy { trouble, .. } | AttemptEnd::Refuses(trouble)) => {
            RunEvent::Failed(trouble)
        }
    };
    // Receiver gone: ignore.
    let _ = out.send(last).await;
}

struct OneCall<'d> {
    client: &'d Client,
    call: &'d Call,
    out: &'d mpsc::Sender<RunEvent>,
    total: Instant,
}

impl OneCall<'_> {
    async fn run(&self) -> Result<Finish, AttemptEnd> {
        let mut enforcements = downgrades(self.client.endpoint.backend, self.call).into_iter().peekable();
        let mut enforcement = enforcements.next().unwrap_or(Enforcement::Nothing);
        let mut tries = 0;
        loop {
            match self.attempt(enforcement).await {
                Err(AttemptEnd::Busy { trouble, after }) if tries < self.client.limits.retries => {
                    self.wait(trouble, after, tries).await?;
                    tries += 1;
                }
                Err(AttemptEnd::Refuses(trouble)) if self.call.may_downgrade && enforcements.peek().is_some() => {
                    let to = enforcements.next().unwrap_or(Enforcement::Nothing);
                    self.tell(RunEvent::Downgraded { from: enforcement, to, why: trouble.sentence }).await?;
                    enforcement = to;
                }
                ended => return ended,
            }
        }
    }

    async fn tell(&self, event: RunEvent) -> Result<(), AttemptEnd> {
        self.out.send(event).await.map_err(|_| AttemptEnd::Gone)
    }

    async fn wait(&self, trouble: Trouble, after: Option<Duration>, tries: u32) -> Result<(), AttemptEnd> {
        let backoff = self.client.limits.backoff.saturating_mul(1 << tries.min(6));
        let jitter = RandomState::new().build_hasher().finish() % 250;
        let delay = after.unwrap_or(backoff + backoff * jitter as u32 / 1000).min(LONGEST_WAIT);
        if Instant::now() + delay >= self.total {
            let sentence =
                shown!("{}; waiting {} s more would exceed the time limit", trouble.sentence, delay.as_secs());
            return Err(AttemptEnd::Failed(Trouble { sentence, ..trouble }));
        }
        self.tell(RunEvent::Waiting { why: trouble.sentence, delay }).await?;
        tokio::time::sleep(delay).await;
        Ok(())
    }

    async fn attempt(&self, enforcement: Enforcement) -> Result<Finish, AttemptEnd> {
        let (client, endpoint) = (self.client, &self.client.endpoint);
        let (body, unsaid) = body(endpoint.backend, self.call, enforcement, client.stream);
        let url = endpoint.call();
        let place = if client.is_cassette() { Shown::own(RECORDING) } else { endpoint.shown_call() };
        let hash = sha256(&body);
        self.tell(RunEvent::Sending { endpoint: place.clone(), enforcement, bytes: body.len(), sha256: hash }).await?;
        let mut take = client.recorder.as_ref().map(|recorder| recorder.begin(endpoint, &self.call.model, &body));
        let ended = self.request(enforcement, &url, body, &mut take).await;
        let unrecorded = take.and_then(Take::end);
        let mut finish = match ended {
            Err(AttemptEnd::Failed(trouble)) => {
                let why = unrecorded.map(|why| shown!("; {why}")).unwrap_or_default();
                return Err(AttemptEnd::Failed(Trouble { sentence: trouble.sentence.join(&why), ..trouble }));
            }
            ended => ended?,
        };
        finish.notes.extend(unsaid.into_iter().map(|unsaid| shown!("{} {NOT_SENT}", unsaid.0)));
        finish.notes.extend(unrecorded);
        Ok(finish)
    }

    /// Sends one request and reads its answer.
    async fn request(
        &self,
        enforcement: Enforcement,
        url: &Url,
        body: Vec<u8>,
        take: &mut Option<Take>,
    ) -> Result<Finish, AttemptEnd> {
        let (client, endpoint) = (self.client, &self.client.endpoint);
        let first = (Instant::now() + client.limits.first).min(self.total);
        let origin = if client.is_cassette() { Shown::own(RECORDING) } else { origin(url) };
        let sending = timeout_at(first, client.wire.send(endpoint, url, Some(body)));
        let (head, mut answer) =
            sending.await.map_err(|_| self.late(first, &shown!("no response from {origin}")))??;
        if let Some(take) = take {
            take.head(&head);
        }
        self.judge(&head, &mut answer, take, enforcement, &origin).await?;
        self.tell(RunEvent::Answered).await?;
        Listener::new(self, &head, first, enforcement, origin).listen(&mut answer, take).await
    }

    fn late(&self, deadline: Instant, what: &Shown) -> AttemptEnd {
        let limits = &self.client.limits;
        let sentence = if deadline == self.total {
            shown!("{what}: not done after {}", seconds(limits.total))
        } else {
            shown!("{what} within {}", seconds(limits.first))
        };
        AttemptEnd::Failed(Trouble::new(TroubleKind::TimeOut, sentence))
    }

    /// Checks whether the answer is one to listen to.
    async fn judge(
        &self,
        head: &Head,
        answer: &mut Answer,
        take: &mut Option<Take>,
        enforcement: Enforcement,
        origin: &Shown,
    ) -> Result<(), AttemptEnd> {
        let trouble = |kind, sentence| Trouble { status: Some(head.status), ..Trouble::new(kind, sentence) };
        match head.status {
            200..=299 => {
                let compressed = head.encoding.as_ref().filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
                if let Some(encoding) = compressed {
                    let encoding = Shown::line(head_of(encoding.as_bytes(), MAX_HEAD));
                    let sentence = shown!("{origin} compressed its response ({encoding}), which was not requested");
                    return Err(trouble(TroubleKind::NoReply, sentence).into());
                }
                return Ok(());
            }
            300..=399 => return Err(redirected(head, origin).into()),
            _ => {}
        }
        let said = self.error_body(answer, take).await;
        let words = behind_colon(&said);
        let status = head.status;
        let help = match status {
            401 | 403 if self.client.endpoint.key().is_none() => {
                "; no key was sent: pass --key-env NAME, the environment variable that holds it"
            }
            404 => "; `stepscope models` lists what a server offers",
            _ => "",
        };
        let sentence = shown!("{origin} refused the request (HTTP {status}){words}{help}");
        let trouble = trouble(TroubleKind::Refused, sentence);
        if matches!(status, 400 | 404 | 415 | 422 | 500 | 501) && may_refuse(enforcement) && speaks_of_schema(&said) {
            return Err(AttemptEnd::Refuses(trouble));
        }
        if matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 520..=529) {
            return Err(AttemptEnd::Busy { trouble, after: head.retry_after.as_deref().and_then(retry_after) });
        }
        Err(AttemptEnd::Failed(trouble))
    }

    async fn error_body(&self, answer: &mut Answer, take: &mut Option<Take>) -> Untrusted<'static> {
        let deadline = (Instant::now() + ERROR_PATIENCE).min(self.total);
        let mut body = Vec::new();
        while let Ok(Ok(Some(bytes))) = timeout_at(deadline, answer.chunk()).await {
            if let Some(take) = take {
                take.chunk(&bytes);
            }
            body.extend_from_slice(&bytes);
            if body.len() > MAX_ERROR {
                break;
            }
        }
        if let Some(take) = take {
            take.whole();
        }
        // Reading undoes escapes: what stands there then is looked at once more.
        let clean = Redactor::new(self.client.endpoint.key()).whole(error_text(&body, MAX_ERROR).bytes());
        Untrusted::new(head_of(&clean, MAX_SAID)).into_owned()
    }
}

/// Listens to one answer.
struct Listener<'d> {
    exchange: &'d OneCall<'d>,
    enforcement: Enforcement,
    origin: Shown,
    intake: BodyDecoder,
    /// The server promised one value per line.
    lines: bool,
    reader: ReplyReader,
    redactors: [Redactor; 2],
    first: Instant,
    /// Time at which the last piece came.
    content_at: Option<Instant>,
    stopped_at: Option<Instant>,
    /// Bytes of the reply so far, and of the stream.
    size: usize,
    content: usize,
    stream: usize,
    /// First bytes of the answer, to be shown if it is no reply.
    beginning: Vec<u8>,
}

impl<'d> Listener<'d> {
    fn new(exchange: &'d OneCall<'d>, head: &Head, first: Instant, enforcement: Enforcement, origin: Shown) -> Self {
        let backend = exchange.client.endpoint.backend;
        let redactor = Redactor::new(exchange.client.endpoint.key());
        Self {
            exchange,
            enforcement,
            origin,
            intake: BodyDecoder::Open,
            lines: head.kind.contains("ndjson"),
            reader: ReplyReader::new(backend),
            redactors: [redactor.clone(), redactor],
            first,
            content_at: None,
            stopped_at: None,
            size: 0,
            content: 0,
            stream: 0,
            beginning: Vec::new(),
        }
    }

    async fn listen(mut self, answer: &mut Answer, take: &mut Option<Take>) -> Result<Finish, AttemptEnd> {
        let ended = self.hear(answer, take).await;
        if ended.is_err() {
            self.say_held().await?;
        }
        ended
    }

    async fn hear(&mut self, answer: &mut Answer, take: &mut Option<Take>) -> Result<Finish, AttemptEnd> {
        loop {
            let deadline = self.deadline();
            let bytes = match timeout_at(deadline, answer.chunk()).await {
                // The reply itself is there: what else would have come is not worth a failure.
                Err(_) | Ok(Err(_)) if self.reader.is_stopped() => break,
                Err(_) => return Err(self.late(deadline)),
                Ok(Err(trouble)) => return Err(self.cut(&trouble.sentence).into()),
                Ok(Ok(None)) => break,
                Ok(Ok(Some(bytes))) => bytes,
            };
            if let Some(take) = take {
                take.chunk(&bytes);
            }
            self.take(&bytes).await?;
            if self.reader.is_complete() {
                break;
            }
        }
        if let Some(take) = take {
            take.whole();
        }
        self.end().await
    }

    fn deadline(&self) -> Instant {
        let limits = &self.exchange.client.limits;
        let next = self.content_at.map_or(self.first, |at| at + limits.silence);
        let grace = self.stopped_at.map(|at| at + GRACE);
        grace.unwrap_or(next).min(next).min(self.exchange.total)
    }

    fn late(&self, deadline: Instant) -> AttemptEnd {
        if self.content_at.is_none() {
            return self.exchange.late(deadline, &shown!("no content from {}", self.origin));
        }
        let limits = &self.exchange.client.limits;
        let sentence = if deadline == self.exchange.total {
            shown!("the reply was not complete after {}", seconds(limits.total))
        } else {
            shown!("the reply stopped: no content for {}", seconds(limits.silence))
        };
        AttemptEnd::Failed(Trouble::new(TroubleKind::TimeOut, sentence.join(&self.partial())))
    }

    fn partial(&self) -> Shown {
        if self.size == 0 {
            return Shown::own("; nothing of the reply was received");
        }
        shown!("; the partial reply ({} bytes) is not stored as an answer", self.size)
    }

    fn cut(&self, why: &Shown) -> Trouble {
        Trouble::new(TroubleKind::Cut, shown!("{why}{}", self.partial()))
    }

    async fn take(&mut self, bytes: &[u8]) -> Result<(), AttemptEnd> {
        self.stream = self.stream.saturating_add(bytes.len());
        if self.stream > MAX_STREAM {
            return Err(self.too_large("the stream", MAX_STREAM).into());
        }
        if self.beginning.len() < MAX_HEAD {
            self.beginning.extend_from_slice(head_of(bytes, MAX_HEAD));
        }
        let (mut frames, client) = (Vec::new(), self.exchange.client);
        let (backend, limit) = (client.endpoint.backend, client.limits.frame);
        let taken = self.intake.push(backend, &self.beginning, bytes, limit, &mut frames);
        let pieces = self.read(&frames)?;
        self.tell(pieces).await?;
        taken.map_err(|TooLong { limit }| AttemptEnd::Failed(self.too_large("one chunk of it", limit)))
    }

    fn too_large(&self, what: &'static str, limit: usize) -> Trouble {
        let sentence = shown!("the reply is too large: {what} is larger than {} MB{}", limit >> 20, self.partial());
        Trouble::new(TroubleKind::TooLarge, sentence)
    }

    fn read(&mut self, frames: &[Frame]) -> Result<Vec<ReplyPiece>, AttemptEnd> {
        let mut pieces = Vec::new();
        for frame in frames {
            self.reader.frame(frame, &mut pieces).map_err(|said| self.failed(&said))?;
        }
        if self.reader.is_stopped() {
            self.stopped_at.get_or_insert_with(Instant::now);
        }
        Ok(pieces)
    }

    fn failed(&self, said: &ServerFault) -> AttemptEnd {
        let words = Shown::line(head_of(&self.clean(said.0.bytes()), MAX_SAID));
        let sentence = shown!("{} reported an error: {words}{}", self.origin, self.partial());
        let trouble = Trouble::new(TroubleKind::Refused, sentence);
        // A server that streams has promised success by then, and tells in the stream what another tells by its status.
        if self.size > 0 {
            AttemptEnd::Failed(trouble)
        } else if may_refuse(self.enforcement) && speaks_of_schema(&said.0) {
            AttemptEnd::Refuses(trouble)
        } else if speaks_of_load(&said.0) {
            AttemptEnd::Busy { trouble, after: None }
        } else {
            AttemptEnd::Failed(trouble)
        }
    }

    /// Reports pieces, adjacent ones of the same part as one.
    async fn tell(&mut self, pieces: Vec<ReplyPiece>) -> Result<(), AttemptEnd> {
        let mut joined: Vec<(ReplyPart, Vec<u8>)> = Vec::new();
        for (part, text) in pieces {
            self.size = self.size.saturating_add(text.bytes().len());
            if part == ReplyPart::Content {
                self.content = self.content.saturating_add(text.bytes().len());
            }
            match joined.last_mut().filter(|(last, _)| *last == part) {
                Some((_, last)) => last.extend_from_slice(text.bytes()),
                None => joined.push((part, text.bytes().to_vec())),
            }
        }
        let any = !joined.is_empty();
        for (part, text) in joined {
            let text = self.redactor(part).push_yielding(&text).await;
            self.say(part, text).await?;
        }
        if any {
            self.content_at = Some(Instant::now());
        }
        let limit = self.exchange.client.limits.reply;
        if self.size > limit {
            return Err(self.too_large("all of it", limit).into());
        }
        Ok(())
    }

    fn redactor(&mut self, part: ReplyPart) -> &mut Redactor {
        let [content, reasoning] = &mut self.redactors;
        if part == ReplyPart::Content { content } else { reasoning }
    }

    /// Says what was held back because it might have been the beginning of the key.
    async fn say_held(&mut self) -> Result<(), AttemptEnd> {
        for part in [ReplyPart::Reasoning, ReplyPart::Content] {
            let held = self.redactor(part).finish();
            self.say(part, held).await?;
        }
        Ok(())
    }

    /// Takes the key out of a whole text of the reply, for what is not told piece by piece.
    fn clean(&self, text: &[u8]) -> Vec<u8> {
        Redactor::new(self.exchange.client.endpoint.key()).whole(text)
    }

    async fn say(&self, part: ReplyPart, text: Vec<u8>) -> Result<(), AttemptEnd> {
        if text.is_empty() {
            return Ok(());
        }
        self.exchange.tell(RunEvent::Text { part, text: Untrusted::owned(text) }).await
    }

    /// Ends the reply, the bytes being over; fails if there is none.
    async fn end(&mut self) -> Result<Finish, AttemptEnd> {
        let (mut frames, mut pieces) = (Vec::new(), Vec::new());
        match std::mem::replace(&mut self.intake, BodyDecoder::Open) {
            BodyDecoder::Frames(mut framer) => {
                framer.finish(&mut frames);
                pieces = self.read(&frames)?;
                self.reader.end(self.lines, &mut pieces).map_err(|said| self.failed(&said))?;
            }
            BodyDecoder::Whole(body) => {
                self.reader.whole(&body, &mut pieces).map_err(|said| self.failed(&said))?;
            }
            BodyDecoder::Open => {}
        }
        self.tell(pieces).await?;
        self.say_held().await?;
        if !self.reader.has_seen() {
            return Err(self.no_reply().into());
        }
        if !self.reader.is_stopped() {
            let cut = self.cut(&Shown::own("the reply ended before the server marked it as complete"));
            // Ollama's way for OpenAI's clients ends so where it does not take the schema.
            let asks = self.size == 0 && may_refuse(self.enforcement);
            let hint = if asks { "; it may not support the schema: try --enforce prompt" } else { "" };
            return Err(Trouble { sentence: cut.sentence.and(hint), ..cut }.into());
        }
        let backend = self.exchange.client.endpoint.backend;
        let mut finish = std::mem::replace(&mut self.reader, ReplyReader::new(backend)).into_finish();
        finish.model = finish.model.map(|model| Untrusted::owned(self.clean(model.bytes())));
        if let Some(other) = finish.other_model(&self.exchange.call.model) {
            finish.notes.push(shown!("the server says that the model was {}", other.line()));
        }
        if let Stop::Other(reason) = &finish.stop {
            finish.stop = Stop::Other(Untrusted::owned(self.clean(reason.bytes())));
        }
        let is_silent = self.size == 0 && finish.stop == Stop::End;
        if is_silent && matches!(backend, Backend::Ollama | Backend::OllamaChat) {
            finish.notes.push(Shown::own(
                "the reply is empty; Ollama silently truncates a prompt that is longer than its context",
            ));
        }
        Ok(finish)
    }

    fn no_reply(&self) -> Trouble {
        let backend = self.exchange.client.endpoint.backend.word();
        let began = Shown::line(head_of(self.clean(&self.beginning).trim_ascii(), MAX_HEAD));
        let sentence = if began.as_str().is_empty() {
            shown!("{} sent an empty response; is its backend {backend}?", self.origin)
        } else {
            shown!("{} sent no {backend} reply; its response begins: {began}", self.origin)
        };
        Trouble::new(TroubleKind::NoReply, sentence)
    }
}

fn seconds(duration: Duration) -> Shown {
    if duration.subsec_millis() == 0 {
        shown!("{} s", duration.as_secs())
    } else {
        shown!("{} ms", duration.as_millis())
    }
}

/// Describes where a server that redirects wants us to ask.
pub(super) fn redirected(head: &Head, origin: &Shown) -> Trouble {
    let to = head.location.as_deref().unwrap_or("nowhere");
    let (to, status) = (Shown::line(head_of(to.as_bytes(), MAX_HEAD)), head.status);
    let sentence = shown!(
        "{origin} redirects to {to} (HTTP {status}), which was not followed; if that is right, pass it as --url"
    );
    Trouble { status: Some(status), ..Trouble::new(TroubleKind::Refused, sentence) }
}

/// Writes what a server said behind a sentence of ours, if it said anything.
pub(super) fn behind_colon(said: &Untrusted<'_>) -> Shown {
    if said.is_empty() { Shown::default() } else { shown!(": {}", said.line()) }
}

/// Tells whether something was asked for that a server may refuse.
fn may_refuse(enforcement: Enforcement) -> bool {
    matches!(enforcement, Enforcement::Schema | Enforcement::Json)
}

/// Tells whether a refusal is about the schema or the JSON mode.
fn speaks_of_schema(said: &Untrusted<'_>) -> bool {
    const WORDS: [&str; 10] = [
        "schema",
        "response_format",
        "json_object",
        "text.format",
        "output_config",
        "output_format",
        "grammar",
        "structured output",
        "invalid format",
        "unsupported format",
    ];
    says_one_of(said, &WORDS)
}

/// Tells whether a server fails because it has too much to do.
fn speaks_of_load(said: &Untrusted<'_>) -> bool {
    says_one_of(said, &["overloaded", "rate limit", "rate_limit", "try again later"])
}

fn says_one_of(said: &Untrusted<'_>, words: &[&str]) -> bool {
    let said = String::from_utf8_lossy(said.bytes()).to_lowercase();
    words.iter().any(|word| said.contains(word))
}

/// Seconds, or a date.
fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)).min(LONGEST_WAIT));
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Duration::try_from(at.duration_since(jiff::Timestamp::now())).ok().map(|wait| wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_bounded() {
        for (value, seconds) in
            [("0", Some(0)), ("7", Some(7)), ("1000000000000000000000", Some(60)), ("-5", None), ("", None)]
        {
            assert_eq!(retry_after(value), seconds.map(Duration::from_secs), "{value}");
        }
        assert_eq!(retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert_eq!(retry_after("Thu, 31 Dec 9998 23:59:59 GMT"), Some(LONGEST_WAIT));
    }

    #[test]
    fn a_refused_schema_is_told_from_other_refusals() {
        for (said, refuses) in [
            ("Unable to generate parser for this template. JSON schema error at #: unrecognized type", true),
            ("invalid JSON schema in format", true),
            ("'response_format.type' must be one of 'text' or 'json_object'", true),
            ("the request exceeds the available context size", false),
            ("model 'x' not found", false),
            ("no information", false),
        ] {
            assert_eq!(speaks_of_schema(&Untrusted::from(said)), refuses, "{said}");
        }
        assert!(speaks_of_load(&Untrusted::from("Overloaded")) && !speaks_of_load(&Untrusted::from("load")));
    }
}
