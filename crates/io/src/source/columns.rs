//! Columns of tables, whatever format they come in, and how large a table may become.

#[cfg(feature = "tables")]
use ::parquet::data_type::ByteArray;

use crate::failure::Failure;
use crate::source::open::Blob;
use stepscope_base::json::write::{Letters, Style, python_float};
use stepscope_base::json::{Tape, whole_float};
use stepscope_base::shown;
use stepscope_base::text::Untrusted;
use stepscope_record::formats;

#[cfg(not(feature = "tables"))]
mod plain_bytes;
#[cfg(feature = "tables")]
mod typed_cell;

#[cfg(not(feature = "tables"))]
use plain_bytes::PlainBytes as ByteArray;
#[cfg(feature = "tables")]
pub(super) use typed_cell::MAX_DIGITS;

/// A larger table is not read.
const MAX_FILE: u64 = 256 << 20;
/// Number of bytes that the part of a table that is in memory may take once it is decoded, and how much more for each
/// byte of the table: what the file says of itself is checked before anything is decoded.
const ROOM: usize = 12 << 20;
const ROOM_A_BYTE: usize = 8;
/// However large a table is, it takes no more.
const ROOM_MOST: usize = 1 << 30;
/// Number of bytes that all parts together may be decoded to, and how much more for each byte: work has an end too.
const ALL: usize = 64 << 20;
const ALL_A_BYTE: usize = 16;
pub(super) const TOO_LARGE: &str = "it would take far more memory than its size suggests; write it again in smaller groups \
                                    of rows, without empty or repeated ones";
/// Number of columns that are named in one sentence.
pub(super) const NAMED: usize = 20;
pub(super) const READ: &str = "cannot read";
/// Number of rows that are in memory as values, at most.
pub(super) const ROWS: usize = 256;

/// Number of rows that tell what a column holds.
pub(super) const LOOKED_AT: usize = 20;

/// One value of a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text, or bytes.
    Text(ByteArray),
    /// A text of which its column says that it is JSON.
    JsonText(ByteArray),
    /// A text of a table that knows no types.
    Untyped(ByteArray),
    /// A list, an object or a number of another size, as JSON.
    Json(ByteArray),
}

impl Cell {
    /// Returns a whole number, whatever it is stored as.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Self::Null | Self::Json(_) => None,
            Self::Bool(on) => Some((*on).into()),
            Self::Int(n) => Some(*n),
            // Columns with gaps become floats in pandas.
            Self::Float(x) => whole_float(*x),
            Self::Text(text) | Self::JsonText(text) | Self::Untyped(text) => {
                std::str::from_utf8(text.data()).ok()?.trim().parse().ok()
            }
        }
    }

    pub(super) fn append_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(on) => Style::ASCII.append(*on, out),
            Self::Int(n) => Style::ASCII.append(*n, out),
            Self::Float(x) => out.extend_from_slice(python_float(*x).as_bytes()),
            Self::Text(bytes) | Self::Untyped(bytes) => {
                style_of(bytes.data()).append(Untrusted::new(bytes.data()), out);
            }
            Self::JsonText(bytes) => {
                let mut tape = Tape::default();
                match tape.parse(bytes.data()) {
                    Some(root) => style_of(bytes.data()).append(root, out),
                    None => Self::Text(bytes.clone()).append_json(out),
                }
            }
            Self::Json(bytes) => out.extend_from_slice(bytes.data()),
        }
    }

    /// Appends it as the key of a member, which is not the first where `n` is more than 0; `None`: it is nothing.
    pub(super) fn append_key(&self, n: usize, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Null => return None,
            Self::Text(text) | Self::JsonText(text) | Self::Untyped(text) => json_key(n, text.data(), out),
            other => {
                let mut key = Vec::new();
                other.append_json(&mut key);
                json_key(n, &key, out);
            }
        }
        Some(())
    }

    /// Counts the bytes of a text or of JSON.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(bytes) | Self::JsonText(bytes) | Self::Untyped(bytes) | Self::Json(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// Returns the bytes of a text; of another value nothing.
    pub(crate) fn text_or_nothing(&self) -> &[u8] {
        self.text().unwrap_or(b"")
    }

    /// Returns the bytes of a text.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) | Self::JsonText(text) | Self::Untyped(text) => Some(text.data()),
            _ => None,
        }
    }
}

/// Tells whether a key whose value is null is written. Tables give every object the members of all objects of their column,
/// so a null says no more than that there is none.
pub(super) fn is_said_by_null(key: &str) -> bool {
    formats::NULLS.contains(&key)
}

/// Appends the key of a member, which is not the first where `n` is more than 0.
pub(super) fn json_key(n: usize, name: &[u8], out: &mut Vec<u8>) {
    if n > 0 {
        out.push(b',');
    }
    style_of(name).append(Untrusted::new(name), out);
    out.push(b':');
}

