//! Cuts the words of an answer into numbers, words and signs, whatever the digits look like and however they are grouped.

use crate::number::{Number, Written, ready_made};
use crate::scripts::{is_letter, is_unspaced, myriad, plain};

/// More are not read: such a text is no answer.
const MAX_TOKENS: usize = 1_000;
/// A power beyond this is not carried out.
const MAX_EXPONENT: usize = 3;

/// Part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// A number in digits, with what it may mean besides: `1.080` is 1080 where points group digits.
    Number(Written, Option<Number>),
    /// A fraction: `3/4` typeset, `¾`.
    Fraction(Number),
    /// Digits that are no number: `1.2.3`.
    Digits,
    /// A word in lower case.
    Word(String),
    /// Any other sign.
    Sign(char),
}

/// A part with its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) part: Part,
    pub(super) start: usize,
    pub(super) end: usize,
    /// True if a blank precedes it.
    pub(super) spaced: bool,
    /// True if it is a word that begins with a capital.
    pub(super) upper: bool,
}

impl Token {
    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.part == Part::Sign(sign)
    }

    pub(super) fn word(&self) -> Option<&str> {
        match &self.part {
            Part::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self.part, Part::Number(..) | Part::Fraction(_))
    }
}

/// Folds the many forms of a sign into one: digits of other scripts, dashes, blanks.
pub(super) fn folded(c: char) -> char {
    match c {
        '−' | '–' | '—' | '‐' | '‑' | '‒' | '﹣' => '-',
        '’' | '‘' | '´' => '\'',
        '×' | '·' | '⋅' | '∗' => '*',
        '÷' | '⁄' => '/',
        '\u{2028}' | '\u{2029}' | '\r' => '\n',
        c if c.is_whitespace() && c != '\n' => ' ',
        c => plain(c).unwrap_or(c),
    }
}

/// The digit of a power: `10³`.
fn raised(c: char) -> Option<char> {
    "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip('0'..='9').find(|(sign, _)| *sign == c).map(|(_, digit)| digit)
}

/// Cuts a text into its parts.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().map(|(at, c)| (at, folded(c))).collect();
    let mut cut = Cutter { text, chars: &chars, at: 0, spaced: true, out: Vec::new() };
    while cut.at < chars.len() && cut.out.len() < MAX_TOKENS {
        cut.next();
    }
    joined_fractions(cut.out)
}

struct Cutter<'t> {
    text: &'t str,
    chars: &'t [(usize, char)],
    at: usize,
    spaced: bool,
    out: Vec<Token>,
}

