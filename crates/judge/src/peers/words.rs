//! Sentences about a run and its peers: nothing that does not stand in them.

use super::circle::Circle;
use super::departure::{Departure, DepartureKind, is_same};
use crate::gold::Gold;
use crate::peer::opinion::{PeerAnswer, PeerOpinion};
use crate::peer::track::Way;
use crate::recompute::{Computed, value_pointer};
use stepscope_arithmetic::number::Number;
use stepscope_base::json::Pointer;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::{Finding, Place};
use stepscope_record::procedure::Procedure;
use stepscope_record::rule_id::RuleId;

/// Maximum number of peers that are named.
const NAMED: usize = 3;
/// Maximum number of answers that are told.
const TOLD: usize = 3;

/// Says that the run leaves its peers, and where.
pub(super) fn against(circle: &Circle<'_, '_>, opinion: &PeerOpinion, at: Option<&Departure>) -> Finding {
    let step = opinion.step;
    let place = step.map_or_else(question, |step| place_in(circle, step, at));
    let text = match (at, step) {
        (Some(at), _) => shown!("{} {}", departs(circle, opinion, at), answers(circle, opinion)),
        (None, Some(step)) => shown!(
            "{} With another value in step {} the run gives what they answer.",
            answers(circle, opinion),
            step + 1
        ),
        (None, None) => answers(circle, opinion),
    };
    finding(text, place)
}

/// Says what peers answer in place of a run that has no steps.
pub(super) fn answers_alone(circle: &Circle<'_, '_>, opinion: &PeerOpinion) -> Finding {
    finding(answers(circle, opinion), question())
}

/// Says that peers differ among themselves, or cannot be trusted.
pub(super) fn split(circle: &Circle<'_, '_>, opinion: &PeerOpinion) -> Finding {
    let why = match opinion.answers.len() {
        _ if !opinion.answers.iter().any(PeerAnswer::is_trusted) => {
            "Nothing follows: each of them is doubtful by itself."
        }
        1 => "That alone does not tell which of them is right.",
        _ => "They differ among themselves, so nothing follows.",
    };
    finding(shown!("{} {why}", answers(circle, opinion)), question())
}

/// Says that all peers give another answer than the expected one.
pub(super) fn expected(circle: &Circle<'_, '_>, opinion: &PeerOpinion, other: &PeerAnswer, gold: &Gold) -> Finding {
    let pointer = Pointer::from_iter([if gold.from_text { "gold_answer" } else { "gold_num" }]);
    let run = match circle.track.answer {
        Some(own) if is_same(own.float(), other.value.float()) => " So does the run.",
        _ => "",
    };
    let text = shown!(
        "{} of {} {} {} {}, none the expected {}.{run} The expected answer may be wrong.",
        other.count(),
        peers(opinion.of),
        names(other),
        if other.count() == 1 { "answers" } else { "answer" },
        other.value.shown(),
        gold.value.shown()
    );
    Finding::new(RuleId::Peers, text.into_string(), Place::Value(pointer))
        .help("Work the question out, and correct the expected answer.")
}

fn finding(text: Shown, place: Place) -> Finding {
    Finding::new(RuleId::Peers, text.into_string(), place)
        .help("Compare the step with the same of its peers: they are no proof, and may be wrong together.")
}

fn question() -> Place {
    Place::Value(Pointer::from_iter(["question"]))
}

/// `3 peers`
fn peers(count: usize) -> Shown {
    if count == 1 { Shown::own("1 peer") } else { shown!("{count} peers") }
}

/// `(gpt4.jsonl:12, llama.jsonl:40)`
fn names(answer: &PeerAnswer) -> Shown {
    let more = answer.names.len().saturating_sub(NAMED);
    let list: Vec<&str> = answer.names.iter().take(NAMED).map(Shown::as_str).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown!("({}{more})", list.join(", "))
}

