//! Text tables (CSV, TSV): names in the first line, a row a line, values between commas, semicolons or tabs.

use std::io::Cursor;

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use bytes::Bytes;

use crate::failure::Failure;
use crate::source::block::BLOCK;
use crate::source::columns::{Cell, Columns, Leaf, READ, ROWS, RowReader, bytes_of};
use crate::source::cut::without_filler;
use crate::source::open::Blob;
use stepscope_base::shown;
use stepscope_base::text::Shown;

const SEPARATORS: [u8; 3] = [b',', b'\t', b';'];
/// Names of columns are shorter.
const MAX_NAME: usize = 64;
/// Number of rows that tell whether lines are a table.
const LOOKED_AT: usize = 20;

/// A text table.
pub(crate) struct CsvTable {
    name: Shown,
    names: Vec<String>,
    rows: Reader<Cursor<Bytes>>,
}

impl CsvTable {
    /// Reads which columns a table has.
    pub(crate) fn open(blob: &Blob) -> Result<Self, Failure> {
        let bytes = bytes_of(blob)?;
        let head = &bytes[..bytes.len().min(BLOCK)];
        let mark = separator(head).unwrap_or(b',');
        // It passes over a mark of the byte order itself.
        let mut rows = ReaderBuilder::new().delimiter(mark).flexible(true).from_reader(Cursor::new(bytes));
        let fail = |error: ::csv::Error| failure(blob.name(), &error);
        let names = rows.byte_headers().map_err(fail)?.iter().enumerate().map(|(n, name)| named(n, name)).collect();
        Ok(Self { name: blob.name().clone(), names, rows })
    }
}

impl RowReader for CsvTable {
    fn leaves(&self) -> Vec<Leaf> {
        self.names.iter().map(|name| Leaf { name: name.clone(), unread: None }).collect()
    }

    fn next(&mut self, wanted: &[bool]) -> Result<Option<Columns>, Failure> {
        let mut columns: Vec<Option<Vec<Cell>>> = wanted.iter().map(|wanted| wanted.then(Vec::new)).collect();
        let (mut row, mut rows) = (ByteRecord::new(), 0);
        while rows < ROWS && self.rows.read_byte_record(&mut row).map_err(|error| failure(&self.name, &error))? {
            for (n, column) in columns.iter_mut().enumerate() {
                let value = row.get(n).filter(|value| !value.is_empty());
                let cell = value.map_or(Cell::Null, |value| Cell::Untyped(value.to_vec().into()));
                if let Some(column) = column {
                    column.push(cell);
                }
            }
            rows += 1;
        }
        Ok((rows > 0).then_some(Columns { rows, columns }))
    }
}

/// Names a column; pandas writes its index without a name.
fn named(n: usize, name: &[u8]) -> String {
    match String::from_utf8_lossy(name).trim() {
        "" => format!("column {}", n + 1),
        name => name.to_owned(),
    }
}

fn failure(name: &Shown, error: &::csv::Error) -> Failure {
    Failure { what: READ, path: name.clone(), source: shown!("{}", Shown::line(error.to_string().as_bytes())) }
}

/// Finds what is between the values of what begins like this; `None`: it is no text table. The first line holds names
/// and nothing else, and the rows after it are as long. A program may print such lines before its records.
pub(crate) fn separator(head: &[u8]) -> Option<u8> {
    let text = without_filler(head);
    let is_json = |line: &[u8]| line.starts_with(b"{\"") || line.starts_with(b"[{");
    let begins_json = matches!(text.first(), Some(b'{' | b'['));
    if begins_json || text.contains(&0) || text.split(|byte| *byte == b'\n').any(is_json) {
        return None;
    }
    SEPARATORS.into_iter().find(|mark| {
        let reader = ReaderBuilder::new().delimiter(*mark).flexible(true).has_headers(false).from_reader(text);
        let rows: Vec<ByteRecord> = reader.into_byte_records().take(LOOKED_AT).map_while(Result::ok).collect();
        // The last one may be cut.
        let whole = if head.len() >= BLOCK { rows.len().saturating_sub(1) } else { rows.len() };
        let Some((names, rows)) = rows.get(..whole).and_then(<[ByteRecord]>::split_first) else { return false };
        names.len() > 1
            && !rows.is_empty()
            && names.iter().enumerate().all(|(n, name)| is_name(name) || n == 0 && name.is_empty())
            && rows.iter().all(|row| row.len() == names.len())
    })
}

fn is_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ?()<>/:%#&'*".contains(byte) || !byte.is_ascii();
    name.len() <= MAX_NAME
        && name.first().is_some_and(|byte| !byte.is_ascii_digit() && *byte != b' ')
        && name.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_and_missing_ones_are_nothing() {
        let text = "\u{feff},question,answer\r\n0,\"a, \"\"b\"\"\nc\",\r\n1,d\r\n";
        let mut table = CsvTable::open(&Blob::of_bytes(Shown::own("t"), text.as_bytes()).unwrap()).unwrap();
        let names: Vec<String> = table.leaves().into_iter().map(|leaf| leaf.name).collect();
        assert_eq!(names, ["column 1", "question", "answer"]);
        let rows = table.next(&[false, true, true]).unwrap().unwrap();
        let cell = |column, row| rows.cell(column, row).text().map(String::from_utf8_lossy);
        assert_eq!((cell(1, 0).as_deref(), cell(2, 0), cell(1, 1).as_deref()), (Some("a, \"b\"\nc"), None, Some("d")));
        assert!(!rows.has(0) && rows.rows == 2 && table.next(&[true; 3]).unwrap().is_none());
    }

    #[test]
    fn tables_are_told_from_other_lines() {
        for (text, mark) in [
            ("question,answer\nx,y\n", Some(b',')),
            (",question,answer\n0,a,1\n", Some(b',')),
            ("question?,answer (gold)\na,1\n", Some(b',')),
            ("a;b\n1,5;2\n", Some(b';')),
            ("a\tb\n1\t2\n", Some(b'\t')),
            ("question,answer\n\"a, b\nc\",2\n", Some(b',')),
            ("\u{feff}a,b\n1,2\n", Some(b',')),
            ("a,b\n", None),
            ("a,b\n1,2,3\n", None),
            ("Hello, world\nHow, are you\n", None),
            ("a,b\n1,2\n{\"x\": 1}\n", None),
            ("2024-01-01,INFO\n2024-01-02,WARN\n", None),
            ("plain text\nand more\n", None),
        ] {
            assert_eq!(separator(text.as_bytes()), mark, "{text}");
        }
    }
}
