//! Plans in words: "multiply a by b", "the sum of", "subtract the discount from the total", "twice", "to a percentage".
//!
//! Only wordings whose meaning is sure are taken: every word of an operation must be understood, every input of the step
//! must be used, and where it is open which input a phrase means, every likely reading must give the same number.

use std::borrow::Cow;
use std::ops::Range;

use crate::domain::expression::{Expression, Operation};
use crate::domain::number::{Number, Written};

/// Longer texts hold more than one operation.
const MAX_TEXT: usize = 400;
/// So do texts of more words.
const MAX_WORDS: usize = 80;
/// With more inputs there are too many readings.
const MAX_INPUTS: usize = 12;
/// So many phrases are matched to inputs one by one.
const MAX_LEAVES: usize = 4;
/// A reading counts as likely as the best one if it is no further below it.
const CLEAR: f64 = 0.3;

/// A variable that the step reads.
#[derive(Clone, Debug)]
pub(super) struct Input<'t> {
    /// Its number in the expression that is made.
    pub(super) id: u32,
    /// Its name.
    pub(super) name: &'t str,
    /// What it is.
    pub(super) description: &'t str,
    /// Its recorded value.
    pub(super) value: Option<Number>,
}

#[derive(Clone, Debug)]
struct Word<'t> {
    text: &'t str,
    lower: Cow<'t, str>,
    number: Option<Number>,
    /// A comma stands before it.
    comma: bool,
    /// A colon stands before it.
    colon: bool,
    /// A sentence ends before it.
    stop: bool,
}

/// What an operation word asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cue {
    /// A verb or noun with its operands behind it: sum, product.
    All(Operation),
    /// `subtract b from a`
    Subtract,
    /// `divide a by b`
    Divide,
    /// `share a equally among b`
    Share,
    /// `reduce a by b`, `increase a by b`
    Change(Operation),
    /// `the difference between a and b`
    Difference,
    /// `the average of`
    Average,
    /// Between two operands; with `true` they stand the other way round.
    Infix(Operation, bool),
    /// `twice`, `half`
    Factor(i64, i64),
}

#[derive(Clone, Debug)]
enum Tree {
    Leaf(usize),
    /// Every input that no phrase names; where so many are named, exactly as many.
    Rest(Operation, Option<usize>),
    /// The mean of every input.
    Mean,
    Number(Number),
    Pair(Operation, Box<Tree>, Box<Tree>),
}

/// Words by which an operation is done otherwise than these readings know.
const BLOCKED: &[&str] = &[
    "not",
    "except",
    "unless",
    "if",
    "either",
    "maximum",
    "minimum",
    "largest",
    "smallest",
    "larger",
    "smaller",
    "round",
    "rounded",
    "rounding",
    "ceiling",
    "floor",
    "nearest",
    "remainder",
    "modulo",
    "squared",
    "square",
    "cube",
    "power",
    "root",
    "respectively",
    "excluding",
    "complement",
    "equation",
    "solve",
    "solving",
    "ratio",
    "proportion",
    "respective",
    "corresponding",
    "weighted",
    "compound",
    "interest",
    "twofold",
    "until",
    "first",
];
/// Words that say nothing about which input is meant.
const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "and", "to", "by", "his", "her", "their", "its", "this", "that", "these", "those", "with",
    "from", "as", "in", "on", "for", "all", "each", "both", "s", "value", "values", "variable", "amount", "number",
    "together", "two", "three", "four", "then",
];
/// Words that may stand before a number without changing it.
const BEFORE_NUMBERS: &[&str] = &["the", "a", "by", "of", "from", "to", "number", "constant", "value", "factor", "and"];
/// Words for what was just worked out.
const PRONOUNS: &[&str] = &[
    "it",
    "this",
    "that",
    "the",
    "result",
    "resulting",
    "sum",
    "total",
    "product",
    "difference",
    "quotient",
    "amount",
    "value",
    "these",
    "them",
];
/// From here on a sentence says what for.
const PURPOSES: &[&str] = &[
    "giving",
    "yielding",
    "resulting",
    "producing",
    "which",
    "where",
    "since",
    "because",
    "assuming",
    "expressed",
    "using",
];
const PURPOSE_VERBS: &[&str] = &[
    "obtain",
    "get",
    "find",
    "compute",
    "determine",
    "calculate",
    "form",
    "yield",
    "produce",
    "give",
    "derive",
    "reach",
    "arrive",
    "express",
    "define",
    "represent",
    "account",
];

