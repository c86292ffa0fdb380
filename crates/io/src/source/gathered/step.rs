//! A span as a step of a run: what it read and wrote, or what a model was asked in it and replied.

use super::chat::{Replied, asked_last, numbered, of_events, of_parts, replied};
use super::plain::{Members, Plain, object};
use super::spans::{Event, TraceSpan};
use crate::source::times::{TimeKind, TimeUnit};
use stepscope_base::json::write::{Letters, Style};

/// Event with what a call was asked and replied, as its attributes.
pub(super) const DETAILS: [&[u8]; 3] =
    [b"gen_ai.client.inference.operation.details", b"gen_ai.content.prompt", b"gen_ai.content.completion"];
/// Attributes that are told as messages, inputs and outputs.
const TOLD: [&str; 15] = [
    "llm.input_messages.",
    "llm.output_messages.",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "input.value",
    "output.value",
    "mlflow.spanInputs",
    "mlflow.spanOutputs",
    "mlflow.chat.messages",
    "retrieval.documents.",
];
/// Keys under which programs keep the question.
const QUESTION: [&str; 8] = ["question", "input", "query", "problem_text", "task", "topic", "q", "prompt"];
/// Keys under which they keep the answer.
pub(super) const ANSWER: [&str; 5] = ["final_answer", "answer", "output", "response", "result"];

/// Kind of work that a span did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Did {
    CalledModel,
    CalledTool,
    Retrieved,
    Other,
}

/// A step, as it is written, and what the run takes from it.
pub(super) struct StepMade {
    /// The JSON of the step, without its position.
    pub json: Vec<u8>,
    /// Question of the run, if the span is its root.
    pub asked: Option<Vec<u8>>,
    /// Answer of the run, if the span is its root.
    pub said: Option<Vec<u8>>,
    /// Name of the model that was called.
    pub model: Option<Vec<u8>>,
    pub calls_model: bool,
    /// Reason of its failure.
    pub error: Option<Vec<u8>>,
}

/// Makes a step of a span and the events that logs have of it.
pub(super) fn step(mut span: TraceSpan, logged: Vec<Event>) -> StepMade {
    span.events.extend(logged);
    for event in &span.events {
        if let (true, Plain::Object(details)) = (DETAILS.contains(&event.name.as_slice()), &event.body) {
            span.attributes.extend(details.iter().cloned());
        }
    }
    let did = Attributes(&span.attributes).did();
    let error = error_of(&span);
    match did {
        Did::CalledModel => called(&span, error),
        _ => read_and_wrote(&span, did, error),
    }
}

fn called(span: &TraceSpan, error: Option<Plain>) -> StepMade {
    let told = Attributes(&span.attributes);
    let (by_events, replies) = of_events(&span.events);
    let (asked, reply) = (told.asked(by_events), told.replied(&replies));
    let model = ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "mlflow.llm.model"];
    let of_input = || told.parsed("mlflow.spanInputs").or_else(|| told.parsed("input.value"))?.get("model").cloned();
    let model = told.first(&model).cloned().or_else(of_input).filter(|model| model.said().is_some());
    let question = match &asked {
        Some(Plain::List(messages)) => asked_last(messages),
        other => other.as_ref().map(Plain::as_text),
    };
    let error_text = error.as_ref().map(Plain::as_text);
    let calls = Some(Plain::List(reply.calls)).filter(|calls| !calls.items().is_empty());
    let said = reply.text.clone().filter(|text| !text.is_empty());
    let did = object([("prompt", asked), ("raw", reply.text.map(Plain::Text)), ("tool_calls", calls)]);
    let about = object([
        ("reasoning", reply.thoughts),
        ("finish_reason", reply.stop.or_else(|| told.stop())),
        ("model", model.clone()),
        ("backend", told.first(&["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"]).cloned()),
        ("temperature", told.first(&["gen_ai.request.temperature"]).cloned()),
        ("usage", told.usage()),
    ]);
    StepMade {
        json: written(span, "model", [did, about], error),
        asked: question,
        said,
        model: model.map(|model| model.as_text()),
        calls_model: true,
        error: error_text,
    }
}

