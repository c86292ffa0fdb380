//! A chain of thought as a run: its texts are the steps, each calculation in them is a value that the step wrote, and
//! what the chain ends with is its answer.
//!
//! Such a record has no procedure and no state. They are made here once, as JSON of the shape that runs have, so that the
//! state over time, the execution, the rules and the screens look at a chain as at any other run. Every place in what was
//! made leads back to the text of the record that it stands for.

use std::fmt::Write as _;
use std::ops::Range;

use crate::gold::Gold;
use crate::quantity_links::{LinkedVariable, QuantityLinks};
use crate::recompute::classes::ReadingClass;
use crate::recompute::{Computed, Plan, PlanSource, Recomputed, RunAnswer, ValueBasis};
use stepscope_arithmetic::expression::{Equality, EqualitySide, Expression, Names, equalities, numbers};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::quantity::{Quantity, find};
use stepscope_arithmetic::stated::{read, read_value};
use stepscope_arithmetic::typeset::Plain;
use stepscope_base::json::write::{Object, Raw, Style};
use stepscope_base::json::{Kind, Part, Pointer, Tape, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::formats::chain::ChainParts;
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, PROBLEM_TEXT};
use stepscope_record::state::State;
use stepscope_record::{AnswerSchema, Record};

/// Maximum number of steps that are read. Real chains have a few dozen.
pub const MAX_STEPS: usize = 1_000;
/// Maximum number of values that are made of a chain.
const MAX_VALUES: usize = 400;
/// Maximum length of a step that is read; a longer one is prose without end: its rest is shown, not read.
const MAX_TEXT: usize = 64_000;
/// A name has no more words.
const MAX_WORDS: usize = 6;
/// Words of a step that tries an equation out and rejects it, or names one to be solved.
const HYPOTHESES: &[&str] = &[
    "false",
    "not true",
    "contradict",
    "not work",
    "n't work",
    "not hold",
    "not equal",
    "n't equal",
    "not satisf",
    "impossible",
    "no solution",
    "not possible",
    "suppose",
    "assume",
    "not a solution",
];

/// A chain of thought with the run that was made of it.
#[derive(Debug)]
pub struct ThoughtChain {
    text: Vec<u8>,
    tape: Tape,
    /// Place of each step in the record.
    steps: Vec<Place>,
    values: Vec<ChainValue>,
    answer: Option<ChainAnswer>,
    /// Members of the run other than the steps and values, with their places in the record.
    places: Vec<(&'static str, Place)>,
}

/// Result of a calculation in a step.
#[derive(Debug)]
struct ChainValue {
    name: String,
    step: usize,
    /// Position among the values of its step.
    output: usize,
    /// The number as it is written.
    says: Written,
    /// Calculation of the value, where it has one; names are positions among the values.
    plan: Option<Expression>,
    /// The part of the chain of equations that does not follow, where it is not the first.
    broken: Option<(Expression, Written)>,
    /// Bytes of the calculation in the text of the step.
    range: Range<usize>,
    /// Place of the number in the record.
    place: Place,
}

/// Number that the chain ends with.
#[derive(Debug)]
struct ChainAnswer {
    says: Written,
    /// The value that it states again.
    from: Option<usize>,
}

/// The text of one step.
struct StepText<'a> {
    text: Untrusted<'a>,
    place: Place,
}

impl StepText<'_> {
    /// Returns the place in the record of some bytes of the text.
    fn span(&self, range: &Range<usize>) -> Place {
        let (pointer, offset) = match &self.place {
            Place::Span { pointer, start, .. } => (pointer.clone(), *start),
            place => (place.pointer(), 0),
        };
        Place::Span { pointer, start: offset + range.start, end: offset + range.end }
    }
}

