//! The content of a record as one canonical text, and its SHA-256: what a verdict is bound to.
//!
//! The canonical text of a JSON value has no blanks; the members of an object stand in the order of their keys' code
//! points, of duplicate keys only the last; numbers stand with the digits in which they were written (`1.0` is not
//! `1`); strings stand in UTF-8 with nothing escaped but `"`, `\` and controls (`\u001b`), and lone surrogates as
//! `\ud800`. So neither the order of keys nor blanks nor escapes change it, and everything that a person reads does.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::json::write::{Sink, Style};
use crate::json::{Kind, Value};

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// In the place of one that nobody asks for: to work it out costs more than to read the record.
    pub const UNASKED: Self = Self([0; 32]);

    /// Of the canonical text of a value.
    pub fn of(value: Value<'_>) -> Self {
        let mut text = Hashed::new();
        append(value, &mut text);
        text.pass_on();
        Self(text.hasher.finalize().into())
    }

    /// Of bytes as they are: of what could not be read as JSON.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Makes it of its bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(hex: &[u8]) -> Option<Self> {
        let mut digest = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, pair) in digest.iter_mut().zip(hex.chunks(2)) {
            for digit in pair {
                *byte = (*byte << 4) | char::from(*digit).to_digit(16)? as u8;
            }
        }
        Some(Self(digest))
    }
}

/// The SHA-256 of bytes in hex, as `sha256sum` prints it: what was sent and what was forked is named by it.
pub fn sha256(bytes: &[u8]) -> String {
    Digest::of_bytes(bytes).to_string()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).map_or(b'0', |digit| digit as u8);
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        f.write_str(std::str::from_utf8(&hex).expect("digits"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Appends the canonical text of a value. The reader's limit on depth is the limit of this recursion.
#[inline]
fn append(value: Value<'_>, out: &mut Hashed) {
    match value.kind() {
        Kind::Array => append_list(value, out),
        Kind::Object => append_object(value, out),
        Kind::String | Kind::Key if !value.is_clean_string() => {
            Style::CANONICAL.append(value.string().expect("a string or a key"), out);
        }
        _ => out.put_first(value.range().len(), value.and_behind()),
    }
}

// Most values are neither: kept out of line, containers leave their room on the stack to those.
#[inline(never)]
fn append_list(list: Value<'_>, out: &mut Hashed) {
    out.push(b'[');
    for (n, item) in list.items().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        append(item, out);
    }
    out.push(b']');
}

#[inline(never)]
fn append_object(object: Value<'_>, out: &mut Hashed) {
    out.push(b'{');
    let mut any = false;
    object.each_in_order(|member| {
        if std::mem::replace(&mut any, true) {
            out.push(b',');
        }
        append(member.key, out);
        out.push(b':');
        append(member.value, out);
    });
    out.push(b'}');
}

/// A text whose pieces are hashed many at a time: most are a few bytes. Nothing is allocated, because threads that judge
/// records would wait for each other.
struct Hashed {
    hasher: Sha256,
    pending: [u8; Self::MANY],
    len: usize,
}

impl Hashed {
    const MANY: usize = 4 << 10;

    fn new() -> Self {
        Self { hasher: Sha256::new(), pending: [0; Self::MANY], len: 0 }
    }

    /// Takes bytes for which there is no room.
    #[cold]
    fn put_behind(&mut self, bytes: &[u8]) {
        self.pass_on();
        if bytes.len() < Self::MANY { self.put(bytes) } else { self.hasher.update(bytes) }
    }

    /// Takes the first `len` bytes of a text that may go on: a fixed number of bytes is copied faster than a few.
    #[inline]
    fn put_first(&mut self, len: usize, text: &[u8]) {
        /// Most strings and numbers are no longer.
        const FEW: usize = 32;
        let room = self.pending.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut::<FEW>);
        match (room, text.first_chunk()) {
            (Some(room), Some(few)) if len <= FEW => {
                *room = *few;
                self.len += len;
            }
            _ => self.put(&text[..len]),
        }
    }

    fn pass_on(&mut self) {
        self.hasher.update(&self.pending[..self.len]);
        self.len = 0;
    }
}

