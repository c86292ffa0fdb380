//! Applications of Burr: a log of actions and the graph next to it become one run, with the state behind each action.

use std::collections::{BTreeMap, HashMap};

use super::made::GatheredLines;
use super::neighbours::{Neighbour, Values};
use super::plain::{Members, Plain, object};
use super::shelf::Shelf;
use super::step::ANSWER;
use crate::failure::Failure;
use stepscope_base::json::write::{Letters, Style};
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_record::trace::MAX_CALLS;

/// Keys under which programs keep the question.
pub(super) const QUESTION: [&str; 6] = ["question", "input", "query", "problem_text", "task", "topic"];
/// A run is no longer than this.
const MAX_RUN: usize = 32 << 20;

/// Tells whether a value is a line of the log.
pub(super) fn is_line(root: Value<'_>) -> bool {
    let kind = root.get("type").and_then(Value::string);
    let is_entry = kind.is_some_and(|kind| matches!(kind.bytes(), b"begin_entry" | b"end_entry"));
    is_entry && root.get("sequence_id").is_some_and(Value::is_number) && root.get("action").is_some()
}

/// Tells whether a value is another line of the log, such as a span inside of an action.
fn is_other(root: Value<'_>) -> bool {
    root.get("type").is_some_and(|kind| kind.kind() == Kind::String)
        && ["sequence_id", "action_sequence_id"].iter().any(|key| root.get(key).is_some())
}

/// Tells whether a value is what an application says of itself next to its log.
pub(crate) fn is_description(root: Value<'_>) -> bool {
    let is = |word: &str| root.get("type").is_some_and(|kind| kind.is_string(word));
    (is("application") && root.get("actions").is_some() && root.get("transitions").is_some())
        || (is("application_metadata") && root.get("partition_key").is_some())
}

/// An action, as it began and as it ended.
#[derive(Default)]
struct LoggedAction {
    begin: Option<Plain>,
    end: Option<Plain>,
    others: usize,
}

/// Declarations of an action.
struct Declared {
    reads: Vec<Vec<u8>>,
    writes: Vec<Vec<u8>>,
    code: Option<Plain>,
}

/// Reads the log as one run.
pub(super) fn read(values: &Values, neighbours: &[Neighbour]) -> Result<GatheredLines, Failure> {
    let (mut entries, mut others, mut size): (BTreeMap<i64, LoggedAction>, Vec<Vec<u8>>, usize) =
        (BTreeMap::new(), Vec::new(), 0);
    let mut left_out = 0_usize;
    values.each(&mut |root, text| {
        let number = root.and_then(|root| {
            let number = root.get("sequence_id").or_else(|| root.get("action_sequence_id"))?.whole::<i64>()?;
            Some((root, number))
        });
        match number {
            Some((root, number)) if is_line(root) => {
                if size + text.len() > MAX_RUN || (entries.len() >= MAX_CALLS && !entries.contains_key(&number)) {
                    left_out += 1;
                    return Ok(());
                }
                size += text.len();
                let entry = entries.entry(number).or_default();
                let is_end = root.get("type").is_some_and(|kind| kind.is_string("end_entry"));
                *(if is_end { &mut entry.end } else { &mut entry.begin }) = Some(Plain::of(root));
            }
            Some((root, number)) if is_other(root) => entries.entry(number).or_default().others += 1,
            _ => others.push(text.to_vec()),
        }
        Ok(())
    })?;
    let graph = graph(neighbours)?;
    let mut lines = Shelf::new(values.name())?;
    lines.put(&run(values, &entries, &graph))?;
    for other in others {
        lines.put_line(&other)?;
    }
    let mut note = shown!("read as a run of Burr");
    if graph.is_empty() {
        note = shown!("{note}; what its actions read is not known, as graph.json is not next to it");
    }
    if left_out > 0 {
        note = shown!("{note}; {left_out} lines left out, as a run has at most {MAX_CALLS} steps and 32 MB");
    }
    Ok(GatheredLines { lines: lines.into_lines()?, note })
}

