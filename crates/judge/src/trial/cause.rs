//! The cause of a wrong run: where it is to be fixed, and what kind of step or plan that is.

use super::Trial;
use crate::cause::Cause;
use crate::gold::Gold;
use crate::quantity_links::{QuantityLinks, UnusedQuantity};
use crate::recompute::ValueBasis;
use crate::triage::{Fix, Reason};
use stepscope_arithmetic::expression::Expression;
use stepscope_record::rule_id::RuleId;

impl Trial<'_, '_> {
    /// Finds the cause of the verdict; `None`: nothing is to be fixed, or it is not known what.
    pub(super) fn cause(&self, fix: Fix, step: Option<usize>) -> Option<Cause> {
        let first = self.why.first().map(|argument| argument.rule);
        let is = |reason: Reason| first == Some(reason.word());
        let is_rule = |rule: RuleId| first == Some(rule.word());
        match fix {
            Fix::None => None,
            _ if is(Reason::Rounding) => Some(Cause::Rounding),
            _ if is(Reason::Unit) => Some(Cause::Unit),
            _ if is(Reason::OutOfDate) => Some(Cause::OutOfDate),
            _ if is_rule(RuleId::RunError) => Some(Cause::Failed),
            _ if is_rule(RuleId::LastStep) => Some(Cause::AnswerForm),
            Fix::Gold => Some(Cause::ExpectedAnswer),
            Fix::StepRun => Some(self.of_step(step)),
            Fix::Procedure => Some(self.of_plan()),
            Fix::Unknown => None,
        }
    }

    fn of_step(&self, step: Option<usize>) -> Cause {
        let first = self.why.first().map(|argument| argument.rule);
        let lost = [RuleId::OutputMissing.word(), Reason::UnknownQuantity.word()];
        if first.is_some_and(|rule| lost.contains(&rule)) {
            return Cause::OutputLost;
        }
        // Whatever a later step made of it, it had a calculation to read and no number.
        if self.first_waiting().is_some_and(|waiting| step.is_none_or(|step| waiting <= step)) {
            return Cause::Unevaluated;
        }
        let end = self.last().map(|end| end.step);
        let mut writes = self.recomputed.writes.iter().filter(|write| Some(write.step) == step);
        if step.is_some() && step == end && (writes.clone().all(|write| write.is_statement() || write.plan.is_none())) {
            return Cause::WrongCopy;
        }
        if writes.any(|write| write.basis == ValueBasis::Extracted) { Cause::Misread } else { Cause::Slip }
    }

    fn of_plan(&self) -> Cause {
        let first = self.why.first().map(|argument| argument.rule);
        let invalid = first.and_then(RuleId::from_word).and_then(Cause::of_rule);
        if invalid == Some(Cause::InvalidPlan) {
            return Cause::InvalidPlan;
        }
        let Some(gold) = &self.gold else { return Cause::OtherPlan };
        if first == Some(Reason::UnknownQuantity.word()) || self.leaves_out_a_quantity() {
            Cause::QuantityMissed
        } else if self.ends_on_the_way(gold) {
            Cause::StopsEarly
        } else if self.findings.iter().any(|finding| finding.rule == RuleId::Unused) {
            Cause::ValueUnused
        } else {
            Cause::OtherPlan
        }
    }

    /// Tells whether the run has no variable for a number of the question that the expected solution, as far as there
    /// is one, uses.
    fn leaves_out_a_quantity(&self) -> bool {
        let worked = self.numbers_of_gold();
        let is_lacking = |links: &QuantityLinks| {
            let is_used = |missed: &UnusedQuantity| worked.is_empty() || links.is_used_in(missed.quantity, &worked);
            links.missed.iter().any(|missed| !missed.room && is_used(missed))
        };
        self.links.is_some_and(is_lacking)
    }

    /// Tells whether the answer is a result of the expected solution that it does not end with.
    fn ends_on_the_way(&self, gold: &Gold) -> bool {
        let Some(answer) = self.answer else { return false };
        let results = self.working.calculations.iter().filter(|one| !one.is_wrong());
        let parts = results.filter_map(|one| one.calculation.as_ref()).flat_map(Expression::parts);
        !gold.value.is_near(answer.value) && parts.into_iter().any(|(_, gives)| gives.is_near(answer.value))
    }
}
