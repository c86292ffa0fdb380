//! A text with its escapes undone, and the way back to the place of each character.
//!
//! Letters that look like others become those, characters without width go, and a word that a line end broke is whole
//! again.

use std::ops::Range;

use icu_normalizer::ComposingNormalizer;
use stepscope_base::text::{Piece, escape_len, is_hidden, pieces};

/// JSON in a string of JSON is undone so often.
const MAX_LEVELS: usize = 5;
/// Letters of other alphabets and signs, with what they look like. What Unicode calls the same in another form (wide,
/// mathematical, set high) needs no row. Its own table of look-alikes makes one letter of `I`, `l` and `1`, which keys
/// tell apart.
const ALIKE: &[(&str, &str)] = &[
    ("аԁеӏіјкорсѕухүѵԝԛһ", "adelijkopcsyxyvwqh"),
    ("АВЕЅІЈКМНОРСТУХԚԜЗҮӀ", "ABESIJKMHOPCTYXQW3YI"),
    ("αονρικτυχγεϲϳ", "aovpiktuxyecj"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "ABEZHIKMNOPTYXC"),
    ("ıɑɡɩոսօհցզᴏᴄᴠᴡᴢꜱ", "iaginuohgqocvwzs"),
    ("‐‑‒–—―−﹘⁃", "---------"),
    ("ˍ‗․꞉∶ː⁄∕꞊", "__.::://="),
    ("“”„‟‘’‚‛", "\"\"\"\"''''"),
];

/// Longest part of a word at a line end that is looked at.
const LONGEST_PART: usize = 128;
/// No word is so long.
const LONG_PART: usize = 24;

/// One way to read a text.
#[derive(Debug)]
pub(super) struct Unescaped {
    text: Vec<u8>,
    /// Start and end in the source of each byte; empty: the text is the source.
    at: Vec<(u32, u32)>,
}

/// Bytes that one character means: none, if it is invisible.
#[derive(Clone, Copy, Default)]
struct Meant {
    bytes: [u8; 4],
    len: u8,
}

impl Meant {
    const NOTHING: Self = Self { bytes: [0; 4], len: 0 };

    const fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], len: 1 }
    }

    fn char(c: char) -> Self {
        let mut meant = Self { bytes: [0; 4], len: c.len_utf8() as u8 };
        c.encode_utf8(&mut meant.bytes);
        meant
    }

    fn code(code: u32) -> Self {
        char::from_u32(code).map_or(Self::NOTHING, Self::char)
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }
}

impl Unescaped {
    /// Gives a text as it stands, with one level of escapes less each, and the last of these without line ends inside
    /// words. `true`: with the first or the last.
    pub(super) fn each(text: &[u8], mut read: impl FnMut(&Self, bool)) {
        let mut view = Self { text: text.to_vec(), at: Vec::new() };
        let mut unfolded = None;
        for level in 0..=MAX_LEVELS {
            let next = view.undone().filter(|_| level < MAX_LEVELS);
            unfolded = if next.is_none() { view.unfolded() } else { None };
            read(&view, level == 0 || (next.is_none() && unfolded.is_none()));
            let Some(next) = next else { break };
            view = next;
        }
        if let Some(view) = unfolded {
            read(&view, true);
        }
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
        self.text.iter().position(special)?;
        let mut next = Self { text: Vec::with_capacity(self.text.len()), at: Vec::with_capacity(self.text.len()) };
        let (mut at, mut changed) = (0, false);
        while let Some(rest) = self.text.get(at..)
            && let Some(byte) = rest.first()
        {
            let (len, meant) = if special(byte) { first(rest) } else { (1, Meant::byte(*byte)) };
            changed |= rest.get(..len) != Some(meant.bytes());
            let from = self.in_source(&(at..at + len));
            for byte in meant.bytes() {
                next.text.push(*byte);
                next.at.push((from.start as u32, from.end as u32));
            }
            at += len;
        }
        changed.then_some(next)
    }

    /// Without the line ends, and the blanks around them, that stand in the middle of what may be a key; `None`: there
    /// are none.
    fn unfolded(&self) -> Option<Self> {
        memchr::memchr2(b'\n', b'\r', &self.text)?;
        let mut next = Self { text: Vec::with_capacity(self.text.len()), at: Vec::with_capacity(self.text.len()) };
        let mut at = 0;
        while let Some(byte) = self.text.get(at) {
            if matches!(byte, b'\n' | b'\r') {
                let kept = next.text.trim_ascii_end().len();
                let gap = self.text.iter().skip(at).take_while(|byte| byte.is_ascii_whitespace()).count();
                if is_begun(next.text.trim_ascii_end()) && is_rest(self.text.get(at + gap..)?) {
                    next.text.truncate(kept);
                    next.at.truncate(kept);
                    at += gap;
                    continue;
                }
            }
            let from = self.in_source(&(at..at + 1));
            next.text.push(*byte);
            next.at.push((from.start as u32, from.end as u32));
            at += 1;
        }
        (next.text.len() < self.text.len()).then_some(next)
    }
}

