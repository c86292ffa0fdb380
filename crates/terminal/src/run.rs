//! The event loop of the screen.
//!
//! A frame that is due comes first, then signals and keys, then everything else, so a key never waits behind the
//! output of a model, and its frame not behind the work that it asks for, unless that work is nearly always done within
//! the time of a frame and changes what is in front. A frame is made only when something changed,
//! at most every `FRAME` unless the last one showed nothing new, and only when the terminal keeps up; what happens in
//! between is in the next one. Nothing here runs while nothing happens.

use std::io;
use std::os::fd::OwnedFd;
use std::task::Poll;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Style;
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use stepscope_base::guard::{FAULT, guarded, strike};

use crate::clipboard::{self, Multiplexer};
use crate::input::{Decoder, Input};
use crate::output::{Flushed, Output};
pub use crate::program::*;
use crate::screen::Screen;
use crate::terminal::{self, Tty};

/// The shortest time between two frames.
pub(crate) const FRAME: Duration = Duration::from_millis(16);
/// The longest time that a frame waits for work that changes what is in front.
const AWAITED: Duration = Duration::from_millis(8);
/// At least this often keys are looked for while messages come in.
const LOOK: Duration = Duration::from_millis(4);
/// Time that a stopped program waits for the continue signal that woke it.
const CONTINUE_PATIENCE: Duration = Duration::from_millis(300);
/// The answer to the first question is awaited so long; a later one was meant for somebody else.
const FIRST_ANSWER: Duration = Duration::from_millis(500);

/// Runs the program on the terminal until it ends and returns the exit code: its own, or 128 + n for signal n.
///
/// `perform` starts what an effect asks for, inside the runtime (`tokio::spawn` works), and must not block; what only the
/// loop can do it gives back.
///
/// # Errors
/// When the terminal cannot be taken over.
pub fn run<P: Program>(
    tty: &Tty,
    program: &mut P,
    options: Options,
    perform: impl FnMut(P::Effect, &mpsc::Sender<P::Msg>) -> Option<Control>,
) -> io::Result<u8> {
    let panics = terminal::hook_panics();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let runtime = RuntimeGuard(Some(runtime));
    let Some(running) = &runtime.0 else { return Ok(0) };
    running.block_on(async {
        let _guard = Guard;
        Loop::new(tty, program, options, panics, perform)?.run().await
    })
}

/// A runtime whose end waits for nothing, not even after a panic: work that is still under way must not hold up the
/// end, and what must be saved has its own thread.
struct RuntimeGuard(Option<tokio::runtime::Runtime>);

impl Drop for RuntimeGuard {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Gives the terminal back however the loop ends.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        terminal::leave(&[], false);
    }
}

/// Signals that concern the screen.
struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
    quit: Signal,
    winch: Signal,
    cont: Signal,
    tstp: Signal,
    /// Signals that nobody sends to a screen on purpose, with their codes: they end it, but leave no terminal behind.
    others: Vec<(u8, Signal)>,
}

/// Signals that end a program which does not expect them: timers, a limit of processor time, those for own use.
const OTHERS: [rustix::process::Signal; 6] = {
    use rustix::process::Signal as S;
    [S::XCPU, S::USR1, S::USR2, S::ALARM, S::VTALARM, S::PROF]
};

/// Request of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    End(u8),
    Resize,
    Continue,
    Stop,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
            hup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            winch: signal(SignalKind::window_change())?,
            cont: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            tstp: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            others: OTHERS.iter().map(|other| other.as_raw()).map(ending).collect::<io::Result<_>>()?,
        })
    }

    async fn next(&mut self) -> Ask {
        tokio::select! {
            biased;
            _ = self.term.recv() => Ask::End(128 + 15),
            _ = self.hup.recv() => Ask::End(128 + 1),
            _ = self.int.recv() => Ask::End(128 + 2),
            _ = self.quit.recv() => Ask::End(128 + 3),
            code = first(&mut self.others) => Ask::End(code),
            _ = self.cont.recv() => Ask::Continue,
            _ = self.tstp.recv() => Ask::Stop,
            _ = self.winch.recv() => Ask::Resize,
        }
    }

    /// The signal that wakes a stopped program, or the end.
    async fn continued(&mut self) -> Ask {
        tokio::select! {
            biased;
            _ = self.term.recv() => Ask::End(128 + 15),
            _ = self.hup.recv() => Ask::End(128 + 1),
            code = first(&mut self.others) => Ask::End(code),
            _ = self.cont.recv() => Ask::Continue,
        }
    }

    /// The signals that end us whatever happens; a Ctrl-C is for the command that has the terminal.
    async fn end(&mut self) -> u8 {
        tokio::select! {
            biased;
            _ = self.term.recv() => 128 + 15,
            _ = self.hup.recv() => 128 + 1,
            code = first(&mut self.others) => code,
        }
    }
}

