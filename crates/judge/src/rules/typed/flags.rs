//! Statements of an answer about itself, against what it holds.

use super::Report;
use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::python::Message;
use stepscope_base::text::Untrusted;
use stepscope_evidence::typed::{AnswerItem, Dialect, TypedAnswer, truth};
use stepscope_record::finding::{Findings, Place, PlaceLabel};
use stepscope_record::rule_id::RuleId;

const NO_METHOD: &str = "There are items, but no extraction_method.";
/// Maximum number of further places that are named in one finding.
const MAX_LABELS: usize = 8;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ShapeMismatch,
        summary: "answer of another type than requested",
        explanation: "The question asks for an amount, a date, a table; the answer holds something else, mostly a string. The \
            next program reads the key of the requested type and finds nothing. If the document does not give the value in \
            that type, the honest answer is `na` with a caveat.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "parsed_question": {"expected_answer_shape": "amount"}, "answer": {"answer_found": true, "items": [{"text": "a small deductible", "spans": [{"line_start": 3, "line_end": 3}]}]}}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "parsed_question": {"expected_answer_shape": "amount"}, "answer": {"answer_found": true, "items": [{"amount": {"value": 250, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3}]}]}}"#,
        check: check_shape,
    },
    Rule {
        id: RuleId::FoundItemsMismatch,
        summary: "answer_found contradicts the items",
        explanation: "A found answer has items, and a missing one has none. If flag and items disagree, one reader ships the \
            answer that another drops.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": []}"#,
        good: r#"{"answer_found": false, "confidence": 0.9, "items": []}"#,
        check: check_found,
    },
    Rule {
        id: RuleId::CompleteWithoutFound,
        summary: "answer is complete but not found",
        explanation: "The answer says that nothing was found and that it is complete. A reader of the second flag alone takes \
            it for a full answer.",
        bad: r#"{"answer_found": false, "complete_answer_found": true, "items": []}"#,
        good: r#"{"answer_found": false, "complete_answer_found": false, "items": []}"#,
        check: |case, findings| {
            let Some(typed) = case.typed() else { return };
            if (typed.flag("complete_answer_found"), typed.flag("answer_found")) == (Some(true), Some(false)) {
                let place = Place::Value(typed.pointer.then("complete_answer_found"));
                let help = "Set complete_answer_found to false, or answer_found to true if there is an answer.";
                let message = "The answer is marked complete but not found.";
                let finding = Report::new(RuleId::CompleteWithoutFound, help, findings).add(message, place).is_some();
                label_last(findings, finding, Place::Value(typed.pointer.then("answer_found")), "not found");
            }
        },
    },
    Rule {
        id: RuleId::MethodItemsMismatch,
        summary: "extraction_method contradicts the items",
        explanation: "`na` means that nothing was extracted, so there can be no items. Items without a method leave open \
            whether they are copied, computed or guessed, and whether a person must review them. A found answer that is \
            verbatim or computed has items.",
        bad: r#"{"extraction_method": "na", "answer_found": true, "items": [{"text": "USD 250", "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        good: r#"{"extraction_method": "verbatim", "answer_found": true, "items": [{"text": "USD 250", "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        check: check_method,
    },
];

fn check_shape(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    let Some(asked) = answered.asked.kind.as_ref() else { return };
    let Some(wanted) = case.types().named(asked.bytes()).filter(|_| typed.dialect() == Some(Dialect::Items)) else {
        return;
    };
    let help = "Answer in the requested type; if the document does not give it, answer na with a caveat.";
    let other = |item: &&AnswerItem<'_>| item.value.as_ref().is_some_and(|(key, _)| *key != wanted.key);
    let mut others = answered.items.iter().filter(other);
    if let Some((first, (key, _))) = others.next().and_then(|item| Some((item, item.value.as_ref()?))) {
        let message = Message::new("Asked for: ").text(asked.bytes()).text("; answered: ").text(key.bytes()).text(".");
        let key_of = |item: &AnswerItem<'_>| item.value_pointer().map(Place::Key);
        let Some(place) = key_of(first) else { return };
        let places: Vec<Place> = others.filter_map(key_of).take(MAX_LABELS).collect();
        let added = Report::new(RuleId::ShapeMismatch, help, findings).add(message, place).is_some();
        for place in places {
            label_last(findings, added, place, "here too");
        }
    } else if answered.items.iter().all(|item| item.value.is_none())
        && let (Some(kind), Some(schema)) = (typed.schema_kind(), typed.schema)
        && case.types().named(kind.bytes()).is_some_and(|used| used.key != wanted.key)
    {
        // Without items only the schema shows which type the answer is of.
        let message = Message::new("Asked for: ").text(asked.bytes()).text("; the schema is one for: ");
        let root = case.record.as_ref().map(|record| record.root);
        let place = root.map(|root| Place::Value(root.pointer_to(schema)));
        let place = place.unwrap_or(Place::Value(Pointer::default()));
        Report::new(RuleId::ShapeMismatch, help, findings).add(message.text(kind.bytes()).text("."), place);
    }
}

