//! Reasons to doubt the gold answer rather than the run.

use super::{Confidence, Fix, Judgement, Trial};
use crate::arithmetic::expression::{Expression, numbers};
use crate::arithmetic::gold::{Gold, annotations};
use crate::arithmetic::number::Number;
use crate::arithmetic::recompute::{Computed, number_pointer};
use crate::finding::{Finding, Severity};
use crate::rules::RuleId;
use stepscope_base::json::{Pointer, Value};
use stepscope_base::shown;

/// An answer this near to gold differs by how it is rounded.
const ROUNDED: f64 = 0.006;

impl Trial<'_, '_> {
    /// Reasons to doubt the gold answer.
    pub(super) fn suspect_gold(&mut self, gold: &Gold) -> Option<Judgement> {
        let answer = self.answer?.value;
        let baseline = self.baseline.and_then(Number::from_float);
        if let Some(baseline) = baseline.filter(|baseline| baseline.is_near(answer) && !baseline.is_near(gold.value)) {
            let text = shown!(
                "the baseline and this run agree on {} against the gold {}",
                baseline.shown(),
                gold.value.shown()
            );
            self.argue("triage/baseline", number_pointer(self.record), text);
            return Some((Fix::Gold, None, Confidence::Likely));
        }
        if self.wrong_marks() {
            return Some((Fix::Gold, None, Confidence::Likely));
        }
        // The baseline got it: then the gold can be got.
        if baseline.is_some() {
            return None;
        }
        // What the run does not hold to itself says nothing against the gold.
        let holds = self.recomputed.recovered.is_none_or(|recovered| self.answers(recovered));
        if !holds {
            return None;
        }
        self.other_ending(gold, answer).or_else(|| self.rounding(gold, answer)).or_else(|| self.factor(gold, answer))
    }

    pub(super) fn wrong_marks(&mut self) -> bool {
        let marks = annotations(self.record);
        let pointer = Pointer::from_iter(["gold_answer"]);
        if let Some(wrong) = marks.iter().find(|mark| mark.is_wrong()) {
            let gives = wrong.gives.map_or_else(String::new, Number::shown);
            let text = shown!("the gold text calculates {}, which is {gives}", wrong.text);
            self.argue(RuleId::GoldSteps.word(), pointer, text);
            return true;
        }
        let Some((wrong, printed)) = marks.iter().find_map(|mark| Some((mark, mark.contradiction()?))) else {
            return false;
        };
        let text = shown!("the gold text calculates {}, and goes on with {}", wrong.text, printed.shown());
        self.argue(RuleId::GoldSteps.word(), pointer, text);
        true
    }

    /// The gold text's last calculation gives what the run gives, and then it ends with another number.
    fn other_ending(&mut self, gold: &Gold, answer: Number) -> Option<Judgement> {
        let marks = annotations(self.record);
        let last = marks.last()?;
        let apart = (answer.float() - gold.value.float()).abs() >= 1.0;
        if !gold.from_text || !apart || !last.says.stands_for(answer) {
            return None;
        }
        let text = shown!("the gold text works out {}, and then ends with {}", answer.shown(), gold.value.shown());
        self.argue(RuleId::GoldSteps.word(), Pointer::from_iter(["gold_answer"]), text);
        Some((Fix::Gold, None, Confidence::Likely))
    }

    /// Answer and gold are one number, rounded otherwise, and no whole things are counted.
    fn rounding(&mut self, gold: &Gold, answer: Number) -> Option<Judgement> {
        let counted = self.findings.iter().any(|finding| finding.rule == RuleId::AnswerFractional);
        let off = (answer.float() - gold.value.float()).abs();
        let near = off <= ROUNDED * gold.value.float().abs()
            || (off < 1.0 && gold.value.is_whole() && self.cuts(gold, answer));
        if counted || !near || answer.is_whole() {
            return None;
        }
        let text = shown!("the answer {} and the gold {} are rounded otherwise", answer.shown(), gold.value.shown());
        self.argue("triage/rounding", number_pointer(self.record), text);
        Some((Fix::Gold, None, Confidence::Unsure))
    }

    /// Whether a calculation of the gold text itself gives this number, and it is cut to a whole one there or at the end.
    fn cuts(&self, gold: &Gold, answer: Number) -> bool {
        let near =
            |gives: Number| self.answer.is_some_and(|written| written.stands_for(gives)) || gives.is_near(answer);
        let below = gold.value.float() <= answer.float() + 0.5;
        if below && annotations(self.record).last().is_some_and(|mark| mark.gives.is_some_and(near)) {
            return true;
        }
        annotations(self.record).iter().any(|mark| mark.says.value.is_whole() && mark.gives.is_some_and(near))
    }

