//! Saving one event after another, each safe before the next: the log writer of the screen, waited for.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::failure::Failure;
use stepscope_io::log::journal;
use stepscope_io::log::{Append, Appended, LineId, LogEvent, Writer};
use stepscope_io::source::beneath::Place;
use stepscope_review::event::Event;

/// Time after which it is said why nothing happens.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writer that waits until each event is saved: see the module.
pub(super) struct LogWriter {
    writer: Option<Writer>,
    told: Receiver<LogEvent>,
    tell: Sender<LogEvent>,
    place: Place,
    path: Shown,
}

impl LogWriter {
    pub(super) fn open(place: &Place) -> Result<Self, Failure> {
        journal::REVIEWS.look(place)?;
        let (tell, told) = channel();
        let to_us = tell.clone();
        // Where no thread is to be had, this one writes.
        let writer = Writer::start(move |what| to_us.send(what).is_ok()).ok();
        Ok(Self { writer, told, tell, place: place.clone(), path: Shown::path(place.path()) })
    }

    /// Saves an event and returns it as it was saved.
    pub(super) fn save(&mut self, event: Event, out: &Out) -> Result<Event, Failure> {
        let event = self.give(event);
        self.settle(out).map(|()| event)
    }

    /// Gives an event to the writer and returns it as it will be saved, which [`LogWriter::settle`] waits for.
    pub(super) fn give(&mut self, mut event: Event) -> Event {
        journal::stamp(&mut event);
        let (place, line) = (self.place.clone(), journal::line(&event));
        let append = Append { id: LineId::default(), place, content: journal::REVIEWS, line };
        match &self.writer {
            Some(writer) => writer.append(append),
            // The other end is our own.
            None => drop(self.tell.send(append.write())),
        }
        event
    }

    /// Waits until the oldest event that was given is saved.
    pub(super) fn settle(&mut self, out: &Out) -> Result<(), Failure> {
        let mut told = self.told.recv_timeout(PATIENCE);
        if matches!(told, Err(RecvTimeoutError::Timeout)) {
            out.complain(&shown!("waiting for {}: the disk is slow, or another program holds it", self.path));
            told = self.told.recv().map_err(RecvTimeoutError::from);
        }
        match told {
            Ok(LogEvent { result, .. }) => result.map(|met| self.say(met, out)),
            Err(_) => Err(Failure::own("cannot save to", &self.path, "internal error, please report it")),
        }
    }

    fn say(&self, met: Appended, out: &Out) {
        if met.sealed {
            out.complain(&shown!("{}: the last line is incomplete (its writer was stopped); it was kept", self.path));
        }
        if met.anew {
            out.complain(&shown!("{} was moved; a new one was started", self.path));
        }
    }
}
