//! The whole program by its keys, without a terminal.

use crate::support::drive;
use std::collections::HashSet;
use std::io::Write as _;
use stepscope_record::types::TypeRegistry;

use crate::support::drive::{Drive, runs};
use crossterm::event::{KeyCode, MouseButton, MouseEventKind};
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};
use stepscope::app::records::disk_news;
use stepscope::dialogs::dialog::Dialog;
use stepscope::screens::kind::ScreenKind;
use stepscope::screens::run::pane::RunPane;
use stepscope::screens::run::state::Tab;
use stepscope::widgets::keymap::{Action, Context, Keymap};
use stepscope::widgets::theme::{BUILT_IN, Role};
use stepscope_base::text::is_hidden;
use stepscope_io::config::session::FileView;
use stepscope_io::config::views::{self, NamedView};
use stepscope_judge::hide::Hide;
use stepscope_judge::triage::Fix;
use stepscope_record::finding::Severity;
use stepscope_terminal::colour::Rgb;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{Event, Program as _, Work};

/// Finds a variable's name in the lifelines, next to other panes.
#[track_caller]
fn variable_at(drive: &Drive, name: &str) -> (u16, u16) {
    let heading = ["  variable "].map(|text| drive.find(text))[0];
    let lines = drive.lines();
    let start = usize::from(heading.0) + 2;
    for (y, line) in lines.iter().enumerate().skip(usize::from(heading.1) + 1) {
        let cells: String = line.chars().skip(start).collect();
        if cells.starts_with(&format!("{name} ")) {
            return (start as u16, y as u16);
        }
    }
    panic!("no variable {name}\n{}", drive.screen());
}

/// Returns the row of a variable in the lifelines, from its glyph to the pane's border.
#[track_caller]
fn state_row(drive: &Drive, name: &str) -> String {
    let (x, y) = variable_at(drive, name);
    let row: String = drive.lines()[usize::from(y)].chars().skip(usize::from(x) - 2).collect();
    row.trim_end_matches('│').trim_end().to_owned()
}

/// Returns the glyphs of a variable's life.
#[track_caller]
fn life(drive: &Drive, name: &str) -> String {
    let row = state_row(drive, name);
    let start = row.find(['◆', '◇', '○', '◈', '?']).unwrap_or(row.len());
    row[start..].to_owned()
}

fn at(drive: &Drive) -> usize {
    drive.app.table.list.at
}

fn moment(drive: &Drive) -> usize {
    drive.app.screens.record().unwrap().moment.0
}

fn pane(drive: &Drive) -> RunPane {
    drive.app.screens.record().unwrap().pane
}

fn numbered(count: usize) -> String {
    let record = |n: usize| {
        let fruit = if n % 10 == 3 { "pears" } else { "plums" };
        let right = n.is_multiple_of(2);
        format!(
            "{{\"id\": \"r{n}\", \"question\": \"Question {n} about {fruit}?\", \"gold_num\": 1.0, \"state\": {{\"final_answer\": \"{n}\"}}, \"correct\": {right}}}\n"
        )
    };
    (0..count).map(record).collect()
}

// The table.

#[test]
fn a_file_opens_as_a_table() {
    let d = Drive::runs();
    d.shows(&["runs.jsonl", "8 records", "read 8, skipped 1: 1 comment line", "■ 2", "! 2", "▲ 2"]);
    d.shows(&["An orchard has 4 rows", "procedural", "baseline", "error", "answer", "broken", "unknown"]);
    assert!(d.lines()[3].contains("■1 !3"), "{}", d.screen());
    assert!(d.status().starts_with("runs.jsonl  orchard"));
}

#[test]
fn the_cursor_moves_with_and_without_counts() {
    let (_folder, mut d) = Drive::text(numbered(200));
    for (keys, row) in [
        ("j", 1),
        ("5j", 6),
        ("2k", 4),
        ("G", 199),
        ("3G", 2),
        ("g", 0),
        ("12g", 11),
        ("End", 199),
        ("Home", 0),
        ("PgDn", 32),
        ("PgUp", 0),
        ("^D", 16),
        ("^U", 0),
        ("2^D", 0),
        ("Down Down Up", 1),
        ("999999999999999999999j", 199),
        ("k", 198),
        ("0G", 199),
    ] {
        if keys == "2^D" {
            // A count and a key with control.
            d.keys("2 ^D");
            assert_eq!(at(&d), 32);
            d.keys("g");
            continue;
        }
        d.keys(keys);
        assert_eq!(at(&d), row, "{keys}");
    }
    d.shows(&["Question 199"]);
    d.keys("4");
    assert!(d.footer().trim_start().starts_with('4'), "{}", d.footer());
    d.keys("Esc");
    assert_eq!(
        (d.status().as_str(), d.app.count),
        ("⇒ The answer is 199, expected 1; no step says how it calculates, so the record does not show why.", None),
        "Esc drops the count alone"
    );
    d.keys("4 x").keys("j");
    assert_eq!(at(&d), 199, "a key without meaning ends the count");
}

#[test]
fn sorting_and_turning_round() {
    let mut d = Drive::runs();
    d.keys(">");
    d.shows(&["ok▴", "Sorted by ok, ascending · ~ reverses"]);
    d.keys(">");
    d.shows(&["findings▾"]);
    assert_eq!(d.table_ids()[0], "ferry");
    assert_eq!(d.app.store.len(), 8);
    assert_eq!(d.app.table.record(at(&d)), Some(0), "the cursor stays on its record");
    d.keys("~");
    d.shows(&["findings▴"]);
    assert_eq!(d.table_ids().last().unwrap(), "ferry");
    d.keys("< <");
    d.shows(&["#▴"]);
    d.keys("~");
    assert_eq!(d.table_ids().last().unwrap(), "orchard");
    d.shows(&["8 records"]);
    // Rows without a value come last in either direction.
    d.keys("~ <");
    d.shows(&["conf▴"]);
    assert_eq!(d.table_ids()[..3], ["market", "ferry", "orchard"]);
    d.keys("~");
    assert_eq!(d.table_ids()[1..4], ["orchard", "ferry", "market"]);
    // The column beside the sorted one is the one beside it on screen, whatever its width shows.
    for width in [60, 80, 100, 120] {
        d.resize(width, 24).keys("g");
        while d.app.table.sort != stepscope::screens::table::state::SortBy::Position {
            d.keys(">");
        }
        let mut last = 0;
        loop {
            d.keys(">");
            let heading = d.lines()[1].clone();
            let Some(at) = heading.find(['▴', '▾']) else {
                panic!("the sorted column is not on screen: {heading}")
            };
            if d.app.table.sort == stepscope::screens::table::state::SortBy::Position {
                break;
            }
            assert!(at > last, "{width}: {heading}");
            last = at;
        }
    }
}

#[test]
fn a_filter_that_is_being_typed_says_how_many_records_it_takes() {
    let mut d = Drive::runs();
    d.keys("f 'correct:true'").shows(&["3 of 8 records"]);
    d.keys("' steps>2'").shows(&["1 of 8 records"]);
    d.keys("' st'").shows(&["0 of 8 records; Enter searches the text of 1"]);
    d.keys("' nothing:such'").hides(&["of 8 records"]);
}

#[test]
fn the_rows_follow_a_filter_while_it_is_typed_until_it_is_given_up() {
    let mut d = Drive::runs();
    d.keys("2j f 'correct:tr'");
    assert_eq!(d.table_ids().len(), 8, "a value need not be whole yet");
    d.keys("'ue'");
    assert_eq!(d.table_ids(), ["orchard", "market", "bakery"]);
    assert_eq!(d.app.table.taken_filter(), "", "nothing was taken");
    d.keys("' -bakery'");
    assert_eq!(d.table_ids(), ["orchard", "market"], "the text of the records is searched too");
    d.shows(&["2 of 8 records"]);
    d.keys("Esc").shows(&["discard"]);
    assert_eq!(d.table_ids(), ["orchard", "market"], "asking keeps what was typed");
    d.keys("y");
    assert_eq!((d.table_ids().len(), d.app.table.list.at, d.app.table.filter_text.as_str()), (8, 2, ""));
    d.keys("f 'kind:procedural' Enter");
    let taken = d.table_ids();
    d.keys("f ' correct:true'");
    assert_eq!(d.table_ids(), ["orchard", "bakery"]);
    d.keys("^U");
    assert_eq!(d.table_ids().len(), 8, "an empty line is no filter");
    d.keys("'correct:true colour:red'");
    assert_eq!(d.table_ids(), taken, "a text that is no filter shows the rows of the last one");
    d.keys("Esc y");
    assert_eq!(d.app.table.filter_text, "kind:procedural");
}

#[test]
fn a_number_before_tab_leads_to_a_pane() {
    let mut d = Drive::runs();
    d.keys("j Enter").shows(&["1 Steps", "2 Global state", "3 Findings"]);
    d.keys("3 Tab");
    assert_eq!(pane(&d), RunPane::Findings);
    d.keys("7 Tab");
    assert_eq!(pane(&d), RunPane::Question);
    d.keys("6 Tab");
    assert_eq!((pane(&d), d.status().as_str()), (RunPane::Question, "no pane has this number here"));
}

#[test]
fn the_next_value_of_the_same_object_is_one_key_away() {
    let mut d = Drive::runs();
    d.keys("Enter J L g l");
    let row = |d: &Drive| d.app.screens.record().and_then(|view| view.outline.current()).unwrap();
    let first = row(&d);
    d.keys("]");
    let next = row(&d);
    assert!(next.depth == first.depth && next.place == first.place + 1, "{next:?}");
    d.keys("[");
    assert_eq!(row(&d).node, first.node);
    d.keys("[");
    assert_eq!(d.status(), "this is the first value here");
}

#[test]
fn filtering_by_columns_and_by_text() {
    let mut d = Drive::runs();
    d.keys("f 'correct:true' Enter");
    assert_eq!(d.table_ids(), ["orchard", "market", "bakery"]);
    d.shows(&["3 of 8", "filter correct:true"]);
    d.keys("f 'steps>2' Enter");
    assert_eq!(d.table_ids(), ["orchard"], "a filter is added to");
    d.keys("Esc");
    d.shows(&["8 records"]);
    d.keys("f 'rule:unused,unresolved' Enter");
    assert_eq!(d.table_ids(), ["ferry"]);
    d.keys("Esc f '-kind:procedural,unknown' Enter");
    assert_eq!(d.table_ids(), ["market", "tower", "", ""]);
    d.keys("Esc f 'trips' Enter");
    assert_eq!(d.table_ids(), ["ferry"], "a bare word is looked for in the text");
    d.keys("Esc f 'text:\"9 floors\"' Enter");
    assert_eq!(d.table_ids(), ["tower"]);
    d.keys("Esc f 'id:bak' Enter");
    assert_eq!(d.table_ids(), ["bakery"]);
    d.keys("Esc f 'nothing-like-this' Enter");
    d.shows(&["0 of 8", "no record matches the filter; Esc clears it"]);
    d.keys("Enter");
    assert_eq!(d.status(), "no record here");
    d.keys("e");
    assert_eq!(d.status(), "no records");
    d.keys("Esc");
    assert_eq!(d.table_ids().len(), 8);
}

#[test]
fn a_filter_that_is_not_understood_says_why() {
    let mut d = Drive::runs();
    d.keys("f 'steps>x' Enter");
    d.shows(&["steps needs a number, as in steps>4", "filter: steps>x"]);
    d.keys("^U 'colour:red' Enter");
    d.shows(&["unknown field"]);
    d.keys("^U 'text:\"open' Enter");
    d.shows(&["missing closing quote"]);
    d.keys("^U 'correct:maybe' Enter");
    d.shows(&["takes true, false, unknown"]);
    d.keys("^W 'correct:false' Enter");
    assert_eq!(d.table_ids(), ["ferry"]);
    // Esc keeps the filter that is in force.
    d.keys("f 'rubbish:' Esc y");
    assert_eq!(d.table_ids(), ["ferry"]);
    d.keys("f ^U Enter");
    assert_eq!(d.table_ids().len(), 8, "an empty filter is none");
}

#[test]
fn a_half_typed_filter_is_never_lost() {
    let mut d = Drive::runs();
    for half in ["corr:", "correct:", "rule:nope", "steps>", "conf>=.", "kind:procedurally", "fitness"] {
        d.keys("f ^U");
        d.keys(&format!("'{half}' Enter"));
        let kept = d.footer().contains(half) || d.app.table.filter_text == half;
        assert!(kept, "{half} was thrown away: {}\n{}", d.status(), d.screen());
        d.keys("Esc Esc");
        d.keys("f ^U Enter");
    }
}

#[test]
fn tab_completes_the_filter() {
    let mut d = Drive::runs();
    d.keys("f 'corr' Tab");
    d.shows(&["filter: correct:"]);
    d.keys("'f' Tab");
    d.shows(&["filter: correct:false"]);
    d.keys("Enter");
    assert_eq!(d.table_ids(), ["ferry"]);
    d.keys("Esc f 'rule:procedure/' Tab");
    let rules = stepscope_judge::rules::RULES.iter().map(|rule| rule.id.word());
    let rules: Vec<String> =
        rules.filter(|id| id.starts_with("procedure/")).map(|id| format!("filter: rule:{id}")).collect();
    d.shows(&[&rules[0], "Tab completes"]);
    d.keys("Tab");
    d.shows(&[&rules[1]]);
    d.keys("S-Tab S-Tab");
    d.shows(&[rules.last().unwrap()]);
    d.keys("^U 'rule:procedure/unused' Enter");
    assert_eq!(d.table_ids(), ["ferry"]);
    d.keys("Esc f 'steps>1 -kind:base' Tab");
    d.shows(&["filter: steps>1 -kind:baseline"]);
    d.keys("Enter");
    assert_eq!(d.table_ids(), ["orchard", "ferry", "bakery"]);
}

#[test]
fn finding_in_the_table_visits() {
    let (_folder, mut d) = Drive::text(numbered(60));
    d.keys("/ 'pears' Enter");
    assert_eq!(at(&d), 3);
    assert_eq!(d.status(), "match 1 of 6 · record 4 · question");
    for (keys, row) in [("n", 13), ("n n", 33), ("N", 23), ("2n", 43), ("g N", 53), ("n", 3)] {
        d.keys(keys);
        assert_eq!(at(&d), row, "{keys}");
    }
    assert_eq!(d.status(), "match 1 of 6 · record 4 · question · wrapped to the top");
    d.keys("N");
    assert_eq!(d.status(), "match 6 of 6 · record 54 · question · wrapped to the bottom");
    d.keys("k");
    d.shows(&["/pears  6 records"]);
    d.keys("j");
    d.shows(&["/pears  match 6 of 6"]);
    d.keys("/ 'nowhere' Enter");
    assert_eq!(d.status(), "No match for \"nowhere\"");
    d.keys("Esc");
    d.hides(&["nowhere"]);
    d.keys("n");
    assert_eq!(d.status(), "no search yet; / searches");
}

#[test]
fn finding_goes_by_the_rows_on_screen() {
    let (_folder, mut d) = Drive::text(numbered(40));
    d.keys("~ g / 'pears' Enter");
    assert_eq!(d.app.table.record(at(&d)), Some(33), "the first one down the screen\n{}", d.screen());
    d.keys("n");
    assert_eq!(d.app.table.record(at(&d)), Some(23));
    d.keys("N");
    assert_eq!(d.app.table.record(at(&d)), Some(33));
}