/// Whether a text may say an operation in words: a look at how its words begin.
pub(super) fn may_plan(text: &str) -> bool {
    const STEMS: [&[u8]; 23] = [
        b"add",
        b"sum",
        b"combin",
        b"total of",
        b"subtract",
        b"deduct",
        b"multipl",
        b"product",
        b"divid",
        b"shar",
        b"split",
        b"distrib",
        b"quotient",
        b"difference",
        b"average of",
        b"mean of",
        b"plus",
        b"minus",
        b"times",
        b"twice",
        b"doubl",
        b"tripl",
        b"thrice",
    ];
    const MORE: [&[u8]; 8] = [b"hal", b"increas", b"decreas", b"reduc", b"lower", b"more than", b"fewer", b"convert"];
    let bytes = text.as_bytes();
    let begins = |word: &[u8]| {
        let like = |stem: &&[u8]| word.get(..stem.len()).is_some_and(|head| head.eq_ignore_ascii_case(stem));
        match word.first().map(u8::to_ascii_lowercase) {
            Some(b'a' | b's' | b'c' | b't' | b'd' | b'm' | b'p' | b'q') => {
                STEMS.iter().any(like) || MORE.iter().any(like)
            }
            Some(b'h' | b'i' | b'r' | b'l' | b'f') => MORE.iter().any(like) || like(&b"less than".as_slice()),
            _ => false,
        }
    };
    let mut inside = false;
    bytes.iter().enumerate().any(|(at, byte)| {
        let letter = byte.is_ascii_alphabetic();
        let starts = letter && !std::mem::replace(&mut inside, letter);
        inside = letter;
        starts && bytes.get(at..).is_some_and(begins)
    })
}

/// Reads a plan. The names in the expression are the inputs' ids.
pub(super) fn plan(text: &str, inputs: &[Input<'_>]) -> Option<Expression> {
    if inputs.is_empty() || inputs.len() > MAX_INPUTS || text.len() > MAX_TEXT {
        return None;
    }
    let words = words(text)?;
    let converts = |word: &Word<'_>| matches!(word.lower.as_ref(), "convert" | "converting");
    if let Some(at) = words.iter().position(converts) {
        return conversion(&words, at, inputs);
    }
    let cues = cues(&words);
    let (first, last) = (cues.first()?, cues.last()?);
    let known = |word: &Word<'_>| inputs.iter().any(|input| mentions(input, &word.lower));
    // Of two sentences with operations nobody knows how they belong together.
    if words.get(first.1.start + 1..last.1.end)?.iter().any(|word| word.stop) {
        return None;
    }
    let sentence = sentence(&words, first.1.start);
    // "by 20 percent": of what, and whether on top, is not said.
    let said = words.get(sentence.clone())?.windows(2);
    if said.into_iter().any(|pair| matches!(pair, [a, b] if a.number.is_some() && b.lower.starts_with("percent"))) {
        return None;
    }
    let blocked = |word: &Word<'_>| BLOCKED.contains(&word.lower.as_ref()) && !known(word);
    if words.get(sentence.clone())?.iter().any(blocked) {
        return None;
    }
    let averaged = words.get(sentence.clone())?.iter().any(|word| matches!(word.lower.as_ref(), "average" | "mean"));
    let divides = |cue: &(Cue, Range<usize>)| {
        matches!(cue.0, Cue::Divide | Cue::Average | Cue::Share | Cue::Infix(Operation::Divide, _))
    };
    if averaged && !cues.iter().any(divides) && !inputs.iter().any(|input| mentions(input, "average")) {
        return None;
    }
    let mut reader = Reader { words: &words, inputs, leaves: Vec::new(), numbers: Vec::new(), rest: false };
    let tree = reader.tree(&cues, sentence)?;
    reader.resolve(&tree)
}

/// The calculation of a last step that only states its one input.
pub(super) fn statement(text: &str, inputs: &[Input<'_>]) -> Option<Expression> {
    let [input] = inputs else { return None };
    let words = words(text)?;
    let verb =
        |word: &Word<'_>| word.number.is_some() || BLOCKED.contains(&word.lower.as_ref()) || word.lower == "convert";
    let says_more = !cues(&words).is_empty() || words.iter().any(|word| verb(word) && !mentions(input, &word.lower));
    (!says_more).then(|| Expression::name(input.id))
}

fn words(text: &str) -> Option<Vec<Word<'_>>> {
    let mut list = Vec::new();
    let (mut depth, mut comma, mut colon, mut stop) = (0_usize, false, false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = c.len_utf8();
        if c.is_alphanumeric() || c == '_' {
            let end = rest
                .char_indices()
                .find(|&(at, c)| !(c.is_alphanumeric() || c == '_' || inside_number(rest, at, c)))
                .map_or(rest.len(), |(at, _)| at);
            let (head, tail) = rest.split_at_checked(end)?;
            rest = tail;
            // A possessive is no word of its own.
            if matches!(head, "s" | "S") && list.last().is_some_and(|_| !(comma || colon || stop)) {
                continue;
            }
            if depth == 0 {
                let plain = head.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
                let lower = if plain { Cow::Borrowed(head) } else { Cow::Owned(head.to_lowercase()) };
                let number = value_of(&lower);
                list.push(Word { text: head, lower, number, comma, colon, stop });
                (comma, colon, stop) = (false, false, false);
                if list.len() > MAX_WORDS {
                    return None;
                }
            }
            continue;
        }
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' => comma = true,
            ':' | '=' => colon = true,
            '.' | ';' | '\n' => stop = true,
            // Of what, and whether on top: that is for calculations in signs.
            '%' if depth == 0 => return None,
            _ => {}
        }
        rest = rest.get(len..)?;
    }
    Some(list)
}

fn inside_number(text: &str, at: usize, c: char) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    matches!(c, '.' | ',') && digit(at.checked_sub(1)) && digit(Some(at + 1))
}

