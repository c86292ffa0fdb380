//! Resolution of citations: which lines a citation means under every way to count lines, with the quote as judge.
//!
//! A quote is looked for among the cited lines first, then around them, then everywhere. How it was found is a
//! tier, where is a place, and a numbering is named under which the cited numbers would have been right.

use std::borrow::Cow;
use std::ops::Range;

use crate::document::Document;
use crate::folded::published;
use crate::typed::{AnswerItem, Citation, cited_number};
use stepscope_base::json::write::{Json, Raw, Writer};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_base::work;

mod budget;
mod changes;
mod cut;
mod differences;
mod interleaved;
mod letters;
mod near;
mod quote;
mod search;
mod stitched;

pub(crate) use budget::Budget;
use budget::MAX_WORK;
pub use cut::{Cut, cuts};
pub use differences::differences;
pub(crate) use quote::NEARBY;
pub use quote::{NearMatch, QuoteMatch, QuotePlace, Tier};
use search::{Search, contains, distance};
pub use stitched::{StitchedPart, stitched};

/// On so many retrieved pages a page-local number is tried.
const MAX_PAGES: usize = 64;
/// A quote of so many letters and digits does not fit the numbers of a page by chance.
const TELLING: usize = 16;
/// Maximum number of citations of one answer that are resolved; for the rest the place of the quote is undecided.
pub const MAX_SPANS: usize = 4096;
/// Work beyond what the size of a record allows: a tiny one may cite a hundred lines over some pages.
const FOR_CITED: u64 = 800_000;

stepscope_base::words! {
    /// A way to count lines.
    pub enum Numbering {
        /// 0-based over the whole document: what answers are asked for.
        Global0 = "global_0" => "from 0 over the whole document",
        /// 1-based over the whole document.
        Global1 = "global_1" => "from 1 over the whole document",
        /// The number inside the page.
        PageLocal = "page_local" => "within the page",
    }
}

/// Degree to which a citation, or an item by its citations, is grounded. Worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Grounding {
    /// The quote is nowhere in the document, or there is nothing to check.
    Nowhere,
    /// The quote is right, the place is not.
    Misplaced,
    /// No quote is given, or the document was not found.
    Unproven,
    /// The quote is where it was cited.
    Grounded,
}

/// Lines, pages and quote that a citation claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim<'a> {
    /// First and last line, inclusive, as numbers.
    pub lines: (Option<i64>, Option<i64>),
    /// First and last page.
    pub pages: (Option<i64>, Option<i64>),
    /// Quote in the model's words.
    pub quote: Option<&'a [u8]>,
    /// The pages that the model saw.
    pub retrieved: &'a [i64],
}

/// Part of a quote that means something else than the passage that the search takes for equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuoteChange {
    /// The document's words.
    pub text: Vec<u8>,
    /// Part of the quote, in bytes of it without the blanks around it.
    pub quote: Range<usize>,
}

/// Result of resolving a citation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// First and last line as they are claimed.
    pub claimed: (Option<i64>, Option<i64>),
    /// Numbering under which the citation is to be read: page-local where it names pages.
    pub contract: Numbering,
    /// The lines that it cites, as far as they exist, in order.
    pub cited: Option<Range<usize>>,
    /// The lines that its numbers name, also behind the end of the document: distances are measured from these.
    named: Option<Range<usize>>,
    /// True if the first line exists; `None` where no number is given.
    pub start_exists: Option<bool>,
    /// True if the last line exists; `None` where no number is given.
    pub end_exists: Option<bool>,
    /// The last line comes before the first.
    pub reversed: bool,
    /// Place of the quote.
    pub place: QuotePlace,
    /// The place that fits best.
    pub found: Option<QuoteMatch>,
    /// Change of meaning against that place.
    pub changed: Option<QuoteChange>,
    /// The numbering under which the claimed numbers lead to that place.
    pub numbering: Option<Numbering>,
    /// The places that were found, in order; not all where there are many.
    pub places: Vec<QuoteMatch>,
    /// Number of places; counting ends at a thousand.
    pub total: usize,
    /// Place that the quote resembles most, if it was found nowhere.
    pub near: Option<NearMatch>,
    /// Offsets and numbering that would lead to each place, for [`shared_offset`].
    fits: Vec<NumberingFit>,
}

/// Offsets and numbering under which the claimed numbers lead to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NumberingFit {
    /// The offsets, smallest and largest, that lead to it.
    offsets: Option<(i64, i64)>,
    page_local: bool,
}

