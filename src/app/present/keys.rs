//! Begins and ends presenting, and keeps what would be saved from being done.

use crate::app::msg::{Effect, Effects};
use crate::app::present::Presenting;
use crate::app::state::App;
use crate::screens::kind::ScreenKind;
use crate::widgets::keymap::{Action, Reason};
use stepscope_base::text::Shown;
use stepscope_terminal::run::Work as _;

/// Reason given for a key that does nothing while presenting.
const NOT_SAVED: Reason = "nothing is saved while presenting; :present ends it";

/// Refuses an action that saves something.
pub(crate) fn allowed(app: &App, action: Action) -> Result<(), Reason> {
    use Action as A;
    let saves =
        matches!(
            action,
            A::Pass | A::Fail | A::Defer | A::Skip | A::BadStep | A::GoldStatus | A::FixTarget | A::Correct | A::Note
        ) || matches!(action, A::Undo | A::Redo | A::LabelAll | A::DecidePass | A::DecideFail | A::Review | A::Export)
            || action == A::Keep && app.screens.top() != ScreenKind::Run;
    if app.presenting.is_some() && saves { Err(NOT_SAVED) } else { Ok(()) }
}

/// Begins to present, or ends it.
pub(crate) fn turn(app: &mut App) -> Effects {
    app.presenting = if app.presenting.is_some() { None } else { Some(Presenting::default()) };
    app.say(Shown::own(if app.presenting.is_some() {
        "Presenting: keys are shown, nothing is saved. :present ends it"
    } else {
        "Presenting ended"
    }))
}

/// Drops the effects that would leave traces while presenting.
pub(crate) fn without_traces(app: &App, mut effects: Effects) -> Effects {
    if app.presenting.is_some() {
        effects.retain(|effect| !effect.saves() && !matches!(effect, Effect::KeepView(..)));
    }
    effects
}
