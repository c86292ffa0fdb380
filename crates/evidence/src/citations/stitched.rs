//! Stitched quotes: the document holds every part of them, but not the whole.

use std::ops::Range;

use crate::document::Document;
use crate::folded::fold_text;
use crate::tiles::WHOLE;

/// A longer quote is not taken apart.
const MAX_QUOTE: usize = 2_000;
/// In a larger document it is not looked for.
const MAX_DOCUMENT: usize = 2 << 20;
/// Maximum number of parts: more are words that occur by chance.
const MAX_PARTS: usize = 4;
/// Minimum number of letters and digits of a part: fewer occur somewhere by chance.
const MIN_PART: usize = WHOLE + 1;
/// Most work of looking for one part.
const MAX_COST: usize = 50_000;
/// Parts so close one behind the other lack a word between them: the quote was changed, not put together.
const APART: usize = 60;

/// Part of a quote, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StitchedPart {
    /// The lines.
    pub lines: Range<usize>,
    /// The bytes of the document's text.
    pub bytes: Range<usize>,
}

/// The parts of a quote that was put together; `None` where it was not, or that cannot be told.
pub fn stitched(document: &Document, quote: &[u8]) -> Option<Vec<StitchedPart>> {
    if quote.len() > MAX_QUOTE {
        return None;
    }
    let (quote, _) = fold_text(quote);
    let skeleton = document.skeleton();
    let text = skeleton.text();
    if text.len() > MAX_DOCUMENT || quote.len() < 2 * MIN_PART {
        return None;
    }
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut rest = quote.as_slice();
    while !rest.is_empty() {
        // The longest beginning that stands in the document: if one stands there, so does every shorter one.
        let (mut low, mut high) = (MIN_PART, rest.len());
        let mut found = first(document, rest.get(..low)?)?;
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match first(document, rest.get(..middle)?) {
                Some(at) => (low, found) = (middle, at),
                None => high = middle - 1,
            }
        }
        // What is left must be a part too: a few letters more may stand there by chance.
        if rest.len() > low && rest.len() - low < MIN_PART {
            low = rest.len() - MIN_PART;
            found = first(document, rest.get(..low).filter(|part| part.len() >= MIN_PART)?)?;
        }
        places.push(found..found + low);
        rest = rest.get(low..)?;
        if places.len() > MAX_PARTS {
            return None;
        }
    }
    let is_apart = |pair: &[Range<usize>]| match pair {
        [a, b] => b.start < a.end || b.start - a.end > APART,
        _ => false,
    };
    if places.len() < 2 || !places.windows(2).all(is_apart) {
        return None;
    }
    let parts = places.into_iter().map(|place| {
        let bytes = skeleton.place(document.lines(), place)?;
        let lines = document.line_at(bytes.start)..document.line_at(bytes.end.saturating_sub(1)) + 1;
        Some(StitchedPart { lines, bytes })
    });
    parts.collect()
}

/// The first place of a part; `None` too where it may be in so many that it says nothing.
fn first(document: &Document, part: &[u8]) -> Option<usize> {
    let candidates = document.tiles().candidates(part).filter(|found| found.cost() < MAX_COST)?;
    Some(candidates.holding(document.skeleton().text()).first()?.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_stand_apart_are_told_from_changed_words() {
        let lines = [
            "The deductible is USD 1,200 for each claim.",
            "The premium is due within thirty days after the beginning of the policy.",
            "It is paid by bank transfer to the account of the insurer.",
            "A claim is settled within ten days of the report.",
        ];
        let lines = (1..).zip(lines).map(|(line, text)| (1, line, text)).collect();
        let document = Document::of(lines, Vec::new());
        let parts = |quote: &str| stitched(&document, quote.as_bytes()).map(|parts| parts.len());
        assert_eq!(
            parts("The deductible is USD 1,200 for each claim, settled within ten days of the report."),
            Some(2)
        );
        assert_eq!(parts("A claim is settled within ten days. The premium is due within thirty days"), Some(2));
        // One word was changed, left out or made up.
        assert_eq!(parts("The premium is due within sixty days after the beginning of the policy."), None);
        assert_eq!(parts("The premium is due within thirty days after beginning of the policy."), None);
        assert_eq!(parts("Nothing of this stands in the document anywhere at all."), None);
        assert_eq!(parts("The deductible is USD 1,200 for each claim."), None);
    }
}
