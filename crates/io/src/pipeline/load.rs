//! Loading in the background: a scout finds the records and watches for changes, workers check them. Both report by
//! `LoadEvent`s; dropping the `Loader` ends them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::watcher::FolderWatcher;
use crate::failure::Failure;
use crate::pipeline::check::MAX_IDS;
use crate::pipeline::examine::{Text, hash, id_hash};
use crate::pipeline::side_data::{SideData, Surroundings};
use crate::pipeline::store::{LoadEvent, RowRun, Store};
use crate::source::answers::{self, AnswerStore, LineBuffer, StoreDocuments};
use crate::source::beneath::folder;
use crate::source::block::{BLOCK, Block, Cursor, WINDOW, Want};
use crate::source::column_map::ColumnMap;
use crate::source::cut::{Cut, Layout, Skips, is_cut_off, line_ends};
use crate::source::documents::{DocumentCache, Documents};
use crate::source::input::{Begun, Expand, Input, PassedOver, Source, begin, recognise_pipe};
use crate::source::open::{Blob, Stat, spool};
use crate::system::{self, await_writer};
use stepscope_base::guard::{guarded, lock};
use stepscope_base::json::{MAX_TEXT, Tape};
use stepscope_base::text::Shown;
use stepscope_judge::case::{CaseView, Context, Location};
use stepscope_judge::row::RowFacts;
use stepscope_judge::texts::{MAX_ROW_TEXT, RowTexts};

/// Changes that come faster than this are taken together.
const GATHER: Duration = Duration::from_millis(30);
/// Number of sources kept open, if the system lets us; of more, each read opens its file again.
const MAX_OPEN: usize = 256;
/// A store that has changed is read again after so long, or four times as long as it took; at most after so long.
const AGAIN: Duration = Duration::from_millis(100);
const MAX_AGAIN: Duration = Duration::from_secs(30);
/// Number of folders that are watched for changes.
const MAX_WATCHED: usize = 1024;
/// The first screen waits so long for a first record, not longer.
const PATIENCE: Duration = Duration::from_millis(25);

/// Receiver of events, called on any background thread; `false`: it is gone.
pub type Sink = Arc<dyn Fn(LoadEvent) -> bool + Send + Sync>;

/// Handle on the loading in the background. Dropping it ends that.
#[derive(Debug)]
pub struct Loader {
    shared: Arc<Shared>,
    wake: Sender<Wake>,
}

/// Loading of which only the beginning is done.
#[must_use = "nothing more is read before `go_on`"]
pub struct LoadingBegun {
    scout: Box<Scout>,
    woken: Receiver<Wake>,
    threads: usize,
    sink: Sink,
}

impl std::fmt::Debug for LoadingBegun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadingBegun").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Opens everything that is named. The first records are found and checked before this returns, without
/// reading more than the first blocks; from [`LoadingBegun::go_on`] on all else comes as events to be given to
/// [`Store::apply`].
pub fn load(
    inputs: Expand,
    threads: usize,
    side: Arc<SideData>,
    sink: impl Fn(LoadEvent) -> bool + Send + Sync + 'static,
) -> (Store, LoadingBegun) {
    begin_loading(inputs, None, threads, side, true, Arc::new(sink))
}

/// Opens everything likewise, but of a large file no more records are read at once than fill the first screen, and no
/// rule looks at them yet. The texts of the first rows come with it, of the first record first: their records are read
/// once.
pub fn load_first(
    inputs: Expand,
    rows: usize,
    threads: usize,
    side: Arc<SideData>,
    sink: impl Fn(LoadEvent) -> bool + Send + Sync + 'static,
) -> (Store, Vec<RowTexts>, LoadingBegun) {
    let (store, mut begun) = begin_loading(inputs, Some(rows), threads, side, true, Arc::new(sink));
    let texts = begun.scout.first.take().map_or_else(Vec::new, |first| first.texts);
    (store, texts, begun)
}

/// Opens everything likewise, but no rule looks at the records: the rows say where they are and of which kind.
pub fn load_unchecked(
    inputs: Expand,
    threads: usize,
    sink: impl Fn(LoadEvent) -> bool + Send + Sync + 'static,
) -> (Store, LoadingBegun) {
    begin_loading(inputs, None, threads, Arc::default(), false, Arc::new(sink))
}

fn begin_loading(
    inputs: Expand,
    rows: Option<usize>,
    threads: usize,
    side: Arc<SideData>,
    checks: bool,
    sink: Sink,
) -> (Store, LoadingBegun) {
    let (wake, woken) = channel();
    let (cache, columns) = (inputs.cache().clone(), inputs.columns().clone());
    let shared = Arc::new(Shared { cache, columns, side, checks, ..Shared::default() });
    let mut store = Store::default();
    let first = rows.map(|rows| FirstScreen { rows: rows.max(1), texts: Vec::new() });
    let mut scout = Scout { first, ..Scout::new(inputs, shared, wake) };
    let begun = Instant::now();
    while store.is_empty() && begun.elapsed() < PATIENCE && scout.first_step() {
        for event in std::mem::take(&mut scout.early) {
            store.apply(event);
        }
    }
    for event in std::mem::take(&mut scout.early) {
        store.apply(event);
    }
    scout.sink = Some(sink.clone());
    (store, LoadingBegun { scout: Box::new(scout), woken, threads: threads.max(1), sink })
}

