//! Execution of a run: its steps one after the other, each value from the recorded inputs and from the computed ones.

use std::borrow::Cow;

use super::classes::{ReadingClass, Wording};
use super::plans::{PlanRequest, found as calculations, target};
use super::{
    Computed, Plan, PlanSource, Recomputed, RunAnswer, ValueBasis, asides, evaluated, is_percent,
    is_written_in_percent, says_percent, too_many_variables,
};
use stepscope_arithmetic::expression;
use stepscope_arithmetic::expression::{Calculation, Expression, Names, Reading};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::typeset::{Plain, is_typeset};
use stepscope_base::json::{Kind, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::{
    FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, Field, PROBLEM_TEXT, Procedure, Step, words_apart,
};
use stepscope_record::state::{Badge, Ran, State, Write};
use stepscope_record::trace::Put;
use stepscope_record::{Record, RecordKind};

/// Executes a run; `right`: whether it is known to be right or wrong.
pub(crate) fn execute(
    record: &Record<'_>,
    procedure: Option<&Procedure<'_>>,
    state: &State<'_>,
    right: Option<bool>,
) -> Recomputed {
    let answer = RunAnswer::of(record);
    let runs = match record.kind {
        RecordKind::Procedural | RecordKind::Fixed => record.state.is_some(),
        // What ran before the end can be judged.
        RecordKind::Error => record.state.is_some() || record.trace_steps.is_some(),
        _ => false,
    };
    let Some(procedure) = procedure.filter(|_| runs && too_many_variables(state).is_none()) else {
        return Recomputed { variables: vec![None; state.variables().len()], answer, ..Recomputed::default() };
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
    Recomputed { writes, variables, answer, recovered, exact }
}

/// A run that is being executed.
pub(super) struct Execution<'e, 'a> {
    pub(super) state: &'e State<'a>,
    pub(super) steps: &'e [Step<'a>],
    pub(super) answer: &'e RunAnswer,
    pub(super) names: Names,
    /// Of each variable what it holds now.
    pub(super) held: Vec<HeldNumber>,
    pub(super) writes: Vec<Computed>,
    /// Steps without a recipe are understood by their names.
    pub(super) guesses: bool,
}

/// Value of a variable at some time, recorded and computed.
#[derive(Clone, Copy, Default)]
pub(super) struct HeldNumber {
    /// The recorded number, or what its recorded calculation gives.
    pub(super) recorded: Option<Number>,
    pub(super) computed: Option<Number>,
    /// Index of its last write.
    pub(super) write: Option<usize>,
}

/// The texts of a step that can hold a plan.
pub(super) struct Texts<'t> {
    /// The step's text, in plain signs.
    pub(super) step: &'t str,
    /// Its places in the record, where it was typeset.
    pub(super) typeset: Option<&'t Plain>,
    pub(super) found: &'t [Calculation],
    /// The step reads the question and nothing else.
    pub(super) extracts: bool,
    pub(super) last: bool,
    /// The text has numbered parts: what one of them says is not all.
    pub(super) in_parts: bool,
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
        let found = calculations(text, &self.names);
        // What is worked out in the text is not read from the question.
        let extracts =
            step.input_names().all(|name| name == PROBLEM_TEXT) && memchr::memchr(b'=', text.as_bytes()).is_none();
        let texts = Texts { step: text, typeset: typeset.as_ref(), found: &found, extracts, last, in_parts };
        let mut order: Vec<usize> = (0..step.outputs.len()).collect();
        // `a = …, then b = a * …`: the later one needs the earlier.
        order.sort_by_key(|&output| {
            let variable = step.outputs.get(output).and_then(|field| self.index(field));
            let place = found.iter().find(|found| variable.is_some() && target(found) == variable);
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

    pub(super) fn index(&self, field: &Field<'_>) -> Option<usize> {
        self.state.variable(&field.name_text()?)
    }

    pub(super) fn held(&self, variable: usize) -> HeldNumber {
        // What stands for the calculation of another word is no variable.
        self.held.get(variable).copied().unwrap_or_default()
    }

    /// The recorded number of an input.
    pub(super) fn recorded(&self, field: &Field<'_>) -> Option<Number> {
        self.held(self.index(field)?).recorded
    }

    /// The name of a variable; nothing where it is no text.
    pub(super) fn name(&self, variable: usize) -> &'e str {
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

    pub(super) fn by_record(&self, expression: &Expression) -> Option<Number> {
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
