//! The raw JSON of a record, with its findings.

pub mod draw;
pub mod state;
