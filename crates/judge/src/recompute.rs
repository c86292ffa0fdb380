//! Recomputation of each step: the calculation that the procedure asks for, carried out exactly.
//!
//! For every output of every step a calculation is looked for (`plans`) in the step's text, in the output's description,
//! in words (`prose`) and in the recorded value itself, of a wrong run in the names too (`implied`). It is evaluated twice: from the recorded inputs, which judges that one
//! step, and from the computed ones, which executes the whole procedure. The steps are gone through once, in order, so
//! that no value can depend on itself.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use stepscope_arithmetic::prose;

use crate::rightness::Rightness;
use stepscope_arithmetic::expression;
use stepscope_arithmetic::expression::{Calculation, Expression, Names, Reading, may_hold};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::stated::{Stated, read};
use stepscope_arithmetic::typeset::{Plain, is_typeset};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::{
    FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, Field, PROBLEM_TEXT, Procedure, Step, words_apart,
};
use stepscope_record::state::{Badge, Ran, State, Write};
use stepscope_record::trace::Put;
use stepscope_record::{AnswerSchema, Record, RecordKind};

mod asides;
pub mod classes;
mod collected;
pub(crate) mod follows;
mod implied;
mod plans;
pub(crate) mod shapes;
pub mod standing;

use self::classes::ReadingClass;
use self::plans::PlanRequest;

/// Procedures with more variables are not executed: each is looked for in every calculation of its step.
pub(crate) const MAX_VARIABLES: usize = 1_000;
/// A derivation is followed so far back.
pub const MAX_DEPTH: usize = 16;
/// A derivation has no more lines.
pub const MAX_LINES: usize = 100;

/// Place where a calculation was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlanSource {
    /// In the step's text.
    Step,
    /// In the description of the output.
    Description,
    /// It is the recorded value.
    Value,
}

/// Form in which a calculation is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wording {
    /// With signs: `a * b`.
    Signs,
    /// In words: "multiply a by b".
    Words,
    /// Carried out in the step's own text: `16 - 3 = 13 eggs are left`.
    Worked,
    /// Not at all; the names of what goes in and what comes out leave no choice.
    Implied,
    /// A number that the procedure itself names: "(value 3)", "set x to 12".
    Constant,
    /// The last step states its one input.
    Statement,
}

/// The calculation of one output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Calculation to carry out; its names are indices of variables.
    pub expression: Expression,
    /// Place where it was found.
    pub source: PlanSource,
    /// Its bytes in the (unescaped) text, where they are known.
    pub range: Option<Range<usize>>,
    /// Form in which it is written.
    pub wording: Wording,
    /// Way in which it was read.
    pub class: ReadingClass,
    /// Nothing else in the procedure contradicts it.
    pub sure: bool,
}

impl Plan {
    /// A calculation without a place in the text, which something may contradict.
    pub(crate) const fn of(expression: Expression, source: PlanSource, class: ReadingClass) -> Self {
        Self { expression, source, range: None, wording: class.wording(), class, sure: false }
    }

    /// Tells whether a step that wrote another number may be accused of it.
    pub(crate) const fn accuses(&self) -> bool {
        self.sure && self.class.may_accuse()
    }
}

/// Basis of a computed value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueBasis {
    /// It was calculated.
    Plan,
    /// It was read from the question, as recorded.
    Extracted,
    /// No calculation was understood: the recorded value is taken.
    Recorded,
    /// A person set it.
    Override,
}

/// Output of a step, next to what the model gave.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is true or not whatever the others are")]
pub struct Computed {
    /// Index of the variable in the state.
    pub variable: usize,
    /// Position of the step.
    pub step: usize,
    /// Position among the step's outputs.
    pub output: usize,
    /// The recorded number; of `final_answer`, the final number.
    pub recorded: Option<Written>,
    /// The recorded value is a calculation that was not carried out; this is it.
    pub unevaluated: Option<Expression>,
    /// Result of the recorded calculation, with the recorded values.
    pub unevaluated_value: Option<Number>,
    /// The recorded value is an equation with an unknown: what solves it need not be what the step was asked for.
    equation: bool,
    /// Calculation of the output, if one was understood.
    pub plan: Option<Plan>,
    /// Result of the plan with the recorded inputs: it judges this step alone.
    pub alone: Option<Number>,
    /// Result when the whole procedure is executed exactly.
    pub value: Option<Number>,
    /// Basis of `value`.
    pub basis: ValueBasis,
    /// No value before it had to be taken from the record, but for what was extracted.
    pub exact: bool,
    /// Of each variable in the plan, the index in [`Recomputed::writes`] of the value that went in.
    pub inputs: Vec<(usize, Option<usize>)>,
    /// A factor of 100 is only another way to write it.
    percent: bool,
    /// It was recorded before what its step reads was changed, and proves nothing about that step.
    stale: bool,
}

