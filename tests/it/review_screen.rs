//! Reviewing at the screen by its keys: what is said stands in the journal, and nothing is lost.

use std::path::{Path, PathBuf};

use crate::support::drive::Drive;
use stepscope::app::across::Across;
use stepscope::app::msg::Msg;
use stepscope::app::records::fork_count;
use stepscope::app::state::App;
use stepscope::app::status_line::Status;
use stepscope::screens::kind::ScreenKind;
use stepscope::screens::stack::Focus;
use stepscope::widgets::keymap::{Action, Keymap};
use stepscope_execution::rerun::edited;
use stepscope_io::log::journal::{beside, named, read_all};
use stepscope_io::pipeline::compare::Journals;
use stepscope_judge::case::Case;
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_review::event::{Anchor, AnswerPart, Event, EventKind, GoldStatus, ItemRef, Reviewer, Text, Verdict};
use stepscope_review::fold::Reviews;
use stepscope_review::join::Index;
use stepscope_review::log_line::write;
use stepscope_review::queue::{Assignment, Queue};
use stepscope_review::stats::Stats;

/// File of runs in a folder of its own, and a folder for the session.
struct Desk {
    folder: tempfile::TempDir,
}

fn run(n: usize) -> String {
    let right = n.is_multiple_of(3);
    let said = if right { 2 * n } else { 3 * n };
    let step = |id: usize, text: &str, reads: &str, writes: &str| {
        format!(
            r#"{{"id": {id}, "stepDescription": "{text}", "inputs": [{{"name": "{reads}", "description": "d"}}], "output": [{{"name": "{writes}", "description": "d"}}]}}"#
        )
    };
    let steps = [step(1, "Add the two numbers.", "problem_text", "sum"), step(2, "Say it.", "sum", "final_answer")];
    format!(
        r#"{{"id": "r{n}", "mode": "procedural", "question": "What is {n} and {n}?", "gold_num": {}.0, "procedure": {{"NameDescription": "Sum", "steps": [{}]}}, "state": {{"sum": {said}, "final_answer": "{said}", "final_answer_numerical": {said}, "confidence": 0.9}}, "pred_num": {said}, "correct": {right}, "status": "ok"}}"#,
        2 * n,
        steps.join(", "),
    ) + "\n"
}

impl Desk {
    fn new(runs: usize) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::write(desk.runs(), (1..=runs).map(run).collect::<String>()).unwrap();
        desk
    }

    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs.jsonl")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn open(&self) -> Drive {
        self.open_with(|_| {})
    }

    fn open_with(&self, change: impl FnOnce(&mut App)) -> Drive {
        Drive::reviewing(&self.runs(), "ada", &self.state(), change)
    }

    /// Writes a fork of the first record next to the records.
    fn fork(&self) {
        let edits = vec![("sum".into(), b"9".to_vec())];
        let record = run(1);
        let fork = edited(&Case::read(record.trim().as_bytes()).view(), 0, edits, "2026-11-20T09:00:00.000Z").unwrap();
        std::fs::write(self.runs().with_extension("jsonl.forks.jsonl"), [fork.as_slice(), b"\n"].concat()).unwrap();
    }

    fn events(&self) -> Vec<Event> {
        events(beside(&self.runs()).path())
    }

    fn kinds(&self) -> Vec<EventKind> {
        self.events().iter().map(|event| event.kind).collect()
    }
}

fn events(journal: &Path) -> Vec<Event> {
    read_all(&named(&[journal.to_owned()])).unwrap().reviews.events().collect()
}

/// Returns the id of the open record.
fn open_id(d: &Drive) -> String {
    d.app.screens.record().unwrap().opened.id.as_str().to_owned()
}

fn id_of(event: &Event) -> String {
    event.item.as_ref().unwrap().id.as_ref().unwrap().line().into_string()
}

fn stats_of(reviews: &Reviews) -> Stats {
    Stats::of(reviews, &Index::of(&[]).join(reviews))
}

#[test]
fn a_pass_is_one_key_and_shows_the_next_record() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("Enter a");
    assert_eq!(open_id(&d), "r2");
    d.until(|app| app.review.saved);
    d.shows(&["saved", "review 1/4", "unreviewed"]);
    let events = desk.events();
    assert_eq!((events.len(), events[0].verdict, id_of(&events[0])), (1, Some(Verdict::Pass), "r1".into()));
    assert!(events[0].seen.content_sha256.is_some() && events[0].seen.input_sha256.is_some());
    assert_eq!(events[0].seen.execution, Some("rec".into()));
    assert_eq!(events[0].item.as_ref().unwrap().dataset, Some("runs.jsonl".into()));
    assert!(events[0].findings.as_ref().is_some_and(|found| !found.is_empty()) && events[0].times.shown.is_some());
    d.keys("{").shows(&["⊕ pass"]);
}

#[test]
fn verdict_keys_act_only_in_a_review() {
    let desk = Desk::new(3);
    let mut d = desk.open_with(|app| app.review.reviewing = false);
    let journal = beside(&desk.runs()).path().to_owned();
    // On the table, on a record that was never opened, on the record, and for every key.
    for way in ["", "Enter ", "J "] {
        for key in ["a", "x", "-", "_", "@", "!", "=", ";", ".", "u", "U", "*"] {
            d.keys(&format!("{way}{key}"));
            assert!(d.status().starts_with("Not reviewing") && d.status().contains(":review"), "{key}: {}", d.status());
            assert!(d.app.screens.dialog.is_none() && !d.app.review.draft.choosing);
            while d.app.screens.top() != ScreenKind::Table {
                d.keys("q");
            }
        }
    }
    assert!(!journal.exists());
    d.keys("Enter : 'review' Enter");
    assert!(d.status().starts_with("Reviewing as ada") && d.status().contains(":review ends"), "{}", d.status());
    d.keys("a").until(|app| app.review.saved);
    assert_eq!((desk.kinds(), open_id(&d)), (vec![EventKind::Verdict], "r2".into()));
    d.keys("x 1 : 'review' Enter").hides(&["2 [ ]"]);
    d.keys("a");
    assert!(d.status().starts_with("Not reviewing"), "{}", d.status());
    assert_eq!(desk.kinds().len(), 1);
    // What was begun is still there in the next review.
    d.keys(": 'review' Enter").shows(&["draft: arithmetic slip"]);
    d.keys("x Enter").until(|app| app.review.saved);
    assert_eq!(desk.events().last().unwrap().labels.len(), 1);
}

#[test]
fn no_verdict_is_given_from_behind_a_window() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter");
    for window in ["?", "Tab Enter", ":"] {
        d.keys(window);
        let front = d.app.focus();
        assert_ne!(front, Focus::Screen(ScreenKind::Run), "{window}");
        if window != ":" {
            d.keys("x a 1 - _ z");
            assert_eq!(d.app.focus(), front, "a key that means nothing there leaves the window open");
            assert!(d.footer().contains("Esc close"), "{}", d.footer());
        }
        d.keys("Esc");
        assert_eq!(d.app.focus(), Focus::Screen(ScreenKind::Run), "{window}");
    }
    assert!(!beside(&desk.runs()).path().exists() && d.app.review.draft.is_empty());
}

#[test]
fn labels_that_have_no_room_are_counted() {
    let desk = Desk::new(1);
    let mut d = desk.open();
    d.resize(60, 20).keys("Enter x");
    let screen = d.screen();
    let shown = (1..=9).filter(|n| screen.contains(&format!("{n} [ ] "))).count();
    assert!((3..9).contains(&shown), "{screen}");
    d.shows(&[&format!("+{} more: /", 13 - shown), &format!("1 … {shown} label")]);
    d.resize(120, 36).shows(&["9 [ ] answer incomplete", "1 … 9 label", "+4 more: /"]);
}

#[test]
fn the_name_of_a_label_is_cut_only_where_others_need_the_room() {
    let name = "the units of the answer are those of another quantity";
    let desk = Desk::new(1);
    let mut d = desk.open();
    d.keys(&format!("Enter x / 'arithmetic' ^R '{name}' Enter Esc"));
    d.resize(200, 60).shows(&[&format!("1 [ ] {name}   2")]);
    d.resize(60, 20).shows(&["1 [ ] the units of the answer are t…"]);
}

#[test]
fn lists_that_go_on_have_a_scroll_mark() {
    let desk = Desk::new(1);
    let mut d = desk.open();
    d.keys(":").shows(&["┃"]);
    d.keys("Esc Enter x");
    for n in 0..9 {
        d.keys(&format!("/ 'label number {n}' Enter"));
    }
    d.keys("/");
    let lines = d.lines();
    let behind = lines.iter().find_map(|line| line.split("❯[ ] arithmetic slip").nth(1)).unwrap();
    assert!(behind.trim_start().starts_with('┃'), "{}", d.screen());
}

#[test]
fn a_fail_with_a_label_is_three_keys() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter x").shows(&["⊖ fail:", "1 [ ] arithmetic slip", "9 [ ] answer incomplete"]);
    d.keys("1").shows(&["1 [x] arithmetic slip"]);
    d.keys("Enter");
    assert_eq!(open_id(&d), "r2");
    d.until(|app| app.review.saved);
    assert_eq!(desk.kinds(), [EventKind::LabelSet, EventKind::Verdict]);
    let events = desk.events();
    assert_eq!((events[1].verdict, events[1].labels.len()), (Some(Verdict::Fail), 1));
    assert_eq!((events[1].labels[0].id.clone(), events[1].labels[0].version), ("arithmetic_slip".into(), 1));
    // The offered labels are written down once; a label is taken back by its key; Esc saves nothing.
    d.keys("x 2 3 2 Enter").until(|app| app.review.saved);
    assert_eq!(desk.kinds().len(), 3);
    assert_eq!(desk.events()[2].labels.len(), 1);
    d.keys("x 4 Esc").shows(&["draft: ", "wrong plan"]).hides(&["saved"]);
    assert_eq!(desk.kinds().len(), 3);
    // Digits are counts again.
    d.keys("Tab g 2 j");
    assert_eq!(d.app.screens.record().unwrap().variables.at, 2);
}

#[test]
fn the_table_judges_what_it_has_read_and_shows_it() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("a a - x 1 Enter").until(|app| app.review.saved);
    let events = desk.events();
    let said: Vec<_> = events.iter().filter_map(|event| Some((id_of_maybe(event)?, event.verdict?))).collect();
    let expected = [("r1", Verdict::Pass), ("r2", Verdict::Pass), ("r3", Verdict::Defer), ("r4", Verdict::Fail)];
    assert_eq!(said, expected.map(|(id, verdict)| (id.to_owned(), verdict)));
    assert!(events.iter().filter(|event| event.verdict.is_some()).all(|event| event.seen.content_sha256.is_some()));
    d.shows(&["1 ⊕", "2 ⊕", "3 ◷", "4 ⊖", "review 3/4"]);
    assert_eq!(d.app.record(), Some(2), "what was deferred comes back");
    d.keys("a").until(|app| app.review.saved);
    d.shows(&["Queue done: 4 of 4 reviewed: 3 pass, 1 fail, most often "]);
}

