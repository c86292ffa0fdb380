//! The search for one quote: among the cited lines, around them, and everywhere.

use std::ops::Range;

use memchr::memmem::Finder;

use super::budget::Budget;
use super::interleaved;
use super::quote::{NEARBY, QuoteMatch, QuotePlace, Tier};
use crate::document::Document;
use crate::folded::marks;
use crate::folded::{
    FoldedText, equal_without_line_hyphens, equal_without_soft_hyphens, fold_text, fold_whole, is_like, is_word,
    may_hold_glued, published,
};
use crate::tiles::PossiblePlaces;
use stepscope_base::text::{Piece, pieces};

/// Largest part of a document that is folded on its own: for larger ones the whole folded document serves.
const LOCAL: usize = 64 << 10;
/// For so many bytes of a document the whole folded document serves where nothing is left out of it.
const FEW: usize = 2 << 10;
/// Work for a byte that is read as the published check does, twice: it leaves bytes out, and folds none.
const PUBLISHED: u64 = 8;
/// Maximum number of places among the cited lines that are compared.
const CLOSE_LOOKS: usize = 32;
/// Maximum number of places that are listed.
pub(super) const MAX_PLACES: usize = 16;
/// Maximum number of places that are counted.
pub(super) const MAX_COUNT: usize = 1000;
/// A quote of fewer letters and digits must be words of its own to be found far from its lines.
const SHORT: usize = 8;
/// In so many ways a footnote is told from the text.
const FOOTNOTES: usize = 4;
/// A quote of more pieces is none.
const MAX_PIECES: usize = 16;
/// The pieces of a quote are within so many lines of the longest.
const ELIDED: usize = 30;
/// In a citation over more pages, a quote is not looked for between headers and footers.
const MAX_BREAKS: usize = 4;

/// A way to read some lines: which of them are kept, and whether numbers glued to words are left out.
struct LenientWay {
    lines: Vec<usize>,
    glued: bool,
}

impl LenientWay {
    fn folded(&self, document: &Document) -> FoldedText {
        FoldedText::of(document.lines(), self.lines.iter().copied(), self.glued)
    }
}

/// Occurrences of the quote in the whole document.
#[derive(Debug, Default)]
pub(super) struct Everywhere {
    /// The first places in order.
    pub places: Vec<QuoteMatch>,
    /// The one that fits best.
    pub best: Option<QuoteMatch>,
    /// Number of places, up to [`MAX_COUNT`].
    pub total: usize,
}

/// Finds a quote byte for byte in some lines.
pub(super) fn byte_for_byte(
    document: &Document,
    quote: &[u8],
    lines: &Range<usize>,
    budget: &mut Budget,
) -> Option<QuoteMatch> {
    let text = document.text(lines.clone());
    if quote.is_empty() || !budget.find(text.len()) {
        return None;
    }
    let start = document.offset(lines.start)? + memchr::memmem::find(text, quote)?;
    Some(at(document, start..start + quote.len(), Tier::Exact, Vec::new()))
}

fn at(document: &Document, bytes: Range<usize>, tier: Tier, skipped: Vec<usize>) -> QuoteMatch {
    let last = bytes.end.max(bytes.start + 1) - 1;
    let lines = document.line_at(bytes.start)..document.line_at(last) + 1;
    let pages = document.pages_of(&lines);
    QuoteMatch { lines, pages, bytes, tier, skipped, left_out: Vec::new() }
}

/// A quote, ready to be looked for.
#[derive(Debug)]
pub(super) struct Search<'d> {
    pub document: &'d Document,
    /// Without blanks around it.
    pub quote: &'d [u8],
    finder: Finder<'static>,
    /// The part of the quote that its folded text comes from.
    core: Range<usize>,
}

impl<'d> Search<'d> {
    pub(super) fn new(document: &'d Document, quote: &'d [u8]) -> Self {
        let (folded, core) = fold_text(quote);
        Self { document, quote, finder: Finder::new(&folded).into_owned(), core }
    }

