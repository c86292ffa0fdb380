//! A text with its escapes undone, and the way back to the place of each character.

use std::ops::Range;

use stepscope_base::text::{Piece, escape_len, is_hidden, pieces};

/// JSON in a string of JSON is undone so often.
const MAX_LEVELS: usize = 5;

/// One way to read a text.
#[derive(Debug)]
pub(super) struct Unescaped {
    text: Vec<u8>,
    /// Start and end in the source of each byte; empty: the text is the source.
    at: Vec<(u32, u32)>,
}

impl Unescaped {
    /// As it stands, and with one level of escapes less each.
    pub(super) fn all(text: &[u8]) -> Vec<Self> {
        let mut all = vec![Self { text: text.to_vec(), at: Vec::new() }];
        while all.len() <= MAX_LEVELS
            && let Some(next) = all.last().and_then(Self::undone)
        {
            all.push(next);
        }
        all
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Maps a range of the text to the text it was read from.
    pub(super) fn in_source(&self, range: &Range<usize>) -> Range<usize> {
        if self.at.is_empty() {
            return range.clone();
        }
        let start = self.at.get(range.start).map_or(0, |(start, _)| *start as usize);
        let end = range.end.checked_sub(1).and_then(|last| self.at.get(last)).map_or(start, |(_, end)| *end as usize);
        start..end.max(start)
    }

    /// With one level of escapes less; `None`: there are none.
    fn undone(&self) -> Option<Self> {
        let special = |byte: &u8| matches!(byte, b'\\' | b'%' | b'&' | 0..0x20 | 0x7f..);
        if !self.text.iter().any(special) {
            return None;
        }
        let mut next = Self { text: Vec::with_capacity(self.text.len()), at: Vec::with_capacity(self.text.len()) };
        let (mut at, mut changed) = (0, false);
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let (len, bytes) = first(rest);
            changed |= rest.get(..len) != Some(bytes.as_slice());
            let from = self.in_source(&(at..at + len));
            for byte in bytes {
                next.text.push(byte);
                next.at.push((from.start as u32, from.end as u32));
            }
            at += len;
        }
        changed.then_some(next)
    }
}

/// Decodes the first character of a text: the number of its bytes, and the bytes it means: none, if it is invisible.
fn first(rest: &[u8]) -> (usize, Vec<u8>) {
    let escape = match rest.first() {
        Some(b'\\') => slash(rest),
        Some(b'%') => hex(rest.get(1..3)).map(|byte| (3, vec![byte as u8])),
        Some(b'&') => reference(rest),
        Some(0x1b) => Some((escape_len(rest), Vec::new())),
        _ => None,
    };
    escape.unwrap_or_else(|| {
        let Some((range, piece)) = pieces(rest.get(..4.min(rest.len())).unwrap_or_default()).next() else {
            return (1, Vec::new());
        };
        let bytes = rest.get(range.clone()).unwrap_or_default().to_vec();
        match piece {
            Piece::Char(c) if is_hidden(c) && !matches!(c, '\n' | '\r' | '\t') => (range.end, Vec::new()),
            _ => (range.end, bytes),
        }
    })
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0_u32, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}

fn utf8(code: u32) -> Vec<u8> {
    char::from_u32(code).map(|c| c.to_string().into_bytes()).unwrap_or_default()
}

/// Escapes with a backslash, as JSON, Python and JavaScript have them.
fn slash(rest: &[u8]) -> Option<(usize, Vec<u8>)> {
    let simple = |c: u8| Some((2, vec![c]));
    match rest.get(1)? {
        b'u' if rest.get(2) == Some(&b'{') => {
            let digits = rest.get(3..)?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let code = hex(rest.get(3..3 + digits.min(6)))?;
            (rest.get(3 + digits) == Some(&b'}')).then(|| (4 + digits, utf8(code)))
        }
        b'u' => {
            let unit = hex(rest.get(2..6))?;
            let low = || (rest.get(6..8) == Some(b"\\u")).then(|| hex(rest.get(8..12))).flatten();
            match (unit, low()) {
                (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                    Some((12, utf8(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))))
                }
                _ => Some((6, utf8(unit))),
            }
        }
        b'U' => Some((10, utf8(hex(rest.get(2..10))?))),
        b'x' => Some((4, utf8(hex(rest.get(2..4))?))),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        c @ (b'"' | b'\'' | b'\\' | b'/' | b'-' | b'_' | b'.' | b'@' | b'+') => simple(*c),
        // A line that goes on.
        b'\n' => Some((2, Vec::new())),
        _ => None,
    }
}

/// References to characters, as HTML has them.
fn reference(rest: &[u8]) -> Option<(usize, Vec<u8>)> {
    let end = rest.iter().take(12).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(rest.get(1..end)?).ok()?;
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        },
        None => u32::from(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "commat" => '@',
            "period" => '.',
            "sol" => '/',
            "bsol" => '\\',
            "lowbar" => '_',
            "hyphen" | "dash" => '-',
            "colon" => ':',
            "equals" => '=',
            _ => return None,
        }),
    };
    Some((end + 1, utf8(code)))
}
