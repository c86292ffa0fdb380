//! The commands that need no screen. They print what `core` renders; exit codes are 0 (clean), 1 (findings),
//! 2 (something could not be done, said on standard error) and 3 (a model's server failed, or a run ended early).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use stepscope_base::guard::strike;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::finding::Severity;
use stepscope_core::record::types::use_types;
use stepscope_core::report::ReportFormat;
use stepscope_core::review::hide::Hidden;
use stepscope_io::config::Folders;
use stepscope_io::config::types;
use stepscope_io::failure::Failure;
use stepscope_io::source::answers::AnswerStore;
use stepscope_io::source::input::{Expand, expand};

mod ask;
mod check;
mod compare;
mod models;
mod order;
mod out;
mod pick;
mod print;
mod repair;
mod rerun;
mod review;
mod run;
mod show;
mod verify;

pub use ask::ModelFlags;
pub use out::{Out, tell_panics};
pub use print::{KeyRow, Keys};
pub use review::Who;
pub use verify::{Judge, Verify};

/// Nothing to complain of.
pub const CLEAN: u8 = 0;
/// Findings at or above the severity that was asked for.
pub const FOUND: u8 = 1;
/// Something could not be read, written or understood.
pub const FAILED: u8 = 2;
/// The model's server failed, or a run ended as upstream's would.
pub(crate) const UNANSWERED: u8 = 3;

/// See why a language model's run went wrong: procedures, global state step by step, diagnostics at the exact key.
///
/// The name of a command opens no file: for a file called `check`, write ./check.
#[derive(Parser, Debug)]
#[command(name = "stepscope", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    screen: ScreenArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Opening the screen.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ScreenArgs {
    /// Files and folders to open, `-` for standard input; without any, the sample runs
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Baseline records of the same questions, joined by id: where both agree against gold, gold is suspect
    #[arg(long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Begins with the comparison
    #[arg(skip)]
    pub compare: bool,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// Theme: dark, light, high-contrast, mono, or a name or path of your own
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Folder of config.toml and your own themes and schemas
    #[arg(long, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,
    /// The file that forks are kept in, instead of one beside the file of their parent: FILE.forks.jsonl
    #[arg(long, value_name = "FILE")]
    pub forks: Option<PathBuf>,
    /// Folder of JSON Schemas, one a type of values in typed answers: NAME.json
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
pub struct Reviewing {
    /// The journal of verdicts; without it, PATH.reviews.jsonl. Of several the first is written, all are read
    #[arg(long, value_name = "JOURNAL")]
    pub reviews: Vec<PathBuf>,
    /// Who judges
    #[command(flatten)]
    pub who: Who,
    /// Begin with the queue: errors first, then fatal, flagged, ungrounded, other than the baseline, the rest
    #[arg(long)]
    pub queue: bool,
    /// Mix the queue, the same way for the same seed
    #[arg(long, value_name = "SEED")]
    pub shuffle: Option<u64>,
    /// Of the records that nothing is known against, look at only this part, chosen by chance: 0.1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub clean_share: Option<f64>,
    /// At the end show this part of the judged records again, to see how far you agree with yourself: 0.05
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub repeat: f64,
    /// Hide until the verdict: gold, baseline, triage, confidence, model
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = hidden)]
    pub hide: Vec<Hidden>,
}

impl Reviewing {
    /// Whether an option asks for a review: a run is debugged without one.
    pub fn begins(&self) -> bool {
        let is_queued = self.queue || self.shuffle.is_some() || self.clean_share.is_some() || self.repeat > 0.0;
        is_queued || !self.reviews.is_empty() || !self.hide.is_empty() || self.who.is_named()
    }
}

fn share(word: &str) -> Result<f64, &'static str> {
    word.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or("it is a part from 0 to 1, as in 0.1")
}

fn hidden(word: &str) -> Result<Hidden, &'static str> {
    Hidden::from_word(word).ok_or("it is gold, baseline, triage, confidence or model")
}

/// Where typed answers and what they cite are to be found.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct AnswerArgs {
    /// The document that answers cite where they name none: lines as .parquet, .jsonl, .txt or .md, or a folder of tables
    #[arg(long, value_name = "FILE")]
    pub document: Option<PathBuf>,
    /// Also open the usual folder of docintel: `$DOCINTEL_OUTPUT_DIR`, else ~/.docintel/output
    #[arg(long)]
    pub docintel: bool,
}

impl AnswerArgs {
    /// These paths, and the usual folder where that was asked for.
    pub fn with(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let usual = AnswerStore::usual_root().filter(|_| self.docintel);
        paths.iter().cloned().chain(usual).collect()
    }