    /// The folded quote.
    pub(super) fn folded(&self) -> &[u8] {
        self.finder.needle()
    }

    /// The cited lines and so many around them that a quote that begins or ends nearby is within.
    pub(super) fn window(&self, cited: &Range<usize>) -> Range<usize> {
        let room = self.quote.len() + self.quote.len() / 2;
        let mut start = cited.start;
        while start > 0 && (cited.start - start < NEARBY || self.bytes(&(start..cited.start)) < room) {
            start -= 1;
        }
        let mut end = cited.end;
        while end < self.document.len() && (end - cited.end < NEARBY || self.bytes(&(cited.end..end)) < room) {
            end += 1;
        }
        start..end
    }

    fn bytes(&self, lines: &Range<usize>) -> usize {
        self.document.text(lines.clone()).len()
    }

    /// The best place among the cited lines or next to them.
    pub(super) fn around(&self, cited: &Range<usize>, budget: &mut Budget) -> Option<(QuotePlace, QuoteMatch)> {
        if let Some(found) = self.among(cited, budget) {
            return Some((QuotePlace::Cited, found));
        }
        if !budget.scan(self.quote.len() * 4) {
            return None;
        }
        let window = self.window(cited);
        let plain = Self::best(cited, self.hits(&window, budget)).filter(|(place, _)| *place != QuotePlace::Cited);
        let mut best = Self::nearer(plain, self.forgiving(&window, cited, budget));
        let is_cited = |best: &Option<(QuotePlace, QuoteMatch)>| {
            best.as_ref().is_some_and(|(place, _)| *place == QuotePlace::Cited)
        };
        if !is_cited(&best)
            && let Some(unmarked) = self.unmarked(budget)
        {
            best = Self::nearer(best, Self::best(cited, unmarked.hits(&window, budget)));
            best = Self::nearer(best, unmarked.forgiving(&window, cited, budget));
        }
        if !is_cited(&best) {
            let found = interleaved::find(self, &window, budget);
            best = Self::nearer(best, Self::best(cited, found));
        }
        best
    }

    /// The one of two places that is nearer to the cited lines; the first where both are alike.
    fn nearer(
        one: Option<(QuotePlace, QuoteMatch)>,
        other: Option<(QuotePlace, QuoteMatch)>,
    ) -> Option<(QuotePlace, QuoteMatch)> {
        match (&one, &other) {
            (Some((place, _)), Some((nearer, _))) if nearer < place => other,
            (None, _) => other,
            _ => one,
        }
    }

    /// The quote without the marks that a model may have added: digits set high or glued to a word, `(Smith, 2020)`.
    fn unmarked(&self, budget: &mut Budget) -> Option<Self> {
        if !may_hold_glued(self.quote) || !budget.fold(self.quote.len()) {
            return None;
        }
        let (folded, core) = fold_whole(self.quote, true);
        let is_other = folded.len() >= SHORT && folded != self.folded();
        is_other.then(|| Self { finder: Finder::new(&folded).into_owned(), core, ..*self })
    }

    /// Finds a quote between whose lines others stand, around the places of its longest beginnings.
    pub(super) fn interleaved_anywhere(&self, budget: &mut Budget) -> Option<QuoteMatch> {
        let all = 0..self.document.len();
        (self.bytes(&all) <= LOCAL).then(|| interleaved::find(self, &all, budget)).flatten()
    }

    /// The best place among the cited lines; where they are few, it agrees with the published check.
    fn among(&self, cited: &Range<usize>, budget: &mut Budget) -> Option<QuoteMatch> {
        let seen = self.inside(cited, budget);
        let telling = !self.folded().is_empty();
        if telling && seen.as_ref().is_some_and(|found| found.tier <= Tier::Whitespace) {
            return seen;
        }
        match (seen, self.as_published(cited, budget)) {
            (Some(found), Some(_)) => Some(QuoteMatch { tier: found.tier.min(Tier::Whitespace), ..found }),
            (None, published) => published,
            (seen, None) => seen.filter(|_| telling || self.bytes(cited) > LOCAL),
        }
    }

