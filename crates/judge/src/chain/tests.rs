use crate::case::Case;
use crate::triage::{Confidence, Fix};
use stepscope_base::json::Pointer;
use stepscope_record::RecordKind;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::rule_id::RuleId;

const SAMPLES: &str = include_str!("../../../../sample_runs/chains.jsonl");

fn sample(n: usize) -> Case<'static> {
    Case::read(SAMPLES.lines().nth(n).expect("a sample").as_bytes())
}

/// Lists the findings of the rules above a note: rule, message, and the text at its place.
fn findings(case: &Case<'_>) -> Vec<(RuleId, String, String)> {
    let root = case.root().expect("JSON");
    let text = |finding: &Finding| {
        let at = |pointer: &Pointer| root.find(pointer).expect("a place in the record").value.string().expect("a text");
        match finding.place() {
            Place::Span { pointer, start, end } => {
                String::from_utf8(at(pointer).bytes()[*start..*end].to_vec()).expect("characters")
            }
            Place::Value(pointer) => at(pointer).line().into_string(),
            other => panic!("{other:?}"),
        }
    };
    let graves = case.findings().iter().filter(|finding| finding.severity < stepscope_record::finding::Severity::Note);
    graves.map(|finding| (finding.rule, finding.message.line().into_string(), text(finding))).collect()
}

fn triage(case: &Case<'_>) -> (Fix, Option<usize>, Confidence, Option<String>) {
    let view = case.view();
    let triage = view.triage().expect("a run");
    (triage.fix, triage.step, triage.confidence, triage.recovered.map(stepscope_arithmetic::number::Number::shown))
}

/// Names and values in order.
fn values(case: &Case<'_>) -> Vec<String> {
    let view = case.view();
    let of = |variable: &stepscope_record::state::Variable<'_>| {
        let value = variable.final_value?;
        Some(format!("{} {}", variable.name.line().as_str(), String::from_utf8_lossy(value.raw())))
    };
    view.state().variables().iter().filter_map(of).collect()
}

#[test]
fn every_calculation_is_a_value_of_its_step() {
    let case = sample(0);
    assert_eq!(case.view().kind(), RecordKind::Chain);
    assert_eq!(
        values(&case),
        ["rolls 96", "rolls_2 84", "rolls_3 12", "final_answer \"12\"", "final_answer_numerical 12"]
    );
    assert_eq!(findings(&case), []);
    let view = case.view();
    assert_eq!((view.rightness().verdict(), view.state().step_count()), (Some(true), 3));
    // The last step calculates with what the first two wrote.
    let reads: Vec<_> = view
        .state()
        .reads(2)
        .iter()
        .map(|entry| view.state().variables()[entry.variable].name.line().into_string())
        .collect();
    assert_eq!(reads, ["rolls", "rolls_2"]);
    let links = view.quantity_links().expect("quantities");
    assert!(links.missed.is_empty() && links.quantities.len() == 4, "{links:?}");
    let first: Vec<usize> = links.holders_of(0).collect();
    assert_eq!(links.holders[first[0]].step, 0);
}

#[test]
fn a_slip_is_told_where_it_stands_and_the_rest_is_worked_out_again() {
    let case = sample(1);
    let said = "Step 2 should calculate 18 + 36 = 54 but wrote 56.".to_owned();
    assert_eq!(findings(&case), [(RuleId::Recompute, said, "56".to_owned())]);
    assert_eq!(triage(&case), (Fix::StepRun, Some(1), Confidence::Sure, Some("79".to_owned())));
    let view = case.view();
    for argument in &view.triage().unwrap().why {
        assert!(case.root().unwrap().find(&argument.pointer).is_some(), "{argument:?}");
    }
}

#[test]
fn letters_stand_for_what_they_were_given() {
    let case = sample(2);
    assert_eq!(triage(&case), (Fix::StepRun, Some(3), Confidence::Sure, Some("6".to_owned())));
    let (_, message, place) = findings(&case).remove(0);
    assert_eq!((message.as_str(), place.as_str()), ("Step 4 should calculate (-3) × (-2) = 6 but wrote -6.", "-6"));
}

#[test]
fn where_every_equation_holds_the_expected_solution_is_asked() {
    let case = sample(3);
    assert_eq!(findings(&case), []);
    assert_eq!(triage(&case), (Fix::Procedure, Some(1), Confidence::Unsure, Some("70".to_owned())));
}

#[test]
fn the_lines_of_a_solution_are_its_steps() {
    let case = sample(4);
    let view = case.view();
    assert_eq!((view.state().step_count(), view.rightness().verdict()), (2, Some(true)));
    assert_eq!(values(&case)[..2], ["litres 150".to_owned(), "minutes 10".to_owned()]);
    let case = sample(5);
    let said = "Step 2 should calculate 12 + 4 = 16 but wrote 18.".to_owned();
    assert_eq!(findings(&case), [(RuleId::Recompute, said, "18".to_owned())]);
    assert_eq!(triage(&case), (Fix::StepRun, Some(1), Confidence::Sure, Some("16".to_owned())));
}

