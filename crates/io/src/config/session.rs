//! Memory of the screen from one start to the next: per file sort, filter and position; the theme, and typed filters.
//!
//! It lies in the state folder, beside nobody's records. That it cannot be read or written is said and harmless.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::replace;
use crate::source::beneath::UnderRoot;
use crate::source::open::read_small_beneath;
use stepscope_base::text::Shown;

/// Most files that are remembered; the one that was not opened for longest is forgotten first.
pub const MAX_FILES: usize = 200;
/// A larger session was not written by us.
const MAX_SESSION: u64 = 4 << 20;
/// A longer filter is not remembered.
const MAX_FILTER: usize = 4096;
/// Most typed filters that are remembered; the oldest are forgotten first.
const MAX_TYPED: usize = 50;
/// The name of its file in the state folder.
const NAME: &str = "session.json";
const SAVE: &str = "cannot save the session in";
const VERSION: u32 = 1;

/// View of one file. What does not fit the file any more is ignored by who asks.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct FileView {
    /// The column by which the table is sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// Largest first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
    /// The filter, as it was typed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filter: String,
    /// Number of the record, from 0.
    pub record: u64,
    /// Position of the step, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The screen on which the record was reviewed; without one, the table was in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    /// The cursor and the first row of what the keys were on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scroll: Option<(usize, usize)>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    theme: Option<String>,
    /// Filters that were typed, the last one last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filters: Vec<String>,
    /// Last opened first.
    files: Vec<Remembered>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Remembered {
    path: String,
    #[serde(flatten)]
    view: FileView,
}

/// The session in memory.
#[derive(Clone, Default, Debug)]
pub struct Session {
    folder: Option<PathBuf>,
    stored: Stored,
    /// Changes made here: another stepscope may have written the rest meanwhile.
    changed: BTreeSet<String>,
    theme_changed: bool,
    typed: Vec<String>,
}

impl Session {
    /// Reads what was remembered. A session that cannot be used is reported, and a fresh one begins.
    pub fn load(folder: Option<&Path>) -> (Self, Option<Shown>) {
        let mut session = Self { folder: folder.map(Path::to_owned), ..Self::default() };
        let Some(folder) = folder else { return (session, None) };
        match read(folder) {
            Ok(stored) => {
                session.stored = stored;
                (session, None)
            }
            Err(failure) => (session, Some(stepscope_base::shown!("{failure}; sort, filter and position are reset"))),
        }
    }

    /// True if nothing was opened before, as far as is remembered.
    pub const fn is_first(&self) -> bool {
        self.folder.is_some() && self.stored.files.is_empty()
    }

    /// Returns the last view of a file.
    pub fn view(&self, path: &Path) -> Option<&FileView> {
        let key = key(path);
        self.stored.files.iter().find(|file| file.path == key).map(|file| &file.view)
    }

    /// Returns the theme that was chosen on the screen.
    pub fn theme(&self) -> Option<&str> {
        self.stored.theme.as_deref()
    }

    /// Returns the filters that were typed, the last one last.
    pub fn filters(&self) -> &[String] {
        &self.stored.filters
    }

    /// Remembers filters that were typed, the last one last.
    pub fn remember_filters(&mut self, typed: &[String]) {
        self.typed = typed.iter().filter(|filter| filter.len() <= MAX_FILTER).cloned().collect();
    }

    /// Remembers how a file is looked at.
    pub fn remember(&mut self, path: &Path, mut view: FileView) {
        if view.filter.len() > MAX_FILTER {
            view.filter = String::new();
        }
        let path = key(path);
        self.changed.insert(path.clone());
        self.stored.put_first(Remembered { path, view });
    }

    /// Remembers the theme.
    pub fn choose_theme(&mut self, theme: &str) {
        self.stored.theme = Some(theme.to_owned());
        self.theme_changed = true;
    }

    /// Writes what was changed: whole or not at all, readable by its owner alone.
    pub fn save(&mut self) -> Result<(), Failure> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        if self.changed.is_empty() && !self.theme_changed && self.typed.is_empty() {
            return Ok(());
        }
        let path = folder.join(NAME);
        let fail = |error: &std::io::Error| Failure::system(SAVE, &path, error);
        let mut stored = read(&folder).unwrap_or_default();
        for file in self.stored.files.iter().rev().filter(|file| self.changed.contains(&file.path)) {
            stored.put_first(file.clone());
        }
        if self.theme_changed {
            stored.theme.clone_from(&self.stored.theme);
        }
        for filter in std::mem::take(&mut self.typed) {
            put_last(&mut stored.filters, filter);
        }
        stored.version = VERSION;
        let mut text = serde_json::to_vec_pretty(&stored).map_err(|error| fail(&error.into()))?;
        text.push(b'\n');
        replace(&path, &text).map_err(|error| fail(&error))?;
        (self.stored, self.theme_changed) = (stored, false);
        self.changed.clear();
        Ok(())
    }
}

impl Stored {
    fn put_first(&mut self, file: Remembered) {
        self.files.retain(|other| other.path != file.path);
        self.files.insert(0, file);
        self.files.truncate(MAX_FILES);
    }
}

/// Puts a filter behind those that were typed before it, once.
pub fn put_last(filters: &mut Vec<String>, filter: String) {
    filters.retain(|other| *other != filter);
    filters.push(filter);
    let excess = filters.len().saturating_sub(MAX_TYPED);
    filters.drain(..excess);
}

/// Makes a key of a path: absolute, and exact also where it is not UTF-8.
fn key(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.to_str().map_or_else(
        || {
            let hex: Vec<String> =
                path.as_os_str().as_encoded_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("hex:{}", hex.concat())
        },
        str::to_owned,
    )
}

