//! Forks on the screen: kept, shown under their parents, compared with them, made by edits and without a model.

use crate::support::drive;
use std::path::{Path, PathBuf};

use crate::support::drive::Drive;
use stepscope::app::records::fork_count;
use stepscope::screens::kind::ScreenKind;
use stepscope::widgets::keymap::Action;
use stepscope_judge::case::Case;
use stepscope_terminal::run::Event;

/// Copies the fixture of eight records into a folder of its own.
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

/// Returns the fork of a record in which a variable has another value before a step.
fn edited(record: &[u8], step: usize, name: &str, value: &str) -> Vec<u8> {
    let edits = vec![(name.to_owned().into(), value.as_bytes().to_vec())];
    let case = Case::read(record);
    stepscope_execution::rerun::edited(&case.view(), step, edits, "2026-11-20T09:28:01.250Z").unwrap()
}

/// Keeps a fork of the open record, as the screens do that make one.
fn keep(d: &mut Drive, line: Vec<u8>) {
    if let Some((_, effect)) = d.app.keep_fork(line) {
        d.effect(effect);
    }
}

#[test]
fn a_kept_fork_is_on_the_disk_when_the_screen_says_so() {
    let (_folder, path) = runs();
    let before = std::fs::read(&path).unwrap();
    let mut d = open(&path);
    d.keys("Enter");
    let line = edited(d.app.screens.record().unwrap().opened.text(), 1, "problem_text", "\"another\"");
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
    let line = edited(d.app.screens.record().unwrap().opened.text(), 1, "problem_text", "\"another\"");
    keep(&mut d, line);
    assert!(d.status().starts_with("NOT SAVED, it is not a regular file (^S retries): "));
    d.keys("j");
    assert!(d.header().contains("✗ 1 not saved"), "{}", d.header());
    d.keys("^S");
    assert!(d.status().starts_with("NOT SAVED"));
    d.keys("Q");
    assert!(d.quit.is_none() && d.status().contains("^S retries"), "{}", d.status());
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
    let line = edited(d.app.screens.record().unwrap().opened.text(), 1, "problem_text", "\"another\"");
    keep(&mut d, line.clone());
    assert_eq!(d.status(), "saved in mine");
    assert!(elsewhere.exists() && !forks_of(&path).exists());
    let before = std::fs::read(&path).unwrap();
    d.app.forks.path = Some(path.clone());
    keep(&mut d, line);
    assert!(d.status().contains("does not hold forks and was not changed; choose another file with --forks"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Writes forks of a record of the fixture next to it, one per call of `edited`.
fn with_forks(path: &Path, n: usize, values: &[&str]) {
    let text = std::fs::read(path).unwrap();
    let record = text.split(|byte| *byte == b'\n').nth(n).unwrap();
    let mut lines = Vec::new();
    for value in values {
        lines.extend(edited(record, 1, "problem_text", value));
        lines.push(b'\n');
    }
    std::fs::write(forks_of(path), lines).unwrap();
}

#[test]
fn forks_stand_below_their_parents() {
    let (folder, path) = runs();
    with_forks(&path, 2, &["\"x\"", "\"y\""]);
    for paths in [vec![path.clone()], vec![folder.path().to_owned()], vec![path.clone(), forks_of(&path)]] {
        let mut d = Drive::open(&paths);
        d.shows(&["8 records   2 forks"]);
        let lines = d.lines();
        assert!(lines[3].starts_with("   2 "), "{}", d.screen());
        assert!(lines[4].starts_with("  r1") && lines[4].contains("└ problem_text overridden"), "{}", d.screen());
        assert!(lines[5].starts_with("  r2") && lines[6].starts_with("   3"), "{}", d.screen());
        // Forks go with their parents, whatever the order.
        d.keys("~");
        let row = |start: &str| d.lines().iter().position(|line| line.replace('❯', " ").starts_with(start)).unwrap();
        assert!(row("  r1") == row("   2 ") + 1 && row("  r2") == row("   2 ") + 2, "{}", d.screen());
    }
}

#[test]
fn a_fork_that_is_listed_without_its_record_names_it_and_counts_for_itself() {
    let (_folder, path) = runs();
    with_forks(&path, 2, &["\"x\"", "\"y\""]);
    let mut d = open(&path);
    d.shows(&["8 records   2 forks"]);
    d.keys("f 'fork:true' Enter").wait_for(|app| app.rows() == 2);
    let lines = d.lines();
    for (row, name) in [(2, "r1"), (3, "r2")] {
        let line = &lines[row];
        assert!(line.contains(name) && line.contains("fork of 2: problem_text"), "{}", d.screen());
    }
    d.keys("Enter");
    assert!(d.header().contains("1/2") && d.header().contains("fork r1"), "{}", d.header());
    d.keys("}");
    assert!(d.header().contains("2/2") && d.header().contains("fork r2"), "{}", d.header());
    d.keys("}");
    assert_eq!(d.status(), "this is the last record");
    d.keys("{");
    assert!(d.header().contains("1/2"), "{}", d.header());
}

#[test]
fn the_charts_count_no_forks() {
    let (_folder, path) = runs();
    with_forks(&path, 1, &["\"x\"", "\"y\""]);
    let mut d = open(&path);
    let outcomes = |d: &mut Drive| {
        d.resize(160, 40).keys("I").shows(&["Insights  8 records"]).hides(&["10 records"]);
        let lines = d.lines();
        let charts = lines.iter().filter_map(|line| line.split_once('┃')).map(|(chart, _)| chart.to_owned());
        charts.skip_while(|line| !line.contains("Outcome")).collect::<Vec<_>>()
    };
    let with = outcomes(&mut d);
    // The records next to the charts are those that the number counts.
    assert_eq!(d.screen().matches("An orchard has 4 rows").count(), 1, "{}", d.screen());
    // And so are those of the table.
    d.keys("Enter").shows(&["fork:false", "An orchard has 4 rows"]).hides(&["└ problem_text"]);
    d.keys("f ^U").keys("'fork:true' Enter");
    d.wait_for(|app| app.rows() == 2);
    std::fs::remove_file(forks_of(&path)).unwrap();
    assert_eq!(with, outcomes(&mut open(&path)));
}

#[test]
fn a_filter_takes_forks_in_whatever_file() {
    let (folder, path) = runs();
    with_forks(&path, 1, &["\"x\"", "\"y\""]);
    let reruns = folder.path().join("reruns.jsonl");
    std::fs::rename(forks_of(&path), &reruns).unwrap();
    let mut d = Drive::open(&[path, reruns.clone()]);
    d.shows(&["10 records"]);
    d.keys("f").keys("'fork:true' Enter");
    d.wait_for(|app| app.rows() == 2);
    d.keys("f ^U").keys("'fork:false' Enter");
    d.wait_for(|app| app.rows() == 8);
    // The charts count what it takes, and forks only where there is nothing else.
    d.keys("f ^U Enter I").shows(&["Insights  8 records"]);
    d.keys("Enter").shows(&["fork:false"]).hides(&["10 records"]);
    let mut d = Drive::open(&[reruns]);
    d.keys("I").shows(&["Insights  2 records"]);
    d.keys("Enter").shows(&["2 records"]).hides(&["fork:"]);
}

#[test]
fn a_new_fork_appears_at_once_and_one_walks_between_it_and_its_parent() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    d.keys("j Enter )");
    assert_eq!(d.status(), "this record has no forks");
    assert!(d.header().contains("2/8 ▸") && !d.header().contains("fork"), "{}", d.header());
    let line = edited(d.app.screens.record().unwrap().opened.text(), 1, "problem_text", "\"another\"");
    keep(&mut d, line);
    d.wait_for(|app| fork_count(&app.store) == 1 && app.fork_tree().len() == 2);
    let moment = |d: &Drive| d.app.screens.record().unwrap().moment;
    let end = moment(&d);
    d.keys("[");
    let kept = moment(&d);
    d.keys(")");
    assert!(d.header().contains("runs.jsonl ▸ 2/8 ▸") && d.header().contains("fork r1"), "{}", d.header());
    assert!(kept < end && moment(&d) == kept, "{kept:?} of {end:?}, then {:?}", moment(&d));
    // A fork of the fork.
    let line = edited(d.app.screens.record().unwrap().opened.text(), 1, "problem_text", "\"third\"");
    keep(&mut d, line);
    d.wait_for(|app| fork_count(&app.store) == 2 && app.fork_tree().len() == 3);
    d.keys(")");
    assert!(d.header().contains("fork r2"), "{}", d.header());
    d.keys(")");
    assert!(!d.header().contains("fork"), "{}", d.header());
    d.keys("(");
    assert!(d.header().contains("fork r2"), "{}", d.header());
    d.keys("}");
    assert!(d.header().contains("3/8") && d.header().contains("recorded "), "{}", d.header());
    d.keys("{ q");
    d.shows(&["8 records   2 forks", "└ problem_text overridden", "  └ problem_text overridden"]);
    assert_eq!(std::fs::read_to_string(forks_of(&path)).unwrap().lines().count(), 2);
}

#[test]
fn a_fork_whose_parent_is_gone_stands_by_itself_and_says_so() {
    let (folder, path) = runs();
    with_forks(&path, 2, &["\"x\""]);
    let text = std::fs::read_to_string(&path).unwrap();
    let without: Vec<_> = text.lines().enumerate().filter(|(n, _)| *n != 2).map(|(_, line)| line).collect();
    std::fs::write(&path, without.join("\n")).unwrap();
    let d = open(&path);
    d.shows(&["7 records   1 fork ", "r?", "parent ferry not loaded: "]);
    std::fs::remove_file(&path).unwrap();
    let mut d = Drive::open(&[folder.path().to_owned()]);
    d.shows(&["r?", "parent ferry not loaded"]);
    d.keys("Enter");
    assert!(d.header().contains("fork "), "{}", d.header());
}

#[test]
fn what_is_among_the_forks_and_is_none_is_shown_as_such() {
    let (_folder, path) = runs();
    std::fs::write(forks_of(&path), "{\"id\": 1, \"question\": \"q\", \"state\": {}}\n{broken\n").unwrap();
    open(&path).shows(&["2 forks", "a record among the forks: q", "r?"]);
}

#[test]
fn a_fork_stands_beside_its_parent() {
    let (_folder, path) = runs();
    let text = std::fs::read(&path).unwrap();
    let record = text.split(|byte| *byte == b'\n').nth(2).unwrap();
    let lines =
        [edited(record, 3, "trips", "9"), edited(record, 3, "trips", "10")].map(|line| [line, vec![b'\n']].concat());
    std::fs::write(forks_of(&path), lines.concat()).unwrap();
    let mut d = open(&path);
    d.keys("j d");
    assert_eq!(d.status(), "not a fork");
    d.keys("j d");
    let beside = [
        "A recorded",
        "B r1, trips overridden before step 4",
        "first difference: step 3 (values of trips)",
        "origin",
        "recorded",
    ];
    d.shows(&beside).shows(&["Variables", "trips", "3 + 3 * 2", "9", "Findings by rule", "run/unevaluated"]);
    d.keys("G").shows(&["Steps: 1 changed", "≠ step 3", "→ trips = 9   (override)"]);
    d.keys("g");
    assert!(d.header().contains("side by side  2/8"), "{}", d.header());
    d.keys("}");
    d.shows(&["B r2, trips overridden"]);
    d.keys("}");
    assert_eq!(d.status(), "this is the last fork");
    d.keys("{ q");
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
    d.keys("Enter").shows(&["fork r1"]);
    d.keys("d").shows(&["A recorded", "B r1"]);
    d.keys("d").shows(&["all shown"]);
    d.keys("q |").shows(&["Difference  after step 1 → after step 2"]);
}

#[test]
fn executed_exactly_is_shown_first_and_kept_by_a_key() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    d.keys("s");
    d.keys("j Enter X");
    d.shows(&["A recorded", "B recomputed, not saved", "✗ wrong", "✓ correct", "trips", "9"]);
    assert!(d.status().contains("s saves as a fork"), "{}", d.status());
    d.keys("q");
    assert!(!forks_of(&path).exists() && d.header().contains("2/8"));
    d.keys("X s");
    assert_eq!(d.status(), "saved in runs.jsonl.forks.jsonl");
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.keys(")");
    assert!(d.header().contains("fork r1") && d.header().contains("✓ correct"), "{}", d.header());
    d.keys("X");
    assert!(d.status().starts_with("nothing to recompute"), "{}", d.status());
    d.keys("q").shows(&["└ recomputed from step"]);
}

/// Writes the sample runs, each with what its steps gave.
fn samples() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl"), &path).unwrap();
    (folder, path)
}

