//! View of a record for people, prepared once: the screen, `show`, pages and Markdown write it, each in its own form.
//!
//! Law: judges nothing, and knows no colours, widths of a screen or markup. All text from data is `Shown`. Knows no
//! files, no network, no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::missing_panics_doc)]

/// A structured answer with its citations.
pub mod answer;
/// Recomputed values and the quantities of the question.
pub mod computed;
/// All that is shown of a record.
pub mod content;
/// Findings and arguments with their steps and variables.
pub mod notes;
/// Other runs of the question.
pub mod peers;
/// Steps in a list and in full.
pub mod steps;
/// Recorded values against recomputed ones.
pub mod tracks;
/// Values as text.
pub mod values;
/// Variables over time.
pub mod variables;
/// Kind, verdict and place to fix.
pub mod verdict;
