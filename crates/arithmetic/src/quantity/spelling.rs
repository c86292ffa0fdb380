//! The ways to write a quantity in a text, and whether a text holds one of them.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Kind, Quantity};
use crate::number::{Number, ready_made_sign};
use crate::number_words::{counts, parts_of};

/// Searchers for the counts that are spelled out; a searcher is dear to make.
static FINDERS: LazyLock<Vec<(i128, Finder<'static>)>> =
    LazyLock::new(|| counts().map(|(count, word)| (count.into(), Finder::new(word))).collect());

/// In a shorter text, letters are looked for one by one.
const SHORT: usize = 512;

/// The ways in which a quantity may be written.
pub struct Spellings(Vec<Cow<'static, [u8]>>);

impl Spellings {
    /// For a quantity that the question writes in its own way.
    pub fn of(quantity: &Quantity, own: &[u8]) -> Self {
        let mut all = Self(Vec::with_capacity(6));
        let start = own.iter().position(u8::is_ascii_alphanumeric).unwrap_or(own.len());
        let end = own.iter().rposition(u8::is_ascii_alphanumeric).map_or(start, |last| last + 1);
        all.add(own[start..end].to_ascii_lowercase().into());
        all.number(quantity.value);
        let hundredth = Number::fraction(1, 100).and_then(|part| quantity.value.times(part));
        let (upper, lower) = quantity.value.parts();
        match (quantity.kind, hundredth) {
            (Kind::Percent, Some(part)) => all.number(part),
            (Kind::Fraction, _) => {
                all.add(lower.to_string().into_bytes().into());
                if upper > 1 {
                    all.add(upper.to_string().into_bytes().into());
                }
                parts_of(lower).for_each(|word| all.add(word.into()));
                if let Some(sign) = ready_made_sign(quantity.value) {
                    all.add(sign.as_bytes().into());
                }
            }
            (Kind::Multiple, _) if upper == 2 => {
                for word in ["twice", "double", "Twice", "Double"] {
                    all.add(word.as_bytes().into());
                }
            }
            (Kind::Multiple, _) if upper == 3 => {
                for word in ["triple", "thrice", "Triple", "Thrice"] {
                    all.add(word.as_bytes().into());
                }
            }
            _ => {}
        }
        all
    }

    fn number(&mut self, number: Number) {
        self.add(number.to_string().into_bytes().into());
        let (upper, lower) = number.parts();
        for (_, finder) in FINDERS.iter().filter(|(count, _)| lower == 1 && *count == upper) {
            self.add(finder.needle().into());
        }
    }

    fn add(&mut self, spelling: Cow<'static, [u8]>) {
        if !spelling.is_empty() && !self.0.contains(&spelling) {
            self.0.push(spelling);
        }
    }

    /// Tells whether a text contains one of them (in JSON, a number that is a value of its own does not count).
    pub fn stand_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|spelling| {
            let [first, ..] = spelling.as_ref() else { return false };
            if text.len() > SHORT && !first.is_ascii_digit() {
                let known = FINDERS.iter().map(|(_, finder)| finder).find(|known| known.needle() == spelling.as_ref());
                let finder = known.map_or_else(|| Finder::new(spelling), Finder::as_ref);
                return finder.find_iter(text).any(|at| is_whole(text, at, at + spelling.len()));
            }
            // Digits are rare, and a searcher costs more than a short text.
            memchr::memchr_iter(*first, text).any(|at| {
                let end = at + spelling.len();
                text.get(at..end) == Some(spelling.as_ref()) && is_whole(text, at, end)
            })
        })
    }
}

/// Tells whether a match is no part of a longer word or number.
fn is_whole(text: &[u8], start: usize, end: usize) -> bool {
    let byte = |at: Option<usize>| at.and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let joins = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0xc3;
    let (before, after) = (byte(start.checked_sub(1)), byte(Some(end)));
    // The letter of a line break or tab in JSON is no letter.
    let is_blank = matches!(before, b'n' | b't' | b'r') && byte(start.checked_sub(2)) == b'\\';
    if joins(before) && !is_blank || joins(after) {
        return false;
    }
    let point = |byte: u8| matches!(byte, b'.' | b',');
    let digit = |byte: u8| byte.is_ascii_digit();
    if digit(byte(Some(start))) {
        let continued = point(after) && digit(byte(Some(end + 1)));
        let continues = point(before) && digit(byte(start.checked_sub(2)));
        let value =
            text.get(..start).and_then(|head| head.iter().rfind(|byte| !byte.is_ascii_whitespace())) == Some(&b':');
        return !continued && !continues && !value;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::find;

    #[test]
    fn quantities_are_found_in_any_spelling() {
        for (own, text, want) in [
            ("three", "the 3 boxes", true),
            ("3", "all three boxes", true),
            ("20%", "multiply by 0.2", true),
            ("20%", "20 percent", true),
            ("half", "divide by 2", true),
            ("three-quarters", "¾ of 240", true),
            ("3/8", "⅜ of 240", true),
            ("1/4", "one fourth of it", true),
            ("$1,200", "cost of 1200 dollars", true),
            ("twice", "double the price", true),
            ("twice", "Double the price.", true),
            ("three times", "Triple it.", true),
            ("three quarters", "the three quarters left", true),
            ("3", r#"{"id": 3, "text": "round3 of 13, 3.5 and 1,3"}"#, false),
            ("3", "", false),
            ("12", r#"{"text":"12 boxes"}"#, true),
            ("12", r#"{"text":"Count:\n12 boxes"}"#, true),
            ("three", r#"{"text":"Count:\tthree"}"#, true),
        ] {
            let found = find(own.as_bytes());
            assert_eq!(Spellings::of(&found[0], own.as_bytes()).stand_in(text.as_bytes()), want, "{own} in {text}");
        }
    }
}
