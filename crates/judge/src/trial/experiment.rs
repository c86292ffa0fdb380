//! Experiments on a wrong run: one value is replaced, and what follows is carried out again. A step is accused only if
//! the run then gives the expected answer, and does not with the value that the step recorded.
//!
//! A step whose calculation was read is carried out by it. Of any other it is looked up how its recorded number came out
//! of the recorded numbers that it read: so it would have gone on from others.

use std::cell::OnceCell;

use super::Trial;
use super::said::said;
use crate::gold::Gold;
use crate::recompute::shapes::{Recipe, Tried, TriedRecipe, TriedRecipes, fitting, may_extend};
use crate::recompute::{Computed, ValueBasis, may_plan};
use crate::triage::Confidence;
use stepscope_arithmetic::number::{Number, Written};
use stepscope_base::json::Value;
use stepscope_record::procedure::PROBLEM_TEXT;

/// Runs with more values are not carried out again.
const MAX_WRITES: usize = 60;
/// Maximum number of numbers of a step's text that are tried as part of its calculation.
const MAX_NAMED: usize = 4;
/// Steps with more inputs are not tried with another operation.
const MAX_TRIED: usize = 4;

/// Result of an experiment: the value that was wrong.
pub(super) struct Accused {
    /// Index of it in the writes.
    pub write: usize,
    /// Value that makes the run right.
    pub value: Number,
    /// Strength of the evidence in the record that the value was wrong.
    pub confidence: Confidence,
    /// Writes that differ from what was read of their calculations, and stay as recorded: nothing speaks against them.
    pub acquitted: Vec<usize>,
    /// True if the step did what its text asks for: the text is wrong.
    pub is_planned: bool,
}

/// Basis of all experiments on a run.
pub(super) struct ExperimentBase {
    /// Of each write, the writes that its step reads.
    inputs: Vec<Vec<usize>>,
    /// Of each write, its recorded number.
    held: Vec<Option<Number>>,
    /// Of each write without a plan, the calculations that explain it. To look for them costs more than all else: only
    /// where they are asked for.
    shapes: Vec<OnceCell<Vec<Recipe>>>,
    /// The write of the answer.
    end: usize,
}

impl ExperimentBase {
    fn of(trial: &Trial<'_, '_>) -> Option<Self> {
        let writes = &trial.recomputed.writes;
        let last = trial.last()?;
        let end = writes.iter().position(|write| std::ptr::eq(write, last))?;
        if writes.len() > MAX_WRITES {
            return None;
        }
        let inputs = (0..writes.len()).map(|n| trial.read_writes(n)).collect();
        let held = writes.iter().map(Computed::wrote).collect();
        Some(Self { inputs, held, shapes: vec![OnceCell::new(); writes.len()], end })
    }
}

/// A run that can be carried out again.
pub(super) struct Experiment<'x, 'c, 'a> {
    trial: &'x Trial<'c, 'a>,
    base: &'x ExperimentBase,
    /// The write that is to be the expected answer.
    target: usize,
    /// Of each write, whether it leads to that one: nothing else is carried out.
    leads: Vec<bool>,
}

impl<'x, 'c, 'a> Experiment<'x, 'c, 'a> {
    /// Prepares a run; `None` where there is nothing to carry out again.
    pub(super) fn of(trial: &'x Trial<'c, 'a>) -> Option<Self> {
        let base = trial.base.get_or_init(|| ExperimentBase::of(trial)).as_ref()?;
        Some(Self::to(trial, base, base.end))
    }

    fn to(trial: &'x Trial<'c, 'a>, base: &'x ExperimentBase, target: usize) -> Self {
        let mut leads = vec![false; base.held.len()];
        let mut waiting = vec![target];
        while let Some(n) = waiting.pop() {
            let Some(leads) = leads.get_mut(n).filter(|leads| !**leads) else { continue };
            *leads = true;
            waiting.extend(base.inputs.get(n).into_iter().flatten());
            let planned = trial.recomputed.writes.get(n).into_iter().flat_map(|write| &write.inputs);
            waiting.extend(planned.filter_map(|(_, input)| *input));
        }
        Self { trial, base, target, leads }
    }

    /// Looks at the value that the last step only had to state, in place of the answer: a right answer may stand behind
    /// a wrong value. `None` where nothing is stated.
    pub(super) fn before_the_answer(self) -> Option<Self> {
        let [input] = self.base.inputs.get(self.target)?.as_slice() else { return None };
        Some(Self::to(self.trial, self.base, *input))
    }