impl Computed {
    /// Creates the entry of a variable that a person set before a step, its value still unknown.
    const fn set(variable: usize, step: usize) -> Self {
        Self {
            variable,
            step,
            output: 0,
            recorded: None,
            unevaluated: None,
            unevaluated_value: None,
            equation: false,
            plan: None,
            alone: None,
            value: None,
            basis: ValueBasis::Override,
            exact: true,
            inputs: Vec::new(),
            percent: false,
            stale: false,
        }
    }

    /// A value of a chain of thought, nothing of it known yet.
    pub(crate) fn of_chain(variable: usize, step: usize, output: usize) -> Self {
        Self { output, ..Self::set(variable, step) }
    }

    /// Tells whether the recorded number (or calculation) differs from the result of its plan with its recorded inputs.
    pub fn differs(&self) -> bool {
        let (Some(alone), Some(plan)) = (self.alone, &self.plan) else { return false };
        if plan.source == PlanSource::Value || self.stale {
            return false;
        }
        let recorded = match (self.recorded, self.unevaluated_value) {
            (Some(recorded), _) => recorded,
            (None, Some(value)) if !self.equation => Written { value, decimals: 18 },
            (None, _) => return false,
        };
        !self.is_written(recorded, alone)
    }

    /// The number that was recorded, or what the recorded calculation gives.
    pub(crate) fn wrote(&self) -> Option<Number> {
        self.recorded.map(|recorded| recorded.value).or(self.unevaluated_value)
    }

    /// Tells whether its step has only to state what it reads.
    pub(crate) fn is_statement(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Statement)
    }

    /// Tells whether a recorded number is an exact one as its step may write it, in percent for instance.
    pub(crate) fn is_written(&self, recorded: Written, exact: Number) -> bool {
        let hundred = Number::whole(100);
        let scaled = |number: Option<Number>| number.is_some_and(|number| recorded.stands_for(number));
        recorded.stands_for(exact) || (self.percent && (scaled(exact.times(hundred)) || scaled(exact.over(hundred))))
    }
}

/// The final answer of a run, as its fields give it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunAnswer {
    /// `final_answer_numerical`.
    pub numerical: Option<Written>,
    /// `pred_num`.
    pub pred: Option<Written>,
    /// The final text, which is read when it is asked for.
    text: Option<Box<str>>,
    said: OnceCell<Option<Stated>>,
}

impl RunAnswer {
    /// Reads the fields; of answers that are no numbers, nothing.
    pub fn of(record: &Record<'_>) -> Self {
        if matches!(record.answer_schema, Some(AnswerSchema::Bool | AnswerSchema::Arc)) {
            return Self::default();
        }
        let answer = record.answer;
        let text = answer.and_then(|answer| answer.get(FINAL_ANSWER)).or(record.pred_answer).and_then(Value::string);
        Self {
            numerical: answer.and_then(|answer| answer.get(FINAL_ANSWER_NUMERICAL)).and_then(answered_number),
            pred: record.pred_num.and_then(answered_number),
            text: text.and_then(|text| text.utf8().map(Box::from)),
            said: OnceCell::new(),
        }
    }

    /// Returns the number of the answer.
    pub fn value(&self) -> Option<Written> {
        self.numerical.or(self.pred).or_else(|| self.said()?.number())
    }

    /// Returns what the final text states.
    pub fn said(&self) -> Option<&Stated> {
        self.said.get_or_init(|| read(self.text.as_deref()?)).as_ref()
    }

    /// Returns the words of the final text that its answer was read from.
    pub fn words(&self) -> Option<&str> {
        self.text.as_deref()?.get(self.said()?.range.clone())
    }
}

/// Reads the number that an answer is, as JSON or as a text that is nothing else.
pub(crate) fn answered_number(value: Value<'_>) -> Option<Written> {
    match value.kind() {
        Kind::String => {
            read(value.string()?.utf8()?).filter(|said| said.is_announced && !said.is_ambiguous())?.number()
        }
        _ => Written::of(value),
    }
}

/// Returns the position of a number of the run in its record, as a JSON pointer.
pub(crate) fn value_pointer(record: &Record<'_>, state: &State<'_>, computed: &Computed) -> Option<Pointer> {
    let variable = state.variables().get(computed.variable)?;
    if variable.name == FINAL_ANSWER {
        return Some(record.number_pointer());
    }
    let entry = state.written(computed.variable, computed.step)?;
    state.pointer(&entry)
}

/// A run, executed exactly.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recomputed {
    /// Every output of every step, in order of execution.
    pub writes: Vec<Computed>,
    /// Of each variable of the state, the index of its last value in `writes`.
    pub variables: Vec<Option<usize>>,
    /// The final answer as recorded.
    pub answer: RunAnswer,
    /// The answer when the procedure is executed exactly from the extracted values.
    pub recovered: Option<Number>,
    /// No value on the way had to be taken from the record, but for what was extracted.
    pub exact: bool,
}

