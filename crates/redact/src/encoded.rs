//! Texts in base64 or hexadecimal digits inside a text.

use std::ops::Range;

/// A shorter run says too little.
const SHORTEST: usize = 20;
/// Longest part of a run that is decoded before it is known to be a text.
const BEGIN: usize = 64;

/// Finds runs that are a text in other digits, and gives place and text of each.
pub(super) fn find(text: &[u8], mut found: impl FnMut(Range<usize>, Vec<u8>)) {
    let is_digit = |byte: &u8| sextet(*byte).is_some();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= SHORTEST) {
        let Some(begin) = rest.iter().position(is_digit) else { return };
        let run = rest.get(begin..).unwrap_or(rest);
        let run = run.get(..run.iter().take_while(|byte| is_digit(byte)).count()).unwrap_or(run);
        let start = at + begin;
        at = start + run.len();
        if run.len() < SHORTEST {
            continue;
        }
        let padding = text.iter().skip(at).take(2).take_while(|byte| **byte == b'=').count();
        let is_hex = run.len() % 2 == 0 && run.iter().all(u8::is_ascii_hexdigit);
        if is_hex && let Some(decoded) = decoded(run, from_hex) {
            found(start..at, decoded);
        } else if let Some(decoded) = decoded(run, from_base64) {
            found(start..at + padding, decoded);
        } else if let Some(slash) = run.iter().rposition(|byte| matches!(byte, b'/' | b'-' | b'_'))
            && let Some(last) = run.get(slash + 1..).filter(|last| last.len() >= SHORTEST)
            && let Some(decoded) = decoded(last, from_base64)
        {
            // The signs of base64 also part words and the names of a path.
            found(start + slash + 1..at + padding, decoded);
        }
    }
}

/// Decodes a run, if it is a text.
fn decoded(run: &[u8], decode: fn(&[u8]) -> Vec<u8>) -> Option<Vec<u8>> {
    let begin = decode(run.get(..BEGIN).unwrap_or(run));
    let is_readable = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'\t' | 0x20..=0x7e | 0x80..);
    let letters = begin.iter().filter(|byte| byte.is_ascii_graphic()).count();
    if !begin.iter().all(is_readable) || letters * 4 < begin.len() * 3 {
        return None;
    }
    Some(if run.len() <= BEGIN { begin } else { decode(run) })
}

const fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Decodes base64, either alphabet; an end that fills no byte is left out.
pub(super) fn from_base64(run: &[u8]) -> Vec<u8> {
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::with_capacity(run.len() * 3 / 4));
    for value in run.iter().map_while(|byte| sextet(*byte)) {
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

fn from_hex(run: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    run.chunks(2).map_while(pair).collect()
}