/// Returns the style of the JSON of a text, or of JSON in it: bytes that are no UTF-8 stay as they are, and so become a
/// finding of the record.
pub(super) fn style_of(text: &[u8]) -> Style {
    let is_text = std::str::from_utf8(text).is_ok();
    if is_text { Style::ASCII } else { Style { letters: Letters::Canonical, ..Style::ASCII } }
}

/// Some columns of a table, or of a part of its rows.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Number of rows.
    pub rows: usize,
    /// The columns in the order in which they were asked for; `None`: the table has none of that name.
    pub columns: Vec<Option<Vec<Cell>>>,
}

impl Columns {
    /// Returns a value; nothing where there is no such column or row.
    pub(crate) fn cell(&self, column: usize, row: usize) -> &Cell {
        self.columns.get(column).and_then(Option::as_ref).and_then(|column| column.get(row)).unwrap_or(&Cell::Null)
    }

    /// Counts the bytes of the values of a row.
    pub(super) fn len_of(&self, row: usize) -> usize {
        self.columns.iter().flatten().filter_map(|column| column.get(row)).map(Cell::len).sum()
    }

    /// Tells whether the table has the column.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(Option::is_some)
    }
}

/// Part of a column that cannot be read, and the column with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unread {
    /// Keys of the objects that it is in, each with a point before it.
    path: String,
    /// Its type.
    what: &'static str,
}

impl Unread {
    pub(super) const fn new(what: &'static str) -> Self {
        Self { path: String::new(), what }
    }

    /// Returns it as a part of the member of an object.
    pub(super) fn within(self, key: &str) -> Self {
        Self { path: format!(".{key}{}", self.path), ..self }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Its name; of what is nested, that of the whole.
    pub name: String,
    /// Part of it that cannot be read.
    pub unread: Option<Unread>,
}

impl Leaf {
    /// Names it with the type that cannot be read, if there is one.
    pub(super) fn unread_name(&self) -> Option<String> {
        let Unread { path, what } = self.unread.as_ref()?;
        Some(format!("{}{path} ({what})", self.name))
    }
}

/// A table, read part by part.
pub(super) trait RowReader {
    /// Returns its columns.
    fn leaves(&self) -> Vec<Leaf>;

    /// Reads the next rows, with the columns that are wanted, each at its place, which may become fewer; `None`: there are
    /// no more.
    fn next(&mut self, wanted: &[bool]) -> Result<Option<Columns>, Failure>;
}

/// Computes the number of bytes that a part of a table of so many bytes may take once it is decoded.
pub(super) const fn room_for(bytes: usize) -> usize {
    let room = bytes.saturating_mul(ROOM_A_BYTE).saturating_add(ROOM);
    if room < ROOM_MOST { room } else { ROOM_MOST }
}

/// Computes the number of bytes that all its parts may be decoded to, and its records may have.
pub(super) const fn room_for_all(bytes: usize) -> usize {
    bytes.saturating_mul(ALL_A_BYTE).saturating_add(ALL)
}

/// Reads all bytes of a table that is not too large.
pub(super) fn bytes_of(blob: &Blob) -> Result<bytes::Bytes, Failure> {
    let len = blob.len()?;
    if len > MAX_FILE {
        let source = shown!("this table is larger than {} MB; write it in several files", MAX_FILE >> 20);
        return Err(Failure { what: READ, path: blob.name().clone(), source });
    }
    let mut bytes = Vec::new();
    blob.read(0, len as usize, &mut bytes)?;
    Ok(bytes.into())
}

/// Damage to tables, the same in each run.
#[cfg(test)]
pub(super) struct Damage(u32);

#[cfg(test)]
impl Default for Damage {
    fn default() -> Self {
        Self(7)
    }
}

#[cfg(test)]
impl Damage {
    fn random(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % below
    }

    /// Gives a table with a few bytes changed, and now and then its end cut off, 150 times.
    pub(super) fn each(&mut self, sound: &[u8], mut judge: impl FnMut(&[u8])) {
        for round in 0..150 {
            let mut bytes = sound.to_vec();
            for _ in 0..=round % 4 {
                let at = self.random(bytes.len());
                bytes[at] = self.random(256) as u8;
            }
            if round % 10 == 0 {
                bytes.truncate(self.random(sound.len()));
            }
            judge(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_take_no_more_than_so_much_at_once() {
        assert_eq!((room_for(0), room_for(1 << 20), room_for(MAX_FILE as usize)), (12 << 20, 20 << 20, 1 << 30));
        assert!(TOO_LARGE.contains("in smaller groups of rows"));
    }
}
