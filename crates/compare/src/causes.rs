//! The causes of two runs: how many items fail by each, and which of them the other run does not have.

use super::{ComparedItem, Side};
use stepscope_judge::cause::Cause;
use stepscope_record::statistics::mcnemar;

/// Fewest items that changed from which on a test can tell anything: of five, even all in one direction are chance.
const MIN_CHANGED: u64 = 6;

/// One cause in both runs, over the items that both have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CauseChange {
    /// Way of failing.
    pub cause: Cause,
    /// Items of the first run that fail so.
    pub a: u64,
    /// Items of the second run, the baseline.
    pub b: u64,
    /// Items that fail so in the baseline, and in the first run not at all.
    pub gone: u64,
    /// Items that fail so in the first run, and in the baseline not at all.
    pub new: u64,
    /// Items that fail so in the baseline, and in another way in the first run.
    pub moved: u64,
}

impl CauseChange {
    const fn of(cause: Cause) -> Self {
        Self { cause, a: 0, b: 0, gone: 0, new: 0, moved: 0 }
    }

    /// Calculates how likely so uneven a change is by chance; `None`: too few items changed to tell.
    pub(crate) fn p(&self) -> Option<f64> {
        (self.gone + self.new >= MIN_CHANGED).then(|| mcnemar(self.new, self.gone))
    }

    fn count(&mut self, a: Option<Cause>, b: Option<Cause>) {
        let one = |holds: bool| u64::from(holds);
        let (in_a, in_b) = (a == Some(self.cause), b == Some(self.cause));
        self.a += one(in_a);
        self.b += one(in_b);
        self.gone += one(in_b && a.is_none());
        self.new += one(in_a && b.is_none());
        self.moved += one(in_b && a.is_some() && !in_a);
    }
}

/// Counts the causes that either run has, the most frequent first.
pub(crate) fn changes(items: &[ComparedItem], a: Side<'_>, b: Side<'_>) -> Vec<CauseChange> {
    let mut counts = Cause::ALL.map(CauseChange::of);
    for item in items {
        let of = |side: Side<'_>, at: Option<usize>| side.summaries.get(at?).map(|summary| summary.cause);
        let Some((a, b)) = of(a, item.pair.a).zip(of(b, item.pair.b)) else { continue };
        for count in &mut counts {
            count.count(a, b);
        }
    }
    let mut found: Vec<_> = counts.into_iter().filter(|count| count.a + count.b > 0).collect();
    found.sort_by_key(|count| std::cmp::Reverse(count.a + count.b));
    found
}
