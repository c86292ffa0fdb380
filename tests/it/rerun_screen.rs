//! The re-run screen: what is shown before anything is sent, what comes back, and what is kept.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use crate::support::drive::{Drive, small_at};
use crate::support::server::{Seen, Server, Talk};
use stepscope::app::msg::Msg;
use stepscope::app::state::App;
use stepscope::dialogs::dialog::Dialog;
use stepscope::screens::kind::ScreenKind;
use stepscope::screens::rerun::state::Stage;
use stepscope_execution::call::RunId;
use stepscope_io::config::Config;
use stepscope_io::model::cassette::Speed;
use stepscope_io::model::settings::WantedServer;
use stepscope_io::model::setup::Setup;
use stepscope_terminal::run::Event;

/// Run of three steps, wrong by a slip in the second.
const RUN: &str = r#"{"id": "nuts", "question": "Ann has 3 bags of 4 nuts and eats 2. How many are left?", "gold_num": 10.0, "gold_answer": "3*4=12, 12-2=10 #### 10", "status": "ok", "mode": "procedural", "procedure": {"NameDescription": "n", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "the question"}], "stepDescription": "Extract the number of bags, of nuts in a bag and of nuts eaten", "output": [{"name": "bags", "description": "bags"}, {"name": "nuts", "description": "nuts in a bag"}, {"name": "eaten", "description": "nuts eaten"}]}, {"id": 2, "inputs": [{"name": "bags", "description": "bags"}, {"name": "nuts", "description": "nuts in a bag"}], "stepDescription": "Compute all_nuts = bags * nuts", "output": [{"name": "all_nuts", "description": "all nuts"}]}, {"id": 3, "inputs": [{"name": "all_nuts", "description": "all nuts"}, {"name": "eaten", "description": "nuts eaten"}], "stepDescription": "Compute final_answer = all_nuts - eaten", "output": [{"name": "final_answer", "description": "the answer"}]}]}, "steps": 3, "state": {"problem_text": "Ann has 3 bags of 4 nuts and eats 2. How many are left?", "bags": 3, "nuts": 4, "eaten": 2, "all_nuts": 13, "final_answer": "11", "final_answer_numerical": 11.0}, "pred_answer": "11", "pred_num": 11.0, "correct": false}"#;

/// Formats a piece of a reply as a line of Ollama's NDJSON.
fn piece(text: &str) -> String {
    format!("{{\"model\": \"m\", \"response\": {}, \"done\": false}}\n", serde_json::to_string(text).unwrap())
}

const END: &str =
    "{\"model\": \"m\", \"response\": \"\", \"done\": true, \"done_reason\": \"stop\", \"eval_count\": 7}\n";

fn stream(talk: &mut Talk, pieces: &[&str]) {
    talk.head("200 OK", "application/x-ndjson");
    for text in pieces {
        talk.chunk(piece(text));
    }
    talk.chunk(END);
    talk.end();
}

/// Answers every step of the run correctly.
fn right(seen: &Seen, talk: &mut Talk) {
    if seen.line.starts_with("GET") {
        return talk.whole("200 OK", "application/json", "", "{\"models\": [{\"name\": \"small\"}]}");
    }
    let prompt = seen.json()["prompt"].as_str().unwrap().to_owned();
    let reply = match prompt {
        prompt if prompt.contains("all_nuts = bags") => "{\"all_nuts\": 12}",
        prompt if prompt.contains("final_answer = all_nuts") => {
            "{\"final_answer\": \"10\", \"final_answer_numerical\": 10, \"confidence\": 1, \"units\": \"nuts\"}"
        }
        _ => "{\"bags\": 3, \"nuts\": 4, \"eaten\": 2}",
    };
    stream(talk, &[&reply[..4], &reply[4..]]);
}

/// Opens a record in a folder of its own.
fn open_record(record: &str) -> (tempfile::TempDir, PathBuf, Drive) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::write(&path, format!("{record}\n")).unwrap();
    let d = Drive::open(std::slice::from_ref(&path));
    (folder, path, d)
}

/// Opens the run in a folder of its own, at its second step.
fn open() -> (tempfile::TempDir, PathBuf, Drive) {
    let (folder, path, mut d) = open_record(RUN);
    d.keys("Enter");
    (folder, path, d)
}

fn at(server: &Server) -> (tempfile::TempDir, PathBuf, Drive) {
    let (folder, path, mut d) = open();
    d.ask(small_at(server.url("")));
    (folder, path, d)
}

fn stage(app: &App) -> Option<Stage> {
    app.screens.attempt().map(|attempt| attempt.stage)
}

fn ready(app: &App) -> bool {
    app.screens.attempt().is_some_and(|attempt| attempt.ready.is_some() && attempt.bytes.is_some())
}

/// Opens the preview.
#[track_caller]
fn preview(d: &mut Drive, key: &str) {
    d.keys(key);
    d.wait_for(ready);
}

#[track_caller]
fn until(d: &mut Drive, wanted: Stage) {
    d.wait_for(|app| stage(app) == Some(wanted));
}

fn forks(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path.with_file_name("runs.jsonl.forks.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nothing_is_sent_before_enter_on_the_line_that_names_the_server() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    let place = format!("http://127.0.0.1:{}", server.port);
    d.shows(&["Preview (not sent)", "send step 2 (prompt ", " B) · ~", " · small at", &place, "small"]);
    d.shows(&["temperature", "1234", "Compute all_nuts = bags * nuts"]);
    d.keys("j Enter Esc j j l h Tab Enter Tab Enter");
    assert!(d.status().contains("go to the box"), "{}", d.status());
    // The list of models was asked for where another server could be chosen.
    let sent = || server.seen().into_iter().filter(|seen| seen.line.starts_with("POST")).collect::<Vec<_>>();
    assert!(sent().is_empty(), "a request went out without Enter on its line");
    d.keys("Tab Tab g Enter");
    until(&mut d, Stage::Over);
    assert_eq!(sent().len(), 1);
    assert_eq!(sent()[0].path(), "/api/generate");
}

#[test]
fn a_reply_streams_in_and_is_kept_as_a_fork() {
    let (go, gate): (Sender<()>, Receiver<()>) = channel();
    let gate = Mutex::new(gate);
    let server = Server::start(move |_, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece("{\"all_"));
        let _ = gate.lock().unwrap().recv();
        talk.chunk(piece("nuts\": 12}"));
        talk.chunk(END);
        talk.end();
    });
    let (_folder, path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    d.wait_for(|app| {
        let round = app.screens.attempt().unwrap().round.as_ref();
        round.is_some_and(|round| round.replies[0].received.content == b"{\"all_")
    });
    d.shows(&["Asking", "step 2, 1 of 1   small at", "receiving", "{\"all_", "schema sent"]);
    d.hides(&["nuts\": 12}"]).shows(&["Esc cancel"]).hides(&["r again"]);
    for key in ["r", "R", "D", "^R", "v"] {
        d.keys(key);
        assert_eq!(d.status(), "a call is running; Esc cancels it", "{key}");
    }
    go.send(()).unwrap();
    until(&mut d, Stage::Over);
    d.shows(&[
        "step 2: 16 bytes in",
        "schema sent, 1 of 1 replies match",
        "all_nuts",
        "recorded   13 ≠ recomputed",
        "new        12 ≙",
    ]);
    d.shows(&["Step 2 again: ", "Out of date: step 3", "Not saved. s saves as a fork"]).hides(&["open fork"]);
    assert!(forks(&path).is_empty());
    d.keys("s");
    d.shows(&["saved as a fork", "saved in runs.jsonl.forks.jsonl"]);
    let fork = forks(&path).remove(0);
    assert_eq!((fork["state"]["all_nuts"].as_i64(), fork["trace"]["fork"]["stale"][0].as_i64()), (Some(12), Some(2)));
    assert_eq!(fork["trace"]["steps"][0]["model"], "small");
    d.keys("s");
    assert_eq!(d.status(), "already saved");
    d.keys("q");
    assert_eq!(stage(&d.app), None);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{RUN}\n"), "the source is never written");
}

