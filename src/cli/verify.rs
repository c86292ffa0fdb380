//! `stepscope verify`: rewards of completions, recomputed.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use super::tables::Tables;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::options::ShapeArgs;
use crate::cli::options::TableArgs;
use crate::cli::options::threads;
use crate::cli::out::Out;
use stepscope_arithmetic::number::near;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::verify::Verifier;
use stepscope_io::config::verifiers::{KINDS, Spec, VerifierChoice, judge};
use stepscope_io::pipeline::verify::{MAX_OUTPUT, VerifyCounts, verify};
use stepscope_io::source::input::expand;
use stepscope_record::finding::grouped;
use stepscope_report::tables::VERIFIED;

/// Part of `verify --help` about results and the files that are read.
pub(super) const HELP: &str = "\
Results are those of the Python package halo-forge, in input order:
  {\"success\":true,\"reward\":1.0,\"details\":\"...\",\"error\":null,\"metadata\":{}}
A record with a `reward` of its own gets it back as metadata.recorded_reward. A record that cannot be scored (no
completion, no JSON) has \"reward\":null, its error says why, and it is in no mean.

Verifiers: json_structure, json_schema, regex_format, bleu, or a chain of them in a TOML file:
  [[stage]]                            a verifier with its options; the first that fails ends it
  verifier = \"json_schema\"
  schema = \"answer.schema.json\"        next to this file; or the schema itself as a table
  partial_credit = true
  weight = 0.7                         without weights each stage counts alike

  [[stage]]
  verifier = \"polite\"                  a name from below
  weight = 0.3

  [verifiers.polite]                   also by itself: --verifier polite --verifiers FILE
  verifier = \"regex_format\"
  pattern = \"(?i)please\"

Options: json_schema: schema, partial_credit; regex_format: pattern, full_match, partial_credit;
bleu: references, references_file, references_field, threshold, effective_order; chained: stages.

Examples:
  stepscope verify cycle_3_verified.jsonl --verifier json_schema --schema answer.schema.json
  stepscope verify out.jsonl --verifier regex_format --pattern 'Answer: (\\d+)' --field output.text
  stepscope verify out.jsonl --verifier bleu --references-field reference --threshold 0.5
  stepscope verify - --chain chain.toml < samples.jsonl";

/// Members that a printed object can have.
const MEMBERS: &[&str] =
    &["success", "reward", "details", "error", "metadata.*", "line", "id", "sha256", "rules", "record.*"];

/// Kind of a verifier that consists of others.
const CHAIN: &str = "chained";

/// Score completions with a verifier; print rewards as JSON lines
///
/// Exit code: 0 all passed, 1 some failed or could not be scored, 2 something could not be read or used, or nothing
/// could be scored.
#[derive(clap::Args, Clone, Debug)]
pub struct Verify {
    /// Files and folders, `-` for standard input; folders are searched in path order
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    judge: Judge,
    #[command(flatten)]
    columns: TableArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = VerifyFormat::Jsonl)]
    format: VerifyFormat,
    /// Folder for results.parquet, with --format parquet
    #[arg(long, value_name = "DIR", required_if_eq("format", "parquet"))]
    out: Option<PathBuf>,
    /// What makes the exit code 1
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = VerifyFailOn::Failed)]
    fail_on: VerifyFailOn,
    #[command(flatten)]
    shape: ShapeArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum VerifyFormat {
    /// One JSON object per record
    Jsonl,
    /// A Parquet table in the folder --out: results
    Parquet,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum VerifyFailOn {
    /// A completion that failed or could not be scored
    Failed,
    /// Nothing that a record holds: for pipelines, where one bad record must not end a job
    Never,
}

/// What to judge completions by.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Verifier")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Judge {
    /// `json_structure`, `json_schema`, `regex_format`, `bleu`, or a name from --verifiers
    #[arg(long, value_name = "NAME")]
    verifier: Option<String>,
    /// TOML file with named verifiers
    #[arg(long, value_name = "FILE", requires = "verifier")]
    verifiers: Option<PathBuf>,
    /// TOML file with a chain of verifiers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verifier", "verifiers"])]
    chain: Option<PathBuf>,
    /// Field with the completion: key, dotted keys, or JSON pointer
    #[arg(long, value_name = "FIELD", default_value = "completion")]
    pub field: String,
    /// `json_schema`: JSON Schema file (draft 4 to 2020-12, by its `$schema`)
    #[arg(long, value_name = "FILE", requires = "verifier")]
    schema: Option<String>,
    /// `json_schema`: JSON that breaks the schema scores 0, not 0.5
    #[arg(long, requires = "verifier", conflicts_with = "partial_credit")]
    no_partial_credit: bool,
    /// `regex_format`: pattern, in the syntax of Python's re
    #[arg(long, value_name = "PATTERN", requires = "verifier", allow_hyphen_values = true)]
    pattern: Option<String>,
    /// `regex_format`: match the whole completion
    #[arg(long, requires = "verifier")]
    full_match: bool,
    /// `regex_format`: partial match scores 0.5
    #[arg(long, requires = "verifier")]
    partial_credit: bool,
    /// `bleu`: reference; may be repeated
    #[arg(long, value_name = "TEXT", requires = "verifier", allow_hyphen_values = true)]
    reference: Vec<String>,
    /// `bleu`: file of references, a JSON list or one per line
    #[arg(long, value_name = "FILE", requires = "verifier")]
    references: Option<PathBuf>,
    /// `bleu`: field with the record's own reference or references
    #[arg(long, value_name = "FIELD", requires = "verifier")]
    references_field: Option<String>,
    /// `bleu`: pass threshold [default: 0.3]
    #[arg(long, value_name = "SCORE", requires = "verifier")]
    threshold: Option<f64>,
    /// `bleu`: leave out the orders that a short text has no words for, as sacrebleu's `sentence_bleu` does; otherwise
    /// all four count, as in halo-forge, and a text of fewer than four tokens gets 0
    #[arg(long, requires = "verifier", overrides_with = "no_effective_order")]
    effective_order: bool,
    /// `bleu`: count all four orders; this is the default
    #[arg(long, requires = "verifier", hide = true)]
    no_effective_order: bool,
}

