//! `stepscope export`: a record as a page to send.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::namesakes::PassingRecords;
use super::pick::Pick;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::options::AnswerArgs;
use crate::cli::options::hidden;
use crate::cli::options::threads;
use crate::cli::out::Out;
use crate::cli::peer_args::PeerArgs;
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::files::{check_export, export_folder, write_export};
use stepscope_io::log::journal::{found_beside, named, read_all};
use stepscope_io::pipeline::check::read;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::summaries::dataset;
use stepscope_io::source::beneath::UnderRoot;
use stepscope_io::source::input::Input;
use stepscope_io::source::page::reviews_of;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_record::finding::{counted, grouped};
use stepscope_redact::{PrivateHits, Redaction};
use stepscope_report::page;
use stepscope_report::page::{Cleaner, IndexRow, PageOptions, PagePicture, Said};
use stepscope_review::event::ItemRef;
use stepscope_review::fold::Reviews;
use stepscope_review::summary::Summary;

/// Maximum ratio of the size of all pages to the size of what was read; a few pages are always written.
const MAX_OUTPUT: usize = 20;
const FREE: usize = 4 << 20;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Write a record as a page to send: question, verdict, steps, state, findings
///
/// Exit code: 0 written, 1 something in it looks private, and without --force nothing was written, 2 something could
/// not be done.
#[derive(clap::Args, Clone, Debug)]
#[command(
    override_usage = "stepscope export [OPTIONS] <PATH>...\n       stepscope export [OPTIONS] --docintel [PATH]..."
)]
pub struct ExportArgs {
    /// The file (or folder) that holds the record
    #[arg(value_name = "PATH", required_unless_present = "docintel")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    answers: AnswerArgs,
    #[command(flatten)]
    pick: Pick,
    #[command(flatten)]
    peers: PeerArgs,
    /// The step in question, counted from 1: it is open in the page
    #[arg(long, value_name = "N")]
    step: Option<usize>,
    /// Write a self-contained HTML page that carries its record; `-` is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write Markdown for an issue: a summary, the rest folded
    #[arg(long, value_name = "FILE")]
    md: Option<PathBuf>,
    /// Write a picture of the screen that shows the record: SVG, light and dark in one file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a recording of its steps for asciinema players
    #[arg(long, value_name = "FILE")]
    cast: Option<PathBuf>,
    /// Columns and rows of picture and recording
    #[arg(long, value_name = "COLSxROWS", default_value = "120x36", value_parser = super::demo::size)]
    size: (u16, u16),
    /// Draw one pane alone, by its title: steps, "global state", findings, ...
    #[arg(long, value_name = "PANE")]
    pane: Option<String>,
    /// Keys to press before the picture, with blanks between them: "J" is the JSON, "X" the exact recomputation
    #[arg(long, value_name = "KEYS", default_value = "")]
    keys: String,
    /// Write an HTML page per record, and an index of them, into a folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["id", "line", "step", "html", "md", "svg", "cast", "pane"])]
    all: Option<PathBuf>,
    #[command(flatten)]
    privacy: Privacy,
    /// The review log [default: PATH.reviews.jsonl, if there is one]
    #[arg(long, value_name = "LOG", conflicts_with = "no_reviews")]
    reviews: Vec<PathBuf>,
    /// Leave out verdicts and notes of people
    #[arg(long)]
    no_reviews: bool,
}

/// Reviews of the records of each file.
type ReviewsOfFiles<'o> = HashMap<PathBuf, (Reviews, PassingRecords<'o>)>;

/// Function that draws a record's picture from its page: the screen provides it.
pub type Draw<'d> = &'d dyn Fn(&PagePicture<'_>) -> Result<Vec<u8>, Shown>;

/// What others are not to see.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct Privacy {
    /// Leave out of page and record: gold, baseline, triage, confidence, model
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = hidden)]
    hide: Vec<Hidden>,
    #[command(flatten)]
    redact: RedactArgs,
    /// Leave out the words of document and model: lines, quotes, prompts and raw replies
    #[arg(long)]
    no_passages: bool,
    /// Write even though something in it looks private
    #[arg(long)]
    force: bool,
}

