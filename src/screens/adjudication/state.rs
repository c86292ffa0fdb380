//! The items on which reviewers disagree: which one is looked at, and the labels of the verdict that is being given.

use crate::widgets::list::List;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::dashboard::{BoardData, DisputedRecord};
use stepscope_record::RecordKind;
use stepscope_review::event::{
    Event, EventKind, ItemRef, LabelDefinition, LabelRef, LabelSet, Reviewer, Text, Verdict,
};

/// Number of labels that have a key of their own.
pub(crate) const KEYS: usize = 9;

/// State of the adjudication screen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Adjudication {
    /// The item.
    pub list: List,
    /// The first line on screen of what was said.
    pub top: usize,
    /// The labels that are chosen for a failed item; `None`: nothing is being given.
    pub choosing: Option<Vec<usize>>,
    /// The item that the cursor goes to as soon as it is listed again.
    pub sought: Option<ItemRef>,
    /// The item of which it was said that the person's own verdict is one of those to decide between.
    pub(crate) warned: Option<ItemRef>,
}

impl Adjudication {
    /// Returns the item under the cursor.
    pub fn case<'j>(&self, judged: &'j BoardData) -> Option<&'j DisputedRecord> {
        judged.cases.get(self.list.at)
    }

    /// Brings the cursor to the item that is sought, if it is listed.
    pub(crate) fn find_sought(&mut self, judged: &BoardData) {
        let is_it = |case: &DisputedRecord| self.sought.as_ref() == Some(&case.summary.item);
        if let Some(at) = judged.cases.iter().position(is_it) {
            self.list.at = at;
            (self.top, self.choosing, self.sought) = (0, None, None);
        }
    }

    /// Tells whether a label is chosen for the final verdict.
    pub(crate) fn has(&self, judged: Option<&BoardData>, id: &Text) -> bool {
        let labels = judged.map(|judged| judged.labels.as_slice()).unwrap_or_default();
        let chosen = self.choosing.iter().flatten();
        chosen.filter_map(|label| labels.get(*label)).any(|(label, _)| label.id == *id)
    }

    /// Chooses a label, or no longer.
    pub(crate) fn toggle(&mut self, label: usize) {
        if let Some(chosen) = &mut self.choosing {
            match chosen.iter().position(|other| *other == label) {
                Some(at) => drop(chosen.remove(at)),
                None => chosen.push(label),
            }
        }
    }
}

/// Tells whether a reviewer gave one of the verdicts that are to be decided between.
pub(crate) fn is_own(case: &DisputedRecord, reviewer: Option<&Reviewer>) -> bool {
    let is_own = |me: &Reviewer| case.dispute.voices.iter().any(|voice| voice.event.reviewer.id == me.id);
    reviewer.is_some_and(is_own)
}

/// Lists the labels that have a key, numbered as wherever labels are given.
pub(crate) fn offered(judged: &BoardData) -> &[(LabelRef, Shown)] {
    judged.labels.get(..KEYS).unwrap_or(&judged.labels)
}

/// Lists the positions of the labels of an item, those of its kind first, as wherever labels are given.
pub(crate) fn in_order(judged: &BoardData, case: &DisputedRecord) -> Vec<usize> {
    let set = LabelSet { labels: definitions(judged), ..LabelSet::starter() };
    let at = |label: LabelDefinition| judged.labels.iter().position(|(known, _)| known.id == label.id);
    set.offered_for(case.summary.kind == RecordKind::Typed).into_iter().filter_map(at).collect()
}

/// Lists all labels, to be looked for.
pub(crate) fn definitions(judged: &BoardData) -> Vec<LabelDefinition> {
    let offered = judged.offered.iter().flat_map(|set| &set.labels);
    let definition = |(label, name): &(LabelRef, Shown)| {
        let known = offered.clone().find(|known| known.id == label.id);
        let name = Text::from(name.as_str().to_owned());
        known.cloned().unwrap_or_else(|| LabelDefinition { id: label.id.clone(), name, ..LabelDefinition::default() })
    };
    judged.labels.iter().map(definition).collect()
}

/// Builds the verdict between reviewers; it includes what those who gave the same verdict agree on.
pub(crate) fn decide(case: &DisputedRecord, reviewer: Reviewer, verdict: Verdict, labels: Vec<LabelRef>) -> Event {
    let voices = || case.dispute.voices.iter().map(|voice| &voice.event);
    let mut event = Event::new(EventKind::Adjudicate, reviewer);
    event.item = Some(case.summary.item.clone());
    event.verdict = Some(verdict);
    event.labels = labels;
    event.seen = case.summary.seen();
    event.findings = Some(case.summary.findings.iter().map(|rule| Text::from(rule.word())).collect());
    event.adjudicates = voices().map(|voice| voice.event_id.clone()).collect();
    let mut agreed = voices().filter(|voice| voice.verdict == Some(verdict));
    if let Some(first) = agreed.next().filter(|_| verdict == Verdict::Fail) {
        let others: Vec<&Event> = agreed.collect();
        if others.iter().all(|other| other.fix_target == first.fix_target) {
            event.fix_target.clone_from(&first.fix_target);
        }
        if others.iter().all(|other| other.first_bad_step == first.first_bad_step) {
            event.first_bad_step = first.first_bad_step;
        }
    }
    event
}
