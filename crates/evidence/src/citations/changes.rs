//! Changes of meaning that the search does not see: a lost sign, another unit, blanks that make another word.
//!
//! A quote is found whatever its case, blanks and punctuation are. Where these carry the meaning, the place is right and
//! the quote is not.

use std::ops::Range;

use super::search::{first_char, last_char};
use crate::folded::Trace;
use crate::folded::marks;

/// In a longer quote changes are not looked for.
const MAX_QUOTE: usize = 8 << 10;
/// Words that are set apart in more places than these are the work of a parser, not of a writer.
const MAX_GAPS: usize = 3;

/// Parts of a text and a quote that do not mean the same, in bytes of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MeaningChange {
    pub text: Range<usize>,
    pub quote: Range<usize>,
}

/// Finds the first change of meaning between a text and a quote that the search takes for equal. `is_word` tells whether
/// a word stands in the rest of the document.
pub(super) fn changed(text: &[u8], quote: &[u8], mut is_word: impl FnMut(&str) -> bool) -> Option<MeaningChange> {
    if text.len().max(quote.len()) > MAX_QUOTE {
        return None;
    }
    changed_mark(text, quote)
        .or_else(|| changed_number(text, quote))
        .or_else(|| changed_word(text, quote, &mut is_word))
}

/// A number as it is written.
#[derive(Debug)]
pub(super) struct QuotedNumber<'t> {
    /// With its signs.
    pub range: Range<usize>,
    /// The first digit.
    start: usize,
    /// Digits and what stands between them.
    digits: &'t [u8],
    pub negative: bool,
    /// `e-3`, `E+3`
    exponent: &'t [u8],
    /// Sign for feet, inches, minutes and seconds: how many strokes.
    strokes: usize,
    /// The word behind it.
    unit: &'t [u8],
}

impl QuotedNumber<'_> {
    /// Tells whether two writings of a number mean different numbers, or numbers of different units.
    fn is_other(&self, quote: &Self) -> bool {
        let exponent = |own: &Self| own.exponent.contains(&b'-');
        self.negative != quote.negative
            || exponent(self) != exponent(quote)
            || (self.strokes != quote.strokes && self.strokes.min(quote.strokes) > 0)
            || is_other_unit(self.unit, quote.unit)
    }

    /// The digits and what stands between them.
    pub(super) const fn core(&self) -> Range<usize> {
        self.start..self.start + self.digits.len()
    }

    fn is_same_number(&self, other: &Self) -> bool {
        let digits = |own: &Self| own.digits.iter().copied().filter(u8::is_ascii_digit).collect::<Vec<u8>>();
        digits(self) == digits(other)
    }
}

fn changed_number(text: &[u8], quote: &[u8]) -> Option<MeaningChange> {
    let (own, quoted) = (numbers(text), numbers(quote));
    let change = |own: &QuotedNumber<'_>, quoted: &QuotedNumber<'_>| {
        let (to, quoted_to) = if is_other_unit(own.unit, quoted.unit) {
            (own.range.end + unit_room(text, own), quoted.range.end + unit_room(quote, quoted))
        } else {
            (own.range.end, quoted.range.end)
        };
        MeaningChange { text: own.range.start..to, quote: quoted.range.start..quoted_to }
    };
    if own.len() == quoted.len() {
        let is_other = |(own, quoted): &(&QuotedNumber<'_>, &QuotedNumber<'_>)| {
            !own.is_same_number(quoted) || own.is_other(quoted)
        };
        return own.iter().zip(&quoted).find(is_other).map(|(own, quoted)| change(own, quoted));
    }
    // A footnote's number stands in one of them: those that both have are compared.
    let (mut own, mut quoted) = (own.iter().peekable(), quoted.iter().peekable());
    while let (Some(a), Some(b)) = (own.peek(), quoted.peek()) {
        if a.is_same_number(b) {
            if a.is_other(b) {
                return Some(change(a, b));
            }
            own.next();
            quoted.next();
        } else if own.len() > quoted.len() {
            own.next();
        } else {
            quoted.next();
        }
    }
    None
}

fn unit_room(text: &[u8], number: &QuotedNumber<'_>) -> usize {
    let rest = &text[number.range.end..];
    rest.len() - rest.trim_ascii_start().len() + number.unit.len()
}

/// The numbers of a text, in order.
pub(super) fn numbers(text: &[u8]) -> Vec<QuotedNumber<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)).map(|n| at + n) {
        let number = number(text, start);
        at = number.range.end.max(start + 1);
        found.push(number);
    }
    found
}

