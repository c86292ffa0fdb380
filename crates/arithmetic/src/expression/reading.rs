//! Reading of a string that should be a value.

use super::parser::Parser;
use super::token::{Lexeme, Names, TokenKind, may_hold, tokens};
use super::tree::{Expression, Node, Operation, Single};
use super::words::{MAX_UNIT_WORDS, may_be_unit};
use crate::number::{Number, Written};

/// Interpretation of a string that should be a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reading {
    /// A number, perhaps with its unit: `12 dollars`, `5/8`, `$1,080`.
    Number(Written),
    /// A calculation that was not carried out.
    Expression(Expression),
    /// A calculation with its result: `3 * 26 = 78`.
    Done(Expression, Written),
    /// Neither.
    Other,
}

/// Reads a number, a calculation, or one with its result; `None`: it is neither.
pub(super) fn reading(text: &str, names: &Names) -> Option<Reading> {
    let text = text.trim().trim_end_matches('.');
    let digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if text.is_empty() || !(digit || may_hold(text.as_bytes())) {
        return None;
    }
    let list = tokens(text, names)?;
    let parts: Vec<&[Lexeme]> = list.split(|token| token.kind == TokenKind::Equals).collect();
    let (last, before) = parts.split_last()?;
    let (expression, value) = whole(last, text)?;
    if expression.is_operation() {
        return Some(match value {
            // 5/8 is a number; 3-5 and 2024-05-01 are none.
            Some(value) => Reading::Number(value),
            None => Reading::Expression(expression),
        });
    }
    let calculation = before.last().and_then(|part| whole(part, text));
    match (value, calculation) {
        (Some(value), Some((calculation, None))) if calculation.is_operation() => {
            Some(Reading::Done(calculation, value))
        }
        (Some(value), _) => Some(Reading::Number(value)),
        (None, _) => None,
    }
}

/// A calculation that fills a whole text but for a unit at the end; with its value where it is a number or fraction.
fn whole(list: &[Lexeme], text: &str) -> Option<(Expression, Option<Written>)> {
    let mut parser = Parser::new(list, 0, text, true);
    parser.expression(0)?;
    let rest = list.get(parser.at..)?;
    let is_unit =
        |token: &Lexeme| token.kind == TokenKind::Word && text.get(token.start..token.end).is_some_and(may_be_unit);
    if rest.len() > MAX_UNIT_WORDS || !rest.iter().all(is_unit) {
        return None;
    }
    let nodes = parser.nodes;
    let value = match (list, nodes.as_slice()) {
        ([Lexeme { kind: TokenKind::Number(number), .. }, ..], [Node::Number(_)]) => Some(*number),
        ([Lexeme { kind: TokenKind::Percent(number), .. }, ..], [Node::Percent(_)]) => {
            Some(Written { value: number.value.over(Number::whole(100))?, decimals: number.decimals + 2 })
        }
        (_, [Node::Number(number), Node::Single(Single::Negate, _)]) => {
            Some(Written { value: number.negated(), decimals: 0 })
        }
        (_, [Node::Number(upper), Node::Number(lower), Node::Pair(Operation::Divide, ..)]) if parser.weak == 1 => {
            Some(Written { value: upper.over(*lower)?, decimals: 18 })
        }
        (_, [Node::Name(_) | Node::Symbol(..)]) => return None,
        _ if parser.strong == 0 => return None,
        _ => None,
    };
    Some((Expression { nodes }, value))
}
