//! Counts over all records, kept up as records come and go, so that no chart walks the rows.

use crate::record::RecordKind;
use crate::rules::id::RuleId;
use crate::table::row::{Flag, RowFacts};
use crate::triage::Fix;

/// Confidences are counted in so many equal bins.
pub const BINS: usize = 10;
/// The edges of the bins of fitness.
pub const FITNESS: [f32; 7] = [-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25];
/// Runs of so many steps and more are counted together.
pub const STEPS: usize = 9;
/// Confidences and squared errors are summed in whole millionths, so that what is taken away leaves nothing behind.
const MILLION: f64 = 1e6;

stepscope_base::words! {
    /// Outcome of a record, with the filter that finds such records.
    pub enum RowOutcome {
        /// Graded correct.
        Correct = "correct" => "correct:true",
        /// Graded wrong.
        Wrong = "wrong" => "correct:false",
        /// It ended with an error, or cannot be read.
        Failed = "failed" => "kind:error,broken",
        /// Nothing says whether it is correct.
        Ungraded = "not graded" => "correct:unknown -kind:error,broken",
    }
}

impl RowOutcome {
    /// Of a row.
    pub fn of(row: &RowFacts) -> Self {
        match (row.correct(), row.kind()) {
            (Some(true), _) => Self::Correct,
            (Some(false), _) => Self::Wrong,
            (None, RecordKind::Error | RecordKind::Broken) => Self::Failed,
            _ => Self::Ungraded,
        }
    }
}

/// Records whose confidence lies in one bin.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ConfidenceBin {
    /// Graded records.
    pub graded: usize,
    /// Those of them that are correct.
    pub correct: usize,
    confidence: i64,
    squared_error: i64,
}

impl ConfidenceBin {
    /// The share of correct records.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.graded.max(1) as f64
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: &Self) -> Self {
        Self {
            graded: self.graded + other.graded,
            correct: self.correct + other.correct,
            confidence: self.confidence + other.confidence,
            squared_error: self.squared_error + other.squared_error,
        }
    }

    /// The mean confidence.
    pub fn confidence(&self) -> f64 {
        self.confidence as f64 / MILLION / self.graded.max(1) as f64
    }
}

/// The counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Insights {
    /// Records by outcome, in the order of [`RowOutcome::ALL`].
    pub outcomes: [usize; 4],
    /// Records by kind, in the order of [`RecordKind::ALL`].
    pub kinds: [usize; 16],
    /// Wrong runs by the place to fix and their number of steps, in the order of [`Fix::ALL`].
    pub fixes: [[usize; STEPS]; 5],
    /// Records in which a rule spoke, in the order of [`RuleId::ALL`].
    pub rules: [usize; RuleId::ALL.len()],
    /// Graded records by kind and confidence.
    pub bins_by_kind: [[ConfidenceBin; BINS]; 16],
    /// Records by fitness: below the first of [`FITNESS`], between two of them, from the last on.
    pub fitness_bins: [usize; FITNESS.len() + 1],
    /// Records with a procedure.
    pub procedures: usize,
    /// Records with a fitness.
    pub fitness: usize,
    /// Records with a confidence.
    pub confidences: usize,
}

impl Default for Insights {
    fn default() -> Self {
        Self {
            outcomes: [0; 4],
            kinds: [0; 16],
            fixes: [[0; STEPS]; 5],
            rules: [0; RuleId::ALL.len()],
            bins_by_kind: [[ConfidenceBin::default(); BINS]; 16],
            fitness_bins: [0; FITNESS.len() + 1],
            procedures: 0,
            fitness: 0,
            confidences: 0,
        }
    }
}

impl Insights {
    /// Counts a row; `step` is 1, or -1 for a row that goes. A row that no rule looked at is not counted.
    pub fn count(&mut self, row: &RowFacts, step: isize) {
        if !row.has(Flag::Checked) {
            return;
        }
        let add =
            |count: Option<&mut usize>| count.into_iter().for_each(|count| *count = count.saturating_add_signed(step));
        add(self.outcomes.get_mut(RowOutcome::of(row) as usize));
        add(self.kinds.get_mut(row.kind() as usize));
        if row.has(Flag::Procedure) {
            add(Some(&mut self.procedures));
        }
        if !row.fitness().is_nan() {
            add(Some(&mut self.fitness));
            add(self.fitness_bins.get_mut(FITNESS.partition_point(|edge| *edge <= row.fitness())));
        }
        if !row.confidence.is_nan() {
            add(Some(&mut self.confidences));
        }
        if let Some(fix) = row.fix().filter(|fix| *fix != Fix::None) {
            let steps = usize::from(row.steps).min(STEPS - 1);
            add(self.fixes.get_mut(fix as usize).and_then(|counts| counts.get_mut(steps)));
        }
        for rule in row.rules() {
            add(self.rules.get_mut(rule as usize));
        }
        self.calibrate(row, step);
    }

