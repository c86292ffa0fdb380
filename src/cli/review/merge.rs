//! `stepscope review merge`: several review logs as one.

use std::path::PathBuf;

use clap::Args;
use foldhash::HashSet;

use crate::cli::out::Out;
use stepscope_base::canonical::Digest;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::log::journal::{LogLine, read_all_lines};
use stepscope_review::log_line::LineFault;

/// Number of bytes before the first event that are held back: a file without any is no review log.
const MAX_HELD: usize = 16 << 20;

/// `stepscope review merge`.
#[derive(Args, Clone, Debug)]
pub struct Merge {
    /// Review logs, in their order
    #[arg(value_name = "LOG", required = true)]
    journals: Vec<PathBuf>,
}

pub(super) fn run(merge: &Merge, out: &mut Out) -> Option<()> {
    let (mut seen, mut seen_faulty) = (HashSet::default(), HashSet::default());
    for path in &merge.journals {
        // The lines as they stand: their checksums stay right, and a newer version may read what this one cannot.
        let (mut is_log, mut held, mut lost) = (false, Vec::new(), 0_u64);
        let report = read_all_lines(path, |line| match line {
            LogLine::Event(read, line) => {
                is_log = true;
                out.write(&std::mem::take(&mut held));
                if seen.insert(read.event.event_id) {
                    out.write(&[line, b"\n"].concat());
                }
            }
            LogLine::Faulty(line, fault) => {
                is_log |= matches!(fault, LineFault::Newer | LineFault::Senseless);
                if !seen_faulty.insert(Digest::of_bytes(line)) {
                    return;
                }
                if is_log || held.len() <= MAX_HELD {
                    held.extend_from_slice(&[line, b"\n"].concat());
                } else {
                    lost += 1;
                }
                if is_log {
                    out.write(&std::mem::take(&mut held));
                }
            }
        });
        let report = out.given(report)?;
        let name = Shown::path(path);
        if report.absent && path.as_os_str() == "-" {
            out.complain(&Shown::own("standard input is not taken here; pass a file"));
            return None;
        }
        if report.absent {
            out.complain(&shown!("{name}: no such review log"));
            return None;
        }
        if !is_log && report.faults() > 0 {
            let hint = "for records, pass their review log, FILE.reviews.jsonl";
            out.complain(&shown!("cannot merge {name}: no line of it is a review event; {hint}"));
            return None;
        }
        for sentence in report.sentences(&name) {
            out.complain(&sentence);
        }
        if lost > 0 {
            out.complain(&shown!("{name}: {lost} damaged lines before its first event are not in the output"));
            return None;
        }
    }
    Some(())
}
