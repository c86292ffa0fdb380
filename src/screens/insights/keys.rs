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
use crate::screens::stack::Screen;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::layout::body_height;
use crate::widgets::list::Move;

pub(crate) fn allowed(app: &App, action: Action) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(&app.screens, action, || need(filter(app).is_some(), "No records"))
}

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    let lines = lines(&app.side, &app.store);
    match action {
        Action::Open => return filter(app).map(|filter| across::keys::show_filtered(app, &filter)),
        Action::Left => app.kept.insights.turn(-1, &lines),
        Action::Right => app.kept.insights.turn(1, &lines),
        _ => return None,
    }
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
pub(crate) fn click(app: &mut App, at: Position) -> Effects {
    let Some((line, cell)) = place_of(app, at) else { return Vec::new() };
    let before = (app.kept.insights.list.at, app.kept.insights.cell);
    (app.kept.insights.list.at, app.kept.insights.cell) = (line, cell);
    app.kept.insights.turn(0, &lines(&app.side, &app.store));
    if before == (app.kept.insights.list.at, app.kept.insights.cell) { app.act(Action::Open) } else { Vec::new() }
}
