//! Equations in a text, as people write it down: `5 * 4 = 20`, `60g * 4/5 = 240g/5 = 48`, `10 / 3 ≈ 3.33`, `5 * 4
//! is equal to 20`.
//!
//! A side that has two readings is none: a letter may be an unknown, a number before an operator may be half of it.

use std::ops::Range;

use super::marks;
use super::parser::{Parser, is_hyphen};
use super::token::{Lexeme, Names, TokenKind, is_currency, tokens};
use super::tree::{Expression, Node, Operation, Single};
use crate::number::{Number, Written, near};
use crate::number_words::{NumberWord, number_word};
use crate::quantity::{Dimension, Unit, names_by_number, unit};

/// Maximum number of tokens that are looked through for the beginning of a left side.
const MAX_BEFORE: usize = 60;
/// No equation has more sides.
const MAX_SIDES: usize = 12;

/// Words before a number that make it a part of something else: `times 3 + 2`, `the root of 9 + 7`.
const BOUND: &[&str] = stepscope_base::list![
    times plus minus by over divided multiplied twice thrice double triple quadruple half squared cubed root sqrt log ln
    sin cos tan mod modulo gcd lcm versus vs choose remainder
];
/// Words that join what is on both sides of them: no units.
const JOINTS: &[&str] = stepscope_base::list![
    and or to from with then is are was so but if when where while that which gives equals makes into out as at in on for
    the a an we he she it they this these than because since
];
/// Words that make a part or a power of what follows an `of`.
const PART: &[&str] = stepscope_base::list![
    half third thirds quarter quarters fourth fifth sixth seventh eighth ninth tenth percent percentage fraction root
    square cube power multiple factor multiples factors logarithm product
];
/// Words that say of a result that it is rounded.
const ABOUT: &[&str] = stepscope_base::list![approximately about roughly nearly almost around];
/// Words in a sentence by which an equality in words is asked for, or only thought of.
const OPEN: &[&str] = stepscope_base::list![if whether does do should must would could will not check verify when];
/// Words before a calculation that join it to an operation in words: `the sum of 12 and 3 * 2 equals 18`.
const JOINED: &[&str] = stepscope_base::list![and to from between with by than];
/// Two units that were converted for a rounded result differ from the exact factor by this share.
const ROUNDED_UNITS: f64 = 0.05;
/// Letters that are units, where the equation holds with them; else they are rather unknowns.
const UNIT_LETTERS: &[&str] = stepscope_base::list![g m s h l L];

/// One side of an equation.
#[derive(Clone, Debug)]
pub struct EqualitySide {
    /// Expression on this side.
    pub expression: Expression,
    /// Its number, where it is nothing but one.
    pub written: Option<Written>,
    /// It holds a percentage.
    is_percent: bool,
    /// A single letter in it was taken for a unit.
    has_letter: bool,
    /// The units in it, and of a number the word behind it.
    units: Vec<String>,
    /// The same that are units of measurement.
    measures: Vec<Unit>,
    /// It takes a share of something: `80% of $50`.
    takes_share: bool,
    /// Sign before it.
    sign: Sign,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// Sign between two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    /// Both are equal.
    Equal,
    /// The second one is rounded.
    About,
}

/// Sides that a text says are equal.
#[derive(Clone, Debug)]
pub struct Equality {
    /// The words before the first equals sign, where they are no calculation: `Total cost = 5 * 4`.
    pub named: Option<Range<usize>>,
    /// From left to right.
    pub sides: Vec<EqualitySide>,
}

impl EqualitySide {
    /// Tells whether the side is a calculation, not a number alone.
    pub fn is_calculation(&self) -> bool {
        self.written.is_none() && self.expression.is_operation()
    }

    /// Works out its value: what is written, else what is calculated.
    pub fn value(&self, name: &dyn Fn(u32) -> Option<Number>) -> Option<Number> {
        match self.written {
            Some(written) => Some(written.value),
            None => self.expression.evaluate(name),
        }
    }

