//! The keys and clicks of the dashboard.

use ratatui::layout::Position;
use ratatui::layout::Rect;

use crate::app::across;
use crate::app::across::Across;
use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::dashboard::draw::{filter, place_of};
use crate::screens::stack::ScreenMemory;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::layout::body_height;
use crate::widgets::list::Move;
use stepscope_base::text::Shown;

pub(crate) fn allowed(across: &Across, kept: &ScreenMemory, screens: &Screens, action: Action) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(screens, action, || need(filter(across, kept).is_some(), "No records"))
}

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    let by = match action {
        Action::Open => return Some(open_number(app)),
        Action::Left => -1,
        Action::Right => 1,
        _ => return None,
    };
    if let Some(judged) = &app.across.judged {
        app.kept.dashboard.turn(by, judged);
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
pub(crate) fn click(app: &mut App, at: Position) -> Effects {
    let Some((line, column)) = place_of(app, at) else { return Vec::new() };
    let cursor = &mut app.kept.dashboard;
    let before = (cursor.line, cursor.column);
    (cursor.line, cursor.column) = (line, column.unwrap_or(cursor.column));
    if before == (cursor.line, cursor.column) { app.act(Action::Open) } else { Vec::new() }
}

/// Opens the records behind the number under the cursor.
fn open_number(app: &mut App) -> Effects {
    if let Some(filter) = filter(&app.across, &app.kept) {
        return across::keys::show_filtered(app, &filter);
    }
    app.status.say(Shown::own("No records"))
}
