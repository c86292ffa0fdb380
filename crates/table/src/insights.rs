//! Counts over all records, kept up as records come and go, so that no chart walks the rows.

use std::collections::{BTreeMap, BTreeSet};

use stepscope_judge::cause::Cause;
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_judge::slip_form::SlipForm;
use stepscope_judge::triage::Fix;
use stepscope_record::RecordKind;
use stepscope_record::rule_id::RuleId;

/// Confidences are counted in so many equal bins.
pub const BINS: usize = 10;
/// The edges of the bins of fitness.
pub const FITNESS: [f32; 7] = [-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25];
/// The edges of the bins of rewards.
pub const REWARDS: [f32; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Shares are counted as none, less than a half, a half and more, and all.
const SHARES: usize = 4;
/// Maximum number of stages of a chain of verifiers, and more, that are counted together.
pub(crate) const STAGES: usize = 16;
/// Distance below an edge at which a value still counts as on it: columns keep 32 bits, so that a value that was written as
/// 0.7 lies beside the edge at 0.7.
const EDGE: f32 = 1e-6;
/// The genetic search marks an evaluation that failed by a fitness below this; it is in no mean.
const FAILED_FITNESS: f32 = -1e8;
/// Wrong runs are counted by the step to fix: 0 is no single step, and all from the last on are counted together.
pub const STEPS: usize = 9;
/// A printed summary says any number of runs; no more are counted at once, so that charts can calculate with them.
const MOST_RUNS: u64 = 1 << 40;
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
        Failed = "failed" => "kind:error,broken correct:unknown",
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
    fn accuracy(&self) -> f64 {
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

    fn count(&mut self, confidence: f64, correct: bool, step: isize) {
        let error = confidence - f64::from(u8::from(correct));
        self.graded = self.graded.saturating_add_signed(step);
        self.correct = self.correct.saturating_add_signed(if correct { step } else { 0 });
        self.confidence += (confidence * MILLION).round() as i64 * step as i64;
        self.squared_error += (error * error * MILLION).round() as i64 * step as i64;
    }

    /// The mean confidence.
    pub fn confidence(&self) -> f64 {
        self.confidence as f64 / MILLION / self.graded.max(1) as f64
    }
}

/// Records that name one model.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ModelCount {
    /// Graded records.
    pub graded: usize,
    /// Those of them that are correct.
    pub correct: usize,
    /// Graded records by confidence.
    pub bins: [ConfidenceBin; BINS],
}

/// Records of one training cycle, or of one generation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RoundCount {
    /// Records with a reward, or a fitness.
    pub count: usize,
    sum: i128,
}

impl RoundCount {
    /// The mean reward, or fitness.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / MILLION / self.count.max(1) as f64
    }
}

/// The counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Insights {
    /// Records by outcome, in the order of [`RowOutcome::ALL`].
    pub outcomes: [usize; 4],
    /// Records by kind, in the order of [`RecordKind::ALL`].
    pub kinds: [usize; 16],
    /// Records whose kind was not told.
    pub of_no_kind: usize,
    /// Wrong runs by the place to fix and the step to fix, in the order of [`Fix::ALL`].
    pub fixes: [[usize; STEPS]; 5],
    /// Failed records by cause, in the order of [`Cause::ALL`].
    pub causes: [usize; Cause::ALL.len()],
    /// Records by the share of their peers that give their answer.
    pub agreement: [usize; SHARES],
    /// Records by the share of their values on the way that peers have.
    pub shared_values: [usize; SHARES],
    /// Records of each cause by the form of their slip, in the order of [`SlipForm::ALL`].
    pub slips: [[usize; SlipForm::ALL.len()]; Cause::ALL.len()],
    /// Records in which a rule spoke, in the order of [`RuleId::ALL`].
    pub rules: [usize; RuleId::ALL.len()],
    /// Graded records by kind and confidence.
    pub bins_by_kind: [[ConfidenceBin; BINS]; 16],
    /// Records by the number of their model, from 1; empty until a record names one.
    pub models: Vec<ModelCount>,
    /// Records by fitness: below the first of `FITNESS`, between two of them, from the last on.
    pub fitness_bins: [usize; FITNESS.len() + 1],
    /// Records by reward, in the same way by `REWARDS`.
    pub reward_bins: [usize; REWARDS.len() + 1],
    /// Records by the number of stages of a chain of verifiers that they passed.
    pub stages: [usize; STAGES + 1],
    /// Rewards by training cycle.
    pub cycles: BTreeMap<u16, RoundCount>,
    /// Fitness by generation.
    pub generations: BTreeMap<u16, RoundCount>,
    /// Records with a procedure.
    pub procedures: usize,
    /// Records with a fitness.
    pub fitness: usize,
    /// Records with a reward.
    pub rewards: usize,
    /// Records with a confidence.
    pub confidences: usize,
}

