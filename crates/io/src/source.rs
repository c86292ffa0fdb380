//! Bytes in: what is named on the command line, in a listing or in a record becomes records and documents.

/// Stores of structured answers: docintel folders and `storage.sqlite`.
pub mod answers;
/// Arrow tables, batch by batch.
#[cfg(feature = "tables")]
pub(crate) mod arrow;
/// Files that data and listings name, opened beneath a folder that a person named.
pub mod beneath;
/// Sources read block by block.
pub mod block;
/// Rows as records: columns under other names, or a map.
pub mod column_map;
/// Columns of tables, in whatever format they come.
pub mod columns;
/// Text tables, row by row.
pub(crate) mod csv;
/// Borders of records.
pub mod cut;
/// Descriptions of records, which are none.
pub(crate) mod datasets;
/// The documents that answers cite, found and kept.
pub(crate) mod documents;
/// Records of other programs that lie over several lines or files.
pub(crate) mod gathered;
/// Ways from names to sources.
pub mod input;
/// Lines on their way into a document.
pub(crate) mod lines;
/// Bytes told by their beginning.
pub(crate) mod magic;
/// Rows of other programs, read by maps.
pub mod maps;
/// SQLite databases where this build opens none.
#[cfg(not(feature = "store"))]
pub(crate) mod no_sqlite;
/// Opening without harm.
pub mod open;
/// Packed files.
pub(crate) mod packed;
/// Report pages that carry their record.
pub mod page;
/// Parquet tables, column by column.
#[cfg(feature = "tables")]
pub(crate) mod parquet;
/// Tables whose rows are records.
pub(crate) mod rows;
/// SQLite databases opened without harm.
#[cfg(feature = "store")]
pub(crate) mod sqlite;
#[cfg(not(feature = "store"))]
pub(crate) use no_sqlite as sqlite;
/// Dates and times of tables, as text.
pub(crate) mod times;
/// Tables whose columns have types, where this build reads them.
pub(crate) mod typed;
