//! Adjudication: the items on which reviewers disagree.

pub(crate) mod draw;
pub(crate) mod keys;
pub(crate) mod labels;
pub(crate) mod state;
