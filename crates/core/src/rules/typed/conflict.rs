//! What speaks against an answer in the answer itself or in its document: several values where one was asked for, an
//! amended date, and a yes or no whose numbers are not cited.

use std::ops::Range;

use super::super::{Rule, RuleId};
use super::Report;
use crate::answer::date::{Date, WrittenDate, written};
use crate::answer::document::Document;
use crate::answer::typed::{AnswerItem, Citation, Dialect};
use crate::arithmetic::expression::numbers;
use crate::case::CaseView;
use crate::finding::{Findings, Place, PlaceLabel};
use stepscope_base::json::same::same_value;
use stepscope_base::json::{Kind, Value};
use stepscope_base::python::Message;
use stepscope_base::text::{Untrusted, head};

/// So many lines of a document are searched for an amendment.
const MAX_LINES: usize = 20_000;
/// A longer line is no clause.
const MAX_LINE: usize = 400;
/// So much of a line is quoted.
const EXCERPT: usize = 120;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ConflictUnflagged,
        summary: "conflicting evidence is not flagged",
        explanation: "The question asks for one value, but the items give several; or the document amends the date that the \
            answer gives. The answer says that nothing conflicts, so a reader of the first value alone does not learn of \
            the other. Show both, and set conflicting_evidence.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the effective date?", "parsed_question": {"expected_answer_shape": "date"}, "answer": {"answer_found": true, "conflicting_evidence": false, "items": [{"date": {"iso": "2024-03-15", "original": "15 March 2024"}, "spans": [{"line_start": 7, "line_end": 7}]}, {"date": {"iso": "2024-04-01", "original": "1 April 2024"}, "spans": [{"line_start": 40, "line_end": 40}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the effective date?", "parsed_question": {"expected_answer_shape": "date"}, "answer": {"answer_found": true, "conflicting_evidence": true, "items": [{"date": {"iso": "2024-03-15", "original": "15 March 2024"}, "spans": [{"line_start": 7, "line_end": 7}]}, {"date": {"iso": "2024-04-01", "original": "1 April 2024"}, "spans": [{"line_start": 40, "line_end": 40}]}]}}"#,
        check: check_conflict,
    },
    Rule {
        id: RuleId::ThresholdUncited,
        summary: "yes or no about a limit without the numbers cited",
        explanation: "The question asks whether something is above or below a limit. Two numbers decide that, the limit and \
            the value, but the cited text does not hold both. The answer may be right; the citation does not show it.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "Is the deductible above USD 500?", "answer": {"answer_found": true, "items": [{"boolean": true, "spans": [{"line_start": 3, "line_end": 3, "quote": "The deductible applies to each claim."}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "Is the deductible above USD 500?", "answer": {"answer_found": true, "items": [{"boolean": true, "spans": [{"line_start": 3, "line_end": 3, "quote": "The deductible is USD 1,200 per claim."}]}]}}"#,
        check: check_threshold,
    },
];

fn check_conflict(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    if typed.dialect() != Some(Dialect::Items) || typed.flag("conflicting_evidence") != Some(false) {
        return;
    }
    let help = "Set conflicting_evidence and give every value with its place, or ask which one applies.";
    let mut report = Report::new(RuleId::ConflictUnflagged, help, findings);
    let valued = || answered.items.iter().filter_map(|item| Some((item, item.value.as_ref()?.1)));
    let Some((_, first)) = valued().next() else { return };
    let other = valued().skip(1).find(|(_, value)| differ(first, *value));
    if let (Some((other, value)), Some(false)) = (other, answered.asked.many) {
        let Some(pointer) = other.value_pointer() else { return };
        let message = saying(Message::new("The question asks for one value, but the items say "), first).text(" and ");
        let message = saying(message, value).text(" and flag no conflict.");
        report.add(message, Place::Value(pointer));
        return;
    }
    for (item, value) in valued() {
        if let Some((line, there)) = amended(case, item, value)
            && let Some(pointer) = item.value_pointer()
        {
            let text = head(case.document().and_then(|document| document.line(line)).unwrap_or_default(), EXCERPT);
            let message =
                Message::new("The document amends this date to ").text(there.as_bytes()).text(": ").quoted(text);
            report.add(message.text("."), Place::Value(pointer));
            return;
        }
    }
}

/// Tells whether two values differ in what they say, not only in form.
fn differ(a: Value<'_>, b: Value<'_>) -> bool {
    if a.kind() != b.kind() {
        return false;
    }
    let part = |name: &str| a.get(name).zip(b.get(name));
    match a.kind() {
        Kind::Object => match part("iso").or_else(|| part("value")) {
            Some((a, b)) => !is_same(a, b),
            // What has other parts may be another thing, not another value.
            None => false,
        },
        Kind::True | Kind::False | Kind::Int | Kind::Float => !same_value(a, b),
        Kind::String => {
            // Texts say the same in many words: only numbers and dates tell.
            let values = |value: Value<'_>| -> Option<Vec<f64>> {
                let text = value.string()?;
                let found = numbers(text.utf8()?);
                Some(found.into_iter().map(|(number, _)| number.value.float()).collect())
            };
            match (values(a), values(b)) {
                (Some(a), Some(b)) => a.len() == 1 && b.len() == 1 && (a.first() != b.first()),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    let number = |value: Value<'_>| value.float().or_else(|| value.string()?.utf8()?.trim().parse().ok());
    same_value(a, b) || number(a).zip(number(b)).is_some_and(|(a, b)| (a - b).abs() < 1e-9)
}

fn saying(message: Message, value: Value<'_>) -> Message {
    const SHORT: usize = 40;
    let shown = value.get("iso").or_else(|| value.get("value")).unwrap_or(value);
    match shown.string() {
        Some(words) if value.kind() == Kind::String => message.quoted(head(words.bytes(), SHORT)),
        Some(words) => message.text(head(words.bytes(), SHORT)),
        None => message.text(head(shown.raw(), SHORT)),
    }
}

/// A line that is not cited and gives the thing that was asked for another date: the line, and the date as it stands.
fn amended(case: &CaseView<'_>, item: &AnswerItem<'_>, value: Value<'_>) -> Option<(usize, String)> {
    const AMENDS: [&str; 12] = [
        "amended",
        "amends",
        "amendment",
        "changed to",
        "is replaced",
        "replaced by",
        "superseded",
        "revised to",
        "corrected to",
        "hereby changed",
        "shall read",
        "deleted and replaced",
    ];
    let iso = value.get("iso")?.string()?;
    let own = Date::iso(iso.bytes()).ok()?;
    let question = case.record.as_ref()?.question?.string()?;
    let subject = subject(question.utf8()?);
    let document: &Document = case.document()?;
    if subject.is_empty() {
        return None;
    }
    let cited: Vec<Range<usize>> = item.citations.iter().filter_map(|citation| case.meant_lines(citation)).collect();
    let is_cited = |line: usize| cited.iter().any(|lines| lines.contains(&line));
    // Another item may give the other date.
    let given: Vec<Date> = case
        .items()
        .iter()
        .filter_map(|item| Date::iso(item.value.as_ref()?.1.get("iso")?.string()?.bytes()).ok())
        .collect();
    (0..document.len().min(MAX_LINES)).filter(|line| !is_cited(*line)).find_map(|line| {
        let text = document.line(line).filter(|text| text.len() <= MAX_LINE)?;
        let text = std::str::from_utf8(text).ok()?;
        let lower = text.to_lowercase();
        let amends = AMENDS.iter().any(|word| lower.contains(word));
        if !amends || !subject.iter().all(|word| lower.contains(word.as_str())) {
            return None;
        }
        // "amended from 1 March to 1 April": what stands behind the word is what holds.
        let behind = lower.rfind(" to ").or_else(|| lower.rfind("read")).map_or(0, |at| at);
        let tail = text.get(behind..).unwrap_or(text);
        let dates = written(if written(tail).is_empty() { text } else { tail });
        let is_other = |date: &Date| date != &own && !given.contains(date);
        let full: Vec<Date> = dates.iter().filter_map(WrittenDate::whole).collect();
        let other = full.iter().find(|date| is_other(date)).filter(|_| !full.contains(&own))?;
        Some((line, format!("{:04}-{:02}-{:02}", other.year, other.month, other.day)))
    })
}

/// The words of a question that name what it asks for.
fn subject(question: &str) -> Vec<String> {
    const EMPTY: &[&str] = stepscope_base::list![
        what when which where does from that this with will have been there their is the on of for a an in to was are did do
        day
    ];
    let lower = question.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3 && !EMPTY.contains(word));
    let words: Vec<String> = words.map(|word| word.trim_end_matches('s').to_owned()).collect();
    // One word alone is in too many lines.
    if words.len() >= 2 { words } else { Vec::new() }
}

fn check_threshold(case: &CaseView<'_>, findings: &mut Findings) {
    const COMPARES: [&str; 22] = [
        "exceed",
        "above",
        "below",
        "more than",
        "less than",
        "at least",
        "at most",
        "greater",
        "higher",
        "lower than",
        "fewer",
        "not more",
        "no more",
        " over ",
        " under ",
        "within the limit",
        "threshold",
        "minimum",
        "maximum",
        "larger",
        "smaller",
        "up to",
    ];
    let Some((_, answered)) = case.answered() else { return };
    let Some(question) = case.record.as_ref().and_then(|record| record.question?.string()) else { return };
    let Some(text) = question.utf8() else { return };
    let lower = text.to_lowercase();
    let asks = ["is ", "are ", "does ", "do ", "did ", "was ", "were ", "has ", "have ", "can ", "will "];
    let is_threshold =
        COMPARES.iter().any(|word| lower.contains(word)) && asks.iter().any(|ask| lower.starts_with(ask));
    if !is_threshold {
        return;
    }
    let values = |text: &[u8]| -> Vec<f64> {
        let text = std::str::from_utf8(text).unwrap_or_default();
        numbers(text).into_iter().map(|(number, _)| number.value.float()).collect()
    };
    let limits = values(text.as_bytes());
    let help = "Cite the line with the value too, so that the citation shows both numbers.";
    let mut report = Report::new(RuleId::ThresholdUncited, help, findings);
    for item in answered.items.iter().filter(|item| is_yes_or_no(item)) {
        let texts = cited_texts(case, item);
        if texts.is_empty() {
            continue;
        }
        let mut cited: Vec<f64> = Vec::new();
        for text in &texts {
            cited.extend(values(text));
        }
        // The limit of the question need not be cited; the value must be, and it may be the same number.
        let has_both = cited.len() >= if limits.is_empty() { 2 } else { 1 };
        if !has_both && let Some(pointer) = item.value_pointer() {
            let message = "The answer compares two numbers, but the cited text does not hold both.";
            if let (Some(finding), Some(citation)) =
                (report.add(message, Place::Value(pointer)), item.citations.first())
            {
                let text = Untrusted::from("what is cited");
                finding.push_label(PlaceLabel { place: Place::Value(citation.pointer.clone()), text });
            }
        }
    }
}

fn is_yes_or_no(item: &AnswerItem<'_>) -> bool {
    item.value.as_ref().is_some_and(|(key, value)| *key == "boolean" || value.bool().is_some())
}

/// The quotes of an item, or the cited lines where there is no quote.
fn cited_texts(case: &CaseView<'_>, item: &AnswerItem<'_>) -> Vec<Vec<u8>> {
    let text = |citation: &Citation<'_>| {
        let lines = case.document().and_then(|document| Some(document.text(case.meant_lines(citation)?).to_vec()));
        let quote = citation.quote.and_then(Value::string).map(|quote| quote.bytes().to_vec());
        // The lines say at least what the quote says.
        lines.or(quote)
    };
    item.citations.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn said(text: &str, check: fn(&CaseView<'_>, &mut Findings)) -> Vec<String> {
        let case = Case::read(text.as_bytes());
        let mut findings = Findings::new();
        check(&case.view(), &mut findings);
        findings.iter().map(|finding| finding.message.line().into_string()).collect()
    }

    fn dated(line: &str) -> Vec<String> {
        let text = format!(
            r#"{{"format": "stepscope.answer_trace", "question": "What is the effective date of the policy?",
            "parsed_question": {{"expected_answer_shape": "date"}},
            "document": {{"lines": ["The effective date of the policy is 15 March 2024.", "{line}"]}},
            "answer": {{"answer_found": true, "conflicting_evidence": false, "items": [{{"date": {{"iso": "2024-03-15", "original": "15 March 2024"}},
            "spans": [{{"line_start": 0, "line_end": 0}}]}}]}}}}"#
        );
        said(&text, check_conflict)
    }

    #[test]
    fn a_line_is_cited_where_its_quote_is_found() {
        let amended = "The effective date of this policy is amended to 1 April 2024.";
        let text = |line: usize, quote: &str| {
            format!(
                r#"{{"format": "stepscope.answer_trace", "question": "What is the effective date of the policy?",
                "parsed_question": {{"expected_answer_shape": "date"}},
                "document": {{"lines": ["The effective date of the policy is 15 March 2024.", "A line.", "{amended}"]}},
                "answer": {{"answer_found": true, "conflicting_evidence": false, "items": [{{"date": {{"iso": "2024-03-15", "original": "15 March 2024"}},
                "spans": [{{"line_start": {line}, "line_end": {line}, "quote": "{quote}"}}]}}]}}}}"#
            )
        };
        assert_eq!(said(&text(2, amended), check_conflict).len(), 0);
        assert_eq!(said(&text(3, amended), check_conflict).len(), 0, "counted from 1");
        assert_eq!(said(&text(2, "A line."), check_conflict).len(), 1, "the number alone cites nothing");
    }

    #[test]
    fn an_amended_date_is_a_conflict() {
        for line in [
            "The effective date of this policy is amended to 1 April 2024.",
            "Endorsement 2: effective date of the policy changed to April 1, 2024",
            "Policy: the effective date is amended from 15 March 2024 to 1 April 2024.",
        ] {
            let said = dated(line);
            assert_eq!(said.len(), 1, "{line}");
            assert!(said[0].starts_with("The document amends this date to 2024-04-01"), "{said:?}");
        }
        for line in [
            "The effective date of the policy is 15 March 2024, as amended.",
            "The expiry date of the policy is amended to 1 April 2025.",
            "Premiums are amended on 1 April 2024.",
            "The effective date of the policy is 1 April 2024.",
        ] {
            assert_eq!(dated(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn several_values_where_one_was_asked_for_conflict() {
        let conflict = |shape: &str, items: &str| {
            let text = format!(
                r#"{{"format": "stepscope.answer_trace", "question": "?", "parsed_question": {{"expected_answer_shape": "{shape}"}},
                "answer": {{"answer_found": true, "conflicting_evidence": false, "items": [{items}]}}}}"#
            );
            said(&text, check_conflict).len()
        };
        let amount = |value: &str| format!(r#"{{"amount": {{"value": {value}, "currency": "USD"}}, "spans": []}}"#);
        assert_eq!(conflict("amount", &[amount("250"), amount("300")].join(",")), 1);
        assert_eq!(conflict("amount", &[amount("250"), amount("250.0")].join(",")), 0);
        assert_eq!(conflict("list", &[amount("250"), amount("300")].join(",")), 0);
        assert_eq!(conflict("text", r#"{"text": "low"}, {"text": "minor"}"#), 0);
    }

    #[test]
    fn a_limit_and_a_value_are_both_seen() {
        let threshold = |question: &str, quote: &str| {
            let text = format!(
                r#"{{"format": "stepscope.answer_trace", "question": "{question}", "answer": {{"answer_found": true, "items": [
                {{"boolean": true, "spans": [{{"line_start": 0, "line_end": 0, "quote": "{quote}"}}]}}]}}}}"#
            );
            said(&text, check_threshold).len()
        };
        assert_eq!(threshold("Does the loss exceed USD 500?", "The loss is covered."), 1);
        assert_eq!(threshold("Does the loss exceed USD 500?", "The loss is USD 620."), 0);
        assert_eq!(threshold("Does the loss exceed the limit?", "The loss is USD 620."), 1);
        assert_eq!(threshold("Does the loss exceed the limit?", "The loss is USD 620; the limit is USD 500."), 0);
        assert_eq!(threshold("Does the policy cover flood?", "Flood is covered."), 0);
    }
}
