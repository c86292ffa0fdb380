//! The list of steps: glyph, position, what is to be done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::screens::run::state::RecordView;
use crate::widgets::list::Rows;
use crate::widgets::look::{Look, line_pane, pane, severity_role};
use crate::widgets::prose::fit;
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_core::run::state::Ran;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let steps = &view.opened.steps;
    let mut title = vec![look.span("Steps", Role::Title)];
    if !steps.is_empty() {
        title.push(look.span(format!("  {}", view.opened.procedure_name), Role::Faint));
    }
    if steps.is_empty() {
        return line_pane(title, vec![look.span(nothing(view), Role::Dim)], area, buf, look);
    }
    let rows = Rows { at: view.step(), ..view.steps.rows(steps.len()) };
    pane(title, rows, |position| line(view, position, look).unwrap_or_default(), area, buf, look);
}

fn line(view: &RecordView, position: usize, look: Look<'_>) -> Option<Vec<Span<'static>>> {
    let (opened, number) = (&view.opened, position + 1);
    let step = opened.steps.get(position)?;
    let digits = opened.steps.len().to_string().len();
    let current = view.step() == Some(position);
    let first_bad = opened.where_to_fix.as_ref().is_some_and(|fix| fix.step == Some(position));
    let (glyph, role) = match step.worst {
        _ if step.failed || first_bad => (sign::WRONG, Role::Fatal),
        // What is wrong with it as it is written still shows.
        None if step.ran == Ran::No => (sign::NOT_RUN, Role::Ghost),
        Some(severity) => (severity.glyph(), severity_role(severity)),
        None => (sign::CORRECT, Role::Dim),
    };
    let text = match position < view.moment.0 && step.ran != Ran::No {
        _ if current => Role::Current,
        true => Role::Text,
        false => Role::Ghost,
    };
    let mut line = vec![look.span(glyph, role), look.span(format!(" {number:>digits$} "), Role::Faint)];
    if step.id.as_str() != number.to_string() {
        line.push(look.span(format!("id {} ", fit(step.id.as_str(), 12)), Role::Warning));
    }
    if first_bad {
        line.push(look.span("first error ", Role::Fatal));
    }
    if step.ran == Ran::No {
        line.push(look.span("not run ", Role::Dim));
    }
    if step.is_last && (opened.surprise.is_some() || number != opened.steps.len()) {
        line.push(look.span("⚐ runs as last ", Role::Warning));
    }
    line.push(look.span(step.text.as_str(), text));
    Some(line)
}

fn nothing(view: &RecordView) -> &'static str {
    use stepscope_core::record::RecordKind::{Baseline, Error};
    match view.opened.kind {
        Baseline => "no procedure: one model call",
        Error => "run ended before there was a procedure",
        _ => "no steps",
    }
}
