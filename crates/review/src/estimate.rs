//! Accuracy of all records, estimated from verdicts on some of them: a figure with an interval of 95 %, or the reason why
//! there is none.
//!
//! What the program says of every record without a person ([`Signal`]) tells records apart that are mostly right from
//! those that are mostly wrong. Verdicts are averaged within each such group, and the groups weighed by how many records
//! they have (post-stratification): what the signals explain already needs no verdict. No signal moves the figure: where
//! they are worthless the interval is that of plain random sampling, not a wrong one.
//!
//! All of it holds only for records that chance chose. A queue by `--shuffle` or `--sample` draws a number for each
//! record from its seed; whoever judges in that order has judged those with the smallest numbers. Each verdict keeps the
//! [`Draw`] by which its record came up. What counts here is, of each group that was drawn by itself, the records in the
//! order of their numbers down to the first that is open, cut back to the last that was drawn: which records these are
//! does not depend on whether they are right. Records on the way that were put off count as passed for one end of the
//! interval and as failed for the other.

use super::draw::{Draw, DrawnFrom, drawn_number};
use super::fold::{ItemReviews, Outcome};
use super::signal::Signal;
use stepscope_base::json::write::Object;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::{counted, grouped};
use stepscope_record::statistics::Z;

/// Fewer verdicts give no figure: their intervals do not hold.
const MIN_VERDICTS: usize = 60;
/// Records with fewer verdicts are joined with those whose signals are the next.
const MIN_OF_SIGNAL: usize = 4;
/// Weight of what a signal usually means, in verdicts, where the spread of the verdicts is estimated: four passes out of
/// four do not prove that all pass.
const PRIOR: f64 = 1.0;
/// The fewest degrees of freedom that the widening of an interval is read for: with fewer the formula does not hold.
const MIN_FREEDOM: f64 = 4.0;
/// Intervals that people ask for, as half their width in percent.
const TARGETS: [f64; 11] = [10.0, 7.5, 5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.25];
/// The next interval that is told is this much narrower at least.
const NARROWER: f64 = 0.8;

/// One of all records, with what was said of it. Forks are no part of what is measured.
pub(crate) struct JudgedRecord<'a> {
    /// Its position among all records, forks included.
    pub at: usize,
    /// Judgment of the program on it.
    pub signal: Signal,
    /// Reviews of it.
    pub reviewed: Option<ItemReviews<'a>>,
}

/// Verdict on a record, as far as it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SampledVerdict {
    Passed,
    Failed,
    /// It was drawn, and is not decided: deferred, skipped or disputed.
    PutOff,
}

/// A record that may be drawn.
#[derive(Clone, Debug)]
struct SampledRecord {
    at: usize,
    signal: Signal,
    number: f64,
    verdict: Option<SampledVerdict>,
    drawn: Vec<Draw>,
}

/// Statement about the accuracy of all records.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) enum Accuracy {
    /// Nothing was judged.
    #[default]
    Unknown,
    /// No verdict says that its record was drawn.
    Chosen,
    /// The records were drawn by other signals than they have now.
    OtherSignals,
    /// So many verdicts on drawn records are too few, or there are none in a part of them.
    TooFew(usize),
    /// A figure.
    Stated(Estimate),
}

/// An estimate of the share of records that pass.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Estimate {
    /// Share of the records that pass.
    pub share: f64,
    /// Half the width of the interval of 95 %; 0: every record is judged.
    pub half: f64,
    /// Positions of the drawn records that pass, and of those that fail.
    pub judged: [Vec<usize>; 2],
    /// Number of drawn records that were put off.
    pub put_off: usize,
    /// Number of all records.
    pub records: usize,
    /// Number of verdicts on records that were not drawn, or not yet: they do not count.
    pub left_out: usize,
    /// Number of further verdicts for a narrower interval, and half its width.
    pub more: Option<(usize, f64)>,
}

/// Records of neighbouring signals, as far as they were drawn alike.
#[derive(Clone, Copy, Debug)]
struct Stratum {
    records: f64,
    verdicts: f64,
    passed: f64,
    /// Share that usually passes, for all of its records together.
    guess: f64,
}

impl Stratum {
    /// The share that usually passes.
    fn usual(&self) -> f64 {
        self.guess / self.records
    }

    fn is_enough(&self) -> bool {
        self.verdicts >= MIN_OF_SIGNAL as f64 || self.is_whole()
    }

