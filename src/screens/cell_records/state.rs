//! What is listed.

/// The first records that a number counts.
#[derive(Debug, Default)]
pub struct CellRecords {
    /// Numbers of the records in the table.
    pub(crate) records: Vec<usize>,
    /// True if more may follow.
    pub(crate) is_cut: bool,
}
