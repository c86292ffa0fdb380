//! Limits of patterns: what one may be, and that none takes long. Equality with Python: `tests/it/verify.rs`.

use super::*;
use crate::work;

fn search(pattern: &str, text: &str) -> Result<Option<usize>, Undecided> {
    Pattern::new(pattern).unwrap().search(text.as_bytes())
}

fn refusal(pattern: &str) -> String {
    Pattern::new(pattern).unwrap_err().to_string()
}

#[test]
fn places_are_counted_in_characters() {
    assert_eq!(search("b", "éßb"), Ok(Some(2)));
    assert_eq!(search("(?=b)", "éßb"), Ok(Some(2)));
    assert_eq!(search("b", "x"), Ok(None));
}

#[test]
fn a_dollar_stands_before_the_last_line_break_too() {
    for (pattern, text, found, all) in [
        ("a$", "a\n", Some(0), false),
        ("a$\\n", "a\n", Some(0), true),
        ("a$", "a\nb", None, false),
        ("(?m)a$", "a\nb", Some(0), false),
        ("a\\Z", "a\n", None, false),
        ("a$", "a", Some(0), true),
    ] {
        let pattern = Pattern::new(pattern).unwrap();
        assert_eq!(pattern.search(text.as_bytes()), Ok(found), "{pattern:?}");
        assert_eq!(pattern.is_all_of(text.as_bytes()), Ok(all), "{pattern:?}");
    }
}

#[test]
fn words_are_those_of_python_beside_combining_marks() {
    assert_eq!(search(r"\bcafe\b", "un cafe\u{301}"), Ok(Some(3)));
    assert_eq!(search(r"\w+", "\u{301}\u{200d}ab"), Ok(Some(2)));
    assert_eq!(search(r"\B", ""), Ok(None));
    assert_eq!(search(r"\s", "\u{1c}"), Ok(Some(0)));
}

#[test]
fn a_class_in_a_set_holds_no_letters_of_the_other_case() {
    // The mark U+0345 folds to the letter iota.
    for (pattern, text, found) in [
        (r"(?i)[\W_]", "ι", None),
        (r"(?i)[\W_]", "Ι", None),
        (r"(?i)[\W_]", "\u{1fbe}", None),
        (r"(?i)[^\W_]", "ι", Some(0)),
        (r"(?i)[\w]", "\u{345}", None),
        (r"(?i)[^\w]", "\u{345}", Some(0)),
        (r"(?i)[\dι]", "\u{345}", Some(0)),
    ] {
        assert_eq!(search(pattern, text), Ok(found), "{pattern} {text}");
    }
}

#[test]
fn bytes_that_are_no_text_are_read_as_one_character_each() {
    let pattern = Pattern::new(r"^..$").unwrap();
    assert_eq!(pattern.search(b"\xed\xa0\x80\xff"), Ok(Some(0)));
    assert_eq!(Pattern::new("[\\ud800-\\udfff]").unwrap().search(b"a\xed\xa0\x80"), Ok(Some(1)));
}

#[test]
fn what_is_no_pattern_is_named_with_its_place() {
    assert_eq!(refusal("a(b"), "group not closed, at character 2");
    assert_eq!(refusal("ab)"), "unmatched closing parenthesis, at character 3");
    assert_eq!(refusal("a**"), "a repetition cannot be repeated, at character 3");
    assert_eq!(refusal("*"), "nothing to repeat, at character 1");
    assert_eq!(refusal("(?<=a+)b"), "a look-behind must have a fixed length, at character 1");
    assert_eq!(refusal(r"\2"), "no group has this number, at character 1");
    assert_eq!(refusal(r"é\q"), "unknown escape, at character 2");
    // Later versions of Python know this one.
    assert_eq!(refusal(r"\z"), "unknown escape, at character 1");
    assert_eq!(refusal("a(?i-i:a)"), "a flag is turned on and off, at character 2");
    assert_eq!(refusal("(?ms-xm:a)"), "a flag is turned on and off, at character 1");
    assert_eq!(refusal("(?a)(?i)(?u)a"), "the flags a and u exclude each other, at character 9");
    assert_eq!(refusal("((?<!(?(1)a|b)))"), "reference to a group that is still open, at character 9");
    assert_eq!(refusal("(?<!()(?(1)a|b))"), "a look-behind cannot refer to a group inside itself, at character 10");
    assert_eq!(refusal(&"(".repeat(200)), "groups are nested more than 100 deep, at character 101");
}

