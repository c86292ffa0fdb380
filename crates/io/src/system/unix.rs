//! Linux, macOS and the other systems that are like them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::future::pending;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Component, Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{
    Access, AtFlags, CWD, Dir, Mode, OFlags, RawMode, SeekFrom, accessat, fstat, linkat, openat, seek, statat, statvfs,
    unlinkat,
};
use rustix::io::Errno;
use tempfile::{Builder, TempDir};
use tokio::signal::unix::{SignalKind, signal};

use super::{Entry, FileId, FileType, Kind, OpenFor, StandardInput};

/// Number of times that the kernel is asked again after something on the way was renamed.
#[cfg(target_os = "linux")]
const TRIES: usize = 8;
/// Flags to look at something without opening it.
#[cfg(target_os = "linux")]
pub(crate) const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(crate) const LOOK: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);
/// Flags to list a folder.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// A folder that is held open: what is done in it is done in this one, whatever has taken its name meanwhile.
#[derive(Debug)]
pub(crate) struct UnixFolder(pub(crate) OwnedFd);

impl UnixFolder {
    /// Opens a folder that a person named; links may lead there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, LOOK | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    pub(crate) fn id(&self) -> io::Result<FileId> {
        id_at(&self.0)
    }

    fn at(&self, rest: &Path, flags: OFlags, mode: RawMode) -> io::Result<OwnedFd> {
        Ok(open_beneath(self.0.as_fd(), rest, flags, mode.into())?)
    }

    /// Opens a name beneath it that data or a listing gave.
    pub(crate) fn file(&self, rest: &Path, want: OpenFor) -> io::Result<File> {
        // A pipe is not waited for.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let (flags, mode) = match want {
            OpenFor::Read => (flags | OFlags::RDONLY, 0),
            OpenFor::Add => (flags | OFlags::RDWR | OFlags::APPEND, 0),
            OpenFor::Begin => (flags | OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, 0o600),
            OpenFor::Lock => (flags | OFlags::RDWR | OFlags::CREATE, 0o600),
        };
        self.at(rest, flags, mode).map(File::from)
    }

    /// Looks up what a name beneath it is; a link is an error, as is everything behind one.
    pub(crate) fn look(&self, rest: &Path) -> io::Result<Kind> {
        let fd = self.at(rest, LOOK, 0)?;
        Ok(Kind { kind: type_by(fstat(&fd)?.st_mode as RawMode), id: id_at(&fd)? })
    }

    /// Checks whether a name can be made in a folder beneath it.
    pub(crate) fn may_make(&self, folder: &Path) -> io::Result<()> {
        let folder = self.at(folder, LOOK | OFlags::DIRECTORY, 0)?;
        Ok(accessat(folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty())?)
    }

    /// Waits until the names in a folder beneath it are on the disk.
    pub(crate) fn sync(&self, folder: &Path) -> io::Result<()> {
        File::from(self.at(folder, LIST, 0)?).sync_all()
    }

    /// Takes a name in a folder beneath it away.
    pub(crate) fn remove(&self, folder: &Path, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(self.at(folder, LIST, 0)?, name, AtFlags::empty())?)
    }

    /// Gives the entries of a folder beneath it until `each` has had enough, those of the system left out.
    pub(crate) fn list(&self, folder: &Path, mut each: impl FnMut(Entry) -> bool) -> io::Result<()> {
        let mut folder = Dir::new(self.at(folder, LIST, 0)?)?;
        while let Some(entry) = folder.read() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Not every file system says it in the listing.
                rustix::fs::FileType::Unknown => {
                    let stat = statat(folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW);
                    stat.map_or(FileType::Other, |stat| type_by(stat.st_mode as RawMode))
                }
                kind => kind.into(),
            };
            if !each(Entry { name: OsStr::from_bytes(name.to_bytes()).to_owned(), kind }) {
                break;
            }
        }
        Ok(())
    }
}

impl From<rustix::fs::FileType> for FileType {
    fn from(kind: rustix::fs::FileType) -> Self {
        use rustix::fs::FileType as F;
        match kind {
            F::RegularFile => Self::RegularFile,
            F::Directory => Self::Directory,
            F::Symlink => Self::Symlink,
            F::Fifo => Self::Fifo,
            F::Socket => Self::Socket,
            _ => Self::Other,
        }
    }
}

