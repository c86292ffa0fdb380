//! Work between two calls of a run that is being made, on the thread that reads records: the reply is taken, what there is
//! by now is put on the disk, and prepared for the screen.

use std::sync::Arc;

use crate::app::open_record::OpenRecord;
use crate::screens::live::breakpoint::{Breakpoint, RunFacts};
use stepscope_base::json::{Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_compare::difference::Change;
use stepscope_compare::lines::changed_lines;
use stepscope_execution::live::{LiveChange, LiveRun};
use stepscope_execution::machine::{Machine as _, Question};
use stepscope_execution::prompt::Release;
use stepscope_execution::repair::{diagnostics, pretty};
use stepscope_execution::sampling::SamplingRound;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::unfinished::Unfinished;
use stepscope_judge::case::Case;
use stepscope_judge::row::RowFacts;
use stepscope_record::AnswerSchema;

/// Work that a run waits for.
#[derive(Debug)]
pub struct LiveWork {
    /// The work.
    pub job: LiveJob,
    /// Breakpoints to look at.
    pub breakpoints: Vec<Breakpoint>,
    /// Facts about the run before.
    pub before: RunFacts,
    /// File that the run is kept in until it is saved; `None`: it is not kept.
    pub keep: Option<Unfinished>,
}

/// See [`LiveWork`].
#[derive(Debug)]
pub enum LiveJob {
    /// A procedure is to be created for a question.
    Create(Untrusted<'static>, AnswerSchema, Release),
    /// The procedure of this record is to be run from a step, with these changes before it.
    Begin(Vec<u8>, usize, Vec<LiveChange>),
    /// The reply to a question.
    Came(Box<LiveRun>, Box<SamplingRound>),
    /// Change of what is asked next.
    Change(Box<LiveRun>, LiveChange),
}

/// A run by now.
#[derive(Debug)]
pub struct LiveReached {
    /// The machine.
    pub machine: Box<LiveRun>,
    /// Question that is asked next; `None`: it is over, or it ended early.
    pub question: Option<Box<Question>>,
    /// Replies that led here, judged.
    pub round: Option<Box<SamplingRound>>,
    /// View of it for the screen.
    pub view: Box<LiveView>,
    /// Facts for its breakpoints.
    pub facts: RunFacts,
    /// Reason to wait here.
    pub reached: Option<Shown>,
    /// Reason that it could not be put on the disk.
    pub unkept: Option<Shown>,
    /// The record of a run that a person ends here.
    pub saved: Option<Vec<u8>>,
    /// A change that could not be made.
    pub refused: Option<&'static str>,
}

/// A run as the screen shows it.
#[derive(Debug)]
pub struct LiveView {
    /// Record of what there is by now.
    pub opened: Box<OpenRecord>,
    /// The step that comes next, by position; `None`: none, or there is no valid procedure yet.
    pub next: Option<usize>,
    /// Reason of its end, if it ended early, and whether upstream would end there too.
    pub ended: Option<(Shown, bool)>,
    /// True as long as there is no procedure that can be run.
    pub is_creating: bool,
    /// True once there is a procedure, valid or not.
    pub has_plan: bool,
    /// Sentences of the validator about the plan.
    pub errors: Vec<Shown>,
    /// Lines that the last repair changed; `None`: a gap.
    pub changes: Vec<Option<(Change, Shown)>>,
}

impl LiveWork {
    /// Does it. `Err`: there is nothing to run.
    pub fn go(self, side: &Arc<SideData>, now: &str) -> Result<LiveReached, Shown> {
        let (mut round, mut plan, mut is_save, mut refused) = (None, None, false, None);
        let mut machine = match self.job {
            LiveJob::Create(question, task, release) => Box::new(LiveRun::create(question, task, release)),
            LiveJob::Begin(text, step, changes) => {
                let case = Case::around(text, Arc::new(side.around()));
                let mut run = Box::new(LiveRun::of(case, step).map_err(|why| Shown::error(&why))?);
                for change in changes {
                    run.change(change, now);
                }
                run
            }
            LiveJob::Came(mut run, mut came) => {
                plan = plan_of(&run);
                came.judge();
                run.take(&came, now);
                round = Some(came);
                run
            }
            LiveJob::Change(mut run, change) => {
                is_save = matches!(change, LiveChange::Save);
                refused = (!run.change(change, now)).then_some("there is no JSON object that could be taken");
                run
            }
        };
        let question = machine.question().map(Box::new);
        let record = machine.record(false, now).ok_or(Shown::own("the run cannot be written"))?;
        let unkept = self.keep.filter(|_| round.is_some()).and_then(|kept| kept.keep(&record).err());
        let saved = is_save.then(|| machine.record(true, now)).flatten();
        let view = LiveView::of(&machine, question.as_deref(), plan.as_deref(), record, side);
        let written = round.as_deref().map_or_else(Vec::new, written);
        let facts = RunFacts::of(&view.opened.view(), &self.breakpoints, view.next, written);
        let reached = round.as_ref().and_then(|_| facts.reached(&self.before, &self.breakpoints));
        let (view, unkept) = (Box::new(view), unkept.map(Shown::from));
        Ok(LiveReached { machine, question, round, view, facts, reached, unkept, saved, refused })
    }
}

/// Returns the plan by now, while it is made.
fn plan_of(run: &LiveRun) -> Option<Vec<u8>> {
    Some(run.creation().filter(|_| run.is_creating())?.repair.as_ref()?.procedure.clone())
}

/// Lists the names that the replies of a round give values.
fn written(round: &SamplingRound) -> Vec<String> {
    let mut tape = Tape::default();
    let json = round.replies.first().map(|reply| reply.json()).filter(|json| !json.is_empty());
    let members = json.and_then(|json| tape.parse(json)).map_or_else(Vec::new, Value::entries);
    let names =
        members.iter().map(stepscope_base::json::Member::name).filter(|name| round.ask.request.expected.contains(name));
    names.filter_map(|name| name.utf8().map(ToOwned::to_owned)).collect()
}

impl LiveView {
    fn of(
        run: &LiveRun,
        question: Option<&Question>,
        before: Option<&[u8]>,
        record: Vec<u8>,
        side: &Arc<SideData>,
    ) -> Self {
        let is_creating = run.is_creating();
        let plan = plan_of(run).or_else(|| Some(run.creation()?.repair.as_ref()?.procedure.clone()));
        let has_plan = !is_creating || plan.is_some();
        let changes = match (before, &plan) {
            (Some(before), Some(plan)) if before != plan.as_slice() => changes(before, plan),
            _ => Vec::new(),
        };
        let errors = plan.filter(|_| is_creating).map_or_else(Vec::new, |plan| {
            let found = diagnostics(&plan);
            found.iter().map(|finding| finding.message.line()).collect()
        });
        let row = RowFacts::unchecked(0, record.len() as u64);
        Self {
            opened: Box::new(OpenRecord::new(0, 1, &row, record, side.around())),
            next: question.filter(|_| !is_creating).map(|question| question.ask.step),
            ended: run.ended().map(|ended| (shown!("{ended}"), ended.is_upstreams())),
            is_creating,
            has_plan,
            errors,
            changes,
        }
    }
}

/// Lists the lines in which two plans differ.
fn changes(before: &[u8], after: &[u8]) -> Vec<Option<(Change, Shown)>> {
    let texts = [before, after].map(pretty);
    let [before, after] = texts.each_ref().map(|text| String::from_utf8_lossy(text));
    let lines = changed_lines(&before, &after).into_iter();
    lines.map(|line| line.map(|(change, line)| (change, Shown::line(line.as_bytes())))).collect()
}
