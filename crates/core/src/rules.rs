//! The registry of rules: everything that stepscope says about a record is said by one of them.
//!
//! To add one: write it in the file of its subject below `rules/` (or a new one), with a bad and a good example, and
//! add it to `RULES`. A test runs every example; `stepscope rules ID` prints them.

use std::borrow::Cow;

use crate::case::CaseView;
use crate::finding::{Findings, Severity};

pub mod answer;
pub(crate) mod plausibility;
pub mod procedure;
pub mod quantity;
pub(crate) mod reading;
pub mod review;
pub mod run;
pub mod source;
pub(crate) mod span;
pub mod typed;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id: subject and name, `procedure/unused`.
    pub id: &'static str,
    /// How grave its findings are.
    pub severity: Severity,
    /// What it looks for, in a sentence.
    pub summary: &'static str,
    /// Why that matters and what to do, in a few sentences.
    pub explanation: &'static str,
    /// A record (or text) in which it finds something; see [`example`].
    pub bad: &'static str,
    /// The same record mended: it finds nothing.
    pub good: &'static str,
    /// Looks, and says what it finds.
    pub check: fn(&CaseView<'_>, &mut Findings),
}

/// Every rule, in the order in which they speak.
pub const RULES: &[&Rule] = &[
    &reading::NOT_JSON,
    &reading::CUT_OFF,
    &reading::NOT_FINITE,
    &reading::DUPLICATE_KEY,
    &reading::CONTROL_CHARACTER,
    &reading::INVALID_UTF8,
    &reading::LONE_SURROGATE,
    &reading::HUGE_INTEGER,
    &reading::NUMBER_OUT_OF_RANGE,
    &reading::TOO_LARGE,
    &reading::UNKNOWN_SHAPE,
    &procedure::SCHEMA,
    &procedure::FIRST_STEP_INPUTS,
    &procedure::FINAL_STEP_OUTPUT,
    &procedure::UNRESOLVED_INPUT,
    &procedure::REDEFINED,
    &procedure::UNUSED,
    &procedure::NOT_JSON,
    &answer::SCHEMA,
    &run::ERROR,
    &run::LAST_STEP,
    &run::OUTPUT_MISSING,
    &run::OUTPUT_UNDECLARED,
    &run::OUTPUT_AMBIGUOUS,
    &run::UNEVALUATED,
    &run::RECOMPUTE,
    &run::FINAL_MISMATCH,
    &run::GOLD_NUM,
    &run::GOLD_STEPS,
    &quantity::MISSED,
    &quantity::INVENTED,
    &quantity::CHANGED,
    &plausibility::ZERO,
    &plausibility::NEGATIVE,
    &plausibility::NOT_FINITE,
    &plausibility::FRACTIONAL,
    &plausibility::MAGNITUDE,
    &plausibility::UNIT,
    &plausibility::FACTOR,
    &typed::contract::JSON_INVALID,
    &typed::contract::ANSWER_MISSING,
    &typed::contract::MISSING_FIELD,
    &typed::contract::UNKNOWN_FIELD,
    &typed::contract::WRONG_TYPE,
    &typed::contract::ENUM_INVALID,
    &typed::contract::CONFIDENCE_OUT_OF_RANGE,
    &typed::flags::SHAPE_MISMATCH,
    &typed::flags::FOUND_ITEMS_MISMATCH,
    &typed::flags::COMPLETE_WITHOUT_FOUND,
    &typed::flags::METHOD_ITEMS_MISMATCH,
    &typed::values::DATE_NOT_ISO8601,
    &typed::values::DATE_IMPOSSIBLE,
    &typed::values::DATE_ORIGINAL_DISAGREES,
    &typed::values::CURRENCY_NOT_ISO4217,
    &typed::values::PHANTOM_ZERO_SUSPECTED,
    &typed::values::TABLE_NOT_RECTANGULAR,
    &typed::source::ANSWER_DIFFERS_FROM_RAW_RESPONSE,
    &typed::source::LIST_TRUNCATED_NEXT_PAGE,
    &span::ITEM_NO_SPANS,
    &span::LINE_START_NOT_IN_DOC,
    &span::LINE_END_NOT_IN_DOC,
    &span::RANGE_REVERSED,
    &span::QUOTE_NOT_IN_CITED_LINES,
    &span::QUOTE_OK_AFTER_DEHYPHENATION,
    &span::QUOTE_FOUND_IN_WIDER_RANGE,
    &span::QUOTE_FOUND_NEARBY,
    &span::QUOTE_FOUND_ELSEWHERE,
    &span::QUOTE_NOWHERE_IN_DOC,
    &span::QUOTE_UNDECIDED,
    &span::VERBATIM_WITHOUT_QUOTE,
    &span::SPAN_OUTSIDE_RETRIEVED_PAGES,
    &span::SPAN_CROSSES_PAGE,
    &span::SHARED_OFFSET,
    &span::BOUNDARY,
    &source::JOINED,
    &source::DUPLICATE_ID,
    &review::FAILED,
    &review::DISPUTED,
    &review::STALE,
];

/// What all rules say of a record.
pub fn check(case: &CaseView<'_>) -> Findings {
    #[cfg(debug_assertions)]
    counted::note(case.text());
    check_by(case, |_| true)
}

