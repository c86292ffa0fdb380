//! State of a run that is being made. It owns its changes; nothing is sent from here.

use std::path::PathBuf;
use std::time::Instant;

use crate::app::call_clock::CallClock;
use crate::app::model_choice::ModelChoice;
use crate::screens::live::breakpoint::{Breakpoint, RunFacts};
use crate::screens::live::work::{LiveJob, LiveReached, LiveView, LiveWork};
use crate::screens::rerun::state::Kept;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::list::List;
use crate::widgets::panes::{Areas, Numbered, turn};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::call::{Call, RunId};
use stepscope_execution::create::stream::{PlanStream, WholeStep};
use stepscope_execution::live::{LiveChange, LiveRun};
use stepscope_execution::machine::Question;
use stepscope_execution::prompt::Release;
use stepscope_execution::sampling::{CallEvent, SamplingRound};
use stepscope_io::log::LineId;
use stepscope_io::model::setup::Server;
use stepscope_io::unfinished::Unfinished;
use stepscope_record::AnswerSchema;
use stepscope_record::state::Moment;

/// Number of calls of which a sentence is shown.
const MAX_PAST: usize = 2;

/// Stage of a run that is being made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LiveStage {
    /// Preview of the request; nothing was sent.
    #[default]
    Preview,
    /// A model is at work.
    Asking,
    /// Its reply is judged, or a change is worked out.
    Working,
    /// It waits before the next call.
    Paused,
    /// It ended early; it can be asked again.
    Ended,
    /// All steps ran.
    Over,
}

stepscope_base::words! {
    /// The rows of the preview.
    pub enum LiveField {
        /// The line that sends.
        Send = "",
        /// The model, and its server.
        Model = "model",
        /// The step from which a recorded procedure is run.
        From = "from",
        /// The kind of answer.
        Task = "task",
        /// The release of evoproc-procedures whose prompts are sent.
        Release = "as release",
    }
}

stepscope_base::words! {
    /// The panes.
    #[derive(Default)]
    pub enum LivePane {
        /// The box at the top: what goes out, what happens, what it cost.
        #[default]
        Top = "run",
        /// The plan, or the steps.
        Steps = "Steps",
        /// The global state.
        State = "Global state",
        /// The prompt that goes out next.
        Prompt = "Prompt",
        /// The reply that comes, or came last.
        Reply = "Reply",
    }
}

impl Numbered for LivePane {
    const PANES: &'static [Self] = &Self::ALL;
}

/// Origin of a run.
#[derive(Clone, Debug)]
pub enum LiveOrigin {
    /// A question, for which a procedure is created.
    Question(Untrusted<'static>),
    /// A recorded procedure: the text of its record, and the step at which it begins, by position.
    Record(Vec<u8>, usize),
}

/// Totals of the calls so far.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CallTotals {
    /// Number of calls.
    pub calls: usize,
    /// Tokens of prompts and replies, as far as servers count them.
    pub tokens: u64,
    /// Milliseconds.
    pub took: f64,
}

