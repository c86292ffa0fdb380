//! Recording a tour: the real program, and a key that keeps what is on the screen as a scene. A scene begins where a
//! tour can begin one, at the table or at a record, and holds the keys that were pressed from there on.

use std::time::Instant;

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use crate::app::msg::{Effect, Effects, Msg};
use crate::app::present::Presenting;
use crate::app::state::App;
use crate::app::view;
use crate::demo::picture::line;
use crate::demo::tour::{BAR, above_bar, is_idle};
use crate::screens::kind::ScreenKind;
use crate::screens::run::state::RecordView;
use crate::screens::stack::Screens;
use crate::widgets::ascii;
use crate::widgets::keymap::Key;
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;
use stepscope_io::config::tour::Scene;
use stepscope_record::finding::counted;
use stepscope_redact::PrivateHits;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::Program;

/// The key that keeps a scene.
const KEEP: KeyCode = KeyCode::F(2);
/// Number of characters of a text to wait for.
const WAIT: std::ops::RangeInclusive<usize> = 6..=40;
/// The last rows of the program tell keys and their answers, not what is shown.
const FOOT: usize = 2;
/// Characters that separate unrelated texts in a row.
const BORDERS: &[char] = &['│', '┃', '─', '╭', '╮', '╰', '╯'];

/// A scene that was kept.
#[derive(Clone, Debug)]
pub(crate) struct KeptScene {
    pub(crate) scene: Scene,
    /// The record that was open.
    pub(crate) record: Option<usize>,
    /// The screen, by its rows.
    pub(crate) rows: Vec<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct TourRecorder {
    app: App,
    /// Beginning of the next scene.
    from: Scene,
    /// The keys since then.
    keys: Vec<String>,
    /// The record that was open after the last message.
    open: Option<usize>,
    size: Size,
    /// True if this screen is to be kept as soon as nothing is being worked out.
    wanted: bool,
    said: &'static str,
    pub(crate) kept: Vec<KeptScene>,
}

impl TourRecorder {
    pub(crate) fn new(mut app: App) -> Self {
        app.presenting = Some(Presenting::default());
        let (from, keys, kept) = (Scene::default(), Vec::new(), Vec::new());
        Self { app, from, keys, open: None, size: Size::new(80, 24), wanted: false, said: "", kept }
    }

    /// Keeps the screen if that is wanted and nothing is being worked out.
    fn keep(&mut self) {
        let App { screens, table, models, across, seek, .. } = &self.app;
        let is_idle = is_idle(screens, table, models, across, seek.is_some());
        if !self.wanted || !is_idle || !self.app.store.is_settled() {
            return;
        }
        self.wanted = false;
        let name = self.app.screens.top().word().to_owned();
        let caption = format!("TODO: what there is to see ({name})");
        let scene = Scene { name, caption, keys: self.keys.join(" "), ..self.from.clone() };
        self.kept.push(KeptScene { scene, record: open(&self.app.screens), rows: rows(&self.app, self.place()) });
        self.said = " · kept";
    }

    fn key(&mut self, key: Key, now: Instant) -> Effects {
        self.said = "";
        let name = key.name();
        // A key without a name cannot be pressed by a tour.
        if name.is_empty() {
            return Vec::new();
        }
        self.keys.push(name);
        self.app.update(Msg::Input(Input::Key(key.event())), now)
    }

    /// A record that was opened from the table is where a tour can begin.
    fn follow(&mut self) {
        let before = std::mem::replace(&mut self.open, open(&self.app.screens));
        let alone = self.app.screens.len() == 1 && self.app.screens.dialog.is_none();
        let view = self.app.screens.record().filter(|_| alone && before.is_none());
        let id = view.map(|view| view.opened.id.as_str()).filter(|id| !id.is_empty());
        if let Some((view, id)) = view.zip(id) {
            let step = Some(view.moment.0).filter(|_| view.opened.has_steps());
            let filter = self.app.table.filter_text.clone();
            self.from = Scene { filter, id: Some(id.to_owned()), step, ..Scene::default() };
            self.keys.clear();
        }
    }

