//! The keys and clicks of the run screen.

use ratatui::layout::Position;

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::run::layout::pane_area;
use crate::screens::run::state::{Inspect, Pane};
use crate::screens::run::{edit, step};
use crate::screens::side_by_side;
use crate::screens::side_by_side::making::Make;
use crate::widgets::keymap::Action;
use crate::widgets::list::Move;
use crate::widgets::panes;

pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    let inspect = app.screens.inspect_mut()?;
    let moved = match action {
        Action::Open => {
            open(app);
            Ok(())
        }
        Action::Left => sideways(app, -1),
        Action::Right => sideways(app, 1),
        Action::NextStep => inspect.walk_by(times),
        Action::PreviousStep => inspect.walk_by(-times),
        Action::NextPane => {
            inspect.next_pane(1);
            Ok(())
        }
        Action::PreviousPane => {
            inspect.next_pane(-1);
            Ok(())
        }
        Action::Writer => inspect.go_to_writer(),
        Action::Reader => inspect.go_to_reader(),
        Action::Between | Action::Difference => {
            inspect.toggle_difference();
            Ok(())
        }
        Action::Exact => return Some(app.make(Make::Exact)),
        Action::Repair => return Some(side_by_side::keys::look_for_fixes(app)),
        Action::Edit => return Some(edit::edit(app)),
        Action::Keep => return Some(edit::fork_edits(app)),
        _ => return None,
    };
    if let Err(why) = moved {
        app.refuse(why);
    }
    Some(Vec::new())
}

fn open(app: &mut App) {
    let Some(inspect) = app.screens.inspect_mut() else { return };
    if inspect.pane == Pane::Findings {
        inspect.show_finding();
        app.show_json();
    } else if inspect.pane == Pane::Steps {
        inspect.focus(Pane::Step);
    } else if let Some(tree) = inspect.derivation() {
        app.open_dialog(Dialog::Derivation(tree));
    } else if let Some((title, text)) = inspect.chosen_text() {
        app.open_dialog(Dialog::Popup(Popup { title, text, top: 0 }));
    }
}

fn sideways(app: &mut App, by: isize) -> Result<(), &'static str> {
    let Some(inspect) = app.screens.inspect_mut() else { return Ok(()) };
    match inspect.pane {
        Pane::Step => inspect.turn_tab(by),
        Pane::Question => {
            inspect.next_quantity(by);
            say_quantity(app);
        }
        _ if inspect.opened.has_steps() => return inspect.walk_by(by),
        _ => {}
    }
    Ok(())
}

/// What the chosen quantity of the question is, and which variables took it up.
pub(crate) fn say_quantity(app: &mut App) {
    if let Some(sentence) = app.screens.inspect().and_then(Inspect::quantity_sentence) {
        app.say(sentence);
    }
}

pub(crate) fn go(app: &mut App, movement: Move) {
    let (area, theme) = (app.area(), &app.looks.theme);
    if let Some(inspect) = app.screens.inspect_mut() {
        let place = pane_area(area, inspect, inspect.pane);
        inspect.go(movement, place, |inspect, width| step::height(inspect, width, theme));
    }
}

/// The pane under the mouse gets the keys.
pub(crate) fn focus(app: &mut App, at: Position) {
    let area = app.area();
    let Some(inspect) = app.screens.inspect_mut() else { return };
    if let Some((pane, _)) = panes::under(&Pane::ALL, |pane| pane_area(area, inspect, pane), at) {
        inspect.focus(pane);
    }
}

/// Brings the cursor of a pane where the mouse is.
pub(crate) fn click(app: &mut App, at: Position) {
    let (area, theme) = (app.area(), &app.looks.theme);
    let Some(inspect) = app.screens.inspect_mut() else { return };
    let Some((pane, place)) = panes::under(&Pane::ALL, |pane| pane_area(area, inspect, pane), at) else { return };
    inspect.focus(pane);
    let row = usize::from(at.y.saturating_sub(place.y + 1));
    let target = match pane {
        Pane::Steps => inspect.steps.top + row,
        Pane::State if row > 0 => inspect.variables.top + row - 1,
        Pane::Findings => inspect.findings.top + row,
        _ => return,
    };
    inspect.go(Move::To(target), place, |inspect, width| step::height(inspect, width, theme));
    if pane == Pane::Findings {
        inspect.show_finding();
    }
}
