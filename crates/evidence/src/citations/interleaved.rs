//! Quotes between whose lines others stand: columns that were read across, line numbers, cells, a heading that stands on
//! one page alone. The text is cut into segments, and those of the quote follow each other with others between.

use std::ops::Range;

use super::budget::Budget;
use super::quote::{QuoteMatch, Tier};
use super::search::Search;
use crate::document::Document;
use crate::folded::Trace;

/// In more text, in bytes, nothing is looked for between others.
const MAX_TEXT: usize = 64 << 10;
/// A quote of fewer letters and digits would be put together by chance.
const MIN_QUOTE: usize = 16;
/// Least letters and digits of a segment that begin a quote, unless they are all of it.
const MIN_START: usize = 4;
/// Most segments in a row that are passed over: heads and feet, other cells of a line, other lines.
const MAX_GAP: usize = 8;
const MAX_CELLS: usize = 3;
const MAX_LINES: usize = 1;
/// Most steps of one search.
const MAX_STEPS: usize = 20_000;
/// A line at the edge of a page: of a page's head or foot.
const EDGE: usize = 4;
/// A longer line is no head or foot.
const MAX_HEAD: usize = 80;

/// Part of a line that stands apart: all of it, a cell, a line's number.
struct Segment {
    line: usize,
    /// Bytes of the document's text.
    bytes: Range<usize>,
    trace: Trace,
    /// It ends with a hyphen.
    is_divided: bool,
    kind: SegmentKind,
}

/// Kind of a segment that is none of the quote.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SegmentKind {
    /// A number, or a head or foot of a page.
    Foreign,
    /// One of several on its line.
    Cell,
    /// A line of text.
    Line,
}

/// A search through segments.
struct Walk {
    quote: Trace,
    segments: Vec<Segment>,
    steps: usize,
}

/// Finds a quote in some lines with other lines or cells between its own.
pub(super) fn find(search: &Search<'_>, lines: &Range<usize>, budget: &mut Budget) -> Option<QuoteMatch> {
    let document = search.document;
    let size = document.text(lines.clone()).len();
    if search.folded().len() < MIN_QUOTE || size > MAX_TEXT || !search.may_be_in(lines, budget) {
        return None;
    }
    if !budget.fold(size + search.quote.len()) {
        return None;
    }
    let (quote, segments) = (Trace::of(search.quote, false), segments(document, lines));
    let mut walk = Walk { quote, segments, steps: 0 };
    let path = walk.path(document, budget)?;
    walk.found(search, &path)
}

impl Walk {
    /// The segments of the quote: each with how much of the quote ends with it.
    fn path(&mut self, document: &Document, budget: &mut Budget) -> Option<Vec<(usize, usize)>> {
        for first in 0..self.segments.len() {
            for taken in self.beginnings(document, first) {
                let before = self.steps;
                let path = self.follow(document, first, taken);
                if path.is_some() {
                    return path;
                }
                if self.steps > MAX_STEPS || !budget.spend(self.steps - before, 16) {
                    return None;
                }
            }
        }
        None
    }

    /// Counts how much of the quote a segment may end with, if it begins in it.
    fn beginnings(&self, document: &Document, first: usize) -> Vec<usize> {
        let Some(segment) = self.segments.get(first) else { return Vec::new() };
        let own = &segment.trace;
        let is_beginning = |at: &usize| {
            let rest = &own.bytes[*at..];
            rest.len() < self.quote.bytes.len()
                && (rest.len() >= MIN_START || *at == 0)
                && self.quote.bytes.starts_with(rest)
                && is_word_edge(document, segment, *at)
                && self.is_edge(rest.len(), segment)
        };
        (0..own.bytes.len()).filter(is_beginning).map(|at| own.bytes.len() - at).collect()
    }

