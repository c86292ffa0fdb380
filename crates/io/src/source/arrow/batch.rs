//! A batch of rows: which bytes are the values of which column. Places in the buffers are looked at when a value is asked
//! for: nothing that a file says of itself is believed.

use std::rc::Rc;

use ::parquet::data_type::ByteArray;
use bytes::Bytes;

use super::flat::{Flat, sizes};
use super::schema::{ArrowField, ArrowKind, Extension, IntKind, MAX_DEPTH};
use super::{CUT, DAMAGED, Dictionaries};
use crate::source::columns::{Cell, TOO_LARGE, is_said_by_null, json_key};
use crate::source::times::TimeKind;

/// Compression of a batch's buffers.
#[derive(Clone, Copy)]
enum BufferCodec {
    Lz4,
    Zstd,
}

/// The values of a column in a batch, or of what is in it.
#[derive(Debug)]
pub(super) struct ArrowArray {
    len: usize,
    /// A bit for each value that is there; empty: all are.
    valid: Bytes,
    values: ArrowValues,
    extension: Option<Extension>,
    /// Nesting depth, dictionaries counted.
    depth: usize,
}

#[derive(Debug)]
enum ArrowValues {
    None,
    Bools(Bytes),
    Ints(Bytes, IntKind),
    Times(Bytes, IntKind, TimeKind),
    Floats(Bytes, usize),
    Decimals { digits: Bytes, size: usize, scale: i32 },
    Texts { places: Bytes, wide: bool, bytes: Bytes },
    Views { views: Bytes, buffers: Vec<Bytes> },
    FixedBytes { bytes: Bytes, size: usize },
    Lists { places: Bytes, sizes: Option<Bytes>, wide: bool, items: Box<ArrowArray>, is_map: bool },
    Fixed(usize, Box<ArrowArray>),
    Objects(Vec<(String, ArrowArray)>),
    Numbered { places: Bytes, int: IntKind, dictionary: Rc<Vec<ArrowArray>> },
}

/// A batch while its columns are taken out, in the order of the schema.
pub(super) struct ArrowBatch<'a> {
    /// Number of rows.
    pub(super) rows: usize,
    nodes: std::slice::Iter<'a, [u8; 16]>,
    buffers: std::slice::Iter<'a, [u8; 16]>,
    views: std::slice::Iter<'a, [u8; 8]>,
    codec: Option<BufferCodec>,
    body: Bytes,
    dictionaries: &'a Dictionaries,
    /// Number of bytes that may still be unpacked.
    room: &'a mut usize,
}

