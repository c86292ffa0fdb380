use std::sync::Arc;

use super::*;
use crate::case::Case;
use stepscope_base::json::Tape;

/// Twelve lines on two pages: a header each, a line-end hyphen, a sentence over the page.
fn document() -> Arc<Document> {
    let first =
        ["ACME Policy", "Section 1. Cover", "We pay for loss by fire and for the infor-", "mation that is lost."];
    let rest = ["Deductible: USD 1,200 per claim", "The insured shall keep the", "ACME Policy", "damaged goods."];
    let last = ["Section 2. Time", "Notice is given within ten days.", "Claims are settled in writing", "by us."];
    let lines = first.iter().chain(&rest).chain(&last).enumerate();
    let number = |n: usize| if n < 6 { (1, n as i64 + 1) } else { (2, n as i64 - 5) };
    Arc::new(Document::of(lines.map(|(n, text)| (number(n).0, number(n).1, *text)).collect(), Vec::new()))
}

/// Rule, severity, pointer and message of everything said about an answer, but for hints about its ends.
fn said(trace: &str, document: Option<Arc<Document>>) -> Vec<(&'static str, &'static str, String, String)> {
    let case = Case::citing(trace.as_bytes(), document);
    let view = case.view();
    let mut findings = Findings::new();
    let rules = super::super::RULES
        .iter()
        .filter(|rule| rule.id.word().starts_with("span/") && rule.id != RuleId::SpanBoundary);
    rules.for_each(|rule| (rule.check)(&view, &mut findings));
    let told = |finding: &Finding| {
        let place = finding.place().pointer();
        assert!(case.root().unwrap().find(&place).is_some());
        let short = place.text().line().into_string().replace("/answer/items/0", "");
        (finding.rule.word(), finding.severity.word(), short, finding.message.line().into_string())
    };
    findings.iter().map(told).collect()
}

fn answer(method: &str, spans: &str) -> String {
    format!(
        r#"{{"question": "?", "retrieved_pages": [{{"page_num": 1}}, {{"page_num": 2}}], "answer": {{"answer_found": true,
        "extraction_method": "{method}", "items": [{{"text": "x", "spans": {spans}}}]}}}}"#
    )
}

