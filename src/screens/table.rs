//! The table of records: order, filter, find and the rows on screen.

pub mod draw;
pub mod matches;
pub mod order;
pub mod search;
pub mod state;
