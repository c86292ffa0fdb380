//! Arrow tables (IPC: streams and files, of which Feather 2 is one), a batch at a time, of which a few rows at a time.
//!
//! A reader of our own: it needs no more of Arrow than values become JSON, and what a file says of itself is held against
//! the size of the file before anything is unpacked.

use std::collections::HashMap;
use std::rc::Rc;

use bytes::Bytes;

use self::batch::{ArrowArray, ArrowBatch};
use self::flat::Flat;
use self::schema::ArrowField;
use crate::failure::Failure;
use crate::source::columns::{Columns, Leaf, READ, ROWS, RowReader, bytes_of, room_for, room_for_all};
use crate::source::magic::{ARROW, MESSAGE};
use crate::source::open::Blob;
use stepscope_base::guard::guarded;
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod batch;
mod flat;
mod schema;

/// A dictionary of more parts is not read.
const MAX_PARTS: usize = 64;
const DAMAGED: &str = "it is damaged";
const CUT: &str = "it is cut off";

type Dictionaries = HashMap<i64, Rc<Vec<ArrowArray>>>;

/// A table whose batches are read one by one.
pub(crate) struct ArrowTable {
    name: Shown,
    bytes: Bytes,
    /// Position of the next message.
    at: usize,
    /// Positions of a file's messages, the last one first. A stream has one after the other.
    blocks: Option<Vec<usize>>,
    /// Number of bytes of metadata there may still be: the same message may be named again and again.
    metadata: usize,
    fields: Vec<ArrowField>,
    dictionaries: Dictionaries,
    /// The batch whose rows are being read.
    open: Option<OpenBatch>,
    /// Bytes that a batch may unpack: what is left next to the dictionaries, which stay.
    room: usize,
    /// Bytes that all batches together may unpack.
    unpacked: usize,
}

/// A batch of which some rows were read.
struct OpenBatch {
    /// Number of rows, and of those that were read.
    rows: usize,
    read: usize,
    /// The columns that are wanted.
    columns: Vec<Option<ArrowArray>>,
}

/// A message: its metadata and what follows.
struct ArrowMessage {
    metadata: Bytes,
    body: Bytes,
}

impl ArrowTable {
    /// Reads which columns a table has.
    pub(crate) fn open(blob: &Blob) -> Result<Self, Failure> {
        let bytes = bytes_of(blob)?;
        let metadata = bytes.len();
        let mut table = Self {
            name: blob.name().clone(),
            bytes,
            at: 0,
            blocks: None,
            metadata,
            fields: Vec::new(),
            dictionaries: Dictionaries::new(),
            open: None,
            room: room_for(metadata),
            unpacked: room_for_all(metadata),
        };
        table.guarded(|table| {
            let is_file = table.bytes.starts_with(ARROW);
            let head = if is_file { table.footer()? } else { table.message()?.ok_or(CUT)?.metadata };
            let flat = Flat::root(&head).ok_or(DAMAGED)?;
            if is_file {
                let all = [2, 3].map(|list| flat.blocks(list).unwrap_or_default());
                let starts = all.concat().into_iter().rev().map(start_of);
                table.blocks = Some(starts.collect::<Option<_>>().ok_or(DAMAGED)?);
            } else if flat.byte(1) != Some(1) {
                return Err(DAMAGED);
            }
            let schema = flat.table(if is_file { 1 } else { 2 }).ok_or(DAMAGED)?;
            if schema.short(0).unwrap_or(0) != 0 {
                return Err("its numbers are big-endian");
            }
            table.fields = schema::fields(schema).ok_or("its columns are damaged, too many or nested too deeply")?;
            Ok(())
        })?;
        Ok(table)
    }

