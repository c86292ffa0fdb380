//! Looking through all records on all cores, piece by piece; hits come in batches, in the order of the plan, whichever
//! thread is faster.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::failure::Failure;
use crate::pipeline::store::Store;
use crate::source::open::Blob;
use stepscope_base::canonical::sha256;
use stepscope_base::guard::{guarded, lock};
use stepscope_judge::hide::Hide;
use stepscope_judge::row::RowFacts;

/// Records that follow one another are read together up to so many bytes.
const PIECE: u64 = 1 << 20;
/// Number of bytes of a longer record that are looked through.
const MAX_RECORD: u64 = 64 << 20;

/// Records to be searched, with their places, without the store.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pieces: Vec<Batch>,
}

/// Records that are read together.
#[derive(Clone, Debug)]
struct Batch {
    blob: Arc<Blob>,
    start: u64,
    end: u64,
    records: Vec<RecordSpan>,
}

/// One record: its position in the store and its bytes.
#[derive(Clone, Copy, Debug)]
struct RecordSpan {
    record: u32,
    offset: u64,
    len: u32,
    /// Part of it that is not to be found.
    hide: Hide,
}

impl RecordSpan {
    fn of(record: usize, row: &RowFacts) -> Self {
        Self { record: record as u32, offset: row.offset(), len: row.len, hide: Hide::default() }
    }
}

impl Plan {
    /// Plans the records of a store from a position on, without those that need not be asked.
    pub fn of(store: &Store, from: usize, wanted: impl Fn(usize, &RowFacts) -> bool) -> Self {
        let sources = (0..store.sources().len()).map(|source| (source, store.positions(source)));
        let records = sources.flat_map(|(source, all)| (all.start.max(from)..all.end).map(move |at| (source, at)));
        let wanted = |(source, at)| Some((source, at, store.row(at).filter(|row| wanted(at, row))?));
        Self::grouped(store, records.filter_map(wanted))
    }

    /// Plans these records of a store, in this order.
    pub fn in_order(store: &Store, records: impl Iterator<Item = usize>) -> Self {
        Self::grouped(store, records.filter_map(|at| Some((store.source_of(at)?, at, store.row(at)?))))
    }

    /// Records with their source and row; those that follow one another are read together.
    fn grouped<'s>(store: &Store, records: impl Iterator<Item = (usize, usize, &'s RowFacts)>) -> Self {
        let mut pieces: Vec<(usize, Batch)> = Vec::new();
        for (source, record, row) in records {
            let place = RecordSpan::of(record, row);
            match pieces.last_mut() {
                Some((of, last)) if *of == source && row.offset() >= last.end && row.end() - last.start <= PIECE => {
                    last.end = row.end();
                    last.records.push(place);
                }
                _ => {
                    let Some(blob) = store.sources().get(source).and_then(|rows| rows.blob()) else { continue };
                    let (start, end) = (row.offset(), row.end());
                    pieces.push((source, Batch { blob: blob.clone(), start, end, records: vec![place] }));
                }
            }
        }
        Self { pieces: pieces.into_iter().map(|(_, piece)| piece).collect() }
    }

    /// Hides this of each record.
    #[must_use]
    pub fn hiding(mut self, hide: impl Fn(usize) -> Hide) -> Self {
        for place in self.pieces.iter_mut().flat_map(|piece| &mut piece.records) {
            place.hide = hide(place.record as usize);
        }
        self
    }

    /// Hands over the text of each record with its position, piece by piece on this thread, as long as `go_on` wants
    /// more; what cannot be read is passed over.
    pub fn each(&self, go_on: impl Fn() -> bool, mut record: impl FnMut(u32, &[u8])) {
        let mut block = Vec::new();
        for piece in self.pieces.iter().take_while(|_| go_on()) {
            if piece.read(&mut block).is_ok() {
                piece.texts(&block).for_each(|(at, text)| record(at, &text));
            }
        }
    }

    /// Finds the records whose text has one of these SHA-256 hashes.
    pub fn find(&self, wanted: &BTreeSet<String>, go_on: impl Fn() -> bool) -> Vec<(u32, String)> {
        let mut found = Vec::new();
        self.each(go_on, |record, text| {
            found.extend(Some(sha256(text)).filter(|hash| wanted.contains(hash)).map(|hash| (record, hash)));
        });
        found
    }
}

impl Batch {
    fn read(&self, block: &mut Vec<u8>) -> Result<(), Failure> {
        let want = (self.end - self.start).min(MAX_RECORD);
        self.blob.read(self.start, want as usize, block)
    }

