//! What differs from system to system, behind one face: everything else of this crate names no system.
//!
//! Each of both files has the same functions. What a system does not have is left out there, and says so.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use stepscope_base::text::Untrusted;

#[cfg(unix)]
pub(crate) mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as own;
#[cfg(windows)]
use windows as own;

pub use own::{host, may_write, outlive_file_limit, user};
#[cfg(unix)]
pub(crate) use unix::UnixFolder as HeldFolder;
#[cfg(windows)]
pub(crate) use windows::WindowsFolder as HeldFolder;

pub(crate) use own::{
    await_writer, data_ranges, folder_lock, for_others, free_in, give_name, give_way, has_no_locks, hide_memory, id_of,
    interrupted, is_link, is_loop, is_made_by_kernel, is_outside, is_too_many_files, link_count, make_new,
    make_private_folder, memory_file, most_open_files, next_data, open_files, open_named, os_name, private_folder,
    read_at, slashed, standard_input, stat_at, stat_of_name, sync_folder, take_name, terminated, type_at, type_of,
    wait_for_all, without_name, write_all_at,
};

/// Returns a path as data names it, with `/`.
pub fn named(path: &Path) -> Untrusted<'_> {
    match slashed(path) {
        Cow::Borrowed(name) => Untrusted::new(name),
        Cow::Owned(name) => Untrusted::owned(name),
    }
}

/// Identity of a file on disk, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId {
    device: u64,
    number: u64,
}

/// Type of something on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileType {
    /// A file with bytes.
    RegularFile,
    /// A folder.
    Directory,
    /// A name that leads elsewhere.
    Symlink,
    /// A pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device, or what nobody says.
    Other,
}

/// Type and identity of something on the disk, without following a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// A file, a folder, a link.
    pub kind: FileType,
    /// Identity.
    pub id: FileId,
}

/// An entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// Type of the entry; a link is a link.
    pub kind: FileType,
}

/// Purpose for which a file beneath a folder is opened. None waits for a pipe, and what is made is readable for its owner alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpenFor {
    /// To read it.
    Read,
    /// To read it, and to add to its end.
    Add,
    /// The same; it is made if it is not there.
    Begin,
    /// To hold its lock; it is made if it is not there.
    Lock,
}

/// Kind of standard input.
pub(crate) enum StandardInput {
    /// A file that was redirected.
    File(std::fs::File),
    /// A pipe, a socket, or nothing at all.
    Pipe(std::fs::File),
    /// A terminal or a device.
    Device,
}
