//! The order of the table: the record of each row, and the row of each record. Both are looked up, never looked for:
//! every key asks, and there may be a million rows.

/// Order of the table. It is rebuilt when records come or go, not when the cursor moves.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The record of each row.
    rows: Vec<u32>,
    /// Row of each record; of one that is hidden, the row where it would be.
    places: Vec<u32>,
    /// The rows of forks below their root, ascending: they are not counted where records are.
    forks: Vec<u32>,
    /// Of these the rows, ascending, that are there for their root: they do not fit the filter themselves.
    carried: Vec<u32>,
}

impl Order {
    /// Builds the order of so many records from the record of each row, the rows of forks, and those that do not fit.
    pub(crate) fn new([rows, forks, carried]: [Vec<u32>; 3], records: usize) -> Self {
        let last = u32::try_from(rows.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let mut places = Vec::with_capacity(records);
        for (row, record) in rows.iter().enumerate() {
            // A hidden record would stand before the first row with a later one.
            let later = (*record as usize).min(records);
            if places.len() < later {
                places.resize(later, row as u32);
            }
        }
        places.resize(records, last);
        for (row, record) in rows.iter().enumerate() {
            if let Some(place) = places.get_mut(*record as usize) {
                *place = row as u32;
            }
        }
        Self { rows, places, forks, carried }
    }

    /// Counts the rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Lists the rows that are there for their root.
    pub(crate) fn carried(&self) -> &[u32] {
        &self.carried
    }

    /// Returns the record in a row.
    pub(crate) fn record(&self, row: usize) -> Option<usize> {
        self.rows.get(row).map(|record| *record as usize)
    }

    /// Returns the row of a record; if it is hidden, the row where it would be.
    pub(crate) fn row_of(&self, record: usize) -> usize {
        self.places.get(record).map_or(self.rows.len().saturating_sub(1), |row| *row as usize)
    }

    /// Counts the rows above a row that are not forks.
    pub(crate) fn own_above(&self, row: usize) -> usize {
        row - self.forks.partition_point(|fork| (*fork as usize) < row).min(row)
    }

    /// Returns the row that has so many rows above it that are not forks, and is none itself.
    pub(crate) fn own_row(&self, above: usize) -> usize {
        // Above each fork stand as many other rows as its row says, less the forks above it.
        let (mut from, mut to) = (0, self.forks.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            let own = self.forks.get(middle).map_or(0, |fork| *fork as usize - middle.min(*fork as usize));
            if own <= above { from = middle + 1 } else { to = middle }
        }
        above + from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_looked_up_as_they_would_be_looked_for() {
        // Records 2, 5 and 9 of ten are hidden; 7 and 8 are forks of 0.
        let order = Order::new([vec![4, 0, 7, 8, 6, 1, 3], vec![2, 3], vec![3]], 10);
        let looked_for = |record: usize| {
            let found = order.rows.iter().position(|other| *other as usize == record);
            let later = || order.rows.iter().position(|other| *other as usize > record);
            found.or_else(later).unwrap_or(order.len() - 1)
        };
        for record in 0..12 {
            assert_eq!(order.row_of(record), looked_for(record), "{record}");
        }
        let is_own = |row: usize| row != 2 && row != 3;
        for row in 0..=order.len() {
            assert_eq!(order.own_above(row), (0..row).filter(|row| is_own(*row)).count(), "{row}");
        }
        let own: Vec<usize> = (0..order.len()).filter(|row| is_own(*row)).collect();
        assert_eq!((0..order.own_above(order.len())).map(|above| order.own_row(above)).collect::<Vec<_>>(), own);
        let none = Order::new(Default::default(), 3);
        assert_eq!((none.len(), none.row_of(1), none.own_above(none.len())), (0, 0, 0));
    }
}
