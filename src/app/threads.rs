//! The threads of a session. The loader, searches and the log writer have theirs in `stepscope-io`; model calls are
//! tasks of the event loop.

use std::thread::JoinHandle;

/// A thread that the screen starts itself, by its purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Thread {
    /// Reads records, row texts and fork origins as they are asked for.
    Records,
    /// Reads large records and works out re-runs, one after the other.
    LargeRecords,
    /// Looks for the records that forks come from.
    Parents,
    /// One comparison, dashboard or pair of records.
    Across,
    /// Reads what was appended to the review logs, and keeps drafts.
    Reviews,
    /// Reads which items records are.
    Items,
}

/// Starts a thread. The list above says what for.
pub(crate) fn start<T: Send + 'static>(_purpose: Thread, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::spawn(work)
}
