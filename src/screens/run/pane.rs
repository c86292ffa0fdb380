//! The panes of the run screen by name alone, a row each. What they are is in their files.

use crate::dialogs::derivation::Tree;
use crate::widgets::keymap::Action;
use crate::widgets::panes::Numbered;
use stepscope_base::text::Shown;

/// Hands the rows of all panes to a macro, in the order of `Tab`: name, title, and the `PaneDef` that it stands for. The
/// names are made of them here, and the way from a name to its definition in `panes`: so the state, which knows the
/// names, does not know the drawing.
macro_rules! run_panes {
    ($make:ident) => {
        $make! {
            /// The steps.
            #[default]
            Steps = "Steps", steps::PANE;
            /// The global state.
            State = "Global state", variables::PANE;
            /// The findings of the rules.
            Findings = "Findings", findings::PANE;
            /// One step in full.
            Step = "Step", step::PANE;
            /// The time of every step, and the value that it wrote against the recomputed one.
            Timeline = "Timeline", timeline::PANE;
            /// The prompt and the reply of the step, where there is room for a third column.
            Call = "Reply and prompt", step::CALL;
            /// The task's text, gold and answer.
            Question = "Question", question::PANE;
            /// The expected answer as the data set works it out, where there is room next to the question.
            Worked = "Expected answer (gold)", question::WORKED;
            /// The values of the steps next to those of other runs of the question.
            Peers = "Peers", peers::PANE;
            /// Messages of a conversation of several turns.
            Messages = "Messages", messages::PANE;
        }
    };
}
pub(crate) use run_panes;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $title:literal, $file:ident::$def:ident;)+) => {
        stepscope_base::words! {
            /// The panes of the run screen, by their titles, in the order of `Tab`.
            #[derive(Default)]
            pub enum RunPane { $($(#[$doc])* $name = $title),+ }
        }
    };
}
run_panes!(names);

impl Numbered for RunPane {
    const PANES: &'static [Self] = &Self::ALL;
}

/// Thing that `Enter` opens.
pub(crate) enum Opens {
    /// Nothing, or what the pane did itself.
    Nothing,
    /// The record as JSON.
    Json,
    /// The derivation of a value.
    Derivation(Tree),
    /// A text in full, with its title.
    Text(Shown, Shown),
}

/// Actions that a question is for, in a run and in an answer.
pub(crate) const OF_QUESTION: &[Action] = &[Action::CopyQuestion, Action::Find];
