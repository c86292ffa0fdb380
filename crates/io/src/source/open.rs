//! Opening without harm: only regular files are read, in blocks by `pread`; pipes are spooled into memory. Nothing is
//! ever created, locked or mapped beside or over a file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

use crate::failure::{Failure, reason};
use crate::source::beneath::{Place, UnderRoot};
use crate::system::{self, FileId, FileType, OpenFor, StandardInput};
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Number of bytes that standard input or a pipe may bring before we stop reading it.
pub(crate) const MAX_SPOOL: u64 = 1 << 30;

const OPEN: &str = "cannot open";
const READ: &str = "cannot read";

/// State of a file on disk: enough to see that it is another one now, or not the same any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Identity of the file.
    pub id: FileId,
    /// Number of bytes.
    pub len: u64,
    /// Time of the last change.
    pub modified: Option<SystemTime>,
}

impl Stat {
    fn of(file: &File) -> std::io::Result<Self> {
        let meta = file.metadata()?;
        Ok(Self { id: system::id_of(file)?, len: meta.len(), modified: meta.modified().ok() })
    }

    /// Reads the state of a pipe, whose length nobody knows.
    pub(crate) fn of_pipe(pipe: &File) -> std::io::Result<Self> {
        let modified = pipe.metadata().and_then(|meta| meta.modified()).ok();
        Ok(Self { id: system::id_of(pipe)?, len: 0, modified })
    }

    /// Reads the state of the file that a path leads to now, which a person named; `None`: there is none.
    pub fn at(path: &Path) -> Option<Self> {
        system::stat_at(path).ok().map(|(id, meta)| Self { id, len: meta.len(), modified: meta.modified().ok() })
    }

    /// Reads the state of the file that is at a place now; `None`: there is none, or it may not be read.
    pub(crate) fn of_place(place: &Place) -> Option<Self> {
        match place {
            Place::Named(path) => Self::at(path),
            place => open_beneath(&place.beneath().ok()?).ok()?.stat().ok(),
        }
    }
}

/// Bytes that can be read anywhere, any number of times, from any thread: a file, or a pipe's spool.
#[derive(Debug)]
pub struct Blob {
    name: Shown,
    id: FileId,
    place: Option<Place>,
    /// `None`: opened again for each read, because very many files are open already.
    file: Option<File>,
    /// Part that is kept of a pipe that is read once, from its beginning to its end.
    window: Option<Mutex<Window>>,
}

/// The part of a pipe that is still asked for.
#[derive(Debug)]
struct Window {
    pipe: File,
    /// Offset of the bytes in what came through.
    start: u64,
    bytes: Vec<u8>,
    ended: bool,
}

