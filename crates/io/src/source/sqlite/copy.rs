//! A database and its write-ahead log as one file without a name, of bounded size.
//!
//! Neither is believed: the page count of the database counts only within the file, the frames of the log only as far as
//! their checksums hold. What is a hole stays one. What is small stays in memory; for what is large there must be room
//! on the disk, in a file that is gone with its process.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::OPEN;
use crate::failure::{Failure, reason};
use crate::source::magic::SQLITE;
use crate::source::open::Blob;
use crate::system::{
    data_ranges, free_in, give_name, make_new, memory_file, private_folder, read_at, take_name, without_name,
    write_all_at,
};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// A larger database is not copied.
pub(super) const MAX_SNAPSHOT: u64 = 2 << 30;
/// A larger copy goes to the disk.
const MAX_IN_MEMORY: u64 = 32 << 20;
/// A copy takes at most this part of what is free on the disk.
const MAX_SHARE: u64 = 2;
const BLOCK: usize = 1 << 20;
const HEAD: usize = 100;
/// The head of a log, and that of each frame in it.
const LOG_HEAD: usize = 32;
const FRAME_HEAD: usize = 24;

/// A copy, and how many bytes it has.
#[derive(Debug)]
pub(super) enum Copy {
    /// A file in memory.
    Memory(File, u64),
    /// A file on the disk.
    Disk(Unnamed),
}

/// Copies a database and what its log adds to it.
pub(super) fn take(database: &Blob, log: &Blob) -> Result<Copy, Failure> {
    let fail = |error: io::Error| Failure {
        what: "cannot copy",
        path: database.name().clone(),
        source: shown!("into a private file: {}", reason(&error)),
    };
    let mut head = Vec::new();
    database.read(0, HEAD, &mut head)?;
    let base = believed(&head, database.len()?);
    let Some(frames) = Frames::read(log, MAX_SNAPSHOT)? else { return Err(refused(database, &too_large())) };
    let (base, whole) = frames.sizes(base);
    if whole > MAX_SNAPSHOT {
        return Err(refused(database, &too_large()));
    }
    let extents = database.with(|file| data_ranges(file, base))?;
    let data = extents.iter().map(|(from, to)| to - from).sum::<u64>() + frames.bytes();
    let in_memory = whole <= MAX_IN_MEMORY;
    let (file, folder) = if in_memory {
        (memory_file().map_err(fail)?, None)
    } else {
        let folder = std::env::temp_dir();
        let free = free_in(&folder).map_err(fail)?;
        if data > free / MAX_SHARE {
            let (data, free) = (data.div_ceil(1 << 20), free >> 20);
            let folder = Shown::path(&folder);
            let why =
                shown!("it needs {data} MB, but {folder} has {free} MB free; free some space there, or set TMPDIR");
            return Err(refused(database, &why));
        }
        Unnamed::file_in(&folder).map_err(fail)?
    };
    file.set_len(whole).map_err(fail)?;
    for (from, to) in extents {
        copy_range(database, &file, from, to).map_err(fail)?;
    }
    frames.lay_over(log, &file, whole).map_err(fail)?;
    // The copy has no log any more.
    if whole > 20 {
        let mut versions = [0; 2];
        let filled = read_at(&file, &mut versions, 18).map_err(fail)?;
        if filled == 2 && versions == [2, 2] {
            write_all_at(&file, &[1, 1], 18).map_err(fail)?;
        }
    }
    Ok(if in_memory { Copy::Memory(file, whole) } else { Copy::Disk(Unnamed { file, folder }) })
}

fn refused(database: &Blob, why: &Shown) -> Failure {
    Failure { what: OPEN, path: database.name().clone(), source: shown!("snapshot refused: {why}") }
}

fn too_large() -> Shown {
    let most = MAX_SNAPSHOT >> 30;
    shown!("with its log it is larger than {most} GB; close the program that has it open, so that no copy is needed")
}

/// Computes the bytes of a database that count: what its head says, within the file.
fn believed(head: &[u8], len: u64) -> u64 {
    let number = |at: usize| be32(head, at).filter(|_| head.starts_with(SQLITE));
    // The count is valid only where the last writer wrote the version as well.
    let pages = number(28).filter(|pages| *pages > 0 && number(24) == number(92));
    match (pages, page_size(head)) {
        (Some(pages), Some(size)) => len.min(u64::from(pages) * u64::from(size)),
        _ => len,
    }
}