    /// Tells whether this side follows from the one before it; `None` where that cannot be decided.
    pub fn follows(&self, before: &Self, name: &dyn Fn(u32) -> Option<Number>) -> Option<bool> {
        if !before.is_calculation() && !self.is_calculation() {
            return None;
        }
        // Letters with values are compared where numbers are put in their place: `A - B = 5 - 3`.
        let is_substitution = before.operations() > 0 && before.operations() == self.operations();
        if self.has_names() || (before.has_names() && !is_substitution) {
            return None;
        }
        let (left, right) = (before.value(name)?, self.value(name)?);
        let written = |side: &Self, value| side.written.unwrap_or(Written { value, decimals: 9 });
        let is_same = |left: Number, right: Number| {
            left.is_near(right)
                || written(self, right).stands_for(left)
                || (self.is_about() && written(self, right).is_about(left))
                || (before.written.is_some() && written(before, left).stands_for(right))
                || self.is_cut(left, right)
        };
        let hundred = Number::whole(100);
        let is_percent = self.is_percent || before.is_percent;
        let same = is_same(left, right)
            || (is_percent && left.times(hundred).is_some_and(|left| is_same(left, right)))
            || (is_percent && left.over(hundred).is_some_and(|left| is_same(left, right)));
        if same {
            return Some(true);
        }
        // An estimate: `2.54 * 3.1 ≈ 2.5 * 3`.
        if self.is_about() && self.is_calculation() {
            return None;
        }
        // "5 + 3 = 8 * 2 = 16": the next calculation begins with the result of the last.
        if self.is_calculation() && !self.simplifies(before) && self.begins_with(left) {
            return None;
        }
        let is_doubtful = self.has_letter
            || before.has_letter
            || self.takes_share
            || before.mixes_units(self)
            || self.may_be_converted(before, left, right);
        (!is_doubtful).then_some(false)
    }

    /// Intermediate results are written with a few decimals: what is worked out of those is off by a little.
    fn is_cut(&self, left: Number, right: Number) -> bool {
        let is_rounded = |side: &Self| side.expression.numbers().iter().any(|number| !number.is_whole());
        let off = (left.float() - right.float()).abs();
        self.is_calculation() && is_rounded(self) && off <= left.float().abs() * 0.005
    }

    fn is_about(&self) -> bool {
        self.sign == Sign::About
    }

    fn operations(&self) -> usize {
        self.expression.nodes.iter().filter(|node| matches!(node, Node::Pair(..))).count()
    }

    fn has_names(&self) -> bool {
        self.expression.nodes.iter().any(|node| matches!(node, Node::Name(_)))
    }

    fn first_operand(&self) -> Option<Number> {
        self.expression.nodes.iter().find_map(|node| match node {
            Node::Number(number) => Some(*number),
            _ => None,
        })
    }

    fn begins_with(&self, result: Number) -> bool {
        let first = self.first_operand();
        first.is_some_and(|value| {
            Written { value, decimals: if value.is_whole() { 0 } else { 2 } }.stands_for(result.magnitude())
        })
    }

    /// Tells whether it only works out a part of the side before it: `(45 + 2) + 1 = 47 + 1`.
    fn simplifies(&self, before: &Self) -> bool {
        let tails = |side: &Self| -> Vec<(Operation, Number)> {
            let number = |at: u16| match side.expression.nodes.get(usize::from(at))? {
                Node::Number(number) => Some(*number),
                Node::Single(Single::Negate, of) => match side.expression.nodes.get(usize::from(*of))? {
                    Node::Number(number) => Some(number.negated()),
                    _ => None,
                },
                _ => None,
            };
            let tail = |node: &Node| match *node {
                Node::Pair(operation, _, right) => Some((operation, number(right)?)),
                _ => None,
            };
            side.expression.nodes.iter().filter_map(tail).collect()
        };
        let known = tails(before);
        let is_shorter = self.operations() < before.operations();
        is_shorter
            && (self.first_operand() == before.first_operand() || tails(self).iter().all(|tail| known.contains(tail)))
    }

    /// `25 cents * 4 = $1`: the numbers differ by a factor between units, and the units are not the same.
    fn may_be_converted(&self, before: &Self, left: Number, right: Number) -> bool {
        let is_shared = !self.units.is_empty() && self.units.iter().all(|unit| before.units.contains(unit));
        let ratio = (left.float() / right.float()).abs();
        let factor = if ratio < 1.0 { 1.0 / ratio } else { ratio };
        let is_between = |unit: &Unit| {
            let ratios = unit.dimension.sizes().iter().map(|size| (size / unit.size).max(unit.size / size));
            let about = |ratio: f64| self.is_about() && (factor - ratio).abs() < ROUNDED_UNITS * factor;
            ratios.filter(|ratio| *ratio > 1.0).any(|ratio| near(factor / ratio, 1.0) || about(ratio))
        };
        !is_shared && self.measures.iter().chain(&before.measures).any(is_between)
    }

    /// Tells whether it adds what is measured in two units, `$3 + 50 cents` or `10 AM + 5 hours`, or counts two things
    /// that the other side gives a price: `3 apples + 2 pears = $7`.
    fn mixes_units(&self, other: &Self) -> bool {
        let adds = |node: &Node| matches!(node, Node::Pair(Operation::Add | Operation::Subtract, ..));
        if !self.expression.nodes.iter().any(adds) {
            return false;
        }
        let differs = |one: &Unit, other: &Unit| one.dimension == other.dimension && one.name != other.name;
        let is_mixed = self.measures.iter().any(|one| self.measures.iter().any(|other| differs(one, other)));
        let is_time = |unit: &String| matches!(unit.as_str(), "am" | "pm");
        let is_money = |unit: &Unit| unit.dimension == Dimension::Money;
        let is_priced = other.measures.iter().any(is_money) && !self.measures.iter().any(is_money);
        let counts_two = self.units.first().is_some_and(|first| self.units.iter().any(|unit| unit != first));
        is_mixed || self.units.iter().chain(&other.units).any(is_time) || (is_priced && counts_two)
    }
}

