//! A text cut into what calculations are made of: numbers, names, operators, words.

use std::ops::Range;

use super::function::function;
use super::tree::Operation;
use crate::number::{Number, Written, ready_made};

/// Longer texts are not looked at.
pub(crate) const MAX_TEXT: usize = 4_000;
/// More tokens are not read.
pub(crate) const MAX_TOKENS: usize = 500;
/// More names are not known.
pub(crate) const MAX_NAMES: usize = 256;
/// Number of groups of two digits that a number has at most.
const MAX_TWOS: usize = 8;

/// Names that may occur in a text, each with a number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub(super) list: Vec<(String, u32)>,
}

impl Names {
    /// Adds a name; `total_cost` is also found as `total cost`, in any case.
    pub fn add(&mut self, name: &str, id: u32) {
        let sound =
            name.starts_with(|first: char| first.is_alphabetic() || first == '_') && name.chars().all(is_part_of_name);
        if sound && self.list.len() < MAX_NAMES {
            self.list.push((name.to_owned(), id));
        }
    }

    /// The longest name that begins here and ends with a word.
    fn at(&self, text: &str) -> Option<(u32, usize)> {
        let mut best: Option<(u32, (usize, bool))> = None;
        let same = |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (a == b'_' && b == b' ');
        for (name, id) in &self.list {
            let Some((head, behind)) = text.split_at_checked(name.len()) else { continue };
            let begins = name.bytes().zip(head.bytes()).all(|(a, b)| same(a, b));
            // Of `t` and `T` it is the one that is written so.
            let fit = (name.len(), name == head);
            if begins && !behind.starts_with(is_part_of_name) && best.is_none_or(|(_, other)| fit > other) {
                best = Some((*id, fit));
            }
        }
        best.map(|(id, (len, _))| (id, len))
    }
}

fn is_part_of_name(c: char) -> bool {
    // A power counts as a digit.
    (c.is_alphanumeric() && !matches!(c, '²' | '³')) || c == '_'
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    Number(Written),
    Percent(Written),
    Name(u32),
    Word,
    Operator(Operation),
    Open,
    Close,
    Comma,
    Equals,
    /// Anything that ends a calculation.
    Break,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// True if a blank precedes it.
    pub(super) spaced: bool,
}

