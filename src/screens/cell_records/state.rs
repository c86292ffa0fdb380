//! What is listed.

/// The first records that a number counts.
#[derive(Debug, Default)]
pub struct CellRecords {
    /// By their numbers in the table.
    pub(crate) records: Vec<usize>,
    /// More may follow.
    pub(crate) is_cut: bool,
}
