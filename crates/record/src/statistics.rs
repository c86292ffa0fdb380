//! The few statistics that reviews and comparisons need. `tests/it/statistics.rs` compares them with what scipy,
//! statsmodels and scikit-learn give.

/// The quantile of the normal distribution for an interval of 95 %.
pub const Z: f64 = 1.959_963_984_540_054;
/// An agreement over fewer items is counted, not measured.
pub const FEW: u64 = 20;

/// Wilson's interval of 95 % for a share; `None`: of nothing.
pub fn wilson(hits: u64, of: u64) -> Option<(f64, f64)> {
    if of == 0 || hits > of {
        return None;
    }
    let n = of as f64;
    let share = hits as f64 / n;
    let scale = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // With none or all the end of the interval is known exactly.
    let low = if hits == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if hits == of { 1.0 } else { (middle + half).min(1.0) };
    Some((low, high))
}

/// McNemar's exact test, two-sided: how likely so uneven a split of the items on which two runs differ is if neither is
/// better. `only_a` and `only_b` count the items that one of them alone has right.
pub fn mcnemar(only_a: u64, only_b: u64) -> f64 {
    let (fewer, n) = (only_a.min(only_b), only_a.saturating_add(only_b));
    // The terms of the binomial distribution up to `fewer`, from the largest down, each from the one before.
    let first = (1..=fewer).map(|i| ((n - fewer + i) as f64 / i as f64).ln()).sum::<f64>() - n as f64 * 2_f64.ln();
    let (mut sum, mut term, mut k) = (0.0, first.exp(), fewer);
    while term > sum * f64::EPSILON && term > 0.0 {
        sum += term;
        if k == 0 {
            break;
        }
        term *= k as f64 / (n - k + 1) as f64;
        k -= 1;
    }
    (2.0 * sum).min(1.0)
}

/// Cohen's kappa of two reviewers, from the category that each gave an item; `None` where it is not defined: without
/// items, or when both always gave the same one category.
pub fn cohen(ratings: &[(usize, usize)], categories: usize) -> Option<f64> {
    let n = ratings.len() as f64;
    let agreed = ratings.iter().filter(|(a, b)| a == b).count() as f64 / n;
    let share = |of: &dyn Fn(&(usize, usize)) -> bool| ratings.iter().filter(|pair| of(pair)).count() as f64 / n;
    let chance: f64 = (0..categories).map(|c| share(&|pair| pair.0 == c) * share(&|pair| pair.1 == c)).sum();
    kappa(agreed, chance)
}

/// Fleiss' kappa of several reviewers: for each item, how many gave it each category; every item has as many
/// reviewers. `None` where it is not defined.
pub fn fleiss(items: &[Vec<u64>]) -> Option<f64> {
    let raters = items.first()?.iter().sum::<u64>() as f64;
    let n = items.len() as f64;
    let categories = items.iter().map(Vec::len).max()?;
    let agreed: f64 = items
        .iter()
        .map(|counts| counts.iter().map(|count| (*count as f64) * (*count as f64 - 1.0)).sum::<f64>())
        .sum::<f64>()
        / (n * raters * (raters - 1.0));
    let share = |c: usize| items.iter().filter_map(|counts| counts.get(c)).sum::<u64>() as f64 / (n * raters);
    let chance: f64 = (0..categories).map(|c| share(c) * share(c)).sum();
    kappa(agreed, chance)
}

fn kappa(agreed: f64, chance: f64) -> Option<f64> {
    let kappa = (agreed - chance) / (1.0 - chance);
    // Where everybody always says the same, rounding must not make a number of nothing.
    (kappa.is_finite() && 1.0 - chance > 1e-12).then_some(kappa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_no_share_and_one_category_no_agreement() {
        assert_eq!(wilson(0, 0), None);
        assert_eq!(wilson(3, 2), None);
        for of in 1..2_000 {
            let (none, all) = (wilson(0, of).unwrap(), wilson(of, of).unwrap());
            assert!(none.0 <= 0.0 && all.1 >= 1.0, "{of}: {none:?} {all:?}");
        }
        assert_eq!(cohen(&[], 2), None);
        assert_eq!(cohen(&[(1, 1); 30], 2), None);
        assert_eq!(fleiss(&[]), None);
        assert_eq!(fleiss(&vec![vec![3, 0]; 30]), None);
        assert_eq!(fleiss(&vec![vec![1, 0]; 30]), None, "one reviewer agrees with nobody");
        assert!((cohen(&[(0, 0), (1, 1), (1, 1)], 2).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_test_of_a_split_stays_a_probability() {
        assert!((mcnemar(0, 0) - 1.0).abs() < 1e-12);
        assert!((mcnemar(5, 5) - 1.0).abs() < 1e-12);
        assert!((mcnemar(0, 1) - 1.0).abs() < 1e-12);
        assert!((mcnemar(0, 10) - 2.0 / 1024.0).abs() < 1e-12);
        assert!(mcnemar(1, 3_000_000) >= 0.0);
        assert!((mcnemar(1_500_000, 1_500_000) - 1.0).abs() < 1e-9);
    }
}