/// Cuts a text into tokens; `None` where it is too long for a calculation.
pub(super) fn tokens(text: &str, names: &Names) -> Option<Vec<Lexeme>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut list: Vec<Lexeme> = Vec::new();
    // Of each open parenthesis, whether it holds the arguments of a function: their commas group no digits.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    let mut spaced = true;
    while let Some(c) = text.get(at..)?.chars().next() {
        let rest = text.get(at..)?;
        let len = c.len_utf8();
        let one = |kind| (kind, len);
        let (kind, len) = match c {
            '\n' => one(TokenKind::Break),
            c if c.is_whitespace()
                || c == '`'
                || (is_currency(c) && rest.get(len..)?.starts_with(|n: char| n.is_ascii_digit())) =>
            {
                spaced = true;
                at += len;
                continue;
            }
            'R' | 'I' | 'U' | 'E' if spaced && currency_word(rest).is_some() => {
                at += currency_word(rest).unwrap_or(len);
                continue;
            }
            '²' | '³' => {
                // One sign for two.
                let power = Lexeme { kind: TokenKind::Operator(Operation::Power), start: at, end: at, spaced: false };
                list.push(power);
                let exponent = if c == '²' { 2 } else { 3 };
                one(TokenKind::Number(Written { value: Number::whole(exponent), decimals: 0 }))
            }
            ':' if rest.get(1..)?.starts_with('=') => (TokenKind::Equals, 2),
            '-' | '=' if rest.get(1..)?.starts_with('>') => (TokenKind::Break, 2),
            '<' if rest.get(1..)?.starts_with('-') => (TokenKind::Break, 2),
            // The list of a function: `sum([a, b])`.
            '[' if open.last() == Some(&true) && !spaced => {
                at += len;
                continue;
            }
            ']' if open.last() == Some(&true) => {
                at += len;
                continue;
            }
            '0'..='9' | '.' => number(rest, open.last() != Some(&true) && !is_pair(&list, rest)),
            '+' => one(TokenKind::Operator(Operation::Add)),
            // "ו-360": a particle of Hebrew, and no minus.
            '-' if text.get(..at)?.ends_with(|c| matches!(c, '\u{590}'..='\u{5ff}')) => one(TokenKind::Break),
            '-' | '−' => one(TokenKind::Operator(Operation::Subtract)),
            // Between two numbers without blanks it is a range.
            '–' if spaced && rest.get(len..)?.starts_with(' ') => one(TokenKind::Operator(Operation::Subtract)),
            '*' if rest.starts_with("**") => (TokenKind::Operator(Operation::Power), 2),
            '*' | '×' | '·' | '⋅' | '∙' | '∗' | '✕' => one(TokenKind::Operator(Operation::Multiply)),
            '/' if rest.starts_with("//") => (TokenKind::Operator(Operation::Quotient), 2),
            '/' | '÷' => one(TokenKind::Operator(Operation::Divide)),
            '%' if spaced && rest.starts_with("% ") => one(TokenKind::Operator(Operation::Remainder)),
            '^' => one(TokenKind::Operator(Operation::Power)),
            '(' => one(TokenKind::Open),
            ')' => one(TokenKind::Close),
            ',' => one(TokenKind::Comma),
            '=' if rest.starts_with("==") => (TokenKind::Break, 2),
            '=' => one(TokenKind::Equals),
            '<' | '>' | '!' if rest.get(1..)?.starts_with('=') => (TokenKind::Break, 2),
            c if c.is_alphabetic() || c == '_' => word(rest, names),
            _ => match ready_made(rest.as_bytes()) {
                // "2½"
                Some((fraction, _)) if joins_whole(&mut list, fraction, at + len) => {
                    at += len;
                    continue;
                }
                Some((value, _)) => one(TokenKind::Number(Written { value, decimals: 2 })),
                None => one(TokenKind::Break),
            },
        };
        if list.len() >= MAX_TOKENS {
            return None;
        }
        match kind {
            TokenKind::Open => open.push(
                list.last().is_some_and(|name| !spaced && text.get(name.start..name.end).and_then(function).is_some()),
            ),
            TokenKind::Close => _ = open.pop(),
            _ => {}
        }
        list.push(Lexeme { kind, start: at, end: at + len, spaced });
        spaced = false;
        at += len;
    }
    mark_times(&mut list, text);
    Some(list)
}

/// Joins a fraction that ends here with the whole number before it; `false` where there is none.
fn joins_whole(list: &mut [Lexeme], fraction: Number, end: usize) -> bool {
    let Some(Lexeme { kind: TokenKind::Number(written), end: last, .. }) = list.last_mut() else { return false };
    let Some(sum) = written.value.plus(fraction).filter(|_| written.value.is_whole()) else { return false };
    (*written, *last) = (Written { value: sum, decimals: 2 }, end);
    true
}

pub(super) const fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹')
}

/// Measures the name of a currency in front of a number: `Rs 2402`, `Rs. 50`.
fn currency_word(text: &str) -> Option<usize> {
    let rest = ["Rs.", "Rs", "INR", "USD", "EUR"].iter().find_map(|name| text.strip_prefix(name))?;
    let rest = rest.trim_start_matches(' ');
    rest.starts_with(|c: char| c.is_ascii_digit()).then(|| text.len() - rest.len())
}

/// Tells whether digits are grouped as in India from a comma on: `1,20,000`.
fn groups_in_twos(bytes: &[u8]) -> bool {
    let is_group = |len: usize, bytes: &[u8]| {
        bytes.first() == Some(&b',') && bytes.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count() == len
    };
    let behind = |groups: usize| &bytes[3 * groups..];
    let twos = (0..MAX_TWOS).take_while(|groups| is_group(2, behind(*groups))).count();
    twos > 0 && is_group(3, behind(twos))
}

