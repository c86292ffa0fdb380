//! Two records side by side: baseline or parent, or a fork that is not saved yet.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod making;
pub(crate) mod state;
