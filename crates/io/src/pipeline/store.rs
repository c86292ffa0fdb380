//! All records that were found, as the screen sees them: rows by position, bytes on demand. It lives on the screen's
//! thread and changes only by `LoadEvent`s, so that drawing never waits for a lock.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::failure::Failure;
use crate::pipeline::reading::Reading;
use crate::source::cut::{Layout, Skips};
use crate::source::documents::Documents;
use crate::source::input::{Input, Source};
use crate::source::open::Blob;
use stepscope_base::text::Shown;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_record::RecordKind;
use stepscope_record::rule_id::RuleId;
use stepscope_table::insights::Insights;

use crate::source::block::BLOCK;

/// Small parts that follow one another are put together up to this many rows: a file that grows by single lines must
/// not cost a list each.
const FULL: usize = 1024;

/// News from the background.
#[derive(Debug)]
pub enum LoadEvent {
    /// A new source; the sources come in order.
    Source(Input),
    /// A source was opened, or opened again: all its rows are void.
    Opened {
        /// Number of the source.
        source: usize,
        /// Counts the openings; what is older no longer counts.
        generation: u32,
        /// Its bytes, and how they are to be read.
        found: Source,
        /// Size in bytes now.
        size: u64,
        /// True if it was replaced or cut while it was open.
        changed: bool,
    },
    /// Records were found, or found to be others: these are now the rows of these bytes.
    Found {
        /// Number of the source.
        source: usize,
        /// The opening it was read in.
        generation: u32,
        /// The rows.
        part: RowRun,
    },
    /// A part that was found has been checked: the same rows with findings, or more rows, if lines hold several values.
    Checked {
        /// Number of the source.
        source: usize,
        /// The opening it was read in.
        generation: u32,
        /// The rows.
        part: RowRun,
    },
    /// A source has been read to its end, which is where it was when this was said; it may grow.
    Read {
        /// Number of the source.
        source: usize,
        /// The opening it was read in.
        generation: u32,
        /// Size in bytes.
        size: u64,
    },
    /// Ids that occur earlier in the same source: the first bytes of their records.
    Duplicates {
        /// Number of the source.
        source: usize,
        /// The opening it was read in.
        generation: u32,
        /// First bytes of the records.
        offsets: Vec<u64>,
    },
    /// The file was deleted; what was read can still be read.
    Gone(usize),
    /// Note on how a source was opened, where that matters.
    Noted(usize, Option<Shown>),
    /// A file in a folder does not look like JSON.
    PassedOver,
    /// Number of more links in folders that were not followed.
    Links(u64),
    /// Something could not be read; the source, if there is one.
    Failed(Option<usize>, Failure),
    /// A document that records name, or a packed file beside them, could not be read; the records themselves were.
    Missing(Failure),
    /// Everything there is has been found and checked.
    Settled,
}

/// A run of records in a source.
#[derive(Clone, Debug, Default)]
pub struct RowRun {
    /// Its bytes, from border to border.
    pub span: Range<u64>,
    /// The number of its first line, from 1.
    pub line: u64,
    /// Each line is one record.
    pub dense: bool,
    /// The records.
    pub rows: Vec<RowFacts>,
    /// Lines that were passed over.
    pub skips: Skips,
    /// The end of the source, unfinished perhaps: it will be found again when the source grows.
    pub tail: bool,
}

/// State of a source on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceState {
    /// Unchanged since it was opened, or grown.
    Sound,
    /// Replaced or cut while it was open, and read again.
    Changed,
    /// Deleted; what was read can still be read.
    Gone,
    /// Failed: it could not be read.
    Failed,
}

/// One source and its rows.
#[derive(Debug)]
pub struct SourceRows {
    /// Input that it came from.
    pub input: Input,
    /// State of the source on the disk.
    pub standing: SourceState,
    /// Note on how it was opened, where that matters.
    pub note: Option<Shown>,
    /// Layout of its records.
    pub layout: Layout,
    /// Size in bytes.
    pub size: u64,
    /// Number of bytes that have been searched for records.
    pub found_to: u64,
    generation: u32,
    blob: Option<Arc<Blob>>,
    documents: Option<Documents>,
    chunks: Vec<RowChunk>,
    skips: Skips,
    tail: Skips,
}

