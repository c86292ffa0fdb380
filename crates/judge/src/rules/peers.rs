//! Peers of a run, as findings. They need the other runs: `stepscope check --peers` reads them, and the entry is in the
//! registry like all others.

use crate::rule::Rule;
use stepscope_base::json::Pointer;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::rule_id::RuleId;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[Rule {
    id: RuleId::Peers,
    summary: "the run leaves what other runs of its question have",
    explanation: "Other runs of the same question, by another model, of another sample or an earlier version, are evidence \
        without an expected answer. Values are aligned by what they are; the first that no peer has is named, where peers \
        that can be trusted speak against the run together. They may be wrong together: it is a note, and never sure. Where \
        all of them give another answer than the expected one, that may be wrong. Only `--peers` reports it.",
    bad: r#"{"id": 1, "question": "Ann has 3 bags of 4 pens and buys 5 more. How many has she?", "steps": ["3 + 4 = 7", "7 + 5 = 12, so the answer is 12."]}"#,
    good: r#"{"id": 1, "question": "Ann has 3 bags of 4 pens and buys 5 more. How many has she?", "steps": ["3 * 4 = 12", "12 + 5 = 17, so the answer is 17."]}"#,
    check: |_, _| {},
}];

/// Makes the finding of the rule in its bad example.
pub(super) fn of_example(rule: RuleId) -> Option<Finding> {
    (rule == RuleId::Peers).then(|| {
        let message = "Step 1 gives 7 as 3 + 4; 2 of 2 peers give 12 from the same numbers. The run answers 12; of its 2 \
            peers 2 (a.jsonl:1, b.jsonl:1) answer 17.";
        Finding::new(RuleId::Peers, message.to_owned(), Place::Value(Pointer::from_iter(["steps"]).then(0_usize)))
            .help("Compare the step with the same of its peers: they are no proof, and may be wrong together.")
    })
}
