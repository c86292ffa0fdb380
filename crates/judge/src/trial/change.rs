//! A wrong run carried out again with one thing changed: a number that was misread, two that were exchanged, or a step
//! that does not say how it calculates, and that the gold text works out from the same numbers.

use std::cmp::Ordering;

use super::experiment::Experiment;
use super::{Judgement, Trial};
use crate::gold::Gold;
use crate::quantity_links::{QuantityLinks, distance, question_of, words_near};
use crate::recompute::classes::Wording;
use crate::recompute::follows::may_give;
use crate::recompute::{Computed, ValueBasis, may_plan, name_of, value_pointer};
use crate::triage::{Confidence, Fix, Reason};
use stepscope_arithmetic::expression::{Expression, Names, find as calculations};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::quantity::{Kind, find};
use stepscope_base::json::Value;
use stepscope_base::shown;
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::Step;

/// Runs with more values are not carried out again and again.
const MAX_WRITES: usize = 60;
/// Nor are those that extract more of them.
const MAX_EXTRACTED: usize = 12;
/// Maximum number of calculations of the gold text that are joined.
const MAX_PARTS: usize = 20;
/// Maximum number of numbers that are tried in place of one.
const MAX_NUMBERS: usize = 24;

/// Words for what is done with one number alone.
const PARTS: [&str; 6] = ["quarter", "third", "square", "cube", "root", "reciprocal"];

/// Other numbers in place of some that were written, by their index in the writes.
type Others = Vec<(usize, Number)>;

/// Reason for a change, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ChangeReason {
    /// The description of the variable names the other number.
    Named,
    /// The number stands nowhere in the question, and the other one was taken up by nothing.
    FromNowhere,
    /// The other one was taken up by nothing, though this one stands in the question.
    UnusedQuantity,
    /// Two numbers stand in each other's place.
    Exchanged,
    /// The number stands nowhere in the question.
    Nowhere,
    /// Swapping two inputs gives the expected answer too.
    Exchangeable,
}

impl ChangeReason {
    const fn confidence(self) -> Confidence {
        match self {
            Self::Named | Self::FromNowhere | Self::UnusedQuantity | Self::Exchanged => Confidence::Likely,
            Self::Nowhere | Self::Exchangeable => Confidence::Unsure,
        }
    }
}

/// A part of the gold text's calculations: the numbers that go in, and what comes out.
struct WorkedPart<'t> {
    operands: Vec<Number>,
    gives: Number,
    line: &'t str,
    /// It is made of two lines.
    joined: bool,
}

/// Parts needed to carry a run out again.
pub(super) struct WorkedReplay<'t> {
    parts: Vec<WorkedPart<'t>>,
    /// Of each write that no plan explains, the writes that its step reads; `None` of all others.
    unplanned: Vec<Option<Vec<usize>>>,
    /// Of each write, whether nothing says how its step calculates.
    open: Vec<bool>,
    end: usize,
}

impl Trial<'_, '_> {
    /// With one thing changed the run gives gold: then it was carried out wrongly there.
    pub(super) fn with_one_change(&mut self, gold: &Gold) -> Option<Judgement> {
        let working = std::mem::take(&mut self.working);
        let found = self.replay(&working).and_then(|replay| self.changed_once(&replay, gold));
        self.working = working;
        let (others, confidence) = found?;
        if others.is_empty() {
            return self.worked_otherwise(gold);
        }
        (self.recovered, self.corrected) = (Some(gold.value), true);
        self.misread_as(&others, gold, confidence)
    }