    fn follow(&mut self, document: &Document, first: usize, taken: usize) -> Option<Vec<(usize, usize)>> {
        let mut path = vec![(first, taken)];
        let mut next = first + 1;
        while let Some(&(last, at)) = path.last() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return None;
            }
            if next < self.segments.len() && self.may_pass(last + 1..next) {
                if let Some(at) = self.advance(document, next, at) {
                    path.push((next, at));
                    if at == self.quote.bytes.len() {
                        return Some(path);
                    }
                }
                next += 1;
            } else {
                // It led nowhere: the last one is passed over.
                path.pop();
                next = last + 1;
            }
        }
        None
    }

    /// Tells whether some segments may stand between two of a quote.
    fn may_pass(&self, between: Range<usize>) -> bool {
        let passed = &self.segments[between];
        let count = |kind| passed.iter().filter(|segment| segment.kind == kind).count();
        passed.len() <= MAX_GAP && count(SegmentKind::Line) <= MAX_LINES && count(SegmentKind::Cell) <= MAX_CELLS
    }

    /// Counts how much of the quote there is with one more segment, if it goes on there.
    fn advance(&self, document: &Document, next: usize, mut at: usize) -> Option<usize> {
        let segment = self.segments.get(next)?;
        let (own, quote) = (segment.trace.bytes.as_slice(), self.quote.bytes.as_slice());
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        // Between digits the quote has what stands there.
        if is_digit(own.first())
            && is_digit(quote.get(at.checked_sub(1)?))
            && quote.get(at).is_some_and(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
        {
            at += 1;
        }
        let rest = quote.get(at..)?;
        if own.is_empty() || rest.is_empty() {
            return None;
        }
        if own.starts_with(rest) {
            return is_word_edge(document, segment, rest.len()).then_some(quote.len());
        }
        (rest.starts_with(own) && self.is_edge(at + own.len(), segment)).then_some(at + own.len())
    }

    /// Tells whether a word of the quote ends at a place where a segment ends, or is divided there.
    fn is_edge(&self, at: usize, segment: &Segment) -> bool {
        let edges = at.checked_sub(1).and_then(|last| self.quote.from.get(last)).zip(self.quote.from.get(at));
        let is_apart = edges.is_none_or(|(before, behind)| before.end < behind.start);
        is_apart || segment.is_divided
    }

    fn found(&self, search: &Search<'_>, path: &[(usize, usize)]) -> Option<QuoteMatch> {
        let (first, taken) = path.first()?;
        let (last, whole) = path.last()?;
        let before = path.len().checked_sub(2).and_then(|n| path.get(n)).map_or(0, |(_, at)| *at);
        let (first_segment, last_segment) = (self.segments.get(*first)?, self.segments.get(*last)?);
        let start = first_segment.trace.from.get(first_segment.trace.bytes.len().checked_sub(*taken)?)?.start;
        // Between digits one byte of the quote is none of the segment.
        let used = (whole - before).min(last_segment.trace.bytes.len());
        let is_whole = last_segment.trace.bytes.get(..used) == self.quote.bytes.get(whole - used..);
        let used = if is_whole { used } else { used.checked_sub(1)? };
        let end = last_segment.trace.from.get(used.checked_sub(1)?)?.end;
        let bytes = first_segment.bytes.start + start..last_segment.bytes.start + end;
        let is_taken = |n: &usize| path.iter().any(|(own, _)| own == n);
        let has_taken =
            |line: usize| path.iter().filter_map(|(n, _)| self.segments.get(*n)).any(|own| own.line == line);
        let passed = (*first..*last).filter(|n| !is_taken(n)).filter_map(|n| self.segments.get(n));
        let (left_out, skipped): (Vec<&Segment>, Vec<&Segment>) = passed.partition(|segment| has_taken(segment.line));
        let mut lines: Vec<usize> = skipped.into_iter().map(|segment| segment.line).collect();
        lines.dedup();
        let left_out = left_out.into_iter().map(|segment| segment.bytes.clone()).collect();
        Some(QuoteMatch { left_out, ..search.at(bytes, Tier::Interleaved, lines) })
    }
}

/// Tells whether no word of a segment goes over a place in its folded text.
fn is_word_edge(document: &Document, segment: &Segment, at: usize) -> bool {
    let edges = at.checked_sub(1).and_then(|last| segment.trace.from.get(last)).zip(segment.trace.from.get(at));
    let text = document.bytes(segment.bytes.clone());
    edges.is_none_or(|(before, behind)| text.get(before.end..behind.start).is_some_and(|between| !between.is_empty()))
}

