//! Calculations that a step may have carried out without saying so: its inputs, each used once, joined by the usual
//! operations. From what a step read and wrote they tell how it calculated, and what it would write from other inputs.

use std::cell::OnceCell;
use std::sync::OnceLock;

use stepscope_arithmetic::expression::Operation;
use stepscope_arithmetic::number::Number;

/// Steps with more inputs are only tried as one sum or product.
const MAX_JOINED: usize = 4;
/// Steps with more inputs are not tried.
const MAX_INPUTS: usize = 6;
/// Steps with more inputs are not tried with one number more.
const MAX_EXTENDED: usize = 2;
/// Steps with more inputs are not tried with one of them as a share.
const MAX_SHARED: usize = 3;
/// Factors that people convert and count with.
const FACTORS: [i64; 11] = [2, 3, 4, 7, 10, 12, 24, 52, 60, 100, 1000];

/// Form in which an input goes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Plain,
    /// 20 as 0.2.
    Hundredths,
    /// The rest of the whole without it: 1 − 0.2.
    Without,
    /// The whole and it on top: 1 + 0.2.
    OnTop,
    /// 1 − 20 / 100
    WithoutPercent,
    /// 1 + 20 / 100
    OnTopPercent,
}

impl Form {
    const SHARES: [Self; 5] = [Self::Hundredths, Self::Without, Self::OnTop, Self::WithoutPercent, Self::OnTopPercent];

    fn of(self, value: Number) -> Option<Number> {
        if self == Self::Plain {
            return Some(value);
        }
        let is_share = Number::ZERO < value && value < Number::ONE;
        let is_percent = value > Number::ONE && value < Number::whole(100);
        let hundredths = || value.over(Number::whole(100)).filter(|_| is_percent);
        match self {
            Self::Plain => Some(value),
            Self::Hundredths => hundredths(),
            Self::Without => Number::ONE.minus(value).filter(|_| is_share),
            Self::OnTop => Number::ONE.plus(value).filter(|_| is_share),
            Self::WithoutPercent => Number::ONE.minus(hundredths()?),
            Self::OnTopPercent => Number::ONE.plus(hundredths()?),
        }
    }

    /// The same of a share that was misread: 4 for 0.04.
    fn of_any(self, value: Number) -> Option<Number> {
        match self {
            Self::Without => Number::ONE.minus(value),
            Self::OnTop => Number::ONE.plus(value),
            _ => self.of(value),
        }
    }

    /// The number only where it is no usual share.
    fn of_misread(self, value: Number) -> Option<Number> {
        if self.of(value).is_some() { None } else { self.of_any(value) }
    }

    const fn is_on_top(self) -> bool {
        matches!(self, Self::OnTop | Self::OnTopPercent)
    }

    const fn is_without(self) -> bool {
        matches!(self, Self::Without | Self::WithoutPercent)
    }
}

/// A calculation over the inputs of a step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Recipe {
    /// An input by its position.
    Input(usize, InputForm),
    /// A number of its own.
    Constant(Number),
    /// Two parts joined.
    Pair(Operation, Box<Recipe>, Box<Recipe>),
    /// Rounded up: so many boxes are needed.
    Up(Box<Recipe>),
}

/// The form of an input, known here alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InputForm(Form);

/// An operation, and whether its operands are exchanged.
type TurnedOperation = (Operation, bool);

fn turned<T>((_, is_turned): TurnedOperation, left: T, right: T) -> (T, T) {
    if is_turned { (right, left) } else { (left, right) }
}

/// Operations with the operands in both orders where that matters.
const JOINS: [TurnedOperation; 6] = [
    (Operation::Add, false),
    (Operation::Subtract, false),
    (Operation::Subtract, true),
    (Operation::Multiply, false),
    (Operation::Divide, false),
    (Operation::Divide, true),
];

