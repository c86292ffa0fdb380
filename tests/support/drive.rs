//! Drives the whole program without a terminal: keys go in as scripts, work is done on the spot, and the screen is
//! read as text. Every frame is checked: no cell holds a control or an invisible character.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Color, Style};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use unicode_width::UnicodeWidthStr as _;

use stepscope::app::across::Across;
use stepscope::app::calls::Calls;
use stepscope::app::effects::{Memory, Performer};
use stepscope::app::model_choice::ModelChoice;
use stepscope::app::msg::{Effect, Msg};
use stepscope::app::outbox::Outbox;
use stepscope::app::review::{Review, ReviewLog};
use stepscope::app::review_worker::ReviewSetup;
use stepscope::app::state::{App, Looks};
use stepscope::widgets::keymap::Keymap;
use stepscope::widgets::theme::{BUILT_IN, Role, Theme};
use stepscope_base::text::is_hidden;
use stepscope_io::config::Config;
use stepscope_io::config::session::FileView;
use stepscope_io::config::verifiers::{VerifierChoice, judge};
use stepscope_io::drafts::Drafts;
use stepscope_io::log::journal::beside;
use stepscope_io::model::cassette::Speed;
use stepscope_io::model::setup::Setup;
use stepscope_io::model::{Backend, settings};
use stepscope_io::pipeline::compare::Journals;
use stepscope_io::pipeline::load::load;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::source::input::expand;
use stepscope_io::source::page::reviews_of;
use stepscope_review::event::Reviewer;
use stepscope_terminal::colour::Depth;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{Control, Event, Program as _};

/// Time that the background may take; far more than it should on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Messages that may wait; far more than there are.
const MANY: usize = 1 << 20;

/// Returns the fixture that most scripts open.
pub(crate) fn runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs.jsonl")
}

/// Returns looks that do not depend on the terminal the tests run in.
fn looks() -> Looks {
    let theme = Theme::built_in("dark", Depth::True).unwrap();
    let all = BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Looks::new(theme, all, Depth::True, false)
}

/// Returns the model `small` of a server that speaks as Ollama does, asked without pauses and without a second try.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn small_at(url: String) -> Setup {
    let wanted = settings::WantedServer {
        backend: Some(Backend::Ollama),
        url: Some(url),
        model: Some("small".to_owned()),
        ..settings::WantedServer::default()
    };
    Setup { wanted, speed: Speed::AtOnce, retries: Some(0), ..Setup::default() }
}

/// Program at a keyboard that is a string and a screen that is a buffer.
pub(crate) struct Drive {
    pub(crate) app: App,
    /// Copied texts, in order.
    pub(crate) copied: Vec<String>,
    /// Views kept over a restart, in order.
    pub(crate) kept: Vec<(FileView, Option<String>)>,
    /// Names of the other effects that were asked for.
    pub(crate) asked: Vec<String>,
    /// Exit code, once the program has quit.
    pub(crate) quit: Option<u8>,
    /// True if work waits until [`Drive::release`].
    pub(crate) hold: bool,
    pub(crate) held: Vec<Effect>,
    pub(crate) now: Instant,
    /// What goes on behind the screen: loading, models, and verdicts on their way.
    events: mpsc::Receiver<Msg>,
    to_loop: mpsc::Sender<Msg>,
    /// What was done at once.
    done: mpsc::Receiver<Msg>,
    performer: Performer,
    /// Drawn screens, if a test asks for them.
    pub(crate) frames: Option<Vec<String>>,
    runtime: Handle,
    /// Ends the runtime's thread with this.
    _runs: oneshot::Sender<()>,
    /// Folder of the exports that name no temporary folder of their own, whatever was typed.
    exports: tempfile::TempDir,
    buffer: Buffer,
    cursor: Option<Position>,
}

impl Drive {
    /// Opens the fixture of eight records in 120 columns and 36 lines.
    pub(crate) fn runs() -> Self {
        Self::open(&[runs()])
    }

    /// Opens files and waits until everything is read and checked.
    pub(crate) fn open(paths: &[PathBuf]) -> Self {
        Self::with(paths, |_| {})
    }

