//! Days, spans of time and times of day that were worked out, against those that are cited.

use std::ops::Range;

use super::parts::CitedParts;
use stepscope_arithmetic::number::{Number, Written};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date;
use stepscope_evidence::date::Date;
use stepscope_evidence::figures::{Convention, Figure, FigureDimension, FigureMeasure, figures, measure};
use stepscope_evidence::typed::AnswerItem;
use stepscope_evidence::wording::{part, words};

/// Day to which a span leads from the day that is cited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Before,
    After,
}

/// Days and spans of the cited texts.
struct CitedTimes {
    days: Vec<Date>,
    /// Spans, each with its words and direction.
    spans: Vec<(Figure, String, Option<Direction>)>,
    /// Times of day, in minutes.
    clocks: Vec<u32>,
}

/// Compares a number of days, hours or months, or a day, with the dates and times that are cited; says so where it is
/// another.
pub(super) fn differs(parts: &CitedParts, item: &AnswerItem<'_>, question: &str) -> Option<(Message, Pointer)> {
    let (_, value) = item.value.as_ref()?;
    let pointer = item.value_pointer()?;
    let texts = &parts.texts;
    let cited = read(texts, parts.day_first)?;
    if let Some(iso) = value.get("iso").and_then(Value::string) {
        let own = Date::iso(iso.bytes()).ok()?;
        if let ([day], [], true) = (cited.days.as_slice(), cited.spans.as_slice(), texts.len() == 1) {
            // "The second Saturday of May 2024" is worked out already; of a plain day something may be asked.
            let is_told = texts.iter().all(|text| names_nth_weekday(text));
            let message = Message::new("The answer is ").text(iso.bytes().to_vec()).text(", but the cited day is ");
            let message = message.text(format!("{:04}-{:02}-{:02}.", day.year, day.month, day.day));
            return (is_told && own != *day).then(|| (message, pointer.then("iso")));
        }
        let ([from], [(span, shown, direction)]) = (cited.days.as_slice(), cited.spans.as_slice()) else { return None };
        let direction = direction
            .or_else(|| direction_in(&words(question).into_iter().map(|word| word.folded).collect::<Vec<_>>()));
        let fits = moved(*from, span)?
            .into_iter()
            .filter(|(way, _)| direction.is_none_or(|wanted| wanted == *way))
            .any(|(way, end)| {
                // The first day may count along.
                let short = match way {
                    Direction::After => end.ordinal() - own.ordinal(),
                    Direction::Before => own.ordinal() - end.ordinal(),
                };
                (0..=1).contains(&short)
            });
        let message = Message::new("The answer is ").text(iso.bytes().to_vec());
        let message = message.text(", which is not ").text(shown.trim().to_owned()).text(match direction {
            Some(Direction::Before) => " before the cited date.",
            Some(Direction::After) => " after the cited date.",
            None => " from the cited date.",
        });
        return (!fits).then(|| (message, pointer.then("iso")));
    }
    let (number, unit) = time_of(*value)?;
    let at = if value.get("value").is_some() { pointer.then("value") } else { pointer };
    if let ([], [], [from, to]) = (cited.days.as_slice(), cited.spans.as_slice(), cited.clocks.as_slice()) {
        let minutes = (to + 24 * 60 - from) % (24 * 60);
        let own = unit.base(number)?.over(measure("minute")?.base(Number::ONE)?)?.float();
        let message = Message::new("The answer is ").text(number.shown()).text(", but the two cited times are ");
        let apart = if minutes % 60 == 0 {
            message.number((minutes / 60) as usize).text(" hours apart.")
        } else {
            message.number(minutes as usize).text(" minutes apart.")
        };
        let is_time = unit.dimension == FigureDimension::Time;
        return (is_time && (own - f64::from(minutes)).abs() > 1e-9).then_some((apart, at));
    }
    let ([from, to], []) = (cited.days.as_slice(), cited.spans.as_slice()) else { return None };
    let apart = (to.ordinal() - from.ordinal()).abs();
    let months = (i64::from(to.year) - i64::from(from.year)) * 12 + i64::from(to.month) - i64::from(from.month);
    let both_count = texts.iter().map(String::as_str).chain([question]).any(counts_both);
    let fits = match unit.dimension {
        FigureDimension::Time => unit.base(number)?.over(unit_of_day()?).is_some_and(|days| {
            let days = days.float();
            let least = if both_count { 1.0 } else { 0.0 };
            (least..=1.0).contains(&(days - apart as f64)) || (days * 7.0 - apart as f64).abs() < 1e-9
        }),
        _ => (unit.base(number)?.float() - months.abs() as f64).abs() <= 1.0,
    };
    let message = Message::new("The answer is ").text(number.shown());
    let message = if both_count {
        message.text(", but with both cited dates there are ").number(apart as usize + 1).text(" days.")
    } else {
        message.text(", but the two cited dates are ").number(apart as usize).text(" days apart.")
    };
    (!fits).then_some((message, at))
}

