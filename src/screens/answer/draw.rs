//! Draws the answer screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::answer::layout::{evidence_area, question_height};
use crate::screens::answer::state::Pane;
use crate::screens::answer::{checks, citation, document, items};
use crate::screens::run::state::Inspect;
use crate::widgets::layout::parts;
use crate::widgets::look::{Look, put};
use crate::widgets::theme::Role;
use crate::widgets::{panes, prose};

/// Draws the panes and the question above them.
pub(crate) fn draw(inspect: &Inspect, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    let Some(evidence) = &inspect.evidence else { return };
    let body = parts(area).body;
    let height = usize::from(question_height(body));
    let inner = Rect { x: body.x + 1.min(body.width), width: body.width.saturating_sub(2), ..body };
    let question =
        prose::lines(&inspect.opened.question, usize::from(inner.width), 0..height, look.style(Role::Question), &[]);
    for (row, line) in question.into_iter().enumerate() {
        put(line.spans, row, inner, buf);
    }
    let place_of = |pane| evidence_area(area, inspect.maximised, evidence.pane, pane);
    for (pane, place, look) in panes::on_screen(&Pane::ALL, evidence.pane, place_of, look) {
        match pane {
            Pane::Items => items::draw(evidence, place, buf, look),
            Pane::Document => document::draw(evidence, place, buf, look),
            Pane::Citation => citation::draw(evidence, place, buf, look),
            Pane::Checks => checks::draw(inspect, evidence, place, buf, look),
        }
    }
}
