//! Presenter's notes on a second terminal: a program that follows the tour of the same user, and ends with it.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget as _, Wrap};

use crate::widgets::ascii;
use crate::widgets::layout::split_rows;
use crate::widgets::theme::{Role, Theme};
use stepscope_base::text::Shown;
use stepscope_io::notes::TourNotes;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{Event, Program, Work};

/// The tour is looked for so often.
const LOOK: Duration = Duration::from_millis(200);
/// Rows of a caption at most.
const CAPTION: u16 = 3;

/// Message to the follower.
#[derive(Debug)]
pub(crate) enum NotesMsg {
    /// Event of its terminal.
    Terminal(Event),
    /// Notes from the tour, and the time that it has been running; `None`: no tour runs.
    Told(Option<Box<(TourNotes, Duration)>>),
}

impl From<Event> for NotesMsg {
    fn from(event: Event) -> Self {
        Self::Terminal(event)
    }
}

/// Action that the follower asks for.
#[derive(Debug)]
pub(crate) enum NotesEffect {
    /// Looks at what the tour tells.
    Look,
    /// Ends the program.
    Quit,
}

impl Work for NotesEffect {}

/// See the module.
#[derive(Debug)]
pub(crate) struct Notes {
    theme: Theme,
    /// True if only ASCII characters are drawn.
    pub(crate) ascii: bool,
    /// Last notes from the tour, and the time that it had been running.
    told: Option<(TourNotes, Duration)>,
    /// First line of the note on screen.
    top: u16,
    look_at: Option<Instant>,
}

impl Notes {
    pub(crate) fn new(theme: Theme) -> Self {
        Self { theme, ascii: false, told: None, top: 0, look_at: None }
    }

    fn key(&mut self, code: KeyCode, control: bool) -> Vec<NotesEffect> {
        match code {
            KeyCode::Char('q') | KeyCode::Esc => return vec![NotesEffect::Quit],
            KeyCode::Char('c') if control => return vec![NotesEffect::Quit],
            KeyCode::Char('j') | KeyCode::Down => self.top = self.top.saturating_add(1),
            KeyCode::Char('k') | KeyCode::Up => self.top = self.top.saturating_sub(1),
            _ => {}
        }
        Vec::new()
    }

    fn take(&mut self, told: Option<(TourNotes, Duration)>) -> Vec<NotesEffect> {
        let scene = |told: &Option<(TourNotes, Duration)>| told.as_ref().map(|(notes, _)| notes.scene);
        if told.is_none() && self.told.is_some() {
            return vec![NotesEffect::Quit];
        }
        if scene(&told) != scene(&self.told) {
            self.top = 0;
        }
        self.told = told;
        Vec::new()
    }

    fn page(&self, buf: &mut Buffer) {
        let area = buf.area;
        buf.set_style(area, self.theme.style(Role::Screen));
        let (inside, hint) = split_rows(area, area.height.saturating_sub(1));
        let dim = self.theme.style(Role::Dim);
        let Some((notes, elapsed)) = &self.told else {
            let text = "No tour is running. Start one in another terminal: stepscope demo";
            Paragraph::new(text).style(dim).wrap(Wrap { trim: true }).render(inside, buf);
            Line::styled("q quit", dim).render(hint, buf);
            return;
        };
        let bold = self.theme.style(Role::Title).add_modifier(Modifier::BOLD);
        let text = |text: &str| Shown::prose(text.as_bytes()).into_string();
        let (head, rest) = split_rows(inside, 1);
        let (caption, rest) = split_rows(rest, CAPTION.min(rest.height / 4));
        let (note, next) = split_rows(rest, rest.height.saturating_sub(caption.height));
        let seconds = elapsed.as_secs();
        let head_text = format!("Scene {} of {}   {:02}:{:02}", notes.scene, notes.scenes, seconds / 60, seconds % 60);
        Line::styled(head_text, self.theme.style(Role::Accent)).render(head, buf);
        let shown = [
            (text(&notes.caption), dim, caption, 0),
            (text(if notes.note.is_empty() { "(no note)" } else { &notes.note }), bold, inset(note), self.top),
            (notes.next.as_ref().map_or("Last scene".to_owned(), |next| format!("Next: {}", text(next))), dim, next, 0),
        ];
        for (text, style, place, top) in shown {
            Paragraph::new(text).style(style).wrap(Wrap { trim: true }).scroll((top, 0)).render(place, buf);
        }
        Line::styled("j k scroll · q quit", dim).render(hint, buf);
    }
}

impl Program for Notes {
    type Msg = NotesMsg;
    type Effect = NotesEffect;

    fn update(&mut self, message: NotesMsg, now: Instant) -> Vec<NotesEffect> {
        match message {
            NotesMsg::Told(told) => self.take(told.map(|told| *told)),
            NotesMsg::Terminal(Event::Input(Input::Key(key))) => {
                self.key(key.code, key.modifiers.contains(KeyModifiers::CONTROL))
            }
            NotesMsg::Terminal(Event::Start(_) | Event::Tick) => {
                self.look_at = Some(now + LOOK);
                vec![NotesEffect::Look]
            }
            NotesMsg::Terminal(_) => Vec::new(),
        }
    }

    fn draw(&self, buf: &mut Buffer) -> Option<Position> {
        self.page(buf);
        if self.ascii {
            ascii::draw(buf);
        }
        None
    }

    fn wake_at(&self) -> Option<Instant> {
        self.look_at
    }
}

/// Insets an area by a blank line above and below, where there is room.
fn inset(area: Rect) -> Rect {
    if area.height < 4 { area } else { Rect { y: area.y + 1, height: area.height - 2, ..area } }
}
