//! Recordings: replies of model servers, byte for byte with their times, to be replayed without a network.
//!
//! A file of JSON lines, one an exchange. A request is known by its body: the same request asked n times plays
//! the n-th recording of it, then the last again. What was refused or cut short, and then asked again, does not play.
//! There is no address and no key in it: an answer that says the key back in pieces, which only a reader puts together,
//! is recorded as it was understood, in one piece and without the key. So is one that holds anything else that looks
//! like a secret, and what was asked is recorded without it. A file never becomes larger than can be played.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::endpoint::{Backend, Endpoint};
use super::head::Head;
use super::redact::Redactor;
use super::reply::KeptNames;
use super::wire::Answer;
use crate::failure::{Failure, reason};
use crate::log::{Content, append_line};
use crate::source::beneath::Place;
use crate::source::open::{read_beneath, read_whole};
use stepscope_base::canonical::sha256;
use stepscope_base::guard::lock;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, ProblemKind, Tape as JsonTape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::call::{Trouble, TroubleKind};
use stepscope_redact::{PrivateHits, Redaction};

/// Place of the replies that are played, in the words of the screen.
pub const RECORDING: &str = "the recording";
/// Format that every line names.
const FORMAT: &str = "stepscope.cassette";
/// Rules for a file of recorded exchanges: a log, but a convenience. Nothing waits until a line is on the disk, and one
/// that could not be recorded is not tried again: the call says so at its end.
const CASSETTE: Content = Content {
    what: "recorded exchanges",
    suffix: ".cassette.jsonl",
    option: "--record",
    is_like: |head| memchr::memmem::find(head, FORMAT.as_bytes()).is_some(),
    durable: false,
    longest: usize::MAX,
    largest: MAX_FILE,
};
/// Size of the largest file that may be a recording.
const MAX_FILE: u64 = 256 << 20;
/// First bytes of a file that is compressed with zstd.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// An exchange is kept in memory until it is over; a larger one is not recorded.
const MAX_EXCHANGE: u64 = 128 << 20;

/// Speed at which a recording plays.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Speed {
    /// The speed at which it was recorded.
    #[default]
    Recorded,
    /// A multiple of that speed.
    Times(f64),
    /// No waiting.
    AtOnce,
}

impl Speed {
    /// Parses the word for a speed: `recorded`, `max` or a factor.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "recorded" => Some(Self::Recorded),
            "max" => Some(Self::AtOnce),
            factor => factor.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0).map(Self::Times),
        }
    }

    fn at(self, recorded: Duration) -> Duration {
        match self {
            Self::Recorded => recorded,
            Self::Times(factor) => Duration::try_from_secs_f64(recorded.as_secs_f64() / factor).unwrap_or(recorded),
            Self::AtOnce => Duration::ZERO,
        }
    }
}

/// A chunk and when it came.
type RecordedChunk = (Duration, Vec<u8>);

/// One recorded exchange.
#[derive(Clone, PartialEq, Debug, Default)]
struct Exchange {
    model: Option<String>,
    /// Body of the request.
    request: Vec<u8>,
    head: Head,
    chunks: Vec<RecordedChunk>,
    /// The answer broke off.
    is_cut: bool,
}

impl Exchange {
    /// Tells whether it is a reply from beginning to end.
    const fn is_whole(&self) -> bool {
        matches!(self.head.status, 200..=299) && !self.is_cut
    }
}

/// A recording, ready to play.
#[derive(Clone, Debug)]
pub struct Tape {
    exchanges: Arc<HashMap<(Backend, String), Vec<Exchange>>>,
    played: Arc<Mutex<HashMap<(Backend, String), usize>>>,
    speed: Speed,
    count: usize,
}

impl Tape {
    /// Reads a recording. Any line in it that is no exchange is an error: half a recording would play something else.
    /// Of an exchange whose recording was broken off nothing plays.
    pub fn open(place: impl Into<Place>, speed: Speed) -> Result<Self, Failure> {
        let place = place.into();
        let bytes = match &place {
            Place::Named(path) => read_whole(path, MAX_FILE)?,
            place => read_beneath(place, MAX_FILE)?,
        };
        Self::packed(&bytes, &Shown::path(place.path()), speed)
    }

    /// Reads a recording from the bytes of a file of this name, which may be compressed with zstd.
    pub fn packed(bytes: &[u8], name: &Shown, speed: Speed) -> Result<Self, Failure> {
        let text = unpacked(bytes).map_err(|error| Failure {
            what: "cannot replay",
            path: name.clone(),
            source: shown!("it cannot be decompressed: {}", reason(&error)),
        })?;
        Self::read(&text, speed).map_err(|line| Failure {
            what: "cannot replay",
            path: shown!("{name}, line {line}"),
            source: Shown::own("not a recorded exchange; record it again with --record"),
        })
    }

