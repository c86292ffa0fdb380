//! The commands that ask a model, as a shell runs them: whole procedures against upstream's own results, steps asked
//! again, what is refused, and what is kept.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use crate::support::oracle::{lines, member, unpacked, writable};
use crate::support::server::{PATIENCE, Seen, Server, Talk};
use rustix::process::{Pid, Signal, kill_process};
use stepscope_base::json::write::{Letters, Style};
use stepscope_base::json::{Tape as JsonTape, Value};
use stepscope_base::text::{Shown, Untrusted, pieces};
use stepscope_execution::prompt::AnswerShape;
use stepscope_execution::runner::{Runner, dumped};
use stepscope_io::model::Backend;
use stepscope_io::model::cassette::{Speed, Tape};
use stepscope_record::AnswerSchema;

fn stepscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.stdin(Stdio::null()).env("STEPSCOPE_CONFIG_DIR", "/nonexistent");
    for name in ["OLLAMA_HOST", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"] {
        command.env_remove(name);
    }
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Starts an Ollama with a script: the n-th request gets the n-th reply, streamed a few letters at a time.
fn scripted(replies: Vec<Untrusted<'static>>) -> Server {
    Server::start(move |seen, talk| {
        talk.head("200 OK", "application/x-ndjson");
        let letters: Vec<_> = pieces(replies[seen.n].bytes()).map(|(range, _)| range).collect();
        for some in letters.chunks(3) {
            let range = some[0].start..some[some.len() - 1].end;
            ollama_line(talk, &Untrusted::new(&replies[seen.n].bytes()[range]));
        }
        talk.chunk("{\"model\":\"m\",\"response\":\"\",\"done\":true,\"done_reason\":\"stop\"}\n");
        talk.end();
    })
}

fn ollama_line(talk: &mut Talk, text: &Untrusted<'_>) {
    let mut line = b"{\"model\":\"m\",\"response\":".to_vec();
    Style::ASCII.append(text, &mut line);
    line.extend_from_slice(b",\"done\":false}\n");
    talk.chunk(line);
}

fn ollama(talk: &mut Talk, reply: &str) {
    talk.head("200 OK", "application/x-ndjson");
    ollama_line(talk, &Untrusted::new(reply.as_bytes()));
    talk.chunk("{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":4}\n");
    talk.end();
}

/// Returns the body that upstream's client sends, but for the stream.
fn upstreams_body(call: Value<'_>) -> Vec<u8> {
    let mut body =
        b"{\"model\":\"m\",\"stream\":true,\"options\":{\"temperature\":1,\"seed\":1234},\"format\":".to_vec();
    Style::BODY.append(call.get("schema").unwrap(), &mut body);
    body.extend_from_slice(b",\"prompt\":");
    Style::BODY.append(member(call, "prompt"), &mut body);
    body.push(b'}');
    body
}

#[test]
fn whole_procedures_run_as_upstream_runs_them() {
    let bytes = unpacked("oracle/runs.jsonl.gz");
    let folder = tempfile::tempdir().unwrap();
    let mut ends = 0;
    for line in lines(&bytes) {
        let mut tape = JsonTape::default();
        let case = tape.parse(line).unwrap();
        let n = text(case.get("n").unwrap().raw());
        let calls: Vec<_> = case.get("calls").unwrap().items().collect();
        let server = scripted(calls.iter().map(|call| member(*call, "raw")).collect());
        let (procedure, question) = (folder.path().join("procedure.json"), folder.path().join("question.txt"));
        std::fs::write(&procedure, writable(&member(case, "text"))).unwrap();
        std::fs::write(&question, member(case, "problem_text").bytes()).unwrap();
        let mut command = stepscope();
        command.args(["run", "--backend", "ollama", "--model", "m", "--url", &server.url("")]);
        command
            .args(["--answer-schema", member(case, "answer_schema").utf8().unwrap(), "--question-file"])
            .arg(&question);
        if case.get("strict_missing").unwrap().bool() == Some(false) {
            command.arg("--lenient");
        }
        let output = command.arg(&procedure).output().unwrap();
        let said = text(&output.stderr);
        let seen = server.seen();
        assert_eq!(seen.len(), calls.len(), "case {n}: {said}");
        for (seen, call) in seen.iter().zip(&calls) {
            assert_eq!(seen.line, "POST /api/generate HTTP/1.1");
            assert_eq!(text(&seen.body), text(&upstreams_body(*call)), "case {n}");
        }
        if let Some(state) = case.get("state_text").and_then(Value::string) {
            assert_eq!((code(&output), text(&output.stdout)), (0, text(&writable(&state)) + "\n"), "case {n}: {said}");
        } else {
            let message = member(case, "message").line().into_string();
            assert!(code(&output) == 3 && said.contains(&message), "case {n}: {said} for {message}");
            assert!(output.stdout.is_empty());
            ends += 1;
        }
    }
    assert!(ends > 10);
}

/// Tests the same without a process and a connection, for odd procedures and odd replies.
#[test]
fn odd_procedures_run_as_upstream_runs_them() {
    let bytes = unpacked("parity/runs.jsonl.gz");
    let mut made = 0;
    for line in lines(&bytes) {
        let mut tape = JsonTape::default();
        let case = tape.parse(line).unwrap();
        let n = text(case.get("n").unwrap().raw());
        let source = writable(&member(case, "text"));
        let mut source_tape = JsonTape::default();
        let procedure = source_tape.parse(&source).unwrap();
        let schema = AnswerSchema::from_word(member(case, "answer_schema").utf8().unwrap()).unwrap();
        let strict = case.get("strict_missing").unwrap().bool().unwrap();
        let question = member(case, "problem_text");
        let mut runner = Runner::new(procedure, &question, AnswerShape::Published(schema), strict);
        let mut calls = case.get("calls").unwrap().items();
        let ended = loop {
            let asked = match runner.next_ask() {
                Ok(Some(asked)) => asked,
                Ok(None) => break None,
                Err(ended) => break Some(ended),
            };
            let call = calls.next().unwrap_or_else(|| panic!("case {n}: one call more than upstream makes"));
            assert!(asked.request.prompt == member(call, "prompt"), "case {n}: {:?}", asked.request.prompt);
            if let Err(ended) = runner.take(&asked, member(call, "raw").bytes()) {
                break Some(ended);
            }
        };
        assert!(calls.next().is_none(), "case {n}: upstream makes one call more");
        if let Some(state) = case.get("state_text").and_then(Value::string) {
            assert!(ended.is_none(), "case {n}: {ended:?}");
            assert_eq!(text(&dumped(&runner.state().json(), Letters::All)), text(&writable(&state)), "case {n}");
        } else {
            let ended = ended.unwrap_or_else(|| panic!("case {n}: upstream ends early"));
            let message = member(case, "message");
            assert_eq!(
                (ended.class, ended.message.bytes()),
                (text(member(case, "error").bytes()).as_str(), message.bytes())
            );
        }
        made += 1;
    }
    assert!(made >= 150);
}

