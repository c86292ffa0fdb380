//! Truncation: whether the document continues after the last page that the model was shown.
//!
//! A new heading on top of that page: the list was bounded. The list goes on there: it was truncated. Anything else
//! says nothing. The answer never says it itself; it is worked out here, from the table of contents and the text.

use std::ops::Range;

use crate::citations::{ResolvedCitation, meant_lines};
use crate::document::Document;
use crate::typed::{AnswerItem, AnswerRequest, TypedAnswer};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;

stepscope_base::words! {
    /// Verdict from the next page on whether the answer is cut off.
    #[derive(Default)]
    pub enum TruncationVerdict {
        /// Nothing follows that belongs to the answer.
        Bounded = "bounded",
        /// The list continues where the model could not see it.
        Truncated = "truncated",
        /// It cannot be told.
        #[default]
        Unknown = "unknown",
    }
}

/// A verdict, and what it rests on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Truncation {
    /// The verdict.
    pub verdict: TruncationVerdict,
    /// Reason of the verdict, in a sentence.
    pub reason: Untrusted<'static>,
    /// The lines of the page after the last that the model saw; empty where none was looked at.
    pub peeked: Range<usize>,
    /// The line that decided.
    pub line: Option<usize>,
}

impl Truncation {
    fn unknown(reason: &'static str) -> Self {
        Self { reason: reason.into(), ..Self::default() }
    }

    fn of(
        verdict: TruncationVerdict,
        reason: impl Into<Untrusted<'static>>,
        peeked: &Range<usize>,
        line: Option<usize>,
    ) -> Self {
        Self { verdict, reason: reason.into(), peeked: peeked.clone(), line }
    }
}

/// Number of pages that are passed over because they hold nothing but what is on every page.
const MAX_EMPTY_PAGES: usize = 3;
/// Maximum number of lines of the next page that may belong to the last entry of the list, before the next entry
/// begins.
const MAX_WRAPPED: usize = 8;
/// Maximum number of lines behind the last cited one that are looked at.
const MAX_TAIL: usize = 400;

/// Judges an answer. `document` is the one that it cites, with the citations as its quotes resolve them.
pub fn judge(
    typed: &TypedAnswer<'_>,
    items: &[AnswerItem<'_>],
    asked: &AnswerRequest,
    (document, resolved): (Option<&Document>, &[ResolvedCitation]),
) -> Truncation {
    let many = asked.many.unwrap_or(items.len() > 1);
    if items.is_empty() {
        return Truncation::unknown("Nothing was found, so nothing can continue.");
    }
    if !many {
        return Truncation::unknown("The question asks for one value, not for a list.");
    }
    if typed.flag("context_structured") == Some(false) {
        return Truncation::unknown("The model saw the text without its layout, so the end of a list does not show.");
    }
    let Some(document) = document.filter(|document| !document.is_empty()) else {
        return Truncation::unknown("The document was not found.");
    };
    let retrieved = typed.retrieved();
    let is_table = asked.kind.as_ref().is_some_and(|kind| *kind == "table")
        || items.iter().any(|item| item.value.as_ref().is_some_and(|(key, _)| *key == "table"));
    match SeenContext::of((items, resolved), &retrieved, document).map(|seen| SeenContext { is_table, ..seen }) {
        Some(seen) => seen.judge(),
        None => Truncation::unknown("None of the cited lines and retrieved pages is in the document."),
    }
}

/// Context that the model saw and cited.
struct SeenContext<'d> {
    document: &'d Document,
    /// The last cited line, or the last line of the last page where none is cited.
    last: usize,
    /// Position in the document's pages of the last that was seen without a gap.
    page: usize,
    /// The entries of the list, where they are marked.
    marker: Option<Marker>,
    /// The codes of the entries, where they have any: `GV.RM-07`.
    codes: Vec<Code>,
    /// A table was asked for or given.
    is_table: bool,
}

