//! What people decided about records: events that are only ever appended, and the state that follows from them.
//!
//! A journal is one JSON object a line (`schemas/review.schema.json`). The state is a fold over the events in the order
//! in which they stand, never by their times; so files of several reviewers are merged by putting one behind the other,
//! and an event that stands twice counts once.

/// How far reviewers agree, blind: kappa of two and of more.
pub mod agreement;
/// Counts for the screen, each with the records that it counts.
pub mod dashboard;
/// The items on which reviewers disagree.
pub mod disagreement;
/// What a reviewer says, and what they saw.
pub mod event;
/// Verdicts as CSV, JSON lines, Markdown and text, and CSV back.
pub mod export;
/// The state that follows from the events: verdicts, outcomes, undo.
pub mod fold;
/// What is hidden until the verdict, and records without it.
pub mod hide;
/// Sets of labels over their versions.
pub mod labels;
/// An event as a line of a journal, with its checksum, and back.
pub mod log_line;
/// Which records are looked at, and in which order.
pub mod queue;
/// Whether what people passed still holds in a later run.
pub mod regression;
/// An event as programs and tables give it: `review add`.
pub mod short_form;
/// Counts over all verdicts, and how often rules and triage were right.
pub mod stats;
/// What table, filter and queue ask of the reviews of one record.
pub mod verdict_state;
