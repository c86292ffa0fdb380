//! Two runs compared on the screen, by keys: the cells, their records, and records side by side.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(dead_code, reason = "the harness serves several test files")]

#[path = "support/drive.rs"]
mod drive;

use std::path::{Path, PathBuf};
use std::process::Command;

use drive::Drive;
use stepscope::tui::app::Screen;
use stepscope::tui::desk::Front;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compare").join(name)
}

fn fixtures() -> Drive {
    Drive::beside(&fixture("runs.jsonl"), &fixture("base.jsonl"))
}

/// Two files with these contents, in a folder of their own, and the first opened beside the second.
fn two(a: &str, b: &str) -> (tempfile::TempDir, Drive) {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [("a.jsonl", a), ("b.jsonl", b)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    let drive = Drive::beside(&one, &other);
    (folder, drive)
}

/// What the shell prints.
fn shell(arguments: &[&str], paths: &[&Path]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).args(paths).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers that stand in the line that begins with a name, among others.
fn numbers(text: &str, name: &str) -> Vec<u64> {
    let line = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("no {name} in\n{text}"));
    let rest = line.split_once(name).unwrap().1;
    let words = rest.split_whitespace().filter(|word| !word.contains('.'));
    words.filter_map(|word| word.parse().ok()).collect()
}

const CELLS: [(&str, &str); 5] = [
    ("both right", "both"),
    ("only A right", "only_a"),
    ("only B right", "only_b"),
    ("none right", "none"),
    ("missing or error", "missing"),
];

#[test]
fn the_cells_are_those_of_the_shell_and_each_is_a_filter() {
    let printed = shell(&["compare"], &[&fixture("runs.jsonl"), &fixture("base.jsonl")]);
    let mut d = fixtures();
    d.keys("m");
    assert_eq!(d.app.desk.front, Some(Front::Matrix));
    for line in printed.lines().filter(|line| line.starts_with("accuracy") || line.starts_with("McNemar")) {
        d.shows(&[line]);
    }
    for (n, (phrase, word)) in CELLS.into_iter().enumerate() {
        d.keys(if n == 0 { "g" } else { "m g" });
        d.keys(&"j".repeat(n));
        assert_eq!(numbers(&d.screen(), phrase), numbers(&printed, phrase), "{phrase}");
        let count = numbers(&printed, phrase)[2] as usize;
        d.keys("Enter");
        assert_eq!((d.app.screen, d.app.desk.front), (Screen::Table, None));
        assert_eq!(d.app.table.filter_text, format!("cell:{word}"));
        // One item of the last cell is in the baseline alone.
        let hidden = usize::from(word == "missing");
        assert_eq!(d.app.rows(), count - hidden, "{word}");
        assert_eq!(d.status().contains("1 more is in B alone"), hidden == 1, "{}", d.status());
    }
    assert_eq!(d.table_ids(), ["c8", "c9"]);
    d.keys("Esc");
    assert_eq!(d.app.rows(), 12, "Esc shows all again");
}

#[test]
fn cells_can_be_typed_and_combined() {
    let mut d = fixtures();
    d.keys("f 'cell:only-b' Enter");
    assert_eq!(d.table_ids(), ["c5", "c6", "c12"]);
    d.keys("f 'text:8' Enter");
    assert_eq!(d.app.table.filter_text, "cell:only-b text:8");
    assert_eq!(d.table_ids(), ["c5"]);
    for (typed, ids) in [
        ("cell:regression", vec!["c5", "c6", "c8", "c12"]),
        ("cell:alone", vec!["c9"]),
        ("cell:duplicate", vec!["c2"]),
        ("-cell:both,only_b,duplicate kind:procedural", vec!["c4", "c7", "c9"]),
    ] {
        d.keys("Esc f");
        d.keys(&format!("'{typed}' Enter"));
        assert_eq!(d.table_ids(), ids, "{typed}");
    }
    let mut alone = Drive::open(&[fixture("runs.jsonl")]);
    alone.keys("f 'cell:both' Enter");
    assert!(alone.status().contains("--baseline"), "{}", alone.status());
    assert_eq!(alone.app.rows(), 12);
    for key in ["m", "B"] {
        alone.keys(key);
        assert!(alone.status().contains("there is no baseline"), "{key}: {}", alone.status());
    }
    alone.hides(&["matrix"]);
}

#[test]
fn a_run_stands_beside_a_direct_prompt() {
    for (width, height) in [(80, 24), (120, 36), (200, 60)] {
        let mut d = fixtures();
        d.resize(width, height).keys("3j B");
        assert_eq!(d.app.desk.front, Some(Front::Versus));
        d.shows(&["runs.jsonl", "against", "base.jsonl", "✓ right", "✗ wrong", "49 pears", "50 pears", "4/12"]);
        d.shows(&["Steps of A, the raw reply of B", "different shapes"]);
        d.keys("G").shows(&["/raw", "There are several boxes."]);
        d.keys("g").shows(&["Item 4"]);
        d.keys("B");
        assert_eq!((d.app.desk.front, d.app.screen), (None, Screen::Table));
    }
}

#[test]
fn two_runs_part_at_a_step_and_what_is_the_same_can_be_shown() {
    let mut d = fixtures();
    d.keys("G Enter B").shows(&["first diverging step: 2 (values of product)", "Variables: 3 the same"]);
    d.shows(&["product", "35", "36", "→ product = 36"]).hides(&["/gold_num"]);
    d.keys("d G").shows(&["/gold_num"]);
    d.keys("q");
    assert_eq!((d.app.desk.front, d.app.screen), (None, Screen::Run), "back to the open record");
    d.keys("B q q");
    assert_eq!(d.app.screen, Screen::Table);
}