#[derive(Debug)]
struct RowChunk {
    /// Number of rows before it in the source.
    first: usize,
    span: Range<u64>,
    line: u64,
    dense: bool,
    rows: Vec<RowFacts>,
}

/// Counts over all rows.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Records that were checked.
    pub checked: usize,
    /// Records with a finding of each severity, gravest first.
    pub with: [usize; 4],
    /// Runs judged right.
    pub right: usize,
    /// Runs judged wrong.
    pub wrong: usize,
    /// Records that are wrong: those runs, what failed, and answers to be rejected.
    pub faulty: usize,
    /// Figures of the records, and of the forks among them.
    insights: Box<[Insights; 2]>,
}

impl Totals {
    /// Records that are structured answers.
    pub fn typed(&self) -> usize {
        self.insights().kinds.get(RecordKind::Typed as usize).copied().unwrap_or(0)
    }

    /// Figures that charts show: forks are no answers of the run, and counted only where there is nothing else.
    pub fn insights(&self) -> &Insights {
        let [records, forks] = &*self.insights;
        if self.counts_forks() { forks } else { records }
    }

    /// Tells whether the figures are of forks.
    pub fn counts_forks(&self) -> bool {
        let [records, _] = &*self.insights;
        records.records() == 0 && self.has_forks()
    }

    /// Tells whether forks were checked.
    pub fn has_forks(&self) -> bool {
        let [_, forks] = &*self.insights;
        forks.records() > 0
    }

    fn count(&mut self, row: &RowFacts, step: isize) {
        let add = |to: &mut usize, on: bool| *to = if on { to.saturating_add_signed(step) } else { *to };
        add(&mut self.checked, row.has(Flag::Checked));
        add(&mut self.right, row.has(Flag::Right));
        add(&mut self.wrong, row.has(Flag::Wrong));
        add(&mut self.faulty, row.is_wrong());
        let [records, forks] = &mut *self.insights;
        if row.is_fork() { forks } else { records }.count(row, step);
        for (to, &n) in self.with.iter_mut().zip(&row.counts) {
            add(to, n > 0);
        }
    }
}

/// Effect of an event on the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing that shows.
    None,
    /// Rows were added behind all others, or rows say more than before; positions stay.
    Rows,
    /// Rows were added or removed in the middle: positions have moved. Find them again by [`Store::position`].
    Moved,
    /// Something is to be told: the last of [`Store::failures`].
    Failure,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Store {
    sources: Vec<SourceRows>,
    /// Number of rows before each source.
    starts: Vec<usize>,
    len: usize,
    totals: Totals,
    settled: bool,
    /// Files in folders that do not look like JSON.
    pub passed_over: usize,
    /// Links in folders, which are not followed.
    pub links: u64,
    /// Failures to read something, in order, each with its source until that can be read.
    pub failures: Vec<(Option<usize>, Failure)>,
}

impl Store {
    /// Counts the records that were found so far.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether no record was found so far.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the row of a record.
    pub fn row(&self, at: usize) -> Option<&RowFacts> {
        let (source, chunk, n) = self.place(at)?;
        self.sources.get(source)?.chunks.get(chunk)?.rows.get(n)
    }

