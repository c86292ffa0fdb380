//! A structured answer as people read it: its items with their values as people read them, its resolved citations,
//! the document, and what to do next.

use std::ops::Range;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use crate::notes::Note;
use stepscope_base::fit::{pad, pad_left};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, ShownMap, Untrusted, head};
use stepscope_evidence::citations::{
    Grounding, Resolution, SharedMistake, Tier, differences, lines_in_words, parts, recovered, shared_offset,
};
use stepscope_evidence::document::Document;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_evidence::typed::{AnswerItem, Citation, TypedAnswer};
use stepscope_judge::case::CaseView;
use stepscope_judge::route::Route;
use stepscope_judge::support::ValueStanding;
use stepscope_review::event::letter;

/// Maximum number of lines of one value that are made ready; the JSON has the rest.
const MAX_LINES: usize = 200;
/// Maximum number of bytes of one text.
const MAX_TEXT: usize = 16 << 10;
/// A column of a table is at most so wide.
const MAX_CELL: usize = 40;

/// Name of the row that says whether the answer was cut off; its proof is in the document.
pub const TRUNCATION: &str = "continues?";
/// The name of the row that says what is to be done with the answer.
pub const ROUTE: &str = "route";
const FLAGS: [(&str, &str); 4] = [
    ("answer_found", "answered"),
    ("complete_answer_found", "complete"),
    ("conflicting_evidence", "conflict"),
    ("context_structured", "structured"),
];
const SCALARS: [(&str, &str); 4] = [
    ("extraction_method", "method"),
    ("confidence", "confidence"),
    ("context_completeness_weak", "context"),
    ("suggested_clarification", "asks back"),
];
const LISTS: [(&str, &str); 3] =
    [("caveats", "caveat"), ("keywords_found", "keywords"), ("llm_discovered_keywords", "discovered")];

/// Names of rows as titles.
const TITLES: [(&str, &str); 14] = [
    (ROUTE, "Route"),
    (TRUNCATION, "Continues?"),
    ("asked for", "Requested type"),
    ("numbering", "Numbering"),
    ("answered", "Answered"),
    ("complete", "Complete"),
    ("conflict", "Conflict"),
    ("structured", "Structured"),
    ("method", "Method"),
    ("confidence", "Confidence"),
    ("context", "Context"),
    ("asks back", "Asks back"),
    ("caveat", "Caveat"),
    ("raw reply", "Raw reply"),
];

/// Answer as it is shown.
#[derive(Debug, Default)]
pub struct ShownAnswer {
    /// Items of the answer, in the answer's order.
    pub items: Vec<ItemView>,
    /// Answer as text, where it could not be read as items.
    pub text: Option<Shown>,
    /// The items in the order in which they are shown: what rests on nothing comes first.
    pub order: Vec<usize>,
    /// Citations of all items, in the order of the items.
    pub spans: Vec<SpanView>,
    /// Number of items whose quotes are where they should be; `None` where the document that would tell is missing.
    pub grounded: Option<usize>,
    /// Document that the answer cites.
    pub document: Option<Arc<Document>>,
    /// The pages that the model saw.
    pub retrieved: Vec<i64>,
    /// Statements of the answer about itself, and what follows from them.
    pub facts: Vec<Fact>,
    /// The route of the answer, and the first reason for it.
    pub decided: Option<(Route, Shown)>,
    /// The routes that findings lead to: the rule, where its finding is, the route.
    pub led: Vec<(Shown, Pointer, Route)>,
    /// Lines of the page after the last one that the model saw.
    pub peek: Option<Range<usize>>,
}