#[test]
fn what_a_recomputed_run_leaves_out_of_date_is_told_before_it_is_kept() {
    let (_folder, path) = samples();
    let mut d = open(&path);
    // Its fourth step takes a number from what the third wrote.
    d.keys("50 G Enter X").shows(&["B recomputed, not saved", "out of date", "steps 4, 5", "unknown"]);
    d.keys("q q").keys("2 G Enter X").hides(&["out of date"]);
}

#[test]
fn the_values_of_a_fork_are_its_own_whatever_the_trace_says() {
    let (_folder, path) = samples();
    let mut d = open(&path);
    // "A third of 36, and 5 more": its steps passed calculations on.
    d.keys("j Enter X").shows(&["first difference: step 2", "≠ first_cut_expr", "recomputed", "≠ rest_expr"]);
    d.keys("s");
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.keys(")");
    assert!(d.header().contains("fork r1") && d.header().contains("✓ correct"), "{}", d.header());
    let of = |d: &Drive, name: &str| {
        let view = d.app.screens.record().unwrap();
        let row = view.opened.variables.iter().find(|row| row.name.as_str() == name).unwrap();
        let write = row.writes.last().unwrap();
        (write.value.as_ref().unwrap().line.as_str().to_owned(), write.badge.word())
    };
    assert_eq!(of(&d, "rest_expr"), ("19".to_owned(), "recomputed"));
    assert_eq!(of(&d, "rope_metres"), ("36".to_owned(), "recorded"));
    d.shows(&["recomputed", "12", "19"]).hides(&["Rope_metres - first_cut"]);
    // A fork of the fork, with a value that a person set: the others stay the fork's.
    d.keys("[ [");
    let step = d.app.screens.record().unwrap().moment.0;
    let line = edited(d.app.screens.record().unwrap().opened.text(), step, "second_cut", "7");
    keep(&mut d, line);
    d.wait_for(|app| app.fork_tree().len() == 3);
    d.keys(")");
    assert_eq!(of(&d, "second_cut"), ("7".to_owned(), "override"));
    assert_eq!(of(&d, "first_cut_expr"), ("12".to_owned(), "recomputed"));
    d.shows(&["override", "✎"]);
    // Reopened from the disk, by a session that knows nothing of this one.
    let mut again = open(&path);
    again.keys("j Enter ) )");
    assert_eq!(of(&again, "second_cut"), ("7".to_owned(), "override"));
    assert_eq!(of(&again, "rest_expr"), ("19".to_owned(), "recomputed"));
}

