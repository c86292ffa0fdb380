//! Common JSON that is no record, named by what it is, so that people see what was skipped in a folder.
//!
//! A guess for people, made of a value of no known format. Nothing is decided by it.

use crate::{RecordKind, formats};
use stepscope_base::json::{Kind, Value};

/// One kind of JSON file that often lies in a folder of runs.
struct ForeignShape {
    name: &'static str,
    /// Keys that it always has.
    all: &'static [&'static str],
    /// Keys of which it has at least one; none are asked for if the list is empty.
    any: &'static [&'static str],
}

const fn known(name: &'static str, all: &'static [&'static str], any: &'static [&'static str]) -> ForeignShape {
    ForeignShape { name, all, any }
}

/// The first that fits names the value: what is special stands before what is general.
const KNOWN: &[ForeignShape] = &[
    known("a Jupyter notebook", &["cells", "nbformat"], &[]),
    known("a package-lock.json", &["lockfileVersion"], &[]),
    known("a package.json", &["name"], &["dependencies", "devDependencies", "scripts", "workspaces"]),
    known("a package.json", &["name", "version"], &["main", "exports", "private", "license", "type", "description"]),
    known("a tsconfig.json", &["compilerOptions"], &[]),
    known("a SARIF report", &["runs", "version"], &[]),
    known("an OpenAPI description", &["paths"], &["openapi", "swagger"]),
    known("OpenTelemetry traces", &["resourceSpans"], &[]),
    known("a Chrome trace", &["traceEvents"], &[]),
    known("a GeoJSON object", &["type"], &["features", "geometry", "coordinates"]),
    known("a JSON Schema", &["$schema"], &[]),
    known("a JSON Schema", &["type", "properties"], &[]),
    known("a JSON Schema", &["$defs"], &[]),
    known("an adapter's configuration", &["peft_type"], &[]),
    known("a tokenizer", &["added_tokens", "model"], &[]),
    known("a tokenizer's configuration", &["tokenizer_class"], &[]),
    known("a model's configuration", &[], &["model_type", "architectures"]),
    known("a generation configuration", &[], &["bos_token_id", "eos_token_id"]),
    known("the index of a model's weights", &["weight_map"], &[]),
    known("a trainer's state", &["log_history"], &[]),
    known("the statistics of a training cycle", &["cycle"], &["elapsed_minutes", "avg_reward", "skipped"]),
    known("the results of lm-evaluation-harness", &["results"], &["versions", "configs", "n-shot", "config_general"]),
    known("a finding of stepscope", &["rule", "severity", "message"], &[]),
    known("the state of a Hugging Face dataset", &["_data_files", "_fingerprint"], &[]),
    known("the description of a Hugging Face dataset", &["features", "citation"], &[]),
    known("a table in one object, with columns and data", &["columns", "data"], &[]),
    known("a page of rows from a dataset viewer", &["features", "rows"], &[]),
    known("a request of an OpenAI batch", &["custom_id", "method", "body"], &[]),
    known("a reply of an OpenAI batch", &["custom_id", "response"], &[]),
    known("a step of a Burr application", &["type", "action", "sequence_id"], &["state", "inputs"]),
    known("messages of pydantic-ai", &["parts", "kind"], &[]),
    known("a session of Google ADK", &["app_name", "events"], &["user_id", "state"]),
    known("a session of Google ADK", &["appName", "events"], &["userId", "state"]),
    known("a call that DSPy logged", &["messages", "outputs"], &["prompt", "kwargs"]),
    known("results of promptfoo", &["promptIdx", "testIdx"], &[]),
    known("results of promptfoo", &["results", "evalId"], &[]),
    known("samples of lm-evaluation-harness", &["doc_id", "resps"], &["arguments", "filtered_resps"]),
    known("a run of LangSmith", &["run_type", "inputs"], &[]),
    known("a chat", &["messages"], &[]),
    known(MODEL_REPLY, &["choices"], &["object", "model", "usage"]),
    known(MODEL_REPLY, &["type", "role", "content"], &[]),
    known(MODEL_REPLY, &["object", "output"], &[]),
    known(MODEL_REPLY, &["model", "done"], &["response", "message"]),
    known("a server's error", &["error"], &[]),
];

/// Keys of which an object of mixed values has two if it is a configuration. Results name their model, seed and dataset too.
const SETTINGS: &[&str] = stepscope_base::list![
    batch_size epochs hyperparameters learning_rate lr max_new_tokens max_tokens model_name_or_path num_epochs
    num_train_epochs optimizer settings temperature top_p config
];
const MODEL_REPLY: &str = "a reply of a model server";

/// Maximum number of members of an object that are looked at to see whether they are records.
const MAX_MEMBERS: usize = 20;
/// Maximum number of values of an object that are looked at to see whether all are numbers.
const MAX_LOOKED_AT: usize = 10_000;

/// Names a value of no known format, with its article; `None` for an object that cannot be told.
pub fn name(root: Value<'_>) -> Option<&'static str> {
    match root.kind() {
        Kind::Object => object(root),
        Kind::Array if root.is_empty() => Some("an empty list"),
        Kind::Array => Some("a list"),
        Kind::String | Kind::Key => Some("a string"),
        Kind::Int | Kind::Float | Kind::NotFinite => Some("a number"),
        Kind::True | Kind::False => Some("a boolean"),
        Kind::Null => Some("null"),
    }
}

fn object(root: Value<'_>) -> Option<&'static str> {
    if root.is_empty() {
        return Some("an empty object");
    }
    // An error of null is none.
    let has = |key: &&str| root.get(key).is_some_and(|value| **key != *"error" || !value.is_null());
    let fits = |known: &&ForeignShape| known.all.iter().all(has) && (known.any.is_empty() || known.any.iter().any(has));
    if let Some(known) = KNOWN.iter().find(fits) {
        return Some(known.name);
    }
    if is_numbers(root) {
        return Some("an object of numbers, such as metrics");
    }
    if holds_records(root) {
        return Some(HOLDS_RECORDS);
    }
    (SETTINGS.iter().filter(|key| has(key)).count() > 1).then_some("a configuration")
}

/// Name of an object that is no record and holds records.
pub const HOLDS_RECORDS: &str = "an object that holds records";

/// Tells whether one of the first members is a record, or a list that begins with one.
fn holds_records(root: Value<'_>) -> bool {
    root.members().take(MAX_MEMBERS).any(|member| {
        let value = if member.value.kind() == Kind::Array { member.value.items().next() } else { Some(member.value) };
        let object = value.filter(|value| value.kind() == Kind::Object);
        object.is_some_and(|object| formats::read(object).kind != RecordKind::Unknown)
    })
}

/// Tells whether it holds only numbers, truth values and null, at any depth, and at least one number.
fn is_numbers(root: Value<'_>) -> bool {
    let mut numbers = false;
    for stop in root.walk().take(MAX_LOOKED_AT) {
        match stop.value.kind() {
            Kind::String | Kind::Key => return false,
            _ => numbers |= stop.value.is_number(),
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    fn named(text: &str) -> Option<&'static str> {
        let mut tape = Tape::default();
        name(tape.parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn what_lies_beside_records_is_named() {
        for (text, expected) in [
            (r#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#, "a Jupyter notebook"),
            (r#"{"name": "x", "version": "1.0.0", "scripts": {"test": "jest"}}"#, "a package.json"),
            (r#"{"name": "x", "lockfileVersion": 3, "packages": {}}"#, "a package-lock.json"),
            (r#"{"_data_files": [], "_fingerprint": "4"}"#, "the state of a Hugging Face dataset"),
            (r#"{"features": {}, "citation": ""}"#, "the description of a Hugging Face dataset"),
            (r#"{"accuracy": 0.5}"#, "an object of numbers, such as metrics"),
            (r#"{"eval": {"loss": 0.1, "f1": [1, 2]}, "done": true}"#, "an object of numbers, such as metrics"),
            (r#"{"learning_rate": 1e-4, "optimizer": "adam"}"#, "a configuration"),
            (r#"{"model_type": "llama", "vocab_size": 32000}"#, "a model's configuration"),
            (r#"{"type": "object", "properties": {}}"#, "a JSON Schema"),
            (r#"{"cycle": 1, "elapsed_minutes": 3.5, "avg_reward": 0.4}"#, "the statistics of a training cycle"),
            (r#"{"columns": ["a"], "data": [["b"]]}"#, "a table in one object, with columns and data"),
            (r#"{"custom_id": "a", "response": {}, "error": null}"#, "a reply of an OpenAI batch"),
            (r#"{"results": [{"final_answer": "5"}], "model": "m"}"#, "an object that holds records"),
            (r#"{"q1": {"final_answer": "5"}}"#, "an object that holds records"),
            (r#"{"object": "chat.completion", "model": "m", "choices": [], "usage": {}}"#, MODEL_REPLY),
            (r#"{"model": "m", "response": "5", "done": true}"#, MODEL_REPLY),
            (r#"{"model": "m", "message": {"role": "assistant"}, "done": true}"#, MODEL_REPLY),
            (r#"{"type": "message", "role": "assistant", "model": "m", "content": []}"#, MODEL_REPLY),
            (r#"{"object": "response", "model": "m", "output": []}"#, MODEL_REPLY),
            ("{}", "an empty object"),
            ("[1]", "a list"),
            ("7", "a number"),
        ] {
            assert_eq!(named(text), Some(expected), "{text}");
        }
        let results = [r#"{"model": "m", "input": "q", "output": "a"}"#, r#"{"model": "m", "seed": 1, "text": "a"}"#];
        for text in [r#"{"a": "b"}"#, r#"{"a": {}}"#, r#"{"a": null}"#].into_iter().chain(results) {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
