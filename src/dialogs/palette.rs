//! The palette: every action by name.

use ratatui::layout::Rect;
use tui_input::Input as Line;
use unicode_width::UnicodeWidthStr as _;

use crate::widgets::command::Fit;
use crate::widgets::keymap::{Action, Binding, Context};
use crate::widgets::line;
use crate::widgets::look::Look;
use crate::widgets::prose::pad;
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, centred};
use stepscope_base::text::Shown;

/// A row of the palette.
pub(crate) struct PaletteRow {
    /// The row of the table of keys.
    pub(crate) binding: &'static Binding,
    /// Fit of what was typed.
    pub(crate) fit: Fit,
    /// A name behind the action, and what it means.
    pub(crate) named: Option<(String, Shown)>,
}

impl PaletteRow {
    /// Names what it does.
    pub(crate) fn title(&self) -> String {
        let title = self.binding.action.title();
        self.named
            .as_ref()
            .map_or_else(|| title.clone(), |(name, _)| format!("{title} {}", Shown::line(name.as_bytes())))
    }
}

/// Typed text, and whether a row was chosen.
#[derive(Debug, Default)]
pub struct Palette {
    /// The command.
    pub line: Line,
    /// True once the cursor was moved, or a row was confirmed that is not the only one.
    pub(crate) is_chosen: bool,
    /// True if it was opened from the help, whose lines are searched too.
    pub(crate) in_help: bool,
}

impl Palette {
    /// Searches the help.
    pub(crate) fn of_help() -> Self {
        Self { in_help: true, ..Self::default() }
    }
}

/// Size in which it is of use, where the screen has it.
const LEAST_WIDTH: u16 = 30;
const LEAST_HEIGHT: u16 = 6;
/// Columns of the names of actions; with names behind them they take up to twice as many.
const TITLE: usize = 20;

/// Builds the window from the rows that fit what was typed. `here`: the contexts of what is in front; `may`: tells whether
/// an action can be done there.
pub(crate) fn window<'a>(
    (palette, rows): (&Palette, Vec<PaletteRow>),
    here: Vec<Context>,
    may: impl Fn(Action) -> bool + 'a,
    area: Rect,
    look: Look<'a>,
) -> Window<'a> {
    // On the smallest screens it takes all, so that what is typed and a row are seen.
    let width = area.width.saturating_sub(8).clamp(LEAST_WIDTH, 76);
    let place = centred(area, width, area.height.saturating_sub(4).clamp(LEAST_HEIGHT, 20));
    let (visible, _) = line::window(&palette.line, usize::from(place.width.saturating_sub(7)));
    let line = vec![look.span(": ", Role::HintKey), look.span(visible, Role::Text), look.span("▏", Role::Accent)];
    let longest = rows.iter().map(|row| row.title().width()).max().unwrap_or(0).clamp(TITLE, 2 * TITLE);
    let nothing = rows.is_empty().then(|| vec![look.span("No matching command", Role::Dim)]);
    let window = Window::new(place, vec![look.span("Actions", Role::Title)], rows.len(), move |n| {
        let Some(row) = rows.get(n) else { return Vec::new() };
        let binding = row.binding;
        let role = if may(binding.action) { Role::Text } else { Role::Ghost };
        let is_here = here.contains(&binding.context);
        let place = if is_here { String::new() } else { format!("{}: ", binding.context.word()) };
        let key = look.keymap.names(binding).first().cloned().unwrap_or_default();
        vec![
            look.span(pad(&row.title(), longest), role),
            look.span(pad(&key, 7), Role::HintKey),
            look.span(place, Role::Faint),
            look.span(row.named.as_ref().map_or(binding.help, |(_, meaning)| meaning.as_str()).to_owned(), Role::Dim),
        ]
    });
    let blank = (place.height > LEAST_HEIGHT).then(Vec::new);
    let head = [line].into_iter().chain(blank).chain(nothing).collect();
    Window { head, has_cursor: true, ..window }
}
