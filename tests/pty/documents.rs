//! Every shell line of the documents, run as it stands: page by page, in a folder with the files that the pages make.

use std::fmt::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::server::{Seen, Server, Talk};
use crate::terminal::{Start, Terminal};

/// Lines that are not run here, each with the reason.
const LISTED: &[(&str, &str)] = &[
    ("pip install", "downloads, or builds for minutes"),
    ("uv tool install", "downloads"),
    ("cargo ", "builds for minutes"),
    ("scripts/", "builds for minutes"),
    (".ci/run", "runs all tests"),
    ("tests/live/serve_model.sh", "downloads a model"),
    ("STEPSCOPE_LIVE_LLAMACPP=", "asks a real model"),
    ("STEPSCOPE_PROGRAM=", "the tests of the Python package, which .ci/run runs"),
    ("STEPSCOPE_PROFILE=", "builds for minutes"),
    ("STEPSCOPE_PARITY_CASES=", "builds for minutes"),
    ("mkdir -p target/cases", "belongs to the next one"),
    ("for what in", "needs evoproc"),
    ("git clone", "downloads"),
    ("python3 -c \"import pandas", "needs pandas and pyarrow"),
    ("benches/", "measures for minutes"),
];

/// Beginnings of lines in which the program ends with another code than 0, and why that is right.
const CODES: &[(&str, u32, &str)] = &[
    ("stepscope check runs", 1, "there are findings in the samples"),
    ("stepscope check new.jsonl --expect", 0, "nothing regressed"),
    ("stepscope check new.jsonl", 1, "there are findings in the samples"),
    ("stepscope check samples.jsonl", 1, "there are findings in the samples"),
    ("stepscope check traces.jsonl", 1, "there are findings in the samples"),
    ("stepscope check run.html", 1, "there are findings in the samples"),
    ("stepscope check store/", 1, "there are findings in the samples"),
    ("stepscope verify - --chain", 1, "the second stage fails"),
    ("stepscope rerun runs.jsonl", 1, "the fork has findings"),
    ("stepscope rerun answers.jsonl", 1, "the fork has findings"),
    ("stepscope map --try results.json --map", 0, "the map fits"),
    ("stepscope map --try results.json", 1, "no built-in map fits, and a first one is printed"),
];

/// What a person does where the program wants a terminal: beginning of the line, and texts to wait for with what is typed then.
const TYPED: &[(&str, &[(&str, &str)])] = &[
    ("stepscope runs.jsonl --linear", &[("Choice: ", "quit\r")]),
    ("stepscope rerun runs.jsonl --line 3 --step 3 --stale", &[("[y/N]", "y\r")]),
    ("stepscope demo --notes", &[("No tour is running", "q")]),
    ("stepscope demo   ", &[("Space next", "q")]),
    ("stepscope demo --record", &[("RECORDING · no scene yet", "\x1bOQ"), ("1 scene ", "Q")]),
];
/// The same where nothing else is said.
const LOOKED_AT: &[(&str, &str)] = &[("? help", "Q")];

/// Section of a page whose lines make files that the lines of all pages name.
const FILES: &str = "Files to try it with";

