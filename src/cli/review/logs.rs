//! Review logs of the commands: which are read, what is said of them, and who reviews.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::namesakes::PassingRecords;
use crate::cli::options::{TableArgs, threads};
use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_io::log::journal::{
    Contents, NONE_BESIDE_INPUT, ONE_LOG, beside, count_inside, found_beside, named, read_all,
};
use stepscope_io::pipeline::summaries::{Summaries, read};
use stepscope_io::source::beneath::Place;
use stepscope_io::source::input::unreadable;
use stepscope_io::source::page::reviews_of;
use stepscope_io::system;
use stepscope_judge::case::CaseView;
use stepscope_record::finding;
use stepscope_record::finding::grouped;
use stepscope_review::event::{Event, Reviewer, ReviewerKind, Text};
use stepscope_review::fold::{ItemReviews, Reviews};
use stepscope_review::join::{Index, Joined};
use stepscope_review::summary::Summary;

/// Maximum number of files that are named where their reviews are left out.
const MAX_FILES: usize = 3;
/// Origin of a review log that was not named.
const FOUND_THERE: &str = "found next to the records; --reviews FILE selects another";

/// Which journals, and of which records.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct Where {
    /// Record files (verdicts on changed records count as stale)
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Review log [default: FILE.reviews.jsonl]; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(super) reviews: Vec<PathBuf>,
    /// What belongs to tables
    #[command(flatten)]
    pub(super) tables: TableArgs,
}

/// Reviewer.
#[derive(Args, Clone, Debug, Default)]
pub struct Who {
    /// Reviewer name [default: `$STEPSCOPE_REVIEWER`, `$USER`, user id]
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(super) reviewer: Option<String>,
    /// Reviewer type: person, model or program
    #[arg(long, value_name = "KIND", default_value = "person", value_parser = kind)]
    pub(super) reviewer_kind: ReviewerKind,
}

fn kind(word: &str) -> Result<ReviewerKind, &'static str> {
    ReviewerKind::from_word(word).ok_or("use person, model or program")
}

impl Who {
    /// Tells whether a reviewer was named.
    pub(crate) fn is_named(&self) -> bool {
        self.reviewer.is_some() || self.reviewer_kind != ReviewerKind::Person
    }

    /// Returns the reviewer.
    pub fn reviewer(&self) -> Reviewer {
        let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let named = ["STEPSCOPE_REVIEWER", "USER", "LOGNAME"].into_iter().find_map(set);
        let id = self.reviewer.clone().or(named);
        let id = id.unwrap_or_else(system::user);
        Reviewer { id: Untrusted::from(id), kind: self.reviewer_kind }
    }
}