    /// Answer and gold differ by a unit, or by a quantity of the question that only the answer uses.
    fn factor(&mut self, gold: &Gold, answer: Number) -> Option<Judgement> {
        let ratio = answer.over(gold.value)?;
        let inverse = Number::ONE.over(ratio)?;
        let pointer = Pointer::from_iter([if gold.from_text { "gold_answer" } else { "gold_num" }]);
        for unit in [60, 100, 1000, 3600].map(Number::whole) {
            if ratio == unit || inverse == unit {
                // Who converts is asked for the other unit: a run that leaves it out has a plan that does.
                if self.gold_calculates_with(unit) && !self.run_calculates_with(unit) {
                    return None;
                }
                let text = shown!("answer and gold differ by a factor of {}: look at the unit", unit.shown());
                self.argue("triage/unit", pointer, text);
                return Some((Fix::Gold, None, Confidence::Likely));
            }
        }
        let question = self.record.question.and_then(Value::string)?;
        let asked = numbers(question.utf8()?).iter().any(|(number, _)| number.value == ratio);
        // A run that leaves out what the gold text uses has other faults.
        let missed = |finding: &Finding| finding.rule == RuleId::QuantityMissed && finding.severity < Severity::Note;
        if !asked || ratio <= Number::whole(2) || self.findings.iter().any(missed) {
            return None;
        }
        let text = self.record.gold_answer.and_then(Value::string)?;
        let used = numbers(text.utf8()?).iter().any(|(number, _)| number.value == ratio);
        let text = if !used {
            shown!(
                "the answer is {} times the gold, and the gold text never uses the question's {}",
                ratio.shown(),
                ratio.shown()
            )
        } else if self.follows_gold() {
            shown!(
                "the run takes the same steps as the gold text; the answer is the gold in another unit ({} times)",
                ratio.shown()
            )
        } else {
            return None;
        };
        self.argue("triage/unit", pointer, text);
        Some((Fix::Gold, None, Confidence::Likely))
    }

    fn gold_calculates_with(&self, number: Number) -> bool {
        let holds = |expression: Expression| expression.numbers().contains(&number);
        annotations(self.record).iter().any(|mark| mark.calculation().is_some_and(holds))
    }

    fn run_calculates_with(&self, number: Number) -> bool {
        let planned =
            |write: &Computed| write.plan.as_ref().is_some_and(|plan| plan.expression.numbers().contains(&number));
        let holds =
            |write: &Computed| planned(write) || write.recorded.is_some_and(|recorded| recorded.value == number);
        self.recomputed.writes.iter().any(holds)
    }

    /// Every intermediate result of the gold text is one of the run's values, or a part of its calculations.
    fn follows_gold(&self) -> bool {
        let marks = annotations(self.record);
        let Some((_, before)) = marks.split_last() else { return false };
        let values = self.values_on_the_way();
        !before.is_empty() && before.iter().all(|mark| values.iter().any(|value| value.is_near(mark.says.value)))
    }

    /// Every number that the run wrote or that its plan gives, with those of the parts of its calculations.
    fn values_on_the_way(&self) -> Vec<Number> {
        let mut values = Vec::new();
        for write in &self.recomputed.writes {
            values.extend(write.recorded.map(|recorded| recorded.value));
            let input = |id: u32| {
                let (_, input) = write.inputs.iter().find(|(variable, _)| *variable == id as usize)?;
                self.recomputed.writes.get((*input)?)?.value
            };
            let parts = write.plan.as_ref().and_then(|plan| plan.expression.values(input));
            values.extend(parts.unwrap_or_default());
        }
        values
    }
}

/// Every number that the gold text's calculations give, with those of their parts.
pub(super) fn given_by_gold(record: &crate::record::Record<'_>) -> Vec<Number> {
    let mut values = Vec::new();
    for mark in annotations(record) {
        values.push(mark.says.value);
        values.extend(mark.gives);
        let Some(calculation) = mark.calculation() else { continue };
        let operands = calculation.numbers();
        let parts = calculation.values(|_| None).unwrap_or_default();
        values.extend(parts.into_iter().filter(|part| !operands.contains(part)));
    }
    values
}
