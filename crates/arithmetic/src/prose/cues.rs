//! The words that ask for an operation.

use std::ops::Range;

use super::words::Word;
use crate::expression::Operation;
use crate::number_words::{NumberWord, number_word};

/// An operation word and the words that belong to it.
pub(super) type CueAt = (Cue, Range<usize>);

/// Operation that an operation word asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cue {
    /// A verb or noun with its operands behind it: sum, product.
    All(Operation),
    /// `subtract b from a`
    Subtract,
    /// `divide a by b`
    Divide,
    /// `share a equally among b`
    Share,
    /// `reduce a by b`, `increase a by b`
    Change(Operation),
    /// `the difference between a and b`
    Difference,
    /// `the average of`
    Average,
    /// Between two operands; with `true` they are in reverse order.
    Infix(Operation, bool),
    /// `twice`, `half`
    Factor(i64, i64),
    /// `as a percentage of`
    Percent,
    /// `how many more`
    Excess,
    /// `what is left of a after b is taken off`
    Remains,
    /// `convert … to hours`
    Convert,
}

/// Words before "less" that make it compare and not subtract.
const NOT_BEFORE_LESS: &[&str] =
    stepscope_base::list![the a an or and no not any much many far even is are was were be been has costs how percent];

/// Every operation word from a place on; the words that belong to it are in the range.
pub(super) fn cues(words: &[Word<'_>], from: usize) -> Vec<CueAt> {
    let mut cues = Vec::new();
    let mut at = from;
    while at < words.len() {
        match cue(words, at) {
            Some((cue, len)) => {
                cues.push((cue, at..at + len));
                at += len;
            }
            None => at += 1,
        }
    }
    cues
}

pub(super) fn cue(words: &[Word<'_>], at: usize) -> Option<(Cue, usize)> {
    let word = |n: usize| words.get(n).map_or("", |word| word.lower.as_ref());
    let (before, here, next) = (at.checked_sub(1).map_or("", word), word(at), word(at + 1));
    let noun = matches!(before, "the" | "this" | "that") && !matches!(next, "of" | "all");
    let of = usize::from(next == "of");
    Some(match here {
        "add" | "adding" | "combine" | "combining" | "summing" | "totaling" => (Cue::All(Operation::Add), 1),
        "sum" if !noun && !matches!(next, "by" | "from" | "") => {
            (Cue::All(Operation::Add), 1 + usize::from(matches!(next, "of" | "up")))
        }
        "total" if next == "of" && (at == 0 || lists(words, at + 2)) => (Cue::All(Operation::Add), 2),
        "put" | "putting" if words.iter().skip(at).any(|word| word.lower == "together") => {
            (Cue::All(Operation::Add), 1)
        }
        "goes" | "go" | "fit" | "fits" if matches!(next, "into" | "in") => (Cue::Infix(Operation::Divide, true), 2),
        "left" | "remains" | "remaining" if next == "of" && takes_off(words, at) => (Cue::Remains, 2),
        "multiply" | "multiplying" => (Cue::All(Operation::Multiply), 1),
        "product" if next == "of" => (Cue::All(Operation::Multiply), 2),
        "subtract" | "subtracting" | "deduct" | "deducting" => (Cue::Subtract, 1),
        "remove" | "removing" if words.iter().skip(at).any(|word| word.lower == "from") => (Cue::Subtract, 1),
        "take" | "taking" if next == "away" => (Cue::Subtract, 2),
        "take" | "taking"
            if words.iter().skip(at + 2).take(9).any(|word| matches!(word.lower.as_ref(), "from" | "away")) =>
        {
            (Cue::Subtract, 1)
        }
        // "Take 20% off the price"
        "take" | "taking"
            if words.get(at + 1).is_some_and(Word::is_percent)
                && words.iter().skip(at + 2).take(3).any(|word| word.lower == "off") =>
        {
            (Cue::Subtract, 1)
        }
        "divide" | "dividing" => {
            let ahead = words.iter().skip(at).take(12).map(|word| word.lower.as_ref());
            let shared = ahead.clone().any(|word| matches!(word, "among" | "between"))
                && !ahead.clone().any(|word| word == "by");
            (if shared { Cue::Share } else { Cue::Divide }, 1)
        }
        "split" | "splitting" | "share" | "sharing" | "distribute" | "distributing" => {
            let equal = words.iter().any(|word| matches!(word.lower.as_ref(), "equally" | "evenly" | "equal"));
            equal.then_some((Cue::Share, 1))?
        }
        "quotient" | "ratio" if next == "of" => (Cue::Divide, 2),
        "remainder" if next == "of" && word(at + 2) != "dividing" => (Cue::Divide, 2),
        "difference" if matches!(next, "between" | "of") => (Cue::Difference, 2),
        "average" | "mean" if next == "of" => (Cue::Average, 2),
        "averaging" => (Cue::Average, 1),
        "reduce" | "reducing" | "decrease" | "decreasing" | "lower" => (Cue::Change(Operation::Subtract), 1),
        "increase" | "increasing" if matches!(before, "" | "by" | "and" | "then") => (Cue::Change(Operation::Add), 1),
        "convert" | "converting" => (Cue::Convert, 1),
        "plus" => (Cue::Infix(Operation::Add, false), 1),
        "minus" | "exceeds" => (Cue::Infix(Operation::Subtract, false), 1),
        // "the price less the discount"; "no less", "the less expensive one".
        "less" if !matches!(next, "than" | "") && !NOT_BEFORE_LESS.contains(&before) => {
            (Cue::Infix(Operation::Subtract, false), 1)
        }
        "times" if !matches!(before, "of" | "many" | "at" | "") => (Cue::Infix(Operation::Multiply, false), 1),
        "multiplied" if next == "by" => (Cue::Infix(Operation::Multiply, false), 2),
        "divided" if next == "by" => (Cue::Infix(Operation::Divide, false), 2),
        "modulo" | "mod" => (Cue::Infix(Operation::Remainder, false), 1),
        "increased" if next == "by" => (Cue::Infix(Operation::Add, false), 2),
        "decreased" | "reduced" if next == "by" => (Cue::Infix(Operation::Subtract, false), 2),
        "added" if next == "to" => (Cue::Infix(Operation::Add, false), 2),
        "subtracted" if next == "from" => (Cue::Infix(Operation::Subtract, true), 2),
        "many" | "much" if before == "how" && matches!(next, "more" | "fewer" | "less") => (Cue::Excess, 2),
        "more" | "greater" | "older" | "longer" | "taller" | "heavier" if next == "than" => {
            (Cue::Infix(Operation::Add, false), 2)
        }
        "fewer" | "less" | "younger" | "shorter" | "lighter" if next == "than" => {
            (Cue::Infix(Operation::Subtract, true), 2)
        }
        "percentage" | "percent" if before == "a" && next == "of" => (Cue::Percent, 2),
        "of" if words.get(at.checked_sub(1)?).is_some_and(is_share) => (Cue::Infix(Operation::Multiply, false), 1),
        "halve" | "halving" => (Cue::Factor(1, 2), 1),
        _ => match number_word(here.as_bytes())? {
            // "The doubled price" asks for nothing.
            NumberWord::Multiple(n) if !here.ends_with(['d', 's']) => (Cue::Factor(n.into(), 1), 1 + of),
            NumberWord::Half
                if here == "half"
                    && super::units::unit(next).is_none()
                    && (next == "of" || !matches!(before, "and" | "the" | "a" | "one")) =>
            {
                (Cue::Factor(1, 2), 1 + of)
            }
            NumberWord::Nth(n, false) if of == 1 && matches!(before, "a" | "one") => (Cue::Factor(1, n.into()), 2),
            _ => return None,
        },
    })
}

/// Tells whether several things are listed from a position on.
fn lists(words: &[Word<'_>], from: usize) -> bool {
    words.iter().skip(from).take_while(|word| !word.stop).any(|word| word.lower == "and")
}

/// Tells whether the sentence later says what is subtracted: `after`, `once`.
fn takes_off(words: &[Word<'_>], from: usize) -> bool {
    let says = |word: &Word<'_>| matches!(word.lower.as_ref(), "after" | "once" | "when");
    words.iter().skip(from + 1).take_while(|word| !word.stop).any(says)
}

/// Tells whether "of" behind a word takes a share: `20% of`, `2/3 of`.
pub(super) fn is_share(word: &Word<'_>) -> bool {
    word.is_percent() || word.lower == "percent" || (word.lower.contains('/') && word.number.is_some())
}

pub(super) fn is_command(word: &str) -> bool {
    matches!(
        word,
        "compute" | "calculate" | "determine" | "find" | "evaluate" | "obtain" | "take" | "form" | "get" | "derive"
    )
}