impl Default for Insights {
    fn default() -> Self {
        Self {
            outcomes: [0; 4],
            kinds: [0; 16],
            of_no_kind: 0,
            fixes: [[0; STEPS]; 5],
            causes: [0; Cause::ALL.len()],
            slips: [[0; SlipForm::ALL.len()]; Cause::ALL.len()],
            agreement: [0; SHARES],
            shared_values: [0; SHARES],
            rules: [0; RuleId::ALL.len()],
            bins_by_kind: [[ConfidenceBin::default(); BINS]; 16],
            models: Vec::new(),
            fitness_bins: [0; FITNESS.len() + 1],
            reward_bins: [0; REWARDS.len() + 1],
            stages: [0; STAGES + 1],
            cycles: BTreeMap::new(),
            generations: BTreeMap::new(),
            procedures: 0,
            fitness: 0,
            rewards: 0,
            confidences: 0,
        }
    }
}

/// Adds to a count, or takes from it.
const fn add(count: Option<&mut usize>, step: isize) {
    if let Some(count) = count {
        *count = count.saturating_add_signed(step);
    }
}

/// Finds the bin of a value: how many edges lie at or below it.
fn bin_of(edges: &[f32], value: f32) -> usize {
    edges.partition_point(|edge| *edge <= value + EDGE * edge.abs().max(1.0))
}

/// Finds the bin of a share.
fn bin_of_share(share: f64) -> usize {
    match share {
        _ if share <= 0.0 => 0,
        _ if share < 0.5 => 1,
        _ if share < 1.0 => 2,
        _ => 3,
    }
}

/// Adds a record to its cycle or generation; one of which none is left goes.
fn add_round(rounds: &mut BTreeMap<u16, RoundCount>, round: Option<u16>, value: f32, step: isize) {
    let Some(round) = round.filter(|_| value.is_finite()) else { return };
    let counted = rounds.entry(round).or_default();
    add(Some(&mut counted.count), step);
    counted.sum += (f64::from(value) * MILLION).round() as i128 * step as i128;
    if counted.count == 0 {
        rounds.remove(&round);
    }
}

impl Insights {
    /// The number of records.
    pub fn records(&self) -> usize {
        self.kinds.iter().sum::<usize>() + self.of_no_kind
    }

    /// Counts a row; `step` is 1, or -1 for a row that goes. A row that no rule looked at is not counted.
    pub fn count(&mut self, row: &RowFacts, step: isize) {
        if !row.has(Flag::Checked) {
            return;
        }
        add(self.outcomes.get_mut(RowOutcome::of(row) as usize), step);
        add(self.kinds.get_mut(row.kind() as usize), step);
        if row.has(Flag::Procedure) {
            add(Some(&mut self.procedures), step);
        }
        if !row.fitness().is_nan() {
            add(Some(&mut self.fitness), step);
            add(self.fitness_bins.get_mut(bin_of(&FITNESS, row.fitness())), step);
            if row.fitness() > FAILED_FITNESS {
                add_round(&mut self.generations, row.generation(), row.fitness(), step);
            }
        }
        if !row.reward().is_nan() {
            add(Some(&mut self.rewards), step);
            add(self.reward_bins.get_mut(bin_of(&REWARDS, row.reward())), step);
            add_round(&mut self.cycles, row.cycle(), row.reward(), step);
        }
        if let Some(stages) = row.stages() {
            add(self.stages.get_mut(usize::from(stages).min(STAGES)), step);
        }
        if !row.confidence.is_nan() {
            add(Some(&mut self.confidences), step);
        }
        if let Some(fix) = row.fix().filter(|fix| *fix != Fix::None) {
            self.add_fix(fix, row.fix_step().map(usize::from), step);
        }
        self.add_cause(row.cause(), step);
        self.add_slip(row.cause(), row.slip_form(), step);
        let agreement = row.peers().map(|[agree, of]| f64::from(agree) / f64::from(of));
        self.add_peers([agreement, row.shared_values()], step);
        for rule in row.rules() {
            add(self.rules.get_mut(rule as usize), step);
        }
        if let Some(correct) = row.correct() {
            self.grade(row, correct, step);
        }
    }

