//! Exact numbers: fractions of bounded size. What would grow beyond the bound is no number rather than a wrong one.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub, Signed};

use stepscope_base::json::{Kind, Value};

/// More digits than this are never read: they would not fit, and nobody counts so far.
const MAX_DIGITS: usize = 30;
/// Numerator and denominator stay below two to this power, so that no step of the arithmetic can overflow.
const MAX_BITS: u32 = 120;
/// The largest exponent that is carried out.
const MAX_POWER: u32 = 64;
/// Decimals up to this many are shown exactly.
const SHOWN_DECIMALS: u32 = 6;
/// Upstream's measure of equality.
const NEAR: f64 = 1e-6;

/// An exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Number(Ratio<i128>);

/// A number as somebody wrote it: how many decimals there are says how far it may be rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Written {
    /// What is written.
    pub value: Number,
    /// Digits behind the point.
    pub decimals: u32,
}

impl Number {
    /// Nothing.
    pub const ZERO: Self = Self(Ratio::new_raw(0, 1));
    /// One.
    pub const ONE: Self = Self(Ratio::new_raw(1, 1));

    /// A whole number.
    pub const fn whole(number: i64) -> Self {
        Self(Ratio::new_raw(number as i128, 1))
    }

    /// A fraction; `None` where the lower part is zero.
    pub fn fraction(upper: i64, lower: i64) -> Option<Self> {
        (lower != 0).then(|| Self(Ratio::new(i128::from(upper), i128::from(lower))))
    }

    /// In lowest terms. Nearly all numbers are short, and the arithmetic of short ones is many times faster.
    fn reduced(upper: i128, lower: i128) -> Ratio<i128> {
        match (i64::try_from(upper), i64::try_from(lower)) {
            (Ok(upper), Ok(lower)) => {
                let ratio = Ratio::new(upper, lower);
                Ratio::new_raw(i128::from(*ratio.numer()), i128::from(*ratio.denom()))
            }
            _ => Ratio::new(upper, lower),
        }
    }

    fn bounded(ratio: Option<Ratio<i128>>) -> Option<Self> {
        let limit = 1_i128 << MAX_BITS;
        ratio.filter(|ratio| ratio.numer().abs() < limit && *ratio.denom() < limit).map(Self)
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0.checked_add(&other.0))
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0.checked_sub(&other.0))
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        Self::bounded(self.0.checked_mul(&other.0))
    }

    /// The quotient; nothing is divided by zero.
    pub fn over(self, other: Self) -> Option<Self> {
        if other == Self::ZERO { None } else { Self::bounded(self.0.checked_div(&other.0)) }
    }

    /// A whole power.
    pub fn power(self, exponent: Self) -> Option<Self> {
        let exponent = exponent.integer()?;
        let times = u32::try_from(exponent.unsigned_abs()).ok().filter(|&times| times <= MAX_POWER)?;
        let mut product = Self::ONE;
        for _ in 0..times {
            product = product.times(self)?;
        }
        if exponent < 0 { Self::ONE.over(product) } else { Some(product) }
    }

    /// With the other sign.
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        Self(-self.0)
    }

    /// Without its sign.
    #[must_use]
    pub(crate) fn magnitude(self) -> Self {
        Self(self.0.abs())
    }

    /// The next whole number below.
    #[must_use]
    pub fn floor(self) -> Self {
        Self(self.0.floor())
    }

    /// The next whole number above.
    #[must_use]
    pub fn ceil(self) -> Self {
        Self(self.0.ceil())
    }

    /// The whole number, if it is one.
    pub fn integer(self) -> Option<i128> {
        self.0.is_integer().then(|| *self.0.numer())
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        self.0.is_integer()
    }

    /// Whether it is below zero.
    pub(crate) fn is_negative(self) -> bool {
        *self.0.numer() < 0
    }

    /// The nearest float.
    pub fn float(self) -> f64 {
        *self.0.numer() as f64 / *self.0.denom() as f64
    }

    /// The number that a float's shortest text stands for.
    pub(crate) fn from_float(float: f64) -> Option<Self> {
        float.is_finite().then(|| Written::parse(format!("{float:e}").as_bytes()))?.map(|written| written.value)
    }

    /// Equal within upstream's measure, 1e-6.
    pub(crate) fn is_near(self, other: Self) -> bool {
        self == other || (self.float() - other.float()).abs() <= NEAR
    }

    /// `7`, `0.5`, `10/3 ≈ 3.333`.
    pub fn shown(self) -> String {
        if let Some(whole) = self.integer() {
            return whole.to_string();
        }
        let (mut lower, mut decimals) = (*self.0.denom(), 0);
        for prime in [2, 5] {
            let mut powers = 0;
            while lower % prime == 0 {
                lower /= prime;
                powers += 1;
            }
            decimals = decimals.max(powers);
        }
        if lower == 1 && decimals <= SHOWN_DECIMALS {
            return format!("{:.*}", decimals as usize, self.float());
        }
        let near = format!("{:.3}", self.float());
        if self.0.numer().abs() < 10_000 && *self.0.denom() < 10_000 {
            format!("{}/{} ≈ {near}", self.0.numer(), self.0.denom())
        } else {
            format!("≈ {near}")
        }
    }

    /// As a JSON number: digits where it is whole, else the nearest float.
    pub fn json(self) -> String {
        self.integer().map_or_else(|| format!("{}", self.float()), |whole| whole.to_string())
    }
}

