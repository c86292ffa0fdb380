use super::Case;
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_record::RecordKind;
use stepscope_record::cost::RunCost;

#[test]
fn a_case_may_go_to_another_thread() {
    const fn is_send<T: Send>() {}
    const { is_send::<Case<'static>>() }
}

#[test]
fn a_line_of_generations_is_an_individual_wherever_it_stands() {
    let line = |more: &str| {
        format!(
            r#"{{"run": "r", "gen": 2, "idx": 0, "sha256": "ab", "parents": ["cd"], "operator": "crossover", "fitness": 1.5, "terms": {{}}, "notes": "", {more}"procedure": {{"NameDescription": "Add", "steps": [{{"id": 1, "inputs": [], "stepDescription": "Add", "output": []}}]}}}}"#
        )
    };
    let text = line("");
    let case = Case::read(text.as_bytes());
    let view = case.view();
    let record = view.record.as_ref().unwrap();
    assert_eq!(record.kind, RecordKind::Procedure);
    assert_eq!(record.fitness.and_then(stepscope_base::json::Value::float), Some(1.5));
    let place = view.findings().iter().next().map(|finding| finding.place().pointer().text().line().into_string());
    assert!(place.is_some_and(|place| place.starts_with("/procedure")), "findings lie in its procedure");
    // What was run is a run.
    let text = line(r#""question": "q", "state": {"a": 1}, "#);
    assert_eq!(Case::read(text.as_bytes()).view().kind(), RecordKind::Procedural);
}

#[test]
fn steps_are_laid_one_after_the_other() {
    let text = r#"{"id": 1, "question": "q", "mode": "procedural", "status": "ok", "procedure": {"steps": [{"id": 1}, {"id": 2}, {"id": 3}]},
        "state": {}, "trace": {"steps": [
        {"step_index": 0, "duration_ms": 500, "usage": {"prompt_tokens": 10, "completion_tokens": 2}},
        {"step_index": 2, "duration_ms": 1500.4, "usage": {"prompt_tokens": 7}}]}}"#;
    let case = Case::read(text.as_bytes());
    let cost = RunCost::of(case.view().state()).unwrap();
    assert_eq!((cost.time, cost.tokens), (2000.4, 19));
    assert_eq!(cost.steps.iter().map(|step| step.start).collect::<Vec<_>>(), [0.0, 500.0, 500.0]);
    assert_eq!(cost.steps.iter().map(|step| step.took).collect::<Vec<_>>(), [Some(500.0), None, Some(1500.4)]);
    assert_eq!(cost.steps[0].tokens().as_str(), "10 → 2");
    let untimed = Case::read(br#"{"id": 1, "question": "q", "procedure": {"steps": [{"id": 1}]}, "state": {}}"#);
    assert_eq!(RunCost::of(untimed.view().state()), None);
}

/// The verdict on a list whose entries are quoted with some numbers of lines.
fn quoted(pages: &[&str], spans: &[(usize, &str)], retrieved: &str) -> (TruncationVerdict, String) {
    let lines = (1..).zip(pages).flat_map(|(page, text)| {
        (1..)
            .zip(text.lines())
            .map(move |(line, text)| format!(r#"{{"page_num": {page}, "line_num": {line}, "text": "{text}"}}"#))
    });
    let item = |(line, quote): &(usize, &str)| {
        format!(r#"{{"text": "x", "spans": [{{"line_start": {line}, "line_end": {line}, "quote": "{quote}"}}]}}"#)
    };
    let text = format!(
        r#"{{"format": "stepscope.answer_trace", "parsed_question": {{"expected_answer_shape": "list"}},
        "retrieved_pages": {retrieved}, "document": {{"lines": [{}]}},
        "answer": {{"answer_found": true, "items": [{}]}}}}"#,
        lines.collect::<Vec<_>>().join(","),
        spans.iter().map(item).collect::<Vec<_>>().join(",")
    );
    let case = Case::read(text.as_bytes());
    let view = case.view();
    let judged = view.truncation().unwrap();
    (judged.verdict, judged.reason.line().into_string())
}

#[test]
fn the_list_is_where_its_quotes_are_found_whatever_the_numbers_count() {
    let seen = "[{\"page_num\": 1}, {\"page_num\": 3}]";
    let pages = [
        "You do not get:\n(a) fire;\n(b) flood;",
        "(c) war.",
        "You must:\n1. lock the door;\n2. call us.",
        "Section 4. End",
    ];
    for (by, what) in [(4, "from 0"), (5, "from 1"), (1, "inside the page"), (3, "three too small")] {
        // From 0 over the whole document the two are lines 5 and 6.
        let spans = [(by + 1, "1. lock the door;"), (by + 2, "2. call us.")];
        let (verdict, reason) = quoted(&pages, &spans, seen);
        assert_eq!(verdict, TruncationVerdict::Bounded, "{what}");
        assert!(reason.contains("Section 4. End"), "{reason}");
    }
    let pages = ["Manual\nPart one\nIt is short.\n2. Exclusions", "You do not get:\n(a) fire;\n(b) flood;", "(c) war."];
    for (first, what) in [(5, "from 0"), (6, "from 1"), (2, "inside the page")] {
        let (verdict, reason) = quoted(&pages, &[(first, "(a) fire;"), (first + 1, "(b) flood;")], "null");
        assert_eq!(verdict, TruncationVerdict::Truncated, "{what}");
        assert!(reason.contains("(c) war."), "{reason}");
    }
    // What is quoted nowhere says nothing against the numbers.
    let (verdict, _) = quoted(&pages, &[(5, "hail that was made up"), (6, "snow that was made up")], "null");
    assert_eq!(verdict, TruncationVerdict::Truncated);
}
