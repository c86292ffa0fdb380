//! The review dashboard: every number is a filter.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;
