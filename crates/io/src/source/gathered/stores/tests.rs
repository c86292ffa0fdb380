//! Tests of stores: what their programs' own readers say of them, and what hostile ones cost.
//!
//! `STEPSCOPE_STORES=FOLDER` compares more: pairs `NAME.sqlite` and `NAME.json` that `tests/gathered/make_stores.py` made.

use std::path::PathBuf;
use std::time::Instant;

use rusqlite::Connection;
use serde_json::{Value as Json, json};

use super::super::plain::Plain;
use super::*;
use stepscope_base::json::Tape;
use stepscope_record::formats;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/gathered/stores")
}

struct Read {
    lines: Vec<Json>,
    note: String,
    failures: Vec<String>,
}

fn try_read(path: &std::path::Path) -> Option<Result<Read, Failure>> {
    let read = match read(&path.into()) {
        Ok(read) => read?,
        Err(failure) => return Some(Err(failure)),
    };
    let mut text = Vec::new();
    read.runs.lines.read(0, read.runs.lines.len().unwrap() as usize, &mut text).unwrap();
    let mut tape = Tape::default();
    let mut lines = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let kind = formats::read(tape.parse(line).expect("a line is JSON")).kind;
        assert!(matches!(format!("{kind:?}").as_str(), "Procedural" | "Error"), "{kind:?}");
        lines.push(
            serde_json::from_slice(&String::from_utf8_lossy(line).into_owned().into_bytes()).unwrap_or(Json::Null),
        );
    }
    let failures = read.failures.iter().map(ToString::to_string).collect();
    Some(Ok(Read { lines, note: read.runs.note.as_str().to_owned(), failures }))
}

fn read_at(path: &std::path::Path) -> Read {
    let Some(Ok(read)) = try_read(path) else { panic!("{} is a store", path.display()) };
    assert_eq!(read.failures, Vec::<String>::new(), "{}", path.display());
    read
}

fn expected(path: &std::path::Path) -> Json {
    serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap()
}

/// Pairs of a store and what its program says of it.
fn pairs(program: &str) -> Vec<PathBuf> {
    let more = std::env::var_os("STEPSCOPE_STORES").map(PathBuf::from);
    let mut found = Vec::new();
    for folder in std::iter::once(folder()).chain(more) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with(program) && name.ends_with(".sqlite") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty());
    found.sort();
    found
}

fn steps(run: &Json) -> &[Json] {
    run["trace"]["steps"].as_array().unwrap()
}

/// The value that a step says it wrote, under whichever name.
fn wrote<'s>(step: &'s Json, name: &str) -> Option<&'s Json> {
    let outputs = &step["outputs"];
    let others = [" (uncommitted)", " (written)", " (appended)"].map(|more| format!("{name}{more}"));
    step["wrote"].get(name).or_else(|| outputs.get(name)).or_else(|| others.iter().find_map(|name| outputs.get(name)))
}

/// What a store has of the values of a state: the program's reader makes the others, which are empty, itself.
fn stored(values: &Json, held: &Json) -> Json {
    let mut values = values.clone();
    if let Some(members) = values.as_object_mut() {
        members.retain(|name, value| held.get(name).is_some() || ![json!([]), json!(0), json!("")].contains(value));
    }
    values
}