/// Function for the value of a write that no calculation explains, given its index and the values of the writes before.
/// `None`: as recorded; `Some(None)`: nobody knows.
type Unexplained<'o> = dyn Fn(usize, &[Option<Number>]) -> Option<Option<Number>> + 'o;

impl Recomputed {
    /// Tells of each write whether the final answer was calculated from it, as far as that is known; or is it.
    pub(crate) fn behind_the_end(&self, state: &State<'_>) -> Vec<bool> {
        let mut behind = vec![false; self.writes.len()];
        let end = state.variable(&Untrusted::from(FINAL_ANSWER)).and_then(|end| *self.variables.get(end)?);
        let mut waiting: Vec<usize> = end.into_iter().collect();
        while let Some(at) = waiting.pop() {
            let Some(is_behind) = behind.get_mut(at).filter(|is_behind| !**is_behind) else { continue };
            *is_behind = true;
            let inputs = self.writes.get(at).into_iter().flat_map(|write| &write.inputs);
            waiting.extend(inputs.filter_map(|(_, from)| *from));
        }
        behind
    }

    /// Executes a run.
    pub fn of(record: &Record<'_>, procedure: Option<&Procedure<'_>>, state: &State<'_>) -> Self {
        Self::judged(record, procedure, state, Rightness::of(record).verdict())
    }

    /// The same where it was judged already.
    pub(crate) fn judged(
        record: &Record<'_>,
        procedure: Option<&Procedure<'_>>,
        state: &State<'_>,
        right: Option<bool>,
    ) -> Self {
        let answer = RunAnswer::of(record);
        let runs = match record.kind {
            RecordKind::Procedural | RecordKind::Fixed => record.state.is_some(),
            // What ran before the end can be judged.
            RecordKind::Error => record.state.is_some() || record.trace_steps.is_some(),
            _ => false,
        };
        let Some(procedure) = procedure.filter(|_| runs && too_many_variables(state).is_none()) else {
            return Self { variables: vec![None; state.variables().len()], answer, ..Self::default() };
        };
        let mut execution = Execution::new(state, &procedure.steps, &answer);
        // A right run raises nothing, and need not be understood as far.
        execution.guesses = right != Some(true);
        for position in 0..procedure.steps.len() {
            execution.take_sets(position);
            if let Some(step) = procedure.steps.get(position).filter(|_| state.has_run(position) == Ran::Yes) {
                execution.step(position, step, position + 1 == procedure.steps.len());
            }
        }
        let Execution { writes, held, .. } = execution;
        let variables: Vec<_> = held.into_iter().map(|held| held.write).collect();
        let end = state.variable(&Untrusted::from(FINAL_ANSWER)).and_then(|end| *variables.get(end)?);
        // A recorded number that is only stated again was not recovered.
        let restated = |end: &&Computed| {
            let stated = end.is_statement();
            let input = end.inputs.first().and_then(|(_, write)| writes.get((*write)?));
            stated && input.is_none_or(|input| input.basis == ValueBasis::Recorded)
        };
        let end = end.and_then(|end| writes.get(end)).filter(|end| end.basis == ValueBasis::Plan && !restated(end));
        let (recovered, exact) = (end.and_then(|end| end.value), end.is_some_and(|end| end.exact));
        Self { writes, variables, answer, recovered, exact }
    }

    /// Tells whether the value that a step writes into a variable must be a number: its own plan gives one, or a later
    /// plan calculates with it.
    pub(crate) fn must_be_number(&self, variable: usize, step: usize) -> bool {
        let is_own = |write: &Computed| write.variable == variable && write.step == step && write.alone.is_some();
        let reads_it = |write: &Computed| {
            let plan = write.plan.as_ref().filter(|plan| write.step > step && plan.source != PlanSource::Value);
            plan.is_some_and(|plan| {
                plan.expression.is_operation() && plan.expression.names().contains(&(variable as u32))
            })
        };
        self.writes.iter().any(|write| is_own(write) || reads_it(write))
    }

    /// The last value of a variable.
    pub fn variable(&self, variable: usize) -> Option<&Computed> {
        self.writes.get((*self.variables.get(variable)?)?)
    }

    /// The value that a step gave a variable.
    pub fn write(&self, variable: usize, step: usize) -> Option<usize> {
        let is_it = |write: &Computed| write.variable == variable && write.step == step;
        self.writes.iter().position(|write| is_it(write) && write.basis != ValueBasis::Override)
    }

    /// The value that a step gave `final_answer`, the last one if there are several.
    pub fn end(&self, state: &State<'_>) -> Option<&Computed> {
        self.variable(state.variable(&Untrusted::from(FINAL_ANSWER))?)
    }

