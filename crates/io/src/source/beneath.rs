//! Files that data and listings name, opened beneath a folder that a person named.
//!
//! A name that a person gives may lead anywhere, through any symbolic link. A name that a record, a store or a listing
//! gives leads into a folder that is held open, follows no link on the way nor at its end, and cannot climb out: by
//! `openat2`, or name by name where the system has no such call. So it does not matter what is swapped meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::system::{Entry, FileId, FileType, HeldFolder, Kind, OpenFor};

/// Number of folders held open; of more, each use opens its folder again and checks that it is the same one.
const MAX_HELD: usize = 32;
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A folder that a person named.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    id: FileId,
    /// `None`: very many are held open already.
    held: Option<HeldFolder>,
}

impl Drop for Root {
    fn drop(&mut self) {
        if self.held.is_some() {
            HELD.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Root {
    fn open(path: &Path) -> io::Result<Self> {
        let folder = HeldFolder::open(path)?;
        let id = folder.id()?;
        let room = HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| (held < MAX_HELD).then(|| held + 1));
        Ok(Self { path: path.to_owned(), id, held: room.is_ok().then_some(folder) })
    }

    fn with<T>(&self, act: impl FnOnce(&HeldFolder) -> io::Result<T>) -> io::Result<T> {
        if let Some(folder) = &self.held {
            return act(folder);
        }
        let folder = HeldFolder::open(&self.path)?;
        if folder.id()? != self.id {
            return Err(io::Error::other("another folder has replaced it; open it again"));
        }
        act(&folder)
    }
}

/// A name beneath a folder that a person named, or that folder itself.
#[derive(Clone, Debug)]
pub struct UnderRoot {
    root: Arc<Root>,
    /// Path that was named beneath it; empty: the folder itself.
    rest: PathBuf,
    /// All of it, to be shown.
    path: PathBuf,
}

impl PartialEq for UnderRoot {
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.rest, self.root.id) == (&other.path, &other.rest, other.root.id)
    }
}

impl Eq for UnderRoot {}

impl Hash for UnderRoot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.path, &self.rest, self.root.id).hash(state);
    }
}

impl UnderRoot {
    /// Opens a folder that a person named; links may lead there.
    pub fn root(path: &Path) -> io::Result<Self> {
        Ok(Self { root: Arc::new(Root::open(path)?), rest: PathBuf::new(), path: path.to_owned() })
    }

    /// Returns a name in the folder of a path that a person named: for what belongs to a file and lies next to it.
    pub fn beside(path: &Path, name: &OsStr) -> io::Result<Self> {
        Ok(Self { path: path.with_file_name(name), ..Self::root(folder(path))?.join(name) })
    }

    /// Appends a name from data or a listing to this one.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> Self {
        let name = name.as_ref();
        // An absolute name would take the place of all before it.
        let join = |base: &Path| if base.as_os_str().is_empty() { name.to_owned() } else { base.join(name) };
        Self { root: self.root.clone(), rest: join(&self.rest), path: self.path.join(name) }
    }

    /// Returns the folder in which it lies; `None`: that is above what was named.
    pub fn parent(&self) -> Option<Self> {
        let rest = self.rest.parent()?.to_owned();
        Some(Self { root: self.root.clone(), path: self.path.parent()?.to_owned(), rest })
    }

    /// Appends a suffix to its name.
    #[must_use]
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        let add = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self { root: self.root.clone(), rest: add(&self.rest), path: add(&self.path) }
    }

    /// Returns all of its name, to be shown.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the part of its name that was not named by a person.
    pub fn rest(&self) -> &Path {
        &self.rest
    }

    /// Opens it, by the rules of this module.
    pub(crate) fn open(&self, want: OpenFor) -> io::Result<File> {
        self.root.with(|root| root.file(&self.rest, want))
    }

    /// Looks up its type; a link is an error, as is everything behind one.
    pub fn kind(&self) -> io::Result<Kind> {
        self.root.with(|root| root.look(&self.rest))
    }

    /// Checks whether another name can be made in the folder in which it lies.
    pub(crate) fn may_be_made(&self) -> io::Result<()> {
        self.in_folder(|root, folder| root.may_make(folder))
    }

    /// Waits until the names in the folder in which it lies are on the disk.
    pub(crate) fn sync_name(&self) -> io::Result<()> {
        self.in_folder(HeldFolder::sync)
    }

    /// Takes the name away.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let name = self.path.file_name().ok_or(io::ErrorKind::NotFound)?;
        self.in_folder(|root, folder| root.remove(folder, name))
    }

    fn in_folder<T>(&self, act: impl FnOnce(&HeldFolder, &Path) -> io::Result<T>) -> io::Result<T> {
        let folder = self.parent().ok_or(io::ErrorKind::NotFound)?;
        self.root.with(|root| act(root, &folder.rest))
    }

    /// Tells whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind().is_ok_and(|found| found.kind == FileType::RegularFile)
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind().is_ok_and(|found| found.kind == FileType::Directory)
    }

    /// Gives the entries of a folder, without hidden ones, until `each` has had enough; counts those.
    pub fn list(&self, mut each: impl FnMut(Entry) -> bool) -> io::Result<u64> {
        let mut hidden = 0;
        self.root.with(|root| {
            root.list(&self.rest, |entry| {
                let is_hidden = entry.name.as_encoded_bytes().starts_with(b".");
                hidden += u64::from(is_hidden);
                is_hidden || each(entry)
            })
        })?;
        Ok(hidden)
    }
}

