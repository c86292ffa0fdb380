//! The log service: one thread appends every line that a session keeps, each to its log, in the order in which they are
//! given, and says of each whether it is on the disk. What a file holds is its `Content`: reviews, forks, recordings.
//!
//! A recording is appended by the call that makes it (`append_line`): how that ends says whether it could be recorded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::failure::Failure;
use crate::source::beneath::Place;
use stepscope_base::guard::lock;
use stepscope_base::text::Shown;

mod append;
/// Files of forks.
pub mod forks;
/// The review log: appended to safely, read as far as it goes.
pub mod journal;

pub use append::{Appended, Content, append_line, now};
pub(crate) use append::{Appender, SAVE, lock_file};

/// Number of a line of this session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LineId(pub u64);

/// A line on its way to its log.
#[derive(Clone, Debug)]
pub struct Append {
    /// Comes back with what became of it.
    pub id: LineId,
    /// The log's file.
    pub place: Place,
    /// Content of the log.
    pub content: Content,
    /// The line, without its end.
    pub line: Vec<u8>,
}

/// Number of waiting lines that are written with one wait for the disk, if each is [`SHORT`].
const TOGETHER: usize = 128;
const SHORT: usize = 4 << 10;

impl Append {
    fn goes_with(&self, next: &Self) -> bool {
        self.place == next.place && self.line.len().max(next.line.len()) <= SHORT
    }

    /// Appends it now; waits for the disk.
    pub fn write(&self) -> LogEvent {
        LogEvent { id: self.id, result: append_line(&self.place, self.content, &self.line) }
    }
}

/// Result of a line.
#[derive(Debug)]
pub struct LogEvent {
    /// The line.
    pub id: LineId,
    /// Success once it is on the disk, or the reason why it is not. Given again as it is, an event or fork counts once.
    pub result: Result<Appended, Failure>,
}

/// The thread that appends. Dropping this lets it finish what it was given; [`Writer::close`] tells what became of that.
#[derive(Debug)]
pub struct Writer {
    orders: Sender<Append>,
    /// Closed by the thread when it ends.
    ended: Receiver<()>,
    standing: Arc<WriterState>,
}

/// State of the lines that the thread was given.
#[derive(Debug, Default)]
struct WriterState {
    /// The lines that are not known to be on the disk, where they go, and why those are not that were tried.
    unsaved: Mutex<BTreeMap<LineId, (Place, Option<Failure>)>>,
    /// Another program holds the lock of the file that is written to.
    is_held: Arc<AtomicBool>,
}

impl WriterState {
    fn tried(&self, id: LineId, failure: Option<&Failure>) {
        let mut unsaved = lock(&self.unsaved);
        match failure {
            None => drop(unsaved.remove(&id)),
            Some(failure) => unsaved.get_mut(&id).into_iter().for_each(|(_, why)| *why = Some(failure.clone())),
        }
    }
}

impl Writer {
    /// Starts the thread. `tell` is called by it; `false`: the receiver is gone.
    pub fn start(tell: impl Fn(LogEvent) -> bool + Send + 'static) -> std::io::Result<Self> {
        let (orders, taken) = channel::<Append>();
        let (alive, ended) = channel();
        let standing = Arc::<WriterState>::default();
        let known = standing.clone();
        let write = move || {
            let mut files = Files { open: Vec::new(), is_held: known.is_held.clone() };
            while let Ok(first) = taken.recv() {
                let waiting: Vec<Append> = std::iter::once(first).chain(taken.try_iter().take(TOGETHER - 1)).collect();
                for lines in waiting.chunk_by(Append::goes_with) {
                    let mut result = files.append(lines);
                    for line in lines {
                        known.tried(line.id, result.as_ref().err());
                        // If the receiver is gone, `unsaved()` still reports it.
                        let _ = tell(LogEvent { id: line.id, result: result.clone() });
                        // What was met is said once.
                        result = result.map(|_| Appended::default());
                    }
                }
            }
            drop(alive);
        };
        std::thread::Builder::new().name("log".to_owned()).spawn(write)?;
        Ok(Self { orders, ended, standing })
    }

    /// Gives a line to the thread; never waits.
    pub fn append(&self, append: Append) {
        lock(&self.standing.unsaved).insert(append.id, (append.place.clone(), None));
        // The thread ends only when its orders do.
        let _ = self.orders.send(append);
    }

    /// Gives nothing more.
    pub fn close(self) -> Closed {
        Closed { ended: self.ended, standing: self.standing }
    }
}

/// A writer that finishes what it was given.
#[derive(Debug)]
pub struct Closed {
    ended: Receiver<()>,
    standing: Arc<WriterState>,
}

impl Closed {
    /// Waits until everything that was given is saved or failed, and tells whether that is so.
    pub fn wait(&self, patience: Duration) -> bool {
        !matches!(self.ended.recv_timeout(patience), Err(RecvTimeoutError::Timeout))
    }

    /// Tells whether it waits for another program, which may hold the file for as long as it likes.
    pub fn is_held(&self) -> bool {
        self.standing.is_held.load(Ordering::Acquire)
    }

    /// The lines that are not known to be on the disk, and why.
    pub fn unsaved(&self) -> Vec<(LineId, Failure)> {
        let source = if self.is_held() { "another program holds its lock" } else { "the disk did not respond in time" };
        let why = |place: &Place| Failure::own(SAVE, &Shown::path(place.path()), source);
        let unsaved = lock(&self.standing.unsaved);
        unsaved.iter().map(|(id, (place, tried))| (*id, tried.clone().unwrap_or_else(|| why(place)))).collect()
    }
}

/// The logs that were written to. One that cannot be opened is tried again by its next line: a folder may come back.
struct Files {
    open: Vec<(Place, Appender)>,
    /// Told whether a lock is waited for.
    is_held: Arc<AtomicBool>,
}

impl Files {
    /// Appends lines for one log, all or none.
    fn append(&mut self, lines: &[Append]) -> Result<Appended, Failure> {
        let Some(Append { place, content, .. }) = lines.first() else { return Ok(Appended::default()) };
        let line = lines.iter().flat_map(|append| [&append.line, b"\n".as_slice()]).collect::<Vec<_>>().concat();
        if let Some((_, file)) = self.open.iter_mut().find(|(other, _)| other == place) {
            return file.append(&line);
        }
        let mut file = Appender::open(place, *content)?.telling(&self.is_held);
        let met = file.append(&line);
        self.open.push((place.clone(), file));
        met
    }
}
