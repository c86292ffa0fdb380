//! Records of the table that are left to judge. A verdict changes the standing of one row, and the next item is looked up: nothing
//! here goes through all rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stepscope_record::rule_id::QueueClass;

/// State of a row; rows that have none here are open: without a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgendaState {
    /// Judged for good; `true`: it is to be judged a second time.
    Done(bool),
    /// Put off.
    Deferred,
    /// A fork, which need not be judged.
    Fork,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Agenda {
    standing: HashMap<usize, AgendaState>,
    /// Rows that are not open, as runs: the first of each, and one past its last.
    closed: BTreeMap<usize, usize>,
    deferred: BTreeSet<usize>,
    again: BTreeSet<usize>,
    done: usize,
    /// Number of rows done in each class of the queue, and the class of each of these rows.
    done_of: [usize; QueueClass::ALL.len()],
    classes: HashMap<usize, QueueClass>,
    forks: usize,
}

impl Agenda {
    /// Sets the state of a row of a class of the queue; `None`: open.
    pub fn set(&mut self, row: usize, class: QueueClass, standing: Option<AgendaState>) {
        if let Some(count) = self.classes.remove(&row).and_then(|before| self.done_of.get_mut(before as usize)) {
            *count -= 1;
        }
        if matches!(standing, Some(AgendaState::Done(_)))
            && let Some(count) = self.done_of.get_mut(class as usize)
        {
            *count += 1;
            self.classes.insert(row, class);
        }
        let before = match standing {
            Some(standing) => self.standing.insert(row, standing),
            None => self.standing.remove(&row),
        };
        if before == standing {
            return;
        }
        match before {
            None => self.close(row),
            Some(AgendaState::Done(_)) => {
                self.again.remove(&row);
                self.done -= 1;
            }
            Some(AgendaState::Deferred) => _ = self.deferred.remove(&row),
            Some(AgendaState::Fork) => self.forks -= 1,
        }
        match standing {
            None => self.open(row),
            Some(AgendaState::Done(again)) => {
                self.done += 1;
                if again {
                    self.again.insert(row);
                }
            }
            Some(AgendaState::Deferred) => _ = self.deferred.insert(row),
            Some(AgendaState::Fork) => self.forks += 1,
        }
    }

    fn close(&mut self, row: usize) {
        let (mut first, mut end) = (row, row + 1);
        if let Some((&before, &to)) = self.closed.range(..=row).next_back()
            && to == row
        {
            first = before;
        }
        if let Some(to) = self.closed.remove(&end) {
            end = to;
        }
        self.closed.insert(first, end);
    }

    fn open(&mut self, row: usize) {
        let Some((&first, &end)) = self.closed.range(..=row).next_back().filter(|(_, end)| row < **end) else { return };
        self.closed.remove(&first);
        if first < row {
            self.closed.insert(first, row);
        }
        if row + 1 < end {
            self.closed.insert(row + 1, end);
        }
    }

    /// The first open row from a row on.
    fn open_from(&self, row: usize) -> usize {
        let run = self.closed.range(..=row).next_back();
        run.map_or(row, |(_, end)| row.max(*end))
    }

    /// Finds the first open row among the rows of the table.
    pub fn first(&self, rows: usize) -> Option<usize> {
        Some(self.open_from(0)).filter(|row| *row < rows)
    }

    /// Finds the next row from a row on, continuing from the top, except one: an open row, else a deferred one, else
    /// one to be judged a second time.
    pub fn next(&self, from: usize, rows: usize, but: Option<usize>) -> Option<usize> {
        let below = |row: &usize| *row < rows && Some(*row) != but;
        let open = |from: usize| {
            let found = self.open_from(from);
            if Some(found) == but { self.open_from(found + 1) } else { found }
        };
        let of = |set: &BTreeSet<usize>| {
            let below_it = set.range(from..).chain(set.range(..from));
            below_it.copied().find(below)
        };
        [open(from), open(0)].into_iter().find(below).or_else(|| of(&self.deferred)).or_else(|| of(&self.again))
    }

    /// Counts the rows of a class of the queue that are judged for good.
    pub fn done_of(&self, class: QueueClass) -> usize {
        self.done_of.get(class as usize).copied().unwrap_or(0)
    }

    /// Counts the rows that are judged for good, and those of the table that are to be judged at all.
    pub fn progress(&self, rows: usize) -> (usize, usize) {
        (self.done, rows.saturating_sub(self.forks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_next_is_what_going_through_all_rows_would_find() {
        const ROWS: usize = 24;
        let mut agenda = Agenda::default();
        let mut plain = [None; ROWS];
        // A fixed sequence of what people do.
        let mut x = 7_usize;
        for _ in 0..2_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (row, what, from) = ((x >> 33) % ROWS, (x >> 40) % 7, (x >> 50) % ROWS);
            let standing = match what {
                0 | 1 => None,
                2 => Some(AgendaState::Deferred),
                3 => Some(AgendaState::Fork),
                4 => Some(AgendaState::Done(true)),
                _ => Some(AgendaState::Done(false)),
            };
            let class = QueueClass::ALL[row % QueueClass::ALL.len()];
            agenda.set(row, class, standing);
            plain[row] = standing;
            let around = || (from..ROWS).chain(0..from).filter(|other| *other != row);
            let find = |wanted: Option<AgendaState>| around().find(|other| plain[*other] == wanted);
            let expected = find(None).or(find(Some(AgendaState::Deferred))).or(find(Some(AgendaState::Done(true))));
            assert_eq!(agenda.next(from, ROWS, Some(row)), expected);
            assert_eq!(agenda.first(ROWS), plain.iter().position(Option::is_none));
            let count = |is: fn(&AgendaState) -> bool| plain.iter().flatten().filter(|standing| is(standing)).count();
            let is_done = |standing: &Option<AgendaState>| matches!(standing, Some(AgendaState::Done(_)));
            let of_class = plain.iter().skip(row % QueueClass::ALL.len()).step_by(QueueClass::ALL.len());
            assert_eq!(agenda.done_of(class), of_class.filter(|standing| is_done(standing)).count());
            let forks = count(|standing| *standing == AgendaState::Fork);
            assert_eq!(
                agenda.progress(ROWS),
                (count(|standing| matches!(standing, AgendaState::Done(_))), ROWS - forks)
            );
        }
    }
}
