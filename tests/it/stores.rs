//! Stores of typed answers, as people have them: folders, databases, both at once, half filled, lying, changing. And the
//! documents that answers cite.

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::checked::{checked, state};
use crate::support::fed::fed;
use rusqlite::Connection;
use stepscope_base::json::{Tape, Value};
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::check::CheckOutcome;
use stepscope_io::pipeline::load::load;
use stepscope_io::pipeline::store::{LoadEvent, SourceState, Store};
use stepscope_io::source::input::expand;
use stepscope_judge::rules::RULES;
use stepscope_record::rule_id::Kinds;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }
}

/// Result of a check: every record's text, and the number of lines of its document.
struct Checked {
    records: Vec<(String, Option<usize>)>,
    outcome: CheckOutcome,
}

fn run_with(paths: &[PathBuf], document: Option<&Path>) -> Checked {
    let inputs = expand(paths);
    let inputs = match document {
        Some(document) => inputs.with_document(document).unwrap(),
        None => inputs,
    };
    let (out, outcome) = checked(inputs, 2, |case, out| {
        let lines = case.document().map_or(-1, |document| document.len() as i64);
        out.extend_from_slice(format!("{lines} ").as_bytes());
        out.extend_from_slice(case.text());
        out.push(b'\n');
    });
    let records = String::from_utf8(out).unwrap();
    let record = |line: &str| {
        let (lines, text) = line.split_once(' ').unwrap();
        (text.to_owned(), usize::try_from(lines.parse::<i64>().unwrap()).ok())
    };
    Checked { records: records.lines().map(record).collect(), outcome }
}

fn run(path: impl Into<PathBuf>) -> Checked {
    run_with(&[path.into()], None)
}

impl Checked {
    /// Returns the text of a key of every record; `-` where there is none.
    fn values(&self, key: &str) -> Vec<String> {
        let mut tape = Tape::default();
        let value = |text: &str| match tape.parse(text.as_bytes()).and_then(|root| root.get(key)) {
            None => "-".to_owned(),
            Some(value) => {
                value.plain_string().map_or_else(|| raw(value), |text| String::from_utf8(text.into()).unwrap())
            }
        };
        self.records.iter().map(|(text, _)| text.as_str()).map(value).collect()
    }

    fn failures(&self) -> Vec<String> {
        self.outcome.failures.iter().chain(&self.outcome.missing).map(Failure::to_string).collect()
    }

    /// Returns the records, sorted, without what only a folder or only a database knows.
    fn comparable(&self) -> Vec<String> {
        let mut tape = Tape::default();
        let mut lines: Vec<String> = self
            .records
            .iter()
            .map(|(text, lines)| {
                let root = tape.parse(text.as_bytes()).unwrap();
                let members =
                    root.members().filter(|member| !["folder", "created_at"].contains(&member.name().utf8().unwrap()));
                let members: Vec<String> =
                    members.map(|member| format!("{}: {}", raw(member.key), loose(member.value))).collect();
                format!("{lines:?} {}", members.join(", "))
            })
            .collect();
        lines.sort();
        lines
    }
}

fn raw(value: Value<'_>) -> String {
    String::from_utf8(value.raw().to_vec()).unwrap()
}

/// Normalizes JSON, however it is spaced, and whatever is escaped.
fn loose(value: Value<'_>) -> String {
    serde_json::from_slice::<serde_json::Value>(value.raw()).map_or_else(|_| raw(value), |value| value.to_string())
}

fn base(path: &Path, sql: &str) -> Connection {
    let base = Connection::open(path).unwrap();
    base.execute_batch(sql).unwrap();
    base
}

const TABLES: &str = "
    CREATE TABLE questions (question_id TEXT PRIMARY KEY, question_text TEXT, created_at REAL);
    CREATE TABLE parsed_questions (question_id TEXT, doc_id TEXT, schema_name TEXT, parsed_json TEXT,
        PRIMARY KEY (question_id, doc_id));
    CREATE TABLE retrieved_pages (question_id TEXT, doc_id TEXT, page_num INTEGER, rank INTEGER, text TEXT,
        PRIMARY KEY (question_id, doc_id, page_num));
    CREATE TABLE answers (question_id TEXT, doc_id TEXT, schema_name TEXT, answer_json TEXT, model_used TEXT,
        created_at REAL, PRIMARY KEY (question_id, doc_id));
    CREATE TABLE lines (doc_id TEXT, page_num INTEGER, line_num INTEGER, text TEXT);
    CREATE TABLE documents (doc_id TEXT PRIMARY KEY);
    CREATE TABLE llm_calls (call_hash TEXT PRIMARY KEY, model TEXT, schema_name TEXT, input TEXT, output_json TEXT,
        label TEXT, created_at REAL);";

#[test]
fn a_folder_and_its_database_give_the_same_records() {
    let (folder, database) = (run(here("sample_runs/policy")), run(here("sample_runs/policy.sqlite")));
    assert_eq!(folder.records.len(), 39);
    assert!(folder.records.iter().all(|(_, lines)| *lines == Some(169)), "every answer finds its document");
    assert_eq!(folder.comparable(), database.comparable());
    assert_eq!((folder.failures(), database.failures()), (vec![], vec![]));
    assert_eq!(folder.values("answer_text").iter().filter(|text| *text != "-").count(), 1);
    let unanswered = folder.values("answer").into_iter().filter(|answer| answer == "-").count();
    assert_eq!(unanswered, 2, "one cut off, one never given");
}

