//! The last step as evoproc finds it: the one that runs with the answer schema.

use crate::procedure::Step;
use stepscope_base::json::{Kind, Value};

/// The step that upstream runs with the answer schema: the one whose id equals the number of steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LastStep {
    /// Positions of the steps that run as the last, ascending: one, if all is well.
    pub positions: Vec<usize>,
    /// Difference from what a reader expects, if there is one.
    pub surprise: Option<Surprise>,
}

impl LastStep {
    /// Tells whether the step at a position is run as the last.
    pub fn contains(&self, position: usize) -> bool {
        self.positions.binary_search(&position).is_ok()
    }
}

/// Difference between upstream's last step and the last position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Surprise {
    /// No id equals the number of steps: no step uses the answer schema.
    None,
    /// Several ids equal the number of steps.
    Several,
    /// The step is not at the last position.
    Elsewhere,
}

impl Surprise {
    /// Explains the difference, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::None => "no step id equals the number of steps, so no step runs with the answer schema",
            Self::Several => {
                "several step ids equal the number of steps, so each of these steps runs with the answer schema"
            }
            Self::Elsewhere => "the step whose id equals the number of steps is not the last, but runs as the last",
        }
    }
}

/// Applies upstream's test for the last step: `step["id"] == len(steps)`, with Python's equality (`3 == 3.0`,
/// `1 == True`).
pub fn runs_as_last(id: Option<Value<'_>>, steps: usize) -> bool {
    let Some(id) = id else { return false };
    match id.kind() {
        Kind::Int => id.whole() == Some(steps as i64),
        Kind::Float => id.float() == Some(steps as f64),
        Kind::True => steps == 1,
        Kind::False => steps == 0,
        _ => false,
    }
}

/// Finds upstream's last step among these.
pub fn last_step(steps: &[Step<'_>]) -> LastStep {
    LastStep { positions: last_positions(steps).collect(), surprise: last_step_surprise(steps) }
}

/// Compares upstream's last step with what a reader expects.
pub fn last_step_surprise(steps: &[Step<'_>]) -> Option<Surprise> {
    let mut positions = last_positions(steps);
    match (positions.next(), positions.next()) {
        (None, _) => (!steps.is_empty()).then_some(Surprise::None),
        (Some(position), None) => (position + 1 != steps.len()).then_some(Surprise::Elsewhere),
        (Some(_), Some(_)) => Some(Surprise::Several),
    }
}

fn last_positions(steps: &[Step<'_>]) -> impl Iterator<Item = usize> {
    steps.iter().enumerate().filter(|(_, step)| runs_as_last(step.id, steps.len())).map(|(position, _)| position)
}
