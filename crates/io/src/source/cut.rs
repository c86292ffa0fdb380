//! Where one record ends and the next begins, found without reading values: JSON lines by their line ends, other
//! documents by their brackets. Pure: bytes in, ranges out, block by block.

use std::ops::Range;

use memchr::{memchr, memchr2, memchr3};

use stepscope_base::json::{ProblemKind, Tape, may_hold_several};
use stepscope_base::text::Shown;

/// Layout of the records of a source; told from its beginning, see [`Layout::of`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// One record per line; the byte that ends a line.
    Lines(u8),
    /// Values one after another, over as many lines as they like; of a list, its items.
    Values,
}

impl Layout {
    /// Tells the layout by the beginning of a source, `Lines` where nothing can be told; `None`: its first lines are
    /// longer than that, and more of them tells. `is_all`: nothing follows.
    pub fn of(head: &[u8], is_all: bool) -> Option<Self> {
        let Some(start) = first_value(head) else { return Some(Self::Lines(line_end(head))) };
        let text = &head[start..];
        if opens_list(text, DEEPEST) == Some(true) {
            return Some(Self::Values);
        }
        let end = line_end(text);
        let line = &text[..memchr(end, text).unwrap_or(text.len())];
        let is_one_line = line.len() == text.len();
        let mut tape = Tape::default();
        let broken = failure(&mut tape, line);
        let is_values = match broken {
            // One value behind another, and no lines: each is found by its brackets, however many there are.
            Some(ProblemKind::Trailing) if is_one_line && value_before_another(&tape, line).is_some() => true,
            _ if is_one_line && !is_all => return None,
            None | Some(ProblemKind::Trailing) => false,
            _ if is_one_line => true,
            Some(ProblemKind::Cut) if is_one_document(&mut tape, text, end, is_all) => true,
            // The rest of a long document may look broken, or the first line is broken and what follows only looks like
            // its rest.
            _ if matches!(text.first(), Some(b'{' | b'[')) => {
                let indent = head[..start].iter().rev().take_while(|byte| is_blank(**byte)).count();
                !has_good_line(&mut tape, (text, end), indent, broken == Some(ProblemKind::Cut), is_all)?
            }
            _ => false,
        };
        Some(if is_values { Self::Values } else { Self::Lines(end) })
    }
}

fn failure(tape: &mut Tape, text: &[u8]) -> Option<ProblemKind> {
    if tape.read(text) { None } else { tape.problems().last().map(|problem| problem.kind) }
}

/// Tells whether a text whose first line is no value is one over more lines, as far as it is there.
fn is_one_document(tape: &mut Tape, text: &[u8], end: u8, is_all: bool) -> bool {
    match failure(tape, text) {
        None | Some(ProblemKind::Trailing) => true,
        // Records on lines of their own do not go on as one value does for long.
        Some(ProblemKind::Cut) => !is_all && memchr::memchr_iter(end, text).nth(2).is_some(),
        _ => false,
    }
}

/// Tells whether a line behind the first is a record by itself, no deeper than that one: inside a document they are
/// indented. Where the first may go on (`is_cut`), only an object is one. `None`: the last may be one, and is not all
/// there.
fn has_good_line(tape: &mut Tape, (text, end): (&[u8], u8), indent: usize, is_cut: bool, is_all: bool) -> Option<bool> {
    let may_be_one = |line: &&[u8]| {
        let text = line.trim_ascii();
        leading_blanks(line) <= indent && !text.is_empty() && (!is_cut || begins_object(text))
    };
    if text.split(|&b| b == end).skip(1).filter(may_be_one).any(|line| tape.read(line.trim_ascii())) {
        return Some(true);
    }
    let last = text.rsplit(|&b| b == end).next().expect("a split has a first part");
    let is_open = !is_all && last.len() < text.len() && may_be_one(&last) && begins_object(last.trim_ascii());
    (!is_open).then_some(false)
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn leading_blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| is_blank(**byte)).count()
}

/// Tells whether a text begins like an object that holds something.
fn begins_object(text: &[u8]) -> bool {
    text.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().first() == Some(&b'"'))
}

/// Tells whether a line is a record of a list by itself, with nothing behind it but what belongs to the list.
fn is_item(line: &[u8]) -> bool {
    let (text, mut tape) = (without_filler(line), Tape::default());
    if !begins_object(text) || tape.read(text) {
        return begins_object(text);
    }
    let behind = tape.problems().last().filter(|problem| problem.kind == ProblemKind::Trailing);
    let rest = behind.and_then(|problem| text.get(problem.range.start..));
    rest.is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b',' | b']') || byte.is_ascii_whitespace()))
}

/// Returns the byte that ends a line: old Mac files end their lines with a carriage return alone.
pub(crate) fn line_end(text: &[u8]) -> u8 {
    if memchr(b'\n', text).is_none() && memchr(b'\r', text).is_some() { b'\r' } else { b'\n' }
}

/// Lists of records in a list, such as a population's elites by generation, are gone into so deep.
const DEEPEST: u8 = 2;

