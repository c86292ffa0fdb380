//! Rows and cells of a CSV. The reader is strict about quotes: one that is not closed would take in the rows behind it.

use memchr::{memchr, memchr_iter, memchr3};

/// Writes a row.
pub(super) fn write<T: AsRef<[u8]>>(cells: &[T], out: &mut Vec<u8>) {
    for (n, cell) in cells.iter().map(AsRef::as_ref).enumerate() {
        if n > 0 {
            out.push(b',');
        }
        if cell.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
            out.push(b'"');
            for byte in cell {
                out.extend_from_slice(if *byte == b'"' { b"\"\"" } else { std::slice::from_ref(byte) });
            }
            out.push(b'"');
        } else {
            out.extend_from_slice(cell);
        }
    }
    out.push(b'\n');
}

/// A row as it was read.
#[derive(Debug)]
pub(super) struct Row {
    /// Line on which it begins, from 1.
    pub(super) line: usize,
    /// Its cells; `Err`: why it cannot be said where it ends. No row follows then.
    pub(super) cells: Result<Vec<Vec<u8>>, &'static str>,
}

/// Rows of a table; blank lines are none.
#[derive(Debug)]
pub(super) struct Rows<'t> {
    rest: &'t [u8],
    separator: u8,
    line: usize,
}

impl<'t> Rows<'t> {
    pub(super) const fn new(text: &'t [u8], separator: u8) -> Self {
        Self { rest: text, separator, line: 1 }
    }

    /// Goes behind the end of a line, if there is one here.
    fn end_line(&mut self) -> bool {
        let ends: [&[u8]; 3] = [b"\r\n", b"\n", b"\r"];
        let Some(rest) = ends.iter().find_map(|end| self.rest.strip_prefix(*end)) else { return false };
        self.rest = rest;
        self.line += 1;
        true
    }

    fn cells(&mut self) -> Result<Vec<Vec<u8>>, &'static str> {
        let mut cells = Vec::new();
        loop {
            let (cell, rest) = cell(self.rest, self.separator)?;
            self.line += line_ends(&cell);
            cells.push(cell);
            match rest.split_first() {
                Some((byte, rest)) if *byte == self.separator => self.rest = rest,
                _ => {
                    self.rest = rest;
                    self.end_line();
                    return Ok(cells);
                }
            }
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        while self.end_line() {}
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        let cells = self.cells();
        if cells.is_err() {
            self.rest = &[];
        }
        Some(Row { line, cells })
    }
}

/// Reads a cell, and returns what follows it.
fn cell(text: &[u8], separator: u8) -> Result<(Vec<u8>, &[u8]), &'static str> {
    let Some(mut rest) = text.strip_prefix(b"\"") else {
        let end = memchr3(separator, b'\r', b'\n', text).unwrap_or(text.len());
        let (cell, rest) = text.split_at(end);
        return Ok((cell.to_vec(), rest));
    };
    let mut cell = Vec::new();
    loop {
        let end = memchr(b'"', rest).ok_or("a quote in it is not closed")?;
        let (inside, closed) = rest.split_at(end);
        cell.extend_from_slice(inside);
        rest = closed.split_at(1).1;
        let Some(more) = rest.strip_prefix(b"\"") else { break };
        cell.push(b'"');
        rest = more;
    }
    while let Some(more) = rest.strip_prefix(b" ") {
        rest = more;
    }
    match rest.first() {
        Some(byte) if ![separator, b'\r', b'\n'].contains(byte) => {
            Err("more text follows a closing quote; inside of quotes, write \"\" for \"")
        }
        _ => Ok((cell, rest)),
    }
}

/// Counts the ends of lines, of which `\r\n` is one.
fn line_ends(text: &[u8]) -> usize {
    let returns = memchr_iter(b'\r', text).filter(|at| text.get(at + 1) != Some(&b'\n'));
    memchr_iter(b'\n', text).count() + returns.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, separator: u8) -> Vec<(usize, Vec<String>)> {
        let words = |cells: Vec<Vec<u8>>| cells.into_iter().map(|cell| String::from_utf8(cell).unwrap()).collect();
        let word = |row: Row| (row.line, row.cells.map_or_else(|why| vec![format!("! {why}")], words));
        Rows::new(text.as_bytes(), separator).map(word).collect()
    }

    fn check(text: &str, expected: &[(usize, &[&str])]) {
        let expected: Vec<_> =
            expected.iter().map(|(line, cells)| (*line, cells.iter().map(ToString::to_string).collect())).collect();
        assert_eq!(read(text, b','), expected, "{text:?}");
    }

    #[test]
    fn rows_begin_on_the_line_where_people_find_them() {
        check("a,b\r\n\r\n\"x\r\ny\",\"\"\"\"\n\nz", &[(1, &["a", "b"]), (3, &["x\r\ny", "\""]), (6, &["z"])]);
        check("a\rb,\r\r,\"c\" \r", &[(1, &["a"]), (2, &["b", ""]), (4, &["", "c"])]);
        check("", &[]);
        assert_eq!(read("a;\"b;,\";c", b';'), [(1, ["a", "b;,", "c"].map(str::to_owned).into())]);
    }

    #[test]
    fn nothing_is_read_behind_quotes_that_do_not_fit() {
        check("a\nb,\"c\nd\ne\n", &[(1, &["a"]), (2, &["! a quote in it is not closed"])]);
        let more = "! more text follows a closing quote; inside of quotes, write \"\" for \"";
        check("a\n\"b \"c\" d\"\ne,\"f\"\n", &[(1, &["a"]), (2, &[more])]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_here_and_elsewhere(rows in prop::collection::vec(prop::collection::vec("[a,\"\r\n é]{0,6}", 2..5), 0..5)) {
            let mut text = Vec::new();
            for row in &rows {
                write(row, &mut text);
            }
            let here: Vec<Vec<String>> = read(std::str::from_utf8(&text).unwrap(), b',').into_iter().map(|(_, cells)| cells).collect();
            prop_assert_eq!(&here, &rows);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_slice());
            let elsewhere: Vec<Vec<String>> =
                reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
            prop_assert_eq!(&elsewhere, &rows);
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            prop_assert_eq!(writer.into_inner().unwrap(), text);
        }
    }
}
