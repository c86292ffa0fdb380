//! Spans as services that observe runs export them: the runs of `LangSmith`, and the traces of Langfuse with their
//! observations. Their parts get the names that OpenTelemetry has for them.

use super::plain::{Members, Plain, object};
use super::spans::{TraceSpan, any, bytes, id_of, nanos};
use stepscope_base::json::{Kind, Value};

/// Kinds of a run of `LangSmith`.
const RUN_TYPES: [&str; 7] = ["chain", "llm", "tool", "retriever", "prompt", "parser", "embedding"];
/// Kinds of an observation of Langfuse.
const OBSERVATION_TYPES: [&str; 10] =
    ["SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"];

/// Tells whether a value is a run of `LangSmith`: by its kind, and by its place among the others.
pub(super) fn is_langsmith(root: Value<'_>) -> bool {
    let kind = root.get("run_type").is_some_and(|kind| RUN_TYPES.iter().any(|known| kind.is_string(known)));
    kind && ["dotted_order", "parent_run_id"].iter().any(|key| root.get(key).is_some())
}

/// Tells whether a value is a trace of Langfuse: its first observation names its trace and its kind.
pub(super) fn is_langfuse(root: Value<'_>) -> bool {
    let first = root.get("observations").and_then(|list| list.items().next());
    first.is_some_and(|first| {
        let kind = first.get("type").is_some_and(|kind| OBSERVATION_TYPES.iter().any(|known| kind.is_string(known)));
        kind && (first.get("traceId").is_some() || first.get("startTime").is_some())
    })
}

/// Reads a run of `LangSmith` as a span.
pub(super) fn langsmith(run: Value<'_>) -> TraceSpan {
    let (inputs, outputs) = (filled(run, "inputs"), filled(run, "outputs"));
    let asks_model = run.get("run_type").is_some_and(|kind| kind.is_string("llm"));
    let mut attributes = Members::new();
    let kind = run.get("run_type").and_then(Value::string).and_then(|kind| match kind.bytes() {
        b"llm" => Some("chat"),
        b"tool" => Some("execute_tool"),
        b"retriever" => Some("retrieval"),
        _ => None,
    });
    put(&mut attributes, "gen_ai.operation.name", kind.map(|kind| Plain::text_of(kind.as_bytes())));
    if asks_model {
        let messages = inputs.as_ref().and_then(|inputs| inputs.get("messages")).map(langchain_messages);
        let prompt =
            inputs.as_ref().and_then(|inputs| inputs.get("prompts")).and_then(|all| all.items().first().cloned());
        let is_known = messages.is_some() || prompt.is_some();
        put(&mut attributes, "gen_ai.input.messages", messages.map(Plain::List));
        put(&mut attributes, "gen_ai.prompt", prompt);
        put(&mut attributes, "input.value", inputs.filter(|_| !is_known));
        let reply = outputs.as_ref().and_then(generation);
        put(&mut attributes, "output.value", outputs.filter(|_| reply.is_none()));
        put(&mut attributes, "gen_ai.output.messages", reply.map(|reply| Plain::List(vec![reply])));
    } else {
        put(&mut attributes, "input.value", inputs);
        put(&mut attributes, "output.value", outputs);
    }
    let extra = |outer: &str, keys: [&str; 2]| {
        let inner = run.get("extra").and_then(|extra| extra.get(outer))?;
        any(inner, keys).map(Plain::of)
    };
    let model = extra("metadata", ["ls_model_name", "model_name"])
        .or_else(|| extra("invocation_params", ["model", "model_name"]))
        .filter(|_| asks_model);
    put(&mut attributes, "gen_ai.request.model", model);
    let temperature = extra("invocation_params", ["temperature", "temperature"]);
    put(&mut attributes, "gen_ai.request.temperature", temperature.filter(|_| asks_model));
    for (key, name) in
        [("prompt_tokens", "gen_ai.usage.input_tokens"), ("completion_tokens", "gen_ai.usage.output_tokens")]
    {
        // A chain has the sums of those inside of it.
        put(&mut attributes, name, filled(run, key).filter(|_| asks_model));
    }
    for key in ["feedback_stats", "tags", "session_name"] {
        put(&mut attributes, key, filled(run, key).filter(|value| !is_empty(value)));
    }
    TraceSpan {
        trace: any(run, ["trace_id", "id"]).and_then(id_of),
        id: run.get("id").and_then(id_of),
        parent: run.get("parent_run_id").filter(|parent| !parent.is_null()).and_then(id_of),
        name: run.get("name").and_then(bytes).unwrap_or_else(|| b"run".to_vec()),
        start: run.get("start_time").map_or(0, nanos),
        end: run.get("end_time").map_or(0, nanos),
        failed: run.get("error").filter(|error| !error.is_null()).and_then(bytes),
        attributes,
        events: Vec::new(),
    }
}