fn number(text: &[u8], start: usize) -> QuotedNumber<'_> {
    let rest = &text[start..];
    let mut len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    while matches!(rest.get(len), Some(b'.' | b',')) && rest.get(len + 1).is_some_and(u8::is_ascii_digit) {
        len += 1 + rest[len + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    let digits = &rest[..len];
    let exponent = exponent(&rest[len..]);
    let mut range = start..start + len + exponent.len();
    let before = &text[..start];
    let mut negative = false;
    if let Some(sign) = sign_before(before) {
        (negative, range.start) = (true, sign);
    }
    let after = &text[range.end..];
    let strokes = strokes(after);
    if let Some(outer) = brackets_around(text, start, &range, digits) {
        (negative, range) = (true, outer);
    } else if let Some(len) = sign_behind(after, digits) {
        (negative, range.end) = (true, range.end + len);
    }
    if strokes > 0 {
        range.end += first_char(after).map_or(0, char::len_utf8);
    }
    let unit = after.trim_ascii_start();
    let unit = &unit[..letters(unit)];
    QuotedNumber { range, start, digits, negative, exponent, strokes, unit }
}

/// The length of the letters at the beginning of a text, `µ` and `Ω` among them.
fn letters(text: &[u8]) -> usize {
    const MAX_UNIT: usize = 8;
    let text = String::from_utf8_lossy(&text[..text.len().min(2 * MAX_UNIT)]);
    text.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum()
}

fn exponent(text: &[u8]) -> &[u8] {
    let sign = match text {
        [b'e' | b'E', b'-' | b'+', ..] => 2,
        [b'e' | b'E', 0xe2, 0x88, 0x92, ..] => 4,
        [b'e' | b'E', ..] => 1,
        _ => return &[],
    };
    let digits = text[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return &[];
    }
    // A minus sign beyond ASCII is told by its own bytes.
    if sign == 4 { b"e-" } else { &text[..sign + digits] }
}

const fn is_minus(c: char) -> bool {
    matches!(c, '-' | '−' | '–' | '‐' | '﹣' | '－')
}

const fn is_currency(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}')
}

/// Place of the minus sign before a number: `-5`, `-$5`, `$-5`.
fn sign_before(before: &[u8]) -> Option<usize> {
    let mut rest = before;
    let mut sign = None;
    let take =
        |rest: &'_ [u8], is: fn(char) -> bool| last_char(rest).filter(|c| is(*c)).map(|c| rest.len() - c.len_utf8());
    if let Some(at) = take(rest, is_currency) {
        rest = rest.get(..at)?;
    }
    if let Some(at) = take(rest, is_minus) {
        (sign, rest) = (Some(at), rest.get(..at)?);
    }
    let sign = sign?;
    // Behind a letter or a digit it is a hyphen, or a range.
    let opens = |c: char| {
        c.is_whitespace()
            || is_currency(c)
            || matches!(c, '(' | '[' | '{' | '|' | '=' | ':' | '<' | '>' | '~' | '±' | '/' | '*' | '×')
    };
    last_char(rest).is_none_or(opens).then_some(sign)
}

/// The length of a minus sign behind a number: `1,250-`.
fn sign_behind(after: &[u8], digits: &[u8]) -> Option<usize> {
    let sign = first_char(after).filter(|c| is_minus(*c))?.len_utf8();
    let rest = after.get(sign..)?;
    let is_amount = digits.iter().any(|byte| !byte.is_ascii_digit());
    // At a line's end it divides a word, before a word it joins one.
    let ends = rest.is_empty()
        || rest.starts_with(b" ")
        || first_char(rest).is_some_and(|c| matches!(c, '.' | ',' | ';' | ')' | '|'));
    let joins = ["and", "or", "to", "und", "oder", "bis", "et", "ou"];
    let next = rest.trim_ascii_start();
    let is_range =
        next.first().is_some_and(u8::is_ascii_digit) || joins.iter().any(|word| next.starts_with(word.as_bytes()));
    (is_amount && ends && !is_range).then_some(sign)
}

/// The brackets around an amount, with a currency or a per cent sign in them: an accountant's minus.
fn brackets_around(text: &[u8], start: usize, range: &Range<usize>, digits: &[u8]) -> Option<Range<usize>> {
    let mut before = text.get(..start)?;
    let mut after = text.get(range.end..)?;
    let mut is_amount = digits.iter().any(|byte| !byte.is_ascii_digit());
    if let Some(c) = last_char(before).filter(|c| is_currency(*c)) {
        is_amount = true;
        before = before.get(..before.len() - c.len_utf8())?;
    }
    after = after.trim_ascii_start();
    if let Some(c) = first_char(after).filter(|c| is_currency(*c) || *c == '%') {
        is_amount = true;
        after = after.get(c.len_utf8()..)?;
    }
    let (open, close) = (before.trim_ascii_end().strip_suffix(b"(")?, after.trim_ascii_start().strip_prefix(b")")?);
    is_amount.then(|| open.len()..text.len() - close.len())
}

