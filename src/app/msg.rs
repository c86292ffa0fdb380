//! What the screen is told, and what it asks to be done: both plain data.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use regex::bytes::Regex;
use tempfile::TempPath;

use crate::app::across;
use crate::app::across::Errand;
use crate::app::fork_tree::Address;
use crate::app::open_record::OpenRecord;
use crate::app::review_worker;
use crate::app::review_worker::Task;
use crate::screens::rerun::state::Candidate;
use crate::screens::rerun::transition::{Reached, Transition};
use stepscope_base::text::Shown;
use stepscope_core::review::hide::Hide;
use stepscope_core::run::call::{Call, RunId};
use stepscope_core::run::sampling::CallEvent;
use stepscope_core::table::filter::Filter;
use stepscope_core::table::row::RowFacts;
use stepscope_core::table::texts::RowTexts;
use stepscope_io::config::session::FileView;
use stepscope_io::failure::Failure;
use stepscope_io::log::forks::KnownFork;
use stepscope_io::log::{self, Append};
use stepscope_io::model::Client;
use stepscope_io::model::setup::Server;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::LoadEvent;
use stepscope_io::source::beneath::Place;
use stepscope_terminal::run::Effect;

/// Number of a search; results of an older one are dropped.
pub(crate) type SearchId = u64;

/// The effects of an update.
pub type Effects = Vec<Effect<Work>>;

/// A result of work.
#[derive(Debug)]
pub enum Msg {
    /// Records were found, checked, grown or lost.
    Load(LoadEvent),
    /// The texts of some rows of the table, and how often rows had moved when they were asked for.
    RowTexts(u64, Vec<(usize, RowTexts)>),
    /// A record, read and understood.
    Record(usize, Result<Box<OpenRecord>, Failure>),
    /// Records that a search found, ascending; `true`: that was all.
    Found(SearchId, Vec<u32>, bool),
    /// Records in which find found its text, in the order of looking, and where; `true`: that was all.
    Matched(SearchId, Vec<(u32, Shown)>, bool),
    /// Of reviews.
    Review(review_worker::News),
    /// The search failed.
    SearchFailed(SearchId, Failure),
    /// What was read of forks, each with its address.
    ForkOrigins(Vec<(Address, Option<KnownFork>)>),
    /// Records that forks come from, by position and the hash of their text, and how often rows had moved when they
    /// were looked for.
    Parents(u64, Vec<(u32, String)>),
    /// A line is on the disk, or why it is not.
    Log(log::LogEvent),
    /// A file was written, or why it was not.
    Exported(PathBuf, Result<(), Failure>),
    /// A text lies in a file for the user's own editor.
    Lent(Result<TempPath, Failure>),
    /// What the editor made of it.
    TakenBack(Result<String, Failure>),
    /// An errand of the desk was done.
    Across(across::News),
    /// What was heard of model calls, in order.
    Run(RunId, Vec<CallEvent>),
    /// Where a leg of a re-run led.
    Reached(RunId, Box<Reached>),
    /// Who may be asked, and why somebody is not among them.
    Candidates(RunId, Vec<Candidate>, Option<Shown>),
    /// Who was chosen, ready to be asked.
    Chosen(RunId, Result<Box<Server>, Shown>),
}

/// Work of the screen's own, done outside of it.
#[derive(Debug)]
pub enum Work {
    /// The loop runs: what waited for it may come.
    Begin,
    /// Reads the texts of some records; the number comes back with them.
    RowTexts(u64, Vec<(usize, Reading)>),
    /// Reads a record, which has this row in the table, and leaves out what is not to be shown.
    Record(usize, Reading, RowFacts, Hide),
    /// About reviews.
    Review(Task),
    /// Looks for the records whose text fits.
    Search(SearchId, Arc<Filter>, Plan),
    /// Look for text in what people see of these records.
    Match(SearchId, Regex, Plan),
    /// Ends a search.
    EndSearch(SearchId),
    /// Reads where forks come from.
    ForkOrigins(Vec<(Address, Reading)>),
    /// Looks for the records whose text has one of these hashes; the number comes back with them.
    Parents(u64, Plan, BTreeSet<String>),
    /// Appends a line to its log.
    Append(Append),
    /// A file of forks was written: its records belong to those that are open.
    Follow(Place),
    /// Writes a new file.
    Export(PathBuf, Vec<u8>),
    /// Puts a text into a file of its own, for the user's own editor.
    Lend(String),
    /// Reads it back; the file is removed.
    TakeBack(TempPath),
    /// An errand of the desk.
    Across(Errand),
    /// Asks a model.
    StartRun {
        /// The number that comes back with what is heard.
        id: RunId,
        /// Whom.
        client: Box<Client>,
        /// What.
        calls: Vec<Call>,
        /// How many of them at once.
        at_once: usize,
    },
    /// Breaks off what has this number: the connection is closed.
    CancelRun(RunId),
    /// Works out what comes next in a re-run.
    Transition(RunId, Box<Transition>),
    /// Looks for servers that may be asked.
    Look(RunId),
    /// Makes somebody ready to be asked.
    Choose(RunId, Candidate),
    /// Keeps sort, filter, position and the chosen theme over a restart.
    Keep(FileView, Option<String>),
}
