//! Spans as OpenTelemetry, its console exporter and `MLflow` write them, in one form.

use super::observed::{is_langfuse, is_langsmith, langfuse, langsmith};
use super::plain::{Members, Plain, attributes};
use crate::failure::Failure;
use stepscope_base::json::{Kind, Value};

/// A span, whoever wrote it.
#[derive(Debug)]
pub(super) struct TraceSpan {
    /// Id of its trace, in hex where that is known; `None`: it has none.
    pub trace: Option<Vec<u8>>,
    pub id: Option<Vec<u8>>,
    pub parent: Option<Vec<u8>>,
    pub name: Vec<u8>,
    /// Nanoseconds since 1970; 0 where that is not told.
    pub start: u64,
    pub end: u64,
    /// The words of its status, if it failed.
    pub failed: Option<Vec<u8>>,
    pub attributes: Members,
    pub events: Vec<Event>,
}

/// Event of a span or of a log.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub name: Vec<u8>,
    pub time: u64,
    pub body: Plain,
}

/// A log record that belongs to a span.
pub(super) struct SpanLog {
    pub trace: Vec<u8>,
    pub span: Vec<u8>,
    pub event: Event,
}

/// Kind of a value that holds spans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// A batch of an exporter.
    Otlp,
    /// A batch of log records.
    Logs,
    /// One span, as the console exporter prints it.
    Console,
    /// A trace of `MLflow`.
    Mlflow,
    /// One run of `LangSmith`.
    LangSmith,
    /// A trace of Langfuse.
    Langfuse,
}

impl Holder {
    /// Recognises a value that holds spans by two marks.
    pub(super) fn of(root: Value<'_>) -> Option<Self> {
        let list = |value: Option<Value<'_>>| value.is_some_and(|value| value.kind() == Kind::Array);
        let begins = |outer: [&str; 2], inner: [&str; 4]| {
            let first = any(root, outer).and_then(|list| list.items().next());
            first.is_some_and(|first| inner.iter().any(|key| list(first.get(key))))
        };
        const SPANS: [&str; 4] =
            ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"];
        const LOGS: [&str; 4] =
            ["scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs"];
        if begins(["resourceSpans", "resource_spans"], SPANS) {
            return Some(Self::Otlp);
        }
        if begins(["resourceLogs", "resource_logs"], LOGS) {
            return Some(Self::Logs);
        }
        let inside = |outer: &str, key: &str| root.get(outer).and_then(|inner| inner.get(key));
        if inside("context", "trace_id").is_some()
            && inside("context", "span_id").is_some()
            && root.get("start_time").is_some()
        {
            return Some(Self::Console);
        }
        let is_mlflow = ["trace_id", "request_id"].iter().any(|key| inside("info", key).is_some());
        if is_mlflow && list(inside("data", "spans")) {
            return Some(Self::Mlflow);
        }
        if is_langsmith(root) {
            return Some(Self::LangSmith);
        }
        is_langfuse(root).then_some(Self::Langfuse)
    }
}

/// Gives every span of a value.
pub(super) fn each_span(
    root: Value<'_>,
    holder: Holder,
    act: &mut dyn FnMut(TraceSpan) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match holder {
        Holder::Otlp => {
            let lists = inner_lists(root, ["resourceSpans", "resource_spans"], "Spans", "_spans", ["spans", "spans"]);
            lists.into_iter().flat_map(Value::items).filter_map(otlp_span).try_for_each(act)
        }
        Holder::Console => console_span(root).into_iter().try_for_each(act),
        Holder::Mlflow => {
            let trace = root.get("info").and_then(|info| any(info, ["trace_id", "request_id"])).and_then(bytes);
            let spans = root.get("data").and_then(|data| data.get("spans"));
            for span in spans.into_iter().flat_map(Value::items).filter_map(otlp_span) {
                let attributes = span.attributes.into_iter().map(|(key, value)| (key, value.unwrapped())).collect();
                act(TraceSpan { trace: trace.clone().or(span.trace), attributes, ..span })?;
            }
            Ok(())
        }
        Holder::LangSmith => act(langsmith(root)),
        Holder::Langfuse => langfuse(root).into_iter().try_for_each(act),
        Holder::Logs => Ok(()),
    }
}

