//! Request for an export of a record.

use std::path::PathBuf;

use crate::dialogs::export::ExportForm;
use stepscope_report::page::{Cleaner, Said};

/// A record that is to be written in some form.
#[derive(Debug)]
pub struct RecordExport {
    /// The form.
    pub form: ExportForm,
    /// Path of the file to write.
    pub path: PathBuf,
    /// The step in question, from 0.
    pub step: Option<usize>,
    /// Cleaner that takes out what others must not see.
    pub cleaner: Cleaner,
    /// Verdicts and notes that people gave the record.
    pub said: Vec<Said>,
}
