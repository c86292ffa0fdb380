//! `stepscope create`: a question becomes a procedure, which is validated, repaired and run, as evoproc does it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::ask::{ReadyServer, Request, Sampling, Sending, step_line, why_ended};
use crate::cli::codes::{CLEAN, UNANSWERED};
use crate::cli::out::Out;
use crate::cli::values::{MAX_QUESTION, source_name};
use stepscope_base::json::Tape;
use stepscope_base::json::write::Letters;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_compare::difference::Change;
use stepscope_compare::lines::changed_lines;
use stepscope_execution::create::Creation;
use stepscope_execution::create::stream::{PlanStream, WholeStep};
use stepscope_execution::machine::Machine as _;
use stepscope_execution::prompt::{AnswerShape, Release};
use stepscope_execution::repair::{MAX_TRIES, diagnostics, pretty};
use stepscope_execution::runner::{Ended, dumped};
use stepscope_execution::sampling::SamplingRound;
use stepscope_execution::whole::WholeRun;
use stepscope_io::log::{append_line, now};
use stepscope_io::model::drive::DriveEvent;
use stepscope_io::source::open::read_whole;
use stepscope_io::unfinished::{RUNS, Unfinished};
use stepscope_judge::case::Case;
use stepscope_record::AnswerSchema;
use stepscope_record::finding::counted;

/// Create a procedure for a question, repair it and run it, as evoproc does
///
/// The creation prompt of evoproc-procedures; then its validator, its repair prompt while errors are left, and its runner.
///
/// Exit code: 0 done, 2 something could not be read, 3 it ended early: a reply that evoproc rejects, errors left after the
/// last repair, or a server that failed. Ctrl-C ends it early too, with 130; `--format trace` then prints what is done.
#[derive(clap::Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are bools")]
pub struct Create {
    /// Question, the value of `problem_text`
    #[arg(value_name = "QUESTION", required_unless_present = "question_file")]
    question: Option<OsString>,
    /// File with the question, used byte for byte
    #[arg(long, value_name = "FILE", conflicts_with = "question")]
    question_file: Option<PathBuf>,
    /// File with examples for the prompt, used byte for byte
    #[arg(long, value_name = "FILE")]
    examples: Option<PathBuf>,
    /// Kind of answer that the last step gives: general, bool, gsm, arc
    #[arg(long, value_name = "TASK", default_value = "gsm", value_parser = task)]
    task: AnswerSchema,
    /// Release of evoproc-procedures to do it as: 0.1.0, 1.0.0, 1.1.0, 1.2.0
    #[arg(long = "as", value_name = "RELEASE", default_value = "1.2.0", value_parser = release)]
    release: Release,
    /// Stop when the procedure is valid
    #[arg(long)]
    without_run: bool,
    /// Maximum repairs
    #[arg(long, value_name = "N", default_value_t = MAX_TRIES)]
    tries: u32,
    /// Continue when a reply lacks a required key (evoproc stops)
    #[arg(long)]
    lenient: bool,
    /// Take replies in a code fence, within other text, after thoughts or with a trailing comma (evoproc stops)
    #[arg(long)]
    tolerant: bool,
    /// Output format [default: state; with --without-run: procedure]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<CreateFormat>,
    /// Also append the run record to this file; until then every call is kept in a file next to it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print errors only, and which files are sent where
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    ask: Sending,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum CreateFormat {
    /// Final global state as JSON
    State,
    /// Procedure as JSON
    Procedure,
    /// Run record with every request and reply: creation, repairs, steps
    Trace,
}

fn task(word: &str) -> Result<AnswerSchema, &'static str> {
    AnswerSchema::from_word(word).ok_or("use general, bool, gsm or arc")
}

fn release(word: &str) -> Result<Release, &'static str> {
    Release::from_word(word).ok_or("use 0.1.0, 1.0.0, 1.1.0 or 1.2.0")
}

