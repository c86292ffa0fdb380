//! Calculations as texts write them: `total = a * b + c`, `2 * k - 12`, `20% of x`, `$60 × 8`.
//!
//! They are found in prose by what surrounds them: every name must be a variable's, and an operator must stand between
//! two operands, so that dates, ranges, hyphens and sentences are none. All work is bounded by the constants below.

use std::ops::Range;

use crate::number::{Number, Written, ready_made};
use crate::quantity::unit;

mod equality;
pub mod equation;
mod marks;
mod measure;
pub mod worked;

pub use equality::{Equality, EqualitySide, equalities};
pub use equation::{equation, solved};
pub use measure::{clock, list};
pub use worked::{Worked, bound, mixes_units, plain as plain_signs, worked};

/// Longer texts are not looked at.
pub(crate) const MAX_TEXT: usize = 4_000;
/// More tokens are not read.
pub(crate) const MAX_TOKENS: usize = 500;
/// No calculation has more parts.
pub(crate) const MAX_NODES: usize = 200;
/// No calculation is nested deeper.
pub(crate) const MAX_DEPTH: usize = 24;
/// More names are not known.
pub(crate) const MAX_NAMES: usize = 256;
/// Number of groups of two digits that a number has at most.
const MAX_TWOS: usize = 8;
/// Number of words that may be between a number and the next operator, as its unit.
const MAX_UNIT_WORDS: usize = 3;

/// An operation on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `mod`: what is left over.
    Remainder,
    /// `//`: how many times it goes in.
    Quotient,
    /// `^`
    Power,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
}

impl Operation {
    const fn precedence(self) -> u8 {
        match self {
            Self::Add | Self::Subtract => 1,
            Self::Multiply | Self::Divide | Self::Remainder | Self::Quotient => 2,
            Self::Power => 4,
            Self::Minimum | Self::Maximum => 5,
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Subtract => " − ",
            Self::Multiply => " × ",
            Self::Divide => " / ",
            Self::Remainder => " mod ",
            Self::Quotient => " // ",
            Self::Power => "^",
            Self::Minimum | Self::Maximum => ", ",
        }
    }

    /// Returns the inverse operation, and the neutral element of this one.
    pub fn undone(self) -> Option<(Self, Number)> {
        match self {
            Self::Add => Some((Self::Subtract, Number::ZERO)),
            Self::Multiply => Some((Self::Divide, Number::ONE)),
            _ => None,
        }
    }

    /// Works out the operation; `None`: it has no exact result of bounded size.
    pub fn apply(self, left: Number, right: Number) -> Option<Number> {
        match self {
            Self::Add => left.plus(right),
            Self::Subtract => left.minus(right),
            Self::Multiply => left.times(right),
            Self::Divide => left.over(right),
            Self::Remainder => left.minus(left.over(right)?.floor().times(right)?),
            Self::Quotient => Some(left.over(right)?.floor()),
            Self::Power => left.power(right),
            Self::Minimum => Some(left.min(right)),
            Self::Maximum => Some(left.max(right)),
        }
    }
}

/// An operation on one number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Single {
    /// The other sign.
    Negate,
    /// Without sign.
    Magnitude,
    /// The next whole number below.
    Floor,
    /// The next whole number above.
    Ceil,
    /// The nearest whole number.
    Round,
}

