//! JSON objects as they are written: keys in the order in which they are given.

use crate::json::{Kind, Tape, Value};
use crate::pyjson::{Letters, spelled, write_float, write_string};
use crate::text::Untrusted;

/// An object under construction, on one line without blanks.
#[derive(Clone, Debug)]
pub struct Object {
    out: Vec<u8>,
    letters: Letters,
}

impl Object {
    /// An empty one.
    pub fn new(letters: Letters) -> Self {
        Self { out: b"{".to_vec(), letters }
    }

    fn key(&mut self, key: &str) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        self.literal(key.as_bytes());
        self.out.push(b':');
    }

    fn literal(&mut self, text: &[u8]) {
        let mut literal = Vec::new();
        write_string(&Untrusted::new(text), &mut literal);
        self.out.extend_from_slice(&spelled(&literal, self.letters));
    }

    /// A member whose value is JSON already.
    #[must_use]
    pub fn raw(mut self, key: &str, json: impl AsRef<[u8]>) -> Self {
        self.key(key);
        self.out.extend_from_slice(json.as_ref());
        self
    }

    /// A text.
    #[must_use]
    pub fn text(mut self, key: &str, text: impl AsRef<[u8]>) -> Self {
        self.key(key);
        self.literal(text.as_ref());
        self
    }

    /// A whole number or a truth value.
    #[must_use]
    pub fn plain(self, key: &str, value: impl std::fmt::Display + Copy) -> Self {
        self.raw(key, value.to_string())
    }

    /// A member if there is a value, which is JSON already.
    #[must_use]
    pub fn maybe(self, key: &str, json: Option<impl AsRef<[u8]>>) -> Self {
        match json {
            Some(json) => self.raw(key, json),
            None => self,
        }
    }

    /// The object's text.
    pub fn end(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// A list of JSON texts.
pub fn list(items: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut out = b"[".to_vec();
    for item in items {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.push(b']');
    out
}

/// A text as a JSON literal in ASCII.
pub fn text(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    Untrusted::new(text.as_ref()).write_json(&mut out);
    out
}

/// A value on one line in ASCII: every number with its digits as they stand, every key as often as it stands.
pub fn tight(value: Value<'_>) -> Vec<u8> {
    fn write(value: Value<'_>, out: &mut Vec<u8>) {
        match value.kind() {
            Kind::String | Kind::Key => value.string().unwrap_or_default().write_json(out),
            // The reader's limit on depth is the limit of this recursion.
            Kind::Array => {
                out.push(b'[');
                for (n, item) in value.items().enumerate() {
                    out.extend_from_slice(if n > 0 { b"," } else { b"" });
                    write(item, out);
                }
                out.push(b']');
            }
            Kind::Object => {
                out.push(b'{');
                for (n, member) in value.members().enumerate() {
                    out.extend_from_slice(if n > 0 { b"," } else { b"" });
                    write(member.key, out);
                    out.push(b':');
                    write(member.value, out);
                }
                out.push(b'}');
            }
            _ => out.extend_from_slice(value.raw()),
        }
    }
    let mut out = Vec::with_capacity(value.raw().len());
    write(value, &mut out);
    out
}

/// The same of a JSON text; what is none becomes a text.
pub fn one_line(json: &[u8]) -> Vec<u8> {
    Tape::default().parse(json).map_or_else(|| text(json), tight)
}

/// A number as Python's clients write it: without a fraction where it has none.
pub fn number(number: f64) -> Vec<u8> {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number:.0}").into_bytes();
    }
    let mut out = Vec::new();
    write_float(number, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_json() {
        let object = |letters| {
            let object = Object::new(letters).text("é\"", "\u{1b}漢").plain("n", 7).maybe("no", None::<&str>);
            String::from_utf8(object.raw("list", list([text("a\n"), number(0.5)])).end()).unwrap()
        };
        assert_eq!(object(Letters::All), "{\"é\\\"\":\"\\u001b漢\",\"n\":7,\"list\":[\"a\\n\",0.5]}");
        assert_eq!(object(Letters::Ascii), r#"{"\u00e9\"":"\u001b\u6f22","n":7,"list":["a\n",0.5]}"#);
        assert_eq!(Object::new(Letters::All).end(), b"{}");
        assert_eq!(number(-0.0), b"-0");
        let odd = "{ \"a\" : [1.50, \"é\u{9b}\",\n NaN, {}], \"a\": 1e400 }";
        assert_eq!(one_line(odd.as_bytes()), br#"{"a":[1.50,"\u00e9\u009b",NaN,{}],"a":1e400}"#);
        assert_eq!(one_line(b"{"), b"\"{\"");
    }
}
