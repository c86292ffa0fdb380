//! What a build says that leaves something out: `cargo test --no-default-features --test small`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::process::{Command, Output, Stdio};

/// Runs the program in the folder of the fixtures, with nothing to read on standard input.
fn run(arguments: &[&str]) -> Output {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let mut program = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    program.args(arguments).current_dir(fixtures).stdin(Stdio::null());
    program.env("STEPSCOPE_CONFIG_DIR", "/nowhere").env("STEPSCOPE_STATE_DIR", "/nowhere").output().unwrap()
}

/// Asserts that the program ends with 2, and with a sentence that names the feature and whatever else is to be named.
#[cfg(not(all(feature = "tables", feature = "store", feature = "models", feature = "screen")))]
fn lacks(feature: &str, arguments: &[&str], names: &[&str]) {
    let ended = run(arguments);
    let said = String::from_utf8_lossy(&ended.stderr).replace('\n', " ");
    assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(&format!("it was built without the feature `{feature}`")), "{arguments:?}: {said}");
    names.iter().for_each(|name| assert!(said.contains(name), "{arguments:?}: {said}"));
}

#[test]
fn records_are_checked_and_shown() {
    let checked = run(&["check", "../../sample_runs/word_problems.jsonl"]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    assert!(String::from_utf8_lossy(&checked.stdout).contains("run/"), "{checked:?}");
    let shown = run(&["show", "--line", "1", "../../sample_runs/word_problems.jsonl"]);
    assert_eq!((shown.status.code(), shown.stdout.is_empty()), (Some(0), false), "{shown:?}");
    let linear = run(&["--linear", "../../sample_runs/word_problems.jsonl"]);
    assert_eq!((linear.status.code(), linear.stdout.is_empty()), (Some(0), false), "{linear:?}");
}

#[cfg(not(feature = "tables"))]
#[test]
fn tables_are_named() {
    lacks("tables", &["check", "stores/tables/keyed.parquet"], &["keyed.parquet", "JSON lines or CSV"]);
    lacks("tables", &["show", "stores/tables/keyed_lz4.arrow"], &["keyed_lz4.arrow"]);
    let out =
        ["check", "../../sample_runs/word_problems.jsonl", "--format", "parquet", "--out", env!("CARGO_TARGET_TMPDIR")];
    lacks("tables", &out, &["leave out --format parquet"]);
}

#[cfg(not(feature = "store"))]
#[test]
fn databases_are_named() {
    lacks("store", &["check", "gathered/stores/langgraph-1.2.24.sqlite"], &["langgraph-1.2.24.sqlite"]);
    lacks("store", &["check", "../../sample_runs/policy.sqlite"], &["policy.sqlite"]);
}

#[cfg(not(feature = "models"))]
#[test]
fn no_model_is_asked() {
    let recorded = "../../sample_runs/word_problems.jsonl";
    lacks("models", &["models"], &["--cassette"]);
    lacks("models", &["rerun", recorded, "--line", "1", "--step", "1", "--model", "m"], &["--cassette"]);
}

#[cfg(not(feature = "screen"))]
#[test]
fn there_is_no_screen() {
    let instead = ["stepscope show FILE", "--linear FILE", "stepscope check FILE"];
    lacks("screen", &["../../sample_runs/word_problems.jsonl"], &instead);
    lacks("screen", &["demo"], &instead);
    lacks("screen", &["keys"], &instead);
    lacks("screen", &["export", "../../sample_runs/word_problems.jsonl", "--line", "1", "--svg", "never.svg"], &[]);
}
