//! Equal to upstream: results that upstream itself gave (see `tests/parity/make_cases.py`), compared with ours.
//!
//! `STEPSCOPE_PARITY_CASES` names a further folder with `procedures.jsonl`, `answers.jsonl` and `schemas.jsonl`, for a long
//! comparison.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value as Json;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::schema::{Schema, View};
use stepscope_base::text::{Piece, Untrusted, pieces};
use stepscope_judge::case::Case;
use stepscope_judge::rules::answer;
use stepscope_judge::rules::procedure;
use stepscope_record::AnswerSchema;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::formats;
use stepscope_record::procedure::model::coerced_id;
use stepscope_record::schemas;

/// Reads the lines of every fixture with this name, public cases and our own.
fn cases(name: &str) -> Vec<Json> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut lines = Vec::new();
    for folder in ["oracle", "parity"] {
        let Ok(file) = std::fs::File::open(fixtures.join(folder).join(format!("{name}.jsonl.gz"))) else { continue };
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(file).read_to_end(&mut text).unwrap();
        lines.extend(read_lines(&text));
    }
    if let Some(folder) = std::env::var_os("STEPSCOPE_PARITY_CASES") {
        lines.extend(read_lines(&std::fs::read(Path::new(&folder).join(format!("{name}.jsonl"))).unwrap()));
    }
    assert!(lines.len() >= 150, "{name}");
    lines
}

/// Reads lines, each a JSON object of ASCII; what is compared in it is itself JSON text, which may hold anything.
fn read_lines(text: &[u8]) -> Vec<Json> {
    let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(&guarded(line)).unwrap()).collect()
}

/// Marks what `serde_json` cannot hold: lone surrogates and large integers become marked text, on both sides of every
/// comparison.
fn guarded(line: &[u8]) -> Vec<u8> {
    let mut tape = Tape::default();
    let root = tape.parse(line).expect("a line of JSON");
    let mut out = Vec::new();
    write_guarded(root, &mut out);
    out
}

