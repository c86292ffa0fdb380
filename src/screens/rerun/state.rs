//! The re-run screen's state: the model, the request, the reply and the outcome of the run. It owns its changes;
//! `update` only routes to it, and nothing is sent from here.

use std::sync::Arc;
use std::time::Instant;

use crate::app::call_clock::CallClock;
use crate::app::model_choice::{Candidate, ModelChoice};
use crate::widgets::keymap::Action;
use crate::widgets::list::List;
use crate::widgets::panes;
use crate::widgets::panes::{Areas, Numbered};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::Document;
use stepscope_execution::call::{Call, Enforcement, Phase, RunId};
use stepscope_execution::fork::Scope;
use stepscope_execution::replay::{Preview, RerunStart};
use stepscope_execution::runner::Ask;
use stepscope_execution::sampling::{CallEvent, Choice, SamplingRound};
use stepscope_io::log::LineId;
use stepscope_io::model::setup::Server;

use crate::screens::rerun::outcome::Outcome;
use crate::screens::rerun::transition::{NextCall, Reached, Ready, Transition};

/// Maximum number of samples that can be asked for from the screen.
pub(crate) const MAX_SAMPLES: usize = 100;
/// Number of samples that `^R` begins with.
pub const SAMPLES: usize = 5;
/// Number of calls that run at once.
pub(crate) const AT_ONCE: usize = 4;

/// List of servers and recordings to choose from.
#[derive(Debug, Default)]
pub struct Picker {
    /// Sources that may be chosen.
    pub candidates: Vec<Candidate>,
    /// The cursor.
    pub list: List,
    /// Servers are still being looked for.
    pub is_looking: bool,
    /// Chosen server is still being opened: a recording is read whole.
    pub is_opening: bool,
    /// Reason that something is missing from them.
    pub trouble: Option<Shown>,
}

/// Stage of a re-run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stage {
    /// A server is being chosen.
    Choosing,
    /// The request is shown before it is sent.
    #[default]
    Preview,
    /// A model is at work.
    Asking,
    /// Replies are being judged.
    Judging,
    /// One of several replies is to be chosen.
    Several,
    /// End: no more will come.
    Over,
}

/// Amount of a reply that came and is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReplyAmount {
    /// Not a letter.
    Nothing,
    /// It broke off.
    Part,
    /// All of it, and nothing could be read from it.
    Whole,
}

stepscope_base::words! {
    /// The rows of the preview.
    pub enum Field {
        /// The line that sends.
        Send = "",
        /// The server.
        Server = "server",
        /// The model.
        Model = "model",
        /// The scope of the re-run.
        Scope = "scope",
        /// The number of replies.
        Samples = "samples",
        /// The temperature.
        Temperature = "temperature",
        /// The seed.
        Seed = "seed",
        /// The enforcement of the schema.
        Enforcement = "output format",
    }
}

impl Field {
    /// Rows of a structured answer, which is one call.
    const OF_ANSWER: [Self; 6] =
        [Self::Send, Self::Server, Self::Model, Self::Temperature, Self::Seed, Self::Enforcement];

    /// Returns the label in front of the line on which it is typed; empty for what is not typed.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Model => " model: ",
            Self::Samples => " samples: ",
            Self::Temperature => " temperature (server default): ",
            Self::Seed => " seed (server default): ",
            Self::Send | Self::Server | Self::Scope | Self::Enforcement => "",
        }
    }
}

stepscope_base::words! {
    /// The panes.
    #[derive(Default)]
    pub enum Pane {
        /// The box at the top: what is to be sent, what came, what is to be chosen.
        #[default]
        Top = "re-run",
        /// The prompt that is sent.
        Request = "Request",
        /// The reply that comes back.
        Reply = "Reply",
        /// The diff of recorded and new.
        Difference = "Difference",
    }
}

impl Numbered for Pane {
    const PANES: &'static [Self] = &Self::ALL;
}

impl Pane {
    /// Panes below the box, in their order.
    pub(crate) const LOWER: [Self; 3] = [Self::Request, Self::Reply, Self::Difference];
}

