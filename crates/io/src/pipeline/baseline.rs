//! The answers of a baseline file, to be joined by id, else by question.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::failure::Failure;
use crate::pipeline::examine::{id_hash, question_hash};
use crate::pipeline::line::{self, Done, Task};
use crate::source::block::Block;
use crate::source::input::Expand;
use stepscope_base::json::Tape;
use stepscope_judge::case::Context;
use stepscope_judge::rightness::baseline_answer;
use stepscope_record::Record;

/// Further records are not kept; 48 bytes each.
pub const MAX_ANSWERS: usize = 4 << 20;

/// Content of a block: of each record the hashes of its id and question, and its answer.
type Answers = Vec<(Option<u64>, Option<u64>, Option<f64>)>;

/// The number that each baseline record answered, by hashes; `None`: it gave none, or ended in an error.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Baseline {
    by_id: HashMap<u64, Option<f64>>,
    /// Of a question that repeats no answer counts, as in a comparison.
    by_question: HashMap<u64, Option<f64>>,
    answers: usize,
}

impl Baseline {
    /// Reads baseline records.
    pub fn read(inputs: Expand, threads: usize) -> Result<Self, Failure> {
        let around: Arc<dyn Context> = Arc::new(());
        let work = |tape: &mut Tape, task: &Task, block: &Block, done: &mut Done<Answers>| {
            task.each_case(block, tape, (&around, false), |case, _| {
                let item = |record| (id_hash(record), question_hash(record), baseline_answer(record));
                done.tally.extend(case.record.as_ref().map(item));
            });
        };
        let (mut baseline, mut read) = (Self::default(), 0);
        let ended = line::run(inputs, threads, Tape::default, work, |done| {
            let room = (MAX_ANSWERS - read).min(done.tally.len());
            read += room;
            for (id, question, answer) in done.tally.drain(..room) {
                baseline.add(id, question, answer);
            }
            true
        });
        match ended.failures.into_iter().next() {
            Some(failure) => Err(failure),
            None => Ok(baseline),
        }
    }

    fn add(&mut self, id: Option<u64>, question: Option<u64>, answer: Option<f64>) {
        if let Some(id) = id {
            match self.by_id.entry(id) {
                Entry::Occupied(_) => return,
                Entry::Vacant(place) => _ = place.insert(answer),
            }
        }
        if let Some(question) = question {
            self.by_question.entry(question).and_modify(|answer| *answer = None).or_insert(answer);
        }
        self.answers += usize::from(answer.is_some());
    }

    /// Looks up the baseline's answer to the question of this record.
    pub fn answer(&self, record: &Record<'_>) -> Option<f64> {
        let of_id = id_hash(record).and_then(|id| self.by_id.get(&id));
        *of_id.or_else(|| self.by_question.get(&question_hash(record)?))?
    }

    /// Counts the answers.
    pub const fn len(&self) -> usize {
        self.answers
    }

    /// Tells whether there is no answer.
    pub const fn is_empty(&self) -> bool {
        self.answers == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::input::expand;
    use stepscope_judge::case::Case;

    #[test]
    fn answers_are_joined_as_a_comparison_joins_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("base.jsonl");
        let record = |id: &str, question: &str, rest: &str| {
            format!(r#"{{{id}"question": "{question}", "mode": "baseline", "state": {{}}, {rest}}}"#)
        };
        let lines = [
            record(r#""id": 1, "#, "one", r#""pred_num": 1"#),
            // Of an id that stands twice the first counts, and the others for no question.
            record(r#""id": 1, "#, "uno", r#""pred_num": 2"#),
            record(r#""id": 99, "#, "two", r#""pred_num": 3"#),
            record("", "three", r#""pred_num": 4"#),
            record("", "four", r#""pred_num": 5"#),
            record("", "four", r#""pred_num": 5"#),
            record(r#""id": 5, "#, "five", r#""status": "error", "error": "boom", "pred_num": 6"#),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let baseline = Baseline::read(expand(&[path]), 1).unwrap();
        let answer = |id: &str, question: &str| {
            let case = Case::read(record(id, question, r#""pred_num": 0"#).into_bytes());
            let view = case.view();
            baseline.answer(view.record.as_ref().unwrap())
        };
        assert_eq!(answer(r#""id": "1", "#, "other"), Some(1.0), "by id");
        assert_eq!(answer(r#""id": 2, "#, " two "), Some(3.0), "by question");
        assert_eq!(answer("", "three"), Some(4.0));
        assert_eq!([answer("", "four"), answer("", "uno"), answer(r#""id": 5, "#, "five")], [None; 3]);
        assert_eq!(baseline.len(), 5);
    }
}
