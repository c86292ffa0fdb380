//! Calculations on values that are no single number: the sum of a list, the minutes between two times of day.

use crate::arithmetic::expression::{Expression, Operation, clock, list};
use crate::arithmetic::number::Number;

/// Plans the calculation that the texts of a step ask for on these values; `inputs` is the number of all that it reads.
pub(super) fn plan(texts: &[&str; 3], values: &[&str], inputs: usize) -> Option<Expression> {
    match values {
        [one] if inputs == 1 => listed(texts, &list(one)?),
        [from, to] if inputs == 2 => between(texts, clock(from)?, clock(to)?),
        _ => None,
    }
}

fn has(texts: &[&str], stems: &[&str]) -> bool {
    texts.iter().any(|text| {
        let lower = text.to_lowercase();
        stems.iter().any(|stem| lower.contains(stem))
    })
}

fn listed(texts: &[&str; 3], numbers: &[Number]) -> Option<Expression> {
    let [step, ..] = texts;
    let step = &[*step];
    let count = || Expression::number(Number::whole(numbers.len() as i64));
    if has(step, &["subtract", "multipl", "remain", "half", "twice", "percent", "except", "if ", "first"]) {
        return None;
    }
    if has(step, &["average", "mean of"]) {
        return Expression::pair(Operation::Divide, &joined(Operation::Add, numbers)?, &count());
    }
    if has(step, &["largest", "maximum", "highest"]) {
        return joined(Operation::Maximum, numbers);
    }
    if has(step, &["smallest", "minimum", "lowest"]) {
        return joined(Operation::Minimum, numbers);
    }
    if has(step, &["sum", "total", "add "]) {
        return joined(Operation::Add, numbers);
    }
    has(step, &["count", "how many"]).then(count)
}

fn joined(operation: Operation, numbers: &[Number]) -> Option<Expression> {
    Expression::all(operation, numbers.iter().copied().map(Expression::number))
}

/// From one time of day to another, over midnight or noon where it must be.
fn between(texts: &[&str; 3], from: (i64, bool), to: (i64, bool)) -> Option<Expression> {
    let asked = ["between", "from", "elapsed", "duration", "difference", "subtract", "spent", "long"];
    if !has(&texts[..1], &asked) {
        return None;
    }
    let around = if from.1 || to.1 || from.0 >= 13 * 60 || to.0 >= 13 * 60 { 24 * 60 } else { 12 * 60 };
    let end = if to.0 < from.0 { to.0 + around } else { to.0 };
    let minutes = |number| Expression::number(Number::whole(number));
    let difference = Expression::pair(Operation::Subtract, &minutes(end), &minutes(from.0))?;
    match (has(texts, &["minute"]), has(texts, &["hour"])) {
        (true, false) => Some(difference),
        (false, true) => Expression::pair(Operation::Divide, &difference, &minutes(60)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str, values: &[&str]) -> String {
        let plan = plan(&[text, "", ""], values, values.len());
        plan.and_then(|plan| plan.evaluate(|_| None)).map_or_else(|| "nothing".into(), Number::shown)
    }

    #[test]
    fn lists_are_worked_out() {
        assert_eq!(result("Compute the sum of daily_miles.", &["[5, 7, 4, 9]"]), "25");
        assert_eq!(result("Find the average score.", &["145, 160, 132 and 167"]), "151");
        assert_eq!(result("Count the scores.", &["$5, $7"]), "2");
        assert_eq!(result("Find the highest score.", &["5, 7, 6"]), "7");
        assert_eq!(result("Subtract the sum of the prices from the budget.", &["5, 7"]), "nothing");
        assert_eq!(result("Compute the sum.", &["Ann, 7"]), "nothing");
        assert_eq!(result("Compute the sum.", &["1,080"]), "nothing");
    }

    #[test]
    fn times_of_day_are_worked_out() {
        assert_eq!(result("Compute the minutes between start and end.", &["9:40 a.m.", "1:15 p.m."]), "215");
        assert_eq!(result("Compute the hours from start to end.", &["8:30", "17:00"]), "8.5");
        assert_eq!(result("Compute the hours from start to end.", &["10 PM", "6 AM"]), "8");
        assert_eq!(result("Compute the hours from start to end.", &["9:00", "1:30"]), "4.5");
        assert_eq!(result("Add the two.", &["9:00", "1:30"]), "nothing");
        assert_eq!(result("Compute the hours from start to end.", &["2:75", "1:30"]), "nothing");
    }
}
