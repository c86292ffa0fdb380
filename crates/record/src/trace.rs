//! The recorded execution of every step: the `trace` key of a run record (see `schemas/trace.schema.json`), and which
//! values of a fork were never recorded.

use std::ops::Range;

use crate::Record;
use crate::procedure::PROBLEM_TEXT;
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::text::Untrusted;

/// Maximum number of recorded calls of a run that are read. Real runs have a few dozen.
pub const MAX_CALLS: usize = 20_000;
/// Maximum number of set or calculated values of a fork that are read.
pub const MAX_SETS: usize = 4096;

/// One recorded call: what a step was shown and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct TraceStep<'a> {
    /// Position in the list of the trace.
    pub entry: usize,
    /// The whole object.
    pub value: Value<'a>,
    /// The visible inputs, an object.
    pub inputs: Option<Value<'a>>,
    /// Values taken from the reply into the global state, an object.
    pub outputs: Option<Value<'a>>,
    /// Reason of the step's failure.
    pub error: Option<Value<'a>>,
}

impl<'a> TraceStep<'a> {
    fn read(entry: usize, value: Value<'a>) -> (Option<usize>, Self) {
        let mut step = Self { entry, value, inputs: None, outputs: None, error: None };
        let mut position = None;
        for member in value.members().filter(|member| !member.value.is_null()) {
            let slot = match member.key.plain_string() {
                Some(b"step_index") => {
                    position = member.value.whole();
                    continue;
                }
                Some(b"inputs") => &mut step.inputs,
                Some(b"outputs") => &mut step.outputs,
                Some(b"error") => &mut step.error,
                _ => continue,
            };
            *slot = Some(member.value);
        }
        let object = |value: &Value<'_>| value.kind() == Kind::Object;
        step.inputs = step.inputs.filter(object);
        step.outputs = step.outputs.filter(object);
        (position, step)
    }

    /// Finds another value under a key of `schemas/trace.schema.json`, such as `prompt`, `raw` or `model`.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// Tells whether the call ended in an error and gave nothing.
    pub(crate) fn is_failed(&self) -> bool {
        self.error.is_some() && self.outputs.is_none_or(Value::is_empty)
    }

    /// Returns its position in the record, as a JSON pointer.
    pub fn pointer(&self) -> Pointer {
        Pointer::from_iter(["trace", "steps"]).then(self.entry)
    }
}

/// The places in a run where keys are names of variables, which may be any word: its state, and what each recorded call
/// read, wrote and was asked to write.
pub struct VariablePlaces(Vec<Range<usize>>);

impl VariablePlaces {
    /// In a record.
    pub fn of(record: &Record<'_>) -> Self {
        let calls = record.trace_steps.into_iter().flat_map(Value::items).take(MAX_CALLS);
        let objects =
            calls.flat_map(|call| ["inputs", "outputs", "schema"].into_iter().filter_map(move |key| call.get(key)));
        let mut places: Vec<Range<usize>> = record.state.into_iter().chain(objects).map(Value::range).collect();
        places.sort_unstable_by_key(|place| place.start);
        Self(places)
    }

    /// Tells whether a byte of the record lies in one.
    pub fn contains(&self, byte: usize) -> bool {
        let next = self.0.partition_point(|place| place.start <= byte);
        next.checked_sub(1).and_then(|last| self.0.get(last)).is_some_and(|place| byte < place.end)
    }
}

/// Collects the recorded calls by step position. Without a procedure the order of the trace is the order of the steps
/// (`steps` is `None`). A step that was called again shows its last call that gave outputs.
pub fn by_position<'a>(record: &Record<'a>, steps: Option<usize>) -> Vec<Option<TraceStep<'a>>> {
    let Some(list) = record.trace_steps else { return vec![None; steps.unwrap_or(0)] };
    let mut calls = vec![None; steps.unwrap_or_else(|| list.items().take(MAX_CALLS).count())];
    for (entry, value) in list.items().take(MAX_CALLS).enumerate() {
        let (position, call) = TraceStep::read(entry, value);
        let position = if steps.is_some() { position.unwrap_or(entry) } else { entry };
        let Some(slot) = calls.get_mut(position) else { continue };
        let gave = |call: &TraceStep<'_>| call.outputs.is_some() && !call.is_failed();
        if !slot.as_ref().is_some_and(gave) || gave(&call) {
            *slot = Some(call);
        }
    }
    calls
}

/// Reads the id of the step in which upstream's run ended, as its error names it.
pub fn failing_id(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once("step id=")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..digits).filter(|digits| !digits.is_empty())
}

stepscope_base::words! {
    /// Way in which a value that no model gave came into a fork.
    pub enum Put {
        /// A person set it before a step.
        Override = "override",
        /// Calculated in place of a step's value.
        Recomputed = "recomputed",
    }
}

/// Value that comes from no call: of a fork it holds whatever the calls of its parent say.
#[derive(Clone, Debug)]
pub struct RecordedSet<'a> {
    /// The variable.
    pub variable: Untrusted<'a>,
    /// Origin of the value: set by a person, or calculated.
    pub put: Put,
    /// The step before which it was set, or the one that it was calculated for, by position.
    pub step: usize,
    /// The value.
    pub value: Value<'a>,
    /// Value that an override replaced, where it is recorded nowhere else.
    pub was: Option<Value<'a>>,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
}

/// Finds the list of what was set or calculated for a fork, or set while a run was made: where it is, and the list.
pub fn set_list<'a>(record: &Record<'a>) -> Option<(Pointer, Value<'a>)> {
    let Some(fork) = record.trace_fork else {
        return Some((Pointer::from_iter(["trace", "values"]), record.trace_values?));
    };
    // A fork of an earlier version names only what was edited.
    let key = if fork.get("values").is_some() { "values" } else { "edited" };
    Some((Pointer::from_iter(["trace", "fork", key]), fork.get(key)?))
}

/// Reads the values that were set or calculated, in the order of the record.
pub fn sets<'a>(record: &Record<'a>) -> Vec<RecordedSet<'a>> {
    let Some((place, list)) = set_list(record) else { return Vec::new() };
    let step_of = |value: Value<'_>| value.get("step_index")?.whole();
    let at = record.trace_fork.and_then(step_of);
    let list = list.items().take(MAX_SETS).enumerate();
    let read = |(n, entry): (usize, Value<'a>)| {
        let put = match entry.get("badge") {
            Some(badge) if badge.is_string(Put::Recomputed.word()) => Put::Recomputed,
            _ => Put::Override,
        };
        Some(RecordedSet {
            variable: entry.get("variable")?.string()?,
            put,
            step: step_of(entry).or(at)?,
            value: entry.get("value")?,
            was: entry.get("was"),
            pointer: place.clone().then(n),
        })
    };
    list.filter_map(read).collect()
}

/// Lists the values that a person set.
pub fn overrides<'a>(record: &Record<'a>) -> impl Iterator<Item = RecordedSet<'a>> {
    sets(record).into_iter().filter(|set| set.put == Put::Override)
}

/// Tells whether a person set another question in a fork: what its steps read is not the record's question.
pub fn asks_otherwise(record: &Record<'_>) -> bool {
    let question = record.question.and_then(Value::string);
    overrides(record).any(|set| set.variable == PROBLEM_TEXT && set.value.string() != question)
}
