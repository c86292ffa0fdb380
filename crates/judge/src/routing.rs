//! Decision on the route of a structured answer, from the answer itself and what the rules found.
//!
//! Several triggers can fire at once. The first in the order of `Route::ALL` wins, and all are listed.

use crate::case::CaseView;
use crate::route::{Route, Routed, Trigger};
use stepscope_base::json::{Pointer, Value};
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_evidence::typed::{AnswerItem, Dialect, TypedAnswer};
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::rule_id::{Kinds, RuleId};

/// Rules whose notes and doubts a person must read before the answer is used.
const TO_BE_READ: [RuleId; 3] = [RuleId::ComputedDiffers, RuleId::OtherValueAsked, RuleId::SecondLook];

/// Maximum number of failed checks that are listed as triggers.
const MAX_FAILED: usize = 20;

/// The route of a structured answer, from itself and what the rules found; `None` if the record is none.
pub(crate) fn route(case: &CaseView<'_>, findings: &[Finding]) -> Option<Routed> {
    let (typed, answered) = case.answered()?;
    let truncation = case.truncation().map(|truncation| truncation.verdict).unwrap_or_default();
    let mut triggers = Triggers { typed, fired: Vec::new() };
    if typed.answer.is_none() && typed.answer_text.is_none() {
        triggers.fire(Route::Pending, "no answer", Pointer::default());
        return Some(Routed { route: Route::Pending, triggers: triggers.fired, truncation });
    }
    let failed = findings.iter().filter(|finding| is_failed_check(finding));
    for finding in failed.take(MAX_FAILED) {
        triggers.found(Route::Reject, finding);
    }
    let says = Says::of(typed, &answered.items);
    if typed.flag("conflicting_evidence") == Some(true) {
        triggers.base(Route::ShowConflict, "the evidence conflicts", "conflicting_evidence");
    }
    if typed
        .base("suggested_clarification")
        .and_then(Value::string)
        .is_some_and(|text| !text.bytes().trim_ascii().is_empty())
    {
        triggers.base(Route::Clarify, "the model asks for clarification", "suggested_clarification");
    }
    if typed.flag("context_structured") == Some(false) {
        triggers.base(Route::Reparse, "the text lost its layout", "context_structured");
    }
    if says.nothing {
        triggers.base(Route::NoAnswer, "no items", "items");
    }
    if says.found == Some(true) && says.complete == Some(false) {
        triggers.base(Route::Broaden, "found, but not complete", "complete_answer_found");
    }
    if truncation == TruncationVerdict::Truncated {
        triggers.fire(Route::Broaden, "the list continues on the next page", typed.pointer.then("items"));
    }
    if let Some(clue) = findings.iter().find(|finding| finding.rule == RuleId::ListIncomplete) {
        triggers.found(Route::Broaden, clue);
    }
    if typed.base("extraction_method").is_some_and(|method| method.is_string("inferred")) {
        triggers.base(Route::HumanReview, "the answer was inferred", "extraction_method");
    }
    if let Some(conflict) = findings.iter().find(|finding| finding.rule == RuleId::ConflictUnflagged) {
        triggers.found(Route::ShowConflict, conflict);
    }
    if let Some(converted) = findings.iter().find(|finding| is_converted(finding)) {
        triggers.found(Route::HumanReview, converted);
    }
    let undecided = findings.iter().find(|finding| finding.rule == RuleId::QuoteUndecided);
    if let Some(undecided) = undecided {
        triggers.found(Route::HumanReview, undecided);
    }
    for rule in TO_BE_READ {
        // A warning about a calculation is a failed check.
        let doubt = findings
            .iter()
            .find(|finding| finding.rule == rule && (is_doubt(finding) || finding.severity == Severity::Note));
        if let Some(doubt) = doubt {
            triggers.found(Route::HumanReview, doubt);
        }
    }
    let is_unchecked = case.grounded().is_none();
    if is_unchecked {
        triggers.fire(Route::HumanReview, "document not found: no citation was checked", typed.pointer.clone());
    }
    let speaks_against = |route: Route| triggers.fired.iter().any(|trigger| trigger.route == route);
    let is_flagged = findings.iter().any(is_converted);
    let held_back = is_flagged
        || is_unchecked
        || [Route::Reject, Route::ShowConflict, Route::NoAnswer, Route::Broaden].into_iter().any(speaks_against);
    if !held_back && undecided.is_none() && says.found == Some(true) && says.complete == Some(true) {
        triggers.fire(Route::Ship, "found, complete, and all checks pass", typed.pointer.clone());
    }
    if triggers.fired.is_empty() {
        triggers.fire(
            Route::HumanReview,
            "the answer does not say whether it is found and complete",
            typed.pointer.clone(),
        );
    }
    let fired = triggers.fired;
    // Flags that nobody can read are for a person.
    let route = fired.iter().map(|trigger| trigger.route).min().unwrap_or(Route::HumanReview);
    Some(Routed { route, triggers: fired, truncation })
}

