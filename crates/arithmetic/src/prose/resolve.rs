//! Which input each phrase means, and the calculation that comes of it.

use std::ops::Range;

use super::input::{Input, mentions};
use super::reader::{PhraseReader, Tree};
use super::whole::Account;
use super::words::{lower_words, parts, value_of};
use crate::expression::{Expression, Operation};
use crate::number::Number;

/// Texts with more ways to match phrases and inputs are not read.
const MAX_READINGS: usize = 1_000;

/// A reading counts as likely as the best one if it is no further below it.
const CLEAR: f64 = 0.3;

impl PhraseReader<'_, '_> {
    pub(super) fn resolve(&self, tree: &Tree) -> Option<Expression> {
        let account = Account::of(self);
        if matches!(tree, Tree::Mean) {
            let all: Vec<usize> = (0..self.inputs.len()).collect();
            return self.mean().filter(|_| account.lists(&all));
        }
        let leaves: Vec<Vec<String>> = self.leaves.iter().map(|leaf| self.leaf_parts(leaf.clone())).collect();
        let names: Vec<(Vec<String>, Vec<String>)> =
            self.inputs.iter().map(|input| (parts(input.name).collect(), parts(input.description).collect())).collect();
        let score = |leaf: usize, input: usize| {
            let (Some(words), Some((name, description)), Some(read)) =
                (leaves.get(leaf), names.get(input), self.inputs.get(input))
            else {
                return 0.0;
            };
            let said = words.iter().any(|word| value_of(word).is_some() && value_of(word) == read.value);
            3.0 * likeness(words, name) + likeness(words, description) + f64::from(u8::from(said))
        };
        let ways =
            (0..self.leaves.len()).try_fold(1, |ways: usize, n| ways.checked_mul(self.inputs.len().checked_sub(n)?));
        ways.filter(|ways| *ways <= MAX_READINGS)?;
        let scores: Vec<Vec<f64>> = (0..self.leaves.len())
            .map(|leaf| (0..self.inputs.len()).map(|input| score(leaf, input)).collect())
            .collect();
        let named: Vec<Vec<bool>> = (0..self.leaves.len())
            .map(|leaf| (0..self.inputs.len()).map(|input| account.names(leaf, input, tree)).collect())
            .collect();
        let is_named = |leaf: usize, input: usize| named.get(leaf).and_then(|row| row.get(input)) == Some(&true);
        let score = |leaf: usize, input: usize| scores.get(leaf).and_then(|row| row.get(input)).copied().unwrap_or(0.0);
        let mut readings = Vec::new();
        arrangements(self.leaves.len(), self.inputs.len(), &mut Vec::new(), 0.0, &score, &mut readings);
        readings.retain(|(_, reading)| reading.iter().enumerate().all(|(leaf, input)| is_named(leaf, *input)));
        readings.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = readings.first()?.0;
        let mut chosen: Option<(Expression, Option<Number>)> = None;
        for (_, reading) in readings.iter().take_while(|(score, _)| *score >= best - CLEAR) {
            let expression = self.build(tree, reading, &account)?;
            let value = expression.evaluate(|id| self.value(id));
            match &chosen {
                None => chosen = Some((expression, value)),
                Some((_, first)) if value.is_some() && *first == value => {}
                Some(_) => return None,
            }
        }
        chosen.map(|(expression, _)| expression)
    }

    /// Returns what an expression gives with the inputs as recorded.
    pub(super) fn evaluated(&self, expression: &Expression) -> Option<Number> {
        expression.evaluate(|id| self.value(id))
    }

    fn leaf_parts(&self, leaf: Range<usize>) -> Vec<String> {
        let words = &self.words[leaf];
        words.iter().flat_map(|word| parts(word.text)).collect()
    }

    fn mean(&self) -> Option<Expression> {
        let sum = Expression::all(Operation::Add, self.inputs.iter().map(|input| Expression::name(input.id)))?;
        let count = Expression::number(Number::whole(self.inputs.len() as i64));
        // One of them might be how many there are.
        let counted = self
            .inputs
            .iter()
            .any(|input| input.value == Some(Number::whole(self.inputs.len() as i64 - 1)) || mentions(input, "count"));
        let all: Vec<usize> = (0..self.inputs.len()).collect();
        if self.inputs.len() < 2 || counted || self.names_a_part_of(&all) {
            return None;
        }
        Expression::pair(Operation::Divide, &sum, &count)
    }

