//! Mutated input for every reader: whatever is in it, nothing panics, nothing takes long, what is said is in order and the
//! same the next time, and no record changes what is said of its neighbours.
//!
//! The number of cases is fixed, so that every run with a seed is the same run. By hand it goes on as long as asked:
//! `STEPSCOPE_FUZZ_SECONDS=600 STEPSCOPE_FUZZ_SEED=7 cargo test --test it fuzz::`, or one reader with
//! `STEPSCOPE_FUZZ_READER=page`. What fails is written below `target/tmp/fuzz`; once it is mended it is kept in `tests/fixtures/fuzz/READER/`, and replayed.

mod folder;
mod newest;
use crate::support::markup;
use crate::support::nasty;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use stepscope_record::types::TypeRegistry;

use crate::support::checked::{checked, state};
use folder::{Entry, What, file, make, mutate_folder, packed, taken, unpacked};
use stepscope::app::open_record::OpenRecord;
use stepscope::widgets::theme::Theme;
use stepscope_base::schema::Schema;
use stepscope_base::text::{Shown, is_hidden};
use stepscope_compare::difference::RecordDifference;
use stepscope_execution::repair::{fix_all, fixes};
use stepscope_io::config::Config;
use stepscope_io::config::verifiers::{VerifierChoice, build};
use stepscope_io::log::journal::read_all;
use stepscope_io::model::cassette::{self, Speed, Tape};
use stepscope_io::model::endpoint::Backend;
use stepscope_io::model::frames::Framer;
use stepscope_io::model::key::ApiKey;
use stepscope_io::model::redact::Redactor;
use stepscope_io::model::reply::{KeptNames, ReplyReader};
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_io::source::beneath::Place;
use stepscope_io::source::input::expand;
use stepscope_judge::case::Case;
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_judge::row::RowFacts;
use stepscope_judge::rules::{RULES, example};
use stepscope_record::cost::RunCost;
use stepscope_redact::{Redaction, without_passages};
use stepscope_review::import;
use stepscope_table::filter::{Filter, text_patterns};
use stepscope_table::seen::place_in;
use stepscope_terminal::colour::Depth;

/// Number of cases of each reader, unless more are asked for.
const CASES: usize = 1_500;
/// Number of cases that the built program gets.
const SAMPLE: usize = 60;
/// Time limit of a case: far more than it may take, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time limit of the built program: seconds of work.
const CPU_SECONDS: u64 = 20;
/// Memory limit of the built program, in kilobytes: the promised amount, and the stacks of its threads.
const MEMORY_KB: usize = (256 + 64) << 10;
/// Content of files outside of every folder that is read, which may appear nowhere.
const SECRET: &str = "SEKRET-0123456789";

/// Numbers that look like chance (splitmix64), the same for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { usize::try_from(self.next() % count as u64).unwrap() }
    }

    fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }
}

/// Values that have hurt readers before.
const VALUES: [&str; 34] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1e999",
    "NaN",
    "-Infinity",
    "18446744073709551616",
    "9007199254740993",
    "0.1000000000000000055",
    "1e-400",
    "\"\"",
    "\" \"",
    "\"\\ud800\"",
    "\"\\u0000\\u001b[31m\\u202e\"",
    "\"1,080\"",
    "\"####\"",
    "\"so #### 1/0\"",
    "\"2 * (3\"",
    "\"2 ** 9999999\"",
    "[]",
    "{}",
    "[[[[[[[[]]]]]]]]",
    "[null]",
    "{\"\": {}}",
    "{\"name\": \"final_answer\"}",
    "\"final_answer\"",
    "\"problem_text\"",
    "{\"$ref\": \"#\"}",
    "\"../../etc/passwd\"",
    "\"http://127.0.0.1:9/\"",
    "\"漢字e\u{301}\u{200d}👩\"",
];

/// Bytes that have hurt readers before.
const BYTES: [&[u8]; 14] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\r",
    b"\n",
    b"\x1b[2J",
    b"\"",
    b"\\",
    b"{",
    b"]",
    b"//",
    b"\xef\xbb\xbf",
    b",",
];

