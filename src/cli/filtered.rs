//! `--filter`: the records that a command looks at, in the filter language of the screen.

use std::collections::HashSet;
use std::sync::Mutex;

use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::{CaseView, Location};
use stepscope_record::finding::Findings;
use stepscope_record::types::TypeRegistry;
use stepscope_review::summary::Summary;
use stepscope_review::verdict_state::VerdictState;
use stepscope_table::filter::Filter;

/// `--filter`.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct FilterArgs {
    /// Only records that fit, for example "correct:false rule:unused steps>4" (`?` on the screen lists the fields)
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(super) filter: Option<String>,
}

/// Availability of verdicts to a command whose filter may ask for them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdicts {
    Known,
    Unknown,
}

impl FilterArgs {
    /// Parses the filter, if one was given; `Err`: the reason why it cannot be used.
    pub(super) fn read(&self, types: &TypeRegistry, verdicts: Verdicts) -> Result<Option<Filtered>, Shown> {
        self.filter.as_deref().map(|typed| Filtered::parse(typed, types, verdicts)).transpose()
    }
}

/// Filter, with the counts of the records that it takes.
pub(super) struct Filtered {
    filter: Filter,
    tally: Mutex<FilteredTally>,
    noted: Mutex<HashSet<(usize, u64)>>,
}

/// Number of records, and of their findings of each severity.
#[derive(Clone, Copy, Default)]
pub(super) struct FilteredTally {
    pub(super) records: u64,
    pub(super) findings: [u64; 4],
}

impl Filtered {
    fn parse(typed: &str, types: &TypeRegistry, verdicts: Verdicts) -> Result<Self, Shown> {
        let filter = Filter::parse(typed, types).map_err(|error| shown!("--filter: {}", error.message))?;
        if filter.needs_reviews() && verdicts == Verdicts::Unknown {
            return Err(Shown::own("--filter: verdicts need other files; use them on the screen or in `review list`"));
        }
        if filter.sets().next().is_some() {
            return Err(Shown::own("--filter: cell: and board: need other files; use them on the screen"));
        }
        if filter.asks_duplicates() {
            return Err(Shown::own("--filter: record/duplicate_id depends on other records; use it on the screen"));
        }
        Ok(Self { filter, tally: Mutex::default(), noted: Mutex::default() })
    }

    /// Tells whether the filter asks what people said.
    pub(super) fn asks_reviews(&self) -> bool {
        self.filter.needs_reviews()
    }

    /// Tells whether the filter takes a record, regardless of verdicts.
    pub(super) fn takes(&self, case: &CaseView<'_>, findings: &Findings) -> bool {
        self.filter.takes(case, findings)
    }

    /// Tells the same, and counts a record that is taken, with its findings.
    pub(super) fn counts(&self, case: &CaseView<'_>, findings: &Findings) -> bool {
        let takes = self.takes(case, findings);
        if takes {
            let mut tally = lock(&self.tally);
            tally.records += 1;
            for finding in findings {
                if let Some(count) = tally.findings.get_mut(finding.severity as usize) {
                    *count += 1;
                }
            }
        }
        takes
    }

    pub(super) fn tally(&self) -> FilteredTally {
        *lock(&self.tally)
    }

    /// Tells whether the filter takes a record with these verdicts.
    pub(super) fn takes_judged(&self, case: &CaseView<'_>, judged: &VerdictState) -> bool {
        self.filter.fits_judged(judged) && self.takes(case, case.findings())
    }

    /// Notes a record that the filter takes, of which only a summary is kept.
    pub(super) fn note(&self, case: &CaseView<'_>) {
        if self.takes(case, case.findings()) {
            lock(&self.noted).insert(place(case.origin()));
        }
    }

    /// Tells whether the filter takes a record that was noted, with these verdicts.
    pub(super) fn took(&self, summary: &Summary, judged: &VerdictState) -> bool {
        let noted = lock(&self.noted);
        noted.contains(&place(summary.origin)) && self.filter.fits_judged(judged)
    }
}

fn place(origin: Location) -> (usize, u64) {
    (origin.source, origin.offset)
}
