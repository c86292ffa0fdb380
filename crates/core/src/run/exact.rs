//! A run executed exactly, kept as a fork: what could be calculated in the place of what was recorded.

use crate::arithmetic::recompute::{Computed, ValueBasis};
use crate::case::CaseView;
use crate::procedure::FINAL_ANSWER;
use crate::run::fork::{Fork, How, Set};
use crate::run::replay::{Replay, RerunStart, known};
use crate::run::state::{Badge, Moment, Write};
use crate::run::trace::Put;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

/// Makes a fork without a model: every value that could be calculated exactly replaces the recorded one. `Err`: nothing
/// could, or all of it is as recorded.
pub fn exact_fork(case: &CaseView<'_>) -> Result<Fork, Shown> {
    let Some((procedure, recomputed)) = case.procedure().zip(case.executed()) else {
        return Err(Shown::own("nothing to recompute: this record has no run of a procedure"));
    };
    let state = case.state();
    let calculated = |write: &&Computed| write.basis == ValueBasis::Plan && write.value.is_some();
    let differs = |write: &&Computed| {
        write.recorded.is_none_or(|recorded| write.value.is_some_and(|value| !recorded.stands_for(value)))
    };
    let planned = || recomputed.writes.iter().filter(calculated);
    let first = planned().filter(differs).map(|write| write.step).min().ok_or_else(|| {
        let (known, of) = (planned().count(), recomputed.writes.len());
        match known {
            0 => Shown::own("nothing to recompute: the procedure does not say how any value is calculated"),
            _ if known == of => Shown::own("nothing to recompute: every value is as calculated"),
            _ => shown!("nothing to recompute: what can be calculated, {known} of {of} values, is as recorded"),
        }
    })?;
    let start = RerunStart { step: first, how: How::Exact, ..RerunStart::default() };
    let mut fork = Replay::of(case, &start).map_err(|why| Shown::error(&why))?.finish(None);
    // The state at the end, with what was calculated in the place of what was recorded.
    let end = Moment(procedure.steps.len());
    for entry in state.at(end) {
        if let Some((name, text)) = known(state, &entry) {
            fork.values.set(&name, text);
        }
    }
    let mut put = |step: usize, name: &Untrusted<'_>, value: Vec<u8>| {
        fork.sets.retain(|set| set.put != Put::Recomputed || set.step != step || set.variable != *name);
        let (index, after) = (state.variable(name), Moment::after(step));
        let writes = index.and_then(|index| state.variables().get(index)).map(|variable| variable.writes.as_slice());
        // What is written or set afterwards still holds at the end.
        let later = |write: &Write<'_>| write.from > after || (write.from == after && write.badge == Badge::Override);
        if !writes.unwrap_or_default().iter().any(later) {
            fork.values.set(name, &value);
        }
        let variable = name.to_owned();
        fork.sets.push(Set { variable, put: Put::Recomputed, step, value, was: None });
    };
    for write in planned() {
        let (Some(variable), Some(value)) = (state.variables().get(write.variable), write.value) else { continue };
        let json = value.json();
        if variable.name == FINAL_ANSWER {
            let numerical = Untrusted::from("final_answer_numerical");
            if state.variable(&numerical).is_some() {
                put(write.step, &numerical, json.as_bytes().to_vec());
            }
            put(write.step, &variable.name, format!("\"{json}\"").into_bytes());
        } else {
            put(write.step, &variable.name, json.as_bytes().to_vec());
        }
    }
    let is_kept = |step: usize| recomputed.writes.iter().any(|write| write.step == step && !calculated(&write));
    fork.stale.retain(|step| is_kept(*step));
    Ok(fork)
}