    /// Computes the final answer that the procedure would give if some of the extracted values were others.
    pub fn replay(&self, state: &State<'_>, others: &[(usize, Number)]) -> Option<Number> {
        let end = self.variables.get(state.variable(&Untrusted::from(FINAL_ANSWER))?).copied().flatten()?;
        *self.replayed(state, others, &|_, _| None).get(end)?
    }

    /// Computes the values of all writes in that case; for writes that no calculation explains, `open` is asked first.
    pub(crate) fn replayed(
        &self,
        state: &State<'_>,
        others: &[(usize, Number)],
        open: &Unexplained<'_>,
    ) -> Vec<Option<Number>> {
        let mut values: Vec<Option<Number>> = Vec::with_capacity(self.writes.len());
        for (n, write) in self.writes.iter().enumerate() {
            let other = others.iter().find(|(changed, _)| *changed == n).map(|(_, value)| *value);
            let planned = write.plan.as_ref().filter(|_| write.basis == ValueBasis::Plan);
            let as_recorded = || match planned {
                None => write.value,
                Some(plan) => evaluated(state, &plan.expression, |id| {
                    let (_, input) = write.inputs.iter().find(|(variable, _)| *variable == id as usize)?;
                    *values.get((*input)?)?
                }),
            };
            let value = other.or_else(|| open(n, &values).unwrap_or_else(as_recorded));
            values.push(value);
        }
        values
    }

    /// Builds the derivation of a value, back to what was extracted.
    pub fn derivation(&self, state: &State<'_>, write: usize) -> Option<Derivation> {
        let mut lines = 0;
        self.derive(state, write, 0, &mut lines)
    }

    fn derive(&self, state: &State<'_>, write: usize, depth: usize, lines: &mut usize) -> Option<Derivation> {
        let computed = self.writes.get(write)?;
        *lines += 1;
        let planned = computed.plan.as_ref().filter(|_| computed.basis == ValueBasis::Plan);
        let mut from = Vec::new();
        if planned.is_some() && depth < MAX_DEPTH {
            for (_, input) in &computed.inputs {
                if *lines < MAX_LINES
                    && let Some(input) = input
                {
                    from.extend(self.derive(state, *input, depth + 1, lines));
                }
            }
        }
        Some(Derivation {
            variable: computed.variable,
            name: name_of(state, computed.variable),
            value: computed.value?,
            formula: planned.filter(|plan| plan.expression.is_operation()).map(|plan| self.formula(computed, plan)),
            constants: planned.map_or_else(Vec::new, |plan| constants(&plan.expression)),
            step: computed.step,
            basis: computed.basis,
            from,
        })
    }

    /// Counts the values that went into a derived one, with those for which a derivation has no room.
    pub fn inputs_of(&self, derived: &Derivation) -> usize {
        let write = self.write(derived.variable, derived.step).and_then(|write| self.writes.get(write));
        let planned = write.filter(|_| derived.basis == ValueBasis::Plan);
        let inputs = planned.into_iter().flat_map(|write| &write.inputs).filter_map(|(_, input)| *input);
        inputs.filter(|input| self.writes.get(*input).is_some_and(|input| input.value.is_some())).count()
    }

    /// The plan with the numbers that go in: `2 × 4 − 1`.
    fn formula(&self, computed: &Computed, plan: &Plan) -> String {
        let value = |id| self.input(computed, id)?.value;
        plan.expression.formula(&|id| value(id).map_or_else(|| "?".to_owned(), Number::bracketed))
    }

    /// Finds the value that went into another as this variable.
    pub(crate) fn input(&self, of: &Computed, variable: u32) -> Option<&Computed> {
        let (_, write) = of.inputs.iter().find(|(known, _)| *known == variable as usize)?;
        self.writes.get((*write)?)
    }
}

/// Counts the variables that the procedure names, if they are too many to be recomputed. What else the state holds costs
/// nothing.
pub(crate) fn too_many_variables(state: &State<'_>) -> Option<usize> {
    let named = || state.variables().iter().filter(|variable| variable.field.is_some()).count();
    (state.variables().len() > MAX_VARIABLES).then(named).filter(|count| *count > MAX_VARIABLES)
}

