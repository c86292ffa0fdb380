//! Yes and no: a limit that is asked for against the numbers that are cited, and a statement against its line.

use std::ops::Range;

use super::claim::{Claimed, Evidence, Passage, ValueStanding};
use stepscope_arithmetic::number::Number;
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date;
use stepscope_evidence::date::Date;
use stepscope_evidence::figures::{Convention, Figure, FigureDimension, FigureMeasure, FigureRole, figures};
use stepscope_evidence::typed::truth;
use stepscope_evidence::wording::{Stance, akin, denies, is_empty_word, part, stance, words};

/// The degrees that a letter means.
pub(super) fn degrees(letter: &str, has_sign: bool) -> Option<FigureMeasure> {
    let name = match letter {
        "C" | "Celsius" | "celsius" if has_sign || letter.len() > 1 => "C",
        "F" | "Fahrenheit" | "fahrenheit" if has_sign || letter.len() > 1 => "F",
        _ => return None,
    };
    Some(FigureMeasure::degrees(if name == "C" { FigureDimension::Celsius } else { FigureDimension::Fahrenheit }))
}

/// A comparison that a question asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
}

impl Comparison {
    pub(super) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Equal => order.is_eq(),
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::AtLeast => "at least",
            Self::Below => "below",
            Self::AtMost => "at most",
            Self::Equal => "equal to",
        }
    }
}

/// Phrases that compare, the longer before those they contain.
pub(super) const PHRASES: &[(&str, Comparison)] = &[
    ("no less than", Comparison::AtLeast),
    ("not less than", Comparison::AtLeast),
    ("no fewer than", Comparison::AtLeast),
    ("at least", Comparison::AtLeast),
    ("minimum of", Comparison::AtLeast),
    ("or more", Comparison::AtLeast),
    ("on or after", Comparison::AtLeast),
    ("or later", Comparison::AtLeast),
    ("or higher", Comparison::AtLeast),
    ("mindestens", Comparison::AtLeast),
    ("au moins", Comparison::AtLeast),
    ("no more than", Comparison::AtMost),
    ("not more than", Comparison::AtMost),
    ("no later than", Comparison::AtMost),
    ("at most", Comparison::AtMost),
    ("maximum of", Comparison::AtMost),
    ("or less", Comparison::AtMost),
    ("or fewer", Comparison::AtMost),
    ("or lower", Comparison::AtMost),
    ("or earlier", Comparison::AtMost),
    ("on or before", Comparison::AtMost),
    ("höchstens", Comparison::AtMost),
    ("au plus", Comparison::AtMost),
    ("more than", Comparison::Above),
    ("greater than", Comparison::Above),
    ("higher than", Comparison::Above),
    ("larger than", Comparison::Above),
    ("longer than", Comparison::Above),
    ("older than", Comparison::Above),
    ("later than", Comparison::Above),
    ("warmer than", Comparison::Above),
    ("heavier than", Comparison::Above),
    ("in excess of", Comparison::Above),
    ("exceeds", Comparison::Above),
    ("exceeding", Comparison::Above),
    ("exceed", Comparison::Above),
    ("above", Comparison::Above),
    ("over", Comparison::Above),
    ("after", Comparison::Above),
    ("mehr als", Comparison::Above),
    ("höher als", Comparison::Above),
    ("größer als", Comparison::Above),
    ("länger als", Comparison::Above),
    ("über", Comparison::Above),
    ("übersteigt", Comparison::Above),
    ("nach", Comparison::Above),
    ("plus de", Comparison::Above),
    ("supérieur à", Comparison::Above),
    ("supérieure à", Comparison::Above),
    ("dépasse", Comparison::Above),
    ("après", Comparison::Above),
    ("less than", Comparison::Below),
    ("fewer than", Comparison::Below),
    ("lower than", Comparison::Below),
    ("smaller than", Comparison::Below),
    ("shorter than", Comparison::Below),
    ("earlier than", Comparison::Below),
    ("colder than", Comparison::Below),
    ("below", Comparison::Below),
    ("under", Comparison::Below),
    ("before", Comparison::Below),
    ("weniger als", Comparison::Below),
    ("niedriger als", Comparison::Below),
    ("unter", Comparison::Below),
    ("vor", Comparison::Below),
    ("moins de", Comparison::Below),
    ("inférieur à", Comparison::Below),
    ("inférieure à", Comparison::Below),
    ("avant", Comparison::Below),
];

