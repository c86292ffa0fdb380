//! The terminal itself: found, measured, taken over and given back.
//!
//! Everything that must be undone is kept in one place, so whoever comes first (the end of the program, a signal, the panic
//! hook) undoes it, once. Nothing here waits long for a terminal that does not read.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ratatui::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{self, Signal};
use rustix::termios::{self, OptionalActions, QueueSelector, Termios};
use tokio::sync::mpsc;

use crate::input::Decoder;
pub use crate::program::NoTerminal;
use stepscope_base::guard::{is_guarded, sentence};

/// Largest screen that is drawn; a terminal that claims more gets its upper left part.
pub(crate) const MAX_SIZE: Size = Size { width: 1000, height: 500 };
/// Size of a terminal that does not know its own.
const UNKNOWN_SIZE: Size = Size { width: 80, height: 24 };
/// Time that leaving may wait for a terminal that does not read.
const LEAVE_PATIENCE: Duration = Duration::from_millis(200);
/// Time that leaving waits for the answer to a question that is still open, so that it does not land in the shell.
const ANSWER_PATIENCE: Duration = Duration::from_millis(100);

const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
// Alternate screen, bracketed paste, no cursor, clean.
const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[0m\x1b[2J";
const LEAVE: &str = "\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
/// Asks whether the terminal knows synchronised updates. What answers this reads every question as one.
pub(crate) const ASK_MODE: &str = "\x1b[?2026$p";
/// Asks for the background colour. Old and minimal terminals would print it, so it goes only to one that has answered
/// [`ASK_MODE`].
pub(crate) const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";

/// The terminal, open for reading and writing without waiting.
#[derive(Debug)]
pub struct Tty {
    fd: OwnedFd,
    /// The flags to put back when this description is shared with the shell.
    shared: Option<OFlags>,
}

impl Tty {
    /// Finds the terminal of this process. Keys come from it even when standard input is a pipe with data.
    ///
    /// # Errors
    /// When there is none that can show a screen.
    pub fn open() -> Result<Self, NoTerminal> {
        if !termios::isatty(io::stdout()) {
            return Err(NoTerminal::OutputNotTerminal);
        }
        match std::env::var_os("TERM") {
            Some(term) if !term.is_empty() && term != "dumb" => {}
            _ => return Err(NoTerminal::Dumb),
        }
        Self::find().map_err(NoTerminal::NotFound)
    }

    /// A description of our own can be non-blocking without changing the one we share with the shell.
    fn find() -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        for path in terminal_paths() {
            if let Ok(fd) = rustix::fs::open(&path, flags, Mode::empty())
                && termios::isatty(&fd)
            {
                return Ok(Self { fd, shared: None });
            }
        }
        let fd = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
        let before = rustix::fs::fcntl_getfl(&fd)?;
        rustix::fs::fcntl_setfl(&fd, before | OFlags::NONBLOCK)?;
        Ok(Self { fd, shared: Some(before) })
    }

    /// Takes anything for a terminal that knows neither its size nor its settings.
    #[cfg(test)]
    pub(crate) const fn of(fd: OwnedFd) -> Self {
        Self { fd, shared: None }
    }

    /// Columns and rows, never zero and never above `MAX_SIZE`.
    pub fn size(&self) -> Size {
        let size = termios::tcgetwinsize(&self.fd).map_or(UNKNOWN_SIZE, |w| Size::new(w.ws_col, w.ws_row));
        clamped(size)
    }

    /// A second handle for the event loop.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn handle(&self) -> io::Result<OwnedFd> {
        self.fd.try_clone()
    }

    /// Takes the terminal over: raw mode now, and the bytes that switch the screen, to be written first.
    ///
    /// # Errors
    /// When the line discipline cannot be changed, as with a terminal that has gone.
    pub(crate) fn enter(&self, mouse: bool) -> io::Result<String> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        // After an unexpected stop and continue the first settings are still the ones to go back to.
        let cooked = match held.take() {
            Some(before) => before.cooked,
            None => termios::tcgetattr(&self.fd)?,
        };
        let mut raw = cooked.clone();
        raw.make_raw();
        *held = Some(Held { fd: self.fd.try_clone()?, cooked, mouse, shared: self.shared });
        termios::tcsetattr(&self.fd, OptionalActions::Now, &raw)?;
        Ok(format!("{ENTER}{}", if mouse { MOUSE_ON } else { "" }))
    }
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Paths of a terminal. The BSDs cannot wait on /dev/tty, so there its real name comes first.
fn terminal_paths() -> Vec<PathBuf> {
    let stdio = [termios::ttyname(io::stdout(), Vec::new()), termios::ttyname(io::stdin(), Vec::new())];
    let mut paths: Vec<PathBuf> =
        stdio.into_iter().flatten().filter_map(|name| name.into_string().ok()).map(PathBuf::from).collect();
    let at = if cfg!(target_os = "linux") { 0 } else { paths.len() };
    paths.insert(at, PathBuf::from("/dev/tty"));
    paths
}

fn clamped(size: Size) -> Size {
    let side = |n: u16, unknown: u16, max: u16| if n == 0 { unknown } else { n.min(max) };
    Size::new(
        side(size.width, UNKNOWN_SIZE.width, MAX_SIZE.width),
        side(size.height, UNKNOWN_SIZE.height, MAX_SIZE.height),
    )
}