fn read_and_wrote(span: &TraceSpan, did: Did, error: Option<Plain>) -> StepMade {
    let told = Attributes(&span.attributes);
    let input = told.value(&[
        "gen_ai.tool.call.arguments",
        "tool.parameters",
        "input.value",
        "mlflow.spanInputs",
        "traceloop.entity.input",
        "gen_ai.input.messages",
    ]);
    let output = told.value(&[
        "gen_ai.tool.call.result",
        "output.value",
        "mlflow.spanOutputs",
        "traceloop.entity.output",
        "final_result",
        "gen_ai.output.messages",
    ]);
    let documents = told.documents();
    let asked = input.as_ref().and_then(|input| worded(input, &QUESTION));
    let said = output.as_ref().and_then(|output| worded(output, &ANSWER));
    let (kind, inputs, outputs) = match did {
        Did::CalledTool => {
            let arguments = match input {
                Some(Plain::Object(arguments)) => Some(Plain::Object(arguments)),
                input => input.map(|input| object([("input", Some(input))])),
            };
            ("tool", arguments, output.map(|result| object([("result", Some(result))])))
        }
        Did::Retrieved => {
            let found = documents.or(output);
            (
                "retriever",
                input.map(|input| object([("input", Some(input))])),
                found.map(|found| object([("documents", Some(found))])),
            )
        }
        _ => (
            "span",
            input.map(|input| object([("input", Some(input))])),
            output.map(|output| object([("output", Some(output))])),
        ),
    };
    let error_text = error.as_ref().map(Plain::as_text);
    let json =
        written(span, kind, [object([("inputs", inputs), ("outputs", outputs)]), Plain::Object(Vec::new())], error);
    StepMade { json, asked, said, model: None, calls_model: false, error: error_text }
}

/// Writes a step: name, what it did, when, and the attributes that nothing else tells.
fn written(span: &TraceSpan, kind: &str, parts: [Plain; 2], error: Option<Plain>) -> Vec<u8> {
    let told = Attributes(&span.attributes);
    let name = told.first(&["gen_ai.tool.name", "tool.name", "gen_ai.agent.name"]).and_then(Plain::said);
    let name = name.filter(|_| kind != "model").unwrap_or(&span.name);
    let is_told = |key: &[u8]| TOLD.iter().any(|known| key.starts_with(known.as_bytes()));
    let others: Members = span.attributes.iter().filter(|(key, _)| !is_told(key)).cloned().collect();
    let trace = span.events.iter().find_map(|event| event.body.get("exception.stacktrace"));
    Style { letters: Letters::Canonical, ..Style::ASCII }.object(|out| {
        out.text("name", name);
        for part in parts {
            if let Plain::Object(members) = part {
                for (key, value) in &members {
                    out.put(key, value);
                }
            }
        }
        out.maybe("error", error.as_ref()).maybe("traceback", trace);
        out.text("span_kind", kind);
        for (key, id) in [("span_id", &span.id), ("parent_id", &span.parent)] {
            if let Some(id) = id {
                out.text(key, id);
            }
        }
        if let Some(started) = started(span.start) {
            out.text("started_utc", started);
        }
        if span.end >= span.start && span.start > 0 {
            out.key("duration_ms").display((span.end - span.start) as f64 / 1e6);
        }
        if !others.is_empty() {
            out.put("attributes", Plain::Object(others));
        }
    })
}

/// Writes a moment, of nanoseconds since 1970; `None`: it is not told.
pub(super) fn started(nanos: u64) -> Option<String> {
    let nanos = i64::try_from(nanos).ok().filter(|nanos| *nanos > 0)?;
    TimeKind::Moment { unit: TimeUnit::Nanos, in_utc: true }.text(nanos)
}

/// Returns the reason of a failure: the exception, else the words of the status.
fn error_of(span: &TraceSpan) -> Option<Plain> {
    let words = span.failed.as_ref()?;
    let thrown = span.events.iter().rev().find(|event| event.name == b"exception");
    let part = |key: &str| thrown.and_then(|event| event.body.get(key)).and_then(Plain::said);
    let kind = part("exception.type").or_else(|| Attributes(&span.attributes).first(&["error.type"])?.said());
    let text: Vec<u8> = match (kind, part("exception.message")) {
        (Some(kind), Some(message)) => [kind, b": ", message].concat(),
        (_, None) if !words.is_empty() => words.lines_up_to(),
        (Some(kind), None) => kind.to_vec(),
        (None, Some(message)) => message.to_vec(),
        (None, None) => b"failed, without a reason".to_vec(),
    };
    Some(Plain::Text(text))
}

