//! State of what concerns all records together: the comparison with a baseline, the dashboards, and two records side by
//! side. It owns its changes; `update` only routes to it.

pub(crate) mod keys;

use std::path::PathBuf;
use std::sync::Arc;

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::compare::{BaselineRuns, Compared, Journals};
use stepscope_io::pipeline::dashboard::BoardData;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::snapshot::Address;
use stepscope_io::source::column_map::ColumnMap;
use stepscope_judge::row::RowFacts;
use stepscope_review::event::Reviewer;

/// See the module.
#[derive(Debug, Default)]
pub struct Across {
    /// The baseline.
    pub baseline: Option<BaselineRuns>,
    /// The document that answers cite where they name none.
    pub document: Option<PathBuf>,
    /// Reading of the rows of tables.
    pub columns: ColumnMap,
    /// Review logs with people's verdicts.
    pub journals: Journals,
    /// Reviewer who settles disagreements.
    pub reviewer: Option<Reviewer>,
    /// The last comparison that was made.
    pub compared: Option<Arc<Compared>>,
    /// State of the next comparison.
    pub comparing: Pending,
    /// Dashboard data and disagreements, as last read.
    pub judged: Option<Arc<BoardData>>,
    /// State of the next reading of the dashboard data.
    pub judging: Pending,
    /// The record whose partner is wanted as soon as there is a comparison.
    pub partner_of: Option<usize>,
    /// Number of records at the last computation, and number of times that rows had moved by then.
    pub of: (usize, u64),
    next: u64,
}

impl Across {
    /// Starts with a baseline and review logs; `compare`: the comparison is made as soon as all records are read.
    pub fn new(baseline: Option<PathBuf>, journals: Journals, compare: bool) -> Self {
        let comparing = Pending { due: compare, ..Pending::default() };
        let baseline = baseline.map(BaselineRuns::Path);
        Self { baseline, journals, comparing, ..Self::default() }
    }

    /// Tells whether a set of records holds this one; a set that is not known yet holds none.
    pub fn holds(&self, set: &str, address: Option<Address>) -> bool {
        let compared = self.compared.as_ref().and_then(|compared| compared.sets.get(set));
        let set = compared.or_else(|| self.judged.as_ref()?.sets.get(set));
        set.zip(address).is_some_and(|(set, address)| set.contains(&address))
    }

    /// Tells whether a comparison or dashboard is being worked out.
    pub(crate) const fn is_working(&self) -> bool {
        self.comparing.is_coming() || self.judging.is_coming()
    }

    /// A number that none had before.
    pub const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// State of a piece of work over all records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pending {
    /// True if it is wanted as soon as all records are read.
    pub due: bool,
    /// The number under which it is being done.
    pub running: Option<u64>,
    /// Percentage of it that is done.
    pub percent: usize,
    /// Reason why it failed the last time.
    pub failed: Option<Shown>,
}

impl Pending {
    /// Tells whether a result will come: it is wanted, or being worked out.
    pub(crate) const fn is_coming(&self) -> bool {
        self.due || self.running.is_some()
    }

    /// Phrases how much is done, behind a word for what; `None`: no result will come.
    pub(crate) fn progress(&self, doing: &'static str) -> Option<Shown> {
        self.is_coming().then(|| match self.percent {
            0 => shown!("{doing}…"),
            percent => shown!("{doing}… {percent} %"),
        })
    }

    /// Takes its result; `None`: it is not what is wanted any more.
    pub fn done<T>(&mut self, id: u64, result: Result<T, Failure>) -> Option<Result<T, Shown>> {
        self.running.take_if(|running| *running == id)?;
        self.percent = 0;
        let result = result.map_err(Shown::from);
        self.failed = result.as_ref().err().cloned();
        Some(result)
    }
}

/// A record that is to be opened.
#[derive(Clone, Debug)]
pub struct RecordHandle {
    /// Its number among its own.
    pub record: usize,
    /// Source and bytes from which its text is read.
    pub reading: Reading,
    /// Facts of its row.
    pub row: RowFacts,
    /// Name of its run.
    pub name: Shown,
}
