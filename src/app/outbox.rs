//! The way from background threads to the event loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::app::msg::Msg;
use stepscope_base::guard::lock;

/// See the module. It can be handed out before the loop runs; what is sent then
/// waits.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    sender: Mutex<Option<mpsc::Sender<Msg>>>,
    attached: Condvar,
    closed: AtomicBool,
}

impl Outbox {
    /// Sends from a background thread; waits where the loop is behind. `false`: the loop has ended.
    pub fn send(&self, message: Msg) -> bool {
        let mut slot = lock(&self.0.sender);
        while slot.is_none() && !self.0.closed.load(Ordering::Acquire) {
            slot = self.0.attached.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
        let sender = slot.clone();
        drop(slot);
        sender.is_some_and(|sender| sender.blocking_send(message).is_ok())
    }

    /// The loop runs: what waited is sent.
    pub fn attach(&self, sender: mpsc::Sender<Msg>) {
        *lock(&self.0.sender) = Some(sender);
        self.0.attached.notify_all();
    }

    /// Ends all waiting: the loop will not run any more.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.attached.notify_all();
    }
}
