//! The work budget of a thread: hostile input ends as undecided instead of running for ever. What hostile records would
//! take for ever is undecided instead.
//!
//! A unit is about a nanosecond of a slow machine. Work is counted and not timed, and what may be done for a text goes by
//! its own size: so the same text always says the same, whatever stands around it, and an input takes no more than its
//! size times a constant. Each thread has its own account, which bounds what is done within it.

use std::cell::Cell;

thread_local! {
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Units for each byte of a text.
const A_BYTE: u64 = 1_000;
/// Bytes that every input is allowed on top: the least budget of a tiny one.
const MORE: u64 = 50;

/// Units that may be used up for a text of so many bytes.
pub const fn allowance(bytes: usize) -> u64 {
    (bytes as u64 + MORE) * A_BYTE
}

/// Gives back the account that was open before, also after a panic.
struct Before(Option<u64>);

impl Drop for Before {
    fn drop(&mut self) {
        LEFT.set(self.0);
    }
}

/// Does something that may take so many units altogether.
pub fn within<T>(units: u64, doing: impl FnOnce() -> T) -> T {
    let _before = Before(LEFT.replace(Some(units)));
    doing()
}

/// Units that are left, but no more than so many.
pub fn left(most: u64) -> u64 {
    LEFT.get().map_or(most, |left| left.min(most))
}

/// Pays for work that was done.
pub(crate) fn pay(units: u64) {
    LEFT.set(LEFT.get().map(|left| left.saturating_sub(units)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_used_up_and_given_back() {
        assert_eq!(left(7), 7);
        let inner = || {
            pay(4);
            assert_eq!((left(100), left(3)), (6, 3));
            within(2, || pay(5));
            assert_eq!(left(100), 6, "an account of its own");
            pay(9);
            left(100)
        };
        assert_eq!(within(10, inner), 0);
        assert_eq!(left(7), 7);
        let broken = std::panic::catch_unwind(|| within(1, || assert!(left(9) > 1, "asked for")));
        assert!(broken.is_err());
        assert_eq!(left(7), 7);
    }
}
