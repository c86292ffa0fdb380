//! `stepscope rerun`: runs a step of a recorded run again, and prints the resulting fork.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use crate::cli::ask::{Request, Sampling, Sending, step_line, why_ended};
use crate::cli::codes::CLEAN;
use crate::cli::codes::FOUND;
use crate::cli::codes::UNANSWERED;
use crate::cli::options::AnswerArgs;
use crate::cli::out::Out;
use crate::cli::pick::{Pick, Picked};
use stepscope_base::json::write::{Object, Raw, Style, one_line};
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::Document;
use stepscope_execution::call::ReplyVerdict;
use stepscope_execution::exact::exact_fork;
use stepscope_execution::fork::{Fork, Scope, named_steps};
use stepscope_execution::generation::{Generation, answered, files_sent};
use stepscope_execution::machine::{Machine as _, Once, Question};
use stepscope_execution::replay::{NoReplay, Preview, RerunStart};
use stepscope_execution::rerun::RerunMachine;
use stepscope_execution::runner::object;
use stepscope_execution::sampling::distribution::{Distribution, FieldCounts};
use stepscope_execution::sampling::{Reply, SamplingRound};
use stepscope_io::failure::Failure;
use stepscope_io::log::forks::FORKS;
use stepscope_io::log::{Content, append_line, now};
use stepscope_judge::case::{Case, CaseView};
use stepscope_record::Record;
use stepscope_record::finding::Severity;
use stepscope_record::fork_origin::How;

/// Content that is appended to the file that `--out` names.
const TO_OUT: Content = Content { option: "--out", ..FORKS };
/// Number of findings of a fork that are named.
const NAMED: usize = 5;

/// Re-run a step of a recorded run; print the fork
///
/// Exit code: 0 done, 1 the fork has findings or steps that are out of date, 2 something could not be done, 3 the server
/// failed or its reply could not be used.
#[derive(clap::Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are bools")]
pub struct Rerun {
    /// File or folder with the record
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pick: Pick,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    answers: AnswerArgs,
    /// Step, counted from 1 (not for structured answers)
    #[arg(long, value_name = "N")]
    step: Option<usize>,
    /// Re-run that step and all later ones
    #[arg(long, conflicts_with = "stale")]
    from_here: bool,
    /// Re-run that step and its dependents
    #[arg(long)]
    stale: bool,
    /// Samples per step (majority value is used)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    samples: u32,
    /// Samples in parallel
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    at_once: u32,
    /// Override a variable before the step, as JSON: --set 'x=3', --set 'name="Ann"'
    #[arg(long, value_name = "VARIABLE=JSON")]
    set: Vec<OsString>,
    /// No model: recompute exactly
    #[arg(long, conflicts_with_all = ["step", "from_here", "stale", "samples", "set"])]
    exact: bool,
    /// Continue when a reply lacks a required key (evoproc stops)
    #[arg(long)]
    lenient: bool,
    /// Also append the fork to this file
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

pub(super) fn run(options: &Rerun, side: &Arc<SideData>, out: &mut Out) -> Result<u8, Shown> {
    options.ask.check()?;
    let picked = options.pick.find(options.answers.expand(&options.paths)?, side)?;
    picked.check_out(options.out.as_deref(), "--out")?;
    out.complain_of(options.pick.took_first(&picked).into_iter().filter(|_| !options.quiet));
    let Picked { case, place, files, missing, .. } = picked;
    Session { options, place, files }.run(case, &missing, out)
}

impl Rerun {
    /// Refuses options for steps: a typed answer is asked for in one call.
    fn refuse_steps(&self) -> Result<(), Shown> {
        let steps = self.step.is_some() || self.from_here || self.stale || self.samples > 1 || !self.set.is_empty();
        if steps {
            return Err(Shown::own(
                "a structured answer has no steps: --step, --from-here, --stale, --samples and --set are for runs",
            ));
        }
        Ok(())
    }

