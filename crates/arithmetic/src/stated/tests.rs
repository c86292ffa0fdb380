use super::*;

fn verdict(expected: &str, answer: &str) -> SameAnswer {
    let (expected, answer) = (read(expected).expect(expected), read(answer).expect(answer));
    same_answer(&expected, &answer)
}

fn all(wanted: SameAnswer, pairs: &[(&str, &str)]) {
    let missed: Vec<_> = pairs.iter().filter(|(expected, answer)| verdict(expected, answer) != wanted).collect();
    let read: Vec<_> = missed.iter().map(|(a, b)| (a, b, verdict(a, b), super::read(b))).collect();
    assert!(missed.is_empty(), "{wanted:?}: {read:#?}");
}

#[test]
fn equal_answers_are_the_same_in_every_writing() {
    all(
        SameAnswer::Same,
        &[
            ("1.25", "1 1/4"),
            ("2.5", "2 and 1/2"),
            ("0.4", r"\frac{2}{5}"),
            ("0.4", r"\dfrac25"),
            ("3.5", r"$3\frac{1}{2}$"),
            ("-1.75", r"-1\frac{3}{4}"),
            ("3.5", "3½"),
            ("0.75", "three quarters"),
            ("2.5", "two and a half"),
            ("0.5", "half"),
            ("2340", r"\boxed{2{,}340}"),
            ("2340", "2 340"),
            ("2340", "2\u{a0}340"),
            ("2340", "2\u{202f}340"),
            ("2340", "2'340"),
            ("2340.5", "2.340,50"),
            ("1250000", "12,50,000"),
            ("1250000", "1.25 million"),
            ("7000", "7k"),
            ("3000000", "$3M"),
            ("-4", "minus 4"),
            ("-4", "negative 4"),
            ("-4", "–4"),
            ("-4", "4 degrees below zero"),
            ("-30", "The loss is $30."),
            ("14.25", "14 dollars and 25 cents"),
            ("75", "1 hour and 15 minutes"),
            ("1.25", "1 hour 15 minutes"),
            ("2 hours", "120 minutes"),
            ("53", "fifty-three"),
            ("108", "9 dozen"),
            ("12", "a dozen"),
            ("6", "half a dozen"),
            ("205", "two hundred and five"),
            ("30", "30%"),
            ("0.3", "30 percent"),
            ("10000", "10^4"),
            ("2500", r"2.5 \times 10^3"),
            ("2500", "2.5 x 10³"),
            ("2500", "2.5e3"),
            ("7", "７"),
            ("4", r"\sqrt{16}"),
            ("19:45", "7:45 pm"),
            ("7", "The answer is 7. I am 100% sure."),
            ("7", "It is 7. I am 100% certain."),
            ("9", "So, there are 9 pupils who like to swim."),
            ("64", "**64**"),
            ("64", "<answer> 64 dollars </answer>"),
            ("64", "We add.\n#### 64"),
            ("64", "答案是 64"),
            ("64", "A: 64"),
            ("64", "60 + 4 = 64"),
            ("64", "{\"answer\": 64}"),
            ("64", "Done:\n```json\n{\"final_answer\": \"64\"}\n```"),
            ("5", "5 = 11 - 6"),
            ("3", "3 boxes of 12 eggs"),
            ("16", "He spends $12 on books and $4 on pens, for a total of $16."),
            ("B", "(B)"),
            ("B", "B."),
            ("B", "B) 12"),
            ("(B)", "The answer is (b)."),
            ("12", "B) 12"),
            ("yes", "Yes, it is."),
            ("True", "true"),
            ("Rome", "The answer is Rome."),
            ("Rome", "rome."),
            ("the red ball", "Red ball"),
        ],
    );
}

#[test]
fn other_answers_are_told() {
    all(
        SameAnswer::Different,
        &[
            ("5", "6"),
            ("-4", "4 boxes"),
            ("1.25", "1 1/2"),
            ("3 hours", "3 days"),
            ("B", "C"),
            ("yes", "No."),
            ("Rome", "Oslo"),
            ("19:45", "8:45 pm"),
            ("20", "So, there are 21 pupils who like to play."),
            ("100", "The answer is 5. I am 100% sure."),
            ("2", "3 m^2"),
            ("40", "He needs 3 boxes of 12 eggs."),
        ],
    );
}

#[test]
fn what_has_two_readings_is_not_decided() {
    all(
        SameAnswer::CannotTell,
        &[
            ("7", "5-7"),
            ("4", "3 or 4"),
            ("20", "She has 5 pears left out of 20."),
            ("1080", "1.080"),
            ("12", "12 dozen"),
            ("2", "120 minutes"),
            ("B", "12"),
            ("5", "none of them"),
            ("5", r"5\pi"),
            ("New York City", "NYC"),
            ("7:45", "7:45 pm"),
            ("7:45 pm", "7:45"),
        ],
    );
}

