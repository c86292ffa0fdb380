//! What the screen is told, and what it asks to be done: both plain data.

use std::sync::Arc;

use crate::domain::filter::Filter;
use crate::domain::headline::Headline;
use crate::io::failure::Failure;
use crate::io::reading::Reading;
use crate::io::search::Plan;
use crate::io::store::LoadEvent;

/// Number of a search; results of an older one are dropped.
pub type SearchId = u64;

/// A result of work.
#[derive(Debug)]
pub enum Msg {
    /// Records were found, checked, grown or lost.
    Load(LoadEvent),
    /// The texts of some rows of the table.
    Headlines(Vec<(usize, Headline)>),
    /// A record that is to be opened: its bytes, and the number of its line.
    Record(usize, Result<(Vec<u8>, u64), Failure>),
    /// Records that a search found, ascending; `true`: that was all.
    Found(SearchId, Vec<u32>, bool),
    /// The search failed.
    SearchFailed(SearchId, Failure),
    /// What was to be kept over a restart could not be written.
    NotKept(Failure),
}

/// Work of the screen's own, done outside of it.
#[derive(Debug)]
pub enum Work {
    /// The loop runs: what waited for it may come.
    Begin,
    /// Reads the texts of some records.
    Headlines(Vec<(usize, Reading)>),
    /// Reads a record.
    Record(usize, Reading),
    /// Looks for the records whose text fits; an older search ends.
    Search(SearchId, Arc<Filter>, Plan),
    /// Ends the search.
    EndSearch,
    /// Keeps sort, filter, position and theme over a restart.
    Keep(Kept),
}

/// What survives a restart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The name of the theme; `None`: by the terminal's background.
    pub theme: Option<String>,
    /// Id of the sort column.
    pub sort: String,
    /// From the greatest down.
    pub descending: bool,
    /// The filter as typed.
    pub filter: String,
    /// The record under the cursor, from 0.
    pub record: usize,
}
