//! The one reader of answers: what a text states as its answer, and whether two texts state the same.
//!
//! Baselines, chains of thought, completions, final texts and expected answers are all read here. An answer is what a text
//! announces (`\boxed{}`, `####`, "the answer is", `<answer>`), else its last statement: not its last number. What cannot
//! be told is said to be so; nothing is wrong because it was not understood.

use std::ops::Range;

use crate::expression::clock;
use crate::number::{Number, Written};
use crate::number_words::number_word;
use crate::quantity::names_by_number;
use crate::typeset::Plain;
use amounts::{Amount, LOSSES, amounts};
use same::in_other_unit;
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::cut;
use tokens::{Part, Token, folded, tokens};

mod amounts;
mod asked;
mod same;
mod tokens;

pub use same::same_answer;

/// Only the end of a longer text is read.
const MAX_TEXT: usize = 4_000;
/// No word of a number is longer.
const MAX_NUMBER_WORD: usize = 16;
/// A longer statement is no answer but prose.
const MAX_STATEMENT: usize = 400;
/// A longer text without a number is no answer that can be compared.
const MAX_WORDS: usize = 60;
/// More parts are no number in brackets.
const MAX_BRACKETED: usize = 5;
/// Letters that options have.
const LETTERS: std::ops::RangeInclusive<char> = 'A'..='J';

/// Words in a sentence about how sure somebody is: its numbers are no answer.
const ASSURANCES: &[&str] = stepscope_base::list![sure certain confident confidence hope correct verify checked];
/// Words in front of a number that is not what the statement is about.
const ASIDE: &[&str] = stepscope_base::list![
    of per each from than at for in within after before by with over on to every if since because using given when
    between among every plus minus times
];
/// Words in front of the number that a statement is about.
const POINTED: &[&str] = stepscope_base::list![
    is are was equals equal makes total leaves leaving left result gives yields becomes altogether so therefore thus hence
];
/// Nouns whose number stands behind "of".
const AMOUNTS: &[&str] =
    stepscope_base::list![total sum average profit result answer value difference remainder balance];

/// Words that announce an answer, in lower case.
const MARKS: &[&str] = &[
    "####",
    "<answer>",
    "\\boxed{",
    "answer is:",
    "answer is",
    "answer:",
    "answer =",
    "\na:",
    "答案是",
    "答案：",
    "答案:",
    "答案为",
    "réponse :",
    "antwort:",
    "respuesta:",
];
/// Keys of an object that hold its answer.
const KEYS: [&str; 5] = ["final_answer_numerical", "final_answer", "answer", "result", "value"];

/// Result of comparing two answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SameAnswer {
    /// They are.
    Same,
    /// They are not.
    Different,
    /// One has several readings, or they are of kinds that cannot be compared.
    CannotTell,
}

/// Answer that a text states.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stated {
    /// The words that it was read from, in bytes of the text.
    pub range: Range<usize>,
    /// True if the text announces it, or is nothing else.
    pub is_announced: bool,
    /// Amounts in these words.
    amounts: Vec<Amount>,
    /// Numbers in these words that only name something: `step 3`.
    names: Vec<Written>,
    /// Positions of those that the statement is about, where its words say that.
    main: Option<usize>,
    /// True if the words tell it for certain.
    is_certain: bool,
    /// True if they state another amount behind it.
    is_restated: bool,
    /// True if it is two numbers or more, and nothing else: `3 and 4`, `(3, -2)`.
    is_list: bool,
    /// Letter of an option, `B`, and the text behind it.
    choice: Option<(char, String)>,
    /// Yes or no.
    truth: Option<bool>,
    /// Minutes after midnight, and whether morning or afternoon are said.
    clock: Option<(i64, bool)>,
    /// The words, folded.
    text: String,
}

