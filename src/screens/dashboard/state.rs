//! The tables of the dashboard as rows of the screen, and the cursor among their numbers.

use crate::widgets::list::{List, Move};
use stepscope_io::pipeline::dashboard::BoardData;
use stepscope_review::dashboard::{DashboardCell, DashboardLine, DashboardTable};

/// Row of the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DashboardRow<'b> {
    /// Space between two tables.
    Blank,
    /// Title and column heads of a table.
    Heads(&'b DashboardTable),
    /// A line with numbers, and its place among all such lines.
    Line(usize, &'b DashboardTable, &'b DashboardLine),
    /// Note that some lines of a table are not listed.
    More,
}

/// The cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DashboardCursor {
    /// The line, among all that have numbers.
    pub line: usize,
    /// The number.
    pub column: usize,
    /// The first row on screen.
    pub top: usize,
}

/// Lists all rows, from the top.
pub(crate) fn rows(judged: &BoardData) -> Vec<DashboardRow<'_>> {
    let (mut rows, mut lines) = (Vec::new(), 0);
    for (n, board) in judged.boards.iter().enumerate() {
        rows.extend((n > 0).then_some(DashboardRow::Blank));
        rows.push(DashboardRow::Heads(board));
        for line in &board.lines {
            rows.push(DashboardRow::Line(lines, board, line));
            lines += 1;
        }
        rows.extend(board.more.then_some(DashboardRow::More));
    }
    rows
}

impl DashboardCursor {
    /// Returns the number under the cursor.
    pub fn cell<'b>(&self, judged: &'b BoardData) -> Option<&'b DashboardCell> {
        let line = judged.boards.iter().flat_map(|board| &board.lines).nth(self.line)?;
        line.cells.get(self.column)?.as_ref()
    }

    /// Moves among the lines, and keeps the cursor on screen.
    pub fn go(&mut self, movement: Move, judged: &BoardData, height: usize) {
        let rows = rows(judged);
        let lines = rows.iter().filter(|row| matches!(row, DashboardRow::Line(..))).count();
        let row_of = |line| rows.iter().position(|row| matches!(row, DashboardRow::Line(n, ..) if *n == line));
        let mut list = List { at: self.line, top: self.top };
        list.go_among(movement, lines, (rows.len(), height), |line| row_of(line).unwrap_or(0));
        (self.line, self.top) = (list.at, list.top);
        self.turn(0, judged);
    }

    /// Goes to another number of the line.
    pub fn turn(&mut self, by: isize, judged: &BoardData) {
        let line = judged.boards.iter().flat_map(|board| &board.lines).nth(self.line);
        let last = line.map_or(0, |line| line.cells.len().saturating_sub(1));
        self.column = self.column.saturating_add_signed(by).min(last);
    }
}
