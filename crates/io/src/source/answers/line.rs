//! Contents of a store about one question, as one line of JSON: an answer trace.
//!
//! What was written as JSON is embedded as it was written, without its line breaks; a text that is none is embedded as a
//! string. Everything else about it is left to who reads the line.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher as _};

use crate::source::cut::without_filler;
use stepscope_base::json::write::{Raw, Style, python_float};
use stepscope_base::json::{Kind, Member, Tape, Value};
use stepscope_base::text::Untrusted;

/// Length above which members of a reply's metadata are left out if they say nothing of the answer.
const MAX_DETAIL: usize = 512;
/// The members of a raw response that speak of the answer.
const TELLING: [&str; 4] = ["output", "output_text", "error", "incomplete_details"];

/// A number of a store, or none.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) enum StoredNumber {
    #[default]
    None,
    Int(i64),
    Float(f64),
}

impl StoredNumber {
    fn json(self) -> Option<Raw<String>> {
        match self {
            Self::None => None,
            Self::Int(n) => Some(Raw(n.to_string())),
            Self::Float(x) if x.is_finite() => Some(Raw(format!("{x:?}"))),
            Self::Float(x) => Some(Raw(python_float(x))),
        }
    }
}

/// A page that the model saw.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct SeenPage {
    pub number: i64,
    pub rank: StoredNumber,
    pub score: StoredNumber,
    pub similarity: StoredNumber,
    pub matches: StoredNumber,
}

/// Content of one question to one document, as far as a store knows it; what it does not know is left out.
#[derive(Clone, Default, Debug)]
pub(super) struct Asked {
    pub doc_id: Option<Vec<u8>>,
    pub question_id: Option<Vec<u8>>,
    /// The question's folder, relative to the root of its store.
    pub folder: Option<Vec<u8>>,
    pub question: Option<Vec<u8>>,
    pub parsed: Option<Vec<u8>>,
    pub schema: Option<Vec<u8>>,
    pub pages: Option<Vec<SeenPage>>,
    pub answer: Option<Vec<u8>>,
    pub meta: Option<Vec<u8>>,
    pub model: Option<Vec<u8>>,
    pub created_at: StoredNumber,
}

impl Asked {
    /// Takes from another account of the same question what this one lacks.
    pub(super) fn fill(&mut self, other: Self) {
        let fill = |own: &mut Option<Vec<u8>>, other| *own = own.take().or(other);
        fill(&mut self.doc_id, other.doc_id);
        fill(&mut self.question_id, other.question_id);
        fill(&mut self.folder, other.folder);
        fill(&mut self.question, other.question);
        fill(&mut self.parsed, other.parsed);
        fill(&mut self.schema, other.schema);
        fill(&mut self.answer, other.answer);
        fill(&mut self.meta, other.meta);
        fill(&mut self.model, other.model);
        self.pages = self.pages.take().or(other.pages);
        if self.created_at == StoredNumber::None {
            self.created_at = other.created_at;
        }
    }

    /// Counts the bytes that were read of it; tables left out.
    pub(super) fn size(&self) -> u64 {
        [&self.parsed, &self.answer, &self.meta].into_iter().flatten().map(|part| part.len() as u64).sum()
    }

