//! A run made in the real program: by keys to its end, and killed at each of its calls.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use crate::server::{Seen, Server, Talk};
use crate::terminal::{Start, Terminal, run_file};
use rustix::process::Signal;
use serde_json::{Value, json};

fn plan() -> String {
    let field = |name: &str| json!({"name": name, "description": name});
    json!({"NameDescription": "jars", "steps": [
        {"id": 1, "inputs": [field("problem_text")], "stepDescription": "Extract the numbers", "output": [field("jars"), field("more")]},
        {"id": 2, "inputs": [field("jars"), field("more")], "stepDescription": "Add jars and more", "output": [field("final_answer")]},
    ]})
    .to_string()
}

fn reply(seen: &Seen) -> String {
    let prompt = seen.json()["prompt"].as_str().unwrap().to_owned();
    match prompt {
        prompt if prompt.contains("Extract the numbers") => json!({"jars": 16, "more": 5}).to_string(),
        prompt if prompt.contains("Add jars") => {
            json!({"final_answer": "21", "final_answer_numerical": 21, "confidence": 1}).to_string()
        }
        _ => plan(),
    }
}

fn told(seen: &Seen, talk: &mut Talk) {
    if seen.line.starts_with("GET") {
        return talk.whole("200 OK", "application/json", "", r#"{"models": [{"name": "small"}]}"#);
    }
    talk.head("200 OK", "application/x-ndjson");
    talk.chunk(format!("{}\n", json!({"model": "small", "response": reply(seen), "done": false})));
    talk.chunk(format!("{}\n", json!({"model": "small", "response": "", "done": true, "done_reason": "stop"})));
    talk.end();
}

fn started(server: &Server) -> (tempfile::TempDir, PathBuf, Terminal) {
    let (folder, path, name) = run_file();
    let url = server.url("");
    let start = Start::stepscope(&[path.to_str().unwrap(), "--url", &url, "--backend", "ollama", "--model", "small"]);
    let terminal = Terminal::start(&start);
    terminal.wait_for(name);
    terminal.send(":create\r");
    terminal.wait_for("question of the new run");
    terminal.send("A shelf holds 16 jars. Wanda puts 5 more on it. How many are there?\x13");
    terminal.wait_for("send the question");
    (folder, path, terminal)
}

fn unfinished(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.into_iter().find(|path| path.to_string_lossy().contains("unfinished"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_question_is_run_to_its_answer_by_keys_and_saved() {
    let server = Server::start(told);
    let (folder, path, terminal) = started(&server);
    terminal.send("\r");
    terminal.wait_for("before step 1 of 2");
    terminal.send("n");
    terminal.wait_for("before step 2 of 2");
    terminal.send("c");
    terminal.wait_for("answer 21");
    terminal.send("s\r");
    terminal.wait_for("saved in");
    let runs = path.with_file_name(format!("{}.runs.jsonl", path.file_name().unwrap().to_str().unwrap()));
    assert_eq!(lines(&runs)[0]["pred_num"], 21);
    // It is among the records at once: Enter opens it there.
    terminal.send("\r");
    terminal.wait_until("the saved run", |screen| {
        let is_open = screen.contains("Add jars and more") && !screen.contains("live run");
        if screen.contains("no record has the id") {
            terminal.send("\r");
        }
        is_open
    });
    assert_eq!(unfinished(folder.path()), None);
    terminal.send("Q");
    terminal.assert_exit(0);
}

#[test]
fn nothing_that_was_paid_for_is_lost_when_it_is_killed() {
    for calls in 1..=2 {
        let (go, gate) = channel::<()>();
        let gate: Mutex<Receiver<()>> = Mutex::new(gate);
        let server = Server::start(move |seen, talk| {
            if !seen.line.starts_with("GET") {
                gate.lock().unwrap().recv().unwrap();
            }
            told(seen, talk);
        });
        let (folder, _path, terminal) = started(&server);
        go.send(()).unwrap();
        terminal.send("\r");
        terminal.wait_for("before step 1 of 2");
        if calls == 2 {
            go.send(()).unwrap();
        }
        terminal.send("c");
        let waits = if calls == 1 { "step 1 of 2   " } else { "step 2 of 2   " };
        terminal.wait_for(waits);
        terminal.signal(Signal::KILL);
        terminal.wait_exit();
        let kept = unfinished(folder.path()).unwrap();
        let trace = &lines(&kept)[0]["trace"];
        assert_eq!(trace["creation"].as_array().unwrap().len(), 1);
        assert_eq!(trace["steps"].as_array().unwrap().len(), calls - 1);
        let shown = Command::new(env!("CARGO_BIN_EXE_stepscope")).arg("show").arg(&kept).output().unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains("was not finished"), "{shown:?}");
        drop(go);
    }
}
