//! The screens by name alone, a row each. What they are is in their folders.

use crate::widgets::keymap::Context;

/// Hands the rows of all screens to a macro: name, word, subject, and the folder whose `SCREEN` it is. The names are made
/// of them here, and the way from a name to its definition in `defs`: so state and keys, which know the names, do not
/// know the screens. Its keys have the context of the same name.
macro_rules! screen_rows {
    ($make:ident) => {
        $make! {
            /// The table of records; it lies below all others.
            #[default]
            Table = "table", Rows, table;
            /// One run.
            Run = "run", Record, run;
            /// One structured answer with its citations.
            Answer = "answer", Record, answer;
            /// One record as JSON.
            Json = "json", Record, json;
            /// A re-run of a step or an answer.
            Rerun = "re-run", Rerun, rerun;
            /// A run that is being made.
            Live = "live run", Made, live;
            /// The comparison with a baseline.
            Compare = "compare", Counts, compare;
            /// Two records side by side.
            SideBySide = "side by side", Pair, side_by_side;
            /// The dashboard of the reviews.
            Dashboard = "dashboard", Counts, dashboard;
            /// The items on which reviewers disagree.
            Adjudication = "adjudicate", Disagreements, adjudication;
            /// Charts of all records.
            Insights = "insights", Counts, insights;
        }
    };
}
pub(crate) use screen_rows;

/// Subject of a screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    /// The rows of the records.
    Rows,
    /// One record of the table, which stays open below what lies over it.
    Record,
    /// The open record, run again.
    Rerun,
    /// A record that is being made.
    Made,
    /// Two records.
    Pair,
    /// Verdicts of reviewers that differ, of all records.
    Disagreements,
    /// Counts of all records, which are listed next to them where there is room.
    Counts,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $subject:ident, $folder:ident;)+) => {
        stepscope_base::words! {
            /// A screen by its name alone: what fills the space between the first line and the last two.
            #[derive(Default)]
            pub enum ScreenKind { $($(#[$doc])* $name = $word),+ }
        }

        impl ScreenKind {
            const fn subject(self) -> Subject {
                match self { $(Self::$name => Subject::$subject),+ }
            }

            /// Returns the context in which its keys are looked up.
            pub const fn context(self) -> Context {
                match self { $(Self::$name => Context::$name),+ }
            }
        }
    };
}
screen_rows!(names);

impl ScreenKind {
    /// Tells whether it shows one record of the table, which stays open below what lies over it.
    pub const fn is_of_record(self) -> bool {
        matches!(self.subject(), Subject::Record | Subject::Rerun)
    }

    /// Tells whether it shows the record itself, or its row: verdicts are given there.
    pub const fn is_judged_on(self) -> bool {
        matches!(self.subject(), Subject::Rows | Subject::Record)
    }

    /// Tells whether it is worked out from all records together.
    pub const fn is_of_all(self) -> bool {
        matches!(self.subject(), Subject::Disagreements | Subject::Counts)
    }

    /// Tells whether its numbers count records, which are listed next to them where there is room.
    pub const fn counts_records(self) -> bool {
        matches!(self.subject(), Subject::Counts)
    }
}
