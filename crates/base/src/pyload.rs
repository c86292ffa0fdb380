//! Python's `json.loads`: what it takes, and what it says of what it does not take.
//!
//! The reader takes what Python's takes and a little more, and notes what Python comes upon first. Where a run has to
//! end as upstream's does, the difference matters, and so do the words: they name line, column and character.

use crate::json::{Refusal, Tape, Value};
use crate::text::{Untrusted, pieces};

/// Reasons why a text gives no value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Python's `JSONDecodeError`, in its words.
    Decode(Untrusted<'static>),
    /// Another exception of Python's, in its words: an integer of too many digits.
    Value(Untrusted<'static>),
    /// Python might take it, but it is more than is read here.
    Limit(&'static str),
}

impl From<Refused> for Untrusted<'static> {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Decode(words) | Refused::Value(words) => words,
            Refused::Limit(words) => Self::from(words),
        }
    }
}

/// Reads a text as `json.loads` does.
pub fn loads<'a>(tape: &'a mut Tape, text: &'a [u8]) -> Result<Value<'a>, Refused> {
    if text.starts_with(MARK) {
        return Err(said(text, "Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
    }
    tape.read(text);
    match tape.refusal() {
        None => tape.root(text).ok_or_else(|| said(text, "Expecting value", 0)),
        Some(Refusal::Decode(words, at)) => Err(said(text, words, at)),
        Some(Refusal::Digits(digits)) => Err(Refused::Value(Untrusted::from(format!(
            "Exceeds the limit (4300 digits) for integer string conversion: value has {digits} digits; use \
             sys.set_int_max_str_digits() to increase the limit"
        )))),
        Some(Refusal::Limit(kind)) => Err(Refused::Limit(kind.summary())),
    }
}

const MARK: &[u8] = "\u{feff}".as_bytes();

/// `JSONDecodeError`: the words, and the place in characters.
fn said(text: &[u8], words: &str, at: usize) -> Refused {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let column = 1 + pieces(&before[start..]).count();
    let character = pieces(before).count();
    Refused::Decode(Untrusted::from(format!("{words}: line {line} column {column} (char {character})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> Option<String> {
        let mut tape = Tape::default();
        loads(&mut tape, text.as_bytes()).err().map(|refused| Untrusted::from(refused).line().into_string())
    }

    #[test]
    fn what_python_takes_is_taken() {
        for text in ["{}", " [1, NaN, -Infinity, \"\\ud800\"]\n", "\"x\"", "7", "{\"a\": 1, \"a\": 2}", "\"\u{7f}\""] {
            assert_eq!(complaint(text), None, "{text}");
        }
    }

    /// `python3 -c 'import json; json.loads(TEXT)'`, CPython 3.11.
    #[test]
    fn complaints_are_pythons() {
        for (text, said) in [
            ("", "Expecting value: line 1 column 1 (char 0)"),
            ("  \n ", "Expecting value: line 2 column 2 (char 4)"),
            ("\u{feff}{}", "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"),
            ("Sure! Here is the JSON: {}", "Expecting value: line 1 column 1 (char 0)"),
            ("[", "Expecting value: line 1 column 2 (char 1)"),
            ("[1, ]", "Expecting value: line 1 column 5 (char 4)"),
            ("[1,", "Expecting value: line 1 column 4 (char 3)"),
            ("[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
            ("[1", "Expecting ',' delimiter: line 1 column 3 (char 2)"),
            ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
            ("{\"a\": 1,}", "Expecting property name enclosed in double quotes: line 1 column 9 (char 8)"),
            ("{\"a\" 1}", "Expecting ':' delimiter: line 1 column 6 (char 5)"),
            ("{\"a\":}", "Expecting value: line 1 column 6 (char 5)"),
            ("{\"a\":1 \"b\":2}", "Expecting ',' delimiter: line 1 column 8 (char 7)"),
            ("{\"a\": \"\\q\"}", "Invalid \\escape: line 1 column 8 (char 7)"),
            ("\"a", "Unterminated string starting at: line 1 column 1 (char 0)"),
            ("\"a\\", "Unterminated string starting at: line 1 column 1 (char 0)"),
            ("\"é\\u12\"", "Invalid \\uXXXX escape: line 1 column 4 (char 3)"),
            ("\"\\u123g\"", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
            ("\"\\ud800\\u12zz\"", "Invalid \\uXXXX escape: line 1 column 9 (char 8)"),
            ("\"\\u1234", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
            ("{\"漢\": 1}\n x", "Extra data: line 2 column 2 (char 10)"),
            ("1 2", "Extra data: line 1 column 3 (char 2)"),
            ("01", "Extra data: line 1 column 2 (char 1)"),
            ("1.e5", "Extra data: line 1 column 2 (char 1)"),
            ("-", "Expecting value: line 1 column 1 (char 0)"),
            ("nul", "Expecting value: line 1 column 1 (char 0)"),
            ("{\"a\": 1} trailing", "Extra data: line 1 column 10 (char 9)"),
            ("{\"a\": [}", "Expecting value: line 1 column 8 (char 7)"),
            ("[}", "Expecting value: line 1 column 2 (char 1)"),
        ] {
            assert_eq!(complaint(text).as_deref(), Some(said), "{text}");
        }
        assert_eq!(complaint("[\"a\tb\"]").unwrap(), "Invalid control character at: line 1 column 4 (char 3)");
        let digits = format!("[-{}]", "9".repeat(4301));
        assert!(complaint(&digits).unwrap().contains("value has 4301 digits"));
    }
}