#[test]
fn side_by_side_one_walks_on_through_the_filter() {
    let mut d = fixtures();
    d.keys("f 'cell:only_b' Enter Enter B").shows(&["Item 5", "1/3"]);
    d.keys("}").shows(&["Item 6", "2/3"]);
    d.keys("}").shows(&["Item 12", "3/3"]);
    d.keys("}");
    assert!(d.status().contains("last record"), "{}", d.status());
    d.keys("{").shows(&["Item 6"]);
    d.keys("q");
    assert_eq!(d.app.screen, Screen::Run);
    d.shows(&["Item 6"]);
}

#[test]
fn a_record_without_a_partner_says_so() {
    let mut d = fixtures();
    d.keys("8j B");
    assert!(d.status().contains("no record of this item"), "{}", d.status());
    assert_eq!(d.app.desk.front, None);
    // Joined by its question.
    d.keys("j B").shows(&["Item 10"]);
    // An error row beside an answer.
    d.keys("q g 7j B").shows(&["TimeoutError: the server did not answer", "✗ error"]);
}

#[test]
fn a_baseline_that_cannot_be_read_is_a_sentence() {
    let gone = fixture("gone.jsonl");
    let mut d = Drive::beside(&fixture("runs.jsonl"), &gone);
    d.keys("m").shows(&["cannot", "gone.jsonl"]);
    assert!(d.status().contains("gone.jsonl"), "{}", d.status());
    d.keys("q Enter B");
    assert_eq!(d.app.desk.front, None);
    assert!(d.status().contains("gone.jsonl"), "{}", d.status());
    d.keys("q f 'cell:both' Enter");
    assert_eq!(d.app.rows(), 0);
    d.keys("Esc");
    assert_eq!(d.app.rows(), 12);
}

#[test]
fn odd_baselines_are_counted_not_refused() {
    let row = |id: &str, answer: u32, right: bool| {
        let name = id.trim_matches('"');
        format!(
            "{{\"id\": {id}, \"question\": \"q{name}?\", \"gold_num\": 5.0, \"mode\": \"baseline\", \"state\": {{\"final_answer\": \"{answer}\"}}, \"pred_num\": {answer}.0, \"correct\": {right}}}\n"
        )
    };
    let a = [row("1", 5, true), row("2", 6, false), row("3", 5, true)].concat();
    // A comment, a broken line, ids as texts, one twice, and a record of another question under a known id.
    let other = row("3", 5, true).replace("q3?", "\\u001b[31mother?");
    let b = format!("// a comment\n{}{}{{\"id\": \"2\", \n{other}", row("\"1\"", 5, true), row("1", 6, false));
    let (_folder, mut d) = two(&a, &b);
    d.keys("m").shows(&["1 in A alone", "0 in A and 1 in B", "ask different questions"]);
    assert_eq!(numbers(&d.screen(), "both right"), [2; 3]);
    assert_eq!(numbers(&d.screen(), "missing or error"), [2; 3], "the broken line is an item of its own");
    d.keys("q G B").shows(&["␛[31mother?"]);
    let (_folder, mut empty) = two(&a, "");
    empty.keys("m").shows(&["0 by id, 0 by question; 3 in A alone", "of none"]);
    let (_folder, mut nothing) = two("", &a);
    nothing.keys("m").shows(&["0 by id"]).hides(&["NaN"]);
    nothing.keys("j Enter");
    assert!(nothing.status().contains("no record of A"), "{}", nothing.status());
}

#[test]
fn what_people_said_changes_the_later_bases_only() {
    let (folder, mut d) = two(
        &std::fs::read_to_string(fixture("runs.jsonl")).unwrap(),
        &std::fs::read_to_string(fixture("base.jsonl")).unwrap(),
    );
    let events = [
        r#"{"format":"stepscope.review","version":1,"event_id":"e1","kind":"verdict","item":{"id":"c5"},"reviewer":{"id":"ada","kind":"person"},"verdict":"pass"}"#,
        r#"{"format":"stepscope.review","version":1,"event_id":"e2","kind":"verdict","item":{"id":"c7"},"reviewer":{"id":"ada","kind":"person"},"verdict":"fail","gold_status":"wrong"}"#,
    ];
    std::fs::write(folder.path().join("a.jsonl.reviews.jsonl"), events.map(|event| format!("{event}\n")).concat())
        .unwrap();
    let printed = shell(&["compare"], &[&folder.path().join("a.jsonl"), &folder.path().join("b.jsonl")]);
    d.keys("m");
    for name in ["both right", "only B right", "none right", "gold disputed"] {
        assert_eq!(numbers(&d.screen(), name), numbers(&printed, name), "{name}\n{printed}");
    }
    assert_eq!(numbers(&printed, "only B right"), [3, 2, 2], "{printed}");
    assert_eq!(numbers(&printed, "gold disputed"), [0, 0, 1], "{printed}");
    d.keys("2j Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.app.rows()), ("cell:recorded/only_b", 3));
    d.keys("m l Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.app.rows()), ("cell:reviewed/only_b", 2));
    d.keys("m l 3j Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.table_ids()), ("cell:left_out", vec!["c7".to_owned()]));
}

#[test]
fn every_size_can_be_drawn() {
    for keys in ["m", "m G", "m j l", "3j B", "3j B G d"] {
        let mut d = fixtures();
        d.keys(keys);
        for (width, height) in [(0, 0), (1, 1), (9, 3), (20, 6), (30, 200), (99, 24), (101, 8), (500, 9)] {
            d.resize(width, height);
            d.keys("j k ^D ^U");
        }
    }
}