/// Progress of saving the fork.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Kept {
    /// Saving was not asked for.
    #[default]
    No,
    /// Fork being written.
    Saving(LineId),
    /// Fork that could not be written yet, and can be given again.
    Waiting(LineId),
    /// Fork on the disk.
    Saved,
    /// Fork that cannot be written anywhere.
    Failed,
}

/// Subject of a re-run.
#[derive(Clone, Debug, Default)]
pub enum Of {
    /// Steps of a run.
    #[default]
    Run,
    /// A structured answer; the document that it cites.
    Answer(Option<Arc<Document>>),
}

/// Purpose for which a model is chosen, if that is no re-run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChoosesFor {
    /// Repair of the procedure.
    Repair,
    /// Run that is being made.
    Live,
}

/// State of one re-run.
#[derive(Debug, Default)]
pub struct Attempt {
    /// Number of the work that is awaited; results of any other are out of date.
    pub id: RunId,
    /// Subject of the re-run.
    pub of: Of,
    /// The step at which it begins, by position.
    pub step: usize,
    /// Number of steps.
    pub steps: usize,
    /// The step to fix with the model that the record names for it, where that is another one: it is offered.
    pub(crate) to_fix: Option<(usize, Option<String>)>,
    /// Purpose for which only a model is chosen here.
    pub(crate) chooses_for: Option<ChoosesFor>,
    /// The model that the record names.
    pub known: Option<String>,
    /// Scope of the re-run.
    pub scope: Scope,
    /// Number of times that the step is asked.
    pub samples: usize,
    /// Values in place of the recorded ones, as JSON texts.
    pub edits: Vec<(Untrusted<'static>, Vec<u8>)>,
    /// The prompt in place of the step's own.
    pub prompt: Option<Untrusted<'static>>,
    /// Stage that it has reached.
    pub stage: Stage,
    /// Servers and recordings to choose from.
    pub picker: Picker,
    /// The row of the preview, or the reply, under the cursor.
    pub list: List,
    /// Question that can be asked next, and a preview of all that will be.
    pub ready: Option<Box<Ready>>,
    /// Reason that nothing can be asked.
    pub never: Option<Shown>,
    /// The size of what goes out first, in bytes.
    pub bytes: Option<usize>,
    /// True if the recording holds a reply to it.
    pub is_recorded: Option<bool>,
    /// Samples that the recording holds, where more were asked for.
    pub recorded_samples: Option<usize>,
    /// Calls that are under way, or were last.
    pub round: Option<Box<SamplingRound>>,
    /// Machine that the calls are a part of, while they run and while a choice is awaited.
    machine: Option<NextCall>,
    /// The steps that were asked so far: a sentence each.
    pub past: Vec<Shown>,
    /// Preview of all that is asked.
    pub preview: Preview,
    /// Outcome of the run.
    pub outcome: Option<Box<Outcome>>,
    /// Progress of saving it.
    pub kept: Kept,
    /// Action that was asked whether to drop what is not saved.
    pub warned: Option<Action>,
    /// The pane that has the keys.
    pub pane: Pane,
    /// True if that pane fills the screen.
    pub maximised: bool,
    /// Areas of the panes, as they were laid out last.
    pub(crate) areas: Areas<Pane>,
    /// The first line on screen of the lower panes.
    pub tops: [usize; 3],
    /// The end of the reply stays on screen.
    pub follows: bool,
    /// Clock of the calls that run.
    pub clock: CallClock,
    text: Vec<u8>,
}

impl Attempt {
    /// Prepares a re-run from a step of a record.
    pub fn new(of: Of, text: Vec<u8>, step: usize, steps: usize, known: Option<String>) -> Self {
        Self { of, text, step, steps, known, samples: 1, follows: true, ..Self::default() }
    }

    /// Prepares the choice of a model for something else than a re-run.
    pub(crate) fn choosing(id: RunId, purpose: ChoosesFor) -> Self {
        Self { id, chooses_for: Some(purpose), ..Self::default() }
    }

    /// Begins the transition to what can be asked, from the beginning; what was ready no longer is.
    pub fn begin(&mut self, id: RunId) -> Transition {
        (self.id, self.never, self.ready) = (id, None, None);
        let text = self.text.clone();
        if let Of::Answer(document) = &self.of {
            return Transition::Answer(text, document.clone());
        }
        let (edits, prompt) = (self.edits.clone(), self.prompt.clone());
        let (step, scope, samples) = (self.step, self.scope, self.samples);
        Transition::Begin(text, RerunStart { step, edits, scope, samples, prompt, ..RerunStart::default() })
    }