/// Words and signs that ask for an operation, whatever else is said.
const ASKED: [(Operation, &[&str]); 4] = [
    (Operation::Add, &["add", "sum", "total", "plus", "together", "combine", "altogether", "+"]),
    (
        Operation::Subtract,
        &["subtract", "minus", "difference", "deduct", "take away", "remaining", "left", "reduce", "−", " - "],
    ),
    (Operation::Multiply, &["multipl", "times", "product", "×", "·", "*"]),
    (Operation::Divide, &["divi", "split", "ratio", "quotient", "share", "average", "÷", "/"]),
];

impl Recipe {
    const fn input(at: usize) -> Self {
        Self::Input(at, InputForm(Form::Plain))
    }

    fn pair(join: TurnedOperation, left: &Self, right: &Self) -> Self {
        let (left, right) = turned(join, left, right);
        Self::Pair(join.0, Box::new(left.clone()), Box::new(right.clone()))
    }

    /// The number that it gives.
    pub(crate) fn of(&self, inputs: &[Number]) -> Option<Number> {
        self.by_form(inputs, Form::of_any)
    }

    /// The same, unless a number would go in as a share that is none.
    pub(crate) fn of_usual(&self, inputs: &[Number]) -> Option<Number> {
        self.by_form(inputs, Form::of)
    }

    fn by_form(&self, inputs: &[Number], number: fn(Form, Number) -> Option<Number>) -> Option<Number> {
        match self {
            Self::Input(at, InputForm(form)) => number(*form, *inputs.get(*at)?),
            Self::Constant(number) => Some(*number),
            Self::Pair(operation, left, right) => {
                operation.apply(left.by_form(inputs, number)?, right.by_form(inputs, number)?)
            }
            Self::Up(part) => Some(part.by_form(inputs, number)?.ceil()),
        }
    }

    /// Tells whether a text asks for what it does last, by a word or a sign; `text` is in lower case.
    pub(crate) fn is_asked(&self, text: &str) -> bool {
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        match self {
            Self::Pair(Operation::Multiply, left, right)
                if [left, right].iter().any(|part| part.has(Form::is_on_top)) =>
            {
                says(&["rais", "increas", "grow", "on top", "add", "mark", "plus", "+"])
            }
            Self::Pair(Operation::Multiply, left, right)
                if [left, right].iter().any(|part| part.has(Form::is_without)) =>
            {
                says(&["reduc", "decreas", "lower", "less", " off", "discount", "deduct", "drop", "cut", "−", " - "])
            }
            Self::Pair(Operation::Quotient, ..) => says(&["down", "full", "whole", "complete", "fit"]),
            Self::Pair(Operation::Remainder, ..) => says(&["remainder", "left over", "leftover", "mod", "rest"]),
            Self::Pair(operation, left, right) => {
                let times =
                    |number: i64| [left, right].iter().any(|part| ***part == Self::Constant(Number::whole(number)));
                let is_multiple = match operation {
                    Operation::Multiply => {
                        times(2) && says(&["doubl", "twice"]) || times(3) && says(&["tripl", "thrice"])
                    }
                    Operation::Divide => times(2) && says(&["half", "halv"]),
                    _ => false,
                };
                is_multiple || ASKED.iter().any(|(by, words)| by == operation && says(words))
            }
            Self::Up(_) => says(&[" up", "ceil"]),
            Self::Input(..) | Self::Constant(_) => false,
        }
    }

    fn has(&self, is_form: fn(Form) -> bool) -> bool {
        matches!(self, Self::Input(_, InputForm(form)) if is_form(*form))
    }

    fn with_form(&self, of: usize, form: Form) -> Self {
        match self {
            Self::Input(at, _) if *at == of => Self::Input(of, InputForm(form)),
            Self::Pair(operation, left, right) => {
                Self::Pair(*operation, Box::new(left.with_form(of, form)), Box::new(right.with_form(of, form)))
            }
            other => other.clone(),
        }
    }
}

/// Lists the plain calculations over so many inputs, made once.
fn plain(count: usize) -> &'static [Recipe] {
    static SHAPES: [OnceLock<Vec<Recipe>>; MAX_INPUTS + 1] = [const { OnceLock::new() }; MAX_INPUTS + 1];
    SHAPES.get(count).map_or(&[], |shapes| shapes.get_or_init(|| plain_of(count)))
}