#[test]
fn the_words_that_were_read_are_known() {
    let words = |text: &str| text.get(read(text).unwrap().range).unwrap().to_owned();
    assert_eq!(words("We add.\nSo it takes 36 minutes in all."), "36 minutes");
    assert_eq!(words(r"So it is \(\boxed{36}\) minutes."), "36");
    assert_eq!(words("The answer is Rome."), "Rome.");
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "[ a-z0-9{}$^_=*/.,:'()\\\\\n¢½²×%-]{0,80}") {
        if let Some(stated) = read(&text) {
            proptest::prop_assert!(text.get(stated.range.clone()).is_some(), "{stated:?}");
            let _ = same_answer(&stated, &stated);
        }
    }
}

#[test]
fn the_question_says_what_the_expected_answer_leaves_out() {
    let verdict = |question: &str, expected: &str, answer: &str| {
        let expected = read(expected).expect(expected).asked_by(question);
        same_answer(&expected, &read(answer).expect(answer))
    };
    let minutes = "The bell rings every hour. How many minutes does the break last?";
    for (question, expected, answer, wanted) in [
        (minutes, "45", "45 minutes", SameAnswer::Same),
        (minutes, "45", "three quarters of an hour, that is 0.75 hours", SameAnswer::Same),
        (minutes, "90", "An hour and a half.", SameAnswer::Same),
        (minutes, "45", "45 seconds", SameAnswer::Different),
        ("How wide is it in centimetres?", "250", "2.5 m", SameAnswer::Same),
        ("How wide is it in centimetres?", "250", "250 m", SameAnswer::Different),
        // A speed is no length, and "in a second" asks for nothing.
        ("How fast is it in miles per hour?", "40", "40 miles", SameAnswer::Same),
        ("What falls in a second?", "9", "9 m", SameAnswer::Same),
        ("Which metal? (A) lead (B) zinc (C) tin", "B", "Zinc.", SameAnswer::Same),
        ("Which metal? (A) lead (B) zinc (C) tin", "B", "C looks good, but it is option B.", SameAnswer::Same),
        ("Which metal?", "B", "Zinc.", SameAnswer::CannotTell),
    ] {
        assert_eq!(verdict(question, expected, answer), wanted, "{question} {expected}: {answer}");
    }
}

#[test]
fn lists_times_and_names_are_compared_as_what_they_are() {
    use SameAnswer::{CannotTell, Different, Same};
    for (expected, answer, wanted) in [
        ("2 and 7", r"\{7, 2\}", Same),
        ("2 and 7", "The roots are -2 and -7.", Different),
        ("2 and 7", "2.7", Different),
        ("(5, -1)", "(-1, 5)", Different),
        ("8:15 PM", "The bus leaves at 20:15.", Same),
        ("8:15 PM", "8.15pm from stand 3", Same),
        ("8:15 PM", "It leaves at 20:45.", Different),
        ("8:15 PM", "Between 20:15 and 20:45.", CannotTell),
        ("Rome", "The capital is **Rome**.", Same),
        ("Rome", "It is Milan, not Rome.", Different),
        ("Rome", "It isn't Rome.", CannotTell),
        ("José Núñez", "It was written by Jose Nunez.", Same),
        ("$18", "€18", Different),
        ("20%", "$20", Different),
        ("-1250", "(1,250)", Same),
        ("33 1/3%", r"They grew by $33\frac{1}{3}\%$.", Same),
        ("€2.4 million", "EUR 2.4m", Same),
        ("5", "He had 12, ate 4 and gave away 3, so 5 are left.", Same),
    ] {
        assert_eq!(verdict(expected, answer), wanted, "{expected}: {answer}");
    }
}

#[test]
fn numbers_of_other_countries_and_scripts_are_the_expected_ones() {
    for (expected, answer) in [
        ("30000", "答えは3万円です。"),
        ("120000000", "総額は1億2000万円です。"),
        ("35000", "정답: 3만 5천 원"),
        ("12", "答：１２個"),
        ("25", "الجواب: ٢٥"),
        ("1250.5", "Sie zahlt 1.250,50 €."),
        ("100", "Das sind 1 h 40 min."),
        ("2.4", "So the answer is 2 h 24 min."),
    ] {
        assert_eq!(verdict(expected, answer), SameAnswer::Same, "{answer}");
    }
    for (expected, answer) in [
        ("1250", "Das ergibt 1.250 Euro."),
        ("28000", "Vậy bà Hoa nhận lại 28.000 đồng."),
        ("2.4", "Since 0.4 * 60 = 24, that is 2 hours 24 minutes."),
        ("66.6667", "It is 66.67."),
    ] {
        assert_eq!(verdict(expected, answer), SameAnswer::CannotTell, "{answer}");
    }
    assert_eq!(verdict("1250", "Das ergibt 1.350 Euro."), SameAnswer::Different);
    // The same said twice is one answer.
    let twice = read("5 + 3 = 9, so there are 9 left").unwrap();
    assert!(!twice.is_restated() && twice.number().is_some_and(|number| number.value == Number::whole(9)));
}
