//! The records of a store as they are now, for another thread to read them all as summaries.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::pipeline::examine::case_of_row;
use crate::pipeline::line::on_threads;
use crate::pipeline::side_data::SideData;
use crate::pipeline::store::{SourceRows, Store};
use crate::pipeline::summaries::dataset;
use crate::source::open::Blob;
use stepscope_base::guard::{guarded, lock};
use stepscope_base::json::{MAX_TEXT, Tape};
use stepscope_judge::row::RowFacts;
use stepscope_review::event::{ItemRef, Text};
use stepscope_review::summary::Summary;

/// Threads take so many records at a time.
const PIECE: usize = 64;

/// The lasting address of a record: its source and its first byte.
pub type Address = (usize, u64);

/// Returns the address of a record of a snapshot.
pub(crate) fn address(summary: &Summary) -> Address {
    (summary.origin.source, summary.origin.offset)
}

/// Returns the file of a source; the name of what comes with the program.
fn place(source: &SourceRows) -> PathBuf {
    source.path().map_or_else(|| source.name().as_str().into(), |path| path.canonicalize().unwrap_or(path.into()))
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    sources: Vec<SnapshotSource>,
}

#[derive(Clone, Debug)]
struct SnapshotSource {
    number: usize,
    /// Its file; of what comes with the program its name.
    place: PathBuf,
    dataset: Option<Text>,
    blob: Arc<Blob>,
    rows: Vec<RowFacts>,
    is_forks: bool,
}

impl Snapshot {
    /// Takes everything that was found so far but forks, which are no answers of the run.
    pub fn of(store: &Store) -> Self {
        let mut snapshot = Self::with_forks(store);
        snapshot.sources.retain(|source| !source.is_forks);
        snapshot
    }

    /// Takes everything that was found so far: forks are reviewed like records.
    pub fn with_forks(store: &Store) -> Self {
        let source = |(number, source): (usize, &SourceRows)| {
            let blob = source.blob()?.clone();
            let dataset = source.path().and_then(dataset);
            let (rows, is_forks) = (source.rows().copied().collect(), source.is_forks());
            let place = place(source);
            Some(SnapshotSource { number, place, dataset, blob, rows, is_forks })
        };
        Self { sources: store.sources().iter().enumerate().filter_map(source).collect() }
    }

    /// Leaves the records of another store's files out: they are what these are compared with. Where nothing would be
    /// left, all stay: somebody compares a file with itself.
    #[must_use]
    pub fn without(mut self, other: &Store) -> Self {
        let theirs: Vec<PathBuf> = other.sources().iter().map(place).collect();
        if self.sources.iter().any(|source| !theirs.contains(&source.place)) {
            self.sources.retain(|source| !theirs.contains(&source.place));
        }
        self
    }

    /// Summarises every record, in their order; with `triage` the rules look at each, and where to fix it is judged in
    /// addition to what is given. Content and question are taken down of the items that `is_asked` takes. What cannot be
    /// read any more is left out: its file is about to be read again. `percent` is told how much is done.
    pub fn summaries(
        &self,
        threads: usize,
        triage: Option<&Arc<SideData>>,
        is_asked: impl Fn(&ItemRef) -> bool + Sync,
        percent: impl Fn(usize) + Sync,
    ) -> Vec<Summary> {
        let pieces: Vec<(&SnapshotSource, usize)> = self
            .sources
            .iter()
            .flat_map(|source| (0..source.rows.len()).step_by(PIECE).map(move |first| (source, first)))
            .collect();
        let (next, finished, done) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
        let share = |pieces_done: usize| 100 * pieces_done / pieces.len().max(1);
        let work = || {
            let mut memory = Default::default();
            while let Some((source, first)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                let rows = source.rows.iter().enumerate().skip(*first).take(PIECE);
                let summaries: Vec<Summary> =
                    rows.filter_map(|(at, row)| summary(source, at, row, &mut memory, triage, &is_asked)).collect();
                lock(&done).extend(summaries);
                let before = finished.fetch_add(1, Ordering::Relaxed);
                if share(before) < share(before + 1) {
                    percent(share(before + 1));
                }
            }
        };
        on_threads(threads.min(pieces.len()), work);
        let mut summaries = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        summaries.sort_by_cached_key(address);
        summaries
    }
}

/// Reads a record into memory that is used again.
fn summary(
    source: &SnapshotSource,
    at: usize,
    row: &RowFacts,
    (text, tape): &mut (Vec<u8>, Tape),
    triage: Option<&Arc<SideData>>,
    is_asked: impl Fn(&ItemRef) -> bool,
) -> Option<Summary> {
    source.blob.read(row.offset(), (row.len as usize).min(MAX_TEXT), text).ok()?;
    let dataset = source.dataset.clone();
    guarded(|| {
        let place = RowFacts::unchecked(row.offset(), row.len.into());
        let around = triage.cloned().unwrap_or_default().around();
        let case = case_of_row(&text[..], std::mem::take(tape), &place, Arc::new(around));
        let view = case.view();
        let findings = if triage.is_some() { &view.findings()[..] } else { &[] };
        let mut summary = Summary::of_asked(&view, findings, dataset, at as u64, &is_asked);
        (summary.origin.source, summary.origin.offset) = (source.number, row.offset());
        // What is to be fixed in the run is not where somebody tried something else.
        if triage.is_some() && !source.is_forks {
            summary.take_fix(&view);
            summary.take_signal(&view);
        }
        if is_asked(&summary.item) {
            summary.take_long_question(&view);
        }
        drop(view);
        *tape = case.into_tape();
        summary
    })
}
