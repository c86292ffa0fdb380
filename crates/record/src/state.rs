//! The global state over time: what every step could read and what it wrote.
//!
//! Records keep only the final state, so the states between follow from procedure and final state: a value belongs to
//! the step that writes its name. Where a run trace recorded the steps, it is believed instead. The values of a fork are
//! the fork's: what was set or calculated for it, and its final state, win over the calls of its parent. Every value
//! carries a `Badge` that says which of these it is, or why there is none.

use foldhash::{HashMap, HashSet};

use crate::fork_origin::stale_of;
use crate::procedure::last_step::{LastStep, last_step};
use crate::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Procedure, Step};
use crate::trace::{Put, RecordedSet, TraceStep, by_position, failing_id, sets};
use crate::{AnswerSchema, Record, RecordKind};
use stepscope_base::json::same::same_value;
use stepscope_base::json::{Kind, Member, Pointer, Value};
use stepscope_base::text::Untrusted;

/// Keys of the published answer schemas: upstream's last step writes them, declared or not.
pub const ANSWER_KEYS: [&str; 6] =
    [FINAL_ANSWER, "final_answer_numerical", "final_answer_bool", "confidence", "units", "choice_rationale"];

/// The error class of a fork of a run that ended early, where the steps after its end were not run.
pub const NOT_RUN: &str = "NotRun";

/// Maximum number of variables of a final state that are read. Real ones have a few dozen.
pub const MAX_VARIABLES: usize = 50_000;
/// Maximum number of recorded inputs and outputs that are read, those of all calls together.
pub const MAX_SHOWN: usize = 50_000;

/// Maximum number of writings of the answer schema's keys that are read, those of all steps run with it together.
const MAX_ANSWERS: usize = 120_000;

/// Number of steps that have run: 0 is the state before the first step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Moment(pub usize);

impl Moment {
    /// Returns the moment before the step at a position.
    pub const fn before(step: usize) -> Self {
        Self(step)
    }

    /// Returns the moment after the step at a position.
    pub const fn after(step: usize) -> Self {
        Self(step.saturating_add(1))
    }

    /// Tells whether what holds from now on was set with a step: after it, or before it if it is the first.
    pub fn is_with(self, step: usize) -> bool {
        self == Self::after(step) || (step == 0 && self == Self::before(0))
    }
}

stepscope_base::words! {
    /// Provenance of a value.
    pub enum Badge {
        /// Recorded for this very moment.
        Recorded = "recorded" => "recorded for this step",
        /// Found in the final state, where one step alone writes its name.
        Reconstructed = "reconstructed" => "inferred from the final state: one step alone writes it",
        /// Calculated exactly, in place of the step's value.
        Recomputed = "recomputed" => "recomputed for this fork, replaces the model's value",
        /// A person set it.
        Override = "override" => "set by a person for this fork",
        /// Several steps write the name: only the final value is known, and who wrote it is not sure.
        Ambiguous = "ambiguous" => "several steps write it: only the final value is known",
        /// The final state lacks it, or no step before this one writes it.
        Missing = "missing" => "never written: not in the final state",
        /// The record keeps no state.
        Unavailable = "unavailable" => "this record has no state",
        /// The run ended before the step that writes it.
        NotRun = "not run" => "the run ended before the step that writes it",
    }
}

impl Badge {
    /// Returns the short form, shown next to a value.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Recorded => "rec",
            Self::Reconstructed => "inf",
            Self::Recomputed => "≙",
            Self::Override => "✎",
            Self::Ambiguous => "amb",
            Self::Missing => "mis",
            Self::Unavailable => "n/a",
            Self::NotRun => "–",
        }
    }

    /// Returns the word for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Reconstructed => "inferred",
            other => other.word(),
        }
    }

    /// Tells whether no model gave the value.
    pub const fn is_put(self) -> bool {
        matches!(self, Self::Recomputed | Self::Override)
    }
}

impl From<Put> for Badge {
    fn from(put: Put) -> Self {
        match put {
            Put::Override => Self::Override,
            Put::Recomputed => Self::Recomputed,
        }
    }
}

/// State of a step after the run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ran {
    /// The step ran, or nothing in the record says otherwise.
    #[default]
    Yes,
    /// The run ended in it.
    Failed,
    /// The run ended before it, or never began.
    No,
    /// The run ended with an error, and the record does not say where.
    Unknown,
}

