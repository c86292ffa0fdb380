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
