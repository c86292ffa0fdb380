//! What every screen looks like, and that it can be drawn at every size from every record.

use crate::support::drive;
use crate::support::drive::Drive;
use crate::support::nasty;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use proptest::prelude::*;
use ratatui::style::Color;
use stepscope::screens::kind::ScreenKind;
use stepscope::widgets::theme::{Role, Theme};
use stepscope_terminal::colour::Depth;
use unicode_width::UnicodeWidthChar as _;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 36), (200, 60)];

/// Screens, and the keys that lead to them from the table.
const SCREENS: [(&str, &str); 4] =
    [("table", "j"), ("run", "j Enter [ Tab"), ("json", "j Enter e Enter"), ("help", "j Enter ?")];

#[test]
fn screens_look_like_this() {
    for (name, keys) in SCREENS {
        for (width, height) in SIZES {
            let mut drive = Drive::runs();
            drive.resize(width, height).keys(keys);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), drive.screen());
        }
    }
}

const TALK: &str = r#"{"id": "t", "model": "m-7", "prompt": [{"role": "system", "content": "Use the tools."},
 {"role": "user", "content": "How much is the rent?"}, {"role": "assistant", "content": null, "reasoning": "First the lease.",
 "tool_calls": [{"id": "a", "function": {"name": "read_page", "arguments": "{\"page\": 3}"}}]},
 {"role": "tool", "tool_call_id": "a", "content": "Rent: EUR 812.50"}, {"role": "user", "content": "And in a year?"}],
 "response": "EUR 9,750.\u001b[31m", "duration_ms": 812, "usage": {"prompt_tokens": 120, "completion_tokens": 31}}"#;

#[test]
fn a_conversation_opens_as_its_messages() {
    for (width, height) in SIZES {
        let (_folder, mut drive) = Drive::text(TALK.replace('\n', ""));
        drive.resize(width, height).keys("Enter");
        insta::assert_snapshot!(format!("messages_{width}x{height}"), drive.screen());
        drive.keys("k k Enter").shows(&["read_page(page=3) → Rent: EUR 812.50", "First the lease."]);
        drive.keys("Esc J").shows(&["reasoning: \"First the lease.\""]);
    }
}

#[test]
fn the_calls_of_an_agent_are_one_conversation() {
    let call = |step: usize, prompt: &str, reply: &str| {
        format!(r#"{{"step_index": {step}, "prompt": {prompt}, "raw": "{reply}", "model": "m"}}"#)
    };
    let first = r#"[{"role": "user", "content": "Sum?"}]"#;
    let second = r#"[{"role": "user", "content": "Sum?"}, {"role": "assistant", "content": "Of what?"},
 {"role": "user", "content": "2 and 3"}]"#;
    let steps = [call(0, first, "Of what?"), call(1, second, "5"), call(2, first, "Which numbers?")].join(",");
    let run = format!(
        r#"{{"id": "a", "question": "Sum?", "status": "ok", "mode": "agent", "raw": "5", "state": {{"final_answer": "5"}}, "trace": {{"format": "stepscope.run_trace", "version": 1, "steps": [{steps}]}}}}"#
    );
    let (_folder, mut drive) = Drive::text(run.replace('\n', ""));
    drive.resize(120, 36).keys("Enter 10 Tab").shows(&[
        "Messages  5/5",
        "asked apart from what is above",
        "Which numbers?",
    ]);
    drive.keys("g").shows(&["step 1/3", "Messages  1/5"]);
    drive.keys("j j").shows(&["step 2/3", "2 and 3"]);
    // Evoproc's prompts are texts: there is no conversation.
    let mut evoproc = Drive::runs();
    evoproc.resize(120, 36).keys("Enter 10 Tab").hides(&["Messages"]);
}

/// Returns a theme in which every role has a colour of its own: the blue part is its number.
fn roles() -> Theme {
    let plain = |role: &Role| matches!(role, Role::Screen | Role::Selection | Role::SelectionDim);
    let line = |(n, role): (usize, &Role)| {
        let style = if plain(role) { String::new() } else { format!(" fg = \"#0000{:02x}\" ", n + 1) };
        format!("{} = {{{style}}}\n", role.name())
    };
    let lines = Role::ALL.iter().enumerate().map(line);
    let lines: String = lines.collect();
    let text = format!("background = \"#000000\"\nseries = [\"#0000ff\"]\n[palette]\n[roles]\n{lines}");
    Theme::parse("roles", &text, Depth::True).unwrap()
}

