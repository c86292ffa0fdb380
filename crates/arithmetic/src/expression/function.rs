//! Functions that a calculation calls by their names: `min(a, b)`.

use super::tree::{Operation, Single};

/// Something that is done with what stands in parentheses behind it.
#[derive(Clone, Copy)]
pub(super) enum Function {
    Fold(Operation),
    Single(Single),
    /// With a second number, so many decimals: people write numbers that way anyhow.
    Round,
}

/// Returns the function that a word names.
pub(super) fn function(word: &str) -> Option<Function> {
    Some(match word.to_ascii_lowercase().as_str() {
        "min" => Function::Fold(Operation::Minimum),
        "max" => Function::Fold(Operation::Maximum),
        "sum" => Function::Fold(Operation::Add),
        "abs" => Function::Single(Single::Magnitude),
        "floor" | "int" => Function::Single(Single::Floor),
        "ceil" | "ceiling" => Function::Single(Single::Ceil),
        "round" => Function::Round,
        _ => return None,
    })
}
