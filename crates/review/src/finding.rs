//! The finding that a review makes of a record, under the rules of `rules/review.rs`.

use super::event::{Event, Verdict};
use super::fold::{ItemReviews, Outcome};
use super::labels::LabelSets;
use stepscope_base::json::{Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::{Datum, Finding, Place};
use stepscope_record::procedure::Procedure;
use stepscope_record::rule_id::RuleId;

/// Makes the finding of a reviewed record; `None`: nothing to fix.
pub fn of_review(
    outcome: Outcome,
    reviewed: ItemReviews<'_>,
    sets: &LabelSets<'_>,
    case: &CaseView<'_>,
) -> Option<Finding> {
    let (rule, help) = match outcome {
        Outcome::Fail => (RuleId::ReviewFailed, "Fix what the reviewer names and run it again, or review it again."),
        Outcome::Disputed => (RuleId::ReviewDisputed, "Settle the disagreement: adjudicate it."),
        Outcome::Stale => (RuleId::ReviewStale, "Review it again: the record has changed."),
        _ => return None,
    };
    let events: Vec<Event> = reviewed.adjudication().into_iter().chain(reviewed.verdicts()).collect();
    let said: Vec<Vec<u8>> = events.iter().filter_map(|event| saying(event, sets)).collect();
    let message = Untrusted::owned(said.join(b"; ".as_slice()));
    let failing = events.iter().find(|event| event.verdict == Some(Verdict::Fail));
    let place = failing.and_then(|event| place(event, case)).unwrap_or_else(|| whole(case));
    let labels: Vec<_> = events.iter().flat_map(|event| &event.labels).flat_map(|label| sets.resolve(label)).collect();
    let labels = Datum::texts(labels.iter().map(|label| &label.id));
    Some(Finding::new(rule, message, place).detail("labels", labels).help(help))
}

/// `ada failed this: slip, unit: the sum is off`
fn saying(event: &Event, sets: &LabelSets<'_>) -> Option<Vec<u8>> {
    let judged = match event.verdict? {
        Verdict::Pass => "passed this",
        Verdict::Fail => "failed this",
        Verdict::Defer => "deferred this",
        Verdict::Skip => "skipped this",
    };
    let labels: Vec<_> = event.labels.iter().flat_map(|label| sets.resolve(label)).map(|label| label.name).collect();
    let labels: Vec<&[u8]> = labels.iter().map(Untrusted::bytes).collect();
    let mut said = [event.reviewer.id.bytes(), b" ", judged.as_bytes()].concat();
    for part in
        [labels.join(b", ".as_slice()), event.note.as_ref().map(|note| note.bytes().to_vec()).unwrap_or_default()]
    {
        if !part.is_empty() {
            said.extend_from_slice(b": ");
            said.extend_from_slice(&part);
        }
    }
    Some(said)
}

/// Returns the place that the reviewer points at: a variable of the state, else a step.
fn place(event: &Event, case: &CaseView<'_>) -> Option<Place> {
    let record = case.record.as_ref()?;
    let variable = event.variable.as_ref().and_then(|name| {
        let state = record.state?.members().any(|member| member.name() == *name);
        state.then(|| Pointer::from_iter(["state"]).then(stepscope_base::json::Part::Key(name.clone())))
    });
    let step = event.first_bad_step.and_then(|step| {
        let position = usize::try_from(step).ok()?.checked_sub(1)?;
        let steps = record.procedure?.get("steps").map_or(0, Value::len);
        (position < steps).then(|| Procedure::step_pointer(&record.procedure_pointer, position))
    });
    variable.or(step).map(Place::Value)
}

fn whole(case: &CaseView<'_>) -> Place {
    match case.record {
        Some(_) => Place::Value(Pointer::default()),
        None => Place::Bytes { start: 0, end: case.text().len() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::case::Case;

    use crate::event::{Reviewer, Text};
    use crate::fold::Reviews;
    use crate::testing::{item, label};

    #[test]
    fn a_verdict_is_a_finding_where_the_reviewer_points() {
        let text = br#"{"id": "a", "procedure": {"steps": [{}, {}]}, "state": {"x": 1}, "pred_num": 1}"#;
        let case = Case::read(text);
        let view = case.view();
        let said = |step, variable: Option<&str>, also: Option<Verdict>| {
            let mut reviews = Reviews::default();
            let mut event = Event::verdict(Reviewer::person("ada"), item("a"), Verdict::Fail);
            (event.event_id, event.first_bad_step) = ("1".into(), step);
            event.variable = variable.map(|name| Text::from(name.to_owned()));
            event.labels = vec![label("slip")];
            event.note = Some("off by one".into());
            reviews.push(event);
            if let Some(also) = also {
                let also = Event::verdict(Reviewer::person("bob"), item("a"), also);
                reviews.push(Event { event_id: "2".into(), ..also });
            }
            let reviewed = reviews.find(&item("a"), None).unwrap();
            let outcome = reviewed.outcome();
            let finding = of_review(outcome, reviewed, &reviews.label_sets(), &view).unwrap();
            let pointer = finding.place().pointer();
            assert!(view.root().unwrap().find(&pointer).is_some());
            (finding.rule, pointer.text().line().into_string(), finding.message.line().into_string())
        };
        let wrong = "ada failed this: slip: off by one".to_owned();
        assert_eq!(said(Some(2), None, None), (RuleId::ReviewFailed, "/procedure/steps/1".into(), wrong.clone()));
        assert_eq!(said(Some(2), Some("x"), None), (RuleId::ReviewFailed, "/state/x".into(), wrong.clone()));
        assert_eq!(said(Some(3), Some("y"), None), (RuleId::ReviewFailed, String::new(), wrong.clone()));
        let both = format!("{wrong}; bob passed this");
        assert_eq!(said(None, None, Some(Verdict::Pass)), (RuleId::ReviewDisputed, String::new(), both));
    }
}
