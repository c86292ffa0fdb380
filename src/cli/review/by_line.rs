//! Verdicts that are given line by line: the review log of the screen, written as the screen writes it.

use std::path::PathBuf;

use super::log_writer::LogWriter;
use super::logs::{Where, quiet_contents};
use crate::cli::options::TableArgs;
use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::log::journal::named;
use stepscope_io::source::beneath::Place;
use stepscope_judge::hide::Hide;
use stepscope_review::event::{Event, EventKind, ItemRef, LabelDefinition, LabelSet, Reviewer, Text, Verdict};
use stepscope_review::fold::Reviews;
use stepscope_review::summary::Summary;
use stepscope_review::verdict_state::VerdictState;

/// A verdict with what belongs to it.
pub(in crate::cli) struct GivenVerdict {
    pub(in crate::cli) verdict: Verdict,
    pub(in crate::cli) labels: Vec<Text>,
    pub(in crate::cli) note: Option<String>,
    /// How chance chose the record.
    pub(in crate::cli) drawn: Option<Text>,
}

/// See the module.
pub(in crate::cli) struct LineReview {
    reviewer: Reviewer,
    reviews: Reviews,
    writer: LogWriter,
    /// Labels that are given where the review log has none of its own.
    offered: LabelSet,
    /// Events of this session that can be taken back.
    said: Vec<Event>,
    has_failed: bool,
}

impl LineReview {
    /// Opens the review logs: the first that is named is written, else the one next to the file.
    pub(in crate::cli) fn open(
        files: &[PathBuf],
        reviews: &[PathBuf],
        reviewer: Reviewer,
        out: &Out,
    ) -> Result<Self, Shown> {
        if files.is_empty() && reviews.is_empty() {
            return Err(Shown::own("these are the sample runs; to review them, pass --reviews FILE"));
        }
        let written = reviews.first().cloned().into_iter().collect();
        let own = Where { files: files.to_vec(), reviews: written, tables: TableArgs::default() }.journal()?;
        let others: Vec<PathBuf> = reviews.iter().skip(1).cloned().collect();
        let logs: Vec<Place> = [own.clone()].into_iter().chain(named(&others)).collect();
        let writer = LogWriter::open(&own).map_err(|failure| shown!("NOT SAVED: {failure}"))?;
        let contents = quiet_contents(&logs, out).ok_or(Shown::own("without the review log nothing is judged"))?;
        Ok(Self {
            reviewer,
            reviews: contents.reviews,
            writer,
            offered: LabelSet { version: 0, ..LabelSet::starter() },
            said: Vec::new(),
            has_failed: false,
        })
    }

    /// Says as whom a person reviews.
    pub(in crate::cli) fn greeting(&self) -> Shown {
        shown!("Reviewing as {}", self.reviewer.id.line().cut(30))
    }

    /// Tells whether something could not be saved.
    pub(in crate::cli) const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Lists the labels for a record, those of its kind first.
    pub(in crate::cli) fn labels(&self, is_answer: bool) -> Vec<LabelDefinition> {
        self.reviews.label_sets().or_offered(&self.offered).given_from().offered_for(is_answer)
    }

    /// Tells whether a record needs no verdict any more.
    pub(in crate::cli) fn is_done(&self, summary: &Summary) -> bool {
        self.state_of(summary).is_some_and(|state| state.is_done())
    }

    /// Says what this reviewer said of a record before.
    pub(in crate::cli) fn said_of(&self, summary: &Summary) -> Option<Shown> {
        let state = self.state_of(summary)?;
        match state.mine {
            Some(verdict) => Some(shown!("Your verdict: {}", verdict.word())),
            None => state.stale.then(|| Shown::own("Changed since your review")),
        }
    }

    fn state_of(&self, summary: &Summary) -> Option<VerdictState> {
        let reviewed = self.reviews.find(&summary.item, Some(&summary.content))?;
        let sets = self.reviews.label_sets();
        Some(VerdictState::blind(reviewed, &self.reviewer, &sets, |_| false))
    }

    fn about(&self, summary: &Summary, hidden: Hide, kind: EventKind) -> Event {
        let mut event = Event::new(kind, self.reviewer.clone());
        event.item = Some(summary.item.clone());
        event.seen = summary.seen();
        event.seen.hidden = hidden.words();
        event.findings = Some(summary.findings.iter().map(|rule| Text::from(rule.word())).collect());
        event
    }

    /// Saves a verdict and says so; tells whether it is on the disk.
    pub(in crate::cli) fn judge(
        &mut self,
        summary: &Summary,
        hidden: Hide,
        given: &GivenVerdict,
        out: &mut Out,
    ) -> bool {
        let mut event = self.about(summary, hidden, EventKind::Verdict);
        let sets = self.reviews.label_sets().or_offered(&self.offered);
        event.labels = given.labels.iter().map(|label| sets.give(label)).collect();
        let reviewed = self.reviews.find(&summary.item, Some(&summary.content));
        let earlier = reviewed.and_then(|reviewed| reviewed.verdict_of(&self.reviewer.id));
        event.supersedes = earlier.map(|earlier| earlier.event_id.clone());
        event.verdict = Some(given.verdict);
        event.note = given.note.clone().map(Text::from);
        event.drawn.clone_from(&given.drawn);
        let what = Shown::own(given.verdict.word());
        self.save(event, &what, out)
    }

    /// Saves a note and says so.
    pub(in crate::cli) fn note(&mut self, summary: &Summary, hidden: Hide, note: String, out: &mut Out) {
        let mut event = self.about(summary, hidden, EventKind::Note);
        event.note = Some(Text::from(note));
        self.save(event, &Shown::own("note"), out);
    }

    /// Tells whether there is something to take back.
    pub(in crate::cli) const fn can_undo(&self) -> bool {
        !self.said.is_empty()
    }

    /// Takes back what was said last, and returns the item.
    pub(in crate::cli) fn undo(&mut self, out: &mut Out) -> Option<ItemRef> {
        let last = self.said.pop()?;
        let what = shown!("undo of {}", last.verdict.map_or("note", Verdict::word));
        if self.save(Event::undo(self.reviewer.clone(), &last), &what, out) {
            self.said.pop();
            return last.item;
        }
        self.said.push(last);
        None
    }

    fn save(&mut self, event: Event, what: &Shown, out: &mut Out) -> bool {
        match self.writer.save(event, out) {
            Ok(event) => {
                self.reviews.push(event.clone());
                self.said.push(event);
                out.line(&shown!("Saved: {what}"));
                true
            }
            Err(failure) => {
                self.has_failed = true;
                out.line(&shown!("NOT SAVED: {failure}"));
                false
            }
        }
    }
}
