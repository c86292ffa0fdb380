//! `stepscope review merge`: several review logs as one.

use std::path::PathBuf;

use clap::Args;

use crate::cli::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::log::journal::read_lines;

/// `stepscope review merge`.
#[derive(Args, Clone, Debug)]
pub struct Merge {
    /// The journals, in their order
    #[arg(value_name = "LOG", required = true)]
    journals: Vec<PathBuf>,
}

pub(super) fn run(merge: &Merge, out: &mut Out) -> Option<()> {
    let mut seen = foldhash::HashSet::default();
    for path in &merge.journals {
        // The lines as they stand: their checksums stay right.
        let mut is_log = false;
        let report = read_lines(path, |read, line| {
            is_log = true;
            if !seen.insert(read.event.event_id) {
                return;
            }
            out.write(&[line, b"\n"].concat());
        });
        let report = out.given(report)?;
        let name = Shown::path(path);
        if report.absent {
            out.complain(&shown!("{name}: no such review log"));
            return None;
        }
        for sentence in report.sentences(&name) {
            out.complain(&sentence);
        }
        if !is_log && report.faults() > 0 {
            let hint = "for records, pass their review log, FILE.reviews.jsonl";
            out.complain(&shown!("cannot merge {name}: no line of it is a review event; {hint}"));
            return None;
        }
    }
    Some(())
}