pub(super) fn run(options: &Create, out: &mut Out) -> Result<u8, Shown> {
    options.ask.check()?;
    let question = options.question()?;
    let examples = options.examples.as_deref().map(|path| read_whole(path, MAX_QUESTION)).transpose()?;
    if let Some(path) = &options.out {
        RUNS.look(&path.as_path().into())?;
    }
    let mut tape = Tape::default();
    let shape = AnswerShape::of_release(options.release, options.task, &mut tape);
    let mut creation = Creation::new(question.clone(), options.release);
    creation.examples = examples.map(Untrusted::owned);
    (creation.tries, creation.is_tolerant) = (options.tries, options.tolerant);
    let first = creation.question().ok_or(Shown::own("nothing to create"))?;
    let sampling = options.sampling.steps();
    let request =
        Request { what: options.what(), question: &first, sampling: &sampling, files: options.files(), known: None };
    let server = options.ask.prepare(&request, out)?;
    let session = Creating { options, server, kept: options.out.as_deref().map(Unfinished::beside), shape };
    // Before anything is paid for: what cannot be kept is not asked.
    session.kept.as_ref().map_or(Ok(()), |kept| kept.keep(&creation.record(shape, &now())))?;
    session.say(out, &shown!("creates a procedure with {}", session.server.address()));
    let signalled = session.create(&mut creation, out);
    session.notes(&creation.record(shape, &now()), out);
    let procedure = creation.repair.as_ref().map(|repair| repair.procedure.as_slice());
    let made = procedure.filter(|_| creation.ended.is_none());
    let Some(procedure) = made.filter(|_| !options.without_run && signalled.is_none()) else {
        let record = creation.record(shape, &now());
        let end = End { record, procedure, state: None, ended: creation.ended.as_ref() };
        return session.finish(&end, signalled, out);
    };
    let mut tape = Tape::default();
    let value = tape.parse(procedure).ok_or(Shown::own("the procedure cannot be read"))?;
    let run = WholeRun::new(value, question, shape, options.lenient);
    let mut run = run.map_err(|why| Shown::error(&why))?;
    (run.release, run.is_tolerant, run.creation) = (options.release, options.tolerant, creation.calls.clone());
    let signalled = session.run(&mut run, out);
    let state = run.state().json();
    let end = End { record: run.record(&now()), procedure: Some(procedure), state: Some(&state), ended: run.ended() };
    session.finish(&end, signalled, out)
}

impl Create {
    fn question(&self) -> Result<Untrusted<'static>, Shown> {
        match (&self.question, &self.question_file) {
            (Some(question), _) => Ok(Untrusted::new(question.as_encoded_bytes()).into_owned()),
            (None, Some(path)) => Ok(Untrusted::owned(read_whole(path, MAX_QUESTION)?)),
            (None, None) => Err(Shown::own("no question")),
        }
    }

    /// Describes what would be sent.
    fn what(&self) -> Shown {
        let run = if self.without_run { "" } else { ", then its steps" };
        shown!("the question, then at most {}{run}", counted(self.tries as usize, "repair"))
    }

    /// Returns the files whose lines are sent.
    fn files(&self) -> Vec<Shown> {
        let typed = self.question.as_ref().map(|_| Shown::own("the question"));
        let named =
            [&self.question_file, &self.examples].into_iter().filter_map(|path| path.as_deref().map(source_name));
        typed.into_iter().chain(named).collect()
    }

    fn format(&self) -> CreateFormat {
        let usual = if self.without_run { CreateFormat::Procedure } else { CreateFormat::State };
        self.format.unwrap_or(usual)
    }
}

/// How it ended.
struct End<'e> {
    record: Vec<u8>,
    procedure: Option<&'e [u8]>,
    state: Option<&'e [u8]>,
    ended: Option<&'e Ended>,
}

/// A creation with what it needs.
struct Creating<'s> {
    options: &'s Create,
    server: ReadyServer,
    kept: Option<Unfinished>,
    shape: AnswerShape<'s>,
}