    /// Builds the expression of one reading; every input must be used, or be there as a number.
    fn build(&self, tree: &Tree, reading: &[usize], account: &Account<'_, '_, '_>) -> Option<Expression> {
        let free: Vec<usize> = (0..self.inputs.len()).filter(|input| !reading.contains(input)).collect();
        let said = |input: &usize| {
            let value = self.inputs.get(*input).and_then(|input| input.value);
            value.is_some_and(|value| {
                self.numbers.iter().any(|number| *number == value || Number::ONE.over(*number) == Some(value))
            })
        };
        let open: Vec<usize> = free.iter().copied().filter(|input| !said(input)).collect();
        if goes_on(tree) {
            let is_running = |input: &usize| self.inputs.get(*input).is_some_and(|input| input.running);
            let others: Vec<usize> = open.iter().copied().filter(|input| !is_running(input)).collect();
            let listed = if rest_of(tree).is_some() { account.lists(&others) } else { others.is_empty() };
            return (listed && others.len() < open.len()).then(|| self.assemble(tree, reading, &others, false))?;
        }
        if rest_of(tree).is_some() && ![&open, &free].into_iter().any(|open| account.lists(open)) {
            return None;
        }
        match rest_of(tree) {
            // "Count the days and multiply by them": the one input is not both.
            None if uses_only(tree) && !self.leaves.is_empty() => None,
            None if uses_only(tree) || open.is_empty() => self.assemble(tree, reading, &open, false),
            None => None,
            Some(rest) if open.len() < free.len() => {
                // The same number may stand for an input or be one of several by chance.
                let fits = |open: &&Vec<usize>| !matches!(rest, Tree::Rest(_, Some(named)) if *named != open.len());
                let mut fitting = [&open, &free].into_iter().filter(fits);
                let one = fitting.next().filter(|_| fitting.next().is_none() || self.counts(&free, &open))?;
                self.assemble(tree, reading, one, false)
            }
            Some(_) => self.assemble(tree, reading, &open, false),
        }
    }

    /// Tells whether the sentence names some of these inputs in full and others with no word: then it is not about all.
    fn names_a_part_of(&self, inputs: &[usize]) -> bool {
        let said: Vec<String> = self.words.iter().flat_map(|word| parts(word.text)).collect();
        let names = |input: &usize| -> Vec<String> { parts(self.inputs[*input].name).collect() };
        let is_named = |input: &usize| {
            let names = names(input);
            !names.is_empty() && names.iter().all(|name| said.contains(name))
        };
        let is_unsaid = |input: &usize| !names(input).iter().any(|name| said.contains(name));
        inputs.iter().any(is_named) && inputs.iter().any(is_unsaid)
    }