fn check_found(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    let help = "Set answer_found to true if there are items; set `found` of a field to true if it has a value.";
    let mut report = Report::new(RuleId::FoundItemsMismatch, help, findings);
    match typed.dialect() {
        Some(Dialect::Items) => {
            let Some(found) = typed.base("answer_found").and_then(truth) else { return };
            if found != answered.items.is_empty() {
                return;
            }
            let message = if found {
                "answer_found is true, but there are no items."
            } else {
                "answer_found is false, but there are items."
            };
            report.add(message, Place::Value(typed.pointer.then("answer_found")));
        }
        Some(Dialect::Fields) => {
            for item in &answered.items {
                let found = item.root.get("found").and_then(Value::bool);
                let has_value = item.value.as_ref().is_some_and(|(_, value)| !value.is_null());
                if found == Some(!has_value) {
                    let message = if has_value {
                        "The field is marked not found, but has a value."
                    } else {
                        "The field is marked found, but has no value."
                    };
                    report.add(message, Place::Value(item.pointer.then("found")));
                }
            }
        }
        Some(Dialect::Value) | None => {}
    }
}

fn check_method(case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    if typed.dialect() != Some(Dialect::Items) {
        return;
    }
    if answered.items.is_empty() {
        return check_method_of_nothing(typed, findings);
    }
    let help = "Set the method of the items: verbatim, computed or inferred; `na` only without items.";
    let mut report = Report::new(RuleId::MethodItemsMismatch, help, findings);
    match typed.base("extraction_method") {
        Some(method) if method.is_string("na") => {
            report.add("The method is na, but there are items.", Place::Value(typed.pointer.then("extraction_method")));
        }
        Some(method) if method.is_null() || is_blank(method) => {
            let place = Place::Value(typed.pointer.then("extraction_method"));
            report.add(NO_METHOD, place);
        }
        Some(_) => {}
        None => {
            let place = Place::Value(typed.pointer.clone());
            report.add(NO_METHOD, place);
        }
    }
}

/// An answer that was found and got in some way has items.
fn check_method_of_nothing(typed: &TypedAnswer<'_>, findings: &mut Findings) {
    let Some(method) = typed.base("extraction_method").and_then(Value::string) else { return };
    let is_got = ["verbatim", "computed"].iter().any(|known| method == *known);
    if is_got && typed.base("answer_found").and_then(truth) == Some(true) {
        let help = "Write the extracted items, or set the method to na and answer_found to false.";
        let message = Message::new("The method is ").text(method.bytes()).text(", but there are no items.");
        let place = Place::Value(typed.pointer.then("extraction_method"));
        Report::new(RuleId::MethodItemsMismatch, help, findings).add(message, place);
    }
}

fn is_blank(value: Value<'_>) -> bool {
    value.kind() == Kind::String && value.string().is_some_and(|text| text.bytes().trim_ascii().is_empty())
}

/// Adds a place to the finding that was just made.
fn label_last(findings: &mut Findings, made: bool, place: Place, text: &'static str) {
    if made && let Some(last) = findings.last_mut() {
        last.push_label(PlaceLabel { place, text: Untrusted::from(text) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    fn shape(asked: &str, schema: &str, items: &str) -> Option<String> {
        let text = format!(
            r#"{{"format": "stepscope.answer_trace", "schema": "{schema}", "parsed_question": {{"expected_answer_shape": "{asked}"}}, "answer": {{"items": [{items}]}}}}"#
        );
        let case = Case::read(text.as_bytes());
        let mut findings = Findings::new();
        check_shape(&case.view(), &mut findings);
        assert!(findings.len() <= 1);
        let finding = findings.first()?;
        Some(format!("{} {}", finding.place().pointer().text().line().as_str(), finding.message.line().as_str()))
    }

    #[test]
    fn the_type_that_was_asked_for_is_judged_once() {
        let (text, date) = (r#"{"text": "x"}"#, r#"{"date": {"iso": "2024-03-15", "original": "x"}}"#);
        let amount = "/answer/items/0/text Asked for: amount; answered: text.";
        assert_eq!(shape("amount", "TextAnswer", &format!("{text}, {text}")).as_deref(), Some(amount));
        assert_eq!(
            shape("amount", "DateAnswer", "").as_deref(),
            Some("/schema Asked for: amount; the schema is one for: date.")
        );
        assert_eq!(shape("date", "DateAnswer", date), None);
        assert_eq!(shape("list", "TextAnswer", text), None);
        // A list is of texts, whatever schema was used; another type is asked for beside the shape.
        let amount = r#"{"amount": {"value": 1, "currency": "USD"}}"#;
        for (schema, items) in [("AmountAnswer", amount), ("TextAnswer", amount), ("ListAnswer", amount), ("", date)] {
            assert!(shape("list", schema, items).is_some(), "{schema}");
        }
        // What is no registered type is not judged.
        assert_eq!(shape("haiku", "TextAnswer", text), None);
        assert_eq!(shape("tree", "", r#"{"tree": {"a": []}}"#), None);
    }
}