/// A path and how far it is to be trusted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A person named it: links are followed.
    Named(PathBuf),
    /// It belongs to what a person named and lies next to it: its folder may be anywhere, its own name is not trusted.
    Beside(PathBuf),
    /// Data or a listing named it.
    UnderRoot(UnderRoot),
}

impl Place {
    /// Returns its name.
    pub fn path(&self) -> &Path {
        match self {
            Self::Named(path) | Self::Beside(path) => path,
            Self::UnderRoot(at) => at.path(),
        }
    }

    /// Returns another file that belongs to it: in its folder, by its name with a suffix.
    #[must_use]
    pub fn beside(&self, suffix: &str) -> Self {
        match self {
            Self::UnderRoot(at) if !at.rest().as_os_str().is_empty() => Self::UnderRoot(at.with_suffix(suffix)),
            _ => {
                let path = self.path();
                // `.` and `..` are no names.
                let named = if path.file_name().is_none() { path.canonicalize().ok() } else { None };
                // A folder may be named with a slash behind it.
                let path = named.as_deref().unwrap_or(path).components();
                let mut name = path.as_path().as_os_str().to_owned();
                name.push(suffix);
                Self::Beside(name.into())
            }
        }
    }

    /// Returns its name in its folder, where it is no link; of a link that a person named, where it leads.
    pub fn beneath(&self) -> io::Result<UnderRoot> {
        let led;
        let path = match self {
            Self::UnderRoot(at) => return Ok(at.clone()),
            Self::Named(path) if path.is_symlink() => {
                led = std::fs::canonicalize(path);
                led.as_ref().unwrap_or(path)
            }
            Self::Named(path) | Self::Beside(path) => path,
        };
        UnderRoot::beside(path, path.file_name().ok_or(io::ErrorKind::NotFound)?)
    }
}

impl From<UnderRoot> for Place {
    fn from(at: UnderRoot) -> Self {
        Self::UnderRoot(at)
    }
}

impl From<&Self> for Place {
    fn from(place: &Self) -> Self {
        place.clone()
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self::Named(path.to_owned())
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        Self::Named(path.clone())
    }
}