    fn edits(&self) -> Result<Vec<(Untrusted<'static>, Vec<u8>)>, Shown> {
        let edit = |set: &OsString| {
            let bytes = set.as_encoded_bytes();
            let at = memchr::memchr(b'=', bytes).filter(|at| *at > 0);
            let (name, value) = at
                .and_then(|at| Some((bytes.get(..at)?, bytes.get(at + 1..)?)))
                .ok_or_else(|| shown!("--set {}: no variable; write 'x=3'", Shown::line(bytes)))?;
            if !Tape::default().read(value) {
                let (name, value) = (Shown::line(name), Shown::line(value));
                return Err(shown!(
                    "the value {value} for {name} is not JSON; a text needs quotes: --set '{name}=\"{value}\"'"
                ));
            }
            Ok((Untrusted::new(name).into_owned(), value.to_vec()))
        };
        let edits: Vec<_> = self.set.iter().map(edit).collect::<Result<_, _>>()?;
        let set_before = |n: usize, name: &Untrusted<'_>| edits.iter().take(n).any(|(other, _)| other == name);
        match edits.iter().enumerate().find(|(n, (name, _))| set_before(*n, name)) {
            Some((_, (name, _))) => Err(shown!("--set gives {} two values; name one", Shown::line(name.bytes()))),
            None => Ok(edits),
        }
    }

    fn scope(&self) -> Scope {
        match (self.from_here, self.stale) {
            (true, _) => Scope::FromHere,
            (_, true) => Scope::Stale,
            _ => Scope::One,
        }
    }
}

/// Maximum number of variables of a run that are named.
const MOST_VARIABLES: usize = 12;

/// Re-run of a record.
struct Session<'s> {
    options: &'s Rerun,
    place: Shown,
    files: Vec<Shown>,
}