#[test]
fn find_lands_on_the_first_match_below_the_cursor_in_what_a_person_sees() {
    let schema = r#"{"properties": {"pears": {"title": "pears"}}}"#;
    let run = |n: usize| {
        let fruit = if n % 500 == 499 { "pears" } else { "plums" };
        let step = r#"{"id": 1, "inputs": [], "stepDescription": "Count", "output": [{"name": "final_answer", "description": "count"}]}"#;
        let call = format!(r#"{{"step_index": 0, "schema": {schema}, "outputs": {{"final_answer": "{n} {fruit}"}}}}"#);
        let padding = "x".repeat(900);
        format!(
            r#"{{"id": {n}, "question": "How many?", "procedure": {{"NameDescription": "{padding}", "steps": [{step}]}}, "state": {{}}, "trace": {{"version": 1, "steps": [{call}]}}}}"#
        )
    };
    let (_folder, mut d) = Drive::text((0..6_000).map(run).collect::<Vec<_>>().join("\n"));
    for _ in 0..3 {
        // The same match each time, whichever thread is faster.
        for (keys, record) in [("700G", 1_000), ("5600G", 6_000), ("1G", 500)] {
            d.keys(keys).keys("/ 'PEARS' Enter Esc / 'pears' Enter");
            assert_eq!(d.app.table.record(at(&d)), Some(record - 1), "{keys}");
            assert!(d.status().contains(&format!("record {record} · step 1, final_answer")), "{}", d.status());
        }
        d.keys("n n");
        assert_eq!(d.app.table.record(at(&d)), Some(1_499));
        assert_eq!(d.status(), "match 3 of 12 · record 1500 · step 1, final_answer");
    }
    d.keys("~ g / 'pears' Enter");
    assert_eq!(d.app.table.record(at(&d)), Some(5_999), "down the screen");
    d.keys("~ n");
    assert_eq!(d.app.table.record(at(&d)), Some(499), "the same matches in the new order, round the end");
    d.keys("f 'id:77' Enter");
    d.keys("n");
    assert_eq!(d.status(), "No match for \"pears\" in the listed records; 12 matches are filtered out");
}

#[test]
fn a_find_does_not_end_the_filters_search() {
    let (_folder, mut d) = Drive::text(numbered(60));
    d.hold = true;
    d.keys("f 'plums' Enter / 'Question 5' Enter");
    d.release();
    assert!(d.app.table.filtering.as_ref().unwrap().done && !d.app.table.finding.as_ref().unwrap().running);
    d.shows(&["54 of 60"]);
}

#[test]
fn findings_lead_from_record_to_record() {
    let mut d = Drive::runs();
    d.keys("e");
    assert_eq!(at(&d), 1);
    d.keys("e e");
    assert_eq!(at(&d), 4);
    d.keys("E");
    assert_eq!(at(&d), 3);
    d.keys("g 2e");
    assert_eq!(at(&d), 3, "with a count, so many further");
    d.keys("g j Enter 3e");
    d.shows(&["Findings  2/8"]);
    d.keys("2E");
    d.shows(&["Findings  8"]);
}

// The run.

#[test]
fn opening_a_run_and_walking_it() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    d.shows(&["2/8", "step 4/4", "✗ wrong", "expected 72", "answer 48 cars", "Ferry trips", "after step 4"]);
    d.keys("[");
    d.shows(&["step 3/4", "after step 3", "■ 3 Add all trips."]);
    d.keys("9[");
    d.shows(&["step 0/4", "before step 1", "only the question is known"]);
    d.keys("]");
    d.shows(&["step 1/4", "Step 1"]);
    d.keys("2]");
    assert_eq!(moment(&d), 3);
    d.keys("99]");
    assert_eq!(moment(&d), 4);
    d.keys("h");
    assert_eq!(moment(&d), 3);
    d.keys("l g");
    assert_eq!(moment(&d), 1);
    d.keys("G k");
    assert_eq!(moment(&d), 3);
    d.keys("}");
    d.shows(&["3/8", "baseline", "no procedure: one model call"]);
    d.keys("{ {");
    d.shows(&["1/8"]);
    d.keys("{");
    assert_eq!(d.status(), "this is the first record");
    d.keys("99}");
    d.shows(&["8/8"]);
    d.keys("}");
    assert_eq!(d.status(), "this is the last record");
    d.keys("q");
    assert_eq!((d.app.screens.top(), at(&d)), (ScreenKind::Table, 7));
}

/// Its frame waits a moment for the record, so that there is one frame and not two.
#[test]
fn the_next_record_is_awaited() {
    let mut d = Drive::runs();
    d.keys("Enter");
    let key = Input::Key(KeyCode::Char('}').into());
    let effects = d.app.update(Event::Input(key).into(), d.now);
    assert!(effects.iter().any(Work::is_awaited) && !effects.iter().any(Work::saves), "{effects:?}");
}

#[test]
fn lifelines_show_every_life() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    for (name, row) in [
        ("problem_text", "◆──○"),
        ("cars", "◆────────○"),
        ("morning", "◆──○──◇"),
        ("colour", "◇"),
        ("evening", "◆──○"),
        ("wind", "?"),
        ("trips", "◆──○"),
        ("final_answer", "◆"),
    ] {
        assert_eq!(life(&d, name), row, "{name}\n{}", d.screen());
    }
    assert!(state_row(&d, "morning").starts_with("! morning"), "{}", state_row(&d, "morning"));
    assert!(state_row(&d, "wind").starts_with("■ wind"));
    assert!(state_row(&d, "evening").contains("3 * 2") && state_row(&d, "evening").contains(" inf "));
    assert!(state_row(&d, "morning").contains(" amb "));
    // One column per step, under its number.
    let (q, _) = d.find("q  1  2  3  4");
    assert_eq!(d.find("◆──○──◇").0, q + 3);
    let wind = state_row(&d, "wind");
    let ahead = wind.chars().position(|c| c == '?').unwrap() as u16;
    assert_eq!(variable_at(&d, "wind").0 - 2 + ahead, q + 9);
    d.keys("[ [ [");
    assert!(state_row(&d, "cars").contains(" 8 "));
    assert!(!state_row(&d, "evening").contains("3 * 2"), "what is not yet written is blank");
    assert_eq!(life(&d, "evening"), "◆──○", "but not absent");
}

#[test]
fn time_travel_dims_what_lies_ahead() {
    let mut d = Drive::runs();
    d.keys("j Enter 9[ 2]");
    let (q, y) = d.find("q  1  2  3  4");
    let row = variable_at(&d, "cars").1;
    assert!(row > y);
    assert_eq!(d.colour_at(q + 3, row), d.colour(Role::Write), "step 1 has been");
    assert_eq!(d.colour_at(q + 12, row), d.colour(Role::Ghost), "step 4 is still to come");
    assert_eq!(d.style_of("3 Add all trips.").fg, d.style_of("1 Read").fg, "the numbers stay");
    assert_eq!(d.style_of("Add all trips.").fg, Some(d.colour(Role::Ghost)));
    assert_eq!(d.style_of("Read the numbers.").fg, Some(d.colour(Role::Text)));
    let (x, y) = d.find("q  1  2  3  4");
    let heading = d.style_of("q  1  2  3  4");
    assert!(!heading.add_modifier.contains(Modifier::UNDERLINED));
    assert_eq!(d.colour_at(x + 6, y), d.colour(Role::Current));
}

#[test]
fn a_chosen_variable_dims_what_cannot_influence_it() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    let ghost = d.colour(Role::Ghost);
    let names = ["problem_text", "cars", "morning", "colour", "evening", "trips"];
    let dim = |d: &Drive| {
        let dim = names.iter().filter(|name| {
            let (x, y) = variable_at(d, name);
            d.colour_at(x, y) == ghost
        });
        dim.copied().collect::<Vec<_>>()
    };
    assert!(dim(&d).is_empty(), "nothing is dim before the state has the keys");
    d.keys("Tab g 3j");
    assert_eq!(dim(&d), ["cars", "morning", "evening", "trips"], "colour comes from problem_text alone");
    d.keys("j");
    assert_eq!(dim(&d), ["cars", "colour", "trips"], "evening comes from morning");
    d.keys("Tab");
    assert!(dim(&d).is_empty());
}

#[test]
fn writer_and_readers_are_a_key_away() {
    let mut d = Drive::runs();
    d.keys("j Enter Tab g j");
    assert!(d.status().starts_with("cars: written by step 1, read by step 4"), "{}", d.status());
    d.keys("w");
    assert_eq!(moment(&d), 1);
    d.keys("W");
    assert_eq!(moment(&d), 4);
    d.keys("j W");
    assert!(d.status().starts_with("morning: written by steps 1, 3, read by steps 2, 3"), "{}", d.status());
    assert_eq!(moment(&d), 2, "round and round");
    d.keys("W");
    assert_eq!(moment(&d), 3);
    d.keys("3j w");
    assert_eq!(d.status(), "no known writer");
    d.keys("2j W");
    assert_eq!(d.status(), "read by no step");
}

#[test]
fn the_difference_of_two_moments() {
    let mut d = Drive::runs();
    d.keys("j Enter [ d");
    d.shows(&["Difference  after step 2 → after step 3"]);
    let mark = |d: &Drive, name: &str| {
        let row = state_row(d, name);
        ["= ", "≠ ", "+ ", "≡ "].into_iter().find(|mark| row.contains(&format!(" {mark}"))).unwrap_or("").trim_end()
    };
    assert_eq!([mark(&d, "cars"), mark(&d, "morning"), mark(&d, "trips")], ["=", "≠", "+"]);
    d.keys("]");
    d.shows(&["Difference  after step 2 → after step 4"]);
    d.keys("9[");
    d.shows(&["Difference  before step 1 → after step 2"]);
    d.keys("Esc");
    d.shows(&["Global state  before step 1"]);
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.keys("d");
    d.keys("d");
    d.shows(&["Global state"]);
}

#[test]
fn findings_are_walked_and_lead_to_the_record() {
    let mut d = Drive::runs();
    d.keys("j Enter e");
    assert_eq!((pane(&d), moment(&d)), (RunPane::Findings, 4), "the argument first");
    d.shows(&["Findings  8"]);
    assert!(d.status().contains("recomputing it gives the expected 72"), "{}", d.status());
    d.keys("e");
    d.shows(&["Findings  1/8", "run/recompute"]);
    d.keys("3e");
    d.shows(&["Findings  4/8", "step 3/4"]);
    assert!(d.status().contains("Input 'wind' of Step 3"), "{}", d.status());
    d.keys("e e");
    d.shows(&["Findings  6/8", "step 1/4"]);
    d.keys("3e");
    d.shows(&["Findings  8"]);
    d.keys("E");
    d.shows(&["Findings  8/8"]);
    d.keys("6e Enter");
    assert_eq!(d.app.screens.top(), ScreenKind::Json);
    assert!(d.status().starts_with("/procedure/steps/2/inputs/2/name  ■ Input 'wind'"), "{}", d.status());
    d.shows(&["name: \"wind\"  ← Input 'wind' of Step 3"]);
    let style = d.style_of("\"wind\"");
    assert!(style.add_modifier.contains(Modifier::UNDERLINED));
    d.keys("e");
    assert!(d.status().starts_with("/procedure/steps/2/output/1/name"), "in the order of the list: {}", d.status());
    d.keys("q");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.shows(&["Findings  5/8"]);
}

#[test]
fn panes_take_turns_and_fill_the_screen() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    let mut seen = Vec::new();
    for _ in 0..RunPane::ALL.len() - 4 {
        seen.push(pane(&d));
        d.keys("Tab");
    }
    // The third column and the worked answer have room on wider screens only; its prompts are texts, and there are no peers.
    let only_wide = |pane: &RunPane| matches!(pane, RunPane::Call | RunPane::Worked);
    let is_here = |pane: &RunPane| !only_wide(pane) && !matches!(pane, RunPane::Messages | RunPane::Peers);
    assert_eq!(seen, RunPane::ALL.into_iter().filter(is_here).collect::<Vec<_>>());
    assert_eq!(pane(&d), RunPane::Steps);
    d.keys("S-Tab");
    assert_eq!(pane(&d), RunPane::Question);
    d.keys("Z");
    d.hides(&["Global state", "Findings"]).shows(&["Question"]);
    // Alone on the screen there is room for the worked answer too.
    d.keys("Tab");
    d.shows(&["8 Expected answer (gold)"]).hides(&["Question"]);
    d.keys("Tab");
    d.shows(&["Steps  Ferry trips"]).hides(&["Question"]);
    d.keys("Esc");
    d.shows(&["Global state", "Findings", "Question"]);
    d.keys("Enter");
    assert_eq!(pane(&d), RunPane::Step, "Enter on a step goes into it");
    // The way of looking is kept from record to record.
    d.keys("} {");
    assert_eq!(pane(&d), RunPane::Step);
}

#[test]
fn the_timeline_shows_costs_and_the_first_divergence() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(std::slice::from_ref(&samples));
    d.resize(80, 24).keys("4j Enter").hides(&["Timeline"]);
    d.keys("Tab Tab Tab Tab");
    assert_eq!(pane(&d), RunPane::Timeline);
    d.shows(&["Timeline  first difference: step 2  6.8 s  1,296 tokens", "12 ≠ 360", "311 → 25"]);
    assert!(d.status().contains("final_answer: recorded 12.12.2021 + 25.33, recomputed 385"), "{}", d.status());
    // Its rows are the steps.
    d.keys("k k");
    assert_eq!(moment(&d), 2);
    d.resize(120, 36).shows(&["Timeline  first difference: step 2  6.8 s"]);
    d.keys("Enter");
    assert_eq!(pane(&d), RunPane::Step);
}

#[test]
fn a_recorded_text_is_not_said_to_be_the_recomputed_number() {
    let (_folder, mut d) = Drive::text(
        r#"{"id": 1, "question": "Ann has 3 apples and buys 4. How many?", "gold_num": 7, "status": "ok",
        "mode": "procedural", "procedure": {"NameDescription": "n", "steps": [
        {"id": 1, "inputs": [{"name": "problem_text", "description": "t"}], "stepDescription": "Extract the numbers",
         "output": [{"name": "had", "description": "d"}, {"name": "bought", "description": "d"}]},
        {"id": 2, "inputs": [{"name": "had", "description": "d"}, {"name": "bought", "description": "d"}],
         "stepDescription": "Compute all = had + bought", "output": [{"name": "all", "description": "d"}]},
        {"id": 3, "inputs": [{"name": "all", "description": "d"}], "stepDescription": "Compute final_answer = all",
         "output": [{"name": "final_answer", "description": "d"}]}]},
        "state": {"problem_text": "t", "had": 3, "bought": 4, "all": "a few", "final_answer": 7,
         "final_answer_numerical": 7}}"#
            .replace('\n', " "),
    );
    d.resize(120, 36).keys("Enter");
    d.shows(&["Timeline  not comparable: 1 of 2", "a few  recomputed 7"]).hides(&["recorded = recomputed"]);
    d.keys("5 Tab k");
    assert!(d.status().contains("all: recorded a few, which is no number; recomputed 7"), "{}", d.status());
}

/// A run in three steps: it reads apples, bags and apples a bag, and answers.
fn apples(bags: u32, answer: &str, number: u32) -> String {
    let all = 12 + bags * 4;
    format!(
        r#"{{"id": 1, "question": "Lin has 12 apples and buys 3 bags with 4 apples each. How many apples does she have?", "gold_num": 24,
        "status": "ok", "mode": "procedural", "procedure": {{"NameDescription": "n", "steps": [
        {{"id": 1, "inputs": [{{"name": "problem_text", "description": "t"}}], "stepDescription": "Extract the numbers",
         "output": [{{"name": "apples", "description": "d"}}, {{"name": "bags", "description": "d"}}, {{"name": "per_bag", "description": "d"}}]}},
        {{"id": 2, "inputs": [{{"name": "apples", "description": "d"}}, {{"name": "bags", "description": "d"}}, {{"name": "per_bag", "description": "d"}}],
         "stepDescription": "Compute all = apples + bags * per_bag", "output": [{{"name": "all", "description": "d"}}]}},
        {{"id": 3, "inputs": [{{"name": "all", "description": "d"}}], "stepDescription": "State all",
         "output": [{{"name": "final_answer", "description": "d"}}]}}]}},
        "state": {{"problem_text": "t", "apples": 12, "bags": {bags}, "per_bag": 4, "all": {all}, "final_answer": "{answer}",
         "final_answer_numerical": {number}}}, "pred_num": {number}, "correct": false}}"#
    )
    .replace('\n', " ")
}

#[test]
fn what_one_corrected_number_gives_is_not_said_to_be_recomputed() {
    let (_folder, mut d) = Drive::text(apples(7, "40", 40));
    d.resize(120, 36).keys("Enter");
    d.shows(&["corrected 24", "With bags = 3 instead of 7"]).hides(&["recomputed 24"]);
    // The 7 stands nowhere in the question.
    d.keys("G 2 Tab g G k p");
    d.shows(&["bags = 7   (step 1, as the run has it)", "apples = 12   (step 1, from the question)"]);
}