/// What some rules say of a record.
pub(crate) fn check_by(case: &CaseView<'_>, speaks: impl Fn(&Rule) -> bool) -> Findings {
    let mut findings = Findings::new();
    // What holds for a part of a record need not hold for all of it.
    let speaks_of_part = |rule: &Rule| rule.id.starts_with("record/") || rule.id == procedure::SCHEMA.id;
    let is_whole = case.excess().is_empty();
    for rule in RULES.iter().filter(|rule| (is_whole || speaks_of_part(rule)) && speaks(rule)) {
        (rule.check)(case, &mut findings);
    }
    findings.tell_rest();
    findings
}

/// How often the rules were run, for tests: on the records that hold a text which no other test has. Only debug builds
/// count.
#[cfg(debug_assertions)]
pub mod counted {
    use std::sync::{Mutex, PoisonError};

    static WATCHED: Mutex<Vec<(&'static str, usize)>> = Mutex::new(Vec::new());

    fn watched<T>(then: impl FnOnce(&mut Vec<(&'static str, usize)>) -> T) -> T {
        then(&mut WATCHED.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts from now on.
    pub fn watch(mark: &'static str) {
        watched(|all| all.push((mark, 0)));
    }

    /// How often it was since it is watched.
    pub fn runs(mark: &str) -> usize {
        watched(|all| all.iter().find(|(known, _)| *known == mark).map_or(0, |(_, runs)| *runs))
    }

    pub(crate) fn note(text: &[u8]) {
        watched(|all| {
            for (mark, runs) in all {
                *runs += usize::from(memchr::memmem::find(text, mark.as_bytes()).is_some());
            }
        });
    }
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

/// The bytes of an example. A byte that is not UTF-8 stands in it as it is shown on screen: `⟨E9⟩`.
pub fn example(text: &str) -> Cow<'_, [u8]> {
    let mut parts = text.split('⟨');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let marked = part.split_once('⟩').and_then(|(hex, rest)| Some((u8::from_str_radix(hex, 16).ok()?, rest)));
        let Some((byte, rest)) = marked else { return Cow::Borrowed(text.as_bytes()) };
        out.push(byte);
        out.extend_from_slice(rest.as_bytes());
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::case::Case;
    use crate::finding::{Finding, Place};

    fn findings(text: &[u8]) -> Vec<Finding> {
        let case = Case::read(text);
        let (root, found) = (case.root(), case.findings().clone());
        for finding in &found {
            for label in finding.labels() {
                match (&label.place, root) {
                    (Place::Key(pointer), Some(root)) => {
                        assert!(root.find(pointer).expect("a place").key.is_some(), "{finding:?}");
                    }
                    (Place::Value(pointer), Some(root)) => assert!(root.find(pointer).is_some(), "{finding:?}"),
                    (Place::Span { pointer, start, end }, Some(root)) => {
                        let text = root.find(pointer).expect("a place").value.string().expect("a string");
                        assert!(start < end && text.bytes().get(*start..*end).is_some(), "{finding:?}");
                    }
                    (Place::Bytes { start, end }, _) => assert!(start <= end && *end <= text.len(), "{finding:?}"),
                    _ => panic!("a pointer into what could not be read: {finding:?}"),
                }
            }
        }
        found.into_iter().collect()
    }

    #[test]
    fn every_example_does_what_it_says() {
        // What is said because of what stands around a record is tested there.
        let around =
            |rule: &&&Rule| source::SOURCE_RULES.iter().chain(review::REVIEW_RULES).any(|other| other.id == rule.id);
        for rule in RULES.iter().filter(|rule| !around(rule)) {
            let bad = findings(&example(rule.bad));
            assert!(bad.iter().any(|finding| finding.rule == rule.id), "{} finds nothing: {bad:?}", rule.id);
            for finding in bad.iter().filter(|finding| finding.rule == rule.id) {
                assert_eq!(finding.severity, rule.severity, "{}", rule.id);
                assert!(finding.help.is_some_and(|help| help.ends_with(['.'])), "{}", rule.id);
            }
            let good = findings(&example(rule.good));
            assert!(good.iter().all(|finding| finding.rule != rule.id), "{} finds {good:?}", rule.id);
        }
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let ids: HashSet<_> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for id in ids {
            assert_eq!(rule(id).map(|rule| rule.id), Some(id));
        }
    }

    #[test]
    fn what_hides_behind_a_later_key_is_placed_by_its_bytes() {
        for text in [r#"{"state": {"a": {"x": NaN}, "a": 1}, "id": 1}"#, r#"{"state": {"a": [1e999], "a": []}}"#] {
            let found = findings(text.as_bytes());
            assert!(found.iter().any(|finding| matches!(finding.place(), Place::Bytes { .. })), "{found:?}");
        }
    }

    #[test]
    fn many_problems_of_one_kind_are_counted() {
        let text = format!(r#"{{"id": 1, "question": "?", "state": [{}1e999, NaN]}}"#, "NaN, 1e400, ".repeat(9));
        let messages = |id| {
            let found = findings(text.as_bytes()).into_iter().filter(|finding| finding.rule == id);
            found.map(|finding| finding.message.line().into_string()).collect::<Vec<_>>()
        };
        for id in [reading::NOT_FINITE.id, reading::NUMBER_OUT_OF_RANGE.id] {
            let messages = messages(id);
            assert_eq!(messages.len(), 3, "{messages:?}");
            assert!(messages[2].ends_with(", and 7 more") && !messages[1].contains("more"), "{messages:?}");
        }
    }
}
