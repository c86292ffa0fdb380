//! Composition of the phrases of a sentence: a tree of operations, its leaves still phrases.

use std::ops::Range;

use super::cues::{Cue, CueAt, cues, is_command};
use super::input::{Input, mentions};
use super::resolve::pair;
use super::units::{factor, unit};
use super::whole::{Output, TakenWords};
use super::words::{Behind, EMPTY, Word, parts};
use crate::expression::Operation;
use crate::number::Number;
use crate::number_words::{NumberWord, number_word};

/// Maximum number of phrases that are matched to inputs one by one.
const MAX_LEAVES: usize = 6;

/// More phrases are not read to find out what a text means.
const MAX_PHRASES: usize = 200;

/// Phrases are not nested deeper.
const MAX_DEPTH: usize = 6;

/// Words that may precede a number without changing it.
const BEFORE_NUMBERS: &[&str] = &["the", "a", "by", "of", "from", "to", "number", "constant", "value", "factor", "and"];

/// Words for what was just worked out.
const PRONOUNS: &[&str] = stepscope_base::list![
    it this that the result resulting sum total product difference quotient amount value these them two three both
    all results products sums totals amounts values
];

/// From here on a sentence says what for.
const PURPOSES: &[&str] = stepscope_base::list![
    giving yielding resulting producing which where since because assuming expressed using
];

pub(super) const PURPOSE_VERBS: &[&str] = stepscope_base::list![
    obtain get find compute determine calculate form yield produce give derive reach arrive express define represent
    account
];

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tree {
    Leaf(usize),
    /// Every input that no phrase names; where so many are named, exactly as many.
    Rest(Operation, Option<usize>),
    /// The mean of every input.
    Mean,
    Number(Number),
    /// Hundredths of the other operand.
    Percent(Number),
    /// The one input.
    Only,
    /// The result of the step before: "add the shipping", "multiply by the weeks".
    Running,
    Pair(Operation, Box<Tree>, Box<Tree>),
    /// Difference of two: of the two orders people mean the one that is not negative.
    Difference(Box<Tree>, Box<Tree>),
}

pub(super) struct PhraseReader<'r, 't> {
    pub(super) words: &'r [Word<'t>],
    pub(super) inputs: &'r [Input<'t>],
    pub(super) output: &'r Output<'t>,
    pub(super) leaves: Vec<Range<usize>>,
    pub(super) numbers: Vec<Number>,
    /// A list has taken all that is left.
    pub(super) rest: bool,
    /// Phrases inside phrases.
    pub(super) depth: usize,
    /// Phrases read so far.
    pub(super) read: usize,
    /// "The sum of a times b and c" is a sum, not a product.
    pub(super) nouns_first: bool,
    /// The sentence asks how often one thing fits into another.
    pub(super) fits: bool,
    /// Use of every word so far.
    pub(super) taken: TakenWords,
}

/// The lengths of a reader's lists at some time.
#[derive(Clone, Copy)]
struct Kept {
    leaves: usize,
    numbers: usize,
    rest: bool,
    phrases: usize,
    words: usize,
    lists: usize,
}

impl PhraseReader<'_, '_> {
    /// Builds the tree of a sentence: the operations of its verbs in order, or the one calculation that it names.
    pub(super) fn tree(&mut self, cues: &[CueAt], sentence: Range<usize>) -> Option<Tree> {
        // "What is left of a after subtracting b": one calculation.
        let is_left = |at: usize| cues.iter().any(|(cue, place)| *cue == Cue::Remains && place.start < at);
        let is_verb =
            |(cue, place): &&CueAt| self.is_verb(*cue, place.start) && !(*cue == Cue::Subtract && is_left(place.start));
        let verbs: Vec<&CueAt> = cues.iter().filter(is_verb).collect();
        let first = cues.first()?.1.start;
        let Some((_, place)) = verbs.first() else {
            let start = self.left_of(first, sentence.start);
            return self.expression(self.until_purpose(start.start..sentence.end));
        };
        let mut done: Vec<Tree> = Vec::new();
        // "Compute the total by adding …": what stands before only names the result.
        let named = place.start.checked_sub(1).and_then(|at| self.word(at)).is_some_and(|word| word == "by");
        if first < place.start && !named {
            let start = self.left_of(first, sentence.start).start;
            done.push(self.expression(start..place.start)?);
        }
        for (n, (cue, place)) in verbs.iter().enumerate() {
            self.taken.words.push(place.clone());
            if *cue == Cue::Convert
                && done.is_empty()
                && let Some((next, at)) = verbs.get(n + 1)
            {
                // "Convert hours to minutes and add the minutes" does not say by what.
                let joint = |word: &str| matches!(word, "and" | "then");
                let is_more = at.start.checked_sub(1).and_then(|at| self.word(at)).is_some_and(joint);
                if is_more || matches!(next, Cue::All(Operation::Add) | Cue::Subtract) {
                    return None;
                }
                // "Convert … by dividing by 60" names only what the division is for.
                continue;
            }
            let next = verbs.get(n + 1).map_or(sentence.end, |(_, next)| next.start);
            let after = self.until_purpose(place.end..next);
            if after.end < next && next < sentence.end {
                self.taken.purposes.push(after.end..next);
            }
            let before = sentence.start..place.start;
            self.act(*cue, after, before, &mut done)?;
        }
        let tree = done.pop()?;
        done.is_empty().then_some(tree)
    }

