//! Bytes to the terminal, without ever waiting for it.
//!
//! A terminal that stops reading (Ctrl-S, a dead line) first lets the kernel's buffer fill up; whoever then writes,
//! hangs, and whatever would give the terminal back finds no room. So writing never blocks, and no more is sent than
//! that buffer holds until the terminal has answered a question: it answers only after reading all that came before.
//! On a slow line this also means that no old frames pile up: the next one shows the state of its own moment.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;

/// After this many bytes the terminal is asked how far it has read.
const ASK_AFTER: usize = 2 << 10;
/// Bytes that may be unread. A Linux pseudo-terminal holds about 12 kB (4 in the line discipline, 8 before it); the
/// rest of that is for giving the terminal back.
const WINDOW: usize = 6 << 10;
/// The same for a terminal that is far away, where waiting for the answer costs more than a cut last frame.
const FAR_WINDOW: usize = 64 << 10;
/// A terminal whose fastest answer took this long is far away.
const FAR: Duration = Duration::from_millis(20);
/// An answer that takes longer may be lost; sending goes on. The second wait in a row is longer.
const PATIENCE: Duration = Duration::from_millis(1500);
const LONG_PATIENCE: Duration = Duration::from_secs(4);
/// Device attributes: every terminal since the VT100 answers this.
const ASK: &[u8] = b"\x1b[c";

/// Result of writing the queued bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// All are written.
    All,
    /// The kernel takes no more now.
    Blocked,
    /// The terminal has to answer first.
    Waiting,
}

/// An open question to the terminal.
#[derive(Debug, Clone, Copy)]
struct PendingQuery {
    at: Instant,
    /// Bytes that were unread when it was asked, all read when it is answered.
    unread: usize,
}

/// The way to the terminal.
#[derive(Debug)]
pub(crate) struct Output {
    fd: OwnedFd,
    queue: Vec<u8>,
    /// Bytes of `queue` that are written.
    done: usize,
    /// Up to here `queue` has to be written before anything else makes sense to the terminal.
    piece: usize,
    unread: usize,
    asked: Option<PendingQuery>,
    patience: Duration,
    /// The fastest answer; a terminal that never answered is not waited for.
    fastest: Option<Duration>,
}

impl Output {
    pub(crate) fn new(fd: OwnedFd) -> Self {
        Self { fd, queue: Vec::new(), done: 0, piece: 0, unread: 0, asked: None, patience: PATIENCE, fastest: None }
    }

    /// Forgets the bytes on their way, after someone else had the terminal.
    pub(crate) fn reset(&mut self) {
        self.queue.clear();
        (self.done, self.piece, self.unread, self.asked) = (0, 0, 0, None);
    }

    /// True if a new frame would be on its way at once.
    pub(crate) fn ready(&self) -> bool {
        self.queue.is_empty() && self.room() > 0
    }

    /// Time at which an awaited answer counts as lost.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.asked.filter(|_| self.room() == 0 || self.piece > 0).map(|asked| asked.at + self.patience)
    }

    /// Queues bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.queue.extend_from_slice(bytes);
    }

    /// Asks how far the terminal reads, after what is queued.
    pub(crate) fn ask(&mut self, now: Instant) {
        self.asked = Some(PendingQuery { at: now, unread: self.unread + self.queue.len() });
        self.queue.extend_from_slice(ASK);
    }

    /// The terminal has answered.
    pub(crate) fn answered(&mut self, now: Instant) {
        if let Some(asked) = self.asked.take() {
            let took = now.saturating_duration_since(asked.at);
            self.fastest = Some(self.fastest.map_or(took, |fastest| fastest.min(took)));
            self.unread = self.unread.saturating_sub(asked.unread);
            self.patience = PATIENCE;
        }
    }

    /// Gives an answer up that is overdue.
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.retry_at().is_some_and(|at| now >= at) {
            self.asked = None;
            self.unread = 0;
            self.patience = LONG_PATIENCE;
        }
    }

    /// Writes what the terminal may have now.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(crate) fn flush(&mut self, now: Instant) -> Result<Flushed, Errno> {
        loop {
            if self.done >= self.piece && !self.next_piece(now) {
                break;
            }
            let left = self.queue.get(self.done..self.piece).unwrap_or_default();
            match rustix::io::write(&self.fd, left) {
                Ok(n) => {
                    self.done += n;
                    self.unread += n;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(Flushed::Blocked),
                Err(error) => return Err(error),
            }
        }
        if self.done < self.queue.len() {
            return Ok(Flushed::Waiting);
        }
        self.queue.clear();
        (self.done, self.piece) = (0, 0);
        Ok(Flushed::All)
    }

    /// Bytes that the terminal has to get before anything else makes sense to it.
    pub(crate) fn unfinished(&self) -> &[u8] {
        self.queue.get(self.done..self.piece).unwrap_or_default()
    }

    /// True if an answer may still come.
    pub(crate) fn answer_due(&self, now: Instant) -> bool {
        self.asked.is_some_and(|asked| now < asked.at + PATIENCE)
    }

    /// Bytes that may be sent without another answer.
    fn room(&self) -> usize {
        match self.fastest {
            None => usize::MAX,
            Some(fastest) => {
                let window = if fastest < FAR { WINDOW } else { FAR_WINDOW };
                window.saturating_sub(self.unread)
            }
        }
    }

    /// Chooses what is written next, whole sequences only; false when nothing is left or the terminal has to answer
    /// first.
    fn next_piece(&mut self, now: Instant) -> bool {
        if self.asked.is_none() && self.fastest.is_some() && self.unread >= ASK_AFTER {
            self.queue.splice(self.done..self.done, ASK.iter().copied());
            self.asked = Some(PendingQuery { at: now, unread: self.unread });
            self.piece = self.done + ASK.len();
            return true;
        }
        let left = self.queue.get(self.done..).unwrap_or_default();
        self.piece = self.done + whole(left, self.room());
        self.piece > self.done
    }
}

