//! Windows.
//!
//! A folder is held open without letting others delete or rename it, so the way to it stays what it was; beneath it each
//! folder on the way is held likewise until the last name is open. What is a link is never followed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::future::pending;
use std::io::{self, IsTerminal as _};
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::windows::io::AsHandle as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::{Builder, TempDir};
use tokio::signal::windows;
use winapi_util::file::{information, typ};

use super::{Entry, FileId, FileType, Kind, OpenFor, StandardInput};

// The system's numbers, from its headers.
const FILE_LIST_DIRECTORY: u32 = 1;
const FILE_READ_ATTRIBUTES: u32 = 0x80;
const SHARE_READ_WRITE: u32 = 1 | 2;
const FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
const FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const ERROR_TOO_MANY_OPEN_FILES: i32 = 4;
const ERROR_NOT_SAME_DEVICE: i32 = 17;
const ERROR_LOCK_VIOLATION: i32 = 33;
const ERROR_NOT_SUPPORTED: i32 = 50;
const ERROR_INVALID_FUNCTION: i32 = 1;
const ERROR_STOPPED_ON_SYMLINK: i32 = 681;
const ERROR_CANT_RESOLVE_FILENAME: i32 = 1921;

/// Names that open a device in every folder, with any ending.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// A lock keeps even readers out here; whoever appends has it for a moment.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// A folder that is held open: nobody can take its name away as long as this lives.
#[derive(Debug)]
pub(crate) struct WindowsFolder {
    held: File,
    /// Without links, with all that stands before it.
    path: PathBuf,
}

