//! Runs and forks as records: the record that evoproc's users save, with every request and reply under `trace`, and the
//! origin under `trace.fork`.

use super::{Fork, How, Set};
use crate::call::{Enforcement, Usage};
use crate::prompt::AnswerShape;
use crate::runner::{Ask, Ended, Values};
use stepscope_base::canonical::sha256;
use stepscope_base::json::write::{Object, Raw, Style, client_number, one_line, tight};
use stepscope_base::json::{Kind, Part, Tape, Value};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::rightness::Rightness;
use stepscope_record::formats;
use stepscope_record::procedure::FINAL_ANSWER;
use stepscope_record::reply::Wrapping;
use stepscope_record::{Record, RecordKind};

/// One call, as the trace keeps it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Executed {
    /// The step, by position.
    pub step: usize,
    /// Id of the step, as the procedure writes it.
    pub step_id: Option<Vec<u8>>,
    /// True if it was run with the answer schema.
    pub is_final: bool,
    /// Inputs that it was shown, an object.
    pub inputs: Vec<u8>,
    /// The prompt.
    pub prompt: Untrusted<'static>,
    /// The schema that was asked for.
    pub schema: Untrusted<'static>,
    /// The reply as it came.
    pub raw: Vec<u8>,
    /// Reasoning of the model before the reply.
    pub reasoning: Vec<u8>,
    /// Text found around the JSON of the reply.
    pub around: Wrapping,
    /// Text left out of the reply so that it could be taken, where upstream would have ended.
    pub tolerated: Option<Shown>,
    /// Outputs taken from the reply, an object.
    pub outputs: Option<Vec<u8>>,
    /// Number of errors that upstream's validator finds in the procedure that came; of a step `None`.
    pub errors: Option<usize>,
    /// Reason why no outputs were taken.
    pub error: Option<Untrusted<'static>>,
    /// Verdict on the reply, in a word.
    pub verdict: Option<&'static str>,
    /// The model.
    pub model: String,
    /// The model that the server says it was, where that is another.
    pub served_model: Option<Untrusted<'static>>,
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
    /// Way in which the schema was enforced.
    pub enforcement: Option<Enforcement>,
    /// SHA-256 of the request's body.
    pub request: String,
    /// Reason why the reply ended early, in a word.
    pub finish_reason: Option<Untrusted<'static>>,
    /// Tokens.
    pub usage: Usage,
    /// Time at which the call began, in UTC.
    pub started_utc: String,
    /// Duration of the call, in milliseconds.
    pub duration_ms: f64,
}

impl Executed {
    /// Creates the call for a step, of which nothing came yet.
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

    /// Writes the call as an entry of the trace.
    pub fn json(&self) -> Vec<u8> {
        Style::SAVED.object(|entry| {
            entry.put("step_index", self.step).maybe("step_id", self.step_id.as_deref().map(one_line));
            let inputs = if self.inputs.is_empty() { b"{}" } else { self.inputs.as_slice() };
            entry.put("is_final", self.is_final).put("inputs", one_line(inputs));
            self.asked(entry);
            entry.put("outputs", self.outputs.as_deref().map(one_line));
            self.came(entry);
        })
    }

    /// Writes a call that created a procedure, or repaired it, as an entry of the trace.
    fn creation_json(&self, is_repair: bool) -> Vec<u8> {
        Style::SAVED.object(|entry| {
            entry.text("purpose", if is_repair { "repair" } else { "create" });
            self.asked(entry);
            entry.maybe("errors", self.errors);
            self.came(entry);
        })
    }

    /// Writes what was asked, and the reply as it came.
    fn asked(&self, entry: &mut Object<'_>) {
        let some = |part: &'static str| Some(part).filter(|part| !part.is_empty());
        entry.put("prompt", &self.prompt).put("schema", &self.schema).text("raw", &self.raw);
        if !self.reasoning.is_empty() {
            entry.put("reasoning", Raw(Style::ASCII.of(Untrusted::new(&self.reasoning))));
        }
        entry.maybe("around", some(self.around.words()));
        entry.maybe("tolerated", self.tolerated.as_ref().map(Shown::as_str));
    }