impl Stated {
    /// Returns the number of the answer; `None` where it is none, or may be one of several.
    pub fn number(&self) -> Option<Written> {
        let is_other = self.choice.is_some() || self.clock.is_some() || self.is_restated;
        self.amount().filter(|_| !is_other).map(|amount| amount.number)
    }

    /// Returns the number in that of its readings which is the expected one: who asks for millions expects 1.5 of them.
    pub fn number_like(&self, expected: Option<Number>) -> Option<Written> {
        let number = self.number()?;
        let also = || self.amount().into_iter().flat_map(|amount| &amount.also);
        let is_expected = |value: &&Number| expected.is_some_and(|expected| value.is_near(expected));
        let is_own = expected.is_some_and(|expected| number.value.is_near(expected));
        let other = also().find(is_expected).filter(|_| !is_own);
        Some(other.map_or(number, |value| Written { value: *value, decimals: 18 }))
    }

    /// Tells whether its words state one thing in two ways: "24 minutes, that is 0.4 hours".
    pub const fn is_restated(&self) -> bool {
        self.is_restated
    }

    /// Tells whether its number is another one where points group digits: `1.250`.
    pub fn is_ambiguous(&self) -> bool {
        self.amount().is_some_and(|amount| amount.perhaps.iter().any(|other| *other > amount.number.value))
    }

    /// Returns its words, folded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Lists the numbers of its words, in order.
    pub fn numbers(&self) -> impl Iterator<Item = Written> + '_ {
        self.amounts.iter().map(|amount| amount.number).chain(self.names.iter().copied())
    }

    /// Tells whether it is this number, in any of its readings that are meant alike.
    pub fn says(&self, number: Number) -> bool {
        same_answer(self, &of_number(Written { value: number, decimals: 0 })) == SameAnswer::Same
    }

    /// Tells whether a number is one that its words may mean.
    pub fn may_be(&self, number: Number) -> bool {
        self.amounts.iter().any(|amount| {
            let means = |value: &Number| value.is_near(number);
            let others = amount.also.iter().chain(&amount.perhaps);
            amount.number.stands_for(number) || others.into_iter().any(means) || in_other_unit(amount, number)
        })
    }

    fn amount(&self) -> Option<&Amount> {
        self.amounts.get(self.main?)
    }

    /// Tells whether nothing was read that could be compared.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// Reads the answer that a text states.
pub fn read(text: &str) -> Option<Stated> {
    let start = text.len().saturating_sub(MAX_TEXT);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let tail = text.get(start..)?;
    if let Some((range, inner)) = in_object(tail) {
        let stated = read_statement(&inner, true, start)?;
        return Some(Stated { range: start + range.start..start + range.end, ..stated });
    }
    let (words, is_announced) = match announced(tail) {
        Some(words) => (words, true),
        None => {
            let last = last_statement(tail);
            let is_all = tail.get(last.clone()).map(str::trim) == Some(tail.trim());
            (last, is_all && is_short(tail))
        }
    };
    let mut stated = read_statement(tail.get(words.clone())?, is_announced, start + words.start)?;
    if stated.range.is_empty() {
        stated.range = start + words.start..start + words.end;
    }
    // A sign of several bytes may have become one.
    let end = stated.range.end.max(stated.range.start);
    stated.range.start = (0..=stated.range.start).rfind(|at| text.is_char_boundary(*at))?;
    stated.range.end = (end..=text.len()).find(|at| text.is_char_boundary(*at))?;
    Some(stated)
}

/// Reads the answer that a JSON value is: a number, a truth value, or a text.
pub fn read_value(value: Value<'_>) -> Option<Stated> {
    if let Some(truth) = value.bool() {
        let text = if truth { "true" } else { "false" };
        return Some(Stated { truth: Some(truth), text: text.to_owned(), is_announced: true, ..Stated::default() });
    }
    if value.is_number() {
        return Written::of(value).map(of_number);
    }
    read(value.string()?.utf8()?)
}

