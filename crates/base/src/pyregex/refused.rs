//! Reasons why a text is no pattern, or a pattern does not decide.

use crate::shown;
use crate::text::Shown;

/// Reason why a text is no pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct PatternError {
    what: &'static str,
    /// The position of the character that is to blame.
    at: usize,
}

impl PatternError {
    pub(super) const fn new(what: &'static str, at: usize) -> Self {
        Self { what, at }
    }

    fn sentence(&self) -> Shown {
        shown!("{}, at character {}", self.what, self.at + 1)
    }
}

/// The pattern takes too many steps on this text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("undecided: the pattern takes too many steps on this text")]
pub struct Undecided;