/// Returns the sign of the role of a cell, and its name.
fn role_of(colour: Color) -> (char, &'static str) {
    const SIGNS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let Color::Rgb(_, _, blue) = colour else { return (' ', "none") };
    let n = usize::from(blue).wrapping_sub(1);
    (SIGNS.chars().nth(n).unwrap_or('#'), Role::ALL.get(n).map_or("series", |role| role.name()))
}

/// Returns the screen as text, below it the role of every cell that is not blank, and what the signs mean. Lines that
/// name this folder are left out.
fn with_roles(drive: &mut Drive) -> String {
    drive.app.looks.theme = roles();
    drive.draw();
    let mut meaning = std::collections::BTreeMap::new();
    let mut grid = String::new();
    let lines = drive.lines().into_iter().enumerate();
    let lines: Vec<_> = lines.filter(|(_, line)| !line.contains(env!("CARGO_MANIFEST_DIR"))).collect();
    for (y, line) in &lines {
        let mut column = 0;
        let mut row = String::new();
        for c in line.chars() {
            let (sign, name) = role_of(drive.colour_at(column, *y as u16));
            row.push(if c == ' ' { ' ' } else { sign });
            if c != ' ' {
                meaning.insert(sign, name);
            }
            column += c.width().unwrap_or(0) as u16;
        }
        grid.push_str(row.trim_end());
        grid.push('\n');
    }
    let meaning: Vec<String> = meaning.into_iter().map(|(sign, name)| format!("{sign} {name}")).collect();
    let screen: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    format!("{}\n\n{grid}\n{}", screen.join("\n"), meaning.join("  "))
}

#[test]
fn every_screen_has_these_roles() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let [run, base, answers, problems, baseline] = [
        "tests/fixtures/compare/runs.jsonl",
        "tests/fixtures/compare/base.jsonl",
        "sample_runs/policy.jsonl",
        "sample_runs/word_problems.jsonl",
        "sample_runs/baseline.jsonl",
    ]
    .map(|name| root.join(name));
    let runs: [(&str, &str); 9] = [
        ("table", "j"),
        ("run", "j Enter [ Tab"),
        ("json", "j Enter e Enter"),
        ("help", "j Enter ?"),
        ("palette", ": 'diff'"),
        ("filter", "f 'kind:'"),
        ("insights", "I j"),
        ("derivation", "j Enter Tab G Enter"),
        ("review", "j Enter"),
    ];
    for (name, keys) in runs {
        let folder = tempfile::tempdir().unwrap();
        let mut drive = match name {
            "review" => Drive::reviewing(&root.join("tests/fixtures/runs.jsonl"), "ada", folder.path(), |_| {}),
            _ => Drive::runs(),
        };
        insta::assert_snapshot!(format!("roles_{name}"), with_roles(drive.keys(keys)));
    }
    let mut answer = Drive::open(&[answers]);
    insta::assert_snapshot!("roles_answer", with_roles(answer.keys("19G Enter")));
    let mut rerun = Drive::open(std::slice::from_ref(&problems));
    rerun.ask(drive::small_at("http://127.0.0.1:9".to_owned()));
    insta::assert_snapshot!("roles_rerun", with_roles(rerun.keys("2G Enter r")));
    for (name, keys) in [("compare", "m"), ("side_by_side", "2G B")] {
        let mut drive = Drive::beside(&problems, &baseline);
        insta::assert_snapshot!(format!("roles_{name}"), with_roles(drive.keys(keys)));
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("runs.jsonl");
    std::fs::copy(&run, &copy).unwrap();
    // Ada and Bob agree on one item, give another different labels, and disagree on a third.
    std::fs::copy(root.join("tests/fixtures/two_reviewers.jsonl"), folder.path().join("runs.jsonl.reviews.jsonl"))
        .unwrap();
    for (name, keys) in [("dashboard", "O"), ("adjudication", "A")] {
        let mut drive = Drive::beside(&copy, &base);
        insta::assert_snapshot!(format!("roles_{name}"), with_roles(drive.keys(keys)));
    }
}

