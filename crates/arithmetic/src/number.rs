//! Exact numbers: fractions of bounded size. Overflow is `None`.

use std::cmp::Ordering;
use std::fmt;

use stepscope_base::json::{Kind, Value};

/// Maximum number of digits that are read: more would not fit, and no text counts so far.
const MAX_DIGITS: usize = 30;
/// Numerator and denominator stay below two to this power, so that no step of the arithmetic can overflow.
const MAX_BITS: u32 = 120;
/// The largest exponent that is carried out.
const MAX_POWER: u32 = 64;
/// Decimals up to this many are shown exactly.
const SHOWN_DECIMALS: u32 = 6;
/// Largest power of ten that people round to.
const MAX_ZEROS: u32 = 9;
/// Upstream grades with `math.isclose(pred_num, gold_num, rel_tol=0, abs_tol=1e-6)`.
const NEAR: f64 = 1e-6;
/// Share of a number that some hundred roundings of a float may add up to.
const NOISE: f64 = 1e-13;

/// Fractions with a sign of their own.
const READY_MADE: [(&str, (i128, i128)); 15] = [
    ("½", (1, 2)),
    ("¼", (1, 4)),
    ("¾", (3, 4)),
    ("⅓", (1, 3)),
    ("⅔", (2, 3)),
    ("⅕", (1, 5)),
    ("⅖", (2, 5)),
    ("⅗", (3, 5)),
    ("⅘", (4, 5)),
    ("⅙", (1, 6)),
    ("⅚", (5, 6)),
    ("⅛", (1, 8)),
    ("⅜", (3, 8)),
    ("⅝", (5, 8)),
    ("⅞", (7, 8)),
];

/// An exact fraction in lowest terms; the lower part is positive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number {
    upper: i128,
    lower: i128,
}

/// A number as somebody wrote it: how many decimals there are says how far it may be rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Written {
    /// Value as written.
    pub value: Number,
    /// Digits behind the point.
    pub decimals: u32,
}

impl Number {
    /// Nothing.
    pub const ZERO: Self = Self::whole(0);
    /// One.
    pub const ONE: Self = Self::whole(1);

    /// A whole number.
    pub const fn whole(number: i64) -> Self {
        Self { upper: number as i128, lower: 1 }
    }

    /// A fraction; `None`: the lower part is zero, or a part is too large.
    pub fn fraction(upper: impl Into<i128>, lower: impl Into<i128>) -> Option<Self> {
        let (upper, lower) = (upper.into(), lower.into());
        if let (Ok(above), Ok(below)) = (u64::try_from(upper.unsigned_abs()), u64::try_from(lower.unsigned_abs())) {
            let is_negative = (upper < 0) != (lower < 0);
            return Self::short(is_negative, above, below);
        }
        let divisor = i128::try_from(gcd(upper.unsigned_abs(), lower.unsigned_abs())).ok()?;
        let divisor = if lower < 0 { -divisor } else { divisor };
        Self::bounded(upper.checked_div(divisor)?, lower.checked_div(divisor).filter(|lower| *lower > 0)?)
    }

    /// The same of parts that machine words hold: dividing these is many times faster, and they are nearly always enough.
    fn short(is_negative: bool, upper: u64, lower: u64) -> Option<Self> {
        let divisor = gcd_short(upper, lower);
        let lower = i128::from(lower.checked_div(divisor).filter(|lower| *lower > 0)?);
        let upper = i128::from(upper.checked_div(divisor)?);
        Some(Self { upper: if is_negative { -upper } else { upper }, lower })
    }

