//! Files that are only added to, a line at a time: reviews, forks, recordings. Never the file that records came from.
//!
//! An append takes the kernel's lock, seals a line that a stopped writer left without an end, writes the whole line at
//! the end of the file, waits until it is on the disk, and only then tells. Nothing that stands there is ever changed.
//! A failed `fsync` says nothing of later ones on the same descriptor: the file is opened anew and the same line
//! appended again, so whoever reads it must take a line that stands there twice for one.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, reason};
use crate::source::beneath::{Place, UnderRoot};
use crate::system::{self, FileType, OpenFor, has_no_locks, is_link};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Beginning of a failure.
pub(crate) const SAVE: &str = "cannot save to";
/// Number of bytes of a file that are looked at before anything is written into it.
const HEAD: usize = 1 << 20;
/// Attempts at an append: a second time on a fresh descriptor.
const ATTEMPTS: usize = 2;
/// Content of a file. Another file than an empty one is added to only if it holds that already, by its content or,
/// where it is damaged, by its name.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Name of the content in a word, plural.
    pub what: &'static str,
    /// Ending of the names of such files.
    pub suffix: &'static str,
    /// The option that names another file.
    pub option: &'static str,
    /// True if the first bytes of a file look like it.
    pub is_like: fn(&[u8]) -> bool,
    /// True if a line has to be on the disk before it counts as appended.
    pub durable: bool,
    /// Number of bytes that a line may have, its end included, to be read again.
    pub longest: usize,
    /// Number of bytes that a file may have to be read again: it never becomes larger.
    pub largest: u64,
}

impl Content {
    /// Returns the file for what belongs to a file of records: next to it.
    pub fn beside(&self, records: &Path) -> Place {
        Place::Named(records.to_owned()).beside(self.suffix)
    }

    /// Tells whether a line can be appended there, as far as that shows without writing: the file itself is made by its
    /// first line.
    pub fn look(self, place: &Place) -> Result<(), Failure> {
        Appender::open(place, self).map(drop)
    }

    /// Explains why something could not be saved there, and what helps.
    pub(crate) fn failure(self, place: &Place, error: &io::Error) -> Failure {
        Failure { what: SAVE, path: Shown::path(place.path()), source: why(error, self) }
    }

    /// Tells whether a name says that the file holds it.
    pub fn names(&self, path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().ends_with(self.suffix.as_bytes())
    }
}

/// Result of an append.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Appended {
    /// The last line had no end, because its writer was stopped: it was given one and stays.
    pub sealed: bool,
    /// The file was removed or replaced meanwhile, and a new one was begun.
    pub anew: bool,
}

/// Returns the time, RFC 3339 in UTC, to the millisecond.
pub fn now() -> String {
    // A clock may be set to a year that a calendar does not reach.
    let now = jiff::Timestamp::try_from(std::time::SystemTime::now()).unwrap_or_default();
    format!("{now:.3}")
}

/// Adds one line, without its end, to a file and returns when it is on the disk.
pub fn append_line(place: impl Into<Place>, content: Content, line: &[u8]) -> Result<Appended, Failure> {
    Appender::open(place, content)?.append(&[line, b"\n"].concat())
}

/// The one hand that writes into a file.
#[derive(Debug)]
pub(crate) struct Appender {
    place: Place,
    content: Content,
    file: Option<File>,
    /// A file was there once.
    begun: bool,
    /// This one made the file, and nothing is in it yet.
    made: bool,
    /// True while another program's lock is waited for.
    is_held: Arc<AtomicBool>,
}

impl Appender {
    /// Looks whether the file can be written. It is made by the first line: looking creates nothing.
    pub(crate) fn open(place: impl Into<Place>, content: Content) -> Result<Self, Failure> {
        let place = place.into();
        match place.beneath().and_then(|at| look(&at, content)) {
            Ok(()) => Ok(Self { place, content, file: None, begun: false, made: false, is_held: Arc::default() }),
            Err(error) => Err(content.failure(&place, &error)),
        }
    }

    /// Tells there, too, whether a lock is waited for.
    pub(crate) fn telling(self, is_held: &Arc<AtomicBool>) -> Self {
        Self { is_held: is_held.clone(), ..self }
    }

    /// Adds a line, which has its end.
    pub(crate) fn append(&mut self, line: &[u8]) -> Result<Appended, Failure> {
        if line.len() > self.content.longest {
            return Err(Failure::own(SAVE, &Shown::path(self.place.path()), "the line is too long"));
        }
        let mut met = Appended::default();
        for attempt in 1.. {
            let Err(error) = self.attempt(line, attempt > 1, &mut met) else { break };
            self.leave_nothing_empty();
            // Nothing more is believed of this descriptor; closing it gives the lock back too.
            self.file = None;
            if attempt >= ATTEMPTS || is_settled(&error) {
                return Err(self.content.failure(&self.place, &error));
            }
        }
        Ok(met)
    }

