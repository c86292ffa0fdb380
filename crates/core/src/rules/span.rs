//! Cited spans against the document: whether the lines exist, and whether the quote stands in them.
//!
//! Five rules are published and fire as published; the others say what the published ones leave open. What is only a
//! matter of how a document was cut into lines is never more than a note.

use super::{Rule, RuleId};
use crate::answer::citations::{
    self, Numbering, QuoteMatch, QuotePlace, Resolution, SharedMistake, StitchedPart, Tier, lines_in_words,
};
use crate::answer::document::Document;
use crate::answer::typed::{AnswerItem, Citation, TypedAnswer};
use crate::case::CaseView;
use crate::finding::{Datum, Finding, Findings, Place, PlaceLabel, Severity};
use stepscope_base::json::{Part, Value};
use stepscope_base::python::Message;
use stepscope_base::text::{Untrusted, head};

mod boundary;

/// How much of the document's text is quoted in a finding.
const EXCERPT: usize = 160;
/// Of so many quotes that stand nowhere it is looked whether they are put together.
const MAX_STITCHED: usize = 16;
/// So many differing parts of a quote are marked.
const MAX_PARTS: usize = 4;

/// An answer trace with a small document, for examples: the method and the item are given.
macro_rules! trace {
    ($method:literal, $item:literal) => {
        concat!(
            r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the deductible?", "#,
            r#""retrieved_pages": [{"page_num": 1}, {"page_num": 2}], "document": {"lines": ["#,
            r#"{"page_num": 1, "line_num": 1, "text": "Section 2. Premium"}, "#,
            r#"{"page_num": 1, "line_num": 2, "text": "Deductible: USD 1,200 per claim."}, "#,
            r#"{"page_num": 1, "line_num": 3, "text": "The premium is due within thirty days after the begin-"}, "#,
            r#"{"page_num": 1, "line_num": 4, "text": "ning of the policy."}, "#,
            r#"{"page_num": 1, "line_num": 5, "text": "It is paid by bank transfer."}, "#,
            r#"{"page_num": 2, "line_num": 1, "text": "Section 3. Claims"}, "#,
            r#"{"page_num": 2, "line_num": 2, "text": "A claim is made in writing."}, "#,
            r#"{"page_num": 2, "line_num": 3, "text": "It is settled within ten days."}, "#,
            r#"{"page_num": 3, "line_num": 1, "text": "Section 4. End"}]}, "#,
            r#""answer": {"extraction_method": ""#,
            $method,
            r#"", "answer_found": true, "items": ["#,
            $item,
            "]}}"
        )
    };
}

/// The same text four times.
macro_rules! four_times {
    ($text:expr) => {
        concat!($text, $text, $text, $text)
    };
}

/// An answer with so many wrong quotes in so long lines that the search for them ends before its time.
macro_rules! too_much {
    () => {
        concat!(
            r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the deductible?", "#,
            r#""document": {"lines": [{"page_num": 1, "line_num": 1, "text": ""#,
            four_times!(four_times!(four_times!(four_times!("It is settled within ten days. ")))),
            r#""}, {"page_num": 2, "line_num": 1, "text": "It is paid by bank transfer."}]}, "#,
            r#""answer": {"extraction_method": "verbatim", "answer_found": true, "items": [{"text": "x", "spans": ["#,
            four_times!(four_times!(four_times!(four_times!(
                r#"{"line_start": 0, "line_end": 1, "quote": "Flood is excluded."}, "#
            )))),
            r#"{"line_start": 1, "line_end": 1, "quote": "It is paid by bank transfer."}]}]}}"#
        )
    };
}

