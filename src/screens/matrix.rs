//! The comparison with a baseline: every cell is a filter.

pub mod draw;
pub mod state;
