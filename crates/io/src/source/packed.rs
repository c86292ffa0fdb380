//! Packed files (gzip, zstandard), unpacked into memory within the limits of tables.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::failure::{Failure, reason};
use crate::source::columns::{READ, bytes_of, room_for_all};
use crate::source::open::{Blob, spool};
use stepscope_base::shown;
#[cfg(test)]
use stepscope_base::text::Shown;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Unpacks a file that begins like a packed one; `None`: it is none.
pub(crate) fn unpacked(blob: &Blob, head: &[u8]) -> Result<Option<Blob>, Failure> {
    if !head.starts_with(GZIP) && !head.starts_with(ZSTANDARD) {
        return Ok(None);
    }
    let bytes = bytes_of(blob)?;
    let room = room_for_all(bytes.len()) as u64;
    let unpacked = Blob::in_memory(blob.name().clone())?;
    let reader: Box<dyn Read> = if head.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(&bytes[..]))
    } else {
        Box::new(zstd::Decoder::new(&bytes[..]).map_err(|error| Failure {
            what: READ,
            path: blob.name().clone(),
            source: reason(&error),
        })?)
    };
    let broken = |failure: Failure| Failure { source: shown!("it cannot be unpacked: {}", failure.source), ..failure };
    let len = spool(reader.take(room + 1), &unpacked, |_| true).map_err(broken)?;
    if len > room {
        let source = shown!("it unpacks to more than {} MB; unpack it first, or write it in several files", room >> 20);
        return Err(Failure { what: READ, path: blob.name().clone(), source });
    }
    let mut head = Vec::new();
    unpacked.read(0, GZIP.len().max(ZSTANDARD.len()), &mut head)?;
    if head.starts_with(GZIP) || head.starts_with(ZSTANDARD) {
        return Err(Failure::own(READ, blob.name(), "what is packed in it is packed again; unpack it first"));
    }
    Ok(Some(unpacked))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Option<String>, String> {
        let blob = Blob::of_bytes(Shown::own("a.jsonl.gz"), bytes).unwrap();
        let read = unpacked(&blob, bytes).map_err(|failure| failure.to_string())?;
        Ok(read.map(|blob| {
            let mut text = Vec::new();
            blob.read(0, 1 << 20, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        }))
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn packed_files_are_read_as_what_is_in_them() {
        assert_eq!(read(b"{}"), Ok(None));
        assert_eq!(read(&gzip(b"{\"a\": 1}")), Ok(Some("{\"a\": 1}".to_owned())));
        assert_eq!(read(&[gzip(b"1\n"), gzip(b"2\n")].concat()), Ok(Some("1\n2\n".to_owned())));
        assert_eq!(read(&zstd::encode_all(&b"x"[..], 1).unwrap()), Ok(Some("x".to_owned())));
    }

    #[test]
    fn what_cannot_be_unpacked_within_its_room_is_refused() {
        let cut = gzip(b"{\"a\": 1}");
        assert!(read(&cut[..cut.len() - 6]).is_err());
        assert!(read(&gzip(&gzip(b"x"))).is_err_and(|why| why.contains("packed again")));
        let zeros = gzip(&vec![b' '; 80 << 20]);
        assert!(read(&zeros).is_err_and(|why| why.contains("it unpacks to more than 6")), "a bomb");
    }
}