/// Lists the log records of a value that say what a span read or wrote.
pub(super) fn log_events(root: Value<'_>) -> Vec<SpanLog> {
    let lists = inner_lists(root, ["resourceLogs", "resource_logs"], "Logs", "_logs", ["logRecords", "log_records"]);
    lists.into_iter().flat_map(Value::items).filter_map(log_event).collect()
}

fn log_event(log: Value<'_>) -> Option<SpanLog> {
    let attributes = any(log, ["attributes", "attributes"]).map_or_else(Vec::new, attributes);
    let named = attributes.iter().find(|(key, _)| key == b"event.name").and_then(|(_, name)| name.text());
    let name = any(log, ["eventName", "event_name"]).and_then(bytes).or_else(|| named.map(<[u8]>::to_vec))?;
    let body = log.get("body").map_or_else(Plain::null, Plain::of_any).parsed();
    let times = ["timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano"];
    let time = times.into_iter().filter_map(|key| log.get(key)).map(nanos).find(|time| *time > 0).unwrap_or(0);
    // Details are attributes, messages are the body.
    let body = if matches!(body, Plain::Object(_)) { body } else { Plain::Object(attributes) };
    let id = |keys| any(log, keys).and_then(id_of);
    Some(SpanLog {
        trace: id(["traceId", "trace_id"])?,
        span: id(["spanId", "span_id"])?,
        event: Event { name, time, body },
    })
}

/// Lists what the scopes of every resource hold.
fn inner_lists<'v>(root: Value<'v>, outer: [&str; 2], camel: &str, snake: &str, leaf: [&str; 2]) -> Vec<Value<'v>> {
    let scopes = ["scope", "instrumentationLibrary"].map(|begin| format!("{begin}{camel}"));
    let snakes = ["scope", "instrumentation_library"].map(|begin| format!("{begin}{snake}"));
    let mut found = Vec::new();
    for resource in any(root, outer).into_iter().flat_map(Value::items) {
        for key in scopes.iter().chain(&snakes) {
            let all = resource.get(key).into_iter().flat_map(Value::items);
            found.extend(all.filter_map(|scope| any(scope, leaf)));
        }
    }
    found
}

fn otlp_span(span: Value<'_>) -> Option<TraceSpan> {
    if span.kind() != Kind::Object {
        return None;
    }
    let id = |keys| any(span, keys).and_then(id_of);
    let time = |keys| any(span, keys).map_or(0, nanos);
    let failed = span.get("status").filter(|status| is_error(*status));
    Some(TraceSpan {
        trace: id(["traceId", "trace_id"]),
        id: id(["spanId", "span_id"]),
        parent: id(["parentSpanId", "parent_span_id"]).or_else(|| id(["parent_id", "parentId"])),
        name: span.get("name").and_then(Value::string).map_or_else(Vec::new, |name| name.bytes().to_vec()),
        start: time(["startTimeUnixNano", "start_time_unix_nano"]),
        end: time(["endTimeUnixNano", "end_time_unix_nano"]),
        failed: failed.map(words),
        attributes: span.get("attributes").map_or_else(Vec::new, attributes),
        events: events(span),
    })
}

fn console_span(span: Value<'_>) -> Option<TraceSpan> {
    let context = span.get("context")?;
    let id = |value: Value<'_>, key| value.get(key).and_then(id_of);
    let time = |key| span.get(key).map_or(0, nanos);
    Some(TraceSpan {
        trace: id(context, "trace_id"),
        id: id(context, "span_id"),
        parent: id(span, "parent_id"),
        name: span.get("name").and_then(Value::string).map_or_else(Vec::new, |name| name.bytes().to_vec()),
        start: time("start_time"),
        end: time("end_time"),
        failed: span.get("status").filter(|status| is_error(*status)).map(words),
        attributes: span.get("attributes").map_or_else(Vec::new, attributes),
        events: events(span),
    })
}

