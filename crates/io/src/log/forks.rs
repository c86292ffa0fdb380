//! The fork log: forks are kept in a file next to that of their parents, or where the user says.

use std::path::Path;

use crate::log::Content;
use crate::source::beneath::Place;
use crate::source::input::FORKS_SUFFIX;
use stepscope_base::canonical::sha256;
use stepscope_base::json::Tape;
use stepscope_record::fork_origin::ForkOrigin;

/// Content of a file of forks.
pub const FORKS: Content = Content {
    what: "forks",
    suffix: FORKS_SUFFIX,
    option: "--forks",
    is_like: looks_like_forks,
    durable: true,
    longest: usize::MAX,
    largest: u64::MAX,
};

/// Returns the file of the forks of a file's records: next to it.
pub fn beside(records: &Path) -> Place {
    FORKS.beside(records)
}

/// Facts about one record of a file of forks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownFork {
    /// SHA-256 of its text, by which its own forks name it.
    pub hash: String,
    /// Its origin; `None`: it names none.
    pub fork_origin: Option<ForkOrigin>,
}

impl KnownFork {
    /// Returns the facts about a record's text.
    pub fn of(text: &[u8]) -> Self {
        Self { hash: sha256(text), fork_origin: Tape::default().parse(text).and_then(ForkOrigin::of) }
    }
}

/// Tells whether a file may be one of forks: a fork says where it comes from near its end, so the beginning may show
/// none.
fn looks_like_forks(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"\"fork\":{\"parent\":").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_execution::rerun::edited;
    use stepscope_judge::case::Case;

    #[test]
    fn a_fork_that_was_written_is_known() {
        let record = br#"{"id": 1, "question": "q", "procedure": {"steps": [{"id": 1, "output": [{"name": "a"}]}]},
            "state": {"problem_text": "q", "a": 1}}"#;
        let edits = vec![("a".into(), b"2".to_vec())];
        let line = edited(&Case::read(record.as_slice()).view(), 0, edits, "2026-11-20T09:28:01.250Z").unwrap();
        assert!(looks_like_forks(&line) && !looks_like_forks(record));
        assert_eq!(beside(Path::new("runs/")).path(), Path::new("runs.forks.jsonl"));
    }
}