/// Reads a trace of Langfuse as spans: itself, then its observations.
pub(super) fn langfuse(trace: Value<'_>) -> Vec<TraceSpan> {
    let id = trace.get("id").and_then(id_of);
    let mut spans: Vec<TraceSpan> = trace
        .get("observations")
        .into_iter()
        .flat_map(Value::items)
        .filter(|observation| observation.kind() == Kind::Object)
        .map(|observation| observed(observation, id.as_ref()))
        .collect();
    let mut attributes = Members::new();
    put(&mut attributes, "input.value", filled(trace, "input"));
    put(&mut attributes, "output.value", filled(trace, "output"));
    for key in ["scores", "sessionId", "userId", "tags", "metadata"] {
        put(&mut attributes, key, filled(trace, key).filter(|value| !is_empty(value)));
    }
    let root = TraceSpan {
        trace: id.clone(),
        id,
        parent: None,
        name: trace.get("name").and_then(bytes).unwrap_or_else(|| b"trace".to_vec()),
        start: trace.get("timestamp").map_or(0, nanos),
        end: spans.iter().map(|span| span.end).max().unwrap_or(0),
        failed: None,
        attributes,
        events: Vec::new(),
    };
    spans.insert(0, root);
    spans
}

fn observed(observation: Value<'_>, trace: Option<&Vec<u8>>) -> TraceSpan {
    let mut attributes = Members::new();
    let asks_model = observation.get("type").is_some_and(|kind| kind.is_string("GENERATION"));
    let kind = observation.get("type").and_then(Value::string).and_then(|kind| match kind.bytes() {
        b"GENERATION" => Some("chat"),
        b"TOOL" => Some("execute_tool"),
        b"RETRIEVER" => Some("retrieval"),
        _ => None,
    });
    put(&mut attributes, "gen_ai.operation.name", kind.map(|kind| Plain::text_of(kind.as_bytes())));
    put(&mut attributes, "input.value", filled(observation, "input"));
    put(&mut attributes, "output.value", filled(observation, "output"));
    if asks_model {
        put(&mut attributes, "gen_ai.request.model", filled(observation, "model"));
        let temperature = observation.get("modelParameters").and_then(|given| filled(given, "temperature"));
        put(&mut attributes, "gen_ai.request.temperature", temperature);
        let usage = |key| any(observation, ["usageDetails", "usage"]).and_then(|usage| filled(usage, key));
        put(&mut attributes, "gen_ai.usage.input_tokens", usage("input"));
        put(&mut attributes, "gen_ai.usage.output_tokens", usage("output"));
    }
    let is_error = observation.get("level").is_some_and(|level| level.is_string("ERROR"));
    TraceSpan {
        trace: trace.cloned(),
        id: observation.get("id").and_then(id_of),
        parent: any(observation, ["parentObservationId", "parent_observation_id"]).and_then(id_of).or(trace.cloned()),
        name: observation.get("name").and_then(bytes).unwrap_or_else(|| b"observation".to_vec()),
        start: observation.get("startTime").map_or(0, nanos),
        end: observation.get("endTime").map_or(0, nanos),
        failed: is_error.then(|| observation.get("statusMessage").and_then(bytes).unwrap_or_else(|| b"".to_vec())),
        attributes,
        events: Vec::new(),
    }
}

/// Returns a member that says something.
fn filled(value: Value<'_>, key: &str) -> Option<Plain> {
    value.get(key).filter(|found| !found.is_null()).map(Plain::of)
}

fn is_empty(value: &Plain) -> bool {
    match value {
        Plain::List(items) => items.is_empty(),
        Plain::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn put(attributes: &mut Members, key: &str, value: Option<Plain>) {
    attributes.extend(value.map(|value| (key.as_bytes().to_vec(), value)));
}

/// Returns the messages of one request: `LangSmith` keeps a list of requests, each a list of messages.
fn langchain_messages(messages: &Plain) -> Vec<Plain> {
    let first = messages.items().first().map_or(&[][..], Plain::items);
    let all = if first.is_empty() { messages.items() } else { first };
    all.iter().map(langchain_message).collect()
}

/// Reads a message as `LangChain` serialises it: a class with its arguments.
fn langchain_message(message: &Plain) -> Plain {
    let Some(said) = message.get("kwargs") else { return message.clone() };
    let class = message.get("id").and_then(|path| path.items().last()).and_then(Plain::text).unwrap_or(b"");
    let role: &[u8] = match said.get("type").and_then(Plain::text).unwrap_or(class) {
        b"human" | b"HumanMessage" => b"user",
        b"ai" | b"AIMessage" | b"AIMessageChunk" => b"assistant",
        b"system" | b"SystemMessage" => b"system",
        b"tool" | b"ToolMessage" => b"tool",
        other => other,
    };
    object([
        ("role", Some(Plain::text_of(role))),
        ("content", Some(said.get("content").cloned().unwrap_or_else(Plain::null))),
        ("tool_calls", said.get("tool_calls").cloned()),
        ("tool_call_id", said.get("tool_call_id").cloned()),
    ])
}

/// Returns the first generation of a model, as a message.
fn generation(outputs: &Plain) -> Option<Plain> {
    let first = outputs.get("generations")?.items().first()?;
    let first = first.items().first().unwrap_or(first);
    if let Some(message) = first.get("message") {
        return Some(langchain_message(message));
    }
    let text = first.get("text")?.clone();
    Some(object([("role", Some(Plain::text_of(b"assistant"))), ("content", Some(text))]))
}
