//! The passage that resembles a quote most when the document does not hold the quote itself. Pieces of the folded quote
//! are looked up in the index of the text; where several of them stand together, the words are compared.

use std::ops::Range;

use super::budget::Budget;
use super::differences::{Differences, cost, differences};
use super::letters;
use super::quote::NearMatch;
use super::search::Search;
use crate::document::Document;
use crate::tiles::TILE;

/// Maximum number of pieces to look for: a bit each.
const MAX_PIECES: usize = 32;
/// Maximum number of places of a tile that are weighed: one that occurs in more says little.
const MAX_HITS: usize = 32;
/// Maximum number of neighbourhoods outside the cited lines that are compared word by word.
const REGIONS: usize = 4;
/// Of a quote that is longer than this, in bytes of folded text, the place with the most pieces says enough.
const LONG: usize = 300;
/// Lowest similarity that counts as a resemblance, in hundredths.
const ALIKE: u8 = 55;
/// So few common words are chance.
const FEW_WORDS: usize = 3;
/// Cited lines that are so many times as long as the quote, or as all pieces of it, are compared as a whole.
const WHOLE: usize = 8;
/// Length before and behind it that is compared with the quote, in bytes of folded text.
const SLACK: usize = 60;
/// Maximum size of a neighbourhood that is compared, in bytes of the document.
const MAX_REGION: usize = 64 << 10;

/// The most similar place, among the cited lines and everywhere else; with the lines around it.
pub(super) fn nearest(
    search: &Search<'_>,
    cited: Option<&Range<usize>>,
    budget: &mut Budget,
) -> Option<(NearMatch, Range<usize>)> {
    let document = search.document;
    let window = cited.map(|cited| search.window(cited));
    // Of many cited lines those are compared that hold the most pieces of the quote.
    let most = WHOLE * search.quote.len().max(TILE * MAX_PIECES);
    let is_whole = window.as_ref().is_some_and(|window| document.text(window.clone()).len() <= most);
    let mut regions: Vec<Range<usize>> = window.clone().filter(|_| is_whole).into_iter().collect();
    let part = window.filter(|_| !is_whole).map(|window| search.folded_part(&window).1);
    if budget.spend(MAX_PIECES * TILE, 8) {
        let parts = seeded(search, part.as_ref(), budget).into_iter();
        regions.extend(parts.filter_map(|part| lines_of(document, part)));
    }
    let mut best: Option<(NearMatch, Range<usize>)> = None;
    for region in regions {
        let start = document.offset(region.start)?;
        let text = document.text(region.clone());
        let text = &text[..text.len().min(MAX_REGION)];
        if !budget.spend(cost(search.quote, text), 1) {
            return None;
        }
        let found = differences(search.quote, text);
        let better = best.as_ref().is_none_or(|(best, _)| found.similarity > best.similarity);
        if better && is_alike(&found) {
            best = near(document, found, start).map(|near| (near, region));
        }
    }
    best.or_else(|| letters::nearest(search, cited, budget))
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
        by_letters: false,
    })
}

/// Finds the parts of the folded document with the most pieces of the quote, best first; before them the best one within
/// the cited part, if that is given.
fn seeded(search: &Search<'_>, cited: Option<&Range<usize>>, budget: &mut Budget) -> Vec<Range<usize>> {
    let quote = search.folded();
    let text = search.document.skeleton().text();
    // Two neighbouring buckets hold a whole quote, wherever it begins.
    let bucket = quote.len() + 2 * SLACK;
    let mut hits: Vec<(usize, u32)> = Vec::new();
    for (piece, start) in pieces(quote.len()).into_iter().enumerate() {
        each_hit(search, start, budget, |at| hits.push((at, 1 << piece)));
    }
    hits.sort_unstable();
    let mut ranked: Vec<(u32, Range<usize>)> = Vec::new();
    let mut rest = hits.as_slice();
    while let Some((first, _)) = rest.first() {
        let (own, others) = rest.split_at(rest.partition_point(|(at, _)| at / bucket == first / bucket));
        let near = others.partition_point(|(at, _)| at / bucket == first / bucket + 1);
        let (seen, last) =
            own.iter().chain(others.iter().take(near)).fold((0, 0), |(seen, _), (at, piece)| (seen | piece, *at));
        let end = (last + quote.len() + SLACK).min(text.len());
        ranked.push((seen.count_ones(), first.saturating_sub(SLACK)..end));
        rest = others;
    }
    ranked.sort_by_key(|(weight, part)| (std::cmp::Reverse(*weight), part.start));
    let is_cited = |part: &Range<usize>| cited.is_some_and(|cited| part.start < cited.end && cited.start < part.end);
    let own = ranked.iter().find(|(_, part)| is_cited(part)).map(|(_, part)| part.clone());
    ranked.truncate(if quote.len() > LONG { 1 } else { REGIONS });
    // What shares less than half as much with the quote is hardly more like it.
    let least = ranked.first().map_or(0, |(most, _)| most.div_ceil(2));
    let parts = ranked.into_iter().filter(|(weight, _)| *weight >= least).map(|(_, part)| part);
    let others: Vec<Range<usize>> = parts.filter(|part| own.as_ref() != Some(part)).collect();
    own.into_iter().chain(others).collect()
}

/// Gives the places where the quote would begin, by the tiles of the text that stand in a piece of it, however they cut
/// that.
fn each_hit(search: &Search<'_>, start: usize, budget: &mut Budget, mut found: impl FnMut(usize)) {
    let (quote, text, tiles) = (search.folded(), search.document.skeleton().text(), search.document.tiles());
    for offset in start..start + TILE {
        let Some(tile) = quote.get(offset..offset + TILE) else { return };
        for at in tiles.like(tile).iter().take(MAX_HITS).map(|n| *n as usize * TILE) {
            if !budget.spend(1, 32) {
                return;
            }
            if text.get(at..at + TILE) == Some(tile) {
                found(at.saturating_sub(offset));
            }
        }
    }
}

/// Lists the offsets at which the pieces of a quote of this length begin.
fn pieces(len: usize) -> Vec<usize> {
    let Some(room) = len.checked_sub(TILE) else { return Vec::new() };
    let count = (len / TILE).clamp(1, MAX_PIECES);
    (0..count).map(|n| (room + 1).saturating_sub(TILE) * n / (count - 1).max(1)).collect()
}

fn lines_of(document: &Document, part: Range<usize>) -> Option<Range<usize>> {
    let bytes = document.skeleton().place(document.lines(), part)?;
    Some(document.line_at(bytes.start)..document.line_at(bytes.end) + 1)
}