#[test]
fn every_part_of_a_store_opens_by_its_path() {
    let root = here("sample_runs/policy");
    let document = root.join("travel/heron-lark");
    let whole = run(&root).comparable();
    for part in [document.clone(), document.join("questions")] {
        assert_eq!(run(part).comparable(), whole);
    }
    let mut questions: Vec<_> =
        std::fs::read_dir(document.join("questions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    questions.sort();
    let question = &questions[4];
    let one = run(question);
    assert_eq!((one.records.len(), one.records[0].1), (1, Some(169)));
    assert!(whole.contains(&one.comparable()[0]));
}

#[test]
fn a_root_with_both_shows_each_answer_once() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    copy(&here("sample_runs/policy"), &root);
    copy(&here("sample_runs/policy.sqlite"), &root.join("storage.sqlite"));
    let whole = run(here("sample_runs/policy")).comparable();
    assert_eq!(run(&root).comparable(), whole);
    // What the folders lack comes from the database: a question, an answer, the lines.
    let questions = root.join("travel/heron-lark/questions");
    let mut folders: Vec<_> = std::fs::read_dir(&questions).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.retain(|folder| folder.join("answer.json").exists());
    std::fs::remove_dir_all(&folders[3]).unwrap();
    for part in ["answer.json", "meta.json"] {
        std::fs::remove_file(folders[5].join(part)).unwrap();
    }
    std::fs::remove_file(folders[7].join("parsed_question.json")).unwrap();
    std::fs::remove_dir_all(root.join("travel/heron-lark/parsing")).unwrap();
    let before = state(&root);
    let both = run(&root);
    assert_eq!(both.comparable(), whole);
    // A part of it shows that part.
    assert_eq!(run(root.join("travel/heron-lark")).comparable(), whole);
    assert_eq!(run(&folders[5]).records.len(), 1);
    // A folder's own word counts.
    std::fs::write(folders[9].join("answer.json"), "{\"answer_found\": false, \"items\": []}").unwrap();
    let answers = run(&root).values("answer");
    assert_eq!(answers.iter().filter(|answer| *answer == "{\"answer_found\": false, \"items\": []}").count(), 1);
    assert_eq!(answers.len(), 39);
    assert_eq!(state(&root).len(), before.len());
}

#[test]
fn other_files_beside_a_store_are_read_if_they_are_known() {
    let dir = tempfile::tempdir().unwrap();
    copy(&here("sample_runs/policy"), &dir.path().join("a"));
    copy(&here("sample_runs/policy.sqlite"), &dir.path().join("b/storage.sqlite"));
    copy(&here("tests/fixtures/runs.jsonl"), &dir.path().join("runs.jsonl"));
    copy(&here("tests/fixtures/stores/store"), &dir.path().join("b/deep/er"));
    let all = run(dir.path());
    let kinds = all.values("format").iter().filter(|format| *format == "stepscope.answer_trace").count();
    // Each store is one, wherever it lies; cases.json is nobody's record.
    assert_eq!(kinds, 39 + 39 + 2);
    assert!(all.records.len() > kinds, "the runs are there too");
    assert_eq!((all.outcome.passed_over, all.failures()), (1, vec![]));
    assert!(all.values("doc_id").contains(&"deep/er/flats/lease".to_owned()), "named from its root");
}

#[test]
fn half_written_folders_are_shown_as_far_as_they_go() {
    let checked = run(here("tests/fixtures/stores/store"));
    assert_eq!(checked.values("question"), ["What is the rent?", "-"]);
    assert_eq!(checked.values("id"), ["flats/lease#ea889d8b0139ea4b", "flats/lease#00000000"]);
    assert_eq!(checked.values("answer")[0], "-");
    assert_eq!(
        checked.values("answer")[1],
        r#"{"answer_found": true, "confidence": NaN,"items": [{"text": "a\nb", "spans": []}]}"#
    );
    assert_eq!(
        checked.values("retrieved_pages")[0],
        r#"[{"page_num":1,"rank":1,"score":0.75},{"page_num":2,"rank":2,"score":0.5}]"#
    );
    assert_eq!((&checked.values("schema")[1][..], &checked.values("model")[1][..]), ("TextAnswer", "m"));
    assert!(checked.records[0].1 == Some(4), "another parser's lines are lines");
    assert_eq!(checked.failures(), Vec::<String>::new());
}

#[test]
fn a_document_that_was_asked_nothing_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    copy(&here("tests/fixtures/stores/store"), dir.path());
    std::fs::remove_dir_all(dir.path().join("flats/lease/questions")).unwrap();
    let checked = run(dir.path());
    assert_eq!((checked.values("doc_id"), checked.records[0].1), (vec!["flats/lease".to_owned()], Some(4)));
    let path = dir.path().join("storage.sqlite");
    base(&path, TABLES)
        .execute_batch("INSERT INTO documents VALUES ('b'); INSERT INTO lines VALUES ('c', 1, 1, 'x')")
        .unwrap();
    let checked = run(dir.path());
    assert_eq!(checked.values("doc_id"), ["b", "c", "flats/lease"]);
    assert_eq!(checked.records.iter().map(|(_, lines)| *lines).collect::<Vec<_>>(), [None, Some(1), Some(4)]);
}