/// Tells whether a finding keeps an answer from being used as it is. A list that continues and a missing answer have
/// routes of their own.
fn is_failed_check(finding: &Finding) -> bool {
    finding.rule.kinds() == Kinds::Typed
        && finding.severity < Severity::Note
        && !matches!(finding.rule, RuleId::ListTruncatedNextPage | RuleId::AnswerMissing | RuleId::ConflictUnflagged)
        && !is_converted(finding)
        && !is_doubt(finding)
}

/// Tells whether a finding proves nothing and asks for a person's eyes.
fn is_doubt(finding: &Finding) -> bool {
    finding.rule == RuleId::OtherValueAsked
}

/// Tells whether a finding is about a value of another type that lenient readers convert.
fn is_converted(finding: &Finding) -> bool {
    finding.rule == RuleId::WrongType && finding.severity == Severity::Warning
}

/// Statements of an answer about itself, whatever its dialect.
struct Says {
    found: Option<bool>,
    complete: Option<bool>,
    nothing: bool,
}

impl Says {
    fn of(typed: &TypedAnswer<'_>, items: &[AnswerItem<'_>]) -> Self {
        if typed.dialect() == Some(Dialect::Fields) {
            let found = items
                .iter()
                .filter(|item| item.is_found() && item.value.as_ref().is_some_and(|(_, value)| !value.is_null()));
            let found = found.count();
            return Self { found: Some(found > 0), complete: Some(found == items.len()), nothing: found == 0 };
        }
        let flag = |name| typed.flag(name);
        Self { found: flag("answer_found"), complete: flag("complete_answer_found"), nothing: items.is_empty() }
    }
}

struct Triggers<'t, 'a> {
    typed: &'t TypedAnswer<'a>,
    fired: Vec<Trigger>,
}

impl Triggers<'_, '_> {
    fn fire(&mut self, route: Route, why: &'static str, pointer: Pointer) {
        self.fired.push(Trigger { route, why: why.into(), rule: None, pointer });
    }

    /// By a finding, in its words.
    fn found(&mut self, route: Route, finding: &Finding) {
        let (why, rule) = (finding.message.clone(), Some(finding.rule));
        self.fired.push(Trigger { route, why, rule, pointer: finding.place().pointer() });
    }