/// Text that may hold a whole traceback.
trait Told {
    /// Returns its last line that says something, if it is a traceback, else all of it.
    fn lines_up_to(&self) -> Vec<u8>;
}

impl Told for Vec<u8> {
    fn lines_up_to(&self) -> Vec<u8> {
        let is_traceback = memchr::memmem::find(self, b"Traceback (most recent call last)").is_some();
        // Frameworks put the message in front of it.
        let first = self.split(|byte| *byte == b'\n').next().filter(|line| !line.starts_with(b"Traceback"));
        let first = first.map(|line| line.strip_suffix(b"Traceback (most recent call last):").unwrap_or(line));
        match first.map(<[u8]>::trim_ascii).filter(|line| is_traceback && !line.is_empty()) {
            Some(line) => line.to_vec(),
            None if is_traceback => {
                let last = self.split(|byte| *byte == b'\n').rev().find(|line| !line.trim_ascii().is_empty());
                last.map_or_else(|| self.clone(), <[u8]>::to_vec)
            }
            None => self.clone(),
        }
    }
}

/// Returns the words of an input or output: of an object those under a known key, of messages the last one's.
fn worded(value: &Plain, keys: &[&str]) -> Option<Vec<u8>> {
    match value {
        Plain::Object(members) => {
            let messages = ["messages", "input_messages"].into_iter().find_map(|key| value.get(key));
            let nested = |inner: &Plain| match inner {
                Plain::Object(_) => worded(inner, keys),
                Plain::List(items) => asked_last(items),
                inner => Some(inner.as_text()).filter(|_| !inner.is_null()),
            };
            let named = keys.iter().find_map(|key| value.get(key)).and_then(nested);
            let alone = || match members.as_slice() {
                [(_, only)] if !only.is_null() => Some(only.as_text()),
                _ => None,
            };
            let reply = || replied(value).text.filter(|text| !text.is_empty());
            let of_messages = || messages.and_then(|messages| asked_last(messages.items()));
            named.or_else(of_messages).or_else(reply).or_else(alone).or_else(|| Some(value.json()))
        }
        Plain::List(items) => asked_last(&of_parts(value)).or_else(|| (!items.is_empty()).then(|| value.json())),
        Plain::Text(text) => Some(text.clone()).filter(|text| !text.trim_ascii().is_empty()),
        Plain::Raw(_) => (!value.is_null()).then(|| value.as_text()),
    }
}

/// The attributes of a span, in whichever dialect.
#[derive(Clone, Copy)]
struct Attributes<'a>(&'a Members);

