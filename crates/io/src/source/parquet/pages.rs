//! The headers of a column's pages, read ahead: the library makes room for what they promise, so what they promise is
//! looked at first. The headers are Thrift structures in its compact form.

use super::thrift::{Next, ThriftReader};

/// Size of a value of a dictionary in the library, in bytes, in addition to its text.
const DICTIONARY_VALUE: usize = 32;

/// Part of a page header that matters here.
#[derive(Default)]
struct Header {
    uncompressed: i64,
    compressed: i64,
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
        let mut reader = ThriftReader { rest: chunk };
        let header = Header::read(&mut reader).ok_or("a page header is damaged")?;
        let size = |number: i64| usize::try_from(number).map_err(|_| "a page has a negative size");
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

impl Header {
    fn read(reader: &mut ThriftReader<'_>) -> Option<Self> {
        let (mut header, mut id, mut pages) = (Self::default(), 0, 0);
        while let Next::Field(kind) = reader.field(&mut id)? {
            match (id, kind) {
                (2, 5) => header.uncompressed = reader.zigzag()?,
                (3, 5) => header.compressed = reader.zigzag()?,
                (5 | 8, 12) => {
                    [header.values] = reader.numbers([1])?;
                    pages += 1;
                }
                (7, 12) => {
                    [header.dictionary] = reader.numbers([1])?;
                    header.is_dictionary = true;
                    pages += 1;
                }
                // The library takes numbers of other kinds for them, whatever the field says it is.
                (2 | 3 | 5 | 7 | 8, _) => return None,
                _ => reader.skip(kind, 0)?,
            }
        }
        // Of a page that is of several types the library would read another one.
        (pages <= 1).then_some(header)
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
    fn headers_that_the_library_reads_otherwise_are_damaged() {
        assert!(size(&header(60, 0, 0), 0).is_ok());
        // 60 bytes as a number of 64 bits, as field 65538, and behind a second page.
        let wide = [0x15, 0, 0x16, 120, 0x15, 0, 0x2c, 0x15, 2, 0, 0];
        let far = [0x15, 0, 0x05, 0x84, 0x80, 0x08, 120, 0x05, 6, 0, 0x2c, 0x15, 2, 0, 0];
        let values_far = [0x15, 0, 0x15, 2, 0x15, 0, 0x2c, 0x16, 2, 0, 0];
        let twice = [0x15, 0, 0x15, 2, 0x15, 0, 0x2c, 0x15, 2, 0x15, 14, 0, 0x3c, 0x15, 2, 0, 0];
        assert_eq!(size(&far, 0).map(|sizes| sizes.all), Ok(60));
        for bytes in [&wide[..], &values_far, &twice] {
            assert!(size(bytes, 0).unwrap_err().contains("damaged"), "{bytes:x?}");
        }
    }

    #[test]
    fn damaged_headers_are_told_and_end() {
        for bytes in [&[0x15][..], &[0x1c; 400], &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07], &[0x18, 0xff, 0x7f]] {
            assert!(size(bytes, 0).unwrap_err().contains("damaged"));
        }
    }
}
