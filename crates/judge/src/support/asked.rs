//! The place of a value against the question: the column, the row or the part of a sentence that it names may be another.
//!
//! Nothing is proven by that: the words of the question stand at another value of the same kind, and not at this one.

use std::ops::Range;

use super::claim::Evidence;
use stepscope_arithmetic::number::Number;
use stepscope_base::json::Kind;
use stepscope_base::python::Message;
use stepscope_evidence::currency;
use stepscope_evidence::date;
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{Convention, Figure, FigureRole, figures};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::{TextWord, akin, asks_who, denies, is_empty_word, part, words};

/// Number of lines above a row in which its headings, and other rows around it, are looked for.
const NEAR: usize = 40;
/// A longer label is a sentence.
const MAX_LABEL: usize = 60;

/// The telling words of a question.
pub(crate) struct Asked<'q> {
    question: &'q str,
    words: Vec<TextWord>,
    currencies: Vec<&'static str>,
}

impl<'q> Asked<'q> {
    pub(crate) fn of(question: &'q str) -> Self {
        let all = words(question);
        // "In other places", "not in Europe": what the words stand at is what is not asked for.
        const OTHERWISE: &str = "other others outside except excluding without besides apart rather instead ausser andere anderen ohne \
            sauf hors autres autre sin otra otros";
        let turns = (0..all.len()).any(|at| denies(&all, at))
            || all.iter().any(|word| OTHERWISE.split_whitespace().any(|known| known == word.folded));
        // "How much", "wie hoch": they ask for a value and name none.
        const MEASURES: &str =
            "much many often hoch viel viele lang lange oft weit combien cuanto cuanta cuantos cuantas cual";
        let is_measure = |word: &TextWord| MEASURES.split_whitespace().any(|known| known == word.folded);
        let telling = |word: &TextWord| (!is_empty_word(&word.folded) && !is_measure(word)) || word.has_digit();
        let words = if turns { Vec::new() } else { all.into_iter().filter(telling).collect() };
        Self { question, words, currencies: currency::marks(question).concat() }
    }

    /// Tells whether the question holds a word, in any form.
    fn holds(&self, word: &TextWord, text: &str) -> bool {
        let code = || text.get(word.range.clone()).and_then(currency::word).map(|(codes, _)| codes);
        self.words.iter().any(|own| alike(own, word))
            || (!self.currencies.is_empty()
                && code().is_some_and(|codes| codes.iter().any(|code| self.currencies.contains(code))))
    }

    /// Tells whether the question holds every telling word of a heading or label.
    pub(crate) fn names(&self, text: &str) -> bool {
        let own = telling(text);
        // Of "31.12.2023" and "Year ended May 2023" the year tells.
        let mut years = own.iter().filter(|word| word.year().is_some());
        if let (Some(year), None) = (years.next(), years.next())
            && own.iter().all(|word| word.year().is_some() || is_of_year(&word.folded) || self.is_half(&word.folded))
        {
            return self.holds(year, text);
        }
        !own.is_empty() && own.iter().all(|word| self.holds(word, text))
    }

    /// Tells whether a word is a half of a year, "H1", where the question writes that in words.
    fn is_half(&self, word: &str) -> bool {
        let is_mark = |word: &str| matches!(word, "h1" | "h2" | "1h" | "2h");
        let nth = if word.contains('1') { "first half" } else { "second half" };
        is_mark(word)
            && !self.words.iter().any(|own| is_mark(&own.folded))
            && self.question.to_lowercase().contains(nth)
    }

    /// The places of its words that a text holds.
    fn held_by(&self, text: &str) -> Vec<usize> {
        let own = words(text);
        let held = |word: &TextWord| own.iter().any(|other| alike(word, other));
        (0..self.words.len()).filter(|at| self.words.get(*at).is_some_and(held)).collect()
    }

    /// Tells whether two or more of its words are all of them, or all but one.
    fn are_nearly_all(&self, held: &[usize]) -> bool {
        held.len() >= 2 && held.len() + 1 >= self.words.len()
    }

    fn are_all(&self, held: &[usize]) -> bool {
        held.len() == self.words.len()
    }
}

