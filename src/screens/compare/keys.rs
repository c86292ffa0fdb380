//! The keys and clicks of the comparison.

use ratatui::layout::Position;

use crate::app::across;
use crate::app::across::Across;
use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::compare::draw::{filter, height, place_of};
use crate::screens::compare::state::rows;
use crate::screens::stack::ScreenMemory;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason};
use crate::widgets::list::Move;
use stepscope_base::shown;

pub(crate) fn allowed(across: &Across, kept: &ScreenMemory, screens: &Screens, action: Action) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(screens, action, || filter(across, kept).map(drop))
}

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    let by = match action {
        Action::Open => return Some(open_cell(app)),
        Action::Left => -1,
        Action::Right => 1,
        _ => return None,
    };
    if let Some(compared) = &app.across.compared {
        app.kept.compare.turn(by, compared);
    }
    Some(Vec::new())
}

pub(crate) fn go(app: &mut App, movement: Move) {
    let rows = app.across.compared.as_ref().map_or(0, |compared| rows(compared).len());
    app.kept.compare.list.go(movement, rows, height(app));
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(app: &mut App, at: Position) -> Effects {
    let Some((row, basis)) = place_of(app, at) else { return Vec::new() };
    let cursor = &mut app.kept.compare;
    let before = (cursor.list.at, cursor.basis);
    (cursor.list.at, cursor.basis) = (row, basis.unwrap_or(cursor.basis));
    if before == (cursor.list.at, cursor.basis) { app.act(Action::Open) } else { Vec::new() }
}

/// Opens the records behind the number that the cursor is on.
fn open_cell(app: &mut App) -> Effects {
    let Some(compared) = &app.across.compared else { return Vec::new() };
    match filter(&app.across, &app.kept) {
        Ok(filter) => {
            let (cursor, compared) = (app.kept.compare, compared.clone());
            let effects = across::keys::show_filtered(app, &filter);
            let hidden = cursor.hidden(&compared, &filter);
            if hidden > 0 {
                let are = if hidden == 1 { "is" } else { "are" };
                app.status.say(shown!("{hidden} more {are} only in B and not in this table"));
            }
            effects
        }
        Err(why) => app.status.say(app.keymap.shown(why)),
    }
}
