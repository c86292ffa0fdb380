//! What a program with a screen is, and what it is told: the same on every system.

use std::io;
use std::path::Path;
pub use std::process::{Command, ExitStatus};
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Size};
use thiserror::Error;

use crate::input::Input;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Most messages that may wait for the loop; a sender that is faster waits.
pub const CHANNEL: usize = 256;
/// The longest text that is copied through the terminal, in bytes; terminals drop longer ones silently.
pub const COPY_LIMIT: usize = 74_994 / 4 * 3;

/// Events of the terminal. A program's own messages are made from it.
#[derive(Debug)]
pub enum Event {
    /// The first event, before the first frame: the size of the screen.
    Start(Size),
    /// A key, the mouse, a paste, the focus or the background colour.
    Input(Input),
    /// The size of the screen has changed.
    Resize(Size),
    /// The time that [`Program::wake_at`] asked for has come.
    Tick,
    /// A command that had the terminal has ended.
    Returned(io::Result<ExitStatus>),
    /// A thread or task of ours panicked; the text may quote data.
    Panicked(String),
    /// The last event: a signal or a lost terminal ends the program with this code. Effects are still performed.
    Stop(u8),
}

/// Work on the terminal that only the loop can do, as data.
#[derive(Debug)]
pub enum Control {
    /// Puts text on the clipboard through the terminal (OSC 52); the caller keeps to [`COPY_LIMIT`].
    Copy(String),
    /// Switches mouse reports on or off. They are off at the start unless [`Options::mouse`] says otherwise.
    Mouse(bool),
    /// Draws every cell anew, for a screen that something else has written on.
    Repaint,
    /// Gives the terminal back and stops, as Ctrl-Z does; does nothing where nobody could continue us.
    Suspend,
    /// Gives the terminal to a command, such as an editor, and takes it back; [`Event::Returned`] follows.
    Foreground(Command),
    /// Ends the loop with this exit code.
    Quit(u8),
}

/// Work that an input asks for, as data. It is begun behind the frame of that input, unless it says otherwise.
pub trait Work {
    /// True if it saves what a person did: then it comes before the frame, which might be the last.
    fn saves(&self) -> bool {
        false
    }

    /// True if what it finds takes the place of what is in front, nearly always at once: a frame before it would only
    /// hold it up.
    fn is_awaited(&self) -> bool {
        false
    }
}

/// A program with a screen: one place of change, one pure view.
pub trait Program {
    /// Everything that it is told: events of the terminal, and results of work, sent from anywhere.
    type Msg: From<Event> + Send + 'static;
    /// Work to be done, as data.
    type Effect: Work;

    /// Takes one message in; what is shown may have changed. The only place where the state changes.
    fn update(&mut self, message: Self::Msg, now: Instant) -> Vec<Self::Effect>;

    /// Draws the state on an empty screen, changes nothing, and returns where the cursor is shown. A panic here costs
    /// the frame, one in `update` the message; two messages, one behind the other, end the program.
    fn draw(&self, buf: &mut Buffer) -> Option<Position>;

    /// Time at which the program wants a [`Event::Tick`]; asked after every update. `None` costs nothing.
    fn wake_at(&self) -> Option<Instant> {
        None
    }
}

/// Settings of the loop.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Mouse reports from the start.
    pub mouse: bool,
    /// Asks the terminal for its background colour; the answer comes as [`Input::Background`].
    pub ask_background: bool,
}

/// Reasons why there is no screen to draw on; each says what to do instead.
#[derive(Debug, Error)]
pub enum NoTerminal {
    /// Standard output goes to a file or a pipe.
    #[error(
        "standard output is not a terminal; run stepscope without a redirection, or use `stepscope check` for text output"
    )]
    OutputNotTerminal,
    /// `TERM` is missing or `dumb`.
    #[error(
        "this terminal cannot place text on the screen (TERM is unset or \"dumb\"); set TERM, for example TERM=xterm-256color, or read line by line with --linear"
    )]
    Dumb,
    /// The terminal could not be opened.
    #[error(
        "no terminal to read keys from ({0}); start stepscope from a terminal, or use `stepscope check` for text output"
    )]
    NotFound(#[source] io::Error),
    /// This system has no screen of ours.
    #[error(
        "the screen needs Linux or macOS: on Windows, start stepscope in WSL, or use `stepscope show` for a record, `stepscope check` for all of them and `stepscope export` for a page"
    )]
    System,
}

/// A command of the user's on a file; it may be named with its options, as other programs take it too.
pub fn on_file(command: &str, file: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{command} \"$1\"")).arg("sh").arg(file);
    shell
}

/// Result of a command: if it failed, the reason.
pub fn ended(result: io::Result<ExitStatus>) -> Result<(), Shown> {
    match result {
        Ok(status) if status.success() => Ok(()),
        // The shell's way to say so.
        Ok(status) if status.code() == Some(127) => Err(Shown::own("was not found")),
        Ok(status) => Err(shown!("ended with {}", status.to_string())),
        Err(error) => Err(shown!("could not be started: {}", Shown::error(&error))),
    }
}
