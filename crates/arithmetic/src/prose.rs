//! Plans in words: "multiply a by b", "the sum of", "subtract the discount from the total", "twice", "to a percentage".
//!
//! Only wordings whose meaning is sure are taken: every word of an operation must be understood, every input of the step
//! must be used, and where it is open which input a phrase means, every likely reading must give the same number.

use std::ops::Range;

use self::cues::{Cue, CueAt, cues};
use self::input::{BLOCKED, mentions, multiplies};
use self::reader::{PhraseReader, Tree};
use self::refused::is_refused;
use self::rounding::Rounding;
use self::units::{factor, unit};
use self::whole::{Account, TakenWords};
use self::words::{Word, parts, sentence, value_of, words};
use crate::expression::{Expression, Operation};
use crate::number::Number;
use crate::number_words::{NumberWord, number_word};

mod atoms;
mod cues;
mod input;
mod reader;
mod refused;
mod resolve;
mod rounding;
mod units;
mod whole;
mod words;

pub use self::input::Input;
pub use self::rounding::{rounded, rounds};
pub use self::units::{asks_for_other_unit, is_conversion, unit_of, wants_other_unit};
pub use self::whole::{Output, speaks_of};
pub use self::words::lower_words;

/// Longer texts hold more than one operation.
const MAX_TEXT: usize = 400;
/// With more inputs there are too many readings.
const MAX_INPUTS: usize = 12;

/// A calculation that a sentence asks for, word for word.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// The calculation.
    pub expression: Expression,
    /// Every input is named in full: nothing is left to choose.
    pub in_full: bool,
    /// It goes on with what it does not name: the result of the step before.
    pub goes_on: bool,
}

/// Tells whether a text may name an operation in words, by a look at how its words begin.
pub fn may_plan(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_blank = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b' ');
    let is_alone = |at: usize| is_blank(at.checked_sub(1)) && is_blank(Some(at + 1));
    let has_other_sign = || !text.is_ascii() && [" × ", " ÷ ", " − "].iter().any(|sign| text.contains(sign));
    if memchr::memchr3_iter(b'+', b'*', b'/', bytes).any(is_alone) || has_other_sign() {
        return true;
    }
    let begins = |word: &[u8]| {
        let like = |stem: &&str| word.get(..stem.len()).is_some_and(|head| head.eq_ignore_ascii_case(stem.as_bytes()));
        word.first().is_some_and(|first| stems(first.to_ascii_lowercase()).iter().any(like))
    };
    let mut inside = false;
    bytes.iter().enumerate().any(|(at, byte)| {
        let letter = byte.is_ascii_alphabetic();
        let starts = letter && !std::mem::replace(&mut inside, letter);
        inside = letter;
        starts && bytes.get(at..).is_some_and(begins)
    })
}

/// Tells whether the sentences behind a calculation work on with its result: "There is one more tree than gaps." What
/// they say of `known` numbers explains the calculation.
pub fn goes_on(behind: &str, known: &[Number]) -> bool {
    let sentences = behind.split(['.', ';', '\n']).flat_map(|sentence| sentence.split("After that"));
    let is_number = |word: &String| value_of(word).is_some_and(|number| !known.contains(&number));
    let is_part = |word: &String| matches!(number_word(word.as_bytes()), Some(NumberWord::Nth(..) | NumberWord::Half));
    sentences.skip(1).any(|sentence| {
        let words = lower_words(sentence);
        let is_form =
            words.iter().any(|word| matches!(word.as_str(), "round" | "rounded" | "decimal" | "decimals" | "step"));
        !is_form && words.len() > 1 && (may_plan(sentence) || words.iter().any(|word| is_number(word) || is_part(word)))
    })
}

/// Tells whether a text has a word by which an operation is done otherwise than these readings know.
pub fn says_otherwise(text: &str) -> bool {
    lower_words(text).iter().any(|word| BLOCKED.contains(&word.as_str()))
}

