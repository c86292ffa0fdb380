//! What no input may do to a command: take memory, time or output out of all proportion. Small inputs of the kind that
//! grows fastest; `tests/it/hostile.rs` has the procedures.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use stepscope_record::finding::grouped;

/// Result of a command.
struct Ran {
    code: Option<i32>,
    out: Vec<u8>,
    said: String,
}

/// Runs a command in a folder, with bounded address space and processor time.
fn run(folder: &tempfile::TempDir, megabytes: usize, arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("ulimit -v {}; ulimit -t 60; exec \"$@\"", megabytes << 10))
        .arg("sh")
        .arg(env!("CARGO_BIN_EXE_stepscope"))
        .args(arguments)
        .current_dir(folder.path())
        .env("STEPSCOPE_REVIEWER", "ada")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // Who refuses its arguments does not wait for its input.
    let writing = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    Ran { code: output.status.code(), out: output.stdout, said: String::from_utf8(output.stderr).unwrap() }
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Memory, in megabytes: far more than these inputs need, and less than they could take.
const ROOM: usize = 1 << 10;

/// Memory for what needs hardly any: the program itself takes most of it.
const LITTLE: usize = 320;

/// Line of a record whose findings are not printed.
const LEFT_OUT: &str = "{\"left_out\":true}";

#[test]
fn results_are_printed_in_proportion_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "x\n".repeat(100_000);
    let ran = run(&folder, ROOM, &["verify", "--verifier", "json_structure", "-"], &lines);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.len() <= 16 * lines.len() + (1 << 20), "{}", ran.out.len());
    assert!(ran.out.ends_with(b"}\n"));
    let whole = ran.out.split(|byte| *byte == b'\n').filter(|line| line.len() > LEFT_OUT.len()).count();
    assert!(ran.said.contains("100000 records, 0 passed, 0 failed, 100000 not scored"), "{}", ran.said);
    let left = grouped(100_000 - whole);
    assert!(ran.said.contains(&format!("results of {left} more records counted but not printed")), "{}", ran.said);
}

/// Returns the number in front of these words in a message.
fn number_before(words: &str, said: &str) -> usize {
    let (before, _) = said.split_once(words).unwrap_or_else(|| panic!("no {words:?} in {said}"));
    let digits: String = before.rsplit([' ', '\n']).next().unwrap().split(',').collect();
    digits.parse().unwrap()
}

/// Checks an input with so many records, all with findings: `check` prints 10 times its size and counts the rest, in
/// every format and with any number of threads.
fn checked_in_proportion(folder: &tempfile::TempDir, input: &str, size: usize, records: usize) {
    for format in ["text", "short", "jsonl", "sarif", "github", "junit", "markdown"] {
        let all = |jobs| ["check", input, "--format", format, "--jobs", jobs];
        let one = run(folder, ROOM, &all("1"), "");
        let three = run(folder, ROOM, &all("3"), "");
        assert_eq!((one.code, three.code), (Some(1), Some(1)), "{format} {}", one.said);
        assert!(one.out == three.out && one.said == three.said, "{format}: {} {}", one.said, three.said);
        // And what is printed once: the rules of SARIF, the last line of text.
        assert!(one.out.len() <= 10 * size.max(1 << 20) + 100_000, "{format} {} of {size}", one.out.len());
        let left_out = number_before(" more records not printed", &one.said);
        let text = String::from_utf8(one.out).unwrap();
        match format {
            "text" => assert!(
                text.trim_end().lines().last().unwrap().contains(&format!("{records} records")),
                "all are counted: {}",
                text.lines().last().unwrap()
            ),
            "short" => assert!(one.said.contains(&format!("{records} records")), "{}", one.said),
            "jsonl" => {
                assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
                assert_eq!(text.lines().count(), records, "a line for each");
                assert_eq!(text.lines().filter(|line| *line == LEFT_OUT).count(), left_out);
            }
            "github" | "markdown" => {}
            "junit" => assert!(text.ends_with("</testsuites>\n")),
            _ => {
                let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert!(sarif["runs"][0]["results"].as_array().unwrap().len() > 100);
            }
        }
    }
}