/// Makes an answer of a number.
pub fn of_number(number: Written) -> Stated {
    let text = number.value.to_string();
    let amounts = vec![Amount::bare(number, 0..0)];
    Stated { amounts, main: Some(0), is_certain: true, is_announced: true, text, ..Stated::default() }
}

/// Finds the object at the end of a text that holds its answer: `{"answer": 29}`.
fn in_object(text: &str) -> Option<(Range<usize>, String)> {
    let range = text.find('{')?..text.rfind('}')? + 1;
    let inner = text.get(range.clone())?;
    let is_object = inner.trim_start_matches(['{', ' ', '\n', '\r', '\t']).starts_with('"');
    if !is_object || !KEYS.iter().any(|key| inner.contains(key)) {
        return None;
    }
    let mut tape = Tape::default();
    let root = tape.parse(inner.as_bytes())?;
    let found = KEYS.iter().find_map(|key| root.get(key).filter(|value| !value.is_null() && !value.is_container()))?;
    let text = found.string().and_then(|text| text.utf8().map(str::to_owned));
    Some((range, text.or_else(|| String::from_utf8(found.raw().to_vec()).ok())?))
}

/// Finds the words of the answer that a text announces last.
fn announced(text: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let found = MARKS.iter().filter_map(|mark| Some((lower.rfind(mark)?, *mark)));
    let begins = lower.starts_with("a:").then_some((0, "a:"));
    let (at, mark) = found.chain(begins).max_by_key(|(at, mark)| (at + mark.len(), mark.len()))?;
    let start = at + mark.len();
    let rest = text.get(start..)?;
    match mark {
        "\\boxed{" => Some(start..start + group_end(rest)?),
        "<answer>" => {
            let end = lower.get(start..)?.find("</answer>").unwrap_or(rest.len());
            Some(start..start + end)
        }
        _ => {
            let skipped = rest.len() - rest.trim_start_matches([' ', '\n', ':', '*', '\t']).len();
            let line = rest.get(skipped..)?;
            let end = sentence_end(line).min(line.find('\n').unwrap_or(line.len()));
            (end > 0).then_some(start + skipped..start + skipped + end)
        }
    }
}

/// Finds the brace that closes a group.
fn group_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take(MAX_STATEMENT) {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Finds the end of the sentence that begins a text.
fn sentence_end(text: &str) -> usize {
    let is_end = |at: &usize| {
        let behind = &text[at + 1..];
        let next = behind.trim_start();
        let is_abbreviation = text.get(..*at).is_some_and(|before| {
            let word = before.rsplit(|c: char| !c.is_alphabetic()).next().expect("a split has a first part");
            matches!(word.to_ascii_lowercase().as_str(), "rs" | "mr" | "mrs" | "dr" | "no" | "approx" | "p" | "a" | "m")
        });
        next.len() < behind.len() && next.starts_with(|c: char| !c.is_lowercase()) && !is_abbreviation
    };
    let stops = text.match_indices(['.', '!', '?', ';']).map(|(at, _)| at);
    stops.into_iter().find(is_end).map_or(text.len(), |at| at + 1)
}

/// Finds the last sentence of a text that is about its result: the last line, without what only says how sure it is.
fn last_statement(text: &str) -> Range<usize> {
    let mut found = 0..text.len();
    let mut has_number = false;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let end = sentence_end(rest).clamp(1, line.max(1));
        let end = (end..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let sentence = &rest[..end];
        let is_number = holds_number(sentence);
        let is_blank = !sentence.chars().any(char::is_alphanumeric);
        if !is_blank && (is_number || !has_number) && !is_assurance(sentence) {
            (found, has_number) = (at..at + end, is_number);
        }
        at += end;
    }
    let words = &text[found.clone()];
    let from = words.len() - words.trim_start().len();
    found.start + from..found.start + words.trim_end().len()
}

fn holds_number(text: &str) -> bool {
    may_hold_number(text) && (text.chars().any(|c| folded(c).is_ascii_digit()) || !amounts(&tokens(text)).is_empty())
}

/// Tells quickly whether a text may hold a number: a digit, a sign that may stand for one, or a word of a number.
pub(super) fn may_hold_number(text: &str) -> bool {
    let is_word = |word: &[u8]| {
        let mut lower = [0; MAX_NUMBER_WORD];
        let Some(lower) = lower.get_mut(..word.len()) else { return false };
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        number_word(lower).is_some()
    };
    text.bytes().any(|byte| byte.is_ascii_digit() || !byte.is_ascii())
        || text.as_bytes().split(|byte| !byte.is_ascii_alphabetic()).any(is_word)
}

/// Tells whether a sentence only says how sure somebody is.
fn is_assurance(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphabetic()).map(str::to_ascii_lowercase);
    words.any(|word| ASSURANCES.contains(&word.as_str())) && !sentence.contains('=')
}