const HIDDEN: [&str; 3] = ["gold", "triage", "confidence"];

fn id_of_maybe(event: &Event) -> Option<String> {
    Some(event.item.as_ref()?.id.as_ref()?.line().into_string())
}

#[test]
fn keys_typed_ahead_are_about_the_records_that_come() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("Enter");
    d.app.review.prefetched = None;
    d.hold = true;
    d.keys("a x 1 Enter a");
    assert_eq!(open_id(&d), "r1", "the next record is still being read");
    d.release();
    while d.app.review.wait.is_some() {
        d.release();
    }
    d.until(|app| app.review.saved);
    let said: Vec<_> = desk.events().iter().filter_map(|event| Some((id_of_maybe(event)?, event.verdict?))).collect();
    let expected = [("r1", Verdict::Pass), ("r2", Verdict::Fail), ("r3", Verdict::Pass)];
    assert_eq!(said, expected.map(|(id, verdict)| (id.to_owned(), verdict)));
    assert_eq!(open_id(&d), "r4");
}

#[test]
fn the_next_record_is_read_ahead_and_painted_at_once() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter");
    d.hold = true;
    d.keys("a");
    assert_eq!(open_id(&d), "r2", "no work was done in between");
}

#[test]
fn what_is_undone_is_listed_again_where_it_fits_the_filter() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter a").until(|app| app.review.saved);
    d.keys("q f 'reviewed:false' Enter").shows(&["2 of 3"]);
    d.keys("Enter u").shows(&["Undone: pass", "1/3"]).hides(&["filtered out"]);
    d.keys("q").shows(&["3 records"]);
    // What is judged meanwhile stays listed until the filter is used again.
    let desk = Desk::new(5);
    let mut d = desk.open();
    d.keys("f 'reviewed:false' Enter Enter a a").until(|app| app.review.saved);
    d.keys("u").shows(&["Undone: pass", "2/5", "review 1/5"]);
}

#[test]
fn undo_and_redo_are_events_and_go_to_their_record() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter a x 1 Enter");
    assert_eq!(open_id(&d), "r3");
    d.keys("u").shows(&["Undone: fail What is 2 and 2?"]);
    assert_eq!(open_id(&d), "r2");
    d.shows(&["unreviewed", "review 1/3"]);
    d.keys("u").shows(&["Undone: pass What is 1 and 1?", "review 0/3"]);
    d.keys("u").shows(&["nothing to undo"]);
    d.keys("U").shows(&["⊕ pass", "review 1/3"]);
    assert_eq!(open_id(&d), "r1");
    d.keys("U").shows(&["⊖ fail", "arithmetic slip", "review 2/3"]);
    d.keys("U").shows(&["nothing to redo"]);
    d.until(|app| app.review.saved);
    let kinds = desk.kinds();
    assert_eq!(kinds.len(), 7);
    assert!(kinds[3..].iter().all(|kind| *kind == EventKind::Undo));
    // It is the same in another session.
    let mut again = desk.open();
    again.until(|app| app.review.progress == (2, 3));
    again.shows(&["1 ⊕", "2 ⊖"]);
}

#[test]
fn labels_are_found_made_renamed_and_merged_and_old_verdicts_follow() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("Enter x / 'off by one'").shows(&["Enter creates the label off by one"]);
    d.keys("Enter").shows(&["New label: off by one", "⊖ fail: off by one"]);
    d.keys("Enter").until(|app| app.review.saved);
    d.keys("x / 'gold'").shows(&["expected answer is wrong"]);
    d.keys("Enter Enter").until(|app| app.review.saved);
    // Renamed, and merged into another.
    d.keys("x / 'by one' ^R ^U 'fencepost' Enter").shows(&["Renamed to fencepost"]);
    d.keys("Esc / 'fence' ^G").shows(&["Merge fencepost into"]).hides(&["Enter toggle"]);
    // Esc leaves the inner list alone, and typed text is asked about.
    d.keys("Esc").shows(&["Labels", "Enter toggle", "[ ] fencepost"]).hides(&["Merge fencepost"]);
    d.keys("^G 'slip' Esc y").shows(&["Labels", "Enter toggle"]).hides(&["Merge fencepost"]);
    d.keys("^G").shows(&["Merge fencepost into"]);
    d.keys("'slip' Enter").shows(&["fencepost into arithmetic slip"]);
    d.keys("Esc {").keys("{").until(|app| app.review.saved);
    assert_eq!(open_id(&d), "r1");
    d.shows(&["⊖ fail", "arithmetic slip"]);
    let versions: Vec<u64> = desk.events().iter().filter_map(|event| Some(event.label_set.as_ref()?.version)).collect();
    assert_eq!(versions, [1, 2, 3, 4]);
    d.keys("q f 'label:slip' Enter");
    assert_eq!(d.app.rows(), 1);
}

#[test]
fn the_list_of_labels_offers_what_works_and_a_prompt_returns_to_it() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter x /").shows(&["Enter toggle", "^R rename", "^G merge"]).hides(&["^N new"]);
    d.resize(200, 60).keys("'slip'").shows(&["Right numbers and operation, wrong result."]);
    d.resize(120, 36).keys("^U 'zzzq'").shows(&["Enter creates the label zzzq", "^N new", "Enter create"]);
    d.hides(&["Enter toggle", "^R rename", "^G merge"]);
    // The name is proposed: a letter replaces it. What is typed is not dropped without a question.
    d.keys("^U 'wrong unit' ^R").shows(&["rename wrong unit or format to: wrong unit or format", "type to replace"]);
    d.keys("Esc").shows(&["[ ] wrong unit or format", "❯"]);
    d.keys("^R 'unit' Esc y").shows(&["[ ] wrong unit or format"]).hides(&["rename wrong"]);
    d.keys("^R 'unit' Enter").shows(&["Renamed to unit"]);
}

#[test]
fn gold_step_target_correction_and_note_go_with_the_verdict() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter x 6 ! ! b").shows(&["first wrong step"]);
    d.keys("7 Enter").shows(&["a step from 1 to 2"]);
    d.keys("Backspace 2 Enter @ = 'seven' Enter").shows(&["the correction must be a number"]);
    d.keys("^U '1,080' Enter").shows(&["= 1080"]);
    d.keys("= ^U '7.50' Enter ; 'not what I think' Enter");
    d.shows(&["wrong unit or format  from step 2", "expected: wrong", "= 7.50", "not what I think"]);
    d.keys("Enter").until(|app| app.review.saved);
    let events = desk.events();
    let event = events.iter().find(|event| event.kind == EventKind::Verdict).unwrap();
    assert_eq!((event.first_bad_step, event.gold_status), (Some(2), Some(GoldStatus::Wrong)));
    assert_eq!((event.correction.clone(), event.note.clone()), (Some("7.50".into()), Some("not what I think".into())));
    assert!(event.fix_target.is_some() && event.anchors.len() == 1);
    // Of a verdict that stands, a change is saved at once.
    d.keys("{ !").shows(&["Expected answer set (! next): suspect · wrong · [correct] · no opinion"]);
    d.until(|app| app.review.saved);
    let last = desk.events().pop().unwrap();
    assert_eq!((last.verdict, last.gold_status), (Some(Verdict::Fail), Some(GoldStatus::Ok)));
    assert_eq!((last.supersedes, last.labels.len()), (Some(event.event_id.clone()), 1));
    d.keys("q f 'gold:ok' Enter");
    assert_eq!(d.app.rows(), 1);
}

#[test]
fn a_note_is_saved_where_the_cursor_is() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter Tab g ; 'hm' Enter").until(|app| app.review.saved);
    let note = desk.events().pop().unwrap();
    assert_eq!((note.kind, note.verdict, note.note), (EventKind::Note, None, Some("hm".into())));
    let Some(stepscope_review::event::Anchor::Pointer(pointer)) = note.anchors.first() else { panic!() };
    assert!(note.variable.is_some() || !pointer.is_empty());
    d.shows(&["unreviewed", "note “hm” on "]);
    d.keys("J g j j ; 'here' Enter").until(|app| app.review.saved);
    d.shows(&["note “here” on /mode"]);
    let note = desk.events().pop().unwrap();
    assert_eq!(note.anchors, [stepscope_review::event::Anchor::Pointer("/mode".into())]);
}

#[test]
fn a_changed_record_shows_the_old_verdict_as_stale() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter a").until(|app| app.review.saved);
    drop(d);
    let text = std::fs::read_to_string(desk.runs()).unwrap().replacen("1 and 1", "1 and 2", 1);
    std::fs::write(desk.runs(), text).unwrap();
    let mut d = desk.open();
    d.until(|app| app.review.known(0).is_some());
    d.shows(&["1 ↻", "review 0/2"]);
    d.keys("f 'stale:true' Enter");
    assert_eq!(d.app.rows(), 1);
    d.keys("Enter").shows(&["changed since your review"]);
    d.keys("a").until(|app| app.review.saved);
    assert!(desk.events()[1].supersedes.is_some());
}

#[test]
fn what_could_not_be_saved_is_kept_said_and_offered_again() {
    let desk = Desk::new(3);
    let folder = desk.folder.path().join("gone");
    let journal = folder.join("j.reviews.jsonl");
    let mut d = Drive::reviewing_in(&desk.runs(), &journal, "ada", &desk.state(), |_| {});
    d.keys("Enter a").until(|app| app.log.failed_events() > 0);
    d.shows(&["NOT SAVED", "1 NOT SAVED, ^S retries", "its folder is missing"]);
    d.keys("a").until(|app| app.log.failed_events() == 2);
    d.keys("Q").shows(&["NOT SAVED: 2 verdicts", "the next start offers"]);
    assert_eq!(d.quit, None);
    std::fs::create_dir(&folder).unwrap();
    d.keys("^S").until(|app| app.review.saved);
    d.shows(&["saved"]);
    let said: Vec<_> = events(&journal).iter().map(|event| (id_of(event), event.verdict.unwrap())).collect();
    assert_eq!(said, [("r1".to_owned(), Verdict::Pass), ("r2".to_owned(), Verdict::Pass)]);
    d.keys("Q");
    assert_eq!(d.quit, Some(0));
}

#[test]
fn who_quits_learns_that_what_is_not_saved_is_not_kept_either() {
    let desk = Desk::new(3);
    let journal = desk.folder.path().join("gone/j.reviews.jsonl");
    let state = desk.folder.path().join("a file");
    std::fs::write(&state, "").unwrap();
    let mut d = Drive::reviewing_in(&desk.runs(), &journal, "ada", &state, |_| {});
    d.keys("Enter a").until(|app| app.log.failed_events() > 0 && app.review.drafts_failure.is_some());
    d.keys("Q").shows(&["NOT SAVED: 1 verdict", "quit again to lose"]);
    assert_eq!(d.quit, None);
    d.keys("Q");
    assert_eq!(d.quit, Some(0));
}