fn value_of(word: &str) -> Option<Number> {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    if let Some(number) = WORDS.iter().position(|known| *known == word) {
        return Some(Number::whole(number as i64));
    }
    word.bytes()
        .next()?
        .is_ascii_digit()
        .then(|| Written::parse(word.replace(',', "").as_bytes()))?
        .map(|number| number.value)
}

/// The words of the sentence around a word.
fn sentence(words: &[Word<'_>], at: usize) -> Range<usize> {
    let start = words.iter().take(at + 1).rposition(|word| word.stop).unwrap_or(0);
    let end = words.iter().skip(at + 1).position(|word| word.stop).map_or(words.len(), |n| at + 1 + n);
    start..end
}

/// Every operation word with its place; the words that belong to it are in the range.
fn cues(words: &[Word<'_>]) -> Vec<(Cue, Range<usize>)> {
    let mut cues = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match cue(words, at) {
            Some((cue, len)) => {
                cues.push((cue, at..at + len));
                at += len;
            }
            None => at += 1,
        }
    }
    cues
}

fn cue(words: &[Word<'_>], at: usize) -> Option<(Cue, usize)> {
    let word = |n: usize| words.get(n).map_or("", |word| word.lower.as_ref());
    let (before, here, next) = (at.checked_sub(1).map_or("", word), word(at), word(at + 1));
    let noun = matches!(before, "the" | "this" | "that") && !matches!(next, "of" | "all");
    Some(match here {
        "add" | "adding" | "combine" | "combining" | "summing" => (Cue::All(Operation::Add), 1),
        "sum" if !noun && !matches!(next, "by" | "from" | "") => {
            (Cue::All(Operation::Add), 1 + usize::from(matches!(next, "of" | "up")))
        }
        "total" if next == "of" && at == 0 => (Cue::All(Operation::Add), 2),
        "multiply" | "multiplying" => (Cue::All(Operation::Multiply), 1),
        "product" if next == "of" => (Cue::All(Operation::Multiply), 2),
        "subtract" | "subtracting" | "deduct" | "deducting" => (Cue::Subtract, 1),
        "divide" | "dividing" => {
            let ahead = words.iter().skip(at).take(12).map(|word| word.lower.as_ref());
            let shared = ahead.clone().any(|word| matches!(word, "among" | "between"))
                && !ahead.clone().any(|word| word == "by");
            (if shared { Cue::Share } else { Cue::Divide }, 1)
        }
        "split" | "splitting" | "share" | "sharing" | "distribute" | "distributing" => {
            let equal = words.iter().any(|word| matches!(word.lower.as_ref(), "equally" | "evenly"));
            equal.then_some((Cue::Share, 1))?
        }
        "quotient" if next == "of" => (Cue::Divide, 2),
        "difference" if next == "between" => (Cue::Difference, 2),
        "average" | "mean" if next == "of" => (Cue::Average, 2),
        "reduce" | "reducing" | "decrease" | "decreasing" | "lower" => (Cue::Change(Operation::Subtract), 1),
        "increase" | "increasing" if matches!(before, "" | "by" | "and" | "then") => (Cue::Change(Operation::Add), 1),
        "plus" => (Cue::Infix(Operation::Add, false), 1),
        "minus" => (Cue::Infix(Operation::Subtract, false), 1),
        "times" if !matches!(before, "of" | "many" | "at" | "") => (Cue::Infix(Operation::Multiply, false), 1),
        "multiplied" if next == "by" => (Cue::Infix(Operation::Multiply, false), 2),
        "divided" if next == "by" => (Cue::Infix(Operation::Divide, false), 2),
        "increased" if next == "by" => (Cue::Infix(Operation::Add, false), 2),
        "decreased" | "reduced" if next == "by" => (Cue::Infix(Operation::Subtract, false), 2),
        "added" if next == "to" => (Cue::Infix(Operation::Add, false), 2),
        "subtracted" if next == "from" => (Cue::Infix(Operation::Subtract, true), 2),
        "more" if next == "than" => (Cue::Infix(Operation::Add, false), 2),
        "fewer" | "less" if next == "than" => (Cue::Infix(Operation::Subtract, true), 2),
        "twice" | "double" | "doubling" => (Cue::Factor(2, 1), 1 + usize::from(next == "of")),
        "thrice" | "triple" | "tripling" => (Cue::Factor(3, 1), 1 + usize::from(next == "of")),
        "halve" | "halving" => (Cue::Factor(1, 2), 1),
        "half" if !matches!(before, "and" | "the" | "a" | "one") || next == "of" => {
            (Cue::Factor(1, 2), 1 + usize::from(next == "of"))
        }
        _ => return None,
    })
}

/// `Convert minutes to hours`, `to a percentage`; the word itself stands at a place.
fn conversion(words: &[Word<'_>], at: usize, inputs: &[Input<'_>]) -> Option<Expression> {
    let [input] = inputs else { return None };
    let rest = words.get(at + 1..)?;
    let to = rest.iter().position(|word| matches!(word.lower.as_ref(), "to" | "into"))?;
    let (source, target) = rest.split_at_checked(to)?;
    let units = |words: &[Word<'_>]| words.iter().find_map(|word| unit(&word.lower));
    let ends = |word: &Word<'_>| word.comma || word.stop || word.lower == "by";
    let end = target.iter().skip(1).position(ends).map_or(target.len(), |end| end + 1);
    let (target, after) = target.split_at_checked(end)?;
    // "… by multiplying": another operation stands behind it.
    if !cues(after).is_empty() {
        return None;
    }
    let factor = if target.iter().any(|word| matches!(word.lower.as_ref(), "percent" | "percentage")) {
        // Above one it is a percentage already, or nobody knows.
        input.value.filter(|value| *value <= Number::ONE)?;
        Number::whole(100)
    } else {
        let parts = |text: &str| text.split(|c: char| !c.is_alphanumeric()).find_map(|part| unit(&part.to_lowercase()));
        let (kind, from) = units(source).or_else(|| parts(input.name)).or_else(|| parts(input.description))?;
        let (same, into) = units(target)?;
        (kind == same && from != into).then_some(())?;
        Number::fraction(from, into)?
    };
    Expression::pair(Operation::Multiply, &Expression::name(input.id), &Expression::number(factor))
}

/// What is measured, and how many of the smallest one such unit is.
fn unit(word: &str) -> Option<(u8, i64)> {
    Some(match word {
        "second" | "seconds" => (0, 1),
        "minute" | "minutes" => (0, 60),
        "hour" | "hours" => (0, 3600),
        "day" | "days" => (0, 86_400),
        "week" | "weeks" => (0, 604_800),
        "inch" | "inches" => (1, 1),
        "foot" | "feet" => (1, 12),
        "yard" | "yards" => (1, 36),
        "cent" | "cents" => (2, 1),
        "dollar" | "dollars" => (2, 100),
        "millimeter" | "millimeters" | "millimetres" | "mm" => (3, 1),
        "centimeter" | "centimeters" | "centimetres" | "cm" => (3, 10),
        "meter" | "meters" | "metres" => (3, 1000),
        "kilometer" | "kilometers" | "kilometres" | "km" => (3, 1_000_000),
        "gram" | "grams" => (4, 1),
        "kilogram" | "kilograms" | "kg" => (4, 1000),
        "ounce" | "ounces" => (5, 1),
        "pound" | "pounds" => (5, 16),
        "milliliter" | "milliliters" | "millilitres" | "ml" => (6, 1),
        "liter" | "liters" | "litres" => (6, 1000),
        "month" | "months" => (7, 1),
        "year" | "years" => (7, 12),
        _ => return None,
    })
}

fn stem(word: &str) -> &str {
    let cut = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    cut.unwrap_or(word)
}

fn parts(text: &str) -> impl Iterator<Item = String> + '_ {
    // A number at the end of a word is a word: round2.
    text.split(|c: char| !c.is_alphanumeric())
        .flat_map(|word| {
            let at = word.find(|c: char| c.is_ascii_digit()).filter(|at| *at > 0).unwrap_or(word.len());
            let (head, tail) = word.split_at_checked(at).unwrap_or((word, ""));
            [head, tail].map(|part| stem(&part.to_lowercase()).to_owned())
        })
        .filter(|part| !part.is_empty() && !EMPTY.contains(&part.as_str()))
}

fn mentions(input: &Input<'_>, word: &str) -> bool {
    let word = stem(word);
    parts(input.name).chain(parts(input.description)).any(|part| part == word)
}

/// How much two lists of words share, 0 to 1.
fn likeness(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|part| b.contains(part)).count();
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}

struct Reader<'r, 't> {
    words: &'r [Word<'t>],
    inputs: &'r [Input<'t>],
    leaves: Vec<Range<usize>>,
    numbers: Vec<Number>,
    /// A list has taken all that is left.
    rest: bool,
}