/// Origin of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableOrigin {
    /// `problem_text`: there before the first step.
    Given,
    /// An output that a step declares.
    Declared,
    /// Written by upstream's last step because the answer schema asks for it.
    AnswerSchema,
    /// Present in the state, but declared by no step.
    Undeclared,
    /// Read by a step, but written by nothing.
    Unproduced,
}

/// Location of a value in the record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueSource {
    /// No location in the record.
    Nowhere,
    /// The final state.
    FinalState,
    /// The record's `question`.
    Question,
    /// Outputs of this entry of the trace.
    Outputs(usize),
    /// Inputs of this entry of the trace.
    Inputs(usize),
    /// Entry of [`State::sets`].
    Set(usize),
    /// Value that was replaced, in the same entry.
    Was(usize),
}

/// One writing of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// First moment at which it holds.
    pub from: Moment,
    /// The step that wrote it; `None`: no step did, it was given or set.
    pub step: Option<usize>,
    /// The value, where it is known.
    pub value: Option<Value<'a>>,
    /// Provenance of the value.
    pub badge: Badge,
    /// Location of the value in the record.
    pub source: ValueSource,
}

impl Write<'_> {
    /// Makes the writing of a step that nothing is known of yet.
    fn unknown(step: usize) -> Self {
        let (badge, source) = (Badge::Unavailable, ValueSource::Nowhere);
        Self { from: Moment::after(step), step: Some(step), value: None, badge, source }
    }
}

/// One variable of the global state, over the whole run.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Name of the variable.
    pub name: Untrusted<'a>,
    /// Origin of the variable.
    pub origin: VariableOrigin,
    /// First declaration as an output (else as an input): name and description.
    pub field: Option<Field<'a>>,
    /// Writings of the variable, in order of time.
    pub writes: Vec<Write<'a>>,
    /// The steps that read it, ascending.
    pub readers: Vec<usize>,
    /// Value in the final state.
    pub final_value: Option<Value<'a>>,
    /// Value that each reader was shown, where the trace has it; parallel to `readers`.
    shown: Vec<Option<(usize, Value<'a>)>>,
}

impl<'a> Variable<'a> {
    /// Lists the steps that write it, ascending.
    pub fn writers(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.writes.iter().filter_map(|write| write.step)
    }

    /// Finds the writing that holds at a moment.
    pub fn write_at(&self, moment: Moment) -> Option<&Write<'a>> {
        let after = self.writes.partition_point(|write| write.from <= moment);
        self.writes.get(after.checked_sub(1)?)
    }

    /// Returns the moment until which the n-th writing holds: a step that reads then or later sees another.
    fn until(&self, n: usize) -> usize {
        self.writes.get(n + 1).map_or(usize::MAX, |next| next.from.0)
    }
}

/// A variable's value at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Index of the variable.
    pub variable: usize,
    /// The value, where it is known.
    pub value: Option<Value<'a>>,
    /// Provenance of the value.
    pub badge: Badge,
    /// The step that wrote it; `None`: it was given, or no step did.
    pub writer: Option<usize>,
    /// Location of the value in the record.
    pub source: ValueSource,
}

impl<'a> Entry<'a> {
    const fn new(variable: usize, write: &Write<'a>) -> Self {
        Self { variable, value: write.value, badge: write.badge, writer: write.step, source: write.source }
    }
}

/// Change of a variable between two moments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableChange {
    /// The variable was not there before.
    Appeared,
    /// The variable holds another value.
    Changed,
    /// The variable was written again with the same value.
    Rewritten,
    /// The variable was written again, and one of the two values is not known.
    Unknown,
}

/// One line of [`State::difference`].
#[derive(Clone, Copy, Debug)]
pub struct StateChange<'a> {
    /// Index of the variable.
    pub variable: usize,
    /// Change of the variable.
    pub change: VariableChange,
    /// Value at the earlier moment.
    pub before: Option<Entry<'a>>,
    /// Value at the later moment.
    pub after: Entry<'a>,
}

/// Steps and variables that can influence each other, by position and index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Influence {
    /// One flag a variable.
    pub variables: Vec<bool>,
    /// One flag a step.
    pub steps: Vec<bool>,
}

impl Influence {
    /// Tells whether a variable belongs to it.
    pub fn has_variable(&self, variable: usize) -> bool {
        self.variables.get(variable).copied().unwrap_or(false)
    }
}

/// Graph of the steps that write and read each variable, by index, without the values: it outlives the record's text.
#[derive(Clone, Debug, Default)]
pub struct Web {
    /// First moment of each writing of a variable, and the step that wrote it.
    writes: Vec<Vec<(Moment, Option<usize>)>>,
    /// The variables that each step reads.
    reads: Vec<Vec<usize>>,
}

