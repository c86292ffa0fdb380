//! Two runs compared on the screen, by keys: the cells, their records, and records side by side.

use crate::support::nasty;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::drive::Drive;
use crate::support::fed::fed;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use proptest::prelude::*;
use stepscope::screens::kind::ScreenKind;
use stepscope::widgets::theme::Role;
use stepscope_io::log::journal::{named, read_all};
use stepscope_io::source::beneath::Place;
use stepscope_review::event::{Event, EventKind, Reviewer, Text};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compare").join(name)
}

fn fixtures() -> Drive {
    Drive::beside(&fixture("runs.jsonl"), &fixture("base.jsonl"))
}

/// Writes two files with these contents into a folder of their own, and opens the first with the second as baseline.
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

/// Runs a command and returns its standard output.
fn shell(arguments: &[&str], paths: &[&Path]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).args(paths).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the numbers in the line that begins with a name, among others.
fn numbers(text: &str, name: &str) -> Vec<u64> {
    let line = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("no {name} in\n{text}"));
    let rest = line.split_once(name).unwrap().1;
    let words = rest.split_whitespace().filter(|word| !word.contains('.'));
    words.filter_map(|word| word.parse().ok()).collect()
}

const CELLS: [(&str, &str); 5] = [
    ("both correct", "both"),
    ("A only", "only_a"),
    ("B only", "only_b"),
    ("both wrong", "none"),
    ("not comparable", "missing"),
];

#[test]
fn the_cells_are_those_of_the_shell_and_each_is_a_filter() {
    let printed = shell(&["compare"], &[&fixture("runs.jsonl"), &fixture("base.jsonl")]);
    let mut d = fixtures();
    d.keys("m");
    assert_eq!(d.app.screens.top(), ScreenKind::Compare);
    for line in printed.lines().filter(|line| line.starts_with("accuracy") || line.starts_with("McNemar")) {
        // The picture is as wide as there is room.
        d.shows(&[line.split("   ").next().unwrap()]);
    }
    for (n, (phrase, word)) in CELLS.into_iter().enumerate() {
        d.keys(if n == 0 { "g" } else { "m g" });
        d.keys(&"j".repeat(n));
        assert_eq!(numbers(&d.screen(), phrase), numbers(&printed, phrase), "{phrase}");
        let count = *numbers(&printed, phrase).last().unwrap() as usize;
        d.keys("Enter");
        assert_eq!(d.app.screens.top(), ScreenKind::Table);
        assert_eq!(d.app.table.filter_text, format!("cell:{word}"));
        // One item of the last cell is in the baseline alone.
        let hidden = usize::from(word == "missing");
        assert_eq!(d.app.rows(), count - hidden, "{word}");
        assert_eq!(d.status().contains("1 more is only in B"), hidden == 1, "{}", d.status());
    }
    assert_eq!(d.table_ids(), ["c8", "c9"]);
    d.keys("Esc");
    assert_eq!(d.app.rows(), 12, "Esc shows all again");
}

#[test]
fn the_bar_has_its_cells_and_bases_that_are_the_same_are_one() {
    let mut d = fixtures();
    d.resize(120, 36)
        .keys("m")
        .shows(&["█ ✓ 4 █", "▓ ◧ 1 ▓", "▒ ◨ 3 ▒", "░ ✗ 1 ░", "· ⊘ 3 ·"])
        .hides(&["gold-adjusted", "as reviewed"]);
    d.keys("j").click_on(" ◧ 1 ▓");
    assert_eq!(d.app.table.filter_text, "cell:only_a", "a click on the part of the cell under the cursor opens it");
    d.keys("m").click_on(" ✓ 4 █");
    assert_eq!((d.app.screens.top(), d.app.kept.compare.list.at), (ScreenKind::Compare, 0));
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
    alone.keys("^U Enter");
    for key in ["m", "B"] {
        alone.keys(key);
        assert!(alone.status().contains("no baseline"), "{key}: {}", alone.status());
    }
    alone.hides(&["matrix"]);
}

#[test]
fn a_cell_whose_items_are_all_in_the_baseline_says_so() {
    let record = |id: &str| format!("{{\"id\": \"{id}\", \"question\": \"{id}?\", \"correct\": true}}\n");
    let (_folder, mut d) = two(&record("a"), &[record("a"), record("b")].concat());
    d.keys("m g 4j Enter");
    d.shows(&["All of these are only in B: none is in this table"]);
    assert_eq!(d.app.screens.top(), ScreenKind::Compare);
}