/// Listens to a signal that ends the program with the code of the signal.
fn ending(number: i32) -> io::Result<(u8, Signal)> {
    Ok((
        u8::try_from(number).map_or(u8::MAX, |number| number.saturating_add(128)),
        signal(SignalKind::from_raw(number))?,
    ))
}

/// Waits for the first of several signals.
async fn first(signals: &mut [(u8, Signal)]) -> u8 {
    std::future::poll_fn(|context| {
        let mut came =
            signals.iter_mut().filter_map(|(code, signal)| signal.poll_recv(context).is_ready().then_some(*code));
        came.next().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// Reason why the loop woke.
enum Wake<M> {
    Frame,
    Signal(Ask),
    Readable,
    Writable,
    Expired,
    Tick,
    Message(Option<M>),
    Panicked(String),
}

/// The loop ends with this code.
type Flow = std::ops::ControlFlow<u8>;
const GO_ON: Flow = Flow::Continue(());
/// Draws what stands in the place of a screen that could not be drawn; the keys still do what they do.
fn faulty(buf: &mut Buffer) -> Option<Position> {
    buf.reset();
    buf.set_stringn(0, 0, FAULT, usize::from(buf.area.width), Style::new());
    None
}

/// A terminal that went away is a hangup.
const GONE: u8 = 128 + 1;

struct Loop<'a, P: Program, F> {
    tty: &'a Tty,
    program: &'a mut P,
    perform: F,
    options: Options,
    screen: Screen,
    output: Output,
    signals: Signals,
    decoder: Decoder,
    reader: AsyncFd<OwnedFd>,
    /// Only while the terminal takes no more.
    writer: Option<AsyncFd<OwnedFd>>,
    sender: mpsc::Sender<P::Msg>,
    messages: mpsc::Receiver<P::Msg>,
    panics: mpsc::Receiver<String>,
    dirty: bool,
    next_frame: Instant,
    /// Until then the next frame waits for what work finds.
    awaited_until: Option<Instant>,
    /// The last frame changed nothing on the terminal.
    was_empty: bool,
    expires: Option<Instant>,
    /// Time of the last look for signals and keys.
    looked: Instant,
    /// Before the first frame.
    is_fresh: bool,
    /// The terminal may still be asked for its colour.
    ask_background_until: Option<Instant>,
    /// The last message was not taken in: a panic was caught.
    is_shaken: bool,
}

impl<'a, P: Program, F: FnMut(P::Effect, &mpsc::Sender<P::Msg>) -> Option<Control>> Loop<'a, P, F> {
    fn new(
        tty: &'a Tty,
        program: &'a mut P,
        options: Options,
        panics: mpsc::Receiver<String>,
        perform: F,
    ) -> io::Result<Self> {
        let (sender, messages) = mpsc::channel(CHANNEL);
        Ok(Self {
            tty,
            program,
            perform,
            options,
            screen: Screen::new(tty.size()),
            output: Output::new(tty.handle()?),
            signals: Signals::new()?,
            decoder: Decoder::new(),
            reader: watch(tty, Interest::READABLE)?,
            writer: None,
            sender,
            messages,
            panics,
            dirty: true,
            next_frame: Instant::now(),
            awaited_until: None,
            was_empty: false,
            expires: None,
            looked: Instant::now(),
            is_fresh: true,
            ask_background_until: None,
            is_shaken: false,
        })
    }

    async fn run(&mut self) -> io::Result<u8> {
        let begin = self.program.update(Event::Start(self.screen.size()).into(), Instant::now());
        let mut flow = self.enter(true);
        if flow.is_continue() {
            // The work that the start asks for must not hold up the first frame. One that fails shows with the next.
            let _ = self.draw();
            flow = self.perform(begin).await;
        }
        while flow.is_continue() {
            flow = self.turn().await?;
        }
        let Flow::Break(code) = flow else { return Ok(0) };
        self.leave();
        Ok(code)
    }

    /// One turn: a frame if it is due, then whatever happens next.
    async fn turn(&mut self) -> io::Result<Flow> {
        if self.draw().is_break() {
            return self.stop(GONE).await;
        }
        self.look().await;
        let wake = self.next().await;
        let flow = match wake {
            Wake::Signal(ask) => return self.signalled(ask).await,
            Wake::Readable => match self.read() {
                Some(inputs) => self.inputs(inputs).await,
                None => return self.stop(GONE).await,
            },
            Wake::Expired => {
                self.expires = None;
                let inputs = self.decoder.expire();
                self.inputs(inputs).await
            }
            Wake::Writable => {
                if self.write().is_break() {
                    return self.stop(GONE).await;
                }
                GO_ON
            }
            Wake::Tick => self.update(Event::Tick.into()).await,
            Wake::Message(Some(message)) => self.update(message).await,
            Wake::Frame | Wake::Message(None) => GO_ON,
            Wake::Panicked(text) => self.update(Event::Panicked(text).into()).await,
        };
        Ok(flow)
    }

    /// While one message follows the other the runtime does not look at the terminal by itself for a long time.
    async fn look(&mut self) {
        if self.looked.elapsed() >= LOOK {
            tokio::task::yield_now().await;
            self.looked = Instant::now();
        }
    }

    async fn next(&mut self) -> Wake<P::Msg> {
        let now = Instant::now();
        let frame_at = (self.dirty && self.output.ready()).then_some(self.due());
        let tick_at = self.program.wake_at().map(|at| at.max(now));
        tokio::select! {
            biased;
            () = at(frame_at) => Wake::Frame,
            ask = self.signals.next() => Wake::Signal(ask),
            () = readable(&self.reader) => Wake::Readable,
            () = at(self.expires) => Wake::Expired,
            () = writable(self.writer.as_ref()) => Wake::Writable,
            () = at(self.output.retry_at()) => Wake::Writable,
            () = at(tick_at) => Wake::Tick,
            Some(text) = self.panics.recv() => Wake::Panicked(text),
            message = self.messages.recv() => Wake::Message(message),
        }
    }

    /// Time of the next frame, if something changes.
    fn due(&self) -> Instant {
        self.awaited_until.map_or(self.next_frame, |until| until.max(self.next_frame))
    }

    /// Makes a frame when one is due.
    fn draw(&mut self) -> Flow {
        let now = Instant::now();
        if !self.dirty || now < self.due() || !self.output.ready() {
            return GO_ON;
        }
        let program = &*self.program;
        let bytes = self.screen.frame(|buf| guarded(|| program.draw(buf)).unwrap_or_else(|| faulty(buf)));
        self.dirty = false;
        self.was_empty = bytes.is_empty();
        self.next_frame = now + FRAME;
        self.awaited_until = None;
        self.output.push(&bytes);
        let flow = self.write();
        if std::mem::take(&mut self.is_fresh) {
            strike("ui");
            drop(tokio::spawn(async { strike("task") }));
        }
        flow
    }

    fn write(&mut self) -> Flow {
        let now = Instant::now();
        self.output.expire(now);
        match self.output.flush(now) {
            Ok(Flushed::All | Flushed::Waiting) => self.writer = None,
            Ok(Flushed::Blocked) if self.writer.is_some() => {}
            Ok(Flushed::Blocked) => {
                let Ok(watch) = watch(self.tty, Interest::WRITABLE) else { return Flow::Break(GONE) };
                self.writer = Some(watch);
            }
            Err(_) => return Flow::Break(GONE),
        }
        GO_ON
    }

    /// Input from the terminal; `None` when it has gone.
    fn read(&mut self) -> Option<Vec<Input>> {
        let mut buffer = [0; 4096];
        match rustix::io::read(self.tty, &mut buffer) {
            Ok(0) => None,
            Ok(n) => {
                let inputs = self.decoder.feed(buffer.get(..n).unwrap_or_default());
                self.expires = self.decoder.patience().map(|wait| Instant::now() + wait);
                if self.decoder.take_answers() > 0 {
                    self.output.answered(Instant::now());
                    // An error here shows again with the next read.
                    let _ = self.write();
                }
                if self.decoder.take_mode_known() {
                    self.ask_background();
                }
                Some(inputs)
            }
            Err(Errno::AGAIN | Errno::INTR) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    /// The terminal answers questions, so it may be asked for its colour; once, and not long after the start: a late
    /// answer was meant for somebody else.
    fn ask_background(&mut self) {
        if self.ask_background_until.take().is_some_and(|until| Instant::now() < until) {
            self.output.push(terminal::ASK_BACKGROUND.as_bytes());
            // An error here shows again with the next read.
            let _ = self.write();
        }
    }

    async fn inputs(&mut self, mut inputs: Vec<Input>) -> Flow {
        let Some(last) = inputs.pop() else { return GO_ON };
        for input in inputs {
            self.update(Event::Input(input).into()).await?;
        }
        let effects = self.take_in(Event::Input(last).into());
        self.dirty = true;
        if effects.iter().any(Work::is_awaited) {
            // Not put off again by the next key: many keys make frames too.
            self.awaited_until.get_or_insert_with(|| Instant::now() + AWAITED);
        } else if !effects.iter().any(Work::saves) {
            // The work that a key asks for must not hold up its frame. One that fails shows with the next; one that shows
            // nothing new does not hold up what the work finds.
            let _ = self.draw();
            if self.was_empty {
                self.next_frame = Instant::now();
            }
        }
        self.perform(effects).await
    }

    /// Has the program take a message in. A panic costs no more than what was asked for: one record that we cannot cope with
    /// does not end a session. Right behind another one it would not end, and ends the program.
    fn take_in(&mut self, message: P::Msg) -> Vec<P::Effect> {
        let now = Instant::now();
        if std::mem::take(&mut self.is_shaken) {
            return self.program.update(message, now);
        }
        let program = &mut *self.program;
        let effects = guarded(|| program.update(message, now));
        self.is_shaken = effects.is_none();
        effects.unwrap_or_default()
    }

    async fn update(&mut self, message: P::Msg) -> Flow {
        let effects = self.take_in(message);
        self.dirty = true;
        self.awaited_until = None;
        self.perform(effects).await
    }

    /// Performs effects, and what they lead to at once.
    async fn perform(&mut self, effects: Vec<P::Effect>) -> Flow {
        let mut waiting = vec![effects];
        while let Some(effects) = waiting.pop() {
            for effect in effects {
                let Some(control) = (self.perform)(effect, &self.sender) else { continue };
                if let Some(event) = self.control(control).await? {
                    waiting.push(self.take_in(event.into()));
                    self.dirty = true;
                }
            }
        }
        GO_ON
    }

    /// Does one thing; what it leads to at once is the next event.
    async fn control(&mut self, control: Control) -> std::ops::ControlFlow<u8, Option<Event>> {
        match control {
            Control::Quit(code) => return Flow::Break(code).map_continue(|()| None),
            Control::Copy(text) => {
                let behind = Multiplexer::of(|name| std::env::var_os(name));
                self.say(&clipboard::sequence(&text, behind))?;
            }
            Control::Mouse(on) => {
                self.options.mouse = on;
                self.say(terminal::mouse(on))?;
            }
            Control::Repaint => self.resize()?,
            Control::Suspend => self.suspend().await?,
            Control::Foreground(command) => {
                let result = self.foreground(command).await?;
                return std::ops::ControlFlow::Continue(Some(Event::Returned(result)));
            }
        }
        std::ops::ControlFlow::Continue(None)
    }

    fn say(&mut self, text: &str) -> Flow {
        self.output.push(text.as_bytes());
        self.write()
    }

    async fn signalled(&mut self, ask: Ask) -> io::Result<Flow> {
        match ask {
            Ask::End(code) => return self.stop(code).await,
            Ask::Stop => return Ok(self.suspend().await),
            // Somebody stopped us without asking: the shell has changed the terminal meanwhile.
            Ask::Continue => return Ok(self.enter(false)),
            Ask::Resize => {}
        }
        Ok(match self.resize() {
            Flow::Continue(()) => self.update(Event::Resize(self.screen.size()).into()).await,
            gone @ Flow::Break(_) => gone,
        })
    }

    /// Takes the size as it is now and draws everything anew.
    fn resize(&mut self) -> Flow {
        self.dirty = true;
        self.screen.repaint(self.tty.size());
        GO_ON
    }

    /// Tells the program that it ends, and does what it still wants done.
    async fn stop(&mut self, code: u8) -> io::Result<Flow> {
        let _ = self.update(Event::Stop(code).into()).await;
        Ok(Flow::Break(code))
    }

    fn enter(&mut self, first: bool) -> Flow {
        let Ok(bytes) = self.tty.enter(self.options.mouse) else { return Flow::Break(GONE) };
        self.output.reset();
        self.writer = None;
        let now = Instant::now();
        self.output.push(bytes.as_bytes());
        if first && self.options.ask_background {
            self.output.push(terminal::ASK_MODE.as_bytes());
            self.ask_background_until = Some(now + FIRST_ANSWER);
        }
        self.output.ask(now);
        self.write()?;
        self.next_frame = now;
        self.resize()
    }

    fn leave(&mut self) {
        terminal::leave(self.output.unfinished(), self.output.answer_due(Instant::now()));
        self.output.reset();
        self.writer = None;
        self.decoder = Decoder::new();
        self.expires = None;
    }

    async fn suspend(&mut self) -> Flow {
        if !terminal::can_suspend() {
            return GO_ON;
        }
        self.leave();
        terminal::stop();
        // The stop may come a moment after the call; entering again before it would leave a raw terminal behind.
        let continued = tokio::time::timeout(CONTINUE_PATIENCE, self.signals.continued()).await;
        if let Ok(Ask::End(code)) = continued {
            return Flow::Break(code);
        }
        self.enter(false)?;
        self.program_resized().await
    }

    async fn foreground(&mut self, mut command: Command) -> std::ops::ControlFlow<u8, io::Result<ExitStatus>> {
        self.leave();
        terminal::give_keys(&mut command);
        let child = tokio::task::spawn_blocking(move || command.status());
        let result = tokio::select! {
            biased;
            code = self.signals.end() => return Flow::Break(code).map_continue(|()| Err(io::Error::other(""))),
            result = child => result.unwrap_or_else(|error| Err(io::Error::other(error))),
        };
        // A Ctrl-C or Ctrl-\ during the command was for the command.
        let drained = async {
            loop {
                tokio::select! { _ = self.signals.int.recv() => {}, _ = self.signals.quit.recv() => {} }
            }
        };
        let _ = tokio::time::timeout(Duration::from_millis(1), drained).await;
        self.enter(false)?;
        self.program_resized().await?;
        std::ops::ControlFlow::Continue(result)
    }

    /// The size may have changed while somebody else had the terminal.
    async fn program_resized(&mut self) -> Flow {
        let effects = self.program.update(Event::Resize(self.screen.size()).into(), Instant::now());
        self.dirty = true;
        for effect in effects {
            // A new size asks for nothing of the terminal.
            let _ = (self.perform)(effect, &self.sender);
        }
        tokio::task::yield_now().await;
        GO_ON
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}

#[expect(deprecated, reason = "its replacement is unsafe to call; an OwnedFd keeps every promise that one asks for")]
fn watch(tty: &Tty, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(tty.handle()?, interest)
}

/// Resolves when there is something to read; the readiness is checked again each time, so no event is lost.
async fn readable(fd: &AsyncFd<OwnedFd>) {
    ready(fd, rustix::event::PollFlags::IN, Interest::READABLE).await;
}

async fn writable(fd: Option<&AsyncFd<OwnedFd>>) {
    match fd {
        Some(fd) => ready(fd, rustix::event::PollFlags::OUT, Interest::WRITABLE).await,
        None => std::future::pending().await,
    }
}

async fn ready(fd: &AsyncFd<OwnedFd>, what: rustix::event::PollFlags, interest: Interest) {
    loop {
        let Ok(mut guard) = fd.ready(interest).await else { return };
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut fds = [rustix::event::PollFd::new(fd.get_ref(), what)];
        match rustix::event::poll(&mut fds, Some(&now)) {
            Ok(0) => guard.clear_ready(),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::net::UnixStream;
    use std::panic::AssertUnwindSafe;
    use std::path::Path;

    use super::*;

    /// Work whose result replaces what is in front, or not.
    struct Asked {
        is_awaited: bool,
    }

    impl Work for Asked {
        fn is_awaited(&self) -> bool {
            self.is_awaited
        }
    }

    enum Said {
        Event,
        Found,
    }

    impl From<Event> for Said {
        fn from(_: Event) -> Self {
            Self::Event
        }
    }

    /// Cannot take in what it is told, nor draw.
    struct Faulty;

    impl Program for Faulty {
        type Msg = Said;
        type Effect = Asked;

        fn update(&mut self, message: Said, _: Instant) -> Vec<Asked> {
            assert!(matches!(message, Said::Found), "asked for");
            Vec::new()
        }

        fn draw(&self, _: &mut Buffer) -> Option<Position> {
            panic!("asked for")
        }
    }

    #[tokio::test]
    async fn a_panic_costs_one_message_and_a_second_one_behind_it_the_program() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let tty = Tty::of(ours.into());
        let (options, (_, panics)) = (Options { mouse: false, ask_background: false }, mpsc::channel(1));
        let mut program = Faulty;
        let mut turning = Loop::new(&tty, &mut program, options, panics, |_, _| None).unwrap();
        for _ in 0..2 {
            assert!(turning.update(Said::Event).await.is_continue());
            assert!(turning.update(Said::Found).await.is_continue());
        }
        turning.next_frame = Instant::now();
        assert!(turning.draw().is_continue());
        assert!(turning.update(Said::Event).await.is_continue());
        assert!(std::panic::catch_unwind(AssertUnwindSafe(|| turning.take_in(Said::Event))).is_err());
    }

    /// Each input asks for work; frames are counted.
    struct Counted {
        is_awaited: bool,
        frames: Cell<usize>,
    }

    impl Program for Counted {
        type Msg = Said;
        type Effect = Asked;

        fn update(&mut self, message: Said, _: Instant) -> Vec<Asked> {
            match message {
                Said::Event => vec![Asked { is_awaited: self.is_awaited }],
                Said::Found => Vec::new(),
            }
        }

        fn draw(&self, _: &mut Buffer) -> Option<Position> {
            self.frames.set(self.frames.get() + 1);
            None
        }
    }

    /// Counts the frames of an input, before and after its work is done.
    async fn frames(is_awaited: bool) -> [usize; 2] {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let tty = Tty::of(ours.into());
        let mut program = Counted { is_awaited, frames: Cell::new(0) };
        let (options, (_, panics)) = (Options { mouse: false, ask_background: false }, mpsc::channel(1));
        let mut turning = Loop::new(&tty, &mut program, options, panics, |_, _| None).unwrap();
        assert!(turning.inputs(vec![Input::FocusGained]).await.is_continue());
        let before = turning.program.frames.get();
        assert!(turning.update(Said::Found).await.is_continue());
        // As if the time between two frames were over.
        turning.next_frame = Instant::now();
        assert!(turning.draw().is_continue());
        [before, turning.program.frames.get()]
    }

    #[test]
    fn a_command_that_is_not_there_is_told_so() {
        let why = |command: &str| ended(on_file(command, Path::new("a")).status()).unwrap_err().into_string();
        assert_eq!(why("/nowhere/vim 2> /dev/null"), "was not found");
        assert_eq!(why("exit 3;"), "ended with exit status: 3");
    }

    #[test]
    fn work_that_replaces_what_is_in_front_shows_in_one_frame() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert_eq!(frames(true).await, [0, 1]);
            assert_eq!(frames(false).await, [1, 2], "other work does not hold up the frame of its key");
        });
    }
}
