//! Every judgment of a record: the case that answers for it, rules, recomputed values, the place to fix, and the route.
//!
//! Law: knows no files, no network, no async and no terminal; says nothing that was not read.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// Values of a run next to those of other runs of its question.
pub mod aligned;
/// One record and everything that can be said of it.
pub mod case;
/// Cause of a failure, the same word for what failed in the same way.
pub mod cause;
/// A chain of thought as a run: its texts as steps, their calculations as values.
pub mod chain;
/// Signs in the cited lines that a list is not whole.
mod clues;
/// The published contract of structured answers, and who would take what does not hold it.
mod contract;
/// Lists of a record of which only the beginning is read.
mod excess;
/// Expected answer: its number, and the errors in it.
pub mod gold;
/// Fields hidden until the verdict, and records without them.
pub mod hide;
/// Judgments of a case: findings, what its peers say, where to fix it, and its route.
mod judged;
/// Values that got lost between the steps.
mod lost;
/// Another run of the same question, and the opinion that peers have of a run.
pub mod peer;
/// Peers of a run asked: where it leaves them, and what they answer.
mod peers;
/// Quantities of the question, linked to the variables that took them up.
pub mod quantity_links;
/// Exact recomputation of each step's result.
pub mod recompute;
/// Verdict on whether a run is right, and who gave it.
pub mod rightness;
/// Route of a structured answer, and its reasons.
pub mod route;
/// Decision on the route of a structured answer.
mod routing;
/// Facts that the table keeps of a record: forty bytes.
pub mod row;
/// Rule: its id, words, examples and check.
pub mod rule;
/// Sets of rules, each kept once for all rows.
pub mod rule_set;
/// The registry of rules.
pub mod rules;
/// Form of a slip: how a wrong value differs from the right one.
pub mod slip_form;
/// Values of answers against the lines that they cite.
pub mod support;
/// Texts that the table shows of one record.
pub mod texts;
/// Place to fix in a wrong run, and the reasons.
pub mod triage;
/// Trial of a run: everything that is looked at to find the place to fix.
mod trial;
/// An answer object against a JSON Schema, in evoproc's words.
pub mod validation;
