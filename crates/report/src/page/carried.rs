//! The record that a page carries: written into an element that browsers leave alone, and read from there.

use std::ops::Range;

use super::options::{PageOptions, digest};
use super::said::Said;
use stepscope_base::json::write::{Object, Raw, Style};
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::is_hidden;
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::{TypedAnswer, inline_document};
use stepscope_judge::case::{Case, CaseView};
use stepscope_review::event::{Event, Text};
use stepscope_review::summary::Summary;

/// Beginning of every page.
pub const BEGIN: &[u8] = b"<!doctype html>\n<html lang=\"en\" class=\"stepscope\">";
/// Beginning of the element that carries the record. No text of a page can hold it.
pub(super) const OPEN: &str = "<script type=\"application/json\" id=\"stepscope\">";
const CLOSE: &[u8] = b"</script>";
/// More reviews than this are not read.
const MAX_REVIEWS: usize = 1_000;
/// Escape for `<`, in this spelling only where a page put it.
const LESS: &[u8] = b"\\u003C";

/// Contents read from a page.
#[derive(Debug)]
pub struct CarriedRecord {
    /// The record's text, byte for byte.
    pub text: Vec<u8>,
    /// The document that it cites.
    pub document: Option<Document>,
    /// The step in question, from 0.
    pub step: Option<usize>,
}

/// Reason that a page holds no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotCarried {
    /// There was no room for it.
    LeftOut,
    /// The page was cut or changed.
    Damaged,
}

/// The JSON that a page carries: where it comes from, the record, the document's lines, and what people said.
pub(super) fn write(case: &CaseView<'_>, options: &PageOptions<'_>) -> Vec<u8> {
    Style::ASCII.object(|object| {
        object.put("stepscope", options.version).put("format", 1_u64).put("sha256", digest(case).to_string().as_str());
        object.put("changed", options.is_changed()).put("source", &options.source);
        object.maybe("step", options.step.map(|step| step + 1));
        record(case, object);
        let own = case.typed().is_some_and(|typed| inline_document(typed).is_some());
        if let Some(document) = case.document().filter(|_| options.passages && !own) {
            object.object("document", |object| lines(document, object));
        }
        object.list("reviews", options.said);
    })
}

/// The record as JSON where it is sound, so that other programs can read it too; else its text, or its bytes.
fn record(case: &CaseView<'_>, object: &mut Object<'_>) {
    let text = case.text();
    let Ok(words) = std::str::from_utf8(text) else {
        let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or('0');
        let hex: String = text.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        object.put("bytes", hex.as_str());
        return;
    };
    let whole = case.root().is_some_and(|root| root.raw().len() == text.trim_ascii().len());
    let sound = whole && case.problems().is_empty();
    let spelled = memchr::memmem::find(text, LESS).is_some();
    if sound && !spelled && !words.chars().any(is_odd) {
        object.put("record", Raw(text));
    } else {
        object.text("text", text);
    }
}

/// Tells whether a character would mislead somebody who reads the source of a page, or would be changed by a program
/// that reads HTML, as line ends are; other blanks of JSON are not odd.
fn is_odd(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_hidden(c)
}

/// The shape of a document inside a record: a line that follows the one before is its text alone.
fn lines(document: &Document, object: &mut Object<'_>) {
    let mut before = (1, 0);
    object.key("lines").list(0..document.len(), |n, writer| {
        let (page, line) = document.number(n).unwrap_or_default();
        let text = document.line(n).unwrap_or_default();
        let follows = (page, line) == (before.0, before.1 + 1);
        before = (page, line);
        if follows {
            writer.text(text);
        } else {
            writer.object(|object| {
                object.put("page_num", page).put("line_num", line).text("text", text);
            });
        }
    });
    object.objects("toc", document.toc(), |heading, object| {
        object.put("level", u64::from(heading.level)).text("title", &heading.title);
        object.put("start_page", heading.pages.0).put("end_page", heading.pages.1);
    });
}

/// Tells whether bytes begin as a page does.
pub fn is_page(head: &[u8]) -> bool {
    head.starts_with(BEGIN)
}

/// The JSON in a page.
fn json_of(page: &[u8]) -> Result<&[u8], NotCarried> {
    let at = memchr::memmem::find(page, OPEN.as_bytes()).ok_or(NotCarried::LeftOut)?;
    let rest = page.get(at + OPEN.len()..).unwrap_or_default();
    let end = memchr::memmem::find(rest, CLOSE).ok_or(NotCarried::Damaged)?;
    Ok(rest.get(..end).unwrap_or_default())
}

/// Reads the reviews that a page carries, as events about the record in a file of this name; each reviewer is marked.
/// Skips what is neither a verdict nor a note, and what exceeds the limit.
pub fn reviews(page: &[u8], dataset: Text) -> Result<Vec<Event>, NotCarried> {
    let json = json_of(page)?;
    let mut tape = Tape::default();
    let root = tape.parse(json).ok_or(NotCarried::Damaged)?;
    let text = record_of(json, root).ok_or(NotCarried::Damaged)?;
    let case = Case::citing(text, None);
    let Summary { item, content, .. } = Summary::of(&case.view(), &[], Some(dataset), 0);
    let carried = root.get("reviews").into_iter().flat_map(Value::items).take(MAX_REVIEWS);
    Ok(carried.filter_map(|value| Some(Said::read(value)?.event(value.raw(), &item, content))).collect())
}

/// Takes the record out of a page.
pub fn read(page: &[u8]) -> Result<CarriedRecord, NotCarried> {
    let json = json_of(page)?;
    let mut tape = Tape::default();
    let root = tape.parse(json).ok_or(NotCarried::Damaged)?;
    let text = record_of(json, root).ok_or(NotCarried::Damaged)?;
    let typed = TypedAnswer { document: root.get("document"), ..TypedAnswer::default() };
    let step = root.get("step").and_then(|step| step.whole::<usize>()?.checked_sub(1));
    Ok(CarriedRecord { text, document: inline_document(&typed), step })
}

fn record_of(json: &[u8], root: Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = root.get("text") {
        return text.string().map(|text| text.bytes().to_vec());
    }
    if let Some(bytes) = root.get("bytes") {
        let digit = |digit: &u8| char::from(*digit).to_digit(16);
        let byte = |pair: &[u8]| Some((digit(pair.first()?)? << 4 | digit(pair.get(1)?)?) as u8);
        return bytes.string()?.bytes().chunks(2).map(byte).collect();
    }
    let record = root.member("record")?;
    // Blanks around a record are part of it: what stands between the colon and the comma.
    let range = with_blanks(json, record.value.range());
    Some(unescaped(json.get(range)?))
}

fn with_blanks(json: &[u8], value: Range<usize>) -> Range<usize> {
    let blanks = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let after = json.get(value.end..).map_or(0, blanks);
    let before = json.get(..value.start).unwrap_or_default().iter().rev().take_while(|byte| byte.is_ascii_whitespace());
    value.start - before.count()..value.end + after
}

/// With `<` where a page wrote an escape for it.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for found in memchr::memmem::find_iter(text, LESS) {
        out.extend_from_slice(text.get(at..found).unwrap_or_default());
        out.push(b'<');
        at = found + LESS.len();
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}
