//! Tables whose columns have types, Parquet and Arrow, told by their first bytes. The one place that knows whether this
//! build reads them.

use crate::failure::Failure;
#[cfg(feature = "tables")]
use crate::source::arrow::ArrowTable;
use crate::source::columns::Columns;
use crate::source::open::Blob;
#[cfg(feature = "tables")]
use crate::source::parquet::{self, ParquetTable};
use crate::source::rows::RowReader;

/// First bytes of a Parquet table.
pub(crate) const PARQUET: &[u8] = b"PAR1";
/// First bytes of an Arrow file; its end tells the positions of its messages.
pub(super) const ARROW: &[u8] = b"ARROW1\0\0";
/// First bytes of each message of an Arrow stream.
pub(super) const MESSAGE: [u8; 4] = [0xff; 4];

/// Tells whether bytes begin like a table whose columns have types.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.starts_with(PARQUET) || begins_arrow(head)
}

/// Tells whether bytes begin like an Arrow table.
pub(crate) fn begins_arrow(head: &[u8]) -> bool {
    let size = || head.get(4..)?.first_chunk().map(|size| i32::from_le_bytes(*size));
    head.starts_with(ARROW) || head.starts_with(&MESSAGE) && size().is_some_and(|size| size > 0 && size % 8 == 0)
}

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
