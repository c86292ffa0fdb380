//! Presentation mode, for showing the program to others. The cursor is strong, the keys that were pressed are shown,
//! what means nothing to those who watch is left out, and nothing is saved.

use std::collections::VecDeque;

use ratatui::text::Span;

use crate::widgets::keymap::Key;
use crate::widgets::look::{Look, Spans};
use crate::widgets::theme::Role;

pub(crate) mod keys;

/// Number of the last keys that are shown.
const KEYS: usize = 5;

/// See the module.
#[derive(Debug, Default)]
pub struct Presenting {
    keys: VecDeque<Key>,
    /// True in a tour, whose keys cannot end it.
    is_tour: bool,
}

impl Presenting {
    /// Presents until the program ends: whoever wrote a tour is not who plays it.
    pub(crate) fn of_tour() -> Self {
        Self { is_tour: true, ..Self::default() }
    }

    /// A key was pressed.
    pub(crate) fn press(&mut self, key: Key) {
        if self.keys.len() == KEYS {
            self.keys.pop_front();
        }
        self.keys.push_back(key);
    }

    /// The last keys, for the end of the last line.
    pub(crate) fn spans(&self, look: Look<'_>) -> Spans {
        let key = |key: &Key| [look.span(format!(" {} ", key.name()), Role::Selection), Span::raw(" ")];
        self.keys.iter().flat_map(key).collect()
    }
}
