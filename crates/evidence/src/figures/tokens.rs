//! Tokens of a text that holds numbers: words, digits, signs and blanks.

use std::ops::Range;

use stepscope_arithmetic::scripts::{is_letter, is_unspaced, myriad};

/// Kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FigureTokenKind {
    /// ASCII digits.
    Digits,
    /// Letters.
    Word,
    /// One other character.
    Sign(char),
    /// One blank.
    Blank(char),
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) struct FigureToken {
    /// Kind.
    pub kind: FigureTokenKind,
    /// Bytes of the text.
    pub range: Range<usize>,
}

/// Currencies of scripts that part no words.
const CURRENCIES: [&str; 6] = ["円", "圓", "圆", "元", "원", "บาท"];

/// The length of the power of ten or the currency that a text begins with.
fn unit_len(text: &str) -> Option<usize> {
    let currency = || CURRENCIES.iter().find(|unit| text.starts_with(**unit)).map(|unit| unit.len());
    myriad(text).map(|(_, len)| len).or_else(currency)
}

/// Takes a text apart.
pub(super) fn tokens(text: &str) -> Vec<FigureToken> {
    let mut tokens: Vec<FigureToken> = Vec::new();
    let mut behind = 0;
    // A unit is a word of its own.
    let mut is_whole = false;
    for (at, c) in text.char_indices() {
        if at < behind {
            continue;
        }
        // A power of ten or a currency right behind a number, or behind another one: "3万円".
        let follows = is_whole || tokens.last().is_some_and(|last| last.kind == FigureTokenKind::Digits);
        if let Some(len) = (follows && is_unspaced(c)).then(|| unit_len(&text[at..])).flatten() {
            behind = at + len;
            tokens.push(FigureToken { kind: FigureTokenKind::Word, range: at..behind });
            is_whole = true;
            continue;
        }
        let kind = if c.is_ascii_digit() {
            FigureTokenKind::Digits
        } else if is_letter(c) && !matches!(c, 'ª' | 'º') {
            FigureTokenKind::Word
        } else if c.is_whitespace() {
            FigureTokenKind::Blank(c)
        } else {
            FigureTokenKind::Sign(c)
        };
        let end = at + c.len_utf8();
        let goes_on = matches!(kind, FigureTokenKind::Digits | FigureTokenKind::Word) && !is_whole;
        match tokens.last_mut() {
            Some(last) if last.kind == kind && goes_on => last.range.end = end,
            _ => tokens.push(FigureToken { kind, range: at..end }),
        }
        is_whole = false;
    }
    tokens
}
