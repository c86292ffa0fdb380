//! Comparisons of numbers, of what a row keeps in 32 bits too.

use stepscope_arithmetic::number::near;

/// Comparison of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl Operator {
    /// Longest first, so that `>=` is not read as `>`.
    pub(crate) const SIGNS: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::More),
        ("=", Self::Equal),
        (":", Self::Equal),
    ];

    /// Compares a column, which is kept in 32 bits: what is the same there is equal.
    pub(crate) fn holds(self, value: f64, limit: f64) -> bool {
        self.holds_where(value, limit, value as f32 - limit as f32 == 0.0)
    }

    /// Compares a number that is all there.
    pub(crate) fn holds_exactly(self, value: f64, limit: f64) -> bool {
        self.holds_where(value, limit, value - limit == 0.0)
    }

    fn holds_where(self, value: f64, limit: f64, is_same: bool) -> bool {
        // Fractions are typed as they are shown.
        let near = is_same || limit.fract() != 0.0 && near(value, limit);
        match self {
            Self::Less => value < limit && !near,
            Self::AtMost => value <= limit || near,
            Self::Equal => near,
            Self::AtLeast => value >= limit || near,
            Self::More => value > limit && !near,
        }
    }
}