/// The beginnings of words and phrases that may name an operation, by their first letter.
const fn stems(letter: u8) -> &'static [&'static str] {
    match letter {
        b'a' => &["add", "average of"],
        b'c' => &["combin", "convert"],
        b'd' => &["deduct", "divid", "distrib", "difference", "doubl", "decreas"],
        b'e' => &["exceed"],
        b'f' => &["fewer", "fit into", "fits into", "fit in", "fits in"],
        b'g' => &["goes into", "go into"],
        b'h' => &["hal", "how many more"],
        b'i' => &["increas"],
        b'l' => &["lower", "less ", "left of"],
        b'm' => &["multipl", "minus", "mod", "mean of", "more than"],
        b'p' => &["product", "plus", "put "],
        b'q' => &["quotient"],
        b'r' => &["reduc", "remov", "ratio of", "remains of"],
        b's' => &["sum", "subtract", "shar", "split"],
        b't' => &["times", "twice", "tripl", "thrice", "total of", "take ", "taking "],
        _ => &[],
    }
}

/// Reads the calculation that a text asks for. The names in the expression are the inputs' ids.
pub fn read(text: &str, inputs: &[Input<'_>], output: &Output<'_>) -> Option<Sentence> {
    if inputs.is_empty() || inputs.len() > MAX_INPUTS || text.len() > MAX_TEXT {
        return None;
    }
    // Where every input is named in full, no word of a name can be one of the sentence.
    let Some(atoms) = atoms::of(text, inputs, false) else {
        return sentence_plan(text, inputs, output);
    };
    let named = sentence_plan(&atoms.text, &atoms.inputs(), output).or_else(|| {
        // "a times a": named twice, meant twice.
        let atoms = atoms::of(text, inputs, true).filter(|atoms| atoms.inputs().len() > inputs.len())?;
        sentence_plan(&atoms.text, &atoms.inputs(), output)
    });
    named.map(|sentence| Sentence { in_full: true, ..sentence })
}

fn sentence_plan(text: &str, inputs: &[Input<'_>], output: &Output<'_>) -> Option<Sentence> {
    let mut words = words(text)?;
    let reason = leave_out_reasons(&mut words)?;
    leave_out_subject(&mut words);
    let made = |expression| Sentence { expression, in_full: false, goes_on: false };
    let converts = |word: &Word<'_>| matches!(word.lower.as_ref(), "convert" | "converting");
    if let Some(at) = words.iter().position(converts)
        && let Some(conversion) = conversion(&words, at, inputs).filter(|_| converts_only(&words, inputs, output))
    {
        return Some(made(conversion));
    }
    let cues = cues(&words, 0);
    let (first, last) = (cues.first()?, cues.last()?);
    // Of two sentences with operations nobody knows how they belong together.
    if words.get(first.1.start + 1..last.1.end)?.iter().any(|word| word.stop) {
        return None;
    }
    let sentence = sentence(&words, first.1.start);
    if gives_reason(&words, sentence.clone(), first.1.start)
        || is_relation(&words, sentence.clone(), first.1.start)
        || is_refused(words.get(..sentence.end)?, &cues, inputs)
    {
        return None;
    }
    let whole = Whole::of(&words, &cues, sentence.clone(), inputs)?;
    let averaged = words.get(sentence.clone())?.iter().any(|word| matches!(word.lower.as_ref(), "average" | "mean"));
    if averaged && !cues.iter().any(divides) && !inputs.iter().any(|input| mentions(input, "average")) {
        return None;
    }
    let fits = cues.iter().any(fits_into);
    let expression = [false, true].into_iter().find_map(|nouns_first| {
        let (leaves, numbers) = (Vec::new(), Vec::new());
        let mut reader = PhraseReader {
            words: &words,
            inputs,
            output,
            leaves,
            numbers,
            rest: false,
            depth: 0,
            read: 0,
            nouns_first,
            fits,
            taken: TakenWords::default(),
        };
        let tree = reader.tree(&cues, sentence.start..whole.end)?;
        let tree = match (whole.remainder, tree) {
            (false, tree) => tree,
            (true, Tree::Pair(Operation::Divide, upper, lower)) => Tree::Pair(Operation::Remainder, upper, lower),
            (true, _) => return None,
        };
        reader.taken.words.extend(whole.taken.iter().map(|at| *at..*at + 1));
        let expression = reader.resolve(&tree)?;
        let rounding = whole.rounds.filter(|_| whole.end < sentence.end).map(|_| whole.end..sentence.end);
        let is_whole = Account::of(&reader).beside(&sentence, rounding, &tree)
            && whole::explains_asides(text, inputs, output, &expression.numbers())
            && explains_reason(&reason, &expression, inputs, output);
        // "How many fit": a part of one does not.
        let is_cut = fits && whole.rounds.is_none() && !reader.evaluated(&expression)?.is_whole();
        if !is_whole || is_cut || counts_on(words.get(sentence.end..)?, &expression, inputs) {
            return None;
        }
        let expression = match whole.rounds {
            Some(rounding) => rounding.applied(&expression)?,
            None => expression,
        };
        let is_named = !resolve::uses_only(&tree) || inputs.iter().all(|input| is_mentioned(input, &words));
        Some(Sentence { goes_on: resolve::goes_on(&tree) || !is_named, ..made(expression) })
    })?;
    // Of the one input that is not named it must be known that it is meant.
    let is_sound = !expression.goes_on || inputs.iter().any(|input| input.running);
    is_sound.then_some(expression)
}

/// Tells whether some words name an input, if only in part.
fn is_mentioned(input: &Input<'_>, words: &[Word<'_>]) -> bool {
    words.iter().any(|word| parts(word.text).any(|part| mentions(input, &part)))
}

/// Tells whether a sentence that converts says nothing else.
fn converts_only(words: &[Word<'_>], inputs: &[Input<'_>], output: &Output<'_>) -> bool {
    let known = |word: &Word<'_>| {
        let lower = word.lower.as_ref();
        let is_unit =
            unit(lower).is_some() || lower.starts_with("percent") || matches!(lower, "convert" | "converting");
        is_unit || whole::says_nothing(lower) || whole::is_word_of(lower, inputs, output)
    };
    words.iter().all(known)
}

