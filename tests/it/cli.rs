//! The commands, as a shell runs them: output, exit codes, pipes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::support::fed::fed;
use stepscope_base::json::Tape;
use stepscope_base::schema::Schema;
use stepscope_record::formats::FORMATS;

const GOOD: &str = r#"{"id": "good", "question": "2 + 3?", "status": "ok", "mode": "procedural", "procedure": {"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Extract both numbers", "output": [{"name": "a", "description": "one"}, {"name": "b", "description": "other"}]}, {"id": 2, "inputs": [{"name": "a", "description": "one"}, {"name": "b", "description": "other"}], "stepDescription": "Add them", "output": [{"name": "final_answer", "description": "sum"}]}]}, "state": {"problem_text": "2 + 3?", "a": 2, "b": 3, "final_answer": "5", "final_answer_numerical": 5.0, "confidence": 0.9}, "pred_answer": "5", "correct": true}"#;

fn bad() -> String {
    GOOD.replace(r#""id": "good""#, r#""id": "bad""#).replace(
        r#""output": [{"name": "a""#,
        "\"output\": [{\"name\": \"lost\\u001b]52;c;eA==\\u0007\", \"description\": \"\u{202e}\"}, {\"name\": \"a\"",
    )
    .replace(r#""a": 2,"#, r#""a": 2, "lost\u001b]52;c;eA==\u0007": 0,"#)
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("good.jsonl", &format!("// note\n{GOOD}\n\n"));
        folder.write("bad.jsonl", &format!("\u{feff}{GOOD}\r\n{}\r\n{{\"id\": \"cut\", \"quest", bad()));
        folder
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn stepscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color").stdin(Stdio::null());
    command
}

fn run(arguments: &[&str], paths: &[&Path]) -> Output {
    stepscope().args(arguments).args(paths).output().unwrap()
}

#[test]
fn what_is_not_read_of_a_folder_is_told() {
    let folder = Folder::new();
    let at = |name: &str| folder.path(name);
    std::fs::create_dir(at("packed")).unwrap();
    std::fs::write(at("packed/runs.jsonl.gz"), b"\x1f\x8b\x08\0").unwrap();
    std::fs::write(at("packed/runs.jsonl.bz2"), b"BZh91AY").unwrap();
    folder.write("packed/good.jsonl", &format!("{GOOD}\n"));
    for arguments in [&["check", "--format", "jsonl"][..], &["verify", "--verifier", "json_structure"]] {
        let output = run(arguments, &[&at("packed")]);
        let told = text(&output.stderr);
        assert!(told.contains("packed/runs.jsonl.gz: it cannot be unpacked: "), "{told}");
        assert!(told.contains("packed/runs.jsonl.bz2: this is bzip2; unpack it first: bunzip2\n"), "{told}");
    }
    std::fs::create_dir(at("pages")).unwrap();
    let page = run(&["export", "--force", "--html", at("pages/1.html").to_str().unwrap()], &[&at("packed/good.jsonl")]);
    assert!(page.status.success(), "{page:?}");
    let output = run(&["check"], &[&at("pages")]);
    let told = text(&output.stderr);
    assert!(told.ends_with("no file begins with records; a report page is read if you pass it yourself\n"), "{told}");
    for pair in [["pages", "packed/good.jsonl"], ["packed/good.jsonl", "pages"]] {
        let output = run(&["compare"], &pair.map(&at).each_ref().map(PathBuf::as_path));
        let told = text(&output.stderr);
        let (what, which) = ("pages: no file begins with records", "; a report page is read if you pass it yourself\n");
        assert!(told.contains("nothing to compare in ") && told.ends_with(&format!("{what}{which}")), "{told}");
        assert_eq!((output.status.code(), text(&output.stdout).is_empty()), (Some(2), true));
    }
    // As the cache of a hub keeps its files.
    std::fs::create_dir(at("links")).unwrap();
    std::os::unix::fs::symlink("../packed/good.jsonl", at("links/good.jsonl")).unwrap();
    let output = run(&["check"], &[&at("links")]);
    let told = text(&output.stderr);
    assert!(told.ends_with("no file begins with records; links are followed if you pass them yourself\n"), "{told}");
    std::fs::create_dir_all(at("hidden/.cache")).unwrap();
    folder.write("hidden/.good.jsonl", &format!("{GOOD}\n"));
    let output = run(&["check"], &[&at("hidden")]);
    let told = text(&output.stderr);
    assert!(told.ends_with("no file begins with records; hidden files are read if you pass them yourself\n"), "{told}");
    folder.write("hidden/run.log", &format!("loading model...\n{GOOD}\n"));
    folder.write("hidden/good.jsonl", &format!("{GOOD}\n"));
    let output = run(&["check"], &[&at("hidden")]);
    let told = text(&output.stdout);
    let rest = "; 1 other file does not begin with records; 2 hidden files and folders left out\n";
    assert!(told.starts_with("1 record, no findings") && told.ends_with(rest), "{told}");
}

/// What is named twice would else be dropped once, and what is not there replaced.
#[test]
fn what_is_named_twice_or_is_not_there_is_refused() {
    let folder = Folder::new();
    let good = folder.write("good.jsonl", &format!("{GOOD}\n"));
    let twice = ["check", "--columns", "question=a,question=b"];
    let set = ["rerun", "--step", "1", "--set", "x=1", "--set", "x=2"];
    for (arguments, why) in [
        (&twice[..], "cannot use --columns: it gives the key question two columns; name one"),
        (&set, "--set gives x two values; name one"),
        (&["doctor", "--config-dir", "/nowhere"], "no such folder"),
        (&["models", "--config-dir", "/nowhere", "--offline"], "no such folder"),
    ] {
        let files: &[&Path] = if matches!(arguments[0], "check" | "rerun") { &[&good] } else { &[] };
        let output = run(arguments, files);
        assert!(code(&output) == 2 && text(&output.stderr).contains(why), "{output:?}");
    }
    let list = folder.write("list.json", &format!("[{GOOD},{GOOD},]"));
    let told = text(&run(&["check"], &[&list]).stdout).to_owned();
    let rest = "; read 2, skipped 1: 1 comma too many; 1 record repeats an id: line 1 has an id twice\n";
    assert!(told.ends_with(rest), "{told}");
}

#[test]
fn duplicate_ids_of_several_files_are_told_with_their_file() {
    let folder = Folder::new();
    let one = folder.write("one.jsonl", &format!("{GOOD}\n{GOOD}\n"));
    let two = folder.write("two.jsonl", &format!("{GOOD}\n"));
    let told = |paths: &[&Path]| text(&run(&["check"], paths).stdout).lines().last().unwrap().to_owned();
    let alone = told(&[&one]);
    assert!(alone.ends_with("repeats an id: line 2 has the id of line 1"), "{alone}");
    let both = told(&[&one, &two]);
    assert!(both.ends_with("one.jsonl line 2 has the id of line 1"), "{both}");
}

#[test]
fn a_long_first_line_hides_no_record() {
    let folder = Folder::new();
    let long = GOOD.replacen('{', &format!("{{\"trace_text\": \"{}\", ", "x".repeat(300_000)), 1);
    let lines = folder.write("long.jsonl", &format!("{long}\n{GOOD}\n{}\n{GOOD}\n{GOOD}\n", &GOOD[..40]));
    let count =
        |output: &Output| (text(&output.stdout).lines().count(), text(&output.stdout).contains("record/joined"));
    let check = ["check", "--format", "jsonl", "--fail-on", "never"];
    assert_eq!(count(&run(&check, &[&lines])), (5, false));
    let piped = fed(stepscope().args(check).arg("-"), std::fs::read(&lines).unwrap());
    assert_eq!(count(&piped), (5, false));
}

#[test]
fn lists_of_what_the_program_knows_are_json_lines_too() {
    let objects = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let output = run(&[arguments, &["--format", "jsonl"]].concat(), &[]);
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let rules = objects(&["rules"]);
    assert_eq!(rules.len(), text(&run(&["rules"], &[]).stdout).lines().count());
    let unused = objects(&["rules", "procedure/unused"]);
    assert!(unused.len() == 1 && rules.contains(&unused[0]), "{unused:?}");
    assert!(
        unused[0]["severity"] == "repairable" && unused[0]["bad"].as_str().unwrap().contains("steps"),
        "{unused:?}"
    );
    let keys = objects(&["keys"]);
    assert!(keys.iter().any(|key| key["action"] == "filter" && key["keys"] == "f"), "{keys:?}");
    let schemas = objects(&["schema"]);
    assert_eq!(schemas.len(), text(&run(&["schema"], &[]).stdout).lines().count());
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

fn is_clean(bytes: &[u8]) -> bool {
    text(bytes).chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c))
}