    fn is_whole(&self) -> bool {
        self.verdicts >= self.records
    }

    fn plus(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            verdicts: self.verdicts + other.verdicts,
            passed: self.passed + other.passed,
            guess: self.guess + other.guess,
        }
    }

    /// The number of its verdicts, had it so many times as many as it has.
    fn verdicts_times(&self, times: f64) -> f64 {
        (self.verdicts * times).min(self.records)
    }

    /// The square of the error of its count of passes, had it so many times as many verdicts as it has.
    fn variance(&self, times: f64) -> f64 {
        let verdicts = self.verdicts_times(times);
        let share = (self.passed + PRIOR * self.usual()) / (self.verdicts + PRIOR);
        let unseen = 1.0 - verdicts / self.records;
        let spread = share * (1.0 - share) / (verdicts - 1.0).max(1.0);
        self.records * self.records * unseen * spread
    }
}

/// The share that passes, and half the width of its interval.
fn share_of(strata: &[Stratum]) -> (f64, f64) {
    let records: f64 = strata.iter().map(|one| one.records).sum();
    let passed: f64 = strata.iter().map(|one| one.records * one.passed / one.verdicts).sum();
    (passed / records, half_width(strata, 1.0))
}

/// Half the width of the interval, had each stratum so many times as many verdicts as it has.
fn half_width(strata: &[Stratum], times: f64) -> f64 {
    let records: f64 = strata.iter().map(|one| one.records).sum();
    let variances = || strata.iter().map(|one| one.variance(times));
    let variance: f64 = variances().sum();
    if variance <= 0.0 {
        return 0.0;
    }
    // Welch and Satterthwaite: the variance itself is an estimate, mostly from the few verdicts of some strata.
    let parts = strata.iter().zip(variances());
    let of_parts: f64 = parts.map(|(one, own)| own * own / (one.verdicts_times(times) - 1.0).max(1.0)).sum();
    student(variance * variance / of_parts) * variance.sqrt() / records
}

/// The quantile of Student's distribution for an interval of 95 %, by the first terms of its expansion.
fn student(freedom: f64) -> f64 {
    let (n, z) = (freedom.max(MIN_FREEDOM), Z);
    z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
}

/// Joins strata, the one with the fewest verdicts with the neighbour that usually passes as often, until each has enough;
/// `None`: all together have not.
fn with_enough(mut strata: Vec<Stratum>) -> Option<Vec<Stratum>> {
    loop {
        let lacking = strata.iter().enumerate().filter(|(_, one)| !one.is_enough());
        let Some((at, least)) = lacking.min_by(|(_, a), (_, b)| a.verdicts.total_cmp(&b.verdicts)) else {
            return Some(strata);
        };
        let usual = least.usual();
        let off = |at: usize| strata.get(at).map(|one| ((one.usual() - usual).abs(), at));
        let sides = [at.checked_sub(1).and_then(off), off(at + 1)];
        let (_, nearest) = sides.into_iter().flatten().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let (first, second) = (at.min(nearest), at.max(nearest));
        let joined = strata.remove(second);
        if let Some(stratum) = strata.get_mut(first) {
            *stratum = stratum.plus(joined);
        }
    }
}