fn type_by(mode: RawMode) -> FileType {
    rustix::fs::FileType::from_raw_mode(mode).into()
}

#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
fn id_at(fd: &impl AsFd) -> io::Result<FileId> {
    let stat = fstat(fd)?;
    Ok(FileId { device: stat.st_dev as u64, number: stat.st_ino as u64 })
}

/// Returns the identity of an open file or pipe.
pub(crate) fn id_of(file: &File) -> io::Result<FileId> {
    id_at(file)
}

/// Looks up what a path leads to that a person named: its identity, its size and its times.
pub(crate) fn stat_at(path: &Path) -> io::Result<(FileId, Metadata)> {
    let meta = std::fs::metadata(path)?;
    Ok((FileId { device: meta.dev(), number: meta.ino() }, meta))
}

/// Looks up the same of a name itself: a link is a link.
pub(crate) fn stat_of_name(path: &Path) -> io::Result<(FileId, Metadata)> {
    let meta = std::fs::symlink_metadata(path)?;
    Ok((FileId { device: meta.dev(), number: meta.ino() }, meta))
}

/// Returns the type of what is open.
pub(crate) fn type_of(file: &File) -> io::Result<FileType> {
    Ok(type_by(file.metadata()?.mode() as RawMode))
}

/// Returns the type of what a path leads to that a person named, and leaves it closed: opening a device can do harm.
pub(crate) fn type_at(path: &Path) -> io::Result<FileType> {
    Ok(type_by(std::fs::metadata(path)?.mode() as RawMode))
}

/// Counts the names that a file has.
pub(crate) fn link_count(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.nlink())
}

/// Opens what a person named; a pipe is not waited for.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Lets reads of a pipe wait.
pub(crate) fn wait_for_all(pipe: &File) -> io::Result<()> {
    Ok(rustix::fs::fcntl_setfl(pipe, OFlags::empty())?)
}

/// Waits for the writer of a named pipe, who may be started after its reader.
pub(crate) fn await_writer(pipe: &File) {
    let patience = rustix::event::Timespec { tv_sec: 5, tv_nsec: 0 };
    let mut fds = [rustix::event::PollFd::new(pipe, rustix::event::PollFlags::IN)];
    // What comes, or that nothing comes, shows when it is read.
    let _ = rustix::event::poll(&mut fds, Some(&patience));
}

/// File systems whose files look regular but have no end, no size, or side effects, by their magic numbers.
#[cfg(target_os = "linux")]
const KERNEL: [u64; 14] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x6573_5543, // fusectl
    0xf97c_ff8c, // selinuxfs
    0x4249_4e4d, // binfmt_misc
];

/// Tells whether a file is made by the kernel when it is read.
pub(crate) fn is_made_by_kernel(file: &File) -> bool {
    #[cfg(target_os = "linux")]
    {
        // Some systems extend the sign of the lower half.
        rustix::fs::fstatfs(file).is_ok_and(|system| KERNEL.contains(&(system.f_type.cast_unsigned() & 0xffff_ffff)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        false
    }
}

/// Tells whether it is the device that holds nothing, which `< /dev/null` and programs without input hand on.
fn is_null(meta: &Metadata) -> bool {
    let null = || std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev());
    meta.file_type().is_char_device() && null()
}

/// Opens standard input.
pub(crate) fn standard_input() -> io::Result<StandardInput> {
    let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let meta = file.metadata()?;
    let kind = meta.file_type();
    Ok(match () {
        () if kind.is_file() => StandardInput::File(file),
        () if kind.is_fifo() || kind.is_socket() || is_null(&meta) => StandardInput::Pipe(file),
        () => StandardInput::Device,
    })
}

/// Reads from a place in a file, and moves nothing.
pub(crate) fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(into, offset)
}

/// Writes all of it at a place in a file.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Finds the next byte that stands in a file and in no hole; where the system tells of no holes, it is this one.
pub(crate) fn next_data(file: &File, at: u64) -> io::Result<u64> {
    match seek(file, SeekFrom::Data(at)) {
        Err(Errno::NXIO) => file.metadata().map(|meta| meta.len()),
        found => Ok(found?),
    }
}

