//! Reads reviews, keeps drafts and looks for records of reviews, on threads of its own: the screen never waits for a disk.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::app::msg::{Effect, Msg};
use crate::app::outbox::Outbox;
use crate::app::threads::{Thread, start};
use stepscope_base::guard::guarded;
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_io::drafts::Drafts;
use stepscope_io::failure::Failure;
use stepscope_io::log::journal::{Follow, REVIEWS};
use stepscope_io::pipeline::examine::case_of_row;
use stepscope_io::pipeline::reading::Reading;
use stepscope_io::pipeline::search;
use stepscope_io::source::beneath::Place;
use stepscope_judge::row::RowFacts;
use stepscope_record::finding::Findings;
use stepscope_record::formats;
use stepscope_review::event::{Event, Text};
use stepscope_review::event_list::EventList;
use stepscope_review::summary::Summary;

/// Time after which the screen shows what others add to a review log.
const AGAIN: Duration = Duration::from_secs(2);
/// Advice where drafts have no folder.
const NO_FOLDER: &str = "there is none; set XDG_STATE_HOME or HOME";

/// Reviews that are read and kept.
#[derive(Debug, Default)]
pub struct ReviewSetup {
    /// Review log that verdicts are saved to; `None`: none can be given.
    pub own: Option<Place>,
    /// Review logs that are read only.
    pub others: Vec<Place>,
    /// Events that are in no log, because pages carry them.
    pub carried: Vec<Event>,
    /// Place of the drafts, if they can be kept.
    pub drafts: Option<Drafts>,
}

/// See the module.
#[derive(Debug)]
pub struct ReviewWorker {
    looker: Sender<Effect>,
    reader: Sender<Effect>,
    /// Reason why the last drafts could not be kept, once all is done.
    ended: Receiver<Option<Failure>>,
    searches: Vec<search::Search>,
    outbox: Outbox,
}

impl ReviewWorker {
    /// Starts the threads for these reviews.
    pub fn start(reviews: ReviewSetup, outbox: Outbox) -> Self {
        let ReviewSetup { own, others, carried, drafts } = reviews;
        let (looker, wanted) = channel();
        let (end, ended) = channel();
        let follows = own.iter().chain(&others).map(Follow::new).collect();
        let to_loop = outbox.clone();
        start(Thread::Reviews, move || {
            if let Some(Err(failure)) = own.as_ref().map(|place| REVIEWS.look(place)) {
                to_loop.send(Msg::ReviewsFailed(failure));
            }
            let failure = look(&wanted, follows, &carried, drafts, &to_loop);
            // Nobody may wait for it any more.
            let _ = end.send(failure);
        });
        let (reader, wanted) = channel();
        let to_loop = outbox.clone();
        start(Thread::Items, move || {
            for effect in wanted {
                if let Effect::Summarise(moves, batch, records) = effect {
                    summaries(moves, batch, records, &to_loop);
                }
            }
        });
        Self { looker, reader, ended, searches: Vec::new(), outbox }
    }

