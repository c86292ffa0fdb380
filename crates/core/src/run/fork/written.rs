//! Runs and forks as records: the record that upstream's users save, with everything that was asked and replied under
//! `trace`, and under `trace.fork` where it comes from.

use super::{Fork, How};
use crate::arithmetic::recompute::is_right;
use crate::procedure::FINAL_ANSWER;
use crate::procedure::prompt::AnswerShape;
use crate::procedure::runner::{Ask, Ended, Values};
use crate::record::formats;
use crate::record::{Record, RecordKind};
use crate::run::rerun::{Around, Rung, Usage};
use stepscope_base::canonical::sha256;
use stepscope_base::compose::{Object, list, number, one_line, text, tight};
use stepscope_base::json::{Kind, Part, Tape, Value};
use stepscope_base::pyjson::Letters;
use stepscope_base::text::{Shown, Untrusted};

/// One call, as the trace keeps it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Executed {
    /// The step, by position.
    pub step: usize,
    /// Its id as it stands in the procedure.
    pub step_id: Option<Vec<u8>>,
    /// Whether it was run with the answer schema.
    pub is_final: bool,
    /// What it was shown, an object.
    pub inputs: Vec<u8>,
    /// The prompt.
    pub prompt: Untrusted<'static>,
    /// The schema that was asked for.
    pub schema: Untrusted<'static>,
    /// The reply as it came.
    pub raw: Vec<u8>,
    /// What the model thought before it.
    pub reasoning: Vec<u8>,
    /// What stood around the JSON of the reply.
    pub around: Around,
    /// What was taken from it, an object.
    pub outputs: Option<Vec<u8>>,
    /// Why nothing was.
    pub error: Option<Shown>,
    /// Whether the reply was what was asked for, in a word.
    pub verdict: Option<&'static str>,
    /// The model.
    pub model: String,
    /// The kind of server; `cassette` in front of it: a recorded reply.
    pub backend: String,
    /// The path that was called.
    pub endpoint: String,
    /// The seed.
    pub seed: Option<i64>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// The limit of the reply.
    pub max_tokens: Option<u64>,
    /// How the schema was enforced.
    pub rung: Option<Rung>,
    /// SHA-256 of the request's body.
    pub request: String,
    /// Tokens.
    pub usage: Usage,
    /// When it began.
    pub started_utc: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
}

impl Executed {
    /// The call for a step, of which nothing came yet.
    pub fn of(asked: &Ask, step_id: Option<&[u8]>) -> Self {
        Self {
            step: asked.step,
            step_id: step_id.map(<[u8]>::to_vec),
            is_final: asked.request.is_final,
            inputs: asked.inputs.clone(),
            prompt: asked.request.prompt.clone(),
            schema: asked.request.schema.clone(),
            ..Self::default()
        }
    }

    /// As an entry of the trace.
    pub fn json(&self) -> Vec<u8> {
        let some = |part: &[u8]| (!part.is_empty()).then(|| text(part));
        let usage = (self.usage != Usage::default()).then(|| {
            Object::new(Letters::Ascii)
                .maybe("prompt_tokens", self.usage.prompt.map(|count| count.to_string()))
                .maybe("completion_tokens", self.usage.completion.map(|count| count.to_string()))
                .end()
        });
        Object::new(Letters::Ascii)
            .plain("step_index", self.step)
            .maybe("step_id", self.step_id.as_deref().map(one_line))
            .plain("is_final", self.is_final)
            .raw("inputs", if self.inputs.is_empty() { b"{}".to_vec() } else { one_line(&self.inputs) })
            .text("prompt", self.prompt.bytes())
            .text("schema", self.schema.bytes())
            .text("raw", &self.raw)
            .maybe("reasoning", some(&self.reasoning))
            .maybe("around", some(self.around.words().as_bytes()))
            .raw("outputs", self.outputs.as_deref().map_or_else(|| b"null".to_vec(), one_line))
            .maybe("error", self.error.as_ref().map(|error| text(error.as_str())))
            .maybe("verdict", self.verdict.map(text))
            .text("model", &self.model)
            .text("backend", &self.backend)
            .text("endpoint", &self.endpoint)
            .maybe("seed", self.seed.map(|seed| seed.to_string()))
            .maybe("temperature", self.temperature.map(number))
            .maybe("max_tokens", self.max_tokens.map(|limit| limit.to_string()))
            .maybe("enforcement", self.rung.map(|rung| text(rung.word())))
            .maybe("request_sha256", some(self.request.as_bytes()))
            .maybe("usage", usage)
            .maybe("started_utc", some(self.started_utc.as_bytes()))
            .raw("duration_ms", format!("{:.1}", self.duration_ms))
            .end()
    }
}

