//! Text brought down to what counts when a quote is looked for: letters in lower case, digits and signs, without
//! blanks, punctuation, accents, reference marks and HTML. One search in it finds a quote whatever became of its line
//! ends.
//!
//! Between digits something always stays, because `1.2` is not `12`, and a sign before a number stays, because `-5` is
//! not `5`. Characters are compared by what Unicode calls their compatibility decomposition: `½` is `1/2`, `№` is `No`.

use std::ops::{ControlFlow, Range};

use icu_normalizer::{DecomposingNormalizer, DecomposingNormalizerBorrowed};
use memchr::memmem::Finder;
use nucleo_matcher::chars::normalize;

use self::marks::{Tag, mark};
use crate::lines::Lines;
use stepscope_base::text::{Piece, pieces};

pub(crate) mod marks;

/// Shorter words with a digit are names: `Q3`, `A4`.
const WORD: u8 = 3;
/// From a place in the folded text the way back is looked up from the last of these, so many bytes apart at most.
const STEP: usize = 4096;

/// Class of a character for the fold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Not there at all: accents of their own, soft hyphens, invisible characters.
    Nothing,
    Letter,
    Digit,
    /// A digit or sign set high: an exponent, or a footnote's number.
    High,
    /// A sign that means something: `%`, `$`, `=`.
    Sign,
    Blank,
    Dash,
    Dot,
    Open,
    Punctuation,
}

/// State of the fold, from the characters before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldState {
    /// The last character that was kept is a digit.
    digit: bool,
    /// The character before is a digit.
    running: bool,
    /// The character before is a blank or an opening bracket, or there is none.
    open: bool,
    /// The last punctuation since a character was kept.
    between: u8,
    /// Number of letters before, with nothing but punctuation behind them.
    word: u8,
    /// Number of letters before, with a blank behind them.
    last: u8,
    /// The character before is set high.
    high: bool,
}

impl Default for FoldState {
    fn default() -> Self {
        Self { digit: false, running: false, open: true, between: 0, word: 0, last: 0, high: false }
    }
}

impl FoldState {
    fn keep(&mut self, digit: bool) {
        (self.digit, self.running, self.open, self.between) = (digit, digit, false, 0);
        (self.last, self.high) = (0, false);
    }

    fn drop(&mut self, open: bool) {
        (self.running, self.open, self.high) = (false, open, false);
    }

    fn blank(&mut self) {
        self.drop(true);
        self.last = self.last.max(self.word);
        self.word = 0;
    }

    /// Tells whether a footnote's number may follow: behind a word, or a blank behind it.
    const fn may_have_note(&self) -> bool {
        self.word >= WORD || (self.open && self.last >= WORD)
    }
}

/// Takes what the fold gives.
trait FoldSink {
    /// Takes folded bytes and the range of the text that they represent.
    fn take(&mut self, out: &[u8], from: Range<usize>) -> ControlFlow<()>;
    /// Takes ASCII letters, not yet in lower case, and their position: the same as one after another.
    fn letters(&mut self, letters: &[u8], from: usize) -> ControlFlow<()>;
    /// The fold is between two characters.
    fn between(&mut self, _at: usize, _state: FoldState) {}
}

/// Folds a piece of text without line ends. `footnotes`: digits glued to the end of a word are left out, and digits set
/// high, and `(Smith, 2020)`.
fn fold(text: &[u8], state: &mut FoldState, footnotes: bool, sink: &mut impl FoldSink) -> ControlFlow<()> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        sink.between(at, *state);
        let rest = &text[at..];
        if byte.is_ascii_alphabetic() {
            let len = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            sink.letters(&rest[..len], at)?;
            state.keep(false);
            state.word = state.word.saturating_add(u8::try_from(len).unwrap_or(u8::MAX));
            at += len;
            continue;
        }
        if byte == b' ' {
            state.blank();
            at += 1;
            continue;
        }
        at += match byte {
            b'0'..=b'9' => digit(rest, at, footnotes, state, sink)?,
            0x80.. => wide(rest, at, footnotes, state, sink)?,
            _ => ascii(rest, at, footnotes, state, sink)?,
        };
    }
    ControlFlow::Continue(())
}

