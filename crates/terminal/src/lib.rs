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
/// Contract between a program and the event loop.
pub(crate) mod program;

/// In place of the event loop and the terminal, where there is no screen.
#[cfg(not(unix))]
pub use elsewhere as run;
#[cfg(not(unix))]
pub use elsewhere as terminal;

#[cfg(not(unix))]
/// Systems without a screen: a sentence says so.
pub mod elsewhere;
#[cfg(unix)]
/// Bytes to the terminal, never waiting for it.
pub(crate) mod output;
#[cfg(unix)]
/// The event loop.
pub mod run;
#[cfg(unix)]
/// Frames as bytes.
pub(crate) mod screen;
#[cfg(unix)]
/// The terminal: found, taken over, given back.
pub mod terminal;
