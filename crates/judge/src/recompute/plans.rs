//! Calculation that a step asks for: looked for in its signs, in its words, and in the names of what it reads and writes.

use std::borrow::Cow;

use super::classes::{ReadingClass, Wording};
use super::execution::{Execution, Texts};
use super::{Computed, Plan, PlanSource, ValueBasis, collected, follows, implied};
use stepscope_arithmetic::expression::{
    AssignedTo, Calculation, Expression, Names, Operation, Reading, bound, equation, find, may_hold, mixes_units,
    numbers, plain_signs, read, solved, worked,
};
use stepscope_arithmetic::number::{Number, Written};
use stepscope_arithmetic::prose;
use stepscope_arithmetic::quantity::{Dimension, Unit};
use stepscope_base::json::Value;
use stepscope_record::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Step, words_apart};

/// Maximum number of calculations under a name of their own that are put into others.
const MAX_BETWEEN: usize = 16;
/// Names from here on are no variables.
const BETWEEN: u32 = 1_000_000;
/// The number of an operation is not farther behind its word.
const MAX_BEHIND: usize = 24;
/// The name of a calculation in signs inside one in words.
const INSIDE: u32 = BETWEEN - 1;

/// One output of a step, for which a plan is looked for.
#[derive(Clone, Copy)]
pub(super) struct PlanRequest<'w, 'a> {
    pub(super) step: &'w Step<'a>,
    pub(super) variable: usize,
    pub(super) texts: &'w Texts<'w>,
    pub(super) description: &'w str,
    pub(super) recorded: Option<Written>,
}

/// The calculations of a text. `subtotal = a * b; total = subtotal + c`: the first one is put into the second.
pub(super) fn found(text: &str, names: &Names) -> Vec<Calculation> {
    let found = find(text, names);
    let mut between: Vec<Expression> = Vec::new();
    let mut more: Option<Names> = None;
    for one in &found {
        let Some(AssignedTo::Word(word)) = &one.target else { continue };
        let later = &text[one.range.end..];
        if word.len() > 1 && between.len() < MAX_BETWEEN && holds_word(later, word) {
            more.get_or_insert_with(|| names.clone()).add(word, BETWEEN + between.len() as u32);
            between.push(one.expression.clone());
        }
    }
    let Some(more) = more else { return found };
    let part = |name: u32| between.get(name.checked_sub(BETWEEN)? as usize);
    let mut whole = find(text, &more);
    let used = |one: &Calculation| one.expression.names().iter().any(|name| *name >= BETWEEN);
    if !whole.iter().any(used) {
        return found;
    }
    whole.retain(|one| !matches!(one.target, Some(AssignedTo::Name(name)) if name >= BETWEEN));
    for one in &mut whole {
        if let Some(replaced) = one.expression.replaced(part).and_then(|once| once.replaced(part)) {
            one.expression = replaced;
        }
    }
    whole
}

/// The variable that a calculation is assigned to.
pub(super) fn target(found: &Calculation) -> Option<usize> {
    match found.target {
        Some(AssignedTo::Name(name)) => Some(name as usize),
        _ => None,
    }
}

/// Tells whether a text contains a word, whole.
fn holds_word(text: &str, word: &str) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        !joins(before) && !joins(text.as_bytes().get(at + word.len()))
    })
}

/// Tells whether the text gives a calculation a name of its own: then it is all that the name stands for.
fn is_named(plan: &Plan, texts: &Texts<'_>) -> bool {
    texts.found.iter().any(|found| found.target.is_some() && Some(&found.range) == plan.range.as_ref())
}

/// Tells whether the words before and behind a calculation do something with it: "half of a * b", "a * b, then add it".
fn is_operand([before, behind]: [&str; 2]) -> bool {
    let words = prose::lower_words;
    // "Half: p / 2"
    let is_label = before.trim_end().ends_with([':', '=']);
    let fills = |word: &String| !matches!(word.as_str(), "of" | "the" | "sum" | "total");
    // "6 faces of edge × edge"
    let is_count_of = || {
        let sentence = before.rsplit(['.', ':', ';', '\n']).next().expect("a split has a first part");
        words(sentence).last().is_some_and(|word| word == "of") && !numbers(sentence).is_empty()
    };
    if is_count_of() {
        return true;
    }
    let before: Vec<String> = words(before).into_iter().filter(fills).collect();
    let multiples = ["half", "twice", "double", "triple", "thrice", "quarter"];
    if !is_label && before.last().is_some_and(|word| multiples.contains(&word.as_str())) {
        return true;
    }
    let behind = words(behind);
    // "a / b of the seats"
    if behind.first().is_some_and(|word| word == "of") {
        return true;
    }
    let verbs = ["add", "subtract", "multiply", "divide", "deduct", "double", "halve", "triple"];
    // "a + b, and twice that", "a * b. After that: take half of them."
    let again = |(at, by): (usize, &String)| {
        let is_of = usize::from(behind.get(at + 1).is_some_and(|word| word == "of"));
        let what = behind.get(at + 1 + is_of).map_or("", String::as_str);
        let by = by.as_str();
        (multiples.contains(&by) || verbs.contains(&by)) && matches!(what, "that" | "this" | "it" | "them" | "these")
    };
    if behind.iter().enumerate().any(again) {
        return true;
    }
    let joint = behind.iter().take_while(|word| matches!(word.as_str(), "and" | "then" | "finally")).count();
    let is_verb = behind.get(joint).is_some_and(|word| verbs.contains(&word.as_str()));
    // "x * y to divide it" says what for.
    joint > 0 && is_verb
}