impl LoadingBegun {
    /// Reads and follows all else.
    pub fn go_on(self) -> Result<Loader, Failure> {
        let Self { scout, woken, threads, sink } = self;
        let loader = Loader { shared: scout.shared.clone(), wake: scout.wake.clone() };
        for _ in 0..threads {
            let (shared, sink) = (loader.shared.clone(), sink.clone());
            start("check", move || work(&shared, &sink))?;
        }
        start("scout", move || scout.run(&woken))?;
        Ok(loader)
    }
}

/// Starts a thread.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).map_err(|error| Failure {
        what: "cannot start",
        path: Shown::own("a background thread"),
        source: Shown::error(&error),
    })
}

impl Loader {
    /// Tells the scout that a file of forks was written: it is read, or read further.
    pub fn follow(&self, input: Input) {
        // The scout lives as long as this does.
        let _ = self.wake.send(Wake::Follow(input));
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        self.shared.stop();
        let _ = self.wake.send(Wake::Stop);
    }
}

/// Event that wakes the scout.
enum Wake {
    /// Something happened to these paths.
    Paths(Vec<PathBuf>),
    /// Loss of some events, as there were too many.
    All,
    /// A file of forks or runs was written.
    Follow(Input),
    /// A pipe brought more; `true`: it has ended.
    Pipe(usize, bool),
    /// A pipe could not be read further.
    PipeFailed(usize, Failure),
    /// A store has changed so that it was read again.
    Anew(usize, Arc<Blob>),
    /// A store was read: the report has its notes, its failures, and where it may change.
    Read(usize, Box<answers::StoreReport>),
    Stop,
}

#[derive(Default)]
struct Shared {
    jobs: Mutex<Jobs>,
    /// Signal that there are jobs, or that it is time to stop.
    more: Condvar,
    stopped: AtomicBool,
    cache: Arc<DocumentCache>,
    columns: Arc<ColumnMap>,
    ids: Mutex<HashMap<(usize, u32), Ids>>,
    side: Arc<SideData>,
    /// True if the rules look at the records.
    checks: bool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("stopped", &self.stopped).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Jobs {
    waiting: BTreeMap<(usize, u64), Job>,
    /// Taken, not yet done.
    running: usize,
    /// The scout has found everything there is.
    all_found: bool,
    /// The current opening of each source: older jobs are dropped.
    generations: Vec<u32>,
}

/// A run of records to be checked.
struct Job {
    generation: u32,
    around: Arc<dyn Context>,
    cursor: Cursor,
    end: u64,
}

impl Shared {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // Taken and dropped, so that no worker is between looking and waiting.
        drop(lock(&self.jobs));
        self.more.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    fn send(&self, sink: &Sink, event: LoadEvent) {
        if !sink(event) {
            self.stop();
        }
    }