impl<'a> Claim<'a> {
    /// Reads the claim of a citation. `quote` is its unescaped text.
    pub fn of(citation: &Citation<'_>, quote: Option<&'a [u8]>, retrieved: &'a [i64]) -> Self {
        let lines = (citation.lines.0.and_then(line_number), citation.lines.1.and_then(line_number));
        Self { lines, pages: citation.page_numbers(), quote, retrieved }
    }

    /// The numbering to begin with. A span that names its page counts inside it, unless its lines exist on that page
    /// only when they are counted over the whole document.
    fn contract(&self, document: &Document) -> Numbering {
        let fits = |numbering| {
            let (start, end) = self.lines_exist(document, numbering);
            ![start, end].contains(&Some(false))
        };
        let is_local = self.pages.0.is_some() && (fits(Numbering::PageLocal) || !fits(Numbering::Global0));
        if is_local { Numbering::PageLocal } else { Numbering::Global0 }
    }

    /// Tells whether first and last line exist under a numbering, on their pages if it names some; `None` where no number
    /// is given.
    fn lines_exist(&self, document: &Document, numbering: Numbering) -> (Option<bool>, Option<bool>) {
        let exists = |line: Option<i64>, page| line.map(|line| exists(document, line, page, numbering));
        (exists(self.lines.0, self.pages.0), exists(self.lines.1, self.pages.1.or(self.pages.0)))
    }

    fn first_and_last(&self) -> Option<(i64, i64)> {
        let first = self.lines.0.or(self.lines.1)?;
        Some((first, self.lines.1.unwrap_or(first)))
    }

    /// The cited lines under a numbering, as far as they exist; a range the wrong way round is turned.
    fn cited(&self, document: &Document, numbering: Numbering) -> Option<Range<usize>> {
        if numbering == Numbering::PageLocal {
            return self.cited_on_pages(document).filter(|lines| !lines.is_empty());
        }
        let base = i64::from(numbering == Numbering::Global1);
        let named = self.counted_from(base)?;
        let end = named.end.min(document.len());
        (named.start < end).then_some(named.start..end)
    }

    /// The lines that the numbers name, counted from a base over the whole document, whether they exist or not; a range
    /// the wrong way round is turned.
    fn counted_from(&self, base: i64) -> Option<Range<usize>> {
        let (first, last) = self.first_and_last()?;
        let (first, last) = (first.min(last).saturating_sub(base), first.max(last).saturating_sub(base));
        let start = usize::try_from(first.max(0)).ok()?;
        Some(start..usize::try_from(last).ok()?.saturating_add(1))
    }

    /// The lines that distances are measured from. The last line of a document, counted from 1, is one behind its end,
    /// and as near as any other that is counted so; farther behind nothing is near.
    fn named(&self, document: &Document, numbering: Numbering, cited: Option<&Range<usize>>) -> Option<Range<usize>> {
        let named = self.counted_from(0).filter(|_| numbering == Numbering::Global0);
        named.filter(|named| named.start < document.len() + NEARBY).or_else(|| cited.cloned())
    }

    fn cited_on_pages(&self, document: &Document) -> Option<Range<usize>> {
        let first_page = self.pages.0?;
        let last_page = self.pages.1.unwrap_or(first_page);
        let (first, last) = self.first_and_last().unwrap_or((i64::MIN, i64::MAX));
        let reversed = (last_page, last) < (first_page, first);
        let ((first_page, first), (last_page, last)) =
            if reversed { ((last_page, last), (first_page, first)) } else { ((first_page, first), (last_page, last)) };
        if first_page == last_page {
            return Some(document.on_page(first_page, first, last));
        }
        let start = document.lines_before(first_page, first);
        let end = document.lines_before(last_page, last.saturating_add(1));
        Some(start..end.max(start))
    }

    /// Tells whether the last line comes before the first.
    pub fn is_reversed(&self) -> bool {
        let (Some(first), Some(last)) = self.lines else { return false };
        let page = self.pages.0;
        (self.pages.1.or(page), last) < (page, first)
    }

    /// Determines the offsets and numbering under which the claimed numbers lead to some lines.
    fn fit(&self, document: &Document, named: Option<&Range<usize>>, lines: &Range<usize>) -> NumberingFit {
        let local = || {
            let (first, last) = self.first_and_last()?;
            let (page, start) = document.number(lines.start)?;
            let (last_page, end) = document.number(lines.end.checked_sub(1)?)?;
            let pages = self.pages.0.is_none_or(|first| (first..=self.pages.1.unwrap_or(first)).contains(&page));
            Some(pages && page == last_page && start >= first && (end <= last || start == first))
        };
        let offsets = named.map(|named| {
            let at = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            let (first, last) = (at(lines.start) - at(named.start), at(lines.end) - at(named.end));
            (first.min(last), first.max(last))
        });
        NumberingFit { offsets, page_local: local().unwrap_or(false) }
    }
}