impl Window {
    /// Reads on until there is a byte at `end`, or no more.
    fn fill(&mut self, end: u64) -> std::io::Result<()> {
        while !self.ended && self.start + (self.bytes.len() as u64) < end {
            let want = end - self.start - self.bytes.len() as u64;
            match (&self.pipe).take(want).read_to_end(&mut self.bytes) {
                Ok(got) => self.ended = (got as u64) < want,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, offset: u64, want: usize, into: &mut Vec<u8>) -> std::io::Result<()> {
        self.fill(offset.saturating_add(want as u64))?;
        into.clear();
        let from = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let rest = self.bytes.get(from..).unwrap_or_default();
        into.extend_from_slice(rest.get(..want).unwrap_or(rest));
        Ok(())
    }

    fn forget(&mut self, before: u64) {
        let gone = (before.saturating_sub(self.start) as usize).min(self.bytes.len());
        self.bytes.drain(..gone);
        self.start += gone as u64;
        if self.bytes.capacity() > 4 * MAX_KEPT && self.bytes.len() < MAX_KEPT {
            self.bytes.shrink_to(MAX_KEPT);
        }
    }
}

/// A window that was wider for one long record becomes as small again.
const MAX_KEPT: usize = 1 << 20;

/// Result of opening a path.
#[derive(Debug)]
pub enum Opened {
    /// A regular file.
    File(Blob),
    /// A pipe: to be spooled, see `spool`.
    Pipe(File),
}

/// Opens for reading whatever a place may lead to.
pub(crate) fn open_place(place: &Place) -> Result<Opened, Failure> {
    match place {
        Place::Named(path) => open(path),
        place => {
            let at = place.beneath().map_err(|error| Failure::system(OPEN, place.path(), &error))?;
            open_beneath(&at).map(Opened::File)
        }
    }
}

/// Opens a regular file that data or a listing named: no link leads there, and nothing but a regular file is opened.
pub(crate) fn open_beneath(at: &UnderRoot) -> Result<Blob, Failure> {
    let path = at.path();
    let fail = |error: &std::io::Error| beneath_failure(OPEN, path, error);
    // Looked at before it is opened, as below.
    refuse(path, at.kind().map_err(|e| fail(&e))?.kind, false)?;
    let file = at.open(OpenFor::Read).map_err(|e| fail(&e))?;
    refuse(path, system::type_of(&file).map_err(|e| fail(&e))?, false)?;
    refuse_kernel(path, &file)?;
    Blob::of_file(Shown::path(path), file, Some(Place::UnderRoot(at.clone())))
}

/// Explains why something that data or a listing named cannot be opened.
pub(crate) fn beneath_failure(what: &'static str, path: &Path, error: &std::io::Error) -> Failure {
    const LINK: &str =
        "its path contains a symbolic link, which is followed only if you pass it yourself; pass its target";
    const OUTSIDE: &str = "its path is absolute, has .. in it or leads out of the folder; pass it yourself";
    let name = Shown::path(path);
    match error {
        error if system::is_link(error) => Failure::own(what, &name, LINK),
        error if system::is_outside(error) => Failure::own(what, &name, OUTSIDE),
        error => Failure { what, path: name, source: reason(error) },
    }
}

/// Refuses all but files, and pipes where a person named them: a device never ends, a terminal would eat the keyboard.
fn refuse(path: &Path, kind: FileType, named: bool) -> Result<(), Failure> {
    let why = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Fifo if named => return Ok(()),
        FileType::Directory => "it is a folder",
        FileType::Fifo => "it is a pipe; pass it yourself to read it",
        FileType::Socket => "it is a socket; only files and pipes can be read",
        _ => "it is a device; only files and pipes can be read",
    };
    Err(Failure::own(OPEN, &Shown::path(path), why))
}

/// Opens a path for reading that a person named: links are followed.
pub fn open(path: &Path) -> Result<Opened, Failure> {
    let fail = |error: &std::io::Error| Failure::system(OPEN, path, error);
    // Asked before opening, because opening a device can already do harm; and again after, because names move.
    let before = match system::type_at(path) {
        Ok(kind) => kind,
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            return Err(Failure::own(OPEN, &Shown::path(path), "it is a broken symbolic link"));
        }
        Err(error) => return Err(fail(&error)),
    };
    refuse(path, before, true)?;
    let file = system::open_named(path).map_err(|e| fail(&e))?;
    let kind = system::type_of(&file).map_err(|e| fail(&e))?;
    refuse(path, kind, true)?;
    if kind == FileType::Fifo {
        // Without a writer a read ends at once, see `system::await_writer`; with one it may wait.
        system::wait_for_all(&file).map_err(|e| fail(&e))?;
        return Ok(Opened::Pipe(file));
    }
    refuse_kernel(path, &file)?;
    Blob::of_file(Shown::path(path), file, Some(Place::Named(path.to_owned()))).map(Opened::File)
}

/// Refuses a file that is made by the kernel when it is read.
fn refuse_kernel(path: &Path, file: &File) -> Result<(), Failure> {
    const WHY: &str = "it is an interface of the kernel, not a file; copy it";
    if system::is_made_by_kernel(file) { Err(Failure::own(OPEN, &Shown::path(path), WHY)) } else { Ok(()) }
}

