//! Python's `json.loads`: what it takes, and what it says of what it does not take.
//!
//! Our own reader takes what Python's takes and a little more. Where a run has to end as upstream's does, the
//! difference matters, and so do the words: they name line, column and character.

use crate::json::{Kind, MAX_PROBLEMS, ProblemKind, Tape, Value};
use crate::text::{Untrusted, pieces};

/// Why a text gives no value.
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
    let read = tape.read(text);
    let listed = tape.problems.iter().find(|problem| {
        problem.kind.is_fatal() || matches!(problem.kind, ProblemKind::ControlCharacter | ProblemKind::LongInteger)
    });
    let refused = listed.map(|problem| (problem.kind, problem.range.len(), problem.range.start));
    // Only so many problems are listed: behind others there may be more.
    let unlisted = || match tape.root(text).filter(|_| read && tape.problems.len() + 1 >= MAX_PROBLEMS) {
        Some(root) => root.walk().find_map(|stop| stop.key.into_iter().chain([stop.value]).find_map(refused_by_python)),
        None => None,
    };
    match refused.or_else(unlisted) {
        None if read => tape.root(text).ok_or_else(|| said(text, "Expecting value", 0)),
        Some((ProblemKind::LongInteger, len, start)) => {
            let digits = len - usize::from(text.get(start) == Some(&b'-'));
            Err(Refused::Value(Untrusted::from(format!(
                "Exceeds the limit (4300 digits) for integer string conversion: value has {digits} digits; use \
                 sys.set_int_max_str_digits() to increase the limit"
            ))))
        }
        Some((kind @ (ProblemKind::TooDeep | ProblemKind::TooLong | ProblemKind::TooMany), ..)) => {
            Err(Refused::Limit(kind.summary()))
        }
        _ => {
            let (words, at) = Scanner { text, at: 0 }.complaint();
            Err(said(text, words, at))
        }
    }
}

/// What Python does not take, with its length and place.
fn refused_by_python(value: Value<'_>) -> Option<(ProblemKind, usize, usize)> {
    let range = value.range();
    match value.kind() {
        Kind::String | Kind::Key => {
            let at = value.raw().iter().position(|byte| *byte < 0x20)?;
            Some((ProblemKind::ControlCharacter, 1, range.start + at))
        }
        Kind::Int if value.raw().iter().filter(|byte| byte.is_ascii_digit()).count() > 4300 => {
            Some((ProblemKind::LongInteger, range.len(), range.start))
        }
        _ => None,
    }
}

const MARK: &[u8] = "\u{feff}".as_bytes();

/// `JSONDecodeError`: the words, and the place in characters.
fn said(text: &[u8], words: &str, at: usize) -> Refused {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let column = 1 + pieces(before.get(start..).unwrap_or_default()).count();
    let character = pieces(before).count();
    Refused::Decode(Untrusted::from(format!("{words}: line {line} column {column} (char {character})")))
}

type Complaint = (&'static str, usize);

/// Goes through a text in the order of CPython's scanner, to the first thing that it refuses.
struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scanner<'_> {
    fn complaint(mut self) -> Complaint {
        self.blanks();
        if let Err(complaint) = self.document() {
            return complaint;
        }
        self.blanks();
        ("Extra data", self.at)
    }

    fn document(&mut self) -> Result<(), Complaint> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            // A value stands here.
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    self.blanks();
                    if self.peek() == Some(if bracket == b'{' { b'}' } else { b']' }) {
                        self.at += 1;
                    } else {
                        open.push(bracket);
                        if bracket == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                _ => self.word()?,
            }
            // What follows a value.
            loop {
                let Some(&bracket) = open.last() else { return Ok(()) };
                self.blanks();
                match self.peek() {
                    Some(b'}') if bracket == b'{' => {}
                    Some(b']') if bracket == b'[' => {}
                    Some(b',') => {
                        self.at += 1;
                        self.blanks();
                        if bracket == b'{' {
                            self.key()?;
                        }
                        break;
                    }
                    _ => return Err(("Expecting ',' delimiter", self.at)),
                }
                self.at += 1;
                open.pop();
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn key(&mut self) -> Result<(), Complaint> {
        if self.peek() != Some(b'"') {
            return Err(("Expecting property name enclosed in double quotes", self.at));
        }
        self.string()?;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(("Expecting ':' delimiter", self.at));
        }
        self.at += 1;
        self.blanks();
        Ok(())
    }

    fn string(&mut self) -> Result<(), Complaint> {
        let begin = self.at;
        let open = Err(("Unterminated string starting at", begin));
        self.at += 1;
        loop {
            let Some(byte) = self.peek() else { return open };
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => match self.text.get(self.at + 1) {
                    None => return open,
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
                    Some(b'u') => self.unicode()?,
                    Some(_) => return Err(("Invalid \\escape", self.at)),
                },
                0..0x20 => return Err(("Invalid control character at", self.at)),
                _ => self.at += 1,
            }
        }
    }

    /// At the backslash of `\uXXXX`.
    fn unicode(&mut self) -> Result<(), Complaint> {
        let digits = |at: usize| {
            let digits = self.text.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            digits.and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
        };
        let invalid = |at| Err(("Invalid \\uXXXX escape", at));
        // Python wants one more character behind the digits, for the quote.
        if self.characters_from(self.at + 2) <= 4 {
            return invalid(self.at + 1);
        }
        let Some(first) = digits(self.at + 2) else { return invalid(self.at + 1) };
        self.at += 6;
        let pair = (0xd800..0xdc00).contains(&first) && self.text.get(self.at..self.at + 2) == Some(b"\\u");
        if pair && self.characters_from(self.at) > 6 {
            match digits(self.at + 2) {
                None => return invalid(self.at + 1),
                Some(0xdc00..0xe000) => self.at += 6,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// How many characters stand from here on, counted up to seven.
    fn characters_from(&self, at: usize) -> usize {
        pieces(self.text.get(at..).unwrap_or_default()).take(7).count()
    }

    /// A number or a word; what is none is no value.
    fn word(&mut self) -> Result<(), Complaint> {
        const WORDS: [&[u8]; 6] = [b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity"];
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let Some(word) = WORDS.into_iter().find(|word| rest.starts_with(word)) {
            self.at += word.len();
            return Ok(());
        }
        let digits = |from: usize| rest.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = usize::from(rest.first() == Some(&b'-'));
        end += match rest.get(end) {
            Some(b'0') => 1,
            Some(b'1'..=b'9') => digits(end),
            _ => return Err(("Expecting value", self.at)),
        };
        if rest.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if let Some(b'e' | b'E') = rest.get(end) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            end += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        self.at += end;
        Ok(())
    }
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
