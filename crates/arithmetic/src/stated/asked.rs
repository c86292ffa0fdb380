//! Demands of a question on its answer: the unit that it asks for, and the texts of its options.

use super::amounts::Amount;
use super::{Stated, folded_text};
use crate::quantity::{Dimension, Unit, unit};

/// Only the end of a longer question is read.
const MAX_QUESTION: usize = 2_000;
/// A longer option is a text of its own.
const MAX_OPTION: usize = 120;
/// Units that are written with one to three letters, and need no plural.
const SHORT_UNIT: usize = 3;

impl Stated {
    /// Takes over from the question what the expected answer leaves out: its unit, or the text of its option.
    #[must_use]
    pub fn asked_by(mut self, question: &str) -> Self {
        let question = tail(question);
        if let Some((letter, content)) = self.choice.as_mut().filter(|(_, content)| content.is_empty()) {
            *content = option(question, *letter).unwrap_or_default();
        }
        if let [amount] = self.amounts.as_mut_slice()
            && amount.is_bare()
            && amount.currency.is_none()
            && let Some(unit) = asked_unit(question)
        {
            ask(amount, unit);
        }
        self
    }
}

fn ask(amount: &mut Amount, unit: Unit) {
    amount.measured(unit);
    if unit.dimension == Dimension::Money {
        amount.currency = Some(unit.name).filter(|name| *name != "cent");
    }
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(MAX_QUESTION);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    &text[start..]
}

/// Finds the unit of "how many minutes" or "in centimetres"; `None` where there is none, or more than one.
fn asked_unit(question: &str) -> Option<Unit> {
    let words: Vec<String> =
        question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let asked = |at: usize| {
        let [before, word] = words.get(at..at + 2)? else { return None };
        let is_plural = word.ends_with('s') || word == "feet" || word.len() <= SHORT_UNIT;
        let is_asked = before == "many" || (before == "in" && is_plural);
        // Miles per hour are no length.
        let is_rate = words.get(at + 2).is_some_and(|next| matches!(next.as_str(), "per" | "a" | "an" | "each"));
        unit(word.as_bytes()).filter(|unit| is_asked && !is_rate && unit.dimension != Dimension::Percent)
    };
    let mut found = (0..words.len()).filter_map(asked);
    let first = found.next()?;
    found.all(|other| other.name == first.name).then_some(first)
}

/// Finds the text of an option in a question that lists them: `(A) iron (B) copper`, `A. iron`, `B) copper`.
fn option(question: &str, letter: char) -> Option<String> {
    let place = |letter: char| {
        let marks = [format!("({letter})"), format!("\n{letter})"), format!("\n{letter}."), format!(" {letter}) ")];
        marks.into_iter().find_map(|mark| Some((question.find(&mark)?, mark.len())))
    };
    let (start, len) = place(letter)?;
    let rest = question.get(start + len..)?;
    let next = char::from_u32(letter as u32 + 1).and_then(place).map(|(at, _)| at).filter(|at| *at > start);
    let end = next.map_or_else(|| rest.find('\n').unwrap_or(rest.len()), |next| next - start - len);
    let text = rest.get(..end)?;
    (text.len() <= MAX_OPTION).then(|| folded_text(text))
}
