use std::sync::Arc;

use super::*;
use stepscope_base::json::{Pointer, Tape};
use stepscope_base::text::Untrusted;
use stepscope_judge::case::{Case, Context, Location};
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_present::content::RecordContent;
use stepscope_present::steps::{StepRow, StepStatus};
use stepscope_record::Record;
use stepscope_record::finding::{Action, Datum, Place, PlaceLabel};
use stepscope_record::rule_id::RuleId;

const RECORD: &str = r#"{"id": "16c951343c3905095e135aaea1535b58", "question": "Samantha’s last name has three fewer letters than Bobbie’s last name. If Bobbie took two letters off her last name", "gold_num": 7.0, "status": "ok", "mode": "procedural", "procedure": {"NameDescription": "Compute", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "Full problem statement"}], "stepDescription": "Extract all numeric facts from the problem text and store each as a separate variable", "output": [{"name": "diff_sam_bob", "description": "Difference: Samantha's last name has three fewer letters than Bobbie's (value 3)"}, {"name": "bob_removed", "description": "Number of letters Bobbie removes from her last name (value 2)"}]}, {"id": 2, "inputs": [{"name": "bob_\u001b[31mremoved", "description": "Number of letters Bobbie removes from her last name"}], "stepDescription": "Form the symbolic expression", "output": [{"name": "final_answer", "description": "n"}]}]}, "state": {"problem_text": "x"}}"#;

fn keys(path: &'static str) -> Pointer {
    path.split('/')
        .skip(1)
        .map(|part| part.parse().map_or_else(|_| part.into(), stepscope_base::json::Part::Index))
        .collect()
}

fn found() -> Vec<Finding> {
    vec![
        Finding::new(
            RuleId::UnresolvedInput,
            Untrusted::owned(b"Input 'bob_\x1b[31mremoved' of Step 2 is not produced by any prior step.".to_vec()),
            Place::Value(keys("/procedure/steps/1/inputs/0/name")),
        )
        .action(Action::AddMissingProducer)
        .detail("step_id", Datum::Int("2".into()))
        .detail("input", Datum::Text("bob_\u{1b}[31mremoved".to_owned().into()))
        .label(Place::Value(keys("/procedure/steps/0/output/1/name")), "the nearest name".to_owned())
        .help("write it in an earlier step"),
        Finding::new(RuleId::Unused, "Remove".to_owned(), Place::Key(keys("/procedure/steps/0/output"))),
        Finding::new(RuleId::GoldSteps, "odd".to_owned(), Place::Value(keys("/state"))),
    ]
}

#[derive(Debug)]
struct Runs;

impl Context for Runs {
    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        Untrusted::new(b"runs\x1b.jsonl")
    }
}

