//! Small files, written whole: new ones, which never take the place of another, and our own, each in place of the one
//! before. What is added to is a log.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::failure::{Failure, reason};
use crate::log::{SAVE, lock_file};
use crate::source::beneath::folder;
use crate::source::open::read_whole;
use crate::system::{self, folder_lock, for_others, make_new, make_private_folder};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// A longer text is not edited.
const MAX_EDITED: u64 = 1 << 20;
/// Number of bytes at the beginning of a file that tell whether it was exported.
const MAX_HEAD: u64 = 256;
/// Number of bytes at its end that tell whose table a file is.
const MAX_END: u64 = 4096;

/// Writes a new file and returns when it is on the disk.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    create(path, bytes, false).and_then(|()| sync_folder(path)).map_err(|error| cannot_save(path, &error))
}

fn cannot_save(path: &Path, error: &io::Error) -> Failure {
    let why = match error.kind() {
        ErrorKind::AlreadyExists => Shown::own("the file exists, and nothing is overwritten"),
        ErrorKind::NotFound => Shown::own("no such folder"),
        ErrorKind::PermissionDenied => Shown::own("permission denied"),
        _ => reason(error),
    };
    Failure { what: SAVE, path: Shown::path(path), source: why }
}

/// Writes a file that a person asked for and returns when it is on the disk: a new one, or one in the place of what an
/// earlier call wrote there, which is told by how it begins. Whole, or not at all.
pub fn write_export(path: &Path, bytes: &[u8], is_ours: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
    if !begins_as_ours(path, is_ours) {
        return write_new(path, bytes);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = Path::new(&name);
    write_new(new, bytes)?;
    std::fs::rename(new, path).and_then(|()| sync_folder(path)).map_err(|error| {
        let _ = std::fs::remove_file(new);
        Failure { what: SAVE, path: Shown::path(path), source: reason(&error) }
    })
}

/// Refuses a path at which [`write_export`] would not write, before long work for it is done.
pub fn check_export(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) if !begins_as_ours(path, is_ours) => Err(cannot_save(path, &ErrorKind::AlreadyExists.into())),
        _ => Ok(()),
    }
}

/// Tells whether a file is what an earlier call wrote.
fn begins_as_ours(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> bool {
    let mut head = Vec::new();
    let begun = File::open(path).and_then(|file| file.take(MAX_HEAD).read_to_end(&mut head));
    begun.is_ok() && path.is_file() && is_ours(&head)
}

/// A file that a person asked for, written piece by piece next to its place, which it takes when it is whole. Dropped
/// before, it is gone.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Begins one: new, or in the place of what an earlier call wrote there, which is told by how it ends.
    pub(crate) fn create(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<Self, Failure> {
        if path.symlink_metadata().is_ok() && !(path.is_file() && end_of(path).is_ok_and(|end| is_ours(&end))) {
            return Err(cannot_save(path, &ErrorKind::AlreadyExists.into()));
        }
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name).suffix(".new");
        for_others(&mut builder);
        let file = builder.tempfile_in(folder(path)).map_err(|error| cannot_save(path, &error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Returns when all of it is on the disk.
    pub(crate) fn sync(&self) -> Result<(), Failure> {
        self.file.as_file().sync_all().map_err(|error| cannot_save(&self.path, &error))
    }

    /// Puts it in its place.
    pub(crate) fn keep(self) -> Result<(), Failure> {
        let Self { file, path } = self;
        let kept = file.persist(&path).map_err(|error| error.error).and_then(|_| sync_folder(&path));
        kept.map_err(|error| cannot_save(&path, &error))
    }
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut end) = (File::open(path)?, Vec::new());
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(MAX_END)))?;
    file.take(MAX_END).read_to_end(&mut end)?;
    Ok(end)
}

/// The folders that an export made. Dropped, those that nothing was put into are taken away again.
#[derive(Debug)]
#[must_use = "it is taken away when this is dropped before something is in it"]
pub struct ExportFolder(Vec<PathBuf>);

/// Makes the folder that files are exported into; it may be there already.
pub fn export_folder(folder: &Path) -> Result<ExportFolder, Failure> {
    let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let made = ExportFolder(folder.ancestors().take_while(missing).map(Path::to_owned).collect());
    std::fs::create_dir_all(folder).map(|()| made).map_err(|error| Failure::system("cannot create", folder, &error))
}

impl Drop for ExportFolder {
    fn drop(&mut self) {
        // The system removes no folder that holds something.
        let _ = self.0.iter().try_for_each(std::fs::remove_dir);
    }
}

