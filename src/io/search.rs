//! Looking through all records on all cores, piece by piece; hits come in batches as they are found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::failure::Failure;
use super::open::Blob;
use super::store::Store;
use crate::domain::row::Row;

/// Records that follow one another are read together up to so many bytes.
const PIECE: u64 = 1 << 20;
/// Of a longer record only so much is looked through.
const MAX_RECORD: u64 = 64 << 20;

/// What is to be looked through: where every record stands, without the store.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pieces: Vec<Piece>,
}

/// Records that are read together.
#[derive(Clone, Debug)]
struct Piece {
    blob: Arc<Blob>,
    start: u64,
    end: u64,
    records: Vec<Place>,
}

/// One record: its position in the store and its bytes.
#[derive(Clone, Copy, Debug)]
struct Place {
    record: u32,
    offset: u64,
    len: u32,
}

impl Plan {
    /// The records of a store from a position on, without those that need not be asked.
    pub fn of(store: &Store, from: usize, wanted: impl Fn(&Row) -> bool) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        for (source, rows) in store.sources().iter().enumerate() {
            let Some(blob) = rows.blob() else { continue };
            let positions = store.positions(source);
            let mut fresh = true;
            for record in positions.start.max(from)..positions.end {
                let Some(row) = store.row(record).filter(|row| wanted(row)) else { continue };
                let place = Place { record: record as u32, offset: row.offset, len: row.len };
                match pieces.last_mut() {
                    Some(last) if !fresh && row.end() - last.start <= PIECE => {
                        last.end = row.end();
                        last.records.push(place);
                    }
                    _ => pieces.push(Piece {
                        blob: blob.clone(),
                        start: row.offset,
                        end: row.end(),
                        records: vec![place],
                    }),
                }
                fresh = false;
            }
        }
        Self { pieces }
    }

    /// Hands over the text of each record with its position, piece by piece on this thread, as long as `go_on` wants
    /// more; what cannot be read is passed over.
    pub fn each(&self, go_on: impl Fn() -> bool, mut record: impl FnMut(u32, &[u8])) {
        let mut block = Vec::new();
        for piece in self.pieces.iter().take_while(|_| go_on()) {
            if piece.read(&mut block).is_ok() {
                piece.texts(&block).for_each(|(at, text)| record(at, text));
            }
        }
    }
}

impl Piece {
    fn read(&self, block: &mut Vec<u8>) -> Result<(), Failure> {
        let want = (self.end - self.start).min(MAX_RECORD);
        self.blob.read(self.start, want as usize, block)
    }

    fn texts<'b>(&self, block: &'b [u8]) -> impl Iterator<Item = (u32, &'b [u8])> {
        self.records.iter().filter_map(move |place| {
            let start = (place.offset - self.start) as usize;
            let end = start.saturating_add(place.len as usize).min(block.len());
            Some((place.record, block.get(start..end)?))
        })
    }
}

/// What a search reports.
#[derive(Debug)]
pub enum Found {
    /// Records that fit, ascending within one batch.
    Some(Vec<u32>),
    /// Everything was looked through.
    All,
    /// Something could not be read; the search goes on with the rest.
    Failed(Failure),
}

/// A search under way. Dropping it ends it.
#[derive(Debug)]
pub struct Running(Arc<AtomicBool>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

struct Shared<F, R> {
    pieces: Vec<Piece>,
    next: AtomicUsize,
    done: AtomicUsize,
    stop: Arc<AtomicBool>,
    fits: F,
    report: R,
}

/// Starts to look for the records that fit. `report` is called on background threads; `false` ends the search.
pub fn start(
    plan: Plan,
    fits: impl Fn(&[u8]) -> bool + Clone + Send + Sync + 'static,
    report: impl Fn(Found) -> bool + Send + Sync + 'static,
) -> Running {
    let stop = Arc::new(AtomicBool::new(false));
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, plan.pieces.len().max(1));
    let counts = (AtomicUsize::new(0), AtomicUsize::new(0));
    let shared =
        Arc::new(Shared { pieces: plan.pieces, next: counts.0, done: counts.1, stop: stop.clone(), fits, report });
    for _ in 0..threads {
        let shared = shared.clone();
        // Without a thread the others do its share; the spawning thread must not look through gigabytes itself.
        let _ = std::thread::Builder::new().name("search".to_owned()).spawn(move || {
            // Each thread its own copy: copies of a regex share nothing that threads would wait for.
            let fits = shared.fits.clone();
            look_through(&shared, &fits);
        });
    }
    Running(stop)
}

fn look_through<F, R: Fn(Found) -> bool>(shared: &Shared<F, R>, fits: &impl Fn(&[u8]) -> bool) {
    let mut block = Vec::new();
    if shared.pieces.is_empty() {
        (shared.report)(Found::All);
    }
    while !shared.stop.load(Ordering::Acquire) {
        let Some(piece) = shared.pieces.get(shared.next.fetch_add(1, Ordering::Relaxed)) else { return };
        let result = hits(piece, fits, &mut block);
        let mut listening = match result {
            Ok(found) => found.is_empty() || (shared.report)(Found::Some(found)),
            Err(failure) => (shared.report)(Found::Failed(failure)),
        };
        if shared.done.fetch_add(1, Ordering::AcqRel) + 1 == shared.pieces.len() {
            listening &= (shared.report)(Found::All);
        }
        if !listening {
            shared.stop.store(true, Ordering::Release);
        }
    }
}

fn hits(piece: &Piece, fits: &impl Fn(&[u8]) -> bool, block: &mut Vec<u8>) -> Result<Vec<u32>, Failure> {
    piece.read(block)?;
    let found = piece.texts(block).filter(|(_, text)| fits(text)).map(|(record, _)| record).collect();
    Ok(found)
}
