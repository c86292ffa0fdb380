//! Texts that wait for others to join them, outside of the program's own memory.

use crate::failure::Failure;
use crate::source::open::Blob;
use stepscope_base::text::Shown;

/// Texts are handed over in pieces of this size.
const PIECE: usize = 1 << 18;

/// Place of a text on a shelf.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Slot {
    at: u64,
    pub len: usize,
}

/// Texts, kept in a file in memory.
pub(super) struct Shelf {
    blob: Blob,
    at: u64,
    piece: Vec<u8>,
}

impl Shelf {
    pub(super) fn new(name: &Shown) -> Result<Self, Failure> {
        Ok(Self { blob: Blob::in_memory(name.clone())?, at: 0, piece: Vec::new() })
    }

    pub(super) const fn len(&self) -> u64 {
        self.at + self.piece.len() as u64
    }

    pub(super) fn put(&mut self, text: &[u8]) -> Result<Slot, Failure> {
        let slot = Slot { at: self.len(), len: text.len() };
        self.piece.extend_from_slice(text);
        if self.piece.len() >= PIECE {
            self.hand_over()?;
        }
        Ok(slot)
    }

    /// Puts a text that no reader knows on a line of its own.
    pub(super) fn put_line(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.put(&on_one_line(text))?;
        self.put(b"\n")?;
        Ok(())
    }

    fn hand_over(&mut self) -> Result<(), Failure> {
        self.blob.append(&self.piece, self.at)?;
        self.at += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }

    /// Appends a text to another one.
    pub(super) fn take(&mut self, slot: Slot, out: &mut Vec<u8>) -> Result<(), Failure> {
        if slot.at + slot.len as u64 > self.at {
            self.hand_over()?;
        }
        let mut text = Vec::new();
        self.blob.read(slot.at, slot.len, &mut text)?;
        out.extend_from_slice(&text);
        Ok(())
    }

    /// Returns all of it as lines.
    pub(super) fn into_lines(mut self) -> Result<Blob, Failure> {
        self.hand_over()?;
        Ok(self.blob)
    }
}

/// Writes a text on one line; between the parts of JSON, a line break is a blank.
pub(super) fn on_one_line(text: &[u8]) -> Vec<u8> {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).collect::<Vec<_>>().join(&b' ')
}
