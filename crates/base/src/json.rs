//! JSON as people really have it: what Python's `json` writes and reads (`NaN`, `Infinity`, any integer, duplicate
//! keys, lone surrogates), each value with its place in the text.
//!
//! One pass over the bytes fills a `Tape`: a flat list of nodes in document order, 16 bytes each, reused from record
//! to record. Nothing here recurses, so depth costs no stack. A `Value` is a light handle on tape and text; numbers
//! keep their digits because they are only ever ranges of the text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use wide::u8x16;

use crate::text::Untrusted;

/// Equality of values as a reader sees them.
pub mod same;
/// The one writer of JSON.
pub mod write;

/// Deeper nesting is reported, not read. CPython's reader gives up a little below 1,000.
pub const MAX_DEPTH: usize = 512;
/// A longer text is not read as one JSON value.
pub const MAX_TEXT: usize = 64 << 20;
/// A text with more values than that is not read: its tape would need many times its size.
pub const MAX_VALUES: usize = 4 << 20;
/// Most problems of one kind in one text that are listed; the others are counted.
const MAX_LISTED: u32 = 3;

/// Kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number without point and exponent, any size.
    Int,
    /// A number with point or exponent.
    Float,
    /// `NaN`, `Infinity` or `-Infinity`, as Python writes them.
    NotFinite,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// The key of the member that follows; only inside the tape.
    Key,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end: u32,
    /// Index of the node after this one's subtree.
    next: u32,
    kind: Kind,
    /// A string or key that holds a backslash.
    escaped: bool,
}

impl Node {
    /// True if a string or key, unescaped, is made of these bytes.
    #[inline]
    fn spells(self, text: &[u8], bytes: &[u8]) -> bool {
        if self.escaped {
            return spells_escaped(text, self, bytes);
        }
        // Most are told apart by their length alone.
        self.end.wrapping_sub(self.start) as usize == bytes.len() + 2 && raw_inner(text, self) == bytes
    }
}

#[cold]
fn spells_escaped(text: &[u8], node: Node, bytes: &[u8]) -> bool {
    unescape(raw_inner(text, node)) == bytes
}

/// A container that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    node: u32,
    inside: Inside,
    /// Number of keys that had the sign of an earlier one.
    alike: u8,
    /// The signs of its keys, one bit each; see [`sign`].
    signs: u64,
    /// A key may stand twice in it.
    doubtful: bool,
}

/// Oddities of a text that could be read, and reasons why one could not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// `NaN` or `Infinity`: Python's, not JSON's.
    NotFinite,
    /// A key that stands again later; the last one counts.
    DuplicateKey,
    /// A raw control character in a string: Python's reader refuses the text.
    ControlCharacter,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A lone surrogate escape.
    LoneSurrogate,
    /// An integer with more digits than Python reads (4,300).
    LongInteger,
    /// A float beyond the range of 64 bits; Python reads it as infinity.
    OutOfRange,
    /// The text ends in the middle of a value.
    Cut,
    /// Something that JSON does not allow here.
    Unexpected,
    /// More text after the value.
    Trailing,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// Longer than [`MAX_TEXT`].
    TooLong,
    /// An escape that JSON does not know.
    BadEscape,
    /// More values than [`MAX_VALUES`].
    TooMany,
}

impl ProblemKind {
    /// The problem, as half a sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::NotFinite => "a number that is not finite, as Python writes it; JSON has no such number",
            Self::DuplicateKey => "duplicate key in one object; the last value counts",
            Self::ControlCharacter => "a raw control character inside a string; Python's reader refuses it",
            Self::InvalidUtf8 => "bytes that are not UTF-8",
            Self::LoneSurrogate => "half a surrogate pair, which is not a character",
            Self::LongInteger => "an integer of more than 4,300 digits, which Python's reader refuses",
            Self::OutOfRange => "a number beyond the range of 64-bit floats; Python reads it as infinity",
            Self::Cut => "the text ends in the middle of a value",
            Self::Unexpected => "not JSON from here on",
            Self::Trailing => "more text after the end of the value",
            Self::TooDeep => "nested deeper than 512 levels",
            Self::TooLong => "longer than 64 MB",
            Self::BadEscape => "an escape that JSON does not define",
            Self::TooMany => "more than 4 million values",
        }
    }
}

/// A [`ProblemKind`] and where it stands, in bytes of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// Reasons why Python's reader takes no value from a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    /// `JSONDecodeError`: its words, and the place in bytes.
    Decode(&'static str, usize),
    /// An integer of so many digits.
    Digits(usize),
    /// Python might take it, but it is more than is read here.
    Limit(ProblemKind),
}

/// The nodes of one parsed text; reusable.
#[derive(Default, Debug, Clone)]
pub struct Tape {
    nodes: Vec<Node>,
    open: Vec<Open>,
    notes: Notes,
}

impl Tape {
    /// Number of values and keys in the text.
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if nothing was read.
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Reads one value. `None`: it could not be read, and the last problem says why.
    pub fn parse<'a>(&'a mut self, text: &'a [u8]) -> Option<Value<'a>> {
        self.read(text).then_some(())?;
        self.root(text)
    }

    /// Reads one value; `false`: it could not be read, and the last problem says why.
    pub fn read(&mut self, text: &[u8]) -> bool {
        self.nodes.clear();
        self.open.clear();
        self.notes.clear();
        let Self { nodes, open, notes } = self;
        if let Err(problem) = (Reader { text, nodes, outer: open, inner: Open::NOTHING, notes }).document() {
            self.nodes.clear();
            self.notes.end(problem);
            return false;
        }
        if simdutf8::basic::from_utf8(text).is_err()
            && let Err(error) = std::str::from_utf8(text)
        {
            let from = error.valid_up_to();
            self.notes.add(ProblemKind::InvalidUtf8, from..from + error.error_len().unwrap_or(1));
        }
        true
    }

    /// The value that the last successful [`Tape::read`] of this very text found.
    pub fn root<'a>(&'a self, text: &'a [u8]) -> Option<Value<'a>> {
        (!self.nodes.is_empty()).then_some(Value { nodes: &self.nodes, text, at: 0, odd: self.notes.is_odd() })
    }

    /// Instead of reading: a text of this length, of which only the beginning is at hand, is too long.
    pub fn refuse(&mut self, len: usize) {
        self.nodes.clear();
        self.notes.clear();
        self.notes.end(Problem { kind: ProblemKind::TooLong, range: 0..len });
    }

    /// The first oddities of each kind, in text order; if the last one is fatal the text could not be read.
    pub fn problems(&self) -> &[Problem] {
        &self.notes.problems
    }

    /// Counts the problems of a kind that are not listed.
    pub fn unlisted(&self, kind: ProblemKind) -> usize {
        let count = self.notes.counts.get(kind as usize).copied().unwrap_or(0);
        count.saturating_sub(MAX_LISTED) as usize
    }

