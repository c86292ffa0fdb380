//! A tour: the real program, led from scene to scene, with a caption under it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use crate::app::across::Across;
use crate::app::export::{self, drawn_in};
use crate::app::model_choice::ModelChoice;
use crate::app::msg::{Effect, Effects, Msg};
use crate::app::present::Presenting;
use crate::app::present::keys::{NOT_SAVED_IN_TOUR, ONLY_SHOWS};
use crate::app::state::App;
use crate::app::update::has_row_texts;
use crate::app::view;
use crate::demo::picture::{blank_rows, cropped, line};
use crate::dialogs::window::window;
use crate::screens::kind::ScreenKind;
use crate::screens::rerun::state::{Attempt, Stage};
use crate::screens::stack::{ScreenMemory, Screens};
use crate::screens::table::search::try_filter;
use crate::screens::table::state::Table;
use crate::widgets::ascii;
use crate::widgets::keymap::Key;
use crate::widgets::layout;
use crate::widgets::list::List;
use crate::widgets::look::Look;
use crate::widgets::prose::{fit, wrapped};
use crate::widgets::theme::{Role, Theme};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::tour::{Scene, TourScript};
use stepscope_io::notes::TourNotes;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::Program;

/// Rows of the caption and the line under it.
pub(crate) const BAR: u16 = 3;
/// Size of the terminal that the built-in tour is made for.
const MADE_FOR: Size = Size { width: 80, height: 24 };
/// Rows of a caption.
const CAPTION: usize = 2;
/// Longest wait for a scene: one that is not ready by then has failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// Wait without a terminal once nothing is under way any more.
const GIVES_UP: Duration = Duration::from_secs(1);
/// Time after a return to the tour in which Esc counts as a slip.
const SLIP: Duration = Duration::from_secs(1);
/// Time that a scene stays in auto-play; what there is to read adds to it.
const STAY: Duration = Duration::from_secs(5);
const STAY_PER_LETTER: Duration = Duration::from_millis(60);

/// Progress of a scene.
#[derive(Clone, PartialEq, Eq, Debug)]
enum SceneStage {
    /// The records are still being read.
    Loading,
    /// The table is being filtered.
    Filtering,
    /// The record is being read.
    Opening,
    /// The n-th key is next.
    Keys(usize),
    /// Wait for what the scene is to show.
    Waiting,
    /// Everything that the scene is to show is there.
    Stands,
    /// Failure, with its reason.
    Failed(Shown),
}

/// See the module.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is switched by a key of its own")]
pub(crate) struct Tour {
    pub(crate) app: App,
    script: TourScript,
    at: usize,
    stage: SceneStage,
    since: Option<Instant>,
    /// Time since which nothing is under way and yet the scene is not ready.
    stuck: Option<Instant>,
    /// True if nobody watches who could wait or go on.
    pub(crate) gives_up: bool,
    /// Things that the keys of the scene asked for and did not get.
    denied: Vec<&'static str>,
    size: Size,
    /// True if the next scene is wanted as soon as this one is ready.
    hurries: bool,
    auto: Option<Instant>,
    plays: bool,
    is_black: bool,
    /// The presenter uses the program by themselves.
    wanders: bool,
    /// The last key was Esc.
    escaped: bool,
    /// Time at which the presenter came back to the tour.
    back: Option<Instant>,
    /// Folder for telling a second terminal what is shown, start of the tour, and scene that was told last.
    told: Option<(PathBuf, u64, Option<usize>)>,
}

impl Tour {
    pub(crate) fn new(app: App, script: TourScript) -> Self {
        Self {
            app,
            script,
            at: 0,
            stage: SceneStage::Loading,
            since: None,
            stuck: None,
            gives_up: false,
            denied: Vec::new(),
            size: Size::new(80, 24),
            hurries: false,
            auto: None,
            plays: false,
            is_black: false,
            wanders: false,
            escaped: false,
            back: None,
            told: None,
        }
    }

    /// Tells a second terminal what is shown, from this time on.
    pub(crate) fn telling(&mut self, folder: PathBuf, began: u64) {
        self.told = Some((folder, began, None));
    }

