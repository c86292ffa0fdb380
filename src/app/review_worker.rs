//! Reads reviews, keeps drafts and looks for records of reviews, on threads of its own: the screen never waits for a disk.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::app::threads::{Thread, start};
use stepscope_base::guard::guarded;
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_core::finding::Findings;
use stepscope_core::record::formats;
use stepscope_core::review::event::{Event, Text};
use stepscope_core::summary::Summary;
use stepscope_core::table::row::RowFacts;
use stepscope_io::failure::Failure;
use stepscope_io::log::drafts::Drafts;
use stepscope_io::log::journal::{Follow, REVIEWS};
use stepscope_io::pipeline::examine::case_of_row;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::search;
use stepscope_io::source::beneath::Place;

/// What is to be done.
#[derive(Debug)]
pub enum Task {
    /// Reads what others have appended.
    Look,
    /// Keeps these over a crash, in place of what was kept.
    Keep(Vec<Event>),
    /// Looks for the records that have one of these ids; an empty one stands for none. The number of times that records
    /// have moved comes back, here and below.
    Find(u64, HashSet<Text>, search::Plan),
    /// Reads who these records are, for a batch with its findings.
    Summaries(u64, Option<u64>, Vec<(usize, Reading, RowFacts)>),
}

/// What came of it.
#[derive(Debug)]
pub enum News {
    /// Events of the journal; `true`: it is another file, these are all.
    Events(Vec<Event>, bool, Vec<Shown>),
    /// The journal cannot be read or written.
    Trouble(Failure),
    /// What the last session did not say to the end.
    Kept(Vec<Event>),
    /// Drafts cannot be kept.
    NotKept(Failure),
    /// Records of some ids.
    Found(u64, Vec<u32>),
    /// Who some records are.
    Summaries(u64, Option<u64>, Vec<(usize, Option<Box<Summary>>)>),
}

/// What tells the screen; `false`: nobody listens any more.
#[derive(Clone)]
pub struct Tell(Arc<dyn Fn(News) -> bool + Send + Sync>);

impl Tell {
    /// Tells by this.
    pub fn by(tell: impl Fn(News) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    fn say(&self, news: News) -> bool {
        (self.0)(news)
    }
}

impl std::fmt::Debug for Tell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tell")
    }
}

/// See the module.
#[derive(Debug)]
pub struct ReviewWorker {
    looker: Sender<Task>,
    reader: Sender<Task>,
    ended: Receiver<()>,
    searches: Vec<search::Search>,
    tell: Tell,
}

impl ReviewWorker {
    /// Starts the threads for journals, of which the first is our own; drafts lie in the state folder, if there is one.
    pub fn start(journals: &[Place], state: Option<&Path>, tell: Tell) -> Self {
        let (looker, tasks) = channel();
        let (alive, ended) = channel::<()>();
        let own = journals.first().cloned();
        let drafts = own.clone().zip(state).map(|(journal, state)| Drafts::of(state, journal.path()));
        let follows = journals.iter().map(Follow::new).collect();
        let to_screen = tell.clone();
        start(Thread::Reviews, move || {
            if let Some(Err(failure)) = own.as_ref().map(|place| REVIEWS.look(place)) {
                to_screen.say(News::Trouble(failure));
            }
            look(&tasks, follows, drafts, &to_screen);
            drop(alive);
        });
        let (reader, wanted) = channel();
        let to_screen = tell.clone();
        start(Thread::Items, move || {
            for task in wanted {
                if let Task::Summaries(moves, batch, records) = task {
                    summaries(moves, batch, records, &to_screen);
                }
            }
        });
        Self { looker, reader, ended, searches: Vec::new(), tell }
    }

    /// Starts a piece of work; never waits for it.
    pub fn perform(&mut self, task: Task) {
        match task {
            Task::Look | Task::Keep(_) => drop(self.looker.send(task)),
            Task::Find(moves, ids, plan) => {
                let tell = self.tell.clone();
                let fits = move |text: &[u8]| has_id(text, &ids).then_some(());
                self.searches.push(search::start(plan, fits, move |found| match found {
                    search::SearchEvent::Some(records) => {
                        tell.say(News::Found(moves, records.into_iter().map(|(record, ())| record).collect()))
                    }
                    // What cannot be read is said where it is opened.
                    search::SearchEvent::All | search::SearchEvent::Failed(_) => true,
                }));
            }
            Task::Summaries(..) => drop(self.reader.send(task)),
        }
    }