impl Written {
    /// A whole number.
    pub const fn whole(number: i64) -> Self {
        Self { value: Number::whole(number), decimals: 0 }
    }

    /// Reads `-12.50` and `1e-07`; nothing around it.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] | rest => (false, rest),
        };
        let at = rest.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(rest.len());
        let (digits, exponent) = rest.split_at_checked(at)?;
        let exponent: i32 = match exponent.get(1..) {
            None => 0,
            Some(exponent) => std::str::from_utf8(exponent).ok()?.parse().ok()?,
        };
        let (mut upper, mut count, mut decimals, mut point) = (0_i128, 0, 0_u32, false);
        for byte in digits {
            match byte {
                b'0'..=b'9' => {
                    count += usize::from(upper != 0 || *byte != b'0');
                    if count > MAX_DIGITS {
                        return None;
                    }
                    // So few digits cannot overflow, and the check would cost more than the sum.
                    upper = upper.wrapping_mul(10).wrapping_add(i128::from(byte - b'0'));
                    decimals += u32::from(point);
                }
                b'.' if !point => point = true,
                _ => return None,
            }
        }
        if digits.is_empty() || digits == b"." || decimals > MAX_DIGITS as u32 {
            return None;
        }
        let scale = decimals as i32 - exponent;
        let power = 10_i128.checked_pow(scale.unsigned_abs()).filter(|_| scale.unsigned_abs() <= 35)?;
        let upper = if negative { -upper } else { upper };
        let ratio =
            if scale >= 0 { Number::reduced(upper, power) } else { Ratio::from_integer(upper.checked_mul(power)?) };
        Some(Self { value: Number::bounded(Some(ratio))?, decimals: scale.max(0) as u32 })
    }

    /// The number of a JSON value.
    pub fn of(value: Value<'_>) -> Option<Self> {
        matches!(value.kind(), Kind::Int | Kind::Float).then(|| Self::parse(value.raw()))?
    }

    /// Whether this is how people would write an exact number: rounded or cut where the written digits end, or a
    /// whole number beside a broken one.
    pub fn stands_for(self, exact: Number) -> bool {
        let (written, exact_float) = (self.value.float(), exact.float());
        let off = (written - exact_float).abs();
        if self.value == exact || off <= exact_float.abs() * 1e-9 + 1e-12 {
            return true;
        }
        match self.decimals {
            0 => !exact.is_whole() && exact_float.abs() >= 1.0 && off < 1.0,
            1 => off <= 0.05 + 1e-9,
            decimals => off < 10_f64.powi(-(decimals.min(18) as i32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Written {
        Written::parse(text.as_bytes()).expect(text)
    }

    #[test]
    fn numbers_are_read_exactly() {
        assert_eq!(written("0.7375").value, Number::fraction(59, 80).unwrap());
        assert_eq!(written("-12.50").value, Number::fraction(-25, 2).unwrap());
        assert_eq!(written("1e-07").value, Number::fraction(1, 10_000_000).unwrap());
        assert_eq!(written("7.0").value, Number::whole(7));
        for text in ["", ".", "1.2.3", "x", "-", "1e999", "1e-999", &"9".repeat(31), "1e"] {
            assert_eq!(Written::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Number::from_float(35.25), Number::fraction(141, 4));
    }

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        let shown = |upper, lower| Number::fraction(upper, lower).unwrap().shown();
        assert_eq!(shown(7, 1), "7");
        assert_eq!(shown(1, 2), "0.5");
        assert_eq!(shown(10, 3), "10/3 ≈ 3.333");
        assert_eq!(shown(59, 80), "0.7375");
        assert_eq!(shown(-1, 8), "-0.125");
    }

    #[test]
    fn nothing_overflows() {
        let nine = Number::whole(9);
        assert_eq!(nine.power(Number::whole(387_420_489)), None);
        assert_eq!(nine.power(Number::whole(64)), None);
        assert_eq!(Number::ONE.over(Number::ZERO), None);
        let mut number = Number::fraction(1, i64::MAX).unwrap();
        for _ in 0..10 {
            match number.times(number) {
                Some(square) => number = square,
                None => return,
            }
        }
        panic!("no bound");
    }

    #[test]
    fn rounded_numbers_stand_for_exact_ones() {
        let third = Number::fraction(10, 3).unwrap();
        for text in ["3.333", "3.33", "3.3", "3", "4", "3.3333333333333335"] {
            assert!(written(text).stands_for(third), "{text}");
        }
        for text in ["3.4", "3.35", "5", "2"] {
            assert!(!written(text).stands_for(third), "{text}");
        }
        assert!(!written("9").stands_for(Number::whole(7)));
        assert!(!written("0").stands_for(Number::fraction(1, 2).unwrap()));
    }
}