    /// Tells whether all inputs that a list leaves out are counts of its elements.
    fn counts(&self, free: &[usize], open: &[usize]) -> bool {
        let count = |input: &Input<'_>| {
            let named = ["count", "num", "rounds", "multiplier", "factor"].iter().any(|word| mentions(input, word));
            named || input.description.starts_with("Number of") || input.value == Some(Number::whole(open.len() as i64))
        };
        let mut left = free.iter().filter(|input| !open.contains(input)).filter_map(|input| self.inputs.get(*input));
        left.all(count)
    }

    fn assemble(&self, tree: &Tree, reading: &[usize], open: &[usize], scaled: bool) -> Option<Expression> {
        let name = |input: usize, scaled: bool, said: bool| {
            let input = self.inputs.get(input)?;
            let name = Expression::name(input.id);
            // "Multiply the price by the percentage": 20 means 0.2.
            match input.value {
                Some(value) if scaled && (said || is_percent(input)) && value > Number::ONE => {
                    Expression::pair(Operation::Divide, &name, &Expression::number(Number::whole(100)))
                }
                _ => Some(name),
            }
        };
        match tree {
            Tree::Leaf(leaf) => name(*reading.get(*leaf)?, scaled, self.is_percentage(*leaf, reading)),
            Tree::Only => name(0, scaled, false),
            Tree::Running => name(self.inputs.iter().position(|input| input.running)?, scaled, false),
            Tree::Number(number) | Tree::Percent(number) => Some(Expression::number(*number)),
            Tree::Mean => None,
            Tree::Difference(left, right) => {
                let build = |tree: &Tree| self.assemble(tree, reading, open, scaled);
                let is_negative = |built: &Expression| Some(built.evaluate(|id| self.value(id))?.is_negative());
                if [left, right].into_iter().any(|side| build(side).and_then(|side| is_negative(&side)) == Some(true)) {
                    return None;
                }
                let less = |from: &Tree, what: &Tree| build(&pair(Operation::Subtract, from.clone(), what.clone()));
                let difference = less(left, right)?;
                if is_negative(&difference)? { less(right, left) } else { Some(difference) }
            }
            Tree::Rest(operation, named) => {
                if open.len() < 2 && *named != Some(1)
                    || named.is_some_and(|named| named != open.len())
                    || named.is_none() && self.names_a_part_of(open)
                {
                    return None;
                }
                // Of a percentage among other things nobody says of what it is.
                let shares =
                    open.iter().filter_map(|input| self.inputs.get(*input)).filter(|input| may_be_share(input));
                let count = shares.count();
                if *operation == Operation::Add && count > 0 && count < open.len() {
                    return None;
                }
                let parts = open.iter().map(|&input| name(input, *operation == Operation::Multiply, false));
                Expression::all(*operation, parts.collect::<Option<Vec<_>>>()?)
            }
            Tree::Pair(operation @ (Operation::Add | Operation::Subtract), left, right)
                if self.is_share(right, reading) != self.is_share(left, reading) =>
            {
                let (share, base) = if self.is_share(right, reading) { (right, left) } else { (left, right) };
                let plain = || {
                    let left = self.assemble(left, reading, open, false)?;
                    Expression::pair(*operation, &left, &self.assemble(right, reading, open, false)?)
                };
                // "1 minus the rate", "100 minus the percentage"; a share taken from a share is none either.
                if matches!(**base, Tree::Number(_)) || (*operation == Operation::Subtract && share == left) {
                    return plain();
                }
                let base = self.assemble(base, reading, open, false)?;
                let part = Expression::pair(Operation::Multiply, &base, &self.assemble(share, reading, open, true)?)?;
                Expression::pair(*operation, &base, &part)
            }
            // "100 percent minus the rate": both in hundredths.
            Tree::Pair(operation @ (Operation::Add | Operation::Subtract), left, right)
                if matches!(
                    (&**left, &**right),
                    (Tree::Percent(_), Tree::Leaf(_)) | (Tree::Leaf(_), Tree::Percent(_))
                ) =>
            {
                let side = |tree: &Tree, other: &Tree| match (tree, other) {
                    (Tree::Percent(number), Tree::Leaf(leaf)) => {
                        let value = self.inputs.get(*reading.get(*leaf)?)?.value;
                        let whole = number.times(Number::whole(100)).filter(|_| value > Some(Number::ONE));
                        Some(Expression::number(whole.unwrap_or(*number)))
                    }
                    _ => self.assemble(tree, reading, open, false),
                };
                Expression::pair(*operation, &side(left, right)?, &side(right, left)?)
            }
            Tree::Pair(Operation::Add | Operation::Subtract, left, right)
                if ![left, right].into_iter().any(|side| matches!(**side, Tree::Number(_)))
                    && self.may_be_share(left, reading) != self.may_be_share(right, reading) =>
            {
                None
            }
            Tree::Pair(operation, left, right) => {
                let scaled = *operation == Operation::Multiply
                    && !matches!((&**left, &**right), (Tree::Number(_), _) | (_, Tree::Number(_)));
                let left = self.assemble(left, reading, open, scaled)?;
                let right = self.assemble(right, reading, open, scaled)?;
                Expression::pair(*operation, &left, &right)
            }
        }
    }

    /// Tells whether a part is a percentage of something.
    fn is_share(&self, tree: &Tree, reading: &[usize]) -> bool {
        match tree {
            Tree::Percent(_) => true,
            Tree::Leaf(leaf) => self.is_percentage(*leaf, reading),
            _ => false,
        }
    }

    /// Tells whether a phrase, or the variable that it means, says that it is in percent.
    fn is_percentage(&self, leaf: usize, reading: &[usize]) -> bool {
        let phrase = self.leaf_parts(self.leaves[leaf].clone());
        let input = reading.get(leaf).and_then(|input| self.inputs.get(*input));
        phrase.iter().any(|part| is_percent_word(part)) || input.is_some_and(says_percent)
    }

    /// Tells whether a phrase means a rate, a tax or the like of which nobody says that it is in percent.
    fn may_be_share(&self, tree: &Tree, reading: &[usize]) -> bool {
        let running = || self.inputs.iter().find(|input| input.running);
        let Tree::Leaf(leaf) = tree else {
            return *tree == Tree::Running && running().is_some_and(may_be_share);
        };
        let phrase = self.leaf_parts(self.leaves[*leaf].clone());
        let input = reading.get(*leaf).and_then(|input| self.inputs.get(*input));
        phrase.iter().any(|part| part == "rate") || input.is_some_and(may_be_share)
    }
}

