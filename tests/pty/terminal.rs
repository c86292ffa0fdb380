//! A terminal for tests: starts the real program in a pseudo-terminal, shows what a person would see, and waits for
//! conditions, never for a time.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Termios, tcgetattr};

/// Time in which a condition must come true; far more than it should take on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// Shown by no terminal.
const MARK: &[u8] = &[0; 8];

/// Command to start, with its environment and the size of its terminal.
pub(crate) struct Start {
    command: Vec<String>,
    environment: Vec<(String, String)>,
    size: (u16, u16),
}

impl Start {
    /// Prepares `stepscope` with these arguments.
    pub(crate) fn stepscope(arguments: &[&str]) -> Self {
        let command = [env!("CARGO_BIN_EXE_stepscope")].iter().chain(arguments).map(|s| (*s).to_owned()).collect();
        Self { command, environment: Vec::new(), size: (80, 24) }
    }

    /// Prepares a shell script in which `"$@"` is stepscope with these arguments.
    pub(crate) fn script(script: &str, arguments: &[&str]) -> Self {
        let mut start = Self::stepscope(arguments);
        start.command.splice(0..0, ["/bin/sh", "-c", script, "sh"].map(str::to_owned));
        start
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }
}

struct State {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// True while nothing is read, as with a terminal after Ctrl-S.
    stalled: bool,
    closed: bool,
    /// True once nothing is read any more.
    unread: bool,
    exit: Option<u32>,
}

type Shared = Arc<(Mutex<State>, Condvar)>;

/// Running program on its terminal.
pub(crate) struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Arc<Mutex<Option<Box<dyn std::io::Write + Send>>>>,
    /// Own handle of the program's side: keeps the line settings readable after its end.
    line: Option<OwnedFd>,
    before: Termios,
    shared: Shared,
    pid: Pid,
    home: tempfile::TempDir,
}

impl Terminal {
    pub(crate) fn start(start: &Start) -> Self {
        let home = tempfile::tempdir().unwrap();
        let pair = native_pty_system().openpty(size(start.size)).unwrap();
        let line = open_line(&pair.master.tty_name().unwrap());
        let before = tcgetattr(&line).unwrap();
        let mut command = CommandBuilder::new(&start.command[0]);
        command.args(&start.command[1..]);
        command.env_clear();
        command.cwd(home.path());
        let home_path = home.path().to_str().unwrap().to_owned();
        for (name, value) in [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", home_path.clone()),
            ("XDG_CONFIG_HOME", format!("{home_path}/config")),
            ("XDG_STATE_HOME", format!("{home_path}/state")),
            ("XDG_CACHE_HOME", format!("{home_path}/cache")),
            ("XDG_DATA_HOME", format!("{home_path}/data")),
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ] {
            command.env(name, value);
        }
        for (name, value) in &start.environment {
            command.env(name, value);
        }
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let pid = Pid::from_raw(i32::try_from(child.process_id().unwrap()).unwrap()).unwrap();
        let state = State {
            parser: vt100::Parser::new(side(start.size.1), side(start.size.0), 0),
            raw: Vec::new(),
            stalled: false,
            closed: false,
            unread: false,
            exit: None,
        };
        let shared: Shared = Arc::new((Mutex::new(state), Condvar::new()));
        let writer = Arc::new(Mutex::new(Some(pair.master.take_writer().unwrap())));
        let reader = pair.master.try_clone_reader().unwrap();
        std::thread::spawn({
            let (shared, writer) = (shared.clone(), writer.clone());
            move || {
                pump(reader, &shared, &writer);
                lock(&shared).unread = true;
                shared.1.notify_all();
            }
        });
        std::thread::spawn({
            let shared = shared.clone();
            move || {
                let code = child.wait().map_or(u32::MAX, |status| status.exit_code());
                lock(&shared).exit = Some(code);
                shared.1.notify_all();
            }
        });
        Self { master: Some(pair.master), writer, line: Some(line), before, shared, pid, home }
    }

