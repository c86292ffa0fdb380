//! Calculations as texts write them: `total = a * b + c`, `2 * k - 12`, `20% of x`, `$60 × 8`.
//!
//! They are found in prose by what surrounds them: every name must be a variable's, and an operator must stand between
//! two operands, so that dates, ranges, hyphens and sentences are none. All work is bounded by the constants below.

use std::ops::Range;

use crate::number::Written;
use function::function;
use parser::Parser;
use reading::reading;
use token::{Lexeme, TokenKind, tokens};

mod equality;
mod equation;
mod function;
mod marks;
mod measure;
mod parser;
mod reading;
mod token;
mod tree;
mod words;
mod worked;

pub use equality::{Equality, EqualitySide, equalities};
pub use equation::{equation, solved};
pub use measure::{clock, list};
pub use reading::Reading;
pub use token::{Names, holds_typographic_sign, may_hold, numbers};
pub use tree::{Expression, Operation, Single};
pub use worked::{Worked, bound, mixes_units, plain as plain_signs, worked};

/// Target of an assigned calculation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AssignedTo {
    /// A variable.
    Name(u32),
    /// A word that is no variable's name.
    Word(String),
}

/// A calculation found in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calculation {
    /// Target before its equals sign.
    pub target: Option<AssignedTo>,
    /// The calculation.
    pub expression: Expression,
    /// Result that the text itself states: `3 * 26 = 78`.
    pub stated: Option<Written>,
    /// Its bytes in the text, without the target.
    pub range: Range<usize>,
}