/// Compares a yes or no with what its item cites.
pub(super) fn compare(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    claimed.found.standing = ValueStanding::Unchecked;
    if let Some(answer) = truth(value) {
        judge(claimed, answer, &pointer);
    }
}

/// Compares an answer to a question of yes or no with what its item cites.
pub(super) fn judge(claimed: &mut Claimed<'_>, answer: bool, pointer: &Pointer) {
    if claimed.question.is_empty() {
        return;
    }
    let question = statement_of(claimed.question);
    if super::limits::compare(claimed, question, answer, pointer)
        || super::levels::compare(claimed, question, answer, pointer)
        || threshold(claimed, answer, pointer)
    {
        return;
    }
    let evidence = claimed.evidence;
    let mut said: Option<(bool, String)> = None;
    for passage in if evidence.quotes.is_empty() { &evidence.lines } else { &evidence.quotes } {
        let Some(stance) = stance(question, passage.text).or_else(|| {
            let (agrees, by) = super::statements::said(question, passage)?;
            Some(Stance { agrees, by: Some(by) })
        }) else {
            continue;
        };
        if said.as_ref().is_some_and(|(agrees, _)| *agrees != stance.agrees) {
            return;
        }
        let word = stance.by.clone().map_or("", |range| &passage.text[range]).to_owned();
        said = Some((stance.agrees, word));
        if stance.agrees == answer
            && let Some(range) = stance.by
        {
            claimed.stands(passage, range);
        }
    }
    let Some((agrees, word)) = said else { return };
    if agrees == answer {
        claimed.found.standing = ValueStanding::Stands;
        return;
    }
    let message = Message::new(if answer {
        "The answer is yes, but the cited lines "
    } else {
        "The answer is no, but the cited lines "
    });
    let message = match word.as_str() {
        "" => message.text("say that it is so."),
        word => message.text("say ").quoted(word.as_bytes()).text("."),
    };
    claimed.miss(pointer.clone(), message);
}

/// Words before a day that is asked for.
const ON: &[&str] = stepscope_base::list![on am le el il is was by until ist war est];

/// The question without a second sentence behind it.
fn statement_of(question: &str) -> &str {
    question.split_once('?').map_or(question, |(first, _)| first)
}

/// A quantity that is compared.
#[derive(Clone, Debug)]
enum Measured {
    Figure(Box<Figure>),
    Day(Date),
}

/// The phrases that compare in a text in small letters, with their bytes.
pub(super) fn comparisons(lower: &str) -> Vec<(Comparison, Range<usize>)> {
    let is_boundary =
        |at: usize| !lower.get(at..).and_then(|rest| rest.chars().next()).is_some_and(char::is_alphanumeric);
    let starts =
        |at: usize| !lower.get(..at).and_then(|text| text.chars().next_back()).is_some_and(char::is_alphanumeric);
    let found = PHRASES.iter().filter_map(|(phrase, comparison)| {
        let (at, _) = lower.match_indices(phrase).find(|(at, phrase)| starts(*at) && is_boundary(at + phrase.len()))?;
        Some((*comparison, at..at + phrase.len()))
    });
    found.collect()
}