    fn is_verb(&self, cue: Cue, at: usize) -> bool {
        let noun = |word: &str| matches!(word, "sum" | "total" | "product" | "quotient" | "ratio" | "remainder");
        match cue {
            Cue::All(_) | Cue::Divide => {
                let of = matches!(self.word(at + 1), Some("of"));
                !(self.word(at).is_some_and(noun) && of)
            }
            Cue::Subtract | Cue::Share | Cue::Change(_) | Cue::Convert => true,
            Cue::Difference
            | Cue::Average
            | Cue::Infix(..)
            | Cue::Factor(..)
            | Cue::Percent
            | Cue::Excess
            | Cue::Remains => false,
        }
    }

    /// Does what one verb asks for, with what was worked out before.
    fn act(&mut self, cue: Cue, after: Range<usize>, before: Range<usize>, done: &mut Vec<Tree>) -> Option<()> {
        if let Cue::All(operation) = cue
            && done.len() >= 2
            && self.is_pronoun(after.clone())
        {
            self.taken.words.push(after);
            let all = std::mem::take(done).into_iter().reduce(|left, right| pair(operation, left, right))?;
            done.push(all);
            return Some(());
        }
        if let Some(result) = done.last() {
            let kept = self.kept();
            if let Some(tree) = self.chained(cue, result.clone(), after.clone()) {
                done.pop();
                done.push(tree);
                return Some(());
            }
            self.restore(kept);
        }
        let tree = self.verb(cue, after, before)?;
        done.push(tree);
        Some(())
    }

    fn verb(&mut self, cue: Cue, after: Range<usize>, before: Range<usize>) -> Option<Tree> {
        Some(match cue {
            Cue::All(operation) => self.all(operation, after, before)?,
            Cue::Subtract => {
                // "the budget after subtracting both costs"
                let (minus, from) = match self.split_once(after.clone(), &["from", "off"]) {
                    Some((minus, from)) => (minus, Some(self.expression(from)?)),
                    None => (after, None),
                };
                let one = self.inputs.len() == 1 && from.is_none();
                let kept = self.kept();
                // "Subtract a third of the people", from the people.
                if one
                    && let Some(part) = self.expression(minus.clone())
                    && let Some(whole) = part_of(&part)
                {
                    return Some(pair(Operation::Subtract, whole.clone(), part));
                }
                if one {
                    self.restore(kept);
                }
                let from = match from {
                    Some(from) => from,
                    None => self.subject(before)?,
                };
                pair(Operation::Subtract, from, self.several(minus)?)
            }
            Cue::Divide => {
                let split = self.split_once(after.clone(), &["by"]).or_else(|| self.split_once(after, &["and", "to"]));
                let (upper, lower) = split?;
                let upper = if upper.is_empty() { self.subject(before)? } else { self.expression(upper)? };
                pair(Operation::Divide, upper, self.expression(lower)?)
            }
            Cue::Share => {
                let (upper, lower) =
                    self.split_once(after, &["among", "between", "amongst", "by", "into", "over", "across"])?;
                self.joined(Operation::Divide, upper, lower)?
            }
            Cue::Change(operation) => {
                let (what, by) = self.split_once(after, &["by"])?;
                let changed = self.joined(operation, what, by)?;
                // "Increase the price by 1/4" may mean of it.
                let is_part = |number: &Number| Number::ZERO < *number && *number < Number::ONE;
                if matches!(&changed, Tree::Pair(_, _, by) if matches!(&**by, Tree::Number(number) if is_part(number)))
                {
                    return None;
                }
                changed
            }
            _ => return None,
        })
    }

    /// `add a to b`, `multiply a by b`, `sum all costs`.
    fn all(&mut self, operation: Operation, after: Range<usize>, before: Range<usize>) -> Option<Tree> {
        let joint: &[&str] = if operation == Operation::Multiply { &["by"] } else { &["to"] };
        if self.find(after.clone(), joint) == Some(after.start) {
            let subject = self.subject(before)?;
            return Some(pair(operation, subject, self.expression(after.start + 1..after.end)?));
        }
        // Growth factors are combined by multiplying.
        let combines = self.word(before.end).is_some_and(|word| word.starts_with("combin"));
        let is_factor = |input: &Input<'_>| ["factor", "multiplier", "rate"].iter().any(|word| mentions(input, word));
        if combines && self.inputs.iter().any(is_factor) {
            return None;
        }
        if operation == Operation::Add
            && let Some(sum) = self.added(after.clone())
        {
            return Some(sum);
        }
        // A sum of one thing is none.
        self.list(operation, after, true).filter(|list| matches!(list, Tree::Rest(..)) || is_of(list, operation))
    }