/// Finds the values of a text that looks like JSON, as ranges of bytes, without understanding it.
fn values(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut out, mut open, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let mut end = at + 1;
                while let Some(byte) = text.get(end).filter(|byte| **byte != b'"') {
                    end += if *byte == b'\\' { 2 } else { 1 };
                }
                end = (end + 1).min(text.len());
                out.push(at..end);
                at = end;
                continue;
            }
            b'{' | b'[' => open.push(at),
            b'}' | b']' => out.extend(open.pop().map(|from| from..at + 1)),
            b'0'..=b'9' | b'-' | b't' | b'f' | b'n' => {
                let rest = text[at..].iter();
                let len = rest.take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count().max(1);
                out.push(at..at + len);
                at += len;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// Returns a text with one to four changes, most of them in its structure.
fn mutate(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..=dice.below(4) {
        let places = values(&text);
        let place = if places.is_empty() { 0..text.len() } else { dice.one(&places).clone() };
        let (at, len) = (dice.below(text.len() + 1), text.len());
        match dice.below(12) {
            0..=3 => drop(text.splice(place, dice.one(&VALUES).bytes())),
            4 if !places.is_empty() => {
                let other = text[dice.one(&places).clone()].to_vec();
                text.splice(place, other);
            }
            5 => drop(text.splice(place, [])),
            6 => {
                let twice = [&text[place.clone()], b", ", &text[place.clone()]].concat();
                text.splice(place, twice);
            }
            7 => {
                let deep = 1 + dice.below(140);
                let wrapped = [&b"[".repeat(deep)[..], &text[place.clone()], &b"]".repeat(deep)].concat();
                text.splice(place, wrapped);
            }
            8 => text.truncate(at),
            9 => drop(text.splice(at..at, dice.one(&BYTES).iter().copied())),
            10 => drop(text.splice(at..(at + dice.below(40)).min(len), [])),
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    text
}

/// Parts of texts that readers of calculations, dates, quotes and replies look for, as they stand in a JSON string.
const WORDS: [&str; 78] = [
    r"\\frac{3}{4}",
    r"\\frac12",
    r"\\frac1",
    r"\\frac{1}2 {",
    r"\\text{kg}^2",
    r"\\left(",
    r"\\(",
    r"\\\\",
    r"\\boxed{",
    r"\\sqrt[3]{8}",
    r"\\over",
    "^{2}",
    "}",
    "{,}",
    "$$",
    "×",
    "−",
    "÷",
    "√",
    "≈ 3",
    " x ",
    "½",
    "²",
    "é",
    "漢",
    "e\u{301}",
    "👩",
    r"\n",
    r"\r\n",
    r"\t",
    "\u{a0}",
    "\u{202f}000",
    "\u{200b}",
    "soft\u{ad}hyphen",
    r"inter-\nrupted",
    "İ",
    "ß",
    "ﬁ",
    "①",
    r"\ud800",
    "[12]",
    "【3†source】",
    "<sup>12</sup>",
    "(Smith, 2020)",
    "&amp;#8364;",
    "1,20,000",
    "1.080,50",
    "3.5 %",
    "-5e-3",
    "5 1/2",
    "12 x 8 x 5",
    "5:30 pm",
    "EUR 85.000",
    "$1.1 mln",
    "km²",
    "#### 9",
    "<<2*3=6>>",
    " = ",
    "7 + 5 = ",
    "(a) ",
    "1. ",
    "; ",
    ", and ",
    " minus ",
    "half of ",
    "twice as many as ",
    "the sum of ",
    "multiply ",
    "divided by ",
    "total_cost",
    "3 March 2024",
    "2024-02-30",
    "at least ",
    "not ",
    "<think>",
    "</think>",
    r"```json\n{",
    r#"{\"a\": "#,
];

/// Returns a record with one to six changes inside of its strings.
fn reword(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..=dice.below(6) {
        let strings: Vec<_> = values(&text).into_iter().filter(|at| text[at.start] == b'"' && at.len() > 2).collect();
        if strings.is_empty() {
            return text;
        }
        let place = dice.one(&strings).clone();
        let (start, end) = (place.start + 1, place.end - 1);
        // Between two characters, mostly.
        let at = start + dice.below(end - start + 1);
        let is_between = |at: usize| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let at = if dice.below(8) > 0 { (at..=end).find(|at| is_between(*at)).unwrap_or(end) } else { at };
        match dice.below(10) {
            0..=4 => drop(text.splice(at..at, dice.one(&WORDS).bytes())),
            5 => drop(text.splice(at..end, [])),
            6 => drop(text.splice(start..at, [])),
            7 => {
                let twice = text[start..at].to_vec();
                text.splice(at..at, twice);
            }
            8 => {
                let other = dice.one(&strings).clone();
                let other = text[other.start + 1..other.end - 1].to_vec();
                text.splice(start..end, other);
            }
            _ => drop(text.splice(at..(at + dice.below(12)).min(end), dice.one(&WORDS).bytes())),
        }
    }
    text
}

/// Changes a few bytes of a file that is no text.
fn flip(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len());
        match dice.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, [0xff; 4])),
            2 => {
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill(*dice.one(&[0, 0x7f, 0xff]));
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    bytes
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn lines_of(name: &str) -> Vec<Vec<u8>> {
    fs::read(fixture(name))
        .unwrap()
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
        .map(<[u8]>::to_vec)
        .collect()
}

/// Returns the findings of the records of a file, one entry each, in order.
fn said(path: &Path, threads: usize) -> Result<Vec<String>, String> {
    said_of(&[path.to_owned()], threads)
}

fn said_of(paths: &[PathBuf], threads: usize) -> Result<Vec<String>, String> {
    let (all, outcome) = checked(expand(paths), threads, |case, out| {
        let mut line = String::new();
        for finding in case.findings() {
            let _ = write!(line, "{} {:?} {} | ", finding.rule, finding.severity, finding.message.line());
        }
        out.extend_from_slice(line.replace('\n', "⏎").as_bytes());
        out.push(b'\n');
    });
    let all = String::from_utf8(all).unwrap();
    if outcome.counts.faults > 0 {
        return Err("a rule or reader panicked".to_owned());
    }
    if let Some(leak) = all.chars().find(|c| *c != '\n' && is_hidden(*c)) {
        return Err(format!("{leak:?} is said as it is"));
    }
    Ok(all.lines().map(str::to_owned).collect())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, one: &T, other: &T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what}:\n{one:?}\n{other:?}")) }
}

/// Returns the texts of all records of a folder, and what could not be read of it.
fn texts(path: &Path, threads: usize) -> Result<String, String> {
    let (all, outcome) = checked(expand(&[path.to_owned()]), threads, |case, out| {
        let lines = case.document().map(|document| document.len());
        out.extend_from_slice(format!("{lines:?} ").as_bytes());
        out.extend_from_slice(case.text());
        out.push(b'\n');
    });
    let mut all = String::from_utf8_lossy(&all).into_owned();
    for failure in outcome.failures.iter().chain(&outcome.missing) {
        let sentence = failure.to_string();
        if let Some(leak) = sentence.chars().find(|c| is_hidden(*c)) {
            return Err(format!("{leak:?} is said as it is"));
        }
        all += &sentence;
    }
    Ok(all)
}

/// Reader under test: where its cases come from, how they are changed, and what must hold of each.
struct Fuzzed {
    name: &'static str,
    /// Time that its cases take, as a multiple of that of others.
    weight: usize,
    seeds: fn() -> Vec<Vec<u8>>,
    mutate: fn(&[u8], &mut Dice) -> Vec<u8>,
    judge: fn(&[u8], &Path) -> Result<(), String>,
}

fn records() -> Vec<Vec<u8>> {
    let mut all = lines_of("runs.jsonl");
    all.extend(lines_of("answers.jsonl").into_iter().filter(|line| line.len() < 20_000));
    all.extend(lines_of("answers/store-demo-policy.jsonl").into_iter().take(4));
    all.extend(nasty::tangled().lines().map(|line| line.as_bytes().to_vec()));
    all.extend(nasty::poisoned().lines().map(|line| line.as_bytes().to_vec()));
    all
}

/// Makes records whose texts say something: the examples of all rules, runs, answers and chains of thought.
fn told() -> Vec<Vec<u8>> {
    let mut all = records();
    all.extend(newest::thoughts());
    all.extend(newest::flats());
    all.extend(["real/runs.jsonl", "compare/runs.jsonl"].into_iter().flat_map(lines_of));
    all.extend(RULES.iter().flat_map(|rule| [rule.bad, rule.good]).map(|text| example(text).into_owned()));
    all
}

/// Asks a record everything that it can be asked, each under no guard: nothing that was taken to be impossible happens.
fn judge_told(case: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("case.jsonl");
    fs::write(&path, case).unwrap();
    said(&path, 1)?;
    let row = RowFacts::unchecked(0, case.len() as u64);
    let opened = OpenRecord::new(0, 1, &row, case.to_vec(), Surroundings::default());
    for step in 0..opened.steps.len().min(8) {
        let _ = opened.detail(step);
    }
    let own = Case::read(case);
    let view = own.view();
    let (triage, routed) = (view.triage(), view.routed());
    let _ = (view.cause(view.findings(), triage), routed.map(|routed| routed.route), view.executed());
    let _ = Hide::of(Hidden::ALL.iter().copied()).mask(case);
    let _ = (Redaction::all().record(case), without_passages(case));
    let other = Case::read(lines_of("runs.jsonl").swap_remove(0));
    let _ = RecordDifference::of(&view, &other.view());
    let _ = RunCost::of(view.state());
    if let Some(procedure) = view.procedure() {
        let _ = (fixes(procedure.value.raw()), fix_all(procedure.value.raw()));
    }
    Ok(())
}

/// Checks, opens and searches a record; the result is the same again, on any number of threads, and among others.
fn judge_record(case: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("case.jsonl");
    let write = |text: &[u8]| fs::write(&path, text).unwrap();
    write(case);
    let alone = said(&path, 1)?;
    same("two readings differ", &alone, &said(&path, 2)?)?;
    let row = RowFacts::unchecked(0, case.len() as u64);
    let opened = OpenRecord::new(0, 1, &row, case.to_vec(), Surroundings::default());
    for step in 0..opened.steps.len().min(8) {
        let _ = opened.detail(step);
    }
    for variable in 0..opened.variables.len().min(8) {
        let _ = opened.influence(variable);
    }
    let [pattern, _] = text_patterns("final")?;
    let _ = place_in(case, &|bytes| pattern.is_match(bytes));
    // As one line among others it is the same record, and so are they.
    let line: Vec<u8> = case.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r' | b'\0' | 0x1e)).collect();
    if line.trim_ascii().is_empty() || line.starts_with(b"\xef\xbb\xbf") {
        return Ok(());
    }
    let fixed = lines_of("runs.jsonl");
    let (first, last) = (&fixed[0], &fixed[1]);
    write(&[first, &b"\n"[..], last, b"\n"].concat());
    let without = said(&path, 1)?;
    write(&[first, &b"\n"[..], &line, b"\n", last, b"\n"].concat());
    let with = said(&path, 1)?;
    same("what comes first changes", &without.first(), &with.first())?;
    same("what comes last changes", &without.last(), &with.last())?;
    // In files of their own they say what they say one behind the other.
    let (one, other) = (folder.join("one.jsonl"), folder.join("other.jsonl"));
    fs::write(&one, [&line, &b"\n"[..], last, b"\n"].concat()).unwrap();
    fs::write(&other, [first, &b"\n"[..], &line, b"\n"].concat()).unwrap();
    let apart = [said(&one, 1)?, said(&other, 1)?].concat();
    same("files together differ from files alone", &apart, &said_of(&[one, other], 2)?)
}

/// Makes stores: folders, a database, both, and one that is being written.
fn stores() -> Vec<Vec<u8>> {
    let folder = taken(&fixture("stores/store"));
    let dir = tempfile::tempdir().unwrap();
    let written = |name: &str, live: bool| {
        let path = dir.path().join(name);
        let database = rusqlite::Connection::open(&path).unwrap();
        if live {
            database.execute_batch("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;").unwrap();
        }
        database.execute_batch(STORE).unwrap();
        // While it is open what was written last stands in its log.
        let log = fs::read(dir.path().join(format!("{name}-wal")));
        let mut files = vec![file("storage.sqlite", fs::read(&path).unwrap())];
        files.extend(log.ok().map(|log| file("storage.sqlite-wal", log)));
        files
    };
    let (plain, live) = (written("plain", false), written("live", true));
    assert_eq!((plain.len(), live.len()), (1, 2));
    let question = |name: &str, text: &str| file(&format!("d/questions/q_11111111/{name}"), text);
    let answers = vec![
        question("parsed_question.json", r#"{"question_text_original": "How much?", "answer_type": "amount"}"#),
        question(
            "answer.json",
            r#"{"extraction_method": "verbatim", "confidence": 0.5, "answer_found": true, "items": [{"amount": {"value": 2, "currency": "USD"}, "spans": [{"line_start": 0, "line_end": 1, "quote": "two"}]}]}"#,
        ),
        question("meta.json", r#"{"model": "m", "schema_used": "AmountAnswer", "pages": [1]}"#),
    ];
    let traces = file(
        "a.jsonl",
        r#"{"question": "q", "document": {"path": "d/notes.txt"}, "answer": {"answer_found": true, "items": [{"value": 1, "line_start": 0, "line_end": 0, "quote": "a"}]}}"#,
    );
    let notes = file("d/notes.txt", "a\nb\n");
    [
        folder.clone(),
        plain.clone(),
        [plain, folder.clone()].concat(),
        [live, answers.clone()].concat(),
        [folder, answers, vec![traces, notes]].concat(),
    ]
    .iter()
    .map(|entries| packed(entries))
    .collect()
}

const STORE: &str = "
    CREATE TABLE questions (question_id TEXT PRIMARY KEY, question_text TEXT, created_at REAL);
    CREATE TABLE parsed_questions (question_id TEXT, doc_id TEXT, schema_name TEXT, parsed_json TEXT);
    CREATE TABLE retrieved_pages (question_id TEXT, doc_id TEXT, page_num INTEGER, rank INTEGER, text TEXT);
    CREATE TABLE answers (question_id TEXT, doc_id TEXT, schema_name TEXT, answer_json TEXT, model_used TEXT,
        created_at REAL, PRIMARY KEY (question_id, doc_id));
    CREATE TABLE lines (doc_id TEXT, page_num INTEGER, line_num INTEGER, text TEXT);
    CREATE TABLE documents (doc_id TEXT PRIMARY KEY);
    CREATE TABLE llm_calls (call_hash TEXT PRIMARY KEY, model TEXT, schema_name TEXT, input TEXT, output_json TEXT,
        label TEXT, created_at REAL);
    INSERT INTO questions VALUES ('q', 'How much?', 1);
    INSERT INTO answers VALUES ('q', 'd', 'AmountAnswer', '{\"answer_found\": true, \"items\": []}', 'm', 0);
    INSERT INTO lines VALUES ('d', 1, 1, 'It is two.'), ('d', 1, 2, 'Or three.');
    INSERT INTO retrieved_pages VALUES ('q', 'd', 1, 1, 'It is two.');
    INSERT INTO llm_calls VALUES ('h', 'm', 's', 'What?', '{}', 'l', 1.5);";

/// Writes what was not named into a folder next to that of a case, under every name that links lead to.
fn secrets(folder: &Path) {
    let at = folder.join("outside");
    if at.exists() {
        return;
    }
    let answer = format!(r#"{{"question": "{SECRET}", "answer_found": true, "items": [{{"text": "{SECRET}"}}]}}"#);
    let line = format!("{{\"id\": \"{SECRET}\", \"question\": \"{SECRET}\", \"state\": {{}}}}\n");
    let path = |name: &str| format!("questions/q_22222222/{name}");
    make(
        &[
            file("answer.json", answer.clone()),
            file("a.jsonl", line),
            file("notes.txt", format!("{SECRET}\n")),
            file(&path("answer.json"), answer),
            file(&path("parsed_question.json"), format!("{{\"question_text_original\": \"{SECRET}\"}}")),
        ],
        &at,
    );
    let database = rusqlite::Connection::open(at.join("storage.sqlite")).unwrap();
    database.execute_batch(&STORE.replace("How much?", SECRET).replace("It is two.", SECRET)).unwrap();
}

/// Checks a store and each part of it twice: the results are the same, nothing from outside is in them, and nothing is
/// written.
fn judge_store(case: &[u8], folder: &Path) -> Result<(), String> {
    secrets(folder);
    let at = folder.join("store");
    make(&unpacked(case), &at);
    let before = state(&at);
    same("two readings differ", &said(&at, 1)?, &said(&at, 2)?)?;
    let all = texts(&at, 1)?;
    same("two readings of the texts differ", &all, &texts(&at, 2)?)?;
    let mut parts = vec![at.join("storage.sqlite"), at.join("d"), at.join("flats/lease"), at.join("d/questions")];
    // What a person names may be a link.
    parts.retain(|part| !part.ancestors().take_while(|above| *above != at).any(Path::is_symlink));
    let parts = parts.iter().filter(|part| part.exists()).map(|part| texts(part, 1)).collect::<Result<Vec<_>, _>>()?;
    if parts.iter().chain([&all]).any(|text| text.contains(SECRET)) {
        return Err("what lies outside was read".to_owned());
    }
    same("something was written", &before, &state(&at))
}

/// Makes lists of records, and records over several lines.
fn lists() -> Vec<Vec<u8>> {
    let records = lines_of("runs.jsonl");
    let list = |records: &[Vec<u8>]| [&b"[\n"[..], &records.join(&b",\n"[..]), b"\n]\n"].concat();
    let pretty = String::from_utf8(records[0].clone()).unwrap().replace("{\"", "{\n  \"").replace(", \"", ",\n  \"");
    vec![list(&records[..3]), list(&records[3..5]), pretty.into_bytes(), records[..4].join(&b"\n"[..])]
}

fn judge_file(case: &[u8], folder: &Path, name: &str) -> Result<(), String> {
    let path = folder.join(name);
    fs::write(&path, case).unwrap();
    let before = fs::read(&path).unwrap();
    same("two readings differ", &said(&path, 1)?, &said(&path, 2)?)?;
    same("the file was written", &before, &fs::read(&path).unwrap())
}

/// Makes rows of other programs, text tables and packed files.
fn rows_of_others() -> Vec<Vec<u8>> {
    const ROWS: [&str; 5] = [
        r#"{"testIdx": 0, "promptIdx": 1, "provider": {"label": "s"}, "prompt": {"raw": "?"}, "score": 0.5, "success": false, "error": "x", "response": {"output": {"a": 1}}}"#,
        r#"{"doc_id": 0, "doc": {"question": "?"}, "target": "1", "arguments": {}, "resps": [[["-2.5", "F"]], [["-0.5", "F"]]], "filtered_resps": [["-2.5", "F"], ["-0.5", "F"]], "filter": "none", "doc_hash": "c", "acc": 0}"#,
        r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "?"}]}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "add", "arguments": "{\"a\": 2}"}}]}]}"#,
        r#"{"input": "?", "output": "9", "gts": "200", "score": 0.0, "step": 5}"#,
        r#"{"id": "x", "conversations": [{"from": "human", "value": "?"}, {"from": "gpt", "value": "4"}]}"#,
    ];
    let mut all: Vec<Vec<u8>> = ROWS.iter().map(|row| format!("{row}\n{row}\n").into_bytes()).collect();
    all.push(format!("{{\"results\": {{\"results\": [{}]}}}}", ROWS[0]).into_bytes());
    all.push(b"prompt,response\n2 + 3?,5\n\"a, b\nc\",x\n".to_vec());
    all.push(b"input;output;gts;score\n?;#### 9;200;0.0\n".to_vec());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &all[0]).unwrap();
    all.push(gzip.finish().unwrap());
    all
}

