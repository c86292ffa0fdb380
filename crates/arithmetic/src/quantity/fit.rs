//! Which values may express a quantity: 20 % is 20, 0.2, 0.8 and 1.2; half is 0.5 and 2.

use super::{Kind, Quantity};
use crate::number::near;

/// Conversions that everybody knows: days a week, minutes an hour, months and weeks a year, hours a day, cents.
const CONVERSIONS: [f64; 12] = [7.0, 60.0, 12.0, 52.0, 365.0, 24.0, 100.0, 1000.0, 30.0, 3600.0, 10.0, 4.0];

/// Quality of the fit of a value to a quantity, best last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum QuantityFit {
    /// Not at all.
    None,
    /// In another unit of the same dimension, or as what a part leaves of the whole.
    Near,
    /// As quantities of its kind are written: a percentage as a fraction, a time in minutes.
    Kind,
    /// Exactly as in the question.
    Exact,
}

/// Rates the fit of a value to a quantity. The sign does not count: `three fewer` may be -3.
pub fn fit(quantity: &Quantity, value: f64) -> QuantityFit {
    if !value.is_finite() || matches!(quantity.kind, Kind::Label) && quantity.approx == 0.0 {
        return QuantityFit::None;
    }
    let (value, own) = (value.abs(), quantity.approx.abs());
    if near(value, own) {
        QuantityFit::Exact
    } else if fits_kind(quantity, value, own) {
        QuantityFit::Kind
    } else if fits_rest(quantity, value, own) || fits_unit(quantity, value, own) {
        QuantityFit::Near
    } else {
        QuantityFit::None
    }
}

/// Rates the fit of a value that counts in thousands or more: the 48 of `$48 million`.
pub fn scaled_fit(quantity: &Quantity, value: f64, scale: f64) -> QuantityFit {
    if near(value.abs() * scale, quantity.approx.abs()) { QuantityFit::Kind } else { QuantityFit::None }
}

fn fits_kind(quantity: &Quantity, value: f64, own: f64) -> bool {
    let among = |values: &[f64]| values.iter().any(|&one| near(one, value));
    match quantity.kind {
        Kind::Percent => {
            let part = own / 100.0;
            near(part, value) || (value - part).abs() < 0.0006
        }
        Kind::Fraction => {
            let (upper, lower) = quantity.value.parts();
            let (upper, lower) = (upper as f64, lower as f64);
            // A third is often written 0.33.
            let rounded = lower > 2.0 && ((value - own).abs() < 0.004 || (value - own * 100.0).abs() < 0.4);
            rounded || among(&[1.0 / own, own * 100.0, lower]) || (upper > 1.0 && near(upper, value))
        }
        Kind::Multiple => among(&[1.0 / own, own + 1.0, own * 100.0]) || (own > 2.0 && near(own - 1.0, value)),
        Kind::Group => among(&[own / 12.0]),
        Kind::Time => {
            let (hours, minutes) = (own.floor(), (own.fract() * 60.0).round());
            let total = own * 60.0;
            among(&[hours, minutes, total, own + 12.0, hours + 12.0, total + 720.0, hours * 100.0 + minutes])
        }
        Kind::Period => among(&period(own)),
        Kind::Number | Kind::Money | Kind::Ordinal | Kind::Each | Kind::Label => false,
    }
}

/// Tells whether a value is the rest after a part, or the whole with the part added.
fn fits_rest(quantity: &Quantity, value: f64, own: f64) -> bool {
    let part = match quantity.kind {
        Kind::Percent => own / 100.0,
        Kind::Fraction => own,
        _ => return false,
    };
    let is_rounded = |rest: f64| quantity.kind == Kind::Fraction && (rest - value).abs() < 0.0006;
    [1.0 - part, 1.0 + part].iter().any(|rest| near(*rest, value) || near(rest * 100.0, value) || is_rounded(*rest))
}

/// Lists the other numbers that a period of time may mean: 365 or 52 for the 12 months of a year.
const fn period(own: f64) -> [f64; 3] {
    // Compared as whole numbers: they come from a table.
    match own as i64 {
        12 => [365.0, 52.0, 1.0],
        24 => [1.0, 1440.0, 86_400.0],
        60 => [3600.0, 1.0, 1.0],
        7 => [1.0, 5.0, 168.0],
        _ => [1.0, 1.0, 1.0],
    }
}

