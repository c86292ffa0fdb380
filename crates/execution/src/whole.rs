//! A whole run as a machine: it begins with a procedure and a question, runs every step as evoproc's runner does, and
//! takes a reply exactly as it is, unless it is tolerant.

use crate::fork::{Executed, RunParts, run_record};
use crate::machine::{Machine, Question};
use crate::prompt::{AnswerShape, Release};
use crate::replay::NoReplay;
use crate::runner::{Ended, Runner, Values};
use crate::sampling::SamplingRound;
use crate::tolerant::TakenReply;
use stepscope_base::json::Value;
use stepscope_base::text::{Shown, Untrusted};

/// A procedure on its way from its first step.
#[derive(Debug)]
pub struct WholeRun<'a> {
    runner: Runner<'a>,
    question: Untrusted<'static>,
    shape: AnswerShape<'a>,
    /// Calls that created the procedure.
    pub creation: Vec<Executed>,
    /// The release as which it ends.
    pub release: Release,
    /// Text left out of the last reply so that it could be taken.
    pub tolerated: Option<Shown>,
    /// Takes replies at which upstream would end, and notes it in their calls.
    pub is_tolerant: bool,
    calls: Vec<Executed>,
    ended: Option<Ended>,
}

impl<'a> WholeRun<'a> {
    /// Creates the run before the first step. `is_lenient`: a reply that lacks an expected key is taken all the same.
    pub fn new(
        procedure: Value<'a>,
        question: Untrusted<'static>,
        shape: AnswerShape<'a>,
        is_lenient: bool,
    ) -> Result<Self, NoReplay> {
        let runner = Runner::new(procedure, &question, shape, !is_lenient);
        if !runner.procedure().is_whole() {
            return Err(NoReplay::TooLarge);
        }
        let (creation, calls, release) = (Vec::new(), Vec::new(), Release::V1_2_0);
        let (tolerated, is_tolerant, ended) = (None, false, None);
        Ok(Self { runner, question, shape, creation, release, tolerated, is_tolerant, calls, ended })
    }

    /// Counts the steps.
    pub fn steps(&self) -> usize {
        self.runner.steps()
    }

    /// Returns the global state by now.
    pub fn state(&self) -> &Values {
        self.runner.state()
    }

    /// Returns the reason of its end, if it ended early.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Writes the run as a record.
    pub fn record(&self, created_utc: &str) -> Vec<u8> {
        let open = (self.runner.position() < self.runner.steps()).then(Ended::unfinished);
        let parts = RunParts {
            procedure: Some(self.runner.procedure().value),
            question: &self.question,
            shape: self.shape,
            creation: &self.creation,
            calls: &self.calls,
            values: Some(self.runner.state()),
            ended: self.ended.as_ref().or(open.as_ref()),
            sets: &[],
            prompts: &[],
        };
        run_record(&parts, created_utc)
    }
}

impl Machine for WholeRun<'_> {
    fn question(&mut self) -> Option<Question> {
        if self.ended.is_some() {
            return None;
        }
        match self.runner.next_ask() {
            Ok(ask) => ask.map(|ask| {
                let step = self.runner.procedure().steps.get(ask.step);
                let step_id = step.and_then(|step| step.value.get("id")).map(|id| id.raw().to_vec());
                Question { ask, step_id, prompt: None, seed: None, samples: 1 }
            }),
            Err(ended) => {
                self.ended = Some(ended);
                None
            }
        }
    }

    fn take(&mut self, round: &SamplingRound, _: &str) {
        let Some(reply) = round.replies.first() else { return };
        let mut executed = reply.executed.clone();
        let taken = match reply.failed() {
            Some(_) => Err(round.ended()),
            None => {
                let (content, keys) = (&reply.received.content, &round.ask.request.expected);
                let taken =
                    if self.is_tolerant { TakenReply::tolerant(content, keys) } else { TakenReply::exact(content) };
                (executed.tolerated, self.runner.release) = (taken.tolerated, self.release);
                self.runner.take(&round.ask, &taken.json)
            }
        };
        match taken {
            Ok(outputs) => executed.outputs = Some(outputs),
            Err(ended) => {
                executed.error = Some(ended.recorded());
                self.ended = Some(ended);
            }
        }
        self.tolerated.clone_from(&executed.tolerated);
        self.calls.push(executed);
    }
}