impl WindowsFolder {
    /// Opens a folder that a person named; links may lead there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let held = hold(&path)?;
        Ok(Self { held, path })
    }

    pub(crate) fn id(&self) -> io::Result<FileId> {
        id_of(&self.held)
    }

    /// Opens the folders on the way to a name one by one, and returns them with the whole path.
    fn way(&self, rest: &Path) -> io::Result<(Vec<File>, PathBuf)> {
        let names = names(rest)?;
        let (mut path, mut held) = (self.path.clone(), Vec::new());
        let Some((last, folders)) = names.split_last() else { return Ok((held, path)) };
        for name in folders {
            path.push(name);
            held.push(hold(&path)?);
        }
        path.push(last);
        Ok((held, path))
    }

    /// Opens a name beneath it that data or a listing gave.
    pub(crate) fn file(&self, rest: &Path, want: OpenFor) -> io::Result<File> {
        let (_way, path) = self.way(rest)?;
        let mut options = OpenOptions::new();
        match want {
            OpenFor::Read => options.read(true),
            OpenFor::Add => options.read(true).append(true),
            OpenFor::Begin => options.read(true).append(true).create(true),
            OpenFor::Lock => options.read(true).write(true).create(true),
        };
        no_link(options.custom_flags(FLAG_OPEN_REPARSE_POINT).open(path)?)
    }

    /// Looks up what a name beneath it is; a link is an error, as is everything behind one.
    pub(crate) fn look(&self, rest: &Path) -> io::Result<Kind> {
        let (_way, path) = self.way(rest)?;
        let found = no_link(look_at(&path)?)?;
        Ok(Kind { kind: type_of(&found)?, id: id_of(&found)? })
    }

    /// Checks whether a name can be made in a folder beneath it, as far as that shows: that there is one.
    pub(crate) fn may_make(&self, folder: &Path) -> io::Result<()> {
        match self.look(folder)?.kind {
            FileType::Directory => Ok(()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Names are on the disk as soon as they are made: the file system keeps a journal of them.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    pub(crate) fn sync(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Takes a name in a folder beneath it away.
    pub(crate) fn remove(&self, folder: &Path, name: &OsStr) -> io::Result<()> {
        let (_way, path) = self.way(&folder.join(name))?;
        std::fs::remove_file(path)
    }

    /// Gives the entries of a folder beneath it until `each` has had enough.
    pub(crate) fn list(&self, folder: &Path, mut each: impl FnMut(Entry) -> bool) -> io::Result<()> {
        let (_way, path) = self.way(folder)?;
        let _held = hold(&path)?;
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let kind = entry.file_type().map_or(FileType::Other, type_by);
            if !each(Entry { name: entry.file_name(), kind }) {
                break;
            }
        }
        Ok(())
    }
}

/// Opens a folder so that it keeps its name, and refuses a link.
fn hold(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.access_mode(FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES).share_mode(SHARE_READ_WRITE);
    let folder = no_link(options.custom_flags(FLAG_BACKUP_SEMANTICS | FLAG_OPEN_REPARSE_POINT).open(path)?)?;
    if folder.metadata()?.is_dir() { Ok(folder) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Opens something to look at it only.
fn look_at(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.access_mode(FILE_READ_ATTRIBUTES).custom_flags(FLAG_BACKUP_SEMANTICS | FLAG_OPEN_REPARSE_POINT);
    options.open(path)
}

/// Refuses a link, or a folder that is mounted elsewhere: what was opened is the thing itself.
fn no_link(file: File) -> io::Result<File> {
    let is_link = is_disk(&file) && file.metadata()?.is_symlink();
    if is_link { Err(io::Error::from_raw_os_error(ERROR_STOPPED_ON_SYMLINK)) } else { Ok(file) }
}

/// Lists the names on the way. `..`, absolute names, streams of a file and devices are no names of a folder's.
fn names(rest: &Path) -> io::Result<Vec<&OsStr>> {
    let outside = || io::Error::from_raw_os_error(ERROR_NOT_SAME_DEVICE);
    let name = |part| match part {
        Component::Normal(name) if is_plain(name) => Some(Ok(name)),
        Component::CurDir => None,
        _ => Some(Err(outside())),
    };
    rest.components().filter_map(name).collect()
}

fn is_plain(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return true };
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem).trim_end().to_ascii_uppercase();
    let is_numbered = ["COM", "LPT"].iter().any(|device| {
        stem.strip_prefix(device)
            .is_some_and(|rest| rest.chars().count() == 1 && !rest.starts_with(char::is_alphabetic))
    });
    // The system takes dots and spaces at the end away, so that another name would be opened.
    !name.contains(':') && !name.ends_with(['.', ' ']) && !is_numbered && !DEVICES.contains(&stem.as_str())
}

fn type_by(kind: std::fs::FileType) -> FileType {
    match () {
        () if kind.is_symlink() => FileType::Symlink,
        () if kind.is_dir() => FileType::Directory,
        () if kind.is_file() => FileType::RegularFile,
        () => FileType::Other,
    }
}

fn is_disk(file: &File) -> bool {
    typ(file).is_ok_and(|kind| kind.is_disk())
}

/// Returns the identity of an open file. A pipe has none: it is given one.
pub(crate) fn id_of(file: &File) -> io::Result<FileId> {
    static PIPES: AtomicU64 = AtomicU64::new(0);
    if !is_disk(file) {
        return Ok(FileId { device: u64::MAX, number: PIPES.fetch_add(1, Ordering::Relaxed) });
    }
    let found = information(file)?;
    Ok(FileId { device: found.volume_serial_number(), number: found.file_index() })
}

/// Looks up what a path leads to that a person named: its identity, its size and its times.
pub(crate) fn stat_at(path: &Path) -> io::Result<(FileId, Metadata)> {
    let mut options = OpenOptions::new();
    let file = options.access_mode(FILE_READ_ATTRIBUTES).custom_flags(FLAG_BACKUP_SEMANTICS).open(path)?;
    Ok((id_of(&file)?, file.metadata()?))
}

/// Looks up the same of a name itself: a link is a link.
pub(crate) fn stat_of_name(path: &Path) -> io::Result<(FileId, Metadata)> {
    let file = look_at(path)?;
    Ok((id_of(&file)?, file.metadata()?))
}

/// Returns the type of what is open.
pub(crate) fn type_of(file: &File) -> io::Result<FileType> {
    let kind = typ(file)?;
    match () {
        () if kind.is_disk() => Ok(type_by(file.metadata()?.file_type())),
        () if kind.is_pipe() => Ok(FileType::Fifo),
        () => Ok(FileType::Other),
    }
}

/// Returns the type of what a path leads to that a person named.
pub(crate) fn type_at(path: &Path) -> io::Result<FileType> {
    Ok(type_by(std::fs::metadata(path)?.file_type()))
}

/// Counts the names that a file has.
pub(crate) fn link_count(file: &File) -> io::Result<u64> {
    Ok(information(file)?.number_of_links())
}

/// Opens what a person named.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads of a pipe wait here.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn wait_for_all(_: &File) -> io::Result<()> {
    Ok(())
}

/// A pipe has its writer before it can be opened.
pub(crate) fn await_writer(_: &File) {}

/// No file of this system is made by the kernel when it is read.
pub(crate) fn is_made_by_kernel(_: &File) -> bool {
    false
}

/// Opens standard input.
pub(crate) fn standard_input() -> io::Result<StandardInput> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(StandardInput::Device);
    }
    let file = File::from(stdin.as_handle().try_clone_to_owned()?);
    // What is no file and no terminal is a pipe, or the device that holds nothing.
    Ok(if is_disk(&file) { StandardInput::File(file) } else { StandardInput::Pipe(file) })
}

