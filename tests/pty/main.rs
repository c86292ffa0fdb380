//! The real program in a pseudo-terminal: whatever happens, the terminal comes back as it was.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

#[path = "../support/hostile.rs"]
#[allow(dead_code, reason = "the files serve several test files")]
mod hostile;
#[path = "../support/nasty.rs"]
#[allow(dead_code, reason = "the records serve several test files")]
mod nasty;
#[path = "../support/server.rs"]
#[allow(dead_code, reason = "the server serves several test files")]
mod server;

mod documents;
mod live;
mod review_crash;
mod terminal;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use terminal::{Start, Terminal, run_file};

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
fn a_light_theme_on_a_dark_terminal_has_its_own_background() {
    let (_folder, terminal, _) = opened(|path| Start::stepscope(&[path, "--theme", "light"]));
    let mut written = 0;
    while !String::from_utf8_lossy(&terminal.raw()).contains("48;2;250;250;250") {
        terminal.wait_written(written);
        written = terminal.written();
    }
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
}

#[test]
fn nothing_is_shown_that_could_not_be_hidden() {
    let (_folder, path, _) = run_file();
    let path = path.to_str().unwrap();
    for options in [&["--hide", "gold"][..], &["--queue"], &["--assign", "1/2"]] {
        let arguments = [&[path, path][..], &["--reviewer", "ada"], options].concat();
        let terminal = Terminal::start(&Start::stepscope(&arguments));
        terminal.assert_exit(2);
        assert!(terminal.screen().contains("pass --reviews FILE"), "{options:?}: {}", terminal.screen());
    }
}