/// Counts the strokes behind a number: one for feet and minutes, two for inches and seconds.
fn strokes(after: &[u8]) -> usize {
    if after.starts_with(b"''") {
        return 2;
    }
    match first_char(after) {
        Some('\'' | '′' | '’') => {
            usize::from(!after.get(1..).is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_alphabetic)))
        }
        Some('"' | '″' | '”') => 2,
        _ => 0,
    }
}

/// Tells whether two units differ in case alone and are both units: `mW` and `MW`, `Pa` and `pA`.
fn is_other_unit(text: &[u8], quote: &[u8]) -> bool {
    text != quote && text.eq_ignore_ascii_case(quote) && text != b"l" && text != b"L" && is_unit(text) && is_unit(quote)
}

/// A unit with or without a prefix.
fn is_unit(word: &[u8]) -> bool {
    const UNITS: &[&str] = stepscope_base::list![
        m g s A K W V J N F C H T S L l B b Pa Hz Wh Ah eV VA mol bar bit Bq Gy Sv Wb cd rad
    ];
    const PREFIXES: &str = "yzafpnumcdhkKMGTPEZY";
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let is_scaled = word.char_indices().nth(1).is_some_and(|(at, _)| {
        let (prefix, unit) = word.split_at(at);
        PREFIXES.contains(prefix) && UNITS.contains(&unit)
    });
    // A lone letter is a scale as well: five metres are not five million.
    UNITS.contains(&word) || word == "M" || is_scaled
}

/// Finds marks that both have and that differ: `[0, 5]` may be a range.
fn changed_mark(text: &[u8], quote: &[u8]) -> Option<MeaningChange> {
    let (own, quoted) = (marks::marks(text), marks::marks(quote));
    if own.is_empty() || own.len() != quoted.len() {
        return None;
    }
    let plain = |mark: &[u8]| String::from_utf8_lossy(mark).chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let differ = |(own, quoted): &(&Range<usize>, &Range<usize>)| {
        text.get((*own).clone()).map(plain) != quote.get((*quoted).clone()).map(plain)
    };
    let (text, quote) = own.iter().zip(&quoted).find(differ)?;
    Some(MeaningChange { text: text.clone(), quote: quote.clone() })
}

/// A separator between two letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Blank,
    /// A hyphen or other punctuation.
    Other,
}

fn gap(between: &[u8]) -> Gap {
    if between.is_empty() {
        Gap::None
    } else if between.iter().all(u8::is_ascii_whitespace) {
        Gap::Blank
    } else {
        Gap::Other
    }
}

/// Finds blanks that make another word: `not able` of `notable`.
fn changed_word(text: &[u8], quote: &[u8], is_word: &mut impl FnMut(&str) -> bool) -> Option<MeaningChange> {
    let (own, quoted) = [false, true]
        .into_iter()
        .map(|notes| (Trace::of(text, notes), Trace::of(quote, notes)))
        .find(|(own, quoted)| own.bytes == quoted.bytes)?;
    let between = |trace: &Trace, n: usize| {
        let (before, here) = (trace.from.get(n - 1)?, trace.from.get(n)?);
        // Of one character several letters may come.
        Some(before.end..here.start.max(before.end))
    };
    // Scripts without blanks between their words are left alone.
    let is_letter =
        |n: usize| own.bytes.get(n).is_some_and(|byte| byte.is_ascii_alphabetic() || (0xc3..0xe0).contains(byte));
    let is_pair = |n: &usize| {
        is_letter(*n)
            && own.bytes.get(n - 1).is_some_and(|byte| byte.is_ascii_alphabetic() || (0x80..0xc0).contains(byte))
    };
    let gaps = (1..own.bytes.len()).filter(is_pair).filter_map(|n| {
        let (text_gap, quote_gap) = (gap(text.get(between(&own, n)?)?), gap(quote.get(between(&quoted, n)?)?));
        matches!((text_gap, quote_gap), (Gap::None, Gap::Blank) | (Gap::Blank, Gap::None)).then_some(n)
    });
    let gaps: Vec<usize> = gaps.take(MAX_GAPS + 1).collect();
    if gaps.len() > MAX_GAPS {
        return None;
    }
    gaps.into_iter().find_map(|n| {
        let (text_words, quote_words) =
            (words_around(text, own.from.get(n)?.start), words_around(quote, quoted.from.get(n)?.start));
        let joined_in_text = text.get(between(&own, n)?)?.is_empty();
        // The side that is set apart shows two words, the other one.
        let (text_range, quote_range) = if joined_in_text {
            (text_words.clone(), with_word_before(quote, quote_words.clone()))
        } else {
            (with_word_before(text, text_words.clone()), quote_words.clone())
        };
        let (written, said) = (text.get(text_range.clone())?, quote.get(quote_range.clone())?);
        (!is_mended(written, said, is_word)).then_some(MeaningChange { text: text_range, quote: quote_range })
    })
}

