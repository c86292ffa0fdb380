//! Form of a slip: how a wrong value differs from the right one. It shows inside a cause and makes none of its own: runs
//! that fail in one way slip in many forms.

use crate::case::CaseView;
use crate::cause::Cause;
use crate::recompute::{Computed, Recomputed};
use crate::triage::Triage;
use stepscope_arithmetic::expression::{Expression, Operation};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::Quantity;
use stepscope_base::shown;
use stepscope_base::text::Shown;

stepscope_base::words! {
    /// Form of the difference between a wrong value and the right one, the most telling first.
    pub enum SlipForm {
        /// The right number negated.
        Sign = "sign" => "the other sign",
        /// The right digits exchanged.
        Digits = "digits" => "digits in another order",
        /// One more, or one less.
        OffByOne = "off_by_one" => "off by one",
        /// Other by a factor that is between units.
        Unit = "unit" => "factor as between units",
        /// A value that an earlier step wrote.
        Copied = "copied" => "value of an earlier step",
        /// A number that goes in.
        Operand = "operand" => "one of its own operands",
        /// Result of another operation on the same numbers.
        Operation = "operation" => "another operation",
        /// Result of the calculation with another known number in one place.
        OneOperand = "one_operand" => "one operand exchanged",
        /// A whole multiple, or a whole part.
        Factor = "factor" => "a whole factor",
        /// Less than one away.
        Rounded = "rounded" => "less than one off",
        /// None of these.
        Other = "other" => "another number",
    }
}

/// Factors between units: minutes and hours, cents and dollars, grams and kilograms, seconds and hours.
const UNITS: [i64; 4] = [60, 100, 1000, 3600];
/// Numbers that are tried in the place of an operand.
const MAX_TRIED: usize = 100;

/// A wrong value next to the right one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slip {
    /// Form of the difference.
    pub form: SlipForm,
    /// The wrong value.
    pub wrong: Number,
    /// The right one.
    pub right: Number,
    /// The step that wrote it; `None`: it is the answer.
    pub step: Option<usize>,
    /// The earlier step that has this value, where it is copied.
    pub from: Option<usize>,
}

impl Slip {
    /// Finds how a run slipped, where both the wrong value and the right one are known: what a step wrote and what its
    /// own calculation gives, else, where the plan is at fault, the answer and the expected one.
    pub fn of(case: &CaseView<'_>, cause: Option<Cause>, triage: Option<&Triage>) -> Option<Self> {
        match cause? {
            Cause::Slip | Cause::Misread | Cause::WrongCopy => {
                let step = triage?.step?;
                let executed = case.executed()?;
                let at = executed.writes.iter().position(|write| write.step == step && write.differs())?;
                Self::of_write(case, executed, at)
            }
            Cause::QuantityMissed
            | Cause::StopsEarly
            | Cause::ValueUnused
            | Cause::OtherPlan
            | Cause::Unit
            | Cause::Rounding
            | Cause::LeavesPeers
            | Cause::Unknown => Self::of_answer(case),
            _ => None,
        }
    }

    /// Compares what a step wrote with what its calculation gives.
    fn of_write(case: &CaseView<'_>, executed: &Recomputed, at: usize) -> Option<Self> {
        let write = executed.writes.get(at)?;
        let (wrong, right) = (write.wrote()?, write.alone?);
        let earlier = executed.writes.get(..at)?.iter().filter(|earlier| earlier.step < write.step);
        let from = earlier.rev().find(|earlier| is(earlier.wrote(), wrong)).map(|earlier| earlier.step);
        let by_calculation = || SlippedCalculation::of(executed, write)?.form(&known(case, executed, at), wrong);
        let form = plain_form(wrong, right)
            .or_else(|| from.map(|_| SlipForm::Copied))
            .or_else(by_calculation)
            .unwrap_or_else(|| last_form(wrong, right));
        let from = from.filter(|_| form == SlipForm::Copied);
        Some(Self { form, wrong, right, step: Some(write.step), from })
    }

    /// Compares the answer with the expected one.
    fn of_answer(case: &CaseView<'_>) -> Option<Self> {
        if case.rightness().verdict() != Some(false) {
            return None;
        }
        let (wrong, right) = (case.answer().value()?.value, case.gold()?.value);
        if wrong.is_near(right) {
            return None;
        }
        let from = case.executed().and_then(|executed| result_on_the_way(executed, wrong));
        let form = plain_form(wrong, right)
            .or_else(|| from.map(|_| SlipForm::Copied))
            .unwrap_or_else(|| last_form(wrong, right));
        let from = from.filter(|_| form == SlipForm::Copied);
        Some(Self { form, wrong, right, step: None, from })
    }

