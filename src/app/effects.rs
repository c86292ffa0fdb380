//! Performs the effects: hands each to the thread or task that it belongs to, and reports back by messages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::app::calls::Calls;
use crate::app::log::{Log, What};
use crate::app::msg::{Effect, Msg, SearchId};
use crate::app::outbox::Outbox;
use crate::app::read::read;
use crate::app::review_worker::{ReviewSetup, ReviewWorker};
use crate::app::state::App;
use crate::app::threads::{Thread, start, try_start};
use crate::widgets::theme::BUILT_IN;
use stepscope_base::guard::{guarded, no_thread, scarce_threads};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::{FileView, Session};
use stepscope_io::failure::Failure;
use stepscope_io::log::journal::REVIEWS;
use stepscope_io::log::{Closed, Writer};
use stepscope_io::pipeline::load::{Loader, LoadingBegun};
use stepscope_io::pipeline::search;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::store::LoadEvent;
use stepscope_terminal::run::{self, Command, Control, Options, Program};
use stepscope_terminal::terminal::Tty;

/// Longest wait at the end for verdicts that are on their way to the disk.
const PATIENCE: Duration = Duration::from_secs(20);
/// Wait at the end that nobody notices: nearly always everything is saved by then.
const SOON: Duration = Duration::from_millis(500);
/// Wait at the end for a log that another program holds, which may be for ever.
const HELD: Duration = Duration::from_secs(2);
/// Size in bytes above which a record is read on a thread of its own, one after the other: the table need not wait for
/// it.
const LARGE: usize = 256 << 10;

/// See the module.
#[derive(Debug)]
pub struct Performer {
    outbox: Outbox,
    /// Outbox for work that is done at once; `None`: it has threads of its own.
    at_once: Option<Outbox>,
    /// The threads of the session, from [`Effect::Begin`] on.
    threads: Option<Threads>,
    calls: Calls,
    /// Records that wait for [`Effect::Begin`], only where files are followed.
    loading: Option<LoadingBegun>,
    loader: Option<Loader>,
    searches: Vec<(SearchId, search::Search)>,
    memory: Memory,
    /// Token that keeps the search for parents of forks alive.
    looking: Option<Arc<()>>,
    side: Arc<SideData>,
    reviewing: Option<ReviewSetup>,
}

/// See [`Performer`].
#[derive(Debug)]
struct Threads {
    /// Senders to the thread that reads, and to that for what may take long; `None`: it is done at once.
    readers: Option<[Sender<Effect>; 2]>,
    writer: Writer,
    worker: Option<ReviewWorker>,
}

/// Memory of this session, and why it could not be kept, if so.
#[derive(Debug, Default)]
pub struct Memory {
    /// Everything that is remembered.
    pub session: Session,
    /// Path under which this session's view is remembered; `None`: nowhere.
    pub path: Option<PathBuf>,
    /// Reason why nothing could be remembered.
    pub failure: Option<Failure>,
}

impl Memory {
    fn keep(&mut self, view: FileView, theme: Option<&str>, filters: &[String]) {
        self.session.remember_filters(filters);
        if let Some(path) = &self.path {
            self.session.remember(path, view);
        }
        if let Some(theme) = theme.filter(|theme| self.session.theme() != Some(theme)) {
            self.session.choose_theme(theme);
        }
        self.failure = self.session.save().err();
    }
}

/// Outcome of the work that was under way when the session ended.
#[derive(Debug)]
pub struct Finished {
    /// Things that could not be saved or remembered, in sentences.
    pub complaints: Vec<Shown>,
    /// True unless drafts, and with them what is not saved, could not be kept for the next start.
    pub drafts_kept: bool,
    /// Forks were not saved, and nobody was told while there was a screen.
    pub forks_lost: bool,
}

/// Lines and drafts that the threads left when they ended.
#[derive(Debug, Default)]
struct Ended {
    /// Lines that were not saved, and why, if that was not told before.
    unsaved: Vec<(What, Failure)>,
    /// Reason why drafts could not be kept.
    drafts: Option<Shown>,
}

impl Performer {
    /// Makes one that waits for [`Effect::Begin`].
    pub fn new(outbox: Outbox, memory: Memory, side: Arc<SideData>, calls: Calls) -> Self {
        Self {
            outbox,
            at_once: None,
            threads: None,
            calls,
            loading: None,
            loader: None,
            searches: Vec::new(),
            memory,
            looking: None,
            side,
            reviewing: None,
        }
    }

    /// Tells the loader, too, what was written.
    #[must_use]
    pub fn loading(self, loading: LoadingBegun) -> Self {
        Self { loading: Some(loading), ..self }
    }