/// Tells whether a word beside a year says nothing of its own.
fn is_of_year(word: &str) -> bool {
    const WORDS: &[&str] = stepscope_base::list![
        year years ended ending end fiscal financial fy ende stand jahr geschaftsjahr exercice restated audited unaudited
        december june march september dezember juni marz
    ];
    WORDS.contains(&word) || (word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn alike(a: &TextWord, b: &TextWord) -> bool {
    if a.has_digit() || b.has_digit() {
        // The mark of a footnote belongs to no word: "year1".
        let plain = |word: &TextWord| word.folded.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let is_marked = |word: &TextWord| plain(word).len() > 2 && plain(word).len() + 2 >= word.folded.len();
        return a.folded == b.folded || ((is_marked(a) || is_marked(b)) && plain(a) == plain(b));
    }
    akin(&a.folded, &b.folded)
}

fn telling(text: &str) -> Vec<TextWord> {
    words(text).into_iter().filter(|word| !is_empty_word(&word.folded)).collect()
}

/// Tells whether a list holds all of another, and more.
fn is_more<T: PartialEq>(list: &[T], other: &[T]) -> bool {
    list.len() > other.len() && other.iter().all(|one| list.contains(one))
}

/// The cells of a line, as bytes without the blanks around them: between bars, tabs or wide gaps.
fn cells(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut put = |range: Range<usize>, may_be_empty: bool| {
        let part = part(text, range.clone());
        let trimmed = part.trim();
        let from = range.start + (part.len() - part.trim_start().len());
        if !trimmed.is_empty() {
            found.push(from..from + trimmed.len());
        } else if may_be_empty {
            found.push(range.start..range.start);
        }
    };
    let mut start = 0;
    if text.contains('|') {
        // A bar at the edge of the table opens no cell.
        let edge = |at: usize| text.get(..at).is_some_and(|before| before.is_empty());
        for (at, _) in text.match_indices('|') {
            put(start..at, !edge(at));
            start = at + 1;
        }
        put(start..text.len(), !text.trim_end().ends_with('|') || text.ends_with(' '));
        return found;
    }
    let bytes = text.as_bytes();
    let is_gap =
        |at: usize| bytes.get(at) == Some(&b'\t') || (bytes.get(at) == Some(&b' ') && bytes.get(at + 1) == Some(&b' '));
    for at in (0..bytes.len()).filter(|at| is_gap(*at)) {
        put(start..at, false);
        start = at + 1;
    }
    put(start..text.len(), false);
    found
}

fn text_of(document: &Document, line: usize) -> Option<&str> {
    std::str::from_utf8(document.line(line)?).ok()
}

/// A line of `-`, `=`, `+` and bars.
fn is_rule(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().all(|c| c.is_whitespace() || "-=+|:_".contains(c))
}

/// Number of a year, which heads a column.
fn is_year(figure: &Figure, text: &str) -> bool {
    let digits = part(text, figure.range.clone());
    digits.len() == 4 && figure.readings.iter().any(|one| (Number::whole(1900)..Number::whole(2100)).contains(one))
}

/// Tells whether a cell can head a column: it holds words or a year, and no value.
fn is_heading_cell(text: &str, convention: Convention) -> bool {
    figures(text, convention).iter().all(|figure| figure.role == FigureRole::Label || is_year(figure, text))
}

/// The row that holds a place, with the headings of its columns.
struct HeadedRow<'d> {
    text: &'d str,
    cells: Vec<Range<usize>>,
    /// The heading of each cell.
    headings: Vec<Option<&'d str>>,
}

fn row(document: &Document, convention: Convention, line: usize) -> Option<HeadedRow<'_>> {
    let text = text_of(document, line)?;
    let own = cells(text);
    if own.len() < 2 {
        return None;
    }
    for above in (line.saturating_sub(NEAR)..line).rev() {
        let head = text_of(document, above)?;
        if head.trim().is_empty() || is_rule(head) {
            continue;
        }
        let parts = cells(head);
        if parts.len() < 2 {
            // A sentence ends the table.
            if words(head).len() > 8 {
                break;
            }
            continue;
        }
        let first_free = usize::from(parts.len() > 1 && parts.len() >= own.len());
        let heads = |range: &Range<usize>| is_heading_cell(part(head, range.clone()), convention);
        if !parts[first_free..].iter().all(heads) {
            continue;
        }
        let is_barred = text.contains('|') && head.contains('|');
        let headings: Vec<Option<&str>> = own
            .iter()
            .enumerate()
            .map(|(n, cell)| {
                let range = if is_barred {
                    parts.get(n).filter(|_| parts.len() == own.len())?
                } else {
                    parts
                        .iter()
                        .max_by_key(|part| overlap(text, cell, head, part))
                        .filter(|part| overlap(text, cell, head, part) > 0)?
                };
                head.get(range.clone()).filter(|text| !text.is_empty())
            })
            .collect();
        return headings.iter().flatten().next().is_some().then_some(HeadedRow { text, cells: own, headings });
    }
    None
}

