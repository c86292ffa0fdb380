//! A CSV of verdicts, on its way back: which rows there are, and what is in their cells.

use super::cells::{Row, Rows};
use super::event::Text;
use super::export::active;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

/// Separators of cells: spreadsheets take the semicolon where people write a comma in their numbers.
const SEPARATORS: &[u8] = b",;\t";

/// Place of a row, for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowPlace {
    /// Number of the row below the head, from 1.
    pub row: usize,
    /// Line on which it begins, from 1: a cell may have several.
    pub line: usize,
}

impl RowPlace {
    /// Formats the place: `row 3 (line 4)`.
    pub fn phrase(self) -> Shown {
        shown!("row {} (line {})", self.row, self.line)
    }
}

/// One row of a CSV that is to be imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedRow {
    /// Its place.
    pub place: RowPlace,
    /// The cells of the columns `id`, `verdict`, `labels` and `note`, in this order; what is absent is empty.
    pub cells: [Text; 4],
    /// The cells of the columns `item` and `citation` of a table that has both: the part of an answer, counted from 0.
    pub part: [Text; 2],
    /// The cells of `row_index`, `reviewer`, `kind`, `stale`, `fix_target`, `first_bad_step`, `variable`, `gold_status`,
    /// `correction`, `dataset` and `sha256`.
    pub more: [Text; 11],
}

/// More columns of an exported table that the import understands.
const MORE: [&str; 11] = [
    "row_index",
    "reviewer",
    "kind",
    "stale",
    "fix_target",
    "first_bad_step",
    "variable",
    "gold_status",
    "correction",
    "dataset",
    "sha256",
];

/// A CSV that is to be imported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImportedTable {
    /// The rows below the head; `Err`: where one is, and why it cannot be taken as it was meant.
    pub rows: Vec<Result<ImportedRow, (RowPlace, Shown)>>,
    /// Names of the columns that the import does not understand.
    pub ignored: Vec<Text>,
}

/// A table of more rows was not made by hand; each takes about two kilobytes until all are saved.
const MAX_ROWS: usize = 100_000;

/// Columns of a table, by their names in its head.
#[derive(Debug)]
struct Head {
    names: Vec<Vec<u8>>,
    cells: [Option<usize>; 4],
    part: [Option<usize>; 2],
    more: [Option<usize>; 11],
}

impl Head {
    /// Finds the columns; `None`: there are no `id` and `verdict`.
    fn of(names: Vec<Vec<u8>>) -> Option<Self> {
        let column = |name: &str| names.iter().position(|cell| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes()));
        let cells = ["id", "verdict", "labels", "note"].map(column);
        // A table with one of them alone means something else by it.
        let part =
            column("item").zip(column("citation")).map_or([None; 2], |(item, citation)| [Some(item), Some(citation)]);
        let more = MORE.map(column);
        let [Some(_), Some(_), ..] = cells else { return None };
        Some(Self { names, cells, part, more })
    }

    fn ignored(&self) -> Vec<Text> {
        let is_read = |at: &usize| self.cells.iter().chain(&self.part).chain(&self.more).any(|read| *read == Some(*at));
        let names = self.names.iter().map(|name| name.trim_ascii()).enumerate();
        let ignored = names.filter(|(at, name)| !is_read(at) && !name.is_empty());
        ignored.map(|(_, name)| Untrusted::new(name).into_owned()).collect()
    }

    /// Reads a row; `Err`: why it cannot be taken as it was meant.
    fn row(&self, place: RowPlace, cells: &[Vec<u8>]) -> Result<ImportedRow, Shown> {
        let named = self.names.iter().rposition(|name| !name.trim_ascii().is_empty()).map_or(0, |at| at + 1);
        if let Some(lost) = cells.iter().skip(named).find(|cell| !cell.trim_ascii().is_empty()) {
            let lost = Untrusted::new(lost).line().cut(40);
            return Err(shown!("\"{lost}\" is in no column; write a cell that holds a separator in quotes"));
        }
        if cells.iter().any(|cell| std::str::from_utf8(cell).is_err()) {
            return Err(Shown::own(
                "it is not UTF-8, but perhaps Windows-1252 or Latin-1; save the table as UTF-8 and import it again",
            ));
        }
        let text = |at: Option<usize>| {
            let cell = at.and_then(|at| cells.get(at)).map_or(&b""[..], Vec::as_slice);
            Untrusted::new(active(cell)).into_owned()
        };
        Ok(ImportedRow { place, cells: self.cells.map(text), part: self.part.map(text), more: self.more.map(text) })
    }
}