/// Item of the answer.
#[derive(Debug, Clone)]
pub struct ItemView {
    /// The key of its value, `amount`; of an answer with a field each also the field's name.
    pub title: Shown,
    /// The value.
    pub lines: Vec<Shown>,
    /// Range of its citations among all citations.
    pub spans: Range<usize>,
    /// Grounding of the item: that of its worst citation; unproven where its value is missing.
    pub standing: Grounding,
    /// The cited lines do not hold its value.
    pub is_missing: bool,
    /// Bytes of the document at which its value stands.
    pub places: Vec<Range<usize>>,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

/// Citation of an item.
#[derive(Debug, Clone)]
pub struct SpanView {
    /// Index of its item.
    pub item: usize,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// Grounding of the citation.
    pub standing: Grounding,
    /// Result, in a word or two: `exact`, `3 lines below`, `nowhere`.
    pub badge: Shown,
    /// The lines as they are written.
    pub written: Shown,
    /// The place that is cited, in words; `None`: it was not looked up.
    pub place: Option<Shown>,
    /// Lines of the document that show best what it rests on, and the parts of them that are meant.
    pub passage: Option<FoundView>,
    /// The cited lines that the document has, under the contract's numbering.
    pub cited: Option<Range<usize>>,
    /// Place where the quote was found.
    pub found: Option<FoundView>,
    /// Lines that the quote resembles, where it was not found.
    pub near: Option<Range<usize>>,
    /// Result, in sentences.
    pub sentences: Vec<Shown>,
    /// The model's words.
    pub quote: Option<Shown>,
    /// Parts of the quote that are not in the document's words.
    pub quote_marks: Vec<Range<usize>>,
    /// The document's words there.
    pub recovered: Option<Shown>,
    /// Parts of the document's words that are not in the model's words.
    pub recovered_marks: Vec<Range<usize>>,
}

/// Place of a quote in the document.
#[derive(Debug, Clone)]
pub struct FoundView {
    /// The lines.
    pub lines: Range<usize>,
    /// Part of each line that belongs to the quote, in bytes of the line.
    pub parts: Vec<(usize, Range<usize>)>,
}

/// Weight of a text: what is good, what speaks against it, and what is only said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Neither for nor against it.
    Plain,
    /// Of little weight.
    Quiet,
    /// For it.
    Good,
    /// Against it.
    Doubt,
}

/// Row about the answer as a whole.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Subject of the row; empty if it continues the row above.
    pub name: &'static str,
    /// Text of the row.
    pub text: Shown,
    /// Weight of the row.
    pub tone: Tone,
    /// Whole text, where the row shows a part.
    pub whole: Option<Shown>,
    /// Position in the record, as a JSON pointer.
    pub pointer: Option<Pointer>,
}

impl Fact {
    /// Makes a row.
    pub fn new(name: &'static str, text: Shown, tone: Tone) -> Self {
        Self { name, text, tone, whole: None, pointer: None }
    }

    /// Returns its name as a title.
    pub fn title(&self) -> &'static str {
        TITLES.iter().find(|(name, _)| *name == self.name).map_or(self.name, |(_, title)| title)
    }

    fn at(self, pointer: Pointer) -> Self {
        Self { pointer: Some(pointer), ..self }
    }
}

impl ShownAnswer {
    /// Collects what is shown of an answer; `None` if the record is not a structured answer.
    pub(crate) fn of(case: &CaseView<'_>) -> Option<Self> {
        let (typed, answered) = case.answered()?;
        let document = case.document().cloned();
        let retrieved = typed.retrieved();
        let resolutions: Vec<&Resolution> = case.resolutions().iter().map(|cited| &cited.resolution).collect();
        let mut items = items(&answered.items);
        let spans = spans(&answered.items, document.as_deref(), &resolutions);
        for (n, item) in items.iter_mut().enumerate() {
            let own = &spans[item.spans.clone()];
            item.standing = own.iter().map(|span| span.standing).min().unwrap_or(Grounding::Nowhere);
            let Some(support) = case.supports().get(n) else { continue };
            item.places.clone_from(&support.places);
            if support.standing == ValueStanding::Missing {
                item.is_missing = true;
                item.standing = item.standing.min(Grounding::Unproven);
            }
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|item| items.get(*item).map(|view| view.standing));
        let offset = shared_offset(resolutions).map(offset_in_words);
        let truncation = case.truncation();
        let facts = facts(typed, case, offset);
        let text = typed.answer_text.filter(|_| items.is_empty()).and_then(Value::string);
        Some(Self {
            items,
            text: text.map(|text| Shown::prose(head(text.bytes(), MAX_TEXT))).filter(|text| !text.as_str().is_empty()),
            order,
            spans,
            grounded: case.grounded(),
            led: led(case),
            decided: decided(case),
            facts,
            document,
            retrieved,
            peek: truncation.map(|truncation| truncation.peeked.clone()).filter(|peek| !peek.is_empty()),
        })
    }

