//! A repair by a model on its way: the machine that says what to ask, and the call that runs.

use stepscope_base::text::Shown;
use stepscope_execution::call::{Call, RunId};
use stepscope_execution::machine::Machine as _;
use stepscope_execution::repair::MAX_TRIES;
use stepscope_execution::repair::model::ModelRepair;
use stepscope_execution::sampling::{CallEvent, Sampling, SamplingRound, ServerInfo};

/// See the module.
#[derive(Debug)]
pub struct Repairing {
    /// The model and the place of its server.
    pub server: Shown,
    /// Repair so far.
    pub machine: ModelRepair,
    /// The call that runs, or ran last.
    pub round: Option<SamplingRound>,
}

impl Repairing {
    /// Makes a repair before its first call.
    pub fn new(procedure: Vec<u8>, server: Shown) -> Self {
        Self { server, machine: ModelRepair::new(procedure, MAX_TRIES), round: None }
    }

    /// The number of the call.
    pub(crate) fn id(&self) -> RunId {
        self.round.as_ref().map_or(RunId::default(), |round| round.id)
    }

    /// The reply so far.
    pub fn content(&self) -> &[u8] {
        self.round.as_ref().and_then(|round| round.replies.first()).map_or(&[], |reply| &reply.received.content)
    }

    /// Makes the call that comes next.
    pub(crate) fn ask(&mut self, id: RunId, sampling: &Sampling, server: ServerInfo) -> Option<Vec<Call>> {
        let (round, calls) = SamplingRound::new(id, self.machine.question()?, sampling, server);
        self.round = Some(round);
        Some(calls)
    }

    /// Applies an event of the call; `true`: the reply is there.
    pub(crate) fn hear(&mut self, id: RunId, events: Vec<CallEvent>) -> bool {
        let Some(round) = self.round.as_mut().filter(|_| !self.machine.is_over) else { return false };
        for event in events {
            // The only call begins with the round.
            let at = event.elapsed;
            let _ = round.hear(id, event, at);
        }
        if !round.is_over() {
            return false;
        }
        round.judge();
        self.machine.take(round, "");
        true
    }
}
