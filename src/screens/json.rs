//! The raw JSON of a record, with its findings.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;
