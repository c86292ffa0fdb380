//! stepscope: see why a language model's run went wrong.
//!
//! This file is the map of the house: every module, in layers, each layer with its law. Data flows one way:
//! input -> message -> update -> effect -> message. `tests/architecture.rs` reads `src/` and fails on an
//! import that breaks a law.

/// What things *are* and what can be said of them. Law: knows no files, no network, no async and no terminal.
pub mod domain {
    /// Findings: what is said about a record, and where.
    pub mod finding;
    /// The registry of record formats, recognised by content.
    pub mod formats;
    /// JSON as people really have it, every value with its place.
    pub mod json;
    /// A procedure as it stands in a record.
    pub mod procedure;
    /// One record, whatever its format.
    pub mod record;
    /// What the table keeps of a record: forty bytes.
    pub mod row;
    /// The registry of rules.
    pub mod rules;
    /// Text from data, and its one door to the screen.
    pub mod text;
    /// Which characters Python calls printable.
    pub mod unicode;
}

/// Bytes from and to the outside: files, folders, standard input, configuration. Law: knows `domain` only.
pub mod io {
    /// Sources read block by block.
    pub mod block;
    /// The pipeline behind `stepscope check`.
    pub mod check;
    /// Where records begin and end.
    pub mod cut;
    /// One record read and checked.
    pub mod examine;
    /// What could not be done, and what to do about it.
    pub mod failure;
    /// From names to sources.
    pub mod input;
    /// Loading in the background, and following.
    pub mod load;
    /// Opening without harm.
    pub mod open;
    /// Searching whole sources.
    pub mod search;
    /// All records found, as the screen sees them.
    pub mod store;
}

/// The screen. Law: knows `domain` and `io`; nothing knows `tui`.
pub mod tui {}
