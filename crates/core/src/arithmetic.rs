//! The word-problem wing: numbers, expressions, quantities, and what each step should have given.

/// Calculations in texts: found, read and worked out.
pub(crate) mod expression;
/// Expected answer: its number, and the errors in it.
pub mod gold;
/// Exact numbers of bounded size.
pub mod number;
/// Meanings of number words.
pub(crate) mod number_words;
/// The quantities of a question, and the variables that took them up.
pub mod quantity;
/// Exact recomputation of each step's result.
pub mod recompute;
/// The answer that a text states.
pub mod stated;
/// Calculations as they are typeset, made into plain signs.
pub(crate) mod typeset;
