//! The answers of a baseline file, to be joined by id.

use std::collections::HashMap;
use std::path::Path;

use crate::failure::Failure;
use crate::pipeline::check::read;
use crate::pipeline::examine::id_hash;
use crate::source::input::expand;
use stepscope_core::record::Record;
use stepscope_core::triage::baseline_answer;

/// Further answers are not kept; 24 bytes each.
pub const MAX_ANSWERS: usize = 4 << 20;

/// The number that each baseline record answered, by a hash of its id.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Baseline {
    answers: HashMap<u64, f64>,
}

impl Baseline {
    /// Reads a file (or folder) of baseline records.
    pub fn read(path: &Path, threads: usize) -> Result<Self, Failure> {
        let (found, outcome) = read(expand(&[path.to_owned()]), threads, |case, _| {
            let record = case.record.as_ref()?;
            Some((id_hash(record)?, baseline_answer(record)?))
        });
        let mut answers = HashMap::new();
        for (id, answer) in found.into_iter().take(MAX_ANSWERS) {
            answers.entry(id).or_insert(answer);
        }
        match outcome.failures.into_iter().next() {
            Some(failure) => Err(failure),
            None => Ok(Self { answers }),
        }
    }

    /// What the baseline answered to the question of this record.
    pub fn answer(&self, record: &Record<'_>) -> Option<f64> {
        self.answers.get(&id_hash(record)?).copied()
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}