    /// The best place among some lines.
    pub(super) fn inside(&self, lines: &Range<usize>, budget: &mut Budget) -> Option<QuoteMatch> {
        let mut best: Option<QuoteMatch> = None;
        for found in self.hits(lines, budget).into_iter().filter(|found| contains(lines, &found.lines)) {
            if best.as_ref().is_none_or(|best| found.tier < best.tier) {
                best = Some(found);
            }
        }
        best
    }

    /// Finds the quote in some lines, as they are.
    fn hits(&self, lines: &Range<usize>, budget: &mut Budget) -> Vec<QuoteMatch> {
        let len = self.bytes(lines);
        if self.folded().is_empty() {
            return self.literal(lines, budget.scan(len));
        }
        if len <= FEW {
            if !budget.fold(len) {
                return Vec::new();
            }
            let skeleton = FoldedText::of(self.document.lines(), lines.clone(), false);
            return self.first_hits(&skeleton, skeleton.all(), budget);
        }
        if !budget.scan(len) {
            return Vec::new();
        }
        let (skeleton, part) = self.folded_part(lines);
        self.first_hits(skeleton, part, budget)
    }

    /// The part of the folded document that some lines are.
    pub(super) fn folded_part(&self, lines: &Range<usize>) -> (&'d FoldedText, Range<usize>) {
        let skeleton = self.document.skeleton();
        let start = self.document.offset(lines.start).unwrap_or(0);
        (skeleton, skeleton.within(&(start..start + self.bytes(lines))))
    }

    fn first_hits(&self, skeleton: &FoldedText, part: Range<usize>, budget: &mut Budget) -> Vec<QuoteMatch> {
        let paid = skeleton.find(&self.finder, part).take_while(|_| budget.compare(self.quote.len()));
        paid.filter_map(|hit| self.found(skeleton, hit)).take(CLOSE_LOOKS).collect()
    }

    /// Places of a quote without letters and digits: only as it is.
    fn literal(&self, lines: &Range<usize>, allowed: bool) -> Vec<QuoteMatch> {
        let Some(start) = self.document.offset(lines.start).filter(|_| allowed && !self.quote.is_empty()) else {
            return Vec::new();
        };
        let text = self.document.text(lines.clone());
        let hits = memchr::memmem::find_iter(text, self.quote);
        let place = |at: usize| self.at(start + at..start + at + self.quote.len(), Tier::Exact, Vec::new());
        hits.take(CLOSE_LOOKS).map(place).collect()
    }

    /// Finds what the published check finds and the search may not, such as a part of a mark.
    fn as_published(&self, cited: &Range<usize>, budget: &mut Budget) -> Option<QuoteMatch> {
        let text = Some(self.document.text(cited.clone())).filter(|text| text.len() <= LOCAL)?;
        if !budget.spend(text.len() + self.quote.len(), PUBLISHED) {
            return None;
        }
        let holds = [true, false].into_iter().any(|blank_goes| {
            let quote = published(self.quote, blank_goes);
            memchr::memmem::find(&published(text, blank_goes), &quote).is_some()
        });
        let start = self.document.offset(cited.start)?;
        holds.then(|| self.at(start..start + text.len().saturating_sub(1), Tier::Whitespace, Vec::new()))
    }

    /// The best of some places, by how they lie to the cited lines; far ones are left out.
    fn best(cited: &Range<usize>, hits: impl IntoIterator<Item = QuoteMatch>) -> Option<(QuotePlace, QuoteMatch)> {
        let ranked = hits.into_iter().filter_map(|found| {
            let place = if contains(cited, &found.lines) {
                QuotePlace::Cited
            } else if found.lines.start < cited.end && cited.start < found.lines.end {
                QuotePlace::Wider
            } else if distance(cited, &found.lines) <= NEARBY {
                QuotePlace::Nearby
            } else {
                return None;
            };
            Some((place, found))
        });
        ranked.min_by_key(|(place, found)| (*place, found.tier, distance(cited, &found.lines)))
    }