/// The rules and severities for one span.
fn rules(first: i64, last: i64, quote: &str) -> Vec<(&'static str, &'static str)> {
    let spans = format!(r#"[{{"line_start": {first}, "line_end": {last}, "quote": "{quote}"}}]"#);
    let said = said(&answer("verbatim", &spans), Some(document()));
    said.into_iter().map(|(rule, severity, _, _)| (rule.strip_prefix("span/").unwrap(), severity)).collect()
}

const DEDUCTIBLE: &str = "Deductible: USD 1,200 per claim";

#[test]
fn the_published_finding_stands_beside_the_one_that_qualifies_it() {
    let published = ("quote_not_in_cited_lines", "warning");
    assert_eq!(rules(4, 4, DEDUCTIBLE), []);
    assert_eq!(rules(4, 4, "Deductible:  USD 1,200 [3]"), []);
    assert_eq!(rules(5, 5, DEDUCTIBLE), [published, ("quote_found_nearby", "note")]);
    assert_eq!(
        rules(2, 2, "fire and for the infor- mation that is lost"),
        [published, ("quote_found_in_wider_range", "note")]
    );
    assert_eq!(rules(11, 11, DEDUCTIBLE), [published, ("quote_found_elsewhere", "note")]);
    assert_eq!(rules(4, 4, "Windstorm is never insured anywhere"), [published, ("quote_nowhere_in_doc", "fatal")]);
    assert_eq!(rules(4, 4, "Deductible: USD 1,500 per claim"), [published, ("quote_nowhere_in_doc", "warning")]);
    let outside = ("line_start_not_in_doc", "repairable");
    let end = ("line_end_not_in_doc", "repairable");
    assert_eq!(rules(12, 12, DEDUCTIBLE), [outside, end, published, ("quote_found_elsewhere", "note")]);
    assert_eq!(rules(10, 12, "Claims are settled"), [end]);
}

#[test]
fn a_page_may_be_named_next_to_lines_of_the_whole_document() {
    let said = |page: i64, line: i64, quote: &str| {
        let spans = format!(
            r#"[{{"page_start": {page}, "page_end": {page}, "line_start": {line}, "line_end": {line}, "quote": "{quote}"}}]"#
        );
        let said = said(&answer("verbatim", &spans), Some(document()));
        said.into_iter().map(|(rule, ..)| rule).collect::<Vec<_>>()
    };
    assert_eq!(said(1, 0, "ACME Policy"), [""; 0]);
    assert_eq!(said(2, 9, "Notice is given within ten days."), [""; 0]);
    assert_eq!(
        said(1, 9, "Notice is given within ten days."),
        ["span/line_start_not_in_doc", "span/line_end_not_in_doc"]
    );
}

#[test]
fn an_honest_quote_is_never_more_than_a_note() {
    let note = ("quote_not_in_cited_lines", "note");
    assert_eq!(rules(2, 3, "for the information that is lost."), [note, ("quote_ok_after_dehyphenation", "note")]);
    assert_eq!(rules(4, 4, "deductible: USD 1,200"), [note]);
    assert_eq!(rules(4, 4, "Deduct\u{ad}ible: USD 1,200"), [note], "no line breaks at a soft hyphen inside a line");
    let crosses = ("span_crosses_page", "note");
    assert_eq!(rules(5, 7, "The insured shall keep the damaged goods."), [note, crosses]);
}

#[test]
fn a_warning_stands_alone_only_where_its_rule_says_so() {
    let quote = "We pay for loss ... mation that is lost";
    assert_eq!(rules(2, 3, quote), [("quote_not_in_cited_lines", "warning")]);
    let spans = format!(r#"[{{"line_start": 2, "line_end": 3, "quote": "{quote}"}}]"#);
    let said = said(&answer("verbatim", &spans), Some(document()));
    assert!(said[0].3.contains("with an ellipsis for the text between"), "{}", said[0].3);
    let rule = super::super::RULES.iter().find(|rule| rule.id == RuleId::QuoteNotInCitedLines).unwrap();
    let promise = rule.explanation.find("Otherwise another finding says").unwrap();
    assert!(rule.explanation[..promise].contains("has an ellipsis"));
}

#[test]
fn the_last_line_counted_from_1_is_as_near_as_any_other() {
    let outside = [("line_start_not_in_doc", "repairable"), ("line_end_not_in_doc", "repairable")];
    let published = ("quote_not_in_cited_lines", "warning");
    let [start, end] = outside;
    assert_eq!(rules(12, 12, "by us."), [start, end, published, ("quote_found_nearby", "note")]);
    let span = |line: i64, quote: &str| format!(r#"{{"line_start": {line}, "line_end": {line}, "quote": "{quote}"}}"#);
    let both = format!("[{}, {}]", span(12, "by us."), span(5, DEDUCTIBLE));
    let said = said(&answer("verbatim", &both), Some(document()));
    let message = |rule: &str| said.iter().find(|(id, ..)| *id == rule).map(|(.., message)| message.as_str());
    assert_eq!(
        message("span/quote_found_nearby"),
        Some(
            "Quote found 1 line above, on line 11 (page 2, line 6); counted from 1 over the whole document the number is right."
        )
    );
    assert_eq!(message("span/shared_offset"), Some("All line numbers of the answer count from 1."));
    // Both lines from the last but one on are named, of which the document has one.
    let pair = r#"[{"line_start": 11, "line_end": 12, "quote": "Claims are settled in writing by us."}]"#;
    let said = self::said(&answer("verbatim", pair), Some(document()));
    let wider = said.iter().find(|(rule, ..)| *rule == "span/quote_found_in_wider_range").unwrap();
    assert!(wider.3.contains("counted from 1 over the whole document the number is right"), "{}", wider.3);
}

#[test]
fn a_number_that_is_cut_says_so() {
    let number = |digits: usize| "1".repeat(digits);
    let message = |digits: usize| {
        let line = number(digits);
        let said =
            said(&answer("computed", &format!(r#"[{{"line_start": {line}, "line_end": {line}}}]"#)), Some(document()));
        said.into_iter().find(|(rule, ..)| *rule == "span/line_start_not_in_doc").map(|(.., message)| message).unwrap()
    };
    assert!(message(27).starts_with(&format!("Cited line {}… is not in the document", number(24))), "{}", message(27));
    assert!(message(24).starts_with(&format!("Cited line {} is not in the document", number(24))), "{}", message(24));
}

#[test]
fn every_finding_stands_at_its_key() {
    let spans = r#"[{"line_start": 40, "line_end": 39, "quote": "Deductible:"}, {"line_start": 3, "line_end": 6}]"#;
    let told: Vec<_> =
        said(&answer("computed", spans), Some(document())).into_iter().map(|(rule, _, at, _)| (rule, at)).collect();
    let expected = [
        ("span/line_start_not_in_doc", "/spans/0/line_start"),
        ("span/line_end_not_in_doc", "/spans/0/line_end"),
        ("span/range_reversed", "/spans/0/line_end"),
        ("span/quote_not_in_cited_lines", "/spans/0/quote"),
        ("span/quote_found_elsewhere", "/spans/0/quote"),
        ("span/span_crosses_page", "/spans/1/line_end"),
    ];
    assert_eq!(told, expected.map(|(rule, at)| (rule, at.to_owned())));
    let told = said(&answer("verbatim", "[]"), Some(document()));
    let places: Vec<_> = told.iter().map(|(rule, _, at, _)| (*rule, at.as_str())).collect();
    assert_eq!(places, [("span/item_no_spans", "/spans"), ("span/verbatim_without_quote", "/spans")]);
}

#[test]
fn the_message_names_the_place_and_the_mistake() {
    let message = |spans: &str, rule: &str| {
        let said = said(&answer("verbatim", spans), Some(document()));
        said.into_iter().find(|(id, ..)| *id == rule).map(|(.., message)| message).unwrap_or_default()
    };
    let span =
        |first: i64, quote: &str| format!(r#"{{"line_start": {first}, "line_end": {first}, "quote": "{quote}"}}"#);
    assert_eq!(
        message(&format!("[{}]", span(5, DEDUCTIBLE)), "span/quote_found_nearby"),
        "Quote found 1 line above, on line 4 (page 1, line 5); counted from 1 over the whole document the number is right."
    );
    assert_eq!(
        message(&format!("[{}]", span(5, "by us.")), "span/quote_found_elsewhere"),
        "Quote found elsewhere, on line 11 (page 2, line 6)."
    );
    assert_eq!(
        message(&format!("[{}]", span(4, "Deductible: USD 1,500 per claim")), "span/quote_nowhere_in_doc"),
        "Quote not found in the document; closest: line 4 (page 1, line 5), 81 % alike."
    );
    let both = format!("[{}, {}]", span(5, DEDUCTIBLE), span(8, "damaged goods."));
    assert_eq!(message(&both, "span/shared_offset"), "All line numbers of the answer count from 1.");
    let both = format!("[{}, {}]", span(4, "Notice is given within"), span(2, "damaged goods."));
    assert_eq!(message(&both, "span/shared_offset"), "All line numbers of the answer count inside their pages.");
}

#[test]
fn what_differs_is_marked_in_the_quote() {
    let trace =
        answer("verbatim", r#"[{"line_start": 4, "line_end": 4, "quote": "  Deductible: USD 1,500 per claim"}]"#);
    let case = Case::citing(trace.as_bytes(), Some(document()));
    let view = case.view();
    let mut findings = Findings::new();
    check_nowhere(&view, &mut findings);
    let labels: Vec<_> = findings[0].labels().collect();
    assert_eq!(labels[1].text, "the document says: Deductible: USD 1,200 per claim");
    let Place::Span { start, end, .. } = labels[2].place else { panic!("{labels:?}") };
    assert_eq!(&"  Deductible: USD 1,500 per claim"[start..end], "1,500");
}

#[test]
fn pages_that_the_model_did_not_see_cannot_be_cited() {
    let spans =
        r#"[{"line_start": 8, "line_end": 8}, {"line_start": 4, "line_end": 7}, {"line_start": 4, "line_end": 4}]"#;
    let trace = answer("computed", spans).replace(r#", {"page_num": 2}"#, "");
    let outside = |trace: &str| {
        let said = said(trace, Some(document()))
            .into_iter()
            .filter(|(rule, ..)| *rule == RuleId::SpanOutsideRetrievedPages.word());
        said.map(|(_, _, at, _)| at).collect::<Vec<_>>()
    };
    assert_eq!(outside(&trace), ["/spans/0/line_start", "/spans/1/line_end"]);
    // Where nothing is known of what the model saw, nothing is said.
    assert!(outside(&trace.replace(r#"{"page_num": 1}"#, "")).is_empty());
}

#[test]
fn without_a_document_only_the_answer_itself_is_judged() {
    let spans = r#"[{"line_start": 40, "line_end": 39, "quote": ""}, {"line_start": 1, "line_end": 90}]"#;
    let told: Vec<_> = said(&answer("verbatim", spans), None).into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(told, ["span/range_reversed", "span/verbatim_without_quote"]);
}

#[test]
fn other_dialects_are_judged_by_their_own_numbers() {
    let spans = r#"[{"start_page_num": 2, "start_line_num": 4, "end_page_num": 2, "end_line_num": 4, "quote": "Notice is given within ten days."}]"#;
    assert_eq!(said(&answer("verbatim", spans), Some(document())), []);
    let wrong = spans.replace("\"start_line_num\": 4", "\"start_line_num\": 9");
    let told = said(&answer("verbatim", &wrong), Some(document()));
    let places: Vec<_> = told.iter().map(|(rule, _, at, _)| (*rule, at.as_str())).collect();
    assert_eq!(
        places,
        [
            ("span/line_start_not_in_doc", "/spans/0/start_line_num"),
            ("span/range_reversed", "/spans/0/end_line_num"),
            ("span/quote_not_in_cited_lines", "/spans/0/quote"),
        ]
    );
    let fields = r#"{"question": "?", "answer": {"deductible": {"value": 1200, "quote": "USD 1,200", "page": 1, "line_start": 5,
        "line_end": 5, "found": true}, "expiry": {"value": null, "found": false, "quote": null}}}"#;
    let mut tape = Tape::default();
    let root = tape.parse(fields.as_bytes()).unwrap();
    let record = stepscope_record::formats::read(root);
    assert!(
        record.typed.is_none() || said(fields, Some(document())).is_empty(),
        "{:?}",
        said(fields, Some(document()))
    );
}

#[test]
fn an_item_is_grounded_by_all_its_quotes() {
    let spans = r#"[{"line_start": 4, "line_end": 4, "quote": "Deductible:"}, {"line_start": 9, "line_end": 9}]"#;
    let grounded =
        |trace: &str, document: Option<Arc<Document>>| Case::citing(trace.as_bytes(), document).view().grounded();
    assert_eq!(grounded(&answer("inferred", spans), Some(document())), Some(1));
    let one_wrong = spans.replace("\"line_end\": 9", "\"line_end\": 9, \"quote\": \"Deductible:\"");
    assert_eq!(grounded(&answer("inferred", &one_wrong), Some(document())), Some(0));
    assert_eq!(grounded(&answer("inferred", r#"[{"line_start": 4}]"#), Some(document())), Some(0));
    assert_eq!(grounded(&answer("inferred", spans), None), None);
    // The words of a verbatim item have to stand there too.
    assert_eq!(grounded(&answer("verbatim", spans), Some(document())), Some(0));
}

#[test]
fn hints_tell_where_a_passage_is_cut() {
    let hint = |first: usize, last: usize, quote: &str| {
        let spans = format!(r#"[{{"line_start": {first}, "line_end": {last}, "quote": "{quote}"}}]"#);
        let trace = answer("verbatim", &spans);
        let case = Case::citing(trace.as_bytes(), Some(document()));
        let view = case.view();
        let mut findings = Findings::new();
        check_boundary(&view, &mut findings);
        findings.first().map(|finding| finding.message.line().into_string()).unwrap_or_default()
    };
    assert_eq!(hint(9, 9, "Notice is given within ten days."), "");
    assert_eq!(hint(9, 9, "is given within ten"), "The passage starts in mid-sentence, ends before its sentence does.");
    assert_eq!(hint(10, 10, "Claims are settled in writing"), "The passage ends before its sentence does.");
    assert_eq!(hint(4, 4, DEDUCTIBLE), "", "a line of its own ends without a full stop");
    assert_eq!(hint(5, 7, "The insured shall keep the damaged goods."), "");
    assert_eq!(hint(4, 4, "USD 1,200 per"), "", "a value is no sentence");
}

#[test]
fn an_exception_limits_a_statement_and_no_amount() {
    let document =
        || Some(Arc::new(Document::of(vec![(1, 1, "The fee is EUR 250 a year, except for members.")], Vec::new())));
    for (value, severity) in [
        (r#""text": "EUR 250""#, "warning"),
        (r#""amount": {"value": 250, "currency": "EUR"}"#, "note"),
        (r#""date": {"iso": "2024"}"#, "note"),
        (r#""boolean": true"#, "warning"),
    ] {
        let spans = r#"[{"line_start": 0, "line_end": 0, "quote": "The fee is EUR 250 a year"}]"#;
        let trace = answer("verbatim", spans).replace(r#""text": "x""#, value);
        let said = said(&trace, document());
        let cut: Vec<_> = said.iter().filter(|(rule, ..)| *rule == "span/meaning_cut").collect();
        assert!(matches!(cut[..], [(_, said, ..)] if *said == severity), "{value}: {said:?}");
    }
}