    /// Turns to the step to fix, where it is offered.
    pub(crate) fn turn_to_fix(&mut self) {
        if let Some((step, known)) = self.to_fix.take() {
            (self.step, self.known) = (step, known);
        }
    }

    /// Goes back to the preview; what came is dropped.
    pub fn again(&mut self) {
        (self.stage, self.pane, self.list) = (Stage::Preview, Pane::Top, List::default());
        (self.round, self.machine, self.outcome, self.ready) = (None, None, None, None);
        (self.kept, self.warned, self.follows) = (Kept::No, None, true);
        self.past.clear();
        self.tops = [0; 3];
    }

    /// Tells whether a model is at work.
    pub fn is_running(&self) -> bool {
        self.stage == Stage::Asking
    }

    /// Tells whether a model is at work, or what came of it is being judged.
    pub fn is_busy(&self) -> bool {
        matches!(self.stage, Stage::Asking | Stage::Judging)
    }

    /// Returns what is asked next, or was asked last.
    pub fn ask(&self) -> Option<&Ask> {
        let next = self.ready.as_ref().map(|ready| &ready.question.ask);
        self.round.as_ref().map(|round| &round.ask).or(next)
    }

    /// Returns the prompt that is sent next, or was sent last.
    pub fn request(&self) -> Option<&Untrusted<'static>> {
        let last = self.round.as_ref().and_then(|round| round.replies.first()).map(|reply| &reply.executed.prompt);
        last.or_else(|| self.ready.as_ref().map(|ready| ready.question.prompt()))
    }

    /// Estimates the number of tokens that are sent in all.
    pub fn tokens(&self) -> usize {
        let first = self.request().map_or(0, |prompt| prompt.bytes().len().div_ceil(4));
        self.preview.tokens.saturating_add(first.saturating_mul(self.samples.saturating_sub(1)))
    }

    /// Measures what goes out first.
    pub fn measure(&mut self, models: &ModelChoice) {
        let measured = self.ready.as_ref().and_then(|ready| models.measure(&ready.question, self.known.as_ref()));
        (self.bytes, self.is_recorded) =
            measured.map_or((None, None), |(bytes, is_recorded)| (Some(bytes), is_recorded));
        self.keep_to_recording(models);
    }

    /// Asks for no more samples than the recording holds: the others would fail.
    fn keep_to_recording(&mut self, models: &ModelChoice) {
        let Some(ready) = &mut self.ready else { return };
        let Some(held) = models.recorded_samples(&ready.question, self.known.as_ref()) else {
            self.recorded_samples = None;
            return;
        };
        if (1..ready.question.samples).contains(&held) {
            (ready.question.samples, self.samples) = (held, held);
            self.recorded_samples = Some(held);
        }
    }

    /// Returns the model that is asked.
    pub fn model(&self, models: &ModelChoice) -> Option<String> {
        models.asked(self.known.as_ref())
    }

    /// Makes the calls for what can be asked.
    pub fn send(&mut self, models: &mut ModelChoice) -> Option<(RunId, Server, Vec<Call>)> {
        let model = self.model(models)?;
        let server = models.server.clone()?;
        let ready = *self.ready.take()?;
        let id = models.next_id();
        let (round, calls) = SamplingRound::new(id, ready.question, &models.sampling, server.info(&model));
        self.id = id;
        (self.round, self.machine) = (Some(Box::new(round)), Some(ready.machine));
        (self.stage, self.pane, self.follows) = (Stage::Asking, Pane::Reply, true);
        self.tops = [0; 3];
        self.list = List::default();
        self.clock = CallClock::default();
        Some((id, server, calls))
    }

    /// Applies an event of a call, unless it is stale; returns the next transition once the round is complete.
    pub fn hear(&mut self, id: RunId, told: Vec<CallEvent>, now: Instant) -> Option<Transition> {
        self.pass(now);
        if !self.is_running() || id != self.id {
            return None;
        }
        let at = self.clock.elapsed();
        let round = self.round.as_mut()?;
        for told in told {
            // Of several calls the others go on.
            if round.replies.len() == 1 {
                self.clock.hear(&told.event);
            }
            round.hear(id, told, at);
        }
        if round.is_over() { self.judge() } else { None }
    }

