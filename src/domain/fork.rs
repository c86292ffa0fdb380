//! A fork: a recorded run, gone on from one of its steps with other values. Which steps are asked again, which keep what
//! was recorded, and which are stale follows from who writes and who reads what.
//!
//! `Branch` is the way on: it says what to ask next, takes what came, and ends as a `Fork`, which `written` turns
//! into a record.

use std::collections::HashSet;

use super::json::{Tape, Value};
use super::procedure::{FINAL_ANSWER, PROBLEM_TEXT, Procedure};
use super::prompt::{AnswerShape, execution, needs, visible_inputs};
use super::recompute::{Basis, Recomputed};
use super::record::Record;
use super::runner::{Ask, Ended, Runner, Values};
use super::state::{Badge, Entry, Moment, State, same_value};
use super::text::Untrusted;

pub mod course;
pub mod round;
pub mod written;

pub use course::{Course, Start};
pub use written::{Executed, run_record};

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

/// How a fork came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// Steps were asked again.
    Rerun,
    /// A step was asked several times, and the most frequent values were taken.
    Consensus,
    /// Values were edited, and nothing was asked.
    Edit,
    /// The procedure was executed exactly, without a model.
    Exact,
}

impl How {
    /// The word in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Consensus => "consensus",
            Self::Edit => "edit",
            Self::Exact => "exact",
        }
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

/// A finished branch.
#[derive(Clone, Debug)]
pub struct Fork {
    /// How it came about.
    pub how: How,
    /// The step at which it left its parent, by position.
    pub step: usize,
    /// Values that were edited before that step, as JSON texts.
    pub edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// Every call.
    pub calls: Vec<Executed>,
    /// Steps whose prompt was changed before it was sent, by position.
    pub prompts: Vec<usize>,
    /// Steps whose recorded values rest on what is no longer so, by position.
    pub stale: Vec<usize>,
    /// The state at the end.
    pub values: Values,
    /// Why it ended early.
    pub ended: Option<Ended>,
}

/// Why no branch can begin at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoBranch {
    /// The record has no procedure.
    #[error("the record has no procedure")]
    NoProcedure,
    /// There is no such step.
    #[error("there is no such step")]
    NoStep,
    /// Nothing says what the question was.
    #[error("the record does not say what the question was; give it as the value of problem_text")]
    NoQuestion,
}

/// The way on from a step.
#[derive(Clone, Debug)]
pub struct Branch<'v, 'a> {
    state: &'v State<'a>,
    runner: Runner<'a>,
    step: usize,
    scope: Scope,
    /// Variables whose value is another than the recorded one, or rests on such a value.
    dirty: HashSet<Untrusted<'static>>,
    edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    calls: Vec<Executed>,
    prompts: Vec<usize>,
    stale: Vec<usize>,
    how: How,
}

