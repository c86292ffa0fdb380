//! Failures: what could not be done, where, and what to do about it, in one sentence for the status line or standard error.

use std::fmt;
use std::path::Path;

use crate::system::{is_loop, is_too_many_files};
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Something outside that did not work. Bad *data* is never a failure: it is a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Beginning of the sentence: `cannot open`.
    pub what: &'static str,
    /// Path or name of what it was done to.
    pub path: Shown,
    /// Reason, and what helps.
    pub source: Shown,
}

impl Failure {
    /// Makes a failure in the program's own words.
    pub fn own(what: &'static str, path: &Shown, why: &'static str) -> Self {
        Self { what, path: path.clone(), source: Shown::own(why) }
    }

    /// Makes a failure that the system reported.
    pub fn system(what: &'static str, path: &Path, error: &std::io::Error) -> Self {
        Self { what, path: Shown::path(path), source: reason(error) }
    }
}

/// Puts the system's reason in plain words where we have better ones.
pub fn reason(error: &std::io::Error) -> Shown {
    use std::io::ErrorKind as E;
    match error.kind() {
        E::NotFound => Shown::own("no such file"),
        E::PermissionDenied => Shown::own("permission denied"),
        _ if is_loop(error) => Shown::own("its symbolic links form a loop"),
        E::StorageFull => Shown::own("the disk is full"),
        _ if is_too_many_files(error) => {
            Shown::own("too many files are open; close other programs, or raise the limit (`ulimit -n`)")
        }
        _ => Shown::error(error),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.what, self.path, self.source)
    }
}

impl std::error::Error for Failure {}

impl From<&Failure> for Shown {
    fn from(failure: &Failure) -> Self {
        shown!("{failure}")
    }
}

impl From<Failure> for Shown {
    fn from(failure: Failure) -> Self {
        Self::from(&failure)
    }
}
