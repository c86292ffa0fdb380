//! The JSON of a completion: what chat models put around it, taken away.

use std::borrow::Cow;

use stepscope_base::python::{rstrip, strip};
use stepscope_base::text::{Piece, pieces};

const FENCE: &[u8] = b"```";

/// The text without the code fence around it, and without blanks.
pub(super) fn unfenced(text: &[u8]) -> Cow<'_, [u8]> {
    let text = strip(text);
    let is_end = |piece: &Piece| matches!(piece, Piece::Char(c) if ends_line(*c));
    let first = pieces(text).find(|(_, piece)| is_end(piece));
    let Some((end, _)) = first.filter(|_| text.starts_with(FENCE)) else { return Cow::Borrowed(text) };
    let mut inner = Vec::new();
    // Lines are joined anew: one that ended in another way ends in a line feed now, inside of strings too.
    let rest = &text[end.end..];
    let rest = if text.get(end) == Some(b"\r") { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
    let mut after_return = false;
    for (range, piece) in pieces(rest) {
        let twin = after_return && piece == Piece::Char('\n');
        after_return = piece == Piece::Char('\r');
        match piece {
            Piece::Char(_) if twin => {}
            Piece::Char(c) if ends_line(c) => inner.push(b'\n'),
            _ => inner.extend_from_slice(&rest[range]),
        }
    }
    let inner = rstrip(&inner);
    let inner = inner.strip_suffix(FENCE).unwrap_or(inner);
    Cow::Owned(strip(inner).to_vec())
}

/// Tells whether Python's `str.splitlines` ends a line at this character.
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
