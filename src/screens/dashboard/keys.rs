//! The keys and clicks of the dashboard.

use ratatui::layout::Position;
use ratatui::layout::Rect;

use crate::app::across;
use crate::app::across::Across;
use crate::app::msg::Effects;
use crate::screens::dashboard::draw::{filter, place_of};
use crate::screens::dashboard::state::DashboardCursor;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::layout::body_height;
use crate::widgets::list::Move;

pub(crate) fn allowed(
    across: &Across,
    cursor: DashboardCursor,
    screens: &Screens,
    action: Action,
) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(screens, action, || need(filter(across, cursor).is_some(), "No records"))
}

/// Goes to another number of the line; `None`: it is another action.
pub(crate) fn turn(across: &Across, cursor: &mut DashboardCursor, action: Action) -> Option<Effects> {
    let by = action.sideways()?;
    if let Some(judged) = &across.judged {
        cursor.turn(by, judged);
    }
    Some(Vec::new())
}

pub(crate) fn go(area: Rect, across: &Across, cursor: &mut DashboardCursor, movement: Move) {
    let height = body_height(area);
    if let Some(judged) = &across.judged {
        cursor.go(movement, judged, height);
    }
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(area: Rect, across: &Across, cursor: &mut DashboardCursor, at: Position) -> Option<Action> {
    let (line, column) = place_of(area, across, *cursor, at)?;
    let before = (cursor.line, cursor.column);
    (cursor.line, cursor.column) = (line, column.unwrap_or(cursor.column));
    (before == (cursor.line, cursor.column)).then_some(Action::Open)
}
