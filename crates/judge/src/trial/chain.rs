//! Where a chain of thought went wrong: its equations tell, and where they all hold, the expected solution.

use super::{Judgement, Trial};
use crate::rightness::Rightness;
use crate::triage::{Confidence, Fix, Reason};
use stepscope_base::json::Pointer;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::finding::Severity;
use stepscope_record::rule_id::RuleId;

/// Longest words of an answer that are quoted.
const MAX_WORDS: usize = 60;

impl Trial<'_, '_> {
    /// A chain that is not known to be right.
    pub(super) fn chain(&mut self) -> Judgement {
        let gold = self.gold.clone();
        if let Some(step) = self.first_slip(true) {
            let recovered = self.recomputed.recovered;
            let gives = gold.as_ref().zip(recovered).filter(|(gold, recovered)| Self::is_gold(gold, *recovered));
            let Some((gold, _)) = gives else { return (Fix::StepRun, Some(step), Confidence::Likely) };
            let corrected = match self.slips(false).len() {
                1 => Shown::own("this one step"),
                several => shown!("these {several} steps"),
            };
            let text = shown!("With {corrected} corrected the chain gives {}, as expected.", gold.value.shown());
            self.recovered = Some(gold.value);
            self.argue(RuleId::Recompute.word(), self.record.number_pointer(), text);
            return (Fix::StepRun, Some(step), Confidence::Sure);
        }
        let last = self.procedure.and_then(|procedure| procedure.steps.len().checked_sub(1));
        if let Some(verdict) = self.argue_contradiction(last) {
            return verdict;
        }
        let is_wrong = gold.is_some() || self.record.correct == Some(false);
        if !is_wrong {
            let text = Shown::own("There is no expected number, and the chain does not contradict itself.");
            self.argue(Reason::Unknown.word(), Pointer::from_iter(["procedure", "steps"]), text);
            return (Fix::Unknown, None, Confidence::Unsure);
        }
        let verdict = Rightness::by(gold.as_ref(), self.record, || &self.recomputed.answer).verdict();
        if let (Some(words), Some(gold), None) = (self.recomputed.answer.words(), &gold, verdict) {
            let words = Untrusted::from(words).line().cut(MAX_WORDS);
            let text = shown!("It cannot be told whether \"{words}\" is the expected {}.", gold.value.shown());
            self.argue(Reason::Unknown.word(), self.record.number_pointer(), text);
            return (Fix::Unknown, None, Confidence::Unsure);
        }
        if self.answer.is_none() && self.record.correct != Some(false) {
            let text = Shown::own("The chain ends with no number that could be read.");
            self.argue(Reason::Unknown.word(), self.record.number_pointer(), text);
            return (Fix::Unknown, None, Confidence::Unsure);
        }
        self.missed_quantities();
        if let Some(step) = gold.as_ref().and_then(|gold| self.departs_from_gold(gold)) {
            return (Fix::Procedure, Some(step), Confidence::Unsure);
        }
        let is_missed = |rule: RuleId, severity| rule == RuleId::QuantityMissed && severity < Severity::Note;
        if self.findings.iter().any(|finding| is_missed(finding.rule, finding.severity)) {
            return (Fix::Procedure, None, Confidence::Unsure);
        }
        let answer = self.answer.map_or_else(|| "not a number".to_owned(), |answer| answer.value.shown());
        let words = self.recomputed.answer.words().filter(|words| *words != answer);
        let words = words.map(|words| shown!(" (\"{}\")", Untrusted::from(words).line().cut(MAX_WORDS)));
        let expected = gold.map(|gold| shown!(", expected {}", gold.value.shown())).unwrap_or_default();
        let text = shown!(
            "The answer is {answer}{}{expected}; {}, so the record does not show why.",
            words.unwrap_or_default(),
            match self.recomputed.writes.iter().filter(|write| write.plan.is_some() && !write.is_statement()).count() {
                0 => Shown::own("no equation in the chain could be read"),
                1 => Shown::own("the one equation that could be read in it is right"),
                count => shown!("the {count} equations that could be read in it are right"),
            }
        );
        self.argue(Reason::Unknown.word(), self.record.number_pointer(), text);
        (Fix::Unknown, None, Confidence::Unsure)
    }
}
