//! `stepscope check --peers`: other runs of a question as evidence, in every format.

use std::process::{Command, Output, Stdio};

const QUESTION: &str = "Ann has 3 bags of 4 pens each and buys 5 more. How many has she?";

fn stepscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn chain(id: u32, steps: &[&str]) -> String {
    let steps: Vec<String> = steps.iter().map(|step| format!("\"{step}\"")).collect();
    format!(r#"{{"id": {id}, "question": "{QUESTION}", "steps": [{}]}}"#, steps.join(", "))
}

#[test]
fn peers_speak_in_every_format_and_only_where_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, lines: &[String]| {
        let path = folder.path().join(name);
        std::fs::write(&path, lines.join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let runs = file("runs.jsonl", &[chain(1, &["3 + 4 = 7 pens.", "7 + 5 = 12. The answer is 12."])]);
    let one = file("one.jsonl", &[chain(8, &["3 * 4 = 12 pens.", "12 + 5 = 17. The answer is 17."])]);
    let two = file("two.jsonl", &[chain(9, &["There are 3 * 4 = 12 pens.", "Now 12 + 5 = 17. The answer is 17."])]);
    let without = stepscope(&["check", &runs]);
    assert_eq!(without.status.code(), Some(0));
    assert!(!text(&without.stdout).contains("run/peers"));
    let check = |format: &str| {
        let output = stepscope(&["check", &runs, "--format", format, "--peers", &one, &two]);
        assert_eq!(output.status.code(), Some(0), "a note fails nothing: {output:?}");
        assert_eq!(text(&output.stderr).matches("peers").count(), 0, "{output:?}");
        text(&output.stdout)
    };
    for format in ["text", "short", "jsonl", "sarif", "markdown"] {
        let printed = check(format);
        assert!(printed.contains("run/peers"), "{format}: {printed}");
        assert!(printed.contains("Step 1 gives 7"), "{format}: {printed}");
    }
    let line: serde_json::Value = serde_json::from_str(&check("jsonl")).unwrap();
    assert_eq!((&line["triage"]["step"], &line["triage"]["why"][0]["rule"]), (&1.into(), &"run/peers".into()));
    assert_ne!(line["triage"]["confidence"], "sure");
    let peers = &line["peers"];
    assert_eq!((&peers["of"], &peers["agree"], &peers["standing"]), (&2.into(), &0.into(), &"against".into()));
    assert_eq!((&peers["step"], &peers["answers"][0]["answer"]), (&1.into(), &17.into()));
    assert_eq!(peers["answers"][0]["peers"].as_array().unwrap().len(), 2);
    // Samples of one file are one another's peers, and the baseline's run is one more.
    let samples = [chain(2, &["3 * 4 = 12.", "12 + 5 = 17."]), chain(3, &["3 * 4 = 12 pens.", "12 + 5 = 17 pens."])];
    let samples = file("samples.jsonl", &[&samples[..], &[chain(4, &["3 + 4 = 7 pens.", "7 + 5 = 12."])]].concat());
    let output = stepscope(&["check", &samples, "--peers", &samples, "--baseline", &one, "--format", "jsonl"]);
    let lines = text(&output.stdout);
    let standings: Vec<(u64, String)> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| (line["peers"]["of"].as_u64().unwrap(), line["peers"]["standing"].as_str().unwrap().to_owned()))
        .collect();
    // The share of the other runs that give its answer, as a filter and in JSON lines; nothing without other runs.
    let agreements = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let agreements: Vec<f64> = agreements.map(|line| line["peers"]["agreement"].as_f64().unwrap()).collect();
    assert_eq!(agreements, [2.0 / 3.0, 2.0 / 3.0, 0.0]);
    let found = |filter: &str, peers: &[&str]| {
        let check =
            [&["check", &samples, "--format", "jsonl", "--filter", filter, "--fail-on", "never"], peers].concat();
        text(&stepscope(&check).stdout).lines().filter(|line| line.contains("\"source\"")).count()
    };
    let peers = ["--peers", &samples, &one];
    assert_eq!((found("peers.agree<0.5", &peers), found("peers.agree>=0.5", &peers)), (1, 2));
    assert_eq!((found("peers.values<0.9", &peers), found("peers.values>=0", &peers)), (1, 3));
    assert_eq!((found("peers.agree<0.5", &[]), found("peers.values>=0", &[])), (0, 0));
    assert_eq!(standings, [(3, "undisputed".to_owned()), (3, "undisputed".to_owned()), (3, "against".to_owned())]);
}

#[test]
fn peers_that_are_none_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("runs.jsonl"), chain(1, &["3 * 4 = 12", "12 + 5 = 17"])).unwrap();
    std::fs::write(path("other.jsonl"), chain(1, &["2 + 2 = 4"]).replace("Ann", "Bob")).unwrap();
    let output = stepscope(&["check", &path("runs.jsonl"), "--peers", &path("other.jsonl")]);
    assert!(text(&output.stderr).contains("no other run has the question of a record"), "{output:?}");
    let output = stepscope(&["check", &path("runs.jsonl"), "--peers", &path("missing.jsonl")]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("missing.jsonl"), "{output:?}");
}

#[test]
fn peers_move_no_place_that_the_expected_answer_proves() {
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_runs/word_problems.jsonl");
    let baseline = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_runs/baseline.jsonl");
    let check = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stepscope"));
        let output = command.args(["check", runs, "--format", "jsonl", "--fail-on", "never"]).args(more).output();
        let lines = text(&output.unwrap().stdout);
        lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let (alone, among_peers) = (check(&[]), check(&["--peers", baseline]));
    let mut proven = 0;
    for (alone, among) in alone.iter().zip(&among_peers).filter(|(alone, _)| alone["triage"]["recovers_gold"] == true) {
        proven += 1;
        for key in ["fix", "step", "confidence"] {
            assert_eq!(alone["triage"][key], among["triage"][key], "{} {key}", alone["line"]);
        }
    }
    assert!(proven > 10, "{proven}");
    assert!(among_peers.iter().any(|line| line["peers"]["standing"] == "against"), "some leave their peer");
}
