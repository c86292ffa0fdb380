//! Messages to the program with a screen, and effects that it asks for: one flat list each, both plain data.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Size;
use tempfile::TempPath;

use crate::app::across::RecordHandle;
use crate::app::export::request::RecordExport;
use crate::app::fork_tree::Address;
use crate::app::model_choice::Candidate;
use crate::app::open_record::OpenRecord;
use crate::app::sought::Sought;
use crate::screens::live::work::{LiveReached, LiveWork};
use crate::screens::rerun::transition::{Reached, Transition};
use crate::screens::side_by_side::making::{Fixes, Make};
use crate::screens::side_by_side::state::{Against, SideBySide};
use stepscope_base::text::Shown;
use stepscope_execution::call::{Call, RunId};
use stepscope_execution::sampling::CallEvent;
use stepscope_io::config::session::FileView;
use stepscope_io::config::views::{NamedView, ViewChange};
use stepscope_io::failure::Failure;
use stepscope_io::log::forks::KnownFork;
use stepscope_io::log::{self, Append};
use stepscope_io::model::Client;
use stepscope_io::model::setup::Server;
use stepscope_io::notes::TourNotes;
use stepscope_io::pipeline::compare::{CompareRequest, Compared};
use stepscope_io::pipeline::dashboard::{BoardData, DashboardRequest};
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::search::Plan;
use stepscope_io::pipeline::store::LoadEvent;
use stepscope_io::source::input::Input as Source;
use stepscope_io::unfinished::Unfinished;
use stepscope_judge::hide::Hide;
use stepscope_judge::row::RowFacts;
use stepscope_judge::texts::RowTexts;
use stepscope_review::event::{Event as ReviewEvent, Text};
use stepscope_review::event_list::EventList;
use stepscope_review::summary::Summary;
use stepscope_table::filter::Filter;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{Command, Event, ExitStatus, Work};

/// Number of a search; results of an older one are dropped.
pub(crate) type SearchId = u64;

/// Number of what is worked out from all records; results of an older one are dropped.
pub(crate) type WorkId = u64;

/// Number of row moves so far when something was asked for: results about rows that moved since are dropped.
pub(crate) type Moves = u64;

/// The effects of an update, in the order in which they are performed.
pub type Effects = Vec<Effect>;

/// Everything that changes the state: what happens to the terminal, and what became of effects.
#[derive(Debug)]
pub enum Msg {
    // The terminal.
    /// The first of all: the size of the screen.
    Start(Size),
    /// A key, the mouse, a paste, the focus or the background colour.
    Input(Input),
    /// The size of the screen has changed.
    Resize(Size),
    /// The time that `wake_at` asked for has come.
    Tick,
    /// A command that had the terminal has ended.
    Returned(io::Result<ExitStatus>),
    /// A thread or task of ours panicked; the text may quote data.
    Panicked(String),
    /// The last of all: the program ends with this code.
    Stop(u8),

    // Records.
    /// Records were found, checked, grown or lost.
    Load(LoadEvent),
    /// The texts of some rows of the table.
    RowTexts(Moves, Vec<(usize, RowTexts)>),
    /// A record, read and understood.
    Record(usize, Result<Box<OpenRecord>, Failure>),
    /// The record under the cursor of the table, to be shown in brief.
    Preview(Moves, Box<OpenRecord>),
    /// Records that a search found, ascending; `true`: that was all.
    Found(SearchId, Vec<u32>, bool),
    /// Records in which find found its text, in the order of looking, and where; `true`: that was all.
    Matched(SearchId, Vec<(u32, Shown)>, bool),
    /// The search failed.
    SearchFailed(SearchId, Failure),
    /// Origins that were read from forks, each with its address.
    ForkOrigins(Vec<(Address, Option<KnownFork>)>),
    /// Records that were looked for by the hash of their text, by position.
    ByHash(Moves, Vec<(u32, String)>),

    // What is written.
    /// A line is on the disk, or why it is not.
    Log(log::LogEvent),
    /// A file was written, or why it was not.
    Exported(PathBuf, Result<(), Failure>),
    /// Views of the table as they are after this change, or why it was not made.
    Views(ViewChange, Result<Vec<NamedView>, Failure>),
    /// A text lies in a file for the user's own editor.
    EditorFile(Result<TempPath, Failure>),
    /// Text that the editor left, or why there is none.
    EditorText(Result<String, Failure>),

