//! A run that is being made on the screen: from a question to a plan, its repair, and its steps under a person's hand.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::support::drive::{Drive, small_at};
use crate::support::server::{Seen, Server, Talk};
use stepscope::screens::kind::ScreenKind;
use stepscope::screens::live::state::LiveStage;
use stepscope_judge::case::Case;
use stepscope_record::rule_id::RuleId;
use stepscope_record::state::Moment;
use stepscope_record::trace::overrides;

const QUESTION: &str = "Ann has 3 bags of 4 nuts and eats 2. How many are left?";

fn variable(name: &str) -> Value {
    json!({"name": name, "description": name})
}

fn step(id: u32, reads: &[&str], text: &str, writes: &[&str]) -> Value {
    let list = |names: &[&str]| names.iter().map(|name| variable(name)).collect::<Vec<_>>();
    json!({"id": id, "inputs": list(reads), "stepDescription": text, "output": list(writes)})
}

/// A plan of three steps; `reads`: what its second step reads beside the bags.
fn plan(reads: &str) -> String {
    json!({"NameDescription": "nuts", "steps": [
        step(1, &["problem_text"], "Extract the numbers of the question", &["bags", "nuts", "eaten"]),
        step(2, &["bags", reads], "Compute all_nuts from bags and nuts", &["all_nuts"]),
        step(3, &["all_nuts", "eaten"], "Compute final_answer from all_nuts and eaten", &["final_answer"]),
    ]})
    .to_string()
}

/// Answers the prompts of the plan and of its steps as lines of Ollama's NDJSON.
fn answer(seen: &Seen, talk: &mut Talk, reply: &str) {
    if seen.line.starts_with("GET") {
        return talk.whole("200 OK", "application/json", "", "{\"models\": [{\"name\": \"small\"}]}");
    }
    talk.head("200 OK", "application/x-ndjson");
    let half = reply.len() / 2;
    for part in [&reply[..half], &reply[half..]] {
        talk.chunk(format!("{}\n", json!({"model": "m", "response": part, "done": false})));
    }
    let end = json!({"model": "m", "response": "", "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 7});
    talk.chunk(format!("{end}\n"));
    talk.end();
}

/// Returns the right reply to a step's prompt, with what it was shown.
fn right(prompt: &str) -> &'static str {
    match prompt {
        prompt if prompt.contains("Extract the numbers") => r#"{"bags": 3, "nuts": 4, "eaten": 2}"#,
        prompt if prompt.contains("Compute all_nuts") => r#"{"all_nuts": 12}"#,
        prompt if prompt.contains("\"all_nuts\": 14") || prompt.contains("14") => {
            r#"{"final_answer": "12", "final_answer_numerical": 12, "confidence": 1, "units": "nuts"}"#
        }
        _ => r#"{"final_answer": "10", "final_answer_numerical": 10, "confidence": 1, "units": "nuts"}"#,
    }
}

fn is_plan(prompt: &str) -> bool {
    !prompt.contains("Extract the numbers") && !prompt.contains("Compute ")
}

fn prompt_of(seen: &Seen) -> String {
    if seen.line.starts_with("GET") { String::new() } else { seen.json()["prompt"].as_str().unwrap().to_owned() }
}

/// A server whose first plan has an error, and whose repair has none.
fn planner() -> Server {
    Server::start(|seen, talk| {
        let prompt = prompt_of(seen);
        let is_repair = prompt.contains("is not produced by any prior step");
        let made = match is_repair {
            true => plan("nuts"),
            false if is_plan(&prompt) => plan("walnuts"),
            false => right(&prompt).to_owned(),
        };
        answer(seen, talk, &made);
    })
}

/// A run of the plan that was recorded, wrong in its second step.
fn recorded() -> String {
    let procedure: Value = serde_json::from_str(&plan("nuts")).unwrap();
    let state = json!({"problem_text": QUESTION, "bags": 3, "nuts": 4, "eaten": 2, "all_nuts": 13, "final_answer": "11", "final_answer_numerical": 11});
    json!({"id": "nuts", "question": QUESTION, "gold_num": 10, "gold_answer": "3*4=12, 12-2=10 #### 10", "mode": "procedural",
        "status": "ok", "procedure": procedure, "steps": 3, "state": state, "pred_answer": "11", "pred_num": 11, "correct": false})
    .to_string()
}

fn opened(server: &Server) -> (tempfile::TempDir, PathBuf, Drive) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::write(&path, format!("{}\n", recorded())).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.ask(small_at(server.url("")));
    (folder, path, d)
}