/// Tells whether a text begins with two numbers that are all of a parenthesis: `(2,5)` is a place.
fn is_pair(list: &[Lexeme], rest: &str) -> bool {
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let second = behind.strip_prefix(',').map(|behind| behind.trim_start_matches(|c: char| c.is_ascii_digit()));
    list.last().is_some_and(|token| token.kind == TokenKind::Open) && second.is_some_and(|rest| rest.starts_with(')'))
}

/// `1,080.50` and `20%`; what runs on (`1.2.3`, `3rd`) is none. `groups`: commas may be between its digits.
pub(super) fn number(rest: &str, groups: bool) -> (TokenKind, usize) {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let (mut text, mut at, mut grouped, mut twos) = (Vec::new(), 0, false, false);
    while digit(at) {
        text.extend(bytes.get(at));
        at += 1;
        if !groups || bytes.get(at) != Some(&b',') {
            continue;
        }
        let group = digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
        let in_twos = |len| len <= 2 && groups_in_twos(&bytes[at..]);
        if group && (grouped || text.len() <= 3) || twos || in_twos(text.len()) {
            twos = !group;
            grouped = true;
            at += 1;
        }
    }
    // "0,04": what English writes with a point.
    let is_comma = groups && !grouped && bytes.get(at) == Some(&b',') && digit(at + 1);
    if (bytes.get(at) == Some(&b'.') || is_comma) && digit(at + 1) {
        text.push(b'.');
        at += 1;
        while digit(at) {
            text.extend(bytes.get(at));
            at += 1;
        }
    }
    if text.is_empty() {
        return (TokenKind::Break, 1);
    }
    let runs_on = (bytes.get(at) == Some(&b'.') || (is_comma && bytes.get(at) == Some(&b','))) && digit(at + 1);
    let Some(written) = Written::parse(&text).filter(|_| !runs_on) else {
        let end = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        return (TokenKind::Break, at + end);
    };
    let tail = &rest[at..];
    let blanks = tail.len() - tail.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
    match tail.get(blanks..).and_then(percent_sign).filter(|_| blanks <= 2) {
        Some(len) => (TokenKind::Percent(written), at + blanks + len),
        None => (TokenKind::Number(written), at),
    }
}

/// Measures a sign of percent, or the word for it, at the beginning of a text.
fn percent_sign(text: &str) -> Option<usize> {
    let sign = ["%", "percent", "per cent", "pct"].into_iter().find(|sign| text.starts_with(sign))?;
    let is_whole = sign == "%" || !text.get(sign.len()..)?.starts_with(is_part_of_name);
    is_whole.then_some(sign.len())
}

fn word(rest: &str, names: &Names) -> (TokenKind, usize) {
    if let Some((id, len)) = names.at(rest) {
        return (TokenKind::Name(id), len);
    }
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        let joins = matches!(c, '\'' | '’')
            && rest.get(at + c.len_utf8()..).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        if !(is_part_of_name(c) || joins) {
            break;
        }
        end = at + c.len_utf8();
    }
    (TokenKind::Word, end.max(1))
}

/// `8 x 60`, `a mod b`: an x between two operands multiplies, unless it is a variable.
fn mark_times(list: &mut [Lexeme], text: &str) {
    for at in 1..list.len().saturating_sub(1) {
        let [Some(before), Some(here), Some(after)] = [list.get(at - 1), list.get(at), list.get(at + 1)] else {
            return;
        };
        let word = text.get(here.start..here.end).filter(|_| here.kind == TokenKind::Word);
        let operation = match word {
            Some("x" | "X") if is_size(list, at, text) => {
                if let Some(here) = list.get_mut(at) {
                    here.kind = TokenKind::Break;
                }
                continue;
            }
            Some("x" | "X") => Operation::Multiply,
            Some("mod" | "modulo" | "MOD") => Operation::Remainder,
            _ => continue,
        };
        let left = matches!(
            before.kind,
            TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Name(_) | TokenKind::Close | TokenKind::Word
        );
        let right =
            matches!(after.kind, TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Name(_) | TokenKind::Open);
        if left
            && right
            && here.spaced
            && after.spaced
            && let Some(here) = list.get_mut(at)
        {
            here.kind = TokenKind::Operator(operation);
        }
    }
}