/// Finds the comparison of a question: its words, and the limit.
fn asked(question: &str, convention: Convention) -> Option<(Comparison, Measured, Range<usize>)> {
    let lower = question.to_lowercase();
    if lower.len() != question.len() {
        return None;
    }
    let own = words(question);
    let phrases = comparisons(&lower);
    // "no more than" holds "more than".
    let phrase = phrases.iter().max_by_key(|(_, range)| range.len()).cloned();
    let is_other = |(_, other): &(Comparison, Range<usize>)| {
        phrase.as_ref().is_some_and(|(_, range)| other.end <= range.start || range.end <= other.start)
    };
    let denials = (0..own.len()).filter(|at| denies(&own, *at)).count();
    if phrases.iter().any(is_other) || denials > 0 {
        return None;
    }
    let days: Vec<(Date, Range<usize>)> = date::found(question)
        .into_iter()
        .filter_map(|one| Some((one.meanings.iter().find_map(date::WrittenDate::whole)?, one.range)))
        .collect();
    let overlaps = |range: &Range<usize>| days.iter().any(|(_, day)| day.start < range.end && range.start < day.end);
    let mut numbers: Vec<Figure> = figures(question, convention)
        .into_iter()
        .filter(|figure| figure.role == FigureRole::Value && !overlaps(&figure.range))
        .collect();
    if numbers.len() > 1 {
        // "The profit of 2023": a year tells of when, not how much.
        let is_year = |figure: &Figure| {
            let years = Number::whole(1900)..Number::whole(2100);
            figure.is_bare()
                && part(question, figure.range.clone()).trim().len() == 4
                && figure.readings.iter().any(|value| years.contains(value))
        };
        numbers.retain(|figure| !is_year(figure));
    }
    // "Is 58 % in the permitted range?" asks for no equality.
    const RANGES: [&str; 8] = ["range", "outside", "permitted", "allowed", "limit", "bereich", "zulässig", "plage"];
    if phrase.is_none() && RANGES.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let (comparison, place) = phrase.unwrap_or((Comparison::Equal, 0..0));
    let is_of_time = matches!(
        lower.get(place.clone()),
        Some(
            "after"
                | "before"
                | "nach"
                | "vor"
                | "après"
                | "avant"
                | "on or after"
                | "on or before"
                | "later than"
                | "earlier than"
        )
    );
    // "The judgment of 8 January" tells which one is meant, and asks for no day.
    let asks_for = |range: &Range<usize>| {
        let before = words(part(question, ..range.start)).pop();
        comparison != Comparison::Equal || before.is_some_and(|word| ON.contains(&word.folded.as_str()))
    };
    match (days.as_slice(), numbers.as_slice()) {
        ([(day, range)], []) if asks_for(range) => Some((comparison, Measured::Day(*day), range.clone())),
        ([], [figure]) if !is_of_time => {
            // "Is it EUR 200?" needs a mark of what is meant, and asks for nothing else.
            let behind = words(part(question, figure.range.end..));
            let ends = behind.iter().all(|word| is_empty_word(&word.folded) || figure.rate.contains(&word.folded));
            let is_told = comparison != Comparison::Equal || (!figure.is_bare() && ends);
            is_told.then(|| (comparison, Measured::Figure(Box::new(figure.clone())), figure.range.clone()))
        }
        _ => None,
    }
}