/// Number of columns of characters that two cells of two lines share; cells that end at the same column share one.
fn overlap(text: &str, cell: &Range<usize>, head: &str, part: &Range<usize>) -> usize {
    let column = |text: &str, at: usize| text.get(..at).map_or(0, |before| before.chars().count());
    let (a, b) =
        ((column(text, cell.start), column(text, cell.end)), (column(head, part.start), column(head, part.end)));
    let shared = a.1.min(b.1).saturating_sub(a.0.max(b.0));
    if shared == 0 && a.1.abs_diff(b.1) <= 1 { 1 } else { shared }
}

/// The heading of the column in which bytes of the document stand.
pub(crate) fn heading<'d>(document: &'d Document, convention: Convention, place: &Range<usize>) -> Option<&'d str> {
    let line = document.line_at(place.start);
    let at = place.end.checked_sub(document.offset(line)?)?;
    let row = row(document, convention, line)?;
    let own = row.cells.iter().position(|cell| cell.start < at && at <= cell.end + 1)?;
    *row.headings.get(own)?
}

/// Says so where the question names another column, row or part of the sentence than that of a value.
///
/// `taken`: where the values of the other items stand.
pub(super) fn other_named(
    asked: &Asked<'_>,
    evidence: &Evidence<'_>,
    item: &AnswerItem<'_>,
    places: &[Range<usize>],
    taken: &[Range<usize>],
) -> Option<Message> {
    let document = evidence.document?;
    let (key, value) = item.value.as_ref()?;
    let is_name = is_name(key.utf8()?, *value);
    let place = places.first().filter(|_| !asked.words.is_empty())?;
    if !is_name && (value.kind() == Kind::Object && value.get("rows").is_some() || places.len() > 1) {
        return None;
    }
    let line = document.line_at(place.start);
    let start = document.offset(line)?;
    let local = place.start.checked_sub(start)?..place.end.checked_sub(start)?;
    let text = text_of(document, line)?;
    let own = figures(text, evidence.convention);
    let own = own.iter().find(|figure| figure.range.start < local.end && local.start < figure.range.end);
    if is_name {
        return if asks_who(asked.question) {
            other_label(asked, text, start, &local, taken).or_else(|| other_row(asked, evidence, line, None, taken))
        } else {
            None
        };
    }
    // A text that is no name may be any cell of its row.
    let is_measured = own.map_or(value.kind() == Kind::Object, |own| !own.is_bare() || !is_year(own, text));
    let by_row = || other_row(asked, evidence, line, own, taken).filter(|_| is_measured);
    // A yes or no is compared with every cell of its row.
    let is_truth = matches!(value.kind(), Kind::True | Kind::False);
    let by_column = if is_truth { None } else { other_column(asked, evidence, line, &local) };
    by_column
        .or_else(by_row)
        .or_else(|| other_part(asked, evidence, place, taken))
        .or_else(|| other_entry(asked, evidence, (line, &local), taken))
        .or_else(|| other_sentence(asked, evidence, line, &local, taken))
}

