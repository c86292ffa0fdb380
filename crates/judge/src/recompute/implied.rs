//! Meaning of a step without a recipe, by the names of what it reads and writes: "Determine the weekly earnings" of
//! `hourly_wage` and `hours_per_week`. Only of two inputs, and only where the names leave no choice.

use stepscope_arithmetic::expression::{Expression, Operation};
use stepscope_arithmetic::number::Number;

/// A variable that the step reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'t> {
    /// Its number in the expression that is made.
    pub(super) id: u32,
    pub(super) name: &'t str,
    /// Its recorded value.
    pub(super) value: Number,
}

/// Words for what is not taken away.
const REST: [&str; 10] =
    ["remain", "remains", "remaining", "remainder", "left", "rest", "unused", "unsold", "net", "change"];
/// Words for everything together.
const ALL: [&str; 6] = ["total", "overall", "combined", "altogether", "all", "including"];
/// Words for the frequency of something, each with the unit of time that counts it.
const PERIODS: [(&str, &str); 6] = [
    ("hourly", "hour"),
    ("daily", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("yearly", "year"),
    ("annual", "year"),
];
/// Words in the name of a part of something.
const SHARES: [&str; 6] = ["fraction", "percent", "rate", "share", "portion", "proportion"];
/// Words in the name of what one thing costs or gives.
const PRICES: [&str; 4] = ["price", "wage", "cost", "each"];
/// Words by which a step means something else.
const OTHERWISE: [&str; 10] =
    ["if", "average", "percentage", "mean", "ratio", "round", "rounded", "undo", "reverse", "invert"];

/// Words that name another operation than this one: what they say the names do not know better.
const fn spoken_against(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Add => &["minus", "subtract", "multiply", "times", "divide"],
        Operation::Subtract => &["plus", "add", "multiply", "times", "divide", "divided"],
        _ => &["plus", "minus", "add", "subtract"],
    }
}

/// The calculation that the names leave; `output` is the name of the result, `text` the step.
pub(super) fn plan(output: &str, text: &str, inputs: &[Named<'_>]) -> Option<Expression> {
    let [a, b] = inputs else { return None };
    let (output, text) = (output.to_lowercase(), text.to_lowercase());
    if has(&text, &OTHERWISE) {
        return None;
    }
    let pair = |operation, left, right| pair(operation, left, right).filter(|_| !has(&text, spoken_against(operation)));
    let rest = has(&output, &REST) || has(&text, &REST);
    match (is_share(a), is_share(b)) {
        (true, true) => return None,
        (true, false) => return share_of(a, b, rest),
        (false, true) => return share_of(b, a, rest),
        (false, false) => {}
    }
    if let Some(operation) = by_rate(a, b).or_else(|| by_rate(b, a)) {
        let (rate, count) = if by_rate(a, b).is_some() { (a, b) } else { (b, a) };
        return pair(operation, count, rate);
    }
    if rest {
        return if a.value >= b.value { pair(Operation::Subtract, a, b) } else { pair(Operation::Subtract, b, a) };
    }
    let all = has(&output, &ALL) || has(&text, &ALL);
    (all && alike(a.name, b.name)).then(|| pair(Operation::Add, a, b))?
}

/// Tells whether one of the words occurs in a text or in a name, whole.
fn has(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|own| words.contains(&own))
}

fn pair(operation: Operation, left: &Named<'_>, right: &Named<'_>) -> Option<Expression> {
    Expression::pair(operation, &Expression::name(left.id), &Expression::name(right.id))
}

fn is_share(input: &Named<'_>) -> bool {
    let below = Number::ZERO < input.value && input.value < Number::ONE;
    let percent = input.name.contains("percent") && Number::ONE <= input.value && input.value < Number::whole(100);
    (below && has(input.name, &SHARES)) || percent
}

