//! Kinds of files told by their first bytes: review logs, tables, databases, archives, images.

use crate::source::csv::separator;
use crate::source::cut::without_filler;
use stepscope_base::json::Tape;
use stepscope_record::{RecordKind, formats};
use stepscope_review::log_line;

/// Number of lines at the beginning of a source that tell whether it is a review log.
const HEAD_LINES: usize = 64;

/// Tells whether a source that begins like this is a review log: its first line is an event, and no record follows. One
/// such line among records is no reason to read none of them.
pub(crate) fn is_journal(head: &[u8]) -> bool {
    let mut tape = Tape::default();
    let mut is_record =
        |text: &[u8]| tape.parse(text).is_some_and(|root| formats::read(root).kind != RecordKind::Unknown);
    head.starts_with(log_line::BEGIN) && !head.split(|byte| *byte == b'\n').take(HEAD_LINES).any(&mut is_record)
}

/// First bytes of an SQLite database.
pub(crate) const SQLITE: &[u8] = b"SQLite format 3\0";
/// Beginning of what lies in place of a file that Git LFS has not fetched.
pub(crate) const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// First bytes of a Parquet table.
pub(crate) const PARQUET: &[u8] = b"PAR1";
/// First bytes of an Arrow file; its end tells the positions of its messages.
pub(super) const ARROW: &[u8] = b"ARROW1\0\0";
/// First bytes of each message of an Arrow stream.
pub(super) const MESSAGE: [u8; 4] = [0xff; 4];

/// Tells whether bytes begin like a table whose columns have types.
pub(crate) fn begins_typed(head: &[u8]) -> bool {
    head.starts_with(PARQUET) || begins_arrow(head)
}

/// Tells whether bytes begin like an Arrow table.
pub(crate) fn begins_arrow(head: &[u8]) -> bool {
    let size = || head.get(4..)?.first_chunk().map(|size| i32::from_le_bytes(*size));
    head.starts_with(ARROW) || head.starts_with(&MESSAGE) && size().is_some_and(|size| size > 0 && size % 8 == 0)
}

const NO_RECORDS_ARROW: &str =
    "this Arrow table holds no records; name the columns that are their keys with --columns KEY=COLUMN";

/// Returns the reason why bytes that begin like this are no text, and what to do; `None`: they may be text.
pub(crate) fn not_text(head: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x1f\x8b", "this is gzip; unpack it first: gunzip"),
        (b"PK\x03\x04", "this is a zip archive; unpack it first: unzip"),
        (b"\x28\xb5\x2f\xfd", "this is zstandard; unpack it first: unzstd"),
        (b"\xfd7zXZ\0", "this is xz; unpack it first: unxz"),
        (b"BZh", "this is bzip2; unpack it first: bunzip2"),
        (SQLITE, "this is an SQLite database; pass it as a file, not through a pipe"),
        (
            PARQUET,
            "this parquet table holds no records; pass a table of document lines with its answers: check ANSWERS --document TABLE",
        ),
        (b"PARE", "this is an encrypted parquet table, not JSON"),
        (b"ARROW1", NO_RECORDS_ARROW),
        (&[0xff; 4], NO_RECORDS_ARROW),
        (b"FEA1", "this is a Feather 1 table; write it again as parquet or Feather 2"),
        (b"\x89PNG", "this is a PNG image, not JSON"),
        (b"\xff\xd8\xff", "this is a JPEG image, not JSON"),
        (b"%PDF", "this is a PDF document, not JSON"),
        (LFS, "this is a Git LFS pointer, not the file itself; fetch it first: git lfs pull"),
        (b"\x7fELF", "this is a program, not JSON"),
    ];
    if let Some((_, why)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(why);
    }
    if is_journal(head) {
        return Some("this is a review log, not records; read it with stepscope review list --reviews");
    }
    if !head.is_empty() && head.iter().all(|&b| b == 0) {
        return Some("it begins with NUL bytes only: its contents were lost, perhaps when the power went");
    }
    // A hole in good text comes later, or between lines that begin like JSON.
    let first = head.iter().find(|b| !b.is_ascii_whitespace() && **b != 0 && **b != 0x1e);
    let early = head.get(..512).unwrap_or(head);
    let like_json = matches!(first, Some(b'{' | b'[' | b'"' | b'/' | 0xef));
    (early.contains(&0) && !like_json).then_some("this is binary data, not JSON")
}

/// The same of what is to be read as records: tables as text are none.
pub(crate) fn not_records(head: &[u8]) -> Option<&'static str> {
    const CSV: &str = "this text table holds no records; name the columns that are their keys with --columns KEY=COLUMN, or see stepscope map --try FILE";
    const HTML: &str = "this is a web page, not JSON; a download that failed may have left it";
    let text = without_filler(head);
    let is_html = [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|tag| text.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag)));
    not_text(head).or_else(|| if is_html { Some(HTML) } else { separator(head).map(|_| CSV) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_as_text_is_told_by_its_names() {
        for (text, is_csv) in [
            ("question,gold_answer\n2 + 3?,5\n", true),
            ("\u{feff}\"question\",\"gold answer\"\r\n\"a, b\",5\r\n", true),
            ("id\tquestion\n1\t2 + 3?\n", true),
            ("question,gold_answer\n", false),
            ("Loading model, please wait\nDone, ok\n", false),
            ("a,b\n{\"a\": 1, \"b\": 2}\n", false),
            ("level,message\nINFO,model loaded\n\n{\"a\": 1}\n", false),
            ("{\"a\": 1,\n\"b\": 2}\n", false),
            ("1,2\n3,4\n", false),
        ] {
            assert_eq!(not_records(text.as_bytes()).is_some_and(|why| why.contains("text table")), is_csv, "{text}");
            assert_eq!(not_text(text.as_bytes()), None, "a document may be so");
        }
    }

    #[test]
    fn a_line_of_a_journal_hides_no_records() {
        let event = "{\"v\":1,\"event_id\":\"e\",\"kind\":\"verdict\"}\n";
        let record = "{\"id\": \"a\", \"question\": \"q\", \"status\": \"error\", \"error\": \"x\"}\n";
        for (text, journal) in [
            (event.to_owned(), true),
            (event.repeat(3) + "{\"v\":1,\"torn", true),
            (event.to_owned() + record, false),
            (record.to_owned() + event, false),
        ] {
            assert_eq!(
                (is_journal(text.as_bytes()), not_text(text.as_bytes()).is_some()),
                (journal, journal),
                "{text}"
            );
        }
    }

    #[test]
    fn binary_data_is_named() {
        assert_eq!(not_text(b"\x1f\x8b\x08"), Some("this is gzip; unpack it first: gunzip"));
        assert_eq!(not_text(b"{\"a\": 1}\0\0\0"), None);
        assert_eq!(not_text(b"\0\0\0{\"a\": 1}"), None);
        assert!(not_text(&[LFS, b"v1\noid sha256:0\n"].concat()).unwrap().contains("git lfs pull"));
        assert!(not_records(b"\n<!DOCTYPE html>\n<html>").unwrap().contains("web page"));
        assert!(not_text(&[0; 64]).unwrap().contains("NUL bytes only"));
        assert!(not_text(b"\x01\x00\x02").unwrap().contains("binary"));
        assert_eq!(not_text(b""), None);
    }
}
