//! Draws the run screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::run::layout::pane_area;
use crate::screens::run::state::{Inspect, Pane};
use crate::screens::run::{findings, question, step, steps, variables};
use crate::widgets::look::Look;
use crate::widgets::panes;

pub(crate) fn draw(inspect: &Inspect, area: Rect, buf: &mut Buffer, look: Look<'_>) {
    for (pane, place, look) in panes::on_screen(&Pane::ALL, inspect.pane, |pane| pane_area(area, inspect, pane), look) {
        match pane {
            Pane::Question => question::draw(inspect, place, buf, look),
            Pane::Steps => steps::draw(inspect, place, buf, look),
            Pane::Step => step::draw(inspect, place, buf, look),
            Pane::State => variables::draw(inspect, place, buf, look),
            Pane::Findings => findings::draw(inspect, place, buf, look),
        }
    }
}