    /// The first that Python's reader refuses.
    pub(crate) const fn refusal(&self) -> Option<Refusal> {
        self.notes.refusal
    }
}

/// Oddities of a text, and Python's reaction.
#[derive(Default, Debug, Clone)]
struct Notes {
    problems: Vec<Problem>,
    /// Number of problems of each kind that do not end the reading.
    counts: [u32; ProblemKind::TooMany as usize + 1],
    refusal: Option<Refusal>,
}

impl Notes {
    fn clear(&mut self) {
        if !self.problems.is_empty() {
            self.problems.clear();
            self.counts = Default::default();
        }
        self.refusal = None;
    }

    #[cold]
    fn add(&mut self, kind: ProblemKind, range: Range<usize>) {
        let Some(count) = self.counts.get_mut(kind as usize) else { return };
        *count += 1;
        if *count <= MAX_LISTED {
            self.problems.push(Problem { kind, range });
        }
    }

    /// The fatal one is the last.
    fn end(&mut self, problem: Problem) {
        self.refusal.get_or_insert(Refusal::Limit(problem.kind));
        self.problems.push(problem);
    }

    /// True if strings may hold raw controls, or bytes that are not UTF-8.
    fn is_odd(&self) -> bool {
        let is_odd =
            |problem: &Problem| matches!(problem.kind, ProblemKind::ControlCharacter | ProblemKind::InvalidUtf8);
        self.problems.iter().any(is_odd)
    }

    fn refuse(&mut self, words: &'static str, at: usize) {
        self.refusal.get_or_insert(Refusal::Decode(words, at));
    }

    /// Something that cannot be read, in our words and in Python's, which may name another place.
    #[cold]
    fn fail(&mut self, text: &[u8], at: usize, kind: ProblemKind, words: &'static str, from: usize) -> Problem {
        self.refuse(words, from);
        failure(text, at, kind)
    }
}

/// The place is handed from part to part and not kept here, so that it can stay in a register.
struct Reader<'t> {
    text: &'t [u8],
    nodes: &'t mut Vec<Node>,
    /// The containers around that of `inner`.
    outer: &'t mut Vec<Open>,
    /// The innermost container.
    inner: Open,
    notes: &'t mut Notes,
}

type Read<T> = Result<T, Problem>;

/// Container around the reader's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    Nothing,
    Array,
    Object,
}

/// The place and the byte of the next token; the byte is 0 at the end of the text.
#[inline]
fn token(text: &[u8], at: usize) -> (usize, u8) {
    let byte = byte_at(text, at);
    if byte > b' ' {
        return (at, byte);
    }
    // Python's writer puts one blank between tokens.
    let next = byte_at(text, at + 1);
    if byte == b' ' && next > b' ' { (at + 1, next) } else { behind_blanks(text, at) }
}

#[inline(never)]
fn behind_blanks(text: &[u8], from: usize) -> (usize, u8) {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let at = from + text[from..].iter().take_while(is_blank).count();
    (at, byte_at(text, at))
}

#[inline]
fn byte_at(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

#[expect(clippy::inline_always, reason = "each has one caller or two, and calls would put the place into memory")]
impl Reader<'_> {
    fn document(mut self) -> Read<()> {
        if self.text.len() > MAX_TEXT {
            return Err(Problem { kind: ProblemKind::TooLong, range: 0..self.text.len() });
        }
        let mut at = 0;
        loop {
            if self.inner.inside == Inside::Object {
                at = self.key(at)?;
            }
            let whole;
            (at, whole) = self.value(at)?;
            if whole {
                match self.after(at)? {
                    Some(next) => at = next,
                    None => return Ok(()),
                }
            }
        }
    }

    #[cold]
    fn fail(&mut self, at: usize, kind: ProblemKind, words: &'static str) -> Problem {
        self.notes.fail(self.text, at, kind, words, at)
    }

    #[inline(always)]
    fn push(&mut self, kind: Kind, range: Range<usize>, escaped: bool) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { start: range.start as u32, end: range.end as u32, next, kind, escaped });
    }

    /// The place behind a value, and whether all of it was read: of a container that is not empty, only its beginning.
    #[inline(always)]
    fn value(&mut self, at: usize) -> Read<(usize, bool)> {
        let (start, first) = token(self.text, at);
        let (end, kind, escaped) = match first {
            b'"' => {
                let (end, escaped) = self.string(start)?;
                (end, Kind::String, escaped)
            }
            b'{' => return self.open(start, Kind::Object, Inside::Object, b'}'),
            b'[' => return self.open(start, Kind::Array, Inside::Array, b']'),
            b'-' | b'0'..=b'9' => {
                let (end, kind) = number(self.text, start, self.notes)?;
                (end, kind, false)
            }
            _ => {
                let (end, kind) = word(self.text, start, first, self.notes)?;
                (end, kind, false)
            }
        };
        self.push(kind, start..end, escaped);
        Ok((end, true))
    }

    /// Opens a container, and closes it if it is empty.
    #[inline(always)]
    fn open(&mut self, start: usize, kind: Kind, inside: Inside, closing: u8) -> Read<(usize, bool)> {
        if self.outer.len() >= MAX_DEPTH {
            return Err(failure(self.text, start, ProblemKind::TooDeep));
        }
        self.outer.push(self.inner);
        self.inner = Open { node: self.nodes.len() as u32, inside, alike: 0, signs: 0, doubtful: false };
        self.push(kind, start..start + 1, false);
        let (at, next) = token(self.text, start + 1);
        let empty = next == closing;
        if empty {
            self.close(at + 1);
        }
        Ok((at + usize::from(empty), empty))
    }

    /// Closes what ends behind a value: the place of the next value or key, or `None` at the end of the text.
    #[inline(always)]
    fn after(&mut self, mut at: usize) -> Read<Option<usize>> {
        loop {
            let next;
            (at, next) = token(self.text, at);
            if self.nodes.len() >= MAX_VALUES {
                return Err(failure(self.text, at, ProblemKind::TooMany));
            }
            match (self.inner.inside, next) {
                (Inside::Object | Inside::Array, b',') => return Ok(Some(at + 1)),
                (Inside::Object, b'}') | (Inside::Array, b']') => {
                    at += 1;
                    self.close(at);
                }
                (Inside::Nothing, _) if at >= self.text.len() => return Ok(None),
                (Inside::Nothing, _) => return Err(self.fail(at, ProblemKind::Trailing, "Extra data")),
                _ => return Err(self.fail(at, ProblemKind::Unexpected, "Expecting ',' delimiter")),
            }
        }
    }

    /// Ends the innermost container before `end`.
    #[inline(always)]
    fn close(&mut self, end: usize) {
        let next = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(self.inner.node as usize) {
            node.end = end as u32;
            node.next = next;
        }
        if self.inner.doubtful {
            note_duplicates(self.text, self.nodes, self.inner.node, self.notes);
        }
        self.inner = self.outer.pop().unwrap_or(Open::NOTHING);
    }

    /// The place behind a key and its colon.
    #[inline(always)]
    fn key(&mut self, at: usize) -> Read<usize> {
        let (start, first) = token(self.text, at);
        if first != b'"' {
            let words = "Expecting property name enclosed in double quotes";
            return Err(self.fail(start, ProblemKind::Unexpected, words));
        }
        let (end, escaped) = self.string(start)?;
        let sign = sign(self.text, start, end);
        if escaped || self.inner.signs & sign != 0 {
            let key = &self.text[start..end];
            self.inner.compare(key, escaped, self.nodes, self.text);
        }
        self.inner.signs |= sign;
        self.push(Kind::Key, start..end, escaped);
        let (at, next) = token(self.text, end);
        if next != b':' {
            return Err(self.fail(at, ProblemKind::Unexpected, "Expecting ':' delimiter"));
        }
        Ok(at + 1)
    }

    /// The place behind a string, and whether it holds an escape.
    #[inline(always)]
    fn string(&mut self, start: usize) -> Read<(usize, bool)> {
        let end = plain_until::<false>(self.text, start + 1);
        if byte_at(self.text, end) == b'"' { Ok((end + 1, false)) } else { string_end(self.text, start, self.notes) }
    }
}

