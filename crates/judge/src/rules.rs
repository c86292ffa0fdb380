//! The registry of rules: everything that stepscope says about a record is said by one of them.
//!
//! To add one: give it a row in the table of `rule_id.rs` of the crate `record`, and write it at the same place in the file of its subject below
//! `rules/` (or a new one), with a bad and a good example. A test runs every example; `stepscope rules ID` prints them.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use crate::case::CaseView;
use crate::rule::Rule;
use stepscope_base::canonical::sha256;
use stepscope_record::RecordKind;
use stepscope_record::finding::{Finding, Findings};
use stepscope_record::rule_id::{Kinds, RuleId};

pub mod answer;
mod peers;
mod plan;
pub(crate) mod plausibility;
pub mod procedure;
mod quantity;
pub(crate) mod reading;
pub(crate) mod replies;
pub(crate) mod review;
pub(crate) mod run;
pub mod source;
pub(crate) mod span;
mod typed;

/// Every rule, each at the place of its id.
pub static RULES: [&Rule; RuleId::ALL.len()] = {
    let files = [
        reading::RULES,
        procedure::RULES,
        plan::RULES,
        answer::RULES,
        run::RULES,
        replies::RULES,
        quantity::RULES,
        plausibility::RULES,
        typed::contract::RULES,
        typed::flags::RULES,
        typed::values::RULES,
        typed::source::RULES,
        typed::computed::RULES,
        typed::conflict::RULES,
        typed::evidence::RULES,
        span::RULES,
        source::RULES,
        review::RULES,
        peers::RULES,
    ];
    let mut all = [&reading::RULES[0]; RuleId::ALL.len()];
    let (mut file, mut at, mut n) = (0, 0, 0);
    while file < files.len() {
        if at == files[file].len() {
            (file, at) = (file + 1, 0);
            continue;
        }
        all[n] = &files[file][at];
        assert!(all[n].id as usize == n, "the table of ids and the files name the rules in one order");
        (at, n) = (at + 1, n + 1);
    }
    assert!(n == all.len(), "every id has its rule");
    all
};

/// Names the rules that were asked: the version, and a part of the SHA-256 of their table. Two results with one stamp were
/// made by the same rules.
pub fn stamp() -> &'static str {
    static STAMP: OnceLock<String> = OnceLock::new();
    STAMP.get_or_init(|| {
        let mut table = Vec::new();
        for rule in RULES {
            let words =
                [rule.id.word(), rule.id.severity().word(), rule.summary, rule.explanation, rule.bad, rule.good];
            for word in words {
                table.extend([word.as_bytes(), b"\n"].concat());
            }
        }
        let digest = sha256(&table);
        format!("{}+{}", env!("CARGO_PKG_VERSION"), &digest[..12])
    })
}

/// The rules about a kind of record, in their order: chosen once, since every record asks for them.
fn rules_of(kind: RecordKind) -> &'static [&'static Rule] {
    static CHOSEN: LazyLock<[Vec<&'static Rule>; RecordKind::ALL.len()]> = LazyLock::new(|| {
        RecordKind::ALL.map(|kind| RULES.into_iter().filter(|rule| rule.id.kinds().has(kind)).collect())
    });
    &CHOSEN[kind as usize]
}

/// Checks a record by all rules.
pub(crate) fn check(case: &CaseView<'_>) -> Findings {
    #[cfg(debug_assertions)]
    counted::note(case.text());
    check_by(case, |_| true)
}

/// Checks a record by some rules.
pub fn check_by(case: &CaseView<'_>, speaks: impl Fn(RuleId) -> bool) -> Findings {
    let mut findings = Findings::new();
    // What holds for a part of a record need not hold for all of it.
    let speaks_of_part = |id: RuleId| id.kinds() == Kinds::Every || id == RuleId::ProcedureSchema;
    let is_whole = case.excess().is_empty();
    let speaks = |id: RuleId| (is_whole || speaks_of_part(id)) && speaks(id);
    for rule in rules_of(case.kind()).iter().filter(|rule| speaks(rule.id)) {
        (rule.check)(case, &mut findings);
    }
    findings.tell_rest();
    findings
}

/// Counts for tests of how often the rules were run: on the records that hold a text which no other test has. Only
/// debug builds count.
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

    /// Counts the runs since `watch`.
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
    RULES.iter().find(|rule| rule.id.word() == id).copied()
}