/// A share of a whole, or what is left of it.
fn share_of(share: &Named<'_>, whole: &Named<'_>, rest: bool) -> Option<Expression> {
    let mut part = Expression::name(share.id);
    if share.value >= Number::ONE {
        part = Expression::pair(Operation::Divide, &part, &Expression::number(Number::whole(100)))?;
    }
    if rest {
        part = Expression::pair(Operation::Subtract, &Expression::number(Number::ONE), &part)?;
    }
    Expression::pair(Operation::Multiply, &Expression::name(whole.id), &part)
}

/// Chooses the operation for a rate and a count: `pages_per_day` times days, pages divided by `pages_per_day`.
fn by_rate(rate: &Named<'_>, count: &Named<'_>) -> Option<Operation> {
    let Some((upper, lower)) = rate.name.split_once("_per_") else {
        let number =
            count.name.starts_with("num_") || count.name.ends_with("_count") || count.name.starts_with("number_");
        let counted = |(often, period): &(&str, &str)| rate.name.contains(often) && count.name.contains(period);
        let period = PERIODS.iter().any(counted) && !PERIODS.iter().any(|(often, _)| count.name.contains(often));
        return ((has(rate.name, &PRICES) && number) || period).then_some(Operation::Multiply);
    };
    let counts =
        |words: &str| words.split('_').any(|word| word.len() > 2 && count.name.contains(word.trim_end_matches('s')));
    match (counts(upper), counts(lower)) {
        (true, false) => Some(Operation::Divide),
        (false, true) => Some(Operation::Multiply),
        _ => None,
    }
}

/// Tells whether two names begin or end with the same word: `total_a` and `total_b`, `food_cost` and `toy_cost`.
fn alike(a: &str, b: &str) -> bool {
    let head = |name: &str| name.split_once('_').map(|(head, _)| head.to_owned());
    let tail = |name: &str| name.rsplit_once('_').map(|(_, tail)| tail.to_owned());
    (head(a).is_some() && head(a) == head(b)) || (tail(a).is_some() && tail(a) == tail(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(output: &str, text: &str, inputs: [(&str, i64, i64); 2]) -> String {
        let mut id = 0;
        let inputs = inputs.map(|(name, upper, lower)| {
            id += 1;
            Named { id: id - 1, name, value: Number::fraction(upper, lower).unwrap() }
        });
        let value = |id: u32| inputs.get(id as usize).map(|input| input.value);
        let plan = plan(output, text, &inputs).and_then(|plan| plan.evaluate(value));
        plan.map_or_else(|| "nothing".into(), Number::shown)
    }

    #[test]
    fn names_that_leave_no_choice() {
        for (output, text, inputs, expected) in [
            ("weekly_pay", "Determine the weekly pay.", [("hourly_wage", 14, 1), ("hours_per_week", 27, 1)], "378"),
            ("eaten", "Find the cabbages eaten.", [("cabbages", 60, 1), ("eaten_fraction", 1, 6)], "10"),
            ("remaining", "Find what remains.", [("cabbages", 60, 1), ("eaten_fraction", 1, 6)], "50"),
            ("tax", "Calculate the sales tax.", [("price", 50, 1), ("tax_percent", 8, 1)], "4"),
            ("final_answer", "Find the cabbages left.", [("eaten", 10, 1), ("cabbages", 60, 1)], "50"),
            ("cost", "Find the cost of the pens.", [("num_pens", 6, 1), ("pen_price", 2, 1)], "12"),
            ("pages", "Find the pages of a week.", [("pages_per_day", 12, 1), ("days", 7, 1)], "84"),
            ("days", "Find the days needed.", [("pages_per_day", 12, 1), ("pages", 84, 1)], "7"),
            ("total_pages", "Find the overall pages.", [("pages_a", 12, 1), ("pages_b", 7, 1)], "19"),
            ("sections", "Find the number of sections.", [("cable", 100, 1), ("length", 25, 1)], "nothing"),
            ("total", "Find the total.", [("weekly_spending", 12, 1), ("num_weeks", 7, 1)], "84"),
            ("mean", "Find the average cost.", [("food_cost", 100, 1), ("toy_cost", 25, 1)], "nothing"),
        ] {
            assert_eq!(result(output, text, inputs), expected, "{text}");
        }
    }
}
