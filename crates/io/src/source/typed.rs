//! Tables whose columns have types, Parquet and Arrow, told by their first bytes. The one place that knows whether this
//! build reads them.

use crate::failure::Failure;
#[cfg(feature = "tables")]
use crate::source::arrow::ArrowTable;
use crate::source::columns::{Columns, RowReader};
#[cfg(feature = "tables")]
use crate::source::magic::begins_arrow;
use crate::source::open::Blob;
#[cfg(feature = "tables")]
use crate::source::parquet::{self, ParquetTable};

/// Opens a table that begins like this.
#[cfg(feature = "tables")]
pub(super) fn open(blob: &Blob, head: &[u8]) -> Result<Box<dyn RowReader>, Failure> {
    Ok(if begins_arrow(head) { Box::new(ArrowTable::open(blob)?) } else { Box::new(ParquetTable::open(blob)?) })
}

/// Reads columns of a Parquet table. Lists and other nested columns are none of those that are asked for.
#[cfg(feature = "tables")]
pub(crate) fn read_columns(blob: &Blob, names: &[&str]) -> Result<Columns, Failure> {
    parquet::read_blob(blob, names)
}

#[cfg(not(feature = "tables"))]
const ABSENT: &str = "this build of stepscope reads no Parquet or Arrow tables: it was built without the feature \
                      `tables`; write the table as JSON lines or CSV";

/// Says that this build reads no such table.
#[cfg(not(feature = "tables"))]
pub(super) fn open(blob: &Blob, _: &[u8]) -> Result<Box<dyn RowReader>, Failure> {
    Err(Failure::own(crate::source::columns::READ, blob.name(), ABSENT))
}

/// Says that this build reads no such table.
#[cfg(not(feature = "tables"))]
pub(crate) fn read_columns(blob: &Blob, _: &[&str]) -> Result<Columns, Failure> {
    Err(Failure::own(crate::source::columns::READ, blob.name(), ABSENT))
}