    /// Says it: `step 2 wrote 82, should be 28: digits in another order`.
    pub fn phrase(&self) -> Shown {
        let (wrong, right) = (self.wrong.shown(), self.right.shown());
        let form = match (self.form, self.from) {
            (SlipForm::Copied, Some(from)) => shown!("the value of step {}", from + 1),
            _ => Shown::own(self.form.phrase()),
        };
        match self.step {
            Some(step) => shown!("step {} wrote {wrong}, its calculation gives {right}: {form}", step + 1),
            None => shown!("answer {wrong}, expected {right}: {form}"),
        }
    }
}

fn is(number: Option<Number>, other: Number) -> bool {
    number.is_some_and(|number| number.is_near(other))
}

/// The step that worked an answer out, where another result follows before the end.
fn result_on_the_way(executed: &Recomputed, answer: Number) -> Option<usize> {
    let mut results = executed.writes.iter().filter(|write| write.plan.is_some() && !write.is_statement());
    let first = results.by_ref().find(|write| is(write.wrote(), answer))?;
    results.any(|write| write.wrote().is_some_and(|later| !later.is_near(answer))).then_some(first.step)
}

/// The forms that two numbers tell by themselves, the most telling.
fn plain_form(wrong: Number, right: Number) -> Option<SlipForm> {
    let ratio = |a: Number, b: Number| a.over(b).and_then(Number::integer);
    let is_unit = |ratio: Option<i128>| ratio.is_some_and(|ratio| UNITS.iter().any(|unit| i128::from(*unit) == ratio));
    match () {
        () if wrong.is_near(right.negated()) => Some(SlipForm::Sign),
        () if are_digits_exchanged(wrong, right) => Some(SlipForm::Digits),
        () if wrong.minus(right).is_some_and(|off| off.magnitude() == Number::ONE) => Some(SlipForm::OffByOne),
        () if is_unit(ratio(wrong, right)) || is_unit(ratio(right, wrong)) => Some(SlipForm::Unit),
        () => None,
    }
}

/// The forms that say least.
fn last_form(wrong: Number, right: Number) -> SlipForm {
    let is_whole = |a: Number, b: Number| a.over(b).and_then(Number::integer).is_some_and(|ratio| ratio.abs() > 1);
    match wrong.minus(right) {
        Some(off) if off.magnitude() < Number::ONE => SlipForm::Rounded,
        _ if is_whole(wrong, right) || is_whole(right, wrong) => SlipForm::Factor,
        _ => SlipForm::Other,
    }
}

fn are_digits_exchanged(wrong: Number, right: Number) -> bool {
    let digits = |number: Number| {
        let mut digits: Vec<char> =
            number.shown().chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | '/')).collect();
        digits.sort_unstable();
        digits
    };
    let has_same_sign = wrong.is_negative() == right.is_negative();
    let (wrong, right) = (digits(wrong), digits(right));
    has_same_sign && right.len() > 1 && wrong == right
}

/// Numbers that the run knew before a write: those of the question, and what was written.
fn known(case: &CaseView<'_>, executed: &Recomputed, at: usize) -> Vec<Number> {
    let given = case.numbers().iter().map(|quantity: &Quantity| quantity.value);
    given.chain(executed.writes.iter().take(at).filter_map(Computed::wrote)).take(MAX_TRIED).collect()
}

/// A calculation with what went into it.
struct SlippedCalculation<'w> {
    expression: &'w Expression,
    inputs: Vec<(u32, Number)>,
}

impl<'w> SlippedCalculation<'w> {
    fn of(executed: &Recomputed, write: &'w Computed) -> Option<Self> {
        let expression = &write.plan.as_ref()?.expression;
        let input = |name: u32| {
            let (_, from) = write.inputs.iter().find(|(variable, _)| *variable == name as usize)?;
            Some((name, executed.writes.get((*from)?)?.wrote()?))
        };
        let inputs: Vec<(u32, Number)> = expression.names().into_iter().filter_map(input).collect();
        (inputs.len() == expression.names().len()).then_some(Self { expression, inputs })
    }

    fn form(&self, known: &[Number], wrong: Number) -> Option<SlipForm> {
        let operands: Vec<Number> =
            self.inputs.iter().map(|(_, number)| *number).chain(self.expression.numbers()).collect();
        match operands.as_slice() {
            [_, _, ..] if operands.iter().any(|operand| operand.is_near(wrong)) => Some(SlipForm::Operand),
            [one, other] if is_of_another_operation(*one, *other, wrong) => Some(SlipForm::Operation),
            _ => self.is_of_another_operand(known, wrong).then_some(SlipForm::OneOperand),
        }
    }

    /// Tells whether it gives a number with another known one in the place of one that went in.
    fn is_of_another_operand(&self, known: &[Number], wrong: Number) -> bool {
        let gives = |place: u32, other: Number| {
            let value = |name: u32| {
                let own = self.inputs.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
                if name == place { Some(other) } else { own }
            };
            is(self.expression.evaluate(value), wrong)
        };
        self.inputs.iter().any(|(name, _)| known.iter().any(|other| gives(*name, *other)))
    }
}