#[test]
fn from_here_on_every_step_is_asked_and_the_answer_is_judged() {
    let server = Server::start(right);
    let (_folder, path, mut d) = at(&server);
    preview(&mut d, "R");
    d.shows(&["send 2 of 3 steps"]);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.shows(&[
        "step 2: 16 bytes",
        "step 3: ",
        "answer 11.0 ✗ wrong → 10 ✓ correct",
        "final_answer",
        "First difference: step 2",
    ]);
    assert_eq!(server.seen().len(), 2);
    d.keys("s");
    assert_eq!(forks(&path)[0]["correct"], true);
}

#[test]
fn esc_closes_the_connection_and_what_came_is_partial() {
    let server = Server::start(|_, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece("{\"all_nuts\": 1"));
        talk.wait_for_hang_up();
    });
    for key in ["Esc", "^C", "q"] {
        let (_folder, path, mut d) = at(&server);
        let hung_up = server.seen().len();
        preview(&mut d, "r");
        d.keys("Enter");
        d.wait_for(|app| {
            let round = app.screens.attempt().unwrap().round.as_ref();
            round.is_some_and(|round| !round.replies[0].received.content.is_empty())
        });
        d.keys(key);
        server.wait_for_hang_ups(hung_up + 1);
        until(&mut d, Stage::Over);
        d.shows(&["the call was cancelled; the partial reply (14 bytes) is not an answer", "not a result"]);
        // It is compared with nothing, and not offered as if it were a result.
        d.hides(&["findings", "s keep", "Not saved", "computed"]);
        d.keys("S-Tab");
        d.shows(&["partial, no answer", "{\"all_nuts\": 1"]);
        assert_eq!(d.quit, None);
        d.keys(": k e e p");
        d.hides(&["keep what came"]);
        d.keys("Esc");
        d.keys("s");
        let fork = forks(&path).remove(0);
        assert_eq!((fork["status"].as_str(), fork["error_type"].as_str()), (Some("error"), Some("BrokenOff")));
        let (state, step) = (&fork["state"], &fork["trace"]["steps"][0]);
        // What was recorded of the steps that were not asked stays.
        assert!(state.get("all_nuts").is_none() && state["bags"].is_number(), "{fork}");
        assert!(step["outputs"].is_null() && fork.get("pred_answer").is_none() && fork.get("correct").is_none());
    }
}

#[test]
fn a_call_that_is_cancelled_before_its_first_word_took_its_time() {
    let server = Server::start(|_, talk| talk.wait_for_hang_up());
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.clock.has_begun()));
    d.now += std::time::Duration::from_millis(10_700);
    d.event(Event::Tick);
    d.keys("Enter");
    assert_eq!(d.status(), "a call is running; Esc cancels it");
    d.keys("q");
    until(&mut d, Stage::Over);
    d.shows(&["0 bytes in 10.7 s", "no complete reply"]).hides(&["a call is running"]);
    // The end of a call is the end of that sentence, whoever ends it.
    let server = Server::start(|_, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece("{"));
        talk.wait_for_hang_up();
    });
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.clock.has_begun()));
    d.keys("r");
    assert_eq!(d.status(), "a call is running; Esc cancels it");
    let trouble = stepscope_execution::call::Trouble::new(
        stepscope_execution::call::TroubleKind::Cut,
        stepscope_base::text::Shown::own("cut"),
    );
    let told = stepscope_execution::sampling::CallEvent {
        call: 0,
        event: stepscope_execution::call::RunEvent::Failed(trouble),
        began_utc: None,
        elapsed: std::time::Duration::ZERO,
    };
    let id = d.app.screens.attempt().unwrap().id;
    d.event(Msg::Run(id, vec![told]));
    until(&mut d, Stage::Over);
    d.hides(&["a call is running", "checking the result", "findings"]);
}

#[test]
fn a_busy_server_is_said_with_the_time_that_is_left() {
    let server = Server::start(|_, talk| talk.whole("429 Busy", "text/plain", "Retry-After: 30\r\n", "slow down"));
    let (_folder, _path, mut d) = open();
    d.ask(Setup { retries: Some(1), ..small_at(server.url("")) });
    preview(&mut d, "r");
    d.keys("Enter");
    d.wait_for(|app| {
        let round = app.screens.attempt().unwrap().round.as_ref();
        round.is_some_and(|round| !round.replies[0].received.log.is_empty())
    });
    let left = |d: &Drive| -> f64 {
        let screen = d.screen();
        let (_, left) = screen.split_once("server is busy: retrying in ").unwrap_or_else(|| panic!("{screen}"));
        left.split_once(" s").unwrap().0.parse().unwrap()
    };
    let before = left(&d);
    d.now += std::time::Duration::from_secs(9);
    d.event(Event::Tick);
    d.keys("Tab");
    assert!((before - left(&d) - 9.0).abs() < 1.0 && before > 20.0, "{before} {}", d.screen());
    d.keys("Esc").hides(&["server is busy:"]);
}

