//! Reading of the dashboard and of the disagreements of the open records, for the screen.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use crate::failure::Failure;
use crate::pipeline::compare::Journals;
use crate::pipeline::side_data::SideData;
use crate::pipeline::snapshot::{Address, Snapshot, address};
use stepscope_base::text::Shown;
use stepscope_review::agreement::Agreement;
use stepscope_review::dashboard::{Dashboard, DashboardTable};
use stepscope_review::disagreement::{Disagreement, disagreements};
use stepscope_review::event::{LabelRef, LabelSet};
use stepscope_review::fold::Reviews;
use stepscope_review::join::Index;
use stepscope_review::summary::Summary;

/// Input of a dashboard.
#[derive(Clone, Debug)]
pub struct DashboardRequest {
    /// The records.
    pub run: Snapshot,
    /// Review logs with people's verdicts.
    pub journals: Journals,
}

/// A dispute with its record.
#[derive(Clone, Debug)]
pub struct DisputedRecord {
    /// Address of the record.
    pub address: Address,
    /// Summary of the record.
    pub summary: Summary,
    /// Disagreement of its reviewers.
    pub dispute: Disagreement,
}

/// Everything that follows from the verdicts of people, apart from the records.
#[derive(Debug, Default)]
pub struct BoardData {
    /// The tables of the dashboard.
    pub boards: Vec<DashboardTable>,
    /// The records of every number, by the name of its set.
    pub sets: HashMap<String, HashSet<Address>>,
    /// Number of judged items that are records here.
    pub judged: usize,
    /// Number of items of these files whose records are gone.
    pub gone: usize,
    /// Number of judged items of other files.
    pub elsewhere: usize,
    /// Number of verdicts on parts of answers.
    pub parts: usize,
    /// True if a record was judged by where to fix it.
    pub judges_fix: bool,
    /// Agreement of the reviewers, as `stepscope review agreement` prints it.
    pub agreement: Vec<Shown>,
    /// The items on which they disagree.
    pub cases: Vec<DisputedRecord>,
    /// The labels that there are, with their names.
    pub labels: Vec<(LabelRef, Shown)>,
    /// Label set that is only offered: it is written down before its first label is given.
    pub offered: Option<LabelSet>,
}

/// Reads review logs and records; `percent` is told how many of these. An error says what could not be read.
pub fn read(
    wanted: &DashboardRequest,
    threads: usize,
    side: &Arc<SideData>,
    percent: impl Fn(usize) + Sync,
) -> Result<Arc<BoardData>, Failure> {
    let reviews = wanted.journals.read()?;
    let summaries = wanted.run.summaries(threads, Some(side), |item| reviews.names(item), percent);
    let steps: Vec<Option<u64>> = summaries.iter().map(|summary| summary.fix_step).collect();
    let Dashboard { boards, sets, judged, gone, elsewhere } = Dashboard::of(&reviews, &summaries, &steps);
    let offered = reviews.label_sets().newest().next().is_none().then(LabelSet::starter);
    let place = |at: &usize| summaries.get(*at).map(address);
    let case = |dispute: Disagreement| {
        let summary = summaries.get(dispute.record)?.clone();
        Some(DisputedRecord { address: address(&summary), summary, dispute })
    };
    let index = Index::of(&summaries);
    let joined = index.join(&reviews);
    Ok(Arc::new(BoardData {
        boards,
        sets: sets.into_iter().map(|(name, items)| (name, items.iter().filter_map(place).collect())).collect(),
        judged,
        gone,
        elsewhere,
        parts: joined.items.iter().map(|item| item.reviewed.parts().count()).sum(),
        judges_fix: summaries.iter().any(|summary| summary.fix.is_some()),
        agreement: if reviews.items().next().is_some() { Agreement::of(&reviews, &joined).lines() } else { Vec::new() },
        cases: disagreements(&reviews, &summaries).into_iter().filter_map(case).collect(),
        labels: labels(&reviews, offered.as_ref()),
        offered,
    }))
}

/// Lists the labels of the newest sets, or those that are offered, then those that were given without one. The set that
/// labels are given from comes first, so that they have the same numbers as in a review.
fn labels(reviews: &Reviews, offered: Option<&LabelSet>) -> Vec<(LabelRef, Shown)> {
    let mut sets = reviews.label_sets();
    if let Some(offered) = offered {
        sets = sets.or_offered(offered);
    }
    let first = sets.given_from();
    let (own, others): (Vec<_>, Vec<_>) = sets.newest().partition(|set| set.id == first.id);
    let of_sets = own.into_iter().chain(others).flat_map(|set| set.labels.iter().map(|label| label.id.clone()));
    let given = reviews.events().flat_map(|event| event.labels).map(|label| label.id);
    let mut labels: Vec<(LabelRef, Shown)> = Vec::new();
    let mut seen = HashSet::default();
    for id in of_sets.chain(given) {
        let label = sets.give(&id);
        for today in sets.resolve(&label) {
            let label = sets.give(&today.id);
            if seen.insert(label.id.clone()) {
                labels.push((label, today.name.line()));
            }
        }
    }
    labels
}
