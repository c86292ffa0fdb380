//! Runs of a store on their way to lines, and what is said of those that are left out.

use super::super::made::GatheredLines;
use super::super::session::AgentSession;
use super::super::shelf::Shelf;
use super::state_run::{MAX_RUN, StateRun};
use crate::failure::Failure;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::trace::MAX_CALLS;

/// Size of all runs of a store.
pub(super) const MAX_ALL: u64 = 128 << 20;
/// Number of rows of a table that are looked at.
pub(super) const MAX_ROWS: usize = 200_000;
/// Number of records whose rows are put together.
pub(super) const MAX_RECORDS: usize = 40_000;

/// Runs of a store on their way to lines.
pub(super) struct RunLines {
    pub name: Shown,
    pub shelf: Shelf,
    pub count: usize,
    /// Numbers of what is left out: runs, steps, rows.
    pub runs_left_out: usize,
    pub steps_left_out: usize,
    pub rows_left_out: usize,
    /// Number of items that are no turn.
    pub untold: usize,
    /// Number of traces whose spans lie somewhere else.
    pub elsewhere: usize,
    /// Further sentences for people.
    pub notes: Vec<Shown>,
    pub failure: Option<Failure>,
}

impl RunLines {
    pub(super) fn new(name: &Shown) -> Result<Self, Failure> {
        Ok(Self {
            name: name.clone(),
            shelf: Shelf::new(name)?,
            count: 0,
            runs_left_out: 0,
            steps_left_out: 0,
            rows_left_out: 0,
            untold: 0,
            elsewhere: 0,
            notes: Vec::new(),
            failure: None,
        })
    }

    /// Tells whether no further run is taken; the one that was to come counts as left out.
    pub(super) fn is_full(&mut self) -> bool {
        let full = self.shelf.len() >= MAX_ALL || self.failure.is_some();
        self.runs_left_out += usize::from(full);
        full
    }

    /// Takes the line of a run.
    pub(super) fn put(&mut self, line: &[u8]) {
        self.count += 1;
        if let Err(failure) = self.shelf.put(line) {
            self.failure = Some(failure);
        }
    }

    /// Takes runs that were read as something else.
    pub(super) fn take(&mut self, made: &GatheredLines) -> Result<(), Failure> {
        pub(super) const PIECE: usize = 1 << 20;
        let (mut at, mut piece) = (0, Vec::new());
        loop {
            made.lines.read(at, PIECE, &mut piece)?;
            if piece.is_empty() {
                break;
            }
            at += piece.len() as u64;
            self.count += memchr::memchr_iter(b'\n', &piece).count();
            self.shelf.put(&piece)?;
        }
        let more = made.note.as_str().split_once("; ").map(|(_, more)| Shown::line(more.as_bytes()));
        self.notes.extend(more);
        Ok(())
    }

    pub(super) fn put_session(&mut self, session: &AgentSession, source: &str) {
        self.steps_left_out += session.left_out;
        self.put(&session.line(source));
    }

    pub(super) fn put_run(&mut self, run: &StateRun, source: &str) {
        self.steps_left_out += run.left_out;
        self.put(&run.line(source));
    }

    /// Says what it was read as, and what is missing.
    pub(super) fn note(&self, name: &str, opened: Option<&Shown>) -> Shown {
        let mut note = shown!("read as {name}");
        if self.count == 0 {
            note = shown!("{note}, of which it has none");
        }
        if self.runs_left_out > 0 {
            note =
                shown!("{note}; {} runs left out, as only {} MB of runs are read", self.runs_left_out, MAX_ALL >> 20);
        }
        if self.steps_left_out > 0 {
            let (count, most) = (self.steps_left_out, MAX_RUN >> 20);
            note = shown!("{note}; {count} steps left out, as a run has at most {MAX_CALLS} steps and {most} MB");
        }
        if self.rows_left_out > 0 {
            note = shown!(
                "{note}; {} rows left out, as at most {MAX_ROWS} of {MAX_RECORDS} records are read",
                self.rows_left_out
            );
        }
        if self.untold > 0 {
            let what = if self.untold == 1 {
                shown!("1 item is no turn")
            } else {
                shown!("{} items are no turns", self.untold)
            };
            note = shown!("{note}; {what} and left out");
        }
        if self.elsewhere > 0 {
            note = shown!("{note}; {} traces have their steps somewhere else, not in this database", self.elsewhere);
        }
        for more in self.notes.iter().chain(opened) {
            note = shown!("{note}; {more}");
        }
        note
    }
}
