//! Real servers with a real small model (`tests/live/serve_model.sh`). `.ci/run` starts both and says where they are:
//! `STEPSCOPE_LIVE_LLAMACPP` and `STEPSCOPE_LIVE_OLLAMA` hold their addresses. What is not there is skipped, and says so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

#[path = "support/calls.rs"]
mod calls;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use calls::{heard, wait};
use stepscope_base::text::Untrusted;
use stepscope_execution::call::{Call, Enforcement, Judge, Phase, Received, ReplyPart, ReplyVerdict, RunEvent, RunId};
use stepscope_execution::sampling::distribution::Distribution;
use stepscope_io::model::discover::models;
use stepscope_io::model::drive::Several;
use stepscope_io::model::{Backend, Client, Endpoint, Limits, ModelClient};

const MODEL: &str = "smollm2:135m";
const SCHEMA: &str =
    r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}"#;
/// Limits for one thread on a busy machine: a model may take its time, but not for ever.
const PATIENT: Limits = Limits {
    connect: Duration::from_secs(10),
    first: Duration::from_secs(300),
    silence: Duration::from_secs(120),
    total: Duration::from_secs(600),
    retries: 2,
    backoff: Duration::from_secs(1),
    reply: 1 << 20,
    frame: 1 << 20,
};

/// Returns the addresses of the servers, each with the API that it offers.
fn servers() -> Vec<(Backend, String)> {
    let kinds: [(&str, &[Backend]); 2] = [
        ("STEPSCOPE_LIVE_LLAMACPP", &[Backend::Chat, Backend::Responses, Backend::Anthropic]),
        ("STEPSCOPE_LIVE_OLLAMA", &[Backend::Ollama, Backend::OllamaChat, Backend::Chat]),
    ];
    let mut servers = Vec::new();
    for (variable, backends) in kinds {
        match std::env::var(variable) {
            Ok(url) if !url.is_empty() => servers.extend(backends.iter().map(|backend| (*backend, url.clone()))),
            _ => println!("skipped: {variable} names no server"),
        }
    }
    servers
}

/// Returns each server with the API that it was made for.
fn own_ways() -> Vec<(Backend, String)> {
    let ollama = std::env::var("STEPSCOPE_LIVE_OLLAMA").unwrap_or_default();
    let is_own = |(backend, url): &(Backend, String)| match backend {
        Backend::Ollama => true,
        Backend::Chat => *url != ollama,
        _ => false,
    };
    servers().into_iter().filter(is_own).collect()
}

fn call(prompt: &str) -> Call {
    Call {
        prompt: Untrusted::from(prompt.to_owned()),
        schema: Some(Untrusted::from(SCHEMA)),
        model: MODEL.to_owned(),
        temperature: Some(0.0),
        seed: Some(1234),
        max_tokens: Some(60),
        enforcement: Enforcement::Schema,
        may_downgrade: true,
    }
}

fn client(backend: Backend, url: &str) -> Client {
    Client::new(Endpoint::new(backend, url, None).unwrap(), PATIENT).unwrap()
}

fn judge() -> Judge {
    Judge::new(Some(&Untrusted::from(SCHEMA)), &[Untrusted::from("a")])
}

#[test]
fn replies_stream_in() {
    for (backend, url) in servers() {
        let plain = Call { schema: None, ..call("Count: one, two, three,") };
        let (rerun, events) = heard(&client(backend, &url), plain);
        let Phase::Done(finish) = &rerun.phase else { panic!("{backend:?}: {:?}", rerun.phase) };
        let pieces = events.iter().filter(|event| matches!(event, RunEvent::Text { .. })).count();
        assert!(pieces > 3, "{backend:?}: {pieces} pieces of {:?}", rerun.content);
        assert!(
            !rerun.content.is_empty() && finish.usage.completion.is_some_and(|count| count > 0),
            "{backend:?} {finish:?}"
        );
    }
}

#[test]
fn a_schema_is_kept_where_the_server_keeps_it() {
    for (backend, url) in servers() {
        let (rerun, _) = heard(&client(backend, &url), call("Give a number as JSON, such as {\"a\": 7}."));
        assert!(matches!(rerun.phase, Phase::Done(_)), "{backend:?}: {:?}", rerun.phase);
        let verdict = judge().judge(&rerun.content).verdict;
        println!("{}: {} {verdict:?}", backend.word(), rerun.enforcement.unwrap().phrase());
        // llama.cpp passes over the schema of responses and messages: then the verdict says so, whatever it is.
        if !matches!(backend, Backend::Responses | Backend::Anthropic) {
            assert_eq!(verdict, ReplyVerdict::Obeyed, "{backend:?}: {}", String::from_utf8_lossy(&rerun.content));
        }
    }
}

