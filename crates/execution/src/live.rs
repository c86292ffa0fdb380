//! A run under a person's hand: a question becomes a procedure, or one is there; then step after step is asked, and before
//! each of them its prompt may be changed and a value set. What ended it can be asked again. Nothing is sent from here.

use crate::create::Creation;
use crate::fork::{Fork, RunParts, Scope, run_record};
use crate::machine::{Machine, Question};
use crate::prompt::{AnswerShape, Release};
use crate::replay::{NoReplay, RerunStart};
use crate::rerun::RerunMachine;
use crate::runner::{Ended, NOT_SENT};
use crate::sampling::SamplingRound;
use stepscope_base::json::Tape;
use stepscope_base::text::Untrusted;
use stepscope_judge::case::{Case, CaseView};
use stepscope_record::AnswerSchema;

/// See the module.
#[derive(Debug)]
pub struct LiveRun {
    /// The creation of its procedure, if it began with a question.
    creation: Option<Creation>,
    task: AnswerSchema,
    release: Release,
    /// The steps, once there is a procedure.
    steps: Option<RerunMachine>,
    /// Reason that its procedure cannot be run, though it is valid.
    never: Option<Ended>,
}

/// Change that a person makes before the next call.
#[derive(Clone, Debug)]
pub enum LiveChange {
    /// Value that is set before the step that comes next, as a JSON text.
    Set(Untrusted<'static>, Vec<u8>),
    /// Prompt that goes out in place of the step's own; `None`: its own.
    Prompt(Option<Untrusted<'static>>),
    /// Acceptance of the object in the reply at which it ended.
    Tolerate,
    /// Repetition of the question at which it ended.
    Again,
    /// End: it is saved as it is.
    Save,
    /// No change: it is looked at again.
    Look,
}

impl LiveRun {
    /// Creates a run that begins with a question, to which evoproc's release would answer with a schema.
    pub fn create(question: Untrusted<'static>, task: AnswerSchema, release: Release) -> Self {
        Self { creation: Some(Creation::new(question, release)), task, release, steps: None, never: None }
    }

    /// Creates a run of a recorded procedure, from one of its steps, with the recorded state before it.
    pub fn of(case: Case<'static>, step: usize) -> Result<Self, NoReplay> {
        let release = Release::default();
        let steps = steps(case, step, release)?;
        let (task, steps) = (AnswerSchema::General, Some(steps));
        Ok(Self { creation: None, task, release, steps, never: None })
    }

    /// Returns the creation of its procedure, if it began with a question.
    pub fn creation(&self) -> Option<&Creation> {
        self.creation.as_ref()
    }

    /// Tells whether there is no procedure yet that can be run.
    pub fn is_creating(&self) -> bool {
        self.steps.is_none()
    }

    /// Returns the reason of its end, if it ended early; it can be asked again.
    pub fn ended(&self) -> Option<&Ended> {
        match &self.steps {
            Some(steps) => steps.ended(),
            None => self.never.as_ref().or(self.creation.as_ref()?.ended.as_ref()),
        }
    }

    /// Makes a change before the next call. `false`: it cannot be made.
    pub fn change(&mut self, change: LiveChange, now_utc: &str) -> bool {
        let is_made = match (change, &mut self.steps, &mut self.creation) {
            (LiveChange::Set(name, value), Some(steps), _) => {
                steps.set(name, value);
                true
            }
            (LiveChange::Prompt(prompt), Some(steps), _) => {
                steps.ask_with(prompt);
                true
            }
            (LiveChange::Again, Some(steps), _) => {
                steps.again();
                true
            }
            (LiveChange::Again, None, Some(creation)) => {
                creation.again();
                true
            }
            (LiveChange::Tolerate, Some(steps), _) => steps.tolerate(),
            (LiveChange::Tolerate, None, Some(creation)) => creation.tolerate(),
            (LiveChange::Save | LiveChange::Look, ..) => true,
            _ => false,
        };
        self.begin_steps(now_utc);
        is_made
    }

    /// Begins with the steps once there is a procedure.
    fn begin_steps(&mut self, now_utc: &str) {
        if self.steps.is_none() && self.creation.as_ref().is_some_and(Creation::is_done) {
            let Some(record) = self.record(false, now_utc) else { return };
            match steps(Case::read(record), 0, self.release) {
                Ok(steps) => self.steps = Some(steps),
                Err(why) => {
                    self.never = Some(Ended::of_creation(NOT_SENT, Untrusted::owned(why.to_string().into_bytes())))
                }
            }
        }
    }

    /// Writes what there is by now as a record. One that is not over says that a person left it, or, while it is only
    /// kept for the case that the program ends, that it was not finished.
    pub fn record(&self, is_left: bool, created_utc: &str) -> Option<Vec<u8>> {
        let Some(steps) = &self.steps else {
            let mut tape = Tape::default();
            return Some(
                self.creation
                    .as_ref()?
                    .record(AnswerShape::of_release(self.release, self.task, &mut tape), created_utc),
            );
        };
        let open = |step| Some(if is_left { Ended::left_before(step) } else { Ended::unfinished() });
        let write = |fork: Fork, case: &CaseView<'_>| self.written(&fork, case, created_utc);
        steps.fork_by_now(open, write).flatten()
    }

    fn written(&self, fork: &Fork, case: &CaseView<'_>, created_utc: &str) -> Option<Vec<u8>> {
        let record = case.record.as_ref()?;
        let Some(creation) = &self.creation else {
            return Some(fork.record(record, case.text(), created_utc));
        };
        let parts = RunParts {
            procedure: record.procedure,
            question: creation.asked_about(),
            shape: AnswerShape::of(record),
            creation: &creation.calls,
            calls: &fork.calls,
            values: Some(&fork.values),
            ended: fork.ended.as_ref(),
            sets: &fork.sets,
            prompts: &fork.prompts,
        };
        Some(run_record(&parts, created_utc))
    }
}

/// Creates the machine of the steps, which takes replies as upstream does.
fn steps(case: Case<'static>, step: usize, release: Release) -> Result<RerunMachine, NoReplay> {
    let start = RerunStart { step, scope: Scope::FromHere, release, ..RerunStart::default() };
    Ok(RerunMachine::new(case, start)?.exactly())
}

impl Machine for LiveRun {
    fn question(&mut self) -> Option<Question> {
        match (&mut self.steps, &mut self.creation) {
            (Some(steps), _) => steps.question(),
            (None, Some(creation)) => creation.question(),
            (None, None) => None,
        }
    }

    fn take(&mut self, round: &SamplingRound, now_utc: &str) {
        match (&mut self.steps, &mut self.creation) {
            (Some(steps), _) => steps.take(round, now_utc),
            (None, Some(creation)) => {
                creation.take(round, now_utc);
                self.begin_steps(now_utc);
            }
            (None, None) => {}
        }
        // A person who cancels a call has not ended the run.
        if round.was_cancelled() {
            self.change(LiveChange::Again, now_utc);
        }
    }
}