impl Session<'_> {
    fn run(&self, case: Case<'static>, missing: &[Failure], out: &mut Out) -> Result<u8, Shown> {
        let view = case.view();
        let record = view.record.as_ref();
        let record = record.ok_or_else(|| shown!("the record at {} cannot be read", self.place))?;
        if self.options.exact {
            return self.exact(&view, out);
        }
        if record.typed.is_some() {
            for failure in missing {
                out.complain(&failure.into());
            }
            return self.generation(&view, record, out);
        }
        let step = self.options.step.ok_or(Shown::own("choose a step with --step, or use --exact"))?;
        let step = step.checked_sub(1).ok_or(Shown::own("steps count from 1"))?;
        let count = view.procedure().map_or(0, |procedure| procedure.steps.len());
        let known = view.state().call(step).and_then(|call| call.get("model")).and_then(Value::string);
        let known = known.map(Untrusted::into_owned);
        let edits = self.options.edits()?;
        if let Some((name, _)) = edits.iter().find(|(name, _)| view.state().variable(name).is_none()) {
            let known = view.state().variables().iter().map(|variable| variable.name.line());
            let known = Shown::listed(known, MOST_VARIABLES);
            return Err(shown!("--set {}: the run has no such variable; it has {known}", name.line()));
        }
        drop(view);
        let start = RerunStart {
            step,
            edits,
            scope: self.options.scope(),
            samples: self.options.samples as usize,
            is_lenient: self.options.lenient,
            ..RerunStart::default()
        };
        let mut machine = RerunMachine::new(case, start).map_err(|why| self.no_replay(why, count))?;
        let first = machine.question();
        // Before anything was asked it is the request that cannot be made.
        let never = || machine.ended().map_or(Shown::own("nothing to re-run"), |ended| shown!("{ended}"));
        let first = first.ok_or_else(never)?;
        let (sampling, what) = (self.options.sampling.steps(), preview(&machine.preview()));
        let request = Request {
            what: what.clone(),
            question: &first,
            sampling: &sampling,
            files: self.files.clone(),
            known: known.as_ref().and_then(Untrusted::utf8),
        };
        let server = self.options.ask.prepare(&request, out)?;
        self.say(out, &shown!("re-runs {what} with {}", server.address()));
        let (mut breaks, mut is_answered) = (false, false);
        let signalled =
            server.drive(&mut machine, &sampling, self.options.at_once as usize, out, |machine, round, out| {
                breaks |= round.obeyed() < round.replies.len();
                is_answered |= round.replies.iter().any(|reply| reply.failed().is_none());
                self.tell(round, count, out);
                if let ([reply], Some(_)) = (round.replies.as_slice(), machine.ended())
                    && reply.failed().is_none()
                {
                    out.complain(&reply.what_came());
                }
            });
        if let Some(code) = signalled.filter(|_| !is_answered) {
            return Ok(code);
        }
        let made = machine.fork(&now());
        let (fork, line) = made.ok_or(Shown::own("the fork could not be written"))?;
        let code = self.finish(&fork, &line, breaks, out)?;
        Ok(signalled.unwrap_or(code))
    }

    /// Repeats the call that gave a typed answer.
    fn generation(&self, case: &CaseView<'_>, record: &Record<'_>, out: &mut Out) -> Result<u8, Shown> {
        self.options.refuse_steps()?;
        let document = case.document();
        let made = Generation::of(record, document.map(AsRef::as_ref), case.types())
            .map_err(|why| shown!("the answer at {} cannot be re-run: {}", self.place, Shown::error(&why)))?;
        let model = record.root.get("model").and_then(Value::string);
        let sampling = self.options.sampling.steps();
        let (source, question) = (made.source(), Question::of(made.request));
        let what = shown!("{source}, about {} tokens", question.ask.request.prompt.bytes().len().div_ceil(4));
        let request = Request {
            what: what.clone(),
            question: &question,
            sampling: &sampling,
            files: files_sent(self.files.clone(), &made.files),
            known: model.as_ref().and_then(Untrusted::utf8),
        };
        let server = self.options.ask.prepare(&request, out)?;
        self.say(out, &shown!("re-runs with {what}, with {}", server.address()));
        let mut once = Once::new(question);
        if let Some(code) = server.drive(&mut once, &sampling, 1, out, |_, _, _| {}) {
            return Ok(code);
        }
        let round = once.round.ok_or(Shown::own("the fork could not be written"))?;
        let line = answered(record, case.text(), &round, &now());
        self.keep(&line, out)?;
        if let Some(why) = round.replies.first().and_then(Reply::failed) {
            out.complain(&why);
            return Ok(UNANSWERED);
        }
        self.tell(&round, 1, out);
        let found = self.say_findings(&line, document.cloned(), out);
        Ok(if found == 0 && round.obeyed() == 1 { CLEAN } else { FOUND })
    }

    /// Says what came for a step; several replies are printed.
    fn tell(&self, round: &SamplingRound, count: usize, out: &mut Out) {
        if let ([reply], false) = (round.replies.as_slice(), round.is_several()) {
            if let (Some(judged), Some(came)) = (&reply.judged, step_line(round, count)) {
                self.say(out, &came);
                // What is no JSON ends the run, and is said there.
                if let ReplyVerdict::Breaks(why) = &judged.verdict {
                    out.complain(&shown!("step {}: {}", round.ask.step + 1, why.line()));
                }
            }
            return;
        }
        for (n, reply) in round.replies.iter().enumerate() {
            sample_line(n, reply, out);
        }
        distribution_line(&round.distribution(), out);
        self.say(out, &round.tally());
        // Where no reply is usable the end of the run says it.
        if let Some(failures) = round.failures().filter(|_| round.has_majority()) {
            out.complain(&failures);
        }
    }

    fn no_replay(&self, why: NoReplay, count: usize) -> Shown {
        match why {
            NoReplay::NoStep => shown!("no such step: this record has {count}"),
            why => shown!("the record at {} cannot be re-run: {}", self.place, Shown::error(&why)),
        }
    }

    fn exact(&self, case: &CaseView<'_>, out: &mut Out) -> Result<u8, Shown> {
        let fork = exact_fork(case)?;
        let record = case.record.as_ref().ok_or_else(|| Shown::own("the record cannot be read"))?;
        let line = fork.record(record, case.text(), &now());
        self.finish(&fork, &line, false, out)
    }

    fn finish(&self, fork: &Fork, line: &[u8], breaks: bool, out: &mut Out) -> Result<u8, Shown> {
        self.keep(line, out)?;
        if let Some(ended) = &fork.ended {
            out.complain(&why_ended(ended));
            return Ok(UNANSWERED);
        }
        if let Some(steps) = named_steps(fork.stale.iter().copied()) {
            let what = match fork.how {
                How::Exact => "what was recorded is kept there, though what was read changed",
                _ => "--stale re-runs them too",
            };
            self.say(out, &shown!("out of date: {steps}; {what}"));
        }
        let found = self.say_findings(line, None, out);
        Ok(if found == 0 && !breaks && fork.stale.is_empty() { CLEAN } else { FOUND })
    }

    /// Prints a fork, and saves it where that was asked for.
    fn keep(&self, line: &[u8], out: &mut Out) -> Result<(), Shown> {
        out.write(line);
        out.write(b"\n");
        out.flush();
        if let Some(path) = &self.options.out {
            append_line(path, TO_OUT, line)?;
            self.say(out, &shown!("saved in {}", Shown::path(path)));
        }
        Ok(())
    }

    /// Prints what the rules find in a fork, and returns the number of findings that are more than a note.
    fn say_findings(&self, line: &[u8], document: Option<Arc<Document>>, out: &Out) -> usize {
        let case = Case::citing(line, document);
        let found = case.findings();
        if !found.is_empty() {
            let named = Shown::listed(found.iter().map(|finding| Shown::own(finding.rule.word())), NAMED);
            let word = if found.len() == 1 { "finding" } else { "findings" };
            self.say(out, &shown!("the fork has {} {word}: {named}", found.len()));
        }
        found.iter().filter(|finding| finding.severity < Severity::Note).count()
    }

    fn say(&self, out: &Out, what: &Shown) {
        if !self.options.quiet {
            out.complain(what);
        }
    }
}

