//! The part of a record that a finding is about, in lines that can be read.
//!
//! A record that was written in lines is shown as it stands. A record on one line of several kilobytes is set anew:
//! only the containers around the labelled places are opened, long texts are cut, and what lies between is left out.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::places::Places;
use stepscope_base::ascii;
use stepscope_base::json::{Kind, Value};
use stepscope_base::text::ShownMap;
use stepscope_judge::case::CaseView;

/// A longer line is set anew.
const LONG_LINE: usize = 160;
/// A value that is no longer than this stays on one line.
const INLINE: usize = 100;
/// Bytes shown of a longer text; where a record is not JSON, on each side of the place.
const TEXT: usize = 64;
/// Most lines of the file that are shown in one piece when labels are far apart.
const MAX_LINES: usize = 200;

/// A child of a container: its key and its value.
type Child<'a> = (Option<Value<'a>>, Value<'a>);

/// Lines to show, and what to mark in them.
#[derive(Default, Debug)]
pub(super) struct Excerpt {
    /// The lines.
    pub text: String,
    /// The line number of the first; `None`: they are not the lines of the file.
    pub line: Option<usize>,
    /// For each label, what to mark.
    pub marks: Vec<Option<Range<usize>>>,
    /// Ranges to show although nothing is marked in them.
    pub context: Vec<Range<usize>>,
}

impl Excerpt {
    pub(super) fn of<'a>(case: &CaseView<'a>, ranges: &[Range<usize>], places: &mut Places<'a>) -> Self {
        if let Some(excerpt) = as_written(case, ranges, places) {
            return excerpt;
        }
        match case.root() {
            Some(root) => Layout::of(case.text(), root, ranges, places),
            None => window(case, ranges, places),
        }
    }

    /// The same lines and marks in ASCII.
    pub(super) fn ascii(mut self) -> Self {
        let mut text = String::with_capacity(self.text.len());
        // For each byte of the text the place where its character begins now.
        let mut starts = Vec::with_capacity(self.text.len() + 1);
        for c in self.text.chars() {
            starts.extend(std::iter::repeat_n(text.len(), c.len_utf8()));
            ascii::push(c, &mut text);
        }
        let end = text.len();
        let at = |byte: usize| starts.get(byte).copied().unwrap_or(end);
        for range in self.marks.iter_mut().flatten().chain(&mut self.context) {
            *range = at(range.start)..at(range.end);
        }
        self.text = text;
        self
    }

    /// Appends a line of the record, blanks at its start made plain, and marks what is labelled in it.
    fn push_line(&mut self, text: &[u8], line: Range<usize>, ranges: &[Range<usize>]) {
        let bytes = text.get(line.clone()).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        for &blank in bytes.get(..blanks).unwrap_or_default() {
            self.text.push_str(if blank == b'\t' { "    " } else { " " });
        }
        let (at, start) = (self.text.len(), line.start + blanks);
        let map = ShownMap::line(bytes.get(blanks..).unwrap_or_default());
        self.text.push_str(map.text.as_str());
        for (range, mark) in ranges.iter().zip(&mut self.marks) {
            // A range over several lines is marked on its first.
            if mark.is_none() && (line.start..=line.end).contains(&range.start) {
                let shown = map.range(range.start.saturating_sub(start)..range.end.saturating_sub(start));
                *mark = Some(at + shown.start..at + shown.end);
            }
        }
        self.context.push(at..self.text.len());
        self.text.push('\n');
    }
}

/// The lines as they stand in the file, if the record has short lines.
fn as_written(case: &CaseView<'_>, ranges: &[Range<usize>], places: &mut Places<'_>) -> Option<Excerpt> {
    let text = case.text();
    let first = ranges.iter().map(|range| range.start).min()?;
    let last = ranges.iter().map(|range| range.start).max()?;
    memchr::memchr(b'\n', text)?;
    let start = line_start(text, line_start(text, first).saturating_sub(1));
    let end = line_end(text, line_end(text, last) + 1);
    let lines = text.get(start..end)?;
    if memchr::memchr_iter(b'\n', lines).count() > MAX_LINES
        || lines.split(|byte| *byte == b'\n').any(|line| line.len() > LONG_LINE)
    {
        return None;
    }
    let mut excerpt = Excerpt { marks: vec![None; ranges.len()], ..Excerpt::default() };
    let (line, column) = places.position(start);
    excerpt.line = Some(line);
    // The record may begin in the middle of a line: an item of a list.
    excerpt.text.extend(std::iter::repeat_n(' ', (column - 1).min(INLINE)));
    let mut at = start;
    while at <= end && (at < end || at == start) {
        let stop = line_end(text, at);
        excerpt.push_line(text, at..stop, ranges);
        at = stop + 1;
    }
    let marked = |n: Option<usize>| {
        let line = n.and_then(|n| excerpt.context.get(n));
        line.is_some_and(|line| {
            excerpt.marks.iter().flatten().any(|mark| line.start <= mark.start && mark.start <= line.end)
        })
    };
    let near = |n: usize| marked(n.checked_sub(1)) || marked(Some(n + 1));
    let context = excerpt.context.iter().enumerate().filter(|(n, _)| near(*n)).map(|(_, line)| line.clone()).collect();
    excerpt.context = context;
    Some(excerpt)
}