/// Tells whether the text opens a list whose items are records, or at most so many lists around them; `None`: it cannot
/// be told yet. What holds nothing, an empty generation or a `null`, tells nothing.
fn opens_list(text: &[u8], most: u8) -> Option<bool> {
    let (mut open, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let len = match rest.first() {
            Some(b'[') if open < most => {
                open += 1;
                1
            }
            Some(b']') if open > 1 => {
                open -= 1;
                1
            }
            Some(b',') if open > 0 => 1,
            Some(byte) if byte.is_ascii_whitespace() => 1,
            Some(b'n') if open > 0 && rest.starts_with(b"null") => 4,
            Some(b'n') if open > 0 && b"null".starts_with(rest) => return None,
            byte => return Some(open > 0 && byte == Some(&b'{')),
        };
        at += len;
    }
    None
}

/// Tells whether the text begins with a list that holds nothing.
fn opens_empty_list(text: &[u8]) -> bool {
    let Some(inside) = text.strip_prefix(b"[") else { return false };
    inside.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b']')
}

/// Finds the first byte that is neither blank nor in a comment.
fn first_value(block: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += leading(block.get(at..)?);
        let rest = block.get(at..).filter(|rest| !rest.is_empty())?;
        if !rest.starts_with(b"//") {
            return Some(at);
        }
        at += memchr2(b'\n', b'\r', rest)?;
    }
}

/// Tells whether a file's first block begins like JSON, which is what folders are searched for.
pub(crate) fn looks_like_json(block: &[u8]) -> bool {
    let Some(rest) = first_value(block).and_then(|at| block.get(at..)) else { return false };
    let after = rest.get(1..).and_then(|rest| rest.iter().find(|b| !b.is_ascii_whitespace()));
    match rest.first() {
        Some(b'{') => matches!(after, Some(b'"' | b'}') | None),
        Some(b'[') => matches!(after, Some(b'{' | b'[' | b']') | None),
        _ => false,
    }
}

/// Tells whether a byte belongs around records and not in them: blanks, record separators (RFC 7464) and NUL bytes.
const fn is_filler(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x1e | 0)
}

const BOM: &[u8] = b"\xef\xbb\xbf";

pub(crate) fn leading(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        if rest.first().is_some_and(|&b| is_filler(b)) {
            at += 1;
        } else if rest.starts_with(BOM) {
            at += BOM.len();
        } else {
            break;
        }
    }
    at
}

pub(crate) fn trailing(text: &[u8]) -> usize {
    text.iter().rev().take_while(|&&b| is_filler(b)).count()
}

/// Strips a text of what may be around a record.
pub(crate) fn without_filler(text: &[u8]) -> &[u8] {
    let text = &text[leading(text)..];
    &text[..text.len() - trailing(text)]
}

/// Counts of lines that were passed over, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Skips {
    /// Lines without anything.
    pub blank: u64,
    /// Lines that begin with `//`.
    pub comments: u64,
    /// Lines of NUL bytes alone.
    pub nul: u64,
    /// Commas of a list behind which no item comes.
    pub commas: u64,
    /// The last line, if it is cut off: it is being written, or its writer died. Its number, from 1.
    pub cut: Option<u64>,
}

impl Skips {
    /// Adds both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            blank: self.blank + other.blank,
            comments: self.comments + other.comments,
            nul: self.nul + other.nul,
            commas: self.commas + other.commas,
            cut: self.cut.or(other.cut),
        }
    }

    /// Counts all lines that were passed over.
    pub fn total(&self) -> u64 {
        self.blank + self.comments + self.nul + self.commas + u64::from(self.cut.is_some())
    }

    /// Summarises what was read and what was not: `read 274, skipped 1: line 275 cut off`.
    pub fn phrase(&self, read: u64) -> Shown {
        let mut parts = Vec::new();
        if let Some(line) = self.cut {
            parts.push(format!("line {line} cut off"));
        }
        for (n, one, many) in [
            (self.comments, "comment line", "comment lines"),
            (self.blank, "blank line", "blank lines"),
            (self.nul, "line of NUL bytes", "lines of NUL bytes"),
            (self.commas, "comma too many", "commas too many"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        if parts.is_empty() {
            stepscope_base::shown!("read {read}")
        } else {
            stepscope_base::shown!("read {read}, skipped {}: {}", self.total(), parts.join(", "))
        }
    }
}

/// State of the cutter between two records.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// Inside so many lists whose items are records.
    list: u8,
    /// A value at the outermost level has been seen.
    seen: bool,
    /// Inside a list: what comes before the next item.
    before: Before,
    /// Number of blanks at the beginning of the line.
    indent: usize,
    /// Nothing but blanks stands before on the line.
    is_fresh: bool,
}

/// Separator before an item of a list.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Before {
    /// The beginning of the list.
    #[default]
    Start,
    /// A comma.
    Comma,
    /// Another item.
    Item,
}

impl State {
    /// Chooses how to find the end of the value that begins here, in a document.
    pub fn span(self, text: &[u8]) -> Span {
        match text.first() {
            Some(b'{' | b'[') => Span::Brackets(Brackets { indent: self.indent, ..Brackets::default() }),
            _ if self.is_list() => Span::Item,
            // A lone string, number or word is a record only in a document of its own; rubbish goes by the line.
            _ => Span::Line(b'\n'),
        }
    }