/// Reads from a place in a file. Where somebody else has its lock, they are waited for.
pub(crate) fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    let end = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.seek_read(into, offset) {
            Err(error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION) && Instant::now() < end => {
                std::thread::sleep(LOCK_PAUSE);
            }
            read => return read,
        }
    }
}

/// Writes all of it at a place in a file.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let done = file.seek_write(bytes, offset)?;
        if done == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let Some(rest) = bytes.get(done..) else { break };
        bytes = rest;
        offset += done as u64;
    }
    Ok(())
}

/// No holes are known here: the next byte is this one.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn next_data(_: &File, at: u64) -> io::Result<u64> {
    Ok(at)
}

/// Lists the ranges of a file that have bytes: no holes are known here.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn data_ranges(_: &File, end: u64) -> io::Result<Vec<(u64, u64)>> {
    Ok(if end > 0 { vec![(0, end)] } else { Vec::new() })
}

/// Creates a file that goes with its last handle.
pub(crate) fn memory_file() -> io::Result<File> {
    tempfile::tempfile()
}

/// Nobody says without unsafe code how much room a disk has: what does not fit fails when it is written.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn free_in(_: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Makes a folder among those of this user, which nobody else can enter; it goes with what is returned.
pub(crate) fn private_folder(parent: &Path) -> io::Result<TempDir> {
    Builder::new().prefix("stepscope-").tempdir_in(parent)
}

/// Every file has a name here.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn without_name(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// No file is without one.
pub(crate) fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file keeps its name as long as it is open: its folder is given back.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn take_name(folder: TempDir) -> io::Result<Option<TempDir>> {
    Ok(Some(folder))
}

/// Makes a new file to be read and written. Who may read it, its folder says.
pub(crate) fn make_new(path: &Path, _is_private: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// A temporary file can be read by whom its folder lets.
pub(crate) fn for_others(_: &mut Builder<'_, '_>) {}

/// Makes a folder of our own, with those above it. Who may enter it, the folder of the user says in which it lies.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Opens what is locked where a whole folder is: a folder itself cannot be.
pub(crate) fn folder_lock(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(folder.join(".lock"))
}

/// Names are on the disk as soon as they are made.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Tells whether a file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED))
}

/// Tells whether an error is due to a link in the path.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_STOPPED_ON_SYMLINK)
}

/// Tells whether an error says that links of a path that a person named lead in a circle.
pub(crate) fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_CANT_RESOLVE_FILENAME)
}

/// Tells whether an error says that the name leads out of its folder.
pub(crate) fn is_outside(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_NOT_SAME_DEVICE)
}

