//! The keys and clicks of the charts.

use ratatui::layout::Position;
use ratatui::layout::Rect;

use crate::app::msg::Effects;
use crate::screens::insights::draw::place_of;
use crate::screens::insights::state::{InsightCursor, chart_of};
use crate::screens::kind::ScreenKind;
use crate::screens::stack::{Screen, Screens};
use crate::screens::table::state::SortBy;
use crate::widgets::keymap::Action;
use stepscope_report::insight_lines::InsightLine;

/// Goes to another cell of the line; `None`: it is another action.
pub(crate) fn turn(lines: &[InsightLine], cursor: &mut InsightCursor, action: Action) -> Option<Effects> {
    cursor.turn(action.sideways()?, lines);
    Some(Vec::new())
}

/// Opens the charts at the one of the column by which the table is sorted.
pub(crate) fn open_chart(
    screens: &mut Screens,
    cursor: &mut InsightCursor,
    sort: SortBy,
    lines: &[InsightLine],
    height: usize,
) {
    let Some(title) = chart_of(sort) else { return };
    screens.open(Screen::OfAll(ScreenKind::Insights));
    cursor.move_to_chart(title, lines, height);
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(area: Rect, lines: &[InsightLine], cursor: &mut InsightCursor, at: Position) -> Option<Action> {
    let (line, cell) = place_of(area, lines, *cursor, at)?;
    let before = (cursor.list.at, cursor.cell);
    (cursor.list.at, cursor.cell) = (line, cell);
    cursor.turn(0, lines);
    (before == (cursor.list.at, cursor.cell)).then_some(Action::Open)
}