/// Compares a limit of the question with the cited numbers of its kind; `true`: that decides, or nothing can.
fn threshold(claimed: &mut Claimed<'_>, answer: bool, pointer: &Pointer) -> bool {
    const MODALS: &str = "can may must shall should could might darf muss kann durfen mussen peut doit";
    let evidence = claimed.evidence;
    let question = statement_of(claimed.question);
    let own = Convention::of([question]);
    let convention = if own == Convention::Unknown { evidence.convention } else { own };
    let Some((comparison, limit, range)) = asked(question, convention) else { return false };
    let is_modal = words(question).first().is_some_and(|word| MODALS.split(' ').any(|modal| modal == word.folded));
    if is_modal && matches!(&limit, Measured::Figure(figure) if figure.measure.is_some()) {
        return true;
    }
    let passages = if evidence.quotes.is_empty() { &evidence.lines } else { &evidence.quotes };
    let mut candidates: Vec<CitedQuantity<'_, '_>> = Vec::new();
    let mut other_currency = None;
    for passage in passages {
        collect(&limit, passage, evidence, &mut candidates, &mut other_currency);
    }
    if candidates.is_empty() {
        if let (Some(other), Measured::Figure(figure)) = (other_currency, &limit) {
            let message = Message::new("The question is about ").text(figure.currency[0]);
            let message = message.text(", the cited amount in ").text(other).text(": they are not compared.");
            claimed.note(pointer.clone(), message);
        }
        return true;
    }
    let chosen = narrowed(candidates, question);
    let holds = |candidate: &CitedQuantity<'_, '_>| comparison.holds(candidate.order);
    let Some(first) = chosen.first() else { return true };
    let expected = if comparison == Comparison::Equal {
        let any = chosen.iter().any(holds);
        // "Exceeds 60" is no equal of 80 and says nothing against it, and "before 1 May" says nothing of that day.
        let is_open = chosen.iter().any(|candidate| candidate.is_bound);
        if (!any || chosen.len() == 1) && !is_open { Some(any) } else { None }
    } else {
        let all = chosen.iter().all(|candidate| holds(candidate) == holds(first));
        let is_open = chosen.iter().any(|candidate| candidate.order.is_eq() && candidate.is_bound);
        (all && !is_open).then(|| holds(first))
    };
    let Some(expected) = expected else { return true };
    if expected == answer {
        claimed.stands(first.passage, first.range.clone());
        claimed.found.standing = ValueStanding::Stands;
        return true;
    }
    let said = part(first.passage.text, first.range.clone()).trim();
    let limit = part(question, range).trim();
    let message = Message::new(if answer { "The answer is yes, but " } else { "The answer is no, but " });
    let message =
        message.quoted(said.as_bytes()).text(if expected { " is " } else { " is not " }).text(comparison.words());
    claimed.miss(pointer.clone(), message.text(" ").quoted(limit.as_bytes()).text("."));
    true
}

/// A cited quantity, against the limit.
struct CitedQuantity<'e, 'd> {
    passage: &'e Passage<'d>,
    range: Range<usize>,
    order: std::cmp::Ordering,
    /// Words before it compare too: "at least 30 days".
    is_bound: bool,
}

fn collect<'e, 'd>(
    limit: &Measured,
    passage: &'e Passage<'d>,
    evidence: &Evidence<'_>,
    candidates: &mut Vec<CitedQuantity<'e, 'd>>,
    other_currency: &mut Option<&'static str>,
) {
    let bound = |range: &Range<usize>| {
        let before = part(passage.text, ..range.start);
        let start = before.char_indices().rev().nth(24).map_or(0, |(at, _)| at);
        let near = part(before, start..).to_lowercase();
        PHRASES.iter().any(|(phrase, _)| near.contains(phrase))
            || ["up to", "within", "until", "bis ", "avant", "jusqu", "à partir", "ab dem", "from", "by "]
                .iter()
                .any(|word| near.contains(word))
    };
    let day_first = super::date::day_first(std::iter::once(passage.text).chain(evidence.around.iter().copied()));
    let days = date::found(passage.text);
    match limit {
        Measured::Day(limit) => {
            for one in &days {
                let meaning = match (one.meanings.as_slice(), day_first) {
                    ([_, second], Some(false)) => Some(second),
                    ([first], _) | ([first, _], Some(true)) => Some(first),
                    _ => None,
                };
                let Some(day) = meaning.and_then(date::WrittenDate::whole) else { continue };
                candidates.push(CitedQuantity {
                    passage,
                    range: one.range.clone(),
                    order: day.cmp(limit),
                    is_bound: bound(&one.range),
                });
            }
        }
        Measured::Figure(limit) => {
            let overlaps = |range: &Range<usize>| {
                days.iter().any(|day| {
                    day.meanings.iter().any(date::WrittenDate::has_day)
                        && day.range.start < range.end
                        && range.start < day.range.end
                })
            };
            for figure in evidence
                .figures(passage)
                .iter()
                .filter(|figure| figure.role == FigureRole::Value && !overlaps(&figure.range))
            {
                if limit.is_money()
                    && figure.is_money()
                    && !limit.currency.iter().any(|code| figure.currency.contains(code))
                {
                    *other_currency = figure.currency.first().copied();
                    continue;
                }
                let Some(order) = order_of(figure, limit, evidence, passage) else { continue };
                candidates.push(CitedQuantity {
                    passage,
                    range: figure.range.clone(),
                    order,
                    is_bound: bound(&figure.range),
                });
            }
        }
    }
}