impl Open {
    /// Around everything.
    const NOTHING: Self = Self { node: u32::MAX, inside: Inside::Nothing, alike: 0, signs: 0, doubtful: false };

    /// Compares a new key, alike to an earlier one, with those of the object.
    fn compare(&mut self, key: &[u8], escaped: bool, nodes: &[Node], text: &[u8]) {
        /// If more keys are alike, or one holds an escape, all keys are compared at the end of the object.
        const FEW: u8 = 24;
        if escaped || self.alike >= FEW {
            self.doubtful = true;
        } else if !self.doubtful {
            self.alike += 1;
            let first = Value { nodes, text, at: self.node + 1, odd: true };
            let mut known = Members { key: first, end: nodes.len() as u32 };
            self.doubtful = known.any(|member| member.key.raw() == key);
        }
    }
}

#[cold]
fn failure(text: &[u8], at: usize, kind: ProblemKind) -> Problem {
    let end = text.len();
    let kind = if at >= end && kind == ProblemKind::Unexpected { ProblemKind::Cut } else { kind };
    Problem { kind, range: at.min(end)..(at + 1).min(end) }
}

const NO_VALUE: &str = "Expecting value";

/// The end of a value that is a word, and its kind.
fn word(text: &[u8], start: usize, first: u8, notes: &mut Notes) -> Read<(usize, Kind)> {
    let (word, kind): (&'static [u8], Kind) = match first {
        b't' => (b"true", Kind::True),
        b'f' => (b"false", Kind::False),
        b'n' => (b"null", Kind::Null),
        b'N' => (b"NaN", Kind::NotFinite),
        b'I' => (b"Infinity", Kind::NotFinite),
        _ => return Err(notes.fail(text, start, ProblemKind::Unexpected, NO_VALUE, start)),
    };
    let end = word_end(text, start, word, start, notes)?;
    if kind == Kind::NotFinite {
        notes.add(ProblemKind::NotFinite, start..end);
    }
    Ok((end, kind))
}

/// The end of a word that must stand here, in a value that begins at `from`.
fn word_end(text: &[u8], start: usize, word: &'static [u8], from: usize, notes: &mut Notes) -> Read<usize> {
    let rest = &text[start..];
    if rest.starts_with(word) {
        return Ok(start + word.len());
    }
    let cut = word.starts_with(rest);
    let kind = if cut { ProblemKind::Cut } else { ProblemKind::Unexpected };
    Err(notes.fail(text, start, kind, NO_VALUE, from))
}

/// The end of a number, and what it is.
fn number(text: &[u8], start: usize, notes: &mut Notes) -> Read<(usize, Kind)> {
    let byte = |at: usize| text.get(at).copied();
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let behind_digits = |mut at: usize| {
        while is_digit(at) {
            at += 1;
        }
        at
    };
    let digits = start + usize::from(byte(start) == Some(b'-'));
    let mut at = match byte(digits) {
        Some(b'0') => digits + 1,
        Some(b'1'..=b'9') => behind_digits(digits),
        Some(b'I') if digits > start => {
            let end = word_end(text, digits, b"Infinity", start, notes)?;
            notes.add(ProblemKind::NotFinite, digits..end);
            return Ok((end, Kind::NotFinite));
        }
        _ => return Err(notes.fail(text, digits, ProblemKind::Unexpected, NO_VALUE, start)),
    };
    let mut kind = Kind::Int;
    // As in Python's reader, a point or exponent without digits ends the number before it.
    if byte(at) == Some(b'.') && is_digit(at + 1) {
        kind = Kind::Float;
        at = behind_digits(at + 1);
    }
    let mut exponent = false;
    if let Some(b'e' | b'E') = byte(at) {
        let sign = usize::from(matches!(byte(at + 1), Some(b'+' | b'-')));
        if is_digit(at + 1 + sign) {
            kind = Kind::Float;
            at = behind_digits(at + 1 + sign);
            exponent = true;
        }
    }
    // Only what is long or has an exponent can leave the range; that is seldom enough to look closely.
    if kind == Kind::Float && (exponent || at - digits > 300) && overflows(text.get(start..at)) {
        notes.add(ProblemKind::OutOfRange, start..at);
    }
    if kind == Kind::Int && at - digits > 4300 {
        notes.add(ProblemKind::LongInteger, start..at);
        notes.refusal.get_or_insert(Refusal::Digits(at - digits));
    }
    Ok((at, kind))
}

fn overflows(number: Option<&[u8]>) -> bool {
    let text = number.and_then(|number| std::str::from_utf8(number).ok());
    text.and_then(|text| text.parse::<f64>().ok()).is_some_and(f64::is_infinite)
}

/// The end of a string that holds more than plain characters, and whether it holds an escape.
#[cold]
fn string_end(text: &[u8], start: usize, notes: &mut Notes) -> Read<(usize, bool)> {
    let (mut at, mut behind_digits) = (start + 1, 0);
    let mut escaped = false;
    loop {
        at = plain_until::<false>(text, at);
        match text.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                let is_unit = text.get(at + 1) == Some(&b'u');
                at = escape_end(text, start, at, notes)?;
                behind_digits = if is_unit { at } else { 0 };
            }
            Some(_) => {
                notes.refuse("Invalid control character at", at);
                notes.add(ProblemKind::ControlCharacter, at..at + 1);
                at += 1;
            }
            None => {
                // Python wants one more character behind the digits, for the quote.
                let (words, from) = if at == behind_digits { (BAD_DIGITS, at - 5) } else { (OPEN_STRING, start) };
                notes.refuse(words, from);
                return Err(Problem { kind: ProblemKind::Cut, range: start..text.len() });
            }
        }
    }
}