/// Folds the digit at the beginning of a text, or leaves out a footnote's number; gives the length.
fn digit(
    text: &[u8],
    at: usize,
    footnotes: bool,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<(), usize> {
    if footnotes && let Some(len) = glued(text, *state) {
        return ControlFlow::Continue(len);
    }
    step(CharClass::Digit, &text[..1], false, at..at + 1, state, sink)?;
    ControlFlow::Continue(1)
}

/// Folds the sign, bracket, mark, entity or tag at the beginning of a text; gives the length.
fn ascii(
    text: &[u8],
    at: usize,
    footnotes: bool,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<(), usize> {
    let byte = text.first().copied().unwrap_or(b' ');
    let next = text.get(1).copied().unwrap_or(b' ');
    let pair = match byte {
        b'[' => match marks::reference(text) {
            Some(len) => return ControlFlow::Continue(len),
            None => None,
        },
        b'(' if footnotes => match marks::author_and_year(text) {
            Some(len) => return ControlFlow::Continue(len),
            None => None,
        },
        b'&' => match marks::entity(text) {
            Some((len, decoded)) => {
                let follows = text.get(len).is_some_and(u8::is_ascii_digit);
                for c in decoded.chars() {
                    one(c, follows, at..at + len, state, sink)?;
                }
                return ControlFlow::Continue(len);
            }
            None => None,
        },
        b'<' => match marks::tag(text) {
            Some((len, Tag::High)) => return high(text, len, at, footnotes, state, sink),
            Some((len, Tag::Break)) => {
                state.blank();
                return ControlFlow::Continue(len);
            }
            Some((len, Tag::Style)) => return ControlFlow::Continue(len),
            None => None,
        },
        b'|' => {
            state.blank();
            return ControlFlow::Continue(1);
        }
        // An exponent: behind a number it is kept, `x^2` is `x²`.
        b'^' if matches!(next, b'0'..=b'9' | b'{' | b'(' | b'-' | b'+' | 0xe2) => {
            if state.running {
                sink.take(b"^", at..at + 1)?;
                state.keep(false);
            }
            state.open = true;
            return ControlFlow::Continue(1);
        }
        b'!' if next == b'=' => Some(NOT_EQUAL),
        b'-' if next == b'>' => Some("→"),
        _ => None,
    };
    if let Some(pair) = pair {
        step(CharClass::Sign, pair.as_bytes(), false, at..at + 2, state, sink)?;
        return ControlFlow::Continue(2);
    }
    step(ascii_class(byte), &[byte], next.is_ascii_digit(), at..at + 1, state, sink)?;
    ControlFlow::Continue(1)
}

/// Text that `≠` is decomposed to, and what `!=` means.
const NOT_EQUAL: &str = "=\u{338}";

/// Folds what an HTML tag of some length sets high, if it is a short number; gives the length up to its end.
fn high(
    text: &[u8],
    tag: usize,
    at: usize,
    footnotes: bool,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<(), usize> {
    const MAX_HIGH: usize = 24;
    let rest = &text[tag..];
    let inner = rest.iter().take(MAX_HIGH).take_while(|byte| **byte != b'<').count();
    let inner = &rest[..inner];
    let is_number = inner.iter().any(u8::is_ascii_digit)
        && inner.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b',' | b' '));
    if !is_number {
        return ControlFlow::Continue(tag);
    }
    if !(footnotes && state.may_have_note()) {
        for (n, byte) in inner.iter().enumerate().filter(|(_, byte)| !matches!(byte, b',' | b' ')) {
            let from = at + tag + n;
            step(CharClass::High, &[*byte], false, from..from + 1, state, sink)?;
        }
    }
    ControlFlow::Continue(tag + inner.len())
}

/// Folds the character beyond ASCII at the beginning of a text; gives the length.
fn wide(
    text: &[u8],
    at: usize,
    footnotes: bool,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<(), usize> {
    let (len, c) = character(text);
    let rest = &text[len..];
    if c == '【'
        && let Some(len) = marks::reference(text)
    {
        return ControlFlow::Continue(len);
    }
    // What became of a hyphen at the end of a line.
    let is_hyphen = c == '¬' && state.word > 0 && rest.trim_ascii().is_empty();
    let is_note = footnotes && high_digit(c).is_some() && state.may_have_note();
    if !is_hyphen && !is_note {
        one(c, rest.first().is_some_and(u8::is_ascii_digit), at..at + len, state, sink)?;
    }
    ControlFlow::Continue(len)
}

/// Folds a character that comes from some bytes.
fn one(
    c: char,
    digit_follows: bool,
    from: Range<usize>,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<()> {
    const DECOMPOSE: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();
    if let Some(digit) = high_digit(c) {
        return step(CharClass::High, &[digit], false, from, state, sink);
    }
    if !may_decompose(c) {
        return part(c, digit_follows, from, state, sink);
    }
    // `1½` is one and a half, and no eleven halves.
    if state.running && matches!(c, '¼'..='¾' | '⅐'..='⅟' | '↉' | '①'..='⒛' | '⓪'..='⓿' | '❶'..='➓')
    {
        state.blank();
    }
    for c in DECOMPOSE.normalize_iter(std::iter::once(c)) {
        part(c, digit_follows, from.clone(), state, sink)?;
    }
    ControlFlow::Continue(())
}

/// Folds a character, or a part of one that was decomposed.
fn part(
    c: char,
    digit_follows: bool,
    from: Range<usize>,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<()> {
    let mut long = [0; 16];
    let (class, len) = match c {
        '|' => (CharClass::Blank, 0),
        c if c.is_ascii() => (ascii_class(c as u8), encoded(c.to_ascii_lowercase(), &mut long)),
        _ => fold_wide(c, &mut long),
    };
    step(class, &long[..len], digit_follows, from, state, sink)
}

fn encoded(c: char, out: &mut [u8]) -> usize {
    let len = c.len_utf8();
    out.get_mut(..len).map_or(0, |out| c.encode_utf8(out).len())
}

fn step(
    class: CharClass,
    out: &[u8],
    digit_follows: bool,
    from: Range<usize>,
    state: &mut FoldState,
    sink: &mut impl FoldSink,
) -> ControlFlow<()> {
    match class {
        CharClass::Nothing => {}
        CharClass::Letter => {
            sink.take(out, from)?;
            state.keep(false);
            state.word = state.word.saturating_add(1);
        }
        CharClass::Digit => {
            if state.digit && !state.running {
                let between = if state.between == 0 { b' ' } else { state.between };
                sink.take(&[between], from.start..from.start)?;
            }
            sink.take(out, from)?;
            state.keep(true);
            state.word = 0;
        }
        CharClass::High => {
            // `10⁶` is no 106.
            if state.running && !state.high {
                sink.take(b"^", from.start..from.start)?;
            }
            sink.take(out, from)?;
            state.keep(true);
            (state.high, state.word) = (true, 0);
        }
        CharClass::Sign => {
            sink.take(out, from)?;
            state.keep(false);
            state.word = 0;
        }
        CharClass::Blank => state.blank(),
        CharClass::Dash | CharClass::Dot if state.open && digit_follows => {
            sink.take(if class == CharClass::Dash { b"-" } else { b"." }, from)?;
            state.keep(false);
            state.word = 0;
        }
        CharClass::Dash | CharClass::Dot | CharClass::Open | CharClass::Punctuation => {
            state.between = match class {
                CharClass::Dash => b'-',
                CharClass::Dot => b'.',
                _ => out.first().copied().filter(u8::is_ascii).unwrap_or(b'~'),
            };
            state.drop(class == CharClass::Open);
            // A footnote's number stands behind the end of a word or sentence: `COVID-19` has none.
            if matches!(class, CharClass::Dash | CharClass::Open) || out == b":" {
                state.word = 0;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Returns the length of a footnote's number at the beginning of a text that continues where a word ended.
fn glued(text: &[u8], state: FoldState) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = text.get(digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (state.word >= WORD && digits <= 2 && ends).then_some(digits)
}

/// Tells whether some number in a text may be glued to a word: rather too often than not often enough, but fast.
pub(crate) fn may_hold_glued(text: &[u8]) -> bool {
    let mut word = 0_u8;
    let next = text.iter().skip(1).chain(std::iter::once(&b' '));
    text.iter().zip(next).any(|(byte, next)| {
        match byte {
            b'0'..=b'9' if word >= WORD => return true,
            // Characters among which are digits set high or low.
            0xc2 | 0xe2 | 0xef => return true,
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => word = word.saturating_add(1),
            b'\n' => word = 0,
            // Marks are left out: in `word[3]12` the number is behind the word.
            b'[' => {}
            // What may be `<sup>3</sup>` or `(Smith, 2020)`.
            b'<' => return true,
            b'(' if next.is_ascii_uppercase() || !next.is_ascii() => return true,
            _ => match ascii_class(*byte) {
                CharClass::Punctuation if *byte != b':' => {}
                CharClass::Dot => {}
                _ => word = 0,
            },
        }
        false
    })
}

/// The first character of a text and its length; what is no character becomes a blank that is not there.
fn character(text: &[u8]) -> (usize, char) {
    match pieces(text).next() {
        Some((range, Piece::Char(c))) => (range.end, c),
        Some((range, _)) => (range.end, '\u{ad}'),
        None => (1, '\u{ad}'),
    }
}

const fn ascii_class(byte: u8) -> CharClass {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => CharClass::Letter,
        b'0'..=b'9' => CharClass::Digit,
        b'\t'..=b'\r' | 0x1c..=b' ' => CharClass::Blank,
        b'-' => CharClass::Dash,
        b'.' => CharClass::Dot,
        b'(' | b'[' | b'{' => CharClass::Open,
        b'$' | b'%' | b'&' | b'+' | b'/' | b'<' | b'=' | b'>' | b'@' | b'^' => CharClass::Sign,
        _ => CharClass::Punctuation,
    }
}

/// The digit or sign that a character sets high.
const fn high_digit(c: char) -> Option<u8> {
    Some(match c {
        '¹' => b'1',
        '²' => b'2',
        '³' => b'3',
        '⁰' => b'0',
        '⁴'..='⁹' => b'4' + (c as u32 - '⁴' as u32) as u8,
        '⁺' => b'+',
        '⁻' => b'-',
        _ => return None,
    })
}

/// Tells whether a character may consist of others. Those that are frequent in a script and are not taken apart are left
/// out, and the signs that stand for a blank with something above or below.
const fn may_decompose(c: char) -> bool {
    !matches!(c as u32,
        0..=0x9f | 0xa8 | 0xaf | 0xb4 | 0xb8 | 0x400..=0x52f | 0x2010..=0x2027 | 0x3400..=0x9fff | 0xac00..=0xd7a3)
}

/// Class of a character beyond ASCII, and how many bytes of `out` hold what it becomes; 0 where that does not matter.
fn fold_wide(c: char, out: &mut [u8; 16]) -> (CharClass, usize) {
    let (class, like) = match c {
        'æ' | 'Æ' => (CharClass::Letter, "ae"),
        'œ' | 'Œ' => (CharClass::Letter, "oe"),
        'ß' | 'ẞ' => (CharClass::Letter, "ss"),
        '×' | '✕' | '✖' | '⨯' => (CharClass::Letter, "x"),
        '≤' | '⩽' | '≦' => (CharClass::Sign, "<="),
        '≥' | '⩾' | '≧' => (CharClass::Sign, ">="),
        // As `+/-` is read: a dash behind a sign is none before a number.
        '±' => (CharClass::Sign, "+/"),
        '⁄' | '∕' => (CharClass::Sign, "/"),
        '٪' => (CharClass::Sign, "%"),
        '٬' => (CharClass::Punctuation, ","),
        '٫' => (CharClass::Dot, "."),
        _ => (CharClass::Nothing, ""),
    };
    if let Some(place) = out.get_mut(..like.len()).filter(|place| !place.is_empty()) {
        place.copy_from_slice(like.as_bytes());
        return (class, like.len());
    }
    if let Some(digit) = decimal_digit(c) {
        return (CharClass::Digit, encoded(digit, out));
    }
    let class = match u32::from(c) {
        // Crosses out the sign before it: `≠`.
        0x338 => CharClass::Sign,
        // Soft hyphen, accents of their own, invisible characters, variation selectors.
        0xad | 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x200b..=0x200f | 0x202a..=0x202e => {
            CharClass::Nothing
        }
        0x2060..=0x2064 | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0xfeff => CharClass::Nothing,
        // The points of Hebrew and Arabic, and what draws an Arabic word out.
        0x591..=0x5bd | 0x5bf..=0x5c7 | 0x610..=0x61a | 0x640 | 0x64b..=0x65f | 0x670 => CharClass::Nothing,
        0x2010..=0x2015 | 0x2212 | 0xfe58 | 0xfe63 => CharClass::Dash,
        // Bars between the cells of a table.
        0xa6 | 0x2502 | 0x2503 => CharClass::Blank,
        // Currency, degrees, plus-minus, times, per mille, arrows, comparisons; not the bullets among them.
        0xa2..=0xa5 | 0xa7 | 0xac | 0xb0 | 0xb1 | 0xd7 | 0xf7 | 0x2030 | 0x2031 | 0x20a0..=0x20cf | 0x2190..=0x21ff => {
            CharClass::Sign
        }
        0x2200..=0x2218 | 0x221a..=0x22c4 | 0x22c6..=0x22ff => CharClass::Sign,
        // These voice the letter before them.
        0x3099 | 0x309a => CharClass::Letter,
        _ if c.is_alphanumeric() => CharClass::Letter,
        _ if c.is_whitespace() => CharClass::Blank,
        _ => CharClass::Punctuation,
    };
    let mut at = 0;
    let is_kept = |lower: &char| !('\u{300}'..='\u{337}').contains(lower) && !('\u{339}'..='\u{36f}').contains(lower);
    for lower in c.to_lowercase().filter(is_kept) {
        at += encoded(plain(lower), &mut out[at..]);
    }
    (class, at)
}

/// A small letter without what tells it from its like.
fn plain(c: char) -> char {
    match c {
        'ς' => 'σ',
        'ё' => 'е',
        _ => normalize(c),
    }
}

/// The digit that a character of another script is.
fn decimal_digit(c: char) -> Option<char> {
    /// The zeros of scripts, from which nine digits follow.
    const ZEROS: [u32; 16] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0x1040,
        0x17e0,
    ];
    let zero = ZEROS.iter().rev().find(|zero| **zero <= u32::from(c))?;
    char::from_digit((u32::from(c) - zero).min(10), 10)
}

/// State of the fold before some byte of the document.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    /// Byte of the document's text.
    byte: u32,
    /// Byte of the folded text.
    at: u32,
    state: FoldState,
}

/// Lines of a document, folded, with the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoldedText {
    text: Vec<u8>,
    /// Ascending; one at the beginning of each line at least.
    starts: Vec<Checkpoint>,
    footnotes: bool,
}

/// Builds a [`FoldedText`].
struct Builder<'s> {
    skeleton: &'s mut FoldedText,
    line: usize,
    next: usize,
}

impl FoldSink for Builder<'_> {
    fn take(&mut self, out: &[u8], _: Range<usize>) -> ControlFlow<()> {
        self.skeleton.text.extend_from_slice(out);
        ControlFlow::Continue(())
    }

    fn letters(&mut self, letters: &[u8], _: usize) -> ControlFlow<()> {
        self.skeleton.text.extend(letters.iter().map(u8::to_ascii_lowercase));
        ControlFlow::Continue(())
    }

    fn between(&mut self, at: usize, state: FoldState) {
        if at >= self.next {
            let (byte, folded) = (u32::try_from(self.line + at), u32::try_from(self.skeleton.text.len()));
            if let (Ok(byte), Ok(at)) = (byte, folded) {
                self.skeleton.starts.push(Checkpoint { byte, at, state });
            }
            self.next = at + STEP;
        }
    }
}

/// Looks for the character that a byte of the folded text belongs to.
struct Locator {
    left: usize,
    found: Option<Range<usize>>,
}

impl FoldSink for Locator {
    fn take(&mut self, out: &[u8], from: Range<usize>) -> ControlFlow<()> {
        if self.left < out.len() {
            self.found = Some(from);
            return ControlFlow::Break(());
        }
        self.left -= out.len();
        ControlFlow::Continue(())
    }

    fn letters(&mut self, letters: &[u8], from: usize) -> ControlFlow<()> {
        if self.left < letters.len() {
            self.found = Some(from + self.left..from + self.left + 1);
            return ControlFlow::Break(());
        }
        self.left -= letters.len();
        ControlFlow::Continue(())
    }
}

impl FoldedText {
    /// Folds some lines, in ascending order. `footnotes`: digits glued to the end of a word are left out.
    pub(crate) fn of(all: &Lines, lines: impl Iterator<Item = usize>, footnotes: bool) -> Self {
        let mut skeleton = Self { footnotes, ..Self::default() };
        let mut state = FoldState::default();
        for n in lines {
            let (Some(line), Some(text)) = (all.offset(n), all.line(n)) else { continue };
            let mut builder = Builder { skeleton: &mut skeleton, line, next: 0 };
            let _ = fold(text, &mut state, footnotes, &mut builder);
            state.blank();
        }
        skeleton
    }

    /// Everything at all.
    pub(crate) fn all(&self) -> Range<usize> {
        0..self.text.len()
    }

    /// The part that comes from some bytes of the document.
    pub(crate) fn within(&self, bytes: &Range<usize>) -> Range<usize> {
        let at = |byte: usize| {
            let n = self.starts.partition_point(|start| (start.byte as usize) < byte);
            self.starts.get(n).map_or(self.text.len(), |start| start.at as usize)
        };
        at(bytes.start)..at(bytes.end)
    }

    /// Finds the occurrences of a needle in a part of the folded text, in bytes of the folded text. Only those of short
    /// needles may overlap: a word may contain the beginning of the next one.
    pub(crate) fn find<'s>(
        &'s self,
        needle: &'s Finder<'_>,
        part: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 's {
        const FEW: usize = 8;
        let len = needle.needle().len();
        let mut from = part.start;
        std::iter::from_fn(move || {
            // A quote that folds to nothing would be found everywhere.
            let text = self.text.get(from..part.end).filter(|_| len > 0)?;
            let at = from + needle.find(text)?;
            from = at + if len < FEW { 1 } else { len };
            Some(at..at + len)
        })
    }

    /// The folded text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The bytes of the document that a part of the folded text comes from.
    pub(crate) fn place(&self, all: &Lines, part: Range<usize>) -> Option<Range<usize>> {
        let first = self.locate(all, part.start)?;
        let last = self.locate(all, part.end.checked_sub(1)?)?;
        Some(first.start..last.end)
    }

    /// Lists the lines of a range that were not folded though they are not empty.
    pub(crate) fn missing(&self, all: &Lines, lines: &Range<usize>) -> Vec<usize> {
        let folded = |n: usize| {
            let offset = all.offset(n).unwrap_or(0);
            self.starts.binary_search_by_key(&offset, |start| start.byte as usize).is_ok()
        };
        let filled = |n: &usize| all.line(*n).is_some_and(|line| !line.is_empty());
        lines.clone().filter(filled).filter(|n| !folded(*n)).collect()
    }

    fn locate(&self, all: &Lines, at: usize) -> Option<Range<usize>> {
        let n = self.starts.partition_point(|start| start.at as usize <= at).checked_sub(1)?;
        let start = self.starts.get(n)?;
        let byte = start.byte as usize;
        let line = all.line_at(byte);
        let skip = byte.checked_sub(all.offset(line)?)?;
        let mut locator = Locator { left: at - start.at as usize, found: None };
        let mut state = start.state;
        let _ = fold(all.line(line)?.get(skip..)?, &mut state, self.footnotes, &mut locator);
        locator.found.map(|range| byte + range.start..byte + range.end)
    }
}

/// A text that is no part of a document, folded: its bytes, and where the first and the last of them come from.
pub(crate) fn fold_text(text: &[u8]) -> (Vec<u8>, Range<usize>) {
    fold_whole(text, false)
}

/// Folds a text as [`fold_text`] does. `footnotes`: as in [`FoldedText::of`].
pub(crate) fn fold_whole(text: &[u8], footnotes: bool) -> (Vec<u8>, Range<usize>) {
    struct Whole(Vec<u8>, Option<Range<usize>>);
    impl FoldSink for Whole {
        fn take(&mut self, out: &[u8], from: Range<usize>) -> ControlFlow<()> {
            self.0.extend_from_slice(out);
            let start = self.1.as_ref().map_or(from.start, |range| range.start);
            self.1 = Some(start..from.end);
            ControlFlow::Continue(())
        }

        fn letters(&mut self, letters: &[u8], from: usize) -> ControlFlow<()> {
            let start = self.0.len();
            self.take(letters, from..from + letters.len())?;
            self.0[start..].make_ascii_lowercase();
            ControlFlow::Continue(())
        }
    }
    let mut whole = Whole(Vec::with_capacity(text.len()), None);
    let _ = fold(text, &mut FoldState::default(), footnotes, &mut whole);
    (whole.0, whole.1.unwrap_or(text.len()..text.len()))
}

/// A folded text with the bytes that each of its bytes comes from.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Trace {
    pub bytes: Vec<u8>,
    pub from: Vec<Range<usize>>,
}