#[track_caller]
fn until(d: &mut Drive, wanted: LiveStage) {
    d.wait_for(|app| app.screens.live().is_some_and(|live| live.stage == wanted));
}

/// Waits until the next step is ready, which is this one, from 1.
#[track_caller]
fn until_before(d: &mut Drive, step: usize) {
    d.wait_for(|app| {
        let live = app.screens.live().unwrap();
        live.stage == LiveStage::Paused && live.view.as_ref().is_some_and(|view| view.next == Some(step - 1))
    });
}

/// Opens the preview of a question.
#[track_caller]
fn create(d: &mut Drive) {
    d.keys(": c r e a t e Enter");
    d.paste(QUESTION);
    d.keys("^S");
    d.wait_for(|app| app.screens.live().is_some_and(|live| live.bytes.is_some()));
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.to_string_lossy().contains("unfinished")).collect()
}

fn posts(server: &Server) -> usize {
    server.seen().iter().filter(|seen| seen.line.starts_with("POST")).count()
}

#[test]
fn a_question_becomes_a_plan_is_repaired_and_runs_step_by_step() {
    let server = planner();
    let (folder, path, mut d) = opened(&server);
    create(&mut d);
    d.shows(&["Preview (not sent)", "send the question, for a plan", "small at", "task", "gsm", "1.2.0"]);
    assert_eq!(posts(&server), 0, "nothing is sent before Enter on its line");
    d.keys("Enter");
    until_before(&mut d, 1);
    assert_eq!(posts(&server), 2, "a plan and its repair");
    d.shows(&["Paused", "before step 1 of 3", "the plan is valid", "2 calls", "214 tokens"]);
    let kept = unfinished(folder.path());
    assert_eq!(
        lines(&kept[0])[0]["trace"]["creation"].as_array().unwrap().len(),
        2,
        "what was paid for is on the disk"
    );
    d.keys("n");
    until_before(&mut d, 2);
    d.shows(&["before step 2 of 3", "bags", "3", "step 1"]);
    d.keys("c");
    until(&mut d, LiveStage::Over);
    d.shows(&["Done", "answer 10", "5 calls", "535 tokens"]);
    assert_eq!(lines(&kept[0])[0]["status"], "ok");
    d.keys("s Enter");
    d.wait_for(|app| app.status.now.as_ref().is_some_and(|status| status.text.as_str().contains("saved in")));
    assert!(unfinished(folder.path()).is_empty());
    let saved = lines(&path.with_file_name("runs.jsonl.runs.jsonl"));
    assert_eq!((saved.len(), &saved[0]["pred_num"]), (1, &json!(10)));
    assert_eq!(saved[0]["trace"]["steps"].as_array().unwrap().len(), 3);
    assert_eq!(saved[0]["trace"]["creation"][1]["purpose"], "repair");
    d.shows(&["saved", "open run"]);
    // It is a record as any other.
    let mut saved = Drive::open(&[path.with_file_name("runs.jsonl.runs.jsonl")]);
    saved.keys("Enter");
    saved.wait_for(|app| app.screens.top() == ScreenKind::Run);
    saved.shows(&["Compute all_nuts"]);
}