#[test]
fn a_crashed_run_opens_where_it_ended_and_says_what_did_not_run() {
    let (_folder, path) = samples();
    let text = std::fs::read_to_string(&path).unwrap();
    let crashed = text.lines().find(|line| line.contains("Unresolvable input 'stock_litres'")).unwrap();
    let (_folder, mut d) = Drive::text(crashed);
    d.keys("Enter");
    assert!(d.header().contains("step 3/4"), "{}", d.header());
    d.shows(&["❯✗ 3 Compute", "– 4 not run", "∘ 1 Extract", "Step 2 should calculate 9 + 4 = 13 but wrote 9."]);
    d.keys("]").shows(&["– not run: the run ended in step 3", "final_answer  not run"]).hides(&["✓ 4"]);
    // The same without a trace: the error names the step.
    let mut plain: serde_json::Value = serde_json::from_str(crashed).unwrap();
    plain["procedure"] = plain["trace"]["procedure"].take();
    plain.as_object_mut().unwrap().remove("trace");
    let (_folder, mut d) = Drive::text(plain.to_string());
    d.keys("Enter");
    assert!(d.header().contains("step 3/4"), "{}\n{}", d.header(), d.screen());
    d.shows(&["❯✗ 3", "– 4 not run"]);
    // An error that names no step: nobody knows which of them ran.
    plain["error"] = "timed out".into();
    let (_folder, mut d) = Drive::text(plain.to_string());
    d.keys("Enter").shows(&["1 unavailable Extract", "4 unavailable", "unavailable: the record does not say whether"]);
    d.hides(&["not run", "✓ 1", "∘ 1"]);
}

