//! Definition of an action: when it can be done and what does it, in one row.

use crate::app::across::keys::{NOT_HERE, in_adjudication, may_compare, may_count, may_show_baseline, of_all};
use crate::app::actions::may::{
    CLOSE_FIRST, folds, has_edits, has_rewards, has_searched, in_batch, in_derivation, in_help, in_views, is_unsaved,
    may_leave_to_editor, may_open_in, may_turn, of_steps, on_text, scrolls, takes_edit, unless_typing,
};
use crate::app::forks::follow::{NO_FORKS, fork_from, save_again};
use crate::app::msg::{Effect, Effects};
use crate::app::present;
use crate::app::records::{current, record_from};
use crate::app::review::Review;
use crate::app::review::ask::{allowed_for_label, labels_that_fit};
use crate::app::review::keys::{review_action, turn_review};
use crate::app::review::may::{
    InFront, may_judge, may_judge_part, may_label, may_label_all, may_name_step, may_pass_over, may_redo, may_repeat,
    may_reveal, may_undo,
};
use crate::app::seek::follow::{copy_link, link};
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::app::update::{back, copy, escape, go_to_record, go_to_wanted, jump, next_theme, quit, turn_mouse};
use crate::dialogs::dialog::{Dialog, Popup, PromptPurpose};
use crate::dialogs::palette::Palette;
use crate::screens::kind::ScreenKind;
use crate::screens::live;
use crate::screens::live::keys::{may_create, may_step_through};
use crate::screens::rerun::keys::may_rerun;
use crate::screens::run;
use crate::screens::run::state::RecordView;
use crate::screens::side_by_side::keys::{may_put_beside, put_beside};
use crate::screens::stack::Screens;
use crate::screens::table::search::find_by;
use crate::widgets::action_rows::action_rows;
use crate::widgets::keymap::{Action, Context, GO_BACK, Reason, need};
use crate::widgets::list::Move;
use stepscope_base::text::Shown;

/// Reasons that screens refuse what belongs to others.
const ONE_PANE: Reason = "this screen has one pane";
const TABLE_FIRST: Reason = "go back to the table first";
const JSON_FIRST: Reason = "open the raw JSON first (<json>)";
const NO_CITATIONS: Reason = "only for answers with citations";
const NO_RUN: Reason = "open a run with steps first";
const NOT_LIVE: Reason = "only while a run is made (<step_through> on a run, or :create)";
const TYPING: Reason = "only while typing text";

/// Traces that an action leaves. Each row says it: while the program is presented, nothing is saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trace {
    /// None: it shows something.
    Shows,
    /// It saves something, or leads to where that is done.
    Saves,
}