#[test]
fn threads_are_what_langgraph_says_of_them() {
    let mut compared = 0;
    for path in pairs("langgraph") {
        let runs = read_at(&path).lines;
        for (thread, history) in expected(&path).as_object().unwrap() {
            let about = format!("{} {thread}", path.display());
            let history = history.as_array().unwrap();
            let id = |snapshot: &Json, key: &str| snapshot[key]["configurable"]["checkpoint_id"].clone();
            let parents: Vec<Json> = history.iter().map(|snapshot| id(snapshot, "parent_config")).collect();
            let ends: Vec<&Json> = history.iter().filter(|end| !parents.contains(&id(end, "config"))).collect();
            let of_thread = |run: &&Json| run["id"] == *thread || run["forked_from"]["thread"] == *thread;
            assert_eq!(runs.iter().filter(of_thread).count(), ends.len(), "{about}: a run for each end");
            for end in ends {
                let run = runs.iter().find(|run| run["checkpoint_id"] == id(end, "config")).expect(&about);
                let state =
                    if end["values"].is_object() { run["state"].clone() } else { run["state"]["__root__"].clone() };
                assert_eq!(state, stored(&end["values"], &state), "{about}: the state");
                let mut path = vec![end];
                while let Some(before) =
                    history.iter().find(|one| id(one, "config") == id(path[path.len() - 1], "parent_config"))
                {
                    path.push(before);
                }
                let steps: Vec<&Json> = steps(run).iter().filter(|step| step.get("parent").is_none()).collect();
                for (at, snapshot) in path.iter().enumerate() {
                    let next = at.checked_sub(1).map(|at| path[at]);
                    if next.is_some_and(|next| next["metadata"]["source"] == "update") {
                        assert!(steps.iter().any(|step| step["name"] == "update_state"), "{about}");
                        continue;
                    }
                    for task in snapshot["tasks"].as_array().unwrap() {
                        compared += 1;
                        if task["name"] == "__start__" {
                            continue;
                        }
                        let step = steps.iter().find(|step| step["task_id"] == task["id"]);
                        let ran = next.is_some() || !task["result"].is_null() || !task["error"].is_null();
                        let Some(step) = step else {
                            let named = steps.iter().any(|step| step["name"] == task["name"]);
                            assert!(!ran || named, "{about}: {task} is a step");
                            continue;
                        };
                        assert!(step["name"] == task["name"] || step["name"] == "task", "{about} {step}");
                        for (name, value) in task["result"].as_object().into_iter().flatten() {
                            if next.is_some() || snapshot["next"].as_array().is_some_and(|next| !next.is_empty()) {
                                assert_eq!(wrote(step, name), Some(value), "{about}: {name}");
                            }
                        }
                        if next.is_none() {
                            assert_eq!(step["error"], task["error"], "{about}");
                            let asked = task["interrupts"].as_array().unwrap();
                            assert_eq!(step.get("interrupt"), asked.first(), "{about}");
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 90, "{compared}");
}

fn langgraph(name: &str) -> Vec<Json> {
    read_at(&folder().join(name)).lines
}

fn run<'r>(runs: &'r [Json], id: &str) -> &'r Json {
    runs.iter().find(|run| run["id"] == *id).unwrap()
}

#[test]
fn a_thread_is_a_run_with_its_tasks() {
    for name in ["langgraph-1.2.24.sqlite", "langgraph-0.2.76.sqlite"] {
        let runs = langgraph(name);
        let fan = run(&runs, "fan");
        let work: Vec<&Json> = steps(fan).iter().filter(|step| step["name"] == "work").collect();
        assert_eq!(work.len(), 4, "{name}");
        // Older versions do not keep which task was sent what.
        if name.contains("1.2") {
            let mut sent: Vec<i64> = work.iter().map(|step| step["inputs"]["n"].as_i64().unwrap()).collect();
            sent.sort_unstable();
            assert_eq!(sent, [5, 7, 9, 11], "what they were sent is what they read");
            assert!(work.iter().all(|step| step["wrote"]["score"] == step["inputs"]["n"]), "a reducer adds them");
        }
        assert_eq!((&work[0]["outputs"]["score"], work[0]["superstep"].as_i64()), (&json!(32), Some(2)));
        assert_eq!(steps(fan)[0].get("inputs"), None, "what a node read is not known");

        let waits = run(&runs, "waits");
        assert_eq!((&waits["status"], &waits["waits_for"]), (&json!("waiting"), &json!({"ask": "go on?"})));
        let side = steps(waits).iter().find(|step| step["name"] == "side").unwrap();
        assert_eq!(side["outputs"], json!({"notes (uncommitted)": ["side"]}), "it is not in the state");
        let resumed = steps(run(&runs, "resumed")).iter().find(|step| step["name"] == "wait").unwrap();
        assert_eq!((&resumed["interrupt"], &resumed["outputs"]["label"]), (&json!({"ask": "go on?"}), &json!("yes")));

        let fails = run(&runs, "fails");
        assert_eq!((&fails["status"], &fails["error"]), (&json!("error"), &json!("KeyError('no such page')")));
        assert_eq!(run(&runs, "retried")["status"], "ok", "what failed once came to its end");

        let agent = run(&runs, "agent");
        assert_eq!(
            (&agent["question"], &agent["pred_answer"]),
            (&json!("How much is the deposit?"), &json!("The deposit is 200."))
        );
        assert_eq!(agent["model"], "fake-9");
        let replies: Vec<&Json> = steps(agent).iter().filter(|step| step["span_kind"] == "model").collect();
        assert_eq!(replies[0]["tool_calls"][0]["arguments"], json!({"page": 2, "file": "a.pdf"}), "{name}");
        assert_eq!(replies[1]["usage"]["prompt_tokens"], 9);
        assert!(steps(agent).iter().any(|step| step["name"] == "input"), "what was asked later");

        let nested = run(&runs, "nested");
        let deep = steps(nested).iter().find(|step| step["name"] == "deep").unwrap();
        assert_eq!((&deep["parent"], &deep["outputs"]["mid.inner.label"]), (&json!(1), &json!("deep")));
        let forks: Vec<&Json> = runs.iter().filter(|run| run["forked_from"]["thread"] == "forks").collect();
        assert_eq!((forks.len(), &forks[0]["state"]["label"]), (1, &json!("b 41")), "{name}");
        let update = steps(forks[0]).iter().find(|step| step["name"] == "update_state").unwrap();
        assert_eq!(update["outputs"], json!({"score": 41}));
    }
}

#[test]
fn a_log_beside_the_store_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("live.sqlite");
    std::fs::copy(folder().join("langgraph-1.2.24.sqlite"), &path).unwrap();
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; DELETE FROM checkpoints WHERE thread_id <> 'loop'",
        )
        .unwrap();
    let read = read_at(&path);
    assert_eq!(read.lines.len(), 1);
    assert!(read.note.contains("its log (-wal) is not merged yet"), "{}", read.note);
}

#[test]
fn what_is_encrypted_or_pickle_is_said_and_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sqlite");
    std::fs::copy(folder().join("langgraph-1.2.24.sqlite"), &path).unwrap();
    let store = Connection::open(&path).unwrap();
    let sql = "DELETE FROM checkpoints WHERE thread_id <> 'loop'; UPDATE checkpoints SET type = 'msgpack+aes', checkpoint = x'0102';
        UPDATE writes SET type = 'pickle', value = x'80049503' WHERE thread_id = 'loop' AND channel = 'notes'";
    store.execute_batch(sql).unwrap();
    drop(store);
    let read = read_at(&path);
    assert!(read.note.contains("values are encrypted (msgpack+aes)"), "{}", read.note);
    assert!(read.note.contains("values are pickle, which is not loaded"), "{}", read.note);
    let inc = steps(&read.lines[0]).iter().find(|step| step["name"] == "inc").unwrap();
    assert_eq!(inc["unread"], json!({"notes": "pickle"}));
}