impl Reader<'_, '_> {
    fn tree(&mut self, cues: &[(Cue, Range<usize>)], sentence: Range<usize>) -> Option<Tree> {
        let mut result: Option<Tree> = None;
        for (n, (cue, place)) in cues.iter().enumerate() {
            let next = cues.get(n + 1).map_or(sentence.end, |(_, next)| next.start);
            let after = self.until_purpose(place.end..next);
            // A factor belongs to what stands behind it, also behind another operation.
            result = Some(match *cue {
                Cue::Infix(operation, flipped) => {
                    let left = match result.take() {
                        Some(tree) => tree,
                        None => self.operand(self.left_of(place.start, sentence.start))?,
                    };
                    if after.is_empty() && matches!(cues.get(n + 1), Some((Cue::Factor(..), _))) {
                        return None;
                    }
                    let right = self.operand(after)?;
                    infix(operation, left, right, flipped)
                }
                Cue::Factor(upper, lower) => {
                    if result.is_some() || n > 0 {
                        return None;
                    }
                    let number = Number::fraction(upper, lower)?;
                    self.numbers.push(number);
                    let operand = self.operand(after)?;
                    pair(Operation::Multiply, Tree::Number(number), operand)
                }
                Cue::Average => {
                    if result.is_some() || cues.len() > 1 {
                        return None;
                    }
                    Tree::Mean
                }
                _ if result.is_some() => self.chained(*cue, result.take()?, after)?,
                Cue::All(operation) => self.list(operation, after, true)?,
                Cue::Subtract => {
                    let (minus, from) = self.split_once(after, &["from"])?;
                    let from = self.operand(from)?;
                    let minus = self.list(Operation::Add, minus, false)?;
                    pair(Operation::Subtract, from, minus)
                }
                Cue::Divide => {
                    let (upper, lower) = self.split_once(after, &["by", "and"])?;
                    let lower = self.operand(lower)?;
                    let upper = self.operand(upper)?;
                    pair(Operation::Divide, upper, lower)
                }
                Cue::Share => {
                    let (upper, lower) = self.split_once(after, &["among", "between", "amongst"])?;
                    let lower = self.operand(lower)?;
                    let upper = self.operand(upper)?;
                    pair(Operation::Divide, upper, lower)
                }
                Cue::Change(operation) => {
                    let (what, by) = self.split_once(after, &["by"])?;
                    let what = self.operand(what)?;
                    let by = self.operand(by)?;
                    pair(operation, what, by)
                }
                Cue::Difference => {
                    let (a, b) = self.split_once(after, &["and"])?;
                    let a = self.operand(a)?;
                    let b = self.operand(b)?;
                    self.unsigned(a, b)?
                }
            });
        }
        result
    }