/// Folders without pages for people who use the program.
const OTHER: &[&str] = &["sample_runs", "benches", "target"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Command of a page, which may take several lines.
#[derive(Clone)]
struct Line {
    page: String,
    section: String,
    number: usize,
    text: String,
}

impl Line {
    fn place(&self) -> String {
        format!("{}:{}: {}", self.page, self.number, self.text.trim_end())
    }

    fn begins_with(&self, beginning: &str) -> bool {
        self.text.starts_with(beginning)
    }

    /// Returns the words behind each call of the program.
    fn calls(&self) -> Vec<Vec<String>> {
        let begins = |(at, _): &(usize, &str)| {
            let before = self.text[..*at].trim_end_matches([' ', '\n']);
            before.is_empty() || before.ends_with(['|', ';', '&']) || before.rsplit(' ').next().unwrap().contains('=')
        };
        self.text.match_indices("stepscope ").filter(begins).map(|(at, _)| words_of(&self.text[at..])).collect()
    }

    /// Tells whether the program shows a screen; complains where it does not understand the words.
    fn shows_a_screen(&self) -> Result<bool, String> {
        use stepscope::cli::{CLEAN, Invocation, Out, parse};
        let mut shows = false;
        for words in self.calls() {
            match parse(words.iter().map(Into::into), &mut Out::new()) {
                Ok(Invocation::Screen(_) | Invocation::Linear(_)) => shows = true,
                Err(code) if code != CLEAN => return Err("is not understood".to_owned()),
                _ => {}
            }
        }
        Ok(shows)
    }
}

/// Splits a command line as a shell does, up to a comment, a pipe or a redirection.
fn words_of(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '<' | '>' | ';' | '&' | '\n') => break,
            (None, '#') if word.is_empty() => break,
            (None, ' ') if word.is_empty() => {}
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A page: its commands, and the files that it shows with their names.
#[derive(Default)]
struct Page {
    name: String,
    section: String,
    lines: Vec<Line>,
    files: Vec<(String, String)>,
}

impl Page {
    fn read(name: String) -> Self {
        let text = std::fs::read_to_string(root().join(&name)).unwrap();
        let mut page = Self { name, ..Self::default() };
        let (mut block, mut prose) = (None, String::new());
        for (n, line) in text.lines().enumerate() {
            match (block.take(), line.strip_prefix("```")) {
                (None, Some(language)) => block = Some((n + 2, language, String::new())),
                (None, None) => {
                    prose = prose + line + " ";
                    if let Some(title) = line.strip_prefix("## ") {
                        title.clone_into(&mut page.section);
                    }
                }
                (Some((begin, language, text)), Some(_)) => page.take_block(begin, language, &text),
                (Some((begin, language, text)), None) => block = Some((begin, language, text + line + "\n")),
            }
            // Quotation marks do not go from one paragraph into another.
            if line.is_empty() || line.starts_with("```") {
                page.take_prose(n, &std::mem::take(&mut prose));
            }
        }
        page.take_prose(text.lines().count(), &prose);
        page
    }

    fn push(&mut self, number: usize, text: String) {
        self.lines.push(Line { page: self.name.clone(), section: self.section.clone(), number, text });
    }

    /// Takes the command lines of a shell block, or a file whose name the first line says.
    fn take_block(&mut self, begin: usize, language: &str, text: &str) {
        let first = text.strip_prefix("# ").and_then(|rest| rest.split([':', '\n']).next());
        if let Some(name) = first.filter(|_| language == "toml") {
            self.files.push((name.to_owned(), text.to_owned()));
        }
        let mut command = String::new();
        for (n, line) in text.lines().enumerate().filter(|_| language == "sh") {
            command = command + line + "\n";
            // A command goes on in the next line where a shell says so.
            if is_whole(&command) {
                let text = std::mem::take(&mut command);
                if !text.trim_start().starts_with('#') {
                    self.push(begin + n, text);
                }
            }
        }
        assert!(command.trim().is_empty(), "{}: a command without an end: {command}", self.name);
    }

    /// Takes the calls of the program within the text: those with all of their words, without `NAME` or `...`.
    fn take_prose(&mut self, number: usize, text: &str) {
        for quoted in text.split('`').skip(1).step_by(2).filter(|quoted| quoted.starts_with("stepscope ")) {
            let is_open = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
            if !quoted.contains("...") && !quoted.split(' ').any(is_open) {
                // A command that is only named is asked what it is.
                let name = quoted.split(' ').nth(1).unwrap();
                let is_named = quoted.split(' ').count() == 2 && !name.contains(['.', '-', '/']);
                let text = quoted.to_owned() + if is_named { " --help" } else { "" };
                // What a block has already is named in the text once more.
                if self.lines.iter().all(|line| words_of(&line.text) != words_of(&text)) {
                    self.push(number, text);
                }
            }
        }
    }
}

/// Tells whether a shell takes this as a whole command. Of a text within (`<<'END'`) it does not miss the end.
fn is_whole(command: &str) -> bool {
    let end = command.split("<<'").nth(1).and_then(|rest| rest.split('\'').next());
    let is_open = end.is_some_and(|end| command.lines().last() != Some(end)) || command.trim_end().ends_with('\\');
    let shell = || Command::new("sh").args(["-n", "-c", command]).stderr(Stdio::null()).status().unwrap();
    !is_open && shell().success()
}

/// Names the pages that have shell lines, from the root of the sources.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    let folders = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    for folder in folders.chain([root().to_owned()]) {
        let name = folder.strip_prefix(root()).unwrap();
        if OTHER.iter().any(|other| name == Path::new(other)) {
            continue;
        }
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "md"));
        pages.extend(files.map(|file| file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned()));
    }
    pages.sort();
    pages
}