/// Number of the bytes, at most `room`, that can be written without cutting a sequence or a character. What has no good
/// place to be cut, such as a long clipboard text, goes in one piece.
fn whole(bytes: &[u8], room: usize) -> usize {
    if room >= bytes.len() || room == 0 {
        return bytes.len().min(room);
    }
    let starts = bytes.get(..=room).unwrap_or_default();
    match memchr::memrchr(0x1b, starts) {
        Some(0) => memchr::memchr(0x1b, bytes.get(1..).unwrap_or_default()).map_or(bytes.len(), |next| next + 1),
        // ESC \ ends a string, so it belongs to what stands before it.
        Some(at) if bytes.get(at + 1) == Some(&b'\\') => at + 2,
        Some(at) => at,
        None => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read as _};

    fn output() -> (Output, PipeReader) {
        let (reader, writer) = std::io::pipe().unwrap();
        let fd = OwnedFd::from(writer);
        rustix::fs::fcntl_setfl(&fd, rustix::fs::OFlags::NONBLOCK).unwrap();
        (Output::new(fd), reader)
    }

    /// A terminal that has answered once, at once.
    fn answering(now: Instant) -> (Output, PipeReader) {
        let (mut out, mut reader) = output();
        out.ask(now);
        assert_eq!(out.flush(now), Ok(Flushed::All));
        reader.read_exact(&mut [0; 3]).unwrap();
        out.answered(now);
        (out, reader)
    }

    fn frame(n: usize) -> Vec<u8> {
        "\x1b[1;1H\x1b[38;2;1;2;3m─│é".bytes().cycle().take(n / 29 * 29).collect()
    }

    #[test]
    fn no_more_is_sent_than_the_terminal_has_room_for() {
        let now = Instant::now();
        let (mut out, mut reader) = answering(now);
        out.push(&frame(20_000));
        assert_eq!(out.flush(now), Ok(Flushed::Waiting));
        assert!(!out.ready());
        assert_eq!(out.unfinished(), b"", "what was sent is whole");
        let mut seen = Vec::new();
        let mut rounds = 0;
        loop {
            let mut buffer = vec![0; 2 * WINDOW];
            let n = reader.read(&mut buffer).unwrap();
            assert!(n <= WINDOW + ASK.len() + 29, "{n} bytes at once");
            seen.extend_from_slice(&buffer[..n]);
            assert!(std::str::from_utf8(&seen).is_ok());
            rounds += 1;
            out.answered(now);
            if out.flush(now) == Ok(Flushed::All) {
                break;
            }
        }
        assert!((3..=8).contains(&rounds), "{rounds}");
        assert!(out.ready());
    }

    #[test]
    fn whoever_fills_the_room_asks() {
        let now = Instant::now();
        let (mut out, _reader) = answering(now);
        while out.ready() {
            out.push(&frame(ASK_AFTER / 2));
            assert_ne!(out.flush(now), Ok(Flushed::Blocked));
        }
        assert_eq!(out.retry_at(), Some(now + PATIENCE));
    }

    #[test]
    fn a_lost_answer_stops_nothing_for_long() {
        let now = Instant::now();
        let (mut out, _reader) = answering(now);
        out.push(&frame(8_000));
        assert_eq!(out.flush(now), Ok(Flushed::Waiting));
        out.expire(now + PATIENCE / 2);
        assert_eq!(out.flush(now), Ok(Flushed::Waiting));
        assert_eq!(out.retry_at(), Some(now + PATIENCE));
        out.expire(now + PATIENCE);
        assert_eq!(out.flush(now + PATIENCE), Ok(Flushed::All));
    }

    #[test]
    fn a_terminal_that_never_answers_is_not_waited_for() {
        let (mut out, mut reader) = output();
        let now = Instant::now();
        out.ask(now);
        for _ in 0..20 {
            out.push(&frame(4096));
            assert_eq!(out.flush(now), Ok(Flushed::All));
            assert!(out.ready());
            reader.read_exact(&mut [0; 4000]).unwrap();
        }
    }

    #[test]
    fn a_full_pipe_blocks_nobody() {
        let (mut out, mut reader) = output();
        let now = Instant::now();
        out.push(&frame(100_000));
        assert_eq!(out.flush(now), Ok(Flushed::Blocked));
        assert!(!out.ready() && !out.unfinished().is_empty());
        reader.read_exact(&mut vec![0; 65_536]).unwrap();
        assert_eq!(out.flush(now), Ok(Flushed::All));
        assert_eq!(out.unfinished(), b"");
    }

    #[test]
    fn pieces_are_whole_sequences() {
        assert_eq!(whole(b"ab\x1b[1mcd\x1b[2m", 9), 8);
        assert_eq!(whole(b"ab\x1b[1mcd", 8), 8);
        assert_eq!(whole(b"\x1b]52;c;AAAA\x1b\\x", 5), 11, "up to the terminator, which is taken with the next piece");
        assert_eq!(whole(b"abc", 0), 0);
        assert_eq!(whole("ééé".as_bytes(), 3), 6);
    }
}