fn events(span: Value<'_>) -> Vec<Event> {
    let event = |event: Value<'_>| {
        let time = ["timeUnixNano", "time_unix_nano", "timestamp"].into_iter().find_map(|key| event.get(key));
        Some(Event {
            name: event.get("name").and_then(bytes)?,
            time: time.map_or(0, nanos),
            body: Plain::Object(event.get("attributes").map_or_else(Vec::new, attributes)),
        })
    };
    span.get("events").into_iter().flat_map(Value::items).filter_map(event).collect()
}

fn is_error(status: Value<'_>) -> bool {
    let code = any(status, ["code", "status_code"]);
    code.is_some_and(|code| {
        code.whole::<i64>() == Some(2)
            || ["ERROR", "STATUS_CODE_ERROR", "2", "StatusCode.ERROR"].iter().any(|word| code.is_string(word))
    })
}

fn words(status: Value<'_>) -> Vec<u8> {
    let words = any(status, ["message", "description"]).and_then(Value::string);
    words.map_or_else(Vec::new, |words| words.bytes().to_vec())
}

/// Finds the first of two names of a value that is not null.
pub(super) fn any<'v>(value: Value<'v>, keys: [&str; 2]) -> Option<Value<'v>> {
    keys.into_iter().find_map(|key| value.get(key)).filter(|found| !found.is_null())
}

pub(super) fn bytes(value: Value<'_>) -> Option<Vec<u8>> {
    value.string().map(|text| text.bytes().to_vec())
}

/// Reads a moment: nanoseconds as a number or a text, or a time of ISO 8601.
pub(super) fn nanos(value: Value<'_>) -> u64 {
    let Some(text) = value.string() else { return value.whole().unwrap_or(0) };
    let Ok(text) = std::str::from_utf8(text.bytes()) else { return 0 };
    // A time without a zone is one of UTC, as services write it.
    let local = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned_datetime(jiff::tz::TimeZone::UTC).ok();
    let time = || text.parse::<jiff::Timestamp>().ok().or_else(|| Some(local()?.timestamp()));
    let iso = || u64::try_from(time()?.as_nanosecond()).ok();
    text.parse().ok().or_else(iso).unwrap_or(0)
}

pub(super) fn id_of(id: Value<'_>) -> Option<Vec<u8>> {
    hex(id.string()?.bytes())
}

/// Returns an id in hex, whichever way it is written; none for one of zeros.
fn hex(id: &[u8]) -> Option<Vec<u8>> {
    let id = id.strip_prefix(b"0x").unwrap_or(id);
    let is_hex = |id: &[u8]| matches!(id.len(), 16 | 32) && id.iter().all(u8::is_ascii_hexdigit);
    let made = if is_hex(id) { id.to_ascii_lowercase() } else { of_base64(id).unwrap_or_else(|| id.to_vec()) };
    made.iter().any(|digit| *digit != b'0').then_some(made)
}

/// Turns an id of 8 or 16 bytes from base64 to hex.
fn of_base64(id: &[u8]) -> Option<Vec<u8>> {
    if !matches!(id.len(), 12 | 24) || !id.ends_with(b"=") {
        return None;
    }
    let (mut bits, mut count, mut made) = (0_u32, 0, Vec::new());
    for letter in id.iter().take_while(|letter| **letter != b'=') {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (bits, count) = ((bits << 6 | u32::from(six)) & 0xFFFF, count + 6);
        if count >= 8 {
            count -= 8;
            made.extend(format!("{:02x}", (bits >> count) & 0xFF).bytes());
        }
    }
    Some(made)
}