/// Returns the folder in which a file lies.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;
    use std::os::fd::AsFd as _;

    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    use crate::system::is_link;
    use crate::system::unix::{LOOK, names, open_beneath, open_by_steps};

    /// Makes a folder with everything in it that a name can lead to, and a secret next to it.
    fn folder_of_links() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("root/sub/deep")).unwrap();
        std::fs::create_dir(at("outside")).unwrap();
        for name in ["root/a", "root/sub/b", "root/sub/deep/c"] {
            std::fs::write(at(name), "inside").unwrap();
        }
        std::fs::write(at("outside/secret"), "secret").unwrap();
        symlink(at("outside/secret"), at("root/absolute")).unwrap();
        symlink("../outside/secret", at("root/relative")).unwrap();
        symlink("a", at("root/own")).unwrap();
        symlink("sub", at("root/folder")).unwrap();
        symlink("../outside", at("root/out")).unwrap();
        symlink("nowhere", at("root/dangling")).unwrap();
        symlink("self", at("root/self")).unwrap();
        symlink("/proc/self/root", at("root/magic")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("root/pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        dir
    }

    const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

    #[test]
    fn the_kernel_and_the_steps_say_the_same() {
        let dir = folder_of_links();
        let root = HeldFolder::open(&dir.path().join("root")).unwrap().0;
        let secret = dir.path().join("outside/secret");
        let cases: Vec<(&str, Result<(), Errno>)> = vec![
            ("a", Ok(())),
            ("./sub/./b", Ok(())),
            ("sub/deep/c", Ok(())),
            ("pipe", Ok(())),
            ("", Ok(())),
            ("missing", Err(Errno::NOENT)),
            ("missing/b", Err(Errno::NOENT)),
            ("a/b", Err(Errno::NOTDIR)),
            ("absolute", Err(Errno::LOOP)),
            ("relative", Err(Errno::LOOP)),
            ("own", Err(Errno::LOOP)),
            ("folder", Err(Errno::LOOP)),
            ("folder/b", Err(Errno::LOOP)),
            ("folder/deep/c", Err(Errno::LOOP)),
            ("out/secret", Err(Errno::LOOP)),
            ("dangling", Err(Errno::LOOP)),
            ("self", Err(Errno::LOOP)),
            ("magic/etc/passwd", Err(Errno::LOOP)),
            ("..", Err(Errno::XDEV)),
            ("../outside/secret", Err(Errno::XDEV)),
            ("sub/../a", Err(Errno::XDEV)),
            ("sub/../../outside/secret", Err(Errno::XDEV)),
            (secret.to_str().unwrap(), Err(Errno::XDEV)),
            ("/", Err(Errno::XDEV)),
        ];
        for flags in [FILE, LOOK] {
            for (name, expected) in &cases {
                let rest = Path::new(name);
                let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                let forced = names(rest).and_then(|names| open_by_steps(root.as_fd(), &names, flags, Mode::empty()));
                assert_eq!(forced.map(drop), *expected, "by steps: {name:?}");
                let asked = open_beneath(root.as_fd(), rest, flags, Mode::empty());
                assert_eq!(asked.map(drop), *expected, "{name:?}");
            }
        }
    }

    #[test]
    fn nothing_is_made_behind_a_link() {
        let dir = folder_of_links();
        let root = HeldFolder::open(&dir.path().join("root")).unwrap().0;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        for name in ["out/new", "dangling", "relative"] {
            let rest = Path::new(name);
            assert_eq!(open_beneath(root.as_fd(), rest, flags, 0o600.into()).map(drop), Err(Errno::LOOP), "{name}");
            let forced = open_by_steps(root.as_fd(), &names(rest).unwrap(), flags, 0o600.into());
            assert_eq!(forced.map(drop), Err(Errno::LOOP), "{name}");
        }
        assert!(!dir.path().join("outside/new").exists() && !dir.path().join("root/nowhere").exists());
    }

    #[test]
    fn a_folder_that_is_swapped_meanwhile_leads_nowhere_else() {
        let dir = folder_of_links();
        let root = UnderRoot::root(&dir.path().join("root")).unwrap();
        let at = root.join("sub/b");
        std::fs::rename(dir.path().join("root/sub"), dir.path().join("root/gone")).unwrap();
        symlink("../outside", dir.path().join("root/sub")).unwrap();
        std::fs::write(dir.path().join("outside/b"), "secret").unwrap();
        assert!(is_link(&at.open(OpenFor::Read).unwrap_err()));
        // The root itself is the folder that was named, whatever has taken its name.
        std::fs::rename(dir.path().join("root"), dir.path().join("moved")).unwrap();
        symlink("outside", dir.path().join("root")).unwrap();
        let mut text = String::new();
        root.join("a").open(OpenFor::Read).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "inside");
        assert!(root.join("secret").open(OpenFor::Read).is_err());
    }

    #[test]
    fn of_very_many_folders_each_is_the_one_that_was_named() {
        let dir = folder_of_links();
        let held: Vec<_> = (0..2 * MAX_HELD).map(|_| UnderRoot::root(&dir.path().join("root")).unwrap()).collect();
        assert!(held.iter().all(|root| root.join("a").is_file()));
        assert!(held.iter().any(|root| root.root.held.is_none()));
        std::fs::rename(dir.path().join("root"), dir.path().join("moved")).unwrap();
        symlink("outside", dir.path().join("root")).unwrap();
        for root in held {
            assert!(!root.join("secret").is_file());
            assert_eq!(root.join("a").is_file(), root.root.held.is_some());
        }
    }

    #[test]
    fn a_listing_tells_links_from_files() {
        let dir = folder_of_links();
        let mut found = Vec::new();
        let root = UnderRoot::root(&dir.path().join("root")).unwrap();
        root.list(|entry| {
            found.push((entry.name.into_string().unwrap(), entry.kind));
            true
        })
        .unwrap();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let links = found.iter().filter(|(_, kind)| *kind == FileType::Symlink).count();
        assert_eq!((found.len(), links, found[0].1), (11, 8, FileType::RegularFile));
        assert!(root.join("folder").list(|_| true).is_err());
    }
}
