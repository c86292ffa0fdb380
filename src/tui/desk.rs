//! What is worked out from all records together and lies in front of the table: the comparison with a baseline, and two
//! records side by side. It owns its changes; `update` only routes to it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::row::Row;
use crate::domain::text::Shown;
use crate::io::compare::{Compared, Journals, Wanted};
use crate::io::failure::Failure;
use crate::io::reading::Reading;
use crate::io::snapshot::Address;
use crate::tui::keymap::{Action, Context};

pub mod matrix;
pub mod versus;

use matrix::Matrix;
use versus::Versus;

/// Which of them is in front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Front {
    /// The cells of the comparison.
    Matrix,
    /// Two records side by side.
    Versus,
}

impl Front {
    /// The context that keys are looked up in.
    pub const fn context(self) -> Context {
        match self {
            Self::Matrix => Context::Matrix,
            Self::Versus => Context::Versus,
        }
    }

    /// Whether an action means something there that it does not mean everywhere.
    const fn knows(self, action: Action) -> bool {
        use Action as A;
        match self {
            Self::Matrix => matches!(action, A::Matrix | A::Open | A::Left | A::Right),
            Self::Versus => {
                matches!(action, A::Matrix | A::Baseline | A::NextRecord | A::PreviousRecord | A::Difference)
            }
        }
    }

    /// The word in the first line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::Versus => "side by side",
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Desk {
    /// What is in front; `None`: the table or a record.
    pub front: Option<Front>,
    /// The baseline: a file or folder.
    pub baseline: Option<PathBuf>,
    /// Where people's verdicts stand.
    pub journals: Journals,
    /// The last comparison that was made.
    pub compared: Option<Arc<Compared>>,
    /// Why the last one could not be made.
    pub failed: Option<Shown>,
    /// A comparison is wanted as soon as all records are read.
    pub due: bool,
    /// Number of the comparison that is being made.
    pub running: Option<u64>,
    /// The record whose partner is wanted as soon as there is a comparison.
    pub partner_of: Option<usize>,
    /// The cursor of the cells.
    pub matrix: Matrix,
    /// The two records side by side.
    pub versus: Option<Box<Versus>>,
    /// What lay in front before them.
    pub behind_versus: Option<Front>,
    next: u64,
}

impl Desk {
    /// With a baseline and journals; `compare`: the comparison is in front from the beginning.
    pub fn new(baseline: Option<PathBuf>, journals: Journals, compare: bool) -> Self {
        let front = compare.then_some(Front::Matrix);
        Self { front, baseline, journals, due: compare, ..Self::default() }
    }

    /// Whether a set of records holds one; of a set that is not known yet nobody can tell, so it holds none.
    pub fn holds(&self, set: &str, address: Option<Address>) -> bool {
        let set = self.compared.as_ref().and_then(|compared| compared.sets.get(set));
        set.zip(address).is_some_and(|(set, address)| set.contains(&address))
    }

    /// Whether an action can be done, where the desk has to say so; `record`: there is one to be opened.
    pub fn allows(&self, action: Action, record: bool) -> Option<Result<(), &'static str>> {
        let because = |holds: bool, why: &'static str| Some(if holds { Ok(()) } else { Err(why) });
        if matches!(action, Action::Matrix | Action::Baseline) && self.baseline.is_none() {
            return because(false, "there is no baseline: start with --baseline PATH");
        }
        match (self.front, action) {
            (None, Action::Matrix) => Some(Ok(())),
            (None, Action::Baseline) => because(record, "there is no record here"),
            (None, _) => None,
            (Some(Front::Matrix), Action::Baseline) => because(false, "open a cell and a record of it first"),
            (Some(front), action) => {
                because(is_plain(action) || front.knows(action), "this is not for here; q goes back")
            }
        }
    }

    /// A number that none had before.
    pub const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Whether an action means the same everywhere.
const fn is_plain(action: Action) -> bool {
    use Action as A;
    matches!(
        action,
        A::Down | A::Up | A::Top | A::Bottom | A::HalfDown | A::HalfUp | A::PageDown | A::PageUp | A::Back | A::Escape
    ) || matches!(action, A::Quit | A::Help | A::Palette | A::Theme | A::Mouse | A::Redraw | A::Suspend)
}

/// A record that is to be opened.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Its number among its own.
    pub record: usize,
    /// Where it stands.
    pub reading: Reading,
    /// Its row.
    pub row: Row,
    /// What its run is called.
    pub name: Shown,
}

/// Work for another thread.
#[derive(Debug)]
pub enum Errand {
    /// Compares the run with its baseline.
    Compare(u64, Box<Wanted>),
    /// Puts two records side by side.
    Sides(Box<[Seat; 2]>),
}

/// What became of it.
#[derive(Debug)]
pub enum News {
    /// The comparison of this number.
    Compared(u64, Result<Arc<Compared>, Failure>),
    /// Two records side by side; the number of the first.
    Sides(usize, Result<Box<Versus>, Failure>),
}