#[test]
fn prompts_and_values_are_changed_before_a_step_and_the_trace_says_so() {
    let server = planner();
    let (_folder, path, mut d) = opened(&server);
    d.keys("Enter g S");
    d.wait_for(|app| app.screens.live().is_some_and(|live| live.bytes.is_some()));
    d.shows(&["Preview (not sent)", "send step", "of 3", "nothing else of"]);
    d.keys("n");
    until(&mut d, LiveStage::Paused);
    let first = d.app.screens.live().unwrap().view.as_ref().unwrap().next.unwrap();
    d.keys("c");
    until(&mut d, LiveStage::Over);
    d.keys("q q");
    // From its first step, with a value and a prompt of one's own.
    d.keys("q Enter");
    d.wait_for(|app| app.screens.top() == ScreenKind::Run);
    d.keys("[ [ [ [ S");
    d.wait_for(|app| app.screens.live().is_some_and(|live| live.bytes.is_some()));
    assert!(first >= 1);
    d.keys("n");
    until_before(&mut d, 2);
    d.keys("4 Tab v");
    d.paste(" Work it out.");
    d.keys("^S");
    until_before(&mut d, 2);
    d.shows(&["prompt edited"]);
    d.keys("n");
    until_before(&mut d, 3);
    let row = d.app.screens.live().unwrap().view.as_ref().unwrap().opened.variables.iter();
    let row = row.map(|row| row.name.as_str().to_owned()).position(|name| name == "all_nuts").unwrap();
    d.keys(&format!("3 Tab {} G v ^U 1 4 Enter", row + 1));
    until_before(&mut d, 3);
    d.keys("n");
    until(&mut d, LiveStage::Over);
    d.shows(&["answer 12", "wrong"]);
    d.keys("s");
    d.wait_for(|app| app.status.now.as_ref().is_some_and(|status| status.text.as_str().contains("saved in")));
    let saved = lines(&path.with_file_name("runs.jsonl.forks.jsonl"));
    let fork = &saved[0]["trace"]["fork"];
    assert_eq!(fork["prompts_edited"], json!([1]), "{fork}");
    assert_eq!(fork["values"][0]["variable"], "all_nuts", "{fork}");
    assert_eq!(
        (&fork["values"][0]["value"], &fork["values"][0]["was"], &fork["values"][0]["step_index"]),
        (&json!(14), &json!(12), &json!(2))
    );
    assert_eq!((&saved[0]["pred_num"], &fork["parent"]), (&json!(12), &json!("nuts")));
    assert!(saved[0]["trace"]["steps"][1]["prompt"].as_str().unwrap().contains("Work it out."));
}

#[test]
fn a_run_waits_at_breakpoints() {
    let server = planner();
    for (breakpoint, step, why) in [
        ("3", 3, "step 3 comes next"),
        ("bags", 2, "bags was written"),
        ("state.all_nuts>11", 3, "state.all_nuts>11 holds"),
    ] {
        let (_folder, _path, mut d) = opened(&server);
        create(&mut d);
        d.keys("b");
        d.paste(breakpoint);
        d.keys("Enter");
        d.wait_for(|app| app.screens.live().is_some_and(|live| live.bytes.is_some()));
        d.shows(&["●", breakpoint]);
        d.keys("Enter");
        until_before(&mut d, 1);
        d.keys("c");
        until_before(&mut d, step);
        d.shows(&[why]);
        // Past it the run goes to its end.
        d.keys("c");
        until(&mut d, LiveStage::Over);
    }
    let (_folder, _path, mut d) = opened(&server);
    create(&mut d);
    d.keys("b");
    d.paste("state.total>");
    d.keys("Enter");
    assert!(d.screen().contains("breakpoint"), "what cannot be read stays to be mended: {}", d.screen());
}