/// What is taken out of everything that is written.
#[derive(clap::Args, Clone, Debug, Default)]
pub(in crate::cli) struct RedactArgs {
    /// Take out what matches, wherever it is: NAME=REGEX, or key, bearer, secret, email, home, all
    #[arg(long, value_name = "NAME=REGEX")]
    redact: Vec<String>,
}

impl RedactArgs {
    pub(in crate::cli) fn read(&self) -> Result<Redaction, Shown> {
        Redaction::read(&self.redact).map_err(|why| shown!("--redact: {why}"))
    }
}

impl Privacy {
    fn cleaner(&self) -> Result<Cleaner, Shown> {
        let redaction = self.redact.read()?;
        Ok(Cleaner { hide: Hide::of(self.hide.iter().copied()), redaction, passages: !self.no_passages })
    }
}

/// Values that look private in many records: the first ones by position, whichever thread finds them, and how far each
/// source was searched.
#[derive(Default)]
pub(in crate::cli) struct Looked {
    hits: BTreeMap<(usize, u64), PrivateHits>,
    count: usize,
    ends: HashMap<usize, u64>,
}

impl Looked {
    pub(in crate::cli) fn add(&mut self, (source, offset): (usize, u64), hits: PrivateHits) {
        let end = self.ends.entry(source).or_default();
        *end = offset.max(*end);
        self.count += hits.count;
        if !hits.is_empty() {
            self.hits.insert((source, offset), hits);
        }
        if self.hits.len() > PrivateHits::NAMED {
            self.hits.pop_last();
        }
    }

    pub(in crate::cli) fn has(&self, (source, offset): (usize, u64)) -> bool {
        self.ends.get(&source).is_some_and(|end| offset <= *end)
    }

    pub(in crate::cli) fn all(&mut self) -> PrivateHits {
        let mut all = PrivateHits::default();
        for hits in std::mem::take(&mut self.hits).into_values() {
            all.extend(hits);
        }
        PrivateHits { count: self.count, ..all }
    }
}

/// Counts that limit the size of all pages by the size of what was read so far.
#[derive(Default)]
struct PageRoom {
    records: usize,
    read: usize,
    written: usize,
    left_out: usize,
}

impl PageRoom {
    /// Returns the number of the next record, if there is room for its page.
    fn next(&mut self, bytes: usize) -> Option<usize> {
        self.records += 1;
        self.read = self.read.saturating_add(bytes);
        let has_room = self.left_out == 0 && self.written < self.read.saturating_mul(MAX_OUTPUT).max(FREE);
        self.left_out += usize::from(!has_room);
        has_room.then_some(self.records)
    }
}

pub(super) fn run(export: &ExportArgs, side: &Arc<SideData>, draw: Draw<'_>, out: &mut Out) -> Result<u8, Shown> {
    let side = &export.peers.read(side, out)?;
    match &export.all {
        Some(folder) => export.every(folder, side, out),
        None => export.one(side, draw, out),
    }
}

/// Returns the step that was asked for, counted from 0.
fn step_in(case: &CaseView<'_>, asked: Option<usize>) -> Result<Option<usize>, Shown> {
    let Some(number) = asked else { return Ok(None) };
    let steps = case.procedure().map_or(case.state().step_count(), |procedure| procedure.steps.len());
    match number.checked_sub(1).filter(|step| *step < steps) {
        Some(step) => Ok(Some(step)),
        None => Err(shown!("no step {number}: this record has {steps}")),
    }
}

/// Formats the position of a record, without its folder, which is private.
fn source_of(path: Option<&Path>, case: &CaseView<'_>) -> Vec<u8> {
    let name = path.and_then(Path::file_name);
    let name = name.map_or_else(|| b"standard input".to_vec(), |name| name.as_encoded_bytes().to_vec());
    [name.as_slice(), format!(", line {}", case.origin().line).as_bytes()].concat()
}