    /// The number that is to be the expected answer, as it was recorded.
    pub(super) fn target(&self) -> Option<Number> {
        self.held(self.target)
    }

    /// The recorded number of a write.
    fn held(&self, n: usize) -> Option<Number> {
        self.base.held.get(n).copied().flatten()
    }

    fn write(&self, n: usize) -> Option<&'c Computed> {
        self.trial.recomputed.writes.get(n)
    }

    /// The recorded numbers that a write was made of.
    fn numbers_read(&self, n: usize) -> Vec<Number> {
        let inputs = self.base.inputs.get(n).into_iter().flatten();
        inputs.filter_map(|input| self.held(*input)).collect()
    }

    /// The calculations that explain a write which no plan explains.
    fn shapes(&self, n: usize) -> &'x [Recipe] {
        self.base.shapes.get(n).map_or(&[], |shapes| shapes.get_or_init(|| self.explained(n)))
    }

    fn explained(&self, n: usize) -> Vec<Recipe> {
        let Some(write) = self.write(n).filter(|write| !is_given(write)) else { return Vec::new() };
        let recorded = write.recorded.or_else(|| Some(Written { value: write.wrote()?, decimals: 18 }));
        let Some(recorded) = recorded else { return Vec::new() };
        let is_read = write.plan.is_some() && !write.differs();
        let read = self.numbers_read(n);
        if is_read || read.is_empty() {
            return Vec::new();
        }
        let stands_for = |value: Number| write.is_written(recorded, value);
        fitting(&read, &self.numbers_named(write, &read), &|value| value.is_near(recorded.value), &stands_for)
    }

    /// The numbers that the text of a step names, where they are tried with what it reads.
    fn numbers_named(&self, write: &Computed, read: &[Number]) -> Vec<Number> {
        if !may_extend(read.len()) {
            return Vec::new();
        }
        let text = self.trial.step_text(write.step);
        let mut numbers = said(text.readable());
        numbers.truncate(MAX_NAMED);
        numbers
    }

    /// Carries the run out again with other numbers in place of some; the `corrected` writes as their own plans say,
    /// those that differ from theirs else as recorded. `exactly`: what was rounded on the way is not.
    fn outcome(&self, others: &[(usize, Number)], corrected: &[usize], exactly: bool) -> Option<Number> {
        let open = |n: usize, values: &[Option<Number>]| {
            let write = self.write(n)?;
            if self.leads.get(n) != Some(&true) {
                return Some(None);
            }
            if write.basis == ValueBasis::Override {
                return None;
            }
            let held = self.held(n);
            if is_given(write) {
                return Some(write.value.or(held));
            }
            let reads_the_same = self
                .base
                .inputs
                .get(n)
                .into_iter()
                .flatten()
                .all(|input| values.get(*input).copied().flatten() == self.held(*input));
            let is_planned = write.plan.is_some() && write.basis == ValueBasis::Plan;
            if is_planned && (corrected.contains(&n) || (!write.differs() && (exactly || !reads_the_same))) {
                return None;
            }
            Some(if reads_the_same { held } else { self.again(n, values) })
        };
        let values = self.trial.recomputed.replayed(self.trial.state, others, &open);
        values.get(self.target).copied().flatten()
    }

    /// Carries a write out again as it was carried out before; `None` where that is not known.
    fn again(&self, n: usize, values: &[Option<Number>]) -> Option<Number> {
        let inputs = self.base.inputs.get(n)?.iter().filter(|input| self.held(**input).is_some());
        let read: Vec<Number> = inputs.map(|input| values.get(*input).copied().flatten()).collect::<Option<_>>()?;
        let mut given = self.shapes(n).iter().map(|shape| shape.of(&read));
        let first = given.next()??;
        given.all(|other| other.is_some_and(|other| other.is_near(first))).then_some(first)
    }

    fn gives(&self, gold: &Gold, others: &[(usize, Number)], corrected: &[usize], exactly: bool) -> bool {
        self.outcome(others, corrected, exactly).is_some_and(|given| Trial::is_gold(gold, given))
    }

    /// Tells whether the run gives the expected answer with these numbers in place of what was recorded.
    pub(super) fn gives_with(&self, gold: &Gold, others: &[(usize, Number)]) -> bool {
        self.gives(gold, others, &[], false)
    }

    /// Finds the first value that differs from its own calculation and, put right, gives the expected answer, while it
    /// does not as it was recorded.
    pub(super) fn by_plan(&self, gold: &Gold) -> Option<Accused> {
        let differing: Vec<usize> =
            (0..self.base.held.len()).filter(|n| self.write(*n).is_some_and(Computed::differs)).collect();
        let accused = |n: usize, acquitted: Vec<usize>, is_alone: bool| {
            let write = self.write(n)?;
            let is_sure = write.plan.as_ref().is_some_and(|plan| plan.sure);
            let confidence = if is_sure && !is_alone { Confidence::Sure } else { Confidence::Likely };
            Some(Accused { write: n, value: write.alone?, confidence, acquitted, is_planned: false })
        };
        for exactly in [true, false] {
            if self.gives(gold, &[], &[], exactly) {
                continue;
            }
            let put_right =
                |from: &usize| differing.get(*from..).is_some_and(|some| self.gives(gold, &[], some, exactly));
            if let Some(from) = (0..differing.len()).rev().find(put_right) {
                let acquitted = differing[..from].to_vec();
                return accused(*differing.get(from)?, acquitted, false);
            }
        }
        let is_all = |n: &&usize| self.gives(gold, &[], &[**n], false) && !self.gives_with(gold, &[]);
        let alone = *differing.iter().find(is_all)?;
        let others = differing.iter().copied().filter(|n| *n != alone).collect();
        accused(alone, others, true)
    }

    /// Tells whether every number that was worked out follows from what its step reads, by whatever calculation.
    pub(super) fn all_follow(&self) -> bool {
        (0..self.base.held.len()).all(|n| {
            let agrees =
                self.write(n).is_some_and(|write| is_given(write) || (write.plan.is_some() && !write.differs()));
            agrees || !self.shapes(n).is_empty()
        })
    }

    /// Tells whether a number follows from what its step reads, by whatever calculation.
    pub(super) fn follows(&self, write: &Computed) -> bool {
        let at = self.trial.recomputed.writes.iter().position(|other| std::ptr::eq(other, write));
        at.is_some_and(|at| !self.shapes(at).is_empty())
    }

    /// Finds the one value that no plan explains and that, worked out otherwise from the same numbers, gives the expected
    /// answer. Where several do, the record does not tell.
    pub(super) fn by_another_operation(&self, gold: &Gold) -> Option<Accused> {
        let mut found: Vec<(usize, Number, Vec<TriedRecipe>)> = Vec::new();
        let is_given = self.gives_with(gold, &[]);
        let matters = |n: &usize| is_given || self.leads.get(*n) == Some(&true);
        for n in (0..self.base.held.len()).filter(matters) {
            let tried = self.other_values(n);
            let gives = |value: &Number| self.gives_with(gold, &[(n, *value)]);
            let Some((value, _)) = tried.iter().find(|(value, _)| gives(value)).copied() else { continue };
            let same = tried.into_iter().filter(|(other, _)| other.is_near(value));
            found.push((n, value, same.map(|(_, attempt)| attempt).collect()));
        }
        // A value that follows from nothing that its step reads is the likelier slip.
        let strange: Vec<_> = found.iter().filter(|(n, ..)| self.shapes(*n).is_empty()).collect();
        let (n, value, attempts) = match (strange.as_slice(), found.as_slice()) {
            ([one], _) => *one,
            ([], [one]) => one,
            _ => return None,
        };
        let (write, wrote) = (self.write(*n)?, self.held(*n));
        let accused = |confidence, is_planned| Accused {
            write: *n,
            value: *value,
            confidence,
            acquitted: Vec::new(),
            is_planned,
        };
        let explained = self.shapes(*n);
        if explained.is_empty() {
            // Of more inputs not every calculation is tried.
            let is_strange = strange.len() == 1 && self.numbers_read(*n).len() < MAX_TRIED;
            let is_likely = wrote.is_some() && is_strange;
            return Some(accused(if is_likely { Confidence::Likely } else { Confidence::Unsure }, false));
        }
        let text = self.trial.step_text(write.step).readable().to_lowercase();
        // What only comes near its number is hardly what it did.
        let read = self.numbers_read(*n);
        let is_exact =
            |recipe: &&Recipe| recipe.of_usual(&read).zip(wrote).is_some_and(|(value, wrote)| value.is_near(wrote));
        let did = explained.iter().filter(is_exact).any(|recipe| recipe.is_asked(&text));
        let should = attempts.iter().any(|attempt| attempt.recipe().is_asked(&text));
        // A text that says how, in words that were not read, may be what is wrong.
        if !did && !should && may_plan(&text) {
            return None;
        }
        Some(accused(Confidence::Unsure, did && !should))
    }

    /// The values that a step may have been meant to write, with the calculation that gives each.
    fn other_values(&self, n: usize) -> Vec<Tried> {
        let read = self.numbers_read(n);
        let Some(write) = self.write(n).filter(|write| !is_given(write)) else { return Vec::new() };
        if read.is_empty() || read.len() > MAX_TRIED || (write.plan.is_some() && !write.differs()) {
            return Vec::new();
        }
        let named = self.numbers_named(write, &read);
        let attempts = TriedRecipes::of(&read);
        let shares = if read.len() < 3 { attempts.with_share() } else { Vec::new() };
        let all = attempts.plain().chain(attempts.with_numbers(&named)).chain(shares).chain(attempts.whole());
        let held = self.held(n);
        all.filter(|(value, _)| held.is_none_or(|held| !value.is_near(held))).collect()
    }

    /// Finds the one extracted number that, read in another scale or with its sign, gives the expected answer: 0.04 for the
    /// 4 of "4 %", −7.5 for "7.5 below zero". The question must say one of both.
    pub(super) fn by_scale(&self, gold: &Gold) -> Option<Accused> {
        let question = Value::text_of(self.trial.record.question);
        let question = question.utf8()?.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| question.contains(word));
        let (in_percent, below_zero) =
            (says(&["%", "percent"]), says(&["−", "-", "minus", "below", "negative", "under"]));
        let hundred = Number::whole(100);
        let others = |number: Number| {
            let scaled = [number.over(hundred), number.times(hundred)].into_iter().filter(move |_| in_percent);
            scaled.flatten().chain(below_zero.then(|| number.negated()))
        };
        let is_given = |n: &usize| self.write(*n).is_some_and(|write| write.basis == ValueBasis::Extracted);
        let mut found = (0..self.base.held.len()).filter(is_given).filter_map(|n| {
            let number = self.held(n)?;
            let mut values = others(number).filter(|value| self.gives_with(gold, &[(n, *value)]));
            Some((n, values.next().filter(|_| values.next().is_none())?))
        });
        let (write, value) = found.next()?;
        let accused =
            Accused { write, value, confidence: Confidence::Unsure, acquitted: Vec::new(), is_planned: false };
        found.next().is_none().then_some(accused)
    }

    /// Finds the one value without a plan in whose place a number of the expected solution gives the expected answer: one
    /// that the question does not hold, and that the solution did not work out before.
    pub(super) fn by_number_of_gold(&self, gold: &Gold) -> Option<Accused> {
        let trial = self.trial;
        let given = trial.working.results();
        let is_new =
            |number: &Number| !given.contains(number) && !trial.links.is_some_and(|links| links.stands(number.float()));
        let operands = trial.working.calculations.iter().filter_map(|one| one.calculation.as_ref());
        let numbers: Vec<Number> = operands.flat_map(|one| one.numbers()).filter(is_new).collect();
        let is_open = |n: &usize| {
            let write = self.write(*n);
            write.is_some_and(|write| !is_given(write) && (write.plan.is_none() || write.differs()))
        };
        let gives = |n: usize| {
            let value = numbers.iter().find(|number| self.gives_with(gold, &[(n, **number)]))?;
            Some((n, *value))
        };
        let mut found = (0..self.target).filter(is_open).filter_map(gives);
        let (write, value) = found.next()?;
        let accused =
            Accused { write, value, confidence: Confidence::Likely, acquitted: Vec::new(), is_planned: false };
        found.next().is_none().then_some(accused)
    }
}

/// Tells whether a value was read from the question, or set.
const fn is_given(write: &Computed) -> bool {
    matches!(write.basis, ValueBasis::Extracted | ValueBasis::Override)
}

impl Trial<'_, '_> {
    /// The writes that a step reads for one of its writes: the variables of its plan, else all that it declares.
    pub(super) fn read_writes(&self, n: usize) -> Vec<usize> {
        let writes = &self.recomputed.writes;
        let Some(write) = writes.get(n) else { return Vec::new() };
        if write.plan.is_some() && !write.differs() {
            return write.inputs.iter().filter_map(|(_, input)| *input).collect();
        }
        let step = self.procedure.and_then(|procedure| procedure.steps.get(write.step));
        let names = step.into_iter().flat_map(|step| step.input_names()).filter(|name| *name != PROBLEM_TEXT);
        let variables = names.filter_map(|name| self.state.variable(&name));
        let last_write =
            |variable: usize| writes.iter().rposition(|other| other.variable == variable && other.step < write.step);
        let mut read: Vec<usize> = variables.filter_map(last_write).collect();
        read.dedup();
        read
    }
}