/// The item of most good examples.
macro_rules! good {
    () => {
        trace!(
            "verbatim",
            r#"{"text": "USD 1,200", "spans": [{"line_start": 1, "line_end": 1, "quote": "Deductible: USD 1,200 per claim."}]}"#
        )
    };
}

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ItemNoSpans,
        summary: "every item cites at least one span",
        explanation: "An item without a span cannot be checked: nobody knows which lines it rests on, and the model may \
            have it from memory. This is a published check. Ask again, and ask for one span at least with every item.",
        bad: trace!("computed", r#"{"text": "USD 1,200", "spans": []}"#),
        good: good!(),
        check: check_no_spans,
    },
    Rule {
        id: RuleId::LineStartNotInDoc,
        summary: "line_start is a line of the document",
        explanation: "Lines are counted from 0 over the whole document, sorted by page and line. A number beyond the end \
            was made up, or counts something else. This is a published check. Where the quote stands in the document, \
            the finding beside this one says on which line.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 12, "line_end": 12, "quote": "Section 4. End"}]}"#
        ),
        good: good!(),
        check: check_line_start,
    },
    Rule {
        id: RuleId::LineEndNotInDoc,
        summary: "line_end is a line of the document",
        explanation: "The published checks look at line_start only. A span that ends behind the last line cites text that \
            does not exist; the lines that do exist are still compared with the quote.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 8, "line_end": 9, "quote": "Section 4. End"}]}"#
        ),
        good: good!(),
        check: check_line_end,
    },
    Rule {
        id: RuleId::RangeReversed,
        summary: "line_end does not come before line_start",
        explanation: "Both ends of a span are inclusive, so line_end is line_start or more. This is a published check. A \
            reader that joins the lines gets none from such a range, so the quote is never found in it; stepscope turns \
            the range round and looks there.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 4, "line_end": 3, "quote": "bank transfer"}]}"#
        ),
        good: good!(),
        check: check_reversed,
    },
    Rule {
        id: RuleId::QuoteNotInCitedLines,
        summary: "the quote stands in the cited lines",
        explanation: "The lines are joined, blanks are folded, and marks such as [12] are dropped; then the quote must be \
            a part of them, letter for letter. This is a published check, and it fires as published: also on an honest \
            quote whose words are hyphenated at line ends, or between whose halves the footer of a page stands. Then it \
            is only a note, and says what had to be undone. Otherwise the finding beside it says whether the line is \
            wrong or the quote.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "Deductible: USD 1,500 per claim."}]}"#
        ),
        good: good!(),
        check: check_quote,
    },
    Rule {
        id: RuleId::QuoteOkAfterDehyphenation,
        summary: "the quote needs no undoing of hyphens at line ends",
        explanation: "The document breaks a word at the end of a line, and the model wrote it in one piece, as a reader \
            would. The quote is honest; only the published check cannot see it.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 3, "quote": "after the beginning of the policy"}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteOkAfterDehyphenation),
    },
    Rule {
        id: RuleId::QuoteFoundInWiderRange,
        summary: "the cited lines hold the whole quote",
        explanation: "A part of the quote stands in the cited lines, the rest before or behind them: a sentence that \
            wraps over two lines and is cited with one. The quote is right, the range is too small.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 3, "line_end": 3, "quote": "the policy. It is paid by bank transfer."}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteFoundInWiderRange),
    },
    Rule {
        id: RuleId::QuoteFoundNearby,
        summary: "the quote does not stand a few lines from the cited ones",
        explanation: "The quote stands within five lines of the cited ones. Models often point at the line behind a \
            sentence, or count from 1. The quote is right, the line is wrong.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 2, "quote": "Deductible: USD 1,200 per claim."}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteFoundNearby),
    },
    Rule {
        id: RuleId::QuoteFoundElsewhere,
        summary: "the quote does not stand far from the cited lines",
        explanation: "The quote stands in the document, but on another page or more than five lines away. A common \
            mistake is the number of the line inside its page where the number in the whole document is asked for; where \
            that explains it, it is said. The quote is right, the line is wrong: every place is listed.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 0, "line_end": 0, "quote": "It is settled within ten days."}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteFoundElsewhere),
    },
    Rule {
        id: RuleId::QuoteNowhereInDoc,
        summary: "the quote stands somewhere in the document",
        explanation: "No line of the document holds these words, whatever is forgiven: blanks, hyphens, case, \
            punctuation, headers between pages. The model made them up or put them in its own words. Where a place \
            resembles the quote it is named, with what differs, and the finding is a warning only: there the quote was \
            changed, not invented.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "Damage by flood is excluded without limit."}]}"#
        ),
        good: good!(),
        check: check_nowhere,
    },
    Rule {
        id: RuleId::QuoteStitched,
        summary: "a quote is one piece of the document",
        explanation: "Every part of the quote stands in the document, word for word, and the whole does not: the parts stand \
            apart, or in another order, and no ellipsis says so. What was put together may say what no passage says. Cite \
            each part with its own lines.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "Deductible: USD 1,200 per claim. It is settled within ten days."}]}"#
        ),
        good: good!(),
        check: check_stitched,
    },
    Rule {
        id: RuleId::QuoteUndecided,
        summary: "every quote was looked for",
        explanation: "All searches of one record share a quarter of a second, so that no record can hold up the others. \
            Where it is used up, nothing is said about the quote: it may stand in the cited lines, elsewhere or nowhere. \
            That happens to answers with very many or very long quotes that do not stand where they should.",
        bad: too_much!(),
        good: good!(),
        check: check_undecided,
    },
    Rule {
        id: RuleId::VerbatimWithoutQuote,
        summary: "an answer that is verbatim has a quote with every item",
        explanation: "The answer says of itself that its values stand word for word in the document, and no span of this \
            item says which words. This is a published check, one finding an item. Ask for a quote, or call the method \
            computed or inferred.",
        bad: trace!("verbatim", r#"{"text": "USD 1,200", "spans": [{"line_start": 1, "line_end": 1, "quote": null}]}"#),
        good: good!(),
        check: check_verbatim,
    },
    Rule {
        id: RuleId::SpanOutsideRetrievedPages,
        summary: "the cited lines are among those that the model saw",
        explanation: "Retrieval gave the model some pages, and the span cites a line of another one. The model cannot \
            have read it: the number is wrong, or the answer comes from memory.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 8, "line_end": 8, "quote": "Section 4. End"}]}"#
        ),
        good: good!(),
        check: check_retrieved,
    },
    Rule {
        id: RuleId::SpanCrossesPage,
        summary: "a span stays on one page",
        explanation: "The cited lines begin on one page and end on another. That can be right, for a sentence or a list \
            that goes on; but headers, footers and footnotes stand between, and a range that was meant for one page and \
            is counted wrongly looks the same.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 4, "line_end": 6, "quote": "bank transfer."}]}"#
        ),
        good: good!(),
        check: check_crosses,
    },
    Rule {
        id: RuleId::SharedOffset,
        summary: "the spans of an answer are not all wrong in the same way",
        explanation: "Every quote of the answer stands in the document, and one mistake explains all the line numbers: \
            they count from 1, or inside the page, or lie the same number of lines off. That is a matter of the prompt \
            or of a changed document, not of the single span: say in the prompt which column holds the line number.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 2, "quote": "Deductible: USD 1,200 per claim."}, {"line_start": 5, "line_end": 5, "quote": "It is paid by bank transfer."}]}"#
        ),
        good: good!(),
        check: check_shared,
    },
    Rule {
        id: RuleId::SpanBoundary,
        summary: "a span begins and ends where sentences do",
        explanation: "A hint: the quoted passage starts in mid-sentence, ends before its sentence does, or lines are \
            missing from the document between its lines. Evidence that is cut in half may leave out a condition or an \
            exception. Short quotes such as an amount are left alone.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 2, "quote": "due within thirty days after"}]}"#
        ),
        good: good!(),
        check: check_boundary,
    },
];