fn read(folder: &Path) -> Result<Stored, Failure> {
    const READ: &str = "cannot read the session";
    // A link or a pipe in its place neither chooses what is read nor makes the program wait.
    let file = match UnderRoot::root(folder).and_then(|root| root.join(NAME).kind().map(|_| root.join(NAME))) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Stored::default()),
        Err(error) => return Err(Failure::system(READ, &folder.join(NAME), &error)),
    };
    let text = read_small_beneath(&file, MAX_SESSION, READ)?;
    serde_json::from_slice(&text).map_err(|error| Failure {
        what: READ,
        path: Shown::path(file.path()),
        source: Shown::error(&error),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn view(filter: &str) -> FileView {
        FileView { sort: Some("id".into()), filter: filter.into(), record: 7, step: Some(2), ..FileView::default() }
    }

    #[test]
    fn what_was_remembered_comes_back() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state/stepscope");
        let (mut session, said) = Session::load(Some(&folder));
        assert!(said.is_none() && session.view(Path::new("a.jsonl")).is_none());
        session.remember(Path::new("a.jsonl"), view("correct:false"));
        session.remember(Path::new(std::ffi::OsStr::from_bytes(b"/x/\xff")), view(""));
        session.choose_theme("mono");
        session.save().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("session.json"))), (0o700, 0o600));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");

        let (session, said) = Session::load(Some(&folder));
        assert!(said.is_none());
        assert_eq!(session.view(Path::new("a.jsonl")), Some(&view("correct:false")));
        assert_eq!(session.view(Path::new(std::ffi::OsStr::from_bytes(b"/x/\xff"))), Some(&view("")));
        assert_eq!(session.theme(), Some("mono"));
    }

    #[test]
    fn two_at_once_do_not_lose_each_others_files() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, _) = Session::load(Some(folder.path()));
        let (mut two, _) = Session::load(Some(folder.path()));
        one.remember(Path::new("/one"), view("1"));
        two.remember(Path::new("/two"), view("2"));
        one.save().unwrap();
        two.save().unwrap();
        let (both, _) = Session::load(Some(folder.path()));
        assert_eq!(both.view(Path::new("/one")), Some(&view("1")));
        assert_eq!(both.view(Path::new("/two")), Some(&view("2")));
    }

    #[test]
    fn typed_filters_are_kept_in_their_order_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let typed = |filters: &[&str]| {
            let (mut session, _) = Session::load(Some(folder.path()));
            session.remember_filters(&filters.iter().map(|filter| (*filter).to_owned()).collect::<Vec<_>>());
            session.save().unwrap();
            Session::load(Some(folder.path())).0.filters().to_vec()
        };
        assert_eq!(typed(&["kind:run", "steps>4"]), ["kind:run", "steps>4"]);
        assert_eq!(typed(&["fix:gold", "kind:run"]), ["steps>4", "fix:gold", "kind:run"]);
        assert_eq!(typed(&[&"x".repeat(MAX_FILTER + 1)]), ["steps>4", "fix:gold", "kind:run"]);
        let many: Vec<String> = (0..99).map(|n| format!("steps>{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(typed(&many).len(), MAX_TYPED);
        assert_eq!(typed(&[]).last().map(String::as_str), Some("steps>98"));
    }

    #[test]
    fn only_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (mut session, _) = Session::load(Some(folder.path()));
        for n in 0..MAX_FILES + 9 {
            session.remember(Path::new(&format!("/{n}")), view(""));
        }
        session.save().unwrap();
        let (session, _) = Session::load(Some(folder.path()));
        assert_eq!(session.stored.files.len(), MAX_FILES);
        assert!(session.view(Path::new("/0")).is_none() && session.view(Path::new("/208")).is_some());
    }

    #[test]
    fn a_session_that_cannot_be_used_is_said_and_harmless() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        for text in ["{", "[{}]", "{\"files\": 7}", "\u{1b}]0;x\u{7}"] {
            std::fs::write(&path, text).unwrap();
            let (mut session, said) = Session::load(Some(folder.path()));
            assert!(said.unwrap().as_str().ends_with("are reset"));
            session.choose_theme("dark");
            session.save().unwrap();
            assert_eq!(Session::load(Some(folder.path())).0.theme(), Some("dark"));
        }
        std::fs::write(&path, "{\"version\": 9, \"theme\": \"x\", \"later\": {}}").unwrap();
        assert_eq!(
            Session::load(Some(folder.path())).0.theme(),
            Some("x"),
            "a later version is read as far as it goes"
        );
    }

    #[test]
    fn no_link_is_followed() {
        let home = tempfile::tempdir().unwrap();
        let (folder, other) = (home.path().join("state"), home.path().join("other"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&other, "{\"theme\": \"stolen\"}").unwrap();
        symlink(&other, folder.join("session.json")).unwrap();
        symlink(&other, folder.join(format!("session.{}.new", std::process::id()))).unwrap();
        let (mut session, said) = Session::load(Some(&folder));
        assert!(said.is_some() && session.theme().is_none());
        session.choose_theme("dark");
        session.save().unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "{\"theme\": \"stolen\"}");
        assert!(!folder.join("session.json").is_symlink());
    }

    #[test]
    fn where_nothing_can_be_written_it_is_said() {
        // Also for root, who may write into a folder without the right.
        let (mut session, _) = Session::load(Some(Path::new("/proc/none/stepscope")));
        session.choose_theme("dark");
        let failure = session.save().unwrap_err().to_string();
        assert!(failure.starts_with("cannot save the session in /proc/none/stepscope/session.json: "), "{failure}");
        assert_eq!(session.theme(), Some("dark"), "it still holds for this session");
        let (mut nowhere, said) = Session::load(None);
        nowhere.choose_theme("dark");
        assert!(said.is_none() && nowhere.save().is_ok());
    }
}