/// Tells whether a reason that was left out speaks only of what the calculation has: "it sold 3 times as many, so divide …".
fn explains_reason(reason: &[Word<'_>], expression: &Expression, inputs: &[Input<'_>], output: &Output<'_>) -> bool {
    let numbers = expression.numbers();
    let known = |(at, word): (usize, &Word<'_>)| {
        let lower = word.lower.as_ref();
        let is_value =
            |number: Number| numbers.contains(&number) || inputs.iter().any(|input| input.value == Some(number));
        let is_cue = cues::cue(reason, at).is_some();
        match word.number {
            Some(number) => is_value(number),
            None => {
                is_cue
                    || matches!(lower, "because" | "since")
                    || whole::says_nothing(lower)
                    || whole::is_word_of(lower, inputs, output)
            }
        }
    };
    reason.iter().enumerate().all(known)
}

/// Tells whether a text compares two things: "more than", "fewer than".
pub fn compares(text: &str) -> bool {
    lower_words(text).iter().any(|word| word == "than")
}

/// Tells whether the sentences behind an operation count on: "There is one more tree than gaps."
fn counts_on(behind: &[Word<'_>], expression: &Expression, inputs: &[Input<'_>]) -> bool {
    const FORM: &[&str] =
        stepscope_base::list![round rounded decimal decimals place places step value number answer of];
    let known = expression.numbers();
    let is_known = |number: &Number| known.contains(number) || inputs.iter().any(|input| input.value == Some(*number));
    let is_form = |word: &Word<'_>| FORM.contains(&word.lower.as_ref());
    let counts = |(at, word): (usize, &Word<'_>)| {
        word.number.is_some_and(|number| !is_known(&number)) && !behind.get(at + 1).is_some_and(is_form)
    };
    behind.iter().enumerate().any(counts)
}

