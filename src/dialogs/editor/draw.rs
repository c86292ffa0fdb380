//! The editor window: the recorded text above what is being typed, messages about it below.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::dialogs::editor::Editor;
use crate::widgets::layout::{inner_width, parts};
use crate::widgets::look::{Look, clear, frame, put, scroll_mark};
use crate::widgets::prose::fit;
use crate::widgets::theme::Role;
use crate::widgets::window::{centred, width};

/// Places the window.
fn place(editor: &Editor, area: Rect) -> Rect {
    let body = parts(area).body;
    let height = if editor.is_large { body.height.saturating_sub(2) } else { 5 };
    centred(body, width(area, 110), height.clamp(3, body.height.max(3)))
}

/// Places the text: below the line with the recorded value, above the line with the message.
fn text_area(editor: &Editor, area: Rect) -> Rect {
    let place = place(editor, area);
    let inner = Rect {
        x: place.x.saturating_add(2).min(place.right()),
        y: place.y.saturating_add(1).min(place.bottom()),
        width: place.width.saturating_sub(4),
        height: place.height.saturating_sub(2),
    };
    if inner.height < 3 {
        return Rect { height: inner.height.min(1), ..inner };
    }
    Rect { y: inner.y + 1, height: inner.height - 2, ..inner }
}

/// Counts the lines of the text on screen.
pub(crate) fn height(editor: &Editor, area: Rect) -> usize {
    usize::from(text_area(editor, area).height)
}

/// Computes the position of the cursor.
pub(crate) fn cursor(editor: &Editor, area: Rect) -> Position {
    let text = text_area(editor, area);
    let (_, (row, column)) = editor.window(usize::from(text.width), usize::from(text.height));
    let (row, column) = (row as u16, (column as u16).min(text.width.saturating_sub(1)));
    Position::new(text.x + column, (text.y + row).min(area.bottom().saturating_sub(1)))
}

pub(crate) fn draw(editor: &Editor, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(editor, area);
    clear(place, buf);
    buf.set_style(place, look.style(Role::Screen));
    let inner = frame(vec![look.span(editor.title.as_str(), Role::Title)], place, buf, look);
    let text = text_area(editor, area);
    let (lines, _) = editor.window(usize::from(text.width), usize::from(text.height));
    for (row, line) in lines.into_iter().enumerate() {
        put(vec![look.span(line, Role::Text)], row, text, buf);
    }
    if text.height + 2 == inner.height {
        let before = editor.target.before();
        let width = inner_width(place).saturating_sub(before.len());
        let recorded = fit(&editor.recorded.as_str().replace('\n', " "), width);
        put(vec![look.span(before, Role::Faint), look.span(recorded, Role::Dim)], 0, inner, buf);
        if let Some(said) = &editor.said {
            put(vec![look.span(said.as_str(), Role::Warning)], usize::from(inner.height) - 1, inner, buf);
        }
    }
    let (count, top) = editor.lines();
    scroll_mark(place, top, count, buf, look);
}
