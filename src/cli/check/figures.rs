//! The figures of `check --summary`, of records and of forks apart: forks are no answers of the run.

use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::finding::counted;
use stepscope_report::fix_counts::FixCounts;
use stepscope_report::insight_lines;
use stepscope_report::insight_lines::InsightLine;
use stepscope_table::insights::Insights;

/// Figures of records, or of forks.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) board: FixCounts,
    pub(super) insights: Insights,
    pub(super) records: u64,
}

/// See the module.
#[derive(Default)]
pub(super) struct FiguresApart {
    records: Figures,
    forks: Figures,
}

impl FiguresApart {
    /// Finds where a record, or a fork, counts.
    pub(super) fn of(&mut self, is_fork: bool) -> &mut Figures {
        if is_fork { &mut self.forks } else { &mut self.records }
    }

    /// The figures that are printed: forks count only where there is nothing else, as on the screen.
    pub(super) fn counted(&self) -> &Figures {
        if self.is_of_forks() { &self.forks } else { &self.records }
    }

    fn is_of_forks(&self) -> bool {
        self.records.records == 0 && self.records.board.is_empty() && self.forks.records > 0
    }

    /// Says how many forks do not count; `None`: there are none.
    fn left_out(&self) -> Option<Shown> {
        let forks = Some(self.forks.records as usize).filter(|forks| *forks > 0 && !self.is_of_forks())?;
        Some(shown!("{}, not counted above", counted(forks, "fork")))
    }

    pub(super) fn print(&self, charts: &[InsightLine], out: &mut Out) {
        for line in self.counted().board.lines() {
            out.line(&line);
        }
        for line in insight_lines::text(charts) {
            out.line(&line);
        }
        if let Some(forks) = self.left_out() {
            out.line(&Shown::default());
            out.line(&forks);
        }
        out.line(&Shown::default());
    }

    pub(super) fn write_json(&self, out: &mut Out) {
        self.counted().board.write_json(self.is_of_forks(), out);
    }
}
