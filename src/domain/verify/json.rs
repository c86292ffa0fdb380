//! A completion read as Python's `json.loads` reads it, once what chat models put around it is gone.

use std::borrow::Cow;

use crate::domain::json::{Kind, Problem, ProblemKind, Tape, Value};
use crate::domain::python::{Message, rstrip, strip};
use crate::domain::text::{Piece, pieces};

const FENCE: &[u8] = b"```";

/// The text without the code fence around it, and without blanks.
pub(super) fn unfenced(text: &[u8]) -> Cow<'_, [u8]> {
    let text = strip(text);
    let is_end = |piece: &Piece| matches!(piece, Piece::Char(c) if ends_line(*c));
    let first = pieces(text).find(|(_, piece)| is_end(piece));
    let Some((end, _)) = first.filter(|_| text.starts_with(FENCE)) else { return Cow::Borrowed(text) };
    let mut inner = Vec::new();
    // Lines are joined anew: one that ended in another way ends in a line feed now, inside of strings too.
    let rest = text.get(end.end..).unwrap_or_default();
    let rest = if text.get(end) == Some(b"\r") { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
    let mut after_return = false;
    for (range, piece) in pieces(rest) {
        let twin = after_return && piece == Piece::Char('\n');
        after_return = piece == Piece::Char('\r');
        match piece {
            Piece::Char(_) if twin => {}
            Piece::Char(c) if ends_line(c) => inner.push(b'\n'),
            _ => inner.extend_from_slice(rest.get(range).unwrap_or_default()),
        }
    }
    let inner = rstrip(&inner);
    let inner = inner.strip_suffix(FENCE).unwrap_or(inner);
    Cow::Owned(strip(inner).to_vec())
}

/// Where Python's `str.splitlines` ends a line.
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Reads a value, or says why Python would not.
pub(super) fn read<'a>(tape: &'a mut Tape, text: &'a [u8]) -> Result<Value<'a>, Message> {
    tape.read(text);
    let refused = |problem: &&Problem| {
        problem.kind.is_fatal() || matches!(problem.kind, ProblemKind::ControlCharacter | ProblemKind::LongInteger)
    };
    if let Some(problem) = tape.problems.iter().find(refused) {
        return Err(said(problem.kind.summary(), text, problem.range.start));
    }
    let listed = tape.problems.len();
    let Some(root) = tape.root(text) else { return Err(said("there is nothing", text, 0)) };
    // Only so many problems are listed: behind others there may be more.
    let unlisted = (listed > 32)
        .then(|| root.walk().find_map(|stop| stop.key.into_iter().chain([stop.value]).find_map(refused_by_python)));
    match unlisted.flatten() {
        Some((kind, at)) => Err(said(kind.summary(), text, at)),
        None => Ok(root),
    }
}

fn refused_by_python(value: Value<'_>) -> Option<(ProblemKind, usize)> {
    match value.kind() {
        Kind::String | Kind::Key => {
            let at = value.raw().iter().position(|byte| *byte < 0x20)?;
            Some((ProblemKind::ControlCharacter, value.range().start + at))
        }
        Kind::Int if value.raw().iter().filter(|byte| byte.is_ascii_digit()).count() > 4300 => {
            Some((ProblemKind::LongInteger, value.range().start))
        }
        _ => None,
    }
}

/// With the place as Python counts it.
fn said(what: &str, text: &[u8], at: usize) -> Message {
    let before = text.get(..at).unwrap_or_default();
    let chars = |bytes: &[u8]| pieces(bytes).count();
    let line =
        before.iter().rposition(|byte| *byte == b'\n').map_or(before, |end| before.get(end + 1..).unwrap_or(b""));
    Message::new("Invalid JSON: ")
        .text(what)
        .text(": line ")
        .number(memchr::memchr_iter(b'\n', before).count() + 1)
        .text(" column ")
        .number(chars(line) + 1)
        .text(" (char ")
        .number(chars(before))
        .text(")")
}

/// What Python calls the type of a value.
pub(super) fn type_name(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "NoneType",
        Kind::True | Kind::False => "bool",
        Kind::Int => "int",
        Kind::Float | Kind::NotFinite => "float",
        Kind::String | Kind::Key => "str",
        Kind::Array => "list",
        Kind::Object => "dict",
    }
}
