//! The screen over what is very large: what is read is said and can be left, long pastes go in at once, and what is drawn
//! is bounded and says what it leaves out.

use std::fmt::Write as _;
use std::time::Duration;

use crate::support::drive::Drive;
use stepscope::app::msg::Effect;
use stepscope::dialogs::dialog::Dialog;
use stepscope::dialogs::editor;
use stepscope::screens::kind::ScreenKind;
use stepscope::widgets::line::MAX_LINE;
use stepscope_terminal::run::{Event, Program as _};

/// Tells the program what the time is.
fn tick(d: &mut Drive, time: Duration) {
    d.after(time);
    d.event(Event::Tick);
    d.draw();
}

const SOON: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_secs(1);

#[test]
fn what_is_read_for_long_is_said_and_left_at_once() {
    let mut d = Drive::runs();
    assert_eq!(d.app.wake_at(), None);
    d.hold = true;
    d.keys("j f 'kind:procedural' Enter");
    d.release();
    let filtered = d.table_ids();
    d.hold = true;
    // Its preview is not there yet.
    d.keys("j Enter");
    tick(&mut d, SOON);
    d.hides(&["Reading"]);
    tick(&mut d, LATER);
    assert!(d.status().starts_with("Reading record 3 of \"runs.jsonl\", "), "{}", d.status());
    assert!(d.status().ends_with("B. Esc cancels."), "{}", d.status());
    assert_eq!(d.app.wake_at(), None, "once it is said, nothing is to be done");
    d.keys("Esc");
    d.hides(&["Reading"]);
    d.release();
    assert_eq!(d.app.screens.top(), ScreenKind::Table, "what was left does not come");
    assert_eq!(d.table_ids(), filtered, "the filter is as it was");
    // On the run, where Esc goes back otherwise.
    d.keys("Enter");
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    let header = d.header();
    d.hold = true;
    d.keys("{");
    tick(&mut d, LATER);
    tick(&mut d, LATER);
    assert!(d.status().contains("Reading record 2"), "{}", d.status());
    d.keys("Esc").release();
    assert_eq!((d.app.screens.top(), d.header()), (ScreenKind::Run, header));
}

#[test]
fn a_pasted_megabyte_goes_into_a_line_at_once_as_far_as_it_fits() {
    let mut d = Drive::runs();
    let long = "漢 text with words and \u{202e} signs ".repeat((1 << 20) / 35);
    for prompt in ["f", "/", ":"] {
        d.keys(prompt);
        d.paste(&long);
        assert!(d.status().contains("only the first 64 kB were pasted"), "{prompt}: {}", d.status());
        let line = d.app.screens.dialog.as_mut().and_then(Dialog::line_mut).unwrap();
        assert!(line.value().len() > MAX_LINE - 4 && line.value().len() <= MAX_LINE, "{}", line.value().len());
        // It is edited as any other, and a full line takes no more.
        d.keys("x Left Left Backspace Home a End ^W");
        d.keys("Esc");
        if matches!(d.app.screens.dialog, Some(Dialog::Drop(_))) {
            d.keys("Esc");
        }
        assert!(d.app.screens.dialog.is_none(), "{prompt}");
    }
}

#[test]
fn a_pasted_megabyte_goes_into_the_editor_at_once() {
    let mut d = Drive::runs();
    d.keys("Enter Tab [ [ v");
    let Some(Dialog::Editor(_)) = &d.app.screens.dialog else { panic!("{}", d.screen()) };
    let line = "é\u{202e}x".repeat(50_000);
    d.paste(&line);
    d.paste(&line);
    let Some(Dialog::Editor(open)) = &d.app.screens.dialog else { panic!("{}", d.screen()) };
    assert_eq!(open.text().matches(&line).count(), 2, "{}", open.text().len());
    d.paste(&"y".repeat(editor::MAX_TEXT));
    d.shows(&["this text is too long to edit here"]);
}

