//! Structured answers: documents, citations, contract, dates, currencies, generation and route.

/// Resolution of citations: numberings, search for the quote, differences.
pub mod citations;
/// The published contract of structured answers, and who would take what does not hold it.
pub(crate) mod contract;
/// Currencies as ISO 4217 names them.
pub(crate) mod currency;
/// Dates as people write them.
pub(crate) mod date;
/// A document as its lines: what answers cite.
pub mod document;
/// The generation call of a structured answer, made again.
pub mod generation;
/// Route of a structured answer, and its reasons.
pub mod route;
/// Detection of answers that were cut off, by the page after the last that the model saw.
pub mod truncation;
/// Structured answers with citations.
pub mod typed;