#[test]
fn half_filled_databases_show_what_they_have() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("any.name");
    let writer = base(&path, TABLES);
    writer
        .execute_batch(
            "INSERT INTO lines VALUES ('d', 1, 1, 'a'), ('d', 1, 2, 'b');
            INSERT INTO questions VALUES ('q1', 'one?', 1), ('q2', 'two?', 1), ('q3', 'three?', 1);
            INSERT INTO parsed_questions VALUES ('q1', 'd', 'ParsedQuestion', '{\"expected_answer_shape\": \"text\"}');
            INSERT INTO retrieved_pages VALUES ('q2', 'd', 4, NULL, 'long text of the page');
            INSERT INTO llm_calls VALUES ('h', 'm', 's', 'What?', '{\"a\": 1}', 'l', 1.5);",
        )
        .unwrap();
    drop(writer);
    let checked = run(&path);
    assert_eq!(checked.values("question"), ["one?", "two?", "three?", "-"]);
    assert_eq!(checked.values("doc_id"), ["d", "d", "-", "-"]);
    assert_eq!(checked.values("retrieved_pages")[1], r#"[{"page_num":4}]"#);
    assert_eq!(checked.values("response")[3], r#""{\"a\": 1}""#);
    assert_eq!(checked.records[0].1, Some(2));
    assert_eq!(checked.failures(), Vec::<String>::new());
}

#[test]
fn types_are_read_by_value_and_tables_without_index_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lies.sqlite");
    let writer = base(
        &path,
        "CREATE TABLE ANSWERS (Question_ID INTEGER, doc_id BLOB, answer_json INTEGER, created_at TEXT, model_used INT);
        CREATE TABLE questions (question_text REAL, question_id);
        CREATE TABLE parsed_questions (doc_id, question_id, parsed_json);
        CREATE TABLE lines (doc_id INTEGER, page_num TEXT, line_num REAL, text INTEGER);",
    );
    writer
        .execute_batch(
            "INSERT INTO answers VALUES ('A', 'd', CAST('{\"items\": []}' AS BLOB), 'not a time', 7), (5, 6, 7.5, 1, NULL);
            INSERT INTO questions VALUES ('why?', 'A'), (12, 5), ('again?', 'A');
            INSERT INTO parsed_questions VALUES ('d', 'A', 'no json'), (6, 5, '[]'), ('d', 'X', NULL);
            INSERT INTO lines VALUES ('d', '2', 1.0, 'b'), ('d', '1', 3.0, 42), ('d', NULL, NULL, x'ff'), (6, 1, 1, 'six');",
        )
        .unwrap();
    drop(writer);
    let checked = run(&path);
    assert_eq!(checked.values("id"), ["d#A", "6#5", "d#X"]);
    assert_eq!(checked.values("question"), ["why?", "12.0", "-"]);
    assert_eq!(checked.values("answer"), ["{\"items\": []}", "-", "-"]);
    assert_eq!(checked.values("answer_text"), ["-", "7.5", "-"]);
    assert_eq!(checked.values("parsed_question"), ["no json", "[]", "-"]);
    assert_eq!(checked.values("model")[0], "7");
    assert_eq!(checked.records.iter().map(|(_, lines)| *lines).collect::<Vec<_>>(), [Some(3), Some(1), Some(3)]);
    assert_eq!(checked.failures(), Vec::<String>::new());
}

#[test]
fn a_database_that_is_no_store_is_told_and_one_found_by_chance_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.sqlite");
    drop(base(&path, "CREATE TABLE moz_places (id INTEGER)"));
    let why = run(&path).failures();
    assert!(why.len() == 1 && why[0].contains("is not an answer store"), "{why:?}");
    copy(&here("tests/fixtures/runs.jsonl"), &dir.path().join("runs.jsonl"));
    let found = run(dir.path());
    assert_eq!((found.outcome.passed_over, found.failures()), (1, vec![]));
    std::fs::write(&path, [&b"SQLite format 3\0"[..], &[9; 400]].concat()).unwrap();
    assert_eq!(run(&path).failures().len(), 1);
}

#[test]
fn views_of_a_store_are_not_run_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("views.sqlite");
    let view = "CREATE TABLE own (question_id, doc_id, answer_json); CREATE VIEW answers AS SELECT * FROM own;";
    let named = "views and virtual tables are not read, because they may cost anything: answers;";
    drop(base(&path, view));
    let why = run(&path).failures();
    assert!(why.len() == 1 && why[0].contains(named), "{why:?}");
    base(&path, "CREATE TABLE lines (doc_id, page_num, line_num, text); INSERT INTO lines VALUES ('d', 1, 1, 'a')");
    let checked = run(&path);
    assert_eq!((checked.records.len(), checked.failures()), (1, why), "the rest is read");
}

#[test]
fn columns_that_are_computed_are_not_read_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("computed.sqlite");
    let tables = "CREATE TABLE answers (question_id, doc_id, kept, answer_json GENERATED ALWAYS AS (kept) VIRTUAL);
        CREATE TABLE questions (question_id, question_text, other GENERATED ALWAYS AS (question_text) VIRTUAL);
        INSERT INTO answers (question_id, doc_id, kept) VALUES ('q', 'd', '{}');";
    drop(base(&path, tables));
    let why = run(&path).failures();
    let named = "columns that are computed when they are read are not read, because they may cost anything: \
        answers.answer_json;";
    assert!(why.len() == 1 && why[0].contains(named), "{why:?}");
}

#[test]
fn documents_that_piped_answers_name_are_said_to_be_unread() {
    let check = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_stepscope"))
            .args(["check", "--format", "short"])
            .args(arguments)
            .stdin(std::fs::File::open(here("sample_runs/policy.jsonl")).unwrap())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let said = check(&["-"]);
    assert_eq!(said.matches("did not read the documents that piped records name").count(), 1, "{said}");
    let document = here("sample_runs/policy.document.json");
    let said = check(&["--document", document.to_str().unwrap(), "-"]);
    assert!(!said.contains("did not read"), "{said}");
}

#[test]
fn a_live_database_is_read_as_a_snapshot_and_nothing_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storage.sqlite");
    let writer = base(&path, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;");
    writer.execute_batch(TABLES).unwrap();
    writer
        .execute_batch(
            "INSERT INTO answers VALUES ('q', 'd', 'S', '{}', 'm', 1.0); INSERT INTO lines VALUES ('d', 1, 1, 'x')",
        )
        .unwrap();
    let before = state(dir.path());
    let checked = run(dir.path());
    assert_eq!((checked.values("id"), checked.records[0].1), (vec!["d#q".to_owned()], Some(1)));
    let (name, note) = checked.outcome.notes[0].clone();
    assert!(name.as_str().ends_with("storage.sqlite") || Path::new(name.as_str()) == dir.path());
    assert!(note.as_str().starts_with("snapshot of "));
    assert_eq!(state(dir.path()), before);
    drop(writer);
    let before = state(dir.path());
    assert_eq!((run(&path).records.len(), state(dir.path()) == before), (1, true));
}