    /// At a base field, or the answer where it has none.
    fn base(&mut self, route: Route, why: &'static str, field: &'static str) {
        let has_field = self.typed.base(field).is_some();
        let pointer = if has_field { self.typed.pointer.then(field) } else { self.typed.pointer.clone() };
        self.fire(route, why, pointer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use stepscope_record::finding::Place;

    fn routed(answer: &str, findings: &[Finding]) -> (Route, Vec<&'static str>) {
        let text = format!(r#"{{"format": "stepscope.answer_trace", "answer": {answer}}}"#);
        let case = Case::read(text.as_bytes());
        let view = case.view();
        let routed = route(&view, findings).unwrap();
        (routed.route, routed.fired().map(Route::word).collect())
    }

    /// Base fields and what they say instead.
    type Changes<'a> = &'a [(&'a str, &'a str)];

    fn answer(changes: Changes<'_>) -> String {
        let whole = r#"{"extraction_method": "verbatim", "answer_found": true, "complete_answer_found": true,
            "context_structured": true, "conflicting_evidence": false, "suggested_clarification": null,
            "items": [{"text": "x", "spans": []}]}"#;
        changes.iter().fold(whole.to_owned(), |text, (key, value)| {
            let start = text.find(&format!("\"{key}\": ")).unwrap() + key.len() + 4;
            let end = text[start..].find([',', '}']).unwrap() + start;
            format!("{}{value}{}", &text[..start], &text[end..])
        })
    }

    #[test]
    fn the_first_that_fires_wins_and_all_are_listed() {
        let clarify = ("suggested_clarification", r#""which one?""#);
        let conflict = ("conflicting_evidence", "true");
        let cases: [(Changes<'_>, Route, &[&str]); 8] = [
            (&[], Route::Ship, &["ship"]),
            (&[("extraction_method", r#""inferred""#)], Route::HumanReview, &["human_review", "ship"]),
            (&[("complete_answer_found", "false")], Route::Broaden, &["broaden"]),
            (&[("context_structured", "false")], Route::Reparse, &["reparse", "ship"]),
            (&[clarify, conflict], Route::ShowConflict, &["show_conflict", "clarify"]),
            (&[clarify], Route::Clarify, &["clarify", "ship"]),
            (&[("suggested_clarification", r#""  ""#)], Route::Ship, &["ship"]),
            (&[("answer_found", "null")], Route::HumanReview, &["human_review"]),
        ];
        for (changes, wanted, fired) in cases {
            assert_eq!(routed(&answer(changes), &[]), (wanted, fired.to_vec()), "{changes:?}");
        }
        assert_eq!(routed("null", &[]), (Route::Pending, vec!["pending"]));
        let none = r#"{"answer_found": false, "complete_answer_found": false, "items": []}"#;
        assert_eq!(routed(none, &[]), (Route::NoAnswer, vec!["no_answer"]));
    }

    #[test]
    fn citations_that_nothing_could_check_are_for_a_person() {
        let cited = answer(&[]).replace("[]}]", r#"[{"line_start": 0, "line_end": 0, "quote": "x"}]}]"#);
        assert_eq!(routed(&cited, &[]), (Route::HumanReview, vec!["human_review"]));
        let document = r#", "document": {"lines": ["x"]}"#;
        assert_eq!(routed(&format!("{cited}{document}"), &[]), (Route::Ship, vec!["ship"]));
    }

    #[test]
    fn only_a_failed_check_rejects() {
        let finding = |rule, severity| Finding::new(rule, "m", Place::Value(Pointer::default())).severity(severity);
        for (rule, severity, wanted) in [
            (RuleId::QuoteNotInCitedLines, Severity::Warning, Route::Reject),
            (RuleId::DateNotIso8601, Severity::Repairable, Route::Reject),
            (RuleId::QuoteFoundNearby, Severity::Note, Route::Ship),
            (RuleId::ListTruncatedNextPage, Severity::Warning, Route::Ship),
            (RuleId::DuplicateId, Severity::Note, Route::Ship),
        ] {
            assert_eq!(routed(&answer(&[]), &[finding(rule, severity)]).0, wanted, "{rule}");
        }
    }

    #[test]
    fn fields_are_routed_by_what_they_say_of_themselves() {
        let field = |found: bool| {
            let value = if found { "1" } else { "null" };
            format!(r#"{{"value": {value}, "quote": null, "page": 1, "found": {found}}}"#)
        };
        let document = r#""document": {"lines": ["x"]}"#;
        let both = |a, b| routed(&format!(r#"{{"a": {}, "b": {}}}, {document}"#, field(a), field(b)), &[]).0;
        assert_eq!(both(true, true), Route::Ship);
        assert_eq!(both(true, false), Route::Broaden);
        assert_eq!(both(false, false), Route::NoAnswer);
    }

    #[test]
    fn the_examples_of_the_rules_are_rejected() {
        for rule in crate::rules::RULES
            .iter()
            .filter(|rule| is_failed_check(&Finding::new(rule.id, "m", Place::Value(Pointer::default()))))
        {
            let case = Case::read(rule.bad.as_bytes());
            let view = case.view();
            assert_eq!(route(&view, view.findings()).unwrap().route, Route::Reject, "{}", rule.id);
        }
    }
}