    /// Appends the line, with its line end.
    pub(super) fn write(&self, tape: &mut Tape, out: &mut Vec<u8>) {
        Style::STORED.line(out, |line| {
            line.text("format", "stepscope.answer_trace").put("version", 1);
            line.maybe("id", self.id().as_deref().map(Untrusted::new));
            let (mut model, mut schema) = (self.model.clone(), self.schema.clone());
            let meta = self.meta.as_ref().map(|meta| match json(meta, tape) {
                Some(root) => {
                    model = model.take().or_else(|| text_of(root.get("raw_response")?.get("model")?));
                    schema = schema.take().or_else(|| text_of(root.get("schema_used")?));
                    lean(root)
                }
                None => Style::STORED.of(Untrusted::new(meta)),
            });
            line.maybe("doc_id", text(self.doc_id.as_ref())).maybe("folder", text(self.folder.as_ref()));
            line.maybe("question", text(self.asked_text(tape).as_ref()));
            if let Some(parsed) = &self.parsed {
                match json(parsed, tape) {
                    Some(root) => line.put("parsed_question", compact(root.raw())),
                    None => line.text("parsed_question", parsed),
                };
            }
            line.maybe("schema", text(schema.as_ref()));
            if let Some(doc_id) = &self.doc_id {
                line.object("document", |document| _ = document.text("doc_id", doc_id));
            }
            if let Some(pages) = &self.pages {
                line.objects("retrieved_pages", ranked(pages), |page, object| {
                    object.put("page_num", page.number).maybe("rank", page.rank.json());
                    object.maybe("score", page.score.json()).maybe("similarity", page.similarity.json());
                    object.maybe("match_count", page.matches.json());
                });
            }
            if let Some(answer) = &self.answer {
                match json(answer, tape).filter(|root| root.kind() == Kind::Object) {
                    Some(root) => line.put("answer", compact(root.raw())),
                    None => line.text("answer_text", answer),
                };
            }
            line.maybe("meta", meta.map(Raw))
                .maybe("model", text(model.as_ref()))
                .maybe("created_at", self.created_at.json());
        });
    }

    /// Joins document and question: what identifies a question in its store.
    fn id(&self) -> Option<Vec<u8>> {
        let (doc, question) = (self.doc_id.as_deref(), self.question_id.as_deref());
        let parts: Vec<&[u8]> = doc.into_iter().chain(question).collect();
        (!parts.is_empty()).then(|| parts.join(&b'#'))
    }

    /// Returns the question, as the store has it or as it was parsed.
    fn asked_text(&self, tape: &mut Tape) -> Option<Vec<u8>> {
        self.question.clone().or_else(|| original_question(self.parsed.as_deref()?, tape))
    }
}

/// Reads the question that a parsed question holds.
pub(super) fn original_question(parsed: &[u8], tape: &mut Tape) -> Option<Vec<u8>> {
    let root = tape.parse(clean(parsed))?;
    let own = |value: Value<'_>| text_of(value.get("original_question")?);
    own(root).or_else(|| own(root.get("generation")?)).or_else(|| text_of(root.get("question")?))
}

/// One logged call of a model.
#[derive(Clone, Default, Debug)]
pub(super) struct Call {
    pub id: Option<Vec<u8>>,
    pub model: Option<Vec<u8>>,
    pub schema: Option<Vec<u8>>,
    pub prompt: Option<Vec<u8>>,
    pub reply: Option<Vec<u8>>,
    pub label: Option<Vec<u8>>,
    pub created_at: StoredNumber,
}

impl Call {
    /// Appends the line, with its line end.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        Style::STORED.line(out, |line| {
            line.put("prompt", text(self.prompt.as_ref()))
                .put("response", text(self.reply.as_ref()))
                .maybe("id", text(self.id.as_ref()));
            line.maybe("model", text(self.model.as_ref())).maybe("schema_name", text(self.schema.as_ref()));
            line.maybe("label", text(self.label.as_ref())).maybe("created_at", self.created_at.json());
        });
    }
}

/// Item that a walk through a database finds.
pub(super) enum FoundInDatabase {
    /// A question, with what is known of it.
    Question(Asked),
    /// A document without a question.
    Document(Vec<u8>),
    /// A logged call of a model.
    Call(Call),
}

/// Computes a number for a question to a document, or for either alone, that hardly any other has.
pub(super) fn hash(parts: &[Option<&[u8]>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        if let Some(part) = part {
            hasher.write(part);
        }
        // In no UTF-8 text.
        hasher.write_u8(0xff);
    }
    hasher.finish()
}

/// Computes a number for a question, whatever its document.
pub(super) fn question_key(question_id: Option<&[u8]>) -> u64 {
    hash(&[None, question_id])
}

fn text(text: Option<&Vec<u8>>) -> Option<Untrusted<'_>> {
    text.map(|text| Untrusted::new(text))
}

