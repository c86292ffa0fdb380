//! Rounding in a text: "up to the next whole number", "to the nearest ten", "to two decimals".

use super::atoms;
use super::cues::cues;
use super::input::{BLOCKED, Input, mentions, multiplies};
use super::units::unit;
use super::words::{Word, words};
use crate::expression::{Expression, Operation, Single};
use crate::number::{Number, Written};
use crate::number_words::{NumberWord, number_word};

/// Decimals are told up to this many.
const MAX_DECIMALS: i128 = 9;
/// Words by which a text rounds.
const VERBS: &[&str] = &["round", "rounded", "rounding"];
/// Words that only say how a text rounds.
const MANNERS: &[&str] = &["nearest", "round", "rounded", "rounding"];
/// Words of places that are not read, or have two readings.
const OTHER_PLACES: &[&str] = &["half", "quarter", "dozen", "significant", "third"];

/// Rounding of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rounding {
    by: Single,
    /// The rounded number is a multiple of this; `None`: of some decimal place.
    place: Option<Number>,
}

impl Rounding {
    /// To the whole number below.
    pub(super) const DOWN: Self = Self { by: Single::Floor, place: Some(Number::ONE) };

    /// Reads the rounding from the words behind "round".
    pub(super) fn of(words: &[Word<'_>]) -> Option<Self> {
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.lower.as_ref()));
        if has(OTHER_PLACES) {
            return None;
        }
        let by = match (has(&["up"]), has(&["down"])) {
            (true, _) => Single::Ceil,
            (_, true) => Single::Floor,
            _ => Single::Round,
        };
        let decimals = ["decimal", "decimals", "place", "places", "digits", "cent", "cents"];
        let place = match (0..words.len()).find_map(|at| place(words, at)) {
            Some(place) => Some(place),
            None if has(&decimals) => None,
            None if by != Single::Round || has(&["whole", "integer", "nearest"]) => Some(Number::ONE),
            None => return None,
        };
        Some(Self { by, place })
    }

    /// The calculation rounded; to decimals people write numbers anyhow.
    pub(super) fn applied(self, to: &Expression) -> Option<Expression> {
        match self.place {
            Some(place) if place >= Number::ONE => self.exactly(to),
            _ => Some(to.clone()),
        }
    }

    /// The calculation rounded, to decimals too.
    fn exactly(self, to: &Expression) -> Option<Expression> {
        let Some(place) = self.place.filter(|place| *place != Number::ONE) else {
            return if self.place.is_some() { Expression::single(self.by, to) } else { Some(to.clone()) };
        };
        // 3.14 is 314 hundredths.
        let (first, then) = (Operation::Divide, Operation::Multiply);
        let (first, then, by) = match Number::ONE.over(place).filter(|_| place < Number::ONE) {
            Some(count) => (then, first, count),
            None => (first, then, place),
        };
        let by = Expression::number(by);
        let scaled = Expression::single(self.by, &Expression::pair(first, to, &by)?)?;
        Expression::pair(then, &scaled, &by)
    }

    /// Of what lies halfway between two neighbours the lower one is right too, where it was written.
    fn settled(self, value: Number, written: Option<Written>) -> Self {
        let half = Number::fraction(1, 2);
        let lower = self.place.and_then(|place| Some((value.over(place)?.floor(), place)));
        let is_halfway = |(lower, place): (Number, Number)| value.over(place)?.minus(lower);
        let is_lower = |(lower, place): (Number, Number)| Some(lower.times(place)? == written?.value);
        match lower {
            Some(lower) if is_halfway(lower) == half && is_lower(lower) == Some(true) && self.by == Single::Round => {
                Self { by: Single::Floor, ..self }
            }
            _ => self,
        }
    }
}