    /// Reads these reviews, and saves to their own review log.
    #[must_use]
    pub fn reviewing(self, reviews: ReviewSetup) -> Self {
        Self { reviewing: Some(reviews), ..self }
    }

    /// Reads and computes before `perform` returns, and tells this outbox what came of it. Models, verdicts and drafts keep
    /// their threads.
    #[must_use]
    pub fn at_once(self, outbox: Outbox) -> Self {
        Self { at_once: Some(outbox), ..self }
    }

    /// Asks models with other flags and settings from now on.
    pub fn ask(&mut self, calls: Calls) {
        self.calls = calls;
    }

    /// Lets everything begin that goes on behind the screen.
    fn begin(&mut self, sender: &mpsc::Sender<Msg>) {
        self.outbox.attach(sender.clone());
        self.threads = Some(Threads::start(&self.outbox, &self.side, self.reviewing.take(), self.at_once.is_none()));
        match self.loading.take().map(LoadingBegun::go_on) {
            // Nothing else was sent, so there is room.
            Some(Err(failure)) => drop(sender.try_send(Msg::Load(LoadEvent::Failed(None, failure)))),
            started => self.loader = started.and_then(Result::ok),
        }
    }

    /// Waits for what is on its way to the disk, tells the log what became of it, and keeps verdicts that were not saved
    /// as drafts.
    pub fn finish(self, app: &mut App) -> Finished {
        drop(self.loader);
        let ended = self.threads.map(|threads| threads.finish(app)).unwrap_or_default();
        let mut complaints = Vec::new();
        for (what, failure) in &ended.unsaved {
            let sentence = if *what == What::Fork { shown!("NOT SAVED: a fork: {failure}") } else { failure.into() };
            if !complaints.contains(&sentence) {
                complaints.push(sentence);
            }
        }
        complaints.extend(ended.drafts.iter().cloned().chain(self.memory.failure.map(Shown::from)));
        let is_lost = |(what, _): &(What, Failure)| *what == What::Fork;
        Finished { complaints, drafts_kept: ended.drafts.is_none(), forks_lost: ended.unsaved.iter().any(is_lost) }
    }

    /// Runs a program on the terminal until it ends, and returns its exit code.
    pub(crate) fn run_on(
        &mut self,
        tty: &Tty,
        program: &mut impl Program<Msg = Msg, Effect = Effect>,
        options: Options,
    ) -> Result<u8, Shown> {
        let code = run::run(tty, program, options, |effect, sender| self.perform(effect, sender));
        self.outbox.close();
        code.map_err(|error| shown!("cannot use the terminal: {}", Shown::error(&error)))
    }

    /// Starts what an effect asks for, inside of the runtime, and never waits for it; what is for the terminal is given
    /// back.
    pub fn perform(&mut self, effect: Effect, sender: &mpsc::Sender<Msg>) -> Option<Control> {
        match effect {
            Effect::Copy(text) => return Some(Control::Copy(text)),
            Effect::Mouse(on) => return Some(Control::Mouse(on)),
            Effect::Repaint => return Some(Control::Repaint),
            Effect::Suspend => return Some(Control::Suspend),
            Effect::Foreground(command) => return Some(Control::Foreground(command)),
            Effect::Tour(theme) => return tour(theme).map(Control::Foreground),
            Effect::Quit(code) => return Some(Control::Quit(code)),
            Effect::Begin => self.begin(sender),
            Effect::RowTexts(..)
            | Effect::Preview(..)
            | Effect::Record(..)
            | Effect::Transition(..)
            | Effect::Live(..)
            | Effect::RemoveUnfinished(_)
            | Effect::ForkOrigins(_)
            | Effect::Export(..)
            | Effect::ChangeViews(..)
            | Effect::TellNotes(..)
            | Effect::WriteForEditor(_)
            | Effect::ReadFromEditor(_)
            | Effect::Append(_)
            | Effect::ReadReviews
            | Effect::KeepDrafts(_)
            | Effect::FindReviewed(..)
            | Effect::Summarise(..) => {
                if let Some(threads) = &mut self.threads
                    && let Some(effect) = threads.perform(effect)
                    && let Some(outbox) = &self.at_once
                {
                    read_now(effect, outbox, &self.side);
                }
            }
            Effect::Compare(..)
            | Effect::ReadDashboard(..)
            | Effect::PutSideBySide(..)
            | Effect::MakeFork(..)
            | Effect::ExportRecord(..)
            | Effect::FindFixes(_) => {
                let side = self.side.clone();
                self.start(Thread::Across, sender, move |outbox| _ = read_now(effect, outbox, &side));
            }
            Effect::Search(id, filter, plan) => {
                let fits = move |text: &[u8]| guarded(|| filter.fits_text(text)).filter(|fits| *fits).map(drop);
                self.search((id, sender), plan, fits, move |records, done| {
                    Msg::Found(id, records.into_iter().map(|(record, ())| record).collect(), done)
                });
            }
            Effect::Find(id, sought, plan) => {
                let fits = move |text: &[u8]| guarded(|| sought.place_in(text)).flatten();
                self.search((id, sender), plan, fits, move |records, done| Msg::Matched(id, records, done));
            }
            Effect::EndSearch(id) => self.searches.retain(|(other, _)| *other != id),
            // There may be gigabytes to read; an older search gives up.
            Effect::ByHash(moves, plan, wanted) => {
                let alive = Arc::new(());
                let watched = Arc::downgrade(&alive);
                self.looking = Some(alive);
                self.start(Thread::Parents, sender, move |outbox| {
                    let found = plan.find(&wanted, || watched.strong_count() > 0);
                    outbox.send(Msg::ByHash(moves, found));
                });
            }
            Effect::Follow(path) => {
                if let Some(loader) = &self.loader {
                    loader.follow(path);
                }
            }
            Effect::StartRun { .. } | Effect::CancelRun(_) | Effect::FindServers(_) | Effect::ChooseServer(..) => {
                let _ = self.calls.perform(effect, sender);
            }
            // The last thing that is done, so it may take its time.
            Effect::KeepView(view, theme, filters) => self.memory.keep(view, theme.as_deref(), &filters),
        }
        None
    }