/// A run in forty steps, each two more than the one before; from step 17 on all of them are wrong.
fn forty_steps() -> String {
    let output = |name: &str| format!(r#"{{"name": "{name}", "description": "d"}}"#);
    let step = |n: usize| match n {
        1 => format!(
            r#"{{"id": 1, "inputs": [{}], "stepDescription": "Extract the number (120)", "output": [{}]}}"#,
            output("problem_text"),
            output("a_1")
        ),
        40 => format!(
            r#"{{"id": 40, "inputs": [{}], "stepDescription": "State a_39", "output": [{}]}}"#,
            output("a_39"),
            output("final_answer")
        ),
        _ => format!(
            r#"{{"id": {n}, "inputs": [{}], "stepDescription": "Calculate a_{n} = a_{} + 2", "output": [{}]}}"#,
            output(&format!("a_{}", n - 1)),
            n - 1,
            output(&format!("a_{n}"))
        ),
    };
    let value = |n: usize| 118 + 2 * n - if n >= 17 { 30 } else { 0 };
    let steps: Vec<String> = (1..=40).map(step).collect();
    let state: Vec<String> = (1..40).map(|n| format!(r#""a_{n}": {}"#, value(n))).collect();
    format!(
        r#"{{"id": 1, "question": "The first sells 120, each later one 2 more. How many does number 39 sell?", "gold_num": 196,
        "status": "ok", "mode": "procedural", "procedure": {{"NameDescription": "n", "steps": [{}]}},
        "state": {{"problem_text": "t", {}, "final_answer": "{last}", "final_answer_numerical": {last}}}, "pred_num": {last},
        "correct": false}}"#,
        steps.join(", "),
        state.join(", "),
        last = value(39)
    )
    .replace('\n', " ")
}

#[test]
fn of_many_steps_the_timeline_shows_where_they_leave_the_plan() {
    let (_folder, mut d) = Drive::text(forty_steps());
    for size in [(120, 36), (200, 60)] {
        d.resize(size.0, size.1).keys("Enter");
        let lines = d.lines();
        let title = lines.iter().position(|line| line.contains("first difference: step 17")).unwrap();
        let column = lines[title].chars().position(|c| c == '5').unwrap();
        let row = |line: &String| line.chars().skip(column).take_while(|c| !"│┃├┤".contains(*c)).collect::<String>();
        let rows: Vec<String> = lines[title + 1..].iter().map(row).take_while(|row| !row.contains('─')).collect();
        assert!(rows.len() >= 8 && rows.iter().any(|line| line.contains("≠ 152")), "{size:?}\n{}", d.screen());
        // The argument is there in full.
        d.shows(&["The plan is right"]).hides(&["Step 17 sh…", "but wrote …"]);
        d.keys("5 Tab k").shows(&["❯16"]);
        d.keys("1 Tab q");
    }
}

#[test]
fn findings_that_say_the_same_share_a_line_with_the_letters_of_their_items() {
    let item = |n: u8| format!(r#"{{"text": "t{n}", "spans": [{{"line_start": {n}, "line_end": {n}}}]}}"#);
    let items: Vec<String> = (1..5).map(item).collect();
    let record = format!(
        r#"{{"format": "stepscope.answer_trace", "version": 1, "question": "Which?", "answer": {{"answer_found": true, "extraction_method": "verbatim", "items": [{}]}}}}"#,
        items.join(", ")
    );
    let (_folder, mut d) = Drive::text(record);
    d.resize(200, 60).keys("Enter").shows(&["span/verbatim_without_quote → reject  A B C D  "]);
    let rule = |d: &Drive| d.lines().iter().filter(|line| line.contains("span/verbatim_without_quote")).count();
    assert_eq!(rule(&d), 1, "{}", d.screen());
    // The cursor reaches each of them all the same.
    let mut places = HashSet::new();
    d.keys("4 Tab g");
    for _ in 0..20 {
        d.keys("j");
        places.extend(d.lines().iter().rev().take(3).filter(|line| line.contains("/items/")).cloned());
    }
    assert!(places.len() >= 4, "{places:?}");
}

#[test]
fn a_wrong_step_of_a_correct_run_is_told_in_the_findings_too() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    d.resize(120, 36).keys("5j Enter").shows(&[
        "✓ correct   • 2 ≠ step 2",
        "first difference: step 2",
        "120  should be 600",
    ]);
    d.shows(&["Step 2 wrote 120 for all_places, should be 600; the answer is right"]);
    d.keys("}").hides(&["all the same."]);
}

#[test]
fn a_long_answer_leaves_room_for_the_numbers_that_it_is_compared_with() {
    let answer = "After everything was counted she has 40 apples left over, in the cellar of the long house";
    let (_folder, mut d) = Drive::text(apples(7, answer, 40));
    for size in [(80, 24), (120, 36), (200, 60)] {
        d.resize(size.0, size.1).keys("Enter");
        let title = d.lines().into_iter().find(|line| line.contains("Question")).unwrap();
        assert!(title.contains("expected 24") && title.contains("corrected 24"), "{size:?}\n{}", d.screen());
        d.keys("q");
    }
}

#[test]
fn no_number_of_the_table_is_cut_to_another_one() {
    let row = |id: u8, answer: &str, expected: &str| {
        let text = apples(3, "24", 24).replace("{\"id\": 1, \"question\"", &format!("{{\"id\": {id}, \"question\""));
        let text = text.replace("\"pred_num\": 24", &format!("\"pred_num\": {answer}"));
        text.replace("\"gold_num\": 24", &format!("\"gold_num\": {expected}"))
    };
    let rows = [row(1, "1234567890123.5", "1234567890124.0"), row(2, "123456789.125", "123456788")];
    let (_folder, mut d) = Drive::text(rows.join("\n"));
    d.resize(80, 24).shows(&["1.23457e12 1.23457e12", "123456789  123456788"]);
    for size in [(120, 36), (200, 60)] {
        d.resize(size.0, size.1).shows(&["1234567890123.5 1234567890124.0", "123456789.125       123456788"]);
    }
}

#[test]
fn text_and_number_of_the_answer_are_compared_each_by_itself() {
    let (_folder, mut d) = Drive::text(apples(3, "She has 24 apples.", 42));
    d.resize(120, 36).keys("Enter");
    d.shows(&["42  should be 24"]).hides(&["apples. should be", "apples.  should be"]);
    let (_folder, mut d) = Drive::text(apples(3, "She has 42 apples.", 24));
    d.resize(120, 36).keys("Enter");
    d.shows(&["42 apples.", "should be 24"]).hides(&["24  should be"]);
}

#[test]
fn values_are_all_inferred_only_where_no_step_recorded_one() {
    let inferred = apples(3, "24", 24);
    let (_folder, mut d) = Drive::text(&inferred);
    d.resize(120, 36).keys("Enter").shows(&["all inferred"]);
    let step = r#""trace": {"steps": [{"step_index": 1, "inputs": {"apples": 12}, "outputs": {"all": 24}}]}, "state""#;
    let (_folder, mut d) = Drive::text(inferred.replace("\"state\"", step));
    d.resize(120, 36).keys("Enter").hides(&["all inferred"]);
}

#[test]
fn a_step_that_kept_its_value_after_an_override_is_out_of_date() {
    let (_folder, mut d) = Drive::text(apples(3, "42", 42));
    d.resize(120, 36).keys("Enter g 2 Tab g j j v ^u 5 Enter s s");
    d.until(|app| app.store.len() > 1).keys(")");
    d.shows(&["out of date Compute all", "out of date State all", "The answer is out of date"]);
    d.hides(&["step to fix", "Fix: model output"]);
}

#[test]
fn borders_show_where_citations_and_findings_are() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let mut d = Drive::open(std::slice::from_ref(&samples));
    d.resize(120, 36).keys("18j Enter");
    // Thirteen pages: one cited wrongly, four rightly.
    d.shows(&["┴─pages ▁▁▁▁▁◑▁◉◉◉▁▁◉──"]);
    let (x, y) = d.find("▁▁▁▁▁◑▁◉◉◉▁▁◉");
    d.click(x + 12, y);
    d.shows(&["page 13/13"]);
    // On a narrow screen they share their line with a title.
    d.resize(80, 24).keys("1 Tab g").shows(&["3 Citation  F ──pages ▁▁▁▁▁◑▁◉◉◉▁▁◉──"]);
    let (x, y) = d.find("▁▁▁▁▁◑▁◉◉◉▁▁◉");
    d.click(x + 12, y);
    d.shows(&["page 13/13"]);
    d.click_on("3 Citation");
    d.shows(&["page 13/13"]);
    d.resize(120, 36).keys("J g");
    let border: String = d.lines().iter().filter_map(|line| line.chars().last()).collect();
    assert!(border.contains('▲') && border.contains('!'), "{border}");
}

#[test]
fn every_pane_has_its_place_on_a_narrow_screen() {
    let mut d = Drive::runs();
    d.resize(80, 24).keys("j Enter");
    d.shows(&["Question", "Steps", "Global state", "Findings"]);
    d.keys("Tab Tab Tab");
    assert_eq!(pane(&d), RunPane::Step);
    d.shows(&["Step 4  [data]", "Steps", "Global state"]).hides(&["Findings"]);
}

#[test]
fn the_pane_that_has_the_keys_is_on_screen_however_small_that_is() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    for size in [(40, 10), (60, 8), (120, 9)] {
        d.resize(size.0, size.1);
        for _ in 0..7 {
            d.keys("Tab");
            let title = pane(&d).word();
            assert!(d.lines().iter().any(|line| line.contains(title)), "{title} at {size:?}\n{}", d.screen());
        }
    }
}

#[test]
fn a_question_with_the_marks_of_its_numbers_is_whole() {
    let output = |name: &str| format!(r#"{{"name": "{name}", "description": "d"}}"#);
    let step = |id: u8, reads: &str, writes: &[&str]| {
        let writes: Vec<String> = writes.iter().map(|name| output(name)).collect();
        format!(
            r#"{{"id": {id}, "inputs": [{}], "stepDescription": "Do it", "output": [{}]}}"#,
            output(reads),
            writes.join(", ")
        )
    };
    let record = format!(
        r#"{{"id": "a", "question": "Lin has 12 apples and buys 3 bags with 4 apples each. How many apples does she have?",
        "procedure": {{"NameDescription": "n", "steps": [{}, {}]}},
        "state": {{"apples": 12, "bags": 3, "per_bag": 4, "final_answer": "24"}}}}"#,
        step(1, "problem_text", &["apples", "bags", "per_bag"]),
        step(2, "apples", &["final_answer"])
    );
    let (_folder, mut d) = Drive::text(record.replace('\n', ""));
    d.resize(90, 26).keys("Enter").shows(&["12¹ apples", "4³ apples", "does she", "have?"]);
}

#[test]
fn a_value_opens_in_full() {
    let mut d = Drive::runs();
    d.keys("j Enter Tab g Enter");
    d.shows(&["problem_text  Esc closes", "How many cars cross?"]);
    d.keys("y v");
    assert_eq!(
        d.copied,
        [
            "A ferry takes 8 cars a trip and makes 3 trips before noon and twice as many after noon. How many cars cross?"
        ]
    );
    d.keys("Esc");
    assert!(d.app.screens.dialog.is_none());
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.keys("S-Tab S-Tab Enter");
    d.shows(&["question  Esc closes"]);
    d.keys("q");
    assert!(d.app.screens.dialog.is_none() && d.quit.is_none());
}

#[test]
fn a_long_popup_scrolls_and_stops_at_its_end() {
    let words = (0..600).map(|n| format!("word{n}")).collect::<Vec<_>>().join("\\n");
    let (_folder, mut d) = Drive::text(format!(
        "{{\"question\": \"q\", \"mode\": \"baseline\", \"state\": {{\"final_answer\": \"{words}\"}}}}\n"
    ));
    d.keys("Enter Enter");
    d.shows(&["word0"]);
    d.keys("PgDn");
    d.hides(&["word0 "]);
    d.keys("G");
    d.shows(&["word599"]);
    d.keys("9999j k k");
    d.hides(&["word599"]);
    d.keys("G");
    d.resize(120, 60);
    d.shows(&["word599", "word560"]);
    d.keys("g");
    d.shows(&["word0"]);
    d.resize(60, 4).keys("PgDn");
    assert!(!d.screen().contains("word0 "), "a page is at least a line\n{}", d.screen());
}

#[test]
fn finding_text_in_a_run() {
    let mut d = Drive::runs();
    d.keys("j Enter / 'noon' Enter");
    assert_eq!(pane(&d), RunPane::Question);
    assert!(d.status().starts_with("1 of "), "{}", d.status());
    d.keys("n");
    assert_eq!(pane(&d), RunPane::State);
    d.keys("N N");
    let status = d.status();
    let (at, count) = status.split_once(" of ").unwrap();
    assert_eq!(at, count);
    d.keys("J n");
    assert!(d.status().starts_with("1 of "), "the record has places of its own: {}", d.status());
    d.keys("J / 'zebra' Enter");
    assert_eq!(d.status(), "No match for \"zebra\"");
    d.keys("n");
    assert_eq!(d.status(), "No match for \"zebra\"");
}

#[test]
fn a_search_of_the_table_goes_on_in_the_record() {
    let mut d = Drive::runs();
    d.keys("/ 'noon' Enter").wait_for(|app| app.table.finding.as_ref().is_some_and(|finding| !finding.running));
    d.keys("Enter");
    assert_eq!((pane(&d), d.status().starts_with("1 of ")), (RunPane::Question, true), "{}", d.status());
    d.keys("/ 'zebra' Enter n");
    assert_eq!(d.status(), "No match for \"zebra\"", "the record's own search goes first");
}

#[test]
fn counts_of_all_records_are_not_those_of_a_filter() {
    let mut d = Drive::runs();
    assert!(d.header().contains("with findings: ■ 2"), "{}", d.header());
    d.keys("f 'kind:procedural' Enter");
    assert!(d.header().contains("3 of 8") && d.header().contains("   in all: ■ 2"), "{}", d.header());
    d.keys("I").shows(&["Insights  8 records; the filter does not apply here"]);
    d.keys("q Esc I").hides(&["the filter"]);
}

#[test]
fn a_record_that_a_filter_hides_has_no_place_among_the_others() {
    let (_folder, mut d) = Drive::text(numbered(10));
    d.keys("4j Enter");
    assert!(d.header().contains("▸ 5/10 ▸"), "{}", d.header());
    d.app.table.filter_text.clear();
    let effects = d.app.set_filter("correct:true");
    for effect in effects {
        d.effect(effect);
    }
    d.draw();
    assert!(d.header().contains("▸ filtered out ▸"), "{}", d.header());
}

#[test]
fn where_to_fix_is_said_even_if_the_record_does_not_tell() {
    let wrong = r#"{"id": "a", "question": "What is it?", "gold_num": 2, "state": {"final_answer": "5"}, "pred_num": 5, "correct": false}"#;
    let (_folder, mut d) = Drive::text(wrong);
    d.keys("Enter");
    assert!(d.header().contains("Fix: unknown  "), "{}", d.header());
}

// The record as JSON.

#[test]
fn the_record_as_json_folds_and_opens() {
    let mut d = Drive::runs();
    d.keys("7j Enter");
    assert_eq!(d.app.screens.top(), ScreenKind::Json);
    d.shows(&["▾ weather: {…} 2 keys", "gust: true", "big: 18446744073709551616"]);
    d.keys("2j Space");
    d.shows(&["▸ weather: {…} 2 keys"]).hides(&["gust"]);
    d.keys("Space l");
    assert!(d.status().starts_with("/weather/wind"), "{}", d.status());
    d.keys("h");
    d.hides(&["gust"]).shows(&["▸ wind: […] 3 items"]);
    d.keys("h h");
    d.shows(&["▸ weather"]);
    d.keys("L");
    d.shows(&["gust: true"]);
    d.keys("H");
    d.shows(&["▸ weather"]);
    d.keys("G");
    assert!(d.status().starts_with("/big"), "{}", d.status());
    d.keys("Enter");
    assert_eq!(d.status().split_whitespace().next(), Some("/big"), "a number has nothing to fold");
}

#[test]
fn finding_text_in_json_opens_what_hides_it() {
    let mut d = Drive::runs();
    d.keys("7j Enter H / 'gust' Enter");
    assert!(d.status().starts_with("1 of 1"), "{}", d.status());
    d.shows(&["gust: true"]);
    d.keys("j k");
    assert_eq!(d.status(), "/weather/wind/2/gust");
    d.keys("/ 'orchard' Enter");
    assert_eq!(d.status(), "1 of 1");
}

#[test]
fn json_and_run_lead_to_each_other() {
    let mut d = Drive::runs();
    d.keys("Enter Tab g 4j J");
    assert_eq!(d.app.screens.top(), ScreenKind::Json);
    d.keys("j k");
    assert_eq!(d.status(), "/state/planted");
    d.keys("J");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.keys("q J");
    assert_eq!(d.app.screens.top(), ScreenKind::Json);
    d.keys("}");
    d.shows(&["2/8", "json"]);
}

// Kinds of records.

#[test]
fn a_baseline_shows_its_reply() {
    let mut d = Drive::runs();
    d.keys("2j Enter");
    d.shows(&["baseline", "✓ correct", "no procedure", "Reply", "{\"final_answer\": \"36 coins\"", "final_answer_num"]);
    d.keys("]");
    assert_eq!(d.status(), "this record has no steps");
    d.hides(&["next step"]);
    d.keys("w");
    assert_eq!(d.status(), "this record has no steps");
}

#[test]
fn an_error_row_says_what_ended_it() {
    let mut d = Drive::runs();
    d.keys("3j Enter");
    d.shows(&[
        "⊘ run failed",
        "ReadTimeout: no answer from the model server",
        "run ended before there was a procedure",
    ]);
}

#[test]
fn an_answer_and_a_broken_record_open_as_text() {
    let mut d = Drive::runs();
    d.keys("5j Enter");
    d.shows(&["answer", "final_answer_numerical: \"seven\"  ← schema validation error"]);
    d.keys("}");
    d.shows(&["7/8", "broken", "This line is no JSON"]);
    d.keys("j G 50j");
    d.shows(&["This line is no JSON"]);
    d.keys("k");
    d.shows(&["This line is no JSON"]);
    d.keys("L H Space h l n");
    d.shows(&["This line is no JSON"]);
}

