//! Places that a jump left, and the way back to them and forth again.

use crate::app::records::current;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Reason};
use stepscope_io::pipeline::store::Store;

/// Places that are kept.
const MAX_PLACES: usize = 100;
/// Reasons that there is no such place.
const NO_EARLIER: Reason = "no earlier place";
const NO_LATER: Reason = "no later place";

/// A place: a row of the table, or a step and a variable of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JumpPlace {
    /// The record, by its source and first byte there: rows move.
    pub(crate) record: (usize, u64),
    /// The screen.
    pub(crate) screen: ScreenKind,
    /// Number of steps that have run.
    pub(crate) moment: usize,
    /// The row of the variables, of the answer or of the JSON, and the first on screen.
    pub(crate) row: (usize, usize),
}

impl JumpPlace {
    /// Returns the place where one is, on the table or in a record.
    pub(crate) fn here(screens: &Screens, store: &Store, table: &Table) -> Option<Self> {
        let screen = screens.top();
        let record = store.address(current(screens, store, table)?)?;
        let view = screens.record().filter(|view| screen == view.kind());
        let row = view.map(|view| match (screen, &view.answer) {
            (ScreenKind::Json, _) => view.outline.list,
            (_, Some(answer)) => answer.items,
            _ => view.variables,
        });
        let row = row.map_or((0, 0), |list| (list.at, list.top));
        let moment = view.map_or(0, |view| view.moment.0);
        (screen == ScreenKind::Table || view.is_some()).then_some(Self { record, screen, moment, row })
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Jumps {
    earlier: Vec<JumpPlace>,
    later: Vec<JumpPlace>,
}

impl Jumps {
    /// Keeps a place that an action leaves, where that is a jump.
    pub(crate) fn leave(&mut self, place: JumpPlace, action: Action) {
        if !jumps(action) {
            return;
        }
        self.later.clear();
        if self.earlier.last() != Some(&place) {
            self.earlier.push(place);
        }
        let excess = self.earlier.len().saturating_sub(MAX_PLACES);
        self.earlier.drain(..excess);
    }

    /// Goes from a place to the one before, or the one after.
    pub(crate) fn go(&mut self, back: bool, here: JumpPlace) -> Result<JumpPlace, Reason> {
        let (from, to) = if back { (&mut self.earlier, &mut self.later) } else { (&mut self.later, &mut self.earlier) };
        let place = std::iter::from_fn(|| from.pop()).find(|place| *place != here);
        let place = place.ok_or(if back { NO_EARLIER } else { NO_LATER })?;
        to.push(here);
        Ok(place)
    }

    /// Checks that there is a place to go to.
    pub(crate) fn allowed(&self, action: Action) -> Result<(), Reason> {
        match action {
            Action::JumpBack if self.earlier.is_empty() => Err(NO_EARLIER),
            Action::JumpForth if self.later.is_empty() => Err(NO_LATER),
            _ => Ok(()),
        }
    }
}

/// Tells whether an action leaves its place for another that is not next to it.
const fn jumps(action: Action) -> bool {
    use Action as A;
    matches!(
        action,
        A::Open
            | A::NextRecord
            | A::PreviousRecord
            | A::NextWrong
            | A::PreviousWrong
            | A::NextFlagged
            | A::PreviousFlagged
            | A::NextFinding
            | A::PreviousFinding
            | A::Writer
            | A::Reader
            | A::FindNext
            | A::FindPrevious
            | A::NextOpen
            | A::TakeEdit
            | A::Top
            | A::Bottom
    )
}
