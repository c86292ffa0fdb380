//! What the rules say of the record, in their order.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::app::open_record::Note;
use crate::screens::run::state::{RecordView, RunPane};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, line_pane, pane, put, severity_role};
use crate::widgets::prose::wrapped;
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_core::rules;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let notes = &view.opened.notes;
    let mut title = vec![look.span("Findings", Role::Title)];
    if !notes.is_empty() {
        title.push(look.span(format!("  {}/{}", view.findings.at + 1, notes.len()), Role::Dim));
        if let Some(proof) = view.proof.as_ref().filter(|_| usize::from(area.height) < notes.len() + 6) {
            title.push(look.span(format!("   Enter on {}: why?", proof.title), Role::Faint));
        }
    }
    if notes.is_empty() {
        let line = vec![look.span("No findings", Role::Dim)];
        return line_pane(title, line, area, buf, look);
    }
    let at = (view.pane == RunPane::Findings).then_some(view.findings.at);
    let rows = Rows { at, ..view.findings.rows(notes.len()) };
    let line = |note: &Note| {
        let argument = note.finding.is_none();
        let role = if argument { Role::Accent } else { severity_role(note.severity) };
        vec![
            look.span(format!("{} ", if argument { sign::REASON } else { note.severity.glyph() }), role),
            look.span(if argument { String::new() } else { format!("{}  ", note.rule) }, role),
            look.span(note.message.as_str(), Role::Text),
        ]
    };
    let inner = pane(title, rows, |n| notes.get(n).map(line).unwrap_or_default(), area, buf, look);
    if let Some(note) = notes.get(view.findings.at) {
        // A blank line between the list and the text.
        in_full(view, note, notes.len() + 1, inner, buf, look);
    }
}

/// The finding under the cursor in full with its proof, from a row on, where the list leaves room for it.
fn in_full(view: &RecordView, note: &Note, from: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let help = note.help.unwrap_or_default();
    let texts = [(note.message.as_str(), Role::Text), (help, Role::Dim)];
    let texts = texts.into_iter().filter(|(text, _)| !text.is_empty());
    let lines = texts.flat_map(|(text, role)| wrapped(text, width, height).map(move |line| (line, role)));
    let mut lines: Vec<Vec<Span<'static>>> = lines.map(|(line, role)| vec![look.span(line, role)]).collect();
    if let Some(proof) = &view.proof {
        lines.push(Vec::new());
        let recorded = format!("  recorded {}", proof.recorded);
        let title = format!("Why {}?", proof.title);
        lines.push(vec![look.span(title, Role::Title), look.span(recorded, Role::Dim)]);
        lines.extend(proof.rows().into_iter().take(height).map(|branch| {
            vec![look.span(branch.joint.as_str(), Role::Faint), look.span(branch.text.as_str(), Role::Text)]
        }));
    }
    if let Some(rule) = note.finding.and_then(|_| rules::rule(note.rule)) {
        lines.push(Vec::new());
        lines.extend(wrapped(rule.explanation, width, height).map(|line| vec![look.span(line, Role::Dim)]));
    }
    lines.push(vec![look.span(note.pointer.text().line().into_string(), Role::Faint)]);
    for (row, line) in (from..height).zip(lines) {
        put(line, row, area, buf);
    }
}
