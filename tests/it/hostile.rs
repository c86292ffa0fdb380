//! Hostile files: whatever is in them or around them, the program says what it found, in honest characters, in a
//! moment, and leaves everything as it was.

use crate::support::hostile;
use crate::support::markup;
use crate::support::nasty;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::drive::Drive;
use crate::support::fed::fed;
use stepscope_base::text::is_hidden;

/// Address space of a command, in kilobytes: what hostile files of at most a few megabytes may ever need.
const MEMORY_KB: usize = 2 << 20;
/// Time limit of a command: far more than any of these files should take, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a command with bounded memory.
fn run(arguments: &[&OsStr]) -> (Output, Duration) {
    let begun = Instant::now();
    let output = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY_KB}; exec \"$@\""))
        .arg("sh")
        .arg(env!("CARGO_BIN_EXE_stepscope"))
        .args(arguments)
        .env("TERM", "xterm-256color")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output, begun.elapsed())
}

/// Describes what is wrong with the end of a command and with its output.
fn judge(output: &Output, took: Duration, codes: &[i32]) -> Vec<String> {
    let mut out = Vec::new();
    match output.status.code() {
        Some(code) if codes.contains(&code) => {}
        Some(code) => out.push(format!("exit {code}, wanted one of {codes:?}")),
        None => out.push(format!("ended by a signal: {}", output.status)),
    }
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let leak = text.chars().find(|c| *c != '\n' && is_hidden(*c));
                out.extend(leak.map(|c| format!("{name} holds {c:?}")));
                if text.contains("panicked at") {
                    out.push(format!("{name} tells of a panic"));
                }
            }
            Err(error) => out.push(format!("{name} is no UTF-8: {error}")),
        }
    }
    if output.status.code() == Some(2) && output.stderr.is_empty() {
        out.push("failed without a word".into());
    }
    if took > PATIENCE {
        out.push(format!("took {took:?}"));
    }
    out
}

/// Returns everything below a folder: names, bytes and times of change.
fn inventory(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            if about.is_dir() {
                folders.push(path.clone());
            }
            let bytes = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            out.insert(path, (bytes, about.modified().unwrap()));
        }
    }
    out
}