    /// Returns all rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &RowFacts> {
        self.sources.iter().flat_map(|source| &source.chunks).flat_map(|chunk| &chunk.rows)
    }

    /// Returns all sources, in order.
    pub fn sources(&self) -> &[SourceRows] {
        &self.sources
    }

    /// Finds the number of the source of a record.
    pub fn source_of(&self, at: usize) -> Option<usize> {
        self.place(at).map(|(source, _, _)| source)
    }

    /// Returns the positions of a source's records.
    pub fn positions(&self, source: usize) -> Range<usize> {
        let start = self.starts.get(source).copied().unwrap_or(self.len);
        start..self.starts.get(source + 1).copied().unwrap_or(self.len)
    }

    /// Returns the lasting address of a record: its source and its first byte.
    pub fn address(&self, at: usize) -> Option<(usize, u64)> {
        Some((self.source_of(at)?, self.row(at)?.offset()))
    }

    /// Finds the position of the record that holds a byte of a source.
    pub fn position(&self, source: usize, byte: u64) -> Option<usize> {
        let rows = self.sources.get(source)?;
        let chunk = rows.chunks.get(rows.chunk_at(byte)?)?;
        let n = chunk.rows.partition_point(|row| row.offset() <= byte).checked_sub(1)?;
        (byte < chunk.rows.get(n)?.end().max(chunk.rows.get(n)?.offset() + 1))
            .then_some(self.starts.get(source)? + chunk.first + n)
    }

    /// Collects what another thread needs to read a record.
    pub fn reading(&self, at: usize) -> Option<Reading> {
        let (source, chunk, n) = self.place(at)?;
        let source = self.sources.get(source)?;
        let chunk = source.chunks.get(chunk)?;
        let row = chunk.rows.get(n)?;
        let known_line =
            if chunk.dense { (row.offset(), chunk.line + n as u64) } else { (chunk.span.start, chunk.line) };
        let blob = source.blob.clone()?;
        Some(Reading {
            blob,
            offset: row.offset(),
            len: row.len as usize,
            layout: source.layout,
            documents: source.documents.clone(),
            known_line,
            dataset: source.path().and_then(crate::pipeline::summaries::dataset),
            position: (chunk.first + n) as u64,
        })
    }

    /// Counts over all rows.
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Tells whether everything there is has been found and checked.
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// Measures the progress of the search for records: bytes done and bytes there are.
    pub fn progress(&self) -> (u64, u64) {
        self.sources
            .iter()
            .fold((0, 0), |(done, all), source| (done + source.found_to.min(source.size), all + source.size))
    }

    /// Applies events until all sources that are there are read.
    pub fn settle(&mut self, events: impl IntoIterator<Item = LoadEvent>) {
        for event in events {
            let settled = matches!(event, LoadEvent::Settled);
            self.apply(event);
            if settled {
                break;
            }
        }
    }

    /// Takes in what the background found.
    pub fn apply(&mut self, event: LoadEvent) -> Change {
        match event {
            LoadEvent::Source(input) => {
                self.starts.push(self.len);
                self.sources.push(SourceRows::new(input));
                self.settled = false;
                Change::Rows
            }
            LoadEvent::Opened { source, generation, found, size, changed } => {
                self.settled = false;
                self.failures.retain(|(of, _)| *of != Some(source));
                self.opened(source, generation, found, size, changed)
            }
            LoadEvent::Found { source, generation, part } => {
                self.settled = false;
                self.found(source, generation, part)
            }
            LoadEvent::Checked { source, generation, part } => self.checked(source, generation, part),
            LoadEvent::Read { source, generation, size } => {
                if let Some(source) = current(&mut self.sources, source, generation) {
                    source.size = size;
                    source.found_to = size;
                }
                Change::Rows
            }
            LoadEvent::Duplicates { source, generation, offsets } => self.duplicates(source, generation, &offsets),
            LoadEvent::Gone(source) => {
                if let Some(source) = self.sources.get_mut(source) {
                    source.standing = SourceState::Gone;
                }
                Change::Rows
            }
            LoadEvent::Noted(source, note) => {
                if let Some(source) = self.sources.get_mut(source) {
                    source.note = note;
                }
                Change::Rows
            }
            LoadEvent::PassedOver => {
                self.passed_over += 1;
                Change::None
            }
            LoadEvent::Links(links) => {
                self.links += links;
                Change::None
            }
            LoadEvent::Failed(source, failure) => {
                if let Some(source) = source.and_then(|source| self.sources.get_mut(source)) {
                    source.standing = SourceState::Failed;
                }
                self.failures.push((source, failure));
                Change::Failure
            }
            LoadEvent::Missing(failure) => {
                self.failures.push((None, failure));
                Change::Failure
            }
            LoadEvent::Settled => {
                self.settled = true;
                Change::Rows
            }
        }
    }

    fn place(&self, at: usize) -> Option<(usize, usize, usize)> {
        #[cfg(debug_assertions)]
        visits::note();
        if at >= self.len {
            return None;
        }
        let source = self.starts.partition_point(|&start| start <= at).checked_sub(1)?;
        let n = at - self.starts.get(source)?;
        let chunks = &self.sources.get(source)?.chunks;
        let chunk = chunks.partition_point(|chunk| chunk.first <= n).checked_sub(1)?;
        Some((source, chunk, n - chunks.get(chunk)?.first))
    }

    /// Moves the sources behind this one.
    fn shift(&mut self, source: usize, by: isize) {
        self.len = self.len.saturating_add_signed(by);
        for start in self.starts.iter_mut().skip(source + 1) {
            *start = start.saturating_add_signed(by);
        }
    }

    fn opened(&mut self, at: usize, generation: u32, found: Source, size: u64, changed: bool) -> Change {
        let Some(source) = self.sources.get_mut(at) else { return Change::None };
        let old = source.len();
        for row in source.chunks.iter().flat_map(|chunk| &chunk.rows) {
            self.totals.count(row, -1);
        }
        source.chunks = Vec::new();
        source.skips = Skips::default();
        source.tail = Skips::default();
        (source.generation, source.size, source.found_to) = (generation, size, 0);
        (source.layout, source.documents) = (found.layout, found.documents);
        source.blob = Some(found.blob);
        let was = source.standing;
        source.standing =
            if changed || was == SourceState::Changed { SourceState::Changed } else { SourceState::Sound };
        self.shift(at, -(old as isize));
        if old > 0 { Change::Moved } else { Change::Rows }
    }

    fn found(&mut self, at: usize, generation: u32, part: RowRun) -> Change {
        let totals = &mut self.totals;
        let Some(source) = current(&mut self.sources, at, generation) else { return Change::None };
        // A tail that is found again, longer, takes the place of what it was.
        let mut gone = 0;
        while let Some(chunk) = source.chunks.last_mut()
            && chunk.span.end > part.span.start
        {
            let keep = chunk.rows.partition_point(|row| row.offset() < part.span.start);
            for row in chunk.rows.drain(keep..) {
                totals.count(&row, -1);
                gone += 1;
            }
            chunk.span.end = chunk.span.end.min(part.span.start);
            if chunk.rows.is_empty() {
                source.chunks.pop();
            } else {
                break;
            }
        }
        if part.tail {
            source.tail = part.skips;
        } else {
            source.skips = source.skips.plus(part.skips);
            source.tail = Skips::default();
        }
        source.found_to = source.found_to.max(part.span.end);
        source.size = source.size.max(part.span.end);
        part.rows.iter().for_each(|row| totals.count(row, 1));
        let by = part.rows.len() as isize - gone;
        source.push(part);
        let last = at + 1 >= self.sources.len() || self.positions(at).end == self.len;
        self.shift(at, by);
        if last || by == 0 { Change::Rows } else { Change::Moved }
    }

    fn checked(&mut self, at: usize, generation: u32, part: RowRun) -> Change {
        let totals = &mut self.totals;
        let Some(source) = current(&mut self.sources, at, generation) else { return Change::None };
        let Some(chunk) = source.chunk_at(part.span.start) else { return Change::None };
        let Some(first) = source.chunks.get_mut(chunk) else { return Change::None };
        let from = first.rows.partition_point(|row| row.offset() < part.span.start);
        let to = first.rows.partition_point(|row| row.offset() < part.span.end);
        let by = part.rows.len() as isize - (to - from) as isize;
        let Some(old) = first.rows.get_mut(from..to) else { return Change::None };
        for row in &*old {
            totals.count(row, -1);
        }
        part.rows.iter().for_each(|row| totals.count(row, 1));
        if by == 0 {
            old.copy_from_slice(&part.rows);
        } else {
            first.rows.splice(from..to, part.rows);
            first.dense = false;
            for chunk in source.chunks.iter_mut().skip(chunk + 1) {
                chunk.first = chunk.first.saturating_add_signed(by);
            }
            self.shift(at, by);
        }
        if by == 0 { Change::Rows } else { Change::Moved }
    }

    fn duplicates(&mut self, at: usize, generation: u32, offsets: &[u64]) -> Change {
        let Some(source) = current(&mut self.sources, at, generation) else { return Change::None };
        for &offset in offsets {
            let Some(chunk) = source.chunk_at(offset).and_then(|n| source.chunks.get_mut(n)) else { continue };
            let Ok(n) = chunk.rows.binary_search_by_key(&offset, RowFacts::offset) else { continue };
            if let Some(row) = chunk.rows.get_mut(n).filter(|row| !row.has(Flag::Duplicate)) {
                self.totals.count(row, -1);
                row.set(Flag::Duplicate);
                row.note(RuleId::DuplicateId, RuleId::DuplicateId.severity());
                self.totals.count(row, 1);
            }
        }
        Change::Rows
    }
}

