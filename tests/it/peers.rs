//! `--peers`: other runs of a question as evidence, in every format and on the screen.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::drive::Drive;
use stepscope::screens::run::pane::RunPane;

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

/// A wrong run; two that differ from it, one of them in another order; and one of which the answer alone is known.
fn circle(folder: &tempfile::TempDir) -> (PathBuf, Vec<PathBuf>) {
    let file = |name: &str, lines: &[String]| {
        let path = folder.path().join(name);
        std::fs::write(&path, lines.join("\n")).unwrap();
        path
    };
    let wrong = chain(1, &["First the bags: 3 + 4 = 7 pens.", "With 5 more 7 + 5 = 12. The answer is 12."]);
    let twice = chain(2, &["3 * 4 = 12 pens.", "12 * 5 = 60. The answer is 60."]);
    let runs = file("runs.jsonl", &[wrong, twice]);
    let gpt = file("gpt.jsonl", &[chain(8, &["3 * 4 = 12 pens.", "12 + 5 = 17. The answer is 17."])]);
    let llama = file(
        "llama.jsonl",
        &[chain(9, &["There are 5 more pens.", "3 * 4 = 12 in bags, and 12 + 5 = 17. The answer is 17."])],
    );
    let answer = format!(
        r#"{{"id": 7, "question": "{QUESTION}", "mode": "baseline", "state": {{"final_answer_numerical": 17}}, "pred_num": 17}}"#
    );
    let base = file("base.jsonl", &[answer]);
    (runs, vec![gpt, llama, base])
}

#[test]
fn the_screen_puts_the_values_of_peers_next_to_those_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, peers) = circle(&folder);
    let pane = |d: &Drive| d.app.screens.record().unwrap().pane;
    for (width, height) in [(80, 24), (120, 36), (200, 60)] {
        // The first press shows the peer in front, the next ones walk; the step stays.
        let mut d = Drive::among(&runs, &peers);
        d.resize(width, height).keys("Enter >");
        assert_eq!(pane(&d), RunPane::Peers);
        d.shows(&["Peers  leaves them in step 1  1/3 gpt", "7 ", "≠≠ "]);
        assert_eq!(d.status(), "gpt.jsonl:1  7: 12 in step 1, from the same numbers");
        d.keys(">");
        assert_eq!(d.status(), "llama.jsonl:1  7: 12 in step 2, from the same numbers");
        // Of the third only the answer is known: nothing of its steps is called different.
        d.keys(">").shows(&["3/3 base"]);
        assert_eq!(d.status(), "base.jsonl:1  7: not compared: no value of it could be read");
        d.keys(">");
        assert!(d.status().starts_with("gpt.jsonl:1"), "{}", d.status());
        d.keys("< j");
        assert_eq!(d.status(), "base.jsonl:1  12: 17, as its answer");
        d.keys("Right k");
        assert!(d.status().starts_with("gpt.jsonl:1  7: "), "{}", d.status());
        // On wider screens the findings name the files, which are elsewhere each time.
        if width == 80 {
            insta::assert_snapshot!("peers_80x24", d.screen());
        }
    }
    let mut d = Drive::among(&runs, &peers);
    d.keys("Enter >");
    // All of them in full.
    d.keys("Enter").shows(&[
        "7 as 3 + 4",
        "gpt.jsonl:1: 12 in step 1, from the same numbers",
        "base.jsonl:1: not compared: no value of it could be read",
    ]);
    d.keys("Esc i").shows(&["0 of 2 peers that could be compared have this value, 2 another"]);
    // The peer in front is kept from record to record.
    d.keys("> }").shows(&["2/3 llama"]);
}

#[test]
fn without_peers_the_keys_say_how_to_name_some() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, _) = circle(&folder);
    let mut d = Drive::open(&[runs]);
    d.keys("Enter >").hides(&["Peers"]);
    assert_eq!(d.status(), "no other run of this question is known; start with --peers");
}

#[test]
fn signs_can_be_read_without_colours_and_in_ascii() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, peers) = circle(&folder);
    let mut d = Drive::among(&runs, &peers);
    d.app.looks.theme =
        stepscope::widgets::theme::Theme::built_in("mono", stepscope_terminal::colour::Depth::Mono).unwrap();
    d.keys("Enter >").shows(&["❯1 7           ≠≠ ", " 2 12          ≈≈≠"]);
}

#[test]
fn peers_are_in_show_and_on_pages() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, peers) = circle(&folder);
    let place = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let (runs, peers): (String, Vec<String>) = (place(&runs), peers.iter().map(place).collect());
    let run = |arguments: &[&str]| {
        let named = peers.iter().map(String::as_str);
        let all: Vec<&str> = arguments.iter().copied().chain(["--line", "1", "--peers"]).chain(named).collect();
        let output = stepscope(&all);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        text(&output.stdout)
    };
    let shown = run(&["show", &runs]);
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = shown.lines().map(squeezed).collect();
    for line in ["1 7 as 3 + 4 ≠≠ 0/2 12 (1, 2) leaves its peers", "answer = 12 ≠≠≠ 0/3 17 (1, 2, 3)"] {
        assert!(lines.iter().any(|own| own == line), "{line} in {shown}");
    }
    assert!(!text(&stepscope(&["show", &runs, "--line", "1"]).stdout).contains("Peers"));
    let page = run(&["export", &runs, "--html", "-"]);
    assert!(page.contains("<th scope=\"col\">gpt.jsonl:1</th>"), "{page}");
    assert!(page.contains("12 in step 1, from the same numbers"), "{page}");
    // Where files are is private, also in what is said of them.
    assert!(!page.contains(folder.path().to_str().unwrap()), "{page}");
    let markdown = run(&["export", &runs, "--md", "-"]);
    assert!(markdown.contains("<details><summary>Peers</summary>"), "{markdown}");
    // They tell where to fix it, so that they go with it.
    for hidden in ["triage", "gold", "baseline"] {
        let page = run(&["export", &runs, "--html", "-", "--hide", hidden]);
        assert!(!page.contains("id=\"peers\""), "{hidden}: {page}");
    }
}

#[test]
fn agreement_is_a_chart() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, peers) = circle(&folder);
    let mut d = Drive::among(&runs, &peers);
    d.keys("I").shows(&["Peers that give the same answer", "no peer", "Values on the way that peers have"]);
    let place = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let (gpt, all) = (place(&peers[0]), [place(&runs), place(&peers[1])]);
    let summary = |more: &[&str]| {
        let check = ["check", "--summary", "--charts", &gpt].into_iter().chain(more.iter().copied());
        text(&stepscope(&check.collect::<Vec<_>>()).stdout)
    };
    let told = summary(&["--peers", &all[0], &all[1]]);
    let line = told.lines().find(|line| line.trim_start().starts_with("fewer than half"));
    assert_eq!(line.map(|line| line.split_whitespace().nth(3)), Some(Some("1")), "{told}");
    assert!(!summary(&[]).contains("Peers"), "without peers there is no chart");
}