impl Web {
    /// Finds what can influence a variable: the steps that write it, what those read as it was then, and so on back.
    pub fn ancestors(&self, variable: usize) -> Influence {
        let mut found = Influence { variables: vec![false; self.writes.len()], steps: vec![false; self.reads.len()] };
        let mut todo = Vec::new();
        found.mark_variable(variable);
        for step in self.writes.get(variable).into_iter().flatten().filter_map(|(_, step)| *step) {
            found.mark_step(step, &mut todo);
        }
        while let Some(step) = todo.pop() {
            for &read in self.reads.get(step).into_iter().flatten() {
                found.mark_variable(read);
                let writes = &self.writes[read];
                let held = writes.partition_point(|(from, _)| *from <= Moment::before(step)).checked_sub(1);
                if let Some((_, Some(writer))) = held.and_then(|held| writes.get(held)) {
                    found.mark_step(*writer, &mut todo);
                }
            }
        }
        found
    }
}

/// Variables that a step reads and writes, by index.
#[derive(Clone, Debug, Default)]
struct Links {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

/// The global state of one run, or of a procedure that was not run.
#[derive(Clone, Debug, Default)]
pub struct State<'a> {
    variables: Vec<Variable<'a>>,
    by_name: HashMap<Untrusted<'a>, usize>,
    steps: Vec<Links>,
    calls: Vec<Option<TraceStep<'a>>>,
    last: LastStep,
    ran: Vec<Ran>,
    /// Way in which the fork was made, in its word; `None`: it is no fork.
    fork: Option<Untrusted<'a>>,
    /// Steps of a fork that kept their values though what they read changed.
    stale: HashSet<usize>,
    sets: Vec<RecordedSet<'a>>,
}

impl<'a> State<'a> {
    /// Reconstructs the state of a record. A baseline ran no step, even if it comes with a procedure.
    pub fn of(record: &Record<'a>, procedure: Option<&Procedure<'a>>) -> Self {
        let procedure = procedure.filter(|_| record.kind != RecordKind::Baseline);
        let state = record.state.filter(|state| state.kind() == Kind::Object);
        let final_state = state.map_or_else(Vec::new, |state| state.first_entries(MAX_VARIABLES));
        let mut built = Self {
            calls: by_position(record, procedure.map(|procedure| procedure.steps.len())),
            last: procedure.map(|procedure| last_step(&procedure.steps)).unwrap_or_default(),
            fork: record.trace_fork.map(|fork| Value::text_of(fork.get("how"))),
            stale: record.trace_fork.map(stale_of).into_iter().flatten().collect(),
            sets: sets(record),
            ..Self::default()
        };
        if procedure.is_some() || record.question.is_some() || state.is_some() || !built.calls.is_empty() {
            built.give_problem_text();
        }
        built.link(procedure);
        if state.is_some() {
            built.write_answer_keys(record, &final_state);
        }
        built.put_sets();
        built.ran = built.ran(record, procedure, &final_state);
        for member in &final_state {
            built.take_final(member.name(), member.value);
        }
        built.settle(record.question, state.is_some(), record.chain.is_some());
        built
    }

    /// Puts in what was set or calculated for a fork.
    fn put_sets(&mut self) {
        let (sets, steps) = (std::mem::take(&mut self.sets), self.steps.len());
        for (n, set) in sets.iter().enumerate().filter(|(_, set)| set.step < steps) {
            let (badge, source, value) = (set.put.into(), ValueSource::Set(n), Some(set.value));
            if set.put == Put::Recomputed {
                self.write_late(&set.variable, &[set.step]);
            }
            let index = self.intern(set.variable.clone(), None);
            let Some(variable) = self.variables.get_mut(index) else { continue };
            if set.put == Put::Recomputed {
                let own = variable.writes.iter_mut().find(|write| write.step == Some(set.step));
                if let Some(write) = own {
                    (write.value, write.badge, write.source) = (value, badge, source);
                }
                continue;
            }
            let from = Moment::before(set.step);
            let at = variable.writes.partition_point(|write| write.from <= from);
            let before = at.checked_sub(1).and_then(|before| variable.writes.get_mut(before));
            if let (Some(before), Some(was)) = (before.filter(|before| before.value.is_none()), set.was) {
                (before.value, before.badge, before.source) = (Some(was), Badge::Reconstructed, ValueSource::Was(n));
            }
            variable.writes.insert(at, Write { from, step: None, value, badge, source });
            if variable.origin == VariableOrigin::Unproduced {
                variable.origin = VariableOrigin::Undeclared;
            }
        }
        self.sets = sets;
    }

