//! The keys and clicks of the charts.

use crate::screens::stack::ScreenMemory;
use ratatui::layout::Position;
use ratatui::layout::Rect;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::store::Store;

use crate::app::across;
use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::insights::draw::{filter, lines, place_of};
use crate::screens::insights::state::chart_of;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::{Screen, Screens};
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::layout::body_height;
use crate::widgets::list::Move;

pub(crate) fn allowed(
    screens: &Screens,
    side: &SideData,
    store: &Store,
    kept: &ScreenMemory,
    action: Action,
) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(screens, action, || need(filter(side, store, kept).is_some(), "No records"))
}

/// Goes to another cell of the line; `None`: it is another action.
pub(crate) fn turn(side: &SideData, store: &Store, kept: &mut ScreenMemory, action: Action) -> Option<Effects> {
    kept.insights.turn(action.sideways()?, &lines(side, store));
    Some(Vec::new())
}

pub(crate) fn go(area: Rect, kept: &mut ScreenMemory, side: &SideData, store: &Store, movement: Move) {
    let height = body_height(area);
    kept.insights.go(movement, &lines(side, store), height);
}

/// Opens the charts at the one of the column by which the table is sorted.
pub(crate) fn open_chart(app: &mut App) {
    let Some(title) = chart_of(app.table.sort) else { return };
    app.screens.open(Screen::OfAll(ScreenKind::Insights));
    let height = body_height(app.area());
    app.kept.insights.move_to_chart(title, &lines(&app.side, &app.store), height);
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(
    area: Rect,
    side: &SideData,
    store: &Store,
    kept: &mut ScreenMemory,
    at: Position,
) -> Option<Action> {
    let (line, cell) = place_of(area, side, store, kept, at)?;
    let cursor = &mut kept.insights;
    let before = (cursor.list.at, cursor.cell);
    (cursor.list.at, cursor.cell) = (line, cell);
    cursor.turn(0, &lines(side, store));
    (before == (cursor.list.at, cursor.cell)).then_some(Action::Open)
}