    /// Breaks off what runs: which calls, and the way on with what came.
    pub fn cancel(&mut self) -> Option<(RunId, Transition)> {
        let elapsed = self.clock.elapsed();
        self.round.as_mut().filter(|_| self.stage == Stage::Asking)?.cancel(elapsed);
        let id = self.id;
        Some((id, self.judge()?))
    }

    fn judge(&mut self) -> Option<Transition> {
        (self.stage, self.warned) = (Stage::Judging, None);
        Some(Transition::Came(self.machine.take()?, self.round.clone()?))
    }

    /// Advances the clock.
    pub fn pass(&mut self, now: Instant) {
        if self.is_running() {
            self.clock.pass(now);
        }
    }

    /// Returns the time at which the clock is to advance.
    pub fn wake_at(&self) -> Option<Instant> {
        self.clock.wake_at().filter(|_| self.is_running())
    }

    /// Takes what was worked out. `true`: the next step is to be asked at once.
    pub fn reach(&mut self, reached: Reached) -> bool {
        match reached {
            Reached::Ask(mut ready) => {
                let goes_on = self.stage == Stage::Judging;
                if let Some(past) = ready.past.take() {
                    self.past.push(self.in_short(&past));
                } else {
                    self.preview = ready.preview.clone();
                }
                self.ready = Some(ready);
                return goes_on;
            }
            Reached::Several(machine, round) => {
                (self.machine, self.round) = (Some(NextCall::Steps(machine)), Some(round));
                (self.stage, self.pane, self.list) = (Stage::Several, Pane::Top, List::default());
                self.follows = false;
            }
            Reached::Over(round, outcome) => {
                if let Some(round) = round {
                    self.past.push(self.in_short(&round));
                    self.round = Some(round);
                }
                (self.stage, self.outcome, self.list) = (Stage::Over, Some(outcome), List::default());
                // The reply is read from its beginning now.
                (self.pane, self.follows) = (Pane::Difference, false);
            }
            Reached::Never(why) => {
                self.never = Some(why);
                self.stage = Stage::Preview;
            }
        }
        false
    }

    /// Takes one of several replies, or all of them together; from here on, if that is wanted.
    pub fn take(&mut self, scope: Option<Scope>) -> Option<Transition> {
        let choice = self.list.at.checked_sub(1).map_or(Choice::Consensus, Choice::Reply);
        let round = self.round.as_ref().filter(|_| self.stage == Stage::Several)?;
        let NextCall::Steps(mut machine) = self.machine.take()? else { return None };
        if let Some(scope) = scope {
            machine.reach(scope);
            self.preview = machine.preview();
            self.scope = scope;
        }
        self.stage = Stage::Judging;
        Some(Transition::Take(machine, round.clone(), choice))
    }

