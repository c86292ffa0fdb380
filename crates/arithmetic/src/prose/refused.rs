//! Sentences that say more than these readings know: what is worded so has no plan.

use super::cues::{Cue, CueAt};
use super::input::{Input, mentions};
use super::words::{Word, parts, stem};

/// Things of which a text says "both" or "each" without being about an input: "on both sides".
const SIDES: &[&str] = stepscope_base::list![side end edge direction way];

/// Tells whether a sentence, `words`, with its operations counts things or orders operations in a way that is not read.
pub(super) fn is_refused(words: &[Word<'_>], cues: &[CueAt], inputs: &[Input<'_>]) -> bool {
    let Some(first) = cues.first().map(|cue| cue.1.start) else { return false };
    // "The cost of one = a ÷ b, the cost of all = c times that"
    if words.iter().filter(|word| word.equals).count() > 1 || inputs.iter().any(is_rate_per_number) {
        return true;
    }
    (0..words.len()).any(|at| {
        two_parts(words, at)
            || is_multiple(words, at)
            || counts_input(words, at, inputs)
            || counts_sides(words, at, inputs)
            || compares_otherwise(words, at)
            || is_per_number(words, at)
            || at > first && (goes_before(words, cues, at) || explains(words, cues, at))
            || is_equation(words, at, inputs) && first > at
    })
}

/// "Rent percent and food percent of the salary"
fn two_parts(words: &[Word<'_>], at: usize) -> bool {
    let is_percent = |word: &Word<'_>| word.is_percent() || word.lower == "percent";
    let joins = words.get(at + 1).is_some_and(|word| word.lower == "and");
    joins && words.get(at).is_some_and(is_percent) && words.iter().skip(at + 2).take(3).any(is_percent)
}

/// "2x = a + b"
fn is_multiple(words: &[Word<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| words.get(at)).filter(|word| word.number.is_none());
    let has_digit = before.is_some_and(|word| word.text.starts_with(|c: char| c.is_ascii_digit()));
    has_digit && words.get(at).is_some_and(|word| word.equals || word.colon)
}

/// An input like `litres_per_100`
fn is_rate_per_number(input: &Input<'_>) -> bool {
    let per = input.variable.split_once("_per_").map(|(_, per)| per);
    per.is_some_and(|per| per.starts_with(|c: char| c.is_ascii_digit()))
}

/// "Increased by two widths", where the width is an input.
fn counts_input(words: &[Word<'_>], at: usize, inputs: &[Input<'_>]) -> bool {
    let (Some(here), Some(next)) = (words.get(at), words.get(at + 1)) else { return false };
    let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", |word| word.lower.as_ref());
    let determined = matches!(before, "the" | "these" | "those" | "all" | "of" | "other" | "both");
    let is_count = matches!(here.lower.as_ref(), "two" | "three" | "four" | "five" | "six");
    let noun = stem(&next.lower);
    let is_known = |input: &Input<'_>| input.value.is_some() && input.value == here.number;
    let mut named = inputs.iter().filter(|input| mentions(input, noun));
    is_count
        && !determined
        && noun != next.lower
        && !inputs.iter().any(is_known)
        && named.next().is_some()
        && named.next().is_none()
}

/// "The path on both sides"
fn counts_sides(words: &[Word<'_>], at: usize, inputs: &[Input<'_>]) -> bool {
    let counts = |word: &Word<'_>| matches!(word.lower.as_ref(), "both" | "each" | "either" | "every" | "all");
    // "Add both sides" is about two inputs.
    let is_of_inputs = |word: &str| inputs.iter().filter(|input| mentions(input, word)).count() > 1;
    let is_side = |word: &Word<'_>| SIDES.contains(&stem(&word.lower)) && !is_of_inputs(&word.lower);
    words.get(at).is_some_and(counts) && words.iter().skip(at + 1).take(2).any(is_side)
}

/// "Half as much again", "twice as few"
fn compares_otherwise(words: &[Word<'_>], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_ref());
    match word(at) {
        "again" => at > 0 && matches!(word(at - 1), "much" | "many"),
        // "The length exceeds the width by d"
        "exceeds" => words.iter().skip(at).any(|word| word.lower == "by"),
        "few" | "little" => at > 0 && word(at - 1) == "as",
        _ => false,
    }
}

/// "6 litres per 100 km"
fn is_per_number(words: &[Word<'_>], at: usize) -> bool {
    let number = words.get(at + 1).filter(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
    words.get(at).is_some_and(|word| word.lower == "per") && number.is_some()
}

/// "Divide a by b after adding c": it stays open to which of them.
fn goes_before(words: &[Word<'_>], cues: &[CueAt], at: usize) -> bool {
    let is_order = words.get(at).is_some_and(|word| matches!(word.lower.as_ref(), "after" | "before"));
    let verb = |(_, place): &CueAt| {
        let verb = words.get(place.start).map_or("", |word| word.lower.as_ref());
        place.start < at && matches!(verb, "divide" | "multiply" | "add" | "subtract" | "deduct" | "split" | "share")
    };
    is_order && cues.iter().any(verb) && cues.iter().any(|(_, place)| place.start == at + 1)
}

/// "… where the discount is 20% of the price", "… which is the friends plus Ann": a clause that works out an operand.
fn explains(words: &[Word<'_>], cues: &[CueAt], at: usize) -> bool {
    let behind = |(_, place): &&CueAt| place.start > at;
    match words.get(at).map(|word| word.lower.as_ref()) {
        Some("where") => {
            let has_number = words.iter().skip(at).any(|word| word.is_percent() || word.number.is_some());
            has_number || cues.iter().any(|cue| behind(&cue))
        }
        Some("which") => cues.iter().filter(behind).any(|(cue, _)| matches!(cue, Cue::Infix(..) | Cue::Factor(..))),
        _ => false,
    }
}

/// "area = length × width", where the area is an input: something else is asked for.
fn is_equation(words: &[Word<'_>], at: usize, inputs: &[Input<'_>]) -> bool {
    let Some(before) =
        at.checked_sub(1).and_then(|at| words.get(at)).filter(|_| words.get(at).is_some_and(|w| w.equals))
    else {
        return false;
    };
    let said: Vec<String> = parts(before.text).collect();
    inputs.iter().any(|input| before.lower == input.name || parts(input.name).any(|part| said.contains(&part)))
}
