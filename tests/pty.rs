//! The real program in a pseudo-terminal: whatever happens, the terminal comes back as it was.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

#[path = "support/server.rs"]
#[allow(dead_code, reason = "the server serves several test files")]
mod server;
#[path = "support/pty.rs"]
mod support;

use std::process::{Command, Stdio};

use rustix::process::Signal;
use support::{Start, Terminal, run_file};

/// Starts the program on a small run and waits for its first screen.
fn opened(start: impl FnOnce(&str) -> Start) -> (tempfile::TempDir, Terminal, &'static str) {
    let (folder, path, name) = run_file();
    let terminal = Terminal::start(&start(path.to_str().unwrap()));
    terminal.wait_for(name);
    (folder, terminal, name)
}

fn plain(path: &str) -> Start {
    Start::stepscope(&[path])
}

#[track_caller]
fn assert_restored(terminal: &Terminal) {
    let left = terminal.left_on();
    assert!(left.is_empty(), "left on: {left:?}\n{}", terminal.screen());
}

#[test]
fn quitting_gives_the_terminal_back() {
    for key in ["q", "Q"] {
        let (_folder, terminal, _) = opened(plain);
        assert!(terminal.has_on("alternate screen") && terminal.has_on("line settings"));
        terminal.send(key);
        terminal.assert_exit(0);
        assert_restored(&terminal);
    }
}

