//! Does what `update` asked for, and reports back by messages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::app::errands;
use crate::app::fork_tree::Address;
use crate::app::msg::{Msg, SearchId, Work};
use crate::app::open_record::OpenRecord;
use crate::app::review_worker::{ReviewWorker, Tell};
use crate::app::threads::{Thread, start};
use crate::screens::rerun::transition::Reached;
use stepscope_base::guard::guarded;
use stepscope_base::json::Tape;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::record::formats;
use stepscope_core::table::seen::place_in;
use stepscope_core::table::texts::RowTexts;
use stepscope_io::config::session::{FileView, Session};
use stepscope_io::failure::Failure;
use stepscope_io::files::{edited_text, editor_file, write_new};
use stepscope_io::log::forks::KnownFork;
use stepscope_io::log::{Writer, now};
use stepscope_io::pipeline::load::Loader;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::search::{self, Plan};
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::source::beneath::Place;

/// At the end, verdicts that are on their way to the disk are waited for so long.
const PATIENCE: Duration = Duration::from_secs(20);
/// A texts is made from at most so many bytes of a record; what is longer is read when it is opened.
const MAX_ROW_TEXT: usize = 4 << 20;
/// What is longer is read on a thread of its own, one after the other: the table need not wait for it.
const LARGE: usize = 256 << 10;

/// The way from background threads to the event loop. It can be handed out before the loop runs; what is sent then
/// waits.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Slot>);

#[derive(Debug, Default)]
struct Slot {
    sender: Mutex<Option<mpsc::Sender<Msg>>>,
    attached: Condvar,
    closed: AtomicBool,
}

impl Outbox {
    /// Sends from a background thread; waits where the loop is behind. `false`: the loop has ended.
    pub fn send(&self, message: Msg) -> bool {
        let mut slot = self.0.sender.lock().unwrap_or_else(PoisonError::into_inner);
        while slot.is_none() && !self.0.closed.load(Ordering::Acquire) {
            slot = self.0.attached.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
        let sender = slot.clone();
        drop(slot);
        sender.is_some_and(|sender| sender.blocking_send(message).is_ok())
    }

    /// The loop runs: what waited is sent.
    pub fn attach(&self, sender: mpsc::Sender<Msg>) {
        *self.0.sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        self.0.attached.notify_all();
    }

    /// The loop will not run any more: nobody need wait.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.attached.notify_all();
    }
}

/// Does the work.
#[derive(Debug)]
pub struct Performer {
    outbox: Outbox,
    reader: Sender<Work>,
    /// For what may take long.
    slow: Sender<Work>,
    writer: Writer,
    /// Only while files are followed.
    loader: Option<Loader>,
    searches: Vec<(SearchId, search::Search)>,
    memory: Memory,
    /// Somebody wants to know where forks come from.
    looking: Option<Arc<()>>,
    side: Arc<SideData>,
    worker: Option<ReviewWorker>,
}

/// What is remembered of this session, and why it could not be, if so.
#[derive(Debug, Default)]
pub struct Memory {
    /// Everything that is remembered.
    pub session: Session,
    /// Under what this session's view is remembered; `None`: nowhere.
    pub path: Option<PathBuf>,
    /// Why nothing could be remembered.
    pub failure: Option<Failure>,
}

impl Memory {
    fn keep(&mut self, view: FileView, theme: Option<&str>) {
        if let Some(path) = &self.path {
            self.session.remember(path, view);
        }
        if let Some(theme) = theme.filter(|theme| self.session.theme() != Some(theme)) {
            self.session.choose_theme(theme);
        }
        self.failure = self.session.save().err();
    }
}

impl Performer {
    /// Starts the threads that read.
    pub fn new(outbox: Outbox, memory: Memory, side: Arc<SideData>) -> Self {
        let reader = start_reader(Thread::Records, &outbox, &side);
        // Both at once: where memory has run out, no thread can be started any more.
        let slow = start_reader(Thread::LargeRecords, &outbox, &side);
        let to_loop = outbox.clone();
        let writer = Writer::start(move |told| to_loop.send(Msg::Log(told)));
        Self {
            outbox,
            reader,
            slow,
            writer,
            loader: None,
            searches: Vec::new(),
            memory,
            looking: None,
            side,
            worker: None,
        }
    }