/// Cuts lines into what stands apart in them.
fn segments(document: &Document, lines: &Range<usize>) -> Vec<Segment> {
    let mut list = Vec::new();
    for line in lines.clone() {
        let (Some(start), Some(text)) = (document.offset(line), document.line(line)) else { continue };
        let parts = cells(text, is_numbered(document, line));
        let is_foreign = document.is_furniture(line) || is_edge_of_page(document, line, lines);
        for part in &parts {
            let own = &text[part.clone()];
            let trace = Trace::of(own, false);
            if trace.bytes.is_empty() {
                continue;
            }
            let hyphens = ["-", "\u{ad}", "‐", "¬"];
            let is_divided = hyphens.iter().any(|hyphen| own.trim_ascii_end().ends_with(hyphen.as_bytes()));
            let kind = match parts.len() {
                _ if is_foreign || !says(own) => SegmentKind::Foreign,
                1 => SegmentKind::Line,
                _ => SegmentKind::Cell,
            };
            list.push(Segment { line, bytes: start + part.start..start + part.end, trace, is_divided, kind });
        }
    }
    list
}

/// Tells whether a text has a letter.
fn says(text: &[u8]) -> bool {
    text.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// Tells whether a line is like the head or foot of a page at a break between the pages of some lines: it is short, and no
/// part of a sentence.
fn is_edge_of_page(document: &Document, line: usize, lines: &Range<usize>) -> bool {
    let Some(page) = document.number(line).and_then(|(page, _)| document.page(page)) else { return false };
    let is_top = line < page.start + EDGE && lines.start < page.start;
    let is_foot = line + EDGE >= page.end && page.end < lines.end;
    let text = document[line].trim_ascii();
    let first = String::from_utf8_lossy(text).chars().find(|c| c.is_alphanumeric());
    (is_top || is_foot)
        && text.len() <= MAX_HEAD
        && !first.is_some_and(char::is_lowercase)
        && !text.ends_with(b".")
        && !text.ends_with(b";")
}

/// The parts of a line between bars, tabs and wide blanks; with its number apart, if it has one.
fn cells(text: &[u8], is_numbered: bool) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    if is_numbered {
        let digits = text.len() - text.trim_ascii_start().len() + line_number(text).map_or(0, |(_, len)| len);
        parts.push(0..digits);
        start = digits;
    }
    let mut at = start;
    while at < text.len() {
        let rest = &text[at..];
        let wide = rest.iter().take_while(|byte| **byte == b' ').count();
        let apart = match rest.first() {
            Some(b'|' | b'\t') => 1,
            Some(0xe2) if rest.starts_with("│".as_bytes()) => "│".len(),
            _ if wide >= 2 => wide,
            _ => 0,
        };
        if apart > 0 {
            parts.push(start..at);
            start = at + apart;
        }
        at += apart.max(1);
    }
    parts.push(start..text.len());
    parts
}

/// The number that a line begins with, and its length.
fn line_number(text: &[u8]) -> Option<(u32, usize)> {
    let text = text.trim_ascii_start();
    let len = text.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(text.get(..len)?).ok()?.parse().ok()?;
    let ends = text.get(len).is_some_and(u8::is_ascii_whitespace);
    (ends && len <= 4).then_some((number, len))
}

/// Tells whether a line begins with its number: that of the line before or behind is one less or more.
fn is_numbered(document: &Document, line: usize) -> bool {
    let number = |line: usize| document.line(line).and_then(line_number).map(|(number, _)| number);
    let Some(own) = number(line) else { return false };
    let before = line.checked_sub(1).and_then(number);
    before.is_some_and(|before| before.checked_add(1) == Some(own)) || number(line + 1) == own.checked_add(1)
}

/// Tells whether what was left out may be a condition of the quote: it is no line number, no head or foot of a page, and
/// no other column.
pub(super) fn may_omit_condition(document: &Document, found: &QuoteMatch) -> bool {
    let bytes = |part: &&Range<usize>| says(document.bytes((*part).clone()));
    let parts: Vec<&Range<usize>> = found.left_out.iter().filter(bytes).collect();
    let is_text = |line: &usize| {
        document.line(*line).is_some_and(says)
            && !document.is_furniture(*line)
            && !is_edge_of_page(document, *line, &found.lines)
    };
    let lines: Vec<usize> = found.skipped.iter().copied().filter(is_text).collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return !parts.is_empty() && !is_column(document, &parts, found);
    };
    // Of two columns that were read across every other line is of the other.
    let is_alternate = |pair: &[usize]| matches!(pair, [a, b] if a + 2 == *b);
    let alternates = parts.is_empty() && lines.len() >= 2 && lines.windows(2).all(is_alternate);
    !alternates || *first != found.lines.start + 1 || *last + 2 != found.lines.end
}

