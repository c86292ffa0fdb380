//! Definition of a format of records: how it is recognised, and how it is read.

use crate::Record;
use stepscope_base::json::Value;

/// One format of records.
#[derive(Debug)]
pub struct Format {
    /// Short name.
    pub id: &'static str,
    /// A small record of this format.
    pub example: &'static str,
    /// Test whether an object is of this format.
    pub recognise: for<'a> fn(Value<'a>) -> bool,
    /// Reads a recognised object.
    pub read: for<'a> fn(Value<'a>) -> Record<'a>,
}