/// Finds a source, unless it was opened again since.
fn current(sources: &mut [SourceRows], source: usize, generation: u32) -> Option<&mut SourceRows> {
    sources.get_mut(source).filter(|source| source.generation == generation)
}

impl SourceRows {
    fn new(input: Input) -> Self {
        Self {
            input,
            standing: SourceState::Sound,
            note: None,
            layout: Layout::Lines(b'\n'),
            size: 0,
            found_to: 0,
            generation: 0,
            blob: None,
            documents: None,
            chunks: Vec::new(),
            skips: Skips::default(),
            tail: Skips::default(),
        }
    }

    /// Tells whether its records are forks of others.
    pub const fn is_forks(&self) -> bool {
        matches!(self.input, Input::Forks(_))
    }

    /// Returns its name on screen.
    pub fn name(&self) -> Shown {
        self.input.name()
    }

    /// Returns its path, where it has one.
    pub fn path(&self) -> Option<&Path> {
        self.input.path()
    }

    /// Returns its bytes, once it is open.
    pub fn blob(&self) -> Option<&Arc<Blob>> {
        self.blob.as_ref()
    }

    /// Counts the records that were found in it so far.
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.first + chunk.rows.len())
    }

    /// Tells whether no record was found in it so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &RowFacts> {
        self.chunks.iter().flat_map(|chunk| &chunk.rows)
    }

    /// Counts the lines that were passed over.
    pub fn skips(&self) -> Skips {
        self.skips.plus(self.tail)
    }

    fn chunk_at(&self, byte: u64) -> Option<usize> {
        let n = self.chunks.partition_point(|chunk| chunk.span.start <= byte).checked_sub(1)?;
        (byte < self.chunks.get(n)?.span.end).then_some(n)
    }

    fn push(&mut self, part: RowRun) {
        if part.rows.is_empty() {
            return;
        }
        let first = self.len();
        if let Some(last) = self.chunks.last_mut()
            && last.rows.len() + part.rows.len() <= FULL
            && last.span.end - last.span.start < BLOCK as u64
            && last.span.end == part.span.start
        {
            last.dense &= part.dense && last.line + last.rows.len() as u64 == part.line;
            last.rows.extend(part.rows);
            last.span.end = part.span.end;
            return;
        }
        if let Some(last) = self.chunks.last_mut() {
            last.rows.shrink_to_fit();
        }
        self.chunks.push(RowChunk { first, span: part.span, line: part.line, dense: part.dense, rows: part.rows });
    }
}

/// Count of rows that were looked up on this thread, for tests. Only debug builds count.
#[cfg(debug_assertions)]
pub mod visits {
    use std::cell::Cell;

    thread_local! { static COUNT: Cell<usize> = const { Cell::new(0) } }

    /// Counts one more row.
    pub fn note() {
        COUNT.set(COUNT.get() + 1);
    }

    /// Returns the count since it was asked last.
    pub fn take() -> usize {
        COUNT.replace(0)
    }
}