impl Judge {
    /// Checks that the verifier is a known one, where no file names others. A chain is asked for by its file.
    fn check_name(&self) -> Result<(), Shown> {
        let Some(name) = self.verifier.as_deref().filter(|_| self.verifiers.is_none()) else { return Ok(()) };
        let single: Vec<&str> = KINDS.into_iter().filter(|kind| *kind != CHAIN).collect();
        let all = single.join(", ");
        match name {
            _ if single.contains(&name) => Ok(()),
            CHAIN => Err(Shown::own("a chain needs a file with its stages: --chain FILE")),
            _ => Err(shown!("unknown verifier \"{}\" (available: {all})", Shown::line(name.as_bytes()))),
        }
    }

    /// Returns the verifier that was asked for, if any was.
    pub fn wanted(&self) -> Option<VerifierChoice> {
        if let Some(chain) = &self.chain {
            return Some(VerifierChoice::Chain(chain.clone()));
        }
        let spec = Spec {
            verifier: self.verifier.clone()?,
            schema: self.schema.clone().map(Into::into),
            partial_credit: match (self.partial_credit, self.no_partial_credit) {
                (false, false) => None,
                (yes, _) => Some(yes),
            },
            pattern: self.pattern.clone(),
            full_match: self.full_match.then_some(true),
            references: self.reference.clone(),
            references_file: self.references.clone(),
            references_field: self.references_field.clone(),
            threshold: self.threshold,
            effective_order: match (self.effective_order, self.no_effective_order) {
                (false, false) => None,
                (yes, _) => Some(yes),
            },
            ..Spec::default()
        };
        Some(VerifierChoice::Verifier(Box::new(spec), self.verifiers.clone()))
    }
}