#[test]
fn a_store_of_tiny_answers_is_a_small_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.sqlite");
    let base = rusqlite::Connection::open(&path).unwrap();
    base.execute_batch(
        "CREATE TABLE answers (question_id INTEGER PRIMARY KEY, doc_id TEXT, schema_name TEXT, answer_json TEXT,
            model_used TEXT, created_at REAL) WITHOUT ROWID;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
        INSERT INTO answers SELECT i, '', '', '{}', '', 0 FROM n;",
    )
    .unwrap();
    drop(base);
    let size = std::fs::metadata(&path).unwrap().len() as usize;
    checked_in_proportion(&folder, "tiny.sqlite", size, 4_000);
}

#[test]
fn a_folder_of_tiny_files_is_a_small_input() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("many")).unwrap();
    let text = "{\"steps\":[]}\n".repeat(100);
    for n in 0..80 {
        std::fs::write(folder.path().join(format!("many/{n}.jsonl")), &text).unwrap();
    }
    checked_in_proportion(&folder, "many", 80 * text.len(), 8_000);
    std::fs::create_dir(folder.path().join("none")).unwrap();
    for n in 0..1_100 {
        std::fs::write(folder.path().join(format!("none/{n}.json")), b"\x1f\x8b\x08").unwrap();
    }
    let ran = run(&folder, ROOM, &["check", "none"], "");
    assert_eq!((ran.code, ran.said.lines().count()), (Some(2), 1_001), "{}", ran.said);
    assert!(ran.said.ends_with("stepscope: and 100 more of this kind\n"), "{}", ran.said);
}

#[test]
fn what_is_said_of_an_answer_does_not_depend_on_the_files_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "juniper"];
    let line = |n: usize| {
        let word = |place: u32| format!("{}{}", words[n / 10_usize.pow(place) % 10], (n * 7 + place as usize) % 97);
        (0..8).map(word).collect::<Vec<_>>()
    };
    let lines: String = (0..6_000).map(|n| line(n).join(" ") + "\n").collect();
    std::fs::create_dir(folder.path().join("answers")).unwrap();
    write(&folder, "answers/document.txt", &lines);
    for n in 0..40 {
        let mut quote = line(n * 100 + 50);
        quote[3] = "else".to_owned();
        let spans = serde_json::json!([{"line_start": 3, "line_end": 3, "quote": quote.join(" ")}]);
        let answer = serde_json::json!({
            "question": "Which?",
            "document": {"path": "document.txt"},
            "answer": {"answer_found": true, "items": [{"value": "x", "spans": spans}]},
        });
        write(&folder, &format!("answers/{n}.json"), &answer.to_string());
    }
    let together = run(&folder, ROOM, &["check", "answers", "--format", "short"], "");
    assert!(together.said.contains("stepscope: 40 records"), "{}", together.said);
    let said = String::from_utf8(together.out).unwrap();
    assert_eq!(said.matches("[span/quote_nowhere_in_doc]").count(), 40, "each is searched for to the end: {said}");
    let alone = run(&folder, ROOM, &["check", "answers/39.json", "--format", "short"], "");
    let alone = String::from_utf8(alone.out).unwrap();
    assert!(!alone.is_empty() && alone.lines().all(|finding| said.contains(finding)), "{alone}");
}

/// Runs a command over an input as a whole, and over parts of it: what is printed of each record must be the same, but
/// for its place. Returns that.
fn the_same_in_parts(folder: &tempfile::TempDir, command: &[&str], lines: &[String]) -> Vec<serde_json::Value> {
    let printed = |lines: &[String]| {
        write(folder, "part.jsonl", &lines.concat());
        let out = run(folder, ROOM, command, "").out;
        let record = |line: &str| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().retain(|key, _| !["line", "index"].contains(&key.as_str()));
            record
        };
        String::from_utf8(out).unwrap().lines().map(record).collect::<Vec<_>>()
    };
    let whole = printed(lines);
    assert_eq!(whole.len(), lines.len());
    assert!(lines.chunks(30).flat_map(printed).eq(whole.iter().cloned()));
    whole
}