const OPEN_STRING: &str = "Unterminated string starting at";
const BAD_DIGITS: &str = "Invalid \\uXXXX escape";

/// The end of an escape in a string that begins at `start`.
fn escape_end(text: &[u8], start: usize, at: usize, notes: &mut Notes) -> Read<usize> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let Some(code) = hex4(text, at + 2) else {
                let kind = if at + 6 > text.len() { ProblemKind::Cut } else { ProblemKind::BadEscape };
                return Err(notes.fail(text, at, kind, BAD_DIGITS, at + 1));
            };
            if !(0xd800..0xe000).contains(&code) {
                return Ok(at + 6);
            }
            if code < 0xdc00 && low_surrogate(text, at + 6).is_some() {
                return Ok(at + 12);
            }
            notes.add(ProblemKind::LoneSurrogate, at..at + 6);
            Ok(at + 6)
        }
        Some(_) => Err(notes.fail(text, at, ProblemKind::BadEscape, "Invalid \\escape", at)),
        None => Err(notes.fail(text, at, ProblemKind::Cut, OPEN_STRING, start)),
    }
}

/// Notes every key of an object that stands earlier in it.
fn note_duplicates(text: &[u8], nodes: &[Node], object: u32, notes: &mut Notes) {
    let mut seen = std::collections::HashSet::new();
    for member in (Value { nodes, text, at: object, odd: true }).members() {
        if !seen.insert(member.name()) {
            notes.add(ProblemKind::DuplicateKey, member.key.range());
        }
    }
}

/// One bit for a key (with its quotes), made of its length, its first and its last byte: only keys of one sign can be
/// equal, and few keys of one object share a sign.
fn sign(text: &[u8], start: usize, end: usize) -> u64 {
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    let (first, last) = (byte(start.wrapping_add(1)), byte(end.wrapping_sub(2)));
    let mixed = (end.wrapping_sub(start) as u8).wrapping_add(first.wrapping_mul(3)).wrapping_add(last.wrapping_mul(19));
    1 << (mixed & 63)
}

/// The first place at or after `at` that holds a quote, a backslash or a control character; if `ASCII`, the first that
/// holds one of them or what is not printable ASCII.
#[inline]
fn plain_until<const ASCII: bool>(text: &[u8], at: usize) -> usize {
    let mut rest = &text[at..];
    while let Some((block, more)) = rest.split_first_chunk::<BLOCK>() {
        let found = specials::<ASCII>(block);
        if found != 0 {
            return text.len() - rest.len() + found.trailing_zeros() as usize;
        }
        rest = more;
    }
    let plain = rest.iter().take_while(|byte| !is_special::<ASCII>(**byte)).count();
    text.len() - rest.len() + plain
}

const fn is_special<const ASCII: bool>(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20) || (ASCII && byte >= 0x7f)
}

/// Bytes that are looked at together.
const BLOCK: usize = 16;

/// One bit for each byte of a block that is special, the lowest for the first.
#[inline]
fn specials<const ASCII: bool>(block: &[u8; BLOCK]) -> u32 {
    let bytes = u8x16::new(*block);
    let all = u8x16::splat;
    let mut found = bytes.simd_eq(all(b'"')) | bytes.simd_eq(all(b'\\')) | bytes.min(all(0x1f)).simd_eq(bytes);
    if ASCII {
        found |= bytes.max(all(0x7f)).simd_eq(bytes);
    }
    found.to_bitmask()
}

/// Tells whether two blocks hold printable ASCII only, and neither a quote nor a backslash.
#[inline]
fn are_plain(blocks: &[u8; 2 * BLOCK]) -> bool {
    blocks.as_chunks().0.iter().all(|block| specials::<true>(block) == 0)
}

fn hex4(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    digits.iter().try_fold(0, |code, &digit| Some(code * 16 + char::from(digit).to_digit(16)?))
}

fn low_surrogate(text: &[u8], at: usize) -> Option<u32> {
    let code = text.get(at..at + 2).filter(|head| *head == b"\\u").and_then(|_| hex4(text, at + 2))?;
    (0xdc00..0xe000).contains(&code).then_some(code)
}

#[inline]
fn raw_inner(text: &[u8], node: Node) -> &[u8] {
    &text[node.start as usize + 1..node.end as usize - 1]
}

/// The offset in the raw text of a string that an offset in its unescaped text stands for. What lies inside of an
/// escape becomes its beginning, or its end if that is asked for.
fn raw_offset(raw: &[u8], wanted: usize, ending: bool) -> usize {
    let (mut at, mut plain) = (0, 0);
    while plain < wanted {
        let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let run = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        if plain + run >= wanted {
            return at + wanted - plain;
        }
        (at, plain) = (at + run, plain + run);
        let (read, made) = escape_lengths(raw, at);
        if plain + made > wanted && !ending {
            break;
        }
        (at, plain) = (at + read, plain + made);
    }
    at.min(raw.len())
}

/// Bytes that the escape takes in the raw text, and in the unescaped one.
fn escape_lengths(raw: &[u8], at: usize) -> (usize, usize) {
    if raw.get(at + 1) != Some(&b'u') {
        return (2, 1);
    }
    match hex4(raw, at + 2).unwrap_or(0xfffd) {
        0..0x80 => (6, 1),
        0x80..0x800 => (6, 2),
        0xd800..0xdc00 if low_surrogate(raw, at + 6).is_some() => (12, 4),
        _ => (6, 3),
    }
}

#[inline]
fn decode(text: &[u8], node: Node) -> Cow<'_, [u8]> {
    let raw = raw_inner(text, node);
    if node.escaped { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) }
}

fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        at += plain;
        let Some(&escape) = raw.get(at + 1) else { break };
        at += 2;
        match escape {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let mut code = hex4(raw, at).unwrap_or(0xfffd);
                at += 4;
                if (0xd800..0xdc00).contains(&code)
                    && let Some(low) = low_surrogate(raw, at)
                {
                    code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    at += 6;
                }
                push_code(&mut out, code);
            }
            other => out.push(other),
        }
    }
    out
}

fn first_bytes(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(name).for_each(|(to, byte)| *to = *byte);
    u64::from_be_bytes(first)
}

/// Appends a code point, lone surrogates in the generalised UTF-8 form.
pub fn push_code(out: &mut Vec<u8>, code: u32) {
    if let Some(c) = char::from_u32(code) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        out.extend_from_slice(&[
            0xe0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3f) as u8,
            0x80 | (code & 0x3f) as u8,
        ]);
    }
}

/// The whole number that a float is, up to which every one is a float of its own: pandas makes floats of whole numbers.
pub fn whole_float(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= 9e15).then_some(number as i64)
}

/// One value of a parsed text: a handle to copy around.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    nodes: &'a [Node],
    text: &'a [u8],
    at: u32,
    /// Strings of the text may hold raw controls, or bytes that are not UTF-8.
    odd: bool,
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {:?}", self.kind(), self.range())
    }
}

