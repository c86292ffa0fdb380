//! `stepscope check --merge --summary`: the output of several checks added up.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashSet;

use super::figures::FiguresApart;
use crate::cli::check::options::Check;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::options::threads;
use crate::cli::out::Out;
use stepscope_base::canonical::Digest;
use stepscope_base::guard::lock;
use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::check::read_through;
use stepscope_io::source::input::expand;
use stepscope_judge::cause::Cause;
use stepscope_judge::slip_form::SlipForm;
use stepscope_judge::triage::Fix;
use stepscope_record::RecordKind;
use stepscope_record::finding::{Severity, counted, grouped};
use stepscope_record::models::ModelNames;
use stepscope_record::rule_id::RuleId;
use stepscope_report::ReportFormat;
use stepscope_report::insight_lines;
use stepscope_report::insight_lines::InsightLine;
use stepscope_table::insights::Insights;

/// Number of different stamps that are named.
const MAX_STAMPS: usize = 4;

/// Sum of the merged checks.
#[derive(Default)]
struct Merged {
    figures: FiguresApart,
    seen: HashSet<[u8; 32]>,
    records: u64,
    again: u64,
    boards: u64,
    /// Records that their check left out.
    left_out: u64,
    /// Lines that are neither records nor summaries.
    others: u64,
    /// Versions and rule sets by which the records were judged.
    stamps: BTreeSet<String>,
    /// The gravest finding of the records.
    worst: Option<Severity>,
    /// A line of a record does not say its cause.
    lacks_causes: bool,
    /// Lines of records that do not say their findings.
    untold: u64,
}

pub(super) fn run(options: &Check, out: &mut Out) -> u8 {
    let merged = Mutex::new(Merged::default());
    let outcome = read_through(expand(&options.paths), threads(options.jobs), &Arc::default(), |case, _| {
        let mut merged = lock(&merged);
        match case.root() {
            Some(value) => merged.take(value),
            None => merged.others += 1,
        }
    });
    let merged = merged.into_inner().unwrap_or_else(PoisonError::into_inner);
    out.complain_of(outcome.failures.iter().map(Shown::from));
    let cut = outcome.sources.values().filter_map(|source| Some((&source.name, source.counts.skips.cut?)));
    let cut: Vec<Shown> = cut.map(|(name, line)| shown!("{name}: line {line} is cut off; it is not counted")).collect();
    if merged.stamps.len() > 1 {
        let stamps = Shown::listed(merged.stamps.iter().map(|stamp| Shown::line(stamp.as_bytes())), MAX_STAMPS);
        out.complain(&shown!("cannot merge what different rules found: {stamps}; check all records with one version"));
        return FAILED;
    }
    let failed = !outcome.failures.is_empty() || !cut.is_empty();
    out.complain_of(cut.into_iter());
    if options.format() == ReportFormat::Jsonl {
        merged.figures.write_json(out);
    } else if merged.records + merged.boards > 0 {
        merged.figures.print(&merged.charts(), out);
        out.line(&shown!(
            "{} once each, {} of them again, {} of summaries",
            counted(merged.records as usize, "record"),
            grouped(merged.again as usize),
            counted(merged.boards as usize, "line")
        ));
    }
    if merged.left_out > 0 {
        let records = counted(merged.left_out as usize, "record");
        out.complain(&shown!("not counted: {records} that a check left out of its output"));
    }
    if merged.others > 0 {
        out.complain(&shown!("not printed by check --format jsonl: {}", counted(merged.others as usize, "line")));
    }
    // Summaries count where to fix runs, and say nothing of findings.
    let untold = merged.boards + merged.untold + merged.left_out;
    let asks = options.fails_on(Some(Severity::Fatal));
    if asks && untold > 0 {
        out.complain(&shown!(
            "cannot apply --fail-on: {} without findings (summaries, or records left out); merge records of check --format \
             jsonl, or pass --fail-on to the checks",
            counted(untold as usize, "line")
        ));
    }
    match () {
        () if failed || merged.others > 0 || asks && untold > 0 => FAILED,
        () if options.fails_on(merged.worst) => FOUND,
        () => CLEAN,
    }
}

fn word_of(value: Value<'_>) -> Option<String> {
    value.string()?.utf8().map(ToOwned::to_owned)
}

/// Severity of a printed finding; a line with chosen fields may name its rule alone.
fn severity_of(finding: Value<'_>) -> Option<Severity> {
    let own = finding.get("severity").and_then(word_of).and_then(|word| Severity::from_word(&word));
    own.or_else(|| Some(RuleId::from_word(&word_of(finding.get("rule")?)?)?.severity()))
}

impl Merged {
    /// The charts of insights whose figures all the lines say; of confidences, models and outcomes they say nothing.
    fn charts(&self) -> Vec<InsightLine> {
        let is_whole = self.boards == 0 && self.untold == 0 && self.left_out == 0;
        let figures = self.figures.counted();
        let mut insights = if is_whole { figures.insights.clone() } else { Insights::default() };
        if self.lacks_causes {
            insights.causes.fill(0);
            insights.slips = Insights::default().slips;
        }
        for (fix, step, runs) in figures.board.steps().filter(|(fix, ..)| *fix != Fix::None) {
            insights.add_fixes(fix, step, runs);
        }
        insight_lines::lines(&insights, &ModelNames::default())
    }

    fn take(&mut self, value: Value<'_>) {
        let says = |key: &str| value.get(key).and_then(Value::bool) == Some(true);
        if let Some(runs) = value.get("runs") {
            let figures = self.figures.of(says("forks"));
            match figures.board.merge(value) {
                Some(()) => {
                    self.boards += 1;
                    figures.records = figures.records.saturating_add(runs.float().unwrap_or_default() as u64);
                }
                None => self.others += 1,
            }
            return;
        }
        if says("left_out") {
            self.left_out += 1;
            return;
        }
        if self.stamps.len() < MAX_STAMPS {
            self.stamps.extend(value.get("rules").and_then(word_of));
        }
        let digest = value.get("sha256").and_then(Value::string).and_then(|hex| Digest::parse(hex.bytes()));
        let Some(digest) = digest else {
            self.others += 1;
            return;
        };
        if self.seen.insert(digest.bytes()) {
            self.records += 1;
            let figures = self.figures.of(says("fork"));
            figures.records += 1;
            // A right record says nothing of where to fix it.
            _ = figures.board.merge(value);
            let cause = value.get("cause");
            self.lacks_causes |= cause.is_none();
            let cause = cause.and_then(word_of).and_then(|cause| Cause::from_word(&cause));
            figures.insights.add_cause(cause, 1);
            let form = value.get("slip").and_then(|slip| slip.get("form")).and_then(word_of);
            figures.insights.add_slip(cause, form.and_then(|form| SlipForm::from_word(&form)), 1);
            let share = |key: &str| value.get("peers").and_then(|peers| peers.get(key)).and_then(Value::float);
            figures.insights.add_peers([share("agreement"), share("values")], 1);
            let kind = value.get("kind").and_then(word_of).and_then(|kind| RecordKind::from_word(&kind));
            let findings = value.get("findings").filter(|findings| findings.kind() == Kind::Array);
            let Some(findings) = findings else {
                self.untold += 1;
                return;
            };
            self.worst = findings.items().filter_map(severity_of).chain(self.worst).min();
            let rules = findings.items().filter_map(|finding| word_of(finding.get("rule")?));
            figures.insights.count_printed(kind, rules.filter_map(|rule| RuleId::from_word(&rule)));
        } else {
            self.again += 1;
        }
    }
}
