//! Begins and ends presenting, and keeps what would be saved from being done.

use crate::app::actions::def::Trace;
use crate::app::msg::{Effect, Effects};
use crate::app::present::Presenting;
use crate::app::review::Review;
use crate::app::status_line::StatusLine;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Focus;
use crate::widgets::keymap::{Action, Reason, need};
use stepscope_base::text::Shown;
use stepscope_terminal::run::Work as _;

/// Reason given for a key that does nothing while presenting.
const NOT_SAVED: Reason = "nothing is saved while presenting; :present ends it";

/// Reason given in a tour for the key that would end presenting.
pub(crate) const ONLY_SHOWS: Reason = "a tour only shows: presenting cannot be ended";

/// Reason given in a tour for a key that saves something.
pub(crate) const NOT_SAVED_IN_TOUR: Reason = "nothing is saved in a tour";

/// Refuses an action that saves something, and presenting while something is still to be saved.
pub(crate) fn allowed(
    presenting: Option<&Presenting>,
    review: &Review,
    front: Focus,
    action: Action,
) -> Result<(), Reason> {
    let is_tour = presenting.is_some_and(|presenting| presenting.is_tour);
    need(!is_tour || action != Action::Present, ONLY_SHOWS)?;
    need(presenting.is_none() || !saves(front, action), if is_tour { NOT_SAVED_IN_TOUR } else { NOT_SAVED })?;
    let is_saving = action == Action::Present && review.batch.is_some();
    need(!is_saving, "verdicts are being saved; try again when they are")
}

/// Tells whether an action saves something, or leads to where that is done.
fn saves(front: Focus, action: Action) -> bool {
    match (front, action) {
        // What is kept there is only previewed.
        (Focus::Screen(ScreenKind::Run) | Focus::Labels(ScreenKind::Run), Action::Keep) => false,
        (Focus::Decision, Action::Open) => true,
        _ => action.def().trace == Trace::Saves,
    }
}

/// Begins to present, or ends it.
pub(crate) fn turn(presenting: &mut Option<Presenting>, status: &mut StatusLine) -> Effects {
    *presenting = if presenting.is_some() { None } else { Some(Presenting::default()) };
    status.say(Shown::own(if presenting.is_some() {
        "Presenting: keys are shown, nothing is saved. :present ends it"
    } else {
        "Presenting ended"
    }))
}

/// Drops the effects that would leave traces while presenting.
pub(crate) fn without_traces(presenting: Option<&Presenting>, mut effects: Effects) -> Effects {
    if presenting.is_some() {
        // Its line would wait for ever.
        debug_assert!(!effects.iter().any(|effect| matches!(effect, Effect::Append(_))), "see `Trace`");
        effects.retain(|effect| !effect.saves() && !matches!(effect, Effect::KeepView(..)));
    }
    effects
}