impl<'a> Value<'a> {
    #[inline]
    fn node(self) -> Node {
        const NOTHING: Node = Node { start: 0, end: 0, next: 0, kind: Kind::Null, escaped: false };
        self.nodes.get(self.at as usize).copied().unwrap_or(NOTHING)
    }

    const fn with(self, at: u32) -> Self {
        Self { at, ..self }
    }

    /// Its kind.
    #[inline]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// Its place in the text, in bytes.
    #[inline]
    pub fn range(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// Its index in the tape: stable for one text, ascending in document order.
    pub const fn index(self) -> usize {
        self.at as usize
    }

    /// The value of the same text with this index in the tape, and its key, where it is a member.
    pub fn nth(self, index: usize) -> Option<Found<'a>> {
        let value = self.with(u32::try_from(index).ok().filter(|_| index < self.nodes.len())?);
        let key = value.at.checked_sub(1).map(|at| self.with(at)).filter(|before| before.kind() == Kind::Key);
        Some(Found { key, value })
    }

    /// Index of the first node after this value.
    pub fn next_index(self) -> usize {
        self.node().next as usize
    }

    /// Its text as it stands in the file: digits, quotes and all.
    #[inline]
    pub fn raw(self) -> &'a [u8] {
        &self.text[self.range()]
    }

    /// The text from this value's first byte to its end.
    #[inline]
    pub(crate) fn and_behind(self) -> &'a [u8] {
        &self.text[self.node().start as usize..]
    }

    /// The text of a string (or key), unescaped.
    #[inline]
    pub fn string(self) -> Option<Untrusted<'a>> {
        let node = self.node();
        matches!(node.kind, Kind::String | Kind::Key).then(|| match decode(self.text, node) {
            Cow::Borrowed(bytes) => Untrusted::new(bytes),
            Cow::Owned(bytes) => Untrusted::owned(bytes),
        })
    }

    /// Text of a string that data may lack: nothing where there is none, or another value.
    pub fn text_of(value: Option<Self>) -> Untrusted<'a> {
        value.and_then(Self::string).unwrap_or_default()
    }

    /// The bytes of a string or key that needs no unescaping.
    #[inline]
    pub fn plain_string(self) -> Option<&'a [u8]> {
        let node = self.node();
        (matches!(node.kind, Kind::String | Kind::Key) && !node.escaped).then(|| raw_inner(self.text, node))
    }

    /// True for a string or key that surely holds neither escapes nor controls nor bytes that are not UTF-8.
    #[inline]
    pub(crate) fn is_clean_string(self) -> bool {
        let node = self.node();
        matches!(node.kind, Kind::String | Kind::Key) && !node.escaped && !self.odd
    }

    /// True for this string.
    pub fn is_string(self, text: &str) -> bool {
        self.spells(text.as_bytes())
    }

    /// True for a string (or key) of these bytes.
    #[inline]
    pub fn spells(self, bytes: &[u8]) -> bool {
        let node = self.node();
        matches!(node.kind, Kind::String | Kind::Key) && node.spells(self.text, bytes)
    }

    /// Place of a part of the string in the text: `within` counts the bytes of its unescaped text.
    pub fn range_within(self, within: Range<usize>) -> Range<usize> {
        let node = self.node();
        let raw = raw_inner(self.text, node);
        let (start, end) = if node.escaped {
            (raw_offset(raw, within.start, false), raw_offset(raw, within.end, true))
        } else {
            (within.start.min(raw.len()), within.end.min(raw.len()))
        };
        let first = node.start as usize + 1;
        first + start..first + end.max(start)
    }

    /// True for a number, finite or not. (In Python `True` is one too; that is the caller's business.)
    pub fn is_number(self) -> bool {
        matches!(self.kind(), Kind::Int | Kind::Float | Kind::NotFinite)
    }

    /// The nearest 64-bit float, as Python's `float()` gives it; infinities from `1e400`.
    pub fn float(self) -> Option<f64> {
        let raw = std::str::from_utf8(self.raw()).ok()?;
        match self.kind() {
            Kind::Int | Kind::Float => raw.parse().ok(),
            Kind::NotFinite => Some(match raw {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            }),
            _ => None,
        }
    }

    /// A whole number that is written as one and that fits.
    pub fn whole<N: std::str::FromStr>(self) -> Option<N> {
        if self.kind() != Kind::Int {
            return None;
        }
        std::str::from_utf8(self.raw()).ok()?.parse().ok()
    }

    /// A truth value.
    pub fn bool(self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// True for `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// True for objects and lists.
    pub fn is_container(self) -> bool {
        matches!(self.kind(), Kind::Array | Kind::Object)
    }

    /// The items of an array; of anything else, nothing.
    #[inline]
    pub fn items(self) -> Items<'a> {
        let end = if self.kind() == Kind::Array { self.node().next } else { 0 };
        Items { value: self.with(self.at + 1), end }
    }

    /// The members of an object as they stand in the text, duplicates and all.
    #[inline]
    pub fn members(self) -> Members<'a> {
        let end = if self.kind() == Kind::Object { self.node().next } else { 0 };
        Members { key: self.with(self.at + 1), end }
    }

    /// The first bytes of a string as a number, in the same order: few keys of one object begin alike.
    #[inline]
    fn beginning(self) -> u64 {
        let node = self.node();
        let len = (node.end - node.start).saturating_sub(2);
        match self.text.get(node.start as usize + 1..).and_then(<[u8]>::first_chunk) {
            Some(first) if !node.escaped => {
                let behind = u64::MAX.checked_shr(8 * len).unwrap_or(0);
                u64::from_be_bytes(*first) & !behind
            }
            _ => first_bytes(self.string().expect("a key").bytes()),
        }
    }

    /// Calls `each` with the members in the order of their keys' code points; of duplicates only with the last.
    pub(crate) fn each_in_order(self, mut each: impl FnMut(Member<'a>)) {
        /// Of more members the order is made on the heap.
        const FEW: usize = 16;
        let mut few = [(0, 0); FEW];
        let mut many = Vec::new();
        let mut count = 0;
        for member in self.members() {
            let key = (member.key.beginning(), member.key.at);
            match few.get_mut(count) {
                Some(place) => *place = key,
                None if many.is_empty() => many.extend(few.iter().copied().chain([key])),
                None => many.push(key),
            }
            count += 1;
        }
        let keys = if many.is_empty() { &mut few[..count] } else { &mut many };
        let name = |key: &(u64, u32)| self.with(key.1).string();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
            keys.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a).cmp(&name(b))));
        }
        for (n, key) in keys.iter().enumerate() {
            if keys.get(n + 1).is_none_or(|next| next.0 != key.0 || name(next) != name(key)) {
                each(Member { key: self.with(key.1), value: self.with(key.1 + 1) });
            }
        }
    }

    /// The members as Python's dict holds them: a duplicate key keeps the place of the first and the value of the last.
    pub fn entries(self) -> Vec<Member<'a>> {
        self.first_entries(usize::MAX)
    }

    /// The [`Value::entries`] of the first so many members.
    pub fn first_entries(self, most: usize) -> Vec<Member<'a>> {
        /// Up to so many a search in order beats hashing.
        const FEW: usize = 32;
        let mut entries: Vec<Member<'a>> = Vec::new();
        if self.members().take(most).nth(FEW).is_none() {
            for member in self.members().take(most) {
                match entries.iter_mut().find(|entry| entry.name() == member.name()) {
                    Some(entry) => entry.value = member.value,
                    None => entries.push(member),
                }
            }
            return entries;
        }
        let mut places = std::collections::HashMap::new();
        for member in self.members().take(most) {
            let place = *places.entry(member.name()).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(entry) => entry.value = member.value,
                None => entries.push(member),
            }
        }
        entries
    }

    /// Number of items or members, duplicates counted.
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Array => self.items().count(),
            Kind::Object => self.members().count(),
            _ => 0,
        }
    }

    /// True without items or members.
    pub fn is_empty(self) -> bool {
        self.node().next <= self.at + 1
    }

    /// The value of a key; of duplicates the last, as Python keeps it.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.member(key).map(|member| member.value)
    }

    /// The member with this key; of duplicates the last.
    pub fn member(self, key: &str) -> Option<Member<'a>> {
        self.member_spelt(key.as_bytes())
    }

    /// The member with a key of these bytes; of duplicates the last.
    pub fn member_spelt(self, key: &[u8]) -> Option<Member<'a>> {
        let mut next = self.members().key.at;
        let (end, mut found) = (self.members().end, None);
        while next < end
            && let Some(&[name, value]) = self.nodes.get(next as usize..).and_then(<[Node]>::first_chunk)
        {
            if name.spells(self.text, key) {
                found = Some(next);
            }
            next = value.next;
        }
        found.map(|at| Member { key: self.with(at), value: self.with(at + 1) })
    }

    /// The value a pointer leads to, with its key.
    pub fn find(self, pointer: &Pointer) -> Option<Found<'a>> {
        let mut found = Found { key: None, value: self };
        for part in &pointer.0 {
            found = match part {
                Part::Key(name) => {
                    let member = found.value.member_spelt(name.bytes())?;
                    Found { key: Some(member.key), value: member.value }
                }
                Part::Index(n) => Found { key: None, value: found.value.items().nth(*n)? },
            };
        }
        Some(found)
    }

    /// Every value below and including this one, in document order, with its depth and key.
    pub fn walk(self) -> Walk<'a> {
        Walk { value: self, end: self.node().next, open: Vec::new(), key: None }
    }

    /// The pointer from this value to one inside it, or to the member of a key.
    pub fn pointer_to(self, inner: Value<'_>) -> Pointer {
        self.pointer_at(inner.range().start)
    }

    /// The pointer from this value to the innermost value that holds a byte of the text.
    pub fn pointer_at(self, byte: usize) -> Pointer {
        let mut pointer = Pointer::default();
        let mut here = self;
        'down: loop {
            match here.kind() {
                Kind::Object => {
                    for member in here.members() {
                        if (member.key.range().start..member.value.range().end.max(1)).contains(&byte) {
                            pointer.0.push(Part::Key(member.name().into_owned()));
                            here = member.value;
                            continue 'down;
                        }
                    }
                }
                Kind::Array => {
                    for (n, item) in here.items().enumerate() {
                        if item.range().contains(&byte) {
                            pointer.0.push(Part::Index(n));
                            here = item;
                            continue 'down;
                        }
                    }
                }
                _ => {}
            }
            return pointer;
        }
    }
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The key: a string with a place.
    pub key: Value<'a>,
    /// The value.
    pub value: Value<'a>,
}