    /// The quote in lines from which footnote numbers, headers, footers and footnotes are left out.
    fn forgiving(
        &self,
        window: &Range<usize>,
        cited: &Range<usize>,
        budget: &mut Budget,
    ) -> Option<(QuotePlace, QuoteMatch)> {
        if self.folded().len() < SHORT || self.bytes(window) > LOCAL {
            return None;
        }
        let mut best = Self::best(cited, self.elided(window, budget));
        if !self.may_be_in(window, budget) {
            return best;
        }
        for way in self.leniently(window, budget) {
            if !budget.fold(self.bytes(window)) {
                break;
            }
            let skeleton = way.folded(self.document);
            let found = Self::best(cited, self.first_hits(&skeleton, skeleton.all(), budget));
            if let Some((place, _)) = &found
                && best.as_ref().is_none_or(|(best, worse)| place < best || worse.tier == Tier::Elided)
            {
                best = found;
            }
            if best.as_ref().is_some_and(|(place, found)| *place == QuotePlace::Cited && found.tier != Tier::Elided) {
                break;
            }
        }
        best
    }

    /// The quote anywhere in a few lines, whatever has to be left out between.
    pub(super) fn leniently_in(&self, lines: &Range<usize>, budget: &mut Budget) -> Option<QuoteMatch> {
        if self.folded().len() < SHORT || self.bytes(lines) > LOCAL {
            return None;
        }
        if !self.may_be_in(lines, budget) {
            return None;
        }
        for way in self.leniently(lines, budget) {
            if !budget.fold(self.bytes(lines)) || !budget.compare(self.quote.len()) {
                break;
            }
            let skeleton = way.folded(self.document);
            let hit = skeleton.find(&self.finder, skeleton.all()).next();
            if let Some(found) = hit.and_then(|hit| self.found(&skeleton, hit)) {
                return Some(found);
            }
        }
        None
    }

    /// Tells whether the quote may be in some lines with something left out between: its letters are there in order.
    pub(super) fn may_be_in(&self, lines: &Range<usize>, budget: &mut Budget) -> bool {
        if !budget.spend(self.bytes(lines), 2) {
            return false;
        }
        let (skeleton, part) = self.folded_part(lines);
        let mut rest = skeleton.text()[part].iter();
        // What stands between digits changes where something is left out.
        let is_kept = |byte: &&u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        self.folded().iter().filter(is_kept).all(|byte| rest.any(|own| own == byte))
    }

    /// The pieces of a quote with an ellipsis, in order, among some lines.
    fn elided(&self, lines: &Range<usize>, budget: &mut Budget) -> Option<QuoteMatch> {
        let parts = self.parts(budget)?;
        if !budget.fold(self.bytes(lines)) {
            return None;
        }
        let skeleton = FoldedText::of(self.document.lines(), lines.clone(), false);
        let mut from = 0;
        let mut bytes: Option<Range<usize>> = None;
        for part in &parts {
            let hit = skeleton.find(&part.finder, from..skeleton.all().end).next()?;
            from = hit.end;
            let place = part.widened(skeleton.place(self.document.lines(), hit)?);
            bytes = Some(bytes.map_or(place.start, |bytes| bytes.start)..place.end);
        }
        Some(self.at(bytes?, Tier::Elided, Vec::new()))
    }

    /// Finds the pieces of a quote with an ellipsis, wherever the longest of them is.
    pub(super) fn elided_anywhere(&self, budget: &mut Budget) -> Option<QuoteMatch> {
        let parts = self.parts(budget)?;
        let longest = parts.iter().max_by_key(|part| part.folded().len())?;
        let skeleton = self.document.skeleton();
        for hit in longest.hits_everywhere(CLOSE_LOOKS, budget)? {
            if !budget.compare(self.quote.len()) {
                return None;
            }
            let Some(found) = longest.found(skeleton, hit) else { continue };
            let lines = self.window(&found.lines);
            let around = lines.start.saturating_sub(ELIDED)..(lines.end + ELIDED).min(self.document.len());
            if self.bytes(&around) <= LOCAL
                && let Some(found) = self.elided(&around, budget)
            {
                return Some(found);
            }
        }
        None
    }

