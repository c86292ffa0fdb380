//! The records that the number under the cursor counts, next to the charts where there is room for a third column: the
//! first of those that `Enter` lists.

pub(crate) mod draw;
pub(crate) mod keys;
pub mod state;
