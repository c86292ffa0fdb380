//! Reasons to doubt the expected answer rather than the run: it contradicts itself, or a second model agrees with the
//! run against it. Units and rounding count only where every value on the way agrees.

use super::said::said;
use super::{Judgement, Trial};
use crate::gold::Gold;
use crate::recompute::{Computed, ValueBasis};
use crate::triage::{Confidence, Fix, Reason};
use stepscope_arithmetic::number::{Number, Written, near};
use stepscope_arithmetic::quantity::{Dimension, Unit, asked_unit, unit};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::rule_id::RuleId;

/// An answer this near to gold differs by how it is rounded.
const ROUNDED: f64 = 0.006;

/// Ratios of units.
const UNITS: [i64; 4] = [60, 100, 1000, 3600];

impl Trial<'_, '_> {
    /// The gold text's last calculation gives what the run gives, and then it ends with another number.
    pub(super) fn other_ending(&mut self, gold: &Gold) -> Option<Judgement> {
        let answer = self.answer?.value;
        let last = self.working.calculations.last()?;
        let off = (answer.float() - gold.value.float()).abs();
        let rounded =
            off < 1.0 && (answer.is_whole() != gold.value.is_whole() || off <= ROUNDED * answer.float().abs());
        let sound = !last.is_wrong() && gold.from_text && !self.is_said_last(gold);
        let ends_alike = last.says.value.is_near(gold.value);
        if !sound || rounded || ends_alike || !last.says.stands_for(answer) || !self.holds() {
            return None;
        }
        let text = shown!("The expected solution works out {}, then ends with {}.", answer.shown(), gold.value.shown());
        self.argue(RuleId::GoldSteps.word(), Pointer::from_iter(["gold_answer"]), text);
        Some((Fix::Gold, None, Confidence::Likely))
    }

    /// Tells whether the expected number follows the last calculation that was read.
    fn is_said_last(&self, gold: &Gold) -> bool {
        said(&self.working.behind).iter().any(|said| said.is_near(gold.value))
    }

    /// Tells whether the run agrees with its own steps: one that does not is no evidence against the expected answer.
    fn holds(&self) -> bool {
        self.recomputed.recovered.is_none_or(|recovered| self.answers(recovered))
    }

    /// Further reasons to doubt the gold answer.
    pub(super) fn suspect_gold(&mut self, gold: &Gold) -> Option<Judgement> {
        let answer = self.answer?.value;
        let baseline = self.baseline.and_then(Number::from_float);
        if let Some(baseline) = baseline.filter(|baseline| baseline.is_near(answer) && !baseline.is_near(gold.value)) {
            let text =
                shown!("This run and the baseline both answer {}, expected {}.", baseline.shown(), gold.value.shown());
            self.argue(Reason::Baseline.word(), self.record.number_pointer(), text);
            return Some((Fix::Gold, None, Confidence::Likely));
        }
        if self.wrong_marks(false) {
            return Some((Fix::Gold, None, Confidence::Likely));
        }
        // The baseline got it: then the gold can be got.
        if baseline.is_some() || !self.holds() {
            return None;
        }
        self.rounding(gold, answer).or_else(|| self.another_unit(gold, answer))
    }

    /// A calculation of the gold text is wrong, or its result is written otherwise. What is read from a sentence counts
    /// only where the run has what comes out instead; `agreed`: what a mark says, too.
    pub(super) fn wrong_marks(&mut self, agreed: bool) -> bool {
        let values = self.values_on_the_way();
        let pointer = Pointer::from_iter(["gold_answer"]);
        let has = |gives: Option<Number>| values.iter().any(|value| gives.is_some_and(|gives| gives.is_near(*value)));
        let calculations = &self.working.calculations;
        let counts = |gives: Option<Number>, marked: bool| (marked && !agreed) || has(gives);
        if let Some(wrong) = calculations.iter().find(|one| one.is_wrong() && counts(one.gives, one.marked)) {
            let gives = wrong.gives.map_or_else(String::new, Number::shown);
            let text = shown!("The expected solution calculates {}, which is {gives}.", wrong.text);
            self.argue(RuleId::GoldSteps.word(), pointer, text);
            return true;
        }
        let contradicted = |one| Some((one, crate::gold::Annotation::contradiction(one)?));
        let mut contradicted = calculations.iter().filter_map(contradicted);
        let Some((wrong, printed)) = contradicted.find(|(_, printed)| counts(Some(*printed), true)) else {
            return false;
        };
        let text = shown!("The expected solution calculates {}, and continues with {}.", wrong.text, printed.shown());
        self.argue(RuleId::GoldSteps.word(), pointer, text);
        true
    }

