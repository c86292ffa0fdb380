//! `stepscope review export`: verdicts for other programs, and the records that failed as a new run file.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use stepscope_io::pipeline::side_data::SideData;

use clap::{Args, ValueEnum};

use super::choice::Choice;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::export::{Looked, RedactArgs, place_of, refuses};
use crate::cli::namesakes::PassingRecords;
use crate::cli::options::threads;
use crate::cli::out::Out;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::contents;
use crate::cli::review::logs::joined;
use stepscope_base::guard::lock;
use stepscope_base::text::Shown;
use stepscope_io::log::journal::{beside, named};
use stepscope_io::pipeline::check::{check, read_through};
use stepscope_io::pipeline::summaries::{read, summary_of};
use stepscope_io::source::input::Input;
use stepscope_judge::case::CaseView;
use stepscope_redact::{PrivateHits, Redaction};
use stepscope_review::export;
use stepscope_review::export::CellForm;
use stepscope_review::fold::{ItemReviews, Outcome};
use stepscope_review::join::Index;

/// `stepscope review export`.
#[derive(Args, Clone, Debug)]
pub struct ReviewExport {
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    choice: Choice,
    /// How to print
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// With control characters as they are, where the format allows it
    #[arg(long)]
    raw: bool,
    /// Print the records of these files that failed, byte for byte but for --redact, one per line
    #[arg(long, value_name = "RUNS", conflicts_with_all = ["format", "raw", "files"])]
    failed: Vec<PathBuf>,
    #[command(flatten)]
    redact: RedactArgs,
    /// Print even though there is a key, token or password in it
    #[arg(long)]
    force: bool,
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
    let redaction = options.redact.read().map_err(|why| out.complain(&why)).ok()?;
    if !options.failed.is_empty() {
        return failed(options, redaction, side, out);
    }
    let contents = options.place.contents(out)?;
    let reviews = &contents.reviews;
    let choice = options.choice.checked(reviews, out)?;
    let summaries = options.place.records(out, |files, threads| read(files, reviews, threads, side, |_, _| {}))?;
    let index = Index::of(&summaries.summaries);
    let (joined, sets) = (joined(&index, reviews, out), reviews.label_sets().for_people());
    joined.gone_phrase().iter().for_each(|gone| out.complain(gone));
    let mut bytes = Vec::new();
    match options.format {
        ExportFormat::Jsonl => {}
        ExportFormat::Csv => export::csv_head(&mut bytes),
        ExportFormat::Markdown => bytes.extend_from_slice(export::MARKDOWN_HEAD.as_bytes()),
    }
    let wanted = joined.items.iter().map(|item| item.reviewed).filter(|reviewed| choice.takes(*reviewed, &sets));
    let wanted: Vec<ItemReviews<'_>> = wanted.collect();
    let line = |reviewed: &ItemReviews<'_>| {
        let mut line = Vec::new();
        export::jsonl(*reviewed, None, &sets, &mut line);
        redaction.record(line.trim_ascii_end()).into_owned()
    };
    let mut hits = PrivateHits::of_secrets();
    for reviewed in &wanted {
        let mut own = PrivateHits::of_secrets();
        own.look_in_record(&line(reviewed));
        hits.extend(own.of(&reviewed.item().name().line()));
    }
    if refuses(&hits, options.force, out) {
        return Some(FOUND);
    }
    let raw = options.raw && !out.is_terminal();
    let form = CellForm { raw, redaction: redaction.clone() };
    for reviewed in &wanted {
        match options.format {
            ExportFormat::Jsonl => bytes.extend(line(reviewed).into_iter().chain([b'\n'])),
            ExportFormat::Csv => export::csv(*reviewed, &sets, &form, &mut bytes),
            ExportFormat::Markdown => export::markdown(*reviewed, &sets, &form, &mut bytes),
        }
        out.write(&bytes);
        bytes.clear();
    }
    out.write(&bytes);
    Some(CLEAN)
}

/// Writes the records that failed, as they are in their files, but for what is taken out. All of them are searched for
/// secrets before the first is written.
fn failed(options: &ReviewExport, redaction: Redaction, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    if out.is_terminal() {
        out.complain(&Shown::own("these are raw bytes of your files: redirect them, for example > failed.jsonl"));
        return None;
    }
    let mut journals = named(&options.place.reviews);
    if journals.is_empty() {
        journals = options.failed.iter().map(|file| beside(file)).collect();
    }
    let contents = contents(&journals, out)?;
    let choice = options.choice.checked(&contents.reviews, out)?;
    let (reviews, sets) = (&contents.reviews, contents.reviews.label_sets());
    let records = PassingRecords::new(&options.failed, |paths| Some(side.inputs(paths)), threads(None), side);
    let fails = |case: &CaseView<'_>, input: &Input| {
        let summary = summary_of(case, input, &[], |_| true);
        let reviewed = records.find(reviews, &summary);
        reviewed.is_some_and(|reviewed| reviewed.outcome() == Outcome::Fail && choice.takes(reviewed, &sets))
    };
    let looked: Mutex<Looked> = Mutex::default();
    if !options.force {
        let looking = |case: &CaseView<'_>, input: &Input| {
            let mut hits = PrivateHits::of_secrets();
            if fails(case, input) {
                hits.look_in_record(&redaction.record(case.text()));
            }
            lock(&looked).add(place_of(case), hits.of(&case.place_name()));
        };
        read_through(side.inputs(&options.failed), threads(None), side, looking);
        if refuses(&lock(&looked).all(), false, out) {
            return Some(FOUND);
        }
    }
    let outcome = check(
        side.inputs(&options.failed),
        threads(None),
        &side.around(),
        None,
        |case, input, out| {
            // What was not there before was not looked at.
            let is_looked_at = options.force || lock(&looked).has(place_of(case));
            if let Some(out) = out.filter(|_| is_looked_at && fails(case, input)) {
                one_line(&redaction.record(case.text()), out);
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