    /// Also tells the loader what was written.
    #[must_use]
    pub(crate) fn with_loader(self, loader: Loader) -> Self {
        Self { loader: Some(loader), ..self }
    }

    /// Reviews are saved to the first of these journals.
    #[must_use]
    pub fn reviewing(mut self, journals: &[Place], state: Option<&Path>) -> Self {
        let outbox = self.outbox.clone();
        let tell = Tell::by(move |news| outbox.send(Msg::Review(news)));
        self.worker = Some(ReviewWorker::start(journals, state, tell));
        self
    }

    /// Waits for what is on its way to the disk; what could not be saved or remembered, in sentences.
    pub fn finish(self) -> Vec<Shown> {
        drop(self.loader);
        let lost = self.writer.finish(PATIENCE).into_iter();
        let kept = self.worker.and_then(|worker| worker.finish(PATIENCE));
        lost.chain(kept).chain(self.memory.failure.map(|failure| shown!("{failure}"))).collect()
    }

    /// Starts a piece of work; never waits for it.
    pub fn perform(&mut self, work: Work) {
        match work {
            Work::Parents(moves, plan, wanted) => self.look_for_parents(moves, plan, wanted),
            Work::Record(_, ref reading, ..) if reading.len > LARGE => self.read_apart(work),
            Work::Transition(..) => self.read_apart(work),
            Work::RowTexts(..)
            | Work::Record(..)
            | Work::ForkOrigins(_)
            | Work::Export(..)
            | Work::Lend(_)
            | Work::TakeBack(_) => {
                // The thread lives as long as this does.
                let _ = self.reader.send(work);
            }
            Work::Search(id, filter, plan) => {
                let outbox = self.outbox.clone();
                let fits = move |text: &[u8]| guarded(|| filter.fits_text(text)).filter(|fits| *fits).map(drop);
                let report = move |found: search::SearchEvent<()>| {
                    outbox.send(match found {
                        search::SearchEvent::Some(records) => {
                            Msg::Found(id, records.into_iter().map(|(record, ())| record).collect(), false)
                        }
                        search::SearchEvent::All => Msg::Found(id, Vec::new(), true),
                        search::SearchEvent::Failed(failure) => Msg::SearchFailed(id, failure),
                    })
                };
                self.end_search(id);
                self.searches.push((id, search::start(plan, fits, report)));
            }
            Work::Match(id, letters, plan) => {
                let outbox = self.outbox.clone();
                let fits = move |text: &[u8]| guarded(|| place_in(text, &|piece| letters.is_match(piece))).flatten();
                let report = move |found: search::SearchEvent<Shown>| {
                    outbox.send(match found {
                        search::SearchEvent::Some(records) => Msg::Matched(id, records, false),
                        search::SearchEvent::All => Msg::Matched(id, Vec::new(), true),
                        search::SearchEvent::Failed(failure) => Msg::SearchFailed(id, failure),
                    })
                };
                self.end_search(id);
                self.searches.push((id, search::start(plan, fits, report)));
            }
            Work::EndSearch(id) => self.end_search(id),
            Work::Across(errand) => {
                let (outbox, side) = (self.outbox.clone(), self.side.clone());
                start(Thread::Across, move || outbox.send(Msg::Across(errands::run(errand, &side))));
            }
            Work::Append(append) => self.writer.append(append),
            Work::Follow(path) => {
                if let Some(loader) = &self.loader {
                    loader.follow(path);
                }
            }
            // Model calls are made inside of the runtime.
            Work::Begin | Work::StartRun { .. } | Work::CancelRun(_) | Work::Look(_) | Work::Choose(..) => {}
            Work::Review(task) => {
                if let Some(worker) = &mut self.worker {
                    worker.perform(task);
                }
            }
            // The last thing that is done, so it may take its time.
            Work::Keep(view, theme) => self.memory.keep(view, theme.as_deref()),
        }
    }

    fn read_apart(&mut self, work: Work) {
        let _ = self.slow.send(work);
    }

    /// In a thread of its own, because there may be gigabytes to read; an older one gives up.
    fn look_for_parents(&mut self, moves: u64, plan: Plan, wanted: BTreeSet<String>) {
        let outbox = self.outbox.clone();
        let alive = Arc::new(());
        let watched = Arc::downgrade(&alive);
        self.looking = Some(alive);
        start(Thread::Parents, move || {
            let found = plan.find(&wanted, || watched.strong_count() > 0);
            outbox.send(Msg::Parents(moves, found))
        });
    }

