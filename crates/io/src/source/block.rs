//! A source read block by block, each block cut at the borders of its records.

use std::sync::Arc;

use crate::failure::Failure;
use crate::source::cut::{Cut, Layout, Skips, Span, State, cut, each_value, leading, line_ends, trailing};
use crate::source::open::Blob;
use stepscope_base::guard::{FAULT, guarded};
use stepscope_base::json::{MAX_TEXT, may_hold_several};
use stepscope_report::places::advance_column;

/// Number of bytes of a source that are looked at to recognise it, and read at a time.
pub const BLOCK: usize = 256 << 10;
/// Number of bytes that are read of a record longer than [`MAX_TEXT`].
pub const WINDOW: usize = 1 << 20;

/// Position of the reading in a source: always at a border between records.
#[derive(Clone, Debug)]
pub struct Cursor {
    blob: Arc<Blob>,
    layout: Layout,
    state: State,
    /// True if it reads a part of the source: where that ends, a list may continue.
    part: bool,
    /// The next byte to read.
    pub at: u64,
    /// The number of the line that it is in, from 1.
    pub line: u64,
    /// The column that it is in, in characters from 1.
    pub column: usize,
    /// Number of records before it.
    pub index: u64,
}

/// A run of whole records.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The bytes; reused from block to block.
    pub bytes: Vec<u8>,
    /// The border where it begins in the source.
    pub border: u64,
    /// Offset of the bytes in the source: at the border, or behind it if there is but one long record.
    pub start: u64,
    /// One past the last byte that belongs to the block: the border where the next begins.
    pub end: u64,
    /// The records, as ranges of `bytes`.
    pub cuts: Vec<Cut>,
    /// The number of the line in which it begins, from 1.
    pub line: u64,
    /// The column in which it begins, in characters from 1.
    pub column: usize,
    /// Number of lines that end in it.
    pub lines: u64,
    /// Number of records before it.
    pub index: u64,
    /// Lines that were passed over in it.
    pub skips: Skips,
    /// The one record of this block is so long; its bytes are not all there if that is more than [`MAX_TEXT`].
    pub long: Option<u64>,
    /// The last record has no line end: it may be unfinished.
    pub open: bool,
}

impl Block {
    /// Returns the bytes of a record.
    pub fn text(&self, cut: &Cut) -> &[u8] {
        &self.bytes[cut.range.clone()]
    }

    /// Tells whether each line is one record, and each record one line.
    pub(crate) fn is_dense(&self, layout: Layout) -> bool {
        let lines = self.lines + u64::from(self.open);
        matches!(layout, Layout::Lines(_)) && self.cuts.len() as u64 == lines && self.skips == Skips::default()
    }

    /// Returns the length of a record on disk, in bytes.
    pub(crate) fn len_of(&self, cut: &Cut) -> u64 {
        self.long.unwrap_or(cut.range.len() as u64)
    }
}

/// Choice whether the bytes of long records are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// Only places.
    Places,
    /// Places and bytes.
    Bytes,
}

/// Tells whether a block holds nothing, as where a sparse file has a hole.
fn is_zeros(block: &[u8]) -> bool {
    block.len() == BLOCK && block.iter().all(|byte| *byte == 0)
}

impl Cursor {
    /// Makes a cursor at the beginning of a source.
    pub fn new(blob: Arc<Blob>, layout: Layout) -> Self {
        Self { blob, layout, state: State::default(), part: false, at: 0, line: 1, column: 1, index: 0 }
    }

    /// Reads a part of the source, whose end says nothing about lists.
    #[must_use]
    pub(crate) fn of_part(self) -> Self {
        Self { part: true, ..self }
    }

    /// Returns a cursor at the last record of a block that this cursor has read, to read it again when there is more of
    /// it.
    #[must_use]
    pub(crate) fn back_to_last(&self, block: &Block) -> Option<Self> {
        self.back_to(block, block.cuts.len().checked_sub(1)?)
    }

    fn back_to(&self, block: &Block, record: usize) -> Option<Self> {
        let cut = block.cuts.get(record)?;
        let before = &block.bytes[..cut.range.start];
        Some(Self {
            state: cut.state(),
            at: block.start + cut.range.start as u64,
            line: block.line + line_ends(self.layout, before),
            index: self.index.saturating_sub((block.cuts.len() - record) as u64),
            ..self.clone()
        })
    }

    /// Leaves all but the first records of a block, which this cursor has read, to the next one. Only whole lines are
    /// parted.
    pub(crate) fn leave_all_but(&mut self, records: usize, block: &mut Block) {
        if block.long.is_none()
            && block.is_dense(self.layout)
            && let Some(rest) = self.back_to(block, records)
        {
            block.cuts.truncate(records);
            (block.end, block.lines, block.open) = (rest.at, records as u64, false);
            *self = rest;
        }
    }

    /// Returns the bytes that it reads.
    pub fn blob(&self) -> &Arc<Blob> {
        &self.blob
    }

    /// Returns the layout of the records.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Reads the next run of whole records, up to `end`; `false`: there are no more bytes before it.
    pub fn next(&mut self, block: &mut Block, end: u64, want: Want) -> Result<bool, Failure> {
        let read = guarded(|| self.read_next(block, end, want));
        read.unwrap_or_else(|| Err(Failure::own("cannot read", self.blob.name(), FAULT)))
    }