/// Check that comes before that of the screen in front.
pub(crate) enum First {
    /// Nothing.
    Nothing,
    /// The action itself, on every screen; `None`: it is left to the screen.
    Own(fn(&App, ScreenKind) -> Option<Result<(), Reason>>),
    /// The review, where a record or its row is in front.
    Review(fn(&Review, InFront<'_>) -> Result<(), Reason>),
}

/// Condition of an action on a screen that says nothing of it.
pub(crate) enum Needs {
    /// Nothing: it can be done on every screen that does not refuse it.
    Nothing,
    /// Another screen, for this reason.
    Another(Reason),
    /// Something of the open record.
    Record(fn(Option<&RecordView>) -> Result<(), Reason>),
    /// Another record that is sought.
    Wanted,
    /// A finding in the open record; on the table, another record with one.
    Finding,
    /// Something of the session.
    Asks(fn(&App, Action) -> Result<(), Reason>),
}

/// Dialogs in which an action can be done.
pub(crate) enum InDialog {
    /// In none: it is to be closed first.
    Never,
    /// In all.
    Always,
    /// In those of which this holds.
    If(fn(Context, &Dialog) -> bool),
    /// Those in which this finds no reason not to.
    Asks(fn(&App, Context) -> Result<(), Reason>),
}

/// Definition of an action.
pub(crate) struct ActionDef {
    /// Traces that it leaves.
    pub trace: Trace,
    /// Tells whether it moves a cursor or scrolls.
    pub moves: bool,
    /// Tells whether it means the same on every screen, as all movements do.
    pub plain: bool,
    /// Tells whether it begins or gives a verdict, or says something that goes with it.
    pub judges: bool,
    /// Tells whether it makes a fork of the open record.
    pub forks: bool,
    /// Tells whether it leads from the open record to another one.
    pub leads: bool,
    /// Tells whether it does something else with the open record that has to know where that is.
    pub acts: bool,
    /// Tells whether it is for the labels of a final verdict.
    pub decides: bool,
    /// The screen that it opens, from wherever it is done.
    pub opens: Option<ScreenKind>,
    /// Check that comes before that of the screen.
    pub first: First,
    /// Dialogs in which it can be done.
    pub in_dialog: InDialog,
    /// Condition on a screen that says nothing of it.
    pub needs: Needs,
    /// Does it so many times, where neither the dialog nor the screen in front does.
    pub run: fn(&mut App, Action, isize) -> Effects,
}

impl ActionDef {
    /// Refuses everything, and does nothing.
    const CLOSED: Self = Self {
        trace: Trace::Saves,
        moves: false,
        plain: false,
        judges: false,
        forks: false,
        leads: false,
        acts: false,
        decides: false,
        opens: None,
        first: First::Nothing,
        in_dialog: InDialog::Never,
        needs: Needs::Another(NOT_HERE),
        run: |_, _, _| Vec::new(),
    };

    /// Tells whether it is done to the open record, which must be in its place then.
    pub(crate) const fn is_on_record(&self) -> bool {
        self.forks || self.judges || self.leads || self.acts
    }
}

macro_rules! definitions {
    ($($name:ident = $id:literal $(($title:literal))?, $trace:ident [$($flag:ident)*] $($field:ident: $value:expr),*;)+) => {
        impl Action {
            /// Returns its definition.
            pub(crate) const fn def(self) -> &'static ActionDef {
                use First::{Own, Review};
                match self {
                    $(Self::$name => const {
                        &ActionDef {
                            trace: Trace::$trace,
                            $($flag: true,)*
                            $($field: $value,)*
                            ..ActionDef::CLOSED
                        }
                    }),+
                }
            }
        }
    };
}
action_rows!(definitions);

impl ActionDef {
    /// Checks that it can be done in the dialog in front.
    pub(crate) fn may_in_dialog(&self, app: &App, kind: Context) -> Result<(), Reason> {
        let holds = match (&self.in_dialog, &app.screens.dialog) {
            (InDialog::Asks(may), _) => return may(app, kind),
            (InDialog::Always, _) => true,
            (InDialog::If(holds), Some(dialog)) => holds(kind, dialog),
            (InDialog::Never | InDialog::If(_), _) => false,
        };
        need(holds, CLOSE_FIRST)
    }
}

impl Action {
    /// Returns the step to the side that it asks for; `None`: it is no such action.
    pub(crate) const fn sideways(self) -> Option<isize> {
        match self {
            Self::Left => Some(-1),
            Self::Right => Some(1),
            _ => None,
        }
    }

    /// Tells whether it means the same on every screen.
    pub(crate) const fn is_plain(self) -> bool {
        self.def().plain || self.def().moves
    }
}

/// Returns the line that a count names, or another one.
fn to_line(count: Option<usize>, otherwise: usize) -> Move {
    Move::To(count.map_or(otherwise, |count| count.saturating_sub(1)))
}

/// Gives the pane with the keys of the open record all the room, or shares it again.
fn maximise(screens: &mut Screens) -> Effects {
    if let Some(view) = screens.record_mut() {
        view.maximised = !view.maximised;
    }
    Vec::new()
}

/// Lists what the status line said before.
fn messages(status: &StatusLine) -> Dialog {
    Dialog::Popup(Popup { title: Shown::own("messages, newest first"), text: status.earlier() })
}

/// Does what gives no effects.
fn done(_: ()) -> Effects {
    Vec::new()
}