    /// Waits until the drafts that were given are kept, and says so if that takes too long.
    pub fn finish(self, patience: Duration) -> Option<Shown> {
        drop((self.looker, self.reader, self.searches));
        let late = matches!(self.ended.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
        late.then(|| Shown::own("The disk did not answer in time; half-finished verdicts may be missing"))
    }
}

/// Reads journals and keeps drafts, each as it is asked for; of several asked for at once the last is enough.
fn look(tasks: &Receiver<Task>, mut follows: Vec<Follow>, mut drafts: Option<Drafts>, tell: &Tell) {
    let mut begun = false;
    while let Ok(first) = tasks.recv() {
        let tasks: Vec<Task> = std::iter::once(first).chain(tasks.try_iter()).collect();
        if tasks.iter().any(|task| matches!(task, Task::Look)) {
            look_once(&mut follows, begun, tell);
        }
        if !std::mem::replace(&mut begun, true)
            && let Some(kept) = drafts.as_mut().map(Drafts::read)
        {
            match kept {
                Ok(events) if events.is_empty() => {}
                Ok(events) => drop(tell.say(News::Kept(events))),
                Err(failure) => drop(tell.say(News::NotKept(failure))),
            }
        }
        let last = tasks.into_iter().rev().find_map(|task| match task {
            Task::Keep(events) => Some(events),
            _ => None,
        });
        if let (Some(drafts), Some(events)) = (&mut drafts, last)
            && let Err(failure) = drafts.keep(&events)
        {
            tell.say(News::NotKept(failure));
        }
    }
}

fn look_once(follows: &mut [Follow], begun: bool, tell: &Tell) {
    let (mut events, mut sentences, mut anew) = (Vec::new(), Vec::new(), false);
    for follow in follows.iter_mut() {
        match follow.news() {
            Ok(news) => {
                anew |= news.anew;
                events.extend(news.events);
                sentences.extend(news.sentences);
            }
            Err(failure) => drop(tell.say(News::Trouble(failure))),
        }
    }
    if anew && follows.len() > 1 {
        // What the others hold must not be lost with what one of them no longer holds.
        events.clear();
        for follow in follows.iter_mut() {
            follow.again();
            events.extend(follow.news().map(|news| news.events).unwrap_or_default());
        }
    }
    // The first time, that there is nothing is news as well.
    if !begun || anew || !events.is_empty() || !sentences.is_empty() {
        tell.say(News::Events(events, anew, sentences));
    }
}

/// Whether the record of a text has one of these ids.
fn has_id(text: &[u8], ids: &HashSet<Text>) -> bool {
    let mut tape = Tape::default();
    let root = tape.parse(text);
    let id = root.map(formats::read).and_then(|record| record.id_text().map(|id| stepscope_core::summary::id_of(&id)));
    ids.contains(&id.unwrap_or_default())
}

/// So many summaries are told of at a time.
const CARDS: usize = 256;

fn summaries(moves: u64, batch: Option<u64>, records: Vec<(usize, Reading, RowFacts)>, tell: &Tell) {
    let mut done = Vec::new();
    let mut records = records.into_iter().peekable();
    while let Some((record, reading, row)) = records.next() {
        let summary = guarded(|| summary(&reading, &row, batch.is_some())).flatten();
        done.push((record, summary.map(Box::new)));
        if (done.len() >= CARDS || records.peek().is_none())
            && !tell.say(News::Summaries(moves, batch, std::mem::take(&mut done)))
        {
            return;
        }
    }
}

/// Reads who a record is; `judged`: and what the rules say of it.
fn summary(reading: &Reading, row: &RowFacts, judged: bool) -> Option<Summary> {
    let case = case_of_row(reading.read().ok()?, Tape::default(), row, Arc::new(reading.around(&Arc::default())));
    let (case, none) = (case.view(), Findings::new());
    let findings = if judged { case.findings() } else { &none };
    Some(Summary::of(&case, findings, reading.dataset.clone(), reading.position))
}