/// Reads all of a file that people write by hand; a larger one is refused, and so is a pipe.
pub fn read_small(path: &Path, most: u64, what: &'static str) -> Result<Vec<u8>, Failure> {
    let fail = |source| Failure { what, path: Shown::path(path), source };
    match open(path).map_err(|failure| fail(failure.source))? {
        Opened::File(blob) => all_of(&blob, most, what),
        Opened::Pipe(_) => Err(fail(Shown::own("it is a pipe"))),
    }
}

/// Reads all of such a file that data or a listing names.
pub(crate) fn read_small_beneath(at: &UnderRoot, most: u64, what: &'static str) -> Result<Vec<u8>, Failure> {
    let blob = open_beneath(at).map_err(|failure| Failure { what, ..failure })?;
    all_of(&blob, most, what)
}

/// Reads all of a regular file that data or a listing named, if it is not larger than `limit`.
pub(crate) fn read_beneath(place: &Place, limit: u64) -> Result<Vec<u8>, Failure> {
    let at = place.beneath().map_err(|error| beneath_failure(OPEN, place.path(), &error))?;
    read_small_beneath(&at, limit, READ)
}

/// Reads all of a file that is not larger than `most`.
pub(crate) fn all_of(blob: &Blob, most: u64, what: &'static str) -> Result<Vec<u8>, Failure> {
    let len = blob.len()?;
    if len > most {
        return Err(Failure { what, path: blob.name().clone(), source: shown!("it is larger than {} MB", most >> 20) });
    }
    let mut bytes = Vec::new();
    blob.read(0, len as usize, &mut bytes)?;
    Ok(bytes)
}

/// Reads all of a text file that people write by hand.
pub(crate) fn read_small_text(path: &Path, most: u64, what: &'static str) -> Result<String, Failure> {
    String::from_utf8(read_small(path, most, what)?)
        .map_err(|_| Failure::own(what, &Shown::path(path), "it is not UTF-8; save it as UTF-8"))
}

/// Opens standard input: a file that was redirected is read as such, a pipe is to be spooled, a terminal is refused.
pub(crate) fn standard_input() -> Result<Opened, Failure> {
    let name = Shown::own("standard input");
    let opened = system::standard_input();
    match opened.map_err(|error| Failure { what: READ, path: name.clone(), source: reason(&error) })? {
        StandardInput::File(file) => Blob::of_file(name, file, None).map(Opened::File),
        StandardInput::Pipe(pipe) => Ok(Opened::Pipe(pipe)),
        StandardInput::Device => {
            Err(Failure::own(READ, &name, "it is a terminal or a device; pass a file, or pipe records in"))
        }
    }
}

impl Blob {
    fn of_file(name: Shown, file: File, place: Option<Place>) -> Result<Self, Failure> {
        match system::id_of(&file) {
            Ok(id) => Ok(Self { name, id, place, file: Some(file), window: None }),
            Err(error) => Err(Failure { what: READ, path: name, source: reason(&error) }),
        }
    }

    /// Makes a blob of a pipe that is read as it comes, of which `head` has come already: what [`Blob::forget`] was
    /// told of is gone.
    pub(crate) fn passing(name: Shown, pipe: File, head: Vec<u8>) -> Result<Self, Failure> {
        let fail = |error: &std::io::Error| Failure { what: READ, path: name.clone(), source: reason(error) };
        let id = system::id_of(&pipe).map_err(|error| fail(&error))?;
        let window = Window { pipe, start: 0, bytes: head, ended: false };
        Ok(Self { name, id, place: None, file: None, window: Some(Mutex::new(window)) })
    }

    /// Lets go of what came before, if this is a pipe that is read as it comes.
    pub(crate) fn forget(&self, before: u64) {
        if let Some(window) = &self.window {
            lock(window).forget(before);
        }
    }

    /// Makes an empty blob in memory, to be filled by [`spool`].
    pub(crate) fn in_memory(name: Shown) -> Result<Self, Failure> {
        match system::memory_file() {
            Ok(file) => Self::of_file(name, file, None),
            Err(error) => Err(Failure { what: "cannot reserve memory for", path: name, source: reason(&error) }),
        }
    }