    /// "Add the shipping" to what the step before gave; "add a third of the people" to the people.
    fn added(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let joint = |at: usize| {
            matches!(self.word(at), Some("and" | "to" | "with")) || self.words.get(at).is_some_and(|word| word.comma)
        };
        let found = cues(self.words.get(..phrase.end)?, phrase.start);
        if phrase.clone().any(joint) || self.inputs.len() > 2 || self.rest {
            return None;
        }
        let kept = self.kept();
        let made = match found.as_slice() {
            [] if self.inputs.len() == 2 && !self.has_plural(phrase.clone()) => {
                self.operand(phrase).filter(|tree| matches!(tree, Tree::Leaf(_)))
            }
            [(Cue::Factor(..) | Cue::Infix(Operation::Multiply, false), _)] if self.inputs.len() == 1 => {
                self.expression(phrase)
            }
            _ => None,
        };
        let Some(made) = made else {
            self.restore(kept);
            return None;
        };
        Some(match part_of(&made) {
            Some(whole) => pair(Operation::Add, whole.clone(), made.clone()),
            None if matches!(made, Tree::Leaf(_)) => pair(Operation::Add, Tree::Running, made),
            None => {
                self.restore(kept);
                return None;
            }
        })
    }

    /// Reads the operand of a verb without an object: the phrase before it.
    fn subject(&mut self, before: Range<usize>) -> Option<Tree> {
        // "From a, subtract b"
        if self.word(before.start) == Some("from") {
            return self.expression(before.start + 1..before.end);
        }
        let mut from = before.start + usize::from(self.word(before.start).is_some_and(is_command));
        // "Start with the total and subtract"
        if matches!(self.word(from), Some("start" | "begin" | "starting")) && self.word(from + 1) == Some("with") {
            self.taken.words.push(from..from + 2);
            from += 2;
        }
        let joint =
            |word: &str| matches!(word, "by" | "after" | "before" | "when" | "from" | "to" | "into" | "convert");
        let start = (from..before.end).find(|&at| self.word(at).is_some_and(joint)).filter(|at| *at > from);
        if self.inputs.len() == 1 {
            return Some(Tree::Only);
        }
        // "Take away both": from what the step before gave.
        if before.is_empty() && !std::mem::replace(&mut self.rest, true) {
            return Some(Tree::Running);
        }
        let end = start.unwrap_or(before.end);
        if matches!(self.word(end), Some("after" | "by" | "when")) && end < before.end {
            self.taken.words.push(end..end + 1);
        }
        self.operand(from..end)
    }

    /// Reads the subtrahend: one thing or several.
    fn several(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let plural = self.has_plural(phrase.clone());
        let kept = self.kept();
        if let Some(list) = self.list(Operation::Add, phrase.clone(), plural) {
            // "The years both have aged" are twice the years.
            let both = matches!(list, Tree::Leaf(_)) && phrase.clone().any(|at| self.word(at) == Some("both"));
            return (!both).then_some(list);
        }
        self.restore(kept);
        // "The sum of a and b" is one thing.
        let phrase = self.trimmed(phrase);
        let (cue, place) = cues(self.words.get(..phrase.end)?, phrase.start).into_iter().next()?;
        let is_noun = matches!(cue, Cue::All(_) | Cue::Divide | Cue::Difference) && !self.is_verb(cue, place.start);
        if is_noun && self.is_article(phrase.start..place.start) { self.expression(phrase) } else { None }
    }

    fn has_plural(&self, phrase: Range<usize>) -> bool {
        let plural = |word: &str| matches!(word, "all" | "both" | "these" | "two" | "three" | "other" | "others");
        phrase.into_iter().any(|at| self.word(at).is_some_and(plural))
    }

    /// A phrase that names a calculation: `twice the sum of a and b minus c`.
    fn expression(&mut self, phrase: Range<usize>) -> Option<Tree> {
        self.depth += 1;
        self.read += 1;
        let over = self.depth > MAX_DEPTH || self.read > MAX_PHRASES;
        let tree = if over { None } else { self.calculation(phrase) };
        self.depth -= 1;
        tree
    }

