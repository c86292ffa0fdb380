//! What was recorded of every step: the `trace` key of a run record (see `schemas/trace.schema.json`).

use super::json::{Kind, Pointer, Value};
use super::record::Record;

/// One recorded call: what a step was shown and what came of it. Every field is as it stands in the record.
#[derive(Clone, Copy, Debug)]
pub struct TraceStep<'a> {
    /// Where it stands in the list of the trace.
    pub entry: usize,
    /// The whole object.
    pub value: Value<'a>,
    /// The visible inputs, an object.
    pub inputs: Option<Value<'a>>,
    /// The prompt that was sent.
    pub prompt: Option<Value<'a>>,
    /// The JSON Schema that was asked for.
    pub schema: Option<Value<'a>>,
    /// The reply as it came.
    pub raw: Option<Value<'a>>,
    /// What was taken from the reply into the global state, an object.
    pub outputs: Option<Value<'a>>,
    /// Why the step failed.
    pub error: Option<Value<'a>>,
    /// The model's name.
    pub model: Option<Value<'a>>,
    /// The kind of server, such as `ollama`.
    pub backend: Option<Value<'a>>,
    /// The path that was called.
    pub endpoint: Option<Value<'a>>,
    /// The seed.
    pub seed: Option<Value<'a>>,
    /// The temperature.
    pub temperature: Option<Value<'a>>,
    /// The limit of the reply.
    pub max_tokens: Option<Value<'a>>,
    /// Tokens counted by the server: `prompt_tokens`, `completion_tokens`.
    pub usage: Option<Value<'a>>,
    /// When the call began, ISO 8601 in UTC.
    pub started_utc: Option<Value<'a>>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<Value<'a>>,
}

impl<'a> TraceStep<'a> {
    fn read(entry: usize, value: Value<'a>) -> (Option<usize>, Self) {
        let mut step = Self {
            entry,
            value,
            inputs: None,
            prompt: None,
            schema: None,
            raw: None,
            outputs: None,
            error: None,
            model: None,
            backend: None,
            endpoint: None,
            seed: None,
            temperature: None,
            max_tokens: None,
            usage: None,
            started_utc: None,
            duration_ms: None,
        };
        let mut position = None;
        for member in value.members().filter(|member| !member.value.is_null()) {
            let slot = match member.key.plain_string() {
                Some(b"step_index") => {
                    position = std::str::from_utf8(member.value.raw()).ok().and_then(|digits| digits.parse().ok());
                    continue;
                }
                Some(b"inputs") => &mut step.inputs,
                Some(b"prompt") => &mut step.prompt,
                Some(b"schema") => &mut step.schema,
                Some(b"raw") => &mut step.raw,
                Some(b"outputs") => &mut step.outputs,
                Some(b"error") => &mut step.error,
                Some(b"model") => &mut step.model,
                Some(b"backend") => &mut step.backend,
                Some(b"endpoint") => &mut step.endpoint,
                Some(b"seed") => &mut step.seed,
                Some(b"temperature") => &mut step.temperature,
                Some(b"max_tokens") => &mut step.max_tokens,
                Some(b"usage") => &mut step.usage,
                Some(b"started_utc") => &mut step.started_utc,
                Some(b"duration_ms") => &mut step.duration_ms,
                _ => continue,
            };
            *slot = Some(member.value);
        }
        let object = |value: &Value<'_>| value.kind() == Kind::Object;
        step.inputs = step.inputs.filter(object);
        step.outputs = step.outputs.filter(object);
        (position, step)
    }

    /// Where it stands in the record.
    pub fn pointer(&self) -> Pointer {
        Pointer::from_iter(["trace", "steps"]).then(self.entry)
    }
}

/// The recorded calls by step position. Without a procedure the order of the trace is the order of the steps
/// (`steps` is `None`). A step that was called again shows its last call that gave outputs.
pub fn by_position<'a>(record: &Record<'a>, steps: Option<usize>) -> Vec<Option<TraceStep<'a>>> {
    let Some(list) = record.trace_steps else { return vec![None; steps.unwrap_or(0)] };
    let mut calls = vec![None; steps.unwrap_or_else(|| list.items().count())];
    for (entry, value) in list.items().enumerate() {
        let (position, call) = TraceStep::read(entry, value);
        let position = if steps.is_some() { position.unwrap_or(entry) } else { entry };
        let Some(slot) = calls.get_mut(position) else { continue };
        let keeps = slot.as_ref().is_some_and(|earlier: &TraceStep<'_>| earlier.outputs.is_some());
        if !keeps || call.outputs.is_some() {
            *slot = Some(call);
        }
    }
    calls
}