/// Lists the ranges of a file that have bytes and are no holes, up to an end.
pub(crate) fn data_ranges(file: &File, end: u64) -> io::Result<Vec<(u64, u64)>> {
    let mut extents = Vec::new();
    let mut at = 0;
    while at < end {
        let from = match seek(file, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => break,
            // No holes are known here.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => at,
            found => found?,
        };
        if from >= end {
            break;
        }
        let to = seek(file, SeekFrom::Hole(from)).unwrap_or(end).clamp(from + 1, end);
        extents.push((from, to));
        at = to;
    }
    Ok(extents)
}

/// Creates a file without a name, in memory.
pub(crate) fn memory_file() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        let fd = rustix::fs::memfd_create("stepscope", rustix::fs::MemfdFlags::CLOEXEC)?;
        Ok(File::from(fd))
    }
    #[cfg(not(target_os = "linux"))]
    {
        tempfile::tempfile()
    }
}

/// Counts the bytes that are free in a folder.
pub(crate) fn free_in(folder: &Path) -> io::Result<u64> {
    let system = statvfs(folder)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Makes a folder that nobody else can enter; it goes with what is returned.
pub(crate) fn private_folder(parent: &Path) -> io::Result<TempDir> {
    Builder::new().prefix("stepscope-").permissions(Permissions::from_mode(0o700)).tempdir_in(parent)
}

/// Makes a file on the disk without a name; `None`: the system or the disk cannot do that.
pub(crate) fn without_name(folder: &Path) -> io::Result<Option<File>> {
    #[cfg(target_os = "linux")]
    {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(CWD, folder, flags, Mode::from(0o600)) {
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
            file => return Ok(Some(file?.into())),
        }
    }
    let _ = folder;
    Ok(None)
}

/// Gives a file without a name one.
pub(crate) fn give_name(file: &File, path: &Path) -> io::Result<()> {
    let own = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Takes the folder of an open file away, which stays open.
pub(crate) fn take_name(folder: TempDir) -> io::Result<Option<TempDir>> {
    match folder.close() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(None),
    }
}

/// Makes a new file to be read and written: for its owner alone, or for whom the system lets.
pub(crate) fn make_new(path: &Path, is_private: bool) -> io::Result<File> {
    let mode = if is_private { 0o600 } else { 0o666 };
    OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
}

/// Lets a temporary file be read by whom the system lets, as one that will be handed on.
pub(crate) fn for_others(builder: &mut Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(0o666));
}

/// Makes a folder of our own, with those above it, for its owner alone.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens what is locked where a whole folder is.
pub(crate) fn folder_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Tells whether a file system has no locks.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    is_any(error, &[Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS])
}

/// Tells whether an error is due to a link in the path.
pub(crate) fn is_link(error: &io::Error) -> bool {
    is_any(error, &[Errno::LOOP])
}

/// Tells whether an error says that links of a path that a person named lead in a circle.
pub(crate) fn is_loop(error: &io::Error) -> bool {
    is_any(error, &[Errno::LOOP])
}

/// Tells whether an error says that the name leads out of its folder.
pub(crate) fn is_outside(error: &io::Error) -> bool {
    is_any(error, &[Errno::XDEV])
}

/// Tells whether the system opens no more files for us.
pub(crate) fn is_too_many_files(error: &io::Error) -> bool {
    is_any(error, &[Errno::MFILE, Errno::NFILE])
}

fn is_any(error: &io::Error, of: &[Errno]) -> bool {
    of.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Counts the files that may be open at once; `None`: there is no limit.
pub(crate) fn most_open_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// Lets other threads come first, from this one on.
pub(crate) fn give_way() {
    let _ = rustix::process::nice(5);
}

/// Keeps the memory of this process from core files and from other processes of the same user.
pub(crate) fn hide_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Where the system does not let us, a key is as safe as any other variable.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Lets writing behind the limit of a file's size (`ulimit -f`) fail as it does on a full disk; by itself the system ends
/// the program. To be called before anything is written. A handler, not "ignored": commands that are started, such as an
/// editor, begin as usual.
pub fn outlive_file_limit() {
    // Where it is refused, all is as before.
    let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), std::sync::Arc::default());
}

/// Waits for a Ctrl-C.
pub(crate) async fn interrupted() {
    comes(SignalKind::interrupt()).await;
}