impl Single {
    fn apply(self, of: Number) -> Option<Number> {
        Some(match self {
            Self::Negate => of.negated(),
            Self::Magnitude => of.magnitude(),
            Self::Floor => of.floor(),
            Self::Ceil => of.ceil(),
            Self::Round => of.plus(Number::fraction(1, 2)?)?.floor(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Number(Number),
    /// `20%`, kept apart: next to + and - it is unknown what it is a percentage of.
    Percent(Number),
    Name(u32),
    /// A name that is no variable's; its place in the text.
    Symbol(u32, u32),
    Single(Single, u16),
    Pair(Operation, u16, u16),
}

/// A calculation, its parts before what is made of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expression {
    nodes: Vec<Node>,
}

impl Expression {
    /// A number alone.
    pub fn number(number: Number) -> Self {
        Self { nodes: vec![Node::Number(number)] }
    }

    /// A variable alone.
    pub fn name(name: u32) -> Self {
        Self { nodes: vec![Node::Name(name)] }
    }

    /// Two calculations joined by an operation; `None` where that is too large.
    pub fn pair(operation: Operation, left: &Self, right: &Self) -> Option<Self> {
        let mut nodes = left.nodes.clone();
        if nodes.is_empty() || right.nodes.is_empty() || nodes.len() + right.nodes.len() >= MAX_NODES {
            return None;
        }
        let (left, right) = (nodes.len() as u16 - 1, right.append_to(&mut nodes)?);
        nodes.push(Node::Pair(operation, left, right));
        Some(Self { nodes })
    }

    /// Several calculations joined by one operation; `None` where there is none, or that is too large.
    pub fn all(operation: Operation, parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        parts.try_fold(first, |all, part| Self::pair(operation, &all, &part))
    }

    /// Puts its nodes behind others; where its own result is then.
    fn append_to(&self, nodes: &mut Vec<Node>) -> Option<u16> {
        let offset = nodes.len() as u16;
        nodes.extend(self.nodes.iter().map(|node| match *node {
            Node::Single(single, at) => Node::Single(single, at + offset),
            Node::Pair(operation, a, b) => Node::Pair(operation, a + offset, b + offset),
            leaf => leaf,
        }));
        (nodes.len() as u16).checked_sub(1)
    }

    /// Lists the names used as a share, with `true` in `1 - name`, and with `false` in `name / 100` or `100 - name`.
    pub fn shares(&self) -> Vec<(u32, bool)> {
        let at = |n: u16| self.nodes.get(usize::from(n));
        let number = |n: u16, whole: i64| at(n) == Some(&Node::Number(Number::whole(whole)));
        let mut shares = Vec::new();
        for node in &self.nodes {
            let Node::Pair(operation, left, right) = *node else { continue };
            match (operation, at(left), at(right)) {
                (Operation::Add | Operation::Subtract, _, Some(Node::Name(name))) if number(left, 1) => {
                    shares.push((*name, true));
                }
                (Operation::Add | Operation::Subtract, _, Some(Node::Name(name))) if number(left, 100) => {
                    shares.push((*name, false));
                }
                (Operation::Divide, Some(Node::Name(name)), _) if number(right, 100) => shares.push((*name, false)),
                _ => {}
            }
        }
        shares
    }

    /// Lists the names in what is divided by 100: `price * rate / 100`.
    pub fn over_hundred(&self) -> Vec<u32> {
        let hundred = Some(&Node::Number(Number::whole(100)));
        let mut names = Vec::new();
        for node in &self.nodes {
            let Node::Pair(Operation::Divide, left, right) = *node else { continue };
            let mut open = if self.nodes.get(usize::from(right)) == hundred { vec![left] } else { Vec::new() };
            while let Some(at) = open.pop() {
                match self.nodes.get(usize::from(at)) {
                    Some(Node::Name(name)) => names.push(*name),
                    Some(Node::Pair(Operation::Multiply, left, right)) => open.extend([*left, *right]),
                    _ => {}
                }
            }
        }
        names
    }

    /// With calculations in place of some of its names; `None` where that is too large.
    pub fn replaced<'e>(&self, part: impl Fn(u32) -> Option<&'e Self>) -> Option<Self> {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        // Of each node, where it is now.
        let mut places: Vec<u16> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let moved = |at: u16| places.get(usize::from(at)).copied();
            let whole = if let Node::Name(name) = *node { part(name) } else { None };
            if let Some(whole) = whole {
                whole.append_to(&mut nodes)?;
            } else {
                nodes.push(match *node {
                    Node::Single(single, at) => Node::Single(single, moved(at)?),
                    Node::Pair(operation, a, b) => Node::Pair(operation, moved(a)?, moved(b)?),
                    leaf => leaf,
                });
            }
            places.push((nodes.len() as u16).checked_sub(1)?);
            if nodes.len() >= MAX_NODES {
                return None;
            }
        }
        Some(Self { nodes })
    }

    /// An operation on one calculation; `None` where that is too large.
    pub fn single(single: Single, of: &Self) -> Option<Self> {
        let last = of.nodes.len().checked_sub(1).filter(|_| of.nodes.len() < MAX_NODES)?;
        let mut nodes = of.nodes.clone();
        nodes.push(Node::Single(single, last as u16));
        Some(Self { nodes })
    }

    /// The variables it names, each once, in order of appearance.
    pub fn names(&self) -> Vec<u32> {
        let mut names = Vec::new();
        for node in &self.nodes {
            if let Node::Name(name) = node
                && !names.contains(name)
            {
                names.push(*name);
            }
        }
        names
    }

    /// Lists the names that an operation joins, two at a time; a sum is of the kind of its first part.
    pub fn joined_names(&self) -> Vec<(Operation, u32, u32)> {
        let mut kinds: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        let mut joined = Vec::new();
        for node in &self.nodes {
            let kind = |at: u16| kinds.get(usize::from(at)).copied().flatten();
            kinds.push(match node {
                Node::Name(name) => Some(*name),
                Node::Single(_, of) => kind(*of),
                Node::Pair(operation, left, right) => {
                    let (left, right) = (kind(*left), kind(*right));
                    joined.extend(left.zip(right).map(|(left, right)| (*operation, left, right)));
                    left.filter(|_| matches!(operation, Operation::Add | Operation::Subtract))
                }
                Node::Number(_) | Node::Percent(_) | Node::Symbol(..) => None,
            });
        }
        joined
    }

    /// Tells whether it is more than a number or a name.
    pub fn is_operation(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Pair(..)))
    }

    /// Tells whether it has more than one operation; of a sum of many, all are one.
    pub fn is_several(&self) -> bool {
        let operations = self.nodes.iter().filter_map(|node| match node {
            Node::Pair(operation, ..) => Some(*operation),
            _ => None,
        });
        let mut all = operations.collect::<Vec<_>>();
        let is_one = all.first().is_some_and(|first| {
            matches!(first, Operation::Add | Operation::Multiply) && all.iter().all(|other| other == first)
        });
        all.truncate(2);
        all.len() > 1 && !is_one
    }

    /// Lists the numbers in it, 20 for `20%`, in their order.
    pub fn numbers(&self) -> Vec<Number> {
        let number = |node: &Node| match node {
            Node::Number(number) | Node::Percent(number) => Some(*number),
            _ => None,
        };
        self.nodes.iter().filter_map(number).collect()
    }

    /// Tells whether something in it is divided by this number.
    pub fn divides_by(&self, number: Number) -> bool {
        let is_it = |at: u16| self.nodes.get(usize::from(at)) == Some(&Node::Number(number));
        self.nodes.iter().any(|node| matches!(*node, Node::Pair(Operation::Divide, _, lower) if is_it(lower)))
    }

    /// Tells whether a variable is subtracted from itself, or divided by itself: then two things were read as one.
    pub fn cancels(&self) -> bool {
        let name = |at: u16| self.nodes.get(usize::from(at)).filter(|node| matches!(node, Node::Name(_)));
        let same = |left, right| name(left).is_some_and(|left| name(right) == Some(left));
        let undoes = |operation| matches!(operation, Operation::Subtract | Operation::Divide);
        self.nodes.iter().any(|node| matches!(*node, Node::Pair(by, left, right) if undoes(by) && same(left, right)))
    }

    /// Tells whether this number occurs in it.
    pub fn holds(&self, number: Number) -> bool {
        self.nodes.contains(&Node::Number(number))
    }

    /// The number it gives; `None` where a name has no value, where it divides by zero or grows too large.
    pub fn evaluate(&self, value: impl Fn(u32) -> Option<Number>) -> Option<Number> {
        self.values(value)?.last().copied()
    }

    /// The numbers that its operations give, its own last.
    pub fn results(&self, value: impl Fn(u32) -> Option<Number>) -> Option<Vec<Number>> {
        let values = self.values(value)?;
        let is_result = |node: &Node| matches!(node, Node::Pair(..) | Node::Single(..));
        Some(self.nodes.iter().zip(values).filter(|(node, _)| is_result(node)).map(|(_, value)| value).collect())
    }

    /// The numbers of all its parts, its own last.
    pub fn values(&self, value: impl Fn(u32) -> Option<Number>) -> Option<Vec<Number>> {
        let mut values: Vec<Number> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let at = |n: u16| values.get(usize::from(n)).copied();
            let number = match *node {
                Node::Number(number) => number,
                Node::Percent(number) => number.over(Number::whole(100))?,
                Node::Name(name) => value(name)?,
                Node::Symbol(..) => return None,
                Node::Single(single, of) => single.apply(at(of)?)?,
                Node::Pair(operation, left, right) => {
                    let is_percent = |n: u16| matches!(self.nodes.get(usize::from(n)), Some(Node::Percent(_)));
                    if operation.precedence() == 1 && is_percent(left) != is_percent(right) {
                        return None;
                    }
                    operation.apply(at(left)?, at(right)?)?
                }
            };
            values.push(number);
        }
        Some(values)
    }

    /// Of every operation in it, the numbers that go in and what comes out; where names have no value, nothing.
    pub fn parts(&self) -> Vec<(Vec<Number>, Number)> {
        let Some(values) = self.values(|_| None) else { return Vec::new() };
        let mut leaves: Vec<Vec<Number>> = Vec::with_capacity(self.nodes.len());
        let mut parts = Vec::new();
        for (node, value) in self.nodes.iter().zip(values) {
            let of = |at: u16| leaves[usize::from(at)].clone();
            let own = match *node {
                Node::Number(number) | Node::Percent(number) => vec![number],
                Node::Name(_) | Node::Symbol(..) => Vec::new(),
                // −8 goes in, not 8.
                Node::Single(_, at) if matches!(self.nodes.get(usize::from(at)), Some(Node::Number(_))) => vec![value],
                Node::Single(_, at) => of(at),
                Node::Pair(_, left, right) => [of(left), of(right)].concat(),
            };
            if matches!(node, Node::Pair(..)) {
                parts.push((own.clone(), value));
            }
            leaves.push(own);
        }
        parts
    }

    /// Tells whether it is a sum or a difference.
    pub fn is_sum(&self) -> bool {
        matches!(self.nodes.last(), Some(Node::Pair(Operation::Add | Operation::Subtract, ..)))
    }

    /// Collects the terms of its sum, or the factors of its product: a subtracted term negated, a divisor as its
    /// reciprocal. Empty where a name has no value.
    pub fn joined(&self, by: Operation) -> Vec<Number> {
        let (Some((undone, neutral)), Some(values)) = (by.undone(), self.values(|_| None)) else { return Vec::new() };
        let mut joined = Vec::new();
        let mut open = vec![(self.nodes.len().saturating_sub(1), false)];
        while let Some((at, is_undone)) = open.pop() {
            match self.nodes.get(at) {
                Some(Node::Pair(operation, left, right)) if [by, undone].contains(operation) => {
                    open.push((usize::from(*right), is_undone != (*operation == undone)));
                    open.push((usize::from(*left), is_undone));
                }
                _ => joined.extend(
                    values.get(at).and_then(
                        |value| {
                            if is_undone { undone.apply(neutral, *value) } else { Some(*value) }
                        },
                    ),
                ),
            }
        }
        joined
    }

    /// As people write it, each name as `name` shows it.
    pub fn formula(&self, name: &dyn Fn(u32) -> String) -> String {
        let mut out = String::new();
        if let Some(root) = self.nodes.len().checked_sub(1) {
            self.write(root as u16, 0, name, &mut out);
        }
        out
    }

    fn write(&self, at: u16, least: u8, name: &dyn Fn(u32) -> String, out: &mut String) {
        match self.nodes.get(usize::from(at)).copied() {
            None => {}
            Some(Node::Number(number)) => out.push_str(&plain(number)),
            Some(Node::Percent(number)) => {
                out.push_str(&plain(number));
                out.push('%');
            }
            Some(Node::Name(id)) => out.push_str(&name(id)),
            Some(Node::Symbol(..)) => out.push('?'),
            Some(Node::Single(single, of)) => {
                let (before, inner, after) = match single {
                    Single::Negate => ("−", 3, ""),
                    Single::Magnitude => ("abs(", 0, ")"),
                    Single::Floor => ("floor(", 0, ")"),
                    Single::Ceil => ("ceil(", 0, ")"),
                    Single::Round => ("round(", 0, ")"),
                };
                out.push_str(before);
                self.write(of, inner, name, out);
                out.push_str(after);
            }
            Some(Node::Pair(operation, left, right)) => {
                let precedence = operation.precedence();
                let (open, inner) = match operation {
                    Operation::Minimum => ("min(", 0),
                    Operation::Maximum => ("max(", 0),
                    _ if precedence < least => ("(", precedence),
                    _ => ("", precedence),
                };
                out.push_str(open);
                self.write(left, inner, name, out);
                out.push_str(operation.sign());
                // What stands behind minus and divided-by keeps its parentheses.
                let tight = !matches!(operation, Operation::Add | Operation::Multiply);
                self.write(right, inner + u8::from(tight), name, out);
                if !open.is_empty() {
                    out.push(')');
                }
            }
        }
    }
}

