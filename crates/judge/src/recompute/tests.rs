use super::execution::execute;
use super::*;
use crate::case::Case;
use crate::rightness::Rightness;
use stepscope_base::json::Tape;
use stepscope_record::formats;

fn with<T>(text: &str, then: impl FnOnce(&Record<'_>, &State<'_>, &Recomputed) -> T) -> T {
    let mut tape = Tape::default();
    let record = formats::read(tape.parse(text.as_bytes()).expect("JSON"));
    let procedure = record.procedure.map(Procedure::read);
    let state = State::of(&record, procedure.as_ref());
    let recomputed = execute(&record, procedure.as_ref(), &state, Rightness::of(&record).verdict());
    then(&record, &state, &recomputed)
}

/// A step as its text, its inputs and its outputs with descriptions.
type Made<'t> = (&'t str, &'t [&'t str], &'t [(&'t str, &'t str)]);

/// A run of some steps; the values are JSON.
fn run(steps: &[Made<'_>], values: &str) -> String {
    let field = |name: &str, description: &str| format!(r#"{{"name": "{name}", "description": "{description}"}}"#);
    let steps: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(n, (text, inputs, outputs))| {
            let inputs: Vec<_> = inputs.iter().map(|name| field(name, "")).collect();
            let outputs: Vec<_> = outputs.iter().map(|(name, description)| field(name, description)).collect();
            format!(
                r#"{{"id": {}, "inputs": [{}], "stepDescription": "{text}", "output": [{}]}}"#,
                n + 1,
                inputs.join(", "),
                outputs.join(", ")
            )
        })
        .collect();
    format!(
        r#"{{"id": 1, "question": "?", "status": "ok", "mode": "procedural", "procedure": {{"NameDescription": "t", "steps": [{}]}}, "state": {{"problem_text": "?", {values}}}}}"#,
        steps.join(", ")
    )
}

#[test]
fn a_typeset_plan_is_read_and_has_its_place_in_the_record() {
    let text = r"Compute $\\text{price} \\times \\left(1 - \\frac{rate\\_percent}{100}\\right)$.";
    let record = format!(
        r#"{{"question": "?", "mode": "procedural", "procedure": {{"steps": [
        {{"id": 1, "inputs": [{{"name": "problem_text"}}], "stepDescription": "Extract", "output": [{{"name": "price"}}, {{"name": "rate_percent"}}]}},
        {{"id": 2, "inputs": [{{"name": "price"}}, {{"name": "rate_percent"}}], "stepDescription": "{text}", "output": [{{"name": "final_answer"}}]}}]}},
        "state": {{"price": 80, "rate_percent": 25, "final_answer": "55", "final_answer_numerical": 55}}}}"#
    );
    let case = crate::case::Case::read(record.as_bytes());
    let case = case.view();
    let recomputed = case.executed().unwrap();
    assert_eq!(recomputed.recovered.map(Number::shown).as_deref(), Some("60"));
    let range = recomputed.writes.last().unwrap().plan.as_ref().unwrap().range.clone().unwrap();
    let step = case.procedure().unwrap().steps[1].text.unwrap().string().unwrap();
    assert!(step.utf8().unwrap()[range].ends_with(r"\frac{rate\_percent}{100}\right)"), "{step:?}");
}