/// Keys of a record that a fork writes anew, or that say what was true of its parent only.
const OWN: [&str; 12] = [
    "id",
    "status",
    "mode",
    "state",
    "pred_answer",
    "pred_num",
    "correct",
    "error",
    "error_type",
    "traceback",
    "timestamp_utc",
    "trace",
];

/// The id of a fork: its parent's, and a part of the hash of what it was made of.
fn id_of(parent: &Record<'_>, parent_hash: &str, made: &str) -> Vec<u8> {
    let own = parent.id_text();
    let known = own.as_ref().map_or_else(|| parent_hash.as_bytes().get(..16).unwrap_or_default(), Untrusted::bytes);
    [known, b"~", made.as_bytes().get(..8).unwrap_or_default()].concat()
}

/// With what a fork takes over from its parent as it is.
fn inherit(mut record: Object, parent: &Record<'_>, without: &str) -> Object {
    for member in parent.root.entries() {
        let name = member.name();
        if let Some(name) = name.utf8().filter(|name| !OWN.contains(name) && *name != without) {
            record = record.raw(name, tight(member.value));
        }
    }
    record
}

impl Fork {
    /// As a record: its parent's, with what came out differently. `text` is the parent's text, by which it is known.
    pub fn record(&self, parent: &Record<'_>, parent_text: &[u8], created_utc: &str) -> Vec<u8> {
        let hash = sha256(parent_text);
        let state = self.state(parent);
        let made = sha256(&[hash.as_bytes(), state.as_slice(), created_utc.as_bytes()].concat());
        let record = Object::new(Letters::Ascii).text("id", id_of(parent, &hash, &made));
        let record = inherit(record, parent, "");
        let trace = self.trace(parent, (&hash, parent_text.len()), created_utc);
        let mode = parent.root.get("mode").map_or_else(|| text("procedural"), tight);
        let own = self.ended.as_ref().map(said);
        let parents = self.unfinished.as_ref().map(|end| (end.class.bytes().to_vec(), end.error.bytes().to_vec()));
        complete(record.raw("mode", mode), &state, own.or(parents), &trace, created_utc)
    }

    /// The state at the end, in the parent's order; what the parent had and nobody touched stays.
    fn state(&self, parent: &Record<'_>) -> Vec<u8> {
        if self.ended.is_some() {
            return one_line(&self.values.json());
        }
        let mut merged = Values::default();
        for member in parent.state.filter(|state| state.kind() == Kind::Object).map(Value::entries).unwrap_or_default()
        {
            merged.set(&member.name(), member.value.raw());
        }
        for (name, value) in self.values.iter() {
            merged.set(name, value);
        }
        one_line(&merged.json())
    }

    fn trace(&self, parent: &Record<'_>, (hash, bytes): (&str, usize), created_utc: &str) -> Vec<u8> {
        let asked: Vec<usize> = self.calls.iter().map(|call| call.step).collect();
        // What was recorded of the other steps stays as it is, unless this run did not come to them.
        let recorded = parent.trace_steps.into_iter().flat_map(Value::items).enumerate().filter(|(entry, step)| {
            let index = step.get("step_index").and_then(|index| std::str::from_utf8(index.raw()).ok()?.parse().ok());
            let step = index.unwrap_or(*entry);
            !asked.contains(&step) && !self.unrun.contains(&step)
        });
        let mut steps: Vec<Vec<u8>> = recorded.map(|(_, step)| tight(step)).collect();
        steps.extend(self.calls.iter().map(Executed::json));
        let schema = parent.root.get("trace").and_then(|trace| trace.get("answer_schema")).map(tight);
        let schema = schema.or_else(|| parent.answer_schema.map(|schema| text(schema.word())));
        let plain = |steps: &[usize]| list(steps.iter().map(ToString::to_string));
        let mut asked = asked;
        asked.dedup();
        let edited = self.edits.iter().map(|(name, value)| {
            Object::new(Letters::Ascii).text("variable", name.bytes()).raw("value", one_line(value)).end()
        });
        let values = self.sets.iter().map(|set| {
            Object::new(Letters::Ascii)
                .text("variable", set.variable.bytes())
                .text("badge", set.put.word())
                .plain("step_index", set.step)
                .raw("value", one_line(&set.value))
                .maybe("was", set.was.as_deref().map(one_line))
                .end()
        });
        let last = self.calls.last();
        let fork = Object::new(Letters::Ascii)
            .raw("parent", parent.id.map_or_else(|| b"null".to_vec(), tight))
            .text("parent_sha256", hash)
            .plain("parent_bytes", bytes)
            .text("how", self.how.word())
            .plain("step_index", self.step)
            .raw("edited", list(edited))
            .raw("values", list(values))
            .raw("prompts_edited", plain(&self.prompts))
            .raw("asked", plain(&asked))
            .raw("stale", plain(&self.stale))
            .maybe("model", last.map(|call| text(&call.model)))
            .maybe("backend", last.map(|call| text(&call.backend)))
            .text("created_utc", created_utc)
            .end();
        // A run that crashed may have its procedure there.
        let is_here = parent.procedure_pointer.0.first().is_some_and(|part| *part == Part::from("trace"));
        let procedure = parent.procedure.filter(|_| is_here).map(tight);
        trace(schema.as_deref(), &steps, procedure.as_deref(), Some(&fork))
    }
}