/// One span with what it belongs to.
struct Span<'s, 'a> {
    citation: &'s Citation<'a>,
    resolution: &'s Resolution,
    document: &'s Document,
}

/// Every resolved span, in order; none where the document is not at hand.
fn spans<'s, 'a>(case: &'s CaseView<'a>) -> impl Iterator<Item = Span<'s, 'a>> {
    let citations = case.items().iter().flat_map(|item| &item.citations);
    let resolutions = case.resolutions().iter().map(|cited| &cited.resolution);
    let document = case.document().map(AsRef::as_ref);
    citations
        .zip(resolutions)
        .filter_map(move |(citation, resolution)| Some(Span { citation, resolution, document: document? }))
}

impl Span<'_, '_> {
    fn quote(&self) -> Place {
        place(self.citation, self.citation.quote)
    }

    fn first_line(&self) -> Place {
        place(self.citation, self.citation.lines.0.or(self.citation.pages.0))
    }

    fn last_line(&self) -> Place {
        place(self.citation, self.citation.lines.1.or(self.citation.lines.0).or(self.citation.pages.0))
    }

    fn words(&self, found: &QuoteMatch) -> String {
        lines_in_words(self.document, &found.lines).into_string()
    }

    /// Where the cited lines begin, in words.
    fn cited_words(&self) -> String {
        let cited = self.resolution.cited.as_ref();
        cited.map_or_else(|| "no line".to_owned(), |cited| lines_in_words(self.document, cited).into_string())
    }
}

