//! Decisions of people about records: events that are only ever appended, and the state that follows from them.
//!
//! A journal is one JSON object a line (`schemas/review.schema.json`). The state is a fold over the events in the order
//! in which they stand, never by their times; so files of several reviewers are merged by putting one behind the other,
//! and an event that stands twice counts once.
//!
//! Law: events are only ever appended; the state follows from them. Knows no files, no network, no terminal.

/// Agreement of reviewers who judge blind: kappa of two and of more.
pub mod agreement;
/// Rows and cells of a CSV.
mod cells;
/// Counts for the screen, each with the records that it counts.
pub mod dashboard;
/// The items on which reviewers disagree.
pub mod disagreement;
/// Numbers by which chance orders a queue.
mod draw;
/// Accuracy of all records, estimated from verdicts on some.
mod estimate;
/// Events: what a reviewer says, and what they saw.
pub mod event;
/// Events in little memory.
pub mod event_list;
/// Verdicts as CSV, JSON lines, Markdown and text.
pub mod export;
/// The finding that a review makes of a record.
pub mod finding;
/// The state that follows from the events: verdicts, outcomes, undo.
pub mod fold;
/// A CSV of verdicts, read.
pub mod import;
/// Reviews and records brought together.
pub mod join;
/// Sets of labels over their versions.
pub mod labels;
/// An event as a line of a review log, with its checksum, and back.
pub mod log_line;
/// Several records of one name: which of them each event is about.
mod name_group;
/// Records that share a name, found by it.
pub mod namesakes;
/// Selection and order of the records to review.
pub mod queue;
/// Regressions: passed items that do not pass any more in a later run.
pub mod regression;
/// The short form of an event, as programs and tables give it to `stepscope review add`.
pub mod short_form;
/// Judgment of the program on a record, without a person.
mod signal;
/// Counts over all verdicts, and how often the rules and the place to fix were right.
pub mod stats;
/// Summary of a record, kept to review it and to compare it.
pub mod summary;
#[cfg(test)]
pub(crate) mod testing;
/// State of the reviews of one record, for table, filter and queue.
pub mod verdict_state;
