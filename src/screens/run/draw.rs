//! Draws the run screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::run::layout::pane_area;
use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{findings, question, step, steps, variables};
use crate::widgets::look::Look;
use crate::widgets::panes;

pub(crate) fn draw(view: &RecordView, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    for (pane, place, look) in panes::on_screen(&RunPane::ALL, view.pane, |pane| pane_area(area, view, pane), look) {
        match pane {
            RunPane::Question => question::draw(view, place, buf, look),
            RunPane::Steps => steps::draw(view, place, buf, look),
            RunPane::Step => step::draw(view, place, buf, look),
            RunPane::State => variables::draw(view, place, buf, look),
            RunPane::Findings => findings::draw(view, place, buf, look),
        }
    }
}
