//! A fork: a recorded run, gone on from one of its steps with other values. Which steps are asked again, which keep what
//! was recorded, and which are stale follows from who writes and who reads what.
//!
//! `Replay` is the way on: it says what to ask next, takes what came, and ends as a `Fork`, which `written` turns
//! into a record.

use std::collections::HashSet;

use crate::arithmetic::recompute::{Basis, Recomputed};
use crate::procedure::prompt::{AnswerShape, execution, needs, visible_inputs};
use crate::procedure::runner::{Ask, Ended, Runner, Values};
use crate::procedure::{FINAL_ANSWER, PROBLEM_TEXT, Procedure};
use crate::record::{Record, RecordKind};
use crate::run::state::{Badge, Entry, Moment, NOT_RUN, Ran, State, Write, same_value};
use crate::run::trace::Put;
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Untrusted;

pub(crate) mod origin;
pub(crate) mod written;

pub use origin::ForkOrigin;
pub use written::{Executed, repaired, run_record};

/// How far a branch goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// One step; the later ones keep what was recorded, even if it is stale.
    #[default]
    One,
    /// That step, and the later ones that depend on what changed.
    Stale,
    /// That step and all later ones.
    FromHere,
}

stepscope_base::words! {
    /// How a fork came about.
    pub enum How {
        /// Steps were asked again.
        Rerun = "rerun",
        /// A step was asked several times, and the most frequent values were taken.
        Consensus = "consensus",
        /// Values were edited, and nothing was asked.
        Edit = "edit",
        /// The procedure was executed exactly, without a model.
        Exact = "exact",
        /// The procedure was repaired; the run is as it was.
        Repair = "repair",
    }
}

/// What a re-run would do, before anything is sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preview {
    /// The steps that would be asked, by position.
    pub steps: Vec<usize>,
    /// How many steps there are.
    pub of: usize,
    /// About how many tokens their prompts have: a fourth of their bytes.
    pub tokens: usize,
}

/// A value that no model gave, as the fork's record keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Set {
    /// The variable.
    pub variable: Untrusted<'static>,
    /// How it came about.
    pub put: Put,
    /// The step before which it was set, or the one that it was calculated for, by position.
    pub step: usize,
    /// The value, as a JSON text.
    pub value: Vec<u8>,
    /// What an override took the place of.
    pub was: Option<Vec<u8>>,
}

/// A finished branch.
#[derive(Clone, Debug)]
pub struct Fork {
    /// How it came about.
    pub how: How,
    /// The step at which it left its parent, by position.
    pub step: usize,
    /// Values that were edited before that step, as JSON texts.
    pub edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// Values that no model gave: its own, and what it takes over from its parent.
    pub sets: Vec<Set>,
    /// Every call.
    pub calls: Vec<Executed>,
    /// Steps whose prompt was changed before it was sent, by position.
    pub prompts: Vec<usize>,
    /// Steps whose recorded values rest on what is no longer so, by position.
    pub stale: Vec<usize>,
    /// Steps that were to be asked, and that it did not come to, by position.
    pub unrun: Vec<usize>,
    /// The state at the end.
    pub values: Values,
    /// Why it ended early.
    pub ended: Option<Ended>,
    /// Its parent ended early, and it did not go on from there.
    pub unfinished: Option<Unfinished>,
}

/// The end of a run that was not gone on with to its last step: class and text, as its record says them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// The class of the error.
    pub class: Untrusted<'static>,
    /// The error's text.
    pub error: Untrusted<'static>,
}

/// Why no branch can begin at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReplay {
    /// The record has no procedure.
    #[error("the record has no procedure")]
    NoProcedure,
    /// There is no such step.
    #[error("there is no such step")]
    NoStep,
    /// Its procedure has more steps or variables than are read.
    #[error("the procedure is too large to be run: not all of it is read")]
    TooLarge,
    /// Nothing says what the question was.
    #[error("the record does not say what the question was; give it as the value of problem_text")]
    NoQuestion,
}

/// The way on from a step.
#[derive(Clone, Debug)]
pub struct Replay<'v, 'a> {
    state: &'v State<'a>,
    runner: Runner<'a>,
    step: usize,
    scope: Scope,
    /// Variables whose value is another than the recorded one, or rests on such a value.
    dirty: HashSet<Untrusted<'static>>,
    edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    sets: Vec<Set>,
    /// How its parent ended, if that was early.
    end: Option<Unfinished>,
    /// Variables that a step which was asked wrote.
    fresh: HashSet<Untrusted<'static>>,
    calls: Vec<Executed>,
    prompts: Vec<usize>,
    stale: Vec<usize>,
    how: How,
}