/// Waits for what else asks the program to end.
pub(crate) async fn terminated() {
    comes(SignalKind::terminate()).await;
}

async fn comes(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => pending().await,
    }
}

/// Lists the files that this process has open, by number; nothing where the system does not tell.
pub(crate) fn open_files() -> HashSet<(OsString, FileId)> {
    const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let names = std::fs::read_dir(DESCRIPTORS).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| stat_at(&Path::new(DESCRIPTORS).join(&name)).ok().map(|(id, _)| (name, id))).collect()
}

/// Returns a path as data names it, with `/`.
pub(crate) fn slashed(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path.as_os_str().as_encoded_bytes())
}

/// Makes a name of bytes; `None`: the system has no such names.
pub(crate) fn os_name(bytes: &[u8]) -> Option<&OsStr> {
    Some(OsStr::from_bytes(bytes))
}

/// Returns the name of this machine.
pub fn host() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

/// Returns a name of who runs this where no variable says one.
pub fn user() -> String {
    format!("uid-{}", rustix::process::getuid().as_raw())
}

/// Tells whether something can be made in a folder.
pub fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Opens a name beneath a folder. `..`, absolute names and links, wherever they are in it, are errors: `XDEV` for what
/// leads out, `LOOP` for links.
pub(crate) fn open_beneath(root: BorrowedFd<'_>, rest: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let names = names(rest)?;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if let Some(opened) = ask_kernel(root, rest, flags, mode) {
        return opened;
    }
    open_by_steps(root, &names, flags, mode)
}

/// Lists the names on the way.
pub(crate) fn names(rest: &Path) -> Result<Vec<&OsStr>, Errno> {
    let name = |part| match part {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => Some(Err(Errno::XDEV)),
    };
    rest.components().filter_map(name).collect()
}

/// Opens it in one call; `None`: the system does not have that.
#[cfg(target_os = "linux")]
fn ask_kernel(root: BorrowedFd<'_>, rest: &Path, flags: OFlags, mode: Mode) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::{ResolveFlags, openat2};
    static MISSING: AtomicBool = AtomicBool::new(false);
    if MISSING.load(Ordering::Relaxed) {
        return None;
    }
    let rest = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..TRIES {
        match openat2(root, rest, flags, mode, resolve) {
            // Somebody renames what stands on the way.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // An old system, or one that keeps the call from containers: the steps find the true reason, if it is another.
            Err(Errno::NOSYS | Errno::PERM) => {
                MISSING.store(true, Ordering::Relaxed);
                return None;
            }
            Ok(fd) if flags.contains(LOOK) => return Some(no_link(fd)),
            opened => return Some(opened),
        }
    }
    None
}

#[cfg(not(target_os = "linux"))]
fn ask_kernel(_: BorrowedFd<'_>, _: &Path, _: OFlags, _: Mode) -> Option<Result<OwnedFd, Errno>> {
    None
}

/// Refuses a link: to look at one is not to open it.
fn no_link(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    let kind = type_by(fstat(&fd)?.st_mode as RawMode);
    if kind == FileType::Symlink { Err(Errno::LOOP) } else { Ok(fd) }
}

/// Opens it name by name: each folder is opened in the one before it, and none is a link.
pub(crate) fn open_by_steps(
    root: BorrowedFd<'_>,
    names: &[&OsStr],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let Some((last, folders)) = names.split_last() else {
        return openat(root, ".", flags, mode);
    };
    let step = |at: BorrowedFd<'_>, name: &OsStr, flags: OFlags, mode: Mode| {
        let opened =
            openat(at, name, flags, mode).and_then(|fd| if flags.contains(LOOK) { no_link(fd) } else { Ok(fd) });
        match opened {
            // A link is no folder: say which of the two it is.
            Err(Errno::NOTDIR) => match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if type_by(stat.st_mode as RawMode) == FileType::Symlink => Err(Errno::LOOP),
                _ => Err(Errno::NOTDIR),
            },
            opened => opened,
        }
    };
    let into = LOOK | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut held: Option<OwnedFd> = None;
    for name in folders {
        let at = held.as_ref().map_or(root, AsFd::as_fd);
        held = Some(step(at, name, into, Mode::empty())?);
    }
    step(held.as_ref().map_or(root, AsFd::as_fd), last, flags, mode)
}
