//! Adjudication: the items on which reviewers disagree.

pub mod draw;
pub mod state;
