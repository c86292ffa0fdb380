//! `create`: a question becomes a plan, is repaired and run, against upstream's own way in every release.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::oracle::{lines, member, unpacked};
use crate::support::server::{Seen, Server, Talk};
use stepscope_base::canonical::sha256;
use stepscope_base::json::write::{Letters, Style};
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::Untrusted;
use stepscope_execution::call::{Finish, ReplyPart, RunEvent, RunId};
use stepscope_execution::create::Creation;
use stepscope_execution::live::LiveRun;
use stepscope_execution::machine::Machine;
use stepscope_execution::prompt::{AnswerShape, Release};
use stepscope_execution::runner::{Ended, dumped};
use stepscope_execution::sampling::{CallEvent, Sampling, SamplingRound, ServerInfo};
use stepscope_execution::whole::WholeRun;
use stepscope_record::{AnswerSchema, schemas};

/// Gives a machine the replies of a case, as long as it asks; what is asked must be what upstream asked.
fn follow<'c>(machine: &mut impl Machine, calls: &mut impl Iterator<Item = Value<'c>>, seed: Option<i64>, what: &str) {
    let sampling = Sampling { seed, ..Sampling::default() };
    let server = ServerInfo { model: "m".to_owned(), takes_seed: true, ..ServerInfo::default() };
    while let Some(question) = machine.question() {
        let Some(call) = calls.next() else { panic!("{what}: upstream asks no more") };
        let (mut round, asked) = SamplingRound::new(RunId(1), question, &sampling, server.clone());
        assert_eq!(asked[0].temperature, Some(1.0));
        assert_eq!(sha256(asked[0].prompt.bytes()).as_str(), member(call, "prompt_sha256").utf8().unwrap(), "{what}");
        let schema = dumped(asked[0].schema.as_ref().unwrap().bytes(), Letters::Kept);
        assert!(Untrusted::owned(schema) == member(call, "schema"), "{what}");
        let seed: Option<i64> = call.get("seed").and_then(Value::whole);
        assert_eq!(asked[0].seed, seed, "{what}");
        let text = RunEvent::Text { part: ReplyPart::Content, text: member(call, "raw") };
        for event in [text, RunEvent::Done(Finish::default())] {
            let told = CallEvent { call: 0, event, began_utc: None, elapsed: Duration::ZERO };
            assert!(round.hear(RunId(1), told, Duration::ZERO));
        }
        round.judge();
        machine.take(&round, "2026-11-20T09:28:01.250Z");
    }
}

/// Checks an end against upstream's error: class and words.
fn same_end(ended: Option<&Ended>, case: Value<'_>, what: &str) {
    let upstream = case.get("error").and_then(Value::string).map(|class| (class, member(case, "message")));
    let ours = ended.map(|ended| (Untrusted::from(ended.class), ended.message.clone()));
    assert!(ours == upstream, "{what}: {ours:?} for {upstream:?}");
}

#[test]
fn creations_are_upstreams_in_every_release() {
    let bytes = unpacked("parity/creations.jsonl.gz");
    let (mut made, mut repaired, mut ends) = (0, 0, 0);
    for line in lines(&bytes) {
        let mut tape = Tape::default();
        let case = tape.parse(line).unwrap();
        let release = Release::from_word(member(case, "release").utf8().unwrap()).unwrap();
        let what = format!("{} {}", release.word(), case.get("n").unwrap().whole::<usize>().unwrap());
        let examples = case.get("examples").and_then(Value::string).map(Untrusted::into_owned);
        let question = member(case, "question");
        let mut shown = Creation::new(question.clone(), release);
        shown.examples = examples;
        let prompt = shown.question().unwrap().ask.request.prompt;
        assert_eq!(sha256(prompt.bytes()).as_str(), member(case, "prompt_sha256").utf8().unwrap(), "{what}");
        if let Some(text) = case.get("prompt").and_then(Value::string) {
            assert!(prompt == text, "{what}");
        }
        // Upstream's pipeline itself takes no examples.
        let mut creation = Creation::new(question.clone(), release);
        let mut calls = case.get("calls").unwrap().items();
        live_is_the_same(case, question.clone(), release, &what);
        let seed: Option<i64> = case.get("seed").and_then(Value::whole);
        follow(&mut creation, &mut calls, seed, &what);
        repaired += usize::from(creation.calls.len() > 1);
        made += 1;
        let Some(procedure) =
            creation.repair.as_ref().map(|repair| repair.procedure.as_slice()).filter(|_| creation.ended.is_none())
        else {
            same_end(creation.ended.as_ref(), case, &what);
            assert!(calls.next().is_none(), "{what}: upstream asks more");
            ends += 1;
            continue;
        };
        let (mut procedure_tape, mut schema_tape) = (Tape::default(), Tape::default());
        let task = AnswerSchema::from_word(member(case, "task").utf8().unwrap()).unwrap();
        let first = (task == AnswerSchema::Gsm && release < Release::V1_1_0).then_some(schemas::GSM_1_0);
        let own = first.and_then(|schema| schema_tape.parse(schema.as_bytes()));
        let shape = own.map_or(AnswerShape::Published(task), AnswerShape::Own);
        let value = procedure_tape.parse(procedure).unwrap();
        let mut run = WholeRun::new(value, question, shape, false).unwrap();
        run.release = release;
        follow(&mut run, &mut calls, seed, &what);
        assert!(calls.next().is_none(), "{what}: upstream asks more");
        same_end(run.ended(), case, &what);
        if let Some(state) = case.get("state_text").and_then(Value::string) {
            assert!(Untrusted::owned(dumped(&run.state().json(), Letters::PythonAscii)) == state, "{what}");
            let procedure = dumped(procedure, Letters::PythonAscii);
            assert!(Untrusted::owned(procedure) == member(case, "procedure_text"), "{what}");
        }
    }
    assert_eq!(made, 440, "66 questions and 44 bad plans, in four releases");
    assert!(repaired > 150 && ends > 30, "{repaired} {ends}");
}

