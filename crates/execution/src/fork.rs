//! A fork: a recorded run, continued from one of its steps with other values. `written` turns it into a record.

use crate::runner::{Ended, Values};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::fork_origin::How;
use stepscope_record::trace::Put;

pub(crate) mod written;

pub use written::{Executed, repaired};
pub(crate) use written::{RunParts, run_record};

/// Extent of a re-run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// One step; the later ones keep what was recorded, even if it is stale.
    #[default]
    One,
    /// The step, and the later ones that depend on what changed.
    Stale,
    /// The step and all later ones.
    FromHere,
}

/// Names steps, given by position: `step 5`, `steps 5, 6`. `None`: there are none.
pub fn named_steps(steps: impl Iterator<Item = usize>) -> Option<Shown> {
    let numbers: Vec<String> = steps.map(|position| (position + 1).to_string()).collect();
    let word = if numbers.len() == 1 { "step" } else { "steps" };
    (!numbers.is_empty()).then(|| shown!("{word} {}", numbers.join(", ")))
}

/// A value that no model gave, as the fork's record keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set {
    /// The variable.
    pub variable: Untrusted<'static>,
    /// Origin of the value: set by a person, or calculated.
    pub put: Put,
    /// The step before which it was set, or the one that it was calculated for, by position.
    pub step: usize,
    /// The value, as a JSON text.
    pub value: Vec<u8>,
    /// Value that an override replaced.
    pub was: Option<Vec<u8>>,
}

/// A finished replay.
#[derive(Clone, Debug)]
pub struct Fork {
    /// Way in which it was made.
    pub how: How,
    /// The step at which it left its parent, by position.
    pub step: usize,
    /// Values that were edited before that step, as JSON texts.
    pub edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// Values that no model gave: its own, and what it takes over from its parent.
    pub sets: Vec<Set>,
    /// Calls of the fork.
    pub calls: Vec<Executed>,
    /// Steps whose prompt was changed before it was sent, by position.
    pub prompts: Vec<usize>,
    /// Steps whose recorded values rest on what is no longer so, by position.
    pub stale: Vec<usize>,
    /// Steps that were to be asked, and that it did not come to, by position.
    pub unrun: Vec<usize>,
    /// Variables that its parent's steps wrote, and the replies of the same steps no longer give.
    pub gone: Vec<Untrusted<'static>>,
    /// The state at the end.
    pub values: Values,
    /// Reason of its end, if it ended early.
    pub ended: Option<Ended>,
    /// Early end of its parent, where the fork did not continue from there.
    pub unfinished: Option<Unfinished>,
}

/// End of a run that was not continued to its last step: class and text, as its record says them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// The class of the error.
    pub class: Untrusted<'static>,
    /// The error's text.
    pub error: Untrusted<'static>,
}