impl<'a> Member<'a> {
    /// The key's text.
    #[inline]
    pub fn name(&self) -> Untrusted<'a> {
        self.key.string().expect("a key")
    }
}

/// See [`Value::find`].
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The key, where the value is a member.
    pub key: Option<Value<'a>>,
    /// The value.
    pub value: Value<'a>,
}

/// Finds many values of one text: what stands in a container is listed once, not gone through each time.
#[derive(Debug)]
pub struct Finder<'a> {
    root: Value<'a>,
    items: HashMap<u32, Vec<u32>>,
    members: HashMap<u32, HashMap<Untrusted<'a>, u32>>,
}

impl<'a> Finder<'a> {
    /// Finds values below this one.
    pub fn new(root: Value<'a>) -> Self {
        Self { root, items: HashMap::new(), members: HashMap::new() }
    }

    /// The same as [`Value::find`].
    pub fn find(&mut self, pointer: &Pointer) -> Option<Found<'a>> {
        let mut found = Found { key: None, value: self.root };
        for part in &pointer.0 {
            let here = found.value;
            found = match part {
                Part::Key(name) => {
                    // Of keys that stand twice the last one counts.
                    let list = || here.members().map(|member| (member.name(), member.key.at)).collect();
                    let key = here.with(*self.members.entry(here.at).or_insert_with(list).get(name)?);
                    Found { key: Some(key), value: here.with(key.at + 1) }
                }
                Part::Index(n) => {
                    let list = || here.items().map(|item| item.at).collect();
                    let at = *self.items.entry(here.at).or_insert_with(list).get(*n)?;
                    Found { key: None, value: here.with(at) }
                }
            };
        }
        Some(found)
    }
}

/// See [`Value::items`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    value: Value<'a>,
    end: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        (self.value.at < self.end).then(|| {
            let item = self.value;
            self.value = item.with(item.node().next);
            item
        })
    }
}

/// See [`Value::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    key: Value<'a>,
    end: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    #[inline]
    fn next(&mut self) -> Option<Member<'a>> {
        (self.key.at < self.end).then(|| {
            let key = self.key;
            let value = key.with(key.at + 1);
            self.key = key.with(value.node().next);
            Member { key, value }
        })
    }
}

/// See [`Value::walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    value: Value<'a>,
    end: u32,
    open: Vec<u32>,
    key: Option<Value<'a>>,
}

/// One stop of a [`Walk`].
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    /// Number of containers around it, from the start of the walk.
    pub depth: usize,
    /// The key, where it is a member.
    pub key: Option<Value<'a>>,
    /// The value.
    pub value: Value<'a>,
}

impl Walk<'_> {
    /// Goes on behind the container that was just given, instead of into it.
    pub fn skip_inside(&mut self) {
        if let Some(open) = self.open.pop() {
            self.value.at = open;
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Stop<'a>;

    fn next(&mut self) -> Option<Stop<'a>> {
        while self.open.last().is_some_and(|&end| end <= self.value.at) {
            self.open.pop();
        }
        if self.value.at >= self.end {
            return None;
        }
        if self.value.kind() == Kind::Key {
            self.key = Some(self.value);
            self.value.at += 1;
        }
        let value = self.value;
        let stop = Stop { depth: self.open.len(), key: self.key.take(), value };
        if value.is_container() {
            self.open.push(value.node().next);
        }
        self.value.at += 1;
        Some(stop)
    }
}