fn line_start(text: &[u8], byte: usize) -> usize {
    text.get(..byte).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |found| found + 1)
}

fn line_end(text: &[u8], byte: usize) -> usize {
    let byte = byte.min(text.len());
    text.get(byte..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(text.len(), |found| byte + found)
}

/// A piece of the line around the first place, where no value could be read.
fn window(case: &CaseView<'_>, ranges: &[Range<usize>], places: &mut Places<'_>) -> Excerpt {
    let text = case.text();
    let place = ranges.first().cloned().unwrap_or(0..0);
    let (begin, stop) = (line_start(text, place.start), line_end(text, place.start));
    let start = character_start(text, place.start.saturating_sub(TEXT).max(begin));
    let end = character_start(text, (place.start + TEXT).max(start)).min(stop).max(start);
    let mut excerpt = Excerpt { marks: vec![None; ranges.len()], ..Excerpt::default() };
    excerpt.line = Some(places.position(place.start).0);
    if start > begin {
        excerpt.text.push_str("… ");
    }
    excerpt.push_line(text, start..end, ranges);
    if end < stop {
        excerpt.text.pop();
        excerpt.text.push_str(" …\n");
    }
    excerpt
}

/// The start of the character that a byte belongs to.
fn character_start(text: &[u8], byte: usize) -> usize {
    let byte = byte.min(text.len());
    let back = (0..4)
        .find(|back| byte.checked_sub(*back).is_none_or(|at| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)));
    byte.saturating_sub(back.unwrap_or(0))
}

/// Sets a record anew around its labels.
struct Layout<'a, 'r> {
    text: &'a [u8],
    places: &'r mut Places<'a>,
    ranges: &'r [Range<usize>],
    /// Labels of containers that were opened: their bracket is marked, not the whole.
    settled: Vec<bool>,
    excerpt: Excerpt,
}

impl<'a, 'r> Layout<'a, 'r> {
    fn of(text: &'a [u8], root: Value<'a>, ranges: &'r [Range<usize>], places: &'r mut Places<'a>) -> Excerpt {
        let excerpt = Excerpt { marks: vec![None; ranges.len()], ..Excerpt::default() };
        let mut layout = Self { text, places, ranges, settled: vec![false; ranges.len()], excerpt };
        let frame = layout.frame(root);
        layout.put(frame, 0);
        layout.excerpt.text.push('\n');
        layout.excerpt
    }

    /// The step around all labels, else the smallest container that does not fit on one line.
    fn frame(&mut self, root: Value<'a>) -> Value<'a> {
        let (ranges, first) = (self.ranges, self.ranges.first().map_or(0, |range| range.start));
        let around = |value: &Value<'a>| {
            let outer = value.range();
            ranges.iter().all(|inner| outer.start < inner.start && inner.end < outer.end)
        };
        let (mut path, mut of_steps) = (vec![root], false);
        while let Some(&here) = path.last() {
            let steps = of_steps && here.kind() == Kind::Array;
            // Only one child can be around the first label.
            let n = self.places.child_at(here, first);
            let child = self.child(here, n).filter(|(_, value)| around(value));
            of_steps = child.and_then(|(key, _)| key).is_some_and(|key| key.is_string("steps"));
            match child.map(|(_, value)| value).filter(|inside| inside.is_container()) {
                Some(step) if steps => return step,
                Some(inside) => path.push(inside),
                None => break,
            }
        }
        let large = path.iter().rev().find(|value| value.raw().len() > INLINE);
        large.copied().unwrap_or(root)
    }

    /// Tells whether a label lies inside a container, so that it must be opened.
    fn holds(&self, value: Value<'_>) -> bool {
        let outer = value.range();
        self.ranges.iter().any(|inner| outer.start < inner.start && inner.end < outer.end)
    }

    fn put(&mut self, value: Value<'a>, level: usize) {
        if !value.is_container() {
            self.token(value.range());
        } else if value.raw().len() <= INLINE {
            self.inline(value);
        } else if self.holds(value) {
            self.open(value, level);
        } else {
            let from = self.excerpt.text.len();
            let count = self.places.children(value).len();
            let (left, what, right) = match value.kind() {
                Kind::Object => ('{', if count == 1 { "key" } else { "keys" }, '}'),
                _ => ('[', if count == 1 { "item" } else { "items" }, ']'),
            };
            let _ = write!(self.excerpt.text, "{left} … {count} {what} {right}");
            self.mark_whole(&value.range(), from);
        }
    }

