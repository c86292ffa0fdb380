//! What is drawn is what gets the keys: random keys, clicks, wheels, pastes and sizes over every screen and dialog, with
//! what must hold after each. `STEPSCOPE_WALK=100000` walks farther, `STEPSCOPE_WALK_SEED=7` another way.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use crate::support::drive::{Drive, parse, small_at};
use crate::support::fed::fed;
use crate::support::server::{Server, Talk};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEventKind};
use ratatui::style::Color;
use stepscope::app::across::Across;
use stepscope::app::offered::key_name;
use stepscope::app::review::ReviewDialog;
use stepscope::dialogs::dialog::Dialog;
use stepscope::screens::kind::ScreenKind;
use stepscope::screens::live::state::Live;
use stepscope::screens::rerun::state::Attempt;
use stepscope::screens::stack::Focus;
use stepscope::widgets::keymap::{Action, BINDINGS, Context};
use stepscope::widgets::theme::Role;
use stepscope_execution::call::RunId;
use stepscope_io::pipeline::compare::Journals;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_review::event::Reviewer;
use stepscope_review::queue::Queue;
use unicode_width::UnicodeWidthStr as _;

/// Number of events in CI, shared among the scenes.
const EVENTS: usize = 20_000;
const SCENES: usize = 8;
/// Number of times that `Esc` may be needed in addition to the call: for a count, a question.
const PATIENCE: usize = 4;

/// Ways to screens and dialogs that single keys hardly find.
const WAYS: [&str; 22] = [
    "I",
    "I j Enter",
    "Enter",
    "Enter r Enter",
    "Enter ] ^R Enter",
    "Enter R Enter",
    "m",
    "m Enter B",
    "B",
    "O",
    "O Enter",
    "A",
    "A j Enter",
    "A x 1",
    ": 'review' Enter",
    "/ 'a' Enter",
    "f 'text:a' Enter",
    "f 'findings>0' Enter",
    "Enter Tab v 9",
    "Enter F",
    "Enter X",
    "Enter J /",
];
/// Text longer than anyone types.
static LONG: LazyLock<String> = LazyLock::new(|| "word 漢 ".repeat(3_000));
/// Number of times that `Esc` is pressed: more than enough to leave everything.
const OUT: usize = 16;

/// Numbers that look random and come again with their seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides.max(1)
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}

fn events() -> usize {
    std::env::var("STEPSCOPE_WALK").ok().and_then(|text| text.parse().ok()).unwrap_or(EVENTS)
}