/// Tells whether a draft that holds these bytes is kept in the state folder.
fn has_draft(desk: &Desk, text: &str) -> bool {
    let Ok(folder) = std::fs::read_dir(desk.state().join("drafts")) else { return false };
    // What is still being written has another name.
    let paths = folder.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths = paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.any(|path| std::fs::read_to_string(path).is_ok_and(|kept| kept.contains(text)))
}

/// Waits until a draft that holds these bytes is kept, or no longer is.
fn wait_until(desk: &Desk, text: &str, is_kept: bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while has_draft(desk, text) != is_kept {
        assert!(std::time::Instant::now() < end, "the draft: kept is not {is_kept}");
        std::thread::yield_now();
    }
}

fn wait_for_draft(desk: &Desk, text: &str) {
    wait_until(desk, text, true);
}

#[test]
fn unsaved_verdicts_of_the_last_session_are_offered() {
    let desk = Desk::new(3);
    let folder = desk.folder.path().join("gone");
    let journal = folder.join("j.reviews.jsonl");
    let mut d = Drive::reviewing_in(&desk.runs(), &journal, "ada", &desk.state(), |_| {});
    d.keys("Enter a").until(|app| app.log.failed_events() > 0);
    let id = d.app.log.events().next().unwrap().0.event_id.clone();
    wait_for_draft(&desk, "\"verdict\":\"pass\"");
    drop(d);
    std::fs::create_dir(&folder).unwrap();
    let mut d = Drive::reviewing_in(&desk.runs(), &journal, "ada", &desk.state(), |_| {});
    d.until(|app| app.log.failed_events() > 0);
    d.shows(&["NOT SAVED: 1 verdict of the last session; ^S saves"]);
    d.keys("^S").until(|app| app.review.saved);
    assert_eq!(events(&journal)[0].event_id, id, "with its id it counts once");
}

#[test]
fn a_half_finished_verdict_survives_a_kill() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter x 3 ; 'half a sen'");
    wait_for_draft(&desk, "half a sen");
    drop(d);
    let mut d = desk.open();
    d.until(|app| !app.review.aside.is_empty());
    d.shows(&["Restored 1 draft of the last session"]);
    d.keys("Enter").shows(&["⊖ fail: quantity missed", "half a sen"]);
    d.keys("Enter").until(|app| app.review.saved);
    let event = desk.events().pop().unwrap();
    assert_eq!((event.verdict, event.note), (Some(Verdict::Fail), Some("half a sen".into())));
    assert_eq!(event.labels.len(), 1);
    wait_until(&desk, "half a sen", false);
    drop(d);
    let mut d = desk.open();
    d.until(|app| app.review.progress == (1, 3));
    assert!(d.app.review.aside.is_empty(), "what was said is no draft any more");
}

#[test]
fn what_is_hidden_stays_hidden_until_the_verdict_or_until_one_looks() {
    let desk = Desk::new(4);
    let hide = Hide::of([Hidden::Gold, Hidden::Triage, Hidden::Confidence]);
    let mut d = desk.open_with(|app| app.review.hide = hide);
    d.shows(&["❯  1   * ", "4 records"]).hides(&["✗ wrong", "no findings"]);
    d.until(|app| app.store.totals().checked == 4);
    d.keys("f 'findings>9' Enter")
        .hides(&["finds nothing"])
        .shows(&["findings: tells what is hidden", "are tested without that"]);
    d.keys("Esc");
    d.keys("Enter").shows(&["hidden: gold, triage, confidence"]).hides(&["gold 2", "✗ wrong", "fix the", "0.9"]);
    d.keys("J").hides(&["gold_num", "correct", "confidence\""]);
    d.keys("J a").until(|app| app.review.saved);
    let first = desk.events().pop().unwrap();
    assert_eq!(first.seen.hidden, HIDDEN.map(Text::from));
    let content = first.seen.content_sha256.unwrap();
    d.keys("{").shows(&["✗ wrong", "⊕ pass"]).hides(&["hidden:"]);
    // Who looks says so.
    d.keys("} *").shows(&["Revealed (logged): gold, triage, confidence", "✗ wrong"]).hides(&["hidden:"]);
    d.keys("a").until(|app| app.review.saved);
    let events = desk.events();
    assert_eq!(events[1].kind, EventKind::Reveal);
    assert_eq!(events[1].revealed, HIDDEN.map(Text::from));
    assert!(events[2].seen.hidden.is_empty());
    d.keys("* ").shows(&["review 2/4"]);
    // The verdict is bound to the whole record.
    let mut plain = desk.open();
    plain.keys("Enter").shows(&["⊕ pass"]);
    assert_eq!(plain.app.review.target.as_ref().unwrap().summary.content, content);
}

#[test]
fn a_row_that_hides_something_says_how_bad_findings_are_and_not_how_many() {
    let desk = Desk::new(1);
    std::fs::write(desk.runs(), include_str!("../../sample_runs/word_problems.jsonl")).unwrap();
    let mut d = desk.open_with(|app| app.review.hide = Hide::of([Hidden::Gold, Hidden::Triage]));
    d.until(|app| app.store.totals().checked == app.store.len());
    d.shows(&["▲ "]).hides(&["▲1", "▲2", "▲3", "■1"]);
    let mut plain = desk.open();
    plain.until(|app| app.store.totals().checked == app.store.len());
    plain.shows(&["▲2"]);
}

#[test]
fn the_place_to_fix_is_hidden_with_what_it_is_compared_with_and_stars_stand_under_their_heading() {
    let desk = Desk::new(1);
    std::fs::write(desk.runs(), include_str!("../../sample_runs/word_problems.jsonl")).unwrap();
    for hidden in [Hidden::Gold, Hidden::Baseline, Hidden::Triage] {
        let mut d = desk.open_with(|app| app.review.hide = Hide::of([hidden]));
        d.until(|app| app.store.totals().checked == app.store.len());
        let screen = d.screen();
        let (heading, row) = (screen.lines().nth(1).unwrap(), screen.lines().nth(2).unwrap());
        let column = |name: &str| heading.find(name).map(|at| heading[..at].chars().count()).unwrap();
        let cell = |from: usize, width: usize| row.chars().skip(from).take(width).collect::<String>();
        assert_eq!(cell(column("fix"), 2), "* ", "{row}");
        if hidden == Hidden::Gold {
            assert_eq!(cell(column("expected"), 8), "       *", "{row}");
        }
    }
}

/// Checks that two files that differ only in what is hidden cannot be told apart by any filter, order, count or find.
#[test]
fn no_filter_no_order_and_no_count_tells_what_is_hidden() {
    let desks = [Desk::new(9), Desk::new(9)];
    let text = std::fs::read_to_string(desks[1].runs()).unwrap();
    let number = |n: usize| format!("\"gold_num\": {}.0", 2 * n);
    let other = text.lines().enumerate().map(|(n, line)| {
        let line = line.replace(&number(n + 1), &format!("\"gold_num\": {}.0, \"gold_answer\": \"so #### 7\"", n * n));
        let line = line.replace("\"confidence\": 0.9", &format!("\"confidence\": 0.{n}"));
        let correct = n % 2 == 0;
        line.replace("\"correct\": true", &format!("\"correct\": {correct}"))
            .replace("\"correct\": false", &format!("\"correct\": {correct}"))
    });
    std::fs::write(desks[1].runs(), other.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let open = |hide: Hide| {
        desks.each_ref().map(|desk| {
            let mut d = desk.open_with(|app| app.review.hide = hide);
            d.until(|app| app.store.totals().checked == 9);
            d
        })
    };
    let order = |d: &Drive| (0..d.app.rows()).filter_map(|row| d.app.table.record(row)).collect::<Vec<_>>();
    let fields = [
        "correct:true",
        "correct:false",
        "correct:unknown",
        "-correct:true",
        "kind:procedural",
        "rule:gold",
        "rule:run",
        "rule:answer",
        "severity:fatal",
        "severity:repairable",
        "severity:warning",
        "severity:note",
        "fix:none",
        "fix:step_run",
        "fix:procedure",
        "fix:gold",
        "fix:unknown",
        "fix_step=1",
        "-fix_step>0",
        "recovered:gold",
        "recovered:no",
        "steps>1",
        "fitness<1",
        "conf>=.5",
        "conf<.5",
        "pred>6",
        "fatal>0",
        "repairable>0",
        "warning>0",
        "note>0",
        "findings>0",
        "findings=0",
        "route:ship",
        "route:human_review",
        "verdict:open",
        "gold:wrong",
        "reviewed:false",
        "stale:true",
        "text:0.9",
        "text:0.3",
        "text:gold_num",
        "id:r1",
        "grounded<1",
        "items=0",
    ];
    let told = [Hidden::Gold, Hidden::Triage, Hidden::Confidence, Hidden::Baseline];
    let [mut one, mut two] = open(Hide::of(told));
    let [mut plain, mut other] = open(Hide::default());
    let mut tells = Vec::new();
    for field in fields {
        let filter = |d: &mut Drive| {
            d.keys(&format!("f ^U '{field}' Enter"));
            d.wait_for(|app| app.table.filtering.as_ref().is_none_or(|search| search.done));
            order(d)
        };
        assert_eq!(filter(&mut one), filter(&mut two), "{field}");
        tells.extend((filter(&mut plain) != filter(&mut other)).then_some(field));
    }
    // Without hiding many of them tell the files apart.
    assert!(
        ["correct:true", "fix:none", "conf<.5", "text:0.3", "findings=0"].iter().all(|field| tells.contains(field)),
        "{tells:?}"
    );
    for d in [&mut one, &mut two] {
        d.keys("f ^U 'correct:true' Enter").shows(&["correct: tells what is hidden (gold)"]);
        d.keys("f ^U 'cell:both' Enter Esc f ^U Enter");
        let what = [
            ("I", "the insights count"),
            ("O", "the review dashboard counts"),
            ("#", "the frequencies count"),
            ("A", "the disagreements show"),
        ];
        for (key, what) in what {
            d.keys(key).shows(&[&format!("{what} what --hide hides; start without --hide to see")]);
            assert_eq!(d.app.screens.top(), ScreenKind::Table, "{key}");
        }
    }
    for _ in 0..12 {
        for descending in [false, true] {
            assert_eq!(order(&one), order(&two), "{:?} {descending}", one.app.table.sort);
            one.keys("~");
            two.keys("~");
        }
        one.keys(">");
        two.keys(">");
    }
    let seen = |d: &mut Drive| d.screen().replace('\u{a0}', " ");
    assert_eq!(seen(&mut one), seen(&mut two), "nor by what is on the screen");
}

#[test]
fn neither_find_nor_the_filter_tells_what_is_hidden() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("f 'text:0.9' Enter").wait_for(|app| app.table.filtering.as_ref().is_some_and(|search| search.done));
    assert_eq!(d.app.rows(), 3);
    let mut d = desk.open_with(|app| app.review.hide = Hide::of([Hidden::Confidence]));
    d.keys("/ '0.9' Enter").wait_for(|app| app.status.now.is_some());
    assert_eq!(d.status(), "No match for \"0.9\"");
    d.keys("f 'text:0.9' Enter").wait_for(|app| app.table.filtering.as_ref().is_some_and(|search| search.done));
    assert_eq!(d.app.rows(), 0);
    d.keys("f ^U Enter Enter a").until(|app| app.review.saved);
    d.keys("q f 'text:0.9' Enter").wait_for(|app| app.table.filtering.as_ref().is_some_and(|search| search.done));
    assert_eq!(d.app.rows(), 1, "that of the verdict");
}

