//! What records *are*, and every judgment of them.
//!
//! Law: knows no files, no network, no async and no terminal.

/// Structured answers: documents, citations, contract, dates, currencies, generation and route.
pub mod answer;
/// The word-problem wing: numbers, expressions, quantities, and what each step should have given.
pub mod arithmetic;
/// One record and everything that can be said of it.
pub mod case;
/// Two runs of the same questions, joined and counted.
pub mod compare;
/// Lists of a record of which only the beginning is read.
pub(crate) mod excess;
/// Findings: what is said about a record, and where.
pub mod finding;
/// Overlapping marks made into segments.
pub mod paint;
/// Runs of the same question side by side.
pub mod peers;
/// A procedure as it stands in a record.
pub mod procedure;
/// One record, whatever its format.
pub mod record;
/// Reports of what was found: text, short lines, JSON lines, SARIF, pages, Markdown, tables and charts.
pub mod report;
/// Decisions of people about records: events, and the state that follows.
pub mod review;
/// Verdict on whether a run is right, and who gave it.
pub mod rightness;
/// The registry of rules.
pub mod rules;
/// A run over time: the global state, what was recorded, forks and re-runs.
pub mod run;
/// The JSON Schemas that are part of the program.
pub mod schemas;
/// The few statistics that reviews and comparisons need.
pub mod statistics;
/// Summary of a record, kept to review it and to compare it.
pub mod summary;
/// Table of records: what it shows, and its filter language.
pub mod table;
/// Place to fix in a wrong run, and the reasons.
pub mod triage;
/// Verifiers: a completion in, a reward out.
pub mod verify;