/// Evaluates a calculation. In `1 - tax_percent` 15 means 0.15, in `tax_percent / 100` 0.15 or "15%" means 15.
fn evaluated(state: &State<'_>, expression: &Expression, value: impl Fn(u32) -> Option<Number>) -> Option<Number> {
    const PARTS: [&[u8]; 5] = [b"rate", b"discount", b"tax", b"tip", b"interest"];
    let is_share = |id: u32| {
        let variable = state.variables().get(id as usize);
        let says = |part: &&[u8]| variable.is_some_and(|of| memchr::memmem::find(of.name.bytes(), part).is_some());
        PARTS.iter().any(says) || is_percent(state, id as usize)
    };
    // "1.5 (150% as a decimal)"
    let is_decimal = |id: u32, number: Number| {
        let description = state.variables().get(id as usize).and_then(|variable| variable.field?.description);
        let description = Value::text_of(description);
        let percent = number.times(Number::whole(100)).map(|percent| format!("{}%", percent.shown()));
        let text = description.readable();
        text.contains("as a decimal")
            || text.contains("as decimal")
            || percent.is_some_and(|percent| text.contains(&percent))
    };
    let (shares, over_hundred) = (expression.shares(), expression.over_hundred());
    if shares.is_empty() && over_hundred.is_empty() {
        return expression.evaluate(value);
    }
    expression.evaluate(|id| {
        let number = value(id)?;
        let hundred = Number::whole(100);
        let share = Number::ZERO < number && number < Number::ONE;
        match shares.iter().find(|(name, _)| *name == id) {
            Some((_, true)) if number > Number::ONE && number < hundred && is_share(id) && !is_decimal(id, number) => {
                number.over(hundred)
            }
            Some((_, false)) if is_written_in_percent(state, id as usize) => number.times(hundred),
            None if over_hundred.contains(&id) && is_written_in_percent(state, id as usize) => number.times(hundred),
            Some((_, false)) if share && is_share(id) => number.times(hundred),
            _ => Some(number),
        }
    })
}

/// Tells whether a variable is in percent, by its name or description.
fn is_percent(state: &State<'_>, variable: usize) -> bool {
    let Some(variable) = state.variables().get(variable) else { return false };
    let name = variable.name.readable();
    let description = Value::text_of(variable.field.and_then(|field| field.description));
    name.contains("percent") || name.contains("pct") || says_percent(description.readable())
}

/// Tells whether the value of a variable is a text like "45%".
fn is_written_in_percent(state: &State<'_>, variable: usize) -> bool {
    let value = state.variables().get(variable).and_then(|variable| variable.final_value?.string());
    value.is_some_and(|text| text.bytes().ends_with(b"%") || text.bytes().ends_with(b"percent"))
}

/// Tells whether a text holds no sign but those that are always read: what another one does to a calculation beside it
/// nobody knows.
fn holds_only_known_signs(text: &str) -> bool {
    let is_known = |c: char| c.is_alphanumeric() || c.is_whitespace() || ".,;:?'\"()+-*/=_%$€£×÷·−–—’“”≈^".contains(c);
    text.chars().all(is_known) && !text.chars().any(|c| matches!(c, '²' | '³' | 'π' | 'Σ' | 'Δ'))
}

/// Tells whether a value is a size, with a letter between its numbers: "12 x 8 x 5".
fn is_size(value: Value<'_>) -> bool {
    let is_size = |text: &str| text.contains(" x ") && !text.contains(['*', '×', '+', '/']);
    value.string().is_some_and(|text| text.utf8().is_some_and(is_size))
}

/// Reads a number with one letter behind it: "300g". Of what is read from a question that is its unit.
fn before_unit_letter(value: Value<'_>) -> Option<Written> {
    let text = value.string()?;
    let number = text.utf8()?.trim().strip_suffix(|letter: char| letter.is_ascii_alphabetic())?;
    match expression::read(number, &Names::default()) {
        Reading::Number(number) => Some(number),
        _ => None,
    }
}

/// Tells whether a text speaks of a percentage.
fn says_percent(text: &str) -> bool {
    text.contains('%') || text.contains("ercent")
}

/// The name of a variable, ready for the screen.
pub(crate) fn name_of(state: &State<'_>, variable: usize) -> String {
    state.variables()[variable].name.line().into_string()
}

/// Derivation of a value: a tree to fold and unfold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Derivation {
    /// Index of the variable.
    pub variable: usize,
    /// Its name, ready for the screen.
    pub name: String,
    /// Its computed value.
    pub value: Number,
    /// The calculation with its numbers; `None`: it was taken over as it is.
    pub formula: Option<String>,
    /// Numbers in the calculation itself, each with whether something is divided by it.
    pub constants: Vec<(Number, bool)>,
    /// The step that writes it.
    pub step: usize,
    /// Basis of the value.
    pub basis: ValueBasis,
    /// The values that went in.
    pub from: Vec<Derivation>,
}

impl Derivation {
    /// On one line: `7 = 10 − 3 ← bob_length_expr = 10 (step 2), diff_sam_bob = 3 (step 1)`.
    pub fn line(&self) -> String {
        let mut line = self.value.shown();
        if let Some(formula) = &self.formula {
            line = format!("{line} = {formula}");
        }
        for (n, from) in self.from.iter().enumerate() {
            let joint = if n == 0 { " ← " } else { ", " };
            let by = match from.basis {
                ValueBasis::Override => "override".to_owned(),
                _ => format!("step {}", from.step + 1),
            };
            line = format!("{line}{joint}{} = {} ({by})", from.name, from.value.shown());
        }
        line
    }
}