    /// Tells the second terminal what it does not know yet.
    fn news(&mut self) -> Option<Effect> {
        let (at, of) = (self.at, self.script.scenes.len());
        let (folder, began, known) = self.told.as_mut()?;
        if known.replace(at) == Some(at) {
            return None;
        }
        let scene = self.script.scenes.get(at)?;
        let notes = TourNotes {
            scene: at + 1,
            scenes: of,
            caption: scene.caption.clone(),
            note: scene.note.clone(),
            next: self.script.scenes.get(at + 1).map(|scene| scene.caption.clone()),
            began: *began,
        };
        Some(Effect::TellNotes(folder.clone(), Box::new(notes)))
    }

    /// The scene in front, and its number from 0.
    pub(crate) fn scene(&self) -> (usize, &Scene) {
        static NONE: std::sync::LazyLock<Scene> = std::sync::LazyLock::new(Scene::default);
        (self.at, self.script.scenes.get(self.at).unwrap_or(&NONE))
    }

    /// Says what the keys of the scene asked for and did not get; `None`: nothing.
    pub(crate) fn denied(&self) -> Option<Shown> {
        let asked = self.denied.join(", ");
        (!asked.is_empty())
            .then(|| shown!("its keys asked to {}, and a tour only shows", Shown::line(asked.as_bytes())))
    }

    fn deny(&mut self, what: &'static str) {
        if !self.denied.contains(&what) {
            self.denied.push(what);
        }
    }

    /// Tells whether the scene is ready; `Err`: it never will be.
    pub(crate) fn stands(&self) -> Result<bool, &Shown> {
        match &self.stage {
            SceneStage::Stands => Ok(true),
            SceneStage::Failed(why) => Err(why),
            _ => Ok(false),
        }
    }

    /// Tells whether the scene is ready, or never will be.
    const fn is_over(&self) -> bool {
        matches!(self.stage, SceneStage::Stands | SceneStage::Failed(_))
    }

    /// Tells whether nothing is under way and yet the scene's text is not on the screen, as where that is too small:
    /// nobody has to wait then.
    fn is_stuck(&self) -> bool {
        let looks = matches!(self.stage, SceneStage::Keys(_) | SceneStage::Waiting);
        looks
            && self.app.store.is_settled()
            && self.is_idle()
            && has_row_texts(self.app.area(), &self.app.store, &self.app.table)
    }

    /// Tells whether the built-in tour, which is made for a larger terminal, is not shown whole.
    fn is_small(&self) -> bool {
        self.app.models.samples && (self.size.width < MADE_FOR.width || self.size.height < MADE_FOR.height)
    }

    /// Computes how long the scene stays in auto-play.
    pub(crate) fn stay(&self) -> Duration {
        STAY + STAY_PER_LETTER * self.scene().1.caption.chars().count() as u32
    }

    fn go(&mut self, scene: usize, now: Instant) {
        self.at = scene;
        self.stage = SceneStage::Loading;
        (self.since, self.stuck) = (Some(now), None);
        self.denied.clear();
        (self.auto, self.hurries) = (None, false);
    }

    fn next(&mut self, now: Instant) -> Effects {
        if self.at + 1 >= self.script.scenes.len() {
            return vec![Effect::Quit(0)];
        }
        self.go(self.at + 1, now);
        Vec::new()
    }

    /// A key of the presenter.
    fn key(&mut self, key: KeyEvent, now: Instant) -> Effects {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.is_black &= key.code == KeyCode::Char('.');
        match key.code {
            KeyCode::Char('c') if control => return vec![Effect::Quit(0)],
            KeyCode::Char('q') => return vec![Effect::Quit(0)],
            KeyCode::Char(' ' | 'n') | KeyCode::Right | KeyCode::PageDown => {
                if self.is_over() {
                    return self.next(now);
                }
                self.hurries = true;
            }
            KeyCode::Char('p') | KeyCode::Left | KeyCode::PageUp => self.go(self.at.saturating_sub(1), now),
            KeyCode::Char('a') => {
                self.plays = !self.plays;
                self.auto = None;
            }
            KeyCode::Char('.') => self.is_black = !self.is_black,
            // One Esc too many was meant to come back.
            KeyCode::Esc if self.back.is_some_and(|back| now < back + SLIP) => {}
            KeyCode::Esc => (self.wanders, self.escaped) = (true, false),
            _ => {}
        }
        Vec::new()
    }

