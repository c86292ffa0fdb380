//! Work that may panic on hostile data: libraries that read what others wrote.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does the work; `None`: it panicked. Whoever hears of panics is asked to keep quiet about this one: see
/// [`is_guarded`].
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    GUARDED.set(before);
    done
}

/// Whether a panic of this thread now would be caught and told in a sentence.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_and_ends_the_guard() {
        assert_eq!(guarded(|| 7), Some(7));
        assert_eq!(guarded(|| assert!(!is_guarded(), "always guarded here")), None);
        assert!(!is_guarded());
    }
}
