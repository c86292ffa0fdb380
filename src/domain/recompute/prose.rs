//! Plans in words: "multiply a by b", "the sum of", "subtract the discount from the total", "twice", "to a percentage".
//!
//! Only wordings whose meaning is sure are taken: every word of an operation must be understood, every input of the step
//! must be used, and where it is open which input a phrase means, every likely reading must give the same number.

use std::borrow::Cow;
use std::ops::Range;

use crate::domain::expression::{Expression, Operation, Single, numbers};
use crate::domain::number::{Number, Written};

/// Longer texts hold more than one operation.
const MAX_TEXT: usize = 400;
/// So do texts of more words.
const MAX_WORDS: usize = 80;
/// With more inputs there are too many readings.
const MAX_INPUTS: usize = 12;
/// So many phrases are matched to inputs one by one.
const MAX_LEAVES: usize = 6;
/// Texts with more ways to match phrases and inputs are not read.
const MAX_READINGS: usize = 1_000;
/// More phrases are not read to find out what a text means.
const MAX_PHRASES: usize = 200;
/// Phrases are not nested deeper.
const MAX_DEPTH: usize = 6;
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
    /// Its number is in percent.
    percent: bool,
    /// A number in parentheses stands behind it.
    aside: Option<Number>,
}

impl<'t> Word<'t> {
    /// A word alone, in lower case.
    const fn of(text: &'t str) -> Self {
        let lower = Cow::Borrowed(text);
        Self { text, lower, number: None, comma: false, colon: false, stop: false, percent: false, aside: None }
    }
}

/// An operation word and the words that belong to it.
type Place = (Cue, Range<usize>);

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
    /// `as a percentage of`
    Percent,
    /// `how many more`
    Excess,
    /// `convert … to hours`
    Convert,
}

#[derive(Clone, PartialEq, Debug)]
enum Tree {
    Leaf(usize),
    /// Every input that no phrase names; where so many are named, exactly as many.
    Rest(Operation, Option<usize>),
    /// The mean of every input.
    Mean,
    Number(Number),
    /// So many hundredths of what stands beside it.
    Percent(Number),
    /// The one input.
    Only,
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
    "two",
    "three",
    "both",
    "all",
    "results",
    "products",
    "sums",
    "totals",
    "amounts",
    "values",
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
    const MORE: [&[u8]; 9] =
        [b"hal", b"increas", b"decreas", b"reduc", b"lower", b"more than", b"fewer", b"convert", b"mod"];
    let bytes = text.as_bytes();
    let signs = [" + ", " * ", " / ", " × ", " ÷ ", " − "];
    if signs.iter().any(|sign| memchr::memmem::find(bytes, sign.as_bytes()).is_some()) {
        return true;
    }
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
    if let Some(at) = words.iter().position(converts)
        && let Some(conversion) = conversion(&words, at, inputs)
    {
        return Some(conversion);
    }
    let cues = cues(&words, 0);
    let (first, last) = (cues.first()?, cues.last()?);
    // Of two sentences with operations nobody knows how they belong together.
    if words.get(first.1.start + 1..last.1.end)?.iter().any(|word| word.stop) {
        return None;
    }
    let sentence = sentence(&words, first.1.start);
    let whole = Whole::of(&words, &cues, sentence.clone(), inputs)?;
    let averaged = words.get(sentence.clone())?.iter().any(|word| matches!(word.lower.as_ref(), "average" | "mean"));
    let divides =
        |cue: &Place| matches!(cue.0, Cue::Divide | Cue::Average | Cue::Share | Cue::Infix(Operation::Divide, _));
    if averaged && !cues.iter().any(divides) && !inputs.iter().any(|input| mentions(input, "average")) {
        return None;
    }
    [false, true].into_iter().find_map(|nouns_first| {
        let (leaves, numbers) = (Vec::new(), Vec::new());
        let mut reader = Reader { words: &words, inputs, leaves, numbers, rest: false, depth: 0, read: 0, nouns_first };
        let tree = reader.tree(&cues, sentence.start..whole.end)?;
        let tree = match (whole.remainder, tree) {
            (false, tree) => tree,
            (true, Tree::Pair(Operation::Divide, upper, lower)) => Tree::Pair(Operation::Remainder, upper, lower),
            (true, _) => return None,
        };
        let expression = reader.resolve(&tree)?;
        match whole.rounds {
            Some(single) => Expression::single(single, &expression),
            None => Some(expression),
        }
    })
}

/// What a sentence says of its result as a whole.
struct Whole {
    /// Where it stops speaking of operands.
    end: usize,
    /// It is rounded to whole numbers.
    rounds: Option<Single>,
    /// What a division leaves over is meant.
    remainder: bool,
}