#[test]
fn a_history_is_the_run_of_its_store() {
    for version in ["1.2.24", "0.2.76"] {
        let runs = langgraph(&format!("langgraph-{version}.sqlite"));
        let all = expected(&folder().join(format!("langgraph-{version}.sqlite")));
        // In older versions a task that only failed has no name in the store.
        let named = ["fan", "loop", "agent", "waits", "forks", "edited"];
        for thread in named.into_iter().chain((version == "1.2.24").then_some("fails")) {
            let text = serde_json::to_vec(&all[thread]).unwrap();
            let mut tape = Tape::default();
            let root = tape.parse(&text).unwrap();
            assert!(super::super::gatherer_of(root.items().next().unwrap()).is_some(), "{thread}");
            let blob = std::sync::Arc::new(
                crate::source::open::Blob::of_bytes(stepscope_base::text::Shown::default(), &text).unwrap(),
            );
            let values =
                super::super::neighbours::Values::new(blob, crate::source::cut::Layout::of(&text, true).unwrap());
            let made = langgraph::history::read(&values, &[]).unwrap();
            let mut told = Vec::new();
            made.lines.read(0, made.lines.len().unwrap() as usize, &mut told).unwrap();
            let told: Vec<Json> = told
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            for run in &told {
                let twin = runs.iter().find(|twin| twin["id"] == run["id"]).unwrap();
                for key in ["question", "pred_answer", "status", "error", "waits_for", "checkpoint_id", "initial"] {
                    assert_eq!(run[key], twin[key], "{version} {thread} {key}");
                }
                assert_eq!(stored(&run["state"], &twin["state"]), twin["state"], "{version} {thread}");
                let names = |run: &Json| {
                    let mut names: Vec<String> =
                        steps(run).iter().map(|step| format!("{} {}", step["name"], step["outputs"])).collect();
                    names.sort();
                    names
                };
                assert_eq!(names(run), names(twin), "{version} {thread}");
            }
        }
    }
}

