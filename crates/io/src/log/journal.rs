//! The review log on disk: a log of events. An event that had to be appended twice has the same id both times.

use std::path::{Path, PathBuf};

use crate::log::{self, Content};
use crate::source::beneath::{Place, UnderRoot};
use crate::system::Entry;
use stepscope_base::text::Untrusted;
use stepscope_review::event::Event;
use stepscope_review::log_line::{MAX_LINE, looks_like_journal, write};

mod contents;

pub use contents::{Contents, Follow, LogLine, read_all, read_all_lines, read_lines};

/// Content of a review log.
pub const REVIEWS: Content = Content {
    what: "reviews",
    suffix: ".reviews.jsonl",
    option: "--reviews",
    is_like: looks_like_journal,
    durable: true,
    longest: MAX_LINE,
    largest: u64::MAX,
};

/// Reason given where records come from standard input and no review log is named.
pub const NONE_BESIDE_INPUT: &str = "standard input has no review log; pass --reviews FILE";
/// Reason given where several review logs could be written.
pub const ONE_LOG: &str = "verdicts are saved to one review log; pass --reviews FILE";

/// Returns the review log of a record file: next to it, where it must be no link.
pub fn beside(records: &Path) -> Place {
    REVIEWS.beside(records)
}

/// Finds the review log of a record file, if there is one. A link is none of ours; opening it says so.
pub fn found_beside(records: &Path) -> Option<Place> {
    Some(beside(records)).filter(|journal| std::fs::symlink_metadata(journal.path()).is_ok())
}

/// Counts the review logs in a folder. They are of its files: the folder has one of its own, next to it.
pub fn count_inside(folder: &Path) -> usize {
    let mut count = 0;
    if folder.is_dir() {
        let each = |entry: Entry| {
            count += usize::from(REVIEWS.names(Path::new(&entry.name)));
            true
        };
        // Only a hint depends on it.
        drop(UnderRoot::root(folder).and_then(|folder| folder.list(each)));
    }
    count
}

/// Lists the review logs that a person named: each may be a link.
pub fn named(paths: &[PathBuf]) -> Vec<Place> {
    paths.iter().map(Place::from).collect()
}

/// Writes the line of an event, without its end.
pub fn line(event: &Event) -> Vec<u8> {
    let mut line = Vec::new();
    write(event, &mut line);
    line.truncate(line.trim_ascii_end().len());
    line
}

/// Gives an event its id, time and version where it has none.
pub fn stamp(event: &mut Event) {
    if event.event_id.is_empty() {
        event.event_id = Untrusted::from(new_id(std::time::SystemTime::now()).to_string());
    }
    event.times.decided.get_or_insert_with(now);
    if event.tool_version.is_empty() {
        event.tool_version = env!("CARGO_PKG_VERSION").into();
    }
}

/// Makes an id. Its time does not count where the clock stands before 1970, which the format does not know.
fn new_id(now: std::time::SystemTime) -> uuid::Uuid {
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let time = uuid::Timestamp::from_unix(uuid::NoContext, since.as_secs(), since.subsec_nanos());
    uuid::Uuid::new_v7(time)
}

/// Returns the time, RFC 3339 in UTC, to the millisecond.
pub fn now() -> Untrusted<'static> {
    Untrusted::from(log::now())
}

#[cfg(test)]
mod tests;
