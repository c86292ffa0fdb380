//! Rows of a table by the record that they belong to. Their values are read later, row by row.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::super::plain::Plain;
use super::run_lines::{MAX_RECORDS, MAX_ROWS, RunLines};
use crate::source::sqlite::{self, CellValue, Database, own};

/// A longer name of a record is not read.
pub(super) const MAX_NAME: usize = 1024;

/// Rows that belong to one record, by their numbers, in the order in which they count.
pub(super) struct RowGroup {
    /// Values of the columns that name the record; nothing for a name that is too long.
    pub key: Vec<CellValue>,
    pub rows: Vec<i64>,
}

impl RowGroup {
    /// Returns a name that no other record of the table has.
    pub(super) fn name(&self) -> u64 {
        named(&self.key)
    }
}

pub(super) fn named(key: &[CellValue]) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{key:?}").hash(&mut hasher);
    hasher.finish()
}

/// A row, and the value by which it is put in order.
type Ordered = (i64, CellValue);

/// The name of a record, and its rows as they come.
type Unordered = (Vec<CellValue>, Vec<Ordered>);

/// Collects the rows of a table by the record that `keys` name; in order of a column, and of those that are the same, of
/// their numbers. Values are read later, row by row: sorting a table would hold all of it in memory.
pub(super) fn groups(
    database: &Database,
    name: &str,
    keys: &[&str],
    order: &str,
    lines: &mut RunLines,
) -> rusqlite::Result<Vec<RowGroup>> {
    let Some(table) = database.table(name)? else { return Ok(Vec::new()) };
    let short = |key: &&str| {
        let column = table.column(key);
        format!("CASE WHEN length({column}) <= {MAX_NAME} THEN {column} END")
    };
    let columns: Vec<String> = keys.iter().chain([&order]).map(short).collect();
    let sql = format!("SELECT rowid, {} FROM {}", columns.join(", "), table.name());
    let (mut places, mut all): (HashMap<u64, usize>, Vec<Unordered>) = (HashMap::new(), Vec::new());
    let mut statement = database.connection().prepare(&sql)?;
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if count > MAX_ROWS {
            lines.rows_left_out += 1;
            continue;
        }
        let key: Vec<CellValue> = (0..keys.len()).map(|at| own(row, at + 1)).collect();
        let name = named(&key);
        if places.len() >= MAX_RECORDS && !places.contains_key(&name) {
            lines.rows_left_out += 1;
            continue;
        }
        let place = *places.entry(name).or_insert_with(|| {
            all.push((key, Vec::new()));
            all.len() - 1
        });
        if let Some((_, rows)) = all.get_mut(place) {
            rows.push((row.get(0)?, own(row, keys.len() + 1)));
        }
    }
    let in_order = |(key, mut rows): Unordered| {
        rows.sort_by(|(a, first), (b, next)| first.in_order(next).then(a.cmp(b)));
        RowGroup { key, rows: rows.into_iter().map(|(row, _)| row).collect() }
    };
    // An index may have given them in the order of their names.
    all.sort_by_key(|(_, rows)| rows.iter().map(|(row, _)| *row).min());
    Ok(all.into_iter().map(in_order).collect())
}

/// Query for columns of one row of a table.
pub(super) fn row_query(database: &Database, name: &str, columns: &[&str]) -> rusqlite::Result<Option<String>> {
    let list = |table: sqlite::Table| {
        let columns: Vec<String> = columns.iter().map(|column| table.column(column)).collect();
        format!("SELECT {} FROM {} WHERE rowid = ?1", columns.join(", "), table.name())
    };
    Ok(database.table(name)?.map(list))
}

/// Returns the name that a cell is.
pub(super) fn name_of(cell: &CellValue) -> Option<Plain> {
    cell.clone().text().map(Plain::Text)
}
