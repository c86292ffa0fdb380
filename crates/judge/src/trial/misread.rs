//! Test for a misread question: the plan gives gold with the question's own numbers in place of what was extracted.

use super::experiment::Experiment;
use super::{Judgement, Trial};
use crate::gold::Gold;
use crate::recompute::{ValueBasis, name_of, value_pointer};
use crate::triage::{Confidence, Fix, Reason};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::Quantity;
use stepscope_base::shown;
use stepscope_record::finding::{Datum, Finding, Severity};
use stepscope_record::rule_id::RuleId;

/// Runs that extract more values are not read otherwise.
const MAX_EXTRACTED: usize = 6;

impl Trial<'_, '_> {
    /// With the numbers that the question has in place of those that were misread, the plan gives gold.
    pub(super) fn corrected(&mut self, gold: &Gold) -> Option<Judgement> {
        let links = self.links?;
        let procedure = self.procedure?;
        let write_of = |holder: usize| {
            let holder = links.holders.get(holder)?;
            let variable = self.state.variable(&holder.name(procedure)?)?;
            self.recomputed.write(variable, holder.step)
        };
        let right = |quantity: usize| Number::from_float(links.quantities.get(quantity)?.float());
        let changed: Vec<(usize, Number)> = links
            .changed
            .iter()
            .filter_map(|changed| Some((write_of(changed.holder)?, right(changed.quantity)?)))
            .collect();
        let mut ways = vec![changed];
        // What was missed may belong where the same number stands twice, or one that is nobody's.
        for missed in links.missed.iter().filter(|missed| missed.room).take(2) {
            let Some(value) = right(missed.quantity) else { continue };
            let extracted = (0..links.holders.len()).take(MAX_EXTRACTED).filter_map(write_of);
            ways.extend(extracted.map(|write| vec![(write, value)]));
        }
        let experiment = Experiment::of(self)?;
        let gives = |others: &Vec<(usize, Number)>| !others.is_empty() && experiment.gives_with(gold, others);
        let found = ways.into_iter().find(gives)?;
        (self.recovered, self.corrected) = (Some(gold.value), true);
        self.misread_as(&found, gold, Confidence::Likely)
    }

    /// Extracted values that stand nowhere in the question, or a quantity without a value though there is a place for it:
    /// the first step was run wrongly. Where the plan itself names the value, it is not the run's fault.
    pub(super) fn misread_question(&mut self) -> Option<Judgement> {
        let links = self.links?;
        let first = self.recomputed.writes.iter().find(|write| write.basis == ValueBasis::Extracted)?;
        let of_run = |finding: &&Finding| {
            let fault = finding.details.iter().find(|(key, _)| *key == "fault");
            let run = matches!(fault, Some((_, Datum::Text(fault))) if *fault == "step_run");
            run && finding.severity < Severity::Note
        };
        let all = self.findings.iter();
        let mut found = all.clone().filter(of_run);
        let strange = [RuleId::QuantityChanged, RuleId::QuantityInvented];
        if let Some(finding) = found.clone().find(|finding| strange.contains(&finding.rule)) {
            let holder = links.changed.first().map(|changed| changed.holder).or(links.invented.first().copied());
            let step = holder.and_then(|holder| links.holders.get(holder)).map_or(first.step, |holder| holder.step);
            let (rule, pointer, text) = (finding.rule, finding.place().pointer(), finding.message.line());
            self.argue(rule.word(), pointer, text);
            return Some((Fix::StepRun, Some(step), Confidence::Unsure));
        }
        // Of an exact execution it is known what came of it.
        let numbers = || self.recomputed.writes.iter().filter(|write| write.basis == ValueBasis::Extracted);
        let read = numbers().count() > 1 && numbers().all(|write| write.recorded.is_some());
        let is_missed = |finding: &&Finding| finding.rule == RuleId::QuantityMissed;
        let nothing = self.holds_nothing();
        let missed = if nothing { all.clone().find(is_missed)? } else { found.find(is_missed)? };
        let known = self.recomputed.recovered.is_some() && self.first_slip(true).is_none();
        if !read || (known && !nothing) {
            return None;
        }
        let (pointer, text, step) = (missed.place().pointer(), missed.message.line(), first.step);
        self.argue(RuleId::QuantityMissed.word(), pointer, text);
        Some((Fix::StepRun, Some(step), Confidence::Unsure))
    }

    /// None of several extracted values is a number of the question.
    fn holds_nothing(&self) -> bool {
        let Some(links) = self.links else { return false };
        let stands = |value: Number| {
            let said =
                |quantity: &Quantity| Number::from_float(quantity.float()).is_some_and(|said| said.is_near(value));
            links.quantities.iter().any(said)
        };
        let extracted = self.recomputed.writes.iter().filter(|write| write.basis == ValueBasis::Extracted);
        let values: Vec<Number> = extracted.filter_map(|write| write.recorded).map(|number| number.value).collect();
        values.len() > 1 && links.missed.len() > 1 && !values.into_iter().any(stands)
    }

    pub(super) fn misread_as(
        &mut self,
        found: &[(usize, Number)],
        gold: &Gold,
        confidence: Confidence,
    ) -> Option<Judgement> {
        let one = |&(n, value): &(usize, Number)| {
            let write = self.recomputed.writes.get(n)?;
            let read = write.recorded.map_or_else(|| "nothing".to_owned(), |read| read.value.shown());
            Some(format!("{} = {} instead of {read}", name_of(self.state, write.variable), value.shown()))
        };
        let named: Vec<_> = found.iter().filter_map(one).collect();
        let first = self.recomputed.writes.get(found.first()?.0)?;
        let pointer = value_pointer(self.record, self.state, first)?;
        let step = first.step;
        let text = shown!("With {} the run gives {}, as expected.", named.join(" and "), gold.value.shown());
        self.argue(Reason::Misread.word(), pointer, text);
        Some((Fix::StepRun, Some(step), confidence))
    }
}