/// The place of a member of a citation; the citation itself where it has no such member.
fn place(citation: &Citation<'_>, value: Option<Value<'_>>) -> Place {
    let own = |value: Value<'_>| citation.root.members().find(|member| member.value.index() == value.index());
    let member = value.and_then(own);
    Place::Value(match member {
        Some(member) => citation.pointer.then(Part::Key(member.name().into_owned())),
        None => citation.pointer.clone(),
    })
}

fn finding(rule: RuleId, message: impl Into<Untrusted<'static>>, place: Place, help: &'static str) -> Finding {
    Finding::new(rule, message, place).help(help)
}

fn int(n: impl TryInto<i64>) -> Datum {
    Datum::Int(n.try_into().unwrap_or(i64::MAX).to_string())
}

fn check_no_spans(case: &CaseView<'_>, findings: &mut Findings) {
    for item in case.items().iter().filter(|item| item.citations.is_empty() && item.is_found()) {
        let help = "Ask the model again, and ask for at least one span with every item.";
        findings.push(finding(RuleId::ItemNoSpans, "the item cites nothing".to_owned(), evidence(item), help));
    }
}

/// Where an item keeps its spans; the item itself where it has none.
fn evidence(item: &AnswerItem<'_>) -> Place {
    Place::Value(match item.root.member("spans") {
        Some(_) => item.pointer.then("spans"),
        None => item.pointer.clone(),
    })
}

fn check_line_start(case: &CaseView<'_>, findings: &mut Findings) {
    for span in spans(case).filter(|span| span.resolution.start_exists == Some(false)) {
        findings.push(missing_line(RuleId::LineStartNotInDoc, &span, span.citation.lines.0, span.first_line()));
    }
}

fn check_line_end(case: &CaseView<'_>, findings: &mut Findings) {
    for span in spans(case).filter(|span| span.resolution.end_exists == Some(false)) {
        findings.push(missing_line(RuleId::LineEndNotInDoc, &span, span.citation.lines.1, span.last_line()));
    }
}

fn missing_line(rule: RuleId, span: &Span<'_, '_>, value: Option<Value<'_>>, place: Place) -> Finding {
    let line = value.map(|value| head(value.raw(), 24)).unwrap_or_default();
    let message = Message::new("line ").text(line).text(" is not in the document");
    let message = match (span.citation.page_numbers().0, span.document.len()) {
        (Some(page), _) => message.text(format!(": page {page} has no such line")),
        (None, 0) => message.text(", which has no lines"),
        (None, count) => message.text(format!(", whose lines are 0 to {}", count - 1)),
    };
    let help = "Correct the number; where the quote stands elsewhere, another finding says on which line.";
    finding(rule, message, place, help).detail("lines", int(span.document.len()))
}

fn check_reversed(case: &CaseView<'_>, findings: &mut Findings) {
    for citation in case.items().iter().flat_map(|item| &item.citations) {
        let claim = citations::Claim::of(citation, None, &[]);
        if !claim.is_reversed() {
            continue;
        }
        let message = "the last line comes before the first".to_owned();
        let help = "Exchange line_start and line_end, if the quote stands between them.";
        let first = place(citation, citation.lines.0);
        findings.push(
            finding(RuleId::RangeReversed, message, place(citation, citation.lines.1), help)
                .label(first, "the first line".to_owned()),
        );
    }
}

