//! Boundaries of a passage against those of sentences.

use std::ops::Range;

use stepscope_base::text::{Piece, pieces};
use stepscope_evidence::citations::Resolution;
use stepscope_evidence::document::Document;

/// A quote of fewer words is a value, not a sentence.
const FEW_WORDS: usize = 4;

/// Describes what is odd about the ends of a passage, in words behind "the passage": of the quote where it was found,
/// of the cited lines where there is no quote.
pub(super) fn hints(document: &Document, resolution: &Resolution) -> Option<String> {
    let (bytes, lines) = match &resolution.found {
        Some(found) => (found.bytes.clone(), found.lines.clone()),
        None if resolution.has_quote() => return None,
        None => {
            let lines = resolution.cited.clone()?;
            let start = document.offset(lines.start)?;
            (start..start + document.text(lines.clone()).len(), lines)
        }
    };
    let text = document.bytes(bytes.clone());
    if text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(FEW_WORDS).count() < FEW_WORDS {
        return None;
    }
    let mut hints = Vec::new();
    if starts_inside(document, &bytes) {
        hints.push("starts in mid-sentence");
    }
    if ends_inside(document, &bytes) {
        hints.push("ends before its sentence does");
    }
    if has_gap(document, &lines) {
        hints.push("skips lines that are missing from the document");
    }
    (!hints.is_empty()).then(|| hints.join(", "))
}

fn starts_inside(document: &Document, bytes: &Range<usize>) -> bool {
    let text = document.bytes(bytes.clone());
    if begins_entry(text) {
        return false;
    }
    let line = document.line_at(bytes.start);
    let start = document.offset(line).unwrap_or(0);
    let before = closing(document.bytes(start..bytes.start));
    if let Some(last) = before {
        return !is_terminal(last);
    }
    // At the beginning of a line: a capital may begin a sentence, a small letter goes on with one.
    let small = chars(text).find(|c| c.is_alphanumeric()).is_some_and(char::is_lowercase);
    small && neighbour(document, (0..line).rev()).and_then(closing).is_some_and(|last| !is_terminal(last))
}

fn ends_inside(document: &Document, bytes: &Range<usize>) -> bool {
    let text = document.bytes(bytes.clone());
    if closing(text).is_none_or(is_terminal) {
        return false;
    }
    let line = document.line_at(bytes.end.saturating_sub(1));
    let end = document.offset(line).unwrap_or(0) + document.line(line).map_or(0, <[u8]>::len);
    let rest = document.bytes(bytes.end.min(end)..end);
    match chars(rest).find(|c| !is_around(*c)) {
        Some(next) => !is_terminal(next),
        // The line ends: the sentence goes on where the next line begins small.
        None => neighbour(document, line + 1..document.len()).is_some_and(|next| {
            !begins_entry(next) && chars(next).find(|c| c.is_alphanumeric()).is_some_and(char::is_lowercase)
        }),
    }
}

/// The next line that is text, at most a page's edge away.
fn neighbour(document: &Document, lines: impl Iterator<Item = usize>) -> Option<&[u8]> {
    const EDGES: usize = 10;
    let text =
        |n: &usize| !document.is_furniture(*n) && document.line(*n).is_some_and(|line| !line.trim_ascii().is_empty());
    lines.take(EDGES).find(text).and_then(|n| document.line(n))
}

fn has_gap(document: &Document, lines: &Range<usize>) -> bool {
    let numbers = lines.clone().filter_map(|n| document.number(n));
    let pairs = numbers.clone().zip(numbers.skip(1));
    pairs.into_iter().any(|((page, number), (next_page, next))| page == next_page && next > number.saturating_add(1))
}

/// Tells whether a text begins like an entry of a list: `(a)`, `•`, `3.`.
fn begins_entry(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let bracket = text.strip_prefix(b"(");
    let label = bracket.unwrap_or(text);
    let len = label.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let closed = label.get(len).is_some_and(|byte| *byte == b')' || (*byte == b'.' && bracket.is_none()));
    let short = (1..=4).contains(&len) && closed && label.get(len + 1).is_none_or(u8::is_ascii_whitespace);
    short
        || chars(text)
            .next()
            .is_some_and(|c| matches!(c, '•' | '-' | '–' | '—' | '−' | '*' | '▪' | '●' | '■' | '◦' | '·'))
}

/// The last character of a text that is neither a blank nor a quotation mark, bracket, dash or bullet around a passage.
fn closing(text: &[u8]) -> Option<char> {
    // What matters stands in the last few characters.
    let tail = &text[text.len().saturating_sub(64)..];
    chars(tail).filter(|c| !is_around(*c)).last()
}

fn is_around(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '(' | ')' | '[' | ']' | '{' | '}' | '_')
        || matches!(c, '-' | '–' | '—' | '−' | '•' | '*' | '▪' | '●' | '■' | '◦' | '·')
}

fn is_terminal(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ':' | ';' | '…' | '。' | '！' | '？' | '：' | '；')
}

fn chars(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    pieces(text).filter_map(|(_, piece)| if let Piece::Char(c) = piece { Some(c) } else { None })
}
