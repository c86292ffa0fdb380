//! Equations with one unknown, `x + 4x = 90`, turned into the calculation that gives it.

use super::parser::Parser;
use super::token::{Lexeme, Names, TokenKind, tokens};
use super::tree::{Expression, Node, Operation, Single};
use crate::number::Number;

/// Longer texts hold more than an equation.
const MAX_TEXT: usize = 300;

/// Unknown of an equation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unknown<'t> {
    /// A name that is no variable's.
    Word(&'t str),
    /// A variable.
    Name(u32),
}

/// A sum of so many times the unknown and a rest.
#[derive(Clone, Debug)]
struct Linear {
    times: Expression,
    rest: Expression,
}

/// The first equation in a text, solved for the one name in it that is no variable's.
pub fn equation(text: &str, names: &Names) -> Option<Expression> {
    memchr::memchr(b'=', text.as_bytes()).filter(|_| text.len() <= MAX_TEXT)?;
    let list = tokens(text, names)?;
    let signs = list.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Equals).map(|(at, _)| at);
    signs.take(4).find_map(|at| around(&list, at, text))
}

/// An expression and the variable that it equals, solved for another variable.
pub fn solved(left: &Expression, right: u32, unknown: u32) -> Option<Expression> {
    solve(left, &Expression::name(right), "", Unknown::Name(unknown))
}

/// The equation around an equals sign.
fn around(list: &[Lexeme], at: usize, text: &str) -> Option<Expression> {
    let ended = |before: &Lexeme| matches!(before.kind, TokenKind::Break | TokenKind::Equals);
    let from = list.get(..at)?.iter().rposition(ended).map_or(0, |n| n + 1);
    let left = (from..at).find_map(|start| {
        let mut parser = Parser { words: true, ..Parser::new(list.get(..at)?, start, text, true) };
        parser.expression(0)?;
        (parser.at == at).then_some(Expression { nodes: parser.nodes })
    })?;
    let mut parser = Parser { words: true, ..Parser::new(list, at + 1, text, true) };
    parser.expression(0)?;
    let right = Expression { nodes: parser.nodes };
    let mut unknown = None;
    for node in left.nodes.iter().chain(&right.nodes) {
        if let Node::Symbol(start, end) = *node {
            let word = text.get(start as usize..end as usize)?;
            if *unknown.get_or_insert(word) != word {
                return None;
            }
        }
    }
    // `total = a * b` only names what comes out.
    let named = |side: &Expression| matches!(side.nodes.as_slice(), [Node::Symbol(..)]);
    if named(&left) || named(&right) {
        return None;
    }
    solve(&left, &right, text, Unknown::Word(unknown?))
}

fn solve(left: &Expression, right: &Expression, text: &str, unknown: Unknown<'_>) -> Option<Expression> {
    let (left, right) = (linear(left, text, unknown)?, linear(right, text, unknown)?);
    let times = joined(Operation::Subtract, &left.times, &right.times)?;
    let rest = joined(Operation::Subtract, &right.rest, &left.rest)?;
    // Without the unknown there is nothing to solve.
    if is_zero(&times) {
        return None;
    }
    joined(Operation::Divide, &rest, &times)
}

fn zero() -> Expression {
    Expression::number(Number::ZERO)
}

fn linear(side: &Expression, text: &str, unknown: Unknown<'_>) -> Option<Linear> {
    let mut parts: Vec<Linear> = Vec::with_capacity(side.nodes.len());
    for node in &side.nodes {
        let at = |n: u16| parts.get(usize::from(n));
        let is_unknown = match (*node, unknown) {
            (Node::Symbol(start, end), Unknown::Word(word)) => text.get(start as usize..end as usize) == Some(word),
            (Node::Name(name), Unknown::Name(own)) => name == own,
            _ => false,
        };
        let part = match *node {
            _ if is_unknown => Linear { times: Expression::number(Number::ONE), rest: zero() },
            Node::Symbol(..) => return None,
            Node::Number(_) | Node::Percent(_) | Node::Name(_) => {
                Linear { times: zero(), rest: Expression { nodes: vec![*node] } }
            }
            Node::Single(Single::Negate, of) => {
                combined(Operation::Subtract, &Linear { times: zero(), rest: zero() }, at(of)?)?
            }
            Node::Single(single, of) => {
                let of = at(of).filter(|of| is_zero(&of.times))?;
                Linear { times: zero(), rest: Expression::single(single, &of.rest)? }
            }
            Node::Pair(operation, left, right) => combined(operation, at(left)?, at(right)?)?,
        };
        parts.push(part);
    }
    parts.pop()
}

fn combined(operation: Operation, left: &Linear, right: &Linear) -> Option<Linear> {
    let scaled = |part: &Linear, by: &Expression| {
        Some(Linear { times: joined(operation, &part.times, by)?, rest: joined(operation, &part.rest, by)? })
    };
    match (operation, is_zero(&left.times), is_zero(&right.times)) {
        (Operation::Add | Operation::Subtract, ..) => Some(Linear {
            times: joined(operation, &left.times, &right.times)?,
            rest: joined(operation, &left.rest, &right.rest)?,
        }),
        (_, true, true) => Some(Linear { times: zero(), rest: joined(operation, &left.rest, &right.rest)? }),
        (Operation::Multiply, true, false) => scaled(right, &left.rest),
        (Operation::Multiply | Operation::Divide, false, true) => scaled(left, &right.rest),
        _ => None,
    }
}

fn plain(side: &Expression) -> Option<Number> {
    match side.nodes.as_slice() {
        [Node::Number(number)] => Some(*number),
        _ => None,
    }
}

fn is_zero(side: &Expression) -> bool {
    plain(side) == Some(Number::ZERO)
}

/// Two parts joined, as short as it can be written; plain numbers are worked out at once.
fn joined(operation: Operation, left: &Expression, right: &Expression) -> Option<Expression> {
    let one = |side: &Expression| plain(side) == Some(Number::ONE);
    match operation {
        Operation::Add if is_zero(left) => return Some(right.clone()),
        Operation::Add | Operation::Subtract if is_zero(right) => return Some(left.clone()),
        Operation::Multiply if one(left) => return Some(right.clone()),
        Operation::Multiply | Operation::Divide if one(right) || is_zero(left) => return Some(left.clone()),
        _ => {}
    }
    match plain(left).zip(plain(right)) {
        // A quotient stays to be read as one.
        Some((a, b)) if operation != Operation::Divide => operation.apply(a, b).map(Expression::number),
        _ => Expression::pair(operation, left, right),
    }
}