impl Whole {
    /// `None` where a word asks for what these readings do not know.
    fn of(words: &[Word<'_>], cues: &[Place], sentence: Range<usize>, inputs: &[Input<'_>]) -> Option<Self> {
        let known = |word: &str| inputs.iter().any(|input| mentions(input, word));
        let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_ref());
        let mut whole = Self { end: sentence.end, rounds: None, remainder: false };
        for at in sentence.clone() {
            let here = word(at);
            match here {
                "remainder" if !known(here) => whole.remainder = true,
                "round" | "rounded" | "rounding" if !known(here) && at > cues.first()?.1.start => {
                    whole.rounds = rounding(words.get(at + 1..sentence.end)?)?;
                    let joint = matches!(word(at - 1), "and" | "then");
                    whole.end = at - usize::from(joint);
                    break;
                }
                // "First, add …"
                "first" if at == sentence.start || cues.iter().any(|cue| cue.1.start == at + 1) => {}
                "ratio" if matches!(word(at + 1), "of" | "between") => {}
                _ if BLOCKED.contains(&here) && !known(here) => return None,
                _ => {}
            }
        }
        Some(whole)
    }
}

/// How a text rounds the calculation in signs that it holds.
pub(super) fn rounded(text: &str) -> Option<Single> {
    let at = memchr::memmem::find(text.as_bytes(), b"ound")?;
    let behind = text.get(at + 4..)?;
    // "rounds of play" and "round_2" round nothing.
    let verb = behind.starts_with([' ', ',']) || behind.starts_with("ed") || behind.starts_with("ing");
    if !verb || !text.get(..at)?.ends_with(['r', 'R']) {
        return None;
    }
    let words = words(behind)?;
    rounding(words.get(..words.len().min(7))?)?
}

/// How the words behind "round" round; to decimals people write numbers anyhow.
fn rounding(words: &[Word<'_>]) -> Option<Option<Single>> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.lower.as_ref()));
    if has(&["up"]) {
        Some(Some(Single::Ceil))
    } else if has(&["down"]) {
        Some(Some(Single::Floor))
    } else if has(&["decimal", "decimals", "places", "cent", "cents", "tenth", "hundredth", "digits"]) {
        Some(None)
    } else if has(&["whole", "integer", "nearest"]) {
        Some(Some(Single::Round))
    } else {
        None
    }
}

/// The calculation of a last step that only states its one input.
pub(super) fn statement(text: &str, inputs: &[Input<'_>]) -> Option<Expression> {
    let [input] = inputs else { return None };
    let words = words(text)?;
    let verb =
        |word: &Word<'_>| word.number.is_some() || BLOCKED.contains(&word.lower.as_ref()) || word.lower == "convert";
    // "Take the value from the last step" takes nothing away.
    let calculates = |place: &Place| words.get(place.1.start).is_some_and(|word| word.lower != "take");
    let says_more = |words: &[Word<'_>]| {
        let verbs = words.iter().any(|word| verb(word) && !mentions(input, &word.lower));
        verbs || cues(words, 0).iter().any(calculates)
    };
    // "rounded to two decimals" is how people write numbers anyhow.
    let at = words.iter().position(|word| matches!(word.lower.as_ref(), "round" | "rounded" | "rounding"));
    let named = Expression::name(input.id);
    match at.and_then(|at| Some((words.get(..at)?, rounding(words.get(at + 1..)?)?))) {
        Some((before, _)) if says_more(before) => None,
        Some((_, Some(single))) => Expression::single(single, &named),
        Some((_, None)) => Some(named),
        None => (!says_more(&words)).then_some(named),
    }
}

fn words(text: &str) -> Option<Vec<Word<'_>>> {
    let mut list: Vec<Word<'_>> = Vec::new();
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
                list.push(Word { lower, number, comma, colon, stop, ..Word::of(head) });
                (comma, colon, stop) = (false, false, false);
                if list.len() > MAX_WORDS {
                    return None;
                }
            }
            continue;
        }
        // "total cost / number of boxes"
        let before = text.get(..text.len() - rest.len()).is_some_and(|head| head.ends_with(' '));
        let signs =
            sign(c).filter(|_| depth == 0 && before && rest.get(len..).is_some_and(|rest| rest.starts_with(' ')));
        if let Some(signs) = signs {
            list.extend(signs.iter().map(|sign| Word::of(sign)));
            rest = rest.get(len..)?;
            continue;
        }
        match c {
            '(' if depth == 0 => {
                depth += 1;
                if let Some(last) = list.last_mut() {
                    last.aside = aside(rest);
                }
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' => comma = true,
            ':' | '=' => colon = true,
            '.' | ';' | '\n' => stop = true,
            '%' if depth == 0 => list.last_mut().filter(|word| word.number.is_some())?.percent = true,
            _ => {}
        }
        rest = rest.get(len..)?;
    }
    Some(list)
}

/// The words for a sign between two phrases; hyphens and dashes are none.
const fn sign(c: char) -> Option<&'static [&'static str]> {
    Some(match c {
        '+' => &["plus"],
        '−' => &["minus"],
        '*' | '×' => &["times"],
        '/' | '÷' => &["divided", "by"],
        _ => return None,
    })
}

/// The number that parentheses hold and nothing else: `(3)`, `(value 3)`.
fn aside(text: &str) -> Option<Number> {
    let (inner, _) = text.get(1..)?.split_once(')')?;
    let short = inner.len() <= 24 && !inner.contains(['*', '+', '=', '/', '%']);
    match numbers(inner).as_slice() {
        [(number, _)] if short => Some(number.value),
        _ => None,
    }
}

