//! A recorded run, replayed up to one of its steps and continued from there with other values. Which steps are asked
//! again, which keep what was recorded, and which are stale follows from who writes and who reads what.

use std::collections::HashSet;

use crate::fork::{Executed, Fork, Scope, Set, Unfinished};
use crate::prompt::{AnswerShape, Release, execution, read_by, visible_inputs};
use crate::runner::{Ask, Ended, Runner, Values};
use stepscope_base::json::same::same_value;
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Untrusted;
use stepscope_judge::case::CaseView;
use stepscope_record::fork_origin::How;
use stepscope_record::procedure::{PROBLEM_TEXT, Procedure};
use stepscope_record::state::{Badge, Entry, Moment, NOT_RUN, Ran, State};
use stepscope_record::trace::Put;
use stepscope_record::{Record, RecordKind};

/// Reason why a run cannot be continued from a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReplay {
    /// The record has no procedure.
    #[error("the record has no procedure")]
    NoProcedure,
    /// There is no such step.
    #[error("no such step")]
    NoStep,
    /// The record, or its procedure alone, holds more than is read.
    #[error("the record is too large to run: not all of it is read")]
    TooLarge,
    /// The record does not say what the question was.
    #[error("the record has no question; set problem_text")]
    NoQuestion,
}

/// Preview of a re-run, before anything is sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preview {
    /// The steps that would be asked, by position.
    pub steps: Vec<usize>,
    /// Number of steps of the procedure.
    pub of: usize,
    /// Estimated number of tokens of their prompts: a fourth of their bytes.
    pub tokens: usize,
}

/// Start of a replay, and how far and in what way it continues.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RerunStart {
    /// The step, by position.
    pub step: usize,
    /// Values in place of the recorded ones, as JSON texts.
    pub edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// Extent of the re-run.
    pub scope: Scope,
    /// Way in which the fork is made.
    pub how: How,
    /// Number of times that the first step is asked; 0 counts as 1.
    pub samples: usize,
    /// The prompt in place of the first step's own.
    pub prompt: Option<Untrusted<'static>>,
    /// A reply that lacks an expected key is taken all the same.
    pub is_lenient: bool,
    /// The release as which it ends.
    pub release: Release,
}

/// A recorded run on its way from one of its steps: says what to ask next, takes what came, and ends as a [`Fork`].
#[derive(Clone, Debug)]
pub struct Replay<'v, 'a> {
    state: &'v State<'a>,
    runner: Runner<'a>,
    start: RerunStart,
    /// Variables whose value is another than the recorded one, or rests on such a value.
    dirty: HashSet<Untrusted<'static>>,
    sets: Vec<Set>,
    /// End of its parent, if that was early.
    end: Option<Unfinished>,
    /// Variables that a step which was asked wrote.
    fresh: HashSet<Untrusted<'static>>,
    calls: Vec<Executed>,
    prompts: Vec<usize>,
    stale: Vec<usize>,
}

impl<'v, 'a> Replay<'v, 'a> {
    /// Creates a replay before a step, with the recorded state and the edited values in place of the recorded ones.
    pub fn new(
        record: &Record<'a>,
        procedure: Option<&Procedure<'a>>,
        state: &'v State<'a>,
        start: &RerunStart,
    ) -> Result<Self, NoReplay> {
        // That of a chain of thought was made of its texts: no model was asked by it.
        let procedure = procedure.filter(|_| record.chain.is_none()).ok_or(NoReplay::NoProcedure)?;
        if !procedure.is_whole() {
            return Err(NoReplay::TooLarge);
        }
        let (step, edits) = (start.step, &start.edits);
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
        let (shape, is_strict) = (AnswerShape::of(record), !start.is_lenient);
        let runner = Runner::resume(procedure.clone(), shape, is_strict, values, step);
        let mut runner = runner.ok_or(NoReplay::NoQuestion)?;
        runner.release = start.release;
        if let Some(text) = overwritten.filter(|_| question.is_none()) {
            runner.set(&Untrusted::from(PROBLEM_TEXT), &text);
        }
        for (name, text) in edits {
            runner.set(name, text);
        }
        let text = |value: Option<Value<'a>>| Value::text_of(value).into_owned();
        let end = (record.kind == RecordKind::Error)
            .then(|| Unfinished { class: text(record.error_type), error: text(record.error) });
        Ok(Self {
            state,
            runner,
            start: start.clone(),
            dirty: edits.iter().map(|(name, _)| name.clone()).collect(),
            sets: taken_over(state, step, edits),
            end,
            fresh: HashSet::new(),
            calls: Vec::new(),
            prompts: Vec::new(),
            stale: (0..step).filter(|step| state.is_stale(*step)).collect(),
        })
    }

    /// Creates a replay of a record that was read.
    pub fn of(case: &'v CaseView<'a>, start: &RerunStart) -> Result<Self, NoReplay> {
        let record = case.record.as_ref().ok_or(NoReplay::NoProcedure)?;
        if !case.excess().is_empty() {
            return Err(NoReplay::TooLarge);
        }
        Self::new(record, case.procedure(), case.state(), start)
    }