fn seed() -> u64 {
    std::env::var("STEPSCOPE_WALK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Returns the text that was typed in a dialog, if any.
fn typed(d: &Drive) -> Option<String> {
    let dialog = d.app.screens.dialog.as_ref().filter(|dialog| dialog.is_typed_in())?;
    match dialog.own() {
        Dialog::Editor(editor) => Some(editor.text()),
        Dialog::Prompt(prompt) => Some(prompt.line.value().to_owned()),
        Dialog::Review(ReviewDialog::Line { line, .. } | ReviewDialog::Labels { line, .. }) => {
            Some(line.value().to_owned())
        }
        _ => None,
    }
}

/// Tells whether a call is running that the screen shows.
fn is_running(d: &Drive) -> bool {
    match (d.app.focus(), &d.app.screens.dialog) {
        (_, Some(Dialog::Repair(repair))) => !repair.machine.is_over,
        (Focus::Screen(ScreenKind::Live), _) => d.app.screens.live().is_some_and(Live::is_running),
        (Focus::Screen(ScreenKind::Rerun), _) => d.app.screens.attempt().is_some_and(Attempt::is_running),
        _ => false,
    }
}

struct Walk {
    d: Drive,
    dice: Dice,
    scene: &'static str,
    seed: u64,
    last: Vec<String>,
    keys: Vec<KeyEvent>,
    /// File that is changed while it is open, and its original text.
    file: Option<(PathBuf, Vec<u8>)>,
}

impl Walk {
    fn new(scene: &'static str, d: Drive) -> Self {
        let keys = BINDINGS.iter().flat_map(|binding| binding.keys).flat_map(|keys| parse(keys)).collect();
        let seed = seed();
        let mut dice = Dice(seed ^ scene.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte)));
        dice.roll(2);
        let mut d = d;
        d.resize(80, 24);
        Self { d, dice, scene, seed, last: Vec::new(), keys, file: None }
    }

    #[track_caller]
    fn must(&self, holds: bool, what: &str) {
        if holds {
            return;
        }
        let mut script = String::new();
        for event in self.last.iter().rev().take(60).rev() {
            let _ = write!(script, "{event} ");
        }
        let (front, status) = (self.d.app.focus(), &self.d.app.status);
        panic!(
            "{what}\nscene {}, seed {}, {front:?}, {status:?}\nlast: {script}\n{}",
            self.scene,
            self.seed,
            self.d.screen()
        );
    }

    fn key(&mut self, event: KeyEvent) {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        self.last.push(match event.code {
            KeyCode::Char(c) if control => format!("^{}", c.to_ascii_uppercase()),
            KeyCode::Char(' ') => "Space".into(),
            KeyCode::Char(c) => c.to_string(),
            code => format!("{code:?}"),
        });
        self.d.key(event);
    }

    fn step(&mut self) {
        let before = typed(&self.d);
        let asked = matches!(self.d.app.screens.dialog, Some(Dialog::Drop(_)));
        let mut result = self.result();
        let mut may_change = false;
        match self.dice.roll(100) {
            0..26 => self.footer_key(&mut may_change),
            26..30 if before.is_none() => {
                let way = *self.dice.of(&WAYS);
                may_change = true;
                for event in parse(way) {
                    self.key(event);
                }
            }
            26..30 => {
                // Keys that mean nothing anywhere, and names that only some terminals send.
                let code = *self.dice.of(&[
                    KeyCode::F(1),
                    KeyCode::F(12),
                    KeyCode::Home,
                    KeyCode::End,
                    KeyCode::Delete,
                    KeyCode::Insert,
                    KeyCode::Backspace,
                    KeyCode::Null,
                    KeyCode::Char('w'),
                ]);
                let modifiers = *self.dice.of(&[KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT]);
                may_change = true;
                self.key(KeyEvent::new(code, modifiers));
            }
            30..76 => {
                let event = *self.dice.of(&self.keys.clone());
                may_change = !matches!(event.code, KeyCode::Esc) && event != parse("^C")[0];
                may_change |= asked;
                self.key(event);
            }
            76..81 => {
                let letter = *self.dice.of(&['a', 'b', '7', '"', ' ', 'ü', '漢', '(', ':', 'q', 'y']);
                may_change = true;
                self.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
            }
            81..83 => {
                self.out();
                // Whether its first Esc asked was looked at there; the next may drop it.
                result = None;
                may_change = true;
            }
            83 => self.change_file(),
            84..91 => {
                let size = self.d.app.size;
                let at = (self.dice.roll(size.width.into()) as u16, self.dice.roll(size.height.into()) as u16);
                let kind = *self.dice.of(&[
                    MouseEventKind::Down(MouseButton::Left),
                    MouseEventKind::Down(MouseButton::Left),
                    MouseEventKind::Down(MouseButton::Right),
                    MouseEventKind::Down(MouseButton::Middle),
                    MouseEventKind::Drag(MouseButton::Left),
                    MouseEventKind::Up(MouseButton::Left),
                    MouseEventKind::Moved,
                    MouseEventKind::ScrollLeft,
                    MouseEventKind::ScrollDown,
                    MouseEventKind::ScrollUp,
                ]);
                // Twice, as a double click is.
                for _ in 0..=self.dice.roll(2) {
                    self.last.push(format!("{kind:?}@{at:?}"));
                    self.d.mouse(kind, at.0, at.1);
                }
            }
            91..94 => {
                may_change = true;
                let text = *self.dice.of(&[
                    "7",
                    "two words",
                    "{\"a\": 1}",
                    "line\nline\u{1b}[31m",
                    "漢\u{202e}x",
                    "",
                    "\0\u{7f}\u{9b}2J\r\n\t",
                    &LONG,
                ]);
                self.last.push(format!("paste {:?}", text.get(..20).unwrap_or(text)));
                self.d.paste(text);
            }
            94..96 => {
                let sizes = [
                    (120, 36),
                    (80, 24),
                    (60, 20),
                    (60, 20),
                    (100, 24),
                    (200, 60),
                    (20, 5),
                    (1, 1),
                    (7, 3),
                    (40, 13),
                    (120, 2),
                    (2, 40),
                    (0, 0),
                ];
                let (width, height) = *self.dice.of(&sizes);
                self.last.push(format!("resize {width}x{height}"));
                self.d.resize(width, height);
            }
            96 => self.d.hold = true,
            97 => {
                self.last.push("release".into());
                self.d.release();
            }
            _ => {
                self.last.push("later".into());
                self.d.after(Duration::from_millis(250));
                self.d.event(stepscope_terminal::run::Event::Tick);
            }
        }
        self.d.quit = None;
        if !self.d.hold {
            self.d.drain();
        }
        if let Some(text) = before.filter(|_| !may_change) {
            self.must(typed(&self.d).as_ref() == Some(&text), &format!("typed text was dropped: {text:?}"));
        }
        self.still_there(result.filter(|_| !matches!(self.last.last().map(String::as_str), Some("y" | "Y"))));
        self.check();
    }

    /// Checks that a result is still there, unless it was asked about or taken.
    fn still_there(&mut self, result: Option<RunId>) {
        let Some(id) = result else { return };
        let attempt = self.d.app.screens.attempt();
        let is_there = attempt.is_some_and(|attempt| attempt.id == id && attempt.outcome.is_some());
        self.must(is_there, "a result was dropped without a question");
    }

    /// Returns the result of a re-run that was neither saved nor asked about.
    fn result(&self) -> Option<RunId> {
        let attempt = self.d.app.screens.attempt()?;
        (attempt.is_unsaved() && attempt.outcome.is_some() && attempt.warned.is_none()).then_some(attempt.id)
    }

    /// Leaves everything with `Esc`, whatever is in front.
    fn out(&mut self) {
        self.d.release();
        for n in 0..OUT {
            let result = self.result().filter(|_| n == 0);
            self.key(parse("Esc")[0]);
            self.still_there(result);
        }
        let app = &self.d.app;
        let is_out =
            app.focus() == Focus::Screen(ScreenKind::Table) && app.screens.dialog.is_none() && !is_running(&self.d);
        self.must(is_out, "Esc does not lead back to the table");
    }

    /// Changes the file while it is looked at.
    fn change_file(&mut self) {
        let Some((path, text)) = self.file.clone() else { return };
        let what = self.dice.roll(6);
        self.last.push(format!("file {what}"));
        let append = |bytes: &[u8]| {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(bytes).unwrap();
        };
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let line = *self.dice.of(&lines);
        match what {
            0 | 1 => append(line),
            2 => append(b"{\"id\": \"cut\", \"question\": \"How"),
            3 => append(b"\n\0\xff garbage\n"),
            4 => std::fs::write(&path, &text[..text.len() / 3]).unwrap(),
            _ => {
                let other = path.with_extension("new");
                std::fs::write(&other, &text).unwrap();
                std::fs::rename(&other, &path).unwrap();
            }
        }
    }

    /// Presses a key that the footer shows: it must not be refused.
    fn footer_key(&mut self, may_change: &mut bool) {
        let (footer, hints) = (self.d.footer(), self.d.app.hints());
        let shown: Vec<_> = hints
            .into_iter()
            .filter_map(|binding| {
                Some((
                    binding,
                    key_name(&self.d.app.keymap, self.d.app.screens.dialog.as_ref(), self.d.app.focus(), binding)?,
                ))
            })
            .filter(|(binding, name)| footer.contains(&format!("{name} {}", binding.hint)))
            .collect();
        // After a count the key asks for more than the footer says: there is no ninth pane.
        if shown.is_empty() || !self.d.app.screens.typed.is_empty() || self.d.app.count.is_some() {
            return;
        }
        let (binding, name) = self.dice.of(&shown).clone();
        *may_change = name != "Esc" || matches!(self.d.app.screens.dialog, Some(Dialog::Drop(_)));
        for event in parse(&name) {
            self.key(event);
        }
        let refused = self.d.app.status.now.as_ref().is_some_and(|status| status.refused);
        self.must(!refused, &format!("the footer showed {name} {:?}, and it was refused", binding.hint));
    }

    fn check(&mut self) {
        let app = &self.d.app;
        let (front, screen, size) = (app.focus(), app.screens.top(), app.size);
        self.must(!screen.is_of_record() || app.screens.record().is_some(), "a re-run without its record");
        if size.width < 60 || size.height < 13 {
            return;
        }
        let header = self.d.header();
        let named = match screen {
            ScreenKind::Run => header.contains(" ▸ run") || header.contains(" ▸ step "),
            // A model can be chosen for a repair or a run too.
            ScreenKind::Rerun if header.contains(" ▸ choose a model") => true,
            screen => header.contains(&format!(" ▸ {}", screen.word())),
        };
        self.must(named, "the first line does not name the screen");
        if let Some(dialog) = &app.screens.dialog {
            self.must(header.contains(&format!(" ▸ {}", dialog.word())), "the first line does not name the dialog");
        }
        // Who hears the screen, or sees a part of it, follows the terminal's cursor.
        let at = self.d.cursor();
        self.must(at.is_some(), "the cursor is nowhere");
        let own = self.d.colour(Role::BorderFocus);
        let is_pointer = |(y, line): (usize, &String)| {
            let before = line.split_once('❯').map(|(before, _)| before.width() as u16);
            before.is_some_and(|x| self.d.colour_at(x, y as u16) == own).then_some(y)
        };
        let selected =
            self.d.lines().iter().enumerate().find_map(is_pointer).filter(|_| self.d.app.screens.dialog.is_none());
        // Without colours the rows of other panes have the same sign.
        let selected = selected.filter(|_| own != Color::Reset);
        let is_there = selected.is_none_or(|row| at.is_some_and(|at| usize::from(at.y) == row));
        self.must(is_there, "the cursor is not on the selected row");
        let body = self.d.screen();
        let mut names = body.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
        self.must(!names.any(|name| Action::from_word(name).is_some()), "an action is named in place of its key");
        let marks: &[&str] = match front {
            Focus::Dialog(_) => &[],
            _ => match screen {
                ScreenKind::Table => &["question"],
                ScreenKind::Run => &[
                    "Question",
                    "Steps",
                    "Step",
                    "Before step 1",
                    "Global state",
                    "Findings",
                    "Difference",
                    "Timeline",
                    "Peers",
                    // One pane may have the whole screen.
                    "Prompt",
                    "Reply",
                    "Error",
                ],
                ScreenKind::Answer => &["Answer", "Items", "Document", "Citation", "Checks"],
                ScreenKind::Json => &["JSON", "json"],
                ScreenKind::Rerun => {
                    &["Preview", "Choose a model", "re-run", "request", "reply", "difference", "Several", "became"]
                }
                ScreenKind::Live => {
                    &["Preview", "Asking", "Checking", "Paused", "Ended early", "Done", "Plan", "Steps"]
                }
                ScreenKind::Compare => &["A only", "joined", "compar"],
                ScreenKind::SideBySide => &["against"],
                ScreenKind::Insights => &["Insights"],
                ScreenKind::Dashboard => &["Review dashboard"],
                ScreenKind::Adjudication => &["isagree", "reading", "Agreement"],
            },
        };
        self.must(marks.is_empty() || marks.iter().any(|mark| body.contains(mark)), "the body shows another screen");
        // What the footer offers is of what is in front.
        let contexts = front.contexts();
        let own = app.hints().iter().all(|binding| contexts.contains(&binding.context));
        self.must(own && contexts[0] != Context::Anywhere, "the footer offers keys of another screen");
        if is_running(&self.d) && self.dice.roll(4) == 0 {
            for _ in 0..PATIENCE {
                if is_running(&self.d) {
                    self.key(parse("Esc")[0]);
                }
            }
            self.must(!is_running(&self.d), "a call that runs is not ended by Esc");
        }
    }

    fn go(mut self) {
        for _ in 0..events() / SCENES {
            self.step();
        }
    }
}