/// Finds the first operation word of some words.
fn first_cue(words: &[Word<'_>]) -> Option<usize> {
    cues(words, 0).first().map(|cue| cue.1.start)
}

fn has_cue(words: Option<&[Word<'_>]>) -> bool {
    words.is_some_and(|words| first_cue(words).is_some())
}

/// Leaves out a reason that names an operation of its own, in front or at the end: "It sold 3 times as many, so divide …",
/// "Divide by 3, because it sold …". `None`: there is nothing but a reason.
fn leave_out_reasons<'t>(words: &mut Vec<Word<'t>>) -> Option<Vec<Word<'t>>> {
    let mut left_out = Vec::new();
    let is = |word: &Word<'_>, list: &[&str]| list.contains(&word.lower.as_ref());
    let last = |words: &[Word<'_>], list: &[&str]| words.iter().rposition(|word| !word.stop && is(word, list));
    if let Some(at) = last(words, &["so", "therefore", "hence", "thus"])
        && let Some(reason) = words.get(..at).and_then(first_cue)
    {
        if has_cue(words.get(at + 1..)) {
            left_out.extend(words.drain(..=at));
        } else if words.iter().take(reason).any(|word| is(word, &["is", "are", "was", "were", "has", "have", "had"])) {
            return None;
        }
    }
    if let Some(at) = last(words, &["because", "since"]).filter(|at| has_cue(words.get(..*at)))
        && has_cue(words.get(at + 1..))
    {
        left_out.extend(words.drain(at..));
    }
    Some(left_out)
}

/// Leaves out a subject that is named by an operation: "The sum of 5 such numbers is 5 times …".
fn leave_out_subject(words: &mut Vec<Word<'_>>) {
    let is = words.iter().position(|word| !word.stop && matches!(word.lower.as_ref(), "is" | "equals"));
    let Some(is) = is.filter(|_| words.first().is_some_and(|word| word.lower == "the")) else { return };
    let is_passive = words.iter().skip(is + 1).take(3).any(|word| word.lower.ends_with("ed"));
    if !is_passive && first_cue(words) == Some(1) && has_cue(words.get(is + 1..)) {
        words.drain(..=is);
    }
}

/// Tells whether a sentence begins with a reason in which an operation is named: "Since a costs 5 less than b, add …".
fn gives_reason(words: &[Word<'_>], sentence: Range<usize>, at: usize) -> bool {
    let begins =
        words.get(sentence.start).is_some_and(|word| matches!(word.lower.as_ref(), "since" | "because" | "as"));
    begins && !words[sentence.start..=at].iter().skip(1).any(|word| word.comma)
}

/// Tells whether a sentence says how things are related, while something else is asked: "Kim has twice as many as Leo;
/// find Leo's", "find x such that x times 3 is all". `at` is the first word of an operation.
fn is_relation(words: &[Word<'_>], sentence: Range<usize>, at: usize) -> bool {
    let is = |word: &Word<'_>, list: &[&str]| list.contains(&word.lower.as_ref());
    let asks = |word: &Word<'_>| is(word, &["find", "solve", "determine", "what"]);
    let (before, behind) = (&words[sentence.start..at], &words[at..sentence.end]);
    let conditions = before.first().is_some_and(asks) && before.iter().any(|word| is(word, &["with", "such", "where"]));
    if conditions && behind.iter().any(|word| word.colon || is(word, &["equals", "equal", "is", "gives"])) {
        return true;
    }
    // ", find …" in the same sentence, or in another one.
    let own = behind.iter().position(|word| word.comma && asks(word)).map(|at| behind.get(at..));
    let others = words.get(..sentence.start).into_iter().chain(words.get(sentence.end..));
    let asked = others.chain(own.flatten()).filter_map(|words| words.get(words.iter().position(asks)? + 1..));
    let asked: Vec<String> = asked.flatten().flat_map(|word| parts(word.text)).collect();
    let verb = |word: &Word<'_>| is(word, &["has", "have", "had", "is", "are", "was", "were", "equals"]);
    let subject = match before.iter().position(verb) {
        Some(verb) => before.get(..verb),
        None => {
            behind.iter().position(|word| word.colon || is(word, &["equals", "is"])).and_then(|at| behind.get(at..))
        }
    };
    let Some(subject) = subject.filter(|_| !asked.is_empty()) else { return false };
    !subject.iter().flat_map(|word| parts(word.text)).any(|part| asked.contains(&part))
}

/// Tells whether an operation word divides.
fn divides(cue: &CueAt) -> bool {
    matches!(cue.0, Cue::Divide | Cue::Average | Cue::Share | Cue::Infix(Operation::Divide, _))
}

/// Tells whether an operation word asks how often one thing fits into another.
fn fits_into(cue: &CueAt) -> bool {
    matches!(cue.0, Cue::Infix(Operation::Divide, true))
}

/// Instructions of a sentence on its result as a whole.
struct Whole {
    /// Index of the word at which its operands end.
    end: usize,
    /// It is rounded.
    rounds: Option<Rounding>,
    /// True if the remainder of a division is meant.
    remainder: bool,
    /// Words that say so.
    taken: Vec<usize>,
}

impl Whole {
    /// `None` where a word asks for what these readings do not know.
    fn of(words: &[Word<'_>], cues: &[CueAt], sentence: Range<usize>, inputs: &[Input<'_>]) -> Option<Self> {
        let known = |word: &str| inputs.iter().any(|input| mentions(input, word));
        let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_ref());
        let is_cue = |at: usize| cues.iter().any(|cue| cue.1.contains(&at));
        let mut whole = Self { end: sentence.end, rounds: None, remainder: false, taken: Vec::new() };
        for at in sentence.clone() {
            let here = word(at);
            match here {
                "remainder" | "leftover" if !known(here) => {
                    whole.remainder = true;
                    whole.taken.push(at);
                }
                // "What is left when a is divided by b"
                "left"
                    if word(at + 1) == "over" && cues.iter().any(divides)
                        || matches!(word(at + 1), "when" | "after") && cues.iter().all(divides) =>
                {
                    whole.remainder = true;
                    whole.taken.extend(
                        [at, at + 1, at + 2]
                            .into_iter()
                            .filter(|at| matches!(word(*at), "left" | "over" | "when" | "after")),
                    );
                }
                "round" | "rounded" | "rounding" if !known(here) && at > cues.first()?.1.start => {
                    whole.rounds = Some(Rounding::of(words.get(at + 1..sentence.end)?)?);
                    let joint = matches!(word(at - 1), "and" | "then");
                    whole.end = at - usize::from(joint);
                    break;
                }
                // "First, add …"
                "first" if at == sentence.start || cues.iter().any(|cue| cue.1.start == at + 1) => {}
                "ratio" if is_cue(at) || matches!(word(at + 1), "of" | "between") => {}
                // "The floor area" asks for nothing.
                "floor" if matches!(word(at + 1), "of" | "the" | "division" | "it") && !known(here) => return None,
                // "How many full bags fit into the sack": what is left over makes none.
                "whole" | "full" | "complete" | "entire" if !known(here) && cues.iter().any(fits_into) => {
                    whole.rounds = Some(Rounding::DOWN);
                    whole.taken.push(at);
                }
                _ if BLOCKED.contains(&here) && !known(here) => return None,
                _ if words.get(at).is_some_and(multiplies) && !known(here) && !is_cue(at) => return None,
                _ => {}
            }
        }
        Some(whole)
    }
}

/// The calculation of a last step that only states its one input.
pub fn statement(text: &str, inputs: &[Input<'_>]) -> Option<Expression> {
    let [input] = inputs else { return None };
    let words = words(text)?;
    let verb = |word: &Word<'_>| {
        word.number.is_some() || BLOCKED.contains(&word.lower.as_ref()) || word.lower == "convert" || multiplies(word)
    };
    // "Take the value from the last step" takes nothing away.
    let calculates = |place: &CueAt| words.get(place.1.start).is_some_and(|word| word.lower != "take");
    let says_more = |words: &[Word<'_>]| {
        let verbs = words.iter().any(|word| verb(word) && !mentions(input, &word.lower));
        verbs || cues(words, 0).iter().any(calculates)
    };
    // "rounded to two decimals" is how people write numbers anyhow.
    let named = Expression::name(input.id);
    match rounding::split(&words).and_then(|(before, behind)| Some((before, Rounding::of(behind)?))) {
        Some((before, _)) if says_more(before) => None,
        Some((_, rounding)) => rounding.applied(&named),
        None => (!says_more(&words)).then_some(named),
    }
}

/// Tells whether a text tells to state a variable: "report the total cost", "the total is the answer". That its name is
/// a word of the text is not enough.
pub fn is_named_to_state(text: &str, name: &str) -> bool {
    const VERBS: &[&str] = stepscope_base::list![
        state report return give output provide present write answer print display deliver use take as to is be
    ];
    const BETWEEN: &[&str] =
        stepscope_base::list![the a an value of number final answer variable result calculated computed simply just];
    atoms::places(text, name).into_iter().any(|at| {
        let before = lower_words(&text[..at]);
        let verb = before.iter().map(String::as_str).rfind(|word| !BETWEEN.contains(word) || VERBS.contains(word));
        let behind = text[at + name.len()..].trim_start();
        let is_answer = ["is ", "as the "].iter().any(|word| behind.starts_with(word));
        is_answer || verb.map_or_else(|| before.iter().any(|word| word == "answer"), |word| VERBS.contains(&word))
    })
}

/// Tells whether a text names another variable than the one that is to be stated: "the weekly rest for all weeks".
pub fn speaks_of_other(text: &str, stated: &str, names: &[&str]) -> bool {
    let said: Vec<String> = parts(text).collect();
    let own: Vec<String> = parts(stated).collect();
    let is_said = |name: &&str| {
        let mut words = parts(name).filter(|part| !own.contains(part)).peekable();
        words.peek().is_some() && words.all(|part| said.contains(&part))
    };
    names.iter().filter(|name| **name != stated).any(is_said)
}

/// Reads `convert minutes to hours`, `to a percentage`; `at` is the position of the word itself.
fn conversion(words: &[Word<'_>], at: usize, inputs: &[Input<'_>]) -> Option<Expression> {
    let [input] = inputs else { return None };
    let rest = words.get(at + 1..)?;
    let to = rest.iter().position(|word| matches!(word.lower.as_ref(), "to" | "into"))?;
    let (source, target) = rest.split_at_checked(to)?;
    let ends = |word: &Word<'_>| word.comma || word.stop || word.lower == "by";
    let end = target.iter().skip(1).position(ends).map_or(target.len(), |end| end + 1);
    let (target, after) = target.split_at_checked(end)?;
    // "… by multiplying": another operation stands behind it.
    if !cues(after, 0).is_empty() {
        return None;
    }
    let by = if target.iter().any(|word| matches!(word.lower.as_ref(), "percent" | "percentage")) {
        // Above one it is a percentage already, or nobody knows.
        input.value.filter(|value| *value <= Number::ONE)?;
        Number::whole(100)
    } else {
        let into = target.iter().find_map(|word| unit(&word.lower))?;
        let of = |word: &str| factor(unit(&word.to_lowercase())?, into);
        let parts = |text: &str| text.split(|c: char| !c.is_alphanumeric()).find_map(of);
        let named = source.iter().find_map(|word| of(&word.lower));
        let by = named.or_else(|| parts(input.name)).or_else(|| parts(input.description));
        by.filter(|by| *by != Number::ONE)?
    };
    Expression::pair(Operation::Multiply, &Expression::name(input.id), &Expression::number(by))
}

/// Tells whether a text holds a name, `total_cost` also as `total cost`.
pub fn names_in(text: &str, name: &str) -> bool {
    !atoms::places(text, name).is_empty()
}

/// Tells whether a character stands for an operation between two phrases.
pub const fn is_sign(c: char) -> bool {
    words::sign(c).is_some()
}

#[cfg(test)]
mod tests;
