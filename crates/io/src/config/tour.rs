//! Tours: scenes in a TOML file that are shown one after the other.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, reason};
use crate::source::beneath::folder;
use crate::source::open::read_small_text;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_samples::TOUR;

/// A larger file was not written by hand.
const MAX_TOUR: u64 = 1 << 20;
/// Number of scenes; a longer tour is not shown.
const MAX_SCENES: usize = 200;
const USE: &str = "cannot use";
/// Head of a tour that was recorded.
const RECORDED: &str = "# Recorded by stepscope. To do: a caption for each scene; a spot (the text that stays bright) and a note, if wanted.";

/// A tour.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TourScript {
    /// Title of the tour.
    pub title: String,
    /// Files and folders of records, seen from the folder of the tour; none opens the sample runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<PathBuf>,
    /// Recorded replies for the scenes that re-run a step; of the sample runs, those that come with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<PathBuf>,
    /// Folder beneath which records and recording are opened; `None`: a person named them or trusts the tour.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// The scenes, in their order.
    #[serde(rename = "scene")]
    pub scenes: Vec<Scene>,
}

/// One scene: where it begins, the keys that lead to what is to be seen, and its caption.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// A short name, also that of its picture.
    pub name: String,
    /// Filter of the table.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filter: String,
    /// The record that is open; without one, the table is in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The step in front, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Names of keys with blanks between them; `?word` waits until the word is on the screen, `_` in it is a blank.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub keys: String,
    /// Text that must be on the screen for the scene to be complete.
    pub wait: String,
    /// Lines with this text stay bright, the others are dimmed.
    pub spot: String,
    /// Caption for the audience.
    pub caption: String,
    /// Reminder for the presenter.
    pub note: String,
}

impl TourScript {
    /// Returns the built-in tour.
    pub fn built_in() -> Result<Self, Failure> {
        Self::parse(TOUR, &Shown::own("the built-in tour"))
    }

    /// Reads a tour from a file. `is_trusted`: its records and its recording may lie anywhere.
    pub fn read(path: &Path, is_trusted: bool) -> Result<Self, Failure> {
        let mut tour = Self::parse(&read_small_text(path, MAX_TOUR, USE)?, &Shown::path(path))?;
        if !is_trusted {
            tour.folder = Some(folder(path).to_owned());
            return Ok(tour);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        tour.recording = tour.recording.map(|recording| folder.join(recording));
        tour.records = tour.records.iter().map(|record| folder.join(record)).collect();
        Ok(tour)
    }

    /// Tells whether a tour in this file would open records outside of its folder.
    pub fn leads_out(&self, path: &Path) -> bool {
        let outside = |folder: PathBuf| {
            let inside = |record: &PathBuf| record.canonicalize().is_ok_and(|record| record.starts_with(&folder));
            !self.records.iter().all(inside)
        };
        folder(path).canonicalize().is_ok_and(outside)
    }

    /// Writes the text of a file from which [`TourScript::read`] reads the same.
    pub fn text(&self, path: &Path) -> Result<String, Failure> {
        let fail = |why: Shown| Failure { what: "cannot write", path: Shown::path(path), source: why };
        let folder = folder(path).canonicalize().map_err(|error| fail(reason(&error)))?;
        let beside = |record: &PathBuf| {
            let record = record.canonicalize().map_err(|error| Failure::system("cannot open", record, &error))?;
            Ok(seen_from(&folder, &record))
        };
        let records = self.records.iter().map(beside).collect::<Result<_, _>>()?;
        let seen = Self { records, ..self.clone() };
        let text = toml::to_string(&seen).map_err(|error| fail(Shown::error(&error)))?;
        Ok(format!("{RECORDED}\n{text}"))
    }

    fn parse(text: &str, name: &Shown) -> Result<Self, Failure> {
        let fail = |why: Shown| Failure { what: USE, path: name.clone(), source: why };
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            return Err(fail(Shown::own("these are records and no tour; --record FILE makes a tour of them")));
        }
        let tour: Self =
            toml::from_str(text).map_err(|error| fail(Shown::prose(error.to_string().trim_end().as_bytes())))?;
        if tour.scenes.is_empty() || tour.scenes.len() > MAX_SCENES {
            return Err(fail(shown!("a tour has 1 to {MAX_SCENES} scenes; this one has {}", tour.scenes.len())));
        }
        Ok(tour)
    }
}

/// Makes a path relative to a folder; both are whole.
fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let shared = folder.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tour_that_is_written_is_read_the_same() {
        let home = tempfile::tempdir().unwrap();
        let (records, tours) = (home.path().join("a b.jsonl"), home.path().join("tours"));
        std::fs::write(&records, "{}\n").unwrap();
        std::fs::create_dir(&tours).unwrap();
        let scene = Scene { id: Some("\"\u{1b}".to_owned()), keys: "/ \" Enter".to_owned(), ..Scene::default() };
        let tour =
            TourScript { title: "t".to_owned(), records: vec![records], scenes: vec![scene], ..TourScript::default() };
        let path = tours.join("t.toml");
        let text = tour.text(&path).unwrap();
        assert!(text.starts_with(RECORDED) && text.contains("records = [\"../a b.jsonl\"]"), "{text}");
        std::fs::write(&path, text).unwrap();
        let read = TourScript::read(&path, true).unwrap();
        assert_eq!((read.scenes, read.title), (tour.scenes, tour.title));
        assert_eq!(read.records[0].canonicalize().unwrap(), tour.records[0].canonicalize().unwrap());
    }

    #[test]
    fn the_built_in_tour_can_be_read() {
        let tour = TourScript::built_in().unwrap();
        assert!(
            tour.scenes
                .iter()
                .all(|scene| !scene.caption.is_empty() && !scene.wait.is_empty() && !scene.name.is_empty())
        );
    }

    #[test]
    fn a_mistake_in_a_tour_is_told() {
        let why = |text: &str| TourScript::parse(text, &Shown::own("t.toml")).unwrap_err().to_string();
        assert!(why("title = \"a\"\nscene = []").contains("1 to 200 scenes"));
        assert!(why("title = \"a\"\n[[scene]]\nkey = \"x\"").contains("key"), "an unknown word");
    }
}