    /// Everything as it was when the program began, but for what was read.
    fn reset(&mut self, now: Instant) -> Effects {
        let app = &mut self.app;
        let attempt = app.back_to_table();
        (app.screens.dialog, app.status.now, app.count, app.screens.opening, app.seek) = (None, None, None, None, None);
        app.screens.typed.clear();
        app.forks.edits.clear();
        (app.table.list, app.presenting) = (List::default(), Some(Presenting::of_tour()));
        app.kept = ScreenMemory::default();
        app.models.forget_choice();
        let filter = self.script.scenes.get(self.at).map(|scene| scene.filter.clone()).unwrap_or_default();
        let mut effects = attempt;
        match try_filter(app, &filter) {
            Ok(filtering) => effects.extend(filtering),
            Err(why) => self.stage = SceneStage::Failed(why),
        }
        // What is on screen now is asked for as after any other message.
        effects.extend(self.app.update(Msg::Tick, now));
        effects
    }

    /// Advances the scene as far as possible.
    fn advance(&mut self, now: Instant) -> Effects {
        let mut effects = Vec::new();
        loop {
            let before = self.stage.clone();
            effects.extend(self.advance_once(now));
            if self.stage == before {
                break;
            }
        }
        let is_stuck = !self.is_over() && self.is_stuck();
        self.stuck = self.stuck.or(Some(now)).filter(|_| is_stuck);
        let given_up = self.stuck.is_some_and(|since| self.gives_up && now >= since + GIVES_UP);
        let late = given_up || self.since.is_some_and(|since| now >= since + PATIENCE);
        if late && !self.is_over() {
            let wait = || shown!("\"{}\" is not on the screen", Shown::line(self.scene().1.wait.as_bytes()));
            let why = self.failure().unwrap_or_else(wait);
            self.stage = SceneStage::Failed(shown!("scene not reached: {why}"));
        }
        if self.stage == SceneStage::Stands && self.plays {
            let until = *self.auto.get_or_insert(now + self.stay());
            self.hurries |= now >= until;
        }
        if self.hurries && (self.is_over() || self.is_stuck()) {
            self.hurries = false;
            effects.extend(self.next(now));
            effects.extend(self.advance(now));
        }
        effects
    }

    fn advance_once(&mut self, now: Instant) -> Effects {
        let (_, scene) = self.scene();
        let (id, step, wait) = (scene.id.clone(), scene.step, scene.wait.clone());
        match &self.stage {
            SceneStage::Loading if self.app.store.is_settled() => {
                self.stage = SceneStage::Filtering;
                return self.reset(now);
            }
            SceneStage::Filtering if self.is_idle() => {
                let Some(id) = id else {
                    self.stage = SceneStage::Keys(0);
                    return Vec::new();
                };
                self.stage = SceneStage::Opening;
                return self.app.seek(&id, None);
            }
            SceneStage::Opening if self.app.screens.top() != ScreenKind::Table && self.is_idle() => {
                self.stage = SceneStage::Keys(0);
                if let (Some(step), Some(view)) = (step, self.app.screens.record_mut()) {
                    let of = view.opened.steps.len();
                    if step > of {
                        self.stage = SceneStage::Failed(shown!("there is no step {step}: the record has {of}"));
                        return Vec::new();
                    }
                    view.go_to_moment(step);
                    // Panes take what the step holds; no message may come that would lay them out.
                    self.app.settle();
                }
            }
            SceneStage::Opening if self.is_idle() => {
                if let Some(why) = self.failure() {
                    self.stage = SceneStage::Failed(why);
                }
            }
            SceneStage::Keys(n) if self.is_idle() => {
                let n = *n;
                let Some(key) = self.scene().1.keys.split_whitespace().nth(n).map(str::to_owned) else {
                    self.stage = SceneStage::Waiting;
                    return Vec::new();
                };
                if let Some(word) = key.strip_prefix('?').filter(|word| !word.is_empty()) {
                    if self.shows(&word.replace('_', " ")) {
                        self.stage = SceneStage::Keys(n + 1);
                    }
                    return Vec::new();
                }
                self.stage = SceneStage::Keys(n + 1);
                return self.press(&key, now);
            }
            // Rows whose texts are still being read would show nothing.
            SceneStage::Waiting
                if self.is_idle()
                    && has_row_texts(self.app.area(), &self.app.store, &self.app.table)
                    && self.shows(&wait) =>
            {
                self.stage = SceneStage::Stands;
            }
            _ => {}
        }
        Vec::new()
    }

