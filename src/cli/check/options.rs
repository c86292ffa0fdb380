//! Options of `stepscope check`.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::filtered::FilterArgs;
use crate::cli::links::LinkWhen;
use crate::cli::options::{AnswerArgs, ShapeArgs};
use crate::cli::out::Colour;
use stepscope_record::finding::Severity;
use stepscope_report::ReportFormat;

/// Check records and print findings with their exact place
///
/// Exit code: 0 no finding at or above --fail-on, 1 findings, 2 something could not be read.
#[derive(clap::Args, Clone, Debug)]
#[command(
    override_usage = "stepscope check [OPTIONS] <PATH>...\n       stepscope check [OPTIONS] --docintel [PATH]..."
)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are bools")]
pub struct Check {
    /// Files and folders, `-` for standard input; folders are searched in path order
    #[arg(value_name = "PATH", required_unless_present = "docintel")]
    pub paths: Vec<PathBuf>,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(super) format: FormatArg,
    /// Folder for records.parquet and findings.parquet, with --format parquet
    #[arg(long, value_name = "DIR", required_if_eq("format", "parquet"), conflicts_with_all = ["summary", "merge", "expect"])]
    pub(super) out: Option<PathBuf>,
    /// Exit 1 at or above this severity; with --merge only if it is given [default: warning]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(super) fail_on: Option<FailOn>,
    /// Accept files without any line, for hooks that pass whatever changed
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Accept files of which no record has a known format, and say what each record is
    #[arg(long)]
    pub(super) allow_unknown: bool,
    /// Check each record as an answer: general, bool, gsm, gsm@1.0, arc, or a JSON Schema file
    #[arg(long, value_name = "SCHEMA")]
    pub schema: Option<String>,
    /// Check the answer in each run's state by this schema, whatever schema the record names
    #[arg(long, value_name = "SCHEMA", conflicts_with = "schema")]
    pub answer_schema: Option<String>,
    /// Accept NaN and Infinity as final numbers (`check_finite_number=False`)
    #[arg(long)]
    pub no_finite_check: bool,
    /// Folder of JSON Schemas, one per value type: NAME.json
    #[arg(long, value_name = "DIR")]
    pub schemas: Option<PathBuf>,
    /// Print counts by where-to-fix, reason and step
    #[arg(long)]
    pub summary: bool,
    /// With --format jsonl: also the charts, an object per bar or cell
    #[arg(long, requires = "summary", conflicts_with = "merge")]
    pub charts: bool,
    /// Add up the output of earlier checks (records or summaries); each record counts once, by its sha256
    #[arg(long, requires = "summary", conflicts_with_all = ["schema", "baseline", "reviewed", "expect", "filter"])]
    pub merge: bool,
    /// Shape of each JSON object
    #[command(flatten)]
    pub(super) shape: ShapeArgs,
    /// Baseline run to compare with (joined by id)
    #[arg(long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Other runs of the same questions, of any model, sample or version: says where a run leaves them
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["schema", "merge", "expect"])]
    pub peers: Vec<PathBuf>,
    /// Apply reviews: accept passed records, report failed ones
    #[arg(long, conflicts_with = "filter")]
    pub reviewed: bool,
    /// Review log for --reviewed [default: PATH.reviews.jsonl]
    #[arg(long, value_name = "LOG", requires = "reviewed")]
    pub reviews: Vec<PathBuf>,
    /// Fail when a passed item regresses: another answer, new findings, or missing
    #[arg(long, value_name = "LOG", conflicts_with_all = ["reviewed", "summary", "schema", "baseline", "filter"])]
    pub expect: Option<PathBuf>,
    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
    /// Links from places to their files (OSC 8)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = LinkWhen::Auto)]
    pub(crate) links: LinkWhen,
}

impl Check {
    /// Returns the output format.
    pub const fn format(&self) -> ReportFormat {
        match self.format {
            FormatArg::Text => ReportFormat::Text,
            FormatArg::Short => ReportFormat::Short,
            // Tables are made of the same lines.
            FormatArg::Jsonl | FormatArg::Parquet => ReportFormat::Jsonl,
            FormatArg::Sarif => ReportFormat::Sarif,
            FormatArg::Github => ReportFormat::Github,
            FormatArg::Junit => ReportFormat::Junit,
            FormatArg::Markdown => ReportFormat::Markdown,
        }
    }

    /// Tells whether a file of which no record is understood is a failure.
    pub(super) fn refuses_unknown(&self) -> bool {
        !self.allow_unknown && !self.merge && self.fails_on(Some(Severity::Fatal))
    }

    /// Tells whether a gravest finding of this severity makes the exit code 1.
    pub(crate) fn fails_on(&self, worst: Option<Severity>) -> bool {
        worst.zip(self.least()).is_some_and(|(worst, least)| worst <= least)
    }

    /// Returns the lightest severity that makes the exit code 1.
    pub(super) fn least(&self) -> Option<Severity> {
        // Sums were never a reason to fail, if nobody asks for it.
        match self.fail_on.unwrap_or(if self.merge { FailOn::Never } else { FailOn::Warning }) {
            FailOn::Fatal => Some(Severity::Fatal),
            FailOn::Repairable => Some(Severity::Repairable),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Note => Some(Severity::Note),
            FailOn::Never => None,
        }
    }
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FormatArg {
    /// Source excerpt with a caret, like a compiler
    Text,
    /// One line per finding: path:line:column: severity[rule] message (pointer)
    Short,
    /// One JSON object per record
    Jsonl,
    /// Two Parquet tables in the folder --out: records and findings
    Parquet,
    /// SARIF 2.1.0 for code hosts and editors
    Sarif,
    /// Annotations in the log of GitHub's CI
    Github,
    /// JUnit XML: a test case per record, which fails by --fail-on
    Junit,
    /// A list for the summary of a CI job or a comment
    Markdown,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailOn {
    Fatal,
    Repairable,
    Warning,
    Note,
    Never,
}
