//! Memory for the values of a run: what is small in a file may be large in memory.

use super::super::plain::Plain;
use stepscope_base::json::Tape;

/// About what the values of one run may take in memory, and what a value takes besides its bytes.
pub(super) const MAX_WEIGHT: usize = 48 << 20;
pub(super) const VALUE: usize = 64;

/// Room for the values of one run.
pub(super) struct ValueRoom(pub usize);

impl Default for ValueRoom {
    fn default() -> Self {
        Self(MAX_WEIGHT)
    }
}

impl ValueRoom {
    /// Takes room for a value of so many bytes; `false`: there is none.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes + VALUE);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Reads JSON; what is none is a text. `None`: there is no room for it.
    pub(super) fn json(&mut self, text: &[u8]) -> Option<Plain> {
        let parts = text.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
        if !self.take(text.len() + parts * VALUE) {
            return None;
        }
        let mut tape = Tape::default();
        Some(tape.parse(text).map_or_else(|| Plain::text_of(text), Plain::of))
    }
}