/// Reports what looks private; `true`: nothing is written because of it.
pub(in crate::cli) fn refuses(hits: &PrivateHits, force: bool, out: &Out) -> bool {
    for hit in &hits.named {
        out.complain(&shown!("{}: {}", hit.place, hit.kind.phrase()));
    }
    if hits.count > hits.named.len() {
        out.complain(&shown!("and {} more", grouped(hits.count - hits.named.len())));
    }
    if !hits.is_empty() && !force {
        out.complain(&Shown::own(
            "Nothing was written: this looks private. Take it out with --redact all or --redact NAME=REGEX, or pass --force.",
        ));
    }
    !hits.is_empty() && !force
}

/// Writes a whole file, or to standard output. `at`: the end of a link to it.
fn save(path: &Path, bytes: &[u8], is_ours: impl Fn(&[u8]) -> bool, at: &Shown, out: &mut Out) -> Result<(), Shown> {
    if path.as_os_str() == "-" {
        out.write(bytes);
        return Ok(());
    }
    write_export(path, bytes, is_ours)?;
    out.line(&shown!("Saved {}{at}", Shown::path(path)));
    Ok(())
}

impl ExportArgs {
    fn one(&self, side: &Arc<SideData>, draw: Draw<'_>, out: &mut Out) -> Result<u8, Shown> {
        if [&self.html, &self.md, &self.svg, &self.cast].into_iter().all(Option::is_none) {
            return Err(Shown::own("nothing to write; use --html, --md, --svg or --cast FILE, or --all DIR"));
        }
        if self.pane.is_some() && self.svg.is_none() && self.cast.is_none() {
            return Err(Shown::own("--pane is for pictures; add --svg FILE"));
        }
        let cleaner = self.privacy.cleaner()?;
        let inputs = self.answers.expand(&self.paths)?;
        let picked = self.pick.find_any(inputs, side)?;
        out.complain_of(picked.missing.iter().map(Shown::from));
        let view = picked.case.view();
        let step = step_in(&view, self.step)?;
        let reviews = self.reviews_of(picked.path.as_deref(), out)?;
        let records = self.passing(&self.paths, side);
        let said = said_of(&reviews, &records, &view, picked.path.as_deref());
        let cleaned = cleaner.clean(&view, said, &source_of(picked.path.as_deref(), &view));
        if refuses(&cleaned.private(), self.privacy.force, out) {
            return Ok(FOUND);
        }
        let (view, options) = (cleaned.case.view(), cleaned.options(step, VERSION));
        if let Some(html) = &self.html {
            picked.check_out(Some(html), "--html")?;
            let page = page::html(&view, &options);
            let at = step.map(|step| shown!("#step-{}", step + 1)).unwrap_or_default();
            save(html, page.text.as_bytes(), page::carried::is_page, &at, out)?;
            if !page.carries {
                let why = "the record is too large for the page to carry; the page cannot be opened again";
                out.complain(&Shown::own(why));
            }
        }
        if let Some(md) = &self.md {
            picked.check_out(Some(md), "--md")?;
            let is_ours = |head: &[u8]| head.starts_with(page::BEGIN_MARKDOWN.as_bytes());
            let options = PageOptions { ascii: out.is_ascii(md), ..options.clone() };
            save(md, page::markdown(&view, &options).as_bytes(), is_ours, &Shown::default(), out)?;
        }
        for (file, option, is_recording) in [(&self.svg, "--svg", false), (&self.cast, "--cast", true)] {
            let Some(file) = file else { continue };
            picked.check_out(Some(file), option)?;
            let name = picked.path.as_deref().and_then(Path::file_name).unwrap_or_default();
            let name = cleaner.redaction.text(name.as_encoded_bytes()).into_owned();
            let bytes = self.picture(&view, &name, &options, is_recording, draw)?;
            let begin = if is_recording { b"{\"version\":3,\"term\"".as_slice() } else { b"<svg xmlns=" };
            save(file, &bytes, |head| head.starts_with(begin), &Shown::default(), out)?;
        }
        out.complain_of(self.pick.took_first(&picked).into_iter());
        Ok(CLEAN)
    }

