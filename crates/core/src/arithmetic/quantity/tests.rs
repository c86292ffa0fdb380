use super::links::Changed;
use super::*;

/// Value, `?` if unsure, of all that is found.
fn shown(text: &str) -> Vec<String> {
    find(text.as_bytes())
        .iter()
        .map(|quantity| {
            let sure = if quantity.sure { "" } else { "?" };
            format!("{}={}{sure}", text.get(quantity.span.clone()).unwrap_or("!"), quantity.value)
        })
        .collect()
}

/// Only what is sure.
fn sure(text: &str) -> Vec<String> {
    shown(text).into_iter().filter(|found| !found.ends_with('?')).collect()
}

#[test]
fn what_is_a_quantity_is_found() {
    let mut wrong = Vec::new();
    for (text, want) in [
        ("He has 48 apples.", &["48=48"][..]),
        ("It costs $1,200 or €3.50, £2 or $.50", &["$1,200=1200", "€3.50=3.5", "£2=2", "$.50=0.5"]),
        ("a board of 1,200,000 and 12,34", &["1,200,000=1200000", "12=12", "34=34"]),
        (
            "50% of 5 percent, 12.5 per cent, fifty percent",
            &["50%=50", "5 percent=5", "12.5 per cent=12.5", "fifty percent=50"],
        ),
        ("1/2, 5/8 of them, ½ and 2½ or 2 1/2", &["1/2=0.5", "5/8=0.625", "½=0.5", "2½=2.5", "2 1/2=2.5"]),
        (
            "three quarters of it, two-thirds, a third of, one-fourth, 3 fifths",
            &["three quarters=0.75", "two-thirds=2/3", "third=1/3", "one-fourth=0.25", "3 fifths=0.6"],
        ),
        ("a quarter of the cake and one half", &["quarter=0.25", "one half=0.5"]),
        ("twenty-one cats, three hundred and five dogs", &["twenty-one=21", "three hundred and five=305"]),
        (
            "two thousand, one million, five hundred thousand, 3 million, 2.5 million",
            &[
                "two thousand=2000",
                "one million=1000000",
                "five hundred thousand=500000",
                "3 million=3000000",
                "2.5 million=2500000",
            ],
        ),
        (
            "one hundred twenty-three thousand four hundred fifty-six",
            &["one hundred twenty-three thousand four hundred fifty-six=123456"],
        ),
        ("a hundred, a thousand, every hundred years", &["hundred=100", "thousand=1000", "hundred=100"]),
        (
            "half of them, twice as many, triple, thrice, doubled",
            &["half=0.5", "twice=2", "triple=3", "thrice=3", "doubled=2"],
        ),
        (
            "a dozen eggs, two dozen, 3 dozen, half a dozen",
            &["dozen=12", "two dozen=24", "3 dozen=36", "half a dozen=6"],
        ),
        (
            "two and a half hours, 2 and a half, three and three quarters, one and a half times",
            &["two and a half=2.5", "2 and a half=2.5", "three and three quarters=3.75", "one and a half=1.5"],
        ),
        ("25-foot sections, a 120-page book, four-pound packages", &["25=25", "120=120", "four=4"]),
        ("20cm of 5kg, 3x as much, 3 times, six times", &["20=20", "5=5", "3x=3", "3=3", "six=6"]),
        ("Six more than Five.", &["Six=6"]),
        ("Ten of them. Twice that.", &["Ten=10", "Twice=2"]),
        ("-5 degrees, minus (-2)", &["-5=-5", "-2=-2"]),
        ("50 cents, 50¢, 20 dollars", &["50=50", "50=50", "20=20"]),
        ("it has 8 quarters and 5 dimes, three quarters in his pocket", &["8=8", "5=5", "three=3"]),
        ("He charges “Two” and (3) plus 4.", &["Two=2", "3=3", "4=4"]),
        ("He sold 2000 houses in 3 years", &["2000=2000", "3=3"]),
        ("Zoë's 7 books — 8 pens… 9×10", &["7=7", "8=8", "9=9", "10=10"]),
        ("$18.00 an hour", &["$18.00=18"]),
        ("$ 5 and 5 more minutes", &["$ 5=5", "5=5"]),
        ("the two boxes and 2 other boxes", &["two=2", "2=2"]),
        ("It is 4.", &["4=4"]),
        ("At Milltown 27 people get off, and in Rome 19 more.", &["27=27", "19=19"]),
        ("0.5, .25 and 100.", &["0.5=0.5", ".25=0.25", "100=100"]),
        ("ninety nine bottles; nineteen, eighty-eight", &["ninety nine=99", "nineteen=19", "eighty-eight=88"]),
    ] {
        if sure(text) != want {
            wrong.push(format!("{text}\n  got  {:?}\n  want {want:?}", sure(text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_may_be_none_is_unsure() {
    let mut wrong = Vec::new();
    for text in [
        "In 2020, he moved.",
        "born in 1985 and raised",
        "since 1999.",
        "on May 5 it rained",
        "on 12/25/2020",
        "on 2020-01-05",
        "Room 12 is closed",
        "grade 5 pupils",
        "chapter 7",
        "on day 3",
        "the third butcher",
        "the 3rd butcher",
        "the first one",
        "the second half of it",
        "at 8:30 am",
        "at 3 pm",
        "at 3 p.m.",
        "at five o'clock",
        "a couple of hours later",
        "a pair of shoes",
        "each of them",
        "60 miles per hour".split_at(3).1,
        "twice".split_at(5).1,
        "a week",
        "one of them",
        "another one",
        "the Seven Dwarfs are here",
        "He saw Apollo 11 fly",
        "he saw Boeing 747 fly",
        "#12",
        "1. Take it",
        "a 3D printer",
        "the 5k run",
        "24/7",
        "the other half",
        "one third grader",
        "both",
        "every day",
        "a score of people",
    ] {
        if !sure(text).is_empty() {
            wrong.push(format!("{text} {:?}", sure(text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_none_is_not_found() {
    for text in [
        "",
        "no numbers here",
        "often, weight, tent, bone, phone, someone, anyone, tension, height, eighty3x",
        "x2 and B12 and a1b2",
        "v1.2.3",
        "The tone of the stone; canine; tenant; attend",
        "hundreds of people, thousands more, millions",
        "He scored; the score was bad",
        "snake_two_case two_case",
        "Sœurtwo twoé",
    ] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn kinds_and_units_are_told_apart() {
    let kinds = |text: &str| {
        let found = find(text.as_bytes());
        found.iter().map(|q| (q.kind, q.unit.map(|unit| unit.name))).collect::<Vec<_>>()
    };
    assert_eq!(kinds("$5"), [(Kind::Money, Some("dollar"))]);
    assert_eq!(kinds("50 cents"), [(Kind::Money, Some("cent"))]);
    assert_eq!(kinds("3 hours"), [(Kind::Number, Some("hour"))]);
    assert_eq!(kinds("half an hour"), [(Kind::Fraction, Some("hour"))]);
    assert_eq!(kinds("25-foot"), [(Kind::Number, Some("foot"))]);
    assert_eq!(kinds("20%"), [(Kind::Percent, None)]);
    assert_eq!(kinds("8:30"), [(Kind::Time, None)]);
    assert_eq!(kinds("3 times"), [(Kind::Multiple, None)]);
    assert_eq!(kinds("two pounds each"), [(Kind::Number, Some("pound")), (Kind::Each, None)]);
    assert_eq!(kinds("3rd"), [(Kind::Ordinal, None)]);
    assert_eq!(kinds("a week"), [(Kind::Period, Some("week"))]);
}

mod run {
    use super::*;
    use crate::record::formats;
    use stepscope_base::json::Tape;

    /// The links of a run whose first step writes these variables: name, description, value as JSON.
    fn links(question: &str, facts: &[(&str, &str, &str)], step_two: &str) -> QuantityLinks {
        let outputs = facts.iter().map(|(name, text, _)| format!(r#"{{"name": "{name}", "description": "{text}"}}"#));
        let state = facts.iter().map(|(name, _, value)| format!(r#""{name}": {value}"#));
        let text = format!(
            r#"{{"question": "{question}", "procedure": {{"steps": [{{"id": 1, "inputs": [{{"name": "problem_text", "description": "p"}}], "stepDescription": "Extract the facts", "output": [{}]}}, {{"id": 2, "inputs": [], "stepDescription": "{step_two}", "output": [{{"name": "final_answer", "description": "answer"}}]}}]}}, "state": {{"problem_text": "p", {}}}, "correct": false}}"#,
            outputs.collect::<Vec<_>>().join(", "),
            state.collect::<Vec<_>>().join(", ")
        );
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(text.as_bytes()).unwrap());
        let procedure = record.procedure.map(Procedure::read);
        QuantityLinks::of(&record, procedure.as_ref()).unwrap()
    }

    fn taken(links: &QuantityLinks) -> Vec<Vec<usize>> {
        (0..links.quantities.len()).map(|n| links.holders_of(n).collect()).collect()
    }

    fn is_sound(links: &QuantityLinks) -> bool {
        links.missed.is_empty() && links.invented.is_empty() && links.changed.is_empty()
    }

    #[test]
    fn what_two_variables_hold_alike_is_shared_between_the_quantities() {
        let facts = [("dozens", "Dozens of rolls", "6"), ("shelters", "Number of shelters", "6")];
        let linked =
            links("A baker makes 6 dozen rolls and splits them among 6 shelters. How many each?", &facts, "Do");
        assert!(is_sound(&linked), "{linked:?}");
        assert_eq!(taken(&linked)[0], [0]);
    }

    #[test]
    fn a_number_may_hold_two_quantities_in_one_unit() {
        let of = |question: &str, value: &str| links(question, &[("length", "How long it takes", value)], "Do");
        for (question, value) in [
            ("A film runs 2 hours 15 minutes. How many minutes are two of them?", "135"),
            ("A film runs 2 hours and 15 minutes. How many minutes are two of them?", "2.25"),
            ("Ann is 5 feet 10 inches tall. How many inches more is six feet?", "70"),
        ] {
            let linked = of(question, value);
            assert!(linked.invented.is_empty() && linked.changed.is_empty(), "{question} {linked:?}");
            assert_eq!(taken(&linked)[..2], [[0], [0]], "{question}");
        }
        for (question, value) in [
            ("A film runs 2 hours 15 minutes. How many minutes are two of them?", "153"),
            ("A film runs 2 hours. The break of 15 minutes is long. How many minutes?", "135"),
        ] {
            assert!(taken(&of(question, value))[..2].contains(&Vec::new()), "{question}");
        }
    }

    #[test]
    fn numbers_of_names_and_fractions_are_no_misreadings() {
        let facts =
            [("game_three", "Points in game 3", "93"), ("lower", "Denominator", "4"), ("upper", "Numerator", "2")];
        let linked =
            links("Ann plays three games. The third brings 93. A tank is 2/4 full. How many points?", &facts, "Do");
        assert!(linked.invented.is_empty() && linked.changed.is_empty(), "{linked:?}");
    }

    #[test]
    fn values_are_linked_in_any_form() {
        let linked = links(
            "He works 2 hours at 20% of $3 and takes half of a dozen and twice three pens.",
            &[
                ("minutes", "time", "120"),
                ("rate", "share", "0.2"),
                ("pay", "cents", "300"),
                ("part", "part", "0.5"),
                ("size", "eggs", "12"),
                ("factor", "factor", "\"2\""),
                ("pens", "pens", "\"three pens\""),
            ],
            "Add",
        );
        assert_eq!(taken(&linked), [[0], [1], [2], [3], [4], [5], [6]], "{linked:?}");
        assert!(is_sound(&linked));
    }

    #[test]
    fn equal_numbers_are_told_apart_by_their_words() {
        let linked = links(
            "He has ten boxes of pencils. He kept ten pens.",
            &[("kept_pens", "pens kept", "10"), ("boxes", "boxes of pencils", "10")],
            "Add",
        );
        assert_eq!(taken(&linked), [[1], [0]]);
        // The point of a decimal number ends no sentence.
        let linked = links(
            "She fills 10 of the 0.5 l bottles with juice and 10 of the 0.7 l jars.",
            &[("jars", "count of jars", "10"), ("bottles", "count of bottles", "10")],
            "Add",
        );
        assert_eq!(taken(&linked), [vec![1], vec![], vec![0], vec![]]);
        let shared = links("Six more and six times as many.", &[("six", "the constant 6", "6")], "Add");
        assert_eq!(taken(&shared), [[0], [0]]);
    }

    #[test]
    fn what_follows_is_not_invented() {
        for (question, value) in [
            ("Sara, Tom and Ulla each pay $5.", "3"),
            ("How many letters are in the name of Jamie Grey if 2 are cut?", "4"),
            ("He works 3 weeks.", "21"),
            ("A shirt of $40 is 25% off.", "30"),
            ("5 boxes of 24 pens.", "120"),
            ("It takes 4 hours.", "240"),
            ("It takes 4 hours.", "1"),
            ("It takes 4 hours.", "0"),
        ] {
            let taken = links(question, &[("x", "a value", value)], "5 and 24, 40 at 25%, 4, 3, 2");
            assert!(taken.invented.is_empty() && taken.changed.is_empty(), "{question} {value}");
        }
        assert_eq!(links("It takes 4 hours.", &[("x", "a value", "3592")], "4").invented, [0]);
    }

    #[test]
    fn values_count_in_what_their_variables_say() {
        let earned = |name, description, value| links("It earned $48 million.", &[(name, description, value)], "Add");
        for (name, description, value) in [
            ("millions_earned", "earned", "48"),
            ("earned", "earned, in millions of dollars", "48"),
            ("earned", "Million dollars earned", "48"),
            ("earned", "in thousands", "48000"),
            ("earned", "in millions", "48000000"),
        ] {
            let linked = earned(name, description, value);
            assert!(taken(&linked) == [[0]] && is_sound(&linked), "{name} {description} {value}");
        }
        for (description, value) in [("earned", "48"), ("earned, in thousands", "48"), ("earned, in millions", "84")] {
            assert!(!is_sound(&earned("earned", description, value)), "{description} {value}");
        }
    }

    #[test]
    fn misreadings_and_gaps_are_seen() {
        let swapped = links("24 pens and 13 more.", &[("pens", "at first", "42"), ("more", "bought", "13")], "Add");
        assert_eq!(swapped.changed, [Changed { quantity: 0, holder: 0, planned: false }]);
        assert!(swapped.missed.is_empty() && swapped.invented.is_empty());
        let planned = links("24 pens and 13 more.", &[("pens", "at first (24)", "31"), ("more", "(13)", "13")], "Add");
        assert_eq!(planned.changed, [Changed { quantity: 0, holder: 0, planned: true }]);
        // What a number selects is not what it counts.
        let dice = "Two dice are thrown. How often is a sum of 7 expected?";
        assert!(links(dice, &[("favourable", "outcomes with a sum of 7", "6")], "Divide").changed.is_empty());
        assert_eq!(links(dice, &[("dots", "7 dots", "6")], "Divide").changed.len(), 1);
        // A usual number is misread like any other, where the variable bears the words of what was missed.
        let hen = "A hen lays 16 eggs per day. How many in 3 days?";
        let usual = links(hen, &[("eggs_per_day", "", "12"), ("days", "", "3")], "Multiply");
        assert_eq!(usual.changed, [Changed { quantity: 0, holder: 0, planned: false }]);
        let constant = links(hen, &[("months_per_year", "months in a year", "12"), ("days", "", "3")], "Multiply");
        assert!(constant.changed.is_empty(), "{constant:?}");
        // Two numbers in each other's place, by what is said of them.
        let exchanged = links("4 pens at $9 each.", &[("pens", "(4)", "9"), ("price", "= 9.", "4")], "Multiply");
        let told = |quantity, holder| Changed { quantity, holder, planned: true };
        assert_eq!(exchanged.changed, [told(0, 0), told(1, 1)]);
        // The digit that tells two names apart is no number of the question.
        let named = links("2 of 9 pens.", &[("pens", "", "9"), ("pens_2", "pens 2 in the question", "0.5")], "Take 2");
        assert!(named.changed.is_empty(), "{named:?}");
        let missed = links("24 pens and 13 more.", &[("pens", "at first", "24")], "Add");
        assert_eq!(missed.missed, [Missed { quantity: 1, room: false }]);
        let room = links("24 pens and 13 more.", &[("pens", "at first", "24"), ("more", "bought", "24")], "Add");
        assert_eq!(room.missed, [Missed { quantity: 1, room: true }]);
        assert!(is_sound(&links("24 pens and 13 more.", &[("pens", "at first", "24")], "Add 13 to it")));
    }
}

mod anything {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that mean something, and some that do not.
    const PIECES: [&str; 40] = [
        "1",
        "2.5",
        "1,000",
        "$",
        "%",
        "/",
        ":",
        "-",
        ".",
        ",",
        " ",
        " ",
        " ",
        "half",
        "twice",
        "three",
        "twenty",
        "hundred",
        "and",
        "a",
        "third",
        "quarters",
        "dozen",
        "pm",
        "o'clock",
        "o’clock",
        "½",
        "⅔",
        "é",
        "€",
        "£",
        "¢",
        "×",
        "’",
        "k",
        "x",
        "percent",
        "of",
        "9999999999999999999999",
        "\n",
    ];

    fn is_sound(text: &str) -> bool {
        let found = find(text.as_bytes());
        let apart = found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start);
        apart && found.iter().all(|one| one.span.start < one.span.end && text.get(one.span.clone()).is_some())
    }

    proptest! {
        #[test]
        fn pieces_are_read(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
            let text: String = pieces.iter().map(|n| PIECES[*n]).collect();
            prop_assert!(is_sound(&text), "{text:?} {:?}", find(text.as_bytes()));
        }

        #[test]
        fn text_is_read(text in "\\PC{0,80}") {
            prop_assert!(is_sound(&text), "{text:?} {:?}", find(text.as_bytes()));
        }

        #[test]
        fn bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            find(&bytes);
        }
    }
}
