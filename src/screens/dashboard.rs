//! The review dashboard: every number is a filter.

pub mod draw;
pub mod state;