    fn press(&mut self, name: &str, now: Instant) -> Effects {
        if let Some(key) = Key::from_name(name) {
            let effects = self.app.update(Msg::Input(Input::Key(key.event())), now);
            let refusal = self.failure();
            let is_said = |reason: &str| refusal.as_ref().is_some_and(|said| said.as_str() == reason);
            if is_said(ONLY_SHOWS) {
                self.deny("end presenting");
            } else if is_said(NOT_SAVED_IN_TOUR) {
                self.deny("save or export");
            }
            return effects;
        }
        self.stage = SceneStage::Failed(shown!("there is no key {}", Shown::line(name.as_bytes())));
        Vec::new()
    }

    /// The place of the program, above the bar.
    pub(crate) fn stage_area(&self) -> Rect {
        Rect::new(0, 0, self.size.width, self.size.height.saturating_sub(BAR))
    }

    /// Sentence of the program on something that did not work or was refused.
    fn failure(&self) -> Option<Shown> {
        self.app.status.now.as_ref().filter(|status| status.failed || status.refused).map(|status| status.text.clone())
    }

    /// Texts that should stay bright, where none of them is on the screen.
    pub(crate) fn missing_spot(&self) -> Option<&str> {
        let spot = &self.scene().1.spot;
        (!spot.split('|').any(|text| self.shows(text))).then_some(spot)
    }

    /// Tells whether a text is on the screen of the program, on one line.
    fn shows(&self, text: &str) -> bool {
        let area = self.stage_area();
        let mut buf = Buffer::empty(area);
        view::draw(&self.app, area, &mut buf);
        (0..area.height).any(|row| line(&buf, row).contains(text))
    }

    /// The whole screen.
    pub(crate) fn draw_on(&self, area: Rect, buf: &mut Buffer) {
        let theme = &self.app.looks.theme;
        buf.set_style(area, theme.style(Role::Screen));
        if self.is_black {
            return;
        }
        let above = Rect { height: area.height.saturating_sub(BAR), ..area };
        view::draw(&self.app, above, buf);
        let (at, scene) = self.scene();
        if !self.wanders && self.stage == SceneStage::Stands {
            let parts = parts_of(&self.app, above, buf);
            dim_but(&scene.spot, &parts, above, buf, theme);
        }
        let bar = Rect { y: above.bottom(), height: BAR.min(area.height), ..area };
        let text = Rect { height: (CAPTION as u16).min(bar.height), ..bar };
        let caption = match &self.stage {
            SceneStage::Failed(why) => why.clone(),
            _ if !self.denied.is_empty() => self.denied().unwrap_or_default(),
            _ => Shown::line(scene.caption.as_bytes()),
        };
        buf.set_style(bar, theme.style(Role::Text));
        let bold = theme.style(Role::Title).add_modifier(Modifier::BOLD);
        for (row, line) in (text.top()..text.bottom()).zip(caption_lines(caption.as_str(), usize::from(text.width))) {
            Line::styled(line, bold).render(Rect { y: row, height: 1, ..text }, buf);
        }
        let of = self.script.scenes.len();
        let auto = if self.plays { "a stop" } else { "a auto" };
        let hint = match (self.wanders, self.is_over() || self.is_stuck()) {
            (true, _) => "you have the keys · Esc Esc back to the tour".to_owned(),
            (_, false) => "…".to_owned(),
            _ if self.is_small() => {
                format!("Space next · q quit · best at {}x{}", MADE_FOR.width, MADE_FOR.height)
            }
            _ => format!("Space next · p back · {auto} · Esc try it yourself · q quit"),
        };
        let hint = format!(" {}/{of} · {} · {hint}", at + 1, self.mark());
        let last = Rect { y: bar.bottom().saturating_sub(1), height: 1, ..bar };
        Line::styled(hint, theme.style(Role::Dim)).render(last, buf);
    }