    /// Writes what the reply was worth, and how it came.
    fn came(&self, entry: &mut Object<'_>) {
        entry.maybe("error", self.error.as_ref());
        entry.maybe("verdict", self.verdict).text("model", &self.model);
        entry.maybe("served_model", self.served_model.as_ref()).text("backend", &self.backend);
        entry.text("endpoint", &self.endpoint).maybe("seed", self.seed);
        entry.maybe("temperature", self.temperature.map(client_number)).maybe("max_tokens", self.max_tokens);
        entry.maybe("enforcement", self.enforcement.map(Enforcement::word));
        entry.maybe("request_sha256", Some(&self.request).filter(|hash| !hash.is_empty()));
        entry.maybe("finish_reason", self.finish_reason.as_ref());
        if self.usage != Usage::default() {
            entry.object("usage", |usage| {
                usage.maybe("prompt_tokens", self.usage.prompt);
                usage.maybe("completion_tokens", self.usage.completion);
            });
        }
        entry.maybe("started_utc", Some(&self.started_utc).filter(|when| !when.is_empty()));
        entry.put("duration_ms", Raw(format!("{:.1}", self.duration_ms)));
    }
}

/// Keys of a record that a fork writes itself, or that were true of its parent only.
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

/// Makes the id of a fork: its parent's, and a part of the hash of what it was made of.
fn id_of(parent: &Record<'_>, parent_hash: &str, made: &str) -> Vec<u8> {
    let own = parent.id_text();
    let known = own.as_ref().map_or_else(|| &parent_hash.as_bytes()[..16], Untrusted::bytes);
    [known, b"~", &made.as_bytes()[..8]].concat()
}

/// Copies everything that a fork takes over from its parent as it is.
fn inherit(record: &mut Object<'_>, parent: &Record<'_>, without: &[&str]) {
    for member in parent.root.entries() {
        let name = member.name();
        if let Some(name) = name.utf8().filter(|name| !OWN.contains(name) && !without.contains(name)) {
            record.put(name, tight(member.value));
        }
    }
}

/// Writes what every fork records of its parent, and of the way in which it was made.
fn fork_origin(fork: &mut Object<'_>, parent: &Record<'_>, (hash, bytes): (&str, usize), how: How, step: usize) {
    fork.put("parent", parent.id.map(tight)).text("parent_sha256", hash).put("parent_bytes", bytes);
    fork.text("how", how.word()).put("step_index", step);
}