/// State of one run that is being made.
#[derive(Debug)]
pub struct Live {
    /// Number of the work that is awaited; results of any other are out of date.
    pub id: RunId,
    /// Origin of the run.
    pub origin: LiveOrigin,
    /// Kind of answer that the last step of a created procedure gives.
    pub task: AnswerSchema,
    /// Release of evoproc-procedures whose prompts are sent.
    pub release: Release,
    /// Changes that were made to the record before.
    pub(crate) edits: Vec<LiveChange>,
    /// Files whose lines are in the prompts.
    pub(crate) files: Vec<Shown>,
    /// Model that the record names.
    pub known: Option<String>,
    /// Stage that it has reached.
    pub stage: LiveStage,
    /// Reason that nothing can be run.
    pub never: Option<Shown>,
    /// Machine, unless work is done with it.
    machine: Option<Box<LiveRun>>,
    /// Question that goes out next.
    pub question: Option<Box<Question>>,
    /// True if its prompt is not the step's own.
    pub is_prompt_edited: bool,
    /// Size of the request in bytes, once a server is known; `None` measures it anew.
    pub bytes: Option<usize>,
    /// True if the recording holds a reply to it.
    pub is_recorded: Option<bool>,
    /// Calls that are under way, or were last.
    pub round: Option<Box<SamplingRound>>,
    stream: PlanStream,
    /// Steps of a plan that is still coming.
    pub streamed: Vec<WholeStep>,
    /// Run by now, once anything was worked out.
    pub view: Option<Box<LiveView>>,
    facts: RunFacts,
    /// Breakpoints, in the order in which they were set.
    pub breakpoints: Vec<Breakpoint>,
    /// Steps follow each other until a breakpoint.
    pub continues: bool,
    /// Reason that it waits here.
    pub reason: Option<Shown>,
    /// The last calls: a sentence each.
    pub past: Vec<Shown>,
    /// Number of repairs.
    pub repairs: usize,
    /// Totals of these calls.
    pub totals: CallTotals,
    /// File that keeps it until it is saved.
    pub keep: Option<Unfinished>,
    /// True if recorded replies are played: nothing is paid for, and nothing is kept.
    pub(crate) is_replay: bool,
    /// True once a reply was put there.
    pub is_kept: bool,
    /// Progress of saving it.
    pub kept: Kept,
    /// File that it is saved to, if not to the forks of its record.
    pub(crate) file: Option<PathBuf>,
    /// Id of the record that was saved.
    pub(crate) saved_id: Option<String>,
    /// True if the question that ended it is sent as soon as it can be.
    pub(crate) sends_next: bool,
    /// True if its prompt or a value is edited as soon as that can be.
    pub(crate) edits_next: bool,
    /// Action that was asked whether to drop what is not saved.
    pub warned: Option<Action>,
    /// The pane that has the keys.
    pub pane: LivePane,
    /// True if that pane fills the screen.
    pub maximised: bool,
    /// Areas of the panes, as they were laid out last.
    pub(crate) areas: Areas<LivePane>,
    /// Cursor of the preview.
    pub fields: List,
    /// Cursor of the steps.
    pub steps: List,
    /// Cursor of the variables.
    pub variables: List,
    /// The first lines on screen of prompt and reply.
    pub tops: [usize; 2],
    /// The end of the reply stays on screen.
    pub follows: bool,
    /// Clock of the running call.
    pub clock: CallClock,
}

impl Live {
    /// Prepares a run before anything is sent.
    pub fn new(origin: LiveOrigin, known: Option<String>, keep: Option<Unfinished>) -> Self {
        Self {
            id: RunId::default(),
            origin,
            task: AnswerSchema::Gsm,
            release: Release::default(),
            edits: Vec::new(),
            files: Vec::new(),
            known,
            stage: LiveStage::Preview,
            never: None,
            machine: None,
            question: None,
            is_prompt_edited: false,
            bytes: None,
            is_recorded: None,
            round: None,
            stream: PlanStream::default(),
            streamed: Vec::new(),
            view: None,
            facts: RunFacts::default(),
            breakpoints: Vec::new(),
            continues: false,
            reason: None,
            past: Vec::new(),
            repairs: 0,
            totals: CallTotals::default(),
            keep,
            is_replay: false,
            is_kept: false,
            kept: Kept::No,
            file: None,
            saved_id: None,
            sends_next: false,
            edits_next: false,
            warned: None,
            pane: LivePane::Top,
            maximised: false,
            areas: Areas::default(),
            fields: List::default(),
            steps: List::default(),
            variables: List::default(),
            tops: [0; 2],
            follows: true,
            clock: CallClock::default(),
        }
    }