const RECORD: &str = r#"{"id": "r1", "question": "2 + 3?", "gold_num": 5.0, "status": "ok", "mode": "procedural",
"procedure": {"NameDescription": "Add", "steps": [
 {"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract both numbers", "output": [{"name": "a", "description": "one"}, {"name": "b", "description": "other"}]},
 {"id": 2, "inputs": [{"name": "a", "description": "one"}, {"name": "b", "description": "other"}], "stepDescription": "c = a + b", "output": [{"name": "c", "description": "sum"}]},
 {"id": 3, "inputs": [{"name": "c", "description": "sum"}], "stepDescription": "State c", "output": [{"name": "final_answer", "description": "sum"}]}]},
"state": {"problem_text": "2 + 3?", "a": 2, "b": 3, "c": 6, "final_answer": "6", "final_answer_numerical": 6.0, "confidence": 0.9},
"pred_answer": "6", "pred_num": 6.0, "correct": false}"#;

const LAST: &str = r#"{"final_answer": "5", "final_answer_numerical": 5, "confidence": 1}"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("runs.jsonl", format!("{}\n", RECORD.replace('\n', "")));
        folder
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Asks a scripted Ollama; each step gets the reply that its prompt begins with.
fn rerun(
    folder: &Folder,
    arguments: &[&str],
    answer: impl Fn(&Seen, &mut Talk) + Send + Sync + 'static,
) -> (Output, Vec<Seen>) {
    let server = Server::start(answer);
    let mut command = stepscope();
    command.arg("rerun").arg(folder.path("runs.jsonl")).args(["--id", "r1", "--model", "m", "--url", &server.url("")]);
    (command.args(arguments).output().unwrap(), server.seen())
}

fn right(seen: &Seen, talk: &mut Talk) {
    let prompt = seen.json()["prompt"].as_str().unwrap().to_owned();
    ollama(
        talk,
        match &prompt[..5] {
            "Extra" => r#"{"a": 2, "b": 3}"#,
            "c = a" => r#"{"c": 5}"#,
            _ => LAST,
        },
    );
}

fn records(output: &Output) -> Vec<serde_json::Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_whole_run_steps_down_where_the_server_refuses_the_schema() {
    let folder = Folder::new();
    let server = Server::start(|seen, talk| {
        if seen.json()["format"].is_object() {
            let body = r#"{"error": "Invalid schema: 'oneOf' is not permitted"}"#;
            return talk.whole("400 Bad Request", "application/json", "", body);
        }
        right(seen, talk);
    });
    let mut command = stepscope();
    command.arg("run").arg(folder.path("runs.jsonl")).args(["--model", "m", "--url", &server.url("")]);
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert!(code(&output) == 0 && said.contains("'oneOf' is not permitted; now JSON mode requested"), "{said}");
    assert!(
        said.contains("step 1/3: 16 bytes in ") && said.contains("JSON mode requested, 1 of 1 replies match"),
        "{said}"
    );
}

#[test]
fn a_step_is_asked_again_and_the_fork_says_what_became_of_the_run() {
    let folder = Folder::new();
    let before = std::fs::read(folder.path("runs.jsonl")).unwrap();
    let (output, seen) =
        rerun(&folder, &["--step", "2", "--stale", "--out", folder.path("f.jsonl").to_str().unwrap()], right);
    let said = text(&output.stderr);
    assert_eq!(code(&output), 0, "{said}");
    assert_eq!(seen.len(), 2);
    assert!(
        said.contains("re-runs 2 of 3 steps, about") && said.contains("schema sent, 1 of 1 replies match"),
        "{said}"
    );
    let made = &records(&output)[0];
    assert_eq!((&made["state"]["c"], &made["pred_num"], &made["correct"]), (&5.into(), &5.into(), &true.into()));
    assert_eq!(
        (&made["trace"]["fork"]["parent"], &made["trace"]["fork"]["asked"]),
        (&"r1".into(), &serde_json::json!([1, 2]))
    );
    let step = &made["trace"]["steps"][0];
    assert_eq!(
        (&step["backend"], &step["enforcement"], &step["verdict"]),
        (&"ollama".into(), &"schema".into(), &"obeyed".into())
    );
    assert_eq!(step["usage"], serde_json::json!({"prompt_tokens": 9, "completion_tokens": 4}));
    assert_eq!(step["request_sha256"].as_str().unwrap(), stepscope_base::canonical::sha256(&seen[0].body));
    assert_eq!(std::fs::read(folder.path("f.jsonl")).unwrap(), output.stdout, "what is saved is what was printed");
    assert_eq!(std::fs::read(folder.path("runs.jsonl")).unwrap(), before, "records are never written");
    // A fork is a record like any other: it can be checked, shown and forked again.
    let check = stepscope().arg("check").arg(folder.path("f.jsonl")).output().unwrap();
    assert_eq!(code(&check), 0, "{}", text(&check.stdout));
}

#[test]
fn one_step_alone_leaves_stale_ones() {
    let folder = Folder::new();
    let (output, seen) = rerun(&folder, &["--step", "2"], right);
    let said = text(&output.stderr);
    assert_eq!((code(&output), seen.len()), (1, 1), "{said}");
    assert!(said.contains("out of date: step 3; --stale re-runs them too"), "{said}");
    assert_eq!(records(&output)[0]["trace"]["fork"]["stale"], serde_json::json!([2]));
}

#[test]
fn edited_values_go_into_the_prompt() {
    let folder = Folder::new();
    let (output, seen) = rerun(&folder, &["--step", "2", "--set", "a=40", "--set", "b=\"\u{e9}\""], right);
    assert!(seen[0].json()["prompt"].as_str().unwrap().contains("\"a\": 40,\n  \"b\": \"\u{e9}\""));
    let made = &records(&output)[0];
    assert_eq!((&made["state"]["a"], &made["state"]["b"]), (&40.into(), &"\u{e9}".into()));
    for (set, words) in [
        ("a=x", "quotes: --set 'a=\"x\"'"),
        ("=3", "no variable"),
        ("a", "no variable"),
        ("A=3", "the run has no such variable; it has "),
    ] {
        let (output, seen) = rerun(&folder, &["--step", "2", "--set", set], right);
        assert!(code(&output) == 2 && text(&output.stderr).contains(words) && seen.is_empty(), "{set}");
    }
}