impl Fork {
    /// Writes the fork as a record: its parent's, with what came out differently. `text` is the parent's text, by
    /// which it is known.
    pub fn record(&self, parent: &Record<'_>, parent_text: &[u8], created_utc: &str) -> Vec<u8> {
        let hash = sha256(parent_text);
        let state = self.state(parent);
        let made = sha256(&[hash.as_bytes(), state.0.as_slice(), created_utc.as_bytes()].concat());
        let trace = self.trace(parent, (&hash, parent_text.len()), created_utc);
        let own = self.ended.as_ref().map(said);
        let parents = self.unfinished.as_ref().map(|end| (end.class.bytes().to_vec(), end.error.bytes().to_vec()));
        let begin = |record: &mut Object<'_>| {
            record.text("id", id_of(parent, &hash, &made));
            inherit(record, parent, &[]);
            match parent.root.get("mode") {
                Some(mode) => record.put("mode", tight(mode)),
                None => record.put("mode", "procedural"),
            };
        };
        complete(begin, &state, own.or(parents), &trace, created_utc)
    }

    /// Returns the state at the end, in the parent's order; values of the parent that no step which was asked again writes
    /// stay.
    fn state(&self, parent: &Record<'_>) -> JsonText {
        if self.ended.is_some() {
            return one_line(&self.values.json());
        }
        let mut merged = Values::default();
        for member in parent.state.filter(|state| state.kind() == Kind::Object).into_iter().flat_map(Value::entries) {
            let name = member.name();
            if !self.gone.contains(&name) {
                merged.set(&name, member.value.raw());
            }
        }
        for (name, value) in self.values.iter() {
            merged.set(name, value);
        }
        one_line(&merged.json())
    }

    fn trace(&self, parent: &Record<'_>, known: (&str, usize), created_utc: &str) -> JsonText {
        let mut asked: Vec<usize> = self.calls.iter().map(|call| call.step).collect();
        // What was recorded of the other steps stays as it is, unless this run did not come to them.
        let recorded = parent.trace_steps.into_iter().flat_map(Value::items).enumerate().filter(|(entry, step)| {
            let index = step.get("step_index").and_then(Value::whole);
            let step = index.unwrap_or(*entry);
            !asked.contains(&step) && !self.unrun.contains(&step)
        });
        let mut steps: Vec<JsonText> = recorded.map(|(_, step)| tight(step)).collect();
        steps.extend(self.calls.iter().map(|call| Raw(call.json())));
        let schema = parent.root.get("trace").and_then(|trace| trace.get("answer_schema")).map(tight);
        let schema = schema.or_else(|| parent.answer_schema.map(|schema| Raw(Style::ASCII.of(schema.word()))));
        asked.dedup();
        // A run that crashed may have its procedure there.
        let is_here = parent.procedure_pointer.0.first().is_some_and(|part| *part == Part::from("trace"));
        let procedure = parent.procedure.filter(|_| is_here).map(tight);
        trace(schema, &steps, procedure, |trace| {
            trace.object("fork", |fork| {
                fork_origin(fork, parent, known, self.how, self.step);
                fork.objects("edited", &self.edits, |(name, value), edit| {
                    edit.put("variable", name).put("value", one_line(value));
                });
                put_sets(fork, &self.sets);
                fork.put("prompts_edited", &self.prompts).put("asked", &asked).put("stale", &self.stale);
                if let Some(last) = self.calls.last() {
                    fork.text("model", &last.model).text("backend", &last.backend);
                }
                fork.text("created_utc", created_utc);
            });
        })
    }
}

/// Writes a record with another procedure as a fork: nothing was executed, so it has no state. `text` is the parent's
/// text.
pub fn repaired(parent: &Record<'_>, text: &[u8], procedure: &[u8], created_utc: &str) -> Vec<u8> {
    let hash = sha256(text);
    let made = sha256(&[hash.as_bytes(), procedure, created_utc.as_bytes()].concat());
    Style::SAVED.object(|record| {
        record.text("id", id_of(parent, &hash, &made));
        if parent.kind != RecordKind::Procedure {
            // The fitness was that of the old one.
            inherit(record, parent, &["procedure", "fitness"]);
        }
        let trace = trace(None, &[], None, |trace| {
            trace.object("fork", |fork| {
                fork_origin(fork, parent, (&hash, text.len()), How::Repair, 0);
                fork.text("created_utc", created_utc);
            });
        });
        record.put("procedure", one_line(procedure)).put("trace", trace);
    })
}

/// Writes the values that no model gave.
fn put_sets(into: &mut Object<'_>, sets: &[Set]) {
    into.objects("values", sets, |set, value| {
        value.put("variable", &set.variable).text("badge", set.put.word()).put("step_index", set.step);
        value.put("value", one_line(&set.value)).maybe("was", set.was.as_deref().map(one_line));
    });
}

/// Parts of a run that began from a question, and a procedure or its creation.
pub(crate) struct RunParts<'p> {
    /// The procedure; `None`: none was created.
    pub procedure: Option<Value<'p>>,
    /// The question.
    pub question: &'p Untrusted<'p>,
    /// The schema of the last step's reply.
    pub shape: AnswerShape<'p>,
    /// Calls that created the procedure.
    pub creation: &'p [Executed],
    /// Calls of the steps.
    pub calls: &'p [Executed],
    /// The state at the end; `None`: it was not run.
    pub values: Option<&'p Values>,
    /// Reason of its end, if it ended early.
    pub ended: Option<&'p Ended>,
    /// Values that a person set before steps.
    pub sets: &'p [Set],
    /// Steps whose prompt a person changed, by position.
    pub prompts: &'p [usize],
}

