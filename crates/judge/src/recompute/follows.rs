//! Search for a number among the results of others: each used once, with the four operations. It tells a slip from a plan that
//! nobody understood: what follows from nothing that a step reads was not worked out there.

use stepscope_arithmetic::number::near;

/// Error that rounding or cutting to hundredths leaves at most.
const A_CENT: f64 = 0.011;
/// Share of a number that was rounded to its first four digits.
const A_DIGIT: f64 = 1e-4;
/// With more numbers only sums and products are tried.
const MAX_ALL: usize = 3;
/// With more numbers than this nothing is tried.
const MAX_SUMS: usize = 6;
/// Numbers that people convert and count with.
const CONSTANTS: [f64; 11] = [2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 1000.0];

/// Tells whether exactly this number can come out of the values.
pub(crate) fn gives(values: &[f64], wanted: f64) -> bool {
    reached(values, &|number| near(number, wanted))
}

/// Tells whether this number may have come out of the values: rounded, or with a well-known conversion.
pub(crate) fn may_give(values: &[f64], wanted: f64) -> bool {
    let like = |number: f64| {
        let off = (number - wanted).abs();
        off <= A_CENT || (off < 1.0 && wanted.fract() == 0.0 && wanted.abs() >= 1.0) || off <= A_DIGIT * wanted.abs()
    };
    let exactly = |number: f64| (number - wanted).abs() <= A_CENT;
    let converted =
        |number: f64| CONSTANTS.iter().any(|constant| exactly(number * constant) || exactly(number / constant));
    reached(values, &like) || (values.len() <= MAX_ALL && joined(values, &converted))
}

fn reached(values: &[f64], is: &dyn Fn(f64) -> bool) -> bool {
    match values.len() {
        0 => false,
        1..=MAX_ALL => variants(values, 0, false, &mut values.to_vec(), is),
        count if count <= MAX_SUMS => sums(values, is),
        _ => false,
    }
}

/// Tries a share p also as 1 - p and 1 + p, for at most one number; 20 percent are 0.2.
fn variants(values: &[f64], at: usize, varied: bool, chosen: &mut Vec<f64>, is: &dyn Fn(f64) -> bool) -> bool {
    let Some(&value) = values.get(at) else { return joined(chosen, is) };
    let share = if value > 0.0 && value < 1.0 { Some(value) } else { None };
    let percent = if value > 1.0 && value < 100.0 && values.len() > 1 { Some(value / 100.0) } else { None };
    let forms = [percent, share.or(percent).map(|share| 1.0 - share), share.or(percent).map(|share| 1.0 + share)];
    let forms = if varied { [None; 3] } else { forms };
    std::iter::once((value, varied)).chain(forms.into_iter().flatten().map(|form| (form, true))).any(
        |(form, varied)| {
            if let Some(slot) = chosen.get_mut(at) {
                *slot = form;
            }
            variants(values, at + 1, varied, chosen, is)
        },
    )
}

/// Any two of the numbers joined by any operation, and so on.
fn joined(values: &[f64], is: &dyn Fn(f64) -> bool) -> bool {
    if let [one] = values {
        return is(*one);
    }
    for (n, &a) in values.iter().enumerate() {
        for (m, &b) in values.iter().enumerate().skip(n + 1) {
            let others = || values.iter().enumerate().filter(|(at, _)| *at != n && *at != m).map(|(_, value)| *value);
            for result in [a + b, a - b, b - a, a * b, a / b, b / a] {
                let rest: Vec<f64> = others().chain([result]).collect();
                if result.is_finite() && joined(&rest, is) {
                    return true;
                }
            }
        }
    }
    false
}

/// Sums with any signs, the product, the mean, a sum that one of the numbers multiplies or divides, and of four numbers
/// the sum or difference of two products: the costs of two things.
fn sums(values: &[f64], is: &dyn Fn(f64) -> bool) -> bool {
    let signed = (0..1_u32 << values.len()).any(|signs| {
        let sign = |at: usize| if signs >> at & 1 == 1 { -1.0 } else { 1.0 };
        is(values.iter().enumerate().map(|(at, value)| sign(at) * value).sum())
    });
    let total: f64 = values.iter().sum();
    let scaled = |value: &f64| is((total - value) * value) || is((total - value) / value);
    let products = |[a, b, c, d]: [f64; 4]| {
        let pairs = [(a * b, c * d), (a * c, b * d), (a * d, b * c)];
        pairs.into_iter().any(|(one, other)| is(one + other) || is((one - other).abs()))
    };
    let of_two = || <[f64; 4]>::try_from(values).is_ok_and(products);
    signed || of_two() || is(values.iter().product()) || is(total / values.len() as f64) || values.iter().any(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_told() {
        assert!(gives(&[450.0, 16.0], 7200.0));
        assert!(!gives(&[450.0, 16.0], 7100.0) && !may_give(&[450.0, 16.0], 7100.0));
        assert!(gives(&[798.0, 159.6], 638.4));
        assert!(gives(&[80.0, 0.15], 68.0) && gives(&[80.0, 15.0], 68.0));
        assert!(gives(&[5.0, 7.0, 84.0], 7.0));
        assert!(gives(&[3.0, 12.0, 5.0, 4.0], 56.0) && gives(&[5.0, 8.0, 8.0, 2.0], 56.0));
        assert!(gives(&[1.0, 2.0, 3.0, 4.0], 10.0) && gives(&[15.0, 13.0, 20.0, 8.0, 4.0], 14.0));
        assert!(may_give(&[50.0], 5.0 / 6.0) && may_give(&[10.0, 3.0], 3.33) && may_give(&[43.0, 8.0], 6.0));
        assert!(!gives(&[], 1.0) && !gives(&[1.0; 9], 9.0));
    }
}