/// Every calculation in a text, in order. Names must be known.
pub fn find(text: &str, names: &Names) -> Vec<Calculation> {
    let mut found = Vec::new();
    if !may_hold(text.as_bytes()) {
        return found;
    }
    let Some(list) = tokens(text, names) else { return found };
    let mut at = 0;
    while let Some(token) = list.get(at) {
        let before = at.checked_sub(1).and_then(|before| list.get(before)).map(|token| token.kind);
        let starts =
            matches!(token.kind, TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Name(_) | TokenKind::Open)
                || (token.kind == TokenKind::Word && text.get(token.start..token.end).and_then(function).is_some())
                || (token.kind == TokenKind::Operator(Operation::Subtract) && before == Some(TokenKind::Equals));
        if is_factor(&list, at, text) {
            at = behind_group(&list, at);
            continue;
        }
        let joined = matches!(before, Some(TokenKind::Operator(_)));
        let one = (starts && !joined).then(|| one(&list, at, text)).flatten();
        match one {
            Some((one, end)) => {
                found.push(one);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn one(list: &[Lexeme], start: usize, text: &str) -> Option<(Calculation, usize)> {
    let mut parser = Parser::new(list, start, text, false);
    let root = parser.expression(0)?;
    let mut end = parser.at;
    let next = list.get(end);
    // Half a calculation would give a wrong number.
    if next.is_some_and(|next| {
        let runs_on = matches!(next.kind, TokenKind::Open | TokenKind::Word | TokenKind::Name(_)) && !next.spaced;
        // "p − s%", and a sum inside other parentheses.
        let is_percent = text.get(next.start..next.end) == Some("%");
        let is_inside =
            next.kind == TokenKind::Close && list.get(start).is_some_and(|first| first.kind == TokenKind::Open);
        // "400 000"
        let is_number = matches!(next.kind, TokenKind::Number(_));
        let is_factorial = text.get(next.start..next.end) == Some("!");
        matches!(next.kind, TokenKind::Operator(_)) || is_number || runs_on || is_percent || is_inside || is_factorial
    }) || is_half_said(text.get(..list.get(start)?.start)?)
    {
        return None;
    }
    if parser.strong == 0 || root as usize + 1 != parser.nodes.len() || is_inner_part(list, start, end, text) {
        return None;
    }
    let range = list.get(start)?.start..list.get(end.checked_sub(1)?)?.end;
    let mut target = target_before(list, start, text);
    if is_in_equation(list, start, end) {
        return None;
    }
    let mut stated = None;
    if next.is_some_and(|next| next.kind == TokenKind::Equals) {
        match (list.get(end + 1).map(|token| token.kind), list.get(end + 2).map(|token| token.kind)) {
            (Some(TokenKind::Number(_) | TokenKind::Name(_)), Some(TokenKind::Operator(_) | TokenKind::Equals)) => {}
            (Some(TokenKind::Number(number)), _) => {
                stated = Some(number);
                end += 2;
            }
            (Some(TokenKind::Name(name)), _) if target.is_none() => {
                target = Some(AssignedTo::Name(name));
                end += 2;
            }
            _ => {}
        }
    }
    Some((Calculation { target, expression: Expression { nodes: parser.nodes }, stated, range }, end))
}

/// Tells whether parentheses are multiplied by what is before them: `n(n - 1)`, `2 (a + b)`.
fn is_factor(list: &[Lexeme], at: usize, text: &str) -> bool {
    let Some([before, open]) = at.checked_sub(1).and_then(|start| list.get(start..=at)) else { return false };
    // "π(a + b)", a function that is not known, a command that is not read.
    let is_factor = |c: char| c.is_alphabetic() || c == '√';
    let ends_in_factor = || text.get(..open.start).is_some_and(|head| head.ends_with(is_factor));
    let is_glued = !open.spaced && (matches!(before.kind, TokenKind::Name(_)) || ends_in_factor());
    open.kind == TokenKind::Open && (is_glued || matches!(before.kind, TokenKind::Number(_) | TokenKind::Close))
}

/// Tells whether a calculation is a side of an equation in multiples: `2x = s + d`, `3s + years = 2(s + years)`.
fn is_in_equation(list: &[Lexeme], start: usize, end: usize) -> bool {
    let is_number = |token: &Lexeme| matches!(token.kind, TokenKind::Number(_));
    let is_factor = |token: &Lexeme| !token.spaced && matches!(token.kind, TokenKind::Name(_) | TokenKind::Word);
    let is_equals = |token: &Lexeme| token.kind == TokenKind::Equals;
    let before = start.checked_sub(3).and_then(|at| list.get(at..start));
    let is_right =
        matches!(before, Some([number, name, equals]) if is_number(number) && is_factor(name) && is_equals(equals));
    let is_group = |token: &Lexeme| !token.spaced && token.kind == TokenKind::Open;
    let behind = list.get(end..end + 3);
    let is_left =
        matches!(behind, Some([equals, number, group]) if is_equals(equals) && is_number(number) && is_group(group));
    is_right || is_left
}

/// Tells whether tokens are all that parentheses hold with which a larger calculation goes on.
fn is_inner_part(list: &[Lexeme], start: usize, end: usize, text: &str) -> bool {
    let kind = |at: usize| list.get(at).map(|token| token.kind);
    let is_factorial = |at: usize| list.get(at).is_some_and(|token| text.get(token.start..token.end) == Some("!"));
    let is_operator = |at: usize| matches!(kind(at), Some(TokenKind::Operator(_))) || is_factorial(at);
    let is_whole = start.checked_sub(1).and_then(kind) == Some(TokenKind::Open) && kind(end) == Some(TokenKind::Close);
    is_whole && (is_operator(end + 1) || start.checked_sub(2).is_some_and(is_operator))
}

/// Finds the token behind the parentheses that begin at a token.
fn behind_group(list: &[Lexeme], start: usize) -> usize {
    let mut depth = 0_usize;
    let closes = |token: &Lexeme| {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    let end = list.iter().skip(start).position(closes);
    end.map_or(list.len(), |end| start + end + 1)
}

/// Tells whether the words before a calculation do more with it: "5 less than 3 × 7", a root of it, `|a - b|`.
fn is_half_said(before: &str) -> bool {
    before.ends_with(['√', '|']) || [" than", "absolute value of"].iter().any(|end| before.trim_end().ends_with(end))
}

fn target_before(list: &[Lexeme], start: usize, text: &str) -> Option<AssignedTo> {
    list.get(start.checked_sub(1)?).filter(|token| token.kind == TokenKind::Equals)?;
    let left = list.get(start.checked_sub(2)?)?;
    match left.kind {
        TokenKind::Name(name) => Some(AssignedTo::Name(name)),
        TokenKind::Word => text.get(left.start..left.end).map(|word| AssignedTo::Word(word.to_owned())),
        _ => None,
    }
}

/// Reads a value that is a string. Single letters and `snake_case` count as names even where they are no variable's. Of
/// an equation it is the calculation of its unknown.
pub fn read(text: &str, names: &Names) -> Reading {
    if marks::has_decimal_commas(text) {
        return read_plain(&marks::swapped(text), names);
    }
    // A program writes 28.000 for 28; people write "28.000 đồng" for 28000.
    if marks::is_ambiguous(text, false) && Written::parse(text.trim().as_bytes()).is_none() {
        return Reading::Other;
    }
    read_plain(text, names)
}

fn read_plain(text: &str, names: &Names) -> Reading {
    let reading =
        reading(text, names).filter(|reading| !(matches!(reading, Reading::Expression(_)) && measure::is_rate(text)));
    match equation(text, names) {
        Some(solved) => Reading::Expression(solved),
        None => reading.or_else(|| measure::measure(text).map(Reading::Number)).unwrap_or(Reading::Other),
    }
}

/// Reads a calculation that is the whole text, such as an expected answer's `48/2`.
pub fn alone(text: &str) -> Option<Expression> {
    let list = tokens(text, &Names::default())?;
    let mut parser = Parser::new(&list, 0, text, true);
    parser.expression(0)?;
    (parser.at == list.len()).then_some(Expression { nodes: parser.nodes })
}

#[cfg(test)]
mod tests;
