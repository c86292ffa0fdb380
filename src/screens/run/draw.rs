//! Draws the run screen.

use ratatui::buffer::Buffer;

use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{findings, question, step, steps, variables};
use crate::widgets::look::Look;

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