fn preview(preview: &Preview) -> Shown {
    let (steps, of, tokens) = (preview.steps.len(), preview.of, preview.tokens);
    shown!("{steps} of {of} steps, about {tokens} tokens")
}

fn sample_line(n: usize, reply: &Reply, out: &mut Out) {
    let (executed, judged) = (&reply.executed, reply.judged.as_ref());
    let outputs = judged.map(|judged| judged.outputs.as_slice()).unwrap_or_default();
    let outputs = object(outputs.iter().map(|(name, value)| (name, value.as_slice())));
    Style::SAVED.line(out, |line| {
        line.put("sample", n).put("step_index", executed.step).maybe("seed", executed.seed);
        line.put("verdict", executed.verdict.unwrap_or("failed")).maybe("error", executed.error.as_ref());
        line.maybe("around", Some(executed.around.words()).filter(|around| !around.is_empty()));
        line.put("outputs", one_line(&outputs)).text("raw", &executed.raw);
        line.put("duration_ms", Raw(format!("{:.1}", executed.duration_ms)));
    });
}

fn distribution_line(made: &Distribution, out: &mut Out) {
    let field = |field: &FieldCounts, object: &mut Object<'_>| {
        object.put("variable", &field.name).put("tie", field.is_tie());
        object.objects("values", &field.buckets, |bucket, object| {
            object.put("value", one_line(&bucket.text)).put("samples", &bucket.samples);
        });
        object.put("absent", &field.absent);
    };
    Style::SAVED.line(out, |line| {
        line.object("distribution", |whole| {
            whole.objects("fields", &made.fields, field).put("valid", &made.valid).put("empty", &made.empty);
            whole.put("invalid", &made.invalid).put("breaks_schema", &made.breaking).put("failed", &made.failed);
            whole.put("incomplete", &made.incomplete);
        });
    });
}
