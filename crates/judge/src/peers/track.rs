//! Track of a run: what it worked out, step by step, in a form that can be compared with other runs of its question.

use crate::case::CaseView;
use crate::recompute::Computed;
use stepscope_arithmetic::expression::{Equality, EqualitySide, Expression, Names, Operation, equalities, numbers};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::quantity::{Kind, Quantity};
use stepscope_arithmetic::typeset::Plain;
use stepscope_base::json::Value;
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::hash_of;
use stepscope_record::procedure::{FINAL_ANSWER, Procedure};
use stepscope_record::rule_id::RuleId;

/// Voice of a run against which nothing speaks.
pub(crate) const VOICE: u32 = 4;
/// Longer steps are not read.
const MAX_TEXT: usize = 64_000;
/// More numbers and results are not kept of a step: real ones have a few dozen.
const MAX_VALUES: usize = 200;

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
    /// Reads a run. Of a record without steps only the answer is at hand.
    pub(crate) fn of(case: &CaseView<'_>) -> Self {
        let answer = case.answer().value().map(|answer| answer.value);
        let Some(procedure) = case.procedure() else { return Self { answer, ..Self::default() } };
        if case.chain().is_some() {
            let steps = procedure.steps.iter().map(|step| TrackStep::of_text(step.text)).collect();
            return Self { steps, answer, ..Self::default() };
        }
        let plan = Some(hash_of_plan(procedure));
        Self { steps: steps_of_writes(case, procedure), named: named_values(case), answer, plan }
    }
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

/// Hashes what a procedure asks for and what its steps read and write: runs of the same one have the same.
fn hash_of_plan(procedure: &Procedure<'_>) -> u64 {
    let mut all = Vec::new();
    for step in &procedure.steps {
        let text = step.text.and_then(Value::string);
        for part in step.input_names().chain(text).chain(step.output_names()) {
            all.extend_from_slice(part.bytes());
            all.push(0);
        }
        all.push(1);
    }
    hash_of(&all)
}

/// Lists the numbers that the steps of a run wrote, but for the answer.
fn named_values(case: &CaseView<'_>) -> Vec<NamedValue> {
    let Some(executed) = case.executed() else { return Vec::new() };
    let variables = case.state().variables();
    let named = |write: &Computed| {
        let name = &variables.get(write.variable).filter(|variable| variable.name != FINAL_ANSWER)?.name;
        Some(NamedValue { step: write.step, name: name.to_owned(), value: write.wrote()? })
    };
    executed.writes.iter().filter_map(named).take(MAX_VALUES).collect()
}

/// Reads what the steps of a run wrote into the state.
fn steps_of_writes(case: &CaseView<'_>, procedure: &Procedure<'_>) -> Vec<TrackStep> {
    let mut steps = vec![TrackStep::default(); procedure.steps.len()];
    let Some(executed) = case.executed() else { return steps };
    let wrote = |at: usize| executed.writes.get(at).and_then(Computed::wrote);
    for write in &executed.writes {
        let room = steps.get_mut(write.step).filter(|step| step.numbers.len() < MAX_VALUES);
        let Some((step, value)) = room.zip(write.wrote()) else { continue };
        step.numbers.push(value);
        let Some(plan) = write.plan.as_ref().filter(|_| !write.is_statement()) else { continue };
        let input = |name: u32| {
            let (_, from) = write.inputs.iter().find(|(variable, _)| *variable == name as usize)?;
            Some(Expression::number(wrote((*from)?)?))
        };
        let names = plan.expression.names();
        let inputs: Vec<_> = names.iter().filter_map(|name| Some((*name, input(*name)?))).collect();
        let part = |name: u32| inputs.iter().find(|(known, _)| *known == name).map(|(_, part)| part);
        let way = plan.expression.replaced(part).as_ref().map(Way::of);
        step.results.push(TrackResult {
            value: Some(value),
            ways: way.into_iter().collect(),
            is_slip: write.differs(),
        });
    }
    steps
}

impl TrackStep {
    /// Reads a step of a chain of thought.
    fn of_text(text: Option<Value<'_>>) -> Self {
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
    fn of(expression: &Expression) -> Self {
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

/// Lists the numbers of a question in the forms in which a run may hold them.
pub(crate) fn given(case: &CaseView<'_>) -> Vec<f64> {
    let of = |quantity: &Quantity| {
        let share = quantity.value.over(Number::whole(100)).filter(|_| quantity.kind == Kind::Percent);
        std::iter::once(quantity.value).chain(share).map(Number::float).collect::<Vec<_>>()
    };
    case.numbers().iter().flat_map(of).collect()
}

/// Weight of the word of a run, as far as the run itself tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Soundness {
    /// It contradicts itself, gives up, has no answer, or is known to be wrong: it says nothing about others.
    Unsound,
    /// It leaves out a number of the question.
    Doubtful,
    /// Nothing speaks against it.
    Sound,
}

/// Words of a run that gives up, or finds fault with the question.
const GIVES_UP: &[&str] = &[
    "impossible",
    "not possible",
    "cannot be determined",
    "can't be determined",
    "cannot determine",
    "not enough information",
    "error in the problem",
    "error in the question",
    "does not make sense",
    "doesn't make sense",
    "not consistent",
    "contradict",
    "can't have a negative",
    "can't have a fraction",
];

impl Soundness {
    /// Judges a run that the rules have looked at.
    pub(crate) fn of(case: &CaseView<'_>, findings: &[Finding]) -> Self {
        let speaks_against = |finding: &Finding| match finding.rule {
            RuleId::Recompute | RuleId::Equation | RuleId::FinalMismatch => finding.severity != Severity::Note,
            RuleId::RunError
            | RuleId::OutputMissing
            | RuleId::ReplyCut
            | RuleId::AnswerZero
            | RuleId::AnswerNegative
            | RuleId::AnswerNotFinite
            | RuleId::AnswerFractional => true,
            _ => false,
        };
        let speaks_against_itself = findings.iter().any(speaks_against) || has_no_end(case) || gives_up(case);
        let is_missed = |finding: &Finding| finding.rule == RuleId::QuantityMissed;
        let is_wrong = case.rightness().verdict() == Some(false);
        if case.answer().value().is_none() || is_wrong || speaks_against_itself {
            Self::Unsound
        } else if findings.iter().any(is_missed) {
            Self::Doubtful
        } else {
            Self::Sound
        }
    }

    /// Counts its voice, in parts of [`VOICE`].
    pub(crate) const fn voice(self) -> u32 {
        match self {
            Self::Unsound => 0,
            Self::Doubtful => VOICE / 2,
            Self::Sound => VOICE,
        }
    }
}

/// Tells whether an answer has more decimals than anybody asks for: mostly a division that does not come out even.
fn has_no_end(case: &CaseView<'_>) -> bool {
    let has_many = |number: Number| !number.times(Number::whole(100)).is_some_and(Number::is_whole);
    let is_asked = || case.numbers().iter().any(|quantity| has_many(quantity.value) && quantity.kind != Kind::Fraction);
    case.answer().value().is_some_and(|answer| has_many(answer.value)) && !is_asked()
}

fn gives_up(case: &CaseView<'_>) -> bool {
    let Some(procedure) = case.procedure().filter(|_| case.chain().is_some()) else { return false };
    let says = |text: &str| {
        let text = text.to_lowercase().replace('’', "'");
        GIVES_UP.iter().any(|words| text.contains(words))
    };
    let texts = procedure.steps.iter().filter_map(|step| step.text?.string());
    texts.into_iter().any(|text| text.utf8().is_some_and(says))
}