#[test]
fn a_backslash_hides_the_end_of_a_comment() {
    for (pattern, text, all) in [
        ("(?x)a#c\\\nb", "a", true),
        ("(?x)a#c\\\nb", "ab", false),
        ("(?x)a#c\\\\\nb", "ab", true),
        (r"(?#\))a", "a", true),
    ] {
        assert_eq!(Pattern::new(pattern).unwrap().is_all_of(text.as_bytes()), Ok(all), "{pattern:?}");
    }
    assert_eq!(refusal(r"(?x)a#\"), "backslash at the end, at character 7");
    assert_eq!(refusal("a(?#b"), "group not closed, at character 2");
}

#[test]
fn flags_of_a_part_may_differ_from_those_of_the_whole() {
    assert_eq!(search(r"(?a)(?a)(?u:\w)", "é"), Ok(Some(0)));
    assert_eq!(search("(?i)(?s-i:a.)", "A\na\n"), Ok(Some(2)));
    assert_eq!(search("(a)(?<!(?(1)b|a))", "a"), Ok(Some(0)));
}

#[test]
fn names_of_groups_are_those_of_python() {
    for name in ["a", "_1", "é", "a·", "℘", "漢字", "ⅷ", "a\u{301}"] {
        assert!(Pattern::new(&format!("(?P<{name}>x)(?P={name})")).is_ok(), "{name}");
    }
    for name in ["", "1", "·a", "a²", "²", "a b", "a-", "ͺ", "Ⓐ", "a・", "a\u{200d}"] {
        assert!(Pattern::new(&format!("(?P<{name}>x)")).is_err(), "{name}");
    }
}

#[test]
fn the_number_of_a_condition_is_what_int_reads() {
    for number in ["1", "01", "+1", "0_1", " 1\u{3000}", "١", "𝟙"] {
        assert_eq!(search(&format!("(a)?(?({number})b|c)"), "xab"), Ok(Some(1)), "{number}");
    }
    for number in ["", "0", "-1", "1_", "_1", "0__1", "+_1", "++1", "+ 1", "\u{1f}1", "²", "2", "4294967297"] {
        assert!(Pattern::new(&format!("(a)?(?({number})b|c)")).is_err(), "{number}");
    }
}

#[test]
fn a_template_repeats_nothing() {
    assert_eq!(search("(?ti)[ab](?i:c)", "AC"), Ok(Some(0)));
    for pattern in ["(?t)a*", "(?t)(a|b+?)", "(?t:a)", "(?t-i:a)", "(?t)(?t:a)", "(?-t:a)"] {
        assert!(Pattern::new(pattern).is_err(), "{pattern}");
    }
}

#[test]
fn no_pattern_takes_long() {
    let a = |n: usize| "a".repeat(n);
    // What is regular is decided, however it is written.
    assert_eq!(search("(a+)+$", &(a(50_000) + "b")), Ok(None));
    assert_eq!(search("(a|a)*b", &a(50_000)), Ok(None));
    assert_eq!(search("(?:a?){40}a{40}", &a(40)), Ok(Some(0)));
    assert_eq!(search("(?:(?:a{1,100}){1,100}){1,100}", &a(10)), Ok(Some(0)));
    assert_eq!(search(r"\w{1,2000}x", &a(200)), Ok(None));
    // What is not is given up.
    for (pattern, text) in [
        ("(a+)+\\1b", a(3000)),
        ("(?=(a+)+b)x", a(60)),
        ("(?=.*x)y", a(100_000)),
        ("(?:(?:a{1,99}b?){1,99}){1,99}c", a(90_000)),
    ] {
        assert_eq!(search(pattern, &text), Err(Undecided), "{pattern}");
    }
    assert_eq!(search("(?=a)", &a(MAX_TEXT + 1)), Err(Undecided));
}

#[test]
fn a_search_gets_what_its_text_allows_and_no_more_than_what_it_is_done_for() {
    let slow = Pattern::new("(?=(a+)+b)x").unwrap();
    let search = |text: &[u8]| slow.search(text);
    for _ in 0..50 {
        assert_eq!((search(b"aaaaaaaa"), search(&[b'a'; 40])), (Ok(None), Err(Undecided)));
    }
    let (found, regular, left) = work::within(1_000_000, || {
        let found: Vec<_> = (0..50).map(|_| search(b"aaaaaaaa")).collect();
        (found, Pattern::new("a+b").unwrap().search(b"aab"), work::left(1))
    });
    let first = found.iter().position(Result::is_err).unwrap();
    assert!(first > 1 && found[..first].iter().all(|one| *one == Ok(None)), "{first}");
    assert!(found[first..].iter().all(|one| *one == Err(Undecided)));
    // What is linear is not held up.
    assert_eq!((regular, left), (Ok(Some(0)), 0));
}

#[test]
fn a_pattern_has_a_length_that_people_write() {
    assert!(Pattern::new(&"a".repeat(MAX_PATTERN)).is_ok());
    let refused = refusal(&"\\w".repeat(MAX_PATTERN));
    assert_eq!(refused, "the pattern is longer than 10,000 characters, at character 10001");
}

/// U+1E4D0 is a letter and U+1E4F0 a digit since Unicode 15, which Python 3.11 does not know.
#[test]
fn letters_and_digits_are_those_of_unicode_14() {
    for (pattern, text) in [(r"\w", "\u{1e4d0}"), (r"\d", "\u{1e4f0}"), (r"a\b\W", "a\u{1e4d0}")] {
        let place = if pattern.starts_with('a') { Some(0) } else { None };
        assert_eq!(search(pattern, text), Ok(place), "{pattern}");
    }
    assert_eq!(search(r"\w", "\u{11f0}"), Ok(Some(0)));
}