fn text_of(value: Value<'_>) -> Option<Vec<u8>> {
    value.string().map(|text| text.bytes().to_vec())
}

/// Sorts the pages by their ranks, else by their numbers.
fn ranked(pages: &[SeenPage]) -> Vec<SeenPage> {
    let mut pages = pages.to_vec();
    let rank = |page: &SeenPage| match page.rank {
        StoredNumber::Int(rank) => rank,
        StoredNumber::Float(rank) => rank as i64,
        StoredNumber::None => i64::MAX,
    };
    pages.sort_by_key(|page| (rank(page), page.number));
    pages
}

/// Shortens the account of how an answer was made by the long configuration in the raw response: schemas, tools and
/// instructions repeat themselves with each question. The parts left out are named.
fn lean(meta: Value<'_>) -> Vec<u8> {
    let raw = meta.get("raw_response").filter(|raw| raw.kind() == Kind::Object);
    let is_long = |part: &Member<'_>| {
        let is_telling = TELLING.iter().any(|telling| telling.as_bytes() == part.name().bytes());
        part.value.raw().len() > MAX_DETAIL && !is_telling
    };
    let Some(raw) = raw.filter(|raw| raw.members().any(|part| is_long(&part))) else {
        return compact(meta.raw()).0.into_owned();
    };
    Style::STORED.object(|object| {
        for part in meta.members() {
            let mut place = object.spelled(compact(part.key.raw()).0);
            if part.value.index() != raw.index() {
                place.raw(compact(part.value.raw()).0);
                continue;
            }
            place.object(|object| {
                for part in raw.members().filter(|part| !is_long(part)) {
                    object.spelled(compact(part.key.raw()).0).raw(compact(part.value.raw()).0);
                }
            });
        }
        object.list("left_out", raw.members().filter(is_long).map(|part| part.name()));
    })
}

/// Strips a text of the blanks, byte order marks and NUL bytes around it.
fn clean(text: &[u8]) -> &[u8] {
    without_filler(text)
}

/// Parses a text as JSON that fits on one line as it is written: a line break inside of a string cannot be taken out.
fn json<'a>(text: &'a [u8], tape: &'a mut Tape) -> Option<Value<'a>> {
    let text = clean(text);
    let root = tape.parse(text)?;
    let broken = |value: &Value<'_>| {
        matches!(value.kind(), Kind::String | Kind::Key) && memchr::memchr2(b'\n', b'\r', value.raw()).is_some()
    };
    let has_breaks = memchr::memchr2(b'\n', b'\r', text).is_some();
    let is_broken = has_breaks && root.walk().any(|stop| broken(&stop.value) || stop.key.as_ref().is_some_and(broken));
    (!is_broken).then_some(root)
}