#[test]
fn where_one_side_has_no_steps_none_is_said_to_be_the_same() {
    let plan = r#", "procedure": {"NameDescription": "n", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "d"}], "stepDescription": "Answer.", "output": [{"name": "final_answer", "description": "d"}]}]}"#;
    let record = |plan: &str| format!(r#"{{"id": 1, "question": "2 + 2?", "error": "broke off"{plan}}}"#);
    let (_folder, mut d) = two(&record(plan), &record(""));
    d.keys("B").hides(&["no step diverges"]).shows(&["Only records with steps on both sides"]);
    let (_folder, mut d) = two(&record(plan), &record(plan));
    d.keys("B").shows(&["no step diverges"]);
}

#[test]
fn a_run_stands_beside_a_direct_prompt() {
    for (width, height) in [(80, 24), (120, 36), (200, 60)] {
        let mut d = fixtures();
        d.resize(width, height).keys("3j B");
        assert_eq!(d.app.screens.top(), ScreenKind::SideBySide);
        d.shows(&["runs.jsonl", "against", "base.jsonl", "✓ correct", "✗ wrong", "49 pears", "50 pears", "4/12"]);
        d.shows(&["Steps of A, the raw reply of B", "Different record types"]);
        d.keys("G").shows(&["/raw", "There are several boxes."]);
        d.keys("g").shows(&["Item 4"]);
        d.keys("B");
        assert_eq!(d.app.screens.top(), ScreenKind::Table);
    }
}

#[test]
fn two_runs_part_at_a_step_and_what_is_the_same_can_be_shown() {
    let mut d = fixtures();
    d.keys("G Enter B").shows(&["first difference: step 2 (values of product)", "Variables: "]);
    d.shows(&["product", "35", "36", "→ product = 36"]).hides(&["/gold_num"]);
    d.keys("d G").shows(&["/gold_num"]);
    d.keys("q");
    assert_eq!(d.app.screens.top(), ScreenKind::Run, "back to the open record");
    d.keys("B q q");
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
}

#[test]
fn side_by_side_one_walks_on_through_the_filter() {
    let mut d = fixtures();
    d.keys("f 'cell:only_b' Enter Enter B").shows(&["Item 5", "1/3"]);
    d.keys("}").shows(&["Item 6", "2/3"]);
    d.keys("}").shows(&["Item 12", "3/3"]);
    d.keys("}");
    assert!(d.status().contains("last matched record"), "{}", d.status());
    d.keys("{").shows(&["Item 6"]);
    d.keys("q");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.shows(&["Item 6"]);
}

#[test]
fn a_record_without_a_partner_says_so() {
    let mut d = fixtures();
    d.keys("8j B");
    assert!(d.status().contains("no baseline record for this item"), "{}", d.status());
    assert!(!d.app.screens.top().is_of_all() && d.app.screens.top() != ScreenKind::SideBySide);
    // Joined by its question.
    d.keys("j B").shows(&["Item 10"]);
    // An error row beside an answer.
    d.keys("q f 'cell:duplicate' Enter B");
    assert!(d.status().starts_with("its id occurs earlier in this run"), "{}", d.status());
    d.keys("Esc g 7j B").shows(&["TimeoutError: the server did not answer", "⊘ run failed"]);
}

#[test]
fn a_baseline_that_cannot_be_read_is_a_sentence() {
    let gone = fixture("gone.jsonl");
    let mut d = Drive::beside(&fixture("runs.jsonl"), &gone);
    d.keys("m").shows(&["cannot", "gone.jsonl"]);
    assert!(d.status().contains("gone.jsonl"), "{}", d.status());
    d.keys("q Enter B");
    assert!(!d.app.screens.top().is_of_all() && d.app.screens.top() != ScreenKind::SideBySide);
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
    d.keys("m").shows(&["unmatched: 1 in A", "duplicate ids: 0 in A, 1 in B", "ask different questions"]);
    assert_eq!(numbers(&d.screen(), "both correct"), [2]);
    assert_eq!(numbers(&d.screen(), "not comparable"), [2], "the broken line is an item of its own");
    d.keys("q G B").shows(&["␛[31mother?"]);
    let (_folder, mut empty) = two(&a, "");
    empty.keys("m").shows(&["0 by id, 0 by question; unmatched: 3 in A", "none"]);
    let (_folder, mut one) = two(&row("1", 5, true), &a);
    one.keys("m").shows(&["1 record  against", "3 records"]);
    let (_folder, mut nothing) = two("", &a);
    nothing.keys("m").shows(&["0 by id", "0 records  against"]).hides(&["NaN"]);
    nothing.keys("j Enter");
    assert!(nothing.status().contains("All of these are only in B"), "{}", nothing.status());
    nothing.keys("g Enter");
    assert!(nothing.status().contains("No records"), "{}", nothing.status());
}

#[test]
fn samples_of_one_question_have_no_partner() {
    let sample = |question: &str, answer: u32| {
        format!(
            r#"{{"question": "{question}", "gold_num": 5, "mode": "baseline", "state": {{}}, "pred_num": {answer}}}"#
        ) + "\n"
    };
    let a = [sample("same?", 5), sample("same?", 6), sample("other?", 5)].concat();
    let b = [sample("other?", 5), sample("same?", 6), sample("same?", 5)].concat();
    let (_folder, mut d) = two(&a, &b);
    d.keys("m").shows(&["repeated questions: 2 in A, 2 in B (not paired)", "regressions"]);
    assert_eq!(numbers(&d.screen(), "both correct"), [1]);
    assert_eq!(numbers(&d.screen(), "B only"), [0], "the second of A goes with none of B");
    d.keys("q f 'cell:repeated' Enter");
    assert_eq!(d.app.rows(), 2);
    d.keys("B");
    assert!(d.status().starts_with("its question repeats"), "{}", d.status());
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
    for name in ["both correct", "B only", "both wrong", "disputed"] {
        assert_eq!(numbers(&d.screen(), name), numbers(&printed, name), "{name}\n{printed}");
    }
    assert_eq!(numbers(&printed, "B only"), [3, 2, 2], "{printed}");
    assert_eq!(numbers(&printed, "disputed"), [0, 0, 1], "{printed}");
    d.keys("2j Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.app.rows()), ("cell:recorded/only_b", 3));
    d.keys("m l Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.app.rows()), ("cell:reviewed/only_b", 2));
    d.keys("m l 3j Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.table_ids()), ("cell:left_out", vec!["c7".to_owned()]));
}

/// Opens the fixture in a folder of its own, with the verdicts of two people.
fn reviewed() -> (tempfile::TempDir, Drive) {
    let text = |name: &str| std::fs::read_to_string(fixture(name)).unwrap();
    let (folder, mut drive) = two(&text("runs.jsonl"), &text("base.jsonl"));
    say(
        &folder,
        "ada",
        r#"{"kind":"label_set","label_set":{"id":"default","version":1,"labels":[{"id":"plan"},{"id":"slip"},{"id":"unit, twice"}]}}
        {"id":"c5","verdict":"fail","labels":["slip"],"fix_target":"step_run","first_bad_step":2,"variable":"product","note":"8 * 2 is 16"}
        {"id":"c6","verdict":"fail","labels":["slip","unit, twice"],"fix_target":"step_run","first_bad_step":2}
        {"id":"c7","verdict":"fail","labels":["plan"],"fix_target":"procedure"}
        {"id":"c4","verdict":"pass"}"#,
    );
    say(&folder, "bob", r#"{"id":"c6","verdict":"pass","note":"gold \u001b[31mis wrong","gold_status":"suspect"}"#);
    drive.app.across.reviewer = Some(Reviewer::person("eve"));
    (folder, drive)
}

/// Opens the fixture in a folder of its own, with two verdicts on one item and no label set.
fn undecided() -> (tempfile::TempDir, Drive) {
    undecided_about("Item 6: 4 boxes hold 4 pears each. How many pears are there?")
}

/// The same, where the item has another question.
fn undecided_about(question: &str) -> (tempfile::TempDir, Drive) {
    let text = |name: &str| std::fs::read_to_string(fixture(name)).unwrap();
    let runs = text("runs.jsonl");
    let own = "Item 6: 4 boxes hold 4 pears each. How many pears are there?";
    assert!(runs.contains(own));
    let (folder, mut drive) = two(&runs.replace(own, question), &text("base.jsonl"));
    say(&folder, "ada", r#"{"id":"c6","verdict":"fail"}"#);
    say(&folder, "bob", r#"{"id":"c6","verdict":"pass"}"#);
    drive.app.across.reviewer = Some(Reviewer::person("eve"));
    (folder, drive)
}

/// Saves verdicts as the shell does.
fn say(folder: &tempfile::TempDir, who: &str, lines: &str) {
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    let add = add.args(["review", "add", "--reviewer", who]).arg(folder.path().join("a.jsonl"));
    assert!(fed(add, lines).status.success());
}

/// Moves down the dashboard to a line, and along it to a number.
fn board(d: &mut Drive, name: &str, column: usize) {
    d.keys("g");
    d.app.kept.dashboard.column = 0;
    for _ in 0..200 {
        let on = d.screen().contains(name) && d.style_of(name).fg == Some(d.colour(Role::Accent));
        if on {
            d.keys(&"l".repeat(column));
            return;
        }
        d.keys("j");
    }
    panic!("never on {name}\n{}", d.screen());
}

#[test]
fn every_number_of_the_boards_opens_its_records() {
    let (folder, mut d) = reviewed();
    d.resize(120, 60).keys("O");
    d.shows(&["4 reviewed items", "Where to fix: reviewers", "Where to fix: automatic"]);
    let stats = shell(&["review", "stats"], &[&folder.path().join("a.jsonl")]);
    for line in stats.lines().filter(|line| line.contains(" % [")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let share = line.split_once(words.iter().find(|word| word.contains('.')).unwrap()).unwrap().1;
        d.shows(&[share.trim_end()]);
    }
    for (name, column, filter, ids) in [
        ("  model output", 0, "board:fix/step_run", vec!["c5"]),
        ("product", 0, "board:fix/step_run/step_2/product", vec!["c5"]),
        ("label slip", 0, "board:fix/step_run/step_2/product/label_slip", vec!["c5"]),
        ("  plan", 0, "board:label/plan", vec!["c7"]),
        ("answer/schema", 1, "board:rule/answer/schema/passed", vec!["c4"]),
    ] {
        board(&mut d, name, column);
        d.keys("Enter");
        assert_eq!(d.app.table.filter_text, filter, "{name}");
        assert_eq!(d.table_ids(), ids, "{name}");
        d.keys("O");
    }
    // A board can be asked for before it was opened, and with other terms.
    let mut typed = Drive::beside(&folder.path().join("a.jsonl"), &folder.path().join("b.jsonl"));
    typed.keys("f 'board:triage/step_run cell:only_b' Enter");
    assert_eq!(typed.table_ids(), ["c5", "c12"], "somebody disputes the gold answer of c6");
    typed.keys("Esc f 'board:triage/step_run cell:recorded/only_b' Enter");
    assert_eq!(typed.table_ids(), ["c5", "c6", "c12"]);
    typed.keys("Esc f 'board:fix/nothing_like_it' Enter");
    assert_eq!(typed.app.rows(), 0);
}

#[test]
fn the_boards_say_how_many_records_are_gone_and_how_many_are_of_other_files() {
    let (folder, mut d) = reviewed();
    d.keys("O").shows(&["4 reviewed items"]).hides(&["left out", "other files"]);
    let path = |name: &str| folder.path().join(name);
    let runs = std::fs::read_to_string(path("a.jsonl")).unwrap();
    let rest: String = runs.split_inclusive('\n').filter(|line| !line.contains("\"c7\"")).collect();
    // A verdict on another file, in the same review log.
    std::fs::write(path("z.jsonl"), runs.replace("\"c5\"", "\"other\"")).unwrap();
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    let add = add.args(["review", "add", "--reviewer", "ada"]).arg(path("z.jsonl"));
    let add = add.arg("--reviews").arg(path("a.jsonl.reviews.jsonl"));
    assert!(fed(add, r#"{"id":"other","verdict":"pass"}"#).status.success());
    std::fs::write(path("a.jsonl"), rest).unwrap();
    let mut d = Drive::beside(&folder.path().join("a.jsonl"), &folder.path().join("b.jsonl"));
    d.resize(120, 60)
        .keys("O")
        .shows(&["3 reviewed items, 1 item of a record that is gone (left out), 1 more is of other files"]);
    d.keys("A").shows(&["1 item of a record that is gone (left out)"]);
    let agreement = shell(&["review", "agreement"], &[&path("a.jsonl")]);
    assert!(agreement.contains("\n1 item of a record that is gone (left out)\n"), "{agreement}");
}

#[test]
fn without_reviews_the_boards_show_what_the_triage_says() {
    let mut d = fixtures();
    d.keys("O").shows(&["Where to fix: automatic", "0 reviewed items"]).hides(&["fix: reviewers"]);
    d.keys("Enter");
    assert_eq!(d.app.table.filter_text, "board:triage/step_run");
    assert!(d.app.rows() > 0);
    d.keys("A").shows(&["no reviews yet", "No open disagreements"]);
    d.keys("a");
    assert!(d.status().contains("nothing to decide"), "{}", d.status());
}

#[test]
fn who_disagrees_stands_side_by_side_and_is_decided() {
    let (folder, mut d) = reviewed();
    d.keys("A").shows(&[
        "verdict  Item 6",
        "⊖ fail  ada",
        "⊕ pass  bob",
        "slip, unit, twice",
        "expected answer: suspect",
    ]);
    d.shows(&["gold ␛[31mis wrong", "Fix: model output, step 2", "overlap 1", "(kappa from 20 items)"]);
    // The numbers are those of a review, whichever labels were given.
    d.keys("x").shows(&["1 [ ] plan", "2 [ ] slip (ada)", "3 [ ] unit, twice (ada)", "Enter save", "Esc cancel"]);
    d.keys("3 1 1").shows(&["1 [ ] plan", "3 [x] unit, twice"]);
    d.keys("9");
    assert!(d.status().contains("no such label"), "{}", d.status());
    d.keys("Esc").hides(&["○"]);
    d.keys("x 3 Enter");
    assert!(d.status().contains("saved c6"), "{}", d.status());
    d.shows(&["No open disagreements"]);
    let journal = std::fs::read_to_string(folder.path().join("a.jsonl.reviews.jsonl")).unwrap();
    let last = journal.lines().last().unwrap();
    for part in ["\"adjudicate\"", "\"eve\"", "unit, twice", "\"fail\"", "\"adjudicates\"", "\"step_run\""] {
        assert!(last.contains(part), "{part} in {last}");
    }
    let listed = shell(&["review", "list", "--outcome", "fail", "--ids"], &[&folder.path().join("a.jsonl")]);
    assert!(listed.contains("c6"), "{listed}");
}

#[test]
fn a_decision_begun_before_presenting_is_not_made_while() {
    let (_folder, mut d) = undecided();
    d.keys("A x 1 : 'present' Enter Enter").shows(&["nothing is saved while presenting"]);
    d.keys("/").shows(&["nothing is saved while presenting"]);
    d.keys("Esc a").shows(&["nothing is saved while presenting"]);
    d.keys(": 'present' Enter x 1 Enter");
    assert!(d.status().contains("saved c6"), "{}", d.status());
}

#[test]
fn labels_of_a_log_without_a_set_are_those_that_a_review_offers_and_are_written_down_first() {
    let (folder, mut d) = undecided();
    d.keys("A x").shows(&["1 [ ] arithmetic slip", "4 [ ] wrong plan", "9 [ ] answer incomplete"]);
    // On a small screen too, and on the smallest the one that was toggled.
    d.resize(60, 14).shows(&["1 [ ] arithmetic slip", "9 [ ] answer incomplete"]);
    d.resize(60, 9).keys("9").shows(&["9 [x] answer incomplete"]);
    d.keys("9 1").shows(&["1 [x] arithmetic slip"]);
    d.resize(120, 36).keys("1");
    d.keys("4 Enter");
    assert!(d.status().contains("saved c6"), "{}", d.status());
    let events = |kind: EventKind| {
        let all = read_all(&named(&[folder.path().join("a.jsonl.reviews.jsonl")]))
            .unwrap()
            .reviews
            .events()
            .collect::<Vec<_>>();
        all.into_iter().filter(|event| event.kind == kind).collect::<Vec<Event>>()
    };
    assert_eq!(events(EventKind::Adjudicate)[0].labels[0].id, Text::from("wrong_plan"));
    assert_eq!(events(EventKind::LabelSet).len(), 1);
    let listed = shell(&["review", "list", "--outcome", "fail"], &[&folder.path().join("a.jsonl")]);
    assert!(listed.contains("wrong plan") || listed.contains("wrong_plan"), "{listed}");
    // The second decision finds it in the log.
    say(&folder, "ada", r#"{"id":"c5","verdict":"fail"}"#);
    say(&folder, "bob", r#"{"id":"c5","verdict":"pass"}"#);
    d.keys("q A").shows(&["verdict  Item 5"]);
    d.keys("x 1 Enter");
    assert_eq!((events(EventKind::Adjudicate).len(), events(EventKind::LabelSet).len()), (2, 1));
}

#[test]
fn a_disputed_question_is_shown_as_far_as_there_is_room() {
    let question = (1..=60).map(|n| format!("Fact {n} is told.")).collect::<Vec<_>>().join(" ");
    let (_folder, mut d) = undecided_about(&question);
    d.keys("A").shows(&["Fact 1 is told", "Fact 30 is told", "Fact 60 is told", "answer 13", "fail  ada"]);
    d.resize(60, 24).shows(&["Fact 1 is told", "Fact 8 is told", "…", "answer 13"]).hides(&["Fact 60 is told"]);
    // The labels have the room while they are chosen.
    d.keys("x").shows(&["Fact 1 is told", "fail, because of:"]).hides(&["Fact 8 is told"]);
}

#[test]
fn labels_beyond_the_ninth_are_found_by_their_names() {
    let (folder, mut d) = undecided();
    let labels: Vec<String> = (1..=12).map(|n| format!(r#"{{"id":"l{n}","name":"label {n}"}}"#)).collect();
    let labels = labels.join(",");
    say(
        &folder,
        "ada",
        &format!(r#"{{"kind":"label_set","label_set":{{"id":"default","version":1,"labels":[{labels}]}}}}"#),
    );
    say(&folder, "ada", r#"{"id":"c6","verdict":"fail","labels":["l12"]}"#);
    d.keys("A x").shows(&["9 [ ] label 9", "+3 more: /", "/ find label"]).hides(&["label 10", "[ ] label 12"]);
    d.keys("/ 'label 12'").shows(&["[ ] label 12", "Enter toggle"]).hides(&["^N new", "^R rename", "^G merge"]);
    d.keys("Enter").shows(&["[x] label 12 (ada)", "+2 more: /"]);
    d.keys("/ 'no such'").shows(&["no matching label"]).hides(&["creates the label", "Enter toggle"]);
    d.keys("Esc y 1 Enter");
    assert!(d.status().contains("saved c6"), "{}", d.status());
    let journal = std::fs::read_to_string(folder.path().join("a.jsonl.reviews.jsonl")).unwrap();
    let last = journal.lines().last().unwrap();
    assert!(last.contains("\"l12\"") && last.contains("\"l1\""), "{last}");
}

#[test]
fn labels_that_are_only_offered_have_their_names_and_the_kappa_has_its_room() {
    let (folder, mut d) = undecided();
    say(&folder, "ada", r#"{"id":"c6","verdict":"fail","labels":["arithmetic_slip","unevaluated"]}"#);
    d.keys("A");
    for (width, height) in [(80, 24), (120, 36), (200, 60)] {
        d.resize(width, height).shows(&["arithmetic slip, expression left"]).hides(&["arithmetic_slip"]);
        d.shows(&["0 of 1 agree, used on 1 (kappa from 20 items)"]);
    }
    // Where there is room for them the names are whole.
    d.shows(&["expression left unevaluated  0 of 1 agree"]);
    let shell = shell(&["review", "agreement"], &[&folder.path().join("a.jsonl")]);
    assert!(shell.contains("  expression left unevaluated  0 of 1 agree"), "{shell}");
}

#[test]
fn intervals_of_a_table_begin_in_one_column() {
    let (_folder, mut d) = reviewed();
    d.resize(200, 60).keys("O");
    let screen = d.screen();
    let row = |name: &str| screen.lines().find(|line| line.contains(name)).unwrap();
    let [shorter, longer] = ["answer/schema", "run/quantity_missed"].map(row);
    let text = |line: &str| line.split(" % ").nth(1).unwrap().split("   ").next().unwrap().len();
    assert!(text(shorter) < text(longer), "{screen}");
    let axis = |line: &str| line.chars().position(|c| "─├●".contains(c)).unwrap();
    assert_eq!(axis(shorter), axis(longer), "{screen}");
}

#[test]
fn the_records_of_a_cell_stand_below_the_numbers_where_there_is_room() {
    let sample = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name);
    let mut d = Drive::beside(&sample("word_problems.jsonl"), &sample("baseline.jsonl"));
    d.resize(80, 24).keys("m").shows(&["◧ 12", "✗ 39"]).hides(&["Matching records"]);
    d.resize(120, 36).shows(&["◧ 12", "✗ 39", "Matching records  12 records", "Nils buys 3 notebooks"]);
    d.keys("2j").shows(&["Matching records  first 13 records", "Rosa buys one kite"]);
    d.resize(200, 60).shows(&["◧ 12", "✗ 39", "Matching records  39 records"]);
}

#[test]
fn what_a_run_is_compared_with_is_no_part_of_it() {
    let (folder, _) =
        two(r#"{"id": "a", "question": "a?", "correct": true}"#, r#"{"id": "a", "question": "a?", "correct": false}"#);
    let mut d = Drive::beside(folder.path(), &folder.path().join("b.jsonl"));
    d.resize(120, 36).keys("m").shows(&["1 record  against", "joined 1 by id", "duplicate ids       0 in A, 0 in B"]);
}

#[test]
fn a_decision_that_cannot_be_saved_says_so_and_counts_once() {
    let (folder, mut d) = reviewed();
    let good = d.app.across.journals.clone();
    d.keys("A");
    d.app.across.journals.named = vec![Place::Named(folder.path().join("gone/away.jsonl"))];
    d.keys("a");
    assert!(d.status().contains("NOT SAVED c6"), "{}", d.status());
    let id = d.app.log.events().next().unwrap().0.event_id.clone();
    d.keys("Q");
    assert!(d.quit.is_none() && d.status().contains("NOT SAVED: 1 verdict"), "{}", d.status());
    d.app.across.journals = good;
    d.keys("a");
    assert!(d.status().contains("saved c6"), "{}", d.status());
    let journal = std::fs::read_to_string(folder.path().join("a.jsonl.reviews.jsonl")).unwrap();
    assert_eq!(journal.matches(id.utf8().unwrap()).count(), 1);
    d.app.across.journals.files = Vec::new();
    say(&folder, "bob", r#"{"id":"c5","verdict":"pass"}"#);
    d.keys("q A").shows(&["no reviews yet"]);
}

#[test]
fn a_decision_that_could_not_be_saved_holds_the_end_and_is_given_again() {
    let (folder, mut d) = reviewed();
    let gone = folder.path().join("gone");
    d.keys("A");
    d.app.across.journals.named = vec![Place::Named(gone.join("away.jsonl"))];
    d.keys("a Q");
    assert_eq!(d.quit, None);
    std::fs::create_dir(&gone).unwrap();
    d.keys("^S");
    assert!(d.status().contains("saved c6"), "{}", d.status());
    d.keys("Q");
    assert_eq!(d.quit, Some(0), "{}", d.status());
    let journal = std::fs::read_to_string(gone.join("away.jsonl")).unwrap();
    assert_eq!(journal.matches("\"adjudicate\"").count(), 1, "{journal}");
}

#[test]
fn the_record_of_a_dispute_opens_and_agreement_in_full() {
    let (_folder, mut d) = reviewed();
    d.resize(80, 24).keys("A Tab").shows(&["ada reviewed 4", "bob reviewed 1", "overlap 1"]);
    d.keys("Esc Enter");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.shows(&["Item 6"]);
    d.keys("A").shows(&["verdict  Item 6"]);
    d.keys("^D ^D ^U q");
    assert!(!d.app.screens.top().is_of_all() && d.app.screens.top() != ScreenKind::SideBySide);
}

#[test]
fn a_journal_that_cannot_be_read_is_a_sentence() {
    let mut d = fixtures();
    d.app.across.journals.named = vec![Place::Named(fixture(""))];
    d.keys("O").shows(&["cannot"]);
    d.keys("A").shows(&["cannot"]);
    d.keys("m").shows(&["cannot"]);
}

#[test]
fn a_run_that_grows_is_compared_again_where_that_shows() {
    let (folder, mut d) = reviewed();
    d.keys("f 'cell:only_b' Enter");
    assert_eq!(d.table_ids(), ["c5", "c12"]);
    let base = std::fs::read_to_string(fixture("base.jsonl")).unwrap();
    let right = base.lines().find(|line| line.contains("\"c11\"")).unwrap();
    // Its expected number stays, so that it is wrong by its number too.
    let wrong = right.replace("25 pears", "26 pears").replace("numerical\": 25", "numerical\": 26");
    let wrong = wrong.replace("pred_num\": 25", "pred_num\": 26").replace("multiply.\\n#### 25", "multiply.\\n#### 26");
    let wrong = wrong.replace("\"correct\": true", "\"correct\": false");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &wrong + "\n").unwrap();
    d.wait_for(|app| app.store.len() == 13 && app.store.is_settled());
    assert_eq!(d.table_ids(), ["c5", "c12", "c11"]);
}

#[test]
fn the_mouse_chooses_and_opens() {
    for height in [24, 36] {
        let (_folder, mut d) = reviewed();
        d.resize(100, height).keys("m");
        let (_, row) = d.find("both wrong");
        let (column, _) = d.find("gold-adjusted");
        d.click(column, row);
        assert_eq!((d.app.kept.compare.list.at, d.app.kept.compare.basis), (3, 2));
        let (column, row) = d.find("McNemar's exact test gold-adjusted");
        d.click(column, row);
        assert!(d.status().contains("select a cell above"), "{}", d.status());
        let (column, _) = d.find("as graded");
        // The first click may scroll.
        for _ in 0..2 {
            let (_, row) = d.find("B only");
            d.click(column, row);
        }
        assert_eq!(d.app.table.filter_text, "cell:recorded/only_b");
        d.keys("O");
        let (_, row) = d.find("      product");
        let (column, _) = d.find("items");
        d.click(column, row);
        d.click(column, row);
        assert_eq!(d.app.table.filter_text, "board:fix/step_run/step_2/product");
        d.keys("A").click_on("verdict  Item 6");
        assert_eq!(d.app.screens.top(), ScreenKind::Run, "the first is chosen already");
    }
}

#[test]
fn while_it_is_worked_out_everything_else_goes_on() {
    let (_folder, mut d) = reviewed();
    d.hold = true;
    d.keys("m").shows(&["reading and joining both runs"]);
    d.keys("q f 'cell:only_b' Enter").shows(&["searching…"]);
    d.keys("Esc j B");
    assert!(d.status().contains("joining"), "{}", d.status());
    d.keys("O").shows(&["reading reviews"]);
    d.keys("q A").shows(&["reading reviews"]);
    d.keys("q j j B").release();
    assert_eq!(d.app.screens.top(), ScreenKind::SideBySide, "the record that was asked for");
    d.shows(&["Item 4"]);
    d.keys("q");
    assert_eq!((d.app.screens.top(), d.app.table.list.at), (ScreenKind::Table, 3));
    d.hold = true;
    d.keys("B j").release();
    assert!(
        !d.app.screens.top().is_of_all() && d.app.screens.top() != ScreenKind::SideBySide,
        "who went on is not taken away from it"
    );
}

#[test]
fn every_size_can_be_drawn() {
    for keys in ["m", "m G", "m j l", "3j B", "3j B G d", "O", "O G", "A", "A x", "A Tab"] {
        let (_folder, mut d) = reviewed();
        d.keys(keys);
        for (width, height) in [(0, 0), (1, 1), (9, 3), (20, 6), (30, 200), (99, 24), (101, 8), (500, 9)] {
            d.resize(width, height);
            d.keys("j k ^D ^U");
        }
    }
}

#[test]
fn nasty_records_stand_side_by_side() {
    let texts =
        [nasty::poisoned(), nasty::tangled(), nasty::deep(100), nasty::many_steps(250), nasty::long_texts(1 << 16)];
    for (a, b) in texts.iter().zip(texts.iter().cycle().skip(1)) {
        // The same ids and questions in another order, and other records.
        let (_folder, mut d) = two(&format!("{a}{b}"), &format!("{b}{a}"));
        for record in 1..=d.app.store.len().min(12) {
            d.keys(&format!("{record}G B"));
            for (width, height) in [(20, 5), (80, 24), (200, 60)] {
                d.resize(width, height).keys("d G ^U d g");
            }
            d.keys("q");
            d.app.screens.clear();
        }
        for keys in ["m G Enter", "O G l Enter", "D j k", "m j Enter"] {
            d.keys(keys).resize(40, 9).resize(120, 36);
            d.app.screens.clear();
        }
    }
}

#[test]
fn thousands_of_variables_stand_side_by_side() {
    let text = nasty::many_variables(3_000);
    let (_folder, mut d) = two(&text, &text.replace('1', "2"));
    d.keys("B d G k ^U g");
    assert_eq!(d.app.screens.top(), ScreenKind::SideBySide);
}

#[test]
fn a_baseline_whose_document_is_missing_is_compared() {
    let answers = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let text = std::fs::read_to_string(answers).unwrap();
    let (_folder, mut d) = two(&text, &text);
    d.keys("m").until(|app| app.across.compared.is_some());
    assert_eq!(d.app.screens.top(), ScreenKind::Compare);
    assert_eq!(d.app.across.compared.as_ref().unwrap().alone, [0, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_pressed_breaks_it(presses in prop::collection::vec((0_usize..40, 0_u16..130, 0_u16..40), 1..80)) {
        let (_folder, mut d) = reviewed();
        let keys: Vec<char> = "mBODaxmBODax123jkhlgGd}{JqqfZ?]/ 5n".chars().collect();
        for (which, x, y) in presses {
            match keys.get(which) {
                Some(key) => d.key(KeyEvent::new(KeyCode::Char(*key), KeyModifiers::NONE)),
                None if which < 37 => d.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)),
                None if which == 37 => d.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)),
                None if which == 38 => d.mouse(MouseEventKind::Down(MouseButton::Left), x, y),
                None => drop(d.resize(x, y).lines()),
            }
            for binding in d.app.hints() {
                prop_assert_eq!(d.app.allowed(binding.action), Ok(()));
            }
            prop_assert!(d.app.rows() == 0 || d.app.table.list.at < d.app.rows());
        }
    }
}