    /// Tells whether the next value is an item of a list.
    pub const fn is_list(self) -> bool {
        self.list > 0
    }

    /// Counts the lists around the next value.
    pub const fn lists(self) -> u8 {
        self.list
    }

    /// Notes that bytes were passed, for the beginning of the line that they end in.
    pub(crate) fn note(&mut self, passed: &[u8]) {
        let line_end = memchr::memrchr(b'\n', passed);
        let line = &passed[line_end.map_or(0, |at| at + 1)..];
        if line_end.is_some() {
            (self.indent, self.is_fresh) = (0, true);
        }
        if self.is_fresh {
            let blanks = leading_blanks(line);
            self.indent += blanks;
            self.is_fresh = blanks == line.len();
        }
    }

    /// Number of blanks at the beginning of the line.
    pub(crate) const fn indent(self) -> usize {
        self.indent
    }

    /// Notes that a value broke off: the comma behind it is lost with its rest.
    pub(crate) const fn break_off(&mut self) {
        self.before = Before::Comma;
    }

    /// Notes that the source ends inside the list: nothing more is missing from it.
    pub(crate) const fn end_list(&mut self) {
        self.list = 0;
    }

    /// Notes that a value was read; whether it is joined to another, in a list without a comma between them.
    pub fn pass(&mut self) -> bool {
        let joined = if self.is_list() { self.before == Before::Item } else { self.seen };
        (self.seen, self.before) = (true, Before::Item);
        joined
    }

    /// Notes the beginning of a list.
    const fn open(&mut self) {
        (self.list, self.seen, self.before) = (self.list + 1, true, Before::Start);
    }

    /// Notes a comma, or the end of a list; counts the comma before it that no item follows.
    fn separate(&mut self, mark: u8, skips: &mut Skips) {
        let is_comma = mark == b',';
        skips.commas += u64::from(self.before == Before::Comma || is_comma && self.before == Before::Start);
        self.before = if is_comma { Before::Comma } else { Before::Item };
        self.list -= u8::from(!is_comma);
    }
}

/// A record in a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Its bytes, without what is around them.
    pub range: Range<usize>,
    /// True if it follows another value of the same document.
    pub joined: bool,
    /// Number of lists of which it is an item.
    pub lists: u8,
    /// Number of blanks at the beginning of its line, in a document.
    pub indent: usize,
}

impl Cut {
    /// Returns the state of the cutter before this record.
    pub const fn state(&self) -> State {
        let before = if self.joined { Before::Item } else { Before::Start };
        let (list, seen) = (self.lists, self.lists > 0 || self.joined);
        State { list, seen, before, indent: self.indent, is_fresh: false }
    }
}

/// Cuts a block that begins at a border between records. What is complete goes to `cuts`; the number of bytes up to the
/// last border comes back, and the number of lines that end before it. If `last`, nothing follows, and the rest of the
/// block is a record too.
pub fn cut(
    layout: Layout,
    state: &mut State,
    block: &[u8],
    last: bool,
    cuts: &mut Vec<Cut>,
    skips: &mut Skips,
) -> (usize, u64) {
    match layout {
        Layout::Lines(end) => cut_lines(state, end, block, last, cuts, skips),
        Layout::Values => {
            let done = cut_values(state, block, last, cuts, skips);
            (done, line_ends(layout, &block[..done]))
        }
    }
}

fn cut_lines(
    state: &mut State,
    end: u8,
    block: &[u8],
    last: bool,
    cuts: &mut Vec<Cut>,
    skips: &mut Skips,
) -> (usize, u64) {
    let several = may_hold_several(block);
    let (mut from, mut lines) = (0, 0);
    for to in memchr::memchr_iter(end, block) {
        cut_line(state, block, from..to, several, cuts, skips);
        from = to + 1;
        lines += 1;
    }
    if last && from < block.len() {
        // What stands behind the last line end is a line only if there is anything.
        let rest = &block[from..];
        if leading(rest) < rest.len() || rest.contains(&0) {
            cut_line(state, block, from..block.len(), several, cuts, skips);
        }
        from = block.len();
    }
    (from, lines)
}

/// Cuts a line. `several`: there may be lines of several values in its block.
fn cut_line(
    state: &mut State,
    block: &[u8],
    range: Range<usize>,
    several: bool,
    cuts: &mut Vec<Cut>,
    skips: &mut Skips,
) {
    let joined = std::mem::take(&mut state.seen);
    let line = &block[range.clone()];
    // Nearly every line begins and ends with its record.
    if let (Some(b'{'), Some(b'}')) = (line.first(), line.last())
        && !(several && may_hold_several(line))
    {
        cuts.push(Cut { range, joined, lists: 0, indent: 0 });
        return;
    }
    let lead = leading(line);
    let text = &line[lead..];
    if text.is_empty() {
        *(if line.contains(&0) { &mut skips.nul } else { &mut skips.blank }) += 1;
    } else if text.starts_with(b"//") {
        skips.comments += 1;
    } else {
        let start = range.start + lead;
        let text = &text[..text.len() - trailing(text)];
        each_value(text, joined, |part, joined| {
            cuts.push(Cut { range: start + part.start..start + part.end, joined, lists: 0, indent: 0 });
        });
    }
}