#[test]
fn an_answer_is_a_fraction_or_counts_in_millions() {
    for (answer, expected, right) in [
        (r"\\boxed{\\frac{3}{4}}", "\"3/4\"", Some(true)),
        ("The answer is 3/4 of the pie.", "0.75", Some(true)),
        ("The answer is -1 1/2.", "-1.5", Some(true)),
        ("#### 2/3", r#""\\frac{3}{4}""#, Some(false)),
        ("The answer is $1.5 million.", "1500000", Some(true)),
        ("The answer is $1.5 million.", "1.5", Some(true)),
        ("The answer is $1.5 million.", "1500", Some(false)),
        ("The answer is $1.5 million.", r#""1.5 million""#, Some(true)),
        ("The answer is 2,500,000.", r#""$2.5 million""#, Some(true)),
        ("The answer is 3000.", r#""3 thousand""#, Some(true)),
        // Whoever asks in millions may be answered with the number of them.
        ("The answer is 1.5.", r#""1.5 million""#, Some(true)),
        ("The answer is 1500.", r#""1.5 million""#, Some(false)),
        ("The answer is 10/3 ≈ 3.33", "3.33", Some(true)),
    ] {
        let text = format!(r#"{{"question": "?", "steps": ["It is so.", "{answer}"], "expected_answer": {expected}}}"#);
        let case = Case::read(text.into_bytes());
        assert_eq!(case.view().rightness().verdict(), right, "{answer} {expected}");
        assert_eq!(findings(&case), [], "{answer} {expected}");
    }
    let text = r#"{"question": "?", "steps": ["It is so.", "The answer is 2,500,000."], "gold_answer": "It is #### $2.5 million"}"#;
    assert_eq!(Case::read(text.as_bytes()).view().rightness().verdict(), Some(true));
}

#[test]
fn a_chain_may_count_in_the_millions_of_its_question() {
    for (step, missed) in [
        ("So 52 million - 48 million = 5 million", 0),
        ("So 52 - 48 = 5 million", 0),
        ("So 52 - 48 = 5", 0),
        ("So 520 - 48 = 5 million", 1),
        ("So 5 million are left", 2),
    ] {
        let text = format!(
            r#"{{"question": "Of $52 million it spent $48 million. What is left?", "steps": ["{step}.", "The answer is 5 million."], "expected_answer": 4000000}}"#
        );
        let case = Case::read(text.into_bytes());
        let view = case.view();
        assert_eq!(
            (view.rightness().verdict(), view.quantity_links().map(|links| links.missed.len())),
            (Some(false), Some(missed)),
            "{step}"
        );
    }
}

#[test]
fn equations_are_read_in_words_and_where_they_are_rounded() {
    let told = |step: &str| {
        let case = Case::read(format!(r#"{{"question": "?", "steps": ["{step}", "So much."]}}"#).into_bytes());
        findings(&case).into_iter().map(|(_, message, _)| message).collect::<Vec<_>>()
    };
    for step in [
        "So 10 / 3 ≈ 3.3 each",
        r"\\frac{10}{3} \\approx 3.33",
        "5 * 4 is equal to 20",
        "The total equals 5 * 4 = 20",
        "It is 3 * 8230 ≈ 25,000",
        "10 / 3\\n≈ 3.3",
    ] {
        assert_eq!(told(step), Vec::<String>::new(), "{step}");
    }
    for step in [
        "So 10 / 3 ≈ 3.6 each",
        r"\\frac{10}{3} \\approx 3.6",
        "Each gets 10 / 3, which equals 3.6",
        "10 / 3 is about equal to 3.6",
    ] {
        assert_eq!(told(step), ["Step 1 should calculate 10 / 3 = 10/3 ≈ 3.333 but wrote 3.6."], "{step}");
    }
}

#[test]
fn labels_are_no_input() {
    let text = SAMPLES.lines().nth(1).unwrap();
    let said = |text: &str| {
        let case = Case::read(text.as_bytes().to_vec());
        (findings(&case), triage(&case))
    };
    let own = said(text);
    for label in ["-1", "0", "2", "null", "\"x\""] {
        assert_eq!(said(&text.replace("\"label\": 1", &format!("\"label\": {label}"))), own, "{label}");
    }
    assert_eq!(said(&text.replace(", \"label\": 1", "")), own);
}

#[test]
fn a_chain_has_no_procedure_to_be_judged() {
    let case = sample(0);
    assert!(case.findings().iter().all(|finding| !finding.rule.word().starts_with("procedure/")));
}

#[test]
fn hostile_chains_are_read_in_time() {
    let many = |item: &str, times: usize| {
        let items: Vec<String> = (0..times).map(|_| format!("\"{item}\"")).collect();
        format!(r#"{{"question": "1 2 3 4 5 6 7 8 9?", "steps": [{}]}}"#, items.join(","))
    };
    for text in [
        many("1 = 1", 200_000),
        many(&"1 + 1 = 3 ".repeat(400), 200),
        many(&"\\\\frac{".repeat(2_000), 50),
        many(&"=".repeat(3_900), 300),
        many(&"3 equals ".repeat(400), 200),
        many(&"1/1 ".repeat(900), 200),
        many(&"A = 1 + 1 = 2, B = A + A = 4. ".repeat(120), 200),
        format!(r#"{{"question": "?", "solution": "{}"}}"#, "1 + 1 = 3\\n".repeat(100_000)),
    ] {
        let started = std::time::Instant::now();
        let case = Case::read(text.as_bytes());
        let found = case.findings().len();
        assert!(found < 200 && started.elapsed().as_secs() < 20, "{found} {:?} {}", started.elapsed(), &text[..80]);
    }
}