    fn texts<'b>(&self, block: &'b [u8]) -> impl Iterator<Item = (u32, Cow<'b, [u8]>)> {
        self.records.iter().filter_map(move |place| {
            let start = (place.offset - self.start) as usize;
            let end = start.saturating_add(place.len as usize).min(block.len());
            // What cannot be hidden is not looked at.
            let text = block.get(start..end)?;
            Some((place.record, guarded(|| place.hide.mask(text))?))
        })
    }
}

/// Report of a search.
#[derive(Debug)]
pub enum SearchEvent<H> {
    /// Records that fit, each with what was found in it. Everything before them in the plan was looked through.
    Some(Vec<(u32, H)>),
    /// Everything was looked through.
    All,
    /// Something could not be read; the search continues with the rest.
    Failed(Failure),
}

/// A search under way. Dropping it ends it.
#[derive(Debug)]
pub struct Search(Arc<AtomicBool>);

impl Drop for Search {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

struct SearchState<F, R, H> {
    pieces: Vec<Batch>,
    next: AtomicUsize,
    stop: Arc<AtomicBool>,
    fits: F,
    report: R,
    finished: Mutex<Finished<H>>,
}

/// Finished pieces that wait for those before them.
struct Finished<H> {
    next: usize,
    done: BTreeMap<usize, Result<Vec<(u32, H)>, Failure>>,
}

/// Starts to look for the records that fit; `fits` says what it found. `report` is called on background threads, in the
/// order of the plan; `false` ends the search.
pub fn start<H: Send + 'static>(
    plan: Plan,
    fits: impl Fn(&[u8]) -> Option<H> + Clone + Send + Sync + 'static,
    report: impl Fn(SearchEvent<H>) -> bool + Send + Sync + 'static,
) -> std::io::Result<Search> {
    let stop = Arc::new(AtomicBool::new(false));
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, plan.pieces.len().max(1));
    let finished = Mutex::new(Finished { next: 0, done: BTreeMap::new() });
    let next = AtomicUsize::new(0);
    let shared = Arc::new(SearchState { pieces: plan.pieces, next, stop: stop.clone(), fits, report, finished });
    for n in 0..threads {
        let own = shared.clone();
        // Without a thread the others do its share; the spawning thread must not look through gigabytes itself.
        let started = std::thread::Builder::new().name("search".to_owned()).spawn(move || {
            // Each thread its own copy: copies of a regex share nothing that threads would wait for.
            let fits = own.fits.clone();
            look_through(&own, &fits);
        });
        match started {
            Err(error) if n == 0 => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(Search(stop))
}

fn look_through<F, R: Fn(SearchEvent<H>) -> bool, H>(
    shared: &SearchState<F, R, H>,
    fits: &impl Fn(&[u8]) -> Option<H>,
) {
    let mut block = Vec::new();
    if shared.pieces.is_empty() {
        (shared.report)(SearchEvent::All);
    }
    while !shared.stop.load(Ordering::Acquire) {
        let n = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(piece) = shared.pieces.get(n) else { return };
        let result = hits(piece, fits, &mut block);
        if !shared.deliver(n, result) {
            shared.stop.store(true, Ordering::Release);
        }
    }
}

impl<F, R: Fn(SearchEvent<H>) -> bool, H> SearchState<F, R, H> {
    /// Reports this piece and those that waited for it; `false`: the receiver is gone.
    fn deliver(&self, n: usize, result: Result<Vec<(u32, H)>, Failure>) -> bool {
        let mut finished = lock(&self.finished);
        finished.done.insert(n, result);
        let mut listening = true;
        loop {
            let next = finished.next;
            let Some(result) = finished.done.remove(&next) else { return listening };
            finished.next += 1;
            listening &= match result {
                Ok(found) => found.is_empty() || (self.report)(SearchEvent::Some(found)),
                Err(failure) => (self.report)(SearchEvent::Failed(failure)),
            };
            if finished.next == self.pieces.len() {
                listening &= (self.report)(SearchEvent::All);
            }
        }
    }
}

fn hits<H>(piece: &Batch, fits: &impl Fn(&[u8]) -> Option<H>, block: &mut Vec<u8>) -> Result<Vec<(u32, H)>, Failure> {
    piece.read(block)?;
    Ok(piece.texts(block).filter_map(|(record, text)| Some((record, fits(&text)?))).collect())
}
