//! The quantities of a question: every number in it, as digits, signs or words, with its place, and the variables of
//! the run that took it up.

use std::ops::Range;

use crate::procedure::Procedure;
use crate::record::Record;
use crate::run::state::State;

mod asked;
mod fit;
mod language;
mod links;
mod scan;
mod spelling;
mod units;

use super::number::Number;
pub use super::number::near;
pub(crate) use asked::{asked_unit, asking_sentence};
pub use links::{Holder, Missed, QuantityLinks};
pub(crate) use links::{distance, words_near};
pub use scan::find;
pub(crate) use units::names_by_number;
pub use units::{Dimension, Unit, unit};

stepscope_base::words! {
    /// Kind of a number in a text.
    pub enum Kind {
        /// A count or a measure.
        Number = "number",
        /// A sum of money.
        Money = "money",
        /// Hundredths; the value is 20 for `20%`.
        Percent = "percent",
        /// A part of a whole: `1/2`, `half`, `two thirds`.
        Fraction = "fraction",
        /// A factor: `twice`, `3 times`.
        Multiple = "multiple",
        /// A dozen, a pair.
        Group = "group",
        /// A place in an order: `third`, `3rd`.
        Ordinal = "ordinal",
        /// A time of day, in hours.
        Time = "time of day",
        /// `each`, `per`: one.
        Each = "each",
        /// `a week`: seven days.
        Period = "period",
        /// A number that names: a year, a date, `chapter 5`, an entry of a list.
        Label = "name",
    }
}

/// One number of a question.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// Byte range in the question's unescaped text, signs of currency and percent included.
    pub span: Range<usize>,
    /// Its value: 20 for `20%`, 12 for `a dozen`, 8.5 for `8:30`, 0 for a date.
    pub value: Number,
    /// Kind of the number.
    pub kind: Kind,
    /// True if it certainly is a quantity; a year, an ordinal, `each` or a name may be none.
    pub sure: bool,
    /// Unit of measurement next to it, if any.
    pub unit: Option<Unit>,
    /// The variables that took it up, by their index in the state, ascending.
    pub variables: Vec<usize>,
    approx: f64,
}

impl Quantity {
    fn new(span: Range<usize>, value: Number, kind: Kind, sure: bool, unit: Option<Unit>) -> Self {
        Self { span, value, kind, sure, unit, variables: Vec::new(), approx: value.float() }
    }

    /// The value as the nearest float.
    pub const fn float(&self) -> f64 {
        self.approx
    }
}

/// The quantities of a record's question with the variables that took them up, for the screen.
#[derive(Clone, Default, Debug)]
pub struct Quantities {
    /// Every quantity, in the order of the question.
    pub items: Vec<Quantity>,
    /// For each variable of the state, the quantities that it took up.
    pub by_variable: Vec<Vec<usize>>,
}

impl Quantities {
    /// Reads the question of a record and links its quantities to the variables of its state.
    pub fn of(
        links: Option<&QuantityLinks>,
        record: &Record<'_>,
        state: &State<'_>,
        procedure: Option<&Procedure<'_>>,
    ) -> Self {
        let mut by_variable = vec![Vec::new(); state.variables().len()];
        let Some(links) = links else {
            let question = record.question.and_then(stepscope_base::json::Value::string).unwrap_or_default();
            return Self { items: find(question.bytes()), by_variable };
        };
        let mut items = links.quantities.clone();
        for (n, item) in items.iter_mut().enumerate() {
            for holder in links.holders_of(n).filter_map(|holder| links.holders.get(holder)) {
                let name = procedure.and_then(|procedure| holder.name(procedure));
                let Some(variable) = name.and_then(|name| state.variable(&name)) else { continue };
                if !item.variables.contains(&variable) {
                    item.variables.push(variable);
                }
                if let Some(own) = by_variable.get_mut(variable).filter(|own| !own.contains(&n)) {
                    own.push(n);
                }
            }
            item.variables.sort_unstable();
        }
        Self { items, by_variable }
    }
}

#[cfg(test)]
mod tests;
