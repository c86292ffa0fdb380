//! Values and names as Python prints them: evoproc's messages quote data with `repr`, and this is that `repr`.
//!
//! The text stays data: it is built as bytes and leaves this module as `Untrusted`, so that a lone surrogate or an
//! escape sequence in a name reaches the screen only through the one door.

use std::cmp::Ordering;

use crate::json::write::{int_digits, repr_float};
use crate::json::{Kind, Value};
use crate::pieces::{Piece, pieces};
use crate::text::Untrusted;
use crate::unicode::is_printable;

/// A message under construction: the program's words and data, in bytes.
#[derive(Clone, Default, Debug)]
pub struct Message(Vec<u8>);

impl Message {
    /// Starts with words.
    pub fn new(words: &str) -> Self {
        /// Hardly any message is longer.
        const USUAL: usize = 120;
        Self(Vec::with_capacity(USUAL)).text(words)
    }

    /// Words, or text from data as it is (`str`).
    #[must_use]
    pub fn text(mut self, text: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(text.as_ref());
        self
    }

    /// A string as `repr` prints it.
    #[must_use]
    pub fn quoted(mut self, text: &[u8]) -> Self {
        repr_text(text, &mut self.0);
        self
    }

    /// A value as `repr` prints it.
    #[must_use]
    pub fn value(mut self, value: Value<'_>) -> Self {
        repr(value, &mut self.0);
        self
    }

    /// A count or position.
    #[must_use]
    pub fn number(mut self, n: usize) -> Self {
        self.0.extend_from_slice(n.to_string().as_bytes());
        self
    }

    /// Strings as `repr` prints them, with commas between.
    #[must_use]
    pub(crate) fn quoted_each<T: AsRef<[u8]>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        for (n, text) in texts.into_iter().enumerate() {
            if n > 0 {
                self.0.extend_from_slice(b", ");
            }
            repr_text(text.as_ref(), &mut self.0);
        }
        self
    }

    /// A list of strings as `repr` prints it.
    #[must_use]
    pub fn list<T: AsRef<[u8]>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        self.text("[").quoted_each(texts).text("]")
    }
}

impl From<Message> for Untrusted<'static> {
    fn from(message: Message) -> Self {
        Untrusted::owned(message.0)
    }
}

/// Python's name for the kind of a value.
pub fn type_name(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Object => "dict",
        Kind::Array => "list",
        Kind::String | Kind::Key => "str",
        Kind::Int => "int",
        Kind::Float | Kind::NotFinite => "float",
        Kind::True | Kind::False => "bool",
        Kind::Null => "NoneType",
    }
}