#[test]
fn samples_are_counted_with_those_that_do_not_count() {
    let folder = Folder::new();
    let (output, seen) = rerun(&folder, &["--step", "2", "--samples", "6", "--stale"], |seen, talk| {
        let seed = seen.json()["options"]["seed"].as_u64().unwrap();
        if seen.json()["prompt"].as_str().unwrap().starts_with("State") {
            return ollama(talk, LAST);
        }
        let reply = match seed - 1234 {
            0 => r#"{"c": 6}"#,
            1 => "```json\n{\"c\": 5.0}\n```",
            2 => r#"{"c": 5}"#,
            3 => "",
            4 => "no idea",
            _ => r#"{"d": 5}"#,
        };
        ollama(talk, reply);
    });
    let said = text(&output.stderr);
    assert_eq!((code(&output), seen.len()), (1, 7), "{said}");
    assert!(said.contains("schema sent, 3 of 6 replies match, 1 in a code fence"), "{said}");
    let lines = records(&output);
    let verdicts: Vec<_> = lines[..6].iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["obeyed", "obeyed", "obeyed", "empty", "invalid", "breaks the schema"]);
    assert_eq!(
        (&lines[0]["around"], &lines[1]["around"]),
        (&serde_json::Value::Null, &"a code fence around it".into())
    );
    let distribution = &lines[6]["distribution"];
    assert_eq!(
        distribution["fields"][0]["values"],
        serde_json::json!([
        {"value": 5.0, "samples": [1, 2]}, {"value": 6, "samples": [0]}])
    );
    assert_eq!(
        (&distribution["empty"], &distribution["invalid"], &distribution["breaks_schema"]),
        (&serde_json::json!([3]), &serde_json::json!([4]), &serde_json::json!([5]))
    );
    assert_eq!(distribution["incomplete"], serde_json::json!([5]));
    let fork = &lines[7];
    assert_eq!((&fork["trace"]["fork"]["how"], &fork["state"]["c"]), (&"consensus".into(), &5.0.into()));
    let steps = fork["trace"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 8, "each reply, the consensus, and the last step");
    let took = |step: &serde_json::Value| step["duration_ms"].as_f64().unwrap();
    let longest = steps[..6].iter().map(took).fold(0.0, f64::max);
    assert!(took(&steps[6]) >= longest && steps[6]["verdict"] == "consensus", "{steps:?}");
    assert_eq!(steps[6]["usage"], serde_json::json!({"prompt_tokens": 54, "completion_tokens": 24}));
    assert!(steps[..6].iter().all(|step| step["started_utc"].as_str() >= steps[6]["started_utc"].as_str()));
    // The step costs what all its samples cost, once.
    let line = lines[7].to_string();
    let case = stepscope_judge::case::Case::read(line.as_bytes());
    let cost = stepscope_record::cost::RunCost::of(case.view().state()).unwrap();
    assert_eq!((cost.steps[1].took, cost.tokens), (Some(took(&steps[6])), 54 + 24 + 13));
}

