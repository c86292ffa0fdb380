//! SQLite databases where this build reads none: a sentence.

use std::convert::Infallible;

use crate::failure::Failure;
use crate::source::beneath::Place;
use stepscope_base::text::Shown;

const ABSENT: &str = "this build of stepscope reads no SQLite databases: it was built without the feature `store`";

/// A database that is open, of which there are none.
#[derive(Debug)]
pub(crate) struct NoDatabase {
    pub note: Option<Shown>,
    none: Infallible,
}

pub(crate) use NoDatabase as Database;

/// Error of a database, of which there is none.
pub(crate) use std::convert::Infallible as Error;

/// Says that no database is read.
pub(crate) fn open(place: &Place) -> Result<Database, Failure> {
    Err(Failure::own("cannot open", &Shown::path(place.path()), ABSENT))
}

impl NoDatabase {
    /// Stands for anything that could be asked of it.
    pub(crate) const fn none<T>(&self) -> T {
        match self.none {}
    }

    pub(crate) const fn size(&self) -> Result<u64, Error> {
        self.none()
    }

    pub(crate) const fn failure(&self, _: &Error) -> Failure {
        self.none()
    }

    pub(crate) const fn made<'n>(&self, _: &[&'n str]) -> Result<Vec<&'n str>, Error> {
        self.none()
    }

    pub(crate) const fn is_current(&self) -> bool {
        self.none()
    }
}