impl Cutter<'_> {
    fn char(&self, at: usize) -> Option<char> {
        self.chars.get(at).map(|(_, c)| *c)
    }

    fn is_digit(&self, at: usize) -> bool {
        self.char(at).is_some_and(|c| c.is_ascii_digit())
    }

    fn byte(&self, at: usize) -> usize {
        self.chars.get(at).map_or(self.text.len(), |(byte, _)| *byte)
    }

    fn push(&mut self, part: Part, end: usize) {
        let (start, end_byte) = (self.byte(self.at), self.byte(end));
        let upper = self.char(self.at).is_some_and(char::is_uppercase);
        self.out.push(Token { part, start, end: end_byte, spaced: self.spaced, upper });
        (self.at, self.spaced) = (end.max(self.at + 1), false);
    }

    fn next(&mut self) {
        let Some(c) = self.char(self.at) else { return };
        let begins_decimal = c == '.' && self.is_digit(self.at + 1) && self.spaced;
        let begins_decimal = begins_decimal || (c == '.' && self.is_digit(self.at + 1) && self.is_behind_sign());
        if c == ' ' {
            self.spaced = true;
            self.at += 1;
        } else if c.is_ascii_digit() || begins_decimal {
            let (part, end) = self.number();
            self.push(part, end);
        } else if let Some((fraction, _)) =
            self.text.get(self.byte(self.at)..).and_then(|rest| ready_made(rest.as_bytes()))
        {
            self.push(Part::Fraction(fraction), self.at + 1);
        } else if raised(c).is_some() {
            self.power();
        } else if c.is_alphabetic() {
            let is_inner =
                |at: usize| self.char(at) == Some('\'') && self.char(at + 1).is_some_and(char::is_alphabetic);
            let end = (self.at..).find(|at| !(self.char(*at).is_some_and(is_letter) || is_inner(*at)));
            let end = self.unit_end().unwrap_or_else(|| end.unwrap_or(self.chars.len()));
            let word = &self.text[self.byte(self.at)..self.byte(end)];
            let word: String = word.chars().map(folded).flat_map(char::to_lowercase).collect();
            self.push(Part::Word(word), end);
        } else {
            self.push(Part::Sign(c), self.at + 1);
        }
    }

    /// The end of a power of ten right behind digits, where words are not parted: `万` of `3万円`.
    fn unit_end(&self) -> Option<usize> {
        let follows = self.out.last().is_some_and(Token::is_number);
        let rest = self.text.get(self.byte(self.at)..).filter(|rest| follows && rest.starts_with(is_unspaced))?;
        let (_, len) = myriad(rest)?;
        Some(self.at + rest.get(..len)?.chars().count())
    }

    /// Tells whether a sign stands right before, as in `$.50`.
    fn is_behind_sign(&self) -> bool {
        self.at.checked_sub(1).and_then(|at| self.char(at)).is_some_and(|c| matches!(c, '$' | '€' | '£' | '-' | '('))
    }

    /// `³`: a sign of a power, and its number.
    fn power(&mut self) {
        let digits: String = (self.at..).map_while(|at| self.char(at).and_then(raised)).take(MAX_EXPONENT).collect();
        let end = self.at + digits.len();
        let start = self.byte(self.at);
        self.out.push(Token { part: Part::Sign('^'), start, end: start, spaced: false, upper: false });
        let number = Written::parse(digits.as_bytes());
        self.spaced = false;
        self.push(number.map_or(Part::Digits, |number| Part::Number(number, None)), end);
    }

    /// Reads digits with what groups them.
    fn number(&self) -> (Part, usize) {
        let run = |from: usize| (from..).take_while(|at| self.is_digit(*at)).count();
        let mut groups: Vec<(char, std::ops::Range<usize>)> = Vec::new();
        let mut at = self.at + run(self.at);
        let first = self.at..at;
        while let Some(separator @ (',' | '.' | '\'' | ' ')) = self.char(at) {
            let len = run(at + 1);
            // Blanks and apostrophes group digits by threes, and do nothing else in a number.
            let is_loose = matches!(separator, ' ' | '\'');
            let is_grouped = groups.iter().all(|(before, _)| *before == separator) && first.len() <= 3;
            if len == 0 || (is_loose && (len != 3 || !is_grouped || first.is_empty())) {
                break;
            }
            groups.push((separator, at + 1..at + 1 + len));
            at += 1 + len;
        }
        let digits =
            |range: &std::ops::Range<usize>| -> String { range.clone().filter_map(|at| self.char(at)).collect() };
        let grouped = Grouped {
            first: digits(&first),
            groups: groups.iter().map(|(separator, range)| (*separator, digits(range))).collect(),
        };
        let Some((text, other)) = grouped.read() else { return (Part::Digits, at) };
        let (exponent, end) = self.exponent(at);
        let other = other.and_then(|other| Written::parse(other.as_bytes())).map(|other| other.value);
        match Written::parse(format!("{text}{exponent}").as_bytes()) {
            Some(number) => (Part::Number(number, other), end),
            None => (Part::Digits, end),
        }
    }

    /// Reads `e3` behind digits.
    fn exponent(&self, at: usize) -> (String, usize) {
        let none = (String::new(), at);
        if !matches!(self.char(at), Some('e' | 'E')) {
            return none;
        }
        let sign = self.char(at + 1).filter(|c| matches!(c, '+' | '-'));
        let from = at + 1 + usize::from(sign.is_some());
        let digits: String = (from..).map_while(|at| self.char(at).filter(char::is_ascii_digit)).collect();
        let end = from + digits.len();
        if digits.is_empty() || digits.len() > MAX_EXPONENT || self.char(end).is_some_and(char::is_alphanumeric) {
            return none;
        }
        (format!("e{}{digits}", if sign == Some('-') { "-" } else { "" }), end)
    }
}