/// Makes traces, batches and logs of Burr, also several in one file.
fn gathered() -> Vec<Vec<u8>> {
    let read = |name: &&str| fs::read(fixture("gathered").join(name)).unwrap();
    let mut all: Vec<Vec<u8>> = [
        "openinference.jsonl",
        "langsmith.jsonl",
        "langfuse.json",
        "adk.json",
        "autogen.json",
        "claude.jsonl",
        "codex.jsonl",
        "genai.jsonl",
        "genai_old.jsonl",
        "console.json",
        "mlflow.jsonl",
    ]
    .iter()
    .chain(&["logged.jsonl", "batch/orders_output.jsonl", "batch/notes_results.jsonl", "burr/log.jsonl", "turns.json"])
    .map(read)
    .collect();
    let together = |names: &[&str]| names.iter().map(read).collect::<Vec<_>>().concat();
    all.push(together(&["logged.logs.jsonl", "logged.jsonl", "mlflow.jsonl"]));
    all.push(together(&["batch/orders_input.jsonl", "batch/orders_output.jsonl", "batch/notes_requests.jsonl"]));
    all
}

/// Reads a case next to files that it may be joined with.
fn judge_gathered(case: &[u8], folder: &Path) -> Result<(), String> {
    let folder = folder.join("gathered");
    fs::create_dir_all(&folder).unwrap();
    for name in ["logged.logs.jsonl", "batch/orders_input.jsonl", "burr/graph.json"] {
        let to = folder.join(Path::new(name).file_name().unwrap());
        if !to.exists() {
            fs::copy(fixture("gathered").join(name), to).unwrap();
        }
    }
    judge_file(case, &folder, "log.jsonl")
}

