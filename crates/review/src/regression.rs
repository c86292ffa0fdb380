//! Reviews as a regression set: whether what people passed still holds in a later run of the same items.

use super::event::{Event, Text, Verdict};
use super::fold::{ItemReviews, Outcome};
use crate::summary::Summary;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::Severity;
use stepscope_record::rule_id::RuleId;

stepscope_base::words! {
    /// Outcome of a judged item in a later run.
    pub enum Expectation {
        /// The item passed, and still does.
        Holds = "holds",
        /// The item passed, and does not any more.
        Regressed = "regressed",
        /// The item failed, and still does.
        StillFailing = "still_failing",
        /// The item failed, and is right now.
        Fixed = "fixed",
        /// The item failed, and is not among the records.
        Gone = "gone",
    }
}

/// Compares a judged item with its record in a later run (`None`: there is none), and says why. `None`: nothing is
/// expected of it, because it was put off, skipped or disputed.
pub fn judge(reviewed: ItemReviews<'_>, summary: Option<&Summary>) -> Option<(Expectation, Vec<Shown>)> {
    let reviewed = reviewed.in_later_run();
    match reviewed.outcome() {
        Outcome::Pass => {
            let why = regressions(reviewed, summary);
            Some((if why.is_empty() { Expectation::Holds } else { Expectation::Regressed }, why))
        }
        Outcome::Fail => Some(failed(reviewed, summary)),
        _ => None,
    }
}

fn deciding(reviewed: ItemReviews<'_>, verdict: Verdict) -> impl Iterator<Item = Event> {
    reviewed.fresh().into_iter().filter(move |event| event.verdict == Some(verdict))
}

fn is_same(event: &Event, summary: &Summary) -> bool {
    event.seen.content_sha256 == Some(summary.content)
}

/// Lists the reasons why an item that passed does not any more; empty: it still does.
fn regressions(reviewed: ItemReviews<'_>, summary: Option<&Summary>) -> Vec<Shown> {
    let Some(summary) = summary else { return vec![Shown::own("no longer among the records")] };
    if deciding(reviewed, Verdict::Pass).any(|event| is_same(&event, summary)) {
        return Vec::new();
    }
    if summary.is_error() {
        return vec![Shown::own("ended without an answer")];
    }
    let mut why = Vec::new();
    let gold_says = |right| summary.rightness.verdict() == Some(right) && !reviewed.disputes_gold();
    let passed: Vec<Text> = deciding(reviewed, Verdict::Pass).filter_map(|event| event.seen.answer).collect();
    let same = passed.iter().any(|answer| summary.answers(answer) == Some(true));
    match passed.first() {
        // Another answer that is right by gold is as good.
        Some(answer) if !same && !gold_says(true) => {
            let now = summary.answer.as_ref().map_or(Shown::own("missing"), |now| now.line().cut(60));
            why.push(shown!("answer changed from {} to {now}", answer.line().cut(60)));
        }
        None if gold_says(false) => why.push(Shown::own("wrong answer")),
        _ => {}
    }
    let known = deciding(reviewed, Verdict::Pass)
        .filter_map(|event| event.findings)
        .reduce(|all, more| all.into_iter().chain(more).collect());
    if let Some(known) = known {
        let is_grave = |rule: &&RuleId| rule.severity() <= Severity::Warning;
        let is_new = |rule: &&RuleId| !known.iter().any(|seen| *seen == *rule.word());
        let new = summary.findings.iter().filter(is_grave).filter(is_new);
        why.extend(new.map(|id| shown!("new finding {id}")));
    }
    why
}

fn failed(reviewed: ItemReviews<'_>, summary: Option<&Summary>) -> (Expectation, Vec<Shown>) {
    let Some(summary) = summary else { return (Expectation::Gone, Vec::new()) };
    let same = deciding(reviewed, Verdict::Fail).any(|event| is_same(&event, summary));
    let correction = deciding(reviewed, Verdict::Fail).find_map(|event| event.correction);
    let right = match correction {
        Some(correction) => !summary.is_error() && summary.answers(&unquoted(&correction)) == Some(true),
        None => !same && summary.rightness.verdict() == Some(true) && !reviewed.disputes_gold(),
    };
    if right { (Expectation::Fixed, Vec::new()) } else { (Expectation::StillFailing, Vec::new()) }
}