/// Tells whether a text is short enough to be nothing but an answer.
fn is_short(text: &str) -> bool {
    text.trim().len() <= MAX_WORDS
}

/// Reads the words of a statement; `offset` is where they begin in their text.
fn read_statement(words: &str, is_announced: bool, offset: usize) -> Option<Stated> {
    let words = cut(words, MAX_STATEMENT);
    let plain = Plain::of(words);
    let list = tokens(&plain.text);
    let text = folded_text(&plain.text);
    let mut stated = Stated { is_announced, text, ..Stated::default() };
    stated.range = offset..offset + words.len();
    if let Some(choice) = choice(&list, &plain.text) {
        let behind = &list[choice.1..];
        let content = behind.first().and_then(|first| plain.text.get(first.start..)).map(folded_text);
        stated.choice = Some((choice.0, content.unwrap_or_default()));
        // `B) 12` is the option and its number.
        stated.take_amounts(behind);
        return Some(stated);
    }
    stated.choice = last_choice(&list, &plain.text).map(|letter| (letter, String::new()));
    stated.truth = truth(&list);
    stated.clock = clock(plain.text.trim().trim_end_matches('.')).filter(|_| is_clock(&list));
    // What a typesetter's command means that is not known here nobody can tell.
    let is_unread = list.windows(2).any(|pair| {
        let [sign, next] = pair else { return false };
        sign.is_sign('√') && !next.is_sign('(') && !matches!(next.part, Part::Fraction(_))
    });
    let is_unread = is_unread || list.last().is_some_and(|last| last.is_sign('√'));
    if !is_unread {
        let skipped = bullet(&list);
        stated.take_amounts(&list[skipped..]);
        let main = stated.amount().filter(|_| !stated.is_restated);
        if let Some(place) = main.and_then(|amount| place_of(amount, &list, skipped)) {
            let place = plain.range(&place);
            stated.range = offset + place.start..offset + place.end;
        }
    }
    (!stated.text.is_empty()).then_some(stated)
}

/// Finds the bytes of an amount in the plain text.
fn place_of(amount: &Amount, list: &[Token], skipped: usize) -> Option<Range<usize>> {
    let first = list.get(amount.tokens.start + skipped)?;
    let last = list.get((amount.tokens.end + skipped).checked_sub(1)?)?;
    Some(first.start..last.end)
}

/// Counts the parts of the number of an item of a list: `1. The total is 5`.
fn bullet(list: &[Token]) -> usize {
    match list {
        [first, stop, next, ..] if first.is_number() => {
            let is_mark = (stop.is_sign('.') || stop.is_sign(')')) && !stop.spaced && next.spaced;
            if is_mark && list.len() > 3 && next.word().is_some() { 2 } else { 0 }
        }
        _ => 0,
    }
}

