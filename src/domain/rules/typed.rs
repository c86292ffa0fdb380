//! What can be wrong with a typed answer beside its spans: its form, its flags, its values, and where it came from.
//!
//! The checks that the pipeline publishes and breaches of its contract are real; what is only suspicious is a warning;
//! pure hints are notes.

pub mod contract;
pub mod flags;
pub mod source;
pub mod values;

use super::Rule;
use crate::domain::finding::{Finding, Findings, Place};
use crate::domain::text::Untrusted;

/// So many findings of one rule in one answer are listed.
pub const MAX_FINDINGS: usize = 1_000;

/// Findings of one rule, up to a limit that the last one speaks of.
struct Report<'f> {
    rule: &'static Rule,
    help: &'static str,
    findings: &'f mut Findings,
    count: usize,
}

impl<'f> Report<'f> {
    const fn new(rule: &'static Rule, help: &'static str, findings: &'f mut Findings) -> Self {
        Self { rule, help, findings, count: 0 }
    }

    /// One more finding, for labels and details; `None` if there are too many already.
    fn add(&mut self, message: impl Into<Untrusted<'static>>, place: Place) -> Option<&mut Finding> {
        self.count += 1;
        if self.count > MAX_FINDINGS {
            return None;
        }
        self.findings.push(Finding::new(self.rule.id, self.rule.severity, message, place).help(self.help));
        self.findings.last_mut()
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        let more = self.count.saturating_sub(MAX_FINDINGS);
        if let (1.., Some(last)) = (more, self.findings.last_mut()) {
            let message = String::from_utf8_lossy(last.message.bytes()).into_owned();
            last.message = format!("{message} And {more} more of this sort.").into();
        }
    }
}
