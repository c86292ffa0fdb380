//! Structured answers: documents, citations, contract, dates, currencies, generation and route.

/// Resolution of citations: numberings, search for the quote, differences.
pub mod citations;
/// Signs in the cited lines that a list is not whole.
pub(crate) mod clues;
/// The published contract of structured answers, and who would take what does not hold it.
pub(crate) mod contract;
/// Currencies as ISO 4217 names them.
pub(crate) mod currency;
/// Dates as people write them.
pub(crate) mod date;
/// The first place in which a saved value differs from the model's reply.
pub(crate) mod difference;
/// A document as its lines: what answers cite.
pub mod document;
/// Numbers as documents state them.
pub(crate) mod figures;
/// The generation call of a structured answer, made again.
pub mod generation;
/// Route of a structured answer, and its reasons.
pub mod route;
/// Values of answers against the lines that they cite.
pub mod support;
/// Detection of answers that were cut off, by the page after the last that the model saw.
pub mod truncation;
/// Structured answers with citations.
pub mod typed;
/// An answer object against a JSON Schema, in evoproc's words.
pub(crate) mod validation;
/// Words: folded, akin, opposite, denied.
pub(crate) mod wording;