fn check_quote(case: &CaseView<'_>, findings: &mut Findings) {
    let decided = |span: &Span<'_, '_>| span.resolution.place != QuotePlace::Undecided;
    for span in spans(case).filter(decided).filter(|span| !span.resolution.is_published_ok()) {
        let resolution = span.resolution;
        let honest = resolution.found.as_ref().filter(|_| resolution.is_grounded());
        let (message, help) = match (honest, resolution.place) {
            (Some(found), _) if found.tier == Tier::Elided => (
                format!("the quote stands in the cited lines {}", found.tier.phrase()),
                "Read what is left out: a condition or an exception may stand there.",
            ),
            (Some(found), _) if found.tier > Tier::Whitespace => (
                format!("the quote is in the cited lines {}", found.tier.phrase()),
                "Nothing is wrong with the quote; the published check compares letter for letter.",
            ),
            (Some(_), _) => (
                "the quote is in the cited lines, once the range is turned round".to_owned(),
                "Exchange line_start and line_end.",
            ),
            (None, QuotePlace::Wider) => (
                "the quote is not in the cited lines as a whole".to_owned(),
                "Cite all lines that the quote stands on.",
            ),
            (None, QuotePlace::Nowhere) => (
                "the quote is not in the cited lines".to_owned(),
                "Do not trust the item before you have read the document there.",
            ),
            (None, QuotePlace::Unsearched) => {
                ("the quote is not in or near the cited lines; undecided whether it stands elsewhere".to_owned(), SPENT)
            }
            (None, _) => ("the quote is not in the cited lines".to_owned(), "Correct the line numbers."),
        };
        let mut finding = finding(RuleId::QuoteNotInCitedLines, message, span.quote(), help);
        if honest.is_some_and(|found| found.tier != Tier::Elided) {
            finding.severity = Severity::Note;
        }
        finding = finding.label(span.first_line(), format!("cites {}", span.cited_words()));
        findings.push(finding.detail("resolution", Datum::Text(Untrusted::from(resolution.word()))));
    }
}

/// The rules that say how a quote was found that the published check did not find.
fn qualify(case: &CaseView<'_>, findings: &mut Findings, rule: RuleId) {
    for span in spans(case).filter(|span| !span.resolution.is_published_ok()) {
        let Some(found) = &span.resolution.found else { continue };
        let (own, help) = match (span.resolution.place, found.tier) {
            (QuotePlace::Cited, Tier::Hyphens) => {
                (RuleId::QuoteOkAfterDehyphenation, "Nothing has to be done; the quote is right.")
            }
            (QuotePlace::Wider, _) => (RuleId::QuoteFoundInWiderRange, "Cite these lines."),
            (QuotePlace::Nearby, _) => (RuleId::QuoteFoundNearby, "Correct the line numbers."),
            (QuotePlace::OtherPage | QuotePlace::Elsewhere, _) => {
                (RuleId::QuoteFoundElsewhere, "Correct the line numbers.")
            }
            _ => continue,
        };
        if own == rule {
            findings.push(found_there(rule, &span, found, help));
        }
    }
}

fn found_there(rule: RuleId, span: &Span<'_, '_>, found: &QuoteMatch, help: &'static str) -> Finding {
    let resolution = span.resolution;
    let words = span.words(found);
    let message = match (resolution.place, resolution.offset()) {
        (QuotePlace::Cited, _) => format!("the quote stands there {}: {words}", Tier::Hyphens.phrase()),
        (QuotePlace::Wider, _) => format!("the whole quote stands on {words}"),
        (QuotePlace::Nearby, Some(offset)) => {
            let (lines, way) = (offset.unsigned_abs(), if offset < 0 { "before" } else { "behind" });
            let lines = if lines == 1 { "one line".to_owned() } else { format!("{lines} lines") };
            format!("the quote stands {lines} {way} the cited place, on {words}")
        }
        _ => format!("the quote stands elsewhere, on {words}"),
    };
    let counted = resolution.numbering.filter(|numbering| *numbering != resolution.contract);
    let counted = counted.map(|numbering| format!("; counted {} the number is right", numbering.phrase()));
    let others = match resolution.total {
        0 | 1 => String::new(),
        2 => "; and in one more place".to_owned(),
        total => format!("; and in {} more places", total - 1),
    };
    let message = format!("{message}{}{others}", counted.unwrap_or_default());
    let mut finding = finding(rule, message, span.quote(), help)
        .label(span.first_line(), format!("the quote stands on {words}"))
        .detail("line_start", int(found.lines.start))
        .detail("line_end", int(found.lines.end.saturating_sub(1)));
    if let Some((page, _)) = found.pages {
        finding = finding.detail("page", int(page));
    }
    if let Some(numbering) = resolution.numbering.map(Numbering::word) {
        finding = finding.detail("numbering", Datum::Text(Untrusted::from(numbering)));
    }
    finding.detail("tier", Datum::Text(Untrusted::from(found.tier.word())))
}