/// Checks that a run on the screen asks the same and ends the same, where nobody touches it.
fn live_is_the_same(case: Value<'_>, question: Untrusted<'static>, release: Release, what: &str) {
    let task = case.get("task").and_then(Value::string).and_then(|task| AnswerSchema::from_word(task.utf8()?));
    let mut live = LiveRun::create(question, task.unwrap_or(AnswerSchema::Gsm), release);
    let mut calls = case.get("calls").unwrap().items();
    follow(&mut live, &mut calls, case.get("seed").and_then(Value::whole), what);
    assert!(calls.next().is_none(), "{what}: upstream asks more on the screen");
    same_end(live.ended(), case, what);
    if let Some(state) = case.get("state_text").and_then(Value::string) {
        let record = live.record(false, "2026-11-20T09:28:01.250Z").unwrap();
        let mut tape = Tape::default();
        let made = tape.parse(&record).unwrap().get("state").unwrap();
        assert!(Untrusted::owned(dumped(made.raw(), Letters::PythonAscii)) == state, "{what}");
    }
}

const QUESTION: &str = "Natalia sold clips to 48 friends in April, and half as many in May. How many in all?";
const GOOD: &str = r#"{"NameDescription": "Clips", "steps": [
  {"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract the clips of April", "output": [{"name": "april", "description": "clips"}]},
  {"id": 2, "inputs": [{"name": "april", "description": "clips"}], "stepDescription": "Add april and april / 2", "output": [{"name": "final_answer", "description": "sum"}]}]}"#;
/// The same with a name that nothing writes.
fn bad() -> String {
    GOOD.replace(
        r#"[{"name": "april", "description": "clips"}], "stepDescription": "Add"#,
        r#"[{"name": "aprl", "description": "clips"}], "stepDescription": "Add"#,
    )
}
const ANSWER: &str = r#"{"final_answer": "72", "final_answer_numerical": 72, "confidence": 1}"#;

fn stepscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.stdin(Stdio::null()).env("STEPSCOPE_CONFIG_DIR", "/nonexistent");
    for name in ["OLLAMA_HOST", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"] {
        command.env_remove(name);
    }
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn ollama(talk: &mut Talk, reply: &str) {
    talk.head("200 OK", "application/x-ndjson");
    for piece in reply.as_bytes().chunks(7) {
        let mut line = b"{\"model\":\"m\",\"response\":".to_vec();
        Style::ASCII.append(Untrusted::new(piece), &mut line);
        line.extend_from_slice(b",\"done\":false}\n");
        talk.chunk(line);
    }
    talk.chunk("{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":4}\n");
    talk.end();
}

/// Starts a server that gives these replies, one after the other.
fn scripted(replies: Vec<String>) -> Server {
    Server::start(move |seen, talk| ollama(talk, &replies[seen.n]))
}

fn create(server: &Server, more: &[&str]) -> Command {
    let mut command = stepscope();
    command.args(["create", QUESTION, "--backend", "ollama", "--model", "m", "--url", &server.url("")]).args(more);
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

fn record(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

/// Names the files of a folder whose names hold this.
fn named(folder: &Path, part: &str) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.file_name().unwrap().to_str().unwrap().contains(part)).collect()
}

