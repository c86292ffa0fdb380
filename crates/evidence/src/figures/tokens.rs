//! Tokens of a text that holds numbers: words, digits, signs and blanks.

use std::ops::Range;

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

/// Takes a text apart.
pub(super) fn tokens(text: &str) -> Vec<FigureToken> {
    let mut tokens: Vec<FigureToken> = Vec::new();
    for (at, c) in text.char_indices() {
        let kind = if c.is_ascii_digit() {
            FigureTokenKind::Digits
        } else if c.is_alphabetic() && !matches!(c, 'ª' | 'º') {
            FigureTokenKind::Word
        } else if c.is_whitespace() {
            FigureTokenKind::Blank(c)
        } else {
            FigureTokenKind::Sign(c)
        };
        let end = at + c.len_utf8();
        match tokens.last_mut() {
            Some(last) if last.kind == kind && matches!(kind, FigureTokenKind::Digits | FigureTokenKind::Word) => {
                last.range.end = end
            }
            _ => tokens.push(FigureToken { kind, range: at..end }),
        }
    }
    tokens
}
