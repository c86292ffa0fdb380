//! Files that mean harm, made here: no two runs differ, and nothing is fetched.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Exit codes that are honest for any file that is checked.
const ANY: &[i32] = &[0, 1, 2];
const READ: &[i32] = &[0, 1];
const FOUND: &[i32] = &[1];

/// Hostile file.
pub(crate) struct Case {
    /// Name of the file; the group comes first.
    pub(crate) name: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Honest exit codes of `check`.
    pub(crate) codes: &'static [i32],
}

fn case(group: &str, name: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>, codes: &'static [i32]) -> Case {
    Case { name: Path::new(group).join(name.into()), bytes: bytes.into(), codes }
}

const BASE: &str = r#"{"id": "base", "question": "Two and two?", "gold_answer": "so #### 4", "gold_num": 4.0, "status": "ok", "mode": "procedural", "procedure": {"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Read both", "output": [{"name": "one", "description": "first"}, {"name": "two", "description": "second"}]}, {"id": 2, "inputs": [{"name": "one", "description": "first"}, {"name": "two", "description": "second"}], "stepDescription": "Add", "output": [{"name": "final_answer", "description": "sum"}]}]}, "fitness": 1.25, "steps": 2, "state": {"problem_text": "Two and two?", "one": 2, "two": 2, "final_answer": "4", "final_answer_numerical": 4, "confidence": 0.5}, "pred_answer": "4", "pred_num": 4.0, "correct": true}"#;

/// Returns characters that a terminal obeys or hides, as themselves.
fn payloads() -> Vec<(&'static str, String)> {
    let tags: String = "hidden".chars().map(|c| char::from_u32(0xe_0000 + u32::from(c)).unwrap()).collect();
    vec![
        ("csi", "\u{1b}[31;7771mred\u{1b}[0m".into()),
        ("clear", "\u{1b}[2J\u{1b}[H".into()),
        ("title", "\u{1b}]0;taken over\u{7}".into()),
        ("title_st", "\u{1b}]2;taken over\u{1b}\\".into()),
        ("clipboard", "\u{1b}]52;c;cm0gLXJm\u{7}".into()),
        ("link", "\u{1b}]8;;http://example.invalid\u{7}text\u{1b}]8;;\u{7}".into()),
        ("open_osc", "\u{1b}]52;c;".into()),
        ("dcs", "\u{1b}P$q\"p\u{1b}\\".into()),
        ("query", "\u{1b}[c\u{1b}[>0q\u{1b}[6n\u{1b}[21t".into()),
        ("mouse", "\u{1b}[?1003h\u{1b}[?1049h\u{1b}[?2004h".into()),
        ("c1", "\u{9b}31m\u{9d}0;x\u{9c}\u{90}\u{85}".into()),
        ("reset", "\u{1b}c\u{1b}#8\u{e}\u{f}".into()),
        ("bell", "\u{7}\u{8}\u{8}\u{7f}\u{b}\u{c}".into()),
        ("return", "good\rEVIL\r\nx".into()),
        ("tab", "\t\t\tx\u{1c}\u{1d}\u{1e}\u{1f}".into()),
        ("nul", "a\0b".into()),
        ("bidi", "\u{202e}drawkcab\u{202c}".into()),
        ("isolate", "\u{2066}a\u{2069}\u{2067}b\u{61c}\u{200e}\u{200f}".into()),
        ("zero_width", "a\u{200b}b\u{200c}c\u{200d}d\u{2060}e\u{feff}f".into()),
        ("tags", tags),
        ("selectors", format!("a{}{}", "\u{fe0f}".repeat(30), "\u{e0101}".repeat(30))),
        ("marks", format!("z{}", "\u{35f}\u{336}".repeat(2_000))),
        ("lone_marks", "\u{301}".repeat(500)),
        ("families", "👩\u{200d}👩\u{200d}👧\u{200d}👦".repeat(60)),
        ("lines", "\u{2028}\u{2029}\u{b}\u{85}".into()),
        ("fillers", "\u{3164}\u{115f}\u{ffa0}\u{2800}\u{34f}\u{17b4}\u{180e}".into()),
        ("interlinear", "\u{fff9}a\u{fffa}b\u{fffb}\u{fffe}\u{ffff}".into()),
        ("private", "\u{e000}\u{f8ff}\u{10ffff}".into()),
        ("percent", "%s%n$(id)`id`;rm -rf\\x1b[31m\\u001b".into()),
        ("formula", "=cmd|'/c calc'!A1".into()),
    ]
}