/// Digits and what stands between their groups.
struct Grouped {
    first: String,
    groups: Vec<(char, String)>,
}

impl Grouped {
    /// Returns the digits with a plain point, and what they mean where the sign is used otherwise.
    fn read(&self) -> Option<(String, Option<String>)> {
        let joined =
            |groups: &[(char, String)]| groups.iter().fold(self.first.clone(), |whole, (_, digits)| whole + digits);
        let Some(((last, decimals), before)) = self.groups.split_last() else {
            return Some((self.first.clone(), None));
        };
        if before.is_empty() {
            let point = format!("{}.{decimals}", self.first);
            let is_group = self.is_grouped(&self.groups);
            return match last {
                '.' => Some((point, is_group.then(|| joined(&self.groups)))),
                ',' if is_group => Some((joined(&self.groups), Some(point))),
                ',' => Some((point, None)),
                _ => Some((joined(&self.groups), None)),
            };
        }
        if self.is_grouped(&self.groups) || self.is_grouped_in_twos(&self.groups) {
            return Some((joined(&self.groups), None));
        }
        let is_point = matches!(last, '.' | ',') && before.iter().all(|(sign, _)| sign != last);
        let is_number = is_point && (self.is_grouped(before) || self.is_grouped_in_twos(before));
        is_number.then(|| (format!("{}.{decimals}", joined(before)), None))
    }

    /// `1,080,000`
    fn is_grouped(&self, groups: &[(char, String)]) -> bool {
        let sign = groups.first().map(|(sign, _)| *sign);
        let begins = (1..=3).contains(&self.first.len()) && !self.first.starts_with('0');
        begins && groups.iter().all(|(own, digits)| Some(*own) == sign && digits.len() == 3)
    }

    /// `1,20,000`
    fn is_grouped_in_twos(&self, groups: &[(char, String)]) -> bool {
        let Some(((_, last), before)) = groups.split_last() else { return false };
        let begins = (1..=2).contains(&self.first.len()) && !self.first.starts_with('0');
        let is_two = |(sign, digits): &(char, String)| *sign == ',' && digits.len() == 2;
        begins && !before.is_empty() && last.len() == 3 && before.iter().all(is_two)
    }
}

/// Makes one part of a fraction as it is typeset: `((3)/(4))`.
fn joined_fractions(list: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(list.len());
    let mut at = 0;
    while let Some(token) = list.get(at) {
        match typeset_fraction(&list[at..]) {
            Some((fraction, end)) => {
                out.push(Token { part: Part::Fraction(fraction), end, ..token.clone() });
                at += 9;
            }
            None => {
                out.push(token.clone());
                at += 1;
            }
        }
    }
    out
}

/// Reads such a fraction at the beginning of a list of parts, with its last byte.
fn typeset_fraction(list: &[Token]) -> Option<(Number, usize)> {
    let [open, open_upper, upper, close_upper, slash, open_lower, lower, close_lower, close] = list.get(..9)? else {
        return None;
    };
    let is_frame = open.is_sign('(')
        && open_upper.is_sign('(')
        && close_upper.is_sign(')')
        && slash.is_sign('/')
        && open_lower.is_sign('(')
        && close_lower.is_sign(')')
        && close.is_sign(')');
    match (&upper.part, &lower.part) {
        (Part::Number(upper, _), Part::Number(lower, _)) if is_frame => {
            Some((upper.value.over(lower.value)?, close.end))
        }
        _ => None,
    }
}
