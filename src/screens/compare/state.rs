//! The comparison as rows: the five cells on every basis, what else can be asked for, and the measures.

use foldhash::HashSet;

use crate::widgets::list::List;
use stepscope_compare::{Basis, Cell, distinct};
use stepscope_io::pipeline::compare::Compared;
use stepscope_table::filter::{ALONE, DUPLICATE, LEFT_OUT, REGRESSION, REPEATED, cell_set};

/// Row of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompareRow {
    /// A cell, counted on every basis.
    Cell(Cell),
    /// Items whose expected answer is disputed.
    LeftOut,
    /// Items that the baseline has right and the run has not.
    Regressions,
    /// Items in one run alone.
    Alone,
    /// Records whose id occurs earlier.
    Duplicates,
    /// Records whose question repeats.
    Repeated,
    /// A line about all items: which block, and which of the bases that differ.
    Measure(usize, usize),
}

/// The cursor of the comparison: its row, and the basis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompareCursor {
    /// The row.
    pub list: List,
    /// The basis, by its place in [`Basis::ALL`].
    pub basis: usize,
}

/// Lists the rows of a comparison.
pub(crate) fn rows(compared: &Compared) -> Vec<CompareRow> {
    let mut rows: Vec<CompareRow> = Cell::ALL.into_iter().map(CompareRow::Cell).collect();
    if compared.columns.iter().any(|column| column.left_out > 0) {
        rows.push(CompareRow::LeftOut);
    }
    rows.extend([CompareRow::Regressions, CompareRow::Alone, CompareRow::Duplicates]);
    if compared.repeated != [0, 0] {
        rows.push(CompareRow::Repeated);
    }
    let bases = distinct(&compared.columns).len();
    rows.extend((0..3).flat_map(|block| (0..bases).map(move |basis| CompareRow::Measure(block, basis))));
    rows
}

impl CompareCursor {
    /// Returns the basis under the cursor.
    pub fn basis(&self) -> Basis {
        Basis::ALL.get(self.basis).copied().unwrap_or(Basis::GoldAdjusted)
    }

    /// Returns the row under the cursor.
    pub fn row(&self, compared: &Compared) -> Option<CompareRow> {
        rows(compared).get(self.list.at).copied()
    }

    /// Goes to the first cell that counts something, where the cursor was not moved yet.
    pub(crate) fn begin(&mut self, compared: &Compared) {
        let column = compared.columns.get(self.basis);
        let counts = |cell: &Cell| column.is_some_and(|column| column.count(*cell) > 0);
        if self.list == List::default() {
            self.list.at = Cell::ALL.iter().position(counts).unwrap_or(0);
        }
    }

    /// Goes to another of the bases that differ.
    pub(crate) fn turn(&mut self, by: isize, compared: &Compared) {
        let bases = distinct(&compared.columns);
        let at = bases.iter().position(|basis| *basis as usize == self.basis).unwrap_or(0);
        let next = at.saturating_add_signed(by).min(bases.len().saturating_sub(1));
        self.basis = bases.get(next).map_or(0, |basis| *basis as usize);
    }

    /// Counts the items behind the number that are not records of the run.
    pub fn hidden(&self, compared: &Compared, set: &str) -> usize {
        let column = compared.columns.get(self.basis);
        let count = match self.row(compared) {
            Some(CompareRow::Cell(cell)) => column.map_or(0, |column| column.count(cell)),
            Some(CompareRow::LeftOut) => column.map_or(0, |column| column.left_out),
            Some(CompareRow::Regressions) => compared.regressions as u64,
            _ => return 0,
        };
        let shown = compared.sets.get(set).map_or(0, HashSet::len);
        usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(shown)
    }

    /// Returns the filter that shows the records of what the cursor is on; `Err`: why there is none.
    pub fn filter(&self, compared: &Compared) -> Result<String, &'static str> {
        let row = self.row(compared).ok_or("nothing here")?;
        let word = match row {
            CompareRow::Cell(cell) => cell.word(),
            CompareRow::LeftOut => LEFT_OUT,
            CompareRow::Regressions => REGRESSION,
            CompareRow::Alone => ALONE,
            CompareRow::Duplicates => DUPLICATE,
            CompareRow::Repeated => REPEATED,
            CompareRow::Measure(..) => return Err("this line counts all items; select a cell above"),
        };
        // Where nobody said anything all bases are the same, and the short name does.
        let short = !compared.reviewed || !matches!(row, CompareRow::Cell(_) | CompareRow::LeftOut);
        let set = cell_set(if short { Basis::GoldAdjusted } else { self.basis() }, word);
        if compared.sets.contains_key(&set) {
            Ok(set)
        } else if self.hidden(compared, &set) > 0 {
            Err("All of these are only in B: none is in this table")
        } else {
            Err("No records")
        }
    }
}