/// Says so where a line has several entries, `Buildings: 500. Contents: 75.`, and the question names the label of another.
fn other_entry(
    asked: &Asked<'_>,
    evidence: &Evidence<'_>,
    (line, local): (usize, &Range<usize>),
    taken: &[Range<usize>],
) -> Option<Message> {
    let document = evidence.document?;
    let (text, start) = (text_of(document, line)?, document.offset(line)?);
    let mut ends: Vec<usize> =
        [". ", "; "].iter().flat_map(|end| text.match_indices(end).map(|(at, _)| at + 2)).collect();
    ends.sort_unstable();
    let starts: Vec<usize> = std::iter::once(0).chain(ends).chain(std::iter::once(text.len())).collect();
    let entries: Vec<Range<usize>> = starts.windows(2).filter_map(|pair| Some(*pair.first()?..*pair.last()?)).collect();
    let label = |entry: &Range<usize>| {
        let (label, rest) = part(text, entry.clone()).split_once(':')?;
        let is_label = label.len() <= MAX_LABEL && label.chars().any(char::is_alphabetic);
        is_label.then_some((label.trim(), rest))
    };
    let own = entries.iter().find(|entry| entry.start <= local.start && local.start < entry.end)?;
    let (own_label, _) = label(own)?;
    let found = figures(text, evidence.convention);
    let figure = found.iter().find(|figure| figure.range.start < local.end && local.start < figure.range.end)?;
    if !asked.held_by(own_label).is_empty() {
        return None;
    }
    let is_named = |label: &str| asked.names(label);
    let label = entries.iter().filter(|entry| *entry != own).find_map(|entry| {
        let (label, rest) = label(entry)?;
        let is_taken = taken.iter().any(|place| (start + entry.start..start + entry.end).contains(&place.start));
        let is_of_kind = figures(rest, evidence.convention).iter().any(|other| is_alike(figure, other));
        (is_named(label) && is_of_kind && !is_taken).then_some(label)
    })?;
    let message = Message::new("The value is under ").quoted(own_label.as_bytes());
    Some(message.text(", but the question names ").quoted(label.as_bytes()).text("."))
}

/// Says so where another line holds the words of the question and a value of the kind, and the cited lines no such word.
fn other_sentence(
    asked: &Asked<'_>,
    evidence: &Evidence<'_>,
    line: usize,
    local: &Range<usize>,
    taken: &[Range<usize>],
) -> Option<Message> {
    let document = evidence.document?;
    // The sentence may begin some lines before the cited ones.
    const LINES: usize = 4;
    let ends = |text: &&str| !text.trim_end().ends_with(['.', ';', ':']);
    let before = (line.saturating_sub(LINES)..line).rev().filter_map(|line| text_of(document, line));
    let is_held = |text: &str| !asked.held_by(text).is_empty();
    if is_held(&evidence.text()) || before.take_while(ends).any(is_held) {
        return None;
    }
    let text = text_of(document, line)?;
    let days = |text: &str| date::found(text).iter().any(|one| one.meanings.iter().any(date::WrittenDate::has_day));
    let is_day = date::found(text).iter().any(|one| one.range.start < local.end && local.start < one.range.end);
    let own = figures(text, evidence.convention);
    let own = own.iter().find(|figure| figure.range.start < local.end && local.start < figure.range.end);
    let is_taken = |line: usize| taken.iter().any(|place| document.line_at(place.start) == line);
    let near = line.saturating_sub(NEAR)..line.saturating_add(NEAR).min(document.len());
    let other = near.filter(|other| *other != line && !is_taken(*other)).find_map(|other| {
        let text = text_of(document, other)?;
        let is_of_kind = match own {
            _ if is_day => days(text),
            Some(own) if !own.is_bare() => {
                figures(text, evidence.convention).iter().any(|figure| is_alike(own, figure))
            }
            _ => false,
        };
        (is_of_kind && asked.are_nearly_all(&asked.held_by(text))).then_some(text)
    })?;
    let message = Message::new("No word of the question is in the cited lines; they are in another: ");
    Some(message.quoted(other.trim().as_bytes()).text("."))
}

/// Tells whether a value names somebody.
fn is_name(key: &str, value: stepscope_base::json::Value<'_>) -> bool {
    let is_person = key.contains("person") || key == "name";
    let text = value.string();
    let is_capital = text.as_ref().and_then(|text| text.utf8()).is_some_and(|text| {
        let own = telling(text);
        !own.is_empty() && own.len() <= 6 && own.iter().all(|word| word.capital)
    });
    is_person || is_capital
}