    /// Reads a recording's text. `Err`: the number of the line that is no exchange.
    pub fn read(bytes: &[u8], speed: Speed) -> Result<Self, usize> {
        let mut exchanges: HashMap<_, Vec<Exchange>> = HashMap::new();
        let (mut tape, mut count) = (JsonTape::default(), 0);
        for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let read = tape.parse(line).and_then(exchange);
            if read.is_none() && is_unfinished(&tape, line) {
                continue;
            }
            let (key, exchange) = read.ok_or(n + 1)?;
            exchanges.entry(key).or_default().push(exchange);
            count += 1;
        }
        for list in exchanges.values_mut().filter(|list| list.iter().any(Exchange::is_whole)) {
            list.retain(Exchange::is_whole);
        }
        Ok(Self { exchanges: Arc::new(exchanges), played: Arc::default(), speed, count })
    }

    /// Tells whether there is no exchange in it.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Tells whether it holds an answer to this request.
    pub(super) fn holds(&self, backend: Backend, body: &[u8]) -> bool {
        self.exchanges.contains_key(&(backend, sha256(body)))
    }

    /// Returns the one kind of server and the one model it was recorded from, if it was one.
    pub fn source(&self) -> Option<(Backend, &str)> {
        let each =
            || self.exchanges.iter().flat_map(|(key, list)| list.iter().map(move |one| (key.0, one.model.as_deref())));
        let first = each().next()?;
        if each().any(|other| other != first) {
            return None;
        }
        Some((first.0, first.1?))
    }

    /// Names the parts in which a request differs from the recorded one that is nearest to it.
    fn differing(&self, backend: Backend, body: &[u8]) -> BTreeSet<String> {
        let (mut tape, mut other) = (JsonTape::default(), JsonTape::default());
        let parts = tape.parse(body).map_or_else(BTreeMap::new, request_parts);
        let recorded = self.exchanges.iter().filter(|(key, _)| key.0 == backend).filter_map(|(_, list)| list.first());
        let differing = recorded.map(|exchange| {
            let recorded = other.parse(&exchange.request).map_or_else(BTreeMap::new, request_parts);
            let names = parts.keys().chain(recorded.keys());
            names.filter(|name| parts.get(*name) != recorded.get(*name)).cloned().collect::<BTreeSet<_>>()
        });
        let nearest = differing.min_by_key(|names| (names.contains(PROMPT), names.len(), names.clone()));
        nearest.unwrap_or_else(|| BTreeSet::from(["backend".to_owned()]))
    }

    pub(super) fn play(&self, backend: Backend, body: &[u8]) -> Result<(Head, Answer), Trouble> {
        let key = (backend, sha256(body));
        let Some(list) = self.exchanges.get(&key) else {
            let (count, differing) = (self.count, self.differing(backend, body).into_iter().collect::<Vec<_>>());
            let sentence = shown!(
                "no recorded reply for this request among {count}; the nearest recorded request differs in {}. Leave that as recorded, or choose a live model",
                Shown::line(differing.join(", ").as_bytes())
            );
            return Err(Trouble::new(TroubleKind::NotSent, sentence));
        };
        let mut played = lock(&self.played);
        let turn = played.entry(key).or_insert(0);
        let exchange = list.get(*turn).or(list.last()).expect("none is empty").clone();
        *turn += 1;
        let played = Played {
            chunks: exchange.chunks.into_iter(),
            is_cut: exchange.is_cut,
            speed: self.speed,
            began: Instant::now(),
        };
        Ok((exchange.head, Answer::Played(played)))
    }
}

/// Name of the question itself among the parts of a request.
const PROMPT: &str = "prompt";

/// Returns the parts of a request as JSON texts, by the names that people know them by.
fn request_parts(request: Value<'_>) -> BTreeMap<String, Vec<&[u8]>> {
    let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let options = request.get("options").into_iter().flat_map(Value::entries);
    for member in request.entries().into_iter().chain(options) {
        let name = String::from_utf8_lossy(member.name().bytes()).into_owned();
        let known = match name.as_str() {
            "options" => continue,
            "messages" | "input" => PROMPT,
            "num_predict" | "max_output_tokens" => "max_tokens",
            "format" | "response_format" | "text" | "output_config" => "output format",
            "stream_options" => "stream",
            other => other,
        };
        parts.entry(known.to_owned()).or_default().push(member.value.raw());
    }
    parts
}