/// Tells whether a key may hold this byte.
fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b':')
}

/// Tells whether a line ends in what may be the beginning of a key, and is no word of prose.
fn is_begun(line: &[u8]) -> bool {
    let part = line.iter().rev().take(LONGEST_PART).take_while(|byte| is_part(byte)).count();
    let part = line.get(line.len() - part..).unwrap_or(line);
    is_fragment(part)
        || part.iter().skip(1).any(|byte| matches!(byte, b'-' | b'_'))
        || (part.len() > 1 && part.iter().all(u8::is_ascii_uppercase))
}

/// Tells whether a line begins with what may be the rest of a key, and is no word of prose.
fn is_rest(line: &[u8]) -> bool {
    let part = line.iter().take(LONGEST_PART).take_while(|byte| is_part(byte)).count();
    line.get(..part).is_some_and(is_fragment)
}

/// Tells whether a part of a text is of letters and digits, or of small and capital letters in no order.
fn is_fragment(part: &[u8]) -> bool {
    let turns =
        part.windows(2).filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let has_letter = part.iter().any(u8::is_ascii_alphabetic);
    (has_letter && part.iter().any(u8::is_ascii_digit)) || turns.count() > 0 || part.len() >= LONG_PART
}

/// Decodes the first character of a text: the number of its bytes, and the bytes it means.
fn first(rest: &[u8]) -> (usize, Meant) {
    let escape = match rest.first() {
        Some(b'\\') => slash(rest),
        Some(b'%') => hex(rest.get(1..3)).map(|byte| (3, Meant::byte(byte as u8))),
        Some(b'&') => reference(rest),
        Some(0x1b) => Some((escape_len(rest), Meant::NOTHING)),
        _ => None,
    };
    escape.unwrap_or_else(|| {
        let Some((range, piece)) = pieces(rest.get(..4.min(rest.len())).unwrap_or(rest)).next() else {
            return (1, Meant::NOTHING);
        };
        match piece {
            Piece::Char('\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}') => (range.end, Meant::byte(b'\n')),
            Piece::Char(c) if is_hidden(c) && !matches!(c, '\n' | '\r' | '\t') => (range.end, Meant::NOTHING),
            Piece::Char(c) => (range.end, Meant::char(like(c))),
            _ => (1, Meant::byte(rest.first().copied().unwrap_or(0))),
        }
    })
}

/// Returns the ASCII character that a character looks like, or itself.
fn like(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    // Where most scripts have nothing that looks like a letter of a key, nothing is looked up.
    let alike = match c {
        ..'\u{2300}' | '\u{a700}'..'\u{a800}' | '\u{fe50}'..'\u{fe60}' => ALIKE.iter().find_map(|(others, own)| {
            let at = others.chars().position(|other| other == c)?;
            own.chars().nth(at)
        }),
        _ => None,
    };
    let form = || match c {
        '\u{aa}'..='\u{ba}' | '\u{2070}'..'\u{2190}' | '\u{2460}'..'\u{2500}' | '\u{fe50}'.. => {
            let normal = ComposingNormalizer::new_nfkc().normalize(c.encode_utf8(&mut [0; 4])).into_owned();
            let mut chars = normal.chars();
            chars.next().filter(|form| form.is_ascii() && chars.next().is_none())
        }
        _ => None,
    };
    alike.or_else(form).unwrap_or(c)
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0_u32, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}

/// Escapes with a backslash, as JSON, Python and JavaScript have them.
fn slash(rest: &[u8]) -> Option<(usize, Meant)> {
    let simple = |c: u8| Some((2, Meant::byte(c)));
    match rest.get(1)? {
        b'u' if rest.get(2) == Some(&b'{') => {
            let digits = rest.get(3..)?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let code = hex(rest.get(3..3 + digits.min(6)))?;
            (rest.get(3 + digits) == Some(&b'}')).then(|| (4 + digits, Meant::code(code)))
        }
        b'u' => {
            let unit = hex(rest.get(2..6))?;
            let low = || (rest.get(6..8) == Some(b"\\u")).then(|| hex(rest.get(8..12))).flatten();
            match (unit, low()) {
                (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                    Some((12, Meant::code(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))))
                }
                _ => Some((6, Meant::code(unit))),
            }
        }
        b'U' => Some((10, Meant::code(hex(rest.get(2..10))?))),
        b'x' => Some((4, Meant::code(hex(rest.get(2..4))?))),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        c @ (b'"' | b'\'' | b'\\' | b'/' | b'-' | b'_' | b'.' | b'@' | b'+' | b'=' | b':') => simple(*c),
        // A line that goes on.
        b'\n' => Some((2, Meant::NOTHING)),
        _ => None,
    }
}

/// References to characters, as HTML has them.
fn reference(rest: &[u8]) -> Option<(usize, Meant)> {
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
            "shy" => '\u{ad}',
            "ZeroWidthSpace" => '\u{200b}',
            "Tab" => '\t',
            "NewLine" => '\n',
            _ => return None,
        }),
    };
    Some((end + 1, Meant::code(code)))
}