    fn guarded<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, &'static str>) -> Result<T, Failure> {
        let name = self.name.clone();
        let done = guarded(|| read(self)).unwrap_or(Err(DAMAGED));
        done.map_err(|why| Failure { what: READ, path: name, source: shown!("this Arrow table cannot be read: {why}") })
    }

    /// Returns the footer of a file.
    fn footer(&self) -> Result<Bytes, &'static str> {
        let end = self.bytes.len().checked_sub(10).ok_or(CUT)?;
        let tail = &self.bytes[end..];
        let size = tail.first_chunk().map(|size| i32::from_le_bytes(*size)).filter(|_| tail.ends_with(b"ARROW1"));
        let start = usize::try_from(size.ok_or(CUT)?).ok().and_then(|size| end.checked_sub(size)).ok_or(DAMAGED)?;
        slice(&self.bytes, start, end)
    }

    /// Reads the next message; `None`: there are no more.
    fn message(&mut self) -> Result<Option<ArrowMessage>, &'static str> {
        if let Some(blocks) = &mut self.blocks {
            let Some(start) = blocks.pop() else { return Ok(None) };
            self.at = start;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        // Before version 0.15 a message began with its size.
        let head = if rest.starts_with(&MESSAGE) { MESSAGE.len() } else { 0 };
        let size = i32::from_le_bytes(*rest.get(head..).and_then(|rest| rest.first_chunk()).ok_or(CUT)?);
        let start = self.at + head + 4;
        let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size)).ok_or(DAMAGED)?;
        if size == 0 {
            self.at = self.bytes.len();
            return Ok(None);
        }
        let metadata = slice(&self.bytes, start, end)?;
        self.metadata = self.metadata.checked_sub(metadata.len()).ok_or(DAMAGED)?;
        let len = Flat::root(&metadata).ok_or(DAMAGED)?.long(3).unwrap_or(0);
        self.at = usize::try_from(len).ok().and_then(|len| end.checked_add(len)).ok_or(DAMAGED)?;
        Ok(Some(ArrowMessage { metadata, body: slice(&self.bytes, end, self.at)? }))
    }

    fn dictionary(&mut self, flat: Flat<'_>, body: Bytes) -> Result<(), &'static str> {
        let id = flat.long(0).unwrap_or(0);
        let field = self.fields.iter().find_map(|field| field.with_dictionary(id)).ok_or(DAMAGED)?;
        if field.unread().is_some() {
            return Ok(());
        }
        let mut batch = ArrowBatch::of(flat.table(1).ok_or(DAMAGED)?, body, &self.dictionaries, &mut self.room)?;
        // The values themselves stand in it, not their numbers.
        let array = batch.values(field, None)?;
        let parts = Rc::new(vec![array]);
        let is_more = flat.byte(2).unwrap_or(0) != 0;
        match self.dictionaries.get_mut(&id).filter(|_| is_more).and_then(Rc::get_mut) {
            Some(known) if known.len() < MAX_PARTS => known.extend(Rc::into_inner(parts).into_iter().flatten()),
            Some(_) => return Err("a dictionary of it has too many parts"),
            None if is_more => return Err(DAMAGED),
            None => drop(self.dictionaries.insert(id, parts)),
        }
        Ok(())
    }

    fn batch(&mut self, flat: Flat<'_>, body: Bytes, wanted: &[bool]) -> Result<OpenBatch, &'static str> {
        let mut unpacked = self.room.min(self.unpacked);
        let before = unpacked;
        let mut batch = ArrowBatch::of(flat, body, &self.dictionaries, &mut unpacked)?;
        let rows = batch.rows;
        let mut columns = Vec::new();
        for (n, field) in self.fields.iter().enumerate() {
            if !wanted.get(n).is_some_and(|wanted| *wanted && field.unread().is_none()) {
                batch.skip(field)?;
                columns.push(None);
                continue;
            }
            columns.push(Some(batch.column(field)?));
        }
        self.unpacked -= before - unpacked;
        Ok(OpenBatch { rows, read: 0, columns })
    }
}

impl RowReader for ArrowTable {
    fn leaves(&self) -> Vec<Leaf> {
        self.fields.iter().map(|field| Leaf { name: field.name.clone(), unread: field.unread() }).collect()
    }

    fn next(&mut self, wanted: &[bool]) -> Result<Option<Columns>, Failure> {
        self.guarded(|table| {
            loop {
                if let Some(open) = table.open.as_mut().filter(|open| open.read < open.rows) {
                    return open.part(wanted, room_for(table.bytes.len())).map(Some);
                }
                // What it has unpacked makes room for the next.
                table.open = None;
                let Some(message) = table.message()? else { return Ok(None) };
                let flat = Flat::root(&message.metadata).ok_or(DAMAGED)?;
                let header = flat.table(2).ok_or(DAMAGED)?;
                match flat.byte(1) {
                    Some(2) => table.dictionary(header, message.body)?,
                    Some(3) => table.open = Some(table.batch(header, message.body, wanted)?),
                    _ => return Err("a message in it does not belong to a table"),
                }
            }
        })
    }
}

impl OpenBatch {
    /// Reads the next rows; `json`: the bytes that lists and objects may take.
    fn part(&mut self, wanted: &[bool], mut json: usize) -> Result<Columns, &'static str> {
        let rows = self.read..self.rows.min(self.read.saturating_add(ROWS));
        self.read = rows.end;
        let mut columns = Vec::new();
        for (array, wanted) in self.columns.iter().zip(wanted) {
            let array = array.as_ref().filter(|_| *wanted);
            let cells = array.map(|array| rows.clone().map(|row| array.cell(row, &mut json)).collect());
            columns.push(cells.transpose()?);
        }
        Ok(Columns { rows: rows.len(), columns })
    }
}