impl<'a> ArrowBatch<'a> {
    pub(super) fn of(
        flat: Flat<'a>,
        body: Bytes,
        dictionaries: &'a Dictionaries,
        room: &'a mut usize,
    ) -> Result<Self, &'static str> {
        let rows = usize::try_from(flat.long(0).unwrap_or(0)).map_err(|_| DAMAGED)?;
        let codec = match flat.table(3).map(|compression| compression.byte(0).unwrap_or(0)) {
            None => None,
            Some(0) => Some(BufferCodec::Lz4),
            Some(1) => Some(BufferCodec::Zstd),
            Some(_) => return Err("its compression is unknown; write it with lz4 or zstd"),
        };
        let nodes = flat.pairs(1).unwrap_or_default().iter();
        let buffers = flat.pairs(2).unwrap_or_default().iter();
        let views = flat.longs(4).unwrap_or_default().iter();
        Ok(Self { rows, nodes, buffers, views, codec, body, dictionaries, room })
    }

    /// Passes over a column.
    pub(super) fn skip(&mut self, field: &ArrowField) -> Result<(), &'static str> {
        let kind = field.dictionary.map_or(field.kind, |(_, int)| ArrowKind::Int(int));
        self.nodes.next().ok_or(DAMAGED)?;
        let views = if kind == ArrowKind::Views { self.more_views()? } else { 0 };
        let buffers = kind.buffers().saturating_add(views);
        if buffers > self.buffers.len() {
            return Err(DAMAGED);
        }
        self.buffers.by_ref().take(buffers).for_each(drop);
        let children = if field.dictionary.is_some() { &[] } else { field.children.as_slice() };
        children.iter().try_for_each(|child| self.skip(child))
    }

    /// Takes a column out, all of which can be read.
    pub(super) fn column(&mut self, field: &ArrowField) -> Result<ArrowArray, &'static str> {
        let array = self.array(field)?;
        if array.len == self.rows { Ok(array) } else { Err(DAMAGED) }
    }

    fn array(&mut self, field: &ArrowField) -> Result<ArrowArray, &'static str> {
        self.values(field, field.dictionary)
    }

    /// Takes out the values of a field, or their numbers in a dictionary.
    pub(super) fn values(
        &mut self,
        field: &ArrowField,
        dictionary: Option<(i64, IntKind)>,
    ) -> Result<ArrowArray, &'static str> {
        let (len, _) = self.nodes.next().and_then(|node| sizes(*node)).ok_or(DAMAGED)?;
        let kind = dictionary.map_or(field.kind, |(_, int)| ArrowKind::Int(int));
        let valid = if kind == ArrowKind::Null { Bytes::new() } else { self.buffer()? };
        let child = |batch: &mut Self| batch.array(field.children.first().ok_or(DAMAGED)?).map(Box::new);
        let values = match (kind, dictionary) {
            (_, Some((id, int))) => {
                let dictionary = self.dictionaries.get(&id).ok_or("a dictionary of it is missing")?.clone();
                ArrowValues::Numbered { places: self.buffer()?, int, dictionary }
            }
            (ArrowKind::Null, _) => ArrowValues::None,
            (ArrowKind::Bool, _) => ArrowValues::Bools(self.buffer()?),
            (ArrowKind::Int(int), _) => ArrowValues::Ints(self.buffer()?, int),
            (ArrowKind::Time(int, time), _) => ArrowValues::Times(self.buffer()?, int, time),
            (ArrowKind::Float(bytes), _) => ArrowValues::Floats(self.buffer()?, bytes),
            (ArrowKind::Decimal { bytes, scale }, _) => {
                ArrowValues::Decimals { digits: self.buffer()?, size: bytes, scale }
            }
            (ArrowKind::Bytes { wide }, _) => {
                ArrowValues::Texts { places: self.buffer()?, wide, bytes: self.buffer()? }
            }
            (ArrowKind::FixedBytes(size), _) => ArrowValues::FixedBytes { bytes: self.buffer()?, size },
            (ArrowKind::Views, _) => {
                let more = self.more_views()?;
                if more > self.buffers.len() {
                    return Err(DAMAGED);
                }
                let views = self.buffer()?;
                ArrowValues::Views { views, buffers: (0..more).map(|_| self.buffer()).collect::<Result<_, _>>()? }
            }
            (ArrowKind::List { wide, is_view }, _) => {
                let places = self.buffer()?;
                let sizes = is_view.then(|| self.buffer()).transpose()?;
                ArrowValues::Lists { places, sizes, wide, items: child(self)?, is_map: false }
            }
            (ArrowKind::Map, _) => {
                let places = self.buffer()?;
                ArrowValues::Lists { places, sizes: None, wide: false, items: child(self)?, is_map: true }
            }
            (ArrowKind::Lists(size), _) => ArrowValues::Fixed(size, child(self)?),
            (ArrowKind::Object, _) => {
                let member = |child: &ArrowField| self.array(child).map(|array| (child.name.clone(), array));
                ArrowValues::Objects(field.children.iter().map(member).collect::<Result<_, _>>()?)
            }
            (ArrowKind::Other(..), _) => return Err(DAMAGED),
        };
        let depth = 1 + values.depth();
        // Dictionaries may hold columns of dictionaries before them.
        if depth > 2 * MAX_DEPTH {
            return Err("it is nested too deeply");
        }
        Ok(ArrowArray { len, valid, values, extension: field.extension, depth })
    }

    fn more_views(&mut self) -> Result<usize, &'static str> {
        self.views.next().and_then(|count| usize::try_from(i64::from_le_bytes(*count)).ok()).ok_or(DAMAGED)
    }

    fn buffer(&mut self) -> Result<Bytes, &'static str> {
        let (start, len) = self.buffers.next().and_then(|buffer| sizes(*buffer)).ok_or(DAMAGED)?;
        let end = start.checked_add(len).filter(|end| *end <= self.body.len()).ok_or(CUT)?;
        let bytes = self.body.slice(start..end);
        let Some(codec) = self.codec.filter(|_| len > 0) else { return Ok(bytes) };
        let size = i64::from_le_bytes(*bytes.first_chunk().ok_or(DAMAGED)?);
        let packed = bytes.slice(8..);
        if size == -1 {
            return Ok(packed);
        }
        let size = usize::try_from(size).map_err(|_| DAMAGED)?;
        *self.room = self.room.checked_sub(size).ok_or(TOO_LARGE)?;
        let unpacked = codec.unpack(&packed, size).filter(|unpacked| unpacked.len() == size);
        unpacked.map(Bytes::from).ok_or("a part of it cannot be decompressed")
    }
}

