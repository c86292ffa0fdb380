//! The parts of the terminal, and the inside of a pane.

use ratatui::layout::Rect;

/// Least width at which the panes of a run are side by side.
pub(crate) const WIDE: u16 = 100;

/// Least width at which a third column shows what is otherwise behind a tab.
pub(crate) const THIRD: u16 = 160;

/// Columns of a preview, however wide the screen is.
const PREVIEW: u16 = 60;

/// The parts of every screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// The first line.
    pub header: Rect,
    /// Main part of the screen.
    pub body: Rect,
    /// The line that describes what the cursor is on, or answers a key.
    pub status: Rect,
    /// The last line: keys.
    pub footer: Rect,
}

/// Cuts a screen into its parts; the smallest screens keep the body.
pub fn parts(area: Rect) -> Parts {
    let header = u16::from(area.height >= 3);
    let footer = u16::from(area.height >= 4);
    let status = u16::from(area.height >= 8);
    let body = area.height - header - footer - status;
    let line = |y: u16, height: u16| Rect { y: area.y + y, height, ..area };
    Parts {
        header: line(0, header),
        body: line(header, body),
        status: line(header + body, status),
        footer: line(header + body + status, footer),
    }
}

/// Converts a count to rows, at most as many as a screen can have.
pub fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// The first rows of an area, and the rest.
pub(crate) fn split_rows(area: Rect, first: u16) -> (Rect, Rect) {
    let first = first.min(area.height);
    (Rect { height: first, ..area }, Rect { y: area.y + first, height: area.height - first, ..area })
}

/// The first columns of an area, and the rest.
pub(crate) fn split_columns(area: Rect, first: u16) -> (Rect, Rect) {
    let first = first.min(area.width);
    (Rect { width: first, ..area }, Rect { x: area.x + first, width: area.width - first, ..area })
}

/// The first rows of an area for a pane, and the rest for those below it: they share a line of their borders.
pub(crate) fn pane_above(area: Rect, first: u16) -> (Rect, Rect) {
    let (above, below) = split_rows(area, first);
    let shared = u16::from(!above.is_empty() && !below.is_empty());
    (above, Rect { y: below.y - shared, height: below.height + shared, ..below })
}

/// The first columns of an area for a pane, and the rest for those next to it: they share a column of their borders.
pub(crate) fn pane_left(area: Rect, first: u16) -> (Rect, Rect) {
    let (left, right) = split_columns(area, first);
    let shared = u16::from(!left.is_empty() && !right.is_empty());
    (left, Rect { x: right.x - shared, width: right.width + shared, ..right })
}

/// A body without its third column, and the third column where there is room for one. A preview gains nothing from more
/// columns, but the table does.
pub(crate) fn with_third(body: Rect) -> (Rect, Rect) {
    split_columns(body, before_third(body).max(body.width.saturating_sub(PREVIEW)))
}

/// The same for two panes.
pub(crate) fn with_third_pane(body: Rect) -> (Rect, Rect) {
    pane_left(body, before_third(body))
}

const fn before_third(body: Rect) -> u16 {
    if body.width >= THIRD { body.width - body.width * 2 / 5 } else { body.width }
}

/// Counts the rows of the table on screen.
pub fn table_height(area: Rect) -> usize {
    usize::from(parts(area).body.height.saturating_sub(1))
}

/// Counts the rows on screen of a pane that takes all of the body.
pub(crate) fn body_height(area: Rect) -> usize {
    usize::from(parts(area).body.height.saturating_sub(2))
}

/// The lines inside a pane's border.
pub(crate) fn inner_height(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}

/// The columns inside a pane's border and its blank at both sides.
pub(crate) fn inner_width(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(4))
}

/// The line inside a pane's border that is in a row of the screen.
pub(crate) fn inner_line(area: Rect, row: u16) -> Option<usize> {
    row.checked_sub(area.y + 1).filter(|_| row + 1 < area.bottom()).map(usize::from)
}