#[test]
fn every_dialog_has_these_roles() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let [runs, answers, problems, baseline] = [
        "tests/fixtures/runs.jsonl",
        "sample_runs/policy.jsonl",
        "sample_runs/word_problems.jsonl",
        "sample_runs/baseline.jsonl",
    ]
    .map(|name| root.join(name));
    let cases: [(&str, &std::path::Path, &str); 11] = [
        ("find", &runs, "/ 'cars'"),
        ("filter_refused", &runs, "f 'colour:red'"),
        ("popup", &runs, "j Enter Tab Enter"),
        ("override", &runs, "j Enter [ [ Tab v"),
        ("drop", &runs, "f 'kind:' Esc"),
        ("export", &runs, "j Enter o"),
        ("export_file", &runs, "j Enter o Enter"),
        ("fixes", &runs, "j Enter F"),
        ("contents", &answers, "19G Enter c"),
        ("document", &answers, "19G Enter Tab"),
        ("find_answer", &answers, "19G Enter / 'doctor' Enter"),
    ];
    for (name, path, keys) in cases {
        let mut drive = Drive::open(&[path.to_owned()]);
        insta::assert_snapshot!(format!("roles_{name}"), with_roles(drive.keys(keys)));
    }
    // The actions of the pane under the mouse.
    let mut menu = Drive::open(std::slice::from_ref(&runs));
    menu.keys("j Enter");
    let (x, y) = menu.find("Findings");
    menu.mouse(MouseEventKind::Down(MouseButton::Right), x, y + 2);
    insta::assert_snapshot!("roles_menu", with_roles(&mut menu));
    let verdicts = [
        ("fail", "j Enter x"),
        ("label", "j Enter x / 'wr'"),
        ("label_all", "X 'wr'"),
        ("confirm", "X Enter"),
        ("guidelines", "j Enter ,"),
        ("first_wrong_step", "j Enter b"),
        ("where_to_fix", "j Enter @"),
        ("expected_answer", "j Enter !"),
        ("note", "j Enter ; 'look here'"),
    ];
    for (name, keys) in verdicts {
        let folder = tempfile::tempdir().unwrap();
        let mut drive = Drive::reviewing(&runs, "ada", folder.path(), |_| {});
        insta::assert_snapshot!(format!("roles_verdict_{name}"), with_roles(drive.keys(keys)));
    }
    for (name, keys, hold) in [("choice", "j Enter", true), ("setting", "6j Enter", false)] {
        let mut rerun = Drive::open(std::slice::from_ref(&problems));
        rerun.ask(drive::small_at("http://127.0.0.1:9".to_owned()));
        rerun.keys("2G Enter r");
        // Whether a server answers on this machine is not asked.
        rerun.hold = hold;
        insta::assert_snapshot!(format!("roles_rerun_{name}"), with_roles(rerun.keys(keys)));
    }
    let folder = tempfile::tempdir().unwrap();
    let [completions, chain] = ["verified.jsonl", "chain.toml"].map(|name| folder.path().join(name));
    let record =
        r#"{"prompt": "Name it", "completion": "{\"name\": \"it\"}", "reward": 0.2, "success": false, "details": ""}"#;
    std::fs::write(&completions, record).unwrap();
    let stages = "[[stage]]\nverifier = \"json_structure\"\nweight = 0.2\n\
                  [[stage]]\nverifier = \"regex_format\"\npattern = \"please\"\nweight = 0.8\n";
    std::fs::write(&chain, stages).unwrap();
    let mut rewards = Drive::judged(&completions, &chain);
    insta::assert_snapshot!("roles_rewards", with_roles(rewards.keys("Enter V")));
    // The records behind a number are listed next to it where there is room.
    let mut records = Drive::beside(&problems, &baseline);
    insta::assert_snapshot!("roles_cell_records", with_roles(records.resize(200, 40).keys("m")));
}