#[test]
fn sessions_of_agents_have_all_their_items() {
    for path in pairs("openai-agents") {
        let runs = read_at(&path).lines;
        let all = expected(&path);
        assert_eq!(runs.len(), all.as_object().unwrap().len());
        for (id, items) in all.as_object().unwrap() {
            let run = run(&runs, id);
            let text = serde_json::to_string(&steps(run)).unwrap();
            for item in items.as_array().unwrap() {
                let told = if item["role"] == "user" {
                    None
                } else {
                    item["content"][0]["text"].as_str().or(item["content"].as_str())
                };
                assert!(told.is_none_or(|told| text.contains(told)), "{item}");
                assert!(item["name"].as_str().is_none_or(|name| text.contains(name)), "{item}");
            }
        }
    }
    let runs = read_at(&folder().join("openai-agents-0.24.0.sqlite")).lines;
    let talk = &runs[0];
    assert_eq!((&talk["question"], &talk["pred_answer"]), (&json!("How many pages?"), &json!("12 still.")));
    let told = steps(talk);
    let kinds: Vec<&str> = told.iter().map(|step| step["span_kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "model", "model", "tool", "tool", "model", "model", "user", "model"]);
    assert_eq!(
        (&told[1]["reasoning"], &told[3]["inputs"]["f"]),
        (&json!("count them"), &json!("b.pdf")),
        "joined by id"
    );
    assert_eq!((&told[5]["tool_calls"][0]["name"], &runs[1]["pred_answer"]), (&json!("web_search"), &json!("No.")));
}

#[test]
fn a_session_of_adk_is_the_run_of_its_json() {
    let read = read_at(&folder().join("google-adk-2.13.0.sqlite"));
    let text = std::fs::read(folder().join("google-adk-2.13.0.jsonl")).unwrap();
    let mut tape = Tape::default();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let session = super::super::adk::session_of(&Plain::of(tape.parse(line).unwrap()));
        let twin: Json = serde_json::from_slice(&session.line("adk")).unwrap();
        let found = read.lines.iter().find(|run| run["id"] == twin["id"]).unwrap();
        assert_eq!(found["trace"], twin["trace"]);
        assert_eq!(found["question"], twin["question"]);
        assert_eq!(found["state"], twin["state"], "with that of the user and of the application");
        assert!(found["state"]["user:last"].is_number() && found["state"]["app:count"].is_number());
    }
    assert_eq!(read.lines.len(), 4, "one has no events");
}

#[test]
fn older_stores_of_adk_say_that_what_was_written_is_pickle() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.db");
    let store = Connection::open(&path).unwrap();
    store
        .execute_batch(
            r#"CREATE TABLE sessions (app_name, user_id, id, state, create_time, update_time);
            CREATE TABLE events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, content, error_code, error_message);
            INSERT INTO sessions VALUES ('a', 'u', 's', '{"found": 7}', '2025', '2025');
            INSERT INTO events VALUES ('1', 'a', 'u', 's', 'i', 'user', x'8004', '2025-01-01 00:00:01', '{"parts": [{"text": "How much?"}]}', NULL, NULL);
            INSERT INTO events VALUES ('2', 'a', 'u', 's', 'i', 'agent', x'8004', '2025-01-01 00:00:02', '{"parts": [{"text": "It is 7."}]}', NULL, NULL);"#,
        )
        .unwrap();
    drop(store);
    let read = read_at(&path);
    assert!(read.note.contains("kept as pickle, which is not loaded"), "{}", read.note);
    let run = &read.lines[0];
    assert_eq!(
        (&run["question"], &run["pred_answer"], &run["state"]),
        (&json!("How much?"), &json!("It is 7."), &json!({"found": 7}))
    );
    assert_eq!(steps(run)[0].get("outputs"), None);
}

