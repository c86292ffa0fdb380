//! The log service: one thread appends every line that a session keeps, each to its log, in the order in which they are
//! given, and says of each whether it is on the disk. What a file holds is its `Content`: reviews, forks, recordings.
//!
//! A recording is appended by the call that makes it (`append_line`): how that ends says whether it could be recorded.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::failure::Failure;
use crate::source::beneath::Place;
use stepscope_base::guard::lock;
use stepscope_base::shown;
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

/// The thread that appends. Dropping this lets it finish what it was given; [`Writer::finish`] waits for that.
#[derive(Debug)]
pub struct Writer {
    orders: Sender<Append>,
    /// Closed by the thread when it ends.
    ended: Receiver<()>,
    /// Failures that were not reported.
    lost: Arc<Mutex<Vec<Shown>>>,
}

impl Writer {
    /// Starts the thread. `tell` is called by it; `false`: the receiver is gone.
    pub fn start(tell: impl Fn(LogEvent) -> bool + Send + 'static) -> Self {
        let (orders, taken) = channel::<Append>();
        let (alive, ended) = channel();
        let lost = Arc::<Mutex<Vec<Shown>>>::default();
        let unheard = lost.clone();
        std::thread::spawn(move || {
            let mut files = Files::default();
            while let Ok(first) = taken.recv() {
                let waiting: Vec<Append> = std::iter::once(first).chain(taken.try_iter().take(TOGETHER - 1)).collect();
                for lines in waiting.chunk_by(Append::goes_with) {
                    let mut result = files.append(lines);
                    for line in lines {
                        let sentence = result.as_ref().err().map(|failure| shown!("NOT SAVED: {failure}"));
                        if !tell(LogEvent { id: line.id, result: result.clone() }) {
                            lock(&unheard).extend(sentence);
                        }
                        // What was met is said once.
                        result = result.map(|_| Appended::default());
                    }
                }
            }
            drop(alive);
        });
        Self { orders, ended, lost }
    }

    /// Gives a line to the thread; never waits.
    pub fn append(&self, append: Append) {
        // The thread ends only when its orders do.
        let _ = self.orders.send(append);
    }

    /// Waits until everything that was given is saved or failed, and returns sentences on what was not saved and not
    /// reported.
    pub fn finish(self, patience: Duration) -> Vec<Shown> {
        drop(self.orders);
        if matches!(self.ended.recv_timeout(patience), Err(RecvTimeoutError::Timeout)) {
            return vec![Shown::own("NOT SAVED: the disk did not respond in time; the last lines may be missing")];
        }
        std::mem::take(&mut *lock(&self.lost))
    }
}

/// The logs that were written to. One that cannot be opened is tried again by its next line: a folder may come back.
#[derive(Default)]
struct Files(Vec<(Place, Appender)>);

impl Files {
    /// Appends lines for one log, all or none.
    fn append(&mut self, lines: &[Append]) -> Result<Appended, Failure> {
        let Some(Append { place, content, .. }) = lines.first() else { return Ok(Appended::default()) };
        let line = lines.iter().flat_map(|append| [&append.line, b"\n".as_slice()]).collect::<Vec<_>>().concat();
        if let Some((_, file)) = self.0.iter_mut().find(|(other, _)| other == place) {
            return file.append(&line);
        }
        let mut file = Appender::open(place, *content)?;
        let met = file.append(&line);
        self.0.push((place.clone(), file));
        met
    }
}