fn cut_values(state: &mut State, block: &[u8], last: bool, cuts: &mut Vec<Cut>, skips: &mut Skips) -> usize {
    let mut at = 0;
    while let Some(next) = cut_value(state, (block, at), last, cuts, skips) {
        state.note(&block[at..next]);
        at = next;
    }
    at
}

/// Cuts a value, or passes over what stands between two of them; returns where it ends, if it is all there.
fn cut_value(
    state: &mut State,
    (block, at): (&[u8], usize),
    last: bool,
    cuts: &mut Vec<Cut>,
    skips: &mut Skips,
) -> Option<usize> {
    let rest = block.get(at..).filter(|rest| !rest.is_empty())?;
    let lead = leading(rest);
    let (blank, rest) = rest.split_at_checked(lead)?;
    let start = at + lead;
    let value = |state: &mut State, cuts: &mut Vec<Cut>| {
        // What stands before is passed with the value, if that is all there.
        let mut here = *state;
        here.note(blank);
        let mut span = here.span(rest);
        let end = span.feed(rest, last);
        let len = end_or_all(end, rest, last)?;
        let next = push_value(state, here.indent, start..start + len, block, cuts);
        if span.is_broken() {
            state.break_off();
        }
        Some((next, end.is_some()))
    };
    match rest.first() {
        None => Some(block.len()),
        Some(mark @ (b',' | b']')) if state.is_list() => {
            state.separate(*mark, skips);
            Some(start + 1)
        }
        Some(b'/') if rest.starts_with(b"//") => {
            let line = end_or_all(memchr2(b'\n', b'\r', rest), rest, last)?;
            skips.comments += 1;
            Some(start + line)
        }
        Some(b'[') if state.list < DEEPEST => match opens_list(rest, DEEPEST - state.list) {
            None if !last => None,
            // In a list of lists, such as a population by generation, one may be empty.
            told if told == Some(true) || state.is_list() && opens_empty_list(rest) => {
                state.open();
                Some(start + 1)
            }
            _ => value(state, cuts).map(|(next, _)| next),
        },
        _ => {
            let (next, is_whole) = value(state, cuts)?;
            // What is missing is missing from this item first of all.
            if !is_whole && is_cut_off(&mut Tape::default(), rest) {
                state.end_list();
            }
            Some(next)
        }
    }
}

fn end_or_all(end: Option<usize>, rest: &[u8], last: bool) -> Option<usize> {
    end.or(last.then_some(rest.len()))
}

fn push_value(state: &mut State, indent: usize, range: Range<usize>, block: &[u8], cuts: &mut Vec<Cut>) -> usize {
    let end = range.end;
    let text = &block[range.clone()];
    let (lists, joined) = (state.list, state.pass());
    cuts.push(Cut { range: range.start..end - trailing(text), joined, lists, indent });
    end
}

/// A value whose end is looked for, over as many blocks as it takes.
#[derive(Clone, Copy, Debug)]
pub enum Span {
    /// Up to a line's end.
    Line(u8),
    /// Up to the end of a plain item of a list.
    Item,
    /// Up to the bracket that closes it, or to the line of the next record if it breaks off before.
    Brackets(Brackets),
}

impl Span {
    /// Finds the end of the value in these next bytes, if it is there. `is_whole`: the last line is all there, or as much
    /// of it as there will be.
    pub fn feed(&mut self, text: &[u8], is_whole: bool) -> Option<usize> {
        match self {
            Self::Line(end) => memchr(*end, text),
            Self::Item => memchr3(b',', b']', b'\n', text),
            Self::Brackets(brackets) => brackets.feed(text, is_whole),
        }
    }

    /// Tells whether the value broke off: its end is where the next record begins.
    pub const fn is_broken(&self) -> bool {
        matches!(self, Self::Brackets(Brackets { is_broken: true, .. }))
    }
}

/// Place of a byte, for what it means.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Inside {
    #[default]
    Value,
    String,
    /// In a string, behind a backslash.
    Escape,
}

/// State of the search for the end of a value in brackets.
#[derive(Clone, Copy, Default, Debug)]
pub struct Brackets {
    /// Number of brackets that are open.
    depth: u64,
    /// A bit for each of the innermost of them, the last one lowest: it opens an object.
    objects: u64,
    inside: Inside,
    /// The last byte outside of strings that is no blank.
    last: u8,
    /// Number of blanks before the line in which the value begins.
    indent: usize,
    /// At the beginning of a line.
    is_fresh: bool,
    is_broken: bool,
    /// More brackets were open than there are bits.
    is_deep: bool,
    keys: Keys,
}

/// Keys of the outermost object that were passed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Keys {
    count: usize,
    /// Hash of all of them, in their order.
    hash: u64,
    /// Inside one.
    is_open: bool,
}

/// Number of keys in the same order that make a line a record like this one; what lists hold has other keys.
const TELLING_KEYS: usize = 2;

