//! The keys and clicks of the run screen.

use ratatui::layout::{Position, Rect};

use crate::app::msg::Effects;
use crate::app::records::fork_in_front;
use crate::app::state::{App, Looks};
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::dialogs::fixes;
use crate::screens::kind::ScreenKind;
use crate::screens::run::layout::areas;
use crate::screens::run::pane::{Opens, RunPane};
use crate::screens::run::state::RecordView;
use crate::screens::run::{edit, step};
use crate::screens::side_by_side::keys::{beside_parent, make, open_handle};
use crate::screens::side_by_side::making::Make;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Keymap, Reason, need};
use crate::widgets::list::Move;
use crate::widgets::look::Look;

/// Reason given where a record has no peers.
const NO_PEERS: Reason = "no other run of this question is known; start with --peers";

/// Checks an action that the screen knows; `None`: another one.
pub(crate) fn allowed(screens: &Screens, action: Action) -> Option<Result<(), Reason>> {
    use Action as A;
    let view = screens.record()?;
    let steps = view.opened.has_steps();
    Some(match action {
        A::NextStep | A::PreviousStep | A::Difference | A::Writer | A::Reader => {
            need(steps, "this record has no steps").and_then(|()| match action {
                A::NextStep => view.may_walk(1),
                A::PreviousStep => view.may_walk(-1),
                A::Writer => view.writer().map(drop),
                A::Reader => view.reader().map(drop),
                _ => Ok(()),
            })
        }
        A::NextPeer | A::PreviousPeer => need(view.opened.peers.is_some(), NO_PEERS),
        A::Prove => need(view.can_prove(), "no recomputed value here"),
        A::CopyStep => need(steps, "no step here"),
        A::NextPane | A::PreviousPane | A::Maximise => Ok(()),
        A::Exact | A::Repair | A::Between => need(steps, "open a run with steps first"),
        A::Edit => need(steps, "open a run with steps first")
            .and(need((view.pane.def().can_edit)(view), "select a variable, or the prompt of a step (<next_pane>)"))
            .and_then(|()| edit::may_edit(screens)),
        A::Keep => need(!view.edits.values.is_empty(), "no overrides; <edit> overrides a value"),
        _ => return None,
    })
}

pub(crate) fn act(app: &mut App, action: Action, times: isize) -> Option<Effects> {
    // A fork is put next to its parent.
    if action == Action::Difference
        && let Some(fork) = fork_in_front(&app.screens, &app.store, &app.table, &app.forks.tree)
    {
        return Some(beside_parent(&app.store, &app.forks.tree, &mut app.across, fork));
    }
    let count = app.count;
    let view = app.screens.record_mut()?;
    let moved = match action {
        Action::Open => {
            open(&mut app.screens);
            Ok(())
        }
        Action::Left => sideways(view, &mut app.status, -1),
        Action::Right => sideways(view, &mut app.status, 1),
        Action::NextStep => view.walk_by(times),
        Action::PreviousStep => view.walk_by(-times),
        Action::NextPane => view.next_pane(count, 1),
        Action::PreviousPane => view.next_pane(None, -1),
        Action::Prove => {
            if let Some(tree) = view.derivation_here() {
                app.screens.open_dialog(Dialog::Derivation(tree));
            }
            return Some(Vec::new());
        }
        Action::NextPeer | Action::PreviousPeer => {
            view.next_peer(if action == Action::NextPeer { times } else { -times });
            Ok(())
        }
        Action::Writer => view.go_to_found(view.writer()),
        Action::Reader => view.go_to_found(view.reader()),
        Action::Between | Action::Difference => {
            view.toggle_difference();
            Ok(())
        }
        Action::Exact | Action::Repair | Action::Keep => {
            let edits = edit::fork_of_edits(view);
            let handle = open_handle(&app.screens, &app.store, &app.forks.tree);
            return Some(match action {
                Action::Exact => make(&mut app.across, handle, Make::Exact),
                Action::Keep => make(&mut app.across, handle, edits),
                _ => fixes::keys::look_for_fixes(&mut app.across, handle),
            });
        }
        Action::Edit => {
            return Some(
                edit::edit(&mut app.screens, &app.keymap).map_or_else(|why| app.status.say(why), |()| Vec::new()),
            );
        }
        _ => return None,
    };
    if let Err(why) = moved {
        app.status.refuse(&app.keymap, why);
    }
    Some(Vec::new())
}

fn open(screens: &mut Screens) {
    match screens.record_mut().map(RecordView::open) {
        Some(Opens::Json) => screens.show_json(),
        Some(Opens::Derivation(tree)) => screens.open_dialog(Dialog::Derivation(tree)),
        Some(Opens::Text(title, text)) => screens.open_dialog(Dialog::Popup(Popup { title, text })),
        Some(Opens::Nothing) | None => {}
    }
}

fn sideways(view: &mut RecordView, status: &mut StatusLine, by: isize) -> Result<(), Reason> {
    if let Some(sentence) = view.go_sideways(by)? {
        status.say(sentence);
    }
    Ok(())
}

/// Tells what the chosen quantity of the question is, and which variables use it.
pub(crate) fn say_quantity(screens: &Screens, status: &mut StatusLine) {
    if let Some(sentence) = screens.record().and_then(RecordView::quantity_sentence) {
        status.say(sentence);
    }
}

pub(crate) fn go(screens: &mut Screens, movement: Move) {
    screens.record_mut().into_iter().for_each(|view| view.go(movement));
}

/// Lays the panes out, and keeps every cursor on screen.
pub(crate) fn settle(area: Rect, screens: &mut Screens, looks: &Looks, keymap: &Keymap) {
    let look = Look::new(&looks.theme, keymap, false);
    let Some(view) = screens.record_mut().filter(|view| view.kind() == ScreenKind::Run) else { return };
    view.areas = areas(area, view, look);
    // While editing, every key lays out anew; else only the step and the screen do.
    let places = [RunPane::Step, RunPane::Call].map(|pane| view.areas.of(pane));
    let shared_for = view.edited_prompt().is_none().then_some(places);
    if shared_for.is_none() || view.shared_for != shared_for {
        (view.with_step, view.shared_for) = (step::share(view, look), shared_for);
    }
    debug_assert_eq!(view.with_step, step::share(view, look), "what was chosen before no longer holds");
    view.settle(look);
}

/// Gives the keys to the pane under the mouse, and returns the line there.
pub(crate) fn focus(screens: &mut Screens, at: Position) -> Option<usize> {
    let view = screens.record_mut()?;
    let (pane, line) = view.areas.at(at)?;
    view.focus(pane);
    Some(line)
}

/// Brings the cursor of a pane where the mouse is; where it is already, opens. A tab is turned to.
pub(crate) fn click(screens: &mut Screens, looks: &Looks, keymap: &Keymap, at: Position) -> Option<Action> {
    let had_keys = screens.record().map(|view| view.pane);
    let line = focus(screens, at)?;
    let look = Look::new(&looks.theme, keymap, false);
    let view = screens.record_mut()?;
    if let Some(tab) = step::tab_at(view, at, look) {
        view.turn_to_tab(tab);
        return None;
    }
    let had_keys = had_keys == Some(view.pane);
    let was_there = view.go_to_line(line, look)?;
    if had_keys && was_there {
        return Some(Action::Open);
    }
    (view.pane.def().clicked)(view);
    None
}