/// What helps where the search has ended before its time.
const SPENT: &str =
    "Correct the first citations and check again: all searches of one record share a quarter of a second.";

fn check_undecided(case: &CaseView<'_>, findings: &mut Findings) {
    if case.document().is_none() {
        return;
    }
    for span in spans(case).filter(|span| span.resolution.place == QuotePlace::Undecided) {
        let message = "undecided whether the quote stands there: the search ended before".to_owned();
        findings.push(finding(RuleId::QuoteUndecided, message, span.quote(), SPENT));
    }
    let citations = case.items().iter().flat_map(|item| &item.citations);
    for citation in citations.skip(citations::MAX_SPANS).filter(|citation| citation.quote.is_some()) {
        let message = "undecided whether the quote stands there: too many spans stand before it".to_owned();
        findings.push(finding(RuleId::QuoteUndecided, message, Place::Value(citation.pointer.clone()), SPENT));
    }
}

/// The quotes that stand nowhere, each with its parts where those do.
fn nowhere<'s, 'a>(case: &'s CaseView<'a>) -> impl Iterator<Item = (Span<'s, 'a>, Option<Vec<StitchedPart>>)> {
    let missing = spans(case).filter(|span| span.resolution.place == QuotePlace::Nowhere);
    missing.enumerate().map(|(n, span)| {
        let quote = span.citation.quote.and_then(Value::string).filter(|_| n < MAX_STITCHED);
        let parts = quote.and_then(|quote| citations::stitched(span.document, quote.bytes()));
        (span, parts)
    })
}

fn check_stitched(case: &CaseView<'_>, findings: &mut Findings) {
    for (span, parts) in nowhere(case) {
        let Some(parts) = parts else { continue };
        let words: Vec<String> =
            parts.iter().map(|part| lines_in_words(span.document, &part.lines).into_string()).collect();
        let message = format!(
            "the quote is put together from {} parts, which stand on {}; the whole stands nowhere",
            parts.len(),
            words.join(" and ")
        );
        let help = "Cite each part with its own lines, or mark with an ellipsis what is left out.";
        let mut finding = finding(RuleId::QuoteStitched, message, span.quote(), help);
        for part in parts {
            let text = head(span.document.bytes(part.bytes), EXCERPT);
            finding.push_label(PlaceLabel { place: span.quote(), text: Message::new("a part: ").text(text).into() });
        }
        findings.push(finding);
    }
}

fn check_nowhere(case: &CaseView<'_>, findings: &mut Findings) {
    for (span, _) in nowhere(case).filter(|(_, parts)| parts.is_none()) {
        let Some(near) = &span.resolution.near else {
            let message = "the quote stands nowhere in the document".to_owned();
            let help = "Reject the item, or ask again for the exact words of the document.";
            findings.push(finding(RuleId::QuoteNowhereInDoc, message, span.quote(), help));
            continue;
        };
        let words = lines_in_words(span.document, &near.lines);
        let message =
            format!("the quote stands nowhere in the document; most alike: {words}, {} of 100 agree", near.similarity);
        let help = "Compare both texts: the document decides, not the quote.";
        let text = head(span.document.bytes(near.bytes.clone()), EXCERPT);
        let there = Message::new("there it reads: ").text(text);
        let mut finding =
            finding(RuleId::QuoteNowhereInDoc, message, span.quote(), help).label(span.first_line(), there);
        finding.severity = Severity::Warning;
        for part in parts_of_quote(&span, near).into_iter().take(MAX_PARTS) {
            finding.push_label(part);
        }
        findings.push(
            finding
                .detail("line_start", int(near.lines.start))
                .detail("line_end", int(near.lines.end.saturating_sub(1)))
                .detail("similarity", int(near.similarity))
                .detail("text", Datum::Text(Untrusted::new(text).to_owned())),
        );
    }
}

/// The parts of a quote that do not stand in the place that it resembles.
fn parts_of_quote(span: &Span<'_, '_>, near: &citations::NearMatch) -> Vec<PlaceLabel> {
    let Some(quote) = span.citation.quote.and_then(Value::string) else { return Vec::new() };
    let Place::Value(pointer) = span.quote() else { return Vec::new() };
    let blanks = citations::blanks_before(quote.bytes());
    let part = |range: &std::ops::Range<usize>| PlaceLabel {
        place: Place::Span { pointer: pointer.clone(), start: blanks + range.start, end: blanks + range.end },
        text: Untrusted::from("not so in the document"),
    };
    near.quote.iter().filter(|range| !range.is_empty()).map(part).collect()
}

