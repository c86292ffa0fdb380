//! What the rules say of the record, in their order.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, frame, put, scroll_mark, severity_role, wash};
use crate::tui::inspect::{Inspect, Pane};
use crate::tui::theme::Role;

/// Draws the pane.
pub fn draw(inspect: &Inspect, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let notes = &inspect.opened.notes;
    let mut title = vec![look.span(if inspect.opened.arguments > 0 { "Why" } else { "Findings" }, Role::Title)];
    if !notes.is_empty() {
        title.push(look.span(format!("  {}/{}", inspect.findings.at + 1, notes.len()), Role::Dim));
    }
    let inner = frame(title, area, buf, look);
    if notes.is_empty() {
        put(vec![look.span("✓ ", Role::Ok), look.span("the rules find nothing", Role::Dim)], 0, inner, buf);
        return;
    }
    for (row, n) in inspect.findings.visible(notes.len(), usize::from(inner.height)).enumerate() {
        let Some(note) = notes.get(n) else { continue };
        let argument = n < inspect.opened.arguments;
        let role = if argument { Role::Accent } else { severity_role(note.severity) };
        let line = vec![
            look.span(format!("{} ", if argument { "⇒" } else { note.severity.glyph() }), role),
            look.span(if argument { String::new() } else { format!("{}  ", note.rule) }, role),
            look.span(note.message.as_str(), Role::Text),
        ];
        put(line, row, inner, buf);
        if n == inspect.findings.at && inspect.pane == Pane::Findings {
            wash(row, inner, buf, look.selection());
        }
    }
    scroll_mark(area, inspect.findings.top, notes.len(), buf, look);
}
