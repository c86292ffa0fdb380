//! The word-problem wing: numbers, expressions, quantities, and what each step should have given.

/// Calculations in texts: found, read and worked out.
pub mod expression;
/// Exact numbers of bounded size.
pub mod number;
/// Meanings of number words.
pub mod number_words;
pub mod prose;
/// The quantities of a question, and the variables that took them up.
pub mod quantity;
/// The answer that a text states.
pub mod stated;
/// Calculations as they are typeset, made into plain signs.
pub mod typeset;