impl<'v, 'a> Replay<'v, 'a> {
    /// Stands before a step, with the state that the record gives it and these values in place of the recorded ones.
    pub fn new(
        record: &Record<'a>,
        procedure: Option<&Procedure<'a>>,
        state: &'v State<'a>,
        step: usize,
        edits: &[(Untrusted<'static>, Vec<u8>)],
    ) -> Result<Self, NoReplay> {
        let procedure = procedure.ok_or(NoReplay::NoProcedure)?;
        if !procedure.is_whole() {
            return Err(NoReplay::TooLarge);
        }
        if step >= procedure.steps.len() {
            return Err(NoReplay::NoStep);
        }
        let mut values = Values::default();
        for entry in state.before(step) {
            if let Some((name, text)) = known(state, &entry) {
                values.set(&name, text);
            }
        }
        let question = edits.iter().find(|(name, _)| *name == PROBLEM_TEXT).map(|(_, text)| text.as_slice());
        let given = state.given(step).and_then(|given| given.value).map(Value::raw);
        let given = question.or(given).ok_or(NoReplay::NoQuestion)?;
        let overwritten = values.get(&Untrusted::from(PROBLEM_TEXT)).map(<[u8]>::to_vec);
        values.set(&Untrusted::from(PROBLEM_TEXT), given);
        let shape = AnswerShape::of(record);
        let mut runner = Runner::resume(procedure.clone(), shape, true, values, step).ok_or(NoReplay::NoQuestion)?;
        if let Some(text) = overwritten.filter(|_| question.is_none()) {
            runner.set(&Untrusted::from(PROBLEM_TEXT), &text);
        }
        for (name, text) in edits {
            runner.set(name, text);
        }
        let dirty = edits.iter().map(|(name, _)| name.clone()).collect();
        let edits = edits.to_vec();
        let sets = taken_over(state, step, &edits);
        let text =
            |value: Option<Value<'a>>| value.and_then(Value::string).map(Untrusted::into_owned).unwrap_or_default();
        let end = (record.kind == RecordKind::Error)
            .then(|| Unfinished { class: text(record.error_type), error: text(record.error) });
        let (calls, prompts, stale, fresh) = (Vec::new(), Vec::new(), Vec::new(), HashSet::new());
        let (scope, how) = (Scope::One, How::Rerun);
        Ok(Self { state, runner, step, scope, dirty, edits, sets, end, fresh, calls, prompts, stale, how })
    }

    /// How far it goes.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// How it came about, if not by asking steps again.
    #[must_use]
    pub fn how(mut self, how: How) -> Self {
        self.how = how;
        self
    }

    /// A reply that lacks an expected key is taken all the same.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.runner.be_lenient();
        self
    }

    /// The step that comes next, by position.
    pub fn position(&self) -> usize {
        self.runner.position()
    }

    /// The state as it stands.
    pub fn values(&self) -> &Values {
        self.runner.state()
    }

    /// What to ask next; `None`: the end is reached. Steps that are not to be asked again are passed over.
    pub fn next_ask(&mut self) -> Result<Option<Ask>, Ended> {
        while self.position() < self.runner.steps() {
            let position = self.position();
            self.set_again(position);
            let reads_dirty = self.reads_dirty(position);
            if self.asks(position, reads_dirty) {
                return self.runner.next_ask();
            }
            self.keep(position, reads_dirty);
        }
        Ok(None)
    }

    fn asks(&self, position: usize, reads_dirty: bool) -> bool {
        match self.scope {
            _ if position == self.step => self.how == How::Rerun || self.how == How::Consensus,
            Scope::One => false,
            Scope::Stale => reads_dirty,
            Scope::FromHere => true,
        }
    }

    /// Sets what was set before a later step of the parent, unless a step that was asked has written it since.
    fn set_again(&mut self, position: usize) {
        if position <= self.step {
            return;
        }
        let (fresh, runner) = (&self.fresh, &mut self.runner);
        self.sets.retain(|set| {
            if set.put != Put::Override || set.step != position {
                return true;
            }
            let holds = !fresh.contains(&set.variable);
            if holds {
                runner.set(&set.variable, &set.value);
            }
            holds
        });
    }

    fn reads_dirty(&self, position: usize) -> bool {
        let reads = needs(self.runner.procedure(), position).unwrap_or_default();
        reads.iter().any(|name| self.dirty.contains(name))
    }

    /// The step keeps what was recorded of it.
    fn keep(&mut self, position: usize, is_stale: bool) {
        let writes: Vec<_> = self.state.writes(position);
        let writes: Vec<_> = writes.iter().filter_map(|entry| known(self.state, entry)).collect();
        for (name, _) in &writes {
            mark(&mut self.dirty, name.clone(), is_stale);
        }
        if is_stale {
            self.stale.push(position);
        }
        self.runner.pass(writes.iter().map(|(name, text)| (name, *text)));
    }

    /// Takes the reply to what was asked last: its JSON, which is merged as upstream merges it.
    pub fn take(&mut self, asked: &Ask, json: &[u8], mut executed: Executed) -> Result<(), Ended> {
        if executed.prompt != asked.request.prompt {
            self.prompts.push(asked.step);
        }
        let taken = self.runner.take(asked, json);
        match &taken {
            Ok(outputs) => {
                self.note_changes(asked.step, outputs);
                executed.outputs = Some(outputs.clone());
            }
            Err(ended) => executed.error = Some(stepscope_base::shown!("{ended}")),
        }
        self.calls.push(executed);
        taken.map(|_| ())
    }

    /// Keeps a call that gave nothing to go on with: a failed one, or one of several samples.
    pub fn note(&mut self, executed: Executed) {
        self.calls.push(executed);
    }

    fn note_changes(&mut self, step: usize, outputs: &[u8]) {
        let mut tape = Tape::default();
        let Some(outputs) = tape.parse(outputs) else { return };
        for member in outputs.members() {
            let name = member.name().into_owned();
            let recorded = self.state.variable(&name).and_then(|index| self.state.written(index, step));
            let recorded = recorded.and_then(|entry| entry.value);
            let is_same = recorded.is_some_and(|recorded| same_value(recorded, member.value));
            self.fresh.insert(name.clone());
            mark(&mut self.dirty, name, !is_same);
        }
    }

    /// What it would ask if every value came out differently.
    pub fn preview(&self, record: &Record<'a>) -> Preview {
        let (procedure, of) = (self.runner.procedure(), self.runner.steps());
        let later = match self.scope {
            Scope::One => Vec::new(),
            Scope::Stale => stale_from(procedure, self.state, self.step, self.dirty.clone()),
            Scope::FromHere => (self.step + 1..of).collect(),
        };
        let steps: Vec<usize> = std::iter::once(self.step).chain(later).collect();
        let bytes = |step: &usize| {
            let inputs = visible_inputs(procedure, self.state, *step).unwrap_or_default();
            let request = execution(procedure, *step, &inputs, AnswerShape::of(record));
            request.map_or(0, |request| request.prompt.bytes().len())
        };
        let tokens = steps.iter().map(bytes).sum::<usize>().div_ceil(4);
        Preview { steps, of, tokens }
    }

    /// The branch as it stands, as a fork. Where it ended early, the steps that are not to be asked keep what was recorded.
    pub fn finish(mut self, ended: Option<Ended>) -> Fork {
        let mut unrun = Vec::new();
        while ended.is_some() && self.position() < self.runner.steps() {
            let position = self.position();
            self.set_again(position);
            let reads_dirty = self.reads_dirty(position);
            if position == self.step || self.asks(position, reads_dirty) {
                for name in names_written(self.state, position) {
                    mark(&mut self.dirty, name, true);
                }
                self.runner.pass([]);
                unrun.push(position);
            } else {
                self.keep(position, reads_dirty);
            }
        }
        let asked: HashSet<usize> = self.calls.iter().map(|call| call.step).collect();
        let is_gone =
            |set: &Set| set.put == Put::Recomputed && (asked.contains(&set.step) || unrun.contains(&set.step));
        self.sets.retain(|set| !is_gone(set));
        let unfinished = self.end.take().filter(|_| ended.is_none()).and_then(|end| {
            let first = self.state.ended_at()?;
            let open = |step: &usize| self.state.has_run(*step) != Ran::Yes && !asked.contains(step);
            let last = (first..self.runner.steps()).find(open)?;
            // Where the step that failed was asked again, it is the later ones that did not run.
            let error = || Untrusted::new(shown!("not run from step {} on", last + 1).as_str().as_bytes()).into_owned();
            Some(if last == first { end } else { Unfinished { class: NOT_RUN.into(), error: error() } })
        });
        Fork {
            how: self.how,
            step: self.step,
            edits: self.edits,
            sets: self.sets,
            calls: self.calls,
            prompts: self.prompts,
            stale: self.stale,
            unrun,
            values: self.runner.state().clone(),
            ended,
            unfinished,
        }
    }
}

/// What no model gave: what the parent has of it, and the edits before a step in the place of what was set there.
fn taken_over(state: &State<'_>, step: usize, edits: &[(Untrusted<'static>, Vec<u8>)]) -> Vec<Set> {
    let is_edited =
        |set: &Set| set.put == Put::Override && set.step == step && edits.iter().any(|(name, _)| *name == set.variable);
    let own = state.sets().iter().map(|set| Set {
        variable: set.variable.to_owned(),
        put: set.put,
        step: set.step,
        value: set.value.raw().to_vec(),
        was: set.was.map(|was| was.raw().to_vec()),
    });
    let (replaced, mut sets): (Vec<Set>, Vec<Set>) = own.partition(is_edited);
    sets.extend(edits.iter().map(|(name, value)| {
        let earlier = replaced.iter().find(|set| set.variable == *name);
        let held = state.variable(name).and_then(|index| state.value_at(index, Moment::before(step)));
        let was = match earlier {
            Some(earlier) => earlier.was.clone(),
            None => held.and_then(|held| held.value).map(|value| value.raw().to_vec()),
        };
        Set { variable: name.clone(), put: Put::Override, step, value: value.clone(), was }
    }));
    sets
}

