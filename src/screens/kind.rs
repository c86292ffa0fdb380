//! The screens by their names alone.

use crate::widgets::keymap::Context;

stepscope_base::words! {
    /// A screen by its name alone: what fills the space between the first line and the last two.
    #[derive(Default)]
    pub enum ScreenKind {
        /// The table of records; it lies below all others.
        #[default]
        Table = "table",
        /// One run.
        Run = "run",
        /// One structured answer with its citations.
        Answer = "answer",
        /// One record as JSON.
        Json = "json",
        /// A re-run of a step or an answer.
        Rerun = "re-run",
        /// The comparison with a baseline.
        Compare = "compare",
        /// Two records side by side.
        SideBySide = "side by side",
        /// The dashboard of the reviews.
        Dashboard = "dashboard",
        /// The items on which reviewers disagree.
        Adjudication = "adjudicate",
        /// Charts of all records.
        Insights = "insights",
    }
}

impl ScreenKind {
    /// Returns the context in which its keys are looked up.
    pub const fn context(self) -> Context {
        match self {
            Self::Table => Context::Table,
            Self::Run => Context::Run,
            Self::Answer => Context::Answer,
            Self::Json => Context::Json,
            Self::Rerun => Context::Rerun,
            Self::Compare => Context::Compare,
            Self::SideBySide => Context::SideBySide,
            Self::Dashboard => Context::Dashboard,
            Self::Adjudication => Context::Adjudication,
            Self::Insights => Context::Insights,
        }
    }

    /// Tells whether it shows one record of the table, which stays open below what lies over it.
    pub const fn is_of_record(self) -> bool {
        matches!(self, Self::Run | Self::Answer | Self::Json | Self::Rerun)
    }

    /// Tells whether it shows the record itself, or its row: verdicts are given there.
    pub const fn is_judged_on(self) -> bool {
        matches!(self, Self::Table | Self::Run | Self::Answer | Self::Json)
    }

    /// Tells whether it is worked out from all records together.
    pub const fn is_of_all(self) -> bool {
        matches!(self, Self::Compare | Self::Dashboard | Self::Adjudication | Self::Insights)
    }

    /// Tells whether its numbers count records, which are listed next to them where there is room.
    pub const fn counts_records(self) -> bool {
        matches!(self, Self::Compare | Self::Dashboard | Self::Insights)
    }
}