impl Creating<'_> {
    /// Asks for the procedure and its repairs.
    fn create(&self, creation: &mut Creation, out: &mut Out) -> Option<u8> {
        let (mut stream, mut before) = (PlanStream::default(), None);
        let sampling = self.options.sampling.steps();
        self.server.drive_telling(creation, &sampling, 1, out, |creation, event, out| match event {
            // Of a repair the difference is shown, which has to be whole.
            DriveEvent::Heard(event) => {
                if let Some(text) = event.content().filter(|_| creation.calls.is_empty()) {
                    stream.hear(text.bytes()).iter().for_each(|step| self.step(step, out));
                }
            }
            DriveEvent::Taken(round) => {
                self.keep(&creation.record(self.shape, &now()), out);
                self.attempt(creation, round, out);
                let procedure = creation.repair.as_ref().map(|repair| repair.procedure.clone());
                if let Some(procedure) = procedure.clone() {
                    self.findings(before.as_deref(), &procedure, out);
                }
                before = procedure;
            }
        })
    }

    /// Asks for the steps.
    fn run(&self, run: &mut WholeRun<'_>, out: &mut Out) -> Option<u8> {
        let (sampling, steps) = (self.options.sampling.steps(), run.steps());
        // From here on it is a run, which is unfinished until its last step.
        self.keep(&run.record(&now()), out);
        self.server.drive(run, &sampling, 1, out, |run, round, out| {
            self.keep(&run.record(&now()), out);
            if run.ended().is_some() {
                self.what_came(round, out);
            }
            if let Some(line) = step_line(round, steps) {
                self.say(out, &line);
            }
            if let Some(tolerated) = &run.tolerated {
                self.say(out, &shown!("step {}: tolerated: {tolerated}", round.ask.step + 1));
            }
        })
    }

    /// Keeps what there is by now. That it could not be kept is said; the run, which is paid for, continues.
    fn keep(&self, record: &[u8], out: &Out) {
        if let Some(Err(failure)) = self.kept.as_ref().map(|kept| kept.keep(record)) {
            out.complain(&failure.into());
        }
    }

    fn say(&self, out: &Out, what: &Shown) {
        if !self.options.quiet {
            out.complain(what);
        }
    }

    /// Says how a reply begins that ended it.
    fn what_came(&self, round: &SamplingRound, out: &Out) {
        for reply in round.replies.iter().filter(|reply| reply.failed().is_none()) {
            out.complain(&reply.what_came());
        }
    }

    /// Prints a step of a plan that is still coming.
    fn step(&self, step: &WholeStep, out: &Out) {
        let list = |names: &[Shown]| Shown::listed(names.iter().cloned(), usize::MAX);
        let (reads, writes) = (list(&step.reads), list(&step.writes));
        self.say(out, &shown!("  {}. {} ({reads} -> {writes})", step.position + 1, step.text));
        for finding in &step.findings {
            self.say(out, &shown!("     {finding}"));
        }
    }

    /// Says what came of the last attempt. The first creates the procedure.
    fn attempt(&self, creation: &Creation, round: &SamplingRound, out: &Out) {
        let Some(reply) = round.replies.first().filter(|reply| reply.failed().is_none()) else { return };
        let Some((call, before)) = creation.calls.split_last() else { return };
        let number = before.len();
        let what = if number == 0 { Shown::own("procedure") } else { shown!("repair {number}") };
        let (bytes, seconds) = (reply.received.content.len(), reply.elapsed.as_secs_f64());
        let errors = match (call.errors, &call.error) {
            (_, Some(_)) => Shown::own("no procedure"),
            (Some(errors), None) => shown!("{}", counted(errors, "error")),
            (None, None) => Shown::default(),
        };
        self.say(out, &shown!("{what}: {errors}; {bytes} bytes in {seconds:.1} s; {}", round.tally()));
        if call.error.is_some() {
            self.what_came(round, out);
            let is_json = reply.judged.as_ref().is_some_and(|judged| judged.verdict.word() != "invalid");
            if is_json && !call.around.is_nothing() {
                self.say(out, &Shown::own("evoproc takes the reply as it came; --tolerant takes the JSON in it"));
            }
        }
        if let Some(tolerated) = &call.tolerated {
            self.say(out, &shown!("{what}: tolerated: {tolerated}"));
        }
    }

    /// Prints what a repair changed, and what the validator finds now.
    fn findings(&self, before: Option<&[u8]>, procedure: &[u8], out: &Out) {
        if let Some(before) = before {
            let texts = [before, procedure].map(pretty);
            let [before, procedure] = texts.each_ref().map(|text| String::from_utf8_lossy(text));
            for line in changed_lines(&before, &procedure) {
                let said = match line {
                    None => Shown::own("  …"),
                    Some((change, line)) => {
                        let sign = match change {
                            Change::OnlyA => "-",
                            Change::OnlyB => "+",
                            Change::Same | Change::Differs => " ",
                        };
                        shown!("{sign} {}", Shown::line(line.as_bytes()))
                    }
                };
                self.say(out, &said);
            }
        }
        for finding in &diagnostics(procedure) {
            self.say(out, &finding.message.line());
        }
    }

    /// Prints what our own rules say of the plan, which evoproc's validator does not look at.
    fn notes(&self, record: &[u8], out: &Out) {
        for finding in Case::read(record).findings().iter().filter(|finding| finding.rule.word().starts_with("plan/")) {
            self.say(out, &shown!("{}: {}", finding.severity.word(), finding.message.line()));
        }
    }

    /// Prints and saves how it ended.
    fn finish(self, end: &End<'_>, signalled: Option<u8>, out: &mut Out) -> Result<u8, Shown> {
        let printed = match self.options.format() {
            CreateFormat::Trace => Some(end.record.clone()),
            CreateFormat::Procedure => end.procedure.map(pretty),
            CreateFormat::State => end.state.filter(|_| end.ended.is_none()).map(|state| {
                let letters = if out.is_terminal() { Letters::PythonAscii } else { Letters::All };
                dumped(state, letters)
            }),
        };
        if let Some(printed) = printed {
            out.write(&printed);
            out.write(b"\n");
            out.flush();
        }
        if let (Some(path), Some(kept)) = (&self.options.out, self.kept) {
            let saved = append_line(path, RUNS, &end.record);
            saved.map_err(|failure| shown!("{}; the run is kept in {}", Shown::from(failure), kept.place()))?;
            kept.is_saved();
            if !self.options.quiet {
                out.complain(&shown!("saved in {}", Shown::path(path)));
            }
        }
        let code = end.ended.map_or(CLEAN, |ended| {
            out.complain(&why_ended(ended));
            UNANSWERED
        });
        Ok(signalled.unwrap_or(code))
    }
}