    /// Types text or sends any other bytes.
    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        if let Some(writer) = self.writer.lock().unwrap().as_mut() {
            writer.write_all(bytes.as_ref()).unwrap();
            writer.flush().unwrap();
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid, signal);
    }

    /// Returns the id of the program's process.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        lock(&self.shared).parser.screen_mut().set_size(side(rows), side(columns));
        self.master.as_ref().unwrap().resize(size((columns, rows))).unwrap();
    }

    /// Stops or resumes reading what the program writes.
    pub(crate) fn stall(&self, stalled: bool) {
        lock(&self.shared).stalled = stalled;
        self.shared.1.notify_all();
    }

    /// Closes the terminal window.
    pub(crate) fn close(&mut self) {
        self.line = None;
        self.master = None;
        *self.writer.lock().unwrap() = None;
        lock(&self.shared).closed = true;
        self.shared.1.notify_all();
        // The reader holds the terminal open until something comes: have the screen drawn once more.
        self.signal(Signal::WINCH);
        self.wait(|state| state.unread);
    }

    /// Returns the text that the screen shows now.
    pub(crate) fn screen(&self) -> String {
        lock(&self.shared).parser.screen().contents()
    }

    /// Returns every byte that the program has written so far.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn raw(&self) -> Vec<u8> {
        lock(&self.shared).raw.clone()
    }

    /// Returns the number of bytes that the program has written so far.
    pub(crate) fn written(&self) -> usize {
        lock(&self.shared).raw.len()
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the text on the screen meets a condition.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut holds: impl FnMut(&str) -> bool) {
        let met = self.wait(|state| holds(&state.parser.screen().contents()));
        assert!(met, "waited for {what:?}; the screen shows:\n{}", self.screen());
    }

    /// Waits until the program has written more than this.
    #[track_caller]
    pub(crate) fn wait_written(&self, before: usize) {
        assert!(self.wait(|state| state.raw.len() > before), "nothing more was written");
    }

    /// Waits for the end of the program and returns its exit code.
    #[track_caller]
    pub(crate) fn wait_exit(&self) -> u32 {
        assert!(self.wait(|state| state.exit.is_some()), "still running; the screen shows:\n{}", self.screen());
        // The last output may be read after the end is known: it is in front of what is written now. Behind that may be
        // answers that nobody reads any more.
        if let Some(line) = &self.line {
            rustix::io::write(line, MARK).unwrap();
            let place = |state: &State| state.raw.windows(MARK.len()).position(|bytes| bytes == MARK);
            assert!(self.wait(|state| place(state).is_some()), "the end of the output did not come");
            let mut state = lock(&self.shared);
            let at = place(&state).unwrap();
            state.raw.drain(at..at + MARK.len());
        }
        lock(&self.shared).exit.unwrap()
    }

    /// Waits for the end of the program with this exit code; otherwise shows what it said last.
    #[track_caller]
    pub(crate) fn assert_exit(&self, expected: u32) {
        let code = self.wait_exit();
        assert_eq!(code, expected, "the exit code; the screen shows:\n{}", self.screen());
    }

    /// Tells whether the program ends although nothing reads what it writes.
    pub(crate) fn exits_stalled(&self) -> bool {
        self.wait(|state| state.exit.is_some())
    }

    /// Repeats an action until the program ends.
    #[track_caller]
    pub(crate) fn wait_exit_while(&self, mut act: impl FnMut(&Self)) -> u32 {
        let end = Instant::now() + DEADLINE;
        while lock(&self.shared).exit.is_none() && Instant::now() < end {
            act(self);
            self.wait_for_time(Duration::from_millis(100), |state| state.exit.is_some());
        }
        self.wait_exit()
    }

    /// Returns what a shell would find changed: terminal modes and line settings that are not as they were.
    pub(crate) fn left_on(&self) -> BTreeSet<String> {
        let state = lock(&self.shared);
        let screen = state.parser.screen();
        let mut left = BTreeSet::new();
        for (on, what) in [
            (screen.alternate_screen(), "alternate screen"),
            (screen.hide_cursor(), "cursor hidden"),
            (screen.bracketed_paste(), "bracketed paste"),
            (screen.application_cursor(), "application cursor keys"),
            (screen.application_keypad(), "application keypad"),
            (screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None, "mouse"),
            (screen.mouse_protocol_encoding() != vt100::MouseProtocolEncoding::Default, "mouse encoding"),
            (screen.bold() || screen.inverse() || screen.fgcolor() != vt100::Color::Default, "text attributes"),
        ] {
            if on {
                left.insert(what.to_owned());
            }
        }
        for mode in ["1004", "1007", "2026", "2031", "2048"] {
            let last = |end: &str| find_last(&state.raw, format!("\x1b[?{mode}{end}").as_bytes());
            if last("h") > last("l") {
                left.insert(format!("mode {mode}"));
            }
        }
        if let Some(line) = &self.line {
            let now = tcgetattr(line).unwrap();
            let same = now.input_modes == self.before.input_modes
                && now.output_modes == self.before.output_modes
                && now.local_modes == self.before.local_modes;
            if !same {
                left.insert("line settings".to_owned());
            }
        }
        left
    }

    /// Tells whether a terminal mode such as bracketed paste is on now.
    pub(crate) fn has_on(&self, what: &str) -> bool {
        self.left_on().contains(what)
    }

    /// Returns the program's home directory.
    #[allow(dead_code, reason = "not every test file needs it")]
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    fn wait(&self, holds: impl FnMut(&State) -> bool) -> bool {
        self.wait_for_time(DEADLINE, holds)
    }

    fn wait_for_time(&self, time: Duration, mut holds: impl FnMut(&State) -> bool) -> bool {
        let state = lock(&self.shared);
        let waited = self.shared.1.wait_timeout_while(state, time, |state| !holds(state)).unwrap();
        !waited.1.timed_out()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if lock(&self.shared).exit.is_none() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
        self.close();
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn size((columns, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

/// Limits the side of a screen: the emulator cannot be empty or huge; the program is told the true size.
fn side(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n.clamp(1, 1000)).unwrap()
}

fn open_line(path: &Path) -> OwnedFd {
    use rustix::fs::{Mode, OFlags, open};
    open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

fn find_last(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).rposition(|window| window == needle)
}

/// Reads what the program writes and answers what terminals answer.
fn pump(
    mut reader: Box<dyn std::io::Read + Send>,
    shared: &Shared,
    writer: &Mutex<Option<Box<dyn std::io::Write + Send>>>,
) {
    let mut buffer = [0; 4096];
    loop {
        drop(shared.1.wait_while(lock(shared), |state| state.stalled && !state.closed).unwrap());
        let Ok(n @ 1..) = reader.read(&mut buffer) else { return };
        let bytes = &buffer[..n];
        let mut state = lock(shared);
        if state.closed {
            return;
        }
        state.raw.extend_from_slice(bytes);
        state.parser.process(bytes);
        drop(state);
        shared.1.notify_all();
        for (question, answer) in [
            ("\x1b[c", "\x1b[?62;22c"),
            ("\x1b[?2026$p", "\x1b[?2026;2$y"),
            ("\x1b]11;?", "\x1b]11;rgb:1616/1616/1e1e\x1b\\"),
        ] {
            let asked = bytes.windows(question.len()).filter(|window| *window == question.as_bytes()).count();
            if let Some(writer) = writer.lock().unwrap().as_mut() {
                let _ = writer.write_all(answer.repeat(asked).as_bytes());
            }
        }
    }
}

/// Writes a small run file and returns it with its name; the folder lives as long as the first value.
pub(crate) fn run_file() -> (tempfile::TempDir, PathBuf, &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("little-run.jsonl");
    let line = |n: u32| {
        let next = n + 1;
        format!(r#"{{"id": "item-{n}", "question": "What is {n} + 1?", "gold": "{next}", "answer": "{next}"}}"#)
    };
    let lines: Vec<String> = (0..40).map(line).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    (folder, path, "little-run.jsonl")
}
