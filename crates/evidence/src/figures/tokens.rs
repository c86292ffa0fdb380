//! Tokens of a text that holds numbers: words, digits, signs and blanks.

use std::ops::Range;

use stepscope_arithmetic::scripts::{is_letter, is_unspaced};

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

/// Words for scales and currencies of scripts that part no words, the longer before those that they begin with.
const UNITS: &str = "百万 千万 万 萬 億 亿 兆 千 円 圓 圆 元 백만 천만 만 억 조 천 원 ล้าน แสน หมื่น พัน บาท";

/// The scale or currency that is written right behind a number, as a part of the letters that follow.
fn unit_behind<'t>(text: &'t str, tokens: &[FigureToken], at: usize) -> Option<&'t str> {
    let last = tokens.last()?;
    let follows =
        last.kind == FigureTokenKind::Digits || UNITS.split(' ').any(|unit| text[last.range.clone()] == *unit);
    let rest = text.get(at..).filter(|rest| follows && rest.starts_with(is_unspaced))?;
    UNITS.split(' ').find(|unit| rest.starts_with(unit)).and_then(|unit| rest.get(..unit.len()))
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
        if let Some(unit) = unit_behind(text, &tokens, at) {
            behind = at + unit.len();
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