    /// Tries to append a line. `again`: it was tried before, and it is unknown what of it reached the disk.
    fn attempt(&mut self, line: &[u8], again: bool, met: &mut Appended) -> io::Result<()> {
        let Content { durable, largest, .. } = self.content;
        let file = self.locked(met)?;
        let len = file.metadata()?.len();
        let mut last = [b'\n'];
        if len > 0 {
            system::read_at(file, &mut last, len - 1)?;
        }
        let seal = last != [b'\n'];
        met.sealed |= seal && !again;
        let mut file = file;
        if len.saturating_add(line.len() as u64 + 1) > largest {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if seal || again {
            file.write_all(&[b"\n", line].concat())?;
        } else {
            file.write_all(line)?;
        }
        if durable {
            file.sync_data()?;
        }
        let is_free = file.unlock().is_ok();
        self.made = false;
        if !is_free {
            // The line is there: what a system says of its lock does not undo that. Closing gives it back.
            self.file = None;
        }
        Ok(())
    }

    /// Takes a file away that was made for a line and got none. Its lock is still held: nobody has written into it, and
    /// who waits for it looks whether it still has its name.
    fn leave_nothing_empty(&mut self) {
        let is_empty = |file: &File| file.metadata().is_ok_and(|meta| meta.len() == 0);
        if std::mem::take(&mut self.made) && self.file.as_ref().is_some_and(is_empty) {
            // Then it stays, and holds nothing.
            let _ = self.place.beneath().and_then(|at| at.remove());
        }
    }

    /// Opens the file that the path leads to, and locks it.
    fn locked(&mut self, met: &mut Appended) -> io::Result<&File> {
        loop {
            let file = match self.file.take() {
                Some(file) => file,
                None => self.opened(met)?,
            };
            // Taken once: where locks are not the file's but the handle's, a second one would wait for the first.
            if let Err(held) = file.try_lock() {
                self.is_held.store(matches!(held, TryLockError::WouldBlock), Ordering::Release);
                let locked = lock_file(&file);
                self.is_held.store(false, Ordering::Release);
                locked?;
            }
            // While we waited, or since the last line, somebody may have moved it away: what is appended to a file
            // without a name is lost.
            if leads_to(&self.place, &file) {
                return Ok(self.file.insert(file));
            }
        }
    }

    fn opened(&mut self, met: &mut Appended) -> io::Result<File> {
        let at = self.place.beneath()?;
        look(&at, self.content)?;
        let file = match at.open(OpenFor::Add) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                met.anew |= self.begun;
                self.made = true;
                at.open(OpenFor::Begin)?
            }
            opened => opened?,
        };
        refuse(&at, &file, self.content)?;
        if self.content.durable {
            // The name must be as safe as what will stand in the file, whoever made it.
            at.sync_name()?;
        }
        self.begun = true;
        Ok(file)
    }
}

/// Waits for the kernel's lock of a file, where there is such a thing.
pub(crate) fn lock_file(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Some network file systems have no locks; appending whole lines is all that can be done there.
            Err(error) if has_no_locks(&error) => return Ok(()),
            locked => return locked,
        }
    }
}

fn leads_to(place: &Place, file: &File) -> bool {
    match (place.beneath().and_then(|at| at.kind()), system::id_of(file)) {
        (Ok(there), Ok(here)) => there.id == here,
        _ => false,
    }
}

/// Refuses a place where nothing may be written, as far as that shows without writing.
fn look(at: &UnderRoot, content: Content) -> io::Result<()> {
    match at.kind() {
        Err(error) if error.kind() == ErrorKind::NotFound => at.may_be_made(),
        // Somebody else may have put it there.
        Err(error) if is_link(&error) => Err(io::Error::other("it is a symbolic link; name the file itself")),
        Err(error) => Err(error),
        Ok(found) if found.kind != FileType::RegularFile => Err(io::Error::other("it is not a regular file")),
        Ok(_) => {
            let file = at.open(OpenFor::Add)?;
            refuse(at, &file, content)?;
            let has_room = file.metadata()?.len() < content.largest;
            if has_room { Ok(()) } else { Err(ErrorKind::FileTooLarge.into()) }
        }
    }
}

/// Records are never written: a file that holds something else is left alone, unless its name says that it is ours and
/// so only damaged. That name must be its only one: another may be the name of anything.
fn refuse(at: &UnderRoot, file: &File, content: Content) -> io::Result<()> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut head = vec![0; HEAD.min(usize::try_from(meta.len()).unwrap_or(HEAD))];
    let mut filled = 0;
    while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match system::read_at(file, rest, filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    let Content { what, option, .. } = content;
    if (content.is_like)(&head) {
        return Ok(());
    }
    if system::link_count(file)? > 1 {
        let why = format!(
            "it has a second name (hard link) and does not hold {what}; copy it, or choose another file with {option}"
        );
        return Err(io::Error::other(why));
    }
    if head.trim_ascii().is_empty() || content.names(at.path()) {
        return Ok(());
    }
    Err(io::Error::other(format!("it does not hold {what} and was not changed; choose another file with {option}")))
}

