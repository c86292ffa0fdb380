//! Files that are only added to: forks and cassettes. Never the file that records came from.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::failure::Failure;
use crate::domain::text::Shown;

const WHAT: &str = "cannot write";

/// Opens a file to add to, or makes it, readable for its owner alone. A symbolic link is not followed: somebody else may
/// have put it there.
pub fn append_to(path: &Path) -> Result<File, Failure> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| failure(path, &error))?;
    let meta = opened.metadata().map_err(|error| failure(path, &error))?;
    if !meta.is_file() {
        return Err(Failure::own(WHAT, &Shown::path(path), "it is not a regular file"));
    }
    Ok(opened)
}

/// Adds one line and returns when it is on the disk. A line that an earlier writer left without its end is closed first.
pub fn append_line(path: &Path, line: &[u8]) -> Result<(), Failure> {
    let is_new = !path.exists();
    let mut file = append_to(path)?;
    let done = (|| {
        file.lock()?;
        let len = file.seek(SeekFrom::End(0))?;
        let mut last = [b'\n'];
        if len > 0 {
            file.seek(SeekFrom::Start(len - 1))?;
            file.read_exact(&mut last)?;
        }
        let seal: &[u8] = if last == *b"\n" { b"" } else { b"\n" };
        file.write_all(&[seal, line, b"\n"].concat())?;
        file.sync_data()?;
        if is_new && let Some(folder) = path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    })();
    done.map_err(|error: std::io::Error| failure(path, &error))
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    let shown = Shown::path(path);
    match error.kind() {
        ErrorKind::NotFound => Failure::own(WHAT, &shown, "there is no such folder"),
        ErrorKind::PermissionDenied => Failure::own(WHAT, &shown, "you may not write there; name another file"),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Failure::own(WHAT, &shown, "it is a symbolic link; name the file itself")
        }
        _ => Failure { what: WHAT, path: shown, source: Shown::error(error) },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_line_is_added_behind_a_closed_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.forks.jsonl");
        append_line(&path, b"{}").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, b"{}\n{\"torn\"").unwrap();
        append_line(&path, b"[1]").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"{}\n{\"torn\"\n[1]\n");
    }

    #[test]
    fn nothing_is_written_through_a_link_or_into_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, b"").unwrap();
        symlink(&file, &link).unwrap();
        assert!(append_line(&link, b"x").unwrap_err().to_string().contains("symbolic link"));
        assert!(append_line(Path::new("/dev/null"), b"x").is_err());
        assert!(append_line(&folder.path().join("no/file"), b"x").unwrap_err().to_string().contains("no such folder"));
        assert_eq!(std::fs::read(&file).unwrap(), b"");
    }
}