    fn expand(&self, paths: &[PathBuf]) -> Result<Expand, Failure> {
        let inputs = expand(&self.with(paths));
        match &self.document {
            Some(document) => inputs.with_document(document),
            None => Ok(inputs),
        }
    }
}

/// What to do instead of opening the screen.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Check records and print what is wrong, at the exact key
    ///
    /// Exit code: 0 nothing at or above --fail-on, 1 findings that are, 2 something could not be read.
    Check(Check),
    /// Print one record: question, steps, values, findings
    Show(Show),
    /// List the model servers that answer on this machine, and their models
    ///
    /// Asks the customary ports of this machine and nobody else; with --url, --backend or --profile that server alone.
    /// Exit code: 0 listed, 2 something is wrong with the settings, 3 no server answered.
    Models(Box<models::Models>),
    /// Run a procedure against a model, step by step as evoproc-procedures does, and print the final state
    ///
    /// Exit code: 0 done, 2 something could not be read, 3 the run ended early: a reply that upstream's runner does not
    /// take, an input that no step gives, or a server that failed.
    Run(Box<run::Run>),
    /// Ask one step of a recorded run again, and print what becomes of the run as a forked record
    ///
    /// Exit code: 0 done, 1 the fork has findings, 2 something could not be done, 3 the server failed or its reply could
    /// not be used.
    Rerun(Box<rerun::Rerun>),
    /// Mend a procedure: ask a model with upstream's repair prompt until the validator is silent, or do without one
    ///
    /// Exit code: 0 no diagnostics are left, 1 some are, 2 something could not be done, 3 the server failed.
    Repair(Box<repair::Repair>),
    /// Judge completions by a verifier and print their rewards, one JSON object a record
    ///
    /// Exit code: 0 all passed, 1 some failed or could not be scored, 2 something could not be read or used, or nothing
    /// could be scored.
    #[command(after_long_help = verify::HELP)]
    Verify(Verify),
    /// Compare two runs of the same questions: joined by id, else by question
    ///
    /// B is the baseline: an item that B has right and A has not is a regression. Exit code: 0, 1 with
    /// --fail-on-regression and a regression, 2 something could not be read, or with --fail-on-regression nothing could
    /// be compared.
    Compare(compare::Compare),
    /// Save, list, export and compare the verdicts of people
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// List the rules, or explain one with an example
    Rules {
        /// A rule's id, such as procedure/unused
        id: Option<String>,
    },
    /// Print the table of keys
    Keys,
    /// Print a JSON Schema: of a trace, a review, an answer, or a type of values
    Schema {
        /// Its name; without one, the names are listed
        name: Option<String>,
    },
    /// Print shell completions
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
}

/// `stepscope check`.
#[derive(clap::Args, Clone, Debug)]
pub struct Check {
    /// Files and folders, `-` for standard input; folders are searched in path order
    #[arg(value_name = "PATH", required_unless_present = "docintel")]
    pub paths: Vec<PathBuf>,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    format: FormatArg,
    /// The least severity that makes the exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Warning)]
    fail_on: FailOn,
    /// Take each record as an answer object of this schema: general, bool, gsm, arc, or a file with a JSON Schema
    #[arg(long, value_name = "SCHEMA")]
    pub schema: Option<String>,
    /// Folder of JSON Schemas, one a type of values in typed answers: NAME.json
    #[arg(long, value_name = "DIR")]
    pub schemas: Option<PathBuf>,
    /// Print a board instead, as text or jsonl: where the wrong runs are to be fixed, by which argument, in which step
    #[arg(long)]
    pub summary: bool,
    /// Baseline records of the same questions, joined by id: where both agree against gold, gold is suspect
    #[arg(long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Take in what people said: what they passed is accepted as it is, what they failed is a finding
    #[arg(long)]
    pub reviewed: bool,
    /// The journal for --reviewed; without it, PATH.reviews.jsonl
    #[arg(long, value_name = "JOURNAL", requires = "reviewed")]
    pub reviews: Vec<PathBuf>,
    /// Take a journal as a regression set: 1 when what people passed has another answer, new findings, or is gone
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["reviewed", "summary", "schema", "baseline"])]
    pub expect: Option<PathBuf>,
    /// How many threads; without it, as many as there are cores
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
}

impl Check {
    /// How to print.
    pub const fn format(&self) -> ReportFormat {
        match self.format {
            FormatArg::Text => ReportFormat::Text,
            FormatArg::Short => ReportFormat::Short,
            FormatArg::Jsonl => ReportFormat::Jsonl,
            FormatArg::Sarif => ReportFormat::Sarif,
        }
    }

