//! Values of tables whose columns have types, from their bytes.

use super::Cell;
use crate::source::times::{TimeKind, old_moment};

/// Number of digits that a decimal may have, and of bytes.
pub(in crate::source) const MAX_DIGITS: i32 = 76;
const MAX_DECIMAL: usize = 32;

impl Cell {
    /// Makes a number of its bytes, the highest first, and how many of its digits follow the point; where they are fewer
    /// than none, so many zeros follow the digits.
    pub(in crate::source) fn decimal(bytes: &[u8], scale: i32) -> Self {
        if bytes.len() > MAX_DECIMAL {
            return Self::Text(bytes.to_vec().into());
        }
        let (sign, mut all) = (if bytes.first().is_some_and(|byte| *byte > 127) { "-" } else { "" }, digits(bytes));
        if scale < 0 && all != "0" {
            all.extend(std::iter::repeat_n('0', scale.unsigned_abs() as usize));
        }
        let scale = usize::try_from(scale).unwrap_or(0);
        let all = format!("{all:0>width$}", width = scale + 1);
        let (whole, rest) = all.split_at(all.len() - scale);
        let point = if rest.is_empty() { "" } else { "." };
        Self::Json(format!("{sign}{whole}{point}{rest}").into_bytes().into())
    }

    /// Makes a number of its 16 bits.
    pub(in crate::source) fn half(bits: u16) -> Self {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let size = match exponent {
            0 => fraction * 2_f64.powi(-24),
            31 if fraction > 0.0 => f64::NAN,
            31 => f64::INFINITY,
            _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
        };
        Self::Float(if bits >> 15 == 1 { -size } else { size })
    }

    /// Makes the text of a date or time, or a number where there is no such.
    pub(in crate::source) fn time(number: i64, kind: TimeKind) -> Self {
        kind.text(number).map_or(Self::Int(number), |text| Self::Text(text.into_bytes().into()))
    }

    /// Makes the text of a time in the old form of Parquet, or the number of nanoseconds since 1970.
    pub(in crate::source) fn old_time(parts: &[u32]) -> Self {
        match old_moment(parts) {
            Ok(text) => Self::Text(text.into_bytes().into()),
            Err(nanos) => Self::Json(nanos.to_string().into_bytes().into()),
        }
    }

    /// Makes the text of a UUID of its bytes, if they are so many.
    pub(in crate::source) fn uuid(bytes: &[u8]) -> Option<Self> {
        let text = uuid::Uuid::from_slice(bytes).ok()?.hyphenated().to_string();
        Some(Self::Text(text.into_bytes().into()))
    }

    /// Makes a whole number of 64 bits without a sign.
    pub(in crate::source) fn unsigned(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Json(number.to_string().into_bytes().into()), Self::Int)
    }
}

/// Returns the digits of a number of its bytes, the highest first, without its sign.
fn digits(bytes: &[u8]) -> String {
    const GROUP: u64 = 1_000_000_000;
    let is_negative = bytes.first().is_some_and(|byte| *byte > 127);
    // Nine digits each, the lowest first.
    let mut groups = vec![0];
    let mut take = |factor: u64, more: u64| {
        let mut carry = more;
        for group in &mut groups {
            let number = *group * factor + carry;
            (*group, carry) = (number % GROUP, number / GROUP);
        }
        groups.extend((carry > 0).then_some(carry));
    };
    for byte in bytes {
        take(256, if is_negative { !byte } else { *byte }.into());
    }
    take(1, is_negative.into());
    let mut groups = groups.iter().rev();
    let first = groups.next().map_or_else(String::new, u64::to_string);
    groups.fold(first, |all, group| all + &format!("{group:09}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_sizes_are_the_same_as_json() {
        let json = |cell: Cell| {
            let mut json = Vec::new();
            cell.append_json(&mut json);
            String::from_utf8(json).unwrap()
        };
        for (number, scale, expected) in [
            (150_i128, 2, "1.50"),
            (-5, 2, "-0.05"),
            (7, 0, "7"),
            (0, 1, "0.0"),
            (-12_345, 3, "-12.345"),
            (-12, -3, "-12000"),
            (0, -2, "0"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(json(Cell::decimal(&number.to_be_bytes(), scale)), expected);
        }
        let largest = [&[0x7f][..], &[0xff; 31]].concat();
        let digits = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
        assert_eq!(json(Cell::decimal(&largest, 0)), digits);
        assert_eq!(json(Cell::decimal(&[0xff; 32], 1)), "-0.1");
        assert_eq!(Cell::decimal(&[], 0), Cell::decimal(&[0], 0));
        assert!(matches!(Cell::decimal(&[1; 33], 0), Cell::Text(_)));
        let halves = [(0x3e00, 1.5), (0xbc00, -1.0), (0x7bff, 65_504.0), (1, 2_f64.powi(-24)), (0, 0.0)];
        for (bits, expected) in halves {
            assert_eq!(Cell::half(bits), Cell::Float(expected), "{bits:x}");
        }
        let not_finite = [0x7c00, 0xfc00, 0x7e00].map(|bits| json(Cell::half(bits)));
        assert_eq!(not_finite, ["Infinity", "-Infinity", "NaN"]);
        assert_eq!((Cell::unsigned(7), json(Cell::unsigned(u64::MAX))), (Cell::Int(7), u64::MAX.to_string()));
    }
}