impl Accuracy {
    /// Estimates from what was said of some of the records.
    pub(crate) fn of(records: &[JudgedRecord<'_>]) -> Self {
        let mut records: Vec<SampledRecord> = records.iter().map(SampledRecord::of).collect();
        let is_judged =
            |record: &&SampledRecord| matches!(record.verdict, Some(SampledVerdict::Passed | SampledVerdict::Failed));
        let judged = records.iter().filter(is_judged).count();
        if judged == 0 {
            return Self::Unknown;
        }
        let Some(design) = most_used(&records) else {
            return if judged == records.len() { whole(&records) } else { Self::Chosen };
        };
        for record in &mut records {
            record.number = drawn_number(design.seed, record.at);
            record.drawn.retain(|draw| draw.goes_with(design));
        }
        let from = |record: &SampledRecord| match design.from {
            DrawnFrom::All => design,
            DrawnFrom::Doubtful | DrawnFrom::Clear => Draw::sampled(design.seed, record.signal),
        };
        if records.iter().any(|record| record.drawn.iter().any(|draw| *draw != from(record))) {
            return Self::OtherSignals;
        }
        records.sort_by(|a, b| from(a).cmp(&from(b)).then(a.number.total_cmp(&b.number)));
        let parts: Vec<(&[SampledRecord], &[SampledRecord])> =
            records.chunk_by(|a, b| from(a) == from(b)).map(|part| (part, drawn_first(part))).collect();
        let drawn = || parts.iter().flat_map(|(_, drawn)| *drawn);
        let verdicts = drawn().filter(is_judged).count();
        let all = |put_off: SampledVerdict| -> Option<Vec<Stratum>> {
            let of_part = |(part, drawn): &(&[SampledRecord], &[SampledRecord])| strata(part, drawn, put_off);
            Some(parts.iter().map(of_part).collect::<Option<Vec<_>>>()?.concat())
        };
        let ends = all(SampledVerdict::Failed).zip(all(SampledVerdict::Passed));
        let is_enough = verdicts >= MIN_VERDICTS || verdicts == records.len();
        let Some((lowest, highest)) = ends.filter(|_| is_enough) else { return Self::TooFew(verdicts) };
        let ((low, below), (high, above)) = (share_of(&lowest), share_of(&highest));
        let (low, high) = (low - below, high + above);
        let half = (high - low) / 2.0;
        let sided = |wanted| drawn().filter(|one| one.verdict == Some(wanted)).map(|one| one.at).collect();
        Self::Stated(Estimate {
            share: f64::midpoint(low, high),
            half,
            judged: [sided(SampledVerdict::Passed), sided(SampledVerdict::Failed)],
            put_off: drawn().count() - verdicts,
            records: records.len(),
            left_out: judged - verdicts,
            more: more_for(&lowest, half, verdicts),
        })
    }

    /// Describes it for people: `82.1 % ± 2.0 from 96 verdicts; 41 more for ± 1.5`; `None`: there is nothing to say.
    pub(crate) fn phrase(&self) -> Option<Shown> {
        Some(match self {
            Self::Unknown => return None,
            Self::Chosen => Shown::own("not stated: no verdict says its record was drawn (--sample, --shuffle)"),
            Self::OtherSignals => {
                Shown::own("not stated: the signals are not those of the draw (pass the same --peers)")
            }
            Self::TooFew(verdicts) if *verdicts >= MIN_VERDICTS => shown!(
                "not stated yet: {} in the order drawn, fewer than {MIN_OF_SIGNAL} on a part of the records",
                counted(*verdicts, "verdict")
            ),
            Self::TooFew(verdicts) => shown!(
                "not stated yet: {} in the order drawn, at least {MIN_VERDICTS} are needed",
                counted(*verdicts, "verdict")
            ),
            Self::Stated(estimate) => estimate.phrase(),
        })
    }

    /// Writes it as a member of a JSON object, where there is anything to say.
    pub(crate) fn write(&self, name: &str, object: &mut Object<'_>) {
        let Some(phrase) = self.phrase() else { return };
        object.object(name, |object| match self {
            Self::Stated(estimate) => {
                let [low, high] = estimate.ends();
                object.put("share", estimate.share).put("low", low).put("high", high);
                object.put("verdicts", estimate.verdicts()).put("records", estimate.records);
                object.put("put_off", estimate.put_off).put("left_out", estimate.left_out);
                if let Some((verdicts, half)) = estimate.more {
                    object.object("more", |object| _ = object.put("verdicts", verdicts).put("half", half));
                }
            }
            _ => _ = object.put("why_not", phrase.as_str()),
        });
    }
}

impl Estimate {
    fn verdicts(&self) -> usize {
        self.judged.iter().map(Vec::len).sum()
    }

    /// The ends of the interval.
    pub(crate) fn ends(&self) -> [f64; 2] {
        [(self.share - self.half).max(0.0), (self.share + self.half).min(1.0)]
    }

