//! One event as one line of a review log, and back.
//!
//! The last member of the object is `crc`: the CRC-32 of all bytes before it. A line that was damaged is seen, passed
//! over and reported; when the damage is the line end, both lines are still found. A line without `crc` was written by
//! another program and is taken as it is.

use super::event::{
    Anchor, AnswerPart, Event, EventKind, GoldStatus, ItemRef, LabelDefinition, LabelRef, LabelSet, ReviewTimes,
    Reviewer, ReviewerKind, SeenRecord, Text, VERSION, Verdict,
};
use stepscope_base::canonical::Digest;
use stepscope_base::json::write::{Json, Object, Style, sorted};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::rule_id::RuleId;

/// Beginning of every line that this program writes.
const HEAD: &[u8] = b"{\"v\":";
/// Beginning of a review log whose first line is whole.
pub const BEGIN: &[u8] = b"{\"v\":1,\"event_id\":\"";
/// Text before and after the checksum.
const CRC: (&[u8], &[u8]) = (b",\"crc\":\"", b"\"}");
/// Hexadecimal digits of the checksum.
const CRC_DIGITS: usize = 8;
/// Number of bytes after the body of a line.
const TAIL: usize = CRC.0.len() + CRC_DIGITS + CRC.1.len();
/// Maximum number of beginnings tried for every checksum of a damaged line.
const MAX_TRIES: usize = 8;
/// Maximum length of a line; a longer one is no event: its texts are bounded.
pub const MAX_LINE: usize = 1 << 20;

/// Reason why a line is no event. It stays in the review log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LineFault {
    /// The last line, without an end: its writer died, or is writing.
    Torn,
    /// A line that is not what was written.
    Damaged,
    /// JSON that is no event.
    Foreign,
    /// A newer program wrote it.
    Newer,
    /// An event that lacks what it needs, or says it in unknown words.
    Senseless,
}

impl LineFault {
    /// Describes the fault for people, after "line 3:".
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Torn => "incomplete: its writer was stopped or is still writing",
            Self::Damaged => "damaged",
            Self::Foreign => "not a review event",
            Self::Newer => "written by a newer stepscope",
            Self::Senseless => "an event with missing or invalid fields",
        }
    }
}

/// Appends an event as one line, with its end.
pub fn write(event: &Event, out: &mut Vec<u8>) {
    let from = out.len();
    Style::ASCII.append_object(out, |object| {
        object.put("v", VERSION);
        object.put("event_id", &event.event_id);
        object.put("kind", event.kind.word());
        if let Some(item) = &event.item {
            object.object("item", |object| {
                object.maybe("dataset", item.dataset.as_ref());
                object.maybe("id", item.id.as_ref());
                object.maybe("row_index", item.row_index);
                object.maybe("side", item.side.as_ref());
            });
        }
        if event.seen != SeenRecord::default() {
            object.object("seen", |object| seen(&event.seen, object));
        }
        object.object("reviewer", |object| {
            object.put("id", &event.reviewer.id);
            object.put("kind", event.reviewer.kind.word());
        });
        object.maybe("verdict", event.verdict.map(Verdict::word));
        object.filled("labels", &event.labels, |label, writer| {
            writer.object(|object| {
                object.put("id", &label.id).put("set", &label.set).put("version", label.version);
            });
        });
        write_said(event, object);
        if let Some(part) = event.part {
            object.object("part", |object| write_part(part, object));
        }
        object.maybe("draft", event.draft.then_some(true));
        if event.times != ReviewTimes::default() {
            object.object("times", |object| {
                object.maybe("shown", event.times.shown.as_ref());
                object.maybe("decided", event.times.decided.as_ref());
                object.maybe("active_ms", event.times.active_ms);
            });
        }
        object.maybe("drawn", event.drawn.as_ref());
        object.maybe("findings", event.findings.as_ref());
        object.maybe("supersedes", event.supersedes.as_ref());
        object.filled("adjudicates", &event.adjudicates, Json::write);
        object.filled("revealed", &event.revealed, Json::write);
        if let Some(set) = &event.label_set {
            object.object("label_set", |object| label_set(set, object));
        }
        object.put("tool_version", &event.tool_version);
    });
    // The checksum of all before it stands last in the same object.
    out.pop();
    let crc = crc32fast::hash(out.split_at(from).1);
    out.extend_from_slice(CRC.0);
    out.extend_from_slice(format!("{crc:08x}").as_bytes());
    out.extend_from_slice(CRC.1);
    out.push(b'\n');
}

