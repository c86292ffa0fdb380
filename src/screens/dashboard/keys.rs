//! The keys and clicks of the dashboard.

use ratatui::layout::Position;
use ratatui::layout::Rect;

use crate::app::across;
use crate::app::across::Across;
use crate::app::msg::Effects;
use crate::screens::dashboard::draw::{filter, place_of};
use crate::screens::stack::ScreenMemory;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::layout::body_height;
use crate::widgets::list::Move;

pub(crate) fn allowed(across: &Across, kept: &ScreenMemory, screens: &Screens, action: Action) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(screens, action, || need(filter(across, kept).is_some(), "No records"))
}

/// Goes to another number of the line; `None`: it is another action.
pub(crate) fn turn(across: &Across, kept: &mut ScreenMemory, action: Action) -> Option<Effects> {
    let by = action.sideways()?;
    if let Some(judged) = &across.judged {
        kept.dashboard.turn(by, judged);
    }
    Some(Vec::new())
}

pub(crate) fn go(area: Rect, across: &Across, kept: &mut ScreenMemory, movement: Move) {
    let height = body_height(area);
    if let Some(judged) = &across.judged {
        kept.dashboard.go(movement, judged, height);
    }
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(area: Rect, across: &Across, kept: &mut ScreenMemory, at: Position) -> Option<Action> {
    let (line, column) = place_of(area, across, kept, at)?;
    let cursor = &mut kept.dashboard;
    let before = (cursor.line, cursor.column);
    (cursor.line, cursor.column) = (line, column.unwrap_or(cursor.column));
    (before == (cursor.line, cursor.column)).then_some(Action::Open)
}