/// Tells whether a number is what one of the four operations makes of two numbers, in either order.
fn is_of_another_operation(one: Number, other: Number, wrong: Number) -> bool {
    let operations = [Operation::Add, Operation::Subtract, Operation::Multiply, Operation::Divide];
    operations.iter().any(|by| is(by.apply(one, other), wrong) || is(by.apply(other, one), wrong))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::row::RowFacts;

    #[test]
    fn two_numbers_tell_the_form_of_their_difference() {
        let form = |wrong: f64, right: f64| {
            let [wrong, right] = [wrong, right].map(|number| Number::from_float(number).unwrap());
            plain_form(wrong, right).unwrap_or_else(|| last_form(wrong, right))
        };
        for (wrong, right, expected) in [
            (-8.0, 8.0, SlipForm::Sign),
            (82.0, 28.0, SlipForm::Digits),
            (27.0, 28.0, SlipForm::OffByOne),
            (300.0, 5.0, SlipForm::Unit),
            (0.05, 5.0, SlipForm::Unit),
            (84.0, 28.0, SlipForm::Factor),
            (28.4, 28.0, SlipForm::Rounded),
            (31.0, 28.0, SlipForm::Other),
            // One digit has no order; zero is no part of anything.
            (7.0, 5.0, SlipForm::Other),
            (0.0, 28.0, SlipForm::Other),
        ] {
            assert_eq!(form(wrong, right), expected, "{wrong} for {right}");
        }
    }

    fn run(total: i64, answer: i64, gold: &str) -> String {
        format!(
            r#"{{"id":"a","question":"A cup costs 7 euros. What do 4 cups cost, with 9 plates of 13 euros?","mode":"procedural","gold_answer":"{gold}","procedure":{{"NameDescription":"n","steps":[
            {{"id":1,"inputs":[{{"name":"problem_text","description":""}}],"stepDescription":"Extract the quantities.","output":[{{"name":"cups","description":"cups"}},{{"name":"price","description":"price"}},{{"name":"plates","description":"plates"}}]}},
            {{"id":2,"inputs":[{{"name":"cups","description":""}},{{"name":"price","description":""}}],"stepDescription":"Calculate cups * price.","output":[{{"name":"total","description":""}}]}},
            {{"id":3,"inputs":[{{"name":"total","description":""}}],"stepDescription":"State the answer.","output":[{{"name":"final_answer","description":"Describes the answer"}}]}}]}},
            "state":{{"cups":4,"price":7,"plates":9,"total":{total},"final_answer":"{answer}","final_answer_numerical":{answer},"confidence":0.9}}}}"#
        )
    }

    #[test]
    fn a_step_that_slipped_says_how() {
        for (total, form, said) in [
            (82, SlipForm::Digits, "step 2 wrote 82, its calculation gives 28: digits in another order"),
            (29, SlipForm::OffByOne, "step 2 wrote 29, its calculation gives 28: off by one"),
            (-28, SlipForm::Sign, "step 2 wrote -28, its calculation gives 28: the other sign"),
            (9, SlipForm::Copied, "step 2 wrote 9, its calculation gives 28: the value of step 1"),
            (11, SlipForm::Operation, "step 2 wrote 11, its calculation gives 28: another operation"),
            (52, SlipForm::OneOperand, "step 2 wrote 52, its calculation gives 28: one operand exchanged"),
            (56, SlipForm::Factor, "step 2 wrote 56, its calculation gives 28: a whole factor"),
            (45, SlipForm::Other, "step 2 wrote 45, its calculation gives 28: another number"),
        ] {
            let case = Case::read(run(total, total, "#### 28").into_bytes());
            let view = case.view();
            assert_eq!(view.cause(view.findings(), view.triage()), Some(Cause::Slip), "{total}");
            let slip = Slip::of(&view, Some(Cause::Slip), view.triage()).unwrap();
            assert_eq!((slip.form, slip.phrase().as_str()), (form, said));
            assert_eq!(RowFacts::of(&view, true).slip_form(), Some(form));
        }
        // A right run has none.
        let case = Case::read(run(28, 28, "#### 28").into_bytes());
        assert_eq!(RowFacts::of(&case.view(), true).slip_form(), None);
    }

    #[test]
    fn without_a_right_value_there_is_no_form() {
        let text = run(28, 28, "#### 28").replace(r#""total":28"#, r#""total":null"#);
        let case = Case::read(text.into_bytes());
        let view = case.view();
        for cause in Cause::ALL {
            assert_eq!(Slip::of(&view, Some(cause), view.triage()), None, "{cause:?}");
        }
    }
}