/// A number inside a formula: fractions without their decimals.
fn plain(number: Number) -> String {
    let shown = number.shown();
    match shown.split_once(" ≈") {
        Some((fraction, _)) => format!("({fraction})"),
        None => shown,
    }
}

/// Names that may occur in a text, each with a number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    list: Vec<(String, u32)>,
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
enum TokenKind {
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
struct Lexeme {
    kind: TokenKind,
    start: usize,
    end: usize,
    /// True if a blank precedes it.
    spaced: bool,
}

/// Cuts a text into tokens; `None` where it is too long for a calculation.
fn tokens(text: &str, names: &Names) -> Option<Vec<Lexeme>> {
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
            TokenKind::Open => open.push(list.last().is_some_and(|name| !spaced && function(text, name).is_some())),
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

const fn is_currency(c: char) -> bool {
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
fn number(rest: &str, groups: bool) -> (TokenKind, usize) {
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
                || (token.kind == TokenKind::Word && function(text, token).is_some())
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

fn reading(text: &str, names: &Names) -> Option<Reading> {
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
    let is_unit = |token: &Lexeme| {
        token.kind == TokenKind::Word && text.get(token.start..token.end).is_some_and(measure::may_be_unit)
    };
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

/// Reads a calculation that is the whole text, such as an expected answer's `48/2`.
pub fn alone(text: &str) -> Option<Expression> {
    let list = tokens(text, &Names::default())?;
    let mut parser = Parser::new(&list, 0, text, true);
    parser.expression(0)?;
    (parser.at == list.len()).then_some(Expression { nodes: parser.nodes })
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

fn function(text: &str, token: &Lexeme) -> Option<Function> {
    Some(match text.get(token.start..token.end)?.to_ascii_lowercase().as_str() {
        "min" => Function::Fold(Operation::Minimum),
        "max" => Function::Fold(Operation::Maximum),
        "sum" => Function::Fold(Operation::Add),
        "abs" => Function::Single(Single::Magnitude),
        "floor" | "int" => Function::Single(Single::Floor),
        "ceil" | "ceiling" => Function::Single(Single::Ceil),
        "round" => Function::Round,
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum Function {
    Fold(Operation),
    Single(Single),
    /// With a second number, so many decimals: people write numbers that way anyhow.
    Round,
}

/// Tells whether a minus is the hyphen between a number and a word: `a 26-foot wall`.
fn is_hyphen(list: &[Lexeme], at: usize) -> bool {
    let is_minus = |token: &Lexeme| token.kind == TokenKind::Operator(Operation::Subtract) && !token.spaced;
    let is_word = |token: &Lexeme| token.kind == TokenKind::Word && !token.spaced && token.end - token.start > 2;
    list.get(at).is_some_and(is_minus) && list.get(at + 1).is_some_and(is_word)
}

struct Parser<'t> {
    list: &'t [Lexeme],
    at: usize,
    text: &'t str,
    /// The text is nothing but a calculation: unknown names are taken as such.
    whole: bool,
    /// Any word may be the unknown of an equation.
    words: bool,
    /// True if units may be wherever people write them: `240g/5`, `$8/hour * 3`, `(3 + 2) apples`.
    units: bool,
    nodes: Vec<Node>,
    depth: usize,
    /// Operators that can be nothing else.
    strong: usize,
    /// Hyphens and slashes between bare numbers: dates, ranges and fractions look like that.
    weak: usize,
}

impl<'t> Parser<'t> {
    const fn new(list: &'t [Lexeme], at: usize, text: &'t str, whole: bool) -> Self {
        Self { list, at, text, whole, words: false, units: false, nodes: Vec::new(), depth: 0, strong: 0, weak: 0 }
    }

    fn push(&mut self, node: Node) -> Option<u16> {
        (self.nodes.len() < MAX_NODES).then(|| {
            self.nodes.push(node);
            self.nodes.len() as u16 - 1
        })
    }

    fn kind(&self, ahead: usize) -> Option<TokenKind> {
        self.list.get(self.at + ahead).map(|token| token.kind)
    }

    fn expression(&mut self, least: u8) -> Option<u16> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut left = self.operand()?;
        while let Some((operation, precedence)) = self.operator(left) {
            if precedence < least {
                break;
            }
            let is_tight = self.is_tight();
            self.weigh();
            self.at += 1;
            let right = self.expression(if operation == Operation::Power { precedence } else { precedence + 1 })?;
            // "2 / 1/5" means a fifth, "a * 2 degrees/10 minutes" has a rate.
            if !self.whole
                && operation == Operation::Divide
                && (!is_tight && self.is_at_fraction() || self.is_rate(left))
            {
                return None;
            }
            left = self.push(Node::Pair(operation, left, right))?;
            if operation == Operation::Power {
                left = self.behind_power(left)?;
            }
        }
        self.depth -= 1;
        Some(left)
    }

    fn operator(&self, left: u16) -> Option<(Operation, u8)> {
        match self.kind(0)? {
            TokenKind::Operator(_) if !self.whole && is_hyphen(self.list, self.at) => None,
            TokenKind::Operator(operation) => Some((operation, operation.precedence())),
            // 20% of x, 1/2 of x
            TokenKind::Word if self.is_share(left) && self.word() == Some("of") => Some((Operation::Multiply, 2)),
            _ => None,
        }
    }

    /// `2^3(5)`: parentheses right behind a power multiply the power. What it divides by is open: `8 / 2^2(5)`.
    fn behind_power(&mut self, power: u16) -> Option<u16> {
        if !self.list.get(self.at).is_some_and(|next| next.kind == TokenKind::Open && !next.spaced) {
            return Some(power);
        }
        let is_divisor = self.list.iter().take(self.at).any(|token| {
            matches!(token.kind, TokenKind::Operator(Operation::Divide | Operation::Quotient | Operation::Remainder))
        });
        if is_divisor {
            return None;
        }
        let factor = self.expression(Operation::Power.precedence())?;
        self.push(Node::Pair(Operation::Multiply, power, factor))
    }

    /// Tells whether a number is an exponent: its sign stands before the token at hand.
    fn is_exponent(&self) -> bool {
        let before = self.at.checked_sub(2).and_then(|at| self.list.get(at));
        before.is_some_and(|token| token.kind == TokenKind::Operator(Operation::Power))
    }

    /// Tells whether the division just read is the sign of a rate behind another operation: `3 * 2 degrees/10 minutes`.
    fn is_rate(&self, left: u16) -> bool {
        let is_word = |at: usize| self.list.get(at).is_some_and(|token| token.kind == TokenKind::Word);
        let is_unit = self.at.checked_sub(1).is_some_and(is_word) || is_word(self.at);
        let mut slash = (0..self.at).rev().take(MAX_UNIT_WORDS + 3);
        let slash = slash
            .find(|at| self.list.get(*at).is_some_and(|token| token.kind == TokenKind::Operator(Operation::Divide)));
        let is_tight =
            slash.and_then(|at| self.list.get(at..at + 2)).is_some_and(|pair| pair.iter().all(|t| !t.spaced));
        let is_behind_unit = slash.and_then(|at| at.checked_sub(1)).is_some_and(is_word);
        let is_more = matches!(self.nodes.get(usize::from(left)), Some(Node::Pair(..)));
        is_unit && is_tight && is_behind_unit && is_more
    }

    /// Tells whether the operator at hand has no blanks around it.
    fn is_tight(&self) -> bool {
        [self.at, self.at + 1].into_iter().all(|at| self.list.get(at).is_some_and(|token| !token.spaced))
    }

    /// Tells whether the number just read is the upper one of a fraction.
    fn is_at_fraction(&self) -> bool {
        let divides = self.kind(0) == Some(TokenKind::Operator(Operation::Divide));
        divides && self.is_tight() && matches!(self.kind(1), Some(TokenKind::Number(_)))
    }

    /// Tells whether the number just read is the lower one of a fraction or quotient.
    fn is_behind_division(&self) -> bool {
        let before = self.at.checked_sub(2).and_then(|at| self.list.get(at));
        before.is_some_and(|token| token.kind == TokenKind::Operator(Operation::Divide))
    }

    fn word(&self) -> Option<&'t str> {
        let token = self.list.get(self.at)?;
        self.text.get(token.start..token.end)
    }

    fn is_share(&self, node: u16) -> bool {
        let number = |n: u16| matches!(self.nodes.get(usize::from(n)), Some(Node::Number(_)));
        match self.nodes.get(usize::from(node)) {
            Some(Node::Percent(_)) => true,
            Some(Node::Pair(Operation::Divide, a, b)) => number(*a) && number(*b),
            _ => false,
        }
    }

    /// Counts the operator at hand as one that is sure or not.
    fn weigh(&mut self) {
        let number = |token: Option<&Lexeme>| token.is_some_and(|token| matches!(token.kind, TokenKind::Number(_)));
        let [before, here, after] =
            [self.at.checked_sub(1), Some(self.at), Some(self.at + 1)].map(|at| self.list.get(at?));
        let doubtful =
            here.is_some_and(|here| matches!(here.kind, TokenKind::Operator(Operation::Subtract | Operation::Divide)));
        if doubtful && self.is_tight() && number(before) && number(after) {
            self.weak += 1;
        } else {
            self.strong += 1;
        }
    }

    fn operand(&mut self) -> Option<u16> {
        let token = self.list.get(self.at)?;
        match token.kind {
            TokenKind::Operator(Operation::Subtract) => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return None;
                }
                // A power binds closer: -3^2 is -9.
                let inner = self.expression(Operation::Power.precedence())?;
                self.depth -= 1;
                self.push(Node::Single(Single::Negate, inner))
            }
            TokenKind::Operator(Operation::Add) if self.whole && self.at == 0 => {
                self.at += 1;
                self.operand()
            }
            TokenKind::Number(number) => {
                self.at += 1;
                let node = self.push(Node::Number(number.value))?;
                if !self.is_exponent()
                    && let Some(product) = self.glued_factor(node)
                {
                    return Some(product);
                }
                self.skip_unit()?;
                Some(node)
            }
            TokenKind::Percent(number) => {
                self.at += 1;
                self.push(Node::Percent(number.value))
            }
            TokenKind::Name(name) => {
                self.at += 1;
                self.push(Node::Name(name))
            }
            TokenKind::Open => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.close()?;
                Some(inner)
            }
            TokenKind::Word => self.function().or_else(|| self.symbol()),
            _ => None,
        }
    }

    fn close(&mut self) -> Option<()> {
        (self.kind(0)? == TokenKind::Close).then(|| self.at += 1)?;
        if self.units { self.skip_unit() } else { Some(()) }
    }

    /// `2k` and `2(a + b)`: a factor without a sign.
    fn glued_factor(&mut self, left: u16) -> Option<u16> {
        let next = self.list.get(self.at).filter(|next| !next.spaced)?;
        let (at, nodes) = (self.at, self.nodes.len());
        let right = match next.kind {
            // `2(3)^4` is twice a power.
            // Half of a sum, or divided by twice the sum: `1/2(8 + 4)`.
            TokenKind::Open if !self.whole && self.is_behind_division() => return None,
            TokenKind::Name(_) | TokenKind::Open => self.expression(Operation::Power.precedence()),
            TokenKind::Word => self.symbol(),
            _ => return None,
        };
        let Some(right) = right else {
            self.at = at;
            self.nodes.truncate(nodes);
            return None;
        };
        self.strong += 1;
        self.push(Node::Pair(Operation::Multiply, left, right))
    }

    /// Skips a unit between a number and the next operator: `60 dollars * 8`. A number that runs on without a
    /// blank is none.
    fn skip_unit(&mut self) -> Option<()> {
        let is_known = |word: &str| word.len() > 1 && unit(word.to_lowercase().as_bytes()).is_some();
        self.skip_rate();
        let glued = self.list.get(self.at).is_some_and(|next| next.kind == TokenKind::Word && !next.spaced);
        let is_of = self.word() == Some("of");
        let mut words = self.list.iter().skip(self.at).take_while(|token| token.kind == TokenKind::Word).count();
        let is_power = words > 0 && self.kind(words) == Some(TokenKind::Operator(Operation::Power));
        if is_power && matches!(self.kind(words + 1), Some(TokenKind::Number(_))) {
            // "m^2" is one unit; a power of anything else is no unit.
            let last = self.list.get(self.at + words - 1).and_then(|token| self.text.get(token.start..token.end));
            last.filter(|word| is_known(word) || worked::SHORT_UNITS.contains(word))?;
            words += 2;
        }
        let after = self.kind(words);
        let goes_on = matches!(after, Some(TokenKind::Operator(_) | TokenKind::Close | TokenKind::Equals));
        let unit = |token: &Lexeme| !worked::is_verb(&self.text[token.start..token.end]);
        let units = !self.units || self.list.iter().skip(self.at).take(words).all(unit);
        if words > 0 && words <= MAX_UNIT_WORDS + 2 * usize::from(is_power) && (goes_on || is_power) && !is_of && units
        {
            self.at += words;
            return Some(());
        }
        (!glued || self.whole || self.units || self.word().is_some_and(is_known)).then_some(())
    }

    /// `/week` behind a number: so much a week.
    fn skip_rate(&mut self) {
        if self.units && self.kind(0) == Some(TokenKind::Open) {
            self.skip_aside();
        }
        let slash = |at: usize| self.kind(at) == Some(TokenKind::Operator(Operation::Divide));
        let word = |at: usize| self.kind(at) == Some(TokenKind::Word);
        if self.units && slash(0) && word(1) {
            self.at += 2;
        } else if self.units && word(0) && slash(1) && word(2) {
            self.at += 3;
        }
    }

    /// `(total cookies)` behind a number: what it counts.
    fn skip_aside(&mut self) {
        let words = self.list.iter().skip(self.at + 1).take_while(|token| token.kind == TokenKind::Word).count();
        let spaced = self.list.get(self.at).is_some_and(|open| open.spaced);
        if spaced && words > 0 && self.kind(words + 1) == Some(TokenKind::Close) {
            self.at += words + 2;
        }
    }

    fn function(&mut self) -> Option<u16> {
        let function = function(self.text, self.list.get(self.at)?)?;
        self.list.get(self.at + 1).filter(|next| next.kind == TokenKind::Open && !next.spaced)?;
        self.at += 2;
        let mut value = self.expression(0)?;
        match function {
            Function::Single(single) => value = self.push(Node::Single(single, value))?,
            Function::Round if self.kind(0)? == TokenKind::Comma => {
                (matches!(self.kind(1)?, TokenKind::Number(_))).then(|| self.at += 2)?;
            }
            Function::Round => value = self.push(Node::Single(Single::Round, value))?,
            Function::Fold(operation) => {
                while self.kind(0)? == TokenKind::Comma {
                    self.at += 1;
                    let next = self.expression(0)?;
                    value = self.push(Node::Pair(operation, value, next))?;
                }
            }
        }
        self.strong += 1;
        self.close()?;
        Some(value)
    }

    fn symbol(&mut self) -> Option<u16> {
        let token = self.list.get(self.at).filter(|_| self.whole)?;
        let word = self.text.get(token.start..token.end)?;
        let named = self.words || word.len() == 1 || word.contains('_');
        if !named {
            return None;
        }
        let (start, end) = (token.start as u32, token.end as u32);
        self.at += 1;
        self.push(Node::Symbol(start, end))
    }
}

#[cfg(test)]
mod tests;
