//! Two runs of the same questions: joined, counted in five cells, and judged as recorded, as reviewed and without
//! disputed expected answers.
//!
//! Law: knows no files, no network, no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

use foldhash::{HashMap, HashSet};

use stepscope_base::canonical::Digest;
use stepscope_judge::rightness::Rightness;
use stepscope_record::statistics::mcnemar;
use stepscope_review::event::{Event, GoldStatus, Text};
use stepscope_review::fold::{ItemReviews, Outcome, Reviews};
use stepscope_review::join::Index;
use stepscope_review::regression::unquoted;
use stepscope_review::stats::Share;
use stepscope_review::summary::Summary;

/// Causes of both runs, and their changes.
mod causes;
/// Difference of two records, field by field.
pub mod difference;
/// Differing lines of two texts.
pub mod lines;
/// A comparison as text.
pub mod print;

stepscope_base::words! {
    /// Way in which two records were found to belong together.
    pub enum By {
        /// By their id.
        Id = "id",
        /// By their question.
        Question = "question",
        /// Not at all: both runs hold its question and one of them several times, so it may go with any of these.
        Repeated = "repeated",
        /// There is no other.
        Alone = "alone",
    }
}

/// An item of the comparison: a record of each run, or of one alone; by position among the summaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// In the first run.
    pub a: Option<usize>,
    /// In the second.
    pub b: Option<usize>,
    /// Way in which they were joined.
    pub by: By,
}

/// Both runs, joined: by id, else by question, never by position, and within a document where the records name one. Of
/// an id that stands twice the first counts; of a question that does, no record has a partner.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Join {
    /// In the order of the first run; what is in the second alone comes last.
    pub pairs: Vec<Pair>,
    /// Records of the first run whose id stands earlier in it.
    pub twice_a: Vec<usize>,
    /// Records of the second run whose id stands earlier in it.
    pub twice_b: Vec<usize>,
    /// Records that were joined by id although their questions differ.
    pub unlike: usize,
    /// Items whose records have different expected answers.
    pub other_gold: usize,
}

/// Id or question of a record with the document that it is about.
type Key<'c, T> = (&'c T, Option<&'c Text>);

fn id_key(summary: &Summary) -> Option<Key<'_, Text>> {
    Some((summary.item.id.as_ref()?, summary.document.as_ref()))
}

fn question_key(summary: &Summary) -> Option<Key<'_, Digest>> {
    Some((summary.input.as_ref()?, summary.document.as_ref()))
}

/// One run on its way into a join.
struct Half<'c> {
    summaries: &'c [Summary],
    ids: HashMap<Key<'c, Text>, usize>,
    twice: Vec<usize>,
    partners: Vec<Option<(usize, By)>>,
}

impl<'c> Half<'c> {
    fn new(summaries: &'c [Summary]) -> Self {
        let (mut ids, mut twice) = (HashMap::default(), Vec::new());
        for (at, id) in summaries.iter().enumerate().filter_map(|(at, summary)| Some((at, id_key(summary)?))) {
            if *ids.entry(id).or_insert(at) != at {
                twice.push(at);
            }
        }
        Self { summaries, ids, twice, partners: vec![None; summaries.len()] }
    }

    fn link(&mut self, at: usize, other: usize, by: By) {
        if let Some(partner) = self.partners.get_mut(at) {
            *partner = Some((other, by));
        }
    }

    fn partner(&self, at: usize) -> Option<(usize, By)> {
        self.partners.get(at).copied().flatten()
    }

    /// The records that count and have no partner yet.
    fn free(&self) -> Vec<(usize, &'c Summary)> {
        let counts = |at: usize| self.twice.binary_search(&at).is_err();
        self.summaries.iter().enumerate().filter(|(at, _)| counts(*at) && self.partner(*at).is_none()).collect()
    }
}

