//! Verdicts of a chain of verifiers on the open record, ready for the window.

pub(crate) mod draw;

use stepscope_base::json::Value;
use stepscope_base::text::Shown;
use stepscope_execution::verify::{ChainResult, StageOutcome, VerifyResult, differ, recorded_reward};

/// Largest number of bytes of the details that are prepared.
const MAX_DETAILS: usize = 8 << 10;

/// The stages, what the whole comes to, and what was recorded.
#[derive(Clone, Debug)]
pub struct Rewards {
    /// The stages, from the first.
    pub stages: Vec<StageRow>,
    /// The reward of the whole; `None`: it could not be judged.
    pub reward: Option<f64>,
    /// True if the whole passed.
    pub success: bool,
    /// Reason why nothing could be judged, where no stage gives it.
    pub why: Option<Shown>,
    /// The reward that the record holds.
    pub recorded: Option<f64>,
}

/// One stage.
#[derive(Clone, Debug)]
pub struct StageRow {
    /// Name of the stage.
    pub name: Shown,
    /// Weight of its reward.
    pub weight: f64,
    /// Amount that it added to the reward of the whole.
    pub adds: f64,
    /// Result of the stage; `None`: the chain had stopped before.
    pub result: Option<StageResult>,
}

/// Result of a stage.
#[derive(Clone, Debug)]
pub struct StageResult {
    /// True if it passed.
    pub success: bool,
    /// Reward of the stage alone.
    pub reward: f64,
    /// Details of what it found.
    pub details: Shown,
}

impl Rewards {
    /// Collects the rewards that a chain gives a record.
    pub fn of(chain: &ChainResult, record: Option<Value<'_>>) -> Self {
        let result = &chain.result;
        Self {
            stages: chain.stages.iter().map(StageRow::of).collect(),
            reward: result.scored(),
            success: result.success,
            why: chain.stages.is_empty().then(|| details(result)),
            recorded: record.and_then(recorded_reward),
        }
    }

    /// Tells whether another reward was recorded.
    pub fn differs(&self) -> bool {
        self.recorded.zip(self.reward).is_some_and(|(recorded, reward)| differ(recorded, reward))
    }
}

impl StageRow {
    fn of(stage: &StageOutcome) -> Self {
        let of = |result: &VerifyResult| StageResult {
            success: result.success,
            reward: result.reward,
            details: details(result),
        };
        Self { name: stage.name.clone(), weight: stage.weight, adds: stage.adds, result: stage.result.as_ref().map(of) }
    }
}

fn details(result: &VerifyResult) -> Shown {
    result.details.prose().shortened(MAX_DETAILS)
}
