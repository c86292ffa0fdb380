//! Text from data, and its one door to the screen.
//!
//! `Untrusted` is what a file, a model or a file name said: bytes, nearly always UTF-8, sometimes with lone
//! surrogates or invalid bytes. It has no `Display`. `Shown` is made from it character by character and holds only
//! what a terminal prints as itself: controls, bidi marks and invisible characters stand there as visible signs.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr as _};

use crate::pieces::first_piece;
use crate::unicode::{is_printable, stands_alone};

pub use crate::pieces::{Piece, pieces};

/// Most combining marks that a base character keeps before the rest is shown as a count.
pub(crate) const MAX_MARKS: usize = 8;

/// Text from data: true bytes, for comparing, searching and copying. Lone surrogates are kept in the generalised UTF-8
/// form (three bytes, `ED A0 80` to `ED BF BF`), so that byte order is code point order, as Python sorts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Untrusted<'a>(Cow<'a, [u8]>);

impl<'a> Untrusted<'a> {
    /// Wraps bytes from data.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }

    /// Wraps bytes from data that were made on the way, such as an unescaped JSON string.
    pub const fn owned(bytes: Vec<u8>) -> Untrusted<'static> {
        Untrusted(Cow::Owned(bytes))
    }

    /// The true bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text where it is valid UTF-8. For decisions, never for the screen.
    pub fn utf8(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The same, to look for words in: of a text that is not UTF-8 nothing.
    pub fn readable(&self) -> &str {
        self.utf8().unwrap_or("")
    }

    /// A copy that owns its bytes.
    pub fn to_owned(&self) -> Untrusted<'static> {
        Untrusted(Cow::Owned(self.0.to_vec()))
    }

    /// The same text with its bytes moved out or copied.
    pub fn into_owned(self) -> Untrusted<'static> {
        Untrusted(Cow::Owned(self.0.into_owned()))
    }

    /// True for an empty text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// On one line: line breaks and tabs become visible signs.
    pub fn line(&self) -> Shown {
        Shown::line(&self.0)
    }

    /// As running text: line breaks stay.
    pub fn prose(&self) -> Shown {
        Shown::prose(&self.0)
    }
}

impl fmt::Debug for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.line().as_str(), f)
    }
}

impl AsRef<[u8]> for Untrusted<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<'a> From<&'a str> for Untrusted<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<String> for Untrusted<'static> {
    fn from(text: String) -> Self {
        Untrusted(Cow::Owned(text.into_bytes()))
    }
}

impl PartialEq<str> for Untrusted<'_> {
    fn eq(&self, other: &str) -> bool {
        self.bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Untrusted<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.bytes() == other.as_bytes()
    }
}

/// Text that may go to a terminal: made only by the functions of this module, or from the program's own words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Shown(Cow<'static, str>);

impl Shown {
    /// The program's own words.
    pub const fn own(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Text from data on one line.
    pub fn line(bytes: &[u8]) -> Self {
        Self::from_bytes(bytes, Breaks::Marked)
    }

    /// Text from data with its line breaks kept (`\r\n` counts as one).
    pub fn prose(bytes: &[u8]) -> Self {
        Self::from_bytes(bytes, Breaks::Kept)
    }

    /// A path from the system: a name may hold anything. On Windows it is shown with `/`, which every program takes there.
    pub fn path(path: &std::path::Path) -> Self {
        let name = path.as_os_str().as_encoded_bytes();
        if cfg!(windows) {
            let slashed: Vec<u8> = name.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect();
            return Self::line(&slashed);
        }
        Self::line(name)
    }

    /// The last part of a path.
    #[must_use]
    pub fn last_part(&self) -> Self {
        let part = self.0.rsplit('/').find(|part| !part.is_empty());
        part.map_or_else(|| self.clone(), |part| Self(Cow::Owned(part.to_owned())))
    }

    /// An error text of a library, which may quote data.
    pub fn error(error: &dyn fmt::Display) -> Self {
        Self::line(error.to_string().as_bytes())
    }

    fn from_bytes(bytes: &[u8], breaks: Breaks) -> Self {
        if let (true, Ok(text)) = (is_plain(bytes), std::str::from_utf8(bytes)) {
            return Self(Cow::Owned(text.to_owned()));
        }
        let (mut writer, mut at) = (ShownWriter::new(breaks), 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let run = rest.iter().position(|byte| !is_plain_byte(*byte)).unwrap_or(rest.len());
            writer.push_plain(&rest[..run]);
            at += run;
            if let Some(rest) = rest.get(run..).filter(|rest| !rest.is_empty()) {
                let (len, piece) = first_piece(rest);
                writer.push(at..at + len, piece, bytes);
                at += len;
            }
        }
        Self(Cow::Owned(writer.finish()))
    }

    /// The printable text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends the program's own words.
    #[must_use]
    pub fn and(mut self, own: &'static str) -> Self {
        self.0.to_mut().push_str(own);
        self
    }

    /// Appends other shown text.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        self.0.to_mut().push_str(other.as_str());
        self
    }