impl Trace {
    /// Folds a text; a line's end in it is a blank. `footnotes`: as in [`FoldedText::of`].
    pub(crate) fn of(text: &[u8], footnotes: bool) -> Self {
        let mut trace = Self { bytes: Vec::with_capacity(text.len()), from: Vec::with_capacity(text.len()) };
        let _ = fold(text, &mut FoldState::default(), footnotes, &mut trace);
        trace
    }
}

impl FoldSink for Trace {
    fn take(&mut self, out: &[u8], from: Range<usize>) -> ControlFlow<()> {
        self.bytes.extend_from_slice(out);
        self.from.resize(self.bytes.len(), from);
        ControlFlow::Continue(())
    }

    fn letters(&mut self, letters: &[u8], from: usize) -> ControlFlow<()> {
        self.bytes.extend(letters.iter().map(u8::to_ascii_lowercase));
        self.from.extend((from..from + letters.len()).map(|at| at..at + 1));
        ControlFlow::Continue(())
    }
}

/// Normalizes a text as the published check does: blanks folded to one, `[12]` marks dropped. The published text does
/// not say whether the blank before a mark is dropped with it; `blank_goes` tries both.
pub(crate) fn published(text: &[u8], blank_goes: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte == b'['
            && let Some(len) = mark(&text[at..])
        {
            if blank_goes && out.last() == Some(&b' ') {
                out.pop();
            }
            at += len;
            continue;
        }
        let (len, blank) = if byte < 0x80 {
            (1, ascii_class(byte) == CharClass::Blank)
        } else {
            let (len, c) = character(&text[at..]);
            (len, c.is_whitespace())
        };
        if !blank {
            out.extend_from_slice(&text[at..at + len]);
        } else if out.last().is_some_and(|last| *last != b' ') {
            out.push(b' ');
        }
        at += len;
    }
    if out.last() == Some(&b' ') {
        out.pop();
    }
    out
}

