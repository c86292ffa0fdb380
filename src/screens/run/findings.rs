//! What the rules say of the record, in their order.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::open_record::Note;
use crate::screens::run::state::{RecordView, RunPane};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, line_pane, pane, put, severity_role};
use crate::widgets::prose::wrapped;
use crate::widgets::theme::Role;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let notes = &view.opened.notes;
    let mut title = vec![look.span("Findings", Role::Title)];
    if !notes.is_empty() {
        title.push(look.span(format!("  {}/{}", view.findings.at + 1, notes.len()), Role::Dim));
    }
    if notes.is_empty() {
        let line = vec![look.span("✓ ", Role::Ok), look.span("the rules find nothing", Role::Dim)];
        return line_pane(title, line, area, buf, look);
    }
    let at = (view.pane == RunPane::Findings).then_some(view.findings.at);
    let rows = Rows { at, ..view.findings.rows(notes.len()) };
    let line = |note: &Note| {
        let argument = note.finding.is_none();
        let role = if argument { Role::Accent } else { severity_role(note.severity) };
        vec![
            look.span(format!("{} ", if argument { "⇒" } else { note.severity.glyph() }), role),
            look.span(if argument { String::new() } else { format!("{}  ", note.rule) }, role),
            look.span(note.message.as_str(), Role::Text),
        ]
    };
    let inner = pane(title, rows, |n| notes.get(n).map(line).unwrap_or_default(), area, buf, look);
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
    let texts = texts.into_iter().filter(|(text, _)| !text.is_empty());
    let lines = texts.flat_map(|(text, role)| wrapped(text, width, height).map(move |line| (line, role)));
    let place = look.span(note.pointer.text().line().into_string(), Role::Faint);
    let lines = lines.map(|(line, role)| look.span(line, role)).chain([place]);
    for (row, line) in (from..height).zip(lines) {
        put(vec![line], row, area, buf);
    }
}
