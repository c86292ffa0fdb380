//! Tokens read as a calculation.

use super::function::{Function, function};
use super::token::{Lexeme, TokenKind};
use super::tree::{MAX_NODES, Node, Operation, Single};
use super::words::{MAX_UNIT_WORDS, SHORT_UNITS, is_verb};
use crate::quantity::unit;

/// No calculation is nested deeper.
pub(crate) const MAX_DEPTH: usize = 24;

/// Tells whether a minus is the hyphen between a number and a word: `a 26-foot wall`.
pub(super) fn is_hyphen(list: &[Lexeme], at: usize) -> bool {
    let is_minus = |token: &Lexeme| token.kind == TokenKind::Operator(Operation::Subtract) && !token.spaced;
    let is_word = |token: &Lexeme| token.kind == TokenKind::Word && !token.spaced && token.end - token.start > 2;
    list.get(at).is_some_and(is_minus) && list.get(at + 1).is_some_and(is_word)
}

/// A calculation that is being read from tokens.
pub(super) struct Parser<'t> {
    pub(super) list: &'t [Lexeme],
    pub(super) at: usize,
    pub(super) text: &'t str,
    /// The text is nothing but a calculation: unknown names are taken as such.
    pub(super) whole: bool,
    /// Any word may be the unknown of an equation.
    pub(super) words: bool,
    /// True if units may be wherever people write them: `240g/5`, `$8/hour * 3`, `(3 + 2) apples`.
    pub(super) units: bool,
    pub(super) nodes: Vec<Node>,
    pub(super) depth: usize,
    /// Operators that can be nothing else.
    pub(super) strong: usize,
    /// Hyphens and slashes between bare numbers: dates, ranges and fractions look like that.
    pub(super) weak: usize,
}

impl<'t> Parser<'t> {
    pub(super) const fn new(list: &'t [Lexeme], at: usize, text: &'t str, whole: bool) -> Self {
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

    pub(super) fn expression(&mut self, least: u8) -> Option<u16> {
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
            last.filter(|word| is_known(word) || SHORT_UNITS.contains(word))?;
            words += 2;
        }
        let after = self.kind(words);
        let goes_on = matches!(after, Some(TokenKind::Operator(_) | TokenKind::Close | TokenKind::Equals));
        let unit = |token: &Lexeme| !is_verb(&self.text[token.start..token.end]);
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
        let function = self.word().and_then(function)?;
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