/// A variable's name and text at a moment, where they are known.
fn known<'a>(state: &State<'a>, entry: &Entry<'a>) -> Option<(Untrusted<'static>, &'a [u8])> {
    let value = entry.value.filter(|_| entry.badge != Badge::Missing)?;
    let name = state.variables().get(entry.variable)?.name.to_owned();
    Some((name, value.raw()))
}

/// Notes that a step wrote a variable. The question is shown as it was given, even if a step wrote over it.
fn mark(dirty: &mut HashSet<Untrusted<'static>>, name: Untrusted<'static>, is_dirty: bool) {
    if name == PROBLEM_TEXT {
        return;
    }
    if is_dirty {
        dirty.insert(name);
    } else {
        dirty.remove(&name);
    }
}

/// The same where other variables have another value too.
fn stale_from(
    procedure: &Procedure<'_>,
    state: &State<'_>,
    step: usize,
    mut dirty: HashSet<Untrusted<'static>>,
) -> Vec<usize> {
    let writes = |position| names_written(state, position);
    for name in writes(step) {
        mark(&mut dirty, name, true);
    }
    let mut stale = Vec::new();
    for position in step + 1..procedure.steps.len() {
        let reads = needs(procedure, position).unwrap_or_default();
        let is_stale = reads.iter().any(|name| dirty.contains(name));
        if is_stale {
            stale.push(position);
        }
        for name in writes(position) {
            mark(&mut dirty, name, is_stale);
        }
    }
    stale
}

fn names_written(state: &State<'_>, step: usize) -> Vec<Untrusted<'static>> {
    let names = state.writes(step).into_iter().filter_map(|entry| state.variables().get(entry.variable));
    names.map(|variable| variable.name.to_owned()).collect()
}

/// A fork without a model: every value that could be calculated exactly takes the place of the recorded one. `None`:
/// nothing could, or all of it is as recorded.
pub fn exact<'a>(
    record: &Record<'a>,
    procedure: &Procedure<'a>,
    state: &State<'a>,
    recomputed: &Recomputed,
) -> Option<Fork> {
    let calculated =
        |write: &&crate::arithmetic::recompute::Computed| write.basis == Basis::Plan && write.value.is_some();
    let differs = |write: &&crate::arithmetic::recompute::Computed| {
        write.recorded.is_none_or(|recorded| write.value.is_some_and(|value| !recorded.stands_for(value)))
    };
    let first = recomputed.writes.iter().filter(calculated).filter(differs).map(|write| write.step).min()?;
    let mut fork = Replay::new(record, Some(procedure), state, first, &[]).ok()?.how(How::Exact).finish(None);
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
    for write in recomputed.writes.iter().filter(calculated) {
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
    Some(fork)
}

#[cfg(test)]
mod tests;
