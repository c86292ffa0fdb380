//! Rightness of a run: the one place that says so. Table, header, check, compare, filters, pages and charts ask it.
//!
//! A run is right as people say who reviewed it, else as the expected answer says where it and the answer could be read,
//! else as its record says. Where record and expected answer contradict each other, `run/grade` says so.

use std::cell::OnceCell;

use crate::gold::{Gold, expected_words};
use crate::recompute::RunAnswer;
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::stated::{SameAnswer, Stated, of_number, read_value, same_answer};
use stepscope_base::json::Value;
use stepscope_base::text::{Untrusted, head};
use stepscope_evidence::date;
use stepscope_evidence::date::Date;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL};
use stepscope_record::{AnswerSchema, Record, RecordKind};

/// A longer answer is kept by its beginning.
const MAX_ANSWER: usize = 500;

/// Knowledge of a run being right, by who has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rightness {
    /// Grade in the record.
    pub recorded: Option<bool>,
    /// Agreement of the answer with the expected one; `None` where one of them is missing or could not be read.
    pub by_expected: Option<bool>,
    /// Verdict of people.
    pub by_review: Option<bool>,
}

impl Rightness {
    /// Judges a record.
    pub fn of(record: &Record<'_>) -> Self {
        let answer = OnceCell::new();
        Self::by(Gold::of(record).as_ref(), record, || answer.get_or_init(|| RunAnswer::of(record)))
    }

    /// Judges a record whose expected answer was read already. Its own answer is read only if it must be.
    pub(crate) fn by<'r>(gold: Option<&Gold>, record: &Record<'_>, answer: impl FnOnce() -> &'r RunAnswer) -> Self {
        let by_expected = match gold {
            Some(gold) => answers_number(gold, record, answer),
            None => expected_words(record).and_then(|expected| answers_words(&expected, record)),
        };
        Self { recorded: record.correct, by_expected, by_review: None }
    }

    /// Adds the verdict of people.
    #[must_use]
    pub const fn reviewed(self, by_review: Option<bool>) -> Self {
        Self { by_review, ..self }
    }

    /// Tells whether the run is right; `None`: nobody knows.
    pub fn verdict(self) -> Option<bool> {
        self.by_review.or(self.by_expected).or(self.recorded)
    }

    /// Tells whether the run is known to be right.
    pub fn is_right(self) -> bool {
        self.verdict() == Some(true)
    }

    /// Tells whether the grade in the record is not what the expected answer says.
    pub fn is_contradicted(self) -> bool {
        self.recorded.zip(self.by_expected).is_some_and(|(recorded, expected)| recorded != expected)
    }
}

/// Tells whether the answer of a record is the expected number.
fn answers_number<'r>(gold: &Gold, record: &Record<'_>, answer: impl FnOnce() -> &'r RunAnswer) -> Option<bool> {
    if record.kind == RecordKind::Chain {
        return chain_answers_number(gold, record, answer());
    }
    // Most often the number alone says it, and no text need be read.
    let numerical = record.answer.and_then(|answer| answer.get(FINAL_ANSWER_NUMERICAL)).and_then(Written::of);
    if numerical.is_some_and(|number| number.value.is_near(gold.value)) {
        return Some(true);
    }
    let expected = asked(&gold.stated(), record);
    let is_expected = |number: Written| same_answer(&expected, &of_number(number)) == SameAnswer::Same;
    let answer = answer();
    if answer.numerical.is_some_and(is_expected) || answer.pred.is_some_and(is_expected) {
        return Some(true);
    }
    // A number that was taken from the text is not believed against it, nor is a 0 that stands for "not read".
    if answer.numerical.is_some_and(|number| number.value != Number::ZERO) {
        return Some(false);
    }
    let said = answer.said();
    match said.map_or(SameAnswer::CannotTell, |said| same_answer(&expected, said)) {
        SameAnswer::Same => Some(true),
        SameAnswer::CannotTell if said.is_some_and(|said| said.may_be(gold.value)) => None,
        SameAnswer::CannotTell if answer.numerical.is_none() && answer.pred.is_none() => None,
        SameAnswer::CannotTell | SameAnswer::Different => Some(false),
    }
}

/// The same of a chain of thought: its number was read from its text, which says more.
fn chain_answers_number(gold: &Gold, record: &Record<'_>, answer: &RunAnswer) -> Option<bool> {
    let expected = asked(&gold.stated(), record);
    let is = |number: Written| same_answer(&expected, &of_number(number)) == SameAnswer::Same;
    match answer.said().map_or(SameAnswer::CannotTell, |said| same_answer(&expected, said)) {
        SameAnswer::Same => Some(true),
        SameAnswer::Different => Some(false),
        // What its text says in two ways, or of another kind, is not known to be wrong.
        SameAnswer::CannotTell => {
            let is_right = answer.numerical.or(answer.pred).map(is);
            is_right.filter(|is_right| *is_right || answer.said().is_none())
        }
    }
}