    /// Of parts that have no divisor in common.
    fn bounded(upper: i128, lower: i128) -> Option<Self> {
        let limit = 1_i128 << MAX_BITS;
        (-limit < upper && upper < limit && lower < limit).then_some(Self { upper, lower })
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Option<Self> {
        if self.lower == 1 && other.lower == 1 {
            return Self::bounded(self.upper.checked_add(other.upper)?, 1);
        }
        let shared = gcd(self.lower.unsigned_abs(), other.lower.unsigned_abs()) as i128;
        let (own, its) =
            if shared == 1 { (self.lower, other.lower) } else { (self.lower / shared, other.lower / shared) };
        let upper = self.upper.checked_mul(its)?.checked_add(other.upper.checked_mul(own)?)?;
        Self::fraction(upper, self.lower.checked_mul(its)?)
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        if self.lower == 1 && other.lower == 1 {
            return Self::bounded(self.upper.checked_mul(other.upper)?, 1);
        }
        // Divided crosswise first, so that nothing grows that falls out again.
        let left = Self::fraction(self.upper, other.lower)?;
        let right = Self::fraction(other.upper, self.lower)?;
        Self::bounded(left.upper.checked_mul(right.upper)?, left.lower.checked_mul(right.lower)?)
    }

    /// The quotient; nothing is divided by zero.
    pub fn over(self, other: Self) -> Option<Self> {
        self.times(other.reciprocal()?)
    }

    /// One over it; `None`: it is zero.
    fn reciprocal(self) -> Option<Self> {
        let (upper, lower) = (self.lower, self.upper);
        match self.upper.cmp(&0) {
            Ordering::Equal => None,
            Ordering::Less => Some(Self { upper: -upper, lower: -lower }),
            Ordering::Greater => Some(Self { upper, lower }),
        }
    }

    /// Its parts, where machine words hold them.
    fn words(self) -> Option<(i64, i64)> {
        Some((i64::try_from(self.upper).ok()?, i64::try_from(self.lower).ok()?))
    }

    /// A whole power.
    pub(crate) fn power(self, exponent: Self) -> Option<Self> {
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
    pub fn negated(self) -> Self {
        Self { upper: -self.upper, ..self }
    }

    /// Without its sign.
    #[must_use]
    pub fn magnitude(self) -> Self {
        Self { upper: self.upper.abs(), ..self }
    }

    /// The next whole number below.
    #[must_use]
    pub(crate) fn floor(self) -> Self {
        let upper = match self.words() {
            Some((upper, lower)) => i128::from(upper.div_euclid(lower)),
            None => self.upper.div_euclid(self.lower),
        };
        Self { upper, lower: 1 }
    }

    /// The next whole number above.
    #[must_use]
    pub fn ceil(self) -> Self {
        self.negated().floor().negated()
    }

    /// The whole number, if it is one.
    pub fn integer(self) -> Option<i128> {
        self.is_whole().then_some(self.upper)
    }

    /// Tells whether it is a whole number.
    pub const fn is_whole(self) -> bool {
        self.lower == 1
    }

    /// Tells whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.upper < 0
    }

    /// The nearest float.
    pub fn float(self) -> f64 {
        match self.words() {
            Some((upper, lower)) => upper as f64 / lower as f64,
            None => self.upper as f64 / self.lower as f64,
        }
    }

    /// The upper and the lower part.
    pub const fn parts(self) -> (i128, i128) {
        (self.upper, self.lower)
    }

    /// The number that a float's shortest text denotes.
    pub fn from_float(float: f64) -> Option<Self> {
        float.is_finite().then(|| Written::parse(format!("{float:e}").as_bytes()))?.map(|written| written.value)
    }

    /// Tells whether two numbers are the same, by the measure of [`near`].
    pub fn is_near(self, other: Self) -> bool {
        self == other || near(self.float(), other.float())
    }

    /// Tells whether this number, of which nobody knows how it was written, is another one or a rounding of it: to as
    /// many decimals as it has, three at most.
    pub fn is_rounding_of(self, exact: Self) -> bool {
        let scale = [10, 100, 1000].map(Self::whole).into_iter();
        let step = scale.into_iter().find(|scale| self.times(*scale).is_some_and(Self::is_whole));
        let half = step.filter(|_| !self.is_whole()).map_or(0.0, |step| 0.5 / step.float());
        let off = (self.float() - exact.float()).abs();
        self.is_near(exact) || (half > 0.0 && off <= half + noise(half))
    }

    /// As it is shown in a formula: `7`, `(-7)`.
    pub fn bracketed(self) -> String {
        if self.is_negative() { format!("({})", self.shown()) } else { self.shown() }
    }

    /// `7`, `0.5`, `10/3 ≈ 3.333`.
    pub fn shown(self) -> String {
        let exact = self.to_string();
        if !exact.contains('/') {
            return exact;
        }
        let near = format!("{:.3}", self.float());
        if self.upper.abs() < 10_000 && self.lower < 10_000 {
            format!("{exact} ≈ {near}")
        } else {
            format!("≈ {near}")
        }
    }

    /// As a JSON number: digits where it is whole, else the nearest float.
    pub fn json(self) -> String {
        self.integer().map_or_else(|| format!("{}", self.float()), |whole| whole.to_string())
    }
}

/// By value.
impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.lower == other.lower {
            return self.upper.cmp(&other.upper);
        }
        if let (Some((upper, lower)), Some((its_upper, its_lower))) = (self.words(), other.words()) {
            let crosswise = |upper: i64, lower: i64| i128::from(upper) * i128::from(lower);
            return crosswise(upper, its_lower).cmp(&crosswise(its_upper, lower));
        }
        let rest = |number: &Self| number.upper.rem_euclid(number.lower);
        self.floor().upper.cmp(&other.floor().upper).then_with(|| match (rest(self), rest(other)) {
            (0, _) | (_, 0) => rest(self).cmp(&rest(other)),
            // Below 1, the reciprocals are compared.
            (own, its) => Self { upper: other.lower, lower: its }.cmp(&Self { upper: self.lower, lower: own }),
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A decimal where that is exact and short, else the fraction.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_whole() {
            return write!(f, "{}", self.upper);
        }
        for places in 1..=SHOWN_DECIMALS {
            let scale = 10_i128.pow(places);
            if scale % self.lower != 0 {
                continue;
            }
            let Some(scaled) = self.upper.checked_mul(scale / self.lower) else { break };
            let sign = if scaled < 0 { "-" } else { "" };
            let (whole, rest) = (scaled.abs() / scale, scaled.abs() % scale);
            return write!(f, "{sign}{whole}.{rest:0width$}", width = places as usize);
        }
        write!(f, "{}/{}", self.upper, self.lower)
    }
}

/// Tells whether two numbers are the same: the one measure of stepscope. It is upstream's, and where floats are too large
/// for that, what they can tell apart. How a number is written is asked elsewhere: `Written::stands_for`.
pub fn near(a: f64, b: f64) -> bool {
    let off = (a - b).abs();
    off <= NEAR || (off.is_finite() && off <= noise(a.abs().max(b.abs())))
}

/// Returns how far floats of this size may be apart by calculating with floats alone.
pub fn noise(size: f64) -> f64 {
    NOISE * size.abs().max(10.0)
}

/// Reads a fraction with a sign of its own at the beginning of a text, and its length.
pub fn ready_made(text: &[u8]) -> Option<(Number, usize)> {
    let (sign, (upper, lower)) = READY_MADE.iter().find(|(sign, _)| text.starts_with(sign.as_bytes()))?;
    Some((Number::fraction(*upper, *lower)?, sign.len()))
}

/// Finds the sign of a fraction.
pub(super) fn ready_made_sign(fraction: Number) -> Option<&'static str> {
    READY_MADE.iter().find(|(_, parts)| *parts == fraction.parts()).map(|(sign, _)| *sign)
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
        let value =
            if scale >= 0 { Number::fraction(upper, power) } else { Number::bounded(upper.checked_mul(power)?, 1) };
        Some(Self { value: value?, decimals: scale.max(0) as u32 })
    }

    /// The number of a JSON value. The `.0` of a whole one is the writer's way with floats and claims no decimals.
    pub fn of(value: Value<'_>) -> Option<Self> {
        let number = matches!(value.kind(), Kind::Int | Kind::Float).then(|| Self::parse(value.raw()))??;
        Some(if number.value.is_whole() { Self { decimals: 0, ..number } } else { number })
    }

    /// Tells whether this is how people would write an exact number: rounded or cut at the last written digit, or a
    /// whole number in place of a fractional one.
    pub fn stands_for(self, exact: Number) -> bool {
        let (written, exact_float) = (self.value.float(), exact.float());
        let off = (written - exact_float).abs();
        if self.value == exact || off <= noise(exact_float) {
            return true;
        }
        match self.decimals {
            0 => !exact.is_whole() && exact_float.abs() >= 1.0 && off < 1.0,
            1 => off <= 0.05 + noise(exact_float),
            // A whole unit of its last digit apart is another number.
            decimals => off < 10_f64.powi(-(decimals.min(18) as i32)) - noise(exact_float),
        }
    }

    /// Tells whether people may say that an exact number is about this one: rounded to its last digit that is no zero,
    /// `25,000` to thousands, or cut at its last decimal.
    pub(crate) fn is_about(self, exact: Number) -> bool {
        let off = (self.value.float() - exact.float()).abs();
        let ten = |places: u32| 10_i64.checked_pow(places).map(Number::whole);
        let is_round = |places: &u32| {
            let rounded = ten(*places).and_then(|ten| self.value.over(ten));
            self.value != Number::ZERO && rounded.is_some_and(Number::is_whole)
        };
        let zeros = (1..=MAX_ZEROS).take_while(is_round).count();
        let place = 10_f64.powi(zeros as i32 - self.decimals.min(18) as i32);
        self.stands_for(exact) || off <= place / 2.0 + noise(exact.float()) || (self.decimals > 0 && off < place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zero_of_a_whole_float_claims_no_decimals() {
        let decimals = |text: &str| {
            let mut tape = stepscope_base::json::Tape::default();
            Written::of(tape.parse(text.as_bytes()).unwrap()).unwrap().decimals
        };
        assert_eq!(["10", "10.0", "-3.00", "1e2", "10.5", "0.25"].map(decimals), [0, 0, 0, 0, 1, 2]);
    }

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
        for (text, shown) in [("-0.05", "-0.05"), ("1.50", "1.5"), ("1.5e-1", "0.15"), ("1e3", "1000"), (".5", "0.5")] {
            assert_eq!(written(text).value.to_string(), shown);
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        let (third, half) = (Number::fraction(1, 3).unwrap(), Number::fraction(2, -4).unwrap());
        assert_eq!(half.to_string(), "-0.5");
        assert_eq!(third.plus(half).unwrap().to_string(), "-1/6");
        assert_eq!(third.times(Number::whole(6)).unwrap(), Number::whole(2));
        assert_eq!((half.floor(), half.ceil(), half.magnitude()), (Number::whole(-1), Number::ZERO, half.negated()));
        let huge = Number::fraction(1_i128 << 119, 3).unwrap();
        assert_eq!(huge.times(Number::fraction(3, 1_i128 << 119).unwrap()), Some(Number::ONE));
        assert_eq!(huge.plus(huge.negated()), Some(Number::ZERO));
        assert!(Number::fraction(i128::MIN, 1).is_none() && Number::fraction(1, i128::MIN).is_none());
        assert!(near(0.1 + 0.2, 0.3) && !near(7.0, 7.1) && !near(f64::NAN, f64::NAN));
        assert!(!near(2_500_000.5, 2_500_001.0) && !near(f64::INFINITY, 1.0));
        assert!(near(3.0 * 1.1e11, 3.3e11) && !near(3.3e11 + 1.0, 3.3e11));
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let of = |upper: i128, lower: i128| Number::fraction(upper, lower).unwrap();
        let ascending = [
            of(-7, 2),
            of(-10, 3),
            of(-1, 1 << 110),
            of(0, 1),
            of(2, 7),
            of(1, 3),
            of(22, 7),
            of((1 << 119) + 1, 3),
            of(1 << 118, 1),
        ];
        for (n, a) in ascending.iter().enumerate() {
            for (m, b) in ascending.iter().enumerate() {
                assert_eq!(a.cmp(b), n.cmp(&m), "{a} {b}");
            }
        }
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
    fn numbers_are_about_what_they_are_rounded_from() {
        for (text, exact, is_about) in [
            ("3", "3.14", true),
            ("3.1", "3.19", true),
            ("100", "99.8", true),
            ("25000", "24690", true),
            ("25000", "24690.5", true),
            ("13", "12", false),
            ("25000", "26000", false),
            ("3.4", "3.2", false),
            ("0", "2", false),
        ] {
            assert_eq!(written(text).is_about(written(exact).value), is_about, "{text} {exact}");
        }
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