    /// Names on one line, of many only the first.
    pub fn listed(names: impl IntoIterator<Item = Self>, most: usize) -> Self {
        let mut names = names.into_iter();
        let named = names.by_ref().take(most).reduce(|all, name| all.and(", ").join(&name)).unwrap_or_default();
        if names.next().is_some() { named.and(", …") } else { named }
    }

    /// A number in the program's own words.
    pub fn count(n: usize) -> Self {
        Self(Cow::Owned(n.to_string()))
    }

    /// The beginning, of at most `characters` characters; `…` behind it where something is missing.
    #[must_use]
    pub fn cut(self, characters: usize) -> Self {
        match self.as_str().char_indices().nth(characters) {
            None => self,
            Some((at, _)) => Self(Cow::Owned(format!("{}…", &self.as_str()[..at]))),
        }
    }

    /// The beginning, of about `bytes` bytes, and how much is missing.
    #[must_use]
    pub fn shortened(self, bytes: usize) -> Self {
        let text = self.as_str();
        if text.len() <= bytes {
            return self;
        }
        let head = cut(text, bytes);
        Self(Cow::Owned(format!("{head}… {} bytes more", text.len() - head.len())))
    }

    /// The same text in ASCII: twins of signs, escapes of other characters.
    #[must_use]
    pub fn ascii(self) -> Self {
        if self.0.is_ascii() { self } else { Self(Cow::Owned(crate::ascii::text(self.0.as_bytes()))) }
    }