impl<'a> Attributes<'a> {
    fn first(self, keys: &[&str]) -> Option<&'a Plain> {
        let of = |key: &&str| self.0.iter().find(|(name, value)| name == key.as_bytes() && !value.is_null());
        keys.iter().find_map(of).map(|(_, value)| value)
    }

    fn parsed(self, key: &str) -> Option<Plain> {
        self.first(&[key]).cloned().map(Plain::parsed)
    }

    /// Returns the first of several attributes, as the JSON that it may hold.
    fn value(self, keys: &[&str]) -> Option<Plain> {
        self.first(keys).cloned().map(Plain::parsed)
    }

    fn did(self) -> Did {
        let names = [
            "gen_ai.operation.name",
            "openinference.span.kind",
            "llm.request.type",
            "mlflow.spanType",
            "traceloop.span.kind",
        ];
        let kind = self.first(&names).and_then(Plain::text).map(<[u8]>::to_ascii_lowercase);
        let asks = ["gen_ai.request.model", "llm.model_name", "gen_ai.prompt.0.content", "gen_ai.input.messages"];
        match kind.as_deref() {
            Some(b"chat" | b"text_completion" | b"generate_content" | b"completion" | b"llm" | b"chat_model") => {
                Did::CalledModel
            }
            Some(b"execute_tool" | b"tool") => Did::CalledTool,
            Some(b"retriever" | b"reranker" | b"retrieval") => Did::Retrieved,
            None if self.first(&asks).is_some() => Did::CalledModel,
            _ => Did::Other,
        }
    }

    /// Returns what a model was asked: messages, or a text.
    fn asked(self, by_events: Vec<Plain>) -> Option<Plain> {
        let filled = |messages: Vec<Plain>| (!messages.is_empty()).then_some(Plain::List(messages));
        let parts = || {
            let mut messages = of_parts(&self.parsed("gen_ai.input.messages")?);
            if let Some(system) = self.parsed("gen_ai.system_instructions") {
                let said = |part: &Plain| part.get("content").or_else(|| part.get("text")).map(Plain::as_text);
                let parts = system.items().iter().filter_map(said).collect::<Vec<_>>().join(&b'\n');
                let text = if system.items().is_empty() { system.as_text() } else { parts };
                let role = Some(Plain::text_of(b"system"));
                messages.insert(0, object([("role", role), ("content", Some(Plain::Text(text)))]));
            }
            filled(messages)
        };
        let inputs = |key: &str| {
            let value = self.parsed(key)?;
            let messages = ["messages", "input", "prompt"].into_iter().find_map(|key| value.get(key)).cloned();
            Some(messages.unwrap_or(value))
        };
        parts()
            .or_else(|| filled(numbered(self.0, "llm.input_messages")))
            .or_else(|| filled(numbered(self.0, "gen_ai.prompt")))
            .or_else(|| filled(by_events))
            .or_else(|| self.parsed("gen_ai.prompt"))
            .or_else(|| inputs("mlflow.spanInputs"))
            .or_else(|| inputs("input.value"))
            .or_else(|| inputs("traceloop.entity.input"))
    }

    fn replied(self, by_events: &[Plain]) -> Replied {
        let parts = self.parsed("gen_ai.output.messages").and_then(|list| of_parts(&list).into_iter().next());
        let inside = |prefix| numbered(self.0, prefix).into_iter().next();
        let found = parts
            .or_else(|| inside("llm.output_messages"))
            .or_else(|| inside("gen_ai.completion"))
            .or_else(|| by_events.first().cloned())
            .or_else(|| self.parsed("gen_ai.completion"))
            .or_else(|| self.parsed("mlflow.spanOutputs"))
            .or_else(|| self.parsed("output.value"))
            .or_else(|| self.parsed("traceloop.entity.output"));
        found.map_or_else(Replied::default, |reply| {
            let made = replied(&reply);
            // What is no reply of any dialect is still what came back.
            if made.text.is_none() && reply.get("role").is_none() {
                Replied { text: Some(reply.as_text()), ..made }
            } else {
                made
            }
        })
    }

    fn stop(self) -> Option<Plain> {
        let reasons = self.first(&["gen_ai.response.finish_reasons"]).cloned().map(Plain::parsed);
        let first = reasons.and_then(|list| list.items().first().cloned());
        let of_output = || replied(&self.parsed("output.value")?).stop;
        first
            .or_else(|| self.first(&["llm.finish_reason", "gen_ai.response.finish_reason"]).cloned())
            .or_else(of_output)
    }

    fn usage(self) -> Option<Plain> {
        let of_mlflow = self.parsed("mlflow.chat.tokenUsage");
        let count = |keys: &[&str], inner: &str| {
            let own = self.first(keys).or_else(|| of_mlflow.as_ref().and_then(|usage| usage.get(inner)));
            own.filter(|count| count.is_number()).cloned()
        };
        let usage = object([
            (
                "prompt_tokens",
                count(
                    &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"],
                    "input_tokens",
                ),
            ),
            (
                "completion_tokens",
                count(
                    &["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"],
                    "output_tokens",
                ),
            ),
        ]);
        matches!(&usage, Plain::Object(members) if !members.is_empty()).then_some(usage)
    }

    /// Lists the documents that a retriever found.
    fn documents(self) -> Option<Plain> {
        let mut members: Members = Vec::new();
        for (key, value) in self.0 {
            if let Some(rest) = key.strip_prefix(b"retrieval.documents.") {
                let mut path = rest.split(|byte| *byte == b'.').filter(|part| *part != b"document");
                let (number, name) = (path.next(), path.collect::<Vec<_>>().join(&b'.'));
                members.push(([b"d.", number.unwrap_or(b""), b".", &name].concat(), value.clone().parsed()));
            }
        }
        let found = numbered(&members, "d");
        (!found.is_empty()).then_some(Plain::List(found))
    }
}