impl ThoughtChain {
    /// Makes a run of a chain of thought; `None` of any other record.
    pub fn of(record: &Record<'_>) -> Option<Self> {
        let parts = record.chain.as_deref()?;
        let texts = step_texts(parts);
        let question = Value::text_of(record.question);
        let quantities = find(question.bytes());
        let mut reading = ChainReader {
            quantities: &quantities,
            values: Vec::new(),
            letters: Vec::new(),
            names: Names::default(),
            is_hypothesis: false,
            open: Vec::new(),
        };
        for (step, text) in texts.iter().enumerate() {
            reading.step(step, text);
        }
        let values = reading.values;
        let (answer, answer_place, said) = answer(record, parts, &texts, &values);
        let mut places = vec![("question", Place::Value(parts.question.clone()))];
        for (key, pointer) in [("gold_num", &parts.gold), ("gold_answer", &parts.gold_text)] {
            places.extend(pointer.clone().map(|pointer| (key, Place::Value(pointer))));
        }
        places.extend(parts.correct.clone().map(|pointer| ("correct", Place::Value(pointer))));
        if let Some(place) = answer_place {
            places.extend(
                ["pred_num", "pred_answer", FINAL_ANSWER, FINAL_ANSWER_NUMERICAL].map(|key| (key, place.clone())),
            );
        }
        let mut chain = Self {
            text: Vec::new(),
            tape: Tape::default(),
            steps: texts.iter().map(|text| text.place.clone()).collect(),
            values,
            answer,
            places,
        };
        chain.text = chain.run(&texts, said.as_ref(), &quantities);
        let _ = chain.tape.read(&chain.text);
        Some(chain)
    }