    /// Determines which steps ran: of a run that ended early, those before the step in which it ended.
    fn ran(&self, record: &Record<'a>, procedure: Option<&Procedure<'a>>, final_state: &[Member<'a>]) -> Vec<Ran> {
        let present = |value: Option<Value<'_>>| value.is_some_and(|value| !value.is_null());
        let count = self.steps.len();
        let failed = |step: usize| self.call(step).is_some_and(TraceStep::is_failed);
        let crashed = record.kind == RecordKind::Error;
        let ended = crashed || (0..count).any(failed);
        let has_state = record.state.is_some_and(|state| state.kind() == Kind::Object);
        let has_result =
            has_state || present(record.pred_answer) || present(record.pred_num) || record.correct.is_some();
        if matches!(record.kind, RecordKind::Procedure | RecordKind::Baseline) || (has_result && !ended) {
            return vec![Ran::Yes; count];
        }
        let left: HashSet<Untrusted<'_>> = final_state.iter().map(Member::name).collect();
        let wrote = |step: usize| {
            if let Some(call) = self.call(step) {
                return !call.is_failed();
            }
            let mut writes = self.steps[step].writes.iter();
            writes.any(|&index| left.contains(&self.variables[index].name))
        };
        let named = || {
            let error = record.error.filter(|_| crashed)?.string()?;
            let id = failing_id(error.utf8()?)?;
            let is_it = |step: &Step<'_>| step.id.is_some_and(|given| given.raw() == id.as_bytes());
            procedure?.steps.iter().position(is_it)
        };
        // The call that gave nothing may not have been recorded: then it is the one after the last that gave something.
        let after_last =
            || (0..count).rev().find(|step| wrote(*step)).map(|step| step + 1).filter(|step| *step < count);
        let failing = (0..count).find(|step| failed(*step)).or_else(named);
        let was_stopped = record.error_type.is_some_and(|class| class.is_string(NOT_RUN));
        let failing = failing.or_else(|| after_last().filter(|_| crashed && !was_stopped));
        let ran = |step: usize| match failing {
            Some(failing) if step < failing => Ran::Yes,
            // A trace that names its steps may continue after one that failed, and fail again.
            Some(failing) if step == failing || failed(step) => Ran::Failed,
            _ if wrote(step) => Ran::Yes,
            None if crashed && !was_stopped => Ran::Unknown,
            _ => Ran::No,
        };
        (0..count).map(ran).collect()
    }

    fn give_problem_text(&mut self) {
        let given = Write { from: Moment(0), step: None, ..Write::unknown(0) };
        let variable = self.intern(Untrusted::from(PROBLEM_TEXT), None);
        if let Some(variable) = self.variables.get_mut(variable) {
            variable.origin = VariableOrigin::Given;
            variable.writes.push(given);
        }
    }

    fn link(&mut self, procedure: Option<&Procedure<'a>>) {
        let calls = std::mem::take(&mut self.calls);
        let mut room = MAX_SHOWN;
        for (position, call) in calls.iter().enumerate() {
            self.steps.push(Links::default());
            let step = procedure.and_then(|procedure| procedure.steps.get(position));
            for field in step.iter().flat_map(|step| &step.inputs) {
                self.read(position, field.name_text(), Some(*field), None);
            }
            if let Some((call, inputs)) = call.as_ref().and_then(|call| Some((call, call.inputs?))) {
                for member in first_entries(inputs, &mut room) {
                    self.read(position, Some(member.name()), None, Some((call.entry, member.value)));
                }
            }
            for field in step.iter().flat_map(|step| &step.outputs) {
                self.write(position, field.name_text(), Ok(*field), None);
            }
            let undeclared = match procedure {
                None => VariableOrigin::Declared,
                Some(_) if self.last.contains(position) => VariableOrigin::AnswerSchema,
                Some(_) => VariableOrigin::Undeclared,
            };
            if let Some((call, outputs)) = call.as_ref().and_then(|call| Some((call, call.outputs?))) {
                for member in first_entries(outputs, &mut room) {
                    self.write(position, Some(member.name()), Err(undeclared), Some((call.entry, member.value)));
                }
            }
        }
        self.calls = calls;
    }

    fn intern(&mut self, name: Untrusted<'a>, field: Option<Field<'a>>) -> usize {
        let next = self.variables.len();
        let index = *self.by_name.entry(name.clone()).or_insert(next);
        if index == next {
            self.variables.push(Variable {
                name,
                origin: VariableOrigin::Unproduced,
                field,
                writes: Vec::new(),
                readers: Vec::new(),
                final_value: None,
                shown: Vec::new(),
            });
        }
        index
    }

    fn read(
        &mut self,
        step: usize,
        name: Option<Untrusted<'a>>,
        field: Option<Field<'a>>,
        shown: Option<(usize, Value<'a>)>,
    ) {
        let Some(name) = name else { return };
        let index = self.intern(name, field);
        let Some(variable) = self.variables.get_mut(index) else { return };
        if variable.readers.last() != Some(&step) {
            variable.readers.push(step);
            variable.shown.push(None);
            if let Some(links) = self.steps.get_mut(step) {
                links.reads.push(index);
            }
        }
        if let Some(slot) = variable.shown.last_mut() {
            *slot = shown.or(*slot);
        }
    }

    fn write(
        &mut self,
        step: usize,
        name: Option<Untrusted<'a>>,
        declared: Result<Field<'a>, VariableOrigin>,
        recorded: Option<(usize, Value<'a>)>,
    ) {
        let Some(name) = name else { return };
        let index = self.intern(name, declared.ok());
        let Some(variable) = self.variables.get_mut(index) else { return };
        if variable.writers().next_back() != Some(step) {
            if variable.origin == VariableOrigin::Unproduced {
                variable.origin = declared.err().unwrap_or(VariableOrigin::Declared);
                variable.field = declared.ok().or(variable.field);
            }
            variable.writes.push(Write::unknown(step));
            note_write(&mut self.steps, step, index);
        }
        if let (Some((entry, value)), Some(write)) = (recorded, variable.writes.last_mut()) {
            write.value = Some(value);
            write.badge = Badge::Recorded;
            write.source = ValueSource::Outputs(entry);
        }
    }

    /// Gives upstream's last step the answer schema's keys, whatever it declares.
    fn write_answer_keys(&mut self, record: &Record<'a>, final_state: &[Member<'a>]) {
        let most = answer_keys(&self.last);
        let own: Option<HashSet<Untrusted<'_>>> =
            own_keys(record).map(|own| own.members().take(most).map(|member| member.name()).collect());
        let known: &[&str] = record.answer_schema.map_or(&[], schema_keys);
        let unrecorded = |&step: &usize| {
            self.calls.get(step).is_none_or(|call| call.as_ref().is_none_or(|call| call.outputs.is_none()))
        };
        let last: Vec<usize> = self.last.positions.iter().copied().filter(unrecorded).collect();
        if last.is_empty() {
            return;
        }
        for name in final_state.iter().map(Member::name) {
            let declared = self.by_name.get(&name).and_then(|&index| self.variables.get(index));
            let asked = match &own {
                Some(properties) => name.utf8().is_some() && properties.contains(&name),
                None if declared.is_some() => known.iter().any(|key| name == *key),
                None => ANSWER_KEYS.iter().any(|key| name == *key),
            };
            if asked {
                self.write_late(&name, &last);
            }
        }
    }

    /// Adds a writing by each of some steps, in its place in time.
    fn write_late(&mut self, name: &Untrusted<'a>, steps: &[usize]) {
        let index = self.intern(name.clone(), None);
        let Some(variable) = self.variables.get_mut(index) else { return };
        if variable.origin == VariableOrigin::Unproduced {
            variable.origin = VariableOrigin::AnswerSchema;
        }
        for &step in steps {
            let at = variable.writes.partition_point(|write| write.from < Moment::after(step));
            if variable.writes.get(at).is_some_and(|write| write.step == Some(step)) {
                continue;
            }
            variable.writes.insert(at, Write::unknown(step));
            note_write(&mut self.steps, step, index);
        }
    }

    fn take_final(&mut self, name: Untrusted<'a>, value: Value<'a>) {
        let index = self.intern(name, None);
        let steps = self.steps.len();
        let Some(variable) = self.variables.get_mut(index) else { return };
        variable.final_value = Some(value);
        if !variable.writes.is_empty() {
            return;
        }
        variable.origin = VariableOrigin::Undeclared;
        // A step read it, so it was there from the start; else nobody knows when it came.
        let from = Moment(if variable.readers.is_empty() { steps } else { 0 });
        let source = ValueSource::FinalState;
        variable.writes.push(Write { from, step: None, value: Some(value), badge: Badge::Reconstructed, source });
    }

    /// Gives every writing its value and badge. `stated`: the step itself says its values.
    fn settle(&mut self, question: Option<Value<'a>>, has_state: bool, stated: bool) {
        for variable in &mut self.variables {
            if variable.origin == VariableOrigin::Given {
                settle_given(variable, question);
            }
            let ran = |write: &Write<'_>| write.step.map_or(Ran::Yes, |step| self.ran[step]);
            for n in 0..variable.writes.len() {
                // A step that failed wrote nothing, whatever a later one was shown in another run.
                if variable.writes.get(n).is_some_and(|write| ran(write) == Ran::Yes) {
                    settle_from_readers(variable, n);
                }
            }
            if let (Some(how), Some(value)) = (&self.fork, variable.final_value) {
                settle_fork(variable, value, *how == "exact");
            }
            let open = variable.writes.iter().filter(|write| write.value.is_none()).count();
            let last = variable.writes.len().saturating_sub(1);
            let final_value = variable.final_value;
            for (n, write) in variable.writes.iter_mut().enumerate().filter(|(_, write)| write.value.is_none()) {
                write.badge = match final_value {
                    _ if ran(write) == Ran::No => Badge::NotRun,
                    _ if !has_state => Badge::Unavailable,
                    _ if ran(write) == Ran::Failed => Badge::Missing,
                    None => Badge::Missing,
                    Some(_) if stated => Badge::Recorded,
                    Some(_) if open == 1 && n == last => Badge::Reconstructed,
                    Some(_) => Badge::Ambiguous,
                };
                if n == last && final_value.is_some() && ran(write) == Ran::Yes {
                    write.value = final_value;
                    write.source = ValueSource::FinalState;
                }
            }
        }
    }

    /// Returns every variable, in order of first appearance.
    pub fn variables(&self) -> &[Variable<'a>] {
        &self.variables
    }

    /// Finds the variable of a name.
    pub fn variable(&self, name: &Untrusted<'_>) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Counts the steps.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// Returns the recorded call of a step.
    pub fn call(&self, step: usize) -> Option<&TraceStep<'a>> {
        self.calls.get(step)?.as_ref()
    }

    /// Tells whether a step ran.
    pub fn has_run(&self, step: usize) -> Ran {
        self.ran.get(step).copied().unwrap_or_default()
    }

    /// Tells whether a step of a fork kept its values though what it reads was changed: they are out of date.
    pub fn is_stale(&self, step: usize) -> bool {
        self.stale.contains(&step)
    }

    /// Finds the step in which the run ended early, or the first that it did not come to, as far as is known.
    pub fn ended_at(&self) -> Option<usize> {
        let first = |wanted: Ran| self.ran.iter().position(|ran| *ran == wanted);
        first(Ran::Failed).or_else(|| first(Ran::No)).or_else(|| first(Ran::Unknown))
    }

    /// Returns the values that were set or calculated for a fork, its own and those taken over from its parent.
    pub fn sets(&self) -> &[RecordedSet<'a>] {
        &self.sets
    }

    /// Finds one of them as a value of its variable.
    pub fn set_entry(&self, n: usize) -> Option<Entry<'a>> {
        let set = self.sets.get(n)?;
        let index = self.variable(&set.variable)?;
        let is_it = |write: &&Write<'_>| write.source == ValueSource::Set(n);
        Some(Entry::new(index, self.variables.get(index)?.writes.iter().find(is_it)?))
    }

    /// Returns upstream's last step.
    pub fn last_step(&self) -> &LastStep {
        &self.last
    }

    /// Finds a variable's value at a moment; `None`: it is not written yet.
    pub fn value_at(&self, variable: usize, moment: Moment) -> Option<Entry<'a>> {
        let write = self.variables.get(variable)?.write_at(moment)?;
        Some(Entry::new(variable, write))
    }

