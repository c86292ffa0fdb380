//! The run screen: steps, global state and findings, with time travel and overrides.

pub mod draw;
pub mod edit;
pub mod edits;
pub mod findings;
pub mod layout;
pub mod question;
pub mod state;
pub mod step;
pub mod steps;
pub mod variables;