/// Returns the text as a JSON string may hold it: everything that is not letter or digit escaped.
fn escaped(text: &str) -> String {
    let units = text.encode_utf16();
    units
        .map(|unit| match u8::try_from(unit).map(char::from) {
            Ok(c) if c.is_ascii_alphanumeric() => c.to_string(),
            _ => format!("\\u{unit:04x}"),
        })
        .collect()
}

/// Returns the record with a text in every place that is shown; `text` is inserted between quotes as it is.
fn everywhere(text: &str) -> String {
    let mut out = BASE.to_owned();
    for place in ["base", "Two and two?", "Add", "Read both", "first", "one", "procedural", "task"] {
        out = out.replace(&format!("\"{place}\""), &format!("\"{place}{text}\""));
    }
    let trace = format!(
        "\"trace\": {{\"steps\": [{{\"step_index\": 0, \"prompt\": \"{text}\", \"raw\": \"{text}\", \"schema\": {{\"{text}\": 1}}, \"error\": \"{text}\", \"model\": \"{text}\", \"outputs\": {{\"{text}\": \"{text}\"}}}}]}}, \"x{text}\": {{\"{text}\": \"{text}\"}}, \"pred_num\""
    );
    let mut out =
        out.replace("\"pred_num\"", &trace).replace("\"pred_answer\": \"4\"", &format!("\"pred_answer\": \"{text}\""));
    out.push('\n');
    for error in ["error", "raw", "final_answer"] {
        let _ = writeln!(
            out,
            "{{\"id\": \"{text}\", \"question\": \"{text}\", \"status\": \"error\", \"error_type\": \"{text}\", \"{error}\": \"{text}\"}}"
        );
    }
    out
}

/// Returns records with every payload in every place: as escapes, and as itself as far as JSON allows it there.
pub(crate) fn records() -> String {
    let itself = |text: String| -> String { text.chars().filter(|c| *c >= ' ' && !matches!(c, '"' | '\\')).collect() };
    let each = |(_, text): (_, String)| [everywhere(&escaped(&text)), everywhere(&itself(text))];
    payloads().into_iter().flat_map(each).collect()
}

fn strings(out: &mut Vec<Case>) {
    for (name, text) in payloads() {
        out.push(case("strings", format!("{name}.jsonl"), everywhere(&escaped(&text)), READ));
        // As themselves: some of them JSON forbids.
        let raw = text.replace('\\', "\\\\").replace('"', "\\\"");
        out.push(case("raw", format!("{name}.jsonl"), everywhere(&raw), READ));
        out.push(case(
            "literal",
            format!("{name}.jsonl"),
            format!("{text}\n{text}{BASE}\n{BASE}{text}\n{{{text}}}\n"),
            ANY,
        ));
    }
    let surrogates = ["\\ud800", "\\udc00\\ud800", "\\ud83d\\ud83d\\ude00", "\\udfff\\udfffx"];
    for (n, text) in surrogates.into_iter().enumerate() {
        out.push(case("strings", format!("surrogate_{n}.jsonl"), everywhere(text), FOUND));
    }
    for (n, text) in ["\\x41", "\\u12", "\\", "\\u{1b}", "\\uZZZZ", "\\'"].into_iter().enumerate() {
        out.push(case("strings", format!("escape_{n}.jsonl"), everywhere(text), FOUND));
    }
}