    /// Waits for a job; `None`: it is time to stop.
    fn next_job(&self) -> Option<(usize, Job)> {
        let mut jobs = lock(&self.jobs);
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(job) = jobs.take() {
                jobs.running += 1;
                return Some(job);
            }
            jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn add_ids(&self, source: usize, generation: u32, ids: &mut Vec<(u64, u64)>) {
        if !ids.is_empty() {
            lock(&self.ids).entry((source, generation)).or_default().add(ids);
        }
    }

    /// Compares the ids after the last job, and reports that all is done.
    fn settle_if_done(&self, sink: &Sink) {
        let jobs = lock(&self.jobs);
        if !jobs.all_found || jobs.running > 0 || !jobs.waiting.is_empty() {
            return;
        }
        let generations = jobs.generations.clone();
        drop(jobs);
        let mut events = Vec::new();
        let mut ids = lock(&self.ids);
        ids.retain(|&(source, generation), _| generations.get(source) == Some(&generation));
        for (&(source, generation), ids) in ids.iter_mut() {
            let offsets = ids.settle();
            if !offsets.is_empty() {
                events.push(LoadEvent::Duplicates { source, generation, offsets });
            }
        }
        drop(ids);
        events.into_iter().chain([LoadEvent::Settled]).for_each(|event| self.send(sink, event));
    }
}

impl Jobs {
    /// Takes from the beginning.
    fn take(&mut self) -> Option<(usize, Job)> {
        loop {
            let ((source, _), job) = self.waiting.pop_first()?;
            if self.generations.get(source) == Some(&job.generation) {
                return Some((source, job));
            }
        }
    }
}

fn work(shared: &Shared, sink: &Sink) {
    // On this thread only: drawing and typing come first.
    system::give_way();
    let (mut block, mut ids, mut tape) = (Block::default(), Vec::new(), Tape::default());
    if let Some(failure) = shared.side.complaint() {
        shared.send(sink, LoadEvent::Failed(None, failure));
    }
    while let Some((source, mut job)) = shared.next_job() {
        // A mistake of ours must cost no more than this job: without this thread checking would never end.
        let _ = guarded(|| {
            while job.cursor.at < job.end && !shared.is_stopped() {
                // What cannot be read now has been cut or replaced; the scout will say so.
                let Ok(true) = job.cursor.next(&mut block, job.end, Want::Bytes) else { break };
                let layout = job.cursor.layout();
                let part = examine_block(&block, layout, shared.checks, &job.around, &mut tape, &mut ids, None);
                shared.add_ids(source, job.generation, &mut ids);
                shared.send(sink, LoadEvent::Checked { source, generation: job.generation, part });
                for failure in shared.cache.failures() {
                    shared.send(sink, LoadEvent::Missing(failure));
                }
            }
        });
        lock(&shared.jobs).running -= 1;
        shared.settle_if_done(sink);
    }
}

/// Finds the row of the record of a text, which begins at the byte `offset`, and the number of its id; lends its case.
fn row<'t>(
    text: Text<'t>,
    offset: u64,
    checks: bool,
    tape: &mut Tape,
    around: &Arc<dyn Context + 't>,
    mut found: impl FnMut(RowFacts, Option<u64>, &CaseView<'_>),
) {
    text.case(tape, around, checks, Location { offset, ..Location::default() }, |case| {
        found(RowFacts::of(case, checks), case.record.as_ref().and_then(id_hash), case);
    });
}

/// Makes the rows of a block, checked or with what the records say of themselves.
fn examine_block(
    block: &Block,
    layout: Layout,
    checks: bool,
    around: &Arc<dyn Context>,
    tape: &mut Tape,
    ids: &mut Vec<(u64, u64)>,
    mut first: Option<&mut FirstScreen>,
) -> RowRun {
    let mut part = place_part(block, layout);
    let mut rows = Vec::with_capacity(block.cuts.len());
    for cut in &block.cuts {
        let base = block.start + cut.range.start as u64;
        row(Text::of(block, cut), base, checks, tape, around, |row, id, case| {
            ids.extend(id.map(|id| (id, row.offset())));
            if let Some(first) = &mut first {
                first.add(rows.len(), case);
            }
            rows.push(row);
        });
    }
    part.rows = rows;
    part
}

/// Makes the part of a block without its rows.
fn place_part(block: &Block, layout: Layout) -> RowRun {
    RowRun {
        span: block.border..block.end,
        line: block.line,
        dense: block.cuts.len() as u64 == block.lines && block.is_dense(layout),
        rows: Vec::new(),
        skips: block.skips,
        tail: false,
    }
}

/// Makes the rows of a block, as far as they are known without reading them.
fn unchecked_part(block: &Block, layout: Layout) -> RowRun {
    let row = |cut: &Cut| {
        let mut row = RowFacts::unchecked(block.start + cut.range.start as u64, block.len_of(cut));
        if cut.joined {
            row.set(stepscope_judge::row::Flag::Joined);
        }
        row
    };
    RowRun { rows: block.cuts.iter().map(row).collect(), ..place_part(block, layout) }
}

/// Ids of a source, as hashes with the first byte of their record.
#[derive(Default)]
struct Ids {
    sorted: Vec<(u64, u64)>,
    /// Few and new: what a growing file brings.
    fresh: HashMap<u64, u64>,
    pending: Vec<(u64, u64)>,
}

impl Ids {
    fn add(&mut self, ids: &mut Vec<(u64, u64)>) {
        let room = MAX_IDS.saturating_sub(self.sorted.len() + self.pending.len());
        if self.pending.capacity() - self.pending.len() < ids.len() {
            // In even steps: doubling would hold three times what is needed.
            self.pending.reserve_exact(ids.len().max(64 << 10));
        }
        self.pending.extend(ids.drain(..).take(room));
    }

    /// Takes in what is pending; the records whose ids stood earlier.
    fn settle(&mut self) -> Vec<u64> {
        let mut again = Vec::new();
        if self.sorted.is_empty() {
            self.sorted = std::mem::take(&mut self.pending);
            self.sorted.sort_unstable();
            // The end of a growing file is read more than once, and so is what fills the first screen.
            self.sorted.dedup();
            for same in self.sorted.chunk_by(|a, b| a.0 == b.0) {
                again.extend(same.iter().skip(1).map(|&(_, offset)| offset));
            }
            return again;
        }
        for (hash, offset) in std::mem::take(&mut self.pending) {
            let near = self.sorted.partition_point(|&(other, _)| other < hash);
            let old = self.sorted.get(near).filter(|&&(other, _)| other == hash).map(|&(_, first)| first);
            let first = old.unwrap_or_else(|| *self.fresh.entry(hash).or_insert(offset));
            if first < offset {
                again.push(offset);
            }
        }
        again
    }
}

/// Finds records, and sees to it that what changes on disk is found again.
struct Scout {
    inputs: Option<Expand>,
    sources: Vec<Track>,
    shared: Arc<Shared>,
    wake: Sender<Wake>,
    /// Events from before there is a receiver.
    early: Vec<LoadEvent>,
    sink: Option<Sink>,
    tape: Tape,
    block: Block,
    ids: Vec<(u64, u64)>,
    watcher: Option<FolderWatcher>,
    watched: HashSet<PathBuf>,
    /// Folders among them that are still to be watched.
    unwatched: Vec<PathBuf>,
    /// The source that is being read.
    reading: Option<usize>,
    /// Number of sources kept open.
    may_open: usize,
    /// Number of links that were reported.
    links: u64,
    /// The first screen, until it was read.
    first: Option<FirstScreen>,
}

/// Content of the first screen.
struct FirstScreen {
    /// Number of records that fill it.
    rows: usize,
    /// Texts of its rows, from the first record on.
    texts: Vec<RowTexts>,
}

impl FirstScreen {
    /// Keeps the texts of a record that follows some others; after one that is too long no more are kept.
    fn add(&mut self, before: usize, case: &CaseView<'_>) {
        if before == self.texts.len() && before < self.rows && case.text().len() <= MAX_ROW_TEXT {
            self.texts.push(guarded(|| RowTexts::of_case(case)).unwrap_or_default());
        }
    }
}

/// Computes [`MAX_OPEN`], but at most half of what the system gives us: the rest is for pipes, watchers and the
/// terminal.
fn may_open() -> usize {
    system::most_open_files().and_then(|limit| usize::try_from(limit / 2).ok()).unwrap_or(MAX_OPEN).min(MAX_OPEN)
}

/// State of a source, as the scout knows it.
struct Track {
    input: Input,
    /// The names by which the watcher knows it: in its own folder, and where links lead.
    names: Vec<PathBuf>,
    generation: u32,
    blob: Option<Arc<Blob>>,
    /// Documents that its records cite.
    documents: Option<Documents>,
    /// Context in which its records are examined.
    around: Arc<dyn Context>,
    cursor: Option<Cursor>,
    /// Number of bytes when it was last read.
    seen: u64,
    samples: Option<Samples>,
    /// State of the file then; `None` for a pipe.
    stat: Option<Stat>,
    gone: bool,
    decoded: bool,
    flow: Flow,
    /// Asks the reader of a store to look again.
    again: Option<SyncSender<()>>,
}

impl Track {
    fn stat_now(&self) -> Option<Stat> {
        self.input.place().as_ref().and_then(Stat::of_place)
    }
}

/// Origin of the bytes of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    File,
    Pipe,
    /// A pipe that will bring no more.
    Ended,
}

/// Amount of knowledge of the records of a block with which they are reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Depth {
    /// Places alone.
    Places,
    /// Statements of the records about themselves, too.
    Read,
    /// Findings of the rules, too.
    Checked,
}

