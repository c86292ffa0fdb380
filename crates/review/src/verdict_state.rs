//! State of the reviews of one record, as the table, the filters and the queue ask for it.

use super::event::{Event, GoldStatus, Reviewer, Text, Verdict};
use super::fold::{ItemReviews, Outcome};
use super::labels::{CurrentLabel, LabelSets};

/// State of the reviews of one record. Its default is a record without reviews.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VerdictState {
    /// Outcome that it is counted as; `None`: it has no reviews.
    pub outcome: Option<Outcome>,
    /// Verdict of mine on the content that the record has now.
    pub mine: Option<Verdict>,
    /// True if I judged it, and it is not what it was.
    pub stale: bool,
    /// Number of times that I judged this content.
    pub times: usize,
    /// True if another reviewer judged it.
    pub others: bool,
    /// The labels that count.
    pub labels: Vec<CurrentLabel>,
    /// Judgment of the expected answer.
    pub gold: Option<GoldStatus>,
}

impl VerdictState {
    /// Determines the state of a record's reviews, as a reviewer sees it.
    pub fn of(reviewed: ItemReviews<'_>, me: &Reviewer, sets: &LabelSets<'_>) -> Self {
        let mine = reviewed.verdict_of(&me.id);
        let looks = reviewed.looks().remove(&me.id).unwrap_or_default();
        let decided = looks.iter().filter(|event| reviewed.is_fresh(event) && event.verdict.is_some_and(is_done));
        Self {
            outcome: Some(reviewed.outcome()),
            stale: mine.as_ref().is_some_and(|event| !reviewed.is_fresh(event)),
            mine: mine.filter(|event| reviewed.is_fresh(event)).and_then(|event| event.verdict),
            times: decided.count(),
            others: reviewed.verdicts().iter().any(|event| event.reviewer.id != me.id),
            labels: reviewed.labels(sets),
            gold: reviewed.gold(),
        }
    }

    /// Determines the state as a blind review may tell it: what others said counts once I have said something myself, or
    /// where all of it `is_told` anyway.
    pub fn blind(
        reviewed: ItemReviews<'_>,
        me: &Reviewer,
        sets: &LabelSets<'_>,
        is_told: impl Fn(&Event) -> bool,
    ) -> Self {
        let state = Self::of(reviewed, me, sets);
        let fresh = reviewed.fresh();
        let is_mine = |event: &Event| event.reviewer.id == me.id;
        if state.mine.is_some() || fresh.iter().any(is_mine) || fresh.iter().all(is_told) {
            return state;
        }
        let outcome = if state.stale { Outcome::Stale } else { Outcome::Open };
        Self { outcome: Some(outcome), labels: Vec::new(), gold: None, ..state }
    }

    /// Tells whether I need not look at it again: a deferred item comes back.
    pub fn is_done(&self) -> bool {
        self.mine.is_some_and(is_done)
    }

    /// Returns the outcome that it is counted as.
    pub fn outcome(&self) -> Outcome {
        self.outcome.unwrap_or(Outcome::Open)
    }

    /// Tells whether a label of this id, or with this in its name, counts.
    pub fn has_label(&self, wanted: &Text) -> bool {
        let folded = |text: &Text| text.bytes().to_ascii_lowercase();
        let wanted = folded(wanted);
        let holds = |name: &Text| memchr::memmem::find(&folded(name), &wanted).is_some();
        self.labels.iter().any(|label| folded(&label.id) == wanted || holds(&label.name))
    }
}

/// Tells whether an item does not come back after a verdict.
pub const fn is_done(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Defer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::Reviews;
    use crate::testing::{item, label};
    use stepscope_base::canonical::Digest;

    #[test]
    fn a_verdict_on_other_content_is_stale_and_a_deferred_item_is_not_done() {
        let who = |id: &str| Reviewer::person(id.to_owned());
        let item = item("a");
        let (old, now) = (Digest::of_bytes(b"old"), Digest::of_bytes(b"now"));
        let mut reviews = Reviews::default();
        let mut say = |id: &str, by: &str, verdict, content| {
            let mut event = Event::verdict(who(by), item.clone(), verdict);
            event.event_id = Text::from(id.to_owned());
            event.seen.content_sha256 = Some(content);
            event.labels = vec![label("slip")];
            reviews.push(event);
            let sets = reviews.label_sets();
            VerdictState::of(reviews.find(&item, Some(&now)).unwrap(), &who("ada"), &sets)
        };
        let stale = say("1", "ada", Verdict::Pass, old);
        assert_eq!((stale.mine, stale.stale, stale.outcome(), stale.times), (None, true, Outcome::Stale, 0));
        let other = say("2", "eve", Verdict::Fail, now);
        assert_eq!((other.others, other.outcome(), other.is_done()), (true, Outcome::Fail, false));
        assert!(other.has_label(&"SLIP".into()) && !other.has_label(&"unit".into()));
        let deferred = say("3", "ada", Verdict::Defer, now);
        assert!(!deferred.is_done() && deferred.mine == Some(Verdict::Defer));
        let done = say("4", "ada", Verdict::Pass, now);
        assert_eq!((done.is_done(), done.times, done.outcome()), (true, 1, Outcome::Disputed));
    }
}