impl Where {
    /// Returns the record files, each once: of one that is named twice the records would count twice.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut met = HashSet::new();
        let is_new = |file: &&PathBuf| {
            let is_stdin = file.as_os_str() == "-";
            let path = if is_stdin { None } else { std::fs::canonicalize(file).ok() };
            met.insert(path.unwrap_or_else(|| (*file).clone()))
        };
        self.files.iter().filter(is_new).cloned().collect()
    }

    /// Returns the places of the review logs.
    pub(super) fn journals(&self) -> Result<Vec<Place>, Shown> {
        if !self.reviews.is_empty() {
            return Ok(named(&self.reviews));
        }
        if self.files.is_empty() {
            return Err(Shown::own("pass a record file, or its review log with --reviews"));
        }
        if self.files.iter().any(|file| file.as_os_str() == "-") {
            return Err(Shown::own(NONE_BESIDE_INPUT));
        }
        Ok(self.files().iter().map(|file| beside(file)).collect())
    }

    /// Returns the place of the one review log that is written.
    pub(super) fn journal(&self) -> Result<Place, Shown> {
        let mut journals = self.journals()?;
        match (journals.pop(), journals.is_empty()) {
            (Some(journal), true) => Ok(journal),
            _ => Err(Shown::own(ONE_LOG)),
        }
    }

    /// Reads the records, if any were named; what cannot be read is reported, and the result is `None`.
    pub(super) fn records(&self, out: &Out, read: impl FnOnce(&[PathBuf], usize) -> Summaries) -> Option<Summaries> {
        if self.files.is_empty() { Some(Summaries::default()) } else { said(read(&self.files(), threads(None)), out) }
    }

    /// Returns the records, which are read one after the other.
    pub(super) fn passing(&self, side: &Arc<SideData>) -> PassingRecords<'static> {
        let known = side.clone();
        PassingRecords::new(&self.files(), move |paths| Some(known.inputs(paths)), threads(None), side)
    }

    /// Reads the review logs without a complaint if there are no reviews yet.
    pub(super) fn quiet_contents(&self, out: &Out) -> Option<Contents> {
        self.read(out, quiet_contents)
    }

    /// Reads the review logs and reports what is unusual in them. `None`: one could not be read.
    pub(super) fn contents(&self, out: &Out) -> Option<Contents> {
        self.read(out, contents)
    }

    /// Reads the review logs, and where none was named what pages carry.
    fn read(&self, out: &Out, read: impl FnOnce(&[Place], &Out) -> Option<Contents>) -> Option<Contents> {
        let journals = out.given(self.journals())?;
        if !self.reviews.is_empty() {
            return read(&journals, out);
        }
        let files = self.files();
        let carried = carried(&files);
        let mut contents = read(&beside_all(&files, &carried, out), out)?;
        add_carried(&mut contents, carried, out);
        Some(contents)
    }
}

/// Reads records as far as reviews ask about them, and runs no rule; what cannot be read is reported, and the result is
/// `None`. A missing document is reported too, and no more: verdicts are about the records. `also` takes down more of
/// each.
pub(in crate::cli) fn summaries(
    paths: &[PathBuf],
    reviews: &Reviews,
    side: &Arc<SideData>,
    out: &Out,
    also: impl Fn(&mut Summary, &CaseView<'_>) + Sync,
) -> Option<Summaries> {
    said(read(paths, reviews, threads(None), side, also), out)
}

/// Returns summaries unless something could not be read, which is reported, as is a last line that is cut off.
pub(in crate::cli) fn said(summaries: Summaries, out: &Out) -> Option<Summaries> {
    for source in summaries.outcome.sources.values() {
        if let Some(line) = source.counts.skips.cut {
            out.complain(&shown!("{}: line {line} is cut off and not counted", source.name));
        }
    }
    out.complain_of(summaries.outcome.unread().map(Shown::from));
    summaries.outcome.failures.is_empty().then_some(summaries)
}

/// Reads review logs and reports what is unusual in them, but not that there are none. `None`: one could not be read.
pub(super) fn quiet_contents(journals: &[Place], out: &Out) -> Option<Contents> {
    let contents = out.given(read_all(journals))?;
    contents.sentences.iter().for_each(|sentence| out.complain(sentence));
    Some(contents)
}

/// Reads review logs and reports what is unusual in them. `None`: one could not be read.
pub(in crate::cli) fn contents(journals: &[Place], out: &Out) -> Option<Contents> {
    let contents = quiet_contents(journals, out)?;
    contents.absent.iter().for_each(|name| out.complain(&shown!("{name}: no reviews yet")));
    Some(contents)
}

/// Reviews that pages carry.
type CarriedReviews<'p> = Vec<(&'p PathBuf, Vec<Event>)>;

/// Reads the reviews that pages among the records carry.
fn carried(records: &[PathBuf]) -> CarriedReviews<'_> {
    let carried = records.iter().map(|path| (path, reviews_of(path)));
    carried.filter(|(_, events)| !events.is_empty()).collect()
}