/// Puts a file of our own in place of the one before, whole or not at all, readable by its owner alone; makes its
/// folder.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    own_folder(folder(path))?;
    // Its name must not exist yet, so no link is followed.
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let write = || create(&new, bytes, true).and_then(|()| std::fs::rename(&new, path));
    let mut done = write();
    if done.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        // Left by an earlier process with our number.
        std::fs::remove_file(&new)?;
        done = write();
    }
    if done.is_err() {
        let _ = std::fs::remove_file(&new);
    } else {
        // The name, too, should survive; if not, the file before does.
        let _ = sync_folder(path);
    }
    done
}

/// Takes a file of our own away, if it is there.
pub(crate) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

/// Creates a new file, on the disk when this returns; its name may not be yet. What cannot be written whole is taken
/// away again.
fn create(path: &Path, bytes: &[u8], is_private: bool) -> io::Result<()> {
    let mut file = make_new(path, is_private)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Waits for the lock of the folder that a file is in; it is let go with what is returned.
pub(crate) fn lock_folder(path: &Path) -> io::Result<File> {
    let lock = folder_lock(folder(path))?;
    lock_file(&lock)?;
    Ok(lock)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    system::sync_folder(folder(path))
}

/// Makes a folder of our own, with those above it, for its owner alone.
pub fn own_folder(folder: &Path) -> io::Result<()> {
    make_private_folder(folder)
}

/// Puts a text into a temporary file for an editor, readable for its owner alone and removed when the path is dropped.
pub fn editor_file(text: &str) -> Result<TempPath, Failure> {
    if text.len() as u64 >= MAX_EDITED {
        return Err(Failure::own("cannot edit", &Shown::own("this text"), "it is longer than 1 MB"));
    }
    let written = tempfile::Builder::new().prefix("stepscope-").suffix(".txt").tempfile().and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        Ok(file.into_temp_path())
    });
    written.map_err(|error| Failure {
        what: "cannot create",
        path: Shown::own("a temporary file"),
        source: Shown::error(&error),
    })
}

/// Reads an editor's file back. What cannot be taken back stays in the file: a person has typed it.
pub fn edited_text(file: TempPath) -> Result<String, Failure> {
    let read = read_whole(&file, MAX_EDITED).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| Failure::own("cannot use", &Shown::path(&file), "it is not UTF-8"))
    });
    read.map_err(|failure| match file.keep() {
        Ok(path) if path.exists() => Failure { source: shown!("{}; the file is kept", failure.source), ..failure },
        _ => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_lent_for_its_owner_alone_and_up_to_a_size() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = editor_file("a").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let path = file.to_path_buf();
        assert_eq!(edited_text(file).unwrap(), "a\n");
        assert!(!path.exists());
        assert!(editor_file(&"a".repeat(1 << 20)).is_err());
    }

    #[test]
    fn what_cannot_be_taken_back_from_an_editor_stays_in_its_file() {
        for (typed, why) in [(b"caf\xe9".to_vec(), "it is not UTF-8"), (vec![b'a'; 2 << 20], "larger than 1 MB")] {
            let file = editor_file("a").unwrap();
            let path = file.to_path_buf();
            std::fs::write(&path, &typed).unwrap();
            let told = edited_text(file).unwrap_err().to_string();
            assert!(told.contains(why) && told.contains(path.to_str().unwrap()), "{told}");
            assert!(told.ends_with("; the file is kept"), "{told}");
            assert_eq!(std::fs::read(&path).unwrap(), typed);
            std::fs::remove_file(path).unwrap();
        }
        let file = editor_file("a").unwrap();
        std::fs::remove_file(&file).unwrap();
        let told = edited_text(file).unwrap_err().to_string();
        assert!(told.ends_with("no such file"), "{told}");
    }

    #[test]
    fn an_export_takes_the_place_of_an_earlier_one_and_of_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.html"), folder.path().join("b"));
        let ours = |head: &[u8]| head.starts_with(b"ours");
        for text in ["ours 1", "ours 2"] {
            write_export(&path, text.as_bytes(), ours).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::write(&other, "mine").unwrap();
        assert!(write_export(&other, b"ours", ours).unwrap_err().to_string().contains("nothing is overwritten"));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_new(&path, b"1").unwrap();
        assert!(write_new(&path, b"2").unwrap_err().to_string().contains("nothing is overwritten"));
        assert_eq!(std::fs::read(&path).unwrap(), b"1");
        assert!(write_new(&folder.path().join("no/a"), b"").unwrap_err().to_string().contains("no such folder"));
    }
}
