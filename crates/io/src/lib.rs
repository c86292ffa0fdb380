//! Bytes from and to the outside: files, folders, databases, models, configuration.
//!
//! Law: knows `stepscope-core` and `stepscope-base` only.

// A panic is told with the record or its source: reading runs under `guard::guarded`, a call of a model is a task.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]
// What only a part needs that is left out is compiled all the same, and dropped by the compiler: fewer conditions.
#![cfg_attr(
    not(all(feature = "models", feature = "screen", feature = "store", feature = "tables")),
    allow(dead_code, unused_imports)
)]

/// Settings of the user, and what the screen remembers.
pub mod config;
/// Drafts of verdicts, which are no log: replaced whole.
pub mod drafts;
/// Failures: what could not be done, and what to do about it.
pub mod failure;
/// Small files, written whole.
pub mod files;
/// The log service: lines that are kept, appended safely.
pub mod log;
/// Asking models, and hearing their replies piece by piece.
pub mod model;
#[cfg(not(feature = "tables"))]
/// Tables out, where this build writes none.
pub mod no_tables;
/// Notes that a tour passes to a second terminal.
pub mod notes;
/// Pipelines from sources to results about their records: reading, checking, loading, searching, summaries.
pub mod pipeline;
/// Bytes in: opening, blocks, layouts, stores, tables, databases, documents.
pub mod source;
/// Differences between systems, behind one face.
pub mod system;
#[cfg(feature = "tables")]
/// Tables out: results as Parquet.
pub mod tables;
#[cfg(not(feature = "tables"))]
pub use no_tables as tables;
/// A run on its way, kept after every call.
pub mod unfinished;
