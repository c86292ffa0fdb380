//! Bytes from and to the outside: files, folders, databases, models, configuration.
//!
//! Law: knows `stepscope-core` and `stepscope-base` only.

/// Stores of typed answers: docintel folders and `storage.sqlite`.
pub mod answers;
/// The answers of a baseline file, by id.
pub mod baseline;
/// What data and listings name, opened beneath a folder that a person named.
pub mod beneath;
/// What stands beside the records and helps to judge them.
pub mod beside;
/// Sources read block by block.
pub mod block;
/// The boards and disputes of the open records, read for the screen.
pub mod boards;
/// The records of files as cards.
pub mod cards;
/// The pipeline behind `stepscope check`.
pub mod check;
/// Two runs compared for the screen.
pub mod compare;
/// What the user set, and what the screen remembers.
pub mod config;
/// Where records begin and end.
pub mod cut;
/// What somebody was about to say of records.
pub mod drafts;
/// Cases out of bytes, with what stands around them.
pub mod examine;
/// What could not be done, and what to do about it.
pub mod failure;
/// Where forks are kept.
pub mod forks;
/// Bytes of a stream to frames.
pub mod frames;
/// A file of its own, never in the place of another.
pub mod fresh;
/// From names to sources.
pub mod input;
/// The journal of reviews: appended to safely, read as far as it goes.
pub mod journal;
/// The documents that answers cite, found and kept.
pub(crate) mod library;
/// The assembly line of the commands: read in order, worked on by all cores, handed over in order.
pub(crate) mod line;
/// Loading in the background, and following.
pub mod load;
/// The log service: lines that are kept, appended safely.
pub mod log;
/// Asking models, and hearing their replies piece by piece.
pub mod model;
/// Opening without harm.
pub mod open;
/// Parquet tables, column by column.
pub(crate) mod parquet;
/// Reading one record on another thread.
pub mod reading;
/// Room for what is printed.
pub mod room;
/// The sample runs, part of the program.
pub mod samples;
/// Looking through all records for text.
pub mod search;
/// All records of a store, read as cards on other threads.
pub mod snapshot;
/// SQLite databases opened without harm.
pub(crate) mod sqlite;
/// All records found, as the screen sees them.
pub mod store;
/// Reading the user's own themes.
pub mod themes;
/// Reading the user's own types of values.
pub mod types;
/// Verifiers as they are asked for: by options, or in a TOML file.
pub mod verifiers;
/// The pipeline behind `stepscope verify`.
pub mod verify;