    /// Opens files; `change` prepares the state before the first event.
    pub(crate) fn with(paths: &[PathBuf], change: impl FnOnce(&mut App)) -> Self {
        Self::with_beside(paths, SideData::default(), change)
    }

    /// Opens files as they were looked at before a restart.
    pub(crate) fn restored(paths: &[PathBuf], view: &FileView) -> Self {
        Self::with(paths, |app| app.restore(view))
    }

    /// Opens a file with its baseline.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn beside(path: &Path, baseline: &Path) -> Self {
        let side = SideData::default().with_baseline(Some(baseline.to_owned()), 1);
        Self::with_beside(&[path.to_owned()], side, |app| {
            let journals = Journals { files: vec![path.to_owned()], named: Vec::new() };
            app.across = Across::new(Some(baseline.to_owned()), journals, false);
        })
    }

    /// Opens a file with other runs of its questions.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn among(path: &Path, peers: &[PathBuf]) -> Self {
        Self::with_beside(&[path.to_owned()], SideData::default().with_peers(peers, 1), |_| {})
    }

    /// Opens a file whose completions are judged by a chain.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn judged(path: &Path, chain: &Path) -> Self {
        let judge = judge(&VerifierChoice::Chain(chain.to_owned()), "completion").unwrap();
        Self::with_beside(&[path.to_owned()], SideData::default().judged_by(Some(judge)), |_| {})
    }

    fn with_beside(paths: &[PathBuf], side: SideData, change: impl FnOnce(&mut App)) -> Self {
        Self::start(paths, side, None, change)
    }

    /// Opens files and waits until everything is read and checked, and the logs of the reviews, if there are some.
    fn start(paths: &[PathBuf], side: SideData, reviews: Option<ReviewSetup>, change: impl FnOnce(&mut App)) -> Self {
        let (to_loop, events) = mpsc::channel(MANY);
        let (to_done, done) = mpsc::channel(MANY);
        let (outbox, at_once) = (Outbox::default(), Outbox::default());
        outbox.attach(to_loop.clone());
        at_once.attach(to_done);
        let (side, loads) = (Arc::new(side), outbox.clone());
        let (store, loading) =
            load(expand(paths).with_forks(None), 1, side.clone(), move |event| loads.send(Msg::Load(event)));
        let mut app = App::new(store, Keymap::default(), looks());
        app.side = side.clone();
        change(&mut app);
        let has_reviews = reviews.is_some();
        let (runtime, runs) = runtime();
        let performer = Performer::new(outbox, Memory::default(), side, Calls::default()).loading(loading);
        let performer = performer.at_once(at_once);
        let mut drive = Self {
            app,
            copied: Vec::new(),
            kept: Vec::new(),
            asked: Vec::new(),
            quit: None,
            hold: false,
            held: Vec::new(),
            now: Instant::now(),
            events,
            to_loop,
            done,
            performer: if let Some(reviews) = reviews { performer.reviewing(reviews) } else { performer },
            frames: None,
            runtime,
            _runs: runs,
            exports: tempfile::tempdir().unwrap(),
            buffer: Buffer::default(),
            cursor: None,
        };
        drive.event(Event::Start(Size::new(120, 36)));
        drive.wait_for(|app| app.store.is_settled() && (app.review.read || !has_reviews));
        drive
    }

    /// Opens one file with this content.
    pub(crate) fn text(bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let drive = Self::open(&[path]);
        (folder, drive)
    }

    /// Takes in what the background finds until a condition holds.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, holds: impl Fn(&App) -> bool) {
        let end = Instant::now() + DEADLINE;
        while !holds(&self.app) {
            let left = end.saturating_duration_since(Instant::now());
            match self.runtime.block_on(async { timeout(left, self.events.recv()).await }) {
                Ok(Some(message)) => {
                    self.event(message);
                    if self.frames.is_some() {
                        self.draw();
                    }
                }
                Ok(None) | Err(_) => panic!("the background did not come so far\n{}", self.screen()),
            }
        }
        while let Ok(message) = self.events.try_recv() {
            self.event(message);
        }
        self.draw();
    }

    /// Takes in what the background has found by now.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn drain(&mut self) {
        let mut is_new = false;
        while let Ok(message) = self.events.try_recv() {
            self.event(message);
            is_new = true;
        }
        if is_new {
            self.draw();
        }
    }

    /// Hands an event to the program and does what it asks for.
    pub(crate) fn event(&mut self, message: impl Into<Msg>) {
        let mut messages = vec![message.into()];
        while let Some(message) = messages.pop() {
            for effect in self.app.update(message, self.now) {
                self.perform(effect, &mut messages);
            }
            // The order of the table waits for its time; here it comes at once.
            if let Some(at) = self.app.table.arrange_at {
                self.now = self.now.max(at);
                messages.push(Msg::Tick);
            }
        }
    }

    /// Performs an effect, and what follows from it.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn effect(&mut self, effect: Effect) {
        let mut messages = Vec::new();
        self.perform(effect, &mut messages);
        messages.into_iter().rev().for_each(|message| self.event(message));
        self.draw();
    }

    fn perform(&mut self, effect: Effect, messages: &mut Vec<Msg>) {
        match effect {
            Effect::Mouse(_) | Effect::Repaint | Effect::Suspend | Effect::Foreground(_) => {
                self.asked.push(format!("{effect:?}"));
            }
            effect @ (Effect::Copy(_) | Effect::Quit(_)) => drop(self.work(effect)),
            _ if self.hold => self.held.push(effect),
            _ => messages.extend(self.work(effect).into_iter().rev()),
        }
    }

    /// Sets the model and server to ask, as flags and settings name them.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn ask(&mut self, setup: Setup) {
        let config = Config::default();
        let samples = self.app.models.samples;
        self.app.models = ModelChoice::new(setup.clone(), &config);
        self.app.models.samples = samples;
        self.performer.ask(Calls::new(setup, config));
    }

    /// Has the program's own performer do it, and returns what was done at once. What would leave the test is kept here.
    fn work(&mut self, effect: Effect) -> Vec<Msg> {
        let effect = match effect {
            Effect::KeepView(view, theme, _) => {
                self.kept.push((view, theme));
                return Vec::new();
            }
            Effect::Export(path, bytes) => Effect::Export(self.kept_away(path), bytes),
            Effect::ExportRecord(handle, mut export) => {
                export.path = self.kept_away(export.path);
                Effect::ExportRecord(handle, export)
            }
            effect => effect,
        };
        let _inside = self.runtime.enter();
        match self.performer.perform(effect, &self.to_loop) {
            Some(Control::Copy(text)) => self.copied.push(text),
            Some(Control::Quit(code)) => self.quit = Some(code),
            other => assert!(other.is_none(), "{other:?} is left to the terminal"),
        }
        std::iter::from_fn(|| self.done.try_recv().ok()).collect()
    }

    /// Returns the path, if it is in a temporary folder; else its name in the folder of exports.
    fn kept_away(&self, path: PathBuf) -> PathBuf {
        let name = path.file_name().unwrap_or_default();
        if path.starts_with(std::env::temp_dir()) { path } else { self.exports.path().join(name) }
    }

    /// Opens a file to be reviewed by a person, its review log next to it; drafts are in the state folder.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn reviewing(path: &Path, by: &str, state: &Path, change: impl FnOnce(&mut App)) -> Self {
        Self::reviewing_in(path, beside(path).path(), by, state, change)
    }

    /// Opens the same with a review log elsewhere.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn reviewing_in(
        path: &Path,
        journal: &Path,
        by: &str,
        state: &Path,
        change: impl FnOnce(&mut App),
    ) -> Self {
        Self::whole(&[path.to_owned()], SideData::default(), journal, by, state, change)
    }

    /// Opens everything together: files and their side data, reviewed by a person.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn whole(
        paths: &[PathBuf],
        side: SideData,
        journal: &Path,
        by: &str,
        state: &Path,
        change: impl FnOnce(&mut App),
    ) -> Self {
        let reviewer = Reviewer::person(by.to_owned());
        let drafts = Drafts::of(state, journal, &reviewer);
        let setup = ReviewSetup { own: Some(journal.into()), drafts: Some(drafts), ..ReviewSetup::default() };
        Self::start(paths, side, Some(setup), |app| {
            app.review = Review::new(reviewer, ReviewLog::Journal(journal.into()));
            change(app);
        })
    }

    /// Opens files whose verdicts are shown while none can be given: those of the logs next to them, and those that pages carry.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn looking_on(paths: &[PathBuf], change: impl FnOnce(&mut App)) -> Self {
        let carried = paths.iter().flat_map(|path| reviews_of(path)).collect();
        let others = paths.iter().map(|path| beside(path)).collect();
        let setup = ReviewSetup { others, carried, ..ReviewSetup::default() };
        Self::start(paths, SideData::default(), Some(setup), |app| {
            app.review = Review::read_only(Reviewer::person("ada"), "pass --reviews FILE");
            app.across = Across::new(None, Journals { files: paths.to_vec(), named: Vec::new() }, false);
            change(app);
        })
    }

    /// Takes in what the background finds until a condition holds, and returns the program for the next step.
    #[allow(dead_code, reason = "not every test file needs it")]
    #[track_caller]
    pub(crate) fn until(&mut self, holds: impl Fn(&App) -> bool) -> &mut Self {
        self.wait_for(holds);
        self
    }

    /// Moves the clock forward.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn after(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self
    }

    /// Does the work that was held back.
    pub(crate) fn release(&mut self) {
        self.hold = false;
        for work in std::mem::take(&mut self.held) {
            for message in self.work(work) {
                self.event(message);
            }
        }
        self.draw();
    }

    // What a person does.

    /// Presses keys: names (`Enter`, `^D`, `S-Tab`), anything else letter by letter (`5j`), `'text in quotes'`
    /// letter by letter with its blanks. Draws after every key.
    #[track_caller]
    pub(crate) fn keys(&mut self, script: &str) -> &mut Self {
        for event in parse(script) {
            self.key(event);
        }
        self
    }

    /// Presses one key.
    pub(crate) fn key(&mut self, event: KeyEvent) {
        self.event(Event::Input(Input::Key(event)));
        self.draw();
    }

    /// Pastes a text.
    pub(crate) fn paste(&mut self, text: &str) {
        self.event(Event::Input(Input::Paste(text.to_owned())));
        self.draw();
    }

    /// Sends a mouse event at a position.
    pub(crate) fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        self.event(Event::Input(Input::Mouse(event)));
        self.draw();
    }

    /// Clicks at a position.
    pub(crate) fn click(&mut self, column: u16, row: u16) {
        self.mouse(MouseEventKind::Down(MouseButton::Left), column, row);
    }

    /// Clicks on the first place that shows a text.
    #[track_caller]
    pub(crate) fn click_on(&mut self, text: &str) {
        let (column, row) = self.find(text);
        self.click(column, row);
    }

    /// Changes the size of the screen.
    pub(crate) fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.event(Event::Resize(Size::new(width, height)));
        self.draw();
        self
    }

    // What a person sees.

    /// Draws, and checks every cell.
    pub(crate) fn draw(&mut self) {
        let mut buffer = Buffer::empty(Rect::from(self.app.size));
        self.cursor = self.app.draw(&mut buffer);
        self.buffer = buffer;
        let screen = self.screen();
        self.frames.iter_mut().for_each(|frames| frames.push(screen.clone()));
        for cell in &self.buffer.content {
            let hidden = cell.symbol().chars().find(|c| is_hidden(*c));
            assert!(hidden.is_none(), "{hidden:?} in a cell\n{}", self.screen());
        }
    }

    /// Returns the screen as lines, blanks at their ends left out.
    pub(crate) fn lines(&self) -> Vec<String> {
        let area = self.buffer.area;
        (0..area.height).map(|y| self.row(y).trim_end().to_owned()).collect()
    }

    fn row(&self, y: u16) -> String {
        let mut out = String::new();
        let mut x = 0;
        while x < self.buffer.area.width {
            let symbol = self.buffer[(x, y)].symbol();
            out.push_str(symbol);
            // What is wide covers the cell behind it.
            x += (symbol.width() as u16).max(1);
        }
        out
    }

    /// Returns the screen as text.
    pub(crate) fn screen(&self) -> String {
        self.lines().join("\n")
    }

    /// Returns the line above the keys.
    pub(crate) fn status(&self) -> String {
        let lines = self.lines();
        let line = lines.get(lines.len().saturating_sub(2)).cloned().unwrap_or_default().trim().to_owned();
        // A long answer begins some lines above.
        let whole = self.app.status.now.as_ref().map(|status| status.text.as_str().to_owned());
        whole.filter(|whole| !line.is_empty() && whole.ends_with(&line)).unwrap_or(line)
    }

    /// Returns the first line.
    pub(crate) fn header(&self) -> String {
        self.lines().first().cloned().unwrap_or_default()
    }

    /// Returns the last line.
    pub(crate) fn footer(&self) -> String {
        self.lines().last().cloned().unwrap_or_default()
    }

    /// Finds the first place that shows a text: column and row.
    #[track_caller]
    pub(crate) fn find(&self, text: &str) -> (u16, u16) {
        for y in 0..self.buffer.area.height {
            let row = self.row(y);
            if let Some(at) = row.find(text) {
                return (row[..at].width() as u16, y);
            }
        }
        panic!("{text:?} is not on the screen\n{}", self.screen());
    }

    /// Returns the style of the cell where a text begins.
    #[track_caller]
    pub(crate) fn style_of(&self, text: &str) -> Style {
        let place = self.find(text);
        self.buffer[place].style()
    }

    /// Returns the colour of the text in a cell.
    pub(crate) fn colour_at(&self, column: u16, row: u16) -> Color {
        self.buffer[(column, row)].fg
    }

    /// Returns the colour of a role.
    pub(crate) fn colour(&self, role: Role) -> Color {
        self.app.looks.theme.style(role).fg.unwrap_or(Color::Reset)
    }

    /// Returns the cursor's position, if it is shown.
    pub(crate) fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    /// Checks that the screen shows all these texts.
    #[track_caller]
    pub(crate) fn shows(&self, texts: &[&str]) -> &Self {
        let screen = self.screen();
        for text in texts {
            assert!(screen.contains(text), "{text:?} is not on the screen\n{screen}");
        }
        self
    }

    /// Checks that the screen shows none of these texts.
    #[track_caller]
    pub(crate) fn hides(&self, texts: &[&str]) -> &Self {
        let screen = self.screen();
        for text in texts {
            assert!(!screen.contains(text), "{text:?} is on the screen\n{screen}");
        }
        self
    }

    /// Returns the ids of the table's rows, in the order of the screen.
    pub(crate) fn table_ids(&self) -> Vec<String> {
        let records = (0..self.app.rows()).filter_map(|row| self.app.table.record(row));
        records
            .map(|record| self.app.table.texts(record).map(|h| h.id.as_str().to_owned()).unwrap_or_default())
            .collect()
    }
}