    fn calculation(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let phrase = self.trimmed(phrase);
        // "Twice the sum a plus b" is twice all of it.
        let is_bare = |at: usize| self.word(at) == Some("sum") && self.word(at + 1) != Some("of");
        if phrase.clone().skip(1).any(is_bare) && cues(self.words.get(..phrase.end)?, phrase.start).len() > 1 {
            return None;
        }
        let places: Vec<CueAt> = cues(self.words.get(..phrase.end)?, phrase.start);
        if let Some(tree) = self.excess(&phrase, &places) {
            return Some(tree);
        }
        if let Some((_, place)) = places.iter().find(|(cue, _)| *cue == Cue::Remains) {
            self.taken.words.push(place.clone());
            return self.remains(place.end..phrase.end);
        }
        let noun = places.first().filter(|(_, place)| self.is_article(phrase.start..place.start)).cloned();
        if let Some((cue, place)) = noun.clone().filter(|(cue, _)| self.nouns_first && matches!(cue, Cue::All(_))) {
            let kept = self.kept();
            if let Some(tree) = self.noun(cue, place.start, place.end..phrase.end) {
                return Some(tree);
            }
            self.restore(kept);
        }
        let infix = |sum: bool| {
            let level = move |place: &&CueAt| match place.0 {
                Cue::Infix(operation, _) => sum == matches!(operation, Operation::Add | Operation::Subtract),
                Cue::Percent => !sum,
                _ => false,
            };
            places.iter().rfind(level)
        };
        // "a minus b, divided by two": what stands behind a comma is done to all of it.
        let comma = |at: usize| self.words.get(at).is_some_and(|word| word.comma);
        // "a minus b, all multiplied by c"
        let is_of_all = |at: usize| at.checked_sub(1).is_some_and(|at| self.word(at) == Some("all") && comma(at));
        let apart = infix(false).filter(|(_, place)| comma(place.start) || is_of_all(place.start));
        if let Some((cue, place)) = apart.or_else(|| infix(true)).or_else(|| infix(false)) {
            let from = place.start - usize::from(is_of_all(place.start));
            self.taken.words.push(from..place.end);
            let left = self.expression(phrase.start..from)?;
            let right = self.expression(place.end..phrase.end)?;
            return Some(match *cue {
                Cue::Infix(operation, true) => pair(operation, right, left),
                Cue::Infix(operation, false) => pair(operation, left, right),
                _ => pair(Operation::Multiply, pair(Operation::Divide, left, right), Tree::Number(Number::whole(100))),
            });
        }
        match noun {
            Some((cue, place)) => self.noun(cue, place.start, place.end..phrase.end),
            None if places.is_empty() => self.operand(phrase),
            None => None,
        }
    }

    /// Two calculations, joined.
    fn joined(&mut self, operation: Operation, left: Range<usize>, right: Range<usize>) -> Option<Tree> {
        let left = self.expression(left)?;
        Some(pair(operation, left, self.expression(right)?))
    }

    /// A calculation named by a noun: `sum of`, `difference between`, `half of`.
    fn noun(&mut self, cue: Cue, at: usize, after: Range<usize>) -> Option<Tree> {
        self.taken.words.push(at..after.start);
        Some(match cue {
            Cue::Factor(upper, lower) => {
                let number = Number::fraction(upper, lower)?;
                self.numbers.push(number);
                pair(Operation::Multiply, Tree::Number(number), self.expression(after)?)
            }
            Cue::All(operation) if !self.is_verb(cue, at) => {
                let list = self.list(operation, after, true)?;
                // The sum of one thing is none.
                (!matches!(list, Tree::Leaf(_) | Tree::Number(_))).then_some(list)?
            }
            Cue::Average => {
                if self.depth > 1 || !self.leaves.is_empty() {
                    return None;
                }
                let phrases = self.listed(after, &["and"]);
                self.taken.lists.extend(phrases);
                Tree::Mean
            }
            Cue::Divide => {
                let (upper, lower) = self.split_once(after, &["to", "and", "by"])?;
                self.joined(Operation::Divide, upper, lower)?
            }
            Cue::Difference => {
                let (a, b) = self.split_once(after, &["and"])?;
                let a = self.expression(a)?;
                Tree::Difference(Box::new(a), Box::new(self.expression(b)?))
            }
            _ => return None,
        })
    }

    /// `how many more a than b`
    fn excess(&mut self, phrase: &Range<usize>, places: &[CueAt]) -> Option<Tree> {
        let (_, place) = places.iter().find(|(cue, _)| *cue == Cue::Excess)?;
        let than = self.find(place.end..phrase.end, &["than"])?;
        self.taken.words.extend([place.clone(), than..than + 1]);
        let a = self.operand(place.end..than)?;
        let b = self.operand(than + 1..phrase.end)?;
        Some(Tree::Difference(Box::new(a), Box::new(b)))
    }

    /// `a after b is taken off`
    fn remains(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let (of, mut off) = self.split_once(phrase, &["after", "once", "when"])?;
        let gone = |word: &str| {
            matches!(word, "is" | "are" | "was" | "were" | "has" | "have" | "been" | "taken" | "gone" | "off" | "away")
                || matches!(word, "removed" | "used" | "spent" | "subtracted" | "out" | "given" | "sold" | "deducted")
        };
        self.taken.words.push(of.end..off.start);
        while off.end > off.start && self.word(off.end - 1).is_some_and(gone) {
            off.end -= 1;
            self.taken.words.push(off.end..off.end + 1);
        }
        let leads = |word: &str| matches!(word, "removing" | "taking" | "subtracting" | "deducting" | "away" | "off");
        while off.end > off.start && self.word(off.start).is_some_and(leads) {
            self.taken.words.push(off.start..off.start + 1);
            off.start += 1;
        }
        let of = self.expression(of)?;
        Some(pair(Operation::Subtract, of, self.several(off)?))
    }

    fn is_article(&self, phrase: Range<usize>) -> bool {
        let article = |word: &str| {
            matches!(word, "the" | "a" | "an" | "this" | "that" | "exactly" | "only" | "combined" | "be" | "is" | "are")
        };
        phrase.into_iter().all(|at| self.word(at).is_some_and(article))
    }

