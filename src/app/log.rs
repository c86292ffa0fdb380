//! Lines on their way to the disk, and those that could not be saved: verdicts, decisions between reviewers, and forks.

use std::collections::HashMap;

use crate::app::msg::Effect;
use crate::widgets::sign;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::forks::FORKS;
use stepscope_io::log::journal::{self, REVIEWS};
use stepscope_io::log::{Append, LineId};
use stepscope_io::source::beneath::Place;
use stepscope_io::unfinished::RUNS;
use stepscope_review::event::Event;

/// Content of a line.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// A record that was made from another.
    Fork,
    /// A run that was created.
    Run,
    /// Review of a record by a reviewer.
    Verdict(Box<Event>),
    /// Decision between reviewers.
    Decision(Box<Event>),
}

impl What {
    /// The event, where it is one.
    pub fn event(&self) -> Option<&Event> {
        match self {
            Self::Fork | Self::Run => None,
            Self::Verdict(event) | Self::Decision(event) => Some(event),
        }
    }
}

/// A line that is not known to be on the disk.
#[derive(Clone, Debug)]
pub struct Line {
    /// Content of the line.
    pub what: What,
    /// File that it goes to, and its bytes.
    pub append: Append,
    /// Reason why it could not be saved; `None`: it is on its way.
    pub failure: Option<Failure>,
}

/// Every line that is not known to be on the disk, in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: Vec<Line>,
    next: u64,
}

impl Log {
    /// Gives an event to its review log. With its id it counts once, however often it is given.
    pub(crate) fn event(&mut self, place: Place, what: What) -> Option<Effect> {
        let line = journal::line(what.event()?);
        let append = Append { id: self.id(), place, content: REVIEWS, line };
        Some(self.give(what, append))
    }

    /// Gives a fork, one line without its end, to its file.
    pub(crate) fn fork(&mut self, place: Place, line: Vec<u8>) -> (LineId, Effect) {
        let append = Append { id: self.id(), place, content: FORKS, line };
        (append.id, self.give(What::Fork, append))
    }

    /// Gives a created run, one line without its end, to its file.
    pub(crate) fn run(&mut self, place: Place, line: Vec<u8>) -> (LineId, Effect) {
        let append = Append { id: self.id(), place, content: RUNS, line };
        (append.id, self.give(What::Run, append))
    }

    /// Keeps an event that an earlier session could not save.
    pub(crate) fn left_over(&mut self, place: Place, event: Event, failure: Failure) {
        let append = Append { id: self.id(), place, content: REVIEWS, line: journal::line(&event) };
        self.lines.push(Line { what: What::Verdict(Box::new(event)), append, failure: Some(failure) });
    }

    fn id(&mut self) -> LineId {
        self.next += 1;
        LineId(self.next)
    }

    fn give(&mut self, what: What, append: Append) -> Effect {
        self.lines.push(Line { what, append: append.clone(), failure: None });
        Effect::Append(append)
    }

    /// Records the outcome of writing a line, and keeps the line if it could not be saved. `None`: that was known
    /// already.
    pub(crate) fn told(&mut self, id: LineId, failure: Option<Failure>) -> Option<Line> {
        let at = self.lines.iter().position(|line| line.append.id == id)?;
        if failure.is_none() {
            return Some(self.lines.remove(at));
        }
        let line = self.lines.get_mut(at)?;
        line.failure = failure;
        Some(line.clone())
    }

    /// Takes in which lines are not saved now that nothing more is heard of them, and returns those of which that was
    /// not known.
    pub(crate) fn ended(&mut self, unsaved: Vec<(LineId, Failure)>) -> Vec<(What, Failure)> {
        let unsaved: HashMap<LineId, Failure> = unsaved.into_iter().collect();
        let mut news = Vec::new();
        self.lines.retain_mut(|line| {
            if line.failure.is_none() {
                line.failure = unsaved.get(&line.append.id).cloned();
                news.extend(line.failure.clone().map(|failure| (line.what.clone(), failure)));
            }
            line.failure.is_some()
        });
        news
    }

    /// Tells whether a fork or a run is on its way.
    pub(crate) fn awaits_fork(&self) -> bool {
        self.lines.iter().any(|line| line.what.event().is_none() && line.failure.is_none())
    }

    /// Gives again what could not be saved.
    pub(crate) fn again(&mut self) -> Vec<Effect> {
        let failed = self.lines.iter_mut().filter_map(|line| line.failure.take().map(|_| &*line));
        failed.map(|line| Effect::Append(line.append.clone())).collect()
    }

    /// Takes back a decision that could not be saved, because it was made again.
    pub(crate) fn take_decision(&mut self, same: impl Fn(&Event) -> bool) -> Option<Box<Event>> {
        let is_it = |line: &Line| line.failure.is_some() && matches!(&line.what, What::Decision(event) if same(event));
        let at = self.lines.iter().position(is_it)?;
        match self.lines.remove(at).what {
            What::Decision(event) => Some(event),
            What::Fork | What::Run | What::Verdict(_) => None,
        }
    }

    /// Events that are not known to be safe, and why those could not be saved that were tried.
    pub fn events(&self) -> impl Iterator<Item = (&Event, Option<&Failure>)> {
        self.lines.iter().filter_map(|line| Some((line.what.event()?, line.failure.as_ref())))
    }

    /// Counts the events that could not be saved.
    pub fn failed_events(&self) -> usize {
        self.events().filter(|(_, failure)| failure.is_some()).count()
    }

    /// Counts the forks and runs that could not be saved.
    pub fn failed_forks(&self) -> usize {
        self.lines.iter().filter(|line| line.what.event().is_none() && line.failure.is_some()).count()
    }

    /// The forks that are not saved, in a few words, as long as that is so.
    pub fn news(&self) -> Option<Shown> {
        let failed = self.failed_forks();
        (failed > 0).then(|| shown!("{} {failed} not saved", sign::WRONG))
    }
}