#[test]
fn what_a_cancelled_call_still_says_is_not_heard() {
    let server = Server::start(|seen, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece(if seen.n == 0 { "old" } else { "new" }));
        talk.wait_for_hang_up();
    });
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    let reply = |app: &App| {
        let round = app.screens.attempt().and_then(|attempt| attempt.round.as_ref());
        round.map(|round| (round.id, round.replies[0].received.content.clone()))
    };
    d.wait_for(|app| reply(app).is_some_and(|(_, content)| content == b"old"));
    let old = reply(&d.app).unwrap().0;
    d.keys("Esc");
    until(&mut d, Stage::Over);
    d.keys("r");
    d.wait_for(ready);
    d.keys("Enter");
    d.wait_for(|app| reply(app).is_some_and(|(_, content)| content == b"new"));
    let told = |text: &str| stepscope_execution::sampling::CallEvent {
        call: 0,
        event: stepscope_execution::call::RunEvent::Text {
            part: stepscope_execution::call::ReplyPart::Content,
            text: text.to_owned().into(),
        },
        began_utc: None,
        elapsed: std::time::Duration::ZERO,
    };
    for stale in [old, RunId(old.0 + 1), RunId(9999)] {
        if stale != reply(&d.app).unwrap().0 {
            d.event(Msg::Run(stale, vec![told("stale")]));
        }
    }
    assert_eq!(reply(&d.app).unwrap().1, b"new");
}

#[test]
fn several_replies_are_counted_and_one_is_taken() {
    let replies =
        ["{\"all_nuts\": 12}", "{\"all_nuts\": 13}", "{\"all_nuts\": 12.0}", "", "no JSON", "{\"all_nuts\": [1]}"];
    let running = Arc::new(Mutex::new((0_usize, 0_usize)));
    let count = Arc::clone(&running);
    let server = Server::start(move |seen, talk| {
        if seen.json()["prompt"].as_str().unwrap().contains("final_answer =") {
            return right(seen, talk);
        }
        {
            let mut count = count.lock().unwrap();
            count.0 += 1;
            count.1 = count.1.max(count.0);
        }
        let seed = seen.json()["options"]["seed"].as_i64().unwrap() - 1234;
        stream(talk, &[replies[seed as usize % replies.len()]]);
        count.lock().unwrap().0 -= 1;
    });
    let (_folder, path, mut d) = at(&server);
    preview(&mut d, "^R");
    d.keys("4j Enter");
    d.keys("Backspace '6' Enter");
    d.wait_for(ready);
    d.shows(&["send step 2, 6 samples (prompt "]);
    d.keys("g Enter");
    until(&mut d, Stage::Several);
    assert_eq!(server.seen().len(), 6);
    assert!(running.lock().unwrap().1 <= 4, "more calls at once than allowed");
    d.shows(&["recorded and recomputed values"]).hides(&["new values appear", "Esc cancel"]);
    d.shows(&[
        "majority",
        "schema sent, 3 of 6 replies match",
        "2/6",
        "2 of 4 agree",
        "1 of 6 break the schema",
        "not JSON",
        "is empty",
        "not counted",
    ]);
    d.keys("4j Enter");
    assert!(d.status().contains("cannot be used"), "{}", d.status());
    d.keys("g 2j R");
    until(&mut d, Stage::Over);
    d.shows(&["answer 11.0 ✗ wrong → 10 ✓ correct", "new        13"]);
    d.keys("s");
    let fork = forks(&path).remove(0);
    assert_eq!(fork["state"]["all_nuts"], 13);
    assert_eq!(fork["trace"]["steps"].as_array().unwrap().len(), 7, "every reply is part of the fork");
    // Away from its parent a fork has no number.
    let lone = path.with_file_name("lone.jsonl");
    std::fs::write(&lone, format!("{fork}\n")).unwrap();
    let mut alone = Drive::open(&[lone]);
    alone.keys("Enter").shows(&["13", " new "]).hides(&["re… "]);
}

#[test]
fn replies_that_break_the_schema_make_a_majority_if_they_have_every_key() {
    let server = Server::start(|_, talk| stream(talk, &["{\"all_nuts\": [12]}"]));
    let (_folder, path, mut d) = at(&server);
    preview(&mut d, "^R");
    d.keys("Enter");
    until(&mut d, Stage::Several);
    d.shows(&["majority", "0 of 5 replies match", "5 of 5 agree", "5 of 5 break the schema"]);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.keys("s");
    let fork = forks(&path).remove(0);
    assert_eq!(
        (&fork["state"]["all_nuts"], &fork["trace"]["fork"]["how"]),
        (&serde_json::json!([12]), &"consensus".into())
    );
}

#[test]
fn a_long_value_is_whole_in_the_difference() {
    let answer = format!("The number of nuts is {}and that is the end of it", "twelve minus two, ".repeat(8));
    let reply =
        format!(r#"{{"final_answer": "{answer}", "final_answer_numerical": 10, "confidence": 1, "units": "nuts"}}"#);
    let server = Server::start(move |_, talk| stream(talk, &[reply.as_str()]));
    let (_folder, _path, mut d) = at(&server);
    d.keys("]");
    preview(&mut d, "r");
    d.shows(&["q back"]).hides(&["Esc cancel"]);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.hides(&["Esc cancel"]);
    for (width, height) in [(120, 36), (200, 60)] {
        let words = d.resize(width, height).screen().replace(|c: char| !c.is_alphanumeric(), " ");
        let ends =
            words.split_whitespace().collect::<Vec<_>>().windows(2).filter(|pair| *pair == ["end", "of"]).count();
        assert!(ends > 0, "{}", d.screen());
    }
}

#[test]
fn an_answer_in_words_is_compared_by_its_number() {
    let reply = r#"{"final_answer": "There are 10 nuts left.", "final_answer_numerical": 10.0, "confidence": 1}"#;
    let server = Server::start(move |_, talk| stream(talk, &[reply]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    std::fs::write(
        &path,
        RUN.replace("\"all_nuts\": 13", "\"all_nuts\": 12").replace("11.0", "10.0").replace("\"11\"", "\"10.0\"")
            + "\n",
    )
    .unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.ask(small_at(server.url("")));
    d.keys("Enter G");
    preview(&mut d, "r");
    d.shows(&["recorded   10.0 ≙", "recomputed 10"]);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.shows(&["recorded   10.0 ≙", "new        There are 10 nuts left.", "✓ correct"]).hides(&["≠ recomputed"]);
    d.keys("r r");
    d.wait_for(ready);
    preview(&mut d, "^R");
    d.keys("Enter");
    until(&mut d, Stage::Several);
    d.shows(&["5 of 5 agree", "≙ recomputed"]).hides(&["recomputed, in no reply"]);
}

#[test]
fn replies_that_lack_a_key_make_no_majority() {
    let server = Server::start(|_, talk| stream(talk, &["{\"nuts\": 4}"]));
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "[ ^R");
    d.keys("Enter");
    until(&mut d, Stage::Several);
    d.shows(&["none: no reply has every key", "not counted", "lacks a key"]);
    d.keys("Enter");
    assert_eq!(d.status(), "no majority: no reply has every key; choose one");
}

#[test]
fn the_preview_says_that_a_seed_is_not_sent() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "^R");
    d.shows(&["5 (4 parallel, seeds count up)"]).hides(&["not sent: this kind"]);
    let mut setup = small_at(server.url(""));
    setup.wanted.backend = Some(stepscope_io::model::Backend::Anthropic);
    let (_folder, _path, mut d) = open();
    d.ask(setup);
    preview(&mut d, "^R");
    d.shows(&["5 (4 parallel)", "1234 (not sent: this kind of server does not support it)"]).hides(&["count up"]);
}