/// Unpacks the text of a recording; one that unpacks to more than can be played is refused.
pub fn unpacked(bytes: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    unpacked_within(bytes, MAX_FILE)
}

fn unpacked_within(bytes: &[u8], limit: u64) -> io::Result<Cow<'_, [u8]>> {
    if !bytes.starts_with(ZSTD) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut text = Vec::new();
    zstd::Decoder::new(bytes)?.take(limit + 1).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {} MB", limit >> 20)));
    }
    Ok(Cow::Owned(text))
}

/// An exchange as it plays.
#[derive(Debug)]
pub(crate) struct Played {
    chunks: std::vec::IntoIter<RecordedChunk>,
    is_cut: bool,
    speed: Speed,
    began: Instant,
}

impl Played {
    pub(super) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let Some((at, bytes)) = self.chunks.next() else {
            let cut = Trouble::new(TroubleKind::Cut, Shown::own("the recorded reply ends early"));
            return if self.is_cut { Err(cut) } else { Ok(None) };
        };
        let due = self.speed.at(at);
        if let Some(wait) = due.checked_sub(self.began.elapsed()).filter(|wait| !wait.is_zero()) {
            tokio::time::sleep(wait).await;
        }
        Ok(Some(bytes))
    }
}

/// Tells whether a line is only a part of a recording: its writer was stopped, the disk was full, or a power cut left
/// zeros, which JSON has nowhere, in the place of what was not on the disk yet.
fn is_unfinished(tape: &JsonTape, line: &[u8]) -> bool {
    if line.contains(&0) {
        return true;
    }
    let is_cut = tape.problems().last().is_some_and(|problem| problem.kind == ProblemKind::Cut);
    let begin = format!("{{\"format\":\"{FORMAT}\"").into_bytes();
    is_cut && (line.starts_with(&begin) || begin.starts_with(line))
}

fn exchange(line: Value<'_>) -> Option<((Backend, String), Exchange)> {
    let text = |key: &str| line.get(key)?.string()?.utf8().map(ToOwned::to_owned);
    if text("format")? != FORMAT {
        return None;
    }
    let chunks = line.get("chunks")?.items().map(chunk).collect::<Option<Vec<_>>>()?;
    let key = (Backend::from_word(&text("backend")?)?, text("sha256")?);
    let exchange = Exchange {
        model: text("model"),
        request: Value::text_of(line.get("request")).bytes().to_vec(),
        head: Head {
            status: line.get("status")?.whole()?,
            kind: text("type").unwrap_or_default(),
            retry_after: text("retry_after"),
            location: None,
            encoding: text("encoding"),
        },
        chunks,
        is_cut: line.get("end")?.is_string("cut"),
    };
    Some((key, exchange))
}

/// Parses a chunk: `[12.5, "text"]`, or `[12.5, {"hex": "c3"}]` where the bytes are no text by themselves.
fn chunk(value: Value<'_>) -> Option<RecordedChunk> {
    let mut items = value.items();
    let at = Duration::try_from_secs_f64(items.next()?.float()? / 1000.0).ok()?;
    let bytes = items.next()?;
    if bytes.kind() == Kind::String {
        return Some((at, bytes.string()?.bytes().to_vec()));
    }
    let hex = bytes.get("hex")?.string()?;
    let pairs = hex.bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    Some((at, pairs.collect::<Option<_>>()?))
}

/// Records exchanges into a file.
#[derive(Clone, Debug)]
pub struct Recorder {
    place: Place,
    content: Content,
}

impl Recorder {
    /// Opens a recording; new exchanges are added at its end.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Self::within(path, MAX_FILE)
    }

    fn within(path: &Path, largest: u64) -> Result<Self, Failure> {
        let recorder = Self { place: path.into(), content: Content { largest, ..CASSETTE } };
        recorder.content.look(&recorder.place)?;
        Ok(recorder)
    }

    /// Begins the recording of an exchange.
    pub(super) fn begin(&self, endpoint: &Endpoint, model: &str, body: &[u8]) -> Take {
        let (backend, redactor) = (endpoint.backend, Redactor::new(endpoint.key()));
        let mut line =
            format!("{{\"format\":\"{FORMAT}\",\"version\":1,\"backend\":\"{}\"", backend.word()).into_bytes();
        let mut text = |key: &str, text: &[u8]| {
            line.extend_from_slice(format!(",\"{key}\":").as_bytes());
            Style::ASCII.append(Untrusted::new(&redactor.whole(text)), &mut line);
        };
        text("path", endpoint.call().path().as_bytes());
        text("model", model.as_bytes());
        text("sha256", sha256(body).as_bytes());
        text("request", &Redaction::secrets().record(body));
        Take {
            recorder: self.clone(),
            told: Some(KeptNames::by(backend, redactor)),
            line,
            chunks_at: None,
            too_large: false,
            lines: false,
            began: Instant::now(),
            chunks: 0,
            is_whole: false,
        }
    }
}

