//! The answer as a whole: its route with every trigger, what it says of itself, and what the rules say.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::screens::run::state::RecordView;
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, pane, put, severity_role};
use crate::widgets::prose::{counted, pad, wrapped};
use crate::widgets::theme::Role;
use stepscope_base::text::Shown;

/// The names stand in so many columns.
const NAME: usize = 12;

pub(crate) fn draw(view: &RecordView, answer: &AnswerView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let mut title = vec![look.span("Checks", Role::Title)];
    let notes = view.opened.notes.len();
    if notes > 0 {
        title.push(look.span(format!("  {}", counted(notes, "finding")), Role::Dim));
    }
    let count = answer.check_rows;
    let at = (answer.pane == AnswerPane::Checks).then_some(answer.checks.at);
    let rows = Rows { at, ..answer.checks.rows(count) };
    let inner = pane(title, rows, |n| line(view, answer, n, look), area, buf, look);
    in_full(view, answer, count + 1, inner, buf, look);
}

/// The row under the cursor in full, from a row on, where the list leaves room for it.
fn in_full(view: &RecordView, answer: &AnswerView, from: usize, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut row = from;
    for (text, role) in describe(view, answer) {
        for line in wrapped(text.as_str(), width, height.saturating_sub(row)) {
            put(vec![look.span(line, role)], row, area, buf);
            row += 1;
        }
    }
}

/// All that is said of the row under the cursor.
pub(crate) fn describe(view: &RecordView, answer: &AnswerView) -> Vec<(Shown, Role)> {
    if let Some(fact) = answer.fact() {
        let pointer = fact.pointer.as_ref().map(|pointer| (pointer.text().line(), Role::Faint));
        return [(fact.text.clone(), Role::Text)].into_iter().chain(pointer).collect();
    }
    let note = view.opened.notes.get(answer.checks.at.saturating_sub(answer.shown.facts.len()));
    let texts = note.map(|note| {
        let help = Shown::own(note.help.unwrap_or_default());
        let pointer = note.pointer.text().line();
        [(note.message.clone(), severity_role(note.severity)), (help, Role::Dim), (pointer, Role::Faint)]
    });
    texts.into_iter().flatten().filter(|(text, _)| !text.as_str().is_empty()).collect()
}

fn line(view: &RecordView, answer: &AnswerView, n: usize, look: Look<'_>) -> Vec<Span<'static>> {
    if let Some(fact) = answer.shown.facts.get(n) {
        let mut line = vec![look.span(pad(fact.name, NAME), Role::Dim)];
        // What the rules contradict is marked where it is said.
        if let Some(note) = view.opened.notes.iter().find(|note| fact.pointer.as_ref() == Some(&note.pointer)) {
            line.push(look.span(format!("{} ", note.severity.glyph()), severity_role(note.severity)));
        }
        line.push(look.span(fact.text.as_str().replace('\n', " "), fact.role));
        return line;
    }
    let Some(note) = view.opened.notes.get(n - answer.shown.facts.len()) else { return Vec::new() };
    let role = severity_role(note.severity);
    vec![
        look.span(format!("{} {}  ", note.severity.glyph(), note.rule), role),
        look.span(note.message.as_str(), Role::Text),
    ]
}