/// Writes what an event says beside its verdict and labels, as far as it says it.
pub(super) fn write_said(event: &Event, object: &mut Object<'_>) {
    object.maybe("fix_target", event.fix_target.as_ref());
    object.maybe("first_bad_step", event.first_bad_step);
    object.maybe("variable", event.variable.as_ref());
    object.filled("anchors", &event.anchors, |one, writer| writer.object(|object| write_anchor(one, object)));
    object.maybe("gold_status", event.gold_status.map(GoldStatus::word));
    object.maybe("correction", event.correction.as_ref().and_then(|json| sorted(json.bytes())));
    object.maybe("note", event.note.as_ref());
}

fn seen(seen: &SeenRecord, object: &mut Object<'_>) {
    for (key, digest) in [("content_sha256", &seen.content_sha256), ("input_sha256", &seen.input_sha256)] {
        object.maybe(key, digest.map(|digest| digest.to_string()));
    }
    object.maybe("execution", seen.execution.as_ref());
    object.filled("hidden", &seen.hidden, Json::write);
    object.maybe("answer", seen.answer.as_ref());
}

/// Writes the part of an answer that an event is about.
pub fn write_part(part: AnswerPart, object: &mut Object<'_>) {
    object.put("item", part.item).maybe("citation", part.citation);
}

/// Writes the place that an event points at.
pub fn write_anchor(anchor: &Anchor, object: &mut Object<'_>) {
    match anchor {
        Anchor::Pointer(pointer) => object.put("pointer", pointer),
        Anchor::Span { document, numbering, page, line_start, line_end, quote } => {
            object.put("document", document).put("numbering", numbering).maybe("page", *page);
            object.put("line_start", *line_start).put("line_end", *line_end).maybe("quote", quote.as_ref())
        }
    };
}

fn label_set(set: &LabelSet, object: &mut Object<'_>) {
    object.put("id", &set.id).put("version", set.version);
    object.filled("labels", &set.labels, |label, writer| {
        writer.object(|object| {
            object.put("id", &label.id).put("name", &label.name);
            object.maybe("guideline", label.guideline.as_ref()).maybe("example", label.example.as_ref());
        });
    });
    object.filled("mapping", &set.mapping, |(from, to), writer| {
        writer.object(|object| _ = object.put("from", from).put("to", to));
    });
}

/// Reader of the lines of a review log.
#[derive(Debug, Default)]
pub struct LineReader {
    tape: Tape,
}

/// An event, and whether a checksum vouches for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadEvent {
    /// The event.
    pub event: Event,
    /// True if it has a checksum, and that is right.
    pub checked: bool,
}

impl LineReader {
    /// Reads a line without its end. Several events come out of one line where the end between them was damaged; then
    /// there is a fault as well. A blank line is nothing.
    pub fn read(&mut self, line: &[u8], mut found: impl FnMut(ReadEvent, &[u8])) -> Option<LineFault> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        let fault = match self.one(line) {
            Ok(read) => {
                found(read, line);
                return None;
            }
            Err(fault) => fault,
        };
        for part in parts(line) {
            if let Ok(read) = self.one(part) {
                found(read, part);
            }
        }
        Some(fault)
    }

    fn one(&mut self, line: &[u8]) -> Result<ReadEvent, LineFault> {
        if line.len() > MAX_LINE {
            return Err(LineFault::Damaged);
        }
        let checked = match checksum(line) {
            Some(sound) => sound.then_some(true).ok_or(LineFault::Damaged)?,
            None => false,
        };
        let value = self.tape.parse(line).ok_or(LineFault::Damaged)?;
        event(value).map(|event| ReadEvent { event, checked })
    }
}

/// Verifies the checksum at the end of a line; `None`: there is none.
fn checksum(line: &[u8]) -> Option<bool> {
    let (body, tail) = line.split_at_checked(line.len().checked_sub(TAIL)?)?;
    let digits = tail.strip_prefix(CRC.0)?.strip_suffix(CRC.1)?;
    Some(format!("{:08x}", crc32fast::hash(body)).as_bytes() == digits)
}