/// `Step 3 gives 54, which none of 3 peers has.`
fn departs(circle: &Circle<'_, '_>, opinion: &PeerOpinion, at: &Departure) -> Shown {
    let (step, of) = (at.step + 1, opinion.of);
    let none = |what: &str| match of {
        1 => shown!("its peer does not {what}"),
        _ => shown!("none of its {of} peers does"),
    };
    match &at.kind {
        DepartureKind::NewNumber(number, way) => match way.as_ref().and_then(|way| instead(circle, way, *number)) {
            Some((count, value)) => shown!(
                "Step {step} gives {}{}; {count} of {} {} {} from the same numbers.",
                number.shown(),
                as_formula(way.as_ref()),
                peers(of),
                if count == 1 { "gives" } else { "give" },
                shown_float(value)
            ),
            None if of == 1 => shown!("Step {step} gives {}, which its peer does not have.", number.shown()),
            None => shown!("Step {step} gives {}, which none of its {of} peers has.", number.shown()),
        },
        DepartureKind::WorkedOut(number, way) => {
            shown!("Step {step} works out {}{}; {}.", number.shown(), as_formula(Some(way)), none("work that out"))
        }
        DepartureKind::OtherWay(number, way) => shown!(
            "Step {step} works out {}{}; {} {} of {}, from other numbers.",
            number.shown(),
            as_formula(Some(way)),
            if of == 1 { "its peer has it, 1" } else { "they have it," },
            circle.count_with(number.float()),
            of
        ),
        DepartureKind::Variable(one) => shown!(
            "Step {step} gives {} = {}; {} of {} have {}.",
            one.name.line(),
            one.wrote.shown(),
            one.count,
            peers(of),
            one.instead.shown()
        ),
        DepartureKind::Slip => shown!("Step {step} differs from its own calculation."),
        DepartureKind::Answer => match circle.track.answer {
            Some(answer) => shown!("Step {step} gives the answer, {}; its peers end with another.", answer.shown()),
            None => shown!("Step {step} ends the run; its peers end with another answer."),
        },
    }
}

/// ` as 3 + 4`
fn as_formula(way: Option<&Way>) -> Shown {
    match way.and_then(|way| way.formula.as_ref()) {
        Some(formula) => shown!(" as {formula}"),
        None => Shown::default(),
    }
}

/// The result that most peers work out in place of a calculation, and how many do.
fn instead(circle: &Circle<'_, '_>, way: &Way, own: Number) -> Option<(usize, f64)> {
    let values = circle.in_place_of(way, own);
    let count = |value: f64| values.iter().filter(|other| is_same(**other, value)).count();
    values.iter().map(|value| (count(*value), *value)).max_by_key(|(count, _)| *count)
}

fn shown_float(value: f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    rounded.to_string()
}

/// `The run answers 54; of its 3 peers 2 (a.jsonl:1, b.jsonl:1) answer 45 and 1 (c.jsonl:1) answers 46.`
fn answers(circle: &Circle<'_, '_>, opinion: &PeerOpinion) -> Shown {
    let own = circle.track.answer.map_or_else(|| "no number".to_owned(), Number::shown);
    let told: Vec<String> = opinion
        .answers
        .iter()
        .take(TOLD)
        .map(|answer| {
            let verb = if answer.count() == 1 { "answers" } else { "answer" };
            shown!("{} {} {verb} {}", answer.count(), names(answer), answer.value.shown()).into_string()
        })
        .collect();
    let rest: usize = opinion.answers.iter().skip(TOLD).map(PeerAnswer::count).sum();
    let rest = if rest > 0 { format!(", {rest} something else") } else { String::new() };
    shown!("The run answers {own}; of its {} {}{rest}.", peers(opinion.of), told.join(", "))
}

/// The value that the step gives, else the step.
fn place_in(circle: &Circle<'_, '_>, step: usize, at: Option<&Departure>) -> Place {
    let case = circle.case;
    let Some(record) = case.record.as_ref() else { return question() };
    let number = at.and_then(|at| match &at.kind {
        DepartureKind::NewNumber(number, _)
        | DepartureKind::WorkedOut(number, _)
        | DepartureKind::OtherWay(number, _) => Some(*number),
        DepartureKind::Variable(one) => Some(one.wrote),
        DepartureKind::Slip | DepartureKind::Answer => None,
    });
    let value = || {
        let executed = case.executed()?;
        let is_it = |write: &&Computed| {
            write.step == step
                && number.is_none_or(|number| write.wrote().is_some_and(|wrote| is_same(wrote.float(), number.float())))
        };
        value_pointer(record, case.state(), executed.writes.iter().find(is_it)?)
    };
    Place::Value(value().unwrap_or_else(|| Procedure::step_pointer(&record.procedure_pointer, step)))
}