    /// Makes a blob in memory that holds these bytes.
    pub fn of_bytes(name: Shown, bytes: &[u8]) -> Result<Self, Failure> {
        let blob = Self::in_memory(name)?;
        blob.append(bytes, 0)?;
        Ok(blob)
    }

    /// Writes behind what is there; only for blobs in memory.
    pub fn append(&self, bytes: &[u8], at: u64) -> Result<(), Failure> {
        let done = match (&self.file, &self.place) {
            (Some(file), None) => system::write_all_at(file, bytes, at),
            _ => Err(ErrorKind::ReadOnlyFilesystem.into()),
        };
        done.map_err(|error| Failure { what: "cannot store", path: self.name.clone(), source: reason(&error) })
    }

    /// Closes the file; each read opens it again. For folders with more files than a process may hold open.
    pub fn close(&mut self) {
        if self.place.is_some() {
            self.file = None;
        }
    }

    /// Returns the name to show.
    pub fn name(&self) -> &Shown {
        &self.name
    }

    /// Returns its location; `None` in memory.
    pub const fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Returns the identity of the file.
    pub const fn id(&self) -> FileId {
        self.id
    }

    /// Counts the bytes that there are now.
    pub fn len(&self) -> Result<u64, Failure> {
        self.with(|file| file.metadata().map(|meta| meta.len()))
    }

    /// Tells whether there are no bytes.
    pub fn is_empty(&self) -> Result<bool, Failure> {
        self.len().map(|len| len == 0)
    }

    /// Reads the state of the file on disk now.
    pub fn stat(&self) -> Result<Stat, Failure> {
        self.with(Stat::of)
    }