/// Makes the finding of a rule in its bad example, where it is made because of what is around a record.
pub fn of_example(rule: RuleId) -> Option<Finding> {
    source::of_example(rule).or_else(|| review::of_example(rule)).or_else(|| peers::of_example(rule))
}

/// The bytes of an example. A byte that is not UTF-8 stands in it as it is shown on screen: `⟨E9⟩`.
pub fn example(text: &str) -> Cow<'_, [u8]> {
    let mut parts = text.split('⟨');
    let mut out = parts.next().expect("a split has a first part").as_bytes().to_vec();
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
    use crate::route::Route;
    use stepscope_record::finding::Place;
    use stepscope_record::rule_id::Kinds;

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
        let around = |rule: &&&Rule| {
            let apart = source::RULES.iter().chain(review::RULES).chain(peers::RULES);
            apart.into_iter().any(|other| other.id == rule.id)
        };
        for rule in RULES.iter().filter(|rule| !around(rule)) {
            let bad = findings(&example(rule.bad));
            assert!(bad.iter().any(|finding| finding.rule == rule.id), "{} finds nothing: {bad:?}", rule.id);
            for finding in bad.iter().filter(|finding| finding.rule == rule.id) {
                assert_eq!(finding.severity, rule.id.severity(), "{}: not the severity of the table", rule.id);
                let helps = finding.help.is_some_and(|help| help.ends_with(['.']));
                assert!(helps, "{}: a finding needs a help that ends with a full stop", rule.id);
            }
            let good = findings(&example(rule.good));
            assert!(good.iter().all(|finding| finding.rule != rule.id), "{} finds {good:?}", rule.id);
        }
    }

    #[test]
    fn only_the_last_step_is_told_about_the_answer_schema() {
        let message = |key: &str| {
            let row = format!(
                r#"{{"id": 1, "question": "?", "status": "error", "procedure": null, "error_type": "RuntimeError",
                "error": "Model omitted required output '{key}' for step id=2 Returned keys: ['x']"}}"#
            );
            let found = findings(row.as_bytes()).into_iter().find(|finding| finding.rule == RuleId::RunError);
            found.expect("a finding").message.line().into_string()
        };
        assert_eq!(message("total"), "The run ended with an error at step id 2: the reply leaves out a requested key.");
        assert!(
            message("confidence")
                .ends_with("the last step must return every key of the answer schema, optional ones too.")
        );
    }

    #[test]
    fn no_advice_names_a_route_which_a_reviewer_may_have_hidden() {
        for rule in RULES {
            for finding in findings(&example(rule.bad)).iter().filter(|finding| finding.rule.kinds() == Kinds::Typed) {
                let help = finding.help.unwrap_or_default().to_lowercase();
                let names = |word: &str| help.contains(word);
                let named = Route::ALL.into_iter().find(|route| names(route.word()) || names(route.phrase()));
                assert!(named.is_none() && !names("retrieve"), "{}: {help}", finding.rule);
            }
        }
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let ids: HashSet<_> = RULES.iter().map(|rule| rule.id.word()).collect();
        assert_eq!(ids.len(), RULES.len());
        for id in ids {
            assert_eq!(rule(id).map(|rule| rule.id.word()), Some(id));
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
    fn syntax_that_has_a_name_is_called_by_it() {
        let python = findings(b"{'id': 1, 'question': '?'}").remove(0).help.unwrap();
        assert!(python.contains("json.dumps"), "{python}");
        for (text, is_comma) in [("{\"id\": 1},", true), ("{\"id\": 1} , {\"id\": 2}", true), ("{\"id\": 1} x", false)]
        {
            let help = findings(text.as_bytes()).remove(0).help.unwrap();
            assert_eq!(help.starts_with("Remove the comma"), is_comma, "{text}: {help}");
        }
    }

    #[test]
    fn many_problems_of_one_kind_are_counted() {
        let text = format!(r#"{{"id": 1, "question": "?", "state": [{}1e999, NaN]}}"#, "NaN, 1e400, ".repeat(9));
        let messages = |id| {
            let found = findings(text.as_bytes()).into_iter().filter(|finding| finding.rule == id);
            found.map(|finding| finding.message.line().into_string()).collect::<Vec<_>>()
        };
        for id in [RuleId::NotFinite, RuleId::NumberOutOfRange] {
            let messages = messages(id);
            assert_eq!(messages.len(), 3, "{messages:?}");
            assert!(messages[2].ends_with(", and 7 more") && !messages[1].contains("more"), "{messages:?}");
        }
    }
}
