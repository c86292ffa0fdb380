//! `check --filter`: the records that are looked at, in the filter language of the screen.

use std::sync::{Mutex, PoisonError};

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::case::CaseView;
use stepscope_core::finding::Findings;
use stepscope_core::record::types::TypeRegistry;
use stepscope_core::table::filter::{Filter, RowAnswer};
use stepscope_core::table::row::RowFacts;

/// A filter, and what was counted of the records that it takes.
pub(super) struct Filtered {
    filter: Filter,
    tally: Mutex<FilteredTally>,
}

/// Records, and their findings of each severity.
#[derive(Clone, Copy, Default)]
pub(super) struct FilteredTally {
    pub(super) records: u64,
    pub(super) findings: [u64; 4],
}

impl Filtered {
    /// Reads a filter; `Err`: why it cannot be used.
    pub(super) fn parse(typed: &str, types: &TypeRegistry) -> Result<Self, Shown> {
        let filter = Filter::parse(typed, types).map_err(|error| shown!("--filter: {}", error.message))?;
        if filter.needs_reviews() || filter.sets().next().is_some() {
            return Err(Shown::own("--filter: verdicts, cell: and board: need other files; use them on the screen"));
        }
        Ok(Self { filter, tally: Mutex::default() })
    }

    /// Whether it takes a record; one that it takes is counted with what was found.
    pub(super) fn takes(&self, case: &CaseView<'_>, findings: &Findings) -> bool {
        let row = RowFacts::unchecked(0, 0).checked(case, findings, case.baseline());
        let takes = match self.filter.fits_row(&row) {
            RowAnswer::Yes => true,
            RowAnswer::No => false,
            RowAnswer::AskText => self.filter.fits_text(case.text()),
        };
        if takes {
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
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
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