#[test]
fn everything_at_once_in_a_queue_with_hidden_fields() {
    let (folder, paths) = copied(&["tests/fixtures/compare/runs.jsonl", "tests/fixtures/compare/base.jsonl"]);
    say(&paths[0], "bob", r#"{"id":"c6","verdict":"pass","gold_status":"suspect"}"#);
    let server = server();
    let journal = stepscope_io::log::journal::beside(&paths[0]);
    let side = SideData::default().with_baseline(Some(paths[1].clone()), 1);
    let mut d = Drive::whole(&paths[..1], side, journal.path(), "ada", &folder.path().join("state"), |app| {
        app.review.queue = Queue { shuffle: Some(3), repeat: 0.5, ..Queue::default() };
        app.review.hide = Hide::of([Hidden::Gold, Hidden::Triage]);
        let journals = Journals { files: vec![paths[0].clone()], named: Vec::new() };
        app.across = Across::new(Some(paths[1].clone()), journals, false);
        app.begin_queue();
    });
    d.app.across.reviewer = Some(Reviewer::person("eve"));
    d.ask(small_at(server.url("")));
    Walk::new("queue", d).go();
}

#[test]
fn files_that_change_while_one_looks() {
    let files = ["tests/fixtures/runs.jsonl", "sample_runs/word_problems.jsonl", "sample_runs/policy.jsonl"];
    let (folder, paths) = copied(&files);
    let journal = folder.path().join("reviews.jsonl");
    let d = Drive::whole(&paths, SideData::default(), &journal, "ada", &folder.path().join("state"), |_| {});
    let mut walk = Walk::new("files", d);
    walk.file = Some((paths[0].clone(), std::fs::read(&paths[0]).unwrap()));
    walk.go();
}

#[test]
fn completions_with_a_ladder_of_rewards() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let chain =
        "[[stage]]\nverifier = \"json_structure\"\n[[stage]]\nverifier = \"regex_format\"\npattern = \"please\"\n";
    std::fs::write(path("chain.toml"), chain).unwrap();
    let completion =
        |text: &str| serde_json::json!({"prompt": "Name it", "completion": text, "reward": 1.0}).to_string();
    let lines = ["{\"please\": 1}", "[1", "", "\u{1b}[2J\u{202e}please"].map(completion).join("\n");
    std::fs::write(path("cycle_1_verified.jsonl"), lines + "\n{\"prompt\": \"none\"}\n").unwrap();
    Walk::new("rewards", Drive::judged(&path("cycle_1_verified.jsonl"), &path("chain.toml"))).go();
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Copies files of the project into a folder of their own, where their forks and review logs go as well.
fn copied(files: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &&str| {
        let from = root().join(name);
        let to = folder.path().join(from.file_name().unwrap());
        std::fs::copy(&from, &to).unwrap();
        to
    };
    let paths = files.iter().map(copy).collect();
    (folder, paths)
}

fn server() -> Server {
    Server::start(|seen, talk: &mut Talk| {
        if seen.line.starts_with("GET") {
            return talk.whole("200 OK", "application/json", "", "{\"models\": [{\"name\": \"small\"}]}");
        }
        match seen.n % 4 {
            0 | 1 => {
                talk.head("200 OK", "application/x-ndjson");
                talk.chunk("{\"model\": \"m\", \"response\": \"{\\\"all_\", \"done\": false}\n");
                if seen.n % 4 == 0 {
                    talk.wait_for_hang_up();
                    return;
                }
                talk.chunk("{\"model\": \"m\", \"response\": \"nuts\\\": 12}\", \"done\": false}\n");
                talk.chunk("{\"model\": \"m\", \"response\": \"\", \"done\": true, \"done_reason\": \"stop\"}\n");
                talk.end();
            }
            2 => talk.whole("404 Not Found", "application/json", "", "{\"error\": \"no such model\"}"),
            _ => talk.wait_for_hang_up(),
        }
    })
}

#[test]
fn records_of_every_kind_in_a_review() {
    let (folder, paths) = copied(&["tests/fixtures/runs.jsonl"]);
    let d = Drive::reviewing(&paths[0], "ada", &folder.path().join("state"), |_| {});
    Walk::new("records", d).go();
}

#[test]
fn runs_with_traces_and_a_server_outside_a_review() {
    let (folder, paths) = copied(&["sample_runs/word_problems.jsonl"]);
    let server = server();
    let mut d = Drive::reviewing(&paths[0], "ada", &folder.path().join("state"), |app| app.review.reviewing = false);
    d.ask(small_at(server.url("")));
    let mut walk = Walk::new("traces", d);
    // Whoever only debugs leaves no verdict: `:review` is taken back as soon as it is entered.
    for _ in 0..events() / SCENES {
        walk.step();
        walk.d.app.review.reviewing = false;
    }
    let journal = stepscope_io::log::journal::beside(&paths[0]);
    assert!(!journal.path().exists(), "a journal was made without a review");
}

#[test]
fn a_flawed_procedure_and_a_server() {
    let (folder, paths) = copied(&["tests/fixtures/runs.jsonl"]);
    let server = server();
    let mut d = Drive::reviewing(&paths[0], "ada", &folder.path().join("state"), |_| {});
    d.ask(small_at(server.url("")));
    d.keys("j Enter");
    Walk::new("repairs", d).go();
}

#[test]
fn answers_with_documents() {
    let (folder, paths) = copied(&["sample_runs/policy.jsonl", "sample_runs/policy.document.json"]);
    let server = server();
    let mut d = Drive::reviewing(&paths[0], "ada", &folder.path().join("state"), |_| {});
    d.ask(small_at(server.url("")));
    d.keys("Enter");
    Walk::new("answers", d).go();
}

/// Saves a verdict as the shell does.
fn say(path: &Path, who: &str, line: &str) {
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    assert!(fed(add.args(["review", "add", "--reviewer", who]).arg(path), line).status.success());
}

#[test]
fn comparison_dashboard_and_adjudication() {
    let (_folder, paths) = copied(&["tests/fixtures/compare/runs.jsonl", "tests/fixtures/compare/base.jsonl"]);
    say(&paths[0], "ada", r#"{"id":"c6","verdict":"fail","fix_target":"step_run","first_bad_step":2}"#);
    say(&paths[0], "bob", r#"{"id":"c6","verdict":"pass","gold_status":"suspect"}"#);
    let mut d = Drive::beside(&paths[0], &paths[1]);
    d.app.across.reviewer = Some(Reviewer::person("eve"));
    Walk::new("comparison", d).go();
}
