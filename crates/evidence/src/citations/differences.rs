//! Differences between a quote and the cited text, word by word.

use std::collections::HashMap;
use std::ops::Range;

use crate::folded::{fold_text, is_like, is_word};
use stepscope_base::text::{Piece, pieces};

/// More words of a quote are not compared.
const MAX_QUOTE: usize = 600;
/// More words of a text are not compared.
const MAX_TEXT: usize = 2400;
/// A word that agrees is worth this much and its length, up to the second number.
const AGREES: i32 = 2;
const LONG: usize = 8;

/// Agreement and differences of a quote and a text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Differences {
    /// Parts of the quote that differ from the text, in bytes of the quote.
    pub quote: Vec<Range<usize>>,
    /// Parts of the text that differ from the quote, in bytes of the text, within `text_range`.
    pub text: Vec<Range<usize>>,
    /// Part of the text that was compared with the quote; empty where nothing agrees.
    pub text_range: Range<usize>,
    /// Similarity, in hundredths; a word in other case agrees.
    pub similarity: u8,
    /// Number of words that agree.
    pub words: usize,
    /// Only the beginnings were compared: both are very long.
    pub cut: bool,
}

/// A word, a number or a sign.
#[derive(Debug)]
struct DiffToken {
    range: Range<usize>,
    /// The same for words that differ in case, accents or line-end hyphens only.
    id: u32,
    /// Number of letters and digits in it; 1 for a sign.
    len: usize,
    weight: i32,
}

/// Estimates the cost of a comparison, in units of work: the words, and every pair of them.
pub(super) fn cost(quote: &[u8], text: &[u8]) -> usize {
    (quote.len() + text.len()) * 32 + most_tokens(quote, MAX_QUOTE) * most_tokens(text, MAX_TEXT) * 3
}

/// Counts the words, numbers and signs that a text can have, up to a number: fast, and never too few.
fn most_tokens(text: &[u8], most: usize) -> usize {
    let mut in_word = false;
    let begins = |byte: &&u8| {
        let was_in_word = std::mem::replace(&mut in_word, byte.is_ascii_alphanumeric());
        // The other bytes of a character begin nothing.
        let goes_on = was_in_word && in_word || (0x80..0xc0).contains(*byte);
        !goes_on && !byte.is_ascii_whitespace()
    };
    (text.iter().filter(begins).count() + 1).min(most)
}

/// Compares a quote with the part of a text that fits it best.
pub fn differences(quote: &[u8], text: &[u8]) -> Differences {
    let mut ids = HashMap::new();
    let (quote_tokens, quote_cut) = tokens(quote, MAX_QUOTE, &mut ids);
    let (text_tokens, text_cut) = tokens(text, MAX_TEXT, &mut ids);
    let pairs = align(&quote_tokens, &text_tokens);
    let mut found = Differences { cut: quote_cut || text_cut, ..Differences::default() };
    let first = pairs.first().map_or(0, |(_, n)| *n);
    let last = pairs.last().map_or(0, |(_, n)| n + 1);
    let aligned = &text_tokens[first..last];
    if let (Some(first), Some(last)) = (aligned.first(), aligned.last()) {
        found.text_range = first.range.start..last.range.end;
    }
    let same = |quote_token: &DiffToken, text_token: &DiffToken| {
        quote.get(quote_token.range.clone()) == text.get(text_token.range.clone())
    };
    let equal: Vec<&(usize, usize)> = pairs
        .iter()
        .filter(|(q, t)| quote_tokens.get(*q).zip(text_tokens.get(*t)).is_some_and(|(q, t)| same(q, t)))
        .collect();
    found.quote = others(quote, &quote_tokens, equal.iter().map(|(q, _)| *q), 0);
    found.text = others(text, aligned, equal.iter().map(|(_, t)| *t), first);
    let weigh = |tokens: &[DiffToken]| tokens.iter().map(|token| token.len).sum::<usize>();
    let agrees: usize = pairs.iter().filter_map(|(q, _)| quote_tokens.get(*q)).map(|token| token.len).sum();
    let all = weigh(&quote_tokens) + weigh(aligned);
    found.similarity = (agrees * 200).checked_div(all).unwrap_or(0).min(100) as u8;
    found.words =
        pairs.iter().filter(|(q, _)| quote_tokens.get(*q).is_some_and(|token| token.weight > AGREES + 1)).count();
    found
}