    fn replay<'t>(&self, working: &'t crate::gold::Working) -> Option<WorkedReplay<'t>> {
        let writes = &self.recomputed.writes;
        let last = self.last()?;
        let end = writes.iter().position(|write| std::ptr::eq(write, last))?;
        if writes.len() > MAX_WRITES {
            return None;
        }
        let mut parts = Vec::new();
        for one in working.calculations.iter().filter(|one| !one.is_wrong()) {
            let of_parts = one.calculation.as_ref().map(Expression::parts);
            parts.extend(of_parts.into_iter().flatten().map(|(operands, gives)| WorkedPart {
                operands,
                gives,
                line: &one.line,
                joined: false,
            }));
        }
        join(&mut parts);
        // A step that says nothing takes its calculation from a part: where there is none, no step does.
        let is_open = |write: &&Computed| !parts.is_empty() && self.is_open(write);
        let is_unplanned = |write: &&Computed| match &write.plan {
            Some(plan) => plan.wording == Wording::Implied,
            None => write.basis == ValueBasis::Recorded,
        };
        let inputs = |write| Some(write).filter(is_unplanned).and_then(|write| self.inputs(write));
        let unplanned = writes.iter().map(|write| inputs(write).filter(|inputs| !inputs.is_empty())).collect();
        let open = writes.iter().map(|write| is_open(&write)).collect();
        Some(WorkedReplay { parts, unplanned, open, end })
    }

    /// The writes that the step of a write reads; `None` if one of its inputs was never written.
    pub(super) fn inputs(&self, write: &Computed) -> Option<Vec<usize>> {
        let step = self.procedure?.steps.get(write.step)?;
        let input = |name| {
            let variable = self.state.variable(&name)?;
            self.recomputed.writes.iter().rposition(|other| other.variable == variable && other.step < write.step)
        };
        step.input_names().map(input).collect()
    }

    /// Tells whether nothing says how a step calculates; or what it says was not read, and what it wrote follows from
    /// nothing.
    fn is_open(&self, write: &Computed) -> bool {
        let implied = write.plan.as_ref().is_some_and(|plan| plan.wording == Wording::Implied);
        let unread = write.basis == ValueBasis::Recorded && write.plan.is_none();
        if !(implied || unread) {
            return false;
        }
        let text = self.step_text(write.step);
        let (Some(text), Some(wrote)) = (text.utf8(), write.recorded) else { return false };
        // "State x as the final answer": there is nothing to calculate.
        let step = self.procedure.and_then(|procedure| procedure.steps.get(write.step));
        let names_input = |step: &Step<'_>| {
            let [input] = step.inputs.as_slice() else { return false };
            Value::text_of(input.name).utf8().is_some_and(|name| text.contains(name))
        };
        let is_last = self.last().is_some_and(|last| std::ptr::eq(last, write));
        if is_last && !may_plan(text) && step.is_some_and(names_input) {
            return false;
        }
        let follows = || self.read_by(write).is_none_or(|values| may_give(&values, wrote.value.float()));
        // A text that names everything that goes in says how, in whatever words: "a without b".
        let names_part = || PARTS.iter().any(|part| text.contains(part));
        let says_how = || may_plan(text) || names_part() || step.is_some_and(|step| names_all(step, text));
        !says_how() || !follows()
    }

    /// Calculates what every write would hold with other numbers in place of some.
    fn carried_out(&self, replay: &WorkedReplay<'_>, others: &[(usize, Number)]) -> Vec<Option<Number>> {
        let writes = &self.recomputed.writes;
        let open = |n: usize, values: &[Option<Number>]| {
            let (inputs, write) = (replay.unplanned.get(n)?.as_ref()?, writes.get(n)?);
            let read = || inputs.iter().map(|input| *values.get(*input)?).collect::<Option<Vec<_>>>();
            let is_open = replay.open.get(n) == Some(&true);
            let worked_out = read().filter(|_| is_open).and_then(|read| self.worked_out_of(replay, write, &read));
            // What it recorded without any plan, it wrote from other numbers.
            let is_as_before = |input: &usize| {
                values.get(*input).copied().flatten() == writes.get(*input).and_then(|write| write.value)
            };
            let is_unknown = || write.plan.is_none() && !inputs.iter().all(is_as_before);
            (worked_out.is_some() || is_unknown()).then_some(worked_out)
        };
        self.recomputed.replayed(self.state, others, &open)
    }

    /// Finds what the expected solution works out from just these numbers.
    fn worked_out_of(&self, replay: &WorkedReplay<'_>, write: &Computed, read: &[Number]) -> Option<Number> {
        let fitting = |joined: bool| {
            replay.parts.iter().filter(move |part| part.joined == joined && self.is_made_of(part, read)).collect()
        };
        let mut found: Vec<&WorkedPart<'_>> = fitting(false);
        if found.is_empty() {
            found = fitting(true);
        }
        let first = found.first()?.gives;
        if found.iter().all(|part| part.gives.is_near(first)) {
            return Some(first);
        }
        // Of several, the one that the step wrote, else the one that speaks of what it writes.
        if let Some(wrote) = write.recorded
            && let Some(part) = found.iter().find(|part| wrote.stands_for(part.gives))
        {
            return Some(part.gives);
        }
        let name = name_of(self.state, write.variable).to_lowercase();
        let speaks = |part: &&&WorkedPart<'_>| {
            let line = part.line.to_lowercase();
            name.split('_').filter(|word| word.len() > 3 && line.contains(*word)).count()
        };
        found.sort_by_key(|part| std::cmp::Reverse(speaks(&part)));
        let [best, next, ..] = found.as_slice() else { return None };
        (speaks(&best) > speaks(&next)).then_some(best.gives)
    }

    /// Tells whether a calculation is made of these numbers, each once, and of nothing else that the question counts.
    fn is_made_of(&self, part: &WorkedPart<'_>, read: &[Number]) -> bool {
        let mut left = part.operands.clone();
        let hundred = Number::whole(100);
        for value in read {
            let same = |operand: &Number| operand.is_near(*value);
            let is_share = *value <= Number::ONE;
            let percent =
                |operand: &Number| is_share && value.times(hundred).is_some_and(|scaled| operand.is_near(scaled));
            let lower = |operand: &Number| is_share && operand.is_whole() && Number::ONE.over(*value) == Some(*operand);
            let at = left.iter().position(same).or_else(|| left.iter().position(percent));
            let at = at.or_else(|| left.iter().position(lower));
            let Some(at) = at else { return false };
            left.swap_remove(at);
        }
        let counted = |operand: &Number| {
            self.links.is_some_and(|links| {
                let plain = |kind| !matches!(kind, Kind::Multiple | Kind::Fraction | Kind::Each | Kind::Period);
                links.quantities.iter().any(|one| one.sure && plain(one.kind) && one.value.is_near(*operand))
            })
        };
        let is_used = read.len() > 1 || !left.is_empty();
        left.retain(|operand| !read.contains(operand));
        is_used && !left.iter().any(counted)
    }

    /// The change that makes the run right; nothing to change: the steps that say nothing were carried out wrongly.
    fn changed_once(&self, replay: &WorkedReplay<'_>, gold: &Gold) -> Option<(Others, Confidence)> {
        let experiment = Experiment::of(self);
        let gives_as_solved = |others: &[(usize, Number)]| {
            let end = self.carried_out(replay, others).get(replay.end).copied().flatten();
            end.is_some_and(|end| Self::is_gold(gold, end))
        };
        let gives_as_before =
            |others: &Others| experiment.as_ref().is_some_and(|experiment| experiment.gives_with(gold, others));
        let gives = |others: &Others| gives_as_solved(others) || gives_as_before(others);
        let mut changes = self.changes();
        changes.sort_by_key(|(reason, _)| *reason);
        // A number that the question speaks against is the better reason than steps that do not say what they do.
        let gives_anyway = gives_as_solved(&[]);
        let is_silent = gives_anyway && replay.open.contains(&true);
        if gives_anyway {
            let is_turned = self.is_turned(replay);
            changes.retain(|(reason, _)| match reason {
                ChangeReason::FromNowhere => true,
                ChangeReason::Exchanged => is_turned,
                _ => false,
            });
        }
        match changes.into_iter().find(|(_, others)| gives(others)) {
            Some((reason, others)) => Some((others, reason.confidence())),
            None => is_silent.then_some((Vec::new(), Confidence::Likely)),
        }
    }

    /// Tells whether a step that says nothing wrote the difference or ratio of its numbers the other way round. To a
    /// sum or product it means nothing that two numbers stand in each other's place.
    fn is_turned(&self, replay: &WorkedReplay<'_>) -> bool {
        let worked_out = self.carried_out(replay, &[]);
        let writes = self.recomputed.writes.iter().zip(&replay.open).zip(worked_out);
        writes.filter(|((_, is_open), _)| **is_open).any(|((write, _), worked_out)| {
            let Some((wrote, value)) = write.recorded.zip(worked_out) else { return false };
            let turned = [Some(value.negated()), Number::ONE.over(value)].into_iter().flatten();
            turned.into_iter().any(|turned| turned != value && wrote.stands_for(turned))
        })
    }

    /// Every change worth trying.
    fn changes(&self) -> Vec<(ChangeReason, Others)> {
        let Some(links) = self.links else { return Vec::new() };
        let extracted: Vec<(usize, Number)> = self
            .recomputed
            .writes
            .iter()
            .enumerate()
            .filter(|(_, write)| write.basis == ValueBasis::Extracted)
            .filter_map(|(n, write)| Some((n, write.value?)))
            .take(MAX_EXTRACTED)
            .collect();
        let mut changes = Vec::new();
        // A variable whose content is described, or worked out in the step's text, was read so.
        let is_said = |n: usize, value: Number| self.named(n).contains(&value) || self.works_out(n, value);
        let extracted: Vec<(usize, Number)> = extracted.into_iter().filter(|(n, value)| !is_said(*n, *value)).collect();
        for &(n, value) in &extracted {
            let stands = links.stands(value.float());
            for other in self.named(n) {
                changes.push((ChangeReason::Named, vec![(n, other)]));
            }
            for (other, is_held) in numbers_of(links) {
                let reason = match (stands, is_held) {
                    (false, false) => ChangeReason::FromNowhere,
                    (false, true) => ChangeReason::Nowhere,
                    // It may be another variable's, or no words speak for it.
                    (true, false) if self.is_anothers(n, value, other, &extracted) => ChangeReason::UnusedQuantity,
                    (true, _) => continue,
                };
                changes.push((reason, vec![(n, other)]));
            }
        }
        for (at, &(n, a)) in extracted.iter().enumerate() {
            for &(m, b) in extracted.iter().skip(at + 1).filter(|(_, b)| *b != a) {
                let as_it_is = self.nearness(n, a) + self.nearness(m, b);
                let exchanged = self.nearness(n, b) + self.nearness(m, a);
                // The words that only one of the two has tell more than those that both have.
                let apart = |a, b| self.distance(n, a, m) + self.distance(m, b, n);
                let reason = match apart(a, b).cmp(&apart(b, a)).then(exchanged.cmp(&as_it_is)) {
                    Ordering::Greater => ChangeReason::Exchanged,
                    Ordering::Equal => ChangeReason::Exchangeable,
                    Ordering::Less => continue,
                };
                changes.push((reason, vec![(n, b), (m, a)]));
            }
        }
        changes.retain(|(_, others)| {
            others.iter().any(|(n, other)| self.recomputed.writes.get(*n).and_then(|write| write.value) != Some(*other))
        });
        changes
    }

    /// Tells whether the text of the step of a write works out its value: "the shift has 8 * 60 minutes".
    fn works_out(&self, write: usize, value: Number) -> bool {
        let step = self.recomputed.writes.get(write).map(|write| write.step);
        let text = Value::text_of(step.and_then(|step| self.procedure?.steps.get(step)?.text));
        let found = calculations(text.readable(), &Names::default());
        found.iter().any(|one| one.expression.evaluate(|_| None) == Some(value))
    }

    /// Tells whether a number in the question is not this variable's, and another one may be.
    fn is_anothers(&self, write: usize, value: Number, other: Number, extracted: &[(usize, Number)]) -> bool {
        let again = extracted.iter().any(|(n, held)| *n != write && *held == value);
        let (own, its) = (self.nearness(write, value), self.nearness(write, other));
        its > own || (again && its == own)
    }

    /// Measures how far a number of the question is from the words of a variable that another variable does not have.
    fn distance(&self, write: usize, value: Number, other: usize) -> usize {
        let question = Value::text_of(question_of(self.record));
        let name = |write: usize| name_of(self.state, self.recomputed.writes[write].variable);
        let (name, other) = (name(write), name(other));
        let quantities = self.links.into_iter().flat_map(|links| &links.quantities);
        let same = quantities.filter(|one| one.value.is_near(value));
        same.map(|one| distance(question.bytes(), one, name.as_bytes(), other.as_bytes()))
            .min()
            .unwrap_or(usize::MAX / 4)
    }

    /// Measures how near the words of a variable are to a number of the question.
    fn nearness(&self, write: usize, value: Number) -> usize {
        let Some(links) = self.links else { return 0 };
        let question = Value::text_of(question_of(self.record));
        let variable = self.recomputed.writes.get(write).and_then(|write| self.state.variables().get(write.variable));
        let Some(variable) = variable else { return 0 };
        let description = Value::text_of(variable.field.and_then(|field| field.description));
        let same = links.quantities.iter().filter(|one| one.value.is_near(value));
        same.map(|one| words_near(question.bytes(), one, variable.name.bytes(), description.bytes())).max().unwrap_or(0)
    }

    /// The numbers that the description of a written variable names.
    fn named(&self, write: usize) -> Vec<Number> {
        let description = self
            .recomputed
            .writes
            .get(write)
            .and_then(|write| self.state.variables().get(write.variable)?.field?.description);
        let description = Value::text_of(description);
        find(description.bytes()).into_iter().filter(|one| one.sure).map(|one| one.value).collect()
    }

    /// Steps that say nothing of how they calculate wrote another number than the gold text works out from what they
    /// read.
    fn worked_otherwise(&mut self, gold: &Gold) -> Option<Judgement> {
        let working = std::mem::take(&mut self.working);
        let carried_out = self.replay(&working).map(|replay| self.carried_out(&replay, &[]));
        self.working = working;
        let carried_out = carried_out?;
        // What the expected solution works out as well is not wrong, only worked out in fewer steps.
        let marks = &self.working.calculations;
        let is_result = |wrote: &Written| marks.iter().any(|mark| mark.says.value.is_near(wrote.value));
        let differs = |write: &Computed, value: Option<Number>| {
            let wrote = write.recorded.or_else(|| Some(Written { value: write.unevaluated_value?, decimals: 18 }));
            wrote
                .filter(|wrote| !is_result(wrote))
                .zip(value)
                .is_some_and(|(wrote, value)| !write.is_written(wrote, value))
        };
        let writes = &self.recomputed.writes;
        let (write, value) = writes.iter().zip(&carried_out).find(|(write, value)| differs(write, **value))?;
        let pointer = value_pointer(self.record, self.state, write)?;
        let text = shown!(
            "Step {} wrote {}; from the same inputs the expected solution works out {}.",
            write.step + 1,
            write.recorded.map_or_else(|| "a calculation".to_owned(), |wrote| wrote.value.shown()),
            value.map_or_else(String::new, Number::shown)
        );
        let step = write.step;
        self.argue(Reason::Worked.word(), pointer, text);
        (self.recovered, self.corrected) = (Some(gold.value), true);
        Some((Fix::StepRun, Some(step), Confidence::Likely))
    }
}

