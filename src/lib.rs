//! stepscope: see why a language model's run went wrong.
//!
//! This file is the map of the house: every module, in layers, each layer with its law. Data flows one way:
//! input -> message -> update -> effect -> message. `tests/architecture.rs` reads `src/` and fails on an
//! import that breaks a law.

/// What things *are* and what can be said of them. Law: knows no files, no network, no async and no terminal.
pub mod domain {}

/// Bytes from and to the outside: files, folders, standard input, configuration. Law: knows `domain` only.
pub mod io {}

/// The screen. Law: knows `domain` and `io`; nothing knows `tui`.
pub mod tui {}