/// Tells whether trying again on a fresh descriptor cannot help.
fn is_settled(error: &io::Error) -> bool {
    use ErrorKind as E;
    matches!(
        error.kind(),
        E::StorageFull | E::QuotaExceeded | E::ReadOnlyFilesystem | E::PermissionDenied | E::NotFound | E::FileTooLarge
    )
}

/// Explains why it could not be saved, and what helps.
fn why(error: &io::Error, content: Content) -> Shown {
    use ErrorKind as E;
    let option = content.option;
    match error.kind() {
        E::StorageFull => Shown::own("the disk is full; free some space, then save again"),
        E::QuotaExceeded => Shown::own("the disk quota is exceeded; free some space, then save again"),
        E::ReadOnlyFilesystem => shown!("the disk is read-only; choose another file with {option}"),
        E::PermissionDenied => shown!("permission denied; choose another file with {option}"),
        E::NotFound | E::NotADirectory => {
            shown!("its folder is missing; create it, or choose another file with {option}")
        }
        E::FileTooLarge => shown!("it would become too large; choose another file with {option}"),
        _ => reason(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const NUMBERS: Content = Content {
        what: "numbers",
        suffix: ".numbers.jsonl",
        option: "--numbers",
        is_like: |head| head.first().is_some_and(u8::is_ascii_digit),
        durable: true,
        longest: usize::MAX,
        largest: u64::MAX,
    };

    #[test]
    fn a_line_is_added_behind_a_closed_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = NUMBERS.beside(&folder.path().join("a"));
        let path = place.path();
        assert_eq!(append_line(&place, NUMBERS, b"{}").unwrap(), Appended::default());
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(path, b"{}\n{\"torn\"").unwrap();
        assert_eq!(append_line(&place, NUMBERS, b"[1]").unwrap(), Appended { sealed: true, anew: false });
        assert_eq!(std::fs::read(path).unwrap(), b"{}\n{\"torn\"\n[1]\n");
    }

    #[test]
    fn what_holds_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (there, taken) in [("", true), ("\n", true), ("1\n", true), ("x\n", false), (" {}", false)] {
            std::fs::write(&path, there).unwrap();
            assert_eq!(append_line(&path, NUMBERS, b"2").is_ok(), taken, "{there:?}");
            let expected = if taken { format!("{there}2\n") } else { there.to_owned() };
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
        let said = append_line(&path, NUMBERS, b"2").unwrap_err().to_string();
        assert!(
            said.ends_with("does not hold numbers and was not changed; choose another file with --numbers"),
            "{said}"
        );
    }

    #[test]
    fn a_link_is_followed_where_it_was_named_and_no_device_is_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, b"").unwrap();
        symlink(&file, &link).unwrap();
        let refused = |path: &Path| append_line(path, NUMBERS, b"x").unwrap_err().to_string();
        let found = append_line(Place::Beside(link.clone()), NUMBERS, b"x").unwrap_err().to_string();
        assert!(found.contains("symbolic link"), "{found}");
        assert!(refused(Path::new("/dev/null")).contains("not a regular file"));
        assert!(refused(&folder.path().join("no/file")).contains("its folder is missing"));
        assert_eq!(std::fs::read(&file).unwrap(), b"");
        append_line(&*link, NUMBERS, b"1").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"1\n");
    }

    #[test]
    fn nothing_is_written_where_a_second_name_or_a_swapped_folder_leads() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("profile"), "export A=1\n").unwrap();
        std::fs::hard_link(at("profile"), at("runs.numbers.jsonl")).unwrap();
        let refused = append_line(NUMBERS.beside(&at("runs")), NUMBERS, b"x").unwrap_err().to_string();
        assert!(refused.contains("a second name"), "{refused}");
        std::fs::create_dir_all(at("root/sub")).unwrap();
        std::fs::create_dir(at("home")).unwrap();
        let records = UnderRoot::root(&at("root")).unwrap().join("sub/runs");
        let mut appender = Appender::open(Place::UnderRoot(records).beside(NUMBERS.suffix), NUMBERS).unwrap();
        appender.append(b"1\n").unwrap();
        std::fs::rename(at("root/sub"), at("root/gone")).unwrap();
        symlink(at("home"), at("root/sub")).unwrap();
        assert!(appender.append(b"2\n").unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(std::fs::read_dir(at("home")).unwrap().count(), 0);
        assert_eq!(std::fs::read(at("profile")).unwrap(), b"export A=1\n");
    }
}
