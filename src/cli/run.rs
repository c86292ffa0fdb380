//! `stepscope run`: a whole procedure, step by step, as evoproc runs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::ask::{Request, Sampling, Sending, step_line, why_ended};
use crate::cli::codes::{CLEAN, UNANSWERED};
use crate::cli::out::Out;
use crate::cli::values::{MAX_QUESTION, MAX_SCHEMA, source_name};
use stepscope_base::json::write::Letters;
use stepscope_base::json::{MAX_TEXT, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::machine::Machine as _;
use stepscope_execution::prompt::AnswerShape;
use stepscope_execution::runner::dumped;
use stepscope_execution::whole::WholeRun;
use stepscope_io::log::now;
use stepscope_io::source::open::read_whole;
use stepscope_record::schemas::GSM_1_0;
use stepscope_record::{AnswerSchema, formats};

/// Run a procedure against a model, step by step as evoproc does, and print the final state
///
/// Exit code: 0 done, 2 something could not be read, 3 the run ended early: a reply that evoproc's runner rejects,
/// an input that no step produces, or a server that failed. Ctrl-C ends it early too, with 130; `--format trace` then
/// prints the steps that are done.
#[derive(clap::Args, Clone, Debug)]
pub struct Run {
    /// File with the procedure, or with a record that holds one; `-` for standard input
    #[arg(value_name = "PROCEDURE")]
    procedure: PathBuf,
    /// Question, the value of `problem_text`
    #[arg(long, value_name = "TEXT", conflicts_with = "question_file")]
    question: Option<OsString>,
    /// File with the question, used byte for byte
    #[arg(long, value_name = "FILE")]
    question_file: Option<PathBuf>,
    /// Schema of the last step: general, bool, gsm, arc, or a JSON Schema file [default: the record's, else general]
    #[arg(long, value_name = "SCHEMA")]
    answer_schema: Option<String>,
    /// Continue when a reply lacks a required key (evoproc stops)
    #[arg(long)]
    lenient: bool,
    /// Take replies in a code fence, within other text, after thoughts or with a trailing comma (evoproc stops)
    #[arg(long)]
    tolerant: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = RunFormat::State)]
    format: RunFormat,
    /// Print errors only, and which files are sent where
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    ask: Sending,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum RunFormat {
    /// Final global state as JSON
    State,
    /// Run record with every request and reply
    Trace,
}

pub(super) fn run(options: &Run, out: &mut Out) -> Result<u8, Shown> {
    options.ask.check()?;
    let text = read_whole(&options.procedure, MAX_TEXT as u64)?;
    let mut tape = Tape::default();
    let root = parsed(&mut tape, &text, &options.procedure)?;
    let record = formats::read(root);
    let procedure = record.procedure.filter(|procedure| !procedure.is_null());
    let procedure =
        procedure.ok_or_else(|| shown!("cannot run {}: it holds no procedure", Shown::path(&options.procedure)))?;
    let question = question_of(options, root)?;
    let named = schema_of(options.answer_schema.as_deref())?;
    let mut schema_tape = Tape::default();
    let shape = match &named {
        None => AnswerShape::of(&record),
        Some(Named::Published(schema)) => AnswerShape::Published(*schema),
        Some(Named::Own(text)) => AnswerShape::Own(parsed(&mut schema_tape, text, Path::new("the schema"))?),
    };
    let run = WholeRun::new(procedure, question, shape, options.lenient);
    let mut run = run.map_err(|why| Shown::error(&why))?;
    run.is_tolerant = options.tolerant;
    // Where nothing goes out, nobody needs to be asked.
    let Some(first) = run.question() else { return Ok(finished(options, &run, out)) };
    let (sampling, steps) = (options.sampling.steps(), run.steps());
    let request = Request {
        what: if steps == 1 { Shown::own("1 step") } else { shown!("{steps} steps") },
        question: &first,
        sampling: &sampling,
        files: files(options),
        known: None,
    };
    let server = options.ask.prepare(&request, out)?;
    let signalled = server.drive(&mut run, &sampling, 1, out, |run, round, out| {
        for reply in round.replies.iter().filter(|reply| reply.failed().is_none()) {
            if run.ended().is_some() {
                out.complain(&reply.what_came());
            }
        }
        let tolerated = run.tolerated.as_ref().map(|what| shown!("step {}: tolerated: {what}", round.ask.step + 1));
        out.complain_of(step_line(round, steps).into_iter().chain(tolerated).filter(|_| !options.quiet));
    });
    let code = finished(options, &run, out);
    Ok(signalled.unwrap_or(code))
}

/// Returns the files whose lines are sent.
fn files(options: &Run) -> Vec<Shown> {
    let schema = options.answer_schema.as_deref().filter(|schema| AnswerSchema::named(schema).is_none());
    let others = options.question_file.as_deref().into_iter().chain(schema.map(Path::new));
    std::iter::once(&*options.procedure).chain(others).map(source_name).collect()
}

/// Prints how it ended.
fn finished(options: &Run, run: &WholeRun<'_>, out: &mut Out) -> u8 {
    if options.format == RunFormat::Trace {
        out.write(&run.record(&now()));
        out.write(b"\n");
    }
    if let Some(ended) = run.ended() {
        out.complain(&why_ended(ended));
        return UNANSWERED;
    }
    if options.format == RunFormat::State {
        let letters = if out.is_terminal() { Letters::PythonAscii } else { Letters::All };
        out.write(&dumped(&run.state().json(), letters));
        out.write(b"\n");
    }
    CLEAN
}

/// Parses a file's one JSON value.
fn parsed<'a>(tape: &'a mut Tape, text: &'a [u8], path: &Path) -> Result<Value<'a>, Shown> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    if !tape.read(text) {
        let why = tape.problems().last().map_or("it is empty", |problem| problem.kind.summary());
        return Err(shown!("cannot run {}: {why}", Shown::path(path)));
    }
    tape.root(text).ok_or_else(|| shown!("cannot run {}: it is empty", Shown::path(path)))
}

fn question_of(options: &Run, root: Value<'_>) -> Result<Untrusted<'static>, Shown> {
    if let Some(question) = &options.question {
        return Ok(Untrusted::new(question.as_encoded_bytes()).into_owned());
    }
    if let Some(path) = &options.question_file {
        let bytes = read_whole(path, MAX_QUESTION)?;
        return Ok(Untrusted::owned(bytes));
    }
    let recorded = root.get("question").and_then(Value::string);
    recorded.map(Untrusted::into_owned).ok_or(Shown::own("no question; pass --question or --question-file"))
}

enum Named {
    Published(AnswerSchema),
    Own(Vec<u8>),
}

fn schema_of(name: Option<&str>) -> Result<Option<Named>, Shown> {
    let Some(name) = name else { return Ok(None) };
    if let Some(named) = AnswerSchema::named(name) {
        let first = || Named::Own(GSM_1_0.trim_ascii_end().as_bytes().to_vec());
        return Ok(Some(if named.is_first { first() } else { Named::Published(named.schema) }));
    }
    let fail = |why: &Shown| {
        let name = Shown::line(name.as_bytes());
        shown!("cannot use the schema {name}: {why}; use general, bool, gsm, gsm@1.0, arc or a JSON Schema file")
    };
    let text = read_whole(Path::new(name), MAX_SCHEMA).map_err(|failure| fail(&failure.source))?;
    Ok(Some(Named::Own(text)))
}
