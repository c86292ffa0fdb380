//! Text of lines, one after the other, with the byte at which each begins.

use std::ops::Range;

/// Lines of a text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Lines {
    /// All lines, each with a line end.
    text: Vec<u8>,
    /// Byte of `text` at which each line begins, and the end of the last.
    starts: Vec<usize>,
}

impl Lines {
    /// None yet, with room for so many with so many bytes, their ends counted.
    pub(crate) fn with_room(count: usize, bytes: usize) -> Self {
        let (mut text, mut starts) = (Vec::new(), Vec::new());
        text.reserve_exact(bytes);
        starts.reserve_exact(count + 1);
        starts.push(0);
        Self { text, starts }
    }

    /// Adds a line: one line, whatever a parser left in it.
    pub(crate) fn push(&mut self, line: &[u8]) {
        self.text.extend(line.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        self.text.push(b'\n');
        self.starts.push(self.text.len());
    }

    /// Counts them.
    const fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The text of a line, without its end.
    pub(crate) fn line(&self, n: usize) -> Option<&[u8]> {
        let bytes = self.text.get(*self.starts.get(n)?..*self.starts.get(n + 1)?)?;
        Some(bytes.strip_suffix(b"\n").unwrap_or(bytes))
    }

    /// The text of some lines, a line end after each; empty where there are none.
    pub(crate) fn text(&self, lines: Range<usize>) -> &[u8] {
        let start = self.starts.get(lines.start).copied();
        let end = self.starts.get(lines.end.min(self.len())).copied();
        start.zip(end).and_then(|(start, end)| self.text.get(start..end)).unwrap_or_default()
    }

    /// Some bytes of the whole text; empty where there are none.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the size of the whole text, in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.text.len()
    }

    /// Returns the byte of the whole text at which a line begins.
    pub(crate) fn offset(&self, n: usize) -> Option<usize> {
        self.starts.get(n).copied().filter(|_| n < self.len())
    }

    /// The line that holds a byte of the whole text; the last one for bytes behind the end.
    pub(crate) fn line_at(&self, byte: usize) -> usize {
        let after = self.starts.partition_point(|start| *start <= byte);
        after.saturating_sub(1).min(self.len().saturating_sub(1))
    }
}
