//! A whole run as a machine: it begins with a procedure and a question, runs every step as evoproc's runner does, and
//! takes a reply exactly as it is.

use crate::fork::{Executed, run_record};
use crate::machine::{Machine, Question};
use crate::prompt::AnswerShape;
use crate::replay::NoReplay;
use crate::runner::{Ended, Runner, Values};
use crate::sampling::SamplingRound;
use stepscope_base::json::Value;
use stepscope_base::text::Untrusted;

/// A procedure on its way from its first step.
#[derive(Debug)]
pub struct WholeRun<'a> {
    runner: Runner<'a>,
    question: Untrusted<'static>,
    shape: AnswerShape<'a>,
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
        Ok(Self { runner, question, shape, calls: Vec::new(), ended: None })
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
        let end = (self.runner.state(), self.ended.as_ref());
        run_record(self.runner.procedure().value, &self.question, self.shape, &self.calls, end, created_utc)
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
                Question { ask, step_id, prompt: None, samples: 1 }
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
            None => self.runner.take(&round.ask, &reply.received.content),
        };
        match taken {
            Ok(outputs) => executed.outputs = Some(outputs),
            Err(ended) => {
                executed.error = Some(ended.recorded());
                self.ended = Some(ended);
            }
        }
        self.calls.push(executed);
    }
}