    /// Splits a quote at its ellipses, if there are any and every piece says enough.
    fn parts(&self, budget: &mut Budget) -> Option<Vec<Self>> {
        const DOTS: &[&[u8]] = &["…".as_bytes(), b"..."];
        // Most quotes have none.
        if !DOTS.iter().any(|dots| memchr::memmem::find(self.quote, dots).is_some()) || !budget.fold(self.quote.len()) {
            return None;
        }
        let mut parts = Vec::new();
        let mut rest = self.quote;
        loop {
            let next = DOTS.iter().filter_map(|dots| memchr::memmem::find(rest, dots)).min();
            let (part, after) = rest.split_at_checked(next.unwrap_or(rest.len()))?;
            parts.push(part.trim_ascii_end().strip_suffix(b"[").unwrap_or(part));
            // More pieces than any quote has, with empty ones among them.
            if next.is_none() || parts.len() > 4 * MAX_PIECES {
                break;
            }
            let after = after.strip_prefix("…".as_bytes()).unwrap_or(after);
            let dots = after.iter().take_while(|byte| **byte == b'.').count();
            let after = after.get(dots..)?;
            rest = after.strip_prefix(b"]").unwrap_or(after);
        }
        // An ellipsis at an end leaves out nothing between.
        let parts = parts.into_iter().map(<[u8]>::trim_ascii).filter(|part| !part.is_empty());
        let parts: Vec<Self> = parts.map(|part| Self::new(self.document, part)).take(MAX_PIECES + 1).collect();
        let telling = parts.iter().all(|part| part.folded().len() >= SHORT);
        (telling && (2..=MAX_PIECES).contains(&parts.len())).then_some(parts)
    }

    /// Lists the ways to read some lines, ever more forgiving. One that reads the same as another is left out: to fold
    /// the lines again would find nothing else.
    fn leniently(&self, lines: &Range<usize>, budget: &mut Budget) -> Vec<LenientWay> {
        let breaks = self.document.pages_in(lines).saturating_sub(1);
        let ways = if (1..=MAX_BREAKS).contains(&breaks) { FOOTNOTES + 1 } else { 0 };
        if !budget.spend(self.bytes(lines), 2 + ways as u64) {
            return Vec::new();
        }
        let glued = may_hold_glued(self.document.text(lines.clone()));
        let all: Vec<usize> = lines.clone().collect();
        let mut seen = vec![all.clone()];
        let mut list = Vec::new();
        list.extend(glued.then_some(LenientWay { lines: all, glued: true }));
        for kept in (0..ways).map(|way| self.without_furniture(lines, way)) {
            if !seen.contains(&kept) {
                seen.push(kept.clone());
                list.push(LenientWay { lines: kept.clone(), glued: false });
                list.extend(glued.then_some(LenientWay { lines: kept, glued: true }));
            }
        }
        list
    }

    /// Lists the lines without headers and footers, and without the part from the n-th footnote from below down to the
    /// end of a page.
    fn without_furniture(&self, lines: &Range<usize>, footnotes: usize) -> Vec<usize> {
        let document = self.document;
        let mut kept = Vec::new();
        let mut at = lines.start;
        while at < lines.end {
            let page = document.number(at).and_then(|(page, _)| document.page(page)).unwrap_or(at..at + 1);
            let part = at..page.end.clamp(at + 1, lines.end);
            let text = part.clone().filter(|n| !document.is_furniture(*n));
            // Only what is followed by another page stands between two halves of a sentence.
            let cut = footnotes.checked_sub(1).filter(|_| part.end < lines.end).and_then(|n| {
                let middle = page.start + page.len() / 2;
                let marked = |n: &usize| document.line(*n).is_some_and(is_footnote) && !document.is_furniture(*n);
                part.clone().rev().filter(|n| *n >= middle).filter(marked).nth(n)
            });
            kept.extend(text.filter(|n| cut.is_none_or(|cut| *n < cut)));
            at = part.end;
        }
        kept
    }

