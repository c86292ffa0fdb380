//! Report of each record that `check` meets, made on the thread that checked it, and the summary at the end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::figures::FiguresApart;
use super::reviewed::Reviewed;
use crate::cli::check::options::Check;
use crate::cli::filtered::Filtered;
use crate::cli::links::Links;
use crate::cli::out::Out;
use stepscope_base::guard::lock;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::check::CheckOutcome;
use stepscope_io::source::input::Input;
use stepscope_judge::case::CaseView;
use stepscope_judge::row::RowFacts;
use stepscope_record::finding::Severity;
use stepscope_record::models::ModelNames;
use stepscope_report::ReportFormat;
use stepscope_report::insight_lines;
use stepscope_report::jsonl;
use stepscope_report::jsonl::LineShape;
use stepscope_report::text::Look;

/// What is asked for of each record, and what is counted of all.
pub(super) struct Reporter<'o> {
    format: ReportFormat,
    /// Lightest severity by which a record fails.
    least: Option<Severity>,
    shape: LineShape,
    summary: bool,
    /// Where to fix a run is part of the report.
    pub(super) judges: bool,
    look: Look,
    links: Option<Links>,
    reviewed: Option<Reviewed<'o>>,
    filtered: Option<Filtered>,
    figures: Mutex<FiguresApart>,
    /// A record was met whose id the baseline has too.
    is_joined: AtomicBool,
    /// A record was met of which there is another run.
    has_peers: AtomicBool,
}

impl<'o> Reporter<'o> {
    pub(super) fn new(
        options: &Check,
        shape: LineShape,
        reviewed: Option<Reviewed<'o>>,
        filtered: Option<Filtered>,
        out: &Out,
    ) -> Self {
        let format = options.format();
        Self {
            format,
            least: options.least(),
            judges: options.summary
                || (format == ReportFormat::Jsonl
                    && ["triage", "cause", "slip"].iter().any(|member| shape.asks(member))),
            shape,
            summary: options.summary,
            look: out.look(options.color),
            links: Links::wanted(options.links, options.color, out),
            reviewed,
            filtered,
            figures: Mutex::default(),
            is_joined: AtomicBool::new(options.baseline.is_none()),
            has_peers: AtomicBool::new(options.peers.is_empty()),
        }
    }

    /// Tells whether the baseline had an answer for a record.
    pub(super) fn is_joined(&self) -> bool {
        self.is_joined.load(Ordering::Relaxed)
    }

    /// Tells whether there was another run of a record's question.
    pub(super) fn has_peers(&self) -> bool {
        self.has_peers.load(Ordering::Relaxed)
    }

    /// Counts a record or writes its report, if there is room for it.
    pub(super) fn record(&self, case: &CaseView<'_>, input: &Input, out: Option<&mut Vec<u8>>) {
        if !self.is_joined() && case.baseline().is_some() {
            self.is_joined.store(true, Ordering::Relaxed);
        }
        if !self.has_peers() && case.peer_opinion().is_some() {
            self.has_peers.store(true, Ordering::Relaxed);
        }
        let accepted = self.reviewed.as_ref().map(|reviewed| reviewed.findings(case, input));
        let findings = accepted.as_ref().unwrap_or_else(|| case.findings());
        if self.filtered.as_ref().is_some_and(|filtered| !filtered.counts(case, findings)) {
            return;
        }
        let judged = accepted.as_ref().filter(|_| self.judges);
        let judged = judged.and_then(|findings| case.triage_by(findings, case.baseline()));
        let triage = if self.judges && accepted.is_none() { case.triage() } else { judged.as_ref() };
        if self.summary {
            let row = RowFacts::unchecked(0, 0).checked(case, findings, case.baseline());
            let mut figures = lock(&self.figures);
            let figures = figures.of(row.is_fork());
            figures.records += 1;
            figures.insights.count(&row, 1);
            if let Some(triage) = triage {
                figures.board.add(triage);
            }
            return;
        }
        let Some(out) = out else { return };
        if self.format == ReportFormat::Jsonl {
            jsonl::write_as(&self.shape, case, findings, triage, out);
        } else if !findings.is_empty() || self.format.tells_clean() {
            let linking = self.links.as_ref().map(|links| self.look.linking(links.file(input)));
            let look = linking.as_ref().unwrap_or(&self.look);
            self.format.record(case, findings, triage, (look, self.least), out);
        }
    }

    /// Prints the summary, if it is asked for, takes over the counts of what was reported, and says what reviews added.
    pub(super) fn end(&self, options: &Check, outcome: &mut CheckOutcome, models: &ModelNames, out: &mut Out) -> Shown {
        if self.summary {
            self.print_summary(options, outcome.counts.records, models, out);
        }
        let tally = self.reviewed.as_ref().map(Reviewed::tally);
        if let Some(tally) = &tally {
            outcome.counts.findings = tally.findings;
        }
        if let Some(tally) = self.filtered.as_ref().map(Filtered::tally) {
            (outcome.counts.records, outcome.counts.findings) = (tally.records, tally.findings);
            // They are of all records.
            outcome.duplicates.clear();
        }
        tally.map(|tally| tally.phrase()).unwrap_or_default()
    }

    fn print_summary(&self, options: &Check, records: u64, models: &ModelNames, out: &mut Out) {
        let figures = lock(&self.figures);
        let charts = insight_lines::lines(&figures.counted().insights, models);
        if self.format == ReportFormat::Jsonl {
            figures.write_json(out);
            if options.charts {
                insight_lines::write_json(&charts, out);
            }
        } else if records > 0 {
            figures.print(&charts, out);
        }
    }
}