impl Stated {
    /// Reads the amounts, and which of them the statement is about.
    fn take_amounts(&mut self, list: &[Token]) {
        let mut found = amounts(list);
        let before = |amount: &Amount, n: usize| amount.tokens.start.checked_sub(n).and_then(|at| list.get(at));
        let word = |amount: &Amount, n: usize| before(amount, n).and_then(Token::word);
        if found.len() > 1 {
            // `step 3`, and the "one" of "the blue one".
            let is_name = |amount: &Amount| {
                let is_one = amount.is_bare() && list.get(amount.tokens.start).and_then(Token::word) == Some("one");
                is_one || word(amount, 1).is_some_and(|word| names_by_number(word.as_bytes()))
            };
            let (named, kept): (Vec<Amount>, Vec<Amount>) = found.iter().cloned().partition(|amount| is_name(amount));
            if !kept.is_empty() {
                self.names = named.iter().map(|amount| amount.number).collect();
                found = kept;
            }
        }
        // `(1,250)` is a loss in accounts.
        if let ([open, .., close], [amount]) = (list, found.as_mut_slice())
            && open.is_sign('(')
            && close.is_sign(')')
            && list.len() <= MAX_BRACKETED
        {
            amount.also.push(amount.number.value.negated());
        }
        let is_loss = list.iter().any(|token| token.word().is_some_and(|word| LOSSES.contains(&word)));
        if let (true, [amount]) = (is_loss, found.as_mut_slice()) {
            amount.also.push(amount.number.value.negated());
        }
        self.main = main_of(&found, list);
        self.is_restated = self.main.is_some_and(|main| is_restated(&found, main, list));
        let is_told = found.len() == 1 || self.main.is_some_and(|main| is_pointed(&found, main, list));
        self.is_certain = is_told && !self.is_restated;
        self.amounts = found;
        self.is_list = self.amounts.len() > 1 && is_all_list(&self.amounts, list);
        if !self.is_certain && self.main.is_some_and(|main| is_in_list(&self.amounts, main, list)) {
            self.main = None;
        }
    }
}

/// The operator between two amounts, where nothing else is between them.
fn joined(a: &Amount, b: &Amount, list: &[Token]) -> Option<char> {
    let between: Vec<&Token> = list.get(a.tokens.end..b.tokens.start)?.iter().collect();
    let is_word = |token: &&Token| token.word().is_some_and(|word| !matches!(word, "x" | "plus" | "minus" | "times"));
    let sign = between.iter().find_map(|token| match &token.part {
        Part::Sign(sign @ ('+' | '-' | '*' | '/' | ':')) => Some(*sign),
        Part::Word(word) => match word.as_str() {
            "x" | "times" => Some('*'),
            "plus" => Some('+'),
            "minus" => Some('-'),
            _ => None,
        },
        _ => None,
    })?;
    // `4 apples + 3 pears` has words between, a sentence has more.
    (between.iter().filter(|token| is_word(token)).count() <= 2).then_some(sign)
}

/// Tells whether another amount is stated behind the one that a statement seems to be about: "= 24, that is 2 hours 24 minutes".
fn is_restated(found: &[Amount], main: usize, list: &[Token]) -> bool {
    let Some(own) = found.get(main) else { return false };
    let is_stated = |n: usize, other: &Amount| {
        let between = list.get(own.tokens.end..other.tokens.start).unwrap_or_default();
        let differs = other.measure.is_some() && !other.number.value.is_near(own.number.value);
        differs
            && is_pointed(found, n, list)
            && !is_aside(other, list)
            && between.iter().any(|token| token.is_sign(','))
    };
    found.iter().enumerate().skip(main + 1).any(|(n, other)| is_stated(n, other))
}

