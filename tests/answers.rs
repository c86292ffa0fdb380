//! Typed answers of real stores: what must fire, where each goes, and what the page after the last says.
//!
//! `tests/fixtures/answers` holds two stores as answer traces with what is expected of them, and their documents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use stepscope::domain::document::Document;
use stepscope::domain::finding::Severity;
use stepscope::domain::formats::{self, FORMATS};
use stepscope::domain::json::{Tape, Value};
use stepscope::domain::record::RecordKind;
use stepscope::domain::route::route;
use stepscope::domain::rules::answer::Schema;
use stepscope::domain::rules::{RULES, Subject, check};
use stepscope::domain::schemas;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/answers").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn documents(store: &str) -> HashMap<String, Arc<Document>> {
    let text = fixture(&format!("{store}.documents.jsonl"));
    let mut documents = HashMap::new();
    for line in text.lines() {
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(line.as_bytes()).unwrap());
        let name = text_of(record.root.get("doc_id").unwrap());
        let subject = Subject::new(line.as_bytes(), &[], Some(record));
        documents.insert(name, subject.document.unwrap());
    }
    documents
}

fn text_of(value: Value<'_>) -> String {
    value.string().unwrap().utf8().unwrap().to_owned()
}

/// Calls with every trace of a store, together with its document.
fn each(store: &str, mut then: impl FnMut(&Subject<'_>, Value<'_>)) -> usize {
    let (text, documents) = (fixture(&format!("{store}.jsonl")), documents(store));
    for line in text.lines() {
        let mut tape = Tape::default();
        assert!(tape.read(line.as_bytes()));
        let record = formats::read(tape.root(line.as_bytes()).unwrap());
        assert_eq!(record.kind, RecordKind::Typed);
        let document = documents[&text_of(record.root.get("doc_id").unwrap())].clone();
        let expect = record.root.get("expect").unwrap();
        then(&Subject::new(line.as_bytes(), &tape.problems, Some(record)).document(Some(document)), expect);
    }
    text.lines().count()
}

#[test]
fn the_stores_are_judged_as_their_makers_expect() {
    for (store, count) in [("store-fips", 10), ("store-demo-policy", 6)] {
        let judged = each(store, |subject, expect| {
            let question = text_of(subject.record.as_ref().unwrap().question.unwrap());
            let findings = check(subject);
            let routed = route(subject, &findings).unwrap();
            let wanted = text_of(expect.get("route").unwrap());
            let wanted = if wanted == "retry_or_reject" { "reject" } else { &wanted };
            assert_eq!(routed.route.word(), wanted, "{question} {:?} {findings:#?}", routed.triggers);
            assert!(routed.fired().any(|fired| fired == routed.route), "{question}");
            assert_eq!(routed.strong.word(), text_of(expect.get("strong").unwrap()), "{question}");

            let own = |rule: &str| rule.starts_with("answer/") || rule.starts_with("span/");
            let grave = findings.iter().filter(|finding| own(finding.rule) && finding.severity < Severity::Note);
            let fired: BTreeSet<&str> = grave.map(|finding| finding.rule.split('/').next_back().unwrap()).collect();
            let mut wanted: BTreeSet<String> = expect.get("rules").unwrap().items().map(text_of).collect();
            if routed.strong.word() == "truncated" {
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
