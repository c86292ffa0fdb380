//! The word-problem wing: numbers, expressions, quantities, and what each step should have given.

/// Calculations as they stand in texts, found, read and worked out.
pub(crate) mod expression;
/// The gold answer: its number, and what in it cannot be right.
pub mod gold;
/// Exact numbers of bounded size.
pub mod number;
/// What number words mean.
pub(crate) mod number_words;
/// The quantities of a question, and the variables that took them up.
pub mod quantity;
/// What each step should have given, by exact calculation.
pub mod recompute;
/// Calculations as they are typeset, made into plain signs.
pub(crate) mod typeset;
