//! The re-run screen: preview, call, replies and the fork.

pub mod answer;
pub mod draw;
pub mod keys;
pub mod leg;
pub mod outcome;
pub mod state;
