//! Words beside numbers: units, verbs, and words that stand for an equals sign.

/// Number of words that may be between a number and the next operator, as its unit.
pub(super) const MAX_UNIT_WORDS: usize = 3;
/// Words that replace an equals sign between a calculation and its result.
pub(super) const IS: [&str; 6] = ["is", "equals", "equal", "gives", "makes", "totals"];
/// Letters that are units behind a number, and no unknowns.
pub(super) const SHORT_UNITS: [&str; 10] = ["g", "m", "l", "h", "L", "kg", "km", "cm", "mm", "ml"];

/// Tells whether a word is a verb or a preposition, and thus no unit.
pub(super) fn is_verb(word: &str) -> bool {
    IS.contains(&word) || matches!(word, "are" | "was" | "were" | "be" | "to" | "by" | "from" | "has" | "have")
}

/// Tells whether a word behind a number can be its unit: "5 million" is no five, "1e3" no one.
pub(super) fn may_be_unit(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let percent = matches!(lower.as_str(), "percent" | "percentage");
    let scale = matches!(
        lower.as_str(),
        "k" | "mn"
            | "bn"
            | "dozen"
            | "hundred"
            | "thousand"
            | "million"
            | "billion"
            | "lakh"
            | "lakhs"
            | "crore"
            | "crores"
    );
    !percent && !scale && !word.bytes().any(|byte| byte.is_ascii_digit())
}