    /// Performs what is about reviews; never waits for it.
    pub fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::ReadReviews | Effect::KeepDrafts(_) => drop(self.looker.send(effect)),
            Effect::FindReviewed(moves, ids, plan) => {
                let outbox = self.outbox.clone();
                let fits = move |text: &[u8]| has_id(text, &ids).then_some(());
                self.searches.extend(search::start(plan, fits, move |found| match found {
                    search::SearchEvent::Some(records) => {
                        outbox.send(Msg::Reviewed(moves, records.into_iter().map(|(record, ())| record).collect()))
                    }
                    // What cannot be read is said where it is opened.
                    search::SearchEvent::All | search::SearchEvent::Failed(_) => true,
                }));
            }
            Effect::Summarise(..) => drop(self.reader.send(effect)),
            _ => {}
        }
    }

    /// Waits until the drafts that were given are kept, and says why they are not.
    pub fn finish(self, patience: Duration) -> Option<Shown> {
        drop((self.looker, self.reader, self.searches));
        match self.ended.recv_timeout(patience) {
            Ok(failure) => failure.map(Shown::from),
            Err(RecvTimeoutError::Timeout) => {
                Some(Shown::own("The disk did not respond in time; drafts may be missing"))
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

/// Reads review logs and keeps drafts, each as it is asked for; of several asked for at once the last is enough. Logs
/// that were read are looked at unasked, too: others write them. Returns why the last drafts could not be kept.
fn look(
    wanted: &Receiver<Effect>,
    mut follows: Vec<Follow>,
    carried: &[Event],
    mut drafts: Option<Drafts>,
    outbox: &Outbox,
) -> Option<Failure> {
    let (mut begun, mut failure) = (false, None);
    loop {
        let first = if begun { wanted.recv_timeout(AGAIN) } else { wanted.recv().map_err(RecvTimeoutError::from) };
        let wanted: Vec<Effect> = match first {
            Ok(first) => std::iter::once(first).chain(wanted.try_iter()).collect(),
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => return failure,
        };
        let is_asked = wanted.iter().any(|effect| matches!(effect, Effect::ReadReviews));
        if is_asked || wanted.is_empty() {
            look_once(&mut follows, carried, begun, is_asked, outbox);
        }
        if !std::mem::replace(&mut begun, true)
            && let Some(kept) = drafts.as_mut().map(Drafts::read)
        {
            match kept {
                Ok(events) if events.is_empty() => {}
                Ok(events) => drop(outbox.send(Msg::Drafts(events))),
                Err(failure) => drop(outbox.send(Msg::DraftsKept(Err(failure)))),
            }
        }
        let last = wanted.into_iter().rev().find_map(|effect| match effect {
            Effect::KeepDrafts(events) => Some(events),
            _ => None,
        });
        let Some(events) = last else { continue };
        let kept = match &mut drafts {
            Some(drafts) => drafts.keep(&events),
            None if events.is_empty() => Ok(()),
            None => Err(Failure::own("cannot save a draft in", &Shown::own("the state folder"), NO_FOLDER)),
        };
        // Said once: the next draft fails as well.
        let was_failing = std::mem::replace(&mut failure, kept.err()).is_some();
        if failure.is_some() != was_failing {
            outbox.send(Msg::DraftsKept(failure.clone().map_or(Ok(()), Err)));
        }
    }
}

fn look_once(follows: &mut [Follow], carried: &[Event], begun: bool, is_asked: bool, outbox: &Outbox) {
    let (mut events, mut sentences, mut anew) = (EventList::default(), Vec::new(), false);
    for follow in follows.iter_mut() {
        match follow.news() {
            Ok(news) => {
                anew |= news.anew;
                events.extend(news.events);
                sentences.extend(news.sentences);
            }
            Err(failure) if is_asked => drop(outbox.send(Msg::ReviewsFailed(failure))),
            // It is said with the next verdict, and not every other second.
            Err(_) => {}
        }
    }
    if anew && follows.len() > 1 {
        // What the others hold must not be lost with what one of them no longer holds.
        events = EventList::default();
        for follow in follows.iter_mut() {
            follow.again();
            events.extend(follow.news().map(|news| news.events).unwrap_or_default());
        }
    }
    if !begun || anew {
        events.extend(carried.iter().cloned());
    }
    // The first time, that there is nothing is news as well.
    if !begun || anew || !events.is_empty() || !sentences.is_empty() {
        outbox.send(Msg::Reviews(events, anew, sentences));
    }
}

/// Tells whether the record of a text has one of these ids.
fn has_id(text: &[u8], ids: &HashSet<Text>) -> bool {
    let mut tape = Tape::default();
    let root = tape.parse(text);
    let id =
        root.map(formats::read).and_then(|record| record.id_text().map(|id| stepscope_review::summary::id_of(&id)));
    ids.contains(&id.unwrap_or_default())
}

/// Number of summaries that are sent at a time.
const AT_ONCE: usize = 256;

fn summaries(moves: u64, batch: Option<u64>, records: Vec<(usize, Reading, RowFacts)>, outbox: &Outbox) {
    let mut done = Vec::new();
    let mut records = records.into_iter().peekable();
    while let Some((record, reading, row)) = records.next() {
        let summary = guarded(|| summary(&reading, &row, batch.is_some())).flatten();
        done.push((record, summary.map(Box::new)));
        if (done.len() >= AT_ONCE || records.peek().is_none())
            && !outbox.send(Msg::Summaries(moves, batch, std::mem::take(&mut done)))
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
    let mut summary = Summary::of(&case, findings, reading.dataset.clone(), reading.position);
    summary.take_question(&case);
    Some(summary)
}