/// Tells whether a line exists under a numbering, on a page if one is named.
fn exists(document: &Document, line: i64, page: Option<i64>, numbering: Numbering) -> bool {
    match page {
        Some(page) if numbering == Numbering::PageLocal => !document.on_page(page, line, line).is_empty(),
        _ => {
            let row = usize::try_from(line).ok().and_then(|row| document.number(row));
            row.is_some_and(|(own, _)| page.is_none_or(|page| page == own))
        }
    }
}

/// A line's number as lenient readers take it; one that is too large for counting is the largest.
fn line_number(value: Value<'_>) -> Option<i64> {
    cited_number(value).or_else(|| {
        let number = value.float().filter(|_| value.kind() == Kind::Int)?;
        Some(if number < 0.0 { i64::MIN } else { i64::MAX })
    })
}

/// Resolves one citation.
pub fn resolve(document: &Document, claim: &Claim<'_>) -> Resolution {
    resolve_within(document, claim, &mut Budget::default())
}

/// Resolves one citation; text looked through far from the cited lines comes off a budget.
pub(crate) fn resolve_within(document: &Document, claim: &Claim<'_>, budget: &mut Budget) -> Resolution {
    let mut resolution = Resolution::unsought(document, claim);
    // A quote of nothing but blanks and marks says nothing.
    let says = |quote: &&[u8]| !published(quote, true).is_empty();
    let contract = resolution.contract;
    if let Some(found) = claim.quote.map(trimmed).filter(says).and_then(|quote| {
        let cited = claim.cited(document, contract)?;
        search::byte_for_byte(document, quote, &cited, budget)
    }) {
        resolution.settle(document, claim, QuotePlace::Cited, found, budget);
        return resolution;
    }
    // What it says has to be read first; a span that cites nothing of it costs a little too.
    if !budget.spend(1, 2_000) || !budget.fold(2 * claim.quote.map_or(0, <[u8]>::len)) {
        if claim.quote.is_some() {
            resolution.place = QuotePlace::Undecided;
        }
        return resolution;
    }
    let Some(quote) = claim.quote.map(trimmed).filter(says) else { return resolution };
    let search = Search::new(document, quote);
    let mut beside = None;
    // Where a span names pages and lines, the quote tells how these are counted.
    let other = match resolution.contract {
        Numbering::PageLocal => Some(Numbering::Global0),
        _ => claim.pages.0.map(|_| Numbering::PageLocal),
    };
    for numbering in std::iter::once(resolution.contract).chain(other) {
        let Some(cited) = claim.cited(document, numbering) else { continue };
        match search.around(&cited, budget) {
            Some((QuotePlace::Cited, found)) => {
                resolution.read_as(document, claim, numbering, cited);
                resolution.settle(document, claim, QuotePlace::Cited, found, budget);
                return resolution;
            }
            seen if numbering == resolution.contract => beside = seen,
            _ => {}
        }
    }
    let on_page = claim.on_retrieved_pages(document).find_map(|lines| search.inside(&lines, budget));
    if budget.is_out {
        resolution.place = QuotePlace::Undecided;
        return resolution;
    }
    if let Some((place, found)) = beside {
        resolution.places = on_page.into_iter().collect();
        resolution.settle(document, claim, place, found, budget);
        return resolution;
    }
    resolution.look_everywhere(&search, claim, on_page, budget);
    resolution
}

impl Claim<'_> {
    /// The lines that the claimed numbers mean on each page that the model saw.
    fn on_retrieved_pages<'s>(&'s self, document: &'s Document) -> impl Iterator<Item = Range<usize>> + 's {
        let lines = self.first_and_last().filter(|_| self.pages.0.is_none());
        let pages = self.retrieved.iter().take(MAX_PAGES);
        let on = move |page: &i64| lines.map(|(first, last)| document.on_page(*page, first.min(last), first.max(last)));
        pages.filter_map(on).filter(|lines| !lines.is_empty())
    }
}

fn trimmed(quote: &[u8]) -> &[u8] {
    match std::str::from_utf8(quote) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => quote.trim_ascii(),
    }
}

/// Counts the bytes of blanks before a quote: places in it are counted from behind them.
pub fn blanks_before(quote: &[u8]) -> usize {
    let rest = match std::str::from_utf8(quote) {
        Ok(text) => text.trim_start().len(),
        Err(_) => quote.trim_ascii_start().len(),
    };
    quote.len() - rest
}