    /// Starts work on a thread of its own, or does it at once.
    fn start(&self, thread: Thread, sender: &mpsc::Sender<Msg>, work: impl FnOnce(&Outbox) + Send + 'static) {
        if let Some(outbox) = &self.at_once {
            return work(outbox);
        }
        let outbox = self.outbox.clone();
        if try_start(thread, move || work(&outbox)).is_err() {
            tell_scarce(sender);
        }
    }

    /// Starts a search in place of one of the same number; `message` tells what it found, and whether that was all.
    fn search<T: Send + 'static>(
        &mut self,
        (id, sender): (SearchId, &mpsc::Sender<Msg>),
        plan: search::Plan,
        fits: impl Fn(&[u8]) -> Option<T> + Clone + Send + Sync + 'static,
        message: impl Fn(Vec<(u32, T)>, bool) -> Msg + Send + Sync + 'static,
    ) {
        let outbox = self.at_once.as_ref().unwrap_or(&self.outbox).clone();
        let (done, end) = channel();
        let report = move |found: search::SearchEvent<T>| {
            let is_end = matches!(found, search::SearchEvent::All);
            let goes_on = outbox.send(match found {
                search::SearchEvent::Some(records) => message(records, false),
                search::SearchEvent::All => message(Vec::new(), true),
                search::SearchEvent::Failed(failure) => Msg::SearchFailed(id, failure),
            });
            if is_end {
                // Only who does it at once waits for it.
                let _ = done.send(());
            }
            goes_on
        };
        self.searches.retain(|(other, _)| *other != id);
        match search::start(plan, fits, report) {
            Ok(search) => {
                if self.at_once.is_some() {
                    let _ = end.recv();
                }
                self.searches.push((id, search));
            }
            // A full channel has much else to tell.
            Err(_) => drop(sender.try_send(Msg::SearchFailed(id, scarce()))),
        }
    }
}

/// Says that what was asked for is not done, because there is no thread for it.
fn tell_scarce(sender: &mpsc::Sender<Msg>) {
    // A full channel has much else to tell.
    let _ = sender.try_send(Msg::Load(LoadEvent::Failed(None, scarce())));
}

fn scarce() -> Failure {
    Failure { what: "cannot start", path: Shown::own("a background thread"), source: scarce_threads() }
}

impl Threads {
    fn start(outbox: &Outbox, side: &Arc<SideData>, reviewing: Option<ReviewSetup>, reads: bool) -> Self {
        let to_loop = outbox.clone();
        // Both together: where memory has run out, no thread can be started any more.
        let readers = [Thread::Records, Thread::LargeRecords];
        Self {
            readers: reads.then(|| readers.map(|thread| start_reader(thread, outbox, side))),
            writer: Writer::start(move |told| to_loop.send(Msg::Log(told))).unwrap_or_else(|error| no_thread(&error)),
            worker: reviewing.map(|reviews| ReviewWorker::start(reviews, outbox.clone())),
        }
    }