/// Samples of what was read, to notice that the file holds something else now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Samples {
    head: u64,
    tail: u64,
}

impl Scout {
    fn new(inputs: Expand, shared: Arc<Shared>, wake: Sender<Wake>) -> Self {
        Self {
            inputs: Some(inputs),
            sources: Vec::new(),
            shared,
            wake,
            early: Vec::new(),
            sink: None,
            tape: Tape::default(),
            block: Block::default(),
            ids: Vec::new(),
            watcher: None,
            watched: HashSet::new(),
            unwatched: Vec::new(),
            reading: None,
            may_open: may_open(),
            links: 0,
            first: None,
        }
    }

    fn send(&mut self, event: LoadEvent) {
        match &self.sink {
            Some(sink) => self.shared.send(sink, event),
            None => self.early.push(event),
        }
    }

    /// Reads one block before the background starts, checked at once; `false`: there is nothing more to read.
    fn first_step(&mut self) -> bool {
        if self.reading.is_none() && !self.next_input() {
            return false;
        }
        if let Some(source) = self.reading
            && !self.read_block(source, true)
        {
            self.reading = None;
        }
        true
    }

    fn run(mut self, woken: &Receiver<Wake>) {
        let early = self.sources.len();
        self.watch_waiting();
        self.read_all();
        // Nobody heard what happened to them before they were watched.
        for source in 0..early {
            if self.sources.get(source).is_some_and(|track| !track.names.is_empty() && track.flow == Flow::File) {
                self.refresh(source);
                self.read_all();
            }
        }
        loop {
            self.found_all(true);
            let Ok(first) = woken.recv() else { return };
            let begun = Instant::now();
            if !self.take_in(first, woken) || self.shared.is_stopped() {
                return;
            }
            self.found_all(true);
            // Only after something happened, so that nothing happening costs nothing.
            if let Some(rest) = GATHER.checked_sub(begun.elapsed()) {
                std::thread::sleep(rest);
            }
        }
    }

    fn found_all(&mut self, all: bool) {
        let mut jobs = lock(&self.shared.jobs);
        if jobs.all_found != all {
            jobs.all_found = all;
            drop(jobs);
            if let (true, Some(sink)) = (all, self.sink.clone()) {
                self.shared.settle_if_done(&sink);
            }
        }
    }

    /// Takes in everything that has happened up to now; `false`: it is time to stop.
    fn take_in(&mut self, first: Wake, woken: &Receiver<Wake>) -> bool {
        let (mut touched, mut failed) = (HashSet::new(), Vec::new());
        let (mut read, mut begun) = (Vec::new(), Vec::new());
        let (mut paths, mut all) = (HashSet::new(), false);
        for wake in std::iter::once(first).chain(woken.try_iter()) {
            match wake {
                Wake::Stop => return false,
                Wake::Paths(more) => paths.extend(more),
                Wake::All => all = true,
                Wake::Follow(input) => {
                    let names = input.path().map_or_else(Vec::new, watched_names);
                    if self.sources.iter().any(|track| track.names == names) {
                        paths.extend(names);
                    } else {
                        begun.push(input);
                    }
                }
                Wake::Pipe(source, ended) => {
                    touched.insert(source);
                    if let Some(track) = self.sources.get_mut(source).filter(|_| ended) {
                        track.flow = Flow::Ended;
                    }
                }
                Wake::PipeFailed(source, failure) => failed.push((source, failure)),
                Wake::Anew(source, blob) => {
                    touched.insert(source);
                    if let Some(track) = self.sources.get_mut(source) {
                        (track.blob, track.cursor) = (Some(blob), None);
                    }
                }
                Wake::Read(source, report) => read.push((source, report)),
            }
        }
        for (n, track) in self.sources.iter().enumerate() {
            if let Some(again) = &track.again {
                // A folder's name stands for all that lies in it.
                let below = |path: &PathBuf| track.names.iter().any(|name| path.starts_with(name));
                if all || paths.iter().any(below) {
                    // Full: it will look again anyway.
                    let _ = again.try_send(());
                }
            } else if all || track.names.iter().any(|name| paths.contains(name)) {
                touched.insert(n);
            }
        }
        if !touched.is_empty() || !begun.is_empty() {
            self.found_all(false);
        }
        for input in begun {
            self.begin(&input);
            self.read_all();
        }
        for source in touched {
            self.refresh(source);
            self.read_all();
        }
        for (source, failure) in failed {
            self.send(LoadEvent::Failed(Some(source), failure));
        }
        for (source, report) in read {
            self.answers_read(source, *report);
        }
        true
    }