#[test]
fn a_procedure_is_repaired_without_a_model() {
    let (folder, path) = runs();
    let mut d = open(&path);
    d.keys("Enter F");
    assert_eq!(d.status(), "Procedure is valid. Nothing to repair");
    d.keys("} } F");
    assert_eq!(d.status(), "open a run with steps first");
    d.keys("{ F");
    assert!(d.header().contains("2/8"), "{}", d.header());
    d.shows(&["Repair", "apply all helpful fixes", "remove colour"]);
    d.keys("Enter");
    d.shows(&["not saved", "Procedure", "errors 4 → 1", "- "]);
    let target = folder.path().join("fixed.json");
    d.keys("o").keys("^U").keys(&format!("'{}' Enter", target.display()));
    assert!(d.status().starts_with("Written to "), "{}", d.status());
    let fixed = std::fs::read_to_string(&target).unwrap();
    assert!(fixed.starts_with("{\n  \"NameDescription\"") && !fixed.contains("colour"), "{fixed}");
    d.keys("o").keys("^U").keys(&format!("'{}' Enter", path.display()));
    assert!(d.status().contains("nothing is overwritten"), "{}", d.status());
    d.keys("Esc s");
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.keys(")").shows(&["fork r1", "Read the numbers."]);
    d.keys("q").shows(&["└ procedure repaired"]);
}