#[test]
fn a_call_is_cancelled_and_what_came_is_kept() {
    let (go, gate): (Sender<()>, Receiver<()>) = channel();
    let gate = Mutex::new(gate);
    let server = Server::start(move |seen, talk| {
        let prompt = prompt_of(seen);
        if prompt.contains("Compute all_nuts") && !prompt.contains("Work") {
            talk.head("200 OK", "application/x-ndjson");
            talk.chunk(format!("{}\n", json!({"model": "m", "response": "{\"all_", "done": false})));
            let _ = gate.lock().unwrap().recv();
            return;
        }
        let made = if is_plan(&prompt) { plan("nuts") } else { right(&prompt).to_owned() };
        answer(seen, talk, &made);
    });
    let (folder, path, mut d) = opened(&server);
    create(&mut d);
    d.keys("Enter");
    until_before(&mut d, 1);
    d.keys("c");
    d.wait_for(|app| {
        let round = app.screens.live().unwrap().round.as_ref();
        round.is_some_and(|round| round.replies[0].received.content == b"{\"all_")
    });
    d.keys("Esc");
    until_before(&mut d, 2);
    d.shows(&["Paused", "the call was cancelled"]);
    let kept = lines(&unfinished(folder.path())[0]);
    assert_eq!(kept[0]["trace"]["steps"][1]["raw"], "{\"all_", "what came of a cancelled call is on the disk");
    drop(go);
    // It is not left without a word; with another prompt it goes on.
    d.keys("q");
    assert!(d.status().contains("not saved"), "{}", d.status());
    d.keys("4 Tab v");
    d.paste(" Work.");
    d.keys("^S");
    until_before(&mut d, 2);
    d.shows(&["prompt edited"]);
    d.keys("n");
    until_before(&mut d, 3);
    d.keys("s Enter");
    d.wait_for(|app| app.status.now.as_ref().is_some_and(|status| status.text.as_str().contains("saved in")));
    let saved = lines(&path.with_file_name("runs.jsonl.runs.jsonl"));
    assert_eq!((&saved[0]["status"], &saved[0]["error"]), (&json!("error"), &json!("left before step 3")));
    let steps = saved[0]["trace"]["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[1]["outputs"], &steps[2]["outputs"]), (3, &Value::Null, &json!({"all_nuts": 12})));
    assert_eq!(saved[0]["trace"]["prompts_edited"], json!([1]));
}

#[test]
fn a_reply_at_which_upstream_ends_is_taken_where_a_person_says_so() {
    let server = Server::start(|seen, talk| {
        let prompt = prompt_of(seen);
        let made = match prompt.contains("Compute all_nuts") {
            true => "Here it is:\n```json\n{\"all_nuts\": 12}\n```".to_owned(),
            false if is_plan(&prompt) => plan("nuts"),
            false => right(&prompt).to_owned(),
        };
        answer(seen, talk, &made);
    });
    let (_folder, path, mut d) = opened(&server);
    create(&mut d);
    d.keys("Enter");
    until_before(&mut d, 1);
    d.keys("c");
    until(&mut d, LiveStage::Ended);
    d.shows(&["evoproc ends here", "Non-JSON response for step id=2"]);
    d.keys("T");
    until_before(&mut d, 3);
    d.keys("n");
    until(&mut d, LiveStage::Over);
    d.keys("s Enter");
    d.wait_for(|app| app.status.now.as_ref().is_some_and(|status| status.text.as_str().contains("saved in")));
    let saved = lines(&path.with_file_name("runs.jsonl.runs.jsonl"));
    assert!(saved[0]["trace"]["steps"][1]["tolerated"].as_str().unwrap().contains("text around"));
    assert_eq!(saved[0]["status"], "ok");
}

#[test]
fn a_plan_at_which_upstream_ends_is_taken_where_a_person_says_so() {
    let server = Server::start(|seen, talk| {
        let prompt = prompt_of(seen);
        let made = match is_plan(&prompt) {
            true => format!("Here it is:\n```json\n{}\n```", plan("nuts")),
            false => right(&prompt).to_owned(),
        };
        answer(seen, talk, &made);
    });
    let (_folder, _path, mut d) = opened(&server);
    create(&mut d);
    d.keys("Enter");
    until(&mut d, LiveStage::Ended);
    d.shows(&["evoproc ends here"]);
    d.keys("T");
    until_before(&mut d, 1);
    assert_eq!(posts(&server), 1, "what came is taken, nothing is asked again");
    d.keys("c");
    until(&mut d, LiveStage::Over);
}

#[test]
fn a_server_that_fails_is_no_end_of_upstreams() {
    let server = Server::start(|seen, talk| {
        let prompt = prompt_of(seen);
        if prompt.contains("Compute all_nuts") {
            return talk.whole("400 Bad Request", "application/json", "", "{\"error\": \"no such option\"}");
        }
        let made = if is_plan(&prompt) { plan("nuts") } else { right(&prompt).to_owned() };
        answer(seen, talk, &made);
    });
    let (_folder, _path, mut d) = opened(&server);
    create(&mut d);
    d.keys("Enter");
    until_before(&mut d, 1);
    d.keys("c");
    until(&mut d, LiveStage::Ended);
    d.shows(&["no such option"]);
    assert!(!d.screen().contains("evoproc ends here"), "{}", d.screen());
    d.keys("T");
    assert_eq!(d.status(), "only where evoproc ends at a reply");
    d.keys("q");
    assert!(d.status().contains("not saved"), "{}", d.status());
}

#[test]
fn a_value_that_a_person_set_in_a_created_run_is_no_ones_mistake() {
    let server = planner();
    let (_folder, path, mut d) = opened(&server);
    create(&mut d);
    d.keys("Enter");
    until_before(&mut d, 1);
    d.keys("n");
    until_before(&mut d, 2);
    d.keys("n");
    until_before(&mut d, 3);
    let rows = d.app.screens.live().unwrap().view.as_ref().unwrap().opened.variables.iter();
    let row = rows.map(|row| row.name.as_str().to_owned()).position(|name| name == "all_nuts").unwrap();
    d.keys(&format!("3 Tab {} G v ^U 1 4 Enter", row + 1));
    until_before(&mut d, 3);
    d.shows(&["override"]);
    d.keys("n");
    until(&mut d, LiveStage::Over);
    d.keys("s Enter");
    d.wait_for(|app| app.status.now.as_ref().is_some_and(|status| status.text.as_str().contains("saved in")));
    let text = std::fs::read(path.with_file_name("runs.jsonl.runs.jsonl")).unwrap();
    let case = Case::read(text.trim_ascii_end());
    let view = case.view();
    let set = overrides(view.record.as_ref().unwrap()).next().unwrap();
    assert_eq!((set.variable.utf8(), set.step, set.value.raw()), (Some("all_nuts"), 2, &b"14"[..]));
    let index = view.state().variable(&"all_nuts".into()).unwrap();
    let held =
        |moment| view.state().value_at(index, Moment(moment)).and_then(|entry| entry.value).map(|value| value.raw());
    // What the step wrote holds after it for nobody: it was set before the next one.
    assert_eq!((held(2), held(3)), (Some(&b"14"[..]), Some(&b"14"[..])));
    let found: Vec<_> = view.findings().iter().map(|finding| finding.rule).collect();
    assert!(!found.contains(&RuleId::ReplyDiffers), "{found:?}");
}

#[test]
fn overrides_of_the_open_run_go_with_it() {
    let server = planner();
    let (_folder, path, mut d) = opened(&server);
    d.keys("Enter");
    let row = d.app.screens.record().unwrap().opened.variables.iter();
    let row = row.map(|row| row.name.as_str().to_owned()).position(|name| name == "all_nuts").unwrap();
    d.app.screens.record_mut().unwrap().edits.set(2, row, "all_nuts".into(), b"14".to_vec());
    d.keys("S");
    d.wait_for(|app| app.screens.live().is_some_and(|live| live.bytes.is_some()));
    d.shows(&["step 3, with the recorded state before it", "14"]);
    d.keys("Enter");
    until(&mut d, LiveStage::Over);
    d.keys("s");
    d.wait_for(|app| app.status.now.as_ref().is_some_and(|status| status.text.as_str().contains("saved in")));
    let saved = lines(&path.with_file_name("runs.jsonl.forks.jsonl"));
    assert_eq!((&saved[0]["pred_num"], &saved[0]["trace"]["fork"]["step_index"]), (&json!(12), &json!(2)));
    assert_eq!(saved[0]["trace"]["fork"]["values"][0]["was"], json!(13));
}

#[test]
fn a_plan_that_is_cancelled_is_asked_for_again_by_a_key_alone() {
    let server = Server::start(|seen, talk| {
        if seen.line.starts_with("GET") {
            return answer(seen, talk, "");
        }
        // It never ends.
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(format!("{}\n", json!({"model": "m", "response": "{\"NameDescription\": ", "done": false})));
        talk.wait_for_hang_up();
    });
    let (_folder, _path, mut d) = opened(&server);
    create(&mut d);
    for asked in 1..=2 {
        d.keys(if asked == 1 { "Enter" } else { "n" });
        d.wait_for(|app| {
            let round = app.screens.live().unwrap().round.as_ref();
            round.is_some_and(|round| {
                !round.replies[0].received.content.is_empty() && round.replies[0].received.is_running()
            })
        });
        d.keys("Esc");
        until(&mut d, LiveStage::Paused);
        d.shows(&["before the plan", "the call was cancelled"]);
        assert_eq!(posts(&server), asked, "nothing is sent that nobody asked for");
    }
}

#[test]
fn enter_sends_only_on_the_line_that_says_so_and_on_the_steps() {
    let server = planner();
    let (_folder, _path, mut d) = opened(&server);
    create(&mut d);
    for pane in 2..=5 {
        d.keys(&format!("{pane} Tab Enter"));
        assert!(d.app.screens.live().unwrap().stage == LiveStage::Preview, "{}", d.screen());
    }
    d.keys("1 Tab j j Enter h g");
    d.wait_for(|app| app.screens.live().is_some_and(|live| live.bytes.is_some()));
    assert_eq!(posts(&server), 0, "nothing is sent before Enter on its line");
    d.keys("Esc Esc");
    create(&mut d);
    d.keys("Enter");
    until_before(&mut d, 1);
    let sent = posts(&server);
    d.keys("4 Tab Enter 5 Tab Enter 3 Tab Enter");
    d.shows(&[QUESTION]);
    assert_eq!((posts(&server), d.app.screens.dialog.is_some()), (sent, true), "the value is shown in full");
    d.keys("Esc 2 Tab Enter");
    until_before(&mut d, 2);
    assert_eq!(posts(&server), sent + 1);
}
