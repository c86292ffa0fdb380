//! What the screen is told, and what it asks to be done: both plain data.

use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::filter::Filter;
use crate::domain::headline::Headline;
use crate::domain::review::hide::Hide;
use crate::domain::row::Row;
use crate::io::append::Met;
use crate::io::config::session::FileView;
use crate::io::failure::Failure;
use crate::io::reading::Reading;
use crate::io::search::Plan;
use crate::io::store::LoadEvent;
use crate::tui::desk::{Errand, News};
use crate::tui::forks::{ForkId, Keeping};
use crate::tui::model::Opened;
use crate::tui::scribe::{self, Task};

/// Number of a search; results of an older one are dropped.
pub type SearchId = u64;

/// A result of work.
#[derive(Debug)]
pub enum Msg {
    /// Records were found, checked, grown or lost.
    Load(LoadEvent),
    /// The texts of some rows of the table, and how often rows had moved when they were asked for.
    Headlines(u64, Vec<(usize, Headline)>),
    /// A record, read and understood.
    Record(usize, Result<Box<Opened>, Failure>),
    /// Records that a search found, ascending; `true`: that was all.
    Found(SearchId, Vec<u32>, bool),
    /// Of reviews.
    Review(scribe::News),
    /// The search failed.
    SearchFailed(SearchId, Failure),
    /// A fork is on the disk, or why it is not.
    Wrote(ForkId, Result<Met, Failure>),
    /// An errand of the desk was done.
    Desk(News),
}

/// Work of the screen's own, done outside of it.
#[derive(Debug)]
pub enum Work {
    /// The loop runs: what waited for it may come.
    Begin,
    /// Reads the texts of some records; the number comes back with them.
    Headlines(u64, Vec<(usize, Reading)>),
    /// Reads a record, which has this row in the table, and leaves out what is not to be shown.
    Record(usize, Reading, Row, Hide),
    /// About reviews.
    Review(Task),
    /// Looks for the records whose text fits.
    Search(SearchId, Arc<Filter>, Plan),
    /// Ends a search.
    EndSearch(SearchId),
    /// Appends a fork to its file.
    KeepFork(Box<Keeping>),
    /// A file of forks was written: its records belong to those that are open.
    Follow(PathBuf),
    /// An errand of the desk.
    Desk(Errand),
    /// Keeps sort, filter, position and the chosen theme over a restart.
    Keep(FileView, Option<String>),
}
