//! Texts cut and filled to a number of columns, as a terminal draws them.

use std::borrow::Cow;
use std::iter::repeat_n;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::text::{columns, cut, split_plain};

/// Returns the beginning of a text that fits into `width` columns, ending in `…` if something was cut off. A number is never cut
/// where it would read as another one: it is left out, and one that is all of the text is written by its size.
pub fn fit(text: &str, width: usize) -> String {
    fitted(text, width).0.into_owned()
}

/// [`fit`], and the number of columns that it takes.
fn fitted(text: &str, width: usize) -> (Cow<'_, str>, usize) {
    // What is far too long is not measured whole.
    let head = cut(text, width.saturating_mul(8).saturating_add(64));
    let whole = columns(head);
    if head.len() == text.len() && whole <= width {
        return (text.into(), whole);
    }
    let Some(room) = width.checked_sub(1) else { return ("".into(), 0) };
    let (mut end, mut used) = (0, 0);
    for cluster in Clusters::of(head) {
        if used + cluster.columns > room {
            break;
        }
        (end, used) = (cluster.at + cluster.text.len(), used + cluster.columns);
    }
    if let Some(start) = cut_number(text, end) {
        if let Some(brief) = number_in_brief(text, width) {
            let used = brief.len();
            return (brief.into(), used);
        }
        // Digits are columns.
        (end, used) = (start, used - (end - start));
    }
    ((head.get(..end).unwrap_or_default().to_owned() + "…").into(), used + 1)
}

/// Finds where the number begins that a text would be cut in, unless it is cut behind a digit of its fraction.
fn cut_number(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // Points, commas and the sign of an exponent belong to a number between two of its digits.
    let joins = |at: usize| {
        let is_joint = bytes.get(at).is_some_and(|byte| matches!(byte, b'.' | b',' | b'e' | b'E'));
        at.checked_sub(1).is_some_and(is_digit) && is_joint && (is_digit(at + 1) || is_exponent(bytes, at))
    };
    let is_sign = |at: usize| at.checked_sub(1).is_some_and(|before| is_exponent(bytes, before));
    let is_in = |at: usize| is_digit(at) || joins(at) || is_sign(at);
    if !is_in(end) {
        return None;
    }
    let start = (0..end).rev().take_while(|at| is_in(*at)).last()?;
    let number = start..end + (end..bytes.len()).take_while(|at| is_in(*at)).count();
    let point = bytes.get(start..end)?.iter().position(|byte| *byte == b'.').map(|at| start + at);
    let has_size = point.is_some_and(|point| point + 1 < end) && !number.into_iter().any(|at| is_exponent(bytes, at));
    (!has_size).then_some(start)
}

/// Tells whether an exponent with a sign begins at a place of a text, or one without.
fn is_exponent(bytes: &[u8], at: usize) -> bool {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_letter = bytes.get(at).is_some_and(|byte| matches!(byte, b'e' | b'E'));
    let is_signed = bytes.get(at + 1).is_some_and(|byte| matches!(byte, b'+' | b'-')) && digit(at + 2);
    is_letter && at.checked_sub(1).is_some_and(digit) && (is_signed || digit(at + 1))
}

/// Writes a number without its fraction, else as digits and an exponent, as many as fit; `None`: the text is no number,
/// or there is no room.
fn number_in_brief(text: &str, width: usize) -> Option<String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let whole =
        text.contains('.').then(|| format!("{value:.0}")).filter(|whole| !whole.trim_matches(['-', '0']).is_empty());
    let in_digits = (0..width).rev().map(|digits| format!("{value:.digits$e}"));
    whole.into_iter().chain(in_digits).find(|brief| brief.len() <= width)
}

/// Cuts a text as [`fit`] does, and fills it with blanks to exactly `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    filled(text, width, false)
}

/// Cuts a text as [`fit`] does, and fills it with blanks on the left.
pub fn pad_left(text: &str, width: usize) -> String {
    filled(text, width, true)
}

fn filled(text: &str, width: usize, is_right: bool) -> String {
    let (fitting, columns) = fitted(text, width);
    let blanks = width.saturating_sub(columns);
    let before = if is_right { blanks } else { 0 };
    let mut out = String::with_capacity(fitting.len() + blanks);
    out.extend(repeat_n(' ', before));
    out.push_str(&fitting);
    out.extend(repeat_n(' ', blanks - before));
    out
}

