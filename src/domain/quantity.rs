//! The quantities of a question: every number in it, as digits, signs or words, with its place, and the variables of
//! the run that took it up.

use std::ops::Range;

use super::number::{Number, near};

mod scan;
mod words;

pub use words::{Dimension, Unit, unit};

/// What sort of number stands there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A count or a measure.
    Number,
    /// A sum of money.
    Money,
    /// Hundredths; the value is 20 for `20%`.
    Percent,
    /// A part of a whole: `1/2`, `half`, `two thirds`.
    Fraction,
    /// A factor: `twice`, `3 times`.
    Multiple,
    /// A dozen, a pair.
    Group,
    /// A place in an order: `third`, `3rd`.
    Ordinal,
    /// A time of day, in hours.
    Time,
    /// `each`, `per`: one.
    Each,
    /// `a week`: seven days.
    Period,
    /// A number that names: a year, a date, `chapter 5`, an entry of a list.
    Label,
}

impl Kind {
    /// The word on screen and in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Money => "money",
            Self::Percent => "percent",
            Self::Fraction => "fraction",
            Self::Multiple => "multiple",
            Self::Group => "group",
            Self::Ordinal => "ordinal",
            Self::Time => "time of day",
            Self::Each => "each",
            Self::Period => "period",
            Self::Label => "name",
        }
    }
}

/// One number of a question.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// Where it stands, in bytes of the question's unescaped text, signs of currency and percent included.
    pub span: Range<usize>,
    /// Its value: 20 for `20%`, 12 for `a dozen`, 8.5 for `8:30`, 0 for a date.
    pub value: Number,
    /// What sort of number it is.
    pub kind: Kind,
    /// Whether it certainly is a quantity; a year, an ordinal, `each` or a name may be none.
    pub sure: bool,
    /// What it measures, where a unit stands beside it.
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

/// Every quantity of a text, in its order.
pub fn find(text: &[u8]) -> Vec<Quantity> {
    scan::quantities(text)
}

#[cfg(test)]
mod tests;