#[test]
fn what_is_not_kept_is_dropped_only_after_a_question() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("q");
    assert_eq!(stage(&d.app), None, "nothing came: nothing is asked");
    preview(&mut d, "r");
    d.keys("Enter");
    until(&mut d, Stage::Over);
    let asks = |d: &mut Drive, key: &str, words: &str| {
        let before = stage(&d.app);
        d.keys(key);
        assert!(stage(&d.app) == before && d.quit.is_none(), "{key} dropped it");
        assert!(d.status().contains(words), "{key}: {}", d.status());
    };
    asks(&mut d, "q", "Unsaved result");
    d.keys("Tab");
    asks(&mut d, "q", "Unsaved result");
    asks(&mut d, "r", "Unsaved result");
    asks(&mut d, "^C", "Unsaved result. s saves, the same key again discards");
    asks(&mut d, "q", "Unsaved result");
    d.keys("q");
    assert_eq!(stage(&d.app), None);
    // Of several replies, none chosen: s has nothing to save.
    preview(&mut d, "^R");
    d.keys("Enter");
    until(&mut d, Stage::Several);
    d.shows(&["Enter select "]);
    asks(&mut d, "q", "No reply chosen. Enter selects one");
    asks(&mut d, "Q", "No reply chosen. Enter selects one");
    d.keys("2j Enter");
    until(&mut d, Stage::Over);
    asks(&mut d, "q", "Unsaved result");
    asks(&mut d, "Q", "Unsaved result");
    d.keys("Q");
    assert_eq!(d.quit, Some(0));
}

#[test]
fn finished_replies_are_not_dropped_unasked_while_others_run() {
    let server = Server::start(|seen, talk| {
        if seen.n == 0 {
            return right(seen, talk);
        }
        talk.wait_for_hang_up();
    });
    let (_folder, path, mut d) = at(&server);
    preview(&mut d, "R");
    d.keys("Enter");
    d.wait_for(|app| stage(app) == Some(Stage::Asking) && app.screens.attempt().unwrap().past.len() == 1);
    d.keys("Q");
    assert_eq!((d.quit, stage(&d.app)), (None, Some(Stage::Asking)));
    assert!(d.status().starts_with("A call is running. Esc cancels it and keeps the replies"), "{}", d.status());
    d.keys("Esc");
    until(&mut d, Stage::Over);
    d.shows(&["received before the run ended"]).hides(&["A call is running"]);
    for key in ["Q", "q", "r"] {
        d.keys(key);
        assert!(d.quit.is_none() && d.status().starts_with("Unsaved result. s saves"), "{key}: {}", d.status());
    }
    d.shows(&["s save fork"]);
    d.keys("s");
    assert_eq!(forks(&path)[0]["status"], "error");
    d.keys("q");
    assert_eq!(stage(&d.app), None);
    // The second time the key discards. Of a call of which nothing came there is nothing to discard.
    let silent = Server::start(|_, talk| talk.wait_for_hang_up());
    let (_folder, _path, mut d) = at(&silent);
    preview(&mut d, "r");
    d.keys("Enter");
    until(&mut d, Stage::Asking);
    d.keys("Q");
    assert_eq!(d.quit, Some(0));
}

#[test]
fn offline_nothing_is_asked() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = open();
    let setup = small_at(server.url(""));
    d.ask(Setup { wanted: WantedServer { offline: true, ..setup.wanted.clone() }, ..setup });
    d.keys("r");
    assert_eq!((d.status().as_str(), stage(&d.app)), ("offline mode: nothing is sent", None));
    d.shows(&["offline"]);
    assert!(server.seen().is_empty());
}

#[test]
fn a_server_that_fails_is_said_and_nothing_is_lost() {
    let server = Server::start(|_, talk| talk.whole("500 Oops", "text/plain", "", "out of memory"));
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.shows(&["(HTTP 500): out of memory"]);
    d.keys("r");
    d.wait_for(ready);
    d.shows(&["Preview (not sent)"]);
}

#[test]
fn fields_are_edited_and_checked() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("5j Enter").keys("Backspace 'x' Enter");
    assert!(d.status().contains("use a number from 0 up, or none"), "{}", d.status());
    d.keys("Backspace '0.5' Enter j Enter").keys("^U 'none' Enter");
    d.keys("k k k k Enter").keys("^U 'other' Enter g Enter");
    until(&mut d, Stage::Over);
    let sent = server.seen()[0].json();
    assert_eq!((sent["model"].as_str(), sent["options"]["temperature"].as_f64()), (Some("other"), Some(0.5)));
    assert!(sent["options"]["seed"].is_null(), "{sent}");
}

/// Opens sample runs, whose replies are recorded.
fn recorded(name: &str) -> Drive {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name);
    let mut d = Drive::with(&[samples], |app| app.models.samples = true);
    d.ask(Setup {
        speed: Speed::AtOnce,
        wanted: WantedServer { offline: true, ..WantedServer::default() },
        ..Setup::default()
    });
    d
}

#[test]
fn the_sample_runs_have_recorded_replies() {
    let mut d = recorded("word_problems.jsonl");
    let mut played = false;
    for _ in 0..12 {
        d.keys("Enter g ] r");
        if stage(&d.app) == Some(Stage::Choosing) {
            d.shows(&["recording", "Recorded replies for the sample runs", "offline"]);
            d.keys("Enter");
        }
        d.wait_for(|app| ready(app) || app.screens.attempt().is_some_and(|attempt| attempt.never.is_some()));
        if d.app.screens.attempt().unwrap().never.is_some() {
            d.keys("q q j");
            continue;
        }
        if d.app.screens.attempt().unwrap().is_recorded == Some(true) {
            d.shows(&["replay", "replaying recorded replies", "replay step "]);
            d.shows(&["Nothing is sent: Enter on this line replays", "replay or edit", "data sent  "]);
            d.shows(&["nothing: the reply comes from the recording"]).hides(&["nothing else of", "send or edit"]);
            d.keys("Enter");
            until(&mut d, Stage::Over);
            d.shows(&["↺ replay of a recorded reply"]);
            assert!(d.app.screens.attempt().unwrap().outcome.is_some());
            played = true;
            d.keys("q q q j");
        } else {
            d.shows(&["No recorded reply for this request"]);
            d.keys("q q j");
        }
    }
    assert!(played, "no reply of the cassette belongs to the first steps of the first runs");
}

