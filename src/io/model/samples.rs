//! Several calls at once, but not more than asked for.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ModelClient;
use crate::domain::rerun::{Call, RunEvent};

/// How many events of all calls together may wait.
const CHANNEL: usize = 256;

/// Runs calls, at most `at_once` at a time, in their order, and tells which of them says what. When the future is
/// dropped, all of them are broken off.
pub async fn run_all(
    client: Arc<dyn ModelClient>,
    calls: Vec<Call>,
    at_once: usize,
    mut heard: impl FnMut(usize, RunEvent),
) {
    let (sender, mut events) = mpsc::channel(CHANNEL);
    let mut tasks = JoinSet::new();
    let mut waiting = calls.into_iter().enumerate();
    let mut start = |tasks: &mut JoinSet<()>| {
        let Some((n, call)) = waiting.next() else { return 0 };
        let (client, sender) = (Arc::clone(&client), sender.clone());
        tasks.spawn(async move {
            let mut running = client.run(call);
            while let Some(event) = running.next().await {
                if sender.send((n, event)).await.is_err() {
                    return;
                }
            }
        });
        1
    };
    let mut running = (0..at_once.max(1)).map(|_| start(&mut tasks)).sum::<usize>();
    while running > 0 {
        let Some((n, event)) = events.recv().await else { return };
        let is_last = matches!(event, RunEvent::Done(_) | RunEvent::Failed(_));
        heard(n, event);
        if is_last {
            running = running - 1 + start(&mut tasks);
        }
    }
}
