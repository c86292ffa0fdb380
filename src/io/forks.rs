//! Where forks are kept: in a file beside the one that their parents came from, or where told.

use std::path::{Path, PathBuf};

use super::append::Content;

/// What a file of forks holds.
pub const FORKS: Content =
    Content { what: "forks", suffix: ".forks.jsonl", option: "--forks", is_like: looks_like_forks, durable: true };

/// The file of the forks of a file's records: beside it.
pub fn beside(records: &Path) -> PathBuf {
    FORKS.beside(records)
}

/// A fork says where it comes from, near its end, so the beginning of the file may show none.
fn looks_like_forks(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"\"fork\":{\"parent\":").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fork::{Course, How, Scope, Start};

    #[test]
    fn a_fork_that_was_written_is_known() {
        let record = br#"{"id": 1, "question": "q", "procedure": {"steps": [{"id": 1, "output": [{"name": "a"}]}]},
            "state": {"problem_text": "q", "a": 1}}"#;
        let start = Start {
            step: 0,
            edits: vec![("a".into(), b"2".to_vec())],
            scope: Scope::One,
            how: How::Edit,
            is_lenient: false,
        };
        let (_, line) = Course::new(record, start).unwrap().fork(None, "2026-11-20T09:28:01.250Z").unwrap();
        assert!(looks_like_forks(&line) && !looks_like_forks(record));
        assert_eq!(beside(Path::new("runs/")), Path::new("runs.forks.jsonl"));
    }
}