/// Tells whether an x between two numbers makes a size: "a 2 x 4", "6 pieces of 2 x 4 wood".
fn is_size(list: &[Lexeme], at: usize, text: &str) -> bool {
    const BEFORE: [&str; 6] = ["a", "an", "of", "the", "each", "per"];
    let whole = |at: Option<usize>| match at.and_then(|at| list.get(at)).map(|token| token.kind) {
        Some(TokenKind::Number(written)) => written.decimals == 0,
        _ => false,
    };
    let word = |at: Option<usize>| {
        let token = list.get(at?).filter(|token| token.kind == TokenKind::Word)?;
        Some(text.get(token.start..token.end)?.to_ascii_lowercase())
    };
    let is_named = word(at.checked_sub(2)).is_some_and(|word| BEFORE.contains(&word.as_str()));
    // "of 2 x 4 = 8" is worked out.
    let is_result = list.get(at + 2).is_some_and(|token| token.kind == TokenKind::Equals);
    whole(at.checked_sub(1)) && whole(Some(at + 1)) && is_named && !is_result
}

/// Tells whether a text can hold a calculation at all, by a look at its bytes.
pub fn may_hold(bytes: &[u8]) -> bool {
    memchr::memchr3(b'*', b'/', b'+', bytes).is_some()
        || memchr::memchr3(b'=', b'^', b'%', bytes).is_some()
        || memchr::memchr2_iter(b'-', b'x', bytes)
            .any(|at| bytes.get(at + 1) == Some(&b' ') && at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b' '))
        || holds_call(bytes)
        || holds_typographic_sign(bytes)
}

/// Tells whether a text has parentheses right behind a letter, as `sum(a, b)` has.
fn holds_call(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'(', bytes)
        .any(|at| at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphabetic))
}

/// Tells whether a text contains `×`, `÷` or the minus sign of Unicode. Their last bytes are rarer than their first.
pub fn holds_typographic_sign(bytes: &[u8]) -> bool {
    memchr::memchr3_iter(0x97, 0xb7, 0x92, bytes).any(|last| {
        let before = &bytes[..=last];
        ["×", "÷", "−"].iter().any(|sign| before.ends_with(sign.as_bytes()))
    })
}

/// Lists the numbers in a sentence, each with its place; those of calculations too. `round2` and `1st` are names.
pub fn numbers(text: &str) -> Vec<(Written, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let before = |n: usize| (at + found).checked_sub(n).and_then(|at| bytes.get(at)).copied();
        let point = before(1) == Some(b'.') && !before(2).is_some_and(|byte| byte.is_ascii_alphanumeric());
        let start = at + found - usize::from(point);
        let lead = |n: usize| start.checked_sub(n).and_then(|at| bytes.get(at)).copied();
        let (kind, len) = number(&text[start..], true);
        let end = start + len.max(1);
        at = end;
        let joined = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let (TokenKind::Number(written) | TokenKind::Percent(written)) = kind else { continue };
        let runs_on = joined(lead(1)) || lead(1) == Some(b'.') || joined(bytes.get(end).copied());
        if runs_on || numbers.len() >= MAX_TOKENS {
            // What a word runs on into is part of it.
            at += bytes[end..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            continue;
        }
        let sign = ["-", "−"].into_iter().find(|sign| text.get(..start).is_some_and(|text| text.ends_with(sign)));
        let negative =
            sign.is_some_and(|sign| lead(sign.len() + 1).is_none_or(|byte| matches!(byte, b' ' | b'(' | b'$')));
        let value = if negative { written.value.negated() } else { written.value };
        numbers.push((Written { value, ..written }, start..end));
    }
    numbers
}
