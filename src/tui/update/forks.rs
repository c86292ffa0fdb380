//! Keeping forks.

use std::path::PathBuf;

use super::Effects;
use crate::domain::text::Shown;
use crate::io::append::Met;
use crate::io::failure::Failure;
use crate::io::forks::beside;
use crate::io::input::Input;
use crate::shown;
use crate::tui::app::App;
use crate::tui::forks::{ForkId, Keeping};
use crate::tui::msg::Work;
use crate::tui::run::Effect;

impl App {
    /// Keeps a fork of the open record, one line without its end: appended beside the record's file, or where told, and
    /// called saved when it is on the disk.
    pub fn keep_fork(&mut self, line: Vec<u8>) -> Effects {
        let Some(path) = self.forks_path() else {
            self.fail(Shown::own(
                "not saved: these records have no file to keep forks beside; start with --forks FILE",
            ));
            return Vec::new();
        };
        let keeping = self.forks.take(path, line);
        vec![keep(keeping)]
    }

    /// Where the forks of the open record are kept.
    pub fn forks_path(&self) -> Option<PathBuf> {
        if let Some(path) = &self.forks.path {
            return Some(path.clone());
        }
        let record = self.inspect.as_ref()?.opened.index;
        let input = &self.store.sources().get(self.store.source_of(record)?)?.input;
        match input {
            // A fork of a fork lies with it.
            Input::Forks(path) => Some(path.clone()),
            input => input.path().map(beside),
        }
    }

    /// What became of a fork.
    pub(super) fn fork_wrote(&mut self, id: ForkId, result: &Result<Met, Failure>) -> Effects {
        let Some(path) = self.forks.wrote(id, result) else { return Vec::new() };
        match result {
            Ok(met) => {
                let name = Shown::path(path.file_name().map_or(path.as_path(), std::path::Path::new));
                let also = match met {
                    Met { anew: true, .. } => "; the file was moved away and is begun anew",
                    Met { sealed: true, .. } => "; its last line was torn and is closed now",
                    _ => "",
                };
                self.say(shown!("saved in {name}{also}"));
                vec![Effect::Work(Work::Follow(path))]
            }
            Err(failure) => {
                let Failure { source, path, .. } = failure;
                self.fail(shown!("NOT SAVED, {source} (^S tries again): {path}"));
                Vec::new()
            }
        }
    }

    /// Gives again what could not be saved.
    pub(super) fn save_again(&mut self) -> Effects {
        self.forks.again().into_iter().map(keep).collect()
    }
}

fn keep(keeping: Keeping) -> Effect<Work> {
    Effect::Work(Work::KeepFork(Box::new(keeping)))
}
