//! A document as its lines: what answers cite.
//!
//! A line has a page (from 1) and a number inside the page (from 1), as the parser's `line_df` has them. What answers
//! cite is the 0-based place in the whole line table, sorted by page and line: everything here counts that way.

use std::collections::HashMap;
use std::ops::{Index, Range};
use std::sync::OnceLock;

use crate::folded::{FoldedText, fold_text};
use crate::lines::Lines;
use crate::tiles::Tiles;
use stepscope_base::text::Shown;

/// Number of lines at the top and at the bottom of a page that may be headers and footers.
const EDGE: usize = 4;
/// Number of lines at the edge of a page among which its number is.
const NUMBER_EDGE: usize = 2;

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
    /// The text of all lines.
    lines: Lines,
    /// Page and number inside the page of each line.
    numbers: Vec<(i64, i64)>,
    /// Page number and the lines on it, in order.
    pages: Vec<(i64, Range<usize>)>,
    toc: Vec<Heading>,
    /// The file that it was read from; `None`: the record itself holds it.
    origin: Option<Shown>,
    /// All lines as quotes are looked for in them; made when first asked for.
    skeleton: OnceLock<FoldedText>,
    /// Index of these, for quotes that are nowhere near their lines; made when first asked for.
    tiles: OnceLock<Tiles>,
    /// The lines that belong to the page, not to the text; ascending, made when first asked for.
    furniture: OnceLock<Vec<usize>>,
}

/// The text of a line that is there, without its end.
impl Index<usize> for Document {
    type Output = [u8];

    fn index(&self, n: usize) -> &[u8] {
        self.line(n).expect("a line of this document")
    }
}

impl Document {
    /// Sorts lines (page, number inside the page, text) by page and number; equal ones keep their order.
    pub fn of<T: AsRef<[u8]>>(mut lines: Vec<(i64, i64, T)>, toc: Vec<Heading>) -> Self {
        // To sort takes memory of its own, and most documents stand in order.
        if !lines.is_sorted_by_key(|(page, line, _)| (*page, *line)) {
            lines.sort_by_key(|(page, line, _)| (*page, *line));
        }
        let (count, bytes) = (lines.len(), lines.iter().map(|(_, _, text)| text.as_ref().len() + 1).sum());
        Self::in_order(count, bytes, lines.into_iter(), toc)
    }

    /// Does as [`Document::of`], for lines that are read in place: those in order are kept once only.
    pub fn read<T: AsRef<[u8]>>(lines: impl Iterator<Item = (i64, i64, T)> + Clone, toc: Vec<Heading>) -> Self {
        if !lines.clone().is_sorted_by_key(|(page, line, _)| (page, line)) {
            return Self::of(lines.collect(), toc);
        }
        let (count, bytes) =
            lines.clone().fold((0, 0), |(count, bytes), (_, _, text)| (count + 1, bytes + text.as_ref().len() + 1));
        Self::in_order(count, bytes, lines, toc)
    }

    fn in_order<T: AsRef<[u8]>>(
        count: usize,
        bytes: usize,
        lines: impl Iterator<Item = (i64, i64, T)>,
        toc: Vec<Heading>,
    ) -> Self {
        let mut document = Self { lines: Lines::with_room(count, bytes), toc, ..Self::default() };
        document.numbers.reserve_exact(count);
        for (n, (page, line, text)) in lines.enumerate() {
            document.lines.push(text.as_ref());
            document.numbers.push((page, line));
            match document.pages.last_mut() {
                Some((last, range)) if *last == page => range.end = n + 1,
                _ => document.pages.push((page, n..n + 1)),
            }
        }
        document
    }

    /// With the file that it was read from, as people are told it.
    #[must_use]
    pub fn from_file(self, name: Shown) -> Self {
        Self { origin: Some(name), ..self }
    }

    /// The file that it was read from; `None`: the record itself holds it.
    pub const fn origin(&self) -> Option<&Shown> {
        self.origin.as_ref()
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Tells whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The text of a line, without its end.
    pub fn line(&self, n: usize) -> Option<&[u8]> {
        self.lines.line(n)
    }

    /// The text of all lines.
    pub(crate) const fn lines(&self) -> &Lines {
        &self.lines
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
        self.lines.text(lines)
    }

    /// Some bytes of the whole text; empty where there are none.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.lines.bytes(range)
    }

    /// Returns the size of the whole text, in bytes.
    pub fn size(&self) -> usize {
        self.lines.size()
    }

    /// Returns the byte of the whole text at which a line begins.
    pub fn offset(&self, n: usize) -> Option<usize> {
        self.lines.offset(n)
    }

    /// The line that holds a byte of the whole text; the last one for bytes behind the end.
    pub fn line_at(&self, byte: usize) -> usize {
        self.lines.line_at(byte)
    }

    /// The lines of a page whose numbers inside the page lie in a range.
    pub(crate) fn on_page(&self, page: i64, first: i64, last: i64) -> Range<usize> {
        let Some(lines) = self.page(page) else { return 0..0 };
        let numbers = &self.numbers[lines.clone()];
        let start = numbers.partition_point(|(_, number)| *number < first);
        let end = numbers.partition_point(|(_, number)| *number <= last);
        lines.start + start..lines.start + end.max(start)
    }

    /// Counts the lines before a number inside a page.
    pub(crate) fn lines_before(&self, page: i64, number: i64) -> usize {
        self.numbers.partition_point(|own| *own < (page, number))
    }