fn other_column(asked: &Asked<'_>, evidence: &Evidence<'_>, line: usize, local: &Range<usize>) -> Option<Message> {
    let row = row(evidence.document?, evidence.convention, line)?;
    let own = row.cells.iter().position(|cell| cell.start < local.end && local.start < cell.end)?;
    let heading = (*row.headings.get(own)?)?;
    if asked.names(heading) {
        return None;
    }
    let is_value = |cell: &Range<usize>| {
        let cell = part(row.text, cell.clone());
        figures(cell, evidence.convention).iter().any(|figure| figure.role == FigureRole::Value)
    };
    if !row.cells.get(own).is_some_and(is_value) {
        return None;
    }
    let mut named = row.cells.iter().zip(&row.headings).enumerate().filter_map(|(n, (cell, heading))| {
        let heading = (*heading)?;
        (n != own && is_value(cell) && asked.names(heading)).then_some(heading)
    });
    let other = named.next()?;
    if named.next().is_some() {
        return None;
    }
    let message = Message::new("The value is under ").quoted(heading.as_bytes());
    Some(message.text(", but the question names ").quoted(other.as_bytes()).text("."))
}

/// The label of a line: its first cell, or what stands before a colon.
fn label(text: &str) -> Option<&str> {
    let own = cells(text);
    let first = match own.as_slice() {
        [first, second, ..] => {
            let text_of = |range: &Range<usize>| text.get(range.clone());
            // The number of an entry is no label.
            let is_word = text_of(first)?.chars().any(char::is_alphabetic);
            if is_word { text_of(first) } else { text_of(second) }
        }
        _ => text.split_once(':').map(|(label, _)| label.trim()),
    }?;
    // "Total" is of whatever its table counts.
    const GENERIC: [&str; 6] = ["total", "totals", "sum", "amount", "summe", "gesamt"];
    let is_generic = telling(first).iter().all(|word| GENERIC.contains(&word.folded.as_str()));
    (first.len() <= MAX_LABEL && first.chars().any(char::is_alphabetic) && !is_generic).then_some(first)
}

fn other_row(
    asked: &Asked<'_>,
    evidence: &Evidence<'_>,
    line: usize,
    own: Option<&Figure>,
    taken: &[Range<usize>],
) -> Option<Message> {
    let document = evidence.document?;
    let text = text_of(document, line)?;
    let here = asked.held_by(text);
    let is_unlabelled = text.contains('|') && label(text).is_none();
    if is_unlabelled || is_heading_line(text, evidence) || label(text).is_some_and(|label| asked.names(label)) {
        return None;
    }
    let is_taken = |line: usize| taken.iter().any(|place| document.line_at(place.start) == line);
    let near =
        (line.saturating_sub(NEAR)..line.saturating_add(NEAR).min(document.len())).filter(|other| *other != line);
    for other in near {
        let Some(text) = text_of(document, other) else { continue };
        let Some(label) = label(text).filter(|label| asked.names(label)) else { continue };
        let rest = text.split_once(label).map_or("", |(_, rest)| rest);
        let is_of_kind = match own {
            Some(own) => figures(rest, evidence.convention).iter().any(|figure| is_alike(own, figure)),
            None => rest.split_whitespace().any(|word| word.starts_with(char::is_uppercase)),
        };
        let is_heading = is_heading_line(text, evidence);
        if is_of_kind && !is_heading && !is_taken(other) && is_more(&asked.held_by(label), &here) {
            let message = Message::new("The question names ").quoted(label.as_bytes());
            return Some(message.text(", which is on another line: ").quoted(text.trim().as_bytes()).text("."));
        }
    }
    None
}

fn is_heading_line(text: &str, evidence: &Evidence<'_>) -> bool {
    let own = cells(text);
    own.len() > 1 && own.iter().all(|cell| is_heading_cell(part(text, cell.clone()), evidence.convention))
}

/// Tells whether a figure is a value of the kind of another.
fn is_alike(own: &Figure, other: &Figure) -> bool {
    other.role == FigureRole::Value && own.is_of_kind(other)
}

