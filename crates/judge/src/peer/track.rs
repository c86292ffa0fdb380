//! Track of a run: what it worked out, step by step, in a form that can be compared with other runs of its question.

use stepscope_arithmetic::expression::{Equality, EqualitySide, Expression, Names, Operation, equalities, numbers};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::typeset::Plain;
use stepscope_base::json::Value;
use stepscope_base::text::Untrusted;

/// Longer steps are not read.
const MAX_TEXT: usize = 64_000;
/// More numbers and results are not kept of a step: real ones have a few dozen.
pub(crate) const MAX_VALUES: usize = 200;

/// Values that a run worked out.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Track {
    /// Results of each of its steps.
    pub steps: Vec<TrackStep>,
    /// Values of its variables, where they have names of their own, in order.
    pub named: Vec<NamedValue>,
    /// Number of its answer.
    pub answer: Option<Number>,
    /// Hash of the procedure that it runs; a chain of thought has none.
    pub plan: Option<u64>,
}

/// Value that a step wrote into a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedValue {
    /// The step, by position.
    pub step: usize,
    /// Name of the variable.
    pub name: Untrusted<'static>,
    /// The number.
    pub value: Number,
}

/// Results of a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct TrackStep {
    /// Numbers that it says or writes, in order.
    pub numbers: Vec<Number>,
    /// Its calculations, in order.
    pub results: Vec<TrackResult>,
}

/// A calculation of a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct TrackResult {
    /// Number that it gives as written; `None`: it was not carried out.
    pub value: Option<Number>,
    /// Ways in which it is worked out, with numbers alone.
    pub ways: Vec<Way>,
    /// Its own calculation gives another number.
    pub is_slip: bool,
}

/// A calculation: what is added up, or multiplied, in it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Way {
    /// Operation that joins its parts: a sum has terms, everything else factors.
    pub joins: Joins,
    /// Terms with their signs, or factors, a divisor as its reciprocal.
    pub parts: Vec<f64>,
    /// Numbers that stand in it.
    pub operands: Vec<f64>,
    /// Results of the operations in it.
    pub results: Vec<f64>,
    /// As people write it; `None` where something in it has no number.
    pub formula: Option<String>,
}

/// Manner in which a calculation joins its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Joins {
    /// They are added up.
    Sum,
    /// They are multiplied.
    Product,
}

impl Track {
    /// Lists the values that it works out: of a step without a calculation that could be read, what it writes into the
    /// state.
    pub(crate) fn worked_out(&self) -> impl Iterator<Item = Number> + '_ {
        let is_prose = self.named.is_empty();
        self.steps.iter().flat_map(move |step| {
            let written = step.numbers.iter().copied().filter(move |_| !is_prose);
            step.results.iter().filter_map(|result| result.value).chain(written)
        })
    }
}

impl TrackStep {
    /// Reads a step of a chain of thought.
    pub(crate) fn of_text(text: Option<Value<'_>>) -> Self {
        let Some(text) = text.and_then(Value::string) else { return Self::default() };
        let Some(text) = text.utf8().filter(|text| text.len() <= MAX_TEXT) else { return Self::default() };
        let plain = Plain::of(text);
        let lines = plain.text.split_inclusive('\n');
        let results = lines.flat_map(|line| equalities(line, &Names::default())).map(|one| TrackResult::of(&one));
        Self {
            results: results.take(MAX_VALUES).collect(),
            numbers: numbers(&plain.text).into_iter().map(|(number, _)| number.value).take(MAX_VALUES).collect(),
        }
    }
}

impl TrackResult {
    fn of(equality: &Equality) -> Self {
        let unknown = |_: u32| None;
        let sides = &equality.sides;
        let written = sides.iter().rev().find_map(|side| side.written).map(|written| written.value);
        let follows = |pair: &[EqualitySide]| match pair {
            [before, here] => here.follows(before, &unknown),
            _ => None,
        };
        let ways = sides.iter().filter(|side| side.is_calculation()).map(|side| Way::of(&side.expression));
        Self {
            value: written.or_else(|| sides.iter().rev().find_map(|side| side.value(&unknown))),
            ways: ways.collect(),
            is_slip: sides.windows(2).any(|pair| follows(pair) == Some(false)),
        }
    }
}

impl Way {
    /// Reads a calculation. Where something in it has no number, its operands alone are known.
    pub(crate) fn of(expression: &Expression) -> Self {
        let floats = |numbers: Vec<Number>| numbers.into_iter().map(Number::float).collect::<Vec<_>>();
        let (results, formula) = match expression.results(|_| None) {
            Some(results) => (floats(results), Some(expression.formula(&|_| String::new()))),
            None => (Vec::new(), None),
        };
        let joins = if expression.is_sum() { Joins::Sum } else { Joins::Product };
        let by = match joins {
            Joins::Sum => Operation::Add,
            Joins::Product => Operation::Multiply,
        };
        Self { joins, parts: floats(expression.joined(by)), operands: floats(expression.numbers()), formula, results }
    }
}