/// Finds what a quote changes against the place where it was found. What the published check sees through changes nothing.
fn change_of(document: &Document, claim: &Claim<'_>, found: &QuoteMatch, budget: &mut Budget) -> Option<QuoteChange> {
    let quote = claim.quote.map(trimmed)?;
    if found.tier <= Tier::Whitespace || found.tier == Tier::Elided || !budget.fold(2 * quote.len()) {
        return None;
    }
    let text = found.text(document);
    let (before, after) = (0..found.bytes.start, found.bytes.end..document.size());
    let mut is_word = |word: &str| {
        let in_part = |part: &Range<usize>| has_word(document.bytes(part.clone()), word.as_bytes());
        budget.scan(document.size()) && [&before, &after].into_iter().any(in_part)
    };
    let change = changes::changed(&text, quote, &mut is_word)?;
    Some(QuoteChange { text: text.get(change.text)?.to_vec(), quote: change.quote })
}

/// Tells whether a word stands in a text.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    memchr::memmem::find_iter(text, word).any(|at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !is_letter(before) && !is_letter(text.get(at + word.len()))
    })
}

impl Resolution {
    /// Resolves as much of a claim as is possible without looking for the quote.
    fn unsought(document: &Document, claim: &Claim<'_>) -> Self {
        let contract = claim.contract(document);
        let cited = claim.cited(document, contract);
        let (start_exists, end_exists) = claim.lines_exist(document, contract);
        Self {
            claimed: claim.lines,
            contract,
            start_exists,
            end_exists,
            reversed: claim.is_reversed(),
            place: if cited.is_some() && start_exists != Some(false) {
                QuotePlace::NoQuote
            } else {
                QuotePlace::NotInDoc
            },
            named: claim.named(document, contract, cited.as_ref()),
            cited,
            found: None,
            changed: None,
            numbering: None,
            places: Vec::new(),
            total: 0,
            near: None,
            fits: Vec::new(),
        }
    }

    /// Reads the numbers as the quote says. A line that exists under either numbering is never said to be missing.
    fn read_as(&mut self, document: &Document, claim: &Claim<'_>, numbering: Numbering, cited: Range<usize>) {
        let either = |one: Option<bool>, other: Option<bool>| one.zip(other).map(|(one, other)| one || other);
        let (start, end) = claim.lines_exist(document, numbering);
        (self.start_exists, self.end_exists) = (either(self.start_exists, start), either(self.end_exists, end));
        (self.contract, self.named, self.cited) = (numbering, Some(cited.clone()), Some(cited));
    }

    fn settle(
        &mut self,
        document: &Document,
        claim: &Claim<'_>,
        place: QuotePlace,
        found: QuoteMatch,
        budget: &mut Budget,
    ) {
        self.changed = change_of(document, claim, &found, budget);
        self.place = place;
        if !self.places.iter().any(|other| other.bytes == found.bytes) {
            self.places.push(found.clone());
            self.places.sort_by_key(|found| found.bytes.start);
        }
        self.total = self.total.max(self.places.len());
        let fit = |found: &QuoteMatch| claim.fit(document, self.named.as_ref(), &found.lines);
        self.fits = self.places.iter().map(fit).collect();
        self.numbering = self.numbering_of(place, fit(&found));
        self.found = Some(found);
    }

    fn numbering_of(&self, place: QuotePlace, fit: NumberingFit) -> Option<Numbering> {
        if place == QuotePlace::Cited {
            return Some(self.contract);
        }
        let off = |by: i64| fit.offsets.is_some_and(|(least, most)| (least..=most).contains(&by));
        if self.contract == Numbering::PageLocal {
            return fit.page_local.then_some(Numbering::PageLocal);
        }
        if off(0) {
            Some(Numbering::Global0)
        } else if off(-1) {
            Some(Numbering::Global1)
        } else {
            fit.page_local.then_some(Numbering::PageLocal)
        }
    }