pub(super) fn run(options: &Verify, out: &mut Out) -> Result<u8, Shown> {
    let wanted = options.judge.wanted().ok_or(Shown::own("choose a verifier: --verifier NAME or --chain FILE"))?;
    options.judge.check_name()?;
    let judge = judge(&wanted, &options.judge.field)?;
    if let Verifier::Chained(chain) = &judge.verifier {
        let sum: f64 = chain.stages().iter().map(|stage| stage.weight).sum();
        if !near(sum, 1.0) {
            out.complain(&shown!("the weights of the chain add up to {sum}, not 1, and so may its rewards"));
        }
    }
    let shape = options.shape.shape(MEMBERS)?;
    let parquet = options.format == VerifyFormat::Parquet;
    let mut tables = Tables::begin(options.out.as_deref(), (parquet, &options.shape), VERIFIED, &options.paths)?;
    let inputs = expand(&options.paths).with_columns(options.columns.map()?);
    let outcome = verify(inputs, threads(options.jobs), &judge, &shape, |lines| {
        if let Some(tables) = &mut tables {
            return tables.take(lines);
        }
        out.write(lines);
        if out.is_closed() { Err(Error::from(ErrorKind::BrokenPipe)) } else { Ok(()) }
    });
    out.flush();
    out.complain_of(outcome.notes.iter().map(|(name, note)| shown!("{name}: {note}")));
    out.complain_of(outcome.failures.iter().map(Shown::from));
    if let Some(tables) = tables {
        tables.end(out)?;
    }
    let counts = &outcome.counts;
    if counts.unprinted > 0 {
        out.complain(&shown!(
            "results of {} more records counted but not printed: the output would exceed {MAX_OUTPUT} times the input",
            grouped(counts.unprinted as usize)
        ));
    }
    if counts.records == 0 && outcome.failures.is_empty() && !out.is_closed() && !is_empty_input(options, counts) {
        out.complain(&Shown::own("nothing to score: no records found"));
        // Engines have empty partitions, in files too.
        return Ok(if options.fail_on == VerifyFailOn::Never && is_blank(counts) { CLEAN } else { FAILED });
    }
    if counts.records > 0 && !out.is_closed() {
        out.complain(&summary(counts));
        if counts.scored() == 0 {
            out.complain(&Shown::own("nothing could be scored; the field \"error\" of each line says why"));
        }
    }
    Ok(match () {
        () if !outcome.failures.is_empty() => FAILED,
        () if options.fail_on == VerifyFailOn::Never => CLEAN,
        () if counts.records > 0 && counts.scored() == 0 => FAILED,
        () if counts.passed < counts.records => FOUND,
        () => CLEAN,
    })
}

/// Tells whether standard input alone was read and held nothing at all, as after a search without a hit.
fn is_empty_input(options: &Verify, counts: &VerifyCounts) -> bool {
    options.paths.iter().all(|path| path.as_os_str() == "-") && is_blank(counts)
}

/// Tells whether nothing at all was there to be read, not even a part of a record.
const fn is_blank(counts: &VerifyCounts) -> bool {
    counts.skips.cut.is_none() && counts.skips.nul == 0
}

/// Summarizes the results in a line.
fn summary(counts: &VerifyCounts) -> Shown {
    let (VerifyCounts { records, passed, .. }, scored) = (counts, counts.scored());
    let word = if *records == 1 { "record" } else { "records" };
    let mut line = shown!("{records} {word}, {passed} passed, {} failed", scored - passed);
    if counts.not_judged > 0 {
        line = line.join(&shown!(", {} not scored", counts.not_judged));
    }
    if scored > 0 {
        line = line.join(&shown!("; mean reward {:.4}", counts.reward / scored as f64));
    }
    if counts.recorded > 0 {
        line = line.join(&shown!("; {} of {} recorded rewards differ", counts.differ, counts.recorded));
    }
    if counts.skips.total() > 0 {
        line = line.and("; ").join(&counts.skips.phrase(*records));
    }
    line
}
