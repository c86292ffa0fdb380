//! A document as a file of its own: a parquet table of lines, JSON lines, or plain text.

use std::path::Path;

use crate::failure::Failure;
use crate::source::answers::folder::{document_in, lines_of};
use crate::source::beneath::{Place, UnderRoot};
use crate::source::cut::{decode_wide, line_end, without_filler};
use crate::source::lines::Gathered;
use crate::source::magic::{PARQUET, SQLITE, begins_arrow, not_text};
use crate::source::open::{Blob, Opened, open_place};
use crate::source::typed;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::{TypedAnswer, document_of, inline_document, whole};

/// A larger document of text is not read.
const MAX_FILE: u64 = 256 << 20;
const USE: &str = "cannot use as a document";

/// Checks whether a path can be a document at all; its content shows when it is read.
pub(super) fn look_at(path: &Path) -> Result<(), Failure> {
    if path.is_dir() { Ok(()) } else { blob(&path.into()).map(|_| ()) }
}

fn blob(place: &Place) -> Result<Blob, Failure> {
    match open_place(place)? {
        Opened::File(blob) => Ok(blob),
        Opened::Pipe(_) => Err(Failure::own(USE, &Shown::path(place.path()), "it is a pipe; write it to a file first")),
    }
}

/// Reads a file, or a folder with tables of lines.
pub(super) fn read(place: &Place) -> Result<Document, Failure> {
    if let Some(folder) = folder_of(place) {
        const WHY: &str = "it has no table line_df, and neither does its folder parsing";
        return document_in(&folder)?.ok_or_else(|| Failure::own(USE, &Shown::path(place.path()), WHY));
    }
    let blob = blob(place)?;
    let mut bytes = Vec::new();
    blob.read(0, SQLITE.len(), &mut bytes)?;
    if bytes.starts_with(PARQUET) {
        let table = typed::read_columns(&blob, &["page_num", "line_num", "text"])?;
        return lines_of(&table, blob.name(), Vec::new());
    }
    if begins_arrow(&bytes) {
        const WHY: &str = "documents are not read from Arrow tables; write its lines as Parquet or JSON lines";
        return Err(Failure::own(USE, blob.name(), WHY));
    }
    if bytes.starts_with(SQLITE) {
        const WHY: &str = "it is an answer store; pass it as a path, and its answers find their documents";
        return Err(Failure::own(USE, blob.name(), WHY));
    }
    let len = blob.len()?;
    if len > MAX_FILE {
        return Err(Failure::own(USE, blob.name(), "it is larger than 256 MB"));
    }
    blob.read(0, len as usize, &mut bytes)?;
    Ok(of_bytes(&bytes, blob.name())?.from_file(blob.name().clone()))
}

/// Finds the folder that a place leads to, if it does.
fn folder_of(place: &Place) -> Option<UnderRoot> {
    match place {
        Place::Named(path) => UnderRoot::root(path).ok(),
        place => place.beneath().ok().filter(UnderRoot::is_folder),
    }
}

/// Reads JSON lines `{"page_num", "line_num", "text"}`, a list of such objects or of texts, one JSON object with all
/// `lines`, or text whose pages are separated by form feeds.
pub(super) fn of_bytes(bytes: &[u8], name: &Shown) -> Result<Document, Failure> {
    let decoded = decode_wide(bytes);
    let bytes = decoded.as_deref().unwrap_or(bytes);
    let text = without_filler(bytes);
    if text.is_empty() {
        return Err(Failure::own(USE, name, "it has no lines"));
    }
    if text.first() == Some(&b'{') {
        return of_json(text, name);
    }
    // Prose may begin with a bracket.
    if let Some(list) = Tape::default().parse(text).filter(|list| list.kind() == Kind::Array) {
        return of_list(list, name);
    }
    if let Some(why) = not_text(bytes) {
        return Err(Failure::own(USE, name, why));
    }
    Ok(of_text(bytes))
}

/// Reads a list of lines, as tables are exported by record.
fn of_list(list: Value<'_>, name: &Shown) -> Result<Document, Failure> {
    let is_line = |line: Value<'_>| line.get("text").unwrap_or(line).string().is_some();
    match list.items().position(|line| !is_line(line)) {
        Some(n) => {
            let why =
                shown!("item {} of its list is neither a text nor an object with page_num, line_num and text", n + 1);
            Err(Failure { what: USE, path: name.clone(), source: why })
        }
        None => Ok(document_of(list, None)),
    }
}

