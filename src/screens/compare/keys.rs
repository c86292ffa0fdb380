//! The keys and clicks of the comparison.

use ratatui::layout::{Position, Rect};

use crate::app::across;
use crate::app::across::Across;
use crate::app::msg::Effects;
use crate::app::state::App;
use crate::screens::compare::draw::{filter, height, place_of};
use crate::screens::compare::state::CompareCursor;
use crate::screens::compare::state::rows;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason};
use crate::widgets::list::Move;
use stepscope_base::shown;

pub(crate) fn allowed(across: &Across, cursor: CompareCursor, screens: &Screens, action: Action) -> Result<(), Reason> {
    across::keys::allowed_on_numbers(screens, action, || filter(across, cursor).map(drop))
}

/// Goes to another of the bases; `None`: it is another action.
pub(crate) fn turn(across: &Across, cursor: &mut CompareCursor, action: Action) -> Option<Effects> {
    let by = action.sideways()?;
    if let Some(compared) = &across.compared {
        cursor.turn(by, compared);
    }
    Some(Vec::new())
}

pub(crate) fn go(area: Rect, across: &Across, cursor: &mut CompareCursor, movement: Move) {
    let rows = across.compared.as_ref().map_or(0, |compared| rows(compared).len());
    cursor.list.go(movement, rows, height(area, across));
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(area: Rect, across: &Across, cursor: &mut CompareCursor, at: Position) -> Option<Action> {
    let (row, basis) = place_of(area, across, *cursor, at)?;
    let before = (cursor.list.at, cursor.basis);
    (cursor.list.at, cursor.basis) = (row, basis.unwrap_or(cursor.basis));
    (before == (cursor.list.at, cursor.basis)).then_some(Action::Open)
}

/// Opens the records behind the number that the cursor is on.
pub(crate) fn open_cell(app: &mut App) -> Effects {
    let Some(compared) = &app.across.compared else { return Vec::new() };
    match filter(&app.across, app.kept.compare) {
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
