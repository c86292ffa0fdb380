//! Times as texts: ISO 8601 for records, and the dates of HTTP headers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A time in UTC with milliseconds: `2026-11-20T09:28:01.250Z`. Before 1970 it is 1970.
pub fn iso(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / DAY, since.as_secs() % DAY);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_millis()
    )
}

/// A date as HTTP headers write it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn from_http(text: &str) -> Option<SystemTime> {
    let mut words = text.trim().strip_suffix(" GMT")?.split(' ').skip(1);
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok().filter(|part| *part < 61));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Days since 1970 of a date; years are counted from March, so that a leap day comes last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    let of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + of_year;
    year / 400 * 146_097 + of_era - 719_468
}

/// The date so many days after 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let of_400 = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_400 + of_400 / 4 - of_400 / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + of_400;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        let at = |seconds| UNIX_EPOCH + Duration::from_millis(seconds);
        assert_eq!(iso(at(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(at(951_782_400_001)), "2000-02-29T00:00:00.001Z");
        assert_eq!(iso(at(1_795_147_667_500)), "2026-11-20T04:07:47.500Z");
        assert_eq!(from_http("Sun, 06 Nov 1994 08:49:37 GMT"), Some(at(784_111_777_000)));
        for day in (0..60_000_u64).step_by(7) {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), day);
        }
        for bad in ["", "GMT", "Sun, 06 Nov 1994", "x, 99 Nov 1994 08:49:37 GMT", "x, 06 Nov 1900 08:49:37 GMT", "-5"] {
            assert_eq!(from_http(bad), None, "{bad}");
        }
    }
}
