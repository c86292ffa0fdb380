//! The commands that need no screen. They print what `core` renders; exit codes are 0 (clean), 1 (findings),
//! 2 (something could not be done, said on standard error) and 3 (a model's server failed, or a run ended early).

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use stepscope_base::guard::strike;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::closest;
use stepscope_io::config::Folders;
use stepscope_io::config::types;
use stepscope_io::failure::Failure;
use stepscope_io::source::answers::AnswerStore;
use stepscope_io::source::column_map::ColumnMap;
use stepscope_io::source::input::{Expand, expand};
use stepscope_io::source::maps::RowMap;
use stepscope_judge::hide::Hidden;
use stepscope_record::finding::Severity;
use stepscope_record::formats::KEYS;
use stepscope_report::ReportFormat;
use stepscope_report::fields::Fields;
use stepscope_report::jsonl::LineShape;
use stepscope_review::queue::Assignment;

mod ask;
mod check;
mod codes;
mod compare;
mod completions;
mod config;
mod create;
mod demo;
mod export;
mod filtered;
mod help;
mod links;
mod man;
mod models;
mod namesakes;
mod order;
mod out;
mod pick;
mod print;
mod repair;
mod rerun;
mod review;
mod run;
mod show;
mod tables;
mod values;
mod variables;
mod verify;

pub use ask::ModelFlags;
pub(crate) use codes::UNANSWERED;
pub use codes::{CLEAN, FAILED, FOUND};
pub use config::CheckSettings;
pub use demo::DemoArgs;
pub use export::Draw;
pub use out::{Colour, Out, tell_panics};
pub use print::{KeyRow, ScreenLists};
pub use review::Who;
pub use verify::{Judge, Verify};

/// Debug, review and compare LLM runs in the terminal
///
/// To open a file named like a command, write ./check.
#[derive(Parser, Debug)]
#[command(name = "stepscope", version, max_term_width = 100, help_template = help::TEMPLATE)]
struct Arguments {
    #[command(flatten)]
    screen: ScreenArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Opening the screen.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ScreenArgs {
    /// Files and folders, `-` for standard input [default: the sample runs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Baseline run to compare with (joined by id)
    #[arg(long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Other runs of the same questions, of any model, sample or version: findings say where a run leaves them
    #[arg(long, value_name = "PATH")]
    pub peers: Vec<PathBuf>,
    /// Begins with the comparison
    #[arg(skip)]
    pub compare: bool,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// Begin with this filter, for example "correct:false steps>4" (the language of the key f)
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Open the record with this id
    #[arg(long)]
    pub id: Option<String>,
    /// Open at this step, counted from 1
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Show the program to others: strong cursor, keys shown, nothing saved
    #[arg(long, conflicts_with = "record")]
    pub present: bool,
    /// Theme: dark, light, high-contrast, mono, or your own by name or path
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Print and draw ASCII characters only [default: in a terminal whose locale is not UTF-8]
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Folder of config.toml, themes and schemas
    #[arg(long, value_name = "DIR", value_parser = values::existing_folder())]
    pub config_dir: Option<PathBuf>,
    /// File that forks are saved in [default: FILE.forks.jsonl next to the records]
    #[arg(long, value_name = "FILE")]
    pub forks: Option<PathBuf>,
    /// Folder of JSON Schemas, one per value type: NAME.json
    #[arg(long, value_name = "DIR")]
    pub schemas: Option<PathBuf>,
    /// What judges completions, shown by the key V
    #[command(flatten)]
    pub judge: Judge,
    /// Which model the keys r, R and ^R ask
    #[command(flatten)]
    pub model: ModelFlags,
    /// Reviewing by hand
    #[command(flatten)]
    pub reviewing: Reviewing,
}

/// Reviewing by hand on the screen.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reviewing")]
pub struct Reviewing {
    /// Review log [default: PATH.reviews.jsonl]; may be repeated: the first is written, all are read
    #[arg(long, value_name = "LOG")]
    pub reviews: Vec<PathBuf>,
    /// Reviewer
    #[command(flatten)]
    pub who: Who,
    /// Open as a review queue, worst first
    #[arg(long)]
    pub queue: bool,
    /// Shuffle the queue (seeded)
    #[arg(long, value_name = "SEED")]
    pub shuffle: Option<u64>,
    /// Sample this share of records without findings, for example 0.1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub clean_share: Option<f64>,
    /// Repeat this share to measure self-agreement, for example 0.05
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub repeat: f64,
    /// Review only one of several equal parts, for example 1/3: every reviewer takes another
    #[arg(long, value_name = "PART", value_parser = assignment)]
    pub assign: Option<Assignment>,
    /// Hide until your verdict: gold, baseline, triage, confidence, model
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = hidden)]
    pub hide: Vec<Hidden>,
}

