//! Equality of two stated answers.

use super::amounts::Amount;
use super::{SameAnswer, Stated};
use crate::expression::clock;
use crate::number::{Number, near};
use crate::quantity::Dimension;
use icu_normalizer::{DecomposingNormalizer, DecomposingNormalizerBorrowed};

/// Words in front of the text that a sentence states.
const STATING: &[&str] = stepscope_base::list![is are was were by be called named equals];
/// A time of day is not longer.
const MAX_TIME: usize = 10;

/// Tells whether two texts state the same answer. The kind of the expected one decides what is compared.
pub fn same_answer(expected: &Stated, answer: &Stated) -> SameAnswer {
    use SameAnswer::{CannotTell, Different, Same};
    if !expected.text.is_empty() && expected.text == answer.text {
        return Same;
    }
    let decided = |same: bool| if same { Same } else { Different };
    if let Some((letter, content)) = &expected.choice {
        return match &answer.choice {
            Some((own, _)) => decided(own == letter),
            None if !content.is_empty() && *content == answer.text => Same,
            None => CannotTell,
        };
    }
    if let Some((_, content)) = answer.choice.as_ref().filter(|(_, content)| !content.is_empty()) {
        return if *content == expected.text { Same } else { CannotTell };
    }
    if let Some(truth) = expected.truth {
        return answer.truth.map_or(CannotTell, |own| decided(own == truth));
    }
    if let Some((time, is_said)) = expected.clock {
        return match answer.clock {
            Some((own, own_said)) if own == time && (is_said || own_said || own > 720) => Same,
            Some((own, own_said)) if (own - time) % 720 == 0 && !(is_said && own_said) => CannotTell,
            Some(_) => Different,
            None => same_time(time, is_said, &answer.text),
        };
    }
    if expected.is_list {
        return same_list(expected, answer);
    }
    match (expected.amounts.as_slice(), answer.amounts.as_slice()) {
        ([], []) => same_text(&expected.text, &answer.text),
        ([], _) | (_, []) => CannotTell,
        ([amount], _) if expected.main.is_some() => among(amount, answer),
        _ => CannotTell,
    }
}

/// Compares an expected amount with a statement.
fn among(expected: &Amount, answer: &Stated) -> SameAnswer {
    if answer.clock.is_some() {
        return SameAnswer::CannotTell;
    }
    let own = answer.amount().map(|amount| same_amount(expected, amount));
    match own {
        Some(SameAnswer::Same) => return SameAnswer::Same,
        Some(other) if answer.is_certain => return other,
        _ => {}
    }
    let is_other = answer.amounts.iter().all(|amount| same_amount(expected, amount) == SameAnswer::Different);
    if is_other { SameAnswer::Different } else { SameAnswer::CannotTell }
}

/// Compares two amounts, each with what is said of its unit.
fn same_amount(a: &Amount, b: &Amount) -> SameAnswer {
    use SameAnswer::{CannotTell, Different, Same};
    let is_same = a.number.value.is_near(b.number.value);
    // Euros for dollars, dollars for percent; `$33\%$` is typeset.
    let is_other = |a: &Amount, b: &Amount| {
        let own = a.currency.filter(|_| !a.percent);
        own.is_some_and(|own| b.percent || b.currency.is_some_and(|its| own != its))
    };
    if is_other(a, b) || is_other(b, a) {
        return Different;
    }
    if let (Some(own), Some(its)) = (a.measure, b.measure)
        && own.dimension == its.dimension
    {
        let is_vague = own.is_vague != its.is_vague;
        return match near(own.total, its.total) || is_same && own.is_vague && its.is_vague {
            true => Same,
            false if is_vague => CannotTell,
            false => Different,
        };
    }
    if is_same {
        return Same;
    }
    let any = |values: &[Number], number: Number| values.iter().any(|value| value.is_near(number));
    let is_open = |own: &Amount, its: &Amount| own.is_bare() || its.measure.is_none() && !its.percent;
    if (is_open(b, a) && any(&a.also, b.number.value)) || (is_open(a, b) && any(&b.also, a.number.value)) {
        return Same;
    }
    let perhaps = any(&a.perhaps, b.number.value) || any(&b.perhaps, a.number.value);
    let in_unit = |amount: &Amount, bare: &Amount| bare.is_bare() && in_other_unit(amount, bare.number.value);
    let stands = a.number.stands_for(b.number.value) || b.number.stands_for(a.number.value);
    // A fraction that somebody wrote as a rounded decimal: 2/3 or 66.6667 as 66.67.
    let (few, many) = (a.number.decimals.min(b.number.decimals), a.number.decimals.max(b.number.decimals));
    let is_rounded = stands && (many >= 18 || (many >= 4 && few >= 2));
    if perhaps || in_unit(a, b) || in_unit(b, a) || is_rounded { CannotTell } else { Different }
}