#[test]
fn a_run_trace_shows_prompt_schema_and_reply() {
    let mut d = Drive::runs();
    d.keys("4j Enter g Enter");
    d.shows(&["trace", "Step 1  [data]", "call", "model       toy:1b", "tokens in   210", "took        812 ms"]);
    d.keys("l");
    d.shows(&["[prompt]", "prompt of step one"]);
    assert_eq!(d.app.screens.record().unwrap().tab, Tab::Prompt);
    d.keys("l");
    d.shows(&["[schema]", "\"required\": ["]);
    d.keys("l");
    d.shows(&["[reply]", "{\"trays\": 5, \"rolls\": 10, \"eaten\": 2}"]);
    d.keys("]");
    d.shows(&["[reply]", "\"final_answer\": \"48 rolls\""]);
    d.keys("l");
    d.shows(&["[data]"]);
    assert!(d.screen().contains("all recorded"), "{}", d.screen());
    d.keys("q Esc g Enter Enter l");
    d.shows(&["rebuilt from the record; not in a trace"]);
}

#[test]
fn columns_are_chosen_by_name_and_width() {
    let mut d = Drive::runs();
    let heads = |d: &Drive| d.lines()[1].split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    let usual = heads(&d);
    d.keys("| 'ok cause:22 answer question' Enter");
    assert_eq!(heads(&d), ["ok", "cause", "answer", "question"]);
    d.shows(&["[table] columns in config.toml keeps them", "✗"]);
    d.keys("|").shows(&["columns: ok cause:22 answer question"]);
    d.keys("Esc | ' caus' Enter");
    d.shows(&["no column is called caus. Did you mean cause?"]);
    assert_eq!(heads(&d), ["ok", "cause", "answer", "question"], "nothing changed");
    // An empty line brings the usual ones back.
    d.keys("^U Enter");
    assert_eq!(heads(&d), usual);
}

#[test]
fn a_view_keeps_filter_order_and_columns_under_a_name() {
    let config = tempfile::tempdir().unwrap();
    let open = || {
        Drive::with(&[runs()], |app| {
            app.views.folder = Some(config.path().to_owned());
            app.views.list = views::read_all(config.path()).unwrap();
        })
    };
    let mut d = open();
    d.keys(":view Enter").shows(&["No views yet. :view save NAME keeps filter, sort and columns"]);
    d.keys("f 'steps>2' Enter > ~ | 'ok steps question' Enter");
    let (sort, descending, rows) = (d.app.table.sort, d.app.table.descending, d.table_ids());
    d.keys(": 'view save long ones'").shows(&["keeps steps>2 · by "]);
    d.keys("Enter");
    assert!(d.status().starts_with("Saved the view long ones: steps>2"), "{}", d.status());
    assert!(d.header().contains("view long ones"), "{}", d.header());
    // What is changed is no longer the view.
    d.keys("~").hides(&["view long ones"]);
    // One more, by the prompt.
    d.keys("f ^U 'correct:false' Enter : 'view save' Enter").shows(&["name of the view: "]);
    d.keys("'wrong' Enter").shows(&["Saved the view wrong: correct:false"]);
    let mut d = open();
    d.keys(": 'view l'").shows(&["view long ones"]).hides(&["view wrong"]);
    d.keys("Enter").shows(&["View long ones: steps>2", "view long ones"]);
    assert_eq!((d.app.table.sort, d.app.table.descending, d.table_ids()), (sort, descending, rows));
    assert_eq!(d.lines()[1].split_whitespace().collect::<Vec<_>>(), ["ok▾", "steps", "question"]);
    d.keys(": 'view nothing' Enter").shows(&["No view is called \"nothing\". Views: long ones, wrong"]);
    // The list shows and deletes.
    d.keys(":view Enter").shows(&["Views", "long ones  steps>2", "wrong      correct:false"]);
    d.keys("j Enter");
    assert_eq!((d.app.table.filter_text.as_str(), d.app.screens.dialog.is_none()), ("correct:false", true));
    d.keys(":view Enter D").shows(&["Deleted the view long ones, which was: steps>2", "wrong"]);
    let names = |list: &[NamedView]| list.iter().map(|view| view.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&views::read_all(config.path()).unwrap()), ["wrong"]);
    assert_eq!(names(&d.app.views.list), ["wrong"]);
    // While the program is presented nothing is saved.
    d.keys("Esc :present Enter : 'view save shown' Enter").shows(&["nothing is saved while presenting"]);
}

#[test]
fn a_view_that_cannot_be_shown_changes_nothing() {
    let view = |name: &str, filter: &str, sort: &str, column: &str| NamedView {
        name: name.to_owned(),
        filter: filter.to_owned(),
        sort: Some(sort.to_owned()),
        columns: vec![column.to_owned()],
        ..NamedView::default()
    };
    let mut d = Drive::with(&[runs()], |app| {
        app.views.list =
            vec![view("a", "no_field:1", "#", "ok"), view("b", "", "nosuch", "ok"), view("c", "", "#", "nosuch")];
    });
    for (name, why) in [("a", "no_field"), ("b", "no column is called nosuch"), ("c", "no column is called nosuch")] {
        d.keys(&format!(": 'view {name}' Enter")).shows(&[&format!("The view {name} cannot be shown"), why]);
        assert!(d.app.rows() == 8 && d.app.table.filter_text.is_empty());
    }
    d.keys(": 'view save d' Enter").shows(&["there is no folder for settings"]);
}

#[test]
fn earlier_filters_come_back_with_the_arrow() {
    let mut d = Drive::with(&[runs()], |app| app.table.typed_filters = vec!["fix:gold".to_owned()]);
    for filter in ["steps>1", "steps>2"] {
        d.keys(&format!("f ^U '{filter}' Enter"));
    }
    let line = |d: &Drive| d.footer().trim_start_matches(" filter: ").split("   ").next().unwrap().trim().to_owned();
    d.keys("f").shows(&["Up: earlier filters"]);
    assert_eq!(line(&d), "steps>2");
    // The one in force is on the line already.
    d.keys("Up");
    assert_eq!(line(&d), "steps>1");
    d.keys("Up Up Up");
    assert_eq!(line(&d), "fix:gold");
    d.keys("Down");
    assert_eq!(line(&d), "steps>1");
    d.keys("Down");
    assert_eq!(line(&d), "steps>2", "what was typed before");
    d.keys("Up Up Enter");
    assert_eq!(d.app.table.filter_text, "fix:gold");
    assert_eq!(d.app.table.typed_filters, ["steps>1", "steps>2", "fix:gold"]);
    // What was typed goes on with what is chosen of the completions.
    d.keys("f ^U 'rul' Down").shows(&["rule:"]);
}

// Charts, explanations, ASCII.

#[test]
fn charts_of_all_records_are_filters() {
    let mut d = Drive::runs();
    d.keys("I").shows(&["Insights", "Outcome", "correct", "Where to fix", "Causes"]);
    d.keys("j Enter");
    assert_eq!((d.app.screens.top(), d.app.table.filter_text.as_str()), (ScreenKind::Table, "correct:false"));
    d.shows(&["1 of 8"]);
    // In the heat map: the wrong model output of step 4.
    d.keys("Esc I g 6j l l l l Enter");
    assert_eq!((d.app.screens.top(), d.app.table.filter_text.as_str()), (ScreenKind::Table, "fix:step_run fix_step=4"));
    d.shows(&["1 of 8"]);
    d.keys("Esc I");
    let chart = d.screen();
    d.keys("I");
    assert_eq!(d.app.screens.top(), ScreenKind::Table, "the same key goes back");
    for _ in 0..20 {
        d.keys(">");
        if d.status().contains("by conf") {
            break;
        }
    }
    d.keys("#");
    assert_ne!(d.screen(), chart, "at the chart of the sorted column");
    assert!(d.status().contains("conf>="), "{}", d.status());
}

#[test]
fn what_a_number_counts_is_listed_next_to_it() {
    let mut d = Drive::runs();
    d.resize(200, 60).keys("I");
    d.shows(&["Matching records  3 records", "An orchard has 4 rows", "Mila sells 12 jars", "A baker bakes 5 trays"]);
    d.hides(&["A ferry takes 8 cars"]);
    d.keys("j").shows(&["Matching records  1 record", "2 ✗ ■1 !3 ▲3  A ferry takes 8 cars"]);
    // Neither its border nor the room below the last record is one of them.
    let (column, title) = d.find("Matching records");
    let last = d.lines().iter().rposition(|line| line.ends_with('╯')).unwrap() as u16;
    for row in [title, title + 2, last] {
        d.click(column, row);
        assert_eq!(d.app.screens.top(), ScreenKind::Insights, "{row}");
    }
    d.keys("k").click_on("Mila sells");
    assert_eq!((d.app.screens.top(), d.app.table.filter_text.as_str()), (ScreenKind::Table, "correct:true"));
    assert_eq!(d.app.record(), Some(2), "the cursor is on what was clicked");
    d.keys("I").resize(120, 36).hides(&["Matching records"]);
}

#[test]
fn the_palette_names_actions_as_the_rest_of_the_program_does() {
    let mut d = Drive::runs();
    for (typed, title) in [("dashboard", "dashboard"), ("boards", "dashboard"), ("matrix", "compare")] {
        d.keys(&format!(": '{typed}'"));
        let palette: Vec<_> = d.lines().into_iter().filter(|line| line.contains(&format!("❯{title} "))).collect();
        assert_eq!(palette.len(), 1, "{typed}\n{}", d.screen());
        d.keys("Esc");
    }
    d.keys("j Enter : 're-run'").shows(&["❯re-run ", "re-run from here", "re-run dependents"]);
    d.keys("Esc : 'recompute'").shows(&["❯recompute "]);
}

#[test]
fn no_hint_leads_to_the_screen_in_front() {
    let mut d = Drive::runs();
    for (keys, hint) in [("j Enter J", "J JSON"), ("q q I", "I insights"), ("O", "O "), ("A", "A ")] {
        d.keys(keys);
        assert!(!d.footer().contains(hint), "{}", d.footer());
    }
    d.keys("q");
    assert!(d.footer().contains("I insights") && d.footer().contains("J JSON"), "{}", d.footer());
}

#[test]
fn the_palette_shows_what_is_typed_and_a_row_on_the_smallest_screen() {
    let mut d = Drive::runs();
    for (width, height) in [(20, 5), (30, 6), (40, 10)] {
        d.resize(width, height).keys(": 'redr'").shows(&[": redr", "redraw"]);
        d.keys("Esc Esc");
    }
}

#[test]
fn the_title_of_the_timeline_has_whole_parts() {
    let problems = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[problems]);
    d.keys("j Enter").shows(&["first difference: step 2  7.1 s ─"]).hides(&["1,346"]);
    d.resize(200, 60).shows(&["first difference: step 2  7.1 s  1,346 tokens ─"]);
    // Where a value is cut, the number that it should be is not.
    for (width, height) in [(80, 24), (90, 30), (100, 30)] {
        d.resize(width, height).shows(&["… ≠ 19 ", "3  should be 19"]).hides(&["should be …"]);
    }
}

#[test]
fn the_record_under_the_cursor_is_told_next_to_the_table() {
    let mut d = Drive::runs();
    d.resize(200, 60).keys("j");
    d.shows(&[
        "Record 2",
        "8 findings",
        "fix       model output, step 4 (sure)",
        "✗ 4  Multiply trips by cars.",
        "Final state",
    ]);
    let (_, state) = d.find("Final state");
    let row = d.lines()[usize::from(state) + 1..].iter().find(|line| line.contains("final_answer")).cloned();
    assert!(row.as_ref().is_some_and(|row| row.contains("48 cars") && row.contains("step 4")), "{row:?}");
    d.keys("g").shows(&["Record 1", "No findings", "Expected answer (gold)"]);
    let policy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let mut d = Drive::open(&[policy]);
    d.resize(200, 60).keys("G").shows(&["Citations"]);
}

#[test]
fn a_pane_alone_is_not_empty_in_the_next_record() {
    let all = std::fs::read_to_string(drive::runs()).unwrap();
    let first = all.lines().find(|line| line.contains("\"gold_answer\"")).unwrap();
    let other = first.replace("\"gold_answer\"", "\"other\"");
    assert_ne!(first, other);
    let (_folder, mut d) = Drive::text(format!("{first}\n{other}\n"));
    d.resize(200, 60).keys("Enter");
    let view = |d: &Drive| d.app.screens.record().map(|view| (view.pane, view.maximised)).unwrap();
    d.keys("8 Tab Z").shows(&["Expected answer (gold)"]);
    assert_eq!(view(&d), (RunPane::Worked, true));
    d.keys("}").shows(&["Question"]).hides(&["Expected answer (gold)"]);
    assert_eq!(view(&d), (RunPane::Question, true), "this record has no worked answer");
}

#[test]
fn questions_of_answers_take_the_room_that_a_narrow_table_has() {
    let policy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let mut d = Drive::open(&[policy]);
    d.resize(64, 24).shows(&["What has to be sent with a claim for theft?"]);
}

#[test]
fn what_is_under_the_cursor_is_explained() {
    let mut d = Drive::runs();
    d.keys("j i");
    assert!(d.status().contains("graded wrong"), "{}", d.status());
    d.keys("Enter i");
    assert!(d.status().contains("step to fix"), "{}", d.status());
    d.keys("Tab i");
    let known = "final_answer: inferred from the final state: one step alone writes it";
    assert!(d.status().starts_with(known), "{}", d.status());
}

#[test]
fn the_finding_under_the_cursor_is_explained_on_every_screen() {
    let mut d = answers_of("policy.jsonl");
    d.keys("19G Enter e e e e i");
    assert!(d.status().contains("span/range_reversed: "), "{}", d.status());
    d.keys("g i");
    assert!(d.status().starts_with("What to do with the answer next"), "{}", d.status());
    let (_folder, mut d) = Drive::text(r#"{"id": "a", "id": "b", "question": "What is it?", "gold_num": 1}"#);
    d.keys("J i");
    assert_eq!(d.status(), "No finding on this value");
    d.keys("e i");
    assert!(d.status().contains("record/duplicate_key: "), "{}", d.status());
    d.keys("G i");
    assert_eq!(d.status(), "No finding on this value");
    let mut d = answers();
    d.keys("Enter i");
    assert_eq!(d.status(), "◉ quote found where it was cited");
}

#[test]
fn a_screen_in_ascii_says_the_same() {
    let mut d = Drive::runs();
    d.app.looks.ascii = true;
    for keys in ["j", "Enter", "Tab", "J", "q q I", "?"] {
        d.keys(keys);
        assert!(d.screen().is_ascii(), "{keys}\n{}", d.screen());
    }
    d.keys("Esc q");
    assert!(d.lines().iter().any(|line| line.starts_with("> ")), "{}", d.screen());
}

// Help, palette, themes, copying.

#[test]
fn the_help_names_every_key() {
    let mut d = Drive::runs();
    // As high as all of it, with room for new keys.
    d.resize(120, 430).keys("?");
    for binding in stepscope::widgets::keymap::BINDINGS {
        d.shows(&[binding.help]);
    }
    d.shows(&["Symbols on this screen, and how often", "wrong; answer rejected", "Filter"]);
    d.resize(80, 24);
    d.keys("j j");
    d.hides(&["Symbols on this screen, and how often"]);
    d.keys("G");
    d.shows(&["-x excludes"]);
    d.resize(80, 60);
    d.shows(&["-x excludes"]);
    d.keys("?");
    assert!(d.app.screens.dialog.is_none());
}

#[test]
fn a_right_click_lists_what_can_be_done_and_a_click_does_it() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    let (x, y) = d.find("Findings  ");
    d.mouse(MouseEventKind::Down(MouseButton::Right), x, y + 1);
    assert_eq!(pane(&d), RunPane::Findings, "the pane under the mouse gets the keys");
    d.shows(&["Actions", "previous step", "next finding"]);
    d.click_on("previous step");
    assert_eq!(moment(&d), 3);
    // What other screens can do is found, with its place, and says why it cannot be done here.
    d.keys("q : 'override'").shows(&["Run: override the value"]);
    d.keys("Enter");
    assert!(!d.status().is_empty() && d.app.screens.dialog.is_none(), "{}", d.screen());
}

#[test]
fn the_palette_runs_an_action() {
    let mut d = Drive::runs();
    d.keys(":");
    d.shows(&["Actions"]);
    d.keys("'sort rev' Enter");
    assert!(d.app.table.descending && d.app.screens.dialog.is_none());
    d.keys("^P 'zzzzzz'");
    d.shows(&["No matching command"]);
    d.keys("Enter");
    assert!(d.app.screens.dialog.is_none());
    d.keys(": Down Down Up Esc");
    d.keys("G Enter : 'differ' Enter");
    d.shows(&["Difference  after"]);
    d.keys(": 'fold all' Enter");
    assert!(!d.status().is_empty(), "refused with a reason");
}