fn bytes(out: &mut Vec<Case>) {
    let utf16 = |little: bool, mark: bool| {
        let units = BASE.encode_utf16().flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() });
        let mark: &[u8] = if mark && little {
            b"\xff\xfe"
        } else if mark {
            b"\xfe\xff"
        } else {
            b""
        };
        mark.iter().copied().chain(units).collect::<Vec<u8>>()
    };
    let with = |head: &[u8], tail: &[u8]| [head, BASE.as_bytes(), tail].concat();
    for (name, content, codes) in [
        ("empty", Vec::new(), ANY),
        ("newline", b"\n".to_vec(), ANY),
        ("blanks", b" \t\r\n \n\n".to_vec(), ANY),
        ("bom", b"\xef\xbb\xbf".to_vec(), ANY),
        ("bom_twice", with(b"\xef\xbb\xbf\xef\xbb\xbf", b"\n"), ANY),
        ("comments", b"// one\n// two\n".to_vec(), ANY),
        ("le", utf16(true, true), ANY),
        ("be", utf16(false, true), ANY),
        ("le_bare", utf16(true, false), ANY),
        ("be_bare", utf16(false, false), ANY),
        ("half_unit", utf16(true, true)[..101].to_vec(), ANY),
        ("cr", with(b"", b"\r{\"a\": 1}\r"), ANY),
        ("crlf", with(b"", b"\r\n{\"a\": 1}\r\n"), READ),
        ("nul_tail", with(b"", &[0; 5_000]), ANY),
        ("nul_hole", [BASE.as_bytes(), b"\n", &vec![0; 70_000], b"\n", BASE.as_bytes()].concat(), READ),
        ("high", with(b"\xff\xfe\xfd", b"\n\x80\x81\x82\n"), ANY),
        ("overlong", with(b"", b"\n\"\xc0\x80\xc1\xbf\xe0\x80\x80\xf0\x80\x80\x80\xf8\x88\x80\x80\x80\"\n"), READ),
        ("invalid_everywhere", everywhere("Q").replace('Q', "\u{fffd}").into_bytes(), READ),
        ("random", (0..40_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect(), ANY),
        ("elf", [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 300]].concat(), ANY),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage".to_vec(), ANY),
        ("zip", b"PK\x03\x04aaaaaaaaaaaaaaaa".to_vec(), ANY),
        ("parquet", b"PAR1\xff\xff\xff\x7fPAR1".to_vec(), ANY),
        ("arrow", b"ARROW1\0\0\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\x7fARROW1".to_vec(), ANY),
        ("arrow_stream", [b"\xff\xff\xff\xff\x10\0\0\0\x10\0\0\0".as_slice(), &[0xff; 300]].concat(), ANY),
        ("sqlite", [b"SQLite format 3\0".as_slice(), &[0xff; 500]].concat(), ANY),
    ] {
        out.push(case("bytes", format!("{name}.jsonl"), content, codes));
    }
    let invalid: Vec<u8> = everywhere("QQQ").into_bytes();
    let invalid: Vec<u8> = invalid.chunks(1).flat_map(|b| if b == b"Q" { vec![0xff] } else { b.to_vec() }).collect();
    out.push(case("bytes", "invalid.jsonl", invalid, FOUND));
    for at in (1..BASE.len()).step_by(BASE.len() / 17) {
        out.push(case("trunc", format!("{at}.jsonl"), &BASE.as_bytes()[..at], ANY));
        out.push(case("trunc", format!("{at}_between.jsonl"), format!("{BASE}\n{}\n{BASE}\n", &BASE[..at]), READ));
    }
}

fn values(out: &mut Vec<Case>) {
    let numbers = [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "1e-999",
        "9007199254740993",
        "18446744073709551616",
        "-0",
        "-0.0",
        "00",
        "01",
        "1.",
        ".5",
        "+1",
        "0x10",
        "1e",
        "1_000",
        "--1",
        "1e+-5",
        "999999999999999999e999999999999",
    ];
    for (n, number) in numbers.iter().enumerate() {
        let text = BASE.replace(": 4.0", &format!(": {number}")).replace(": 2", &format!(": {number}"));
        out.push(case("numbers", format!("{n}.jsonl"), text, READ));
    }
    out.push(case("numbers", "digits.jsonl", BASE.replace(": 4.0", &format!(": {}", "7".repeat(200_000))), FOUND));
    for (n, (from, to)) in [
        ("\"id\": \"base\"", "\"id\": \"base\", \"id\": \"other\""),
        ("\"question\"", "\"question\": 1, \"question\""),
        ("\"state\"", "\"state\": {}, \"state\""),
        ("\"one\": 2", "\"one\": 2, \"one\": 3, \"\\u006fne\": 4"),
        ("\"steps\": [", "\"steps\": [], \"steps\": ["),
        ("\"procedure\"", "\"procedure\": null, \"procedure\""),
    ]
    .into_iter()
    .enumerate()
    {
        out.push(case("dups", format!("{n}.jsonl"), format!("{}\n{BASE}\n", BASE.replace(from, to)), FOUND));
    }
    for depth in [120, 128, 129, 1_000, 100_000] {
        for (name, open, close) in [("arrays", "[", "]"), ("objects", "{\"a\":", "}"), ("mixed", "[{\"a\":", "}]")] {
            let whole = format!("{{\"question\": \"q\", \"state\": {}1{}}}", open.repeat(depth), close.repeat(depth));
            out.push(case("nesting", format!("{name}_{depth}.json"), whole, READ));
            out.push(case("nesting", format!("{name}_{depth}_open.json"), open.repeat(depth), ANY));
        }
        out.push(case("nesting", format!("closed_{depth}.json"), "]}".repeat(depth), ANY));
    }
}