fn page_size(head: &[u8]) -> Option<u32> {
    let size = u16::from_be_bytes(head.get(16..18)?.try_into().ok()?);
    let size = if size == 1 { 65_536 } else { u32::from(size) };
    (size.is_power_of_two() && size >= 512).then_some(size)
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn copy_range(from: &Blob, to: &File, mut at: u64, end: u64) -> io::Result<()> {
    let mut block = Vec::new();
    while at < end {
        let want = BLOCK.min(usize::try_from(end - at).unwrap_or(BLOCK));
        from.read(at, want, &mut block).map_err(|failure| io::Error::other(failure.source.to_string()))?;
        if block.is_empty() {
            break;
        }
        write_all_at(to, &block, at)?;
        at += block.len() as u64;
    }
    Ok(())
}

/// Pages that the committed transactions of a log changed.
#[derive(Default, Debug)]
struct Frames {
    page_size: u32,
    /// The last frame of each page: the byte in the log at which the page begins.
    pages: HashMap<u32, u64>,
    /// Number of pages of the database after them.
    size: u32,
}

impl Frames {
    /// Reads a log as far as it is sound; `None`: it is larger than that.
    fn read(log: &Blob, most: u64) -> Result<Option<Self>, Failure> {
        let mut frames = Self::default();
        let mut bytes = Vec::new();
        log.read(0, LOG_HEAD, &mut bytes)?;
        let Some((mut sum, size, salt)) = Sum::of_head(&bytes) else { return Ok(Some(frames)) };
        frames.page_size = size;
        let step = FRAME_HEAD + size as usize;
        let (mut at, mut pending) = (LOG_HEAD as u64, Vec::new());
        loop {
            log.read(at, step, &mut bytes)?;
            let Some((head, page)) = bytes.split_at_checked(FRAME_HEAD).filter(|(_, page)| page.len() == size as usize)
            else {
                break;
            };
            let known = (be32(head, 8), be32(head, 12)) == (Some(salt.0), Some(salt.1));
            sum.add(&head[..8]);
            sum.add(page);
            let (Some(number), Some(commit)) = (be32(head, 0), be32(head, 4)) else { break };
            if !known || number == 0 || (be32(head, 16), be32(head, 20)) != (Some(sum.a), Some(sum.b)) {
                break;
            }
            pending.push((number, at + FRAME_HEAD as u64));
            if commit > 0 {
                frames.pages.extend(pending.drain(..));
                frames.size = commit;
            }
            at += step as u64;
            if at > most {
                return Ok(None);
            }
        }
        Ok(Some(frames))
    }

    /// Computes the bytes of the database that count, and the size of the copy.
    fn sizes(&self, base: u64) -> (u64, u64) {
        if self.pages.is_empty() {
            return (base, base);
        }
        let page = u64::from(self.page_size);
        let last = self.pages.keys().max().copied().map_or(0, u64::from);
        // No page is there that stands in neither.
        let whole = (u64::from(self.size) * page).min(base.max(last * page));
        (base.min(whole), whole)
    }

    fn bytes(&self) -> u64 {
        self.pages.len() as u64 * u64::from(self.page_size)
    }

    fn lay_over(&self, log: &Blob, to: &File, whole: u64) -> io::Result<()> {
        let mut pages: Vec<(u64, u64)> = self.pages.iter().map(|(page, at)| (*at, u64::from(*page))).collect();
        pages.sort_unstable();
        let mut bytes = Vec::new();
        for (at, page) in pages {
            let place = (page - 1) * u64::from(self.page_size);
            if place < whole {
                let failed = |failure: Failure| io::Error::other(failure.source.to_string());
                log.read(at, self.page_size as usize, &mut bytes).map_err(failed)?;
                write_all_at(to, &bytes, place)?;
            }
        }
        Ok(())
    }
}

/// The running checksum of a log.
struct Sum {
    a: u32,
    b: u32,
    big: bool,
}

impl Sum {
    /// Starts from a sound head; returns the size of its pages and the salt of its frames too.
    fn of_head(head: &[u8]) -> Option<(Self, u32, (u32, u32))> {
        const VERSION: u32 = 3_007_000;
        let big = match be32(head, 0)? {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let size = be32(head, 8)?;
        if be32(head, 4)? != VERSION || !size.is_power_of_two() || !(512..=65_536).contains(&size) {
            return None;
        }
        let mut sum = Self { a: 0, b: 0, big };
        sum.add(head.get(..24)?);
        let sound = (sum.a, sum.b) == (be32(head, 24)?, be32(head, 28)?);
        sound.then_some((sum, size, (be32(head, 16)?, be32(head, 20)?)))
    }

    fn add(&mut self, bytes: &[u8]) {
        let word = |word: &[u8]| {
            let word = word.try_into().expect("four bytes");
            if self.big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        let (mut a, mut b) = (self.a, self.b);
        for pair in bytes.chunks_exact(8) {
            let (first, second) = pair.split_at(4);
            a = a.wrapping_add(word(first)).wrapping_add(b);
            b = b.wrapping_add(word(second)).wrapping_add(a);
        }
        (self.a, self.b) = (a, b);
    }
}

/// A file on the disk that has no name, or, where a system cannot do that, one in a private folder.
#[derive(Debug)]
pub(super) struct Unnamed {
    file: File,
    folder: Option<TempDir>,
}

const COPY: &str = "copy.sqlite";

impl Unnamed {
    fn file_in(folder: &Path) -> io::Result<(File, Option<TempDir>)> {
        if let Some(file) = without_name(folder)? {
            return Ok((file, None));
        }
        let private = private_folder(folder)?;
        Ok((make_new(&private.path().join(COPY), true)?, Some(private)))
    }

    /// Has a name in a private folder as long as `act` runs: what it opened stays open, the name does not. Where a name
    /// cannot go before the file is closed, its folder is returned too.
    pub(super) fn named<T>(self, act: impl FnOnce(&Path) -> T) -> io::Result<(T, Option<TempDir>)> {
        let folder = if let Some(folder) = self.folder {
            folder
        } else {
            let folder = private_folder(&std::env::temp_dir())?;
            give_name(&self.file, &folder.path().join(COPY))?;
            folder
        };
        let done = act(&folder.path().join(COPY));
        Ok((done, take_name(folder)?))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;

    use rusqlite::Connection;

    use super::*;
    use crate::source::open::{Opened, open};

    fn blob(path: &Path) -> Blob {
        let Opened::File(blob) = open(path).unwrap() else { panic!("no file") };
        blob
    }

    /// Makes a database in a folder, with a log that holds two transactions, and the size of the log after the first.
    fn live(path: &Path) -> (Connection, u64) {
        let writer = Connection::open(path).unwrap();
        writer.execute_batch("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x)").unwrap();
        let log = std::fs::metadata(log_of(path)).unwrap().len();
        writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        (writer, log)
    }

    fn log_of(path: &Path) -> PathBuf {
        PathBuf::from(format!("{}-wal", path.display()))
    }

    #[test]
    fn the_count_of_pages_counts_within_the_file_only() {
        let mut head = vec![0; HEAD];
        head[..16].copy_from_slice(SQLITE);
        head[16..18].copy_from_slice(&4096_u16.to_be_bytes());
        for (pages, len, counts) in [(2_u32, 6 << 30, 8192), (u32::MAX, 8192, 8192), (0, 12_288, 12_288)] {
            head[28..32].copy_from_slice(&pages.to_be_bytes());
            assert_eq!(believed(&head, len), counts);
        }
        head[28..32].copy_from_slice(&2_u32.to_be_bytes());
        head[24] = 1;
        assert_eq!(believed(&head, 12_288), 12_288, "the count is an old one");
    }

    #[test]
    fn holes_stay_holes() {
        let dir = tempfile::tempdir().unwrap();
        let (path, log) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&log, "fake").unwrap();
        let file = File::create(&path).unwrap();
        file.set_len(MAX_IN_MEMORY + (64 << 20)).unwrap();
        for at in [0, 40 << 20] {
            write_all_at(&file, &[7; 4096], at).unwrap();
        }
        let Copy::Disk(copy) = take(&blob(&path), &blob(&log)).unwrap() else { panic!("too large for memory") };
        let meta = copy.file.metadata().unwrap();
        assert_eq!(meta.len(), MAX_IN_MEMORY + (64 << 20));
        assert!(meta.blocks() * 512 < 1 << 20, "{} blocks", meta.blocks());
        let mut bytes = [0; 4096];
        assert_eq!(read_at(&copy.file, &mut bytes, 40 << 20).unwrap(), bytes.len());
        assert_eq!(bytes, [7; 4096]);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (path, log) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&log, "fake").unwrap();
        File::create(&path).unwrap().set_len(MAX_SNAPSHOT + 1).unwrap();
        let why = take(&blob(&path), &blob(&log)).unwrap_err().to_string();
        assert!(why.contains("snapshot refused: with its log it is larger than 2 GB"), "{why}");
    }

    #[test]
    fn a_torn_transaction_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sqlite");
        let (_writer, first) = live(&path);
        let log = std::fs::read(log_of(&path)).unwrap();
        let torn = dir.path().join("torn");
        let pages = |bytes: &[u8]| {
            std::fs::write(&torn, bytes).unwrap();
            let frames = Frames::read(&blob(&torn), MAX_SNAPSHOT).unwrap().unwrap();
            let last = frames.pages.values().max().copied();
            (frames.pages.len(), last)
        };
        let (whole, before) = (pages(&log), pages(&log[..first as usize]));
        assert!(whole.1 > before.1 && before.0 > 0);
        assert_eq!(pages(&log[..log.len() - 1]), before, "cut off");
        let mut changed = log.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(pages(&changed), before, "changed");
        changed = log;
        changed[24] ^= 1;
        assert_eq!(pages(&changed), (0, None), "a log of another head");
        assert_eq!(pages(b""), (0, None));
    }
}