    /// Of the two orders of a difference people mean the one that is not negative.
    fn unsigned(&self, a: Tree, b: Tree) -> Option<Tree> {
        let tree = pair(Operation::Subtract, a.clone(), b.clone());
        let value = |tree: &Tree| self.resolve(tree)?.evaluate(|id| self.value(id));
        if value(&tree)?.is_negative() { Some(pair(Operation::Subtract, b, a)) } else { Some(tree) }
    }

    fn value(&self, id: u32) -> Option<Number> {
        self.inputs.iter().find(|input| input.id == id)?.value
    }

    /// An operation on what was just worked out: `… and divide by b`, `then add c`, `and subtract it from d`.
    fn chained(&mut self, cue: Cue, result: Tree, after: Range<usize>) -> Option<Tree> {
        let by = self.find(after.clone(), &["by"]);
        Some(match cue {
            Cue::All(Operation::Multiply) | Cue::Divide => {
                let by = by?;
                if by > after.start && !self.is_pronoun(after.start..by) {
                    return None;
                }
                let operand = self.operand(by + 1..after.end)?;
                let operation = if cue == Cue::Divide { Operation::Divide } else { Operation::Multiply };
                pair(operation, result, operand)
            }
            Cue::All(operation) => {
                let end = self.find(after.clone(), &["to"]).filter(|to| self.is_pronoun(to + 1..after.end));
                pair(operation, result, self.list(Operation::Add, after.start..end.unwrap_or(after.end), false)?)
            }
            Cue::Subtract => match self.find(after.clone(), &["from"]) {
                None => pair(Operation::Subtract, result, self.list(Operation::Add, after, false)?),
                Some(from) if self.is_pronoun(from + 1..after.end) => {
                    pair(Operation::Subtract, result, self.list(Operation::Add, after.start..from, false)?)
                }
                Some(from) if self.is_pronoun(after.start..from) => {
                    pair(Operation::Subtract, self.operand(from + 1..after.end)?, result)
                }
                Some(_) => return None,
            },
            _ => return None,
        })
    }

    /// A list of operands: one phrase each if that fits, else all inputs that no other phrase names.
    fn list(&mut self, operation: Operation, phrase: Range<usize>, whole: bool) -> Option<Tree> {
        let commas = |at: usize| self.words.get(at).is_some_and(|word| word.comma);
        let separators: &[&str] =
            if operation == Operation::Multiply { &["by", "and", "with"] } else { &["and", "to", "with"] };
        let mut phrases = Vec::new();
        let mut start = phrase.start;
        for at in phrase.clone() {
            let separates = self.word(at).is_some_and(|word| separators.contains(&word));
            if separates || commas(at) {
                phrases.push(start..at);
                start = at + usize::from(separates);
            }
        }
        phrases.push(start..phrase.end);
        phrases.retain(|phrase| !self.is_empty(phrase.clone()));
        let numbers: Vec<Option<Number>> = phrases.iter().map(|phrase| self.literal(phrase.clone())).collect();
        let open = self.inputs.len().checked_sub(self.leaves.len())?;
        let literal = numbers.iter().any(Option::is_some);
        if numbers.len() > open + usize::from(literal) {
            return None;
        }
        // A list in one phrase is all that no other phrase names; several phrases are so many inputs.
        if whole && !literal && open >= 2 {
            let named = (phrases.len() > 1).then_some(phrases.len());
            return (!std::mem::replace(&mut self.rest, true)).then_some(Tree::Rest(operation, named));
        }
        if phrases.is_empty() {
            return None;
        }
        let mut operands = Vec::new();
        for phrase in phrases {
            operands.push(self.operand(phrase)?);
        }
        operands.into_iter().reduce(|left, right| pair(operation, left, right))
    }

    fn operand(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let phrase = self.trimmed(phrase);
        if let Some(number) = self.literal(phrase.clone()) {
            self.numbers.push(number);
            return Some(Tree::Number(number));
        }
        if phrase.is_empty() || self.leaves.len() >= MAX_LEAVES {
            return None;
        }
        self.leaves.push(phrase);
        Some(Tree::Leaf(self.leaves.len() - 1))
    }

