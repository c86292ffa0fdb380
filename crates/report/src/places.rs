//! Places of findings in a record's text and in its file.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt};

use stepscope_base::json::{Member, Part, Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::Place;

/// Containers with more children are indexed when first asked: ten thousand findings in one list must not each walk it.
const INDEX_ABOVE: usize = 16;
/// Distance of the remembered positions in a text.
const STRIDE: usize = 32 << 10;

/// Finds places in one record.
#[derive(Debug)]
pub struct Places<'a> {
    text: &'a [u8],
    root: Option<Value<'a>>,
    start: (usize, usize),
    /// Positions in the tape of the children of containers.
    children: HashMap<usize, Vec<u32>>,
    objects: HashMap<usize, HashMap<Untrusted<'a>, Member<'a>>>,
    /// Line and column at every multiple of the stride.
    marks: Vec<(usize, usize)>,
}

impl<'a> Places<'a> {
    /// For one record.
    pub fn new(case: &CaseView<'a>) -> Self {
        let start = (case.line() as usize, case.origin().column);
        let (children, objects) = (HashMap::new(), HashMap::new());
        Self { text: case.text(), root: case.root(), start, children, objects, marks: Vec::new() }
    }

    /// The bytes of a place in the record's text. Where its pointer leads nowhere, of the nearest value around it.
    pub fn range(&mut self, place: &Place) -> Range<usize> {
        let len = self.text.len();
        match place {
            Place::Bytes { start, end } => {
                let start = (*start).min(len);
                start..(*end).clamp(start, len)
            }
            Place::Key(pointer) => self.find(pointer).map_or(0..len, |(key, value)| key.unwrap_or(value).range()),
            Place::Value(pointer) => self.find(pointer).map_or(0..len, |(_, value)| value.range()),
            Place::Span { pointer, start, end } => {
                self.find(pointer).map_or(0..len, |(_, value)| value.range_within(*start..*end))
            }
        }
    }

    /// The address of a place; of bytes, that of the innermost value that holds them.
    pub fn pointer<'p>(&self, place: &'p Place) -> Cow<'p, Pointer> {
        match place {
            Place::Key(pointer) | Place::Value(pointer) | Place::Span { pointer, .. } => Cow::Borrowed(pointer),
            Place::Bytes { start, .. } => Cow::Owned(self.root.map(|root| root.pointer_at(*start)).unwrap_or_default()),
        }
    }

    fn find(&mut self, pointer: &Pointer) -> Option<(Option<Value<'a>>, Value<'a>)> {
        let mut here = (None, self.root?);
        for part in &pointer.0 {
            let Some(inside) = self.step(here.1, part) else { break };
            here = inside;
        }
        Some(here)
    }

    fn step(&mut self, value: Value<'a>, part: &Part) -> Option<(Option<Value<'a>>, Value<'a>)> {
        match part {
            Part::Index(n) if *n < INDEX_ABOVE => value.items().nth(*n).map(|item| (None, item)),
            Part::Index(n) => {
                let at = *self.children(value).get(*n)?;
                self.child(at).filter(|(key, _)| key.is_none())
            }
            Part::Key(name) if value.members().nth(INDEX_ABOVE).is_none() => {
                let member = value.member_spelt(name.bytes())?;
                Some((Some(member.key), member.value))
            }
            Part::Key(name) => {
                let members = self.objects.entry(value.index());
                let members = members.or_insert_with(|| value.members().map(|m| (m.name(), m)).collect());
                members.get(name).map(|member| (Some(member.key), member.value))
            }
        }
    }

    /// The children of a container in their order, for [`Places::child`].
    pub(super) fn children(&mut self, value: Value<'a>) -> &[u32] {
        let at = |child: Value<'_>| child.index() as u32;
        let list = || value.items().map(at).chain(value.members().map(|member| at(member.value))).collect();
        self.children.entry(value.index()).or_insert_with(list)
    }

    /// A child by its place in the tape, and its key.
    pub(super) fn child(&self, at: u32) -> Option<(Option<Value<'a>>, Value<'a>)> {
        let found = self.root?.nth(at as usize)?;
        Some((found.key, found.value))
    }

    /// The number of the first child that does not end before a byte.
    pub(super) fn child_at(&mut self, value: Value<'a>, byte: usize) -> usize {
        let root = self.root;
        let ends = |at: u32| root.and_then(|root| root.nth(at as usize)).map_or(0, |found| found.value.range().end);
        self.children(value).partition_point(|at| ends(*at) <= byte)
    }

    /// Line and column of a byte in the file, both from 1, the column in characters.
    pub fn position(&mut self, byte: usize) -> (usize, usize) {
        let byte = byte.min(self.text.len());
        if byte < STRIDE {
            return advance(self.start, self.text.get(..byte).unwrap_or_default());
        }
        while self.marks.len() <= byte / STRIDE {
            let next = match self.marks.last() {
                None => self.start,
                Some(&from) => {
                    let start = (self.marks.len() - 1) * STRIDE;
                    advance(from, self.text.get(start..start + STRIDE).unwrap_or_default())
                }
            };
            self.marks.push(next);
        }
        let start = byte / STRIDE * STRIDE;
        let from = self.marks.get(byte / STRIDE).copied().unwrap_or(self.start);
        advance(from, self.text.get(start..byte).unwrap_or_default())
    }
}

/// Moves a position over some text.
fn advance((line, column): (usize, usize), text: &[u8]) -> (usize, usize) {
    (line + memchr::memchr_iter(b'\n', text).count(), advance_column(column, text))
}

/// Moves a column, in characters from 1, over some text.
pub fn advance_column(column: usize, text: &[u8]) -> usize {
    match memchr::memrchr(b'\n', text) {
        None => column + characters(text),
        Some(last) => 1 + characters(text.get(last + 1..).unwrap_or_default()),
    }
}

/// Counts the characters that begin in some text.
fn characters(text: &[u8]) -> usize {
    // Every byte but the followers of a UTF-8 sequence begins one. A run is counted in one byte: the compiler makes a
    // few wide instructions of that.
    let count = |run: &[u8]| run.iter().fold(0_u8, |count, byte| count.wrapping_add(u8::from((*byte as i8) >= -0x40)));
    let (runs, rest) = text.as_chunks::<128>();
    runs.iter().map(|run| usize::from(count(run))).sum::<usize>() + usize::from(count(rest))
}

/// The step that a pointer leads through, from 1, as messages count.
pub(crate) fn step_of(pointer: &Pointer) -> Option<usize> {
    pointer.0.windows(2).find_map(|pair| match pair {
        [Part::Key(key), Part::Index(n)] if *key == "steps" => Some(n + 1),
        _ => None,
    })
}

/// The same, of a pointer as it is written.
pub(super) fn step_of_text(pointer: &[u8]) -> Option<usize> {
    let mut parts = pointer.split(|byte| *byte == b'/').skip_while(|part| *part != b"steps").skip(1);
    let number: usize = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    number.checked_add(1)
}