fn of_json(text: &[u8], name: &Shown) -> Result<Document, Failure> {
    let mut tape = Tape::default();
    if let Some(document) = tape.parse(text)
        && let Some(document) = inline_document(&TypedAnswer { document: Some(document), ..TypedAnswer::default() })
    {
        return Ok(document);
    }
    let mut gathered = Gathered::default();
    for (n, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = without_filler(line);
        if line.is_empty() {
            continue;
        }
        let text = tape.parse(line).filter(|line| line.kind() == Kind::Object).and_then(|line| {
            let number = |key| line.get(key).and_then(whole);
            Some((number("page_num"), number("line_num"), line.get("text")?.string()?))
        });
        let Some((page, number, text)) = text else {
            let why = shown!("line {} is not an object with page_num, line_num and text", n + 1);
            return Err(Failure { what: USE, path: name.clone(), source: why });
        };
        gathered.push(page, number, text.bytes().to_vec());
    }
    Ok(gathered.document(Vec::new()))
}

/// Lines of text, which end as those of records do; a form feed begins a page.
fn of_text(text: &[u8]) -> Document {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    // Some programs end every page with it.
    let text = text.strip_suffix(b"\x0c").unwrap_or(text);
    let (mut gathered, end) = (Gathered::default(), line_end(text));
    for (page, text) in (1..).zip(text.split(|byte| *byte == b'\x0c')) {
        // The end of the last line begins no other.
        let text = text.strip_suffix(&[end]).unwrap_or(text);
        for (line, text) in (1..).zip(text.split(|byte| *byte == end)) {
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            gathered.push(Some(page), Some(line), text.to_vec());
        }
    }
    gathered.document(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(document: &Document) -> Vec<(i64, i64, String)> {
        let text = |n| String::from_utf8(document.line(n).unwrap().to_vec()).unwrap();
        (0..document.len())
            .map(|n| {
                let (page, line) = document.number(n).unwrap();
                (page, line, text(n))
            })
            .collect()
    }

    fn of(text: &str) -> Result<Document, String> {
        of_bytes(text.as_bytes(), &Shown::own("d")).map_err(|failure| failure.to_string())
    }

    fn line(page: i64, line: i64, text: &str) -> (i64, i64, String) {
        (page, line, text.to_owned())
    }

    #[test]
    fn text_is_lines_and_a_form_feed_begins_a_page() {
        let document = of("\u{feff}# A\r\nb\n\u{c}\nc\u{c}").unwrap();
        assert_eq!(lines(&document), [line(1, 1, "# A"), line(1, 2, "b"), line(2, 1, ""), line(2, 2, "c")]);
        assert_eq!(lines(&of("a\r\rb\r").unwrap()), [line(1, 1, "a"), line(1, 2, ""), line(1, 3, "b")]);
    }

    #[test]
    fn json_lines_are_read_with_and_without_numbers() {
        let text = "{\"page_num\": 2, \"line_num\": 7, \"text\": \"a\"}\n\n{\"text\": \"b\"}\n{\"page_num\": 3, \"text\": \"c\"}";
        assert_eq!(lines(&of(text).unwrap()), [line(2, 7, "a"), line(2, 8, "b"), line(3, 1, "c")]);
        let whole = "{\"lines\": [\"a\",\n {\"text\": \"b\"}], \"toc\": [{\"title\": \"A\"}]}";
        let document = of(whole).unwrap();
        assert_eq!((lines(&document), document.toc().len()), (vec![line(1, 1, "a"), line(1, 2, "b")], 1));
        let list = "[{\"page_num\": 2, \"line_num\": 7, \"text\": \"a\"},\n {\"text\": \"b\"}]";
        assert_eq!(lines(&of(list).unwrap()), [line(2, 7, "a"), line(2, 8, "b")]);
        assert_eq!(lines(&of("[\"a\", \"b\"]").unwrap()), [line(1, 1, "a"), line(1, 2, "b")]);
        assert_eq!(lines(&of("[1] A note\nb").unwrap()), [line(1, 1, "[1] A note"), line(1, 2, "b")]);
        assert!(of("[\"a\", {\"txt\": \"b\"}]").unwrap_err().contains("item 2 of its list is neither"));
        assert!(of("{\"text\": \"a\"}\n{\"txt\": \"b\"}").unwrap_err().contains("line 2 is not an object with"));
    }

    #[test]
    fn what_is_no_document_is_told() {
        assert!(of("").unwrap_err().ends_with("it has no lines"));
        assert!(of("\u{1f}\u{8b}").is_ok(), "as text it is only odd");
        assert!(of_bytes(b"\x1f\x8b\x08", &Shown::own("d")).unwrap_err().to_string().contains("gzip"));
        let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores/tables");
        for name in ["keyed_lz4.arrow", "keyed_stream.arrow"] {
            let why = read(&tables.join(name).as_path().into()).unwrap_err().to_string();
            assert!(why.contains("write its lines as Parquet or JSON lines"), "{why}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(look_at(&folder.path().join("missing")).is_err());
        assert!(read(&folder.path().into()).unwrap_err().to_string().contains("no table line_df"));
    }
}