/// Reads a CSV with a head that names at least `id` and `verdict`.
pub fn import(text: &[u8]) -> Result<ImportedTable, Shown> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let found = SEPARATORS.iter().find_map(|separator| {
        let mut rows = Rows::new(text, *separator);
        Some((Head::of(rows.next()?.cells.ok()?)?, rows))
    });
    let why = "its first line has no columns id and verdict, with commas, semicolons or tabs between them";
    let (head, rows) = found.ok_or_else(|| Shown::own(why))?;
    let is_blank = |cell: &Vec<u8>| cell.trim_ascii().is_empty();
    let filled = rows.filter(|row| !row.cells.as_ref().is_ok_and(|cells| cells.iter().all(is_blank)));
    let mut rows = Vec::new();
    for (n, Row { line, cells }) in filled.enumerate() {
        if n == MAX_ROWS {
            return Err(Shown::own("it has more than 100,000 rows; split it"));
        }
        let place = RowPlace { row: n + 1, line };
        let row = match cells {
            Ok(cells) => head.row(place, &cells),
            Err(why) => Err(shown!("{why}; no row after it is read")),
        };
        rows.push(row.map_err(|why| (place, why)));
    }
    Ok(ImportedTable { rows, ignored: head.ignored() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a table: the cells of `id`, `verdict`, `labels` and `note` of each row, or where it is and why it is not taken.
    fn read(text: impl AsRef<[u8]>) -> Vec<Vec<String>> {
        let word = |cell: &Text| cell.utf8().unwrap().to_owned();
        let row = |row: Result<ImportedRow, (RowPlace, Shown)>| match row {
            Ok(row) => row.cells.iter().map(word).collect(),
            Err((place, why)) => vec![format!("{}: {why}", place.phrase())],
        };
        import(text.as_ref()).unwrap().rows.into_iter().map(row).collect()
    }

    #[test]
    fn a_csv_is_read_as_people_have_it() {
        let rows = read("\u{feff}Note,ID ,verdict\r\n\"two\r\nlines\",7,pass\r\n,,\r\n,8,fail,,\r\nshort\r\n");
        assert_eq!(rows, [vec!["7", "pass", "", "two\r\nlines"], vec!["8", "fail", "", ""], vec!["", "", "", "short"]]);
        for separated in
            ["id;verdict;labels;note\n7;fail;\"a;b\";x, y\n", "id\tverdict\tlabels\tnote\n7\tfail\ta;b\tx, y\n"]
        {
            assert_eq!(read(separated), [["7", "fail", "a;b", "x, y"]]);
        }
        let indexed = import(b",id,verdict\n0,7,pass\n").unwrap();
        assert_eq!((indexed.rows[0].is_ok(), indexed.ignored), (true, vec![]), "the index of a data frame has no name");
        assert!(import(b"name,verdict\n").is_err() && import(b"").is_err());
    }

    #[test]
    fn a_row_that_is_not_what_was_meant_is_refused_with_its_line() {
        let lost = "row 2 (line 4): \" that is fine\" is in no column; write a cell that holds a separator in quotes";
        let rows = read("id,verdict,note\n1,pass,\"a\nb\"\n2,pass,well, that is fine\n3,pass\n");
        assert_eq!(rows, [vec!["1", "pass", "", "a\nb"], vec![lost], vec!["3", "pass", "", ""]]);
        assert_eq!(read("id,verdict,note,\n1,pass,a, b\n")[0].len(), 1, "a column without a name takes nothing in");
        let rows = read(b"id,verdict,note\n1,pass,\xfcber\n2,pass,\xc3\xbcber\n");
        assert!(rows[0][0].starts_with("row 1 (line 2): it is not UTF-8, but perhaps Windows-1252"), "{rows:?}");
        assert_eq!(rows[1], ["2", "pass", "", "über"]);
        let rows = read("id,verdict,note\n1,pass,\n2,fail,\"open\n3,pass,\n");
        assert_eq!(rows[1..], [["row 2 (line 3): a quote in it is not closed; no row after it is read"]]);
    }
}