#[test]
fn words_around_signs_and_other_units_leave_no_plan() {
    let gives = |text: &str, names: [&str; 2], values: [&str; 2], wrote: &str| {
        let [(a, x), (b, y)] = [(names[0], values[0]), (names[1], values[1])];
        let record = format!(
            r#"{{"question": "?", "mode": "procedural", "procedure": {{"steps": [
            {{"id": 1, "inputs": [{{"name": "problem_text"}}], "stepDescription": "Extract", "output": [{{"name": "{a}"}}, {{"name": "{b}"}}]}},
            {{"id": 2, "inputs": [{{"name": "{a}"}}, {{"name": "{b}"}}], "stepDescription": "{text}", "output": [{{"name": "c"}}]}},
            {{"id": 3, "inputs": [{{"name": "c"}}], "stepDescription": "State c", "output": [{{"name": "final_answer"}}]}}]}},
            "state": {{"{a}": {x}, "{b}": {y}, "c": {wrote}, "final_answer": "{wrote}", "final_answer_numerical": {wrote}}}}}"#
        );
        let case = crate::case::Case::read(record.as_bytes());
        let case = case.view();
        let recomputed = case.executed().unwrap();
        let write = recomputed.writes.iter().find(|write| write.step == 1).unwrap();
        write.plan.as_ref().map(|plan| (write.alone.unwrap().shown(), plan.sure))
    };
    let found = |value: &str, sure: bool| Some((value.to_owned(), sure));
    let sides = ["length", "width"];
    assert_eq!(gives("Compute length * width.", sides, ["30", "20"], "600"), found("600", true));
    assert_eq!(gives("Compute half of length * width.", sides, ["30", "20"], "300").unwrap().0, "300");
    assert_eq!(gives("Compute length * 2.", sides, ["30", "20"], "60"), found("60", false), "the width may count too");
    // What goes on in words, of which the calculation is a part, or which is no calculation at all.
    for text in [
        "All of it: length × width. After that: take half of them.",
        "1. Compute the change: length - width (may be negative).\\n2. Four days have passed; multiply it by 4.",
        "gaps = length / width; There is one more tree than gaps.",
        "length / (length + width) per part; length parts are red",
        "6 faces of length × width each",
        "Total volume (length * width) in ml",
        "Compute the selections length!/(length-width)!.",
        "C(length, width) = length! / (width! (length - width)!)",
        "Then 3s + length = 2(s + width), so s = width.",
        "Adding gives 2c = length + width.",
        "Subtract length percent and width percent of it from it.",
    ] {
        let wrote = if text.contains("ml") { "600000" } else { "7" };
        assert_eq!(gives(text, sides, ["30", "20"], wrote), None, "{text}");
    }
    for text in ["**Step 2** – length*width", "2) c := length * width", "[2] length * width", "2 - length * width"] {
        assert_eq!(gives(text, sides, ["30", "20"], "7").unwrap().0, "600", "{text}");
    }
    let camel = ["unitPrice", "itemCount"];
    for text in
        ["Multiply the unit price by the item count.", "c = unit price * item count", "c = unitPrice * itemCount"]
    {
        assert_eq!(gives(text, camel, ["30", "20"], "7").unwrap().0, "600", "{text}");
    }
    let money = ["bill_dollars", "price_cents"];
    assert_eq!(gives("Subtract price_cents from bill_dollars.", money, ["20", "350"], "16.5"), None);
    assert_eq!(gives("c = bill_dollars - price_cents", money, ["20", "350"], "16.5"), found("-330", false));
    let trip = ["speed_kmh", "trip_minutes"];
    assert_eq!(gives("Multiply speed_kmh by trip_minutes.", trip, ["60", "90"], "90"), None);
    assert!(gives("Divide trip_minutes by rest_days.", ["trip_minutes", "rest_days"], ["60", "3"], "20").is_some());
}