    /// Returns what a finding says, wherever it is: its rule, its message, and the route that it leads to.
    pub fn said_by<'n>(&self, note: &'n Note) -> (&'n str, &'n str, Option<Route>) {
        let leads = |(rule, pointer, _): &&(Shown, _, _)| rule.as_str() == note.rule && *pointer == note.pointer;
        (note.rule, note.message.as_str(), self.led.iter().find(leads).map(|(.., route)| *route))
    }

    /// Tells whether a finding about an item alone has the answer refused.
    pub fn is_refused(&self, item: &ItemView) -> bool {
        self.led.iter().any(|(_, pointer, route)| *route == Route::Reject && pointer.is_within(&item.pointer))
    }

    /// Returns the letter of the item that a place belongs to.
    pub fn letter_at(&self, pointer: &Pointer) -> Option<String> {
        self.items.iter().position(|item| pointer.is_within(&item.pointer)).map(letter)
    }

    /// Returns the badge of an item's worst citation, unless its quote is where it was cited.
    pub fn worst_badge(&self, item: &ItemView) -> Option<&Shown> {
        let spans = &self.spans[item.spans.clone()];
        let worst = spans.iter().min_by_key(|span| span.standing)?;
        (worst.standing != Grounding::Grounded).then_some(&worst.badge)
    }
}

fn offset_in_words(shared: SharedMistake) -> Shown {
    match shared {
        SharedMistake::Offset(-1) => Shown::own("all line numbers count from 1: each is one too high"),
        SharedMistake::Offset(by) if by < 0 => shown!("all line numbers are {} too high", by.unsigned_abs()),
        SharedMistake::Offset(by) => shown!("all line numbers are {by} too low"),
        SharedMistake::PageLocal => Shown::own("all line numbers count within their page"),
    }
}