#[test]
fn traces_of_mlflow_are_those_of_its_json() {
    let read = read_at(&folder().join("mlflow-3.17.2.sqlite"));
    let text = std::fs::read(folder().join("mlflow-3.17.2.jsonl")).unwrap();
    let blob = std::sync::Arc::new(
        crate::source::open::Blob::of_bytes(stepscope_base::text::Shown::default(), &text).unwrap(),
    );
    let values = super::super::neighbours::Values::new(blob, crate::source::cut::Layout::Lines(b'\n'));
    let made = super::super::traces::read(&values, &[]).unwrap();
    let mut told = Vec::new();
    made.lines.read(0, made.lines.len().unwrap() as usize, &mut told).unwrap();
    let told = told.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let twins: Vec<Json> = told.map(|line| serde_json::from_slice(line).unwrap()).collect();
    assert_eq!((read.lines.len(), twins.len()), (3, 3));
    for twin in twins {
        let found = run(&read.lines, twin["id"].as_str().unwrap());
        for key in ["question", "pred_answer", "status", "error", "model", "trace", "request_time", "tags"] {
            assert_eq!(found[key], twin[key], "{key}");
        }
        let said = |run: &Json| run["assessments"][0]["feedback"]["value"].clone();
        assert_eq!(
            (said(found), &found["assessments"][0]["rationale"]),
            (said(&twin), &twin["assessments"][0]["rationale"])
        );
    }
}

#[test]
fn a_flow_is_a_run_with_the_state_behind_its_methods() {
    for path in pairs("crewai") {
        let runs = read_at(&path).lines;
        let all = expected(&path);
        for run in &runs {
            assert_eq!(run["state"], all[run["id"].as_str().unwrap()], "what the program loads");
        }
        let first = &runs[0];
        assert_eq!((&first["question"], &first["pred_answer"]), (&json!("a"), &json!("n is 9")));
        let told = steps(first);
        assert_eq!(told.iter().filter(|step| step["name"] == "go").count(), 1, "routers are steps");
        assert_eq!(told.last().unwrap()["outputs"], json!({"answer": "n is 9"}));
        let go = told.iter().find(|step| step["name"] == "go").unwrap();
        assert_eq!(go.get("outputs"), None, "that nothing changed does not say that it wrote nothing");
        assert_eq!(told[0].get("outputs"), None);
        assert_eq!(told[0]["state"]["n"], 1);
    }
}

#[test]
fn a_table_alone_or_other_columns_are_no_store() {
    let dir = tempfile::tempdir().unwrap();
    for (at, sql) in [
        "CREATE TABLE flow_states (id, flow_uuid)",
        "CREATE TABLE sessions (app_name, user_id, id, state)",
        "CREATE TABLE checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint)",
        "CREATE TABLE agent_sessions (session_id, created_at); CREATE TABLE agent_messages (id, body)",
        "CREATE VIEW flow_states AS SELECT 1 AS id, 2 AS flow_uuid, 3 AS method_name, 4 AS timestamp, 5 AS state_json",
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.path().join(format!("{at}.sqlite"));
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert!(try_read(&path).is_none(), "{sql}");
    }
}

