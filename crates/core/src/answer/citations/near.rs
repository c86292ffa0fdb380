//! The passage that resembles a quote most when the document does not hold the quote itself. Pieces of the folded quote
//! are looked for all at once; where several of them stand together in the right order, the words are compared.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use aho_corasick::packed::Searcher;

use super::differences::{Differences, cost, differences};
use super::search::Search;
use super::{Budget, NearMatch};
use crate::answer::document::Document;

/// Length of a piece, in bytes of folded text. Shorter ones occur everywhere by chance.
const PIECE: usize = 12;
/// Maximum number of pieces to look for: a bit each.
const MAX_PIECES: usize = 32;
/// Maximum number of places of a piece that are weighed: one that occurs in more says little.
const MAX_HITS: u32 = 4096;
/// Maximum number of neighbourhoods outside the cited lines that are compared word by word.
const REGIONS: usize = 4;
/// Lowest similarity that counts as a resemblance, in hundredths.
const ALIKE: u8 = 55;
/// So few common words are chance.
const FEW_WORDS: usize = 3;
/// Length beyond the quote's own that is compared with it, in bytes of folded text.
const SLACK: usize = 120;
/// Maximum size of a neighbourhood that is compared, in bytes of the document.
const MAX_REGION: usize = 64 << 10;

/// The most similar place, among the cited lines and everywhere else; with the lines around it.
pub(super) fn nearest(
    search: &Search<'_>,
    cited: Option<&Range<usize>>,
    budget: &mut Budget,
) -> Option<(NearMatch, Range<usize>)> {
    let document = search.document;
    let mut regions: Vec<Range<usize>> = cited.map(|cited| search.window(cited)).into_iter().collect();
    if budget.spend(document.size(), 4) {
        regions.extend(seeded(search, budget).into_iter().filter_map(|part| lines_of(document, part)));
    }
    let mut best: Option<(NearMatch, Range<usize>)> = None;
    for region in regions {
        let start = document.offset(region.start)?;
        let text = document.text(region.clone());
        let text = text.get(..text.len().min(MAX_REGION)).unwrap_or_default();
        if !budget.spend(cost(search.quote, text), 1) {
            return None;
        }
        let found = differences(search.quote, text);
        let better = best.as_ref().is_none_or(|(best, _)| found.similarity > best.similarity);
        if better && is_alike(&found) {
            best = near(document, found, start).map(|near| (near, region));
        }
    }
    best
}

fn is_alike(found: &Differences) -> bool {
    found.similarity >= ALIKE && (found.words >= FEW_WORDS || found.similarity >= 80)
}

fn near(document: &Document, found: Differences, start: usize) -> Option<NearMatch> {
    let moved = |range: Range<usize>| start + range.start..start + range.end;
    let bytes = moved(found.text_range);
    let lines = document.line_at(bytes.start)..document.line_at(bytes.end.checked_sub(1)?) + 1;
    Some(NearMatch {
        pages: document.pages_of(&lines),
        lines,
        bytes,
        similarity: found.similarity,
        quote: found.quote,
        text: found.text.into_iter().map(moved).collect(),
        cut: found.cut,
    })
}

/// Finds the parts of the folded document with the most pieces of the quote, best first.
fn seeded(search: &Search<'_>, budget: &mut Budget) -> Vec<Range<usize>> {
    let quote = search.folded();
    let text = search.document.skeleton().text();
    let pieces = pieces(quote.len());
    let patterns: Vec<&[u8]> = pieces.iter().filter_map(|at| quote.get(*at..at + PIECE)).collect();
    // Two neighbouring buckets hold a whole quote, wherever it begins.
    let bucket = quote.len() + SLACK;
    let mut buckets: HashMap<usize, u32> = HashMap::new();
    let mut seen = [0; MAX_PIECES];
    each_hit(&patterns, text, |piece, at| {
        let (Some(seen), Some(offset)) = (seen.get_mut(piece), pieces.get(piece)) else { return };
        *seen += 1;
        if *seen <= MAX_HITS && budget.spend(1, 40) {
            *buckets.entry(at.saturating_sub(*offset) / bucket).or_default() |= 1 << piece;
        }
    });
    let weigh = |n: usize| {
        let own = buckets.get(&n).copied().unwrap_or(0);
        (own | buckets.get(&(n + 1)).copied().unwrap_or(0)).count_ones()
    };
    let mut ranked: Vec<(u32, usize)> = buckets.keys().map(|n| (weigh(*n), *n)).collect();
    ranked.sort_by_key(|(weight, n)| (std::cmp::Reverse(*weight), *n));
    ranked.truncate(REGIONS);
    let part = |n: usize| (n * bucket).saturating_sub(SLACK)..((n + 2) * bucket + quote.len()).min(text.len());
    ranked.into_iter().map(|(_, n)| part(n)).collect()
}

/// Looks for all pieces at once, with wide instructions where the machine has them.
fn each_hit(patterns: &[&[u8]], text: &[u8], mut found: impl FnMut(usize, usize)) {
    if let Some(searcher) = Searcher::new(patterns) {
        searcher.find_iter(text).for_each(|hit| found(hit.pattern().as_usize(), hit.start()));
    } else if let Ok(machine) = AhoCorasick::new(patterns) {
        machine.find_iter(text).for_each(|hit| found(hit.pattern().as_usize(), hit.start()));
    }
}

/// Lists the offsets at which the pieces of a quote of this length begin.
fn pieces(len: usize) -> Vec<usize> {
    let Some(room) = len.checked_sub(PIECE) else { return Vec::new() };
    let count = (len / PIECE).clamp(1, MAX_PIECES);
    (0..count).map(|n| room * n / (count - 1).max(1)).collect()
}

fn lines_of(document: &Document, part: Range<usize>) -> Option<Range<usize>> {
    let bytes = document.skeleton().place(document, part)?;
    Some(document.line_at(bytes.start)..document.line_at(bytes.end) + 1)
}
