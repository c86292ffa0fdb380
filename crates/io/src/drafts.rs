//! Drafts: half-finished verdicts, and events that could not be saved. It lies in the state folder and outlives a
//! crash, until it is said or thrown away.
//!
//! Drafts are no log: what was said, or thrown away, must be gone, so the file is replaced whole and never added to.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::{lock_folder, own_folder, replace};
use crate::log::journal::read_lines;
use crate::source::beneath::folder;
use stepscope_base::canonical::Digest;
use stepscope_review::event::{Event, Reviewer, Text};
use stepscope_review::log_line::write;

/// The folder in the state folder.
const FOLDER: &str = "drafts";
/// Number of characters of the review log's hash in the name of its drafts.
const NAME: usize = 32;
/// Number of events that are kept at most, the last ones.
const MAX_KEPT: usize = 10_000;

/// The drafts of one reviewer that belong to one review log. Other windows may keep theirs in the same file.
#[derive(Clone, Debug)]
pub struct Drafts {
    path: PathBuf,
    reviewer: Text,
    /// Lines of the file that are of this window.
    own: HashSet<Vec<u8>>,
}

impl Drafts {
    /// Returns the drafts of a reviewer for a review log, in this state folder.
    pub fn of(state: &Path, journal: &Path, reviewer: &Reviewer) -> Self {
        let journal = std::path::absolute(journal).unwrap_or_else(|_| journal.to_owned());
        let mut name = Digest::of_bytes(journal.as_os_str().as_encoded_bytes()).to_string();
        name.truncate(NAME);
        let path = state.join(FOLDER).join(name + ".jsonl");
        Self { path, reviewer: reviewer.id.clone(), own: HashSet::default() }
    }

    /// Reads the saved drafts of the reviewer, and events that could not be saved, whoever gave them.
    pub fn read(&mut self) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        for (event, line) in self.lines()? {
            if !event.draft || event.reviewer.id == self.reviewer {
                events.push(event);
                self.own.insert(line);
            }
        }
        Ok(events)
    }

    /// Keeps these in place of what was kept of this window: whole or not at all, readable by their owner alone.
    pub fn keep(&mut self, events: &[Event]) -> Result<(), Failure> {
        let fail = |error: &std::io::Error| Failure::system("cannot save a draft in", &self.path, error);
        if events.is_empty() && self.own.is_empty() {
            return Ok(());
        }
        own_folder(folder(&self.path)).map_err(|error| fail(&error))?;
        // Two windows that read and replace at once would lose what one of them keeps.
        let _lock = lock_folder(&self.path).map_err(|error| fail(&error))?;
        let before: Vec<Vec<u8>> = self.lines()?.into_iter().map(|(_, line)| line).collect();
        let own = events.iter().skip(events.len().saturating_sub(MAX_KEPT)).map(|event| {
            let mut line = Vec::new();
            write(event, &mut line);
            line.truncate(line.trim_ascii_end().len());
            line
        });
        let own: Vec<Vec<u8>> = own.collect();
        let others = before.iter().filter(|line| !self.own.contains(*line));
        let lines: Vec<&[u8]> = others.chain(&own).map(Vec::as_slice).collect();
        if lines != before {
            let text: Vec<u8> = lines.iter().flat_map(|line| line.iter().chain(b"\n")).copied().collect();
            replace(&self.path, &text).map_err(|error| fail(&error))?;
        }
        self.own = own.into_iter().collect();
        Ok(())
    }

    /// The events in the file, each with its line.
    fn lines(&self) -> Result<Vec<(Event, Vec<u8>)>, Failure> {
        let mut lines = Vec::new();
        match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(lines),
            Err(error) => return Err(Failure::system("cannot read", &self.path, &error)),
            Ok(_) => {}
        }
        read_lines(&self.path, |read, line| lines.push((read.event, line.trim_ascii_end().to_vec())))?;
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_review::event::{EventKind, ItemRef};

    fn draft(by: &'static str, note: &'static str) -> Event {
        Event {
            event_id: "draft-0".into(),
            item: Some(ItemRef { id: Some("a".into()), ..ItemRef::default() }),
            note: Some(note.into()),
            draft: true,
            ..Event::new(EventKind::Note, Reviewer::person(by))
        }
    }

    #[test]
    fn what_was_typed_comes_back_and_can_be_thrown_away() {
        let state = tempfile::tempdir().unwrap();
        let journal = state.path().join("runs.jsonl.reviews.jsonl");
        let of = |by, journal: &Path| Drafts::of(state.path(), journal, &Reviewer::person(by));
        let mut drafts = of("ada", &journal);
        drafts.keep(&[]).unwrap();
        assert!(!state.path().join(FOLDER).exists(), "nothing to keep, nothing made");
        let draft = draft("ada", "half a sen");
        drafts.keep(std::slice::from_ref(&draft)).unwrap();
        let mut again = of("ada", &journal);
        assert_eq!(again.read().unwrap(), [draft]);
        assert!(of("ada", Path::new("/other")).read().unwrap().is_empty());
        again.keep(&[]).unwrap();
        assert!(of("ada", &journal).read().unwrap().is_empty());
    }

    #[test]
    fn windows_keep_their_drafts_beside_each_other() {
        let state = tempfile::tempdir().unwrap();
        let journal = state.path().join("runs.jsonl.reviews.jsonl");
        let of = |by| Drafts::of(state.path(), &journal, &Reviewer::person(by));
        let (mut one, mut other, mut bob) = (of("ada"), of("ada"), of("bob"));
        let [first, second, third] = [draft("ada", "one"), draft("ada", "two"), draft("bob", "three")];
        let unsaved = Event { draft: false, event_id: "e1".into(), ..draft("ada", "not saved") };
        one.keep(std::slice::from_ref(&first)).unwrap();
        other.keep(&[second.clone(), unsaved.clone()]).unwrap();
        bob.keep(std::slice::from_ref(&third)).unwrap();
        assert_eq!(of("ada").read().unwrap(), [first, second.clone(), unsaved.clone()]);
        assert_eq!(of("bob").read().unwrap(), [unsaved.clone(), third], "nobody else's draft");
        one.keep(&[]).unwrap();
        assert_eq!(of("ada").read().unwrap(), [second, unsaved]);
    }
}
