//! The units of inputs, and those that a text asks for.

use super::input::Input;
use super::words::lower_words;
use crate::number::{Number, near};
use crate::quantity;
use crate::quantity::Unit;

/// The unit that a word names; `None` for an ambiguous word.
pub(super) fn unit(word: &str) -> Option<Unit> {
    quantity::unit(word.as_bytes()).filter(|_| !matches!(word, "m" | "g" | "l" | "min"))
}

/// Returns the conversion factor between two units. `None` where neither it nor its reciprocal is whole: such
/// conversions are not put in words.
pub(super) fn factor(from: Unit, into: Unit) -> Option<Number> {
    let factor = Number::from_float(from.size)?.over(Number::from_float(into.size)?)?;
    // No fixed number of days makes a month.
    let of_months = |unit: Unit| matches!(unit.name, "month" | "year" | "decade");
    let same = from.dimension == into.dimension && of_months(from) == of_months(into);
    (same && (factor.is_whole() || Number::ONE.over(factor)?.is_whole())).then_some(factor)
}

/// Tells whether a text asks for another unit than that of the input.
pub fn asks_for_other_unit(text: &str, input: &Input<'_>) -> bool {
    let named = |text: &str| -> Vec<Unit> { lower_words(text).iter().filter_map(|word| unit(word)).collect() };
    let own: Vec<Unit> = [input.name, input.description].into_iter().flat_map(named).collect();
    named(text).iter().any(|asked| is_other(asked, &own))
}

/// Tells whether a text says in which unit the result is to be, and a ratio converts another one to it.
pub fn is_conversion(text: &str, ratio: Number) -> bool {
    let words = lower_words(text);
    let dozens = words.windows(2).any(|pair| matches!(pair, [a, b] if a == "in" && b.starts_with("dozen")));
    let converts = |asked: Unit| {
        let factors = asked.dimension.sizes().iter().map(|size| size / asked.size);
        factors.into_iter().any(|factor| near(factor, ratio.float()) && !near(factor, 1.0))
    };
    dozens && near(ratio.float() * 12.0, 1.0) || asked(&words).any(converts)
}

/// The units in which a text asks for a result.
fn asked(words: &[String]) -> impl Iterator<Item = Unit> + '_ {
    words.windows(2).filter_map(|pair| match pair {
        [before, word] if before == "in" => unit(word),
        _ => None,
    })
}

/// Tells whether a text says in which unit the result is to be, and it is another than that of the inputs: "divide the
/// distance by the speed to get the time in minutes".
pub fn wants_other_unit(text: &str, units: &[Unit]) -> bool {
    let words = lower_words(text);
    asked(&words).any(|asked| is_other(&asked, units))
}

/// Tells whether a unit is of the dimension of others, but none of them.
fn is_other(asked: &Unit, own: &[Unit]) -> bool {
    let same = |own: &&Unit| own.dimension == asked.dimension;
    own.iter().any(|own| same(&own)) && !own.iter().filter(same).any(|own| own.size.total_cmp(&asked.size).is_eq())
}

/// The unit of a variable, by its name, else by what its description names alone; `true`: it is so much per unit.
pub fn unit_of(name: &str, description: &str) -> Option<(Unit, bool)> {
    let name = lower_words(name);
    let is_speed = |words: &[String]| words.iter().any(|word| matches!(word.as_str(), "kmh" | "kph" | "mph"));
    if is_speed(&name) {
        return Some((unit("hour")?, true));
    }
    if let Some(per) = name.iter().position(|word| word == "per") {
        return Some((quantity::unit(name.get(per + 1)?.as_bytes())?, true));
    }
    // `m` and `l` are units at the end of a name only.
    let at_end = name.last().filter(|_| name.len() > 1).and_then(|word| quantity::unit(word.as_bytes()));
    if let Some(unit) = at_end.or_else(|| name.iter().rev().find_map(|word| unit(word))) {
        return Some((unit, false));
    }
    let description = lower_words(description);
    if is_speed(&description) {
        return Some((unit("hour")?, true));
    }
    if let Some(per) = description.iter().position(|word| word == "per") {
        return Some((unit(description.get(per + 1)?)?, true));
    }
    if description.iter().any(|word| matches!(word.as_str(), "per" | "each" | "a" | "every")) {
        return None;
    }
    let mut units = description.iter().filter_map(|word| unit(word));
    let unit = units.next()?;
    units.next().is_none().then_some((unit, false))
}