    /// The gold text itself works out the run's answer, and cuts or rounds it, where no whole things are counted.
    fn rounding(&mut self, gold: &Gold, answer: Number) -> Option<Judgement> {
        let counted = self.findings.iter().any(|finding| finding.rule == RuleId::AnswerFractional);
        let near =
            |gives: Number| self.answer.is_some_and(|written| written.stands_for(gives)) || gives.is_near(answer);
        let off = (answer.float() - gold.value.float()).abs();
        let last = self.working.calculations.last()?;
        let works_out = last.gives.is_some_and(near) && !self.is_said_last(gold);
        let below = gold.value.float() <= answer.float() + 0.5;
        if counted || answer.is_whole() || off >= 1.0 || !works_out || !below {
            return None;
        }
        let text =
            shown!("The answer is {}, expected {}: they differ by rounding.", answer.shown(), gold.value.shown());
        self.argue(Reason::Rounding.word(), self.record.number_pointer(), text);
        Some((Fix::Gold, None, Confidence::Unsure))
    }

    /// Answer and gold differ by a unit, or by a quantity of the question that only one of them uses, and every value on
    /// the way agrees but for that.
    fn another_unit(&mut self, gold: &Gold, answer: Number) -> Option<Judgement> {
        let ratio = answer.over(gold.value).map(Number::magnitude)?;
        let inverse = Number::ONE.over(ratio)?;
        let pointer = Pointer::from_iter([if gold.from_text { "gold_answer" } else { "gold_num" }]);
        let is_unit = UNITS.map(Number::whole).into_iter().any(|unit| ratio == unit || inverse == unit);
        if is_unit && self.asks_for_another_unit(ratio) {
            let text = differ_by(ratio.max(inverse));
            self.argue(Reason::Unit.word(), pointer, text);
            return Some((Fix::Gold, None, Confidence::Likely));
        }
        let asked = self.links.is_some_and(|links| links.quantities.iter().any(|one| one.sure && one.value == ratio));
        let calculates =
            |write: &Computed| write.plan.as_ref().is_some_and(|plan| plan.expression.numbers().contains(&ratio));
        let holds = |write: &Computed| write.recorded.is_some_and(|recorded| recorded.value == ratio);
        let mut numbers = self.working.calculations.iter().filter_map(|one| one.calculation.as_ref());
        // A conversion in the expected solution is asked for: a run that leaves it out has a plan that does.
        let left_out = numbers.any(|one| one.numbers().contains(&ratio))
            && !self.recomputed.writes.iter().any(|write| calculates(write) || holds(write));
        // A run that has the gold text's own last but one result only stops too early.
        if self.working.results().iter().any(|given| given.is_near(answer)) {
            return None;
        }
        let converted = !left_out && self.names_units_of(ratio);
        // A run that leaves out what the gold text uses has other faults.
        let is_misread = |finding: &Finding| {
            let rules = [RuleId::QuantityMissed, RuleId::QuantityChanged, RuleId::QuantityInvented];
            rules.contains(&finding.rule) && finding.severity < Severity::Note
        };
        if ratio <= Number::whole(2)
            || self.findings.iter().any(is_misread)
            || !((converted && self.agrees_scaled(ratio)) || (asked && self.agrees_but_for(ratio, answer)))
        {
            return None;
        }
        let text = shown!(
            "Every value on the way agrees with the expected solution, but answer ÷ expected is {}: check the unit.",
            ratio.shown()
        );
        self.argue(Reason::Unit.word(), pointer, text);
        Some((Fix::Gold, None, Confidence::Unsure))
    }

    /// The question asks for one unit, and the gold text answers in another that differs by just this factor.
    fn asks_for_another_unit(&self, ratio: Number) -> bool {
        let question = self.record.question.and_then(Value::string);
        let Some(asked) = question.and_then(|question| asked_unit(question.bytes())) else { return false };
        if asked.dimension == Dimension::Percent {
            return ratio == Number::whole(100);
        }
        let gold = lower(self.record.gold_answer);
        let used = gold.split(|c: char| !c.is_alphabetic()).filter_map(|word| unit(word.as_bytes()));
        // The run answers in the unit that is asked for: so many times as many as the gold's larger ones.
        let differs = |used: Unit| used.dimension == asked.dimension && near(used.size / asked.size, ratio.float());
        used.into_iter().any(differs)
            && !words_of(&gold).any(|word| unit(word.as_bytes()).is_some_and(|own| own == asked))
    }