/// The ranges of the tokens that are not among some, neighbours made one. The first token has the number `base`.
fn others(text: &[u8], tokens: &[DiffToken], equal: impl Iterator<Item = usize>, base: usize) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut equal = equal.peekable();
    let mut joined = false;
    for (n, token) in tokens.iter().enumerate() {
        if equal.next_if_eq(&(n + base)).is_some() {
            joined = false;
            continue;
        }
        match ranges.last_mut().filter(|_| joined) {
            Some(last) => last.end = token.range.end,
            None => ranges.push(token.range.clone()),
        }
        joined = true;
    }
    debug_assert!(ranges.iter().all(|range| text.get(range.clone()).is_some()));
    ranges
}

/// Cuts a text into words, numbers and signs.
fn tokens(text: &[u8], most: usize, ids: &mut HashMap<Vec<u8>, u32>) -> (Vec<DiffToken>, bool) {
    let mut tokens: Vec<DiffToken> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if tokens.len() >= most {
            return (tokens, true);
        }
        let rest = &text[at..];
        let len = token(rest);
        let Some(bytes) = rest.get(..len).filter(|bytes| !bytes.is_empty()) else {
            at += pieces(rest).next().map_or(1, |(range, _)| range.end);
            continue;
        };
        let mut key = fold_text(bytes).0;
        if key.is_empty() {
            key = sign(bytes);
        }
        let next = ids.len() as u32;
        let letters = key.len();
        let id = *ids.entry(key).or_insert(next);
        tokens.push(DiffToken { range: at..at + len, id, len: letters, weight: AGREES + letters.min(LONG) as i32 });
        at += len;
    }
    (tokens, false)
}

/// The length of the token at the beginning of a text: 0 for a blank.
fn token(text: &[u8]) -> usize {
    let mut end = 0;
    let mut pieces = pieces(text).peekable();
    let mut digits = false;
    while let Some((range, piece)) = pieces.next() {
        let Piece::Char(c) = piece else { return end.max(if end == 0 { range.end } else { 0 }) };
        if is_word(c) || (c == '\u{ad}' && end > 0) {
            end = range.end;
            digits = c.is_ascii_digit();
            continue;
        }
        if end == 0 {
            return if c.is_whitespace() || c.is_control() { 0 } else { range.end };
        }
        let rest = &text[range.end..];
        // `1,200.50` is one number; `infor-` at a line's end goes on with the next one.
        if digits && matches!(c, '.' | ',') && rest.first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let Some(blanks) = hyphenated(c, digits, rest) else { break };
        for _ in 0..blanks {
            pieces.next();
        }
    }
    end
}

/// Counts the blanks, the line's end among them, between a hyphen and the rest of the word.
fn hyphenated(c: char, digits: bool, rest: &[u8]) -> Option<usize> {
    if digits || !matches!(c, '-' | '\u{2010}') {
        return None;
    }
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (between, after) = rest.split_at_checked(blanks)?;
    (between.contains(&b'\n') && after.first().is_some_and(u8::is_ascii_lowercase)).then_some(blanks)
}

/// Replaces signs that are the same to a reader by one of them.
fn sign(bytes: &[u8]) -> Vec<u8> {
    let c = pieces(bytes).next().and_then(|(_, piece)| if let Piece::Char(c) = piece { Some(c) } else { None });
    let plain = c.and_then(|c| ['-', '"', '\'', '*'].into_iter().find(|plain| is_like(c, *plain)));
    plain.map_or_else(|| bytes.to_vec(), |plain| vec![plain as u8])
}