/// State to be undone.
struct Held {
    fd: OwnedFd,
    cooked: Termios,
    mouse: bool,
    shared: Option<OFlags>,
}

static HELD: Mutex<Option<Held>> = Mutex::new(None);

/// The bytes that switch mouse reports on or off; remembers that they have to be switched off at the end.
pub(crate) fn mouse(on: bool) -> &'static str {
    if let Some(held) = HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        held.mouse |= on;
    }
    if on { MOUSE_ON } else { MOUSE_OFF }
}

/// Gives the terminal back; does nothing when it was given back before.
///
/// `unfinished` is the rest of a frame that the terminal has read the beginning of; `answer_due` when a question to
/// the terminal is still open.
pub(crate) fn leave(unfinished: &[u8], answer_due: bool) {
    // The panic hook may come here while this thread holds the lock; giving up beats waiting for ourselves.
    let Some(held) = take_held() else { return };
    let off = format!("{}{LEAVE}", if held.mouse { MOUSE_OFF } else { "" });
    let bytes = [unfinished, off.as_bytes()].concat();
    if write_within(&held.fd, &bytes, LEAVE_PATIENCE) {
        if answer_due {
            swallow_answer(&held.fd);
        }
    } else {
        // Old frames would keep the way blocked for ever: drop them, the screen is going away anyhow.
        let _ = termios::tcflush(&held.fd, QueueSelector::OFlush);
        write_within(&held.fd, off.as_bytes(), LEAVE_PATIENCE);
    }
    let _ = termios::tcsetattr(&held.fd, OptionalActions::Now, &held.cooked);
    if let Some(flags) = held.shared {
        let _ = rustix::fs::fcntl_setfl(&held.fd, flags);
    }
}

/// Gives the terminal back where the program cannot go on, on any thread.
pub fn give_back() {
    leave(&[], false);
}

fn take_held() -> Option<Held> {
    match HELD.try_lock() {
        Ok(mut held) => held.take(),
        Err(std::sync::TryLockError::Poisoned(held)) => held.into_inner().take(),
        Err(std::sync::TryLockError::WouldBlock) => None,
    }
}

/// Writes all bytes or gives up after the time; true also when the terminal is gone, for then nothing is left to do.
fn write_within(fd: &OwnedFd, mut bytes: &[u8], patience: Duration) -> bool {
    let end = Instant::now() + patience;
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                if !wait(fd, PollFlags::OUT, end) {
                    return false;
                }
            }
            Err(_) => return true,
        }
    }
    true
}

fn swallow_answer(fd: &OwnedFd) {
    let end = Instant::now() + ANSWER_PATIENCE;
    let mut decoder = Decoder::new();
    let mut buffer = [0; 512];
    while decoder.take_answers() == 0 && wait(fd, PollFlags::IN, end) {
        match rustix::io::read(fd, &mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(n) => drop(decoder.feed(buffer.get(..n).unwrap_or_default())),
        }
    }
}

/// Waits until the terminal can be read or written; false when the time is over or the terminal is gone.
fn wait(fd: &OwnedFd, what: PollFlags, end: Instant) -> bool {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let time = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut fds = [PollFd::new(fd, what)];
        match rustix::event::poll(&mut fds, Some(&time)) {
            Ok(0) => return false,
            Ok(_) => return fds.iter().any(|f| f.revents().contains(what)),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Lets a command read keys from the terminal also when our standard input is a pipe with data. Our own handle would
/// not do: it never waits.
pub(crate) fn give_keys(command: &mut Command) {
    if !termios::isatty(io::stdin())
        && let Ok(tty) = std::fs::File::open("/dev/tty")
    {
        command.stdin(tty);
    }
}

/// True if a stopped stepscope could be continued: a job-control shell runs it as a job of its own. Without one (the
/// only program of a terminal window or a container) a stop would be for ever.
pub(crate) fn can_suspend() -> bool {
    // As plain numbers: in a container whose session began outside the number is 0, which rustix cannot hold.
    use nix::unistd::{getpgrp, getppid, getsid};
    let Ok(session) = getsid(None) else { return false };
    getpgrp() != session && getsid(Some(getppid())) == Ok(session)
}

/// Stops the whole job, as the terminal's own Ctrl-Z would.
pub(crate) fn stop() {
    let _ = process::kill_current_process_group(Signal::STOP);
}

/// Installs the panic hook; call it on the thread of the screen.
///
/// A panic of that thread that nobody catches ends the program: the terminal is given back first, then the message is
/// printed. Any other leaves the screen alone and comes out of the returned channel, unless another thread caught it.
pub(crate) fn hook_panics() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    let ui = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        let text = sentence(info).into_string();
        let is_ui = std::thread::current().id() == ui && tokio::task::try_id().is_none();
        if is_ui && !is_guarded() {
            leave(&[], false);
            let _ = writeln!(io::stderr(), "stepscope: {text}");
        } else if is_ui || !is_guarded() {
            let _ = sender.try_send(text);
        }
    }));
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_sane() {
        for (given, want) in
            [((0, 0), (80, 24)), ((1, 1), (1, 1)), ((65535, 1), (1000, 1)), ((500, 3), (500, 3)), ((0, 9), (80, 9))]
        {
            assert_eq!(clamped(Size::from(given)), Size::from(want));
        }
    }
}
