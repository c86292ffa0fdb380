//! Dates as ISO 8601 writes them, and as people write them.
//!
//! What people write is read conservatively: a text that speaks of a span of time (`30 days after 1 May 2024`), or that
//! is not understood, gives nothing. `03/04/2024` can mean two days, and both are kept.

/// A day of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Date {
    /// From 1.
    pub year: u32,
    /// From 1.
    pub month: u32,
    /// From 1.
    pub day: u32,
}

/// Reason why a text is no date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoDate {
    /// It is not of the form YYYY-MM-DD.
    Form,
    /// It is, but the calendar has no such day.
    Impossible,
}

/// As much of a date as a text says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct WrittenDate {
    /// The year; of two digits, without its century.
    year: Option<(u32, bool)>,
    month: Option<u32>,
    day: Option<u32>,
}

impl Date {
    /// A day, if the calendar has it.
    pub(crate) fn of(year: u32, month: u32, day: u32) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 => 28 + u32::from(leap),
            _ => return None,
        };
        (year > 0 && (1..=days).contains(&day)).then_some(Self { year, month, day })
    }

    /// Reads YYYY-MM-DD.
    pub(crate) fn iso(text: &[u8]) -> Result<Self, NoDate> {
        let date = Self::spelled(text).ok_or(NoDate::Form)?;
        Self::of(date.year, date.month, date.day).ok_or(NoDate::Impossible)
    }

    /// Year, month and day of YYYY-MM-DD, whether or not the calendar has such a day.
    pub(crate) fn spelled(text: &[u8]) -> Option<Self> {
        let form = text.len() == 10
            && text.iter().enumerate().all(|(n, byte)| match n {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let number = |from: usize, to: usize| {
            let digits = text.get(from..to).unwrap_or_default();
            digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit.wrapping_sub(b'0')))
        };
        form.then(|| Self { year: number(0, 4), month: number(5, 7), day: number(8, 10) })
    }
}

impl WrittenDate {
    /// Tells whether a day agrees with everything that was written.
    pub(crate) fn agrees(&self, date: Date) -> bool {
        let year =
            self.year.is_none_or(|(year, whole)| if whole { year == date.year } else { year == date.year % 100 });
        year && self.month.is_none_or(|month| month == date.month) && self.day.is_none_or(|day| day == date.day)
    }

    /// The day, where all of it is written.
    pub(crate) fn whole(&self) -> Option<Date> {
        let (year, _) = self.year.filter(|(_, whole)| *whole)?;
        Date::of(year, self.month?, self.day?)
    }

    fn full(year: (u32, bool), month: u32, day: u32) -> Option<Self> {
        // Of two digits the century is unknown: a leap year lets every day of February be.
        let known = if year.1 { year.0 } else { 2000 };
        Date::of(known, month, day).map(|_| Self { year: Some(year), month: Some(month), day: Some(day) })
    }
}

/// A longer text is no date.
const MAX_TEXT: usize = 200;

/// Reads a text as a date, in all its possible meanings; none where it is not understood.
pub(crate) fn written(text: &str) -> Vec<WrittenDate> {
    if text.len() > MAX_TEXT {
        return Vec::new();
    }
    let tokens = tokens(&text.to_lowercase());
    if tokens.iter().any(|token| matches!(token, DateToken::Word(word) if is_in(SPANS, word))) {
        return Vec::new();
    }
    let mut found: Vec<WrittenDate> =
        (0..tokens.len()).flat_map(|at| full(tokens.get(at..).unwrap_or_default())).collect();
    if found.is_empty() {
        found.extend(partial(&tokens));
    }
    found
}

/// Words of a text that is about a stretch of time, or a day that must be worked out.
const SPANS: &str = "days weeks months years week month year after before following prior later anniversary \
    business quarter end ended ending tage jours monate within";

/// Words inside of dates that say nothing.
const FILLERS: &str = "of the day de del den der du le el il am on a.d ad";

const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun";

/// The names of the months in English, German, French, Spanish, Italian, Portuguese and Dutch.
const MONTHS: [&str; 12] = [
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari",
    "february feb februar février fevrier févr febrero febbraio fevereiro fev februari",
    "march mar märz maerz mars marzo março marco maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août aout agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro",
];

/// Tells whether a list of words, separated by blanks, contains this one.
fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum DateToken {
    /// A number and how many digits it has.
    Number(u32, usize),
    Word(String),
    /// A sign between them. Blanks are none.
    Sign(char),
}