    /// Lists every variable that is written by then, in order of first appearance.
    pub fn at(&self, moment: Moment) -> Vec<Entry<'a>> {
        (0..self.variables.len()).filter_map(|variable| self.value_at(variable, moment)).collect()
    }

    /// Returns the state that a step finds.
    pub fn before(&self, step: usize) -> Vec<Entry<'a>> {
        self.at(Moment::before(step))
    }

    /// Returns the state that a step leaves.
    pub fn after(&self, step: usize) -> Vec<Entry<'a>> {
        self.at(Moment::after(step))
    }

    /// Lists the variables that a step reads, in its order; one that is not written by then is [`Badge::Missing`].
    pub fn reads(&self, step: usize) -> Vec<Entry<'a>> {
        let links = self.steps.get(step).into_iter().flat_map(|links| &links.reads);
        links.map(|&variable| self.read_at(variable, step)).collect()
    }

    fn read_at(&self, index: usize, step: usize) -> Entry<'a> {
        let mut entry = self.value_at(index, Moment::before(step)).unwrap_or(Entry {
            variable: index,
            value: None,
            badge: Badge::Missing,
            writer: None,
            source: ValueSource::Nowhere,
        });
        let shown = self.variables.get(index).and_then(|variable| {
            let at = variable.readers.binary_search(&step).ok()?;
            *variable.shown.get(at)?
        });
        // What the trace says the step was shown is nearer than what an earlier step wrote. In a fork it may be what its
        // parent's step was shown.
        if let Some((call, value)) = shown.filter(|_| self.fork.is_none() || entry.value.is_none()) {
            entry.value = Some(value);
            entry.badge = Badge::Recorded;
            entry.source = ValueSource::Inputs(call);
        }
        entry
    }

    /// Tells whether a person set a variable at a moment, not before.
    pub fn is_put_at(&self, variable: usize, moment: Moment) -> bool {
        let write = self.variables.get(variable).and_then(|variable| variable.write_at(moment));
        write.is_some_and(|write| write.from == moment && write.badge.is_put())
    }

    /// Lists the variables that a step writes, in its order.
    pub fn writes(&self, step: usize) -> Vec<Entry<'a>> {
        let links = self.steps.get(step).into_iter().flat_map(|links| &links.writes);
        links.filter_map(|&variable| self.written(variable, step)).collect()
    }

    /// Finds what a step wrote into a variable; an override of it right after the step is not the step's.
    pub fn written(&self, variable: usize, step: usize) -> Option<Entry<'a>> {
        let (writes, after) = (&self.variables.get(variable)?.writes, Moment::after(step));
        let first = writes.partition_point(|write| write.from < after);
        let then = writes.iter().skip(first).take_while(|write| write.from == after);
        Some(Entry::new(variable, { then }.find(|write| write.step == Some(step))?))
    }

    /// Returns the question that a step is shown: as it was given, or as it was set last, even if a step wrote over it.
    pub fn given(&self, step: usize) -> Option<Entry<'a>> {
        let index = self.variable(&Untrusted::from(PROBLEM_TEXT))?;
        let writes = self.variables.get(index)?.writes.iter();
        let given = writes.rev().find(|write| write.step.is_none() && write.from <= Moment::before(step))?;
        Some(Entry::new(index, given))
    }

    /// Lists the changes of the variables between two moments, in either order; untouched variables are left out.
    pub fn difference(&self, a: Moment, b: Moment) -> Vec<StateChange<'a>> {
        let (from, to) = (a.min(b), a.max(b));
        let mut differences = Vec::new();
        for (index, variable) in self.variables.iter().enumerate() {
            let Some(after) = variable.write_at(to).filter(|after| after.badge != Badge::NotRun) else { continue };
            let before = variable.write_at(from);
            if before.is_some_and(|before| before.from == after.from && before.step == after.step) {
                continue;
            }
            let change = match before {
                None => VariableChange::Appeared,
                Some(before) => match (before.value, after.value) {
                    (Some(before), Some(after)) if same_value(before, after) => VariableChange::Rewritten,
                    (Some(_), Some(_)) => VariableChange::Changed,
                    _ => VariableChange::Unknown,
                },
            };
            differences.push(StateChange {
                variable: index,
                change,
                before: before.map(|write| Entry::new(index, write)),
                after: Entry::new(index, after),
            });
        }
        differences
    }

    /// Finds the position of a value in the record, as a JSON pointer.
    pub fn pointer(&self, entry: &Entry<'_>) -> Option<Pointer> {
        let call = |entry: usize, list: &'static str| Pointer::from_iter(["trace", "steps"]).then(entry).then(list);
        let name = || self.variables.get(entry.variable).map(|variable| variable.name.to_owned());
        let object = match entry.source {
            ValueSource::Nowhere => return None,
            ValueSource::Question => return Some(Pointer::from_iter(["question"])),
            ValueSource::FinalState => Pointer::from_iter(["state"]),
            ValueSource::Outputs(n) => call(n, "outputs"),
            ValueSource::Inputs(n) => call(n, "inputs"),
            ValueSource::Set(n) => return Some(self.sets.get(n)?.pointer.then("value")),
            ValueSource::Was(n) => return Some(self.sets.get(n)?.pointer.then("was")),
        };
        Some(object.then(stepscope_base::json::Part::Key(name()?)))
    }

    /// Builds the graph of the steps that write and read each variable, without the values.
    pub fn web(&self) -> Web {
        let writes = |variable: &Variable<'_>| variable.writes.iter().map(|write| (write.from, write.step)).collect();
        Web {
            writes: self.variables.iter().map(writes).collect(),
            reads: self.steps.iter().map(|links| links.reads.clone()).collect(),
        }
    }

    /// Finds what can influence a variable; see [`Web::ancestors`].
    pub fn ancestors(&self, variable: usize) -> Influence {
        self.web().ancestors(variable)
    }
}

