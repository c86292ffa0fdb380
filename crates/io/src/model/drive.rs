//! The loop that asks a model what a machine wants asked, and several calls at once, but not more than asked for.

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ModelClient;
use super::setup::Server;
use crate::log::now;
use crate::system;
use stepscope_base::text::Shown;
use stepscope_execution::call::{Call, RunEvent, RunId, Trouble, TroubleKind};
use stepscope_execution::machine::Machine;
use stepscope_execution::sampling::{CallEvent, Sampling, SamplingRound};

/// Number of events of all calls together that may wait.
const CHANNEL: usize = 256;

/// Calls on their way, started in their order. Dropping this breaks all of them off.
pub struct Several {
    client: Arc<dyn ModelClient>,
    waiting: std::iter::Enumerate<std::vec::IntoIter<Call>>,
    sender: mpsc::Sender<(usize, RunEvent)>,
    events: mpsc::Receiver<(usize, RunEvent)>,
    tasks: JoinSet<()>,
    began: Vec<Option<Instant>>,
    running: usize,
}

impl Several {
    /// Starts as many as may run at once.
    pub fn start(client: Arc<dyn ModelClient>, calls: Vec<Call>, at_once: usize) -> Self {
        let (sender, events) = mpsc::channel(CHANNEL);
        let began = vec![None; calls.len()];
        let waiting = calls.into_iter().enumerate();
        let mut several = Self { client, waiting, sender, events, tasks: JoinSet::new(), began, running: 0 };
        (0..at_once.max(1)).for_each(|_| several.start_next());
        several
    }

    fn start_next(&mut self) {
        let Some((n, call)) = self.waiting.next() else { return };
        let (client, sender) = (Arc::clone(&self.client), self.sender.clone());
        self.running += 1;
        self.tasks.spawn(async move {
            let mut running = client.run(call);
            let mut has_ended = false;
            while let Some(event) = running.next().await {
                has_ended |= matches!(event, RunEvent::Done(_) | RunEvent::Failed(_));
                if sender.send((n, event)).await.is_err() {
                    return;
                }
            }
            // Waiting callers must see an end, even after a fault of this program.
            if !has_ended {
                let sentence = Shown::own("the call ended without a result; please report this");
                let trouble = Trouble::new(TroubleKind::Cut, sentence);
                let _ = sender.send((n, RunEvent::Failed(trouble))).await;
            }
        });
    }

    /// Receives the next event, with all that waits behind it; `None`: there are no more.
    pub async fn next_few(&mut self) -> Option<Vec<CallEvent>> {
        if self.running == 0 {
            return None;
        }
        let (call, event) = self.events.recv().await?;
        let mut few = vec![self.stamp(call, event)?];
        while few.len() < CHANNEL && self.running > 0 {
            let Ok((call, event)) = self.events.try_recv() else { break };
            few.extend(self.stamp(call, event));
        }
        Some(few)
    }

    fn stamp(&mut self, call: usize, event: RunEvent) -> Option<CallEvent> {
        if matches!(event, RunEvent::Done(_) | RunEvent::Failed(_)) {
            self.running -= 1;
            self.start_next();
        }
        let at = Instant::now();
        let began = self.began.get_mut(call)?;
        let began_utc = began.is_none().then(now);
        let elapsed = at.duration_since(*began.get_or_insert(at));
        Some(CallEvent { call, event, began_utc, elapsed })
    }
}

/// Event while a machine is driven.
#[derive(Debug)]
pub enum DriveEvent<'p> {
    /// Something was heard of a call.
    Heard(&'p RunEvent),
    /// The machine has taken the replies of a round.
    Taken(&'p SamplingRound),
}

/// Asks what a machine wants asked, round after round, until it is over. When the future is dropped, the calls on their
/// way are broken off. A signal that asks the program to end breaks them off too: the machine takes what came of them,
/// and the exit code that shells expect then is returned.
pub async fn drive<M: Machine>(
    machine: &mut M,
    (server, model): (&Server, &str),
    sampling: &Sampling,
    at_once: usize,
    mut tell: impl FnMut(&M, DriveEvent<'_>),
) -> Option<u8> {
    let id = RunId(1);
    let mut signal = pin!(signalled());
    let mut ended = None;
    while ended.is_none()
        && let Some(question) = machine.question()
    {
        let (mut round, calls) = SamplingRound::new(id, question, sampling, server.info(model));
        let began = Instant::now();
        let mut several = Several::start(Arc::new(server.client.clone()), calls, at_once);
        loop {
            let events = tokio::select! {
                biased;
                code = &mut signal => {
                    ended = Some(code);
                    round.cancel(began.elapsed());
                    None
                }
                events = several.next_few() => events,
            };
            let Some(events) = events else { break };
            for event in events {
                tell(machine, DriveEvent::Heard(&event.event));
                round.hear(id, event, began.elapsed());
            }
        }
        round.judge();
        machine.take(&round, &now());
        tell(machine, DriveEvent::Taken(&round));
    }
    ended
}

/// Waits for a signal that asks the program to end; its exit code.
async fn signalled() -> u8 {
    tokio::select! {
        () = system::interrupted() => 130,
        () = system::terminated() => 143,
    }
}