/// Returns the first number of a block; the message itself tells what follows it.
fn start_of(block: [u8; 16]) -> Option<usize> {
    usize::try_from(i64::from_le_bytes(*block.first_chunk()?)).ok()
}

fn slice(bytes: &Bytes, start: usize, end: usize) -> Result<Bytes, &'static str> {
    if start <= end && end <= bytes.len() { Ok(bytes.slice(start..end)) } else { Err(CUT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::column_map::ColumnMap;
    use crate::source::columns::Damage;
    use crate::source::rows;

    fn stores() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores")
    }

    fn bytes(name: &str) -> Vec<u8> {
        std::fs::read(stores().join("tables").join(name)).unwrap()
    }

    /// Reads the records of a table.
    fn lines(bytes: &[u8]) -> Result<Option<String>, String> {
        let rows = rows::read(&Blob::of_bytes(Shown::own("t"), bytes).unwrap(), &ColumnMap::default(), false);
        rows.map(|rows| rows.map(|rows| rows.text())).map_err(|failure| failure.to_string())
    }

    fn why(bytes: &[u8]) -> String {
        lines(bytes).unwrap_err()
    }

    #[test]
    fn a_table_of_records_is_the_same_whoever_wrote_it() {
        let expected = std::fs::read_to_string(stores().join("keyed.jsonl")).unwrap();
        for name in ["keyed_stream", "keyed_lz4", "keyed_zstd", "keyed_polars"] {
            assert_eq!(lines(&bytes(&format!("{name}.arrow"))).unwrap().unwrap(), expected, "{name}");
        }
        let first = r#"{"steps":["1 + 1 = 2"],"tags":{"a":18446744073709551615,"b":null}}"#;
        let second = r#"{"steps":["1 + 1 = 2"]}"#;
        assert_eq!(lines(&bytes("map.arrow")).unwrap().unwrap(), format!("{first}\n{second}\n"));
    }

    /// Makes a stream of batches of one text, each packed to almost nothing.
    fn packed(text: &[u8], batches: usize) -> Vec<u8> {
        let bomb = Bytes::from(bytes("bomb.arrow"));
        let mut table = ArrowTable::open(&Blob::of_bytes(Shown::own("t"), &bomb).unwrap()).unwrap();
        (table.blocks, table.at, table.metadata) = (None, ARROW.len(), bomb.len());
        table.message().unwrap().unwrap();
        let (schema, start) = (bomb.slice(ARROW.len()..table.at), table.at);
        let old = table.message().unwrap().unwrap();
        let mut batch = bomb[start..start + 8].to_vec();
        let mut metadata = old.metadata.to_vec();
        let places = [0, text.len() as i32].map(i32::to_le_bytes).concat();
        let mut body = [&(-1_i64).to_le_bytes()[..], &places, &(text.len() as i64).to_le_bytes()].concat();
        body.extend(zstd::bulk::compress(text, 3).unwrap());
        let pair = |start: usize, len: usize| [start as i64, len as i64].map(i64::to_le_bytes).concat();
        let header = Flat::root(&old.metadata).unwrap().table(2).unwrap();
        let [_, first, second] = header.pairs(2).unwrap() else { panic!("it has one column of texts") };
        let mut changes = vec![(first.to_vec(), pair(0, 16)), (second.to_vec(), pair(16, body.len() - 16))];
        body.resize(body.len().next_multiple_of(8), 0);
        changes.push(((old.body.len() as i64).to_le_bytes().to_vec(), (body.len() as i64).to_le_bytes().to_vec()));
        for (old, new) in changes {
            let at = metadata.windows(old.len()).position(|window| window == old).unwrap();
            metadata[at..at + new.len()].copy_from_slice(&new);
        }
        batch.extend([metadata, body].concat());
        [schema.to_vec(), batch.repeat(batches)].concat()
    }

    #[test]
    fn what_is_packed_well_needs_room_for_a_batch_alone() {
        let line = format!("{}\n", record(6 << 20));
        let text = line.trim_end().as_bytes();
        let table = packed(text, 4);
        assert!(table.len() < 100_000 && room_for(table.len()) < 4 * text.len(), "{}", table.len());
        assert!(lines(&table).unwrap().unwrap() == line.repeat(4));
        // All batches together have an end too.
        assert!(why(&packed(text, 20)).contains("far more memory than its size suggests"));
        assert!(why(&packed(record(20 << 20).as_bytes(), 1)).contains("far more memory than its size suggests"));
    }

    /// Makes a record of about this size.
    fn record(size: usize) -> String {
        format!("{{\"steps\":[\"1 + 1 = 2\"],\"question\":\"{}\"}}", "x".repeat(size))
    }

    #[test]
    fn what_a_table_says_of_itself_is_looked_at_before_anything_is_unpacked() {
        let bomb = bytes("bomb.arrow");
        assert!(bomb.len() < 100_000, "{}", bomb.len());
        assert!(why(&bomb).contains("far more memory than its size suggests"), "{}", why(&bomb));
        assert!(why(&bytes("deep.arrow")).contains("nested too deeply"));
        let sound = bytes("keyed_stream.arrow");
        assert!(why(&sound[..sound.len() / 2]).contains("it is cut off"));
        // The list of the third row ends before it begins.
        let places: Vec<u8> = [0, 2, 2, 2, 4_i32].into_iter().flat_map(i32::to_le_bytes).collect();
        let at = sound.windows(places.len()).position(|window| window == places).unwrap();
        let turned: Vec<u8> = [0, 2, 4, 2, 4_i32].into_iter().flat_map(i32::to_le_bytes).collect();
        let unordered = [&sound[..at], &turned, &sound[at + turned.len()..]].concat();
        assert!(why(&unordered).contains("it is damaged"), "{}", why(&unordered));
    }

    #[test]
    fn damaged_tables_are_told_and_hurt_nobody() {
        let (mut read_anyway, mut refused) = (0, 0);
        let mut judge = |bytes: &[u8]| match lines(bytes) {
            Ok(rows) => read_anyway += usize::from(rows.is_none_or(|rows| rows.len() < room_for(bytes.len()))),
            Err(why) => {
                assert!(
                    why.starts_with("cannot read t: this Arrow table cannot be read: ") || why.contains("JSON"),
                    "{why}"
                );
                refused += 1;
            }
        };
        // Every number of 32 bits of the metadata and the data, as one that leads away.
        let sound = bytes("keyed_stream.arrow");
        for at in (0..sound.len()).step_by(4) {
            for wrong in [i32::MAX, -1, 0, 1 << 20, 7] {
                let mut bytes = sound.clone();
                bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
                judge(&bytes);
            }
        }
        let mut damage = Damage::default();
        for name in ["keyed_lz4.arrow", "keyed_zstd.arrow", "keyed_polars.arrow", "map.arrow"] {
            damage.each(&bytes(name), &mut judge);
        }
        assert!(refused > 500 && read_anyway > 500, "{refused} {read_anyway}");
    }
}