fn write_guarded(value: Value<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Array => {
            out.push(b'[');
            for (n, item) in value.items().enumerate() {
                out.extend_from_slice(if n > 0 { b"," } else { b"" });
                write_guarded(item, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (n, member) in value.members().enumerate() {
                out.extend_from_slice(if n > 0 { b"," } else { b"" });
                out.extend_from_slice(member.key.raw());
                out.push(b':');
                write_guarded(member.value, out);
            }
            out.push(b'}');
        }
        Kind::String => {
            let string = value.string().unwrap();
            let mut text = Vec::new();
            for (range, piece) in pieces(string.bytes()) {
                match piece {
                    Piece::Surrogate(code) => text.extend_from_slice(format!("\u{1}{code:04x}").as_bytes()),
                    _ => text.extend_from_slice(&string.bytes()[range]),
                }
            }
            Style::ASCII.append(Untrusted::owned(text), out);
        }
        Kind::Int => out.extend_from_slice(format!("\"int {}\"", String::from_utf8_lossy(value.raw())).as_bytes()),
        _ => out.extend_from_slice(value.raw()),
    }
}

/// Returns the text of a case: with the marks taken away again, as the bytes that upstream read.
fn text_of(case: &Json) -> Vec<u8> {
    let text = case["text"].as_str().unwrap();
    let mut out = Vec::new();
    let mut parts = text.split('\u{1}');
    out.extend_from_slice(parts.next().unwrap().as_bytes());
    for part in parts {
        out.extend_from_slice(format!("\\u{part}").as_bytes());
    }
    out
}

/// Formats a finding as upstream prints a diagnostic.
fn diagnostic(finding: &Finding) -> Json {
    let out = Style::ASCII.object(|object| {
        object.put("severity", finding.severity.word()).put("action", finding.action.unwrap().word());
        object.put("message", &finding.message).object("details", |details| {
            for (key, datum) in &finding.details {
                details.put(key, datum);
            }
        });
    });
    serde_json::from_slice(&guarded(&out)).unwrap()
}

fn assert_places_resolve(findings: &[Finding], root: Value<'_>, n: &Json) {
    for finding in findings {
        for label in finding.labels() {
            let (Place::Key(pointer) | Place::Value(pointer)) = &label.place else { continue };
            let found = root.find(pointer).unwrap_or_else(|| panic!("case {n}: {pointer:?} leads nowhere"));
            assert!(matches!(label.place, Place::Value(_)) || found.key.is_some(), "case {n}: no key at {pointer:?}");
        }
    }
}

#[test]
fn procedures_are_judged_as_upstream_judges_them() {
    let cases = cases("procedures");
    for case in &cases {
        let n = &case["n"];
        let text = text_of(case);
        let read = Case::read(&text);
        let root = read.root().unwrap_or_else(|| panic!("case {n}: {:?}", read.problems()));
        let subject = read.view_as(formats::procedure::FORMAT.read);
        let mut findings = subject.findings().clone();
        findings.retain(|finding| procedure::UPSTREAM.contains(&finding.rule));
        let ours: Vec<Json> = findings.iter().map(diagnostic).collect();
        // Compared as text: the order of the details counts too.
        let (ours, theirs) = (serde_json::to_string(&ours).unwrap(), case["diagnostics"].to_string());
        assert_eq!(ours, theirs, "case {n}: {}", String::from_utf8_lossy(&text));
        let theirs = case["score"]["ok"].as_f64();
        let ours = procedure::fitness(&subject, &findings);
        assert_eq!(ours.map(f64::to_bits), theirs.map(f64::to_bits), "case {n}: {ours:?} {theirs:?}");
        assert_places_resolve(&findings, root, n);
        let ids = subject.valid_procedure().map(|procedure| {
            let id =
                |step: &stepscope_record::procedure::Step<'_>| format!("int {}", coerced_id(step.id.unwrap()).unwrap());
            procedure.steps.iter().map(id).collect::<Vec<_>>()
        });
        let theirs = case["normalized"]["steps"].as_array();
        let theirs = theirs.map(|steps| steps.iter().map(|step| step["id"].as_str().unwrap().to_owned()).collect());
        assert_eq!(ids, theirs, "case {n}");
    }
    println!("{} procedures are equal", cases.len());
}

/// Returns our message on a case, after checking that its place is there.
fn answer_message(case: &Json, schema: &Schema, view: View) -> Option<String> {
    let n = &case["n"];
    let text = text_of(case);
    let mut tape = Tape::default();
    let root = tape.parse(&text).unwrap_or_else(|| panic!("case {n}"));
    let problem = answer::validate(root, root, schema, view)?;
    let pointer = &problem.pointer;
    assert!(root.find(pointer).is_some(), "case {n}: {pointer:?}");
    let mut json = Vec::new();
    Style::ASCII.append(&problem.message, &mut json);
    Some(serde_json::from_slice::<String>(&guarded(&json)).unwrap())
}

/// Compares a case with upstream: the whole answer, and the answer as part of a state.
fn assert_same_message(case: &Json, schema: &Schema) {
    for (view, key) in [(View::Whole, "message"), (View::OwnKeys, "own_keys")] {
        // The public cases know nothing of states.
        let Some(theirs) = case.get(key).map(Json::as_str) else { continue };
        let ours = answer_message(case, schema, view);
        // Some cases were made without the check for finite numbers.
        let unchecked = case["check_finite_number"] != true;
        let ours = ours.filter(|message| !(unchecked && message.starts_with("final_answer_numerical must be")));
        assert_eq!(ours.as_deref(), theirs, "case {} {view:?}: {}\nunder {}", case["n"], case["text"], case["schema"]);
    }
}

#[test]
fn answers_are_judged_as_upstream_judges_them() {
    let cases = cases("answers");
    for case in &cases {
        let name = AnswerSchema::from_word(case["schema"].as_str().unwrap()).unwrap();
        assert_same_message(case, answer::published(name));
    }
    println!("{} answers are equal", cases.len());
}

#[test]
fn ones_own_schemas_judge_as_in_python() {
    let cases = cases("schemas");
    for case in &cases {
        let text = case["schema"].as_str().unwrap();
        let schema = Schema::compile(text.as_bytes()).unwrap_or_else(|failure| panic!("{}: {failure}", case["n"]));
        assert_same_message(case, &schema);
    }
    println!("{} answers under own schemas are equal", cases.len());
}

#[test]
fn the_jsonschema_crate_agrees_on_every_answer_it_can_read() {
    let mut compared = 0;
    for case in &cases("answers") {
        let name = AnswerSchema::from_word(case["schema"].as_str().unwrap()).unwrap();
        let schema: Json = serde_json::from_str(schemas::answer(name)).unwrap();
        // It knows neither NaN nor 1e400 nor half a surrogate pair.
        let Ok(value) = serde_json::from_slice::<Json>(&text_of(case)) else { continue };
        let valid = case["message"].as_str().is_none_or(|message| !message.starts_with("schema validation error"));
        assert_eq!(jsonschema::draft202012::is_valid(&schema, &value), valid, "case {}: {value}", case["n"]);
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}