/// Python's `str(value)`: a string is itself, anything else its `repr`.
pub fn str(value: Value<'_>) -> Untrusted<'_> {
    value.string().unwrap_or_else(|| {
        let mut out = Vec::new();
        repr(value, &mut out);
        Untrusted::owned(out)
    })
}

/// Appends Python's `repr` of what its reader makes of a value: of duplicate keys the place of the first and the value
/// of the last, floats rounded to 64 bits.
pub fn repr(value: Value<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null => out.extend_from_slice(b"None"),
        Kind::False => out.extend_from_slice(b"False"),
        Kind::True => out.extend_from_slice(b"True"),
        Kind::Int => out.extend_from_slice(int_digits(value)),
        Kind::Float | Kind::NotFinite => {
            out.extend_from_slice(repr_float(value.float().unwrap_or(f64::NAN)).as_bytes());
        }
        Kind::String | Kind::Key => repr_text(value.string().expect("a string or a key").bytes(), out),
        Kind::Array => {
            out.push(b'[');
            for (n, item) in value.items().enumerate() {
                separate(n, out);
                repr(item, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (n, member) in value.entries().into_iter().enumerate() {
                separate(n, out);
                repr_text(member.name().bytes(), out);
                out.extend_from_slice(b": ");
                repr(member.value, out);
            }
            out.push(b'}');
        }
    }
}

fn separate(n: usize, out: &mut Vec<u8>) {
    if n > 0 {
        out.extend_from_slice(b", ");
    }
}

/// Appends Python's `repr` of a string. Single quotes, unless it holds single and no double ones.
pub fn repr_text(text: &[u8], out: &mut Vec<u8>) {
    let quote = if text.contains(&b'\'') && !text.contains(&b'"') { b'"' } else { b'\'' };
    out.push(quote);
    for (range, piece) in pieces(text) {
        let code = match piece {
            Piece::Char(c) => u32::from(c),
            Piece::Surrogate(code) => code,
            // Python's reader would have refused it; this is how Python names such a byte in a file name.
            Piece::Byte(byte) => 0xdc00 + u32::from(byte),
        };
        match code {
            0x5c => out.extend_from_slice(b"\\\\"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0d => out.extend_from_slice(b"\\r"),
            0x09 => out.extend_from_slice(b"\\t"),
            _ if code == u32::from(quote) => out.extend_from_slice(&[b'\\', quote]),
            _ if is_printable(code) => out.extend_from_slice(&text[range]),
            0..=0xff => out.extend_from_slice(format!("\\x{code:02x}").as_bytes()),
            0x100..=0xffff => out.extend_from_slice(format!("\\u{code:04x}").as_bytes()),
            _ => out.extend_from_slice(format!("\\U{code:08x}").as_bytes()),
        }
    }
    out.push(quote);
}

/// True for the characters of Python's `str.isspace`: the four separators 0x1c to 0x1f too, which Unicode leaves out.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Python's `str.strip()`.
pub fn strip(text: &[u8]) -> &[u8] {
    let is_blank = |piece: Piece| matches!(piece, Piece::Char(c) if is_space(c));
    let start = pieces(text).find(|(_, piece)| !is_blank(*piece)).map_or(text.len(), |(range, _)| range.start);
    rstrip(&text[start..])
}

/// Python's `str.rstrip()`.
pub fn rstrip(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let Some((rest, c)) = last_char(text) {
        if !is_space(c) {
            break;
        }
        text = rest;
    }
    text
}

fn last_char(text: &[u8]) -> Option<(&[u8], char)> {
    let start = (1..=4).find_map(|back| {
        let at = text.len().checked_sub(back)?;
        text.get(at).is_some_and(|byte| byte & 0xc0 != 0x80).then_some(at)
    })?;
    let (rest, last) = text.split_at_checked(start)?;
    Some((rest, std::str::from_utf8(last).ok()?.chars().next()?))
}

/// A number as Python compares it: exactly, integers of any size against floats.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PythonNumber {
    /// An integer, or a float that equals one: its digits.
    Int(String),
    /// The bits of any other float. (`NaN` is one object in Python's reader, found equal by identity.)
    Float(u64),
}

impl PythonNumber {
    /// The number of a value; truth values are none here.
    pub fn of(value: Value<'_>) -> Option<Self> {
        match value.kind() {
            Kind::Int => Some(Self::Int(String::from_utf8_lossy(int_digits(value)).into_owned())),
            Kind::Float | Kind::NotFinite => value.float().map(Self::from),
            _ => None,
        }
    }

    /// The nearest float.
    pub fn float(&self) -> f64 {
        match self {
            Self::Int(digits) => digits.parse().unwrap_or(f64::NAN),
            Self::Float(bits) => f64::from_bits(*bits),
        }
    }

    /// Python's order; `None` with `NaN`.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(compare_digits(a, b)),
            // An integer too large for a float is still below infinity.
            (Self::Int(_), Self::Float(_)) if other.float().is_infinite() => 0.0.partial_cmp(&other.float()),
            (Self::Float(_), Self::Int(_)) if self.float().is_infinite() => self.float().partial_cmp(&0.0),
            // A float with a fraction is below 2^53, where rounding the integer cannot change the order.
            _ => self.float().partial_cmp(&other.float()),
        }
    }
}