impl Influence {
    fn mark_variable(&mut self, variable: usize) {
        if let Some(flag) = self.variables.get_mut(variable) {
            *flag = true;
        }
    }

    fn mark_step(&mut self, step: usize, todo: &mut Vec<usize>) {
        if let Some(flag) = self.steps.get_mut(step).filter(|flag| !**flag) {
            *flag = true;
            todo.push(step);
        }
    }
}

/// Returns the entries of an object, as far as there is room for more.
fn first_entries<'a>(object: Value<'a>, room: &mut usize) -> Vec<Member<'a>> {
    let entries = object.first_entries(*room);
    *room -= object.members().take(*room).count();
    entries
}

/// Notes which variable a step writes.
fn note_write(steps: &mut [Links], step: usize, variable: usize) {
    if let Some(links) = steps.get_mut(step) {
        links.writes.push(variable);
    }
}

/// Settles `problem_text` as given: from the state, unless a step wrote over it there; else the record's question.
fn settle_given<'a>(variable: &mut Variable<'a>, question: Option<Value<'a>>) {
    let untouched = variable.final_value.filter(|_| variable.writes.len() == 1);
    let Some(given) = variable.writes.first_mut() else { return };
    if let Some(value) = untouched {
        (given.value, given.badge, given.source) = (Some(value), Badge::Recorded, ValueSource::FinalState);
    } else if let Some(value) = question.filter(|question| !question.is_null()) {
        (given.value, given.badge, given.source) = (Some(value), Badge::Recorded, ValueSource::Question);
    }
}