    /// Names the origin of what is on screen. A tour asks no model.
    fn mark(&self) -> &'static str {
        if self.app.screens.attempt().is_some() { "REPLAY" } else { "RECORDED" }
    }

    fn is_idle(&self) -> bool {
        let App { screens, table, models, across, seek, .. } = &self.app;
        is_idle(screens, table, models, across, seek.is_some())
    }

    /// Draws the program alone, in a theme, as people see it who do not present.
    pub(crate) fn picture(&mut self, theme: &str, area: Rect) -> Buffer {
        let wanted = &mut self.app.models.setup.wanted;
        let (presenting, offline) = (self.app.presenting.take(), std::mem::take(&mut wanted.offline));
        let picture = drawn_in(&mut self.app, theme, area);
        (self.app.presenting, self.app.models.setup.wanted.offline) = (presenting, offline);
        picture
    }

    /// Draws one pane of the program alone, by its title; `fits`: no higher than what it holds.
    pub(crate) fn pane(&mut self, name: &str, fits: bool) -> Result<[Buffer; 2], Shown> {
        let draw = |tour: &mut Self, name: &str| {
            export::alone(&mut tour.app.screens, name)?;
            tour.app.settle();
            let place = export::focused_pane(&tour.app.screens);
            let place = place.ok_or(Shown::own("there is no room for this pane"))?;
            let area = Rect::new(0, 0, tour.app.size.width, tour.app.size.height);
            Ok(["dark", "light"].map(|theme| cropped(tour.picture(theme, area), place)))
        };
        let pictures = draw(self, name)?;
        let [dark, _] = &pictures;
        let blank = if fits { blank_rows(dark) } else { 0 };
        if blank == 0 {
            return Ok(pictures);
        }
        self.app.size.height -= blank;
        draw(self, name)
    }
}

/// Wraps a caption; one that is too long for its rows ends with an ellipsis.
fn caption_lines(caption: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = wrapped(caption, width.max(1), CAPTION + 1).map(ToOwned::to_owned).collect();
    if lines.len() > CAPTION {
        lines.truncate(CAPTION);
        lines.last_mut().into_iter().for_each(|line| *line = fit(&format!("{line} …"), width));
    }
    lines
}

/// Leaves room for the bar in what the program is told of the size of the screen; the whole size is kept.
pub(crate) fn above_bar(message: Msg, whole: &mut Size) -> Msg {
    let mut above = |size: Size| {
        *whole = size;
        Size::new(size.width, size.height.saturating_sub(BAR))
    };
    match message {
        Msg::Start(size) => Msg::Start(above(size)),
        Msg::Resize(size) => Msg::Resize(above(size)),
        message => message,
    }
}

/// Tells whether nothing is under way for which a key could come too early.
pub(crate) fn is_idle(screens: &Screens, table: &Table, models: &ModelChoice, across: &Across, seeks: bool) -> bool {
    let filtered = table.filtering.as_ref().is_none_or(|search| search.done);
    let is_planned = |attempt: &Attempt| attempt.never.is_some() || attempt.ready.is_some() && models.server.is_some();
    let asked = screens.attempt().is_some_and(|attempt| {
        attempt.is_busy() || attempt.stage == Stage::Preview && !is_planned(attempt) || attempt.picker.is_looking
    });
    let waits = screens.opening.is_some() || seeks || across.partner_of.is_some();
    filtered && !asked && !waits && !across.is_working()
}

/// Lists the parts of a screen of which each is bright or dim as a whole, so that no value is half dimmed: the window
/// in front, else the panes, else the lines; the first line and the one above the keys are parts of their own.
fn parts_of(app: &App, area: Rect, buf: &Buffer) -> Vec<Rect> {
    let look = Look::new(&app.looks.theme, &app.keymap, true);
    let row = |y: u16| Rect { y, height: 1, ..area };
    let bars = layout::parts(area);
    let body = bars.body;
    let mut parts = vec![bars.header, bars.status];
    let record = app.screens.record();
    match (window(app, area, buf, look), app.screens.top()) {
        (Some(window), _) => parts.push(window.place),
        (None, ScreenKind::Run) => parts.extend(record.into_iter().flat_map(|view| view.areas.places())),
        (None, ScreenKind::Answer) => {
            let answer = record.and_then(|view| view.answer.as_ref());
            parts.extend(answer.into_iter().flat_map(|answer| answer.areas.places()));
        }
        (None, ScreenKind::Rerun) => {
            parts.extend(app.screens.attempt().into_iter().flat_map(|attempt| attempt.areas.places()));
        }
        (None, screen) if screen.counts_records() => parts.push(body),
        _ => parts.extend((body.top()..body.bottom()).map(row)),
    }
    parts
}

