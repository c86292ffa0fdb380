//! The footer of a table, read ahead: the library follows its schema as deep as it goes, makes room for as many columns as
//! it names, and gives each the names of all that it is in.

use super::thrift::{Next, ThriftReader};
use crate::source::columns::room_for;
use crate::source::magic::PARQUET;

/// Number of bytes of a longest footer: the library needs many times as much.
const MAX_FOOTER: usize = 8 << 20;
/// Number of columns, nested ones counted.
const MAX_FIELDS: usize = 16_384;
/// Depth of the deepest column.
const MAX_DEPTH: usize = 64;
const DAMAGED: &str = "its footer is damaged";
const FIELDS: &str = "its columns are too many, nested too deeply or their names too long";

/// Tells why a table with such a footer is not read.
pub(super) fn check(table: &[u8]) -> Result<(), &'static str> {
    let footer = table.strip_suffix(PARQUET).and_then(|table| {
        let (table, len) = table.split_last_chunk()?;
        table.get(table.len().checked_sub(u32::from_le_bytes(*len) as usize)?..)
    });
    // Where there is none the library has its own words.
    let Some(footer) = footer else { return Ok(()) };
    if footer.len() > MAX_FOOTER {
        return Err("its footer is too long; write it in several files");
    }
    let (mut reader, mut id) = (ThriftReader { rest: footer }, 0);
    while let Next::Field(kind) = reader.field(&mut id).ok_or(DAMAGED)? {
        match (id, kind) {
            (2, 9) => schema(&mut reader, room_for(table.len()))?,
            (2, _) => return Err(DAMAGED),
            _ => reader.skip(kind, 0).ok_or(DAMAGED)?,
        }
    }
    Ok(())
}

/// Reads the columns, each followed by what is in it; `room` is what all their names may take.
fn schema(reader: &mut ThriftReader<'_>, mut room: usize) -> Result<(), &'static str> {
    let (kind, count) = reader.list().ok_or(DAMAGED)?;
    if kind != 12 || count > MAX_FIELDS {
        return Err(if count > MAX_FIELDS { FIELDS } else { DAMAGED });
    }
    // What is still to come in each of those that it is in, and the bytes of all their names.
    let mut within: Vec<(usize, usize)> = Vec::new();
    for n in 0..count {
        let (name, children) = column(reader).ok_or(DAMAGED)?;
        let above = within.last().map_or(0, |(_, names)| *names);
        match within.last_mut() {
            Some((left, _)) => *left -= 1,
            None if n > 0 => return Err(DAMAGED),
            None => {}
        }
        let names = above + name;
        room = room.checked_sub(names).ok_or(FIELDS)?;
        if children > count - n - 1 {
            return Err(DAMAGED);
        }
        within.push((children, names));
        if within.len() > MAX_DEPTH {
            return Err(FIELDS);
        }
        while within.pop_if(|(left, _)| *left == 0).is_some() {}
    }
    Ok(())
}

/// Returns the length of a column's name, and the number of those that are in it.
fn column(reader: &mut ThriftReader<'_>) -> Option<(usize, usize)> {
    let (mut id, mut name, mut children) = (0, 0, 0);
    while let Next::Field(kind) = reader.field(&mut id)? {
        match (id, kind) {
            (4, 8) => name = reader.text()?,
            (5, 5) => children = usize::try_from(reader.zigzag()?).ok()?,
            (4 | 5, _) => return None,
            _ => reader.skip(kind, 0)?,
        }
    }
    Some((name, children))
}