    fn read_all(&mut self) {
        loop {
            while let Some(source) = self.reading {
                if self.shared.is_stopped() || !self.read_block(source, false) {
                    self.reading = None;
                }
            }
            if self.shared.is_stopped() || !self.next_input() {
                return;
            }
        }
    }

    /// Begins the next input; `false`: there is none.
    fn next_input(&mut self) -> bool {
        let input = self.inputs.as_mut().and_then(Iterator::next);
        let links = self.inputs.as_ref().map_or(self.links, Expand::links);
        if links > self.links {
            self.send(LoadEvent::Links(links - self.links));
            self.links = links;
        }
        let Some(input) = input else {
            self.inputs = None;
            return false;
        };
        match input {
            Ok(input) => self.begin(&input),
            Err(failure) => self.send(LoadEvent::Failed(None, failure)),
        }
        true
    }

    fn begin(&mut self, input: &Input) {
        let names = input.path().map_or_else(Vec::new, watched_names);
        // Before it is opened: what happens from then on is heard.
        for name in &names {
            self.watch(name);
        }
        let begun = begin(input, &self.shared.cache, &self.shared.columns);
        if let Ok(Begun::PassedOver(why)) = begun {
            if let PassedOver::Unread(why) = why {
                self.send(LoadEvent::Missing(Failure::own("cannot read", &input.name(), why)));
            }
            return self.send(LoadEvent::PassedOver);
        }
        let source = self.sources.len();
        self.send(LoadEvent::Source(input.clone()));
        self.sources.push(Track {
            names,
            input: input.clone(),
            generation: 0,
            blob: None,
            documents: None,
            around: Arc::new(()),
            cursor: None,
            seen: 0,
            samples: None,
            stat: None,
            gone: false,
            decoded: false,
            flow: Flow::File,
            again: None,
        });
        lock(&self.shared.jobs).generations.push(0);
        match begun {
            Ok(Begun::Source(found)) => self.opened(source, found, false),
            Ok(Begun::Pipe(pipe)) => self.begin_pipe(source, pipe),
            Ok(Begun::Answers(store)) => self.begin_answers(source, store),
            Ok(Begun::PassedOver(_)) => {}
            Err(failure) => {
                if let Some(track) = self.sources.get_mut(source) {
                    track.stat = track.stat_now();
                }
                self.send(LoadEvent::Failed(Some(source), failure));
            }
        }
    }

    fn begin_pipe(&mut self, source: usize, pipe: std::fs::File) {
        let Some(track) = self.sources.get_mut(source) else { return };
        track.flow = Flow::Pipe;
        let name = track.input.name();
        let blob = match Blob::in_memory(name.clone()) {
            Ok(blob) => Arc::new(blob),
            Err(failure) => return self.send(LoadEvent::Failed(Some(source), failure)),
        };
        track.blob = Some(blob.clone());
        track.documents = Some(Documents::nowhere(self.shared.cache.clone()));
        let (wake, shared) = (self.wake.clone(), self.shared.clone());
        let work = move || {
            await_writer(&pipe);
            let more = |_| wake.send(Wake::Pipe(source, false)).is_ok() && !shared.is_stopped();
            let done = spool(pipe, &blob, more);
            let _ = wake.send(match done {
                Ok(0) => Wake::PipeFailed(source, Failure::own("cannot read", &name, "the pipe is empty")),
                Ok(_) => Wake::Pipe(source, true),
                Err(failure) => Wake::PipeFailed(source, failure),
            });
        };
        self.spawn(source, work);
    }

    /// Starts a thread that brings the bytes of a source.
    fn spawn(&mut self, source: usize, work: impl FnOnce() + Send + 'static) {
        if let Err(failure) = start("source", work) {
            self.send(LoadEvent::Failed(Some(source), failure));
        }
    }

    /// Begins to read a store on a thread of its own, which reads it again whenever it changes.
    fn begin_answers(&mut self, source: usize, store: AnswerStore) {
        let Some(track) = self.sources.get_mut(source) else { return };
        track.flow = Flow::Pipe;
        track.names = answers::changing(&store);
        let names = track.names.clone();
        let (again, asked) = sync_channel(1);
        track.again = Some(again);
        let store_documents = Arc::new(StoreDocuments::new(store.clone()));
        track.documents = Some(Documents::of_store(self.shared.cache.clone(), store_documents.clone()));
        let follower =
            Follower { source, store, store_documents, wake: self.wake.clone(), shared: self.shared.clone() };
        let blob = match follower.blob() {
            Ok(blob) => Arc::new(blob),
            Err(failure) => return self.send(LoadEvent::Failed(Some(source), failure)),
        };
        track.blob = Some(blob.clone());
        for name in &names {
            self.watch(name);
        }
        self.watch_waiting();
        self.spawn(source, move || follower.run(blob, &asked));
    }