/// Reads a correction as an answer is read: a text without its quotes.
pub fn unquoted(correction: &Text) -> Text {
    let mut tape = stepscope_base::json::Tape::default();
    let text = tape
        .parse(correction.bytes())
        .and_then(|value| value.string().map(stepscope_base::text::Untrusted::into_owned));
    text.unwrap_or_else(|| correction.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::GoldStatus;
    use crate::fold::Reviews;
    use crate::testing::{say, summary};

    fn run(answer: f64, note: &str) -> Summary {
        summary(&format!(
            r#"{{"id": "a", "question": "2 + 3?", "gold_num": 5.0, "note": "{note}", "mode": "baseline",
            "state": {{"final_answer": "{answer}", "final_answer_numerical": {answer}}}, "pred_num": {answer}}}"#
        ))
    }

    /// Judges a later run after a verdict on an earlier one.
    fn expect(
        then: &Summary,
        event: impl FnOnce(&mut Event),
        verdict: Verdict,
        now: Option<&Summary>,
    ) -> (Expectation, String) {
        let mut reviews = Reviews::default();
        say(&mut reviews, "ada", then, verdict, |verdict| {
            verdict.findings = Some(then.findings.iter().map(|rule| Text::from(rule.word())).collect());
            event(verdict);
        });
        let (expectation, why) = judge(reviews.items().next().unwrap(), now).unwrap();
        (expectation, why.iter().map(Shown::as_str).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn what_passed_must_still_be_right() {
        use Expectation::{Holds, Regressed};
        let pass = |then: &Summary, now: Option<&Summary>| expect(then, |_| {}, Verdict::Pass, now);
        let (right, other) = (run(5.0, ""), run(6.0, ""));
        assert_eq!(pass(&right, Some(&right)).0, Holds);
        assert_eq!(pass(&right, Some(&run(5.0, "again"))).0, Holds);
        assert_eq!(pass(&right, Some(&other)), (Regressed, "answer changed from 5 to 6".into()));
        assert_eq!(pass(&other, Some(&other)).0, Holds, "the same content that somebody passed");
        assert_eq!(pass(&other, Some(&right)).0, Holds, "right by gold is as good");
        assert_eq!(pass(&right, None), (Regressed, "no longer among the records".into()));
        let error = summary(r#"{"id": "a", "status": "error", "error": "x", "procedure": null}"#);
        assert_eq!(pass(&right, Some(&error)), (Regressed, "ended without an answer".into()));
        let disputed = |event: &mut Event| event.gold_status = Some(GoldStatus::Wrong);
        assert_eq!(expect(&other, disputed, Verdict::Pass, Some(&right)).0, Regressed, "gold does not decide");
        let unknown = |event: &mut Event| (event.seen, event.findings) = Default::default();
        assert_eq!(expect(&right, unknown, Verdict::Pass, Some(&other)), (Regressed, "wrong answer".into()));
    }

    #[test]
    fn what_passed_must_not_have_new_findings() {
        let then = run(5.0, "");
        let now = Summary { findings: vec![RuleId::Recompute, RuleId::RecordJoined], ..run(5.0, "again") };
        let said = expect(&then, |_| {}, Verdict::Pass, Some(&now));
        assert_eq!(said, (Expectation::Regressed, "new finding run/recompute".into()));
        let unknown = |event: &mut Event| event.findings = None;
        assert_eq!(expect(&then, unknown, Verdict::Pass, Some(&now)).0, Expectation::Holds);
    }

    #[test]
    fn what_failed_is_still_failing_or_fixed() {
        use Expectation::{Fixed, Gone, StillFailing};
        let fail = |then: &Summary, now: Option<&Summary>| expect(then, |_| {}, Verdict::Fail, now).0;
        let (right, wrong) = (run(5.0, ""), run(6.0, ""));
        assert_eq!(
            [fail(&wrong, Some(&wrong)), fail(&wrong, Some(&right)), fail(&wrong, None)],
            [StillFailing, Fixed, Gone]
        );
        assert_eq!(fail(&right, Some(&right)), StillFailing, "the same content that somebody failed");
        let corrected = |event: &mut Event| event.correction = Some("6.0".into());
        assert_eq!(expect(&right, corrected, Verdict::Fail, Some(&wrong)).0, Fixed);
        assert_eq!(
            expect(&wrong, |event| event.correction = Some("\"7\"".into()), Verdict::Fail, Some(&right)).0,
            StillFailing
        );
    }
}
