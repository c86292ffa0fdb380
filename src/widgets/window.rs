//! Windows over a screen: lines that stay, and between them lines under a cursor, or of which the first on screen moves.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::widgets::layout::{inner_height, split_rows};
use crate::widgets::list::{List, Move, Rows, scroll};
use crate::widgets::look::{Look, Spans, clear, fill, frame, put, scroll_mark};

/// Content and place of a window.
pub(crate) struct Window<'a> {
    pub place: Rect,
    pub title: Spans,
    /// Lines that stay at the top.
    pub head: Vec<Spans>,
    /// Lines that stay at the bottom.
    pub foot: Vec<Spans>,
    /// Number of lines between them.
    pub len: usize,
    /// Makes one of them.
    pub line: Box<dyn Fn(usize) -> Spans + 'a>,
    /// A cursor goes over the lines.
    pub has_cursor: bool,
}

/// The width of a window that is at most so wide.
pub(crate) fn width(area: Rect, most: u16) -> u16 {
    area.width.saturating_sub(4).clamp(20.min(area.width), most)
}

/// The place of a window as high as its lines, at most the screen.
pub(crate) fn around(lines: usize, area: Rect, most: u16) -> Rect {
    let height = u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2);
    centred(area, width(area, most), height.clamp(3, area.height.saturating_sub(2).max(3)))
}

/// The place of a window in the middle.
pub(crate) fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

/// Clears a place and frames it; what is inside.
pub(crate) fn open(title: Spans, place: Rect, buf: &mut Buffer, look: Look<'_>) -> Rect {
    clear(place, buf);
    frame(title, place, buf, look)
}

impl<'a> Window<'a> {
    /// Lines of which the first on screen moves.
    pub(crate) fn new(place: Rect, title: Spans, len: usize, line: impl Fn(usize) -> Spans + 'a) -> Self {
        let line = Box::new(line);
        Self { place, title, head: Vec::new(), foot: Vec::new(), len, line, has_cursor: false }
    }

    fn height(&self) -> usize {
        inner_height(self.place).saturating_sub(self.head.len() + self.foot.len()).max(1)
    }

    /// The row under a position, of those that the cursor goes over; `top`: the first on screen.
    pub(crate) fn row_at(&self, at: Position, top: usize) -> Option<usize> {
        let first = usize::from(self.place.y) + 1 + self.head.len();
        let row = usize::from(at.y).checked_sub(first).filter(|row| *row < self.height())? + top;
        (self.has_cursor && self.place.contains(at) && row < self.len).then_some(row)
    }

    /// Moves the cursor, or the first line on screen, by rows.
    pub(crate) fn go(&self, list: &mut List, rows: isize) {
        if self.has_cursor {
            list.go(Move::By(rows), self.len, self.height());
        } else {
            scroll(&mut list.top, Move::By(rows), self.len, self.height());
        }
    }

    pub(crate) fn draw(self, list: List, buf: &mut Buffer, look: Look<'_>) {
        let height = self.height();
        let top = self.head.len();
        let inner = open(self.title, self.place, buf, look);
        scroll_mark(self.place, list.top, top + self.len, buf, look);
        for (row, line) in self.head.into_iter().enumerate() {
            put(line, row, inner, buf);
        }
        let rows = Rows { top: list.top, len: self.len, at: self.has_cursor.then_some(list.at) };
        let (_, body) = split_rows(inner, top as u16);
        let body = Rect { height: body.height.min(height as u16), ..body };
        fill(rows, self.line, body, buf, look);
        for (row, line) in self.foot.into_iter().enumerate() {
            put(line, top + height + row, inner, buf);
        }
    }
}