/// Tells whether a text names a day of the week in its date, and nothing that counts from it.
fn names_nth_weekday(text: &str) -> bool {
    const DAYS: &str = "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag";
    const MOVES: &str = "before after following same prior vor nach folgenden gleichen from until week weeks";
    let has = |text: &str, list: &str| words(text).iter().any(|word| list.split(' ').any(|known| known == word.folded));
    let is_of_date = date::found(text).iter().any(|day| has(part(text, day.range.clone()), DAYS));
    is_of_date && !has(text, MOVES)
}

/// Tells whether the item counts time between dates, which the cited numbers do not give.
pub(super) fn counts_days(texts: &[String], item: &AnswerItem<'_>) -> bool {
    let is_timed =
        item.value.as_ref().is_some_and(|(_, value)| value.get("iso").is_some() || time_of(*value).is_some());
    let has_time = |text: &String| !date::found(text).is_empty() || !clocks(text).is_empty();
    is_timed && texts.iter().any(has_time)
}

fn counts_both(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "both days included",
        "both dates included",
        "both included",
        "inclusive",
        "beide tage",
        "einschließlich",
        "both days count",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Reads the cited texts; `None` where one counts working days, or a date can be read in two ways.
fn read(texts: &[String], day_first: Option<bool>) -> Option<CitedTimes> {
    const OPEN: &str = "working business werktage werktagen arbeitstage arbeitstagen banking";
    let mut cited = CitedTimes { days: Vec::new(), spans: Vec::new(), clocks: Vec::new() };
    for text in texts {
        if words(text).iter().any(|word| OPEN.split(' ').any(|open| open == word.folded)) {
            return None;
        }
        let found = date::found(text);
        // Every date must be read in one way.
        for one in &found {
            let meaning = match (one.meanings.as_slice(), day_first) {
                ([meaning], _) | ([meaning, _], Some(true)) | ([_, meaning], Some(false)) => meaning,
                _ => return None,
            };
            cited.days.push(meaning.whole()?);
        }
        let free =
            |range: &Range<usize>| found.iter().all(|one| one.range.end <= range.start || range.end <= one.range.start);
        let timed = figures(text, Convention::of([text.as_str()])).into_iter().filter(|figure| free(&figure.range));
        for figure in timed.filter(|figure| figure.measure.is_some_and(is_time)) {
            let shown = part(text, figure.range.clone()).to_owned();
            let behind: Vec<String> =
                words(part(text, figure.range.end..)).into_iter().map(|word| word.folded).collect();
            let direction = direction_in(&behind[..behind.len().min(3)]);
            // "Thirty-six (36) months" is one span.
            let is_again = cited
                .spans
                .last()
                .is_some_and(|(last, ..)| last.measure == figure.measure && last.magnitudes().eq(figure.magnitudes()));
            if !is_again {
                cited.spans.push((figure, shown, direction));
            }
        }
        cited.spans.extend(nth_days(text));
        cited.clocks.extend(clocks(text));
    }
    Some(cited)
}

/// The spans of "the thirtieth day after …".
fn nth_days(text: &str) -> Vec<(Figure, String, Option<Direction>)> {
    const NTH: [(&str, &str); 12] = [
        ("third", "3"),
        ("fifth", "5"),
        ("seventh", "7"),
        ("tenth", "10"),
        ("fourteenth", "14"),
        ("fifteenth", "15"),
        ("twentieth", "20"),
        ("thirtieth", "30"),
        ("fortieth", "40"),
        ("sixtieth", "60"),
        ("ninetieth", "90"),
        ("hundredth", "100"),
    ];
    let own = words(text);
    let spans = own.windows(3).filter_map(|three| {
        let [nth, day, way] = three else { return None };
        let direction =
            direction_in(std::slice::from_ref(&way.folded)).filter(|_| day.folded == "day" && way.folded != "of")?;
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| nth.folded.strip_suffix(end));
        let named = NTH.iter().find(|(name, _)| *name == nth.folded).map(|(_, digits)| *digits);
        let count =
            digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty()).or(named)?;
        let shown = format!("{count} days");
        let figure = figures(&shown, Convention::Unknown).into_iter().next()?;
        Some((figure, shown, Some(direction)))
    });
    spans.collect()
}