    pub(super) fn value(&self, id: u32) -> Option<Number> {
        self.inputs.iter().find(|input| input.id == id)?.value
    }

    /// An operation on what was just worked out: `… and divide by b`, `then add c`, `and subtract it from d`.
    fn chained(&mut self, cue: Cue, result: Tree, after: Range<usize>) -> Option<Tree> {
        Some(match cue {
            Cue::All(Operation::Multiply) | Cue::Divide | Cue::Change(_) => {
                let by = self.find(after.clone(), &["by"])?;
                let operation = match cue {
                    Cue::All(operation) | Cue::Change(operation) => operation,
                    _ => Operation::Divide,
                };
                if by > after.start && !self.is_pronoun(after.start..by) {
                    // "Then divide a by that"
                    let is_result = self.is_pronoun(by + 1..after.end) && by + 1 < after.end;
                    self.taken.words.push(by + 1..after.end);
                    let upper = is_result.then(|| self.expression(after.start..by))??;
                    return Some(pair(operation, upper, result));
                }
                self.taken.words.push(after.start..by);
                pair(operation, result, self.expression(by + 1..after.end)?)
            }
            Cue::All(operation) => match self.find(after.clone(), &["to"]) {
                Some(to) if self.is_pronoun(after.start..to) => {
                    pair(operation, self.expression(to + 1..after.end)?, result)
                }
                Some(to) if !self.is_pronoun(to + 1..after.end) => return None,
                to => pair(operation, result, self.several(after.start..to.unwrap_or(after.end))?),
            },
            Cue::Subtract => match self.find(after.clone(), &["from"]) {
                None => pair(Operation::Subtract, result, self.several(after)?),
                // "Subtract it from the total", where an input is the total.
                Some(from)
                    if self.is_pronoun(from + 1..after.end)
                        && !(self.is_pronoun(after.start..from) && self.names_input(from + 1..after.end)) =>
                {
                    pair(Operation::Subtract, result, self.several(after.start..from)?)
                }
                Some(from) if self.is_pronoun(after.start..from) => {
                    self.taken.words.push(after.start..from);
                    pair(Operation::Subtract, self.expression(from + 1..after.end)?, result)
                }
                Some(_) => return None,
            },
            Cue::Convert => {
                let to = self.find(after.clone(), &["to", "into"])?;
                if !self.is_pronoun(after.start..to) {
                    return None;
                }
                let factor = self.to_unit(to + 1..after.end)?;
                pair(Operation::Multiply, result, Tree::Number(factor))
            }
            _ => return None,
        })
    }

    /// The factor to the unit that a phrase names, from the one unit of its kind among the inputs.
    fn to_unit(&self, phrase: Range<usize>) -> Option<Number> {
        let into = self.words.get(phrase)?.iter().find_map(|word| unit(&word.lower))?;
        let named = |text: &str| {
            let parts = text.split(|c: char| !c.is_alphanumeric());
            parts.filter_map(|part| factor(unit(&part.to_lowercase())?, into)).collect::<Vec<_>>()
        };
        let mut factors: Vec<Number> = self.inputs.iter().flat_map(|input| named(input.name)).collect();
        if factors.is_empty() {
            factors = self.inputs.iter().flat_map(|input| named(input.description)).collect();
        }
        factors.sort_unstable();
        factors.dedup();
        let [factor] = factors.as_slice() else { return None };
        Some(*factor).filter(|factor| *factor != Number::ONE)
    }

    /// Records the state before a reading, to be restored if the reading fails.
    const fn kept(&self) -> Kept {
        Kept {
            leaves: self.leaves.len(),
            numbers: self.numbers.len(),
            rest: self.rest,
            phrases: self.taken.leaves.len(),
            words: self.taken.words.len(),
            lists: self.taken.lists.len(),
        }
    }

    fn restore(&mut self, kept: Kept) {
        self.leaves.truncate(kept.leaves);
        self.numbers.truncate(kept.numbers);
        self.rest = kept.rest;
        self.taken.leaves.truncate(kept.phrases);
        self.taken.words.truncate(kept.words);
        self.taken.lists.truncate(kept.lists);
    }

    /// Cuts a phrase at commas and at some words.
    fn listed(&self, phrase: Range<usize>, separators: &[&str]) -> Vec<Range<usize>> {
        let mut phrases = Vec::new();
        let mut start = phrase.start;
        for at in phrase.clone() {
            let separates = self.word(at).is_some_and(|word| separators.contains(&word));
            if separates || self.words.get(at).is_some_and(|word| word.comma) {
                phrases.push(start..at);
                start = at + usize::from(separates);
            }
        }
        phrases.push(start..phrase.end);
        phrases.retain(|phrase| !self.is_empty(phrase.clone()));
        phrases
    }

