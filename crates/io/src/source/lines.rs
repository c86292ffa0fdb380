//! Lines on their way into a document, whatever they are read from.

use stepscope_evidence::document::{Document, Heading};

/// Largest number of lines of a document, and of bytes of its text: a larger one could not be kept, and would be read
/// again for each record.
pub(crate) const MAX_LINES: usize = 2 << 20;
pub(crate) const MAX_TEXT: usize = 40 << 20;

/// Lines on their way into a document.
#[derive(Debug)]
pub(crate) struct Gathered {
    lines: Vec<(i64, i64, Vec<u8>)>,
    text: usize,
    page: i64,
    line: i64,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { lines: Vec::new(), text: 0, page: 1, line: 0 }
    }
}

impl Gathered {
    /// Adds a line. One without numbers follows the one before it.
    pub(crate) fn push(&mut self, page: Option<i64>, line: Option<i64>, text: Vec<u8>) {
        if self.lines.len() > MAX_LINES || self.text > MAX_TEXT {
            return;
        }
        let last = self.page;
        self.page = page.unwrap_or(last);
        let next = if self.page == last { self.line.saturating_add(1) } else { 1 };
        self.line = line.unwrap_or(next);
        self.text += text.len();
        self.lines.push((self.page, self.line, text));
    }

    /// Tells whether there is no line.
    pub(crate) const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Makes the document of these lines.
    pub(crate) fn document(self, toc: Vec<Heading>) -> Document {
        Document::of(self.lines, toc)
    }
}
