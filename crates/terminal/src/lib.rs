//! The terminal: taken over, listened to, drawn on and given back.
//!
//! Law: knows nothing of records; of stepscope only the door for text and the guard of `stepscope-base`.

/// The clipboard, through whatever is between.
pub mod clipboard;
/// Colours, and how many of them the terminal shows.
pub mod colour;
/// Bytes from the terminal to keys, mouse, pastes and replies.
pub mod input;
/// Bytes to the terminal, never waiting for it.
pub(crate) mod output;
/// The event loop and what a program has to be for it.
pub mod run;
/// Frames as bytes.
pub(crate) mod screen;
/// The terminal: found, taken over, given back.
pub mod terminal;