/// Finds the pieces of a damaged line that have a right checksum. Each lies between the one before and its checksum.
fn parts(line: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut from) = (Vec::new(), 0);
    for crc in memchr::memmem::find_iter(line, CRC.0) {
        let end = crc + TAIL;
        let heads = line.get(from..crc).map(|text| memchr::memmem::find_iter(text, HEAD).take(MAX_TRIES));
        let part = |head: usize| line.get(from + head..end).filter(|part| checksum(part) == Some(true));
        parts.extend(heads.into_iter().flatten().find_map(part));
        from = end;
    }
    parts
}

/// Tells whether bytes at the beginning of a file show that it is a review log, or will be one: they hold an event, or
/// nothing but blanks, NUL bytes and the beginning of a first line.
pub fn looks_like_journal(head: &[u8]) -> bool {
    let first = head.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0).unwrap_or(head.len());
    let text = head.split_at(first).1;
    BEGIN.starts_with(text) || [b"\"event_id\":", CRC.0].iter().any(|sign| memchr::memmem::find(text, sign).is_some())
}

/// Reads an event. What it does not know is passed over, as long as the version is known.
fn event(value: Value<'_>) -> Result<Event, LineFault> {
    if value.kind() != Kind::Object {
        return Err(LineFault::Foreign);
    }
    let (mut event, mut event_id, mut is_newer) = (Event::default(), None, false);
    let (mut kind, mut verdict, mut gold_status) = (Ok(None), Ok(None), Ok(None));
    let mut author = Err(LineFault::Senseless);
    // Each member is looked at once: a line has a dozen, and a journal a hundred thousand lines.
    for member in value.members() {
        let value = member.value;
        match member.name().bytes() {
            b"v" => is_newer = value.whole::<u64>().is_none_or(|version| version > VERSION),
            b"event_id" => event_id = owned(value),
            b"kind" => kind = word(value, EventKind::from_word),
            b"item" => event.item = Some(item(value)),
            b"seen" => event.seen = read_seen(value),
            b"reviewer" => author = reviewer(value),
            b"verdict" => verdict = word(value, Verdict::from_word),
            b"labels" => event.labels = value.items().filter_map(label_ref).collect(),
            b"fix_target" => event.fix_target = owned(value),
            b"first_bad_step" => event.first_bad_step = value.whole(),
            b"variable" => event.variable = owned(value),
            b"anchors" => event.anchors = value.items().filter_map(read_anchor).collect(),
            b"gold_status" => gold_status = word(value, GoldStatus::from_word),
            b"correction" => {
                event.correction = (!value.is_null()).then(|| Untrusted::owned(Style::SORTED.of(value)));
            }
            b"note" => event.note = owned(value),
            b"part" => event.part = read_part(value),
            b"draft" => event.draft = value.bool().unwrap_or(false),
            b"times" => event.times = times(value),
            b"drawn" => event.drawn = owned(value),
            b"findings" => event.findings = (value.kind() == Kind::Array).then(|| rules(value)),
            b"supersedes" => event.supersedes = owned(value),
            b"adjudicates" => event.adjudicates = texts(value),
            b"revealed" => event.revealed = texts(value),
            b"label_set" => event.label_set = read_label_set(value).map(Box::new),
            b"tool_version" => event.tool_version = borrowed(value, &[env!("CARGO_PKG_VERSION")]).unwrap_or_default(),
            _ => {}
        }
    }
    event.event_id = event_id.ok_or(LineFault::Foreign)?;
    if is_newer {
        return Err(LineFault::Newer);
    }
    event.kind = kind?.ok_or(LineFault::Senseless)?;
    (event.reviewer, event.verdict, event.gold_status) = (author?, verdict?, gold_status?);
    if event.lacks().is_some() { Err(LineFault::Senseless) } else { Ok(event) }
}

fn owned(value: Value<'_>) -> Option<Text> {
    value.string().map(Untrusted::into_owned)
}

/// A text that is nearly always one of few: those are not kept once an event.
fn borrowed(value: Value<'_>, known: &[&'static str]) -> Option<Text> {
    let text = value.string()?;
    let known = known.iter().find(|known| text == **known);
    Some(known.map_or_else(|| text.to_owned(), |known| Text::from(*known)))
}