/// Lists the numbers in a calculation, each with whether something is divided by it.
fn constants(expression: &Expression) -> Vec<(Number, bool)> {
    expression.numbers().into_iter().map(|number| (number, expression.divides_by(number))).collect()
}

struct Execution<'e, 'a> {
    state: &'e State<'a>,
    steps: &'e [Step<'a>],
    answer: &'e RunAnswer,
    names: Names,
    /// Of each variable what it holds now.
    held: Vec<HeldNumber>,
    writes: Vec<Computed>,
    /// Steps without a recipe are understood by their names.
    guesses: bool,
}

/// Value of a variable at some time, recorded and computed.
#[derive(Clone, Copy, Default)]
struct HeldNumber {
    /// The recorded number, or what its recorded calculation gives.
    recorded: Option<Number>,
    computed: Option<Number>,
    /// Index of its last write.
    write: Option<usize>,
}

/// The texts of a step that can hold a plan.
struct Texts<'t> {
    /// The step's text, in plain signs.
    step: &'t str,
    /// Its places in the record, where it was typeset.
    typeset: Option<&'t Plain>,
    found: &'t [Calculation],
    /// The step reads the question and nothing else.
    extracts: bool,
    last: bool,
    /// The text has numbered parts: what one of them says is not all.
    in_parts: bool,
}