impl Reviewing {
    /// Tells whether an option asks for a review: without one, a run is debugged.
    pub fn begins(&self) -> bool {
        let is_queued = self.queue || self.shuffle.is_some() || self.clean_share.is_some() || self.repeat > 0.0;
        is_queued || self.assign.is_some() || !self.reviews.is_empty() || !self.hide.is_empty() || self.who.is_named()
    }
}

fn share(word: &str) -> Result<f64, &'static str> {
    word.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or("use a share from 0 to 1, for example 0.1")
}

pub(crate) fn assignment(word: &str) -> Result<Assignment, &'static str> {
    Assignment::parse(word).ok_or("use a part of all, for example 1/3")
}

fn hidden(word: &str) -> Result<Hidden, &'static str> {
    Hidden::from_word(word).ok_or("use gold, baseline, triage, confidence or model")
}

/// Where typed answers and what they cite are to be found.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct AnswerArgs {
    /// Source document for answers that name none (.parquet, .jsonl, .txt, .md, or a folder of tables)
    #[arg(long, value_name = "FILE")]
    pub document: Option<PathBuf>,
    /// Also open the docintel output folder [default: `$DOCINTEL_OUTPUT_DIR`, ~/.docintel/output]
    #[arg(long)]
    pub docintel: bool,
    /// What belongs to tables
    #[command(flatten)]
    pub tables: TableArgs,
}

/// How the rows of tables are records.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct TableArgs {
    /// Read columns of a table (Parquet, Arrow, CSV) as these keys, for example question=prompt,answer=target
    #[arg(long, value_name = "KEY=COLUMN", value_delimiter = ',', value_parser = mapped)]
    columns: Vec<(String, String)>,
    /// Read rows of another program by a map (TOML), which says where each key of a record is
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
}

impl TableArgs {
    /// Returns the keys with their columns.
    pub fn map(&self) -> Result<ColumnMap, Failure> {
        let named_before = |n: usize, key: &str| self.columns.iter().take(n).any(|(other, _)| other == key);
        match self.columns.iter().enumerate().find(|(n, (key, _))| named_before(*n, key)) {
            Some((_, (key, _))) => {
                let source = shown!("it gives the key {} two columns; name one", Shown::line(key.as_bytes()));
                Err(Failure { what: "cannot use", path: Shown::own("--columns"), source })
            }
            None => {
                let columns = ColumnMap::new(&self.columns);
                Ok(match &self.map {
                    Some(map) => columns.with_map(RowMap::read(map)?),
                    None => columns,
                })
            }
        }
    }
}

fn mapped(word: &str) -> Result<(String, String), String> {
    let (key, column) = word.split_once('=').filter(|(_, column)| !column.is_empty()).ok_or("write KEY=COLUMN")?;
    if KEYS.contains(&key) {
        return Ok((key.to_owned(), column.to_owned()));
    }
    Err(match closest(key, KEYS.iter().copied()) {
        Some(known) => format!("unknown key \"{key}\". Did you mean \"{known}\"?"),
        None => format!("unknown key \"{key}\"; the keys are {}", KEYS.join(", ")),
    })
}

impl AnswerArgs {
    /// Returns these paths, followed by the default docintel folder if it was asked for.
    pub fn with(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let usual = AnswerStore::usual_root().filter(|_| self.docintel);
        paths.iter().cloned().chain(usual).collect()
    }