/// Returns the review logs next to the records. Next to a page with reviews there need be none. Reports that those of
/// the files in a folder are not read.
fn beside_all(records: &[PathBuf], carried: &[(&PathBuf, Vec<Event>)], out: &Out) -> Vec<Place> {
    for (folder, logs) in records.iter().map(|path| (path, count_inside(path))).filter(|(_, logs)| *logs > 0) {
        let (folder, logs) = (Shown::path(folder), finding::counted(logs, "review log"));
        out.complain(&shown!("{folder}: {logs} of its files not read; pass them with --reviews"));
    }
    let is_carried = |path: &PathBuf| carried.iter().any(|(page, _)| *page == path);
    let counts = |path: &&PathBuf| !is_carried(path) || found_beside(path).is_some();
    records.iter().filter(counts).map(|path| beside(path)).collect()
}

/// Adds what pages carry, and says so.
fn add_carried(contents: &mut Contents, carried: CarriedReviews<'_>, out: &Out) {
    for (page, events) in carried {
        out.complain(&shown!("counts the verdicts in {} (carried by the page)", Shown::path(page)));
        for event in events {
            contents.reviews.push(event);
        }
    }
}

/// Reads the review logs that change what a command says of records: those that were named, which must be there, else
/// those next to the records. Standard error says which ones count: whoever made the folder made these too. `None`: one
/// cannot be read.
pub(in crate::cli) fn counted(asked: &[PathBuf], records: &[PathBuf], out: &Out) -> Option<Contents> {
    let piped = records.iter().any(|path| path.as_os_str() == "-");
    if asked.is_empty() && piped {
        out.complain(&Shown::own(NONE_BESIDE_INPUT));
        return None;
    }
    if let Some(failure) = unreadable(asked).first() {
        out.complain(&shown!("{failure}"));
        return None;
    }
    let carried = if asked.is_empty() { carried(records) } else { Vec::new() };
    let journals = if asked.is_empty() { beside_all(records, &carried, out) } else { named(asked) };
    let mut contents = contents(&journals, out)?;
    for journal in journals.iter().map(Place::path).filter(|journal| journal.exists()) {
        let (path, from) = (Shown::path(journal), if asked.is_empty() { FOUND_THERE } else { "named by --reviews" });
        out.complain(&shown!("counts the verdicts in {path} ({from})"));
    }
    add_carried(&mut contents, carried, out);
    Some(contents)
}

/// Maximum number of lines or rows that are not saved and are named.
const MAX_REFUSED: u64 = 1000;

/// Number of lines or rows that are not saved: the first are reported, all are counted.
#[derive(Default)]
pub(super) struct Refused(u64);

impl Refused {
    pub(super) fn say(&mut self, what: &Shown, out: &Out) {
        self.0 += 1;
        if self.0 <= MAX_REFUSED {
            out.complain(what);
        }
    }

    /// Reports the rest and returns the exit code.
    pub(super) fn end(&self, out: &Out) -> u8 {
        if self.0 > MAX_REFUSED {
            out.complain(&shown!("{} more are not saved", grouped((self.0 - MAX_REFUSED) as usize)));
        }
        if self.0 > 0 { FAILED } else { CLEAN }
    }
}

/// Brings the reviews together with their records, and says of which files other reviews are.
pub(super) fn joined<'a>(index: &'a Index<'_>, reviews: &'a Reviews, out: &Out) -> Joined<'a> {
    let joined = index.join(reviews);
    let file = |reviewed: &ItemReviews<'_>| reviewed.item().dataset;
    let mut files: Vec<Text> = joined.elsewhere.iter().filter_map(file).collect();
    files.sort();
    files.dedup();
    if !files.is_empty() {
        let files = Shown::listed(files.iter().map(|file| file.line().cut(60)), MAX_FILES);
        let items = grouped(joined.elsewhere.len());
        out.complain(&shown!("reviewed items of other files left out: {items}, of {files}; pass their file too"));
    }
    joined
}
