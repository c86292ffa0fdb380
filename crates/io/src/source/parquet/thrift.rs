//! Thrift in its compact form, as Parquet writes what it says of itself.

/// Depth of the deepest structure that is passed over.
const MAX_DEPTH: usize = 8;

/// Next item in a structure.
pub(super) enum Next {
    /// A field of this kind.
    Field(u8),
    End,
}

/// Reads structures field by field; `None`: they are damaged.
pub(super) struct ThriftReader<'a> {
    pub(super) rest: &'a [u8],
}

impl ThriftReader<'_> {
    /// Reads the numbers in the fields `wanted` of a structure.
    pub(super) fn numbers<const N: usize>(&mut self, wanted: [i64; N]) -> Option<[i64; N]> {
        let (mut id, mut numbers) = (0, [0; N]);
        while let Next::Field(kind) = self.field(&mut id)? {
            match numbers.iter_mut().zip(wanted).find(|(_, wanted)| *wanted == id) {
                Some((number, _)) if kind == 5 => *number = self.zigzag()?,
                Some(_) => return None,
                None => self.skip(kind, 1)?,
            }
        }
        Some(numbers)
    }

    /// Reads the next item; the number of a field goes to `id`.
    pub(super) fn field(&mut self, id: &mut i64) -> Option<Next> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(Next::End);
        }
        *id = match byte >> 4 {
            // Of longer numbers the library takes the lower bits.
            0 => i64::from(self.zigzag()? as i16),
            step => id.checked_add(i64::from(step))?,
        };
        Some(Next::Field(byte & 0xf))
    }

    pub(super) fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => self.text().map(|_| ()),
            9 | 10 => {
                let (item, count) = self.list()?;
                (depth < MAX_DEPTH).then_some(())?;
                let item = if item <= 2 { 3 } else { item };
                (0..count).try_for_each(|_| self.skip(item, depth + 1))
            }
            12 if depth < MAX_DEPTH => {
                let mut id = 0;
                while let Next::Field(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Reads a text, and returns the number of its bytes.
    pub(super) fn text(&mut self) -> Option<usize> {
        let len = usize::try_from(self.varint()?).ok()?;
        self.pass(len).map(|()| len)
    }

    /// Reads the beginning of a list: the kind of its items, and how many there are.
    pub(super) fn list(&mut self) -> Option<(u8, usize)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { usize::try_from(self.varint()?).ok()? } else { usize::from(head >> 4) };
        // Items take at least a byte, but for truth values, which take one too inside of lists.
        (count <= self.rest.len()).then_some((head & 0xf, count))
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn pass(&mut self, len: usize) -> Option<()> {
        self.rest = self.rest.get(len..)?;
        Some(())
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}
