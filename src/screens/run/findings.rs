//! What the rules say of the record, in their order.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::open_record::Note;
use crate::screens::run::state::{RecordView, RunPane};
use crate::widgets::look::{Look, frame, put, scroll_mark, severity_role, wash};
use crate::widgets::prose::wrap_up_to;
use crate::widgets::theme::Role;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let notes = &view.opened.notes;
    let mut title = vec![look.span("Findings", Role::Title)];
    if !notes.is_empty() {
        title.push(look.span(format!("  {}/{}", view.findings.at + 1, notes.len()), Role::Dim));
    }
    let inner = frame(title, area, buf, look);
    if notes.is_empty() {
        put(vec![look.span("✓ ", Role::Ok), look.span("the rules find nothing", Role::Dim)], 0, inner, buf);
        return;
    }
    let height = usize::from(inner.height);
    for (row, n) in view.findings.visible(notes.len(), height).enumerate() {
        let Some(note) = notes.get(n) else { continue };
        let argument = note.finding.is_none();
        let role = if argument { Role::Accent } else { severity_role(note.severity) };
        let line = vec![
            look.span(format!("{} ", if argument { "⇒" } else { note.severity.glyph() }), role),
            look.span(if argument { String::new() } else { format!("{}  ", note.rule) }, role),
            look.span(note.message.as_str(), Role::Text),
        ];
        put(line, row, inner, buf);
        if n == view.findings.at && view.pane == RunPane::Findings {
            wash(row, inner, buf, look.selection());
        }
    }
    scroll_mark(area, view.findings.top, notes.len(), buf, look);
    if let Some(note) = notes.get(view.findings.at) {
        // A blank line between the list and the text.
        in_full(note, notes.len() + 1, inner, buf, look);
    }
}

/// The finding under the cursor in full, from a row on, where the list leaves room for it.
fn in_full(note: &Note, from: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let help = note.help.unwrap_or_default();
    let texts = [(note.message.as_str(), Role::Text), (help, Role::Dim)];
    let lines = texts.iter().filter(|(text, _)| !text.is_empty()).flat_map(|&(text, role)| {
        let lines = wrap_up_to(text, width, height).into_iter();
        lines.filter_map(move |line| Some((text.get(line)?.to_owned(), role)))
    });
    let place = look.span(note.pointer.text().line().into_string(), Role::Faint);
    let lines = lines.map(|(text, role)| look.span(text, role)).chain([place]);
    for (row, line) in (from..height).zip(lines) {
        put(vec![line], row, area, buf);
    }
}
