//! Reviewing at the screen by its keys: what is said stands in the journal, and nothing is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(dead_code, reason = "the harness serves several test files")]

#[path = "support/drive.rs"]
mod drive;

use std::path::{Path, PathBuf};

use drive::Drive;
use stepscope::domain::review::event::{Event, EventKind, Verdict};
use stepscope::io::journal::{beside, read_all};
use stepscope::tui::app::App;

/// A file of runs in a folder of its own, and a folder for the session.
struct Desk {
    folder: tempfile::TempDir,
}

fn run(n: usize) -> String {
    let right = n.is_multiple_of(3);
    format!(
        r#"{{"id": "r{n}", "mode": "procedural", "question": "What is {n} and {n}?", "gold_num": {}.0, "procedure": {{"steps": [{{"id": 1, "stepDescription": "Add.", "inputs": ["problem_text"], "output": [{{"name": "sum"}}]}}, {{"id": 2, "stepDescription": "Say it.", "inputs": ["sum"], "output": [{{"name": "final_answer"}}]}}]}}, "state": {{"sum": "{n} + {n}", "final_answer": "{}", "final_answer_numerical": {}, "confidence": 0.9}}, "pred_num": {}, "correct": {right}, "status": "ok"}}"#,
        2 * n,
        if right { 2 * n } else { 3 * n },
        if right { 2 * n } else { 3 * n },
        if right { 2 * n } else { 3 * n },
    ) + "\n"
}

impl Desk {
    fn new(runs: usize) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(desk.runs(), (1..=runs).map(run).collect::<String>()).unwrap();
        desk
    }

    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs.jsonl")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn open(&self) -> Drive {
        self.open_with(|_| {})
    }

    fn open_with(&self, change: impl FnOnce(&mut App)) -> Drive {
        Drive::reviewing(&self.runs(), "ada", &self.state(), change)
    }

    fn events(&self) -> Vec<Event> {
        events(&beside(&self.runs()))
    }

    fn kinds(&self) -> Vec<EventKind> {
        self.events().iter().map(|event| event.kind).collect()
    }
}

fn events(journal: &Path) -> Vec<Event> {
    read_all(&[journal.to_owned()]).unwrap().reviews.events().to_vec()
}

/// The id of the open record.
fn open_id(d: &Drive) -> String {
    d.app.inspect.as_ref().unwrap().opened.id.as_str().to_owned()
}

fn id_of(event: &Event) -> String {
    event.item.as_ref().unwrap().id.as_ref().unwrap().line().into_string()
}

#[test]
fn a_pass_is_one_key_and_shows_the_next_record() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("Enter a");
    assert_eq!(open_id(&d), "r2");
    d.until(|app| app.review.saved);
    d.shows(&["✓ saved", "review 1/4", "not judged"]);
    let events = desk.events();
    assert_eq!((events.len(), events[0].verdict, id_of(&events[0])), (1, Some(Verdict::Pass), "r1".into()));
    assert!(events[0].seen.content_sha256.is_some() && events[0].seen.input_sha256.is_some());
    assert_eq!(events[0].seen.execution, Some("rec".into()));
    assert_eq!(events[0].item.as_ref().unwrap().dataset, Some("runs.jsonl".into()));
    assert!(events[0].findings.as_ref().is_some_and(|found| !found.is_empty()) && events[0].times.shown.is_some());
    d.keys("{").shows(&["✓ pass"]);
}
