//! The list of steps: glyph, position, what is to be done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::screens::run::state::RecordView;
use crate::widgets::look::{Look, frame, put, scroll_mark, severity_role, wash};
use crate::widgets::prose::fit;
use crate::widgets::theme::Role;
use stepscope_core::run::state::Ran;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let steps = &view.opened.steps;
    let mut title = vec![look.span("Steps", Role::Title)];
    if !steps.is_empty() {
        title.push(look.span(format!("  {}", view.opened.procedure_name), Role::Faint));
    }
    let inner = frame(title, area, buf, look);
    if steps.is_empty() {
        put(vec![look.span(nothing(view), Role::Dim)], 0, inner, buf);
        return;
    }
    let digits = steps.len().to_string().len();
    for (row, position) in view.steps.visible(steps.len(), usize::from(inner.height)).enumerate() {
        let Some(step) = steps.get(position) else { continue };
        let current = view.step() == Some(position);
        let first_bad = view.opened.where_to_fix.as_ref().is_some_and(|verdict| verdict.step == Some(position));
        let (glyph, role) = match step.worst {
            _ if step.failed || first_bad => ("✗", Role::Fatal),
            // What is wrong with it as it is written still shows.
            None if step.ran == Ran::No => ("–", Role::Ghost),
            Some(severity) => (severity.glyph(), severity_role(severity)),
            None => ("✓", Role::Ok),
        };
        let ran = position < view.moment.0 && step.ran != Ran::No;
        let text = if ran { Role::Text } else { Role::Ghost };
        let text = if current { Role::Current } else { text };
        let mut line = vec![
            look.span(if current { "▸" } else { " " }, Role::Accent),
            look.span(glyph, role),
            look.span(format!(" {:>digits$} ", position + 1), Role::Faint),
        ];
        if step.id.as_str() != (position + 1).to_string() {
            line.push(look.span(format!("id {} ", fit(step.id.as_str(), 12)), Role::Warning));
        }
        if first_bad {
            line.push(look.span("first bad ", Role::Fatal));
        }
        if step.ran == Ran::No {
            line.push(look.span("not run ", Role::Dim));
        }
        if step.is_last && (view.opened.surprise.is_some() || position + 1 != steps.len()) {
            line.push(look.span("⚑ runs as last ", Role::Warning));
        }
        line.push(Span::styled(step.text.as_str().to_owned(), look.style(text)));
        put(line, row, inner, buf);
        if current {
            wash(row, inner, buf, look.selection());
        }
    }
    scroll_mark(area, view.steps.top, steps.len(), buf, look);
}

fn nothing(view: &RecordView) -> &'static str {
    use stepscope_core::record::RecordKind::{Baseline, Error};
    match view.opened.kind {
        Baseline => "no procedure: the question went straight to the model",
        Error => "the run ended before there was a procedure",
        _ => "no steps",
    }
}