/// A record with another procedure, as a fork: nothing was executed, so it has no state. `text` is the parent's text.
pub fn repaired(parent: &Record<'_>, text: &[u8], procedure: &[u8], created_utc: &str) -> Vec<u8> {
    let hash = sha256(text);
    let made = sha256(&[hash.as_bytes(), procedure, created_utc.as_bytes()].concat());
    let mut record = Object::new(Letters::Ascii).text("id", id_of(parent, &hash, &made));
    if parent.kind != RecordKind::Procedure {
        record = inherit(record, parent, "procedure");
    }
    let fork = Object::new(Letters::Ascii)
        .raw("parent", parent.id.map_or_else(|| b"null".to_vec(), tight))
        .text("parent_sha256", &hash)
        .plain("parent_bytes", text.len())
        .text("how", How::Repair.word())
        .plain("step_index", 0)
        .text("created_utc", created_utc)
        .end();
    record.raw("procedure", one_line(procedure)).raw("trace", trace(None, &[], None, Some(&fork))).end()
}

/// A run that began from nothing but a procedure and a question, as a record.
pub fn run_record(
    procedure: Value<'_>,
    question: &Untrusted<'_>,
    shape: AnswerShape<'_>,
    calls: &[Executed],
    (values, ended): (&Values, Option<&Ended>),
    created_utc: &str,
) -> Vec<u8> {
    let id = sha256(&[procedure.raw(), b"\x1e", question.bytes(), b"\x1e", created_utc.as_bytes()].concat());
    let schema = match shape {
        AnswerShape::Published(schema) => text(schema.word()),
        AnswerShape::Own(schema) => tight(schema),
    };
    let steps: Vec<Vec<u8>> = calls.iter().map(Executed::json).collect();
    let count = procedure.get("steps").map_or(0, Value::len);
    let record = Object::new(Letters::Ascii)
        .text("id", id.get(..32).unwrap_or_default())
        .text("question", question.bytes())
        .text("mode", "procedural")
        .raw("procedure", tight(procedure))
        .plain("steps", count);
    // As upstream's users save it, a run that ended before anything was written has no state.
    let is_empty = ended.is_some() && calls.iter().all(|call| call.outputs.is_none());
    let state = if is_empty { b"null".to_vec() } else { one_line(&values.json()) };
    complete(record, &state, ended.map(said), &trace(Some(&schema), &steps, None, None), created_utc)
}

fn trace(schema: Option<&[u8]>, steps: &[Vec<u8>], procedure: Option<&[u8]>, fork: Option<&[u8]>) -> Vec<u8> {
    Object::new(Letters::Ascii)
        .text("format", "stepscope.run_trace")
        .plain("version", 1)
        .maybe("answer_schema", schema)
        .maybe("procedure", procedure)
        .raw("steps", list(steps))
        .maybe("fork", fork)
        .end()
}

/// Class and text of what ended a run.
type End = (Vec<u8>, Vec<u8>);

fn said(ended: &Ended) -> End {
    (ended.class.as_bytes().to_vec(), stepscope_base::shown!("{ended}").as_str().as_bytes().to_vec())
}

/// Adds what came out. A run that ended early has no answer, whatever its state holds by then.
fn complete(record: Object, state: &[u8], ended: Option<End>, trace: &[u8], now: &str) -> Vec<u8> {
    if let Some((class, error)) = ended {
        return record
            .text("status", "error")
            .text("error_type", class)
            .text("error", error)
            .text("timestamp_utc", now)
            .raw("state", state)
            .raw("trace", trace)
            .end();
    }
    let mut tape = Tape::default();
    let read = tape.parse(state);
    let answer = read.and_then(|state| state.get(FINAL_ANSWER));
    let number = read.and_then(|state| state.get("final_answer_numerical"));
    let record = record
        .text("status", "ok")
        .raw("state", state)
        .maybe("pred_answer", answer.map(tight))
        .maybe("pred_num", number.filter(|number| number.is_number()).map(tight));
    let judged = record.clone().raw("trace", trace).end();
    let mut tape = Tape::default();
    let right = tape.parse(&judged).map(formats::read).and_then(|record| is_right(&record));
    record.maybe("correct", right.map(|right| right.to_string())).raw("trace", trace).end()
}