#[test]
fn the_sample_answers_have_the_flaws_that_they_were_given_and_no_others() {
    let cases = std::fs::read(here("sample_runs/policy/cases.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&cases).unwrap();
    let list = |value: &serde_json::Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let mut every = BTreeSet::new();
    for store in ["sample_runs/policy", "sample_runs/policy.sqlite", "sample_runs/policy.jsonl"] {
        let output = Command::new(env!("CARGO_BIN_EXE_stepscope"))
            .args(["check", "--format", "jsonl", "--fail-on", "never"])
            .arg(here(store))
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
        let answers: Vec<serde_json::Value> =
            output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert_eq!(answers.len(), cases.len());
        for case in &cases {
            let answer = answers.iter().find(|answer| answer["question"] == case["question"]).unwrap();
            let of = |noted: bool| -> BTreeSet<String> {
                let found = answer["findings"].as_array().unwrap().iter();
                let found = found.filter(|found| noted || found["severity"] != "note");
                found.map(|found| found["rule"].as_str().unwrap().to_owned()).collect()
            };
            let flaws = list(&case["flaws"]);
            assert!(flaws.is_subset(&of(true)), "{case}: {:?} is missing", &flaws - &of(true));
            assert!(of(false).is_subset(&flaws), "{case}: {:?} is not meant", &of(false) - &flaws);
            assert_eq!(answer["route"]["name"], case["route"], "{case}");
            assert!(case["strong"].is_null() || answer["route"]["strong"] == case["strong"], "{case}");
            every.extend(flaws);
        }
    }
    let of_answers = RULES.iter().filter(|rule| rule.id.kinds() == Kinds::Typed).map(|rule| rule.id.word());
    let known: BTreeSet<String> = of_answers
        .filter(|id| id.starts_with("span/") || id.starts_with("answer/"))
        // Only a hint.
        .filter(|id| *id != "span/boundary")
        .map(str::to_owned)
        .collect();
    assert_eq!(every, known, "each flaw of the lists stands in the samples");
}

#[test]
fn a_finding_stands_on_the_first_line_of_the_folder_of_its_question() {
    for (store, is_there) in [("sample_runs/policy", true), ("sample_runs/policy.sqlite", false)] {
        let output = Command::new(env!("CARGO_BIN_EXE_stepscope"))
            .args(["check", "--format", "short", "--fail-on", "never"])
            .arg(here(store))
            .output()
            .unwrap();
        let lines: Vec<String> = output.stdout.lines().map(Result::unwrap).collect();
        let is_first = |line: &String| line.contains("/questions/") && line.split(':').nth(1) == Some("1");
        assert!(lines.len() > 20 && lines.iter().all(|line| is_first(line) == is_there), "{lines:?}");
    }
}

// ---------------------------------------------------------------- documents

const ANSWER: &str = r#"{"extraction_method": "verbatim", "confidence": 1, "answer_found": true, "items": [{"text": "a", "spans": [{"line_start": 0, "line_end": 0, "quote": "a"}]}]}"#;

#[test]
fn a_document_given_for_all_serves_answers_that_name_none() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("answer.json"), ANSWER).unwrap();
    std::fs::write(at("own.jsonl"), format!("{{\"answer\": {ANSWER}, \"document\": {{\"lines\": [\"a\", \"b\"]}}}}\n"))
        .unwrap();
    std::fs::write(at("d.txt"), "a\nb\u{c}c\n").unwrap();
    std::fs::write(at("d.jsonl"), "{\"page_num\": 1, \"line_num\": 1, \"text\": \"a\"}\n").unwrap();
    let lines = |answers: &str, document: Option<&Path>| {
        let checked = run_with(&[at(answers)], document);
        (checked.records[0].1, checked.failures().len())
    };
    assert_eq!(lines("answer.json", None), (None, 0));
    assert_eq!(lines("answer.json", Some(&at("d.txt"))), (Some(3), 0));
    assert_eq!(lines("answer.json", Some(&at("d.jsonl"))), (Some(1), 0));
    assert_eq!(lines("answer.json", Some(&here("tests/fixtures/stores/tables/pandas3.parquet"))), (Some(4), 0));
    assert_eq!(lines("answer.json", Some(&here("tests/fixtures/stores/store/flats/lease"))), (Some(4), 0));
    assert_eq!(lines("own.jsonl", Some(&at("d.txt"))), (Some(2), 0), "its own document counts");
    assert_eq!(lines("answer.json", Some(&here("tests/fixtures/stores/tables/contents.parquet"))), (None, 1));
    assert!(expand(&[at("answer.json")]).with_document(&at("missing.txt")).is_err());
    let runs = run_with(&[here("tests/fixtures/runs.jsonl")], Some(&at("d.txt")));
    assert!(runs.records.iter().all(|(_, lines)| lines.is_none()), "runs cite nothing");
}

