//! Standard output and standard error: the one place of the library that prints.

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use super::{Colour, FAILED};
use crate::domain::text::Shown;
use crate::shown;

/// Gathered bytes are written when there are this many.
const BUFFER: usize = 64 << 10;

/// Output that notices when nobody listens any more.
#[derive(Debug, Default)]
pub struct Out {
    buffer: Vec<u8>,
    ended: Option<Ended>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    /// The reader of the pipe has gone, as `head` does: nothing is wrong.
    Closed,
    /// It could not be written.
    Failed,
}

impl Out {
    /// Standard output.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes that are safe in a terminal.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Adds a line.
    pub fn line(&mut self, line: &Shown) {
        self.write(line.as_str().as_bytes());
        self.write(b"\n");
    }

    /// Whether there is no use in going on.
    pub const fn is_closed(&self) -> bool {
        self.ended.is_some()
    }

    /// Writes what was gathered.
    pub fn flush(&mut self) {
        if self.ended.is_none() {
            let mut stdout = std::io::stdout().lock();
            let done = stdout.write_all(&self.buffer).and_then(|()| stdout.flush());
            self.ended = match done {
                Ok(()) => None,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Some(Ended::Closed),
                Err(error) => {
                    self.complain(&shown!("cannot write the output: {}", Shown::error(&error)));
                    Some(Ended::Failed)
                }
            };
        }
        self.buffer.clear();
    }

    /// A sentence on standard error. If that is gone too, nobody can be told.
    pub fn complain(&self, sentence: &Shown) {
        // In one piece, or it would mix with what another process writes on the same terminal.
        let _ = std::io::stderr().lock().write_all(format!("stepscope: {sentence}\n").as_bytes());
    }

    /// Whether a terminal shows what is written.
    pub fn is_terminal(&self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// Whether colours are wanted.
    pub fn colours(&self, when: Colour) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match when {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => !set("NO_COLOR") && !dumb && std::io::stdout().is_terminal(),
        }
    }

    /// Writes the rest. The exit code: the given one, unless the output could not be written.
    pub fn finish(&mut self, code: u8) -> u8 {
        self.flush();
        if self.ended == Some(Ended::Failed) { FAILED } else { code }
    }
}