/// The parts of one line that name several, as `Chair - A; Secretary - B`.
fn other_label(
    asked: &Asked<'_>,
    text: &str,
    start: usize,
    local: &Range<usize>,
    taken: &[Range<usize>],
) -> Option<Message> {
    let parts = named_parts(text, local.start);
    let part = |range: &Range<usize>| part(text, range.clone());
    let own = parts.iter().find(|range| range.start < local.end && local.start < range.end)?;
    let here = asked.held_by(part(own));
    let is_taken = |range: &Range<usize>| {
        taken.iter().any(|place| (start + range.start..start + range.end).contains(&place.start))
    };
    let other = parts.iter().find(|range| {
        let has_name =
            words(part(range)).iter().filter(|word| word.capital && !asked.holds(word, part(range))).count() > 0;
        *range != own && has_name && !is_taken(range) && is_more(&asked.held_by(part(range)), &here)
    })?;
    let message = Message::new("The words of the question are at another name: ");
    Some(message.quoted(part(other).trim().as_bytes()).text("."))
}

/// The parts of a line of which each names somebody, around a place: what semicolons, bars and wide gaps part, or the
/// brackets behind names, else what commas part.
fn named_parts(text: &str, at: usize) -> Vec<Range<usize>> {
    // "Elected: Chair - A; Secretary - B" has one heading; of "Chair: A; Secretary: B" each part has its own.
    let colon = text.find(':').filter(|colon| *colon < at);
    let has_one = colon.is_some_and(|colon| text.get(colon + 1..).is_some_and(|rest| !rest.contains(':')));
    let body = colon.filter(|_| has_one).map_or(0, |colon| colon + 1);
    let cut = |is_end: &dyn Fn(usize, char) -> bool| {
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut from = body;
        for (at, c) in text.char_indices().filter(|(at, _)| *at >= body) {
            if is_end(at, c) {
                parts.push(from..at);
                from = at + c.len_utf8();
            }
        }
        parts.push(from..text.len());
        parts
    };
    let coarse = cut(&|at, c| matches!(c, ';' | '|') || part(text, at..).starts_with("  "));
    if coarse.iter().filter(|range| !part(text, (*range).clone()).trim().is_empty()).count() > 1 {
        return coarse;
    }
    // A role in brackets belongs to the name before it.
    let closes = |at: usize, c: char| c == ')' && !part(text, at + 1..).trim().is_empty();
    if text.get(body..).is_some_and(|body| body.contains(" (")) {
        return cut(&closes);
    }
    cut(&|_, c| c == ',')
}

/// Phrases before the lower and the upper end of a range.
const LEAST: &str = "not less than|no less than|at least|minimum|mindestens|au moins|no fewer than";
const MOST: &str = "not more than|no more than|at most|maximum|up to|not exceed|höchstens|bis zu|au plus|jusqu";

