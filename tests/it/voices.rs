//! Records in the voices of many models and languages: in what is right nothing is accused, and most of what is wrong is told.
//!
//! `tests/fixtures/voices` holds them; `wrong.expect.jsonl` says what is wrong in each line of `wrong.jsonl`.

use std::path::Path;

use stepscope_judge::case::Case;
use stepscope_record::finding::Severity;
use stepscope_record::rule_id::RuleId;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/voices").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The findings of a record that say that something is wrong in it.
fn accusations(line: &str) -> Vec<String> {
    let case = Case::read(line.as_bytes());
    let view = case.view();
    let accuses = |rule: RuleId, severity: Severity| {
        severity < Severity::Note
            || matches!(rule, RuleId::ComputedDiffers | RuleId::GoldSteps | RuleId::QuantityMissed)
    };
    let findings = view.findings().iter().filter(|finding| accuses(finding.rule, finding.severity));
    findings.map(|finding| format!("{}: {}", finding.rule.word(), finding.message.line())).collect()
}

#[test]
fn nothing_right_is_accused_in_any_voice() {
    let told: Vec<String> = fixture("right.jsonl")
        .lines()
        .enumerate()
        .flat_map(|(n, line)| accusations(line).into_iter().map(move |said| format!("{}: {said}", n + 1)))
        .collect();
    assert!(told.is_empty(), "{told:#?}");
}

#[test]
fn no_right_answer_is_called_wrong_in_any_voice() {
    let is_wrong = |line: &&str| Case::read(line.as_bytes()).view().rightness().verdict() == Some(false);
    let (records, mut graded) = (fixture("right.jsonl"), 0);
    let wrong: Vec<&str> = records.lines().filter(is_wrong).collect();
    for line in records.lines() {
        graded += usize::from(Case::read(line.as_bytes()).view().rightness().is_right());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(graded >= 150, "only {graded} are known to be right");
}

#[test]
fn most_of_what_is_wrong_is_told_in_any_voice() {
    let (records, expected) = (fixture("wrong.jsonl"), fixture("wrong.expect.jsonl"));
    let silent: Vec<&str> = records
        .lines()
        .zip(expected.lines())
        .filter(|(record, _)| accusations(record).is_empty())
        .map(|(_, expected)| expected)
        .collect();
    assert!(silent.len() <= 47, "{} of {} are not told: {silent:#?}", silent.len(), records.lines().count());
}
