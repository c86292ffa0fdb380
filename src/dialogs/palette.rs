//! The palette: every action by name.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use crate::app::state::App;
use crate::dialogs::dialog::Palette;
use crate::widgets::layout::window;
use crate::widgets::line;
use crate::widgets::look::{Look, frame, put, wash};
use crate::widgets::prose::pad;
use crate::widgets::theme::Role;

pub(crate) fn place(area: Rect) -> Rect {
    window(area, area.width.saturating_sub(8).min(76), area.height.saturating_sub(4).min(20))
}

/// How many actions it shows.
pub(crate) fn height(area: Rect) -> usize {
    usize::from(place(area).height.saturating_sub(4))
}

pub(crate) fn draw(app: &App, palette: &Palette, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(area);
    Clear.render(place, buf);
    let inner = frame(vec![look.span("Actions", Role::Title)], place, buf, look);
    let (typed, _) = line::window(&palette.line, usize::from(inner.width).saturating_sub(3));
    put(
        vec![look.span(": ", Role::HintKey), look.span(typed, Role::Text), look.span("▏", Role::Accent)],
        0,
        inner,
        buf,
    );
    let body = Rect { y: inner.y + 2.min(inner.height), height: inner.height.saturating_sub(2), ..inner };
    let rows = app.palette_rows(palette.line.value());
    if rows.is_empty() {
        put(vec![look.span("no action is called that", Role::Dim)], 0, body, buf);
    }
    for (row, n) in palette.list.visible(rows.len(), usize::from(body.height)).enumerate() {
        let Some(binding) = rows.get(n) else { continue };
        let role =
            if app.allowed_at(app.focus_below_dialog(), binding.action).is_ok() { Role::Text } else { Role::Ghost };
        let key = app.keymap.names(binding).first().cloned().unwrap_or_default();
        let spans = vec![
            look.span(pad(&binding.action.word().replace('_', " "), 20), role),
            look.span(pad(&key, 7), Role::HintKey),
            look.span(binding.help, Role::Dim),
        ];
        put(spans, row, body, buf);
        if n == palette.list.at {
            wash(row, body, buf, look.selection());
        }
    }
}