    /// Completes the record with its procedure and state.
    pub fn complete<'a>(&'a self, record: &mut Record<'a>) {
        let Some(root) = self.tape.root(&self.text) else { return };
        record.procedure = root.get("procedure");
        record.procedure_pointer = Pointer::from_iter(["procedure"]);
        record.state = root.get("state");
        record.answer = record.state;
        let is_number = record.state.is_some_and(|state| state.get(FINAL_ANSWER_NUMERICAL).is_some());
        record.answer_schema = Some(if is_number { AnswerSchema::Gsm } else { AnswerSchema::General });
    }

    /// Writes the procedure and state as JSON.
    fn run(&self, texts: &[StepText<'_>], said: Option<&Untrusted<'_>>, quantities: &[Quantity]) -> Vec<u8> {
        let name = |value: usize| self.values[value].name.as_str();
        Style::ASCII.object(|object| {
            object.object("procedure", |object| {
                object.put("NameDescription", "Chain of thought");
                object.objects("steps", texts.iter().enumerate(), |(step, text), object| {
                    let own = || self.values.iter().filter(|value| value.step == step);
                    let mut reads: Vec<usize> = own()
                        .flat_map(|value| value.plan.iter().flat_map(Expression::names))
                        .map(|name| name as usize)
                        .filter(|read| self.values.get(*read).is_some_and(|value| value.step < step))
                        .collect();
                    let is_last = step + 1 == texts.len();
                    if is_last {
                        let from = self.answer.as_ref().and_then(|answer| answer.from);
                        reads.extend(from.filter(|from| self.values.get(*from).is_some_and(|value| value.step < step)));
                    }
                    reads.sort_unstable();
                    reads.dedup();
                    let constants = own().flat_map(|value| value.plan.iter().flat_map(Expression::numbers));
                    let given = match own().next() {
                        Some(_) => stand_in_question(constants, quantities),
                        None => uses_question(&text.text, quantities),
                    };
                    object.put("id", step + 1);
                    let inputs = given.then_some(PROBLEM_TEXT).into_iter().chain(reads.iter().map(|read| name(*read)));
                    object.objects("inputs", inputs, |name, object| field(name, "", object));
                    object.put("stepDescription", &text.text);
                    let outputs = own().map(|value| value.name.as_str()).chain(is_last.then_some(FINAL_ANSWER));
                    object.objects("output", outputs, |name, object| field(name, "", object));
                });
            });
            object.object("state", |object| {
                for value in &self.values {
                    object.put(&value.name, Raw(value.says.value.json()));
                }
                if let Some(said) = said {
                    object.put(FINAL_ANSWER, said);
                }
                if let Some(answer) = &self.answer {
                    object.put(FINAL_ANSWER_NUMERICAL, Raw(answer.says.value.json()));
                }
            });
        })
    }

    /// Finds the place in the record of a place in the run that was made.
    pub fn place(&self, place: &Place) -> Place {
        let (pointer, within) = match place {
            Place::Key(pointer) | Place::Value(pointer) => (pointer, None),
            Place::Span { pointer, start, end } => (pointer, Some(*start..*end)),
            Place::Bytes { .. } => return place.clone(),
        };
        let mut parts = pointer.0.iter();
        let key = |part: Option<&Part>| match part {
            Some(Part::Key(key)) => Some(key.clone()),
            _ => None,
        };
        let found = match key(parts.next()) {
            Some(first) if first == "state" => self.value_place(key(parts.next())),
            Some(first) if first == "procedure" => match (parts.next(), parts.next()) {
                (Some(_), Some(Part::Index(step))) => self.steps.get(*step).cloned(),
                _ => self.steps.first().map(|step| Place::Value(step.pointer())),
            },
            first => {
                return first
                    .and_then(|first| self.member_place(&first))
                    .map_or_else(|| place.clone(), |found| within_place(found, within));
            }
        };
        let nowhere = || self.steps.first().map_or_else(|| place.clone(), |first| Place::Value(first.pointer()));
        within_place(found.unwrap_or_else(nowhere), within)
    }

    fn value_place(&self, name: Option<Untrusted<'_>>) -> Option<Place> {
        let name = name?;
        let value = self.values.iter().find(|value| name == value.name.as_str());
        value.map(|value| value.place.clone()).or_else(|| self.member_place(&name))
    }

    fn member_place(&self, name: &Untrusted<'_>) -> Option<Place> {
        self.places.iter().find(|(key, _)| *name == *key).map(|(_, place)| place.clone())
    }

    /// Finds the step that a place in the record lies in, by position.
    pub fn step_at(&self, place: &Place) -> Option<usize> {
        let pointer = place.pointer();
        self.steps.iter().position(|step| match (step, place) {
            (Place::Span { pointer: own, start, end }, Place::Span { start: from, .. }) => {
                *own == pointer && (*start..*end).contains(from)
            }
            (Place::Value(own), _) => pointer.is_within(own),
            _ => false,
        })
    }

    /// Finds the name of the value at a place in the record.
    pub fn name_at(&self, place: &Place) -> Option<&str> {
        self.values.iter().find(|value| value.place == *place).map(|value| value.name.as_str())
    }

    /// Moves the finding to its place in the record.
    pub(crate) fn placed(&self, finding: Finding) -> Finding {
        finding.placed(|place| self.place(place))
    }

    /// Executes the chain exactly: each calculation from the values that it names.
    pub(crate) fn recomputed(&self, record: &Record<'_>, state: &State<'_>) -> Recomputed {
        let mut writes: Vec<Computed> = Vec::with_capacity(self.values.len() + 1);
        // Of each value, its variable.
        let ids: Vec<Option<usize>> =
            self.values.iter().map(|value| state.variable(&Untrusted::from(value.name.as_str()))).collect();
        let mut variables = vec![None; state.variables().len()];
        for (n, value) in self.values.iter().enumerate() {
            let Some(variable) = ids.get(n).copied().flatten() else { continue };
            let names = value.plan.as_ref().map_or_else(Vec::new, Expression::names);
            let input = |name: u32| Some((ids.get(name as usize).copied()??, Some(name as usize)));
            let recorded = |name: u32| self.values.get(name as usize).map(|value| value.says.value);
            let exact = |name: u32| writes.get(name as usize).and_then(|write| write.value);
            let alone = value.plan.as_ref().and_then(|plan| plan.evaluate(recorded));
            let worked = value.plan.as_ref().and_then(|plan| plan.evaluate(exact));
            let plan = value.plan.as_ref().and_then(|plan| {
                let expression = plan.renamed(|name| Some(ids.get(name as usize).copied()?? as u32))?;
                let plan = Plan::of(expression, PlanSource::Step, ReadingClass::Chained);
                Some(Plan { range: Some(value.range.clone()), sure: true, ..plan })
            });
            let basis = if plan.is_some() && worked.is_some() { ValueBasis::Plan } else { ValueBasis::Recorded };
            // What was rounded on purpose stays so.
            let agrees = alone == worked && alone.is_some_and(|alone| value.says.stands_for(alone));
            let result = worked.filter(|_| !agrees).unwrap_or(value.says.value);
            let mut computed = Computed::of_chain(variable, value.step, value.output);
            computed.recorded = Some(value.says);
            (computed.plan, computed.alone) = (plan, alone);
            (computed.value, computed.basis) = (Some(result), basis);
            computed.exact = basis == ValueBasis::Plan;
            computed.inputs = names.into_iter().filter_map(input).collect();
            if let Some(slot) = variables.get_mut(variable) {
                *slot = Some(writes.len());
            }
            writes.push(computed);
        }
        let mut recomputed = Recomputed { answer: RunAnswer::of(record), ..Recomputed::default() };
        let end = state.variable(&Untrusted::from(FINAL_ANSWER));
        if let Some(((end, answer), from)) = end.zip(self.answer.as_ref()).and_then(|both| Some((both, both.1.from?)))
            && let Some((variable, input)) = ids.get(from).copied().flatten().zip(writes.get(from))
        {
            let mut computed = Computed::of_chain(end, self.steps.len().saturating_sub(1), input.output + 1);
            let expression = Expression::name(variable as u32);
            let plan = Plan::of(expression, PlanSource::Step, ReadingClass::Statement);
            (computed.recorded, computed.plan) = (Some(answer.says), Some(plan));
            (computed.alone, computed.value) = (input.recorded.map(|number| number.value), input.value);
            (computed.basis, computed.exact) = (ValueBasis::Plan, input.exact);
            computed.inputs = vec![(variable, Some(from))];
            // A number that is only stated again was not recovered.
            let is_changed = computed.value != computed.alone;
            recomputed.recovered = computed.value.filter(|_| is_changed || input.basis == ValueBasis::Plan);
            recomputed.exact = input.exact;
            if let Some(slot) = variables.get_mut(end) {
                *slot = Some(writes.len());
            }
            writes.push(computed);
        }
        (recomputed.writes, recomputed.variables) = (writes, variables);
        recomputed
    }

    /// Links the quantities of the question to the values of the chain that use them.
    pub(crate) fn quantity_links(&self, record: &Record<'_>) -> Option<QuantityLinks> {
        let question = record.question?.string()?;
        let uses = self.values.iter().map(|value| {
            let holder = LinkedVariable { step: value.step, output: value.output, extracts: false };
            (holder, value.plan.as_ref().map_or_else(Vec::new, Expression::numbers))
        });
        let uses: Vec<_> = uses.collect();
        let texts = step_texts(record.chain.as_deref()?);
        let texts = texts.iter().filter(|text| text.text.bytes().len() <= MAX_TEXT);
        let numbers: Vec<Quantity> = texts.flat_map(|text| find(text.text.bytes())).collect();
        Some(QuantityLinks::of_uses(question.bytes(), &uses, &numbers))
    }

    /// Finds the equations of the chain that do not hold within a longer one.
    pub(crate) fn broken(&self) -> impl Iterator<Item = BrokenLink<'_>> {
        self.values.iter().filter_map(|value| {
            let (expression, says) = value.broken.as_ref()?;
            let name = |at: u32| self.values.get(at as usize).map_or_else(String::new, |value| value.name.clone());
            let gives = expression.evaluate(|at| self.values.get(at as usize).map(|value| value.says.value))?;
            let formula = expression.formula(&name);
            Some(BrokenLink { step: value.step, formula, gives, says: says.value, place: &value.place })
        })
    }
}

