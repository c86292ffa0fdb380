//! What the table shows of records, and its filter language.

/// The filter language of the table.
pub mod filter;
/// Counts over all records.
pub mod insights;
/// Names of the models of records.
pub mod models;
/// Facts that the table keeps of a record: forty bytes.
pub mod row;
/// Sets of rules, each kept once for all rows.
pub mod rule_set;
/// Parts of a record that a person sees, and their places.
pub mod seen;
/// Texts that the table shows of one record.
pub mod texts;