/// Tells whether a text has every word of the names of several inputs.
fn names_all(step: &Step<'_>, text: &str) -> bool {
    let text = text.to_lowercase();
    let is_named = |name: &Untrusted<'_>| {
        name.utf8().is_some_and(|name| name.to_lowercase().split('_').all(|word| text.contains(word)))
    };
    step.inputs.len() > 1 && step.input_names().all(|name| is_named(&name))
}

/// Adds calculations that are made of two: `144 - 144 / 8`.
fn join(parts: &mut Vec<WorkedPart<'_>>) {
    let single = parts.len().min(MAX_PARTS);
    for later in 1..single {
        for earlier in 0..later {
            let (Some(first), Some(second)) = (parts.get(earlier), parts.get(later)) else { return };
            let Some(at) = second.operands.iter().position(|operand| operand.is_near(first.gives)) else { continue };
            let mut operands = second.operands.clone();
            operands.swap_remove(at);
            operands.extend(&first.operands);
            parts.push(WorkedPart { operands, gives: second.gives, line: second.line, joined: true });
        }
    }
}

/// The numbers of a question in the forms that a variable may hold them in, and whether one holds them.
fn numbers_of(links: &QuantityLinks) -> Vec<(Number, bool)> {
    let mut numbers: Vec<(Number, bool)> = Vec::new();
    for (n, quantity) in links.quantities.iter().enumerate().filter(|(_, one)| one.kind != Kind::Label) {
        let is_held = links.holders_of(n).next().is_some() || !quantity.sure;
        numbers.push((quantity.value, is_held));
        if quantity.kind == Kind::Percent {
            numbers.extend(quantity.value.over(Number::whole(100)).map(|part| (part, is_held)));
        }
        // The 3 and the 4 of 3/4 may be held apart.
        if quantity.kind == Kind::Fraction {
            let (upper, lower) = quantity.value.parts();
            numbers.extend([upper, lower].into_iter().filter_map(|part| Some((Number::fraction(part, 1)?, is_held))));
        }
    }
    numbers.truncate(MAX_NUMBERS);
    numbers
}
