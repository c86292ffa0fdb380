//! A text in full, in a window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use crate::dialogs::dialog::Popup;
use crate::widgets::layout::{inner_width, window};
use crate::widgets::look::{Look, frame, put, scroll_mark};
use crate::widgets::prose;
use crate::widgets::theme::Role;

/// Where the window is: as high as its text, at most the screen.
pub(crate) fn place(popup: &Popup, area: Rect) -> Rect {
    let width = area.width.saturating_sub(4).clamp(20.min(area.width), 110);
    let inner = usize::from(width.saturating_sub(4));
    let lines = prose::wrap_up_to(popup.text.as_str(), inner, usize::from(area.height)).len();
    let lines = u16::try_from(lines).unwrap_or(u16::MAX);
    window(area, width, lines.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3)))
}

pub(crate) fn draw(popup: &Popup, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(popup, area);
    Clear.render(place, buf);
    let mut title = vec![look.span(popup.title.as_str(), Role::Title)];
    title.extend(prose::left_out(popup.text.as_str()).map(|rest| look.span(format!("  {rest}"), Role::Warning)));
    title.push(look.span("  Esc closes, y v copies", Role::Faint));
    let inner = frame(title, place, buf, look);
    let window = popup.top..popup.top + usize::from(inner.height);
    let lines = prose::lines(&popup.text, inner_width(place), window, look.style(Role::Text), &[]);
    for (row, line) in lines.into_iter().enumerate() {
        put(line.spans, row, inner, buf);
    }
    let count = prose::wrap(popup.text.as_str(), inner_width(place)).len();
    scroll_mark(place, popup.top, count, buf, look);
}