#[test]
fn copying_gives_exact_text_without_controls() {
    let mut d = Drive::runs();
    d.keys("y q");
    assert_eq!(d.copied, ["An orchard has 4 rows of 6 trees. Storms fell 5 trees. How many stand?"]);
    d.keys("Enter Tab g 4j y v y p S-Tab g y s");
    assert_eq!(d.copied[1..3], ["24", "/state/planted"]);
    assert!(d.copied[3].starts_with("{\"id\": 1, ") && d.copied[3].ends_with("]}"), "{}", d.copied[3]);
    d.keys("y r");
    let first = std::fs::read_to_string(runs()).unwrap().lines().nth(1).unwrap().to_owned();
    assert_eq!(d.copied[4], first);
    assert!(d.status().starts_with("Sent to the terminal's clipboard: the record, "), "{}", d.status());
    d.keys("y");
    d.shows(&["copy value under the cursor"]);
    d.keys("y");
    assert_eq!(d.copied.len(), 5, "y y means nothing");

    let (_folder, mut d) = Drive::text(
        "{\"question\": \"a\\u001b[31mb\\u202ec\\nd\", \"mode\": \"baseline\", \"state\": {\"final_answer\": \"\\u0007x\"}}\n",
    );
    d.keys("Enter y q y v J y r");
    assert_eq!(d.copied[0], "a␛[31mb⟨U+202E⟩c\nd");
    assert_eq!(d.copied[1], "␇x");
    for text in &d.copied {
        assert!(text.chars().all(|c| c == '\n' || !is_hidden(c)), "{text:?}");
    }
}

#[test]
fn a_copy_is_whole_or_refused() {
    let long = "long question ".repeat(100);
    let huge = "x".repeat(100_000);
    let (_folder, mut d) = Drive::text(format!(
        "{{\"question\": \"{long}\", \"mode\": \"baseline\", \"state\": {{\"final_answer\": \"{huge}\"}}}}\n"
    ));
    d.keys("y q");
    assert!(d.copied.iter().all(|text| *text == long), "a part of the question was copied as the question");
    let copied = d.copied.len();
    d.keys("Enter y v");
    assert!(d.status().contains("too long for the terminal's clipboard"), "{}", d.status());
    assert_eq!(d.copied.len(), copied);
}

#[test]
fn a_prompt_says_what_ends_it_and_that_its_beginning_is_out_of_sight() {
    let mut d = Drive::runs();
    d.keys("f").shows(&["filter:    Enter accept · Esc cancel"]);
    d.keys("'id:x'").hides(&["Enter accept"]);
    d.keys(&format!("^U '{}yz'", "x".repeat(200))).shows(&["filter: …xxx", "xyz"]);
}

#[test]
fn themes_change_while_it_runs() {
    let mut d = Drive::runs();
    let mut seen = Vec::new();
    for _ in 0..=BUILT_IN.len() {
        d.keys("t");
        seen.push(d.status());
    }
    let named = BUILT_IN.iter().map(|(name, _)| format!("Theme: {name}"));
    assert_eq!(seen, named.chain(["Theme: chosen by the terminal's background".to_owned()]).collect::<Vec<_>>());
    let dark = d.colour(Role::Text);
    d.event(Event::Input(Input::Background(Rgb { r: 250, g: 250, b: 250 })));
    let light = d.colour(Role::Text);
    assert_ne!(dark, light, "the background decides");
    d.keys("t");
    assert_eq!(d.colour(Role::Text), dark);
    d.event(Event::Input(Input::Background(Rgb { r: 250, g: 250, b: 250 })));
    assert_eq!(d.colour(Role::Text), dark, "what was chosen stays");
    let ground = |d: &Drive| d.app.looks.theme.style(Role::Screen).bg;
    assert!(ground(&d).is_some(), "dark text on a light terminal has its own ground");
    let is_ink = |d: &Drive, x, y| d.colour_at(x, y) != Color::Reset;
    for keys in ["?", "Esc :", "Esc f", "Esc"] {
        d.keys(keys);
        assert!((0..36).all(|y| (0..120).all(|x| is_ink(&d, x, y))), "{keys}: {}", d.screen());
    }
    d.event(Event::Input(Input::Background(Rgb { r: 10, g: 10, b: 10 })));
    assert_eq!(ground(&d), None, "on a dark one it needs none");
    d.event(Event::Input(Input::Background(Rgb { r: 250, g: 250, b: 250 })));
    for (name, _) in BUILT_IN {
        assert_eq!(ground(&d).is_some(), matches!(*name, "dark" | "high-contrast"), "{name}");
        d.keys("t");
    }
    assert_eq!(d.colour(Role::Text), light, "back to the background, which is known");
}

// Mouse and size.

#[test]
fn a_key_that_means_nothing_says_so() {
    let mut d = Drive::runs();
    d.keys("K");
    assert_eq!(d.status(), "K does nothing here; ? lists the keys");
    d.keys("y x");
    assert_eq!(d.status(), "y x does nothing here; ? lists the keys");
    d.keys("3");
    assert!(!d.status().contains("nothing"), "a count is none of them");
}

#[test]
fn the_mouse_on_the_table() {
    let mut d = Drive::runs();
    d.click_on("A tower has 9");
    assert_eq!(at(&d), 3);
    d.click_on("A tower has 9");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.keys("q");
    d.click_on("findings  ");
    d.shows(&["findings▴"]);
    d.click_on("findings▴");
    d.shows(&["findings▾"]);
    d.click_on("question");
    d.shows(&["findings▾"]);
    d.click(60, 30);
    d.mouse(MouseEventKind::ScrollDown, 10, 10);
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
    d.keys("g");
    d.mouse(MouseEventKind::ScrollDown, 10, 10);
    assert_eq!(at(&d), 3);
    d.mouse(MouseEventKind::ScrollUp, 10, 10);
    assert_eq!(at(&d), 0);
    d.keys("M");
    assert_eq!(d.asked, ["Mouse(false)"]);
}

#[test]
fn the_mouse_on_the_run() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    d.click_on("Double the morning");
    assert_eq!((pane(&d), moment(&d)), (RunPane::Steps, 2));
    d.click_on("evening ");
    assert_eq!(pane(&d), RunPane::State);
    assert!(d.status().starts_with("evening: recomputed 6 = 3 × 2   written by step 2"), "{}", d.status());
    d.click_on("Remove unused outputs at Step 1");
    assert_eq!((pane(&d), moment(&d)), (RunPane::Findings, 1));
    d.click_on("Remove unused outputs at Step 1");
    assert_eq!(d.app.screens.top(), ScreenKind::Json, "a second click opens, as Enter does");
    d.keys("q");
    d.click_on("Double the morning");
    d.click_on("Double the morning");
    assert_eq!((pane(&d), moment(&d)), (RunPane::Step, 2));
    let (x, y) = d.find("[data]");
    d.click(x + 8, y);
    d.shows(&["[prompt]"]);
    d.click(x - 4, y);
    d.shows(&["[prompt]"]);
    d.click_on("Question");
    assert_eq!(pane(&d), RunPane::Question);
    let (x, y) = d.find("Double the morning");
    d.mouse(MouseEventKind::ScrollDown, x, y);
    assert_eq!((pane(&d), moment(&d)), (RunPane::Steps, 4));
    d.keys("?");
    d.mouse(MouseEventKind::ScrollDown, 50, 10);
    d.click(50, 10);
    assert!(d.app.screens.dialog.is_none());
    d.keys("J g");
    d.click_on("question: ");
    assert!(d.status().starts_with("/question"), "{}", d.status());
    d.click_on("procedure: ");
    d.click_on("procedure: ");
    d.shows(&["▸ procedure"]);
}

#[test]
fn the_help_is_whole_on_a_small_screen() {
    let mut d = Drive::runs();
    d.resize(80, 24).keys("?");
    let (mut seen, mut before) = (String::new(), String::new());
    while d.screen() != before {
        before = d.screen();
        let lines = d.lines();
        let inside = lines.iter().map(|line| line.chars().skip(3).take(73).collect::<String>());
        let window: Vec<String> = inside.map(|line| line.trim_end_matches(['┃', ' ']).to_owned()).collect();
        assert!(window.iter().all(|line| !line.ends_with('…')), "{before}");
        seen += &window.concat();
        d.keys("PgDn");
    }
    assert!(seen.contains("Symbols on this screen, and how often") && seen.contains("-x excludes"), "{seen}");
}

#[test]
fn a_new_size_keeps_the_cursor_on_screen() {
    let (_folder, mut d) = Drive::text(numbered(200));
    d.keys("150G");
    for (width, height) in [(80, 24), (40, 8), (200, 60), (10, 4), (120, 36)] {
        d.resize(width, height);
        let visible = d.app.table.list.visible(200, stepscope::widgets::layout::table_height(d.app.area()));
        assert!(visible.contains(&149), "{width}x{height}");
    }
    d.shows(&["Question 149"]);
}

#[test]
fn wider_screens_leave_no_pane_blank() {
    let question = "one two three four five six seven eight nine ten ".repeat(30);
    let (_folder, mut d) = Drive::text(format!(
        "{{\"question\": \"{question}\", \"mode\": \"baseline\", \"state\": {{\"final_answer\": \"1\"}}, \"raw\": \"{question}\"}}\n"
    ));
    d.resize(60, 20).keys("Enter S-Tab");
    while pane(&d) != RunPane::Question {
        d.keys("Tab");
    }
    d.keys("G").resize(200, 60);
    d.shows(&["nine ten"]);
    d.resize(60, 20);
    while pane(&d) != RunPane::Step {
        d.keys("Tab");
    }
    d.keys("G").resize(200, 60);
    let (x, y) = d.find("Reply");
    assert!(
        d.lines()[usize::from(y) + 1].chars().skip(usize::from(x)).take(30).any(char::is_alphabetic),
        "{}",
        d.screen()
    );
}

// Files that change.

#[test]
fn a_growing_file_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grow.jsonl");
    std::fs::write(&path, numbered(3)).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.shows(&["3 records"]);
    d.keys("f 'plums' Enter");
    d.shows(&["3 records"]);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(numbered(12).as_bytes()).unwrap();
    d.wait_for(|app| app.store.len() == 15 && app.store.is_settled());
    d.shows(&["14 of 15", "Question 11"]);
    d.keys("Esc");
    d.shows(&["15 records"]);
    d.keys("G");
    assert_eq!(at(&d), 14);
}

#[test]
fn records_that_come_while_a_filter_looks_are_looked_at_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grow.jsonl");
    std::fs::write(&path, numbered(4)).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.hold = true;
    d.keys("f 'pears' Enter");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(numbered(10).as_bytes()).unwrap();
    d.wait_for(|app| app.store.len() == 14 && app.store.is_settled());
    d.release();
    d.shows(&["2 of 14"]);
}

#[test]
fn a_replaced_file_is_marked_and_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replace.jsonl");
    std::fs::write(&path, numbered(30)).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.keys("20G Enter");
    let other = folder.path().join("other");
    std::fs::write(&other, "{\"id\": \"new\", \"question\": \"All new?\", \"gold_num\": 1.0, \"state\": {}}\n")
        .unwrap();
    std::fs::rename(&other, &path).unwrap();
    d.wait_for(|app| app.store.len() == 1 && app.store.is_settled());
    d.shows(&["replace.jsonl ▸ deleted", "changed on disk", "Question 19"]);
    d.keys("q");
    d.shows(&["changed on disk", "All new?", "1 record "]);
    std::fs::remove_file(&path).unwrap();
    d.wait_for(|app| disk_news(&app.store).is_some_and(|news| news.as_str() == "↻ deleted on disk"));
    d.keys("Enter");
    d.shows(&["All new?"]);
}

#[test]
fn a_file_that_becomes_something_else_is_marked_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replace.jsonl");
    let database = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.sqlite");
    std::fs::write(&path, numbered(3)).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    let other = folder.path().join("other");
    std::fs::copy(database, &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    d.wait_for(|app| disk_news(&app.store).is_some());
    d.shows(&["unreadable on disk", "it has become another kind of file; open it again", "3 records"]);
    d.keys("j");
    d.shows(&["unreadable on disk", "Question 2"]);
    std::fs::write(&other, numbered(2)).unwrap();
    std::fs::rename(&other, &path).unwrap();
    d.wait_for(|app| app.store.len() == 2 && app.store.is_settled());
    d.shows(&["changed on disk", "2 records"]);
}

#[test]
fn rows_that_were_asked_for_before_a_change_do_not_come_under_wrong_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replace.jsonl");
    std::fs::write(&path, numbered(100)).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.hold = true;
    d.keys("G");
    d.keys("Enter");
    let other = folder.path().join("other");
    std::fs::write(&other, numbered(200).replace("Question", "Another")).unwrap();
    std::fs::rename(&other, &path).unwrap();
    d.wait_for(|app| app.store.len() == 200 && app.store.is_settled());
    d.release();
    d.keys("q");
    d.hides(&["Question 9"]);
}

// What is kept, refused and shown.

#[test]
fn sort_filter_place_and_theme_survive() {
    let mut d = Drive::runs();
    d.keys("> > f 'correct:true,false' Enter G t t Q");
    assert_eq!(d.quit, Some(0));
    let (kept, theme) = d.kept[0].clone();
    assert_eq!((kept.sort.as_deref(), kept.filter.as_str()), (Some("findings"), "correct:true,false"));
    assert_eq!((theme.as_deref(), kept.record), (Some(stepscope::widgets::theme::BUILT_IN[1].0), 2));
    let again = Drive::restored(&[runs()], &kept);
    assert_eq!(again.table_ids(), d.table_ids());
    assert_eq!(again.app.table.record(at(&again)), Some(2));
    again.shows(&["findings▾", "4 of 8"]);
}

#[test]
fn a_kept_text_filter_looks_through_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    std::fs::write(&path, numbered(40_000)).unwrap();
    let kept = FileView { filter: "pears".into(), ..FileView::default() };
    let mut d = Drive::restored(&[path], &kept);
    d.wait_for(|app| app.table.filtering.as_ref().is_some_and(|search| search.done));
    d.shows(&["4,000 of 40,000"]);
}

#[test]
fn refused_keys_say_why() {
    let mut d = Drive::runs();
    for (keys, why) in [
        ("Tab", "this screen has one pane"),
        ("Z", "this screen has one pane"),
        ("n", "no search yet; / searches"),
        ("y v", "open the record first"),
        ("y s", "no step here"),
        ("Esc", "q quits"),
    ] {
        d.keys(keys);
        assert_eq!(d.status(), why, "{keys}");
    }
    let (_folder, mut d) = Drive::text("");
    d.shows(&["No records here. Try: stepscope FILE or FOLDER"]).hides(&["f filter", "/ find", "> sort"]);
    d.resize(60, 20).shows(&[":tour", " for what they look like"]);
    for key in ["f", "/", ">"] {
        d.keys(key);
        assert_eq!(d.status(), "no records", "{key}");
    }
    d.keys("I");
    assert_eq!(d.status(), "No records");
    d.keys("q Enter");
    assert_eq!(d.status(), "no record here");
    d.keys("j G ^D e > ~ f 'x' Enter / 'x' Enter n q");
    assert_eq!(d.quit, Some(0));
}

#[test]
fn whatever_is_offered_works() {
    let mut d = Drive::runs();
    let mut all = vec![String::new()];
    all.extend((0..8).flat_map(|n| [format!("g {n}j Enter"), format!("g {n}j J")]));
    for way in all {
        d.keys(&way.replace("0j ", ""));
        for (action, hint) in d.app.hints().into_iter().map(|b| (b.action, b.hint)).collect::<Vec<_>>() {
            assert_eq!(d.app.allowed(action), Ok(()), "{way}: {hint}");
        }
        // Chords too: what the second line of keys offers must not be refused when it is taken.
        for (chord, action) in [
            ("y v", Action::CopyValue),
            ("y p", Action::CopyPath),
            ("y q", Action::CopyQuestion),
            ("y s", Action::CopyStep),
            ("y r", Action::CopyRecord),
        ] {
            let allowed = d.app.allowed(action).is_ok();
            let before = d.copied.len();
            d.keys(chord);
            let copied = d.copied.len() > before;
            assert!(copied || !allowed || d.status() == "nothing to copy here", "{way} {chord}: {}", d.status());
        }
        while d.app.screens.top() != ScreenKind::Table {
            d.keys("q");
        }
    }
}

#[test]
fn changed_keys_work_and_are_shown() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (down, copy, help) = (names(&["e"]), names(&["c v"]), names(&["F5"]));
    let keymap = Keymap::with_changes([("down", &down[..]), ("copy_value", &copy[..]), ("help", &help[..])]).unwrap();
    let mut d = Drive::with(&[runs()], |app| app.keymap = keymap);
    d.keys("e");
    assert_eq!(at(&d), 1, "the user's key wins, also over a key of this screen");
    assert!(!d.footer().contains("e next finding"), "{}", d.footer());
    d.shows(&["F5 help"]);
    d.keys("j");
    assert_eq!(at(&d), 1);
    d.keys("Enter Tab c");
    assert!(d.footer().contains("v copy value"), "{}", d.footer());
    assert!(d.footer().starts_with(" c v copy"), "{}", d.footer());
    d.keys("v");
    assert_eq!(d.copied.len(), 1);
    d.keys("y v");
    assert_eq!(d.copied.len(), 1);
    d.keys("y");
    assert!(d.footer().contains("p copy JSON pointer"), "{}", d.footer());
    d.keys("F5");
    d.keys("F5");
    d.shows(&["Help"]);
}

