//! Draws the run screen.

use ratatui::buffer::Buffer;
use ratatui::text::Span;

use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{findings, question, step, steps, variables};
use crate::widgets::look::{Look, severity_role};
use crate::widgets::theme::Role;

pub(crate) fn draw(view: &RecordView, buf: &mut Buffer, look: Look<'_>) {
    for (pane, place, look) in view.areas.on_screen(view.pane, look) {
        match pane {
            RunPane::Question => question::draw(view, place, buf, look),
            RunPane::Steps => steps::draw(view, place, buf, look),
            RunPane::Step => step::draw(view, place, buf, look),
            RunPane::State => variables::draw(view, place, buf, look),
            RunPane::Findings => findings::draw(view, place, buf, look),
        }
    }
}

/// What the cursor is on.
pub(crate) fn describe(view: &RecordView, look: Look<'_>) -> Vec<Span<'static>> {
    match view.pane {
        RunPane::State => vec![look.span(variables::describe(view), Role::Dim)],
        RunPane::Findings => {
            let Some(note) = view.opened.notes.get(view.findings.at) else { return Vec::new() };
            let help = note.help.map(|help| look.span(format!("  {help}"), Role::Dim));
            let place = look.span(format!("{}  ", note.pointer.text().line()), Role::Faint);
            let message = look.span(note.message.as_str(), severity_role(note.severity));
            [place, message].into_iter().chain(help).collect()
        }
        RunPane::Steps | RunPane::Step => vec![match view.opened.surprise {
            Some(surprise) => look.span(format!("⚑ {}", surprise.meaning()), Role::Warning),
            None => look.span(view.detail.text.as_str().replace('\n', " "), Role::Dim),
        }],
        RunPane::Question => {
            let fitness = view.opened.fitness.as_ref();
            fitness.map(|fitness| look.span(format!("fitness {fitness}"), Role::Dim)).into_iter().collect()
        }
    }
}
