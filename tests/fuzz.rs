//! Mutated input for every reader: whatever is in it, nothing panics, nothing takes long, what is said is in order and the
//! same the next time, and no record changes what is said of its neighbours.
//!
//! The number of cases is fixed, so that every run with a seed is the same run. By hand it goes on as long as asked:
//! `STEPSCOPE_FUZZ_SECONDS=600 STEPSCOPE_FUZZ_SEED=7 cargo test --test fuzz`. What fails is written below
//! `target/tmp/fuzz`; once it is mended it is kept in `tests/fixtures/fuzz/READER/`, and replayed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(dead_code, reason = "the harness serves several test files")]

#[path = "support/nasty.rs"]
mod nasty;

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stepscope::domain::filter::{Filter, text_pattern};
use stepscope::domain::row::Row;
use stepscope::domain::rules::answer::Schema;
use stepscope::domain::seen::place_in;
use stepscope::domain::text::{Shown, is_hidden};
use stepscope::io::beneath::Place;
use stepscope::io::beside::Beside;
use stepscope::io::check::check;
use stepscope::io::config::Config;
use stepscope::io::frames::{Framer, Framing};
use stepscope::io::input::expand;
use stepscope::io::journal::read_all;
use stepscope::io::model::cassette::{Speed, Tape};
use stepscope::io::model::endpoint::Backend;
use stepscope::io::model::reply::Reader;
use stepscope::io::verifiers::{Wanted, build};
use stepscope::tui::model::Opened;
use stepscope::tui::theme::{Depth, Theme};

/// Cases of each reader, where nobody asks for more.
const CASES: usize = 1_500;
/// Cases that the built program gets.
const SAMPLE: usize = 12;
/// Far more than a case may take, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// What the program may take for one, in kilobytes.
const MEMORY_KB: usize = 1 << 20;

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

/// Where the values of a text stand that looks like JSON: their bytes, found without understanding it.
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

/// A text with one to four things changed, most of them in its structure.
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

/// Bytes with a few of them changed: of files that are no text.
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

/// What is said of the records of a file, one entry each, in order.
fn said(path: &Path, threads: usize) -> Result<Vec<String>, String> {
    let mut all = String::new();
    let outcome = check(
        expand(&[path.to_owned()]),
        threads,
        None,
        |checked, out| {
            let mut line = String::new();
            for finding in checked.findings {
                let _ = write!(line, "{} {:?} {} | ", finding.rule, finding.severity, finding.message.line());
            }
            out.extend_from_slice(line.replace('\n', "␊").as_bytes());
            out.push(b'\n');
        },
        |bytes, _| {
            all.push_str(std::str::from_utf8(bytes).unwrap());
            Ok(())
        },
    );
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

/// A reader: where its cases come from, how they are changed, and what must hold of each.
struct Fuzzed {
    name: &'static str,
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

/// A record is checked, opened, and searched; it says the same again, on any number of threads, and among others.
fn judge_record(case: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("case.jsonl");
    let write = |text: &[u8]| fs::write(&path, text).unwrap();
    write(case);
    let alone = said(&path, 1)?;
    same("two readings differ", &alone, &said(&path, 2)?)?;
    let row = Row::unchecked(0, case.len() as u64);
    let opened = Opened::new(0, 1, &row, case.to_vec(), &Beside::default(), |_| None);
    for step in 0..opened.steps.len().min(8) {
        let _ = opened.detail(step);
    }
    for variable in 0..opened.variables.len().min(8) {
        let _ = opened.influence(variable);
    }
    let pattern = text_pattern("final")?;
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
    same("what comes last changes", &without.last(), &with.last())
}

/// A list of records, or one over several lines.
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
        contents.map(|contents| format!("{:?}", contents.reviews.events())).map_err(|failure| format!("{failure}"))
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
    let say = || build(&Wanted::Chain(path.clone())).map(|_| ()).map_err(|failure| format!("{failure}"));
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
        b"event: error\ndata: {\"error\": {\"message\": \"no\"}}\n\n".to_vec(),
    ]
}