#[test]
fn a_state_of_many_variables_is_recomputed_too() {
    let steps: &[Made<'_>] =
        &[("Extract", &["problem_text"], &[("a", "")]), ("a * 2", &["a"], &[("final_answer", "")])];
    let names: Vec<String> = (0..1_001).map(|n| format!("v{n}")).collect();
    let more: Vec<String> = names.iter().map(|name| format!("\"{name}\": 1")).collect();
    let more = format!(", {}", more.join(", "));
    let text = run(steps, &format!("\"a\": 4, \"final_answer\": \"9\"{more}"));
    assert_eq!(with(&text, |_, _, recomputed| recomputed.recovered), Some(Number::whole(8)));
    let outputs: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let text =
        run(&[steps, &[("More", &["a"], &outputs)]].concat(), &format!("\"a\": 4, \"final_answer\": \"9\"{more}"));
    let case = Case::read(text.into_bytes());
    let findings =
        case.view().findings().iter().map(|finding| finding.message.line().into_string()).collect::<Vec<_>>();
    assert!(findings.iter().any(|said| said.starts_with("Nothing is recomputed: ")), "{findings:?}");
}

fn values(text: &str) -> Vec<(String, String)> {
    with(text, |_, state, recomputed| {
        let shown = |computed: &Computed| {
            (name_of(state, computed.variable), computed.value.map_or_else(|| "-".to_owned(), Number::shown))
        };
        recomputed.writes.iter().map(shown).collect()
    })
}

const EXTRACT: Made<'_> = ("Extract.", &["problem_text"], &[("a", "A (3)"), ("b", "B")]);

#[test]
fn a_chain_of_expressions_is_executed() {
    let text = run(
        &[
            EXTRACT,
            ("Form t = a * b", &["a", "b"], &[("twice_expr", "the product (t = 3 * b)")]),
            ("Subtract: d = twice_expr - a", &["twice_expr", "a"], &[("rest", "expression")]),
            ("State the rest", &["rest"], &[("final_answer", "the answer")]),
        ],
        r#""a": 3, "b": 4, "twice_expr": "3 * b", "rest": "3 * b - a", "final_answer": "It is 10.", "final_answer_numerical": 10"#,
    );
    with(&text, |_, state, recomputed| {
        assert_eq!(recomputed.recovered.map(Number::shown).as_deref(), Some("9"));
        assert!(recomputed.exact);
        let end = recomputed.end(state).unwrap();
        assert!(end.differs());
        assert_eq!(end.plan.as_ref().unwrap().wording, Wording::Statement);
        let write = recomputed.write(end.variable, end.step).unwrap();
        let derivation = recomputed.derivation(state, write).unwrap();
        assert_eq!(derivation.line(), "9 ← rest = 9 (step 3)");
        assert_eq!(derivation.from[0].line(), "9 = 12 − 3 ← twice_expr = 12 (step 2), a = 3 (step 1)");
        assert_eq!(derivation.from[0].from[0].line(), "12 = 3 × 4 ← a = 3 (step 1), b = 4 (step 1)");
        assert!(recomputed.writes.iter().filter(|write| write.unevaluated.is_some()).all(|write| !write.differs()));
    });
}

#[test]
fn each_step_is_judged_from_its_recorded_inputs() {
    let text = run(
        &[
            EXTRACT,
            ("Compute sum = a + b.", &["a", "b"], &[("sum", "s")]),
            ("Compute big = sum * 10.", &["sum"], &[("big", "s")]),
        ],
        r#""a": 3, "b": 4, "sum": 8, "big": 80"#,
    );
    with(&text, |_, _, recomputed| {
        let differs: Vec<_> = recomputed.writes.iter().map(Computed::differs).collect();
        assert_eq!(differs, [false, false, true, false]);
    });
    assert_eq!(values(&text)[3], ("big".to_owned(), "70".to_owned()));
}

#[test]
fn a_percentage_may_be_told_by_its_description() {
    let differs = |text: &str, about: &str, cut: &str, wrote: &str| {
        let facts: Made<'_> = ("Extract.", &["problem_text"], &[("pens", "pens"), ("cut", about)]);
        let steps = [facts, (text, &["pens", "cut"], &[("red", "pens")])];
        let text = run(&steps, &format!(r#""pens": 80, "cut": {cut}, "red": {wrote}"#));
        with(&text, |_, _, recomputed| recomputed.writes.iter().any(Computed::differs))
    };
    for (text, cut, wrote) in [
        ("Compute red = pens * (1 - cut).", "25", "60"),
        ("Compute red = pens * cut.", "25", "20"),
        ("Compute red = pens * cut / 100.", "0.25", "20"),
        ("Compute red = pens * (100 - cut) / 100.", "0.25", "60"),
        ("Multiply pens by cut.", "25", "20"),
    ] {
        for about in ["share of the red pens, in percent", "share taken (%)"] {
            assert!(!differs(text, about, cut, wrote), "{text} {about}");
            assert!(differs(text, about, cut, "33"), "{text} {about}");
        }
        assert!(differs(text, "pens taken", cut, wrote), "{text}");
    }
}

#[test]
fn rounding_and_percent_are_no_difference() {
    let text = run(
        &[
            ("Extract.", &["problem_text"], &[("a", "A (10)"), ("p", "Rate (20%)"), ("n", "x (3)")]),
            ("Compute third = a / n.", &["a", "n"], &[("third", "")]),
            ("Compute whole = a / n, rounded up to whole buses.", &["a", "n"], &[("whole", "")]),
            ("Compute share = a / 40 as a percentage.", &["a"], &[("share", "")]),
        ],
        r#""a": 10, "p": 0.2, "n": 3, "third": 3.33, "whole": 4, "share": 25"#,
    );
    with(&text, |_, _, recomputed| {
        assert!(recomputed.writes.iter().all(|write| !write.differs()), "{:#?}", recomputed.writes);
    });
    assert_eq!(values(&text)[4].1, "4");
    assert_eq!(values(&text)[3].1, "10/3 ≈ 3.333");
}

#[test]
fn the_procedures_own_numbers_count() {
    let text = run(&[EXTRACT, ("Set total to 12.", &["a"], &[("total", "t")])], r#""a": 5, "b": 1, "total": 13"#);
    with(&text, |_, _, recomputed| {
        let differs: Vec<_> = recomputed.writes.iter().map(Computed::differs).collect();
        assert_eq!(differs, [true, false, true]);
    });
}

#[test]
fn what_is_not_understood_is_taken_from_the_record() {
    let text = run(
        &[EXTRACT, ("Think about it.", &["a", "b"], &[("c", "?")]), ("Compute d = c * 2", &["c"], &[("d", "")])],
        r#""a": 3, "b": 1, "c": 13, "d": 27"#,
    );
    with(&text, |_, _, recomputed| {
        let last = recomputed.writes.last().unwrap();
        assert_eq!(last.value, Some(Number::whole(26)));
        assert!(!last.exact && last.differs());
    });
}

#[test]
fn records_without_state_cost_nothing() {
    let text = run(&[EXTRACT], r#""a": 3"#).replace("\"state\"", "\"status_text\"");
    with(&text, |_, _, recomputed| assert!(recomputed.writes.is_empty() && recomputed.recovered.is_none()));
}

#[test]
fn the_real_runs_give_their_recovered_answers() {
    let runs = include_str!("../../../../tests/fixtures/real/runs.jsonl");
    let mut recovered = Vec::new();
    for line in runs.lines() {
        with(line, |record, _, recomputed| {
            let row = record.root.get("row_index").and_then(Value::float).unwrap_or(0.0);
            recovered.push(format!("{row} {}", recomputed.recovered.map_or_else(|| "-".to_owned(), Number::shown)));
        });
    }
    let expected = "22 7, 31 1200, 48 10, 52 5, 81 14, 142 -, 144 8, 187 -, 245 2280, 13 22.5, 59 85, 108 574, 229 -";
    assert_eq!(recovered.join(", "), expected);
}

#[test]
fn an_expression_is_evaluated_where_a_step_says_so() {
    let text = run(
        &[
            EXTRACT,
            ("Form the expression for the rest: b - a.", &["a", "b"], &[("rest_expr", "")]),
            ("Evaluate the expression with the extracted values.", &["rest_expr", "a", "b"], &[("rest", "")]),
            ("Compute twice = 2 * rest", &["rest"], &[("twice", "")]),
        ],
        r#""a": 3, "b": 9, "rest_expr": "b - a", "rest": 5, "twice": 10"#,
    );
    let values: Vec<_> = values(&text).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, ["3", "9", "6", "6", "12"]);
}

/// The values of a run that extracts `a = 3` and `b = 12` and then takes one step.
fn one_step(step: &str, inputs: &[&str], output: (&str, &str), wrote: &str) -> String {
    let text = run(&[EXTRACT, (step, inputs, &[output])], &format!(r#""a": 3, "b": 12, "{}": {wrote}"#, output.0));
    values(&text).pop().map(|(_, value)| value).unwrap_or_default()
}

#[test]
fn calculations_are_found_as_people_write_them() {
    let both = ["a", "b"];
    for (step, output, wrote, value) in [
        // A calculation under a name of its own goes into the next one.
        ("Compute subtotal = a * b; then total = subtotal + a.", ("total", ""), "30", "39"),
        ("Form the expression: whole = a * b. Assign whole to product.", ("product", ""), "30", "30"),
        ("Find the share by dividing b by (a + 1).", ("share", ""), "4", "3"),
        ("Find the rest: b minus the product of a and 2.", ("rest", ""), "5", "5"),
        ("Compute the buses = b / (a + 2), rounded up.", ("buses", ""), "2", "3"),
        ("Compute buses = floor(b / (a + 2)).", ("buses", ""), "3", "2"),
        ("Compute left = b % a.", ("left", ""), "1", "0"),
        ("Solve the equation a * x + b = 30 for x.", ("x_value", ""), "4", "6"),
        ("Let w be the width. Use 2 * (w + a) = b to find w.", ("w", ""), "4", "3"),
        ("Solve 2 * (a + width) = b for width.", ("width", ""), "4", "3"),
        // The case of a condition that was taken.
        ("If b > 10, fee = a * 10 + (b - 10), otherwise fee = a * b.", ("fee", ""), "32", "32"),
    ] {
        assert_eq!(one_step(step, &both, output, wrote), value, "{step}");
    }
    assert_eq!(one_step("Find the sum.", &both, ("sum", ""), "\"a + b\""), "15");
}

#[test]
fn percent_is_read_at_its_scale() {
    let run = |step: &str, rate: &str, wrote: &str| {
        let extract: Made<'_> = ("Extract.", &["problem_text"], &[("price", "Price"), ("tax_percent", "Tax")]);
        let text = run(
            &[extract, (step, &["price", "tax_percent"], &[("cost", "Cost")])],
            &format!(r#""price": 80, "tax_percent": {rate}, "cost": {wrote}"#),
        );
        with(&text, |_, _, recomputed| {
            let last = recomputed.writes.last().unwrap();
            (last.value.map(Number::shown).unwrap_or_default(), last.differs())
        })
    };
    let right = ("92".to_owned(), false);
    assert_eq!(run("Compute cost = price * (1 + tax_percent).", "15", "92"), right);
    assert_eq!(run("Compute cost = price * (1 + tax_percent / 100).", "\"15%\"", "92"), right);
    assert_eq!(run("Compute cost = price + price * tax_percent / 100.", "15", "92"), right);
    assert_eq!(run("Increase the price by the tax percentage.", "15", "92"), right);
    assert_eq!(run("Compute cost = price * (1 + tax_percent).", "15", "95"), ("92".to_owned(), true));
}

#[test]
fn a_third_is_a_third() {
    let extract: Made<'_> = ("Extract.", &["problem_text"], &[("all", "All (60)"), ("part", "Part")]);
    let steps = [extract, ("Compute few = all * part.", &["all", "part"], &[("few", "")])];
    assert_eq!(values(&run(&steps, r#""all": 60, "part": 0.3333, "few": 20"#))[2].1, "20");
    assert_eq!(values(&run(&steps, r#""all": 60, "part": 0.35, "few": 21"#))[2].1, "21");
}

#[test]
fn a_step_without_a_recipe_is_understood_by_its_names_if_it_wrote_nonsense() {
    let extract: Made<'_> = ("Extract.", &["problem_text"], &[("num_pens", ""), ("pen_price", "")]);
    let steps = [extract, ("Determine the cost of the pens.", &["num_pens", "pen_price"], &[("pen_cost", "")])];
    let cost = |wrote: &str| {
        values(&run(&steps, &format!(r#""num_pens": 16, "pen_price": 45, "pen_cost": {wrote}"#)))[2].1.clone()
    };
    assert_eq!(cost("710"), "720");
    assert_eq!(cost("720"), "720");
    assert_eq!(cost("61"), "61");
}

#[test]
fn one_letter_behind_a_number_of_the_question_is_its_unit() {
    let steps: [Made<'_>; 3] = [
        ("Extract.", &["problem_text"], &[("flour", ""), ("cakes", "")]),
        ("Multiply flour by cakes.", &["flour", "cakes"], &[("all", "")]),
        ("State all.", &["all"], &[("final_answer", "")]),
    ];
    let text = run(&steps, r#""flour": "300g", "cakes": 4, "all": 1400, "final_answer_numerical": 1400"#);
    with(&text, |_, _, recomputed| {
        assert_eq!(recomputed.writes[0].wrote().map(Number::shown).as_deref(), Some("300"));
        assert_eq!(recomputed.recovered.map(Number::shown).as_deref(), Some("1200"));
        assert!(recomputed.writes[2].differs());
    });
}

#[test]
fn what_is_written_in_percent_is_a_part_of_a_hundred_in_every_formula() {
    for (calculation, wrote) in [
        ("price * rate / 100", 16),
        ("price * (1 + rate / 100)", 96),
        ("price * (100 - rate) / 100", 64),
        ("price * (1 - rate)", 64),
        ("price * rate", 16),
    ] {
        let text = format!("Compute {calculation}.");
        let steps: [Made<'_>; 3] = [
            ("Extract.", &["problem_text"], &[("price", ""), ("rate", "")]),
            (&text, &["price", "rate"], &[("result", "")]),
            ("State result.", &["result"], &[("final_answer", "")]),
        ];
        let values = format!(r#""price": 80, "rate": "20%", "result": {wrote}, "final_answer_numerical": {wrote}"#);
        with(&run(&steps, &values), |_, _, recomputed| {
            assert_eq!(recomputed.writes[2].alone, Some(Number::whole(wrote)), "{calculation}");
        });
    }
}

#[test]
fn a_part_of_what_a_step_says_is_no_plan() {
    for text in [
        "Another ten years bring 10 * a people, on top of b.",
        "after: a − b%",
        "Mass is a * a kilograms; dividing by 1000 gives tonnes, of which b.",
        "a(b - 1) / 2",
        "2 (a + b)",
        "|b - a|",
        "the absolute value of b - a",
    ] {
        let steps: [Made<'_>; 3] = [
            ("Extract.", &["problem_text"], &[("a", ""), ("b", "")]),
            (text, &["a", "b"], &[("result", "")]),
            ("State result.", &["result"], &[("final_answer", "")]),
        ];
        let values = r#""a": 30, "b": 7, "result": 1, "final_answer_numerical": 1"#;
        with(&run(&steps, values), |_, _, recomputed| {
            assert!(!recomputed.writes[2].differs(), "{text}: {:?}", recomputed.writes[2].plan);
        });
    }
}
