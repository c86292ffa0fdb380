//! Text brought down to what counts when a quote is looked for: letters in lower case, digits and signs, without
//! blanks, punctuation, accents and `[12]` marks. One search in it finds a quote whatever became of its line ends.
//!
//! Between digits something always stays, because `1.2` is not `12`, and a sign before a number stays, because `-5` is
//! not `5`.

use std::ops::{ControlFlow, Range};

use memchr::memmem::Finder;
use nucleo_matcher::chars::normalize;

use crate::answer::document::Document;
use stepscope_base::text::{Piece, pieces};

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
    /// A digit set high: often a footnote's number.
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
}

impl Default for FoldState {
    fn default() -> Self {
        Self { digit: false, running: false, open: true, between: 0, word: 0 }
    }
}

impl FoldState {
    fn keep(&mut self, digit: bool) {
        (self.digit, self.running, self.open, self.between) = (digit, digit, false, 0);
    }

    fn drop(&mut self, open: bool) {
        (self.running, self.open) = (false, open);
    }

    fn blank(&mut self) {
        self.drop(true);
        self.word = 0;
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

/// Folds a piece of text without line ends. `footnotes`: digits glued to the end of a word are left out.
fn fold(text: &[u8], state: &mut FoldState, footnotes: bool, sink: &mut impl FoldSink) -> ControlFlow<()> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        sink.between(at, *state);
        if byte.is_ascii_alphabetic() {
            let rest = text.get(at..).unwrap_or_default();
            let len = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            sink.letters(rest.get(..len).unwrap_or_default(), at)?;
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
        if byte == b'['
            && let Some(len) = mark(text.get(at..).unwrap_or_default())
        {
            at += len;
            continue;
        }
        let mut long = [0; 8];
        let (len, class, out) = if byte < 0x80 {
            (1, ascii_class(byte), 0)
        } else {
            let (len, c) = character(text.get(at..).unwrap_or_default());
            let (class, out) = fold_wide(c, &mut long);
            (len, class, out)
        };
        let short = [byte.to_ascii_lowercase()];
        let out = if out > 0 { long.get(..out).unwrap_or_default() } else { &short[..] };
        let digit_follows = text.get(at + len).is_some_and(u8::is_ascii_digit);
        if footnotes
            && matches!(class, CharClass::Digit | CharClass::High)
            && let Some(glued) = glued(text.get(at..).unwrap_or_default(), class, *state)
        {
            at += glued;
            continue;
        }
        step(class, out, digit_follows, at..at + len, state, sink)?;
        at += len;
    }
    ControlFlow::Continue(())
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
        CharClass::Digit | CharClass::High => {
            if state.digit && !state.running {
                let between = if state.between == 0 { b' ' } else { state.between };
                sink.take(&[between], from.start..from.start)?;
            }
            sink.take(out, from)?;
            state.keep(true);
            state.word = 0;
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

/// The length of a `[12]` mark at the beginning of a text that begins with a bracket.
pub(crate) fn mark(text: &[u8]) -> Option<usize> {
    let digits = text.get(1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0 && text.get(1 + digits) == Some(&b']')).then_some(digits + 2)
}

/// Returns the length of a footnote's number at the beginning of a text that continues where a word ended.
fn glued(text: &[u8], class: CharClass, state: FoldState) -> Option<usize> {
    if state.word < WORD {
        return None;
    }
    if class == CharClass::High {
        return Some(character(text).0);
    }
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = text.get(digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (digits <= 2 && ends).then_some(digits)
}

/// Tells whether some number in a text may be glued to a word: rather too often than not often enough, but fast.
pub(super) fn may_hold_glued(text: &[u8]) -> bool {
    let mut word = 0_u8;
    text.iter().any(|byte| {
        match byte {
            b'0'..=b'9' if word >= WORD => return true,
            // Characters among which are digits set high or low.
            0xc2 | 0xe2 | 0xef => return true,
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => word = word.saturating_add(1),
            b'\n' => word = 0,
            // Marks are left out: in `word[3]12` the number is behind the word.
            b'[' => {}
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

/// Class of a character beyond ASCII, and how many bytes of `out` hold what it becomes; 0 where that does not matter.
fn fold_wide(c: char, out: &mut [u8; 8]) -> (CharClass, usize) {
    let ligature = match c {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ß' | 'ẞ' => "ss",
        _ => "",
    };
    if let Some(place) = out.get_mut(..ligature.len()).filter(|place| !place.is_empty()) {
        place.copy_from_slice(ligature.as_bytes());
        return (CharClass::Letter, ligature.len());
    }
    let c = plain(c);
    let class = match u32::from(c) {
        0..0x80 => match ascii_class(c as u8) {
            CharClass::Digit if c.is_ascii_digit() => CharClass::High,
            class => class,
        },
        // Soft hyphen, accents of their own, invisible characters, variation selectors.
        0xad | 0x300..=0x36f | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfe00..=0xfe0f | 0xfeff => {
            CharClass::Nothing
        }
        0x2010..=0x2015 | 0x2212 | 0xfe58 | 0xfe63 => CharClass::Dash,
        // Currency, degrees, plus-minus, times, per mille, arrows, comparisons; not the bullets among them.
        0xa2..=0xa5 | 0xa7 | 0xac | 0xb0 | 0xb1 | 0xd7 | 0xf7 | 0x2030 | 0x2031 | 0x20a0..=0x20cf | 0x2190..=0x21ff => {
            CharClass::Sign
        }
        0x2200..=0x2218 | 0x221a..=0x22c4 | 0x22c6..=0x22ff => CharClass::Sign,
        _ if c.is_alphanumeric() => CharClass::Letter,
        _ if c.is_whitespace() => CharClass::Blank,
        _ => CharClass::Punctuation,
    };
    let mut at = 0;
    for lower in c.to_lowercase().filter(|lower| !('\u{300}'..='\u{36f}').contains(lower)) {
        let len = lower.len_utf8();
        if let Some(place) = out.get_mut(at..at + len) {
            lower.encode_utf8(place);
            at += len;
        }
    }
    (class, at)
}

/// A character without accent, width and height.
fn plain(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{b2}' => '2',
        '\u{b3}' => '3',
        '\u{b9}' => '1',
        '\u{2070}' | '\u{2074}'..='\u{2079}' => digit(u32::from(c) - 0x2070),
        '\u{2080}'..='\u{2089}' => digit(u32::from(c) - 0x2080),
        'ª' => 'a',
        'º' => 'o',
        'µ' => 'μ',
        'ς' => 'σ',
        _ => normalize(c),
    }
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10).unwrap_or('0')
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
    pub(crate) fn of(document: &Document, lines: impl Iterator<Item = usize>, footnotes: bool) -> Self {
        let mut skeleton = Self { footnotes, ..Self::default() };
        let mut state = FoldState::default();
        for n in lines {
            let (Some(line), Some(text)) = (document.offset(n), document.line(n)) else { continue };
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
    pub(crate) fn place(&self, document: &Document, part: Range<usize>) -> Option<Range<usize>> {
        let first = self.locate(document, part.start)?;
        let last = self.locate(document, part.end.checked_sub(1)?)?;
        Some(first.start..last.end)
    }

    /// Lists the lines of a range that were not folded though they are not empty.
    pub(crate) fn missing(&self, document: &Document, lines: &Range<usize>) -> Vec<usize> {
        let folded = |n: usize| {
            let offset = document.offset(n).unwrap_or(0);
            self.starts.binary_search_by_key(&offset, |start| start.byte as usize).is_ok()
        };
        let filled = |n: &usize| document.line(*n).is_some_and(|line| !line.is_empty());
        lines.clone().filter(filled).filter(|n| !folded(*n)).collect()
    }

    fn locate(&self, document: &Document, at: usize) -> Option<Range<usize>> {
        let n = self.starts.partition_point(|start| start.at as usize <= at).checked_sub(1)?;
        let start = self.starts.get(n)?;
        let byte = start.byte as usize;
        let line = document.line_at(byte);
        let skip = byte.checked_sub(document.offset(line)?)?;
        let mut locator = Locator { left: at - start.at as usize, found: None };
        let mut state = start.state;
        let _ = fold(document.line(line)?.get(skip..)?, &mut state, self.footnotes, &mut locator);
        locator.found.map(|range| byte + range.start..byte + range.end)
    }
}

/// A text that is no part of a document, folded: its bytes, and where the first and the last of them come from.
pub(crate) fn fold_text(text: &[u8]) -> (Vec<u8>, Range<usize>) {
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
            self.0.get_mut(start..).unwrap_or_default().make_ascii_lowercase();
            ControlFlow::Continue(())
        }
    }
    let mut whole = Whole(Vec::with_capacity(text.len()), None);
    let _ = fold(text, &mut FoldState::default(), false, &mut whole);
    (whole.0, whole.1.unwrap_or(text.len()..text.len()))
}

/// Normalizes a text as the published check does: blanks folded to one, `[12]` marks dropped. The published text does
/// not say whether the blank before a mark is dropped with it; `blank_goes` tries both.
pub(crate) fn published(text: &[u8], blank_goes: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte == b'['
            && let Some(len) = mark(text.get(at..).unwrap_or_default())
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
            let (len, c) = character(text.get(at..).unwrap_or_default());
            (len, c.is_whitespace())
        };
        if !blank {
            out.extend_from_slice(text.get(at..at + len).unwrap_or_default());
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
            out.extend_from_slice(text.get(from..at).unwrap_or_default());
            from = at + SOFT.len();
        }
        out.extend_from_slice(text.get(from..).unwrap_or_default());
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
            if breaks && let Some(blanks) = blanks_at_line_end(text.get(at..).unwrap_or_default()) {
                out.push(HyphenUnit::Hyphen);
                at += blanks;
            }
            continue;
        }
        let hyphen = matches!(c, '-' | '\u{2010}' | '\u{2011}');
        if hyphen
            && breaks
            && let Some(blanks) = blanks_at_line_end(text.get(at..).unwrap_or_default())
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
            let skeleton = FoldedText::of(&document, 0..4, footnotes);
            let mut checked = 0;
            for at in (0..skeleton.text.len()).filter(|at| skeleton.text[*at].is_ascii_alphanumeric()) {
                let place = skeleton.place(&document, at..at + 1).unwrap();
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
            String::from_utf8(FoldedText::of(&document, 0..1, true).text).unwrap()
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
