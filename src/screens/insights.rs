//! Charts of all records: every bar and cell is a filter.

pub(crate) mod draw;
pub(crate) mod keys;
pub mod state;