#[test]
fn signals_end_it_with_their_code() {
    let ends = [Signal::TERM, Signal::INT, Signal::HUP];
    let others = [Signal::XCPU, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::VTALARM, Signal::PROF];
    for signal in ends.into_iter().chain(others) {
        let code = 128 + u32::try_from(signal.as_raw()).unwrap();
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
    assert!(said.contains("internal error at crates/base/src/guard.rs:") && !said.contains("panicked at"), "{said}");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults to ask for")]
fn a_record_that_cannot_be_drawn_does_not_end_the_program() {
    let (_folder, terminal, name) = opened(|path| plain(path).env("STEPSCOPE_PANIC", "record"));
    terminal.send("\r");
    terminal.wait_for("internal error");
    assert!(terminal.has_on("alternate screen"));
    terminal.send("\x1b");
    terminal.wait_for(name);
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
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

    let terminal = Terminal::start(&plain(path.to_str().unwrap()).env("TERM", ""));
    terminal.assert_exit(2);
    assert!(terminal.screen().contains("TERM"), "{}", terminal.screen());
    assert_restored(&terminal);
}

#[test]
fn a_terminal_that_cannot_place_text_is_read_line_by_line() {
    let (_folder, path, _) = run_file();
    let terminal = Terminal::start(&plain(path.to_str().unwrap()).env("TERM", "dumb"));
    terminal.wait_for("Choice: ");
    terminal.send("quit\r");
    terminal.assert_exit(0);
    assert!(!terminal.raw().contains(&0x1b), "{}", terminal.screen());
}

/// Floods a client with tokens until the connection is closed.
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
    terminal.wait_for("step");
    terminal.send("\r");
    terminal.wait_for("Question");
    terminal.send("r");
    terminal.wait_for("send step");
    assert!(server.seen().is_empty(), "something was sent before Enter");
    terminal.send("\r");
    terminal.wait_for("receiving");
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

/// Starts a server with one model.
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
        for part in ["theirs at http://127.0.0.1:", "bytes at first", "with lines of", "named by the record only"] {
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
    assert!(terminal.screen().contains("no such file"), "{}", terminal.screen());
}

/// Checks that a failing allocation, which would abort the program, does not leave the terminal as it is.
#[cfg(target_os = "linux")]
#[test]
fn without_memory_the_terminal_comes_back_with_a_sentence() {
    use rustix::process::{Resource, Rlimit, prlimit};

    let (_folder, path, name) = run_file();
    // Nearly the longest record: more than a thread's own heap, which is set aside when it starts, can hold.
    let large = format!("{{\"id\": \"large\", \"question\": \"{}\"}}\n", "x".repeat((64 << 20) - 64));
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, large.as_bytes()).unwrap();
    let terminal = Terminal::start(&plain(path.to_str().unwrap()));
    terminal.wait_for(name);
    terminal.wait_for("41 records");
    let none = Rlimit { current: Some(1 << 20), maximum: Some(1 << 20) };
    prlimit(Some(terminal.pid()), Resource::As, none).unwrap();
    terminal.send("G\r");
    terminal.assert_exit(2);
    assert_restored(&terminal);
    assert!(terminal.screen().contains("not enough memory"), "{}", terminal.screen());
}

/// Checks that one thread too few, whichever that is, leaves no terminal behind and is not called a bug.
#[cfg(target_os = "linux")]
#[test]
fn where_threads_are_scarce_the_terminal_comes_back_with_a_sentence() {
    // The limit holds for people, not for root, who alone can become somebody else.
    if !rustix::process::getuid().is_root() {
        return;
    }
    let script = "chmod -R a+rwX \"$HOME\" \"$(dirname \"$2\")\"; exec setpriv --reuid=61237 --regid=61237 --clear-groups \
        prlimit --nproc=\"$THREADS\" \"$@\"";
    let (mut ended, mut opened) = (0, 0);
    for threads in 1..=12 {
        let (_folder, path, name) = run_file();
        let start = Start::script(script, &[path.to_str().unwrap()]);
        let terminal = Terminal::start(&start.env("THREADS", &threads.to_string()));
        let sentence = "no more threads can be started";
        terminal.wait_until("the records or a sentence", |screen| screen.contains(name) || screen.contains(sentence));
        // The first frame may come before the thread that is missing.
        terminal.send("q");
        match terminal.wait_exit() {
            0 => opened += 1,
            code => {
                assert!(code == 2 && terminal.screen().contains(sentence), "{code} {}", terminal.screen());
                ended += 1;
            }
        }
        assert_restored(&terminal);
        assert!(!terminal.screen().contains("bug"), "{}", terminal.screen());
    }
    assert!(ended > 0 && opened > 0, "{ended} {opened}");
}

/// Finds what a terminal would obey or hide in a command's output; our own colours, links to files and line ends do no
/// harm.
fn harm(raw: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(raw) else { return Some("no UTF-8".to_owned()) };
    // The terminal itself puts the return before a line end, and a payload begins with this colour.
    let text = text.replace("\r\n", "\n");
    let ours = regex::Regex::new("\x1b\\[[0-9;:]*m|\x1b\\]8;;(file://[!-~]+#[0-9]+)?\x1b\\\\").unwrap();
    if ours.find_iter(&text).any(|found| found.as_str().contains("7771")) || text.contains("\x1b[31mb") {
        return Some("a colour of the data".to_owned());
    }
    let text = ours.replace_all(&text, "");
    let at = text.char_indices().find(|(_, c)| !matches!(c, '\n' | '\t') && stepscope_base::text::is_hidden(*c));
    at.map(|(at, c)| format!("{c:?} in {:?}", text.get(at..).unwrap().chars().take(60).collect::<String>()))
}

/// Returns the commands that the help names.
fn commands(of: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(of).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    // The program's own are listed by job, those of a command in one list.
    let list = match help.split_once("Commands:\n") {
        Some((_, list)) => list.split("\n\n").next().unwrap(),
        None => help.split_once("\nLook:\n").unwrap().1.split("\n\n").next().unwrap(),
    };
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn no_command_writes_to_a_terminal_what_it_would_obey() {
    let server = server::Server::start(|seen, talk| {
        let poison = format!("{} \u{9b}31m \u{7f} \u{202e} \u{200b}", nasty::POISON);
        if seen.line.starts_with("GET") {
            return talk.whole("200 OK", "application/json", "", format!("{{\"data\":[{{\"id\":\"{poison}\"}}]}}"));
        }
        if seen.json()["seed"] == 666 {
            return talk.whole("400 Bad", "application/json", "", format!("{{\"error\":\"{poison}\"}}"));
        }
        let reply = format!("{{\\\"final_answer\\\": \\\"{}\\\"}}", poison.replace('\\', "\\\\"));
        let body = format!(
            "{{\"model\":\"{poison}\",\"choices\":[{{\"message\":{{\"content\":\"{reply}\"}},\"finish_reason\":\"{poison}\"}}]}}"
        );
        talk.whole("200 OK", "application/json", "", body);
    });
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let lines = nasty::poisoned() + &hostile::records();
    let all = write("all\u{9b}31m\u{202e}.jsonl", lines.clone());
    let one = write("one.jsonl", lines.lines().next().unwrap().to_owned());
    // Its last step reads what no step writes: it can be mended.
    let raw = "c\u{9b}31m\u{9d}0;x\u{9c}\u{7f}\u{202e}\u{200b}\u{2066}";
    let broken = format!(
        "{{\"id\": \"{raw}\", \"question\": \"{raw}\", \"procedure\": {{\"NameDescription\": \"{raw}\", \"steps\": [{{\"id\": 1, \"inputs\": [{{\"name\": \"problem_text\", \"description\": \"{raw}\"}}], \"stepDescription\": \"{raw}\", \"output\": [{{\"name\": \"{raw}\", \"description\": \"{raw}\"}}, {{\"name\": \"final_answer\", \"description\": \"{raw}\"}}], \"extra{raw}\": \"{raw}\"}}]}}, \"state\": {{\"{raw}\": \"{raw}\", \"final_answer\": \"{raw}\"}}, \"completion\": \"{raw}\"}}\n"
    );
    let broken = write("broken.jsonl", broken);
    let verdict = |verdict: &str| format!("{{\"id\": \"{raw}\", \"verdict\": \"{verdict}\", \"note\": \"{raw}\"}}\n");
    let verdicts = write("verdicts.jsonl", verdict("fail") + &verdict("pass"));
    let table = write("verdicts.csv", format!("id,verdict,note\n{raw},fail,{raw}\n\"{raw}x\",{raw},\n"));
    let journal = write("of\u{9b}.reviews.jsonl", String::new());
    let (url, none) = (server.url(""), format!("missing{raw}"));
    let model = format!("--url {url} --backend openai --model m\u{9b} --no-stream");
    let line = |line: &str| -> Vec<String> {
        let named = |word: &str| match word {
            "ALL" => all.clone(),
            "ONE" => one.clone(),
            "BROKEN" => broken.clone(),
            "VERDICTS" => verdicts.clone(),
            "TABLE" => table.clone(),
            "JOURNAL" => journal.clone(),
            "MISSING" => none.clone(),
            "RAW" => raw.to_owned(),
            word => word.to_owned(),
        };
        line.replace("MODEL", &model).split(' ').map(named).collect()
    };
    let jobs: Vec<Vec<String>> = [
        "review add --reviews JOURNAL --reviewer RAW BROKEN <VERDICTS",
        "review import TABLE BROKEN --reviews JOURNAL --reviewer RAW",
        "review list BROKEN --reviews JOURNAL",
        "review list BROKEN --reviews JOURNAL --ids",
        "review export BROKEN --reviews JOURNAL",
        "review export BROKEN --reviews JOURNAL --format csv --raw",
        "review export BROKEN --reviews JOURNAL --format markdown --raw",
        "review export --reviews JOURNAL --failed BROKEN",
        "review merge JOURNAL",
        "review merge ALL",
        "review stats BROKEN --reviews JOURNAL",
        "review stats BROKEN --reviews JOURNAL --format jsonl",
        "review next BROKEN --reviews JOURNAL --reviewer ada",
        "review next ALL --reviews JOURNAL --reviewer RAW",
        "review list BROKEN --reviews JOURNAL --filter RAW",
        "review agreement --reviews JOURNAL",
        "review agreement --reviews JOURNAL --format jsonl",
        "check ALL",
        "check ALL --color always",
        "check ALL --links always",
        "show ALL --line 1 --links always",
        "show ALL --line 6 --links always",
        "check ALL --format short",
        "check ALL --format jsonl",
        "check ALL --format sarif",
        "check ALL --format github",
        "check ALL --format junit",
        "check ALL --format markdown",
        "check ALL --summary",
        "check ALL --baseline BROKEN",
        "check BROKEN --reviewed --reviews JOURNAL",
        "check BROKEN --expect JOURNAL",
        "check BROKEN --expect JOURNAL --format jsonl",
        "check ALL --schema general",
        "check ALL --filter RAW",
        "check ALL --columns RAW=RAW",
        "check MISSING",
        "show ALL --line 1 --state --color always",
        "show ALL --line 2 --state",
        "show ALL --line 4",
        "show ALL --line 6",
        "show BROKEN --line 1 --state",
        "show BROKEN --line 1 --step 1 --prompt",
        "show BROKEN --line 1 --step 1 --state",
        "show ALL --id RAW",
        "models --url URL --backend openai",
        "models --url URL --backend openai --format jsonl",
        "run BROKEN --question RAW MODEL",
        "run BROKEN --question RAW --format trace MODEL",
        "run BROKEN --question RAW --seed 666 MODEL",
        "create RAW MODEL",
        "create RAW --without-run --tolerant --tries 1 MODEL",
        "create RAW --format trace --seed 666 --retries 0 MODEL",
        "rerun BROKEN --line 1 --step 1 MODEL",
        "rerun BROKEN --line 1 --step 1 --samples 2 MODEL",
        "rerun BROKEN --line 1 --step 1 --seed 666 --retries 0 MODEL",
        "rerun BROKEN --line 1 --exact",
        "repair BROKEN --line 1 --without-model",
        "repair BROKEN --line 1 --list",
        "repair ONE --line 1 --without-model",
        "repair ONE --line 1 --tries 1 MODEL",
        "verify BROKEN --verifier json_structure",
        "verify BROKEN --verifier regex_format --pattern RAW",
        "verify ALL --verifier bleu --reference RAW --field question",
        "verify BROKEN --verifier RAW",
        "compare ALL BROKEN",
        "compare ALL BROKEN --format jsonl",
        "compare BROKEN BROKEN --id RAW",
        "compare BROKEN BROKEN --id RAW --format jsonl",
        "rules",
        "rules RAW",
        "rules procedure/unused",
        "keys",
        "schema",
        "schema RAW",
        "schema gsm",
        "map",
        "map RAW",
        "map promptfoo",
        "map --try BROKEN",
        "map --try MISSING",
        "map --try TABLE --map TABLE",
        "completions bash",
        "config",
        "doctor",
        "man",
        "demo --notes MISSING",
        "demo MISSING",
        "demo BROKEN --check",
        "export BROKEN --line 1 --html -",
        "export BROKEN --line 1 --html - --force",
        "export ALL --line 2 --md - --force",
        "export MISSING --id RAW --html -",
        "help",
        "help check",
        "--RAW",
    ]
    .into_iter()
    .map(|job| line(&job.replace("URL", &url)))
    .collect();
    for (of, at) in [(&[][..], 0), (&["review"][..], 1)] {
        let tried: BTreeSet<String> =
            jobs.iter().filter(|job| at == 0 || job[0] == "review").filter_map(|job| job.get(at).cloned()).collect();
        let missing: Vec<_> = commands(of).into_iter().filter(|name| name != "help" && !tried.contains(name)).collect();
        assert!(missing.is_empty(), "not tried: {missing:?}");
    }
    for job in &jobs {
        let words: Vec<&str> = job.iter().map(String::as_str).collect();
        let start = match words.last() {
            Some(last) if last.starts_with('<') => {
                Start::script(&format!("\"$@\" < {verdicts}"), &words[..words.len() - 1])
            }
            _ => Start::stepscope(&words),
        };
        let terminal = Terminal::start(&start.size(200, 50));
        let code = terminal.wait_exit();
        let raw = terminal.raw();
        let told = String::from_utf8_lossy(&raw);
        assert!(code <= 3 && !raw.is_empty() && !told.contains("panicked at"), "{job:?}: exit {code}: {told}");
        assert_eq!(harm(&raw), None, "{job:?}");
    }
}

#[test]
fn places_are_links_where_the_terminal_opens_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b\u{9b}#2\u{1b}]8;;x.jsonl");
    std::fs::write(&path, "{}\n{\"question\": \"q\", \"procedure\": {\"steps\": []}}\n").unwrap();
    let told = |words: &[&str], environment: &[(&str, &str)]| {
        let words = [words, &[path.to_str().unwrap()]].concat();
        let start = environment.iter().fold(Start::stepscope(&words), |start, (name, value)| start.env(name, value));
        let terminal = Terminal::start(&start.size(200, 50));
        terminal.wait_exit();
        assert_eq!(harm(&terminal.raw()), None);
        String::from_utf8(terminal.raw()).unwrap()
    };
    let end = "/a%20b%C2%9B%232%1B%5D8%3B%3Bx.jsonl#2\x1b\\";
    for known in
        [("VTE_VERSION", "7600"), ("TERM_PROGRAM", "vscode"), ("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "1")]
    {
        for words in [["check", "--fail-on=never"], ["show", "--line=2"]] {
            let text = told(&words, &[known]);
            let (_, address) = text.split_once("\x1b]8;;file://").expect("a link");
            let (address, label) = address.split_once(end).expect("to this file, line 2");
            assert!(address.ends_with(folder.path().to_str().unwrap()), "{address}");
            assert!(label.split_once("\x1b]8;;\x1b\\").unwrap().0.contains(".jsonl:2"), "{label}");
        }
    }
    let vte = ("VTE_VERSION", "7600");
    for (words, environment) in [
        (&["check"][..], &[][..]),
        (&["check", "--links", "never"], &[vte]),
        (&["check", "--color", "never"], &[vte]),
        (&["check"], &[vte, ("NO_COLOR", "1")]),
        (&["check"], &[vte, ("FORCE_HYPERLINK", "0")]),
        (&["check"], &[("VTE_VERSION", "4000")]),
        (&["check", "--format", "jsonl"], &[vte]),
    ] {
        let text = told(words, environment);
        assert!(!text.contains("\x1b]8"), "{words:?} {environment:?}: {text}");
    }
    let piped = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
        command.args(words).arg(&path).env("VTE_VERSION", "7600").stdin(Stdio::null()).output().unwrap().stdout
    };
    assert!(!String::from_utf8(piped(&["check"])).unwrap().contains('\u{1b}'));
    assert!(String::from_utf8(piped(&["check", "--links", "always"])).unwrap().contains(end));
}

#[test]
fn a_terminal_whose_locale_is_not_utf8_is_shown_ascii() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dé.jsonl");
    let record = "{\"id\": \"é\", \"question\": \"漢 — …?\", \"procedure\": {\"steps\": []}}\n";
    std::fs::write(&path, record).unwrap();
    let file = path.to_str().unwrap();
    let told = |start: Start, locale: &str| {
        let terminal = Terminal::start(&start.env("LANG", locale).env("LC_ALL", "").size(200, 50));
        terminal.wait_exit();
        (terminal.raw(), terminal.screen())
    };
    let no_file = format!("{file}x");
    for words in
        [&["check", file][..], &["show", file], &["rules", "record/invalid_utf8"], &["check", &no_file], &["é"]]
    {
        let (raw, screen) = told(Start::stepscope(words), "C");
        assert!(raw.is_ascii() && !screen.is_empty(), "{words:?}\n{screen}");
        assert!(!told(Start::stepscope(words), "C.UTF-8").0.is_ascii(), "{words:?} says nothing beyond ASCII");
    }
    assert!(told(Start::stepscope(&["show", file]), "C").1.contains("\\u6f22 - ...?"));
    // Each stream by itself: a pipe takes everything.
    let piped = |words: &[&str]| told(Start::script("\"$@\" | cat", words), "C").1;
    assert!(piped(&["show", file]).contains("漢 — …?"));
    assert!(piped(&["check", &no_file]).contains("d\\u00e9.jsonlx"));
    assert!(piped(&["--ascii", "show", file]).contains("\\u6f22 - ...?"));
    for start in [Start::stepscope(&["demo"]), Start::stepscope(&["demo", "--ascii"]).env("LC_ALL", "C.UTF-8")] {
        let terminal = Terminal::start(&start.env("LANG", "C"));
        terminal.wait_for("Space next");
        assert!(terminal.raw().is_ascii(), "{}", terminal.screen());
        terminal.send("q");
        terminal.assert_exit(0);
    }
}

#[test]
fn json_on_a_terminal_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    let raw = "c\u{9b}31m\u{7f}\u{202e}\u{e0041}é";
    std::fs::write(&path, format!("{{\"NameDescription\": \"{raw}\", \"steps\": [], \"x\": \"{raw}\"}}")).unwrap();
    let words = ["repair", "--without-model", "--line", "1", path.to_str().unwrap()];
    let piped = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(words).output().unwrap().stdout;
    assert!(String::from_utf8(piped.clone()).unwrap().contains(raw), "a pipe takes the bytes as they are");
    let terminal = Terminal::start(&Start::script("\"$@\" 2>/dev/null", &words).size(200, 50));
    terminal.wait_exit();
    let shown = terminal.raw();
    assert_eq!(harm(&shown), None);
    let value = |json: &[u8]| serde_json::from_slice::<serde_json::Value>(json).unwrap();
    assert_eq!(value(&shown), value(&piped));
    assert!(String::from_utf8(shown).unwrap().contains("\\u009b31m\\u007f\\u202e\\udb40\\udc41é"));
}

