//! A calculation as a tree: its operations, their result, and how people write it.

use crate::number::Number;

/// No calculation has more parts.
pub(crate) const MAX_NODES: usize = 200;

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
    pub(super) const fn precedence(self) -> u8 {
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

/// Part of a calculation; what it is made of is named by its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Node {
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
    pub(super) nodes: Vec<Node>,
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