    fn look_everywhere(
        &mut self,
        search: &Search<'_>,
        claim: &Claim<'_>,
        on_page: Option<QuoteMatch>,
        budget: &mut Budget,
    ) {
        let document = search.document;
        let seen = search.everywhere(self.measured_from(), budget);
        let searched = seen.is_some() && !budget.is_out;
        let seen = seen.unwrap_or_default();
        (self.places, self.total) = (seen.places, seen.total);
        // The page-local reading explains the numbers; the nearest place only stands there. A few letters prove nothing.
        let local = |found: &&QuoteMatch| claim.fit(document, None, &found.lines).page_local;
        let telling = claim.pages.0.is_none() && search.folded().len() >= TELLING;
        let explained = self.places.iter().find(local).filter(|_| telling).cloned();
        // Lines that exist were looked around before; those behind the end have neighbours too.
        let is_near = |found: &&QuoteMatch| self.place_of(document, found) == QuotePlace::Nearby;
        let nearby = seen.best.as_ref().filter(|_| self.cited.is_none()).filter(is_near).cloned();
        if let Some(found) = nearby.or(on_page).or(explained).or(seen.best) {
            let place = self.place_of(document, &found);
            self.settle(document, claim, place, found, budget);
            return;
        }
        if let Some(found) = searched.then(|| search.elided_anywhere(budget)).flatten() {
            let place = self.place_of(document, &found);
            self.settle(document, claim, place, found, budget);
            return;
        }
        let near = near::nearest(search, self.cited.as_ref(), budget);
        let lenient = near.as_ref().and_then(|(_, region)| search.leniently_in(region, budget));
        match lenient.or_else(|| search.interleaved_anywhere(budget)) {
            Some(found) => {
                let place = self.place_of(document, &found);
                self.settle(document, claim, place, found, budget);
            }
            // What was not looked through to the end may hold it.
            None if budget.is_out => self.place = QuotePlace::Unsearched,
            None => (self.place, self.near) = (QuotePlace::Nowhere, near.map(|(near, _)| near)),
        }
    }

    /// The lines from which others are near or far: the cited ones, else those behind the end that are named.
    fn measured_from(&self) -> Option<&Range<usize>> {
        self.cited.as_ref().or(self.named.as_ref())
    }

    fn place_of(&self, document: &Document, found: &QuoteMatch) -> QuotePlace {
        let Some(cited) = self.measured_from() else { return QuotePlace::Elsewhere };
        if contains(cited, &found.lines) {
            return QuotePlace::Cited;
        }
        let pages = document.pages_of(cited);
        let other = pages.zip(found.pages).is_some_and(|(cited, found)| found.1 < cited.0 || cited.1 < found.0);
        match distance(cited, &found.lines) {
            0 => QuotePlace::Wider,
            lines if lines <= NEARBY => QuotePlace::Nearby,
            _ if other => QuotePlace::OtherPage,
            _ => QuotePlace::Elsewhere,
        }
    }

    /// Words the cited lines: as they are claimed, and which of them the document has.
    pub fn cited_in_words(&self, document: &Document) -> Shown {
        let claimed = match self.claimed {
            (Some(first), Some(last)) if first != last => format!("lines {first}-{last}"),
            (Some(line), _) | (None, Some(line)) => format!("line {line}"),
            (None, None) => String::new(),
        };
        match self.cited.as_ref().map(|cited| lines_in_words(document, cited)) {
            None if claimed.is_empty() => Shown::own("no such line"),
            None => shown!("{claimed}: no such line"),
            Some(here) if self.is_partly_missing() => shown!("{claimed}, of which the document has {here}"),
            Some(here) if self.reversed => shown!("{claimed}, the wrong way round: {here}"),
            Some(here) => here,
        }
    }

    /// Tells whether the document has only some of the cited lines.
    fn is_partly_missing(&self) -> bool {
        if self.contract == Numbering::PageLocal {
            return [self.start_exists, self.end_exists].contains(&Some(false));
        }
        let (first, last) = self.claimed;
        let claimed = first.or(last).zip(last.or(first)).map(|(first, last)| last.abs_diff(first).saturating_add(1));
        claimed.zip(self.cited.as_ref()).is_some_and(|(claimed, cited)| claimed != cited.len() as u64)
    }

    /// The lines that the quote proves to be meant: the cited ones where they hold it, else those where it is found.
    fn proven(&self) -> Option<&Range<usize>> {
        let found = self.found.as_ref()?;
        self.cited.as_ref().filter(|_| self.is_grounded()).or(Some(&found.lines))
    }

    /// Tells whether the quote is in the cited lines, however it is written, and means there what it says.
    pub fn is_grounded(&self) -> bool {
        self.place == QuotePlace::Cited && self.changed.is_none()
    }

    /// Tells whether there was a quote to look for.
    pub fn has_quote(&self) -> bool {
        !matches!(self.place, QuotePlace::NoQuote | QuotePlace::NotInDoc)
    }

    /// Tells whether the published check passes: it finds the quote in the cited lines, or there is none to find.
    pub fn is_published_ok(&self) -> bool {
        let seen = self.found.as_ref().is_some_and(|found| found.tier <= Tier::Whitespace);
        !self.has_quote() || (self.is_grounded() && seen && !self.reversed)
    }