/// Tells whether two texts differ only in soft hyphens, and in blanks and `[12]` marks.
pub(crate) fn equal_without_soft_hyphens(text: &[u8], quote: &[u8]) -> bool {
    const SOFT: &[u8] = "\u{ad}".as_bytes();
    let without = |text: &[u8]| {
        let (mut out, mut from) = (Vec::with_capacity(text.len()), 0);
        for at in memchr::memmem::find_iter(text, SOFT) {
            out.extend_from_slice(&text[from..at]);
            from = at + SOFT.len();
        }
        out.extend_from_slice(&text[from..]);
        out
    };
    let (text, quote) = (without(text), without(quote));
    [true, false].into_iter().any(|goes| published(&text, goes) == published(&quote, goes))
}

/// Tells whether two texts differ only in hyphens at the line ends of the first, and in blanks and `[12]` marks.
pub(crate) fn equal_without_line_hyphens(text: &[u8], quote: &[u8]) -> bool {
    let (text, quote) = (units(text, true), units(quote, false));
    let mut quote = quote.iter().peekable();
    for unit in &text {
        if *unit != HyphenUnit::Hyphen {
            if quote.next() != Some(unit) {
                return false;
            }
        } else if quote.next_if(|unit| **unit == HyphenUnit::Char('-')).is_some() {
            quote.next_if(|unit| **unit == HyphenUnit::Blank);
        }
    }
    quote.next().is_none()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HyphenUnit {
    Char(char),
    Blank,
    /// At the end of a line.
    Hyphen,
}

fn units(text: &[u8], breaks: bool) -> Vec<HyphenUnit> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(len) = mark(rest).filter(|_| rest.starts_with(b"[")) {
            if out.last() == Some(&HyphenUnit::Blank) {
                out.pop();
            }
            at += len;
            continue;
        }
        let (len, c) = character(rest);
        at += len;
        if c == '\u{ad}' {
            if breaks && let Some(blanks) = blanks_at_line_end(&text[at..]) {
                out.push(HyphenUnit::Hyphen);
                at += blanks;
            }
            continue;
        }
        let hyphen = matches!(c, '-' | '\u{2010}' | '\u{2011}');
        if hyphen
            && breaks
            && let Some(blanks) = blanks_at_line_end(&text[at..])
        {
            out.push(HyphenUnit::Hyphen);
            at += blanks;
        } else if c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c) {
            if out.last().is_some_and(|last| *last != HyphenUnit::Blank) {
                out.push(HyphenUnit::Blank);
            }
        } else {
            out.push(HyphenUnit::Char(if hyphen { '-' } else { c }));
        }
    }
    if out.last() == Some(&HyphenUnit::Blank) {
        out.pop();
    }
    out
}

