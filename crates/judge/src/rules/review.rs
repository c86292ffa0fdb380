//! Reviews of a record, as findings. They need the review log: `stepscope check --reviewed` makes them, and the
//! entries are in the registry like all others.

use crate::rule::Rule;
use stepscope_base::json::Pointer;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::rule_id::RuleId;

const BAD: &str = r#"{"id": 1, "question": "2 + 3?", "state": {"final_answer": "6"}}"#;
const GOOD: &str = r#"{"id": 1, "question": "2 + 3?", "state": {"final_answer": "5"}}"#;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::ReviewFailed,
        summary: "a reviewer failed the record",
        explanation: "A reviewer failed this record as it is now; the labels and the note say why. Only \
            `stepscope check --reviewed` reports it, because it reads the review log.",
        bad: BAD,
        good: GOOD,
        check: |_, _| {},
    },
    Rule {
        id: RuleId::ReviewDisputed,
        summary: "reviewers disagree",
        explanation: "One reviewer passed this record and another failed it, and no adjudication settles it. It counts as \
            neither. Only `stepscope check --reviewed` reports it.",
        bad: BAD,
        good: GOOD,
        check: |_, _| {},
    },
    Rule {
        id: RuleId::ReviewStale,
        summary: "changed since review",
        explanation: "A reviewer judged a record with this id, but it held something else then: the verdict is shown and not \
            counted. Only `stepscope check --reviewed` reports it.",
        bad: BAD,
        good: GOOD,
        check: |_, _| {},
    },
];

/// Makes the finding of a rule of this file for its bad example.
pub(super) fn of_example(rule: RuleId) -> Option<Finding> {
    let message = match rule {
        RuleId::ReviewFailed => "ada failed this: arithmetic slip: 2 + 3 is 5",
        RuleId::ReviewDisputed => "ada failed this; bob passed this",
        RuleId::ReviewStale => "ada passed this",
        _ => return None,
    };
    Some(Finding::new(rule, message, Place::Value(Pointer::default())))
}