fn spans(items: &[AnswerItem<'_>], document: Option<&Document>, resolutions: &[&Resolution]) -> Vec<SpanView> {
    let citations = items.iter().enumerate().flat_map(|(n, item)| item.citations.iter().map(move |span| (n, span)));
    citations
        .enumerate()
        .map(|(n, (item, citation))| span(item, citation, document.zip(resolutions.get(n).copied())))
        .collect()
}

fn span(item: usize, citation: &Citation<'_>, resolved: Option<(&Document, &Resolution)>) -> SpanView {
    let raw = citation.quote.and_then(Value::string);
    let quote = raw.as_ref().map(|quote| ShownMap::prose(head(quote.bytes(), MAX_TEXT)));
    let mut view = SpanView {
        item,
        pointer: citation.pointer.clone(),
        standing: Grounding::Unproven,
        badge: Shown::own(if quote.is_some() { "document not found" } else { "no quote" }),
        written: written(citation),
        place: None,
        passage: None,
        cited: None,
        found: None,
        near: None,
        sentences: Vec::new(),
        quote: quote.as_ref().map(|quote| quote.text.clone()),
        quote_marks: Vec::new(),
        recovered: None,
        recovered_marks: Vec::new(),
    };
    let Some((document, resolution)) = resolved else { return view };
    view.cited.clone_from(&resolution.cited);
    view.standing = resolution.grounding();
    view.badge = resolution.phrase();
    view.sentences = sentences(document, resolution);
    view.place = Some(resolution.cited_in_words(document));
    view.passage = passage(document, resolution);
    view.found =
        resolution.found.as_ref().map(|found| FoundView { lines: found.lines.clone(), parts: found.parts(document) });
    if let Some(near) = &resolution.near {
        let bytes = document.bytes(near.bytes.clone());
        let text = ShownMap::prose(bytes);
        let inside = |range: &Range<usize>| {
            text.range(range.start.saturating_sub(near.bytes.start)..range.end.saturating_sub(near.bytes.start))
        };
        view.recovered_marks = near.text.iter().map(inside).collect();
        view.recovered = Some(text.text.clone());
        let blanks = raw.as_ref().map_or(0, |raw| raw.bytes().len() - raw.bytes().trim_ascii_start().len());
        let moved =
            |range: &Range<usize>| quote.as_ref().map(|map| map.range(range.start + blanks..range.end + blanks));
        view.quote_marks = near.quote.iter().filter_map(moved).collect();
        view.near = Some(near.lines.clone());
    } else if let Some(text) = recovered(document, resolution) {
        let map = ShownMap::prose(head(&text, MAX_TEXT));
        if resolution.found.as_ref().is_some_and(|found| found.tier != Tier::Exact)
            && let (Some(raw), Some(quote)) = (&raw, &quote)
        {
            let differences = differences(raw.bytes(), &text);
            view.quote_marks = differences.quote.iter().map(|range| quote.range(range.clone())).collect();
            view.recovered_marks = differences.text.iter().map(|range| map.range(range.clone())).collect();
        }
        view.recovered = Some(map.text);
    }
    view
}

/// Finds the lines that show best what a citation rests on: those of its quote, else the nearest, else the cited ones.
fn passage(document: &Document, resolution: &Resolution) -> Option<FoundView> {
    let (lines, parts) = match (&resolution.found, &resolution.near) {
        (Some(found), _) => (found.lines.clone(), found.parts(document)),
        (None, Some(near)) => (near.lines.clone(), parts(document, &near.bytes)),
        (None, None) => (resolution.cited.clone()?, Vec::new()),
    };
    Some(FoundView { lines, parts })
}

/// Renders the lines of a citation as the answer writes them.
fn written(citation: &Citation<'_>) -> Shown {
    let text = |value: Option<Value<'_>>| value.filter(|value| !value.is_null()).map(line_of);
    let pair = |(first, last): (Option<String>, Option<String>)| match (first, last) {
        (Some(first), Some(last)) if first != last => Some(format!("{first}–{last}")),
        (first, last) => first.or(last),
    };
    let lines = pair((text(citation.lines.0), text(citation.lines.1)));
    let pages = pair((text(citation.pages.0), text(citation.pages.1))).map(|pages| format!("p{pages}"));
    let parts: Vec<String> = [pages, lines].into_iter().flatten().collect();
    if parts.is_empty() { Shown::own("no lines") } else { shown!("{}", parts.join(" ")) }
}

fn sentences(document: &Document, resolution: &Resolution) -> Vec<Shown> {
    let mut said = vec![shown!("cited {}", resolution.cited_in_words(document))];
    if let Some(found) = resolution.found.as_ref().filter(|_| !resolution.is_grounded()) {
        let numbering = resolution.numbering.filter(|numbering| *numbering != resolution.contract);
        let counted = numbering.map(|numbering| format!(", counted {}", numbering.phrase())).unwrap_or_default();
        said.push(shown!("found {}{counted}", lines_in_words(document, &found.lines)));
    }
    if resolution.total > 1 {
        said.push(shown!("found in {} places", resolution.total));
    }
    if let Some(near) = &resolution.near {
        said.push(shown!("closest {}", lines_in_words(document, &near.lines)));
    }
    said
}

/// Names a route for people, as short as a column of the table.
pub const fn route_name(route: Route) -> &'static str {
    match route {
        Route::ShowConflict => "conflict",
        Route::NoAnswer => "no answer",
        Route::HumanReview => "human",
        other => other.word(),
    }
}

/// Returns the route of the answer with the first reason for it; without one, with what the route means.
fn decided(case: &CaseView<'_>) -> Option<(Route, Shown)> {
    let routed = case.routed()?;
    let first = routed.triggers.iter().find(|trigger| trigger.route == routed.route);
    Some((routed.route, first.map_or(Shown::own(routed.route.phrase()), |trigger| trigger.why.line())))
}

/// Lists the routes that findings lead to.
fn led(case: &CaseView<'_>) -> Vec<(Shown, Pointer, Route)> {
    let triggers = case.routed().into_iter().flat_map(|routed| &routed.triggers);
    triggers
        .filter_map(|trigger| Some((Shown::own(trigger.rule?.word()), trigger.pointer.clone(), trigger.route)))
        .collect()
}