/// One step of a [`Pointer`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// Into an object.
    Key(Untrusted<'static>),
    /// Into an array.
    Index(usize),
}

impl From<&'static str> for Part {
    fn from(key: &'static str) -> Self {
        Self::Key(Untrusted::from(key))
    }
}

impl From<usize> for Part {
    fn from(n: usize) -> Self {
        Self::Index(n)
    }
}

/// The address of a value in a record, written as RFC 6901 has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Pointer(pub Vec<Part>);

impl Pointer {
    /// A pointer one step further.
    #[must_use]
    pub fn then(&self, part: impl Into<Part>) -> Self {
        let mut parts = Vec::with_capacity(self.0.len() + 1);
        parts.extend_from_slice(&self.0);
        parts.push(part.into());
        Self(parts)
    }

    /// True if this is `other` or lies below it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// As RFC 6901 writes it: `/procedure/steps/0/inputs`. The keys are data.
    pub fn text(&self) -> Untrusted<'static> {
        let mut out = Vec::new();
        for part in &self.0 {
            out.push(b'/');
            match part {
                Part::Index(n) => out.extend_from_slice(n.to_string().as_bytes()),
                Part::Key(name) => {
                    for &byte in name.bytes() {
                        match byte {
                            b'~' => out.extend_from_slice(b"~0"),
                            b'/' => out.extend_from_slice(b"~1"),
                            _ => out.push(byte),
                        }
                    }
                }
            }
        }
        Untrusted::owned(out)
    }
}

impl<P: Into<Part>> FromIterator<P> for Pointer {
    fn from_iter<I: IntoIterator<Item = P>>(parts: I) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }
}

/// Tells whether an object in these lines may be followed by another value on its line.
pub fn may_hold_several(lines: &[u8]) -> bool {
    memchr::memchr_iter(b'}', lines).any(|at| match lines.get(at + 1..) {
        Some([next, after, ..]) => is_behind_value(*next, *after),
        Some([next]) => is_behind_value(*next, b'\n'),
        _ => false,
    })
}