    /// Draws the screen that shows a record from its page, so that nothing is on it that others are not to see.
    fn picture(
        &self,
        view: &CaseView<'_>,
        name: &[u8],
        options: &PageOptions<'_>,
        is_recording: bool,
        draw: Draw<'_>,
    ) -> Result<Vec<u8>, Shown> {
        let page = page::html(view, options);
        if !page.carries {
            return Err(Shown::own("the record is too large for a picture"));
        }
        let steps = view.procedure().map_or(view.state().step_count(), |procedure| procedure.steps.len());
        let steps = match options.step {
            Some(step) if !is_recording => vec![step + 1],
            None if !is_recording => Vec::new(),
            _ => (1..=steps).collect(),
        };
        let id = view.record.as_ref().and_then(|record| record.id_text()?.utf8().map(ToOwned::to_owned));
        let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty()).unwrap_or("record.jsonl");
        let (keys, pane, size) = (self.keys.as_str(), self.pane.as_deref(), self.size);
        let hide = options.hide;
        draw(&PagePicture { page: page.text.as_bytes(), name, id, steps, keys, pane, size, is_recording, hide })
    }

    /// Writes a page per record, and the index. All of them are searched for private values before the first is
    /// written.
    fn every(&self, folder: &Path, side: &Arc<SideData>, out: &mut Out) -> Result<u8, Shown> {
        let cleaner = self.privacy.cleaner()?;
        let index_file = folder.join("index.html");
        check_export(&index_file, page::carried::is_page)?;
        let reviews = self.all_reviews(side, out)?;
        let clean = |case: &CaseView<'_>, input: &Input| {
            let reviews = input.path().and_then(|path| reviews.get(path)).or_else(|| reviews.get(Path::new("")));
            let said = |(reviews, records): &_| said_of(reviews, records, case, input.path());
            let said = reviews.map(said).unwrap_or_default();
            cleaner.clean(case, said, &source_of(input.path(), case))
        };
        let inputs = || self.answers.expand(&self.paths).map_err(Shown::from);
        let looked: Mutex<Looked> = Mutex::default();
        let (_, outcome) = read(inputs()?, threads(None), &side.around(), None, |case, input| {
            let hits = clean(case, input).private().of(&case.place_name());
            lock(&looked).add(place_of(case), hits);
            None::<()>
        });
        out.complain_of(outcome.unread().map(Shown::from));
        if refuses(&lock(&looked).all(), self.privacy.force, out) {
            return Ok(FOUND);
        }
        let _made = export_folder(folder)?;
        let room: Mutex<PageRoom> = Mutex::default();
        // One behind the other: who comes first has room first.
        let (rows, outcome) = read(inputs()?, 1, &side.around(), None, |case, input| {
            // What was not there before was not looked at.
            let number = Some(place_of(case)).filter(|place| lock(&looked).has(*place));
            let number = number.and_then(|_| lock(&room).next(case.text().len()))?;
            let cleaned = clean(case, input);
            let (view, options) = (cleaned.case.view(), cleaned.options(None, VERSION));
            let row = IndexRow::of(&view, &options, number);
            let page = page::html(&view, &options);
            lock(&room).written += page.text.len();
            let saved = write_export(&folder.join(row.file()), page.text.as_bytes(), page::carried::is_page);
            Some(saved.map(|()| row))
        });
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        let name = self.paths.first().and_then(|path| path.file_name()).unwrap_or_default();
        let name = Shown::line(&cleaner.redaction.text(name.as_encoded_bytes()));
        let index = page::index(&rows, &name, VERSION);
        save(&index_file, index.as_bytes(), page::carried::is_page, &Shown::default(), out)?;
        out.line(&shown!("{}", counted(rows.len(), "page")));
        let others = other_pages(folder, &rows);
        if others > 0 {
            out.complain(&shown!("{} also holds pages of another export: {}", Shown::path(folder), grouped(others)));
        }
        let left_out = lock(&room).left_out;
        if left_out > 0 {
            let why = "the pages would be more than 20 times as long as the records; name fewer of them";
            out.complain(&shown!("{} more records have no page: {why}", grouped(left_out)));
        }
        let is_whole = left_out == 0 && outcome.unread().next().is_none();
        Ok(if is_whole { CLEAN } else { FAILED })
    }

    /// Reads the reviews of the records of each file; those that were named for all files are under an empty path.
    fn all_reviews(&self, side: &Arc<SideData>, out: &Out) -> Result<ReviewsOfFiles<'_>, Shown> {
        if self.no_reviews || !self.reviews.is_empty() {
            let reviews = self.reviews_of(None, out)?;
            return Ok([(PathBuf::new(), (reviews, self.passing(&self.paths, side)))].into());
        }
        let inputs = self.answers.expand(&self.paths)?;
        let paths = inputs.filter_map(|input| input.ok()?.path().map(Path::to_owned));
        let of = |path: PathBuf| {
            let reviews = self.reviews_of(Some(&path), out)?;
            let records = self.passing(std::slice::from_ref(&path), side);
            Ok((path, (reviews, records)))
        };
        paths.map(of).collect()
    }

    /// Returns the records of paths, which are read one after the other.
    fn passing(&self, paths: &[PathBuf], side: &Arc<SideData>) -> PassingRecords<'_> {
        PassingRecords::new(paths, |paths| self.answers.expand(paths).ok(), threads(None), side)
    }

    /// Reads the reviews of the records of a file.
    fn reviews_of(&self, path: Option<&Path>, out: &Out) -> Result<Reviews, Shown> {
        let beside = path.and_then(found_beside);
        let journals = match (self.no_reviews, self.reviews.is_empty()) {
            (true, _) => Vec::new(),
            (false, true) => beside.into_iter().collect(),
            (false, false) => named(&self.reviews),
        };
        let mut contents = read_all(&journals)?;
        let page = path.filter(|_| !self.no_reviews && self.reviews.is_empty());
        for event in page.map(reviews_of).into_iter().flatten() {
            contents.reviews.push(event);
        }
        contents.sentences.iter().for_each(|sentence| out.complain(sentence));
        out.complain_of(contents.absent.iter().map(|name| shown!("{name}: there are no reviews yet")));
        Ok(contents.reviews)
    }
}

/// Counts the pages in a folder that an export did not write.
fn other_pages(folder: &Path, rows: &[IndexRow]) -> usize {
    let written: HashSet<String> = rows.iter().map(IndexRow::file).collect();
    let mut others = 0;
    let listed = UnderRoot::root(folder).and_then(|folder| {
        folder.list(|entry| {
            let name = entry.name.to_string_lossy();
            others += usize::from(name.ends_with(".html") && name != "index.html" && !written.contains(name.as_ref()));
            true
        })
    });
    // Only a hint depends on it.
    drop(listed);
    others
}

/// Returns the position of a record among all: its source, and its first byte there.
pub(in crate::cli) fn place_of(case: &CaseView<'_>) -> (usize, u64) {
    (case.origin().source, case.origin().offset)
}

/// Returns what reviews say of one of the records.
fn said_of(reviews: &Reviews, records: &PassingRecords<'_>, case: &CaseView<'_>, path: Option<&Path>) -> Vec<Said> {
    let summary = Summary::of_asked(case, &[], path.and_then(dataset), case.origin().index, |_: &ItemRef| true);
    let found = records.find(reviews, &summary);
    found.map(|reviewed| Said::of(reviewed, &reviews.label_sets())).unwrap_or_default()
}