    fn read_next(&mut self, block: &mut Block, end: u64, want: Want) -> Result<bool, Failure> {
        if block.bytes.capacity() > 4 * WINDOW {
            block.bytes = Vec::new();
        }
        self.blob.forget(self.at);
        let size = (BLOCK as u64).min(end.saturating_sub(self.at)) as usize;
        self.blob.read(self.at, size, &mut block.bytes)?;
        block.cuts.clear();
        block.skips = Skips::default();
        (block.border, block.start, block.line, block.index) = (self.at, self.at, self.line, self.index);
        block.column = self.column;
        (block.long, block.open) = (None, false);
        if block.bytes.is_empty() {
            (block.end, block.lines) = (self.at, 0);
            return Ok(self.ends_in_list(block, 0));
        }
        let last = block.bytes.len() < BLOCK || self.at + BLOCK as u64 >= end;
        let (done, lines) = cut(self.layout, &mut self.state, &block.bytes, last, &mut block.cuts, &mut block.skips);
        // A line may begin with more filler than a block: what follows decides what the line is.
        let done = if done == 0 && leading(&block.bytes) == block.bytes.len() { block.bytes.len() } else { done };
        if done == 0 {
            self.long(block, end, want)?;
        } else {
            block.end = self.at + done as u64;
            block.lines = lines;
            let passed = &block.bytes[..done];
            self.column = advance_column(self.column, passed);
            if is_zeros(&block.bytes) {
                let behind = self.blob.behind_hole(block.end, end);
                self.column += (behind - block.end) as usize;
                block.end = behind;
            }
            if last {
                let blank = trailing(passed);
                self.ends_in_list(block, done - blank);
            }
            block.open = last && !self.ends_line(block);
        }
        self.at = block.end;
        self.line += block.lines;
        self.index += block.cuts.len() as u64;
        Ok(true)
    }

    /// Closes a list that is still open at the end of what there is: it lacks the rest of itself, which is given as a
    /// record without text at this place of the block. Tells whether there was one.
    fn ends_in_list(&mut self, block: &mut Block, at: usize) -> bool {
        let missing = self.state.is_list() && !self.part;
        if missing {
            self.state.end_list();
            block.cuts.push(Cut { range: at..at, joined: false, lists: 1, indent: 0 });
            block.open = true;
            if block.bytes.is_empty() {
                self.index += 1;
            }
        }
        missing
    }

    /// Tells whether the last record of a block at the end of the source is surely finished.
    fn ends_line(&self, block: &Block) -> bool {
        match self.layout {
            Layout::Lines(end) => block.bytes.last() == Some(&end),
            Layout::Values => block.cuts.is_empty(),
        }
    }

    /// Reads a record that continues behind the block: looks for its end without keeping what lies between.
    fn long(&mut self, block: &mut Block, end: u64, want: Want) -> Result<(), Failure> {
        let lead = leading(&block.bytes);
        let (blank, text) = block.bytes.split_at(lead);
        let comment = text.starts_with(b"//");
        self.line += line_ends(self.layout, blank);
        self.state.note(blank);
        let indent = self.state.indent();
        block.line = self.line;
        let mut span = match self.layout {
            Layout::Lines(end) => Span::Line(end),
            Layout::Values => self.state.span(text),
        };
        let mut at = self.at + lead as u64;
        let from = at;
        let mut part = text.to_vec();
        let mut several = false;
        block.lines = 0;
        block.column = advance_column(self.column, blank);
        self.column = block.column;
        let (to, found) = loop {
            // The beginning of a line tells more when all of it is there.
            part.truncate(memchr::memrchr(b'\n', &part).map_or(part.len(), |at| at + 1));
            several |= may_hold_several(&part) || part.ends_with(b"}");
            if let Some(len) = span.feed(&part, true) {
                let passed = &part[..len];
                self.state.note(passed);
                block.lines += line_ends(self.layout, passed);
                self.column = advance_column(self.column, passed);
                break (at + len as u64, true);
            }
            block.lines += line_ends(self.layout, &part);
            self.state.note(&part);
            self.column = advance_column(self.column, &part);
            at += part.len() as u64;
            if is_zeros(&part) {
                let behind = self.blob.behind_hole(at, end);
                self.column += (behind - at) as usize;
                at = behind;
            }
            self.blob.read(at, BLOCK.min(end.saturating_sub(at) as usize), &mut part)?;
            if part.is_empty() {
                break (at, false);
            }
        };
        // The line end itself belongs to the line.
        let line_end = u64::from(found && matches!(self.layout, Layout::Lines(_)));
        block.lines += line_end;
        self.column = if line_end > 0 { 1 } else { self.column };
        block.end = to + line_end;
        block.open = !found;
        if comment {
            block.skips.comments += 1;
            return Ok(());
        }
        let len = to - from;
        let keep = if len > MAX_TEXT as u64 { WINDOW } else { len as usize };
        let is_line = matches!(self.layout, Layout::Lines(_));
        several &= is_line && len <= MAX_TEXT as u64;
        if want == Want::Bytes || several {
            self.blob.read(from, keep, &mut block.bytes)?;
        } else {
            block.bytes.clear();
        }
        block.start = from;
        let lists = self.state.lists();
        let joined = self.state.pass();
        if is_line {
            self.state = State::default();
        }
        if span.is_broken() {
            self.state.break_off();
        } else if !found {
            self.state.end_list();
        }
        if several {
            let cuts = &mut block.cuts;
            each_value(&block.bytes, joined, |range, joined| cuts.push(Cut { range, joined, lists: 0, indent: 0 }));
            if cuts.len() > 1 {
                return Ok(());
            }
            cuts.clear();
            if want == Want::Places {
                block.bytes.clear();
            }
        }
        block.long = Some(len);
        block.cuts.push(Cut { range: 0..block.bytes.len(), joined, lists, indent });
        Ok(())
    }
}