impl BufferCodec {
    /// Unpacks at most so many bytes.
    fn unpack(self, packed: &[u8], size: usize) -> Option<Vec<u8>> {
        use std::io::Read as _;
        match self {
            Self::Zstd => zstd::bulk::decompress(packed, size).ok(),
            Self::Lz4 => {
                let mut bytes = Vec::with_capacity(size);
                let mut frame = lz4_flex::frame::FrameDecoder::new(packed).take(size as u64);
                frame.read_to_end(&mut bytes).ok().map(|_| bytes)
            }
        }
    }
}

impl ArrowValues {
    fn depth(&self) -> usize {
        match self {
            Self::Lists { items, .. } | Self::Fixed(_, items) => items.depth,
            Self::Objects(members) => members.iter().map(|(_, member)| member.depth).max().unwrap_or(0),
            Self::Numbered { dictionary, .. } => dictionary.iter().map(|part| part.depth).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Reads a number of so many bytes at a place.
fn int(bytes: &[u8], row: usize, int: IntKind) -> Option<i128> {
    let start = row.checked_mul(int.bytes)?;
    let own = bytes.get(start..start.checked_add(int.bytes)?)?;
    let mut wide = [0; 16];
    wide.get_mut(..own.len())?.copy_from_slice(own);
    let bits = 128 - 8 * own.len() as u32;
    let number = i128::from_le_bytes(wide);
    Some(if int.signed { number.checked_shl(bits)?.checked_shr(bits)? } else { number })
}

fn bit(bytes: &[u8], row: usize) -> Option<bool> {
    bytes.get(row / 8).map(|byte| byte >> (row % 8) & 1 == 1)
}

/// Reads a place, or a length, of so many bits.
fn place(places: &[u8], wide: bool, row: usize) -> Option<usize> {
    usize::try_from(int(places, row, IntKind { bytes: if wide { 8 } else { 4 }, signed: true })?).ok()
}

/// Returns the offsets where the value of a row begins and ends.
fn range(places: &[u8], wide: bool, row: usize) -> Option<(usize, usize)> {
    let (start, end) = (place(places, wide, row)?, place(places, wide, row.checked_add(1)?)?);
    (start <= end).then_some((start, end))
}

/// Returns the bytes of a row, each of whose values has so many.
fn fixed(bytes: &Bytes, size: usize, row: usize) -> Option<Bytes> {
    let start = row.checked_mul(size)?;
    let end = start.checked_add(size).filter(|end| *end <= bytes.len())?;
    Some(bytes.slice(start..end))
}

/// Reads a text from its view if it has up to twelve bytes, else from a buffer.
fn viewed(views: &Bytes, buffers: &[Bytes], row: usize) -> Option<Bytes> {
    let at = row.checked_mul(16)?;
    let view = views.get(at..at.checked_add(16)?)?;
    let number = |from: usize| Some(i32::from_le_bytes(*view.get(from..)?.first_chunk()?));
    let len = usize::try_from(number(0)?).ok()?;
    if len <= 12 {
        return Some(views.slice(at + 4..at + 4 + len));
    }
    let buffer = buffers.get(usize::try_from(number(8)?).ok()?)?;
    let start = usize::try_from(number(12)?).ok()?;
    let end = start.checked_add(len).filter(|end| *end <= buffer.len())?;
    Some(buffer.slice(start..end))
}

impl Extension {
    /// Makes the value of what it is stored as.
    fn of(self, stored: Cell) -> Cell {
        match (self, stored) {
            (Self::Uuid, Cell::Text(bytes)) => Cell::uuid(bytes.data()).unwrap_or(Cell::Text(bytes)),
            (Self::Json, Cell::Text(bytes)) => Cell::JsonText(bytes),
            (Self::Bool, Cell::Int(n)) => Cell::Bool(n != 0),
            (_, other) => other,
        }
    }
}

impl ArrowArray {
    fn is_there(&self, row: usize) -> Result<bool, &'static str> {
        if row >= self.len {
            return Err(DAMAGED);
        }
        if matches!(self.values, ArrowValues::None) {
            return Ok(false);
        }
        if self.valid.is_empty() { Ok(true) } else { bit(&self.valid, row).ok_or(DAMAGED) }
    }

    /// Finds the array of a row's value and the index in it, which may be in a dictionary.
    fn found(&self, row: usize) -> Result<Option<(&Self, usize)>, &'static str> {
        if !self.is_there(row)? {
            return Ok(None);
        }
        let ArrowValues::Numbered { places, int: kind, dictionary } = &self.values else {
            return Ok(Some((self, row)));
        };
        let mut place = int(places, row, *kind).and_then(|place| usize::try_from(place).ok()).ok_or(DAMAGED)?;
        for part in dictionary.iter() {
            if place < part.len {
                return part.found(place);
            }
            place -= part.len;
        }
        Err(DAMAGED)
    }

    /// Reads a value of a row; `room` is what is left of the bytes that lists and objects may take.
    pub(super) fn cell(&self, row: usize, room: &mut usize) -> Result<Cell, &'static str> {
        let Some((array, row)) = self.found(row)? else { return Ok(Cell::Null) };
        match &array.values {
            ArrowValues::Lists { .. } | ArrowValues::Fixed(..) | ArrowValues::Objects(_) => {
                let mut json = Vec::new();
                array.json(row, &mut json, *room)?;
                *room = room.checked_sub(json.len()).ok_or(TOO_LARGE)?;
                Ok(Cell::Json(json.into()))
            }
            _ => array.leaf(row),
        }
    }

