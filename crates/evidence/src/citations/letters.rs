//! The passage that resembles a quote letter by letter where no words agree: what a text recognition misread, or a parser
//! lost, such as ligatures.

use std::ops::Range;

use super::budget::Budget;
use super::quote::NearMatch;
use super::search::Search;
use crate::folded::Trace;

/// A longer quote, in letters and digits, is not compared.
const MAX_QUOTE: usize = 600;
/// A quote of fewer letters and digits resembles something by chance.
const MIN_QUOTE: usize = 8;
/// Largest part of a document that is compared, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// Lowest similarity that counts as a resemblance, in hundredths.
const ALIKE: usize = 70;
/// Work of a step of the comparison.
const STEP: u64 = 2;

/// The part of the cited lines and of those around them that resembles a quote most; of a small document, of all of it.
pub(super) fn nearest(
    search: &Search<'_>,
    cited: Option<&Range<usize>>,
    budget: &mut Budget,
) -> Option<(NearMatch, Range<usize>)> {
    let document = search.document;
    let lines = if document.size() <= MAX_TEXT { 0..document.len() } else { search.window(cited?) };
    let text = document.text(lines.clone());
    if !(MIN_QUOTE..=MAX_QUOTE).contains(&search.folded().len()) || text.len() > MAX_TEXT {
        return None;
    }
    if !budget.fold(2 * text.len()) || !budget.spend(search.folded().len() * text.len(), STEP) {
        return None;
    }
    let (quote, text) = (letters(search.quote), letters(text));
    let (distance, part) = closest(&quote.bytes, &text.bytes);
    let longest = quote.bytes.len().max(part.len());
    let similarity = (longest.saturating_sub(distance) * 100).checked_div(longest)?;
    if similarity < ALIKE {
        return None;
    }
    let start = document.offset(lines.start)?;
    let bytes = start + text.from.get(part.start)?.start..start + text.from.get(part.end.checked_sub(1)?)?.end;
    let lines = document.line_at(bytes.start)..document.line_at(bytes.end.saturating_sub(1)) + 1;
    let near = NearMatch {
        pages: document.pages_of(&lines),
        lines: lines.clone(),
        bytes,
        similarity: similarity.min(100) as u8,
        quote: Vec::new(),
        text: Vec::new(),
        cut: false,
        by_letters: true,
    };
    Some((near, lines))
}

/// A folded text in which letters and digits that are taken for each other are the same.
fn letters(text: &[u8]) -> Trace {
    let folded = Trace::of(text, false);
    let mut letters = Trace::default();
    let mut at = 0;
    while let Some(byte) = folded.bytes.get(at) {
        let rest = &folded.bytes[at..];
        let (like, len) = match byte {
            b'r' if rest.starts_with(b"rn") => (b'm', 2),
            b'v' if rest.starts_with(b"vv") => (b'w', 2),
            b'1' | b'l' => (b'i', 1),
            b'0' => (b'o', 1),
            b'5' => (b's', 1),
            byte => (*byte, 1),
        };
        let from = folded.from.get(at).zip(folded.from.get(at + len - 1));
        letters.bytes.push(like);
        letters.from.extend(from.map(|(first, last)| first.start..last.end));
        at += len;
    }
    letters
}

/// The part of a text with the fewest letters to change into a quote, and how many.
fn closest(quote: &[u8], text: &[u8]) -> (usize, Range<usize>) {
    // A column of the table of edit distances: the distance, and where the part begins.
    let mut above: Vec<(usize, usize)> = (0..=text.len()).map(|at| (0, at)).collect();
    let mut row = above.clone();
    for (n, letter) in quote.iter().enumerate() {
        let mut left = (n + 1, 0);
        let mut corner = above.first().copied().unwrap_or((n, 0));
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for ((own, cell), up) in text.iter().zip(row.iter_mut().skip(1)).zip(above.iter().skip(1)) {
            let change = (corner.0 + usize::from(own != letter), corner.1);
            left = change.min((up.0 + 1, up.1)).min((left.0 + 1, left.1));
            (corner, *cell) = (*up, left);
        }
        std::mem::swap(&mut above, &mut row);
    }
    let best = above.iter().enumerate().min_by_key(|(_, (distance, _))| *distance);
    best.map_or((quote.len(), 0..0), |(end, (distance, start))| (*distance, *start..end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn alike(text: &str, quote: &str) -> Option<(u8, String)> {
        let document = Document::of(vec![(1, 1, "Preface of it all."), (1, 2, text)], Vec::new());
        let search = Search::new(&document, quote.as_bytes());
        let (near, _) = nearest(&search, None, &mut Budget::default())?;
        Some((near.similarity, String::from_utf8(document.bytes(near.bytes).to_vec()).unwrap()))
    }

    #[test]
    fn what_was_misread_or_lost_is_like_its_letters() {
        assert_eq!(alike("Tota1 arnount due", "Total amount due").unwrap(), (100, "Tota1 arnount due".to_owned()));
        let (percent, text) = alike("x. De nition of ef cient use. y", "Definition of efficient use.").unwrap();
        assert!((80..90).contains(&percent), "{percent}");
        assert_eq!(text, "De nition of ef cient use");
        assert!(alike("Café Müller öffnet um 9.", "Cafe Mueller oeffnet um 9.").unwrap().0 > 85);
        assert_eq!(alike("The premium is due within thirty days.", "Flood is excluded without limit."), None);
        assert_eq!(alike("It is paid by bank transfer.", "It rains"), None);
    }
}