    /// The run works out all that the gold text does, and undoes a division by this number at the end; or this number is
    /// no part of the gold text, and every value of the run is the gold text's but for it.
    fn agrees_but_for(&self, ratio: Number, answer: Number) -> bool {
        let calculations = &self.working.calculations;
        let (given, values) = (self.working.results(), self.values_on_the_way());
        let mut on_the_way = self.calculated().filter(|value| !value.is_near(answer));
        // The last one is the answer but for the factor.
        let results = || calculations.iter().rev().skip(1).map(|one| one.says.value);
        let expressions = || calculations.iter().filter_map(|one| one.calculation.as_ref());
        if expressions().any(|one| one.divides_by(ratio)) {
            return results().all(|value| is_among(&values, value)) && on_the_way.all(|value| is_among(&given, value));
        }
        !expressions().any(|one| one.numbers().contains(&ratio)) && self.agrees_scaled(ratio)
    }

    /// Every value of the run is one of the gold text's, or so many times as large; and the other way round.
    fn agrees_scaled(&self, ratio: Number) -> bool {
        let calculations = &self.working.calculations;
        let (given, values) = (self.working.results(), self.values_on_the_way());
        let scaled = |value: Number, list: &[Number]| value.over(ratio).is_some_and(|part| is_among(list, part));
        let is_met = |value: Number| {
            is_among(&values, value) || value.times(ratio).is_some_and(|scaled| is_among(&values, scaled))
        };
        calculations.len() > 1
            && calculations.iter().all(|one| is_met(one.says.value))
            && self.calculated().all(|value| is_among(&given, value) || scaled(value, &given))
    }

    /// Tells whether question and expected solution name two units of which one is so many of the other.
    fn names_units_of(&self, ratio: Number) -> bool {
        let texts = [self.record.question, self.record.gold_answer].map(lower);
        let units: Vec<Unit> =
            texts.iter().flat_map(|text| words_of(text)).filter_map(|word| unit(word.as_bytes())).collect();
        let apart = |a: &Unit, b: &Unit| a.dimension == b.dimension && near(a.size / b.size, ratio.float());
        units.iter().any(|a| units.iter().any(|b| apart(a, b)))
    }

    /// The numbers that the run wrote and did not take from its question.
    fn calculated(&self) -> impl Iterator<Item = Number> {
        let counts = |write: &&Computed| !matches!(write.basis, ValueBasis::Extracted);
        self.recomputed.writes.iter().filter(counts).filter_map(|write| Some(write.recorded?.value))
    }

    /// Every number that the run wrote or that its plan gives, with those of the parts of its calculations.
    pub(super) fn values_on_the_way(&self) -> Vec<Number> {
        let mut values = Vec::new();
        for write in &self.recomputed.writes {
            values.extend(write.recorded.map(|recorded| recorded.value));
            let input = |id| self.recomputed.input(write, id)?.value;
            let parts = write.plan.as_ref().and_then(|plan| plan.expression.results(input));
            values.extend(parts.into_iter().flatten());
        }
        values
    }

    /// Answer and gold differ by rounding or by a factor that units differ by: no verdict, but where to look.
    pub(super) fn hint_at_units(&mut self, gold: &Gold) {
        let Some(answer) = self.answer else { return };
        let close = Written { value: gold.value, decimals: answer.decimals }.stands_for(answer.value);
        if close {
            let (answer, gold) = (answer.value.shown(), gold.value.shown());
            let text = shown!("The answer is {answer}, expected {gold}: they may only differ by rounding.");
            self.argue(Reason::Rounding.word(), self.record.number_pointer(), text);
            return;
        }
        let Some(ratio) = answer.value.over(gold.value) else { return };
        let unit =
            UNITS.map(Number::whole).into_iter().find(|unit| ratio == *unit || Number::ONE.over(ratio) == Some(*unit));
        if let Some(unit) = unit {
            self.argue(Reason::Unit.word(), self.record.number_pointer(), differ_by(unit));
        }
    }
}

fn differ_by(factor: Number) -> Shown {
    shown!("Answer and expected answer differ by a factor of {}: check the unit.", factor.shown())
}

fn is_among(list: &[Number], value: Number) -> bool {
    list.iter().any(|one| one.is_near(value))
}

/// Returns a text in lower case; of anything else, nothing.
fn lower(value: Option<Value<'_>>) -> String {
    Value::text_of(value).readable().to_lowercase()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}
