//! The statistics against what scipy, statsmodels and scikit-learn say; `tests/statistics/make_cases.py` recorded it.

use serde_json::Value;
use stepscope_record::statistics::{cohen, fleiss, mcnemar, wilson};

fn near(ours: f64, theirs: f64, case: &Value) {
    let off = (ours - theirs).abs();
    assert!(off <= 1e-9 * theirs.abs().max(1e-3), "{ours} is not {theirs}: {case}");
}

#[test]
fn they_say_what_the_usual_libraries_say() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/statistics.jsonl")).unwrap();
    let mut seen = [0; 4];
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let whole = |key: &str| case[key].as_u64().unwrap();
        let number = |key: &str| case[key].as_f64().unwrap();
        let rows = |key: &str| -> Vec<Vec<u64>> { serde_json::from_value(case[key].clone()).unwrap() };
        let kind = match case["what"].as_str().unwrap() {
            "wilson" => {
                let (low, high) = wilson(whole("hits"), whole("of")).unwrap();
                near(low, number("low"), &case);
                near(high, number("high"), &case);
                0
            }
            "mcnemar" => {
                near(mcnemar(whole("only_a"), whole("only_b")), number("p"), &case);
                1
            }
            "cohen" => {
                let ratings: Vec<_> = rows("ratings").iter().map(|pair| (pair[0] as usize, pair[1] as usize)).collect();
                near(cohen(&ratings, whole("categories") as usize).unwrap(), number("kappa"), &case);
                2
            }
            "fleiss" => {
                near(fleiss(&rows("items")).unwrap(), number("kappa"), &case);
                3
            }
            other => panic!("{other}"),
        };
        seen[kind] += 1;
    }
    assert_eq!(seen, [10, 11, 6, 4]);
}