#[test]
fn a_whole_filtered_set_is_labelled_after_asking() {
    let desk = Desk::new(9);
    let mut d = desk.open();
    d.keys("3G a").until(|app| app.review.saved);
    d.keys("f '-id:r9' Enter g X").shows(&["Label for 8 records"]);
    d.hides(&["Enter toggle"]);
    d.keys("'unit' Enter").shows(&["fail 7 records with wrong unit or format?"]);
    d.keys("n").shows(&["no verdicts saved"]);
    d.keys("X 'unit' Enter y").until(|app| app.review.batch.is_none() && app.review.saved);
    d.shows(&["7 records labelled; unchanged: 1 that you passed · u undo", "review 8/8"]);
    let failed = |desk: &Desk| desk.events().iter().filter(|event| event.verdict == Some(Verdict::Fail)).count();
    assert_eq!(failed(&desk), 7);
    d.keys("u").shows(&["Undone: fail of 7 records", "review 1/8"]);
    d.until(|app| app.review.saved);
    d.keys("f ^U 'id:r3' Enter X 'unit' Enter").shows(&["you passed all of these"]);
}

#[test]
fn a_batch_that_changes_nothing_offers_no_undo() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    let label = "X 'unit' Enter y";
    d.keys("f 'id:r1' Enter").keys(label).until(|app| app.review.batch.is_none() && app.review.saved);
    assert_eq!(d.status(), "1 record labelled · u undo");
    d.keys("f ^U 'id:r3' Enter a f ^U 'id:r1' Enter").keys(label).until(|app| app.review.batch.is_none());
    assert_eq!(d.status(), "0 records labelled; unchanged: 1 that had it");
    // Whoever had it is no part of a batch either.
    d.keys("f ^U '-id:r3' Enter").keys(label).until(|app| app.review.batch.is_none() && app.review.saved);
    assert_eq!(d.status(), "2 records labelled; unchanged: 1 that had it · u undo");
    d.keys("u").shows(&["Undone: fail of 2 records"]);
    d.keys("u").shows(&["Undone: pass What is 3 and 3?"]);
    d.keys("u").shows(&["Undone: fail What is 1 and 1?"]);
}

#[test]
fn forks_that_do_not_fit_the_filter_are_neither_counted_nor_labelled() {
    let desk = Desk::new(3);
    desk.fork();
    let mut d = desk.open();
    d.wait_for(|app| app.rows() == 4 && fork_count(&app.store) == 1);
    d.keys("x Enter").until(|app| app.review.saved);
    d.keys("f 'verdict:fail' Enter");
    assert_eq!(d.app.rows(), 2, "the fork stands below its record");
    assert!(d.header().contains("1 of 4   + 1 fork   "), "{}", d.header());
    d.keys("X").shows(&["Label for 1 record"]);
    d.keys("'unit' Enter").shows(&["unchanged: records you passed, forks that do not fit the filter"]);
    d.keys("y").until(|app| app.review.batch.is_none() && app.review.saved);
    assert_eq!(d.status(), "1 record labelled · u undo");
    d.keys("f ^U 'fork:true' Enter X").shows(&["Label for 1 record"]);
}

#[test]
fn verdicts_on_forks_are_on_the_dashboard() {
    let desk = Desk::new(3);
    desk.fork();
    let mut d = desk.open_with(|app| app.across.journals.files = vec![desk.runs()]);
    d.wait_for(|app| app.rows() == 4 && fork_count(&app.store) == 1);
    d.keys("x Enter").until(|app| app.review.saved);
    d.keys("f 'fork:true' Enter a").until(|app| app.review.saved);
    d.keys("Esc O").shows(&["2 reviewed items", "pass   ", "fail   "]).hides(&["other files", "left out"]);
    d.keys("g Enter");
    assert_eq!((d.app.table.filter_text.as_str(), fork_count(&d.app.store)), ("board:outcome/pass", 1));
    assert_eq!(d.app.rows(), 1);
    d.keys("f ^U 'fork:true board:outcome/pass' Enter");
    assert_eq!(d.app.rows(), 1, "it is the fork: {}", d.screen());
}

#[test]
fn a_key_says_why_there_is_nothing_more_to_review() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("f 'id:r2' Enter a");
    assert!(d.status().starts_with("Filter done: 1 of 1 reviewed: 1 pass."), "{}", d.status());
    d.keys("f ^U 'id:r1' Enter x Enter");
    assert!(d.status().starts_with("Filter done: 1 of 1 reviewed: 1 fail."), "{}", d.status());
    d.keys(".");
    assert_eq!(d.status(), "every other listed record is reviewed; Esc in the table clears the filter");
    d.keys("&").shows(&["only in the order of the queue: sort by the review column, or start with --queue"]);
    let part = |app: &mut App| {
        app.review.queue.assigned = Assignment::parse("2/2");
        app.begin_queue();
    };
    let mut d = desk.open_with(part);
    d.keys("&").shows(&["pass or fail a record of the queue first"]);
    assert_eq!(d.table_ids(), ["r2", "r4"]);
    // A part stays a part in every order.
    d.keys("<");
    assert!(d.status().starts_with("Sorted by #"), "{}", d.status());
    assert_eq!(d.table_ids(), ["r2", "r4"]);
    d.keys("G a .").shows(&["every other record of the queue is reviewed"]);
}

#[test]
fn a_verdict_is_about_the_open_record_though_its_file_was_replaced() {
    for hide in [Hide::default(), Hide::of([Hidden::Gold])] {
        let desk = Desk::new(4);
        let mut d = desk.open_with(|app| app.review.hide = hide);
        d.keys("2j Enter");
        assert_eq!(open_id(&d), "r3");
        let new = desk.runs().with_extension("new");
        std::fs::write(&new, [run(2), run(3), run(4)].concat()).unwrap();
        std::fs::rename(new, desk.runs()).unwrap();
        d.wait_for(|app| app.store.len() == 3 && app.allowed(Action::Pass).is_ok());
        d.keys("a").until(|app| app.review.saved);
        assert_eq!(open_id(&d), "r4", "{}", d.screen());
        assert_eq!(desk.events().pop().unwrap().item.unwrap().id, Some("r3".into()));
        d.keys("q");
        let judged = d.lines().into_iter().filter(|line| line.contains('⊕')).collect::<Vec<_>>();
        assert!(judged.len() == 1 && judged[0].contains("What is 3 and 3?"), "{}", d.screen());
    }
}

#[test]
fn a_fork_belongs_to_the_part_that_has_its_record() {
    let desk = Desk::new(4);
    let edits = |value: &[u8]| vec![("sum".into(), value.to_vec())];
    let forks = [&b"9"[..], b"8", b"7"].map(|value| {
        let fork = edited(&Case::read(run(2).trim().as_bytes()).view(), 0, edits(value), "2026-11-20T09:00:00.000Z");
        [fork.unwrap().as_slice(), b"\n"].concat()
    });
    std::fs::write(desk.runs().with_extension("jsonl.forks.jsonl"), forks.concat()).unwrap();
    for (part, rows) in [("1/2", 2), ("2/2", 5)] {
        let mut d = desk.open_with(|app| {
            app.review.queue.assigned = Assignment::parse(part);
            app.begin_queue();
        });
        d.wait_for(|app| fork_count(&app.store) == 3 && app.rows() == rows);
        assert_eq!(d.screen().matches("└ sum overridden").count(), rows - 2, "{}", d.screen());
        d.keys("<").wait_for(|app| app.rows() == rows);
    }
}

/// The first two records have one id, and the last says the same as the first word for word.
fn with_namesakes() -> Desk {
    let desk = Desk::new(1);
    let namesake = run(2).replace("\"r2\"", "\"r1\"");
    std::fs::write(desk.runs(), [run(1), namesake, run(3), run(1)].concat()).unwrap();
    desk
}

#[test]
fn of_two_records_with_one_id_each_has_the_verdicts_on_it_alone() {
    let desk = with_namesakes();
    let mut bob = Drive::reviewing(&desk.runs(), "bob", &desk.state(), |_| {});
    bob.keys("2G a").until(|app| app.review.saved);
    drop(bob);
    let mut d = desk.open();
    d.until(|app| app.review.judged(1).others);
    assert!(!d.app.review.judged(0).others, "it was said of the other one");
    d.keys("1G x 1 Enter").until(|app| app.review.saved && app.review.judged(3).mine.is_some());
    assert_eq!(d.app.review.progress, (2, 4), "what says the same word for word is reviewed with it");
    let is_changed = |d: &Drive| d.app.review.judged(1).stale || d.app.review.judged(1).mine.is_some();
    assert!(!is_changed(&d));
    d.keys("2G").shows(&["reviewed by others"]).hides(&["changed since"]);
    d.keys("a").until(|app| app.review.saved);
    assert_eq!(d.app.review.progress, (3, 4));
    d.keys("1G u");
    assert_eq!((d.status(), d.app.table.list.at), ("Undone: pass What is 2 and 2? · U redo".to_owned(), 1));
    d.keys("3G U");
    assert_eq!((d.status(), d.app.table.list.at), ("Redone".to_owned(), 1));
    d.keys("1G Enter").shows(&["⊖ fail  arithmetic slip"]).hides(&["bob"]);
    d.until(|app| app.review.saved);
    drop(d);
    let mut d = desk.open();
    d.until(|app| app.review.judged(3).mine.is_some() && app.review.judged(1).mine.is_some());
    assert_eq!(d.app.review.progress, (3, 4), "as before");
    assert!([0, 1, 3].iter().all(|record| !d.app.review.judged(*record).stale));
}