/// Makes a run whose first step writes many variables and whose second reads them all.
fn many_variables(count: usize) -> String {
    let fields = (0..count).fold(String::new(), |all, n| {
        all + if n > 0 { "," } else { "" } + &format!(r#"{{"name":"v{n}","description":"d"}}"#)
    });
    let state = (0..count).fold(String::new(), |mut all, n| {
        let _ = write!(all, r#""v{n}":{n},"#);
        all
    });
    format!(
        r#"{{"id":"a","question":"q","status":"ok","mode":"procedural","procedure":{{"NameDescription":"n","steps":[{{"id":1,"inputs":[{{"name":"problem_text","description":"d"}}],"stepDescription":"w","output":[{fields}]}},{{"id":2,"inputs":[{fields}],"stepDescription":"r","output":[{{"name":"final_answer","description":"d"}}]}}]}},"state":{{{state}"final_answer":"1"}}}}"#
    )
}

#[test]
fn a_step_lists_the_first_of_many_values_and_counts_the_rest() {
    let (_folder, mut d) = Drive::text(many_variables(700));
    d.keys("Enter");
    d.app.screens.record_mut().unwrap().focus(stepscope::screens::run::pane::RunPane::Step);
    d.keys("Z").shows(&["reads", "v0"]);
    assert_eq!(d.app.screens.record().unwrap().detail.reads.len(), 500);
    while !d.screen().contains("… and 200 more (see global state)") {
        let before = d.screen();
        d.keys("^D");
        assert_ne!(before, d.screen(), "the end came without the count");
    }
}

#[test]
fn what_is_too_long_to_be_laid_out_is_announced() {
    let text = "a word ".repeat(20_000);
    let record =
        format!(r#"{{"id":"a","question":"{text}","mode":"baseline","gold_num":1.0,"pred_num":1,"raw":"{text}"}}"#);
    let (_folder, mut d) = Drive::text(record);
    d.keys("Enter").shows(&["Question", "… 74.5 kB more; stepscope show prints them"]);
    d.app.screens.record_mut().unwrap().focus(stepscope::screens::run::pane::RunPane::Question);
    d.keys("Enter").shows(&["… 74.5 kB more; stepscope show prints them", "Esc closes"]);
}

#[test]
fn rows_are_asked_for_once_while_a_key_is_held_down() {
    let record = |n: usize| {
        let right = n < 900;
        let pred = if right { 1 } else { 2 };
        format!(
            r#"{{"id":"a{n}","question":"Question {n}?","mode":"baseline","gold_num":1,"pred_num":{pred},"correct":{right}}}"#
        )
    };
    let (_folder, mut d) = Drive::text((0..1_000).map(|n| record(n) + "\n").collect::<String>());
    d.hold = true;
    for _ in 0..300 {
        d.keys("j");
    }
    let asked = d.held.iter().filter(|effect| matches!(effect, Effect::RowTexts(..))).count();
    assert!((1..=30).contains(&asked), "{asked} requests for 300 rows");
    // Of several requests only the last is answered.
    let last = d.held.iter().rposition(|effect| matches!(effect, Effect::RowTexts(..))).unwrap();
    let mut nth = 0..;
    d.held.retain(|effect| nth.next() == Some(last) || !matches!(effect, Effect::RowTexts(..)));
    d.release();
    for n in 285..=300 {
        d.shows(&[&format!("Question {n}?")]);
    }
    // Nor does the list of matching records ask again, whatever happens meanwhile.
    d.resize(200, 60).keys("I").hold = true;
    d.keys("j");
    (0..10).for_each(|_| tick(&mut d, SOON));
    assert_eq!(d.held.iter().filter(|effect| matches!(effect, Effect::RowTexts(..))).count(), 1);
    d.release();
    d.shows(&["Question 900?", "Question 940?"]);
}

#[test]
fn a_record_far_down_is_listed_next_to_its_number_bit_by_bit() {
    const RECORDS: usize = 13_000;
    let rare = RECORDS - 1;
    let lines = (0..RECORDS).fold(String::new(), |mut all, n| {
        let (pred, correct) = if n == rare { (2, false) } else { (1, true) };
        let _ = writeln!(
            all,
            r#"{{"id":{n},"question":"q{n}","mode":"baseline","gold_num":1.0,"pred_num":{pred},"correct":{correct}}}"#
        );
        all
    });
    let (_folder, mut d) = Drive::text(lines);
    d.resize(200, 60).keys("I").shows(&["Matching records  first 55 records", "q54"]).hides(&["q55"]);
    assert_eq!(d.app.wake_at(), None, "no more fit");
    d.keys("j").shows(&["Matching records  searching…  0 found"]);
    let mut ticks = 0;
    while d.app.wake_at().is_some() {
        tick(&mut d, Duration::ZERO);
        ticks += 1;
        assert!(ticks < RECORDS, "it looks forever");
    }
    assert!(ticks > 1, "a key looks at a part of them only");
    d.shows(&["Matching records  1 record", "13000 ✗"]);
    d.keys("k j").shows(&["searching…"]);
    while d.app.wake_at().is_some() {
        tick(&mut d, Duration::ZERO);
    }
    d.click_on("13000 ✗");
    assert_eq!((d.app.screens.top(), d.app.record()), (ScreenKind::Table, Some(rare)));
}