/// The place that is named at a word: "nearest ten", "multiple of 5", "hundredth", "two decimals".
fn place(words: &[Word<'_>], at: usize) -> Option<Number> {
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |word| word.lower.as_ref());
    let here = word(Some(at));
    let meaning = number_word(here.strip_suffix('s').unwrap_or(here).as_bytes());
    if let Some(NumberWord::Nth(n @ (10 | 100), _)) = meaning {
        return Number::fraction(1, n);
    }
    let number = words.get(at)?.number;
    if matches!(word(Some(at + 1)), "decimal" | "decimals" | "place" | "places") {
        let decimals = number?.integer().filter(|decimals| (0..=MAX_DECIMALS).contains(decimals))?;
        return Number::whole(10).power(Number::fraction(-decimals, 1)?);
    }
    let is_named = matches!(word(at.checked_sub(1)), "nearest" | "next")
        || (word(at.checked_sub(1)) == "of" && word(at.checked_sub(2)).starts_with("multiple"));
    let factor = meaning.and_then(NumberWord::factor).map(Number::whole);
    number.or(factor).filter(|place| is_named && *place > Number::ZERO && !word(Some(at + 1)).starts_with("cent"))
}

/// Reads the rounding that a text asks for, of the calculation in signs in it.
pub fn rounded(text: &str, calculation: &Expression) -> Option<Expression> {
    let at = memchr::memmem::find(text.as_bytes(), b"ound")?;
    let behind = text.get(at + 4..)?;
    // "rounds of play" and "round_2" round nothing.
    let verb = behind.starts_with([' ', ',']) || behind.starts_with("ed") || behind.starts_with("ing");
    if !verb || !text.get(..at)?.ends_with(['r', 'R']) {
        return None;
    }
    let words = words(behind)?;
    Rounding::of(words.get(..words.len().min(7))?)?.applied(calculation)
}

/// Splits a text at the word that rounds.
pub(super) fn split<'w, 't>(words: &'w [Word<'t>]) -> Option<(&'w [Word<'t>], &'w [Word<'t>])> {
    let at = words.iter().position(|word| VERBS.contains(&word.lower.as_ref()))?;
    Some((words.get(..at)?, words.get(at + 1..)?))
}

/// Reads a step that only rounds the one number that it reads, and wrote a number.
pub fn rounds(text: &str, inputs: &[Input<'_>], written: Option<Written>) -> Option<Expression> {
    let [input] = inputs else { return None };
    memchr::memmem::find(text.as_bytes(), b"ound")?;
    let atoms = atoms::of(text, inputs, false);
    let words = words(atoms.as_ref().map_or(text, |atoms| &atoms.text))?;
    let (before, behind) = split(&words)?;
    let says_more = |word: &Word<'_>| {
        let here = word.lower.as_ref();
        (BLOCKED.contains(&here) && !MANNERS.contains(&here))
            || here == "convert"
            || multiplies(word)
            || word.is_percent()
    };
    let numbers = |words: &[Word<'_>]| words.iter().filter(|word| word.number.is_some()).count();
    let is_more = words.iter().any(says_more) || !cues(&words, 0).is_empty();
    if is_more || numbers(before) > 0 || numbers(behind) > 1 {
        return None;
    }
    // "Find the dozens needed, rounding up" asks for more than to round.
    let asks = |word: &Word<'_>| matches!(word.lower.as_ref(), "find" | "compute" | "calculate" | "determine");
    let is_said = |word: &Word<'_>| {
        let here = word.lower.as_ref();
        !matches!(here, "needed" | "required" | "total" | "number") && mentions(input, here)
    };
    if before.first().is_some_and(asks) && atoms.is_none() && !before.iter().any(is_said) {
        return None;
    }
    let rounding = Rounding::of(behind)?;
    // A number that says no place says something else.
    let is_place = |at: usize| place(behind, at).is_some();
    if numbers(behind) > 0 && !(0..behind.len()).any(is_place) {
        return None;
    }
    // 0.457 to the nearest percent, 130 minutes to the nearest hour: in which unit nobody knows.
    let value = input.value?;
    let says = |word: &str| mentions(input, word) || words.iter().any(|said| said.lower.starts_with(word));
    let is_share = value <= Number::ONE && (says("percent") || input.description.contains('%'));
    let is_converted = behind.iter().filter_map(|word| unit(&word.lower)).any(|into| !has_unit(input, into.name));
    if is_share || is_converted {
        return None;
    }
    rounding.settled(value, written).exactly(&Expression::name(input.id))
}

/// Tells whether an input is measured in this unit, as far as its name and description tell.
fn has_unit(input: &Input<'_>, name: &str) -> bool {
    let parts = [input.name, input.description].into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let mut units = parts.filter_map(|part| unit(&part.to_lowercase())).peekable();
    units.peek().is_none() || units.any(|unit| unit.name == name)
}