/// Reads the declarations of all actions from the graph next to the log.
fn graph(neighbours: &[Neighbour]) -> Result<HashMap<Vec<u8>, Declared>, Failure> {
    let mut actions = HashMap::new();
    let is_graph = |root: Value<'_>| is_description(root) && root.get("actions").is_some();
    for neighbour in neighbours.iter().filter(|neighbour| neighbour.begins(is_graph)) {
        neighbour.values.each(&mut |root, _| {
            for action in root.and_then(|root| root.get("actions")).into_iter().flat_map(Value::items) {
                let names = |key: &str| {
                    let all = action.get(key).into_iter().flat_map(Value::items).filter_map(Value::string);
                    all.map(|name| name.bytes().to_vec()).collect()
                };
                if let Some(name) = action.get("name").and_then(Value::string) {
                    let code = action.get("code").map(Plain::of);
                    let declared = Declared { reads: names("reads"), writes: names("writes"), code };
                    actions.entry(name.bytes().to_vec()).or_insert(declared);
                }
            }
            Ok(())
        })?;
    }
    Ok(actions)
}

/// Returns the variables of a state, without those that Burr keeps for itself.
fn variables(entry: Option<&Plain>) -> Members {
    match entry.and_then(|entry| entry.get("state")) {
        Some(Plain::Object(members)) => members.iter().filter(|(key, _)| !key.starts_with(b"__")).cloned().collect(),
        _ => Vec::new(),
    }
}

fn value<'m>(members: &'m Members, key: &[u8]) -> Option<&'m Plain> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Writes the log as a run.
fn run(values: &Values, entries: &BTreeMap<i64, LoggedAction>, graph: &HashMap<Vec<u8>, Declared>) -> Vec<u8> {
    let mut before = Members::new();
    let (mut steps, mut failure) = (Vec::new(), None);
    for (at, entry) in entries.values().filter(|entry| entry.begin.is_some() || entry.end.is_some()).enumerate() {
        let after = if entry.end.is_some() { variables(entry.end.as_ref()) } else { before.clone() };
        // The state at the beginning is not logged: what the first action did not write was there before.
        if at == 0 {
            let wrote = declared(entry, graph).map_or_else(Vec::new, |declared| declared.writes.clone());
            let result = entry.end.as_ref().and_then(|end| end.get("result"));
            let is_new =
                |key: &[u8]| wrote.iter().any(|name| name == key) || result.is_some_and(|result| has(result, key));
            before = after.iter().filter(|(key, _)| !is_new(key)).cloned().collect();
        }
        let error = entry.end.as_ref().and_then(|end| end.get("exception")).map(Plain::as_text);
        steps.push(step(at, entry, graph, &before, &after, error.as_deref()));
        failure = error;
        before = after;
    }
    let asked = QUESTION.iter().find_map(|key| value(&before, key.as_bytes())).filter(|asked| !asked.is_null());
    let said = ANSWER.iter().find_map(|key| value(&before, key.as_bytes())).filter(|said| !said.is_null());
    let folder = values.blob.place().and_then(|place| place.path().parent()?.file_name());
    let id = folder.filter(|_| values.blob.place().is_some_and(|place| place.path().ends_with("log.jsonl")));
    let mut line = Style { letters: Letters::Canonical, ..Style::ASCII }.object(|out| {
        if let Some(id) = id {
            out.text("id", id.as_encoded_bytes());
        }
        if let Some(asked) = asked {
            out.text("question", asked.as_text());
        }
        out.text("status", if failure.is_some() { "error" } else { "ok" });
        if let Some(failure) = &failure {
            out.text("error", last_line(failure)).text("traceback", failure);
        }
        if let Some(said) = said.filter(|_| failure.is_none()) {
            out.text("pred_answer", said.as_text());
        }
        out.put("state", Plain::Object(before.clone()));
        out.object("trace", |trace| {
            trace.text("format", "stepscope.run_trace").key("version").raw("1");
            trace.text("source", "burr").list("steps", steps);
        });
    });
    line.push(b'\n');
    line
}

