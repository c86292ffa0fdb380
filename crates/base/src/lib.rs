//! Text, JSON and Python's way with both: the base of everything else in stepscope.
//!
//! Law: knows no files, no network, no async, no terminal, and nothing of records.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// Text in ASCII: the one table of signs and their twins.
pub mod ascii;
/// Content that a verdict is bound to: a record as one canonical text, and its SHA-256.
pub mod canonical;
/// Charts in characters, for the shell and the screen.
pub mod charts;
/// Texts cut and filled to columns.
pub mod fit;
/// Work that may panic on hostile data.
pub mod guard;
/// JSON: read as people really have it, every value with its place, and written as Python writes it.
pub mod json;
/// Pieces of text from data: characters, lone surrogates, and bytes that are neither.
mod pieces;
/// Python's `json.loads`, with its complaints.
pub mod pyload;
/// Patterns of Python's `re`, matched as Python matches them, but never for long.
pub mod pyregex;
/// Values as Python prints them in its messages.
pub mod python;
/// JSON Schema, judged in the words of Python's `jsonschema`.
pub mod schema;
/// Text from data, and its one door to the screen.
pub mod text;
/// Classes of characters.
pub(crate) mod unicode;
/// Enums whose variants are words, words that are like others, and words of a shell.
pub mod words;
/// Work that is still allowed.
pub mod work;