impl Join {
    /// Joins.
    pub fn of(a: &[Summary], b: &[Summary]) -> Self {
        let sides = [a, b];
        let (mut a, mut b) = (Half::new(a), Half::new(b));
        for (at, summary) in a.free() {
            let other = id_key(summary).and_then(|id| b.ids.get(&id).copied());
            if let Some(other) = other {
                a.link(at, other, By::Id);
                b.link(other, at, By::Id);
            }
        }
        let mut questions: HashMap<Key<'_, Digest>, [Vec<usize>; 2]> = HashMap::default();
        for (side, half) in [&a, &b].into_iter().enumerate() {
            for (at, input) in half.free().into_iter().filter_map(|(at, summary)| Some((at, question_key(summary)?))) {
                questions.entry(input).or_default().get_mut(side).into_iter().for_each(|group| group.push(at));
            }
        }
        let (mut repeated_a, mut repeated_b) = (HashSet::default(), HashSet::default());
        for group in questions.into_values() {
            match group.each_ref().map(Vec::as_slice) {
                [[], _] | [_, []] => {}
                [[at], [other]] => {
                    a.link(*at, *other, By::Question);
                    b.link(*other, *at, By::Question);
                }
                [of_a, of_b] => {
                    repeated_a.extend(of_a);
                    repeated_b.extend(of_b);
                }
            }
        }
        let by = |at: &usize, repeated: &HashSet<usize>| if repeated.contains(at) { By::Repeated } else { By::Alone };
        let of_a =
            (0..a.summaries.len()).filter(|at| a.twice.binary_search(at).is_err()).map(|at| match a.partner(at) {
                Some((other, by)) => Pair { a: Some(at), b: Some(other), by },
                None => Pair { a: Some(at), b: None, by: by(&at, &repeated_a) },
            });
        let alone = b.free().into_iter().map(|(at, _)| Pair { a: None, b: Some(at), by: by(&at, &repeated_b) });
        let pairs: Vec<Pair> = of_a.chain(alone).collect();
        let mut join = Self { pairs, twice_a: a.twice, twice_b: b.twice, ..Self::default() };
        join.count_unlike(sides);
        join
    }

    /// Leaves out the items and duplicates that do not fit: an item is what the first run makes of it; where that lacks
    /// it, what the second does.
    pub fn retain(&mut self, sides: [&[Summary]; 2], fits: [&dyn Fn(&Summary) -> bool; 2]) {
        let [(a, fits_a), (b, fits_b)] = [(sides[0], fits[0]), (sides[1], fits[1])];
        let takes_a = |at: &usize| a.get(*at).is_some_and(fits_a);
        let takes_b = |at: &usize| b.get(*at).is_some_and(fits_b);
        self.pairs.retain(|pair| match pair.a {
            Some(at) => takes_a(&at),
            None => pair.b.as_ref().is_some_and(takes_b),
        });
        self.twice_a.retain(takes_a);
        self.twice_b.retain(takes_b);
        self.count_unlike(sides);
    }

    /// Counts the items whose records differ in what was asked or expected.
    fn count_unlike(&mut self, [a, b]: [&[Summary]; 2]) {
        let both = || self.pairs.iter().filter_map(|pair| Some((pair.by, a.get(pair.a?)?, b.get(pair.b?)?)));
        let asks_other =
            |(by, a, b): &(By, &Summary, &Summary)| *by == By::Id && a.input.zip(b.input).is_some_and(|(a, b)| a != b);
        let expects_other =
            |(_, a, b): &(By, &Summary, &Summary)| a.gold.zip(b.gold).is_some_and(|(a, b)| !a.is_near(b));
        (self.unlike, self.other_gold) = (both().filter(asks_other).count(), both().filter(expects_other).count());
    }

    /// Counts the items that were joined in a way.
    pub fn count(&self, by: By) -> usize {
        self.pairs.iter().filter(|pair| pair.by == by).count()
    }

    /// Counts the items of each run that have no partner, for a reason.
    pub fn unpaired(&self, why: By) -> [usize; 2] {
        let unpaired = || self.pairs.iter().filter(|pair| pair.by == why);
        [unpaired().filter(|pair| pair.a.is_some()).count(), unpaired().filter(|pair| pair.b.is_some()).count()]
    }
}

stepscope_base::words! {
    /// One of the five cells.
    pub enum Cell {
        /// Both are right.
        Both = "both" => "both correct",
        /// Only the first is right.
        OnlyA = "only_a" => "A only",
        /// Only the second is right.
        OnlyB = "only_b" => "B only",
        /// None is right.
        Neither = "none" => "both wrong",
        /// One of them is missing, ended in an error, or is not judged.
        Missing = "missing" => "not comparable",
    }
}

