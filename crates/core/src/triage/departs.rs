//! Where a wrong run leaves the way that the gold text takes.

use super::Trial;
use crate::arithmetic::expression::{may_hold, numbers, plain_signs, worked};
use crate::arithmetic::gold::{Gold, Working};
use crate::arithmetic::number::{Number, Written};
use crate::arithmetic::recompute::{Computed, ValueBasis, Wording, name_of, value_pointer};
use stepscope_base::json::Value;
use stepscope_base::shown;

impl Trial<'_, '_> {
    /// The first step that works out what the gold text never does, or from other numbers; if there is none, the step
    /// after which the gold text goes on.
    pub(super) fn departs_from_gold(&mut self, gold: &Gold) -> Option<usize> {
        let given = given_by(&self.working);
        if given.is_empty() {
            return None;
        }
        let parts: Vec<(Vec<Number>, Number)> = self.gold_parts();
        let is_given = |value: Number| {
            let stands = |mark: &Number| Written { value: *mark, decimals: 2 }.stands_for(value);
            given.iter().any(|mark| mark.is_near(value) || stands(mark))
        };
        // What a chain of thought wrote counts; of a plan, what it gives.
        let number = |write: &Computed| {
            let recorded = write.recorded.map(|number| number.value);
            let planned = write.plan.as_ref().is_some_and(|plan| plan.wording != Wording::Worked);
            if planned { write.value.or(recorded) } else { recorded.or(write.value) }
        };
        let calculated = |write: &&Computed| !matches!(write.basis, ValueBasis::Extracted);
        // A number of the question that a step's own text only says again.
        let said = |write: &Computed, value: Number| {
            let text = self.procedure.and_then(|procedure| procedure.steps.get(write.step)?.text);
            let text = text.and_then(Value::string).unwrap_or_default();
            self.links.is_some_and(|links| links.quantities.iter().any(|one| one.value == value))
                && numbers(text.utf8().unwrap_or_default()).iter().any(|(number, _)| number.value == value)
        };
        let strange = |write: &&Computed| {
            let planned = write.plan.as_ref().is_some_and(|plan| plan.expression.is_operation());
            let value = number(write).is_some_and(|value| !is_given(value) && (planned || !said(write, value)));
            value || self.works_out_otherwise(write, &parts)
        };
        let mut calculations = self.recomputed.writes.iter().filter(calculated);
        if let Some(write) = calculations.clone().find(strange) {
            let (name, value) =
                (name_of(self.state, write.variable), number(write).map_or_else(String::new, Number::shown));
            let pointer = value_pointer(self.record, self.state, write)?;
            let text = shown!(
                "step {} gives {name} = {value}, which none of the gold text's calculations gives",
                write.step + 1
            );
            let step = write.step;
            self.argue("triage/departs", pointer, text);
            return Some(step);
        }
        let answer = self.answer?.value;
        let write = calculations.find(|write| number(write).is_some_and(|value| value.is_near(answer)))?;
        let pointer = value_pointer(self.record, self.state, write)?;
        let text = shown!(
            "step {} gives the answer {}, which the gold text has too, but it goes on from there to {}",
            write.step + 1,
            answer.shown(),
            gold.value.shown()
        );
        self.argue("triage/departs", pointer, text);
        Some(write.step)
    }

    /// Of every operation of the gold text, the numbers that go in and what comes out.
    fn gold_parts(&self) -> Vec<(Vec<Number>, Number)> {
        let expressions = self.working.calculations.iter().filter_map(|one| one.calculation.as_ref());
        expressions.flat_map(crate::arithmetic::expression::Expression::parts).collect()
    }

    /// Whether a step's own text works out a number that the gold text never does, or from other numbers altogether.
    fn works_out_otherwise(&self, write: &Computed, parts: &[(Vec<Number>, Number)]) -> bool {
        let text = self.procedure.and_then(|procedure| procedure.steps.get(write.step)?.text);
        let text = text.and_then(Value::string).unwrap_or_default();
        let Some(text) = text.utf8().filter(|text| may_hold(text.as_bytes())) else { return false };
        worked(&plain_signs(text)).iter().any(|one| {
            let operands = one.expression.numbers();
            let same = |(own, gives): &(Vec<Number>, Number)| {
                gives.is_near(one.says.value) && own.iter().any(|operand| operands.contains(operand))
            };
            // What the gold text only calculates with may be worked out first.
            let is_operand =
                |(own, _): &(Vec<Number>, Number)| own.iter().any(|operand| operand.is_near(one.says.value));
            let asked = self.links.is_some_and(|links| links.stands(one.says.value.float()));
            !parts.iter().any(same) && (asked || !parts.iter().any(is_operand))
        })
    }
}

/// Every number that the gold text's calculations give, with those of their parts.
pub(super) fn given_by(working: &Working) -> Vec<Number> {
    let mut values = Vec::new();
    for one in &working.calculations {
        values.push(one.says.value);
        values.extend(one.gives);
        let Some(calculation) = &one.calculation else { continue };
        let operands = calculation.numbers();
        let parts = calculation.values(|_| None).unwrap_or_default();
        values.extend(parts.into_iter().filter(|part| !operands.contains(part)));
    }
    values
}
