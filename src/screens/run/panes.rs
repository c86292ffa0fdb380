//! Questions of the run screen to its panes: each answers with its row.

use crate::screens::run::pane::{Opens, RunPane, run_panes};
use crate::screens::run::pane_def::PaneDef;
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::Reason;
use crate::widgets::list::Move;
use crate::widgets::look::Look;
use crate::widgets::panes;
use stepscope_base::json::Pointer;
use stepscope_base::text::Shown;

macro_rules! definitions {
    ($($(#[$doc:meta])* $name:ident = $title:literal, $file:ident::$def:ident;)+) => {
        impl RunPane {
            /// Returns its definition.
            pub(crate) const fn def(self) -> &'static PaneDef {
                match self { $(Self::$name => &crate::screens::run::$file::$def),+ }
            }
        }
    };
}
run_panes!(definitions);

impl RecordView {
    /// Lists the panes that hold something, even if there is no room for them.
    pub(crate) fn panes(&self) -> Vec<RunPane> {
        RunPane::ALL.into_iter().filter(|pane| (pane.def().holds)(self)).collect()
    }

    /// Gives the keys to the pane of a number, from 1, else to another, `by` further.
    pub(crate) fn next_pane(&mut self, number: Option<usize>, by: isize) -> Result<(), Reason> {
        let is_there = |pane: RunPane| match pane.def().otherwise {
            // Alone on the screen there is room for what it holds.
            Some(_) if !self.maximised => self.areas.of(pane).height > 0,
            _ => (pane.def().holds)(self),
        };
        if let Some(number) = number {
            let pane = panes::numbered(number)?;
            self.focus(Some(pane).filter(|pane| is_there(*pane)).ok_or(panes::NO_PANE)?);
            return Ok(());
        }
        let mut next = panes::turn(&RunPane::ALL, self.pane, by);
        while !is_there(next) {
            next = panes::turn(&RunPane::ALL, next, by);
        }
        self.focus(next);
        Ok(())
    }

    /// Keeps the way of looking that another record had.
    #[must_use]
    pub fn like(mut self, other: &Self) -> Self {
        if self.opened.has_steps() || other.pane != RunPane::Steps {
            self.pane = other.pane;
        }
        if !(self.pane.def().holds)(&self) {
            self.pane = self.pane.def().otherwise.unwrap_or(RunPane::Step);
        }
        self.answer = self.answer.map(|answer| match &other.answer {
            Some(other) => answer.like(other),
            None => answer,
        });
        self.maximised = other.maximised;
        self.tab = other.tab;
        self.peer = other.peer.min(self.opened.peers.as_ref().map_or(0, |peers| peers.names().len() - 1));
        self.refresh();
        self
    }

    /// Keeps every cursor on screen, where the panes are now.
    pub(crate) fn settle(&mut self, look: Look<'_>) {
        for pane in RunPane::ALL {
            let (def, place) = (pane.def(), self.areas.of(pane));
            if let Some(other) = def.otherwise.filter(|_| place.height == 0 && self.pane == pane) {
                self.pane = other;
            }
            *self.list_mut(pane) = match def.settled {
                Some(settled) => settled(self, place, look),
                None => self.list(pane).in_text(self.areas.height(pane), || (def.lines)(self, look)),
            };
        }
        self.refresh_finding();
        self.settle_question(self.areas.of(RunPane::Question));
    }

    /// Moves the cursor of the pane that has the keys.
    pub fn go(&mut self, movement: Move) {
        (self.pane.def().go)(self, self.pane, movement);
    }

    /// Does what `Left` and `Right` mean in that pane.
    pub(crate) fn go_sideways(&mut self, by: isize) -> Result<Option<Shown>, Reason> {
        (self.pane.def().sideways)(self, by)
    }

    /// Opens what the cursor is on.
    pub(crate) fn open(&mut self) -> Opens {
        match self.pane.def().open {
            Some(open) => open(self),
            None => self.chosen_text().map_or(Opens::Nothing, |(title, text)| Opens::Text(title, text)),
        }
    }

    /// Brings the cursor of that pane to the row at a line of it, and tells whether it was there; `None`: no row is.
    pub(crate) fn go_to_line(&mut self, line: usize, look: Look<'_>) -> Option<bool> {
        let def = self.pane.def();
        let row = (def.row_at)(self, line, self.areas.of(self.pane), look)?;
        let was_there = (def.cursor)(self) == Some(row);
        self.go(Move::To(row));
        Some(was_there)
    }

    /// Returns the place in the record that the cursor is on.
    pub fn pointer(&self) -> Pointer {
        (self.pane.def().pointer)(self).unwrap_or_default()
    }

    /// Returns what the cursor is on, with a title: for the pop-up and for copying.
    pub fn chosen_text(&self) -> Option<(Shown, Shown)> {
        (self.pane.def().text)(self)
    }
}