    /// Returns the step that comes next, by position.
    pub fn position(&self) -> usize {
        self.runner.position()
    }

    /// Returns the next question; `None`: the end is reached. Steps that are not to be asked again are passed over.
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
        match self.start.scope {
            _ if position == self.start.step => matches!(self.start.how, How::Rerun | How::Consensus),
            Scope::One => false,
            Scope::Stale => reads_dirty,
            Scope::FromHere => true,
        }
    }

    /// Sets what was set before a later step of the parent, unless a step that was asked has written it since.
    fn set_again(&mut self, position: usize) {
        if position <= self.start.step {
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

    /// Tells whether a step reads what changed, here or in the fork that this one is made of.
    fn reads_dirty(&self, position: usize) -> bool {
        let reads = read_by(self.runner.procedure(), position);
        self.state.is_stale(position) || reads.iter().any(|name| self.dirty.contains(name))
    }

    /// Keeps what was recorded of the step.
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
        if executed.prompt != asked.request.prompt && !self.prompts.contains(&asked.step) {
            self.prompts.push(asked.step);
        }
        let taken = self.runner.take(asked, json);
        match &taken {
            Ok(outputs) => {
                self.note_changes(asked.step, outputs);
                executed.outputs = Some(outputs.clone());
            }
            Err(ended) => executed.error = Some(ended.recorded()),
        }
        self.calls.push(executed);
        taken.map(|_| ())
    }

    /// Sets a value before the step that is asked next.
    pub(crate) fn set(&mut self, name: &Untrusted<'static>, value: &[u8]) {
        let step = self.position();
        let was = self.runner.state().get(name).map(<[u8]>::to_vec);
        self.runner.set(name, value);
        if *name == PROBLEM_TEXT {
            self.runner.ask_otherwise(value);
        }
        self.dirty.insert(name.clone());
        // What a step wrote before is not what it is from here on.
        self.fresh.remove(name);
        let same = |set: &&mut Set| set.put == Put::Override && set.step == step && set.variable == *name;
        match self.sets.iter_mut().find(same) {
            Some(set) => set.value = value.to_vec(),
            None => {
                self.sets.push(Set { variable: name.clone(), put: Put::Override, step, value: value.to_vec(), was });
            }
        }
        self.start.edits.retain(|(other, _)| other != name);
        self.start.edits.push((name.clone(), value.to_vec()));
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

    /// Previews what it would ask if every value came out differently.
    pub fn preview(&self, record: &Record<'a>) -> Preview {
        let (procedure, of) = (self.runner.procedure(), self.runner.steps());
        let later = match self.start.scope {
            Scope::One => Vec::new(),
            Scope::Stale => stale_from(procedure, self.state, self.start.step, self.dirty.clone()),
            Scope::FromHere => (self.start.step + 1..of).collect(),
        };
        let steps: Vec<usize> = std::iter::once(self.start.step).chain(later).collect();
        let bytes = |step: &usize| {
            let inputs = visible_inputs(procedure, self.state, *step).unwrap_or_default();
            let request = execution(procedure, *step, &inputs, AnswerShape::of(record));
            request.map_or(0, |request| request.prompt.bytes().len())
        };
        let tokens = steps.iter().map(bytes).sum::<usize>().div_ceil(4);
        Preview { steps, of, tokens }
    }

    /// Ends the replay here, as a fork. Where it ended early, the steps that are not to be asked keep what was
    /// recorded.
    pub fn finish(mut self, ended: Option<Ended>) -> Fork {
        let mut unrun = Vec::new();
        while ended.is_some() && self.position() < self.runner.steps() {
            let position = self.position();
            self.set_again(position);
            let reads_dirty = self.reads_dirty(position);
            if position == self.start.step || self.asks(position, reads_dirty) {
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
            let error =
                || Untrusted::new(shown!("not run: step {} and later", last + 1).as_str().as_bytes()).into_owned();
            Some(if last == first { end } else { Unfinished { class: NOT_RUN.into(), error: error() } })
        });
        let values = self.runner.state().clone();
        let written = asked.iter().flat_map(|step| names_written(self.state, *step));
        let gone = written.filter(|name| values.get(name).is_none()).collect();
        Fork {
            how: self.start.how,
            step: self.start.step,
            edits: self.start.edits,
            sets: self.sets,
            calls: self.calls,
            prompts: self.prompts,
            stale: self.stale,
            unrun,
            gone,
            values,
            ended,
            unfinished,
        }
    }
}

/// Collects the values that no model gave: those of the parent, with the edits before a step in place of what was set
/// there.
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

/// Returns a variable's name and text at a moment, where they are known.
pub(crate) fn known<'a>(state: &State<'a>, entry: &Entry<'a>) -> Option<(Untrusted<'static>, &'a [u8])> {
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

/// Finds the steps that become stale when a step is asked again, where other variables have another value too.
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
        let reads = read_by(procedure, position);
        let is_stale = state.is_stale(position) || reads.iter().any(|name| dirty.contains(name));
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

#[cfg(test)]
mod tests;
