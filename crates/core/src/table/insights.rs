//! Counts over all records, kept up as records come and go, so that no chart walks the rows.

use crate::record::RecordKind;
use crate::rules::id::RuleId;
use crate::table::row::{Flag, RowFacts};
use crate::triage::Fix;

/// Confidences are counted in so many equal bins.
pub const BINS: usize = 10;
/// Runs of so many steps and more are counted together.
pub const STEPS: usize = 9;
/// Confidences and squared errors are summed in whole millionths, so that what is taken away leaves nothing behind.
const MILLION: f64 = 1e6;

stepscope_base::words! {
    /// How a record came out, with the filter that finds such records.
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
    /// Graded records by confidence.
    pub bins: [ConfidenceBin; BINS],
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
            bins: [ConfidenceBin::default(); BINS],
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
        let Some(bin) = self.bins.get_mut(at) else { return };
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

    /// Graded records with a confidence from 0 to 1.
    pub fn graded(&self) -> usize {
        self.bins.iter().map(|bin| bin.graded).sum()
    }

    /// The expected calibration error over the bins: how far confidence and accuracy are apart, by weight.
    pub fn calibration_error(&self) -> f64 {
        let all = self.graded().max(1) as f64;
        self.bins.iter().map(|bin| (bin.accuracy() - bin.confidence()).abs() * bin.graded as f64 / all).sum()
    }

    /// The Brier score: the mean squared distance between confidence and outcome.
    pub fn brier(&self) -> f64 {
        self.bins.iter().map(|bin| bin.squared_error as f64).sum::<f64>() / MILLION / self.graded().max(1) as f64
    }
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
            (counts.calibration_error() - f64::midpoint(0.45, 0.15)).abs() < 1e-6,
            "{}",
            counts.calibration_error()
        );
        let brier = (5.0 * 0.0025 + 5.0 * 0.9025 + 0.5625 + 9.0 * 0.0625) / 20.0;
        assert!((counts.brier() - brier).abs() < 1e-6, "{}", counts.brier());
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