    // Reviews.
    /// Events of the review logs; `true`: one is another file, these are all. And what is unusual in them.
    Reviews(EventList, bool, Vec<Shown>),
    /// A review log cannot be read or written.
    ReviewsFailed(Failure),
    /// Drafts that the last session left unfinished, and events that it could not save.
    Drafts(Vec<ReviewEvent>),
    /// Drafts can no longer be kept, or can again.
    DraftsKept(Result<(), Failure>),
    /// Records of some ids.
    Reviewed(Moves, Vec<u32>),
    /// Summaries of some records, for a batch if it has a number.
    Summaries(Moves, Option<WorkId>, Vec<(usize, Option<Box<Summary>>)>),

    // What is worked out from several records.
    /// Percentage that is done of the comparison or dashboard of this number.
    AcrossPercent(WorkId, usize),
    /// The comparison of this number.
    Compared(WorkId, Result<Arc<Compared>, Failure>),
    /// The dashboard and disagreements of this number.
    Dashboard(WorkId, Result<Arc<BoardData>, Failure>),
    /// Two records side by side, for this record.
    SideBySide(usize, Result<Box<SideBySide>, Failure>),
    /// A fork that was made of this record, or why it was not.
    ForkMade(usize, Result<Box<SideBySide>, Shown>),
    /// The fixes of this record's procedure, or why there are none.
    Fixes(usize, Result<Box<Fixes>, Shown>),

    // Models.
    /// Events of model calls, in order.
    Run(RunId, Vec<CallEvent>),
    /// A run that is being made, as it is after some work, or why there is none.
    Live(RunId, Result<Box<LiveReached>, Shown>),
    /// Outcome of a transition of a re-run.
    Reached(RunId, Box<Reached>),
    /// Servers and models that may be asked, and why some are not among them.
    Candidates(RunId, Vec<Candidate>, Option<Shown>),
    /// The chosen server, ready to be asked.
    Chosen(RunId, Result<Box<Server>, Shown>),
}

impl From<Event> for Msg {
    fn from(event: Event) -> Self {
        match event {
            Event::Start(size) => Self::Start(size),
            Event::Input(input) => Self::Input(input),
            Event::Resize(size) => Self::Resize(size),
            Event::Tick => Self::Tick,
            Event::Returned(result) => Self::Returned(result),
            Event::Panicked(text) => Self::Panicked(text),
            Event::Stop(code) => Self::Stop(code),
        }
    }
}

/// Everything that is done outside of the state.
#[derive(Debug)]
pub enum Effect {
    // The terminal.
    /// Puts text on the clipboard.
    Copy(String),
    /// Switches mouse reports on or off.
    Mouse(bool),
    /// Redraws every cell.
    Repaint,
    /// Stops the program, as Ctrl-Z does.
    Suspend,
    /// Gives the terminal to a command; `Returned` follows.
    Foreground(Command),
    /// Gives the terminal to the tour of the program, in a theme; `Returned` follows.
    Tour(Option<String>),
    /// Ends the session with this exit code.
    Quit(u8),

    // Records.
    /// The loop runs: what waited for it may come.
    Begin,
    /// Reads the texts of some records.
    RowTexts(Moves, Vec<(usize, Reading)>, Arc<[String]>),
    /// Reads a record, which has this row in the table, and leaves out what is not to be shown.
    Record(usize, Reading, RowFacts, Hide),
    /// Reads the record under the cursor of the table, to be shown in brief.
    Preview(Moves, usize, Reading, RowFacts, Hide),
    /// Looks for the records whose text fits.
    Search(SearchId, Arc<Filter>, Plan),
    /// Looks for text in what people see of these records.
    Find(SearchId, Sought, Plan),
    /// Ends a search.
    EndSearch(SearchId),
    /// Reads where forks come from.
    ForkOrigins(Vec<(Address, Reading)>),
    /// Looks for the records whose text has one of these hashes.
    ByHash(Moves, Plan, BTreeSet<String>),

    // What is written.
    /// Appends a line to its log.
    Append(Append),
    /// A file of forks or runs was written: its records belong to those that are open.
    Follow(Source),
    /// Writes a new file.
    Export(PathBuf, Vec<u8>),
    /// Tells a second terminal, by a file in this folder, what a tour shows.
    TellNotes(PathBuf, Box<TourNotes>),
    /// Writes a record in some form.
    ExportRecord(Box<RecordHandle>, Box<RecordExport>),
    /// Puts a text into a file of its own, for the user's own editor.
    WriteForEditor(String),
    /// Reads it back; the file is removed.
    ReadFromEditor(TempPath),
    /// Keeps sort, filter, position and the chosen theme over a restart, and the filters that were typed.
    KeepView(FileView, Option<String>, Vec<String>),
    /// Changes the named views in this folder.
    ChangeViews(PathBuf, ViewChange),