#[test]
fn a_record_names_documents_of_its_own_folder_or_of_opened_stores() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("in")).unwrap();
    std::fs::write(at("secret.txt"), "a\n").unwrap();
    std::fs::write(at("in/lines.md"), "a\nb\n").unwrap();
    let trace = |document: &str| format!("{{\"answer\": {ANSWER}, \"document\": {document}}}\n");
    let secret = at("secret.txt");
    let traces = [
        trace(r#"{"path": "lines.md"}"#),
        trace(r#"{"path": "../secret.txt"}"#),
        trace(&format!("{{\"path\": \"{}\"}}", secret.display())),
        trace(r#"{"doc_id": "flats/lease"}"#),
        trace(r#"{"doc_id": "../store/flats/lease"}"#),
        trace(r#"{"path": "missing.txt"}"#),
        trace(r#"{"path": "sub/../lines.md"}"#),
    ];
    std::fs::write(at("in/traces.jsonl"), traces.concat()).unwrap();
    let checked = run(at("in/traces.jsonl"));
    let lines = |checked: &Checked| checked.records.iter().map(|(_, lines)| *lines).collect::<Vec<_>>();
    assert_eq!(lines(&checked), [Some(2), None, None, None, None, None, None]);
    let failures = checked.failures();
    assert_eq!(
        failures.iter().filter(|why| why.contains("its path is absolute or has .. in it")).count(),
        3,
        "{failures:?}"
    );
    assert_eq!(failures.len(), 4, "each document is missed once");
    let both = run_with(&[at("in/traces.jsonl"), here("tests/fixtures/stores/store")], None);
    assert_eq!(lines(&both)[..6], [Some(2), None, None, Some(4), None, None]);
}

#[test]
fn the_sample_answers_find_their_document_on_disk_too() {
    let checked = run(here("sample_runs/policy.jsonl"));
    assert_eq!(checked.records.len(), 39);
    assert!(checked.records.iter().all(|(_, lines)| *lines == Some(169)));
    assert_eq!(checked.failures(), Vec::<String>::new());
}

// ---------------------------------------------------------------- the screen's way

struct Screen {
    store: Store,
    events: Receiver<LoadEvent>,
    _loader: stepscope_io::pipeline::load::Loader,
}

impl Screen {
    fn open(path: &Path) -> Self {
        let (sender, events) = channel();
        let (store, loading) =
            load(expand(&[path.to_owned()]), 2, std::sync::Arc::default(), move |event| sender.send(event).is_ok());
        Self { store, events, _loader: loading.go_on().unwrap() }
    }

    fn wait_for(&mut self, holds: impl Fn(&Store) -> bool) {
        let begun = Instant::now();
        while !holds(&self.store) {
            if let Ok(event) = self.events.recv_timeout(Duration::from_millis(50)) {
                self.store.apply(event);
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "waited in vain; {} records", self.store.len());
        }
    }

    fn ids(&self) -> Vec<String> {
        let mut tape = Tape::default();
        let id = |at| {
            let text = self.store.reading(at).unwrap().read().unwrap();
            String::from_utf8(tape.parse(&text).unwrap().get("id").unwrap().plain_string().unwrap().to_vec()).unwrap()
        };
        (0..self.store.len()).map(id).collect()
    }
}

#[test]
fn a_store_that_grows_is_followed_and_one_that_changes_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storage.sqlite");
    let writer = base(&path, TABLES);
    let add = |id: &str| writer.execute("INSERT INTO answers VALUES (?1, 'd', 'S', '{}', 'm', 1.0)", [id]).unwrap();
    add("a");
    let mut screen = Screen::open(dir.path());
    screen.wait_for(|store| store.len() == 1 && store.is_settled());
    assert_eq!(screen.ids(), ["d#a"]);
    add("b");
    screen.wait_for(|store| store.len() == 2);
    assert_eq!(
        (screen.ids(), screen.store.sources()[0].standing),
        (vec!["d#a".into(), "d#b".into()], SourceState::Sound)
    );
    writer.execute("UPDATE answers SET question_id = 'c' WHERE question_id = 'a'", []).unwrap();
    screen.wait_for(|store| store.sources()[0].standing == SourceState::Changed && store.len() == 2);
    assert_eq!(screen.ids(), ["d#c", "d#b"]);
    writer
        .execute_batch("PRAGMA journal_mode=WAL; INSERT INTO answers VALUES ('e', 'd', 'S', '{}', 'm', 1.0)")
        .unwrap();
    screen.wait_for(|store| store.len() == 3 && store.sources()[0].note.is_some());
    assert_eq!(screen.ids().last().unwrap(), "d#e");
}

#[test]
fn a_folder_that_gets_an_answer_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    copy(&here("tests/fixtures/stores/store"), dir.path());
    let mut screen = Screen::open(dir.path());
    screen.wait_for(|store| store.len() == 2 && store.is_settled());
    let questions = dir.path().join("flats/lease/questions");
    std::fs::create_dir(questions.join("new_11111111")).unwrap();
    std::fs::write(questions.join("new_11111111/answer.json"), ANSWER).unwrap();
    screen.wait_for(|store| store.len() == 3);
    std::fs::write(questions.join("new_11111111/answer.json"), "{}").unwrap();
    let is_empty = |text: &[u8]| text.windows(11).any(|part| part == b"\"answer\":{}");
    screen.wait_for(|store| {
        (0..store.len())
            .any(|at| store.reading(at).is_some_and(|reading| reading.read().is_ok_and(|text| is_empty(&text))))
    });
    assert_eq!(screen.store.failures.len(), 0, "{:?}", screen.store.failures);
}

/// Moves something out of a store and leaves a link to it in its place, or nothing.
fn moved_out(root: &Path, name: &str, link: bool) {
    let outside = root.parent().unwrap().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    let (from, to) = (root.join(name), outside.join(Path::new(name).file_name().unwrap()));
    std::fs::rename(&from, &to).unwrap();
    if link {
        std::os::unix::fs::symlink(&to, &from).unwrap();
    }
}

#[test]
fn a_link_in_a_store_gives_what_nothing_gives() {
    let policy = here("sample_runs/policy");
    let document = "travel/heron-lark";
    let questions = policy.join(document).join("questions");
    let in_question = ["answer.json", "meta.json", "parsed_question.json", "retrieved_pages.parquet"];
    let mut folders: Vec<_> = std::fs::read_dir(&questions).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let whole = folders.iter().find(|folder| in_question.iter().all(|name| folder.join(name).is_file())).unwrap();
    let question = format!("{document}/questions/{}", whole.file_name().unwrap().to_str().unwrap());
    let mut names: Vec<String> = in_question.iter().map(|name| format!("{question}/{name}")).collect();
    names.extend(["questions", "parsing", "parsing/line_df.parquet"].map(|name| format!("{document}/{name}")));
    names.extend([question, document.to_owned(), "travel".to_owned(), "storage.sqlite".to_owned()]);
    let as_it_is = |name: &str, link: Option<bool>| {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("store");
        copy(&policy, &root);
        // Only what belongs to the store.
        std::fs::remove_file(root.join("cases.json")).unwrap();
        if name == "storage.sqlite" {
            copy(&here("sample_runs/policy.sqlite"), &root.join(name));
            std::fs::remove_dir_all(root.join("travel")).unwrap();
        }
        if let Some(link) = link {
            moved_out(&root, name, link);
        }
        let checked = run(&root);
        (checked.comparable(), checked.failures(), checked.outcome.links)
    };
    for name in names {
        let (whole, linked, without) =
            (as_it_is(&name, None), as_it_is(&name, Some(true)), as_it_is(&name, Some(false)));
        assert_eq!(linked.0, without.0, "{name}: something behind the link was read");
        assert_ne!(linked.0, whole.0, "{name}: nothing of it is seen either way");
        let said = linked.1.iter().any(|failure| failure.contains("symbolic link"));
        assert!(said || linked.2 == 1, "{name}: nobody says so: {:?} {}", linked.1, linked.2);
    }
}

/// Formats an answer that cites a document by a path.
fn citing(path: &str) -> String {
    format!(
        "{{\"question\": \"q\", \"document\": {{\"path\": \"{path}\"}}, \"answer\": {{\"answer_found\": true, \"items\": \
        [{{\"value\": 1, \"line_start\": 0, \"line_end\": 0, \"quote\": \"a\"}}]}}}}\n"
    )
}

#[test]
fn a_record_names_no_document_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("home/keys")).unwrap();
    std::fs::create_dir_all(at("data/sub")).unwrap();
    for name in ["home/credentials", "home/keys/secret.txt", "data/own.txt", "data/sub/own.txt"] {
        std::fs::write(at(name), "a secret line\n").unwrap();
    }
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
    link(at("home/credentials").to_str().unwrap(), "data/doc.txt");
    link("../home/credentials", "data/relative.txt");
    link("../home", "data/home");
    link("../../home/keys", "data/sub/keys");
    link("own.txt", "data/inside.txt");
    link("sub", "data/twin");
    link("/proc/self/cwd", "data/cwd");
    rustix::fs::mknodat(rustix::fs::CWD, at("data/pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let absolute = at("home/credentials");
    let refused = [
        "doc.txt",
        "relative.txt",
        "home/credentials",
        "home/keys/secret.txt",
        "sub/keys/secret.txt",
        "inside.txt",
        "twin/own.txt",
        "cwd/Cargo.toml",
        "pipe",
        "sub",
        "../home/credentials",
        "sub/../../home/credentials",
        absolute.to_str().unwrap(),
    ];
    for (name, lines) in
        refused.map(|name| (name, None)).into_iter().chain([("own.txt", Some(1)), ("./sub/own.txt", Some(1))])
    {
        std::fs::write(at("data/a.jsonl"), citing(name)).unwrap();
        for input in ["data/a.jsonl", "data"] {
            let checked = run(at(input));
            let found: Vec<_> = checked.records.iter().map(|(_, lines)| *lines).collect();
            assert_eq!(found, [lines], "{name} in {input}");
        }
    }
    // What a person names may be a link.
    std::fs::write(at("data/a.jsonl"), citing("own.txt")).unwrap();
    link("../data/a.jsonl", "home/linked.jsonl");
    link("../data", "home/data");
    assert_eq!(run(at("home/data")).records[0].1, Some(1));
    assert_eq!(run(at("home/linked.jsonl")).records.len(), 1);
    std::fs::write(at("data/a.jsonl"), "{\"question\": \"q\", \"answer\": {\"answer_found\": true, \"items\": [{\"value\": 1, \"line_start\": 0, \"line_end\": 0, \"quote\": \"a\"}]}}\n").unwrap();
    assert_eq!(run_with(&[at("data/a.jsonl")], Some(&at("data/doc.txt"))).records[0].1, Some(1), "named by a person");
}

#[test]
fn links_in_a_folder_are_counted_and_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("data")).unwrap();
    std::fs::create_dir_all(at("home")).unwrap();
    for name in ["data/a.jsonl", "home/b.jsonl"] {
        std::fs::write(at(name), "{\"id\": 1}\n").unwrap();
    }
    std::os::unix::fs::symlink("../home/b.jsonl", at("data/b.jsonl")).unwrap();
    std::os::unix::fs::symlink("../home", at("data/more")).unwrap();
    let checked = run(at("data"));
    assert_eq!((checked.records.len(), checked.outcome.links, checked.failures()), (1, 2, vec![]));
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope"))
        .args(["check", "--allow-unknown"])
        .arg(at("data"))
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("2 links not followed"));
    let (events, heard) = channel();
    let (mut store, loading) = load(expand(&[at("data")]), 1, Arc::default(), move |event| events.send(event).is_ok());
    let _loader = loading.go_on().unwrap();
    while store.links < 2 {
        store.apply(heard.recv_timeout(Duration::from_secs(30)).unwrap());
    }
}

