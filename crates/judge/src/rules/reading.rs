//! Rules about the text of a record: what is not JSON, and what only Python takes for JSON.

use std::ops::Range;

use crate::case::CaseView;
use crate::excess::Excess;
use crate::recompute::{MAX_VARIABLES, too_many_variables};
use crate::rule::Rule;
use stepscope_base::json::{Pointer, Problem, ProblemKind};
use stepscope_base::python::Message;
use stepscope_record::RecordKind;
use stepscope_record::finding::{Finding, Findings, Place, grouped};
use stepscope_record::formats::foreign;
use stepscope_record::rule_id::RuleId;

/// The rules of this file.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::RecordNotJson,
        summary: "record is not valid JSON",
        explanation: "No other rule can check a record that cannot be read. The message says what JSON does not allow at this \
            place. Typical causes: prose or a code fence around the object, a comma before a closing bracket, keys without \
            quotes, single quotes, two objects on one line.",
        bad: "{'id': 1}",
        good: r#"{"id": 1, "question": "?", "state": {}}"#,
        check: |case, findings| report(RuleId::RecordNotJson, case, findings),
    },
    Rule {
        id: RuleId::CutOff,
        summary: "record is truncated",
        explanation: "The text ends inside a value. On the last line of a file this usually means that the file is still \
            being written, or that the writing program was stopped. Anywhere else a line was broken in two. A list that \
            ends between two elements is truncated too: the missing rest is shown as a record without text.",
        bad: r#"{"id": 1, "question": "How ma"#,
        good: r#"{"id": 1, "question": "How many?", "state": {}}"#,
        check: |case, findings| {
            if case.text().is_empty() {
                findings.push(rest_missing());
            }
            report(RuleId::CutOff, case, findings);
        },
    },
    Rule {
        id: RuleId::NotFinite,
        summary: "number is NaN or Infinity",
        explanation: "Python writes NaN and Infinity although JSON does not have them; other readers refuse the whole record. \
            In a result such a value mostly means that a number could not be read, and it makes every comparison false.",
        bad: r#"{"id": 1, "question": "?", "state": {"final_answer": NaN}}"#,
        good: r#"{"id": 1, "question": "?", "state": {"final_answer": null}}"#,
        check: |case, findings| {
            if case.checks_finite() {
                report(RuleId::NotFinite, case, findings);
            }
        },
    },
    Rule {
        id: RuleId::DuplicateKey,
        summary: "duplicate key in an object",
        explanation: "Of two equal keys in one object Python keeps the last and silently drops the first, and so does \
            stepscope. The first value is lost to every program that reads the record.",
        bad: r#"{"id": 1, "question": "?", "state": {"a": 1, "a": 2}}"#,
        good: r#"{"id": 1, "question": "?", "state": {"a": 2}}"#,
        check: |case, findings| report(RuleId::DuplicateKey, case, findings),
    },
    Rule {
        id: RuleId::ControlCharacter,
        summary: "raw control character in a string",
        explanation: "JSON requires line breaks, tabs and other control characters to be escaped. Python's reader refuses the \
            record, so evoproc never sees it, although stepscope can show it. Language models often write raw line breaks \
            into strings.",
        bad: "{\"id\": 1, \"question\": \"a\tb\", \"state\": {}}",
        good: r#"{"id": 1, "question": "a\tb", "state": {}}"#,
        check: |case, findings| report(RuleId::ControlCharacter, case, findings),
    },
    Rule {
        id: RuleId::InvalidUtf8,
        summary: "text is not UTF-8",
        explanation: "JSON is UTF-8. Other bytes come from files in an older encoding (Latin-1, Windows-1252) or from a text \
            cut inside a character. stepscope shows them as ⟨E9⟩; most readers refuse the whole file.",
        bad: r#"{"id": 1, "question": "caf⟨E9⟩", "state": {}}"#,
        good: r#"{"id": 1, "question": "café", "state": {}}"#,
        check: |case, findings| report(RuleId::InvalidUtf8, case, findings),
    },
    Rule {
        id: RuleId::LoneSurrogate,
        summary: "string with only one part of a surrogate pair",
        explanation: "An escape such as \\ud83d is the first part of a character and means nothing alone. Python keeps it and \
            then fails when it prints or sends the text. It mostly comes from a text that was cut at a fixed length.",
        bad: r#"{"id": 1, "question": "\ud83d", "state": {}}"#,
        good: r#"{"id": 1, "question": "\ud83d\ude00", "state": {}}"#,
        check: |case, findings| report(RuleId::LoneSurrogate, case, findings),
    },
    Rule {
        id: RuleId::HugeInteger,
        summary: "integer longer than 4,300 digits",
        explanation: "Python refuses to read longer integers, and with them the whole record. A model that writes one usually \
            repeats itself without end.",
        bad: include_str!("reading/huge_integer.json"),
        good: r#"{"id": 1, "question": "?", "state": {"a": 1e300}}"#,
        check: |case, findings| report(RuleId::HugeInteger, case, findings),
    },
    Rule {
        id: RuleId::NumberOutOfRange,
        summary: "number too large for a 64-bit float",
        explanation: "A literal such as 1e400 is JSON, but Python and most other readers turn it into infinity, and compare, \
            print and store that. The number that the model wrote is lost.",
        bad: r#"{"id": 1, "question": "?", "state": {"a": 1e400}}"#,
        good: r#"{"id": 1, "question": "?", "state": {"a": 1e300}}"#,
        check: |case, findings| report(RuleId::NumberOutOfRange, case, findings),
    },
    Rule {
        id: RuleId::TooLarge,
        summary: "record too large to read as a whole",
        explanation: "Real procedures have a few dozen steps and variables. Of a list of many thousands stepscope reads only \
            the first, so that no record can take all memory; the message says how many. The values of a procedure with more than \
            1,000 variables are not recomputed. Rules for a whole procedure or run \
            do not check such a record, because what is true of a part need not be true of the whole.",
        bad: include_str!("reading/too_large.json"),
        good: r#"{"id": 1, "question": "?", "state": {}, "trace": {"fork": {"values": []}}}"#,
        check: check_size,
    },
    Rule {
        id: RuleId::UnknownShape,
        summary: "record of an unknown format",
        explanation: "The text is JSON, but has the keys of no known format, so it is not a record and only its JSON is \
            checked. If stepscope knows what it is, such as a notebook or metrics, the message says so. `stepscope schema` \
            lists the shapes that have a schema; each format is recognised by its own keys, never by the name of the file \
            or by the text before and after it.",
        bad: r#"{"a": 1}"#,
        good: r#"{"id": 1, "question": "?", "state": {}}"#,
        check: check_shape,
    },
];