    /// Fills `into` with up to `want` bytes from `offset`; fewer only where the bytes end.
    pub fn read(&self, offset: u64, want: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
        if let Some(window) = &self.window {
            let mut window = lock(window);
            let fail = |error| Failure { what: READ, path: self.name.clone(), source: reason(&error) };
            return window.read(offset, want, into).map_err(fail);
        }
        // Grown, never shrunk here: clearing the same memory again and again would cost as much as reading.
        if into.len() < want {
            into.resize(want, 0);
        }
        let mut done = 0;
        self.with(|file| {
            while let Some(rest) = into.get_mut(done..want).filter(|rest| !rest.is_empty()) {
                match system::read_at(file, rest, offset.saturating_add(done as u64)) {
                    Ok(0) => break,
                    Ok(n) => done += n,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })?;
        into.truncate(done);
        Ok(())
    }

    /// Finds the last byte of a hole that reaches from here up to `end` or less: a sparse file keeps nothing there, and
    /// reads as zeros. Without a hole it is `at` itself.
    pub(crate) fn behind_hole(&self, at: u64, end: u64) -> u64 {
        // The offset of standard input belongs to others too.
        if self.place.is_none() {
            return at;
        }
        let data = self.with(|file| system::next_data(file, at));
        // Where the system tells of no holes, all is read.
        data.map_or(at, |data| data.min(end).saturating_sub(1)).max(at)
    }

    /// Lets something be done with the open file.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&File) -> std::io::Result<T>) -> Result<T, Failure> {
        let fail = |error: &std::io::Error| Failure { what: READ, path: self.name.clone(), source: reason(error) };
        if let Some(file) = &self.file {
            return act(file).map_err(|e| fail(&e));
        }
        match self.place.as_ref().map(open_place) {
            Some(Ok(Opened::File(Self { id, file: Some(file), .. }))) if id == self.id => {
                act(&file).map_err(|e| fail(&e))
            }
            Some(Err(failure)) => Err(failure),
            _ => Err(Failure::own(READ, &self.name, "another file has replaced it; open it again")),
        }
    }
}

/// Reads a pipe to its end into a blob. After every piece `more` hears how much there is and may end it with `false`.
pub(crate) fn spool(mut pipe: impl Read, into: &Blob, mut more: impl FnMut(u64) -> bool) -> Result<u64, Failure> {
    let mut block = vec![0; 256 << 10];
    let mut at = 0;
    loop {
        match pipe.read(&mut block) {
            Ok(0) => return Ok(at),
            Ok(n) => {
                into.append(&block[..n], at)?;
                at += n as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure { what: READ, path: into.name.clone(), source: reason(&error) }),
        }
        if !more(at) {
            return Ok(at);
        }
        if at >= MAX_SPOOL {
            return Err(Failure::own(
                READ,
                &into.name,
                "more than 1 GB came through the pipe; save it to a file and open that",
            ));
        }
    }
}

/// Reads all bytes of a file or pipe that is not larger than `limit`; `-` is standard input.
pub fn read_whole(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { Shown::own("standard input") } else { Shown::path(path) };
    let pipe = match if is_stdin { standard_input()? } else { open(path)? } {
        Opened::File(blob) => return all_of(&blob, limit, READ),
        Opened::Pipe(pipe) => pipe,
    };
    let fail = |source| Failure { what: READ, path: name.clone(), source };
    let mut bytes = Vec::new();
    pipe.take(limit + 1).read_to_end(&mut bytes).map_err(|error| fail(reason(&error)))?;
    if bytes.len() as u64 > limit {
        return Err(fail(shown!("it is larger than {} MB", limit >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(path: &Path) -> String {
        open(path).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn only_files_and_pipes_open() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(why(&at("missing")).ends_with("no such file"));
        assert!(why(dir.path()).ends_with("it is a folder"));
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        assert!(why(&at("dangling")).ends_with("it is a broken symbolic link"));
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        assert!(why(&at("loop")).ends_with("its symbolic links form a loop"));
        assert!(why(Path::new("/dev/zero")).ends_with("it is a device; only files and pipes can be read"));
        #[cfg(target_os = "linux")]
        for path in ["/proc/self/mem", "/sys/kernel/uevent_seqnum", "/sys/fs/cgroup/cgroup.procs"] {
            let is_there = Path::new(path).exists();
            assert!(!is_there || why(Path::new(path)).contains("an interface of the kernel"), "{path}");
        }
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(why(&at("socket")).contains("it is a socket"));
    }

    #[test]
    fn a_name_is_shown_never_sent() {
        let name = std::ffi::OsString::from("no\u{1b}]0;x\u{7}such");
        assert!(why(Path::new(&name)).contains("no␛]0;x␇such"));
    }

    #[test]
    fn a_pipe_that_nobody_writes_ends_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let Opened::Pipe(pipe) = open(&path).unwrap() else { panic!("not a pipe") };
        let blob = Blob::in_memory(Shown::own("pipe")).unwrap();
        assert_eq!(spool(pipe, &blob, |_| true), Ok(0));
    }

    #[test]
    fn what_is_spooled_can_be_read_anywhere() {
        let blob = Blob::in_memory(Shown::own("pipe")).unwrap();
        let text: Vec<u8> = (0..600_000u32).map(|n| n as u8).collect();
        let mut heard = Vec::new();
        let done = spool(&*text, &blob, |n| {
            heard.push(n);
            true
        });
        assert_eq!((done, heard.last().copied(), blob.len()), (Ok(600_000), Some(600_000), Ok(600_000)));
        let mut block = Vec::new();
        blob.read(599_990, 20, &mut block).unwrap();
        assert_eq!(block, &text[599_990..]);
    }

    #[test]
    fn a_closed_blob_opens_the_same_file_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "first").unwrap();
        let Opened::File(mut blob) = open(&path).unwrap() else { panic!("not a file") };
        let mut block = Vec::new();
        blob.close();
        blob.read(1, 9, &mut block).unwrap();
        assert_eq!(block, b"irst");
        std::fs::write(dir.path().join("b"), "second").unwrap();
        std::fs::rename(dir.path().join("b"), &path).unwrap();
        assert!(blob.read(0, 9, &mut block).is_err());
    }
}
