//! Tables in and out: results as Parquet, read back by the program itself.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_runs/word_problems.jsonl");

fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stepscope")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).concat()
}

/// Returns the findings in a file, regardless of its name.
fn found(path: &Path) -> String {
    let fields = "line,id,kind,findings.rule,findings.message,findings.pointer,triage,fitness,sha256";
    let path = path.to_str().unwrap();
    let output = run(&["check", path, "--format", "jsonl", "--fail-on", "never", "--fields", fields]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tables_of_results_are_read_back_by_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("out").join(name);
    let out = at("");
    let check = |extra: &[&str]| {
        run(&[&["check", SAMPLE, "--format", "parquet", "--out", out.to_str().unwrap()], extra].concat())
    };
    let checked = check(&["--with-record", "--fail-on", "never"]);
    let lines = found(Path::new(SAMPLE));
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    for (table, rows) in [("findings", lines.matches("\"message\"").count()), ("records", lines.lines().count())] {
        assert!(said(&checked).contains(&format!("{table}.parquet: {rows} rows")), "{}", said(&checked));
    }
    assert_eq!(found(&at("records.parquet")), lines, "its column of records is the records");
    // Written again they are replaced; with the exit code of any check.
    assert_eq!(check(&[]).status.code(), Some(1));
    assert!(
        run(&["check", at("records.parquet").to_str().unwrap()]).status.code() == Some(2),
        "no record is in it now"
    );
}

#[test]
fn tables_are_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("findings.parquet"), "mine").unwrap();
    let check = |arguments: &[&str]| run(&[&["check"], arguments].concat());
    let refused = check(&[SAMPLE, "--format", "parquet", "--out", &at("")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("nothing is overwritten"), "{}", said(&refused));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    for (arguments, why) in [
        (&[SAMPLE, "--format", "parquet"][..], "--out <DIR>"),
        (&[SAMPLE, "--out", "x"], "add --format parquet"),
        (&[SAMPLE, "--format", "parquet", "--out", "x", "--fields", "id"], "--fields"),
        (&[SAMPLE, "--format", "parquet", "--out", "x", "--summary"], "cannot be used with"),
    ] {
        let refused = check(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(said(&refused).contains(why), "{}", said(&refused));
    }
    // A folder that cannot be made.
    let refused = check(&[SAMPLE, "--format", "parquet", "--out", "/proc/none"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    // What is read is not written to.
    let out = at("own");
    assert_eq!(check(&[SAMPLE, "--format", "parquet", "--with-record", "--out", &out]).status.code(), Some(1));
    let again = check(&[&format!("{out}/records.parquet"), "--format", "parquet", "--out", &out]);
    assert!(said(&again).contains("is an input file"), "{}", said(&again));
}

#[test]
fn rewards_are_a_table_too() {
    let folder = tempfile::tempdir().unwrap();
    let samples = folder.path().join("samples.jsonl");
    std::fs::write(
        &samples,
        "{\"prompt\": \"p\", \"completion\": \"{}\", \"reward\": 0.0}\n{\"prompt\": \"p\", \"completion\": \"no\"}\n",
    )
    .unwrap();
    let (samples, out) = (samples.to_str().unwrap(), folder.path().to_str().unwrap());
    let verify = ["verify", samples, "--verifier", "json_structure", "--format", "parquet", "--with-record"];
    let verified = run(&[&verify[..], &["--out", out]].concat());
    assert_eq!(verified.status.code(), Some(1));
    assert!(said(&verified).contains("results.parquet: 2 rows"), "{}", said(&verified));
    let again = run(&["verify", &format!("{out}/results.parquet"), "--verifier", "json_structure"]);
    let lines = run(&["verify", samples, "--verifier", "json_structure"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), String::from_utf8(lines.stdout).unwrap());
}

#[test]
fn columns_stand_for_keys_and_what_is_misspelt_is_told() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stores/tables/pandas3.parquet");
    let arrow = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stores/tables/keyed_lz4.arrow");
    let verify = ["verify", table, "--verifier", "regex_format", "--pattern", "EUR"];
    let verified = run(&[&verify[..], &["--columns", "prompt=line_num,completion=text"]].concat());
    let out = String::from_utf8(verified.stdout).unwrap();
    assert_eq!(out.matches("\"success\":true").count(), 1, "{out}");
    assert_eq!(out.lines().count(), 4);
    let check =
        |path: &str, columns: &str| run(&["check", path, "--format", "jsonl", "--with-record", "--columns", columns]);
    let checked = said(&check(table, "question=text,pred_num=line_num"));
    let record = r#""record":{"page_num":1,"pred_num":2,"question":"EUR 900","x0":1.5}"#;
    assert!(checked.lines().nth(1).unwrap().contains(record), "{checked}");
    assert!(said(&check(arrow, "prompt=question,label=pair")).contains(r#""prompt":"1 + 3?""#));
    // A review log speaks of the same records.
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").into_os_string().into_string().unwrap();
    let added = run(&["review", "add", "--reviews", &log, "--id", "EUR 900", "--verdict", "pass"]);
    assert_eq!(added.status.code(), Some(0), "{added:?}");
    let expected = run(&["check", table, "--expect", &log, "--columns", "id=text,question=text,pred_num=line_num"]);
    assert!(said(&expected).contains("1 reviewed: 1 holds"), "{}", said(&expected));
    let database = folder.path().join("storage.sqlite").into_os_string().into_string().unwrap();
    std::fs::write(&database, b"SQLite format 3\0 and more").unwrap();
    for (path, columns, why) in [
        (&*database, "question=text", "leave out --columns"),
        (table, "qestion=text", "Did you mean \"question\"?"),
        (table, "question=txt", "it has no column \"txt\". Did you mean \"text\"?"),
        (table, "question", "write KEY=COLUMN"),
        (SAMPLE, "question=text", "leave out --columns"),
        ("-", "question=text", "leave out --columns"),
        (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stores/store"), "question=text", "leave out --columns"),
    ] {
        let refused = check(path, columns);
        assert_eq!(refused.status.code(), Some(2), "{columns}");
        assert!(said(&refused).contains(why), "{}", said(&refused));
    }
}

#[test]
fn a_shard_that_cannot_be_read_is_told_and_what_is_no_shard_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let shard = std::fs::read(fixture("keyed_lz4.arrow")).unwrap();
    std::fs::write(at("part-0.arrow"), &shard).unwrap();
    // Its columns cannot all be read, and none of its rows is a record.
    std::fs::copy(fixture("pandas3.parquet"), at("lines.parquet")).unwrap();
    let check = || run(&["check", folder.path().to_str().unwrap(), "--format", "jsonl", "--fail-on", "never"]);
    let whole = check();
    assert_eq!((whole.status.code(), &*whole.stderr), (Some(0), &b""[..]), "{whole:?}");
    std::fs::write(at("part-1.arrow"), &shard[..shard.len() / 2]).unwrap();
    let torn = check();
    assert_eq!((torn.status.code(), &torn.stdout), (Some(2), &whole.stdout), "{torn:?}");
    assert!(String::from_utf8_lossy(&torn.stderr).contains("part-1.arrow: this Arrow table"), "{torn:?}");
}

#[test]
fn empty_partitions_are_a_success_in_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("part.jsonl"), "").unwrap();
    let out = at("out");
    let checked = run(&["check", &at("part.jsonl"), "--format", "parquet", "--out", &out, "--fail-on", "never"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    assert!(said(&checked).contains("records.parquet: 0 rows"), "{checked:?}");
    for part in [at("part.jsonl"), at("out/records.parquet")] {
        for command in [&["check", &part, "--format", "jsonl"][..], &["verify", &part, "--verifier", "json_structure"]]
        {
            let never = run(&[command, &["--fail-on", "never"]].concat());
            assert_eq!((never.status.code(), &*never.stdout), (Some(0), &b""[..]), "{never:?}");
            assert_eq!(run(command).status.code(), Some(2), "whoever waits for records is told that there are none");
        }
    }
}

fn fixture(table: &str) -> String {
    format!("{}/tests/fixtures/stores/tables/{table}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the records of a table, as `check` prints them, and what it says of the table.
fn records(table: &str) -> (Vec<String>, String) {
    let output = run(&["check", &fixture(table), "--format", "jsonl", "--with-record", "--fields", "line,record"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let record = |line: &str| line.split_once("\"record\":").map(|(_, rest)| rest[..rest.len() - 1].to_owned());
    (lines.lines().filter_map(record).collect(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn dates_and_times_are_the_same_text_from_every_format() {
    let expected = [
        r#"{"steps":["1 + 1 = 2"],"date":"2026-11-23","date_ms":"2026-11-23","time_s":"12:34:56","time_ms":"12:34:56.789","time_us":"12:34:56.789","time_ns":"12:34:56.789","naive_s":"2026-11-23T12:34:56","naive_ms":"2026-11-23T12:34:56.789","naive_us":"2026-11-23T12:34:56.789","naive_ns":"2026-11-23T12:34:56.789","moments":["2026-11-23T12:34:56.789",null],"utc_ms":"2026-11-23T12:34:56.789Z","berlin_us":"2026-11-23T12:34:56.789Z","run":{"day":"2026-11-23"},"took":1500}"#,
        r#"{"steps":["1 + 1 = 2"]}"#,
        r#"{"steps":["1 + 1 = 2"],"date":2147483647,"date_ms":"0001-01-01","time_s":"00:00:00","time_ms":"00:00:00","time_us":"00:00:00.000100","time_ns":"23:59:59","naive_s":"0001-01-01T00:00:00","naive_ms":253402300800000,"naive_us":"2026-11-23T12:34:56.000001","naive_ns":"1969-12-31T23:59:59","moments":[],"utc_ms":"2026-11-23T12:34:56Z","berlin_us":"2026-11-23T12:34:56Z","run":{},"took":-1}"#,
    ];
    assert_eq!(records("times.arrow").0, expected);
    assert_eq!(records("times.parquet").0, expected);
    let naive = |record: &str| {
        let part = |from: &str, to: &str| {
            record.find(from).map_or("", |at| &record[at..record.find(to).unwrap_or(record.len())]).to_owned()
        };
        format!("{{\"steps\":[\"1 + 1 = 2\"]{}}}", part(",\"naive_us\"", ",\"utc_ms\""))
    };
    assert_eq!(records("times_int96.parquet").0, expected.map(naive), "an old form of the same times");
}

#[test]
fn lists_in_lists_are_the_same_from_every_format_and_writer() {
    let (expected, told) = records("nested.arrow");
    assert_eq!((expected.len(), &*told), (40, ""));
    let first = r#"{"steps":["1 + 1 = 2"],"lists":[[["a",null],[],null],[],null,[["b"],["c"]]],"objects":[{"role":"user","parts":[{"text":"\u00e9","marks":[[1,2],[]]},null]},{}],"inner":{"pairs":[{"tags":[{"a":["x",null]},{}],"at":["2026-11-23"]}]},"maps":{"k":[[true],[null,false]],"none":null},"fixed":[[1,2],null,[3,null]]}"#;
    assert_eq!(expected[0], first);
    for table in ["nested.parquet", "nested_v2.parquet", "nested_duckdb.parquet", "nested_polars.parquet"] {
        let (lines, told) = records(table);
        assert_eq!((lines.len(), &*told), (40, ""), "{table}");
        for (n, (line, expected)) in lines.iter().zip(&expected).enumerate() {
            assert_eq!(line, expected, "{table}, row {n}");
        }
    }
}

#[test]
fn texts_stored_as_differences_and_packed_with_gzip_are_the_same() {
    let (expected, told) = records("differences.arrow");
    assert_eq!((expected.len(), &*told), (300, ""));
    let one = r#"{"question":"Of the 2 apples in the basket, xx","steps":["2 + 0 = 2","2 + 1 = 3"],"#;
    assert!(expected[2].starts_with(one), "{}", expected[2]);
    for writer in ["", "_v2", "_duckdb", "_spark"] {
        let (lines, told) = records(&format!("differences{writer}.parquet"));
        assert_eq!((lines.len(), &*told), (300, ""), "{writer}");
        for (n, (line, expected)) in lines.iter().zip(&expected).enumerate() {
            assert_eq!(line, expected, "{writer}, row {n}");
        }
    }
}

#[test]
fn rare_types_are_read_or_named_with_their_column() {
    let read = r#"{"steps":["1 + 1 = 2"],"code":"abc","uid":"00010203-0405-0607-0809-0a0b0c0d0e0f","cafe":"caf\ufffd","names":["caf\ufffd"],"json":{"a":"\ufffd"},"numbered":{"1":"one","-2":null},"answered":{"true":1,"false":0},"days":{"2026-11-23":7},"exact":10000000000000000000000000000000000000000"#;
    let (lines, told) = records("types.parquet");
    assert_eq!(lines, [format!("{read},\"matrix\":[[1]]}}")]);
    let keyed = "keyed (map with lists or objects as keys)";
    assert!(told.ends_with(&format!(" are not read; write them as JSON strings: {keyed}\n")), "{told}");
    let (lines, told) = records("types.arrow");
    assert_eq!(
        lines,
        [format!("{read},\"view\":[1],\"last\":7}}")],
        "the columns after those that are not read are in their place"
    );
    let unread = [keyed, "union (union)", "runs (run-end encoded)", "after.by.wait (interval)"];
    assert!(told.ends_with(&format!(" are not read; write them as JSON strings: {}\n", unread.join(", "))), "{told}");
    let refused = run(&["check", &fixture("types.arrow"), "--columns", "question=union"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("its column union (union) cannot be read"), "{refused:?}");
}

#[test]
fn columns_mean_what_their_types_say_and_nulls_in_structs_are_not_there() {
    let expected = [
        r#"{"steps":["1 + 1 = 2"],"answer":5,"completion":{"a":[1,NaN]},"gold_num":null,"state":{"right":true,"plain":"true"},"items":[{"b":1},"cut\""],"mistake_index":null,"meta":{"suggested_clarification":null},"scores":[NaN,Infinity],"score":NaN}"#,
        r#"{"steps":["1 + 1 = 2"],"answer":"five","gold_num":"{cut","state":{"right":["x",1.50]},"items":[],"mistake_index":2,"meta":{"suggested_clarification":"a?"},"label":2,"scores":[-Infinity,1e+300,null],"score":0.5}"#,
    ];
    assert_eq!(records("meant.parquet"), (expected.map(str::to_owned).to_vec(), String::new()));
    let arrow_alone = [r#","correct":true,"price":1200,"view":[2,3]}"#, r#","correct":false,"price":-300,"view":[1]}"#];
    let expected = [0, 1].map(|n| format!("{}{}", expected[n].trim_end_matches('}'), arrow_alone[n]));
    assert_eq!(records("meant.arrow"), (expected.to_vec(), String::new()));
}

#[test]
fn bytes_that_are_no_text_are_a_finding() {
    for table in ["types.parquet", "types.arrow"] {
        let output =
            run(&["check", &fixture(table), "--format", "jsonl", "--fields", "findings.rule,findings.pointer"]);
        let found = r#"{"rule":"record/invalid_utf8","pointer":"/cafe"}"#;
        assert!(said(&output).contains(found), "{output:?}");
    }
}

#[test]
fn tables_come_through_pipes_too() {
    let fields = ["--format", "jsonl", "--fail-on", "never", "--fields", "line,kind,findings.rule,sha256"];
    let named = [&fields[..], &["--columns", "prompt=question"]].concat();
    for (table, fields) in [
        ("keyed.parquet", &fields[..]),
        ("keyed_lz4.arrow", &fields),
        ("keyed_stream.arrow", &fields),
        ("keyed.parquet", &named),
    ] {
        let piped = std::fs::File::open(fixture(table)).unwrap();
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
        let child = command.args(["check", "-"]).args(fields).stdin(reader).stdout(Stdio::piped()).spawn().unwrap();
        std::io::copy(&mut &piped, &mut writer).unwrap();
        drop(writer);
        let output = child.wait_with_output().unwrap();
        let named = run(&[&["check", &fixture(table)][..], fields].concat());
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &named.stdout), "{table}");
        assert_eq!(said(&output).lines().count(), 12, "{table}");
    }
}

#[test]
fn ids_that_pandas_made_floats_are_whole_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl").into_os_string().into_string().unwrap();
    std::fs::write(&path, r#"{"id": 7.0, "row_index": 3.0, "question": "2 + 3?", "state": {}, "correct": 0.0}"#)
        .unwrap();
    let checked = run(&["check", &path, "--format", "jsonl", "--fields", "id", "--fail-on", "never"]);
    assert_eq!(said(&checked), "{\"id\":7}\n");
    for id in ["7", "7.0"] {
        let shown = run(&["show", &path, "--id", id]);
        assert!(shown.status.success() && said(&shown).contains("2 + 3?"), "{id}: {}", said(&shown));
    }
}

/// Memory that a command may take for its data, in kilobytes.
const MEMORY_KB: usize = 256 << 10;

/// Checks a table with so little memory; `why`: why it is not read, if it is not.
fn checked_in_little_memory(path: &Path, why: Option<&str>) {
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("ulimit -d {MEMORY_KB}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_stepscope")])
        .args(["check", "--jobs", "2", "--fail-on", "never", path.to_str().unwrap()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(if why.is_some() { 2 } else { 0 }), "{}: {told}", path.display());
    assert!(told.contains(why.unwrap_or_default()), "{}: {told}", path.display());
}

#[test]
fn small_tables_never_take_much_memory() {
    const LARGE: &str = "far more memory than its size suggests";
    const LARGER: &str = "its rows are far larger as records";
    for (table, why) in [
        ("repeated.parquet", Some(LARGER)),
        ("repeated.arrow", Some(LARGER)),
        ("repeated_nul.parquet", Some(LARGER)),
        ("repeated_nul.arrow", Some(LARGER)),
        ("wide.parquet", Some(LARGER)),
        ("ones.parquet", None),
        ("ones.arrow", None),
        ("repeated_delta.parquet", Some(LARGE)),
        ("packed.parquet", Some(LARGE)),
        ("packed_gzip.parquet", Some(LARGE)),
        ("packed.arrow", Some(LARGE)),
        ("bomb.arrow", Some(LARGE)),
        ("deep.arrow", Some("nested too deeply")),
    ] {
        checked_in_little_memory(Path::new(&fixture(table)), why);
    }
}

#[test]
fn footers_that_promise_much_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    // The parts of a schema, each with its name and the number of those in it; a column has a type instead.
    let list = |count: usize| [vec![0x19, 0xfc], varint(count)].concat();
    let group = |name: usize, inside: usize| {
        [vec![0x35, 0, 0x18], varint(name), vec![b'a'; name], vec![0x15], varint(2 * inside), vec![0]].concat()
    };
    let column = [0x15, 2, 0x25, 0, 0x18, 1, b'a', 0];
    let columns = "its columns are too many, nested too deeply or their names too long";
    let deep = [list(200_001), group(1, 1).repeat(200_000), column.to_vec()].concat();
    let counted = [list(2), group(1, i32::MAX as usize), column.to_vec()].concat();
    let named = [list(5_002), group(1, 1), group(1 << 20, 5_000), column.repeat(5_000)].concat();
    let many = [list(100_001), group(1, 100_000), column.repeat(100_000)].concat();
    for (name, schema, why) in [
        ("deep", deep, columns),
        ("counted", counted, "its footer is damaged"),
        ("named", named, columns),
        ("many", many, columns),
    ] {
        let footer = [vec![0x15, 2], schema, vec![0x16, 2, 0x19, 0x0c, 0]].concat();
        let len = (footer.len() as u32).to_le_bytes().to_vec();
        let path = folder.path().join(name);
        std::fs::write(&path, [b"PAR1".to_vec(), footer, len, b"PAR1".to_vec()].concat()).unwrap();
        checked_in_little_memory(&path, Some(why));
    }
}

/// Writes a number as Thrift does.
fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn stepscope(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const RESULTS: &str = r#"{"results": {"version": 3, "results": [
  {"testIdx": 0, "promptIdx": 0, "provider": {"label": "small"}, "prompt": {"raw": "2 + 3?"}, "score": 0, "success": false,
   "failureReason": 1, "cost": 0.5, "error": "Expected 5", "gradingResult": {"reason": "Expected 5"}, "response": {"output": "6"}},
  {"testIdx": 1, "promptIdx": 0, "provider": {"label": "small"}, "prompt": {"raw": "2 + 2?"}, "score": 1, "success": true,
   "failureReason": 0, "response": {"output": "4"}}]}}"#;

#[test]
fn rows_of_another_program_are_checked_with_the_reason_of_each_failure() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.json"), RESULTS).unwrap();
    let (code, said, error) = stepscope(folder.path(), &["check", "--format", "short", "r.json"]);
    assert_eq!(code, Some(0), "{said}{error}");
    assert!(said.contains("note[call/not_passed]") && said.contains("The verifier says: Expected 5"), "{said}");
    assert!(error.contains("r.json: read as results of promptfoo"), "{error}");
    let (_, said, _) = stepscope(folder.path(), &["map", "--try", "r.json"]);
    assert!(said.starts_with("map: results of promptfoo\n") && said.contains("completion        \"6\""), "{said}");
    assert!(said.contains("left over:\n  $.cost  0.5\n"), "{said}");
}

#[test]
fn a_map_of_ones_own_reads_lines_tables_and_packed_files_alike() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("q.csv"), "frage,soll,ist\n2 + 3?,5,6\n").unwrap();
    std::fs::write(at("q.jsonl"), "{\"frage\": \"2 + 3?\", \"soll\": \"5\", \"ist\": \"6\"}\n").unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&std::fs::read(at("q.jsonl")).unwrap()).unwrap();
    std::fs::write(at("q.jsonl.gz"), packed.finish().unwrap()).unwrap();
    let (code, said, _) = stepscope(folder.path(), &["map", "--try", "q.csv"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("# No map fits") && said.contains("# $.frage  \"2 + 3?\""), "{said}");
    let map = "name = 'mine'\nmatch = ['$.frage', '$.ist']\n[record]\nmode = 'baseline'\nstatus = 'ok'\nquestion = '$.frage'\n\
               gold_answer = { text = '$.soll' }\npred_answer = { text = '$.ist' }\nraw = { text = '$.ist' }\n";
    std::fs::write(at("m.toml"), map).unwrap();
    for file in ["q.csv", "q.jsonl", "q.jsonl.gz"] {
        let (code, said, error) = stepscope(
            folder.path(),
            &["check", "--format", "jsonl", "--filter", "correct:false", "--map", "m.toml", file],
        );
        assert_eq!(code, Some(0), "{file}: {said}{error}");
        let record: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        assert_eq!(record["kind"], "baseline", "{file}: {said}");
        assert!(error.contains("read as mine"), "{error}");
    }
    let (code, _, error) = stepscope(folder.path(), &["check", "q.csv"]);
    assert!(code == Some(2) && error.contains("--columns KEY=COLUMN"), "{error}");

    // So do comparisons, baselines and reviews.
    std::fs::write(at("right.csv"), "frage,soll,ist\n2 + 3?,5,5\n").unwrap();
    let with_map = |arguments: &[&str]| stepscope(folder.path(), &[arguments, &["--map", "m.toml"]].concat());
    let (code, said, _) = with_map(&["compare", "q.jsonl", "right.csv", "--fail-on-regression"]);
    assert!(code == Some(1) && said.contains("100.0 %"), "{said}");
    let (code, _, error) = with_map(&["check", "--format", "jsonl", "--baseline", "right.csv", "q.csv"]);
    assert!(code == Some(0) && !error.contains("no baseline answer"), "{error}");
    let (code, said, _) = with_map(&["review", "next", "q.csv", "--reviewer", "ada"]);
    assert!(code == Some(0) && said.contains("2 + 3?") && said.contains("--map m.toml"), "{said}");
}
