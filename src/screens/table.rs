//! The table of records: order, filter, find and the rows on screen.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod matches;
pub(crate) mod order;
pub(crate) mod preview;
pub(crate) mod search;
pub mod state;
