//! A CSV of verdicts, on its way back: which rows there are, and what is in their cells.

use csv::ReaderBuilder;

use super::event::Text;
use super::export::active;
use stepscope_base::text::{Shown, Untrusted};

/// One row of a CSV that is to be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedRow {
    /// Number of the row below the head, from 1.
    pub row: usize,
    /// The cells of the columns `id`, `verdict`, `labels` and `note`, in this order; what is absent is empty.
    pub cells: [Text; 4],
    /// The cells of the columns `item` and `citation` of a table that has both: the part of an answer, counted from 0.
    pub part: [Text; 2],
    /// The cells of `row_index`, `reviewer`, `kind`, `stale`, `fix_target`, `first_bad_step`, `variable`, `gold_status` and
    /// `correction`.
    pub more: [Text; 9],
}

/// More columns of an exported table that the import understands.
const MORE: [&str; 9] =
    ["row_index", "reviewer", "kind", "stale", "fix_target", "first_bad_step", "variable", "gold_status", "correction"];

/// A CSV that is to be imported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImportedTable {
    /// The rows below the head.
    pub rows: Vec<ImportedRow>,
    /// Names of the columns that the import does not understand.
    pub ignored: Vec<Text>,
}

/// A table of more rows was not made by hand; each takes about two kilobytes until all are saved.
const MAX_ROWS: usize = 100_000;

/// Reads a CSV with a head that names at least `id` and `verdict`.
pub fn import(text: &[u8]) -> Result<ImportedTable, Shown> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text);
    let head = reader.byte_headers().map_err(|error| Shown::error(&error))?.clone();
    let column = |name: &str| head.iter().position(|cell| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes()));
    let [Some(id), Some(verdict)] = ["id", "verdict"].map(column) else {
        return Err(Shown::own("its first line has no columns id and verdict"));
    };
    let columns = [Some(id), Some(verdict), column("labels"), column("note")];
    // A table with one of them alone means something else by it.
    let part =
        column("item").zip(column("citation")).map_or([None; 2], |(item, citation)| [Some(item), Some(citation)]);
    let more = MORE.map(column);
    let is_read = |at: &usize| columns.iter().chain(&part).chain(&more).any(|read| *read == Some(*at));
    let ignored = head.iter().enumerate().filter(|(at, name)| !is_read(at) && !name.trim_ascii().is_empty());
    let ignored = ignored.map(|(_, name)| Untrusted::new(name.trim_ascii()).into_owned()).collect();
    let mut rows = Vec::new();
    for (n, record) in reader.byte_records().enumerate() {
        if n == MAX_ROWS {
            return Err(Shown::own("it has more than 100,000 rows; split it"));
        }
        let record = record.map_err(|error| Shown::error(&error))?;
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default();
        let text = |column| Untrusted::new(active(cell(column))).into_owned();
        rows.push(ImportedRow { row: n + 1, cells: columns.map(text), part: part.map(text), more: more.map(text) });
    }
    Ok(ImportedTable { rows, ignored })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_csv_is_read_as_people_have_it() {
        let text = b"\xef\xbb\xbfNote,ID ,verdict\r\n\"two\r\nlines\",7,pass\r\n,8,fail,more\r\nshort\r\n";
        let rows = import(text).unwrap().rows;
        let cells = |row: &ImportedRow| row.cells.each_ref().map(|cell| cell.utf8().unwrap().to_owned());
        assert_eq!(cells(&rows[0]), ["7", "pass", "", "two\r\nlines"]);
        assert_eq!((cells(&rows[1]), rows[1].row), (["8", "fail", "", ""].map(str::to_owned), 2));
        assert_eq!(cells(&rows[2]), ["", "", "", "short"]);
        assert!(import(b"name,verdict\n").is_err() && import(b"").is_err());
    }
}