fn is_percent_word(part: &str) -> bool {
    matches!(part, "percent" | "percentage" | "pct")
}

/// Tells whether an input may be a share of another: a rate is none of the things that are added or taken away.
fn may_be_share(input: &Input<'_>) -> bool {
    let is_below_one = input.value.is_some_and(|value| Number::ZERO < value && value < Number::ONE);
    let is_named = |names: &[&str]| parts(input.variable).any(|part| names.contains(&part.as_str()));
    let is_rate = is_named(&["rate"]);
    let is_said =
        input.description.contains('%') || parts(input.description).any(|part| part == "fraction" || part == "share");
    is_rate
        || says_percent(input)
        || is_below_one && is_said
        || is_percent(input)
        || is_named(PARTS) && !says_money(input)
        || is_below_one && is_named(&["loss", "growth", "increase", "decrease", "share", "part", "fraction"])
}

/// Names of what is a part of an amount, or an amount.
const PARTS: &[&str] = &["discount", "tax", "tip", "interest", "vat", "commission", "markup", "gratuity", "rebate"];

/// Tells whether an input is said to be an amount of money.
fn says_money(input: &Input<'_>) -> bool {
    const MONEY: [&str; 9] = ["dollar", "euro", "pound", "cent", "amount", "cost", "money", "price", "fee"];
    let is_said =
        |text: &str| lower_words(text).iter().any(|word| MONEY.contains(&word.strip_suffix('s').unwrap_or(word)));
    is_said(input.variable) || is_said(input.description) || input.description.contains(['$', '€', '£'])
}

/// Tells whether an input is in percent by its name.
fn says_percent(input: &Input<'_>) -> bool {
    parts(input.variable).any(|part| is_percent_word(&part))
}

/// Tells whether an input is in percent, by its name or description.
fn is_percent(input: &Input<'_>) -> bool {
    says_percent(input)
        || parts(input.description).any(|part| is_percent_word(&part))
        || input.description.contains('%')
}

pub(super) fn pair(operation: Operation, left: Tree, right: Tree) -> Tree {
    Tree::Pair(operation, Box::new(left), Box::new(right))
}

/// The part that takes every input that nothing else names.
fn rest_of(tree: &Tree) -> Option<&Tree> {
    match tree {
        Tree::Rest(..) | Tree::Mean => Some(tree),
        Tree::Pair(_, left, right) | Tree::Difference(left, right) => rest_of(left).or_else(|| rest_of(right)),
        Tree::Leaf(_) | Tree::Number(_) | Tree::Percent(_) | Tree::Only | Tree::Running => None,
    }
}

/// Tells whether a tree goes on with what the step before gave.
pub(super) fn goes_on(tree: &Tree) -> bool {
    match tree {
        Tree::Running => true,
        Tree::Pair(_, left, right) | Tree::Difference(left, right) => goes_on(left) || goes_on(right),
        _ => false,
    }
}

pub(super) fn uses_only(tree: &Tree) -> bool {
    match tree {
        Tree::Only => true,
        Tree::Pair(_, left, right) | Tree::Difference(left, right) => uses_only(left) || uses_only(right),
        _ => false,
    }
}

/// Every way to give each leaf an input of its own, with its score.
fn arrangements(
    leaves: usize,
    inputs: usize,
    chosen: &mut Vec<usize>,
    sum: f64,
    score: &impl Fn(usize, usize) -> f64,
    out: &mut Vec<(f64, Vec<usize>)>,
) {
    if chosen.len() == leaves {
        out.push((sum, chosen.clone()));
        return;
    }
    for input in 0..inputs {
        if !chosen.contains(&input) {
            let leaf = chosen.len();
            chosen.push(input);
            arrangements(leaves, inputs, chosen, sum + score(leaf, input), score, out);
            chosen.pop();
        }
    }
}

/// Measures the similarity of two lists of words, 0 to 1.
fn likeness(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|part| b.contains(part)).count();
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}
