//! Checkpoints as a store keeps them, and the values in them.

use super::super::super::super::plain::{Plain, object};
use super::super::super::room::ValueRoom;
use super::super::super::rows::{MAX_NAME, row_query};
use super::super::branches::{Point, link};
use super::super::messages::with_messages;
use super::super::packed::unpack;
use super::super::unread::{UnreadValues, room};
use super::{Checkpoint, MAX_METADATA, of};
use crate::source::sqlite::{Database, own};
use stepscope_base::json::Tape;

/// Reads the places of the checkpoints of a thread.
pub(in crate::source::gathered::stores::langgraph) fn points(
    database: &Database,
    rows: &[i64],
) -> rusqlite::Result<Vec<Point>> {
    let Some(table) = database.table("checkpoints")? else { return Ok(Vec::new()) };
    let short = |name: &str, most: usize| {
        let column = table.column(name);
        format!("CASE WHEN length({column}) <= {most} THEN {column} END")
    };
    let names = ["checkpoint_ns", "checkpoint_id", "parent_checkpoint_id"].map(|name| short(name, MAX_NAME));
    let sql = format!(
        "SELECT {}, {} FROM {} WHERE rowid = ?1",
        names.join(", "),
        short("metadata", MAX_METADATA),
        table.name()
    );
    let mut statement = database.connection().prepare(&sql)?;
    let (mut points, mut tape) = (Vec::new(), Tape::default());
    for row in rows {
        let mut found = statement.query([row])?;
        let Some(cells) = found.next()? else { continue };
        let metadata = own(cells, 3).bytes();
        let told = tape.parse(&metadata);
        let of = |value: Option<stepscope_base::json::Value<'_>>| {
            value.and_then(stepscope_base::json::Value::string).map_or_else(Vec::new, |text| text.bytes().to_vec())
        };
        points.push(Point {
            row: *row,
            space: own(cells, 0).bytes(),
            id: own(cells, 1).bytes(),
            parent: own(cells, 2).text().filter(|parent| !parent.is_empty()),
            outer: of(told.and_then(|told| told.get("parents")?.get(""))),
            source: of(told.and_then(|told| told.get("source"))),
            ..Point::default()
        });
    }
    link(&mut points);
    Ok(points)
}

/// Reads a checkpoint, and how many bytes it has.
pub(in crate::source::gathered::stores::langgraph) fn read(
    database: &Database,
    row: i64,
    may_unpack: bool,
    unread: &mut UnreadValues,
) -> rusqlite::Result<(Checkpoint, usize)> {
    let none = || Checkpoint { row, ..Checkpoint::default() };
    let Some(sql) = row_query(database, "checkpoints", &["type", "checkpoint", "metadata"])? else {
        return Ok((none(), 0));
    };
    let mut statement = database.connection().prepare(&sql)?;
    let mut found = statement.query([row])?;
    let Some(cells) = found.next()? else { return Ok((none(), 0)) };
    let metadata = own(cells, 2).text().filter(|text| text.len() <= MAX_METADATA);
    let metadata = metadata.and_then(|text| room().json(&text)).unwrap_or_else(Plain::null);
    if !may_unpack {
        return Ok((Checkpoint { metadata, ..none() }, 0));
    }
    let bytes = own(cells, 1).bytes();
    let kind = own(cells, 0).text();
    let told = value(kind.as_deref(), &bytes, &mut room(), unread);
    Ok((of(row, told.unwrap_or_else(Plain::null), metadata), bytes.len()))
}

/// Reads a value by the way in which it is kept; `None`: it is not read, which is counted.
pub(in crate::source::gathered::stores::langgraph) fn value(
    kind: Option<&[u8]>,
    bytes: &[u8],
    room: &mut ValueRoom,
    unread: &mut UnreadValues,
) -> Option<Plain> {
    let read = match kind {
        Some(b"msgpack") => unpack(bytes, room),
        Some(b"json") => room.json(bytes).map(with_messages),
        None if bytes.trim_ascii_start().first() == Some(&b'{') => room.json(bytes).map(with_messages),
        Some(b"null") | None => Some(Plain::null()),
        Some(b"bytes" | b"bytearray") => {
            Some(object([("bytes", Some(Plain::Raw(bytes.len().to_string().into_bytes())))]))
        }
        Some(kind) => {
            const MAX_KIND: usize = 40;
            let kind = kind.get(..MAX_KIND).unwrap_or(kind).to_vec();
            if unread.kinds.len() < 64 || unread.kinds.contains_key(&kind) {
                *unread.kinds.entry(kind).or_default() += 1;
            }
            return None;
        }
    };
    unread.broken += usize::from(read.is_none());
    read
}