    /// Every place in the document.
    pub(super) fn everywhere(&self, cited: Option<&Range<usize>>, budget: &mut Budget) -> Option<Everywhere> {
        let all = 0..self.document.len();
        let mut seen = Everywhere::default();
        let mut take = |found: QuoteMatch| {
            seen.total += 1;
            let key = |found: &QuoteMatch| {
                let distance = cited.map_or(0, |cited| distance(cited, &found.lines));
                (distance > NEARBY, found.tier, distance)
            };
            if seen.best.as_ref().is_none_or(|best| key(&found) < key(best)) {
                seen.best = Some(found.clone());
            }
            if seen.places.len() < MAX_PLACES {
                seen.places.push(found);
            }
            seen.total < MAX_COUNT
        };
        if self.folded().is_empty() {
            if !budget.scan(self.bytes(&all)) {
                return None;
            }
            self.literal(&all, true).into_iter().all(&mut take);
            return Some(seen);
        }
        let skeleton = self.document.skeleton();
        let hits = self.hits_everywhere(MAX_COUNT, budget)?.into_iter();
        let paid = hits.take_while(|_| budget.compare(self.quote.len()));
        let found = paid.filter_map(|hit| self.found(skeleton, hit));
        found.filter(|found| self.folded().len() >= SHORT || self.is_apart(found)).all(&mut take);
        Some(seen)
    }

    /// Finds the folded quote in the whole document, up to a number of times; `None`: too little work is left.
    fn hits_everywhere(&self, most: usize, budget: &mut Budget) -> Option<Vec<Range<usize>>> {
        let skeleton = self.document.skeleton();
        let size = self.document.size();
        let candidates = self.document.tiles().candidates(self.folded()).filter(|found| found.cost() < size);
        if !budget.scan(candidates.as_ref().map_or(size, PossiblePlaces::cost)) {
            return None;
        }
        let Some(candidates) = candidates else {
            return Some(skeleton.find(&self.finder, skeleton.all()).take(most).collect());
        };
        let mut end = 0;
        let mut hits = candidates.holding(skeleton.text());
        // The same as one after another: they do not overlap.
        hits.retain(|hit| {
            let is_apart = hit.start >= end;
            end = if is_apart { hit.end } else { end };
            is_apart
        });
        hits.truncate(most);
        Some(hits)
    }

    /// Tells whether a place begins and ends at word boundaries.
    fn is_apart(&self, found: &QuoteMatch) -> bool {
        let text = |range: Range<usize>| self.document.bytes(range);
        let before = last_char(text(found.bytes.start.saturating_sub(4)..found.bytes.start));
        let first = first_char(text(found.bytes.clone()));
        let last = last_char(text(found.bytes.clone()));
        let after = first_char(text(found.bytes.end..(found.bytes.end + 4).min(self.document.size())));
        let joined = |a: Option<char>, b: Option<char>| a.zip(b).is_some_and(|(a, b)| is_word(a) && is_word(b));
        !joined(before, first) && !joined(last, after)
    }

    /// Maps a hit in folded text to its place in the document.
    fn found(&self, skeleton: &FoldedText, hit: Range<usize>) -> Option<QuoteMatch> {
        let core = self.with_sign(skeleton.place(self.document.lines(), hit)?);
        let exact = core.start.checked_sub(self.core.start).map(|start| start..start + self.quote.len());
        if let Some(exact) = exact.filter(|exact| self.document.bytes(exact.clone()) == self.quote) {
            return Some(self.at(exact, Tier::Exact, Vec::new()));
        }
        let bytes = self.widened(core);
        let lines = self.document.line_at(bytes.start)..self.document.line_at(bytes.end - 1) + 1;
        let skipped = skeleton.missing(self.document.lines(), &lines);
        let text = self.document.bytes(bytes.clone());
        let tier = if !skipped.is_empty() {
            Tier::AcrossPages
        } else if [true, false].into_iter().any(|goes| published(text, goes) == published(self.quote, goes)) {
            Tier::Whitespace
        } else if equal_without_soft_hyphens(text, self.quote) {
            Tier::SoftHyphens
        } else if equal_without_line_hyphens(text, self.quote) {
            Tier::Hyphens
        } else {
            Tier::CaseOrPunctuation
        };
        Some(self.at(bytes, tier, skipped))
    }

