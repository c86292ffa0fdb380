//! `json.dumps(value, ensure_ascii=False)`, byte for byte as Python writes it, with an indent of two or on one line:
//! upstream's prompts hold it.

use crate::json::{Kind, Value};
use crate::python::{int_digits, repr_float};
use crate::text::{Piece, Untrusted, pieces};

/// A float as `json.dumps` prints it: Python's `repr`, but for what is not finite.
pub fn write_float(number: f64, out: &mut Vec<u8>) {
    if number.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if number.is_infinite() {
        return out.extend_from_slice(if number < 0.0 { b"-Infinity" } else { b"Infinity" });
    }
    out.extend_from_slice(repr_float(number).as_bytes());
}

/// A string literal with `ensure_ascii=False`: lone surrogates stay in the generalised form of [`Untrusted`].
pub fn write_string(text: &Untrusted<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x00..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// A value with an indent of two, as if it stood `level` deep.
pub fn write_value(value: Value<'_>, level: usize, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::Int => out.extend_from_slice(int_digits(value)),
        Kind::Float | Kind::NotFinite => write_float(value.float().unwrap_or(f64::NAN), out),
        Kind::String | Kind::Key => write_string(&value.string().unwrap_or_default(), out),
        // The reader's limit on depth is the limit of this recursion.
        Kind::Array => write_list(value.items(), level, out, |item, out| write_value(item, level + 1, out)),
        Kind::Object => {
            let entries = value.entries().into_iter().map(|member| (member.name(), member.value));
            write_object(entries, level, out, |value, out| write_value(value, level + 1, out));
        }
    }
}

/// A list that stands `level` deep; `item` writes one item.
pub fn write_list<T>(
    items: impl IntoIterator<Item = T>,
    level: usize,
    out: &mut Vec<u8>,
    mut item: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    let mut any = false;
    for one in items {
        next_line(&mut any, level, out);
        item(one, out);
    }
    close(any, level, b']', out);
}

/// An object that stands `level` deep; `value` writes one value.
pub fn write_object<'a, T>(
    entries: impl IntoIterator<Item = (Untrusted<'a>, T)>,
    level: usize,
    out: &mut Vec<u8>,
    mut value: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'{');
    let mut any = false;
    for (key, one) in entries {
        next_line(&mut any, level, out);
        write_string(&key, out);
        out.extend_from_slice(b": ");
        value(one, out);
    }
    close(any, level, b'}', out);
}

/// What stands between items, and between key and value, on one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// `, ` and `: `, as `json.dumps` does by default.
    Wide,
    /// `,` and `:`, as clients send bodies.
    Tight,
}

/// A value on one line.
pub fn write_line(value: Value<'_>, spacing: Spacing, out: &mut Vec<u8>) {
    let (comma, colon): (&[u8], &[u8]) = match spacing {
        Spacing::Wide => (b", ", b": "),
        Spacing::Tight => (b",", b":"),
    };
    match value.kind() {
        Kind::Array => {
            out.push(b'[');
            for (n, item) in value.items().enumerate() {
                out.extend_from_slice(if n > 0 { comma } else { b"" });
                write_line(item, spacing, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (n, member) in value.entries().into_iter().enumerate() {
                out.extend_from_slice(if n > 0 { comma } else { b"" });
                write_string(&member.name(), out);
                out.extend_from_slice(colon);
                write_line(member.value, spacing, out);
            }
            out.push(b'}');
        }
        _ => write_value(value, 0, out),
    }
}

/// How the letters of JSON are spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Letters {
    /// As themselves; lone surrogates, which UTF-8 does not know, as escapes.
    All,
    /// As escapes but for ASCII: safe on a terminal.
    Ascii,
}

/// Turns what the functions of this module write, in which lone surrogates stand in their generalised form, into UTF-8.
pub fn spelled(json: &[u8], letters: Letters) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    for (range, piece) in pieces(json) {
        match piece {
            Piece::Char(c) if c == '\n' || letters == Letters::All || (' '..='~').contains(&c) => {
                out.extend_from_slice(json.get(range).unwrap_or_default());
            }
            // Outside of ASCII there are only strings: what stands here is a letter of one.
            Piece::Char(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
            Piece::Surrogate(code) => out.extend_from_slice(format!("\\u{code:04x}").as_bytes()),
            Piece::Byte(_) => out.extend_from_slice("\u{fffd}".as_bytes()),
        }
    }
    out
}

fn next_line(any: &mut bool, level: usize, out: &mut Vec<u8>) {
    if std::mem::replace(any, true) {
        out.push(b',');
    }
    indent(level + 1, out);
}

fn close(any: bool, level: usize, bracket: u8, out: &mut Vec<u8>) {
    if any {
        indent(level, out);
    }
    out.push(bracket);
}

fn indent(level: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.resize(out.len() + 2 * level, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tape;

    fn float(number: f64) -> String {
        let mut out = Vec::new();
        write_float(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn dumped(text: &str) -> String {
        let mut tape = Tape::default();
        let mut out = Vec::new();
        write_value(tape.parse(text.as_bytes()).unwrap(), 0, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn floats_are_pythons() {
        for (number, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e-7, "1e-07"),
            (1e-4, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.2345e22, "1.2345e+22"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(float(number), text);
        }
    }

    #[test]
    fn one_line_is_wide_or_tight() {
        let line = |spacing| {
            let mut tape = Tape::default();
            let mut out = Vec::new();
            write_line(tape.parse(br#"{"a":[1,2.0,{}],"b":"\u00e9","a":[]}"#).unwrap(), spacing, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(Spacing::Wide), r#"{"a": [], "b": "é"}"#);
        assert_eq!(line(Spacing::Tight), r#"{"a":[],"b":"é"}"#);
    }

    #[test]
    fn values_are_dumped_as_python_does() {
        assert_eq!(dumped("{}"), "{}");
        assert_eq!(dumped("[[], {}]"), "[\n  [],\n  {}\n]");
        assert_eq!(
            dumped(r#"{"a": 1, "b": {"c": [1, -0, 1e400, 2.50]}, "a": "\u00e9\u0001\/\t\u007f"}"#),
            "{\n  \"a\": \"é\\u0001/\\t\u{7f}\",\n  \"b\": {\n    \"c\": [\n      1,\n      0,\n      Infinity,\n      2.5\n    ]\n  }\n}"
        );
        assert_eq!(dumped("18446744073709551616"), "18446744073709551616");
    }
}
