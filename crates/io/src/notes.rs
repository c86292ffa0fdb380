//! Notes of a tour for a second terminal: one small file in the state folder, replaced as a whole, next to a lock that is
//! held as long as the tour runs. However it ends, the lock is free then.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files::{own_folder, remove, replace};
use crate::source::beneath::UnderRoot;
use crate::source::open::read_small_beneath;
use crate::system::OpenFor;

/// The names of the file and of the lock.
const NAMES: [&str; 2] = ["tour.json", "tour.lock"];
/// A larger file was not written by a tour.
const MAX_NOTES: u64 = 8 << 20;
/// A follower has the lock for a moment; so often it is tried for.
const TRIES: usize = 40;
const PAUSE: Duration = Duration::from_millis(5);

/// Scene that a tour shows now, and what its presenter is to know.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct TourNotes {
    /// The scene, from 1.
    pub scene: usize,
    /// Number of scenes.
    pub scenes: usize,
    /// Text for the audience.
    pub caption: String,
    /// Reminder for the presenter.
    pub note: String,
    /// The caption of the next scene; none: this is the last.
    pub next: Option<String>,
    /// Time at which the tour began, in milliseconds since 1970.
    pub began: u64,
}

/// Returns the time, in milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

impl TourNotes {
    /// Puts this in the place of what was told before.
    pub fn tell(&self, folder: &Path) -> Result<(), Failure> {
        let [path, _] = NAMES.map(|name| folder.join(name));
        let text = serde_json::to_vec(self).map_err(std::io::Error::from);
        text.and_then(|text| replace(&path, &text)).map_err(|error| Failure::system("cannot write", &path, &error))
    }

    /// Computes the time that the tour has been running.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(now().saturating_sub(self.began))
    }
}

/// A tour that can be followed, as long as this lives.
#[derive(Debug)]
pub struct Followed {
    folder: PathBuf,
    _lock: File,
}

impl Followed {
    /// Begins to be followed; `None`: another tour is, or there is no place for it.
    pub fn begin(folder: &Path) -> Option<Self> {
        own_folder(folder).ok()?;
        let [_, lock] = NAMES;
        let lock = UnderRoot::root(folder).ok()?.join(lock).open(OpenFor::Lock).ok()?;
        let is_locked = (0..TRIES).any(|n| {
            if n > 0 {
                std::thread::sleep(PAUSE);
            }
            lock.try_lock().is_ok()
        });
        is_locked.then(|| Self { folder: folder.to_owned(), _lock: lock })
    }

    /// Returns the folder of its notes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let [notes, _] = NAMES;
        remove(&self.folder.join(notes));
    }
}

/// Reads the latest notes of the running tour; `None`: there is none, or it told nothing yet.
pub fn follow(folder: &Path) -> Option<TourNotes> {
    let [notes, lock] = NAMES;
    let folder = UnderRoot::root(folder).ok()?;
    // The holder of the lock is alone.
    let lock = folder.join(lock).open(OpenFor::Read).ok()?;
    if lock.try_lock_shared().is_ok() {
        return None;
    }
    serde_json::from_slice(&read_small_beneath(&folder.join(notes), MAX_NOTES, "cannot read").ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_there_as_long_as_their_tour() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state");
        assert_eq!(follow(&folder), None);
        let tour = Followed::begin(&folder).unwrap();
        assert!(Followed::begin(&folder).is_none() && follow(&folder).is_none(), "nothing was told yet");
        for scene in 1..=2 {
            let notes = TourNotes { scene, scenes: 2, note: "a \u{1b}[2J".to_owned(), ..TourNotes::default() };
            notes.tell(tour.folder()).unwrap();
            assert_eq!(follow(&folder), Some(notes));
        }
        drop(tour);
        assert_eq!(follow(&folder), None);
        // What a tour leaves that was killed is nothing.
        TourNotes::default().tell(&folder).unwrap();
        assert_eq!(follow(&folder), None);
    }
}