#[test]
fn a_seed_that_is_not_sent_is_not_recorded() {
    let folder = Folder::new();
    let (output, seen) = rerun(&folder, &["--step", "2", "--samples", "2", "--backend", "anthropic"], |_, talk| {
        talk.head("200 OK", "text/event-stream");
        talk.chunk("data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"{\\\"c\\\": 5}\"}}\n\n");
        talk.chunk("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n");
        talk.chunk("data: {\"type\":\"message_stop\"}\n\n");
        talk.end();
    });
    let said = text(&output.stderr);
    assert!(said.contains("seed not sent") && said.contains("2 of 2 replies match"), "{said}");
    assert!(seen.len() == 2 && seen[0].json()["temperature"] == 1, "{said}");
    assert!(!text(&output.stdout).contains("\"seed\""), "{}", text(&output.stdout));
    let fork = &records(&output)[3];
    assert_eq!((&fork["state"]["c"], &fork["trace"]["steps"][0]["temperature"]), (&5.into(), &1.into()));
}

#[test]
fn calls_that_fail_are_told_apart_from_replies_that_do_not_obey() {
    let folder = Folder::new();
    let arguments = ["--step", "2", "--samples", "3", "--retries", "0"];
    let refuse = |talk: &mut Talk| talk.whole("404 No", "application/json", "", r#"{"error": "no such model"}"#);
    let (output, _) = rerun(&folder, &arguments, move |seen, talk| {
        if seen.json()["options"]["seed"] == 1235 { refuse(talk) } else { ollama(talk, r#"{"c": 5}"#) }
    });
    let said = text(&output.stderr);
    assert!(
        said.contains("schema sent, 2 of 2 replies match, 1 failed\n") && said.contains("1 of 3 calls failed: "),
        "{said}"
    );
    assert!(said.contains("no such model"), "{said}");
    let (output, _) = rerun(&folder, &arguments, move |_, talk| refuse(talk));
    let said = text(&output.stderr);
    assert!(
        code(&output) == 3 && said.contains("schema sent, 3 failed\n") && !said.contains("replies match"),
        "{said}"
    );
    assert!(said.contains("no reply is usable: 3 failed (first: "), "{said}");
}

#[test]
fn samples_of_which_none_is_usable_say_why() {
    let folder = Folder::new();
    let (output, _) = rerun(&folder, &["--step", "2", "--samples", "3"], |_, talk| ollama(talk, r#"{"d": 5}"#));
    let said = text(&output.stderr);
    assert_eq!(code(&output), 3, "{said}");
    assert!(said.contains("step 2: no reply is usable: 3 break the schema (first: "), "{said}");
}

#[test]
fn what_failed_is_no_answer() {
    let folder = Folder::new();
    let out = folder.path("f.jsonl");
    let arguments = ["--step", "2", "--retries", "0", "--out", out.to_str().unwrap()];
    let (output, _) = rerun(&folder, &arguments, |_, talk| {
        talk.head("200 OK", "application/x-ndjson");
        ollama_line(talk, &Untrusted::from("{\"c\": 5"));
        talk.end();
    });
    assert_eq!(code(&output), 3);
    let said = text(&output.stderr);
    assert!(said.contains("step 2: the reply ended before") && said.contains("is not stored as an answer"), "{said}");
    let made = &records(&output)[0];
    assert_eq!((&made["status"], &made["error_type"]), (&"error".into(), &"ServerError".into()));
    assert!(made.get("pred_answer").is_none() && made.get("correct").is_none());
    // What was recorded of the steps that were not asked stays; the failed one has no value.
    assert_eq!((&made["state"]["a"], &made["state"]["b"], made["state"].get("c")), (&2.into(), &3.into(), None));
    let step = &made["trace"]["steps"][0];
    assert_eq!((&step["raw"], &step["outputs"]), (&"{\"c\": 5".into(), &serde_json::Value::Null), "what came is kept");
    let (output, _) = rerun(&folder, &["--step", "2"], |_, talk| ollama(talk, r#"{"x": 1}"#));
    let said = text(&output.stderr);
    assert!(
        code(&output) == 3 && said.contains("Model omitted required output 'c' for step id=2 Returned keys: ['x']"),
        "{said}"
    );
}

/// Returns the record with everything that its steps gave.
fn traced() -> String {
    let trace = r#""trace": {"steps": [{"step_index": 0, "outputs": {"a": 2, "b": 3}}, {"step_index": 1, "inputs": {"a": 2, "b": 3}, "outputs": {"c": 6}},
        {"step_index": 2, "inputs": {"c": 6}, "outputs": {"final_answer": "6", "final_answer_numerical": 6.0}}]}, "pred_answer""#;
    RECORD.replace("\"pred_answer\"", trace).replace('\n', "")
}

#[test]
fn a_fork_of_a_run_with_a_trace_shows_the_forks_values() {
    let folder = Folder::new();
    folder.write("traced.jsonl", traced());
    let output = stepscope().args(["rerun", "--exact"]).arg(folder.path("traced.jsonl")).output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    folder.write("fork.jsonl", &output.stdout);
    let show = |name: &str, more: &[&str]| {
        let output = stepscope().arg("show").arg(folder.path(name)).args(more).output().unwrap();
        text(&output.stdout)
    };
    for more in [&[][..], &["--state"]] {
        let said = show("fork.jsonl", more);
        assert!(said.contains("c  5  [recomputed]") && !said.contains("c  6"), "{said}");
        assert!(said.contains("final_answer            \"5\"  [recomputed]"), "{said}");
    }
    let check = stepscope().arg("check").arg(folder.path("fork.jsonl")).output().unwrap();
    assert_eq!(code(&check), 0, "{}", text(&check.stdout));
    // A step of the fork is shown the fork's values.
    let prompt = show("fork.jsonl", &["--step", "3", "--prompt"]);
    assert!(prompt.contains("\"c\": 5") && !prompt.contains("\"c\": 6"), "{prompt}");
}

#[test]
fn a_run_that_crashed_did_not_run_its_later_steps() {
    let folder = Folder::new();
    let mut crashed: serde_json::Value = serde_json::from_str(&traced()).unwrap();
    (crashed["status"], crashed["error"], crashed["state"]) = ("error".into(), "cut".into(), serde_json::Value::Null);
    crashed["trace"]["steps"].as_array_mut().unwrap().pop();
    let crashed = crashed.to_string();
    let path = folder.write("crashed.jsonl", crashed);
    let said = text(&stepscope().arg("show").arg(&path).output().unwrap().stdout);
    assert!(
        said.contains("Step 2 (id 2)\n") && said.contains("Step 3 (id 3, uses the answer schema)  run ended here"),
        "{said}"
    );
    assert!(said.contains("Step 2 should calculate 2 + 3 = 5 but wrote 6."), "{said}");
}

#[test]
fn exact_execution_asks_nobody() {
    let folder = Folder::new();
    let run = |name: &str| stepscope().args(["rerun", "--exact"]).arg(folder.path(name)).output().unwrap();
    let output = run("runs.jsonl");
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let made = &records(&output)[0];
    assert_eq!((&made["state"]["c"], &made["pred_num"], &made["correct"]), (&5.into(), &5.into(), &true.into()));
    assert_eq!(
        (&made["trace"]["fork"]["how"], &made["trace"]["fork"]["model"]),
        (&"exact".into(), &serde_json::Value::Null)
    );
    folder.write("fork.jsonl", &output.stdout);
    let output = run("fork.jsonl");
    assert!(code(&output) == 2 && text(&output.stderr).contains("nothing to recompute"), "{output:?}");
    // A note alone is no reason for another exit code, as in `check`.
    folder.write("note.jsonl", RECORD.replace("\"state\": {", "\"state\": {\"stray\": 1, ").replace('\n', ""));
    let output = run("note.jsonl");
    assert!(code(&output) == 0 && text(&output.stderr).contains("1 finding: run/output_undeclared"), "{output:?}");
}

#[test]
fn a_run_is_kept_with_everything_that_was_asked() {
    let folder = Folder::new();
    let server = Server::start(right);
    let mut command = stepscope();
    command.arg("run").arg(folder.path("runs.jsonl")).args([
        "--format",
        "trace",
        "--model",
        "m",
        "--answer-schema",
        "gsm",
    ]);
    let output = command.args(["--backend", "ollama", "--url", &server.url("/")]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let made = &records(&output)[0];
    let schema = stepscope_record::schemas::ALL.iter().find(|schema| schema.name == "trace").unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(schema.text).unwrap()).unwrap();
    assert!(schema.is_valid(made), "{made}");
    assert_eq!((&made["question"], &made["pred_num"]), (&"2 + 3?".into(), &5.into()));
    assert_eq!(made["trace"]["steps"].as_array().unwrap().len(), 3);
    let path = folder.write("trace.jsonl", &output.stdout);
    let check = stepscope().arg("check").arg(path).output().unwrap();
    assert_eq!(code(&check), 0, "{}", text(&check.stdout));
}

#[test]
fn a_signal_loses_no_step_that_is_done() {
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let folder = Folder::new();
        for arguments in [
            &["run", folder.path("runs.jsonl").to_str().unwrap(), "--format", "trace"][..],
            &["rerun", folder.path("runs.jsonl").to_str().unwrap(), "--id", "r1", "--step", "1", "--from-here"],
        ] {
            let (second, asked) = std::sync::mpsc::channel();
            let server = Server::start(move |seen, talk| {
                if seen.n == 0 {
                    return right(seen, talk);
                }
                second.send(()).unwrap();
                talk.wait_for_hang_up();
            });
            let mut command = stepscope();
            command.args(arguments).args(["--backend", "ollama", "--model", "m", "--url", &server.url("/")]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            asked.recv_timeout(PATIENCE).expect("a second question");
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), expected, "{}", text(&output.stderr));
            let made = &records(&output)[0];
            let steps = made["trace"]["steps"].as_array().unwrap();
            assert_eq!((&steps[0]["outputs"]["a"], steps.len()), (&2.into(), 2), "{made}");
            assert!(steps[1]["error"].as_str().unwrap().starts_with("the call was cancelled"), "{made}");
        }
    }
}

#[test]
fn a_cassette_stands_in_for_the_server() {
    let folder = Folder::new();
    let tape = folder.path("tape.jsonl");
    let tape = tape.to_str().unwrap();
    let (live, _) = rerun(&folder, &["--step", "1", "--from-here", "--record", tape], right);
    let mut command = stepscope();
    command.arg("rerun").arg(folder.path("runs.jsonl")).args([
        "--step",
        "1",
        "--from-here",
        "--cassette",
        tape,
        "--offline",
    ]);
    let played = command.output().unwrap();
    assert_eq!((code(&live), code(&played)), (0, 0), "{}", text(&played.stderr));
    let (live, played) = (&records(&live)[0], &records(&played)[0]);
    assert_eq!(live["state"], played["state"]);
    assert_eq!(played["trace"]["steps"][0]["backend"], "cassette ollama", "never taken for a new reply");
    let output = stepscope()
        .arg("rerun")
        .arg(folder.path("runs.jsonl"))
        .args(["--step", "2", "--set", "a=9", "--cassette", tape])
        .output()
        .unwrap();
    assert!(code(&output) == 3 && text(&output.stderr).contains("no recorded reply for this request"), "{output:?}");
    let empty = folder.write("empty.jsonl", "");
    let mut command = stepscope();
    command.arg("rerun").arg(folder.path("runs.jsonl")).args(["--step", "1", "--cassette"]);
    let output = command.arg(empty).output().unwrap();
    assert!(code(&output) == 2 && text(&output.stderr).contains("the recording holds no exchange"), "{output:?}");
}

#[test]
fn nothing_is_sent_that_must_not_be() {
    let folder = Folder::new();
    let said = Mutex::new(Vec::new());
    let refused = |arguments: &[&str], words: &str| {
        let (output, seen) = rerun(&folder, arguments, right);
        let error = text(&output.stderr);
        assert!(code(&output) == 2 && error.contains(words) && seen.is_empty(), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
        said.lock().unwrap().push(error);
    };
    refused(&["--step", "2", "--offline"], "offline mode (--offline): request not sent");
    refused(&["--step", "2", "--key", "sk-MKSECRET-1"], "pass --key-env");
    refused(&["--step", "2", "--key=sk-MKSECRET-1"], "pass --key-env");
    refused(&["--step", "2", "--key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set");
    refused(&["--step", "2", "--profile", "x"], "unknown profile \"x\"");
    refused(&["--step", "9"], "no such step: this record has 3");
    refused(&["--step", "0"], "steps count from 1");
    let runs = folder.path("runs.jsonl");
    refused(&["--step", "2", "--out", runs.to_str().unwrap()], "is the input file");
    let said = said.into_inner().unwrap().concat();
    assert!(!said.contains("MKSECRET"), "{said}");
    for (url, words) in [
        ("http://user:sk-MKSECRET-1@127.0.0.1:1", "holds a name or password"),
        ("http://127.0.0.1:1/?key=sk-MKSECRET-1", "holds a ? or #"),
        ("http://192.0.2.1:1", "http:// is not encrypted"),
    ] {
        let output = stepscope()
            .arg("rerun")
            .arg(&runs)
            .args(["--step", "2", "--model", "m", "--key-env", "MKKEY"])
            .args(["--url", url])
            .env("MKKEY", "sk-MKSECRET-1")
            .output()
            .unwrap();
        let error = text(&output.stderr);
        assert!(code(&output) == 2 && error.contains(words) && !error.contains("MKSECRET"), "{error}");
    }
}

#[test]
fn a_key_is_in_nothing_that_is_printed_or_kept() {
    let folder = Folder::new();
    let server = Server::start(|seen, talk| {
        let echo = seen.header("authorization").unwrap().to_owned();
        if seen.n == 0 {
            return talk.whole("401 Unauthorized", "text/plain", "", format!("invalid: {echo}"));
        }
        ollama(talk, &format!("{{\"c\": \"{echo}\"}}"));
    });
    let out = folder.path("f.jsonl");
    let tape = folder.path("tape.jsonl");
    // Step 3 is out of date then.
    for expected in [3, 1] {
        let mut command = stepscope();
        command.arg("rerun").arg(folder.path("runs.jsonl")).args([
            "--step",
            "2",
            "--model",
            "m",
            "--url",
            &server.url(""),
        ]);
        command.args(["--key-env", "MKKEY"]).env("MKKEY", "sk-MKSECRET-1").env("RUST_LOG", "trace");
        let output = command.arg("--out").arg(&out).arg("--record").arg(&tape).output().unwrap();
        let all = text(&output.stdout) + &text(&output.stderr);
        assert!(code(&output) == expected && all.contains("***") && !all.contains("MKSECRET"), "{all}");
    }
    for file in [out, tape] {
        assert!(!std::fs::read_to_string(file).unwrap().contains("MKSECRET"));
    }
}

#[test]
fn a_profile_names_model_and_server() {
    let folder = Folder::new();
    let server = Server::start(right);
    let config = folder.path("config");
    std::fs::create_dir(&config).unwrap();
    let profile = format!(
        "profile = \"box\"\n[profiles.box]\nbackend = \"ollama\"\nurl = \"{}\"\nmodel = \"from-profile\"\n",
        server.url("")
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();
    let mut command = stepscope();
    command.arg("rerun").arg(folder.path("runs.jsonl")).args(["--step", "2", "--quiet", "--config-dir"]).arg(&config);
    // In a pipe nobody is asked, so somebody must have said so.
    let output = command.output().unwrap();
    assert!(code(&output) == 2 && text(&output.stderr).contains("Pass --model or --yes"));
    assert!(server.seen().is_empty());
    let output = command.arg("--yes").output().unwrap();
    let sends = format!("stepscope: sends lines of {} to from-profile at ", folder.path("runs.jsonl").display());
    let said = text(&output.stderr);
    let other = "stepscope: the server says that the model was m";
    assert!(said.starts_with(&sends) && said.lines().skip(1).eq([other]), "quiet, but for that: {said}");
    assert_eq!(server.seen()[0].json()["model"], "from-profile");
    // A proxy of the environment is not asked, least of all for this machine.
    let output =
        command.env("HTTP_PROXY", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1").output().unwrap();
    assert_eq!((code(&output), server.seen().len()), (1, 2));
}

/// Starts an Ollama with these models.
fn with_models(names: &'static [&'static str]) -> Server {
    Server::start(move |seen, talk| {
        if seen.path() == "/api/tags" {
            let models: Vec<_> = names.iter().map(|name| serde_json::json!({"name": name})).collect();
            return talk.whole("200 OK", "application/json", "", serde_json::json!({"models": models}).to_string());
        }
        right(seen, talk);
    })
}

/// Returns the model of every request, except those for the list of models.
fn sent(server: &Server) -> Vec<String> {
    let calls = server.seen().into_iter().filter(|seen| seen.path() != "/api/tags");
    calls.map(|seen| seen.json()["model"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_record_never_chooses_who_is_asked() {
    let folder = Folder::new();
    let call = r#""trace": {"steps": [{"step_index": 1, "model": "gpt-oss:120b-cloud", "prompt": "p", "raw": "r"}]}, "pred_answer""#;
    folder.write("cloud.jsonl", RECORD.replace('\n', "").replace(r#""pred_answer""#, call));
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/policy.jsonl");
    let answer = std::fs::read_to_string(&policy).unwrap().lines().next().unwrap().to_owned();
    folder.write("answer.jsonl", answer.replacen('{', r#"{"model": "gpt-oss:120b-cloud", "#, 1));
    std::fs::copy(policy.with_file_name("policy.document.json"), folder.path("policy.document.json")).unwrap();
    for (file, more) in [("cloud.jsonl", &["--step", "2"][..]), ("answer.jsonl", &[])] {
        let ask = |server: &Server, words: &[&str]| {
            let mut command = stepscope();
            command.arg("rerun").arg(folder.path(file)).args(more).args(words);
            let output = command.args(["--url", &server.url("")]).output().unwrap();
            (code(&output), text(&output.stderr), sent(server))
        };
        let (code, said, sent) = ask(&with_models(&["mine"]), &[]);
        assert!(code == 2 && sent.is_empty() && said.contains("nothing was sent"), "{said}");
        let (_, said, sent) = ask(&with_models(&["mine"]), &["--yes"]);
        assert_eq!(sent, ["mine"], "the only model of the server that was named: {said}");
        let (code, said, sent) = ask(&with_models(&["mine", "gpt-oss:120b-cloud"]), &["--yes"]);
        assert!(code == 2 && sent.is_empty() && said.contains("has 2: mine, gpt-oss:120b-cloud"), "{said}");
        let (_, said, sent) = ask(&with_models(&["mine"]), &["--model", "other"]);
        assert_eq!(sent, ["other"]);
        let sends = format!("stepscope: sends lines of {}", folder.path(file).display());
        assert!(said.starts_with(&sends) && said.contains(" to other at http://127.0.0.1:"), "{said}");
        assert_eq!(said.lines().next().unwrap().contains("policy.document.json"), file == "answer.jsonl", "{said}");
    }
    // Nobody named a server: then --yes is no choice either.
    let output =
        stepscope().arg("rerun").arg(folder.path("cloud.jsonl")).args(["--step", "2", "--yes"]).output().unwrap();
    assert!(code(&output) == 2 && text(&output.stderr).contains("no model selected"), "{output:?}");
}

#[test]
fn commands_that_send_wait_for_a_word() {
    let folder = Folder::new();
    let procedure: serde_json::Value = serde_json::from_str(&RECORD.replace('\n', "")).unwrap();
    let mut broken = procedure["procedure"].clone();
    broken["steps"][2]["inputs"] = serde_json::json!([]);
    let path = folder.write("broken.json", broken.to_string());
    let path = path.to_str().unwrap();
    let question = folder.write("question.txt", "2 + 3?");
    let question = question.to_str().unwrap();
    for arguments in [&["repair", path][..], &["run", path, "--question-file", question]] {
        let server = with_models(&["mine"]);
        let ask = |words: &[&str]| {
            let output = stepscope().args(arguments).args(words).args(["--url", &server.url("")]).output().unwrap();
            (code(&output), text(&output.stderr))
        };
        let (code, said) = ask(&[]);
        assert!(code == 2 && said.contains("nothing was sent") && sent(&server).is_empty(), "{said}");
        let (_, said) = ask(&["--yes"]);
        assert!(said.contains(&format!("sends lines of {path}")), "{said}");
        assert_eq!(said.contains(question), arguments[0] == "run", "{said}");
        assert!(sent(&server).iter().all(|model| model == "mine") && !sent(&server).is_empty());
    }
}

#[test]
fn what_flags_name_must_be_there_before_anything_is_done() {
    let folder = Folder::new();
    let runs = folder.path("runs.jsonl");
    let runs = runs.to_str().unwrap();
    let commands: [&[&str]; 6] = [
        &["rerun", runs, "--step", "2"],
        &["rerun", runs, "--exact"],
        &["run", runs],
        &["repair", runs],
        &["models"],
        // The screen: no word of the terminal that there is not.
        &[runs],
    ];
    for command in commands {
        for (flags, words) in [
            (&["--cassette", "nosuch"][..], "nosuch: no such file"),
            (&["--profile", "nope"], "unknown profile \"nope\""),
            (&["--url", "http://me:word@127.0.0.1:1"], "holds a name or password"),
        ] {
            let output = stepscope().args(command).args(flags).output().unwrap();
            let said = text(&output.stderr);
            assert!(code(&output) == 2 && said.contains(words), "{command:?} {flags:?}: {said}");
            assert!(output.stdout.is_empty() && !said.contains("terminal"), "{command:?} {flags:?}: {said}");
        }
    }
}

#[test]
fn the_models_of_a_server_are_listed() {
    let list = Arc::new(Mutex::new(("200 OK", r#"{"models": [{"name": "a:1"}, {"name": "\u001b[31mb"}]}"#)));
    let script = Arc::clone(&list);
    let server = Server::start(move |_, talk| {
        let (status, body) = *script.lock().unwrap();
        talk.whole(status, "application/json", "", body);
    });
    let models = |arguments: &[&str]| {
        stepscope().arg("models").args(["--url", &server.url("")]).args(arguments).output().unwrap()
    };
    let output = models(&[]);
    let lines = text(&output.stdout);
    assert!(code(&output) == 0 && lines.lines().count() == 2 && lines.contains("  ollama      a:1"), "{lines}");
    assert!(lines.contains("␛[31mb"));
    assert_eq!(server.seen()[0].line, "GET /api/tags HTTP/1.1");
    let output = models(&["--format", "jsonl"]);
    assert_eq!(records(&output)[0]["models"], serde_json::json!(["a:1", "\u{1b}[31mb"]));
    assert_eq!(code(&models(&["--offline"])), 2);
    *list.lock().unwrap() = ("500 Oops", r#"{"error": "boom"}"#);
    let output = models(&[]);
    assert!(code(&output) == 3 && text(&output.stderr).contains("did not list its models (HTTP 500): boom"));
    *list.lock().unwrap() = ("500 Oops", "");
    let said = text(&models(&[]).stderr);
    assert!(said.contains("did not list its models (HTTP 500)\n"), "{said}");
    let moved = Server::start(|_, talk| {
        talk.whole("302 Found", "text/plain", "Location: http://user:pw@b.example/v1?k=pw\r\n", "");
    });
    let output = stepscope().args(["models", "--backend", "ollama", "--url", &moved.url("")]).output().unwrap();
    let said = text(&output.stderr);
    assert!(code(&output) == 3 && said.contains("redirects to http://b.example/v1 (HTTP 302)"), "{said}");
    assert!(!said.contains("pw"), "{said}");
    // An address alone does not say what speaks there.
    let openai = Server::start(|seen, talk| match seen.path() {
        "/v1/models" => talk.whole("200 OK", "application/json", "", r#"{"data": [{"id": "c"}]}"#),
        _ => talk.whole("404 Not Found", "text/plain", "", "File Not Found"),
    });
    let output = stepscope().args(["models", "--url", &openai.url("")]).output().unwrap();
    assert!(code(&output) == 0 && text(&output.stdout).contains("  openai      c"), "{output:?}");
    let nobody = stepscope().args(["models", "--url", "http://127.0.0.1:1"]).output().unwrap();
    assert!(code(&nobody) == 3 && text(&nobody.stderr).contains("connection refused: http://127.0.0.1:1"));
}

#[test]
fn a_list_of_models_in_parts_is_listed_to_its_end() {
    let server = Server::start(|seen, talk| {
        let (names, more) = match seen.path().strip_prefix("/v1/models").unwrap() {
            "" => (["a", "b"], true),
            "?after_id=b" => (["c", "d e"], true),
            "?after_id=d+e" => (["f", "g"], false),
            other => panic!("{other}"),
        };
        let data = names.map(|id| serde_json::json!({"type": "model", "id": id}));
        let body = serde_json::json!({"data": data, "has_more": more, "last_id": names[1]});
        talk.whole("200 OK", "application/json", "", body.to_string());
    });
    let models = |url: &str, backend: &str| {
        let output = stepscope().args(["models", "--format", "jsonl", "--url", url, "--backend", backend]).output();
        records(&output.unwrap())[0]["models"].clone()
    };
    assert_eq!(models(&server.url(""), "anthropic"), serde_json::json!(["a", "b", "c", "d e", "f", "g"]));
    // A server that never comes to an end, and one that sends only the list.
    let endless = Server::start(|_, talk| {
        talk.whole("200 OK", "application/json", "", r#"{"data": [{"id": "a"}], "has_more": true, "last_id": "a"}"#);
    });
    assert_eq!(models(&endless.url(""), "anthropic"), serde_json::json!(["a", "a"]));
    assert_eq!(models(&endless.url(""), "openai"), serde_json::json!(["a"]));
    let bare = Server::start(|_, talk| talk.whole("200 OK", "application/json", "", r#"[{"id": "meta/l3"}]"#));
    assert_eq!(models(&bare.url(""), "openai"), serde_json::json!(["meta/l3"]));
}

#[test]
fn what_cannot_be_run_is_told() {
    let folder = Folder::new();
    let broken = folder.write("broken.json", "{\"steps\": [");
    let two = folder.write("two.jsonl", "{}\n{}\n");
    let bare = folder.write("bare.json", "{\"steps\": []}");
    let run = |path: &Path, arguments: &[&str]| {
        let output = stepscope()
            .arg("run")
            .arg(path)
            .args(["--model", "m", "--url", "http://127.0.0.1:1"])
            .args(arguments)
            .output();
        let output = output.unwrap();
        (code(&output), text(&output.stderr), text(&output.stdout))
    };
    let question = ["--question", "?"];
    for (path, arguments, words) in [
        (&broken, &question[..], "the text ends in the middle of a value"),
        (&two, &question, "more text after the end"),
        (&folder.path("none.json"), &question, "no such file"),
        (&bare, &[], "pass --question"),
        (&bare, &["--question", "?", "--answer-schema", "nope"], "cannot use the schema nope"),
        (&bare, &["--question", "?", "--question-file", "x"], "cannot be used with"),
    ] {
        let (code, said, out) = run(path, arguments);
        assert!(code == 2 && said.contains(words) && out.is_empty(), "{said}");
    }
    // Nothing to ask is no failure; as in upstream the question alone is the state.
    assert_eq!(run(&bare, &question), (0, String::new(), "{\"problem_text\": \"?\"}\n".to_owned()));
    let (code, said, _) = run(&folder.path("runs.jsonl"), &[]);
    assert!(
        code == 3 && said.contains("step 1: connection refused: http://127.0.0.1:1; start the model server"),
        "{said}"
    );
}

const ODD: &str = r#"{"NameDescription": "n", "steps": [
 {"id": 1, "inputs": [{"name": "problem_text", "description": "q"}], "stepDescription": "Read", "output": [{"name": "a", "description": "a"}, {"name": "dead", "description": "d"}]},
 {"id": 2, "inputs": [{"name": "a", "description": "a"}], "stepDescription": "Say", "output": [{"name": "b", "description": "b"}]}]}"#;

#[test]
fn a_procedure_is_mended_without_a_model() {
    let folder = Folder::new();
    let path = folder.write("odd.json", ODD);
    let repair = |arguments: &[&str]| {
        let output = stepscope().arg("repair").arg(&path).args(arguments).output().unwrap();
        (code(&output), text(&output.stdout), text(&output.stderr))
    };
    let (code, listed, _) = repair(&["--list"]);
    assert_eq!(code, 1);
    assert_eq!(
        listed,
        "rename output b of the last step to final_answer (errors 3 -> 1)\n\
         remove dead from the outputs of step 1 (errors 3 -> 2)\n"
    );
    let (code, fixed, said) = repair(&["--without-model"]);
    assert!(code == 0 && said.contains("errors 3 -> 0"), "{said}");
    let check = stepscope().arg("check").arg(folder.write("fixed.json", fixed)).output().unwrap();
    assert_eq!(self::code(&check), 0, "{}", text(&check.stdout));
    let none = stepscope().args(["repair", "--list"]).arg(folder.0.path().join("fixed.json")).output().unwrap();
    assert_eq!((self::code(&none), text(&none.stdout).as_str()), (0, ""));
    assert!(text(&none.stderr).contains("fixed.json:1: it has no errors"), "{}", text(&none.stderr));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), ODD, "the source is never written");
}

#[test]
fn a_record_without_a_procedure_is_none() {
    let folder = Folder::new();
    let path =
        folder.write("answer.json", r#"{"id": 1, "question": "q", "answer": {"found": true}, "completion": "c"}"#);
    for (words, said) in [
        (&["run", "--format", "trace"][..], "answer.json: it holds no procedure"),
        (&["repair", "--without-model"], "has no procedure"),
        (&["repair", "--list"], "has no procedure"),
    ] {
        let output = stepscope().arg(words[0]).arg(&path).args(&words[1..]).output().unwrap();
        assert_eq!((code(&output), text(&output.stdout)), (2, String::new()), "{words:?}");
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
}

#[test]
fn a_procedure_is_mended_as_upstream_asks_for_it() {
    let folder = Folder::new();
    let path = folder.write("odd.json", ODD);
    let fixed = ODD
        .replace(r#", {"name": "dead", "description": "d"}"#, "")
        .replace(r#""name": "b""#, r#""name": "final_answer""#);
    let server = Server::start(move |seen, talk| match seen.n {
        0 => ollama(talk, "I cannot"),
        1 => ollama(talk, &format!("```json\n{fixed}\n```")),
        2 => ollama(talk, &format!("{fixed} done")),
        3 => ollama(talk, &format!("{fixed}\n")),
        _ => ollama(talk, "{}"),
    });
    let out = folder.path("out.jsonl");
    let mut command = stepscope();
    command.arg("repair").arg(&path).args(["--model", "m", "--url", &server.url(""), "--out"]).arg(&out);
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(code(&output), 0, "{said}");
    assert!(said.contains("attempt 3: the reply is not JSON") && said.contains("attempt 4: errors 3 → 0"), "{said}");
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    let body = seen[0].json();
    assert_eq!(seen[2].json()["prompt"], body["prompt"], "nothing was taken from text around the procedure");
    assert_eq!(body["options"], serde_json::json!({"temperature": 0, "seed": 1234}));
    assert_eq!(body["format"]["title"], "Procedure");
    let prompt = body["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("- {'severity': 'fatal', 'action': 'EXTEND_PROCEDURE_TO_FINAL', 'message': \"Final step must")
    );
    assert_eq!(std::fs::read_to_string(out).unwrap().lines().count(), 1);
    let offline = command.arg("--offline").output().unwrap();
    assert!(code(&offline) == 2 && offline.stdout.is_empty());
}

#[test]
fn the_sample_runs_have_a_cassette() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    let tape = Tape::packed(stepscope_samples::CASSETTE, &Shown::own("samples"), Speed::AtOnce).unwrap();
    assert_eq!(tape.source(), Some((Backend::Chat, "smollm2:135m")));
    let mut played = 0;
    for id in
        ["e6c1704c4f7bd93e8a4014a3fce8d964", "83db0abb269f7fe65703fad61ec2a310", "fb1fefd852ead5817dbbbedf3e119d7c"]
    {
        for step in ["1", "2", "3"] {
            let mut command = stepscope();
            command.arg("rerun").arg(samples.join("word_problems.jsonl")).args([
                "--id",
                id,
                "--step",
                step,
                "--from-here",
            ]);
            let output = command.arg("--cassette").arg(samples.join("cassette.jsonl.zst")).output().unwrap();
            let said = text(&output.stderr);
            assert!(code(&output) < 2, "{id} {step}: {said}");
            let steps = records(&output)[0]["trace"]["steps"].as_array().unwrap().clone();
            let again = steps.iter().filter(|step| step["backend"] == "cassette openai").count();
            assert!(again > 0 && said.contains("from a recording"), "{said}");
            played += again;
        }
    }
    assert!(played > 15, "{played}");
}

#[test]
fn a_typed_answer_of_the_samples_becomes_grounded_from_the_recording() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    let folder = Folder::new();
    for name in ["notice.jsonl", "notice.document.json"] {
        std::fs::copy(samples.join(name), folder.path(name)).unwrap();
    }
    let checked = |path: &Path| {
        let output = stepscope().arg("check").arg(path).args(["--format", "jsonl"]).output().unwrap();
        let line: serde_json::Value = serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
        let quoted = !text(&output.stdout).contains("span/verbatim_without_quote");
        (line["route"]["name"].as_str().unwrap().to_owned(), line["grounded"]["items"].as_u64().unwrap(), quoted)
    };
    let (notice, fork) = (folder.path("notice.jsonl"), folder.path("fork.jsonl"));
    // It has no quote, but its value stands in the lines that it cites.
    assert_eq!(checked(&notice), ("ship".to_owned(), 1, false));
    let again = |more: &[&str]| {
        let mut command = stepscope();
        command.arg("rerun").arg(&notice).args(["--id", "pool-locker", "--cassette"]);
        command.arg(samples.join("cassette.jsonl.zst")).args(more).output().unwrap()
    };
    // With the settings of the record it says the same again.
    let output = again(&[]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let line = std::fs::read_to_string(&notice).unwrap().lines().next().unwrap().to_owned();
    let parent: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(records(&output)[0]["answer"], parent["answer"]);
    let output = again(&["--temperature", "0.3", "--out", fork.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let made = &records(&output)[0];
    assert_eq!(made["answer"]["items"][0]["amount"], serde_json::json!({"value": 1, "currency": "EUR"}));
    assert_eq!(made["trace"]["steps"][0]["backend"], "cassette openai");
    let said = text(&output.stderr);
    assert!(said.contains("replayed, 1 of 1 replies match") && !said.contains("schema sent"), "{said}");
    assert_eq!(checked(&fork), ("ship".to_owned(), 1, true));
}

#[test]
fn a_typed_answer_is_asked_for_again_and_judged_by_the_same_rules() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs");
    let ask = |answer: serde_json::Value, more: &[&str]| {
        let server = Server::start(move |_, talk| ollama(talk, &answer.to_string()));
        let mut command = stepscope();
        command.arg("rerun").arg(policy.join("policy.jsonl")).args([
            "--line",
            "1",
            "--model",
            "m",
            "--url",
            &server.url(""),
        ]);
        (command.args(more).output().unwrap(), server.seen())
    };
    let item = |first: u32, quote: &str| {
        serde_json::json!({"extraction_method": "verbatim", "confidence": 0.9, "caveats": [], "answer_found": true,
            "complete_answer_found": true, "context_completeness_weak": 1, "context_structured": true,
            "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false,
            "suggested_clarification": null, "items": [{"amount": {"value": 75, "currency": "EUR"},
            "spans": [{"line_start": first, "line_end": first, "quote": quote}]}]})
    };
    let (output, seen) = ask(item(8, "Premium for the year: EUR 486.50"), &[]);
    let said = text(&output.stderr);
    assert!(said.contains("a prompt rebuilt from") && said.contains("schema sent, 1 of 1 replies match"), "{said}");
    let body = seen[0].json();
    assert!(body["prompt"].as_str().unwrap().contains("# Question\nWhat is the excess for baggage?\n"));
    assert!(body["format"]["properties"]["items"]["items"]["properties"]["amount"].is_object());
    let made = &records(&output)[0];
    assert_eq!(
        (&made["answer"]["items"][0]["amount"]["value"], &made["trace"]["fork"]["how"]),
        (&75.into(), &"rerun".into())
    );
    let (output, _) = ask(item(8, "words that stand nowhere"), &[]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("span/quote_nowhere_in_doc"), "{}", text(&output.stderr));
    let (output, seen) = ask(item(8, ""), &["--step", "1"]);
    assert_eq!((code(&output), seen.len()), (2, 0));
    assert!(text(&output.stderr).contains("a structured answer has no steps"));
}

#[test]
fn a_run_that_crashes_keeps_the_values_of_the_steps_that_ran() {
    for (replies, state) in [
        (vec![r#"{"a": 2, "b": 3}"#, r#"{"x": 1}"#], serde_json::json!({"problem_text": "2 + 3?", "a": 2, "b": 3})),
        (vec![r#"{"x": 1}"#], serde_json::Value::Null),
    ] {
        let folder = Folder::new();
        let server = scripted(replies.into_iter().map(Untrusted::from).collect());
        let mut command = stepscope();
        command.arg("run").arg(folder.path("runs.jsonl")).args(["--format", "trace", "--model", "m"]);
        let output = command.args(["--backend", "ollama", "--url", &server.url("/")]).output().unwrap();
        assert_eq!(code(&output), 3, "{}", text(&output.stderr));
        let made = &records(&output)[0];
        assert_eq!((&made["status"], &made["state"]), (&"error".into(), &state));
    }
}