impl Brackets {
    fn feed(&mut self, text: &[u8], is_whole: bool) -> Option<usize> {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if std::mem::take(&mut self.is_fresh) && self.may_break(rest) {
                let line = &rest[..memchr(b'\n', rest).or(is_whole.then_some(rest.len()))?];
                if (!self.takes_object() || self.begins_like(line)) && is_item(line) {
                    self.is_broken = true;
                    return Some(at);
                }
            }
            let (passed, is_end) = self.pass(rest)?;
            at += passed;
            if is_end {
                return Some(at);
            }
        }
        None
    }

    /// Passes the next byte that matters, and those before it; returns how many, and whether that ends the value.
    fn pass(&mut self, rest: &[u8]) -> Option<(usize, bool)> {
        let found = match self.inside {
            Inside::Escape => 0,
            Inside::String => memchr3(b'"', b'\\', b'\n', rest)?,
            Inside::Value => self.pass_plain(rest)?,
        };
        if self.keys.is_open {
            let key = &rest[..=found];
            self.keys.hash =
                key.iter().fold(self.keys.hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
        }
        Some((found + 1, self.take(rest[found])))
    }

    /// Finds the next byte that matters outside of strings.
    fn pass_plain(&mut self, rest: &[u8]) -> Option<usize> {
        let found = rest.iter().position(|b| matches!(b, b'"' | b'{' | b'[' | b'}' | b']' | b'\n'));
        let passed = &rest[..found.unwrap_or(rest.len())];
        self.last = passed.iter().rev().find(|byte| !byte.is_ascii_whitespace()).copied().unwrap_or(self.last);
        found
    }

    /// Takes a byte that matters; tells whether it ends the value.
    fn take(&mut self, byte: u8) -> bool {
        self.is_fresh = byte == b'\n';
        let (was, last) = (self.inside, self.last);
        match (self.inside, byte) {
            (Inside::Value, _) => {}
            (Inside::String, b'"') => self.inside = Inside::Value,
            (Inside::String, b'\\') => self.inside = Inside::Escape,
            _ => self.inside = Inside::String,
        }
        if was != Inside::Value || self.is_fresh {
            if self.keys.is_open && self.inside == Inside::Value {
                (self.keys.is_open, self.keys.count) = (false, self.keys.count + 1);
            }
            return false;
        }
        self.last = byte;
        match byte {
            b'"' => {
                self.inside = Inside::String;
                self.keys.is_open = self.depth == 1 && self.is_in_object() && matches!(last, b'{' | b',');
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.is_deep |= self.depth > u64::from(u64::BITS);
                self.objects = self.objects << 1 | u64::from(byte == b'{');
            }
            _ => {
                self.depth = self.depth.saturating_sub(1);
                self.objects >>= 1;
            }
        }
        self.depth == 0 && self.inside == Inside::Value
    }

    /// Tells whether the line that begins here may be the next record: it is no deeper than the value, which cannot go on
    /// with an object here, neither in a string nor where a key is due; or it breaks off in a list, which may.
    fn may_break(&self, line: &[u8]) -> bool {
        let blanks = leading_blanks(line);
        (!self.takes_object() || !self.is_in_object() && self.keys.count >= TELLING_KEYS)
            && !self.is_deep
            && blanks <= self.indent
            && line.get(blanks).is_none_or(|byte| *byte == b'{')
    }

    const fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    /// Tells whether the value can go on with an object here.
    fn takes_object(&self) -> bool {
        let is_due = if self.is_in_object() { self.last == b':' } else { matches!(self.last, b'[' | b',') };
        self.inside == Inside::Value && is_due
    }

    /// Tells whether a line begins with the keys that this value has so far, in their order: records of a list have the
    /// same, and what is in their lists has others.
    fn begins_like(&self, line: &[u8]) -> bool {
        let (mut other, mut at) = (Self::default(), 0);
        while other.keys.count < self.keys.count {
            match line.get(at..).and_then(|rest| other.pass(rest)) {
                Some((passed, false)) => at += passed,
                _ => return false,
            }
        }
        other.keys == self.keys
    }
}

/// Gives the values of a line one by one, from the second on marked as joined. What cannot be read is given whole.
pub(crate) fn each_value(text: &[u8], joined: bool, mut each: impl FnMut(Range<usize>, bool)) {
    let (mut from, mut joined) = (0, joined);
    let mut tape = Tape::default();
    while let Some(rest) = text.get(from..).filter(|rest| holds_several(rest))
        && !tape.read(rest)
        && let Some(next) = value_before_another(&tape, rest)
    {
        let value = &rest[..next];
        each(from..from + next - trailing(value), joined);
        from += next;
        joined = true;
    }
    each(from..text.len(), joined);
}

/// Tells whether there is anything behind the first value of a line. Texts look like it too: `\frac{1}{2}`.
fn holds_several(line: &[u8]) -> bool {
    let close = match line.first() {
        Some(b'{') => b'}',
        Some(b'[') => b']',
        _ => return false,
    };
    let begins = |at: usize| {
        let rest = &line[at + 1..];
        matches!(rest.get(leading(rest)), Some(b'{' | b'['))
    };
    memchr::memchr_iter(close, line).any(begins)
        && State::default().span(line).feed(line, true).is_some_and(|end| end < line.len())
}

/// Finds, after a failed read, where the second value of the line begins, if the first is good and the second looks
/// like one.
fn value_before_another(tape: &Tape, text: &[u8]) -> Option<usize> {
    let problem = tape.problems().last().filter(|problem| problem.kind == ProblemKind::Trailing)?;
    let at = problem.range.start + leading(text.get(problem.range.start..)?);
    let container = matches!(text.first(), Some(b'{' | b'['));
    (container && at > 0 && matches!(text.get(at), Some(b'{' | b'['))).then_some(at)
}