fn tokens(text: &str) -> Vec<DateToken> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is = |c: char| if first.is_ascii_digit() { c.is_ascii_digit() } else { c.is_alphabetic() };
        let len = if is(first) { rest.find(|c| !is(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        if first.is_ascii_digit() {
            tokens.push(DateToken::Number(token.parse().unwrap_or(u32::MAX), len));
        } else if first.is_alphabetic() {
            // The ending of an ordinal number.
            let ordinal = matches!(token, "st" | "nd" | "rd" | "th" | "er" | "ère" | "º" | "ª");
            if !(ordinal && matches!(tokens.last(), Some(DateToken::Number(..)))) {
                tokens.push(DateToken::Word(token.to_owned()));
            }
        } else if !first.is_whitespace() {
            tokens.push(DateToken::Sign(first));
        }
        rest = after;
    }
    tokens
}

fn month(word: &str) -> Option<u32> {
    (1..).zip(MONTHS).find(|(_, names)| is_in(names, word)).map(|(n, _)| n)
}

/// The next tokens behind what says nothing.
fn past(mut tokens: &[DateToken]) -> &[DateToken] {
    while let [first, rest @ ..] = tokens {
        let says_nothing = match first {
            DateToken::Word(word) => is_in(FILLERS, word),
            DateToken::Sign(sign) => matches!(sign, ',' | '.' | '-' | '–' | '/' | '\u{2011}' | '(' | ')'),
            DateToken::Number(..) => false,
        };
        if !says_nothing {
            break;
        }
        tokens = rest;
    }
    tokens
}

/// A year behind a month; of two digits only where a sign binds it.
fn year(tokens: &[DateToken]) -> Option<(u32, bool)> {
    match (tokens.first(), past(tokens).first()) {
        (_, Some(DateToken::Number(year, 4))) => Some((*year, true)),
        (Some(DateToken::Sign('-' | '/' | '.' | '–')), Some(DateToken::Number(year, 2))) => Some((*year, false)),
        (Some(DateToken::Sign('\'' | '’')), _) => match tokens.get(1) {
            Some(DateToken::Number(year, 2)) => Some((*year, false)),
            _ => None,
        },
        _ => None,
    }
}

/// Tells whether two tokens separate year, month and day.
fn joins(first: &DateToken, second: &DateToken) -> bool {
    match (first, second) {
        (DateToken::Sign(a), DateToken::Sign(b)) => a == b && matches!(a, '-' | '/' | '.'),
        (DateToken::Word(a), DateToken::Word(b)) => a == "年" && b == "月",
        _ => false,
    }
}

/// The whole dates that begin with the first token.
fn full(tokens: &[DateToken]) -> Vec<WrittenDate> {
    match tokens {
        [DateToken::Word(word), rest @ ..] => {
            let Some(month) = month(word) else { return Vec::new() };
            let [DateToken::Number(day, 1 | 2), rest @ ..] = past(rest) else { return Vec::new() };
            year(rest).and_then(|year| WrittenDate::full(year, month, *day)).into_iter().collect()
        }
        [
            DateToken::Number(year, 4),
            first,
            DateToken::Number(month, 1 | 2),
            second,
            DateToken::Number(day, 1 | 2),
            ..,
        ] if joins(first, second) => WrittenDate::full((*year, true), *month, *day).into_iter().collect(),
        [
            DateToken::Number(first, 1 | 2),
            DateToken::Sign(a),
            DateToken::Number(second, 1 | 2),
            DateToken::Sign(b),
            DateToken::Number(year, digits @ (2 | 4)),
            ..,
        ] if a == b && matches!(a, '-' | '/' | '.') => {
            let year = (*year, *digits == 4);
            let days_first = WrittenDate::full(year, *second, *first);
            // With points the day comes first.
            let months_first = if *a == '.' { None } else { WrittenDate::full(year, *first, *second) };
            days_first.into_iter().chain(months_first).collect()
        }
        [DateToken::Number(day, 1 | 2), rest @ ..] => {
            let [DateToken::Word(word), rest @ ..] = past(rest) else { return Vec::new() };
            let date = month(word).zip(year(rest)).and_then(|(month, year)| WrittenDate::full(year, month, *day));
            date.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A date that is not whole, where the text says nothing else.
fn partial(tokens: &[DateToken]) -> Option<WrittenDate> {
    let is_weekday = |token: &DateToken| matches!(token, DateToken::Word(word) if is_in(WEEKDAYS, word));
    let telling: Vec<&DateToken> =
        tokens.iter().filter(|token| !is_weekday(token) && !past(std::slice::from_ref(token)).is_empty()).collect();
    let none = WrittenDate::default();
    match telling.as_slice() {
        [DateToken::Number(year, 4)] => Some(WrittenDate { year: Some((*year, true)), ..none }),
        [DateToken::Word(word), DateToken::Number(year, 4)] => {
            Some(WrittenDate { year: Some((*year, true)), month: Some(month(word)?), ..none })
        }
        [DateToken::Word(word), DateToken::Number(day, 1 | 2)]
        | [DateToken::Number(day, 1 | 2), DateToken::Word(word)] => {
            let month = month(word)?;
            Date::of(2000, month, *day).map(|_| WrittenDate { month: Some(month), day: Some(*day), ..none })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(text: &str, iso: &str) -> Option<bool> {
        let date = Date::iso(iso.as_bytes()).unwrap();
        let found = written(text);
        (!found.is_empty()).then(|| found.iter().any(|written| written.agrees(date)))
    }

    #[test]
    fn iso_days_are_of_one_form_and_in_the_calendar() {
        for text in ["2024-02-29", "0001-01-01", "2000-02-29"] {
            assert!(Date::iso(text.as_bytes()).is_ok(), "{text}");
        }
        for text in ["2024-02-30", "1900-02-29", "2023-13-01", "0000-01-01", "2024-00-10", "2024-04-31"] {
            assert_eq!(Date::iso(text.as_bytes()), Err(NoDate::Impossible), "{text}");
        }
        for text in ["2004-02", "2024-3-15", "15.03.2024", "2024-03-15T00:00", "", "2024-03-1５", "２024-03-15"] {
            assert_eq!(Date::iso(text.as_bytes()), Err(NoDate::Form), "{text}");
        }
    }

    #[test]
    fn many_written_forms_mean_the_same_day() {
        for text in [
            "15 March 2024",
            "March 15, 2024",
            "15th of March, 2024",
            "the 15th day of March 2024",
            "Friday, 15 March 2024",
            "Effective: 12:01 a.m. on Mar. 15, 2024 (standard time)",
            "15-Mar-2024",
            "15/Mar/24",
            "15 Mar '24",
            "15.03.2024",
            "15. März 2024",
            "15 mars 2024",
            "15 de marzo de 2024",
            "2024/03/15",
            "2024-03-15T10:00:00Z",
            "03/15/2024",
            "15/03/24",
            "2024年3月15日",
            "March 2024",
            "2024",
            "15 March",
            "from 1 March 2024 to 15 March 2024",
        ] {
            assert_eq!(agrees(text, "2024-03-15"), Some(true), "{text}");
            assert_eq!(agrees(text, "2025-04-16"), Some(false), "{text}");
        }
        // The day may come first or second, but neither is this one.
        assert_eq!(agrees("03/04/2024", "2024-03-04"), Some(true));
        assert_eq!(agrees("03/04/2024", "2024-04-03"), Some(true));
        assert_eq!(agrees("03.04.2024", "2024-03-04"), Some(false));
        assert_eq!(agrees("1er avril 2024", "2024-04-01"), Some(true));
    }

    #[test]
    fn a_day_that_cannot_be_is_compared_all_the_same() {
        let agrees = |text: &str, iso: &str| {
            let date = Date::spelled(iso.as_bytes()).unwrap();
            written(text).iter().any(|written| written.agrees(date))
        };
        assert!(!agrees("15/03/2024", "2024-15-03") && !agrees("March 3, 2023", "2023-02-30"));
        assert!(agrees("February 2023", "2023-02-30"));
        assert_eq!(Date::spelled(b"2024-3-15"), None);
    }

    #[test]
    fn what_is_not_understood_says_nothing() {
        for text in [
            "",
            "30 days after 15 March 2024",
            "the end of March 2024",
            "either party may 30",
            "the Effective Date",
            "Policy 2024-0042",
            "12:30",
            "31/31/2024",
            "Section 3.2.1",
            &"15 March 2024 ".repeat(40),
        ] {
            assert_eq!(agrees(text, "2020-01-01"), None, "{text}");
        }
    }
}