/// Starts the thread on which model calls run.
fn runtime() -> (Handle, oneshot::Sender<()>) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (handle, (until_dropped, end)) = (runtime.handle().clone(), oneshot::channel());
    std::thread::spawn(move || _ = runtime.block_on(end));
    (handle, until_dropped)
}

/// Parses the keys of a script.
pub(crate) fn parse(script: &str) -> Vec<KeyEvent> {
    let mut events = Vec::new();
    let mut rest = script.trim_start();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (text, after) = quoted.split_once('\'').expect("a closing quote");
            events.extend(text.chars().map(letter));
            rest = after.trim_start();
            continue;
        }
        let (token, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match named(token) {
            Some(event) => events.push(event),
            None => events.extend(token.chars().map(letter)),
        }
        rest = after.trim_start();
    }
    events
}

fn letter(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
}

fn named(token: &str) -> Option<KeyEvent> {
    if let Some(c) = token.strip_prefix('^').filter(|rest| rest.chars().count() == 1) {
        return c.chars().next().map(|c| KeyEvent::new(KeyCode::Char(c.to_ascii_lowercase()), KeyModifiers::CONTROL));
    }
    let code = match token {
        "Enter" => KeyCode::Enter,
        "F1" => KeyCode::F(1),
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "S-Tab" => KeyCode::BackTab,
        "Space" => KeyCode::Char(' '),
        "Backspace" => KeyCode::Backspace,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "F5" => KeyCode::F(5),
        _ => return None,
    };
    Some(KeyEvent::new(code, KeyModifiers::NONE))
}
