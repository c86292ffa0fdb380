//! Cells of a row, owned. Types are read by value, whatever the columns declare.

use std::cmp::Ordering;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

use super::Database;
use stepscope_base::json::whole_float;

/// A value of a row, owned.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum CellValue {
    Null,
    Int(i64),
    Float(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl CellValue {
    pub(crate) fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(n) => Self::Int(n),
            ValueRef::Real(x) => Self::Float(x),
            ValueRef::Text(text) => Self::Text(text.to_vec()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }

    /// Converts the value to text; nothing for null.
    pub(crate) fn text(self) -> Option<Vec<u8>> {
        (self != Self::Null).then(|| self.bytes())
    }

    /// Returns the bytes of the value as text; none for null.
    pub(crate) fn bytes(self) -> Vec<u8> {
        match self {
            Self::Null => Vec::new(),
            Self::Int(n) => n.to_string().into_bytes(),
            Self::Float(x) => format!("{x:?}").into_bytes(),
            Self::Text(text) | Self::Blob(text) => text,
        }
    }

    /// Compares two values as the database sorts them: numbers before texts, texts by their bytes.
    pub(crate) fn in_order(&self, other: &Self) -> Ordering {
        let number = |cell: &Self| match cell {
            Self::Int(n) => Some(*n as f64),
            Self::Float(x) => Some(*x),
            _ => None,
        };
        let rank = |cell: &Self| match cell {
            Self::Null => 0,
            Self::Int(_) | Self::Float(_) => 1,
            Self::Text(_) => 2,
            Self::Blob(_) => 3,
        };
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) => a.cmp(b),
            _ => rank(self)
                .cmp(&rank(other))
                .then_with(|| number(self).unwrap_or(0.0).total_cmp(&number(other).unwrap_or(0.0))),
        }
    }

    /// Returns a whole number, whatever it is stored as.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Float(x) => whole_float(*x),
            Self::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            Self::Null | Self::Blob(_) => None,
        }
    }
}

impl ToSql for CellValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(n) => ValueRef::Integer(*n),
            Self::Float(x) => ValueRef::Real(*x),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Takes a cell of a row; null where there is none.
pub(crate) fn own(row: &Row<'_>, column: usize) -> CellValue {
    row.get_ref(column).map_or(CellValue::Null, CellValue::of)
}

/// Shows the rows of a query, each found in so much time, until `each` says that it is enough: false then.
pub(crate) fn each_row(
    database: &Database,
    sql: &str,
    pace: Duration,
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
) -> rusqlite::Result<bool> {
    let mut statement = database.connection().prepare(sql)?;
    let mut rows = statement.raw_query();
    loop {
        database.allow(pace);
        let Some(row) = rows.next()? else { return Ok(true) };
        if !each(row)? {
            return Ok(false);
        }
    }
}