    /// First and last page of some lines; `None` where there are none.
    pub fn pages_of(&self, lines: &Range<usize>) -> Option<(i64, i64)> {
        let page = |n| self.number(n).map(|(page, _)| page);
        page(lines.start).zip(page(lines.end.checked_sub(1)?))
    }

    /// Counts the pages that some lines are on.
    pub(crate) fn pages_in(&self, lines: &Range<usize>) -> usize {
        let at = |n: usize| self.pages.partition_point(|(_, page)| page.end <= n);
        if lines.is_empty() { 0 } else { at(lines.end - 1) + 1 - at(lines.start) }
    }

    /// All lines as quotes are looked for in them.
    pub(crate) fn skeleton(&self) -> &FoldedText {
        self.skeleton.get_or_init(|| FoldedText::of(&self.lines, 0..self.len(), false))
    }

    /// Index of the text of [`Document::skeleton`].
    pub(crate) fn tiles(&self) -> &Tiles {
        self.tiles.get_or_init(|| Tiles::of(self.skeleton().text()))
    }

    /// Tells whether a line belongs to its page, not to the text: a running header or footer, a page number, a rule.
    pub fn is_furniture(&self, n: usize) -> bool {
        self.furniture.get_or_init(|| furniture(self)).binary_search(&n).is_ok()
    }

    /// Estimates the bytes it takes in memory, with what is made of it when quotes are looked for.
    pub fn weight(&self) -> usize {
        let line = size_of::<usize>() + size_of::<(i64, i64)>();
        3 * self.lines.size() + 2 * self.numbers.len() * line + self.pages.len() * size_of::<(i64, Range<usize>)>()
    }

    /// The table of contents.
    pub fn toc(&self) -> &[Heading] {
        &self.toc
    }
}

/// The lines at the edges of pages that return on other pages, whatever number is in them, or hold no word at all.
fn furniture(document: &Document) -> Vec<usize> {
    // What is on two of three pages is seldom chance; of many pages three have to agree.
    let enough = if document.pages.len() <= 4 { 2 } else { 3 };
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut edges = Vec::new();
    for (_, lines) in &document.pages {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for n in lines.clone().filter(|n| *n < lines.start + EDGE || n + EDGE >= lines.end) {
            let key = key(&document[n]);
            edges.push((n, n < lines.start + NUMBER_EDGE || n + NUMBER_EDGE >= lines.end, key.clone()));
            if !key.is_empty() && !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    let returns = |key: &Vec<u8>| seen.get(key).is_some_and(|pages| *pages >= enough);
    let is = |(_, outer, key): &(usize, bool, Vec<u8>)| match key.as_slice() {
        [] => true,
        key if is_page_number(key) => *outer,
        _ => returns(key),
    };
    edges.into_iter().filter(is).map(|(n, _, _)| n).collect()
}

/// A line as it returns from page to page: folded, every number the same.
fn key(line: &[u8]) -> Vec<u8> {
    let mut key = fold_text(line).0;
    key.dedup_by(|b, a| a.is_ascii_digit() && b.is_ascii_digit());
    key.iter_mut().filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'#');
    key
}

fn is_page_number(key: &[u8]) -> bool {
    let roman = key.len() <= 6 && key.iter().all(|byte| matches!(byte, b'i' | b'v' | b'x' | b'l'));
    roman || matches!(key, b"#" | b"page#" | b"page#of#" | b"#of#" | b"#/#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_read_where_they_stand_are_the_same() {
        let orders = [[(1, 1, "a"), (1, 2, "b\nc"), (2, 1, "")], [(2, 1, "a"), (1, 2, "b"), (1, 2, "c")]];
        for lines in orders {
            let (read, of) =
                (Document::read(lines.iter().copied(), Vec::new()), Document::of(lines.to_vec(), Vec::new()));
            assert_eq!((&read.lines, &read.numbers), (&of.lines, &of.numbers));
            assert_eq!(read.pages, of.pages);
        }
    }

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
        assert_eq!(
            (document.offset(1), document.offset(4), document.line_at(2), document.line_at(99)),
            (Some(2), None, 1, 3)
        );
        assert_eq!(
            (document.on_page(1, 2, 9), document.on_page(3, 1, 1), document.on_page(1, 9, 1)),
            (1..2, 0..0, 2..2)
        );
    }

    #[test]
    fn headers_footers_and_page_numbers_are_no_text() {
        let mut lines = Vec::new();
        for page in 1..=6_i64 {
            let text = [
                "ACME  Policy 7".to_owned(),
                "____".to_owned(),
                format!("Chapter {}", "abcdef".get(page as usize - 1..).unwrap()),
            ];
            let body = (0..6).map(|n| format!("body {page} of {}", "xyzuvw".get(n..).unwrap()));
            let foot = [format!("Page {page} of 6"), ["i", "ii", "iii", "iv", "v", "vi"][page as usize - 1].to_owned()];
            lines.extend(text.into_iter().chain(body).chain(foot).enumerate().map(|(n, text)| (page, n as i64, text)));
        }
        let document = Document::of(lines, Vec::new());
        let furniture: Vec<usize> = (0..11).filter(|n| document.is_furniture(*n)).collect();
        // The body differs by its number alone, so its edge lines return too.
        assert_eq!(furniture, [0, 1, 3, 7, 8, 9, 10]);
        assert!(!Document::of(vec![(1, 1, "a"), (1, 2, "12")], Vec::new()).is_furniture(0));
    }
}
