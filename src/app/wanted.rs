//! Condition on the next record: that it is wrong, or has findings.

use crate::widgets::keymap::{Action, Reason};
use stepscope_io::pipeline::store::Totals;
use stepscope_judge::row::RowFacts;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// It is wrong.
    Wrong,
    /// It has findings.
    Flagged,
}

impl Wanted {
    /// Returns what an action looks for.
    pub(crate) const fn of(action: Action) -> Self {
        if matches!(action, Action::NextWrong | Action::PreviousWrong) { Self::Wrong } else { Self::Flagged }
    }

    /// Tells whether a record is it.
    pub(crate) fn holds(self, row: &RowFacts) -> bool {
        match self {
            Self::Wrong => row.is_wrong(),
            Self::Flagged => row.worst().is_some(),
        }
    }

    /// Tells whether a record other than this one is it, listed in the table or not.
    pub(crate) fn are_others(self, totals: &Totals, own: Option<&RowFacts>) -> bool {
        match self {
            Self::Wrong => totals.faulty > usize::from(own.is_some_and(RowFacts::is_wrong)),
            Self::Flagged => {
                let own = own.map_or([0; 4], |row| row.counts);
                totals.with.iter().zip(own).any(|(&with, own)| with > usize::from(own > 0))
            }
        }
    }

    /// Returns the reason why there is no other.
    pub(crate) const fn none(self) -> Reason {
        match self {
            Self::Wrong => "no other record is wrong",
            Self::Flagged => "no other record has findings",
        }
    }

    /// Returns the same where the table lists a part of the records.
    pub(crate) const fn none_listed(self) -> Reason {
        match self {
            Self::Wrong => "no other listed record is wrong",
            Self::Flagged => "no other listed record has findings",
        }
    }
}
