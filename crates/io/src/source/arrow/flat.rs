//! Flatbuffers, as far as Arrow's metadata needs them. Every place in them comes from the file: each is looked at before it
//! is followed, and what leads nowhere is not there.

/// A table of a flatbuffer.
#[derive(Clone, Copy)]
pub(super) struct Flat<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position of the table of its fields' offsets, and the number of bytes that takes.
    fields: usize,
    len: usize,
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn offset(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(u32::from_le_bytes(array(bytes, at)?) as usize)
}

impl<'a> Flat<'a> {
    /// Finds the outermost table.
    pub(super) fn root(bytes: &'a [u8]) -> Option<Self> {
        Self::table_at(bytes, offset(bytes, 0)?)
    }

    fn table_at(bytes: &'a [u8], at: usize) -> Option<Self> {
        let back = i32::from_le_bytes(array(bytes, at)?);
        let fields = usize::try_from(i64::try_from(at).ok()?.checked_sub(i64::from(back))?).ok()?;
        let len = u16::from_le_bytes(array(bytes, fields)?).into();
        Some(Self { bytes, at, fields, len })
    }

    /// Returns the position of a field, if the table has it.
    fn place(self, field: usize) -> Option<usize> {
        let slot = 4 + 2 * field;
        let at = self.fields.checked_add(slot).filter(|_| slot + 2 <= self.len)?;
        let place = u16::from_le_bytes(array(self.bytes, at)?).into();
        if place > 0 { self.at.checked_add(place) } else { None }
    }

    fn number<const N: usize>(self, field: usize) -> Option<[u8; N]> {
        array(self.bytes, self.place(field)?)
    }

    pub(super) fn byte(self, field: usize) -> Option<u8> {
        self.number(field).map(u8::from_le_bytes)
    }

    pub(super) fn short(self, field: usize) -> Option<i16> {
        self.number(field).map(i16::from_le_bytes)
    }

    pub(super) fn int(self, field: usize) -> Option<i32> {
        self.number(field).map(i32::from_le_bytes)
    }

    pub(super) fn long(self, field: usize) -> Option<i64> {
        self.number(field).map(i64::from_le_bytes)
    }

    pub(super) fn table(self, field: usize) -> Option<Self> {
        Self::table_at(self.bytes, offset(self.bytes, self.place(field)?)?)
    }

    /// Finds the items of a vector, of so many bytes each, all of which are there.
    fn vector(self, field: usize, size: usize) -> Option<(usize, &'a [u8])> {
        let at = offset(self.bytes, self.place(field)?)?;
        let count = u32::from_le_bytes(array(self.bytes, at)?) as usize;
        let start = at.checked_add(4)?;
        Some((start, self.bytes.get(start..start.checked_add(count.checked_mul(size)?)?)?))
    }

    pub(super) fn text(self, field: usize) -> Option<&'a [u8]> {
        self.vector(field, 1).map(|(_, bytes)| bytes)
    }

    /// Pairs of numbers of 64 bits.
    pub(super) fn pairs(self, field: usize) -> Option<&'a [[u8; 16]]> {
        self.vector(field, 16).map(|(_, bytes)| bytes.as_chunks().0)
    }

    /// Reads the blocks that locate messages in a file: an offset of 64 bits, and two lengths.
    pub(super) fn blocks(self, field: usize) -> Option<Vec<[u8; 16]>> {
        let (blocks, _) = self.vector(field, 24)?.1.as_chunks::<24>();
        blocks.iter().map(|block| block.first_chunk().copied()).collect()
    }

    /// Numbers of 64 bits.
    pub(super) fn longs(self, field: usize) -> Option<&'a [[u8; 8]]> {
        self.vector(field, 8).map(|(_, bytes)| bytes.as_chunks().0)
    }

    /// Tables, of which any may lead nowhere.
    pub(super) fn tables(self, field: usize) -> impl Iterator<Item = Option<Self>> {
        let (start, places) = self.vector(field, 4).unwrap_or((0, &[]));
        let count = places.len() / 4;
        (0..count).map(move |n| Self::table_at(self.bytes, offset(self.bytes, start + 4 * n)?))
    }
}

/// Reads two numbers of a pair, neither of which may be negative.
pub(super) fn sizes(pair: [u8; 16]) -> Option<(usize, usize)> {
    let number = |bytes: &[u8]| usize::try_from(i64::from_le_bytes(*bytes.first_chunk()?)).ok();
    let (first, second) = pair.split_at(8);
    Some((number(first)?, number(second)?))
}
