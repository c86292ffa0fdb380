//! The forks of this session: where they are kept, and what could not be saved yet.

use std::path::PathBuf;

use crate::app::family::Family;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::append::Met;
use stepscope_io::beneath::Place;
use stepscope_io::failure::Failure;

/// Number of a fork of this session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ForkId(pub u64);

/// A fork on its way to the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keeping {
    /// Its number.
    pub id: ForkId,
    /// Where it goes.
    pub path: Place,
    /// Its record, one line without its end.
    pub line: Vec<u8>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Forks {
    /// Where forks are kept if not beside the file of their parent.
    pub path: Option<PathBuf>,
    next: u64,
    /// On their way to the disk.
    waiting: Vec<Keeping>,
    /// Not saved; they can be given again.
    unsaved: Vec<Keeping>,
    warned: bool,
    /// Which record is a fork of which.
    pub family: Family,
}

impl Forks {
    /// Where forks are kept if not beside the file of their parent.
    pub fn at(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// What is not saved, in a few words, as long as that is so.
    pub fn news(&self) -> Option<Shown> {
        (!self.unsaved.is_empty()).then(|| shown!("✗ {} not saved", self.unsaved.len()))
    }

    /// Whether it was already said that something would be lost by leaving now; from now on it was.
    pub(crate) fn warn(&mut self) -> bool {
        std::mem::replace(&mut self.warned, true)
    }

    /// Something else would be lost by leaving: that is said again.
    pub(crate) fn warn_again(&mut self) {
        self.warned = false;
    }

    /// How many forks are not saved and wait to be given again.
    pub fn unsaved(&self) -> usize {
        self.unsaved.len()
    }

    /// Takes a fork to be kept.
    pub fn take(&mut self, path: Place, line: Vec<u8>) -> Keeping {
        let keeping = Keeping { id: ForkId(self.next), path, line };
        self.next += 1;
        self.waiting.push(keeping.clone());
        keeping
    }

    /// What became of a fork; `None`: that was known already.
    pub fn wrote(&mut self, id: ForkId, result: &Result<Met, Failure>) -> Option<Place> {
        let at = self.waiting.iter().position(|keeping| keeping.id == id)?;
        let keeping = self.waiting.remove(at);
        let path = keeping.path.clone();
        if result.is_err() {
            self.unsaved.push(keeping);
            self.warned = false;
        }
        Some(path)
    }

    /// What is not saved, to be given again.
    pub fn again(&mut self) -> Vec<Keeping> {
        let again = std::mem::take(&mut self.unsaved);
        self.waiting.extend(again.iter().cloned());
        again
    }
}
