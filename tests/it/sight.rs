//! What a newcomer sees on the screens: the fault first, whole, and where the keys lead to it.

use std::path::{Path, PathBuf};

use crate::support::drive::Drive;
use stepscope::screens::kind::ScreenKind;
use stepscope::widgets::theme::Role;
use stepscope_io::model::cassette::Speed;
use stepscope_io::model::settings::WantedServer;
use stepscope_io::model::setup::Setup;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name)
}

/// Opens sample runs in a usual size of the terminal.
fn open(name: &str) -> Drive {
    let mut d = Drive::open(&[sample(name)]);
    d.resize(120, 36);
    d
}

/// Opens sample runs, whose replies are recorded.
fn recorded(name: &str) -> Drive {
    let mut d = Drive::with(&[sample(name)], |app| app.models.samples = true);
    d.ask(Setup {
        speed: Speed::AtOnce,
        wanted: WantedServer { offline: true, ..WantedServer::default() },
        ..Setup::default()
    });
    d.resize(120, 36);
    d
}

const LUCK: &str = include_str!("../fixtures/luck.json");

#[test]
fn a_right_answer_that_its_run_does_not_give_has_a_sign_and_a_filter_of_its_own() {
    let (_folder, mut d) = Drive::text(LUCK);
    d.resize(120, 36).shows(&["❯  1  ≅"]);
    d.keys("i").shows(&["right by luck"]);
    d.keys("Esc");
    d.keys("f 'correct:lucky' Enter").shows(&["❯  1  ≅", "filter correct:lucky"]);
    d.keys("Enter").shows(&["≅ correct by luck", "❯✗ 2 step to fix"]);
    let mut d = open("word_problems.jsonl");
    d.keys("f 'correct:lucky' Enter");
    assert!(!d.screen().contains(" ✗ "), "{}", d.screen());
}

#[test]
fn values_of_the_records_are_columns() {
    let mut d = open("word_problems.jsonl");
    d.keys("| 'ok state.rope_metres:12 trace[2].seed question' Enter").shows(&["state.rope_…", "trace[2].seed"]);
    let row = |d: &Drive, text: &str| d.lines().into_iter().find(|line| line.contains(text)).unwrap();
    assert!(row(&d, "A rope is 36").contains(" 36 "), "{}", d.screen());
    assert!(row(&d, "A rope is 36").contains(" 1234 "), "{}", d.screen());
    // Other values are read anew.
    d.keys("| ^U 'ok state.second_cut question' Enter").shows(&["state.second_cut"]);
    assert!(row(&d, "A rope is 36").contains("✗  5 "), "{}", d.screen());
    d.keys("| ^U 'ok rope_metres question' Enter").shows(&["a variable is state.rope_metres"]);
}

#[test]
fn a_value_of_several_lines_is_dim_as_a_whole() {
    let mut d = open("word_problems.jsonl");
    d.keys("z Enter Tab j");
    let (dim, (x, y)) = (d.colour(Role::Ghost), d.find("The length of the rest of  "));
    let of_text = |d: &Drive, row: u16| d.colour_at(x, row);
    // The cursor is on another variable, in which this one has no part.
    assert_eq!([of_text(&d, y), of_text(&d, y + 1), of_text(&d, y + 2)], [dim; 3], "{}", d.screen());
}

#[test]
fn a_match_of_the_table_is_on_screen_in_its_record() {
    let mut d = open("word_problems.jsonl");
    d.keys("/ 'rope' Enter n").shows(&["match 2 of 2", "step 2, distance_equation"]);
    d.keys("Enter");
    assert!(d.header().contains("step 2/4"), "{}", d.header());
    let (x, y) = d.find("❯  distance_equation");
    assert!(d.colour_at(x, y) != d.colour(Role::Ghost), "its value is there");
}

#[test]
fn a_chart_is_refused_where_the_order_has_none() {
    let mut d = open("word_problems.jsonl");
    d.keys("#").shows(&["No chart of this column. Sort by another one first (>)"]);
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
    d.keys("> #");
    assert_eq!(d.app.screens.top(), ScreenKind::Insights);
}

#[test]
fn escape_behind_a_refusal_that_took_a_while_stays() {
    let mut d = open("word_problems.jsonl");
    d.keys("z Enter F").shows(&["Procedure is valid. Nothing to repair"]);
    d.keys("Esc");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.keys("Esc");
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
}

#[test]
fn from_one_json_to_the_next_the_cursor_is_on_what_is_wrong() {
    let mut d = open("word_problems.jsonl");
    d.keys("z Enter J z").shows(&["3/61", "▸ json"]);
    let status = d.status();
    assert!(status.starts_with("/state/") || status.starts_with("/trace/"), "{status}");
    assert!(status.contains("Step 2 should calculate 24 × 45 = 1080 but wrote 24"), "{status}");
}

#[test]
fn f1_opens_the_help() {
    let mut d = open("word_problems.jsonl");
    d.keys("F1").shows(&["Symbols on this screen"]);
}

#[test]
fn a_recording_is_asked_for_no_more_samples_than_it_holds() {
    let mut d = recorded("word_problems.jsonl");
    d.keys("z Enter ^R Enter");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.bytes.is_some()));
    d.shows(&["samples        1 (the recording has no more)", "replay step 4 (prompt ", "smollm2:135m (recording)"]);
    d.shows(&["recording, OpenAI format", "JSON schema, enforced by the server"]);
}

#[test]
fn the_result_of_a_re_run_is_said_first_and_its_fork_is_a_key_away() {
    let mut d = recorded("word_problems.jsonl");
    d.keys("z Enter r Enter");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.bytes.is_some()));
    d.keys("Enter");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.outcome.is_some()));
    let (_, y) = d.find("No change");
    assert!(d.lines()[usize::from(y) - 1].contains("4 Difference"), "{}", d.screen());
    d.shows(&["matches the schema (says nothing", "Step 4 again: 3 → 3, still wrong"]);
}

#[test]
fn a_short_reply_leaves_its_room_to_the_findings() {
    let call = r#"{"prompt": "Give name and age.", "completion": "{\"name\": \"Ada\"}", "reward": 0.5, "success": false, "details": "'age' is a required property"}"#;
    let (_folder, mut d) = Drive::text(call);
    d.resize(120, 36).keys("Enter");
    let (_, reply) = d.find("4 Reply");
    let (_, findings) = d.find("3 Findings");
    assert!(findings - reply <= 4, "{}", d.screen());
    d.shows(&["'age' is a required property"]);
}

#[test]
fn an_empty_dashboard_says_how_to_begin() {
    let mut d = open("policy.jsonl");
    d.keys("O").shows(&["No reviews yet. :review starts one"]);
}

#[test]
fn the_selection_covers_the_name_of_a_group_and_its_figures() {
    let mut d = Drive::beside(&sample("word_problems.jsonl"), &sample("baseline.jsonl"));
    d.resize(120, 36).keys("m");
    let (name, figure) = (d.style_of("A only").bg, d.style_of("19.7 %").bg);
    assert_eq!(name, figure, "{}", d.screen());
    assert_ne!(name, d.style_of("B only").bg);
}
