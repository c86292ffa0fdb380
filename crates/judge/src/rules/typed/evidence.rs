//! Values against the lines that they cite, and what the answer itself casts doubt on.

use super::Report;
use crate::case::CaseView;
use crate::clues::clues;
use crate::rule::Rule;
use stepscope_base::json::{Kind, Value};
use stepscope_base::python::Message;
use stepscope_base::text::cut;
use stepscope_evidence::typed::truth;
use stepscope_evidence::wording::words;
use stepscope_record::finding::{Finding, Findings, Place};
use stepscope_record::rule_id::RuleId;

/// An answer that is less sure of itself is looked at again.
const SURE: f64 = 0.5;
/// An answer that is less sure of its context is looked at again.
const SEEN: f64 = 0.3;
/// Number of keywords that are looked for.
const MAX_KEYWORDS: usize = 32;
/// A longer document is not searched for keywords.
const MAX_DOCUMENT: usize = 2 << 20;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ValueNotInCitation,
        summary: "value is not in the cited lines",
        explanation: "The quote may be right and the value wrong: £350 is cited, and 250 GBP answered. The value of a verbatim \
            item is looked for in its quotes, else in the cited lines: amounts by number, sign, scale, currency and period, \
            dates by their day, the parts of addresses, names and other types, the cells and rows of tables, the numbers, \
            dates, negations and names of texts, all in any writing. Where a sentence gives several numbers, each stays with \
            its own words. A yes or no is compared where the question names a \
            limit or two cells of a row, or the line says or denies what is asked, in the same words or in common other ones. Other words of a text are a note: they may be a paraphrase. A \
            false paraphrase without a number, a name or a negation is not found.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "document": {"lines": ["The excess is £350."]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "items": [{"amount": {"value": 250, "currency": "GBP"}, "spans": [{"line_start": 0, "line_end": 0, "quote": "The excess is £350."}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "document": {"lines": ["The excess is £350."]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "items": [{"amount": {"value": 350, "currency": "GBP"}, "spans": [{"line_start": 0, "line_end": 0, "quote": "The excess is £350."}]}]}}"#,
        check: |case, findings| {
            let help = "Read the cited lines again, and correct the value or the citation.";
            for fault in case.supports().iter().flat_map(|support| &support.faults) {
                let place = Place::Value(fault.pointer.clone());
                let finding = Finding::new(RuleId::ValueNotInCitation, fault.message.clone(), place).help(help);
                findings.push(finding.severity(fault.severity));
            }
        },
    },
    Rule {
        id: RuleId::OtherValueAsked,
        summary: "question names another value",
        explanation: "The value is in the cited lines, but the words of the question are at another value of its kind: \
            under another heading of the table, on another line or at another entry with a label, at another number or name of \
            the same sentence; or the kind of the line is another: the question asks for the day, the writer, the party, the \
            amount with tax, the end of a period or the part, and the value is another day, the addressee, the other party, \
            the net amount, the other end or the whole. That proves nothing, and a person must look.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What was the revenue in 2023?", "document": {"lines": ["Year  2024  2023", "Revenue  310  290"]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "items": [{"amount": {"value": 310, "currency": "XXX"}, "spans": [{"line_start": 1, "line_end": 1, "quote": "Revenue  310  290"}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What was the revenue in 2023?", "document": {"lines": ["Year  2024  2023", "Revenue  310  290"]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "items": [{"amount": {"value": 290, "currency": "XXX"}, "spans": [{"line_start": 1, "line_end": 1, "quote": "Revenue  310  290"}]}]}}"#,
        check: |case, findings| {
            let help = "Read the question next to the cited lines, and take the value that it asks for.";
            for doubt in case.supports().iter().filter_map(|support| support.doubt.as_ref()) {
                let place = Place::Value(doubt.pointer.clone());
                findings.push(Finding::new(RuleId::OtherValueAsked, doubt.message.clone(), place).help(help));
            }
        },
    },
    Rule {
        id: RuleId::ListIncomplete,
        summary: "cited lines say that the list has more",
        explanation: "The answer says that it is complete, but the cited lines announce more entries than it gives, an entry of \
            their list is left out or one of another list is added, a second name is left out, the passage breaks off, or it sends the reader to a part that the document \
            does not have. Retrieve more, or read on.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "Which perils are excluded?", "document": {"lines": ["The following three perils are excluded: war,", "frost and flood."]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "complete_answer_found": true, "items": [{"text": "war", "spans": [{"line_start": 0, "line_end": 0, "quote": "war"}]}, {"text": "frost", "spans": [{"line_start": 1, "line_end": 1, "quote": "frost"}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "Which perils are excluded?", "document": {"lines": ["The following two perils are excluded: war", "and frost."]}, "answer": {"extraction_method": "verbatim", "answer_found": true, "complete_answer_found": true, "items": [{"text": "war", "spans": [{"line_start": 0, "line_end": 0, "quote": "war"}]}, {"text": "frost", "spans": [{"line_start": 1, "line_end": 1, "quote": "frost"}]}]}}"#,
        check: check_list,
    },
    Rule {
        id: RuleId::SecondLook,
        summary: "answer doubts itself",
        explanation: "The answer ships, but says of itself that it may be wrong: a low confidence, a context that was hardly \
            complete, a caveat that speaks of a conflict or a gap while the flags say that there is none, a keyword that \
            is on no page. None of it proves anything; the review queue shows such answers before the rest.",
        bad: r#"{"answer_found": true, "complete_answer_found": true, "confidence": 0.3, "items": [{"text": "x", "spans": []}]}"#,
        good: r#"{"answer_found": true, "complete_answer_found": true, "confidence": 0.9, "items": [{"text": "x", "spans": []}]}"#,
        check: check_doubts,
    },
];

fn check_list(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    let Some(document) = case.document().filter(|_| typed.flag("complete_answer_found") == Some(true)) else { return };
    let question = Value::text_of(case.record.as_ref().and_then(|record| record.question));
    let question = question.readable();
    let help = "Read on in the document, add what is missing, or set complete_answer_found to false.";
    let mut report = Report::new(RuleId::ListIncomplete, help, findings);
    for message in clues(&answered.items, question, (document, case.resolutions())) {
        report.add(message, Place::Value(typed.pointer.then("items")));
    }
}

fn check_doubts(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    if answered.items.is_empty() || typed.flag("answer_found") != Some(true) {
        return;
    }
    let help = "Read the answer next to its cited lines before it is used.";
    let mut report = Report::new(RuleId::SecondLook, help, findings);
    for (field, least, message) in [
        ("confidence", SURE, "The model's confidence is low: "),
        ("context_completeness_weak", SEEN, "The model saw little of what it needed: "),
    ] {
        let value = typed.base(field).and_then(|value| Some((value, value.float()?)));
        if let Some((value, _)) = value.filter(|(_, number)| (0.0..least).contains(number)) {
            let place = Place::Value(typed.pointer.then(field));
            report.add(Message::new(message).text(value.raw().to_vec()).text("."), place);
        }
    }
    for (n, caveat) in typed.base("caveats").into_iter().flat_map(Value::items).enumerate() {
        let Some(text) = caveat.string() else { continue };
        let Some(text) = text.utf8() else { continue };
        let flag = |name: &str| typed.base(name).and_then(truth);
        let contradicts = if speaks_of(text, &CONFLICTS) && flag("conflicting_evidence") == Some(false) {
            Some("The caveat speaks of a conflict, but conflicting_evidence is false.")
        } else if speaks_of(text, &GAPS) && flag("complete_answer_found") == Some(true) {
            Some("The caveat speaks of a gap, but complete_answer_found is true.")
        } else {
            None
        };
        if let Some(message) = contradicts {
            report.add(message, Place::Value(typed.pointer.then("caveats").then(n)));
        }
    }
    let Some(document) = case.document().filter(|document| document.text(0..document.len()).len() <= MAX_DOCUMENT)
    else {
        return;
    };
    let Some(keywords) =
        typed.base("keywords_found").filter(|keywords| keywords.kind() == Kind::Array && !keywords.is_empty())
    else {
        return;
    };
    let text = String::from_utf8_lossy(document.text(0..document.len())).to_lowercase();
    for (n, keyword) in keywords.items().enumerate().take(MAX_KEYWORDS) {
        let Some(written) = keyword.string() else { continue };
        let own = words(&written.readable().to_lowercase());
        if !own.is_empty() && !own.iter().any(|word| stands(&word.folded, &text)) {
            let message = Message::new("The keyword ").quoted(written.bytes()).text(" is on no page.");
            report.add(message, Place::Value(typed.pointer.then("keywords_found").then(n)));
        }
    }
}

/// Tells whether the beginning of a word stands in a text, so that its other forms count; the text is in small letters,
/// with accents, which a folded word lacks.
fn stands(word: &str, text: &str) -> bool {
    let stem = cut(word, 5);
    text.contains(stem) || !text.is_ascii() && stepscope_evidence::wording::folded(text).contains(stem)
}

const CONFLICTS: [&str; 6] = ["conflict", "contradict", "inconsisten", "disagree", "two different", "differing"];
const GAPS: [&str; 6] =
    ["incomplete", "not retrieved", "may be missing", "might be missing", "not all ", "more may follow"];

/// Tells whether a text holds one of some phrases, not denied: "no conflict" and "not incomplete" are none.
fn speaks_of(text: &str, phrases: &[&str]) -> bool {
    let lower = text.to_lowercase();
    phrases.iter().any(|phrase| {
        lower.find(phrase).is_some_and(|at| {
            let before = &lower[..at];
            let near = before.rsplit(['.', ';', ',']).next().expect("a split has a first part");
            !["no ", "not ", "without ", "n't ", "never "].iter().any(|denial| near.contains(denial))
        })
    })
}