    fn calibrate(&mut self, row: &RowFacts, step: isize) {
        let confidence = f64::from(row.confidence);
        let (Some(correct), true) = (row.correct(), (0.0..=1.0).contains(&confidence)) else { return };
        let at = ((confidence * BINS as f64) as usize).min(BINS - 1);
        let bins = self.bins_by_kind.get_mut(row.kind() as usize);
        let Some(bin) = bins.and_then(|bins| bins.get_mut(at)) else { return };
        let error = confidence - f64::from(u8::from(correct));
        bin.graded = bin.graded.saturating_add_signed(step);
        bin.correct = bin.correct.saturating_add_signed(if correct { step } else { 0 });
        bin.confidence += (confidence * MILLION).round() as i64 * step as i64;
        bin.squared_error += (error * error * MILLION).round() as i64 * step as i64;
    }

    /// Wrong runs by the place to fix.
    pub fn fix(&self, fix: Fix) -> usize {
        self.fixes.get(fix as usize).map_or(0, |counts| counts.iter().sum())
    }

    /// Graded records by confidence.
    pub fn bins(&self) -> [ConfidenceBin; BINS] {
        let mut all = [ConfidenceBin::default(); BINS];
        for bins in &self.bins_by_kind {
            for (sum, bin) in all.iter_mut().zip(bins) {
                *sum = sum.plus(bin);
            }
        }
        all
    }

    /// Graded records with a confidence from 0 to 1.
    pub fn graded(&self) -> usize {
        self.bins().iter().map(|bin| bin.graded).sum()
    }
}

/// The expected calibration error over bins: how far confidence and accuracy are apart, by weight.
pub fn calibration_error(bins: &[ConfidenceBin; BINS]) -> f64 {
    let all = bins.iter().map(|bin| bin.graded).sum::<usize>().max(1) as f64;
    bins.iter().map(|bin| (bin.accuracy() - bin.confidence()).abs() * bin.graded as f64 / all).sum()
}

/// The Brier score: the mean squared distance between confidence and outcome.
pub fn brier(bins: &[ConfidenceBin; BINS]) -> f64 {
    let all = bins.iter().map(|bin| bin.graded).sum::<usize>().max(1) as f64;
    bins.iter().map(|bin| bin.squared_error as f64).sum::<f64>() / MILLION / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    fn row(confidence: f32, correct: bool) -> RowFacts {
        let mut row = RowFacts::unchecked(0, 1);
        row.confidence = confidence;
        row.set(Flag::Checked);
        row.set(if correct { Flag::Right } else { Flag::Wrong });
        row
    }

    #[test]
    fn confidence_is_measured_against_what_came_out() {
        let mut counts = Insights::default();
        for n in 0..10 {
            counts.count(&row(0.95, n < 5), 1);
            counts.count(&row(0.25, n == 0), 1);
        }
        // 10 at 0.95, half correct; 10 at 0.25, a tenth correct.
        assert!(
            (calibration_error(&counts.bins()) - f64::midpoint(0.45, 0.15)).abs() < 1e-6,
            "{}",
            calibration_error(&counts.bins())
        );
        let expected = (5.0 * 0.0025 + 5.0 * 0.9025 + 0.5625 + 9.0 * 0.0625) / 20.0;
        assert!((brier(&counts.bins()) - expected).abs() < 1e-6, "{}", brier(&counts.bins()));
        assert_eq!((counts.outcomes, counts.graded()), ([6, 14, 0, 0], 20));
    }

    #[test]
    fn what_goes_leaves_nothing_behind() {
        let mut counts = Insights::default();
        let mut known = row(0.1, false);
        known.note(RuleId::Unused, Severity::Repairable);
        counts.count(&known, 1);
        assert_eq!(counts.rules.iter().sum::<usize>(), 1);
        counts.count(&RowFacts::unchecked(0, 1), 1);
        counts.count(&known, -1);
        assert_eq!(counts, Insights::default());
    }
}
