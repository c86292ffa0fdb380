//! Findings and records as bytes for a terminal, an editor, a program or a code host.
//!
//! Every writer appends to a buffer that the caller reuses, a record at a time, in input order. All text from data
//! passes `Shown` or is written as ASCII-only JSON: the bytes are safe in any terminal.
//!
//! Law: writes what was judged, and judges nothing. Knows no files, no network, no terminal.

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_judge::triage::Triage;
use stepscope_record::finding::{Finding, Severity};

/// Lines around a place, with marks below them.
mod excerpt;
/// Members of an object, chosen by their paths.
pub mod fields;
/// Counts of `check --summary`.
pub mod fix_counts;
/// Annotations for the log of GitHub's CI.
pub(crate) mod github;
/// The charts of all records as lines.
pub mod insight_lines;
/// A record as a JSON object in one line.
pub mod jsonl;
/// JUnit XML.
pub(crate) mod junit;
/// Markdown for the summary of a job.
pub(crate) mod markdown;
/// A record as a page to send.
pub mod page;
/// Places of findings as lines and columns.
pub mod places;
/// SARIF 2.1.0.
pub(crate) mod sarif;
/// One line a finding.
pub(crate) mod short;
/// Columns of the tables that `check` writes.
pub mod tables;
/// Findings as a compiler shows them.
pub mod text;
/// A whole record as plain text.
pub mod whole;

/// People read so much of a message; JSON lines and SARIF have it whole.
pub(crate) const MAX_MESSAGE: usize = 2_000;

stepscope_base::words! {
    /// The forms a report can take.
    pub enum ReportFormat {
        /// The place in the record with a caret, as a compiler does.
        Text = "text",
        /// One line per finding: `path:line:column: severity[rule] message (pointer)`.
        Short = "short",
        /// A JSON object a record.
        Jsonl = "jsonl",
        /// SARIF 2.1.0, for code hosts and editors.
        Sarif = "sarif",
        /// Annotations in the log of GitHub's CI.
        Github = "github",
        /// JUnit XML, a test case a record.
        Junit = "junit",
        /// Markdown, for the summary of a job.
        Markdown = "markdown",
    }
}

impl ReportFormat {
    /// Appends what comes before the first record.
    pub fn begin(self, out: &mut Vec<u8>) {
        match self {
            Self::Sarif => sarif::begin(out),
            Self::Junit => junit::begin(out),
            Self::Markdown => markdown::begin(out),
            Self::Text | Self::Short | Self::Jsonl | Self::Github => {}
        }
    }

    /// One record, with findings that need not be its own and, for programs, where to fix it. `least`: the lightest
    /// finding by which a record fails.
    pub fn record(
        self,
        case: &CaseView<'_>,
        findings: &[Finding],
        triage: Option<&Triage>,
        (look, least): (&text::Look, Option<Severity>),
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Text => text::write(case, findings, look, out),
            Self::Short => short::write(case, findings, out),
            Self::Jsonl => jsonl::write(case, findings, triage, out),
            Self::Sarif => sarif::write(case, findings, out),
            Self::Github => github::write(case, findings, out),
            Self::Junit => junit::write(case, findings, least, out),
            Self::Markdown => markdown::write(case, findings, out),
        }
    }

    /// Tells whether it speaks of records without findings too.
    pub const fn tells_clean(self) -> bool {
        matches!(self, Self::Jsonl | Self::Junit)
    }

    /// The first bytes that [`ReportFormat::record`] made, without what separates them from what came before. Records are
    /// rendered on many threads, and none knows whether it is the first.
    pub fn first(self, bytes: &[u8]) -> &[u8] {
        let separator: &[u8] = if self == Self::Sarif { b"," } else { b"" };
        bytes.strip_prefix(separator).unwrap_or(bytes)
    }

    /// Appends what comes after the last record.
    pub fn end(self, out: &mut Vec<u8>) {
        match self {
            Self::Sarif => sarif::end(out),
            Self::Junit => junit::end(out),
            Self::Text | Self::Short | Self::Jsonl | Self::Github | Self::Markdown => {}
        }
    }

    /// Appends what was found in all, where that is a part of the report.
    pub fn total(self, line: &Shown, out: &mut Vec<u8>) {
        if self == Self::Markdown {
            markdown::total(line, out);
        }
    }
}

/// Counts over all records of a check.
#[derive(Clone, Copy, Default, Debug)]
pub struct Totals {
    /// Number of records, broken ones included.
    pub records: u64,
    /// Number of findings of each severity, in the order of [`Severity::ALL`].
    pub findings: [u64; 4],
}

impl Totals {
    /// `60 records, 3 fatal, 5 repairable, 2 warnings, 1 note`
    pub fn line(&self) -> Shown {
        let mut line = count(self.records, "record", "records");
        for (severity, number) in Severity::ALL.into_iter().zip(self.findings).filter(|(_, number)| *number > 0) {
            let (one, many) = match severity {
                Severity::Fatal => ("fatal", "fatal"),
                Severity::Repairable => ("repairable", "repairable"),
                Severity::Warning => ("warning", "warnings"),
                Severity::Note => ("note", "notes"),
            };
            line = line.and(", ").join(&count(number, one, many));
        }
        if self.findings == [0; 4] { line.and(", no findings") } else { line }
    }
}

fn count(number: u64, one: &'static str, many: &'static str) -> Shown {
    shown!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