#[test]
fn of_two_records_with_one_id_in_one_row_each_has_the_verdicts_on_it_alone() {
    let desk = Desk::new(1);
    // As after `cat run1 run2`: the rows are those of the runs.
    let of_run = |id: usize, answers: usize| {
        run(answers).replace(&format!("\"r{answers}\""), &format!("\"r{id}\", \"row_index\": {id}"))
    };
    std::fs::write(desk.runs(), [of_run(1, 1), of_run(2, 2), of_run(1, 4), of_run(2, 5)].concat()).unwrap();
    let mut bob = Drive::reviewing(&desk.runs(), "bob", &desk.state(), |_| {});
    bob.keys("3G a").until(|app| app.review.saved);
    drop(bob);
    let mut d = desk.open();
    d.until(|app| app.review.judged(2).others);
    d.keys("1G x 1 Enter").until(|app| app.review.saved && app.review.judged(0).mine.is_some());
    assert!(!d.app.review.judged(0).others, "it was said of the other one");
    let third = d.app.review.judged(2);
    assert!(!third.stale && third.mine.is_none(), "I said nothing of it");
    assert_eq!(d.app.review.progress, (1, 4));
    d.keys("3G").shows(&["reviewed by others"]).hides(&["changed since"]);
    d.keys("a").until(|app| app.review.saved);
    d.keys("1G Enter").shows(&["⊖ fail  arithmetic slip"]).hides(&["bob", "changed since"]);
    drop(d);
    let mut d = desk.open();
    d.until(|app| app.review.judged(2).mine.is_some() && app.review.judged(0).mine.is_some());
    assert!((0..4).all(|record| !d.app.review.judged(record).stale));
    assert_eq!(d.app.review.progress, (2, 4), "as before");
}

#[test]
fn a_draft_is_of_its_own_record_where_another_has_the_id() {
    let desk = with_namesakes();
    let mut d = desk.open();
    d.keys("Enter ! }").hides(&["draft: "]);
    d.keys("{").shows(&["draft: ", "expected: suspect"]);
}

#[test]
fn a_record_without_a_name_is_called_by_its_number() {
    let desk = Desk::new(1);
    std::fs::write(desk.runs(), "{\"state\": {\"a\": 1}}\n".repeat(2)).unwrap();
    let mut d = desk.open();
    d.keys("2G a");
    assert_eq!(d.status(), "⊕ pass: record 2 · u undo");
    d.keys("u");
    assert_eq!(d.status(), "Undone: pass record 2 · U redo");
}

#[test]
fn a_page_written_before_the_verdict_does_not_tell_what_others_said() {
    let desk = Desk::new(2);
    let mut eve = Drive::reviewing(&desk.runs(), "eve", &desk.state(), |_| {});
    eve.keys("Enter ; 'should be 88123' Enter x 1 Enter").until(|app| app.review.saved);
    drop(eve);
    let mut ada = desk.open();
    ada.until(|app| app.review.known(0).is_some());
    let page = desk.folder.path().join("page.html");
    let written = |ada: &mut Drive| {
        ada.keys("o Enter ^U").keys(&format!("'{}' Enter", page.display()));
        let text = std::fs::read_to_string(&page).unwrap();
        std::fs::remove_file(&page).unwrap();
        (["88123", "eve"].map(|word| text.contains(word)), ada.status())
    };
    ada.keys("Enter");
    let (told, status) = written(&mut ada);
    assert_eq!(told, [false, false]);
    assert!(status.ends_with("page.html, without what others said: give your verdict first"), "{status}");
    ada.keys("a {").until(|app| app.review.saved);
    let (told, status) = written(&mut ada);
    assert_eq!(told, [true, true]);
    assert!(status.ends_with("page.html"), "{status}");
}

#[test]
fn the_queue_has_its_order_a_share_and_a_second_look() {
    let desk = Desk::new(30);
    let queue = |seed, clean_share, repeat| Queue { shuffle: seed, clean_share, repeat, ..Queue::default() };
    let order = |queue: Queue| {
        let mut d = desk.open_with(|app| {
            app.review.queue = queue;
            app.begin_queue();
        });
        d.draw();
        (0..d.app.rows()).filter_map(|row| d.app.table.record(row)).collect::<Vec<_>>()
    };
    let plain = order(queue(None, None, 0.0));
    assert_eq!(plain.len(), 30);
    let right = |record: usize| (record + 1).is_multiple_of(3);
    let first_right = plain.iter().position(|record| right(*record)).unwrap();
    assert!(plain[..first_right].len() == 20 && plain[first_right..].iter().all(|record| right(*record)), "{plain:?}");
    assert_ne!(order(queue(Some(1), None, 0.0)), plain);
    assert_eq!(order(queue(Some(1), None, 0.0)), order(queue(Some(1), None, 0.0)));
}

#[test]
fn what_was_judged_is_skipped_and_shown_once_more_at_the_end() {
    let desk = Desk::new(3);
    let queue = Queue { repeat: 1.0, ..Queue::default() };
    let mut d = desk.open_with(|app| app.review.queue = queue);
    d.keys("j a g Enter a");
    assert_eq!(open_id(&d), "r3", "what was judged is skipped");
    d.keys("a").shows(&["repeat (self-agreement check)"]).hides(&["⊕ pass  "]);
    assert_eq!(open_id(&d), "r1");
    d.keys("-").shows(&["a repeat is judged again or left; the first verdict is kept"]);
    assert_eq!(d.app.review.progress, (3, 3));
    d.keys("x Enter").until(|app| app.review.saved);
    let last = desk.events().pop().unwrap();
    assert_eq!((last.verdict, last.supersedes.is_some()), (Some(Verdict::Fail), true));
    let stats = stats_of(&d.app.review.reviews);
    assert_eq!((stats.repeats.of, stats.repeats.hits), (1, 0));
}

#[test]
fn the_last_repeat_shows_that_it_is_given() {
    let desk = Desk::new(3);
    let queue = Queue { repeat: 1.0, ..Queue::default() };
    let mut d = desk.open_with(|app| app.review.queue = queue);
    d.keys("Enter a a a a a").shows(&["repeat (self-agreement check)"]);
    d.keys("x 1 Enter").until(|app| app.review.saved);
    assert!(d.status().starts_with("Queue done: 3 of 3"), "{}", d.status());
    d.shows(&["⊖ fail  arithmetic slip"]).hides(&["repeat"]);
    let looks = |d: &Drive| (stats_of(&d.app.review.reviews).repeats.of, stats_of(&d.app.review.reviews).repeats.hits);
    assert_eq!(looks(&d), (3, 2));
    // A key more changes the second verdict: it is no third look.
    d.keys("a").until(|app| app.review.saved);
    d.shows(&["⊕ pass"]).hides(&["repeat"]);
    assert_eq!(looks(&d), (3, 3));
    // What is taken back is asked for again.
    d.keys("u").until(|app| app.review.saved);
    d.shows(&["⊖ fail"]);
    d.keys("u").until(|app| app.review.saved);
    d.shows(&["repeat (self-agreement check)"]).hides(&["⊕ pass", "⊖ fail"]);
    assert_eq!(looks(&d), (2, 2));
}

#[test]
fn the_strip_of_the_table_tells_what_i_said_from_what_others_said() {
    let desk = Desk::new(2);
    for by in ["bob", "eve"] {
        let mut other = Drive::reviewing(&desk.runs(), by, &desk.state(), |_| {});
        other.keys("Enter ! ! x 1 Enter").until(|app| app.review.saved);
    }
    let mut d = desk.open();
    d.until(|app| app.review.known(0).is_some());
    d.shows(&["reviewed by others"]).hides(&["arithmetic slip", "expected: wrong"]);
    d.keys("Enter a").until(|app| app.review.saved);
    d.keys("q g").shows(&["⊕ pass  bob ⊖ fail  eve ⊖ fail"]).hides(&["arithmetic slip", "expected: wrong"]);
    d.keys("j a").shows(&["Queue done: 2 of 2 reviewed: 2 pass. "]);
    // What I said is there with all that belongs to it.
    d.keys("g Enter x 2 Enter").until(|app| app.review.saved);
    d.keys("q g").shows(&["⊖ fail  expression left unevaluated  bob ⊖ fail"]).hides(&["arithmetic slip"]);
}

#[test]
fn a_final_verdict_is_undone_where_it_was_given() {
    let desk = Desk::new(3);
    for (by, keys) in [("bob", "Enter a a a"), ("eve", "Enter x 1 Enter x 1 Enter x 1 Enter")] {
        Drive::reviewing(&desk.runs(), by, &desk.state(), |_| {}).keys(keys).until(|app| app.review.saved);
    }
    let journals = Journals { files: vec![desk.runs()], named: Vec::new() };
    let mut d = desk.open_with(|app| {
        app.across = Across::new(None, journals, false);
        app.across.reviewer = Some(Reviewer::person("ada"));
    });
    // Nothing was decided yet, and what I said of a record is not undone here.
    d.keys("_").until(|app| app.review.saved);
    d.keys("A u");
    assert!(d.status().contains("no final verdict to undo"), "{}", d.status());
    let cases = |d: &Drive| d.app.across.judged.as_ref().map_or(0, |judged| judged.cases.len());
    let at = |d: &Drive| d.app.kept.adjudication.list.at;
    let disputed = cases(&d);
    assert!(disputed >= 2, "{}", d.screen());
    d.keys("j a").until(|app| app.review.saved && app.across.judging.running.is_none());
    assert!(d.status().starts_with("saved What is") && d.status().ends_with(" · u undo"), "{}", d.status());
    assert_eq!(cases(&d), disputed - 1);
    d.keys("g u").until(|app| app.review.saved && app.across.judging.running.is_none());
    assert!(d.status().starts_with("Undone: pass What is") && d.status().ends_with(" · U redo"), "{}", d.status());
    assert_eq!((cases(&d), at(&d), d.app.screens.top()), (disputed, 1, ScreenKind::Adjudication));
    d.keys("U").until(|app| app.review.saved && app.across.judging.running.is_none());
    assert_eq!((d.status().as_str(), cases(&d)), ("Redone", disputed - 1));
    d.keys("U");
    assert!(d.status().contains("no final verdict to redo"), "{}", d.status());
    // Typed at once, it takes back the last decision and not the one before.
    d.keys("g a u").until(|app| app.review.saved && app.across.judging.running.is_none());
    assert_eq!(cases(&d), disputed - 1);
    let kinds = desk.kinds();
    let is_decision = |kind: &&EventKind| **kind == EventKind::Adjudicate;
    assert_eq!(kinds.iter().filter(is_decision).count(), 2);
}

#[test]
fn nobody_decides_a_dispute_of_their_own_without_a_word() {
    let desk = Desk::new(3);
    for (by, keys) in [("bob", "Enter a a a"), ("eve", "Enter x 1 Enter x 1 Enter x 1 Enter")] {
        Drive::reviewing(&desk.runs(), by, &desk.state(), |_| {}).keys(keys).until(|app| app.review.saved);
    }
    let decide = |me: &str| {
        let journals = Journals { files: vec![desk.runs()], named: Vec::new() };
        let mut d = desk.open_with(|app| {
            app.across = Across::new(None, journals, false);
            app.across.reviewer = Some(Reviewer::person(me.to_owned()));
        });
        d.keys("A").until(|app| app.across.judging.running.is_none());
        d
    };
    let cases = |d: &Drive| d.app.across.judged.as_ref().map_or(0, |judged| judged.cases.len());
    let mut d = decide("eve");
    let all = cases(&d);
    d.shows(&["verdict  yours", "One of these verdicts is yours"]);
    d.keys("a");
    assert!(d.status().contains("One of these verdicts is yours: leave it to another"), "{}", d.status());
    assert_eq!(cases(&d), all);
    // The next one is another word.
    d.keys("j x").shows(&["leave it to another adjudicator"]);
    assert!(d.app.kept.adjudication.choosing.is_none());
    d.keys("x 1 Enter").until(|app| app.review.saved && app.across.judging.running.is_none());
    assert_eq!(cases(&d), all - 1);
    let mut d = decide("ada");
    d.hides(&["yours"]);
    d.keys("a").until(|app| app.review.saved && app.across.judging.running.is_none());
    assert_eq!(cases(&d), all - 2);
}