#[test]
fn what_is_said_of_a_record_does_not_depend_on_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<&str> = "rent is due on the first of a month and paid by bank to its owner".split(' ').collect();
    let line = |n: usize| (0..12).map(|place| words[(n * 7 + place * place * (n % 11 + 1)) % 15]).collect::<Vec<_>>();
    let lines: Vec<String> = (0..2_300).map(|n| line(n).join(" ")).collect();
    write(&folder, "d.json", &serde_json::json!({"lines": lines}).to_string());
    let answer = |n: usize| {
        let mut quote = [line(3 * n), line(3 * n + 1)].concat();
        if !n.is_multiple_of(10) {
            quote[9] = "wrong";
        }
        let span = serde_json::json!({"line_start": 3 * n, "line_end": 3 * n + 1, "quote": quote.join(" ")});
        let record = serde_json::json!({
            "question": "When?",
            "document": {"path": "d.json"},
            "answer": {
                "extraction_method": "verbatim", "confidence": 0.9, "caveats": [], "answer_found": true,
                "complete_answer_found": true, "context_completeness_weak": 0.9, "context_structured": true,
                "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": false,
                "suggested_clarification": null, "items": [{"text": "x", "spans": [span]}],
            },
        });
        format!("{record}\n")
    };
    let check = ["check", "part.jsonl", "--format", "jsonl", "--fail-on", "never"];
    let found = the_same_in_parts(&folder, &check, &(0..300).map(answer).collect::<Vec<_>>());
    for (n, record) in found.iter().enumerate() {
        let rules = record["findings"].to_string();
        assert_eq!(rules.contains("span/quote_nowhere_in_doc"), n % 10 > 0, "{n} {rules}");
        assert!(!rules.contains("undecided"), "{n} {rules}");
    }

    let completion = |n: usize| format!("{{\"completion\":\"{}b\"}}\n", "a".repeat(n % 60));
    let verify =
        ["verify", "part.jsonl", "--verifier", "regex_format", "--pattern", r"^(a*?)(a*?)(a*?)(a*?)\1\2\3\4c$"];
    let judged = the_same_in_parts(&folder, &verify, &(0..400).map(completion).collect::<Vec<_>>());
    let decided = |result: &&serde_json::Value| !result["reward"].is_null();
    let number = judged.iter().filter(decided).count();
    assert!((40..400).contains(&number), "short texts are judged, and long ones are not: {number}");
}

#[test]
fn pages_are_written_in_proportion_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let many = "{\"id\": 1, \"note\": \"x\"}\n".repeat(3_000);
    write(&folder, "many.jsonl", &many);
    let ran = run(&folder, ROOM, &["export", "--all", "pages", "many.jsonl"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.said);
    let pages: Vec<_> = std::fs::read_dir(folder.path().join("pages")).unwrap().map(|page| page.unwrap()).collect();
    let bytes: u64 = pages.iter().map(|page| page.metadata().unwrap().len()).sum();
    assert!(bytes <= 5 << 20, "{bytes}");
    // The first have theirs, and the index.
    assert_eq!(number_before(" more records have no page", &ran.said), 3_001 - pages.len());
    let first = pages.iter().filter(|page| page.file_name().to_string_lossy().starts_with("0001-")).count();
    assert!(first == 1 && pages.len() > 200, "{}", pages.len());
}

#[test]
fn what_looks_private_is_counted_where_there_is_much_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mails = |n: usize| (0..n).map(|n| format!("\"a{n}@b.example\": 1")).collect::<Vec<_>>().join(", ");
    write(&folder, "one.jsonl", &format!("{{\"id\": 1, \"state\": {{{}}}}}\n", mails(100_000)));
    write(&folder, "many.jsonl", &"{\"a\": \"a@b.example\"}\n".repeat(30_000));
    for (file, all) in [("one.jsonl", 100_000), ("many.jsonl", 30_000)] {
        let ran = run(&folder, ROOM, &["export", "--all", "pages", file], "");
        assert_eq!((ran.code, ran.said.lines().count()), (Some(1), 22), "{}", ran.said);
        assert!(ran.said.contains(&format!("and {} more", grouped(all - 20))), "{}", ran.said);
        assert!(!folder.path().join("pages").exists());
    }
}