    /// The place of the program, above the bar.
    fn place(&self) -> Rect {
        Rect::new(0, 0, self.size.width, self.size.height.saturating_sub(BAR))
    }
}

/// The record that is open.
pub(crate) fn open(screens: &Screens) -> Option<usize> {
    screens.record().map(|view: &RecordView| view.opened.index)
}

/// The screen of the program, by its rows.
pub(crate) fn rows(app: &App, place: Rect) -> Vec<String> {
    let mut buf = Buffer::empty(place);
    view::draw(app, place, &mut buf);
    (0..place.height).map(|row| line(&buf, row)).collect()
}

/// Finds a text for a scene to wait for: one that was on the screen when the scene was kept and is there when it is
/// played, preferably on screens of other sizes too, and preferably one that was not there before. A text that was cut
/// is none. Empty: there is none.
pub(crate) fn wait_for(kept: &[String], played: &[String], others: &[Vec<String>], before: &[String]) -> String {
    let body = |rows: &[String]| rows.get(..rows.len().saturating_sub(FOOT)).unwrap_or_default().to_vec();
    let stands = |rows: &[String], text: &str| rows.iter().any(|row| row.contains(text));
    let (kept, played) = (body(kept), body(played));
    let others: Vec<_> = others.iter().map(|rows| body(rows)).collect();
    let texts = kept.iter().flat_map(|row| row.split(BORDERS)).flat_map(|part| part.split("  ")).map(str::trim);
    let fits = |text: &&str| {
        let is_text = text.chars().any(char::is_alphabetic) && WAIT.contains(&text.chars().count());
        is_text && !text.contains('…') && stands(&played, text) && !is_private(text)
    };
    let worth = |text: &&str| {
        let everywhere = others.iter().all(|rows| stands(rows, text));
        (everywhere, !stands(before, text), text.chars().count())
    };
    texts.filter(fits).max_by_key(worth).map(ToOwned::to_owned).unwrap_or_default()
}

fn is_private(text: &str) -> bool {
    let mut hits = PrivateHits::default();
    hits.look(text.as_bytes(), &Shown::default());
    !hits.is_empty()
}

/// Returns the typed text as a person reads it: keys of one character without their separators.
pub(crate) fn typed(keys: &str) -> String {
    let name = |name: &str| match name {
        "Space" => " ".to_owned(),
        name if name.chars().count() == 1 => name.to_owned(),
        _ => "\n".to_owned(),
    };
    keys.split_whitespace().map(name).collect()
}

impl Program for TourRecorder {
    type Msg = Msg;
    type Effect = Effect;

    fn update(&mut self, message: Msg, now: Instant) -> Effects {
        let mut effects = match above_bar(message, &mut self.size) {
            Msg::Input(Input::Key(key)) if key.code == KEEP => {
                (self.wanted, self.said) = (true, " · keeps this one when it is complete");
                Vec::new()
            }
            Msg::Input(Input::Key(key)) => self.key(Key::from_event(key), now),
            // A tour has keys alone.
            Msg::Input(Input::Mouse(_) | Input::Paste(_)) => Vec::new(),
            message => self.app.update(message, now),
        };
        self.follow();
        self.keep();
        // A tour leaves nothing behind.
        effects.retain(|effect| !matches!(effect, Effect::KeepView(..)));
        effects
    }

    fn draw(&self, buf: &mut Buffer) -> Option<Position> {
        let (area, place) = (buf.area, self.place());
        let theme = &self.app.looks.theme;
        buf.set_style(area, theme.style(Role::Screen));
        view::draw(&self.app, place.intersection(area), buf);
        let last = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        let scenes = match self.kept.len() {
            0 => "no scene yet".to_owned(),
            n => counted(n, "scene"),
        };
        let end = if self.app.screens.top() == ScreenKind::Table { "q ends" } else { "Q ends" };
        let hint = format!(" RECORDING · {scenes}{} · F2 keeps this screen as a scene · {end}", self.said);
        Line::styled(hint, theme.style(Role::Title)).render(last.intersection(area), buf);
        if self.app.looks.ascii {
            ascii::draw(buf);
        }
        None
    }

    fn wake_at(&self) -> Option<Instant> {
        self.app.wake_at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_waits_for_what_is_new_and_stands_in_both_and_is_not_private() {
        let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        let foot = ["status of keys", "Enter open, more keys here"];
        let screen = |body: &[&str]| rows(&[body, &foot].concat());
        let kept = screen(&["│ the same title │ took 0.3 seconds  mail ada@example.org now │", "│ new here │"]);
        let played = screen(&["the same title", "took 0.4 seconds", "new here", "mail ada@example.org now"]);
        let before = screen(&["the same title"]);
        assert_eq!(wait_for(&kept, &played, &[], &before), "new here");
        assert_eq!(wait_for(&kept, &played, &[], &[]), "the same title");
        assert_eq!(wait_for(&kept, &screen(&["another"]), &[], &[]), "");
        // What a smaller screen does not show is the last choice, and what was cut is none.
        let smaller = screen(&["the same title"]);
        assert_eq!(wait_for(&kept, &played, &[smaller], &before), "the same title");
        assert_eq!(wait_for(&kept, &played, &[screen(&["nothing"])], &before), "new here");
        let cut = screen(&["a text that was cut …", "a whole one"]);
        assert_eq!(wait_for(&cut, &cut, &[], &[]), "a whole one");
    }

    #[test]
    fn typed_keys_are_read_as_text() {
        assert_eq!(typed("/ a d a @ e x Space Enter S-Tab b"), "/ada@ex \n\nb");
    }
}