#[test]
fn what_was_chosen_is_asked_once_it_is_open() {
    let mut d = recorded("word_problems.jsonl");
    d.keys("Enter g ] r Enter");
    d.shows(&["Enter: opening what answers"]).hides(&["no model selected"]);
    d.keys("Enter").shows(&["still opening what answers"]);
    d.wait_for(ready);
    d.shows(&["Enter: replay step 2"]);
}

#[test]
fn r_and_enter_replay_something_on_every_sample_run() {
    let mut missing = Vec::new();
    for name in ["word_problems.jsonl", "by_hand.jsonl", "policy.jsonl", "notice.jsonl"] {
        let mut d = recorded(name);
        for row in 0..d.app.rows() {
            d.keys("Enter");
            // An answer is one call, without steps.
            let steps = d.app.screens.record().map_or(0, |view| view.opened.steps.len());
            let (mut asked, mut replayed) = (0, false);
            for step in 0..steps.max(1) {
                d.keys(if step == 0 { "g r" } else { "] r" });
                if stage(&d.app) == Some(Stage::Choosing) {
                    d.keys("Enter");
                }
                if d.app.screens.attempt().is_none() {
                    continue;
                }
                d.wait_for(|app| ready(app) || app.screens.attempt().is_some_and(|attempt| attempt.never.is_some()));
                let attempt = d.app.screens.attempt().unwrap();
                let (never, is_recorded) = (attempt.never.is_some(), attempt.is_recorded == Some(true));
                asked += usize::from(!never);
                if !never && !is_recorded {
                    missing.push(format!("{name} {row} {step}"));
                }
                if is_recorded && !replayed {
                    d.keys("Enter");
                    until(&mut d, Stage::Over);
                    d.shows(&["↺ replay of a recorded reply"]);
                    replayed = true;
                    d.keys("q");
                }
                d.keys("q");
            }
            assert!(asked == 0 || replayed, "{name}, row {row}: r leads nowhere");
            let is_answer = matches!(name, "policy.jsonl" | "notice.jsonl");
            assert!(!is_answer || asked == 1, "{name}, row {row}: r asks nothing");
            d.keys("q j");
        }
    }
    assert_eq!(missing, [""; 0]);
}

/// Draws every pane in every size.
fn sizes(d: &mut Drive) {
    for (width, height) in [(80, 24), (120, 36), (200, 60), (20, 5), (1, 1), (0, 0), (100, 8), (99, 50)] {
        d.resize(width, height);
        d.keys("Tab Tab Tab Tab");
    }
    d.resize(120, 36);
}

#[test]
fn every_size_shows_every_stage() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "^R");
    sizes(&mut d);
    d.keys("g Enter");
    until(&mut d, Stage::Several);
    sizes(&mut d);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    sizes(&mut d);
    d.keys("Z");
    sizes(&mut d);
}

#[test]
fn edited_values_and_prompts_are_what_is_sent() {
    let server = Server::start(right);
    let (_folder, path, mut d) = at(&server);
    preview(&mut d, "r");
    let effects = d.app.rerun_edited(vec![("bags".into(), b"5".to_vec())], None);
    for effect in effects {
        d.effect(effect);
    }
    d.wait_for(|app| ready(app) && !app.screens.attempt().unwrap().edits.is_empty());
    d.shows(&["edited", "bags = 5", "\"bags\": 5"]);
    let prompt = "all_nuts = bags times nuts, as JSON";
    let effects = d.app.rerun_edited(vec![("bags".into(), b"5".to_vec())], Some(prompt.into()));
    for effect in effects {
        d.effect(effect);
    }
    d.wait_for(ready);
    d.shows(&["prompt edited", prompt]);
    d.keys("g Enter");
    until(&mut d, Stage::Over);
    assert_eq!(server.seen()[0].json()["prompt"], prompt);
    d.keys("s");
    let fork = forks(&path).remove(0);
    assert_eq!(fork["trace"]["fork"]["edited"][0]["variable"], "bags");
    assert_eq!(fork["trace"]["fork"]["prompts_edited"][0], 1);
    assert_eq!(fork["state"]["bags"], 5);
}

#[test]
fn what_is_edited_in_the_state_is_gone_on_with() {
    let server = Server::start(right);
    let (_folder, path, mut d) = at(&server);
    d.keys("Tab [");
    let view = d.app.screens.record_mut().unwrap();
    let at = view.opened.variables.iter().position(|row| row.name.as_str() == "bags").unwrap();
    view.choose_variable(at);
    d.keys("v ^U 5 Enter").shows(&["✎ 5  was 3"]);
    // On from there, whatever step is shown.
    d.keys("[");
    preview(&mut d, "r");
    d.shows(&["bags = 5", "step 2/3", "\"bags\": 5"]);
    d.keys("v").shows(&["prompt of step 2", "Compute all_nuts = bags * nuts"]);
    d.keys("'all_nuts = bags, briefly. ' ^S");
    d.wait_for(ready);
    d.shows(&["prompt edited", "briefly. Compute"]);
    d.keys("g Enter");
    until(&mut d, Stage::Over);
    assert!(server.seen()[0].json()["prompt"].as_str().unwrap().starts_with("all_nuts = bags, briefly. Compute"));
    d.keys("s");
    let fork = forks(&path).remove(0);
    assert_eq!(fork["trace"]["fork"]["edited"][0], serde_json::json!({"variable": "bags", "value": 5}));
    assert_eq!(fork["trace"]["fork"]["prompts_edited"][0], 1);
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.keys("q").hides(&["✎"]);
    d.keys(")").shows(&["fork r1"]);
    d.keys("] ]").shows(&["✎", "r1"]);
}

/// Returns the run with an output that is never read, and its procedure without it.
fn flawed() -> (String, String) {
    let record = RUN.replace(
        r#"{"name": "eaten", "description": "nuts eaten"}]}, {"id": 2"#,
        r#"{"name": "eaten", "description": "nuts eaten"}, {"name": "dead", "description": "d"}]}, {"id": 2"#,
    );
    let sound: serde_json::Value = serde_json::from_str(RUN).unwrap();
    (record, sound["procedure"].to_string())
}

fn repair(server: &Server) -> (tempfile::TempDir, PathBuf, Drive) {
    let (folder, path, mut d) = open_record(&flawed().0);
    d.ask(small_at(server.url("")));
    d.keys("Enter F G");
    (folder, path, d)
}

fn fixes(app: &App) -> String {
    match &app.screens.dialog {
        Some(Dialog::Fixes(fixes)) => fixes.model.as_str().to_owned(),
        _ => String::new(),
    }
}

fn is_mended(app: &App) -> bool {
    matches!(&app.screens.dialog, Some(Dialog::Repair(repair)) if repair.machine.is_over)
}

