//! `stepscope check --reviewed`: what people passed is accepted as it is, what they failed is a finding.

use std::sync::{Arc, Mutex, OnceLock};

use foldhash::HashSet;

use super::threads;
use crate::cli::review::counted;
use crate::cli::{Check, Out};
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::case::CaseView;
use stepscope_core::finding::Findings;
use stepscope_core::review::fold::{ItemReviews, Outcome, Reviews};
use stepscope_core::review::join::Index;
use stepscope_core::rules::review::of_review;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::summaries::{read_reviewed, summary_of};
use stepscope_io::source::input::Input;

/// Reviews, and the counts made with them.
pub(super) struct Reviewed<'o> {
    options: &'o Check,
    reviews: Reviews,
    side: Arc<SideData>,
    tally: Mutex<Tally>,
    /// Places of records that have the name of a reviewed one and were not reviewed themselves; asked for once something
    /// is stale.
    others: OnceLock<HashSet<(usize, u64)>>,
}

/// Number of findings and of outcomes.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Findings of each severity, gravest first.
    pub(super) findings: [u64; 4],
    outcomes: [u64; Outcome::ALL.len()],
}

impl<'o> Reviewed<'o> {
    /// Reads the review logs that were named, else those next to the records, and says which ones count. `None`: one
    /// could not be read.
    pub(super) fn read(options: &'o Check, side: &Arc<SideData>, out: &Out) -> Option<Self> {
        let reviews = counted(&options.reviews, &options.paths, out)?.reviews;
        Some(Self { options, reviews, side: side.clone(), tally: Mutex::default(), others: OnceLock::new() })
    }

    /// Tells whether a record only shares its name with a reviewed one. The files are read once more for it; where they
    /// are pipes, nothing is known.
    fn is_other(&self, case: &CaseView<'_>) -> bool {
        let Self { options, reviews, side, .. } = self;
        let others = self.others.get_or_init(|| {
            let inputs = options.answers.expand(&options.paths).ok();
            let inputs = inputs.filter(|_| options.paths.iter().all(|path| path.is_file() || path.is_dir()));
            let named = inputs.map(|inputs| read_reviewed(inputs, reviews, threads(options.jobs), side));
            let named = named.unwrap_or_default();
            let open = Index::of(&named).join(reviews).open;
            open.iter().map(|summary| (summary.origin.source, summary.origin.offset)).collect()
        });
        others.contains(&(case.origin().source, case.origin().offset))
    }

    /// Returns and counts the findings to report: none for a record that passed, also the verdict for one that failed.
    pub(super) fn findings(&self, case: &CaseView<'_>, input: &Input) -> Findings {
        let summary = summary_of(case, input, case.findings(), |_| true);
        let found = self.reviews.find(&summary.item, Some(&summary.content));
        let reviewed = found.filter(|reviewed| reviewed.outcome() != Outcome::Stale || !self.is_other(case));
        let outcome = reviewed.map_or(Outcome::Open, ItemReviews::outcome);
        let mut findings = if outcome == Outcome::Pass { Findings::new() } else { case.findings().clone() };
        let sets = self.reviews.label_sets();
        findings.extend(reviewed.and_then(|reviewed| of_review(outcome, reviewed, &sets, case)));
        let mut tally = lock(&self.tally);
        for finding in &findings {
            if let Some(count) = tally.findings.get_mut(finding.severity as usize) {
                *count += 1;
            }
        }
        if let Some(count) = tally.outcomes.get_mut(outcome as usize) {
            *count += 1;
        }
        findings
    }

    pub(super) fn tally(&self) -> Tally {
        *lock(&self.tally)
    }
}

impl Tally {
    /// Formats the outcomes: `; reviewed: 12 pass, 3 fail, 260 open`.
    pub(super) fn phrase(&self) -> Shown {
        let named = Outcome::ALL.into_iter().zip(self.outcomes).filter(|(_, count)| *count > 0);
        let named: Vec<String> = named.map(|(outcome, count)| format!("{count} {}", outcome.word())).collect();
        shown!("; reviewed: {}", named.join(", "))
    }
}
