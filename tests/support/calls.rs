//! Calls of a model, made and heard to their end.

use stepscope_execution::call::{Call, Received, RunEvent, RunId};
use stepscope_io::model::{Client, ModelClient as _};

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Makes a call and receives it to its end.
pub(crate) fn heard(client: &Client, call: Call) -> (Received, Vec<RunEvent>) {
    let (mut rerun, mut events) = (Received::begin(RunId(1)), Vec::new());
    wait(async {
        let mut running = client.run(call);
        while let Some(event) = running.next().await {
            events.push(event.clone());
            assert!(rerun.take(RunId(1), event), "something came after the end");
        }
    });
    assert!(!rerun.is_running(), "a call without an end");
    (rerun, events)
}