fn shapes(out: &mut Vec<Case>) {
    let fields = [
        "\"id\": \"base\"",
        "\"question\": \"Two and two?\"",
        "\"gold_answer\": \"so #### 4\"",
        "\"gold_num\": 4.0",
        "\"status\": \"ok\"",
        "\"mode\": \"procedural\"",
        "\"NameDescription\": \"Add\"",
        "\"fitness\": 1.25",
        "\"final_answer\": \"4\"",
        "\"pred_answer\": \"4\"",
        "\"pred_num\": 4.0",
        "\"correct\": true",
        "\"stepDescription\": \"Read both\"",
        "\"description\": \"first\"",
        "\"name\": \"one\"",
        "\"confidence\": 0.5",
    ];
    let wrong = ["null", "true", "-1", "1e400", "\"\"", "[]", "{}", "[[{}]]", "\"\\u0000\""];
    for (n, field) in fields.iter().enumerate() {
        let key = field.split_once(':').unwrap().0;
        let all: Vec<String> = wrong.iter().map(|value| BASE.replacen(field, &format!("{key}: {value}"), 9)).collect();
        out.push(case("types", format!("{n}.jsonl"), all.join("\n"), READ));
        let gone = BASE.replacen(&format!("{field}, "), "", 9).replacen(&format!(", {field}"), "", 9);
        out.push(case("missing", format!("{n}.jsonl"), gone, READ));
    }
    for key in ["procedure", "steps", "inputs", "output", "state"] {
        let at = BASE.find(&format!("\"{key}\": ")).unwrap() + key.len() + 4;
        for (n, value) in wrong.iter().enumerate() {
            // What stood there follows under a key of its own.
            let text = format!("{}{value}, \"was\": {}", &BASE[..at], &BASE[at..]);
            out.push(case("types", format!("{key}_{n}.jsonl"), text, READ));
        }
    }
    for (n, text) in [
        "[]",
        "{}",
        "null",
        "true",
        "1",
        "\"x\"",
        "[null]",
        "[[]]",
        "[1, \"a\", {}]",
        "{\"\": {\"\": \"\"}}",
        "{} {} {}",
        "[{}]garbage",
        "{}garbage",
    ]
    .into_iter()
    .enumerate()
    {
        out.push(case("types", format!("whole_{n}.json"), text, ANY));
    }
    let list = format!("[{BASE},{BASE}, null, [], {{\"NameDescription\": \"x\", \"steps\": [{{}}]}}]");
    out.push(case("types", "list.json", list, FOUND));
}

fn odd_names(out: &mut Vec<Case>) {
    let names: [&[u8]; 14] = [
        b"esc\x1b[31;7771mred.jsonl",
        b"title\x1b]0;taken over\x07.jsonl",
        b"two\nlines.jsonl",
        b"back\rwards.jsonl",
        b"invalid\xff\xfe.jsonl",
        b"-rf",
        b"--help",
        b" leading and trailing ",
        b"quote\"'`$(id).jsonl",
        "\u{202e}lnosj.exe".as_bytes(),
        "z\u{200b}w\u{feff}.jsonl".as_bytes(),
        "漢字\u{301}\u{301}👩\u{200d}👧.jsonl".as_bytes(),
        b"%s%n%x.jsonl",
        b"c1\xc2\x9b31m.jsonl",
    ];
    for name in names {
        let name = PathBuf::from(std::ffi::OsString::from_vec(name.to_vec()));
        out.push(case("names", name, format!("{BASE}\nbroken\n"), FOUND));
    }
    out.push(case("names", "n".repeat(250), BASE, READ));
}

/// Returns every file.
pub(crate) fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    strings(&mut out);
    bytes(&mut out);
    values(&mut out);
    shapes(&mut out);
    odd_names(&mut out);
    for (name, text) in [
        ("poisoned", super::nasty::poisoned()),
        ("tangled", super::nasty::tangled()),
        ("variables", super::nasty::many_variables(3_000)),
        ("steps", super::nasty::many_steps(600)),
        ("long", super::nasty::long_texts(300_000)),
    ] {
        out.push(case("procedure", format!("{name}.jsonl"), text, FOUND));
    }
    out
}

/// Writes every file into a folder.
pub(crate) fn write_all(folder: &Path) -> Vec<(PathBuf, Case)> {
    let mut out = Vec::new();
    for case in cases() {
        let path = folder.join(&case.name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &case.bytes).unwrap();
        out.push((path, case));
    }
    out
}