#[test]
fn a_first_start_offers_the_tour_whatever_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state").to_str().unwrap().to_owned();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_runs/by_hand.jsonl");
    let start = |words: &[&str]| Terminal::start(&Start::stepscope(words).env("STEPSCOPE_STATE_DIR", &state));
    for is_offered in [true, false] {
        let terminal = start(&[file]);
        terminal.wait_for("A potter makes");
        // The last line of the frame comes last.
        terminal.wait_for("? help");
        assert_eq!(terminal.screen().contains("New here? :tour"), is_offered, "{}", terminal.screen());
        terminal.send("q");
        terminal.assert_exit(0);
        assert_restored(&terminal);
    }
}

#[test]
fn a_tour_goes_on_at_once_where_the_terminal_is_too_small_for_a_scene() {
    let folder = tempfile::tempdir().unwrap();
    let tour = folder.path().join("t.toml");
    let scene =
        |name: &str, wait: &str| format!("[[scene]]\nname = \"{name}\"\nwait = \"{wait}\"\ncaption = \"{name}\"\n");
    let text = "title = \"t\"\n".to_owned() + &scene("one", "not on any screen") + &scene("two", "records");
    std::fs::write(&tour, text).unwrap();
    let own = Terminal::start(&Start::stepscope(&["demo", tour.to_str().unwrap()]));
    // The keys are named as soon as nothing more will come: no key has to wait until the scene is given up.
    own.wait_for("1/2 · RECORDED · Space next");
    own.send(" ");
    own.wait_for("2/2 · RECORDED · Space next");
    assert!(!own.screen().contains("best at"), "{}", own.screen());
    own.send("q");
    own.assert_exit(0);
    let small = Terminal::start(&Start::stepscope(&["demo"]).size(60, 14));
    small.wait_for("Space next · q quit · best at 80x24");
    for n in 2..=4 {
        small.send(" ");
        small.wait_for(&format!(" {n}/15 · RECORDED · Space next"));
    }
    small.send("q");
    small.assert_exit(0);
}