/// A part of a chain of equations that does not follow, though its end is what its beginning gives.
pub(crate) struct BrokenLink<'c> {
    /// The step.
    pub step: usize,
    /// Formula that is calculated.
    pub formula: String,
    /// Result of the formula.
    pub gives: Number,
    /// Number that the text has in place of the result.
    pub says: Number,
    /// Place of the number in the record.
    pub place: &'c Place,
}

fn field(name: &str, description: &str, object: &mut Object<'_>) {
    object.put("name", name).put("description", description);
}

/// Returns a part of a place.
fn within_place(place: Place, within: Option<Range<usize>>) -> Place {
    match (place, within) {
        (Place::Span { pointer, start, .. }, Some(within)) => {
            Place::Span { pointer, start: start + within.start, end: start + within.end }
        }
        (Place::Value(pointer), Some(within)) => Place::Span { pointer, start: within.start, end: within.end },
        (place, _) => place,
    }
}

/// Tells whether a number of the question occurs in a step.
fn uses_question(text: &Untrusted<'_>, quantities: &[Quantity]) -> bool {
    let Some(text) = text.utf8().filter(|text| text.len() <= MAX_TEXT) else { return false };
    stand_in_question(numbers(text).into_iter().map(|(number, _)| number.value), quantities)
}

fn stand_in_question(mut numbers: impl Iterator<Item = Number>, quantities: &[Quantity]) -> bool {
    numbers.any(|number| quantities.iter().any(|quantity| quantity.value.is_near(number)))
}

