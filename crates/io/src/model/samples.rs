//! Several calls at once, but not more than asked for.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ModelClient;
use crate::log::now;
use stepscope_base::text::Shown;
use stepscope_core::run::call::{Call, RunEvent, Trouble, TroubleKind};
use stepscope_core::run::sampling::CallEvent;

/// How many events of all calls together may wait.
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
            // Whoever waits for the end must see one, even after a mistake of ours.
            if !has_ended {
                let sentence = Shown::own("the call ended without a word; please report this");
                let trouble = Trouble::new(TroubleKind::Cut, sentence);
                let _ = sender.send((n, RunEvent::Failed(trouble))).await;
            }
        });
    }

    /// What comes next, with all that waits behind it; `None`: all was heard.
    pub async fn next_few(&mut self) -> Option<Vec<CallEvent>> {
        let mut few = vec![self.next().await?];
        while few.len() < CHANNEL && self.running > 0 {
            let Ok((call, event)) = self.events.try_recv() else { break };
            few.extend(self.stamp(call, event));
        }
        Some(few)
    }

    /// What comes next; `None`: all was heard.
    pub async fn next(&mut self) -> Option<CallEvent> {
        if self.running == 0 {
            return None;
        }
        let (call, event) = self.events.recv().await?;
        self.stamp(call, event)
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

/// Runs calls, at most `at_once` at a time, in their order, and tells which of them says what. When the future is
/// dropped, all of them are broken off.
pub async fn run_all(
    client: Arc<dyn ModelClient>,
    calls: Vec<Call>,
    at_once: usize,
    mut heard: impl FnMut(usize, RunEvent),
) {
    let mut several = Several::start(client, calls, at_once);
    while let Some(told) = several.next().await {
        heard(told.call, told.event);
    }
}
