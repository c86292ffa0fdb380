//! The time and the tokens that the steps of a recorded run took, one after the other.

use crate::state::State;
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Time and tokens that one step took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepCost {
    /// Milliseconds from the beginning of the run to that of the step, where all before it are known.
    pub start: f64,
    /// Milliseconds of the step.
    pub took: Option<f64>,
    /// Tokens of the prompt.
    pub tokens_in: Option<u64>,
    /// Tokens of the reply.
    pub tokens_out: Option<u64>,
}

/// Time and tokens that a run took.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunCost {
    /// Costs of the steps, by position.
    pub steps: Vec<StepCost>,
    /// Milliseconds of all of them.
    pub time: f64,
    /// Tokens of all prompts and replies.
    pub tokens: u64,
}

impl RunCost {
    /// Reads the cost of a run; `None`: its trace names neither times nor tokens.
    pub fn of(state: &State<'_>) -> Option<Self> {
        let mut all = Self::default();
        let inside = inside(state);
        for (position, inside) in inside.into_iter().enumerate() {
            let cost = state.call(position).map_or_else(StepCost::default, |call| StepCost::of(call.value));
            // What the steps inside of it took is theirs.
            let took = cost.took.map(|took| (took - inside).max(0.0));
            all.steps.push(StepCost { start: all.time, took, ..cost });
            all.time += took.unwrap_or(0.0);
            for tokens in [cost.tokens_in, cost.tokens_out].into_iter().flatten() {
                all.tokens = all.tokens.saturating_add(tokens);
            }
        }
        (all.time > 0.0 || all.tokens > 0).then_some(all)
    }
}

/// Milliseconds that a step took with all that is inside of it.
fn took(state: &State<'_>, position: usize) -> Option<f64> {
    StepCost::of(state.call(position)?.value).took
}

/// Milliseconds of the steps inside of each step: a span contains those that it is the `parent` of.
fn inside(state: &State<'_>) -> Vec<f64> {
    let mut inside = vec![0.0; state.step_count()];
    for position in 0..state.step_count() {
        let parent = || state.call(position)?.get("parent")?.whole::<usize>().filter(|parent| *parent < position);
        if let Some(sum) = parent().and_then(|parent| inside.get_mut(parent)) {
            *sum += took(state, position).unwrap_or(0.0);
        }
    }
    inside
}

impl StepCost {
    /// Reads what a call took.
    pub(crate) fn of(call: Value<'_>) -> Self {
        let usage = |key: &str| call.get("usage")?.get(key)?.float().filter(|n| *n >= 0.0).map(|n| n as u64);
        let took = call.get("duration_ms").and_then(Value::float).filter(|ms| ms.is_finite() && *ms >= 0.0);
        Self { start: 0.0, took, tokens_in: usage("prompt_tokens"), tokens_out: usage("completion_tokens") }
    }

    /// Writes its tokens for people.
    pub fn tokens(&self) -> Shown {
        match (self.tokens_in, self.tokens_out) {
            (None, None) => Shown::default(),
            (Some(read), None) => shown!("{read} in"),
            (None, Some(written)) => shown!("{written} out"),
            (Some(read), Some(written)) => shown!("{read} → {written}"),
        }
    }
}

/// Milliseconds as they are written.
pub fn duration(ms: f64) -> Shown {
    match ms {
        ms if ms < 1_000.0 => shown!("{} ms", ms.round()),
        ms if ms < 60_000.0 => shown!("{:.1} s", (ms / 100.0).round() / 10.0),
        ms => shown!("{} min {} s", (ms / 60_000.0).floor(), ((ms % 60_000.0) / 1_000.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!(
            [4.4, 999.0, 1_260.0, 125_000.0].map(|ms| duration(ms).into_string()),
            ["4 ms", "999 ms", "1.3 s", "2 min 5 s"]
        );
    }
}