#[test]
fn keys_come_from_the_terminal_also_when_standard_input_does_not() {
    let (_folder, terminal, _) = opened(|path| Start::script(r#""$@" </dev/null"#, &[path]));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn help_is_one_key_away() {
    let (_folder, terminal, _) = opened(plain);
    terminal.send("?");
    terminal.wait_until("help", |screen| screen.to_lowercase().contains("help"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn signals_end_it_with_their_code() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let (_folder, terminal, _) = opened(plain);
        terminal.signal(signal);
        terminal.assert_exit(code);
        assert_restored(&terminal);
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults to ask for")]
fn a_panic_gives_the_terminal_back_and_is_told() {
    let (_folder, path, _) = run_file();
    let terminal = Terminal::start(&plain(path.to_str().unwrap()).env("STEPSCOPE_PANIC", "ui"));
    terminal.assert_exit(2);
    assert_restored(&terminal);
    let said = terminal.screen();
    assert!(said.contains("internal error at src/tui/run.rs:") && !said.contains("panicked at"), "{said}");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults to ask for")]
fn a_panic_in_a_task_leaves_the_screen_alone() {
    let (_folder, terminal, name) = opened(|path| plain(path).env("STEPSCOPE_PANIC", "task"));
    terminal.wait_for("internal error");
    terminal.wait_for(name);
    assert!(terminal.has_on("alternate screen"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_takes_it_back() {
    let script = r#"set -m; "$@"; echo STOPPED; read line; fg >/dev/null; echo "ENDED $?""#;
    let (_folder, terminal, name) = opened(|path| Start::script(script, &[path]));
    terminal.send("\x1a");
    terminal.wait_for("STOPPED");
    assert_restored(&terminal);
    terminal.send("go\n");
    terminal.wait_for(name);
    assert!(terminal.has_on("alternate screen") && terminal.has_on("line settings"));
    terminal.send("Q");
    terminal.wait_for("ENDED 0");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn ctrl_z_is_nothing_where_nobody_could_continue_it() {
    let (_folder, terminal, _) = opened(plain);
    terminal.send("\x1a?");
    terminal.wait_until("help", |screen| screen.to_lowercase().contains("help"));
    terminal.send("Q");
    terminal.assert_exit(0);
}

#[test]
fn ctrl_z_is_nothing_in_a_container_whose_session_began_outside() {
    let inside = ["-Urpf", "sh", "-c", r#""$@"; exit $?"#, "sh"];
    if !Command::new("unshare").args(inside).arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: this machine lets nobody make a process namespace");
        return;
    }
    let (_folder, terminal, _) =
        opened(|path| Start::script(r#"unshare -Urpf sh -c '"$@"; exit $?' sh "$@""#, &[path]));
    terminal.send("\x1aQ");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn a_stop_from_outside_is_mended() {
    let (_folder, terminal, name) = opened(plain);
    terminal.signal(Signal::STOP);
    let before = terminal.written();
    terminal.signal(Signal::CONT);
    terminal.wait_written(before);
    terminal.wait_for(name);
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn a_closed_terminal_ends_it() {
    let (_folder, mut terminal, _) = opened(plain);
    terminal.close();
    terminal.wait_exit();
}

#[test]
fn a_closed_terminal_ends_it_also_under_nohup() {
    let (_folder, mut terminal, _) = opened(|path| Start::script(r#"trap "" HUP; exec "$@""#, &[path]));
    terminal.close();
    terminal.wait_exit();
}

#[test]
fn any_size_is_survived() {
    let (_folder, terminal, name) = opened(plain);
    for (columns, rows) in [(1, 1), (2, 1), (1, 2), (10, 2), (0, 0), (500, 3), (5, 200), (65535, 1), (3, 3)] {
        terminal.resize(columns, rows);
        terminal.send("jk");
    }
    terminal.resize(80, 24);
    terminal.wait_for(name);
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn a_paste_is_never_a_command() {
    let (_folder, terminal, _) = opened(plain);
    assert!(terminal.has_on("bracketed paste"));
    terminal.send("\x1b[200~q\rQ\r:q\r\x03 \x1b[201~ qQ\x1b[201~");
    terminal.send("?");
    terminal.wait_until("help", |screen| screen.to_lowercase().contains("help"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn stray_and_cut_replies_do_not_take_the_keyboard() {
    let (_folder, terminal, _) = opened(plain);
    terminal.send("\x1b[?62;4c\x1bP>|XTerm(380)\x1b\\\x1b[?2026;2$y\x1b[24;80R\x1b]l q \x1b\\\x1b_Gi=1;OK\x1b\\\x1b[?");
    terminal.send("\x1b[<0;5;5");
    assert_eq!(terminal.wait_exit_while(|terminal| terminal.send("Q")), 0);
    assert_restored(&terminal);
}

#[test]
fn a_stalled_terminal_stops_neither_keys_nor_the_end() {
    let (_folder, terminal, _) = opened(plain);
    terminal.stall(true);
    // Each repaint is a whole screen: far more than the kernel would hold.
    for _ in 0..30 {
        terminal.send("\x0c?\x1b");
    }
    terminal.signal(Signal::TERM);
    assert!(terminal.exits_stalled(), "alive although it was told to end");
    terminal.stall(false);
    terminal.assert_exit(143);
    assert_restored(&terminal);
}

#[test]
fn a_terminal_that_reads_again_shows_the_newest_state() {
    let (_folder, terminal, _) = opened(plain);
    terminal.stall(true);
    for _ in 0..30 {
        terminal.send("\x0c");
    }
    terminal.send("?");
    terminal.stall(false);
    terminal.wait_until("help", |screen| screen.to_lowercase().contains("help"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn without_a_terminal_there_is_a_sentence() {
    let (_folder, path, _) = run_file();
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope")).arg(&path).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("not a terminal") && said.contains("stepscope check"), "{said}");

    let terminal = Terminal::start(&plain(path.to_str().unwrap()).env("TERM", "dumb"));
    terminal.assert_exit(2);
    assert!(terminal.screen().contains("TERM"), "{}", terminal.screen());
    assert_restored(&terminal);
}

/// Floods whoever asks with tokens until the connection is closed.
fn flood(_: &server::Seen, talk: &mut server::Talk) {
    talk.head("200 OK", "application/x-ndjson");
    for n in 0.. {
        if !talk.chunk(format!("{{\"model\": \"m\", \"response\": \"token{n} \", \"done\": false}}\n")) {
            return talk.note_hang_up();
        }
    }
}

#[test]
fn keys_do_not_wait_behind_tokens_and_esc_closes_the_connection() {
    let server = server::Server::start(flood);
    let url = server.url("");
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_runs/word_problems.jsonl");
    let flags = ["--backend", "ollama", "--url", &url, "--model", "m", runs];
    let terminal = Terminal::start(&Start::stepscope(&flags).size(120, 36));
    terminal.wait_for("LIVE");
    terminal.send("\r");
    terminal.wait_for("Question");
    terminal.send("r");
    terminal.wait_for("asks 1 of");
    assert!(server.seen().is_empty(), "something was sent before Enter");
    terminal.send("\r");
    terminal.wait_for("the reply is coming");
    terminal.wait_for("token");
    terminal.send("?");
    terminal.wait_for("Re-run");
    terminal.send("\x1b");
    terminal.wait_until("the help is closed", |screen| !screen.contains("every action by name"));
    terminal.send("\x1b");
    server.wait_for_hang_ups(1);
    terminal.wait_for("partial");
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

/// A server with one model, and how often it was asked for a reply.
fn with_one_model() -> server::Server {
    server::Server::start(|seen, talk| {
        if seen.path() == "/api/tags" {
            return talk.whole("200 OK", "application/json", "", r#"{"models": [{"name": "mine"}]}"#);
        }
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk("{\"response\":\"{}\",\"done\":true,\"done_reason\":\"stop\"}\n");
        talk.end();
    })
}

#[test]
fn whoever_sits_at_a_terminal_is_asked_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let record = r#"{"id": "r", "question": "2 + 3?", "procedure": {"NameDescription": "n", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "t"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "s"}]}]}, "state": {"final_answer": "5"}, "trace": {"steps": [{"step_index": 0, "model": "theirs", "prompt": "p", "raw": "r"}]}}"#;
    std::fs::write(&path, format!("{record}\n")).unwrap();
    let server = with_one_model();
    let (path, url) = (path.to_str().unwrap(), server.url(""));
    let ask = || {
        let arguments = ["rerun", path, "--step", "1", "--url", &url];
        let terminal = Terminal::start(&Start::stepscope(&arguments).size(200, 24));
        terminal.wait_for("[y/N]");
        terminal
    };
    let calls = || server.seen().into_iter().filter(|seen| seen.path() != "/api/tags").count();
    for (answer, more) in [("n\r", 0), ("\r", 0), ("y\r", 1)] {
        let (terminal, before) = (ask(), calls());
        let question = terminal.screen();
        for part in
            ["theirs at http://127.0.0.1:", "bytes at first", "with lines of", "that the record names and nobody"]
        {
            assert!(question.contains(part), "{part}: {question}");
        }
        assert_eq!(before, calls(), "nothing goes out before the answer");
        terminal.send(answer);
        assert_eq!(terminal.wait_exit() == 2, more == 0, "{}", terminal.screen());
        assert_eq!(calls() - before, more, "{answer:?}");
    }
}

#[test]
fn of_several_files_the_screen_shows_those_that_are_there_and_says_so_in_the_end() {
    let (_folder, path, name) = run_file();
    let none = format!("{}.none", path.display());
    let terminal = Terminal::start(&Start::stepscope(&[path.to_str().unwrap(), &none]).size(200, 24));
    terminal.wait_for(name);
    terminal.send("Q");
    terminal.assert_exit(2);
    assert!(terminal.screen().contains("there is no such file"), "{}", terminal.screen());
}