    /// Returns the distance of the found place from the cited one, in lines; negative if it comes before.
    pub fn offset(&self) -> Option<i64> {
        let (found, named) = (self.found.as_ref()?, self.named.as_ref()?);
        Some(i64::try_from(found.lines.start).ok()? - i64::try_from(named.start).ok()?)
    }

    /// Determines how well the citation is grounded.
    pub fn grounding(&self) -> Grounding {
        match self.place {
            _ if self.changed.is_some() => Grounding::Unproven,
            QuotePlace::Cited => Grounding::Grounded,
            QuotePlace::NoQuote | QuotePlace::Unsearched | QuotePlace::Undecided => Grounding::Unproven,
            QuotePlace::Wider | QuotePlace::Nearby | QuotePlace::OtherPage | QuotePlace::Elsewhere => {
                Grounding::Misplaced
            }
            QuotePlace::Nowhere | QuotePlace::NotInDoc => Grounding::Nowhere,
        }
    }

    /// Describes the result in a few words, short enough to fit next to the cited lines.
    pub fn phrase(&self) -> Shown {
        match self.place {
            _ if self.changed.is_some() => Shown::own("changed"),
            QuotePlace::Cited => shown!("{}", self.word().replace('_', " ")),
            QuotePlace::Wider => Shown::own("runs beyond the cited lines"),
            QuotePlace::Nearby => match self.offset() {
                Some(by) if by != 0 => {
                    let lines = if by.abs() == 1 { "line" } else { "lines" };
                    shown!("found {} {lines} {}", by.unsigned_abs(), if by < 0 { "above" } else { "below" })
                }
                _ => Shown::own("found near the cited lines"),
            },
            QuotePlace::OtherPage | QuotePlace::Elsewhere => match self.found.as_ref().and_then(|found| found.pages) {
                Some((page, _)) => shown!("found on page {page}"),
                None => Shown::own("found elsewhere"),
            },
            QuotePlace::Nowhere => match &self.near {
                Some(near) if near.by_letters => shown!("not found ({} % of the letters)", near.similarity),
                Some(near) => shown!("not found (closest {} %)", near.similarity),
                None => Shown::own("not found"),
            },
            QuotePlace::Unsearched => Shown::own("undecided (search limit reached)"),
            QuotePlace::Undecided => Shown::own("undecided"),
            QuotePlace::NoQuote => Shown::own("no quote"),
            QuotePlace::NotInDoc => Shown::own("no such line"),
        }
    }

    /// Names the result in one word: the tier if the quote is in its lines, else its place.
    pub fn word(&self) -> &'static str {
        match self.place {
            _ if self.changed.is_some() => "changed",
            QuotePlace::Cited => self.found.as_ref().map_or("exact", |found| found.tier.word()),
            QuotePlace::Wider => "wider_range",
            QuotePlace::Nearby => "off_by",
            QuotePlace::OtherPage => "other_page",
            QuotePlace::Elsewhere => "elsewhere",
            QuotePlace::Nowhere => "nowhere",
            QuotePlace::Unsearched | QuotePlace::Undecided => "undecided",
            QuotePlace::NoQuote => "no_quote",
            QuotePlace::NotInDoc => "not_in_doc",
        }
    }
}

/// An object: `word`, `tier`, `numbering`, `offset`, `cited`, `found`, `places`, `total`, `near`. Lines are 0-based
/// over the whole document.
impl Json for Resolution {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.object(|object| {
            object.put("word", self.word()).put("tier", self.found.as_ref().map(|found| found.tier.word()));
            object.put("numbering", self.numbering.map(Numbering::word)).put("offset", self.offset());
            object.put("cited", self.cited.as_ref().map(|lines| LinesJson(lines, None, None)));
            object.put("found", self.found.as_ref().map(|found| LinesJson(&found.lines, found.pages, None)));
            if self.total > 1 {
                let places = self.places.iter().map(|found| LinesJson(&found.lines, found.pages, None));
                object.list("places", places).put("total", self.total);
            }
            object.maybe(
                "near",
                self.near.as_ref().map(|near| LinesJson(&near.lines, near.pages, Some(near.similarity))),
            );
        });
    }
}

/// Lines of a document, the pages that were named with them, and how alike they are, in per cent.
struct LinesJson<'a>(&'a Range<usize>, Option<(i64, i64)>, Option<u8>);