fn has(result: &Plain, key: &[u8]) -> bool {
    matches!(result, Plain::Object(members) if value(members, key).is_some())
}

fn name_of(entry: &LoggedAction) -> Option<&Plain> {
    entry.begin.as_ref().or(entry.end.as_ref())?.get("action")
}

fn declared<'g>(entry: &LoggedAction, graph: &'g HashMap<Vec<u8>, Declared>) -> Option<&'g Declared> {
    graph.get(name_of(entry)?.text()?)
}

fn step(
    at: usize,
    entry: &LoggedAction,
    graph: &HashMap<Vec<u8>, Declared>,
    before: &Members,
    after: &Members,
    error: Option<&[u8]>,
) -> Plain {
    let declared = declared(entry, graph);
    let reads = declared.map_or(&[][..], |declared| &declared.reads);
    let writes = declared.map_or(&[][..], |declared| &declared.writes);
    let mut inputs: Members =
        reads.iter().filter_map(|name| Some((name.clone(), value(before, name)?.clone()))).collect();
    if let Some(Plain::Object(given)) = entry.begin.as_ref().and_then(|begin| begin.get("inputs")) {
        inputs.extend(given.iter().filter(|(key, _)| !key.starts_with(b"__")).cloned());
    }
    // What was declared, and what changed.
    let wrote = |(key, value_after): &&(Vec<u8>, Plain)| {
        writes.contains(key) || value(before, key).is_none_or(|value_before| value_before != value_after)
    };
    let outputs: Members = after.iter().filter(wrote).cloned().collect();
    let failed = error.is_some();
    let names = |names: &[Vec<u8>]| Plain::List(names.iter().map(|name| Plain::text_of(name)).collect());
    let time = |entry: Option<&Plain>, key: &str| entry.and_then(|entry| entry.get(key)).cloned();
    let (began, ended) = (time(entry.begin.as_ref(), "start_time"), time(entry.end.as_ref(), "end_time"));
    let took = began.as_ref().zip(ended.as_ref()).and_then(|(began, ended)| millis(began, ended));
    object([
        ("step_index", Some(Plain::Raw(at.to_string().into_bytes()))),
        ("name", name_of(entry).cloned()),
        ("inputs", Some(Plain::Object(inputs))),
        ("outputs", (!failed).then_some(Plain::Object(outputs))),
        ("result", entry.end.as_ref().and_then(|end| end.get("result")).cloned()),
        ("error", error.map(|error| Plain::Text(last_line(error).to_vec()))),
        ("traceback", error.map(Plain::text_of)),
        ("state", Some(Plain::Object(after.clone()))),
        ("reads", declared.map(|declared| names(&declared.reads))),
        ("writes", declared.map(|declared| names(&declared.writes))),
        ("code", declared.and_then(|declared| declared.code.clone())),
        (
            "sequence_id",
            entry.begin.as_ref().or(entry.end.as_ref()).and_then(|entry| entry.get("sequence_id")).cloned(),
        ),
        ("started_utc", began),
        ("duration_ms", took.map(|took| Plain::Raw(took.to_string().into_bytes()))),
    ])
}

/// Returns the milliseconds between two times without a zone.
fn millis(began: &Plain, ended: &Plain) -> Option<f64> {
    let time = |text: &Plain| std::str::from_utf8(text.text()?).ok()?.parse::<jiff::civil::DateTime>().ok();
    let took = time(ended)?.duration_since(time(began)?);
    Some(took.as_micros() as f64 / 1e3).filter(|took| *took >= 0.0)
}

/// Returns the last line of a traceback that says something.
fn last_line(error: &[u8]) -> &[u8] {
    error.split(|byte| *byte == b'\n').rev().find(|line| !line.trim_ascii().is_empty()).unwrap_or(error)
}
