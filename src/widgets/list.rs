//! A cursor over n rows and the part of them that is on screen.

/// Position of the cursor and of the first row on screen. `settle` keeps both within the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct List {
    /// The row under the cursor.
    pub at: usize,
    /// The first row on screen.
    pub top: usize,
}

/// The rows of which some are on screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The first on screen.
    pub top: usize,
    /// Number of rows.
    pub len: usize,
    /// The one that is marked.
    pub at: Option<usize>,
}

/// A movement of a cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// Rows to move by; negative is up.
    By(isize),
    /// Half pages to move by.
    HalfPages(isize),
    /// Pages to move by.
    Pages(isize),
    /// Row to move to, counted from 0; beyond the end is the last.
    To(usize),
}

impl List {
    /// Moves the cursor among `len` rows of which `height` are on screen.
    pub fn go(&mut self, movement: Move, len: usize, height: usize) {
        let by = |rows: isize| self.at.saturating_add_signed(rows);
        let page = isize::try_from(height.max(1)).unwrap_or(isize::MAX);
        self.at = match movement {
            Move::By(rows) => by(rows),
            Move::HalfPages(n) => by(n.saturating_mul((page / 2).max(1))),
            Move::Pages(n) => by(n.saturating_mul(page)),
            Move::To(row) => row,
        };
        self.settle(len, height);
    }

    /// Moves the cursor over the `count` selectable of the `len` rows; `row_of` finds one of them among all. At
    /// the first of them, what is above it is on screen too.
    pub(crate) fn go_among(
        &mut self,
        movement: Move,
        count: usize,
        (len, height): (usize, usize),
        row_of: impl Fn(usize) -> usize,
    ) {
        let mut among = Self { at: self.at, top: 0 };
        among.go(movement, count, height);
        self.at = among.at;
        let mut view = Self { at: if self.at == 0 { 0 } else { row_of(self.at) }, top: self.top };
        view.settle(len, height);
        self.top = view.top;
    }

    /// Keeps the cursor among the rows and on screen.
    pub fn settle(&mut self, len: usize, height: usize) {
        self.at = self.at.min(len.saturating_sub(1));
        let height = height.max(1);
        // A little context stays visible above and below the cursor.
        let margin = (height / 6).min(3);
        let lowest = self.at.saturating_sub(margin);
        let highest = (self.at + margin + 1).saturating_sub(height);
        self.top = self.top.min(lowest).max(highest).min(len.saturating_sub(height));
    }

    /// [`Self::settle`] of rows that take several lines each: the row under the cursor is on screen as a whole, or its
    /// beginning where it is higher than the screen.
    pub(crate) fn settle_tall(&mut self, len: usize, height: usize, lines: impl Fn(usize) -> usize) {
        let Some(last) = len.checked_sub(1) else {
            *self = Self::default();
            return;
        };
        self.at = self.at.min(last);
        let above = |row: usize| top_above(row, height.saturating_sub(lines(row)), &lines);
        self.top = self.top.clamp(above(self.at), self.at).min(above(last));
    }

    /// Keeps a text without a cursor on screen. One that shows its beginning shows it however long it is: its lines are
    /// only counted where it is scrolled.
    #[must_use]
    pub(crate) fn in_text(self, height: usize, lines: impl FnOnce() -> usize) -> Self {
        if height == 0 || self.top == 0 {
            return self;
        }
        Self { top: self.top.min(lines().saturating_sub(height)), ..self }
    }

    /// The row at a line of the screen, of rows that take several lines each.
    pub(crate) fn row_at(&self, line: usize, len: usize, lines: impl Fn(usize) -> usize) -> usize {
        let mut left = line;
        let ends = |row: &usize| match left.checked_sub(lines(*row)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        };
        (self.top..len).find(ends).unwrap_or(len.saturating_sub(1))
    }

    /// Makes the rows of a list of this length, the one under the cursor marked.
    pub(crate) fn rows(self, len: usize) -> Rows {
        Rows { top: self.top, len, at: Some(self.at) }
    }

    /// The rows on screen.
    pub fn visible(&self, len: usize, height: usize) -> std::ops::Range<usize> {
        self.top.min(len)..self.top.saturating_add(height).min(len)
    }
}

/// Tells whether rows of several lines each are all on screen at once.
pub(crate) fn all_fit(len: usize, height: usize, lines: impl Fn(usize) -> usize) -> bool {
    let used = |used: usize, row| Some(used + lines(row)).filter(|used| *used <= height);
    len <= height && (0..len).try_fold(0, used).is_some()
}

/// Finds the first row on screen if this number of lines is left above a row.
pub(crate) fn top_above(row: usize, lines: usize, lines_of: &impl Fn(usize) -> usize) -> usize {
    let (mut top, mut left) = (row, lines);
    while let Some(before) = top.checked_sub(1) {
        let Some(rest) = left.checked_sub(lines_of(before)) else { break };
        (top, left) = (before, rest);
    }
    top
}

/// Moves the first of `lines` lines on screen; there is no cursor.
pub(crate) fn scroll(top: &mut usize, movement: Move, lines: usize, height: usize) {
    let mut list = List { at: *top, top: *top };
    list.go(movement, (lines + 1).saturating_sub(height).max(1), height);
    *top = list.at;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_row_under_the_cursor_is_whole_where_it_fits(
            lines in prop::collection::vec(1_usize..6, 1..30),
            height in 1_usize..20,
            moves in prop::collection::vec(0_usize..40, 1..10),
        ) {
            let mut list = List::default();
            let lines_of = |row: usize| lines.get(row).copied().unwrap_or(1);
            for row in moves {
                list.at = row;
                list.settle_tall(lines.len(), height, lines_of);
                prop_assert!(list.top <= list.at && list.at < lines.len());
                let above: usize = (list.top..list.at).map(lines_of).sum();
                prop_assert!(above + lines_of(list.at) <= height || list.top == list.at);
                prop_assert_eq!(list.row_at(above, lines.len(), lines_of), list.at);
            }
        }

        #[test]
        fn the_cursor_is_always_on_screen(
            len in 0_usize..50,
            height in 0_usize..20,
            moves in prop::collection::vec((0..4, -60_isize..60), 0..20),
        ) {
            let mut list = List::default();
            for (kind, n) in moves {
                let movement = match kind {
                    0 => Move::By(n),
                    1 => Move::HalfPages(n),
                    2 => Move::Pages(n),
                    _ => Move::To(n.unsigned_abs()),
                };
                list.go(movement, len, height);
                prop_assert!(len == 0 || list.at < len);
                prop_assert!(len == 0 || list.visible(len, height.max(1)).contains(&list.at));
            }
        }
    }
}
