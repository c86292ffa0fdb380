//! The forks of this session: where they are kept, and which record is a fork of which.

pub(crate) mod follow;

use std::path::PathBuf;

use crate::app::fork_tree::ForkTree;

/// See the module.
#[derive(Debug, Default)]
pub struct Forks {
    /// Where forks are kept if not beside the file of their parent.
    pub path: Option<PathBuf>,
    warned: bool,
    /// Which record is a fork of which.
    pub tree: ForkTree,
}

impl Forks {
    /// Where forks are kept if not beside the file of their parent.
    pub fn at(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// Whether it was already said that something would be lost by leaving now; from now on it was.
    pub(crate) fn warn(&mut self) -> bool {
        std::mem::replace(&mut self.warned, true)
    }

    /// Something else would be lost by leaving: that is said again.
    pub(crate) fn warn_again(&mut self) {
        self.warned = false;
    }
}