#[test]
fn messages_name_the_keys_in_force() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (fail, find, close, json) = (names(&["C"]), names(&["F7"]), names(&["F9", "Esc"]), names(&[]));
    let changes = [("fail", &fail[..]), ("find", &find[..]), ("escape", &close[..]), ("json", &json[..])];
    let keymap = Keymap::with_changes(changes).unwrap();
    let mut d = Drive::with(&[runs()], |app| app.keymap = keymap);
    d.keys("n");
    assert_eq!(d.status(), "no search yet; F7 searches");
    d.keys("f 'id:nothing' Enter").shows(&["no record matches the filter; F9 clears it"]);
    d.keys("F9 : 'fold all' Enter");
    assert_eq!(d.status(), "open the raw JSON first (:json)", "an action without a key is a command");
    d.keys("F9 ?").shows(&["j k scroll, F9 closes"]);
}

#[test]
fn keys_and_names_agree() {
    let d = Drive::runs();
    for context in Context::ALL {
        for binding in Keymap::rows(context) {
            let by_name = matches!(
                binding.action,
                Action::Create
                    | Action::Review
                    | Action::Tour
                    | Action::Present
                    | Action::Messages
                    | Action::PreviousWrong
                    | Action::PreviousFlagged
                    | Action::View
                    | Action::SaveView
            );
            assert_eq!(d.app.keymap.names(binding).is_empty(), by_name, "{binding:?}");
        }
    }
}

// Typing.

#[test]
fn a_line_is_edited_as_in_a_shell_and_the_cursor_stands_where_one_types() {
    let mut d = Drive::runs();
    d.keys("f 'correct:true'");
    let width = d.app.size.height - 1;
    assert_eq!(d.cursor(), Some(Position::new(9 + 12, width)));
    d.keys("Home");
    assert_eq!(d.cursor(), Some(Position::new(9, width)));
    d.keys("^E ^W 'x' Backspace ^U '漢字 ab' Left");
    assert_eq!(d.cursor(), Some(Position::new(9 + 6, width)));
    d.keys("Esc").shows(&["Discard the text?", "漢字 ab"]);
    d.keys("Esc");
    assert_eq!(d.cursor(), Some(Position::new(0, 2)), "on the selected row");
    d.keys("/");
    d.paste("two\nlines\u{1b}[31m q\u{202e}x");
    d.shows(&["find: two lines[31m q⟨U+202E⟩x"]);
    let end = d.find("⟨U+202E⟩x").0 + 9;
    assert_eq!(d.cursor(), Some(Position::new(end, width)), "behind what is shown");
    d.keys("Esc Esc");
    d.paste("q");
    assert_eq!(d.quit, None, "a paste is never a command");
    assert!(d.status().contains("pasted text is not a command"));
    d.resize(20, 6).keys("f");
    d.keys(&format!("'{}'", "abcdefgh".repeat(10)));
    assert!(d.footer().ends_with("fgh"), "{}", d.footer());
    assert_eq!(d.cursor().map(|at| at.x), Some(19));
}

#[test]
fn going_back_forgets_what_was_asked_for() {
    let mut d = Drive::runs();
    d.keys("Enter");
    d.hold = true;
    d.keys("} q");
    d.release();
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
    d.hold = true;
    d.keys("Enter j");
    d.release();
    assert_eq!(d.app.screens.top(), ScreenKind::Run, "moving on does not");
}

#[test]
fn panics_of_helpers_and_signals_are_told() {
    let mut d = Drive::runs();
    d.event(Event::Panicked("oh \u{1b}[31m no".into()));
    d.draw();
    assert!(d.status().contains("please report it: oh ␛[31m no"), "{}", d.status());
    d.event(Event::Stop(143));
    assert_eq!(d.kept.len(), 1);
    assert!(d.app.wake_at().is_none());
}

// The threads behind it.