/// Orders a cited figure and a limit of its kind.
fn order_of(
    figure: &Figure,
    limit: &Figure,
    evidence: &Evidence<'_>,
    passage: &Passage<'_>,
) -> Option<std::cmp::Ordering> {
    let one = |figure: &Figure| {
        let values = figure.values();
        match values.as_slice() {
            [value] => Some(*value),
            _ => None,
        }
    };
    let (value, wanted) = (one(figure)?, one(limit)?);
    if let (Some(a), Some(b)) = (figure.measure, limit.measure) {
        let celsius = |value: Number, unit: FigureMeasure| match unit.dimension {
            FigureDimension::Fahrenheit => value.plus(Number::whole(-32))?.times(Number::fraction(5, 9)?),
            _ => Some(value),
        };
        let are_degrees =
            |unit: FigureMeasure| matches!(unit.dimension, FigureDimension::Celsius | FigureDimension::Fahrenheit);
        if are_degrees(a) && are_degrees(b) {
            return Some(celsius(value, a)?.cmp(&celsius(wanted, b)?));
        }
        return (a.dimension == b.dimension).then(|| Some(a.base(value)?.cmp(&b.base(wanted)?)))?;
    }
    if figure.percent || limit.percent {
        return (figure.percent && limit.percent).then(|| value.cmp(&wanted));
    }
    if limit.is_money() && figure.is_money() {
        return Some(value.cmp(&wanted));
    }
    let is_year = figure.scale.is_none()
        && value.is_whole()
        && figure.decimals == 0
        && passage.text.get(figure.range.clone()).is_some_and(|text| text.len() == 4)
        && (Number::whole(1900)..Number::whole(2100)).contains(&value);
    if figure.measure.is_some()
        || limit.measure.is_some()
        || is_year
        || figure.is_money() != limit.is_money() && figure.noun.is_some()
    {
        return None;
    }
    if limit.is_money() {
        let header = if figure.scale.is_none() { evidence.header_scale() } else { None };
        return Some(value.times(Number::whole(header.unwrap_or(1)))?.cmp(&wanted));
    }
    (!figure.is_money()).then(|| value.cmp(&wanted))
}

/// The candidates in the lines that share the most words with the question.
fn narrowed<'e, 'd>(candidates: Vec<CitedQuantity<'e, 'd>>, question: &str) -> Vec<CitedQuantity<'e, 'd>> {
    let wanted = words(question);
    let shared = |candidate: &CitedQuantity<'_, '_>| {
        let text = candidate.passage.text;
        let start =
            text.get(..candidate.range.start).and_then(|before| before.rfind(['\n', ';'])).map_or(0, |at| at + 1);
        let end = text
            .get(candidate.range.end..)
            .and_then(|rest| rest.find(['\n', ';']))
            .map_or(text.len(), |at| candidate.range.end + at);
        let own = words(part(text, start..end));
        wanted
            .iter()
            .filter(|word| {
                !is_empty_word(&word.folded)
                    && !word.has_digit()
                    && own.iter().any(|other| akin(&word.folded, &other.folded))
            })
            .count()
    };
    let counts: Vec<usize> = candidates.iter().map(shared).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    candidates.into_iter().zip(counts).filter(|(_, count)| *count == most).map(|(candidate, _)| candidate).collect()
}