    fn expand(&self, paths: &[PathBuf]) -> Result<Expand, Failure> {
        let inputs = expand(&self.with(paths)).with_columns(self.tables.map()?);
        match &self.document {
            Some(document) => inputs.with_document(document),
            None => Ok(inputs),
        }
    }
}

/// What to do instead of opening the screen.
// The options of a command are made once its name was read: opening the screen needs none of them. With them comes the
// help at their struct; what stands here is for lists.
#[derive(Subcommand, Clone, Debug)]
#[command(defer = true)]
pub enum Command {
    /// Check records and print findings with their exact place
    #[command(hide = true)]
    Check(Check),
    /// Print one record: question, steps, values, findings
    #[command(hide = true)]
    Show(Show),
    /// Write a record as a page to send: question, verdict, steps, state, findings
    #[command(hide = true)]
    Export(Box<export::ExportArgs>),
    /// Show a tour of the program: Space for the next scene
    #[command(hide = true)]
    Demo(Box<DemoArgs>),
    /// List local model servers and their models
    #[command(hide = true)]
    Models(Box<models::Models>),
    /// Run a procedure against a model, step by step as evoproc does, and print the final state
    #[command(hide = true)]
    Run(Box<run::Run>),
    /// Create a procedure for a question, repair it and run it, as evoproc does
    #[command(hide = true)]
    Create(Box<create::Create>),
    /// Re-run a step of a recorded run; print the fork
    #[command(hide = true)]
    Rerun(Box<rerun::Rerun>),
    /// Repair a procedure, with or without a model
    #[command(hide = true)]
    Repair(Box<repair::Repair>),
    /// Score completions with a verifier; print rewards as JSON lines
    #[command(hide = true, after_long_help = verify::HELP)]
    Verify(Verify),
    /// Compare two runs of the same questions (joined by id, else by question)
    #[command(hide = true)]
    Compare(compare::Compare),
    /// Add, list, export and compare reviews
    #[command(hide = true)]
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// List the rules, or explain one with an example
    #[command(hide = true)]
    Rules {
        /// Rule id, for example procedure/unused
        id: Option<String>,
        /// Output format
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Print the table of keys
    #[command(hide = true)]
    Keys {
        /// Output format
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Print a JSON Schema: of a trace, a review, an answer, or a value type
    #[command(hide = true)]
    Schema {
        /// Schema name [default: list the names]
        name: Option<String>,
        /// Output format of the list; a schema is JSON
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// List the maps for files of other programs, print one, or try one on a file
    ///
    /// Without a fitting map, --try prints a first one, made of the names in the file. Exit code: 0 it fits, 1 it does not.
    #[command(hide = true)]
    Map {
        /// Name of a map to print [default: list them]
        #[arg(conflicts_with_all = ["file", "map"])]
        name: Option<String>,
        /// Try a map on this file: what leads where, and what is left over
        #[arg(long = "try", value_name = "FILE")]
        file: Option<PathBuf>,
        /// Map to try [default: the one that fits]
        #[arg(long, value_name = "MAP", requires = "file")]
        map: Option<PathBuf>,
    },
    /// Print the settings in force and where each comes from
    #[command(hide = true)]
    Config(config::Settings),
    /// Check terminal, folders and settings
    ///
    /// Nothing is written, and no server is asked. Exit code: 0 all fine, 1 something is wrong.
    #[command(hide = true)]
    Doctor(config::Settings),
    /// Print the manual page, for example: stepscope man | man -l -
    #[command(hide = true)]
    Man,
    /// Print shell completions
    #[command(hide = true)]
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

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
    filter: filtered::FilterArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    format: FormatArg,
    /// Folder for records.parquet and findings.parquet, with --format parquet
    #[arg(long, value_name = "DIR", required_if_eq("format", "parquet"), conflicts_with_all = ["summary", "merge", "expect"])]
    out: Option<PathBuf>,
    /// Exit 1 at or above this severity; with --merge only if it is given [default: warning]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Accept files without any line, for hooks that pass whatever changed
    #[arg(long)]
    allow_empty: bool,
    /// Accept files of which no record has a known format, and say what each record is
    #[arg(long)]
    allow_unknown: bool,
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
    shape: ShapeArgs,
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
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = links::LinkWhen::Auto)]
    pub(crate) links: links::LinkWhen,
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
    fn refuses_unknown(&self) -> bool {
        !self.allow_unknown && !self.merge && self.fails_on(Some(Severity::Fatal))
    }

    /// Tells whether a gravest finding of this severity makes the exit code 1.
    pub(crate) fn fails_on(&self, worst: Option<Severity>) -> bool {
        worst.zip(self.least()).is_some_and(|(worst, least)| worst <= least)
    }

    /// Returns the lightest severity that makes the exit code 1.
    fn least(&self) -> Option<Severity> {
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

/// What of each JSON object is printed.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ShapeArgs {
    /// Fields of each JSON object to print: id,triage.fix,findings.rule
    #[arg(long, value_name = "FIELDS")]
    fields: Option<Fields>,
    /// Add the record to its JSON object
    #[arg(long)]
    with_record: bool,
}

impl ShapeArgs {
    /// Returns the requested shape of an object that has these fields; an error names a field that it lacks.
    pub(crate) fn shape(&self, known: &[&str]) -> Result<LineShape, Shown> {
        if let Some((path, here)) = self.fields.as_ref().and_then(|fields| fields.unknown(known)) {
            let (above, name) = path.rsplit_once('.').map_or(("", path.as_str()), |(above, name)| (above, name));
            let path = Shown::line(path.as_bytes());
            return Err(match closest(name, here.iter().copied()) {
                Some(near) if above.is_empty() => shown!("unknown field \"{path}\". Did you mean \"{near}\"?"),
                Some(near) => shown!("unknown field \"{path}\". Did you mean \"{above}.{near}\"?"),
                None if above.is_empty() => shown!("unknown field \"{path}\"; the fields are {}", here.join(", ")),
                None => shown!("unknown field \"{path}\"; the fields of {above} are {}", here.join(", ")),
            });
        }
        let asks = |name| self.fields.iter().flat_map(Fields::names).any(|field| field == name);
        let mut fields = self.fields.clone();
        if let Some(fields) = fields.as_mut().filter(|_| self.with_record && !asks("record")) {
            fields.also("record");
        }
        Ok(LineShape { record: self.with_record || asks("record"), fields })
    }

    /// Tells whether any option of the shape was given.
    pub(crate) const fn is_given(&self) -> bool {
        self.with_record || self.fields.is_some()
    }
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum FormatArg {
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

/// Ways to print what a command lists or counts.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListFormat {
    /// For people
    Text,
    /// JSON lines, one object each
    Jsonl,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum FailOn {
    Fatal,
    Repairable,
    Warning,
    Note,
    Never,
}

/// Print one record: question, steps, values, findings
#[derive(clap::Args, Clone, Debug)]
#[command(override_usage = "stepscope show [OPTIONS] <PATH>...\n       stepscope show [OPTIONS] --docintel [PATH]...")]
pub struct Show {
    /// File or folder with the record
    #[arg(value_name = "PATH", required_unless_present = "docintel")]
    pub paths: Vec<PathBuf>,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    #[command(flatten)]
    pick: pick::Pick,
    #[command(flatten)]
    filter: filtered::FilterArgs,
    /// Only this step, counted from 1: what it reads, does and writes
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Print the exact prompt that evoproc sends for the step
    #[arg(long, requires = "step")]
    pub prompt: bool,
    /// Also print the global state before and after each step
    #[arg(long)]
    pub state: bool,
    #[command(flatten)]
    redact: export::RedactArgs,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
    /// Links from places to their files (OSC 8)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = links::LinkWhen::Auto)]
    pub(crate) links: links::LinkWhen,
}

/// Action that the command line asks for.
#[derive(Clone, Debug)]
pub enum Invocation {
    /// Opens the screen.
    Screen(Box<ScreenArgs>),
    /// Shows a tour, or plays it.
    Demo(Box<DemoArgs>),
    /// Runs one of the commands.
    Command(Box<Command>),
}

/// The program with the options of every command.
fn whole() -> clap::Command {
    let mut program = Arguments::command();
    program.build();
    program
}

/// Parses the command line. `Err`: it was help, the version or a mistake; that is printed, and this is the exit code.
pub fn parse(arguments: impl IntoIterator<Item = OsString>, out: &mut Out) -> Result<Invocation, u8> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if help::is_short(&arguments) {
        out.styled(help::SHORT.as_bytes());
        return Err(CLEAN);
    }
    let arguments = order::commands_first(arguments, Arguments::command);
    // Behind it stand paths and nothing else.
    let (options, paths_alone) = match arguments.iter().position(|argument| argument == "--") {
        Some(end) => (arguments.get(..end).unwrap_or_default(), true),
        None => (arguments.as_slice(), false),
    };
    let asks_ascii = options.iter().any(|option| option == help::ASCII);
    let parsed = Arguments::try_parse_from(&arguments);
    // Help and mistakes come without the options.
    out.in_ascii(parsed.as_ref().map_or(asks_ascii, |parsed| parsed.screen.ascii));
    match parsed {
        Ok(Arguments { command: Some(Command::Compare(compare)), screen }) if compare.on_screen() => {
            Ok(Invocation::Screen(Box::new(ScreenArgs { ascii: screen.ascii, ..compare.screen() })))
        }
        Ok(Arguments { command: Some(Command::Demo(demo)), screen }) => {
            Ok(Invocation::Demo(Box::new(DemoArgs { ascii: screen.ascii, ..*demo })))
        }
        Ok(Arguments { command: Some(command), .. }) => Ok(Invocation::Command(Box::new(command))),
        Ok(Arguments { screen, .. }) => {
            let unknown = order::unknown_command(&screen.paths, Arguments::command);
            if let Some(sentence) = unknown.filter(|_| !paths_alone) {
                out.complain(&sentence);
                return Err(FAILED);
            }
            Ok(Invocation::Screen(Box::new(screen)))
        }
        Err(error) if error.use_stderr() => {
            // The message quotes arguments, and a file name may hold anything.
            let message = in_words(&error);
            out.complain(&Shown::prose(message.trim_end().as_bytes()));
            Err(FAILED)
        }
        Err(help) => {
            let text = help.render();
            let text = if out.colours(Colour::Auto) { text.ansi().to_string() } else { text.to_string() };
            out.styled(text.as_bytes());
            Err(CLEAN)
        }
    }
}

/// Returns the message for a command line that was not understood, with our words where the library's speak of digits and
/// types.
fn in_words(error: &clap::Error) -> String {
    let message = error.render().to_string();
    let Some(theirs) = error.source().and_then(|source| source.downcast_ref::<ParseIntError>()) else {
        return message;
    };
    let ours = match theirs.kind() {
        IntErrorKind::Zero => "use a whole number of 1 or more",
        IntErrorKind::PosOverflow => "the number is too large",
        _ => "use a whole number",
    };
    message.replacen(&format!(": {theirs}"), &format!(": {ours}"), 1)
}

/// Runs a command and returns the exit code, or the reason why it failed.
pub fn run(
    command: &Command,
    lists: ScreenLists<'_>,
    draw: Draw<'_>,
    check_settings: CheckSettings,
    out: &mut Out,
) -> Result<u8, Shown> {
    strike("command");
    let side = match command {
        Command::Check(check) => side_data(check.schemas.as_deref()),
        Command::Show(_)
        | Command::Export(_)
        | Command::Compare(_)
        | Command::Review(_)
        | Command::Repair(_)
        | Command::Rerun(_) => side_data(None),
        _ => Ok(Arc::default()),
    };
    let side = &side?;
    match command {
        Command::Check(check) => check::run(check, side, out),
        Command::Show(show) => show::run(show, side, out),
        Command::Export(options) => export::run(options, side, draw, out),
        Command::Verify(options) => verify::run(options, out),
        Command::Compare(compare) => Ok(compare::run(compare, side, out)),
        Command::Review(review) => Ok(review::run(review, side, out)),
        Command::Models(options) => models::run(options, out),
        Command::Run(options) => run::run(options, out),
        Command::Create(options) => create::run(options, out),
        Command::Repair(options) => repair::run(options, side, out),
        Command::Rerun(options) => rerun::run(options, side, out),
        Command::Rules { id, format } => print::rules(id.as_deref(), *format, out),
        Command::Keys { format } => {
            print::keys(lists.keys, *format, out);
            Ok(CLEAN)
        }
        Command::Schema { name, format } => print::schema(name.as_deref(), *format, out),
        Command::Map { name, file, map } => match file {
            Some(file) => print::map_on(file, map.as_deref(), out).map_err(Shown::from),
            None => print::map(name.as_deref(), out),
        },
        Command::Config(options) => config::config(options, out),
        Command::Doctor(options) => Ok(config::doctor(options, check_settings, out)),
        // The screen shows it.
        Command::Demo(_) => Ok(FAILED),
        Command::Man => {
            out.write(man::page(&whole()).as_bytes());
            Ok(CLEAN)
        }
        Command::Completions { shell } => {
            out.write(completions::script(&whole(), *shell, lists.themes).as_bytes());
            Ok(CLEAN)
        }
    }
}

/// Reads the user's value types, which help to judge records.
fn side_data(named: Option<&Path>) -> Result<Arc<SideData>, Shown> {
    let types = types::read_all(Folders::find(None).config.as_deref(), named)?;
    Ok(Arc::new(SideData::knowing(Arc::new(types))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_a_number_is_told_in_our_words() {
        for (arguments, words) in [
            (&["stepscope", "--shuffle", "abc"][..], "'abc' for '--shuffle <SEED>': use a whole number\n"),
            (&["stepscope", "--shuffle", ""], "use a whole number\n"),
            (&["stepscope", "check", "x", "--jobs", "0"], ": use a whole number of 1 or more\n"),
            (&["stepscope", "export", "x", "--line", "99999999999999999999999"], ": the number is too large\n"),
            (&["stepscope", "--theme"], "a value is required"),
        ] {
            let error = Arguments::try_parse_from(arguments).unwrap_err();
            assert!(in_words(&error).contains(words), "{}", in_words(&error));
        }
    }

    #[test]
    fn the_usage_says_that_a_path_is_needed() {
        let program = whole();
        for name in ["show", "check", "export", "rerun", "repair", "verify"] {
            let usage = program.find_subcommand(name).unwrap().clone().render_usage().to_string();
            assert!(usage.contains(&format!("stepscope {name} [OPTIONS] <PATH>...")), "{usage}");
        }
    }

    #[test]
    fn how_somebody_reviews_is_asked_for_by_options() {
        let parse = |options: &[&str]| {
            let words = ["stepscope", "runs.jsonl"].iter().chain(options);
            Arguments::try_parse_from(words).map(|arguments| arguments.screen.reviewing)
        };
        let asked =
            parse(&["--hide", "gold,model", "--clean-share", "0.1", "--shuffle", "7", "--reviewer", "ada"]).unwrap();
        assert_eq!(
            (asked.hide, asked.clean_share, asked.shuffle),
            (vec![Hidden::Gold, Hidden::Model], Some(0.1), Some(7))
        );
        assert_eq!(asked.who.reviewer().id, *"ada");
        for wrong in [["--hide", "answer"], ["--clean-share", "2"], ["--repeat", "-1"], ["--shuffle", "x"]] {
            assert!(parse(&wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_comparison_can_be_opened_on_the_screen() {
        let asked = |words: &[&str]| parse(words.iter().map(OsString::from), &mut Out::new());
        let Ok(Invocation::Screen(screen)) = asked(&["stepscope", "compare", "a.jsonl", "b.jsonl", "--screen"]) else {
            panic!("it is no screen")
        };
        assert_eq!((screen.paths, screen.baseline), (vec!["a.jsonl".into()], Some("b.jsonl".into())));
        assert!(screen.compare);
        let Ok(Invocation::Command(command)) = asked(&["stepscope", "compare", "a", "b"]) else {
            panic!("it is no command")
        };
        assert!(matches!(*command, Command::Compare(_)));
        // It counts all items, so that it takes neither cells nor a filter.
        for (option, value) in [("--cell", "both"), ("--filter", "correct:false")] {
            assert!(asked(&["stepscope", "compare", "a", "b", "--screen", option, value]).is_err(), "{option}");
        }
    }
}