/// A record without text stands for the rest of a list that ends between two of its elements.
fn rest_missing() -> Finding {
    let message = "The list is truncated here: its closing bracket is missing.".to_owned();
    Finding::new(RuleId::CutOff, message, Place::Bytes { start: 0, end: 0 })
        .help("Wait until the file is written, or write it again: everything after this place is missing.")
}

/// Returns the rule that reports a problem, and what helps.
const fn told(kind: ProblemKind) -> (RuleId, &'static str) {
    match kind {
        ProblemKind::Cut => (RuleId::CutOff, "Wait until the file is written, or run this row again."),
        ProblemKind::NotFinite => (RuleId::NotFinite, "Write null where there is no number."),
        ProblemKind::DuplicateKey => (RuleId::DuplicateKey, "Keep one of the two, or give the other its own name."),
        ProblemKind::ControlCharacter => {
            (RuleId::ControlCharacter, "Escape the character: \\n for a line break, \\t for a tab.")
        }
        ProblemKind::InvalidUtf8 => (RuleId::InvalidUtf8, "Convert the file to UTF-8."),
        ProblemKind::LoneSurrogate => (RuleId::LoneSurrogate, "Remove the part, or restore the whole character."),
        ProblemKind::LongInteger => (RuleId::HugeInteger, "Re-run the step that wrote it."),
        ProblemKind::OutOfRange => (RuleId::NumberOutOfRange, "Write the number that was meant, or null."),
        _ => (RuleId::RecordNotJson, "Fix the JSON syntax here."),
    }
}

