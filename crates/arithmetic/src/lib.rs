//! Numbers, calculations and quantities as texts have them, and the calculations that sentences ask for.
//!
//! Law: knows texts and numbers only: no record, no files, no network, no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// Calculations in texts: found, read and worked out.
pub mod expression;
/// Exact numbers of bounded size.
pub mod number;
/// Meanings of number words.
pub mod number_words;
/// Calculations that sentences ask for in words.
pub mod prose;
/// The quantities of a question, and the variables that took them up.
pub mod quantity;
/// Digits, letters and powers of ten of other scripts.
pub mod scripts;
/// The answer that a text states.
pub mod stated;
/// Calculations as they are typeset, made into plain signs.
pub mod typeset;