impl Equality {
    fn is_broken(&self) -> bool {
        self.sides
            .windows(2)
            .any(|pair| matches!(pair, [before, here] if here.follows(before, &|_| None) == Some(false)))
    }

    /// The bytes of its sides.
    fn range(&self) -> Range<usize> {
        let first = self.sides.first().map_or(0, |side| side.range.start);
        first..self.sides.last().map_or(first, |side| side.range.end)
    }
}

/// Every equation of a text, in order. Of numbers whose marks have two readings, that one is meant in which the equation holds;
/// where it holds in none and a point may group, there is none.
pub fn equalities(text: &str, names: &Names) -> Vec<Equality> {
    let has_commas = marks::has_decimal_commas(text);
    if !has_commas && !marks::is_ambiguous(text, true) {
        return read(text, names);
    }
    let swapped = marks::swapped(text);
    let (text, other) = if has_commas { (swapped.as_str(), text) } else { (text, swapped.as_str()) };
    let (mut found, other) = (read(text, names), read(other, names));
    found.retain_mut(|equality| {
        let range = equality.range();
        let own = text.get(range.clone()).unwrap_or(text);
        if !equality.is_broken() {
            return true;
        }
        let meant = other.iter().find(|other| !other.is_broken() && other.range() == range);
        if let Some(meant) = meant {
            *equality = meant.clone();
        }
        meant.is_some() || has_commas || !marks::is_ambiguous(own, false)
    });
    found
}

fn read(text: &str, names: &Names) -> Vec<Equality> {
    let mut found = Vec::new();
    if !(text.contains(['=', '≈']) || text.contains("equal")) || counts_modulo(text) {
        return found;
    }
    let Some(mut list) = tokens(text, names) else { return found };
    // An article is no name: "a" is not A.
    for token in &mut list {
        let TokenKind::Name(id) = token.kind else { continue };
        let spelt = text.get(token.start..token.end);
        if !names.list.iter().any(|(name, of)| *of == id && Some(name.as_str()) == spelt) {
            token.kind = TokenKind::Word;
        }
    }
    let list = with_signs(&list, text);
    let reader = Reader { list: &list, text };
    let (mut at, mut floor) = (0, 0);
    while let Some(token) = list.get(at) {
        if token.kind != TokenKind::Equals {
            at += 1;
            continue;
        }
        let (equality, end) = reader.around(at, floor);
        found.extend(equality);
        (at, floor) = (end, end);
    }
    found
}

/// Tells whether a text calculates with remainders only: "Modulo 10: 8 + 8 = 6", "8 + 8 ≡ 6".
pub(crate) fn counts_modulo(text: &str) -> bool {
    const WORDS: [&str; 5] = ["mod", "modulo", "modulus", "modular", "congruent"];
    let is_said = |word: &str| WORDS.iter().any(|said| word.eq_ignore_ascii_case(said));
    text.contains('≡') || text.split(|c: char| !c.is_alphabetic()).any(is_said)
}

/// The tokens with one equals sign in place of `≈`, ", which equals", "is about equal to" and `= about`.
fn with_signs(list: &[Lexeme], text: &str) -> Vec<Lexeme> {
    let spelt = |at: usize| list.get(at).map_or("", |token| &text[token.start..token.end]);
    let mut signed: Vec<Lexeme> = Vec::with_capacity(list.len());
    // "Check whether 3 * 4 equals 13" says nothing.
    let (mut at, mut is_open) = (0, false);
    while let Some(token) = list.get(at) {
        let word = spelt(at).to_lowercase();
        is_open |= OPEN.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t");
        is_open &= token.kind != TokenKind::Break;
        let len = sign_at(token.kind, at, &spelt).filter(|(_, in_words)| !(*in_words && is_open)).map(|(len, _)| len);
        let last = list.get(at + len.unwrap_or(1) - 1).unwrap_or(token);
        let kind = if len.is_some() { TokenKind::Equals } else { token.kind };
        signed.push(Lexeme { kind, end: last.end, ..*token });
        at += len.unwrap_or(1);
    }
    signed
}

/// Counts the tokens of a sign of equality; `true`: it is in words.
fn sign_at<'t>(kind: TokenKind, start: usize, spelt: &impl Fn(usize) -> &'t str) -> Option<(usize, bool)> {
    let about = |at: usize| usize::from(ABOUT.contains(&spelt(at)));
    if kind == TokenKind::Equals || spelt(start) == "≈" {
        return Some((1 + about(start + 1), false));
    }
    let comma = usize::from(spelt(start) == "," && spelt(start + 1) == "which");
    let from = start + comma + usize::from(spelt(start + comma) == "which");
    let is = usize::from(matches!(spelt(from), "is" | "are"));
    let at = from + is + about(from + is);
    let end = match (is, spelt(at), spelt(at + 1)) {
        (0, "equals", _) => at + 1,
        (1, "equal", "to") => at + 2,
        _ => return None,
    };
    Some((end + about(end) - start, true))
}

