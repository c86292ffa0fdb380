//! The keys and clicks of the run screen.

use ratatui::layout::Position;

use crate::app::msg::Effects;
use crate::app::state::App;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::run::layout::pane_area;
use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{edit, step};
use crate::screens::side_by_side;
use crate::screens::side_by_side::making::Make;
use crate::widgets::keymap::Action;
use crate::widgets::list::Move;
use crate::widgets::panes;

pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    let view = app.screens.record_mut()?;
    let moved = match action {
        Action::Open => {
            open(app);
            Ok(())
        }
        Action::Left => sideways(app, -1),
        Action::Right => sideways(app, 1),
        Action::NextStep => view.walk_by(times),
        Action::PreviousStep => view.walk_by(-times),
        Action::NextPane => {
            view.next_pane(1);
            Ok(())
        }
        Action::PreviousPane => {
            view.next_pane(-1);
            Ok(())
        }
        Action::Writer => view.go_to_writer(),
        Action::Reader => view.go_to_reader(),
        Action::Between | Action::Difference => {
            view.toggle_difference();
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
    let Some(view) = app.screens.record_mut() else { return };
    if view.pane == RunPane::Findings {
        view.show_finding();
        app.show_json();
    } else if view.pane == RunPane::Steps {
        view.focus(RunPane::Step);
    } else if let Some(tree) = view.derivation() {
        app.open_dialog(Dialog::Derivation(tree));
    } else if let Some((title, text)) = view.chosen_text() {
        app.open_dialog(Dialog::Popup(Popup { title, text }));
    }
}

fn sideways(app: &mut App, by: isize) -> Result<(), &'static str> {
    let Some(view) = app.screens.record_mut() else { return Ok(()) };
    match view.pane {
        RunPane::Step => view.turn_tab(by),
        RunPane::Question => {
            view.next_quantity(by);
            say_quantity(app);
        }
        _ if view.opened.has_steps() => return view.walk_by(by),
        _ => {}
    }
    Ok(())
}

/// What the chosen quantity of the question is, and which variables took it up.
pub(crate) fn say_quantity(app: &mut App) {
    if let Some(sentence) = app.screens.record().and_then(RecordView::quantity_sentence) {
        app.say(sentence);
    }
}

pub(crate) fn go(app: &mut App, movement: Move) {
    let (area, theme) = (app.area(), &app.looks.theme);
    if let Some(view) = app.screens.record_mut() {
        let place = pane_area(area, view, view.pane);
        view.go(movement, place, |view, width| step::height(view, width, theme));
    }
}

/// The pane under the mouse gets the keys.
pub(crate) fn focus(app: &mut App, at: Position) {
    let area = app.area();
    let Some(view) = app.screens.record_mut() else { return };
    if let Some((pane, _)) = panes::under(&RunPane::ALL, |pane| pane_area(area, view, pane), at) {
        view.focus(pane);
    }
}

/// Brings the cursor of a pane where the mouse is.
pub(crate) fn click(app: &mut App, at: Position) {
    let (area, theme) = (app.area(), &app.looks.theme);
    let Some(view) = app.screens.record_mut() else { return };
    let Some((pane, place)) = panes::under(&RunPane::ALL, |pane| pane_area(area, view, pane), at) else { return };
    view.focus(pane);
    let row = usize::from(at.y.saturating_sub(place.y + 1));
    let target = match pane {
        RunPane::Steps => view.steps.top + row,
        RunPane::State if row > 0 => view.variables.top + row - 1,
        RunPane::Findings => view.findings.top + row,
        _ => return,
    };
    view.go(Move::To(target), place, |view, width| step::height(view, width, theme));
    if pane == RunPane::Findings {
        view.show_finding();
    }
}