impl Cell {
    const fn of(a: Option<bool>, b: Option<bool>) -> Self {
        match (a, b) {
            (Some(true), Some(true)) => Self::Both,
            (Some(true), Some(false)) => Self::OnlyA,
            (Some(false), Some(true)) => Self::OnlyB,
            (Some(false), Some(false)) => Self::Neither,
            _ => Self::Missing,
        }
    }
}

stepscope_base::words! {
    /// By what an answer is called right.
    pub enum Basis {
        /// By the expected answer; by `correct` in its record where that could not be read.
        Recorded = "recorded" => "as graded",
        /// By what people said, where they said something.
        Reviewed = "reviewed" => "as reviewed",
        /// Also without the items whose gold answer people dispute; by their correction, where there is one.
        GoldAdjusted = "gold_adjusted" => "gold-adjusted",
    }
}

/// One item, judged on every basis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ComparedItem {
    /// Records of the item.
    pub pair: Pair,
    /// True for each side that is right, in the order of [`Basis::ALL`]; `None`: missing, error, or left out.
    pub right: [(Option<bool>, Option<bool>); 3],
    /// Its gold answer is disputed, and nobody gave a better one: it is left out of the last basis.
    pub left_out: bool,
    /// The first run has its record, which did not fail, and nothing says whether it is right.
    pub is_ungraded: bool,
}

impl ComparedItem {
    /// Its cell on a basis; `None`: it is left out there.
    pub fn cell(&self, basis: Basis) -> Option<Cell> {
        let (a, b) = self.right(basis);
        (basis != Basis::GoldAdjusted || !self.left_out).then(|| Cell::of(a, b))
    }

    /// Tells of each side whether it is right on a basis.
    pub fn right(&self, basis: Basis) -> (Option<bool>, Option<bool>) {
        self.right[basis as usize]
    }

    /// Tells whether the second run, the baseline, has it right and the first has not: wrong, in error, or missing.
    pub fn is_regression(&self) -> bool {
        self.is_lacking() && !self.is_ungraded
    }

    /// Tells whether it may be a regression: the baseline has it right, and nobody graded the first run.
    pub fn may_be_regression(&self) -> bool {
        self.is_lacking() && self.is_ungraded
    }

    fn is_lacking(&self) -> bool {
        let (a, b) = self.right(Basis::GoldAdjusted);
        self.pair.by != By::Repeated && !self.left_out && b == Some(true) && a != Some(true)
    }
}

/// A side of a comparison: its records, and what people said of them.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The records.
    pub summaries: &'s [Summary],
    /// Reviews of the records.
    pub reviews: &'s Reviews,
    /// Only what names the file, or was said of the very same content, counts: the journal is not this run's own.
    pub strict: bool,
}

impl<'s> Side<'s> {
    /// Returns the records of the items, each with its reviews; `index` is that of the records.
    fn records<'i>(self, index: &'i Index<'s>, at: impl Iterator<Item = Option<usize>>) -> Vec<ReviewedCard<'i>>
    where
        's: 'i,
    {
        let record = |at: usize| {
            let summary = self.summaries.get(at)?;
            Some((summary, self.reviewed(summary, index)))
        };
        at.map(|at| record(at?)).collect()
    }

    fn reviewed<'i>(self, summary: &'i Summary, index: &'i Index<'s>) -> Option<ItemReviews<'i>>
    where
        's: 'i,
    {
        index.find(self.reviews, summary).filter(|reviewed| {
            let item = reviewed.named();
            let named = item.dataset.is_some() && item.dataset == summary.item.dataset;
            !self.strict || named || reviewed.saw(Some(&summary.content))
        })
    }
}

/// Judges every item of a join.
pub fn judge(join: &Join, a: Side<'_>, b: Side<'_>) -> Vec<ComparedItem> {
    let [index_a, index_b] = [a, b].map(|side| Index::of(side.summaries));
    let a = a.records(&index_a, join.pairs.iter().map(|pair| pair.a));
    let b = b.records(&index_b, join.pairs.iter().map(|pair| pair.b));
    join.pairs.iter().zip(a.into_iter().zip(b)).map(|(pair, (a, b))| judge_pair(*pair, a, b)).collect()
}