/// Opens the run of the fixture whose steps have findings, the state in front, the cursor on a variable at a moment.
fn state(d: &mut Drive, variable: &str, moment: usize) {
    d.keys("j Enter Tab");
    state_of(d, variable, moment);
}

#[test]
fn a_value_is_edited_shown_as_edited_and_kept_in_a_fork() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    state(&mut d, "evening", 2);
    d.keys("v").shows(&["evening before step 3, as JSON", "recorded  3 * 2", "\"3 * 2\"", "Enter apply"]);
    assert!(d.cursor().is_some());
    d.keys("^U six Enter");
    d.shows(&["not JSON; the same key again uses it as the text \"six\""]);
    d.keys("Backspace Backspace Backspace 6 Enter");
    assert_eq!(d.status(), "Override before step 3 · r re-runs from there · s saves as a fork");
    d.shows(&["✎ 1 override before step 3", "✎ 6  was 3 * 2", "new"]);
    // Before that step it is as it was recorded; what a later step writes is its own.
    d.keys("k v");
    d.keys("Esc [").hides(&["was 3 * 2"]);
    d.keys("v");
    assert!(d.status().starts_with("overrides exist before another step"), "{}", d.status());
    // Another record and back.
    d.keys("] } {").shows(&["✎ 1 override before step 3"]);
    d.keys("s").shows(&["B overrides before step 3, not saved", "evening", "≠"]);
    d.keys("s");
    assert_eq!(d.status(), "saved in runs.jsonl.forks.jsonl");
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.hides(&["✎"]);
    d.keys(")").shows(&["fork r1"]);
    state_of(&mut d, "evening", 2);
    d.shows(&["✎", "6"]);
    let fork = std::fs::read_to_string(forks_of(&path)).unwrap();
    assert!(
        fork.contains(r#""edited":[{"variable":"evening","value":6}]"#) && fork.contains(r#""how":"edit""#),
        "{fork}"
    );
}

fn state_of(d: &mut Drive, variable: &str, moment: usize) {
    let view = d.app.screens.record_mut().unwrap();
    view.go_to_moment(moment);
    let at = view.opened.variables.iter().position(|row| row.name.as_str() == variable).unwrap();
    view.choose_variable(at);
    d.draw();
}

#[test]
fn edits_are_taken_back_one_by_one_or_all() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    state(&mut d, "evening", 2);
    d.keys("v ^U 6 Enter").shows(&["✎ 1 override "]);
    d.keys("v").shows(&["│ 6 "]);
    d.keys("^U Enter").hides(&["✎"]);
    assert_eq!(d.status(), "recorded value restored");
    d.keys("v ^U 6 Enter v ^U 7 Esc Esc").shows(&["✎ 6"]);
    d.keys("^P 'drop edits' Enter").hides(&["✎"]);
    // At the end: before the step that follows its writing.
    state_of(&mut d, "evening", 4);
    d.keys("v").shows(&["evening before step 3"]);
    d.keys("Esc");
    state_of(&mut d, "final_answer", 4);
    d.keys("v");
    assert!(d.status().starts_with("Nothing runs after the last step"), "{}", d.status());
}

#[test]
fn a_long_text_has_a_large_window() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    state(&mut d, "problem_text", 1);
    d.keys("v").shows(&["problem_text before step 2, as text", "A ferry takes 8 cars a trip"]);
    d.keys("'Think.' Enter ^S");
    d.shows(&["✎ Think."]);
    d.resize(80, 24).keys("v").shows(&["as text", "Think."]);
    d.paste("a\u{202e}b\nc");
    d.shows(&["a⟨U+202E⟩b"]);
}

