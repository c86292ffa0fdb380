//! Values of answers against the lines that they cite: where a value stands, and what of it does not.
//!
//! A value is looked for in the quotes of its item, and where these say nothing of its kind, in the cited lines. Numbers,
//! dates, names and negations are compared by what they mean, in any writing; other words of a text may be a paraphrase.

use std::ops::Range;

use stepscope_base::json::Kind;
use stepscope_evidence::citations::{QuotePlace, ResolvedCitation};
use stepscope_evidence::document::Document;
use stepscope_evidence::figures::{Convention, Language};
use stepscope_evidence::typed::{AnswerItem, AnswerRequest, Dialect, TypedAnswer};
use stepscope_record::finding::Severity;

mod amount;
mod asked;
mod claim;
mod date;
mod exchanged;
mod levels;
mod limits;
mod parts;
mod places;
mod statements;
mod table;
mod text;
pub(crate) mod truth;

pub(crate) use asked::{Asked, heading};
use claim::{Claimed, Evidence, Passage};
pub use claim::{ItemSupport, ValueFault, ValueStanding};
pub(crate) use date::day_first;

/// Number of items of one answer that are compared; the rest counts as not compared.
const MAX_ITEMS: usize = 2_000;
/// Number of items of one answer whose places are compared with the question.
const MAX_DOUBTED: usize = 50;
/// Number of bytes of quotes and lines that one answer may have read.
const MAX_BYTES: usize = 4 << 20;
/// Number of lines on each side of the cited ones that tell the convention of numbers and the scale of a table.
const AROUND: usize = 40;
/// Number of lines of one citation that are read.
const MAX_LINES: usize = 200;
/// Compares every item of an answer with what it cites.
pub(crate) fn supports(
    typed: &TypedAnswer<'_>,
    items: &[AnswerItem<'_>],
    asked: &AnswerRequest,
    question: &str,
    document: Option<&Document>,
    mut resolved: &[ResolvedCitation],
) -> Vec<ItemSupport> {
    let mut left = MAX_BYTES;
    let mut supports = Vec::with_capacity(items.len());
    let mut compared = Vec::new();
    for (n, item) in items.iter().enumerate() {
        // Without the document none is resolved.
        let own;
        (own, resolved) = resolved.split_at(item.citations.len().min(resolved.len()));
        let is_compared = n < MAX_ITEMS && item.is_found() && is_verbatim(typed, item);
        let evidence = if is_compared { evidence(item, document, own, left) } else { None };
        let Some(evidence) = evidence else {
            supports.push(ItemSupport::UNCHECKED);
            continue;
        };
        left = left.saturating_sub(evidence.passages().map(|passage| passage.text.len()).sum());
        supports.push(support(item, asked, question, &evidence));
        compared.push((n, evidence));
    }
    if !question.is_empty() {
        doubt(&mut supports, items, question, &compared);
    }
    supports
}

/// Looks for values of which the question names another.
fn doubt(supports: &mut [ItemSupport], items: &[AnswerItem<'_>], question: &str, compared: &[(usize, Evidence<'_>)]) {
    let asked = &asked::Asked::of(question);
    let places: Vec<Vec<Range<usize>>> = supports.iter().map(|support| support.places.clone()).collect();
    for (n, evidence) in compared.iter().take(MAX_DOUBTED) {
        let (Some(support), Some(item)) = (supports.get_mut(*n), items.get(*n)) else { continue };
        if support.standing != ValueStanding::Stands {
            continue;
        }
        let others = places.iter().enumerate().filter(|(other, _)| other != n).flat_map(|(_, places)| places.clone());
        let others: Vec<Range<usize>> = others.collect();
        let message = asked::other_named(asked, evidence, item, &support.places, &others)
            .or_else(|| places::other_place(question, evidence, item, &support.places, &others));
        support.doubt = message.zip(item.value_pointer()).map(|(message, pointer)| ValueFault {
            pointer,
            message: message.into(),
            severity: Severity::Warning,
        });
    }
}

