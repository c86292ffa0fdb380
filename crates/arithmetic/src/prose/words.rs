//! A text as words: numbers read, parentheses left out, and where sentences end.

use std::borrow::Cow;
use std::ops::Range;

use crate::expression::numbers;
use crate::number::{Number, Written};
use crate::number_words::{NumberWord, number_word};

/// So do texts of more words.
pub(super) const MAX_WORDS: usize = 80;

/// Words that say nothing about which input is meant.
pub(super) const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "and", "to", "by", "his", "her", "their", "its", "this", "that", "these", "those", "with",
    "from", "as", "in", "on", "for", "all", "each", "both", "s", "value", "values", "variable", "amount", "number",
    "together", "two", "three", "four", "then",
];

/// Words that an operand follows.
const JOINTS: &[&str] = &["plus", "minus", "times", "by", "and", "from", "than"];

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each sign is there or not whatever the others are")]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) lower: Cow<'t, str>,
    pub(super) number: Option<Number>,
    /// True if a comma precedes it.
    pub(super) comma: bool,
    /// True if a colon or an equals sign precedes it.
    pub(super) colon: bool,
    /// True if it is an equals sign.
    pub(super) equals: bool,
    /// True if a sentence ends before it.
    pub(super) stop: bool,
    /// Sign or aside that belongs to it and is no word.
    pub(super) behind: Behind,
}

/// Sign or aside right behind a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behind {
    /// Nothing of interest.
    Nothing,
    /// A sign of percent.
    Percent,
    /// A number in parentheses.
    Aside(Number),
}

impl<'t> Word<'t> {
    /// Tells whether it is a percentage.
    pub(super) fn is_percent(&self) -> bool {
        self.behind == Behind::Percent
    }

    /// A word alone, in lower case.
    pub(super) const fn of(text: &'t str) -> Self {
        let lower = Cow::Borrowed(text);
        Self {
            text,
            lower,
            number: None,
            comma: false,
            colon: false,
            equals: false,
            stop: false,
            behind: Behind::Nothing,
        }
    }
}

pub(super) fn words(text: &str) -> Option<Vec<Word<'_>>> {
    // In typeset calculations the words are signs.
    if memchr::memchr(b'\\', text.as_bytes()).is_some() {
        return None;
    }
    let mut list: Vec<Word<'_>> = Vec::new();
    let (mut depth, mut comma, mut colon, mut equals, mut stop) = (0_usize, false, false, false, false);
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
                // "10 percent" is 10%.
                let joined = !(comma || colon || stop);
                let counted = list.last_mut().filter(|last| joined && lower == "percent" && last.number.is_some());
                if let Some(last) = counted.filter(|last| last.behind == Behind::Nothing) {
                    last.behind = Behind::Percent;
                    continue;
                }
                // "two-thirds" is 2/3.
                if let Some(last) = list.last_mut().filter(|_| joined)
                    && let Some(NumberWord::Nth(parts, true)) = number_word(lower.as_bytes())
                    && let Some(count) = last.number.and_then(Number::integer)
                {
                    last.number = Number::fraction(count, parts);
                    last.lower = Cow::Owned(format!("{count}/{parts}"));
                    continue;
                }
                let number = value_of(&lower);
                list.push(Word { lower, number, comma, colon, equals, stop, ..Word::of(head) });
                (comma, colon, equals, stop) = (false, false, false, false);
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
                // "Minus (−4)": what stands there is an operand, and no aside.
                if list.last().is_some_and(|last| JOINTS.contains(&last.lower.as_ref())) {
                    return None;
                }
                depth += 1;
                if let (Some(last), Some(number)) = (list.last_mut(), aside(rest)) {
                    last.behind = Behind::Aside(number);
                }
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' => comma = true,
            ':' => colon = true,
            '=' => (colon, equals) = (true, true),
            // "Subtract -4"
            '-' | '−'
                if before && rest.get(len..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) =>
            {
                return None;
            }
            '.' | ';' | '\n' => stop = true,
            '%' if depth == 0 => list.last_mut().filter(|word| word.number.is_some())?.behind = Behind::Percent,
            _ => {}
        }
        rest = rest.get(len..)?;
    }
    Some(list)
}

/// The words of a text in lower case, without anything between them.
pub fn lower_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The words for a sign between two phrases; hyphens and dashes are none.
pub(super) const fn sign(c: char) -> Option<&'static [&'static str]> {
    Some(match c {
        '+' => &["plus"],
        '−' => &["minus"],
        '*' | '×' | '·' | '⋅' => &["times"],
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

pub(super) fn inside_number(text: &str, at: usize, c: char) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    matches!(c, '.' | ',' | '/') && digit(at.checked_sub(1)) && digit(Some(at + 1))
}

/// The number that a word is, in letters or digits: `twelve`, `1,080`, `2/3`.
pub(super) fn value_of(word: &str) -> Option<Number> {
    if let Some(count) = number_word(word.as_bytes()).and_then(NumberWord::count) {
        return Some(Number::whole(count));
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
pub(super) fn sentence(words: &[Word<'_>], at: usize) -> Range<usize> {
    let start = words.iter().take(at + 1).rposition(|word| word.stop).unwrap_or(0);
    let end = words.iter().skip(at + 1).position(|word| word.stop).map_or(words.len(), |n| at + 1 + n);
    start..end
}

pub(super) fn stem(word: &str) -> &str {
    let cut = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    cut.unwrap_or(word)
}

pub(super) fn parts(text: &str) -> impl Iterator<Item = String> + '_ {
    // A number at the end of a word is a word: round2.
    text.split(|c: char| !c.is_alphanumeric())
        .flat_map(|word| {
            let at = word.find(|c: char| c.is_ascii_digit()).filter(|at| *at > 0).unwrap_or(word.len());
            let (head, tail) = word.split_at_checked(at).unwrap_or((word, ""));
            [head, tail].map(|part| stem(&part.to_lowercase()).to_owned())
        })
        .filter(|part| !part.is_empty() && !EMPTY.contains(&part.as_str()))
}