/// The expected answer with what the question says of it.
fn asked(expected: &Stated, record: &Record<'_>) -> Stated {
    expected.clone().asked_by(Value::text_of(record.question).readable())
}

/// Tells whether the answer of a record is the expected letter, truth value or text.
fn answers_words(expected: &Stated, record: &Record<'_>) -> Option<bool> {
    let answer = record.answer;
    let expected = &asked(expected, record);
    let field = |key: &str| answer.and_then(|answer| answer.get(key)).filter(|value| !value.is_null());
    let truth = field("final_answer_bool").filter(|_| record.answer_schema == Some(AnswerSchema::Bool));
    let given = [truth, field(FINAL_ANSWER), record.pred_answer].into_iter().flatten();
    let mut verdicts = given.filter_map(read_value).map(|said| match same_day(expected, &said) {
        SameAnswer::CannotTell => same_answer(expected, &said),
        decided => decided,
    });
    let decided = verdicts.find(|verdict| *verdict != SameAnswer::CannotTell)?;
    Some(decided == SameAnswer::Same)
}

/// Compares an expected day with the one day that an answer names.
fn same_day(expected: &Stated, answer: &Stated) -> SameAnswer {
    let days = |stated: &Stated| -> Vec<Date> {
        date::found(stated.text())
            .iter()
            .filter_map(|found| match found.meanings[..] {
                [meaning] => meaning.whole(),
                _ => None,
            })
            .collect()
    };
    let is_day = !date::written(expected.text()).is_empty();
    match (&days(expected)[..], &days(answer)[..]) {
        ([own], [its]) if is_day && own == its => SameAnswer::Same,
        ([_], [_]) if is_day => SameAnswer::Different,
        _ => SameAnswer::CannotTell,
    }
}

/// Returns the number of a run's answer, as every list shows it.
pub fn final_number(record: &Record<'_>) -> Option<Written> {
    said_for_zero(record).or_else(|| RunAnswer::of(record).value())
}

/// The answer of a baseline record: a number for the join. A record that ended in an error gives none.
pub fn baseline_answer(record: &Record<'_>) -> Option<f64> {
    final_number(record).filter(|_| record.kind != RecordKind::Error).map(|answer| answer.value.float())
}

/// Returns the number that the answer's text says where `pred_num` is 0 only because the text could not be read.
pub(crate) fn said_for_zero(record: &Record<'_>) -> Option<Written> {
    /// Words by which an answer says 0.
    const NOTHING: [&str; 5] = ["no", "none", "nothing", "nobody", "zero"];
    record.pred_num.and_then(Value::float).filter(|number| *number == 0.0)?;
    let answer = RunAnswer::of(record);
    let said = answer.said().filter(|_| answer.numerical.is_none())?;
    let number = said.number()?;
    let text = answer_text(record)?;
    let mut words = text.utf8()?.split(|c: char| !c.is_alphanumeric());
    let says_nothing = words.any(|word| NOTHING.iter().any(|nothing| word.eq_ignore_ascii_case(nothing)));
    let is_zero = says_nothing || said.may_be(Number::ZERO);
    (!is_zero).then_some(number)
}

/// Returns the text of a run's answer, bounded.
pub fn answer_text(record: &Record<'_>) -> Option<Untrusted<'static>> {
    let answer = record.pred_answer.or(record.answer.and_then(|answer| answer.get("final_answer")))?;
    let text = answer.string().unwrap_or_else(|| Untrusted::new(answer.raw()));
    Some(Untrusted::new(head(text.bytes().trim_ascii(), MAX_ANSWER)).to_owned()).filter(|_| !Value::is_null(answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    #[test]
    fn a_zero_of_a_baseline_is_not_its_answer_where_its_text_says_another_number() {
        let answer = |answer: &str| {
            let text = format!(
                r#"{{"id": 1, "question": "q", "status": "ok", "mode": "baseline", "pred_answer": "{answer}", "pred_num": 0.0,
                "state": {{}}}}"#
            );
            let case = Case::read(text.as_bytes());
            baseline_answer(case.view().record.as_ref().unwrap())
        };
        assert_eq!(["It is 1080.", "none of the 5", "0"].map(answer), [Some(1080.0), Some(0.0), Some(0.0)]);
        let failed = Case::read(br#"{"id": 1, "question": "q", "status": "error", "error": "boom", "pred_num": 5}"#);
        assert_eq!(baseline_answer(failed.view().record.as_ref().unwrap()), None);
    }
}