type ReviewedCard<'s> = Option<(&'s Summary, Option<ItemReviews<'s>>)>;

fn judge_pair(pair: Pair, a: ReviewedCard<'_>, b: ReviewedCard<'_>) -> ComparedItem {
    let sides = [a, b];
    let reviewed = || sides.iter().flatten().filter_map(|(_, reviewed)| *reviewed);
    // The gold answer belongs to the question: who disputes it on one side disputes it on both.
    let disputed = reviewed().any(ItemReviews::disputes_gold);
    let correction = reviewed().find_map(|reviewed| {
        let better = |event: &Event| event.gold_status.is_some_and(GoldStatus::is_disputed);
        reviewed.fresh().into_iter().find(better)?.correction.as_ref().map(unquoted)
    });
    let recorded = sides.map(|side| side.and_then(graded)).map(|rightness| rightness.and_then(Rightness::verdict));
    let judged =
        sides.map(|side| side.and_then(|side| graded(side).unwrap_or_default().reviewed(said(side)).verdict()));
    let adjusted = [(a, judged[0]), (b, judged[1])].map(|(side, judged)| match (&correction, side) {
        (Some(correction), Some((summary, _))) if !summary.is_error() => summary.answers(correction),
        _ => judged,
    });
    let left_out = disputed && correction.is_none();
    let right = [recorded, judged, adjusted].map(|[a, b]| (a, b));
    let is_ungraded = adjusted[0].is_none() && a.is_some_and(|(summary, _)| !summary.is_error());
    ComparedItem { pair, right, left_out, is_ungraded }
}

/// Grade of the record; a run that failed has none.
fn graded((summary, _): (&Summary, Option<ItemReviews<'_>>)) -> Option<Rightness> {
    (!summary.is_error()).then_some(summary.rightness)
}

/// Tells whether people count the record as right; `None`: they did not decide.
fn said((_, reviewed): (&Summary, Option<ItemReviews<'_>>)) -> Option<bool> {
    match reviewed?.outcome() {
        Outcome::Pass => Some(true),
        Outcome::Fail => Some(false),
        _ => None,
    }
}

/// Counts on one basis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BasisCounts {
    /// Items in each cell, in the order of [`Cell::ALL`].
    pub cells: [u64; 5],
    /// Items that are left out because their gold answer is disputed.
    pub left_out: u64,
    /// The first run's right answers among those that are judged.
    pub a: Share,
    /// The second run's.
    pub b: Share,
    /// McNemar's exact test on the items that one of them alone has right.
    pub p: f64,
}

/// The bases with counts of their own: of those that count the same the first.
pub fn distinct(columns: &[BasisCounts; 3]) -> Vec<Basis> {
    let mut bases: Vec<(Basis, &BasisCounts)> = Vec::new();
    for (basis, column) in Basis::ALL.into_iter().zip(columns) {
        if !bases.iter().any(|(_, other)| *other == column) {
            bases.push((basis, column));
        }
    }
    bases.into_iter().map(|(basis, _)| basis).collect()
}

impl BasisCounts {
    /// Counts.
    pub fn of(items: &[ComparedItem], basis: Basis) -> Self {
        let mut column = Self { cells: [0; 5], left_out: 0, a: Share::default(), b: Share::default(), p: 1.0 };
        for item in items {
            let Some(cell) = item.cell(basis) else {
                column.left_out += 1;
                continue;
            };
            if let Some(count) = column.cells.get_mut(cell as usize) {
                *count += 1;
            }
            let (a, b) = item.right(basis);
            for (share, right) in [(&mut column.a, a), (&mut column.b, b)] {
                share.of += u64::from(right.is_some());
                share.hits += u64::from(right == Some(true));
            }
        }
        column.p = mcnemar(column.count(Cell::OnlyA), column.count(Cell::OnlyB));
        column
    }

    /// Tells whether any item is judged in both runs: without one there is nothing to test.
    pub(crate) fn is_paired(&self) -> bool {
        Cell::ALL.into_iter().any(|cell| cell != Cell::Missing && self.count(cell) > 0)
    }

    /// Items in a cell.
    pub fn count(&self, cell: Cell) -> u64 {
        self.cells.get(cell as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