    /// Counts what a printed line says of a record: its kind, if it says that, and the rules that spoke. Nothing else of it
    /// is known.
    pub fn count_printed(&mut self, kind: Option<RecordKind>, rules: impl IntoIterator<Item = RuleId>) {
        match kind {
            Some(kind) => add(self.kinds.get_mut(kind as usize), 1),
            None => self.of_no_kind += 1,
        }
        let rules: BTreeSet<usize> = rules.into_iter().map(|rule| rule as usize).collect();
        for rule in rules {
            add(self.rules.get_mut(rule), 1);
        }
    }

    /// Adds a record by its cause, or takes it away.
    pub fn add_cause(&mut self, cause: Option<Cause>, step: isize) {
        add(cause.and_then(|cause| self.causes.get_mut(cause as usize)), step);
    }

    /// Adds a record by the share of its peers that give its answer, and of its values that they have, or takes it away.
    pub fn add_peers(&mut self, [agreement, values]: [Option<f64>; 2], step: isize) {
        for (share, bins) in [(agreement, &mut self.agreement), (values, &mut self.shared_values)] {
            add(share.and_then(|share| bins.get_mut(bin_of_share(share))), step);
        }
    }

    /// Adds a record by the form of its slip inside its cause, or takes it away.
    pub fn add_slip(&mut self, cause: Option<Cause>, form: Option<SlipForm>, step: isize) {
        let forms = cause.and_then(|cause| self.slips.get_mut(cause as usize));
        add(forms.zip(form).and_then(|(forms, form)| forms.get_mut(form as usize)), step);
    }

    /// Adds wrong runs by the place to fix and the step, from 1.
    pub fn add_fixes(&mut self, fix: Fix, fix_step: Option<usize>, runs: u64) {
        self.add_fix(fix, fix_step, runs.min(MOST_RUNS) as isize);
    }

    fn add_fix(&mut self, fix: Fix, fix_step: Option<usize>, step: isize) {
        let column = fix_step.unwrap_or(0).min(STEPS - 1);
        add(self.fixes.get_mut(fix as usize).and_then(|counts| counts.get_mut(column)), step);
    }

    /// Counts a graded row by its confidence and its model.
    fn grade(&mut self, row: &RowFacts, correct: bool, step: isize) {
        let at = Some(row.confidence).filter(|confidence| (0.0..=1.0).contains(confidence));
        let at = at.map(|confidence| (((confidence + EDGE) * BINS as f32) as usize).min(BINS - 1));
        let confidence = f64::from(row.confidence);
        let bins = self.bins_by_kind.get_mut(row.kind() as usize);
        if let Some(bin) = at.zip(bins).and_then(|(at, bins)| bins.get_mut(at)) {
            bin.count(confidence, correct, step);
        }
        let Some(place) = row.model().and_then(|model| usize::from(model).checked_sub(1)) else { return };
        if self.models.len() <= place {
            self.models.resize(place + 1, ModelCount::default());
        }
        if let Some(model) = self.models.get_mut(place) {
            add(Some(&mut model.graded), step);
            add(Some(&mut model.correct).filter(|_| correct), step);
            if let Some(bin) = at.and_then(|at| model.bins.get_mut(at)) {
                bin.count(confidence, correct, step);
            }
        }
        while self.models.last().is_some_and(|model| model.graded == 0) {
            self.models.pop();
        }
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
    use stepscope_record::finding::Severity;

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

    #[test]
    fn what_is_rounded_to_below_an_edge_is_counted_where_its_filter_finds_it() {
        let mut counts = Insights::default();
        for confidence in [0.3, 0.6, 0.7, 0.9, 1.0] {
            counts.count(&row(confidence, true), 1);
        }
        let graded = counts.bins().map(|bin| bin.graded);
        assert_eq!(graded, [0, 0, 0, 1, 0, 0, 1, 1, 0, 2]);
        assert_eq!(REWARDS.map(|reward| bin_of(&REWARDS, reward)), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!((bin_of(&REWARDS, -0.5), bin_of(&REWARDS, 7.0)), (0, 11));
    }

    #[test]
    fn means_of_rounds_leave_nothing_behind() {
        let mut rounds = BTreeMap::new();
        add_round(&mut rounds, Some(2), 0.5, 1);
        add_round(&mut rounds, Some(2), 1.0, 1);
        add_round(&mut rounds, None, 1.0, 1);
        add_round(&mut rounds, Some(3), f32::NAN, 1);
        assert_eq!(rounds.iter().map(|(round, count)| (*round, count.count)).collect::<Vec<_>>(), [(2, 2)]);
        assert!((rounds[&2].mean() - 0.75).abs() < 1e-6);
        add_round(&mut rounds, Some(2), 0.5, -1);
        assert!((rounds[&2].mean() - 1.0).abs() < 1e-6);
        add_round(&mut rounds, Some(2), 1.0, -1);
        assert!(rounds.is_empty());
    }
}
