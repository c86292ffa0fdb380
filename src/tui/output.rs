//! Bytes to the terminal, without ever waiting for it.
//!
//! A terminal that stops reading (Ctrl-S, a dead line) first lets the kernel's buffer fill up; whoever then writes,
//! hangs. So writing never blocks, and the terminal is asked now and then whether it still reads: it answers a device
//! attributes request only after it has read everything before it. While too much is unread no frame is made, so
//! nothing piles up on a slow line, and the few bytes that give the terminal back always find room.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;

/// After this many bytes the terminal is asked how far it has read.
const ASK_AFTER: usize = 8 << 10;
/// Bytes that may be unread before frames are held back; far below the 64 kB that a pseudo-terminal holds.
const WINDOW: usize = 24 << 10;
/// After this time without an answer one frame is sent all the same: the answer may have been lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// Every terminal since the VT100 answers this.
const ASK: &str = "\x1b[c";

/// The way to the terminal.
#[derive(Debug)]
pub(super) struct Output {
    fd: OwnedFd,
    queue: Vec<u8>,
    /// How much of `queue` is written.
    done: usize,
    /// Bytes since the last question that was answered, and since the last one that was asked.
    unread: usize,
    since_asked: usize,
    asked: Option<Instant>,
    /// A terminal that never answered is not waited for.
    answers: bool,
}

impl Output {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self { fd, queue: Vec::new(), done: 0, unread: 0, since_asked: 0, asked: None, answers: false }
    }

    /// Starts afresh after someone else had the terminal.
    pub(super) fn reset(&mut self) {
        self.queue.clear();
        (self.done, self.unread, self.since_asked, self.asked) = (0, 0, 0, None);
    }

    /// Whether a new frame would be shown soon.
    pub(super) fn ready(&self, now: Instant) -> bool {
        self.queue.is_empty() && self.retry_at().is_none_or(|at| now >= at)
    }

    /// When a terminal that owes an answer gets a frame all the same.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        let waits = self.answers && self.unread >= WINDOW;
        self.asked.filter(|_| waits).map(|asked| asked + PATIENCE)
    }

    /// Queues bytes; a whole frame at a time.
    pub(super) fn push(&mut self, bytes: &[u8], now: Instant) {
        self.queue.extend_from_slice(bytes);
        self.unread = self.unread.saturating_add(bytes.len());
        self.since_asked = self.since_asked.saturating_add(bytes.len());
        let due = self.asked.is_none_or(|asked| now >= asked + PATIENCE);
        if due && self.unread >= ASK_AFTER {
            self.ask(now);
        }
    }

    /// Asks how far the terminal has read.
    pub(super) fn ask(&mut self, now: Instant) {
        self.queue.extend_from_slice(ASK.as_bytes());
        self.since_asked = 0;
        self.asked = Some(now);
    }

    /// The terminal has answered: it has read everything up to the last question.
    pub(super) fn answered(&mut self) {
        self.answers = true;
        if self.asked.take().is_some() {
            self.unread = self.since_asked;
        }
    }

    /// Writes what the terminal takes now; true when nothing is left.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) fn flush(&mut self) -> Result<bool, Errno> {
        while let Some(left) = self.queue.get(self.done..).filter(|left| !left.is_empty()) {
            match rustix::io::write(&self.fd, left) {
                Ok(n) => self.done += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.queue.clear();
        self.done = 0;
        Ok(true)
    }

    /// What the terminal has to get before anything else makes sense to it: the rest of what it has begun to read.
    pub(super) fn unfinished(&self) -> &[u8] {
        if self.done == 0 { &[] } else { self.queue.get(self.done..).unwrap_or_default() }
    }

    /// Whether an answer may still come.
    pub(super) fn answer_due(&self, now: Instant) -> bool {
        self.asked.is_some_and(|asked| now < asked + 2 * PATIENCE)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn output() -> (Output, std::io::PipeReader) {
        let (reader, writer) = std::io::pipe().unwrap();
        let fd = OwnedFd::from(writer);
        rustix::fs::fcntl_setfl(&fd, rustix::fs::OFlags::NONBLOCK).unwrap();
        (Output::new(fd), reader)
    }

    #[test]
    fn frames_are_held_back_until_the_terminal_answers() {
        let (mut out, _reader) = output();
        let now = Instant::now();
        out.ask(now);
        assert_eq!(out.flush(), Ok(true));
        out.answered();
        let mut frames = 0;
        while out.ready(now) {
            out.push(&[b'x'; 4096], now);
            assert_eq!(out.flush(), Ok(true));
            frames += 1;
        }
        assert_eq!(frames, WINDOW / 4096);
        assert!(out.ready(now + PATIENCE), "one frame after a while, the answer may be lost");
        out.answered();
        assert!(out.ready(now));
    }

    #[test]
    fn a_terminal_that_never_answers_is_not_waited_for() {
        let (mut out, mut reader) = output();
        let now = Instant::now();
        out.ask(now);
        assert_eq!(out.flush(), Ok(true));
        for _ in 0..20 {
            assert!(out.ready(now));
            out.push(&[b'x'; 4096], now);
            while out.flush() == Ok(false) {
                reader.read_exact(&mut [0; 4096]).unwrap();
            }
        }
    }

    #[test]
    fn a_full_pipe_blocks_nobody() {
        let (mut out, mut reader) = output();
        let now = Instant::now();
        out.push(&vec![b'x'; 100_000], now);
        assert_eq!(out.flush(), Ok(false));
        assert!(!out.ready(now));
        let left = out.unfinished().len();
        assert!(left > 0 && left < 100_010);
        reader.read_exact(&mut vec![0; 65_536]).unwrap();
        assert_eq!(out.flush(), Ok(true));
        assert_eq!(out.unfinished(), b"");
    }
}