#[test]
fn who_settles_a_dispute_sees_findings_citations_and_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    for name in ["policy.jsonl", "policy.document.json"] {
        std::fs::copy(samples.join(name), folder.path().join(name)).unwrap();
    }
    let path = folder.path().join("policy.jsonl");
    for (by, keys) in [("bob", "f 'route:reject' Enter Enter a"), ("eve", "f 'route:reject' Enter Enter x 1 Enter")] {
        Drive::reviewing(&path, by, folder.path(), |_| {}).keys(keys).until(|app| app.review.saved);
    }
    let journals = Journals { files: vec![path.clone()], named: Vec::new() };
    let mut d = Drive::reviewing(&path, "ada", folder.path(), |app| {
        app.across = Across::new(None, journals, false);
        app.across.reviewer = Some(Reviewer::person("ada"));
    });
    d.resize(200, 60).keys("A").until(|app| app.across.judging.running.is_none());
    d.shows(&[
        "document  policy.document.json",
        "route     reject",
        "Findings",
        "Citations",
        "not wait until",
        "» not wait",
    ]);
    // The labels that are chosen from have the room, those of answers first.
    d.keys("x").hides(&["Citations"]);
    d.shows(&["1 [ ] wrong value (eve)", "2 [ ] wrong citation"]);
    d.resize(80, 24).shows(&["1 [ ] wrong value (eve)", "6 [ ] should be"]);
    d.keys("1").shows(&["1 [x] wrong value (eve)"]);
    d.keys("Enter").until(|app| app.review.saved && app.across.judging.running.is_none());
    let log = std::fs::read_to_string(beside(&path).path()).unwrap();
    let decided = log.lines().rfind(|line| line.contains("\"adjudicate\"")).unwrap();
    assert!(decided.contains("wrong_value"), "{decided}");
}

#[test]
fn verdicts_next_to_several_files_are_shown_and_none_is_given() {
    let desk = Desk::new(4);
    let other = desk.folder.path().join("other.jsonl");
    std::fs::write(&other, run(5) + &run(6)).unwrap();
    for (by, keys) in [("ada", "Enter a x 1 Enter"), ("eve", "Enter x 2 Enter a x 2 Enter")] {
        Drive::reviewing(&desk.runs(), by, &desk.state(), |_| {}).keys(keys).until(|app| app.review.saved);
    }
    let before = std::fs::read(beside(&desk.runs()).path()).unwrap();
    let paths = [desk.runs(), other];
    let mut d = Drive::looking_on(&paths, |_| {});
    d.until(|app| app.review.known(2).is_some());
    d.shows(&["1 ⊕", "2 ⊖", "⊕ pass  eve ⊖ fail", "read-only; to review, pass --reviews FILE"]);
    // As with one file what others said of a record waits for my verdict, and that is said.
    d.keys("f 'verdict:fail' Enter");
    assert!(d.status().contains("leaves out verdicts of others"), "{}", d.status());
    d.keys("f ^U 'verdict:open' Enter");
    assert_eq!(d.app.rows(), 4);
    d.keys("f ^U Enter g Enter").shows(&["⊕ pass", "eve ⊖ fail"]);
    for key in ["a", "x", "-", "u", "!"] {
        d.keys(key);
        assert!(d.status().contains("pass --reviews FILE"), "{key}: {}", d.status());
    }
    d.keys("q O").shows(&["3 reviewed items"]);
    assert_eq!(std::fs::read(beside(&desk.runs()).path()).unwrap(), before);
    // Where none are read, a filter says that.
    let mut d = Drive::open(&[desk.runs()]);
    d.keys("f 'verdict:fail' Enter");
    assert_eq!(d.app.rows(), 0);
    assert!(d.status().contains("no reviews are read") && d.status().contains("--reviews FILE"), "{}", d.status());
}

#[test]
fn an_explanation_of_the_filter_wins_over_the_greeting() {
    let desk = Desk::new(2);
    Drive::reviewing(&desk.runs(), "eve", &desk.state(), |_| {}).keys("Enter x 1 Enter").until(|app| app.review.saved);
    let mut d = desk.open_with(|app| {
        app.status.now = Some(Status::greeting());
        app.early = app.set_filter("verdict:fail");
    });
    d.until(|app| app.review.known(0).is_some());
    assert_eq!(d.app.rows(), 0);
    assert!(d.status().contains("leaves out verdicts of others"), "{}", d.status());
    // It is said once, and nothing else gives way to it.
    d.keys("f ^U Enter");
    let mut d = desk.open_with(|app| app.status.now = Some(Status::greeting()));
    d.until(|app| app.review.known(0).is_some());
    assert!(d.status().starts_with("New here?"), "{}", d.status());
}

#[test]
fn what_a_page_carries_counts_wherever_reviews_are_counted() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter a { ").until(|app| app.review.saved);
    let page = desk.folder.path().join("page.html");
    d.keys("o Enter ^U").keys(&format!("'{}' Enter", page.display()));
    assert!(page.exists(), "{}", d.status());
    let mut d = Drive::looking_on(&[page], |_| {});
    d.keys("A").hides(&["no reviews yet"]).shows(&["ada (page) reviewed 1"]);
    d.keys("O").shows(&["1 reviewed item"]).hides(&["0 reviewed items"]);
}

#[test]
fn what_is_added_to_a_verdict_is_no_second_look() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter x Enter").until(|app| app.review.saved);
    d.keys("{ !").until(|app| app.review.saved);
    // Who goes back and is of another opinion does not judge a second time either.
    d.keys("} a { x").keys("Enter {").until(|app| app.review.saved);
    let stats = stats_of(&d.app.review.reviews);
    assert_eq!(stats.repeats.of, 0);
    d.keys("q f '-id:r9' Enter g X").shows(&["Label for 3 records"]);
    d.keys("'unit' Enter y").until(|app| app.review.batch.is_none() && app.review.saved);
    let verdicts = desk.events().iter().filter(|event| event.kind == EventKind::Verdict).count();
    let stats = stats_of(&d.app.review.reviews);
    assert_eq!(
        (verdicts, stats.repeats.of),
        (7, 0),
        "two, one with the gold answer, one changed, and three with a label"
    );
}

#[test]
fn what_another_instance_appends_is_seen() {
    let desk = Desk::new(3);
    let mut one = desk.open();
    let mut other = Drive::reviewing(&desk.runs(), "eve", &desk.state(), |_| {});
    other.keys("Enter x 1 Enter").until(|app| app.review.saved);
    one.keys("Enter").until(|app| app.review.reviews.len() == 2);
    one.shows(&["reviewed by others"]).hides(&["eve"]);
    one.keys("a").until(|app| app.review.saved);
    one.keys("{").shows(&["⊕ pass", "eve ⊖ fail"]);
    let (one, other) = (desk.events().len(), 3);
    assert_eq!(one, other);
}

#[test]
fn filters_know_what_was_said() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("Enter a x 1 Enter - q").until(|app| app.review.saved);
    for (filter, rows) in [
        ("verdict:fail", 1),
        ("verdict:pass,defer", 2),
        ("verdict:open", 1),
        ("reviewed:false", 2),
        ("reviewed:true correct:false", 2),
        ("-label:slip", 3),
        ("label:slip text:what", 1),
    ] {
        d.keys("f ^U").keys(&format!("'{filter}' Enter"));
        assert_eq!(d.app.rows(), rows, "{filter}\n{}", d.screen());
    }
}

#[test]
fn no_filter_tells_what_others_said_before_i_judged() {
    let desk = Desk::new(4);
    let mut eve = Drive::reviewing(&desk.runs(), "eve", &desk.state(), |_| {});
    eve.keys("Enter ! x 1 Enter x 2 Enter").until(|app| app.review.saved);
    drop(eve);
    let mut ada = desk.open();
    ada.until(|app| app.review.known(0).is_some());
    let filters = ["verdict:fail,disputed", "label:slip", "gold:suspect", "verdict:open", "-verdict:fail"];
    let mut rows = || {
        filters.map(|filter| {
            ada.keys("f ^U").keys(&format!("'{filter}' Enter"));
            if filter != "verdict:open" && ada.app.rows() != 1 {
                assert!(
                    ada.status().contains("on records that you have not reviewed; O counts them"),
                    "{}",
                    ada.status()
                );
            }
            ada.app.rows()
        })
    };
    assert_eq!(rows(), [0, 0, 0, 4, 4]);
    ada.keys("f ^U Enter Enter a").until(|app| app.review.saved);
    ada.keys("q");
    let mut rows = || filters.map(|filter| ada.keys("f ^U").keys(&format!("'{filter}' Enter")).app.rows());
    assert_eq!(rows(), [1, 1, 1, 3, 4], "disputed since");
}

#[test]
fn every_key_of_reviewing_says_why_it_is_refused() {
    let mut d = Drive::runs();
    d.keys("a").shows(&["no review log"]);
    d.keys("Enter x").shows(&["no review log"]);
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("b").shows(&["open the record first"]);
    d.keys("* ").shows(&["nothing is hidden here"]);
    d.keys("^S").shows(&["everything is saved"]);
    d.keys("Enter");
    for (width, height) in [(80, 24), (40, 14), (20, 8), (3, 2)] {
        d.resize(width, height).keys("x 1 / 'zz' Esc Esc ; 'n' Esc b Esc");
    }
}

#[test]
fn a_session_goes_on_at_the_same_record_and_scroll() {
    let desk = Desk::new(5);
    let mut d = desk.open();
    d.keys("Enter a Tab g j j [").until(|app| app.review.saved);
    d.keys("Q");
    let view = d.kept.pop().unwrap().0;
    let mut again = desk.open_with(|app| app.restore(&view));
    again.until(|app| app.review.progress == (1, 5));
    assert_eq!(open_id(&again), "r2");
    let (before, now) = (d.app.screens.record().unwrap(), again.app.screens.record().unwrap());
    assert_eq!((now.moment, now.variables), (before.moment, before.variables));
    again.keys("a");
    assert_eq!(open_id(&again), "r3");
    // From the table one comes back to the table.
    again.until(|app| app.review.saved).keys("q Q");
    let view = again.kept.pop().unwrap().0;
    let table = desk.open_with(|app| app.restore(&view));
    assert!(table.app.screens.record().is_none() && table.app.record() == Some(2));
}