    fn end_search(&mut self, id: SearchId) {
        self.searches.retain(|(other, _)| *other != id);
    }
}

/// Starts a thread that reads what it is sent.
fn start_reader(thread: Thread, outbox: &Outbox, side: &Arc<SideData>) -> Sender<Work> {
    let (sender, wanted) = channel();
    let (outbox, side) = (outbox.clone(), side.clone());
    start(thread, move || read_on_demand(&wanted, &outbox, &side));
    sender
}

fn read_on_demand(wanted: &Receiver<Work>, outbox: &Outbox, side: &Arc<SideData>) {
    while let Ok(first) = wanted.recv() {
        // Of several requests for rows only the last is about what is on screen now.
        let mut work: Vec<Work> = std::iter::once(first).chain(wanted.try_iter()).collect();
        let last_rows = work.iter().rposition(|work| matches!(work, Work::RowTexts(..)));
        let mut n = 0;
        work.retain(|work| {
            n += 1;
            !matches!(work, Work::RowTexts(..)) || Some(n - 1) == last_rows
        });
        for work in work {
            if let Some(message) = read(work, side)
                && !outbox.send(message)
            {
                return;
            }
        }
    }
}

/// Reads what is wanted; `None` for work that is no reading.
pub fn read(work: Work, side: &Arc<SideData>) -> Option<Msg> {
    match work {
        Work::RowTexts(moves, rows) => {
            let mut tape = Tape::default();
            let rows = rows
                .into_iter()
                .map(|(record, reading)| (record, guarded(|| texts(&reading, &mut tape)).unwrap_or_default()))
                .collect();
            Some(Msg::RowTexts(moves, rows))
        }
        Work::Record(record, reading, row, hide) => {
            let open = || {
                let text = reading.read()?;
                let opened = OpenRecord::new(record, reading.line()?, &row, text, reading.around(side));
                let opened = opened.identified(reading.dataset.clone(), reading.position);
                Ok(Box::new(opened.hiding(hide, &row, side)))
            };
            let failed = || Err(Failure::own("cannot open a record of", reading.blob.name(), FAILED));
            Some(Msg::Record(record, guarded(open).unwrap_or_else(failed)))
        }
        Work::ForkOrigins(forks) => {
            let fork = |reading: &Reading| Some(KnownFork::of(&reading.read().ok()?));
            let read = |(address, reading): (Address, Reading)| (address, guarded(|| fork(&reading)).flatten());
            Some(Msg::ForkOrigins(forks.into_iter().map(read).collect()))
        }
        Work::Parents(moves, plan, wanted) => Some(Msg::Parents(moves, plan.find(&wanted, || true))),
        Work::Append(append) => Some(Msg::Log(append.write())),
        Work::Lend(text) => Some(Msg::Lent(editor_file(&text))),
        Work::TakeBack(path) => Some(Msg::TakenBack(edited_text(&path))),
        Work::Export(path, bytes) => {
            let result = write_new(&path, &bytes);
            Some(Msg::Exported(path, result))
        }
        Work::Across(errand) => Some(Msg::Across(errands::run(errand, side))),
        Work::Transition(id, transition) => {
            let now = now();
            let failed = || Reached::Never(Shown::own(FAILED));
            Some(Msg::Reached(id, Box::new(guarded(|| transition.go(side, &now)).unwrap_or_else(failed))))
        }
        Work::Begin
        | Work::Follow(_)
        | Work::Search(..)
        | Work::Match(..)
        | Work::EndSearch(_)
        | Work::Keep(..)
        | Work::StartRun { .. }
        | Work::CancelRun(_)
        | Work::Look(_)
        | Work::Choose(..)
        | Work::Review(_) => None,
    }
}

/// What is said of a record on which a part of this program panicked.
pub(crate) const FAILED: &str = "stepscope itself failed on it; please report this";

fn texts(reading: &Reading, tape: &mut Tape) -> RowTexts {
    let Ok(text) = reading.read_head(MAX_ROW_TEXT) else { return RowTexts::default() };
    match tape.parse(&text) {
        Some(root) => RowTexts::of(&formats::read(root)),
        None => RowTexts::of_broken(&text),
    }
}