/// Says what helps with a syntax that has a name.
fn syntax_help(text: &[u8], problem: &Problem) -> Option<&'static str> {
    const COMMA: &str =
        "Remove the comma: JSON lines have none between their values; a list of them has [ and ] around it.";
    const PYTHON: &str = "Write it with json.dumps: this is how Python prints a dict.";
    match problem.kind {
        ProblemKind::Trailing if text.get(problem.range.start) == Some(&b',') => Some(COMMA),
        ProblemKind::Unexpected if text.starts_with(b"{'") => Some(PYTHON),
        _ => None,
    }
}

/// Says where the first problems of a rule stand; the last finding counts the rest.
fn report(rule: RuleId, case: &CaseView<'_>, findings: &mut Findings) {
    let mut unlisted = 0;
    for problem in case.problems() {
        let (own, help) = told(problem.kind);
        if own == rule {
            let help = syntax_help(case.text(), problem).unwrap_or(help);
            findings.push(Finding::new(rule, problem.kind.summary(), place(case, &problem.range)).help(help));
            unlisted = case.unlisted(problem.kind);
        }
    }
    findings.count_more(rule, unlisted);
}

/// The key or value that holds a problem; its bytes where no value could be read, or where the value is hidden behind a
/// later key of the same name, so that no pointer leads to it.
fn place(case: &CaseView<'_>, range: &Range<usize>) -> Place {
    let bytes = Place::Bytes { start: range.start, end: range.end };
    let Some(record) = &case.record else { return bytes };
    let pointer = record.root.pointer_at(range.start);
    match record.root.find(&pointer) {
        Some(found) if found.value.range().contains(&range.start) => Place::Value(pointer),
        Some(found) if found.key.is_some_and(|key| key.range().contains(&range.start)) => Place::Key(pointer),
        _ => bytes,
    }
}

fn check_size(case: &CaseView<'_>, findings: &mut Findings) {
    for Excess { what, count, read, pointer } in case.excess() {
        let message = format!("Only the first {} of {} {what} are read.", grouped(*read), grouped(*count));
        let is_root = pointer.0.is_empty();
        let place = if is_root { Place::Value(pointer.clone()) } else { Place::Key(pointer.clone()) };
        let finding = Finding::new(RuleId::TooLarge, message, place)
            .help("Check the program that wrote the list, or split the record.");
        findings.push(finding);
    }
    // Shorter ones cannot name so many.
    let is_long = case.excess().is_empty() && case.text().len() > 16 * MAX_VARIABLES && case.procedure().is_some();
    let Some(record) = case.record.as_ref().filter(|record| is_long && record.state.is_some()) else { return };
    if let Some(count) = too_many_variables(case.state()) {
        let (count, most) = (grouped(count), grouped(MAX_VARIABLES));
        let message =
            format!("Nothing is recomputed: the procedure has {count} variables, of which at most {most} are.");
        let place = Place::Key(record.procedure_pointer.then("steps"));
        findings.push(Finding::new(RuleId::TooLarge, message, place).help("Split the procedure."));
    }
}

fn check_shape(case: &CaseView<'_>, findings: &mut Findings) {
    let Some(record) = case.record.as_ref().filter(|record| record.kind == RecordKind::Unknown) else { return };
    let what = foreign::name(record.root).unwrap_or("an object of no known format");
    let message = Message::new("Not a record: this is ").text(what).text(".");
    let place = Place::Value(Pointer::default());
    let help = if what == foreign::HOLDS_RECORDS {
        "Write each record on a line of its own, or all of them as one list."
    } else {
        "Open the file that holds the records: procedures (NameDescription, steps), run records (question, procedure, \
         state), answers (final_answer, items) or calls (prompt, completion)."
    };
    findings.push(Finding::new(RuleId::UnknownShape, message, place).help(help));
}
