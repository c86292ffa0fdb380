//! A run that is being made, kept next to the file that it will be in: put there whole after every call of a model, so
//! that what was paid for is on the disk whenever the program ends. It is taken away once the run itself is saved.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, reason};
use crate::files::{remove, replace};
use crate::log::{Content, SAVE};
use stepscope_base::text::Shown;

/// Content of a file of created runs.
pub const RUNS: Content = Content {
    what: "runs",
    suffix: ".runs.jsonl",
    option: "--out",
    is_like: |head| [&b"\"trace\""[..], b"\"procedure\""].iter().any(|key| memchr::memmem::find(head, key).is_some()),
    durable: true,
    longest: usize::MAX,
    largest: u64::MAX,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Names the file for a run that will be added to another: `runs.unfinished-4711.jsonl` for `runs.jsonl`. Its number is
    /// that of the process, and so no other program's.
    pub fn beside(runs: &Path) -> Self {
        Self(runs.with_extension(format!("unfinished-{}.jsonl", std::process::id())))
    }

    /// Puts the run as it is now in place of what it was before, and returns when it is on the disk.
    pub fn keep(&self, record: &[u8]) -> Result<(), Failure> {
        let kept = replace(&self.0, &[record, b"\n"].concat());
        kept.map_err(|error| Failure { what: SAVE, path: self.place(), source: reason(&error) })
    }

    /// Returns the path, for people.
    pub fn place(&self) -> Shown {
        Shown::path(&self.0)
    }

    /// Takes it away: the run is saved.
    pub fn is_saved(self) {
        remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_replaces_what_it_was_before_until_it_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let run = Unfinished::beside(&folder.path().join("runs.jsonl"));
        run.keep(b"{\"a\": 1}").unwrap();
        run.keep(b"{\"a\": 2}").unwrap();
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, [format!("runs.unfinished-{}.jsonl", std::process::id()).as_str()]);
        assert_eq!(std::fs::read(folder.path().join(&names[0])).unwrap(), b"{\"a\": 2}\n");
        run.is_saved();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
