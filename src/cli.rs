//! The commands that need no screen. They print what `core` renders; exit codes are 0 (clean), 1 (findings),
//! 2 (something could not be done, said on standard error) and 3 (a model's server failed, or a run ended early).

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::{CommandFactory as _, Parser, Subcommand};

use stepscope_base::guard::strike;
use stepscope_base::text::Shown;
use stepscope_io::config::Folders;
use stepscope_io::config::types;

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
mod linear;
mod links;
mod man;
mod models;
mod namesakes;
mod options;
mod order;
mod out;
mod peer_args;
mod pick;
mod print;
mod repair;
mod rerun;
mod review;
mod run;
mod screen;
mod show;
mod tables;
mod values;
mod variables;
mod verify;

pub use ask::ModelFlags;
pub use check::options::Check;
pub use codes::{CLEAN, FAILED, FOUND};
pub use config::CheckSettings;
pub use demo::DemoArgs;
pub use export::Draw;
pub use linear::run as read_by_line;
pub use options::{AnswerArgs, ListFormat, TableArgs};
pub use out::{Colour, Out, tell_panics};
pub use print::{KeyRow, ScreenLists};
pub use review::logs::Who;
pub use screen::{NO_SCREEN, Reviewing, ScreenArgs};
pub use show::Show;
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

/// Action that the command line asks for.
#[derive(Clone, Debug)]
pub enum Invocation {
    /// Opens the screen.
    Screen(Box<ScreenArgs>),
    /// Reads and reviews line by line.
    Linear(Box<ScreenArgs>),
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
            let screen = Box::new(screen);
            Ok(if screen.linear || out.is_dumb() { Invocation::Linear(screen) } else { Invocation::Screen(screen) })
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
        Command::Keys { .. } if cfg!(not(feature = "screen")) => Err(Shown::own(NO_SCREEN)),
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
        Command::Doctor(options) => Ok(config::doctor(options, check_settings, lists.clipboard, out)),
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
    use stepscope_judge::hide::Hidden;

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