    /// Whether a gravest finding makes the exit code 1.
    pub(crate) fn fails_on(&self, worst: Option<Severity>) -> bool {
        let least = match self.fail_on {
            FailOn::Fatal => Severity::Fatal,
            FailOn::Repairable => Severity::Repairable,
            FailOn::Warning => Severity::Warning,
            FailOn::Note => Severity::Note,
            FailOn::Never => return false,
        };
        worst.is_some_and(|worst| worst <= least)
    }
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum FormatArg {
    /// The place in the record with a caret, as a compiler does
    Text,
    /// One line a finding: path:line:column: severity[rule] message (pointer)
    Short,
    /// One JSON object a record
    Jsonl,
    /// SARIF 2.1.0 for code hosts and editors
    Sarif,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum FailOn {
    Fatal,
    Repairable,
    Warning,
    Note,
    Never,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `stepscope show`.
#[derive(clap::Args, Clone, Debug)]
pub struct Show {
    /// The file (or folder) that holds the record
    #[arg(value_name = "PATH", required_unless_present = "docintel")]
    pub paths: Vec<PathBuf>,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    #[command(flatten)]
    pick: pick::Pick,
    /// Only this step, counted from 1: what it reads, does and writes
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Print the exact prompt that upstream sends for the step
    #[arg(long, requires = "step")]
    pub prompt: bool,
    /// Also print the global state before and after each step
    #[arg(long)]
    pub state: bool,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Invocation {
    /// To open the screen.
    Screen(Box<ScreenArgs>),
    /// One of the commands.
    Command(Box<Command>),
}

/// Understands the command line. `Err`: it was help, the version or a mistake; that is printed, and this is the exit
/// code.
pub fn parse(arguments: impl IntoIterator<Item = OsString>, out: &mut Out) -> Result<Invocation, u8> {
    let arguments = order::commands_first(arguments, &Arguments::command());
    // Behind it stand paths and nothing else.
    let paths_alone = arguments.iter().any(|argument| argument == "--");
    match Arguments::try_parse_from(arguments) {
        Ok(Arguments { command: Some(Command::Compare(compare)), .. }) if compare.on_screen() => {
            Ok(Invocation::Screen(Box::new(compare.screen())))
        }
        Ok(Arguments { command: Some(command), .. }) => Ok(Invocation::Command(Box::new(command))),
        Ok(Arguments { screen, .. }) => {
            let unknown = order::unknown_command(&screen.paths, &Arguments::command());
            if let Some(sentence) = unknown.filter(|_| !paths_alone) {
                out.complain(&sentence);
                return Err(FAILED);
            }
            Ok(Invocation::Screen(Box::new(screen)))
        }
        Err(error) if error.use_stderr() => {
            // The message quotes arguments, and a file name may hold anything.
            out.complain(&Shown::prose(error.render().to_string().trim_end().as_bytes()));
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

/// Does what was asked. The exit code.
pub fn run(command: &Command, keys: &Keys<'_>, out: &mut Out) -> u8 {
    strike("command");
    match command {
        Command::Check(check) if knows_types(check.schemas.as_deref(), out) => check::run(check, out),
        Command::Show(show) if knows_types(None, out) => show::run(show, out),
        Command::Verify(options) => verify::run(options, out),
        Command::Compare(compare) if knows_types(None, out) => compare::run(compare, out),
        Command::Review(review) if knows_types(None, out) => review::run(review, out),
        Command::Models(options) => models::run(options, out),
        Command::Run(options) => run::run(options, out),
        Command::Repair(options) if knows_types(None, out) => repair::run(options, out),
        Command::Rerun(options) if knows_types(None, out) => rerun::run(options, out),
        Command::Check(_)
        | Command::Show(_)
        | Command::Compare(_)
        | Command::Review(_)
        | Command::Repair(_)
        | Command::Rerun(_) => FAILED,
        Command::Rules { id } => print::rules(id.as_deref(), out),
        Command::Keys => print::keys(keys, out),
        Command::Schema { name } => print::schema(name.as_deref(), out),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "stepscope", &mut text);
            out.write(&text);
            CLEAN
        }
    }
}

/// Takes the user's types of values into use; `false`: they cannot be used, and that was said.
fn knows_types(named: Option<&Path>, out: &mut Out) -> bool {
    let registry = types::read_all(Folders::find(None).config.as_deref(), named);
    match registry {
        Ok(registry) => use_types(registry),
        Err(failure) => {
            out.complain(&shown!("{failure}"));
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(asked(&["stepscope", "compare", "a", "b", "--screen", "--cell", "both"]).is_err());
    }
}
