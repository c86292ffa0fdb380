//! What the screen called saved survives the death of the program, its end waits for what is being saved, and what
//! others save shows.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::terminal::{Start, Terminal};
use rustix::process::Signal;

/// Writes a file of so many records.
fn records(count: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    let line = |n: usize| {
        format!(
            "{{\"id\": \"r{n}\", \"question\": \"Question {n}?\", \"gold_num\": 1.0, \"state\": {{\"final_answer\": \"{n}\"}}, \"correct\": false}}\n"
        )
    };
    std::fs::write(&path, (1..=count).map(line).collect::<String>()).unwrap();
    (folder, path)
}

fn open(path: &Path) -> Terminal {
    let start = Start::stepscope(&["--reviewer", "ada", path.to_str().unwrap()]).size(120, 30);
    let terminal = Terminal::start(&start);
    terminal.wait_for("Question 2");
    terminal
}

/// Returns the ids that can be read from the review log of a file.
fn saved(path: &Path) -> Vec<String> {
    let journal = stepscope_io::log::journal::beside(path);
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope"))
        .args(["review", "list", "--ids", "--reviews"])
        .arg(journal.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_kill_loses_nothing_that_the_screen_called_saved() {
    let (_folder, path) = records(60);
    let mut done = 0;
    // Pseudo-random, and the same every time.
    let mut seed = 6_u64;
    for _ in 0..6 {
        let terminal = open(&path);
        terminal.wait_until("the journal", |screen| done == 0 || screen.contains(&format!("review {done}/60")));
        if done > 0 {
            terminal.send(".");
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        for _ in 0..=(seed >> 62) {
            terminal.send("a");
            done += 1;
            terminal.wait_until("saved", |screen| {
                screen.contains(&format!("review {done}/60"))
                    && screen.contains(" saved")
                    && !screen.contains("not saved")
            });
        }
        // One more is on its way, or not.
        terminal.send("a");
        terminal.signal(Signal::KILL);
        terminal.wait_exit();
        let ids = saved(&path);
        assert!((done..=done + 1).contains(&ids.len()), "{} of {done}", ids.len());
        let expected: Vec<String> = (1..=ids.len()).map(|n| format!("r{n}")).collect();
        assert_eq!(ids, expected, "each once, none left out");
        done = ids.len();
    }
}

#[test]
fn a_signal_waits_for_what_is_being_saved() {
    let (_folder, path) = records(3);
    for (n, signal) in [(1, Signal::TERM), (2, Signal::HUP)] {
        let terminal = open(&path);
        if n > 1 {
            terminal.wait_for("review 1/3");
        }
        terminal.send(if n > 1 { ".a" } else { "a" });
        terminal.wait_for(&format!("review {n}/3"));
        terminal.signal(signal);
        terminal.wait_exit();
        assert_eq!(saved(&path).len(), n);
        assert!(terminal.left_on().is_empty());
    }
}

#[test]
fn records_and_their_folder_are_left_alone_until_something_is_said() {
    let (folder, path) = records(3);
    let terminal = open(&path);
    terminal.send("\rJ}q");
    terminal.wait_for("Question 3");
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "looking creates nothing");
}

#[test]
fn a_session_that_loses_verdicts_ends_with_their_number_and_a_code() {
    let (folder, path) = records(3);
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let journal = folder.path().join("gone/j.reviews.jsonl");
    for (state, code, told) in [(&file, 2, "what is not saved is lost"), (&folder.path().join("state"), 0, "offers")] {
        let start =
            Start::stepscope(&["--reviewer", "ada", "--reviews", journal.to_str().unwrap(), path.to_str().unwrap()]);
        let terminal = Terminal::start(&start.env("XDG_STATE_HOME", state.to_str().unwrap()).size(120, 30));
        terminal.wait_for("Question 2");
        terminal.send("a");
        terminal.wait_for("1 NOT SAVED");
        terminal.send("Q");
        terminal.wait_for("quit again");
        terminal.send("Q");
        terminal.assert_exit(code);
        let said = terminal.screen();
        assert!(said.contains("NOT SAVED: 1 verdict") && said.contains(told), "{said}");
    }
}

/// Records whose review log another program holds.
fn locked_records() -> (tempfile::TempDir, PathBuf, std::fs::File) {
    let (folder, path) = records(3);
    let other = std::fs::File::create(stepscope_io::log::journal::beside(&path).path()).unwrap();
    other.lock().unwrap();
    (folder, path, other)
}

#[test]
fn what_waits_for_another_program_at_the_end_is_kept_for_the_next_start() {
    let (folder, path, other) = locked_records();
    let (state, file) = (folder.path().join("state"), folder.path().join("a file"));
    std::fs::write(&file, "").unwrap();
    let open = |state: &Path| {
        let start = Start::stepscope(&["--reviewer", "ada", path.to_str().unwrap()]).size(120, 30);
        let terminal = Terminal::start(&start.env("XDG_STATE_HOME", state.to_str().unwrap()));
        terminal.wait_for("Question 2");
        terminal
    };
    let given = |state: &Path| {
        let terminal = open(state);
        terminal.send("a");
        terminal.wait_for("saving 1…");
        terminal
    };
    let end = |terminal: &Terminal, code, told: &str| {
        terminal.assert_exit(code);
        let said = terminal.screen();
        assert!(said.contains("NOT SAVED: 1 verdict") && said.contains(told), "{said}");
        assert!(said.contains("another program holds its lock"), "{said}");
        assert!(terminal.left_on().is_empty());
    };
    for (state, code, told) in [(&file, 2, "what is not saved is lost"), (&state, 0, "the next start offers")] {
        let terminal = given(state);
        terminal.send("Q");
        terminal.wait_for("quit again to quit now");
        terminal.send("Q");
        end(&terminal, code, told);
    }
    assert_eq!(std::fs::read(stepscope_io::log::journal::beside(&path).path()).unwrap(), b"");
    let terminal = open(&state);
    terminal.wait_for("NOT SAVED: 1 verdict of the last session");
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    std::fs::remove_dir_all(&state).unwrap();
    let terminal = given(&state);
    terminal.signal(Signal::TERM);
    end(&terminal, 143, "the next start offers");
    other.unlock().unwrap();
    let terminal = open(&state);
    terminal.wait_for("NOT SAVED: 1 verdict of the last session");
    terminal.send("\x13");
    terminal.wait_until("saved", |screen| screen.contains("review 1/3") && screen.contains(" saved"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_eq!(saved(&path), ["r1"]);
}

#[test]
fn what_is_saved_while_the_end_waits_is_no_draft() {
    let (folder, path, other) = locked_records();
    let state = folder.path().join("state");
    let start = Start::stepscope(&["--reviewer", "ada", path.to_str().unwrap()]).size(120, 30);
    let terminal = Terminal::start(&start.env("XDG_STATE_HOME", state.to_str().unwrap()));
    terminal.wait_for("Question 2");
    terminal.send("a");
    terminal.wait_for("saving 1…");
    terminal.signal(Signal::TERM);
    let drafts = || -> String {
        let files = std::fs::read_dir(state.join("stepscope/drafts")).into_iter().flatten();
        // A file on its way to its name may be gone before it is read.
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap_or_default()).collect()
    };
    while drafts().is_empty() {
        std::thread::yield_now();
    }
    other.unlock().unwrap();
    terminal.assert_exit(143);
    assert!(!terminal.screen().contains("NOT SAVED"), "{}", terminal.screen());
    assert_eq!((saved(&path), drafts()), (vec!["r1".to_owned()], String::new()));
}

/// Checks that the limit of a file's size, at which the system would end the program, is a failure as any other.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_file_size_is_said_and_what_was_given_is_saved_once_it_is_gone() {
    use rustix::process::{Resource, Rlimit, prlimit};

    let (_folder, path) = records(3);
    let terminal = open(&path);
    let limit = |current| {
        prlimit(Some(terminal.pid()), Resource::Fsize, Rlimit { current, maximum: None }).unwrap();
    };
    limit(Some(1));
    terminal.send("a");
    terminal.wait_for("NOT SAVED");
    limit(None);
    terminal.send("\x13");
    terminal.wait_until("saved", |screen| screen.contains("review 1/3") && screen.contains(" saved"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert!(terminal.left_on().is_empty());
    assert_eq!(saved(&path), ["r1"]);
}

#[test]
fn what_others_append_meanwhile_shows_without_a_key() {
    let (_folder, path) = records(3);
    let terminal = open(&path);
    terminal.wait_for("review 0/3");
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    add.args(["review", "add", "--reviewer", "ada", "--id", "r3", "--verdict", "fail"]).arg(&path);
    assert!(add.status().unwrap().success());
    terminal.wait_for("review 1/3");
    terminal.send("Q");
    terminal.assert_exit(0);
}