    /// Takes in a store that was read to its end.
    fn answers_read(&mut self, source: usize, report: answers::StoreReport) {
        let mut missed = false;
        // A store that has changed is read again.
        let first = self.sources.get(source).is_some_and(|track| track.generation == 0);
        for folder in report.folders {
            if let Ok(folder) = folder.canonicalize()
                && self.watch_folder(&folder)
            {
                missed |= report.begun.is_some_and(|begun| answers::has_changed(&folder, begun));
            }
        }
        if let Some(again) = self.sources.get(source).and_then(|track| track.again.as_ref()).filter(|_| missed) {
            let _ = again.try_send(());
        }
        if first && report.links > 0 {
            self.send(LoadEvent::Links(report.links));
        }
        self.send(LoadEvent::Noted(source, report.note));
        let nothing = self.sources.get(source).and_then(|track| track.blob.as_ref()).is_none_or(|blob| {
            // What could not be read of a store is no failure of the rest.
            blob.is_empty().unwrap_or(true)
        });
        for failure in report.failures {
            self.send(LoadEvent::Failed(Some(source).filter(|_| nothing), failure));
        }
    }

    /// Takes in a source that was opened, for the first time or again.
    fn opened(&mut self, source: usize, mut found: Source, changed: bool) {
        let Some(track) = self.sources.get_mut(source) else { return };
        if source >= self.may_open
            && let Some(blob) = Arc::get_mut(&mut found.blob)
        {
            blob.close();
        }
        let size = if found.decoded { found.blob.len().unwrap_or(0) } else { found.stat.len };
        track.generation += 1;
        track.gone = false;
        track.decoded = found.decoded;
        track.blob = Some(found.blob.clone());
        track.documents.clone_from(&found.documents);
        let (documents, side) = (found.documents.clone(), self.shared.side.clone());
        track.around = Arc::new(Surroundings { documents, side, ..Surroundings::default() });
        track.cursor = Some(Cursor::new(found.blob.clone(), found.layout));
        track.seen = size;
        track.stat = (track.flow == Flow::File).then_some(found.stat);
        track.samples = Samples::of(&found.blob, size);
        let generation = track.generation;
        if let Some(current) = lock(&self.shared.jobs).generations.get_mut(source) {
            *current = generation;
        }
        let failures = std::mem::take(&mut found.failures);
        self.send(LoadEvent::Opened { source, generation, found, size, changed });
        for failure in failures {
            // What could not be read of a store is no failure of the rest.
            self.send(LoadEvent::Failed(Some(source).filter(|_| size == 0), failure));
        }
        self.reading = Some(source);
    }

    /// Reads the next block of a source, perhaps for the first screen; `false`: that was the last.
    fn read_block(&mut self, source: usize, is_first: bool) -> bool {
        let Some(track) = self.sources.get_mut(source) else { return false };
        let (generation, size) = (track.generation, track.seen);
        let Some(cursor) = &mut track.cursor else { return false };
        let before = cursor.clone();
        // What is little is checked at once; what is much is left to the workers.
        let little = size.saturating_sub(cursor.at) < BLOCK as u64;
        let screen = self.first.as_ref().filter(|_| is_first && !little).map(|first| first.rows);
        let depth = if (little || is_first && screen.is_none()) && self.shared.side.is_ready() {
            Depth::Checked
        } else if is_first {
            Depth::Read
        } else {
            Depth::Places
        };
        let want = if depth == Depth::Places { Want::Places } else { Want::Bytes };
        match cursor.next(&mut self.block, size, want) {
            Ok(true) => cursor.leave_all_but(screen.unwrap_or(usize::MAX), &mut self.block),
            Ok(false) => {
                self.send(LoadEvent::Read { source, generation, size });
                return false;
            }
            Err(failure) => {
                self.send(LoadEvent::Failed(Some(source), failure));
                return false;
            }
        }
        let tail = if self.block.open { cursor.back_to_last(&self.block) } else { None };
        if let Some(tail) = tail {
            *cursor = tail;
            return self.read_tail(source, generation, &before, depth);
        }
        self.report(source, generation, before, depth);
        true
    }

    fn report(&mut self, source: usize, generation: u32, before: Cursor, depth: Depth) {
        let Some(around) = self.sources.get(source).map(|track| track.around.clone()) else { return };
        let (block, layout) = (&self.block, before.layout());
        let first = self.first.as_mut();
        let examine = |checks| examine_block(block, layout, checks, &around, &mut self.tape, &mut self.ids, first);
        let part = match depth {
            Depth::Places => unchecked_part(block, layout),
            Depth::Read => examine(false),
            Depth::Checked => examine(self.shared.checks),
        };
        let empty = part.rows.is_empty();
        self.shared.add_ids(source, generation, &mut self.ids);
        self.send(LoadEvent::Found { source, generation, part });
        if depth != Depth::Checked && !empty {
            let job = Job { generation, around, cursor: before.of_part(), end: self.block.end };
            lock(&self.shared.jobs).waiting.insert((source, self.block.border), job);
            self.shared.more.notify_one();
        }
    }

