//! The headers of a column's pages, read ahead: the library makes room for what they promise, so what they promise is
//! looked at first. The headers are Thrift structures in its compact form.

/// Size of a value of a dictionary in the library, in bytes, in addition to its text.
const DICTIONARY_VALUE: usize = 32;
/// Depth of the deepest structure in a header.
const MAX_DEPTH: usize = 8;
/// Each value is made of the one before it, so that few bytes can make very long values.
const DELTA_BYTE_ARRAY: i64 = 7;
/// Encoding that has the lengths of all values in front of them, so that few bytes can promise very many.
const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;

/// Part of a page header that matters here.
#[derive(Default)]
struct Header {
    uncompressed: i64,
    compressed: i64,
    encoding: i64,
    /// Number of values of a page of data, nulls counted too.
    values: i64,
    /// Number of values of a dictionary.
    dictionary: i64,
    is_dictionary: bool,
}

/// Sizes of a column chunk once it is decoded, as far as the headers of its pages say.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct ChunkSize {
    /// Bytes of all its pages.
    pub(super) all: usize,
    /// Bytes of its dictionary, which stays while its pages come and go.
    pub(super) dictionary: usize,
    /// Bytes of its largest page.
    pub(super) page: usize,
}

impl ChunkSize {
    /// Adds the sizes of a column that is read at the same time.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            all: self.all.saturating_add(other.all),
            dictionary: self.dictionary.saturating_add(other.dictionary),
            page: self.page.saturating_add(other.page),
        }
    }
}

/// Reads the sizes of a column chunk of whose pages each value takes so many bytes besides; `Err`: the reason why it is
/// not read.
pub(super) fn size(mut chunk: &[u8], value: usize) -> Result<ChunkSize, &'static str> {
    let mut sizes = ChunkSize::default();
    while !chunk.is_empty() {
        let mut reader = HeaderReader { rest: chunk };
        let header = reader.header().ok_or("a page header is damaged")?;
        let size = |number: i64| usize::try_from(number).map_err(|_| "a page has a negative size");
        if matches!(header.encoding, DELTA_BYTE_ARRAY | DELTA_LENGTH_BYTE_ARRAY) {
            return Err("its strings are stored as differences (DELTA_BYTE_ARRAY); write it again with pandas");
        }
        let values = size(header.dictionary)?.saturating_mul(DICTIONARY_VALUE);
        let values = values.saturating_add(size(header.values)?.saturating_mul(value));
        let bytes = size(header.uncompressed)?.saturating_add(values);
        sizes.all = sizes.all.saturating_add(bytes);
        if header.is_dictionary {
            sizes.dictionary = sizes.dictionary.saturating_add(bytes);
        } else {
            sizes.page = sizes.page.max(bytes);
        }
        chunk = size(header.compressed).ok().and_then(|len| reader.rest.get(len..)).ok_or("a page is cut off")?;
    }
    Ok(sizes)
}

/// Next item in a structure.
enum Next {
    /// A field of this kind.
    Field(u8),
    End,
}

struct HeaderReader<'a> {
    rest: &'a [u8],
}

impl HeaderReader<'_> {
    fn header(&mut self) -> Option<Header> {
        let mut header = Header::default();
        let mut id = 0;
        while let Next::Field(kind) = self.field(&mut id)? {
            match id {
                2 if kind == 5 => header.uncompressed = self.zigzag()?,
                3 if kind == 5 => header.compressed = self.zigzag()?,
                5 | 8 if kind == 12 => {
                    [header.values, header.encoding] = self.numbers([1, if id == 5 { 2 } else { 4 }])?;
                }
                7 if kind == 12 => {
                    [header.dictionary] = self.numbers([1])?;
                    header.is_dictionary = true;
                }
                _ => self.skip(kind, 0)?,
            }
        }
        Some(header)
    }

    /// Reads the numbers in the fields `wanted` of a structure.
    fn numbers<const N: usize>(&mut self, wanted: [i64; N]) -> Option<[i64; N]> {
        let (mut id, mut numbers) = (0, [0; N]);
        while let Next::Field(kind) = self.field(&mut id)? {
            match numbers.iter_mut().zip(wanted).find(|(_, wanted)| *wanted == id && kind == 5) {
                Some((number, _)) => *number = self.zigzag()?,
                None => self.skip(kind, 1)?,
            }
        }
        Some(numbers)
    }

    /// Reads the next item; the number of a field goes to `id`.
    fn field(&mut self, id: &mut i64) -> Option<Next> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(Next::End);
        }
        *id = match byte >> 4 {
            0 => self.zigzag()?,
            step => id.checked_add(i64::from(step))?,
        };
        Some(Next::Field(byte & 0xf))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let len = usize::try_from(self.varint()?).ok()?;
                self.pass(len)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // Items take at least a byte, but for truth values, which take one too inside of lists.
                (count <= self.rest.len() as u64 && depth < MAX_DEPTH).then_some(())?;
                let item = if head & 0xf <= 2 { 3 } else { head & 0xf };
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

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn pass(&mut self, len: usize) -> Option<()> {
        self.rest = self.rest.get(len..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
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

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a page header with these sizes and this encoding, for a data page of the first version.
    fn header(uncompressed: u8, compressed: u8, encoding: u8) -> Vec<u8> {
        let zigzag = |n: u8| n << 1;
        // type 0, sizes, crc left out, data page header: values, encoding, a structure of statistics; the end.
        vec![0x15, 0, 0x15, zigzag(uncompressed), 0x15, zigzag(compressed), 0x2c, 0x15, 2, 0x15, zigzag(encoding), 0, 0]
    }

    #[test]
    fn what_headers_promise_is_looked_at() {
        let page = |header: Vec<u8>, body: usize| [header, vec![7; body]].concat();
        let sizes = |all, dictionary, page| Ok(ChunkSize { all, dictionary, page });
        let pages = [page(header(60, 3, 0), 3), page(header(1, 0, 8), 0)].concat();
        assert_eq!(size(&pages, 0), sizes(61, 0, 60));
        assert_eq!(size(&pages, 48), sizes(61 + 2 * 48, 0, 60 + 48), "each has a value");
        assert!(size(&page(header(1, 4, 0), 3), 0).unwrap_err().contains("cut off"));
        for encoding in [DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY] {
            let page = page(header(1, 0, encoding as u8), 0);
            assert!(size(&page, 0).unwrap_err().contains("DELTA_BYTE_ARRAY"));
        }
        // 2 GB, and a negative size.
        let sized = |bytes: &[u8]| [&[0x15, 0, 0x15][..], bytes, &[0x15, 0, 0]].concat();
        assert_eq!(size(&sized(&[0xfe, 0xff, 0xff, 0xff, 0x0f]), 0), sizes((1 << 31) - 1, 0, (1 << 31) - 1));
        assert!(size(&sized(&[0x01]), 0).unwrap_err().contains("negative"));
        // A dictionary of 60 values in a page of one byte.
        let dictionary = [0x15, 4, 0x15, 2, 0x15, 0, 0x4c, 0x15, 120, 0x15, 0, 0, 0];
        let bytes = 1 + 60 * DICTIONARY_VALUE;
        assert_eq!(size(&[&dictionary[..], &pages].concat(), 0), sizes(bytes + 61, bytes, 60));
    }

    #[test]
    fn damaged_headers_are_told_and_end() {
        for bytes in [&[0x15][..], &[0x1c; 400], &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07], &[0x18, 0xff, 0x7f]] {
            assert!(size(bytes, 0).unwrap_err().contains("damaged"));
        }
    }
}