/// Reads a hostile store: whatever it says, it is a sentence or lines of JSON, and soon.
fn survives(path: &std::path::Path, about: &str) -> Option<Read> {
    let begun = Instant::now();
    let read = try_read(path);
    assert!(begun.elapsed().as_secs() < 60, "{about}");
    match read? {
        Ok(read) => Some(read),
        Err(failure) => {
            assert!(!failure.to_string().contains("cannot be put together"), "{about}: a panic");
            None
        }
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

const STORES: [&str; 6] = [
    "mlflow-3.17.2.sqlite",
    "langgraph-1.2.24.sqlite",
    "langgraph-0.2.76.sqlite",
    "openai-agents-0.24.0.sqlite",
    "google-adk-2.13.0.sqlite",
    "crewai-1.15.30.sqlite",
];

#[test]
fn damaged_stores_are_sentences_or_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged.sqlite");
    let (mut dice, mut told) = (Dice(7), 0);
    for name in STORES {
        let whole = std::fs::read(folder().join(name)).unwrap();
        for n in 0..24 {
            let mut bytes = whole.clone();
            if n % 3 == 0 {
                bytes.truncate(dice.roll(whole.len()));
            }
            for _ in 0..(n % 3) * 40 {
                let at = 100 + dice.roll(bytes.len() - 100);
                bytes[at] = dice.roll(256) as u8;
            }
            std::fs::write(&path, &bytes).unwrap();
            told += usize::from(survives(&path, name).is_some());
        }
    }
    assert!(told > 20, "some of them still hold runs: {told}");
}

#[test]
fn cells_of_any_kind_are_sentences_or_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("odd.sqlite");
    let deep = "[".repeat(100_000);
    let wrong = [
        "NULL",
        "7",
        "-1.5e300",
        "''",
        "x''",
        "x'ff00fe'",
        "zeroblob(300000)",
        "'\u{1b}]0;x\u{7}\u{202e}'",
        "'{}'",
        "'[1,2'",
        "'{\"a\": NaN, \"a\": 1}'",
        "x'dd7fffffff'",
        "x'91c7ff05'",
        "hex(zeroblob(200000))",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([format!("'{deep}'")])
    .collect::<Vec<_>>();
    for name in STORES {
        let tables: Vec<(String, Vec<String>)> = {
            let store = Connection::open(folder().join(name)).unwrap();
            let mut names = store
                .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
                .unwrap();
            let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            let columns = |table: &String| {
                let mut info = store.prepare(&format!("PRAGMA table_info({table})")).unwrap();
                info.query_map([], |row| row.get(1)).unwrap().map(Result::unwrap).collect()
            };
            names.iter().map(|table| (table.clone(), columns(table))).collect()
        };
        let mut n = 0;
        for (table, columns) in &tables {
            for column in columns {
                for wrong in wrong.iter().skip(n % 5).step_by(5) {
                    std::fs::copy(folder().join(name), &path).unwrap();
                    let store = Connection::open(&path).unwrap();
                    let odd = ["1", "rowid % 3 = 1"][n % 2];
                    // What the columns declare is not believed either.
                    let schema = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL', ''), 'UNIQUE', '') WHERE type = 'table'; PRAGMA writable_schema = RESET";
                    store.execute_batch(schema).unwrap();
                    let _ = store.execute(&format!("UPDATE OR REPLACE {table} SET {column} = {wrong} WHERE {odd}"), []);
                    drop(store);
                    survives(&path, &format!("{name}: {table}.{column} = {wrong:.40}"));
                    n += 1;
                }
            }
        }
    }
}

#[test]
fn circles_of_parents_and_bombs_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("circle.sqlite");
    let copy = |sql: &str| {
        std::fs::copy(folder().join("langgraph-1.2.24.sqlite"), &path).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        survives(&path, sql).expect("it is still a store")
    };
    let circle = "UPDATE checkpoints SET parent_checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints c WHERE c.thread_id = checkpoints.thread_id AND c.checkpoint_ns = checkpoints.checkpoint_ns) WHERE parent_checkpoint_id IS NULL";
    assert!(copy(circle).lines.len() > 10);
    copy("UPDATE checkpoints SET parent_checkpoint_id = checkpoint_id");
    // Namespaces that lead into themselves.
    copy(
        "UPDATE OR IGNORE checkpoints SET checkpoint_ns = 'mid:' || (SELECT task_id FROM writes WHERE thread_id = 'nested' AND checkpoint_ns = '' AND task_path LIKE '%mid%' LIMIT 1) WHERE thread_id = 'nested' AND checkpoint_ns <> ''",
    );
    // Sixteen million values of a byte each, and values inside of values.
    let bomb = copy(
        "UPDATE checkpoints SET checkpoint = CAST(x'dd00ffffff' || CAST(replace(hex(zeroblob(2000000)), '00', char(64)) AS BLOB) AS BLOB)",
    );
    assert!(bomb.note.contains("damaged, too deep or too large"), "{}", bomb.note);
    copy("UPDATE writes SET value = CAST(replace(hex(zeroblob(50000)), '00', x'91') AS BLOB)");
    copy("UPDATE writes SET task_path = '~__pregel_push, 99999999999999999999, x'");
    copy(
        "UPDATE checkpoints SET metadata = '{\"source\": \"input\", \"step\": 9223372036854775807, \"parents\": {\"\": 7}}'",
    );
    copy(
        "UPDATE checkpoints SET metadata = '{\"source\": \"update\", \"counters_since_delta_snapshot\": {\"notes\": [], \"x\\u0000\": 1}}'",
    );
    let many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 30000) INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata) SELECT 'many', '', printf('%08d', n), printf('%08d', n - 1), 'msgpack', x'80', '{\"source\": \"loop\"}' FROM c";
    assert!(copy(many).lines.iter().any(|run| run["id"] == "many"));
    let comb = many.replace("printf('%08d', n - 1)", "'00000001'");
    assert!(copy(&comb).note.contains("branches left out"));
}
