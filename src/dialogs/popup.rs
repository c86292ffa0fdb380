//! A text in full, in a window.

use ratatui::layout::Rect;

use crate::dialogs::dialog::Popup;
use crate::widgets::look::Look;
use crate::widgets::prose::{left_out, wrap};
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around, width};

const WIDTH: u16 = 110;

pub(crate) fn window<'a>(popup: &'a Popup, area: Rect, look: Look<'a>) -> Window<'a> {
    let text = popup.text.as_str();
    let mut title = vec![look.span(popup.title.as_str(), Role::Title)];
    title.extend(left_out(text).map(|rest| look.span(format!("  {rest}"), Role::Warning)));
    title.push(look.keyed("  <escape> closes, <copy_value> copies", Role::Faint));
    let lines = wrap(text, usize::from(width(area, WIDTH).saturating_sub(4)));
    let line = move |range: &std::ops::Range<usize>| text.get(range.clone()).unwrap_or_default();
    Window::new(around(lines.len(), area, WIDTH), title, lines.len(), move |n| {
        vec![look.span(lines.get(n).map(line).unwrap_or_default(), Role::Text)]
    })
}