fn plain_of(count: usize) -> Vec<Recipe> {
    let inputs: Vec<Recipe> = (0..count).map(Recipe::input).collect();
    match inputs.as_slice() {
        [] => Vec::new(),
        [one] => vec![one.clone()],
        [a, b] => JOINS.map(|join| Recipe::pair(join, a, b)).into_iter().chain(mean(&inputs)).collect(),
        [a, b, c] => {
            let orders = [(a, b, c), (a, c, b), (b, c, a)];
            let joined = |(a, b, c): (&Recipe, &Recipe, &Recipe)| {
                let inner = JOINS.map(|join| Recipe::pair(join, a, b));
                inner.iter().flat_map(|inner| JOINS.map(|join| Recipe::pair(join, inner, c))).collect::<Vec<_>>()
            };
            orders.into_iter().flat_map(joined).chain(mean(&inputs)).collect()
        }
        [a, b, c, d] => {
            let pairings = [(a, b, c, d), (a, c, b, d), (a, d, b, c)];
            let of_pairs = |(a, b, c, d): (&Recipe, &Recipe, &Recipe, &Recipe)| {
                let inner = JOINS.map(|join| (Recipe::pair(join, a, b), Recipe::pair(join, c, d)));
                inner.iter().flat_map(|(one, two)| JOINS.map(|join| Recipe::pair(join, one, two))).collect::<Vec<_>>()
            };
            let one_apart = (0..MAX_JOINED).flat_map(|at| apart(&inputs, at));
            pairings.into_iter().flat_map(of_pairs).chain(one_apart).chain(mean(&inputs)).collect()
        }
        many => {
            let all = [Operation::Add, Operation::Multiply].into_iter().filter_map(|by| all(by, many));
            all.chain(mean(many)).collect()
        }
    }
}

/// The sum or product of all inputs but one, joined with that one.
fn apart(inputs: &[Recipe], at: usize) -> Vec<Recipe> {
    let others: Vec<Recipe> = inputs.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, one)| one.clone()).collect();
    let Some(one) = inputs.get(at) else { return Vec::new() };
    let joined = [Operation::Add, Operation::Multiply].into_iter().filter_map(|by| all(by, &others));
    joined.flat_map(|joined| JOINS.map(|join| Recipe::pair(join, &joined, one))).collect()
}

fn all(by: Operation, parts: &[Recipe]) -> Option<Recipe> {
    parts.iter().cloned().reduce(|left, right| Recipe::pair((by, false), &left, &right))
}

fn mean(inputs: &[Recipe]) -> Option<Recipe> {
    let count = Recipe::Constant(Number::whole(inputs.len() as i64));
    Some(Recipe::pair((Operation::Divide, false), &all(Operation::Add, inputs)?, &count))
}

/// Lists the calculations with whole results over two inputs, made once: how many times one goes into the other, and what
/// is left.
fn whole(count: usize) -> &'static [Recipe] {
    static SHAPES: OnceLock<Vec<Recipe>> = OnceLock::new();
    if count == 2 { SHAPES.get_or_init(whole_of_two) } else { &[] }
}

fn whole_of_two() -> Vec<Recipe> {
    let (a, b) = (Recipe::input(0), Recipe::input(1));
    let both = |operation| [false, true].map(|is_turned| Recipe::pair((operation, is_turned), &a, &b));
    let up = both(Operation::Divide).map(|ratio| Recipe::Up(Box::new(ratio)));
    both(Operation::Quotient).into_iter().chain(both(Operation::Remainder)).chain(up).collect()
}