fn inside_number(text: &str, at: usize, c: char) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    matches!(c, '.' | ',' | '/') && digit(at.checked_sub(1)) && digit(Some(at + 1))
}

fn value_of(word: &str) -> Option<Number> {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    if let Some(number) = WORDS.iter().position(|known| *known == word) {
        return Some(Number::whole(number as i64));
    }
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = |text: &str| Written::parse(text.replace(',', "").as_bytes()).map(|number| number.value);
    match word.split_once('/') {
        Some((upper, lower)) => number(upper)?.over(number(lower)?),
        None => number(word),
    }
}

/// The words of the sentence around a word.
fn sentence(words: &[Word<'_>], at: usize) -> Range<usize> {
    let start = words.iter().take(at + 1).rposition(|word| word.stop).unwrap_or(0);
    let end = words.iter().skip(at + 1).position(|word| word.stop).map_or(words.len(), |n| at + 1 + n);
    start..end
}

/// Every operation word from a place on; the words that belong to it are in the range.
fn cues(words: &[Word<'_>], from: usize) -> Vec<Place> {
    let mut cues = Vec::new();
    let mut at = from;
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
    let of = usize::from(next == "of");
    Some(match here {
        "add" | "adding" | "combine" | "combining" | "summing" | "totaling" => (Cue::All(Operation::Add), 1),
        "sum" if !noun && !matches!(next, "by" | "from" | "") => {
            (Cue::All(Operation::Add), 1 + usize::from(matches!(next, "of" | "up")))
        }
        "total" if next == "of" && at == 0 => (Cue::All(Operation::Add), 2),
        "multiply" | "multiplying" => (Cue::All(Operation::Multiply), 1),
        "product" if next == "of" => (Cue::All(Operation::Multiply), 2),
        "subtract" | "subtracting" | "deduct" | "deducting" => (Cue::Subtract, 1),
        "remove" | "removing" if words.iter().skip(at).any(|word| word.lower == "from") => (Cue::Subtract, 1),
        "take" | "taking" if next == "away" => (Cue::Subtract, 2),
        "take" | "taking"
            if words.iter().skip(at + 2).take(9).any(|word| matches!(word.lower.as_ref(), "from" | "away")) =>
        {
            (Cue::Subtract, 1)
        }
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
        "quotient" | "ratio" if next == "of" => (Cue::Divide, 2),
        "remainder" if next == "of" && word(at + 2) != "dividing" => (Cue::Divide, 2),
        "difference" if matches!(next, "between" | "of") => (Cue::Difference, 2),
        "average" | "mean" if next == "of" => (Cue::Average, 2),
        "averaging" => (Cue::Average, 1),
        "reduce" | "reducing" | "decrease" | "decreasing" | "lower" => (Cue::Change(Operation::Subtract), 1),
        "increase" | "increasing" if matches!(before, "" | "by" | "and" | "then") => (Cue::Change(Operation::Add), 1),
        "convert" | "converting" => (Cue::Convert, 1),
        "plus" => (Cue::Infix(Operation::Add, false), 1),
        "minus" => (Cue::Infix(Operation::Subtract, false), 1),
        "times" if !matches!(before, "of" | "many" | "at" | "") => (Cue::Infix(Operation::Multiply, false), 1),
        "multiplied" if next == "by" => (Cue::Infix(Operation::Multiply, false), 2),
        "divided" if next == "by" => (Cue::Infix(Operation::Divide, false), 2),
        "modulo" | "mod" => (Cue::Infix(Operation::Remainder, false), 1),
        "increased" if next == "by" => (Cue::Infix(Operation::Add, false), 2),
        "decreased" | "reduced" if next == "by" => (Cue::Infix(Operation::Subtract, false), 2),
        "added" if next == "to" => (Cue::Infix(Operation::Add, false), 2),
        "subtracted" if next == "from" => (Cue::Infix(Operation::Subtract, true), 2),
        "many" | "much" if before == "how" && matches!(next, "more" | "fewer" | "less") => (Cue::Excess, 2),
        "more" | "greater" | "older" | "longer" | "taller" | "heavier" if next == "than" => {
            (Cue::Infix(Operation::Add, false), 2)
        }
        "fewer" | "less" | "younger" | "shorter" | "lighter" if next == "than" => {
            (Cue::Infix(Operation::Subtract, true), 2)
        }
        "percentage" | "percent" if before == "a" && next == "of" => (Cue::Percent, 2),
        "of" if words.get(at.checked_sub(1)?).is_some_and(|word| is_share(word, at, words)) => {
            (Cue::Infix(Operation::Multiply, false), 1)
        }
        "twice" | "double" | "doubling" => (Cue::Factor(2, 1), 1 + of),
        "thrice" | "triple" | "tripling" => (Cue::Factor(3, 1), 1 + of),
        "halve" | "halving" => (Cue::Factor(1, 2), 1),
        "half" if !matches!(before, "and" | "the" | "a" | "one") || next == "of" => (Cue::Factor(1, 2), 1 + of),
        "third" | "quarter" | "fourth" | "fifth" | "tenth" if of == 1 && matches!(before, "a" | "one") => {
            let lower = match here {
                "third" => 3,
                "quarter" | "fourth" => 4,
                "fifth" => 5,
                _ => 10,
            };
            (Cue::Factor(1, lower), 2)
        }
        _ => return None,
    })
}

/// Whether "of" behind a word takes a share: `20% of`, `2/3 of`.
fn is_share(word: &Word<'_>, at: usize, words: &[Word<'_>]) -> bool {
    let percent = word.percent
        || (word.lower == "percent"
            && at.checked_sub(2).and_then(|at| words.get(at)).is_some_and(|word| word.number.is_some()));
    percent || (word.lower.contains('/') && word.number.is_some())
}

fn is_command(word: &str) -> bool {
    matches!(
        word,
        "compute" | "calculate" | "determine" | "find" | "evaluate" | "obtain" | "take" | "form" | "get" | "derive"
    )
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
    if !cues(after, 0).is_empty() {
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
    /// Phrases inside phrases.
    depth: usize,
    /// Phrases read so far.
    read: usize,
    /// "The sum of a times b and c" is a sum, not a product.
    nouns_first: bool,
}

impl Reader<'_, '_> {
    /// What the verbs of a sentence do one after the other, or the one calculation that it names.
    fn tree(&mut self, cues: &[Place], sentence: Range<usize>) -> Option<Tree> {
        let verbs: Vec<&Place> = cues.iter().filter(|(cue, place)| self.is_verb(*cue, place.start)).collect();
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
            // "Convert … by dividing by 60" names only what the division is for.
            if *cue == Cue::Convert && done.is_empty() && n + 1 < verbs.len() {
                continue;
            }
            let next = verbs.get(n + 1).map_or(sentence.end, |(_, next)| next.start);
            let after = self.until_purpose(place.end..next);
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
            Cue::Difference | Cue::Average | Cue::Infix(..) | Cue::Factor(..) | Cue::Percent | Cue::Excess => false,
        }
    }

    /// Does what one verb asks for, with what was worked out before.
    fn act(&mut self, cue: Cue, after: Range<usize>, before: Range<usize>, done: &mut Vec<Tree>) -> Option<()> {
        if let Cue::All(operation) = cue
            && done.len() >= 2
            && self.is_pronoun(after.clone())
        {
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
            Cue::Subtract => match self.split_once(after.clone(), &["from"]) {
                Some((minus, from)) => {
                    let from = self.expression(from)?;
                    pair(Operation::Subtract, from, self.several(minus)?)
                }
                // "the budget after subtracting both costs"
                None => {
                    let from = self.subject(before)?;
                    pair(Operation::Subtract, from, self.several(after)?)
                }
            },
            Cue::Divide => {
                let split = self.split_once(after.clone(), &["by"]).or_else(|| self.split_once(after, &["and", "to"]));
                let (upper, lower) = split?;
                let upper = if upper.is_empty() { self.subject(before)? } else { self.expression(upper)? };
                pair(Operation::Divide, upper, self.expression(lower)?)
            }
            Cue::Share => {
                let (upper, lower) = self.split_once(after, &["among", "between", "amongst", "by", "into"])?;
                let upper = self.expression(upper)?;
                pair(Operation::Divide, upper, self.expression(lower)?)
            }
            Cue::Change(operation) => {
                let (what, by) = self.split_once(after, &["by"])?;
                let what = self.expression(what)?;
                pair(operation, what, self.expression(by)?)
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
        self.list(operation, after, true)
    }

    /// What a verb without an object is done to: the phrase before it.
    fn subject(&mut self, before: Range<usize>) -> Option<Tree> {
        let from = before.start + usize::from(self.word(before.start).is_some_and(is_command));
        let joint =
            |word: &str| matches!(word, "by" | "after" | "before" | "when" | "from" | "to" | "into" | "convert");
        let start = (from..before.end).find(|&at| self.word(at).is_some_and(joint)).filter(|at| *at > from);
        if self.inputs.len() == 1 {
            return Some(Tree::Only);
        }
        // "Take away both": from the one thing that is left.
        if before.is_empty() && !std::mem::replace(&mut self.rest, true) {
            return Some(Tree::Rest(Operation::Add, Some(1)));
        }
        self.operand(from..start.unwrap_or(before.end))
    }

    /// What is taken away: one thing or several.
    fn several(&mut self, phrase: Range<usize>) -> Option<Tree> {
        let plural = self.has_plural(phrase.clone());
        self.list(Operation::Add, phrase, plural)
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
        let places: Vec<Place> = cues(self.words.get(..phrase.end)?, phrase.start);
        if let Some(tree) = self.excess(&phrase, &places) {
            return Some(tree);
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
            let level = move |place: &&Place| match place.0 {
                Cue::Infix(operation, _) => sum == matches!(operation, Operation::Add | Operation::Subtract),
                Cue::Percent => !sum,
                _ => false,
            };
            places.iter().rfind(level)
        };
        if let Some((cue, place)) = infix(true).or_else(|| infix(false)) {
            let left = self.expression(phrase.start..place.start)?;
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

    /// A calculation named by a noun: `sum of`, `difference between`, `half of`.
    fn noun(&mut self, cue: Cue, at: usize, after: Range<usize>) -> Option<Tree> {
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
                Tree::Mean
            }
            Cue::Divide => {
                let (upper, lower) = self.split_once(after, &["to", "and", "by"])?;
                let upper = self.expression(upper)?;
                pair(Operation::Divide, upper, self.expression(lower)?)
            }
            Cue::Difference => {
                let (a, b) = self.split_once(after, &["and"])?;
                let a = self.expression(a)?;
                let b = self.expression(b)?;
                self.unsigned(a, b)?
            }
            _ => return None,
        })
    }

    /// `how many more a than b`
    fn excess(&mut self, phrase: &Range<usize>, places: &[Place]) -> Option<Tree> {
        let (_, place) = places.iter().find(|(cue, _)| *cue == Cue::Excess)?;
        let than = self.find(place.end..phrase.end, &["than"])?;
        let a = self.operand(place.end..than)?;
        let b = self.operand(than + 1..phrase.end)?;
        self.unsigned(a, b)
    }

    fn is_article(&self, phrase: Range<usize>) -> bool {
        let article = |word: &str| {
            matches!(word, "the" | "a" | "an" | "this" | "that" | "exactly" | "only" | "combined" | "be" | "is" | "are")
        };
        phrase.into_iter().all(|at| self.word(at).is_some_and(article))
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
                let operand = self.expression(by + 1..after.end)?;
                let operation = if cue == Cue::Divide { Operation::Divide } else { Operation::Multiply };
                pair(operation, result, operand)
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
                Some(from) if self.is_pronoun(from + 1..after.end) => {
                    pair(Operation::Subtract, result, self.several(after.start..from)?)
                }
                Some(from) if self.is_pronoun(after.start..from) => {
                    pair(Operation::Subtract, self.expression(from + 1..after.end)?, result)
                }
                Some(_) => return None,
            },
            Cue::Change(operation) => {
                let by = by?;
                if by > after.start && !self.is_pronoun(after.start..by) {
                    return None;
                }
                pair(operation, result, self.expression(by + 1..after.end)?)
            }
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
        let (kind, into) = self.words.get(phrase)?.iter().find_map(|word| unit(&word.lower))?;
        let named = |text: &str| {
            let parts = text.split(|c: char| !c.is_alphanumeric()).filter_map(|part| unit(&part.to_lowercase()));
            parts.filter(|(own, _)| *own == kind).map(|(_, size)| size).collect::<Vec<_>>()
        };
        let mut sizes: Vec<i64> = self.inputs.iter().flat_map(|input| named(input.name)).collect();
        if sizes.is_empty() {
            sizes = self.inputs.iter().flat_map(|input| named(input.description)).collect();
        }
        sizes.sort_unstable();
        sizes.dedup();
        let [from] = sizes.as_slice() else { return None };
        Number::fraction(*from, into).filter(|factor| *factor != Number::ONE)
    }

    /// What there was before a reading that came to nothing.
    const fn kept(&self) -> (usize, usize, bool) {
        (self.leaves.len(), self.numbers.len(), self.rest)
    }

    fn restore(&mut self, kept: (usize, usize, bool)) {
        self.leaves.truncate(kept.0);
        self.numbers.truncate(kept.1);
        self.rest = kept.2;
    }

    /// A list of operands: one phrase each if that fits, else all inputs that no other phrase names.
    fn list(&mut self, operation: Operation, phrase: Range<usize>, whole: bool) -> Option<Tree> {
        // "Add a to b", but "subtract what was given to Ann and to Bob".
        let separators: &[&str] = match operation {
            Operation::Multiply => &["by", "and", "with"],
            _ if whole => &["and", "to", "with"],
            _ => &["and", "with"],
        };
        if !cues(self.words.get(..phrase.end)?, phrase.start).is_empty() {
            return self.nested_list(operation, &phrase, separators);
        }
        let commas = |at: usize| self.words.get(at).is_some_and(|word| word.comma);
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
        let numbers: Vec<bool> = phrases.iter().map(|phrase| self.literal(phrase.clone()).is_some()).collect();
        let open = self.inputs.len().checked_sub(self.leaves.len())?;
        let literal = numbers.contains(&true);
        if numbers.len() > open + usize::from(literal) {
            return None;
        }
        // A list in one phrase is all that no other phrase names; several phrases are so many inputs.
        let one = phrases.len() == 1 && !self.is_plural(phrase.clone(), open);
        if whole && !literal && open >= 2 && !self.rest && !one {
            let named = if phrases.len() > 1 { Some(phrases.len()) } else { self.count(phrase) };
            self.rest = true;
            return Some(Tree::Rest(operation, named));
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

    /// Whether one phrase can stand for a list.
    fn is_plural(&self, phrase: Range<usize>, open: usize) -> bool {
        let ends = phrase.end.checked_sub(1).and_then(|at| self.word(at)).is_some_and(|word| word.ends_with('s'));
        let before = phrase.start.checked_sub(1).and_then(|at| self.word(at)).unwrap_or_default();
        let adds = matches!(before, "add" | "adding") && open > 2 && !ends;
        self.has_plural(phrase) || !(self.depth > 1 || adds)
    }

    /// How many things a phrase says there are: "the three pieces".
    fn count(&self, phrase: Range<usize>) -> Option<usize> {
        let words = self.words.get(phrase)?;
        let word = |word: &Word<'_>| match word.lower.as_ref() {
            "both" => Some(2),
            _ if word.percent => None,
            _ => word.number?.integer().and_then(|number| usize::try_from(number).ok()),
        };
        words.iter().find_map(word).filter(|count| (2..=self.inputs.len()).contains(count))
    }

    /// A list of which a part is a calculation itself: every part is read, or it is divided where both sides can be.
    fn nested_list(&mut self, operation: Operation, phrase: &Range<usize>, separators: &[&str]) -> Option<Tree> {
        let separates = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| self.word(at)).unwrap_or_default();
            let part = matches!(before, "multiplied" | "divided" | "increased" | "decreased" | "added" | "compared");
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
            let share = || number.over(Number::whole(100));
            return if percent { share().map(Tree::Percent) } else { Some(Tree::Number(number)) };
        }
        if phrase.is_empty() || self.leaves.len() >= MAX_LEAVES {
            return None;
        }
        self.leaves.push(phrase);
        Some(Tree::Leaf(self.leaves.len() - 1))
    }

    /// The number that a phrase is, if it is nothing else; `true`: in percent.
    fn literal(&self, phrase: Range<usize>) -> Option<(Number, bool)> {
        let words = self.words.get(phrase)?;
        let is_input = |number: Number| self.inputs.iter().any(|input| input.value == Some(number));
        let mut said = words.iter().enumerate().filter_map(|(at, word)| Some((at, word.number?, word.percent)));
        let Some((at, number, percent)) = said.next() else {
            // "the number of rounds (3)", where no input holds it
            let aside = words.iter().rev().find_map(|word| word.aside)?;
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
        let last =
            behind.len() == 1 || (percent && behind.iter().skip(1).all(|word| word.lower.starts_with("percent")));
        (said.next().is_none() && bare && (last || unit())).then_some((number, percent))
    }

    fn trimmed(&self, mut phrase: Range<usize>) -> Range<usize> {
        let joint = |word: Option<&str>| matches!(word, Some("and" | "then" | "finally" | "away"));
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
        let joint = |word: &str| matches!(word, "and" | "then" | "finally" | "the" | "of" | "together" | "up");
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
            colon || matches!(self.word(*n), Some("as" | "by" | "equals" | "equal" | "is" | "be" | "using"))
        };
        let start = (from..at).rev().find(introduces).map(|n| n + 1);
        start.unwrap_or_else(|| from + usize::from(self.word(from).is_some_and(is_command)))..at
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
        let ways =
            (0..self.leaves.len()).try_fold(1, |ways: usize, n| ways.checked_mul(self.inputs.len().checked_sub(n)?));
        ways.filter(|ways| *ways <= MAX_READINGS)?;
        let scores: Vec<Vec<f64>> = (0..self.leaves.len())
            .map(|leaf| (0..self.inputs.len()).map(|input| score(leaf, input)).collect())
            .collect();
        let score = |leaf: usize, input: usize| scores.get(leaf).and_then(|row| row.get(input)).copied().unwrap_or(0.0);
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
        match rest_of(tree) {
            None if uses_only(tree) || open.is_empty() => self.assemble(tree, reading, &open, false),
            None => None,
            Some(named) if open.len() < free.len() => {
                // The same number may stand for an input or be one of several by chance.
                let fits = |open: &&Vec<usize>| named.is_none_or(|named| named == open.len());
                let mut fitting = [&open, &free].into_iter().filter(fits);
                let one = fitting.next().filter(|_| fitting.next().is_none() || self.counts(&free, &open))?;
                self.assemble(tree, reading, one, false)
            }
            Some(_) => self.assemble(tree, reading, &open, false),
        }
    }

    /// Whether what is left out of a list says how many there are.
    fn counts(&self, free: &[usize], open: &[usize]) -> bool {
        let count = |input: &Input<'_>| {
            let named = ["count", "num", "rounds", "multiplier", "factor"].iter().any(|word| mentions(input, word));
            named || input.description.starts_with("Number of") || input.value == Some(Number::whole(open.len() as i64))
        };
        let mut left = free.iter().filter(|input| !open.contains(input)).filter_map(|input| self.inputs.get(*input));
        left.all(count)
    }

    fn assemble(&self, tree: &Tree, reading: &[usize], open: &[usize], scaled: bool) -> Option<Expression> {
        let name = |input: usize, scaled: bool| {
            let input = self.inputs.get(input)?;
            let name = Expression::name(input.id);
            // "Multiply the price by the percentage": 20 means 0.2.
            match input.value {
                Some(value) if scaled && is_percent(input) && value > Number::ONE => {
                    Expression::pair(Operation::Divide, &name, &Expression::number(Number::whole(100)))
                }
                _ => Some(name),
            }
        };
        match tree {
            Tree::Leaf(leaf) => name(*reading.get(*leaf)?, scaled),
            Tree::Only => name(0, scaled),
            Tree::Number(number) | Tree::Percent(number) => Some(Expression::number(*number)),
            Tree::Mean => None,
            Tree::Rest(operation, named) => {
                if open.len() < 2 && *named != Some(1) || named.is_some_and(|named| named != open.len()) {
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
            Tree::Pair(operation, left, right) => {
                let scaled = *operation == Operation::Multiply
                    && !matches!((&**left, &**right), (Tree::Number(_), _) | (_, Tree::Number(_)));
                let left = self.assemble(left, reading, open, scaled)?;
                let right = self.assemble(right, reading, open, scaled)?;
                Expression::pair(*operation, &left, &right)
            }
        }
    }

    /// Whether a part is so many percent of something.
    fn is_share(&self, tree: &Tree, reading: &[usize]) -> bool {
        match tree {
            Tree::Percent(_) => true,
            Tree::Leaf(leaf) => {
                let input = reading.get(*leaf).and_then(|input| self.inputs.get(*input));
                input.is_some_and(|input| {
                    parts(input.name).any(|part| matches!(part.as_str(), "percent" | "percentage" | "pct"))
                })
            }
            _ => false,
        }
    }
}

/// Whether an input is in percent, by its name or what is said of it.
fn is_percent(input: &Input<'_>) -> bool {
    ["percent", "percentage", "pct"].iter().any(|word| mentions(input, word)) || input.description.contains('%')
}

fn pair(operation: Operation, left: Tree, right: Tree) -> Tree {
    Tree::Pair(operation, Box::new(left), Box::new(right))
}

/// How many inputs a list without names takes, where it says so; `None`: there is no such list.
fn rest_of(tree: &Tree) -> Option<Option<usize>> {
    match tree {
        Tree::Rest(_, named) => Some(*named),
        Tree::Mean => Some(None),
        Tree::Pair(_, left, right) => rest_of(left).or_else(|| rest_of(right)),
        Tree::Leaf(_) | Tree::Number(_) | Tree::Percent(_) | Tree::Only => None,
    }
}

fn uses_only(tree: &Tree) -> bool {
    match tree {
        Tree::Only => true,
        Tree::Pair(_, left, right) => uses_only(left) || uses_only(right),
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
    fn calculations_inside_calculations() {
        let cases: &[Case] = &[
            (
                "Calculate the value of one part by dividing total_beads by the sum of red_ratio and blue_ratio.",
                &[("red_ratio", "", "5"), ("blue_ratio", "", "7"), ("total_beads", "", "84")],
                "7",
            ),
            (
                "Calculate the average by dividing the total by the number of rounds (3).",
                &[("total_words", "Words spelled in all three rounds", "60")],
                "20",
            ),
            (
                "Convert the running time from minutes to hours by dividing by 60.",
                &[("running_time", "Running time", "135")],
                "2.25",
            ),
            (
                "Find how many more blue beads than red beads there are.",
                &[("blue_beads", "Number of blue beads", "49"), ("red_beads", "Number of red beads", "35")],
                "14",
            ),
            (
                "Express the number of green flowers as green_fraction times the sum of yellow and purple flowers.",
                &[("green_fraction", "", "0.25"), ("yellow_flowers", "", "10"), ("purple_flowers", "", "18")],
                "7",
            ),
            (
                "Define the unknown weight as the total weight minus the sum of the known weights of the box and the bag.",
                &[("total_weight", "", "30"), ("box_weight", "", "4"), ("bag_weight", "", "6")],
                "20",
            ),
            (
                "Compute the weekly cost as the sum of food cost and toy cost multiplied by the number of weeks.",
                &[("food_cost", "", "3"), ("toy_cost", "", "4"), ("num_weeks", "Number of weeks", "5")],
                "35",
            ),
            (
                "Calculate total miles driven in a day by multiplying the one-way distance by 2.",
                &[("one_way_distance", "Distance one way", "14")],
                "28",
            ),
            (
                "Compute the area as length times width and the cost by multiplying it by the price per square foot.",
                &[("length", "", "3"), ("width", "", "4"), ("price_per_sqft", "Price per square foot", "2")],
                "nothing",
            ),
            (
                "Multiply the number of adults by the adult price, multiply the number of children by the child price, and add the results.",
                &[
                    ("adults", "Number of adults", "2"),
                    ("adult_price", "", "10"),
                    ("children", "Number of children", "3"),
                    ("child_price", "", "5"),
                ],
                "35",
            ),
            (
                "Compute the remaining money by subtracting both costs from the budget.",
                &[("budget", "", "50"), ("shirt_cost", "", "12"), ("shoe_cost", "", "20")],
                "18",
            ),
            (
                "Determine the remaining budget after subtracting the shirt cost.",
                &[("budget", "", "50"), ("shirt_cost", "", "12")],
                "38",
            ),
            ("Compute the tip as 20% of the meal cost.", &[("meal_cost", "", "50")], "10"),
            ("Increase the rent by 10%.", &[("rent", "", "50")], "55"),
            (
                "Reduce the price by the discount percentage.",
                &[("price", "", "50"), ("discount_percent", "", "10")],
                "45",
            ),
            (
                "Calculate the purple flowers as 80% more than the yellow flowers.",
                &[("yellow_flowers", "", "10")],
                "18",
            ),
            ("Compute Bob's age as 5 less than twice Ann's age.", &[("ann_age", "", "10")], "15"),
            (
                "Define the number of boys as two-thirds of the number of girls",
                &[("girls", "Number of girls", "12")],
                "nothing",
            ),
            ("Compute the number of boys as 2/3 of the number of girls.", &[("girls", "Number of girls", "12")], "8"),
            (
                "First, add the morning and afternoon sales, then subtract the returns.",
                &[("morning_sales", "", "10"), ("afternoon_sales", "", "20"), ("returns", "Goods returned", "5")],
                "25",
            ),
            (
                "Calculate the number of full boxes by dividing the eggs by the box size and rounding down.",
                &[("eggs", "", "310"), ("box_size", "", "12")],
                "25",
            ),
            (
                "Divide the members by the van capacity and round up to the nearest whole number.",
                &[("members", "", "43"), ("van_capacity", "", "8")],
                "6",
            ),
            (
                "Find the remainder of dividing the tulips by the bunch size.",
                &[("tulips", "", "275"), ("bunch_size", "", "12")],
                "11",
            ),
            (
                "Express the number of correct answers as a percentage of the questions.",
                &[("correct_answers", "", "34"), ("questions", "", "40")],
                "85",
            ),
            (
                "Multiply the number of plants by the minutes for each plant, then convert the result to hours.",
                &[("plants", "Number of plants", "36"), ("minutes_per_plant", "Minutes for each plant", "5")],
                "3",
            ),
            (
                "Subtract the number of red balls and the number of blue balls from the total number of balls.",
                &[("red_balls", "", "3"), ("blue_balls", "", "4"), ("total_balls", "", "20")],
                "13",
            ),
            ("Compute the ratio of cats to dogs.", &[("cats", "", "3"), ("dogs", "", "4")], "0.75"),
            (
                "Compute how many times the pump must run by dividing the tank capacity by the litres per run.",
                &[("tank_capacity", "", "60"), ("litres_per_run", "", "4")],
                "15",
            ),
            (
                "Calculate the earnings as hours worked multiplied by the hourly rate plus the bonus.",
                &[("hours_worked", "", "5"), ("hourly_rate", "", "10"), ("bonus", "", "7")],
                "57",
            ),
            (
                "Add the fixed fee to the product of hours and hourly rate.",
                &[("fixed_fee", "", "20"), ("hours", "", "3"), ("hourly_rate", "", "15")],
                "65",
            ),
            (
                "Compute Mina's share as the total times Mina's ratio divided by the sum of both ratios.",
                &[("total", "", "84"), ("mina_ratio", "", "5"), ("tom_ratio", "", "7")],
                "nothing",
            ),
            ("Halve the remaining cookies.", &[("remaining_cookies", "", "30")], "15"),
            ("Define the remaining fraction as 1 minus the used fraction.", &[("used_fraction", "", "0.25")], "0.75"),
            ("Take away the eaten slices from all slices.", &[("eaten_slices", "", "3"), ("all_slices", "", "8")], "5"),
            (
                "Sum the lengths of the three pieces and divide by 3 to find the mean length.",
                &[("piece1", "Length of piece 1", "3"), ("piece2", "", "5"), ("piece3", "", "10")],
                "6",
            ),
            (
                "Take away manager and bus.",
                &[("income", "Money earned", "90"), ("manager_cost", "", "30"), ("bus", "", "10")],
                "50",
            ),
            (
                "Compute the gross total as the sum of adults times adult price, children times child price, and parking.",
                &[
                    ("adults", "", "2"),
                    ("adult_price", "", "17"),
                    ("children", "", "3"),
                    ("child_price", "", "9"),
                    ("parking", "", "12"),
                ],
                "73",
            ),
            (
                "Subtract the candies given to Ann and the candies given to Bob from the total candies.",
                &[("total_candies", "", "72"), ("given_to_ann", "", "24"), ("to_bob", "Candies given to Bob", "10")],
                "38",
            ),
            (
                "Compute the cost as the sum of the fee and the price, multiplied by the tax factor.",
                &[("fee", "", "2"), ("price", "", "3"), ("tax_factor", "", "4")],
                "20",
            ),
            ("Take the taxes from the pay.", &[("taxes", "", "5"), ("pay", "", "20")], "15"),
            (
                "Take them away and add those won.",
                &[("marbles", "", "45"), ("given", "", "24"), ("won", "", "11")],
                "nothing",
            ),
            (
                "Compute the total distance as speed multiplied by time for the first leg plus the distance of the second leg.",
                &[("speed", "", "3"), ("time", "", "5"), ("second_leg_distance", "", "10")],
                "nothing",
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
