//! Documents, and what structured answers take from them: citations, truncation, dates, amounts and wording.
//!
//! Law: knows documents and what is quoted from them: no record, no files, no network, no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// Resolution of citations: numberings, search for the quote, differences.
pub mod citations;
/// Currencies as ISO 4217 names them.
pub mod currency;
/// Dates as people write them.
pub mod date;
/// The first place in which a saved value differs from the model's reply.
pub mod difference;
/// A document as its lines: what answers cite.
pub mod document;
/// Numbers as documents state them.
pub mod figures;
/// Text brought down to what counts when a quote is looked for.
mod folded;
/// Text of lines, with the byte at which each begins.
mod lines;
/// Index of a folded text.
mod tiles;
/// Detection of answers that were cut off, by the page after the last that the model saw.
pub mod truncation;
/// Structured answers with citations.
pub mod typed;
/// Words: folded, akin, opposite, denied.
pub mod wording;
