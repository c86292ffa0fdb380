//! Operations that the words of a question ask of a few cited numbers: another unit or period, the first and the further ones, one side
//! against several of the other.

use super::parts::{self, CitedPart, CitedParts, PartKind, weight};
use super::results::{PartResult, shown};
use super::{StatedResult, time};
use stepscope_base::python::Message;
use stepscope_evidence::figures::{Convention, figures, period};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::words;

/// The price of so many as the question counts, of which the first costs another than the further.
pub(super) fn first_and_further(parts: &CitedParts, question: &str) -> Option<f64> {
    const FURTHER: [&str; 6] = ["further", "additional", "extra", "subsequent", "weitere", "supplémentaire"];
    let [first, further] = parts.numbers.as_slice() else { return None };
    let told = parts.texts.iter().map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n");
    let is_staged = ["first", "erste", "premi"].iter().any(|word| told.contains(word))
        && FURTHER.iter().any(|word| told.contains(word));
    let counts = figures(question, Convention::Unknown);
    let [count] = counts.as_slice() else { return None };
    let count = count.magnitudes().next()?.float();
    (is_staged && count > 1.0).then_some(first.value + further.value * (count - 1.0))
}

/// The one cited amount for another period, where its line and the question name one each: a year's rent by the month.
pub(super) fn in_period(parts: &CitedParts, question: &str) -> Option<f64> {
    let named = |text: &str| {
        let mut found: Vec<f64> = words(text).iter().filter_map(|word| period(&word.folded)?.months()).collect();
        found.dedup();
        match found.as_slice() {
            [months] => Some(*months),
            _ => None,
        }
    };
    let [part] = parts.numbers.as_slice() else { return None };
    let mut with_digits = parts.texts.iter().filter(|text| text.bytes().any(|byte| byte.is_ascii_digit()));
    let text = with_digits.next().filter(|_| with_digits.next().is_none())?;
    let (own, asked) = (named(text)?, named(question)?);
    let is_plain = part.kind == PartKind::Money && figures(question, Convention::Unknown).is_empty();
    (is_plain && own > asked).then(|| part.value * asked / own)
}

/// Result of comparing a number with the one that is cited in another unit.
pub(super) enum Conversion {
    /// It is that number.
    Right,
    /// It is another.
    Wrong(Message),
}

/// Compares a number in another unit than the one that is cited. `None`: something else is worked out.
pub(super) fn converted(
    value: &StatedResult,
    parts: &CitedParts,
    item: &AnswerItem<'_>,
    question: &str,
) -> Option<Conversion> {
    const MORE: &str = "per each every daily weekly monthly half double twice je pro jede taglich a an further";
    let unit = parts::measure_of(item)?;
    let shown_unit = parts::unit_of(item)?;
    let said = |right: f64| {
        let message = Message::new("The answer is ").text(value.shown.as_str()).text(" ").text(shown_unit.as_str());
        message.text(", but the cited number is ").text(shown(right)).text(" ").text(shown_unit.as_str()).text(".")
    };
    if let Some(factor) = parts.heading_factor.filter(|_| parts.numbers.iter().all(|part| part.kind == PartKind::Bare))
    {
        // The question may name the column.
        let of = if parts.named.len() == 1 { &parts.named } else { &parts.numbers };
        let same = |list: &[CitedPart], factor: f64| list.iter().find(|part| value.fits(part.value * factor)).is_some();
        return match of.as_slice() {
            _ if same(of, factor) => Some(Conversion::Right),
            [part] if same(&parts.numbers, factor) || same(of, 1.0) => {
                Some(Conversion::Wrong(said(part.value * factor)))
            }
            _ => None,
        };
    }
    let [part] = parts.numbers.as_slice() else { return None };
    let counts = figures(question, Convention::Unknown);
    let is_more = |text: &str| words(text).iter().any(|word| MORE.split(' ').any(|known| known == word.folded));
    let is_plain = part.kind == PartKind::Measure(unit.dimension)
        && counts.is_empty()
        && parts.texts.len() == 1
        && !time::counts_days(&parts.texts, item)
        && !parts.texts.iter().map(String::as_str).chain([shown_unit.as_str()]).any(is_more);
    is_plain.then(|| if value.fits(part.value) { Conversion::Right } else { Conversion::Wrong(said(part.value)) })
}

/// Says so where what was added or taken off is of one dimension, and the answer of another.
pub(super) fn other_unit(result: &PartResult, parts: &[CitedPart], item: &AnswerItem<'_>) -> Option<Message> {
    let own = parts::measure_of(item)?;
    let first = parts.first()?;
    let is_plain = matches!(result.form, "a + b" | "a − b" | "a + b + c" | "the sum of all");
    let used = if result.form.starts_with("the ") {
        parts.iter().collect::<Vec<_>>()
    } else {
        let count = if result.form.contains('c') { 3 } else { 2 };
        result.of.iter().take(count).filter_map(|at| parts.get(usize::from(*at))).collect()
    };
    let first = used.first().copied().unwrap_or(first);
    let PartKind::Measure(dimension) = first.kind else { return None };
    let are_alike = used.iter().all(|part| part.kind == first.kind);
    (is_plain && are_alike && dimension != own.dimension).then(|| {
        let message = Message::new("The answer is in ").text(parts::unit_of(item).expect("what it measures"));
        message.text(", but the cited numbers are in another unit.")
    })
}

/// The difference of two parts, each as often as the question counts it: "a family ticket" and "two adult tickets".
pub(super) fn weighted_difference(parts: &[CitedPart], question: &str) -> Option<PartResult> {
    let [first, second] = parts else { return None };
    let (a, b) = (weight(first, question)?, weight(second, question)?);
    let value = first.value * a - second.value * b;
    (a > 1.0 || b > 1.0).then_some(PartResult { value, form: "a − b", of: [0, 1, 0, 0] })
}

/// Says so where an answer is below zero, and the question asks by how much one thing is more than another.
pub(super) fn below_zero(value: &StatedResult, parts: &[CitedPart], question: &str) -> Option<Message> {
    const MORE: [&str; 7] =
        ["higher than", "more than", "larger than", "longer than", "cheaper than", "surplus", "greater than"];
    let lower = question.to_lowercase();
    let is_more = MORE.iter().any(|phrase| lower.contains(phrase));
    (is_more && value.value < 0.0 && parts.iter().all(|part| part.value >= 0.0)).then(|| {
        Message::new("The answer is below zero, but the question asks by how much one thing is more than another.")
    })
}
