//! Files as `check` reads them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stepscope_io::pipeline::check::{CheckOptions, CheckOutcome, check};
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_io::source::input::Expand;
use stepscope_judge::case::CaseView;

/// Returns what is written of the records, in their order, and the outcome.
pub(crate) fn checked(
    inputs: Expand,
    threads: usize,
    record: impl Fn(&CaseView<'_>, &mut Vec<u8>) + Sync,
) -> (Vec<u8>, CheckOutcome) {
    let mut written = Vec::new();
    let one = |case: &CaseView<'_>, _: &_, out: Option<&mut Vec<u8>>| out.into_iter().for_each(|out| record(case, out));
    let outcome = check(inputs, threads, &Surroundings::default(), Some(CheckOptions::default()), one, |bytes, _| {
        written.extend_from_slice(bytes);
        Ok(())
    });
    (written, outcome)
}

/// Returns names, sizes and times of everything below a folder; links are not followed.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn state(folder: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut state = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            state.extend(self::state(&path));
        }
        state.push((path, meta.len(), meta.modified().unwrap()));
    }
    state.sort();
    state
}
