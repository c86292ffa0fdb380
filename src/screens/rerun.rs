//! The re-run screen: preview, call, replies and the fork.

pub(crate) mod answer;
pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod outcome;
pub mod state;
pub(crate) mod transition;