    /// A sign cut off before a number, `-106` of `104-106`, is kept between the digits, without a place of its own.
    fn with_sign(&self, core: Range<usize>) -> Range<usize> {
        let sign = first_char(&self.quote[self.core.clone()]).filter(|c| !c.is_alphanumeric());
        let before = last_char(self.document.bytes(0..core.start));
        let own = first_char(self.document.bytes(core.clone()));
        match sign.zip(before) {
            Some((sign, before)) if is_like(sign, before) && own != Some(before) => {
                core.start - before.len_utf8()..core.end
            }
            _ => core,
        }
    }

    pub(super) fn at(&self, bytes: Range<usize>, tier: Tier, skipped: Vec<usize>) -> QuoteMatch {
        at(self.document, bytes, tier, skipped)
    }

    /// Takes in the punctuation at both ends of the quote, where the document has it too.
    fn widened(&self, core: Range<usize>) -> Range<usize> {
        let lead = &self.quote[..self.core.start];
        let trail = &self.quote[self.core.end..];
        let mut start = core.start;
        let wanted: Vec<char> = signs(lead).collect();
        for c in wanted.into_iter().rev() {
            let before = without_marks_behind(self.document.bytes(0..start));
            let Some(last) = last_char(before).filter(|last| is_like(*last, c)) else { break };
            start = before.len() - last.len_utf8();
        }
        let mut end = core.end;
        for c in signs(trail) {
            let after = without_marks_before(self.document.bytes(end..self.document.size()));
            let Some(first) = first_char(after).filter(|first| is_like(*first, c)) else { break };
            end = self.document.size() - after.len() + first.len_utf8();
        }
        start..end
    }
}

/// A text without the blanks and reference marks at its beginning.
fn without_marks_before(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let Some(rest) = marks::reference(text).and_then(|len| text.get(len..)) else { return text };
        text = rest;
    }
}

/// A text without the blanks and reference marks at its end.
fn without_marks_behind(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_end();
        let Some(head) = marks::before_last(text) else { return text };
        text = head;
    }
}

/// The characters of a text that are no blanks.
fn signs(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    let chars = pieces(text).filter_map(|(_, piece)| if let Piece::Char(c) = piece { Some(c) } else { None });
    chars.filter(|c| !c.is_whitespace())
}

pub(super) fn first_char(text: &[u8]) -> Option<char> {
    match pieces(text).next()?.1 {
        Piece::Char(c) => Some(c),
        _ => None,
    }
}

pub(super) fn last_char(text: &[u8]) -> Option<char> {
    (1..=4).find_map(|len| std::str::from_utf8(text.get(text.len().checked_sub(len)?..)?).ok()?.chars().next())
}

/// Tells whether a line begins like a footnote: a number or sign, then a word.
fn is_footnote(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marked = match first_char(line) {
        Some('*' | '†' | '‡' | '§' | '¹' | '²' | '³') => true,
        _ => (1..=3).contains(&digits) && line.get(digits).is_none_or(|byte| !matches!(byte, b',' | b'/' | b'-')),
    };
    marked && line.iter().any(u8::is_ascii_alphabetic)
}

/// Tells whether one range contains the other.
pub(super) fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Measures the distance between two ranges, in lines; 0 where they overlap.
pub(super) fn distance(a: &Range<usize>, b: &Range<usize>) -> usize {
    (b.start + 1).saturating_sub(a.end).max((a.start + 1).saturating_sub(b.end))
}