impl<'d> SeenContext<'d> {
    fn of(
        (items, resolved): (&[AnswerItem<'_>], &[ResolvedCitation]),
        retrieved: &[i64],
        document: &'d Document,
    ) -> Option<Self> {
        let mut retrieved = retrieved.to_vec();
        retrieved.sort_unstable();
        let was_shown = |line: usize| {
            retrieved.is_empty()
                || document.number(line).is_some_and(|(page, _)| retrieved.binary_search(&page).is_ok())
        };
        let cited = items.iter().flat_map(|item| &item.citations);
        let cited: Vec<Range<usize>> = cited.filter_map(|citation| meant_lines(citation, resolved, document)).collect();
        let shown = cited.iter().filter(|lines| was_shown(lines.end.saturating_sub(1)));
        let last = shown.map(|lines| lines.end.saturating_sub(1)).max();
        let last = last.or_else(|| {
            let page = retrieved.iter().rev().find_map(|page| document.page(*page))?;
            page.end.checked_sub(1)
        })?;
        let at = document.pages().partition_point(|(_, lines)| lines.end <= last);
        let shown = |page: &(i64, Range<usize>)| retrieved.binary_search(&page.0).is_ok();
        let more = document.pages().iter().skip(at + 1).take_while(|page| shown(page)).count();
        let marker = cited.iter().rev().take(MAX_TAIL).find_map(|lines| marker_at(document, lines.start));
        let lines = cited.iter().take(MAX_TAIL).flat_map(|lines| lines.clone().take(MAX_WRAPPED));
        let codes = lines.filter_map(|line| Code::of(&document[line])).collect();
        Some(Self { document, last, page: at + more, marker, codes, is_table: false })
    }

    fn judge(&self) -> Truncation {
        let tail = self.tail();
        let heading = |line: &usize| in_contents(self.document, *line) || is_numbered_heading(self.text(*line));
        if let Some(line) = tail.iter().copied().find(|line| heading(line) && self.entry(*line).is_none()) {
            let reason = Message::new("A new heading follows on a page that the model saw: ").quoted(self.text(line));
            return Truncation::of(TruncationVerdict::Bounded, reason.text("."), &(0..0), Some(line));
        }
        let ended = |line: &usize| self.code_verdict(*line) == Some(TruncationVerdict::Bounded);
        if let Some(line) = tail.iter().copied().find(ended) {
            let reason = Message::new("Another group begins on a page that the model saw: ").quoted(self.text(line));
            return Truncation::of(TruncationVerdict::Bounded, reason.text("."), &(0..0), Some(line));
        }
        let after = &self.document.pages()[self.page + 1..];
        if after.is_empty() {
            let reason = "The document ends with the last page that the model saw.";
            return Truncation::of(TruncationVerdict::Bounded, reason, &(0..0), None);
        }
        for (_, peeked) in after.iter().take(MAX_EMPTY_PAGES) {
            let lines = content(self.document, peeked);
            if !lines.is_empty() {
                return self.peek(peeked, &lines, &tail);
            }
        }
        let (_, peeked) = &after[0];
        Truncation::of(TruncationVerdict::Unknown, "The next page has no text of its own.", peeked, None)
    }

    fn peek(&self, peeked: &Range<usize>, lines: &[usize], tail: &[usize]) -> Truncation {
        let Some(&top) = lines.first() else { return Truncation::default() };
        let verdict = |verdict, words: &str, line: usize| {
            let reason = Message::new(words).quoted(self.text(line)).text(".");
            Truncation::of(verdict, reason, peeked, Some(line))
        };
        if in_contents(self.document, top) {
            return verdict(TruncationVerdict::Bounded, "A new section begins at the top of the next page: ", top);
        }
        if let Some((line, judged)) =
            lines.iter().take(MAX_WRAPPED).find_map(|line| Some((*line, self.code_verdict(*line)?)))
        {
            let words = match judged {
                TruncationVerdict::Truncated => "The list continues on the next page: ",
                _ => "Another group begins on the next page: ",
            };
            return verdict(judged, words, line);
        }
        let first_heading = lines.iter().position(|line| in_contents(self.document, *line));
        let own = &lines[..first_heading.unwrap_or(lines.len()).min(MAX_WRAPPED)];
        if let Some(line) = self.next_entry(tail, own) {
            return verdict(TruncationVerdict::Truncated, "The list continues on the next page: ", line);
        }
        if let Some(line) = own.iter().copied().take(2).find(|line| says_continued(self.text(*line))) {
            return verdict(TruncationVerdict::Truncated, "The next page says that it continues: ", line);
        }
        if let Some((line, judged)) = self.table_verdict(own) {
            let words = match judged {
                TruncationVerdict::Truncated => "The table continues on the next page: ",
                _ => "The table ends, and prose begins on the next page: ",
            };
            return verdict(judged, words, line);
        }
        if is_numbered_heading(self.text(top)) {
            return verdict(TruncationVerdict::Bounded, "The next page begins with a new heading: ", top);
        }
        let last = self.text(self.last);
        let (titled, open) = (is_titled(self.text(top)), is_open_end(last));
        // Behind a semicolon a new sentence may stand as well; where entries have no marks, one that ends alike is the next.
        let is_next = || self.marker.is_none() && is_open_end(self.text(top));
        let breaks_off = open && !titled && (!last.ends_with(b";") || is_next());
        if tail.is_empty() && ((goes_on(last) && is_continuation(self.text(top))) || breaks_off) {
            return verdict(TruncationVerdict::Truncated, "The sentence continues on the next page: ", top);
        }
        // In a list of short titles a short title is no sign of a new section.
        if titled && !open && !is_titled(last) {
            return verdict(TruncationVerdict::Bounded, "The next page begins with a new heading: ", top);
        }
        let words = if self.document.toc().is_empty() {
            "Without a table of contents nothing tells whether the next page begins with a heading or an entry: "
        } else {
            "The next page begins with neither a heading nor another entry: "
        };
        verdict(TruncationVerdict::Unknown, words, top)
    }

    /// Judges a line by its code, for a list whose entries have codes.
    fn code_verdict(&self, line: usize) -> Option<TruncationVerdict> {
        let last = self.codes.last()?;
        let code = Code::of(self.text(line))?;
        let level = last.parts.len();
        // The group that all entries are of: if there is one entry alone, its own.
        let shared = |code: &Code| last.parts.iter().zip(&code.parts).take_while(|(a, b)| a == b).count();
        let own = self.codes.iter().filter(|code| code.parts.len() == level);
        let group = own.map(shared).min().unwrap_or(level).min(level - 1);
        let common = group.min(code.signs.len());
        let is_alike = code.signs.get(..common) == last.signs.get(..common) && code.parts.len() <= level;
        // The heading of the last entry's own group is no news.
        if !is_alike || (code.parts.len() < level && last.parts.starts_with(&code.parts)) {
            return None;
        }
        let is_inside = code.parts.get(..group) == last.parts.get(..group) && code.parts.len() > group;
        if !is_inside {
            return Some(TruncationVerdict::Bounded);
        }
        if code.parts.len() < level {
            // A new group inside of what the entries range over; the last entry's own group is no news.
            let is_own = last.parts.starts_with(&code.parts);
            return (!is_own).then_some(TruncationVerdict::Truncated);
        }
        code.follows(last, group).then_some(TruncationVerdict::Truncated)
    }

    /// Judges the first lines of the next page after a table: more rows, or prose.
    fn table_verdict(&self, lines: &[usize]) -> Option<(usize, TruncationVerdict)> {
        let from = self.last.saturating_sub(MAX_WRAPPED);
        let rows: Vec<usize> = (from..=self.last).filter_map(|line| cells(self.text(line))).collect();
        let columns = rows.last().copied().filter(|_| rows.len() >= 2 || self.is_table);
        if columns.is_none() && !self.is_table {
            return None;
        }
        // What a table says of itself stands below it.
        let is_aside = |line: &usize| {
            let text = String::from_utf8_lossy(self.text(*line)).to_lowercase();
            ["note", "source", "*", "†", "(1)"].iter().any(|aside| text.starts_with(aside))
        };
        let line = lines.iter().copied().find(|line| !is_aside(line))?;
        match (cells(self.text(line)), columns) {
            (Some(cells), Some(columns)) if cells == columns => Some((line, TruncationVerdict::Truncated)),
            (None, Some(_)) if is_prose(self.text(line)) => Some((line, TruncationVerdict::Bounded)),
            (None, None) if is_prose(self.text(line)) && !is_prose(self.text(self.last)) => {
                Some((line, TruncationVerdict::Bounded))
            }
            _ => None,
        }
    }

    fn text(&self, line: usize) -> &'d [u8] {
        self.document[line].trim_ascii()
    }

    /// The lines behind the last cited one, on pages that were seen.
    fn tail(&self) -> Vec<usize> {
        let Some((_, page)) = self.document.pages().get(self.page) else { return Vec::new() };
        let end = page.end.min(self.last.saturating_add(MAX_TAIL));
        content(self.document, &(self.last.saturating_add(1)..end))
    }

    /// The marker of a line that is an entry of the same list.
    fn entry(&self, line: usize) -> Option<Marker> {
        let own = self.marker.as_ref()?;
        marker(self.text(line)).filter(|marker| marker.is_of(own))
    }

    /// The line of the next page with which the next entry begins.
    fn next_entry(&self, tail: &[usize], lines: &[usize]) -> Option<usize> {
        let first = self.document.pages().get(self.page)?.1.start.min(self.last);
        let cited = (first..=self.last).rev().take(MAX_TAIL).find_map(|line| self.entry(line));
        let mut last = cited.or_else(|| self.marker.clone())?;
        for marker in tail.iter().filter_map(|line| self.entry(*line)) {
            if !marker.follows(&last) {
                // Another list begins on the page that the model saw.
                return None;
            }
            last = marker;
        }
        let follows = |line: &usize| self.entry(*line).is_some_and(|marker| marker.follows(&last));
        // A bullet counts nothing: only on top, or behind the rest of the entry before, is it of the same list.
        let near = last.readings.is_empty() && lines.first().is_some_and(|top| !is_continuation(self.text(*top)));
        lines.iter().copied().take(if near { 1 } else { MAX_WRAPPED }).find(follows)
    }
}

/// The lines of a range that are neither empty nor repeated from page to page.
fn content(document: &Document, lines: &Range<usize>) -> Vec<usize> {
    let at = document.pages().partition_point(|(_, page)| page.end <= lines.start);
    let mut page = at;
    let mut out = Vec::new();
    for line in lines.clone() {
        while document.pages().get(page).is_some_and(|(_, own)| own.end <= line) {
            page += 1;
        }
        if !is_furniture(document, page, line) {
            out.push(line);
        }
    }
    out
}

/// Number of lines at the top or bottom of a page among which running headers and footers are looked for.
const ZONE: usize = 4;
/// Number of pages before and behind on which they are looked for.
const NEIGHBOURS: usize = 3;

/// Tells whether a line is a page number or a rule, or recurs at the same end of the pages around it.
fn is_furniture(document: &Document, page: usize, line: usize) -> bool {
    let text = document[line].trim_ascii();
    if says_nothing(text) {
        return true;
    }
    let Some((number, own)) = document.pages().get(page) else { return false };
    let at_top = line.saturating_sub(own.start) < ZONE;
    let at_bottom = own.end.saturating_sub(line) <= ZONE;
    if !at_top && !at_bottom || in_contents(document, line) {
        return false;
    }
    let first = page.saturating_sub(NEIGHBOURS);
    let around = document.pages().iter().skip(first).take(2 * NEIGHBOURS + 1);
    let mut same = 0;
    for (other, lines) in around.filter(|(other, _)| other != number) {
        let top = lines.clone().take(if at_top { ZONE } else { 0 });
        let bottom = lines.clone().rev().take(if at_bottom { ZONE } else { 0 });
        let difference = other.saturating_sub(*number);
        let is_same = |n: usize| is_same_but_for_page(text, &document[n], difference);
        same += usize::from(top.chain(bottom).any(is_same));
    }
    same >= 2 || (same >= 1 && document.pages().len() <= 3)
}

/// Empty, a rule, a page number (`12`, `iv`, `- 5 -`, `Page 3 of 12`), or the notice on a page without text.
fn says_nothing(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.len() <= 6 && word.bytes().all(|b| b.is_ascii_digit());
    let is_roman = |word: &str| word.len() <= 7 && word.bytes().all(|b| b"ivxlcIVXLC".contains(&b));
    let is_number_or_rule = match words.as_slice() {
        // A bullet can stand on a line of its own.
        [] => marker(text.as_bytes()).is_none(),
        [one] => {
            // `- 5 -` is a page number, `- 5` and `5.` are entries.
            let entry = marker(text.as_bytes()).is_some() && !text.ends_with(['-', '–', '—']);
            is_number(one) && !entry || is_roman(one) && !text.contains(['(', '.', ')'])
        }
        [page, n] => page.eq_ignore_ascii_case("page") && is_number(n) || is_number(page) && is_number(n),
        [page, n, of, m] => page.eq_ignore_ascii_case("page") && is_number(n) && *of == "of" && is_number(m),
        _ => false,
    };
    is_number_or_rule || is_blank_notice(&words)
}

/// `This page is intentionally left blank`: what stands on a page so that nobody looks for its text.
fn is_blank_notice(words: &[&str]) -> bool {
    const ON_PURPOSE: &[&str] = stepscope_base::list![intentionally deliberately purposely absichtlich];
    const EMPTY: &[&str] = stepscope_base::list![blank leer frei];
    const OTHER: &[&str] = stepscope_base::list![
        this page sheet side the following next is was has been left remains diese seite ist wurde bleibt gelassen
    ];
    let is_in = |word: &str, list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    words.iter().any(|word| is_in(word, ON_PURPOSE))
        && words.iter().any(|word| is_in(word, EMPTY))
        && words.iter().all(|word| [ON_PURPOSE, EMPTY, OTHER].iter().any(|list| is_in(word, list)))
}

/// Tells whether two lines are equal, but for blanks and a number that counts the pages.
fn is_same_but_for_page(a: &[u8], b: &[u8], difference: i64) -> bool {
    let words = |text: &'_ [u8]| {
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (a, b) = (words(a), words(b));
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<i64>().ok();
    let is_same = |(a, b): (&Vec<u8>, &Vec<u8>)| {
        a == b || number(a).zip(number(b)).is_some_and(|(a, b)| b.checked_sub(a) == Some(difference))
    };
    a.len() == b.len() && a.iter().zip(&b).all(is_same)
}

/// Maximum number of headings of one page, or of no known page, that are compared.
const MAX_ENTRIES: usize = 300;

/// Tells whether the table of contents names a line as a heading of its page.
fn in_contents(document: &Document, line: usize) -> bool {
    let Some((page, _)) = document.number(line) else { return false };
    let text = folded(&document[line]);
    if text.len() < 3 {
        return false;
    }
    let near = |start: i64| start.abs_diff(page) <= 1;
    let entries = document.toc().iter().filter(|entry| entry.pages.0.is_none_or(near));
    entries.take(MAX_ENTRIES).any(|entry| {
        let title = folded(&entry.title);
        // A long heading is broken into lines; a short one may stand before its text.
        title == text
            || (text.len() >= 12 && title.starts_with(&text))
            || (title.len() >= 12 && text.starts_with(&title) && text.len() <= title.len() + 12)
    })
}

/// In small letters and digits alone.
fn folded(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A longer line is no heading.
const MAX_HEADING: usize = 90;

fn heading_text(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?.trim();
    (!text.is_empty() && text.len() <= MAX_HEADING && !text.ends_with([',', ';', ':', '?', '!'])).then_some(text)
}

/// `Section 5. Coverage`, `APPENDIX A TERMS`, `3.2 Access Control`.
fn is_numbered_heading(text: &[u8]) -> bool {
    const WORDS: &str = "section article chapter part appendix annex schedule clause exhibit attachment endorsement \
        abschnitt artikel kapitel anhang teil § title";
    let Some(text) = heading_text(text) else { return false };
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else { return false };
    let is_number = |word: &str| {
        let word = word.trim_end_matches(['.', ':', ')', '—', '–', '-']);
        let roman = !word.is_empty() && word.bytes().all(|b| b"IVXLC".contains(&b));
        let letter = word.len() == 1 && word.bytes().all(|b| b.is_ascii_uppercase());
        roman || letter || is_section_number(word)
    };
    let titled = |words: &[&str]| words.is_empty() || (has_capitals(words) && !words.concat().ends_with('.'));
    if WORDS.split(' ').any(|word| word == first.to_lowercase()) {
        let rest: Vec<&str> = words.collect();
        return match rest.split_first() {
            Some((number, rest)) if is_number(number) => titled(rest),
            _ => false,
        };
    }
    let rest: Vec<&str> = words.collect();
    is_section_number(first.trim_end_matches('.')) && !rest.is_empty() && rest.len() <= 12 && titled(&rest)
}

/// `3`, `3.2`, `A.1`
fn is_section_number(word: &str) -> bool {
    let mut parts = word.split('.');
    let first = parts.next().expect("a split has a first part");
    let digits = |part: &str| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
    let letter = first.len() == 1 && first.bytes().all(|b| b.is_ascii_uppercase());
    let rest: Vec<&str> = parts.collect();
    (digits(first) || (letter && !rest.is_empty())) && rest.iter().all(|part| digits(part))
}

/// Most words that count begin with a capital, the first among them.
fn has_capitals(words: &[&str]) -> bool {
    let capital = |word: &str| word.chars().find(|c| c.is_alphanumeric()).is_some_and(|c| !c.is_lowercase());
    let count = words.iter().filter(|word| word.chars().count() > 3 || capital(word)).count();
    let capitals = words.iter().filter(|word| capital(word)).count();
    words.first().is_some_and(|word| capital(word)) && capitals * 3 >= count * 2
}

/// A short line of words that begin with capitals and no end of a sentence.
fn is_titled(text: &[u8]) -> bool {
    let Some(text) = heading_text(text).filter(|text| !text.ends_with('.')) else { return false };
    let words: Vec<&str> = text.split_whitespace().collect();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.chars().next().is_some_and(char::is_uppercase)
        && words.len() <= 10
        && letters >= 4
        && digits <= 4
        && !text.contains([':', '=', '$', '€', '%'])
        && has_capitals(&words)
}

fn says_continued(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    let ends = ["continued)", "cont'd)", "cont.)", "contd)", "contd.)", "(fortsetzung)", "(suite)"];
    ends.iter().any(|end| text.contains(end)) || text.trim_end_matches(['.', ':', '…']).ends_with(" continued")
}

/// A sentence that does not end here.
fn goes_on(text: &[u8]) -> bool {
    !text.is_empty() && !text.ends_with(b".") && !text.ends_with(b"!") && !text.ends_with(b"?") && !text.ends_with(b":")
}

/// An enumeration or a sentence that plainly does not end here.
fn is_open_end(text: &[u8]) -> bool {
    let ends = [&b";"[..], b",", b" and", b" or"];
    // A hyphen behind a word divides it; alone it is a bullet.
    let is_divided = text.strip_suffix(b"-").and_then(<[u8]>::last).is_some_and(u8::is_ascii_alphabetic);
    is_divided || ends.iter().any(|end| text.ends_with(end))
}

/// Text that is no beginning of a sentence.
fn is_continuation(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.chars().next().is_some_and(char::is_lowercase)
}

/// Counts the cells of a line that is the row of a table: between bars, tabs or wide blanks.
fn cells(text: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?.trim().trim_matches('|').trim();
    let count = |parts: Vec<&str>| parts.iter().filter(|part| !part.trim().is_empty()).count();
    let cells = if text.contains('|') {
        text.split('|').count()
    } else if text.contains('\t') {
        text.split('\t').count()
    } else {
        count(text.split("  ").collect())
    };
    (cells >= 2).then_some(cells)
}

/// A line of running text: several words, most of them small, and no cells.
fn is_prose(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let words: Vec<&str> = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).collect();
    let small = words.iter().filter(|word| word.starts_with(char::is_lowercase)).count();
    words.len() >= 7
        && small * 5 >= words.len() * 3
        && cells(text.as_bytes()).is_none()
        && marker(text.as_bytes()).is_none()
}

/// The code of an entry: `GV.RM-07`, `AC-2(3)`, `A.5.1`. Its parts are its levels.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Code {
    parts: Vec<String>,
    /// Signs between the parts.
    signs: Vec<char>,
}