#[test]
fn check_says_what_where_and_how_it_ended() {
    let folder = Folder::new();
    let good = run(&["check"], &[&folder.path("good.jsonl")]);
    assert_eq!(
        (code(&good), text(&good.stdout)),
        (0, "1 record, no findings; read 1, skipped 2: 1 comment line, 1 blank line\n")
    );
    assert!(good.stderr.is_empty());

    let bad = run(&["check"], &[&folder.path("bad.jsonl")]);
    let out = text(&bad.stdout);
    assert_eq!(code(&bad), 1, "{bad:?}");
    assert!(out.contains("repairable[procedure/unused]: Remove unused outputs at Step 1: "), "{out}");
    assert!(out.contains(&format!("--> {}:2:", folder.path("bad.jsonl").display())), "{out}");
    assert!(out.contains("id bad · step 1"), "{out}");
    assert!(out.contains("^^^^"), "{out}");
    assert!(out.ends_with("2 records, 1 repairable; read 2, skipped 1: line 3 cut off\n"), "{out}");
    assert!(is_clean(&bad.stdout));

    // Notes alone do not fail a build, unless somebody says so.
    let noted = folder.write(
        "noted.jsonl",
        &format!("{}\n", GOOD.replace(r#""correct": true"#, r#""correct": true, "extra": 1e999"#)),
    );
    let check = |options: &[&str]| run(&[&["check"], options].concat(), &[&noted]);
    let output = check(&[]);
    assert!(text(&output.stdout).contains("note[") && !text(&output.stdout).contains("warning["), "{output:?}");
    assert_eq!((code(&output), code(&check(&["--fail-on", "note"]))), (0, 1));
    assert!(text(&run(&["check", "--help"], &[]).stdout).contains("[default: warning]"));

    for (least, expected) in [("fatal", 0), ("repairable", 1), ("warning", 1), ("note", 1), ("never", 0)] {
        let output = run(&["check", "--fail-on", least], &[&folder.path("bad.jsonl")]);
        assert_eq!(code(&output), expected, "{least}");
    }
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_checked() {
    let folder = Folder::new();
    let output = run(&["check", "--format", "jsonl"], &[&folder.path("no\u{1b}where"), &folder.path("bad.jsonl")]);
    assert_eq!(code(&output), 2);
    assert_eq!(text(&output.stdout).lines().count(), 2);
    assert!(text(&output.stderr).contains("no␛where"), "{output:?}");
    // The second file is cut off at its end.
    assert!(is_clean(&output.stderr) && text(&output.stderr).lines().count() == 2);
    assert!(text(&output.stderr).ends_with("stepscope: read 2, skipped 1: line 3 cut off\n"), "{output:?}");

    // Nothing is said of what nobody could read, and what was read is counted last.
    let output = run(&["check"], &[&folder.path("nowhere")]);
    assert_eq!((code(&output), text(&output.stdout)), (2, ""), "{output:?}");
    let output = run(&["check"], &[&folder.path("nowhere"), &folder.path("good.jsonl")]);
    let last = "1 record, no findings; 1 file could not be read; read 1, skipped 2: 1 comment line, 1 blank line\n";
    assert_eq!((code(&output), text(&output.stdout)), (2, last));

    let empty = tempfile::tempdir().unwrap();
    let output = run(&["check"], &[empty.path()]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("nothing to check"), "{output:?}");
}

#[test]
fn json_lines_hold_what_was_promised() {
    let folder = Folder::new();
    let output = run(&["check", "--format", "jsonl"], &[folder.0.path()]);
    let lines: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(output.stdout.is_ascii());
    let ids: Vec<_> = lines.iter().map(|line| line["id"].as_str().unwrap_or("-")).collect();
    assert_eq!(ids, ["good", "bad", "good"], "files in path order, records in file order");
    let bad = &lines[1];
    assert_eq!(
        (bad["line"].as_u64(), bad["index"].as_u64(), bad["kind"].as_str()),
        (Some(2), Some(1), Some("procedural"))
    );
    assert_eq!(bad["source"], folder.path("bad.jsonl").to_str().unwrap());
    let finding = &bad["findings"][0];
    assert_eq!(finding["rule"], "procedure/unused");
    assert_eq!(finding["action"], "PATCH_LOCALLY");
    assert_eq!(finding["details"]["step_id"], 1);
    assert!(finding["pointer"].as_str().unwrap().starts_with("/procedure/steps/0/output"));
    let range = &finding["labels"][0]["range"];
    let (start, end) = (range[0].as_u64().unwrap() as usize, range[1].as_u64().unwrap() as usize);
    assert!(bad_line(&folder)[start..end].contains("lost"), "{finding}");
    assert_eq!(lines[0]["fitness"], 1.25);
}

fn bad_line(folder: &Folder) -> String {
    let all = std::fs::read_to_string(folder.path("bad.jsonl")).unwrap();
    all.lines().nth(1).unwrap().to_owned()
}

#[test]
fn short_and_sarif_name_the_same_place() {
    let folder = Folder::new();
    let path = folder.path("bad.jsonl");
    let short = run(&["check", "--format", "short"], &[&path]);
    let line = text(&short.stdout).lines().next().unwrap();
    let place = line.strip_prefix(path.to_str().unwrap()).unwrap().split(": ").next().unwrap();
    let mut numbers = place.split(':').skip(1).map(|number| number.parse::<u64>().unwrap());
    let (row, column) = (numbers.next().unwrap(), numbers.next().unwrap());
    assert!(text(&short.stderr).ends_with("2 records, 1 repairable; read 2, skipped 1: line 3 cut off\n"), "{short:?}");

    let sarif = run(&["check", "--format", "sarif"], &[&path, &path]);
    let json: serde_json::Value = serde_json::from_slice(&sarif.stdout).unwrap();
    let results = json["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((region["startLine"].as_u64(), region["startColumn"].as_u64()), (Some(row), Some(column)));
    let rules = json["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let index = results[0]["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(rules[index]["id"], results[0]["ruleId"]);
    let bytes = std::fs::read(&path).unwrap();
    let (from, len) =
        (region["byteOffset"].as_u64().unwrap() as usize, region["byteLength"].as_u64().unwrap() as usize);
    assert!(text(&bytes[from..from + len]).contains("lost"));

    // Bytes of what was made of a file are nowhere in it; the lines and columns of a decoded text are.
    let wide: Vec<u8> = text(&bytes).encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path("wide.jsonl"), wide).unwrap();
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/store");
    let made = [folder.path("wide.jsonl"), store].map(|path| {
        let sarif = run(&["check", "--format", "sarif"], &[&path]);
        let json: serde_json::Value = serde_json::from_slice(&sarif.stdout).unwrap();
        let region = json["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].clone();
        assert!(region["byteOffset"].is_null() && region["byteLength"].is_null(), "{region}");
        (region["startLine"].as_u64(), region["startColumn"].as_u64())
    });
    assert_eq!(made[0], (Some(row), Some(column)));

    let clean = run(&["check", "--format", "sarif"], &[&folder.path("good.jsonl")]);
    let json: serde_json::Value = serde_json::from_slice(&clean.stdout).unwrap();
    assert_eq!(json["runs"][0]["results"].as_array().unwrap().len(), 0);
}

#[test]
fn formats_for_ci_say_what_the_others_say() {
    let folder = Folder::new();
    let (bad, good) = (folder.path("bad.jsonl"), folder.path("good.jsonl"));
    let check = |format: &str, more: &[&str], paths: &[&PathBuf]| {
        run(
            &[&["check", "--format", format], more].concat(),
            &paths.iter().map(|path| path.as_path()).collect::<Vec<_>>(),
        )
    };
    let short = check("short", &[], &[&bad]);
    let place: Vec<&str> = text(&short.stdout).lines().next().unwrap().split(':').skip(1).take(2).collect();

    let github = check("github", &[], &[&bad]);
    let line = text(&github.stdout).lines().next().unwrap();
    assert_eq!((code(&github), text(&github.stdout).lines().count()), (1, 1), "{github:?}");
    assert!(line.starts_with(&format!("::warning file={},line={},", bad.display(), place[0])), "{line}");
    assert!(line.contains(&format!(",col={},", place[1])) && line.contains("title=procedure/unused::"), "{line}");
    assert!(line.contains("(bad /procedure/steps/0/output/"), "{line}");
    assert_eq!(text(&check("github", &[], &[&good]).stdout), "");
    // Of a file that is no record one sentence is said, not one for each line.
    let foreign = folder.write("foreign.jsonl", &"{\"a\": 1}\n".repeat(30));
    let foreign = check("github", &[], &[&foreign]);
    assert_eq!((code(&foreign), text(&foreign.stdout)), (2, ""), "{foreign:?}");

    // A record without findings is a test that passed.
    let junit = check("junit", &[], &[&bad, &good]);
    let xml = text(&junit.stdout);
    assert_eq!((xml.matches("<testcase ").count(), xml.matches("<failure ").count()), (3, 1), "{xml}");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"), "{xml}");
    assert!(xml.ends_with("</testsuites>\n") && xml.contains("name=\"line 2: bad\""), "{xml}");
    let lenient = check("junit", &["--fail-on", "fatal"], &[&bad]);
    assert!(code(&lenient) == 0 && text(&lenient.stdout).contains("<system-out>"), "{lenient:?}");
    assert!(!text(&lenient.stdout).contains("<failure"), "{lenient:?}");

    let markdown = check("markdown", &[], &[&bad]);
    let list = text(&markdown.stdout);
    assert!(list.starts_with("<!-- stepscope -->\n### stepscope check\n\n- <code>"), "{list}");
    assert!(list.contains("\n  - ! **repairable** Remove unused outputs at Step 1"), "{list}");
    assert!(list.trim_end().lines().last().unwrap().starts_with("**2 records, 1 repairable; read 2"), "{list}");
    let clean = check("markdown", &[], &[&good]);
    assert!(text(&clean.stdout).contains("**1 record, no findings"), "{clean:?}");

    for format in ["github", "junit", "markdown"] {
        let summary = check(format, &["--summary"], &[&bad]);
        assert_eq!((code(&summary), summary.stdout.len()), (2, 0), "{format}");
    }
}

#[test]
fn items_of_a_list_know_their_place() {
    let folder = Folder::new();
    let path = folder
        .write("list.json", "[\n  {\"id\": 1, \"state\": {\"é\": NaN}},   {\"id\": 2, \"state\": {\"a\": NaN}}]\n");
    let output = run(&["check", "--allow-unknown", "--format", "short"], &[&path]);
    let places: Vec<_> = text(&output.stdout).lines().map(|line| line.rsplit_once("/list.json:").unwrap().1).collect();
    assert!(places[0].starts_with("2:28: "), "{places:?}");
    assert!(places.iter().any(|place| place.starts_with("2:62: ")), "{places:?}");
}

#[test]
fn typed_answers_are_routed_and_know_types_of_ones_own() {
    let folder = Folder::new();
    let flags = r#""extraction_method": "verbatim", "confidence": 0.9, "caveats": [], "answer_found": true, "complete_answer_found": true, "context_completeness_weak": 0.9, "context_structured": true, "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false, "suggested_clarification": null"#;
    let trace = |asked: &str, value: &str| {
        format!(
            r#"{{"format": "stepscope.answer_trace", "version": 1, "question": "Which\u001b?", "parsed_question": {{"expected_answer_shape": "{asked}"}}, "document": {{"lines": ["VIN SHORT or 1M8GDM9AXKP042788"]}}, "answer": {{{flags}, "items": [{{"vin": {value}, "spans": [{{"line_start": 0, "line_end": 0, "quote": "SHORT"}}]}}]}}}}"#
        )
    };
    let text_of = [trace("vin", "\"SHORT\""), trace("vin", "\"1M8GDM9AXKP042788\""), trace("date", "1")].join("\n");
    let answers = folder.write("answers.jsonl", &text_of);
    let types = folder.path("types");
    std::fs::create_dir(&types).unwrap();
    std::fs::write(types.join("vin.schema.json"), r#"{"type": "string", "minLength": 17}"#).unwrap();
    let check = |options: &[&str]| {
        let output = run(&[&["check", "--format", "jsonl"], options].concat(), &[&answers]);
        let lines = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap());
        (lines.collect::<Vec<serde_json::Value>>(), output)
    };
    let routes = |lines: &[serde_json::Value]| {
        lines.iter().map(|line| line["route"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (lines, _) = check(&[]);
    assert_eq!(routes(&lines), ["ship", "ship", "reject"]);
    assert_eq!(lines[0]["question"], "Which\u{1b}?");
    assert_eq!(lines[0]["strictness"]["strict"], true);
    assert_eq!(lines[0]["spans"][0]["pointer"], "/answer/items/0/spans/0");
    assert_eq!(lines[0]["spans"][0]["resolution"]["word"], "exact");
    assert_eq!(lines[0]["grounded"], serde_json::json!({"items": 1, "of": 1}));
    assert_eq!(lines[2]["route"]["triggers"], serde_json::json!(["reject"]));
    assert_eq!(lines[2]["findings"][0]["rule"], "answer/shape_mismatch");
    let (lines, _) = check(&["--schemas", types.to_str().unwrap()]);
    assert_eq!(routes(&lines), ["reject", "ship", "reject"]);
    assert_eq!(lines[0]["findings"][0]["pointer"], "/answer/items/0/vin");
    assert_eq!(lines[0]["findings"][0]["message"], "The value: 'SHORT' is too short.");

    std::fs::write(types.join("bad.json"), "{").unwrap();
    let (lines, output) = check(&["--schemas", types.to_str().unwrap()]);
    assert!(lines.is_empty() && code(&output) == 2, "{output:?}");
    assert!(text(&output.stderr).contains("cannot use the type bad"), "{output:?}");
}

#[test]
fn a_schema_can_be_asked_for() {
    let folder = Folder::new();
    let answers =
        folder.write("answers.jsonl", "{\"final_answer\": \"B\", \"confidence\": 0.5}\n{\"final_answer\": \"E\"}\n");
    let own = folder.write("own.json", r#"{"type": "object", "required": ["reason"]}"#);
    let found = |schema: &str| {
        let output = run(&["check", "--format", "jsonl", "--schema", schema], &[&answers]);
        let messages: Vec<_> = text(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["findings"][0]["message"].clone())
            .collect();
        (code(&output), messages)
    };
    let (status, messages) = found("arc");
    assert_eq!(status, 1);
    assert!(messages[0].is_null());
    assert_eq!(messages[1], "schema validation error: 'E' is not one of ['A', 'B', 'C', 'D']");
    let (_, messages) = found("gsm");
    assert_eq!(messages[0], "schema validation error: 'final_answer_numerical' is a required property");
    let (_, messages) = found(own.to_str().unwrap());
    assert_eq!(messages[0], "schema validation error: 'reason' is a required property");
    let (status, messages) = found("no\u{1b}such");
    assert!(status == 2 && messages.is_empty());
}

#[test]
fn show_prints_a_record_a_step_and_a_prompt() {
    let folder = Folder::new();
    let path = folder.path("bad.jsonl");
    let whole = run(&["show", "--id", "bad"], &[&path]);
    let out = text(&whole.stdout);
    assert_eq!(code(&whole), 0, "{whole:?}");
    for part in ["Question\n  2 + 3?", "Step 2 (id 2, uses the answer schema)", "a  2  [inferred]", "procedure/unused"]
    {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(is_clean(&whole.stdout));
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let timed = run(&["show", "--line", "5"], &[&samples]);
    assert!(text(&timed.stdout).contains("\nExpected answer (gold)\n"));
    for line in ["Timeline (6.8 s, 1,296 tokens)", "    2     1.2 s          ███████                   228 → 19"]
    {
        assert!(text(&timed.stdout).contains(line), "{line}");
    }

    let step = run(&["show", "--id", "good", "--step", "2", "--state"], &[&path]);
    assert!(
        text(&step.stdout)
            .contains("state before\n    problem_text  \"2 + 3?\"  [recorded]\n    a             2  [inferred]"),
        "{step:?}"
    );

    let prompt = run(&["show", "--line", "1", "--step", "2", "--prompt"], &[&path]);
    assert!(text(&prompt.stdout).starts_with("Add them\n# Inputs (JSON)\n{\n  \"a\": 2,\n  \"b\": 3\n}\n# Required Outputs\nReturn a JSON object with exactly these keys (final_answer):\n- final_answer: "), "{prompt:?}");
    assert!(prompt.stdout.ends_with(b"\n}"), "the exact bytes, no line end added");

    for (arguments, words) in [
        (&["show", "--id", "none"][..], "no record has the id \"none\"; 2 were read"),
        (&["show", "--id", "good", "--step", "3"], "no step 3"),
    ] {
        let output = run(arguments, &[&path]);
        assert!(code(&output) == 2 && text(&output.stderr).contains(words), "{output:?}");
    }
    folder.write("call.jsonl", r#"{"prompt": "2 + 2?", "completion": "4", "reward": 1, "success": true}"#);
    assert!(text(&run(&["show"], &[&folder.path("call.jsonl")]).stdout).contains("Reward\n  1.0\n"));
    folder.write("hyphen.jsonl", &GOOD.replace("good", "-x"));
    assert_eq!(code(&run(&["show", "--id", "-x"], &[&folder.path("hyphen.jsonl")])), 0);
    folder.write("torn.jsonl", &format!("xx\n{GOOD}\n"));
    for command in [&["rerun", "--exact"][..], &["repair", "--list"]] {
        let output = run(&[command, &["--line", "1"]].concat(), &[&folder.path("torn.jsonl")]);
        assert!(text(&output.stderr).contains("torn.jsonl:1 cannot be read: not JSON from here on\n"), "{output:?}");
    }
    std::fs::write(folder.path("runs.jsonl.gz"), b"\x1f\x8b\x08\0").unwrap();
    let packed = run(&["show"], &[&folder.path("runs.jsonl.gz")]);
    assert!(code(&packed) == 2 && text(&packed.stderr).lines().count() == 1, "{packed:?}");
    let twice = run(&["show", "--id", "good"], &[&path, &folder.path("good.jsonl")]);
    assert!(code(&twice) == 0 && text(&twice.stderr).contains("1 more record with this id"), "{twice:?}");
    assert!(text(&twice.stdout).starts_with(path.to_str().unwrap()), "the first is shown");
    for command in [&["rerun", "--exact"][..], &["repair", "--list"]] {
        let arguments = [command, &["--id", "good"]].concat();
        let taken = run(&arguments, &[&path, &folder.path("good.jsonl")]);
        assert!(text(&taken.stderr).contains("took the first of 2 records with this id, "), "{taken:?}");
    }
}

/// Formats agree on places and on numbers.
#[test]
fn places_and_counts_are_the_same_in_every_format() {
    let folder = Folder::new();
    let path = folder.write("blanks.jsonl", "  {\"id\": 1, \"question\": \"q\", \"gold_num\": NaN}\n");
    let short = run(&["check", "--format", "short"], &[&path]);
    assert!(text(&short.stdout).contains("blanks.jsonl:1:42: "), "{short:?}");
    let sarif = run(&["check", "--format", "sarif"], &[&path]);
    assert!(text(&sarif.stdout).contains("\"startColumn\":42,\"endLine\":1,\"endColumn\":45,\"byteOffset\":41,"));

    let inputs: Vec<String> = (0..250).map(|n| format!("{{\"name\": \"n{n}\", \"description\": \"d\"}}")).collect();
    let first = "{\"name\": \"a\", \"description\": \"one\"}, {\"name\": \"b\", \"description\": \"other\"}], \"stepD";
    let many = GOOD.replace(&format!("\"inputs\": [{first}"), &format!("\"inputs\": [{}], \"stepD", inputs.join(", ")));
    let path = folder.write("many.jsonl", &many);
    let printed = run(&["check"], &[&path]);
    assert!(text(&printed.stdout).lines().last().unwrap().starts_with("1 record, 250 fatal, "), "{printed:?}");
    let found = run(&["check", "--filter", "fatal>249", "--format", "jsonl"], &[&path]);
    assert_eq!(text(&found.stdout).lines().count(), 1, "{found:?}");
}

#[test]
fn the_program_explains_itself() {
    assert!(run(&["man"], &[]).stdout.is_ascii());
    let list = run(&["rules"], &[]);
    assert!(text(&list.stdout).lines().any(|line| line.starts_with("procedure/unused ")));
    for rule in stepscope_judge::rules::RULES {
        let one = run(&["rules", rule.id.word()], &[]);
        let out = text(&one.stdout);
        assert_eq!(code(&one), 0);
        assert!(out.contains(&format!("{}[{}]: ", rule.id.severity(), rule.id)), "{out}");
        assert!(is_clean(&one.stdout), "{out}");
    }
    let near = run(&["rules", "unused"], &[]);
    assert!(code(&near) == 2 && text(&near.stderr).contains("Did you mean \"procedure/unused\""), "{near:?}");

    for name in [
        "trace",
        "review",
        "answer-trace",
        "typed-answer",
        "chain",
        "procedure",
        "general",
        "bool",
        "gsm",
        "arc",
        "call",
        "amount",
    ] {
        let schema = run(&["schema", name], &[]);
        let _: serde_json::Value = serde_json::from_slice(&schema.stdout).unwrap();
    }
    assert_eq!(code(&run(&["schema", "x"], &[])), 2);
    assert_eq!(text(&run(&["schema"], &[]).stdout).lines().count(), 22);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(text(&run(&["completions", shell], &[]).stdout).contains("fail-on"), "{shell}");
    }
    assert_eq!(code(&run(&["--version"], &[])), 0);
    assert!(text(&run(&["--help"], &[]).stdout).contains("check"));
}

#[test]
fn bash_completes_commands_and_names() {
    let script = text(&run(&["completions", "bash"], &[]).stdout).to_owned();
    let completed = |words: &str, place: usize| {
        let (last, before) = (words.split(' ').nth(place).unwrap(), words.split(' ').nth(place - 1).unwrap());
        let ask = format!("COMP_WORDS=({words}); COMP_CWORD={place}; _stepscope stepscope '{last}' '{before}'");
        let ask = format!("{script}\n{ask}\necho \"${{COMPREPLY[@]}}\"");
        let output = std::process::Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
        text(&output.stdout).trim().to_owned()
    };
    assert_eq!(completed("stepscope rules procedure/unu", 2), "procedure/unused");
    assert_eq!(completed("stepscope --theme hi", 2), "high-contrast");
    assert_eq!(completed("stepscope check --schema g", 3), "general gsm");
    assert_eq!(completed("stepscope map promp", 2), "promptfoo");
    assert_eq!(completed("stepscope comp", 1), "compare completions");
}

#[test]
fn mistakes_are_said_without_controls() {
    for arguments in [
        &["check"][..],
        &["check", "--format", "\u{1b}[31m", "x"],
        &["--no\u{1b}]0;t\u{7}"],
        &["show", "--prompt", "x"],
    ] {
        let output = run(arguments, &[]);
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(output.stdout.is_empty() && is_clean(&output.stderr), "{output:?}");
    }
}

#[test]
fn without_a_terminal_the_screen_is_not_opened() {
    let folder = Folder::new();
    for term in ["dumb", "xterm"] {
        let output = stepscope().env("TERM", term).arg(folder.path("good.jsonl")).output().unwrap();
        assert_eq!(code(&output), 2);
        assert!(output.stdout.is_empty() && text(&output.stderr).contains("not a terminal"), "{output:?}");
    }
}

#[test]
fn flags_may_stand_before_a_command_and_no_command_is_a_file() {
    let folder = Folder::new();
    let good = folder.path("good.jsonl");
    for before in [&["--theme", "light"][..], &["--theme=light"], &["--config-dir", "/"], &["--format", "text"]] {
        let output = run(&[before, &["check"]].concat(), &[&good]);
        assert!(code(&output) == 0 && text(&output.stdout).starts_with("1 record, no findings"), "{output:?}");
    }
    for (word, words) in [
        ("chek", "unknown command \"chek\", and no such file. Did you mean \"check\"?"),
        ("chec", "Did you mean \"check\"?"),
        ("rreun", "Did you mean \"rerun\"?"),
        ("zzz", "`stepscope --help` lists the commands"),
    ] {
        for before in [&[][..], &["--theme", "light"]] {
            let output = run(&[before, &[word]].concat(), &[&good]);
            assert!(code(&output) == 2 && text(&output.stderr).contains(words), "{output:?}");
        }
    }
    // What stands behind -- or has the form of a path is one.
    for arguments in [&["--", "check"][..], &["./chek"], &["chek.jsonl"]] {
        let output = run(arguments, &[]);
        assert!(code(&output) == 2 && text(&output.stderr).contains("cannot open"), "{output:?}");
    }
    let queue = run(&["--queue", "check"], &[&good]);
    assert!(code(&queue) == 2 && text(&queue.stderr).contains("unexpected argument '--queue'"), "{queue:?}");
}

#[test]
fn the_screen_is_not_opened_for_what_is_not_there() {
    let folder = Folder::new();
    let (good, none) = (folder.path("good.jsonl"), folder.path("none.jsonl"));
    let sentence = format!("cannot open {}: no such file", none.display());
    for paths in [&[&*none][..], &[&none, &none]] {
        let output = run(&[], paths);
        assert_eq!(code(&output), 2);
        assert_eq!(text(&output.stderr).lines().count(), paths.len(), "no word of a terminal: {output:?}");
        assert!(text(&output.stderr).contains(&sentence), "{output:?}");
    }
    let output = run(&[], &[&good, &none]);
    assert!(code(&output) == 2 && text(&output.stderr).contains(&sentence), "{output:?}");
    let output = stepscope().arg("--baseline").args([&none, &good]).output().unwrap();
    assert!(code(&output) == 2 && text(&output.stderr).contains(&sentence), "{output:?}");
    let output = stepscope().args(["compare", "--screen"]).args([&good, &none]).output().unwrap();
    assert!(code(&output) == 2 && text(&output.stderr).contains(&sentence), "{output:?}");
}

#[test]
fn show_prints_the_messages_and_the_reply_of_a_call() {
    let folder = Folder::new();
    let call = r#"{"id": "c", "model": "m", "prompt": "[{\"role\": \"system\", \"content\": \"Be brief\"}, {\"role\": \"user\", \"content\": \"2 + 2?\"}]", "response": "4.\u001b[31m", "reasoning": "two twos", "tool_calls": [{"id": "t", "name": "add", "arguments": {"a": 2}}]}"#;
    let path = folder
        .write("calls.jsonl", &format!("{call}\n{{\"prompt\": \"[1]\", \"system\": \"S\", \"response\": \"x\"}}\n"));
    let shown = |line: &str| {
        let output = run(&["show", "--line", line], &[&path]);
        assert!(code(&output) == 0 && is_clean(&output.stdout), "{output:?}");
        text(&output.stdout).to_owned()
    };
    let out = shown("1");
    let (_, rest) = out.split_once("\n\n").unwrap();
    assert_eq!(
        rest,
        "Question\n  system: Be brief\n\n  user: 2 + 2?\n\nReasoning\n  two twos\n\nReply\n  4.␛[31m\n\n\
         Tool calls\n  add(a=2)\n\n"
    );
    let out = shown("2");
    assert!(out.contains("System prompt\n  S\n\nQuestion\n  [1]\n\nReply\n  x\n"), "{out}");
}

#[test]
fn the_schema_of_calls_describes_what_is_read() {
    let printed = stepscope().args(["schema", "call"]).output().unwrap();
    let schema = Schema::compile(&printed.stdout).unwrap();
    let breaches = |text: &str| schema.breaches(Tape::default().parse(text.as_bytes()).unwrap()).len();
    for format in FORMATS.iter().filter(|format| ["call", "verified"].contains(&format.id)) {
        assert_eq!(breaches(format.example), 0, "{}", format.id);
    }
    assert!(breaches(r#"{"prompt": "2 + 2?"}"#) > 0 && breaches(r#"{"prompt": 1, "response": "4"}"#) > 0);
}

#[test]
fn an_empty_standard_input_is_no_mistake() {
    let folder = Folder::new();
    let (empty, blank) = (folder.write("empty.jsonl", ""), folder.write("blank.jsonl", "\n\n"));
    let cut = folder.write("cut.jsonl", "{\"id\": ");
    for arguments in [&["check", "-"][..], &["verify", "-", "--verifier", "json_structure"]] {
        let run = |input: Stdio| stepscope().args(arguments).stdin(input).output().unwrap();
        let piped = fed(stepscope().args(arguments), "");
        let inputs = [Stdio::null(), File::open(&empty).unwrap().into(), File::open(&blank).unwrap().into()];
        for output in inputs.map(run).into_iter().chain([piped]) {
            assert!(code(&output) == 0 && output.stderr.is_empty(), "{output:?}");
        }
        assert_ne!(code(&run(File::open(&cut).unwrap().into())), 0, "a record that was cut off is not nothing");
    }
    assert_eq!(code(&run(&["check"], &[&empty])), 2, "a file that somebody named holds something");
    for file in [&empty, &blank] {
        let accepted = run(&["check", "--allow-empty", "--format", "short"], &[file]);
        assert!(code(&accepted) == 0 && text(&accepted.stderr).contains("0 records"), "{accepted:?}");
    }
    assert_ne!(code(&run(&["check", "--allow-empty"], &[&cut])), 0);
    let hooks = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml")).unwrap();
    assert_eq!(hooks.matches("entry: stepscope check --allow-empty --allow-unknown --format short").count(), 2);
}

#[test]
fn the_summary_is_text_or_data() {
    let folder = Folder::new();
    let run = |format: &str| run(&["check", "--summary", "--format", format], &[&folder.path("bad.jsonl")]);
    let lines = results(&run("jsonl"));
    assert_eq!(lines[0]["runs"], 2);
    assert!(lines[0]["fix"].is_string() && lines[0]["rules"][0]["rule"].is_string(), "{lines:?}");
    let shown = run("text");
    assert!(text(&shown.stdout).starts_with("fix ") && text(&shown.stdout).contains("\nOutcome\n"), "{shown:?}");
    assert!(text(&shown.stdout).contains("100 %  ████████████████████████████████████████\n"), "{shown:?}");
    let path = folder.path("bad.jsonl");
    let charts = stepscope().args(["check", "--summary", "--charts", "--format", "jsonl"]).arg(&path).output().unwrap();
    let cells = results(&charts);
    assert!(cells.iter().any(|cell| cell["chart"] == "Kind" && cell["filter"] == "kind:procedural"), "{cells:?}");
    assert!(code(&run("sarif")) == 2 && text(&run("short").stderr).contains("--summary prints text or jsonl"));
}

#[test]
fn a_filter_takes_records_as_on_the_screen() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs/word_problems.jsonl");
    let check = |filter: &str, more: &[&str]| {
        stepscope().args(["check", "--filter", filter]).args(more).arg(&samples).output().unwrap()
    };
    let lines = results(&check("correct:false fix:procedure steps>3", &["--format", "jsonl"]));
    assert!(lines.len() > 1, "{lines:?}");
    assert!(lines.iter().all(|line| line["triage"]["fix"] == "procedure"), "{lines:?}");
    let count = lines.len();
    let summary = check("correct:false fix:procedure steps>3", &["--summary"]);
    assert!(text(&summary.stdout).contains(&format!("\n{count} records, ")), "{summary:?}");
    let named = check("text:beehive", &["--format", "jsonl"]);
    assert_eq!(results(&named).len(), 1);
    // A fork is what says that it is one.
    let all = results(&check("", &["--format", "jsonl"])).len();
    let folder = Folder::new();
    let fork = folder.write("one.jsonl", &GOOD.replace(r#""correct": true"#, r#""trace": {"fork": {"how": "edit"}}"#));
    for (filter, expected) in [("fork:true", 1), ("fork:false", all)] {
        let lines = results(&check(filter, &["--format", "jsonl", fork.to_str().unwrap()]));
        assert_eq!(lines.len(), expected, "{filter}");
    }
    // The exit code is that of the records that fit.
    assert_eq!(code(&check("-rule:answer/schema correct:true steps>90", &[])), 0);
    for (filter, words) in
        [("nope:1", "unknown field"), ("cell:both", "use them on the screen"), ("verdict:fail", "review list")]
    {
        let output = check(filter, &[]);
        assert!(code(&output) == 2 && text(&output.stderr).contains(words), "{output:?}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let many = folder.write("many.jsonl", &format!("{}\n", bad()).repeat(2_000));
    for format in ["text", "jsonl", "short", "sarif"] {
        let mut child = stepscope()
            .args(["check", "--format", format])
            .arg(&many)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 64]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), text(&output.stderr)), (1, ""), "{format}");
    }
}

#[test]
fn a_full_disk_is_said() {
    let folder = Folder::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["check"][..], &["show", "--id", "bad"]] {
        let output = stepscope().args(arguments).arg(folder.path("bad.jsonl")).stdout(full()).output().unwrap();
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains("cannot write the output"), "{output:?}");
    }
    let output = stepscope().arg("rules").stdout(full()).stderr(full()).output().unwrap();
    assert_eq!(code(&output), 2, "even if nobody can be told");
}

#[test]
fn standard_input_and_colours() {
    let feed = |arguments: &[&str], bytes: &[u8]| fed(stepscope().args(arguments), bytes);
    let text_of = bad();
    let output = feed(&["check", "--format", "jsonl", "-"], text_of.as_bytes());
    assert!(text(&output.stdout).starts_with("{\"source\":\"-\",\"line\":1,"), "{output:?}");
    let output = feed(&["check", "--color", "always", "-"], text_of.as_bytes());
    let plain = feed(&["check", "-"], text_of.as_bytes());
    assert!(output.stdout.contains(&0x1b) && !plain.stdout.contains(&0x1b));
    let mut stripped = Vec::new();
    let mut inside = false;
    for &byte in &output.stdout {
        match byte {
            0x1b => inside = true,
            b'm' if inside => inside = false,
            _ if !inside => stripped.push(byte),
            _ => {}
        }
    }
    assert_eq!(text(&stripped), text(&plain.stdout), "colours are the only difference");
}

#[test]
fn wrong_runs_are_placed() {
    let folder = Folder::new();
    let wrong = GOOD
        .replace(r#""Extract both numbers""#, r#""Extract.""#)
        .replace(r#""Add them""#, r#""Compute final_answer = a + b.""#)
        .replace(r#""question": "2 + 3?","#, r#""question": "2 + 3?", "gold_num": 5.0,"#)
        .replace(
            r#""final_answer": "5", "final_answer_numerical": 5.0"#,
            r#""final_answer": "6", "final_answer_numerical": 6"#,
        );
    let runs = folder.write("runs.jsonl", &format!("{wrong}\n"));
    let lines = run(&["check", "--format", "jsonl"], &[&runs]);
    let json: serde_json::Value = serde_json::from_slice(&lines.stdout).unwrap();
    let triage = &json["triage"];
    assert_eq!((&triage["fix"], &triage["step"], &triage["recovered"]), (&"step_run".into(), &2.into(), &5.into()));
    assert_eq!(triage["confidence"], "sure");
    assert_eq!(triage["why"][0]["rule"], "run/recompute");

    let board = run(&["check", "--summary"], &[&runs]);
    assert!(
        text(&board.stdout).contains("model output         1     1              1  run/recompute 1; step 2 1"),
        "{board:?}"
    );

    // The baseline says what the run says, against gold; joined by id.
    let plan = wrong.replace("= a + b.", "= a + b + 1.");
    let runs = folder.write("plan.jsonl", &format!("{plan}\n"));
    let other = folder.write("b.jsonl", "{\"id\": \"good\", \"mode\": \"baseline\", \"gold_num\": 5, \"state\": {\"final_answer\": \"6\"}, \"raw\": \"6\"}\n");
    let fix =
        |output: &Output| serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["triage"]["fix"].clone();
    assert_eq!(fix(&run(&["check", "--format", "jsonl"], &[&runs])), "procedure");
    let joined = run(&["check", "--format", "jsonl", "--baseline", &other.display().to_string()], &[&runs]);
    assert_eq!(fix(&joined), "gold");
    let missing = run(&["check", "--baseline", "nowhere.jsonl"], &[&runs]);
    assert_eq!(code(&missing), 2);

    let shown = run(&["show"], &[&folder.path("runs.jsonl")]);
    assert!(text(&shown.stdout).contains("model output, step 2 (sure)"), "{shown:?}");
    assert!(text(&shown.stdout).contains("≙ final_answer 5 = 2 + 3 ← a = 2 (step 1), b = 3 (step 1)"), "{shown:?}");
}

fn results(output: &Output) -> Vec<serde_json::Value> {
    assert!(output.stdout.is_ascii());
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn completions_are_judged_in_order_and_compared_with_what_was_recorded() {
    let folder = Folder::new();
    let verified = folder.write(
        "cycle_1_verified.jsonl",
        "{\"prompt\": \"p\", \"completion\": \"```json\\n{\\\"x\\\": 1}\\n```\", \"reward\": 1.0, \"success\": true, \"details\": \"d\"}\n\
         \n{\"prompt\": \"p\", \"completion\": \"{}\", \"reward\": 1.0, \"success\": true, \"details\": \"d\"}\n\
         {\"prompt\": \"p\"}\n{\"prompt\":\n",
    );
    let schema = folder.write("schema.json", r#"{"type": "object", "required": ["x"]}"#);
    let judge = |more: &[&str]| {
        let mut command = stepscope();
        command.arg("verify").arg(&verified).args(["--verifier", "json_schema", "--schema"]).arg(&schema).args(more);
        command.output().unwrap()
    };
    let output = judge(&[]);
    assert_eq!(code(&output), 1);
    let lines = results(&output);
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        serde_json::json!({"success": true, "reward": 1.0, "details": "JSON valid + schema-compliant", "error": null,
            "metadata": {"recorded_reward": 1.0}, "line": 1, "id": null, "sha256": lines[0]["sha256"],
            "rules": lines[0]["rules"]})
    );
    assert_eq!((&lines[1]["reward"], &lines[1]["error"]), (&0.5.into(), &"schema_invalid".into()));
    assert_eq!(lines[2]["error"], "no field \"completion\"; set --field");
    assert!(lines[2]["reward"].is_null() && lines[3]["reward"].is_null(), "what cannot be scored is no bad score");
    assert!(lines[3]["error"].as_str().unwrap().starts_with("not a record: "));
    assert_eq!(
        text(&output.stderr),
        "stepscope: 4 records, 1 passed, 1 failed, 2 not scored; mean reward 0.7500; \
         1 of 2 recorded rewards differ; read 4, skipped 1: 1 blank line\n"
    );
    assert_eq!(results(&judge(&["--no-partial-credit"]))[1]["reward"], 0.0);
    let prompts = results(&judge(&["--field", "/prompt"]));
    assert!(prompts[..3].iter().all(|line| line["error"] == "invalid_json"));
}

#[test]
fn a_chain_judges_standard_input_on_all_cores_in_order() {
    let folder = Folder::new();
    let chain = folder.write(
        "chain.toml",
        "[[stage]]\nverifier = \"json_structure\"\n[[stage]]\nverifier = \"regex_format\"\npattern = \"0$\"\n",
    );
    let record = |n: usize| format!("{{\"completion\": \"{n}\", \"pad\": \"{}\"}}\n", "x".repeat(90));
    let records = (0..20_000).map(record).collect::<Vec<_>>().concat();
    let mut child = stepscope()
        .args(["verify", "-", "-j", "4", "--chain"])
        .arg(&chain)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(records.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(code(&output), 1);
    let lines = results(&output);
    assert_eq!(lines.len(), 20_000);
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line["success"], n % 10 == 0, "{n}");
        assert_eq!(line["reward"], if n % 10 == 0 { 1.0 } else { 0.5 }, "{n}");
    }
}

#[test]
fn what_cannot_be_scored_is_no_bad_score() {
    let folder = Folder::new();
    let none = folder.write("none.jsonl", "{\"a\": 1}\n{\"completion\": 7}\n");
    let good = folder.write("fine.jsonl", "{\"completion\": \"{}\"}\n");
    let json = ["verify", "--verifier", "json_structure"];
    let output = run(&json, &[&none]);
    assert_eq!(code(&output), 2);
    assert!(results(&output).iter().all(|line| line["reward"].is_null()), "{output:?}");
    assert!(text(&output.stderr).contains("2 records, 0 passed, 0 failed, 2 not scored\n"), "{output:?}");
    assert!(text(&output.stderr).contains("nothing could be scored"), "{output:?}");
    let output = run(&json, &[&none, &good]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("mean reward 1.0000"), "{output:?}");
}

#[test]
fn verify_ends_with_what_became_of_it() {
    let folder = Folder::new();
    let good = folder.write("ok.jsonl", "{\"completion\": \"{}\"}\n");
    let none = folder.path("none.jsonl");
    let json = ["verify", "--verifier", "json_structure"];
    assert_eq!(code(&run(&json, &[&good])), 0);
    let both = run(&json, &[&none, &good]);
    assert_eq!((code(&both), results(&both).len()), (2, 1));
    assert!(text(&both.stderr).contains("none.jsonl: no such file"), "{both:?}");
    for (arguments, why) in [
        (&["verify"][..], "choose a verifier"),
        (
            &["verify", "--verifier", "json"],
            "unknown verifier \"json\" (available: json_structure, json_schema, regex_format, bleu)",
        ),
        (&["verify", "--verifier", "chained"], "a chain needs a file with its stages: --chain FILE"),
        (&["verify", "--verifier", "regex_format", "--pattern", "("], "group not closed"),
        (&["verify", "--verifier", "json_structure", "--full-match"], "it has no option full_match"),
        (&["verify", "--chain", "/none.toml"], "no such file"),
        (&["verify", "--chain", "x", "--verifier", "y"], "cannot be used with"),
    ] {
        let output = run(arguments, &[&good]);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(text(&output.stderr).contains(why) && output.stdout.is_empty(), "{output:?}");
    }
    // A record that cannot be scored says the same wherever it lies.
    let odd = "{\"completion\": 5}\n";
    let [here, there] = ["a.jsonl", "b.jsonl"].map(|name| run(&json, &[&folder.write(name, odd)]).stdout);
    assert!(here == there && text(&here).contains("field \\\"completion\\\" is not a string"), "{}", text(&here));
    let bleu = ["verify", "--verifier", "bleu", "--reference", "{}", "--threshold", "0.9", "--effective-order"];
    assert_eq!(code(&run(&bleu, &[&good])), 0);
    assert_eq!(code(&run(&bleu[..7], &[&good])), 1, "all four orders count");
}

#[test]
fn a_filter_gives_a_line_for_each_line_in_order() {
    let broken = "{\"id\": \"torn\", \"quest";
    let input = format!("{GOOD}\n{broken}\n{}\r\nnot JSON\n{GOOD}\n{broken}", bad());
    let arguments = ["check", "-", "--format", "jsonl", "--fail-on", "never"];
    let output = fed(stepscope().args(arguments), &input);
    assert_eq!(code(&output), 0, "{output:?}");
    let kinds: Vec<_> = results(&output).iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["procedural", "broken", "procedural", "broken", "procedural", "broken"]);
    let lines = results(&output);
    assert!(
        lines.iter().all(|line| line["rules"] == lines[0]["rules"] && line["sha256"].as_str().unwrap().len() == 64)
    );
    assert_eq!((&lines[0]["sha256"], &lines[1]["sha256"]), (&lines[4]["sha256"], &lines[5]["sha256"]));
    assert_ne!(lines[0]["sha256"], lines[2]["sha256"]);

    // Another order of keys and other blanks are the same record; whatever stands around it, the same is said of it.
    let fields = "id,sha256,rules,kind,findings,triage,fitness";
    let picked = |input: &str| {
        let arguments = [&arguments[..], &["--fields", fields]].concat();
        text(&fed(stepscope().args(arguments), input).stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = picked(&input);
    let parts: Vec<String> = input.split_inclusive('\n').flat_map(picked).collect();
    assert_eq!(parts, whole);
    assert!(picked("").is_empty());

    // However little a record says, its line is there.
    for arguments in [&arguments[..], &["verify", "-", "--verifier", "json_structure", "--fail-on", "never"]] {
        let output = fed(stepscope().args(arguments), "{}\n".repeat(60_000));
        assert_eq!((code(&output), text(&output.stdout).lines().count()), (0, 60_000));
        let last: serde_json::Value = serde_json::from_str(text(&output.stdout).lines().last().unwrap()).unwrap();
        assert_eq!(last, serde_json::json!({"left_out": true}));
        assert!(output.stdout.len() < 20 * 180_000, "{}", output.stdout.len());
    }
}

#[test]
fn a_filter_answers_before_its_input_ends() {
    for arguments in [&["check", "-", "--format", "jsonl"][..], &["verify", "-", "--verifier", "json_structure"]] {
        let mut child = stepscope()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let has_answered = Arc::new(AtomicBool::new(false));
        let feeder = std::thread::spawn({
            let has_answered = has_answered.clone();
            move || {
                let lines = format!("{GOOD}\n").repeat(300);
                let mut fed = 0;
                // Until nobody reads any more; what was read is let go of.
                while fed < 200 << 20 && stdin.write_all(lines.as_bytes()).is_ok() {
                    fed += lines.len();
                }
                has_answered.load(Relaxed)
            }
        });
        let mut stdout = child.stdout.take().unwrap();
        let answer = stdout.read_exact(&mut [0; 4_000]);
        has_answered.store(true, Relaxed);
        drop(stdout);
        child.wait().unwrap();
        assert!(feeder.join().unwrap() && answer.is_ok(), "{arguments:?}: nothing came before the input ended");
    }
}

#[test]
fn members_of_an_object_can_be_chosen_and_the_record_added() {
    let check = |options: &[&str]| fed(stepscope().args(["check", "-", "--format", "jsonl"]).args(options), GOOD);
    let lines = results(&check(&["--with-record"]));
    let record: serde_json::Value = serde_json::from_str(GOOD).unwrap();
    assert_eq!(lines[0]["record"], record);
    assert!(lines[0]["findings"].is_array());
    let chosen = check(&["--fields", "triage.fix,id", "--with-record"]);
    assert_eq!(results(&chosen)[0], serde_json::json!({"triage": {"fix": "none"}, "id": "good", "record": record}));
    let unknown = check(&["--fields", "nope\u{1b}"]);
    assert!(code(&unknown) == 2 && text(&unknown.stderr).contains("unknown field \"nope␛\"; the fields are source, "));
    assert_eq!(code(&check(&["--fields", "a..b"])), 2);
    let output = fed(stepscope().args(["check", "-", "--fields", "id"]), GOOD);
    assert!(code(&output) == 2 && text(&output.stderr).contains("add --format jsonl"), "{output:?}");
    let arguments = ["verify", "-", "--verifier", "json_structure", "--fields", "reward,record.id"];
    let output = fed(stepscope().args(arguments), "{\"id\": 1, \"completion\": \"{}\"}");
    assert_eq!(results(&output)[0], serde_json::json!({"reward": 1.0, "record": {"id": 1}}));
    let broken = fed(stepscope().args(["check", "-", "--format", "jsonl", "--with-record"]), "{\"a\": \u{7f}\n\n");
    assert!(results(&broken)[0]["record"].as_str().unwrap().starts_with("{\"a\": "), "{broken:?}");
}

#[test]
fn a_chosen_member_is_what_it_is_in_the_whole_object() {
    let chain = r#"{"question": "?", "steps": ["2 + 2 = 5"], "label": 0}"#;
    let answers = std::fs::read_to_string("tests/fixtures/answers.jsonl").unwrap();
    let records = [GOOD, chain, "{\"a\": ", answers.trim_end()].join("\n");
    let check = |options: &[&str]| {
        results(&fed(stepscope().args(["check", "-", "--format", "jsonl", "--with-record"]).args(options), &records))
    };
    let whole = check(&[]);
    let names: BTreeSet<_> = whole.iter().flat_map(|line| line.as_object().unwrap().keys()).cloned().collect();
    for name in ["labelled_step", "route", "triage", "record"] {
        assert!(names.contains(name), "{name}");
    }
    for name in &names {
        let chosen = check(&["--fields", name]);
        assert_eq!(chosen.len(), whole.len());
        for (chosen, whole) in chosen.iter().zip(&whole) {
            assert_eq!(chosen[name], whole[name], "{name}");
            let keys = chosen.as_object().unwrap().keys().collect::<BTreeSet<_>>();
            assert_eq!(keys, BTreeSet::from([name, &"record".to_owned()]));
        }
    }
    for (chosen, whole) in check(&["--fields", "route.why.route,triage.fix"]).iter().zip(&whole) {
        let fires = |line: &serde_json::Value| {
            let why = line["route"]["why"].as_array();
            why.map(|why| why.iter().map(|each| each["route"].clone()).collect::<Vec<_>>())
        };
        assert_eq!(fires(chosen), fires(whole));
        assert_eq!(chosen["triage"]["fix"], whole["triage"]["fix"]);
        assert_eq!(
            (&chosen["route"]["name"], &chosen["triage"]["step"]),
            (&serde_json::Value::Null, &serde_json::Value::Null)
        );
    }
}

#[test]
fn a_pipeline_is_not_ended_by_what_a_record_holds() {
    let verify = |never: bool, input: &str| {
        let fail_on = if never { "never" } else { "failed" };
        code(&fed(stepscope().args(["verify", "-", "--verifier", "json_structure", "--fail-on", fail_on]), input))
    };
    for (input, otherwise) in [("", 0), ("{\"completion\": \"x\"}\n", 1), ("{\"a\": 1}\n", 2), ("{\n", 2)] {
        assert_eq!((verify(true, input), verify(false, input)), (0, otherwise), "{input}");
    }
    let output = run(&["verify", "--verifier", "json_structure", "--fail-on", "never"], &[Path::new("/nowhere")]);
    assert_eq!(code(&output), 2, "what is not there is a mistake");
}

/// The same with one blank in place of several.
fn squeezed(section: &str) -> String {
    section.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn boards_add_up_in_any_order_and_a_record_counts_once() {
    let folder = Folder::new();
    let wrong = |n: usize| {
        let text = GOOD.replace(r#""correct": true"#, r#""gold_num": 5.0, "correct": false"#);
        text.replace("numerical\": 5.0", &format!("numerical\": {}.0", n + 7)).replace("\"good\"", &format!("\"{n}\""))
    };
    let records: Vec<String> = (0..6).map(|n| wrong(n) + "\n").collect();
    let check = |options: &[&str], input: &str| {
        text(&fed(stepscope().args(["check", "-", "--format", "jsonl"]).args(options), input).stdout).to_owned()
    };
    let merge = |paths: &[&PathBuf]| {
        let output =
            stepscope().args(["check", "--merge", "--summary", "--format", "jsonl"]).args(paths).output().unwrap();
        assert_eq!(code(&output), 0, "{output:?}");
        text(&output.stdout).to_owned()
    };
    let whole = check(&["--summary"], &records.concat());
    assert!(whole.contains("\"runs\":6"), "{whole}");
    let part = |n: usize, options: &[&str], records: &[String]| {
        folder.write(&format!("part-{n}{}.jsonl", options.len()), &check(options, &records.concat()))
    };
    let boards: Vec<PathBuf> = (0..3).map(|n| part(n, &["--summary"], &records[2 * n..2 * n + 2])).collect();
    let [a, b, c] = [&boards[0], &boards[1], &boards[2]];
    assert_eq!(merge(&[a, b, c]), whole);
    let ab = folder.write("ab.jsonl", &merge(&[a, b]));
    let bc = folder.write("bc.jsonl", &merge(&[b, c]));
    assert_eq!((merge(&[&ab, c]), merge(&[a, &bc])), (whole.clone(), whole.clone()));
    // Results of records: one part was done twice, one had nothing to do.
    let parts: Vec<PathBuf> = (0..3).map(|n| part(n, &[], &records[2 * n..2 * n + 2])).collect();
    let none = part(9, &[], &[]);
    assert_eq!(merge(&[&parts[0], &parts[1], &none, &parts[1], &parts[2]]), whole);
    // Sums fail where it is asked for, and where their lines cannot tell they do not pass.
    let fails = |least: &str, paths: &[&Path]| {
        let output = run(&["check", "--merge", "--summary", "--fail-on", least], paths);
        (code(&output), text(&output.stderr).to_owned())
    };
    let fatal = folder.write("fatal.jsonl", &check(&["--fields", "sha256,triage,findings.rule"], "not json\n"));
    for (least, path, exit) in [
        ("warning", &parts[0], 1),
        ("repairable", &parts[0], 0),
        ("never", &parts[0], 0),
        ("fatal", &fatal, 1),
        ("never", a, 0),
    ] {
        assert_eq!(fails(least, &[path]).0, exit, "{least} {path:?}");
    }
    let (exit, said) = fails("fatal", &[&parts[0], a]);
    assert!(exit == 2 && said.contains("cannot apply --fail-on: 1 line without findings"), "{said}");
    // The charts that the lines can tell are those of the whole.
    let charts = |printed: &str| -> Vec<String> {
        let sections = printed.split("\n\n").map(str::trim);
        let known = sections.filter(|section| {
            ["Where to fix\n", "Where to fix, by step", "Records by rule", "Kind"]
                .iter()
                .any(|title| section.starts_with(title))
        });
        // Columns are as wide as the names of all charts need.
        known.map(squeezed).collect()
    };
    let at_once = |records: &str| {
        let printed = fed(stepscope().args(["check", "-", "--summary"]), records);
        text(&printed.stdout).to_owned()
    };
    let summed = |paths: &[&Path]| text(&run(&["check", "--merge", "--summary"], paths).stdout).to_owned();
    let merged = summed(&[&parts[0], &parts[1], &parts[1], &parts[2]]);
    let direct = at_once(&records.concat());
    assert_eq!(charts(&merged), charts(&direct), "{merged}\n{direct}");
    assert_eq!(charts(&merged).len(), 4, "{merged}");
    assert!(!merged.contains("Outcome"), "no figure that the lines do not say: {merged}");
    // A summary says nothing of rules and kinds.
    let boards = summed(&[a, &parts[1]]);
    assert_eq!(charts(&boards), charts(&at_once(&records[..4].concat()))[..2], "{boards}");
    let samples = include_str!("../../sample_runs/word_problems.jsonl");
    let (lines, board) = (check(&[], samples), check(&["--summary"], samples));
    let (lines, board) = (folder.write("lines.jsonl", &lines), folder.write("board.jsonl", &board));
    let direct = charts(&at_once(samples));
    assert!(direct[1].lines().count() > 4, "{direct:?}");
    assert_eq!(charts(&summed(&[&lines])), direct);
    // Without the names of rules the column of names is narrower.
    let words = |charts: &[String]| charts.join(" ").split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&charts(&summed(&[&board]))), words(&direct[..2]));
    // What a line says may be anything.
    let most = |steps: &str| format!("{{\"fix\":\"gold\",\"runs\":{},\"rules\":[],\"steps\":[{steps}]}}\n", u64::MAX);
    let step = format!("{{\"step\":{0},\"runs\":{0}}}", u64::MAX);
    let any = folder.write("any.jsonl", &(most("") + &most(&format!("{step},{step}"))));
    let any = run(&["check", "--merge", "--summary"], &[&any]);
    assert!(code(&any) == 0 && text(&any.stdout).contains("0 records once each, 0 of them again, 2 lines"), "{any:?}");
    let output = run(&["check", "--merge", "--summary"], &[&folder.path("good.jsonl")]);
    assert!(code(&output) == 2 && text(&output.stderr).contains("not printed by check"), "{output:?}");
    assert_eq!(code(&run(&["check", "--merge"], &[a])), 2, "it is for boards");
    // What the check before had no room for, and what was lost after it.
    let lines = check(&[], &records.concat());
    let left_out = folder.write("left_out.jsonl", &(lines.clone() + "{\"left_out\":true}\n"));
    let output = run(&["check", "--merge", "--summary"], &[&left_out]);
    assert!(code(&output) == 0 && text(&output.stdout).contains("6 records once each"), "{output:?}");
    assert!(text(&output.stderr).contains("not counted: 1 record that a check left out"), "{output:?}");
    assert!(!text(&output.stdout).contains("Records by rule"), "{output:?}");
    let cut = folder.write("cut.jsonl", &lines[..lines.len() - 20]);
    let output = run(&["check", "--merge", "--summary"], &[&cut]);
    assert!(code(&output) == 2 && text(&output.stdout).contains("5 records once each"), "{output:?}");
    assert!(text(&output.stderr).contains("cut.jsonl: line 6 is cut off; it is not counted"), "{output:?}");
}

#[test]
fn forks_are_no_answers_of_the_run_in_a_summary() {
    let folder = Folder::new();
    let samples = include_str!("../../sample_runs/word_problems.jsonl");
    let records = folder.write("runs.jsonl", samples);
    let fork = |line: &str| {
        let output = run(&["rerun", "--exact", "--line", line], &[&records]);
        text(&output.stdout).to_owned()
    };
    let forks = folder.write("runs.jsonl.forks.jsonl", &(fork("61") + &fork("3")));
    let summary = |options: &[&str], paths: &[&Path]| {
        let arguments = [&["check", "--fail-on", "never"][..], options].concat();
        text(&run(&arguments, paths).stdout).to_owned()
    };
    let charts = |printed: &str| {
        let (charts, _) = printed.trim_end().rsplit_once("\n\n").unwrap();
        charts.to_owned()
    };
    let both = summary(&["--summary"], &[&records, &forks]);
    let apart = both.replace("\n\n2 forks, not counted above\n", "\n");
    assert!(apart != both, "{both}");
    assert_eq!(charts(&apart), charts(&summary(&["--summary"], &[&records])));
    // Where there is nothing else they are counted.
    let alone = summary(&["--summary"], &[&forks]);
    assert!(alone.contains("Outcome") && !alone.contains("not counted"), "{alone}");
    // Merged, lines and boards say the same as the whole.
    let jsonl = ["--summary", "--format", "jsonl"];
    let whole = summary(&jsonl, &[&records, &forks]);
    assert_eq!(whole, summary(&jsonl, &[&records]));
    let lines = folder.write("lines.jsonl", &summary(&["--format", "jsonl"], &[&records, &forks]));
    let merge = [&["--merge"][..], &jsonl].concat();
    assert_eq!(summary(&merge, &[&lines]), whole);
    assert!(summary(&["--merge", "--summary"], &[&lines]).contains("\n\n2 forks, not counted above\n"));
    let boards = [folder.write("a.jsonl", &whole), folder.write("b.jsonl", &summary(&jsonl, &[&forks]))];
    assert_eq!(summary(&merge, &[&boards[0], &boards[1]]), whole);
    assert_eq!(summary(&merge, &[&boards[1]]), summary(&jsonl, &[&forks]));
    let pages = folder.path("pages");
    let output = run(&["export", "--all", pages.to_str().unwrap(), "--force"], &[&records, &forks]);
    assert_eq!(code(&output), 0, "{output:?}");
    let index = std::fs::read_to_string(pages.join("index.html")).unwrap();
    assert!(index.contains("<h1>61 records and 2 forks of ") && index.contains("Share of 61<"), "{index}");
}

#[test]
fn merging_tells_what_its_lines_do_not_say_and_takes_one_rule_set() {
    let folder = Folder::new();
    let check = |more: &[&str]| {
        let mut command = stepscope();
        command.args(["check", "-", "--format", "jsonl", "--fail-on", "never"]).args(more);
        text(&fed(&mut command, include_str!("../../sample_runs/word_problems.jsonl")).stdout).to_owned()
    };
    let whole = check(&[]);
    let lines = folder.write("lines.jsonl", &whole);
    let few = folder.write("few.jsonl", &check(&["--fields", "sha256,triage.fix,findings.rule"]));
    let merge = |paths: &[&Path], more: &[&str]| {
        let output = run(&[&["check", "--merge", "--summary"], more].concat(), paths);
        (code(&output), text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    };
    let section = |printed: &str, title: &str| {
        printed.split("\n\n").find(|section| section.trim_start().starts_with(title)).map(squeezed)
    };
    let ((_, told, _), (ended, untold, _)) = (merge(&[&lines], &[]), merge(&[&few], &[]));
    assert_eq!((ended, section(&untold, "Records by rule")), (0, section(&told, "Records by rule")));
    assert_eq!(section(&untold, "Where to fix\n"), section(&told, "Where to fix\n"));
    assert!(untold.contains("Blank: not all merged lines say it.") && !told.contains("Blank"), "{untold}");
    assert!(!untold.contains("Where to fix, by step") && !untold.contains("\nKind\n"), "{untold}");
    let (_, json, _) = merge(&[&few], &["--format", "jsonl"]);
    for line in json.lines() {
        let found: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(found["runs"].as_u64().is_some_and(|runs| runs > 0), "{line}");
        for key in ["sure", "recovered", "rules", "steps"] {
            assert_eq!(found.get(key), Some(&serde_json::Value::Null), "{key}: {line}");
        }
    }
    // What is not known stays so.
    let board = folder.write("board.jsonl", &json);
    assert_eq!(merge(&[&board], &["--format", "jsonl"]).1, json);

    let stamp =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["rules"].as_str().unwrap().to_owned();
    let own = stamp(whole.lines().next().unwrap());
    let other = folder.write("other.jsonl", &whole.replace(&own, "other 1"));
    let both = [merge(&[&lines, &other], &[]), merge(&[&other, &lines], &[])];
    assert_eq!(both[0], both[1], "in any order");
    assert!(
        both[0].0 == 2
            && both[0].2.contains("cannot merge what different rules found: 0.")
            && both[0].2.contains(", other 1;"),
        "{both:?}"
    );
    assert!(both[0].1.is_empty());
}

#[test]
fn every_field_that_is_printed_may_be_asked_for_and_no_other() {
    fn paths(value: &serde_json::Value, path: &str, found: &mut std::collections::BTreeSet<String>) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, value) in members {
                    paths(value, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, found);
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| paths(item, path, found)),
            _ => _ = found.insert(path.to_owned()),
        }
    }
    let mut found = std::collections::BTreeSet::new();
    for name in ["word_problems", "policy", "chains", "baseline"] {
        let output = run(&["check", "--format", "jsonl", "--fail-on", "never"], &[Path::new(&sample(name))]);
        for line in text(&output.stdout).lines() {
            paths(&serde_json::from_str(line).unwrap(), "", &mut found);
        }
    }
    assert!(found.contains("triage.why.text") && found.contains("spans.resolution.word"), "{found:?}");
    let all = found.into_iter().collect::<Vec<_>>().join(",");
    let asked = |fields: &str| {
        let output = fed(stepscope().args(["check", "-", "--format", "jsonl", "--fields", fields]), GOOD);
        (code(&output), text(&output.stderr).to_owned())
    };
    assert_eq!(asked(&all), (0, String::new()));
    for (fields, said) in [
        ("id,triage.fixx", "unknown field \"triage.fixx\". Did you mean \"triage.fix\"?"),
        ("findings.nope", "unknown field \"findings.nope\"; the fields of findings are rule, severity, "),
        ("findings.labels.from", "unknown field \"findings.labels.from\"; the fields of findings.labels are pointer, "),
        ("triaje", "unknown field \"triaje\". Did you mean \"triage\"?"),
        ("nothing.of.it", "unknown field \"nothing\"; the fields are source, line, "),
    ] {
        let (code, told) = asked(fields);
        assert!(code == 2 && told.contains(said), "{fields}: {told}");
    }
}

/// Record, file and review log with letters beyond ASCII.
fn beyond_ascii(folder: &Folder) -> PathBuf {
    let record = GOOD.replace(r#""id": "good""#, r#""id": "café""#).replace("2 + 3?", "Wie viele 漢 — 5² ≥ 3 — “x”?");
    // The reviews are another's, so that the record stays in the queue.
    let wrong = record.replace("café", "naïf").replacen(
        r#"{"name": "a""#,
        r#"{"description": "€ é", "name": "prix_é"}, {"name": "a""#,
        1,
    );
    let path = folder.write("dé jà.jsonl", &format!("{record}\n{wrong}\n"));
    let add = ["review", "add", "--id", "café", "--verdict", "fail", "--note", "é … 漢", "--reviewer", "Zoë"];
    assert_eq!(code(&run(&add, &[&path])), 0);
    path
}

fn sample(name: &str) -> String {
    format!("{}/sample_runs/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// Splits a command line at its blanks; `FILE` is this path.
fn words<'l>(line: &'l str, file: &'l str) -> Vec<&'l str> {
    line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect()
}

#[test]
fn all_that_people_read_is_ascii_if_they_ask_for_it() {
    let folder = Folder::new();
    let path = beyond_ascii(&folder);
    let (runs, answers, chains, baseline) =
        (sample("word_problems"), sample("policy"), sample("chains"), sample("baseline"));
    let page = folder.path("é.html");
    let mut lines: Vec<String> = [
        "check FILE",
        "check --color always --links always FILE",
        "check --format short FILE",
        "check --summary FILE",
        "check --expect é FILE",
        "check --schema é FILE",
        "check --filter é FILE",
        "check --format é",
        "check é.jsonl",
        "show FILE",
        "show --step 1 --state FILE",
        "show --step 1 --prompt --id é FILE",
        "show --step 99 FILE",
        "compare FILE FILE --cell both",
        "compare FILE FILE --id café",
        "compare FILE FILE --id é",
        "review list FILE",
        "review list --reviews é",
        "review stats FILE",
        "review agreement FILE",
        "review next FILE",
        "review next --reviewer Zoë FILE",
        "review add FILE --id é --verdict pass",
        "review add FILE --id naïf --verdict fail --label é",
        "review add FILE --id naïf --verdict pass --reviewer Zoë",
        "review import é FILE",
        "review merge é",
        "review export é",
        "export FILE",
        "export FILE --id é --html PAGE",
        "export FILE --html PAGE",
        "rerun FILE --step 99",
        "rerun FILE --exact --id é",
        "rerun FILE --step 1 --set é=é",
        "run é",
        "repair FILE --list",
        "repair --list --id é FILE",
        "verify FILE",
        "verify --verifier é FILE",
        "verify --verifier expected FILE",
        "models --url é",
        "demo é",
        "demo --notes --theme é",
        "rules",
        "rules é",
        "keys",
        "schema",
        "schema é",
        "config",
        "config --config-dir é",
        "doctor",
        "doctor --config-dir é",
        "man é",
        "completions é",
        "é",
        "--é",
        "--theme é FILE",
        "--baseline é FILE",
        "--help",
        "-h",
        "help check",
    ]
    .map(str::to_owned)
    .to_vec();
    let commands = "check show export demo models run create rerun repair verify compare review rules keys schema config doctor \
                    man completions";
    let reviews =
        ["add", "next", "list", "export", "import", "stats", "agreement", "merge"].map(|one| format!("review {one}"));
    for command in commands.split(' ').map(str::to_owned).chain(reviews) {
        lines.extend(["-h", "--help", "--é"].map(|flag| format!("{command} {flag}")));
    }
    for file in [&runs, &answers, &chains] {
        lines.extend(
            ["check", "check --summary", "show", "review next", "repair --list"].map(|line| format!("{line} {file}")),
        );
    }
    lines.extend([format!("compare {runs} {baseline} --cell only_a"), format!("show {runs} --line 22")]);
    let odd = stepscope_judge::rules::RULES
        .iter()
        .filter(|rule| [rule.explanation, rule.bad, rule.good].iter().any(|text| !text.is_ascii()));
    lines.extend(odd.map(|rule| format!("rules {}", rule.id)));
    let mut twins = 0;
    for line in &lines {
        let line = line.replace("PAGE", page.to_str().unwrap());
        let words = words(&line, path.to_str().unwrap());
        let asked = stepscope().arg("--ascii").args(&words).output().unwrap();
        for told in [&asked.stdout, &asked.stderr] {
            assert!(told.is_ascii(), "{line}\n{}", String::from_utf8_lossy(told));
        }
        twins += usize::from(asked.stdout != run(&words, &[]).stdout);
    }
    assert!(twins > 20, "only {twins} of them have other characters");
}

#[test]
fn what_programs_read_is_the_same_in_ascii() {
    let folder = Folder::new();
    let path = beyond_ascii(&folder);
    for line in [
        "check --format jsonl FILE",
        "check --format jsonl --with-record FILE",
        "check --format sarif FILE",
        "check --summary --charts --format jsonl FILE",
        "show --step 1 --prompt FILE",
        "compare FILE FILE --format jsonl",
        "review list --ids FILE",
        "review list --format jsonl FILE",
        "review next --ids FILE",
        "review next --format jsonl FILE",
        "review export --format jsonl FILE",
        "review export --format csv FILE",
        "review export --format markdown FILE",
        "review export --failed FILE",
        "export --html - FILE",
        "repair --without-model FILE",
        "verify --verifier gold FILE",
        "rules --format jsonl",
        "keys --format jsonl",
        "schema trace",
        "man",
    ] {
        let words = words(line, path.to_str().unwrap());
        let [asked, plain] = [&["--ascii"][..], &[]].map(|flag| stepscope().args(flag).args(&words).output().unwrap());
        assert_eq!((code(&asked), &asked.stdout), (code(&plain), &plain.stdout), "{line}");
        assert!(!plain.stdout.is_empty() || line.starts_with("verify"), "{line}: {plain:?}");
    }
}

#[test]
fn letters_without_a_twin_are_escapes_and_carets_stay_in_place() {
    let folder = Folder::new();
    let path = beyond_ascii(&folder);
    let show = run(&["show", "--ascii"], &[&path]);
    let told = text(&show.stdout);
    assert!(told.contains("id caf\\u00e9 ") && told.contains("  Wie viele \\u6f22 - 5^2 >= 3 - \"x\"?\n"), "{told}");
    assert!(told.contains("d\\u00e9 j\\u00e0.jsonl:1"), "{told}");
    let check = run(&["check", "--ascii", "--color", "always", "--links", "always"], &[&path]);
    let told = text(&check.stdout);
    assert!(told.contains("/d%C3%A9%20j%C3%A0.jsonl#2\x1b\\") && told.contains("\x1b[1;94m"), "{told:?}");

    let check = run(&["check", "--ascii"], &[&path]);
    let lines: Vec<&str> = text(&check.stdout).lines().collect();
    let at = lines.iter().position(|line| line.contains("\"prix_\\u00e9\"")).unwrap();
    let mark = lines[at + 1..].iter().find(|line| line.contains("^^")).unwrap();
    let marked = &lines[at][mark.find('^').unwrap()..=mark.rfind('^').unwrap()];
    assert_eq!(marked, "\"prix_\\u00e9\"", "{}", lines[at]);
    // The value of another option asks for nothing.
    let filter = run(&["check", "--format", "short", "--filter", "--ascii"], &[&path]);
    assert!(text(&filter.stdout).contains("dé jà"), "{filter:?}");
}

/// What keeps the program from starting is what `doctor` finds wrong.
#[test]
fn doctor_finds_what_the_screen_would_refuse() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("themes")).unwrap();
    folder.write("themes/torn.toml", "text = ");
    let doctor = |settings: &str| {
        let file = folder.write("config.toml", settings);
        let output = run(&["doctor", "--config-dir", file.parent().unwrap().to_str().unwrap()], &[]);
        let settings = text(&output.stdout).lines().find(|line| line.contains("settings")).unwrap().to_owned();
        (code(&output), settings)
    };
    for (settings, named) in [
        ("theme = \"lihgt\"", "lihgt"),
        ("profile = \"nope\"", "nope"),
        ("profile = \"own\"\n[profiles.own]\nbackend = \"foo\"", "foo"),
        ("[profiles.other]\nurl = \"ftp://x\"", "profile other: a server URL must begin"),
        ("theme = \"torn\"", "themes/torn.toml: line 1"),
        ("[keys]\nnext_stp = [\"n\"]", "next_stp"),
        ("[keys]\nnext_step = [\"Ctrl+Alt+Foo\"]", "Ctrl+Alt+Foo"),
    ] {
        let (status, said) = doctor(settings);
        assert!(status == 1 && said.starts_with("wrong") && said.contains(named), "{settings}: {said}");
    }
    let (status, said) =
        doctor("theme = \"light\"\nprofile = \"own\"\n[profiles.own]\nmodel = \"m\"\n[keys]\nnext_step = [\"n\"]");
    assert!(said.starts_with("ok") && status == 0, "{said}");
    let output = run(&["doctor", "--config-dir", folder.0.path().to_str().unwrap()], &[]);
    assert!(text(&output.stdout).ends_with("ok    keys          \"n\" is next_step, not find_next: Run\n"));
}

#[test]
fn without_the_check_for_finite_numbers_a_number_may_be_none() {
    let folder = Folder::new();
    let answers = folder.write("answers.jsonl", "{\"final_answer\": \"5\", \"final_answer_numerical\": \"5\"}\n");
    let own = folder.write("own.json", "{}");
    let check = ["check", "--format", "short", "--schema", own.to_str().unwrap()];
    let (with, without) = (run(&check, &[&answers]), run(&[&check[..], &["--no-finite-check"]].concat(), &[&answers]));
    assert!(text(&with.stdout).contains("final_answer_numerical must be a number"), "{with:?}");
    assert!(!text(&without.stdout).contains("final_answer_numerical"), "{without:?}");
}