/// Tells whether a last line without a line end is merely unfinished.
pub(crate) fn is_cut_off(tape: &mut Tape, text: &[u8]) -> bool {
    failure(tape, text) == Some(ProblemKind::Cut)
}

/// Counts the lines that end in these bytes.
pub(crate) fn line_ends(layout: Layout, block: &[u8]) -> u64 {
    let end = if let Layout::Lines(end) = layout { end } else { b'\n' };
    memchr::memchr_iter(end, block).count() as u64
}

/// Converts UTF-16 and UTF-32 to UTF-8, told by the byte order mark or by the NUL bytes of the first character; `None`:
/// neither.
pub fn decode_wide(text: &[u8]) -> Option<Vec<u8>> {
    let (width, little, skip) = match text {
        [0xff, 0xfe, 0, 0, ..] => (4, true, 4),
        [0, 0, 0xfe, 0xff, ..] => (4, false, 4),
        [0xff, 0xfe, ..] => (2, true, 2),
        [0xfe, 0xff, ..] => (2, false, 2),
        [b'{' | b'[', 0, 0, 0, ..] => (4, true, 0),
        [0, 0, 0, b'{' | b'[', ..] => (4, false, 0),
        [b'{' | b'[', 0, second, 0, ..] if *second != 0 => (2, true, 0),
        [0, b'{' | b'[', 0, second, ..] if *second != 0 => (2, false, 0),
        _ => return None,
    };
    let units = text.get(skip..)?.chunks(width).map(|unit| {
        let join = |code: u32, &byte: &u8| code << 8 | u32::from(byte);
        if little { unit.iter().rev().fold(0, join) } else { unit.iter().fold(0, join) }
    });
    let replaced = |c: Option<char>| c.unwrap_or(char::REPLACEMENT_CHARACTER);
    let decoded: String = if width == 4 {
        units.map(|unit| replaced(char::from_u32(unit))).collect()
    } else {
        char::decode_utf16(units.map(|unit| unit as u16)).map(|c| replaced(c.ok())).collect()
    };
    Some(decoded.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all records of a text, in blocks of a size, as the scout does it.
    fn records(text: &str, size: usize) -> (Layout, Vec<String>, Skips) {
        let layout = Layout::of(text.as_bytes(), true).unwrap();
        let (mut state, mut skips, mut out) = (State::default(), Skips::default(), Vec::new());
        let (mut at, mut want) = (0, size);
        loop {
            let end = (at + want).min(text.len());
            let (mut cuts, block) = (Vec::new(), &text.as_bytes()[at..end]);
            let (done, _) = cut(layout, &mut state, block, end == text.len(), &mut cuts, &mut skips);
            out.extend(cuts.into_iter().map(|cut| {
                let mark = if cut.joined { "+" } else { "" };
                format!("{mark}{}", String::from_utf8_lossy(&block[cut.range]))
            }));
            if end == text.len() {
                assert_eq!(done, block.len());
                return (layout, out, skips);
            }
            want = if done == 0 { want * 2 } else { size };
            at += done;
        }
    }

    fn check(text: &str, layout: Layout, expected: &[&str]) -> Skips {
        let (found, all, skips) = records(text, usize::MAX >> 1);
        assert_eq!((found, &all[..]), (layout, &expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..]));
        for size in 1..text.len().min(40) {
            assert_eq!(records(text, size), (layout, all.clone(), skips), "in blocks of {size}");
        }
        skips
    }

    const LF: Layout = Layout::Lines(b'\n');

    #[test]
    fn lines_and_their_traps() {
        let skips = check(
            "{\"a\":1}\n\n// note\n{\"a\":2}\r\n  \t\n \u{feff}{\"a\":3} \nnot json\n",
            LF,
            &["{\"a\":1}", "{\"a\":2}", "{\"a\":3}", "not json"],
        );
        assert_eq!((skips.blank, skips.comments, skips.nul), (2, 1, 0));
        check("\u{feff}{\"a\":1}\n\u{feff}{\"a\":2}", LF, &["{\"a\":1}", "{\"a\":2}"]);
        check("{\"a\":1}\r{\"a\":2}\r", Layout::Lines(b'\r'), &["{\"a\":1}", "{\"a\":2}"]);
        check("\x1e{\"a\":1}\n\x1e{\"a\":2}\n", LF, &["{\"a\":1}", "{\"a\":2}"]);
        let skips = check("{\"a\":1}\n\0\0\0\0", LF, &["{\"a\":1}"]);
        assert_eq!(skips.nul, 1);
        check("", LF, &[]);
        check(" \n\n ", LF, &[]);
        check("\u{feff}", LF, &[]);
        check("null\n7\n{\"a\":1}\n", LF, &["null", "7", "{\"a\":1}"]);
        check(
            "{\"a\":1}{\"a\":2}\n{\"a\":3} {\"a\":4}\t{}\n{\"a\":5}\n",
            LF,
            &["{\"a\":1}", "+{\"a\":2}", "{\"a\":3}", "+{\"a\":4}", "+{}", "{\"a\":5}"],
        );
        check("{\"a\":1}{\"a\":2} {\"a\":3}", Layout::Values, &["{\"a\":1}", "+{\"a\":2}", "+{\"a\":3}"]);
        check("{\"a\":1,\"b\n{\"a\":2}\n", LF, &["{\"a\":1,\"b", "{\"a\":2}"]);
        check("{\"a\":\n{\"a\":2}\n", LF, &["{\"a\":", "{\"a\":2}"]);
        check("{\"a\":\n{\"a\":2}\n}\n", Layout::Values, &["{\"a\":\n{\"a\":2}\n}"]);
    }

    #[test]
    fn documents_and_their_traps() {
        let pretty = "{\n \"a\": [\n  {\"b\": \"}\\\"\"},\n  {\"c\": 1}\n ]\n}";
        check(pretty, Layout::Values, &[pretty]);
        let second = format!("+{pretty}");
        check(&format!("// x\n{pretty}\n{pretty}\n"), Layout::Values, &[pretty, &second]);
        check(&format!("{pretty}{pretty}"), Layout::Values, &[pretty, &second]);
        check("[{\"a\":1},{\"a\":2}]", Layout::Values, &["{\"a\":1}", "{\"a\":2}"]);
        check("[\n{\"a\":1},\n7,\n{\"a\":[2]}\n]\n", Layout::Values, &["{\"a\":1}", "7", "{\"a\":[2]}"]);
        check("[1, 2]", LF, &["[1, 2]"]);
        check("[]", LF, &["[]"]);
        check("{\n \"a\": 1,\n \"b", Layout::Values, &["{\n \"a\": 1,\n \"b"]);
        check("{\n 'a': 1 /* c */\n}\n", Layout::Values, &["{\n 'a': 1 /* c */\n}"]);
        check("[{\"a\":1},{\"a\":", Layout::Values, &["{\"a\":1}", "{\"a\":"]);
        check("Here:\n```json\n{\"a\":1}\n```\n", LF, &["Here:", "```json", "{\"a\":1}", "```"]);
        check("{\"a\":\n1}\nTraceback }}\n", Layout::Values, &["{\"a\":\n1}", "+Traceback }}"]);
    }

    #[test]
    fn a_record_that_is_not_closed_hides_none_behind_it() {
        let (one, three, four) = (r#"{"id":1,"a":"a"}"#, r#"{"id":3,"a":"c"}"#, r#"{ "id":4,"a":"d"}"#);
        for bad in [
            r#"{"id":2,"a":"b","#,
            r#"{"id":2,"a":"b"#,
            r#"{"id":2,"a":{"b":"b"},"#,
            r#"{"id":2,"a":{"b":[1,2},"#,
            r#"{"id":2,"a":["b""#,
            r#"{"id":2,"a":["#,
            r#"{"id":2,"a":[,"#,
            r#"{ "id":2, "a":[ ["b"],"#,
            r#"{"id":2,"a":{"b":[{"c":"}"},"#,
            "{",
        ] {
            let list = |indent: &str, end: &str| {
                format!("[\n{indent}{one},\n{indent}{bad}\n{indent}{three},\n{indent}{four}{end}")
            };
            let expected = [one, bad, three, four];
            for indent in ["", "  ", "\t"] {
                for end in ["\n]\n", "]", ",\n]"] {
                    check(&list(indent, end), Layout::Values, &expected);
                }
            }
        }
        let inside = "{\"a\":\n{\"b\":1},\n\"c\":[\n{\"d\":1},\n{\"d\":2}\n]\n}";
        check(&format!("[\n{inside},\n{one}\n]\n"), Layout::Values, &[inside, one]);
        // What a list of a record holds is no record, though it begins with the same key.
        let steps = "{\"id\":1,\"a\":[\n{\"id\":1,\"b\":1},\n{\"id\":2}\n]}";
        check(&format!("[\n{one},\n{steps},\n{three}\n]\n"), Layout::Values, &[one, steps, three]);
        let deeper = "{\n  \"a\": 1\n  {\"b\": 2},\n}";
        check(&format!("[\n{one},\n{deeper},\n{three}\n]\n"), Layout::Values, &[one, deeper, three]);
    }

    #[test]
    fn lines_stay_lines_wherever_the_good_ones_are() {
        let spaced = |n: u8| format!("{{ \"id\":{n}, \"a\":\"b\" }}");
        let (two, three) = (spaced(2), spaced(3));
        let first = "{ \"id\":1, \"a\":\"a";
        check(&format!("{first}\n{two}\n{three}\n"), LF, &[first, &two, &three]);
        check(&format!("  {first}\n  {two}\n  {three}\n"), LF, &[first, &two, &three]);
        for good in ["null", "[1,2]", "5", "{\"a\":1}"] {
            check(&format!("{{bad\n{good}\n"), LF, &["{bad", good]);
        }
        let late = format!("{}{two}\n", "{bad\n".repeat(80));
        assert_eq!(records(&late, usize::MAX >> 1).1.len(), 81);
        // A document over many lines is one record, also where it is broken or not all there.
        for document in [
            "{\n  \"a\": [\n    {\"b\": 1},\n    5\n  ],\n  bad\n}",
            "{\n\"a\": [\n5\n],\n\"c\": {}\n}",
            "{'a': 1,\n 'b': [\n  {\"c\": 1}\n ]}",
            "  {\n    \"a\": [\n      null\n    ]\n  }",
        ] {
            check(document, Layout::Values, &[document.trim_start()]);
        }
        let long = format!("{{\n\"a\": [\n{}", "{\"b\": 1},\n{\"b\": [\n2\n]},\n".repeat(100));
        assert_eq!(Layout::of(long.as_bytes(), false), Some(Layout::Values));
    }

    #[test]
    fn lists_of_records_in_a_list_are_gone_into() {
        let pretty = "[\n [{\"a\":1},\n  {\"a\":2}],\n [ {\"b\":[[1]]} ],\n []\n]\n";
        check(pretty, Layout::Values, &["{\"a\":1}", "{\"a\":2}", "{\"b\":[[1]]}"]);
        check("[[{\"a\":1}],{\"a\":2}]{\"a\":3}", Layout::Values, &["{\"a\":1}", "{\"a\":2}", "+{\"a\":3}"]);
        check("[[{\"a\":1}],[[{\"a\":2}]]]", Layout::Values, &["{\"a\":1}", "[[{\"a\":2}]]"]);
        check("[[1, 2], [3]]", LF, &["[[1, 2], [3]]"]);
    }

    #[test]
    fn what_holds_nothing_does_not_hide_the_records_after_it() {
        for generations in
            ["[[],[{\"a\":1}],[{\"a\":2}]]", "[[{\"a\":1}],[ ],[{\"a\":2}],[\n]]", "[[],[],[{\"a\":1},{\"a\":2}]]"]
        {
            check(generations, Layout::Values, &["{\"a\":1}", "{\"a\":2}"]);
        }
        check("[null, {\"a\":1}]", Layout::Values, &["null", "{\"a\":1}"]);
        check("[[null], [{\"a\":1}]]", Layout::Values, &["[null]", "{\"a\":1}"]);
        for other in ["[[], []]", "[null]", "[[], 1]", "[[[]]]", "[]"] {
            check(other, LF, &[other]);
        }
    }

    #[test]
    fn commas_that_are_missing_or_too_many_are_noticed() {
        let (one, two, joined) = ("{\"a\":1}", "{\"a\":2}", "+{\"a\":2}");
        for (list, second, commas) in [
            (format!("[{one},{two}]"), two, 0),
            (format!("[{one} {two}]"), joined, 0),
            (format!("[{one}\n{two}\n]\n"), joined, 0),
            (format!("[{one},,{two}]"), two, 1),
            (format!("[{one},\n{two},\n]"), two, 1),
            (format!("[[{one},],,[{two}],]"), two, 3),
            (format!("[[],[{one}],[],[{two}],[]]"), two, 0),
        ] {
            assert_eq!(check(&list, Layout::Values, &[one, second]).commas, commas, "{list}");
        }
        let phrase = Skips { commas: 2, ..Skips::default() }.phrase(3);
        assert_eq!(phrase.as_str(), "read 3, skipped 2: 2 commas too many");
    }

    #[test]
    fn what_was_skipped_is_said() {
        assert_eq!(Skips::default().phrase(3).as_str(), "read 3");
        let cut = Skips { cut: Some(275), ..Skips::default() };
        assert_eq!(cut.phrase(274).as_str(), "read 274, skipped 1: line 275 cut off");
        let more = Skips { comments: 1, blank: 2, cut: Some(9), ..Skips::default() };
        assert_eq!(more.phrase(5).as_str(), "read 5, skipped 4: line 9 cut off, 1 comment line, 2 blank lines");
    }

    #[test]
    fn several_values_on_a_line_are_read_one_by_one() {
        let read = |text: &str| {
            let mut out = Vec::new();
            each_value(text.as_bytes(), false, |range, joined| out.push((text[range].to_owned(), joined)));
            out
        };
        let is = |text: &str, joined| (text.to_owned(), joined);
        assert_eq!(read("{}"), [is("{}", false)]);
        assert_eq!(read("{} [1]{"), [is("{}", false), is("[1]", true), is("{", true)]);
        assert_eq!(read("{}{broken}"), [is("{}", false), is("{broken}", true)], "what is good is not lost");
        for whole in ["{} x", "1 {}", "x", r#"{"a": "\\frac{1}{2} } {} x[0][1]"}"#, "[[1], [2]]"] {
            assert_eq!(read(whole), [is(whole, false)]);
        }
    }

    #[test]
    fn wide_text_becomes_utf8() {
        let text = "{\"é\": \"😀\"}";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let four: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        for (mark, bytes) in
            [(&b"\xff\xfe"[..], &little), (b"", &little), (b"\xfe\xff", &big), (b"", &big), (b"\xff\xfe\0\0", &four)]
        {
            assert_eq!(decode_wide(&[mark, bytes].concat()).unwrap(), text.as_bytes());
        }
        assert_eq!(decode_wide(b"{\0\0\0\0\0").map(|text| text.len()), Some(2));
        assert_eq!(decode_wide(text.as_bytes()), None);
    }
}