/// One exchange as it is recorded; it is written when it is over, however it ended.
#[derive(Debug)]
pub(super) struct Take {
    recorder: Recorder,
    /// Texts that all chunks make together; `None`: nothing of it is kept any more.
    told: Option<KeptNames>,
    line: Vec<u8>,
    /// Offset of the chunks in the line; `None`: no answer came.
    chunks_at: Option<usize>,
    /// True if no file could hold it; nothing of it is kept any more.
    too_large: bool,
    /// The server promised one value per line.
    lines: bool,
    began: Instant,
    chunks: usize,
    is_whole: bool,
}

impl Take {
    pub(super) fn head(&mut self, head: &Head) {
        self.lines = head.kind.contains("ndjson");
        self.line.extend_from_slice(format!(",\"status\":{}", head.status).as_bytes());
        let texts = [
            ("type", Some(&head.kind)),
            ("retry_after", head.retry_after.as_ref()),
            ("encoding", head.encoding.as_ref()),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                self.line.extend_from_slice(format!(",\"{key}\":").as_bytes());
                Style::ASCII.append(text, &mut self.line);
            }
        }
        self.line.extend_from_slice(b",\"chunks\":[");
        self.chunks_at = Some(self.line.len());
    }

    pub(super) fn chunk(&mut self, bytes: &[u8]) {
        self.put(bytes);
        if let Some(told) = self.told.as_mut().filter(|_| !self.too_large) {
            told.push(bytes);
        }
    }

    pub(super) fn whole(&mut self) {
        self.is_whole = true;
    }

    /// Writes the exchange. `Some`: it could not be recorded, and this is why.
    pub(super) fn end(mut self) -> Option<Shown> {
        self.write()
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.too_large {
            return;
        }
        let comma = if self.chunks > 0 { "," } else { "" };
        self.chunks += 1;
        let at = self.began.elapsed().as_secs_f64() * 1000.0;
        self.line.extend_from_slice(format!("{comma}[{at:.1},").as_bytes());
        if std::str::from_utf8(bytes).is_ok() {
            Style::ASCII.append(Untrusted::new(bytes), &mut self.line);
        } else {
            self.line.extend_from_slice(b"{\"hex\":\"");
            for byte in bytes {
                self.line.extend_from_slice(format!("{byte:02x}").as_bytes());
            }
            self.line.extend_from_slice(b"\"}");
        }
        self.line.push(b']');
        self.too_large = self.line.len() as u64 >= self.recorder.content.largest.min(MAX_EXCHANGE);
        if self.too_large {
            (self.line, self.told) = (Vec::new(), None);
        }
    }

    /// Tells whether a chunk holds a secret by itself.
    fn holds_secret(&self, chunks_at: usize) -> bool {
        let chunks = [b"[", self.line.get(chunks_at..).unwrap_or(&self.line), b"]"].concat();
        let mut hits = PrivateHits::of_secrets();
        hits.look_in_record(&chunks);
        !hits.is_empty()
    }

    fn write(&mut self) -> Option<Shown> {
        // What is written once is not written again when this is dropped.
        let chunks_at = self.chunks_at.take()?;
        if let Some(mut told) = self.told.take() {
            told.end(self.lines);
            // Chunk by chunk the key is gone. Pieces of it that only a reader puts together are still there.
            if told.gives_away() || self.holds_secret(chunks_at) {
                self.line.truncate(chunks_at);
                self.chunks = 0;
                self.put(&told.written());
            }
        }
        let end = if self.is_whole { "complete" } else { "cut" };
        self.line.extend_from_slice(format!("],\"end\":\"{end}\"}}").as_bytes());
        let line = std::mem::take(&mut self.line);
        let Recorder { place, content } = &self.recorder;
        // A cassette is a convenience: a run that succeeded does not fail because it could not be recorded.
        let why = if self.too_large && content.largest > MAX_EXCHANGE {
            shown!("it is larger than {} MB", MAX_EXCHANGE >> 20)
        } else if self.too_large {
            content.failure(place, &std::io::ErrorKind::FileTooLarge.into()).source
        } else {
            append_line(place, *content, &line).err()?.source
        };
        Some(shown!("exchange not recorded in {}: {why}", Shown::path(place.path())))
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        // It was broken off: nobody is there who could be told.
        let _ = self.write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::key::ApiKey;

    fn record(recorder: &Recorder, body: &str, chunks: &[&str]) -> Option<Shown> {
        let endpoint = Endpoint::new(Backend::Ollama, "localhost", ApiKey::new("sk-secret-key")).unwrap();
        let mut take = recorder.begin(&endpoint, "m", body.as_bytes());
        take.head(&Head { status: 200, ..Head::default() });
        for chunk in chunks {
            take.chunk(chunk.as_bytes());
        }
        take.whole();
        take.end()
    }

    #[test]
    fn a_recording_ends_before_it_could_not_be_played() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let limit = 2000;
        let recorder = || Recorder::within(&path, limit);
        let said = "{\"response\":\"yes\",\"done\":true}\n";
        assert_eq!(record(&recorder().unwrap(), "one", &[said]), None);
        let long = "x".repeat(1500);
        for chunks in [&[long.as_str()][..], &[long.as_str(); 9], &["\u{1}".repeat(400).as_str()]] {
            let why = record(&recorder().unwrap(), "two", chunks).unwrap().into_string();
            let expected = "tape.jsonl: it would become too large; choose another file with --record";
            assert!(why.starts_with("exchange not recorded in") && why.ends_with(expected), "{why}");
        }
        let mut count = 1;
        while record(&recorder().unwrap(), &count.to_string(), &[said]).is_none() {
            count += 1;
        }
        let recorded = std::fs::read(&path).unwrap();
        assert!(recorded.len() as u64 <= limit && count > 2);
        assert_eq!(Tape::read(&recorded, Speed::AtOnce).unwrap().count, count);
        std::fs::write(&path, [recorded, vec![b'\n'; 2000]].concat()).unwrap();
        assert!(recorder().unwrap_err().to_string().contains("would become too large"));
    }

    #[test]
    fn a_recording_holds_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let key = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4"].concat();
        let (half, rest) = key.split_at(12);
        let said = |text: &str| format!("{{\"response\":\"{text}\",\"done\":false}}\n");
        let end = "{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\"}\n".to_owned();
        let asked = format!("{{\"prompt\":\"why does {key} fail?\",\"db_password\":\"hunter2x\"}}");
        let own = "{\"response\":\"no key\",\"done\":true}\n".to_owned();
        for chunks in [vec![said(&key), end.clone()], vec![said(half), said(rest), end], vec![own.clone()]] {
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            assert_eq!(record(&Recorder::open(&path).unwrap(), &asked, &chunks), None);
        }
        let recorded = std::fs::read_to_string(&path).unwrap();
        assert!(!recorded.contains(&key[4..12]) && !recorded.contains(&rest[..8]), "{recorded}");
        assert!(!recorded.contains("hunter2x") && recorded.matches("[redacted:key]").count() == 5, "{recorded}");
        // What holds no secret is recorded byte for byte, and all of it plays.
        let tape = Tape::read(recorded.as_bytes(), Speed::AtOnce).unwrap();
        assert!(tape.count == 3 && tape.holds(Backend::Ollama, asked.as_bytes()));
        let last = tape.exchanges.values().flatten().last().unwrap();
        assert_eq!(last.chunks.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>(), [own.into_bytes()]);
    }

    #[test]
    fn what_a_stopped_writer_left_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        record(&Recorder::open(&path).unwrap(), "one", &["{}"]);
        let whole = std::fs::read(&path).unwrap();
        for end in [40, whole.len() / 2, whole.len() - 2] {
            let torn = whole.get(..end).unwrap();
            for text in [[&whole, torn].concat(), [torn, b"\n", &whole].concat()] {
                assert_eq!(Tape::read(&text, Speed::AtOnce).unwrap().count, 1, "{end}");
            }
        }
        assert_eq!(Tape::read(b"{\"format\":\"other\"", Speed::AtOnce).unwrap_err(), 1);
    }

    #[test]
    fn a_packed_cassette_unpacks_up_to_a_size() {
        let zeros = zstd::encode_all(vec![0; 3 << 20].as_slice(), 1).unwrap();
        assert!(zeros.len() < 4096);
        assert_eq!(unpacked_within(&zeros, 3 << 20).unwrap().len(), 3 << 20);
        assert!(unpacked_within(&zeros, 2 << 20).unwrap_err().to_string().contains("larger than 2 MB"));
        let cut = zeros.get(..zeros.len() - 4).unwrap();
        assert!(unpacked(cut).is_err() && matches!(unpacked(b"{}").unwrap(), Cow::Borrowed(b"{}")));
    }
}
