//! In which order a person looks at records, and which of them.

use super::draw::{Draw, DrawnFrom, draw, drawn_number};
use super::event::Text;
use super::signal::Signal;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_record::rule_id::QueueClass;

/// Settings by which the queue is made from what is flagged.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Queue {
    /// Seed that mixes the records, the same way for the same seed.
    pub shuffle: Option<u64>,
    /// True if records whose signals leave open what they are come twice as early as the others, each of both mixed by
    /// the seed: verdicts on them tell most.
    pub sampled: bool,
    /// Share of the clean records that is looked at, chosen by chance; `None`: all of them, at the end.
    pub clean_share: Option<f64>,
    /// Share of the judged records that is shown a second time at the end.
    pub repeat: f64,
    /// Part of the records that this reviewer looks at, where several share them.
    pub assigned: Option<Assignment>,
}

/// One of several equal parts of the records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// Number of the part, from 1.
    part: usize,
    /// Number of parts.
    of: usize,
}

impl Assignment {
    /// Reads `1/3`.
    pub fn parse(word: &str) -> Option<Self> {
        let (part, of) = word.split_once('/')?;
        let (part, of) = (part.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&part).then_some(Self { part, of })
    }

    /// Tells whether a record belongs to this part: the same for every reviewer, whatever the order of the queue.
    fn takes(self, record: usize) -> bool {
        record % self.of == self.part - 1
    }
}

/// Purpose for which a number is drawn, so that one choice does not depend on another.
const CLEAN: u64 = 2;
const REPEAT: u64 = 3;

impl Queue {
    /// Tells whether only a part of the records is in it.
    pub const fn is_part(&self) -> bool {
        self.assigned.is_some() || self.clean_share.is_some()
    }

    /// Returns the sort key of a record in the queue; `None`: it is left out.
    pub fn key(&self, record: usize, row: &RowFacts) -> Option<(u8, u64)> {
        if self.assigned.is_some_and(|assigned| !assigned.takes(record)) {
            return None;
        }
        let class = row.queue_class();
        let chosen = match self.clean_share {
            Some(share) if class == QueueClass::Clean => self.draw(record, CLEAN) < share,
            _ => true,
        };
        let is_later = self.sampled && !Signal::of(row).is_doubtful();
        let place = ((drawn_number(self.shuffle.unwrap_or(0), record) * 2f64.powi(53)) as u64) << u32::from(is_later);
        chosen.then_some(match (self.shuffle, self.clean_share) {
            (Some(_), _) => (0, place),
            // Clean ones among the others, so that nobody knows what to expect.
            (None, Some(_)) if class == QueueClass::Clean => ((place % 5) as u8, place),
            (None, _) => (class as u8, record as u64),
        })
    }

    /// Tells how chance chose a record, to be kept with a verdict on it; `None`: it did not, or nobody can tell.
    pub fn drawn(&self, row: &RowFacts) -> Option<Text> {
        let seed = self.shuffle.filter(|_| !self.is_part() && !row.is_fork())?;
        let draw = match self.sampled {
            false => Draw { seed, from: DrawnFrom::All },
            true if row.has(Flag::Checked) => Draw::sampled(seed, Signal::of(row)),
            true => return None,
        };
        Some(draw.text())
    }

    /// Tells whether a record is to be judged a second time.
    pub fn repeats(&self, record: usize) -> bool {
        self.repeat > 0.0 && self.draw(record, REPEAT) < self.repeat
    }

    fn draw(&self, record: usize, purpose: u64) -> f64 {
        draw(self.shuffle.unwrap_or(0), record, purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::case::Case;

    fn row(text: &str, baseline: Option<f64>) -> RowFacts {
        let case = Case::read(text.as_bytes());
        let view = case.view();
        RowFacts::unchecked(0, 3).checked(&view, view.findings(), baseline)
    }

    const RIGHT: &str = r#"{"id": 1, "mode": "baseline", "question": "2 and 2?", "gold_num": 4.0,
        "state": {"final_answer": "4", "final_answer_numerical": 4.0, "confidence": 0.9}, "pred_answer": "4", "pred_num": 4.0, "correct": true, "raw": "4"}"#;

    #[test]
    fn errors_come_first_and_clean_records_last() {
        let class = |text: &str| row(text, None).queue_class();
        assert_eq!(class(r#"{"id": 1, "procedure": null, "status": "error", "error": "x"}"#), QueueClass::Missing);
        assert_eq!(class(&RIGHT.replace("true", "false")), QueueClass::Flagged);
        assert_eq!(class(RIGHT), QueueClass::Clean);
        assert_eq!(row(RIGHT, Some(5.0)).queue_class(), QueueClass::Disagrees);
        assert_eq!(row(RIGHT, Some(4.0)).queue_class(), QueueClass::Clean);
        assert!(QueueClass::Missing < QueueClass::Fatal && QueueClass::Disagrees < QueueClass::Clean);
    }

    #[test]
    fn the_parts_of_several_reviewers_are_all_records_and_none_twice() {
        let clean = row(RIGHT, None);
        let part = |word: &str| {
            let queue = Queue { assigned: Assignment::parse(word), ..Queue::default() };
            (0..20).filter(|n| queue.key(*n, &clean).is_some()).collect::<Vec<_>>()
        };
        let mut all = [part("1/3"), part("2/3"), part("3/3")].concat();
        assert!(all.len() == 20 && part("1/3").len() == 7);
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        assert!(["0/3", "4/3", "1", "1/0", "a/b", "1/3/5"].iter().all(|word| Assignment::parse(word).is_none()));
    }

    #[test]
    fn a_share_is_about_that_large_and_the_same_for_the_same_seed() {
        let clean = row(RIGHT, None);
        let queue = Queue { shuffle: Some(7), clean_share: Some(0.1), repeat: 0.05, ..Queue::default() };
        let chosen: Vec<usize> = (0..5_000).filter(|n| queue.key(*n, &clean).is_some()).collect();
        assert!((400..600).contains(&chosen.len()), "{}", chosen.len());
        let again: Vec<usize> = (0..5_000).filter(|n| queue.repeats(*n)).collect();
        assert!((150..350).contains(&again.len()), "{}", again.len());
        let keys = |seed| {
            let queue = Queue { shuffle: Some(seed), ..Queue::default() };
            let mut order: Vec<usize> = (0..20).collect();
            order.sort_by_key(|n| queue.key(*n, &clean));
            order
        };
        assert_eq!(keys(7), keys(7));
        assert!(keys(7) != keys(8) && keys(7) != (0..20).collect::<Vec<_>>());
    }
}
