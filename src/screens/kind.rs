//! The screens by their names alone.

use crate::widgets::keymap::Context;

/// A screen by its name alone: what fills the space between the first line and the last two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScreenKind {
    /// The table of records; it lies below all others.
    #[default]
    Table,
    /// One run.
    Run,
    /// One structured answer with its citations.
    Evidence,
    /// One record as JSON.
    Json,
    /// A re-run of a step or an answer.
    Rerun,
    /// The comparison with a baseline.
    Matrix,
    /// Two records side by side.
    Versus,
    /// The dashboard of the reviews.
    Boards,
    /// The items on which reviewers disagree.
    Disputes,
}

impl ScreenKind {
    /// All, each once.
    pub const ALL: [Self; 9] = [
        Self::Table,
        Self::Run,
        Self::Evidence,
        Self::Json,
        Self::Rerun,
        Self::Matrix,
        Self::Versus,
        Self::Boards,
        Self::Disputes,
    ];

    /// The context in which its keys are looked up.
    pub const fn context(self) -> Context {
        match self {
            Self::Table => Context::Table,
            Self::Run => Context::Run,
            Self::Evidence => Context::Evidence,
            Self::Json => Context::Json,
            Self::Rerun => Context::Rerun,
            Self::Matrix => Context::Matrix,
            Self::Versus => Context::Versus,
            Self::Boards => Context::Boards,
            Self::Disputes => Context::Disputes,
        }
    }

    /// The word in the first line that names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Run => "run",
            Self::Evidence => "answer",
            Self::Json => "json",
            Self::Rerun => "re-run",
            Self::Matrix => "matrix",
            Self::Versus => "side by side",
            Self::Boards => "boards",
            Self::Disputes => "adjudication",
        }
    }

    /// It shows one record of the table, which stays open below what lies over it.
    pub const fn is_of_record(self) -> bool {
        matches!(self, Self::Run | Self::Evidence | Self::Json | Self::Rerun)
    }

    /// It shows the record itself, or its row: verdicts are given there.
    pub const fn is_judged_on(self) -> bool {
        matches!(self, Self::Table | Self::Run | Self::Evidence | Self::Json)
    }

    /// It is worked out from all records together.
    pub const fn is_of_all(self) -> bool {
        matches!(self, Self::Matrix | Self::Boards | Self::Disputes)
    }
}
