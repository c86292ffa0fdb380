//! What stands beside the records and helps to judge them: the answers of a baseline, and a verifier.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::pipeline::baseline::Baseline;
use crate::pipeline::verify::Judge;
use stepscope_base::json::Value;
use stepscope_core::record::Record;
use stepscope_core::verify::ChainResult;

/// See the module. Everything is read when it is first asked for, on the thread that asks; others wait for it.
#[derive(Debug, Default)]
pub struct Beside {
    path: Option<PathBuf>,
    threads: usize,
    baseline: OnceLock<Result<Baseline, Failure>>,
    told: AtomicBool,
    judge: Option<Judge>,
}

impl Beside {
    /// With the baseline records of a file or folder.
    pub fn with_baseline(path: Option<PathBuf>, threads: usize) -> Self {
        Self { path, threads, ..Self::default() }
    }

    /// With the baseline records of a file or folder, read now.
    pub fn read(path: &Path, threads: usize) -> Result<Self, Failure> {
        let baseline = OnceLock::from(Ok(Baseline::read(path, threads)?));
        Ok(Self { baseline, ..Self::with_baseline(Some(path.to_owned()), threads) })
    }

    /// Also with what judges completions.
    #[must_use]
    pub fn judged_by(self, judge: Option<Judge>) -> Self {
        Self { judge, ..self }
    }

    /// What every stage of the verifier says of a record's completion.
    pub fn chain_result(&self, record: Option<Value<'_>>) -> Option<ChainResult> {
        Some(self.judge.as_ref()?.climb(record?))
    }

    /// Whether asking would not mean waiting.
    pub(crate) fn is_ready(&self) -> bool {
        self.path.is_none() || self.baseline.get().is_some()
    }

    /// What the baseline answered to the question of a record.
    pub fn answer(&self, record: Option<&Record<'_>>) -> Option<f64> {
        self.baseline()?.as_ref().ok()?.answer(record?)
    }

    /// Why there is no baseline although one was named; said once.
    pub fn complaint(&self) -> Option<Failure> {
        let failure = self.baseline()?.as_ref().err()?;
        (!self.told.swap(true, Ordering::Relaxed)).then(|| failure.clone())
    }

    fn baseline(&self) -> Option<&Result<Baseline, Failure>> {
        let path = self.path.as_deref()?;
        Some(self.baseline.get_or_init(|| Baseline::read(path, self.threads)))
    }
}
