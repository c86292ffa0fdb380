//! Forks on the screen: kept, shown under their parents, compared with them, made by edits and without a model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(dead_code, reason = "the harness serves several test files")]

#[path = "support/drive.rs"]
mod drive;

use std::path::{Path, PathBuf};

use drive::Drive;
use stepscope::domain::fork::{Course, How, Scope, Start};

/// A copy of the fixture of eight records in a folder of its own.
fn runs() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::copy(drive::runs(), &path).unwrap();
    (folder, path)
}

fn open(path: &Path) -> Drive {
    Drive::open(&[path.to_owned()])
}

fn forks_of(path: &Path) -> PathBuf {
    path.with_file_name("runs.jsonl.forks.jsonl")
}

/// The fork of a record in which a variable has another value before a step.
fn edited(record: &[u8], step: usize, name: &str, value: &str) -> Vec<u8> {
    let edits = vec![(name.to_owned().into(), value.as_bytes().to_vec())];
    let start = Start { step, edits, scope: Scope::One, how: How::Edit, is_lenient: false };
    Course::new(record, start).unwrap().fork(None, "2026-11-20T09:28:01.250Z").unwrap().1
}

/// Keeps a fork of the open record, as the screens do that make one.
fn keep(d: &mut Drive, line: Vec<u8>) {
    for effect in d.app.keep_fork(line) {
        d.effect(effect);
    }
}

#[test]
fn a_kept_fork_is_on_the_disk_when_the_screen_says_so() {
    let (_folder, path) = runs();
    let before = std::fs::read(&path).unwrap();
    let mut d = open(&path);
    d.keys("Enter");
    let line = edited(d.app.inspect.as_ref().unwrap().opened.text(), 1, "problem_text", "\"another\"");
    keep(&mut d, line.clone());
    assert_eq!(d.status(), "saved in runs.jsonl.forks.jsonl");
    let kept = std::fs::read(forks_of(&path)).unwrap();
    assert_eq!(kept, [line.as_slice(), b"\n"].concat());
    assert_eq!(std::fs::read(&path).unwrap(), before, "records are never written");
}

#[test]
fn what_cannot_be_saved_is_said_and_kept_and_saved_later() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    // A folder stands where the forks would go.
    std::fs::create_dir(forks_of(&path)).unwrap();
    d.keys("Enter ^S");
    assert_eq!(d.status(), "everything is saved");
    let line = edited(d.app.inspect.as_ref().unwrap().opened.text(), 1, "problem_text", "\"another\"");
    keep(&mut d, line);
    assert!(d.status().starts_with("NOT SAVED, it is no regular file (^S tries again): "));
    d.keys("j");
    assert!(d.header().contains("✗ 1 not saved"), "{}", d.header());
    d.keys("^S");
    assert!(d.status().starts_with("NOT SAVED"));
    d.keys("Q");
    assert!(d.quit.is_none() && d.status().contains("^S tries again"), "{}", d.status());
    std::fs::remove_dir(forks_of(&path)).unwrap();
    d.keys("^S");
    assert_eq!(d.status(), "saved in runs.jsonl.forks.jsonl");
    assert!(!d.header().contains("not saved"));
    assert_eq!(std::fs::read_to_string(forks_of(&path)).unwrap().lines().count(), 1);
    d.keys("Q");
    assert_eq!(d.quit, Some(0));
}

#[test]
fn forks_go_where_they_were_told_to_but_never_into_records() {
    let (folder, path) = runs();
    let elsewhere = folder.path().join("mine");
    let mut d = Drive::with(std::slice::from_ref(&path), |app| app.forks.path = Some(elsewhere.clone()));
    d.keys("Enter");
    let line = edited(d.app.inspect.as_ref().unwrap().opened.text(), 1, "problem_text", "\"another\"");
    keep(&mut d, line.clone());
    assert_eq!(d.status(), "saved in mine");
    assert!(elsewhere.exists() && !forks_of(&path).exists());
    let before = std::fs::read(&path).unwrap();
    d.app.forks.path = Some(path.clone());
    keep(&mut d, line);
    assert!(d.status().contains("something else than forks and is left alone; name another with --forks"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
