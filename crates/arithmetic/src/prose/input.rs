//! Inputs of a step as its sentence names them, and words that no reading knows what to do with.

use super::words::{Word, parts, stem};
use crate::number::Number;

/// A variable that the step reads.
#[derive(Clone, Debug)]
pub struct Input<'t> {
    /// Its number in the expression that is made.
    pub id: u32,
    /// Its name in the sentence.
    pub name: &'t str,
    /// Its name in the procedure.
    pub variable: &'t str,
    /// Description of the variable.
    pub description: &'t str,
    /// Its recorded value.
    pub value: Option<Number>,
    /// It is what the step before gave.
    pub running: bool,
}

/// Words by which an operation is done otherwise than these readings know.
pub(super) const BLOCKED: &[&str] = stepscope_base::list![
    not except unless if either maximum minimum largest smallest larger smaller round rounded rounding ceiling
    nearest remainder modulo squared square cube power root respectively excluding complement equation solve solving
    ratio proportion respective corresponding weighted compound interest twofold until first without ignoring undo undoing
    backwards turn drop dropping discard discarding scale scaling scaled project projecting extrapolate annualize advance account
    accounting
];

/// Tells whether a word does something with a number that is no operation of its own: "its reciprocal", "doubles".
pub(super) fn multiplies(word: &Word<'_>) -> bool {
    const STEMS: [&str; 6] = ["doubl", "halv", "tripl", "quadrupl", "reciprocal", "inverse"];
    STEMS.iter().any(|stem| word.lower.starts_with(stem))
}

/// Tells whether a word is one of an input's name or description.
pub(super) fn mentions(input: &Input<'_>, word: &str) -> bool {
    let word = stem(word);
    parts(input.name).chain(parts(input.description)).any(|part| part == word)
}