impl<'v, 'a> Branch<'v, 'a> {
    /// Stands before a step, with the state that the record gives it and these values in place of the recorded ones.
    pub fn new(
        record: &Record<'a>,
        procedure: Option<&Procedure<'a>>,
        state: &'v State<'a>,
        step: usize,
        edits: &[(Untrusted<'static>, Vec<u8>)],
    ) -> Result<Self, NoBranch> {
        let procedure = procedure.ok_or(NoBranch::NoProcedure)?;
        if step >= procedure.steps.len() {
            return Err(NoBranch::NoStep);
        }
        let mut values = Values::default();
        for entry in state.before(step) {
            if let Some((name, text)) = known(state, &entry) {
                values.set(&name, text);
            }
        }
        let question = edits.iter().find(|(name, _)| *name == PROBLEM_TEXT).map(|(_, text)| text.as_slice());
        let given = state.variable(&Untrusted::from(PROBLEM_TEXT)).and_then(|given| state.value_at(given, Moment(0)));
        let given = question.or(given.and_then(|given| given.value).map(Value::raw)).ok_or(NoBranch::NoQuestion)?;
        let overwritten = values.get(&Untrusted::from(PROBLEM_TEXT)).map(<[u8]>::to_vec);
        values.set(&Untrusted::from(PROBLEM_TEXT), given);
        let shape = AnswerShape::of(record);
        let mut runner = Runner::resume(procedure.clone(), shape, true, values, step).ok_or(NoBranch::NoQuestion)?;
        if let Some(text) = overwritten.filter(|_| question.is_none()) {
            runner.set(&Untrusted::from(PROBLEM_TEXT), &text);
        }
        for (name, text) in edits {
            runner.set(name, text);
        }
        let dirty = edits.iter().map(|(name, _)| name.clone()).collect();
        let edits = edits.to_vec();
        let (calls, prompts, stale) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { state, runner, step, scope: Scope::One, dirty, edits, calls, prompts, stale, how: How::Rerun })
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
            let reads_dirty = self.reads_dirty(position);
            let asks = match self.scope {
                _ if position == self.step => self.how == How::Rerun || self.how == How::Consensus,
                Scope::One => false,
                Scope::Stale => reads_dirty,
                Scope::FromHere => true,
            };
            if asks {
                return self.runner.next_ask();
            }
            self.keep(position, reads_dirty);
        }
        Ok(None)
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
            Ok(taken) => {
                self.note_changes(asked.step, &taken.outputs);
                executed.outputs = Some(taken.outputs.clone());
            }
            Err(ended) => executed.error = Some(crate::shown!("{ended}")),
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
            let recorded = self.state.variable(&name).and_then(|index| self.state.value_at(index, Moment::after(step)));
            let recorded = recorded.filter(|entry| entry.writer == Some(step)).and_then(|entry| entry.value);
            let is_same = recorded.is_some_and(|recorded| same_value(recorded, member.value));
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

    /// The branch as it stands, as a fork.
    pub fn finish(self, ended: Option<Ended>) -> Fork {
        let values = self.runner.state().clone();
        Fork {
            how: self.how,
            step: self.step,
            edits: self.edits,
            calls: self.calls,
            prompts: self.prompts,
            stale: self.stale,
            values,
            ended,
        }
    }
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

/// The later steps that read what a step writes, or what such a step writes, and so on.
pub fn stale_after(procedure: &Procedure<'_>, state: &State<'_>, step: usize) -> Vec<usize> {
    stale_from(procedure, state, step, HashSet::new())
}

/// The same where other variables have another value too.
fn stale_from(
    procedure: &Procedure<'_>,
    state: &State<'_>,
    step: usize,
    mut dirty: HashSet<Untrusted<'static>>,
) -> Vec<usize> {
    let writes = |position| {
        let names = state.writes(position).into_iter().filter_map(|entry| state.variables().get(entry.variable));
        names.map(|variable| variable.name.to_owned()).collect::<Vec<_>>()
    };
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

/// A fork without a model: every value that could be calculated exactly takes the place of the recorded one. `None`:
/// nothing could, or all of it is as recorded.
pub fn exact<'a>(
    record: &Record<'a>,
    procedure: &Procedure<'a>,
    state: &State<'a>,
    recomputed: &Recomputed,
) -> Option<Fork> {
    let calculated = |write: &&super::recompute::Computed| write.basis == Basis::Plan && write.value.is_some();
    let differs = |write: &&super::recompute::Computed| {
        write.recorded.is_none_or(|recorded| write.value.is_some_and(|value| !recorded.stands_for(value)))
    };
    let first = recomputed.writes.iter().filter(calculated).filter(differs).map(|write| write.step).min()?;
    let mut fork = Branch::new(record, Some(procedure), state, first, &[]).ok()?.how(How::Exact).finish(None);
    // The state at the end, with what was calculated in the place of what was recorded.
    let end = Moment(procedure.steps.len());
    for entry in state.at(end) {
        if let Some((name, text)) = known(state, &entry) {
            fork.values.set(&name, text);
        }
    }
    for write in recomputed.writes.iter().filter(calculated) {
        let (Some(variable), Some(value)) = (state.variables().get(write.variable), write.value) else { continue };
        if variable.name == FINAL_ANSWER {
            let numerical = Untrusted::from("final_answer_numerical");
            if fork.values.get(&numerical).is_some() {
                fork.values.set(&numerical, value.json().as_bytes());
            }
            fork.values.set(&variable.name, format!("\"{}\"", value.json()).as_bytes());
        } else {
            fork.values.set(&variable.name, value.json().as_bytes());
        }
    }
    Some(fork)
}

#[cfg(test)]
mod tests;