/// Finds the amount that a statement is about.
fn main_of(found: &[Amount], list: &[Token]) -> Option<usize> {
    if found.len() < 2 {
        return (!found.is_empty()).then_some(0);
    }
    let in_calculation = |n: usize| {
        let pair = |n: usize| found.get(n).zip(found.get(n + 1)).and_then(|(a, b)| joined(a, b, list));
        pair(n).is_some() || n.checked_sub(1).and_then(pair).is_some()
    };
    if let Some(equals) = list.iter().rposition(|token| token.is_sign('=') || token.is_sign('≈')) {
        // The result is on the right; `5 = 20 - 15` has it on the left.
        let is_right = |n: &usize| found.get(*n).is_some_and(|amount| amount.tokens.start > equals);
        let right: Vec<usize> = (0..found.len()).filter(is_right).collect();
        return match right.as_slice() {
            [one] => Some(*one),
            [first, ..] if !in_calculation(*first) => Some(*first),
            _ => (0..found.len()).rfind(|n| !is_right(n)).filter(|n| !in_calculation(*n)),
        };
    }
    let pointed = (0..found.len()).rfind(|n| is_pointed(found, *n, list));
    if pointed.is_some() {
        return pointed;
    }
    let is_aside = |n: &usize| in_calculation(*n) || found.get(*n).is_some_and(|amount| is_aside(amount, list));
    let mut main = (0..found.len()).filter(|n| !is_aside(n));
    main.next().filter(|_| main.next().is_none())
}

/// The word before an amount, past the article.
fn word_before<'t>(amount: &Amount, list: &'t [Token], skip: usize) -> Option<&'t str> {
    let before = list.get(..amount.tokens.start)?.iter().rev();
    let mut words =
        before.map_while(Token::word).filter(|word| !matches!(*word, "a" | "an" | "the" | "about" | "only"));
    words.nth(skip)
}

/// Tells whether the words before an amount say that it is the result: `is 5`, `a total of 5`, `= 5`.
fn is_pointed(found: &[Amount], n: usize, list: &[Token]) -> bool {
    let Some(amount) = found.get(n) else { return false };
    let is_equal = list.iter().rposition(|token| token.is_sign('=')).is_some_and(|equals| equals < amount.tokens.start);
    let word = word_before(amount, list, 0);
    let is_of = word == Some("of") && word_before(amount, list, 1).is_some_and(|word| AMOUNTS.contains(&word));
    (is_equal && amount.tokens.start > 0) || is_of || word.is_some_and(|word| POINTED.contains(&word))
}

fn is_aside(amount: &Amount, list: &[Token]) -> bool {
    let is_bracketed =
        amount.tokens.start.checked_sub(1).and_then(|at| list.get(at)).is_some_and(|token| token.is_sign('('));
    is_bracketed || word_before(amount, list, 0).is_some_and(|word| ASIDE.contains(&word))
}

/// Tells whether an amount is part of a range or a list: `5-7`, `3 or 4`, `3, 4`.
fn is_in_list(found: &[Amount], main: usize, list: &[Token]) -> bool {
    let is_joint = |token: &Token| {
        [',', '-', ':'].iter().any(|sign| token.is_sign(*sign)) || matches!(token.word(), Some("or" | "to"))
    };
    let is_listed =
        |a: &Amount, b: &Amount| matches!(list.get(a.tokens.end..b.tokens.start), Some([between]) if is_joint(between));
    let own = found.get(main);
    let pairs = [(main.checked_sub(1).and_then(|before| found.get(before)), own), (own, found.get(main + 1))];
    pairs.into_iter().any(|(a, b)| a.zip(b).is_some_and(|(a, b)| is_listed(a, b)))
}

/// Tells whether some parts are nothing but a list of amounts: `3 and 4`, `{3, 4}`; `6-12` is a range.
fn is_all_list(found: &[Amount], list: &[Token]) -> bool {
    let is_own = |at: usize| found.iter().any(|amount| amount.tokens.contains(&at));
    let is_joint = |token: &Token| {
        ['(', ')', '[', ']', '{', '}', ',', ';', '.'].iter().any(|sign| token.is_sign(*sign))
            || token.word() == Some("and")
    };
    list.iter().enumerate().all(|(at, token)| is_own(at) || is_joint(token))
}