#[test]
fn a_folder_that_is_swapped_all_the_time_gives_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("data/sub")).unwrap();
    std::fs::create_dir_all(at("home")).unwrap();
    let record = |text: &str| format!("{{\"question\": \"{text}\", \"steps\": []}}\n");
    let answer = |path: &Path, text: &str| {
        base(path, TABLES).execute("INSERT INTO answers VALUES ('q', 'd', 's', '{}', ?1, 0)", [text]).unwrap();
    };
    for (folder, text) in [("data/sub", "inside"), ("home", "SECRET")] {
        std::fs::write(at(folder).join("a.jsonl"), record(text)).unwrap();
        answer(&at(folder).join("b.sqlite"), text);
    }
    std::os::unix::fs::symlink(at("home"), at("data/link")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicUsize::new(0));
    let swapper = std::thread::spawn({
        let (stop, swaps, data) = (stop.clone(), swaps.clone(), at("data"));
        move || {
            while !stop.load(Relaxed) {
                use rustix::fs::{CWD, RenameFlags, renameat_with};
                renameat_with(CWD, data.join("sub"), CWD, data.join("link"), RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Relaxed);
            }
        }
    });
    let (mut runs, mut inside, begun) = (0, 0, Instant::now());
    // It is swapped and read, and now and then read where it is itself.
    while runs < 50 || swaps.load(Relaxed) <= 100 || inside == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{runs}, {swaps:?}, {inside}");
        runs += 1;
        let checked = run(at("data"));
        let all: String = checked.records.iter().map(|(text, _)| text.as_str()).collect();
        assert!(!all.contains("SECRET"), "{all}");
        inside += usize::from(all.contains("inside"));
    }
    stop.store(true, Relaxed);
    swapper.join().unwrap();
}