    /// The number that a phrase is, if it is nothing else.
    fn literal(&self, phrase: Range<usize>) -> Option<Number> {
        let words = self.words.get(phrase)?;
        let mut numbers = words.iter().filter_map(|word| word.number);
        let number = numbers.next()?;
        // "two values" are not a two; "the factor of 2" is.
        let bare = words.last().is_some_and(|word| word.number.is_some())
            && words.iter().all(|word| word.number.is_some() || BEFORE_NUMBERS.contains(&word.lower.as_ref()));
        (numbers.next().is_none() && bare).then_some(number)
    }

    fn trimmed(&self, mut phrase: Range<usize>) -> Range<usize> {
        let joint = |word: Option<&str>| matches!(word, Some("and" | "then" | "finally"));
        while !phrase.is_empty() && joint(self.word(phrase.end - 1)) {
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
        let joint = |word: &str| matches!(word, "and" | "then" | "finally" | "the" | "of");
        phrase.into_iter().all(|at| self.word(at).is_none_or(joint))
    }

    fn is_pronoun(&self, phrase: Range<usize>) -> bool {
        phrase.into_iter().all(|at| self.word(at).is_some_and(|word| PRONOUNS.contains(&word)))
    }

    fn until_purpose(&self, phrase: Range<usize>) -> Range<usize> {
        let ends = |at: usize| {
            let Some(word) = self.word(at) else { return true };
            PURPOSES.contains(&word)
                || (word == "to" && self.word(at + 1).is_some_and(|verb| PURPOSE_VERBS.contains(&verb)))
                || (matches!(word, "as" | "for") && self.words.get(at).is_some_and(|word| word.comma))
                || (word == "in" && self.word(at + 1) == Some("order"))
        };
        let end = phrase.clone().find(|&at| ends(at)).unwrap_or(phrase.end);
        phrase.start..end
    }

    /// The operand before an infix word: behind the last word that introduces it.
    fn left_of(&self, at: usize, from: usize) -> Range<usize> {
        let introduces = |n: &usize| {
            let colon = self.words.get(n + 1).is_some_and(|word| word.colon);
            colon || matches!(self.word(*n), Some("as" | "by" | "equals" | "equal" | "is" | "be" | "using"))
        };
        let start = (from..at).rev().find(introduces).map(|n| n + 1);
        let verb = |word: &str| {
            matches!(
                word,
                "compute" | "calculate" | "determine" | "find" | "evaluate" | "obtain" | "take" | "form" | "get"
            )
        };
        start.unwrap_or_else(|| from + usize::from(self.word(from).is_some_and(verb)))..at
    }

    fn resolve(&self, tree: &Tree) -> Option<Expression> {
        if matches!(tree, Tree::Mean) {
            return self.mean();
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
        let mut readings = Vec::new();
        arrangements(self.leaves.len(), self.inputs.len(), &mut Vec::new(), 0.0, &score, &mut readings);
        readings.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = readings.first()?.0;
        if !self.leaves.is_empty() && best <= 0.0 {
            return None;
        }
        let mut chosen: Option<(Expression, Option<Number>)> = None;
        for (_, reading) in readings.iter().take_while(|(score, _)| *score >= best - CLEAR) {
            let expression = self.build(tree, reading)?;
            let value = expression.evaluate(|id| self.value(id));
            match &chosen {
                None => chosen = Some((expression, value)),
                Some((_, first)) if value.is_some() && *first == value => {}
                Some(_) => return None,
            }
        }
        chosen.map(|(expression, _)| expression)
    }

    fn leaf_parts(&self, leaf: Range<usize>) -> Vec<String> {
        let words = self.words.get(leaf).unwrap_or_default();
        words.iter().flat_map(|word| parts(word.text)).collect()
    }

    fn mean(&self) -> Option<Expression> {
        let names = self.inputs.iter().map(|input| Expression::name(input.id));
        let count = Expression::number(Number::whole(self.inputs.len() as i64));
        let mut sum: Option<Expression> = None;
        for name in names {
            sum = Some(match sum {
                None => name,
                Some(sum) => Expression::pair(Operation::Add, &sum, &name)?,
            });
        }
        // One of them might be how many there are.
        let counted = self
            .inputs
            .iter()
            .any(|input| input.value == Some(Number::whole(self.inputs.len() as i64 - 1)) || mentions(input, "count"));
        if self.inputs.len() < 2 || counted {
            return None;
        }
        Expression::pair(Operation::Divide, &sum?, &count)
    }

    /// The expression of one reading; every input must be used, or stand there as a number.
    fn build(&self, tree: &Tree, reading: &[usize]) -> Option<Expression> {
        let free: Vec<usize> = (0..self.inputs.len()).filter(|input| !reading.contains(input)).collect();
        let said = |input: &usize| {
            let value = self.inputs.get(*input).and_then(|input| input.value);
            value.is_some_and(|value| {
                self.numbers.iter().any(|number| *number == value || Number::ONE.over(*number) == Some(value))
            })
        };
        let open: Vec<usize> = free.iter().copied().filter(|input| !said(input)).collect();
        if !uses_rest(tree) && !open.is_empty() {
            return None;
        }
        self.assemble(tree, reading, &open, false)
    }

    fn assemble(&self, tree: &Tree, reading: &[usize], open: &[usize], scaled: bool) -> Option<Expression> {
        let name = |input: usize, scaled: bool| {
            let input = self.inputs.get(input)?;
            let name = Expression::name(input.id);
            let percent = mentions(input, "percent")
                || mentions(input, "percentage")
                || mentions(input, "pct")
                || input.description.contains('%');
            // "Multiply the price by the percentage": 20 means 0.2.
            match input.value {
                Some(value) if percent && scaled && value > Number::ONE => {
                    Expression::pair(Operation::Divide, &name, &Expression::number(Number::whole(100)))
                }
                _ => Some(name),
            }
        };
        match tree {
            Tree::Leaf(leaf) => name(*reading.get(*leaf)?, scaled),
            Tree::Number(number) => Some(Expression::number(*number)),
            Tree::Mean => None,
            Tree::Rest(operation, named) => {
                if open.len() < 2 || named.is_some_and(|named| named != open.len()) {
                    return None;
                }
                let mut all: Option<Expression> = None;
                for &input in open {
                    let one = name(input, *operation == Operation::Multiply)?;
                    all = Some(match all {
                        None => one,
                        Some(all) => Expression::pair(*operation, &all, &one)?,
                    });
                }
                all
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
}

fn pair(operation: Operation, left: Tree, right: Tree) -> Tree {
    Tree::Pair(operation, Box::new(left), Box::new(right))
}

/// `a plus b times c`: times and divided-by go first.
fn infix(operation: Operation, left: Tree, right: Tree, flipped: bool) -> Tree {
    if flipped {
        return pair(operation, right, left);
    }
    let binds = matches!(operation, Operation::Multiply | Operation::Divide);
    match left {
        Tree::Pair(outer @ (Operation::Add | Operation::Subtract), first, second) if binds => {
            Tree::Pair(outer, first, Box::new(pair(operation, *second, right)))
        }
        left => pair(operation, left, right),
    }
}

fn uses_rest(tree: &Tree) -> bool {
    match tree {
        Tree::Rest(..) | Tree::Mean => true,
        Tree::Pair(_, left, right) => uses_rest(left) || uses_rest(right),
        Tree::Leaf(_) | Tree::Number(_) => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs<'t>(list: &[(&'t str, &'t str, &str)]) -> Vec<Input<'t>> {
        let value = |text: &str| Written::parse(text.as_bytes()).map(|number| number.value);
        let input = |(n, (name, description, number)): (usize, &(&'t str, &'t str, &str))| Input {
            id: n as u32,
            name,
            description,
            value: value(number),
        };
        list.iter().enumerate().map(input).collect()
    }

    fn result(text: &str, list: &[(&str, &str, &str)]) -> String {
        let inputs = inputs(list);
        let value = |id: u32| inputs.get(id as usize).and_then(|input| input.value);
        let plan = plan(text, &inputs).or_else(|| statement(text, &inputs));
        plan.and_then(|plan| plan.evaluate(value)).map_or_else(|| "nothing".into(), Number::shown)
    }

    #[test]
    fn common_wordings_are_understood() {
        let skips = [
            ("sam_skips_per_round", "Skips of Sam in each round", "16"),
            ("diff_round1", "Difference where Sam completed 1 more skip than Jeff", "1"),
        ];
        assert_eq!(result("Compute Jeff's skips in round 1 as Sam's skips minus the 1‑skip advantage.", &skips), "15");
        let half =
            [("sam_skips_per_round", "Skips of Sam", "16"), ("ratio_round4", "Factor of half as many skips", "2")];
        assert_eq!(result("Compute Jeff's skips in round 4 as Sam's skips divided by the half‑ratio.", &half), "8");
        let rounds = [
            ("jeff_round1", "Skips in round 1", "15"),
            ("jeff_round2", "", "13"),
            ("jeff_round3", "", "20"),
            ("jeff_round4", "", "8"),
            ("rounds", "Number of rounds", "4"),
        ];
        let text = "Calculate Jeff's average skips per round by summing his skips across all four rounds and dividing by the number of rounds.";
        assert_eq!(result(text, &rounds), "14");
        let cost = [
            ("cheddar_total_cost", "Total cost of cheddar", "10"),
            ("cheddar_qty", "Quantity of cheddar cheese in pounds", "2"),
        ];
        assert_eq!(
            result("Define the price per pound of cheddar cheese as total cost divided by quantity", &cost),
            "5"
        );
        let three = [
            ("cream_cheese_qty", "", "1"),
            ("cheddar_price_per_pound", "", "5"),
            ("cream_cheese_price_factor", "", "0.5"),
        ];
        assert_eq!(
            result(
                "Compute the total cost of cream cheese as quantity times cheddar unit price times the price factor",
                &three
            ),
            "2.5"
        );
        let total = [("price", "The price", "60"), ("discount", "The discount", "9")];
        for text in [
            "Subtract the discount from the price.",
            "Subtract discount from price to get the new price.",
            "Compute the new price by subtracting the discount from the price.",
            "Reduce the price by the discount.",
            "Find the difference between the price and the discount.",
            "The discount subtracted from the price.",
        ] {
            assert_eq!(result(text, &total), "51", "{text}");
        }
        for text in [
            "Multiply the price by the discount.",
            "The product of price and discount.",
            "Compute price times discount",
        ] {
            assert_eq!(result(text, &total), "540", "{text}");
        }
        for text in [
            "Add the price and the discount.",
            "Sum the two values.",
            "Sum of price and discount",
            "Combine both amounts.",
            "Compute price plus discount",
        ] {
            assert_eq!(result(text, &total), "69", "{text}");
        }
        assert_eq!(
            result("Divide the price equally among the friends.", &[("price", "", "60"), ("friends", "", "5")]),
            "12"
        );
        assert_eq!(
            result("Compute the average of the three scores", &[("s1", "", "1"), ("s2", "", "4"), ("s3", "", "7")]),
            "4"
        );
        assert_eq!(result("Double the price", &[("price", "", "60")]), "120");
        assert_eq!(
            result(
                "Compute sales as twice last month's revenue.",
                &[("multiplier", "", "2"), ("last_month_sales", "", "600")]
            ),
            "1200"
        );
        assert_eq!(
            result("Convert the survivors fraction to a percentage.", &[("survivors_fraction", "", "0.2625")]),
            "26.25"
        );
        assert_eq!(result("Convert minutes to hours", &[("total_minutes", "", "90")]), "1.5");
        assert_eq!(result("Multiply hours by 60", &[("hours", "", "3")]), "180");
        assert_eq!(result("State the price as the final answer.", &[("price", "", "60")]), "60");
        let mixed = [
            ("packs", "Number of packs", "3"),
            ("pack_price", "Price of one pack", "5"),
            ("shipping", "Shipping cost", "7"),
        ];
        assert_eq!(
            result("Multiply the number of packs by the price of a pack and add the shipping cost.", &mixed),
            "22"
        );
        assert_eq!(result("Compute packs times pack price plus shipping.", &mixed), "22");
    }

    /// A plan, its inputs as name, description and value, and what it gives.
    type Case = (&'static str, &'static [(&'static str, &'static str, &'static str)], &'static str);

    #[test]
    fn plans_as_large_models_word_them() {
        let cases: &[Case] = &[
            (
                "Compute the total cost of all items by adding the cost of apples, the cost of pears, and the tax.",
                &[("apples_cost", "", "3"), ("pears_cost", "", "4"), ("tax", "", "5")],
                "12",
            ),
            (
                "Define the remaining amount symbolically as total amount minus amount spent.",
                &[("spent_amount", "Amount spent", "4"), ("total_amount", "Total amount", "10")],
                "6",
            ),
            (
                "Calculate the discount amount as the original price multiplied by the discount percentage.",
                &[("original_price", "", "60"), ("discount_percent", "Discount in percent", "20")],
                "12",
            ),
            (
                "Determine profit by subtracting total cost from total revenue.",
                &[("total_cost", "", "4"), ("total_revenue", "", "10")],
                "6",
            ),
            (
                "Compute number of weeks as total savings divided by weekly savings.",
                &[("weekly_savings", "", "4"), ("total_savings", "", "20")],
                "5",
            ),
            (
                "Multiply hours_per_day by days_per_week to get hours per week.",
                &[("hours_per_day", "", "3"), ("days_per_week", "", "5")],
                "15",
            ),
            ("Express Jane's age as twice Tom's age plus 3.", &[("tom_age", "", "4")], "11"),
            (
                "Calculate the average by dividing the total by the count.",
                &[("count", "", "4"), ("total", "", "20")],
                "5",
            ),
            (
                "Compute the number of red marbles as half the number of blue marbles.",
                &[("blue_marbles", "", "20")],
                "10",
            ),
            (
                "Compute the number of red marbles as half of the blue marbles.",
                &[("blue_marbles", "", "20"), ("half_factor", "", "0.5")],
                "10",
            ),
            (
                "Sum the three amounts, then subtract the coupon.",
                &[("shirt", "", "1"), ("shoes", "", "2"), ("hat", "", "3"), ("coupon", "", "4")],
                "2",
            ),
            (
                "Compute the difference between the final and initial values.",
                &[("initial", "", "3"), ("final", "", "9")],
                "6",
            ),
        ];
        for (text, inputs, expected) in cases {
            assert_eq!(result(text, inputs), *expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_sure_gives_nothing() {
        let two = [("first_value", "", "8"), ("second_value", "", "2")];
        for text in [
            "Compute the number of sections.",
            "Subtract one from the other.",
            "Divide the values.",
            "Compute the average by summing the scores.",
            "Add the values if they are positive.",
            "Remaining value not used, multiplied by the rest.",
            "Use the values to find the ratio.",
            "Combine the values. Then divide the values.",
            "Increase the first value by 20%.",
            "Reduce the second value by 20 percent.",
            "Count the number of times the values occur.",
        ] {
            assert_eq!(result(text, &two), "nothing", "{text}");
        }
        assert_eq!(
            result(
                "Multiply the price by the quantity.",
                &[("price", "", "3"), ("quantity", "", "4"), ("tax", "", "2")]
            ),
            "nothing"
        );
        assert_eq!(result("State the price as twice the final answer.", &[]), "nothing");
    }
}