/// Tells whether a quote mends what a parser did to words: all of its words stand elsewhere in the document, and some of
/// the text's stand nowhere else. A negation is never mended.
fn is_mended(text: &[u8], quote: &[u8], is_word: &mut impl FnMut(&str) -> bool) -> bool {
    const NEGATIONS: &[&str] = stepscope_base::list![not no non never nor none nicht kein keine nie ne pas sans];
    let words = |text: &[u8]| {
        String::from_utf8_lossy(text)
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
            .collect::<Vec<String>>()
    };
    let (text, quote) = (words(text), words(quote));
    let is_negation = |word: &String| NEGATIONS.iter().any(|negation| word.eq_ignore_ascii_case(negation));
    !text.iter().chain(&quote).any(is_negation)
        && quote.iter().all(|word| is_word(word))
        && text.iter().any(|word| !is_word(word))
}

/// The word around a byte of a text.
fn words_around(text: &[u8], at: usize) -> Range<usize> {
    let is_edge = |byte: &u8| byte.is_ascii_whitespace();
    let start = text.get(..at).and_then(|text| text.iter().rposition(is_edge)).map_or(0, |n| n + 1);
    let end = text.get(at..).and_then(|text| text.iter().position(is_edge)).map_or(text.len(), |n| at + n);
    start..end
}

/// A word and the one before it.
fn with_word_before(text: &[u8], word: Range<usize>) -> Range<usize> {
    let before = text[..word.start].trim_ascii_end();
    before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |n| n + 1)..word.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'t>(text: &'t str, quote: &'t str) -> Option<(&'t str, &'t str)> {
        let found = changed(text.as_bytes(), quote.as_bytes(), |word| matches!(word, "information" | "the"))?;
        Some((&text[found.text], &quote[found.quote]))
    }

    #[test]
    fn a_sign_that_is_lost_or_added_is_another_number() {
        for (text, quote, parts) in [
            ("is (1,250) EUR", "is 1,250 EUR", ("(1,250)", "1,250")),
            ("is 1,250- EUR", "is 1,250 EUR", ("1,250-", "1,250")),
            ("is -$5 now", "is $5 now", ("-$5", "5")),
            ("is $-5 now", "is $5 now", ("-5", "5")),
            ("is 1.5e-3 m", "is 1.5e3 m", ("1.5e-3", "1.5e3")),
            ("is 1,250 EUR", "is (1,250) EUR", ("1,250", "(1,250)")),
            ("a 5\" pipe", "a 5' pipe", ("5\"", "5'")),
            ("Level2 applies", "Level3 applies", ("2", "3")),
        ] {
            assert_eq!(change(text, quote), Some(parts), "{text}");
        }
    }

    #[test]
    fn another_prefix_is_another_unit() {
        assert_eq!(change("draws 5 mW here", "draws 5 MW here"), Some(("5 mW", "5 MW")));
        assert_eq!(change("at 5 Pa", "at 5 pA"), Some(("5 Pa", "5 pA")));
        assert_eq!(change("takes 5 mg", "takes 5 Mg"), Some(("5 mg", "5 Mg")));
        assert_eq!(change("TAKES 5 KG", "takes 5 kg"), None);
        assert_eq!(change("after 5 Days", "after 5 days"), None);
    }

    #[test]
    fn blanks_that_make_another_word_are_seen_and_mended_ones_are_not() {
        assert_eq!(change("we are now here at all", "we are nowhere at all"), Some(("now here", "nowhere")));
        assert_eq!(change("is notable here", "is not able here"), Some(("notable", "not able")));
        assert_eq!(change("due to get her paid", "due together paid"), Some(("to get", "together")));
        assert_eq!(change("the infor mation and the information", "the information and the information"), None);
        assert_eq!(change("a well-\nknown co-op", "a wellknown coop"), None);
        assert_eq!(change("T h e  p o l i c y", "The policy"), None);
        assert_eq!(change("日本 語", "日本語"), None);
    }

    #[test]
    fn what_reads_the_same_is_no_change() {
        for (text, quote) in [
            ("within thirty (30) days", "within thirty 30 days"),
            ("pages 104-\n106", "pages 104-106"),
            ("a 5- and 10-year term", "a 5 and 10-year term"),
            ("the “rate is 5”", "the rate is 5"),
            ("Section 2. x", "Section 2 x"),
            ("system1 is 5", "system is 5"),
            ("add ½ cup", "add 1/2 cup"),
            ("seen [12] in", "seen in"),
            ("–5 °C", "−5 °C"),
        ] {
            assert_eq!(change(text, quote), None, "{text}");
        }
        assert_eq!(change("in [0, 5] only", "in [0, 6] only"), Some(("[0, 5]", "[0, 6]")));
    }
}
