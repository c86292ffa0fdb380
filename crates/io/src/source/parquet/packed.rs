//! Pages packed with gzip or brotli: the library unpacks as much as there is in them, so they are unpacked here, up to the
//! size that was looked at.

use std::io::Read;

use ::parquet::basic::Compression;
use ::parquet::column::page::Page;
use bytes::Bytes;

use crate::source::columns::TOO_LARGE;

/// Compression that does not say how much comes out of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PageCodec {
    Gzip,
    Brotli,
}

impl PageCodec {
    pub(super) const fn of(compression: Compression) -> Option<Self> {
        match compression {
            Compression::GZIP(_) => Some(Self::Gzip),
            Compression::BROTLI(_) => Some(Self::Brotli),
            _ => None,
        }
    }

    /// Unpacks a page, which has at most so many bytes then.
    pub(super) fn unpack(self, page: &mut Page, most: usize) -> Result<(), &'static str> {
        match page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = self.unpacked(buf, 0, most)?,
            Page::DataPageV2 { is_compressed: false, .. } => {}
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                *buf = self.unpacked(buf, levels, most)?;
            }
        }
        Ok(())
    }

    /// Unpacks what follows so many bytes.
    fn unpacked(self, page: &[u8], plain: usize, most: usize) -> Result<Bytes, &'static str> {
        let (plain, packed) = page.split_at_checked(plain).ok_or("a page is cut off")?;
        let mut bytes = plain.to_vec();
        // Of nulls alone nothing may be packed.
        if !packed.is_empty() {
            let mut read = |all: &mut dyn Read| all.take(most as u64 + 1).read_to_end(&mut bytes);
            let done = match self {
                Self::Gzip => read(&mut flate2::bufread::MultiGzDecoder::new(packed)),
                Self::Brotli => read(&mut brotli_decompressor::Decompressor::new(packed, BUFFER)),
            };
            done.map_err(|_| "a part of it cannot be decompressed")?;
        }
        if bytes.len() > most { Err(TOO_LARGE) } else { Ok(bytes.into()) }
    }
}

/// Bytes of a page that are looked at a time.
const BUFFER: usize = 4096;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ::parquet::basic::Encoding;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    fn page(buf: Vec<u8>) -> Page {
        let rle = Encoding::RLE;
        let (def_level_encoding, rep_level_encoding) = (rle, rle);
        let encoding = Encoding::PLAIN;
        Page::DataPage {
            buf: buf.into(),
            num_values: 1,
            encoding,
            def_level_encoding,
            rep_level_encoding,
            statistics: None,
        }
    }

    fn second(buf: Vec<u8>, levels: u32, is_compressed: bool) -> Page {
        Page::DataPageV2 {
            buf: buf.into(),
            num_values: 1,
            encoding: Encoding::PLAIN,
            num_nulls: 0,
            num_rows: 1,
            def_levels_byte_len: levels,
            rep_levels_byte_len: 0,
            is_compressed,
            statistics: None,
        }
    }

    fn unpacked(mut page: Page, most: usize) -> Result<Bytes, &'static str> {
        PageCodec::Gzip.unpack(&mut page, most)?;
        Ok(page.buffer().clone())
    }

    #[test]
    fn pages_are_unpacked_but_for_their_levels() {
        assert_eq!(unpacked(page(packed(b"text")), 4).unwrap(), &b"text"[..]);
        let two = [packed(b"te"), packed(b"xt")].concat();
        assert_eq!(unpacked(page(two), 4).unwrap(), &b"text"[..], "one after the other");
        let levels = [b"lev".to_vec(), packed(b"text")].concat();
        assert_eq!(unpacked(second(levels.clone(), 3, true), 7).unwrap(), &b"levtext"[..]);
        assert_eq!(unpacked(second(levels.clone(), 3, false), 7).unwrap(), levels);
        assert_eq!(unpacked(second(b"lev".to_vec(), 3, true), 7).unwrap(), &b"lev"[..], "nulls alone");
    }

    #[test]
    fn what_unpacks_to_more_than_it_said_is_refused() {
        let bomb = packed(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        assert_eq!(unpacked(page(bomb.clone()), 9 << 20), Err(TOO_LARGE));
        assert_eq!(unpacked(second([vec![7; 9], bomb].concat(), 9, true), 10 << 20), Err(TOO_LARGE));
        for cut in [page(packed(b"text")[..9].to_vec()), page(b"text".to_vec()), second(b"text".to_vec(), 5, true)] {
            assert!(unpacked(cut, 100).is_err());
        }
    }

    #[test]
    fn brotli_is_unpacked_as_far_as_it_may_be() {
        // What pyarrow makes of a million zeros, and of nothing.
        let zeros = [0x5b, 0x3f, 0x42, 0x0f, 0x40, 0x02, 0x20, 0x1e, 0x0b, 0x24, 0x3f, 0xe7, 0x01];
        let unpacked = |packed: &[u8], most| {
            let mut page = page(packed.to_vec());
            PageCodec::Brotli.unpack(&mut page, most).map(|()| page.buffer().len())
        };
        assert_eq!(unpacked(&zeros, 1_000_000), Ok(1_000_000));
        assert_eq!(unpacked(&zeros, 999_999), Err(TOO_LARGE));
        assert_eq!(unpacked(&[0x06], 9), Ok(0));
        assert!(unpacked(&zeros[..9], 1_000_000).is_err(), "cut off");
    }
}