#[test]
fn what_is_not_saved_is_told_up_to_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "x\n".repeat(3_000) + "{\"id\": \"a\", \"verdict\": \"pass\"}\n";
    let ran = run(&folder, ROOM, &["review", "add", "--reviews", "j.reviews.jsonl"], &lines);
    assert_eq!((ran.code, ran.out.as_slice()), (Some(2), &b"saved a\n"[..]));
    assert_eq!(ran.said.lines().count(), 1_001, "{}", ran.said.len());
    assert_eq!(ran.said.lines().last(), Some("stepscope: 2,000 more are not saved"));

    write(&folder, "v.csv", &("id,verdict\n".to_owned() + &"a,maybe\n".repeat(3_000)));
    let ran = run(&folder, ROOM, &["review", "import", "v.csv", "--reviews", "j.reviews.jsonl"], "");
    assert_eq!((ran.code, ran.said.lines().last()), (Some(2), Some("stepscope: 2,000 more are not saved")));
}

#[test]
fn records_that_are_none_are_not_kept_by_the_million() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "many.jsonl", &"{}\n".repeat(100_001));
    write(&folder, "enough.jsonl", &"{}\n".repeat(100));
    let why = "cannot tell apart the records of many.jsonl: more than 100,000 of its records are shorter than 40 bytes";
    let commands: [&[&str]; 4] = [
        &["compare", "many.jsonl", "enough.jsonl"],
        &["compare", "enough.jsonl", "many.jsonl"],
        &["review", "list", "many.jsonl"],
        &["review", "stats", "many.jsonl"],
    ];
    for command in commands {
        let ran = run(&folder, ROOM, command, "");
        assert_eq!(ran.code, Some(2), "{command:?}");
        assert!(ran.said.contains(why), "{command:?}: {}", ran.said);
    }
    assert_eq!(run(&folder, ROOM, &["compare", "enough.jsonl", "enough.jsonl"], "").code, Some(0));
}

#[test]
fn files_that_nobody_wrote_by_hand_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "c.jsonl", "{\"prompt\": \"p\", \"completion\": \"1\", \"reward\": 1}\n");
    write(&folder, "long.toml", &"\n".repeat((1 << 20) + 1));
    write(
        &folder,
        "pattern.toml",
        &format!("[[stage]]\nverifier = \"regex_format\"\npattern = '{}'", "a?".repeat(9_000)),
    );
    write(&folder, "schema.json", &format!("{{\"enum\": [{}1]}}", "1,".repeat(300_000)));
    write(&folder, "question.json", &format!("{{\"items\": {{\"pattern\": \"{}\"}}}}", "a?".repeat(80_000)));
    for (arguments, why) in [
        (["--chain", "long.toml", "c.jsonl"].as_slice(), "cannot use long.toml: it is larger than 1 MB"),
        (&["--chain", "pattern.toml", "c.jsonl"], "the pattern is longer than 10,000 characters"),
        (&["--verifier", "json_schema", "--schema", "schema.json", "c.jsonl"], "more than 150,000 names and values"),
        (&["--verifier", "json_schema", "--schema", "question.json", "c.jsonl"], "or 100,000 bytes of them; split it"),
    ] {
        let all: Vec<&str> = std::iter::once("verify").chain(arguments.iter().copied()).collect();
        let ran = run(&folder, ROOM, &all, "");
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.said.contains(why) && ran.said.len() < 1_000, "{arguments:?}: {}", ran.said);
    }
}

