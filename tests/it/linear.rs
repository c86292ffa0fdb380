//! Reading and reviewing line by line, as a person does who hears the program or has a slow line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::fed::fed;

fn runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs.jsonl")
}

fn linear(path: &Path, options: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.env("STEPSCOPE_REVIEWER", "ada").env("TERM", "xterm-256color").arg(path).arg("--linear").args(options);
    fed(&mut command, input)
}

/// Returns what was printed, once it is sure that no terminal is addressed by it.
fn told(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Returns a line of the review log for each event, with the parts that tests look at.
fn events(path: &Path) -> Vec<serde_json::Value> {
    let log = format!("{}.reviews.jsonl", path.display());
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn copied(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &path).unwrap();
    (folder, path)
}

#[test]
fn a_run_is_told_fault_first_with_steps_states_and_findings() {
    let text = told(&linear(&runs(), &["--filter", "correct:false"], "steps\none step\n2\nfindings\nwhere\nquit\n"));
    let mut show = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    let show = show.args(["show", "--filter", "correct:false"]).arg(runs()).output().unwrap();
    let show = String::from_utf8(show.stdout).unwrap();
    let first = text.lines().position(|line| line == "Record 1 of 1").unwrap();
    let verdict = text.lines().nth(first + 1).unwrap();
    assert!(verdict.contains("graded wrong; fix: model output, step"), "{verdict}");
    // The words are those of `show`, without places that nobody wants to hear.
    for part in ["Question\n", "Where to fix\n"] {
        let of_show = show.split(part).nth(1).unwrap().split("\n\n").next().unwrap();
        let of_show = of_show.split("  [").next().unwrap();
        assert!(text.contains(of_show), "{of_show} is not in\n{text}");
    }
    assert!(!text.split("Choice").next().unwrap().contains("/state/"), "{text}");
    let steps: Vec<&str> = show.lines().filter(|line| line.starts_with("Step ")).collect();
    assert!(steps.len() > 2 && steps.iter().all(|step| text.contains(step)), "{text}");
    assert!(text.contains("state before") && text.contains("state after"), "{text}");
    assert!(text.contains("\n1. ") && text.contains("runs.jsonl, line "), "{text}");
}

#[test]
fn choices_are_numbered_and_what_is_none_is_told() {
    let text = told(&linear(&runs(), &[], "?\n99\nnext\nnext record\n2000\ngo to\n8\nprev\nnothing\n"));
    for sentence in [
        "Choice: ",
        "no such choice: 99; ? lists the choices",
        "several choices begin so: next; ? lists the choices",
        "Record 2 of 8",
        "no such choice: 2000",
        "Record 8 of 8",
        "Record 7 of 8",
        "no such choice: nothing",
    ] {
        assert!(text.contains(sentence), "{sentence} is not in\n{text}");
    }
    let wrong = told(&linear(&runs(), &[], "next wrong\nquit\n"));
    assert!(wrong.contains("graded wrong"), "{wrong}");
}

#[test]
fn verdicts_labels_and_notes_go_into_the_log_of_the_screen() {
    let (_folder, path) = copied("tests/fixtures/runs.jsonl");
    let script = "pass\nfail\n1 2\nnot a number\nnote\nfor the third\nundo\ndefer\nquit\n";
    let text = told(&linear(&path, &["--queue"], script));
    for sentence in
        ["Reviewing as ada", "Saved: pass", "Saved: fail", "Saved: note", "Saved: undo of note", "Saved: defer"]
    {
        assert!(text.contains(sentence), "{sentence} is not in\n{text}");
    }
    let events = events(&path);
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["kind"].as_str()).collect();
    assert_eq!(kinds, ["verdict", "verdict", "note", "undo", "verdict"]);
    assert_eq!(events[1]["labels"].as_array().map(Vec::len), Some(2));
    assert_eq!((events[1]["note"].as_str(), events[2]["note"].as_str()), (Some("not a number"), Some("for the third")));
    assert_eq!(events[3]["supersedes"], events[2]["event_id"]);
    // The commands in the shell count them, and the next session goes on where this one ended.
    let list = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(["review", "list"]).arg(&path).output().unwrap();
    assert_eq!(String::from_utf8(list.stdout).unwrap().lines().filter(|line| line.contains("fail")).count(), 1);
    let again = told(&linear(&path, &["--queue"], "quit\n"));
    let in_front =
        |text: &str| text.lines().filter(|line| line.starts_with("Record ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(in_front(&again).last(), in_front(&text).get(2), "{again}");
    let judged = told(&linear(&path, &["--queue"], "go to\n1\nquit\n"));
    assert!(judged.contains("Your verdict: pass") || judged.contains("Your verdict: fail"), "{judged}");
}

#[test]
fn what_is_given_up_or_cut_off_is_not_saved() {
    let (_folder, path) = copied("tests/fixtures/runs.jsonl");
    let text = told(&linear(&path, &["--queue"], "fail\nq\nfail\n"));
    assert!(text.contains("Not saved") && events(&path).is_empty(), "{text}");
}

#[test]
fn what_is_hidden_is_not_told() {
    let (_folder, path) = copied("tests/fixtures/runs.jsonl");
    let text = told(&linear(&path, &["--queue", "--hide", "gold,triage"], "steps\nfindings\npass\nquit\n"));
    assert!(!text.contains("Where to fix") && !text.contains("fix:") && !text.contains("Expected answer"), "{text}");
    assert!(!text.contains("graded") && !text.contains("wrong\n"), "{text}");
    let hidden: Vec<&str> = events(&path)[0]["seen"]["hidden"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|word| word.as_str())
        .map(|word| if word == "gold" { "gold" } else { "triage" })
        .collect();
    assert_eq!(hidden, ["gold", "triage"]);
}

#[test]
fn answers_have_labels_of_their_own() {
    let (_folder, path) = copied("sample_runs/policy.jsonl");
    let text = told(&linear(&path, &["--queue"], "fail\n1\n\nquit\n"));
    assert!(text.contains("1 wrong value, 2 wrong citation, 3 not in the document"), "{text}");
    assert_eq!(events(&path).len(), 1);
}

#[test]
fn what_needs_the_screen_or_a_file_is_told() {
    for (options, sentence) in [
        (&["--queue", "--repeat", "0.5"][..], "--repeat needs the screen"),
        (&["--filter", "steps>400"], "no record fits --filter"),
        (&["--filter", "stepz>4"], "--filter: "),
        (&["--id", "nobody"], "no record has the id nobody"),
    ] {
        let output = linear(&runs(), options, "");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && complaint.contains(sentence), "{complaint}");
    }
    let output = linear(Path::new("-"), &[], "{}\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("pass the records as a file"));
}

#[test]
fn the_verdict_of_an_answer_comes_before_its_question() {
    let answers = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let said = told(&linear(&answers, &[], "go to\n13\nq\n"));
    let (_, record) = said.split_once("Record 13 of 39\n").unwrap();
    assert!(record.starts_with("reject: The quote is not in the cited lines.\n"), "{record}");
}
