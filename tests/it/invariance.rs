//! The same records, written another way: encodings, order, neighbours, members that no rule reads. What is said of them
//! stays the same, and filters divide them among each other.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// Samples of every kind that lies in lines, each with the document that it cites.
const SAMPLES: [(&str, Option<&str>); 4] = [
    ("word_problems.jsonl", None),
    ("baseline.jsonl", None),
    ("chains.jsonl", None),
    ("policy.jsonl", Some("policy.document.json")),
];

fn sample(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name)
}

/// Checks bytes as a file, and returns what is said of each record, in order.
fn checked(bytes: &[u8], document: Option<&str>, more: &[&str]) -> Vec<Json> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    std::fs::write(&path, bytes).unwrap();
    std::fs::copy(sample("policy.document.json"), folder.path().join("policy.document.json")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stepscope"));
    command.arg("check").arg(&path).args(["--format", "jsonl"]).args(more);
    if let Some(document) = document {
        command.arg("--document").arg(sample(document));
    }
    let output = command.output().unwrap();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{code:?} {}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(read).collect()
}

fn read(line: &[u8]) -> Json {
    serde_json::from_slice(line).unwrap()
}

/// Leaves out where a record lies, and at which bytes of it something was found, which may change.
fn said(mut line: Json, leaving: &[&str]) -> Json {
    let object = line.as_object_mut().unwrap();
    for name in ["source", "line", "index"].iter().chain(leaving) {
        object.remove(*name);
    }
    for finding in object.get_mut("findings").and_then(Json::as_array_mut).into_iter().flatten() {
        for label in finding["labels"].as_array_mut().into_iter().flatten() {
            label.as_object_mut().unwrap().remove("range");
        }
    }
    line
}

fn all_said(lines: Vec<Json>, leaving: &[&str]) -> Vec<Json> {
    lines.into_iter().map(|line| said(line, leaving)).collect()
}

/// Writes every letter beyond ASCII and every slash with an escape: neither stands outside of a JSON text.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '/' if !out.ends_with('\\') => out.push_str("\\/"),
            letter if letter.is_ascii() => out.push(letter),
            letter => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").unwrap();
                }
            }
        }
    }
    out
}

#[test]
fn how_records_are_written_changes_nothing() {
    for (name, document) in SAMPLES {
        let text = std::fs::read_to_string(sample(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let expected = all_said(checked(text.as_bytes(), document, &[]), &[]);
        assert_eq!(expected.len(), lines.len(), "{name}");
        let utf16 = |text: &str| -> Vec<u8> {
            std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
        };
        let ways: [(&str, Vec<u8>); 6] = [
            ("byte order mark and CRLF", format!("\u{feff}{}\r\n", lines.join("\r\n")).into_bytes()),
            ("blank lines", format!("\n{}\n\n", lines.join("\n\n")).into_bytes()),
            ("no last line end", text.trim_end().as_bytes().to_vec()),
            ("a list", format!("[\n{}\n]", lines.join(",\n")).into_bytes()),
            ("escapes", escaped(&text).into_bytes()),
            ("UTF-16", utf16(&text)),
        ];
        for (way, bytes) in ways {
            assert!(all_said(checked(&bytes, document, &[]), &[]) == expected, "{name} with {way}");
        }
        let alone = all_said(checked(text.as_bytes(), document, &["--jobs", "1"]), &[]);
        assert!(alone == expected, "{name} by one thread");
    }
}

#[test]
fn neither_neighbours_nor_order_change_what_is_said_of_a_record() {
    for (name, document) in SAMPLES {
        let text = std::fs::read_to_string(sample(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let expected = all_said(checked(text.as_bytes(), document, &[]), &[]);
        let backwards: Vec<&str> = lines.iter().rev().copied().collect();
        let mut turned = all_said(checked(backwards.join("\n").as_bytes(), document, &[]), &[]);
        turned.reverse();
        assert!(turned == expected, "{name} backwards");
        let among_broken = lines.join("\n{\"id\": \"cut\", \"steps\": [\n");
        let mut kept = checked(among_broken.as_bytes(), document, &[]);
        kept.retain(|line| line["kind"] != "broken");
        assert!(all_said(kept, &[]) == expected, "{name} among broken lines");
        for (at, line) in lines.iter().enumerate().step_by(9) {
            let alone = all_said(checked(line.as_bytes(), document, &[]), &[]);
            assert!(alone == expected[at..=at], "{name}, record {at} alone");
        }
        // The hash is of the whole record.
        let more = lines.iter().map(|line| line.replacen('{', r#"{"zz_own": {"a": [1, null]}, "#, 1) + "\n");
        let more: String = more.collect();
        let found = all_said(checked(more.as_bytes(), document, &[]), &["sha256"]);
        let without: Vec<Json> = expected.into_iter().map(|line| said(line, &["sha256"])).collect();
        assert!(found == without, "{name} with a member of its own");
    }
}

#[test]
fn a_filter_and_its_negation_divide_the_records() {
    let mut text = String::new();
    for (name, _) in SAMPLES {
        text += &std::fs::read_to_string(sample(name)).unwrap();
    }
    let listed = |filter: &str| -> BTreeSet<u64> {
        let lines = checked(text.as_bytes(), None, &["--filter", filter]);
        lines.iter().map(|line| line["index"].as_u64().unwrap()).collect()
    };
    let all: BTreeSet<u64> = (0..text.lines().count() as u64).collect();
    let terms = [
        "correct:true",
        "correct:unknown",
        "kind:procedural",
        "rule:run",
        "first:unused",
        "severity:warning",
        "fix:step_run",
        "fix_step>1",
        "route:ship",
        "grounded<1",
        "recovered:gold",
        "recovered:no",
        "steps>4",
        "conf>=.9",
        "pred=42",
        "warning>0",
        "findings=0",
        "fork:true",
        "model:gemma",
        "text:apples",
        "id:a",
    ];
    let mut divided = 0;
    for term in terms {
        let (with, without) = (listed(term), listed(&format!("-{term}")));
        assert!(with.is_disjoint(&without), "{term}");
        assert_eq!(&with | &without, all, "{term}");
        divided += usize::from(!with.is_empty() && !without.is_empty());
    }
    assert!(divided > terms.len() * 2 / 3, "{divided} of {} filters tell records apart", terms.len());
    let both = &listed("correct:false") & &listed("fix:step_run");
    assert_eq!(listed("correct:false fix:step_run"), both);
    // The fields of the lines say the same as the filters.
    let lines = checked(text.as_bytes(), None, &[]);
    let by_field = |is_it: &dyn Fn(&Json) -> bool| -> BTreeSet<u64> {
        lines.iter().filter(|line| is_it(line)).map(|line| line["index"].as_u64().unwrap()).collect()
    };
    assert_eq!(listed("fix:step_run"), by_field(&|line| line["triage"]["fix"] == "step_run"));
    assert_eq!(listed("recovered:gold"), by_field(&|line| line["triage"]["recovers_gold"] == true));
    assert_eq!(listed("findings=0"), by_field(&|line| line["findings"].as_array().is_some_and(Vec::is_empty)));
}