#[test]
fn the_prompt_of_a_step_is_edited() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    d.keys("j Enter v");
    assert_eq!(d.status(), "Nothing runs after the last step. Go to an earlier step ([) to override a value");
    d.keys("S-Tab S-Tab S-Tab l v").shows(&["prompt of step 4", "Multiply trips by cars."]);
    d.keys("'Be brief. ' ^S").shows(&["✎ edited, not sent; v edits, r previews", "Be brief. Multiply"]);
    d.keys("v ^U ^S");
    let edits = &d.app.screens.record().unwrap().edits;
    assert!(edits.prompt.is_some());
}

#[test]
fn the_users_own_editor_gets_the_text_and_gives_it_back() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    state(&mut d, "evening", 2);
    d.keys("v ^E").shows(&["no editor set; set $VISUAL or $EDITOR"]);
    d.app.outside.command = Some("vi -u NONE".into());
    d.keys("^E");
    assert!(d.asked.last().unwrap().contains("vi -u NONE \\\"$1\\\""), "{:?}", d.asked);
    let file = d.app.outside.file.as_ref().unwrap().to_path_buf();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\"3 * 2\"\n");
    std::fs::write(&file, "66\n").unwrap();
    let ended = std::process::Command::new("true").status();
    d.event(Event::Returned(ended));
    d.draw();
    d.shows(&["│ 66 ", "back from the editor"]);
    assert!(!file.exists());
    d.keys("^S").shows(&["✎ 66"]);
    d.keys("v ^E");
    d.event(Event::Returned(std::process::Command::new("false").status()));
    d.draw();
    assert!(d.status().contains("nothing changed"), "{}", d.status());
}

#[test]
fn a_value_that_is_written_over_is_no_secret() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    state(&mut d, "trips", 1);
    d.keys("v").shows(&["recorded  nothing", "step 3 overwrites it"]);
}

#[test]
fn a_forks_file_that_is_replaced_is_read_anew() {
    let (_folder, path) = runs();
    with_forks(&path, 2, &["\"x\"", "\"y\""]);
    let mut d = open(&path);
    d.shows(&["2 forks"]);
    let other = path.with_file_name("other");
    std::fs::write(&other, std::fs::read_to_string(forks_of(&path)).unwrap().lines().next().unwrap()).unwrap();
    std::fs::rename(&other, forks_of(&path)).unwrap();
    d.wait_for(|app| fork_count(&app.store) == 1);
    d.shows(&["1 fork ", "└ problem_text overridden"]);
}

#[test]
fn no_step_is_blamed_for_a_value_that_a_person_set_or_for_what_is_out_of_date() {
    let (_folder, path) = runs();
    let samples = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/sample_runs/word_problems.jsonl")).unwrap();
    let rope = samples.split(|byte| *byte == b'\n').nth(1).unwrap();
    std::fs::write(&path, rope).unwrap();
    std::fs::write(forks_of(&path), edited(rope, 1, "rope_metres", "40")).unwrap();
    let mut d = open(&path);
    d.wait_for(|app| fork_count(&app.store) == 1 && app.rows() == 2);
    d.keys("j Enter").shows(&["fork r1", "Fix: unknown", "what step 2 reads was changed", "rope_metres"]);
    d.hides(&["no number", "✗ 1", "step to fix"]);
    // So does the preview beside a wide table.
    d.keys("q").resize(200, 60);
    d.shows(&["rope_metres             40  override", "▲ 2  Define first_cut", "▲ 4  State the length"]);
}

