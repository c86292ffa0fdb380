//! Dates: day, month and year against those that the cited lines write.

use super::claim::{Claimed, place_word};
use stepscope_base::json::{Pointer, Value};
use stepscope_base::python::Message;
use stepscope_evidence::date::{Date, FoundDate, WrittenDate, found, may_name};
use stepscope_evidence::wording::part;

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
            let (days, is_plain) = days_of(passage.text);
            for one in days {
                if agrees(&one, date, first) && (!is_plain || year_stands(&one, date, claimed)) {
                    claimed.stands(passage, if is_plain { one.range } else { 0..passage.text.len() });
                    return true;
                }
                let is_month = one.meanings.iter().any(|meaning| !meaning.has_day() && meaning.agrees(date));
                month_only |= is_month;
                let words = if is_plain { part(passage.text, one.range.clone()) } else { passage.text.trim() };
                if !others.iter().any(|other| other == words) {
                    others.push(words.to_owned());
                }
            }
        }
        if !others.is_empty() {
            break;
        }
    }
    let is_unread = others.is_empty() && evidence.passages().any(|passage| has_numerals(passage.text));
    if is_unread
        || ((others.is_empty() || month_only) && evidence.passages().any(|passage| may_name(passage.text, date)))
    {
        claimed.leave_open();
        return false;
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

/// Tells whether a text writes numbers in Chinese numerals, which nobody here reads: two or more beside each other, or one
/// before a word for year, month or day.
pub(super) fn has_numerals(text: &str) -> bool {
    const NUMERALS: &str = "〇零一二三四五六七八九十百千壱弐参拾壹贰叁肆伍陆柒捌玖佰仟";
    let letters: Vec<char> = text.chars().collect();
    letters.windows(2).any(|pair| {
        let [first, second] = pair else { return false };
        NUMERALS.contains(*first) && (NUMERALS.contains(*second) || "年月日万萬億亿".contains(*second))
    })
}

/// The dates of a text, and whether they stand there as they are written: else without entities and digits that a scanner took
/// for letters.
fn days_of(text: &str) -> (Vec<FoundDate>, bool) {
    let days = found(text);
    if !days.is_empty() {
        return (days, true);
    }
    let plain = html_escape::decode_html_entities(text);
    let mut out = String::with_capacity(plain.len());
    for word in plain.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let letters = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|end| letters.strip_suffix(end)).unwrap_or(letters);
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, 'l' | 'I' | 'O' | 'o');
        if ordinal.bytes().any(|byte| byte.is_ascii_digit()) && ordinal.len() <= 4 && ordinal.chars().all(is_digit) {
            let digits = ordinal.replace(['l', 'I'], "1").replace(['O', 'o'], "0");
            out.push_str(&digits);
            out.push_str(&word[ordinal.len()..]);
        } else {
            out.push_str(word);
        }
    }
    (found(&out), out == text)
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
    let cited: Vec<u32> = evidence.passages().flat_map(|passage| years(passage.text)).collect();
    let near: Vec<u32> = evidence.around.iter().flat_map(|text| years(text)).collect();
    // The year of the sentence itself tells before those around it.
    let years = if cited.is_empty() { near } else { cited };
    years.is_empty() || years.contains(&date.year)
}

/// The numbers of a text that can be years.
fn years(text: &str) -> impl Iterator<Item = u32> + '_ {
    let words = text.split(|c: char| !c.is_ascii_digit());
    let is_year = |word: &&str| word.len() == 4 && matches!(word.as_bytes(), [b'1', b'9', ..] | [b'2', b'0', ..]);
    words.filter(is_year).filter_map(|word| word.parse().ok())
}

/// Tells whether the day stands first in dates of numbers, where others of the document show it.
pub(crate) fn day_first<'t>(texts: impl Iterator<Item = &'t str>) -> Option<bool> {
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
