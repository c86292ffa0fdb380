//! The threads of a session. The loader, searches and the log writer have theirs in `stepscope-io`; model calls are
//! tasks of the event loop.

use stepscope_base::guard::no_thread;

stepscope_base::words! {
    /// A thread that the screen starts itself, by its purpose. The system shows its name.
    pub(crate) enum Thread {
        /// Reads records, row texts and fork origins as they are asked for.
        Records = "records",
        /// Reads large records and works out re-runs, one after the other.
        LargeRecords = "large-records",
        /// Looks for the records that forks come from.
        Parents = "parents",
        /// One comparison, dashboard or pair of records.
        Across = "across-records",
        /// Reads what was appended to the review logs, and keeps drafts.
        Reviews = "reviews",
        /// Reads which items records are.
        Items = "items",
    }
}

/// Starts a thread that the session cannot do without, under the name of its purpose.
pub(crate) fn start<T: Send + 'static>(thread: Thread, work: impl FnOnce() -> T + Send + 'static) {
    if let Err(error) = try_start(thread, work) {
        no_thread(&error);
    }
}

/// Starts a thread under the name of its purpose, if there is one to be had.
pub(crate) fn try_start<T: Send + 'static>(
    thread: Thread,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<()> {
    std::thread::Builder::new().name(thread.word().to_owned()).spawn(work).map(drop)
}
