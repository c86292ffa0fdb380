//! Table of records: what it shows of them, and its filter language.
//!
//! Law: knows no files, no network, no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// The filter language of the table.
pub mod filter;
/// Counts over all records.
pub mod insights;
/// Comparisons of numbers.
mod operator;
/// Parts of a record that a person sees, and their places.
pub mod seen;
/// Conditions on the values of a record.
mod watch;
