//! Rules about a record's neighbours in its source: lines that were joined, and ids that occur twice. The reader of the
//! source looks and calls `joined` and `duplicate_id`; the entries stand in the registry like all others, and their
//! examples are whole sources.

use crate::rule::Rule;
use stepscope_base::json::Pointer;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::rule_id::RuleId;

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule {
        id: RuleId::RecordJoined,
        summary: "two records on one line",
        explanation: "Two values are on one line, one document follows another, or a list lacks the comma between two \
            items. Most readers stop after the first or refuse the line; stepscope reads both.",
        bad: r#"{"id": 1, "question": "?", "state": {}} {"id": 2, "question": "?", "state": {}}"#,
        good: "{\"id\": 1, \"question\": \"?\", \"state\": {}}\n{\"id\": 2, \"question\": \"?\", \"state\": {}}",
        check: |_, _| {},
    },
    Rule {
        id: RuleId::DuplicateId,
        summary: "duplicate id",
        explanation: "Runs are joined by id: with a baseline, with verdicts, with a second run. If two runs of a file have \
            the same id, one of them is lost or compared with the wrong run. The screen shows it; `check` reads records \
            one by one, often in parts, and names doubles in its last line alone.",
        bad: "{\"id\": 1, \"question\": \"?\", \"state\": {}}\n{\"id\": 1, \"question\": \"!\", \"state\": {}}",
        good: "{\"id\": 1, \"question\": \"?\", \"state\": {}}\n{\"id\": 2, \"question\": \"!\", \"state\": {}}",
        check: |_, _| {},
    },
];

/// Says of a record that another value stands before it in its line or document. `readable`: it could be read as JSON.
pub(crate) fn joined(readable: bool) -> Finding {
    const MESSAGE: &str = "Another value comes before this one on the same line or in the same document.";
    let place = if readable { Place::Value(Pointer::default()) } else { Place::Bytes { start: 0, end: 1 } };
    Finding::new(RuleId::RecordJoined, MESSAGE.to_owned(), place)
        .help("Write one value per line: other readers stop at the first, or refuse the line.")
}

/// Says of a record that its id stands earlier in the same source, in which line if that is known.
pub(crate) fn duplicate_id(first_line: Option<u64>) -> Finding {
    let message = match first_line {
        Some(line) => format!("Line {line} already has this id; runs are joined by id."),
        None => "An earlier record of the same file has this id; runs are joined by id.".to_owned(),
    };
    let place = Place::Value(Pointer::from_iter(["id"]));
    Finding::new(RuleId::DuplicateId, message, place).help("Give each run its own id.")
}

/// Makes the finding of a rule of this file in its bad example.
pub(super) fn of_example(rule: RuleId) -> Option<Finding> {
    match rule {
        RuleId::RecordJoined => Some(joined(true)),
        RuleId::DuplicateId => Some(duplicate_id(Some(1))),
        _ => None,
    }
}
