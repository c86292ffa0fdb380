//! JSON in printed text, and what Python prints of such values: values that begin at the margin, or follow another one on
//! its line.

use super::{literal, records_in};
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::escape_len;

/// Line that looks like a record and was not read, with what it is.
pub(super) type Unread<'t> = (&'static str, &'t [u8]);

const BROKEN: &str = "JSON that cannot be read";
const BEHIND: &str = "a record that does not begin its line";

/// Strips a text of what colours it in a terminal.
pub(super) fn without_colours(text: Vec<u8>) -> Vec<u8> {
    const ESCAPE: u8 = 0x1b;
    if !text.contains(&ESCAPE) {
        return text;
    }
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text.as_slice());
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        let (before, escape) = rest.split_at(at);
        plain.extend_from_slice(before);
        rest = &escape[escape_len(escape)..];
    }
    plain.extend_from_slice(rest);
    plain
}

/// Gives the values in a text one by one, and lists what looks like one and was not read.
pub(super) fn each_value(text: &[u8], found: impl FnMut(Value<'_>)) -> Vec<Unread<'_>> {
    let mut reader = EmbeddedReader { found, tape: Tape::default(), work: text.len().saturating_mul(8) };
    let (mut at, mut unread) = (0, Vec::new());
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let read = reader.values(rest);
        let line = line_of(&rest[read..]);
        let is_broken = read == 0 && begins_like_record(rest);
        let why = if is_broken { Some(BROKEN) } else { is_behind(line).then_some(BEHIND) };
        unread.extend(why.map(|why| (why, line)));
        at += read + line.len();
    }
    unread
}

struct EmbeddedReader<F> {
    found: F,
    tape: Tape,
    /// Number of bytes that may still be looked at for values of several lines.
    work: usize,
}

impl<F: FnMut(Value<'_>)> EmbeddedReader<F> {
    /// Reads the values with which a text begins, each on the line where the one before it ends; their length.
    fn values(&mut self, text: &[u8]) -> usize {
        let (mut at, mut line) = (0, line_of(text).len());
        while let Some(rest) = text.get(at..).filter(|rest| matches!(rest, [b'{' | b'[', ..])) {
            let on_line = &text[at..line];
            let Some(len) = self.value(on_line).0.or_else(|| self.value_over_lines(rest)) else { break };
            at += len;
            let next = &text[at..];
            if at > line {
                line = at + line_of(next).len();
            }
            at += next.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b',')).count();
        }
        at
    }

    /// The same of a value that goes on over lines. Every line may look like the beginning of one that never ends.
    fn value_over_lines(&mut self, text: &[u8]) -> Option<usize> {
        let (len, looked_at) = self.value(&text[..self.work.min(text.len())]);
        self.work = self.work.saturating_sub(looked_at);
        len
    }

    /// Reads the value with which a text begins: its length, and how many bytes were looked at.
    fn value(&mut self, text: &[u8]) -> (Option<usize>, usize) {
        let (len, looked_at) = json_len(text);
        if let Some(root) = len.and_then(|len| self.tape.parse(text.get(..len)?)) {
            (self.found)(root);
            return (len, looked_at);
        }
        let (json, len) = literal::measured(text);
        let read = json.as_deref().and_then(|json| self.tape.parse(json));
        let is_read = read.is_some();
        read.into_iter().for_each(&mut self.found);
        (is_read.then_some(len), looked_at + len)
    }
}

/// Returns the first line of a text, with its end.
fn line_of(text: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'\n', b'\r', text).map_or(text.len(), |end| end + 1);
    &text[..end]
}

/// Tells whether a text begins like an object, or a list of objects.
fn begins_like_record(text: &[u8]) -> bool {
    let inside = |open: u8| text.strip_prefix(&[open]).map(<[u8]>::trim_ascii_start);
    matches!(inside(b'{'), Some([b'"' | b'\'', ..])) || matches!(inside(b'['), Some([b'{', ..]))
}

/// Tells whether there is a record on a line, behind other text.
fn is_behind(line: &[u8]) -> bool {
    let begins = |at: &usize| line.get(*at..).is_some_and(begins_like_record);
    let Some(rest) = memchr::memchr2_iter(b'{', b'[', line).find(begins).and_then(|at| line.get(at..)) else {
        return false;
    };
    let mut any = false;
    let found = |value: Value<'_>| _ = records_in(value, |_| any = true);
    EmbeddedReader { found, tape: Tape::default(), work: 0 }.value(rest);
    any
}

/// Measures the JSON value that begins here, if it ends, and what was looked at.
fn json_len(text: &[u8]) -> (Option<usize>, usize) {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (n, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (Some(n + 1), n + 1);
                }
            }
            _ => {}
        }
    }
    (None, text.len())
}
