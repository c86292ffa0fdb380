//! `stepscope review export`: verdicts for other programs, and the records that failed as a new run file.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::{Args, ValueEnum};

use super::Where;
use super::choice::Choice;
use crate::cli::check::threads;
use crate::cli::namesakes::PassingRecords;
use crate::cli::{CLEAN, FAILED, Out};
use stepscope_base::text::Shown;
use stepscope_core::review::export;
use stepscope_core::review::fold::Outcome;
use stepscope_core::review::join::{Index, JoinedItem};
use stepscope_io::log::journal::{beside, named};
use stepscope_io::pipeline::check::check;
use stepscope_io::pipeline::summaries::{read, summary_of};
use stepscope_io::source::input::expand;

/// `stepscope review export`.
#[derive(Args, Clone, Debug)]
pub struct ReviewExport {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    choice: Choice,
    /// How to print
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// With control characters as they are, where the format allows it
    #[arg(long)]
    raw: bool,
    /// Print the records of these files that failed, byte for byte, one per line
    #[arg(long, value_name = "RUNS", conflicts_with_all = ["format", "raw", "files"])]
    failed: Vec<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum ExportFormat {
    /// One JSON object per item
    Jsonl,
    /// One row per verdict; no cell is a formula
    Csv,
    /// A table; nothing in it is markup
    Markdown,
}

pub(super) fn run(options: &ReviewExport, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    if !options.failed.is_empty() {
        return failed(options, side, out);
    }
    let contents = options.place.contents(out)?;
    let reviews = &contents.reviews;
    let choice = options.choice.checked(reviews, out)?;
    let summaries = options.place.records(out, |files, threads| read(files, reviews, threads, side, |_, _| {}))?;
    let index = Index::of(&summaries.summaries);
    let (joined, sets) = (super::joined(&index, reviews, out), reviews.label_sets().for_people());
    joined.gone_phrase().iter().for_each(|gone| out.complain(gone));
    let mut bytes = Vec::new();
    match options.format {
        ExportFormat::Jsonl => {}
        ExportFormat::Csv => export::csv_head(&mut bytes),
        ExportFormat::Markdown => bytes.extend_from_slice(export::MARKDOWN_HEAD.as_bytes()),
    }
    let raw = options.raw && !out.is_terminal();
    for JoinedItem { reviewed, .. } in joined.items {
        if choice.takes(reviewed, &sets) {
            match options.format {
                ExportFormat::Jsonl => export::jsonl(reviewed, None, &sets, &mut bytes),
                ExportFormat::Csv => export::csv(reviewed, &sets, raw, &mut bytes),
                ExportFormat::Markdown => export::markdown(reviewed, &sets, raw, &mut bytes),
            }
        }
        out.write(&bytes);
        bytes.clear();
    }
    out.write(&bytes);
    Some(CLEAN)
}

/// Writes the records that failed, as they are in their files.
fn failed(options: &ReviewExport, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    if out.is_terminal() {
        out.complain(&Shown::own("these are raw bytes of your files: redirect them, for example > failed.jsonl"));
        return None;
    }
    let mut journals = named(&options.place.reviews);
    if journals.is_empty() {
        journals = options.failed.iter().map(|file| beside(file)).collect();
    }
    let contents = super::contents(&journals, out)?;
    let choice = options.choice.checked(&contents.reviews, out)?;
    let (reviews, sets) = (&contents.reviews, contents.reviews.label_sets());
    let records = PassingRecords::new(&options.failed, |paths| Some(expand(paths)), threads(None), side);
    let outcome = check(
        expand(&options.failed),
        threads(None),
        &side.around(),
        None,
        |case, input, out| {
            let summary = summary_of(case, input, &[], |_| true);
            let reviewed = records.find(reviews, &summary);
            let fails =
                reviewed.filter(|reviewed| reviewed.outcome() == Outcome::Fail && choice.takes(*reviewed, &sets));
            if let Some(out) = out.filter(|_| fails.is_some()) {
                one_line(case.text(), out);
            }
        },
        |bytes, _| {
            out.write(bytes);
            if out.is_closed() { Err(Error::from(ErrorKind::BrokenPipe)) } else { Ok(()) }
        },
    );
    out.complain_of(outcome.unread().map(Shown::from));
    Some(if outcome.failures.is_empty() { CLEAN } else { FAILED })
}

/// Appends a record as it is in its file. In JSON a line end is a blank between values: a record over several lines
/// becomes one line.
fn one_line(text: &[u8], into: &mut Vec<u8>) {
    into.extend(text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    into.push(b'\n');
}
