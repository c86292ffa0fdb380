//! Dates: day, month and year against those that the cited lines write.

use super::{Claimed, place_word};
use crate::answer::date::{Date, FoundDate, WrittenDate, found};
use crate::answer::wording::part;
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;

/// Compares a date with what its item cites.
pub(super) fn compare(claimed: &mut Claimed<'_>, value: Value<'_>, pointer: Pointer) {
    let Some(iso) = value.get("iso").and_then(Value::string) else { return };
    let Ok(date) = Date::iso(iso.bytes()) else { return };
    seek(claimed, date, pointer.then("iso"));
}

/// Looks for a day in the quotes, and where they name none, in the cited lines.
pub(super) fn seek(claimed: &mut Claimed<'_>, date: Date, at: Pointer) -> bool {
    let evidence = claimed.evidence;
    let first = day_first(evidence.passages().map(|passage| passage.text).chain(evidence.around.iter().copied()));
    let mut others: Vec<String> = Vec::new();
    let mut month_only = false;
    for passages in [&evidence.quotes, &evidence.lines] {
        for passage in passages {
            for one in found(passage.text) {
                if agrees(&one, date, first) && year_stands(&one, date, claimed) {
                    claimed.stands(passage, one.range);
                    return true;
                }
                let is_month = one.meanings.iter().any(|meaning| !meaning.has_day() && meaning.agrees(date));
                month_only |= is_month;
                let words = part(passage.text, one.range.clone());
                if !others.iter().any(|other| other == words) {
                    others.push(words.to_owned());
                }
            }
        }
        if !others.is_empty() {
            break;
        }
    }
    let message = Message::new("The date ").text(format!("{:04}-{:02}-{:02}", date.year, date.month, date.day));
    if month_only && date.day == 1 {
        claimed.note(at, message.text(" has a day that the cited lines do not name."));
        return false;
    }
    let message = message.text(" is not in ").text(place_word(evidence));
    let year = date.year.to_string();
    let is_unread = others.is_empty() && evidence.passages().any(|passage| passage.text.contains(&year));
    match others.as_slice() {
        // A date in words that nobody here reads.
        [] if is_unread => claimed.note(at, message.text(" in a form that could be read.")),
        [one] => claimed.miss(at, message.text(", which say ").quoted(one.as_bytes()).text(".")),
        _ => claimed.miss(at, message.text(".")),
    }
    false
}

/// Tells whether a date that was found can be this day.
pub(super) fn agrees(one: &FoundDate, date: Date, day_first: Option<bool>) -> bool {
    let meanings: &[WrittenDate] = match (one.meanings.as_slice(), day_first) {
        // 03/04/2024: other dates of the document tell which number is the day.
        ([first, _], Some(true)) => std::slice::from_ref(first),
        ([_, second], Some(false)) => std::slice::from_ref(second),
        (all, _) => all,
    };
    meanings.iter().any(|meaning| meaning.has_day() && meaning.agrees(date))
}

/// Tells whether the year of a day stands somewhere around a date without a year; `true` where the date has one.
fn year_stands(one: &FoundDate, date: Date, claimed: &Claimed<'_>) -> bool {
    if one.meanings.iter().any(|meaning| meaning.year().is_some()) {
        return true;
    }
    let evidence = claimed.evidence;
    let texts = || evidence.passages().map(|passage| passage.text).chain(evidence.around.iter().copied());
    let years = texts()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_digit()))
        .filter(|word| word.len() == 4 && matches!(word.as_bytes(), [b'1', b'9', ..] | [b'2', b'0', ..]));
    let mut years = years.peekable();
    years.peek().is_none() || years.any(|year| year.parse() == Ok(date.year))
}

/// Tells whether the day stands first in dates of numbers, where others of the document show it.
pub(super) fn day_first<'t>(texts: impl Iterator<Item = &'t str>) -> Option<bool> {
    let (mut first, mut second) = (false, false);
    for text in texts.filter(|text| text.contains('/') || text.contains('-')) {
        // "(DD/MM/YYYY)", "dates are day/month/year"
        let lower = text.to_lowercase();
        first |= ["dd/mm", "dd-mm", "day/month"].iter().any(|form| lower.contains(form));
        second |= ["mm/dd", "mm-dd", "month/day"].iter().any(|form| lower.contains(form));
        for (at, _) in text.match_indices('/') {
            let before = part(text, ..at);
            let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
            let rest = part(text, at + 1..);
            let Some((next, year)) = rest.split_once('/') else { continue };
            let is_date = (1..=2).contains(&digits)
                && (1..=2).contains(&next.len())
                && year.bytes().take_while(u8::is_ascii_digit).count() >= 2;
            let number = |text: &str| text.parse::<u32>().unwrap_or(0);
            if is_date {
                first |= number(part(before, before.len() - digits..)) > 12;
                second |= number(next) > 12;
            }
        }
    }
    (first != second).then_some(first)
}
