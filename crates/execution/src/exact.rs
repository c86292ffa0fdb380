//! A recomputed run, kept as a fork: what could be calculated in the place of what was recorded.

use std::collections::HashSet;

use crate::fork::{Fork, Set};
use crate::prompt::read_by;
use crate::replay::{Replay, RerunStart, known};
use stepscope_base::json::Kind;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::case::CaseView;
use stepscope_judge::recompute::classes::ReadingClass;
use stepscope_judge::recompute::{Computed, Recomputed, ValueBasis};
use stepscope_record::fork_origin::How;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, Procedure};
use stepscope_record::state::{Badge, Moment, State, Write};
use stepscope_record::trace::Put;

/// Makes a fork without a model: every value that could be calculated exactly replaces the recorded one. `Err`: nothing
/// could, or all of it is as recorded.
pub fn exact_fork(case: &CaseView<'_>) -> Result<Fork, Shown> {
    let Some((procedure, recomputed)) = case.procedure().zip(case.executed()) else {
        return Err(Shown::own("nothing to recompute: this record has no run of a procedure"));
    };
    let state = case.state();
    let expected = case.gold().map(|gold| gold.value);
    let is_confirmed = recomputed.recovered.is_some_and(|value| expected.is_some_and(|gold| gold.is_near(value)));
    let Settled { puts, stale } = Settled::of(procedure, state, recomputed, is_confirmed);
    let first = puts.iter().filter(|write| differs(write)).map(|write| write.step).min().ok_or_else(|| {
        let calculated = || recomputed.writes.iter().filter(|write| is_calculated(write));
        // What differs by a reading that may not replace it is not known.
        let known = calculated().filter(|write| !differs(write)).count();
        let of = recomputed.writes.len();
        match known {
            0 if calculated().next().is_none() => {
                Shown::own("nothing to recompute: the procedure does not say how any value is calculated")
            }
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
        let mut writes = index.into_iter().flat_map(|index| &state.variables()[index].writes);
        // What is written or set afterwards still holds at the end.
        let later = |write: &Write<'_>| write.from > after || (write.from == after && write.badge == Badge::Override);
        if !writes.any(later) {
            fork.values.set(name, &value);
        }
        let variable = name.to_owned();
        fork.sets.push(Set { variable, put: Put::Recomputed, step, value, was: None });
    };
    for write in puts {
        let (Some(variable), Some(value)) = (state.variables().get(write.variable), write.value) else { continue };
        let json = value.json();
        if variable.name == FINAL_ANSWER {
            let numerical = Untrusted::from(FINAL_ANSWER_NUMERICAL);
            if state.variable(&numerical).is_some() {
                put(write.step, &numerical, json.as_bytes().to_vec());
            }
            put(write.step, &variable.name, format!("\"{json}\"").into_bytes());
        } else if !says_it(state, write) {
            put(write.step, &variable.name, json.as_bytes().to_vec());
        }
    }
    fork.stale = stale;
    Ok(fork)
}

/// Values that are put, and steps that kept what they wrote though something that they read changed.
#[derive(Default)]
struct Settled<'r> {
    puts: Vec<&'r Computed>,
    stale: Vec<usize>,
}

impl<'r> Settled<'r> {
    /// Follows the values through the steps. What rests on an outdated value is not put: it would only look recomputed.
    /// `is_confirmed`: what the run gives so is the expected answer.
    fn of(procedure: &Procedure<'_>, state: &State<'_>, recomputed: &'r Recomputed, is_confirmed: bool) -> Self {
        let mut settled = Self::default();
        // Variables that hold another number than recorded, and those whose step should have run again for that.
        let (mut changed, mut outdated) = (HashSet::new(), HashSet::new());
        let is_said = |write: &Computed| is_said(write, is_confirmed);
        for step in 0..procedure.steps.len() {
            let of_step = || recomputed.writes.iter().filter(move |write| write.step == step);
            for set in of_step().filter(|write| write.basis == ValueBasis::Override) {
                changed.remove(&set.variable);
                outdated.remove(&set.variable);
            }
            let reads = read_by(procedure, step);
            let is_affected = |name: &Untrusted<'_>| {
                state.variable(name).is_some_and(|index| changed.contains(&index) || outdated.contains(&index))
            };
            let reads_changed = state.is_stale(step) || reads.iter().any(is_affected);
            for write in of_step().filter(|write| write.basis != ValueBasis::Override) {
                let is_put = is_calculated(write)
                    && is_said(write)
                    && !write.inputs.iter().any(|(input, _)| outdated.contains(input));
                let is_stale = !is_put && reads_changed;
                let note = |set: &mut HashSet<usize>, holds: bool| {
                    if holds { set.insert(write.variable) } else { set.remove(&write.variable) }
                };
                note(&mut changed, is_put && differs(write));
                // What only names suggest is put nowhere, and nothing is worked out of it.
                let is_guessed = is_calculated(write) && !is_said(write) && differs(write);
                note(&mut outdated, is_stale || is_guessed);
                if is_put {
                    settled.puts.push(write);
                }
                if is_stale && settled.stale.last() != Some(&step) {
                    settled.stale.push(step);
                }
            }
        }
        settled
    }
}

fn is_calculated(write: &Computed) -> bool {
    write.basis == ValueBasis::Plan && write.value.is_some()
}

/// Tells whether a text says how a value is calculated, so that no other one is written on a reading that may not accuse.
fn is_said(write: &Computed, is_confirmed: bool) -> bool {
    let may_replace = |class: ReadingClass| is_confirmed || class.may_accuse() || !differs(write);
    write.plan.as_ref().is_none_or(|plan| plan.class.is_said() && may_replace(plan.class))
}

/// Tells whether the recorded value is another than the calculated one; a text without a number is.
fn differs(write: &Computed) -> bool {
    write.recorded.is_none_or(|recorded| write.value.is_some_and(|value| !recorded.stands_for(value)))
}

/// Tells whether the recorded value is a text that says the calculated number, as some steps are asked to write it.
fn says_it(state: &State<'_>, write: &Computed) -> bool {
    let is_text = || {
        let entry = state.written(write.variable, write.step);
        entry.and_then(|entry| entry.value).is_some_and(|value| value.kind() == Kind::String)
    };
    write.recorded.is_some_and(|recorded| Some(recorded.value) == write.value) && is_text()
}