/// Tells whether an item is said to be copied from the document. Answers with a field each do not say how they were got.
fn is_verbatim(typed: &TypedAnswer<'_>, item: &AnswerItem<'_>) -> bool {
    let own = item.root.get("extraction_method").filter(|method| method.kind() == Kind::String);
    match own.or_else(|| typed.base("extraction_method")) {
        Some(method) => method.is_string("verbatim"),
        None => typed.dialect() == Some(Dialect::Fields),
    }
}

fn evidence<'d>(
    item: &'d AnswerItem<'_>,
    document: Option<&'d Document>,
    resolved: &[ResolvedCitation],
    left: usize,
) -> Option<Evidence<'d>> {
    let document = document?;
    let mut quotes: Vec<Passage<'d>> = Vec::new();
    let mut lines: Vec<Passage<'d>> = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut spent = 0;
    for (_, cited) in item.citations.iter().zip(resolved) {
        let resolution = &cited.resolution;
        // What cannot be found has a finding of its own, and nothing can be compared with it.
        if matches!(
            resolution.place,
            QuotePlace::Nowhere | QuotePlace::Unsearched | QuotePlace::Undecided | QuotePlace::NotInDoc
        ) {
            return None;
        }
        let proven = match &resolution.found {
            Some(found) if resolution.place != QuotePlace::Cited => found.lines.clone(),
            _ => resolution.cited.clone()?,
        };
        if let Some(found) = &resolution.found {
            quotes.push(Passage {
                text: std::str::from_utf8(document.bytes(found.bytes.clone())).ok()?,
                base: Some(found.bytes.start),
            });
        }
        let proven = proven.start..proven.end.min(proven.start.saturating_add(MAX_LINES));
        if ranges.contains(&proven) {
            continue;
        }
        let text = std::str::from_utf8(document.text(proven.clone())).ok()?;
        spent += text.len();
        if spent > left {
            return None;
        }
        lines.push(Passage { text, base: document.offset(proven.start) });
        ranges.push(proven);
    }
    let first = ranges.iter().map(|range| range.start).min()?;
    let last = ranges.iter().map(|range| range.end).max()?;
    let near = (first.saturating_sub(AROUND)..first).chain(last..last.saturating_add(AROUND).min(document.len()));
    let around: Vec<&str> = near.filter_map(|line| std::str::from_utf8(document.line(line)?).ok()).collect();
    let texts: Vec<&str> = lines.iter().map(|passage| passage.text).collect();
    let own = Convention::of(texts.iter().copied());
    // The cited lines tell first: documents mix languages.
    let convention =
        if own == Convention::Unknown { Convention::of(texts.iter().chain(&around).copied()) } else { own };
    let language = Language::of(texts.iter().copied()).or_else(|| Language::of(around.iter().copied()));
    Some(Evidence { quotes, lines, around, convention, language, document: Some(document) })
}

fn support(item: &AnswerItem<'_>, asked: &AnswerRequest, question: &str, evidence: &Evidence<'_>) -> ItemSupport {
    let (Some((key, value)), Some(pointer)) = (item.value.as_ref(), item.value_pointer()) else {
        return ItemSupport::UNCHECKED;
    };
    let found = ItemSupport { standing: ValueStanding::Stands, places: Vec::new(), faults: Vec::new(), doubt: None };
    let mut claimed = Claimed { evidence, question, found };
    let value = *value;
    let is_text = *key == "text" || *key == "list" || (item.field.is_some() && value.kind() == Kind::String);
    match value.kind() {
        Kind::Object if value.get("iso").is_some() => date::compare(&mut claimed, value, pointer),
        Kind::Object if value.get("value").is_some() && (*key == "amount" || value.get("currency").is_some()) => {
            amount::compare(&mut claimed, value, pointer);
        }
        Kind::Object if value.get("rows").is_some() => table::compare(&mut claimed, value, pointer),
        Kind::True | Kind::False => truth::compare(&mut claimed, value, pointer),
        Kind::String if *key == "boolean" => truth::compare(&mut claimed, value, pointer),
        Kind::String if is_text => text::compare(&mut claimed, value, pointer, asked),
        Kind::Null => return ItemSupport::UNCHECKED,
        _ => parts::compare(&mut claimed, value, pointer),
    }
    claimed.found.settled()
}

#[cfg(test)]
mod tests;