    /// The printable text, given away.
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for Shown {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Puts shown and own pieces together: `shown!("step {}", name.line())`. The arguments must be [`Shown`], numbers or
/// own words; the macro cannot see an [`Untrusted`], which has no `Display`.
#[macro_export]
macro_rules! shown {
    ($($arg:tt)*) => { $crate::text::formatted(format!($($arg)*)) };
}

/// Not for direct use: see [`shown!`]. A last look keeps the promise even if a `String` of data slipped in.
pub fn formatted(text: String) -> Shown {
    if text.chars().all(|c| c == '\n' || !is_hidden(c)) {
        Shown(Cow::Owned(text))
    } else {
        Shown::prose(text.as_bytes())
    }
}

/// Shown text with the way back: which bytes of the data each shown position stands for.
#[derive(Clone, Debug, Default)]
pub struct ShownMap {
    /// The printable text.
    pub text: Shown,
    /// Ascending pairs (byte of the data, byte of the shown text), one for each piece. None where the data is plain:
    /// there each byte is shown where it stands.
    marks: Vec<(u32, u32)>,
}

impl ShownMap {
    /// Makes one line printable and remembers where each byte went.
    pub fn line(bytes: &[u8]) -> Self {
        Self::of(bytes, Breaks::Marked)
    }

    /// Makes running text printable, with its line breaks, and remembers where each byte went.
    pub fn prose(bytes: &[u8]) -> Self {
        Self::of(bytes, Breaks::Kept)
    }

    fn of(bytes: &[u8], breaks: Breaks) -> Self {
        if is_plain(bytes) {
            return Self { text: Shown::from_bytes(bytes, breaks), marks: Vec::new() };
        }
        let mut writer = ShownWriter::new(breaks);
        let mut marks = Vec::with_capacity(bytes.len() + 1);
        for (range, piece) in pieces(bytes) {
            marks.push((range.start as u32, writer.out.len() as u32));
            writer.push(range, piece, bytes);
        }
        marks.push((bytes.len() as u32, writer.out.len() as u32));
        Self { text: Shown(Cow::Owned(writer.finish())), marks }
    }

    /// The shown range of a range of the data.
    pub fn range(&self, data: Range<usize>) -> Range<usize> {
        let start = self.at(data.start);
        start..self.at(data.end).max(start)
    }

    fn at(&self, data: usize) -> usize {
        let after = self.marks.partition_point(|&(from, _)| (from as usize) < data);
        let end = self.text.as_str().len();
        if self.marks.is_empty() {
            return data.min(end);
        }
        self.marks.get(after).map_or(end, |&(_, to)| (to as usize).min(end))
    }
}

/// Treatment of line breaks and tabs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Kept,
    Marked,
}

/// Measures a sequence for terminals that a text begins with, such as a colour, in bytes.
pub fn escape_len(rest: &[u8]) -> usize {
    let [_, b'[', body @ ..] = rest else { return 1 };
    let parameters = body.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
    (3 + parameters).min(rest.len())
}

/// The longest beginning of at most `bytes` bytes that ends between characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// The first bytes of a text from data, at most so many, without cutting a character in two.
pub fn head(bytes: &[u8], limit: usize) -> &[u8] {
    let Some(head) = bytes.get(..limit).filter(|_| bytes.len() > limit) else { return bytes };
    // A character has at most four bytes: its first one is among the last three.
    let starts = head.iter().rev().take(3).position(|byte| byte & 0xc0 != 0x80);
    let whole = starts.map_or(limit, |back| {
        let start = limit - 1 - back;
        let need = bytes.get(start..).map_or(0, |rest| first_piece(rest).0);
        if start + need > limit { start } else { limit }
    });
    bytes.get(..whole).unwrap_or(head)
}

/// True if a character would be invisible, move the cursor, change the direction of text or hide other text.
pub fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    match code {
        // Space separators are blank but honest.
        0x20..0x7f | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000 => false,
        // Fillers, joiners and variation selectors are "printable" and draw nothing.
        0x034f
        | 0x115f
        | 0x1160
        | 0x17b4
        | 0x17b5
        | 0x180b..=0x180f
        | 0x2800
        | 0x3164
        | 0xffa0
        | 0xfe00..=0xfe0f
        | 0xe_0000.. => true,
        _ => !is_printable(code),
    }
}

/// True if each byte is a character of ASCII that can be shown as it is, one column wide.
pub fn is_plain(text: &[u8]) -> bool {
    // Looked at whole, without stopping, which takes a few wide instructions.
    text.iter().fold(true, |plain, byte| plain & is_plain_byte(*byte))
}

/// The beginning of a text in which each character takes a column of its own, the number of these, and the rest. The
/// beginning is all of it, or ends before the character that the first other one may belong to.
#[inline]
pub fn split_plain(text: &str) -> (&str, usize, &str) {
    match text.bytes().position(|byte| !is_plain_byte(byte)) {
        None => (text, text.len(), ""),
        Some(at) => split_plain_from(text, at),
    }
}

/// [`split_plain`] of a text whose first bytes are known to be plain.
fn split_plain_from(text: &str, at: usize) -> (&str, usize, &str) {
    let (mut columns, mut last) = (at, at.saturating_sub(1));
    for (offset, c) in text[at..].char_indices() {
        if !stands_alone(c) {
            let (head, tail) = text.split_at(last);
            return (head, columns.saturating_sub(1), tail);
        }
        (columns, last) = (columns + 1, at + offset);
    }
    (text, columns, "")
}

/// Number of columns that a text takes on a terminal.
#[inline]
pub fn columns(text: &str) -> usize {
    let (_, columns, rest) = split_plain(text);
    columns + rest.width()
}

const fn is_plain_byte(byte: u8) -> bool {
    matches!(byte, 0x20..0x7f)
}

struct ShownWriter {
    out: String,
    breaks: Breaks,
    marks: usize,
    dropped: usize,
}

impl ShownWriter {
    const fn new(breaks: Breaks) -> Self {
        Self { out: String::new(), breaks, marks: 0, dropped: 0 }
    }

    fn push_plain(&mut self, run: &[u8]) {
        if !run.is_empty() {
            self.close_marks();
            self.out.push_str(std::str::from_utf8(run).expect("printable ASCII"));
        }
    }

