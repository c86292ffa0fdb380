//! The comparison with a baseline: every cell is a filter.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod state;
