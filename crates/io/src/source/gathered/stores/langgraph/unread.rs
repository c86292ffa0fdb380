//! Values of a store that could not be read, counted by how they are kept.

use std::collections::BTreeMap;

use super::super::room::{MAX_WEIGHT, ValueRoom};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Counts of what could not be read of a store.
#[derive(Default)]
pub(super) struct UnreadValues {
    /// Values by how they are kept, where that is not read.
    pub kinds: BTreeMap<Vec<u8>, usize>,
    /// Values that are damaged, too deep or too large.
    pub broken: usize,
    pub branches: usize,
    /// Names of variables of which only the changes are kept.
    pub inferred: bool,
}

impl UnreadValues {
    pub(super) fn notes(&self) -> Vec<Shown> {
        const NAMED: usize = 8;
        let mut notes = Vec::new();
        for (kind, count) in self.kinds.iter().take(NAMED) {
            let why = match kind.as_slice() {
                b"pickle" => Shown::own("pickle, which is not loaded"),
                kind if kind.contains(&b'+') => shown!("encrypted ({})", Shown::line(kind)),
                kind => shown!("kept as {}, which is not known", Shown::line(kind)),
            };
            notes.push(if *count == 1 { shown!("1 value is {why}") } else { shown!("{count} values are {why}") });
        }
        if self.broken > 0 {
            notes.push(shown!("{} values are damaged, too deep or too large", self.broken));
        }
        if self.branches > 0 {
            notes.push(shown!("{} branches left out", self.branches));
        }
        if self.inferred {
            notes.push(Shown::own("variables under inferred are not stored: what was written is appended"));
        }
        notes
    }
}

/// Room for the values of one checkpoint: two of them are compared.
pub(super) fn room() -> ValueRoom {
    ValueRoom(MAX_WEIGHT / 2)
}
