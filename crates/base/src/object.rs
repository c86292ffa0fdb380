//! Writing a JSON object by hand: ASCII only, so that it is safe in any terminal, log or pipe; what is absent is left out.

use crate::canonical::write_ascii;
use crate::json::Tape;
use crate::text::Untrusted;

/// An object that is being written.
#[derive(Debug)]
pub struct Object<'o> {
    out: &'o mut Vec<u8>,
    any: bool,
}

impl<'o> Object<'o> {
    /// Opens it.
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, any: false }
    }

    /// Closes it.
    pub fn end(self) {
        self.out.push(b'}');
    }

    /// The way to the value of a key.
    pub fn key(&mut self, key: &'static str) -> &mut Vec<u8> {
        if self.any {
            self.out.push(b',');
        }
        self.any = true;
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// A text from data.
    pub fn text(&mut self, key: &'static str, text: Option<&Untrusted<'_>>) {
        if let Some(text) = text {
            text.write_json(self.key(key));
        }
    }

    /// A word of our own.
    pub fn word(&mut self, key: &'static str, word: &'static str) {
        Untrusted::from(word).write_json(self.key(key));
    }

    /// A whole number.
    pub fn digits(&mut self, key: &'static str, number: u64) {
        self.key(key).extend_from_slice(number.to_string().as_bytes());
    }

    /// A whole number, if there is one.
    pub fn number(&mut self, key: &'static str, number: Option<u64>) {
        if let Some(number) = number {
            self.digits(key, number);
        }
    }

    /// A number; `null` where it is not finite.
    pub fn float(&mut self, key: &'static str, number: f64) {
        let out = self.key(key);
        if number.is_finite() {
            crate::pyjson::write_float(number, out);
        } else {
            out.extend_from_slice(b"null");
        }
    }

    /// A truth value.
    pub fn flag(&mut self, key: &'static str, flag: bool) {
        self.key(key).extend_from_slice(if flag { b"true" } else { b"false" });
    }

    /// A value that is JSON already; what is not is left out.
    pub fn json(&mut self, key: &'static str, json: Option<&[u8]>) {
        let mut tape = Tape::default();
        if let Some(value) = json.and_then(|json| tape.parse(json)) {
            write_ascii(value, self.key(key));
        }
    }

    /// A list.
    pub fn all<T>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) {
        let out = self.key(key);
        out.push(b'[');
        for (n, item) in items.into_iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            write(item, out);
        }
        out.push(b']');
    }

    /// A list, if it is not empty.
    pub fn list<T>(&mut self, key: &'static str, items: &[T], write: impl FnMut(&T, &mut Vec<u8>)) {
        if !items.is_empty() {
            self.all(key, items, write);
        }
    }

    /// An object inside.
    pub fn object(&mut self, key: &'static str, members: impl FnOnce(&mut Object<'_>)) {
        let mut object = Object::begin(self.key(key));
        members(&mut object);
        object.end();
    }
}
