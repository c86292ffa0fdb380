//! Typed answers of real stores: what must fire, where each goes, and what the page after the last says.
//!
//! `tests/fixtures/answers` holds two stores as answer traces with what is expected of them, and their documents.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use stepscope_base::json::{Tape, Value};
use stepscope_base::schema::Schema;
use stepscope_evidence::document::Document;
use stepscope_judge::case::{Case, CaseView};
use stepscope_judge::rules::RULES;
use stepscope_record::RecordKind;
use stepscope_record::finding::{Finding, Place, Severity};
use stepscope_record::formats::FORMATS;
use stepscope_record::schemas;
use stepscope_report::jsonl;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/answers").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn documents(store: &str) -> HashMap<String, Arc<Document>> {
    let text = fixture(&format!("{store}.documents.jsonl"));
    let mut documents = HashMap::new();
    for line in text.lines() {
        let case = Case::read(line.as_bytes());
        let name = text_of(case.root().unwrap().get("doc_id").unwrap());
        documents.insert(name, case.view().document().unwrap().clone());
    }
    documents
}

fn text_of(value: Value<'_>) -> String {
    value.string().unwrap().utf8().unwrap().to_owned()
}

/// Calls a function with every trace of a store, together with its document.
fn each(store: &str, mut then: impl FnMut(&CaseView<'_>, Value<'_>)) -> usize {
    let (text, documents) = (fixture(&format!("{store}.jsonl")), documents(store));
    for line in text.lines() {
        let case = Case::read(line.as_bytes());
        let root = case.root().unwrap();
        let document = documents[&text_of(root.get("doc_id").unwrap())].clone();
        let case = Case::citing(line.as_bytes(), Some(document));
        assert_eq!(case.view().kind(), RecordKind::Typed);
        then(&case.view(), root.get("expect").unwrap());
    }
    text.lines().count()
}

#[test]
fn the_stores_are_judged_as_their_makers_expect() {
    for (store, count) in [("store-fips", 10), ("store-demo-policy", 6)] {
        let judged = each(store, |subject, expect| {
            let question = text_of(subject.record.as_ref().unwrap().question.unwrap());
            let findings = subject.findings();
            let routed = subject.routed().unwrap();
            let wanted = text_of(expect.get("route").unwrap());
            let wanted = if wanted == "retry_or_reject" { "reject" } else { &wanted };
            assert_eq!(routed.route.word(), wanted, "{question} {:?} {findings:#?}", routed.triggers);
            assert!(routed.fired().any(|fired| fired == routed.route), "{question}");
            assert_eq!(routed.truncation.word(), text_of(expect.get("strong").unwrap()), "{question}");

            let own = |rule: &str| rule.starts_with("answer/") || rule.starts_with("span/");
            let grave = findings.iter().filter(|finding| own(finding.rule.word()) && finding.severity < Severity::Note);
            let fired: BTreeSet<&str> =
                grave.map(|finding| finding.rule.word().split('/').next_back().unwrap()).collect();
            let mut wanted: BTreeSet<String> = expect.get("rules").unwrap().items().map(text_of).collect();
            if routed.truncation.word() == "truncated" {
                wanted.insert("list_truncated_next_page".to_owned());
            }
            assert_eq!(fired, wanted.iter().map(String::as_str).collect(), "{question} {findings:#?}");

            let strictness = subject.strictness().unwrap();
            assert_eq!(Some(strictness.lax), expect.get("lax").unwrap().bool(), "{question} {strictness:?}");
        });
        assert_eq!(judged, count);
    }
}