/// Reads the option that ends a statement: "it is option B".
fn last_choice(list: &[Token], text: &str) -> Option<char> {
    let end = list.len() - usize::from(list.last().is_some_and(|token| token.is_sign('.')));
    let [word, letter] = list.get(end.checked_sub(2)?..end)? else { return None };
    let letter = text.get(letter.start..letter.end)?.chars().next().filter(|_| letter.end == letter.start + 1)?;
    let is_named = matches!(word.word(), Some("option" | "choice"));
    (is_named && LETTERS.contains(&letter)).then_some(letter)
}

/// Reads the letter of an option, and how many parts it takes: `(B)`, `B.`, `B) 12`, `option B`.
fn choice(list: &[Token], text: &str) -> Option<(char, usize)> {
    let lead = usize::from(list.first().and_then(Token::word).is_some_and(|word| matches!(word, "option" | "choice")));
    let open = usize::from(list.get(lead).is_some_and(|token| token.is_sign('(')));
    let token = list.get(lead + open)?;
    let word = text.get(token.start..token.end)?;
    let mut letters = word.chars().map(folded);
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    let is_framed = list.get(lead + open + 1).is_some_and(|token| token.is_sign(')') && !token.spaced);
    // A small letter is an option only in brackets.
    let letter = if is_framed || lead > 0 { letter.to_ascii_uppercase() } else { letter };
    if !LETTERS.contains(&letter) || !matches!(token.part, Part::Word(_)) {
        return None;
    }
    let mut at = lead + open + 1;
    let mark = list.get(at).filter(|token| !token.spaced && [')', '.', ':'].iter().any(|sign| token.is_sign(*sign)));
    let is_end = list.get(at).is_none();
    at += usize::from(mark.is_some());
    at += usize::from(open > 0 && is_framed && list.get(at).is_some_and(|token| token.is_sign('.')));
    // `B. 12`, not `B.12` or the initials `B. J.`.
    let behind = list.get(at);
    let goes_on = behind.is_none_or(|token| token.spaced && !(token.upper && token.end == token.start + 1));
    let is_bare = is_end || (mark.is_some() && goes_on);
    is_bare.then_some((letter, at))
}

/// Reads an outright yes or no: the first word, where it stands alone.
fn truth(list: &[Token]) -> Option<bool> {
    let said = match list.first()?.word()? {
        "yes" | "true" | "yeah" | "yep" => true,
        "no" | "false" | "nope" => false,
        _ => return None,
    };
    // "No dogs bark" denies something else.
    let is_alone = list.get(1).is_none_or(|next| next.word().is_none() && !next.is_number());
    is_alone.then_some(said)
}

/// Tells whether a statement is a time of day and nothing else.
fn is_clock(list: &[Token]) -> bool {
    let is_part = |token: &Token| {
        token.is_number()
            || [':', '.'].iter().any(|sign| token.is_sign(*sign))
            || matches!(token.word(), Some("am" | "pm" | "a" | "p" | "m"))
    };
    list.iter().all(is_part) && list.iter().any(|token| token.is_sign(':') || token.word().is_some())
}

/// Folds a text for comparing: case, blanks, quotes, what stands at its ends, and an article.
fn folded_text(text: &str) -> String {
    let folded: String = text.chars().map(folded).flat_map(char::to_lowercase).collect();
    let is_edge = |c: char| {
        c.is_whitespace() || matches!(c, '.' | '*' | '_' | '"' | '\'' | '`' | '“' | '”' | ',' | ';' | ':' | '!' | '$')
    };
    let trimmed = folded.trim_matches(is_edge);
    let words: Vec<&str> = trimmed.split_whitespace().collect();
    let skip = usize::from(words.len() > 1 && matches!(words.first(), Some(&("the" | "a" | "an"))));
    words[skip..].join(" ")
}

#[cfg(test)]
mod tests;