/// Wherever a stream is split on its way, the same pieces come of it.
fn judge_stream(case: &[u8], _: &Path) -> Result<(), String> {
    for (backend, framing) in [(Backend::Ollama, Framing::Lines), (Backend::Chat, Framing::Events)] {
        let read = |size: usize| {
            let (mut framer, mut reader) = (Framer::new(framing, 1 << 16), Reader::new(backend));
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
        let whole = read(case.len().max(1));
        for size in [1, 2, 3, 7] {
            same("another split, another reply", &whole, &read(size))?;
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
    match Filter::parse(text) {
        Err(error) if text.get(error.range.clone()).is_none() => Err(format!("{:?} is no place in it", error.range)),
        _ => Ok(()),
    }
}

const READERS: [Fuzzed; 13] = [
    Fuzzed { name: "record", seeds: records, mutate, judge: judge_record },
    Fuzzed { name: "list", seeds: lists, mutate, judge: |case, folder| judge_file(case, folder, "case.json") },
    Fuzzed {
        name: "forks",
        seeds: records,
        mutate,
        judge: |case, folder| judge_file(case, folder, "a.jsonl.forks.jsonl"),
    },
    Fuzzed {
        name: "parquet",
        seeds: tables,
        mutate: flip,
        judge: |case, folder| judge_file(case, folder, "case.parquet"),
    },
    Fuzzed {
        name: "sqlite",
        seeds: databases,
        mutate: flip,
        judge: |case, folder| judge_file(case, folder, "case.db"),
    },
    Fuzzed { name: "journal", seeds: journals, mutate, judge: judge_journal },
    Fuzzed { name: "theme", seeds: themes, mutate, judge: judge_theme },
    Fuzzed { name: "config", seeds: configs, mutate, judge: judge_config },
    Fuzzed { name: "chain", seeds: chains, mutate, judge: judge_chain },
    Fuzzed { name: "schema", seeds: schemas, mutate, judge: judge_schema },
    Fuzzed { name: "stream", seeds: streams, mutate, judge: judge_stream },
    Fuzzed { name: "recording", seeds: recordings, mutate, judge: judge_recording },
    Fuzzed { name: "filter", seeds: filters, mutate, judge: judge_filter },
];

/// What is wrong with a case, if anything is.
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
    let goes_on = |round: usize| round == 0 || until.is_some_and(|until| Instant::now() < until);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|half| {
                scope.spawn(move || {
                    let (folder, mut wrong) = (tempfile::tempdir().unwrap(), Vec::new());
                    for round in (0..).take_while(|round| goes_on(*round)) {
                        for (n, reader) in READERS.iter().enumerate() {
                            let mut dice = Dice(seed ^ ((round as u64) << 40) ^ ((n as u64) << 32) ^ (half << 56));
                            let seeds = (reader.seeds)();
                            assert!(!seeds.is_empty(), "{}", reader.name);
                            for _ in 0..CASES / 2 {
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

/// Of a seed that is refused at once nothing behind the refusal is tried.
#[test]
fn seeds_are_what_their_readers_take() {
    let folder = tempfile::tempdir().unwrap();
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
        assert_eq!(build(&Wanted::Chain(path)).err().map(|failure| failure.to_string()), None);
    }
    for seed in recordings() {
        assert_eq!(Tape::read(&seed, Speed::AtOnce).err().map(|failure| format!("{failure}")), None);
    }
    for seed in journals() {
        let path = folder.path().join("a.jsonl.reviews.jsonl");
        fs::write(&path, &seed).unwrap();
        let contents = read_all(&[Place::from(&path)]).unwrap();
        let faults: Vec<_> = contents.sentences.iter().filter(|said| said.as_str().contains("not counted")).collect();
        assert!(contents.reviews.events().len() == 2 && faults.is_empty(), "{faults:?}");
    }
}

#[test]
fn what_was_found_once_is_borne() {
    let folder = tempfile::tempdir().unwrap();
    for reader in &READERS {
        let Ok(kept) = fs::read_dir(fixture("fuzz").join(reader.name)) else { continue };
        for path in kept.map(|entry| entry.unwrap().path()) {
            let wrong = judge(reader, &fs::read(&path).unwrap(), folder.path());
            assert_eq!(wrong, None, "{}", path.display());
        }
    }
}

/// Runs the built program with bounded memory.
fn run(arguments: &[&str], path: &Path, piped: bool) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("ulimit -v {MEMORY_KB}; exec \"$@\"")).arg("sh");
    command.arg(env!("CARGO_BIN_EXE_stepscope")).args(arguments);
    if piped {
        command.arg("-").stdin(Stdio::from(fs::File::open(path).unwrap()));
    } else {
        command.arg(path).stdin(Stdio::null());
    }
    let output = command.output().unwrap();
    (output.status.code(), output.stdout, output.stderr)
}

#[test]
fn the_program_bears_mutated_records_from_files_and_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(asked("STEPSCOPE_FUZZ_SEED").unwrap_or(1_u64).wrapping_add(77));
    let seeds = records();
    for _ in 0..SAMPLE {
        let mut case = mutate(dice.one(&seeds).as_slice(), &mut dice);
        case.push(b'\n');
        let path = folder.path().join("case.jsonl");
        fs::write(&path, &case).unwrap();
        let findings = |output: &[u8]| -> Vec<serde_json::Value> {
            let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.map(|line| serde_json::from_slice::<serde_json::Value>(line).unwrap()["findings"].clone()).collect()
        };
        let fail = |why: &str| panic!("{}", keep("record", &case, why));
        let [file, again, pipe] = [false, false, true].map(|piped| run(&["check", "--format", "jsonl"], &path, piped));
        for (code, out, error) in [&file, &again, &pipe] {
            let text = [std::str::from_utf8(out), std::str::from_utf8(error)].map(|text| text.unwrap_or("\u{1b}"));
            if !matches!(code, Some(0..=2)) || (*code == Some(2) && error.is_empty()) {
                fail(&format!("exit {code:?}"));
            }
            if text.iter().any(|text| text.contains("panicked at") || text.chars().any(|c| c != '\n' && is_hidden(c))) {
                fail("a panic or a control character");
            }
        }
        if file != again {
            fail("two runs differ");
        }
        if (file.0, findings(&file.1)) != (pipe.0, findings(&pipe.1)) {
            fail("a pipe differs from a file");
        }
    }
}