fn fits_unit(quantity: &Quantity, value: f64, own: f64) -> bool {
    let Some(unit) = quantity.unit else { return false };
    let base = own * unit.size;
    // Units are rounded in daily use: a mile is 1.6 kilometres, a month four weeks.
    unit.dimension.sizes().iter().any(|size| (base - value * size).abs() <= base * 1e-3)
}

/// Tells whether a value follows from the quantities: as a sum, difference, product or quotient of two of them, as a
/// sum or product of several in a row, or by a well-known conversion.
pub fn derived(quantities: &[Quantity], value: f64) -> bool {
    let size = value.abs();
    let converted = |a: f64| CONVERSIONS.iter().any(|b| near(a * b, size) || near(a, size * b));
    counted(quantities).any(converted) || worked_out(quantities, value)
}

fn counted(quantities: &[Quantity]) -> impl Iterator<Item = f64> + '_ {
    quantities.iter().filter(|one| one.kind != Kind::Label).map(|one| one.approx.abs())
}

/// Tells whether a value follows from two of the quantities, or from several in a row.
pub fn worked_out(quantities: &[Quantity], value: f64) -> bool {
    let value = value.abs();
    for (n, a) in counted(quantities).enumerate() {
        let (mut sum, mut product) = (a, a);
        let mut row = true;
        for b in counted(quantities).skip(n + 1) {
            if near(a + b, value) || near((a - b).abs(), value) || near(a * b, value) {
                return true;
            }
            if near(a, value * b) || near(b, value * a) || of_a_part(a, b, value) {
                return true;
            }
            if row {
                (sum, product) = (sum + b, product * b);
                row = !(near(sum, value) || near(product, value));
                if !row {
                    return true;
                }
            }
        }
    }
    false
}

/// Tells whether a number is one that these words, of a variable, convert by: 7 in `days_per_week`.
pub fn converts(value: f64, words: &[u8]) -> bool {
    let words = words.to_ascii_lowercase();
    let says = |list: &[&str]| list.iter().any(|word| memchr::memmem::find(&words, word.as_bytes()).is_some());
    match value as i64 {
        7 | 365 | 30 | 31 | 28 => says(&["day", "week", "month", "year"]),
        52 | 4 => says(&["week", "month", "year", "quarter"]),
        12 => says(&["month", "year", "dozen", "inch", "feet", "foot", "hour"]),
        24 | 60 | 3600 => says(&["hour", "minute", "second", "day"]),
        100 | 10 | 1000 => {
            says(&["percent", "cent", "dollar", "meter", "metre", "gram", "kilo", "milli", "liter", "litre"])
        }
        2 => says(&["pair", "both", "twice", "double", "half", "couple", "each", "factor", "round"]),
        3 | 16 | 36 => says(&["feet", "foot", "yard", "ounce", "pound", "triple"]),
        _ => false,
    }
}

/// A percentage or the rest of a part of another number.
fn of_a_part(a: f64, b: f64, value: f64) -> bool {
    let part = |whole: f64, part: f64| {
        let part = if part > 1.0 { part / 100.0 } else { part };
        part < 1.0
            && (near(whole * part, value) || near(whole * (1.0 - part), value) || near(whole * (1.0 + part), value))
    };
    part(a, b) || part(b, a)
}

/// Tells whether one is probably a misreading of the other: digits swapped or mistyped, a factor of ten, off by one.
pub fn misread(own: f64, value: f64) -> bool {
    let (own, value) = (own.abs(), value.abs());
    if own == 0.0 || value == 0.0 {
        return false;
    }
    if [10.0, 100.0, 1000.0].iter().any(|&factor| near(own * factor, value) || near(own, value * factor)) {
        return true;
    }
    let whole = own.fract() == 0.0 && value.fract() == 0.0 && own < 1e15 && value < 1e15;
    whole && ((own >= 4.0 && near((own - value).abs(), 1.0)) || same_but_one(own as u64, value as u64))
}

