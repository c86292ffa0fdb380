//! Matches of find in the table: which rows, and where in their records.

use std::collections::HashMap;

use crate::app::msg::SearchId;
use crate::app::sought::Sought;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Matches of a search in the table.
#[derive(Debug)]
pub struct Matches {
    /// The number of the search.
    pub id: SearchId,
    /// Text of the search, as typed.
    pub typed: String,
    /// Text that is searched for.
    pub sought: Sought,
    /// Number of records that are or were looked at.
    pub planned: usize,
    /// True while the search is under way.
    pub running: bool,
    /// Match to go to as soon as it is certain which that is: so many further, from this row.
    pub jump: Option<(isize, usize)>,
    /// Sentence that was said last, the row it is about, and what belongs behind it.
    pub told: Option<(Shown, usize, &'static str)>,
    /// Records that hold it and the place in each, in the order in which they came.
    found: Vec<(u32, u32)>,
    /// Places in which it was seen; many records hold it in the same place.
    places: Vec<Shown>,
    known: HashMap<Shown, u32>,
    /// The rows of those that are shown, ascending, each with its number in `found`.
    rows: Vec<(u32, u32)>,
    /// Row at which looking began; it goes round, over `len` rows.
    from: usize,
    len: usize,
    /// Number of rows that were looked at for certain.
    looked: usize,
    /// True if the rows are those that were there when looking began.
    kept: bool,
}

/// Result of a step through the matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Row to go to.
    Go {
        /// The row.
        row: usize,
        /// Index of the match among those of the table, from 0.
        nth: usize,
        /// True if it went over the end.
        wrapped: bool,
    },
    /// Result that is not certain yet.
    Wait,
    /// No match.
    Nothing,
}

impl Matches {
    /// Begins with nothing; looking begins at row `from` of `len`, and goes through `planned` records.
    pub fn new(id: SearchId, typed: &str, sought: Sought, [from, len, planned]: [usize; 3]) -> Self {
        Self {
            id,
            typed: typed.to_owned(),
            sought,
            planned,
            running: true,
            jump: None,
            told: None,
            found: Vec::new(),
            places: Vec::new(),
            known: HashMap::new(),
            rows: Vec::new(),
            from,
            len,
            looked: 0,
            kept: true,
        }
    }

    /// Records that came later are looked at too.
    pub fn go_on(&mut self, planned: usize) {
        (self.planned, self.running, self.kept) = (planned, true, false);
    }

    /// Takes in what was found, in the order of looking; `row_of` gives the row of a record that is shown. `done`: that
    /// was all.
    pub fn take(&mut self, found: Vec<(u32, Shown)>, done: bool, row_of: impl Fn(u32) -> Option<u32>) {
        let mut fresh = Vec::with_capacity(found.len());
        for (record, place) in found {
            let next = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let at = *self.known.entry(place.clone()).or_insert_with(|| {
                self.places.push(place);
                next
            });
            let n = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
            self.found.push((record, at));
            match row_of(record) {
                Some(row) => {
                    fresh.push((row, n));
                    self.looked = self.looked.max(self.turn(row as usize) + 1);
                }
                // Hidden records are looked at when all rows were.
                None => self.looked = self.len,
            }
        }
        let at = fresh.first().map_or(0, |(first, _)| self.below(*first as usize));
        let fits =
            fresh.is_sorted() && self.rows.get(at).is_none_or(|next| fresh.last().is_none_or(|last| last < next));
        if fits {
            self.rows.splice(at..at, fresh);
        } else {
            self.rows.extend(fresh);
            self.rows.sort_unstable();
        }
        self.running &= !done;
    }

    /// Arranges the matches by the rows that the records have now.
    pub(crate) fn rearrange(&mut self, row_of: impl Fn(u32) -> Option<u32>) {
        let rows = self.found.iter().enumerate();
        self.rows = rows.filter_map(|(n, (record, _))| Some((row_of(*record)?, n as u32))).collect();
        self.rows.sort_unstable();
        self.kept = false;
    }

    /// Counts the matches above a row.
    fn below(&self, row: usize) -> usize {
        self.rows.partition_point(|(other, _)| (*other as usize) < row)
    }

    /// Counts the rows that are looked at before this one.
    fn turn(&self, row: usize) -> usize {
        if row >= self.from { row - self.from } else { (row + self.len).saturating_sub(self.from) }
    }

    /// Tells whether a step from a row meets no row that was not looked at.
    fn is_certain(&self, by: isize, here: usize) -> bool {
        if !self.running {
            return true;
        }
        if !self.kept || here >= self.len {
            return false;
        }
        // Matches that were looked at before this row, and it.
        let upto = |row: usize| {
            let first = self.below(self.from);
            if row >= self.from { self.below(row) - first } else { self.rows.len() - first + self.below(row) }
        };
        let (before, is_match) = (upto(here), self.nth(here).is_some());
        let after = self.rows.len() - before - usize::from(is_match);
        match by {
            0 => is_match || after > 0,
            1.. => after >= by.unsigned_abs(),
            _ => before >= by.unsigned_abs() && self.looked >= self.turn(here),
        }
    }