    /// Reads a value that is neither a list nor an object.
    fn leaf(&self, row: usize) -> Result<Cell, &'static str> {
        let text = |bytes: Bytes| Cell::Text(ByteArray::from(bytes));
        let cell = match &self.values {
            ArrowValues::Bools(bits) => bit(bits, row).map(Cell::Bool),
            ArrowValues::Ints(bytes, kind) => int(bytes, row, *kind).map(|number| match i64::try_from(number) {
                Ok(number) => Cell::Int(number),
                Err(_) => Cell::Json(number.to_string().into_bytes().into()),
            }),
            ArrowValues::Times(bytes, kind, time) => {
                int(bytes, row, *kind).map(|number| Cell::time(number as i64, *time))
            }
            ArrowValues::Decimals { digits, size, scale } => fixed(digits, *size, row).map(|digits| {
                let digits: Vec<u8> = digits.iter().rev().copied().collect();
                Cell::decimal(&digits, *scale)
            }),
            ArrowValues::Floats(bytes, 2) => {
                let number = int(bytes, row, IntKind { bytes: 2, signed: false });
                number.map(|bits| Cell::half(bits as u16))
            }
            ArrowValues::Floats(bytes, 4) => {
                let number = int(bytes, row, IntKind { bytes: 4, signed: false });
                number.map(|bits| Cell::Float(f32::from_bits(bits as u32).into()))
            }
            ArrowValues::Floats(bytes, _) => {
                let number = int(bytes, row, IntKind { bytes: 8, signed: false });
                number.map(|bits| Cell::Float(f64::from_bits(bits as u64)))
            }
            ArrowValues::Texts { places, wide, bytes } => {
                let range = range(places, *wide, row).filter(|(_, end)| *end <= bytes.len());
                range.map(|(start, end)| text(bytes.slice(start..end)))
            }
            ArrowValues::FixedBytes { bytes, size } => fixed(bytes, *size, row).map(text),
            ArrowValues::Views { views, buffers } => viewed(views, buffers, row).map(text),
            _ => Some(Cell::Null),
        };
        let cell = cell.ok_or(DAMAGED)?;
        Ok(match self.extension {
            Some(extension) => extension.of(cell),
            None => cell,
        })
    }

    /// Appends a value as JSON, until there are more than so many bytes.
    fn json(&self, row: usize, out: &mut Vec<u8>, most: usize) -> Result<(), &'static str> {
        if out.len() > most {
            return Err(TOO_LARGE);
        }
        let Some((array, row)) = self.found(row)? else {
            out.extend_from_slice(b"null");
            return Ok(());
        };
        match &array.values {
            ArrowValues::Lists { places, sizes, wide, items, is_map } => {
                let range = match sizes {
                    Some(sizes) => place(places, *wide, row).zip(place(sizes, *wide, row)),
                    None => range(places, *wide, row).map(|(start, end)| (start, end - start)),
                };
                let (start, len) = range.ok_or(DAMAGED)?;
                let end = start.checked_add(len).ok_or(DAMAGED)?;
                if *is_map {
                    return items.entries(start..end, out, most);
                }
                items.list(start..end, out, most)
            }
            ArrowValues::Fixed(size, items) => {
                let start = row.checked_mul(*size).ok_or(DAMAGED)?;
                items.list(start..start.checked_add(*size).ok_or(DAMAGED)?, out, most)
            }
            ArrowValues::Objects(members) => {
                out.push(b'{');
                let mut n = 0;
                for (name, member) in members {
                    if member.found(row)?.is_some() || is_said_by_null(name) {
                        json_key(n, name.as_bytes(), out);
                        member.json(row, out, most)?;
                        n += 1;
                    }
                }
                out.push(b'}');
                Ok(())
            }
            _ => {
                array.leaf(row)?.append_json(out);
                Ok(())
            }
        }
    }

    fn list(&self, rows: std::ops::Range<usize>, out: &mut Vec<u8>, most: usize) -> Result<(), &'static str> {
        let start = rows.start;
        out.push(b'[');
        for row in rows {
            if row > start {
                out.push(b',');
            }
            self.json(row, out, most)?;
        }
        out.push(b']');
        Ok(())
    }

    /// Writes the entries of a map; keys that are numbers become texts.
    fn entries(&self, rows: std::ops::Range<usize>, out: &mut Vec<u8>, most: usize) -> Result<(), &'static str> {
        let ArrowValues::Objects(members) = &self.values else { return Err(DAMAGED) };
        let [(_, keys), (_, values)] = members.as_slice() else { return Err(DAMAGED) };
        out.push(b'{');
        for (n, row) in rows.enumerate() {
            let Some((array, at)) = keys.found(row)? else { return Err(DAMAGED) };
            array.leaf(at)?.append_key(n, out).ok_or(DAMAGED)?;
            values.json(row, out, most)?;
        }
        out.push(b'}');
        Ok(())
    }
}
