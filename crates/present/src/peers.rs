//! Other runs of the question of the open record, with what they have in the place of its values.

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::aligned::{AlignedRun, AlignedValue};
use stepscope_judge::case::CaseView;

/// Signs of so many peers are drawn; the values of all can be walked to.
const SIGNS: usize = 12;

/// Other runs of the question of a record.
#[derive(Clone, Debug)]
pub struct PeersView {
    aligned: AlignedRun,
    /// The step in which the run leaves them, by position.
    pub leaves: Option<usize>,
    /// Number of those that give its answer, in words.
    pub says: Shown,
}

impl PeersView {
    /// Puts a record next to its peers; `None`: it has none.
    pub(crate) fn of(case: &CaseView<'_>) -> Option<Self> {
        let opinion = case.peer_opinion()?;
        let says = match opinion.agreement {
            Some(_) => shown!("{} of {} give its answer", opinion.agree, opinion.of),
            None => Shown::own("answers not comparable"),
        };
        Some(Self { aligned: AlignedRun::of(case)?, leaves: opinion.leaves, says })
    }

    /// Returns the last part of the name of one.
    pub fn short_name(&self, peer: usize) -> Shown {
        self.names().get(peer).map_or_else(Shown::default, Shown::last_part)
    }

    /// Returns their names: sources and lines.
    pub fn names(&self) -> &[Shown] {
        &self.aligned.peers
    }

    /// Counts the columns of their signs, with a blank behind them.
    pub fn signs(&self) -> usize {
        self.names().len().min(SIGNS) + 1
    }

    /// Counts the rows: one a step, and one for the answer.
    pub fn rows(&self) -> usize {
        self.aligned.steps.len() + usize::from(self.aligned.answer.is_some())
    }

    /// Returns the value of a row that says most: of a step the first that a peer has otherwise, else the first.
    pub fn value(&self, row: usize) -> Option<&AlignedValue> {
        let values = self.values_of(row);
        let telling = values.iter().find(|value| value.counts().other > 0).or_else(|| values.first());
        telling.or_else(|| self.answer().filter(|_| row == self.aligned.steps.len()))
    }

    /// Lists the values of a step.
    pub fn values_of(&self, step: usize) -> &[AlignedValue] {
        self.aligned.steps.get(step).map_or(&[], Vec::as_slice)
    }

    /// Returns the answer.
    pub const fn answer(&self) -> Option<&AlignedValue> {
        self.aligned.answer.as_ref()
    }

    /// Lists all values with their steps, by position; at last the answer.
    pub fn values(&self) -> impl Iterator<Item = (Option<usize>, &AlignedValue)> {
        self.aligned.rows()
    }
}
