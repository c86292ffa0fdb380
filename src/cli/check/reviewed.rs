//! `stepscope check --reviewed`: what people passed is accepted as it is, what they failed is a finding.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::cli::check::options::Check;
use crate::cli::namesakes::PassingRecords;
use crate::cli::options::threads;
use crate::cli::out::Out;
use crate::cli::review::logs::counted;
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::summaries::summary_of;
use stepscope_io::source::input::Input;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::Findings;
use stepscope_review::finding::of_review;
use stepscope_review::fold::{ItemReviews, Outcome, Reviews};

/// Reviews, and the counts made with them.
pub(super) struct Reviewed<'o> {
    reviews: Reviews,
    records: PassingRecords<'o>,
    tally: Mutex<Tally>,
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
        let inputs = |paths: &[PathBuf]| options.answers.expand(paths).ok();
        let records = PassingRecords::new(&options.paths, inputs, threads(options.jobs), side);
        Some(Self { reviews, records, tally: Mutex::default() })
    }

    /// Returns and counts the findings to report: none for a record that passed, also the verdict for one that failed.
    pub(super) fn findings(&self, case: &CaseView<'_>, input: &Input) -> Findings {
        let summary = summary_of(case, input, case.findings(), |_| true);
        let reviewed = self.records.find(&self.reviews, &summary);
        let outcome = reviewed.map_or(Outcome::Open, ItemReviews::outcome);
        let mut findings = if outcome == Outcome::Pass { Findings::new() } else { case.findings().clone() };
        let sets = self.reviews.label_sets().for_people();
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