impl<'e, 'a> Execution<'e, 'a> {
    fn new(state: &'e State<'a>, steps: &'e [Step<'a>], answer: &'e RunAnswer) -> Self {
        let mut names = Names::default();
        for (id, variable) in state.variables().iter().enumerate() {
            let name = variable.name.readable();
            if !matches!(name, PROBLEM_TEXT | FINAL_ANSWER_NUMERICAL | "confidence" | "units" | "final_answer_bool") {
                names.add(name, id as u32);
                // "unit price" is said of unitPrice.
                if let Cow::Owned(apart) = words_apart(name.as_bytes())
                    && let Ok(apart) = std::str::from_utf8(&apart)
                    && state.variable(&Untrusted::from(apart)).is_none()
                {
                    names.add(apart, id as u32);
                }
            }
        }
        // "bob_length" is also said of bob_length_expr, where nothing else has that name.
        for (id, variable) in state.variables().iter().enumerate() {
            let short = variable.name.utf8().and_then(|name| {
                ["_expr", "_expression", "_symbolic", "_formula"].iter().find_map(|end| name.strip_suffix(end))
            });
            if let Some(short) = short.filter(|short| state.variable(&Untrusted::from(*short)).is_none()) {
                names.add(short, id as u32);
            }
        }
        let count = state.variables().len();
        Self {
            state,
            steps,
            answer,
            names,
            held: vec![HeldNumber::default(); count],
            writes: Vec::new(),
            guesses: false,
        }
    }

    fn step(&mut self, position: usize, step: &Step<'a>, last: bool) {
        let text = Value::text_of(step.text);
        let text = text.readable();
        let typeset = is_typeset(text).then(|| Plain::of(text));
        let text = typeset.as_ref().map_or(text, |plain| &plain.text);
        let in_parts = asides::is_in_parts(text);
        let text = asides::without_asides(text, position + 1);
        let text = text.as_ref();
        let found = plans::found(text, &self.names);
        // What is worked out in the text is not read from the question.
        let extracts =
            step.input_names().all(|name| name == PROBLEM_TEXT) && memchr::memchr(b'=', text.as_bytes()).is_none();
        let texts = Texts { step: text, typeset: typeset.as_ref(), found: &found, extracts, last, in_parts };
        let mut order: Vec<usize> = (0..step.outputs.len()).collect();
        // `a = …, then b = a * …`: the later one needs the earlier.
        order.sort_by_key(|&output| {
            let variable = step.outputs.get(output).and_then(|field| self.index(field));
            let place = found.iter().find(|found| variable.is_some() && plans::target(found) == variable);
            place.map_or(usize::MAX, |found| found.range.start)
        });
        for output in order {
            self.output(position, step, output, &texts);
        }
    }

    /// Takes over the values that a person set before a step: the later steps calculate with them.
    fn take_sets(&mut self, position: usize) {
        let state = self.state;
        for set in state.sets().iter().filter(|set| set.put == Put::Override && set.step == position) {
            let Some(variable) = state.variable(&set.variable) else { continue };
            let mut computed = Computed::set(variable, position);
            match self.reading_of(Some(set.value)) {
                Reading::Number(number) | Reading::Done(_, number) => computed.recorded = Some(number),
                Reading::Expression(expression) => {
                    computed.unevaluated_value = self.by_record(&expression);
                    computed.value = self.by_execution(&expression);
                }
                Reading::Other => {}
            }
            computed.value = computed.recorded.map(|number| number.value).or(computed.value);
            let recorded = computed.wrote();
            self.keep(computed, recorded);
        }
    }

    /// The value goes into what comes later.
    fn keep(&mut self, computed: Computed, recorded: Option<Number>) {
        if let Some(held) = self.held.get_mut(computed.variable) {
            *held = HeldNumber { recorded, computed: computed.value, write: Some(self.writes.len()) };
        }
        self.writes.push(computed);
    }

    fn index(&self, field: &Field<'_>) -> Option<usize> {
        self.state.variable(&field.name_text()?)
    }

    fn held(&self, variable: usize) -> HeldNumber {
        // What stands for the calculation of another word is no variable.
        self.held.get(variable).copied().unwrap_or_default()
    }

    /// The recorded number of an input.
    fn recorded(&self, field: &Field<'_>) -> Option<Number> {
        self.held(self.index(field)?).recorded
    }

    /// The name of a variable; nothing where it is no text.
    fn name(&self, variable: usize) -> &'e str {
        self.state.variables().get(variable).map_or("", |variable| variable.name.readable())
    }

    fn output(&mut self, position: usize, step: &Step<'a>, output: usize, texts: &Texts<'_>) {
        let Some(field) = step.outputs.get(output) else { return };
        let Some(variable) = self.index(field) else { return };
        let description = Value::text_of(field.description);
        let description = description.readable();
        let value = self.value_written(variable, position);
        let (mut recorded, mut unevaluated) = (None, None);
        let equation = value
            .is_some_and(|value| value.kind() == Kind::String && memchr::memchr(b'=', &value.unescaped()).is_some());
        match self.reading(variable, value) {
            Reading::Number(number) | Reading::Done(_, number) => recorded = Some(number),
            // "12 x 8 x 5 inches" is a size.
            Reading::Expression(_) if texts.extracts && value.is_some_and(is_size) => {}
            Reading::Expression(expression) => {
                recorded = value.filter(|_| texts.extracts).and_then(before_unit_letter);
                unevaluated = Some(expression).filter(|_| recorded.is_none());
            }
            Reading::Other => {}
        }
        let wanted = PlanRequest { step, variable, texts, description, recorded };
        let mut plan = self.plan(&wanted).and_then(|plan| self.of_one_unit(plan, &wanted));
        if plan.is_none() {
            plan = self.implied(&wanted);
        }
        if let Some(plan) = plan.as_mut().filter(|plan| plan.wording == Wording::Signs) {
            let text = Value::text_of(step.text);
            let text = if plan.source == PlanSource::Description { Some(description) } else { text.utf8() };
            if !text.is_some_and(holds_only_known_signs) {
                (plan.class, plan.sure) = (ReadingClass::Surrounded, false);
            }
        }
        if let (Some(plan), Some(typeset)) = (&mut plan, texts.typeset)
            && plan.source == PlanSource::Step
        {
            plan.range = plan.range.as_ref().map(|range| typeset.range(range));
        }
        let unevaluated_value = unevaluated.as_ref().and_then(|expression| self.by_record(expression));
        let alone = plan.as_ref().and_then(|plan| self.by_record(&plan.expression));
        let mut value = plan.as_ref().and_then(|plan| self.by_execution(&plan.expression));
        if value.is_none()
            && let Some(expression) = unevaluated.clone()
            && let Some(result) = self.by_execution(&expression)
        {
            plan = Some(Plan { sure: true, ..Plan::of(expression, PlanSource::Value, ReadingClass::Recorded) });
            value = Some(result);
        }
        let names = plan.iter().flat_map(|plan| plan.expression.names());
        let mut variables = names.map(|name| name as usize).chain([variable]);
        let is_percentage = |variable| is_percent(self.state, variable) || is_written_in_percent(self.state, variable);
        let percent =
            plan.is_some() && (says_percent(description) || says_percent(texts.step) || variables.any(is_percentage));
        let inputs: Vec<(usize, Option<usize>)> = plan
            .iter()
            .flat_map(|plan| plan.expression.names())
            .map(|name| (name as usize, self.held(name as usize).write))
            .collect();
        let of_plan = Computed { output, basis: ValueBasis::Plan, exact: false, ..Computed::set(variable, position) };
        let mut computed = Computed {
            recorded,
            unevaluated,
            unevaluated_value,
            equation,
            plan,
            alone,
            value,
            inputs,
            percent,
            stale: self.state.is_stale(position),
            ..of_plan
        };
        self.settle(&mut computed, texts);
        self.keep(computed, recorded.map(|number| number.value).or(unevaluated_value));
    }

    /// Decides what the computed value rests on.
    fn settle(&self, computed: &mut Computed, texts: &Texts<'_>) {
        let recorded = computed.recorded.map(|number| number.value);
        let constant = computed.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Constant);
        let Some(value) = computed.value else {
            if computed.stale {
                computed.basis = ValueBasis::Recorded;
                return;
            }
            let exact = computed.recorded.filter(|_| texts.extracts).and_then(fraction);
            computed.value = exact.or(recorded).or(computed.unevaluated_value);
            computed.basis = if texts.extracts { ValueBasis::Extracted } else { ValueBasis::Recorded };
            computed.exact = texts.extracts && computed.value.is_some();
            return;
        };
        let exact = |&(_, write): &(usize, Option<usize>)| {
            write.and_then(|write| self.writes.get(write)).is_some_and(|write| write.exact)
        };
        // What only names suggest is no proof.
        let guessed = computed.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Implied);
        computed.exact = !guessed && computed.inputs.iter().all(exact);
        let agrees = !computed.stale && !computed.differs();
        let rounded = |number: &Number| {
            number.is_whole() && !value.is_whole() && computed.alone == Some(value) && agrees && !computed.percent
        };
        // Three buses and a bit are four buses: what was rounded to whole things stays so.
        if let Some(number) = recorded.filter(rounded) {
            computed.value = Some(number);
        }
        // Written as a percentage or as a share: the record's scale goes on.
        if let (Some(written), Some(alone), true) = (computed.recorded, computed.alone, agrees && !constant)
            && !written.stands_for(alone)
        {
            let hundred = Number::whole(100);
            let larger = written.value.magnitude() > alone.magnitude();
            computed.value = if larger { value.times(hundred) } else { value.over(hundred) };
        }
        // The same number in its own plan: as recorded.
        if constant && agrees && recorded.is_some() {
            computed.value = computed.recorded.and_then(fraction).or(recorded);
            computed.basis = if texts.extracts { ValueBasis::Extracted } else { ValueBasis::Plan };
        }
    }

    fn by_record(&self, expression: &Expression) -> Option<Number> {
        evaluated(self.state, expression, |id| self.held(id as usize).recorded)
    }

    fn by_execution(&self, expression: &Expression) -> Option<Number> {
        evaluated(self.state, expression, |id| self.held(id as usize).computed)
    }

    fn value_written(&self, variable: usize, step: usize) -> Option<Value<'a>> {
        let variable = self.state.variables().get(variable)?;
        let write = variable.writes.iter().find(|write| write.step == Some(step))?;
        // What a person set before anybody read the step's value is all that counts.
        let set = variable.writes.iter().find(|set| set.badge == Badge::Override && set.from >= write.from);
        let is_read = |set: &Write<'_>| variable.readers.iter().any(|&at| at >= write.from.0 && at < set.from.0);
        if set.is_some_and(|set| !is_read(set)) {
            return None;
        }
        write.value.filter(|_| {
            write.badge != Badge::Ambiguous || variable.writes.last().is_some_and(|last| last.from == write.from)
        })
    }

    fn reading(&self, variable: usize, value: Option<Value<'_>>) -> Reading {
        if self.name(variable) == FINAL_ANSWER {
            return self.answer.value().map_or(Reading::Other, Reading::Number);
        }
        self.reading_of(value)
    }

    fn reading_of(&self, value: Option<Value<'_>>) -> Reading {
        let Some(value) = value else { return Reading::Other };
        match value.kind() {
            Kind::String => value
                .string()
                .and_then(|text| Some(expression::read(text.utf8()?, &self.names)))
                .unwrap_or(Reading::Other),
            _ => Written::of(value).map_or(Reading::Other, Reading::Number),
        }
    }
}