/// Judges every case, on all cores, and gathers what is wrong.
fn with_all<T: Sync>(cases: &[T], judge: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(judge(case));
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn every_file_is_checked_in_honest_characters() {
    let folder = tempfile::tempdir().unwrap();
    let cases = hostile::write_all(folder.path());
    let before = inventory(folder.path());
    let wrong = with_all(&cases, |(path, case)| {
        let mut wrong = Vec::new();
        let check = ["check", "--allow-unknown", "--jobs", "1", "--"].map(OsStr::new);
        let check: Vec<&OsStr> = check.into_iter().chain([path.as_os_str()]).collect();
        let show = [OsStr::new("show"), OsStr::new("--line"), OsStr::new("1"), OsStr::new("--"), path.as_os_str()];
        for (arguments, codes) in [(&check[..], case.codes), (&show[..], &[0, 1, 2][..])] {
            let (output, took) = run(arguments);
            wrong.extend(
                judge(&output, took, codes).into_iter().map(|why| format!("{:?} {:?}: {why}", arguments[0], case.name)),
            );
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(inventory(folder.path()) == before, "a file was changed or left behind");
}

#[test]
fn every_format_says_it_in_honest_characters() {
    let folder = tempfile::tempdir().unwrap();
    hostile::write_all(folder.path());
    let groups: Vec<PathBuf> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let jobs: Vec<(&str, &PathBuf)> = ["text", "short", "jsonl", "sarif", "github", "junit", "markdown"]
        .into_iter()
        .flat_map(|format| groups.iter().map(move |g| (format, g)))
        .collect();
    let wrong = with_all(&jobs, |(format, group)| {
        let arguments = ["check", "--format", format, "--color", "never", "--"]
            .map(OsStr::new)
            .into_iter()
            .chain([group.as_os_str()]);
        let (output, took) = run(&arguments.collect::<Vec<_>>());
        let mut wrong = judge(&output, took, &[1, 2]);
        let text = String::from_utf8_lossy(&output.stdout);
        // Half pairs and huge numbers are JSON by its grammar, and stay as they were written; this reader takes neither.
        let exact = ["hex escape", "number out of range"];
        let json = |text: &str| {
            let error = serde_json::from_str::<serde_json::Value>(text).err()?.to_string();
            (!exact.iter().any(|known| error.contains(known))).then(|| format!("no JSON: {error}"))
        };
        match *format {
            "jsonl" => wrong.extend(text.lines().filter_map(json)),
            "sarif" => wrong.extend(json(&text)),
            "github" => wrong
                .extend(text.lines().filter(|line| !line.starts_with("::")).map(|line| format!("no command: {line}"))),
            _ => {}
        }
        wrong.iter().map(|why| format!("{format} {:?}: {why}", group.file_name())).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the output of `check` for each record, without its position and without findings that depend on its
/// neighbours.
fn findings_of(path: &Path) -> Vec<serde_json::Value> {
    let words = ["check", "--format", "jsonl", "--fail-on", "never", "--jobs", "1", "--"].map(OsStr::new);
    let (output, _) = run(&words.into_iter().chain([path.as_os_str()]).collect::<Vec<_>>());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let about = |line: &str| {
        // Digits without end and half pairs are JSON that this reader does not take.
        let mut record: serde_json::Value = serde_json::from_str(line).ok()?;
        for key in ["source", "line", "index"] {
            record.as_object_mut()?.remove(key);
        }
        let of_itself = |finding: &serde_json::Value| {
            !["record/joined", "record/duplicate_id"].iter().any(|rule| finding["rule"] == *rule)
        };
        record["findings"].as_array_mut()?.retain(of_itself);
        Some(record)
    };
    text.lines().map(|line| about(line).unwrap_or_default()).collect()
}

#[test]
fn every_file_has_pages_that_hold_nothing_but_their_records() {
    let folder = tempfile::tempdir().unwrap();
    let (pages, next) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
    let cases = hostile::write_all(folder.path());
    let before = inventory(folder.path());
    let wrong = with_all(&cases, |(path, case)| {
        let to = pages.path().join(next.fetch_add(1, Ordering::Relaxed).to_string());
        let words =
            [OsStr::new("export"), OsStr::new("--force"), OsStr::new("--all"), to.as_os_str(), OsStr::new("--")];
        let (output, took) = run(&words.into_iter().chain([path.as_os_str()]).collect::<Vec<_>>());
        let mut wrong = judge(&output, took, &[0, 2]);
        let mut made: Vec<PathBuf> =
            std::fs::read_dir(&to).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        made.sort();
        let index = made.iter().position(|page| page.ends_with("index.html")).map(|at| made.remove(at));
        let mut bytes = 0;
        for page in index.iter().chain(&made) {
            let text = std::fs::read_to_string(page).unwrap();
            bytes += text.len();
            wrong.extend(markup::wrong_in(&text));
        }
        if bytes > 20 * case.bytes.len() + (5 << 20) {
            wrong.push(format!("{bytes} bytes of pages"));
        }
        // Opened again, a few of them say what their record says.
        let records = findings_of(path);
        if output.status.code() == Some(0) && made.len() != records.len() {
            wrong.push(format!("{} pages of {} records", made.len(), records.len()));
        }
        for (page, record) in made.iter().zip(&records).step_by(1 + records.len() / 2) {
            let carries = std::fs::read_to_string(page).unwrap().contains("This page carries its record");
            if carries && findings_of(page) != std::slice::from_ref(record) {
                wrong.push(format!("{:?} is not {record}: {:?}", page.file_name(), findings_of(page)));
            }
        }
        wrong.iter().map(|why| format!("{:?}: {why}", case.name)).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(inventory(folder.path()) == before, "a file was changed or left behind");
}

#[test]
fn every_file_opens_on_screen() {
    let folder = tempfile::tempdir().unwrap();
    let cases = hostile::write_all(folder.path());
    let before = inventory(folder.path());
    let wrong = with_all(&cases, |(path, case)| {
        let begun = Instant::now();
        let opened = std::panic::catch_unwind(|| {
            let mut drive = Drive::open(std::slice::from_ref(path));
            drive.resize(80, 24);
            drive.keys("G g Enter ] [ e e w W Tab d Tab l l l Tab Enter Esc J L G H e y p Esc : Esc ? q");
            drive.keys("/ 'e' Enter n N Esc Esc q");
        });
        let mut wrong = Vec::new();
        if opened.is_err() {
            wrong.push(format!("{:?} broke the screen", case.name));
        }
        if begun.elapsed() > PATIENCE {
            wrong.push(format!("{:?} took {:?}", case.name, begun.elapsed()));
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(inventory(folder.path()) == before, "a file was changed or left behind");
}

#[test]
fn numbers_keep_their_digits_on_screen() {
    let (_folder, mut drive) = Drive::text(
        "{\"question\": \"q\", \"state\": {\"a\": 9007199254740993, \"b\": 18446744073709551616, \"c\": 1.10, \"d\": NaN, \"e\": 1e999, \"f\": -0}}\n",
    );
    drive.keys("Enter");
    drive.shows(&["9007199254740993", "18446744073709551616", "1.10", "NaN", "1e999", "-0"]);
}

#[test]
fn strange_files_are_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("loop/inside")).unwrap();
    std::os::unix::fs::symlink("..", path("loop/inside/back")).unwrap();
    std::os::unix::fs::symlink("itself", path("itself")).unwrap();
    std::os::unix::fs::symlink("nowhere", path("dangling")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("zero.jsonl")).unwrap();
    std::fs::create_dir(path("folder.jsonl")).unwrap();
    std::fs::write(path("loop/good.jsonl"), "{\"question\": \"q\", \"state\": {}}\n").unwrap();
    let made = Command::new("mkfifo").arg(path("pipe")).status().is_ok_and(|status| status.success());
    let sparse = std::fs::File::create(path("sparse.jsonl")).unwrap();
    sparse.set_len(300 << 20).unwrap();
    let before: Vec<PathBuf> = names(folder.path());
    for (name, codes) in [
        ("loop", &[0, 1][..]),
        ("itself", &[2]),
        ("dangling", &[2]),
        ("zero.jsonl", &[2]),
        ("folder.jsonl", &[2]),
        ("missing", &[2]),
        ("pipe", &[2]),
        ("sparse.jsonl", &[0, 1, 2]),
        ("/dev/null", &[0, 2]),
        ("/dev/tty", &[2]),
        ("/proc/self/mem", &[2]),
    ] {
        if name == "pipe" && !made {
            continue;
        }
        let file = path(name);
        let (output, took) = run(&[OsStr::new("check"), file.as_os_str()]);
        let wrong = judge(&output, took, codes);
        assert!(wrong.is_empty(), "{name}: {wrong:?}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    for name in ["loop", "itself", "dangling", "zero.jsonl", "folder.jsonl", "missing"] {
        let mut drive = Drive::open(&[path(name)]);
        drive.keys("j Enter J q q");
    }
    assert_eq!(names(folder.path()), before);
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

/// Position of a byte that makes the library of these tables panic.
const BREAKING: (&str, usize) = ("delta.parquet", 301);

#[test]
fn a_panic_of_a_library_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let answer = r#"{"extraction_method": "verbatim", "confidence": 1, "answer_found": true, "items": [{"text": "a", "spans": [{"line_start": 0, "line_end": 0, "quote": "a"}]}]}"#;
    std::fs::write(at("answer.json"), answer).unwrap();
    let (name, byte) = BREAKING;
    let mut table =
        std::fs::read(format!("{}/tests/fixtures/stores/tables/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    table[byte] = 127;
    std::fs::write(at("broken.parquet"), table).unwrap();
    let (answer, table) = (at("answer.json"), at("broken.parquet"));
    for command in ["check", "show"] {
        let (output, took) =
            run(&[OsStr::new(command), answer.as_os_str(), OsStr::new("--document"), table.as_os_str()]);
        assert_eq!(judge(&output, took, &[2]), Vec::<String>::new());
        let said = String::from_utf8(output.stderr).unwrap();
        let about: Vec<_> = said.lines().filter(|line| line.contains("broken.parquet")).collect();
        assert_eq!(about.len(), 1, "{said}");
        assert!(about[0].contains("this parquet table is damaged; write it again"), "{said}");
        assert!(!said.contains("internal error") && !said.contains("metadata/mod.rs"), "{said}");
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults to ask for")]
fn a_fault_of_ours_is_one_sentence() {
    for (command, words) in [
        ("command", &["keys"][..]),
        ("worker", &["check", "-"]),
        ("worker", &["verify", "--verifier", "json_structure", "-"]),
    ] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_stepscope"));
        let program = program.args(words).env("STEPSCOPE_PANIC", command);
        let output = fed(program, "{\"question\": \"q\", \"state\": {}}\n");
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert_eq!(said.lines().count(), 1, "{command}: {said}");
        let expected =
            ": asked for by STEPSCOPE_PANIC␛[31m. This is a bug in stepscope; nothing that was saved is lost.";
        assert!(
            said.starts_with("stepscope: internal error at crates/base/src/guard.rs:")
                && said.trim_end().ends_with(expected),
            "{said}"
        );
    }
}

/// Measures the cost of a command: its processor time, in milliseconds, and the number of bytes that it printed.
fn cost(arguments: &[&OsStr]) -> (f64, usize) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stepscope"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut printed = Vec::new();
    std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut printed).unwrap();
    // The child has closed its output: what it used stays readable until it is waited for.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    child.wait().unwrap();
    let fields: Vec<u64> = stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|n| n.parse().ok()).collect();
    // The first field behind the name is a letter; user and system time are the eleventh and twelfth number, in ticks.
    ((fields[10] + fields[11]) as f64 * 10.0, printed.len())
}

/// Makes files of a few hundred kilobytes that would take many megabytes if all that is in them were kept: the name of
/// each, its text, and the message where only a part is read.
fn masses() -> Vec<(&'static str, String, &'static str)> {
    const SIZE: usize = 400_000;
    let list = |item: &str| vec![item; SIZE / (item.len() + 1)].join(",");
    let members = || (0..60_000).map(|n| format!("\"a{n}\":1")).collect::<Vec<_>>().join(",");
    let record = |procedure: &str, state: &str, trace: &str| {
        format!(
            "{{\"id\":1,\"question\":\"q\",\"procedure\":{{\"steps\":[{procedure}]}},\"state\":{{{state}}},\"trace\":{{{trace}}}}}\n"
        )
    };
    vec![
        ("objects as steps", record(&list("{}"), "", ""), "Only the first 20,000 of 133,333 steps are read."),
        ("numbers as steps", record(&list("1"), "", ""), "Only the first 20,000 of 200,000 steps are read."),
        (
            "inputs",
            record(&format!("{{\"inputs\":[{}]}}", list("{}")), "", ""),
            "Only the first 100,000 of 133,333 inputs and outputs are read.",
        ),
        ("state", record("", &members(), ""), "Only the first 50,000 of 60,000 variables of the state are read."),
        (
            "calls",
            record("", "", &format!("\"steps\":[{}]", list("{}"))),
            "Only the first 20,000 of 133,333 recorded calls are read.",
        ),
        (
            "outputs",
            record("{}", "", &format!("\"steps\":[{{\"step_index\":0,\"outputs\":{{{}}}}}]", members())),
            "Only the first 50,000 of 60,000 recorded inputs and outputs are read.",
        ),
        ("keys of a step", record(&format!("{{{}}}", members()), "", ""), ""),
        ("keys of an answer", format!("{{\"final_answer\":1,{}}}\n", members()), ""),
        ("a list of records", format!("[{}]", list("{}")), ""),
        ("records on a line", "{}".repeat(SIZE / 2), ""),
        ("lines", "{}\n".repeat(SIZE / 3), ""),
    ]
}

/// Returns the address space of a command over these files, in kilobytes: the program itself takes about 50 MB of it,
/// and each of its threads some for a stack.
fn little_kb() -> usize {
    (128 << 10) + std::thread::available_parallelism().map_or(2, usize::from) * (4 << 10)
}

#[cfg(target_os = "linux")]
#[test]
fn small_files_take_little_memory_and_what_is_not_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (masses, most) = (masses(), little_kb());
    let jobs: Vec<_> = masses
        .iter()
        .flat_map(|mass| {
            [&["check", "--allow-unknown", "--jobs", "1"][..], &["show", "--state"]].map(|words| (mass, words))
        })
        .collect();
    let wrong = with_all(&jobs, |((name, text, said), words)| {
        let path = folder.path().join(format!("{name}, {}", words[0]));
        std::fs::write(&path, text).unwrap();
        let output = Command::new("/bin/sh")
            .arg("-c")
            .arg(format!("ulimit -v {most}; exec \"$@\""))
            .arg("sh")
            .arg(env!("CARGO_BIN_EXE_stepscope"))
            .args(*words)
            .arg(&path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut wrong = judge(&output, Duration::ZERO, &[0, 1]);
        if !String::from_utf8_lossy(&output.stdout).contains(said) {
            wrong.push(format!("does not say {said:?}"));
        }
        if output.stdout.len() > 20 * text.len() {
            wrong.push(format!("prints {} bytes of {}", output.stdout.len(), text.len()));
        }
        wrong
            .iter()
            .map(|why| format!("{name}, {}: {why}\n{}", words[0], String::from_utf8_lossy(&output.stderr)))
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that a record of twice the size is about twice the work, never four times.
#[cfg(target_os = "linux")]
#[test]
fn work_grows_with_the_record_and_not_faster() {
    type Make = fn(usize) -> String;
    const FIELD: &str = "{\"name\":\"v\",\"description\":\"d\"}";
    let empties: Make = |n| format!("{}\n", "{}".repeat(4 * n));
    let crashed: Make =
        |n| nasty::many_steps(n).replace("\"ok\"", "\"error\"").replace("\"correct\": false", "\"error\": \"x\"");
    let rewritten: Make = |n| {
        let step =
            |n| format!("{{\"id\":{},\"stepDescription\":\"s\",\"inputs\":[{FIELD}],\"output\":[{FIELD}]}}", n + 1);
        let steps = (0..n).map(step).collect::<Vec<_>>().join(",");
        format!(
            "{{\"id\":1,\"question\":\"q\",\"procedure\":{{\"NameDescription\":\"n\",\"steps\":[{steps}]}},\"state\":{{\"v\":1}}}}\n"
        )
    };
    let kinds: [(&str, Make); 5] = [
        ("variables", nasty::many_variables),
        ("steps", nasty::many_steps),
        ("crashed", crashed),
        ("rewritten", rewritten),
        ("glued", empties),
    ];
    let folder = tempfile::tempdir().unwrap();
    let commands = [&["check", "--jobs", "1"][..], &["show", "--state"]];
    for ((name, make), words) in kinds.iter().flat_map(|kind| commands.map(|words| (kind, words))) {
        let at = |n: usize| {
            let path = folder.path().join(format!("{name}{n}.jsonl"));
            let text = make(n);
            std::fs::write(&path, &text).unwrap();
            let arguments: Vec<_> = words.iter().map(OsStr::new).chain([path.as_os_str()]).collect();
            let (time, printed) = cost(&arguments);
            assert!(printed <= 20 * text.len() + (2 << 20), "{words:?} {name} {n}: {printed} of {}", text.len());
            time
        };
        let (small, large) = (at(3_000), at(12_000));
        // Four times the size: what is quadratic costs sixteen times as much. The start of the program costs too.
        assert!(large <= 8.0 * small + 400.0, "{words:?} {name}: {small} ms, then {large} ms");
    }
}