    /// Checks whether the reply under the cursor can be taken; `Err`: why not.
    pub(crate) fn can_take(&self) -> Result<(), &'static str> {
        let round = self.round.as_ref().filter(|_| self.stage == Stage::Several).ok_or("nothing to choose")?;
        match self.list.at.checked_sub(1) {
            None if !round.has_majority() => Err("no majority: no reply has every key; choose one"),
            None => Ok(()),
            Some(n) => match round.replies.get(n) {
                Some(reply) if reply.failed().is_some() => Err("this call failed: no reply"),
                Some(reply) if !reply.is_usable() => Err("this reply cannot be used: it does not match the schema"),
                Some(_) => Ok(()),
                None => Err("no such reply"),
            },
        }
    }

    /// Returns the reply that the reply pane shows: the one under the cursor, where there are several.
    pub(crate) fn shown_reply(&self) -> usize {
        match self.stage {
            Stage::Several => self.list.at.saturating_sub(1),
            _ => 0,
        }
    }

    /// Tells how much came of a reply that is no answer.
    pub(crate) fn amount(&self) -> ReplyAmount {
        let reply = self.round.as_ref().and_then(|round| round.replies.get(self.shown_reply()));
        match reply.map(|reply| &reply.received) {
            Some(received) if matches!(received.phase, Phase::Done(_)) => ReplyAmount::Whole,
            Some(received) if !received.content.is_empty() || !received.reasoning.is_empty() => ReplyAmount::Part,
            _ => ReplyAmount::Nothing,
        }
    }

    /// Counts the rows that the cursor of the box at the top can be on.
    pub fn rows(&self) -> usize {
        match self.stage {
            Stage::Choosing => self.picker.candidates.len(),
            Stage::Preview => self.fields().len(),
            Stage::Several => 1 + self.round.as_ref().map_or(0, |round| round.replies.len()),
            Stage::Asking | Stage::Judging | Stage::Over => 0,
        }
    }

    /// Tells whether a structured answer is asked for again.
    pub const fn is_answer(&self) -> bool {
        matches!(self.of, Of::Answer(_))
    }

    /// Lists the rows of the preview.
    pub const fn fields(&self) -> &'static [Field] {
        if self.is_answer() { &Field::OF_ANSWER } else { &Field::ALL }
    }

    /// Returns the field under the cursor.
    pub fn field(&self) -> Field {
        self.fields().get(self.list.at).copied().unwrap_or(Field::Send)
    }

    /// Sums up one call, or the calls of a step, in a sentence.
    fn in_short(&self, round: &SamplingRound) -> Shown {
        let bytes: usize = round.replies.iter().map(|reply| reply.received.content.len()).sum();
        let slowest = round.replies.iter().map(|reply| reply.elapsed).max().unwrap_or_default();
        let seconds = slowest.as_secs_f64();
        let what = self.named(round.ask.step);
        if let [reply] = round.replies.as_slice()
            && reply.failed().is_some()
        {
            return shown!("{what}: failed, no complete reply ({bytes} bytes in {seconds:.1} s)");
        }
        shown!("{what}: {bytes} bytes in {seconds:.1} s; {}", round.tally())
    }

    /// Names a step.
    pub fn named(&self, step: usize) -> Shown {
        if self.is_answer() { Shown::own("the answer") } else { shown!("step {}", step + 1) }
    }

    /// Returns the reason that the run ended early.
    pub fn ended(&self) -> Option<&Shown> {
        self.outcome.as_ref()?.ended.as_ref()
    }

    /// Tells whether something that is not saved would be lost.
    pub fn is_unsaved(&self) -> bool {
        // What could not be written is kept by the program, which asks again before it ends.
        let is_safe = matches!(self.kept, Kept::Saved | Kept::Saving(_) | Kept::Waiting(_));
        match self.stage {
            Stage::Choosing | Stage::Preview => false,
            Stage::Several => true,
            Stage::Asking | Stage::Judging => !self.past.is_empty() || self.has_heard(),
            Stage::Over => {
                // The beginning of a reply is none.
                let is_result = |outcome: &Outcome| {
                    outcome.ended.is_none() || !outcome.received.is_empty() || self.amount() == ReplyAmount::Whole
                };
                !is_safe && self.outcome.as_deref().is_some_and(is_result)
            }
        }
    }

    /// Tells whether anything came of the calls that run, or ran last. The beginning of a reply that broke off is nothing.
    fn has_heard(&self) -> bool {
        let received = self.round.iter().flat_map(|round| &round.replies).map(|reply| &reply.received);
        let goes_on = received.filter(|received| !matches!(received.phase, Phase::Failed(_) | Phase::Cancelled));
        goes_on.into_iter().any(|received| !received.content.is_empty() || !received.reasoning.is_empty())
    }
}

/// Returns the next enforcement, from the last to the first.
pub fn turned(enforcement: Enforcement, by: isize) -> Enforcement {
    panes::turn(&[Enforcement::Schema, Enforcement::Json, Enforcement::Prompt], enforcement, by)
}

/// Returns the next scope, from the last to the first.
pub fn farther(scope: Scope, by: isize) -> Scope {
    panes::turn(&[Scope::One, Scope::Stale, Scope::FromHere], scope, by)
}

/// Renders a scope in words.
pub(crate) const fn scope_words(scope: Scope) -> &'static str {
    match scope {
        Scope::One => "this step only",
        Scope::Stale => "this step and its dependents",
        Scope::FromHere => "this step and all later ones",
    }
}