/// Ids of rules.
fn rules(list: Value<'_>) -> Vec<Text> {
    let known = |text: &Untrusted<'_>| RuleId::from_word(text.utf8()?).map(|rule| Text::from(rule.word()));
    list.items().filter_map(Value::string).map(|text| known(&text).unwrap_or_else(|| text.to_owned())).collect()
}

fn texts(list: Value<'_>) -> Vec<Text> {
    list.items().filter_map(owned).collect()
}

pub(super) fn text(value: Value<'_>, key: &str) -> Option<Text> {
    value.get(key).and_then(owned)
}

pub(super) fn texts_of_key(value: Value<'_>, key: &str) -> Vec<Text> {
    value.get(key).map_or_else(Vec::new, texts)
}

pub(super) fn items<'a>(value: Value<'a>, key: &str) -> impl Iterator<Item = Value<'a>> + use<'a> {
    value.get(key).into_iter().flat_map(Value::items)
}

pub(super) fn whole(value: Value<'_>, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::whole)
}

/// Reads a word that must be known if it is there.
fn word<T>(value: Value<'_>, known: impl Fn(&str) -> Option<T>) -> Result<Option<T>, LineFault> {
    if value.is_null() {
        return Ok(None);
    }
    value.string().and_then(|word| known(word.utf8()?)).map(Some).ok_or(LineFault::Senseless)
}

fn item(value: Value<'_>) -> ItemRef {
    ItemRef {
        dataset: text(value, "dataset"),
        id: text(value, "id"),
        row_index: whole(value, "row_index"),
        side: text(value, "side"),
    }
}

fn read_seen(value: Value<'_>) -> SeenRecord {
    let digest = |key| value.get(key)?.string().and_then(|hex| Digest::parse(hex.bytes()));
    SeenRecord {
        content_sha256: digest("content_sha256"),
        input_sha256: digest("input_sha256"),
        execution: value.get("execution").and_then(|name| borrowed(name, &["rec"])),
        hidden: texts_of_key(value, "hidden"),
        answer: text(value, "answer"),
    }
}

fn reviewer(value: Value<'_>) -> Result<Reviewer, LineFault> {
    let kind = value.get("kind").map_or(Ok(None), |kind| word(kind, ReviewerKind::from_word))?;
    let kind = kind.unwrap_or(ReviewerKind::Person);
    Ok(Reviewer { id: text(value, "id").ok_or(LineFault::Senseless)?, kind })
}

pub(super) fn label_ref(value: Value<'_>) -> Option<LabelRef> {
    let version = whole(value, "version").unwrap_or(0);
    Some(LabelRef { id: text(value, "id")?, set: text(value, "set").unwrap_or_default(), version })
}

/// Reads the part of an answer that an event is about.
pub fn read_part(value: Value<'_>) -> Option<AnswerPart> {
    Some(AnswerPart { item: whole(value, "item")?, citation: whole(value, "citation") })
}

/// Reads the place that an event points at.
pub fn read_anchor(value: Value<'_>) -> Option<Anchor> {
    if let Some(pointer) = text(value, "pointer") {
        return Some(Anchor::Pointer(pointer));
    }
    Some(Anchor::Span {
        document: text(value, "document")?,
        numbering: text(value, "numbering")?,
        page: whole(value, "page"),
        line_start: whole(value, "line_start")?,
        line_end: whole(value, "line_end")?,
        quote: text(value, "quote"),
    })
}

fn times(value: Value<'_>) -> ReviewTimes {
    ReviewTimes { shown: text(value, "shown"), decided: text(value, "decided"), active_ms: whole(value, "active_ms") }
}

pub(super) fn read_label_set(value: Value<'_>) -> Option<LabelSet> {
    Some(LabelSet {
        id: text(value, "id")?,
        version: whole(value, "version")?,
        labels: items(value, "labels")
            .filter_map(|label| {
                let id = text(label, "id")?;
                let name = text(label, "name").unwrap_or_else(|| id.clone());
                let (guideline, example) = (text(label, "guideline"), text(label, "example"));
                Some(LabelDefinition { id, name, guideline, example })
            })
            .collect(),
        mapping: items(value, "mapping")
            .filter_map(|entry| Some((text(entry, "from")?, texts_of_key(entry, "to"))))
            .collect(),
    })
}

#[cfg(test)]
mod tests;