/// The pairs of agreeing tokens of the best local alignment.
fn align(quote: &[DiffToken], text: &[DiffToken]) -> Vec<(usize, usize)> {
    const STOP: u8 = 0;
    const PAIR: u8 = 1;
    const QUOTE: u8 = 2;
    const TEXT: u8 = 3;
    let width = text.len() + 1;
    let mut steps = vec![STOP; (quote.len() + 1) * width];
    let mut above = vec![0_i32; width];
    let mut row = vec![0_i32; width];
    let (mut best, mut best_at) = (0, (0, 0));
    for (q, quote_token) in quote.iter().enumerate() {
        let Some(steps) = steps.get_mut((q + 1) * width..(q + 2) * width) else { break };
        let mut left = 0;
        for ((t, text_token), step) in text.iter().enumerate().zip(steps.iter_mut().skip(1)) {
            let over = |n: usize| above.get(n).copied().unwrap_or(0);
            let mut score = (0, STOP);
            if over(t + 1) - 1 > score.0 {
                score = (over(t + 1) - 1, QUOTE);
            }
            if left - 1 > score.0 {
                score = (left - 1, TEXT);
            }
            if quote_token.id == text_token.id && over(t) + quote_token.weight >= score.0 {
                score = (over(t) + quote_token.weight, PAIR);
            }
            (left, *step) = score;
            if let Some(cell) = row.get_mut(t + 1) {
                *cell = left;
            }
            if left > best {
                (best, best_at) = (left, (q + 1, t + 1));
            }
        }
        std::mem::swap(&mut above, &mut row);
    }
    let mut pairs = Vec::new();
    let (mut q, mut t) = best_at;
    while let Some(step) = steps.get(q * width + t).filter(|step| **step != STOP) {
        match *step {
            PAIR => {
                pairs.push((q - 1, t - 1));
                (q, t) = (q - 1, t - 1);
            }
            QUOTE => q -= 1,
            _ => t -= 1,
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'t>(text: &'t str, ranges: &[Range<usize>]) -> Vec<&'t str> {
        ranges.iter().map(|range| &text[range.clone()]).collect()
    }

    #[test]
    fn no_text_has_more_tokens_than_are_counted() {
        for text in ["", "a", "the cat, the dog", "a-b...c 1,200.50 é日本 (x)", "\t\u{a0}a\u{ad}b infor-\nmation"] {
            let found = tokens(text.as_bytes(), MAX_TEXT, &mut HashMap::new()).0.len();
            let most = most_tokens(text.as_bytes(), MAX_TEXT);
            assert!((found..=4 * found + 3).contains(&most), "{text:?}: {found}, {most}");
        }
    }

    #[test]
    fn the_words_that_differ_are_marked_on_both_sides() {
        let (quote, text) = ("Deductible: USD 1,500 per claim", "Premium. Deductible: USD 1,200 per each claim today");
        let found = differences(quote.as_bytes(), text.as_bytes());
        assert_eq!(parts(quote, &found.quote), ["1,500"]);
        assert_eq!(parts(text, &found.text), ["1,200", "each"]);
        assert_eq!(&text[found.text_range.clone()], "Deductible: USD 1,200 per each claim");
        assert!((75..90).contains(&found.similarity), "{found:?}");
        assert_eq!((found.words, found.cut), (4, false));
    }

    #[test]
    fn case_quotes_and_line_end_hyphens_agree_and_are_still_marked() {
        let (quote, text) = ("The \"information\" is low — 5", "the “infor-\nmation” is LOW - 5");
        let found = differences(quote.as_bytes(), text.as_bytes());
        assert_eq!(found.similarity, 100);
        assert_eq!(parts(quote, &found.quote), ["The \"information\"", "low —"]);
        assert_eq!(parts(text, &found.text), ["the “infor-\nmation”", "LOW -"]);
        assert!(differences(quote.as_bytes(), quote.as_bytes()).quote.is_empty());
    }

    #[test]
    fn what_has_nothing_in_common_agrees_in_nothing() {
        for (quote, text) in [("alpha beta", "gamma"), ("", "x"), ("x", ""), ("\u{1}\u{2}", "")] {
            let found = differences(quote.as_bytes(), text.as_bytes());
            assert_eq!((found.similarity, found.text_range), (0, 0..0), "{quote:?}");
        }
        let odd = differences(b"a \xff\xfe b \xed\xa0\x80", b"a \xff b");
        assert!(odd.similarity > 50, "{odd:?}");
    }

    #[test]
    fn what_is_very_long_is_compared_at_its_beginning() {
        let text = "word other third ".repeat(2_000);
        let found = differences(text.as_bytes(), text.as_bytes());
        assert!(found.cut && found.quote.is_empty(), "{} {}", found.similarity, found.words);
    }
}
