//! The place where a wrong run departs from the worked solution of the expected answer.

use super::Trial;
use crate::gold::{Gold, Working};
use crate::recompute::classes::Wording;
use crate::recompute::{Computed, ValueBasis, name_of, value_pointer};
use crate::triage::Reason;
use stepscope_arithmetic::expression::{Expression, Operation, Worked, may_hold, numbers, plain_signs, worked};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_base::shown;

impl Trial<'_, '_> {
    /// The first step that works out what the gold text never does, or from other numbers; if there is none, the step
    /// after which the gold text goes on.
    pub(super) fn departs_from_gold(&mut self, gold: &Gold) -> Option<usize> {
        let way = GoldWay::of(&self.working);
        if way.given.is_empty() {
            return None;
        }
        // What a chain of thought wrote counts; of a plan, what it gives.
        let number = |write: &Computed| {
            let recorded = write.recorded.map(|number| number.value);
            let planned = write.plan.as_ref().is_some_and(|plan| plan.wording != Wording::Worked);
            if planned { write.value.or(recorded) } else { recorded.or(write.value) }
        };
        let calculated = |write: &&Computed| !matches!(write.basis, ValueBasis::Extracted);
        // A number of the question that a step's own text only says again.
        let said = |write: &Computed, value: Number| {
            let text = self.step_text(write.step);
            self.links.is_some_and(|links| links.quantities.iter().any(|one| one.value == value))
                && numbers(text.readable()).iter().any(|(number, _)| number.value == value)
        };
        let strange = |write: &Computed| {
            let planned = write.plan.as_ref().is_some_and(|plan| plan.expression.is_operation());
            let value = number(write).filter(|value| !self.is_on(&way, *value) && (planned || !said(write, *value)));
            let value = value.map(|value| shown!("gives {} = {}", name_of(self.state, write.variable), value.shown()));
            let other = || Some(shown!("works out {}", self.works_out_otherwise(write, &way)?));
            value.or_else(other)
        };
        let mut calculations = self.recomputed.writes.iter().filter(calculated);
        if let Some((write, what)) = calculations.find_map(|write| Some((write, strange(write)?))) {
            let pointer = value_pointer(self.record, self.state, write)?;
            let text = shown!("Step {} {what}, unlike the expected solution.", write.step + 1);
            let step = write.step;
            self.argue(Reason::Departs.word(), pointer, text);
            return Some(step);
        }
        // Where the expected solution goes another way, the step that gives the answer is where to look.
        self.stops_early(gold).or_else(|| self.step_of_answer())
    }

    /// The first step that works out the answer.
    fn step_of_answer(&self) -> Option<usize> {
        let answer = self.answer?.value;
        let gives_it = |write: &&Computed| {
            write.basis != ValueBasis::Extracted && write.wrote().is_some_and(|value| value.is_near(answer))
        };
        self.recomputed.writes.iter().find(gives_it).map(|write| write.step)
    }

    /// The step that gives the answer, where the expected solution works it out from the same numbers, and goes on.
    pub(super) fn stops_early(&mut self, gold: &Gold) -> Option<usize> {
        let answer = self.answer?.value;
        let last = self.working.calculations.last()?;
        let is_gone_on = !last.says.value.is_near(answer);
        let held = self.values_on_the_way();
        let is_held = |number: &Number| {
            held.iter().any(|value| value.is_near(*number))
                || !self.links.is_some_and(|links| links.stands(number.float()))
        };
        let expressions = self.working.calculations.iter().filter(|one| !one.is_wrong());
        let mut parts = expressions.filter_map(|one| one.calculation.as_ref()).flat_map(Expression::parts);
        let is_same =
            parts.any(|(operands, gives)| gives.is_near(answer) && operands.len() > 1 && operands.iter().all(is_held));
        let step = self.step_of_answer().filter(|_| is_same && is_gone_on)?;
        let write =
            self.recomputed.writes.iter().find(|write| write.step == step && write.basis != ValueBasis::Extracted)?;
        let pointer = value_pointer(self.record, self.state, write)?;
        let text = shown!(
            "Step {} gives the answer, {}; the expected solution has it too and continues to {}.",
            write.step + 1,
            answer.shown(),
            gold.value.shown()
        );
        self.argue(Reason::Departs.word(), pointer, text);
        Some(write.step)
    }