#[test]
fn the_schema_of_answer_traces_describes_what_is_read() {
    let text = schemas::ALL.iter().find(|schema| schema.name == "answer-trace").unwrap().text;
    let schema = Schema::compile(text.as_bytes()).unwrap();
    let breaches = |text: &str| {
        let mut tape = Tape::default();
        let root = tape.parse(text.as_bytes()).unwrap();
        schema.breaches(root).into_iter().map(|breach| breach.message.line().into_string()).collect::<Vec<_>>()
    };
    let nothing: [String; 0] = [];
    for name in ["store-fips", "store-demo-policy", "store-fips.documents", "store-demo-policy.documents"] {
        fixture(&format!("{name}.jsonl")).lines().for_each(|line| assert_eq!(breaches(line), nothing, "{name}"));
    }
    let format = FORMATS.iter().find(|format| format.id == "answer_trace").unwrap();
    assert_eq!(breaches(format.example), nothing);
    for rule in RULES.iter().filter(|rule| rule.good.contains("stepscope.answer_trace")) {
        assert_eq!(breaches(rule.good), nothing, "{}", rule.id);
    }
    for wrong in [
        r#"{"format": "stepscope.answer_trace"}"#,
        r#"{"format": "stepscope.run_trace", "version": 1}"#,
        r#"{"format": "stepscope.answer_trace", "version": 1, "answer": "{}"}"#,
        r#"{"format": "stepscope.answer_trace", "version": 1, "retrieved_pages": [{"page": 1}]}"#,
        r#"{"format": "stepscope.answer_trace", "version": 1, "document": {"lines": [{"page_num": 1}]}}"#,
    ] {
        assert!(!breaches(wrong).is_empty(), "{wrong}");
    }
}

/// JSON texts that can replace any value.
const NASTY: [&str; 14] = [
    "null",
    "true",
    "-1",
    "0",
    "9223372036854775807",
    "1e999",
    "NaN",
    "\"\"",
    "\"\\u001b[31m\\ud800\"",
    "\"(a)\"",
    "[]",
    "{}",
    "[[{}]]",
    "{\"value\": 0, \"currency\": \"\", \"iso\": \"2024-02-30\", \"headers\": [], \"rows\": [[1], []]}",
];

#[test]
fn whatever_stands_there_every_finding_has_a_place_and_the_line_is_clean() {
    let documents = documents("store-demo-policy");
    for line in fixture("store-demo-policy.jsonl").lines() {
        let mut tape = Tape::default();
        let root = tape.parse(line.as_bytes()).unwrap();
        let document = documents[&text_of(root.get("doc_id").unwrap())].clone();
        let ranges: Vec<_> = root.walk().filter(|stop| stop.depth > 0).map(|stop| stop.value.range()).collect();
        for (n, range) in ranges.into_iter().enumerate() {
            // Every place with some of them, every one of them in many places.
            for nasty in NASTY.iter().skip(n % 3).step_by(3) {
                let text = [&line[..range.start], nasty, &line[range.end..]].concat();
                judge(&text, &document);
            }
        }
    }
}

fn judge(text: &str, document: &Arc<Document>) {
    let case = Case::citing(text.as_bytes(), Some(document.clone()));
    let root = case.root().expect(text);
    let (case, findings) = (case.view(), case.findings());
    for label in findings.iter().flat_map(Finding::labels) {
        let found = root.find(&label.place.pointer()).unwrap_or_else(|| panic!("{label:?} in {text}"));
        assert!(!matches!(label.place, Place::Key(_)) || found.key.is_some(), "{label:?} in {text}");
    }
    let mut out = Vec::new();
    jsonl::write(&case, findings, None, &mut out);
    // An id such as 1e999 stands there as it is written.
    let mut printed = Tape::default();
    let json = printed.parse(out.trim_ascii_end()).unwrap();
    assert!(out.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte == b'\n'));
    assert_eq!(
        json.get("route").and_then(|route| route.get("name")).is_some(),
        case.kind() == RecordKind::Typed,
        "{text}"
    );
}

#[test]
fn an_answer_with_many_flaws_is_judged_in_time() {
    let item =
        r#"{"amount": {"value": "0", "currency": "usd", "x": 1}, "note": 1, "spans": [{"line_start": "a", "y": 2}]}"#;
    let text = format!(r#"{{"answer_found": 7, "confidence": 2, "items": [{}]}}"#, vec![item; 20_000].join(","));
    let case = Case::read(text.as_bytes());
    let begun = std::time::Instant::now();
    let findings = case.findings();
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let last = findings.iter().rfind(|finding| finding.rule.word() == "answer/currency_not_iso4217").unwrap();
    assert!(last.message.line().as_str().ends_with(", and 19,900 more"), "{:?}", last.message);
}