/// Tells whether the system opens no more files for us.
pub(crate) fn is_too_many_files(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_TOO_MANY_OPEN_FILES)
}

/// Counts the files that may be open at once: there is no limit.
pub(crate) fn most_open_files() -> Option<u64> {
    None
}

/// All threads come in turn here.
pub(crate) fn give_way() {}

/// The system keeps the memory of a process from other users; from the same one it does not.
pub(crate) fn hide_memory() {}

/// No signal ends a program here because of the size of a file.
pub const fn outlive_file_limit() {}

/// Waits for a Ctrl-C.
pub(crate) async fn interrupted() {
    match windows::ctrl_c() {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => pending().await,
    }
}

/// Waits for the end of the console.
pub(crate) async fn terminated() {
    match windows::ctrl_close() {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => pending().await,
    }
}

/// Nobody says which files a process has open.
pub(crate) fn open_files() -> HashSet<(OsString, FileId)> {
    HashSet::new()
}

/// Returns a path as data names it, with `/`.
pub(crate) fn slashed(path: &Path) -> Cow<'_, [u8]> {
    let slashed = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    Cow::Owned(path.as_os_str().as_encoded_bytes().iter().map(slashed).collect())
}

/// Makes a name of bytes; `None`: the system has no such names.
pub(crate) fn os_name(bytes: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(bytes).ok().map(OsStr::new)
}

/// Returns the name of this machine.
pub fn host() -> Vec<u8> {
    std::env::var_os("COMPUTERNAME").map_or_else(Vec::new, |name| name.into_encoded_bytes())
}

/// Returns a name of who runs this where none of our variables says one.
pub fn user() -> String {
    std::env::var("USERNAME").unwrap_or_else(|_| "unknown".to_owned())
}

/// Tells whether something can be made in a folder, as far as its attributes say.
pub fn may_write(folder: &Path) -> bool {
    folder.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_data_leads_out_of_its_folder_or_to_a_device() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("root/sub")).unwrap();
        for name in ["secret", "root/a", "root/sub/b"] {
            std::fs::write(home.path().join(name), name).unwrap();
        }
        let root = WindowsFolder::open(&home.path().join("root")).unwrap();
        for name in ["a", "sub/b", r"sub\b", "./sub/./b"] {
            assert_eq!(root.look(Path::new(name)).unwrap().kind, FileType::RegularFile, "{name}");
            assert!(root.file(Path::new(name), OpenFor::Read).is_ok(), "{name}");
        }
        let whole = home.path().join("secret");
        let whole = whole.to_str().unwrap();
        for name in [
            "../secret",
            r"..\secret",
            "sub/../../secret",
            whole,
            r"\secret",
            "C:a",
            "a:stream",
            "NUL",
            "sub/con.txt",
            "COM1",
            "a.",
        ] {
            assert!(is_outside(&root.look(Path::new(name)).unwrap_err()), "{name}");
            assert!(is_outside(&root.file(Path::new(name), OpenFor::Begin).unwrap_err()), "{name}");
        }
        assert_eq!(root.look(Path::new("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(root.file(Path::new("a/b"), OpenFor::Read).is_err());
    }

    #[test]
    fn a_folder_that_is_held_keeps_its_name() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::create_dir(at("root")).unwrap();
        let root = WindowsFolder::open(&at("root")).unwrap();
        assert!(std::fs::rename(at("root"), at("moved")).is_err());
        drop(root);
        std::fs::rename(at("root"), at("moved")).unwrap();
    }

    #[test]
    fn two_names_of_a_file_are_one_file() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::write(at("a"), "a").unwrap();
        std::fs::hard_link(at("a"), at("b")).unwrap();
        std::fs::write(at("c"), "a").unwrap();
        let id = |name: &str| stat_at(&at(name)).unwrap().0;
        assert_eq!(id("a"), id("b"));
        assert_ne!(id("a"), id("c"));
        assert_eq!(link_count(&File::open(at("a")).unwrap()).unwrap(), 2);
    }
}