#[test]
fn a_second_terminal_shows_the_notes_to_a_tour_and_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let scene = |name: &str, wait: &str| {
        format!(
            "[[scene]]\nname = \"{name}\"\nwait = \"{wait}\"\ncaption = \"caption {name}\"\nnote = \"note {name}\\u001b[2J\"\n"
        )
    };
    let tour = folder.path().join("t.toml");
    let text =
        "title = \"t\"\n".to_owned() + &scene("one", "records") + &scene("two", "records") + &scene("three", "records");
    std::fs::write(&tour, text).unwrap();
    let state = folder.path().join("state").to_str().unwrap().to_owned();
    let start = |words: &[&str]| Terminal::start(&Start::stepscope(words).env("STEPSCOPE_STATE_DIR", &state));
    let tour = ["demo", tour.to_str().unwrap()];
    for way in ["q", "killed", "to the end"] {
        let notes = start(&["demo", "--notes"]);
        notes.wait_for("No tour is running");
        let shown = start(&tour);
        shown.wait_for("Space next");
        notes.wait_until("the first scene", |screen| {
            ["Scene 1 of 3", "caption one", "note one", "Next: caption two", "00:0"]
                .iter()
                .all(|text| screen.contains(text))
        });
        shown.send(" ");
        notes.wait_until("the second", |screen| screen.contains("Scene 2 of 3") && screen.contains("note two"));
        // Whoever comes later sees the same, and may leave.
        let late = start(&["demo", "--notes"]);
        late.wait_for("note two");
        late.send("q");
        late.assert_exit(0);
        assert_restored(&late);
        match way {
            "q" => shown.send("q"),
            "killed" => shown.signal(Signal::KILL),
            _ => {
                shown.send(" ");
                notes.wait_for("Last scene");
                shown.send(" ");
            }
        }
        notes.assert_exit(0);
        assert_restored(&notes);
        shown.wait_exit();
    }
    let left: Vec<_> = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["tour.lock"], "nothing of the tour stays");
}

