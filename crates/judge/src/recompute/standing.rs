//! Compares what a step wrote with what recomputing gives: the words of screen and pages about a value.

use std::collections::HashMap;

use super::{Computed, Recomputed, ValueBasis};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::Record;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL};
use stepscope_record::state::State;

/// Relation of a recorded value to the recomputed one, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToRecomputed {
    /// It is the same number.
    Same,
    /// It is no number.
    NotComparable,
    /// It is another number, or a calculation that was not carried out.
    Differs,
}

impl ToRecomputed {
    /// Tells whether there are relations, and all are the same number.
    pub fn agree(relations: impl IntoIterator<Item = Self>) -> bool {
        relations.into_iter().max() == Some(Self::Same)
    }
}

/// Value that a step should have written, and how the one that it wrote stands to it.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// The value.
    pub value: Number,
    /// Index of it in the writes.
    pub write: usize,
    /// Relation of the recorded value to it.
    pub relation: ToRecomputed,
    /// The recorded value is a calculation that was not carried out.
    pub unevaluated: bool,
}

impl Standing {
    /// The words in front of the value, behind the recorded one; `None`: it is the same.
    pub const fn verb(&self) -> Option<&'static str> {
        match self.relation {
            ToRecomputed::Same => None,
            ToRecomputed::NotComparable => Some("recomputed"),
            ToRecomputed::Differs => Some("should be"),
        }
    }

    /// Phrases what is shown behind the recorded value; `None`: it is the same.
    pub fn words(&self) -> Option<Shown> {
        Some(shown!("{} {}", self.verb()?, self.value.shown()))
    }
}

/// The standings of all values that steps calculate, by variable and step.
#[derive(Debug, Default)]
pub struct Standings(HashMap<(usize, usize), Standing>);

impl Standings {
    /// Compares a run with its recomputation.
    pub fn of(record: &Record<'_>, recomputed: &Recomputed, state: &State<'_>) -> Self {
        let mut found = HashMap::new();
        let text = record.answer.and_then(|answer| answer.get(FINAL_ANSWER));
        let is_text = text.is_some_and(|text| text.string().is_some());
        // Text and number of the answer are one value of the recomputation, but each is what it says itself.
        let [text, number] = [FINAL_ANSWER, FINAL_ANSWER_NUMERICAL].map(|name| state.variable(&Untrusted::from(name)));
        let is_said = |write: &Computed| write.plan.as_ref().is_none_or(|plan| plan.class.is_said());
        let plans =
            recomputed.writes.iter().enumerate().filter(|(_, write)| write.basis == ValueBasis::Plan && is_said(write));
        for (n, write) in plans {
            let Some(value) = write.value else { continue };
            let unevaluated = write.unevaluated.is_some();
            let says = |variable| {
                let own = state.written(variable, write.step).and_then(|entry| entry.value);
                let own = own.map(|own| own.string().unwrap_or(Untrusted::new(own.raw())));
                own.is_some_and(|own| own == value.shown().as_str())
            };
            let of = |variable, recorded: &[Written]| {
                let relation = match recorded {
                    recorded if recorded.iter().any(|recorded| recorded.stands_for(value)) => ToRecomputed::Same,
                    _ if says(variable) => ToRecomputed::Same,
                    [] if !unevaluated => ToRecomputed::NotComparable,
                    _ => ToRecomputed::Differs,
                };
                ((variable, write.step), Standing { value, write: n, relation, unevaluated })
            };
            let recorded = write.recorded.as_slice();
            let number = number.filter(|_| text == Some(write.variable));
            found.extend(number.map(|number| of(number, recorded)));
            let said = || recomputed.answer.said().map_or_else(Vec::new, |said| said.numbers().collect());
            let relation =
                if number.is_some() && is_text { of(write.variable, &said()) } else { of(write.variable, recorded) };
            found.extend([relation]);
        }
        Self(found)
    }

    /// Looks up the value that a step should have written into a variable.
    pub fn get(&self, variable: usize, step: Option<usize>) -> Option<&Standing> {
        self.0.get(&(variable, step?))
    }

    /// Tells whether a value that a step wrote agrees, and none differs.
    pub fn confirms(&self, step: usize) -> bool {
        let own = self.0.iter().filter(|((_, at), _)| *at == step);
        ToRecomputed::agree(own.map(|(_, standing)| standing.relation))
    }

    /// All of them, in no order.
    pub fn all(&self) -> impl Iterator<Item = (&(usize, usize), &Standing)> {
        self.0.iter()
    }
}
