//! The terminal: taken over, listened to, drawn on and given back.
//!
//! Law: knows nothing of records; of stepscope only the door for text and the guard of `stepscope-base`.
// Elsewhere nothing is read from a terminal, nor written to one.
#![cfg_attr(not(unix), allow(dead_code))]

/// The clipboard, through whatever is between.
pub mod clipboard;
/// Colours, and how many of them the terminal shows.
pub mod colour;
/// Bytes from the terminal to keys, mouse, pastes and replies.
pub mod input;
/// Bytes to the terminal, never waiting for it.
#[cfg(unix)]
pub(crate) mod output;
/// What a program has to be for the event loop.
pub(crate) mod program;
/// The event loop.
#[cfg(unix)]
pub mod run;
/// Frames as bytes.
#[cfg(unix)]
pub(crate) mod screen;
/// The terminal: found, taken over, given back.
#[cfg(unix)]
pub mod terminal;

/// In place of the event loop, where there is no screen.
#[cfg(not(unix))]
#[path = "elsewhere.rs"]
pub mod run;
/// In place of the terminal, where there is no screen.
#[cfg(not(unix))]
pub use run as terminal;