struct Reader<'t> {
    list: &'t [Lexeme],
    text: &'t str,
}

impl Reader<'_> {
    /// The equation of an equals sign, and where it ends. Its left side begins at `floor` at the earliest.
    fn around(&self, at: usize, floor: usize) -> (Option<Equality>, usize) {
        let before = &self.list[floor..at];
        let ended = before.iter().rposition(|token| matches!(token.kind, TokenKind::Break | TokenKind::Equals));
        let from = ended.map_or(floor, |ended| floor + ended + 1);
        let left = (from.max(at.saturating_sub(MAX_BEFORE))..at).find_map(|start| self.left(start, at));
        // A number behind a word is often a part of a name, `Day 2 = 5 + 3`, and a letter alone is one; so many of
        // something are what is worked out: `8 batches = 5.5 * 8`.
        let is_label = |side: &EqualitySide, start: usize| {
            let is_bound = |at: usize| matches!(self.kind(at), Some(TokenKind::Word | TokenKind::Comma));
            side.operations() == 0
                && (side.written.is_none() || !side.units.is_empty() || start.checked_sub(1).is_some_and(is_bound))
                && !matches!(side.expression.nodes.as_slice(), [Node::Percent(_)])
        };
        // "A third of 12 and 3 * 2 equals 10"; "4/7 is equal to $24" says what the part is.
        let is_vague = |side: &EqualitySide, start: usize| {
            let is_part = match side.operations() {
                0 => true,
                1 => self.is_tight(start, Operation::Divide),
                _ => false,
            };
            let before = start.checked_sub(1).and_then(|at| self.word(at));
            self.sign(at).contains(char::is_alphabetic)
                && (is_part || before.is_some_and(|word| JOINED.contains(&word)))
        };
        let left =
            left.filter(|(side, start)| !is_label(side, *start) && !is_vague(side, *start)).map(|(side, _)| side);
        let bytes = |from: usize, to: usize| Some(self.list.get(from)?.start..self.list.get(to.checked_sub(1)?)?.end);
        let named = if left.is_none() && from < at { bytes(from, at) } else { None };
        let mut sides: Vec<EqualitySide> = left.into_iter().collect();
        let mut end = at + 1;
        while sides.len() < MAX_SIDES
            && let Some((side, next)) = self.right(end)
        {
            sides.push(side);
            end = next;
            if self.kind(next) != Some(TokenKind::Equals) {
                break;
            }
            end += 1;
        }
        let end = end.max(at + 1);
        ((!sides.is_empty()).then_some(Equality { named, sides }), end)
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.list.get(at).map(|token| token.kind)
    }

    /// The text of an equals sign.
    fn sign(&self, at: usize) -> &str {
        let token = self.list.get(at).filter(|token| token.kind == TokenKind::Equals);
        token.map_or("", |token| &self.text[token.start..token.end])
    }

    fn word(&self, at: usize) -> Option<&str> {
        let token = self.list.get(at).filter(|token| token.kind == TokenKind::Word)?;
        self.text.get(token.start..token.end)
    }

    fn left(&self, start: usize, end: usize) -> Option<(EqualitySide, usize)> {
        if !self.may_begin(start) {
            return None;
        }
        let mut parser = Parser::new(self.list.get(..=end)?, start, self.text, false);
        parser.expression(0)?;
        if parser.at != end {
            return None;
        }
        Some((self.side(parser.nodes, start, end)?, start))
    }

    /// Tells whether a side can begin here, and is not the rest of a longer one.
    fn may_begin(&self, start: usize) -> bool {
        let Some(here) = self.list.get(start) else { return false };
        let Some(at) = start.checked_sub(1) else { return true };
        let Some(before) = self.list.get(at) else { return true };
        let text = &self.text[before.start..before.end];
        match before.kind {
            TokenKind::Word => {
                let word = text.to_ascii_lowercase();
                let is_call = here.kind == TokenKind::Open && !here.spaced;
                // "total - 5 * 2" is half of a calculation, "is -5 * 2" is one.
                let is_unknown = word.len() == 1 && text != "a";
                let is_minus = matches!(here.kind, TokenKind::Operator(_));
                let is_rest = is_minus && self.list.get(start + 1).is_none_or(|next| next.spaced);
                let is_letter = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’');
                let is_plain = word.chars().all(is_letter) && !self.is_sign(at.checked_sub(1));
                let is_bound = match word.as_str() {
                    "of" => self.is_part(at),
                    "by" => self.divides(at),
                    word => BOUND.contains(&word),
                };
                // "Pages 1-20 = 20 * 300", "on day 1 * 2"
                let numbered = names_by_number(word.trim_end_matches('s').as_bytes());
                let is_behind_on = at.checked_sub(1).and_then(|at| self.word(at)) == Some("on");
                let is_named = numbered && (self.is_tight(start, Operation::Subtract) || is_behind_on);
                // `1 and 1/4` is one number.
                let is_mixed =
                    word == "and" && self.is_number(at.checked_sub(1)) && self.is_tight(start, Operation::Divide);
                is_plain && !(is_call || is_unknown || is_rest || is_bound || is_named || is_mixed || self.is_added(at))
            }
            TokenKind::Break if matches!(text, "'" | "’" | "!") && !here.spaced => false,
            TokenKind::Break if self.is_ratio(at) => false,
            // `0.(3)`: digits that repeat.
            TokenKind::Break if text == "." && !here.spaced && here.kind == TokenKind::Open => false,
            TokenKind::Break => {
                text.chars().all(|c| {
                    matches!(c, '\n' | '.' | ':' | ';' | '?' | '!' | '"' | '\'' | '#' | '$' | '<' | '>' | '&' | '…')
                        || matches!(c, '“' | '”' | '‘' | '’' | '•' | '–' | '—' | '→' | '⇒' | '∴' | '≈' | '~')
                }) && !(text == "." && here.spaced && self.is_number(at.checked_sub(1)) && self.is_glued(at))
            }
            TokenKind::Equals | TokenKind::Open | TokenKind::Comma => true,
            TokenKind::Close => self.is_item(at),
            TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Name(_) | TokenKind::Operator(_) => false,
        }
    }

    /// Tells whether a bracket closes the number of a list's item: `1) 5 * 4 = 20`.
    fn is_item(&self, close: usize) -> bool {
        let begins = |at: usize| at.checked_sub(1).is_none_or(|at| self.kind(at) == Some(TokenKind::Break));
        let number = close.checked_sub(1).filter(|at| matches!(self.kind(*at), Some(TokenKind::Number(_))));
        number.is_some_and(|at| {
            let open = at.checked_sub(1).filter(|at| self.kind(*at) == Some(TokenKind::Open));
            begins(at) || open.is_some_and(begins)
        })
    }

    /// Tells whether a `by` divides or multiplies what stands before it: `7 divided by`, `5 by 3`.
    fn divides(&self, by: usize) -> bool {
        let before = by.checked_sub(1);
        let names = |word: &str| ["divid", "multipl"].iter().any(|stem| word.to_lowercase().starts_with(stem));
        self.is_number(before) || before.and_then(|at| self.word(at)).is_some_and(names)
    }

    /// Tells whether two numbers with this operator between them begin here, without blanks.
    fn is_tight(&self, start: usize, operation: Operation) -> bool {
        let is_glued = |at: usize| self.list.get(at).is_some_and(|token| !token.spaced);
        self.kind(start + 1) == Some(TokenKind::Operator(operation))
            && self.is_number(Some(start + 2))
            && is_glued(start + 1)
            && is_glued(start + 2)
    }

    /// Tells whether these words are added to something: `25 classmates + his`.
    fn is_added(&self, last: usize) -> bool {
        let words = (0..=last).rev().take_while(|at| self.kind(*at) == Some(TokenKind::Word)).count();
        let Some(sign) = last.checked_sub(words) else { return false };
        let is_sign = match self.kind(sign) {
            Some(TokenKind::Operator(Operation::Subtract)) => {
                [sign, sign + 1].into_iter().all(|at| self.list.get(at).is_some_and(|token| token.spaced))
            }
            Some(TokenKind::Operator(_)) => true,
            _ => false,
        };
        is_sign && sign.checked_sub(1).is_some_and(|at| !matches!(self.kind(at), Some(TokenKind::Break)))
    }

    /// Tells whether parentheses hold nothing but words: `6 / 2 (apples)`.
    fn is_aside(&self, open: usize) -> bool {
        let inner = self.list.iter().skip(open + 1).take_while(|token| token.kind != TokenKind::Close);
        let is_word = |token: &Lexeme| {
            let text = &self.text[token.start..token.end];
            matches!(token.kind, TokenKind::Word | TokenKind::Comma) && text.chars().count() > 1
        };
        inner.into_iter().all(is_word)
    }

    /// Tells whether a colon stands between two sides of a proportion: `3 * 5 : 5 * 5`.
    fn is_ratio(&self, at: usize) -> bool {
        let is_colon = |token: &Lexeme| self.text.get(token.start..token.end) == Some(":");
        let before = at.checked_sub(1).and_then(|at| self.list.get(at));
        let Some((here, next)) = self.list.get(at).filter(|here| is_colon(here)).zip(self.list.get(at + 1)) else {
            return false;
        };
        let is_operand = |token: &Lexeme, end: TokenKind| {
            matches!(token.kind, TokenKind::Number(_) | TokenKind::Name(_) | TokenKind::Percent(_)) || token.kind == end
        };
        here.spaced == next.spaced
            && before.is_some_and(|before| is_operand(before, TokenKind::Close))
            && is_operand(next, TokenKind::Open)
    }

    /// A full stop glued to digits on both sides ends no sentence.
    fn is_glued(&self, at: usize) -> bool {
        self.list.get(at + 1).is_some_and(|next| !next.spaced)
    }

    /// A sign of mathematics that is not read here.
    fn is_sign(&self, at: Option<usize>) -> bool {
        let token = at.and_then(|at| self.list.get(at)).filter(|token| token.kind == TokenKind::Break);
        token.is_some_and(|token| self.text[token.start..].starts_with(['√', '²', '³', '|']))
    }

    fn is_number(&self, at: Option<usize>) -> bool {
        matches!(at.and_then(|at| self.kind(at)), Some(TokenKind::Number(_) | TokenKind::Percent(_)))
    }

    /// Tells whether an `of` takes a part: `a third of`, `2/3 of`, `20% of`.
    fn is_part(&self, of: usize) -> bool {
        let Some(at) = of.checked_sub(1) else { return false };
        match self.kind(at) {
            Some(TokenKind::Word) => {
                self.word(at).is_some_and(|word| PART.contains(&word.to_ascii_lowercase().as_str()))
            }
            Some(TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Close) => true,
            _ => false,
        }
    }

    fn right(&self, start: usize) -> Option<(EqualitySide, usize)> {
        let mut parser = Parser::new(self.list, start, self.text, false);
        parser.expression(0)?;
        let end = parser.at;
        let next = self.list.get(end);
        let is_half = next.is_some_and(|next| match next.kind {
            TokenKind::Operator(_) if is_hyphen(self.list, end) => false,
            TokenKind::Operator(_) | TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Name(_) => true,
            TokenKind::Open => !next.spaced || !self.is_aside(end),
            TokenKind::Break => {
                let text = &self.text[next.start..];
                // A factorial, a power, the minutes of a time of day, a proportion.
                let after = text.chars().nth(1);
                let is_time = text.starts_with(':') && after.is_some_and(|c| c.is_ascii_digit()) || self.is_ratio(end);
                // `0.` and what repeats without end.
                let is_cut = text.starts_with('.') && after == Some('√');
                self.is_sign(Some(end)) || (!next.spaced && (text.starts_with('!') || is_time || is_cut))
            }
            _ => false,
        });
        if is_half || self.goes_on(end) {
            return None;
        }
        let mut side = self.side(parser.nodes, start, end)?;
        let sign = start.checked_sub(1).map_or("", |at| self.sign(at));
        if sign.contains('≈') || sign.split(' ').any(|word| ABOUT.contains(&word)) {
            side.sign = Sign::About;
        }
        side.units.extend(self.word(end).map(stem));
        side.measures.extend(self.word(end).and_then(measure));
        Some((side, end))
    }

    /// Tells whether the word behind a side changes its number: `3 million`, `1 hour 30 minutes`, `2 remainder 1`.
    fn goes_on(&self, end: usize) -> bool {
        let Some(word) = self.word(end) else { return false };
        let lower = word.to_ascii_lowercase();
        let scales =
            number_word(lower.as_bytes()).is_some_and(|word| word.factor().is_some() || word == NumberWord::Half);
        let is_glued = self.list.get(end).is_some_and(|token| !token.spaced);
        let glued = is_glued && !(Self::is_unit(word) && (word.chars().count() > 2 || is_known(word)));
        let and = usize::from(self.word(end + 1) == Some("and"));
        let has_rest = (end..end + 5).map_while(|at| self.word(at)).any(|word| word.eq_ignore_ascii_case("remainder"));
        let compound = unit(lower.as_bytes()).is_some() && self.is_number(Some(end + 1 + and));
        let ends = matches!(self.kind(end + 1), None | Some(TokenKind::Break | TokenKind::Comma | TokenKind::Close));
        let is_bound = BOUND.contains(&lower.as_str()) && !(lower == "times" && ends);
        scales || glued || compound || has_rest || lower == "r" || is_bound
    }

    /// A side that was parsed, if all its words are units.
    fn side(&self, nodes: Vec<Node>, start: usize, end: usize) -> Option<EqualitySide> {
        let tokens = self.list.get(start..end)?;
        let (mut units, mut measures) = (Vec::new(), Vec::new());
        for (n, token) in tokens.iter().enumerate() {
            let Some(word) = self.text.get(token.start..token.end).filter(|_| token.kind == TokenKind::Word) else {
                continue;
            };
            let lower = word.to_ascii_lowercase();
            let is_function = tokens.get(n + 1).is_some_and(|next| next.kind == TokenKind::Open && !next.spaced);
            let is_joint = matches!(lower.as_str(), "per" | "of");
            if !is_function && !is_joint {
                let is_number = number_word(lower.as_bytes()).is_some_and(|word| {
                    !matches!(word, NumberWord::Each | NumberWord::Period(_) | NumberWord::Ordinal(_))
                });
                let is_glued = n > 0 && !token.spaced && word.chars().count() < 3;
                let is_word_joint = JOINTS.contains(&lower.as_str());
                if is_word_joint
                    || !Self::is_unit(word)
                    || (is_glued && !is_known(word))
                    || is_number
                    || BOUND.contains(&lower.as_str())
                {
                    return None;
                }
                units.push(stem(word));
                measures.extend(measure(word));
            }
        }
        let is_percent = tokens.iter().any(|token| matches!(token.kind, TokenKind::Percent(_)));
        let expression = Expression { nodes };
        let plain = |kind: Option<TokenKind>| match kind {
            Some(TokenKind::Number(written)) => Some(written),
            Some(TokenKind::Percent(written)) => {
                let value = written.value.over(Number::whole(100))?;
                Some(Written { value, decimals: written.decimals + 2 })
            }
            _ => None,
        };
        let written = match expression.nodes.as_slice() {
            [Node::Number(_) | Node::Percent(_)] => plain(
                tokens
                    .iter()
                    .map(|token| token.kind)
                    .find(|kind| matches!(kind, TokenKind::Number(_) | TokenKind::Percent(_))),
            ),
            [Node::Number(_) | Node::Percent(_), Node::Single(Single::Negate, _)] => {
                let mut kinds = tokens.iter().map(|token| token.kind);
                let kind = kinds.find(|kind| matches!(kind, TokenKind::Number(_) | TokenKind::Percent(_)));
                plain(kind).map(|written| Written { value: written.value.negated(), ..written })
            }
            _ => None,
        };
        let range = tokens.first()?.start..tokens.last()?.end;
        let has_letter = tokens.iter().any(|token| token.kind == TokenKind::Word && token.end - token.start == 1);
        let takes_share = (start..end).any(|at| self.word(at) == Some("of"));
        // A sign of money stands before its number, and is no token.
        let has_money = tokens.iter().any(|token| self.text.get(..token.start).is_some_and(ends_in_currency));
        measures.extend(unit(b"dollar").filter(|_| has_money));
        let sign = Sign::Equal;
        Some(EqualitySide { expression, written, is_percent, has_letter, units, measures, takes_share, sign, range })
    }

    /// Tells whether a word can be a unit; a single letter is more likely an unknown.
    fn is_unit(word: &str) -> bool {
        word.chars().all(char::is_alphabetic) && (word.chars().count() > 1 || UNIT_LETTERS.contains(&word))
    }
}

