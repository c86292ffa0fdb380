//! A document as its lines: what answers cite.
//!
//! A line has a page (from 1) and a number inside the page (from 1), as the parser's `line_df` has them. What answers
//! cite is the 0-based place in the whole line table, sorted by page and line: everything here counts that way.

use std::ops::Range;

/// One heading of the table of contents.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Heading {
    /// 1 is the highest.
    pub level: u32,
    /// Its text.
    pub title: Vec<u8>,
    /// First and last page, from 1; where the parser knew them.
    pub pages: (Option<i64>, Option<i64>),
}

/// The lines of a document in reading order.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// All lines, each with a line end.
    text: Vec<u8>,
    /// Where each line begins in `text`, and the end of the last.
    starts: Vec<usize>,
    /// Page and number inside the page of each line.
    numbers: Vec<(i64, i64)>,
    /// Page number and the lines on it, in order.
    pages: Vec<(i64, Range<usize>)>,
    toc: Vec<Heading>,
}

impl Document {
    /// Sorts lines (page, number inside the page, text) by page and number; equal ones keep their order.
    pub fn of<T: AsRef<[u8]>>(mut lines: Vec<(i64, i64, T)>, toc: Vec<Heading>) -> Self {
        lines.sort_by_key(|(page, line, _)| (*page, *line));
        let mut document = Self { toc, ..Self::default() };
        document.starts.push(0);
        for (n, (page, line, text)) in lines.iter().enumerate() {
            // A line is a line, whatever a parser left in it.
            document.text.extend(text.as_ref().iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
            document.text.push(b'\n');
            document.starts.push(document.text.len());
            document.numbers.push((*page, *line));
            match document.pages.last_mut() {
                Some((last, range)) if last == page => range.end = n + 1,
                _ => document.pages.push((*page, n..n + 1)),
            }
        }
        document
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The text of a line, without its end.
    pub fn line(&self, n: usize) -> Option<&[u8]> {
        let bytes = self.text.get(*self.starts.get(n)?..*self.starts.get(n + 1)?)?;
        Some(bytes.strip_suffix(b"\n").unwrap_or(bytes))
    }

    /// Page, and number inside the page, of a line.
    pub fn number(&self, n: usize) -> Option<(i64, i64)> {
        self.numbers.get(n).copied()
    }

    /// Every page that has lines: its number and its lines.
    pub fn pages(&self) -> &[(i64, Range<usize>)] {
        &self.pages
    }

    /// The lines of a page.
    pub fn page(&self, page: i64) -> Option<Range<usize>> {
        let n = self.pages.binary_search_by_key(&page, |(page, _)| *page).ok()?;
        self.pages.get(n).map(|(_, range)| range.clone())
    }

    /// The text of some lines, a line end after each; empty where there are none.
    pub fn text(&self, lines: Range<usize>) -> &[u8] {
        let start = self.starts.get(lines.start).copied();
        let end = self.starts.get(lines.end.min(self.len())).copied();
        start.zip(end).and_then(|(start, end)| self.text.get(start..end)).unwrap_or_default()
    }

    /// How many bytes it takes in memory, about.
    pub fn weight(&self) -> usize {
        let line = size_of::<usize>() + size_of::<(i64, i64)>();
        self.text.len() + self.numbers.len() * line + self.pages.len() * size_of::<(i64, Range<usize>)>()
    }

    /// The table of contents.
    pub fn toc(&self) -> &[Heading] {
        &self.toc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_over_all_pages_in_order() {
        let lines = vec![(2, 1, "c"), (1, 2, "b\nb"), (1, 1, "a"), (4, 1, "")];
        let document = Document::of(lines, Vec::new());
        let texts: Vec<&[u8]> = (0..document.len()).filter_map(|n| document.line(n)).collect();
        assert_eq!(texts, [&b"a"[..], b"b b", b"c", b""]);
        assert_eq!(document.number(2), Some((2, 1)));
        assert_eq!((document.page(1), document.page(3), document.page(4)), (Some(0..2), None, Some(3..4)));
        assert_eq!(document.text(1..3), b"b b\nc\n");
        assert_eq!((document.text(3..9), document.text(7..9)), (&b"\n"[..], &b""[..]));
        assert!(Document::of(Vec::<(i64, i64, &str)>::new(), Vec::new()).is_empty());
    }
}
