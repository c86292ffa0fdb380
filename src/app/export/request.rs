//! What an export of a record needs.

use std::path::PathBuf;

use crate::dialogs::export::ExportForm;
use stepscope_core::report::page::{Cleaner, Said};

/// A record that is to be written in some form.
#[derive(Debug)]
pub struct RecordExport {
    /// The form.
    pub form: ExportForm,
    /// Where to.
    pub path: PathBuf,
    /// The step in question, from 0.
    pub step: Option<usize>,
    /// What others are not to see.
    pub cleaner: Cleaner,
    /// What people said of the record.
    pub said: Vec<Said>,
}