fn other_part(
    asked: &Asked<'_>,
    evidence: &Evidence<'_>,
    place: &Range<usize>,
    taken: &[Range<usize>],
) -> Option<Message> {
    let passage = evidence
        .lines
        .iter()
        .find(|passage| passage.base.is_some_and(|base| (base..base + passage.text.len()).contains(&place.start)))?;
    let base = passage.base?;
    let at = place.start - base;
    let before = passage.text.get(..at)?;
    let from = before.rfind(". ").or_else(|| before.rfind(".\n")).map_or(0, |at| at + 2);
    let rest = passage.text.get(at..)?;
    let end = rest.find(". ").or_else(|| rest.find(".\n")).map_or(passage.text.len(), |end| at + end);
    let sentence = passage.text.get(from..end)?;
    // Two lists that belong together one by one are read by no nearness.
    let lower = sentence.to_lowercase();
    let is_paired =
        ["respectively", "beziehungsweise", "jeweils", "respectivement"].iter().any(|word| lower.contains(word));
    if sentence.contains('|') || sentence.contains("   ") || is_paired {
        return None;
    }
    let all = figures(sentence, evidence.convention);
    let local = at - from;
    let own = all.iter().find(|figure| figure.range.contains(&local) || figure.range.start == local)?;
    let alike: Vec<&Figure> = all.iter().filter(|figure| is_alike(own, figure)).collect();
    let own_at = alike.iter().position(|figure| figure.range == own.range)?;
    if alike.len() < 2
        || alike.windows(2).any(|pair| pair.first().zip(pair.last()).is_some_and(|(a, b)| b.range.start < a.range.end))
    {
        return None;
    }
    let is_taken = |figure: &Figure| {
        let range = base + from + figure.range.start..base + from + figure.range.end;
        taken.iter().any(|place| place.start < range.end && range.start < place.end)
    };
    let words_of = |figure: &Figure| part(sentence, figure.range.clone()).trim();
    let said = |other: &Figure| {
        let message = Message::new("The words of the question are at ").quoted(words_of(other).as_bytes());
        message.text(" of the cited sentence, not at ").quoted(words_of(own).as_bytes()).text(".")
    };
    if let Some(other) = other_end(asked, sentence, &alike, own).filter(|other| !is_taken(other)) {
        return Some(said(other));
    }
    let parts = parts_of(sentence, &alike)?;
    let held = |range: Range<usize>| asked.held_by(part(sentence, range));
    let of_figure = |n: usize| parts[n].clone();
    let here = held(of_figure(own_at));
    let behind_own = held(own.range.end..of_figure(own_at).end);
    for (n, other) in alike.iter().enumerate().filter(|(n, figure)| *n != own_at && !is_taken(figure)) {
        let there = held(of_figure(n));
        // "150 for each claim, or 350 for claims by water": the second goes on with the words before the first.
        let goes_on = n > own_at && telling(part(sentence, of_figure(n).start..other.range.start)).is_empty();
        let is_named = if goes_on {
            let before = held(0..of_figure(own_at).end);
            there.iter().any(|word| !before.contains(word)) && behind_own.iter().all(|word| there.contains(word))
        } else {
            let is_whole = here.is_empty()
                && (asked.are_nearly_all(&there) || asked.are_all(&there))
                && has_label(sentence, &of_figure(own_at), own);
            is_whole || (here.iter().any(|word| there.contains(word)) && is_more(&there, &here))
        };
        if is_named {
            return Some(said(other));
        }
    }
    None
}

/// Tells whether words of its own part tell what a figure is.
fn has_label(sentence: &str, range: &Range<usize>, figure: &Figure) -> bool {
    let parts = [range.start..figure.range.start, figure.range.end..range.end];
    parts.into_iter().any(|range| telling(part(sentence, range)).iter().any(|word| !word.has_digit()))
}

/// The figure at the other end of a range, where the question asks for that end.
fn other_end<'f>(asked: &Asked<'_>, sentence: &str, alike: &[&'f Figure], own: &Figure) -> Option<&'f Figure> {
    const LOWEST: &str = "minimum lowest least mindestens mindest minimal minimale";
    const HIGHEST: &str = "maximum highest most hochstens hochst maximal maximale";
    let asks = |list: &str| {
        words(asked.question).iter().any(|word| {
            list.split(' ').any(|known| word.folded == known || (known.len() > 6 && word.folded.starts_with(known)))
        })
    };
    let (lowest, highest) = (asks(LOWEST), asks(HIGHEST));
    let (wanted, not) = match (lowest, highest) {
        (true, false) => (LEAST, MOST),
        (false, true) => (MOST, LEAST),
        _ => return None,
    };
    let stands = |figure: &Figure, list: &str| {
        let before = part(sentence, ..figure.range.start);
        let near = before.char_indices().rev().nth(20).map_or(0, |(at, _)| at);
        let near = part(before, near..).to_lowercase();
        list.split('|').any(|phrase| near.contains(phrase))
    };
    if !stands(own, not) || stands(own, wanted) {
        return None;
    }
    alike.iter().copied().find(|figure| figure.range != own.range && stands(figure, wanted))
}

/// The parts of a sentence that belong to its figures; `None` where no sign or word parts two of them.
fn parts_of(sentence: &str, alike: &[&Figure]) -> Option<Vec<Range<usize>>> {
    let mut cuts = vec![0];
    for pair in alike.windows(2) {
        let [first, second] = pair else { return None };
        let between = sentence.get(first.range.end..second.range.start)?;
        let signs = between.find([';', ',', '.']);
        let joins =
            || [" and ", " or ", " und ", " oder ", " et ", " ou ", " y "].iter().find_map(|word| between.find(word));
        cuts.push(first.range.end + signs.or_else(joins)?);
    }
    cuts.push(sentence.len());
    Some(cuts.windows(2).filter_map(|pair| Some(*pair.first()?..*pair.last()?)).collect())
}
