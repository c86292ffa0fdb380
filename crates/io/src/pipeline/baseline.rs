//! The answers of a baseline file, to be joined by id.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::failure::Failure;
use crate::pipeline::examine::id_hash;
use crate::pipeline::line::{self, Done, Task};
use crate::source::block::Block;
use crate::source::input::expand;
use stepscope_base::json::Tape;
use stepscope_core::case::Context;
use stepscope_core::record::Record;
use stepscope_core::summary::baseline_answer;

/// Further answers are not kept; 24 bytes each.
pub const MAX_ANSWERS: usize = 4 << 20;

/// Content of a block: hashes of ids, and answers.
type Answers = Vec<(u64, f64)>;

/// The number that each baseline record answered, by a hash of its id.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Baseline {
    answers: HashMap<u64, f64>,
}

impl Baseline {
    /// Reads a file (or folder) of baseline records.
    pub fn read(path: &Path, threads: usize) -> Result<Self, Failure> {
        let around: Arc<dyn Context> = Arc::new(());
        let work = |tape: &mut Tape, task: &Task, block: &Block, done: &mut Done<Answers>| {
            task.each_case(block, tape, (&around, false), |case, _| {
                let record = case.record.as_ref();
                done.tally.extend(record.and_then(|record| Some((id_hash(record)?, baseline_answer(record)?))));
            });
        };
        let (mut answers, mut read) = (HashMap::new(), 0);
        let ended = line::run(expand(&[path.to_owned()]), threads, Tape::default, work, |done| {
            let room = (MAX_ANSWERS - read).min(done.tally.len());
            read += room;
            for (id, answer) in done.tally.drain(..room) {
                answers.entry(id).or_insert(answer);
            }
            true
        });
        match ended.failures.into_iter().next() {
            Some(failure) => Err(failure),
            None => Ok(Self { answers }),
        }
    }

    /// Looks up the baseline's answer to the question of this record.
    pub fn answer(&self, record: &Record<'_>) -> Option<f64> {
        self.answers.get(&id_hash(record)?).copied()
    }

    /// Counts the answers.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Tells whether there is no answer.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}
