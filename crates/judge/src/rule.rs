//! Definition of a rule: its id, its words, its examples, and what it looks at.

use crate::case::CaseView;
use stepscope_record::finding::Findings;
use stepscope_record::rule_id::RuleId;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its row in the table of rules.
    pub id: RuleId,
    /// Subject of the rule, in a sentence.
    pub summary: &'static str,
    /// Explanation: why that matters and what to do, in a few sentences.
    pub explanation: &'static str,
    /// A record (or text) in which it finds something; see [`crate::rules::example`].
    pub bad: &'static str,
    /// The same record mended: it finds nothing.
    pub good: &'static str,
    /// Looks, and says what it finds.
    pub check: fn(&CaseView<'_>, &mut Findings),
}
