//! Saving one event after another, each safe before the next: the journal of the screen, waited for.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::cli::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::review::event::Event;
use stepscope_io::beneath::Place;
use stepscope_io::failure::Failure;
use stepscope_io::journal::{Journal, Met, Told};

/// After so long, it is said why nothing happens.
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Saver {
    journal: Journal,
    told: Receiver<Told>,
    path: Shown,
}

impl Saver {
    pub(super) fn open(journal: &Place) -> Result<Self, Failure> {
        let (tell, told) = channel();
        let path = Shown::path(journal.path());
        let journal = Journal::open(journal, move |what| drop(tell.send(what)))?;
        Ok(Self { journal, told, path })
    }

    /// The event as it was saved.
    pub(super) fn save(&mut self, event: Event, out: &Out) -> Result<Event, Failure> {
        self.journal.append(event);
        let mut told = self.told.recv_timeout(PATIENCE);
        if matches!(told, Err(RecvTimeoutError::Timeout)) {
            out.complain(&shown!("waiting for {}: the disk is slow, or another program holds it", self.path));
            told = self.told.recv().map_err(RecvTimeoutError::from);
        }
        match told {
            Ok(Told::Saved { event, met, .. }) => {
                self.say(met, out);
                Ok(*event)
            }
            Ok(Told::Failed { failure, .. }) => Err(failure),
            Err(_) => Err(Failure::own("cannot save to", &self.path, "a fault of stepscope, please report it")),
        }
    }

    fn say(&self, met: Met, out: &Out) {
        if met.sealed {
            out.complain(&shown!("{}: the last line was torn, its writer was stopped; it stays as it is", self.path));
        }
        if met.anew {
            out.complain(&shown!("{} was moved away meanwhile; a new one was begun", self.path));
        }
    }
}