/// Folder in which the lines of a page are run, one after the other.
struct Shell {
    folder: tempfile::TempDir,
    server: String,
}

impl Shell {
    /// Makes the folder of a clone, with the program on the path. Its exit codes are written down, in pipes too.
    fn new(server: &Server) -> Self {
        let shell = Self { folder: tempfile::tempdir().unwrap(), server: server.url("") };
        for name in ["page", "bin", "home"] {
            std::fs::create_dir(shell.path(name)).unwrap();
        }
        symlink(root().join("sample_runs"), shell.path("page/sample_runs")).unwrap();
        shell.put("stepscope", "\"$PROGRAM\" \"$@\"\ncode=$?\necho $code >> \"$CODES\"\nexit $code\n");
        // What it makes of the output is its own matter.
        if !Command::new("jq").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
            shell.put("jq", "cat > /dev/null\n");
        }
        shell
    }

    /// Puts a script on the path.
    fn put(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn environment(&self) -> [(&'static str, String); 9] {
        let own = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let path = own("bin") + ":" + &std::env::var("PATH").unwrap();
        [
            ("PATH", path),
            ("HOME", own("home")),
            ("XDG_CONFIG_HOME", own("home/config")),
            ("XDG_STATE_HOME", own("home/state")),
            ("DOCINTEL_OUTPUT_DIR", own("page/store")),
            ("OLLAMA_HOST", self.server.clone()),
            ("LANG", "C.UTF-8".to_owned()),
            ("PROGRAM", env!("CARGO_BIN_EXE_stepscope").to_owned()),
            ("CODES", own("codes")),
        ]
    }

    /// Runs a line and returns the exit code of the shell with what was said.
    fn run(&self, line: &Line, typed: Option<&[(&str, &str)]>) -> (u32, String) {
        let _ = std::fs::remove_file(self.path("codes"));
        let Some(typed) = typed else {
            let mut command = Command::new("sh");
            command.args(["-c", &line.text]).current_dir(self.path("page")).env_clear().envs(self.environment());
            let output = command.stdin(Stdio::null()).output().unwrap();
            let code = output.status.code().map_or(u32::MAX, |code| code.try_into().unwrap());
            return (code, String::from_utf8_lossy(&output.stderr).into_owned());
        };
        let script = format!("cd '{}'\n{}", self.path("page").display(), line.text);
        let start = Start::script(&script, &[]).size(120, 36);
        let start = self.environment().iter().fold(start, |start, (name, value)| start.env(name, value));
        let terminal = Terminal::start(&start);
        for (text, keys) in typed {
            terminal.wait_for(text);
            terminal.send(keys);
        }
        (terminal.wait_exit(), terminal.screen())
    }

    /// Returns the exit codes of the program in the line that was run last.
    fn codes(&self) -> Vec<u32> {
        let codes = std::fs::read_to_string(self.path("codes")).unwrap_or_default();
        codes.lines().map(|code| code.parse().unwrap()).collect()
    }

    /// Runs a line of a page and says what is not as it should be.
    fn try_line(&self, line: &Line) -> Option<String> {
        let is_screen = match line.shows_a_screen() {
            Ok(is_screen) => is_screen,
            Err(wrong) => return Some(wrong),
        };
        let own = TYPED.iter().find(|(beginning, _)| line.begins_with(beginning)).map(|(_, typed)| *typed);
        let (code, said) = self.run(line, own.or(is_screen.then_some(LOOKED_AT)));
        let right = CODES.iter().find(|(beginning, ..)| line.begins_with(beginning)).map_or(0, |(_, code, _)| *code);
        let codes = self.codes();
        let is_right = (code == 0 || code == right)
            && codes.iter().all(|code| *code == right)
            && codes.len() >= line.calls().len();
        let is_wrong = ["panicked", "o such file", "not found"].iter().any(|word| said.contains(word));
        (!is_right || is_wrong).then(|| format!("ended with {code}, the program with {codes:?}\n{said}"))
    }
}

/// Replies of a model that follows the schema which it is sent.
fn reply(seen: &Seen, talk: &mut Talk) {
    let json = "application/json";
    if seen.path() == "/api/tags" {
        return talk.whole("200 OK", json, "", r#"{"models": [{"name": "gemma3:latest"}]}"#);
    }
    if seen.path() != "/api/generate" {
        return talk.whole("404 Not Found", json, "", "{}");
    }
    let asked = seen.json();
    let schema = &asked["format"];
    let plan = r#"{"NameDescription": "a sum", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "the task"}], "stepDescription": "Take the first number.", "output": [{"name": "first", "description": "the first number"}]}, {"id": 2, "inputs": [{"name": "first", "description": "the first number"}], "stepDescription": "Say it.", "output": [{"name": "final_answer", "description": "the answer"}]}]}"#;
    let text =
        if schema["properties"]["steps"].is_object() { plan.to_owned() } else { fitting(schema, schema).to_string() };
    talk.head("200 OK", "application/x-ndjson");
    talk.chunk(
        serde_json::json!({"model": asked["model"], "response": text, "done": true, "done_reason": "stop"}).to_string()
            + "\n",
    );
    talk.end();
}

/// Returns a value that fits a schema.
fn fitting(schema: &serde_json::Value, whole: &serde_json::Value) -> serde_json::Value {
    use serde_json::{Value, json};
    if let Some(path) = schema["$ref"].as_str() {
        return fitting(whole.pointer(path.trim_start_matches('#')).unwrap(), whole);
    }
    let one_of = ["anyOf", "oneOf", "allOf"].iter().find_map(|word| schema[word].get(0));
    if let Some(first) = one_of {
        return fitting(first, whole);
    }
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("object") => {
            let members = schema["properties"].as_object().into_iter().flatten();
            Value::Object(members.map(|(name, member)| (name.clone(), fitting(member, whole))).collect())
        }
        Some("array") => json!([]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => json!("1"),
    }
}

/// Runs the lines of a page behind those that make the files of all pages, and returns what is wrong.
fn try_page(page: &Page, files: &[Line], server: &Server) -> String {
    let shell = Shell::new(server);
    for (name, text) in &page.files {
        std::fs::write(shell.path("page").join(name), text).unwrap();
    }
    let own = page.lines.iter().filter(|line| line.section != FILES && !is_listed(line));
    let mut wrong = String::new();
    for line in files.iter().chain(own) {
        if let Some(what) = shell.try_line(line) {
            writeln!(wrong, "{}\n{what}\n", line.place()).unwrap();
        }
    }
    wrong
}

fn is_listed(line: &Line) -> bool {
    LISTED.iter().any(|(beginning, _)| line.begins_with(beginning))
}

#[test]
fn every_shell_line_of_the_documents_runs() {
    let pages: Vec<Page> = pages().into_iter().map(Page::read).filter(|page| !page.lines.is_empty()).collect();
    let all = || pages.iter().flat_map(|page| &page.lines);
    let files: Vec<Line> = all().filter(|line| line.section == FILES).cloned().collect();
    let listed = LISTED.iter().map(|(beginning, _)| *beginning);
    let exceptions =
        CODES.iter().map(|(beginning, ..)| *beginning).chain(TYPED.iter().map(|(beginning, _)| *beginning));
    for beginning in listed.chain(exceptions) {
        assert!(all().any(|line| line.begins_with(beginning)), "no line begins with {beginning}");
    }
    for line in all().filter(|line| is_listed(line)) {
        let program = words_of(&line.text).into_iter().find(|word| !word.contains('=')).unwrap();
        assert!(!program.contains('/') || root().join(&program).is_file(), "there is no {program}: {}", line.place());
    }
    let server = Server::start(reply);
    let mut wrong = String::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| try_page(page, &files, &server))).collect();
        for (page, thread) in pages.iter().zip(threads) {
            match thread.join() {
                Ok(of_page) => wrong += &of_page,
                Err(_) => writeln!(wrong, "{}: a screen was not as expected, see above", page.name).unwrap(),
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong}");
    let (listed, run): (Vec<_>, Vec<_>) =
        all().filter(|line| !line.calls().is_empty()).partition(|line| is_listed(line));
    assert!(run.len() > 100 && run.len() >= 9 * listed.len(), "{} lines are run, {} are not", run.len(), listed.len());
}

/// What the README has people press, as it names it, and what is on the screen then.
const PRESSED: &[(&str, &str)] = &[
    ("z", "Step 4 should copy 19 but wrote 3."),
    ("Enter", "step to fix State the length"),
    ("[", "step 3/4"),
    ("]", "step 4/4"),
    ("Tab", "written by step 4"),
    ("e", "❯⇒ The plan is right"),
    ("p", "▸ derivation"),
    ("Esc", "▸ step 4/4  "),
    ("w", "You are at the step that writes it"),
    ("d", "Difference  after step 3"),
    ("r", "Choose a model"),
    ("Enter", "Enter: replay step 4"),
    ("Enter", "again: 3 → 3, still wrong"),
    ("s", "saved as a fork"),
    ("q", "▸ step 4/4  "),
    ("q", "1 fork"),
    (":review", "Actions"),
    ("Enter", "review 0/178"),
    ("a", "⊕"),
    ("x", "1 [ ] arithmetic slip"),
    ("1", "1 [x] arithmetic slip"),
    ("Enter", "⊖"),
    ("f", "filter"),
    ("correct:false fix:step_run", "fix:step_run"),
    ("Enter", " of 179"),
    ("Esc", "178 records"),
    ("/", "/"),
    ("desks", "desks"),
    ("Enter", "match 1 of"),
    ("?", "Esc close   / search"),
    ("Esc", "Enter open   f filter"),
    (":", "Actions"),
    ("q", "❯quit"),
];

#[test]
fn the_five_minutes_of_the_readme_are_as_it_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split("\n## Five minutes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    for quoted in section.split('`').skip(1).step_by(2).filter(|quoted| *quoted != ":q") {
        assert!(PRESSED.iter().any(|(pressed, _)| *pressed == quoted), "{quoted} is not tried");
    }
    let terminal = Terminal::start(&Start::stepscope(&[]).size(120, 36));
    terminal.wait_for("New here? :tour");
    for (pressed, text) in PRESSED {
        terminal.send(match *pressed {
            "Enter" => "\r",
            "Esc" => "\x1b",
            "Tab" => "\t",
            text => text,
        });
        terminal.wait_until(&format!("{text} behind {pressed}"), |screen| screen.contains(text));
    }
    terminal.send("\r");
    terminal.assert_exit(0);
}