impl Code {
    /// The code that a line begins with, or that a short heading ends with in parentheses.
    fn of(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.trim().trim_start_matches(['•', '-', '*', '–', '|', ' ']);
        let first = text.split([' ', '\t', '|']).next()?;
        Self::read(first.trim_end_matches([':', '.', ',', ';'])).or_else(|| {
            let heading = heading_text(text.trim_end_matches(':').as_bytes())?;
            let (_, rest) = heading.rsplit_once('(')?;
            Self::read(rest.split_once(')')?.0)
        })
    }

    fn read(word: &str) -> Option<Self> {
        const MAX_CODE: usize = 24;
        if word.len() > MAX_CODE || !word.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        let (mut parts, mut signs, mut part) = (Vec::new(), Vec::new(), String::new());
        for c in word.trim_end_matches([')', ']']).chars() {
            match c {
                '.' | '-' | '(' | '[' | '/' => {
                    parts.push(std::mem::take(&mut part));
                    signs.push(c);
                }
                c if c.is_ascii_uppercase() || c.is_ascii_digit() => part.push(c),
                // AC-2a: small letters are enhancements.
                _ => return None,
            }
        }
        parts.push(part);
        let is_part = |part: &String| {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            !part.is_empty() && part.len() <= 4 && (digits == 0 || digits == part.len())
        };
        // U.S. and A.M. are no codes.
        let says = parts.iter().any(|part| part.bytes().all(|b| b.is_ascii_digit()))
            || parts.iter().all(|part| part.len() > 1);
        (parts.len() >= 2 && parts.iter().all(is_part) && says).then_some(Self { parts, signs })
    }

