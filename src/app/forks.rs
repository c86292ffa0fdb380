//! The forks of this session: where they are kept, and which record is a fork of which.

pub(crate) mod follow;

use std::collections::HashMap;
use std::path::PathBuf;

use crate::app::fork_tree::{Address, ForkTree};
use crate::app::state::App;
use crate::screens::run::edits::Edits;

/// See the module.
#[derive(Debug, Default)]
pub struct Forks {
    /// Path of the file of forks, if not next to the file of their parent.
    pub path: Option<PathBuf>,
    warned: bool,
    /// Overrides in records, by the hash of their text, made before these are continued.
    pub edits: HashMap<String, Edits>,
    /// Tree of forks: which record is a fork of which.
    pub tree: ForkTree,
}

impl Forks {
    /// Keeps forks in this file; `None`: next to the file of their parent.
    pub fn at(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// Tells whether the warning that leaving would lose something was already given, and marks it as given.
    pub(crate) fn warn(&mut self) -> bool {
        std::mem::replace(&mut self.warned, true)
    }

    /// Something else would be lost by leaving: that is said again.
    pub(crate) fn warn_again(&mut self) {
        self.warned = false;
    }
}

impl App {
    /// Lists the open record and its forks in the order of the table.
    pub fn fork_tree(&self) -> Vec<Address> {
        let open = self.screens.placed().and_then(|view| self.store.address(view.opened.index));
        open.map(|address| self.forks.tree.of(address)).unwrap_or_default()
    }
}