#[test]
fn schemas_that_ask_for_much_end_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let list = |n: usize| (0..n).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let completion = format!("{{\"completion\": \"[{}]\"}}\n", list(100_000));
    write(&folder, "c.jsonl", &completion);
    let each = |n: usize| format!("\"a{n}\": {{\"$ref\": \"#/$defs/a{}\"}}", n + 1);
    let chain = (0..20_000).map(each).collect::<Vec<_>>().join(",");
    write(&folder, "chain.json", &format!("{{\"$ref\": \"#/$defs/a0\", \"$defs\": {{{chain}, \"a20000\": true}}}}"));
    write(&folder, "enum.json", &format!("{{\"items\": {{\"enum\": [{}]}}}}", list(100_000)));
    let named = |n: usize| (0..n).map(|n| format!("\"v{n}\": \"a\"")).collect::<Vec<_>>().join(",");
    write(&folder, "names.jsonl", &format!("{{\"completion\": {{{}}}}}\n", named(100_000)));
    let each = |n: usize| format!("\"p{n}\": {{\"type\": \"string\"}}");
    let properties = (0..30_000).map(each).collect::<Vec<_>>().join(",");
    write(&folder, "properties.json", &format!("{{\"properties\": {{{properties}}}}}"));
    let names = (0..60_000).map(|n| format!("\"v{n}\"")).collect::<Vec<_>>().join(",");
    write(&folder, "required.json", &format!("{{\"required\": [{names}]}}"));
    let each = |n: usize| format!("{{\"minProperties\": {n}}}");
    let branches = (0..25_000).map(each).collect::<Vec<_>>().join(",");
    write(&folder, "branches.json", &format!("{{\"oneOf\": [{branches}]}}"));
    for (schema, completions) in [
        ("chain.json", "c.jsonl"),
        ("enum.json", "c.jsonl"),
        ("properties.json", "names.jsonl"),
        ("required.json", "names.jsonl"),
        ("branches.json", "names.jsonl"),
    ] {
        let ran = run(&folder, ROOM, &["verify", "--verifier", "json_schema", "--schema", schema, completions], "");
        assert!(ran.said.contains("1 not scored"), "{schema}: {:?} {}", ran.code, ran.said);
    }
}

#[test]
fn what_was_not_read_whole_is_neither_run_nor_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let step = r#"{"id": 1, "inputs": [{"name": "problem_text", "description": "d"}], "stepDescription": "w",
        "output": [{"name": "final_answer", "description": "d"}]}"#;
    let model = ["--model", "m", "--url", "http://127.0.0.1:9", "--yes"];
    for (steps, variables, is_whole) in [(2, 2, true), (20_001, 2, false), (2, 50_001, false)] {
        let procedure = format!("{{\"NameDescription\": \"n\", \"steps\": [{}]}}", vec![step; steps].join(","));
        let variables: Vec<String> = (1..variables).map(|n| format!("\"v{n}\": 1")).collect();
        let state = format!("{{\"problem_text\": \"q\", \"final_answer\": \"1\", {}}}", variables.join(", "));
        let record = format!("{{\"id\": \"a\", \"question\": \"q\", \"procedure\": {procedure}, \"state\": {state}}}");
        write(&folder, "p.json", &procedure);
        write(&folder, "r.json", &record);
        let commands: [&[&str]; 4] = [
            &["run", "p.json", "--question", "q"],
            &["rerun", "r.json", "--step", "1"],
            &["repair", "r.json"],
            &["repair", "p.json", "--without-model"],
        ];
        for command in commands {
            let asks = if command.contains(&"--without-model") { &[][..] } else { &model };
            let ran = run(&folder, ROOM, &[command, asks].concat(), "");
            let refused = ran.said.contains("the record is too large to run: not all of it is read");
            let is_whole = is_whole || (command.contains(&"p.json") && steps == 2);
            assert_eq!((refused, refused && ran.code != Some(2)), (!is_whole, false), "{command:?} {}", ran.said);
            assert!(is_whole || ran.out.is_empty(), "{command:?}");
        }
    }
}

