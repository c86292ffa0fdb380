//! Values in other dress than a plain number: `840 pages/hour`, `half`, `about 12`, `[5, 7, 4]`, `9:40 a.m.`.

use super::reading::{Reading, reading};
use super::token::Names;
use super::words::may_be_unit;
use crate::number::{Number, Written};
use crate::number_words::number_word;

/// Longer texts are prose.
const MAX_TEXT: usize = 60;
/// Maximum number of numbers that are taken from a list.
const MAX_LIST: usize = 60;
/// Words that say that a number is not exact.
const ABOUT: [&str; 6] = ["approximately ", "about ", "roughly ", "around ", "~", "≈"];

/// A number with a rate or a phrase behind it, or a number word alone.
pub(super) fn measure(text: &str) -> Option<Written> {
    let text = text.trim().trim_end_matches('.');
    if text.len() > MAX_TEXT {
        return None;
    }
    if let Some(rest) = ABOUT.iter().find_map(|about| text.strip_prefix(about)) {
        return number(rest.trim());
    }
    // "12 (3 boxes of 4)"
    if let Some((head, _)) = text.split_once(" (").filter(|_| text.ends_with(')')) {
        return number(head);
    }
    let Some(end) = text.find([' ', '/', '(']).filter(|_| text.bytes().any(|byte| byte.is_ascii_digit())) else {
        return word(text);
    };
    // The slash of a fraction, and then its unit.
    let slash = text.get(end + 1..).filter(|_| text.get(end..).is_some_and(|rest| rest.starts_with('/')));
    let lower = slash.map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let end = if lower > 0 { end + 1 + lower } else { end };
    let (head, tail) = text.split_at_checked(end)?;
    let word =
        |c: char| c.is_alphabetic() || matches!(c, ' ' | '/' | '(' | ')' | '-' | '.' | '\'' | '’' | '°' | '²' | '³');
    let joined = tail.contains(" - ") || tail.contains(" x ");
    let words = tail.split_whitespace().count() <= 6 && tail.chars().all(word) && !joined;
    let words = words && tail.split_whitespace().all(may_be_unit);
    words.then(|| number(head))?
}

/// Tells whether a text is a number with a rate behind it: `12 km/h`.
pub(super) fn is_rate(text: &str) -> bool {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' '));
    let letters = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    unit.len() < text.len()
        && unit
            .split_once('/')
            .is_some_and(|(of, per)| letters(of) && letters(per) && (of.len().max(per.len()) > 1 || unit == "m/s"))
}

fn number(text: &str) -> Option<Written> {
    match reading(text, &Names::default())? {
        Reading::Number(number) => Some(number),
        _ => None,
    }
}

fn word(text: &str) -> Option<Written> {
    let lower = text.to_ascii_lowercase();
    // A third alone is a place in a row; one third is a number.
    let share = lower.strip_prefix("one ").or(lower.strip_prefix("one-"));
    let (upper, under) = number_word(share.unwrap_or(&lower).as_bytes())?.value()?;
    let fits = if share.is_some() { under > 1 } else { under <= 2 };
    if !fits {
        return None;
    }
    Some(Written { value: Number::fraction(upper, under)?, decimals: 18 })
}

/// The numbers of a list: `[5, 7, 4]`, `$5, $7 and $4`.
pub fn list(text: &str) -> Option<Vec<Number>> {
    // Every step that reads a long text would copy it.
    if text.len() > MAX_LIST * MAX_TEXT {
        return None;
    }
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']').replace(" and ", ", ").replace(",,", ",");
    let parts: Vec<&str> = inner.split(", ").flat_map(|part| part.split(" + ")).collect();
    if parts.len() < 2 || parts.len() > MAX_LIST {
        return None;
    }
    parts.into_iter().map(|part| number(part.trim_matches([' ', ',', '\'', '"'])).map(|number| number.value)).collect()
}

/// The minutes after midnight of a time of day; `true`: morning or afternoon are said.
pub fn clock(text: &str) -> Option<(i64, bool)> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let lower = text.trim().to_ascii_lowercase().replace('.', "");
    let digits = |text: &str| text.parse::<i64>().ok().filter(|_| text.len() <= 2);
    let half =
        lower.strip_suffix("am").map(|rest| (rest, 0)).or_else(|| lower.strip_suffix("pm").map(|rest| (rest, 12)));
    let (time, said) = half.map_or((lower.as_str(), None), |(rest, add)| (rest.trim_end(), Some(add)));
    let (hours, minutes) = match time.split_once(':') {
        Some((hours, minutes)) => (digits(hours)?, digits(minutes).filter(|_| minutes.len() == 2)?),
        None => (said.and(digits(time))?, 0),
    };
    let hours = match said {
        Some(add) => (1..=12).contains(&hours).then_some(hours % 12 + add)?,
        None => hours,
    };
    ((0..=24).contains(&hours) && (0..60).contains(&minutes)).then_some((hours * 60 + minutes, said.is_some()))
}
