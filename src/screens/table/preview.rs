//! The record under the cursor in a few lines, beside the table where there is room for a third column.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::app::open_record::{Note, OpenRecord};
use crate::app::state::App;
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, pane, severity_role};
use crate::widgets::prose::{counted, fit, wrapped};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_core::run::state::Ran;
use stepscope_core::triage::Fix;

/// So many lines of the question are shown.
const QUESTION: usize = 6;
/// So many lines of one finding are shown.
const FINDING: usize = 4;

pub(crate) fn draw(app: &App, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let look = Look { focused: false, ..look };
    let opened = app.record().and_then(|record| app.table.preview(record));
    let lines = opened.map(|opened| content(opened, inner_width(area), inner_height(area), look)).unwrap_or_default();
    let rows = Rows { top: 0, len: lines.len().min(inner_height(area)), at: None };
    let title = app.record().map(|record| format!("Record {}", record + 1)).unwrap_or_default();
    pane(vec![look.span(title, Role::Title)], rows, |n| lines.get(n).cloned().unwrap_or_default(), area, buf, look);
}

/// The gravest finding, for the line below the table.
pub(crate) fn first_finding(opened: &OpenRecord, look: Look<'_>) -> Option<Vec<Span<'static>>> {
    // What speaks for a correct answer is no news.
    let is_news = |note: &&Note| note.finding.is_some() || opened.correct != Some(true);
    let note = opened.notes.iter().find(is_news)?;
    let (glyph, role) = match note.finding {
        Some(_) => (note.severity.glyph(), severity_role(note.severity)),
        None => (sign::REASON, Role::Accent),
    };
    Some(vec![look.span(format!("{glyph} "), role), look.span(note.message.as_str(), Role::Text)])
}

fn content(opened: &OpenRecord, width: usize, height: usize, look: Look<'_>) -> Vec<Vec<Span<'static>>> {
    let text = |text: &str, most: usize, role: Role| -> Vec<Vec<Span<'static>>> {
        wrapped(text, width, most).take(most).map(|line| vec![look.span(line, role)]).collect()
    };
    let heading = |word: &str| vec![vec![], vec![look.span(word, Role::Title)]];
    let mut lines = text(opened.question.as_str(), QUESTION, Role::Text);
    lines.push(Vec::new());
    lines.extend(facts(opened, width, look));
    if let Some(error) = &opened.error {
        lines.extend(text(error.as_str(), FINDING, Role::Fatal));
    }
    if !opened.notes.is_empty() {
        lines.extend(heading(&counted(opened.notes.len(), "finding")));
    }
    for note in opened.notes.iter().take(height) {
        let (glyph, role) = match note.finding {
            Some(_) => (note.severity.glyph(), severity_role(note.severity)),
            None => (sign::REASON, Role::Accent),
        };
        let room = width.saturating_sub(2);
        for (n, line) in wrapped(note.message.as_str(), room, FINDING).take(FINDING).enumerate() {
            let head = if n == 0 { glyph } else { " " };
            lines.push(vec![look.span(format!("{head} "), role), look.span(line, Role::Text)]);
        }
    }
    if opened.has_steps() {
        lines.extend(heading(&counted(opened.steps.len(), "step")));
    }
    let first_error = opened.where_to_fix.as_ref().and_then(|verdict| verdict.step);
    for (n, step) in opened.steps.iter().enumerate().take(height) {
        let (glyph, role) = match () {
            () if first_error == Some(n) || step.failed => (sign::WRONG, Role::Fatal),
            () if step.ran == Ran::No => (sign::NOT_RUN, Role::Ghost),
            () => (sign::CORRECT, Role::Dim),
        };
        let line = format!("{} {}", n + 1, step.text);
        lines.push(vec![
            look.span(format!("{glyph} "), role),
            look.span(fit(&line, width.saturating_sub(2)), Role::Text),
        ]);
    }
    if let Some(reply) = &opened.reply {
        lines.extend(heading("Reply"));
        lines.extend(text(reply.as_str(), height, Role::Dim));
    }
    lines
}

/// Answer, expected answer and where to fix.
fn facts(opened: &OpenRecord, width: usize, look: Look<'_>) -> Vec<Vec<Span<'static>>> {
    let fact = |name: &str, value: &str, role: Role| {
        let value = fit(value, width.saturating_sub(10));
        vec![look.span(format!("{name:9} "), Role::Faint), look.span(value, role)]
    };
    let mut lines = Vec::new();
    let role = match opened.correct {
        Some(true) => Role::Ok,
        Some(false) => Role::Fatal,
        None => Role::Text,
    };
    lines.extend(opened.answer.as_ref().or(opened.pred.as_ref()).map(|answer| fact("answer", answer.as_str(), role)));
    lines.extend(opened.gold.as_ref().map(|gold| fact("expected", gold.as_str(), Role::Gold)));
    let fix = opened.where_to_fix.as_ref().filter(|verdict| !matches!(verdict.fix, Fix::None | Fix::Unknown));
    lines.extend(fix.map(|verdict| {
        let step = verdict.step.map(|step| format!(", step {}", step + 1)).unwrap_or_default();
        fact("fix", &format!("{}{step} ({})", verdict.fix.phrase(), verdict.confidence.word()), Role::Accent)
    }));
    lines.extend(
        opened.route.map(|route| fact("route", &format!("{}: {}", route.word(), route.phrase()), Role::Accent)),
    );
    if let Some(structured) = &opened.structured {
        lines.extend(structured.items.iter().take(8).map(|item| {
            let value = item.lines.first().map_or("", |line| line.as_str());
            vec![
                look.span(format!("{} ", item.standing.glyph()), item.standing.role()),
                look.span(format!("{}  ", item.title), Role::Key),
                look.span(fit(value, width.saturating_sub(12)), Role::Text),
            ]
        }));
    }
    lines
}