    /// Returns the question of the run, if it began with one.
    pub fn asks(&self) -> Option<&Untrusted<'static>> {
        if let LiveOrigin::Question(question) = &self.origin { Some(question) } else { None }
    }

    /// Begins, or begins anew with other settings, before anything is sent.
    pub fn begin(&mut self, id: RunId) -> LiveWork {
        (self.id, self.never, self.question, self.bytes) = (id, None, None, None);
        self.is_prompt_edited = false;
        let job = match &self.origin {
            LiveOrigin::Question(question) => LiveJob::Create(question.clone(), self.task, self.release),
            LiveOrigin::Record(text, step) => LiveJob::Begin(text.clone(), *step, self.edits.clone()),
        };
        self.work(job)
    }

    fn work(&self, job: LiveJob) -> LiveWork {
        let keep = self.keep.clone().filter(|_| !self.is_replay);
        LiveWork { job, breakpoints: self.breakpoints.clone(), before: self.facts.clone(), keep }
    }

    /// Begins the work for a change; `None`: it is not the time for one.
    pub(crate) fn change(&mut self, change: LiveChange) -> Option<LiveWork> {
        let machine = self.machine.take_if(|_| !matches!(self.stage, LiveStage::Asking | LiveStage::Working))?;
        if let LiveChange::Prompt(prompt) = &change {
            self.is_prompt_edited = prompt.is_some();
        }
        // Before anything is sent it stays the preview.
        if self.stage != LiveStage::Preview {
            self.stage = LiveStage::Working;
        }
        Some(self.work(LiveJob::Change(machine, change)))
    }

    /// Returns the model that is asked.
    pub fn model(&self, models: &ModelChoice) -> Option<String> {
        models.asked(self.known.as_ref())
    }

    /// Measures what goes out next.
    pub fn measure(&mut self, models: &ModelChoice) {
        if self.bytes.is_none()
            && let Some(question) = &self.question
            && let Some((bytes, is_recorded)) = models.measure(question, self.known.as_ref())
        {
            (self.bytes, self.is_recorded) = (Some(bytes), is_recorded);
        }
    }

    /// Makes the call for the next question.
    pub fn send(&mut self, models: &mut ModelChoice) -> Option<(RunId, Server, Vec<Call>)> {
        let (model, server) = (self.model(models)?, models.server.clone()?);
        let question = *self.question.take().filter(|_| self.machine.is_some())?;
        self.is_replay = models.replays();
        let id = models.next_id();
        let (round, calls) = SamplingRound::new(id, question, &models.sampling, server.info(&model));
        (self.id, self.round, self.stage) = (id, Some(Box::new(round)), LiveStage::Asking);
        (self.bytes, self.reason, self.warned, self.kept) = (None, None, None, Kept::No);
        (self.clock, self.follows, self.tops) = (CallClock::default(), true, [0; 2]);
        (self.stream, self.streamed) = (PlanStream::default(), Vec::new());
        Some((id, server, calls))
    }

    /// Tells whether what is asked next was shown, and is being looked at again.
    pub(crate) fn is_looked_at(&self) -> bool {
        self.question.is_some() && self.machine.is_none()
    }

    /// Tells whether a model is at work.
    pub fn is_running(&self) -> bool {
        self.stage == LiveStage::Asking
    }

    /// Tells whether there is no procedure yet that can be run.
    pub fn is_creating(&self) -> bool {
        self.view.as_ref().map_or(self.asks().is_some(), |view| view.is_creating)
    }

    /// Tells whether there is a plan, valid or not.
    pub fn has_plan(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.has_plan)
    }

    /// Applies events of a call, unless they are stale; returns the work once the reply is whole.
    pub fn hear(&mut self, id: RunId, told: Vec<CallEvent>, now: Instant) -> Option<LiveWork> {
        self.pass(now);
        if !self.is_running() || id != self.id {
            return None;
        }
        let (at, is_first) = (self.clock.elapsed(), self.is_creating() && !self.has_plan());
        let round = self.round.as_mut()?;
        for told in told {
            if let Some(text) = told.event.content().filter(|_| is_first) {
                self.streamed.extend(self.stream.hear(text.bytes()));
            }
            self.clock.hear(&told.event);
            round.hear(id, told, at);
        }
        if round.is_over() { self.judge() } else { None }
    }

    /// Breaks off the call: its number, and the work with what came.
    pub fn cancel(&mut self) -> Option<(RunId, LiveWork)> {
        let elapsed = self.clock.elapsed();
        self.round.as_mut().filter(|_| self.stage == LiveStage::Asking)?.cancel(elapsed);
        self.continues = false;
        let id = self.id;
        Some((id, self.judge()?))
    }

    fn judge(&mut self) -> Option<LiveWork> {
        self.stage = LiveStage::Working;
        let (machine, round) = (self.machine.take()?, self.round.clone()?);
        Some(self.work(LiveJob::Came(machine, round)))
    }

    /// Advances the clock of a running call.
    pub fn pass(&mut self, now: Instant) {
        if self.is_running() {
            self.clock.pass(now);
        }
    }

    /// Returns the time at which the clock is to advance.
    pub fn wake_at(&self) -> Option<Instant> {
        self.clock.wake_at().filter(|_| self.is_running())
    }

    /// Takes what was worked out. `true`: the next question is to be sent at once.
    pub fn reach(&mut self, reached: LiveReached) -> bool {
        let LiveReached { machine, question, round, view, facts, reached, unkept, .. } = reached;
        let (was_creating, had_plan) = (self.is_creating(), self.has_plan());
        let is_answer = round.is_some();
        if let Some(round) = round {
            self.count(&round, was_creating.then_some(had_plan));
            self.round = Some(round);
            (self.is_prompt_edited, self.follows) = (self.is_prompt_edited && view.ended.is_some(), false);
            self.is_kept |= self.keep.is_some() && unkept.is_none() && !self.is_replay;
        }
        let is_ready = was_creating && !view.is_creating;
        let is_cancelled = is_answer && self.round.as_ref().is_some_and(|round| round.was_cancelled());
        let reason = match (&reached, &unkept) {
            (_, Some(failure)) => Some(failure.clone()),
            (Some(reached), _) => Some(reached.clone()),
            (None, None) if is_cancelled => Some(Shown::own("the call was cancelled; the partial reply is kept")),
            (None, None) if is_ready => Some(Shown::own("the plan is valid")),
            _ if is_answer => None,
            _ => self.reason.clone(),
        };
        let is_over = question.is_none();
        self.stage = match (self.stage, &view.ended) {
            (LiveStage::Preview, _) => LiveStage::Preview,
            (_, Some(_)) => LiveStage::Ended,
            (_, None) if is_over => LiveStage::Over,
            (_, None) => LiveStage::Paused,
        };
        if let Some(next) = view.next {
            self.steps.at = next;
        }
        let is_creating = view.is_creating;
        (self.machine, self.question, self.view, self.facts) = (Some(machine), question, Some(view), facts);
        (self.bytes, self.reason) = (None, reason);
        // Repairs follow a plan as they do upstream; before its first step a run waits.
        let goes_on = is_answer && self.stage == LiveStage::Paused && (is_creating || self.continues && !is_ready);
        let goes_on = goes_on && reached.is_none() && unkept.is_none() && !is_cancelled;
        let is_waiting = matches!(self.stage, LiveStage::Paused | LiveStage::Preview);
        let asks_again = std::mem::take(&mut self.sends_next) && is_waiting;
        self.continues &= goes_on || asks_again;
        goes_on || asks_again
    }

    /// Counts a call. `had_plan`: while the procedure is made, whether there was one to repair.
    fn count(&mut self, round: &SamplingRound, had_plan: Option<bool>) {
        let Some(reply) = round.replies.first() else { return };
        let usage = reply.executed.usage;
        let tokens = usage.prompt.unwrap_or(0).saturating_add(usage.completion.unwrap_or(0));
        self.totals.calls += 1;
        self.totals.tokens = self.totals.tokens.saturating_add(tokens);
        self.totals.took += reply.elapsed.as_secs_f64() * 1000.0;
        self.repairs += usize::from(had_plan == Some(true) && reply.failed().is_none());
        let what = match had_plan {
            Some(false) => Shown::own("plan"),
            Some(true) => shown!("repair {}", self.repairs),
            None => shown!("step {}", round.ask.step + 1),
        };
        let (bytes, seconds) = (reply.received.content.len(), reply.elapsed.as_secs_f64());
        let sentence = match reply.failed() {
            Some(why) => shown!("{what}: {why}"),
            None => shown!("{what}: {bytes} bytes in {seconds:.1} s; {}", round.tally()),
        };
        if self.past.len() >= MAX_PAST {
            self.past.remove(0);
        }
        self.past.push(sentence);
    }

    /// Sets a breakpoint, or takes away the one that was typed the same. Before the first question there is nothing to look
    /// at.
    pub(crate) fn turn_breakpoint(&mut self, breakpoint: Breakpoint) -> Option<LiveWork> {
        let before = self.breakpoints.len();
        self.breakpoints.retain(|other| other.typed != breakpoint.typed);
        if self.breakpoints.len() == before {
            self.breakpoints.push(breakpoint);
        }
        self.change(LiveChange::Look)
    }

    /// Lists the rows of the preview.
    pub fn rows(&self) -> &'static [LiveField] {
        match self.origin {
            LiveOrigin::Question(_) => &[LiveField::Send, LiveField::Model, LiveField::Task, LiveField::Release],
            LiveOrigin::Record(..) => &[LiveField::Send, LiveField::Model, LiveField::From],
        }
    }

    /// Returns the field under the cursor.
    pub fn field(&self) -> LiveField {
        self.rows().get(self.fields.at).copied().unwrap_or(LiveField::Send)
    }

    /// Changes the field under the cursor. `true`: the request is another now.
    pub(crate) fn turn_field(&mut self, by: isize) -> bool {
        if self.stage != LiveStage::Preview || self.pane != LivePane::Top {
            return false;
        }
        let last = self.view.as_ref().map_or(0, |view| view.opened.steps.len().saturating_sub(1));
        match self.field() {
            LiveField::From => {
                let LiveOrigin::Record(_, step) = &mut self.origin else { return false };
                *step = step.saturating_add_signed(by).min(last);
            }
            LiveField::Task => self.task = turn(&AnswerSchema::ALL, self.task, by),
            LiveField::Release => self.release = turn(&Release::ALL, self.release, by),
            LiveField::Send | LiveField::Model => return false,
        }
        true
    }

    /// Returns the variable under the cursor with its value as a JSON text, and the step that comes next.
    pub(crate) fn variable(&self) -> Option<(Untrusted<'static>, Option<Vec<u8>>, usize)> {
        let view = self.view.as_ref()?;
        let name = view.opened.view().state().variables().get(self.variables.at)?.name.to_owned();
        let next = view.next?;
        let held = view.opened.write_at(self.variables.at, Moment(next)).and_then(|write| write.value.as_ref());
        let value = held.and_then(|value| view.opened.json_at(value.pointer.as_ref()?));
        Some((name, value, next))
    }

    /// Returns the name of the variable under the cursor, and its value in full, if it has one by now.
    pub(crate) fn value_here(&self) -> Option<(Shown, Shown)> {
        let view = self.view.as_ref().filter(|view| !view.is_creating)?;
        let opened = &view.opened;
        let moment = Moment(view.next.unwrap_or(opened.steps.len()));
        let value = opened.write_at(self.variables.at, moment)?.value.as_ref()?;
        let name = opened.variables.get(self.variables.at)?.name.clone();
        Some((name, opened.value_at(value.pointer.as_ref()?)?))
    }

    /// Checks that a value or the prompt can be changed now.
    pub(crate) fn may_edit(&self) -> Result<(), Reason> {
        need(!self.is_creating(), "there are no steps yet")?;
        let is_before_step = self.question.is_some() || self.stage == LiveStage::Ended;
        need(is_before_step && self.machine.is_some(), "only before a step is sent")?;
        let is_variable = self.pane == LivePane::State;
        need(!is_variable || self.stage == LiveStage::Ended || self.variable().is_some(), "no variable selected")
    }

    /// Tells whether upstream ended it, at a reply.
    pub(crate) fn ends_upstream(&self) -> bool {
        let ended = self.view.as_ref().and_then(|view| view.ended.as_ref());
        self.stage == LiveStage::Ended && ended.is_some_and(|(_, is_upstreams)| *is_upstreams)
    }

    /// Tells whether something that is not saved would be lost.
    pub fn is_unsaved(&self) -> bool {
        let is_safe = matches!(self.kept, Kept::Saved | Kept::Saving(_) | Kept::Waiting(_));
        // What was paid for may still be on its way.
        !is_safe && self.round.is_some()
    }

    /// Notes whether its record is on the disk.
    pub(crate) fn note_saved(&mut self, id: LineId, is_saved: bool) {
        if matches!(self.kept, Kept::Saving(other) | Kept::Waiting(other) if other == id) {
            self.kept = if is_saved { Kept::Saved } else { Kept::Waiting(id) };
        }
    }
}
