//! Two records side by side: baseline or parent, or a fork that is not saved yet.

pub mod draw;
pub mod keys;
pub mod making;
pub mod state;