#[test]
fn a_chain_of_thought_looks_like_a_run() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/chains.jsonl");
    for (name, keys) in [("chains", ""), ("chain", "j Enter ] ]")] {
        let mut drive = Drive::open(std::slice::from_ref(&samples));
        drive.resize(120, 36).keys(keys);
        insta::assert_snapshot!(format!("{name}_120x36"), drive.screen());
    }
}

#[test]
fn insights_show_models_rewards_and_rounds() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rewards.jsonl");
    for (name, width, height) in [("insights_rewards_120x80", 120, 80), ("insights_rewards_80x24", 80, 24)] {
        let mut drive = Drive::open(std::slice::from_ref(&samples));
        drive.resize(width, height).keys("I");
        insta::assert_snapshot!(name, drive.screen());
    }
}

#[test]
fn insights_show_in_which_step_to_fix() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    for (name, width, height) in [("insights_steps_80x24", 80, 24), ("insights_steps_120x36", 120, 36)] {
        let mut drive = Drive::open(std::slice::from_ref(&samples));
        drive.resize(width, height).keys("I 7j l l");
        insta::assert_snapshot!(name, drive.screen());
    }
}

#[test]
fn panes_share_the_lines_between_them() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    for (name, keys) in [("word_problems", "2G Enter"), ("policy", "19G Enter"), ("word_problems", "I")] {
        for (width, height) in [(80, 24), (120, 36), (200, 60)] {
            let mut drive = Drive::open(&[samples.join(format!("{name}.jsonl"))]);
            drive.resize(width, height).keys(keys);
            let screen = drive.screen();
            for neighbours in ["││", "╮╭", "╯╰", "╮│", "│╭"] {
                assert!(!screen.contains(neighbours), "{neighbours} at {width}x{height}\n{screen}");
            }
            let lines = drive.lines();
            let is_double = lines.windows(2).any(|two| two[0].starts_with('╰') && two[1].starts_with('╭'));
            assert!(!is_double, "{width}x{height}\n{screen}");
        }
    }
}

/// Returns the share of the screen in blank stretches of at least twenty cells if a pane of the body scrolls.
fn blank_while_hidden(lines: &[String], (width, height): (u16, u16)) -> Option<f64> {
    let body = lines.get(1..lines.len() - 2)?;
    let is_blank = |cell: &char| *cell == ' ';
    let stretches = |line: &String| {
        let cells: Vec<char> = line.chars().collect();
        let stretches = cells.chunk_by(|a, b| is_blank(a) && is_blank(b)).filter(|stretch| stretch.len() >= 20);
        stretches.map(<[char]>::len).sum::<usize>()
    };
    let blank = body.iter().map(stretches).sum::<usize>();
    body.iter().any(|line| line.contains('┃')).then(|| blank as f64 / f64::from(width * height))
}

#[test]
fn little_of_the_run_screen_is_blank_while_a_pane_scrolls() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    let size = (200, 60);
    let mut wasteful = Vec::new();
    for name in ["word_problems", "baseline", "by_hand", "chains"] {
        let mut drive = Drive::open(&[samples.join(format!("{name}.jsonl"))]);
        drive.resize(size.0, size.1);
        for record in 1..=drive.app.store.len() {
            drive.keys(&format!("{record}G Enter"));
            while drive.app.screens.record().is_some_and(|view| view.moment.0 > 0) {
                let lines = drive.lines();
                if let Some(share) = blank_while_hidden(&lines, size).filter(|share| *share >= 0.35) {
                    wasteful.push(format!("{name}:{record} {} {:.1} %", drive.header(), share * 100.0));
                }
                drive.keys("[");
            }
            drive.keys("q");
        }
    }
    assert!(wasteful.is_empty(), "{}", wasteful.join("\n"));
}

/// Keys that lead to every kind of screen, one after the other, from the table and back to it.
const TOUR: &[&str] = &[
    "",
    "I",
    "j j l",
    "Enter",
    "Esc O",
    "j l",
    "Esc A",
    "Esc ?",
    "Esc f",
    "'co'",
    "Tab",
    "Esc /",
    "'漢x'",
    "Esc :",
    "'o'",
    "Esc Enter",
    "Tab",
    "Enter",
    "Esc [ d",
    "Esc Tab",
    "Tab l",
    "l",
    "l Z",
    "Z Tab Enter",
    "Esc J",
    "L G",
    "H g y",
    "Esc",
];

