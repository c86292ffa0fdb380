//! Exact numbers: a reduced fraction of two 128-bit integers. What does not fit is nothing, never something near it.

use std::fmt;

/// How far two numbers may be apart and still count as equal, as upstream compares answers.
const TOLERANCE: f64 = 1e-6;
/// A number with more digits is not read exactly.
const MAX_DIGITS: usize = 36;

/// A reduced fraction; the lower part is positive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number {
    upper: i128,
    lower: i128,
}

impl Number {
    /// Nothing.
    pub const ZERO: Self = Self::int(0);
    /// One.
    pub const ONE: Self = Self::int(1);

    /// A whole number.
    pub const fn int(value: i64) -> Self {
        Self { upper: value as i128, lower: 1 }
    }

    /// A fraction; `None`: the lower part is zero, or the parts are too large.
    pub fn ratio(upper: i128, lower: i128) -> Option<Self> {
        if lower == 0 {
            return None;
        }
        let divisor = i128::try_from(gcd(upper.unsigned_abs(), lower.unsigned_abs())).ok()?;
        let divisor = if lower < 0 { -divisor } else { divisor };
        Some(Self { upper: upper.checked_div(divisor)?, lower: lower.checked_div(divisor)? })
    }

    /// The number that a JSON text such as `-1.5e3` names; nothing else may stand in it.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mut upper, mut digits, mut places, mut point) = (0_i128, 0_usize, 0_i32, false);
        let mut rest = text;
        while let [first, more @ ..] = rest {
            match first {
                b'0'..=b'9' => {
                    digits += 1;
                    if digits > MAX_DIGITS {
                        return None;
                    }
                    upper = upper * 10 + i128::from(first - b'0');
                    places += i32::from(point);
                }
                b'.' if !point => point = true,
                _ => break,
            }
            rest = more;
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', more @ ..] => std::str::from_utf8(more).ok()?.parse::<i32>().ok()?,
            _ => return None,
        };
        if digits == 0 {
            return None;
        }
        let upper = if negative { -upper } else { upper };
        let shift = exponent.checked_sub(places)?;
        let power = 10_i128.checked_pow(shift.unsigned_abs())?;
        if shift >= 0 { Some(Self { upper: upper.checked_mul(power)?, lower: 1 }) } else { Self::ratio(upper, power) }
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Option<Self> {
        if self.lower == 1 && other.lower == 1 {
            return Some(Self { upper: self.upper.checked_add(other.upper)?, lower: 1 });
        }
        let left = self.upper.checked_mul(other.lower)?;
        let right = other.upper.checked_mul(self.lower)?;
        Self::ratio(left.checked_add(right)?, self.lower.checked_mul(other.lower)?)
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        let upper = self.upper.checked_mul(other.upper)?;
        if self.lower == 1 && other.lower == 1 {
            return Some(Self { upper, lower: 1 });
        }
        Self::ratio(upper, self.lower.checked_mul(other.lower)?)
    }

    /// The quotient; `None` also for a division by zero.
    pub fn over(self, other: Self) -> Option<Self> {
        self.times(Self::ratio(other.lower, other.upper)?)
    }

    /// The nearest float.
    pub fn float(self) -> f64 {
        match (i64::try_from(self.upper), i64::try_from(self.lower)) {
            (Ok(upper), Ok(1)) => upper as f64,
            (Ok(upper), Ok(lower)) => upper as f64 / lower as f64,
            _ => self.upper as f64 / self.lower as f64,
        }
    }

    /// Whether it is a whole number.
    pub const fn is_whole(self) -> bool {
        self.lower == 1
    }

    /// The upper and the lower part.
    pub const fn parts(self) -> (i128, i128) {
        (self.upper, self.lower)
    }
}

/// Whether two floats count as equal.
pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0)
}

/// A decimal where that is exact and short, else the fraction.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lower == 1 {
            return write!(f, "{}", self.upper);
        }
        for places in 1..=6_u32 {
            let scale = 10_i128.pow(places);
            if scale % self.lower != 0 {
                continue;
            }
            let Some(scaled) = self.upper.checked_mul(scale / self.lower) else { break };
            let sign = if scaled < 0 { "-" } else { "" };
            let (whole, rest) =
                (scaled.unsigned_abs() / scale.unsigned_abs(), scaled.unsigned_abs() % scale.unsigned_abs());
            return write!(f, "{sign}{whole}.{rest:0width$}", width = places as usize);
        }
        write!(f, "{}/{}", self.upper, self.lower)
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        // 64-bit division is many times faster, and nearly always enough.
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            return u128::from(gcd_short(x, y));
        }
        (a, b) = (b, a % b);
    }
    a
}

const fn gcd_short(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Number::parse(text.as_bytes()).map_or_else(|| "-".to_owned(), |number| number.to_string())
    }

    #[test]
    fn numbers_are_read_exactly() {
        for (text, want) in [
            ("0", "0"),
            ("-7", "-7"),
            ("1.50", "1.5"),
            ("0.125", "0.125"),
            ("-0.05", "-0.05"),
            ("1e3", "1000"),
            ("1.5e-1", "0.15"),
            ("574.0", "574"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            (".5", "0.5"),
            ("", "-"),
            ("-", "-"),
            ("1.2.3", "-"),
            ("1e999", "-"),
            ("NaN", "-"),
            ("1e", "-"),
            ("9999999999999999999999999999999999999999", "-"),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        let (third, half) = (Number::ratio(1, 3).unwrap(), Number::ratio(2, -4).unwrap());
        assert_eq!(half.to_string(), "-0.5");
        assert_eq!(third.plus(half).unwrap().to_string(), "-1/6");
        assert_eq!(third.times(Number::int(6)).unwrap(), Number::int(2));
        assert_eq!(Number::ONE.over(Number::ZERO), None);
        assert!(near(Number::int(i64::MAX).float(), i64::MAX as f64));
        assert!(Number::ratio(i128::MAX, 1).unwrap().plus(Number::ONE).is_none());
        assert!(Number::ratio(i128::MIN, 1).is_none_or(|number| number.lower == 1));
        assert!(Number::ratio(1, i128::MIN).is_none_or(|number| number.lower > 0));
        assert!(near(0.1 + 0.2, 0.3) && !near(7.0, 7.1) && !near(f64::NAN, f64::NAN));
    }
}
