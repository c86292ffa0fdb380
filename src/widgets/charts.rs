//! Charts of the screen. What is nothing but characters is shared with the shell.

pub(crate) use stepscope_base::charts::{bar, dumbbell, interval, shade, share, short, span};

/// Divides a width by counts: what is above zero has a column at least, zero has none, and together they fill it.
pub(crate) fn widths<const N: usize>(counts: [u64; N], width: u16) -> [u16; N] {
    let mut left = u64::from(width);
    let mut whole: u64 = counts.iter().sum();
    let mut others = counts.iter().filter(|count| **count > 0).count() as u64;
    counts.map(|count| {
        if count == 0 {
            return 0;
        }
        others -= 1;
        let share = (left * count + whole / 2) / whole.max(1);
        // Those that follow keep a column each.
        let own = share.clamp(1.min(left), left.saturating_sub(others).max(1.min(left)));
        (left, whole) = (left - own, whole - count);
        own as u16
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_wide_as_their_counts() {
        assert_eq!(widths([10, 10, 0, 20], 40), [10, 10, 0, 20]);
        assert_eq!(widths([1, 9_999, 1], 40), [1, 38, 1]);
        assert_eq!(widths([0, 0], 40), [0, 0]);
        assert_eq!(widths([1, 1, 1], 2), [1, 1, 0]);
        assert_eq!(widths([3, 4, 5, 6], 77).iter().sum::<u16>(), 77);
    }
}
