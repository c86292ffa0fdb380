//! Recomputation of each step: the calculation that the procedure asks for, carried out exactly.
//!
//! For every output of every step a calculation is looked for (`plans`) in the step's text, in the output's description,
//! in words (`prose`) and in the recorded value itself, of a wrong run in the names too (`implied`). It is evaluated
//! twice (`execution`): from the recorded inputs, which judges that one step, and from the computed ones, which executes
//! the whole procedure. The steps are gone through once, in order, so that no value can depend on itself.

use std::cell::OnceCell;
use std::ops::Range;

use stepscope_arithmetic::expression::{Expression, may_hold};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::prose;
use stepscope_arithmetic::stated::{Stated, read};
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, Procedure};
use stepscope_record::state::State;
use stepscope_record::{AnswerSchema, Record};

mod asides;
pub mod classes;
mod collected;
pub(crate) mod execution;
pub(crate) mod follows;
mod implied;
mod plans;
pub(crate) mod shapes;
pub mod standing;

use self::classes::{ReadingClass, Wording};

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