    // Reviews.
    /// Reads what was appended to the review logs.
    ReadReviews,
    /// Keeps drafts over a crash, in place of what was kept.
    KeepDrafts(Vec<ReviewEvent>),
    /// Looks for the records that have one of these ids; an empty id means none.
    FindReviewed(Moves, HashSet<Text>, Plan),
    /// Reads who these records are, for a batch with its findings.
    Summarise(Moves, Option<WorkId>, Vec<(usize, Reading, RowFacts)>),

    // What is worked out from several records.
    /// Compares the run with its baseline.
    Compare(WorkId, Box<CompareRequest>),
    /// Reads the dashboard and disagreements.
    ReadDashboard(WorkId, Box<DashboardRequest>),
    /// Puts two records side by side, for this record.
    PutSideBySide(usize, Box<[RecordHandle; 2]>, Against),
    /// Makes a fork of a record and puts the two side by side.
    MakeFork(Box<RecordHandle>, Box<Make>),
    /// Looks for fixes of a record's procedure.
    FindFixes(Box<RecordHandle>),

    // Models.
    /// Makes model calls.
    StartRun {
        /// The number that comes back with what is heard.
        id: RunId,
        /// The server and its settings.
        client: Box<Client>,
        /// The calls.
        calls: Vec<Call>,
        /// Number of calls that run at once.
        at_once: usize,
    },
    /// Breaks off what has this number: the connection is closed.
    CancelRun(RunId),
    /// Works out what comes next in a run that is being made, and keeps it on the disk.
    Live(RunId, Box<LiveWork>),
    /// Takes away the file that kept a run until it was saved.
    RemoveUnfinished(Unfinished),
    /// Works out what comes next in a re-run.
    Transition(RunId, Box<Transition>),
    /// Looks for servers that may be asked.
    FindServers(RunId),
    /// Makes a server ready to be asked.
    ChooseServer(RunId, Candidate),
}

impl Effect {
    /// Says what it would do beside showing, in words that follow "asked to"; `None`: it only shows. A tour's effects pass
    /// by this alone, so a new effect has to be placed here.
    pub(crate) fn beyond_showing(&self) -> Option<&'static str> {
        match self {
            Self::Mouse(_)
            | Self::Repaint
            | Self::Quit(_)
            | Self::Begin
            | Self::RowTexts(..)
            | Self::Record(..)
            | Self::Preview(..)
            | Self::Search(..)
            | Self::Find(..)
            | Self::EndSearch(_)
            | Self::ForkOrigins(_)
            | Self::ByHash(..)
            | Self::ReadReviews
            | Self::FindReviewed(..)
            | Self::Summarise(..)
            | Self::Compare(..)
            | Self::ReadDashboard(..)
            | Self::PutSideBySide(..)
            | Self::MakeFork(..)
            | Self::FindFixes(_)
            | Self::CancelRun(_)
            | Self::Transition(..)
            | Self::ChooseServer(_, Candidate::Named(_) | Candidate::Samples) => None,
            Self::StartRun { client, .. } if client.is_cassette() => None,
            Self::Live(_, work) if work.keep.is_none() => None,
            Self::StartRun { .. }
            | Self::FindServers(_)
            | Self::ChooseServer(_, Candidate::Found(..) | Candidate::Profile(_)) => Some("ask a model"),
            Self::Copy(_) => Some("copy text"),
            Self::Suspend => Some("stop the program"),
            Self::Foreground(_) | Self::Tour(_) => Some("run a command"),
            Self::WriteForEditor(_) | Self::ReadFromEditor(_) => Some("open an editor"),
            Self::Export(..) | Self::ExportRecord(..) | Self::TellNotes(..) => Some("write a file"),
            Self::Append(_)
            | Self::Follow(_)
            | Self::KeepDrafts(_)
            | Self::ChangeViews(..)
            | Self::Live(..)
            | Self::RemoveUnfinished(_) => Some("save something"),
            Self::KeepView(..) => Some("keep its view"),
        }
    }

    /// Tells whether a person may do it who took the keys in a tour, although its own keys may not.
    pub(crate) const fn is_for_persons(&self) -> bool {
        matches!(
            self,
            Self::Copy(_) | Self::Suspend | Self::Foreground(_) | Self::WriteForEditor(_) | Self::ReadFromEditor(_)
        )
    }
}

impl Work for Effect {
    fn saves(&self) -> bool {
        matches!(self, Self::Append(_) | Self::KeepDrafts(_))
    }

    fn is_awaited(&self) -> bool {
        matches!(self, Self::Record(..) | Self::PutSideBySide(..))
    }
}