#[test]
fn a_refused_schema_is_stepped_down_from() {
    // Of Ollama's two ways the one for OpenAI's clients ends such a stream without a word; that is a failure, and said.
    for (backend, url) in own_ways() {
        let odd = Call { schema: Some(Untrusted::from(r#"{"type": "nonsense"}"#)), ..call("Say {\"a\": 1}.") };
        let (rerun, events) = heard(&client(backend, &url), Call { max_tokens: Some(8), ..odd });
        let stepped = events.iter().filter(|event| matches!(event, RunEvent::Downgraded { .. })).count();
        assert!(stepped > 0 && rerun.enforcement > Some(Enforcement::Schema), "{backend:?}: {events:?}");
        assert!(matches!(rerun.phase, Phase::Done(_)), "{backend:?}: {:?}", rerun.phase);
    }
}

#[test]
fn samples_are_asked_side_by_side_and_counted() {
    for (backend, url) in own_ways() {
        let calls: Vec<Call> = (0..4)
            .map(|n| Call {
                seed: Some(n),
                temperature: Some(1.0),
                ..call("Give a number as JSON, such as {\"a\": 7}.")
            })
            .collect();
        let mut each = vec![Received::begin(RunId(0)); 4];
        let asked: Arc<dyn ModelClient> = Arc::new(client(backend, &url));
        wait(async {
            let mut several = Several::start(asked, calls, 2);
            while let Some(events) = several.next_few().await {
                for event in events {
                    assert!(each[event.call].take(RunId(0), event.event));
                }
            }
        });
        let replies: Vec<_> = each.iter().map(|rerun| Some(judge().judge(&rerun.content))).collect();
        let made = Distribution::of(&[Untrusted::from("a")], &replies);
        assert_eq!(made.valid.len(), 4, "{backend:?}: {made:?}");
        let counted: usize = made.fields[0].buckets.iter().map(|bucket| bucket.samples.len()).sum();
        assert_eq!(counted, 4);
    }
}

/// Tells whether llama.cpp reports its one slot as busy.
fn is_busy(url: &str) -> bool {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(format!("GET /slots HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"is_processing\""), "{answer}");
    answer.contains("\"is_processing\":true")
}

#[test]
fn a_cancelled_call_frees_the_server() {
    for (backend, url) in servers() {
        let long =
            Call { schema: None, max_tokens: Some(2000), temperature: Some(1.0), ..call("Tell a very long story.") };
        let asked = client(backend, &url);
        wait(async {
            let mut running = asked.run(long);
            loop {
                match running.next().await {
                    Some(RunEvent::Text { part: ReplyPart::Content, .. }) => break,
                    Some(RunEvent::Done(_) | RunEvent::Failed(_)) | None => panic!("{backend:?}: it ended by itself"),
                    Some(_) => {}
                }
            }
            drop(running);
            tokio::task::yield_now().await;
            // The connection is closed by tasks of the runtime, which go on while the server is asked.
            let address = url.clone();
            if std::env::var("STEPSCOPE_LIVE_LLAMACPP").is_ok_and(|llamacpp| llamacpp == url) {
                let free = tokio::task::spawn_blocking(move || {
                    let begun = Instant::now();
                    while is_busy(&address) {
                        assert!(begun.elapsed() < Duration::from_secs(20), "the model still works for nobody");
                    }
                });
                free.await.unwrap();
            }
        });
        let (rerun, _) = heard(&asked, Call { schema: None, max_tokens: Some(2), ..call("Hi") });
        assert!(matches!(rerun.phase, Phase::Done(_)), "{backend:?}: {:?}", rerun.phase);
    }
}

#[test]
fn the_models_are_listed() {
    for (backend, url) in servers().into_iter().filter(|(backend, _)| *backend != Backend::Anthropic) {
        let endpoint = Endpoint::new(backend, &url, None).unwrap();
        let names = wait(models(&endpoint, Duration::from_secs(60))).unwrap();
        assert!(names.iter().any(|name| *name == MODEL), "{backend:?}: {names:?}");
    }
}

const RECORD: &str = r#"{"id": "r1", "question": "2 + 3?", "status": "ok", "mode": "procedural", "procedure": {"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Read a", "output": [{"name": "a", "description": "number"}]}, {"id": 2, "inputs": [{"name": "a", "description": "number"}], "stepDescription": "Say a", "output": [{"name": "final_answer", "description": "a"}]}]}, "trace": {"format": "stepscope.run_trace", "version": 1, "answer_schema": "general", "steps": []}, "state": {"problem_text": "2 + 3?", "a": 2, "final_answer": "2"}}"#;

fn stepscope(command: &str, backend: Backend, url: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::write(&path, RECORD).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    process.arg(command).arg(path).args(["--backend", backend.word(), "--url", url, "--model", MODEL]);
    process.args(["--first-timeout", "300", "--silence-timeout", "120", "--max-tokens", "60"]).args(arguments);
    process.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_run_goes_on_from_one_of_its_steps() {
    for (backend, url) in own_ways() {
        // Ollama needs half a minute for each prompt: there the last step has to do.
        let (step, count) = if backend == Backend::Ollama { ("2", 1) } else { ("1", 2) };
        let output = stepscope("rerun", backend, &url, &["--step", step, "--from-here"]);
        let said = String::from_utf8_lossy(&output.stderr);
        // What a small model answers is its own affair: the fork is there, and its values come from the replies.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{backend:?}: {said}");
        assert!(said.contains(&format!("re-runs {count} of 2 steps")) && said.contains("step 2/2: "), "{said}");
        let fork: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let steps = fork["trace"]["steps"].as_array().unwrap();
        assert_eq!(steps.len(), count);
        for step in steps {
            let raw: serde_json::Value = serde_json::from_str(step["raw"].as_str().unwrap().trim()).unwrap();
            for (name, value) in raw.as_object().unwrap() {
                assert_eq!(&fork["state"][name], value);
            }
        }
        assert!(fork["state"]["final_answer"].is_string());
    }
}

#[test]
fn a_whole_procedure_runs() {
    for (backend, url) in servers().into_iter().filter(|(backend, url)| {
        *backend == Backend::Chat && std::env::var("STEPSCOPE_LIVE_LLAMACPP").is_ok_and(|llamacpp| llamacpp == *url)
    }) {
        let output = stepscope("run", backend, &url, &["--answer-schema", "general"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let state: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(state["final_answer"].is_string() && state["problem_text"] == "2 + 3?", "{state}");
    }
}