/// Settles a variable of a fork: its final state wins over the calls that it took over from its parent.
fn settle_fork<'a>(variable: &mut Variable<'a>, value: Value<'a>, is_exact: bool) {
    let Some(write) = variable.writes.last_mut() else { return };
    if write.value.is_some_and(|written| !same_value(written, value)) {
        write.badge = if is_exact { Badge::Recomputed } else { Badge::Reconstructed };
        (write.value, write.source) = (Some(value), ValueSource::FinalState);
    }
}

/// Settles a writing from its readers: a step that was shown the value recorded it for the step that wrote it.
fn settle_from_readers(variable: &mut Variable<'_>, n: usize) {
    let until = variable.until(n);
    let Some(write) = variable.writes.get_mut(n).filter(|write| write.value.is_none()) else { return };
    let first = variable.readers.partition_point(|&reader| reader < write.from.0);
    let readers = variable.readers.iter().zip(&variable.shown).skip(first);
    let shown = readers.take_while(|&(&reader, _)| reader < until).find_map(|(_, shown)| *shown);
    if let Some((entry, value)) = shown {
        (write.value, write.badge, write.source) = (Some(value), Badge::Recorded, ValueSource::Inputs(entry));
    }
}

/// Returns the maximum number of keys of the record's own answer schema that are read, for each step run with it.
pub fn answer_keys(last: &LastStep) -> usize {
    MAX_VARIABLES.min(MAX_ANSWERS / last.positions.len().max(1))
}

/// Returns the properties of the answer schema that a run was recorded with.
pub fn own_keys<'a>(record: &Record<'a>) -> Option<Value<'a>> {
    record.root.get("trace")?.get("answer_schema")?.get("properties")
}

/// Returns the keys of a published answer schema, in upstream's order.
pub const fn schema_keys(schema: AnswerSchema) -> &'static [&'static str] {
    match schema {
        AnswerSchema::General => &[FINAL_ANSWER],
        AnswerSchema::Bool => &[FINAL_ANSWER, "final_answer_bool", "confidence"],
        AnswerSchema::Gsm => &[FINAL_ANSWER, "final_answer_numerical", "confidence"],
        AnswerSchema::Arc => &[FINAL_ANSWER, "confidence", "choice_rationale"],
    }
}

#[cfg(test)]
mod tests;