    /// A list of operands: one phrase each if that fits, else all inputs that no other phrase names.
    fn list(&mut self, operation: Operation, phrase: Range<usize>, whole: bool) -> Option<Tree> {
        // "Add a to b", but "subtract what was given to Ann and to Bob".
        let separators: &[&str] = match operation {
            // "a with b" are two, and what comes "with" more than two belongs to something else.
            Operation::Multiply if phrase.clone().any(|at| matches!(self.word(at), Some("by" | "and"))) => {
                &["by", "and"]
            }
            Operation::Multiply => &["with"],
            _ if whole => &["and", "to"],
            _ => &["and"],
        };
        if !cues(self.words.get(..phrase.end)?, phrase.start).is_empty() {
            return self.nested_list(operation, &phrase, separators);
        }
        let phrases = self.listed(phrase.clone(), separators);
        let numbers: Vec<bool> = phrases.iter().map(|phrase| self.literal(phrase.clone()).is_some()).collect();
        let open = self.inputs.len().checked_sub(self.leaves.len())?;
        let literal = numbers.contains(&true);
        if numbers.len() > open + usize::from(literal) {
            return None;
        }
        // A list in one phrase is all that no other phrase names; several phrases are so many inputs.
        let is_open = |phrase: &Range<usize>| self.leaves_something_open(phrase.clone());
        if phrases.iter().any(|phrase| self.count(phrase.clone()).is_none() && is_open(phrase)) && !literal {
            return None;
        }
        let one = phrases.len() == 1 && !self.is_plural(phrase.clone(), open);
        let is_share = phrase.clone().any(|at| self.word(at) == Some("percent"));
        if whole && !is_share && !literal && open >= 2 && !self.rest && !one {
            let named = if phrases.len() > 1 { Some(phrases.len()) } else { self.count(phrase) };
            self.rest = true;
            self.taken.lists.extend(phrases);
            return Some(Tree::Rest(operation, named));
        }
        if phrases.is_empty() {
            return None;
        }
        let operands = phrases.into_iter().map(|phrase| self.operand(phrase)).collect::<Option<Vec<_>>>()?;
        operands.into_iter().reduce(|left, right| pair(operation, left, right))
    }

    /// Tells whether one phrase can name a whole list.
    fn is_plural(&self, phrase: Range<usize>, open: usize) -> bool {
        let ends = phrase.end.checked_sub(1).and_then(|at| self.word(at)).is_some_and(|word| word.ends_with('s'));
        let before = phrase.start.checked_sub(1).and_then(|at| self.word(at));
        let adds = matches!(before, Some("add" | "adding")) && open > 2 && !ends;
        self.has_plural(phrase) || !(self.depth > 1 || adds)
    }