    /// A short value on one line.
    fn inline(&mut self, value: Value<'a>) {
        let range = value.range();
        match value.kind() {
            Kind::Object => {
                self.token(range.start..range.start + 1);
                for (n, member) in value.members().enumerate() {
                    self.excerpt.text.push_str(if n > 0 { ", " } else { "" });
                    self.token(member.key.range());
                    self.excerpt.text.push_str(": ");
                    self.inline(member.value);
                }
                self.token(range.end.saturating_sub(1)..range.end);
            }
            Kind::Array => {
                self.token(range.start..range.start + 1);
                for (n, item) in value.items().enumerate() {
                    self.excerpt.text.push_str(if n > 0 { ", " } else { "" });
                    self.inline(item);
                }
                self.token(range.end.saturating_sub(1)..range.end);
            }
            _ => self.token(range),
        }
    }

    /// A container over several lines: its first child, the labelled ones and their neighbours.
    fn open(&mut self, value: Value<'a>, level: usize) {
        let range = value.range();
        let from = self.excerpt.text.len();
        self.excerpt.text.push(if value.kind() == Kind::Object { '{' } else { '[' });
        for (n, label) in self.ranges.iter().enumerate() {
            if *label == range
                && let (Some(mark), Some(settled)) = (self.excerpt.marks.get_mut(n), self.settled.get_mut(n))
            {
                *mark = Some(from..from + 1);
                *settled = true;
            }
        }
        let count = self.places.children(value).len();
        let mut next = 0;
        for n in self.near(value, count) {
            let Some((key, child)) = self.child(value, n) else { continue };
            if n > next {
                self.next_line(level + 1);
                self.excerpt.text.push('…');
            }
            self.next_line(level + 1);
            if let Some(key) = key {
                self.token(key.range());
                self.excerpt.text.push_str(": ");
            }
            self.put(child, level + 1);
            if n + 1 < count {
                self.excerpt.text.push(',');
            }
            next = n + 1;
        }
        if next < count {
            self.next_line(level + 1);
            self.excerpt.text.push('…');
        }
        self.next_line(level);
        self.excerpt.text.push(if value.kind() == Kind::Object { '}' } else { ']' });
    }

    /// The numbers of the children that are shown: a container may have millions.
    fn near(&mut self, container: Value<'a>, count: usize) -> BTreeSet<usize> {
        let mut near = BTreeSet::from([0]);
        for range in self.ranges {
            let mut n = self.places.child_at(container, range.start);
            let end = range.end.max(range.start + 1);
            while self.child(container, n).is_some_and(|(key, value)| key.unwrap_or(value).range().start < end) {
                near.extend(n.saturating_sub(1)..(n + 2).min(count));
                n += 1;
            }
        }
        near
    }

    fn child(&mut self, container: Value<'a>, n: usize) -> Option<Child<'a>> {
        let at = *self.places.children(container).get(n)?;
        self.places.child(at)
    }

    fn next_line(&mut self, level: usize) {
        self.excerpt.text.push('\n');
        // Deeper than anyone can read the indent stands still.
        self.excerpt.text.extend(std::iter::repeat_n(' ', 2 * level.min(30)));
    }

    /// A key, a scalar or a bracket as it stands in the record; a long one is cut around what is labelled in it.
    fn token(&mut self, range: Range<usize>) {
        let inner = self.ranges.iter().find(|label| range.start < label.start && label.end < range.end);
        let slice = if range.len() <= INLINE {
            range.clone()
        } else {
            let focus = inner.map_or(range.start, |label| label.start.saturating_sub(TEXT / 2).max(range.start));
            let start = character_start(self.text, focus);
            start..character_start(self.text, (start + TEXT).min(range.end)).max(start)
        };
        if slice.start > range.start {
            self.excerpt.text.push_str("\"…");
        }
        let from = self.excerpt.text.len();
        let map = ShownMap::line(self.text.get(slice.clone()).unwrap_or_default());
        self.excerpt.text.push_str(map.text.as_str());
        let cut = slice.end < range.end;
        if cut {
            let quoted = self.text.get(range.start) == Some(&b'"');
            self.excerpt.text.push_str(if quoted { "…\"" } else { "…" });
        }
        for n in 0..self.ranges.len() {
            let Some(label) = self.ranges.get(n).cloned() else { continue };
            let empty_here = label.is_empty() && range.contains(&label.start);
            if !(label.start < range.end && range.start < label.end || empty_here) {
                continue;
            }
            let whole = label.start <= range.start && range.end <= label.end;
            let mark = if whole {
                from..self.excerpt.text.len()
            } else {
                let shown = map.range(label.start.saturating_sub(slice.start)..label.end.saturating_sub(slice.start));
                from + shown.start..from + shown.end
            };
            self.mark(n, mark);
        }
    }

    fn mark_whole(&mut self, range: &Range<usize>, from: usize) {
        for n in 0..self.ranges.len() {
            if self.ranges.get(n).is_some_and(|label| label.start < range.end && range.start < label.end) {
                self.mark(n, from..self.excerpt.text.len());
            }
        }
    }

    /// Marks for a label, or widens its mark.
    fn mark(&mut self, n: usize, new: Range<usize>) {
        if self.settled.get(n).copied().unwrap_or(true) {
            return;
        }
        if let Some(mark) = self.excerpt.marks.get_mut(n) {
            *mark = Some(mark.as_ref().map_or(new.clone(), |old| old.start.min(new.start)..old.end.max(new.end)));
        }
    }
}