/// Writes a run as a record.
pub(crate) fn run_record(parts: &RunParts<'_>, created_utc: &str) -> Vec<u8> {
    let RunParts { procedure, question, shape, creation, calls, values, ended, sets, prompts } = *parts;
    let made_of = procedure.map_or(&b""[..], Value::raw);
    let id = sha256(&[made_of, b"\x1e", question.bytes(), b"\x1e", created_utc.as_bytes()].concat());
    let schema = match shape {
        AnswerShape::Published(schema) => Raw(Style::ASCII.of(schema.word())),
        AnswerShape::Own(schema) => tight(schema),
    };
    let steps: Vec<JsonText> = calls.iter().map(|call| Raw(call.json())).collect();
    let begin = |record: &mut Object<'_>| {
        record.text("id", &id[..32]).put("question", question).text("mode", "procedural");
        let steps = procedure.and_then(|procedure| procedure.get("steps"));
        record.put("procedure", procedure.map(tight)).put("steps", steps.map_or(0, Value::len));
    };
    // As upstream's users save it, a run that ended before anything was written has no state.
    let is_empty = ended.is_some() && calls.iter().all(|call| call.outputs.is_none());
    let state = values.filter(|_| !is_empty).map_or_else(|| b"null".to_vec(), Values::json);
    let trace = trace(Some(schema), &steps, None, |trace| {
        if !creation.is_empty() {
            let calls: Vec<JsonText> =
                creation.iter().enumerate().map(|(n, call)| Raw(call.creation_json(n > 0))).collect();
            trace.put("creation", &calls);
        }
        if !sets.is_empty() {
            put_sets(trace, sets);
        }
        if !prompts.is_empty() {
            trace.put("prompts_edited", prompts);
        }
    });
    if values.is_none() && ended.is_none() {
        return Style::SAVED.object(|record| {
            begin(record);
            record.put("trace", trace);
        });
    }
    complete(begin, &one_line(&state), ended.map(said), &trace, created_utc)
}

/// A part of a record that is written already.
type JsonText = Raw<Vec<u8>>;

fn trace(
    schema: Option<JsonText>,
    steps: &[JsonText],
    procedure: Option<JsonText>,
    rest: impl FnOnce(&mut Object<'_>),
) -> JsonText {
    Raw(Style::SAVED.object(|trace| {
        trace.text("format", "stepscope.run_trace").put("version", 1).maybe("answer_schema", schema);
        trace.maybe("procedure", procedure).put("steps", steps);
        rest(trace);
    }))
}

/// Class and text of what ended a run.
type End = (Vec<u8>, Vec<u8>);

fn said(ended: &Ended) -> End {
    (ended.class.as_bytes().to_vec(), ended.recorded().bytes().to_vec())
}

/// Adds what came out. A run that ended early has no answer, whatever its state holds by then.
fn complete(
    begin: impl Fn(&mut Object<'_>),
    state: &JsonText,
    ended: Option<End>,
    trace: &JsonText,
    now: &str,
) -> Vec<u8> {
    if let Some((class, error)) = ended {
        return Style::SAVED.object(|record| {
            begin(record);
            record.text("status", "error").text("error_type", class).text("error", error).text("timestamp_utc", now);
            record.put("state", state).put("trace", trace);
        });
    }
    let mut tape = Tape::default();
    let read = tape.parse(&state.0);
    let answer = read.and_then(|state| state.get(FINAL_ANSWER));
    let number = read.and_then(|state| state.get("final_answer_numerical"));
    let with = |correct: Option<bool>| {
        Style::SAVED.object(|record| {
            begin(record);
            record.text("status", "ok").put("state", state).maybe("pred_answer", answer.map(tight));
            record.maybe("pred_num", number.filter(|number| number.is_number()).map(tight));
            record.maybe("correct", correct).put("trace", trace);
        })
    };
    let judged = with(None);
    let mut tape = Tape::default();
    match tape.parse(&judged).map(formats::read).and_then(|record| Rightness::of(&record).verdict()) {
        None => judged,
        right => with(right),
    }
}