    /// Reads the end of a source that does not end with a line end: what is before its last record is reported as
    /// usual, the last record as the tail, which will be read again if the source grows.
    fn read_tail(&mut self, source: usize, generation: u32, before: &Cursor, depth: Depth) -> bool {
        let Some(track) = self.sources.get(source) else { return false };
        let Some(at) = track.cursor.as_ref().map(|cursor| cursor.at) else { return false };
        let around = track.around.clone();
        let end = self.block.end;
        let layout = before.layout();
        let last = self.block.cuts.pop();
        let (lines, line) = (self.block.lines, self.block.line);
        let text_lines = last.as_ref().map_or(0, |cut| line_ends(layout, &self.block.bytes[..cut.range.start]));
        if at > self.block.border {
            self.block.end = at;
            self.block.lines = text_lines;
            self.block.open = false;
            self.report(source, generation, before.clone(), depth);
        }
        let mut part = RowRun {
            span: at..end,
            line: line + text_lines,
            dense: lines == text_lines,
            rows: Vec::new(),
            skips: Skips::default(),
            tail: true,
        };
        if let Some(cut) = last {
            self.examine_tail(&cut, before, &around, &mut part);
            self.shared.add_ids(source, generation, &mut self.ids);
        }
        self.send(LoadEvent::Found { source, generation, part });
        self.send(LoadEvent::Read { source, generation, size: end });
        false
    }

    fn examine_tail(&mut self, cut: &Cut, before: &Cursor, around: &Arc<dyn Context>, part: &mut RowRun) {
        let len = self.block.len_of(cut);
        if self.block.bytes.is_empty() {
            // Only its place was asked for.
            let keep = if len > MAX_TEXT as u64 { WINDOW } else { len as usize };
            if before.blob().read(part.span.start, keep, &mut self.block.bytes).is_err() {
                return;
            }
        }
        let text = if self.block.long.is_some() { &self.block.bytes[..] } else { &self.block.bytes[cut.range.clone()] };
        // A line that is still being written, or a list whose next item or end is.
        let is_cut_off = |tape: &mut Tape| guarded(|| is_cut_off(tape, text)) == Some(true);
        if text.is_empty() || matches!(before.layout(), Layout::Lines(_)) && is_cut_off(&mut self.tape) {
            part.skips.cut = Some(part.line);
            return;
        }
        let text = Text { bytes: text, len, joined: cut.joined };
        let (base, rows, ids) = (part.span.start, &mut part.rows, &mut self.ids);
        row(text, base, self.shared.checks, &mut self.tape, around, |row, id, _| {
            ids.extend(id.map(|id| (id, row.offset())));
            rows.push(row);
        });
    }

    /// Looks at what became of a source, and reads what is new.
    fn refresh(&mut self, source: usize) {
        let Some(track) = self.sources.get_mut(source) else { return };
        if track.flow != Flow::File {
            return self.refresh_pipe(source);
        }
        let (Some(blob), Some(then)) = (&track.blob, track.stat) else { return self.reopen(source, false) };
        let Some(now) = track.stat_now() else {
            if !std::mem::replace(&mut track.gone, true) {
                self.send(LoadEvent::Gone(source));
            }
            return;
        };
        if now == then && !track.gone {
            return;
        }
        // The new samples first: if the old ones still hold after that, then both are of one and the same text. What is
        // changed later no longer holds the new ones.
        let samples = Samples::of(blob, now.len);
        let sound = Samples::of(blob, track.seen);
        if track.decoded || now.id != then.id || now.len <= then.len || sound.is_none() || sound != track.samples {
            return self.reopen(source, true);
        }
        if track.cursor.as_ref().is_none_or(|cursor| cursor.index == 0) {
            // Nothing of it was sure yet, not even its layout.
            return self.reopen(source, false);
        }
        track.seen = now.len;
        track.samples = samples;
        track.stat = Some(now);
        self.reading = Some(source);
    }

    fn refresh_pipe(&mut self, source: usize) {
        let Some(track) = self.sources.get_mut(source) else { return };
        let Some(blob) = track.blob.clone() else { return };
        if track.cursor.as_ref().is_some_and(|cursor| cursor.index > 0) {
            track.seen = track.seen.max(blob.len().unwrap_or(0));
            self.reading = Some(source);
            return;
        }
        let changed = track.generation > 0;
        match recognise_pipe(&blob, track.flow == Flow::Ended, &self.shared.columns) {
            Ok(Some(found)) => {
                let documents = track.documents.clone();
                self.opened(source, Source { documents, ..found }, changed);
            }
            Ok(None) => {}
            Err(failure) => self.send(LoadEvent::Failed(Some(source), failure)),
        }
    }

    fn reopen(&mut self, source: usize, changed: bool) {
        let Some(track) = self.sources.get_mut(source) else { return };
        const OTHER_KIND: &str = "it has become another kind of file; open it again";
        let failure = match begin(&track.input, &self.shared.cache, &self.shared.columns) {
            Ok(Begun::Source(found)) => return self.opened(source, found, changed),
            Ok(Begun::PassedOver(PassedOver::Unread(why))) => Failure::own("cannot read", &track.input.name(), why),
            Ok(_) => Failure::own("cannot read", &track.input.name(), OTHER_KIND),
            Err(failure) => failure,
        };
        // Said once; the next change is looked at again.
        let now = track.stat_now();
        if track.stat != now {
            track.stat = now;
            self.send(LoadEvent::Failed(Some(source), failure));
        }
    }

    /// Watches the folder in which a file lies.
    fn watch(&mut self, path: &Path) {
        if let Some(folder) = path.parent() {
            self.watch_folder(folder);
        }
    }

