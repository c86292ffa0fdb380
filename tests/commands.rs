//! The commands as people and CI call them, on every system. With `STEPSCOPE_KEPT=FOLDER` the first to run keeps what the
//! program says there, and the next has to say the same: `STEPSCOPE_PROGRAM` is one for another system, which
//! `scripts/windows.sh` has wine run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn program() -> PathBuf {
    std::env::var_os("STEPSCOPE_PROGRAM").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_stepscope")), PathBuf::from)
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(root()).stdin(Stdio::null());
    for (name, value) in [("NO_COLOR", "1"), ("LC_ALL", "C.UTF-8"), ("STEPSCOPE_REVIEWER", "ada"), ("COLUMNS", "100")] {
        command.env(name, value);
    }
    command.env("STEPSCOPE_STATE_DIR", home.join("state")).env("STEPSCOPE_CONFIG_DIR", home.join("config"));
    command
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!("{}{}-- ended with {}\n", text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

/// Keeps what is said under a name, or compares it with what is kept.
fn kept(name: &str, said: &str) {
    let Some(folder) = std::env::var_os("STEPSCOPE_KEPT") else { return };
    let path = Path::new(&folder).join(name);
    let Ok(kept) = std::fs::read_to_string(&path) else {
        std::fs::write(&path, said).unwrap();
        return;
    };
    if let Some((n, (said, kept))) = said.lines().zip(kept.lines()).enumerate().find(|(_, (a, b))| a != b) {
        panic!("{name}:{}\n said {said}\n kept {kept}", n + 1);
    }
    assert_eq!(said.len(), kept.len(), "{name}");
}

const WRONG: &str = "83db0abb269f7fe65703fad61ec2a310";

#[test]
fn every_system_says_the_same() {
    let home = tempfile::tempdir().unwrap();
    let runs = "sample_runs/word_problems.jsonl";
    let cases: &[(&str, i32, &str, &[&str])] = &[
        ("check", 1, "run/final_mismatch", &["check", runs, "--format", "short"]),
        ("check_answers", 1, "the document says", &["check", "sample_runs/notice.jsonl"]),
        ("check_store", 1, "warning[", &["check", "sample_runs/policy.sqlite", "--format", "short"]),
        ("check_folder", 1, "warning[", &["check", "sample_runs/policy", "--format", "short"]),
        ("summary", 1, "nothing             12    12", &["check", runs, "--summary"]),
        ("github", 1, "::", &["check", "sample_runs/by_hand.jsonl", "--format", "github"]),
        ("show", 0, "Rope_metres / 3", &["show", runs, "--id", WRONG]),
        ("prompt", 0, "final_answer", &["show", runs, "--id", WRONG, "--step", "4", "--prompt"]),
        ("verify", 1, "18 passed", &["verify", "tests/fixtures/rewards.jsonl", "--verifier", "json_structure"]),
        ("compare", 0, "baseline.jsonl", &["compare", runs, "sample_runs/baseline.jsonl"]),
        ("missing", 2, "no such file", &["check", "sample_runs/none.jsonl"]),
    ];
    for (name, code, word, arguments) in cases {
        let said = told(&command(home.path()).args(*arguments).output().unwrap());
        assert!(said.contains(word) && said.ends_with(&format!("-- ended with {code}\n")), "{name}: {said}");
        kept(name, &said);
    }
}

#[test]
fn without_a_terminal_it_is_said_what_the_screen_needs() {
    let home = tempfile::tempdir().unwrap();
    let said = told(&command(home.path()).arg("sample_runs/by_hand.jsonl").output().unwrap());
    let needed = if std::env::var_os("STEPSCOPE_WITHOUT_SCREEN").is_some() {
        "the screen needs Linux or macOS"
    } else {
        "standard output is not a terminal"
    };
    assert!(said.contains(needed) && said.contains("stepscope check"), "{said}");
    assert!(said.ends_with("-- ended with 2\n"), "{said}");
}

#[test]
fn lines_that_come_through_a_pipe_are_read() {
    let home = tempfile::tempdir().unwrap();
    let text = std::fs::read(root().join("sample_runs/by_hand.jsonl")).unwrap();
    let mut command = command(home.path());
    command
        .args(["check", "-", "--format", "short"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(&text));
    let said = told(&child.wait_with_output().unwrap());
    writer.join().unwrap().unwrap();
    assert!(said.contains("stepscope: 14 records") && said.ends_with("-- ended with 1\n"), "{said}");
    kept("pipe", &said);
}

#[test]
fn a_page_takes_the_place_of_the_one_before_and_of_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let (page, mine) = (home.path().join("run.html"), home.path().join("mine.html"));
    std::fs::write(&mine, "mine").unwrap();
    let export = |to: &Path| {
        let arguments = ["export", "sample_runs/word_problems.jsonl", "--id", WRONG, "--html"];
        command(home.path()).args(arguments).arg(to).output().unwrap()
    };
    let mut texts = Vec::new();
    for _ in 0..2 {
        let done = export(&page);
        assert!(done.status.success(), "{}", told(&done));
        texts.push(std::fs::read_to_string(&page).unwrap());
    }
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].starts_with("<!") && texts[0].contains("Rope_metres"));
    kept("page.html", &texts[0]);
    assert!(told(&export(&mine)).contains("nothing is overwritten"));
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    // Nothing of our own is left beside them.
    assert_eq!(std::fs::read_dir(home.path()).unwrap().flatten().filter(|entry| entry.path().is_file()).count(), 2);
}

#[test]
fn reviewers_at_the_same_time_lose_no_line() {
    const EACH: usize = 4;
    let home = tempfile::tempdir().unwrap();
    let runs = home.path().join("runs.jsonl");
    std::fs::copy(root().join("sample_runs/word_problems.jsonl"), &runs).unwrap();
    let add = |by: usize, n: usize| {
        let mut command = command(home.path());
        command.args(["review", "add"]).arg(&runs).args(["--id", WRONG, "--verdict", "fail", "--note"]);
        command.arg(format!("{n}")).env("STEPSCOPE_REVIEWER", format!("person {by}")).output().unwrap()
    };
    std::thread::scope(|scope| {
        let add = &add;
        let each = |by: usize| move || (0..EACH).map(|n| add(by, n)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..3).map(|by| scope.spawn(each(by))).collect();
        for done in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            assert!(done.status.success(), "{}", told(&done));
        }
    });
    let log = std::fs::read_to_string(home.path().join("runs.jsonl.reviews.jsonl")).unwrap();
    let notes = log.lines().filter(|line| line.starts_with('{') && line.ends_with('}') && line.contains("\"note\""));
    assert_eq!((notes.count(), log.ends_with('\n'), log.contains('\r')), (3 * EACH, true, false), "{log}");
}
