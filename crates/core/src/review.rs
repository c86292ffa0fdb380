//! What people decided about records: events that are only ever appended, and the state that follows from them.
//!
//! A journal is one JSON object a line (`schemas/review.schema.json`). The state is a fold over the events in the order
//! in which they stand, never by their times; so files of several reviewers are merged by putting one behind the other,
//! and an event that stands twice counts once.

pub mod agreement;
pub mod dashboard;
pub mod event;
pub mod export;
pub mod fold;
pub mod hide;
pub mod labels;
pub mod log_line;
pub mod queue;
pub mod regression;
pub mod short_form;
pub mod stats;
pub mod verdict_state;