/// Lists the rows about the answer as a whole: the route first, then its flags, then its words. What leads to a route
/// is told once: at the flag or the finding that it is.
fn facts(typed: &TypedAnswer<'_>, case: &CaseView<'_>, offset: Option<Shown>) -> Vec<Fact> {
    let mut own = own_facts(typed, case, offset);
    let Some(routed) = case.routed() else { return own };
    let decided = shown!("{}: {}", route_name(routed.route), routed.route.phrase());
    let mut facts = vec![Fact::new(ROUTE, decided, Tone::Plain)];
    for trigger in routed.triggers.iter().filter(|trigger| trigger.rule.is_none()) {
        if let Some(flag) = own.iter_mut().find(|fact| fact.pointer.as_ref() == Some(&trigger.pointer)) {
            flag.text = shown!("{} → {}: {}", flag.text, route_name(trigger.route), trigger.why.line());
            flag.tone = if trigger.route == Route::Ship { flag.tone } else { Tone::Doubt };
            continue;
        }
        let text = shown!("{} ← {}", route_name(trigger.route), trigger.why.line());
        let tone = if trigger.route == routed.route { Tone::Plain } else { Tone::Quiet };
        facts.push(Fact::new("", text, tone).at(trigger.pointer.clone()));
    }
    // What speaks against the answer comes first.
    own.sort_by_key(|fact| fact.tone != Tone::Doubt);
    facts.extend(own);
    facts
}

/// Lists the statements of the answer about itself.
fn own_facts(typed: &TypedAnswer<'_>, case: &CaseView<'_>, offset: Option<Shown>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let asked = case.answered().and_then(|(_, answered)| answered.asked.kind.as_ref());
    facts.extend(asked.map(|kind| Fact::new("asked for", kind.line(), Tone::Plain)));
    facts.extend(offset.map(|offset| Fact::new("numbering", offset, Tone::Doubt)));
    if let Some(truncation) = case.truncation() {
        let tone = match truncation.verdict {
            TruncationVerdict::Bounded => Tone::Good,
            TruncationVerdict::Truncated => Tone::Doubt,
            TruncationVerdict::Unknown => Tone::Quiet,
        };
        facts.push(Fact::new(TRUNCATION, shown!("{}: {}", truncation.verdict.word(), truncation.reason.line()), tone));
    }
    for (field, name) in FLAGS {
        let Some(value) = typed.base(field) else { continue };
        let is_bad = field == "conflicting_evidence";
        let (text, tone) = match value.bool() {
            Some(true) => (Shown::own("yes"), if is_bad { Tone::Doubt } else { Tone::Good }),
            Some(false) => (Shown::own("no"), if is_bad { Tone::Quiet } else { Tone::Doubt }),
            None => (shown!("{}", line_of(value)), Tone::Plain),
        };
        facts.push(Fact::new(name, text, tone).at(typed.pointer.then(field)));
    }
    for (field, name) in SCALARS {
        if let Some(value) = typed.base(field).filter(|value| !value.is_null()) {
            facts.push(Fact::new(name, shown!("{}", line_of(value)), Tone::Plain).at(typed.pointer.then(field)));
        }
    }
    for (field, name) in LISTS {
        let Some(list) = typed.base(field) else { continue };
        let pointer = typed.pointer.then(field);
        for (n, entry) in list.items().take(MAX_LINES).enumerate() {
            let name = if n == 0 { name } else { "" };
            // What the model warns of itself has the weight of a finding.
            let tone = if field == "caveats" { Tone::Doubt } else { Tone::Plain };
            facts.push(Fact::new(name, shown!("{}", line_of(entry)), tone).at(pointer.then(n)));
        }
    }
    if let Some(raw) = typed.meta.and_then(|meta| meta.get("raw_response")).filter(|raw| !raw.is_null()) {
        let whole = Some(Shown::prose(head(raw.raw(), MAX_TEXT)));
        facts.push(Fact { whole, ..Fact::new("raw reply", Shown::own("opens in a window"), Tone::Quiet) });
    }
    facts
}