/// Tells whether a short word is a well-known unit.
fn is_known(word: &str) -> bool {
    UNIT_LETTERS.contains(&word) || unit(word.to_ascii_lowercase().as_bytes()).is_some()
}

fn ends_in_currency(text: &str) -> bool {
    text.chars().next_back().is_some_and(is_currency)
}

/// The unit of measurement that a word names.
fn measure(word: &str) -> Option<Unit> {
    unit(word.to_lowercase().as_bytes())
}

/// A word without its plural.
fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Some(unit) = measure(&lower) {
        return unit.name.to_owned();
    }
    lower.strip_suffix("es").or_else(|| lower.strip_suffix('s')).unwrap_or(&lower).to_owned()
}

impl Expression {
    /// With names in place of numbers that have one.
    #[must_use]
    pub fn with_names(&self, name: impl Fn(Number) -> Option<u32>) -> Self {
        let of = |node: &Node| match node {
            Node::Number(number) => name(*number).map_or(*node, Node::Name),
            node => *node,
        };
        Self { nodes: self.nodes.iter().map(of).collect() }
    }

    /// With other names; `None` where one has none.
    pub fn renamed(&self, name: impl Fn(u32) -> Option<u32>) -> Option<Self> {
        let of = |node: &Node| match *node {
            Node::Name(old) => name(old).map(Node::Name),
            node => Some(node),
        };
        Some(Self { nodes: self.nodes.iter().map(of).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each pair of neighbours whether the right side follows.
    fn judged(text: &str) -> Vec<Option<bool>> {
        let mut names = Names::default();
        for (id, name) in ["A", "B"].into_iter().enumerate() {
            names.add(name, id as u32);
        }
        let value = |id: u32| Some(Number::whole([7, -2].into_iter().nth(id as usize)?));
        let all = equalities(text, &names);
        all.iter()
            .flat_map(|one| one.sides.windows(2).map(|pair| pair[1].follows(&pair[0], &value)).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn what_holds_holds_however_it_is_written() {
        for text in [
            "3 * 4 = 12",
            "So it costs $5400 week * 4 weeks = $21,600 in all.",
            "60 - 15 = 35 + 10 flowers",
            "60g * 4/5 = 240g/5 = 48",
            "10 / 3 = 3.33",
            "10 / 3 = 3",
            "20 / 100 = 20%",
            "20 / 80 * 100 = 25%",
            "2(3)^4 = 162",
            "(45 + -2 + -1) = (43 + -1) = 42",
            "A - B = 7 - (-2) = 9",
            "-3^2 + 10 = 1",
            "8 * 3 = 24 days",
            "3 * 60 = 180 minutes",
            "10 / 3 ≈ 3.3",
            "10 / 3 = about 3.33",
            "3 * 8230 ≈ 25,000",
            "1.96 * 51 ≈ 100 people",
            "3.19 * 1 ≈ 3.1",
            "5 * 4 equals 20",
            "5 * 4 is equal to 20 pens",
            "10 / 3 is approximately equal to 3.33",
        ] {
            let judged = judged(text);
            assert!(!judged.is_empty() && judged.iter().all(|holds| *holds == Some(true)), "{text}: {judged:?}");
        }
    }

    #[test]
    fn what_does_not_hold_is_told() {
        for text in [
            "3 * 4 = 13",
            "60 - 15 = 35 flowers",
            "(9 + 27 - 2) = (34 - 2) = 32",
            "(1 - -6 - 6) = (1 - 12) = -11",
            "A - B = 7 - 2 = 5",
            "194 = 11 * 17 + 9",
            "3 apples * 2 = 8 apples",
            "He has written 6*20=1200 books.",
            "8-3 = 15 chocolates",
            "5 cases, so that's 12*5 = $61",
            "It has grown by 3 * 10 = 40",
            "1) 5 * 4 = 27",
            "(2) 5 * 4 = 27",
            "24 - 16 = 10km left",
            "30 + 2 = 35 times.",
            "13 + 12 = 26-foot",
            "2 hours * 3 = 7 hours",
            "10 / 3 ≈ 3.5",
            "3 * 4 ≈ 13",
            "5 * 4 equals 21",
            "The cost of 5 * 4 is equal to 21 dollars",
            "10 / 3 is about equal to 4.2",
        ] {
            assert!(judged(text).contains(&Some(false)), "{text}: {:?}", judged(text));
        }
    }

    #[test]
    fn what_has_two_readings_is_left_alone() {
        for text in [
            "2s + 30 = 110",
            "3x + 5 = 20",
            "x + 5 = 20",
            "5 + 3 = 8 * 2",
            "Day 2 = 5 + 3",
            "f(2) = 3 * 2 + 1",
            "25 cents * 4 = $1",
            "3 * 60 minutes = 3 hours",
            "5 times 3 + 2 = 17",
            "7(49 - 3ab) = 42",
            "the root of 9 + 7 = 10",
            "half of 10 + 4 = 9",
            "total - 5 * 2 = 3",
            "10 / 7 = 1 remainder 3",
            "1 hour = 60 minutes",
            "2 * 3 = 1 hour 30 minutes",
            "60g * 4/5 = 240 / 6",
            "3 + 4 = 7 million",
            "is a 5 * 3 b = 4",
            "2 dozen * 5 = 120",
            "6 * 20 = 5!",
            "(A + B) + (A - B) = 1 + 2",
            "$3 + 50 cents = $3.50",
            "5 feet + 4 inches = 64 inches",
            "1 year - 3 months = 9 months",
            "10 AM + 5 hours = 3 PM",
            "2 / 1/5 = 10",
            "6 km/ 1/30 hour = 180",
            "1/2(8+4) = 6",
            "12 x 1 and 1/4 = 15",
            "8 batches = 5.5 * 8",
            "Pages 1-20 = 20 * 300",
            "3 apples + 2 pears = $7",
            "25 classmates + his 1 teacher + 1 himself = 27 people",
            "100% - 20% = 80% of $50",
            "4 quarters * 25 = $1",
            "$1 / 2 = 50 cents",
            "7 divided by 3 + 2 = 4",
            "2.54 * 3.1 ≈ 2.5 * 3",
            "10 miles / 2 ≈ 8 km",
            "10 plus 3 * 2 equals 16",
            "the sum of 12 and 3 * 2 equals 18",
            "Check whether 3 * 4 equals 13",
            "Since 4/7 is equal to $24, 1/7 is $6",
            "So 1% is equal to 5 / 20",
            "Is 3 * 4 equal to 13?",
            "3 * 4 is not equal to 13",
            "√2 * 3 ≈ 4.24",
            "2π * 3 ≈ 18.85",
        ] {
            assert!(!judged(text).contains(&Some(false)), "{text}: {:?}", judged(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_judged(text in "[ 0-9a-zA-B().,=+*/%$!^<>-]{0,80}") {
            judged(&text);
        }
    }
}