    /// Goes so many matches further down from a row, or up; 0: the first at or below it.
    pub fn step(&self, by: isize, here: usize) -> Next {
        if !self.is_certain(by, here) {
            return Next::Wait;
        }
        let count = self.rows.len();
        let above = self.below(here);
        let target = match by {
            1.. => above as isize + isize::from(self.nth(here).is_some()) + by - 1,
            _ => above as isize + by,
        };
        let Some(nth) = target.checked_rem_euclid(count as isize) else { return Next::Nothing };
        let wrapped = !(0..count as isize).contains(&target);
        match self.rows.get(nth.unsigned_abs()) {
            Some((row, _)) => Next::Go { row: *row as usize, nth: nth.unsigned_abs(), wrapped },
            None => Next::Nothing,
        }
    }

    /// Returns the index of the match in a row, from 0.
    pub fn nth(&self, row: usize) -> Option<usize> {
        let at = self.below(row);
        self.rows.get(at).filter(|(other, _)| *other as usize == row).map(|_| at)
    }

    /// Returns the place in its record where a match was seen.
    pub fn place(&self, nth: usize) -> Option<&Shown> {
        let (_, n) = self.rows.get(nth)?;
        let (_, place) = self.found.get(*n as usize)?;
        self.places.get(*place as usize)
    }

    /// Describes the match in a row: its number, the number of all, and where it is seen.
    pub fn sentence(&self, row: usize, record: usize) -> Option<Shown> {
        let nth = self.nth(row)?;
        let so_far = if self.running { " so far" } else { "" };
        let place = self.place(nth)?;
        Some(shown!("match {} of {}{so_far} · record {} · {place}", nth + 1, self.len(), record + 1))
    }

    /// Counts the matches that are shown.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Tells whether none is shown.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts the matches that are hidden.
    pub fn hidden(&self) -> usize {
        self.found.len() - self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 40;

    /// Makes matches in every third row; record and row are one but that hidden records have none.
    fn matches(from: usize) -> (Matches, Vec<usize>) {
        let order: Vec<usize> = (from..ROWS).chain(0..from).collect();
        (Matches::new(1, "x", Sought::parse("x").unwrap(), [from, ROWS, ROWS]), order)
    }

    fn go(matches: &Matches, by: isize, here: usize) -> Option<(usize, bool)> {
        match matches.step(by, here) {
            Next::Go { row, wrapped, .. } => Some((row, wrapped)),
            Next::Wait => None,
            Next::Nothing => panic!("nothing"),
        }
    }

    #[test]
    fn a_step_taken_early_is_the_step_taken_late() {
        for from in [0, 7, 39] {
            let (mut done, order) = matches(from);
            let holding: Vec<u32> = order.iter().filter(|row| **row % 3 == 0).map(|row| *row as u32).collect();
            let batch = |rows: &[u32]| rows.iter().map(|row| (*row, Shown::own("question"))).collect::<Vec<_>>();
            done.take(batch(&holding), true, Some);
            for pieces in [1, 2, 5] {
                let (mut early, _) = matches(from);
                let mut certain = 0;
                for piece in holding.chunks(pieces) {
                    early.take(batch(piece), false, Some);
                    for here in 0..ROWS {
                        for by in [-3, -1, 0, 1, 2] {
                            if let Some(step) = go(&early, by, here) {
                                certain += 1;
                                assert_eq!(Some(step.0), go(&done, by, here).map(|step| step.0), "{from} {here} {by}");
                            }
                        }
                    }
                }
                assert!(certain > 100, "{certain}");
                assert_eq!(early.rows.len(), done.rows.len());
            }
        }
    }

    #[test]
    fn steps_go_round_and_say_so() {
        let (mut found, _) = matches(0);
        assert_eq!(found.step(0, 0), Next::Wait);
        let row_of = |record: u32| (record < 30).then_some(record);
        found.take(
            vec![(3, "question"), (9, "id"), (33, "id")]
                .into_iter()
                .map(|(record, place): (u32, &'static str)| (record, Shown::own(place)))
                .collect(),
            true,
            row_of,
        );
        assert_eq!(
            (go(&found, 0, 4), go(&found, 0, 10), go(&found, 0, 3)),
            (Some((9, false)), Some((3, true)), Some((3, false)))
        );
        assert_eq!(
            (go(&found, 1, 9), go(&found, -1, 3), go(&found, 2, 0)),
            (Some((3, true)), Some((9, true)), Some((9, false)))
        );
        assert_eq!((found.nth(9), found.place(1).map(Shown::as_str), found.hidden()), (Some(1), Some("id"), 1));
        found.rearrange(|record| Some(39 - record));
        assert_eq!((go(&found, 1, 0), found.hidden()), (Some((6, false)), 0));
        found.rearrange(|_| None);
        assert_eq!(found.step(1, 0), Next::Nothing);
    }
}