#[test]
fn the_session_ends_when_everything_is_saved() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter a Q").shows(&["saving…"]);
    assert_eq!(d.quit, None);
    d.until(|app| app.log.events().next().is_none());
    assert_eq!(d.quit, Some(0));
    let mut d = desk.open();
    d.keys("a Q j").until(|app| app.log.events().next().is_none());
    assert_eq!(d.quit, None, "who goes on does not leave");
}

#[test]
fn pace_and_new_labels_are_told() {
    let desk = Desk::new(40);
    let mut d = desk.open();
    d.keys("Enter x 1 Enter");
    for _ in 0..20 {
        d.after(std::time::Duration::from_secs(6)).keys("a");
    }
    d.until(|app| app.review.saved);
    d.shows(&["review 21/40", "no new labels in 20 verdicts", "per minute, 2 min left"]);
    let times: Vec<_> = desk.events().iter().filter_map(|event| event.times.active_ms).collect();
    assert!(times[1..].iter().all(|ms| (6_000..7_000).contains(ms)), "{times:?}");
    // A long pause is no work.
    d.after(std::time::Duration::from_secs(4_000)).keys("a").until(|app| app.review.saved);
    assert!(desk.events().pop().unwrap().times.active_ms.unwrap() < 1_000);
}

#[test]
fn the_queue_begins_at_its_front_until_somebody_moves() {
    let desk = Desk::new(120);
    let queue = Queue { shuffle: Some(3), ..Queue::default() };
    let begin = |app: &mut stepscope::app::state::App| {
        app.review.queue = queue;
        app.begin_queue();
    };
    let mut d = desk.open_with(begin);
    assert_eq!((d.app.table.list.at, d.app.table.record(0) == Some(0)), (0, false), "not where the file begins");
    d.keys("Enter a").until(|app| app.review.saved);
    let judged = d.app.table.record(0);
    // The next session goes on behind what is done.
    let mut d = desk.open_with(begin);
    d.until(|app| app.review.progress.0 == 1);
    assert_eq!((d.app.table.record(0), d.app.table.list.at), (judged, 1));
    d.keys("j");
    assert_eq!(d.app.table.list.at, 2);
}

#[test]
fn a_verdict_keeps_how_chance_chose_its_record() {
    let desk = Desk::new(120);
    let begin = |app: &mut stepscope::app::state::App| {
        app.review.queue = Queue { shuffle: Some(3), sampled: true, ..Queue::default() };
        app.begin_queue();
    };
    let mut d = desk.open_with(begin);
    d.keys("Enter a").until(|app| app.review.saved);
    let drawn = |desk: &Desk| desk.events().pop().unwrap().drawn.map(|drawn| drawn.line().into_string());
    assert!(drawn(&desk).is_some_and(|drawn| drawn.starts_with("3:")), "{:?}", drawn(&desk));
    // Where a filter lists some, people chose out of which.
    d.keys("q f 'reviewed:false' Enter Enter a").until(|app| app.review.saved);
    assert_eq!((desk.events().len(), drawn(&desk)), (2, None));
}

#[test]
fn of_the_clean_records_a_share_is_looked_at() {
    let desk = Desk::new(120);
    let queue = Queue { clean_share: Some(0.25), ..Queue::default() };
    let d = desk.open_with(|app| {
        app.review.queue = queue;
        app.begin_queue();
    });
    // Forty are right, the rest is all there.
    assert!((84..=98).contains(&d.app.rows()), "{}", d.app.rows());
}

#[test]
fn records_that_come_later_are_known_by_what_was_said_of_them() {
    let desk = Desk::new(2);
    let journal = beside(&desk.runs()).path().to_owned();
    let who = Reviewer::person("ada");
    let item = |id: &str| ItemRef { id: Some(Text::from(id.to_owned())), ..ItemRef::default() };
    let mut line = Vec::new();
    for (n, id) in ["r1", "r3"].into_iter().enumerate() {
        let event = Event::verdict(who.clone(), item(id), Verdict::Pass);
        write(&Event { event_id: Text::from(format!("e{n}")), ..event }, &mut line);
    }
    std::fs::write(&journal, line).unwrap();
    let mut d = desk.open();
    d.until(|app| app.review.known(0).is_some());
    d.shows(&["1 ⊕", "review 1/2"]);
    let mut file = std::fs::OpenOptions::new().append(true).open(desk.runs()).unwrap();
    std::io::Write::write_all(&mut file, run(3).as_bytes()).unwrap();
    d.wait_for(|app| app.store.len() == 3 && app.store.is_settled());
    d.until(|app| app.review.known(2).is_some());
    d.shows(&["3 ⊕", "review 2/3"]);
}

#[test]
fn a_filter_by_reviews_goes_on_with_what_is_left() {
    let desk = Desk::new(5);
    let mut d = desk.open();
    d.keys("f 'reviewed:false' Enter Enter a a").until(|app| app.review.saved);
    assert_eq!((open_id(&d), d.app.rows()), ("r3".into(), 5));
    d.keys("q");
    assert_eq!((d.app.rows(), d.app.record()), (3, Some(2)));
    d.keys("Enter a a a").shows(&["Filter done"]);
    d.keys("q").shows(&["no record matches the filter"]);
}

#[test]
fn a_note_is_not_dropped_by_a_click_or_without_a_question() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter ; 'half'");
    d.click(5, 5);
    d.keys("Esc").shows(&["half", "Discard the text?"]);
    d.click(5, 5);
    d.shows(&["half", "Discard the text?"]);
    // The key that keeps it only answers.
    for key in ["n", "Enter", "Backspace"] {
        d.keys(key).hides(&["Discard the text?", "halfn"]).shows(&["note: half"]);
        d.keys("Esc").shows(&["Discard the text?"]);
    }
    d.keys("n");
    d.keys("Enter").until(|app| app.review.saved);
    assert_eq!(desk.events()[0].note, Some("half".into()));
}

#[test]
fn forks_wait_for_the_verdict_where_something_is_hidden_and_are_no_items_of_the_queue() {
    let desk = Desk::new(3);
    let mut d = desk.open_with(|app| app.review.hide = Hide::of([Hidden::Gold]));
    for key in ["r", "R", "X", "F"] {
        d.keys("Enter").keys(key);
        assert!(d.status().contains("hidden until your verdict"), "{key}: {}", d.status());
        d.keys("q");
    }
    drop(d);
    desk.fork();
    let mut d = desk.open();
    d.wait_for(|app| app.rows() == 4);
    d.keys("Enter a").until(|app| app.review.saved);
    assert_eq!((d.app.review.progress, d.app.table.list.at), ((1, 3), 2), "the fork is passed over");
    // Who wants to judges it all the same, and the journal says what it was.
    d.keys("{ )");
    assert!(d.header().contains("fork r1"), "{}", d.header());
    d.keys("a").until(|app| app.review.saved);
    let executions: Vec<_> = desk.events().into_iter().filter_map(|event| event.seen.execution).collect();
    assert_eq!(executions, ["rec", "r1"].map(Text::from));
}

#[test]
fn the_strip_says_why_a_record_is_in_the_queue_and_how_many_are_left() {
    let desk = Desk::new(6);
    let mut d = desk.open_with(App::begin_queue);
    d.resize(80, 24).keys("Enter").shows(&["review 0/6  wrong or flagged: 4 of 4 left", "a pass", "x fail", "- defer"]);
    d.keys("x Enter").shows(&["wrong or flagged: 3 of 4 left"]);
    d.keys("x Enter x Enter x Enter").shows(&["review 4/6"]).hides(&["wrong or flagged"]);
    d.keys("u").shows(&["wrong or flagged: 1 of 4 left"]);
    // Of what is hidden the queue tells nothing, and where clean ones are mixed in nobody knows what comes.
    let mut hidden = desk.open_with(|app| {
        app.review.hide = Hide::of([Hidden::Gold]);
        app.begin_queue();
    });
    hidden.keys("Enter").hides(&["wrong or flagged: 1 of 4 left"]);
    let mut mixed = desk.open_with(|app| {
        app.review.queue.clean_share = Some(1.0);
        app.begin_queue();
    });
    mixed.keys("Enter").shows(&["unreviewed"]).hides(&["of 4 left"]);
    // Who does not review has no queue, though its order is remembered.
    let mut over = desk.open_with(|app| {
        app.review.reviewing = false;
        app.begin_queue();
    });
    over.resize(120, 24).until(|app| app.review.progress == (3, 6));
    over.shows(&["review 3/6", ":review starts a review"]).hides(&["left"]);
}

#[test]
fn a_review_opens_a_record_at_its_first_error() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter").shows(&["Fix: model output, step 1", "step 1/2"]);
    d.keys("a").shows(&["2/2", "step 1/2"]);
    let mut looking = desk.open_with(|app| app.review.reviewing = false);
    looking.keys("Enter").shows(&["step 1/2"]);

    // Of an answer what is gravest, not what is least grounded.
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let journal = desk.folder.path().join("answers.reviews.jsonl");
    let mut answers = Drive::reviewing_in(&samples, &journal, "ada", &desk.state(), |_| {});
    answers.keys("19G Enter").shows(&[
        "What is said about doctors?",
        "1a item A",
        "◑ found on page 6  /answer/items/0/spans/0",
    ]);
}

#[test]
fn records_with_the_same_first_finding_get_the_same_verdict_after_asking() {
    let desk = Desk::new(9);
    let mut d = desk.open_with(App::begin_queue);
    d.keys("Enter x 1 Enter");
    assert!(d.status().contains("u undo · & same for 4 more: run/quantity_missed"), "{}", d.status());
    d.keys("&").shows(&["fail 4 more records with arithmetic slip, as the last one?", "comes first in all of them"]);
    d.shows(&["at whatever step", "a note, step or place to fix is not copied"]);
    d.keys("n").shows(&["no verdicts saved"]);
    d.keys("& f");
    assert_eq!((d.app.screens.top(), d.app.rows()), (ScreenKind::Table, 4));
    assert!(
        d.app.table.filter_text.starts_with("first:") && d.status().starts_with("& gives these 4"),
        "{}",
        d.status()
    );
    d.keys("& y").until(|app| app.review.batch.is_none() && app.review.saved);
    d.shows(&["4 records: fail · u undo", "saved"]);
    let verdicts = || desk.events().into_iter().filter(|event| event.kind == EventKind::Verdict).collect::<Vec<_>>();
    assert_eq!(verdicts().len(), 5);
    assert!(verdicts().iter().all(|event| event.verdict == Some(Verdict::Fail) && event.labels.len() == 1));
    d.keys("Esc u").shows(&["Undone: fail of 4 records", "review 1/9"]);
    d.keys("U").shows(&["review 5/9"]);
    d.keys("&").shows(&["pass or fail a record of the queue first"]);
    d.keys("f 'id:r1' Enter x Enter &")
        .shows(&["in no other open record that is listed does the same rule come first"]);
}

