//! The breaches of an answer's contract as findings: a rule for each kind, with its help.

use super::Report;
use crate::case::CaseView;
use crate::contract::ContractFault;
use crate::rule::Rule;
use stepscope_base::json::{Part, Pointer};
use stepscope_record::finding::{Finding, Findings, Place, Severity};
use stepscope_record::rule_id::RuleId;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::JsonInvalid,
        summary: "answer is not a JSON object",
        explanation: "The model should write an object and wrote something else: prose, a code fence, a text cut off at the \
            token limit, or an object inside a string. None of it is usable as it is. Re-run the call with a server that \
            enforces the schema, or with a higher limit.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the deductible?", "answer_text": "{\"answer_found\": true, \"items\": [{\"text\": \"USD 2"}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the deductible?", "answer": {"answer_found": false, "items": []}}"#,
        check: |case, findings| speak(RuleId::JsonInvalid, case, findings),
    },
    Rule {
        id: RuleId::AnswerMissing,
        summary: "question without an answer",
        explanation: "The run retrieved pages for the question and ended there: it wrote no answer, not even one that says \
            that nothing was found. The question is pending, not answered with no.",
        bad: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the deductible?", "retrieved_pages": [{"page_num": 3}], "answer": null}"#,
        good: r#"{"format": "stepscope.answer_trace", "version": 1, "question": "What is the deductible?", "retrieved_pages": [{"page_num": 3}], "answer": {"answer_found": false, "items": []}}"#,
        check: |case, findings| {
            let Some(typed) = case.typed() else { return };
            if typed.traced && typed.answer.is_none() && typed.answer_text.is_none() {
                let help = "Generate the answer to this question: until then there is nothing to check.";
                let place = Place::Value(Pointer::default());
                Report::new(RuleId::AnswerMissing, help, findings).add("This question has no answer.", place);
            }
        },
    },
    Rule {
        id: RuleId::MissingField,
        summary: "field missing from the answer",
        explanation: "An answer carries eleven base fields and its items; an amount its value and currency, a date its ISO \
            day and the original, a table headers and rows, a citation its first and last line. A strict reader refuses the \
            whole answer if one is missing. `quote` and `unit` may be missing; `suggested_clarification` \
            may be null.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"amount": {"value": 250}, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        good: r#"{"extraction_method": "verbatim", "confidence": 0.9, "caveats": [], "answer_found": true, "complete_answer_found": true, "context_completeness_weak": 0.9, "context_structured": true, "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false, "suggested_clarification": null, "items": [{"amount": {"value": 250, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        check: |case, findings| speak(RuleId::MissingField, case, findings),
    },
    Rule {
        id: RuleId::UnknownField,
        summary: "answer has a field that the contract does not have",
        explanation: "The model added its own field. A lenient reader drops it silently, a strict schema refuses the answer; \
            stepscope shows and keeps it. An item's value under an unregistered key is not an unknown field. \
            `context_completeness_strong` must not come from the model: the next page decides it. A further field of the \
            answer itself, such as `jurisdiction`, is a note; a schema of its own (--schemas) declares it.",
        bad: r#"{"answer_found": true, "confidence": 0.9, "items": [{"text": "USD 250", "page": 3, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "caveats": ["It says so."], "items": [{"vin": "1M8GDM9AXKP042788", "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        check: |case, findings| speak(RuleId::UnknownField, case, findings),
    },
    Rule {
        id: RuleId::WrongType,
        summary: "value of the wrong type",
        explanation: "A number is written as a string, a flag as a word, a list as a single value: the value does not match \
            the JSON Schema of its type; NaN and infinity are no numbers in JSON. If lenient readers convert it (`\"0.9\"` to \
            a number), the message says so and the finding is a warning, which flags the answer and does not reject it.",
        bad: r#"{"answer_found": true, "confidence": [0.9], "caveats": "none", "items": [{"amount": {"value": null, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        good: r#"{"answer_found": true, "confidence": 0.9, "caveats": ["none"], "items": [{"amount": {"value": 250, "currency": "USD"}, "spans": [{"line_start": 3, "line_end": 3}]}]}"#,
        check: |case, findings| speak(RuleId::WrongType, case, findings),
    },
    Rule {
        id: RuleId::EnumInvalid,
        summary: "unknown extraction_method",
        explanation: "`extraction_method` is verbatim, computed, inferred or na, in lower case. It decides whether a person \
            has to review the answer, so an answer with another word cannot be routed.",
        bad: r#"{"extraction_method": "exact", "answer_found": false, "items": []}"#,
        good: r#"{"extraction_method": "na", "answer_found": false, "items": []}"#,
        check: |case, findings| speak(RuleId::EnumInvalid, case, findings),
    },
    Rule {
        id: RuleId::ConfidenceOutOfRange,
        summary: "confidence or context_completeness_weak outside 0 to 1",
        explanation: "Both are between 0 and 1. 95 is a percentage, 1.2 and -1 have no meaning, and NaN compares with nothing: \
            a threshold passes or stops it by chance.",
        bad: r#"{"confidence": 95, "context_completeness_weak": NaN, "answer_found": false, "items": []}"#,
        good: r#"{"confidence": 0.95, "context_completeness_weak": 1, "answer_found": false, "items": []}"#,
        check: |case, findings| speak(RuleId::ConfidenceOutOfRange, case, findings),
    },
];

/// Returns the rule that reports a breach, and what helps.
const fn told(fault: ContractFault) -> (RuleId, &'static str) {
    match fault {
        ContractFault::NotJson => (RuleId::JsonInvalid, "Re-run the call: only a JSON object can be checked and used."),
        ContractFault::Missing => {
            (RuleId::MissingField, "Write the field, or re-run the call with a schema that requires it.")
        }
        ContractFault::Unknown => (RuleId::UnknownField, "Remove the field, or register a type that has it."),
        ContractFault::Type => {
            (RuleId::WrongType, "Write the value as its schema requires; `stepscope schema` prints the schemas.")
        }
        ContractFault::Enum => (RuleId::EnumInvalid, "Write one of the allowed words."),
        ContractFault::Range => (RuleId::ConfidenceOutOfRange, "Write a number from 0 to 1."),
    }
}

/// Says what the contract found of one sort.
fn speak(rule: RuleId, case: &CaseView<'_>, findings: &mut Findings) {
    let Some((typed, answered)) = case.answered() else { return };
    for breach in &answered.breaches {
        let (own, help) = told(breach.fault);
        if own == rule {
            let finding = Finding::new(rule, breach.message.clone(), breach.place.clone()).help(help);
            // What lenient readers convert is worth a look, and no reason to refuse the answer.
            let is_converted = breach.lenient && rule == RuleId::WrongType;
            // Pipelines add fields of their own to the answer; what the next page decides is not theirs to say.
            let is_further = rule == RuleId::UnknownField && is_further_field(&breach.place, &typed.pointer);
            findings.push(match (is_converted, is_further) {
                (true, _) => finding.severity(Severity::Warning),
                (_, true) => finding.severity(Severity::Note),
                _ => finding,
            });
        }
    }
}

/// Tells whether a key is a further field of the answer itself.
fn is_further_field(place: &Place, answer: &Pointer) -> bool {
    let Place::Key(pointer) = place else { return false };
    let is_own = pointer.0.len() == answer.0.len() + 1;
    is_own && pointer.0.last() != Some(&Part::from("context_completeness_strong"))
}
