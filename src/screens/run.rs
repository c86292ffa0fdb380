//! The run screen: steps, global state and findings, with time travel and overrides.

pub(crate) mod draw;
pub(crate) mod edit;
pub(crate) mod edits;
pub(crate) mod find;
pub(crate) mod findings;
pub(crate) mod keys;
pub mod layout;
pub mod pane;
pub(crate) mod pane_def;
pub(crate) mod panes;
pub(crate) mod question;
pub mod state;
pub(crate) mod step;
pub(crate) mod steps;
pub(crate) mod timeline;
pub(crate) mod tracks;
pub(crate) mod variables;