#[test]
fn what_lies_beside_records_is_no_link() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("home")).unwrap();
    std::fs::create_dir(at("data")).unwrap();
    std::fs::write(at("data/a.jsonl"), "{\"id\": \"a\", \"question\": \"q\", \"state\": {}}\n").unwrap();
    let stepscope = |arguments: &[&str], input: &str| {
        let output = fed(Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).current_dir(at("data")), input);
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let verdict = "{\"id\": \"a\", \"note\": \"SECRET\"}\n";
    let add =
        |reviews: &[&str]| stepscope(&[&["review", "add", "a.jsonl", "--reviewer", "ada"], reviews].concat(), verdict);
    let (code, said) = add(&["--reviews", "../home/own.reviews.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    let before = std::fs::read(at("home/own.reviews.jsonl")).unwrap();
    std::fs::write(at("home/profile"), "").unwrap();
    for target in ["own.reviews.jsonl", "profile", "new"] {
        let _ = std::fs::remove_file(at("data/a.jsonl.reviews.jsonl"));
        std::os::unix::fs::symlink(at("home").join(target), at("data/a.jsonl.reviews.jsonl")).unwrap();
        let (code, said) = add(&[]);
        assert!(code == Some(2) && said.contains("symbolic link"), "{target}: {said}");
        let (_, said) = stepscope(&["review", "list", "a.jsonl"], "");
        assert!(!said.contains("SECRET"), "{target}: {said}");
    }
    assert_eq!(std::fs::read(at("home/own.reviews.jsonl")).unwrap(), before);
    // Named, the same link is followed: to be read, counted and written, and never into what is no journal.
    let _ = std::fs::remove_file(at("data/a.jsonl.reviews.jsonl"));
    std::os::unix::fs::symlink(at("home/own.reviews.jsonl"), at("data/a.jsonl.reviews.jsonl")).unwrap();
    let named = ["--reviews", "a.jsonl.reviews.jsonl"];
    let (code, said) = stepscope(&[&["review", "list", "a.jsonl"][..], &named].concat(), "");
    assert!(code == Some(0) && said.contains("SECRET"), "{said}");
    let (code, said) = stepscope(&[&["check", "a.jsonl", "--reviewed"][..], &named].concat(), "");
    assert!(code != Some(2) && said.contains("named by --reviews"), "{said}");
    let (code, said) = stepscope(&["review", "merge", "a.jsonl.reviews.jsonl"], "");
    assert!(code == Some(0) && said.contains("SECRET"), "{said}");
    let again = verdict.replace("\"correct\"", "\"incorrect\"");
    let (code, said) = stepscope(&[&["review", "add", "a.jsonl", "--reviewer", "bob"][..], &named].concat(), &again);
    assert_eq!(code, Some(0), "{said}");
    assert!(std::fs::read(at("home/own.reviews.jsonl")).unwrap().len() > before.len());
    assert!(at("data/a.jsonl.reviews.jsonl").is_symlink());
    std::fs::write(at("home/rc"), "export A=1\n").unwrap();
    std::os::unix::fs::symlink(at("home/rc"), at("data/b.reviews.jsonl")).unwrap();
    let (code, said) = add(&["--reviews", "b.reviews.jsonl"]);
    assert!(code == Some(2) && said.contains("does not hold reviews"), "{said}");
    assert_eq!(std::fs::read(at("home/rc")).unwrap(), b"export A=1\n");
    assert!(std::fs::read(at("home/profile")).unwrap().is_empty() && !at("home/new").exists());
}

/// Runs the program in a folder and returns the exit code and its messages.
fn said(at: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).current_dir(at).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn no_reference_leads_out_of_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("data")).unwrap();
    std::fs::write(at("secret.json"), r#"{"title": "SEKRET", "const": "SEKRET", "required": ["SEKRET"]}"#).unwrap();
    std::os::unix::fs::symlink("../secret.json", at("data/secret.json")).unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let far = format!("http://{}/s.json", server.local_addr().unwrap());
    let absolute = at("secret.json").to_str().unwrap().to_owned();
    let file = format!("file://{absolute}");
    for to in [&far, &file, &absolute, "../secret.json", "secret.json", "secret.json#/title", "//127.0.0.1/s.json"] {
        for word in ["$ref", "$dynamicRef", "$schema", "$id"] {
            let schema = format!(
                r#"{{"type": "object", "{word}": "{to}", "properties": {{"a": {{"$ref": "{to}"}}, "b": {{"{word}": "{to}"}}}}}}"#
            );
            let record = format!(
                r#"{{"id": "a", "question": "{{\"a\": 1}}", "answer": {ANSWER}, "schema": {schema}, "procedure": {{"steps": [{{"id": 1, "inputs": [], "stepDescription": "x", "output": [{{"name": "final_answer", "schema": {schema}}}]}}]}}, "trace": {{"steps": [{{"step_index": 0, "schema": {schema}, "raw": "{{\"a\": 1}}"}}]}}}}"#
            );
            let quoted = format!("{q}{schema}{q}", q = "'".repeat(3));
            let chain = format!("[[stage]]\nverifier = \"json_schema\"\nschema = {quoted}\nweight = 1.0\n");
            for (name, text) in
                [("s.json", &schema), ("types/vin.json", &schema), ("a.jsonl", &(record + "\n")), ("c.toml", &chain)]
            {
                std::fs::create_dir_all(at("data/types")).unwrap();
                std::fs::write(at("data").join(name), text).unwrap();
            }
            for arguments in [
                &["check", "a.jsonl"][..],
                &["check", "--schema", "s.json", "a.jsonl"],
                &["check", "--schemas", "types", "a.jsonl"],
                &["show", "a.jsonl", "--state"],
                &["verify", "--verifier", "json_schema", "--schema", "s.json", "--field", "question", "a.jsonl"],
                &["verify", "--chain", "c.toml", "--field", "question", "a.jsonl"],
                &["run", "a.jsonl", "--question", "q", "--answer-schema", "s.json", "--offline"],
            ] {
                let (code, said) = said(&at("data"), arguments);
                assert!(
                    code.is_some_and(|code| code <= 3) && !said.contains("SEKRET"),
                    "{word} {to} {arguments:?}: {said}"
                );
            }
        }
    }
    assert!(server.accept().is_err(), "something was fetched");
}

