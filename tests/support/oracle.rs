//! Upstream's own results, packed as JSON lines.

use std::io::Read as _;

use stepscope_base::json::Value;
use stepscope_base::text::{Piece, Untrusted, pieces};

pub(crate) fn unpacked(path: &str) -> Vec<u8> {
    let packed = std::fs::File::open(format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

pub(crate) fn member(value: Value<'_>, key: &str) -> Untrusted<'static> {
    value.get(key).and_then(Value::string).unwrap_or_else(|| panic!("{key}")).into_owned()
}

/// Writes a JSON text with lone surrogates as escapes, as Python's `json.dumps` would if it could be written to a file.
pub(crate) fn writable(text: &Untrusted<'_>) -> Vec<u8> {
    let escape = |(range, piece): (std::ops::Range<usize>, Piece)| match piece {
        Piece::Surrogate(code) => format!("\\u{code:04x}").into_bytes(),
        _ => text.bytes()[range].to_vec(),
    };
    pieces(text.bytes()).flat_map(escape).collect()
}