/// Dims every part of the screen that holds none of the texts, which `|` parts. What is dimmed stays readable: it loses
/// its colours and its ground.
fn dim_but(spots: &str, parts: &[Rect], area: Rect, buf: &mut Buffer, theme: &Theme) {
    let is_spot = |text: &str| spots.split('|').any(|spot| !spot.is_empty() && text.contains(spot));
    let text = |part: Rect, y: u16| {
        let symbols = (part.left()..part.right()).filter_map(|x| buf.cell((x, y)));
        symbols.map(Cell::symbol).collect::<String>()
    };
    let is_bright = |part: &&Rect| (part.top()..part.bottom()).any(|y| is_spot(&text(**part, y)));
    let bright: Vec<Rect> = parts.iter().filter(is_bright).copied().collect();
    // Where the text is nowhere there is nothing to dim for.
    if bright.is_empty() {
        return;
    }
    let mut style = theme.style(Role::Faint).remove_modifier(Modifier::REVERSED | Modifier::BOLD);
    style.bg = theme.style(Role::Screen).bg.or(Style::reset().bg);
    // The last line names the keys that were pressed.
    for y in area.top()..area.bottom().saturating_sub(1) {
        for x in area.left()..area.right() {
            if !bright.iter().any(|part| part.contains(Position { x, y })) {
                buf.set_style(Rect::new(x, y, 1, 1), style);
            }
        }
    }
}

impl Program for Tour {
    type Msg = Msg;
    type Effect = Effect;

    fn update(&mut self, message: Msg, now: Instant) -> Effects {
        self.since.get_or_insert(now);
        if !matches!(message, Msg::Tick) {
            self.stuck = None;
        }
        let mut effects = match above_bar(message, &mut self.size) {
            Msg::Input(Input::Key(key)) if !self.wanders => self.key(key, now),
            Msg::Input(Input::Mouse(_) | Input::Paste(_)) if !self.wanders => Vec::new(),
            Msg::Input(Input::Key(key)) => {
                let again = key.code == KeyCode::Esc && std::mem::replace(&mut self.escaped, true);
                self.escaped &= key.code == KeyCode::Esc;
                if again {
                    (self.wanders, self.back) = (false, Some(now));
                    self.go(self.at, now);
                    Vec::new()
                } else {
                    self.app.update(Msg::Input(Input::Key(key)), now)
                }
            }
            message => self.app.update(message, now),
        };
        if !self.wanders {
            effects.extend(self.advance(now));
        }
        // A tour leaves nothing behind.
        effects.retain(|effect| !matches!(effect, Effect::KeepView(..)));
        // And its own keys reach nothing beside the screen: whoever wrote it is not who looks at it.
        effects.retain(|effect| match effect.beyond_showing() {
            Some(_) if self.wanders && effect.is_for_persons() => true,
            Some(what) => {
                self.deny(what);
                false
            }
            None => true,
        });
        effects.extend(self.news());
        effects
    }

    fn draw(&self, buf: &mut Buffer) -> Option<Position> {
        self.draw_on(buf.area, buf);
        if self.app.looks.ascii {
            ascii::draw(buf);
        }
        None
    }

    fn wake_at(&self) -> Option<Instant> {
        let stuck = self.since.map(|since| since + PATIENCE);
        let stuck = stuck.filter(|_| !self.wanders && !self.is_over());
        let given_up = self.stuck.filter(|_| self.gives_up).map(|since| since + GIVES_UP);
        self.app.wake_at().into_iter().chain(given_up).chain(self.auto.filter(|_| self.plays)).chain(stuck).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_that_is_too_long_says_so() {
        assert_eq!(caption_lines("one two three", 20), ["one two three"]);
        assert_eq!(caption_lines("one two three", 8), ["one two", "three"]);
        assert_eq!(caption_lines("one two three four", 8), ["one two", "three …"]);
        assert_eq!(caption_lines("", 8).concat(), "");
    }
}