#[test]
fn what_lies_beside_a_database_is_no_link() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("data")).unwrap();
    let other = live(&at("other.sqlite"), 0);
    other.execute("INSERT INTO answers VALUES ('x', 'd', 's', '{}', 'SEKRET', 0)", []).unwrap();
    let logged = std::fs::read(at("other.sqlite-wal")).unwrap();
    assert!(logged.windows(6).any(|six| six == b"SEKRET"));
    // The same database, and beside it a link to what the other has not taken in yet.
    std::fs::copy(at("other.sqlite"), at("data/storage.sqlite")).unwrap();
    for (suffix, read) in [("-wal", false), ("-shm", true), ("-journal", true)] {
        let link = at(&format!("data/storage.sqlite{suffix}"));
        std::os::unix::fs::symlink(at("other.sqlite-wal"), &link).unwrap();
        for path in ["storage.sqlite", "."] {
            let (code, said) = said(&at("data"), &["check", "--format", "jsonl", path]);
            assert!(code.is_some() && !said.contains("SEKRET"), "{suffix} {path}: {said}");
            assert!(read || path == "." || said.contains("symbolic link"), "{suffix}: {said}");
        }
        std::fs::remove_file(link).unwrap();
    }
    assert_eq!(std::fs::read(at("other.sqlite-wal")).unwrap(), logged);
    assert_eq!(std::fs::read_dir(at("data")).unwrap().count(), 1);
}

#[test]
fn every_file_is_named_before_its_lines_are_sent() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    copy(&here("sample_runs/policy"), &at("store"));
    std::fs::create_dir(at("types")).unwrap();
    std::fs::write(at("types/text.json"), r#"{"type": "string", "minLength": 1}"#).unwrap();
    // Nobody listens there: what would be sent is named before.
    let asks = |arguments: &[&str]| {
        let server = ["--backend", "openai", "--url", "http://127.0.0.1:9", "--model", "m", "--retries", "0"];
        let (code, said) = said(dir.path(), &[arguments, &server].concat());
        assert_eq!(code, Some(3), "{said}");
        said.lines().find(|line| line.contains("sends lines of")).unwrap().to_owned()
    };
    let questions = "store/travel/heron-lark/questions";
    let mut folders: Vec<_> = std::fs::read_dir(at(questions)).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let question = format!("{questions}/{}/parsed_question.json", folders[0].file_name().unwrap().to_str().unwrap());
    let lines = "store/travel/heron-lark/parsing/line_df.parquet";
    let said = asks(&["rerun", "store", "--line", "1"]);
    assert!(said.contains(&question) && said.contains(lines) && !said.contains("storage.sqlite"), "{said}");
    copy(&here("sample_runs/policy.sqlite"), &at("store/storage.sqlite"));
    let said = asks(&["rerun", "store", "--line", "1"]);
    assert!([&*question, lines, "store/storage.sqlite"].iter().all(|file| said.contains(file)), "{said}");
    let said = asks(&["rerun", "store/storage.sqlite", "--line", "1"]);
    assert!(said.contains("sends lines of store/storage.sqlite to"), "{said}");
    let procedure = r#"{"steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "t"}], "stepDescription": "x", "output": [{"name": "final_answer", "description": "a"}]}]}"#;
    for (name, text) in [
        ("p.json", procedure),
        ("q.txt", "How many?"),
        ("s.json", r#"{"type": "object", "properties": {"final_answer": {"type": "string"}}}"#),
    ] {
        std::fs::write(at(name), text).unwrap();
    }
    let said = asks(&["run", "p.json", "--question-file", "q.txt", "--answer-schema", "s.json"]);
    assert!(said.contains("sends lines of p.json, q.txt, s.json to"), "{said}");
}

/// Opens a database with a log that holds its last changes, as of a program that is writing.
fn live(path: &Path, bytes: i64) -> Connection {
    let base = base(path, &format!("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; {TABLES}"));
    base.execute("INSERT INTO answers VALUES ('q', 'd', 's', '{}', 'inside', 0)", []).unwrap();
    base.execute("INSERT INTO llm_calls VALUES ('h', 'm', 's', zeroblob(?1), '', '', 0)", [bytes]).unwrap();
    base
}

fn check_in(temporary: &Path, database: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.arg("check").arg(database).env("TMPDIR", temporary);
    command
}

#[test]
fn a_small_archive_is_no_large_copy() {
    let dir = tempfile::tempdir().unwrap();
    let (temporary, path) = (dir.path().join("tmp"), dir.path().join("storage.sqlite"));
    std::fs::create_dir(&temporary).unwrap();
    drop(base(&path, TABLES));
    let page = |bytes: &mut [u8], pages: u32| bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    let head = std::fs::read(&path).unwrap();
    let sizes = |pages: Option<u32>| {
        let mut bytes = head.clone();
        if let Some(pages) = pages {
            page(&mut bytes, pages);
        }
        std::fs::write(&path, bytes).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(6 << 30).unwrap();
    };
    std::fs::write(dir.path().join("storage.sqlite-wal"), "fake").unwrap();
    // Its head says what it is: only that counts.
    sizes(None);
    let output = check_in(&temporary, &path).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("snapshot of") && !said.contains("refused"), "{said}");
    // Its head says that all of it counts.
    sizes(Some(6 << 18));
    let output = check_in(&temporary, &path).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("snapshot refused"), "{said}");
    assert!(said.contains("larger than 2 GB"), "{said}");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_killed_check_leaves_no_copy() {
    let dir = tempfile::tempdir().unwrap();
    let (temporary, path) = (dir.path().join("tmp"), dir.path().join("storage.sqlite"));
    std::fs::create_dir(&temporary).unwrap();
    for bytes in [1 << 10, 48 << 20] {
        let _ = std::fs::remove_file(&path);
        let writer = live(&path, bytes);
        let output = check_in(&temporary, &path).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains("snapshot of"), "{said}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
        for _ in 0..8 {
            let mut child = check_in(&temporary, &path)
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let descriptors = PathBuf::from(format!("/proc/{}/fd", child.id()));
            let is_copy = |entry: std::io::Result<std::fs::DirEntry>| {
                let to = std::fs::read_link(entry.ok()?.path()).ok()?;
                let to = to.to_str()?;
                (to.contains("(deleted)") || to.starts_with(temporary.to_str()?)).then_some(())
            };
            // Killed as soon as there is a copy, or a part of one.
            while child.try_wait().unwrap().is_none()
                && !std::fs::read_dir(&descriptors).into_iter().flatten().any(|entry| is_copy(entry).is_some())
            {
                std::thread::yield_now();
            }
            let _ = child.kill();
            child.wait().unwrap();
            assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{bytes}");
        }
        drop(writer);
    }
}