/// Checks that random keys break nothing on a file whose forks are of every kind, whatever the size of the screen.
#[test]
fn an_open_record_is_found_again_in_a_file_that_was_replaced_or_nothing_is_done_to_it() {
    let (_folder, path) = runs();
    let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
    let replace = |lines: &[&str]| {
        let new = path.with_extension("new");
        std::fs::write(&new, lines.join("\n") + "\n").unwrap();
        std::fs::rename(new, &path).unwrap();
    };
    let mut d = open(&path);
    state(&mut d, "evening", 2);
    d.keys("v ^U 7 Enter");
    let (id, overrides) = (d.app.screens.record().unwrap().opened.id.clone(), d.app.forks.edits.clone());
    assert_eq!(overrides.len(), 1);
    // It stands in another row now: its overrides stay, and its fork is its own.
    replace(&lines[1..]);
    d.wait_for(|app| app.store.len() + 1 == lines.len() && app.screens.record().unwrap().opened.index == 0);
    d.shows(&["✎ 1 override before step 3"]);
    d.keys("s").shows(&["B overrides before step 3, not saved"]);
    d.keys("s").wait_for(|app| app.log.news().is_none() && fork_count(&app.store) == 1);
    let fork: serde_json::Value = serde_json::from_slice(&std::fs::read(forks_of(&path)).unwrap()).unwrap();
    assert!(fork["id"].as_str().unwrap().starts_with(id.as_str()), "{fork}");
    // It is gone: nothing is done to the record that has its number.
    replace(&lines[2..]);
    let is_gone = |why: &str| why.contains("not in it");
    d.wait_for(|app| app.allowed(Action::Exact).is_err_and(is_gone));
    d.resize(150, 36).draw();
    d.shows(&["deleted"]);
    for key in ["X", "v", "r", "o", "}"] {
        d.keys(key).shows(&["this record is not in it as it is shown; q, then open it again"]);
    }
    d.keys("q Enter").hides(&["deleted"]);
}

#[test]
fn random_keys_on_forks_of_every_kind() {
    let (_folder, path) = runs();
    with_forks(&path, 2, &["\"x\"", "[1, {\"a\": \"\\u202e\"}]", "null"]);
    let mut lines = std::fs::read_to_string(forks_of(&path)).unwrap();
    let again = edited(lines.lines().next().unwrap().as_bytes(), 2, "trips", "7");
    lines += &String::from_utf8(again).unwrap();
    lines += "\n{\"trace\": {\"fork\": {\"parent_sha256\": 7, \"edited\": {}, \"step_index\": 99999999999999999999}}}\n{torn";
    std::fs::write(forks_of(&path), &lines).unwrap();
    let mut d = open(&path);
    d.app.outside.command = Some("true".into());
    let keys = [
        "j",
        "k",
        "Enter",
        "q",
        "Esc",
        "d",
        "=",
        "v",
        "s",
        "X",
        "F",
        "o",
        ")",
        "(",
        "}",
        "{",
        "]",
        "[",
        "Tab",
        "S-Tab",
        "G",
        "g",
        "^S",
        "^E",
        "^U",
        "7",
        "c e",
        "'a'",
        "Backspace",
        "~",
        ">",
        "e",
        "J",
        "y v",
        "Z",
        "h",
        "l",
    ];
    let mut seed = 12_345_u64;
    let mut next = |count: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % count
    };
    for n in 0..1_500 {
        if n % 50 == 0 {
            let (width, height) = ([20, 80, 120, 200][next(4)], [4, 10, 24, 60][next(4)]);
            d.resize(width, height);
        }
        d.keys(keys[next(keys.len())]);
        if d.quit.take().is_some() {
            d.app.screens.dialog = None;
        }
    }
    let after = std::fs::read_to_string(forks_of(&path)).unwrap();
    assert!(after.starts_with(&lines), "what stood there stands there");
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(drive::runs()).unwrap());
}

#[test]
fn quitting_asks_once_about_overrides_that_are_in_no_fork() {
    let (_folder, path) = runs();
    let mut d = open(&path);
    state(&mut d, "evening", 2);
    d.keys("v ^U 7 Enter q q");
    assert_eq!(d.quit, None);
    assert!(d.status().starts_with("1 record with unsaved overrides"), "{}", d.status());
    // What comes after is asked about too.
    d.keys("Enter Tab");
    state_of(&mut d, "evening", 2);
    d.keys("v ^U 8 Enter q q");
    assert_eq!(d.quit, None);
    d.keys("q");
    assert_eq!(d.quit, Some(0));
    // An edited prompt is in no fork: it can only be sent.
    let mut d = open(&path);
    d.keys("j Enter 4 Tab l v 'Be brief. ' ^S q q");
    assert_eq!(d.quit, None);
    assert_eq!(d.status(), "1 record with an unsent prompt: r on the run previews it, quit again discards it");
    // Kept or discarded, nothing is lost.
    for keys in ["s s", "c e"] {
        let (_folder, path) = runs();
        let mut d = open(&path);
        state(&mut d, "evening", 2);
        d.keys("v ^U 7 Enter").keys(keys).wait_for(|app| app.log.news().is_none() && app.forks.edits.is_empty());
        d.keys("^C");
        assert!(!d.status().contains("overrides"), "{}", d.status());
    }
}