    fn push(&mut self, range: Range<usize>, piece: Piece, bytes: &[u8]) {
        match piece {
            Piece::Char(c) => self.push_char(c, range, bytes),
            Piece::Surrogate(code) => self.push_code(code),
            Piece::Byte(byte) => {
                self.close_marks();
                let _ = write!(self.out, "⟨{byte:02X}⟩");
            }
        }
    }

    fn push_char(&mut self, c: char, range: Range<usize>, bytes: &[u8]) {
        if c == '\n' && self.breaks == Breaks::Kept {
            self.close_marks();
            self.out.push('\n');
        } else if c == '\r' && self.breaks == Breaks::Kept && bytes.get(range.end) == Some(&b'\n') {
            // The pair is one line break.
        } else if c == '\n' {
            self.close_marks();
            // Few fonts have its control picture, and it is the one that is met.
            self.out.push('⏎');
        } else if u32::from(c) < 0x20 {
            self.close_marks();
            self.out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀'));
        } else if c == '\u{7f}' {
            self.close_marks();
            self.out.push('␡');
        } else if is_hidden(c) {
            self.push_code(u32::from(c));
        } else if c.width() == Some(0) {
            self.marks += 1;
            if self.marks > MAX_MARKS || self.out.is_empty() {
                self.dropped += 1;
            } else {
                self.out.push(c);
            }
        } else {
            self.close_marks();
            self.out.push(c);
        }
    }

    fn push_code(&mut self, code: u32) {
        self.close_marks();
        let _ = write!(self.out, "⟨U+{code:04X}⟩");
    }

    fn close_marks(&mut self) {
        if self.dropped > 0 {
            let _ = write!(self.out, "⟨+{} marks⟩", self.dropped);
        }
        self.marks = 0;
        self.dropped = 0;
    }

    fn finish(mut self) -> String {
        self.close_marks();
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: &[u8]) -> String {
        Shown::line(bytes).into_string()
    }

    #[test]
    fn controls_and_bidi_are_visible() {
        assert_eq!(line(b"a\x1b[31mb"), "a␛[31mb");
        assert_eq!(line("a\u{202e}b".as_bytes()), "a⟨U+202E⟩b");
        assert_eq!(line("a\u{9b}b\u{200b}c\u{e0041}".as_bytes()), "a⟨U+009B⟩b⟨U+200B⟩c⟨U+E0041⟩");
        assert_eq!(line(b"a\xffb\xed\xa0\x80"), "a⟨FF⟩b⟨U+D800⟩");
        assert_eq!(line(b"a\r\nb\tc\x7f"), "a␍⏎b␉c␡");
        assert_eq!(Shown::prose(b"a\r\nb").as_str(), "a\nb");
    }

    #[test]
    fn a_pile_of_marks_is_counted() {
        let text = format!("e{}x", "\u{301}".repeat(20));
        assert_eq!(line(text.as_bytes()), format!("e{}⟨+12 marks⟩x", "\u{301}".repeat(8)));
    }

    #[test]
    fn every_scalar_value_is_safe() {
        for code in 0..=0x10_ffff {
            let Some(c) = char::from_u32(code) else { continue };
            let shown = line(c.to_string().as_bytes());
            assert!(shown.chars().all(|c| !is_hidden(c)), "U+{code:04X} -> {shown:?}");
            assert!(!shown.is_empty(), "U+{code:04X} vanished");
        }
    }

    #[test]
    fn the_map_leads_to_the_shown_place() {
        let map = ShownMap::line("é\u{1b}x".as_bytes());
        assert_eq!(map.text.as_str(), "é␛x");
        assert_eq!(map.range(2..3), 2..5);
        assert_eq!(map.range(3..4), 5..6);
        assert_eq!(map.range(9..12), 6..6);
        let plain = ShownMap::line(b"plain");
        assert_eq!([plain.range(1..3), plain.range(4..9), plain.range(9..12)], [1..3, 4..5, 5..5]);
    }

    #[test]
    fn a_head_never_cuts_a_character() {
        let text = "aé漢🍐".as_bytes();
        let heads: Vec<usize> = (0..=text.len()).map(|limit| head(text, limit).len()).collect();
        assert_eq!(heads, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        assert_eq!(head(b"ab\xffcd", 3), b"ab\xff", "what is no character is cut anywhere");
        assert_eq!(head(b"\xe6\xbc", 1), b"\xe6");
        assert_eq!(head(b"\x80\x80\x80\x80\x80", 4).len(), 4);
    }
}
