//! Work that the quotes of one answer may cost.

/// The most work for all quotes of one answer, about a quarter of a second; a small record gets what its size allows.
pub(super) const MAX_WORK: u64 = 200_000_000;
/// The most bytes of all cited lines of one answer in which its quotes are looked for byte for byte, whatever work is left.
const MAX_EXACT: u64 = 4 << 30;

/// Work left for finding the quotes of an answer. Work is paid for before it is done.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    pub(super) left: u64,
    /// Bytes that may still be looked through for quotes byte for byte.
    pub(super) exact: u64,
    /// Something could not be paid.
    pub(super) is_out: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(MAX_WORK)
    }
}

impl Budget {
    pub(super) const fn of(work: u64) -> Self {
        Self { left: work, exact: MAX_EXACT, is_out: false }
    }

    /// Takes work so many times; `false`: that is too much, and nothing more will be done.
    pub(super) fn spend(&mut self, times: usize, each: u64) -> bool {
        let left = self.left.checked_sub((times as u64).saturating_mul(each));
        self.is_out |= left.is_none();
        self.left = left.unwrap_or(0);
        !self.is_out
    }

    /// Pays for looking for a quote byte for byte, which other work never takes from; `false` if too little is left.
    pub(super) const fn find(&mut self, bytes: usize) -> bool {
        let left = self.exact.checked_sub(bytes as u64);
        if let Some(left) = left {
            self.exact = left;
        }
        left.is_some()
    }

    /// Pays for folding some bytes; `false` if too little work is left.
    pub(super) fn fold(&mut self, bytes: usize) -> bool {
        self.spend(bytes, 16)
    }

    /// Pays for looking through some bytes; `false` if too little work is left.
    pub(super) fn scan(&mut self, bytes: usize) -> bool {
        self.spend(bytes, 1)
    }

    /// Pays for comparing a quote of so many bytes with a place; `false` if too little work is left.
    pub(super) fn compare(&mut self, bytes: usize) -> bool {
        self.spend(bytes + 16, 32)
    }
}