/// Checks that the program ends with one sentence when memory runs out, whatever asked for it last.
#[test]
fn no_memory_left_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    // The table of a list is many times as long as the list.
    write(&folder, "list.json", &format!("[{}1]", "1,".repeat(4_000_000)));
    for command in [["check", "list.json"], ["show", "list.json"], ["repair", "list.json"]] {
        let ran = run(&folder, 100, &command, "");
        assert_eq!(ran.code, Some(2), "{command:?} {}", ran.said);
        assert_eq!(ran.said.lines().count(), 1, "{command:?} {}", ran.said);
        assert!(ran.said.starts_with("stepscope: not enough memory ("), "{command:?} {}", ran.said);
    }
}

/// A schema whose alternatives double at every level, so that a value that breaks them has a million errors.
fn doubling(levels: usize) -> String {
    let level =
        |n: usize| format!(r##""a{n}":{{"anyOf":[{{"$ref":"#/$defs/a{0}"}},{{"$ref":"#/$defs/a{0}"}}]}}"##, n + 1);
    let definitions: Vec<_> = (0..levels).map(level).collect();
    format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a{levels}":{{"type":"array"}}}}}}"##, definitions.join(","))
}

/// A schema of alternatives in alternatives, each with an error that names every key of an object.
fn naming(levels: usize) -> String {
    let inside = |schema: String, n: usize| {
        format!(r#"{{"anyOf":[{{"additionalProperties":false,"properties":{{"p{n}":{{}}}}}},{schema}]}}"#)
    };
    (0..levels).fold(r#"{"type":"array"}"#.to_owned(), inside)
}

#[test]
fn errors_of_alternatives_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!(r#"{{"q": "{}"}}"#, "x".repeat(300_000));
    let members: Vec<_> = (0..27_000).map(|n| format!(r#""k{n}":1"#)).collect();
    let wide = format!("{{{}}}", members.join(","));
    for (schema, value) in [(doubling(19), long), (naming(60), wide)] {
        let schema = write(&folder, "schema.json", &schema);
        let line = serde_json::json!({ "completion": value }).to_string();
        let verify = ["verify", "-j", "1", "--verifier", "json_schema", "--schema", schema.to_str().unwrap(), "-"];
        let ran = run(&folder, LITTLE, &verify, &line);
        let said = String::from_utf8_lossy(&ran.out);
        assert!(said.contains("is not valid under any of the given schemas"), "{} {}", ran.said, said.len());
    }
}

#[test]
fn holes_of_sparse_files_cost_nothing() {
    use std::os::unix::fs::FileExt as _;
    const HOLE: u64 = 100 << 30;
    let folder = tempfile::tempdir().unwrap();
    let record = r#"{"question_id":"q","answer":"a"}"#;
    let path = write(&folder, "sparse.jsonl", &format!("{record}\n{record}\n"));
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let counted = |lines: &str| {
        let ran = run(&folder, ROOM, &["check", "--allow-unknown", "--format", "short", "sparse.jsonl"], "");
        assert!(ran.code.is_some_and(|code| code < 2) && ran.said.contains(lines), "{}", ran.said);
        String::from_utf8(ran.out).unwrap()
    };
    let before = counted("2 records");
    file.set_len(HOLE).unwrap();
    counted("2 records");
    // What stands behind the hole, on the same line, is found.
    file.write_all_at(format!("{record}\n{{\n").as_bytes(), HOLE).unwrap();
    let after = counted("4 records");
    assert!(after.starts_with(&before) && after.contains("sparse.jsonl:3:"), "{after}");
    let ran = run(&folder, ROOM, &["show", "--line", "1", "sparse.jsonl"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.said);
}

#[test]
fn a_line_is_shown_without_the_rest_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_stepscope"))
        .args(["show", "--line", "1", "-"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a block, and no end: whoever asks for more of it waits for ever.
    let mut stdin = child.stdin.take().unwrap();
    let record = r#"{"question_id":"q","answer":"a"}"#;
    let written = stdin.write_all(format!("{record}\n").repeat(20_000).as_bytes());
    assert!(written.is_ok() || written.unwrap_err().kind() == std::io::ErrorKind::BrokenPipe);
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn where_threads_are_scarce_one_does_the_work() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let record = r#"{"question_id":"q","answer":"a"}"#;
    write(&folder, "many.jsonl", &format!("{record}\n").repeat(50_000));
    // The limit on threads holds for people, not for root.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=61234", "--regid=61234", "--clear-groups", "prlimit", "--nproc=1"])
        .args([env!("CARGO_BIN_EXE_stepscope"), "check", "-j", "4", "--format", "short", "many.jsonl"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("50000 records") && !said.contains("bug"), "{said}");
    write(&folder, "verdicts.jsonl", r#"{"id":"q","verdict":"pass"}"#);
    let output = Command::new("setpriv")
        .args(["--reuid=61234", "--regid=61234", "--clear-groups", "prlimit", "--nproc=1"])
        .args([env!("CARGO_BIN_EXE_stepscope"), "review", "add", "--reviewer", "ada", "--reviews", "log.jsonl"])
        .current_dir(folder.path())
        .stdin(std::fs::File::open(folder.path().join("verdicts.jsonl")).unwrap())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "saved q\n", "{output:?}");
}

#[test]
fn a_full_disk_leaves_no_empty_file_or_folder() {
    let folder = tempfile::tempdir().unwrap();
    let record = r#"{"question_id":"q","answer":"a"}"#;
    write(&folder, "one.jsonl", &format!("{record}\n"));
    write(
        &folder,
        "procedure.json",
        r#"{"NameDescription":"p","steps":[{"id":1,"inputs":[],"stepDescription":"Do.","output":[{"name":"x","description":"d"}]}]}"#,
    );
    let limited = |arguments: &[&str]| {
        let output = Command::new("prlimit")
            .args(["--fsize=0", env!("CARGO_BIN_EXE_stepscope")])
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.starts_with("stepscope: ") && !said.contains("bug"), "{said}");
    };
    let names = || {
        let mut names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    limited(&["check", "--format", "parquet", "--out", "deep/tables", "one.jsonl"]);
    limited(&["export", "--all", "pages/of/it", "one.jsonl"]);
    limited(&["export", "--html", "page.html", "one.jsonl"]);
    limited(&["repair", "--without-model", "--out", "fixed.jsonl", "procedure.json"]);
    assert_eq!(names(), before);
}

#[test]
fn which_records_are_printed_does_not_depend_on_the_name_of_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}.jsonl", "long_name_".repeat(20));
    let lines = "{\"a\":1}\n".repeat(40_000);
    let counted = |name: &str, format: &str| {
        write(&folder, name, &lines);
        let ran = run(&folder, ROOM, &["check", "--format", format, name], "");
        number_before(" more records not printed", &ran.said)
    };
    for format in ["short", "jsonl", "sarif"] {
        assert_eq!(counted("a.jsonl", format), counted(&long, format), "{format}");
    }
}

#[test]
fn verdicts_are_held_in_little_memory() {
    const VERDICTS: usize = 60_000;
    /// Of which the program itself takes most.
    const MEGABYTES: usize = 130;
    let folder = tempfile::tempdir().unwrap();
    let verdict = |n: usize| {
        format!(
            r#"{{"v":1,"event_id":"01a22600-3b6c-77f1-8e8e-{n:012x}","kind":"verdict","item":{{"dataset":"runs.jsonl","id":"r{n:07}"}},"seen":{{"content_sha256":"{n:064x}"}},"reviewer":{{"id":"ada"}},"verdict":"pass","times":{{"decided":"2026-11-29T06:31:19.148Z"}}}}"#
        )
    };
    let log = (0..VERDICTS).map(|n| verdict(n) + "\n").collect::<String>();
    write(&folder, "v.reviews.jsonl", &log);
    let ran = run(&folder, MEGABYTES, &["review", "stats", "--reviews", "v.reviews.jsonl"], "");
    let out = String::from_utf8(ran.out).unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    assert!(out.contains(&VERDICTS.to_string()), "{out}");
}