impl From<f64> for PythonNumber {
    fn from(float: f64) -> Self {
        if float.is_finite() && float % 1.0 == 0.0 {
            // Adding zero turns -0.0 into 0.0.
            Self::Int(format!("{:.0}", float + 0.0))
        } else {
            Self::Float(float.to_bits())
        }
    }
}

fn compare_digits(a: &str, b: &str) -> Ordering {
    match (a.strip_prefix('-'), b.strip_prefix('-')) {
        (None, None) => (a.len(), a).cmp(&(b.len(), b)),
        (Some(a), Some(b)) => (b.len(), b).cmp(&(a.len(), a)),
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tape;

    fn repr_of(json: &[u8]) -> Vec<u8> {
        let mut tape = Tape::default();
        let mut out = Vec::new();
        repr(tape.parse(json).unwrap(), &mut out);
        out
    }

    #[test]
    fn values_print_as_in_python() {
        for (json, expected) in [
            (&br#"{"a": 1, "b": [true, null], "a": 2.50}"#[..], &br"{'a': 2.5, 'b': [True, None]}"[..]),
            (
                b"[-0, -0.0, 1e16, 1e15, 0.0001, 1e-5, 1e-07, 123456789012345678, 1e400, NaN, -Infinity]",
                b"[0, -0.0, 1e+16, 1000000000000000.0, 0.0001, 1e-05, 1e-07, 123456789012345678, inf, nan, -inf]",
            ),
            (
                b"[5e-324, 1.7976931348623157e308, 9007199254740993.0, 1e22, 1e100]",
                b"[5e-324, 1.7976931348623157e+308, 9007199254740992.0, 1e+22, 1e+100]",
            ),
            (
                br#"["it's", "say \"hi\"", "it's \"x\"", "\\ \n\t\r\u0000\u007f\u00a0\u200b\ud83d\ude00\ue000"]"#,
                "[\"it's\", 'say \"hi\"', 'it\\'s \"x\"', '\\\\ \\n\\t\\r\\x00\\x7f\\xa0\\u200b😀\\ue000']".as_bytes(),
            ),
            (br#"["\ud800", "\udb40\udc01", "\u00e9"]"#, "['\\ud800', '\\U000e0001', 'é']".as_bytes()),
            (b"[{}, []]", b"[{}, []]"),
        ] {
            assert_eq!(repr_of(json), expected, "{}", String::from_utf8_lossy(json));
        }
    }

    #[test]
    fn numbers_compare_exactly() {
        let number = |json: &str| {
            let mut tape = Tape::default();
            PythonNumber::of(tape.parse(json.as_bytes()).unwrap()).unwrap()
        };
        let ascending =
            ["-Infinity", "-1e400000", "-10", "-9", "-0.5", "0", "0.5", "1", "1.0000000000000002", "9", "10", "1e30"];
        for pair in ascending.windows(2).filter(|pair| pair[1] != "-1e400000") {
            assert_eq!(number(pair[0]).compare(&number(pair[1])), Some(Ordering::Less), "{pair:?}");
        }
        let huge = "1".repeat(400);
        assert_eq!(number(&huge).compare(&number("Infinity")), Some(Ordering::Less));
        assert_eq!(number("Infinity").compare(&number(&huge)), Some(Ordering::Greater));
        assert_eq!(number("1e22"), number("10000000000000000000000"));
        assert_eq!(number("-0.0"), number("-0"));
        assert_eq!(number("NaN").compare(&number("1")), None);
    }

    #[test]
    fn strings_are_themselves_outside_of_lists() {
        let mut tape = Tape::default();
        assert_eq!(str(tape.parse(br#""a'b""#).unwrap()), "a'b");
        assert_eq!(str(tape.parse(b"[1.0]").unwrap()), "[1.0]");
    }
}