    /// Ends the threads whose work must not be lost.
    fn finish(self, app: &mut App) -> Ended {
        let Self { writer, mut worker, .. } = self;
        let mut keep = |app: &App, log: &Log| {
            if let Some(worker) = &mut worker {
                worker.perform(Effect::KeepDrafts(app.review.to_keep(log)));
            }
        };
        let writer = writer.close();
        let patience = |writer: &Closed| if writer.is_held() { HELD } else { PATIENCE };
        // A second quit while verdicts are being saved does not wait; a fork has no drafts.
        let is_hurried = app.review.leaving.is_some() && !app.log.awaits_fork();
        let was_waiting = app.log.events().any(|(_, failure)| failure.is_none());
        let mut is_settled = writer.wait(SOON);
        if !is_settled {
            // It may take long, and who waits may be killed meanwhile.
            let mut log = app.log.clone();
            log.ended(writer.unsaved());
            keep(app, &log);
            is_settled = !is_hurried && writer.wait(patience(&writer));
        }
        let mut log = app.log.clone();
        log.ended(writer.unsaved());
        if was_waiting {
            keep(app, &log);
        }
        let drafts = worker.and_then(|worker| worker.finish(PATIENCE));
        if drafts.is_some() && !is_settled {
            // What is not saved now is lost.
            writer.wait(if is_hurried { HELD } else { patience(&writer) });
        }
        Ended { unsaved: app.log.ended(writer.unsaved()), drafts }
    }

    /// Hands an effect to its thread, which lives as long as this does; gives back what is to be done at once.
    fn perform(&mut self, effect: Effect) -> Option<Effect> {
        match (effect, &self.readers) {
            // The next verdict may come while one is on its way to the disk.
            (Effect::Append(append), None) if self.worker.is_none() || append.content.what != REVIEWS.what => {
                return Some(Effect::Append(append));
            }
            (Effect::Append(append), _) => self.writer.append(append),
            (
                effect @ (Effect::ReadReviews
                | Effect::KeepDrafts(_)
                | Effect::FindReviewed(..)
                | Effect::Summarise(..)),
                _,
            ) => {
                if let Some(worker) = &mut self.worker {
                    worker.perform(effect);
                }
            }
            (effect, None) => return Some(effect),
            (effect, Some([reader, slow])) => {
                let is_slow = match &effect {
                    Effect::Record(_, reading, ..) => reading.len > LARGE,
                    effect => matches!(effect, Effect::Transition(..)),
                };
                // The thread lives as long as this does.
                let _ = if is_slow { slow } else { reader }.send(effect);
            }
        }
        None
    }
}

/// Builds the command that runs this program again, as its own tour; what was open stays as it was.
fn tour(theme: Option<String>) -> Option<Command> {
    let mut program = Command::new(std::env::current_exe().ok()?);
    program.arg("demo");
    if let Some(theme) = theme.filter(|theme| BUILT_IN.iter().any(|(known, _)| known == theme)) {
        program.args(["--theme", &theme]);
    }
    Some(program)
}

/// Starts a thread that reads what it is sent.
fn start_reader(thread: Thread, outbox: &Outbox, side: &Arc<SideData>) -> Sender<Effect> {
    let (sender, wanted) = channel();
    let (outbox, side) = (outbox.clone(), side.clone());
    start(thread, move || read_on_demand(&wanted, &outbox, &side));
    sender
}

fn read_on_demand(wanted: &Receiver<Effect>, outbox: &Outbox, side: &Arc<SideData>) {
    while let Ok(first) = wanted.recv() {
        let effects: Vec<Effect> = std::iter::once(first).chain(wanted.try_iter()).collect();
        // Of several requests for rows, or for a preview, only the last is about what is on screen now.
        let is_rows = |effect: &Effect| matches!(effect, Effect::RowTexts(..));
        let is_preview = |effect: &Effect| matches!(effect, Effect::Preview(..));
        let (last_rows, last_preview) = (effects.iter().rposition(is_rows), effects.iter().rposition(is_preview));
        for (n, effect) in effects.into_iter().enumerate() {
            if (!is_rows(&effect) || Some(n) == last_rows)
                && (!is_preview(&effect) || Some(n) == last_preview)
                && !read_now(effect, outbox, side)
            {
                return;
            }
        }
    }
}

/// Does the work of an effect on this thread; `false`: the loop has ended.
fn read_now(effect: Effect, outbox: &Outbox, side: &Arc<SideData>) -> bool {
    read(effect, side, &|message| _ = outbox.send(message)).is_none_or(|message| outbox.send(message))
}
