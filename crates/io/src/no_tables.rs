//! Results as tables where this build writes none: a sentence.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::log::SAVE;
use stepscope_base::text::Shown;
use stepscope_report::tables::ResultTable;

const ABSENT: &str = "this build of stepscope writes no Parquet tables: it was built without the feature `tables`; leave out \
                      --format parquet and --out, and the results are printed";

/// Tables, of which there are none.
#[derive(Debug)]
pub enum NoTables {}

pub use NoTables as TableFiles;

/// A table that is in its place, of which there are none.
#[derive(Debug)]
pub struct NoTable {
    /// Its file.
    pub path: PathBuf,
    /// Number of rows.
    pub rows: u64,
}

impl NoTables {
    /// Lists no paths: nothing is written.
    pub fn paths(_: &Path, _: &'static [ResultTable]) -> impl Iterator<Item = PathBuf> {
        std::iter::empty()
    }

    /// Says that there are no tables.
    pub fn create(folder: &Path, _: &'static [ResultTable]) -> Result<Self, Failure> {
        Err(Failure::own(SAVE, &Shown::path(folder), ABSENT))
    }

    /// Adds rows.
    pub const fn push(&mut self, _: &[u8]) -> Result<(), Failure> {
        match *self {}
    }

    /// Puts tables in their places.
    pub fn finish(self) -> Result<Vec<NoTable>, Failure> {
        match self {}
    }
}