fn tables() -> Vec<Vec<u8>> {
    let folder = fs::read_dir(fixture("stores/tables")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

fn databases() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("create table runs (id text, record text); create table other (a, b);").unwrap();
    for (n, line) in lines_of("runs.jsonl").into_iter().enumerate() {
        let line = String::from_utf8_lossy(&line).into_owned();
        database.execute("insert into runs values (?1, ?2)", (n.to_string(), line)).unwrap();
    }
    drop(database);
    vec![fs::read(path).unwrap()]
}

fn journals() -> Vec<Vec<u8>> {
    let verdict = |n: usize, kind: &str| {
        format!(
            r#"{{"v":1,"event_id":"e{n}","kind":"{kind}","item":{{"dataset":"a.jsonl","id":"{n}"}},"seen":{{"content_sha256":"{}"}},"reviewer":{{"id":"me","kind":"person"}},"verdict":"fail","labels":[{{"set":"s","id":"l","version":1}}],"label_set":{{"id":"s","version":1,"labels":[{{"id":"l","name":"L"}}]}},"supersedes":"e1","ts":"2024-01-01T00:00:00Z"}}"#,
            "ab".repeat(32)
        )
    };
    ["verdict", "undo", "note", "label_set", "adjudicate", "reveal"]
        .iter()
        .map(|kind| [verdict(1, kind), verdict(2, "verdict")].join("\n").into_bytes())
        .collect()
}

fn judge_journal(case: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("a.jsonl.reviews.jsonl");
    fs::write(&path, case).unwrap();
    let read = || {
        let contents = read_all(&[Place::from(&path)]);
        contents
            .map(|contents| format!("{:?}", contents.reviews.events().collect::<Vec<_>>()))
            .map_err(|failure| format!("{failure}"))
    };
    same("two readings differ", &read(), &read())
}

fn themes() -> Vec<Vec<u8>> {
    ["dark", "light", "mono"]
        .map(|name| fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("themes/{name}.toml"))).unwrap())
        .to_vec()
}

fn judge_theme(case: &[u8], _: &Path) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(case) else { return Ok(()) };
    let read = || Theme::parse("case", text, Depth::True).map(|_| ()).map_err(|error| (error.line, error.message));
    same("two readings differ", &read(), &read())
}

fn configs() -> Vec<Vec<u8>> {
    vec![
        b"theme = \"dark\"\nmouse = false\n[keys]\n\"step.next\" = [\"]\", \"Right\"]\nquit = \"Q\"\nnone = []\n".to_vec(),
        b"profile = \"p\"\n[profiles.p]\nbackend = \"openai\"\nurl = \"http://127.0.0.1:8080\"\nmodel = \"n\"\nkey_env = \"KEY\"\ntimeout = 9.5\n"
            .to_vec(),
    ]
}

fn judge_config(case: &[u8], _: &Path) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(case) else { return Ok(()) };
    let sentence = Config::parse(text, Shown::own("config.toml")).err().map(|failure| format!("{failure}"));
    let leak = sentence.as_ref().and_then(|said| said.chars().find(|c| *c != '\n' && is_hidden(*c)));
    leak.map_or(Ok(()), |leak| Err(format!("{leak:?} is said as it is")))
}

fn chains() -> Vec<Vec<u8>> {
    vec![
        b"[[stage]]\nverifier = \"json_schema\"\nschema = { type = \"object\" }\nweight = 0.5\n[[stage]]\nverifier = \"regex_format\"\npattern = \"a+\"\nweight = 0.5\n".to_vec(),
        b"[[stage]]\nverifier = \"bleu\"\nreferences = \"the cat\"\nthreshold = 0.5\n".to_vec(),
    ]
}

fn judge_chain(case: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("chain.toml");
    fs::write(&path, case).unwrap();
    let say = || build(&VerifierChoice::Chain(path.clone())).map(|_| ()).map_err(|failure| format!("{failure}"));
    same("two readings differ", &say(), &say())
}

fn schemas() -> Vec<Vec<u8>> {
    let text = fs::read(fixture("parity/schemas.json")).unwrap();
    let all: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&text).unwrap();
    all.values().map(|schema| schema.as_str().unwrap().as_bytes().to_vec()).collect()
}

fn judge_schema(case: &[u8], _: &Path) -> Result<(), String> {
    let say = || Schema::compile(case).map(|_| ()).map_err(|failure| format!("{failure}"));
    same("two readings differ", &say(), &say())
}