#[test]
fn a_procedure_is_repaired_by_a_model() {
    let server = Server::start(|seen, talk| match seen.n {
        0 => stream(talk, &["I can", "not"]),
        1 => stream(talk, &["```json\n", &flawed().1, "\n```"]),
        _ => stream(talk, &[&flawed().1, "\n"]),
    });
    let (_folder, path, mut d) = repair(&server);
    d.shows(&["remove dead", "Enter: repair with a model (preview first)"]);
    d.keys("Enter");
    d.wait_for(|app| fixes(app).starts_with("Enter: send to small at "));
    assert!(fixes(&d.app).contains("bytes · at most 10 calls") && server.seen().is_empty());
    d.shows(&["sent to the model: the procedure; nothing else of ", path.file_name().unwrap().to_str().unwrap()]);
    d.keys("Enter");
    d.wait_for(is_mended);
    d.shows(&[
        "Repair by small at ",
        "attempt 1: the reply is not JSON; nothing changed",
        "attempt 2: the reply is not JSON; nothing changed",
        "attempt 3: errors 1 → 0",
    ]);
    let sent = server.seen()[1].json();
    assert!(sent["prompt"].as_str().unwrap().starts_with("You will make the requested minimal structural fixes"));
    assert_eq!((&sent["options"]["temperature"], &sent["format"]["title"]), (&0.into(), &"Procedure".into()));
    d.keys("Enter").shows(&["repaired by small at ", "errors 1 → 0", "not saved", "- "]);
    d.keys("s");
    d.wait_for(|app| app.fork_tree().len() == 2);
    let fork = forks(&path).remove(0);
    assert_eq!(fork["trace"]["fork"]["how"], "repair");
    assert_eq!(fork["procedure"].to_string(), flawed().1);
}

#[test]
fn what_was_saved_is_opened_from_the_result() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "R");
    d.shows(&["data sent", "the prompt below; nothing else of ", "runs.jsonl"]);
    d.keys("g Enter");
    until(&mut d, Stage::Over);
    d.shows(&["Steps 2 to 3 again: "]);
    d.keys(")");
    assert_eq!(stage(&d.app), Some(Stage::Over), "nothing is saved yet");
    d.keys("s");
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.shows(&[") open fork"]);
    d.keys(")").shows(&["fork r1"]);
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    d.keys("d").shows(&["A recorded", "B r1"]);
}

#[test]
fn a_repair_without_a_model_leads_to_their_list_and_back() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = repair(&server);
    d.app.models.is_configured = false;
    d.keys("Esc F G").shows(&["Enter: choose a model to repair it"]);
    d.keys("Enter").shows(&["Choose a model for the repair"]);
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.picker.candidates.len() == 1));
    d.keys("Enter");
    d.wait_for(|app| fixes(app).starts_with("Enter: send to small at "));
    assert_eq!(d.app.screens.top(), ScreenKind::Run);
    assert!(server.seen().iter().all(|seen| !seen.line.starts_with("POST")), "choosing sends nothing");
}

#[test]
fn a_repair_is_broken_off_and_a_server_that_fails_is_said() {
    let server = Server::start(|seen, talk| match seen.n {
        0 => {
            talk.head("200 OK", "application/x-ndjson");
            talk.chunk(piece("{\"NameDescr"));
            talk.wait_for_hang_up();
        }
        _ => talk.whole("404 Not Found", "application/json", "", "{\"error\": \"model 'small' not found\"}"),
    });
    let (_folder, path, mut d) = repair(&server);
    d.keys("Enter");
    d.wait_for(|app| fixes(app).starts_with("Enter: send to "));
    d.keys("Enter");
    d.wait_for(|app| matches!(&app.screens.dialog, Some(Dialog::Repair(repair)) if !repair.content().is_empty()));
    d.shows(&["Esc cancels", "NameDescr"]).hides(&["Enter shows"]);
    d.keys("j x ^C").shows(&["cancelled; the partial reply is not used", "errors 1 → 1"]);
    assert!(d.quit.is_none());
    d.keys("Enter Esc").hides(&["Repair by"]);
    d.keys("F G Enter");
    d.wait_for(is_mended);
    d.shows(&["attempt 1: ", "not found"]);
    assert!(forks(&path).is_empty());
}

#[test]
fn the_dashboard_over_a_running_call_is_what_is_drawn_and_gets_the_keys() {
    let server = Server::start(|_, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece("{\"all_"));
        talk.wait_for_hang_up();
    });
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.round.is_some() && attempt.is_running()));
    for (key, word) in [("O", "dashboard"), ("A", "adjudicate")] {
        d.keys(key);
        assert!(d.header().contains(&format!("▸ {word}")), "{}", d.header());
        d.hides(&["reply", "Preview"]);
        let before = d.app.table.filter_text.clone();
        d.keys("Enter");
        assert_eq!((d.app.screens.holds(ScreenKind::Rerun), &d.app.table.filter_text), (true, &before));
        assert!(!d.footer().contains("Enter"), "{}", d.footer());
        d.keys("Esc");
        assert!(d.header().contains("▸ re-run step 2/3"), "{}", d.header());
        assert_eq!(stage(&d.app), Some(Stage::Asking));
    }
    d.keys("O O Esc");
    until(&mut d, Stage::Over);
}

#[test]
fn a_click_ends_no_repair_and_esc_cancels_it() {
    let server = Server::start(|_, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece("{"));
        talk.wait_for_hang_up();
    });
    let (_folder, _path, mut d) = repair(&server);
    d.keys("Enter");
    d.wait_for(|app| fixes(app).starts_with("Enter: send to "));
    d.keys("Enter");
    d.wait_for(|app| matches!(&app.screens.dialog, Some(Dialog::Repair(repair)) if !repair.content().is_empty()));
    for (column, row) in [(0, 0), (60, 18), (119, 35), (3, 3)] {
        d.click(column, row);
    }
    assert!(!is_mended(&d.app) && d.header().contains("▸ repair"), "{}", d.header());
    d.keys("Esc");
    assert!(is_mended(&d.app));
    d.keys("Esc");
    assert!(d.app.screens.dialog.is_none());
}