/// Tells whether a byte may follow the first of several values: the beginning of another one, or a blank that ends no
/// line.
const fn is_behind_value(byte: u8, next: u8) -> bool {
    let ends_line = byte == b'\n' || (byte == b'\r' && next == b'\n');
    byte | 0x20 == b'{' || byte == 0xef || (byte <= b' ' && !ends_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &[u8]) -> Vec<ProblemKind> {
        let mut tape = Tape::default();
        tape.read(text);
        tape.problems().iter().map(|problem| problem.kind).collect()
    }

    #[test]
    fn problems_of_one_kind_hide_no_other() {
        let text = [&b"["[..], &b"NaN,".repeat(250), br#"{"a": 1, "a": 2}, ""#, b"\xff", b"\"]"].concat();
        let mut tape = Tape::default();
        assert!(tape.read(&text));
        let kinds: Vec<ProblemKind> = tape.problems().iter().map(|problem| problem.kind).collect();
        let (many, twice, bytes) = (ProblemKind::NotFinite, ProblemKind::DuplicateKey, ProblemKind::InvalidUtf8);
        assert_eq!(kinds, [many, many, many, twice, bytes]);
        assert_eq!([many, twice, bytes].map(|kind| tape.unlisted(kind)), [247, 0, 0]);
        assert!(tape.read(b"1") && tape.unlisted(many) == 0);
    }

    #[test]
    fn a_finder_finds_what_a_search_finds() {
        let mut tape = Tape::default();
        let text = br#"{"a": [1, {"b": 2, "b": [3], "c\u0064": 4}, []], "a": {"x": [[5], 6]}, "e": []}"#;
        let root = tape.parse(text).unwrap();
        let mut finder = Finder::new(root);
        let mut pointers: Vec<Pointer> = root.walk().map(|stop| root.pointer_to(stop.value)).collect();
        pointers.extend([
            Pointer::from_iter(["nowhere"]),
            Pointer::from_iter(["e"]).then(0),
            Pointer::from_iter(["a"]).then(7),
        ]);
        for pointer in &pointers {
            let place =
                |found: Option<Found<'_>>| found.map(|found| (found.key.map(Value::index), found.value.index()));
            assert_eq!(place(finder.find(pointer)), place(root.find(pointer)), "{pointer:?}");
        }
        for stop in root.walk() {
            let found = root.nth(stop.value.index()).unwrap();
            assert_eq!(
                (found.value.index(), found.key.map(Value::index)),
                (stop.value.index(), stop.key.map(Value::index))
            );
        }
        assert!(root.nth(root.next_index()).is_none());
    }

    #[test]
    fn values_know_their_place() {
        let mut tape = Tape::default();
        let root = tape.parse(br#" {"a": [1, {"b": "x\u00e9"}], "a": 2.50} "#).unwrap();
        assert_eq!(root.kind(), Kind::Object);
        assert_eq!(root.get("a").unwrap().raw(), b"2.50");
        let first = root.members().next().unwrap();
        assert_eq!(first.value.items().count(), 2);
        let inner = first.value.items().nth(1).unwrap().get("b").unwrap();
        assert_eq!(inner.string().unwrap(), "xé");
        assert_eq!(root.entries().len(), 1);
        assert_eq!(root.walk().map(|stop| stop.depth).collect::<Vec<_>>(), [0, 1, 2, 2, 3, 1]);
        assert_eq!(root.pointer_to(inner).text(), "/a/1/b");
    }

    #[test]
    fn a_part_of_a_string_knows_its_place() {
        let text = r#"["a\u00e9b\n\ud83d\ude00c", "plain", "\ud800x"]"#;
        let mut tape = Tape::default();
        let root = tape.parse(text.as_bytes()).unwrap();
        let raw = |n: usize, range: Range<usize>| {
            let value = root.items().nth(n).unwrap();
            let unescaped = value.string().unwrap().bytes().get(range.clone()).map(<[u8]>::to_vec);
            (text[value.range_within(range)].to_owned(), unescaped.unwrap_or_default())
        };
        assert_eq!(raw(0, 0..1), ("a".to_owned(), b"a".to_vec()));
        assert_eq!(raw(0, 1..3), ("\\u00e9".to_owned(), "é".as_bytes().to_vec()));
        assert_eq!(raw(0, 3..4), ("b".to_owned(), b"b".to_vec()));
        assert_eq!(raw(0, 4..5), ("\\n".to_owned(), b"\n".to_vec()));
        assert_eq!(raw(0, 5..10), ("\\ud83d\\ude00c".to_owned(), "😀c".as_bytes().to_vec()));
        assert_eq!(raw(0, 2..4).0, "\\u00e9b");
        assert_eq!(raw(1, 1..3).0, "la");
        assert_eq!(raw(1, 3..99).0, "in");
        assert_eq!(raw(2, 3..4).0, "x");
        assert_eq!(raw(2, 50..60).0, "");
    }

    #[test]
    fn walks_skip_what_is_folded() {
        let mut tape = Tape::default();
        let root = tape.parse(br#"[[1,2],{"a":[3]},4]"#).unwrap();
        let mut walk = root.walk();
        let mut seen = Vec::new();
        while let Some(stop) = walk.next() {
            seen.push(stop.value.raw().to_vec());
            if stop.depth == 1 && stop.value.is_container() {
                walk.skip_inside();
            }
        }
        assert_eq!(seen, [&br#"[[1,2],{"a":[3]},4]"#[..], b"[1,2]", br#"{"a":[3]}"#, b"4"]);
    }

    #[test]
    fn what_python_writes_is_read() {
        assert_eq!(problems(b"[NaN, -Infinity, 1e300]"), [ProblemKind::NotFinite; 2]);
        let mut tape = Tape::default();
        let root = tape.parse(b"[18446744073709551616, 1e400, -Infinity, NaN]").unwrap();
        let items: Vec<_> = root.items().collect();
        assert_eq!(items[0].raw(), b"18446744073709551616");
        assert_eq!(items[1].float(), Some(f64::INFINITY));
        assert_eq!(items[2].raw(), b"-Infinity");
        assert!(items[3].float().unwrap().is_nan());
    }

    #[test]
    fn what_is_wrong_is_named() {
        use ProblemKind::*;
        for (text, expected) in [
            (&b""[..], Cut),
            (b"{\"a\": 1", Cut),
            (b"{\"a\"", Cut),
            (b"[tru", Cut),
            (b"\"abc", Cut),
            (b"\"\\u12", Cut),
            (b"[1,]", Unexpected),
            (b"{a: 1}", Unexpected),
            (b"01", Trailing),
            (b"1.", Trailing),
            (b"+1", Unexpected),
            (b"{} {}", Trailing),
            (b"\"\\x\"", BadEscape),
            (b"\"a\tb\"", ControlCharacter),
            (b"{\"a\":1,\"\\u0061\":2}", DuplicateKey),
            (b"\"\xff\"", InvalidUtf8),
            (b"\"\\ud800\"", LoneSurrogate),
        ] {
            assert_eq!(problems(text), [expected], "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(problems(&b"[".repeat(100_000)), [TooDeep]);
        assert_eq!(problems(&[b"[".repeat(512), b"]".repeat(512)].concat()), []);
    }

    #[test]
    fn many_keys_are_compared_by_hash() {
        let text = (0..1000).map(|n| format!("\"k{}\":1", n % 999)).collect::<Vec<_>>().join(",");
        assert_eq!(problems(format!("{{{text}}}").as_bytes()), [ProblemKind::DuplicateKey]);
    }

    #[test]
    fn a_key_that_stands_again_is_told_once() {
        // All two-letter keys: many are alike in length, first and last letter, and none is another.
        let letters = || "abcdefgh".chars();
        let keys = || letters().flat_map(|a| letters().map(move |b| format!("\"{a}-{b}\":{{}}"))).collect::<Vec<_>>();
        for few in [keys(), keys().into_iter().step_by(7).collect(), Vec::new()] {
            let unlike = few.join(",");
            assert_eq!(problems(format!("{{{unlike}}}").as_bytes()), []);
            for again in [r#""x":1,"x":[2]"#, r#""x":1,"x":2,"\u0062":3"#, r#""\u0078":1,"x":{"x":2}"#] {
                let text = format!(
                    "{{{}}}",
                    [&unlike, again].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
                );
                assert_eq!(problems(text.as_bytes()), [ProblemKind::DuplicateKey], "{text}");
            }
        }
    }

    #[test]
    fn many_at_a_time_find_what_one_at_a_time_finds() {
        fn check<const ASCII: bool>() {
            for special in (0..=0xff).filter(|&byte| is_special::<ASCII>(byte)) {
                for filler in (0..=0xff).filter(|&byte| !is_special::<ASCII>(byte)) {
                    for at in [0, 1, 6, 7, 8, 15, 16, 17, 40, 47, 48, 79, 80, 98, 99] {
                        let mut text = vec![filler; 100];
                        text[at] = special;
                        assert_eq!(plain_until::<ASCII>(&text, 0), at, "{special:x} among {filler:x}");
                    }
                    assert_eq!(plain_until::<ASCII>(&[filler; 100], 3), 100, "{filler:x}");
                }
            }
        }
        check::<false>();
        check::<true>();
    }

    mod agreement {
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn with_serde_json_on_validity(text in "[\\[\\]{},:\"\\\\ntrue0-9.eE+-u a]{0,40}") {
                let mut tape = super::Tape::default();
                let ours = tape.read(text.as_bytes());
                let serde = serde_json::from_str::<serde_json::Value>(&text);
                // serde_json refuses floats out of range; Python reads them.
                let out_of_range = serde.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
                prop_assert!(ours == serde.is_ok() || out_of_range, "{text:?} {:?}", serde);
            }

            #[test]
            fn with_serde_json_on_the_members_of_an_object(
                keys in prop::collection::vec(r"[ab]{0,2}|\\u006[12]|a\\u0062|a[a-f]b", 0..40),
            ) {
                let members: Vec<String> = keys.iter().enumerate().map(|(n, key)| format!("\"{key}\":{n}")).collect();
                let text = format!("{{{}}}", members.join(","));
                let mut tape = super::Tape::default();
                let value = tape.parse(text.as_bytes()).unwrap();
                let theirs: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
                let entries: Vec<_> = value.entries().into_iter().map(|one| (one.name().into_owned(), one.value)).collect();
                prop_assert_eq!(entries.len(), theirs.len());
                for ((name, value_of), (key, number)) in entries.into_iter().zip(&theirs) {
                    prop_assert_eq!(name.bytes(), key.as_bytes());
                    prop_assert_eq!(value_of.raw(), number.to_string().into_bytes());
                    prop_assert_eq!(value.get(key).map(|found| found.at), Some(value_of.at));
                }
                prop_assert!(value.get("other").is_none());
            }
        }
    }

    #[test]
    fn lines_of_several_values_are_told_from_others() {
        for (text, may) in [
            ("{}{}", true),
            ("{} []", true),
            ("{}\r{}\n", true),
            ("[]{}", false),
            ("{}\n{}", false),
            ("{}\r\n{}\r\n", false),
            ("{}\r", false),
            ("{\"a\":{}}", false),
            ("}", false),
            ("", false),
        ] {
            assert_eq!(may_hold_several(text.as_bytes()), may, "{text}");
        }
    }
}