#[test]
fn a_question_becomes_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let server = scripted(vec![bad(), GOOD.to_owned(), r#"{"april": 48}"#.to_owned(), ANSWER.to_owned()]);
    let output = create(&server, &["--out", out.to_str().unwrap()]).output().unwrap();
    let said = text(&output.stderr).replace("stepscope: ", "");
    assert_eq!(code(&output), 0, "{said}");
    assert_eq!(
        text(&output.stdout).trim_end(),
        format!(
            r#"{{"problem_text": "{QUESTION}", "april": 48, "final_answer": "72", "final_answer_numerical": 72, "confidence": 1}}"#
        )
    );
    // The plan as it comes, what is wrong with it, the repair as a difference, the steps.
    for part in [
        "  1. Extract the clips of April (problem_text -> april)\n  2. Add april and april / 2 (aprl -> final_answer)\n     Input 'aprl' of Step 2 is not produced by any prior step.\n",
        "procedure: 2 errors; ",
        "Remove unused outputs at Step 1: ['april']\n",
        "repair 1: 0 errors; ",
        "\n-           \"name\": \"aprl\",\n+           \"name\": \"april\",\n",
        "step 2/2: ",
        "saved in ",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    let body = |seen: &Seen| text(&seen.body);
    assert!(
        body(&seen[0])
            .starts_with(r#"{"model":"m","stream":true,"options":{"temperature":1,"seed":1234},"format":{"$defs""#)
    );
    assert!(body(&seen[1]).contains("You will make the requested minimal structural fixes"));
    assert!(body(&seen[1]).contains(r#""options":{"temperature":1,"seed":1234}"#), "as upstream's pipeline repairs");
    // The run that was saved is one as any other, with every call.
    let saved = std::fs::read(&out).unwrap();
    let made = record(&saved);
    assert!(named(folder.path(), "unfinished").is_empty());
    let schema = stepscope_record::schemas::ALL.iter().find(|schema| schema.name == "trace").unwrap();
    let schema = jsonschema::validator_for(&record(schema.text.as_bytes())).unwrap();
    assert!(schema.is_valid(&made), "{made}");
    let creation = made["trace"]["creation"].as_array().unwrap();
    let parts: Vec<_> =
        creation.iter().map(|call| (call["purpose"].as_str().unwrap(), call["errors"].as_u64())).collect();
    assert_eq!(parts, [("create", Some(2)), ("repair", Some(0))]);
    assert_eq!(creation[0]["raw"], bad());
    assert_eq!((&made["pred_num"], made["trace"]["steps"].as_array().unwrap().len()), (&72.into(), 2));
    let show = stepscope().arg("show").arg(&out).output().unwrap();
    let said = text(&show.stdout);
    assert!(said.contains("Natalia sold clips") && said.contains("april") && said.contains("72"), "{said}");
    assert!(said.contains("Creation of the procedure\n  created   2 errors, "), "{said}");
    assert!(said.contains("\n  repair 1  0 errors, ") && said.contains("9 → 4 tokens\n\nTimeline"), "{said}");
    let check = stepscope().arg("check").arg(&out).output().unwrap();
    assert_eq!(code(&check), 0, "{}", text(&check.stdout));
    // A plan that computes is told so, and run all the same.
    let sets = GOOD.replace("Add april and april / 2", "Add 48 and 24 to get 72");
    let server = scripted(vec![sets, r#"{"april": 48}"#.to_owned(), ANSWER.to_owned()]);
    let output = create(&server, &[]).output().unwrap();
    let said = text(&output.stderr);
    assert!(code(&output) == 0 && said.contains("note: Step 2 of the plan computes a number: 48 + 24 = 72."), "{said}");
    // One more is added.
    let server = scripted(vec![GOOD.to_owned()]);
    let output = create(&server, &["--without-run", "--out", out.to_str().unwrap(), "--quiet"]).output().unwrap();
    assert_eq!((code(&output), record(&output.stdout)), (0, record(GOOD.as_bytes())));
    let lines = text(&std::fs::read(&out).unwrap());
    let last = record(lines.lines().nth(1).unwrap().as_bytes());
    assert_eq!((last.get("status"), last.get("state")), (None, None), "it was not run");
    assert_eq!(last["trace"]["creation"].as_array().unwrap().len(), 1);
}

#[test]
fn what_upstream_ends_at_is_taken_where_that_is_asked_for() {
    let replies = || {
        let fenced = format!("<think>Hm.</think>\n```json\n{GOOD}\n```");
        vec![fenced, "Here's the answer: {\"april\": 48,}".to_owned(), ANSWER.to_owned()]
    };
    let server = scripted(replies());
    let output = create(&server, &["--format", "trace"]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!((code(&output), server.seen().len()), (3, 1), "{said}");
    assert!(said.contains("[0] Non-JSON response from model: Expecting value: line 1 column 1 (char 0)"), "{said}");
    assert!(said.contains("--tolerant takes the JSON in it"), "{said}");
    let made = record(&output.stdout);
    assert_eq!((&made["status"], &made["error_type"]), (&"error".into(), &"ValueError".into()));
    let server = scripted(replies());
    let output = create(&server, &["--format", "trace", "--tolerant"]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(code(&output), 0, "{said}");
    assert!(said.contains("procedure: tolerated: reasoning before it and a code fence around it"), "{said}");
    let made = record(&output.stdout);
    assert_eq!(made["trace"]["creation"][0]["tolerated"], "reasoning before it and a code fence around it");
    let steps = &made["trace"]["steps"];
    assert_eq!(steps[0]["tolerated"], "a comma before a closing bracket, other text around it");
    assert_eq!((steps[1].get("tolerated"), &made["state"]["april"]), (None, &48.into()));
    // The same for a procedure that is there.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    std::fs::write(&path, GOOD).unwrap();
    for (flag, ended) in [(&[][..], 3), (&["--tolerant"], 0)] {
        let server = scripted(vec!["```\n{\"april\": 48}\n```".to_owned(), ANSWER.to_owned()]);
        let mut command = stepscope();
        command.arg("run").arg(&path).args(["--question", "q", "--backend", "ollama", "--model", "m"]);
        let output = command.args(["--url", &server.url(""), "--answer-schema", "gsm"]).args(flag).output().unwrap();
        assert_eq!(code(&output), ended, "{}", text(&output.stderr));
    }
}

#[test]
fn what_was_paid_for_is_on_the_disk_whenever_it_ends() {
    let replies = [bad(), GOOD.to_owned(), r#"{"april": 48}"#.to_owned(), ANSWER.to_owned()];
    // The call during which it is killed.
    for killed in 0..replies.len() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("runs.jsonl");
        let replies = replies.clone();
        let server = Server::start(move |seen, talk| {
            if seen.n < killed {
                return ollama(talk, &replies[seen.n]);
            }
            talk.head("200 OK", "application/x-ndjson");
            talk.wait_for_hang_up();
        });
        let mut command = create(&server, &["--out", out.to_str().unwrap()]);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // Until the call comes that is not answered.
        let begun = std::time::Instant::now();
        while server.seen().len() <= killed {
            assert!(begun.elapsed() < crate::support::server::PATIENCE, "call {killed} does not come");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let said: Vec<String> = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok).collect();
        let kept = named(folder.path(), "unfinished");
        assert_eq!(kept.len(), 1, "{said:?}");
        let made = record(&std::fs::read(&kept[0]).unwrap());
        let count = |key: &str| made["trace"][key].as_array().map_or(0, Vec::len);
        assert_eq!(count("creation") + count("steps"), killed, "{made}");
        assert_eq!((&made["status"], &made["error_type"]), (&"error".into(), &"BrokenOff".into()));
        let show = stepscope().arg("show").arg(&kept[0]).output().unwrap();
        assert_eq!(code(&show), 0, "{}", text(&show.stderr));
        assert!(text(&show.stdout).contains("Natalia sold clips"), "{}", text(&show.stdout));
    }
}

#[test]
fn a_creation_that_fails_says_why() {
    let server = scripted(vec![bad(); 3]);
    let output = create(&server, &["--tries", "2"]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!((code(&output), server.seen().len()), (3, 3), "{said}");
    assert!(
        said.contains("repair 2: 2 errors") && said.contains("Could not satisfy validator after retries."),
        "{said}"
    );
    assert!(output.stdout.is_empty());
    // Upstream does not look at what the last attempt gives.
    let replies = || vec![bad(), GOOD.to_owned(), r#"{"april": 48}"#.to_owned(), ANSWER.to_owned()];
    let server = scripted(replies());
    let output = create(&server, &["--tries", "1"]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!((code(&output), server.seen().len()), (3, 2), "{said}");
    assert!(said.contains("evoproc does not validate it"), "{said}");
    let server = scripted(replies());
    assert_eq!(code(&create(&server, &["--tries", "1", "--tolerant"]).output().unwrap()), 0);
    let output = create(&server, &["--task", "essay"]).output().unwrap();
    assert!(code(&output) == 2 && text(&output.stderr).contains("use general, bool, gsm or arc"));
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("notes.txt");
    std::fs::write(&other, "mine").unwrap();
    let output = create(&server, &["--out", other.to_str().unwrap()]).output().unwrap();
    assert_eq!((code(&output), std::fs::read(&other).unwrap()), (2, b"mine".to_vec()), "{}", text(&output.stderr));
    let seen = server.seen().len();
    let output = create(&server, &["--out", "/nonexistent/runs.jsonl"]).output().unwrap();
    assert_eq!((code(&output), server.seen().len()), (2, seen), "nothing is paid for that cannot be kept");
}
