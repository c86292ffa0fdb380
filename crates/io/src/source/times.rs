//! Dates and times of tables, as text of ISO 8601, the same from every format.

use jiff::civil::{Date, DateTime, Time, date};
use jiff::{SignedDuration, Span};

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;
/// Day of 1970-01-01 in the count of days that the old times of Parquet use.
const JULIAN_1970: i128 = 2_440_588;
/// Years that four digits and Python have.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9999;

/// Unit of the numbers in a column of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeUnit {
    Days,
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl TimeUnit {
    const fn nanos(self) -> i128 {
        match self {
            Self::Days => DAY,
            Self::Seconds => SECOND,
            Self::Millis => 1_000_000,
            Self::Micros => 1_000,
            Self::Nanos => 1,
        }
    }
}

/// Meaning of the numbers in a column of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeKind {
    /// A day, counted from 1970.
    Date(TimeUnit),
    /// A time of day, counted from midnight.
    Time(TimeUnit),
    /// A day with its time, counted from 1970; with `in_utc` a moment that is the same everywhere.
    Moment { unit: TimeUnit, in_utc: bool },
}

impl TimeKind {
    /// Returns the text of a number; `None`: there is no such day in the years 1 to 9999, or no such time in a day.
    pub(super) fn text(self, number: i64) -> Option<String> {
        let nanos = |unit: TimeUnit| i128::from(number) * unit.nanos();
        match self {
            Self::Date(unit) => day(nanos(unit)).map(|day| day.to_string()),
            Self::Time(unit) => {
                let nanos = Some(nanos(unit)).filter(|nanos| (0..DAY).contains(nanos))?;
                let digits = digits(nanos);
                time(nanos).map(|time| format!("{time:.digits$}"))
            }
            Self::Moment { unit, in_utc } => moment(nanos(unit), in_utc),
        }
    }
}

/// Returns the text of nanoseconds since 1970.
fn moment(nanos: i128, in_utc: bool) -> Option<String> {
    let (digits, zone) = (digits(nanos), if in_utc { "Z" } else { "" });
    let moment = DateTime::from_parts(day(nanos)?, time(nanos)?);
    Some(format!("{moment:.digits$}{zone}"))
}

/// Reads the old times of Parquet: nanoseconds of a day, and the day; `Err`: the number of nanoseconds since 1970.
pub(super) fn old_moment(parts: &[u32]) -> Result<String, i128> {
    let [low, high, day] = *parts else { return Err(0) };
    let in_day = (u64::from(high) << 32 | u64::from(low)).cast_signed();
    let nanos = (i128::from(day.cast_signed()) - JULIAN_1970) * DAY + i128::from(in_day);
    moment(nanos, false).ok_or(nanos)
}

/// Returns the day of nanoseconds since 1970.
fn day(nanos: i128) -> Option<Date> {
    let days = Span::new().try_days(i64::try_from(nanos.div_euclid(DAY)).ok()?).ok()?;
    date(1970, 1, 1).checked_add(days).ok().filter(|day| YEARS.contains(&day.year()))
}

/// Returns the time of day of nanoseconds since 1970.
fn time(nanos: i128) -> Option<Time> {
    Time::midnight().checked_add(SignedDuration::from_nanos(nanos.rem_euclid(DAY) as i64)).ok()
}

/// Returns the number of digits of a fraction of a second: as few groups of three as it takes.
fn digits(nanos: i128) -> usize {
    [(SECOND, 0), (1_000_000, 3), (1_000, 6)]
        .iter()
        .find(|(unit, _)| nanos % unit == 0)
        .map_or(9, |(_, digits)| *digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeUnit::*;

    #[test]
    fn numbers_become_the_text_that_is_meant() {
        let moment = |unit, in_utc| TimeKind::Moment { unit, in_utc };
        for (kind, number, expected) in [
            (TimeKind::Date(Days), 20_780, "2026-11-23"),
            (TimeKind::Date(Days), -719_162, "0001-01-01"),
            (TimeKind::Date(Millis), -1, "1969-12-31"),
            (TimeKind::Time(Seconds), 45_296, "12:34:56"),
            (TimeKind::Time(Millis), 45_296_789, "12:34:56.789"),
            (TimeKind::Time(Micros), 100, "00:00:00.000100"),
            (TimeKind::Time(Nanos), 86_399_999_999_999, "23:59:59.999999999"),
            (moment(Seconds, false), 1_795_437_296, "2026-11-23T12:34:56"),
            (moment(Millis, true), 1_795_437_296_789, "2026-11-23T12:34:56.789Z"),
            (moment(Micros, true), 1_795_437_296_789_000, "2026-11-23T12:34:56.789Z"),
            (moment(Nanos, false), -1, "1969-12-31T23:59:59.999999999"),
            (moment(Seconds, false), 253_402_300_799, "9999-12-31T23:59:59"),
        ] {
            assert_eq!(kind.text(number).as_deref(), Some(expected), "{kind:?} {number}");
        }
        assert_eq!(old_moment(&[0, 0, 2_440_588]).as_deref(), Ok("1970-01-01T00:00:00"));
        assert_eq!(old_moment(&[1_000_000_000, 0, 2_440_587]).as_deref(), Ok("1969-12-31T00:00:01"));
    }

    #[test]
    fn numbers_that_are_no_time_stay_numbers() {
        for unit in [Days, Seconds, Millis, Micros, Nanos] {
            for number in [i64::MIN, i64::MIN + 1, i64::MAX] {
                let date = TimeKind::Date(unit).text(number);
                assert_eq!(date.is_some(), unit == Nanos, "{unit:?} {number}");
                assert_eq!(TimeKind::Time(unit).text(number), None);
            }
            assert_eq!(TimeKind::Time(unit).text(-1), None);
        }
        for (kind, number) in [
            (TimeKind::Date(Days), -719_163),
            (TimeKind::Date(Days), 2_932_897),
            (TimeKind::Time(Seconds), 86_400),
            (TimeKind::Moment { unit: Seconds, in_utc: true }, 253_402_300_800),
        ] {
            assert_eq!(kind.text(number), None, "{kind:?} {number}");
        }
        assert_eq!(old_moment(&[u32::MAX; 3]), Err((-1 - JULIAN_1970) * DAY - 1));
        assert!(old_moment(&[7, 0, i32::MIN.cast_unsigned()]).is_err());
    }
}