/// Tells whether some parts of lines are another column: on every line of the passage but the last one at most, and all on
/// one side of what belongs to it.
fn is_column(document: &Document, parts: &[&Range<usize>], found: &QuoteMatch) -> bool {
    let begins = |part: &&&Range<usize>| {
        let line = document.line_at(part.start);
        let start = document.offset(line).unwrap_or(0);
        document.bytes(start..part.start).trim_ascii().is_empty()
    };
    let left = parts.iter().filter(begins).count();
    found.lines.len() >= 2 && parts.len() + 1 >= found.lines.len() && (left == 0 || left == parts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        let pages = text.split('\u{c}').zip(1..);
        let lines = pages.flat_map(|(page, number)| page.split('\n').zip(1..).map(move |(line, n)| (number, n, line)));
        Document::of(lines.collect(), Vec::new())
    }

    /// Text that is left out, `?` where it may be a condition; `None`: not found.
    fn omitted(text: &str, quote: &str) -> Option<String> {
        let document = document(text);
        let search = Search::new(&document, quote.as_bytes());
        let found = find(&search, &(0..document.len()), &mut Budget::default())?;
        assert_eq!(found.tier, Tier::Interleaved);
        let lines = found.skipped.iter().filter_map(|line| document.line(*line));
        let parts = found.left_out.iter().map(|part| document.bytes(part.clone()));
        let words: Vec<String> =
            lines.chain(parts).map(|text| String::from_utf8_lossy(text.trim_ascii()).into_owned()).collect();
        let doubt = if may_omit_condition(&document, &found) { "?" } else { "" };
        let own = Trace::of(&found.text(&document), false).bytes;
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric();
        let letters = |bytes: Vec<u8>| bytes.into_iter().filter(is_letter).collect::<Vec<u8>>();
        assert_eq!(letters(own), letters(Trace::of(quote.as_bytes(), false).bytes), "{quote}");
        Some(words.join("/") + doubt)
    }

    #[test]
    fn heads_columns_cells_and_line_numbers_are_passed_over() {
        let pages = "permission to reproduce the tables and fig-\n3\u{c}A Title That Stands Once\nures in this paper solely for use.";
        let quote = "permission to reproduce the tables and figures in this paper solely for use.";
        assert_eq!(omitted(pages, quote).as_deref(), Some("3/A Title That Stands Once"));
        let columns = "The tenant pays the rent    Repairs are made by\non the first of a month     the landlord at once\nand in advance.             when they are due.";
        assert_eq!(
            omitted(columns, "The tenant pays the rent on the first of a month and in advance.").as_deref(),
            Some("Repairs are made by/the landlord at once")
        );
        let across = "The tenant pays the rent\nRepairs are made by\non the first of a month\nthe landlord at once\nand in advance.";
        assert_eq!(
            omitted(across, "The tenant pays the rent on the first of a month and in advance.").as_deref(),
            Some("Repairs are made by/the landlord at once")
        );
        let numbered = "11 The tenant pays the rent\n12 on the first of a month\n13 and in advance.";
        assert_eq!(omitted(numbered, "The tenant pays the rent on the first of a month").as_deref(), Some("12"));
    }

    #[test]
    fn what_may_be_a_condition_is_told_and_a_number_is_none_of_a_line() {
        let text = "The insurer pays for all damage\nthat was caused by fire alone\nwithin thirty days of the claim.";
        let found = omitted(text, "The insurer pays for all damage within thirty days of the claim.");
        assert_eq!(found.as_deref(), Some("that was caused by fire alone?"));
        assert_eq!(
            omitted(
                "The term of the lease is\n12 months after signing",
                "The term of the lease is months after signing"
            ),
            None
        );
        assert_eq!(omitted("The tenant pays the rent\nnot\nable to", "The tenant pays the rentable to"), None);
    }
}