    /// Tells whether it comes after a code of its level: by its number in the same group, else by that of its group.
    fn follows(&self, last: &Self, group: usize) -> bool {
        let number = |part: Option<&String>| part.and_then(|part| part.parse::<u32>().ok());
        let (own, other) = (self.parts.get(group), last.parts.get(group));
        if own != other {
            // Letters have no order that everybody keeps.
            return number(own).zip(number(other)).is_none_or(|(own, other)| own > other);
        }
        number(self.parts.last()).zip(number(last.parts.last())).is_some_and(|(own, other)| own > other)
    }
}

/// Number or bullet before the entries of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Marker {
    /// The signs around the number, or the bullet itself.
    before: String,
    after: String,
    /// The number as it can be read: as digits, letters, or Roman.
    readings: Vec<(Counting, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counting {
    Digits,
    Letters,
    Roman,
}

impl Marker {
    /// Tells whether both belong to lists of one sort.
    fn is_of(&self, other: &Self) -> bool {
        let shared = |(counting, _): &(Counting, u32)| other.readings.iter().any(|(own, _)| own == counting);
        let same = self.readings.iter().any(shared) || (self.readings.is_empty() && other.readings.is_empty());
        self.before == other.before && self.after == other.after && same
    }

    fn follows(&self, last: &Self) -> bool {
        let next =
            |(counting, n): &(Counting, u32)| last.readings.contains(&(*counting, n.saturating_sub(1))) && *n > 0;
        self.readings.is_empty() || self.readings.iter().any(next)
    }
}

/// The marker of the entry that begins with a line: on it, or alone on the line before.
fn marker_at(document: &Document, line: usize) -> Option<Marker> {
    let text = |line: usize| document[line].trim_ascii();
    marker(text(line)).or_else(|| {
        let before = text(line.checked_sub(1)?);
        let words = before.split(u8::is_ascii_whitespace).count();
        marker(before).filter(|_| words == 1)
    })
}

fn marker(text: &[u8]) -> Option<Marker> {
    const BULLETS: &str = "•◦▪■□●○‣⁃–—−-*·➢✓";
    let text = std::str::from_utf8(text).ok()?.trim_start();
    let first = text.split_whitespace().next()?;
    let mut chars = first.chars();
    let bullet = chars.next().filter(|c| BULLETS.contains(*c) && chars.next().is_none());
    if let Some(bullet) = bullet {
        return Some(Marker { before: bullet.to_string(), after: String::new(), readings: Vec::new() });
    }
    if let Some(label) = label(text) {
        return Some(label);
    }
    // A marker can stand against its text: `(a)wear`.
    let end = first.find([')', ']']).map_or(first.len(), |at| at + 1);
    let first = first.get(..end)?;
    let before = first.find(|c: char| c.is_ascii_alphanumeric())?;
    let (before, rest) = first.split_at(before);
    let core = rest.trim_end_matches(['.', ')', ']', ':']);
    let after = rest.get(core.len()..)?;
    let framed = matches!((before, after), ("", "." | ")" | ".)") | ("(", ")") | ("[", "]"));
    // Of `4.2.` only the last part counts along.
    let (prefix, last) = core.rsplit_once('.').map_or(("", core), |(prefix, last)| (prefix, last));
    let decimal = !prefix.is_empty() && prefix.split('.').all(|part| part.parse::<u16>().is_ok());
    let bare = before.is_empty() && decimal;
    if !(framed || bare) || (!prefix.is_empty() && !decimal) {
        return None;
    }
    let readings = readings(last);
    let before = format!("{before}{prefix}");
    (!readings.is_empty()).then(|| Marker { before, after: after.to_owned(), readings })
}

/// `EXAMPLE 4: ..`, or a term in capitals: `INFORMATION TYPE: ..`
fn label(text: &str) -> Option<Marker> {
    /// Labels next to lists, not in them.
    const ASIDE: [&str; 8] = ["NOTE", "NOTES", "TABLE", "FIGURE", "SOURCE", "WARNING", "CAUTION", "IMPORTANT"];
    const MAX_LABEL: usize = 60;
    let (label, _) = text.split_once(':').filter(|(label, _)| label.len() <= MAX_LABEL)?;
    let (words, number) = label.rsplit_once(' ').map_or((label, None), |(words, last)| match last.parse::<u32>() {
        Ok(number) if last.len() <= 4 => (words, Some(number)),
        _ => (label, None),
    });
    let is_word = words.chars().all(|c| c.is_alphabetic() || " -/&()'’,.".contains(c));
    let is_upper = words.chars().filter(|c| c.is_alphabetic()).count() >= 3 && !words.chars().any(char::is_lowercase);
    if !is_word || ASIDE.contains(&words.trim()) || (number.is_none() && !is_upper) || words.trim().is_empty() {
        return None;
    }
    let after = ":".to_owned();
    Some(match number {
        Some(number) => {
            Marker { before: words.trim().to_lowercase(), after, readings: vec![(Counting::Digits, number)] }
        }
        None => Marker { before: String::new(), after, readings: Vec::new() },
    })
}

fn readings(word: &str) -> Vec<(Counting, u32)> {
    if word.len() <= 4 && word.bytes().all(|b| b.is_ascii_digit()) {
        return word.parse().map(|n| (Counting::Digits, n)).into_iter().collect();
    }
    let lower = word.to_ascii_lowercase();
    let mut readings = Vec::new();
    if let Some(first) = lower.bytes().next()
        && first.is_ascii_lowercase()
        && lower.len() <= 3
        && lower.bytes().all(|b| b == first)
    {
        // `aa` follows `z`.
        readings.push((Counting::Letters, u32::from(first - b'a') + 1 + 26 * (lower.len() as u32 - 1)));
    }
    readings.extend(roman(&lower).map(|n| (Counting::Roman, n)));
    readings
}

/// A Roman number below 40.
fn roman(word: &str) -> Option<u32> {
    let ones = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];
    let tens = word.bytes().take_while(|b| *b == b'x').count().min(3);
    // In `ix` the ten belongs to the one.
    let n = ones.iter().position(|one| word.get(tens..) == Some(one))?;
    (tens > 0 || n > 0).then(|| (tens * 10 + n) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Heading;
    use stepscope_base::json::Tape;

    /// The verdict on a list whose entries are on the cited lines of a document, a page each text.
    fn judged(
        pages: &[&str],
        toc: &[(&str, i64)],
        cited: &[usize],
        retrieved: &str,
    ) -> (TruncationVerdict, Option<String>) {
        let numbered = (1..)
            .zip(pages)
            .flat_map(|(page, text)| (1..).zip(text.lines()).map(move |(line, text)| (page, line, text)));
        let toc = toc.iter().map(|(title, page)| Heading {
            level: 1,
            title: title.as_bytes().to_vec(),
            pages: (Some(*page), None),
        });
        let document = Document::of(numbered.collect(), toc.collect());
        let span = |line: &usize| format!(r#"{{"line_start": {line}, "line_end": {line}}}"#);
        let item = |span: String| format!(r#"{{"text": "x", "spans": [{span}]}}"#);
        let mut items: Vec<String> = cited.iter().map(span).map(item).collect();
        if items.is_empty() {
            items.push(item(String::new()));
        }
        let text = format!(r#"{{"a": {{"confidence": 1, "items": [{}]}}, "p": {retrieved}}}"#, items.join(","));
        let mut tape = Tape::default();
        let root = tape.parse(text.as_bytes()).unwrap();
        let typed = TypedAnswer { answer: root.get("a"), retrieved_pages: root.get("p"), ..TypedAnswer::default() };
        let asked = AnswerRequest { many: Some(true), ..AnswerRequest::default() };
        let verdict = judge(&typed, &typed.items(), &asked, (Some(&document), &[]));
        let line =
            verdict.line.and_then(|line| document.line(line)).map(|line| String::from_utf8(line.to_vec()).unwrap());
        (verdict.verdict, line)
    }

    fn verdict(pages: &[&str], cited: &[usize]) -> TruncationVerdict {
        judged(pages, &[], cited, "null").0
    }

    #[test]
    fn a_heading_on_top_of_the_next_page_bounds_the_list() {
        let list = "We do not cover:\n(a) wear;\n(b) theft.";
        for next in [
            "Section 5. Limits\nBuilding: USD 4",
            "5.1 Coverage Limits\nx",
            "APPENDIX A   TERMS\nx",
            "COVERAGE LIMITS\nx",
            "Coverage Limits\nx",
            "2    APPLICABILITY",
        ] {
            assert_eq!(verdict(&[list, next], &[1, 2]), TruncationVerdict::Bounded, "{next}");
        }
        let toc = [("limits of   cover", 2)];
        assert_eq!(judged(&[list, "Limits of cover\nx"], &toc, &[1, 2], "null").0, TruncationVerdict::Bounded);
        assert_eq!(verdict(&[list], &[1, 2]), TruncationVerdict::Bounded);
    }

    #[test]
    fn what_cannot_be_told_without_a_table_of_contents_says_so() {
        let reason = |toc: Vec<Heading>| {
            let lines = [(1, 1, "We do not cover wear"), (2, 1, "Something else that is said here, and more of it")];
            let document = Document::of(lines.to_vec(), toc);
            let seen =
                SeenContext { document: &document, last: 0, page: 0, marker: None, codes: vec![], is_table: false };
            let judged = seen.judge();
            assert_eq!(judged.verdict, TruncationVerdict::Unknown);
            judged.reason
        };
        let other = Heading { level: 1, title: b"Limits of cover".to_vec(), pages: (Some(2), None) };
        assert!(reason(Vec::new()).utf8().unwrap().starts_with("Without a table of contents nothing tells"));
        assert!(
            reason(vec![other])
                .utf8()
                .unwrap()
                .starts_with("The next page begins with neither a heading nor another entry")
        );
    }

    #[test]
    fn a_list_that_goes_on_was_truncated() {
        for (list, next) in [
            ("(a) wear;\n(b) theft.", "(c) flood;\nSection 5. Limits"),
            ("(h) wear;\n(i) theft.", "(j) flood;"),
            ("(iv) wear;\n(v) theft.", "(vi) flood;"),
            ("1. Wear\n2. Theft", "3. Flood"),
            ("4.1 wear\n4.2 theft", "4.3 flood"),
            ("Example 1: wear\nExample 2: theft", "Some words.\nExample 3: flood"),
            ("ASSET: What is owned.\nCLAIM: What is asked for.", "DEDUCTIBLE: What is kept."),
            ("• wear\n• theft", "• flood"),
            ("- wear\n- theft", "of cars\n- flood"),
            ("(a) wear;\n(b) theft of", "goods;\n(c) flood."),
            ("wear\nloss of goods in", "transit or storage"),
            ("wear;\ntheft;", "Flood;"),
            ("(a) wear;\n(b) theft; and", "All that the law excludes, whoever is to blame for it."),
            ("(a) wear;\n(b) loss caused by the insurer,", "Its staff or anybody who acts for either of them."),
            ("(a) wear;\n(b) goods from outside of the non-", "European parts of the countries that are named above."),
            ("Wear | 1\nTheft | 2", "Table 3 (continued)\nFlood | 3"),
        ] {
            assert_eq!(verdict(&[list, next], &[0, 1]), TruncationVerdict::Truncated, "{list} / {next}");
        }
    }

    #[test]
    fn codes_have_levels() {
        let list = "GV.RM-06: A method is set.\nGV.RM-07: Opportunities are considered.";
        for (next, expected) in [
            ("GV.RR-01: Leadership is responsible.", TruncationVerdict::Bounded),
            ("GV.RR: Roles and responsibilities are set.", TruncationVerdict::Bounded),
            ("Roles, Responsibilities, and Authorities (GV.RR):", TruncationVerdict::Bounded),
            ("ID.AM-01: Inventories are kept.", TruncationVerdict::Bounded),
            ("GV.RM-08: Risks are told.", TruncationVerdict::Truncated),
            ("and of others.\nGV.RM-08: Risks are told.", TruncationVerdict::Truncated),
        ] {
            assert_eq!(verdict(&[list, next], &[0, 1]), expected, "{next}");
        }
        // What ranges over several groups goes on with the next of them.
        let groups = "GV.OC-05: Outcomes are known.\nGV.RM-01: Objectives are set.";
        assert_eq!(verdict(&[groups, "GV.RR-01: Leadership is responsible."], &[0, 1]), TruncationVerdict::Truncated);
        assert_eq!(verdict(&[groups, "ID.AM-01: Inventories are kept."], &[0, 1]), TruncationVerdict::Bounded);
        let categories = "GV.OC: Context\nGV.RM: Strategy";
        assert_eq!(verdict(&[categories, "GV.RR: Roles"], &[0, 1]), TruncationVerdict::Truncated);
        assert_eq!(verdict(&[categories, "ID.AM: Assets"], &[0, 1]), TruncationVerdict::Bounded);
        let controls = "AC-1 Policy and procedures\nAC-2 Account management";
        assert_eq!(verdict(&[controls, "AC-3 Access enforcement"], &[0, 1]), TruncationVerdict::Truncated);
        assert_eq!(verdict(&[controls, "AT-1 Policy and procedures"], &[0, 1]), TruncationVerdict::Bounded);
        for text in ["U.S. law", "A.M. or P.M.", "I.e. this", "e.g. that", "COVID", "Section 5", "X"] {
            assert_eq!(Code::of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_table_ends_where_prose_begins() {
        let table = "Cover | Limit\nBuilding | USD 4\nContents | USD 2";
        let prose = "The limits above apply to each claim and to all claims of a year together.";
        assert_eq!(verdict(&[table, prose], &[1, 2]), TruncationVerdict::Bounded);
        assert_eq!(verdict(&[table, "Garden | USD 1"], &[1, 2]), TruncationVerdict::Truncated);
        assert_eq!(verdict(&[table, "Source: the insurer.\nGarden | USD 1"], &[1, 2]), TruncationVerdict::Truncated);
        let wide = "Cover      Limit\nBuilding   USD 4\nContents   USD 2";
        assert_eq!(verdict(&[wide, prose], &[1, 2]), TruncationVerdict::Bounded);
    }

    #[test]
    fn a_section_that_starts_low_on_the_page_bounds_nothing() {
        let pages = ["(d) vermin;\n(e) loss of market.", "(f) flood;\n(g) war.\nSection 5. Limits\nx", "end"];
        let (strong, line) = judged(&pages, &[("Section 5. Limits", 2)], &[0, 1], "null");
        assert_eq!((strong, line.as_deref()), (TruncationVerdict::Truncated, Some("(f) flood;")));
    }

    #[test]
    fn anything_else_says_nothing() {
        for (list, next) in [
            (
                "(a) wear;\n(b) theft.",
                "The policy is void if a claim is false, whoever made it and for whatever reason.",
            ),
            ("(a) wear;\n(b) theft.", "(a) flood;\n(b) war."),
            ("(a) wear;\n(b) theft.\nYou must:\n(a) lock;\n(b) keep;", "(c) report."),
            ("• wear\n• theft", "The policy is void if a claim is false.\n• first\n• second"),
            (
                "ASSET: What is owned.\nCLAIM: What is asked for.",
                "NOTE: See the next section, which says what is kept.",
            ),
            (
                "(a) wear;\n(b) theft;",
                "The insurer may ask for documents that prove the loss within thirty days of it.",
            ),
            ("wear;\ntheft;", "The insurer may ask for documents that prove the loss within thirty days of it."),
            ("(a) wear;\n(b) theft;", "(a) flood;\n(b) war;"),
            ("John Smith\nMary Jones", "Peter Miller\nAnn Brown"),
            ("(a) wear;\n(b) theft.\nThe insured must keep all", "papers that belong to the claim."),
        ] {
            assert_eq!(verdict(&[list, next], &[0, 1]), TruncationVerdict::Unknown, "{list} / {next}");
        }
    }

    #[test]
    fn running_headers_and_page_numbers_are_skipped() {
        let page = |n: usize, text: &str| format!("ACME Policy  page {n}\n____\n{text}\n- {n} -");
        let pages: Vec<String> = ["one", "two", "(a) wear;\n(b) theft.", "(c) flood.", "five"]
            .into_iter()
            .enumerate()
            .map(|(n, text)| page(n + 1, text))
            .collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let (strong, line) = judged(&pages, &[], &[10, 11], "null");
        assert_eq!((strong, line.as_deref()), (TruncationVerdict::Truncated, Some("(c) flood.")));
        for text in ["12", "iv", "- 5 -", "Page 3 of 12", "____", "", "3/12"] {
            assert!(says_nothing(text.as_bytes()), "{text}");
        }
        for text in ["•", "(i)", "12.", "Section 5", "five"] {
            assert!(!says_nothing(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_page_that_is_left_blank_is_passed_over() {
        let list = "(a) wear;\n(b) theft;";
        for notice in [
            "This page intentionally left blank",
            "[This page is intentionally left blank.]",
            "THIS PAGE WAS INTENTIONALLY LEFT BLANK",
            "Intentionally blank",
            "Diese Seite wurde absichtlich leer gelassen.",
        ] {
            let (strong, line) = judged(&[list, notice, "(c) flood."], &[], &[0, 1], "null");
            assert_eq!((strong, line.as_deref()), (TruncationVerdict::Truncated, Some("(c) flood.")), "{notice}");
            assert_eq!(verdict(&[list, notice, "Section 5. Limits"], &[0, 1]), TruncationVerdict::Bounded, "{notice}");
            assert_eq!(verdict(&[list, notice], &[0, 1]), TruncationVerdict::Unknown, "{notice}");
        }
        for text in ["The form was intentionally left blank", "Leave this page blank", "This page"] {
            assert!(!says_nothing(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn the_page_looked_at_is_the_first_that_the_model_did_not_see() {
        let pages = ["(a) wear;\n(b) theft.", "(c) flood.", "(d) war.", "Section 9. End"];
        let line = |retrieved: &str, cited: &[usize]| judged(&pages, &[], cited, retrieved).1.unwrap();
        assert_eq!(line(r#"[{"page_num": 1}]"#, &[0, 1]), "(c) flood.");
        assert_eq!(line(r#"[{"page_num": 2}, {"page_num": 1}]"#, &[0, 1, 2]), "(d) war.");
        // What was retrieved elsewhere does not matter to the list.
        assert_eq!(line(r#"[{"page_num": 1}, {"page_num": 3}]"#, &[0, 1]), "(c) flood.");
        assert_eq!(line(r#"[{"page_num": 3}]"#, &[]).as_str(), "Section 9. End");
        let (strong, line) = judged(
            &["(a) wear;\n(b) theft.\nSection 5. Limits\nBuilding is", "covered in full."],
            &[],
            &[0, 1],
            "null",
        );
        assert_eq!((strong, line.as_deref()), (TruncationVerdict::Bounded, Some("Section 5. Limits")));
    }

    #[test]
    fn hostile_documents_are_judged_in_time() {
        let line = "(a) ".repeat(50);
        let pages: Vec<String> = (0..2_000).map(|_| format!("{line}\n{line}\n{line}")).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let all: Vec<String> = (1..=2_000).map(|page| format!("{{\"page_num\": {page}}}")).collect();
        let retrieved = format!("[{}]", all.join(","));
        assert_eq!(judged(&pages, &[], &[0, 1], &retrieved).0, TruncationVerdict::Bounded);
    }
}