#[test]
fn two_searches_run_side_by_side_and_records_come_back() {
    use stepscope::app::calls::Calls;
    use stepscope::app::effects::{Memory, Performer};
    use stepscope::app::msg::{Effect, Msg};
    use stepscope::app::outbox::Outbox;
    use stepscope_table::filter::Filter;

    let (_folder, d) = Drive::text(numbered(2_000));
    let outbox = Outbox::default();
    let (sender, mut messages) = tokio::sync::mpsc::channel(64);
    let mut performer = Performer::new(outbox.clone(), Memory::default(), std::sync::Arc::default(), Calls::default());
    let mut perform = |effect| assert!(performer.perform(effect, &sender).is_none());
    perform(Effect::Begin);
    let plan = || stepscope_io::pipeline::search::Plan::of(&d.app.store, 0, |_, _| true);
    for (id, text) in [(1, "pears"), (2, "plums"), (3, "pears")] {
        perform(Effect::Search(id, Filter::parse(text, TypeRegistry::built_in()).unwrap().into(), plan()));
    }
    perform(Effect::EndSearch(3));
    let hide = Hide::default();
    let record = Effect::Record(7, d.app.store.reading(7).unwrap(), *d.app.store.row(7).unwrap(), hide);
    perform(record);
    let (mut found, mut done, mut opened) = ([0; 4], Vec::new(), false);
    while done.len() < 2 || !opened {
        match messages.blocking_recv().unwrap() {
            Msg::Found(id, records, end) => {
                found[usize::try_from(id).unwrap()] += records.len();
                done.extend(Some(id).filter(|id| end && *id < 3));
            }
            Msg::Record(7, Ok(record)) => opened = record.question.as_str() == "Question 7 about plums?",
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(found[1..3], [200, 1_800]);
    outbox.close();
}

#[test]
fn a_key_that_leads_nowhere_says_so() {
    let mut d = Drive::runs();
    d.keys("Enter ]");
    assert_eq!(d.status(), "this is the last step");
    d.keys("9[ [");
    assert_eq!(d.status(), "this is the start, before step 1");
    d.keys("] Tab");
    d.keys("w w");
    assert!(["You are at the step that writes it", "no known writer"].contains(&d.status().as_str()), "{}", d.status());
    d.keys("q 4j Enter / 'prompt of step' Enter");
    assert!(d.status().starts_with("Not on this screen; "), "{}", d.status());
    d.keys("J n");
    d.shows(&["prompt of step"]);
}

#[test]
fn a_theme_with_a_mistake_is_said_and_does_not_end_the_round() {
    let mut d = Drive::runs();
    d.app.looks.all.push(("broken".into(), "[roles]\ntext = 3\n".into()));
    d.app.looks.all.push(("last".into(), d.app.looks.all[0].1.clone()));
    for _ in 0..=BUILT_IN.len() {
        d.keys("t");
    }
    assert!(d.status().starts_with("theme broken, line 2: "), "{}", d.status());
    assert_eq!(d.app.looks.chosen.as_deref(), Some("last"));
    d.keys("t");
    assert_eq!(d.status(), "Theme: chosen by the terminal's background");
}

// The proof.

#[test]
fn a_derivation_is_folded_and_followed_down_to_the_question() {
    let mut d = Drive::runs();
    d.keys("j Enter Tab");
    while d.app.screens.record().unwrap().chosen_text().unwrap().0.as_str() != "trips" {
        d.keys("k");
    }
    d.keys("Enter");
    let tree = d.screen();
    assert!(tree.contains("inferred  3 + 3 * 2") && tree.contains("  ▾ trips = 9 = 3 + 3 × 2"), "{tree}");
    // The step speaks of trips, as the question does behind the 3; nothing says that its 2 is the "twice".
    assert!(tree.contains("└ ² “3” in the question") && !tree.contains("“twice” in the question"), "{tree}");
    d.keys("h");
    assert!(d.screen().contains("▸ trips = 9"), "{}", d.screen());
    d.keys("Space H L");
    assert_eq!(d.screen(), tree, "folding and unfolding lead back");
    d.keys("y v");
    assert!(d.copied.last().unwrap().contains("in the question"), "{:?}", d.copied);
    d.keys("Enter");
    assert_eq!((pane(&d), moment(&d)), (RunPane::State, 3), "to the step that writes it");
    d.keys("Enter G Enter");
    assert_eq!(pane(&d), RunPane::Question, "the last row is a quantity of the question");
    assert_eq!(d.status(), "2/3  “3”: 3, number; used by morning");
}

#[test]
fn the_quantities_of_the_question_are_walked_and_light_their_variables() {
    let mut d = Drive::runs();
    d.keys("j Enter S-Tab");
    assert_eq!(pane(&d), RunPane::Question);
    d.keys("l");
    assert_eq!(d.status(), "1/3  “8”: 8, number; used by cars");
    let lit = |d: &Drive, name: &str| {
        let (x, y) = variable_at(d, name);
        d.colour_at(x, y) == d.colour(Role::CitedCurrent)
    };
    assert!(lit(&d, "cars") && !lit(&d, "morning"));
    d.keys("l");
    assert!(!lit(&d, "cars") && lit(&d, "morning"));
    d.keys("h h");
    assert!(d.status().starts_with("3/3"), "{}", d.status());
    d.resize(40, 12).keys("Z 2l");
    assert!(d.screen().contains("3²"), "a long question is scrolled to the quantity\n{}", d.screen());
}

#[test]
fn a_baseline_that_agrees_with_the_run_makes_the_gold_suspect() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let question = "Ann has 3 boxes of 4 pens and gives 2 pens away. How many are left?";
    let run = format!(
        r#"{{"id": "pens", "question": "{question}", "gold_answer": "3 * 4 = 12, 12 - 3 = 9\n#### 9", "gold_num": 9.0, "status": "ok", "mode": "procedural", "procedure": {{"NameDescription": "n", "steps": [{{"id": 1, "inputs": [{{"name": "problem_text", "description": "t"}}], "stepDescription": "Extract boxes, pens and given.", "output": [{{"name": "boxes", "description": "b"}}, {{"name": "pens", "description": "p"}}, {{"name": "given", "description": "g"}}]}}, {{"id": 2, "inputs": [{{"name": "boxes", "description": "b"}}, {{"name": "pens", "description": "p"}}, {{"name": "given", "description": "g"}}], "stepDescription": "Compute final_answer = boxes * pens - given.", "output": [{{"name": "final_answer", "description": "f"}}]}}]}}, "state": {{"problem_text": "{question}", "boxes": 3, "pens": 4, "given": 2, "final_answer": "10", "final_answer_numerical": 10}}, "pred_answer": "10", "pred_num": 10.0, "correct": false}}"#
    );
    let baseline = format!(
        r#"{{"id": "pens", "question": "{question}", "gold_num": 9.0, "status": "ok", "mode": "baseline", "state": {{"final_answer": "10", "final_answer_numerical": 10}}, "raw": "10", "pred_num": 10.0, "correct": false}}"#
    );
    let run = write("run.jsonl", &(run + "\n"));
    let mut d = Drive::beside(&run, &write("baseline.jsonl", &(baseline + "\n")));
    d.shows(&["expected"]);
    assert_eq!(d.app.store.row(0).and_then(stepscope_judge::row::RowFacts::fix), Some(Fix::Gold));
    d.keys("Enter");
    d.shows(&["baseline 10", "Fix: expected answer"]);

    let d = Drive::beside(&run, &folder.path().join("none.jsonl"));
    assert!(d.status().contains("none.jsonl"), "what cannot be read is said: {}", d.status());
}

// Typed answers.

fn answers() -> Drive {
    Drive::open(&[std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/answers.jsonl")])
}

fn line_of(drive: &Drive) -> usize {
    drive.app.screens.record().unwrap().answer.as_ref().unwrap().lines.at
}

#[test]
fn a_typed_answer_opens_with_its_evidence() {
    let mut d = answers();
    d.keys("Enter");
    assert_eq!(d.app.screens.top(), ScreenKind::Answer);
    d.shows(&["How much is the rent?", "1/1 grounded", "84.5 EUR / month", "exact", "page 2/4", "✓ ship"]);
    assert!(d.screen().contains("▌A  6 "), "{}", d.screen());
}

#[test]
fn a_wrong_line_and_an_invention_are_told_apart() {
    let mut d = answers();
    d.keys("j Enter");
    d.shows(&["found 2 lines below", "found line 9"]);
    assert_eq!(line_of(&d), 7, "the cited place first");
    d.keys("y q");
    let copied = "“The deposit is EUR 200”, line 9 (page 2, line 6): found 2 lines below";
    assert_eq!(d.copied.last().unwrap(), copied, "the words with the lines on which they stand");
    d.keys("Enter");
    assert_eq!(line_of(&d), 9, "then the found one");
    d.keys("Enter");
    assert_eq!(line_of(&d), 7);
    d.keys("}");
    d.shows(&["not found", "quote  The unit is insured"]);
    d.hides(&["found 2 lines below"]);
    d.resize(80, 24);
    d.shows(&["not found", "quote  The unit is insured against fire and water."]);
}

#[test]
fn only_a_citation_with_two_places_goes_from_one_to_the_other() {
    let mut d = answers();
    d.keys("Enter Enter");
    assert_eq!(d.status(), "the citation has no other place");
    assert!(!d.footer().contains("cited or found"), "{}", d.footer());
    // The document is brought back to it.
    let line = line_of(&d);
    d.keys("2 Tab 3k");
    assert!(d.footer().contains("cited or found") && line_of(&d) != line, "{}", d.screen());
    d.keys("Enter");
    assert_eq!(line_of(&d), line);
    d.keys("q j Enter");
    assert!(d.footer().contains("cited or found"), "{}", d.footer());
}

#[test]
fn a_place_just_above_the_cited_one_is_on_screen_too() {
    let mut d = Drive::open(&[std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl")]);
    d.resize(80, 24).keys("/ 'paid at most for treatment' Enter Enter");
    d.shows(&["found 3 lines above", "»A  73 ", "▌A  76 ", "recorded   ✗ reject", "0/1 grounded  ✗ reject: "]);
    assert_eq!(d.style_of("✗ reject   ▲").fg, Some(d.colour(Role::Fatal)), "a rejected answer looks rejected");
}

#[test]
fn citations_are_walked_and_copied_with_their_lines() {
    let mut d = answers();
    d.keys("3j Enter s s s");
    d.shows(&["Citation  3/3", "hyphens"]);
    assert_eq!(line_of(&d), 14);
    d.keys("y q");
    assert_eq!(d.copied.last().unwrap(), "“(c) fuel and gas bot-\ntles;”, lines 14-15 (page 3, lines 5-6): hyphens");
    d.keys("s");
    d.shows(&["Citation  1/3"]);
    d.keys("S");
    d.shows(&["Citation  3/3"]);
    d.keys("e");
    d.shows(&["▲ answer/list_truncated_next_pa", "Citation  3/3"]);
    d.keys("}");
    d.shows(&[
        "What does a lost key cost?",
        "A amount    25 EUR",
        "B amount   250 EUR",
        "no quote",
        "two fees are named",
    ]);
}

#[test]
fn the_document_is_read_by_contents_and_search() {
    let mut d = answers();
    d.keys("Enter c");
    d.shows(&["Contents", "3. What must not be stored"]);
    d.keys("G Enter");
    assert_eq!(line_of(&d), 18, "the line of the heading itself");
    d.shows(&["page 4/4"]);
    d.keys("/ 'deposit' Enter n");
    assert_eq!(line_of(&d), 9);
    d.keys("q q");
    assert_eq!(d.app.screens.top(), ScreenKind::Table);
}

#[test]
fn every_pane_of_the_evidence_is_reached_and_survives_any_size() {
    let mut d = answers();
    d.keys("5j Enter");
    d.shows(&["what    │ EUR", "key     │ ∅"]);
    for (width, height) in [(200, 60), (100, 30), (80, 24), (40, 10), (20, 6), (5, 3), (1, 1)] {
        d.resize(width, height);
        d.keys("Tab j G g ^D Tab j G g Tab j G Enter Esc Tab Z j k Z s S c Esc e J J");
    }
    while d.app.screens.top() != ScreenKind::Table {
        d.keys("q");
    }
    d.resize(120, 36).keys("G Enter");
    d.shows(&["no answer", "… pending"]);
    d.keys("Enter s");
    assert!(d.status().contains("has no citations"), "{}", d.status());
}

/// Opens an answer to a question of many points, of which the last says what is asked for.
fn long_question() -> (tempfile::TempDir, Drive) {
    let points: Vec<String> = (1..30).map(|n| format!("(point {n}) what does chapter {n} say of the fee;")).collect();
    let question = format!("{} and which of these is the HIGHEST? Answer with ONE amount only.", points.join(" "));
    let record = r#"{"format": "stepscope.answer_trace", "version": 1, "question": "?", "answer_text": "It is 200"}"#;
    Drive::text(record.replace('?', &question))
}

#[test]
fn a_long_question_of_an_answer_is_a_pane_that_is_read_to_its_end() {
    let (_folder, mut d) = long_question();
    for size in [(80, 24), (120, 36)] {
        d.resize(size.0, size.1);
        d.keys("Enter").shows(&["7 Question", "(point 1)", "…"]).hides(&["HIGHEST"]);
        let rows = d.lines().iter().position(|line| line.contains("1 Answer")).unwrap();
        assert!(rows <= usize::from(size.1) / 3, "a third of the height\n{}", d.screen());
        d.keys("7 Tab G").shows(&["HIGHEST", "ONE amount only."]).hides(&["(point 1)"]);
        d.keys("g").shows(&["(point 1)"]).hides(&["HIGHEST"]);
        d.keys("Z").shows(&["HIGHEST"]).hides(&["1 Answer"]);
        d.keys("Enter").shows(&["╭ question"]);
        d.keys("Esc Z Tab q");
    }
    d.resize(200, 60).keys("Enter").shows(&["ONE amount only."]);
}

#[test]
fn find_shows_where_in_a_long_question_the_text_is() {
    let (_folder, mut d) = long_question();
    d.resize(80, 24).keys("Enter / 'highest' Enter").shows(&["HIGHEST", "1 of 1"]).hides(&["(point 1)"]);
    d.keys("g").shows(&["(point 1)"]).hides(&["HIGHEST"]);
    // The pane is kept for the next answer; where that has no question, it is no pane.
    let without = r#"{"format": "stepscope.answer_trace", "version": 1, "answer_text": "It is 200"}"#;
    let (_folder, mut d) = Drive::text(format!(
        "{}\n{without}",
        r#"{"format": "stepscope.answer_trace", "version": 1, "question": "How much?", "answer_text": "200"}"#
    ));
    d.keys("Enter 7 Tab }").shows(&["It is 200"]).hides(&["Question"]);
    d.keys("7 Tab");
    assert_eq!(d.status(), "no pane has this number here");
}

/// Opens three verified completions with a chain of three stages that judges them.
fn verified() -> (tempfile::TempDir, Drive) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let records = write(
        "cycle_1_verified.jsonl",
        "{\"prompt\": \"Name it\", \"completion\": \"{\\\"name\\\": \\\"please\\\"}\", \"reward\": 1.0, \"success\": true, \"details\": \"\"}\n\
         {\"prompt\": \"Name it\", \"completion\": \"{\\\"nam\\u202ee\\\": 1}\", \"reward\": 1.0, \"success\": true, \"details\": \"\"}\n\
         {\"prompt\": \"Name it\", \"reward\": 0.5}\n",
    );
    let chain = write(
        "chain.toml",
        "[[stage]]\nname = \"is JSON\"\nverifier = \"json_structure\"\nweight = 0.2\n\
         [[stage]]\nverifier = \"json_schema\"\nschema = { required = [\"name\"] }\nweight = 0.5\n\
         [[stage]]\nname = \"polite\"\nverifier = \"regex_format\"\npattern = \"please\"\nweight = 0.3\n",
    );
    let drive = Drive::judged(&records, &chain);
    (folder, drive)
}

#[test]
fn a_record_without_steps_shows_its_reply_and_no_empty_panes() {
    let (_folder, mut d) = verified();
    for size in [(80, 24), (120, 36), (200, 60)] {
        d.resize(size.0, size.1).keys("Enter");
        d.shows(&["Question", "Name it", "Reply", r#"{"name": "please"}"#, "Findings", "reward 1.0"]);
        d.hides(&["Steps", "Global state", "problem_text"]);
        let reply = d.lines().iter().position(|line| line.contains("Reply")).unwrap();
        let findings = d.lines().iter().position(|line| line.contains("3 Findings")).unwrap();
        assert!(findings - reply > usize::from(size.1) / 2, "the reply is large\n{}", d.screen());
        // Tab goes only to what is there.
        for _ in 0..4 {
            d.keys("Tab").shows(&["Name it"]).hides(&["Steps", "Global state"]);
        }
        d.keys("q");
    }
}

#[test]
fn a_ladder_shows_what_each_stage_gave_and_where_it_stopped() {
    let (_folder, mut drive) = verified();
    drive.keys("Enter V");
    let screen = drive.screen();
    assert!(screen.contains("Reward 1.00 passed  = recorded 1.00"), "{screen}");
    assert!(screen.contains("+ 1 is JSON      1.00 × 0.20 = 0.20"), "{screen}");
    assert!(screen.contains("+ 3 polite       1.00 × 0.30 = 0.30"), "{screen}");
    drive.keys("Esc } V");
    let screen = drive.screen();
    assert!(screen.contains("Reward 0.20 failed  ≠ recorded 1.00"), "{screen}");
    assert!(screen.contains("- 2 json_schema  stopped here (alone 0.50)"), "{screen}");
    assert!(screen.contains("Schema validation failed: 'name' is a required property"), "{screen}");
    assert!(screen.contains("– 3 polite       not reached"), "{screen}");
    drive.resize(80, 24);
    insta::assert_snapshot!("ladder_80x24", drive.screen());
    drive.resize(40, 8).keys("G");
    assert!(drive.screen().contains("not reached"), "{}", drive.screen());
    drive.resize(120, 36).keys("Esc }");
    assert!(drive.app.screens.dialog.is_none());
    drive.keys("V");
    assert!(drive.screen().contains("Reward not scored"), "{}", drive.screen());
    assert!(!drive.screen().contains("is JSON"));
}

#[test]
fn names_of_wide_letters_have_their_columns() {
    let name = "変数の名前です変数";
    let run = format!(
        r#"{{"mode": "procedural", "question": "q", "procedure": {{"NameDescription": "n", "steps": [{{"id": 1, "stepDescription": "s", "inputs": [], "output": [{{"name": "{name}", "description": "d"}}]}}]}}, "state": {{"{name}": 1}}}}"#
    );
    let (_folder, mut d) = Drive::text(run);
    d.keys("Enter ]").shows(&[&format!("{name} 1")]);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let chain =
        write("chain.toml", "[[stage]]\nname = \"正しい形の答え\"\nverifier = \"json_structure\"\nweight = 1.0\n");
    let mut d = Drive::judged(&write("records.jsonl", "{\"prompt\": \"p\", \"completion\": \"{}\"}\n"), &chain);
    d.keys("Enter V").shows(&["1 正しい形の答え  "]);
}

#[test]
fn without_a_verifier_there_is_no_ladder() {
    let mut drive = Drive::runs();
    drive.keys("Enter V");
    assert!(drive.app.screens.dialog.is_none());
    assert!(drive.screen().contains("no verifier; start with --chain or --verifier"));
    assert!(!drive.screen().contains("V reward"));
}

#[test]
fn what_cannot_be_looked_for_stays_to_be_mended() {
    let mut d = Drive::runs();
    d.keys("f 'cell:only_a' Enter");
    d.shows(&["cell:only_a"]);
    assert!(matches!(&d.app.screens.dialog, Some(Dialog::Prompt(prompt)) if prompt.line.value() == "cell:only_a"));
    assert!(
        d.app.status.now.as_ref().is_some_and(|status| status.failed && status.text.as_str().contains("--baseline"))
    );
    assert_eq!(d.app.table.filter_text, "");
    d.keys("^U 'steps>1' Enter");
    assert_eq!((d.app.screens.dialog.is_none(), d.app.table.filter_text.as_str()), (true, "steps>1"));
}

#[test]
fn the_footer_leads_to_findings_only_where_there_are_some() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let samples = std::fs::read_to_string(samples).unwrap();
    let record = samples.lines().next().unwrap();
    let (_folder, mut d) = Drive::text(record);
    d.keys("e");
    assert!(!d.footer().contains("with findings"), "{}", d.footer());
    assert_eq!(d.status(), "no other record has findings");
    let (_folder, d) = Drive::text(format!("{record}\nno record\n"));
    assert!(d.footer().contains("with findings"), "{}", d.footer());
}

fn answers_of(name: &str) -> Drive {
    Drive::open(&[std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name)])
}

/// Returns the count in front of `grounded` in a line, as the table writes it.
fn count_in(line: &str) -> Option<String> {
    line.split_once(" grounded")?.0.split_whitespace().next_back().map(ToOwned::to_owned)
}

#[test]
fn table_and_header_of_an_answer_count_the_same() {
    let mut d = answers_of("policy.jsonl");
    d.resize(200, 60);
    let mut compared = 0;
    for row in 0..d.app.rows() {
        let digits: Vec<String> = (row + 1).to_string().chars().map(String::from).collect();
        d.keys("g").keys(&digits.join(" ")).keys("G");
        let number = format!(" {} ", row + 1);
        let line = d
            .lines()
            .into_iter()
            .find(|line| line.trim_start_matches('❯').trim_start().starts_with(number.trim_start()))
            .unwrap();
        let in_table = line.split_whitespace().find(|word| {
            word.split_once('/').is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok())
        });
        d.keys("Enter");
        let in_header = d.lines().iter().find_map(|line| count_in(line));
        if let Some(count) = in_table {
            assert_eq!(in_header.as_deref(), Some(count), "{line}\n{}", d.screen());
            compared += 1;
        }
        d.keys("q");
    }
    assert!(compared > 20, "{compared}");
}

/// Returns the inside of every upper border on the screen.
fn titles(d: &Drive) -> Vec<String> {
    let mut all = Vec::new();
    for line in d.lines() {
        for part in line.split('╭').skip(1) {
            let Some((inside, _)) = part.split_once('╮') else { panic!("a title runs into the border: {line}") };
            all.push(inside.to_owned());
        }
    }
    all
}

fn first_word(title: &str) -> &str {
    title.trim_start_matches([' ', '─', '[']).split([' ', '─', ']']).next().unwrap_or_default()
}

#[test]
fn a_title_never_runs_into_the_border_or_its_neighbour() {
    for (file, keys) in [
        ("word_problems.jsonl", "Enter"),
        ("word_problems.jsonl", "Enter r"),
        ("word_problems.jsonl", "O"),
        ("word_problems.jsonl", "Enter j X"),
        ("policy.jsonl", "1 9 G Enter"),
        ("policy.jsonl", "1 9 G Enter Tab Tab Z"),
    ] {
        let mut d = answers_of(file);
        d.resize(220, 60).keys(keys);
        let words: Vec<String> = titles(&d).iter().map(|title| first_word(title).to_owned()).collect();
        assert!(!words.is_empty(), "{file} {keys}\n{}", d.screen());
        for width in 20..200 {
            for height in [20, 24, 36] {
                d.resize(width, height);
                for title in titles(&d).iter().filter(|title| title.starts_with(' ')) {
                    let word = first_word(title);
                    let is_whole = words.iter().any(|known| known == word);
                    let is_cut =
                        word.ends_with('…') && words.iter().any(|known| known.starts_with(word.trim_end_matches('…')));
                    assert!(
                        (is_whole || is_cut) && title.ends_with([' ', '─', '…']),
                        "{file} {keys} {width}x{height}: {title:?} of {words:?}\n{}",
                        d.screen()
                    );
                }
            }
        }
    }
}

/// Opens a record of the sample runs on a large screen.
fn sample_on_a_large_screen(keys: &str) -> String {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut drive = Drive::open(&[samples]);
    drive.resize(200, 60).keys(keys).screen()
}

#[test]
fn a_large_screen_shows_the_whole_prompt_and_what_the_step_replied() {
    let screen = sample_on_a_large_screen("9G Enter");
    // The prompt's first and last lines, the reply and the step as the procedure writes it.
    for text in
        ["6 Prompt", "# Inputs (JSON)", "\"additionalProperties\": false", "as written in the procedure", "40 ≠ 80"]
    {
        assert!(screen.contains(text), "{text}:\n{screen}");
    }
    let reply = screen.find("│ reply").unwrap();
    assert!(screen[reply..].contains("\"final_answer\": \"40\""), "{screen}");
    assert!(!screen.contains('┃'), "something is left out:\n{screen}");
}

#[test]
fn a_run_without_a_procedure_shows_the_call_that_was_to_write_it() {
    let screen = sample_on_a_large_screen("40G Enter");
    for text in ["call that wrote the procedure", "ended by    length", "\"NameDescription\": \"A step-by-step"] {
        assert!(screen.contains(text), "{text}:\n{screen}");
    }
}

#[test]
fn an_answer_that_is_too_long_for_the_title_is_below_the_question() {
    let screen = sample_on_a_large_screen("2G Enter");
    assert!(screen.contains("│ answer The length of the rest of the rope"), "{screen}");
    assert!(!screen.lines().nth(1).unwrap().contains('…'), "{screen}");
}

#[test]
fn the_title_on_a_shared_border_is_that_of_the_pane_below() {
    let mut d = Drive::runs();
    d.resize(80, 24).keys("j Enter");
    for (title, pane_of) in [("Global state", RunPane::State), ("Findings", RunPane::Findings)] {
        d.click_on(title);
        assert_eq!(pane(&d), pane_of, "{title}");
    }
}

#[test]
fn lines_that_the_state_leaves_blank_are_for_the_findings() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut drive = Drive::open(&[samples]);
    drive.resize(80, 24).keys("2G Enter");
    drive.shows(&["confidence             1", "⇒ The plan is right", "19 but wrote 3."]);
}

#[test]
fn tab_reaches_every_pane_that_holds_something_where_one_fills_the_screen() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut drive = Drive::open(&[samples]);
    drive.resize(80, 24).keys("2G Enter Z");
    let mut titles = Vec::new();
    for _ in 0..8 {
        let title = drive.screen().lines().nth(1).unwrap().to_owned();
        titles.push(title);
        drive.keys("Tab");
    }
    for title in ["Reply and prompt", "Expected answer (gold)", "Timeline", "Question"] {
        assert!(titles.iter().any(|line| line.contains(title)), "{title}: {titles:#?}");
    }
}

#[test]
fn without_colours_the_pane_that_has_the_keys_has_a_line_of_its_own() {
    let mut d = Drive::runs();
    d.app.looks.theme =
        stepscope::widgets::theme::Theme::built_in("mono", stepscope_terminal::colour::Depth::Mono).unwrap();
    d.keys("j Enter").shows(&["╠ 1 Steps", "┬ 2 Global state"]);
    let cursor = |d: &Drive| d.cursor().map(|place| place.x < 40);
    assert_eq!(cursor(&d), Some(true), "the cursor is in the pane that has the keys\n{}", d.screen());
    d.keys("Tab").shows(&["├ 1 Steps", "╦ 2 Global state"]);
    assert_eq!(cursor(&d), Some(false), "{}", d.screen());
}

#[test]
fn the_first_proof_is_two_keys_away() {
    for size in [(80, 24), (120, 36), (200, 60)] {
        let mut d = Drive::runs();
        d.resize(size.0, size.1).keys("j");
        d.keys("Enter p").shows(&["Enter goes there"]);
    }
    let mut d = Drive::runs();
    d.keys("Enter p");
    assert_eq!(d.status(), "no recomputed value here", "nothing is wrong with the first record");
}

#[test]
fn the_title_names_the_proof_that_the_key_opens() {
    let mut d = Drive::runs();
    d.resize(80, 24).keys("j Enter 2 Tab g");
    let mut named = HashSet::new();
    for _ in 0..d.app.screens.record().unwrap().opened.variables.len() {
        let lines = d.lines();
        let name = lines.iter().find_map(|line| line.split_once("p: why ")?.1.split_once('?')).unwrap().0;
        d.keys("p").shows(&[&format!("╭ {name}  Enter goes there")]);
        named.insert(name.to_owned());
        d.keys("Esc j");
    }
    assert!(named.len() > 1, "{named:?}");
}

#[test]
fn the_menu_of_a_pane_begins_with_what_the_pane_is_for() {
    let mut d = Drive::runs();
    d.keys("j Enter");
    let mut first = |title: &str| {
        let (x, y) = d.find(title);
        d.mouse(MouseEventKind::Down(MouseButton::Right), x, y);
        let lines = d.lines();
        let at = lines.iter().position(|line| line.contains("╭ Actions")).unwrap();
        let row = lines[at + 3].clone();
        d.keys("Esc");
        row
    };
    for (title, action) in [("Global state", "open "), ("Findings", "open "), ("Question", "copy question")] {
        let row = first(title);
        assert!(row.contains(&format!("❯{action}")), "{title}: {row}");
    }
    d.keys("2 Tab :").shows(&["❯open", "why this value", "copy value"]);
}

#[test]
fn a_step_is_marked_by_a_finding_about_what_it_wrote() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(std::slice::from_ref(&samples));
    d.keys("4j Enter").shows(&["▲ 3 Form the expression", "✗ 4 step to fix Assign year_expr to"]);
    d.keys("i").hides(&["no finding about this step"]);
    // The answer's number has the proof of the answer, under its own name.
    let mut other = Drive::open(std::slice::from_ref(&samples));
    other.keys("j Enter e p").shows(&["final_answer_numerical  Enter goes there", "recorded  3"]);
    // The variable that is marked can be overridden, whichever pane has the keys.
    d.keys("[ [ v").shows(&["months_expr"]).hides(&["select a variable"]);
}

#[test]
fn an_answer_that_is_text_is_shown_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.jsonl");
    let record = r#"{"format": "stepscope.answer_trace", "version": 1, "question": "How much?", "answer_text": "It is 200\nor so."}"#;
    std::fs::write(&path, format!("{record}\n")).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    // The route's name is in the checks; the pane of the answer does not say that there is none.
    d.keys("Enter").shows(&["text without items", "It is 200", "or so.", "no answer ← no items"]);
    d.hides(&["│ no answer", "has the rest"]);
    std::fs::write(&path, format!("{}\n", record.replace("or so.", &"and so on, ".repeat(400)))).unwrap();
    Drive::open(std::slice::from_ref(&path)).keys("Enter").shows(&["It is 200", "… the JSON has the rest"]);
}