/// Tells whether an amount is this number in another unit of what it measures.
pub(super) fn in_other_unit(amount: &Amount, number: Number) -> bool {
    let Some(measure) = amount.measure else { return false };
    measure.dimension != Dimension::Percent
        && measure.dimension.sizes().iter().any(|size| near(measure.total / size, number.float()))
}

/// Compares a time of day with those that a sentence names.
fn same_time(time: i64, is_said: bool, text: &str) -> SameAnswer {
    let mut times = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let begins = rest.starts_with(|c: char| c.is_ascii_digit());
        let found = (3..=MAX_TIME).rev().find_map(|len| {
            let words = rest.get(..len.min(rest.len()))?;
            let words = words.trim_end_matches(['.', ' ', ',']);
            let behind = rest.get(words.len()..)?.chars().next();
            let is_whole = !behind.is_some_and(char::is_alphanumeric);
            let is_time = words.contains(':') || words.ends_with('m') || words.ends_with("m.");
            // `7.30pm`
            let words_with_colon = if words.contains(':') { words.to_owned() } else { words.replacen('.', ":", 1) };
            Some((clock(&words_with_colon).filter(|_| begins && is_whole && is_time)?, words.len()))
        });
        match found {
            Some((found, len)) => {
                times.push(found);
                at += len.max(1);
            }
            None if begins => at += rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    match times[..] {
        [(own, own_said)] if own == time && (is_said || own_said || own > 720) => SameAnswer::Same,
        [(own, own_said)] if (own - time) % 720 != 0 || is_said && (own_said || own > 720) => SameAnswer::Different,
        _ => SameAnswer::CannotTell,
    }
}

/// Compares a list of numbers with a statement; only pairs in round brackets have an order.
fn same_list(expected: &Stated, answer: &Stated) -> SameAnswer {
    let is_ordered = expected.text.starts_with('(');
    let values = |stated: &Stated| {
        let mut values: Vec<Number> = stated.amounts.iter().map(|amount| amount.number.value).collect();
        if !is_ordered {
            values.sort_unstable_by(|a, b| a.float().total_cmp(&b.float()));
        }
        values
    };
    let (own, its) = (values(expected), values(answer));
    let is_same = own.len() == its.len() && own.iter().zip(&its).all(|(a, b)| a.is_near(*b));
    match is_same {
        true => SameAnswer::Same,
        false if own.len() == its.len() || (answer.is_announced && answer.is_certain) => SameAnswer::Different,
        false => SameAnswer::CannotTell,
    }
}

/// Compares two texts without numbers, folded.
fn same_text(expected: &str, answer: &str) -> SameAnswer {
    let words = |text: &str| -> Vec<String> {
        let is_edge = |c: char| !c.is_alphanumeric();
        let words = text.split(' ').map(|word| unaccented(word.trim_matches(is_edge)));
        words.filter(|word| !word.is_empty()).collect()
    };
    let (mut own, mut its) = (words(expected), words(answer));
    if own.is_empty() || its.is_empty() {
        return SameAnswer::CannotTell;
    }
    if own == its {
        return SameAnswer::Same;
    }
    let place = its.windows(own.len()).position(|words| words == own);
    if let Some(at) = place {
        let before = at.checked_sub(1).and_then(|at| its.get(at)).map_or("", String::as_str);
        // "London, not Paris"
        if before == "not" {
            return SameAnswer::Different;
        }
        let is_last = at + own.len() == its.len();
        let is_denied = its.iter().any(|word| matches!(word.as_str(), "not" | "never" | "no") || word.ends_with("n't"));
        let is_stated = STATING.contains(&before) && is_last && !is_denied;
        return if is_stated { SameAnswer::Same } else { SameAnswer::CannotTell };
    }
    if expected.contains(answer) || answer.contains(expected) {
        return SameAnswer::CannotTell;
    }
    own.sort_unstable();
    its.sort_unstable();
    let is_sorting = own.len() > 3 && own == its;
    let is_word = own.len() == 1
        && its.len() == 1
        && own.first().and_then(|word| first(word)) != its.first().and_then(|word| first(word));
    if is_sorting || is_word { SameAnswer::Different } else { SameAnswer::CannotTell }
}

fn first(word: &str) -> Option<char> {
    word.chars().next()
}

/// A word without its accents.
fn unaccented(word: &str) -> String {
    const DECOMPOSE: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();
    if word.is_ascii() {
        return word.to_owned();
    }
    let is_mark = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    DECOMPOSE.normalize(word).chars().filter(|c| !is_mark(c)).collect()
}