/// Writes JSON without its line breaks and indentation.
fn compact(json: &[u8]) -> Raw<Cow<'_, [u8]>> {
    if memchr::memchr2(b'\n', b'\r', json).is_none() {
        return Raw(Cow::Borrowed(json));
    }
    let (mut string, mut escape, mut fresh) = (false, false, false);
    let mut out = Vec::with_capacity(json.len());
    for &byte in json {
        match byte {
            b'\n' | b'\r' => {
                fresh = true;
                continue;
            }
            b' ' | b'\t' if fresh && !string => continue,
            b'"' if !escape => string = !string,
            _ => {}
        }
        escape = string && byte == b'\\' && !escape;
        fresh = false;
        out.push(byte);
    }
    Raw(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_record::RecordKind;
    use stepscope_record::formats;

    fn own(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    fn line(asked: &Asked) -> String {
        let mut out = Vec::new();
        asked.write(&mut Tape::default(), &mut out);
        assert_eq!(memchr::memchr(b'\n', &out), Some(out.len() - 1));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_answer_is_embedded_as_it_was_written() {
        let answer = "\u{feff}{\r\n  \"items\" : [],\n\t\"confidence\": NaN, \"confidence\": 1.10,\n \"a\": \"\\\"{\\n  \"\n}\n\0";
        let text = line(&Asked {
            answer: Some(own(answer)),
            doc_id: Some(own("d")),
            question_id: Some(own("q")),
            ..Asked::default()
        });
        let expected = r#""answer":{"items" : [],"confidence": NaN, "confidence": 1.10,"a": "\"{\n  "}"#;
        assert!(text.contains(expected), "{text}");
        assert!(text.contains(r#""id":"d#q","doc_id":"d""#), "{text}");
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(text.as_bytes()).unwrap());
        assert_eq!(record.kind, RecordKind::Typed);
        assert!(record.typed.unwrap().answer.is_some());
    }

    #[test]
    fn what_is_no_json_object_is_kept_as_text() {
        for answer in ["{\"items\": [", "[1]", "{\"a\": \"b\nc\"}", "{}, \"doc_id\": \"x\"", "", "```json\n{}\n```"] {
            let text = line(&Asked { answer: Some(own(answer)), ..Asked::default() });
            let mut tape = Tape::default();
            let root = tape.parse(text.as_bytes()).unwrap();
            assert_eq!(root.get("answer_text").unwrap().string().unwrap(), answer);
            assert!(root.get("answer").is_none() && root.get("doc_id").is_none());
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay_what_they_are() {
        let out = Style::STORED.of(Untrusted::new(b"\xff\x00\x1b[1m\"\\\xc3\xa9"));
        assert_eq!(out, b"\"\xff\\u0000\\u001b[1m\\\"\\\\\xc3\xa9\"");
        let mut tape = Tape::default();
        assert_eq!(tape.parse(&out).unwrap().string().unwrap().bytes(), b"\xff\x00\x1b[1m\"\\\xc3\xa9");
    }

    #[test]
    fn long_configuration_is_left_out_and_named() {
        let long = "x".repeat(MAX_DETAIL);
        let meta = format!(
            "{{\"schema_used\": \"TextAnswer\",\n \"raw_response\": {{\"instructions\": \"{long}\", \"model\": \"m\", \"output\": [\"{long}\"], \"tools\": []}}, \"more\": 1}}"
        );
        let text = line(&Asked { meta: Some(own(&meta)), ..Asked::default() });
        let expected = format!(
            r#""meta":{{"schema_used":"TextAnswer","raw_response":{{"model":"m","output":["{long}"],"tools":[]}},"more":1,"left_out":["instructions"]}},"model":"m"}}"#
        );
        assert!(text.contains(&expected), "{text}");
        assert!(text.contains(r#""schema":"TextAnswer""#));
        let short = r#"{"raw_response": {"model": "m", "tools": []}, "a": NaN}"#;
        assert!(line(&Asked { meta: Some(own(short)), ..Asked::default() }).contains(&format!("\"meta\":{short}")));
        assert!(line(&Asked { meta: Some(own("no json")), ..Asked::default() }).contains(r#""meta":"no json""#));
    }

    #[test]
    fn pages_come_in_the_order_of_their_ranks() {
        let page = |number, rank| SeenPage { number, rank, score: StoredNumber::Float(0.5), ..SeenPage::default() };
        let pages =
            Some(vec![page(9, StoredNumber::None), page(2, StoredNumber::Int(2)), page(5, StoredNumber::Float(1.0))]);
        let text = line(&Asked { pages, created_at: StoredNumber::Float(f64::INFINITY), ..Asked::default() });
        let expected = r#""retrieved_pages":[{"page_num":5,"rank":1.0,"score":0.5},{"page_num":2,"rank":2,"score":0.5},{"page_num":9,"score":0.5}],"created_at":Infinity}"#;
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_call_is_read_as_a_call() {
        let mut out = Vec::new();
        Call { id: Some(own("h")), prompt: Some(own("2 + 3?")), created_at: StoredNumber::Int(7), ..Call::default() }
            .write(&mut out);
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(out.trim_ascii_end()).unwrap());
        assert_eq!((record.kind, record.id_text().unwrap().bytes()), (RecordKind::Call, &b"h"[..]));
    }
}