#[test]
fn a_recorded_reward_is_on_its_record_and_q_quits_from_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    std::fs::write(&path, "{\"id\": \"a\", \"prompt\": \"2 + 2?\", \"completion\": \"4\", \"reward\": 0.5}\n").unwrap();
    let mut d = Drive::open(&[path]);
    assert!(d.footer().contains("q quit"), "{}", d.footer());
    d.keys("Enter").shows(&["reward 0.5"]);
    assert!(d.footer().contains("q back"), "{}", d.footer());
}

#[test]
fn a_proof_that_is_cut_says_how_much_is_left() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    d.resize(120, 36).keys("4j Enter").shows(&["Why final_answer", "more lines: p"]);
    d.resize(200, 60).hides(&["more lines: p"]);
}

#[test]
fn a_selected_bar_is_as_long_without_colours() {
    let mut d = Drive::runs();
    assert!(d.app.looks.choose(Some("mono")).is_ok());
    d.keys("I");
    let is_reversed = |text: &str| d.style_of(text).add_modifier.contains(Modifier::REVERSED);
    assert!(is_reversed("correct"), "the row is selected");
    assert!(!is_reversed("███"), "a bar in reverse looks like the rest of its scale");
}

#[test]
fn every_run_opens_at_its_step_to_fix_and_the_first_press_stays_there() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    let mut known = 0;
    for row in 1..=d.app.store.len() {
        d.keys(&format!("{row}G Enter"));
        let view = d.app.screens.record().unwrap();
        if let Some(step) = view.opened.where_to_fix.as_ref().and_then(|verdict| verdict.step) {
            known += 1;
            assert_eq!(moment(&d), step + 1, "record {row}");
            assert_eq!((moment(d.keys("e")), pane(&d)), (step + 1, RunPane::Findings), "record {row}");
        }
        d.keys("q");
    }
    assert!(known > 20, "{known} runs with a step to fix");
}

#[test]
fn an_answer_opens_at_the_check_that_failed() {
    let policy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let mut d = Drive::open(&[policy]);
    d.resize(120, 36);
    let mut failed = 0;
    for row in 1..=d.app.store.len() {
        d.keys(&format!("{row}G Enter"));
        let view = d.app.screens.record().unwrap();
        let (answer, notes) = (view.answer.as_ref().unwrap(), &view.opened.notes);
        let at = answer.checks.at;
        if notes.iter().any(|note| note.severity <= Severity::Repairable) {
            failed += 1;
            d.keys("e");
            let answer = d.app.screens.record().unwrap().answer.as_ref().unwrap();
            assert!(answer.fact().is_none(), "record {row}: the cursor is on a finding");
            assert_eq!(answer.checks.at, at, "record {row}: where it opened");
        }
        d.keys("q");
    }
    assert!(failed > 5, "{failed} answers with an error");
}

#[test]
fn rerun_of_another_step_offers_the_step_to_fix() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    d.keys("f 'fix:step_run fix_step=2' Enter Enter");
    assert_eq!(moment(&d), 2);
    d.keys("r");
    assert!(!d.status().contains("step to fix"), "this is it: {}", d.status());
    d.keys("q q Enter G r");
    let at = d.app.screens.attempt().unwrap().step;
    assert!(at > 1 && d.status().contains("The step to fix is 2: r"), "{}", d.status());
    d.keys("r");
    assert_eq!(d.app.screens.attempt().unwrap().step, 1);
    assert!(d.header().contains("re-run step 2/") && !d.status().contains("step to fix"), "{}", d.screen());
}

#[test]
fn one_key_leads_to_the_next_wrong_record_from_anywhere_and_one_to_the_next_with_findings() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    let row = |d: &Drive, record: usize| *d.app.store.row(record).unwrap();
    let all = d.app.store.len();
    let wrong: Vec<usize> = (0..all).filter(|record| row(&d, *record).is_wrong()).collect();
    let flagged: Vec<usize> = (0..all).filter(|record| row(&d, *record).worst().is_some()).collect();
    assert!(wrong.iter().any(|record| !flagged.contains(record)), "a wrong run without findings is no longer skipped");
    for (key, hint, wanted) in [("z", "z next wrong", &wrong), ("P", "with findings", &flagged)] {
        for keys in ["g", "g Enter", "g Enter J"] {
            d.keys(keys);
            let screen = d.app.screens.top();
            let mut visited = vec![d.app.record().unwrap()];
            for _ in 0..wanted.len() {
                d.keys(key);
                assert_eq!(d.app.screens.top(), screen, "the screen stays");
                visited.push(d.app.record().unwrap());
            }
            let mut expected: Vec<usize> = wanted.iter().copied().filter(|record| *record > 0).collect();
            expected.insert(0, 0);
            visited.truncate(expected.len());
            assert_eq!(visited, expected, "{keys} {key}");
            if d.app.screens.top() == ScreenKind::Run || d.app.screens.top() == ScreenKind::Table {
                assert!(d.resize(120, 36).footer().contains(hint), "{}", d.footer());
            }
            while d.app.screens.top() != ScreenKind::Table {
                d.keys("q");
            }
        }
    }
}

#[test]
fn the_first_difference_and_the_step_to_fix_are_two_things_with_a_reason() {
    let mut d = Drive::runs();
    d.resize(120, 36).keys("j Enter");
    let view = d.app.screens.record().unwrap();
    let (first, to_fix) = (2, view.opened.where_to_fix.as_ref().unwrap().step.unwrap() + 1);
    assert_ne!(first, to_fix);
    d.shows(&["2 first difference", &format!("{to_fix} step to fix"), "first difference: step 2"]);
    let told = &d.app.screens.record().unwrap().opened.notes.last().unwrap().message;
    let (begin, end) = ("First difference: step 2", format!("step to fix is {to_fix}."));
    assert!(told.as_str().starts_with(begin) && told.as_str().ends_with(&end), "{told}");
}

const FERRY: &str = r#"{"id": "boat", "question": "A ferry carries 24 cars and 3 buses. Each car has 4 people and each bus has 30 people. A third of all the people get off. How many are left?", "gold_answer": "\#### 124", "status": "ok", "mode": "procedural",
    "procedure": {"NameDescription": "People left", "steps": [
    {"id": 1, "inputs": [{"name": "problem_text", "description": "the question"}], "stepDescription": "Read the numbers of cars, buses, people per car and people per bus.", "output": [{"name": "cars", "description": "number of cars"}, {"name": "buses", "description": "number of buses"}, {"name": "per_car", "description": "people per car"}, {"name": "per_bus", "description": "people per bus"}]},
    {"id": 2, "inputs": [{"name": "cars", "description": ""}, {"name": "per_car", "description": ""}, {"name": "buses", "description": ""}, {"name": "per_bus", "description": ""}], "stepDescription": "Calculate total = cars * per_car + buses * per_bus.", "output": [{"name": "total", "description": "people on the ferry"}]},
    {"id": 3, "inputs": [{"name": "total", "description": ""}], "stepDescription": "A third of the people get off. Calculate people_left = total - total / 3.", "output": [{"name": "people_left", "description": "people left"}]},
    {"id": 4, "inputs": [{"name": "people_left", "description": ""}], "stepDescription": "State the final answer from people_left.", "output": [{"name": "final_answer", "description": "the final answer"}]}]},
    "state": {"problem_text": "", "cars": 24, "buses": 3, "per_car": 4, "per_bus": 30, "total": 176, "people_left": 117.33, "final_answer": "117", "final_answer_numerical": 117}, "pred_num": 117}"#;

#[test]
fn a_proof_marks_where_the_run_left_it_and_names_the_sources_that_the_step_means() {
    let (_folder, mut d) = Drive::text(FERRY.replace("\\#", "#"));
    d.resize(120, 36).keys("Enter");
    assert_eq!(moment(&d), 2);
    d.keys("p").shows(&["total = 186 = 24 × 4 + 3 × 30", "inferred 176: left here"]);
    d.keys("Esc ] Tab").shows(&["people_left"]);
    d.keys("p").shows(&["people_left = 124", "✗ inferred 117.33", "“third” in the question", ": left here"]);
    let tree = d.lines().into_iter().filter(|line| line.contains("in the question")).collect::<Vec<_>>();
    assert_eq!(tree.iter().filter(|line| line.contains("“3”")).count(), 1, "the buses alone are 3: {tree:#?}");
}

#[test]
fn the_head_of_a_proof_shows_what_was_recorded_of_the_variable_that_was_asked_for() {
    let text = FERRY.replace("\\#", "#").replace(r#""final_answer": "117""#, r#""final_answer": "About 117 people""#);
    let (_folder, mut d) = Drive::text(text);
    d.resize(160, 40).keys("Enter ] ] Tab G");
    let shown = d.screen();
    d.keys("p");
    let head = d.lines().into_iter().find(|line| line.contains("final_answer_numerical = 124")).expect(&shown);
    assert!(head.contains("117") && !head.contains("About"), "{head}");
}

#[test]
fn commands_of_other_programs_mean_what_they_mean_there_and_scattered_letters_nothing() {
    let mut d = Drive::runs();
    d.keys("j Enter : 'foo' Enter");
    assert!(d.app.screens.dialog.is_none() && d.status().contains("No matching command"), "{}", d.status());
    d.keys(": 'c'").shows(&["copy value", "compare"]);
    d.keys("Enter");
    assert!(d.copied.is_empty() && d.status().contains("Several commands fit"), "{}", d.status());
    d.keys("Esc : 'help' Enter").shows(&["Esc close"]);
    d.keys("Esc : '3' Enter");
    assert_eq!(moment(&d), 3);
    d.keys(": 'w' Enter");
    assert!(d.status().contains("no overrides"), "{}", d.status());
    d.keys("q : '4' Enter");
    assert_eq!(d.app.record(), Some(3));
    assert_eq!(d.quit, None);
    d.keys("Enter : 'q' Enter");
    assert_eq!((d.quit, d.copied.is_empty()), (Some(0), true));
}

#[test]
fn find_looks_in_what_people_read_lands_on_it_and_marks_it() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    d.resize(120, 36).keys("/ 'rope' Enter");
    let found = d.app.table.finding.as_ref().unwrap().len();
    assert!((1..5).contains(&found), "{found} records speak of ropes, the schemas of all of properties");
    d.keys("Enter");
    assert!(d.screen().to_lowercase().contains("rope") && d.status().contains("1 of"), "{}", d.screen());
    let marked = d.colour(Role::Match);
    let (x, y) = d.find("rope");
    assert_eq!(d.colour_at(x, y), marked);
    d.keys("q / 'prompt:properties' Enter");
    assert!(d.app.table.finding.as_ref().unwrap().len() > 20, "prompts are looked through where they are asked for");
    d.keys("Enter").shows(&["[prompt]"]);
}

#[test]
fn jumps_lead_back_and_forward_again() {
    let mut d = Drive::runs();
    d.keys("^O");
    assert_eq!(d.status(), "no earlier place");
    d.keys("j Enter Tab g j");
    let place = |d: &Drive| {
        let view = d.app.screens.record();
        (d.app.screens.top(), d.app.record(), view.map(|view| (view.moment.0, view.variables.at)))
    };
    let before = place(&d);
    d.keys("w");
    let after = place(&d);
    assert_ne!(before, after, "{}", d.status());
    d.keys("^O");
    assert_eq!(place(&d), before);
    d.keys("^T");
    assert_eq!(place(&d), after);
    d.keys("}");
    assert_eq!(d.app.record(), Some(2));
    d.keys("^O");
    assert_eq!(place(&d), after, "into the record before");
    d.keys("^O ^O ^O ^O ^O");
    assert_eq!((d.app.screens.top(), d.app.record()), (ScreenKind::Table, Some(1)), "to the row that was opened");
}

#[test]
fn messages_can_be_read_after_the_next_one() {
    let mut d = Drive::runs();
    d.keys("n j > j : 'messages' Enter");
    d.shows(&["messages, newest first", "no search yet; / searches", "Sorted by"]);
    d.keys("Esc");
    assert!(d.app.screens.dialog.is_none());
}

#[test]
fn the_help_is_searched_and_runs_what_is_found() {
    let mut d = Drive::runs();
    d.keys("? / 'charts'").shows(&["Actions"]);
    d.keys("Esc ? / 'reverse order' Enter");
    assert!(d.app.table.descending && d.app.screens.dialog.is_none(), "{}", d.screen());
    d.keys("j Enter y v : 'messages' Enter /");
    assert!(matches!(d.app.screens.dialog, Some(Dialog::Popup(_))), "only the help is searched");
}

#[test]
fn escape_after_a_refused_key_stays() {
    let mut d = Drive::runs();
    d.keys("Enter");
    for key in ["B", "K"] {
        d.keys(key);
        assert!(!d.status().is_empty(), "{key} is refused");
        d.keys("Esc");
        assert_eq!(d.app.screens.top(), ScreenKind::Run, "{key}");
        assert!(d.app.status.now.is_none(), "{key}");
    }
    d.keys("Esc");
    assert_eq!(d.app.screens.top(), ScreenKind::Table, "nothing was refused now");
}

#[test]
fn columns_that_no_listed_record_fills_give_their_width_to_the_text() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    let mut d = Drive::open(&["word_problems.jsonl", "policy.jsonl"].map(|name| samples.join(name)));
    let heads = |d: &Drive| d.lines()[1].split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    d.resize(120, 36);
    let question = d.find("question").0;
    for (head, there) in [("fix", true), ("route", true), ("expected", true), ("kind", true), ("steps", false)] {
        assert_eq!(heads(&d).contains(&head.to_owned()), there, "{head} {:?}", heads(&d));
    }
    d.keys("f 'kind:error' Enter");
    let own = heads(&d);
    assert!(own.contains(&"fix".to_owned()) && own.contains(&"expected".to_owned()), "{own:?}");
    assert!(!own.iter().any(|head| ["route", "conf", "fitness", "continues"].contains(&head.as_str())), "{own:?}");
    assert!(d.find("question").0 < question, "the text begins further left");
    d.keys("Esc f 'kind:typed' Enter");
    let own = heads(&d);
    assert!(own.contains(&"route".to_owned()) && own.contains(&"grounded".to_owned()), "{own:?}");
    assert!(!own.iter().any(|head| ["steps", "fitness", "fix", "kind"].contains(&head.as_str())), "{own:?}");
    d.keys("Esc");
    assert_eq!(d.find("question").0, question, "all are back without the filter");
}

#[test]
fn outcomes_have_their_colours_in_charts() {
    let mut d = answers_of("word_problems.jsonl");
    d.resize(120, 36).keys("I");
    for (name, role) in [("  correct ", Role::Ok), ("  wrong ", Role::Fatal), ("  failed ", Role::Repairable)] {
        let (_, y) = d.find(name);
        let x = d.lines()[usize::from(y)].chars().position(|c| c == '█').unwrap();
        assert_eq!(d.colour_at(x as u16, y), d.colour(role), "{name}");
    }
    let heat = d.lines().into_iter().find(|line| line.contains("  procedure ") && line.contains('·'));
    assert!(heat.is_some_and(|line| !line.contains(" 0 ")), "no row of zeros\n{}", d.screen());
}

#[test]
fn a_step_without_a_procedure_has_the_name_that_its_program_gave_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let run = r#"{"id": 1, "question": "?", "mode": "procedural", "state": {"total": 3}, "trace": {"steps": [
        {"step_index": 0, "name": "extract", "outputs": {"total": 3}}, {"step_index": 1, "raw": "x", "outputs": {}}]}}"#;
    std::fs::write(&path, run.replace('\n', " ") + "\n").unwrap();
    let mut d = Drive::open(&[path]);
    d.keys("Enter");
    let screen = d.screen();
    assert!(screen.contains("1 extract") && screen.contains("2 (call of a model)"), "{screen}");
    assert!(!screen.contains("(no text)"), "{screen}");
}

#[test]
fn conversations_show_what_was_asked_last_and_every_message_with_its_role() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.jsonl");
    let chat = r#"{"messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "How much is the rent?"}, {"role": "assistant", "content": "EUR 200"}]}"#;
    std::fs::write(&path, format!("{chat}\n")).unwrap();
    let mut d = Drive::open(&[path]);
    d.shows(&["reply", "EUR 200", "How much is the rent?"]).hides(&["expected", "\"role\""]);
    d.keys("Enter").shows(&["system: Be short.", "user: How much is the rent?", "EUR 200"]);
}

#[test]
fn a_step_is_ticked_only_where_its_value_was_recomputed_and_agrees() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let mut d = Drive::open(&[samples]);
    // Its first step reads the question, and what its second one wrote is no number.
    d.keys(": '15' Enter Enter");
    d.shows(&["∘ 1 Extract the rows", "∘ 2 Write the equation", "recomputed 240"]).hides(&["✓ 1", "✓ 2"]);
}
