//! What people said of a record, as a page shows it.

use crate::review::event::{Event, EventKind, GoldStatus, Text, Verdict};
use crate::review::fold::ItemReviews;
use crate::review::labels::LabelSets;
use stepscope_base::json::write::{Json, Writer};

/// A verdict, a decision or a note.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// The reviewer.
    pub who: Text,
    /// What it is.
    pub kind: EventKind,
    /// What they think of it.
    pub verdict: Option<Verdict>,
    /// Why, by the labels' names.
    pub labels: Vec<Text>,
    /// Where to fix it.
    pub fix: Option<Text>,
    /// The first step that went wrong, from 1.
    pub step: Option<u64>,
    /// What they think of the expected answer.
    pub gold: Option<GoldStatus>,
    /// The right answer.
    pub correction: Option<Text>,
    /// In their own words.
    pub note: Option<Text>,
    /// When, RFC 3339.
    pub when: Option<Text>,
    /// It was said of another content.
    pub is_stale: bool,
}

impl Said {
    /// The decision between reviewers, the verdicts and the notes, in this order.
    pub fn of(reviewed: ItemReviews<'_>, sets: &LabelSets<'_>) -> Vec<Self> {
        let one = |event: &Event| Self {
            who: event.reviewer.id.clone(),
            kind: event.kind,
            verdict: event.verdict,
            labels: sets.resolve_all([event]).into_iter().map(|label| label.name).collect(),
            fix: event.fix_target.clone(),
            step: event.first_bad_step,
            gold: event.gold_status,
            correction: event.correction.clone(),
            note: event.note.clone(),
            when: event.times.decided.clone(),
            is_stale: !reviewed.is_fresh(event),
        };
        reviewed.said().map(one).collect()
    }

    /// Every text in it.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Text> {
        let some = [&mut self.fix, &mut self.correction, &mut self.note, &mut self.when].into_iter().flatten();
        std::iter::once(&mut self.who).chain(&mut self.labels).chain(some)
    }

    /// The same, to look at.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        let some = [&self.fix, &self.correction, &self.note, &self.when].into_iter().flatten();
        std::iter::once(&self.who).chain(&self.labels).chain(some)
    }
}

impl Json for Said {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.object(|object| {
            object.put("reviewer", &self.who).put("event", self.kind.word());
            object.maybe("verdict", self.verdict.map(Verdict::word)).list("labels", &self.labels);
            object.maybe("fix_target", self.fix.as_ref()).maybe("first_bad_step", self.step);
            object.maybe("gold_status", self.gold.map(GoldStatus::word)).maybe("correction", self.correction.as_ref());
            object.maybe("note", self.note.as_ref()).maybe("decided", self.when.as_ref());
            object.put("stale", self.is_stale);
        });
    }
}