/// Lists the texts of the steps: the items of the list, or the lines of the solution that hold something.
fn step_texts<'a>(parts: &ChainParts<'a>) -> Vec<StepText<'a>> {
    if parts.steps.kind() == Kind::Array {
        let items = parts.steps.items().enumerate().take(MAX_STEPS);
        let text = |(n, item): (usize, Value<'a>)| StepText {
            text: item.string().unwrap_or_else(|| Untrusted::new(item.raw())),
            place: Place::Value(parts.pointer.then(n)),
        };
        return items.map(text).collect();
    }
    let text = Value::text_of(Some(parts.steps));
    let bytes = text.bytes();
    let mut steps: Vec<StepText<'a>> = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (start, end) = (at + line.len() - line.trim_ascii_start().len(), at + line.trim_ascii_end().len());
        at += line.len();
        let line = line.trim_ascii();
        if steps.len() >= MAX_STEPS || !line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80) {
            continue;
        }
        // What only goes on with the line before belongs to it.
        let goes_on = ["=", "≈", "####"].iter().any(|mark| line.starts_with(mark.as_bytes()));
        let place = |start| Place::Span { pointer: parts.pointer.clone(), start, end };
        match steps.last_mut().filter(|_| goes_on) {
            Some(last) => {
                let Place::Span { start, .. } = last.place else { continue };
                let both = &bytes[start..end];
                *last = StepText { text: Untrusted::owned(both.to_vec()), place: place(start) };
            }
            None => steps.push(StepText { text: Untrusted::owned(line.to_vec()), place: place(start) }),
        }
    }
    steps
}

struct ChainReader<'q> {
    quantities: &'q [Quantity],
    values: Vec<ChainValue>,
    /// Letters that denote one value each: `A = 12`, and later `A - B`.
    letters: Vec<(String, u32)>,
    names: Names,
    /// The step tries something out: what it writes need not hold.
    is_hypothesis: bool,
    /// Calculations that were named and not worked out yet: `Total = 5 * 4`.
    open: Vec<(String, Expression, Range<usize>)>,
}