    /// Reads the number of things that a phrase states: "the three pieces".
    fn count(&self, phrase: Range<usize>) -> Option<usize> {
        let words = self.words.get(phrase)?;
        let word = |word: &Word<'_>| match word.lower.as_ref() {
            "both" => Some(2),
            _ if word.is_percent() => None,
            _ => word.number?.integer().and_then(|number| usize::try_from(number).ok()),
        };
        words.iter().find_map(word).filter(|count| (2..=self.inputs.len()).contains(count))
    }

    /// A list of which a part is a calculation itself: every part is read, or it is divided where both sides can be.
    fn nested_list(&mut self, operation: Operation, phrase: &Range<usize>, separators: &[&str]) -> Option<Tree> {
        let separates = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| self.word(at));
            let part =
                matches!(before, Some("multiplied" | "divided" | "increased" | "decreased" | "added" | "compared"));
            self.word(*at).is_some_and(|word| separators.contains(&word)) && !part
        };
        let commas = |at: usize| at > phrase.start && self.words.get(at).is_some_and(|word| word.comma);
        let mut places: Vec<Range<usize>> = Vec::new();
        for at in phrase.clone() {
            if separates(&at) {
                // ", and" separates once.
                places.push(at..at + 1);
            } else if commas(at) {
                places.push(at..at);
            }
        }
        if places.is_empty() {
            return self.expression(phrase.clone());
        }
        self.depth += 1;
        let kept = self.kept();
        let mut list = if self.depth > MAX_DEPTH { None } else { self.parts(operation, phrase, &places) };
        for place in places.into_iter().rev().take(MAX_LEAVES) {
            if list.is_some() || self.depth > MAX_DEPTH || self.read > MAX_PHRASES {
                break;
            }
            self.restore(kept);
            list = self.halves(operation, phrase.start..place.start, place.end..phrase.end);
        }
        self.depth -= 1;
        list
    }

    fn halves(&mut self, operation: Operation, left: Range<usize>, right: Range<usize>) -> Option<Tree> {
        let left = self.element(operation, left)?;
        Some(pair(operation, left, self.expression(right)?))
    }

    /// Every part of a list as a calculation of its own.
    fn parts(&mut self, operation: Operation, phrase: &Range<usize>, places: &[Range<usize>]) -> Option<Tree> {
        let mut all: Option<Tree> = None;
        let mut start = phrase.start;
        let ends = places.iter().map(|place| (place.start, place.end)).chain([(phrase.end, phrase.end)]);
        for (end, next) in ends.take(2 * MAX_LEAVES) {
            if !self.is_empty(start..end) {
                let part = self.expression(start..end)?;
                all = Some(match all {
                    None => part,
                    Some(all) => pair(operation, all, part),
                });
            }
            start = next;
        }
        all.filter(|_| start == phrase.end)
    }

    /// The left side of a list: a list again, or one calculation.
    fn element(&mut self, operation: Operation, phrase: Range<usize>) -> Option<Tree> {
        let kept = self.kept();
        if let Some(one) = self.expression(phrase.clone()) {
            return Some(one);
        }
        self.restore(kept);
        self.list(operation, phrase, false)
    }

    fn operand(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let mut phrase = self.trimmed(phrase);
        // "as many red ones as blue ones": the blue ones are meant.
        if self.word(phrase.start) == Some("as")
            && let Some(at) = self.find(phrase.start + 1..phrase.end, &["as"])
        {
            phrase.start = at + 1;
        }
        if let Some((number, percent)) = self.literal(phrase.clone()) {
            self.numbers.push(number);
            self.take_number(phrase.clone());
            let share = || number.over(Number::whole(100));
            return if percent { share().map(Tree::Percent) } else { Some(Tree::Number(number)) };
        }
        if phrase.is_empty() || self.leaves.len() >= MAX_LEAVES || self.leaves_something_open(phrase.clone()) {
            return None;
        }
        // "The price plus a tenth of the price": the same words are the same thing.
        let said = |phrase: &Range<usize>| {
            let words = &self.words[phrase.clone()];
            words.iter().map(|word| word.lower.as_ref()).filter(|word| !EMPTY.contains(word)).collect::<Vec<_>>()
        };
        let own = said(&phrase);
        if let Some(leaf) = self.leaves.iter().position(|leaf| !own.is_empty() && said(leaf) == own) {
            self.taken.leaves.push((phrase, leaf));
            return Some(Tree::Leaf(leaf));
        }
        self.taken.leaves.push((phrase.clone(), self.leaves.len()));
        self.leaves.push(phrase);
        Some(Tree::Leaf(self.leaves.len() - 1))
    }

    /// Takes the words of a number, with the unit behind it.
    fn take_number(&mut self, phrase: Range<usize>) {
        let is_number = |at: &usize| self.words.get(*at).is_some_and(|word| word.number.is_some());
        let Some(at) = phrase.clone().find(is_number) else {
            // "The number of rounds (3)"
            return self.taken.words.push(phrase);
        };
        let is_unit = |at: usize| {
            let word = self.words[at].lower.as_ref();
            word.starts_with("percent") || unit(word).is_some() || self.inputs.iter().any(|input| mentions(input, word))
        };
        let units = (at + 1..phrase.end).take_while(|at| is_unit(*at)).count();
        let before = (phrase.start..at).all(|at| self.word(at).is_some_and(|word| BEFORE_NUMBERS.contains(&word)));
        let start = if before { phrase.start } else { at };
        self.taken.words.push(start..at + 1 + units);
    }

    /// Tells whether a phrase holds what no input explains: a number in digits, "a fifth", or "the two" of nothing that
    /// was worked out.
    fn leaves_something_open(&self, phrase: Range<usize>) -> bool {
        let words = &self.words[phrase];
        let plural =
            |word: &Word<'_>| matches!(word.lower.as_ref(), "the" | "these" | "those" | "two" | "three" | "both");
        let is_known = |word: &Word<'_>, number: Number| {
            let share = number.over(Number::whole(100));
            self.inputs.iter().any(|input| {
                let is_value = input.value == Some(number) || (word.is_percent() && input.value == share);
                is_value || mentions(input, &word.lower) || parts(input.variable).any(|part| part == word.lower)
            })
        };
        let is_open = |word: &Word<'_>| {
            let digits = word.lower.starts_with(|c: char| c.is_ascii_digit());
            word.number.is_some_and(|number| digits && !is_known(word, number))
        };
        let is_part = |pair: &[Word<'_>]| match pair {
            [a, part] if matches!(a.lower.as_ref(), "a" | "one") => {
                let meaning = number_word(part.lower.as_bytes());
                matches!(meaning, Some(NumberWord::Nth(..))) && !self.inputs.iter().any(|i| mentions(i, &part.lower))
            }
            _ => false,
        };
        words.iter().all(plural) || words.iter().any(is_open) || words.windows(2).any(is_part)
    }

    /// The number that a phrase is, if it is nothing else; `true`: in percent.
    fn literal(&self, phrase: Range<usize>) -> Option<(Number, bool)> {
        let words = self.words.get(phrase)?;
        let is_input = |number: Number| self.inputs.iter().any(|input| input.value == Some(number));
        let mut said = words.iter().enumerate().filter_map(|(at, word)| Some((at, word.number?, word.is_percent())));
        let Some((at, number, percent)) = said.next() else {
            // "the number of rounds (3)", where no input holds it
            let aside = words.iter().rev().find_map(|word| match word.behind {
                Behind::Aside(number) => Some(number),
                _ => None,
            })?;
            return (!is_input(aside)).then_some((aside, false));
        };
        let (before, behind) = words.split_at_checked(at)?;
        let bare = before.iter().all(|word| BEFORE_NUMBERS.contains(&word.lower.as_ref()));
        // "two values" are not a two, unless nothing else can be meant: "7 days"; "the factor of 2" is.
        let unit = || {
            let named = |word: &Word<'_>| self.inputs.iter().any(|input| mentions(input, &word.lower));
            let digits = words.get(at).is_some_and(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()));
            digits && !is_input(number) && !behind.iter().skip(1).any(named)
        };
        // "Add the two": the two things.
        if behind.len() == 1
            && matches!(words.get(at)?.lower.as_ref(), "two" | "three")
            && before.last().is_some_and(|word| word.lower == "the")
        {
            return None;
        }
        let last =
            behind.len() == 1 || (percent && behind.iter().skip(1).all(|word| word.lower.starts_with("percent")));
        (said.next().is_none() && bare && (last || unit())).then_some((number, percent))
    }

    fn trimmed(&self, mut phrase: Range<usize>) -> Range<usize> {
        let joint = |word: Option<&str>| matches!(word, Some("and" | "then" | "finally" | "away"));
        // "The sum is divided by b"
        let ends = |word: Option<&str>| joint(word) || matches!(word, Some("is" | "are"));
        while !phrase.is_empty() && ends(self.word(phrase.end - 1)) {
            phrase.end -= 1;
        }
        while !phrase.is_empty() && joint(self.word(phrase.start)) {
            phrase.start += 1;
        }
        phrase
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.lower.as_ref())
    }

    fn find(&self, phrase: Range<usize>, words: &[&str]) -> Option<usize> {
        phrase.into_iter().find(|&at| self.word(at).is_some_and(|word| words.contains(&word)))
    }

    fn split_once(&self, phrase: Range<usize>, words: &[&str]) -> Option<(Range<usize>, Range<usize>)> {
        let at = words.iter().find_map(|word| self.find(phrase.clone(), &[word]))?;
        Some((phrase.start..at, at + 1..phrase.end))
    }

    fn is_empty(&self, phrase: Range<usize>) -> bool {
        let joint = |word: &str| matches!(word, "and" | "then" | "finally" | "the" | "of" | "together" | "up");
        phrase.into_iter().all(|at| self.word(at).is_none_or(joint))
    }

    fn is_pronoun(&self, phrase: Range<usize>) -> bool {
        let words = &self.words[phrase.clone()];
        let is_said = |said: &[&str]| words.iter().map(|word| word.lower.as_ref()).eq(said.iter().copied());
        if is_said(&["what", "is", "left"]) || is_said(&["what", "remains"]) {
            return true;
        }
        phrase.into_iter().all(|at| self.word(at).is_some_and(|word| PRONOUNS.contains(&word)))
    }

    fn names_input(&self, phrase: Range<usize>) -> bool {
        let words = &self.words[phrase];
        words.iter().any(|word| self.inputs.iter().any(|input| mentions(input, &word.lower)))
    }

    fn until_purpose(&self, phrase: Range<usize>) -> Range<usize> {
        let ends = |at: usize| {
            let Some(word) = self.word(at) else { return true };
            PURPOSES.contains(&word)
                || (word == "to" && self.word(at + 1).is_some_and(|verb| PURPOSE_VERBS.contains(&verb)))
                || (matches!(word, "as" | "for") && self.words.get(at).is_some_and(|word| word.comma))
                || (word == "in" && self.word(at + 1) == Some("order"))
                || (word == "and"
                    && self.word(at + 1).is_some_and(|verb| matches!(verb, "store" | "assign" | "save" | "set")))
        };
        let end = phrase.clone().find(|&at| ends(at)).unwrap_or(phrase.end);
        phrase.start..end
    }

    /// The operand before an infix word: behind the last word that introduces it.
    fn left_of(&self, at: usize, from: usize) -> Range<usize> {
        let introduces = |n: &usize| {
            let colon = self.words.get(n + 1).is_some_and(|word| word.colon);
            let is_passive = n + 1 == at && self.word(at).is_some_and(|word| word.ends_with("ed"));
            colon
                || !is_passive
                    && matches!(self.word(*n), Some("as" | "by" | "equals" | "equal" | "is" | "be" | "using"))
        };
        let start = (from..at).rev().find(introduces).map(|n| n + 1);
        start.unwrap_or_else(|| from + usize::from(self.word(from).is_some_and(is_command)))..at
    }
}

/// The operand of which a product takes a part: the people of "a third of the people".
fn part_of(tree: &Tree) -> Option<&Tree> {
    match tree {
        Tree::Pair(Operation::Multiply, part, whole) => {
            let is_part = match **part {
                Tree::Number(number) => Number::ZERO < number && number < Number::ONE,
                Tree::Percent(_) => true,
                _ => false,
            };
            is_part.then_some(&**whole)
        }
        _ => None,
    }
}

/// Tells whether a tree is made by an operation.
fn is_of(tree: &Tree, operation: Operation) -> bool {
    matches!(tree, Tree::Pair(own, ..) if *own == operation)
}
