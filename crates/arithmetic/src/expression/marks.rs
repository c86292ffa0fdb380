//! Marks inside of numbers: which of point and comma stands before the decimals, where a text tells.
//!
//! `1.250,50` and `0,04` tell it, `1.250` and `1,250` do not. What does not is read as English writes it; where an equation
//! holds only in the other reading, that one is meant.

/// A number with marks in it: its bytes, and the lengths of its groups of digits with the mark before each.
struct MarkedNumber {
    start: usize,
    end: usize,
    first: usize,
    groups: Vec<(u8, usize)>,
}

impl MarkedNumber {
    /// Tells whether a comma must stand before its decimals.
    fn has_decimal_comma(&self, text: &[u8]) -> bool {
        let is_pair = self.start.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'(')
            && text.get(self.end) == Some(&b')')
            && self.groups.len() == 1;
        match self.groups.as_slice() {
            [(b',', len)] => !is_pair && (*len != 3 || self.first > 3 || text.get(self.start) == Some(&b'0')),
            [points @ .., (b',', _)] => points.iter().all(|(mark, len)| *mark == b'.' && *len == 3),
            _ => false,
        }
    }

    /// Tells whether its one mark may stand before decimals or between thousands.
    fn is_ambiguous(&self, text: &[u8]) -> bool {
        matches!(self.groups.as_slice(), [(_, 3)]) && self.first <= 3 && text.get(self.start) != Some(&b'0')
    }

    /// Tells whether it is a number in either reading: no date, no version.
    fn is_number(&self) -> bool {
        let (last, before) = match self.groups.as_slice() {
            [before @ .., last] => (last, before),
            [] => return false,
        };
        before.iter().all(|(mark, len)| *len == 3 && before.first().is_some_and(|(first, _)| first == mark))
            && (before.is_empty() || last.0 != before[0].0 || last.1 == 3)
    }
}

fn marked(text: &[u8]) -> Vec<MarkedNumber> {
    let digits = |from: usize| text.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let first = digits(at);
        let start = at;
        at += first.max(1);
        if first == 0 {
            continue;
        }
        let mut groups = Vec::new();
        while let Some(mark) = text.get(at).copied().filter(|mark| matches!(mark, b'.' | b',')) {
            let len = digits(at + 1);
            if len == 0 {
                break;
            }
            groups.push((mark, len));
            at += 1 + len;
        }
        if !groups.is_empty() {
            found.push(MarkedNumber { start, end: at, first, groups });
        }
    }
    found
}

/// Tells whether a text has a number whose decimals stand behind a comma, and none whose decimals stand behind a point.
pub(super) fn has_decimal_commas(text: &str) -> bool {
    let text = text.as_bytes();
    let all = marked(text);
    let has_point = |number: &MarkedNumber| {
        matches!(number.groups.as_slice(), [.., (b'.', len)] if *len != 3) && !number.has_decimal_comma(text)
    };
    all.iter().any(|number| number.has_decimal_comma(text)) && !all.iter().any(has_point)
}

/// Tells whether a text has numbers that are others where a comma stands before decimals; of `.` alone, or of `,` too.
pub(super) fn is_ambiguous(text: &str, with_commas: bool) -> bool {
    let text = text.as_bytes();
    marked(text).iter().any(|number| number.is_ambiguous(text) && (with_commas || number.groups[0].0 == b'.'))
}

/// The text with points for commas and commas for points in its numbers: as English writes them, each at its place.
pub(super) fn swapped(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for number in marked(text.as_bytes()).iter().filter(|number| number.is_number()) {
        for byte in &mut bytes[number.start..number.end] {
            *byte = match *byte {
                b'.' => b',',
                b',' => b'.',
                byte => byte,
            };
        }
    }
    String::from_utf8(bytes).expect("only ASCII was changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_tell_their_mark() {
        for text in ["0,04 · 150", "1.250,50 + 3", "2,5", "12 x 8,40 €", "0,125", "1234,567"] {
            assert!(has_decimal_commas(text), "{text}");
        }
        for text in ["1,250 + 3", "1.5 + 2", "2,5 and 2.5", "f(2,5)", "1, 2, 3", "1,2,3", "1.250", "12,345,678", "3"] {
            assert!(!has_decimal_commas(text), "{text}");
        }
        assert!(is_ambiguous("1.200 + 50", false) && is_ambiguous("1,200 + 50", true));
        assert!(!is_ambiguous("1,200 + 50", false) && !is_ambiguous("0.125 + 12.5", true));
        assert_eq!(swapped("1.250,50 + 0,5 = 1.251 (am 3.12.2026)"), "1,250.50 + 0.5 = 1,251 (am 3.12.2026)");
    }
}