impl ChainReader<'_> {
    fn step(&mut self, step: usize, text: &StepText<'_>) {
        let Some(source) = text.text.utf8().filter(|source| source.len() <= MAX_TEXT) else { return };
        let plain = Plain::of(source);
        let lower = source.to_lowercase();
        self.is_hypothesis = HYPOTHESES.iter().any(|words| lower.contains(words));
        self.open.clear();
        let none = Names::default();
        let mut at = 0;
        for line in plain.text.split_inclusive('\n') {
            for equality in equalities(line, if self.is_hypothesis { &none } else { &self.names }) {
                self.equality(step, text, (line, at, &plain), &equality);
            }
            at += line.len();
        }
    }

    fn equality(&mut self, step: usize, text: &StepText<'_>, line: (&str, usize, &Plain), equality: &Equality) {
        let (line, offset, plain) = line;
        if self.values.len() >= MAX_VALUES {
            return;
        }
        let known: Vec<Number> = self.values.iter().map(|value| value.says.value).collect();
        let recorded = |name: u32| known.get(name as usize).copied();
        let source = |range: &Range<usize>| plain.range(&(range.start + offset..range.end + offset));
        let name = equality.named.clone().and_then(|range| line.get(range)).and_then(name_of);
        let broken = equality.sides.windows(2).find_map(|pair| match pair {
            [before, here] if here.follows(before, &recorded) == Some(false) => Some((before, here)),
            _ => None,
        });
        let broken = broken.filter(|_| !self.is_hypothesis);
        let Some(last) = equality.sides.last() else { return };
        let Some(says) = last.written else {
            // Named now and worked out on a later line.
            if let (Some(name), None) = (name, broken)
                && last.is_calculation()
            {
                self.open.push((name, last.expression.clone(), source(&last.range)));
            }
            return self.broken_without_end(step, text, broken, source);
        };
        let first = equality.sides.iter().find(|side| side.is_calculation());
        let opened = name.as_ref().filter(|_| first.is_none()).and_then(|name| {
            let at = self.open.iter().rposition(|(open, ..)| open == name)?;
            Some(self.open.swap_remove(at))
        });
        let (plan, range) = match (first, opened) {
            (Some(first), _) => (Some(self.linked(&first.expression)), source(&first.range)),
            (None, Some((_, expression, range))) => (Some(self.linked(&expression)), range),
            // A bare statement: worth a value where a letter gets one.
            (None, None) if name.as_ref().is_some_and(|name| is_letter(name)) => (None, source(&last.range)),
            (None, None) => return,
        };
        let place = text.span(&source(&last.range));
        let gives = |plan: &Expression| plan.evaluate(recorded);
        // A difference that was read as a change of units, or that nobody can judge, is none.
        let holds = plan.as_ref().and_then(&gives).is_none_or(|gives| says.stands_for(gives));
        let chain_holds = broken.is_none();
        let plan = plan.filter(|_| holds || !chain_holds);
        let broken = broken.filter(|_| holds).and_then(|(before, here)| {
            let value = here.value(&recorded)?;
            Some((before.expression.clone(), here.written.unwrap_or(Written { value, decimals: 9 })))
        });
        if let Some(plan) = plan.as_ref().filter(|_| holds && chain_holds) {
            self.take_back(plan, step);
        }
        let output = self.values.iter().filter(|value| value.step == step).count();
        let name = self.free(name.or_else(|| unit_name(line, last)), step);
        if plan.is_some() {
            self.take_letter(&name);
        }
        self.values.push(ChainValue { name, step, output, says, plan, broken, range, place });
    }

    /// Forgets what the chain itself corrects, here or in the next step: `12 * 5 = 61. Wait, 12 * 5 = 60`.
    fn take_back(&mut self, plan: &Expression, step: usize) {
        let known: Vec<Number> = self.values.iter().map(|value| value.says.value).collect();
        let gives = plan.evaluate(|name| known.get(name as usize).copied());
        let is_corrected = |value: &&mut ChainValue| {
            step <= value.step + 1
                && value.plan.as_ref() == Some(plan)
                && gives.is_some_and(|gives| !value.says.stands_for(gives))
        };
        for value in self.values.iter_mut().filter(is_corrected) {
            value.plan = None;
        }
    }

    /// Makes a letter denote its value from now on; one that gets another value denotes none.
    fn take_letter(&mut self, name: &str) {
        let letter = name.split('_').next().filter(|letter| is_letter(letter));
        let Some(letter) = letter else { return };
        let is_new = letter == name;
        self.letters.retain(|(known, _)| known != letter);
        if is_new {
            self.letters.push((letter.to_owned(), self.values.len() as u32));
        }
        self.names = Names::default();
        for (letter, value) in &self.letters {
            self.names.add(letter, *value);
        }
    }

    /// Adds the value of a chain of equations that breaks and does not end in a number.
    fn broken_without_end(
        &mut self,
        step: usize,
        text: &StepText<'_>,
        broken: Option<(&EqualitySide, &EqualitySide)>,
        source: impl Fn(&Range<usize>) -> Range<usize>,
    ) {
        let Some((before, here)) = broken else { return };
        let known: Vec<Number> = self.values.iter().map(|value| value.says.value).collect();
        let beside = if before.is_calculation() { here } else { before };
        let Some(value) = beside.value(&|name| known.get(name as usize).copied()) else { return };
        let output = self.values.iter().filter(|value| value.step == step).count();
        let name = self.free(None, step);
        let says = Written { value, decimals: 9 };
        // What is to be worked out, and what stands beside it.
        let plan = if before.is_calculation() { before } else { here };
        let says = beside.written.unwrap_or(says);
        let place = text.span(&source(&beside.range));
        let (plan, range) = (Some(self.linked(&plan.expression)), source(&plan.range));
        self.values.push(ChainValue { name, step, output, says, plan, broken: None, range, place });
    }

    /// Puts earlier values in place of the numbers of a calculation; a number of the question is the question's.
    fn linked(&self, expression: &Expression) -> Expression {
        expression.with_names(|number| {
            let in_question = self.quantities.iter().any(|quantity| quantity.value == number);
            let at = self.values.iter().rposition(|value| value.says.value == number).filter(|_| !in_question)?;
            Some(at as u32)
        })
    }

    /// Finds a name that no other value has.
    fn free(&self, name: Option<String>, step: usize) -> String {
        let name = name.unwrap_or_else(|| format!("step_{}_value", step + 1));
        let reserved = [PROBLEM_TEXT, FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, "confidence", "units", "final_answer_bool"];
        let taken = |name: &str| reserved.contains(&name) || self.values.iter().any(|value| value.name == name);
        if !taken(&name) {
            return name;
        }
        let mut free = String::new();
        for n in 2.. {
            free.clear();
            let _ = write!(free, "{name}_{n}");
            if !taken(&free) {
                break;
            }
        }
        free
    }
}