fn direction_in(words: &[String]) -> Option<Direction> {
    const BEFORE: &str = "before prior vor avant antes preceding earlier";
    const AFTER: &str = "after from following nach ab seit apres compter desde despues of later";
    words.iter().find_map(|word| {
        if BEFORE.split(' ').any(|known| known == word) {
            Some(Direction::Before)
        } else {
            AFTER.split(' ').any(|known| known == word).then_some(Direction::After)
        }
    })
}

/// The times of day of a text, `08:00`, in minutes.
fn clocks(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
    };
    let read = |at: usize| {
        let (tens, ones) = (digit(at.checked_sub(2)), digit(at.checked_sub(1))?);
        let minutes = digit(Some(at + 1))? * 10 + digit(Some(at + 2))?;
        let hours = tens.unwrap_or(0) * 10 + ones;
        let is_alone = digit(Some(at + 3)).is_none() && bytes.get(at + 3) != Some(&b':');
        (hours <= 24 && minutes < 60 && is_alone).then_some(hours * 60 + minutes)
    };
    text.match_indices(':').filter_map(|(at, _)| read(at)).collect()
}

fn is_time(unit: FigureMeasure) -> bool {
    matches!(unit.dimension, FigureDimension::Time | FigureDimension::Months)
}

/// A day, in the smallest unit of time.
fn unit_of_day() -> Option<Number> {
    measure("day")?.base(Number::ONE)
}

/// The days that lie a span before and behind a day; months may end on the last day.
fn moved(from: Date, span: &Figure) -> Option<Vec<(Direction, Date)>> {
    let unit = span.measure?;
    let values = span.values();
    let [count] = values.as_slice() else { return None };
    let base = unit.base(*count)?;
    let both = |after: Option<Date>, before: Option<Date>| {
        let ways = [(Direction::After, after), (Direction::Before, before)];
        ways.into_iter().filter_map(|(way, day)| Some((way, day?))).collect()
    };
    if unit.dimension == FigureDimension::Months {
        let months = i64::try_from(base.integer()?).ok()?;
        let shifted = |months: i64| {
            let all = i64::from(from.year) * 12 + i64::from(from.month) - 1 + months;
            let (year, month) = (u32::try_from(all.div_euclid(12)).ok()?, u32::try_from(all.rem_euclid(12) + 1).ok()?);
            (28..=31).rev().map(|day| day.min(from.day)).find_map(|day| Date::of(year, month, day))
        };
        return Some(both(shifted(months), shifted(-months)));
    }
    let days = i64::try_from(base.over(unit_of_day()?)?.integer()?).ok()?;
    let shifted = |days: i64| Date::from_ordinal(from.ordinal().checked_add(days)?);
    Some(both(shifted(days), shifted(-days)))
}

/// A number of time and its unit: an amount with a unit, or a text of one figure.
fn time_of(value: Value<'_>) -> Option<(Number, FigureMeasure)> {
    if let Some(number) = value.get("value") {
        let unit = value.get("unit")?.string()?;
        let unit = unit.utf8()?.split(|c: char| !c.is_alphabetic()).find_map(measure)?;
        return Some((Written::of(number)?.value, unit)).filter(|(_, unit)| is_time(*unit));
    }
    let text = value.string()?;
    let text = text.utf8().filter(|text| text.len() <= 80)?;
    let found = figures(text, Convention::Unknown);
    let [figure] = found.as_slice() else { return None };
    Some((*figure.values().first()?, figure.measure.filter(|unit| is_time(*unit))?))
}
