//! Typed answers: documents, citations, contract, dates, currencies, generation and route.

/// What cited spans really point at: numberings, the search for the quote, what differs.
pub mod citations;
/// The published contract of typed answers, and who would take what does not hold it.
pub(crate) mod contract;
/// Currencies as ISO 4217 names them.
pub(crate) mod currency;
/// Dates as people write them.
pub(crate) mod date;
/// A document as its lines: what answers cite.
pub mod document;
/// The generation call of a typed answer, made again.
pub mod generation;
/// What should happen with a typed answer, and why.
pub mod route;
/// Whether the model saw all there is: the page after the last that it saw.
pub mod truncation;
/// Typed answers with cited spans.
pub mod typed;