impl Json for LinesJson<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        let Self(lines, pages, similarity) = self;
        writer.object(|object| {
            object.put("line_start", lines.start).put("line_end", lines.end.saturating_sub(1));
            object.maybe("page_start", pages.map(|pages| pages.0)).maybe("page_end", pages.map(|pages| pages.1));
            object.maybe("similarity", similarity.map(|per_cent| Raw((f64::from(per_cent) / 100.0).to_string())));
        });
    }
}

/// Lines and pages in words: `line 267 (page 6, line 33)`, `lines 83-85 (page 5, lines 32-34)`.
pub fn lines_in_words(document: &Document, lines: &Range<usize>) -> Shown {
    let (first, last) = (lines.start, lines.end.saturating_sub(1));
    let (Some((page, from)), Some((last_page, to))) = (document.number(first), document.number(last)) else {
        return Shown::own("no line");
    };
    if first == last {
        shown!("line {first} (page {page}, line {from})")
    } else if page == last_page {
        shown!("lines {first}-{last} (page {page}, lines {from}-{to})")
    } else {
        shown!("lines {first}-{last} (page {page}, line {from} to page {last_page}, line {to})")
    }
}

/// Some bytes of a document's text, line by line: the line and the bytes in it.
pub fn parts(document: &Document, bytes: &Range<usize>) -> Vec<(usize, Range<usize>)> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let part = |n: usize| {
        let start = document.offset(n)?;
        let end = start + document.line(n)?.len();
        let (from, to) = (bytes.start.max(start), bytes.end.min(end));
        (from < to).then(|| (n, from - start..to - start))
    };
    (document.line_at(bytes.start)..=document.line_at(bytes.end - 1)).filter_map(part).collect()
}

impl QuoteMatch {
    /// Tells whether what stands between the parts of the quote may be a condition of it.
    pub fn may_omit_condition(&self, document: &Document) -> bool {
        match self.tier {
            Tier::Elided => true,
            Tier::Interleaved => interleaved::may_omit_condition(document, self),
            _ => false,
        }
    }

    /// The document's text there, without what does not belong to the quote.
    pub(crate) fn text<'d>(&self, document: &'d Document) -> Cow<'d, [u8]> {
        if self.skipped.is_empty() && self.left_out.is_empty() {
            return Cow::Borrowed(document.bytes(self.bytes.clone()));
        }
        let mut text = Vec::new();
        for (n, part) in self.parts(document) {
            if !text.is_empty() {
                text.push(b'\n');
            }
            text.extend_from_slice(&document[n][part]);
        }
        Cow::Owned(text)
    }

    /// Lists the bytes that belong to the quote, line by line: the line and the bytes in it.
    pub fn parts(&self, document: &Document) -> Vec<(usize, Range<usize>)> {
        let mut from = self.bytes.start;
        let mut list = Vec::new();
        for gap in &self.left_out {
            list.extend(parts(document, &(from..gap.start.max(from))));
            from = gap.end.max(from);
        }
        list.extend(parts(document, &(from..self.bytes.end.max(from))));
        list.retain(|(n, _)| !self.skipped.contains(n));
        list
    }
}

/// Returns the text of the document to which a citation leads: the quote's place if it was found, else the cited lines.
/// Never the model's words.
pub fn recovered<'d>(document: &'d Document, resolution: &Resolution) -> Option<Cow<'d, [u8]>> {
    let Some(found) = &resolution.found else {
        let lines = resolution.cited.clone()?;
        let text = document.text(lines);
        return Some(Cow::Borrowed(text.strip_suffix(b"\n").unwrap_or(text)));
    };
    Some(found.text(document))
}

/// Mistake that explains the numbers of all citations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedMistake {
    /// Every quote is so many lines behind its number; -1: counted from 1.
    Offset(i64),
    /// The numbers count inside the page.
    PageLocal,
}