    /// Watches a folder; `true`: it was not watched before. Those of the first screen wait for what comes behind it.
    fn watch_folder(&mut self, folder: &Path) -> bool {
        if self.watched.len() >= MAX_WATCHED || !self.watched.insert(folder.to_owned()) {
            return false;
        }
        self.unwatched.push(folder.to_owned());
        if self.sink.is_some() {
            self.watch_waiting();
        }
        true
    }

    fn watch_waiting(&mut self) {
        let folders = std::mem::take(&mut self.unwatched);
        if !folders.is_empty() && self.watcher.is_none() {
            let wake = self.wake.clone();
            self.watcher = FolderWatcher::new(move |changed| {
                let _ = wake.send(changed.map_or(Wake::All, Wake::Paths));
            });
        }
        // Without a watcher the files are still read, only not followed.
        if let Some(mut watcher) = self.watcher.take() {
            match guarded(|| folders.iter().for_each(|folder| watcher.watch(folder))) {
                Some(()) => self.watcher = Some(watcher),
                // It does not notice that it has no thread until it is asked, and again when it is dropped.
                None => watcher.abandon(),
            }
        }
    }
}

/// Reads a store into a blob, and again whenever it changes.
struct Follower {
    source: usize,
    store: AnswerStore,
    store_documents: Arc<StoreDocuments>,
    wake: Sender<Wake>,
    shared: Arc<Shared>,
}

impl Follower {
    fn blob(&self) -> Result<Blob, Failure> {
        Blob::in_memory(Shown::path(self.store.path()))
    }

    fn run(self, blob: Arc<Blob>, asked: &Receiver<()>) {
        let mut lines = HashMap::new();
        let mut begun = Instant::now();
        let mut report = self.read(&blob, true, |line| *lines.entry(line).or_insert(0_u32) += 1);
        let mut blob = blob;
        loop {
            let changed = report.changed;
            let told = self.wake.send(Wake::Read(self.source, Box::new(report))).is_ok();
            if !told || self.wake.send(Wake::Pipe(self.source, true)).is_err() {
                return;
            }
            // What was read while it changed does not count; otherwise somebody has to say that it has.
            if !changed && asked.recv().is_err() {
                return;
            }
            // A store that changes all the time must not take all the time.
            std::thread::sleep(AGAIN.max(begun.elapsed() * 4).min(MAX_AGAIN));
            let _ = asked.try_recv();
            begun = Instant::now();
            self.store_documents.renew();
            let Ok(new) = self.blob() else { return };
            let (mut seen, mut fresh) = (HashMap::new(), Vec::new());
            report = self.read(&new, false, |line| {
                let count = seen.entry(line).or_insert(0_u32);
                *count += 1;
                fresh.push(*count > lines.get(&line).copied().unwrap_or(0));
            });
            if lines.iter().all(|(line, count)| seen.get(line).is_some_and(|seen| seen >= count)) {
                // Nothing is gone: what is new goes behind what was there.
                if append_fresh(&new, &blob, &fresh).is_err() {
                    return;
                }
            } else {
                blob = Arc::new(new);
                if self.wake.send(Wake::Anew(self.source, blob.clone())).is_err() {
                    return;
                }
            }
            lines = seen;
        }
    }

    /// Reads the store once; each line is told by its hash.
    fn read(&self, blob: &Blob, tell: bool, mut line: impl FnMut(u64)) -> answers::StoreReport {
        let mut spool = LineBuffer::new(blob);
        let mut report = answers::read(&self.store, &mut |text| {
            line(hash(text));
            if spool.push(text) && tell {
                let _ = self.wake.send(Wake::Pipe(self.source, false));
            }
            spool.failure.is_none() && !self.shared.is_stopped()
        });
        spool.hand_over();
        report.failures.extend(spool.failure);
        report
    }
}

/// Copies the lines that are new from one blob behind the other.
fn append_fresh(from: &Blob, to: &Blob, fresh: &[bool]) -> Result<(), Failure> {
    let mut spool = LineBuffer::new(to);
    let (mut at, mut block, mut line, mut number) = (0, Vec::new(), Vec::new(), 0);
    loop {
        from.read(at, BLOCK, &mut block)?;
        if block.is_empty() {
            break;
        }
        at += block.len() as u64;
        for part in block.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                if fresh.get(number) == Some(&true) {
                    spool.push(&line);
                }
                line.clear();
                number += 1;
            }
        }
    }
    spool.hand_over();
    spool.failure.map_or(Ok(()), Err)
}

/// Returns a file's absolute name in its own folder, and the one where its links lead. Folders are named without links
/// and in one way only, because the watcher gives each folder one name.
fn watched_names(path: &Path) -> Vec<PathBuf> {
    let own = folder(path).canonicalize().ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
    let mut names: Vec<PathBuf> = own.into_iter().chain(path.canonicalize()).collect();
    names.dedup();
    names
}

impl Samples {
    /// Takes samples of the first `seen` bytes; `None`: they are not there any more.
    fn of(blob: &Blob, seen: u64) -> Option<Self> {
        const SAMPLE: u64 = 4096;
        let sample = |from: u64| {
            let (mut bytes, want) = (Vec::new(), SAMPLE.min(seen - from) as usize);
            blob.read(from, want, &mut bytes).ok()?;
            (bytes.len() == want).then(|| hash(&bytes))
        };
        Some(Self { head: sample(0)?, tail: sample(seen.saturating_sub(SAMPLE))? })
    }
}