/// The fraction that was written with a few decimals: 0.333 is a third.
fn fraction(written: Written) -> Option<Number> {
    let value = written.value;
    if written.decimals < 3 || value <= Number::ZERO || value >= Number::ONE {
        return None;
    }
    [3, 6, 7, 9, 11, 12].into_iter().find_map(|lower| {
        let fraction = Number::fraction((value.float() * f64::from(lower)).round() as i64, lower)?;
        let ends = (0..6).any(|digits| fraction.times(Number::whole(10_i64.pow(digits))).is_some_and(Number::is_whole));
        (!ends && written.stands_for(fraction)).then_some(fraction)
    })
}

/// Tells whether a text may name an operation in words or signs.
pub(crate) fn may_plan(text: &str) -> bool {
    prose::may_plan(text) || may_hold(text.as_bytes())
}

/// Returns the position of the text of a plan, as a JSON pointer.
pub(crate) fn plan_pointer(base: &Pointer, procedure: &Procedure<'_>, computed: &Computed) -> Option<Pointer> {
    let step = procedure.steps.get(computed.step)?;
    let here = Procedure::step_pointer(base, computed.step);
    Some(match computed.plan.as_ref()?.source {
        PlanSource::Step => {
            let camel = step.value.get("stepDescription").is_some();
            here.then(if camel { "stepDescription" } else { "step_description" })
        }
        PlanSource::Description => step.output_pointer(&here, computed.output).then("description"),
        PlanSource::Value => return None,
    })
}

#[cfg(test)]
mod tests;
