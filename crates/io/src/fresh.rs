//! A file of its own, never in the place of another.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use tempfile::TempPath;

use crate::failure::{Failure, reason};
use crate::log::SAVE;
use crate::source::beneath::folder;
use crate::source::open::read_whole;
use stepscope_base::text::Shown;

/// A longer text is neither lent nor taken back.
const MAX_LENT: u64 = 1 << 20;

/// Writes a new file and returns when it is on the disk.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let done = OpenOptions::new().write(true).create_new(true).open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        File::open(folder(path))?.sync_all()
    });
    done.map_err(|error| Failure {
        what: SAVE,
        path: Shown::path(path),
        source: match error.kind() {
            ErrorKind::AlreadyExists => Shown::own("there is such a file already, and nothing is overwritten"),
            ErrorKind::NotFound => Shown::own("there is no such folder"),
            ErrorKind::PermissionDenied => Shown::own("you may not write there"),
            _ => reason(&error),
        },
    })
}

/// Puts a text into a temporary file, readable for its owner alone; it is removed when the path is dropped.
pub fn lend(text: &str) -> Result<TempPath, Failure> {
    if text.len() as u64 >= MAX_LENT {
        return Err(Failure::own("cannot lend", &Shown::own("this text"), "it is longer than 1 MB"));
    }
    let written = tempfile::Builder::new().prefix("stepscope-").suffix(".txt").tempfile().and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        Ok(file.into_temp_path())
    });
    written.map_err(|error| Failure {
        what: "cannot make",
        path: Shown::own("a temporary file"),
        source: Shown::error(&error),
    })
}

/// What stands in a temporary file now.
pub fn take_back(path: &Path) -> Result<String, Failure> {
    let bytes = read_whole(path, MAX_LENT)?;
    String::from_utf8(bytes).map_err(|_| Failure {
        what: "cannot take",
        path: Shown::path(path),
        source: Shown::own("it is no UTF-8 text"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_lent_for_its_owner_alone_and_up_to_a_size() {
        use std::os::unix::fs::PermissionsExt as _;
        let lent = lend("a").unwrap();
        assert_eq!(std::fs::metadata(&lent).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(take_back(&lent).unwrap(), "a\n");
        let path = lent.to_path_buf();
        drop(lent);
        assert!(!path.exists());
        assert!(lend(&"a".repeat(1 << 20)).is_err());
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
