//! Citations against the document: whether the cited lines exist and hold the quote.
//!
//! Five rules are published and fire as published; the others say what the published ones leave open. What is only a
//! matter of how a document was cut into lines is never more than a note.

use crate::case::CaseView;
use crate::rule::Rule;
use crate::support::ValueStanding;
use stepscope_base::json::{Part, Value};
use stepscope_base::python::Message;
use stepscope_base::text::{Untrusted, head};
use stepscope_evidence::citations;
use stepscope_evidence::citations::{
    Cut, Numbering, QuoteMatch, QuotePlace, Resolution, SharedMistake, StitchedPart, Tier, lines_in_words,
};
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::{AnswerItem, Citation, TypedAnswer};
use stepscope_record::finding::{Datum, Finding, Findings, Place, PlaceLabel, Severity};
use stepscope_record::rule_id::RuleId;

mod boundary;

/// Bytes of the document's text that are quoted in a finding.
const EXCERPT: usize = 160;
/// Bytes of a line's number that are told.
const MAX_NUMBER: usize = 24;
/// Of so many quotes that stand nowhere it is looked whether they are put together.
const MAX_STITCHED: usize = 16;
/// Maximum number of differing parts of a quote that are marked.
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
            r#"{"line_start": 1, "line_end": 1, "quote": "It is paid by bank  transfer."}]}]}}"#
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
        summary: "item without a citation",
        explanation: "An item without a citation cannot be checked: it does not say which lines it rests on, and the model \
            may have it from memory. This is a published check. Re-run the call, and ask for at least one citation with \
            every item.",
        bad: trace!("computed", r#"{"text": "USD 1,200", "spans": []}"#),
        good: good!(),
        check: check_no_spans,
    },
    Rule {
        id: RuleId::LineStartNotInDoc,
        summary: "line_start is not a line of the document",
        explanation: "Lines are counted from 0 over the whole document, sorted by page and line. A number beyond the end \
            is invented or counts something else. This is a published check. If the quote is in the document, another \
            finding says on which line.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 12, "line_end": 12, "quote": "Section 4. End"}]}"#
        ),
        good: good!(),
        check: check_line_start,
    },
    Rule {
        id: RuleId::LineEndNotInDoc,
        summary: "line_end is not a line of the document",
        explanation: "The published checks look at line_start only. A citation that ends after the last line cites text \
            that does not exist; the lines that do exist are still compared with the quote.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 8, "line_end": 9, "quote": "Section 4. End"}]}"#
        ),
        good: good!(),
        check: check_line_end,
    },
    Rule {
        id: RuleId::RangeReversed,
        summary: "line_end comes before line_start",
        explanation: "Both ends of a citation are inclusive, so line_end is line_start or more. This is a published check. A \
            reader that joins the lines gets none from such a range, so it never finds the quote; stepscope reverses the \
            range and searches there.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 4, "line_end": 3, "quote": "bank transfer"}]}"#
        ),
        good: good!(),
        check: check_reversed,
    },
    Rule {
        id: RuleId::QuoteNotInCitedLines,
        summary: "quote not found in the cited lines",
        explanation: "The check joins the lines, folds blanks and drops marks such as [12]; then the quote must be a part of \
            them, letter for letter. This is a published check, and it fires as published: also on an honest quote with \
            words hyphenated at line ends, or with a page footer in the middle. Then it is only a note that says what the \
            comparison has to ignore. Where the quote has an ellipsis and its parts are in the lines, the finding says that, \
            and stays a warning: what is left out may be a condition. Otherwise another finding says whether the line or \
            the quote is wrong, unless the search ended before its time.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "Deductible: USD 1,500 per claim."}]}"#
        ),
        good: good!(),
        check: check_quote,
    },
    Rule {
        id: RuleId::QuoteOkAfterDehyphenation,
        summary: "quote joins a word hyphenated at a line end",
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
        summary: "cited lines hold only part of the quote",
        explanation: "A part of the quote is in the cited lines, the rest before or after them: a sentence wraps over two \
            lines, and the answer cites one. The quote is right, the range is too small.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 3, "line_end": 3, "quote": "the policy. It is paid by bank transfer."}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteFoundInWiderRange),
    },
    Rule {
        id: RuleId::QuoteFoundNearby,
        summary: "quote found a few lines from the cited ones",
        explanation: "The quote is within five lines of the cited ones. Models often point at the line after a sentence, or \
            count from 1. The quote is right, the line is wrong.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 2, "quote": "Deductible: USD 1,200 per claim."}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteFoundNearby),
    },
    Rule {
        id: RuleId::QuoteFoundElsewhere,
        summary: "quote found elsewhere in the document",
        explanation: "The quote is in the document, but on another page or more than five lines away. A common mistake is to \
            count lines inside the page instead of over the whole document; if that explains the number, the finding says \
            so. The quote is right, the line is wrong.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 0, "line_end": 0, "quote": "It is settled within ten days."}]}"#
        ),
        good: good!(),
        check: |case, findings| qualify(case, findings, RuleId::QuoteFoundElsewhere),
    },
    Rule {
        id: RuleId::QuoteNowhereInDoc,
        summary: "quote not found in document",
        explanation: "No line of the document has these words, even with blanks, hyphens, case, punctuation and headers \
            between pages ignored. The model invented them or used its own words. If a place resembles the quote, the \
            finding names it with what differs and is only a warning: the quote is changed there, not invented.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "Damage by flood is excluded without limit."}]}"#
        ),
        good: good!(),
        check: check_nowhere,
    },
    Rule {
        id: RuleId::QuoteStitched,
        summary: "quote joined from separate passages",
        explanation: "Every part of the quote is in the document, word for word, but the whole is not: the parts are apart or \
            in another order, and no ellipsis says so. Joined, they may say what no passage says. Cite each part with its \
            own lines.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "Deductible: USD 1,200 per claim. It is settled within ten days."}]}"#
        ),
        good: good!(),
        check: check_stitched,
    },
    Rule {
        id: RuleId::QuoteUndecided,
        summary: "quote not searched for in time",
        explanation: "The searches of one record share an amount of work that goes by the record's own size, so that no \
            record can hold up the others. When it is used up, the quote stays undecided: it may be in the cited lines, \
            elsewhere or nowhere. That happens to answers with very many or very long quotes that are not in the cited lines, \
            and to short ones that cite very many lines.",
        bad: too_much!(),
        good: good!(),
        check: check_undecided,
    },
    Rule {
        id: RuleId::VerbatimWithoutQuote,
        summary: "verbatim answer without a quote",
        explanation: "The answer claims to copy its values word for word from the document, but no citation of this item \
            quotes them. This is a published check, one finding per item; a note where the value is in the cited lines. Ask \
            for a quote, or set the method to computed or inferred.",
        bad: trace!("verbatim", r#"{"text": "Flood", "spans": [{"line_start": 1, "line_end": 1, "quote": null}]}"#),
        good: good!(),
        check: check_verbatim,
    },
    Rule {
        id: RuleId::SpanOutsideRetrievedPages,
        summary: "cited page was not retrieved",
        explanation: "Retrieval gave the model some pages, and the answer cites a line of another one. The model cannot have \
            read it: the number is wrong, or the answer comes from memory.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 8, "line_end": 8, "quote": "Section 4. End"}]}"#
        ),
        good: good!(),
        check: check_retrieved,
    },
    Rule {
        id: RuleId::SpanCrossesPage,
        summary: "citation crosses a page break",
        explanation: "The cited lines begin on one page and end on another. That can be right for a sentence or a list that \
            continues; but headers, footers and footnotes are in between, and a miscounted range on one page looks the same.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 4, "line_end": 6, "quote": "bank transfer."}]}"#
        ),
        good: good!(),
        check: check_crosses,
    },
    Rule {
        id: RuleId::SharedOffset,
        summary: "all citations shifted alike",
        explanation: "Every quote of the answer is in the document, and one mistake explains all the line numbers: they count \
            from 1, or inside the page, or are off by the same number of lines. The cause is the prompt or a changed \
            document, not the single citation: say in the prompt which column holds the line number.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 2, "quote": "Deductible: USD 1,200 per claim."}, {"line_start": 5, "line_end": 5, "quote": "It is paid by bank transfer."}]}"#
        ),
        good: good!(),
        check: check_shared,
    },
    Rule {
        id: RuleId::SpanBoundary,
        summary: "citation cuts a sentence",
        explanation: "The quoted passage starts in mid-sentence, ends before its sentence does, or skips lines that are \
            missing from the document. Evidence that is cut in half may leave out a condition or an exception. Short \
            quotes, such as an amount, are not checked.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 2, "line_end": 2, "quote": "due within thirty days after"}]}"#
        ),
        good: good!(),
        check: check_boundary,
    },
    Rule {
        id: RuleId::MeaningCut,
        summary: "citation leaves out a negation or exception",
        explanation: "The quote is in the document, but the text directly before or behind it takes it back: it begins \
            behind \"not\" or \"It is false that\", ends before \"unless\" or \"except\", or has only a part of a \
            number or none of its minus sign. An exception behind a quote of fewer than four words is not reported, nor one that \
            another citation of the item holds; behind an amount or a date it is a note.",
        bad: trace!(
            "verbatim",
            r#"{"text": "x", "spans": [{"line_start": 1, "line_end": 1, "quote": "200 per claim."}]}"#
        ),
        good: good!(),
        check: check_meaning_cut,
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

    /// The bytes of the document's text that it holds: of its quote, else of the cited lines.
    fn held(&self) -> std::ops::Range<usize> {
        if let Some(found) = &self.resolution.found {
            return found.bytes.clone();
        }
        let lines = self.resolution.cited.clone().filter(|_| !self.resolution.has_quote());
        let start = lines.as_ref().and_then(|lines| self.document.offset(lines.start));
        start.zip(lines).map_or(0..0, |(start, lines)| start..start + self.document.text(lines).len())
    }

    fn words(&self, found: &QuoteMatch) -> String {
        lines_in_words(self.document, &found.lines).into_string()
    }

    /// Names the cited lines, in words.
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
    for item in case.items().iter().filter(|item| item.citations.is_empty() && item.is_found() && !item.is_bare()) {
        let help = "Re-run the call, and ask for at least one citation with every item.";
        findings.push(finding(RuleId::ItemNoSpans, "The item cites nothing.".to_owned(), evidence(item), help));
    }
}