/// Finds the mistake that explains all citations with a quote of an answer, if one does: there are two or more, each
/// is found, and not all where they should be.
pub fn shared_offset<'r>(resolutions: impl IntoIterator<Item = &'r Resolution>) -> Option<SharedMistake> {
    /// Maximum number of offsets that are tried.
    const MAX_OFFSETS: usize = 256;
    let quoted: Vec<&Resolution> = resolutions.into_iter().filter(|resolution| resolution.has_quote()).collect();
    let lost = |resolution: &&Resolution| resolution.fits.is_empty() || resolution.contract == Numbering::PageLocal;
    if quoted.len() < 2 || quoted.iter().any(lost) || quoted.iter().all(|resolution| resolution.is_grounded()) {
        return None;
    }
    if quoted.iter().all(|resolution| resolution.fits.iter().any(|fit| fit.page_local)) {
        return Some(SharedMistake::PageLocal);
    }
    let bounds = quoted.iter().flat_map(|resolution| resolution.fits.iter().filter_map(|fit| fit.offsets));
    let mut offsets: Vec<i64> = bounds.flat_map(|(least, most)| [least, most]).take(MAX_OFFSETS).collect();
    offsets.push(-1);
    offsets.sort_by_key(|offset| (*offset != -1, offset.unsigned_abs(), *offset));
    offsets.dedup();
    let leads = |by: i64| {
        let fits = |fit: &NumberingFit| fit.offsets.is_some_and(|(least, most)| (least..=most).contains(&by));
        quoted.iter().all(|resolution| resolution.fits.iter().any(fits))
    };
    offsets.into_iter().filter(|by| *by != 0).find(|by| leads(*by)).map(SharedMistake::Offset)
}

/// Citation of an answer and its resolution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedCitation {
    /// The number of its item.
    pub item: usize,
    /// Position of the citation in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// Position among the values of the record, by which it is looked up.
    index: usize,
    /// Result of resolving it.
    pub resolution: Resolution,
}

/// Resolves the citations of all items of a record of some bytes, in order; at most [`MAX_SPANS`].
pub fn resolve_all(
    document: &Document,
    (items, retrieved): (&[AnswerItem<'_>], &[i64]),
    size: usize,
) -> Vec<ResolvedCitation> {
    let mut budget = Budget::of((work::allowance(size) + FOR_CITED).min(MAX_WORK));
    let citations = items.iter().enumerate().flat_map(|(n, item)| item.citations.iter().map(move |span| (n, span)));
    // What is not resolved is counted by the rule of what is undecided.
    let resolved = citations.take(MAX_SPANS).map(|(item, citation)| {
        let quote = citation.quote.and_then(Value::string);
        let claim = Claim::of(citation, quote.as_ref().map(Untrusted::bytes), retrieved);
        let resolution = resolve_within(document, &claim, &mut budget);
        ResolvedCitation { item, pointer: citation.pointer.clone(), index: citation.root.index(), resolution }
    });
    resolved.collect()
}

/// The lines that the numbers of a citation name: counted over all pages from 0, or inside of its page where it names one.
fn lines_named(citation: &Citation<'_>, document: &Document) -> Option<Range<usize>> {
    let (first, last) = citation.line_numbers();
    let first = first?;
    let last = last.unwrap_or(first);
    let place = |page: Option<i64>, line: i64| {
        let within = |page: i64| {
            let lines = document.page(page)?;
            let at = lines.start.checked_add(usize::try_from(line.checked_sub(1)?).ok()?)?;
            lines.contains(&at).then_some(at)
        };
        // A page beside lines that do not fit into it: the lines are counted over all pages.
        page.and_then(within).or_else(|| usize::try_from(line).ok()).filter(|at| *at < document.len())
    };
    let (page, last_page) = citation.page_numbers();
    let (start, end) = (place(page, first)?, place(last_page.or(page), last)?);
    (start <= end).then(|| start..end.saturating_add(1))
}

/// The lines that a citation means: where its quote is found, whatever the numbers count; without one, the lines that they
/// name. `resolved` are the citations of its record.
pub fn meant_lines(
    citation: &Citation<'_>,
    resolved: &[ResolvedCitation],
    document: &Document,
) -> Option<Range<usize>> {
    // They stand in the order of the record.
    let at = resolved.binary_search_by_key(&citation.root.index(), |own| own.index).ok();
    let own = at.and_then(|at| resolved.get(at)).and_then(|own| own.resolution.proven());
    own.cloned().or_else(|| lines_named(citation, document))
}

/// Tells whether an item has a quote.
pub fn has_item_quote(cited: &[ResolvedCitation], item: usize) -> bool {
    let from = cited.partition_point(|cited| cited.item < item);
    cited.iter().skip(from).take_while(|cited| cited.item == item).any(|cited| cited.resolution.has_quote())
}

/// Tells whether the evidence of an item holds: it has a quote, and every quote is in its cited lines.
pub fn is_item_grounded(cited: &[ResolvedCitation], item: usize) -> bool {
    // They stand in the order of the items.
    let from = cited.partition_point(|cited| cited.item < item);
    let own = cited.iter().skip(from).take_while(|cited| cited.item == item);
    let mut quoted = own.filter(|cited| cited.resolution.has_quote()).peekable();
    quoted.peek().is_some() && quoted.all(|cited| cited.resolution.is_grounded())
}

#[cfg(test)]
mod tests;