/// Draws the screen as it is now at many sizes.
fn draw_at_every_size(drive: &mut Drive, step: usize) {
    for width in (0..=30).step_by(step) {
        for height in (0..=12).step_by(step) {
            drive.resize(width, height);
        }
    }
    for (width, height) in [(500, 3), (3, 200), (1000, 1), (1, 120), (99, 24), (100, 24), (101, 7), (255, 90)] {
        drive.resize(width, height);
    }
    drive.resize(120, 36);
}

fn tour(drive: &mut Drive, step: usize) {
    let mut seen = Vec::new();
    for keys in TOUR {
        drive.keys(keys);
        seen.push(drive.app.screens.top());
        draw_at_every_size(drive, step);
    }
    for board in [ScreenKind::Insights, ScreenKind::Dashboard, ScreenKind::Adjudication] {
        assert!(seen.contains(&board), "{board:?} is not on the tour: {seen:?}");
    }
    while drive.app.screens.top() != ScreenKind::Table || drive.app.screens.dialog.is_some() {
        drive.keys("Esc");
    }
}

#[test]
fn every_screen_can_be_drawn_at_every_size() {
    let mut drive = Drive::runs();
    for record in 1..=8 {
        drive.keys(&format!("{record}G"));
        // The kinds that matter most at every size, the others at some.
        tour(&mut drive, if matches!(record, 2 | 7) { 1 } else { 5 });
    }
    let (_folder, mut empty) = Drive::text("");
    draw_at_every_size(&mut empty, 1);
}

fn tour_all(text: String, step: usize) {
    let (_folder, mut drive) = Drive::text(text);
    for record in 1..=drive.app.store.len() {
        drive.keys(&format!("{record}G"));
        tour(&mut drive, step);
    }
}

#[test]
fn poison_is_shown_and_never_drawn() {
    tour_all(nasty::poisoned(), 3);
    let (_folder, mut drive) = Drive::text(nasty::poisoned());
    drive.shows(&["a␛[31mb⟨U+202E⟩c"]);
    drive.keys("Enter");
    drive.shows(&["a␛[31mb⟨U+202E⟩c⟨U+200B⟩d⟨U+009B⟩2Je␇f"]);
}

#[test]
fn tangled_records_can_be_looked_at() {
    tour_all(nasty::tangled(), 4);
    tour_all(nasty::deep(100), 6);
    tour_all(nasty::deep(5_000), 6);
}

#[test]
fn ten_thousand_variables_can_be_looked_at() {
    tour_all(nasty::many_variables(10_000), 12);
}

#[test]
fn two_thousand_steps_can_be_looked_at() {
    tour_all(nasty::many_steps(2_000), 12);
}

#[test]
fn texts_of_a_megabyte_can_be_looked_at() {
    tour_all(nasty::long_texts(1 << 20), 12);
}

#[test]
fn more_lines_than_a_screen_can_count() {
    let words = "w\\n".repeat(70_000);
    let (_folder, mut drive) = Drive::text(format!(
        "{{\"question\": \"{words}\", \"mode\": \"baseline\", \"state\": {{\"final_answer\": \"{words}\"}}}}\n"
    ));
    drive.keys("Enter Enter");
    let (_, y) = drive.find("Esc closes");
    assert!(y < 4, "the window is as high as the screen\n{}", drive.screen());
}

// Anything a person or a cat may do.

#[derive(Clone, Debug)]
enum Deed {
    Key(KeyCode, KeyModifiers),
    Mouse(MouseEventKind, u16, u16),
    Resize(u16, u16),
    Paste(String),
}

