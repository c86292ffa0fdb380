//! Calculations on values that are no single number: the sum of a list, the minutes between two times of day.

use super::classes::ReadingClass;
use stepscope_arithmetic::expression::{Expression, Operation, clock, list};
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::prose::lower_words;

/// Plans the calculation that the texts of a step ask for on these values; `inputs` is the number of all that it reads.
/// `named` are the names and descriptions of what it reads.
pub(super) fn plan(
    texts: &[&str; 3],
    named: &[&str],
    values: &[&str],
    inputs: usize,
) -> Option<(Expression, ReadingClass)> {
    match values {
        [one] if inputs == 1 => Some((listed(texts[0], named, &list(one)?)?, ReadingClass::Listed)),
        [from, to] if inputs == 2 => {
            // Where a description is missing nothing tells whose the others are.
            let is_end = |input| named.len().is_multiple_of(2) && is_end(named, input);
            let (from, to) = if is_end(0) && !is_end(1) { (to, from) } else { (from, to) };
            Some((between(texts, named, clock(from)?, clock(to)?)?, ReadingClass::Clock))
        }
        _ => None,
    }
}

/// Tells whether the name or the description of one of two inputs says that it is an end.
fn is_end(named: &[&str], input: usize) -> bool {
    let own = named.iter().skip(input).step_by(2);
    own.into_iter()
        .flat_map(|text| lower_words(text))
        .any(|word| ["end", "finish", "arriv", "clos", "stop"].iter().any(|stem| word.starts_with(stem)))
}

fn has(texts: &[&str], stems: &[&str]) -> bool {
    texts.iter().any(|text| {
        let lower = text.to_lowercase();
        stems.iter().any(|stem| lower.contains(stem))
    })
}

/// Words that change nothing about what is asked of a whole list.
const EMPTY: &[&str] = stepscope_base::list![
    compute calculate find determine get obtain take evaluate work out the a an of all up in from for by and to is are this
    these that its their his her final whole list lists entry entries element elements value values number numbers together
    result
];
/// Words of the operations on lists.
const ASKED: &[&str] = stepscope_base::list![
    average mean largest maximum highest smallest minimum lowest sum total add adding summing count counting many how
];

/// "The total of all scores but the lowest" is no sum of the scores: every other word must be one of the list's own.
fn listed(step: &str, named: &[&str], numbers: &[Number]) -> Option<Expression> {
    let count = || Expression::number(Number::whole(numbers.len() as i64));
    let own: Vec<String> = named.iter().flat_map(|text| lower_words(text)).collect();
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let is_own = |word: &String| own.iter().any(|own| singular(own) == singular(word));
    let is_known = |word: &String| EMPTY.contains(&word.as_str()) || ASKED.contains(&word.as_str()) || is_own(word);
    if !lower_words(step).iter().all(is_known) {
        return None;
    }
    let step = &[step];
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

/// Words that ask for the time between two others, or say nothing.
const BETWEEN: &[&str] = stepscope_base::list![
    compute calculate find determine get obtain take work out the a an of and to is are in by as between from elapsed
    duration difference subtract subtracting spent long how many much time times hours hour minutes minute her his its their
    it start end begin finish until clock total number at with up
];

/// Tells whether every word of the step asks for the time between two others, or is one of the names and descriptions.
fn says_only(texts: &[&str; 3], named: &[&str]) -> bool {
    let own: Vec<String> = named.iter().chain(&texts[1..]).flat_map(|text| lower_words(text)).collect();
    let is_known = |word: &String| BETWEEN.contains(&word.as_str()) || own.contains(word);
    lower_words(texts[0]).iter().all(is_known)
}

/// From one time of day to another, over midnight or noon where it must be.
fn between(texts: &[&str; 3], named: &[&str], from: (i64, bool), to: (i64, bool)) -> Option<Expression> {
    let asked = ["between", "from", "elapsed", "duration", "difference", "subtract", "spent", "long", " - ", " − "];
    if !has(&texts[..1], &asked) || !says_only(texts, named) {
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
        let plan = plan(&[text, "", ""], &["daily_miles", "score", "price"], values, values.len());
        plan.and_then(|(plan, _)| plan.evaluate(|_| None)).map_or_else(|| "nothing".into(), Number::shown)
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
        for other in ["the total of all scores but the lowest", "Count the scores above 5", "Double the sum of scores"]
        {
            assert_eq!(result(other, &["5, 7, 6"]), "nothing", "{other}");
        }
    }

    #[test]
    fn the_end_is_the_end_wherever_it_is_listed() {
        let texts = ["Subtract the start time from the end time in hours.", "", ""];
        let named = ["When it ends", "When it begins", "end_time", "start_time"];
        let (plan, _) = plan(&texts, &named, &["17:00", "13:00"], 2).unwrap();
        assert_eq!(plan.evaluate(|_| None).map(Number::shown).as_deref(), Some("4"));
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
