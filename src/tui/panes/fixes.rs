//! What can be done about a procedure, in a window: the fixes that need no model, and last a model.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use super::{Look, frame, put, scroll_mark, wash};
use crate::tui::desk::making::Fixes;
use crate::tui::inspect::inner_height;
use crate::tui::list::List;
use crate::tui::prose::{fit, pad};
use crate::tui::theme::Role;
use crate::tui::view::window;

/// Where the window is.
fn place(fixes: &Fixes, area: Rect) -> Rect {
    let width = area.width.saturating_sub(4).clamp(20.min(area.width), 100);
    let lines = u16::try_from(fixes.rows()).unwrap_or(u16::MAX);
    window(area, width, lines.saturating_add(2).clamp(3, area.height.saturating_sub(2).max(3)))
}

/// How many fixes the window holds.
pub fn height(fixes: &Fixes, area: Rect) -> usize {
    inner_height(place(fixes, area))
}

/// Draws the window.
pub fn draw(fixes: &Fixes, list: List, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let place = place(fixes, area);
    Clear.render(place, buf);
    let title = vec![
        look.span("Repair", Role::Title),
        look.span(format!("  {} diagnostics   ", fixes.diagnostics), Role::Warning),
        look.span("Enter: see what changes, or ask", Role::Faint),
    ];
    let inner = frame(title, place, buf, look);
    let room = usize::from(inner.width).saturating_sub(9);
    for (row, n) in list.visible(fixes.rows(), usize::from(inner.height)).enumerate() {
        let line = match fixes.list.get(n) {
            Some(fix) => vec![
                look.span(pad(&fit(fix.title.as_str(), room), room), Role::Text),
                look.span(
                    format!(" {} → {}", fix.before, fix.after),
                    if fix.after == 0 { Role::Ok } else { Role::Warning },
                ),
            ],
            None => vec![look.span(fit(fixes.model.as_str(), room + 9), Role::Accent)],
        };
        put(line, row, inner, buf);
        if n == list.at {
            wash(row, inner, buf, look.selection());
        }
    }
    scroll_mark(place, list.top, fixes.rows(), buf, look);
}