/// Returns the place of an item's citations; the item itself where it has none.
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
    let raw = value.map_or(&b""[..], Value::raw);
    // A cut number without a mark would be another number.
    let more = if raw.len() > MAX_NUMBER { "…" } else { "" };
    let message = Message::new("Cited line ").text(head(raw, MAX_NUMBER)).text(more);
    let message = match (span.citation.page_numbers().0, span.document.len()) {
        (Some(page), _) => message.text(format!(" is not on page {page}.")),
        (None, 0) => message.text(" is not in the document, which has no lines."),
        (None, count) => message.text(format!(" is not in the document, which has lines 0 to {}.", count - 1)),
    };
    let help = "Correct the number. If the quote is elsewhere, another finding says on which line.";
    finding(rule, message, place, help).detail("lines", int(span.document.len()))
}

fn check_reversed(case: &CaseView<'_>, findings: &mut Findings) {
    for citation in case.items().iter().flat_map(|item| &item.citations) {
        let claim = citations::Claim::of(citation, None, &[]);
        if !claim.is_reversed() {
            continue;
        }
        let message = "The last cited line comes before the first.".to_owned();
        let help = "Swap line_start and line_end if the quote is between them.";
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
        let is_doubtful = honest.is_some_and(|found| found.may_omit_condition(span.document));
        let (message, help) = match (honest, resolution.place) {
            (Some(found), _) if is_doubtful => (
                format!("The quote is in the cited lines {}.", found.tier.phrase()),
                "Read what it leaves out: that may be a condition or an exception.",
            ),
            (Some(found), _) if found.tier > Tier::Whitespace => (
                format!("The quote is in the cited lines {}.", found.tier.phrase()),
                "Leave it: the quote is right, but the published check compares letter for letter.",
            ),
            (Some(_), _) => (
                "The quote is in the cited lines, but they are in reverse order.".to_owned(),
                "Swap line_start and line_end.",
            ),
            (None, QuotePlace::Cited) => (
                "The quote is in the cited lines, but does not mean the same.".to_owned(),
                "Compare both texts: the document decides, not the quote.",
            ),
            (None, QuotePlace::Wider) => {
                ("The cited lines hold only part of the quote.".to_owned(), "Cite all lines of the quote.")
            }
            (None, QuotePlace::Nowhere) => (
                "The quote is not in the cited lines.".to_owned(),
                "Read the document there before you trust the item.",
            ),
            (None, QuotePlace::Unsearched) => (
                "The quote is not in or near the cited lines; the rest of the document was not searched.".to_owned(),
                SPENT,
            ),
            (None, _) => ("The quote is not in the cited lines.".to_owned(), "Correct the line numbers."),
        };
        let mut finding = finding(RuleId::QuoteNotInCitedLines, message, span.quote(), help);
        if honest.is_some() && !is_doubtful {
            finding.severity = Severity::Note;
        }
        if let Some(change) = &resolution.changed {
            let text = Message::new("the document says ").quoted(head(&change.text, EXCERPT));
            finding.push_label(PlaceLabel { place: part_of_quote(&span, &change.quote), text: text.into() });
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
            (QuotePlace::Cited, Tier::Hyphens) => (RuleId::QuoteOkAfterDehyphenation, "Leave it: the quote is right."),
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
        (QuotePlace::Cited, _) => format!("Quote found {}: {words}", Tier::Hyphens.phrase()),
        (QuotePlace::Wider, _) => format!("Whole quote found on {words}"),
        (QuotePlace::Nearby, Some(offset)) => {
            let (lines, way) = (offset.unsigned_abs(), if offset < 0 { "above" } else { "below" });
            format!("Quote found {lines} line{} {way}, on {words}", if lines == 1 { "" } else { "s" })
        }
        _ => format!("Quote found elsewhere, on {words}"),
    };
    let counted = resolution.numbering.filter(|numbering| *numbering != resolution.contract);
    let counted = counted.map(|numbering| format!("; counted {} the number is right", numbering.phrase()));
    let others = match resolution.total {
        0 | 1 => String::new(),
        2 => "; and in one more place".to_owned(),
        total => format!("; and in {} more places", total - 1),
    };
    let message = format!("{message}{others}{}.", counted.unwrap_or_default());
    let mut finding = finding(rule, message, span.quote(), help)
        .label(span.first_line(), format!("found on {words}"))
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

/// Help where the search has ended before its time.
const SPENT: &str = "Correct the first citations, or cite fewer lines, and check again: the searches of one record share what its size allows.";

fn check_undecided(case: &CaseView<'_>, findings: &mut Findings) {
    if case.document().is_none() {
        return;
    }
    for span in spans(case).filter(|span| span.resolution.place == QuotePlace::Undecided) {
        let message = "Quote not searched for: the work allowed for this record was used up.".to_owned();
        findings.push(finding(RuleId::QuoteUndecided, message, span.quote(), SPENT));
    }
    let citations = case.items().iter().flat_map(|item| &item.citations);
    for citation in citations.skip(citations::MAX_SPANS).filter(|citation| citation.quote.is_some()) {
        let message = "Quote not searched for: the answer has too many citations.".to_owned();
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
            "The quote is joined from {} parts, on {}; the document never has them together.",
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
            let message = "Quote not found in the document.".to_owned();
            let help = "Look for the claim in the document, or ask the model for the exact words of the document.";
            findings.push(finding(RuleId::QuoteNowhereInDoc, message, span.quote(), help));
            continue;
        };
        let words = lines_in_words(span.document, &near.lines);
        let alike = if near.by_letters { "of the letters alike" } else { "alike" };
        let message = format!("Quote not found in the document; closest: {words}, {} % {alike}.", near.similarity);
        let help = if near.by_letters {
            "Compare both texts with a picture of the page: text recognition may have misread letters."
        } else {
            "Compare both texts: the document decides, not the quote."
        };
        let text = head(span.document.bytes(near.bytes.clone()), EXCERPT);
        let there = Message::new("the document says: ").text(text);
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
    let part = |range: &std::ops::Range<usize>| PlaceLabel {
        place: part_of_quote(span, range),
        text: Untrusted::from("differs from the document"),
    };
    near.quote.iter().filter(|range| !range.is_empty()).map(part).collect()
}

/// The place of a part of a quote, in bytes of it without the blanks around it.
fn part_of_quote(span: &Span<'_, '_>, range: &std::ops::Range<usize>) -> Place {
    let quote = span.citation.quote.and_then(Value::string);
    match (span.quote(), quote) {
        (Place::Value(pointer), Some(quote)) => {
            let blanks = citations::blanks_before(quote.bytes());
            Place::Span { pointer, start: blanks + range.start, end: blanks + range.end }
        }
        (place, _) => place,
    }
}

fn check_verbatim(case: &CaseView<'_>, findings: &mut Findings) {
    let method = case.typed().and_then(|typed| typed.base("extraction_method"));
    if !method.is_some_and(|method| method.is_string("verbatim")) {
        return;
    }
    let quoted =
        |citation: &Citation<'_>| citation.quote.and_then(Value::string).is_some_and(|quote| !quote.is_empty());
    let items = case.items().iter().enumerate();
    for (n, item) in items.filter(|(_, item)| item.is_found() && !item.citations.iter().any(quoted)) {
        // The value itself may be the words of the document.
        let stands = case.supports().get(n).is_some_and(|support| support.standing == ValueStanding::Stands);
        let message = if stands {
            "The item has no quote, but its value is in the cited lines."
        } else {
            "The answer is verbatim, but the item has no quote."
        };
        let help = "Ask for the words of the document with every item, or set the method to computed or inferred.";
        let finding = finding(RuleId::VerbatimWithoutQuote, message, evidence(item), help);
        findings.push(if stands { finding.severity(Severity::Note) } else { finding });
    }
}

fn check_retrieved(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(mut retrieved) = case.typed().map(TypedAnswer::retrieved) else { return };
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
        let message = format!("Page {page} is cited, but the model did not see it.");
        let help = "Find out whether the number is wrong or the answer comes from memory.";
        let place = if unseen(&first) { span.first_line() } else { span.last_line() };
        findings.push(finding(RuleId::SpanOutsideRetrievedPages, message, place, help).detail("page", int(page)));
    }
}

fn check_crosses(case: &CaseView<'_>, findings: &mut Findings) {
    for span in spans(case) {
        let pages = span.resolution.cited.as_ref().and_then(|cited| span.document.pages_of(cited));
        let Some((first, last)) = pages.filter(|(first, last)| first != last) else { continue };
        let message = format!("The citation begins on page {first} and ends on page {last}.");
        let help = "Check whether the passage continues over the page or the numbers are wrong.";
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
        SharedMistake::Offset(-1) => "All line numbers of the answer count from 1.".to_owned(),
        SharedMistake::PageLocal => "All line numbers of the answer count inside their pages.".to_owned(),
        SharedMistake::Offset(by) if by < 0 => {
            format!("All line numbers of the answer are {} too large.", by.unsigned_abs())
        }
        SharedMistake::Offset(by) => format!("All line numbers of the answer are {by} too small."),
    };
    let help = "Say in the prompt which number to cite: the 0-based line over the whole document.";
    findings.push(finding(RuleId::SharedOffset, message, span.first_line(), help));
}

fn check_boundary(case: &CaseView<'_>, findings: &mut Findings) {
    for span in spans(case) {
        let Some(hints) = boundary::hints(span.document, span.resolution) else { continue };
        let help = "Read the lines around it: they may hold a condition or an exception.";
        let place = if span.resolution.has_quote() { span.quote() } else { span.first_line() };
        findings.push(finding(RuleId::SpanBoundary, format!("The passage {hints}."), place, help));
    }
}

fn check_meaning_cut(case: &CaseView<'_>, findings: &mut Findings) {
    let all: Vec<(usize, Span<'_, '_>)> = case.resolutions().iter().map(|cited| cited.item).zip(spans(case)).collect();
    for (item, span) in &all {
        let Some(found) = &span.resolution.found else { continue };
        for cut in citations::cuts(span.document, found) {
            let bytes = cut.bytes();
            let holds = |(other, span): &&(usize, Span<'_, '_>)| {
                let held = span.held();
                other == item && held.start <= bytes.start && bytes.end <= held.end
            };
            if all.iter().filter(|own| !std::ptr::eq(own.1.resolution, span.resolution)).any(|own| holds(&own)) {
                continue;
            }
            let words = head(span.document.bytes(bytes), EXCERPT);
            let message = match &cut {
                Cut::Behind(_) => Message::new("The quote begins behind ").quoted(words).text(", which denies it."),
                Cut::Before(_) => Message::new("The quote ends before ").quoted(words).text(", which takes it back."),
                Cut::Number(_) => Message::new("The quote has only a part of the number ").quoted(words).text("."),
            };
            let help = "Read the whole sentence, and cite it to its end.";
            let finding = finding(RuleId::MeaningCut, message, span.quote(), help);
            // An exception limits what is said; an amount or a date is what it is.
            let is_value = case.items().get(*item).is_some_and(AnswerItem::is_amount_or_date);
            let is_limited = matches!(&cut, Cut::Before(bytes) if !is_negation(span.document.bytes(bytes.clone())));
            findings.push(if is_value && is_limited { finding.severity(Severity::Note) } else { finding });
        }
    }
}

/// Tells whether words deny what is before them; others limit it.
fn is_negation(words: &[u8]) -> bool {
    matches!(words.to_ascii_lowercase().trim_ascii(), b"not" | b"nicht")
}

#[cfg(test)]
mod tests;