    fn phrase(&self) -> Shown {
        let (share, half) = (100.0 * self.share, 100.0 * self.half);
        let verdicts = counted(self.verdicts(), "verdict");
        let mut phrase = match self.half > 0.0 {
            true => shown!("{share:.1} % ± {half:.1} from {verdicts}"),
            false => shown!("{share:.1} %: all {} are judged", counted(self.records, "record")),
        };
        if let Some((more, half)) = self.more {
            phrase = phrase.join(&shown!("; {} more for ± {:.1}", grouped(more), 100.0 * half));
        }
        if self.put_off > 0 {
            phrase = phrase.join(&shown!("; {} put off may be either", grouped(self.put_off)));
        }
        if self.left_out > 0 {
            phrase = phrase.join(&shown!("; {} out of the order drawn left out", counted(self.left_out, "verdict")));
        }
        phrase
    }
}

impl SampledRecord {
    fn of(record: &JudgedRecord<'_>) -> Self {
        let Some(reviewed) = record.reviewed else {
            return Self { at: record.at, signal: record.signal, number: 0.0, verdict: None, drawn: Vec::new() };
        };
        let verdict = match reviewed.outcome() {
            Outcome::Pass => Some(SampledVerdict::Passed),
            Outcome::Fail => Some(SampledVerdict::Failed),
            Outcome::Defer | Outcome::Skip | Outcome::Disputed => Some(SampledVerdict::PutOff),
            Outcome::Stale | Outcome::Open => None,
        };
        // A verdict that was changed later was drawn all the same.
        let fresh = reviewed.events().filter(|event| event.verdict.is_some_and(|_| reviewed.is_fresh(event)));
        let drawn = fresh.filter_map(|event| Draw::parse(event.drawn.as_ref()?)).collect();
        Self { at: record.at, signal: record.signal, number: 0.0, verdict, drawn }
    }
}

/// The way of drawing that most records were judged by.
fn most_used(records: &[SampledRecord]) -> Option<Draw> {
    let mut draws: Vec<Draw> = records.iter().flat_map(|record| &record.drawn).copied().collect();
    draws.sort_unstable();
    let count = |one: &Draw| draws.iter().filter(|draw| draw.goes_with(*one)).count();
    let mut ways = draws.clone();
    ways.dedup_by(|a, b| a.goes_with(*b));
    ways.into_iter().max_by_key(count)
}

/// States what is known where every record is judged.
fn whole(records: &[SampledRecord]) -> Accuracy {
    let sided =
        |wanted| -> Vec<usize> { records.iter().filter(|one| one.verdict == Some(wanted)).map(|one| one.at).collect() };
    let judged = [sided(SampledVerdict::Passed), sided(SampledVerdict::Failed)];
    let share = judged.first().map_or(0.0, |passed| passed.len() as f64 / records.len() as f64);
    Accuracy::Stated(Estimate { share, judged, records: records.len(), ..Estimate::default() })
}

/// Cuts records that are in the order of their numbers before the first that is open, and back to the last drawn one.
fn drawn_first(part: &[SampledRecord]) -> &[SampledRecord] {
    let open = part.iter().position(|record| record.verdict.is_none()).unwrap_or(part.len());
    let judged = part.get(..open).unwrap_or(part);
    let end = judged.iter().rposition(|record| !record.drawn.is_empty()).map_or(0, |last| last + 1);
    judged.get(..end).unwrap_or(judged)
}

/// Counts the records of a part by their signals, and the verdicts on those that were drawn; `None`: too few.
fn strata(part: &[SampledRecord], drawn: &[SampledRecord], put_off: SampledVerdict) -> Option<Vec<Stratum>> {
    let of_signal = |signal: Signal| {
        let records = part.iter().filter(|record| record.signal == signal).count() as f64;
        let own = || drawn.iter().filter(|record| record.signal == signal);
        let passes = |record: &&SampledRecord| match record.verdict {
            Some(SampledVerdict::PutOff) => put_off == SampledVerdict::Passed,
            verdict => verdict == Some(SampledVerdict::Passed),
        };
        let (verdicts, passed) = (own().count() as f64, own().filter(passes).count() as f64);
        (records > 0.0).then_some(Stratum { records, verdicts, passed, guess: records * signal.guess() })
    };
    with_enough(Signal::ALL.into_iter().filter_map(of_signal).collect())
}

/// Calculates how many further verdicts give the next narrower interval that people ask for.
fn more_for(strata: &[Stratum], half: f64, verdicts: usize) -> Option<(usize, f64)> {
    let target = TARGETS.iter().map(|percent| percent / 100.0).find(|target| *target <= NARROWER * half)?;
    let records: f64 = strata.iter().map(|one| one.records).sum();
    let (mut low, mut high) = (1.0, records / verdicts.max(1) as f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if half_width(strata, middle) <= target { high = middle } else { low = middle }
    }
    let more = ((high - 1.0) * verdicts as f64).ceil() as usize;
    (more > 0).then_some((more, target))
}

#[cfg(test)]
mod tests;