#[test]
fn a_key_is_in_no_frame_and_in_no_fork() {
    const KEY: &str = "sk-secret-0123456789";
    let server = Server::start(|seen, talk| {
        let said = seen.header("authorization").unwrap_or_default().to_owned();
        if seen.n == 0 {
            return talk.whole("401 No", "application/json", "", format!("{{\"error\": \"bad key: {said}\"}}"));
        }
        talk.head("200 OK", "text/event-stream");
        let text = serde_json::to_string(&format!("{{\"all_nuts\": 12}} {said}")).unwrap();
        talk.chunk(format!(
            "data: {{\"choices\": [{{\"delta\": {{\"content\": {text}}}, \"finish_reason\": \"stop\"}}]}}\n\n"
        ));
        talk.chunk("data: [DONE]\n\n");
        talk.end();
    });
    let (_folder, path, mut d) = open();
    let endpoint = endpoint::with_key(&server.url("/v1"), KEY);
    d.ask(Setup { speed: Speed::AtOnce, retries: Some(0), ..Setup::default() });
    let server_of_key = Setup::default().found(endpoint, Some("m".to_owned()), &Config::default()).unwrap();
    d.app.models.server = Some(server_of_key);
    d.frames = Some(Vec::new());
    for _ in 0..2 {
        preview(&mut d, "r");
        d.keys("Enter");
        until(&mut d, Stage::Over);
        d.keys("Tab Tab Tab Tab Z Z s q");
    }
    let authorised = |seen: &Seen| seen.header("authorization").is_some_and(|value| value.contains(KEY));
    assert!(server.seen().iter().all(authorised), "the server itself gets the key");
    assert!(d.frames.take().unwrap().iter().all(|frame| !frame.contains("0123456789")));
    assert!(!format!("{:?}", d.app).contains("0123456789"), "nor is it in a log");
    let text = std::fs::read_to_string(path.with_file_name("runs.jsonl.forks.jsonl")).unwrap();
    assert!(!text.contains("0123456789") && text.lines().count() == 2, "{text}");
}

mod endpoint {
    use stepscope_io::model::key::ApiKey;
    use stepscope_io::model::{Backend, Endpoint};

    pub(super) fn with_key(url: &str, key: &str) -> Endpoint {
        Endpoint::new(Backend::Chat, url, ApiKey::new(key)).unwrap()
    }
}

#[test]
fn steps_down_reasoning_and_fences_are_shown_apart() {
    let server = Server::start(|seen, talk| {
        if seen.n == 0 {
            return talk.whole("500 No", "application/json", "", "{\"error\": \"invalid JSON schema in format\"}");
        }
        stream(talk, &["<think>three times", " four</think>\n```json\n", "{\"all_nuts\": 12}\n```"]);
    });
    let (_folder, _path, mut d) = at(&server);
    preview(&mut d, "r");
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.shows(&[
        "▲ the server rejects the schema",
        "three times four",
        "```json",
        "JSON mode requested, 1 of 1 replies match",
    ]);
    d.resize(80, 24).keys("S-Tab G");
    d.shows(&["reasoning before it and a code fence around it removed"]);
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn whom_to_ask_is_chosen_once_for_the_session() {
    let server = Server::start(right);
    let (_folder, _path, mut d) = open();
    let setup = small_at(server.url(""));
    d.ask(Setup { wanted: WantedServer { model: None, ..setup.wanted.clone() }, ..setup });
    d.keys("r");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.picker.candidates.len() == 1));
    d.shows(&["Choose a model", "small", "server from flags, environment or config.toml"]);
    d.keys("Enter");
    d.wait_for(ready);
    d.shows(&["small at http://127.0.0.1"]);
    d.keys("q");
    preview(&mut d, "r");
    d.hides(&["Choose a model"]).shows(&["small at http://127.0.0.1"]);
    assert!(server.seen().iter().all(|seen| seen.line.starts_with("GET")), "only lists of models were asked for");
}

#[test]
fn what_could_not_be_saved_is_said_kept_and_offered_again() {
    let server = Server::start(right);
    let (_folder, path, mut d) = at(&server);
    let target = path.with_file_name("runs.jsonl.forks.jsonl");
    std::fs::create_dir(&target).unwrap();
    preview(&mut d, "r");
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.keys("s");
    d.shows(&["! NOT SAVED: ^S retries", "1 not saved"]);
    d.keys("s");
    assert_eq!(d.status(), "not saved; ^S retries");
    std::fs::remove_dir(&target).unwrap();
    d.keys("^S");
    d.shows(&["saved as a fork"]);
    assert_eq!(forks(&path).len(), 1);
}

/// Typed answer that found nothing, where there is something.
const ANSWER: &str = r#"{"format": "stepscope.answer_trace", "version": 1, "id": "a7", "question": "What is the deductible?", "schema": "AmountAnswer", "retrieved_pages": [{"page_num": 2}], "document": {"lines": [{"page_num": 1, "line_num": 1, "text": "Policy"}, {"page_num": 2, "line_num": 1, "text": "The deductible is USD 250."}]}, "answer": {"extraction_method": "na", "confidence": 0.5, "caveats": [], "answer_found": false, "complete_answer_found": true, "context_completeness_weak": 1, "context_structured": true, "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false, "suggested_clarification": null, "items": []}, "model": "small"}"#;
/// Reply to it.
const REPLY: &str = r#"{"extraction_method": "verbatim", "confidence": 0.90, "caveats": [], "answer_found": true, "complete_answer_found": true, "context_completeness_weak": 1, "context_structured": true, "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false, "suggested_clarification": null, "items": [{"amount": {"value": 250, "currency": "USD"}, "spans": [{"line_start": 1, "line_end": 1, "quote": "USD 250"}]}]}"#;

/// Opens the answer in a folder of its own, and its re-run as far as the preview.
fn answer_at(server: &Server) -> (tempfile::TempDir, PathBuf, Drive) {
    let (folder, path, mut d) = open_record(ANSWER);
    d.ask(small_at(server.url("")));
    d.keys("Enter");
    preview(&mut d, "r");
    (folder, path, d)
}

#[test]
fn the_preview_and_the_shell_name_the_same_files() {
    let server = Server::start(right);
    let (folder, path, mut d) = at(&server);
    preview(&mut d, "r");
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    // A wrapped path has its last part somewhere on the screen.
    let row = |d: &mut Drive| {
        let screen = d.screen();
        let from = screen.lines().position(|line| line.contains("data sent")).unwrap();
        screen.lines().skip(from).take(4).collect::<Vec<_>>().join("\n")
    };
    assert!(row(&mut d).contains("runs.jsonl"), "{}", d.screen());
    let document = folder.path().join("policy.jsonl");
    let line = |page: u32, text: &str| format!("{{\"page_num\": {page}, \"line_num\": 1, \"text\": \"{text}\"}}\n");
    std::fs::write(&document, line(1, "Policy") + &line(2, "The deductible is USD 250.")).unwrap();
    let mut answer: serde_json::Value = serde_json::from_str(ANSWER).unwrap();
    answer["document"] = serde_json::json!({"path": "policy.jsonl"});
    std::fs::write(&path, format!("{answer}\n")).unwrap();
    let mut d = Drive::open(std::slice::from_ref(&path));
    d.ask(small_at(server.url("")));
    d.keys("Enter");
    preview(&mut d, "r");
    let shown = row(&mut d);
    assert!(shown.contains("runs.jsonl") && shown.contains("policy.jsonl"), "{shown}");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_stepscope"))
        .args(["rerun", "--backend", "ollama", "--url", &server.url(""), "--model", "small", "--out"])
        .arg(folder.path().join("new.forks.jsonl"))
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    let sends = said.lines().find(|line| line.contains("sends lines of")).unwrap_or_else(|| panic!("{said}"));
    assert!(sends.contains(&format!("{}, ", name(&path))) && sends.contains(&name(&document)), "{sends}");
}