fn with<T>(text: &str, look: impl FnOnce(&CaseView<'_>) -> T) -> T {
    let mut tape = Tape::default();
    tape.read(text.as_bytes());
    let origin = Location { line: 22, column: 1, offset: 4_000, index: 21, ..Location::default() };
    look(&Case::of(text.as_bytes(), tape, origin, Arc::new(Runs)).view())
}

fn rendered(format: ReportFormat, text: &str, findings: &[Finding]) -> String {
    let mut out = Vec::new();
    with(text, |case| {
        format.record(case, findings, None, (&text::Look::new(false), Some(Severity::Warning)), &mut out)
    });
    String::from_utf8(out).unwrap()
}

#[test]
fn a_long_line_is_set_anew_around_the_place() {
    insta::assert_snapshot!(rendered(ReportFormat::Text, RECORD, &found()));
}

#[test]
fn written_lines_are_shown_as_they_stand() {
    let text = "{\n\t\"steps\": [\n    {\"id\": 1,\r\n     \"output\": [{\"name\": \"a\"}]}\n  ]\n}";
    let findings = [
        Finding::new(RuleId::LastStep, "no".to_owned(), Place::Key(keys("/steps/0/output")))
            .label(Place::Value(keys("/steps/0/id")), "of this step".to_owned()),
        Finding::new(RuleId::ProcedureSchema, "all".to_owned(), Place::Value(keys("/steps"))),
    ];
    insta::assert_snapshot!(rendered(ReportFormat::Text, text, &findings));
}

#[test]
fn of_lines_that_are_moved_out_of_a_narrow_pane_nothing_is_left() {
    let text = format!(r#"{{"id": 1, "state": {{"a": "{}", "b": 2}}, "c": 3}}"#, "x".repeat(60));
    let label = PlaceLabel { place: Place::Value(keys("/state/b")), text: Untrusted::default() };
    let lines = with(&text, |case| text::places(case, std::slice::from_ref(&label), 40));
    let lines: Vec<&str> = lines.iter().map(|line| line.as_str().trim_start_matches([' ', '|'])).collect();
    assert!(lines.iter().any(|line| line.ends_with("\"b\": 2},")) && lines.contains(&"^"), "{lines:?}");
    assert!(!lines.contains(&"..."), "{lines:?}");
}

#[test]
fn broken_text_is_shown_around_the_place() {
    let text = format!("{{\"id\": \"{}\", \"question\": \"cut\u{1b}", "x".repeat(300));
    let end = text.len();
    let findings = [Finding::new(RuleId::CutOff, "ends here".to_owned(), Place::Bytes { start: end - 5, end })];
    insta::assert_snapshot!(rendered(ReportFormat::Text, &text, &findings));
}

#[test]
fn steps_that_their_recorder_named_have_their_names() {
    let run = r#"{"id": 1, "question": "?", "mode": "procedural", "state": {"a": 1}, "trace": {"steps": [
        {"step_index": 0, "name": "extract\u001b[2J", "outputs": null, "error": "no number"},
        {"step_index": 1, "name": "answer", "outputs": {"a": 1}}]}}"#;
    let shown = |text: &str| {
        with(text, |case| whole::record(whole::RecordPart::default(), case, &text::Look::new(false), false, 9_999).out)
    };
    let text = String::from_utf8(shown(run)).unwrap();
    assert!(
        text.contains("Step 1 (id none)  failed\n  extract") && text.contains("Step 2 (id none)\n  answer\n"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "{text}");
    let last = String::from_utf8(shown(&run.replace(r#"{"a": 1}}]"#, r#"null, "error": "no"}]"#))).unwrap();
    assert!(last.contains("Step 2 (id none)  run ended here\n  answer\n"), "{last}");
    let page = with(run, |case| page::html(case, &page::PageOptions::default()).text);
    assert!(page.contains("answer</p>") && page.contains("failed"), "{page}");
}

#[test]
fn short_lines_have_true_places() {
    insta::assert_snapshot!(rendered(ReportFormat::Short, RECORD, &found()));
}

#[test]
fn json_lines_are_json_and_exact() {
    let line = rendered(ReportFormat::Jsonl, RECORD, &found());
    assert!(line.is_ascii() && line.bytes().all(|byte| byte == b'\n' || byte >= 0x20));
    let json: serde_json::Value = serde_json::from_str(&line).unwrap();
    let names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let members = [
        "source", "line", "index", "id", "kind", "findings", "fitness", "correct", "cause", "triage", "sha256", "rules",
    ];
    assert_eq!(names, members);
    assert_eq!(json["source"], "runs\u{1b}.jsonl");
    let first = &json["findings"][0];
    let names: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["rule", "severity", "action", "message", "details", "pointer", "labels"]);
    assert_eq!(first["details"], serde_json::json!({"step_id": 2, "input": "bob_\u{1b}[31mremoved"}));
    assert_eq!(first["pointer"], "/procedure/steps/1/inputs/0/name");
    let range = &first["labels"][0]["range"];
    let (start, end) = (range[0].as_u64().unwrap() as usize, range[1].as_u64().unwrap() as usize);
    assert_eq!(&RECORD[start..end], r#""bob_\u001b[31mremoved""#);
    assert_eq!(first["labels"][1]["text"], "the nearest name");
    assert_eq!(json["findings"][1]["action"], serde_json::Value::Null);
    assert!(
        line.contains(",\"fitness\":-0.44999999999999996,\"correct\":null,\"cause\":\"invalid_plan\",\"triage\":null,"),
        "{line}"
    );
    let right = r#"{"id": 1, "mode": "baseline", "status": "ok", "gold_num": 5, "pred_num": 5}"#;
    for (text, verdict) in [(right.to_owned(), "true"), (right.replace("5}", "6}"), "false")] {
        let line = rendered(ReportFormat::Jsonl, &text, &[]);
        assert!(line.contains(&format!(",\"correct\":{verdict},")), "{line}");
    }
}

#[test]
fn ids_are_written_as_they_are() {
    for (text, id) in [
        (r#"{"id": 007e, "question": "?", "state": {}}"#, "null"),
        (r#"{"id": 12345678901234567890123, "question": "?", "state": {}}"#, "12345678901234567890123"),
        (r#"{"id": 1.50, "question": "?", "state": {}}"#, "1.50"),
        (r#"{"id": "é\ud800", "question": "?", "state": {}}"#, r#""\u00e9\ud800""#),
        (r#"{"id": NaN, "question": "?", "state": {}}"#, "null"),
        (r#"{"id": [1], "question": "?", "state": {}}"#, "null"),
    ] {
        let line = rendered(ReportFormat::Jsonl, text, &[]);
        assert!(line.contains(&format!("\"id\":{id},\"kind\"")), "{line}");
    }
}

#[test]
fn sarif_is_one_json_document() {
    let mut results = Vec::new();
    with(RECORD, |case| sarif::write(case, &found(), &mut results));
    with(RECORD, |case| sarif::write(case, &found(), &mut results));
    let mut out = Vec::new();
    sarif::begin(&mut out);
    out.extend_from_slice(ReportFormat::Sarif.first(&results));
    sarif::end(&mut out);
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let results = json["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 6);
    let place = &results[0]["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "runs%1B.jsonl");
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 22);
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "/procedure/steps/1/inputs/0/name");
    assert_eq!(results[0]["relatedLocations"].as_array().unwrap().len(), 1);
    let driver = &json["runs"][0]["tool"]["driver"];
    assert_eq!(driver["semanticVersion"], env!("CARGO_PKG_VERSION"));
}

/// Returns the driver of a report whose sources are at an address.
fn driver_at(repository: &str) -> serde_json::Value {
    let mut out = Vec::new();
    sarif::begin_at(repository, &mut out);
    sarif::end(&mut out);
    let mut json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    json["runs"][0]["tool"]["driver"].take()
}

#[test]
fn sarif_links_to_the_rules_once_there_is_an_address() {
    let without = driver_at("");
    assert!(without["informationUri"].is_null() && without["rules"][0]["helpUri"].is_null());
    let with = driver_at("https://host.example/stepscope");
    assert_eq!(with["informationUri"], "https://host.example/stepscope");
    let expected = format!("https://host.example/stepscope/blob/v{}/docs/rules.md", env!("CARGO_PKG_VERSION"));
    assert_eq!(with["rules"][0]["helpUri"], expected);
}

#[test]
fn a_fingerprint_stays_while_lines_and_times_change() {
    let prints = |text: &str, findings: &[Finding]| -> Vec<String> {
        let out = rendered(ReportFormat::Sarif, text, findings);
        let results: serde_json::Value = serde_json::from_str(&format!("[{}]", &out[1..])).unwrap();
        let print = |result: &serde_json::Value| {
            result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().to_owned()
        };
        results.as_array().unwrap().iter().map(print).collect()
    };
    let twice = [found(), found()].concat();
    let prints_of_record = prints(RECORD, &twice);
    let different: std::collections::HashSet<_> = prints_of_record.iter().collect();
    assert_eq!(different.len(), 6, "{prints_of_record:?}");
    assert!(prints_of_record[0].ends_with(":1") && prints_of_record[3].ends_with(":2"), "{prints_of_record:?}");
    assert_eq!(
        prints_of_record,
        prints(&RECORD.replace("\"status\": \"ok\"", "\"status\": \"ok\", \"ms\": 7"), &twice)
    );
    assert_ne!(prints_of_record, prints(&RECORD.replace("16c951343c", "26c951343c"), &twice));
}

#[test]
fn annotations_are_a_line_each() {
    let out = rendered(ReportFormat::Github, RECORD, &found());
    assert_eq!(out.lines().count(), 3);
    assert!(out.lines().all(|line| line.starts_with("::")), "{out}");
    assert!(out.starts_with("::error file=runs␛.jsonl,line=22,endLine=22,col="), "{out}");
    assert!(out.contains("title=procedure/unresolved_input::Input"), "{out}");
    assert!(out.contains("(16c951343c3905095e135aaea1535b58 /procedure/steps/1/inputs/0/name)"), "{out}");
}

#[test]
fn a_record_is_a_test_case_that_fails_by_its_gravest_finding() {
    let out = rendered(ReportFormat::Junit, RECORD, &found());
    assert!(out.contains("tests=\"1\" failures=\"1\""), "{out}");
    assert!(
        out.contains("<failure type=\"procedure/unresolved_input\" message=\"Input &apos;bob_␛[31mremoved&apos;"),
        "{out}"
    );
    assert_eq!(out.matches("<failure").count(), 1);
    let reversed: Vec<Finding> = found().into_iter().rev().collect();
    assert!(rendered(ReportFormat::Junit, RECORD, &reversed).contains("<failure type=\"procedure/unresolved_input\""));
    let notes =
        [Finding::new(RuleId::GoldSteps, "odd".to_owned(), Place::Value(keys("/state"))).severity(Severity::Note)];
    let out = rendered(ReportFormat::Junit, RECORD, &notes);
    assert!(out.contains("failures=\"0\"") && out.contains("<system-out>22:"), "{out}");
    let clean = rendered(ReportFormat::Junit, RECORD, &[]);
    assert!(clean.contains("failures=\"0\"") && !clean.contains("<system-out>"), "{clean}");
    assert!(clean.contains("name=\"line 22: 16c951343c3905095e135aaea1535b58\""), "{clean}");
}

#[test]
fn markdown_lists_findings_below_their_record() {
    let mut out = Vec::new();
    ReportFormat::Markdown.begin(&mut out);
    let finding = Finding::new(RuleId::GoldSteps, "see @someone, #12 | <b>".to_owned(), Place::Value(keys("/state")));
    let text = rendered(ReportFormat::Markdown, RECORD, &[finding]);
    ReportFormat::Markdown.total(&Shown::own("1 record, 1 warning"), &mut out);
    assert!(text.starts_with("- <code>runs␛.jsonl&#58;22</code> <code>16c951343c"), "{text}");
    assert!(text.contains("Samantha’s last name"), "{text}");
    assert!(!text.contains('@') && !text.contains(" #12") && !text.contains("<b>"), "{text}");
    assert_eq!(text.lines().count(), 2);
    assert!(String::from_utf8(out).unwrap().ends_with("\n**1 record, 1 warning**\n"));
}

#[test]
fn positions_agree_with_counting() {
    let text: String = (0..20_000).map(|n| if n % 7 == 0 { "é\n".to_owned() } else { format!("{n}é") }).collect();
    with(&text, |case| {
        let mut places = places::Places::new(case);
        for byte in [0, 1, 70_000, 69_998, text.len(), 32_768, 65_536, 40_000] {
            let byte = (byte..=text.len()).find(|byte| text.is_char_boundary(*byte)).unwrap();
            let before = &text[..byte];
            let line = 22 + before.matches('\n').count();
            let column = 1 + before.rsplit('\n').next().unwrap().chars().count();
            assert_eq!(places.position(byte), (line, column), "{byte}");
        }
    });
}

#[test]
fn a_part_of_a_text_has_its_own_range() {
    let text = r#"{"question": "a\u00e9 \"twelve\" b"}"#;
    let pointer = keys("/question");
    let finding = Finding::new(RuleId::GoldSteps, "x".to_owned(), Place::Span { pointer, start: 5, end: 11 });
    let out = rendered(ReportFormat::Jsonl, text, &[finding]);
    let start = text.find("twelve").unwrap();
    assert!(out.contains(&format!(r#""pointer":"/question","range":[{start},{}]"#, start + 6)), "{out}");
}

/// Measures the time that this thread has worked so far, in nanoseconds; what else the machine does is not counted.
fn worked() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The least of three efforts to print findings on every entry of a list.
fn effort(entries: usize) -> i64 {
    let items: Vec<_> = (0..entries).map(|n| format!("{{\"k{n}\": {n}}}")).collect();
    let text = format!("[{}]", items.join(","));
    let finding = |n| Finding::new(RuleId::GoldSteps, "x".to_owned(), Place::Value(Pointer::default().then(n)));
    let findings: Vec<_> = (0..entries).map(finding).collect();
    let time = |_| {
        let start = worked();
        for format in [ReportFormat::Jsonl, ReportFormat::Short] {
            assert!(rendered(format, &text, &findings).len() > entries);
        }
        worked() - start
    };
    (0..3).map(time).min().unwrap()
}

#[test]
fn many_findings_in_one_list_cost_no_more_each() {
    let (few, many) = (effort(2_500), effort(7_500));
    // Three times as many: nine times the effort if each were looked for from the beginning.
    assert!(many < few * 6, "{few} {many}");
}

#[test]
fn the_summary_counts() {
    let summary = Totals { records: 1, findings: [1, 3, 2, 1] };
    assert_eq!(summary.line().as_str(), "1 record, 1 fatal, 3 repairable, 2 warnings, 1 note");
    assert_eq!(Totals::default().line().as_str(), "0 records, no findings");
}

mod anything {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn can_be_reported(text in "[\\[\\]{}:,\"a1 \n\\u{e9}\\u{1b}]{0,300}", start in 0..300usize, len in 0..50usize, part in 0..4usize) {
            let findings = [
                Finding::new(RuleId::ProcedureSchema, text.clone(), Place::Bytes { start, end: start + len })
                    .label(Place::Value(Pointer::default().then(part)), text.clone()),
            ];
            for format in ReportFormat::ALL {
                let out = rendered(format, &text, &findings);
                prop_assert!(out.chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c)), "{out:?}");
            }
        }
    }
}

/// The steps that a text marks with a word, from 1: by lines such as `Step 4 (id 4)  step to fix`.
fn steps_marked(text: &str, word: &str) -> Vec<usize> {
    let marked = text.lines().filter(|line| line.starts_with("Step ") && line.ends_with(word));
    marked.map(|line| line.split([' ', ':']).nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn show_and_pages_say_of_steps_what_the_view_says() {
    let samples = include_str!("../../../sample_runs/word_problems.jsonl");
    let (mut to_fix, mut others) = (0, 0);
    for line in samples.lines() {
        with(line, |case| {
            let content = RecordContent::of(case, Hide::default());
            let (text, page) = written(case, Hide::default());
            for status in [StepStatus::ToFix, StepStatus::EndedHere, StepStatus::NotRun, StepStatus::OutOfDate] {
                let has = |(n, row): (usize, &StepRow)| (row.status == status).then_some(n + 1);
                let wanted: Vec<usize> = content.steps.iter().enumerate().filter_map(has).collect();
                assert_eq!(steps_marked(&text, status.word()), wanted, "{text}");
                let chips = page.matches(&format!("{} {}</span>", status.mood().glyph(), status.word())).count();
                assert_eq!(chips, wanted.len(), "{status:?} {page}");
                to_fix += if status == StepStatus::ToFix { wanted.len() } else { 0 };
                others += if status == StepStatus::ToFix { 0 } else { wanted.len() };
            }
            if let Some(note) = &content.difference {
                assert!(
                    text.contains(note.message.as_str())
                        && page.contains("First difference") | page.contains("all the same")
                );
            }
        });
    }
    assert!(to_fix > 5 && others > 0, "{to_fix} {others}");
}

#[test]
fn a_value_that_its_cited_line_does_not_hold_is_grounded_nowhere() {
    let answer = |value: &str| {
        format!(
            r#"{{"question": "How much?", "document": {{"lines": ["The fee is EUR 75 a claim.", "It is due in May."]}},
            "answer": {{"extraction_method": "verbatim", "answer_found": true, "items": [{{"amount": {{"value": {value}, "currency": "EUR"}},
            "spans": [{{"line_start": 0, "line_end": 0, "quote": "The fee is EUR 75 a claim."}}]}}]}}}}"#
        )
    };
    for (value, sign, chip) in [("75", "✓", "✓ grounded"), ("99", "•", "• not proven")] {
        with(&answer(value), |case| {
            let (text, page) = written(case, Hide::default());
            assert!(text.contains(&format!("  {sign} A amount  {value} EUR")), "{text}");
            assert!(page.contains(&format!("{chip}</span>")), "{chip} {page}");
        });
    }
}

/// The text that `show` prints of a record, and its page.
fn written(case: &CaseView<'_>, hide: Hide) -> (String, String) {
    let part = whole::RecordPart { hide, ..whole::RecordPart::default() };
    let text = whole::record(part, case, &text::Look::new(false), false, usize::MAX);
    let options = page::PageOptions { passages: true, hide, ..page::PageOptions::default() };
    (String::from_utf8(text.out).unwrap(), page::html(case, &options).text)
}

#[test]
fn luck_is_told_and_nothing_of_it_where_the_place_to_fix_is_hidden() {
    with(include_str!("../../../tests/fixtures/luck.json"), |case| {
        let (text, page) = written(case, Hide::default());
        assert!(
            text.contains("graded correct, by luck") && page.contains("▲ Right by luck: answered 48"),
            "{text}{page}"
        );
        assert!(page.contains("step to fix</span>") && page.contains("should be"), "{page}");
        let (text, page) = written(case, Hide::of([Hidden::Triage]));
        assert!(text.contains("graded correct\n") && page.contains("✓ Right: answered 48"), "{text}{page}");
        for told in ["by luck", "step to fix", "should be", "as recomputed", "First difference"] {
            assert!(!text.contains(told) && !page.contains(told), "{told}: {text}{page}");
        }
    });
}