/// Tells whether a name is a capital letter: in English prose no other letter alone denotes a value.
fn is_letter(name: &str) -> bool {
    name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Makes a variable's name of the words before an equals sign: `Total amount spent`.
fn name_of(words: &str) -> Option<String> {
    const LEADING: &[&str] = stepscope_base::list![
        so then thus therefore hence the a an is are was now and we have get this that let calculate compute find which
        means it equals lets thats i there
    ];
    if words.contains(['+', '*', '/', '^', '(', '<', '>']) || words.contains(" - ") {
        return None;
    }
    let is_sign = |c: char| !(c.is_alphanumeric() || c == '_');
    let words = words.replace(['\'', '’'], "");
    let words: Vec<&str> = words.split(is_sign).filter(|word| !word.is_empty()).collect();
    let first = words.iter().position(|word| is_letter(word) || !LEADING.contains(&word.to_lowercase().as_str()))?;
    let words = words.get(first..)?;
    let starts = words.first()?.starts_with(|c: char| c.is_alphabetic());
    if words.len() > MAX_WORDS || !starts {
        return None;
    }
    if let [word] = words
        && is_letter(word)
    {
        return Some((*word).to_owned());
    }
    let name = words.join("_").to_lowercase();
    name.is_ascii().then_some(name).filter(|name| name.len() <= 60)
}

/// Makes a variable's name of the words after a number: `56 slices`.
fn unit_name(line: &str, side: &EqualitySide) -> Option<String> {
    const JOINTS: &[&str] =
        stepscope_base::list![and or of is are so in on for to per each left more the a that which from by with];
    let rest = line.get(side.range.end..)?;
    // Behind a calculator's mark the number stands once more.
    let printed = rest.trim_start_matches(|c: char| c == '>' || c == '.' || c == ',' || c.is_ascii_digit());
    let rest = if rest.starts_with(">>") { printed } else { rest }.trim_start_matches([' ', ')', '%']);
    let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
    let lower = word.to_lowercase();
    (word.len() > 2 && !JOINTS.contains(&lower.as_str())).then_some(lower)
}

/// Finds the number that the chain ends with, its place, and its text.
fn answer<'a>(
    record: &Record<'a>,
    parts: &ChainParts<'a>,
    texts: &[StepText<'a>],
    values: &[ChainValue],
) -> (Option<ChainAnswer>, Option<Place>, Option<Untrusted<'a>>) {
    let expected = Gold::of(record).map(|gold| gold.value);
    let from = |says: Written| {
        values.iter().rposition(|value| value.says.value.is_near(says.value) || says.stands_for(value.says.value))
    };
    let number = |says: Written| ChainAnswer { says, from: from(says) };
    if let Some(given) = record.pred_answer.filter(|answer| !answer.is_null()) {
        let said = given.string().or_else(|| Some(Untrusted::new(given.raw())));
        let says = read_value(given).and_then(|given| given.number_like(expected));
        return (says.map(number), parts.answer.clone().map(Place::Value), said);
    }
    let stated = texts.last().and_then(|last| {
        let text = last.text.utf8()?;
        let stated = read(text)?;
        Some((last, &text[stated.range.clone()], stated))
    });
    let value = values.last().filter(|value| value.step + 1 == texts.len());
    let of_value = |value: &ChainValue| {
        let end = ChainAnswer { says: value.says, from: Some(values.len() - 1) };
        (Some(end), Some(value.place.clone()), Some(Untrusted::from(value.says.value.shown())))
    };
    let Some((last, words, stated)) = stated else { return value.map_or((None, None, None), of_value) };
    let says = stated.number_like(expected);
    // Words without an answer say less than the last equation.
    if let (None, Some(value), false) = (says, value, stated.is_announced || stated.is_restated()) {
        return of_value(value);
    }
    // What is typeset is shown as a number.
    let text = match says {
        Some(says) if words.contains('\\') => says.value.to_string(),
        _ => Plain::of(words).text,
    };
    let is_answer = says.is_some() || stated.is_announced || stated.is_restated();
    let said = is_answer.then(|| Untrusted::owned(text.trim().as_bytes().to_vec()));
    (says.map(number), is_answer.then(|| last.span(&stated.range)), said)
}

#[cfg(test)]
mod tests;
