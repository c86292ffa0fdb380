//! The listed records, and how far the search for them got.

use std::time::Instant;

/// The first records that a number counts.
#[derive(Debug, Default)]
pub struct CellRecords {
    /// Filter of the number, as typed; `None`: there is no number under the cursor.
    pub(crate) filter: Option<String>,
    /// Numbers of the records in the table, at most one more than there is room for.
    pub(crate) records: Vec<usize>,
    /// The first record that was not looked at.
    pub(crate) next: usize,
    /// Time at which the next records are looked at.
    pub(crate) go_on_at: Option<Instant>,
}
