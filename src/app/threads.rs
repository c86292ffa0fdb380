//! The threads of a session. The loader, searches and the log writer have theirs in `stepscope-io`; model calls are
//! tasks of the event loop.

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

/// Starts a thread under the name of its purpose.
#[expect(
    clippy::panic,
    reason = "as `std::thread::spawn`: where no thread can be started, the session cannot continue"
)]
pub(crate) fn start<T: Send + 'static>(thread: Thread, work: impl FnOnce() -> T + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().name(thread.word().to_owned()).spawn(work) {
        panic!("no thread for {}: {error}", thread.word());
    }
}