impl Sink for Hashed {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        match self.pending.get_mut(self.len..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.put_behind(bytes),
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        match self.pending.get_mut(self.len) {
            Some(room) => {
                *room = byte;
                self.len += 1;
            }
            None => self.put_behind(&[byte]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tape;

    fn digest(json: impl AsRef<[u8]>) -> Digest {
        let mut tape = Tape::default();
        Digest::of(tape.parse(json.as_ref()).expect("readable"))
    }

    fn assert_canonical(json: impl AsRef<[u8]>, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        assert_eq!(digest(json), Digest::of_bytes(text), "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn the_canonical_text_is_what_the_head_of_this_file_says() {
        let json = br#" { "b" : [ 1.50 , -0, 1E5, NaN, true, null, {}, [] , [ {"z":1,"a":2} , 3 ] ] ,
            "a\u00e9" : "\u001b\/\"\\\ud83d\ude00\ud800\n", "a" : 9007199254740993, "a": 18446744073709551616 } "#;
        let canonical = concat!(
            r#"{"a":18446744073709551616,"aé":"\u001b/\"\\😀\ud800\u000a","#,
            r#""b":[1.50,-0,1E5,NaN,true,null,{},[],[{"a":2,"z":1},3]]}"#
        );
        assert_canonical(json, canonical);
        assert_canonical(r#""\u0000""#, r#""\u0000""#);
    }

    #[test]
    fn the_digest_is_that_of_the_text() {
        // printf '%s' '{"a":"é","b":1.50}' | sha256sum
        let expected = "e1f1c0a50b5ec764f0fb944fad393aa55830b03fa98b4612b3767ac083eb061f";
        assert_eq!(digest(r#"{"b": 1.50, "a": "\u00e9"}"#).to_string(), expected);
        assert_eq!(Digest::parse(expected.as_bytes()), Some(digest(r#"{"a":"é","b":1.50}"#)));
        assert_eq!(
            Digest::of_bytes(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        for bad in ["", "e1f1", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(Digest::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn order_blanks_and_escapes_do_not_matter_and_all_that_is_read_does() {
        let same = digest(r#"{"a": 1, "b": ["x", 2.0]}"#);
        for json in ["{\"b\":[\"x\",2.0],\"a\":1}", "{\n\t\"a\": 1,\r\n \"\\u0062\": [\"\\u0078\", 2.0] }"] {
            assert_eq!(digest(json), same, "{json}");
        }
        for json in [
            r#"{"a": 1.0, "b": ["x", 2.0]}"#,
            r#"{"a": 1, "b": ["x", 2]}"#,
            r#"{"a": 1, "b": [2.0, "x"]}"#,
            r#"{"a": 1, "b": ["x ", 2.0]}"#,
            r#"{"a": 1, "b": ["x", 2.0], "c": null}"#,
            r#"{"a": "1", "b": ["x", 2.0]}"#,
        ] {
            assert_ne!(digest(json), same, "{json}");
        }
    }

    #[test]
    fn odd_bytes_are_spelled_where_they_stand() {
        assert_canonical("[\"é\u{7f}漢\"]", "[\"é\u{7f}漢\"]");
        assert_canonical(b"[\"a\tb\", \"c\"]", br#"["a\u0009b","c"]"#);
        assert_canonical(b"[\"\xed\xa0\x80\", \"\xff\"]", b"[\"\\ud800\",\"\xff\"]");
        let many = [&b"["[..], &b"\"\t\",".repeat(100), b"\"\xed\xa0\x80\"]"].concat();
        assert_canonical(many, format!("[{}{}", r#""\u0009","#.repeat(100), r#""\ud800"]"#));
    }

    #[test]
    fn keys_that_begin_alike_are_in_order() {
        let json = r#"{"abcdefghi":1,"abcdefgh":2,"abcdefg":3,"abcdefghI":4,"":5,"\u0000":6,"é":7}"#;
        let sorted = r#"{"":5,"\u0000":6,"abcdefg":3,"abcdefgh":2,"abcdefghI":4,"abcdefghi":1,"é":7}"#;
        assert_canonical(json, sorted);
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{}{}", "[".repeat(512), "]".repeat(512));
        assert_canonical(&deep, &deep);
    }
}