/// Tells whether the words behind a calculation go on with a number: "v * d kilograms; dividing by 1000 gives tonnes".
fn converts(behind: &str) -> bool {
    const OPERATIONS: [&str; 8] = ["ivid", "ultipl", "imes ", "÷", "×", "minus", "plus", "ubtract"];
    let at = OPERATIONS.iter().filter_map(|operation| behind.find(operation)).min();
    let names_number = |at: usize| behind[at..].bytes().take(MAX_BEHIND).any(|byte| byte.is_ascii_digit());
    !behind.trim_start().starts_with('=') && at.is_some_and(names_number)
}

/// Tells whether an input is more than the question, which is among those of many steps that need nothing of it.
fn is_value(field: &Field<'_>) -> bool {
    field.name_text().is_none_or(|name| name != PROBLEM_TEXT)
}

impl<'a> Execution<'_, 'a> {
    /// Takes a plan unless it joins quantities of different units as if they were of one: then the words say less than is
    /// meant. In signs it is what is written, if not for sure.
    pub(super) fn of_one_unit(&self, mut plan: Plan, wanted: &PlanRequest<'_, 'a>) -> Option<Plan> {
        let texts = wanted.texts;
        let unit = |id: u32| {
            let variable = self.state.variables().get(id as usize)?;
            let description = Value::text_of(variable.field.and_then(|field| field.description));
            prose::unit_of(self.name(id as usize), description.readable())
        };
        let differs = |(operation, left, right): &(Operation, u32, u32)| {
            let Some(((left, left_per), (right, right_per))) = unit(*left).zip(unit(*right)) else { return false };
            let joins = match operation {
                Operation::Add | Operation::Subtract => !left_per && !right_per,
                // Minutes divided by days are minutes a day.
                Operation::Divide => !left_per && !right_per && left.dimension != Dimension::Time,
                Operation::Multiply => left_per != right_per,
                _ => false,
            };
            joins && left.dimension == right.dimension && left.size.total_cmp(&right.size).is_ne()
        };
        // A factor in the words may be the conversion.
        let wants_other = || {
            let units: Vec<Unit> = plan.expression.names().into_iter().filter_map(|id| Some(unit(id)?.0)).collect();
            plan.expression.numbers().is_empty() && prose::wants_other_unit(texts.step, &units)
        };
        // "State the time in hours", where nothing says what the time is in.
        let is_converted = || {
            let (wrote, value) = (wanted.recorded?.value, self.by_record(&plan.expression)?);
            let is_known = plan.expression.names().into_iter().any(|id| unit(id).is_some());
            Some(!is_known && prose::is_conversion(texts.step, wrote.over(value)?))
        };
        if matches!(plan.wording, Wording::Statement | Wording::Signs) && is_converted() == Some(true) {
            return None;
        }
        let is_of_two_units = match (&plan.wording, &plan.range) {
            (Wording::Signs, Some(range)) if plan.source == PlanSource::Step => mixes_units(&texts.step[range.clone()]),
            (Wording::Words, _) => plan.expression.is_sum() && mixes_units(texts.step),
            _ => false,
        };
        if is_of_two_units {
            return None;
        }
        let is_mixed = plan.expression.joined_names().iter().any(differs);
        if !(is_mixed || plan.wording == Wording::Words && wants_other()) {
            return Some(plan);
        }
        plan.sure &= plan.wording != Wording::Signs;
        (!matches!(plan.wording, Wording::Words | Wording::Implied)).then_some(plan)
    }

    /// The calculation that a step asks for.
    pub(super) fn plan(&mut self, wanted: &PlanRequest<'_, 'a>) -> Option<Plan> {
        let PlanRequest { step, texts, description, .. } = *wanted;
        let by_step = self.explicit(texts.step, texts.found, PlanSource::Step, wanted);
        if texts.in_parts {
            let own = texts.found.iter().filter(|found| target(found) == Some(wanted.variable));
            let ranges: Vec<_> = own.map(|found| &found.range).collect();
            return by_step.filter(|plan| plan.range.as_ref().is_some_and(|range| ranges.contains(&range)));
        }
        // "Divide the total by (a + b)": the signs are only a part of what the words say, and no plan without them.
        let is_part = by_step.as_ref().is_some_and(|plan| self.is_part(plan, wanted));
        let leaves_out = by_step.as_ref().is_some_and(|plan| self.left_out(plan, wanted).any(is_value));
        if is_part && let Some(plan) = self.prose(wanted) {
            return Some(plan);
        }
        // "Good apples / bag" where other steps know "apples": the words mean the inputs.
        let reads = |id: &u32| step.inputs.iter().any(|field| self.index(field) == Some(*id as usize));
        let is_foreign = |plan: &Plan| {
            self.unused(&plan.expression, wanted).any(is_value) && plan.expression.names().iter().any(|id| !reads(id))
        };
        let by_step = by_step.filter(|plan| !is_part && !is_foreign(plan) && !self.names_unused(plan, wanted));
        let example =
            || ["such as", "e.g.", "for example", "for instance"].iter().any(|word| description.contains(word));
        let by_description = if !may_hold(description.as_bytes()) || example() {
            None
        } else {
            self.explicit(description, &find(description, &self.names), PlanSource::Description, wanted)
        };
        if let Some(mut plan) = by_step {
            let value = self.by_record(&plan.expression);
            let other = by_description.and_then(|other| self.by_record(&other.expression));
            plan.sure &= !leaves_out && (other.is_none() || value.is_none() || other == value);
            // Times of day are no numbers to the signs.
            let values = if value.is_some() { None } else { self.collected(wanted) };
            return Some(values.unwrap_or(plan));
        }
        by_description
            .or_else(|| self.constant(wanted))
            .or_else(|| self.solution(wanted).filter(|plan| !self.only_says(plan, wanted)))
            .or_else(|| self.collected(wanted))
            .or_else(|| self.worked(wanted))
            .or_else(|| if is_part { None } else { self.bare(wanted) })
            .or_else(|| self.prose(wanted).filter(|plan| !self.only_says(plan, wanted)))
    }

    /// Tells whether the text itself states the number that the step wrote, and the plan gives another: "now 5r = 30".
    fn only_says(&self, plan: &Plan, wanted: &PlanRequest<'_, '_>) -> bool {
        let Some(recorded) = wanted.recorded.filter(|_| plan.wording != Wording::Statement) else { return false };
        let gives = self.by_record(&plan.expression);
        let says = || numbers(wanted.texts.step).iter().any(|(number, _)| number.value.is_near(recorded.value));
        gives.is_some_and(|gives| !recorded.stands_for(gives)) && says()
    }

    /// A calculation that the step itself carries out in numbers: "16 - 3 = 13 eggs are left".
    fn worked(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { step, texts, recorded, .. } = *wanted;
        let recorded = recorded.filter(|_| step.outputs.len() == 1 && may_hold(texts.step.as_bytes()))?;
        let plain = plain_signs(texts.step);
        // Of several it is the last that comes to what the step wrote.
        let one = worked(&plain).into_iter().rfind(|one| one.says.value.is_near(recorded.value))?;
        // Units may be the reason of what seems wrong.
        if !one.says.stands_for(one.gives) && !one.is_wrong() {
            return None;
        }
        let value = |field: &Field<'_>| Some((self.index(field)? as u32, self.recorded(field)?));
        let inputs: Vec<(u32, Number)> = step.inputs.iter().filter_map(value).collect();
        let expression = bound(&one.expression, &inputs);
        Some(Plan { sure: true, ..Plan::of(expression, PlanSource::Step, ReadingClass::Worked) })
    }

    /// A calculation of nothing but the numbers that the step reads, without a result: "Carl: 23 - 8".
    fn bare(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { step, texts, .. } = *wanted;
        let [Calculation { expression, stated: None, range, target: None | Some(AssignedTo::Word(_)) }] = texts.found
        else {
            return None;
        };
        let around = [texts.step.get(..range.start)?, texts.step.get(range.end..)?];
        let is_part = || {
            let goes_on = prose::goes_on(around[1], &expression.numbers());
            goes_on || around.into_iter().any(prose::may_plan) || is_operand(around)
        };
        if texts.extracts || step.outputs.len() != 1 || is_part() {
            return None;
        }
        let value = |field: &Field<'_>| Some((self.index(field)? as u32, self.recorded(field)?));
        let inputs: Vec<(u32, Number)> = step.inputs.iter().map(value).collect::<Option<_>>()?;
        let bound = bound(expression, &inputs);
        let names = bound.names();
        let is_all = !names.is_empty() && inputs.iter().all(|(id, _)| names.contains(id));
        is_all.then(|| Plan { range: Some(range.clone()), ..Plan::of(bound, PlanSource::Step, ReadingClass::Numbers) })
    }

    /// The inputs of a step that a calculation without a name of its own does not use.
    fn left_out<'w>(&self, plan: &Plan, wanted: &PlanRequest<'w, 'a>) -> impl Iterator<Item = &'w Field<'a>> {
        let own = is_named(plan, wanted.texts);
        self.unused(&plan.expression, wanted).filter(move |_| !own)
    }

    /// The inputs of a step that a calculation does not use.
    fn unused<'w>(&self, by: &Expression, wanted: &PlanRequest<'w, 'a>) -> impl Iterator<Item = &'w Field<'a>> {
        let used = by.names();
        let is_unused =
            move |field: &&Field<'a>| self.index(field).is_some_and(|index| !used.contains(&(index as u32)));
        wanted.step.inputs.iter().filter(is_unused)
    }

    /// Tells whether the words around a calculation speak of a number that it leaves out: "x = a * b, and apply the coupon".
    fn names_unused(&self, plan: &Plan, wanted: &PlanRequest<'_, 'a>) -> bool {
        let Some(range) = &plan.range else { return false };
        let around = [wanted.texts.step.get(..range.start), wanted.texts.step.get(range.end..)];
        let output = self.name(wanted.variable);
        let mut unused =
            self.unused(&plan.expression, wanted).filter(|field| is_value(field) && self.recorded(field).is_some());
        unused.any(|field| {
            let name = Value::text_of(field.name);
            let name = name.readable();
            around.iter().flatten().any(|text| prose::speaks_of(text, name, output))
        })
    }

    /// Tells whether a calculation without a name is only a part of what the words around it say.
    fn is_part(&self, plan: &Plan, wanted: &PlanRequest<'_, 'a>) -> bool {
        let PlanRequest { texts, .. } = *wanted;
        let Some(range) = &plan.range else { return false };
        let around = [texts.step.get(..range.start), texts.step.get(range.end..)].map(Option::unwrap_or_default);
        let is_open = || self.left_out(plan, wanted).next().is_some() && around.into_iter().any(prose::may_plan);
        // "10 * yearly people, on top of p1"
        let says_more = || {
            let mut names = self.left_out(plan, wanted).filter_map(Field::name_text);
            names.any(|name| name.utf8().is_some_and(|name| around.iter().any(|text| holds_word(text, name))))
        };
        // "n / (r + b) per part; r parts are red", "To get x, evaluate …. To get y, evaluate …"
        let goes_on = || {
            let is_used =
                |field: &&Field<'a>| self.index(field).is_some_and(|id| plan.expression.names().contains(&(id as u32)));
            let used = wanted.step.inputs.iter().filter(is_used).filter_map(Field::name_text);
            let is_word = |name: &str| matches!(name.to_ascii_lowercase().as_str(), "a" | "i" | "s" | "t");
            let is_named = |name: &str| !is_word(name) && holds_word(around[1], name);
            let is_again =
                !holds_word(around[1], "where") && used.into_iter().any(|name| name.utf8().is_some_and(is_named));
            let works_out = ["valuat", "omput", "alculat"].iter().any(|verb| around[1].contains(verb));
            is_again
                || works_out && is_named(self.name(wanted.variable))
                || prose::goes_on(around[1], &plan.expression.numbers())
        };
        // "income - players' share"
        around[1].starts_with(['\'', '’'])
            || !is_named(plan, texts)
                && (is_open() || says_more() || goes_on() || is_operand(around) || converts(around[1]))
    }

    /// Plans a step without a recipe by its names: only if the plan gives what the step wrote, or if what it wrote
    /// follows from nothing.
    pub(super) fn implied(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { step, variable, texts, recorded, .. } = *wanted;
        if !self.guesses || texts.extracts || step.outputs.len() != 1 || step.inputs.len() != 2 {
            return None;
        }
        let recorded = recorded?;
        let named = |field: &Field<'_>| {
            let (index, value) = (self.index(field)?, self.recorded(field)?);
            Some(implied::Named { id: index as u32, name: self.name(index), value })
        };
        let inputs: Vec<implied::Named<'_>> = step.inputs.iter().map(named).collect::<Option<_>>()?;
        let expression = implied::plan(self.name(variable), texts.step, &inputs)?;
        let agrees = self.by_record(&expression).is_some_and(|value| recorded.stands_for(value));
        let values: Vec<f64> = inputs.iter().map(|input| input.value.float()).collect();
        let adopted = agrees || !follows::may_give(&values, recorded.value.float());
        adopted.then(|| Plan::of(expression, PlanSource::Step, ReadingClass::Implied))
    }

    /// Solves an equation in the step's text: `2 * (length + width) = perimeter`, or one in x.
    fn solution(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { variable, texts, .. } = *wanted;
        let made = |expression, range| Plan { range, ..Plan::of(expression, PlanSource::Step, ReadingClass::Solved) };
        let own = variable as u32;
        let named = texts.found.iter().find_map(|found| match found.target {
            Some(AssignedTo::Name(right)) if right != own && found.expression.names().contains(&own) => {
                Some(made(solved(&found.expression, right, own)?, Some(found.range.clone())))
            }
            _ => None,
        });
        let asked = || texts.step.contains("olv") || texts.step.contains("quation");
        named.or_else(|| asked().then(|| equation(texts.step, &self.names))?.map(|expression| made(expression, None)))
    }

    /// Plans the calculation of a step on a list or on two times of day.
    fn collected(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { step, variable, texts, description, .. } = *wanted;
        if texts.extracts || step.inputs.iter().any(|field| self.recorded(field).is_some()) {
            return None;
        }
        let name = self.name(variable);
        let values: Vec<&str> = step
            .inputs
            .iter()
            .filter_map(|field| self.state.variables().get(self.index(field)?)?.final_value?.plain_string())
            .filter_map(|bytes| std::str::from_utf8(bytes).ok())
            .collect();
        let described = step.inputs.iter().filter_map(|field| field.description.and_then(Value::string));
        let described: Vec<_> = described.chain(step.inputs.iter().filter_map(Field::name_text)).collect();
        let named: Vec<&str> = described.iter().filter_map(|text| text.utf8()).collect();
        // "home - start" says from when to when, whatever the names are.
        let ids: Vec<u32> = step.inputs.iter().filter_map(|field| Some(self.index(field)? as u32)).collect();
        let is_turned = |found: &Calculation| match (ids.as_slice(), found.expression.joined_names().as_slice()) {
            ([first, second], [(Operation::Subtract, left, right)]) if (left, right) == (first, second) => Some(true),
            ([first, second], [(Operation::Subtract, left, right)]) if (left, right) == (second, first) => Some(false),
            _ => None,
        };
        let in_signs = texts.found.iter().find_map(is_turned);
        let (named, values) = match in_signs {
            Some(true) => (Vec::new(), values.into_iter().rev().collect()),
            Some(false) => (Vec::new(), values),
            None => (named, values),
        };
        let (expression, class) =
            collected::plan(&[texts.step, description, name], &named, &values, step.inputs.len())?;
        Some(Plan::of(expression, PlanSource::Step, class))
    }

    /// A calculation in signs that is this output's by its name, or because no other can be meant.
    fn explicit(
        &mut self,
        text: &str,
        found: &[Calculation],
        source: PlanSource,
        wanted: &PlanRequest<'_, '_>,
    ) -> Option<Plan> {
        let sole = source == PlanSource::Description || wanted.step.outputs.len() == 1;
        let found: Vec<&Calculation> = found.iter().filter(|found| !found.expression.cancels()).collect();
        let own: Vec<&Calculation> =
            found.iter().copied().filter(|found| target(found) == Some(wanted.variable)).collect();
        let free = |found: &&Calculation| match &found.target {
            // "Number of further prints = prints - limit"
            Some(AssignedTo::Name(name)) => {
                *name as usize != wanted.variable && found.expression.names().contains(name)
            }
            // Numbers with their result are what the step carried out: see `worked`.
            Some(AssignedTo::Word(_)) => !found.expression.names().is_empty() || found.stated.is_none(),
            None => !found.expression.names().is_empty(),
        };
        let free: Vec<&Calculation> =
            if own.is_empty() && sole { found.iter().copied().filter(free).collect() } else { Vec::new() };
        // Of several, such as the cases of a condition, it is the one that the step took.
        let taken = |list: &[&Calculation]| {
            let agrees = |found: &&&Calculation| {
                let value = self.by_record(&found.expression);
                value.zip(wanted.recorded).is_some_and(|(value, recorded)| recorded.stands_for(value))
            };
            list.iter().find(agrees).copied().cloned()
        };
        let (chosen, sure) = match (own.as_slice(), free.as_slice()) {
            ([one], _) | ([], [one]) => ((*one).clone(), true),
            ([.., last], _) => (taken(&own).unwrap_or_else(|| (*last).clone()), false),
            // Of two without a name of their own nobody knows which is meant.
            ([], several) => (taken(several)?, false),
        };
        // "Days = 300 / 10", and later "= 30": what was taken from such a step is not what the signs ask for.
        let numbers = chosen.expression.numbers();
        let is_own = target(&chosen) == Some(wanted.variable);
        let is_operand = wanted.recorded.is_some_and(|wrote| numbers.contains(&wrote.value));
        if is_operand && !is_own && chosen.expression.names().is_empty() {
            return None;
        }
        // "The cost of one = cost ÷ count, and of all = all times that"
        let other = matches!(&chosen.target, Some(AssignedTo::Word(_)));
        if other && !is_own && text.get(chosen.range.end..).is_some_and(prose::may_plan) {
            return None;
        }
        // "First: once = price * (1 - first / 100). After that: apply the second discount in the same fashion."
        let behind = &text[chosen.range.end..];
        let leaves_out = || self.unused(&chosen.expression, wanted).any(is_value);
        let says_more = || prose::lower_words(behind).len() > 2 && leaves_out();
        if other && !is_own && (says_more() || prose::goes_on(behind, &numbers)) {
            return None;
        }
        // "I = P · r · t, where r = rate / 100"
        let is_explained = text.get(..chosen.range.start).is_some_and(|before| holds_word(before, "where"));
        if other && !is_own && is_explained {
            return None;
        }
        if let Some(AssignedTo::Word(alias)) = &chosen.target {
            self.names.add(alias, wanted.variable as u32);
        }
        let behind = if found.len() == 1 { text } else { &text[chosen.range.end..] };
        let expression = prose::rounded(behind, &chosen.expression).unwrap_or(chosen.expression);
        let sure = sure && !(source == PlanSource::Step && holds_word(text, "if"));
        let class = match source {
            PlanSource::Description => ReadingClass::SignsDescribed,
            _ if is_own => ReadingClass::Assigned,
            _ => ReadingClass::Signs,
        };
        Some(Plan { range: Some(chosen.range), sure, ..Plan::of(expression, source, class) })
    }

    /// A number that the procedure itself gives: "(value 3)" for what is extracted, "set total to 12".
    fn constant(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { variable, texts, description, recorded, .. } = *wanted;
        let made = |number: Number, source| Plan {
            sure: true,
            ..Plan::of(Expression::number(number), source, ReadingClass::Constant)
        };
        let name = self.state.variables().get(variable)?.name.utf8()?;
        let set = texts.step.split_once(name).and_then(|(_, rest)| {
            let rest = rest.strip_prefix(" to ")?.trim_end_matches('.');
            Some(numbers(rest).first()?.clone())
                .filter(|(_, range)| *range == (0..rest.len()))
                .map(|(number, _)| number)
        });
        if let Some(number) = set {
            return Some(made(number.value, PlanSource::Step));
        }
        if !texts.extracts {
            return None;
        }
        let inner = description.trim_end_matches('.').strip_suffix(')')?.rsplit_once('(')?.1.trim();
        let stated = inner.strip_prefix("value ").or_else(|| inner.strip_prefix("value: "));
        let Reading::Number(number) = read(stated.unwrap_or(inner), &Names::default()) else { return None };
        // "(12 eggs)", "(10% more)", "($1.35)" of 135 cents: a number that is only explained may be of another unit.
        let is_bare = inner.bytes().all(|byte| byte.is_ascii_digit() || b".,$-".contains(&byte));
        let in_cents =
            |wrote: Written| inner.starts_with('$') && wrote.value.over(Number::whole(100)) == Some(number.value);
        let is_value = |wrote: Written| wrote.value.is_near(number.value) || is_bare && !in_cents(wrote);
        let is_meant = stated.is_some() || recorded.is_none_or(is_value);
        is_meant.then(|| made(number.value, PlanSource::Description))
    }

    /// A calculation in words; or the step only works out, or states, what it reads.
    fn prose(&self, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let PlanRequest { step, variable, texts, description, .. } = *wanted;
        if texts.extracts || step.outputs.len() != 1 {
            return None;
        }
        let owned: Vec<_> = step
            .inputs
            .iter()
            .filter_map(|field| {
                let index = self.index(field)?;
                let description = Value::text_of(field.description);
                let name = field.name_text()?;
                // "Unit price" is said of unitPrice, unless the name itself stands there.
                let apart = match words_apart(name.bytes()) {
                    Cow::Owned(apart) => String::from_utf8(apart).ok(),
                    Cow::Borrowed(_) => None,
                };
                let is_said = || name.utf8().is_some_and(|name| texts.step.contains(name));
                let apart = apart.filter(|_| !is_said());
                Some((index, name, description, apart))
            })
            .filter(|(_, name, ..)| *name != PROBLEM_TEXT)
            .collect();
        // The question among the inputs means that more may be read from it.
        if owned.len() != step.inputs.len() {
            return None;
        }
        let mut inputs: Vec<prose::Input<'_>> = Vec::new();
        for (index, name, description, apart) in &owned {
            // An input that is listed twice is one.
            if inputs.iter().any(|input| input.id == *index as u32) {
                continue;
            }
            inputs.push(prose::Input {
                id: *index as u32,
                name: apart.as_deref().or_else(|| name.utf8())?,
                variable: name.utf8()?,
                description: description.readable(),
                value: self.held(*index).recorded,
                running: self.is_running(*index),
            });
        }
        // Without the numbers nothing tells one reading from another; to state the one input needs no other reading.
        if inputs.iter().any(|input| input.value.is_none()) {
            let is_known = |input: &prose::Input<'_>| self.held(input.id as usize).computed.is_some();
            let states = owned.len() == 1 && inputs.iter().all(is_known);
            return self.stated(wanted, inputs).filter(|_| states);
        }
        let output = prose::Output { name: self.name(variable), description };
        if let Some(expression) = self.with_signs_inside(texts, &inputs, &output) {
            return self.unless_turned(Plan::of(expression, PlanSource::Step, ReadingClass::Several), wanted);
        }
        let is_known = |text: &str| !prose::says_otherwise(text);
        let of_source = |source| match source {
            PlanSource::Description => prose::Output { description: "", ..output },
            _ => output,
        };
        for (text, source) in [(texts.step, PlanSource::Step), (description, PlanSource::Description)] {
            if prose::may_plan(text)
                // "Parts of gravel more than cement" says what is compared, and nothing of how it is worked out.
                && (source == PlanSource::Step || !prose::compares(text))
                // What the step does otherwise its result's description does not know.
                && (source == PlanSource::Step || is_known(texts.step))
                && let Some(read) = prose::read(text, &inputs, &of_source(source))
            {
                let several = read.expression.is_several();
                let class = match (source, several, read.in_full) {
                    (PlanSource::Description, ..) => ReadingClass::WordsDescribed,
                    _ if read.goes_on => ReadingClass::GoesOn,
                    (_, false, true) => ReadingClass::OneInFull,
                    (_, false, false) => ReadingClass::One,
                    (_, true, true) => ReadingClass::SeveralInFull,
                    (_, true, false) => ReadingClass::Several,
                };
                let plan = Plan { sure: read.in_full, ..Plan::of(read.expression, source, class) };
                return self.unless_turned(plan, wanted);
            }
        }
        let is_end = self.name(variable) == FINAL_ANSWER;
        if let Some(expression) = prose::rounds(texts.step, &inputs, wanted.recorded).filter(|_| !is_end) {
            return Some(Plan { sure: true, ..Plan::of(expression, PlanSource::Step, ReadingClass::Rounded) });
        }
        // "Evaluate the expression": the one input that is a calculation still.
        let evaluates = || ["valuat", "implif", "ubstitut", "olve"].iter().any(|stem| texts.step.contains(stem));
        let waits = |input: &&prose::Input<'_>| {
            let write = self.held(input.id as usize).write.and_then(|write| self.writes.get(write));
            write.is_some_and(|write| write.unevaluated.is_some())
        };
        let mut waiting = inputs.iter().filter(waits);
        if let (Some(one), None) = (waiting.next(), waiting.next())
            && evaluates()
        {
            return Some(Plan::of(Expression::name(one.id), PlanSource::Step, ReadingClass::Statement));
        }
        self.stated(wanted, inputs)
    }

    /// Tells whether a variable is what the step before worked out.
    fn is_running(&self, variable: usize) -> bool {
        let write = self.held(variable).write;
        let is_last = write.is_some() && write == self.writes.len().checked_sub(1);
        let mut writes = self.writes.iter().rev();
        let last = writes.next();
        let is_alone = writes.next().is_none_or(|before| last.is_some_and(|last| last.step != before.step));
        is_last && is_alone && last.is_some_and(|last| last.basis != ValueBasis::Extracted)
    }

    /// Takes a plan in words unless it gives a number below zero where the step wrote none: then something is meant that
    /// the words leave out, such as the next day.
    fn unless_turned(&self, mut plan: Plan, wanted: &PlanRequest<'_, '_>) -> Option<Plan> {
        let Some(given) = self.by_record(&plan.expression) else { return Some(plan) };
        let is_below = given.is_negative() && wanted.recorded.is_some_and(|wrote| !wrote.value.is_negative());
        let is_from_above = plan
            .expression
            .names()
            .into_iter()
            .all(|id| self.held(id as usize).recorded.is_none_or(|value| !value.is_negative()));
        plan.sure &= wanted.recorded.is_none_or(|wrote| wrote.value != given.negated());
        (!(is_below && is_from_above)).then_some(plan)
    }

    /// Plans a last step that only states one of the numbers that it reads.
    fn stated(&self, wanted: &PlanRequest<'_, '_>, mut inputs: Vec<prose::Input<'_>>) -> Option<Plan> {
        let PlanRequest { variable, texts, description, .. } = *wanted;
        if !texts.last || self.name(variable) != FINAL_ANSWER {
            return None;
        }
        // "Calculate the band's part of the rest" calculates, whatever it reads.
        let calculates =
            ["ompute", "alculate", "etermine", "ind ", "erive"].iter().any(|verb| texts.step.contains(verb));
        if calculates
            && (inputs.len() > 1
                || !texts.step.contains("answer") && !inputs.iter().any(|input| texts.step.contains(input.name)))
        {
            return None;
        }
        // Of several inputs the one that the text tells to state, if it speaks of no other.
        if inputs.len() > 1 {
            let names: Vec<&str> = inputs.iter().map(|input| input.name).collect();
            inputs.retain(|input| prose::is_named_to_state(texts.step, input.name));
            if inputs.iter().any(|input| prose::speaks_of_other(texts.step, input.name, &names)) {
                return None;
            }
        }
        if inputs
            .iter()
            .any(|input| [texts.step, description].iter().any(|text| prose::asks_for_other_unit(text, input)))
        {
            return None;
        }
        let stated = prose::statement(texts.step, &inputs)?;
        if self.is_said_before(&stated, wanted) {
            return None;
        }
        Some(Plan::of(stated, PlanSource::Step, ReadingClass::Statement))
    }

    /// Tells whether the step that wrote the stated number has the final one in its text: then the other number of that
    /// text is not what was to be stated.
    fn is_said_before(&self, stated: &Expression, wanted: &PlanRequest<'_, '_>) -> bool {
        let [input] = stated.names()[..] else { return false };
        let Some(recorded) = wanted.recorded.filter(|wrote| Some(wrote.value) != self.held(input as usize).recorded)
        else {
            return false;
        };
        let write = self.held(input as usize).write.and_then(|write| self.writes.get(write));
        // A plan only names the numbers that it calculates with.
        let is_worked = |write: &&Computed| write.plan.as_ref().is_none_or(|plan| plan.wording == Wording::Worked);
        let text = Value::text_of(write.filter(is_worked).and_then(|write| self.steps[write.step].text));
        let text = text.readable();
        // The numbers that it was worked out of are none to state, nor is an hour of the clock.
        let held = self.held(input as usize).recorded;
        let plain = plain_signs(text);
        let operands = worked(&plain).into_iter().filter(|one| held.is_some_and(|held| one.says.value.is_near(held)));
        let operands: Vec<Number> = operands.flat_map(|one| one.expression.numbers()).collect();
        let is_hour = |end: usize| text.get(end..).is_some_and(|rest| rest.starts_with(':'));
        numbers(text).iter().any(|(number, range)| {
            number.value.is_near(recorded.value)
                && !is_hour(range.end)
                && !operands.iter().any(|operand| operand.is_near(recorded.value))
        })
    }

    /// A plan in words with one calculation in signs inside: "divide the total by (a + b)".
    fn with_signs_inside(
        &self,
        texts: &Texts<'_>,
        inputs: &[prose::Input<'_>],
        output: &prose::Output<'_>,
    ) -> Option<Expression> {
        let [Calculation { target: None, expression, range, .. }] = texts.found else { return None };
        let (before, behind) = (texts.step.get(..range.start)?, texts.step.get(range.end..)?);
        // "Sold seats × ticket price + b": the signs around it bind it otherwise.
        let is_whole = before.trim_end().ends_with('(');
        let has_sign = |text: &&str| text.contains(|c: char| prose::is_sign(c));
        if !is_whole && [before, behind].iter().any(has_sign) {
            return None;
        }
        let before = before.trim_end_matches(['(', ' ', '`']);
        let behind = behind.trim_start_matches([')', ' ', '`']);
        let text = format!("{before} calculation {behind}");
        let used = expression.names();
        let mut outside: Vec<prose::Input<'_>> =
            inputs.iter().filter(|input| !used.contains(&input.id)).cloned().collect();
        if outside.is_empty() || outside.len() == inputs.len() {
            return None;
        }
        // "Sales plus 25% of sales": what is inside is named outside as well.
        let is_named = |input: &&prose::Input<'_>| used.contains(&input.id) && prose::names_in(&text, input.name);
        if inputs.iter().any(|input| is_named(&input)) {
            return None;
        }
        let value = self.by_record(expression);
        let (name, description) = ("calculation", "");
        outside.push(prose::Input { id: INSIDE, name, variable: name, description, value, running: false });
        prose::read(&text, &outside, output)?.expression.replaced(|name| (name == INSIDE).then_some(expression))
    }
}
