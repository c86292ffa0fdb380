//! Values as people read them.

use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head};

/// Largest number of bytes of one text that are prepared.
const MAX_TEXT: usize = 256 << 10;
/// Largest number of bytes of a value in a row.
const MAX_VALUE: usize = 2 << 10;

/// Renders a value in one line: scalars as they are in the file (strings unescaped, in quotes), containers by what is
/// in them; at most about `limit` bytes.
pub fn value_text(value: Value<'_>, limit: usize) -> Shown {
    match value.kind() {
        Kind::String | Kind::Key => {
            let text = value.string().unwrap_or_default();
            let head = head(text.bytes(), limit);
            let rest = text.bytes().len() - head.len();
            let quoted = shown!("\"{}\"", Shown::line(head));
            if rest > 0 { shown!("{quoted}… {rest} more bytes") } else { quoted }
        }
        Kind::Object | Kind::Array => {
            let (open, close, word) = if value.kind() == Kind::Object { ('{', '}', "key") } else { ('[', ']', "item") };
            match value.len() {
                0 => shown!("{open}{close}"),
                1 => shown!("{open}…{close} 1 {word}"),
                n => shown!("{open}…{close} {n} {word}s"),
            }
        }
        _ => {
            let raw = value.raw();
            let head = Shown::line(&raw[..limit.min(raw.len())]);
            if raw.len() > limit { shown!("{head}… {} digits more", raw.len() - limit) } else { head }
        }
    }
}

/// A value on one line; a string without its quotes.
pub fn one_line(value: Value<'_>) -> Shown {
    if value.kind() == Kind::String {
        let text = value.string().unwrap_or_default();
        let bytes = text.bytes();
        let head = head(bytes, MAX_VALUE);
        return match bytes.len() - head.len() {
            0 => text.line(),
            rest => shown!("{}… {rest} more bytes", Shown::line(head)),
        };
    }
    if value.is_container() && !value.is_empty() && value.raw().len() <= MAX_VALUE {
        return Shown::line(value.raw());
    }
    value_text(value, MAX_VALUE)
}

/// A value on one line, at most so many bytes of it; a string without its quotes.
pub fn short_line(value: Value<'_>, bytes: usize) -> Shown {
    let text = value.string();
    let text = text.as_ref().map_or(value.raw(), Untrusted::bytes);
    let begin = head(text, bytes);
    let shown = Shown::line(begin);
    if begin.len() < text.len() { shown.and("…") } else { shown }
}

/// Lays out a value in full: a string as text with its line breaks, anything else as it is in the record.
pub fn prose(value: Value<'_>) -> Shown {
    let whole = value.string();
    prose_of(whole.as_ref().map_or_else(|| value.raw(), |text| text.bytes()))
}

pub(crate) fn prose_of(bytes: &[u8]) -> Shown {
    let head = head(bytes, MAX_TEXT);
    match bytes.len() - head.len() {
        0 => Shown::prose(bytes),
        rest => shown!("{}\n… {rest} bytes more; stepscope show prints them", Shown::prose(head)),
    }
}

/// Indents the JSON of a value; what fits into the width is on one line. Numbers and strings stay as they are in the file.
pub(crate) fn pretty(value: Value<'_>, width: usize) -> Shown {
    let mut out = String::new();
    let mut open: Vec<Kind> = Vec::new();
    let mut fresh = true;
    let mut walk = value.walk();
    while let Some(stop) = walk.next() {
        close_down_to(&mut out, &mut open, stop.depth, true);
        if stop.depth > 0 {
            if !fresh {
                out.push(',');
            }
            new_line(&mut out, stop.depth);
        }
        push_key(&mut out, stop.key);
        let used = out.rsplit('\n').next().map_or(0, |line| line.chars().count());
        let line = || in_line(stop.value, width.saturating_sub(used));
        fresh = match stop.value.is_container().then(line).flatten() {
            Some(line) => {
                out.push_str(&line);
                walk.skip_inside();
                false
            }
            None => open_value(&mut out, &mut open, stop.value),
        };
        if out.len() > MAX_TEXT {
            out.push_str("\n…");
            break;
        }
    }
    close_down_to(&mut out, &mut open, 0, true);
    shown!("{out}")
}

/// The JSON of a value on one line, where it fits.
fn in_line(value: Value<'_>, room: usize) -> Option<String> {
    let mut out = String::new();
    let mut open: Vec<Kind> = Vec::new();
    let mut fresh = true;
    for stop in value.walk() {
        close_down_to(&mut out, &mut open, stop.depth, false);
        if !fresh {
            out.push_str(", ");
        }
        push_key(&mut out, stop.key);
        if !stop.value.is_container() && stop.value.raw().len() > room {
            return None;
        }
        fresh = open_value(&mut out, &mut open, stop.value);
        if out.len() > room {
            return None;
        }
    }
    close_down_to(&mut out, &mut open, 0, false);
    Some(out).filter(|line| line.len() <= room)
}

fn push_key(out: &mut String, key: Option<Value<'_>>) {
    if let Some(key) = key {
        out.push_str(Shown::line(key.raw()).as_str());
        out.push_str(": ");
    }
}

/// Writes a value, of a container that holds something only how it begins; tells whether it is one.
fn open_value(out: &mut String, open: &mut Vec<Kind>, value: Value<'_>) -> bool {
    if !value.is_container() || value.is_empty() {
        out.push_str(Shown::line(value.raw()).as_str());
        return false;
    }
    out.push(if value.kind() == Kind::Object { '{' } else { '[' });
    open.push(value.kind());
    true
}

fn close_down_to(out: &mut String, open: &mut Vec<Kind>, depth: usize, on_lines: bool) {
    while open.len() > depth {
        let kind = open.pop();
        if on_lines {
            new_line(out, open.len());
        }
        out.push(if kind == Some(Kind::Object) { '}' } else { ']' });
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

pub(crate) fn present(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    #[test]
    fn json_is_laid_out_with_its_digits() {
        let mut tape = Tape::default();
        let root = tape.parse(br#"{"a":[1.10,{}],"b":{"c":"x"},"d":[]}"#).unwrap();
        let expected = "{\n  \"a\": [\n    1.10,\n    {}\n  ],\n  \"b\": {\n    \"c\": \"x\"\n  },\n  \"d\": []\n}";
        assert_eq!(pretty(root, 0).as_str(), expected);
        let expected = "{\n  \"a\": [1.10, {}],\n  \"b\": {\"c\": \"x\"},\n  \"d\": []\n}";
        assert_eq!(pretty(root, 17).as_str(), expected);
        assert_eq!(pretty(root, 44).as_str(), r#"{"a": [1.10, {}], "b": {"c": "x"}, "d": []}"#);
        assert_ne!(pretty(root, 42).as_str(), pretty(root, 44).as_str());
    }
}
