//! The journal of reviews on disk: appended to by one thread, a line at a time, each safe before anybody says so.
//!
//! An append takes the kernel's lock, seals a line that a stopped writer left without an end, writes the whole line at
//! the end of the file, waits until it is on the disk, and only then tells. Nothing that stands there is ever changed.
//! A failed `fsync` says nothing of later ones on the same descriptor: the file is opened anew and the same event, with
//! the same id, appended again. What could not be saved comes back to whoever gave it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::fs::{Access, OFlags, access};

use super::failure::{Failure, reason};
use crate::domain::review::event::Event;
use crate::domain::review::line::{MAX_LINE, looks_like_journal, write};
use crate::domain::text::{Shown, Untrusted};

mod contents;

pub use contents::{Contents, Follow, Report, read_all, read_lines};

/// What is added to the name of a record file.
const SUFFIX: &str = ".reviews.jsonl";
/// What was tried when it failed.
const SAVE: &str = "cannot save to";
/// So much of a file is looked at before anything is written into it.
const HEAD: usize = 1 << 20;
/// How often an append is tried: a second time on a fresh descriptor.
const ATTEMPTS: usize = 2;
/// The system's names for locks that a file system does not have.
const NO_LOCKS: [rustix::io::Errno; 3] =
    [rustix::io::Errno::NOLCK, rustix::io::Errno::OPNOTSUPP, rustix::io::Errno::NOSYS];

/// The journal of a record file: beside it.
pub fn beside(records: &Path) -> PathBuf {
    // A folder may be named with a slash behind it.
    let mut name = records.components().as_path().as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
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

/// What an append met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Met {
    /// The last line had no end, because its writer was stopped: it was given one and stays.
    pub sealed: bool,
    /// The file was removed or replaced meanwhile, and a new one was begun.
    pub anew: bool,
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
    pub fn open(path: &Path, mut tell: impl FnMut(Told) + Send + 'static) -> Result<Self, Failure> {
        let fail = |error: &io::Error| Failure { what: SAVE, path: Shown::path(path), source: why(error) };
        look(path).map_err(|error| fail(&error))?;
        let (orders, taken) = channel::<(Ticket, Box<Event>)>();
        let (alive, ended) = channel();
        let mut writer = Writer::new(path);
        let work = move || {
            work(&taken, &mut writer, &mut tell);
            drop(alive);
        };
        std::thread::Builder::new().name("journal".into()).spawn(work).map_err(|error| fail(&error))?;
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
    Untrusted::from(format!("{:.3}", jiff::Timestamp::now()))
}

fn work(orders: &Receiver<(Ticket, Box<Event>)>, writer: &mut Writer, tell: &mut impl FnMut(Told)) {
    for (ticket, event) in orders {
        let mut line = Vec::new();
        write(&event, &mut line);
        let done = if line.len() > MAX_LINE {
            Err(io::Error::new(ErrorKind::FileTooLarge, "the note or correction is too long"))
        } else {
            writer.append(&line)
        };
        tell(match done {
            Ok(met) => Told::Saved { ticket, event, met },
            Err(error) => {
                let failure = Failure { what: SAVE, path: Shown::path(&writer.path), source: why(&error) };
                Told::Failed { ticket, event, failure }
            }
        });
    }
}

/// The one hand that writes.
#[derive(Debug)]
struct Writer {
    path: PathBuf,
    file: Option<File>,
    /// A file was there once.
    begun: bool,
}

impl Writer {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, begun: false }
    }

    fn append(&mut self, line: &[u8]) -> io::Result<Met> {
        let mut met = Met::default();
        for attempt in 1.. {
            let Err(error) = self.attempt(line, attempt > 1, &mut met) else { break };
            // Nothing more is believed of this descriptor; closing it gives the lock back too.
            self.file = None;
            if attempt >= ATTEMPTS || is_settled(&error) {
                return Err(error);
            }
        }
        Ok(met)
    }

    /// `again`: it was tried before, and nobody knows what of it reached the disk.
    fn attempt(&mut self, line: &[u8], again: bool, met: &mut Met) -> io::Result<()> {
        let file = self.locked(met)?;
        let len = file.metadata()?.len();
        let mut last = [b'\n'];
        if len > 0 {
            file.read_exact_at(&mut last, len - 1)?;
        }
        let seal = last != [b'\n'];
        met.sealed |= seal && !again;
        let mut file = file;
        if seal || again {
            file.write_all(&[b"\n", line].concat())?;
        } else {
            file.write_all(line)?;
        }
        file.sync_data()?;
        file.unlock()
    }

    /// The file that the path leads to, locked.
    fn locked(&mut self, met: &mut Met) -> io::Result<&File> {
        loop {
            let file = match self.file.take() {
                Some(file) => file,
                None => self.open(met)?,
            };
            lock(&file)?;
            // While we waited, or since the last event, somebody may have moved it away: what is appended to a file
            // without a name is lost.
            if leads_to(&self.path, &file) {
                return Ok(self.file.insert(file));
            }
        }
    }

    fn open(&mut self, met: &mut Met) -> io::Result<File> {
        look(&self.path)?;
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).append(true).mode(0o600).custom_flags(flags.bits().cast_signed());
        let file = match options.open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                met.anew |= self.begun;
                options.create(true).open(&self.path)?
            }
            opened => opened?,
        };
        refuse(&self.path, &file)?;
        // The name must be as safe as what will stand in the file, whoever made it.
        File::open(folder(&self.path))?.sync_all()?;
        self.begun = true;
        Ok(file)
    }
}

fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Some network file systems have no locks; appending whole lines is all that can be done there.
            Err(error) if NO_LOCKS.iter().any(|none| error.raw_os_error() == Some(none.raw_os_error())) => {
                return Ok(());
            }
            locked => return locked,
        }
    }
}

fn leads_to(path: &Path, file: &File) -> bool {
    let id = |meta: &std::fs::Metadata| (meta.dev(), meta.ino());
    match (std::fs::symlink_metadata(path), file.metadata()) {
        (Ok(there), Ok(here)) => id(&there) == id(&here),
        _ => false,
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Why nothing may be written there, as far as that shows without writing.
fn look(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = folder(path);
            if !std::fs::metadata(folder)?.is_dir() {
                return Err(ErrorKind::NotADirectory.into());
            }
            Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
        }
        Err(error) => Err(error),
        Ok(meta) if meta.is_symlink() => Err(io::Error::other("it is a symbolic link; name the file itself")),
        Ok(meta) if !meta.is_file() => Err(io::Error::other("it is no regular file")),
        Ok(_) => {
            access(path, Access::WRITE_OK | Access::READ_OK)?;
            let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            refuse(path, &OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?)
        }
    }
}

/// Records are never written: a file that holds something else than reviews is left alone, unless its name says that it
/// is ours and so only damaged.
fn refuse(path: &Path, file: &File) -> io::Result<()> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut head = vec![0; HEAD.min(usize::try_from(meta.len()).unwrap_or(HEAD))];
    let mut filled = 0;
    while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    if looks_like_journal(&head) || path.as_os_str().as_encoded_bytes().ends_with(SUFFIX.as_bytes()) {
        Ok(())
    } else {
        Err(io::Error::other("it holds something else than reviews and is left alone; name another with --reviews"))
    }
}

/// Whether trying again on a fresh descriptor cannot help.
fn is_settled(error: &io::Error) -> bool {
    use ErrorKind as E;
    matches!(
        error.kind(),
        E::StorageFull | E::QuotaExceeded | E::ReadOnlyFilesystem | E::PermissionDenied | E::NotFound | E::FileTooLarge
    )
}

/// Why it could not be saved, and what helps.
fn why(error: &io::Error) -> Shown {
    use ErrorKind as E;
    match error.kind() {
        E::StorageFull => Shown::own("the disk is full; make room, then save again"),
        E::QuotaExceeded => Shown::own("your share of the disk is used up; make room, then save again"),
        E::ReadOnlyFilesystem => Shown::own("the disk is read-only; name a journal elsewhere with --reviews"),
        E::PermissionDenied => Shown::own("you may not write there; name a journal elsewhere with --reviews"),
        E::NotFound | E::NotADirectory => {
            Shown::own("its folder is gone; make it again, or name a journal elsewhere with --reviews")
        }
        _ => reason(error),
    }
}

#[cfg(test)]
mod tests;