#[test]
fn what_the_same_verdict_shows_first_is_what_it_is_given_to() {
    let desk = Desk::new(9);
    let mut d = desk.open_with(App::begin_queue);
    // Put off, and hidden by a filter: neither gets the verdict, and neither is shown as if it did.
    d.keys("f '-text:8' Enter 3G - 1G Enter x Enter");
    let others = d.app.review.same.as_ref().unwrap().records.clone();
    assert_eq!(others, [6], "of the records 0, 3, 4, 6 and 7");
    d.keys("& f");
    let shown: Vec<usize> = (0..d.app.rows()).filter_map(|row| d.app.table.record(row)).collect();
    assert_eq!(shown, others, "{}", d.app.table.filter_text);
    assert!(d.status().starts_with(&format!("& gives these {}", others.len())), "{}", d.status());
}

#[test]
fn labels_explain_themselves() {
    let desk = Desk::new(2);
    let mut d = desk.open();
    d.keys("Enter ,").shows(&["1  arithmetic slip", "wrong result.", "For example: 12 * 8 = 98"]);
    // What is left of a line stays under its text.
    d.resize(60, 40);
    assert!(
        ["expected.", "is expected."].iter().any(|end| d.screen().contains(&format!("│    {end}"))),
        "{}",
        d.screen()
    );
    d.resize(120, 36);
    d.keys("Esc x ?").shows(&["For example: 12 * 8 = 98"]);
    d.keys("Esc").shows(&["1 [ ]"]);
    d.keys("/").shows(&["Right numbers and operation"]);
}

/// Answer with two items, of which the second has two citations.
const ANSWER: &str = r#"{"format": "stepscope.answer_trace", "version": 1, "id": "a1", "question": "Which colours?", "answer": {"answer_found": true, "items": [{"text": "red", "spans": [{"line_start": 0, "line_end": 0, "quote": "red"}]}, {"text": "blue", "spans": [{"line_start": 1, "line_end": 1, "quote": "blue"}, {"line_start": 2, "line_end": 2, "quote": "blue"}]}]}}"#;

#[test]
fn parts_of_an_answer_have_verdicts_of_their_own() {
    let desk = Desk::new(1);
    std::fs::write(desk.runs(), format!("{ANSWER}\n{}\n", ANSWER.replace("a1", "a2"))).unwrap();
    let journals = Journals { files: vec![desk.runs()], named: Vec::new() };
    let mut d = desk.open_with(|app| app.across = Across::new(None, journals, false));
    d.keys("1 a").shows(&["names an item of an answer"]);
    d.keys("Enter 1 a").shows(&["A text ⊕ red"]);
    assert!(d.status().contains("pass: item A · u undo"), "{}", d.status());
    d.keys("2 x").shows(&["fail item B:", "1 [ ]", "Enter save   "]).hides(&["save, next"]);
    d.keys("2 Enter").shows(&["B text ⊖ blue  wrong citation", "review 0/2"]);
    d.keys("G +").shows(&["pass: item B, citation 2"]);
    assert_eq!(open_id(&d), "a1", "the record itself is still to be reviewed");
    d.keys("\\ Esc").hides(&["1 [ ]"]);
    assert!(d.status().contains("No verdict on item B, citation 2"), "{}", d.status());
    d.keys("9 a").shows(&["this answer has fewer items"]);
    d.until(|app| app.review.saved);
    // Answers have no place to fix: of none of them can it be said that there is nothing to fix.
    d.keys("O").until(|app| app.across.judged.is_some());
    d.shows(&["No verdicts on whole records, 3 on parts (stepscope review stats FILE)"]).hides(&["nothing to fix"]);
    d.keys("q");
    let part = |item, citation| Some(AnswerPart { item, citation });
    let said: Vec<_> = desk.events().into_iter().filter(|event| event.kind == EventKind::Note).collect();
    let parts: Vec<_> = said.iter().map(|event| (event.part, event.verdict, event.labels.len())).collect();
    let (pass, fail) = (Some(Verdict::Pass), Some(Verdict::Fail));
    assert_eq!(parts, [(part(0, None), pass, 0), (part(1, None), fail, 1), (part(1, Some(1)), pass, 0)]);
    assert_eq!(said[2].anchors, [Anchor::Pointer("/answer/items/1/spans/1".into())]);
    d.keys("u").shows(&["Undone: pass item B, citation 2"]);
    d.keys("u").hides(&["⊖ wrong citation"]);
    // What was begun of the record is there again after a part.
    d.keys("! 1 x");
    // Until then nothing is said of the record that would go with the item, and be lost.
    for key in ["a", "x", "-", "_", "!", "@", "=", "b", ";", "+", "\\"] {
        d.keys(key);
        assert!(d.status().contains("save the item first (Enter), or leave it (Esc)"), "{key}: {}", d.status());
    }
    d.shows(&["fail item A:"]);
    d.keys("Enter").shows(&["expected: suspect"]);
    d.keys("a").shows(&["2/2"]);
    d.until(|app| app.review.saved);
    let last = desk.events().pop().unwrap();
    assert_eq!((last.kind, last.part, last.gold_status), (EventKind::Verdict, None, Some(GoldStatus::Suspect)));
}

#[test]
fn no_action_leaves_a_line_waiting_while_presenting() {
    let desk = Desk::new(1);
    let runs = run(1) + &run(2);
    std::fs::write(desk.runs(), format!("{runs}{}\n{ANSWER}\n", ANSWER.replace("a1", "a0"))).unwrap();
    // Where it begins, and what is pressed before the action.
    let scenes = [
        ("", ""),
        ("G Enter", ""),
        ("G Enter 1 x", ""),
        ("Enter a u", ""),
        ("Enter x 1", ""),
        ("Enter x 1", "/ 'new'"),
    ];
    for (before, then) in scenes {
        let open = || {
            let _ = std::fs::remove_file(beside(&desk.runs()).path());
            let mut d = desk.open_with(|app| app.review.hide = Hide::of([Hidden::Gold]));
            d.keys(before).until(|app| app.log.events().next().is_none());
            d.keys(": 'present' Enter").keys(then);
            assert!(d.app.presenting.is_some());
            d
        };
        let mut d = open();
        let said = desk.kinds();
        for action in Action::ALL.into_iter().filter(|action| !matches!(action, Action::Tour | Action::Present)) {
            if d.app.allowed(action).is_err() {
                continue;
            }
            let seen = d.screen();
            d.app.keymap = Keymap::with_changes([(action.word(), &["^Y".to_owned()][..])]).unwrap();
            d.keys("^Y");
            if d.screen() != seen {
                d.keys("Enter y Enter");
            }
            assert_eq!(d.app.log.events().count(), 0, "{before}, {then}: {}\n{}", action.word(), d.screen());
            assert_eq!(desk.kinds(), said, "{before}, {then}: {}", action.word());
            if d.screen() != seen {
                d = open();
            }
        }
    }
}

#[test]
fn verdicts_of_others_on_a_part_are_seen_once_i_have_judged_it_or_the_record() {
    let desk = Desk::new(1);
    std::fs::write(desk.runs(), format!("{ANSWER}\n{}\n", ANSWER.replace("a1", "a2"))).unwrap();
    let mut ada = desk.open();
    ada.keys("Enter 1 a 2 a").until(|app| app.review.saved);
    drop(ada);
    let state = tempfile::tempdir().unwrap();
    let mut bob = Drive::reviewing(&desk.runs(), "bob", state.path(), |_| {});
    bob.keys("Enter").shows(&["A text   red"]).hides(&["ada ⊕"]);
    bob.keys("1 a").shows(&["A text ⊕ red  ada ⊕", "B text   blue"]);
    // The next record is in front after the verdict.
    bob.keys("a {").shows(&["A text ⊕ red  ada ⊕", "B text   blue  ada ⊕"]);
}

#[test]
fn a_key_that_turns_says_that_it_is_set_and_turns_again() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter @");
    assert!(d.status().starts_with("Fix (@ next): ["), "{}", d.status());
    assert!(d.status().ends_with("; saved with your verdict"), "{}", d.status());
    d.keys("a { @");
    assert!(d.status().starts_with("Fix set (@ next): "), "{}", d.status());
    d.keys("!");
    assert!(d.status().starts_with("Expected answer set (! next): [suspect]"), "{}", d.status());
    // All of it fits where there is least room.
    d.resize(80, 24).keys("@").shows(&["Fix set (@ next)", "no opinion"]);
    // What is only a draft is never cut to "saved".
    d.keys("@").hides(&["no opinion; saved…"]);
    d.keys(". @").shows(&["Fix (@ next): [", "no opinion", "draft: "]).hides(&["saved…"]);
}

#[test]
fn what_one_said_elsewhere_stands_where_the_log_has_it() {
    let desk = Desk::new(3);
    let mut d = desk.open();
    d.keys("Enter x 1 Enter").until(|app| app.review.saved);
    let fail = desk.events();
    let elsewhere =
        Event { event_id: "elsewhere".into(), verdict: Some(Verdict::Pass), labels: Vec::new(), ..fail[0].clone() };
    // Another session of the same reviewer wrote before this one: the log is read with both, in its order.
    let read = [vec![elsewhere], fail].concat();
    d.event(Msg::Reviews(read.into_iter().collect(), false, Vec::new()));
    let verdicts: Vec<_> = d.app.review.reviews.events().filter_map(|event| event.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail]);
    d.keys("u").shows(&["Undone: fail"]);
}

#[test]
fn over_a_record_that_is_gone_no_verdict_of_another_is_shown() {
    let desk = Desk::new(4);
    let mut d = desk.open();
    d.keys("Enter a").until(|app| app.review.saved);
    assert_eq!(open_id(&d), "r2");
    let new = desk.runs().with_extension("new");
    std::fs::write(&new, [run(1), run(1), run(2).replace("What is 2", "How much is 2"), run(4)].concat()).unwrap();
    std::fs::rename(new, desk.runs()).unwrap();
    d.wait_for(|app| app.allowed(Action::Exact).is_err_and(|why| why.contains("not in it")));
    d.wait_for(|app| app.record().is_some_and(|record| app.review.judged(record).mine == Some(Verdict::Pass)));
    d.draw();
    d.shows(&["deleted"]);
    let strip = d.lines().into_iter().find(|line| line.starts_with(" review")).unwrap();
    assert!(!strip.contains('⊕'), "{strip}");
}

#[test]
fn answers_are_offered_the_labels_that_are_about_answers() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let path = folder.path().join("policy.jsonl");
    std::fs::copy(policy, &path).unwrap();
    let mut d = Drive::reviewing(&path, "ada", folder.path(), |_| {});
    d.resize(80, 24).keys("Enter x");
    let names = ["wrong value", "wrong citation", "not in the document", "wrong type", "answer incomplete"];
    for (n, name) in names.into_iter().chain([r#"should be "not found""#]).enumerate() {
        d.shows(&[&format!("{} [ ] {name}", n + 1)]);
    }
}
