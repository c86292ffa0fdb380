//! What the table shows of records, and its filter language.

/// The filter language of the table.
pub mod filter;
/// Counts over all records.
pub mod insights;
/// What the table keeps of a record: forty bytes.
pub mod row;
/// What of a record a person sees, and where.
pub mod seen;
/// What the table shows of one record.
pub mod texts;
