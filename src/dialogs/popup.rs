//! A text in full, in a window.

use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::dialogs::dialog::Popup;
use crate::widgets::look::Look;
use crate::widgets::prose::{left_out, wrap_hanging};
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around, width};

const WIDTH: u16 = 110;

pub(crate) fn window<'a>(popup: &'a Popup, area: Rect, look: Look<'a>) -> Window<'a> {
    let text = popup.text.as_str();
    let mut title = vec![look.span(popup.title.as_str(), Role::Title)];
    title.extend(left_out(text).map(|rest| look.span(format!("  {rest}"), Role::Warning)));
    title.push(look.keyed("  <escape> closes, <copy_value> copies", Role::Faint));
    let lines = wrap_hanging(text, usize::from(width(area, WIDTH).saturating_sub(4)));
    Window::new(around(lines.len(), area, WIDTH), title, lines.len(), move |n| {
        let Some((indent, range)) = lines.get(n) else { return Vec::new() };
        let line = text.get(range.clone()).unwrap_or_default();
        vec![Span::raw(" ".repeat(*indent)), look.span(line, Role::Text)]
    })
}
