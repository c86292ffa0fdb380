//! The journal of reviews on disk: appended to by one thread, each event safe before anybody says so. An event that had
//! to be appended twice has the same id both times. What could not be saved comes back to whoever gave it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

pub use crate::append::Met;
use crate::append::{self, Appender, Content};
use crate::beneath::Place;
use crate::failure::Failure;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_core::review::event::Event;
use stepscope_core::review::line::{MAX_LINE, looks_like_journal, write};

mod contents;

pub use contents::{Contents, Follow, Report, read_all, read_lines};

/// What a journal holds.
pub(crate) const REVIEWS: Content = Content {
    what: "reviews",
    suffix: ".reviews.jsonl",
    option: "--reviews",
    is_like: looks_like_journal,
    durable: true,
};

/// The journal of a record file: beside it, where it must be no link.
pub fn beside(records: &Path) -> Place {
    REVIEWS.beside(records)
}

/// The journal of a record file, if there is one. A link is none of ours; who opens it says so.
pub fn found_beside(records: &Path) -> Option<Place> {
    Some(beside(records)).filter(|journal| std::fs::symlink_metadata(journal.path()).is_ok())
}

/// Journals that a person named: each may be a link.
pub fn named(paths: &[PathBuf]) -> Vec<Place> {
    paths.iter().map(Place::from).collect()
}

/// One event on its way to the disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);

/// What became of an event.
#[derive(Debug)]
pub enum Told {
    /// It is safe.
    Saved {
        /// Which.
        ticket: Ticket,
        /// The event, with its id.
        event: Box<Event>,
        /// What else was met on the way.
        met: Met,
    },
    /// It is not saved. Given again as it is, it keeps its id and counts once, whatever reached the disk.
    Failed {
        /// Which.
        ticket: Ticket,
        /// The event, to be kept and offered again.
        event: Box<Event>,
        /// Why.
        failure: Failure,
    },
}

/// A journal that events can be given to. Dropping it lets the thread finish what it was given; [`Journal::close`]
/// waits for that.
#[derive(Debug)]
pub struct Journal {
    orders: Sender<(Ticket, Box<Event>)>,
    /// Closed by the thread when it ends.
    ended: Receiver<()>,
    next: u64,
}

impl Journal {
    /// Looks whether the journal can be written, and starts its thread. The file itself is made by the first event:
    /// looking at records creates nothing. `tell` is called by the thread.
    pub fn open(place: impl Into<Place>, mut tell: impl FnMut(Told) + Send + 'static) -> Result<Self, Failure> {
        let place = place.into();
        let path = Shown::path(place.path());
        let mut appender = Appender::open(place, REVIEWS)?;
        let (orders, taken) = channel::<(Ticket, Box<Event>)>();
        let (alive, ended) = channel();
        let failed = path.clone();
        let work = move || {
            work(&taken, &mut appender, &path, &mut tell);
            drop(alive);
        };
        std::thread::Builder::new().name("journal".into()).spawn(work).map_err(|error| Failure {
            what: append::SAVE,
            path: failed,
            source: Shown::error(&error),
        })?;
        Ok(Self { orders, ended, next: 0 })
    }

    /// Gives an event to the thread. It gets its id and time here, unless it has them already.
    pub fn append(&mut self, mut event: Event) -> Ticket {
        stamp(&mut event);
        let ticket = Ticket(self.next);
        self.next += 1;
        // The thread ends only when this journal does.
        let _ = self.orders.send((ticket, Box::new(event)));
        ticket
    }

    /// Waits until everything that was given is saved or failed; `false`: that took longer.
    pub fn close(self, patience: Duration) -> bool {
        drop(self.orders);
        matches!(self.ended.recv_timeout(patience), Err(RecvTimeoutError::Disconnected))
    }
}

/// Gives an event its id, time and version where it has none.
pub fn stamp(event: &mut Event) {
    if event.event_id.is_empty() {
        event.event_id = Untrusted::from(uuid::Uuid::now_v7().to_string());
    }
    event.times.decided.get_or_insert_with(now);
    if event.tool_version.is_empty() {
        event.tool_version = env!("CARGO_PKG_VERSION").into();
    }
}

/// The time, RFC 3339 in UTC, to the millisecond.
pub fn now() -> Untrusted<'static> {
    Untrusted::from(append::now())
}

fn work(orders: &Receiver<(Ticket, Box<Event>)>, appender: &mut Appender, path: &Shown, tell: &mut impl FnMut(Told)) {
    for (ticket, event) in orders {
        let mut line = Vec::new();
        write(&event, &mut line);
        let done = if line.len() > MAX_LINE {
            Err(Failure::own(append::SAVE, path, "the note or correction is too long"))
        } else {
            appender.append(&line)
        };
        tell(match done {
            Ok(met) => Told::Saved { ticket, event, met },
            Err(failure) => Told::Failed { ticket, event, failure },
        });
    }
}

#[cfg(test)]
mod tests;