/// A calculation that is tried: a recipe is made of the few that fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TriedRecipe {
    /// As it is.
    Plain(&'static Recipe),
    /// Joined with one number more.
    Joined(TurnedOperation, &'static Recipe, Number),
    /// With one input as a share or a percentage.
    Share(&'static Recipe, usize, InputForm),
}

impl TriedRecipe {
    /// The calculation itself.
    pub(crate) fn recipe(self) -> Recipe {
        match self {
            Self::Plain(shape) => shape.clone(),
            Self::Joined(join, shape, number) => Recipe::pair(join, shape, &Recipe::Constant(number)),
            Self::Share(shape, at, InputForm(form)) => shape.with_form(at, form),
        }
    }
}

/// A calculation with what it gives.
pub(crate) type Tried = (Number, TriedRecipe);

/// Inputs of which one goes in as a share: its position, its form and all of them.
type SharedInputs = (usize, Form, Vec<Number>);

/// Calculations over the inputs of a step.
pub(crate) struct TriedRecipes<'i> {
    inputs: &'i [Number],
    /// The plain ones that give anything.
    plain: Vec<(Number, &'static Recipe)>,
}

impl<'i> TriedRecipes<'i> {
    pub(crate) fn of(inputs: &'i [Number]) -> Self {
        Self { inputs, plain: given(plain(inputs.len()), inputs).collect() }
    }

    /// The plain ones.
    pub(crate) fn plain(&self) -> impl Iterator<Item = Tried> {
        self.plain.iter().map(|(value, shape)| (*value, TriedRecipe::Plain(shape)))
    }

    /// Those with whole results over two inputs.
    pub(crate) fn whole(&self) -> impl Iterator<Item = Tried> {
        given(whole(self.inputs.len()), self.inputs).map(|(value, shape)| (value, TriedRecipe::Plain(shape)))
    }

    /// The plain ones joined with each of some numbers.
    pub(crate) fn with_numbers(&self, numbers: &[Number]) -> impl Iterator<Item = Tried> {
        numbers.iter().flat_map(|number| self.joined(&JOINS, *number))
    }

    /// The plain ones converted by a well-known factor.
    fn converted(&self) -> impl Iterator<Item = Tried> {
        const BY: [TurnedOperation; 2] = [(Operation::Multiply, false), (Operation::Divide, false)];
        FACTORS.into_iter().flat_map(|factor| self.joined(&BY, Number::whole(factor)))
    }

    fn joined(&self, joins: &'static [TurnedOperation], number: Number) -> impl Iterator<Item = Tried> {
        let few = self.plain.iter().filter(|_| may_extend(self.inputs.len()));
        few.flat_map(move |&(value, shape)| {
            joins.iter().filter_map(move |&join| {
                let (left, right) = turned(join, value, number);
                Some((join.0.apply(left, right)?, TriedRecipe::Joined(join, shape, number)))
            })
        })
    }

    /// Inputs for those in which one input is a share or a percentage, by the number of each form.
    fn shares(&self, number: fn(Form, Number) -> Option<Number>) -> Vec<SharedInputs> {
        if self.inputs.len() > MAX_SHARED {
            return Vec::new();
        }
        let one = |(at, form): (usize, Form)| {
            let mut inputs = self.inputs.to_vec();
            let input = inputs.get_mut(at)?;
            *input = number(form, *input)?;
            Some((at, form, inputs))
        };
        (0..self.inputs.len()).flat_map(|at| Form::SHARES.map(|form| (at, form))).filter_map(one).collect()
    }

    fn with_shares(&self, shares: &[SharedInputs]) -> impl Iterator<Item = Tried> {
        plain(self.inputs.len()).iter().flat_map(|shape| {
            shares.iter().filter_map(|(at, form, inputs)| {
                Some((shape.of(inputs)?, TriedRecipe::Share(shape, *at, InputForm(*form))))
            })
        })
    }

    /// Finds those of them that give the same number and, if none does, those that give one that it stands for.
    fn fitting_shares(
        &self,
        is_same: &dyn Fn(Number) -> bool,
        stands_for: &dyn Fn(Number) -> bool,
    ) -> (Vec<Recipe>, Vec<Recipe>) {
        let (mut same, mut rounded) = (Vec::new(), Vec::new());
        for (value, attempt) in self.with_shares(&self.shares(Form::of)) {
            if is_same(value) {
                same.push(attempt.recipe());
            } else if same.is_empty() && stands_for(value) {
                rounded.push(attempt.recipe());
            }
        }
        (same, rounded)
    }

    /// Lists those in which one input is a share or a percentage.
    pub(crate) fn with_share(&self) -> Vec<Tried> {
        self.with_shares(&self.shares(Form::of)).collect()
    }
}

/// Tells whether the calculations over so many inputs are tried with a number that the step names.
pub(crate) const fn may_extend(count: usize) -> bool {
    count <= MAX_EXTENDED
}

/// Calculations with what they give, where they give anything.
fn given<'g>(
    shapes: &'static [Recipe],
    inputs: &'g [Number],
) -> impl Iterator<Item = (Number, &'static Recipe)> + use<'g> {
    shapes.iter().filter_map(|shape| Some((shape.of_usual(inputs)?, shape)))
}

/// Finds how a number came out of others, simplest first: all calculations of the first kind that has one that fits.
/// `numbers` are those that the step's text names.
pub(crate) fn fitting(
    inputs: &[Number],
    numbers: &[Number],
    is_same: &dyn Fn(Number) -> bool,
    stands_for: &dyn Fn(Number) -> bool,
) -> Vec<Recipe> {
    let attempts = TriedRecipes::of(inputs);
    let fits = |tried: &mut dyn Iterator<Item = Tried>, is: &dyn Fn(Number) -> bool| {
        tried.filter(|(value, _)| is(*value)).map(|(_, attempt)| attempt.recipe()).collect::<Vec<_>>()
    };
    // They are the most by far, and worked out once for both questions.
    let shared = OnceCell::new();
    let shared = || shared.get_or_init(|| attempts.fitting_shares(is_same, stands_for));
    let searches: [&dyn Fn() -> Vec<Recipe>; 9] = [
        &|| fits(&mut attempts.plain(), is_same),
        &|| fits(&mut attempts.with_numbers(numbers), is_same),
        &|| shared().0.clone(),
        &|| fits(&mut attempts.whole(), is_same),
        &|| fits(&mut attempts.plain(), stands_for),
        &|| fits(&mut attempts.with_numbers(numbers), stands_for),
        &|| fits(&mut attempts.converted(), is_same),
        &|| shared().1.clone(),
        // 850 · (1 + 4) for 850 · (1 + 0.04): a share that was misread.
        &|| fits(&mut attempts.with_shares(&attempts.shares(Form::of_misread)), is_same),
    ];
    searches.into_iter().map(|search| search()).find(|found| !found.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        stepscope_arithmetic::number::Written::parse(text.as_bytes()).unwrap().value
    }

    /// Lists what a step that made the first numbers into the second one makes of the third.
    fn again(read: &[&str], wrote: &str, other: &[&str]) -> Vec<String> {
        let (read, other): (Vec<_>, Vec<_>) =
            (read.iter().map(|text| number(text)).collect(), other.iter().map(|text| number(text)).collect());
        let written = stepscope_arithmetic::number::Written::parse(wrote.as_bytes()).unwrap();
        let found = fitting(&read, &[], &|value| value.is_near(written.value), &|value| written.stands_for(value));
        let mut given: Vec<String> = found.iter().filter_map(|shape| shape.of(&other)).map(Number::shown).collect();
        given.sort_unstable();
        given.dedup();
        given
    }

    #[test]
    fn what_a_step_does_is_told_from_its_values() {
        assert_eq!(again(&["150", "1.1"], "136.36", &["150", "1.2"]), ["125"]);
        assert_eq!(again(&["2", "0.56"], "144", &["2", "1.8"]), ["20"]);
        assert_eq!(again(&["0.35"], "35", &["0.32"]), ["32"]);
        // Rounded up, or what is left of 12: nobody knows which.
        assert_eq!(again(&["137", "12"], "12", &["150", "12"]), ["12", "13"]);
        assert_eq!(again(&["80", "25"], "100", &["40", "25"]), ["50"]);
        assert_eq!(again(&["3", "4", "5"], "35", &["3", "4", "6"]), ["42"]);
        assert!(again(&["105", "3"], "325", &["1", "1"]).is_empty());
    }
}