/// Characters that belong together, and so stand in one place on a terminal.
#[derive(Debug)]
pub struct Cluster<'a> {
    /// Offset in the text, in bytes.
    pub at: usize,
    /// The characters.
    pub text: &'a str,
    /// Number of columns that they take.
    pub columns: usize,
}

/// Clusters of a text; no tables are asked for those of one plain character.
#[derive(Debug)]
pub struct Clusters<'a> {
    text: &'a str,
    at: usize,
    /// End of the characters that are a cluster of one column each.
    plain_until: usize,
}

impl<'a> Clusters<'a> {
    /// Of a text.
    pub const fn of(text: &'a str) -> Self {
        Self { text, at: 0, plain_until: 0 }
    }
}

impl<'a> Iterator for Clusters<'a> {
    type Item = Cluster<'a>;

    fn next(&mut self) -> Option<Cluster<'a>> {
        let (at, rest) = (self.at, self.text.get(self.at..)?);
        if at >= self.plain_until {
            self.plain_until = at + split_plain(rest).0.len();
        }
        let (text, columns) = if at < self.plain_until {
            let c = rest.chars().next()?;
            (rest.get(..c.len_utf8())?, 1)
        } else {
            let cluster = rest.graphemes(true).next()?;
            (cluster, cluster.width())
        };
        self.at += text.len();
        Some(Cluster { at, text, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_cut_off_says_so() {
        assert_eq!(fit("hello", 5), "hello");
        assert_eq!(fit("hello!", 5), "hell…");
        assert_eq!(pad("漢字", 3), "漢…");
        assert_eq!(pad_left("7", 3), "  7");
        assert_eq!(fit("x", 0), "");
    }

    #[test]
    fn no_number_is_cut_to_another_one() {
        assert_eq!(fit("it wrote 125", 12), "it wrote 125");
        assert_eq!(fit("it wrote 125", 11), "it wrote …");
        assert_eq!(fit("1,250 apples", 4), "…");
        assert_eq!(fit("on 2026-03-01", 10), "on 2026-…");
        assert_eq!(fit("3.14159265 is it", 6), "3.141…", "the size is said");
        assert_eq!(fit("costs 3.14", 9), "costs …");
        assert_eq!(fit("1.5e300 is it", 5), "…");
        assert_eq!(fit("123456789012", 10), "1.23457e11");
        assert_eq!(fit("-123456789012", 6), "-1e11");
        assert_eq!(fit("123456789012", 3), "…");
        assert_eq!(fit("123456789.125", 10), "123456789");
        assert_eq!(fit("0.00000000012", 3), "…");
        assert_eq!(fit("0.3333333333333333", 6), "0.333…");
        assert_eq!(pad_left("123456789012", 11), "1.234568e11");
        assert_eq!(fit("step 12", 6), "step …");
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_unicode(text in "[ab1 漢é≈✔🇦\u{301}\u{fe0f}\u{20e3}\u{200d}😀\u{600}]{0,14}") {
            let clusters: Vec<(usize, &str)> = Clusters::of(&text).map(|cluster| (cluster.at, cluster.text)).collect();
            prop_assert_eq!(clusters, text.grapheme_indices(true).collect::<Vec<_>>());
            prop_assert!(Clusters::of(&text).all(|cluster| cluster.columns == cluster.text.width()));
        }

        #[test]
        fn plain_text_has_a_shorter_way_to_the_same(text in PARTS, width in 0_usize..12) {
            prop_assert_eq!(columns(&text), text.width());
            // The widths of the clusters are added: of both together a joiner between them would make one.
            let (mut slowly, mut used) = (String::new(), 0);
            for cluster in text.graphemes(true) {
                if used + cluster.width() + 1 > width {
                    break;
                }
                slowly.push_str(cluster);
                used += cluster.width();
            }
            prop_assume!(number_in_brief(&text, 9).is_none());
            if let Some(start) = cut_number(&text, slowly.len()) {
                slowly.truncate(start);
            }
            let fits = text.width() <= width;
            let cut = if width > 0 { slowly + "…" } else { slowly };
            prop_assert_eq!(fit(&text, width), if fits { text.clone() } else { cut });
        }
    }

    /// Text in which a character may change the width of the one before it or belong to it.
    const PARTS: &str = "[ab1 漢é≈\u{301}\u{fe0f}\u{20e3}\u{200d}😀\u{600}]{0,14}";
}
