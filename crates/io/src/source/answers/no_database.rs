//! The database of a store where this build reads none: nothing is in it.

use std::collections::HashSet;
use std::marker::PhantomData;

use super::line::{Asked, FoundInDatabase};
use crate::source::sqlite::{Database, Error};
use stepscope_evidence::document::Document;

pub(super) const TABLES: [&str; 0] = [];

/// Places of rows, of which there are none.
#[derive(Default, Debug)]
pub(super) struct NoPlaces(());

pub(super) use NoPlaces as Places;

/// The tables of a store, of which there are none.
pub(super) struct NoRows<'c> {
    pub(super) is_cut: bool,
    of: PhantomData<&'c Database>,
}

pub(super) use NoRows as Rows;

impl<'c> NoRows<'c> {
    pub(super) fn new(database: &'c Database) -> Result<Self, Error> {
        database.none()
    }

    pub(super) fn fill(&mut self, _: &mut Asked) -> Result<(), Error> {
        Ok(())
    }

    pub(super) fn run(&mut self, _: &mut HashSet<u64>, _: &mut dyn FnMut(FoundInDatabase) -> bool) -> Vec<Error> {
        Vec::new()
    }
}

pub(super) fn is_store(database: &Database) -> Result<bool, Error> {
    database.none()
}

pub(super) fn unread_columns(database: &Database) -> Result<Vec<String>, Error> {
    database.none()
}

pub(super) fn document(database: &Database, _: &mut Places, _: &[u8]) -> Result<Option<Document>, Error> {
    database.none()
}
