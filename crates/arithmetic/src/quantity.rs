//! The quantities of a question: every number in it, as digits, signs or words, with its place, and the variables of
//! the run that took it up.

use std::ops::Range;

mod asked;
pub mod fit;
pub mod language;
mod scan;
pub mod spelling;
mod units;

use super::number::Number;
pub use super::number::near;
pub use asked::{asked_unit, asking_sentence};
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

#[cfg(test)]
mod tests;
