//! From sources to findings: in order for commands, in the background for the screen.

/// The answers of a baseline file, by id.
pub mod baseline;
/// The pipeline behind `stepscope check`.
pub mod check;
/// Two runs compared for the screen.
pub mod compare;
/// The dashboard and the disagreements of the open records, read for the screen.
pub mod dashboard;
/// Cases out of bytes.
pub mod examine;
/// The assembly line of the commands: read in order, worked on by all cores, handed over in order.
pub(crate) mod line;
/// Loading in the background, and following.
pub mod load;
/// Runs of other files, by question.
pub mod peers;
/// Reading one record on another thread.
pub mod reading;
/// Room for what is printed.
pub mod room;
/// Looking through all records for text.
pub mod search;
/// Side data: what helps to judge records besides themselves.
pub mod side_data;
/// All records of a store, summarised on other threads.
pub mod snapshot;
/// All records found, as the screen sees them.
pub mod store;
/// The records of files as summaries.
pub mod summaries;
/// The pipeline behind `stepscope verify`.
pub mod verify;
/// Folders that are watched for changes.
mod watcher;