/// Tells whether two numbers of at least two digits differ by one swap, one lost or added digit, or (from three digits
/// on) in one digit.
fn same_but_one(a: u64, b: u64) -> bool {
    let mut buffers = [[0_u8; 20]; 2];
    let [left, right] = &mut buffers;
    let (left, right) = (digits(a, left), digits(b, right));
    if left.len().min(right.len()) < 2 {
        return false;
    }
    if left.len() == right.len() {
        let unlike = left.iter().zip(right).filter(|(a, b)| a != b).count();
        let swapped = unlike == 2
            && left.windows(2).zip(right.windows(2)).any(|pair| match pair {
                ([a, b], [c, d]) => a == d && b == c && a != b,
                _ => false,
            });
        return swapped || (unlike == 1 && left.len() >= 3);
    }
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let common = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    long.len() == short.len() + 1 && long.get(common + 1..) == short.get(common..)
}

/// The digits of a number, the last first.
fn digits(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut len = 0;
    for slot in buffer.iter_mut() {
        *slot = (number % 10) as u8;
        len += 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    &buffer[..len]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::find;

    #[test]
    fn values_fit_the_quantity_behind_them() {
        for (text, value, want) in [
            ("20%", 20.0, QuantityFit::Exact),
            ("20%", 0.2, QuantityFit::Kind),
            ("20%", 0.8, QuantityFit::Near),
            ("20%", 120.0, QuantityFit::Near),
            ("20%", 0.3, QuantityFit::None),
            ("half", 0.5, QuantityFit::Exact),
            ("half", 2.0, QuantityFit::Kind),
            ("5/8", 0.375, QuantityFit::Near),
            ("two thirds", 0.67, QuantityFit::Kind),
            ("two thirds", 66.67, QuantityFit::Kind),
            ("twice", 2.0, QuantityFit::Exact),
            ("a dozen", 12.0, QuantityFit::Exact),
            ("three dozen", 3.0, QuantityFit::Kind),
            ("8:30", 510.0, QuantityFit::Kind),
            ("3 pm", 15.0, QuantityFit::Kind),
            ("three fewer", -3.0, QuantityFit::Exact),
            ("2 hours", 120.0, QuantityFit::Near),
            ("50 minutes", 0.833_333_3, QuantityFit::Near),
            ("50 cents", 0.5, QuantityFit::Near),
            ("$2", 200.0, QuantityFit::Near),
            ("half an hour", 30.0, QuantityFit::Near),
            ("2 feet", 24.0, QuantityFit::Near),
            ("a week", 7.0, QuantityFit::Exact),
            ("7 apples", 8.0, QuantityFit::None),
            ("7 apples", f64::NAN, QuantityFit::None),
        ] {
            let found = find(text.as_bytes());
            assert_eq!(found.iter().map(|one| fit(one, value)).max(), Some(want), "{text} {value}");
        }
    }

    #[test]
    fn what_follows_is_derived() {
        let found = find(b"He buys 30, 46 and 38 things at $11 in 3 weeks with 20% off.");
        for value in [76.0, 114.0, 8.0, 506.0, 21.0, 33.0, 8.8, 1.38] {
            assert!(derived(&found, value), "{value}");
        }
        for value in [99.0, 47.0, 1001.0, 13.7] {
            assert!(!derived(&found, value), "{value}");
        }
    }

    #[test]
    fn misreadings_are_near() {
        for (own, value) in [
            (24.0, 42.0),
            (150.0, 1500.0),
            (12.0, 13.0),
            (150.0, 15.0),
            (1234.0, 1243.0),
            (365.0, 356.0),
            (128.0, 126.0),
            (100.0, 10.0),
            (45.0, 445.0),
        ] {
            assert!(misread(own, value), "{own} {value}");
        }
        for (own, value) in
            [(24.0, 48.0), (3.0, 4.0), (24.0, 27.0), (7.0, 9.0), (0.0, 1.0), (22.0, 33.0), (512.0, 125.0)]
        {
            assert!(!misread(own, value), "{own} {value}");
        }
    }
}
