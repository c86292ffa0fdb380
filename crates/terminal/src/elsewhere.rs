//! Systems without a screen of ours: there is no terminal to take over, and a sentence says so.

use std::convert::Infallible;
use std::io;

use ratatui::layout::Size;
use tokio::sync::mpsc;

pub use crate::program::*;

/// A terminal, of which there is none here.
#[derive(Debug)]
pub struct MissingTty(Infallible);

pub use MissingTty as Tty;

impl MissingTty {
    /// Says what a screen needs.
    ///
    /// # Errors
    /// Always.
    pub const fn open() -> Result<Self, NoTerminal> {
        Err(NoTerminal::System)
    }

    /// The size of a terminal.
    pub const fn size(&self) -> Size {
        match self.0 {}
    }
}

/// Runs a program on a terminal.
///
/// # Errors
/// When the terminal cannot be taken over.
pub fn run<P: Program>(
    tty: &MissingTty,
    _: &mut P,
    _: Options,
    _: impl FnMut(P::Effect, &mpsc::Sender<P::Msg>) -> Option<Control>,
) -> io::Result<u8> {
    match tty.0 {}
}

/// Nothing was taken.
pub const fn give_back() {}
