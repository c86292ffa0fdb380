//! The numbers that a text says.

use stepscope_arithmetic::expression::{Names, Reading, numbers, read};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::number_words::{NumberWord, number_word};

/// Lists the numbers that a text says, in digits and in words.
pub(super) fn said(text: &str) -> Vec<Number> {
    let mut list: Vec<Number> = numbers(text).into_iter().map(|(number, _)| number.value).collect();
    let fractions = text.split(|c: char| !(c.is_ascii_digit() || c == '/')).filter(|word| word.contains('/'));
    list.extend(fractions.filter_map(|word| match read(word, &Names::default()) {
        Reading::Number(number) => Some(number.value),
        _ => None,
    }));
    for word in text.split(|c: char| !c.is_alphabetic()) {
        let word = word.to_lowercase();
        let once = (word == "once").then_some((1, 1));
        let known = once.or_else(|| number_word(word.as_bytes()).and_then(NumberWord::value));
        list.extend(known.and_then(|(upper, lower)| Number::fraction(upper, lower)));
    }
    list
}