/// Plays a tour without a terminal and returns the exit code and the output.
fn plays(tour: &std::path::Path, size: &str) -> (Option<i32>, String) {
    let mut check = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    let output = check.args(["demo", "--check", "--size", size]).arg(tour).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap() + std::str::from_utf8(&output.stderr).unwrap())
}

#[test]
fn a_tour_is_recorded_from_what_somebody_does_and_plays_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let records = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/by_hand.jsonl");
    let (own, file) = (folder.path().join("runs.jsonl"), folder.path().join("tour.toml"));
    std::fs::copy(records, &own).unwrap();
    let words = ["demo", "--record", file.to_str().unwrap(), own.to_str().unwrap()];
    let terminal = Terminal::start(&Start::stepscope(&words).size(100, 30));
    let keep = |n: &str| {
        terminal.send("\x1bOQ");
        terminal.wait_for(n);
    };
    terminal.wait_for("RECORDING · no scene yet");
    terminal.wait_for("14 records");
    keep("1 scene ");
    terminal.send("f");
    terminal.send("correct:false\r");
    terminal.wait_for("correct:false");
    terminal.send("j\r");
    terminal.wait_for("Global state");
    terminal.send("]]");
    keep("2 scenes");
    terminal.send("J");
    terminal.wait_for("╭ Record");
    keep("3 scenes");
    terminal.send("Q");
    terminal.assert_exit(0);
    assert_restored(&terminal);
    terminal.wait_for("3 scenes. Write the captions");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("records = [\"runs.jsonl\"]") && text.contains("filter = \"correct:false\""), "{text}");
    assert_eq!(text.matches("caption = \"TODO").count(), 3, "{text}");
    assert!(!text.contains("wait = \"\"") && text.matches("id = ").count() == 2, "{text}");
    for size in ["80x24", "100x24", "100x30", "120x40"] {
        let (code, told) = plays(&file, size);
        assert_eq!((code, told.lines().count()), (Some(0), 3), "{size} {told}\n{text}");
    }
    // Nothing is overwritten, and what was typed is looked through as it is read.
    let again = Terminal::start(&Start::stepscope(&words));
    again.assert_exit(2);
    assert!(again.screen().contains("nothing is"), "{}", again.screen());
    let secret = folder.path().join("secret.toml");
    for (force, code) in [(None, 2), (Some("--force"), 0)] {
        let words = ["demo", "--record", secret.to_str().unwrap(), own.to_str().unwrap()];
        let words: Vec<&str> = words.into_iter().chain(force).collect();
        let terminal = Terminal::start(&Start::stepscope(&words).size(120, 36));
        terminal.wait_for("14 records");
        terminal.send("/ada@example.org\r");
        terminal.wait_for("No match");
        terminal.send("\x1bOQ");
        terminal.wait_for("1 scene ");
        terminal.send("Q");
        terminal.assert_exit(code);
        assert_eq!(secret.exists(), force.is_some(), "{}", terminal.screen());
        assert!(force.is_some() || terminal.screen().contains("private"), "{}", terminal.screen());
    }
    assert_eq!(plays(&secret, "100x30").0, Some(0), "{}", plays(&secret, "100x30").1);
}