    /// Tells whether the expected solution gives a number, or calculates with it though the question does not hold it:
    /// then it was worked out before.
    fn is_on(&self, way: &GoldWay, value: Number) -> bool {
        let stands = |given: &Number| Written { value: *given, decimals: 2 }.stands_for(value);
        let is_operand = || way.operands().any(|operand| operand.is_near(value));
        way.given().any(|given| given.is_near(value) || stands(given))
            || is_operand() && !self.links.is_some_and(|links| links.stands(value.float()))
    }

    /// An equation of a step's own text that works out a number that the gold text never does, or from other numbers
    /// altogether.
    fn works_out_otherwise(&self, write: &Computed, way: &GoldWay) -> Option<String> {
        let text = self.step_text(write.step);
        let text = text.utf8().filter(|text| may_hold(text.as_bytes()))?;
        let differs = |one: &Worked| {
            let operands = one.expression.numbers();
            let same = |part: &&WayPart| {
                part.gives.is_near(one.says.value)
                    && operands.iter().all(|one| part.operands.contains(one) || way.given().any(|given| given == one))
            };
            let asked = self.links.is_some_and(|links| links.stands(one.says.value.float()));
            let is_operand = || way.operands().any(|operand| operand.is_near(one.says.value));
            way.parts.iter().chain(&way.regrouped).find(same).is_none() && (asked || !is_operand())
        };
        worked(&plain_signs(text)).into_iter().find(differs).map(|one| one.text)
    }
}

/// An operation of the gold text: the numbers that go in, and what comes out.
struct WayPart {
    operands: Vec<Number>,
    gives: Number,
}

/// The numbers on the way that the gold text takes.
struct GoldWay {
    parts: Vec<WayPart>,
    /// For those who add up, or multiply, the same numbers in another order.
    regrouped: Vec<WayPart>,
    /// Results of its calculations.
    given: Vec<Number>,
}

impl GoldWay {
    fn of(working: &Working) -> Self {
        let expressions = || working.calculations.iter().filter_map(|one| one.calculation.as_ref());
        let parts = expressions().flat_map(Expression::parts);
        let joined = expressions().flat_map(|one| [Operation::Add, Operation::Multiply].map(|by| regrouped(one, by)));
        Self {
            parts: parts.map(|(operands, gives)| WayPart { operands, gives }).collect(),
            regrouped: joined.flatten().collect(),
            given: working.results(),
        }
    }

    fn given(&self) -> impl Iterator<Item = &Number> {
        self.given.iter().chain(self.regrouped.iter().map(|part| &part.gives))
    }

    fn operands(&self) -> impl Iterator<Item = &Number> {
        self.parts.iter().flat_map(|part| &part.operands)
    }
}

/// More numbers are not joined in every order.
const MAX_JOINED: usize = 7;

/// Calculates the results of two or more of the numbers that a calculation joins, but not of all.
fn regrouped(calculation: &Expression, by: Operation) -> Vec<WayPart> {
    let Some((undone, neutral)) = by.undone() else { return Vec::new() };
    let mut joined = calculation.joined(by);
    joined.retain(|number| *number != neutral);
    if joined.len() > MAX_JOINED {
        return Vec::new();
    }
    let inverse = |number: &Number| undone.apply(neutral, *number);
    let sets = 0..1_u32 << joined.len();
    let mut parts = Vec::new();
    for set in sets.filter(|set| (2..joined.len() as u32).contains(&set.count_ones())) {
        let chosen: Vec<Number> =
            joined.iter().enumerate().filter(|(n, _)| set >> n & 1 == 1).map(|(_, number)| *number).collect();
        let Some(gives) = chosen.iter().copied().map(Some).reduce(|a, b| by.apply(a?, b?)).flatten() else { continue };
        let operands: Vec<Number> = chosen.iter().copied().chain(chosen.iter().filter_map(inverse)).collect();
        // A rate may be the other way round, and what is taken off altogether is added up before.
        let turned = by == Operation::Multiply || chosen.iter().all(|number| number.is_negative());
        if let Some(gives) = inverse(&gives).filter(|_| turned) {
            parts.push(WayPart { operands: operands.clone(), gives });
        }
        parts.push(WayPart { operands, gives });
    }
    parts
}
