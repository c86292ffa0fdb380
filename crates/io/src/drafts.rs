//! Drafts: half-finished verdicts, and events that could not be saved. It lies in the state folder and outlives a
//! crash, until it is said or thrown away.
//!
//! Drafts are no log: what was said, or thrown away, must be gone, so the file is replaced whole and never added to.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::replace;
use crate::log::journal::read_lines;
use stepscope_base::canonical::Digest;
use stepscope_core::review::event::Event;
use stepscope_core::review::log_line::write;

/// The folder in the state folder.
const FOLDER: &str = "drafts";
/// Number of characters of the review log's hash in the name of its drafts.
const NAME: usize = 32;
/// Number of events that are kept at most, the last ones.
const MAX_KEPT: usize = 10_000;

/// The drafts that belong to one review log.
#[derive(Clone, Debug)]
pub struct Drafts {
    path: PathBuf,
    /// Nothing is kept as long as there is nothing to keep.
    begun: bool,
    /// Content that was saved last: the same is not written again.
    last: Vec<u8>,
}

impl Drafts {
    /// Returns the drafts of a review log, in this state folder.
    pub fn of(state: &Path, journal: &Path) -> Self {
        let journal = std::path::absolute(journal).unwrap_or_else(|_| journal.to_owned());
        let mut name = Digest::of_bytes(journal.as_os_str().as_bytes()).to_string();
        name.truncate(NAME);
        Self { path: state.join(FOLDER).join(name + ".jsonl"), begun: false, last: Vec::new() }
    }

    /// Reads the saved drafts.
    pub fn read(&mut self) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(events),
            Err(error) => return Err(Failure::system("cannot read", &self.path, &error)),
            Ok(_) => self.begun = true,
        }
        read_lines(&self.path, |read, _| events.push(read.event))?;
        self.last.clear();
        for event in &events {
            write(event, &mut self.last);
        }
        Ok(events)
    }

    /// Keeps these in place of what was kept: whole or not at all, readable by their owner alone.
    pub fn keep(&mut self, events: &[Event]) -> Result<(), Failure> {
        let fail = |error: &std::io::Error| Failure::system("cannot save a draft in", &self.path, error);
        if events.is_empty() && !self.begun {
            return Ok(());
        }
        let mut text = Vec::new();
        for event in events.iter().skip(events.len().saturating_sub(MAX_KEPT)) {
            write(event, &mut text);
        }
        if self.begun && text == self.last {
            return Ok(());
        }
        replace(&self.path, &text).map_err(|error| fail(&error))?;
        (self.begun, self.last) = (true, text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_core::review::event::{EventKind, ItemRef, Reviewer, ReviewerKind};

    #[test]
    fn what_was_typed_comes_back_and_can_be_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("runs.jsonl.reviews.jsonl");
        let mut drafts = Drafts::of(folder.path(), &journal);
        drafts.keep(&[]).unwrap();
        assert!(!folder.path().join(FOLDER).exists(), "nothing to keep, nothing made");
        let who = Reviewer { id: "ada".into(), kind: ReviewerKind::Person };
        let draft = Event {
            event_id: "draft".into(),
            item: Some(ItemRef { id: Some("a".into()), ..ItemRef::default() }),
            note: Some("half a sen".into()),
            draft: true,
            ..Event::new(EventKind::Note, who)
        };
        drafts.keep(std::slice::from_ref(&draft)).unwrap();
        let mut again = Drafts::of(folder.path(), &journal);
        assert_eq!(again.read().unwrap(), [draft]);
        assert!(Drafts::of(folder.path(), Path::new("/other")).read().unwrap().is_empty());
        again.keep(&[]).unwrap();
        assert!(Drafts::of(folder.path(), &journal).read().unwrap().is_empty());
    }
}
