//! The items on which reviewers disagree, and what each of them said.

use std::collections::BTreeSet;

use super::event::{Event, GoldStatus, Verdict};
use super::fold::{ItemReviews, Reviews};
use super::join::Index;
use super::labels::LabelSets;
use crate::summary::Summary;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::triage::Fix;

/// Verdict of one reviewer on an item, with what belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReviewerVerdict {
    /// Name of the reviewer.
    pub reviewer: Shown,
    /// Verdict on the item.
    pub verdict: Verdict,
    /// The names of the labels.
    pub labels: Vec<Shown>,
    /// Place to fix it, and the first wrong step.
    pub fix: Option<Shown>,
    /// Judgment of the expected answer.
    pub gold: Option<GoldStatus>,
    /// Note in the reviewer's own words.
    pub note: Option<Shown>,
    /// The event.
    pub event: Event,
}

/// Item on which reviewers disagree, and that is not decided yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// Position among the records.
    pub record: usize,
    /// They disagree about the labels alone.
    pub labels_only: bool,
    /// Verdict of each reviewer.
    pub voices: Vec<ReviewerVerdict>,
}

/// Lists the items on which reviewers disagree: about the verdict first, then about the labels.
pub fn disagreements(reviews: &Reviews, summaries: &[Summary]) -> Vec<Disagreement> {
    let sets = reviews.label_sets().for_people();
    let index = Index::of(summaries);
    let find = |(at, summary): (usize, &Summary)| disagreement(at, index.find(reviews, summary)?, &sets);
    let mut found: Vec<Disagreement> = summaries.iter().enumerate().filter_map(find).collect();
    found.sort_by_key(|found| (found.labels_only, found.record));
    found
}

fn disagreement(record: usize, reviewed: ItemReviews<'_>, sets: &LabelSets<'_>) -> Option<Disagreement> {
    let judges = |event: &Event| event.verdict.is_some_and(Verdict::judges);
    let fresh = reviewed.fresh().into_iter().filter(judges);
    let voices: Vec<ReviewerVerdict> = fresh.filter_map(|event| voice(&event, sets)).collect();
    let first = voices.first()?;
    let sorted =
        |voice: &ReviewerVerdict| voice.labels.iter().map(Shown::as_str).map(str::to_owned).collect::<BTreeSet<_>>();
    let verdicts = voices.iter().any(|voice| voice.verdict != first.verdict);
    let labels = voices.iter().any(|voice| sorted(voice) != sorted(first));
    (voices.len() > 1 && (verdicts || labels)).then_some(Disagreement { record, labels_only: !verdicts, voices })
}

fn voice(event: &Event, sets: &LabelSets<'_>) -> Option<ReviewerVerdict> {
    let labels = event.labels.iter().flat_map(|label| sets.resolve(label)).map(|label| label.name.line());
    let step = event.first_bad_step.map_or_else(Shown::default, |step| shown!(", step {step}"));
    Some(ReviewerVerdict {
        reviewer: event.reviewer.id.line(),
        verdict: event.verdict?,
        labels: labels.collect(),
        fix: event.fix_target.as_ref().map(|target| Fix::phrase_of(target).join(&step)),
        gold: event.gold_status,
        note: event.note.as_ref().map(Untrusted::prose),
        event: event.clone(),
    })
}