fn streams() -> Vec<Vec<u8>> {
    let deltas = ["He", "llo", "\\ud83d", "\\ude00"]
        .map(|text| format!(r#"{{"choices": [{{"delta": {{"content": "{text}"}}}}]}}"#));
    let events = deltas.iter().fold(String::new(), |all, delta| all + "data: " + delta + "\n\n") + "data: [DONE]\n\n";
    let lines =
        (0..3).fold(String::new(), |all, n| all + &format!("{{\"response\": \"part {n}\", \"done\": {}}}\n", n == 2));
    let whole =
        r#"{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}"#;
    vec![
        events.into_bytes(),
        lines.into_bytes(),
        whole.as_bytes().to_vec(),
        whole.replace("hi", KEY).into_bytes(),
        KEY.bytes().fold(String::new(), |all, byte| all + &format!("data: {{\"choices\": [{{\"delta\": {{\"content\": \"\\u{byte:04X}\"}}}}]}}\n\n")).into_bytes(),
        format!("data: {{\"type\": \"response.output_text.delta\", \"delta\": \"{}\"}}\n\n", KEY.replace('/', "\\/")).into_bytes(),
        b"event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"delta\": {\"type\": \"text_delta\", \"text\": \"Hi\"}}\n\n".to_vec(),
        b"event: error\ndata: {\"error\": {\"message\": \"no\"}}\n\n".to_vec(),
    ]
}

/// Key that some streams send back.
const KEY: &str = "sk-Fuzzed/0123_456789";

/// Checks that a stream gives the same pieces wherever it is split on its way, and no key with them.
fn judge_stream(case: &[u8], _: &Path) -> Result<(), String> {
    let redactor = Redactor::new(ApiKey::new(KEY).as_ref());
    let clean = redactor.whole(case);
    if redactor.finds(&clean) {
        return Err("the key is still there".to_owned());
    }
    for size in [1, 2, 3, 7] {
        let mut pieces = redactor.clone();
        let mut out: Vec<u8> = case.chunks(size).flat_map(|piece| pieces.push(piece)).collect();
        out.extend(pieces.finish());
        same("another split, another redaction", &clean, &out)?;
    }
    for backend in Backend::ALL {
        let told = |size: usize| {
            let mut told = KeptNames::by(backend, redactor.clone());
            clean.chunks(size).for_each(|piece| told.push(piece));
            told.end(false);
            (told.gives_away(), told.written())
        };
        let whole = told(clean.len().max(1));
        if redactor.finds(&whole.1) {
            return Err("what is recorded gives the key away".to_owned());
        }
        let read = |size: usize| {
            let (mut framer, mut reader) = (Framer::new(backend.framing(), 1 << 16), ReplyReader::new(backend));
            let (mut frames, mut pieces, mut ended) = (Vec::new(), Vec::new(), None);
            for bytes in case.chunks(size) {
                if let Err(error) = framer.push(bytes, &mut frames) {
                    ended = Some(format!("{error:?}"));
                    break;
                }
            }
            if ended.is_none() {
                framer.finish(&mut frames);
            }
            for frame in &frames {
                if let Err(error) = reader.frame(frame, &mut pieces) {
                    ended = Some(format!("{error:?}"));
                    break;
                }
            }
            let text: Vec<u8> = pieces.iter().flat_map(|(_, text)| text.bytes().to_vec()).collect();
            (frames, text, ended)
        };
        let pieces = read(case.len().max(1));
        for size in [1, 2, 3, 7] {
            same("another split, another reply", &pieces, &read(size))?;
            same("another split, another recording", &whole, &told(size))?;
        }
    }
    Ok(())
}

fn recordings() -> Vec<Vec<u8>> {
    vec![
        br#"{"format": "stepscope.cassette", "version": 1, "backend": "openai", "sha256": "ab", "model": "m", "status": 200, "type": "text/event-stream", "retry_after": "1", "chunks": [[0, "data: x\n\n"], [12.5, {"hex": "c3a9"}], [13, "data: [DONE]\n\n"]], "end": "whole"}"#.to_vec(),
    ]
}

fn judge_recording(case: &[u8], _: &Path) -> Result<(), String> {
    let read = || Tape::read(case, Speed::AtOnce).map(|tape| format!("{:?}", tape.source()));
    same("two readings differ", &read(), &read())
}

fn filters() -> Vec<Vec<u8>> {
    [
        "correct:false rule:procedure/unused steps>4",
        "text:\"two dozen\" -kind:error conf>=.9",
        "id:7 label:x reviewed:me",
    ]
    .map(|filter| filter.as_bytes().to_vec())
    .to_vec()
}

fn judge_filter(case: &[u8], _: &Path) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(case) else { return Ok(()) };
    match Filter::parse(text, TypeRegistry::built_in()) {
        Err(error) if text.get(error.range.clone()).is_none() => Err(format!("{:?} is no place in it", error.range)),
        _ => Ok(()),
    }
}

fn imports() -> Vec<Vec<u8>> {
    [
        "id,verdict,labels,note\na,pass,,\nb,fail,\"slip, unit\",\"two\nlines\"\n",
        "\u{feff}id;verdict;item;citation;stale\r\n'=a;fail;0;1;stale\r\n",
        "id\tverdict\trow_index\treviewer\tsha256\nx\tdefer\t7\tada\t00ff\n",
    ]
    .map(|table| table.as_bytes().to_vec())
    .to_vec()
}

fn judge_import(case: &[u8], _: &Path) -> Result<(), String> {
    let read = || import::import(case).map_err(|why| why.into_string());
    let one = read();
    same("two readings differ", &one, &read())?;
    let lines = case.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    let places =
        one.iter().flat_map(|table| &table.rows).map(|row| row.as_ref().map_or_else(|(at, _)| *at, |row| row.place));
    for (n, place) in places.enumerate() {
        if place.row != n + 1 || place.line > lines {
            return Err(format!("{place:?} is no place of row {}", n + 1));
        }
    }
    Ok(())
}

const READERS: [Fuzzed; 24] = [
    Fuzzed { name: "store", weight: 10, seeds: stores, mutate: mutate_folder, judge: judge_store },
    Fuzzed { name: "record", weight: 4, seeds: records, mutate, judge: newest::judge_shared },
    Fuzzed { name: "told", weight: 1, seeds: told, mutate: reword, judge: judge_told },
    Fuzzed { name: "asked", weight: 1, seeds: told, mutate, judge: judge_told },
    Fuzzed {
        name: "list",
        weight: 1,
        seeds: lists,
        mutate,
        judge: |case, folder| judge_file(case, folder, "case.json"),
    },
    Fuzzed {
        name: "forks",
        weight: 1,
        seeds: records,
        mutate,
        judge: |case, folder| judge_file(case, folder, "a.jsonl.forks.jsonl"),
    },
    Fuzzed {
        name: "parquet",
        weight: 1,
        seeds: tables,
        mutate: flip,
        judge: |case, folder| judge_file(case, folder, "case.parquet"),
    },
    Fuzzed {
        name: "sqlite",
        weight: 1,
        seeds: databases,
        mutate: flip,
        judge: |case, folder| judge_file(case, folder, "case.db"),
    },
    Fuzzed {
        name: "rows",
        weight: 4,
        seeds: rows_of_others,
        mutate,
        judge: |case, folder| judge_file(case, folder, "rows.jsonl"),
    },
    Fuzzed { name: "gathered", weight: 4, seeds: gathered, mutate, judge: judge_gathered },
    Fuzzed { name: "journal", weight: 1, seeds: journals, mutate, judge: judge_journal },
    Fuzzed { name: "theme", weight: 1, seeds: themes, mutate, judge: judge_theme },
    Fuzzed { name: "config", weight: 1, seeds: configs, mutate, judge: judge_config },
    Fuzzed { name: "chain", weight: 1, seeds: chains, mutate, judge: judge_chain },
    Fuzzed { name: "schema", weight: 1, seeds: schemas, mutate, judge: judge_schema },
    Fuzzed { name: "stream", weight: 1, seeds: streams, mutate, judge: judge_stream },
    Fuzzed { name: "recording", weight: 1, seeds: recordings, mutate, judge: judge_recording },
    Fuzzed { name: "import", weight: 1, seeds: imports, mutate, judge: judge_import },
    Fuzzed { name: "filter", weight: 1, seeds: filters, mutate, judge: judge_filter },
    Fuzzed { name: "page", weight: 4, seeds: newest::pages, mutate: newest::mutate_page, judge: newest::judge_page },
    Fuzzed {
        name: "notebook",
        weight: 1,
        seeds: newest::notebooks,
        mutate: newest::mutate_notebook,
        judge: |case, folder| judge_file(case, folder, "case.ipynb"),
    },
    Fuzzed { name: "thought", weight: 3, seeds: newest::thoughts, mutate, judge: newest::judge_shared },
    Fuzzed { name: "flat", weight: 3, seeds: newest::flats, mutate, judge: newest::judge_shared },
    Fuzzed { name: "tour", weight: 1, seeds: newest::tours, mutate, judge: newest::judge_tour },
];

/// Returns what is wrong with a case, if anything is.
fn judge(reader: &Fuzzed, case: &[u8], folder: &Path) -> Option<String> {
    let begun = Instant::now();
    let verdict = match catch_unwind(AssertUnwindSafe(|| (reader.judge)(case, folder))) {
        Ok(verdict) => verdict.err(),
        Err(_) => Some("it panicked".to_owned()),
    };
    verdict.or_else(|| Some(begun.elapsed()).filter(|took| *took > PATIENCE).map(|took| format!("it took {took:?}")))
}

fn asked<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// Keeps a case that failed, and says where.
fn keep(reader: &str, case: &[u8], why: &str) -> String {
    let mut hasher = DefaultHasher::new();
    case.hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(reader);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{:016x}", hasher.finish()));
    fs::write(&path, case).unwrap();
    format!("{}: {why}", path.display())
}

#[test]
fn mutated_input_of_every_reader_is_borne() {
    let seed = asked("STEPSCOPE_FUZZ_SEED").unwrap_or(1);
    let until = asked("STEPSCOPE_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let alone: Option<String> = asked("STEPSCOPE_FUZZ_READER");
    let is_asked = |reader: &Fuzzed| alone.as_ref().is_none_or(|name| name == reader.name);
    let goes_on = |round: usize| round == 0 || until.is_some_and(|until| Instant::now() < until);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|half| {
                scope.spawn(move || {
                    let (folder, mut wrong) = (tempfile::tempdir().unwrap(), Vec::new());
                    for round in (0..).take_while(|round| goes_on(*round)) {
                        for (n, reader) in READERS.iter().enumerate().filter(|(_, reader)| is_asked(reader)) {
                            let mut dice = Dice(seed ^ ((round as u64) << 40) ^ ((n as u64) << 32) ^ (half << 56));
                            let seeds = (reader.seeds)();
                            assert!(!seeds.is_empty(), "{}", reader.name);
                            for _ in 0..CASES / 2 / reader.weight {
                                let case = (reader.mutate)(dice.one(&seeds).as_slice(), &mut dice);
                                wrong.extend(
                                    judge(reader, &case, folder.path()).map(|why| keep(reader.name, &case, &why)),
                                );
                            }
                        }
                    }
                    wrong
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks that no seed is refused at once: nothing behind the refusal would be tried.
#[test]
fn seeds_are_what_their_readers_take() {
    let folder = tempfile::tempdir().unwrap();
    newest::check_seeds(folder.path());
    for seed in configs() {
        let text = std::str::from_utf8(&seed).unwrap();
        assert_eq!(Config::parse(text, Shown::own("seed")).err().map(|failure| failure.to_string()), None, "{text}");
    }
    for (n, seed) in themes().iter().enumerate() {
        assert!(Theme::parse("seed", std::str::from_utf8(seed).unwrap(), Depth::True).is_ok(), "theme {n}");
    }
    for seed in chains() {
        let path = folder.path().join("chain.toml");
        fs::write(&path, &seed).unwrap();
        assert_eq!(build(&VerifierChoice::Chain(path)).err().map(|failure| failure.to_string()), None);
    }
    for seed in recordings() {
        assert_eq!(Tape::read(&seed, Speed::AtOnce).err().map(|failure| format!("{failure}")), None);
    }
    for seed in journals() {
        let path = folder.path().join("a.jsonl.reviews.jsonl");
        fs::write(&path, &seed).unwrap();
        let contents = read_all(&[Place::from(&path)]).unwrap();
        let faults: Vec<_> = contents.sentences.iter().filter(|said| said.as_str().contains("not counted")).collect();
        assert!(contents.reviews.len() == 2 && faults.is_empty(), "{faults:?}");
    }
}

#[test]
fn what_was_found_once_is_borne() {
    let folder = tempfile::tempdir().unwrap();
    for reader in READERS.iter().chain([&COMMANDS]) {
        let Ok(kept) = fs::read_dir(fixture("fuzz").join(reader.name)) else { continue };
        for path in kept.map(|entry| entry.unwrap().path()) {
            let wrong = judge(reader, &fs::read(&path).unwrap(), folder.path());
            assert_eq!(wrong, None, "{}", path.display());
        }
    }
}

/// Property of a run of the program, in addition to its exit code, and to hiding what it has to hide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Same result of a second run.
    Again,
    /// Output without anything that a terminal obeys.
    Shown,
    /// Output in which each line is JSON.
    Lines,
    /// Same result when the first file comes through a pipe.
    Piped,
    /// Run that writes no file.
    Quiet,
    /// Output that, if there is any, is a page of the program's own markup.
    Page,
}

/// Command with the files that it is given.
struct Run {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Text on its standard input.
    input: &'static str,
    files: &'static [&'static str],
    codes: &'static [i32],
    holds: &'static [Holds],
}

use Holds::{Again, Lines, Page, Piped, Quiet, Shown as Says};

const ALL: &[Holds] = &[Again, Says, Quiet];
const JSON: &[Holds] = &[Again, Says, Lines, Quiet];
const DONE: &[i32] = &[0, 1, 2];
const RECORDS: &[&str] = &["a.jsonl"];
const REVIEWED: &[&str] = &["a.jsonl", "a.jsonl.reviews.jsonl"];

const fn run(
    name: &'static str,
    arguments: &'static [&'static str],
    files: &'static [&'static str],
    codes: &'static [i32],
    holds: &'static [Holds],
) -> Run {
    Run { name, arguments, input: "", files, codes, holds }
}

const RUNS: [Run; 46] = [
    run("check", &["check", "a.jsonl"], RECORDS, DONE, &[Again, Says, Quiet, Piped]),
    run("short", &["check", "--format", "short", "a.jsonl"], RECORDS, DONE, &[Again, Says, Quiet, Piped]),
    run("lines", &["check", "--format", "jsonl", "a.jsonl"], RECORDS, DONE, &[Again, Says, Lines, Quiet, Piped]),
    run("sarif", &["check", "--format", "sarif", "a.jsonl"], RECORDS, DONE, ALL),
    run("github", &["check", "--format", "github", "a.jsonl"], RECORDS, DONE, ALL),
    run("junit", &["check", "--format", "junit", "a.jsonl"], RECORDS, DONE, ALL),
    run("markdown", &["check", "--format", "markdown", "a.jsonl"], RECORDS, DONE, ALL),
    run("summary", &["check", "--summary", "--format", "jsonl", "a.jsonl"], RECORDS, DONE, JSON),
    run("reviewed", &["check", "--reviewed", "a.jsonl"], REVIEWED, DONE, ALL),
    run("expect", &["check", "--expect", "a.jsonl.reviews.jsonl", "a.jsonl"], REVIEWED, DONE, ALL),
    run("baseline", &["check", "--baseline", "b.jsonl", "a.jsonl"], &["a.jsonl", "b.jsonl"], DONE, ALL),
    run("types", &["check", "--schemas", "types", "o.jsonl"], &["o.jsonl", "types/vin.json"], DONE, ALL),
    run("schema", &["check", "--schema", "s.json", "o.jsonl"], &["o.jsonl", "s.json"], DONE, ALL),
    run("document", &["check", "--document", "d.parquet", "o.jsonl"], &["o.jsonl", "d.parquet"], DONE, ALL),
    run("forks", &["check", "a.jsonl.forks.jsonl"], &["a.jsonl.forks.jsonl"], DONE, ALL),
    run(
        "folder",
        &["check", "--format", "jsonl", "."],
        &["a.jsonl", "a.jsonl.forks.jsonl", "a.jsonl.reviews.jsonl", "o.jsonl", "d.parquet", "storage.sqlite"],
        DONE,
        JSON,
    ),
    run("database", &["check", "storage.sqlite"], &["storage.sqlite"], DONE, ALL),
    run("table", &["check", "d.parquet"], &["d.parquet"], DONE, ALL),
    run("show", &["show", "a.jsonl", "--line", "1", "--state"], RECORDS, DONE, ALL),
    run("show all", &["show", "p.json"], &["p.json"], DONE, ALL),
    run("prompt", &["show", "a.jsonl", "--line", "1", "--step", "1", "--prompt"], RECORDS, DONE, &[Again, Quiet]),
    run("repair", &["repair", "--without-model", "p.json"], &["p.json"], DONE, &[Again, Quiet]),
    run("fixes", &["repair", "--list", "p.json"], &["p.json"], DONE, ALL),
    run("exact", &["rerun", "--exact", "a.jsonl", "--line", "1"], RECORDS, &[0, 1, 2, 3], &[Quiet]),
    run(
        "replay",
        &["rerun", "w.jsonl", "--line", "1", "--step", "1", "--cassette", "tape.jsonl"],
        &["w.jsonl", "tape.jsonl"],
        &[0, 1, 2, 3],
        &[Quiet],
    ),
    run(
        "run",
        &["run", "p.json", "--question-file", "q.txt", "--answer-schema", "s.json", "--cassette", "tape.jsonl"],
        &["p.json", "q.txt", "s.json", "tape.jsonl"],
        &[0, 2, 3],
        &[Again, Quiet],
    ),
    run("compare", &["compare", "a.jsonl", "b.jsonl"], &["a.jsonl", "b.jsonl"], DONE, ALL),
    run("compared", &["compare", "--format", "jsonl", "a.jsonl", "b.jsonl"], &["a.jsonl", "b.jsonl"], DONE, JSON),
    run(
        "verify",
        &["verify", "--verifier", "json_schema", "--schema", "s.json", "--field", "question", "a.jsonl"],
        &["a.jsonl", "s.json"],
        DONE,
        JSON,
    ),
    run("chain", &["verify", "--chain", "c.toml", "a.jsonl"], &["a.jsonl", "c.toml", "s.json"], DONE, JSON),
    run(
        "named",
        &["verify", "--verifiers", "v.toml", "--verifier", "x", "a.jsonl"],
        &["a.jsonl", "v.toml"],
        DONE,
        JSON,
    ),
    run("list", &["review", "list", "a.jsonl"], REVIEWED, DONE, ALL),
    run("csv", &["review", "export", "--format", "csv", "a.jsonl"], REVIEWED, DONE, ALL),
    run("stats", &["review", "stats", "a.jsonl"], REVIEWED, DONE, ALL),
    run("agreement", &["review", "agreement", "a.jsonl"], REVIEWED, DONE, ALL),
    run("merge", &["review", "merge", "a.jsonl.reviews.jsonl"], REVIEWED, DONE, &[Again, Quiet]),
    run("import", &["review", "import", "x.csv", "a.jsonl", "--reviewer", "me"], &["a.jsonl", "x.csv"], DONE, &[Says]),
    Run {
        input: "add.txt",
        ..run("add", &["review", "add", "a.jsonl", "--reviewer", "me"], &["a.jsonl", "add.txt"], DONE, &[Says])
    },
    run(
        "page",
        &["export", "a.jsonl", "--line", "1", "--html", "-", "--force"],
        REVIEWED,
        DONE,
        &[Again, Says, Quiet, Page],
    ),
    run(
        "clean page",
        &["export", "o.jsonl", "--html", "-", "--redact", "all", "--hide", "gold,triage", "--no-passages"],
        &["o.jsonl"],
        DONE,
        &[Again, Says, Quiet, Page],
    ),
    run("markdown", &["export", "a.jsonl", "--line", "2", "--md", "-", "--force"], REVIEWED, DONE, ALL),
    run("pages", &["export", "--all", "pages", "a.jsonl", "--force"], REVIEWED, DONE, &[Says]),
    run("opened page", &["check", "page.html"], &["page.html"], DONE, ALL),
    run("notebook", &["check", "n.ipynb"], &["n.ipynb"], DONE, ALL),
    run("thoughts", &["show", "t.jsonl", "--line", "2", "--state"], &["t.jsonl"], DONE, ALL),
    run(
        "models",
        &["models", "--config-dir", "cfg", "--url", "http://127.0.0.1:9", "--offline"],
        &["cfg/config.toml", "cfg/themes/own.toml"],
        &[0, 2, 3],
        ALL,
    ),
];

/// Returns the files that the commands are given.
fn bench() -> Vec<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let first = |lines: Vec<Vec<u8>>, count: usize| {
        lines.into_iter().take(count).flat_map(|line| [line, b"\n".to_vec()].concat()).collect::<Vec<u8>>()
    };
    let runs = lines_of("runs.jsonl");
    let record: serde_json::Value = serde_json::from_slice(&runs[0]).unwrap();
    let samples = fs::read(root.join("sample_runs/word_problems.jsonl")).unwrap();
    let samples: Vec<Vec<u8>> = samples.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let fork = String::from_utf8(runs[1].clone()).unwrap().replacen(
        '{',
        r#"{"trace": {"fork": {"parent": "orchard", "how": "rerun"}}, "#,
        1,
    );
    let config = configs().concat();
    let tape = fs::read(root.join("sample_runs/cassette.jsonl.zst")).unwrap();
    let tape =
        cassette::unpacked(&tape).unwrap().split_inclusive(|byte| *byte == b'\n').take(40).collect::<Vec<_>>().concat();
    vec![
        file("a.jsonl", [first(runs.clone(), 5), first(lines_of("answers.jsonl"), 1)].concat()),
        file("b.jsonl", first(runs[2..].to_vec(), 6)),
        file("o.jsonl", first(lines_of("answers.jsonl"), 3)),
        file("w.jsonl", first(samples, 2)),
        file("p.json", serde_json::to_vec(&record["procedure"]).unwrap()),
        file("s.json", br##"{"type": "object", "properties": {"final_answer": {"type": "string", "pattern": "^a+$"}}, "required": ["final_answer"], "$defs": {"a": {"$ref": "#/$defs/a"}}}"##),
        file("q.txt", "How many?\n"),
        file("tape.jsonl", tape),
        file("d.parquet", fs::read(fixture("stores/tables/pandas3.parquet")).unwrap()),
        file("storage.sqlite", databases().concat()),
        file("a.jsonl.reviews.jsonl", [journals()[0].clone(), b"\n".to_vec(), journals()[4].clone(), b"\n".to_vec()].concat()),
        file("a.jsonl.forks.jsonl", fork + "\n"),
        file("types/vin.json", br#"{"type": "string", "minLength": 3}"#),
        file("c.toml", chains()[0].clone()),
        file("v.toml", "[x]\nverifier = \"regex_format\"\npattern = \"(a|b)+$\"\n"),
        file("x.csv", "id,verdict,labels,note\norchard,fail,,\"a, b\"\nferry,pass,,\n"),
        file("add.txt", "{\"id\": \"orchard\", \"verdict\": \"fail\", \"note\": \"n\"}\n{\"id\": \"ferry\", \"verdict\": \"pass\"}\n"),
        file("page.html", newest::pages()[0].clone()),
        file("n.ipynb", newest::notebooks()[0].clone()),
        file("t.jsonl", newest::thoughts().join(&b"\n"[..])),
        file("cfg/config.toml", config),
        file("cfg/themes/own.toml", themes()[0].clone()),
    ]
}

/// Returns each command's name, followed by its packed folder.
fn commands() -> Vec<Vec<u8>> {
    let bench = bench();
    let case = |run: &Run| {
        let entries: Vec<Entry> = bench.iter().filter(|entry| run.files.contains(&&*entry.name)).cloned().collect();
        assert_eq!(entries.len(), run.files.len(), "{}", run.name);
        [run.name.as_bytes(), b"\n", &packed(&entries)].concat()
    };
    RUNS.iter().map(case).collect()
}

fn mutate_command(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let end = seed.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    [&seed[..end], &mutate_folder(&seed[end..], dice)].concat()
}

/// Exit code, output and complaints.
type Ran = (Option<i32>, Vec<u8>, Vec<u8>);

/// Runs the built program with bounded time and memory; `Err`: it hangs.
fn ran(arguments: &[&str], at: &Path, home: &Path, input: Stdio) -> Result<Ran, String> {
    let limits = format!("ulimit -d {MEMORY_KB}; ulimit -t {CPU_SECONDS}; ulimit -c 0; exec \"$@\"");
    let child = Command::new("/bin/sh")
        .args(["-c", &limits, "sh", env!("CARGO_BIN_EXE_stepscope")])
        .args(arguments)
        .current_dir(at)
        .env_clear()
        .env("HOME", home)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = rustix::process::Pid::from_child(&child);
    let (done, over) = channel();
    let waits = std::thread::spawn(move || drop(done.send(child.wait_with_output().unwrap())));
    let output = over.recv_timeout(3 * PATIENCE);
    if output.is_err() {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
    waits.join().unwrap();
    let output = output.map_err(|_| "it hangs".to_owned())?;
    Ok((output.status.code(), output.stdout, output.stderr))
}

/// Returns the output without the record that a page carries, which may be indented.
fn without_carried(out: &[u8]) -> Vec<u8> {
    let find = |what: &[u8]| out.windows(what.len()).position(|window| window == what);
    find(b"<script").map_or(out, |at| &out[..at]).to_vec()
}

/// Checks every page in a folder, if there is one.
fn judge_pages(folder: &Path) -> Result<(), String> {
    for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let page = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        markup::wrong_in(&page).map_or(Ok(()), |wrong| Err(format!("{}: {wrong}", path.display())))?;
    }
    Ok(())
}

/// Checks what must hold of any run.
fn judge_output(run: &Run, (code, out, error): &Ran) -> Result<(), String> {
    let complaints = String::from_utf8_lossy(error);
    if !code.is_some_and(|code| run.codes.contains(&code)) || (*code == Some(2) && error.is_empty()) {
        return Err(format!("exit {code:?}: {complaints}"));
    }
    let bad = ["panicked at", "internal error at", "This is a bug", "not enough memory"];
    if let Some(word) = bad.iter().find(|word| complaints.contains(*word)) {
        return Err(format!("{word}: {complaints}"));
    }
    let hides = |text: &[u8]| match std::str::from_utf8(text) {
        Ok(text) => text.chars().find(|c| *c != '\n' && is_hidden(*c)).map(|c| format!("{c:?} is said as it is")),
        Err(_) => Some("what is said is no UTF-8".to_owned()),
    };
    let shown = run.holds.contains(&Says).then(|| hides(&without_carried(out))).flatten();
    if let Some(why) = hides(error).or(shown) {
        return Err(why);
    }
    if run.holds.contains(&Page) && !out.is_empty() {
        markup::wrong_in(&String::from_utf8_lossy(out)).map_or(Ok(()), Err)?;
    }
    if run.holds.contains(&Lines) {
        for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let read = serde_json::from_slice::<serde::de::IgnoredAny>(line);
            read.map_err(|error| format!("{error}: {}", String::from_utf8_lossy(line)))?;
        }
    }
    Ok(())
}

fn judge_command(case: &[u8], folder: &Path) -> Result<(), String> {
    secrets(folder);
    let end = case.iter().position(|byte| *byte == b'\n').unwrap();
    let run = RUNS.iter().find(|run| run.name.as_bytes() == &case[..end]).ok_or("an unknown command")?;
    let (at, home, entries) = (folder.join("command"), folder.join("home"), unpacked(&case[end + 1..]));
    fs::create_dir_all(&home).unwrap();
    make(&entries, &at);
    let input = || match fs::symlink_metadata(at.join(run.input)) {
        Ok(meta) if meta.is_file() => fs::File::open(at.join(run.input)).unwrap().into(),
        _ => Stdio::null(),
    };
    let before = state(&at);
    let first = ran(run.arguments, &at, &home, input())?;
    judge_output(run, &first)?;
    // What a command is given by name may be a link; of what lies outside, only names lead there.
    let named = entries.iter().filter(|entry| matches!(entry.what, What::Link(_)));
    let named = named.filter(|entry| run.arguments.iter().any(|argument| Path::new(argument).starts_with(&entry.name)));
    let leaks = |text: &[u8]| String::from_utf8_lossy(text).contains(SECRET);
    if named.count() == 0 && (leaks(&first.1) || leaks(&first.2)) {
        return Err("what lies outside was read".to_owned());
    }
    judge_pages(&at.join("pages"))?;
    if run.holds.contains(&Quiet) {
        same("something was written", &before, &state(&at))?;
    }
    if run.holds.contains(&Again) {
        let text = |ran: &Ran| (ran.0, [&ran.1, &ran.2].map(|text| String::from_utf8_lossy(text).into_owned()));
        same("two runs differ", &text(&first), &text(&ran(run.arguments, &at, &home, input())?))?;
    }
    let path = at.join("a.jsonl");
    if run.holds.contains(&Piped) && path.is_file() && !path.is_symlink() {
        let arguments: Vec<&str> =
            run.arguments.iter().map(|word| if *word == "a.jsonl" { "-" } else { *word }).collect();
        let piped = ran(&arguments, &at, &home, fs::File::open(&path).unwrap().into())?;
        let counts = |ran: &Ran| (ran.0, ran.1.split(|byte| *byte == b'\n').count());
        // Nothing is no mistake on standard input, and one in a file that somebody named; what is cut off at the end is
        // still being written there, and broken here.
        let said = String::from_utf8_lossy(&[&first.1[..], &first.2].concat()).into_owned();
        if !["no complete record", "nothing to check", "cut off"].iter().any(|nothing| said.contains(nothing)) {
            same("standard input differs from a file", &counts(&first), &counts(&piped))?;
        }
    }
    Ok(())
}

/// Commands with changed input: the exit code is a documented one, and the output is in order.
const COMMANDS: Fuzzed =
    Fuzzed { name: "command", weight: 1, seeds: commands, mutate: mutate_command, judge: judge_command };

#[test]
fn the_program_bears_mutated_files_of_every_command() {
    let seed = asked("STEPSCOPE_FUZZ_SEED").unwrap_or(1_u64);
    let until = asked("STEPSCOPE_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (folder, seeds, mut wrong) = (tempfile::tempdir().unwrap(), commands(), Vec::new());
    for seed in &seeds {
        wrong.extend(judge(&COMMANDS, seed, folder.path()).map(|why| keep(COMMANDS.name, seed, &why)));
    }
    let mut dice = Dice(seed.wrapping_add(77));
    let mut count = 0;
    while count < SAMPLE || until.is_some_and(|until| Instant::now() < until) {
        count += 1;
        let case = mutate_command(dice.one(&seeds).as_slice(), &mut dice);
        wrong.extend(judge(&COMMANDS, &case, folder.path()).map(|why| keep(COMMANDS.name, &case, &why)));
    }
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}
