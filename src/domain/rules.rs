//! The registry of rules: everything that stepscope says about a record is said by one of them.
//!
//! To add one: write it in the file of its subject below `rules/` (or a new one), with a bad and a good example, and
//! add it to [`RULES`]. A test runs every example; `stepscope rules ID` prints them.

use super::finding::{Findings, Severity};
use super::json::Problem;
use super::procedure::Procedure;
use super::record::Record;

pub mod answer;
pub mod procedure;
pub mod reading;
pub mod run;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id: subject and name, `procedure/unused`.
    pub id: &'static str,
    /// How grave its findings are.
    pub severity: Severity,
    /// What it looks for, in a sentence.
    pub summary: &'static str,
    /// Why that matters and what to do, in a few sentences.
    pub explanation: &'static str,
    /// A record (or text) in which it finds something.
    pub bad: &'static str,
    /// The same record mended: it finds nothing.
    pub good: &'static str,
    /// Looks, and says what it finds.
    pub check: fn(&Subject<'_>, &mut Findings),
}

/// What a rule looks at: a record, what was unusual while reading it, and its procedure read once for all rules.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The text of the record.
    pub text: &'a [u8],
    /// What was unusual in it.
    pub problems: &'a [Problem],
    /// The record; `None` if the text could not be read.
    pub record: Option<Record<'a>>,
    /// Its procedure.
    pub procedure: Option<Procedure<'a>>,
    /// What upstream's schema says of the procedure: only if that is nothing the five rules speak.
    pub procedure_errors: Vec<procedure::SchemaError>,
    /// Who writes and who reads what, if the procedure holds the schema.
    pub flow: Option<procedure::Flow<'a>>,
    /// The schema that answers must hold, where the user gave one; else the record's own.
    pub answer_schema: Option<&'a answer::Schema>,
}

impl<'a> Subject<'a> {
    /// Prepares a record for the rules.
    pub fn new(text: &'a [u8], problems: &'a [Problem], record: Option<Record<'a>>) -> Self {
        let procedure = record.as_ref().and_then(|record| record.procedure).map(Procedure::read);
        let procedure_errors = procedure.as_ref().map(procedure::schema_errors).unwrap_or_default();
        let flow = procedure.as_ref().filter(|_| procedure_errors.is_empty()).map(procedure::Flow::of);
        Self { text, problems, record, procedure, procedure_errors, flow, answer_schema: None }
    }

    /// With the user's own answer schema.
    #[must_use]
    pub fn answer_schema(mut self, schema: Option<&'a answer::Schema>) -> Self {
        self.answer_schema = schema;
        self
    }

    /// The procedure, if it holds upstream's schema.
    pub fn valid_procedure(&self) -> Option<&Procedure<'a>> {
        self.procedure.as_ref().filter(|_| self.procedure_errors.is_empty())
    }

    /// The procedure with its flow of variables, if it holds upstream's schema.
    pub fn valid_flow(&self) -> Option<(&Procedure<'a>, &procedure::Flow<'a>)> {
        self.valid_procedure().zip(self.flow.as_ref())
    }
}

/// Every rule, in the order in which they speak.
pub const RULES: &[&Rule] = &[
    &procedure::SCHEMA,
    &procedure::FIRST_STEP_INPUTS,
    &procedure::FINAL_STEP_OUTPUT,
    &procedure::UNRESOLVED_INPUT,
    &procedure::REDEFINED,
    &procedure::UNUSED,
    &answer::SCHEMA,
];

/// What all rules say of a record.
pub fn check(subject: &Subject<'_>) -> Findings {
    let mut findings = Findings::new();
    for rule in RULES {
        (rule.check)(subject, &mut findings);
    }
    findings
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}
