//! The records of files as summaries, in the order of the files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::failure::Failure;
use crate::pipeline::check::{self, CheckOptions, CheckOutcome};
use crate::pipeline::side_data::{SideData, Surroundings};
use crate::source::input::{Expand, Input};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_judge::case::{Case, CaseView, Location};
use stepscope_record::finding::Finding;
use stepscope_review::event::ItemRef;
use stepscope_review::fold::Reviews;
use stepscope_review::summary::Summary;

/// A shorter record is hardly one.
const TINY: usize = 40;
/// Number of such records beyond which a file is not taken: a summary is much larger than such a record.
const MAX_TINY: usize = 100_000;

/// Counts the records that are hardly any.
#[derive(Default)]
struct Tiny(AtomicUsize);

impl Tiny {
    /// Tells whether a summary is kept of a record.
    fn takes(&self, case: &CaseView<'_>) -> bool {
        case.text().len() >= TINY || self.0.fetch_add(1, Ordering::Relaxed) < MAX_TINY
    }

    /// Returns the summaries, or a failure if there are too many tiny records.
    fn judge(self, summaries: Vec<Summary>, mut outcome: CheckOutcome, paths: &[PathBuf]) -> Summaries {
        const WHY: &str = "more than 100,000 of its records are shorter than 40 bytes, too short for a run";
        if self.0.into_inner() <= MAX_TINY {
            return Summaries { summaries, outcome };
        }
        let name = paths.first().map(|path| Shown::path(path)).unwrap_or_default();
        outcome.failures.push(Failure::own("cannot tell apart the records of", &name, WHY));
        Summaries { summaries: Vec::new(), outcome }
    }
}

/// All records of files.
#[derive(Debug, Default)]
pub struct Summaries {
    /// Summaries in the order of the files.
    pub summaries: Vec<Summary>,
    /// Outcome of the reading: its failures, and ids that occur twice.
    pub outcome: CheckOutcome,
}

/// Reads files (or folders); no rule looks at the records, and their content is worked out where reviews speak of them.
/// `also` takes down more of each.
pub fn read(
    paths: &[PathBuf],
    reviews: &Reviews,
    threads: usize,
    side: &Arc<SideData>,
    also: impl Fn(&mut Summary, &CaseView<'_>) + Sync,
) -> Summaries {
    read_asked(paths, threads, side, |item| reviews.names(item), also)
}

/// Reads files (or folders); the rules look at those items that `is_named` takes, and the names of their variables are
/// taken down: reviews of a variable that is not there are told so.
pub fn read_named(
    paths: &[PathBuf],
    threads: usize,
    side: &Arc<SideData>,
    is_named: impl Fn(&ItemRef) -> bool + Sync,
) -> Summaries {
    read_asked(paths, threads, side, &is_named, |summary, case| {
        if is_named(&summary.item) {
            summary.take_parts(case);
        }
    })
}

/// Reads the records of the names that reviews speak of; no rule looks at them.
pub fn read_reviewed(inputs: Expand, reviews: &Reviews, threads: usize, side: &Arc<SideData>) -> Vec<Summary> {
    let summary = |case: &CaseView<'_>, input: &Input| {
        let summary = summary_of(case, input, &[], |item| reviews.names(item));
        reviews.names(&summary.item).then_some(summary)
    };
    check::read(inputs, threads, &side.around(), None, summary).0
}

fn read_asked(
    paths: &[PathBuf],
    threads: usize,
    side: &Arc<SideData>,
    is_asked: impl Fn(&ItemRef) -> bool + Sync,
    also: impl Fn(&mut Summary, &CaseView<'_>) + Sync,
) -> Summaries {
    gathered(paths, (side.inputs(paths), threads, &side.around(), None), |case, input| {
        let mut summary = summary_of(case, input, &[], &is_asked);
        also(&mut summary, case);
        summary
    })
}

/// Reads and checks what these paths lead to: the summaries say which rules spoke, and what was asked.
pub fn read_checked(paths: &[PathBuf], inputs: Expand, threads: usize, around: &Surroundings<'_>) -> Summaries {
    gathered(paths, (inputs, threads, around, Some(CheckOptions::default())), |case, input| {
        let mut summary = summary_of(case, input, case.findings(), |_| true);
        summary.take_question(case);
        summary
    })
}

/// Summarises what these paths lead to.
fn gathered(
    paths: &[PathBuf],
    (inputs, threads, around, manner): (Expand, usize, &Surroundings<'_>, Option<CheckOptions>),
    summary: impl Fn(&CaseView<'_>, &Input) -> Summary + Sync,
) -> Summaries {
    let tiny = Tiny::default();
    let summary = |case: &CaseView<'_>, input: &Input| tiny.takes(case).then(|| summary(case, input));
    let (summaries, outcome) = check::read(inputs, threads, around, manner, summary);
    tiny.judge(summaries, outcome, paths)
}

/// Reads a record again, given its summary; an empty one where it is not there any more.
pub fn read_again(path: &Path, summary: &Summary, threads: usize, side: &Arc<SideData>) -> Case<'static> {
    let place = |origin: Location| (origin.source, origin.offset);
    let same =
        |case: &CaseView<'_>, _: &Input| (place(case.origin()) == place(summary.origin)).then(|| case.to_owned());
    let (found, _) = check::read(side.inputs(&[path.to_owned()]), threads, &side.around(), None, same);
    found.into_iter().next().unwrap_or_else(|| Case::read(Vec::new()))
}

/// Summarises a record with what the rules say of it; its content is worked out where it is asked about.
pub fn summary_of(
    case: &CaseView<'_>,
    input: &Input,
    findings: &[Finding],
    is_asked: impl FnOnce(&ItemRef) -> bool,
) -> Summary {
    Summary::of_asked(case, findings, input.path().and_then(dataset), case.origin().index, is_asked)
}

/// Returns the name of a record file in review logs: without its folder, so that it may move.
pub fn dataset(path: &Path) -> Option<Untrusted<'static>> {
    let name = path.file_name()?;
    Some(stepscope_review::summary::id_of(&Untrusted::new(name.as_encoded_bytes())))
}