/// The length of the blanks at the beginning of a text, if the line ends among them.
fn blanks_at_line_end(text: &[u8]) -> Option<usize> {
    let blanks = text.iter().take_while(|byte| ascii_class(**byte) == CharClass::Blank).count();
    text.get(..blanks)?.contains(&b'\n').then_some(blanks)
}

/// Tells whether a character belongs to a word.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Tells whether two characters are the same to a reader: the many dashes, quotation marks and bullets.
pub(crate) fn is_like(a: char, b: char) -> bool {
    const GROUPS: [&[char]; 4] = [
        &['-', '\u{2010}', '\u{2011}', '‒', '–', '—', '―', '−'],
        &['"', '“', '”', '„', '‟', '«', '»', '″'],
        &['\'', '‘', '’', '‚', '‛', '`', '´', '′', '‹', '›'],
        &['•', '·', '*', '‣', '▪', '●', '■', '◦', '○'],
    ];
    a == b || GROUPS.iter().any(|group| group.contains(&a) && group.contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn folded(text: &str) -> String {
        String::from_utf8(fold_text(text.as_bytes()).0).unwrap()
    }

    #[test]
    fn blanks_punctuation_case_accents_and_marks_go() {
        assert_eq!(folded(" “Prés-\nerving”,  the\u{a0}ﬁnance [12] of A (b). "), "preservingthefinanceofab");
        assert_eq!(folded("e\u{301}tude\u{ad}s ＡＢ２ x² [x, 44 U.S.C.]"), "etudesab2x2x44usc");
        assert_eq!(folded("Straße · ŒUVRE − 日本語"), "strasseoeuvre日本語");
        assert_eq!(folded("\u{feff}__ • …"), "");
    }

    #[test]
    fn numbers_keep_what_makes_them_numbers() {
        assert_eq!(folded("USD 1,200.50"), "usd1,200.50");
        assert_ne!(folded("USD 1.2"), folded("USD 12"));
        assert_ne!(folded("12 00"), folded("1200"));
        assert_ne!(folded("is -5 %"), folded("is 5 %"));
        assert_ne!(folded("5%"), folded("5"));
        assert_eq!(folded("is –5"), folded("is −5"));
        assert_eq!(folded("104-\n106"), folded("104-106"));
        assert_eq!(folded("Section: 5"), folded("Section 5"));
        assert_eq!(folded("2002[12] 15"), folded("2002 15"));
        assert!(folded("USD 1,200 per").contains(&folded("200 per")));
    }

    #[test]
    fn the_way_back_is_exact_whatever_the_line() {
        let long = "ab, ﬁ1 é [3] 7-8 ".repeat(900);
        let lines = vec![(1, 1, "Public Law 104-"), (1, 2, "106) é"), (1, 3, ""), (1, 4, long.as_str())];
        let document = Document::of(lines, Vec::new());
        for footnotes in [false, true] {
            let skeleton = FoldedText::of(document.lines(), 0..4, footnotes);
            let mut checked = 0;
            for at in (0..skeleton.text.len()).filter(|at| skeleton.text[*at].is_ascii_alphanumeric()) {
                let place = skeleton.place(document.lines(), at..at + 1).unwrap();
                let source = std::str::from_utf8(document.bytes(place)).unwrap();
                let own = folded(source);
                assert!(own.as_bytes().contains(&skeleton.text[at]), "{at}: {source:?}");
                checked += 1;
            }
            assert!(checked > 5_000);
        }
    }

    #[test]
    fn the_number_of_a_footnote_is_left_out_and_a_name_is_not() {
        let fold = |text: &str| {
            let document = Document::of(vec![(1, 1, text)], Vec::new());
            String::from_utf8(FoldedText::of(document.lines(), 0..1, true).text).unwrap()
        };
        assert_eq!(fold("information1 and the system.5 It"), "informationandthesystemit");
        assert_eq!(fold("information² and"), "informationand");
        assert_eq!(fold("in Q3 of FIPS199 and 2002, B12x"), "inq3offips199and2002b12x");
    }

    #[test]
    fn the_published_check_sees_blanks_and_marks_only() {
        assert_eq!(published(b" learned\n and  fixed [9]. ", true), b"learned and fixed.");
        assert_eq!(published(b" learned\n and  fixed [9]. ", false), b"learned and fixed .");
        assert_eq!(published("a\u{a0}\u{2003}b [x]\x1cc".as_bytes(), true), b"a b [x] c");
    }

    #[test]
    fn soft_hyphens_that_break_no_line_are_no_line_breaks() {
        let equal = |text: &str, quote: &str| equal_without_soft_hyphens(text.as_bytes(), quote.as_bytes());
        assert!(equal("the infor\u{ad}mation\nof  all [3]", "the information of all"));
        assert!(equal("information", "in\u{ad}for\u{ad}mation"));
        assert!(!equal("infor\u{ad}\nmation", "information"));
        assert!(!equal("infor\u{ad}mation", "infor-mation"));
    }

    #[test]
    fn hyphens_are_undone_at_line_ends_only() {
        let equal = |text: &str, quote: &str| equal_without_line_hyphens(text.as_bytes(), quote.as_bytes());
        assert!(equal("infor- \n mation of 104-\n106", "information of 104-106"));
        assert!(equal("infor\u{ad}mation well-\nknown", "information  well-known"));
        assert!(equal("cross-\nborder [3]", "cross- border"));
        assert!(!equal("co-op", "coop"));
        assert!(!equal("infor-\nmation", "Information"));
        assert!(!equal("infor-\nmation", "information now"));
    }
}