#[test]
fn a_page_shows_what_was_said_of_its_record_and_the_log_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let records = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/by_hand.jsonl");
    let (runs, page) = (folder.path().join("runs.jsonl"), folder.path().join("run.html"));
    std::fs::write(&runs, std::fs::read_to_string(records).unwrap().lines().nth(1).unwrap().to_owned() + "\n").unwrap();
    let run =
        |words: &[&str]| assert!(Command::new(env!("CARGO_BIN_EXE_stepscope")).args(words).status().unwrap().success());
    let verdict = "{\"id\": \"a4aeb5c252e2309a90c2202469ba655b\", \"verdict\": \"fail\", \"note\": \"it guesses\"}";
    let table = folder.path().join("verdicts.jsonl");
    std::fs::write(&table, verdict).unwrap();
    let mut add = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    add.args(["review", "add", "--reviewer", "ada"]).arg(&runs).stdin(std::fs::File::open(&table).unwrap());
    assert!(add.status().unwrap().success());
    run(&["export", "--html", page.to_str().unwrap(), runs.to_str().unwrap()]);
    let terminal = Terminal::start(&Start::stepscope(&[page.to_str().unwrap()]).size(120, 36));
    terminal.wait_until("the verdict", |screen| screen.contains("ada (page)") && screen.contains("it guesses"));
    terminal.send("Q");
    terminal.assert_exit(0);
    assert!(!folder.path().join("run.html.reviews.jsonl").exists(), "nothing was written");
}