/// Lists the items of an answer, their values as people read them.
fn items(items: &[AnswerItem<'_>]) -> Vec<ItemView> {
    let mut next = 0;
    let width = items.iter().filter_map(amount_width).max().unwrap_or(0);
    let view = |item: &AnswerItem<'_>| {
        let spans = next..next + item.citations.len();
        next = spans.end;
        ItemView {
            title: item.title(),
            lines: item.value.as_ref().map(|(key, value)| render(key, *value, width)).unwrap_or_default(),
            spans,
            standing: Grounding::Unproven,
            is_missing: false,
            places: Vec::new(),
            pointer: item.pointer.clone(),
        }
    };
    items.iter().map(view).collect()
}

/// Renders the value of an item as lines: an amount, a date, a table, anything.
fn render(key: &Untrusted<'_>, value: Value<'_>, amounts: usize) -> Vec<Shown> {
    let get = |name: &str| value.get(name).filter(|value| !value.is_null());
    match (key.utf8(), value.kind()) {
        (Some("amount"), Kind::Object) => {
            let words = ["currency", "unit"].iter().filter_map(|name| get(name)).map(line_of);
            let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
            let number = get("value").map(line_of).unwrap_or_default();
            vec![shown!("{} {}", pad_left(&number, amounts), words.join(" / "))]
        }
        (Some("date"), Kind::Object) => {
            let original = get("original").map(|original| format!("   “{}”", line_of(original)));
            vec![shown!("{}{}", get("iso").map(line_of).unwrap_or_default(), original.unwrap_or_default())]
        }
        (Some("table"), Kind::Object) => table(value),
        (_, Kind::Object) => value
            .members()
            .take(MAX_LINES)
            .map(|member| shown!("{}: {}", member.name().line(), line_of(member.value)))
            .collect(),
        (_, Kind::Array) => value.items().take(MAX_LINES).map(|item| shown!("• {}", line_of(item))).collect(),
        (_, Kind::String) => vec![prose(value)],
        _ => vec![shown!("{}", line_of(value))],
    }
}

/// Measures the number of an amount, in columns.
fn amount_width(item: &AnswerItem<'_>) -> Option<usize> {
    let (key, value) = item.value.as_ref()?;
    Some(line_of(value.get("value").filter(|_| *key == "amount")?).width().min(MAX_CELL))
}

fn table(value: Value<'_>) -> Vec<Shown> {
    let headers: Vec<String> = value.get("headers").into_iter().flat_map(Value::items).map(line_of).collect();
    let rows = value.get("rows").into_iter().flat_map(Value::items).take(MAX_LINES);
    let rows: Vec<Vec<String>> = rows.map(|row| row.items().map(line_of).collect()).collect();
    let columns = rows.iter().map(Vec::len).chain([headers.len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|n| rows.iter().chain([&headers]).filter_map(|row| row.get(n)).map(|cell| cell.width()).max())
        .map(|width| width.unwrap_or(0).min(MAX_CELL))
        .collect();
    let line = |cells: &Vec<String>| {
        let cells: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(n, width)| cells.get(n).map_or_else(|| pad("∅", (*width).max(1)), |cell| pad(cell, *width)))
            .collect();
        shown!("{}", cells.join(" │ ").trim_end())
    };
    let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
    let head = (!headers.is_empty()).then(|| [line(&headers), shown!("{rule}")]);
    head.into_iter().flatten().chain(rows.iter().map(line)).collect()
}

/// Renders a value on one line, a string without its quotes.
fn line_of(value: Value<'_>) -> String {
    let text = match value.kind() {
        Kind::String => value.string().map(|text| Shown::line(head(text.bytes(), MAX_TEXT))).unwrap_or_default(),
        // What has no form of its own is shown as it was written.
        _ => Shown::line(head(value.raw(), MAX_TEXT)),
    };
    text.into_string()
}

fn prose(value: Value<'_>) -> Shown {
    value.string().map(|text| Shown::prose(head(text.bytes(), MAX_TEXT))).unwrap_or_default()
}