fn deed() -> impl Strategy<Value = Deed> {
    let common = "jkhlgGeEwWdfnNJHLZtMyvpqsrTab/?:[]{}<>~0123459 ".chars().collect::<Vec<_>>();
    let named = vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Backspace,
        KeyCode::Delete,
    ];
    let mouse = vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollUp,
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::Moved,
    ];
    prop_oneof![
        8 => proptest::sample::select(common).prop_map(|c| Deed::Key(KeyCode::Char(c), KeyModifiers::NONE)),
        1 => any::<char>().prop_map(|c| Deed::Key(KeyCode::Char(c), KeyModifiers::NONE)),
        5 => proptest::sample::select(named).prop_map(|code| Deed::Key(code, KeyModifiers::NONE)),
        1 => proptest::sample::select("dufbpaewhkl".chars().collect::<Vec<_>>())
            .prop_map(|c| Deed::Key(KeyCode::Char(c), KeyModifiers::CONTROL)),
        2 => (proptest::sample::select(mouse), 0_u16..130, 0_u16..40).prop_map(|(kind, x, y)| Deed::Mouse(kind, x, y)),
        1 => (0_u16..140, 0_u16..45).prop_map(|(width, height)| Deed::Resize(width, height)),
        1 => "\\PC{0,12}|correct:false|steps>1".prop_map(Deed::Paste),
    ]
}

fn act(drive: &mut Drive, deeds: Vec<Deed>) {
    for deed in deeds {
        match deed {
            Deed::Key(code, modifiers) => drive.key(KeyEvent::new(code, modifiers)),
            Deed::Mouse(kind, x, y) => drive.mouse(kind, x, y),
            Deed::Resize(width, height) => drop(drive.resize(width, height).lines()),
            Deed::Paste(text) => drive.paste(&text),
        }
        let app = &drive.app;
        assert!(app.rows() == 0 || app.table.list.at < app.rows(), "the cursor left the table");
        for binding in app.hints() {
            assert_eq!(app.allowed(binding.action), Ok(()));
        }
        if let Some(view) = app.screens.record() {
            assert!(view.moment.0 <= view.opened.steps.len());
            assert!(view.outline.is_empty() || view.outline.list.at < view.outline.len());
        }
        for text in &drive.copied {
            assert!(text.chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c)), "{text:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_typed_breaks_it(which in 0_usize..4, deeds in prop::collection::vec(deed(), 1..120)) {
        let (_folder, mut drive) = match which {
            0 => Drive::text(std::fs::read(drive::runs()).unwrap()),
            1 => Drive::text(nasty::poisoned()),
            2 => Drive::text(nasty::tangled()),
            _ => Drive::text(""),
        };
        act(&mut drive, deeds);
    }
}

#[test]
fn the_headings_of_a_mixed_table_are_true_for_every_row() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let [runs, answers] = ["tests/fixtures/runs.jsonl", "sample_runs/policy.jsonl"].map(|name| root.join(name));
    let mut mixed = Drive::open(&[runs.clone(), answers.clone()]);
    mixed.resize(120, 36);
    let first = mixed.keys("g g").lines()[1].clone();
    let last = mixed.keys("G").lines()[1].clone();
    assert_eq!(first, last, "the headings follow the cursor");
    let words = |drive: &Drive| drive.lines()[1].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let common = ["fix", "route", "answer", "expected", "kind", "conf", "question"];
    assert!(words(&mixed).ends_with(&common.map(str::to_owned)), "{first}");
    // What one kind alone has comes where there is room.
    mixed.resize(155, 36);
    let first = mixed.lines()[1].clone();
    for head in ["grounded", "steps", "fitness"] {
        assert!(words(&mixed).contains(&head.to_owned()), "{}", mixed.screen());
    }
    // A fitness is no list that continues, and a share no expected answer: of the other kind nothing is below them.
    let at = first.find("fitness").unwrap();
    let below = |line: &String| line.get(at - 3..at + 7).map(|cell| cell.trim().to_owned());
    assert!(mixed.lines().iter().skip(2).filter_map(below).all(|cell| cell != "no" && cell != "yes"));
    let at = first.find("expected").unwrap();
    let below = |line: &String| line.chars().skip(at).take(8).collect::<String>();
    assert!(mixed.lines().iter().skip(2).map(below).all(|cell| !cell.contains('/')), "{}", mixed.screen());
    for (path, named) in [(&runs, ["fix", "expected", "kind"]), (&answers, ["route", "grounded", "question"])] {
        let mut alone = Drive::open(std::slice::from_ref(path));
        alone.resize(120, 36);
        let words = words(&alone);
        assert!(named.iter().all(|word| words.contains(&(*word).to_owned())), "{}", alone.screen());
    }
}
