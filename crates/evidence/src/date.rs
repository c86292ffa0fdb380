//! Dates as ISO 8601 writes them, and as people write them.
//!
//! What people write is read conservatively: a text that speaks of a span of time (`30 days after 1 May 2024`), or that
//! is not understood, gives nothing. `03/04/2024` can mean two days, and both are kept.

use std::ops::Range;

use stepscope_arithmetic::scripts::{PlainDigits, is_letter};

/// A day of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date {
    /// From 1.
    pub year: u32,
    /// From 1.
    pub month: u32,
    /// From 1.
    pub day: u32,
}

/// Reason why a text is no date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoDate {
    /// It is not of the form YYYY-MM-DD.
    Form,
    /// It is, but the calendar has no such day.
    Impossible,
}

/// As much of a date as a text says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WrittenDate {
    /// The year; of two digits, without its century.
    year: Option<(u32, bool)>,
    month: Option<u32>,
    day: Option<u32>,
}

impl Date {
    /// A day, if the calendar has it.
    pub fn of(year: u32, month: u32, day: u32) -> Option<Self> {
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
    pub fn iso(text: &[u8]) -> Result<Self, NoDate> {
        let date = Self::spelled(text).ok_or(NoDate::Form)?;
        Self::of(date.year, date.month, date.day).ok_or(NoDate::Impossible)
    }

    /// Number of days since the first day of the first year.
    pub fn ordinal(self) -> i64 {
        let (year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        // Years begin in March, so that leap days come last.
        let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
        year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day
    }

    /// The day of an [`Date::ordinal`].
    pub fn from_ordinal(ordinal: i64) -> Option<Self> {
        /// Days of ten thousand years.
        const MAX: i64 = 3_652_500;
        if !(1..MAX).contains(&ordinal) {
            return None;
        }
        let mut year = u32::try_from((ordinal / 366).max(1)).ok()?;
        while Self::of(year + 1, 1, 1)?.ordinal() <= ordinal {
            year += 1;
        }
        let month =
            (1..=12).rev().find(|month| Self::of(year, *month, 1).is_some_and(|first| first.ordinal() <= ordinal))?;
        let day = ordinal - Self::of(year, month, 1)?.ordinal() + 1;
        Self::of(year, month, u32::try_from(day).ok()?)
    }

    /// Year, month and day of YYYY-MM-DD, whether or not the calendar has such a day.
    pub fn spelled(text: &[u8]) -> Option<Self> {
        let form = text.len() == 10
            && text.iter().enumerate().all(|(n, byte)| match n {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let number = |from: usize, to: usize| {
            let digits = &text[from..to];
            digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit.wrapping_sub(b'0')))
        };
        form.then(|| Self { year: number(0, 4), month: number(5, 7), day: number(8, 10) })
    }
}

impl WrittenDate {
    /// Tells whether a day agrees with everything that was written.
    pub fn agrees(&self, date: Date) -> bool {
        let year = self
            .year
            .is_none_or(|(year, whole)| if whole { is_year(year, date.year) } else { year == date.year % 100 });
        year && self.month.is_none_or(|month| month == date.month) && self.day.is_none_or(|day| day == date.day)
    }

    /// The year as it is written; of two digits without its century.
    pub fn year(&self) -> Option<u32> {
        self.year.map(|(year, _)| year)
    }

    /// Tells whether day and month are written, and the same as those of another.
    pub fn same_day(&self, other: &Self) -> bool {
        self.has_day() && (self.month, self.day) == (other.month, other.day)
    }

    /// Tells whether day and month are written.
    pub fn has_day(&self) -> bool {
        self.month.is_some() && self.day.is_some()
    }

    /// The day, where all of it is written.
    pub fn whole(&self) -> Option<Date> {
        let (year, _) = self.year.filter(|(_, whole)| *whole)?;
        Date::of(year, self.month?, self.day?)
    }

    fn of_day(date: Date) -> Self {
        Self { year: Some((date.year, true)), month: Some(date.month), day: Some(date.day) }
    }

    fn full(year: (u32, bool), month: u32, day: u32) -> Option<Self> {
        // Of two digits the century is unknown: a leap year lets every day of February be.
        let known = if year.1 { year.0 } else { 2000 };
        Date::of(known, month, day).map(|_| Self { year: Some(year), month: Some(month), day: Some(day) })
    }
}

/// Tells whether a year as it is written is one of ours: Thailand counts from the death of the Buddha.
const fn is_year(written: u32, year: u32) -> bool {
    const BUDDHIST: u32 = 543;
    written == year || written == year.saturating_add(BUDDHIST)
}

/// A longer text is no date.
const MAX_TEXT: usize = 200;

/// Reads a text as a date, in all its possible meanings; none where it is not understood.
pub fn written(text: &str) -> Vec<WrittenDate> {
    if text.len() > MAX_TEXT {
        return Vec::new();
    }
    let plain = PlainDigits::of(text);
    let tokens: Vec<DateToken> = tokens(&plain.text).into_iter().map(|(token, _)| token).collect();
    if tokens.iter().any(|token| matches!(token, DateToken::Word(word) if is_in(SPANS, word))) {
        return Vec::new();
    }
    let mut found: Vec<WrittenDate> =
        (0..tokens.len()).filter_map(|at| Some(full(tokens.get(at..)?)?.0)).flatten().collect();
    if found.is_empty() {
        found.extend(partial(&tokens));
    }
    found
}

/// Words of a text that is about a stretch of time, or a day that must be worked out.
const SPANS: &str = "days weeks months years week month year after before following prior later anniversary \
    business quarter end ended ending tage jours monate within";

/// Words inside of dates that say nothing.
const FILLERS: &str = "of the day de del den der du le el il am on a.d ad di do";

const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun";

/// The names of the months: English, German, French, Spanish, Italian, Portuguese, Dutch, Scandinavian, Finnish, Polish, Czech,
/// Romanian, Hungarian, Turkish, Indonesian, Greek, Russian, Ukrainian, Arabic, Hebrew, Hindi, Bengali and Thai.
const MONTHS: [&str; 12] = [
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari tammikuuta tammikuun stycznia ledna ianuarie \
     január ocak ιανουαρίου января січня يناير ינואר \
     जनवरी জানুয়ারি জানুয়ারী มกราคม",
    "february feb februar février fevrier févr febrero febbraio fevereiro fev februari helmikuuta helmikuun lutego února \
     februarie február şubat φεβρουαρίου февраля лютого فبراير פברואר \
     फ़रवरी फ\u{93c}रवरी फरवरी ফেব্রুয়ারি ফেব্রুয়ারী กุมภาพันธ์",
    "march mar märz maerz mars marzo março marco maart mrt marts maaliskuuta maaliskuun marca března martie március mart maret \
     μαρτίου марта березня مارس מרץ \
     मार्च মার্চ มีนาคม",
    "april apr avril avr abril abr aprile huhtikuuta huhtikuun kwietnia dubna aprilie április nisan απριλίου апреля квітня \
     أبريل ابريل אפריל \
     अप्रैल এপ্রিল เมษายน",
    "may mai mayo maggio mag maio mei maj toukokuuta toukokuun maja května május mayıs μαΐου μαίου мая травня مايو מאי \
     मई মে พฤษภาคม",
    "june jun juni juin junio giugno giu junho kesäkuuta kesäkuun czerwca června iunie június haziran ιουνίου июня червня يونيو \
     יוני \
     जून জুন มิถุนายน",
    "july jul juli juillet juil julio luglio lug julho heinäkuuta heinäkuun lipca července iulie július temmuz ιουλίου июля липня \
     يوليو יולי \
     जुलाई জুলাই กรกฎาคม",
    "august aug août aout agosto ago augustus augusti elokuuta elokuun sierpnia srpna augusztus ağustos agustus αυγούστου августа \
     серпня أغسطس אוגוסט \
     अगस्त আগস্ট สิงหาคม",
    "september sep sept septembre septiembre settembre set setembro syyskuuta syyskuun września září septembrie szeptember eylül \
     σεπτεμβρίου сентября вересня سبتمبر ספטמבר \
     सितंबर सितम्बर সেপ্টেম্বর กันยายน",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta lokakuun października října octombrie október \
     ekim οκτωβρίου октября жовтня أكتوبر אוקטובר \
     अक्टूबर अक्तूबर অক্টোবর ตุลาคม",
    "november nov novembre noviembre novembro marraskuuta marraskuun listopada listopadu noiembrie kasım νοεμβρίου ноября \
     листопада نوفمبر נובמבר \
     नवंबर नवम्बर নভেম্বর พฤศจิกายน",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro joulukuuta joulukuun grudnia prosince \
     decembrie aralık desember δεκεμβρίου декабря грудня ديسمبر דצמבר \
     दिसंबर दिसम्बर ডিসেম্বর ธันวาคม",
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

/// Tokens of a text, each with its bytes.
fn tokens(text: &str) -> Vec<(DateToken, Range<usize>)> {
    let mut tokens: Vec<(DateToken, Range<usize>)> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is = |c: char| if first.is_ascii_digit() { c.is_ascii_digit() } else { is_letter(c) };
        let len = if is(first) { rest.find(|c| !is(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        let start = text.len() - rest.len();
        let range = start..start + len;
        if first.is_ascii_digit() {
            tokens.push((DateToken::Number(token.parse().unwrap_or(u32::MAX), len), range));
        } else if first.is_alphabetic() {
            // The ending of an ordinal number.
            let token = token.to_lowercase();
            let ordinal = matches!(
                token.as_str(),
                "st" | "nd" | "rd" | "th" | "er" | "ère" | "º" | "ª" | "η" | "ή" | "ης" | "ο" | "го"
            );
            if !(ordinal && matches!(tokens.last(), Some((DateToken::Number(..), _)))) {
                tokens.push((DateToken::Word(token), range));
            }
        } else if !first.is_whitespace() {
            tokens.push((DateToken::Sign(first), range));
        }
        rest = after;
    }
    tokens
}

fn month(word: &str) -> Option<u32> {
    // Hebrew writes "in" and "of" as a letter before the name.
    let bare = word.strip_prefix(['ב', 'ל']).unwrap_or(word);
    let named = (1..).zip(MONTHS).find(|(_, names)| is_in(names, word) || is_in(names, bare));
    named.map(|(n, _)| n).or_else(|| misread_month(word))
}

/// The month of a long name in which scanning took letters for others that look like them: `Noveniber`, `0ctober`.
fn misread_month(word: &str) -> Option<u32> {
    const MIN: usize = 6;
    let plain = |text: &str| text.replace("ni", "m").replace("rn", "m").replace("iii", "m").replace(['1', '|'], "l");
    let is_it = |names: &&str| names.split(' ').any(|name| name.len() >= MIN && plain(name) == plain(word));
    if word.len() < MIN {
        return None;
    }
    (1..).zip(MONTHS).find(|(_, names)| is_it(names)).map(|(n, _)| n)
}

/// The next tokens behind what says nothing.
fn past(mut tokens: &[DateToken]) -> &[DateToken] {
    while let [first, rest @ ..] = tokens {
        let says_nothing = match first {
            DateToken::Word(word) => is_in(FILLERS, word),
            DateToken::Sign(sign) => {
                matches!(sign, ',' | '.' | '-' | '–' | '/' | '\u{2011}' | '(' | ')' | '«' | '»' | '“' | '”' | '"')
            }
            DateToken::Number(..) => false,
        };
        if !says_nothing {
            break;
        }
        tokens = rest;
    }
    tokens
}

/// A year behind a month, and the tokens behind it; of two digits only where a sign binds it.
fn year(tokens: &[DateToken]) -> Option<((u32, bool), &[DateToken])> {
    match (tokens, past(tokens)) {
        (_, [DateToken::Number(year, 4), rest @ ..]) => Some(((*year, true), rest)),
        (_, [DateToken::Word(two), DateToken::Word(thousand), rest @ ..]) if two == "two" && thousand == "thousand" => {
            let (count, rest) = below_a_hundred(past_and(rest));
            Some(((2000 + count, true), rest))
        }
        ([DateToken::Sign('-' | '/' | '.' | '–'), ..], [DateToken::Number(year, 2), rest @ ..])
        | ([DateToken::Sign('\'' | '’'), DateToken::Number(year, 2), rest @ ..], _) => Some(((*year, false), rest)),
        _ => None,
    }
}

/// Ordinal numbers of days in words, from the first on.
const ORDINALS: [&str; 20] = [
    "first ersten erster erste premier",
    "second zweiten zweiter zweite",
    "third dritten dritter dritte",
    "fourth vierten vierter vierte",
    "fifth fünften fünfter fünfte",
    "sixth sechsten",
    "seventh siebten",
    "eighth achten",
    "ninth neunten",
    "tenth zehnten",
    "eleventh elften",
    "twelfth zwölften",
    "thirteenth dreizehnten",
    "fourteenth vierzehnten",
    "fifteenth fünfzehnten",
    "sixteenth sechzehnten",
    "seventeenth siebzehnten",
    "eighteenth achtzehnten",
    "nineteenth neunzehnten",
    "twentieth zwanzigsten",
];

/// An ordinal number in words, and the tokens behind it: `first`, `twenty-third`.
fn ordinal(tokens: &[DateToken]) -> Option<(u32, &[DateToken])> {
    let [DateToken::Word(word), rest @ ..] = tokens else { return None };
    let simple = |word: &str| (1..).zip(ORDINALS).find(|(_, names)| is_in(names, word)).map(|(n, _)| n);
    let tens = match word.as_str() {
        "twenty" => 20,
        "thirty" => 30,
        "thirtieth" => return Some((30, rest)),
        "last" | "letzter" | "letzten" => return Some((LAST, rest)),
        _ => return Some((simple(word)?, rest)),
    };
    let rest = match rest {
        [DateToken::Sign('-' | '‑'), rest @ ..] => rest,
        rest => rest,
    };
    let [DateToken::Word(word), rest @ ..] = rest else { return None };
    Some((tens + simple(word).filter(|ones| *ones < 10)?, rest))
}

/// The last one of a month.
const LAST: u32 = 99;

fn weekday(word: &str) -> Option<i64> {
    const NAMES: [&str; 7] = [
        "monday montag lundi",
        "tuesday dienstag mardi",
        "wednesday mittwoch mercredi",
        "thursday donnerstag jeudi",
        "friday freitag vendredi",
        "saturday samstag sonnabend samedi",
        "sunday sonntag dimanche",
    ];
    (0..).zip(NAMES).find(|(_, names)| is_in(names, word)).map(|(n, _)| n)
}

/// The second Saturday of a month.
fn nth_weekday(nth: u32, weekday: i64, month: u32, year: u32) -> Option<Date> {
    // The first day of the first year was a Monday, and is the first.
    let is_it = |date: &Date| (date.ordinal() - Date::of(1, 1, 1).map_or(0, Date::ordinal)).rem_euclid(7) == weekday;
    let mut days = (1..=31).filter_map(|day| Date::of(year, month, day)).filter(is_it);
    if nth == LAST { days.next_back() } else { days.nth(usize::try_from(nth).ok()?.checked_sub(1)?) }
}

/// The tokens behind "of", "in" and their like.
fn past_in(tokens: &[DateToken]) -> &[DateToken] {
    match tokens {
        [DateToken::Word(word), rest @ ..] if matches!(word.as_str(), "in" | "im") => rest,
        tokens => past(tokens),
    }
}

fn past_and(tokens: &[DateToken]) -> &[DateToken] {
    match tokens {
        [DateToken::Word(and), rest @ ..] if and == "and" => rest,
        tokens => tokens,
    }
}

/// A number below a hundred in words, and the tokens behind it; nothing where none is.
fn below_a_hundred(tokens: &[DateToken]) -> (u32, &[DateToken]) {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let [DateToken::Word(word), rest @ ..] = tokens else { return (0, tokens) };
    let small = |word: &str| (0..).zip(SMALL).find(|(_, name)| *name == word).map(|(n, _)| n);
    if let Some(count) = small(word) {
        return (count, rest);
    }
    let Some((tens, _)) = (2..).zip(TENS).find(|(_, name)| *name == word) else { return (0, tokens) };
    let behind = match rest {
        [DateToken::Sign('-' | '‑'), rest @ ..] => rest,
        rest => rest,
    };
    match behind {
        [DateToken::Word(word), behind @ ..] if small(word).is_some_and(|ones| ones < 10) => {
            (tens * 10 + small(word).unwrap_or(0), behind)
        }
        _ => (tens * 10, rest),
    }
}

/// Months by the names that Hungarian alone has, where the year comes first.
const HUNGARIAN: &str =
    "január február március április május június július augusztus szeptember október november december";

/// The year before the first one of an era that a word ends with: `令和`.
fn era(word: &str) -> Option<u32> {
    const ERAS: [(&str, u32); 6] =
        [("令和", 2018), ("平成", 1988), ("昭和", 1925), ("大正", 1911), ("民國", 1911), ("民国", 1911)];
    ERAS.iter().find(|(name, _)| word.ends_with(name)).map(|(_, before)| *before)
}

/// Tells whether two tokens separate year, month and day.
fn joins(first: &DateToken, second: &DateToken) -> bool {
    match (first, second) {
        (DateToken::Sign(a), DateToken::Sign(b)) => a == b && matches!(a, '-' | '/' | '.'),
        (DateToken::Word(a), DateToken::Word(b)) => matches!((a.as_str(), b.as_str()), ("年", "月") | ("년", "월")),
        _ => false,
    }
}

/// The whole dates that begin with the first token, in all their meanings, and the number of their tokens.
fn full(tokens: &[DateToken]) -> Option<(Vec<WrittenDate>, usize)> {
    let (dates, rest): (Vec<WrittenDate>, &[DateToken]) = match tokens {
        [
            DateToken::Word(word),
            DateToken::Number(count, 1..=3),
            first,
            DateToken::Number(month, 1 | 2),
            second,
            DateToken::Number(day, 1 | 2),
            rest @ ..,
        ] if era(word).is_some() && joins(first, second) => {
            (WrittenDate::full((era(word)? + count, true), *month, *day).into_iter().collect(), rest)
        }
        [DateToken::Word(word), rest @ ..] if month(word).is_some() => {
            let month = month(word)?;
            let [DateToken::Number(day, 1 | 2), rest @ ..] = past(rest) else { return None };
            let (year, rest) = year(rest)?;
            (WrittenDate::full(year, month, *day).into_iter().collect(), rest)
        }
        [DateToken::Word(first), ..] => {
            let (nth, rest) = ordinal(tokens)?;
            let (weekday, rest) = match rest {
                [DateToken::Word(word), rest @ ..] if weekday(word).is_some() => (weekday(word), past_in(rest)),
                // "The second May 2024 meeting" is of no second day.
                [DateToken::Word(word), ..] if word == "of" || word == "day" || first.ends_with("en") => {
                    (None, past(rest))
                }
                _ => return None,
            };
            let [DateToken::Word(word), rest @ ..] = rest else { return None };
            let (month, (year, rest)) = (month(word)?, year(rest)?);
            let date = match weekday {
                Some(day) if year.1 => nth_weekday(nth, day, month, year.0).map(WrittenDate::of_day),
                Some(_) => None,
                None => WrittenDate::full(year, month, nth),
            };
            (date.into_iter().collect(), rest)
        }
        [
            DateToken::Number(year, 4),
            first,
            DateToken::Number(month, 1 | 2),
            second,
            DateToken::Number(day, 1 | 2),
            rest @ ..,
        ] if joins(first, second) => (WrittenDate::full((*year, true), *month, *day).into_iter().collect(), rest),
        [
            DateToken::Number(first, 1 | 2),
            DateToken::Sign(a),
            DateToken::Number(second, 1 | 2),
            DateToken::Sign(b),
            DateToken::Number(year, digits @ (2 | 4)),
            rest @ ..,
        ] if a == b && matches!(a, '-' | '/' | '.') => {
            let year = (*year, *digits == 4);
            let days_first = WrittenDate::full(year, *second, *first);
            // With points the day comes first.
            let months_first = if *a == '.' { None } else { WrittenDate::full(year, *first, *second) };
            (days_first.into_iter().chain(months_first).collect(), rest)
        }
        // "ngày 1 tháng 4 năm 2026"
        [
            DateToken::Number(day, 1 | 2),
            DateToken::Word(of_month),
            DateToken::Number(month, 1 | 2),
            DateToken::Word(of_year),
            DateToken::Number(year, 4),
            rest @ ..,
        ] if of_month == "tháng" && of_year == "năm" => {
            (WrittenDate::full((*year, true), *month, *day).into_iter().collect(), rest)
        }
        // "2026. április 1."
        [
            DateToken::Number(year, 4),
            DateToken::Sign('.'),
            DateToken::Word(word),
            DateToken::Number(day, 1 | 2),
            rest @ ..,
        ] if is_in(HUNGARIAN, word) => {
            (WrittenDate::full((*year, true), month(word)?, *day).into_iter().collect(), rest)
        }
        [DateToken::Number(day, 1 | 2), rest @ ..] => {
            let [DateToken::Word(word), rest @ ..] = past(rest) else { return None };
            let (year, rest) = year(rest)?;
            (WrittenDate::full(year, month(word)?, *day).into_iter().collect(), rest)
        }
        _ => return None,
    };
    (!dates.is_empty()).then_some((dates, tokens.len() - rest.len()))
}

/// A date in a longer text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundDate {
    /// Everything that it can mean.
    pub meanings: Vec<WrittenDate>,
    /// Bytes of the text.
    pub range: Range<usize>,
}

/// Finds the dates in a text, in order: whole ones, days of a month without a year, and months of a year.
pub fn found(text: &str) -> Vec<FoundDate> {
    /// Number of dates of one text that are read.
    const MAX_DATES: usize = 100;
    let plain = PlainDigits::of(text);
    let text: &str = &plain.text;
    if !text.bytes().any(|byte| byte.is_ascii_digit()) && !text.contains("thousand") {
        return Vec::new();
    }
    let (tokens, ranges): (Vec<DateToken>, Vec<Range<usize>>) = tokens(text).into_iter().unzip();
    let bytes = |from: usize, count: usize| {
        let start = ranges.get(from).map_or(0, |range| range.start);
        plain.before(start..ranges.get(from + count - 1).map_or(start, |range| range.end))
    };
    let mut dates: Vec<FoundDate> = Vec::new();
    let (mut at, mut taken) = (0, 0);
    while at < tokens.len() && dates.len() < MAX_DATES {
        let Some(rest) = tokens.get(at..) else { break };
        if let Some((meanings, count)) = full(rest) {
            // "15 and 16 March 2024": the first day is of the same month.
            let before = &tokens[at.saturating_sub(3).max(taken)..at];
            if let Some((day, back)) = day_before(before)
                && let Some(first) = meanings.first()
            {
                let meanings = vec![WrittenDate { day: Some(day), ..*first }];
                dates.push(FoundDate { meanings, range: bytes(at - back, 1) });
            }
            dates.push(FoundDate { meanings, range: bytes(at, count) });
            at += count;
            taken = at;
        } else if let Some((date, count)) = part(text, rest, &ranges[at..]) {
            dates.push(FoundDate { meanings: vec![date], range: bytes(at, count) });
            at += count;
        } else {
            at += 1;
        }
    }
    dates
}

/// Tells whether a text may name a day in a form that is not read: it holds the numbers of the day and its year, or its month
/// and no number at all.
pub fn may_name(text: &str, date: Date) -> bool {
    let plain = PlainDigits::of(text);
    let (mut numbers, mut names_month) = (Vec::new(), false);
    for (token, _) in tokens(&plain.text) {
        match token {
            DateToken::Number(number, _) => numbers.push(number),
            DateToken::Word(word) => names_month |= month(&word) == Some(date.month),
            DateToken::Sign(_) => {}
        }
    }
    let is_its_year = |number: &u32| is_year(*number, date.year) || *number == date.year % 100;
    (names_month && numbers.is_empty()) || (numbers.contains(&date.day) && numbers.iter().any(is_its_year))
}

/// The day in front of another day, and how many tokens lie before: `15 and`, `15. bis`, `15–`.
fn day_before(before: &[DateToken]) -> Option<(u32, usize)> {
    let joins = |token: &DateToken| match token {
        DateToken::Sign(sign) => matches!(sign, '-' | '–' | '&' | ','),
        DateToken::Word(word) => matches!(word.as_str(), "and" | "to" | "und" | "bis" | "et" | "au" | "or" | "oder"),
        DateToken::Number(..) => false,
    };
    match before {
        [.., DateToken::Number(day @ 1..=31, 1 | 2), join] if joins(join) => Some((*day, 2)),
        [DateToken::Number(day @ 1..=31, 1 | 2), DateToken::Sign('.'), join] if joins(join) => Some((*day, 3)),
        _ => None,
    }
}

/// A day of a month or a month of a year at the beginning of some tokens, and the number of its tokens.
fn part(text: &str, tokens: &[DateToken], ranges: &[Range<usize>]) -> Option<(WrittenDate, usize)> {
    /// Names of months that are other words too, unless they begin with a capital.
    const WORDS: &str = "may mar march mai set out ago gen mag lug dic dez dec jan";
    let none = WrittenDate::default();
    let (first, rest) = tokens.split_first()?;
    let named = |word: &str, at: usize| {
        let month = month(word)?;
        let raw = text.get(ranges.get(at)?.clone())?;
        (!is_in(WORDS, word) || raw.starts_with(char::is_uppercase)).then_some(month)
    };
    let (date, rest) = match first {
        DateToken::Number(day, 1 | 2) => {
            let [DateToken::Word(word), behind @ ..] = past(rest) else { return None };
            let month = named(word, tokens.len() - past(rest).len())?;
            Date::of(2000, month, *day)?;
            (WrittenDate { month: Some(month), day: Some(*day), ..none }, behind)
        }
        DateToken::Word(word) => {
            let month = named(word, 0)?;
            match past(rest) {
                [DateToken::Number(year, 4), behind @ ..] => {
                    (WrittenDate { year: Some((*year, true)), month: Some(month), ..none }, behind)
                }
                [DateToken::Number(day, 1 | 2), behind @ ..] => {
                    Date::of(2000, month, *day)?;
                    (WrittenDate { month: Some(month), day: Some(*day), ..none }, behind)
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((date, tokens.len() - rest.len()))
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
    fn days_are_read_in_many_languages_and_calendars() {
        for (text, iso) in [
            ("2026年4月1日から", "2026-04-01"),
            ("令和8年4月1日", "2026-04-01"),
            ("民國115年7月1日", "2026-07-01"),
            ("2026년 5월 1일부터", "2026-05-01"),
            ("ngày 1 tháng 4 năm 2026", "2026-04-01"),
            ("«03» марта 2026 г.", "2026-03-03"),
            ("1η Οκτωβρίου 2026", "2026-10-01"),
            ("17 במאי 2026", "2026-05-17"),
            ("१२ मई २०२६", "2026-05-12"),
            ("6. toukokuuta 2026", "2026-05-06"),
            ("2026. április 1.", "2026-04-01"),
            ("9. listopadu 2026", "2026-11-09"),
            ("5 พฤษภาคม 2569", "2026-05-05"),
        ] {
            assert_eq!(agrees(text, iso), Some(true), "{text}");
        }
        for (text, iso) in [("令和九年三月", "2027-03-31"), ("Ποτέ", "2026-10-01")] {
            assert_eq!(agrees(text, iso), None, "{text}");
        }
        let date = |iso: &str| Date::iso(iso.as_bytes()).unwrap();
        assert!(may_name("๑ ต.ค. ๒๕๖๘", date("2025-10-01")) && !may_name("๑ ต.ค. ๒๕๖๘", date("2025-10-02")));
        assert!(may_name("a quince de septiembre de dos mil veinticinco", date("2025-09-15")));
    }

    #[test]
    fn days_stand_in_words() {
        for (text, iso) in [
            ("the first day of October 2022", "2022-10-01"),
            ("on the twenty-third of May 2021", "2021-05-23"),
            ("the 1st day of October, two thousand and twenty", "2020-10-01"),
            ("the 3rd of June, two thousand twenty-four", "2024-06-03"),
            ("second Saturday of September 2024", "2024-09-14"),
            ("the last Friday in May 2024", "2024-05-31"),
            ("am ersten Montag im Juli 2024", "2024-07-01"),
        ] {
            let days: Vec<Option<Date>> =
                found(text).iter().flat_map(|one| &one.meanings).map(WrittenDate::whole).collect();
            assert_eq!(days, [Date::iso(iso.as_bytes()).ok()], "{text}");
        }
        assert_eq!(found("the second half of 2024").len(), 0);
        let month = found("a second May 2024 meeting, 12 in March 2024");
        assert_eq!(month.iter().filter(|one| one.meanings.iter().any(WrittenDate::has_day)).count(), 0);
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        let day = |year, month, day| Date::of(year, month, day).unwrap();
        assert_eq!(day(2024, 3, 1).ordinal() - day(2024, 2, 1).ordinal(), 29);
        assert_eq!(day(2025, 3, 14).ordinal() - day(2024, 3, 15).ordinal(), 364);
        for date in [day(2024, 2, 29), day(2000, 12, 31), day(1, 3, 1), day(1999, 1, 1)] {
            assert_eq!(Date::from_ordinal(date.ordinal()), Some(date));
        }
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
