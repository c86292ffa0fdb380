use proptest::prelude::*;

use super::*;
use crate::number::Number;

const KNOWN: [(&str, i64); 11] = [
    ("a", 2),
    ("b", 3),
    ("c", 5),
    ("d", 7),
    ("factor", 2),
    ("jamie_last_len", 4),
    ("bob_removed", 2),
    ("total_price", 60),
    ("final_answer", 0),
    ("größe", 6),
    ("число_книг", 8),
];

fn names() -> Names {
    let mut names = Names::default();
    for (id, (name, _)) in KNOWN.iter().enumerate() {
        names.add(name, id as u32);
    }
    names
}

fn value(id: u32) -> Option<Number> {
    KNOWN.get(id as usize).map(|(_, value)| Number::whole(*value))
}

fn only(text: &str) -> Calculation {
    let found = find(text, &names());
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found.into_iter().next().unwrap()
}

fn evaluated(text: &str) -> String {
    only(text).expression.evaluate(value).map_or_else(|| "nothing".to_owned(), Number::shown)
}

#[test]
fn calculations_are_found_and_worked_out() {
    for (text, result) in [
        ("total = a * b + c", "11"),
        ("x = a - b - (c + d)", "-13"),
        ("Form the expression: b = factor * jamie_last_len + bob_removed", "10"),
        ("Compute total price / 4.", "15"),
        ("Compute Total_Price ÷ a for each of them.", "30"),
        ("a × b · c", "30"),
        ("total_price − 20 dollars", "40"),
        ("the sum (a + b) * c, in dollars", "25"),
        ("total_price * 20%", "12"),
        ("20% of total_price", "12"),
        ("1/2 of total_price", "30"),
        ("1/2 * total_price", "30"),
        ("½ * total_price", "30"),
        ("total_price * 2½", "150"),
        ("int(total_price / 7)", "8"),
        ("x := a * b", "6"),
        ("2 ⅓ * total_price", "140"),
        ("total_price - 1,000", "-940"),
        ("total_price + min(12,100)", "72"),
        ("`sum([a, b])` is stored", "5"),
        ("(a + b) / 5 -> x", "1"),
        ("a * b²", "18"),
        ("total_price + $1,234.50", "1294.5"),
        ("größe * число книг", "48"),
        ("größe×a", "12"),
        ("a ** b", "8"),
        ("a^b^a", "512"),
        ("min(a, b) * max(a, b)", "6"),
        ("ceil(total_price / d)", "9"),
        ("8 x total_price", "480"),
        ("calculated as `a * b`", "6"),
        ("8 large paintings x $60", "480"),
        ("total_price / 9", "20/3 ≈ 6.667"),
        ("total_price - 20%", "nothing"),
        ("3(a + b)", "15"),
        ("a / (b - 3)", "nothing"),
        ("total_price // d", "8"),
        ("(total_price mod d) * a", "8"),
        ("total_price % d", "4"),
        ("round(total_price / d)", "9"),
        ("round(total_price / d, 2)", "60/7 ≈ 8.571"),
    ] {
        assert_eq!(evaluated(text), result, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_calculation_is_none() {
    for text in [
        "2024-05-01",
        "pages 3-5",
        "ages 3–5 years",
        "step-by-step",
        "Call 555-1234.",
        "version 1.2.3",
        "24/7 and 05/01/2024",
        "5/8 of the crayons in the 2 boxes",
        "and/or",
        "a well-known fact - or so they say",
        "Set all_places to 600.",
        "the ratio 2:5",
        "value >= 3",
        "Sam / 2",
        "25‑foot sections",
        "total_price + unknown",
        "unknown * a + b",
        "a + b * unknown",
        "a = b",
        "(value 3)",
        "",
        "* a bullet\n* another",
        "C++ / C",
        "a b c",
    ] {
        assert_eq!(find(text, &names()), [], "{text}");
    }
}

#[test]
fn targets_and_stated_results_are_told() {
    assert_eq!(only("b = a * c").target, Some(AssignedTo::Name(1)));
    assert_eq!(only("s = a * c").target, Some(AssignedTo::Word("s".into())));
    assert_eq!(only("a * c = total_price").target, Some(AssignedTo::Name(7)));
    assert_eq!(only("so a * c = 10 pieces").stated.map(|stated| stated.value), Some(Number::whole(10)));
    let two = find("b = a + c, then total_price = b * d", &names());
    assert_eq!(two.len(), 2);
    assert_eq!(two[1].target, Some(AssignedTo::Name(7)));
    let text = "Compute b = a * c now";
    assert_eq!(&text[only(text).range], "a * c");
}

#[test]
fn what_stands_behind_a_number_is_not_lost() {
    for (text, expected) in [
        ("5 million", "Other"),
        ("2 dozen", "Other"),
        ("12 percent", "0.12"),
        ("1e3", "Other"),
        ("2h30m", "Other"),
        ("12 km/h", "12"),
        ("40 rolls", "40"),
    ] {
        let read = match read(text, &Names::default()) {
            Reading::Number(number) | Reading::Done(_, number) => number.value.shown(),
            Reading::Expression(_) => "an expression".into(),
            Reading::Other => "Other".into(),
        };
        assert_eq!(read, expected, "{text}");
    }
}

#[test]
fn values_are_read() {
    let number = |text: &str| match read(text, &names()) {
        Reading::Number(number) => number.value.shown(),
        other => format!("{other:?}"),
    };
    for (text, value) in [
        ("12", "12"),
        (" $60 ", "60"),
        ("12 dollars", "12"),
        ("3.5 kg", "3.5"),
        ("3.5kg", "3.5"),
        ("5/8", "0.625"),
        ("20%", "0.2"),
        ("1,080 dollars per month.", "1080"),
        ("1,234,567", "1234567"),
        ("-4", "-4"),
        ("total = 12", "12"),
    ] {
        assert_eq!(number(text), value, "{text}");
    }
    let expression = |text: &str| match read(text, &names()) {
        Reading::Expression(expression) => expression.evaluate(value).map_or("?".to_owned(), Number::shown),
        other => format!("{other:?}"),
    };
    for (text, value) in [
        ("2 * jamie_last_len - 1", "7"),
        ("2 * k - 12", "?"),
        ("2k - 12", "?"),
        ("b = factor * jamie_last_len", "8"),
        ("final answer = a * b + 480", "486"),
        ("16 * 30", "480"),
        ("16*30", "480"),
        ("10 - 3", "7"),
        ("(a + b) / c dollars", "1"),
        ("Total_price / 3", "20"),
    ] {
        assert_eq!(expression(text), value, "{text}");
    }
    for (text, value) in [
        ("x + 4x = 90", "18"),
        ("nia + (nia + 22) = 58", "18"),
        ("90 = 4 * x - 6", "24"),
        ("2 * (w + a) = b * 4", "4"),
        ("x/2 + x = total_price", "40"),
        ("100 - 3k = 40", "20"),
    ] {
        assert_eq!(expression(text), value, "{text}");
    }
    for (text, value) in [
        ("840 pages/hour", "840"),
        ("$4.50 per hour", "4.5"),
        ("2/3 of the boxes", "2/3 ≈ 0.667"),
        ("about 12 miles", "12"),
        ("half", "0.5"),
        ("12 (3 boxes of 4)", "12"),
    ] {
        assert_eq!(number(text), value, "{text}");
    }
    assert!(matches!(read("3 * 26 = 78", &names()), Reading::Done(_, done) if done.value == Number::whole(78)));
    for text in [
        "2024-05-01",
        "3-5",
        "555-1234",
        "step-by-step",
        "Jamie Grey",
        "5/1/2024",
        "12.12.2021 + 25.33",
        "x",
        "The total is 12.",
        "3 of the 5 boxes",
        "carrot_equation 1234",
        "2:30",
        "12 in 3 boxes",
        "half of it",
        "",
    ] {
        assert_eq!(read(text, &names()), Reading::Other, "{text}");
    }
}

#[test]
fn gold_marks_are_calculations_too() {
    for (text, result) in
        [("4*2+2", "10"), ("+30+46", "76"), ("18*.5", "9"), ("100-50", "50"), ("10-3-2", "5"), ("1/3", "1/3 ≈ 0.333")]
    {
        let value = alone(text).and_then(|expression| expression.evaluate(|_| None)).map(Number::shown);
        assert_eq!(value.as_deref(), Some(result), "{text}");
    }
    assert_eq!(alone("2x"), alone("2x"));
    assert_eq!(alone("4*"), None);
}

#[test]
fn numbers_of_a_sentence() {
    let list = |text: &str| numbers(text).into_iter().map(|(number, _)| number.value.shown()).collect::<Vec<_>>();
    assert_eq!(
        list("The farm gets $2,340 for 45 sacks, round2, the 1st: -5 or 26.25%."),
        ["2340", "45", "-5", "26.25"]
    );
    assert!(list("no number").is_empty());
}

#[test]
fn names_are_replaced_by_calculations() {
    let (outer, inner) = (only("a * b - a").expression, only("c + d").expression);
    let whole = outer.replaced(|name| (name == 0).then_some(&inner)).unwrap();
    assert_eq!(whole.formula(&|id| KNOWN[id as usize].0.to_owned()), "(c + d) × b − (c + d)");
    assert_eq!(whole.evaluate(value), Some(Number::whole(24)));
    assert_eq!(solved(&only("2 * (a + b)").expression, 7, 0).unwrap().evaluate(value), Some(Number::whole(27)));
    assert_eq!(solved(&only("a * b").expression, 7, 2), None);
}

#[test]
fn times_of_day_and_lists_are_read() {
    assert_eq!(clock("9:40 a.m."), Some((580, true)));
    assert_eq!(clock("12 PM"), Some((720, true)));
    assert_eq!(clock("17:00"), Some((1020, false)));
    for text in ["9", "25:00", "13 pm", "9:5", "nine", ""] {
        assert_eq!(clock(text), None, "{text}");
    }
    assert_eq!(list("[5, $7.50]").map(|list| list.len()), Some(2));
    assert_eq!(list("3, 4 and 5").map(|list| list.len()), Some(3));
    assert_eq!(list("5"), None);
    assert_eq!(list("a, b"), None);
    let (far, late) = (format!("5,{}7", " ".repeat(4_000)), format!("9:40{}am", " ".repeat(100)));
    assert_eq!((list(&far), clock(&late)), (None, None), "long texts are not gone through for every step");
}

#[test]
fn formulas_read_like_the_text() {
    let formula = |text: &str| only(text).expression.formula(&|id| KNOWN[id as usize].0.to_owned());
    assert_eq!(formula("a - (b - c) * d"), "a − (b − c) × d");
    assert_eq!(formula("(a + b) / (c * d)"), "(a + b) / (c × d)");
    assert_eq!(formula("min(a, b) + 20% of c"), "min(a, b) + 20% × c");
    assert_eq!(formula("a * 1/3"), "a × 1 / 3");
}

#[test]
fn hostile_texts_are_bounded() {
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(read(&deep, &names()), Reading::Other);
    let deep = format!("{}a{} * b", "(".repeat(100), ")".repeat(100));
    assert_eq!(find(&deep, &names()), []);
    assert_eq!(find(&format!("a {}", "+ a ".repeat(5000)), &names()), []);
    assert_eq!(read(&format!("{}1", "-".repeat(3000)), &names()), Reading::Other);
    for text in ["9**9**9", "9^9^9^9 + a", "2 ** 1000000000", "1 / 0 + a", "0 ** -1 * a"] {
        if let Reading::Expression(expression) = read(text, &names()) {
            assert_eq!(expression.evaluate(value), None, "{text}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let names = names();
        for found in find(&text, &names) {
            prop_assert!(text.get(found.range.clone()).is_some());
            let _ = found.expression.evaluate(value).map(Number::shown);
            let _ = found.expression.formula(&|_| String::new());
        }
        let _ = read(&text, &names);
        let _ = alone(&text);
    }

    #[test]
    fn calculations_do_not_panic(text in r"[abcdx0-9+*/^%().,= \-×÷−$]{0,60}") {
        let names = names();
        for found in find(&text, &names) {
            prop_assert!(text.get(found.range.clone()).is_some());
            let _ = found.expression.evaluate(value).map(Number::shown);
        }
        if let Reading::Expression(expression) | Reading::Done(expression, _) = read(&text, &names) {
            let _ = expression.evaluate(value);
            let _ = expression.formula(&|_| "n".to_owned());
        }
        let _ = alone(&text).map(|expression| expression.evaluate(|_| None));
    }

    #[test]
    fn numbers_add_up(x in -10_000_i64..10_000, y in -10_000_i64..10_000, z in 1_i64..1000) {
        let text = format!("{x} + ({y}) * {z}");
        if let Reading::Expression(expression) = read(&text, &names()) {
            prop_assert_eq!(expression.evaluate(value), Some(Number::whole(x + y * z)));
        } else {
            prop_assert!(false, "{}", text);
        }
    }
}

#[test]
fn decimal_commas_are_read_and_what_may_group_accuses_nobody() {
    let broken = |text: &str| {
        let is_broken = |pair: &[EqualitySide]| pair[1].follows(&pair[0], &|_| None) == Some(false);
        equalities(text, &Names::default()).iter().any(|one| one.sides.windows(2).any(is_broken))
    };
    for text in [
        "0,04 · 150 = 6",
        "Das sind 1,19 * 100 = 119 Euro",
        "12,50 · 2 = 25",
        "1,5 + 1 = 2,5",
        "1.250,50 + 249,50 = 1.500,00",
        "1.200 + 50 = 1.250",
        "1.200 · 1,5 = 1.800",
        "1,234 · 1000 = 1234",
        "1.200 + 50 = 1.260",
        "(2,5) * 3 = (6,15)",
        "1.125 × 8 = 9",
        "Of the scores 3,5 and 4,6: 1,250 + 3 = 1,253",
    ] {
        assert!(!broken(text), "{text}");
    }
    for text in
        ["0,04 · 150 = 60", "25 × 8,40 = 201", "1.250,50 + 249,50 = 1.600,00", "1,200 + 50 = 1,260", "0.5 * 4 = 3"]
    {
        assert!(broken(text), "{text}");
    }
}