fn check_verbatim(case: &CaseView<'_>, findings: &mut Findings) {
    let method = case.typed().and_then(|typed| typed.base("extraction_method"));
    if !method.is_some_and(|method| method.is_string("verbatim")) {
        return;
    }
    let quoted =
        |citation: &Citation<'_>| citation.quote.and_then(Value::string).is_some_and(|quote| !quote.is_empty());
    for item in case.items().iter().filter(|item| item.is_found() && !item.citations.iter().any(quoted)) {
        let message = "the answer is called verbatim, and the item has no quote".to_owned();
        let help = "Ask for the words of the document with every item, or call the method computed or inferred.";
        findings.push(finding(RuleId::VerbatimWithoutQuote, message, evidence(item), help));
    }
}

fn check_retrieved(case: &CaseView<'_>, findings: &mut Findings) {
    let mut retrieved = case.typed().map(TypedAnswer::retrieved).unwrap_or_default();
    retrieved.sort_unstable();
    if retrieved.is_empty() {
        return;
    }
    for span in spans(case) {
        let Some((first, last)) = span.resolution.cited.as_ref().and_then(|cited| span.document.pages_of(cited)) else {
            continue;
        };
        let unseen = |page: &i64| retrieved.binary_search(page).is_err();
        let pages = span.document.pages();
        let from = pages.partition_point(|(page, _)| *page < first);
        let mut cited = pages.iter().skip(from).map(|(page, _)| *page).take_while(|page| *page <= last);
        let Some(page) = cited.find(unseen) else { continue };
        let message = format!("page {page} is cited, and the model did not see it");
        let help = "Find out whether the number is wrong or the answer comes from memory.";
        let place = if unseen(&first) { span.first_line() } else { span.last_line() };
        findings.push(finding(RuleId::SpanOutsideRetrievedPages, message, place, help).detail("page", int(page)));
    }
}

fn check_crosses(case: &CaseView<'_>, findings: &mut Findings) {
    for span in spans(case) {
        let pages = span.resolution.cited.as_ref().and_then(|cited| span.document.pages_of(cited));
        let Some((first, last)) = pages.filter(|(first, last)| first != last) else { continue };
        let message = format!("the span begins on page {first} and ends on page {last}");
        let help = "Look whether the passage really goes on over the page, or the numbers are wrong.";
        findings.push(
            finding(RuleId::SpanCrossesPage, message, span.last_line(), help)
                .label(span.first_line(), format!("page {first}"))
                .detail("pages", Datum::List(vec![int(first), int(last)])),
        );
    }
}

fn check_shared(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(shared) = citations::shared_offset(case.resolutions().iter().map(|cited| &cited.resolution)) else {
        return;
    };
    let Some(span) = spans(case).find(|span| span.resolution.has_quote() && !span.resolution.is_grounded()) else {
        return;
    };
    let message = match shared {
        SharedMistake::Offset(-1) => "all line numbers of the answer count from 1".to_owned(),
        SharedMistake::PageLocal => "all line numbers of the answer count inside their pages".to_owned(),
        SharedMistake::Offset(by) if by < 0 => {
            format!("all line numbers of the answer are {} too large", by.unsigned_abs())
        }
        SharedMistake::Offset(by) => format!("all line numbers of the answer are {by} too small"),
    };
    let help = "Say in the prompt which number to cite: the 0-based line over the whole document.";
    findings.push(finding(RuleId::SharedOffset, message, span.first_line(), help));
}

fn check_boundary(case: &CaseView<'_>, findings: &mut Findings) {
    for span in spans(case) {
        let Some(hints) = boundary::hints(span.document, span.resolution) else { continue };
        let help = "Read the lines around it: a condition or an exception may stand there.";
        let place = if span.resolution.has_quote() { span.quote() } else { span.first_line() };
        findings.push(finding(RuleId::SpanBoundary, format!("the passage {hints}"), place, help));
    }
}

#[cfg(test)]
mod tests;
