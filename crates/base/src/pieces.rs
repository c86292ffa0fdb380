//! Pieces of text from data: characters, lone surrogates, and bytes that are neither.

use std::ops::Range;

/// A piece of text from data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// A Unicode character.
    Char(char),
    /// A lone surrogate, in the generalised form.
    Surrogate(u32),
    /// A byte that is not UTF-8.
    Byte(u8),
}

/// Cuts text from data into characters, lone surrogates and invalid bytes, each with its range.
pub fn pieces(bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, Piece)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let (len, piece) = first_piece(rest);
        let range = at..at + len;
        at += len;
        Some((range, piece))
    })
}

/// Cuts off the first piece of a text that is not empty: its length, and what it is.
pub(crate) fn first_piece(rest: &[u8]) -> (usize, Piece) {
    let first = rest.first().copied().unwrap_or(0);
    if first < 0x80 {
        return (1, Piece::Char(char::from(first)));
    }
    if let [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] = rest {
        return (3, Piece::Surrogate(0xd000 | (u32::from(second & 0x3f) << 6) | u32::from(third & 0x3f)));
    }
    for len in 2..=4 {
        let Some(head) = rest.get(..len) else { break };
        if let Ok(text) = std::str::from_utf8(head)
            && let Some(c) = text.chars().next()
        {
            return (len, Piece::Char(c));
        }
    }
    (1, Piece::Byte(first))
}
