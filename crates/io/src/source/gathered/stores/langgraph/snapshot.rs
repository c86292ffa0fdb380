//! A checkpoint: the values of a graph's channels, which nodes had seen which of them, and what is said of it.

use std::collections::HashSet;

use super::super::super::plain::{Members, Plain, object};
use super::super::room::ValueRoom;
use super::super::rows::{MAX_NAME, row_query};
use super::branches::{Point, link};
use super::messages::with_messages;
use super::packed::unpack;
use super::unread::{UnreadValues, room};
use crate::source::sqlite::{Database, own};
use stepscope_base::json::Tape;

/// Longer notes on a checkpoint are not read.
const MAX_METADATA: usize = 4 << 20;
/// Number of variables and nodes of a graph that are looked at. Real ones have a few dozen.
pub(super) const MAX_VARIABLES: usize = 1_000;
/// Beginnings of the names of channels that are the program's own.
const OWN: [&[u8]; 4] = [b"branch:", b"join:", b"start:", b"__"];
/// Variable of a graph whose state is one value.
const ROOT: &[u8] = b"__root__";

/// A checkpoint, as far as it is read.
#[derive(Default)]
pub(super) struct Checkpoint {
    pub row: i64,
    /// Variables; channels of the program itself are left out.
    pub values: Members,
    /// Variables that it was given, if it is an input.
    pub input: Members,
    /// Tasks that were sent to nodes, each with the node and its argument.
    pub sent: Vec<Plain>,
    pub metadata: Plain,
    /// The nodes, each with the versions of the channels that it had seen.
    pub seen: Members,
    /// Variables that are stored here and else only as changes.
    pub snapshots: Vec<Vec<u8>>,
    /// Variables of which only the changes are kept here.
    pub changes_only: Vec<Vec<u8>>,
    pub saved: Option<Plain>,
}

impl Checkpoint {
    /// Returns what made it.
    pub(super) fn source(&self) -> Vec<u8> {
        self.metadata.get("source").map_or_else(Vec::new, Plain::as_text)
    }

    /// Tells whether a node may be one of those that made it, as older versions list them.
    pub(super) fn may_be_of(&self, node: &[u8]) -> bool {
        let Some(Plain::Object(members)) = self.metadata.get("writes") else { return true };
        members.iter().any(|(name, _)| name == node)
    }

    /// Returns the number of the superstep behind it.
    pub(super) fn step_after(&self) -> Plain {
        let step = self.metadata.get("step").map(Plain::json);
        let step = step.and_then(|step| std::str::from_utf8(&step).ok()?.parse::<i64>().ok());
        step.and_then(|step| step.checked_add(1))
            .map_or_else(Plain::null, |step| Plain::Raw(step.to_string().into_bytes()))
    }
}

/// Tells whether a channel is a variable.
pub(super) fn is_variable(name: &[u8]) -> bool {
    name == ROOT || !OWN.iter().any(|own| name.starts_with(own))
}

/// Reads the places of the checkpoints of a thread.
pub(super) fn points(database: &Database, rows: &[i64]) -> rusqlite::Result<Vec<Point>> {
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
pub(super) fn read(
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

fn of(row: i64, told: Plain, metadata: Plain) -> Checkpoint {
    let mut snapshot = Checkpoint { row, metadata, saved: told.get("ts").cloned(), ..Checkpoint::default() };
    let Plain::Object(members) = told else { return snapshot };
    for (key, value) in members {
        match (key.as_slice(), value) {
            (b"channel_values", Plain::Object(values)) => {
                for (name, value) in values {
                    match name.as_slice() {
                        b"__start__" => snapshot.input = given(value),
                        b"__pregel_tasks" => snapshot.sent.extend(value.items().iter().cloned()),
                        // The channel of a node in older versions.
                        _ if value.text() == Some(&name) => {}
                        _ if is_variable(&name) && snapshot.values.len() < MAX_VARIABLES => {
                            snapshot.values.push((name, value))
                        }
                        _ => {}
                    }
                }
            }
            (b"versions_seen", Plain::Object(seen)) => {
                snapshot.seen = seen;
                snapshot.seen.truncate(MAX_VARIABLES);
            }
            // Tasks of older versions.
            (b"pending_sends", Plain::List(sent)) => snapshot.sent.extend(sent),
            _ => {}
        }
    }
    let counted = match snapshot.metadata.get("counters_since_delta_snapshot") {
        Some(Plain::Object(members)) => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    };
    let stored: HashSet<&[u8]> = snapshot.values.iter().map(|(name, _)| name.as_slice()).collect();
    let is_stored = |name: &Vec<u8>| stored.contains(name.as_slice());
    let counted: Vec<Vec<u8>> = counted;
    (snapshot.snapshots, snapshot.changes_only) = counted.into_iter().partition(is_stored);
    snapshot
}

/// Returns the variables that a graph was given.
fn given(value: Plain) -> Members {
    match value {
        Plain::Object(members) => members.into_iter().filter(|(name, _)| is_variable(name)).collect(),
        value if value.is_null() => Members::new(),
        value => vec![(b"input".to_vec(), value)],
    }
}

/// Reads a value by the way in which it is kept; `None`: it is not read, which is counted.
pub(super) fn value(
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
