//! Digits and letters of other scripts: `١٢٫٥`, `१२`, `１２，０００`.

use std::borrow::Cow;
use std::ops::Range;

/// The zero of each script that writes decimal numbers, its other digits behind it.
const ZEROS: [char; 15] = ['٠', '۰', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '๐', '໐', '༠', '၀'];

/// A text with ASCII digits, and where each of its bytes was before.
#[derive(Debug)]
pub struct PlainDigits<'t> {
    /// The text.
    pub text: Cow<'t, str>,
    /// For each byte the byte of the first text; empty: nothing was changed.
    starts: Vec<usize>,
}

impl<'t> PlainDigits<'t> {
    /// Makes the text; nothing is done to what has no such digits.
    pub fn of(text: &'t str) -> Self {
        if text.is_ascii() || !text.chars().any(|c| plain(c).is_some()) {
            return Self { text: Cow::Borrowed(text), starts: Vec::new() };
        }
        let mut out = String::with_capacity(text.len());
        let mut starts = Vec::with_capacity(text.len() + 1);
        for (at, c) in text.char_indices() {
            out.push(plain(c).unwrap_or(c));
            starts.resize(out.len(), at);
        }
        starts.push(text.len());
        Self { text: Cow::Owned(out), starts }
    }

    /// The bytes of the first text that these bytes were.
    pub fn before(&self, range: Range<usize>) -> Range<usize> {
        let at = |byte: usize| self.starts.get(byte).copied().unwrap_or(byte);
        at(range.start)..at(range.end)
    }
}

/// Tells whether a character is a letter, or a mark within a word that Unicode counts as none: the virama and nukta of
/// Indic scripts, the signs of Thai.
pub fn is_letter(c: char) -> bool {
    let is_mark = || matches!(c, '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{e47}'..='\u{e4e}');
    c.is_alphabetic() || is_mark()
}

/// Tells whether a letter is of a script that sets no blanks between words, or hangs endings on them as Korean does.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{d7ff}')
}

/// The ASCII character for a digit, or for a sign that stands in numbers, of another script.
pub fn plain(c: char) -> Option<char> {
    match c {
        // Full width, as East Asia sets ASCII.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0),
        '٬' => Some(','),
        '٫' => Some('.'),
        '٪' => Some('%'),
        _ => {
            let digit =
                ZEROS.iter().find_map(|zero| u32::from(c).checked_sub(u32::from(*zero)).filter(|digit| *digit < 10))?;
            char::from_digit(digit, 10)
        }
    }
}

/// Words for powers of ten that stand right behind digits, the longer before those that they begin with.
const MYRIADS: [(&str, i64); 18] = [
    ("百万", 1_000_000),
    ("千万", 10_000_000),
    ("万", 10_000),
    ("萬", 10_000),
    ("億", 100_000_000),
    ("亿", 100_000_000),
    ("兆", 1_000_000_000_000),
    ("千", 1_000),
    ("백만", 1_000_000),
    ("천만", 10_000_000),
    ("만", 10_000),
    ("억", 100_000_000),
    ("조", 1_000_000_000_000),
    ("천", 1_000),
    ("ล้าน", 1_000_000),
    ("แสน", 100_000),
    ("หมื่น", 10_000),
    ("พัน", 1_000),
];

/// The power of ten that a text begins with, and its length in bytes: `万円`.
pub fn myriad(text: &str) -> Option<(i64, usize)> {
    MYRIADS.iter().find(|(word, _)| text.starts_with(word)).map(|(word, factor)| (*factor, word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts_are_plain_and_known_by_their_place() {
        for (text, is) in [
            ("المبلغ ١٢٬٥٠٠٫٧٥ ريال", "المبلغ 12,500.75 ريال"),
            ("१८०", "180"),
            ("金１８０，０００円（税込）", "金180,000円(税込)"),
            ("๒๕๖๙", "2569"),
            ("12½ %", "12½ %"),
        ] {
            assert_eq!(PlainDigits::of(text).text, is);
        }
        let text = "合計１２円、34円";
        let plain = PlainDigits::of(text);
        let at = plain.text.find("12").unwrap();
        assert_eq!(&text[plain.before(at..at + 2)], "１２");
        let at = plain.text.find("34").unwrap();
        assert_eq!(&text[plain.before(at..at + 2)], "34");
    }
}