#[test]
fn a_small_screen_names_every_file_that_is_sent() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let (path, document) = (folder.path().join("runs.jsonl"), folder.path().join("policy.document.jsonl"));
    let line = |page: u32, text: &str| format!("{{\"page_num\": {page}, \"line_num\": 1, \"text\": \"{text}\"}}\n");
    std::fs::write(&document, line(1, "Policy") + &line(2, "The deductible is USD 250.")).unwrap();
    let mut answer: serde_json::Value = serde_json::from_str(ANSWER).unwrap();
    answer["document"] = serde_json::json!({"path": "policy.document.jsonl"});
    let far = WantedServer {
        backend: Some(stepscope_io::model::Backend::Chat),
        url: Some("https://api.together.xyz/v1".to_owned()),
        model: Some("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8".to_owned()),
        ..WantedServer::default()
    };
    for (record, names) in
        [(RUN.to_owned(), &["runs.jsonl"][..]), (answer.to_string(), &["runs.jsonl", "policy.document.jsonl"])]
    {
        std::fs::write(&path, format!("{record}\n")).unwrap();
        let mut d = Drive::open(std::slice::from_ref(&path));
        d.ask(Setup { wanted: far.clone(), ..Setup::default() });
        d.resize(80, 24).keys("Enter");
        preview(&mut d, "r");
        d.shows(names).shows(&["data sent"]).hides(&["more lines below"]);
        d.resize(80, 14).shows(&["more lines below: G"]);
        d.keys("G").hides(&["more lines below"]).shows(&names[names.len() - 1..]);
    }
}

/// Runs `stepscope check` on the forks of a file and returns the exit code and the output.
fn check(path: &Path) -> (Option<i32>, String) {
    let forks = path.with_file_name("runs.jsonl.forks.jsonl");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_stepscope")).arg("check").arg(forks).output().unwrap();
    (out.status.code(), String::from_utf8(out.stdout).unwrap())
}

#[test]
fn an_answer_is_asked_for_again_and_kept_as_a_fork() {
    let server = Server::start(|_, talk| stream(talk, &[&REPLY[..40], &REPLY[40..]]));
    let (_folder, path, mut d) = answer_at(&server);
    let place = format!("http://127.0.0.1:{}", server.port);
    d.shows(&["Preview (not sent)", "send a prompt rebuilt from 1 line (", " kB) · ~", " · small at", &place]);
    d.shows(&["What is the deductible?"]).hides(&["  scope ", "samples"]);
    for key in ["R", "D", "^R"] {
        d.keys(key);
        assert_eq!(d.status(), "a structured answer is one call; r re-runs it");
    }
    d.keys("v");
    assert_eq!(d.status(), "only prompts of steps can be edited");
    sizes(&mut d);
    assert!(server.seen().is_empty(), "a request went out without Enter on its line");
    d.keys("g Enter");
    until(&mut d, Stage::Over);
    d.shows(&[
        "the answer: 421 bytes",
        "answer nothing → ◉ 250 USD",
        "findings ! 1 → no findings",
        "route reject → route ship",
    ]);
    d.shows(&["A no answer", "B ◉ amount  250 USD"]);
    d.keys("Z").shows(&["A answer/complete_ ", "  without_found "]);
    sizes(&mut d);
    d.keys("Z s");
    d.shows(&["saved as a fork"]);
    let fork = forks(&path).remove(0);
    assert_eq!(fork["answer"]["items"][0]["amount"]["value"], 250);
    assert_eq!((&fork["trace"]["fork"]["parent"], &fork["model"]), (&"a7".into(), &"small".into()));
    assert_eq!(check(&path), (Some(0), "1 record, no findings\n".to_owned()));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{ANSWER}\n"), "the source is never written");
    d.keys("q").shows(&["Citation", "The deductible is USD 250."]);
    assert_eq!(stage(&d.app), None);
    d.wait_for(|app| app.fork_tree().len() == 2);
    d.keys("q j Enter").shows(&["◉ A amount", "250 USD", "exact"]);
}

#[test]
fn what_a_new_answer_makes_up_is_shown() {
    let server = Server::start(|_, talk| stream(talk, &[&REPLY.replace("\"USD 250\"", "\"nothing is deducted\"")]));
    let (_folder, path, mut d) = answer_at(&server);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.shows(&[
        "answer nothing → ◌ 250 USD",
        "findings ! 1 → ■ 1 ▲ 1   route reject",
        "B ◌ amount  250 USD  (not found",
    ]);
    d.keys("Z").shows(&["B span/"]);
    d.keys("Z s");
    assert_eq!(check(&path).0, Some(1));
}

#[test]
fn what_is_no_answer_is_never_taken_for_one() {
    let server = Server::start(|seen, talk| {
        if seen.n == 0 {
            return stream(talk, &["I cannot say."]);
        }
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(piece(REPLY));
        talk.wait_for_hang_up();
    });
    let (_folder, path, mut d) = answer_at(&server);
    d.keys("Enter");
    until(&mut d, Stage::Over);
    d.shows(&["0 of 1 replies match", "answer/json_invalid"]);
    // Nothing that came is lost unasked.
    d.keys("r");
    assert!(d.status().contains("Unsaved result"), "{}", d.status());
    d.keys("r");
    d.wait_for(ready);
    d.keys("g Enter");
    d.wait_for(|app| {
        let round = app.screens.attempt().unwrap().round.as_ref();
        round.is_some_and(|round| !round.replies[0].received.content.is_empty())
    });
    d.shows(&["the answer   small at", "receiving"]);
    d.keys("Esc");
    until(&mut d, Stage::Over);
    d.shows(&["the call was cancelled", "is not an answer", "no reply: the recorded answer"]);
    d.hides(&["250 USD"]);
    d.keys("s");
    let fork = forks(&path).remove(0);
    assert_eq!((fork.get("answer"), fork.get("answer_text")), (None, None));
    assert_eq!(fork["trace"]["steps"][0]["raw"], REPLY);
}

#[test]
fn an_answer_whose_document_is_not_at_hand_is_not_asked_for() {
    let server = Server::start(|_, talk| stream(talk, &[REPLY]));
    let (_folder, _, mut d) = open_record(&ANSWER.replace("\"document\"", "\"d\""));
    d.ask(small_at(server.url("")));
    d.keys("Enter r");
    d.wait_for(|app| app.screens.attempt().is_some_and(|attempt| attempt.never.is_some()));
    d.shows(&["this answer cannot be re-run: document not found"]);
    d.keys("Enter q");
    d.keys("R");
    assert_eq!(d.status(), "a structured answer is one call; r re-runs it");
    assert!(server.seen().is_empty());
}
