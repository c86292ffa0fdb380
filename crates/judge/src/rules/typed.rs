//! Rules for structured answers, apart from their citations: form, flags, values and origin.
//!
//! The checks that the pipeline publishes and breaches of its contract are real; what is only suspicious is a warning;
//! pure hints are notes.

pub(crate) mod computed;
pub(crate) mod conflict;
pub(crate) mod contract;
pub(crate) mod evidence;
pub(crate) mod flags;
pub(crate) mod source;
pub(crate) mod values;

use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Finding, Findings, Place};
use stepscope_record::rule_id::RuleId;

/// Findings of one rule.
struct Report<'f> {
    rule: RuleId,
    help: &'static str,
    findings: &'f mut Findings,
}

impl<'f> Report<'f> {
    const fn new(rule: RuleId, help: &'static str, findings: &'f mut Findings) -> Self {
        Self { rule, help, findings }
    }

    /// One more finding, for labels and details; `None` if there are too many already.
    fn add(&mut self, message: impl Into<Untrusted<'static>>, place: Place) -> Option<&mut Finding> {
        self.findings.push(Finding::new(self.rule, message, place).help(self.help))
    }
}
