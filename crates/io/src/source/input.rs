//! From what was named on the command line to sources that can be read: files, folders, pipes, standard input.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::failure::{Failure, reason};
use crate::source::answers::{self, AnswerStore, LineBuffer, StoreDocuments, StoreReport};
use crate::source::beneath::{Place, UnderRoot};
use crate::source::block::BLOCK;
use crate::source::column_map::ColumnMap;
use crate::source::cut::{Layout, Skips, State, cut, decode_wide, looks_like_json, without_filler};
use crate::source::datasets::is_description;
use crate::source::documents::{DocumentCache, Documents};
use crate::source::gathered::{GatheredLines, gatherer_of, may_be_gathered, stores};
use crate::source::magic::{LFS, SQLITE, begins_arrow, begins_typed, is_journal, not_records};
use crate::source::maps::{Attempt, Mapped, RowMap};
use crate::source::open::{Blob, Opened, Stat, beneath_failure, open, open_beneath, open_place, spool, standard_input};
use crate::source::{csv, maps, packed, page, rows};
use crate::system::{FileId, FileType, await_writer, is_link};
use stepscope_base::guard::{FAULT, guarded};
use stepscope_base::json::{Kind, MAX_TEXT, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::RecordKind;
use stepscope_record::formats;
use stepscope_record::notebook::{Notebook, is_notebook};
use stepscope_review::log_line;
use stepscope_samples::{SAMPLES, Sample};

/// UTF-16 and UTF-32 are turned into UTF-8 in memory up to this size.
pub(crate) const MAX_WIDE: u64 = 64 << 20;

/// Number of bytes that tell whether a file is packed.
const HEAD_BYTES: usize = 512;
/// Number of values at the beginning of a source that tell what it holds.
const HEAD_VALUES: usize = 64;
/// A store that is changed while it is read is read so often.
const TRIES: usize = 3;
const LIST: &str = "cannot read the folder";
/// Ending of the names of files of forks.
pub(crate) const FORKS_SUFFIX: &str = ".forks.jsonl";

/// Tells whether a name says that the file holds forks.
fn is_of_forks(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(FORKS_SUFFIX.as_bytes())
}

/// One thing to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Standard input.
    Standard,
    /// A path that was named.
    Named(PathBuf),
    /// A file found in a folder: passed over in silence if it does not begin like JSON and is not called so.
    Found(UnderRoot),
    /// A file found next to a store: passed over if it does not begin with anything known.
    Beside(UnderRoot),
    /// A file that a tour names, beneath the folder of the tour.
    OfTour(UnderRoot),
    /// A store of answers.
    Answers(AnswerStore),
    /// Forks of the records of another input.
    Forks(Place),
    /// Sample runs that are part of the program.
    Sample(&'static Sample),
}

impl Input {
    /// Returns its name on screen.
    pub fn name(&self) -> Shown {
        match self {
            Self::Standard => Shown::own("standard input"),
            Self::Named(path) => Shown::path(path),
            Self::Found(at) | Self::Beside(at) | Self::OfTour(at) => Shown::path(at.path()),
            Self::Forks(place) => Shown::path(place.path()),
            Self::Answers(store) => Shown::path(store.path()),
            Self::Sample(sample) => Shown::own(sample.name),
        }
    }

    /// Returns its path, where it has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Standard | Self::Sample(_) => None,
            Self::Named(path) => Some(path),
            Self::Found(at) | Self::Beside(at) | Self::OfTour(at) => Some(at.path()),
            Self::Forks(place) => Some(place.path()),
            Self::Answers(store) => Some(store.path()),
        }
    }

    /// Lists the files that hold a record of it: of a store, its question's and the database, which may have a part of
    /// it.
    pub fn files_of(&self, record: Option<Value<'_>>) -> Vec<Shown> {
        match self {
            Self::Answers(store) => {
                let member = |key: &str| record?.get(key);
                let part = if member("parsed_question").is_some() { "parsed_question.json" } else { "" };
                let folder = member("folder").and_then(Value::string);
                let folder = folder.map(|folder| Shown::path(&store.place(folder.bytes()).join(part)));
                folder.into_iter().chain(store.database().map(Shown::path)).collect()
            }
            _ => vec![self.name()],
        }
    }

    /// Returns its location, and who named it.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Standard | Self::Sample(_) => None,
            Self::Named(path) => Some(Place::Named(path.clone())),
            Self::Found(at) | Self::Beside(at) | Self::OfTour(at) => Some(Place::UnderRoot(at.clone())),
            Self::Forks(place) => Some(place.clone()),
            Self::Answers(store) => Some(store.named()),
        }
    }
}

/// Lists all inputs that these paths lead to, in order. Folders are searched as they are reached, in path order, each
/// folder once; hidden files are left out there.
pub fn expand(paths: &[PathBuf]) -> Expand {
    Expand {
        stack: paths.iter().rev().map(|path| Step::Named(path.clone())).collect(),
        cache: Arc::new(DocumentCache::new(paths)),
        columns: Arc::new(ColumnMap::default().along_with(paths)),
        ..Expand::default()
    }
}

/// Lists all inputs that a tour names, in order: beneath its folder, through no link. Whoever wrote a tour is not who
/// plays it.
pub fn expand_beneath(folder: &Path, names: &[PathBuf]) -> Result<Expand, Failure> {
    let root = UnderRoot::root(folder).map_err(|error| Failure::system(LIST, folder, &error))?;
    let all: Vec<UnderRoot> = names.iter().map(|name| root.join(name)).collect();
    for at in all.iter().filter(|at| !at.is_folder()) {
        open_beneath(at)?;
    }
    Ok(Expand { stack: all.into_iter().rev().map(Step::OfTour).collect(), ..Expand::default() })
}

/// Finds the paths that cannot be opened, and the reasons. Pipes are not touched: opening one would take what comes.
pub fn unreadable(paths: &[PathBuf]) -> Vec<Failure> {
    let look = |path: &PathBuf| -> std::io::Result<()> {
        match std::fs::metadata(path)? {
            meta if meta.is_dir() => std::fs::read_dir(path).map(drop),
            meta if meta.is_file() => File::open(path).map(drop),
            _ => Ok(()),
        }
    };
    let named = paths.iter().filter(|path| path.as_os_str() != "-");
    named.filter_map(|path| Some(Failure::system("cannot open", path, &look(path).err()?))).collect()
}

/// Lists the sample runs, for when nothing was named.
pub fn samples() -> Expand {
    let stack = SAMPLES.iter().rev().map(Step::Sample).collect();
    Expand { stack, ..Expand::default() }
}

/// Lists the sample runs of one name.
pub(crate) fn sample(name: &str) -> Expand {
    let stack = SAMPLES.iter().filter(|sample| sample.name == name).map(Step::Sample).collect();
    Expand { stack, ..Expand::default() }
}

/// See [`expand`].
#[derive(Debug, Default)]
pub struct Expand {
    stack: Vec<Step>,
    entered: HashSet<FileId>,
    cache: Arc<DocumentCache>,
    columns: Arc<ColumnMap>,
    /// The files of forks that were met, where they are wanted: they come last.
    forks: Option<BTreeMap<PathBuf, Place>>,
    links: u64,
    hidden: u64,
    last_line: Option<u64>,
}

#[derive(Debug)]
enum Step {
    Named(PathBuf),
    /// Name from a tour.
    OfTour(UnderRoot),
    /// Name from a listing, its type, and whether it lies next to a store.
    Listed(UnderRoot, FileType, bool),
    Sample(&'static Sample),
}

impl Iterator for Expand {
    type Item = Result<Input, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(step) = self.stack.pop() else {
                return self.forks.as_mut()?.pop_first().map(|(_, place)| Ok(Input::Forks(place)));
            };
            match step {
                Step::Sample(sample) => return Some(Ok(Input::Sample(sample))),
                Step::Named(path) if path.as_os_str() == OsStr::new("-") => return Some(Ok(Input::Standard)),
                Step::Named(path) => {
                    if self.forks.is_some() && is_of_forks(&path) {
                        self.add_forks(Place::Named(path));
                        continue;
                    }
                    self.forks_beside(&path);
                    if !std::fs::metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                        // Opening will say what is wrong with it.
                        return Some(Ok(Input::Named(path)));
                    }
                    let found = match UnderRoot::root(&path) {
                        Ok(folder) => self.enter(&folder, true, false),
                        Err(error) => Some(Err(Failure::system(LIST, &path, &error))),
                    };
                    if found.is_some() {
                        return found;
                    }
                }
                Step::OfTour(at) => {
                    // Opening will say what is wrong with it.
                    if !at.is_folder() {
                        return Some(Ok(Input::OfTour(at)));
                    }
                    if let Some(found) = self.enter(&at, true, false) {
                        return Some(found);
                    }
                }
                // They belong to their parents.
                Step::Listed(at, FileType::RegularFile, _) if is_of_forks(at.path()) => self.add_forks(at.into()),
                Step::Listed(at, FileType::RegularFile, beside) => {
                    return Some(Ok(if beside { Input::Beside(at) } else { Input::Found(at) }));
                }
                Step::Listed(at, FileType::Directory, beside) => {
                    if let Some(found) = self.enter(&at, false, beside) {
                        return Some(found);
                    }
                }
                Step::Listed(_, FileType::Symlink, _) => self.links += 1,
                // Pipes, sockets and devices in a folder are nobody's records.
                Step::Listed(..) => {}
            }
        }
    }
}

impl Expand {
    /// Adds a document for answers that name none.
    pub fn with_document(self, path: &Path) -> Result<Self, Failure> {
        let cache = Arc::into_inner(self.cache).expect("it has one owner yet").with_document(path)?;
        Ok(Self { cache: Arc::new(cache), ..self })
    }

    /// Sets the columns of tables that are read as keys of records.
    #[must_use]
    pub fn with_columns(self, columns: ColumnMap) -> Self {
        Self { columns: Arc::new(columns.along_with(self.columns.named())), ..self }
    }

    /// Adds the forks of what is read, from files next to it and from this one.
    #[must_use]
    pub fn with_forks(self, also: Option<&Path>) -> Self {
        let also = also.filter(|path| path.exists());
        let forks = also.map(|path| (path.to_owned(), Place::Named(path.to_owned()))).into_iter().collect();
        Self { forks: Some(forks), ..self }
    }

    /// Reads of each input only the records that begin up to this line.
    #[must_use]
    pub fn up_to_line(self, line: u64) -> Self {
        Self { last_line: Some(line), ..self }
    }

    /// Tells whether nothing is wanted of an input from this line on.
    pub(crate) fn ends_before(&self, line: u64) -> bool {
        self.last_line.is_some_and(|last| last < line)
    }

    fn add_forks(&mut self, place: Place) {
        if let Some(forks) = &mut self.forks {
            forks.entry(place.path().to_owned()).or_insert(place);
        }
    }

    fn forks_beside(&mut self, path: &Path) {
        let place = Place::Named(path.to_owned()).beside(FORKS_SUFFIX);
        if self.forks.is_some()
            // A link is not followed, and not hidden: opening will say so.
            && let Ok(at) = place.beneath()
            && at.kind().map_or_else(|error| is_link(&error), |found| found.kind == FileType::RegularFile)
        {
            self.add_forks(place);
        }
    }

    /// Returns the number of links in folders that were not followed so far.
    pub const fn links(&self) -> u64 {
        self.links
    }

    /// Returns the number of hidden files and folders that were left out so far.
    pub const fn hidden(&self) -> u64 {
        self.hidden
    }

    /// Returns the columns of tables that are read as keys.
    pub const fn columns(&self) -> &Arc<ColumnMap> {
        &self.columns
    }

    /// Returns the documents that the records cite.
    pub const fn cache(&self) -> &Arc<DocumentCache> {
        &self.cache
    }

    /// Takes what is in a folder that was not entered yet; a store is one thing to read.
    fn enter(&mut self, folder: &UnderRoot, named: bool, beside: bool) -> Option<Result<Input, Failure>> {
        match folder.kind() {
            Ok(found) if !self.entered.insert(found.id) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(beneath_failure(LIST, folder.path(), &error))),
        }
        let store = AnswerStore::of_folder(folder, named);
        let is_part = store.as_ref().is_some_and(AnswerStore::is_part);
        if is_part && beside {
            // Its documents came with the store.
            return None;
        }
        let store = store.or_else(|| named.then(|| AnswerStore::of_root(folder)).flatten());
        let beside = beside || store.is_some();
        // The folder of a document holds nothing else.
        if !is_part && let Err(failure) = self.list(folder, beside, store.as_ref()) {
            return Some(Err(failure));
        }
        store.map(|store| Ok(Input::Answers(store)))
    }

    fn list(&mut self, folder: &UnderRoot, beside: bool, store: Option<&AnswerStore>) -> Result<(), Failure> {
        let mut entries = Vec::new();
        let listed = folder.list(|entry| {
            entries.push(entry);
            true
        });
        self.hidden += listed.map_err(|error| beneath_failure(LIST, folder.path(), &error))?;
        entries.sort_unstable_by(|a, b| b.name.cmp(&a.name));
        let database = store.and_then(AnswerStore::database);
        let steps = entries.into_iter().map(|entry| (folder.join(&entry.name), entry.kind));
        let steps = steps.filter(|(at, _)| Some(at.path()) != database);
        self.stack.extend(steps.map(|(at, kind)| Step::Listed(at, kind, beside)));
        Ok(())
    }
}

/// A source whose bytes can be read.
#[derive(Debug)]
pub struct Source {
    /// The bytes.
    pub blob: Arc<Blob>,
    /// Layout of its records.
    pub layout: Layout,
    /// True if the bytes were made of those of the file: turned into UTF-8, or taken out of a table, a notebook, a store
    /// or a report page. Places are those of what was made.
    pub decoded: bool,
    /// Note to show with it: the parts of a notebook that hold no records.
    pub note: Option<Shown>,
    /// Identity, size and time of the file when it was opened.
    pub stat: Stat,
    /// Documents that its records cite.
    pub documents: Option<Documents>,
    /// Parts of it that could not be read; the rest was.
    pub failures: Vec<Failure>,
}

impl Source {
    pub(crate) fn citing(self, documents: Documents) -> Self {
        Self { documents: Some(documents), ..self }
    }
}

/// Outcome of opening an input.
#[derive(Debug)]
pub enum Begun {
    /// A source that can be read.
    Source(Source),
    /// A pipe: to be spooled into a blob and then recognised.
    Pipe(File),
    /// A store of answers: to be read into a blob line by line.
    Answers(AnswerStore),
    /// A file that no person named, and that is not read.
    PassedOver(PassedOver),
}

/// File in a folder that is not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassedOver {
    /// It does not begin like JSON, or is nobody's records.
    Other,
    /// A report page: it has a record of another file, as a rule of this folder.
    Page,
    /// It seems to be records, which cannot be read as they are, and the reason.
    Unread(&'static str),
}

/// Tries a map on the first row of a file, else the one that fits.
///
/// # Errors
/// When the file cannot be read, or begins with no JSON.
pub fn try_map(path: &Path, named: Option<&RowMap>) -> Result<Attempt, Failure> {
    let (blob, mut head) = (json_of(path)?, Vec::new());
    blob.read(0, BLOCK, &mut head)?;
    let layout = layout_of(&blob, &head)?;
    maps::attempt(&Arc::new(blob), layout, named)
}

/// Opens a file as JSON, whatever it holds: of a table its rows, of a packed file what is in it.
fn json_of(path: &Path) -> Result<Blob, Failure> {
    let Opened::File(blob) = open(path)? else {
        return Err(Failure::own("cannot try", &Shown::path(path), "it is a pipe; save it to a file"));
    };
    let mut head = Vec::new();
    blob.read(0, BLOCK, &mut head)?;
    let blob = packed::unpacked(&blob, &head)?.unwrap_or(blob);
    blob.read(0, BLOCK, &mut head)?;
    let rows = if begins_table(&head) { rows::read(&blob, &ColumnMap::any_row(), false)? } else { None };
    Ok(rows.map_or(blob, |rows| rows.lines))
}

/// Opens an input and recognises it by its first block.
pub fn begin(input: &Input, cache: &Arc<DocumentCache>, columns: &ColumnMap) -> Result<Begun, Failure> {
    or_failure(&input.name(), || begun(input, cache, columns))
}

/// Does something with bytes of others; a fault of ours is a failure to read them.
fn or_failure<T>(name: &Shown, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    guarded(work).unwrap_or_else(|| Err(Failure::own("cannot read", name, FAULT)))
}

fn begun(input: &Input, cache: &Arc<DocumentCache>, columns: &ColumnMap) -> Result<Begun, Failure> {
    // Forks are lines, whatever their parents are.
    let own = ColumnMap::default();
    let columns = if matches!(input, Input::Forks(_) | Input::Sample(_)) { &own } else { columns };
    let opened = match input {
        Input::Standard => standard_input()?,
        Input::Named(path) => open(path)?,
        Input::Forks(place) => open_place(place)?,
        Input::OfTour(at) => Opened::File(open_beneath(at)?),
        // What cannot be opened in a folder was not asked for by name, unless its name says that it is records.
        Input::Found(at) | Input::Beside(at) => match open_beneath(at) {
            Err(_) if !claims_json(at.path()) => return Ok(Begun::PassedOver(PassedOver::Other)),
            opened => Opened::File(opened?),
        },
        Input::Answers(_) if !columns.is_empty() => return Err(Failure::own("cannot read", &input.name(), NO_TABLE)),
        Input::Answers(store) => return Ok(Begun::Answers(store.clone())),
        Input::Sample(sample) => Opened::File(Blob::of_bytes(input.name(), sample.bytes)?),
    };
    let blob = match opened {
        Opened::Pipe(pipe) => return Ok(Begun::Pipe(pipe)),
        Opened::File(blob) => blob,
    };
    let named = matches!(input, Input::Named(_) | Input::OfTour(_));
    if let Some(place) = blob.place().filter(|_| is_database(&blob)) {
        if columns.is_empty()
            && let Some(found) = stores::read(place)?
        {
            let (lines, note, stat) = (Arc::new(found.runs.lines), Some(found.runs.note), blob.stat()?);
            return Ok(Begun::Source(Source { failures: found.failures, ..own_lines(lines, note, stat) }));
        }
        let is_store = named || answers::is_store(place);
        if is_store && !columns.is_empty() {
            return Err(Failure::own("cannot read", blob.name(), NO_TABLE));
        }
        return Ok(if is_store {
            Begun::Answers(AnswerStore::of_database(place))
        } else {
            Begun::PassedOver(PassedOver::Other)
        });
    }
    if named && let Some(source) = page::begin(&blob, cache)? {
        return Ok(Begun::Source(source));
    }
    if !named && blob.place().is_some_and(|place| has_extension(place.path(), &["html", "htm"])) && page::is_one(&blob)
    {
        return Ok(Begun::PassedOver(PassedOver::Page));
    }
    // A journal of reviews lies beside the records that it is about.
    if !named && begins_as_journal(&blob) {
        return Ok(Begun::PassedOver(PassedOver::Other));
    }
    if matches!(input, Input::Found(at) | Input::Beside(at) if is_description(at.path(), &blob)) {
        return Ok(Begun::PassedOver(PassedOver::Other));
    }
    let documents = match input {
        Input::Sample(_) => Documents::of_samples(cache.clone()),
        _ => match input.place() {
            Some(place) => Documents::beside(cache.clone(), &place),
            None => Documents::nowhere(cache.clone()),
        },
    };
    let found = matches!(input, Input::Found(at) | Input::Beside(at) if !claims_json(at.path()));
    // What a store's own tables lack is said of the store.
    let stores_own = found && matches!(input, Input::Beside(_)) && is_table(&blob);
    let passed_over = if found { why_passed_over(&blob)? } else { PassedOver::Other };
    let source = match recognise(blob, found, columns) {
        Err(_) if stores_own => None,
        recognised => recognised?,
    };
    let source = source.filter(|source| match input {
        Input::Beside(_) => holds_known(source),
        Input::Found(_) => !holds_document(source),
        _ => true,
    });
    Ok(source.map_or(Begun::PassedOver(passed_over), |source| Begun::Source(source.citing(documents))))
}

fn is_database(blob: &Blob) -> bool {
    let mut head = Vec::new();
    blob.read(0, SQLITE.len(), &mut head).is_ok() && head == SQLITE
}

fn is_table(blob: &Blob) -> bool {
    let mut head = Vec::new();
    blob.read(0, BLOCK, &mut head).is_ok() && begins_table(&head)
}

fn begins_table(head: &[u8]) -> bool {
    begins_typed(head) || csv::separator(head).is_some()
}

/// Tells whether any of the values at the beginning of a source is of a known format.
fn holds_known(source: &Source) -> bool {
    first_values(source, HEAD_VALUES, |_, root| root.is_some_and(is_known))
}

/// Tells whether a source is the lines of a document that answers cite, and no records.
fn holds_document(source: &Source) -> bool {
    first_values(source, 1, |text, root| match root {
        Some(root) => is_document(root) && !is_known(root),
        // It goes on behind the beginning.
        None => [b"{".as_slice(), b"\"lines\"", b":", b"["]
            .iter()
            .try_fold(text, |rest, next| rest.trim_ascii_start().strip_prefix(*next))
            .is_some(),
    })
}

fn is_known(root: Value<'_>) -> bool {
    formats::read(root).kind != RecordKind::Unknown
}

/// Tells whether a value is a document, or one of its lines.
fn is_document(root: Value<'_>) -> bool {
    let is_line = |value: Value<'_>| {
        value.get("text").is_some_and(|text| text.kind() == Kind::String)
            && ["line_num", "page_num"].iter().any(|key| value.get(key).is_some())
    };
    is_line(root) || root.get("lines").and_then(|lines| lines.items().next()).is_some_and(is_line)
}

/// Tells whether something holds for any of so many values at the beginning of a source; `None`: it cannot be read, or is
/// longer than the beginning.
fn first_values(source: &Source, most: usize, holds: impl Fn(&[u8], Option<Value<'_>>) -> bool) -> bool {
    let (mut head, mut cuts, mut tape) = (Vec::new(), Vec::new(), Tape::default());
    if source.blob.read(0, BLOCK, &mut head).is_err() {
        return false;
    }
    cut(source.layout, &mut State::default(), &head, head.len() < BLOCK, &mut cuts, &mut Skips::default());
    if cuts.is_empty() {
        return holds(without_filler(&head), None);
    }
    cuts.iter().take(most).any(|cut| {
        let text = &head[cut.range.clone()];
        holds(text, tape.parse(text))
    })
}

/// Reads a store to its end and recognises what came.
pub(crate) fn begin_answers(store: &AnswerStore, cache: &Arc<DocumentCache>) -> (Option<Source>, StoreReport) {
    let begun = or_failure(&Shown::path(store.path()), || Ok(begun_answers(store, cache)));
    begun.unwrap_or_else(|failure| (None, StoreReport { failures: vec![failure], ..StoreReport::default() }))
}

fn begun_answers(store: &AnswerStore, cache: &Arc<DocumentCache>) -> (Option<Source>, StoreReport) {
    let documents = Documents::of_store(cache.clone(), Arc::new(StoreDocuments::new(store.clone())));
    let name = Shown::path(store.path());
    let mut report = StoreReport::default();
    for _ in 0..TRIES {
        let blob = match Blob::in_memory(name.clone()) {
            Ok(blob) => blob,
            Err(failure) => return (None, StoreReport { failures: vec![failure], ..StoreReport::default() }),
        };
        let mut spool = LineBuffer::new(&blob);
        report = answers::read(store, &mut |line| {
            spool.push(line);
            spool.failure.is_none()
        });
        spool.hand_over();
        report.failures.extend(spool.failure.take());
        let nothing = spool.is_empty() && !report.failures.is_empty();
        if !report.changed {
            return match blob.stat() {
                Ok(_) if nothing => (None, report),
                Ok(stat) => (Some(own_lines(Arc::new(blob), None, stat).citing(documents)), report),
                Err(failure) => (None, StoreReport { failures: vec![failure], ..StoreReport::default() }),
            };
        }
    }
    let why = "another program keeps changing it; copy it, or wait until that is done";
    report.failures = vec![Failure::own("cannot read", &name, why)];
    (None, report)
}

fn begins_as_journal(blob: &Blob) -> bool {
    let mut head = Vec::new();
    let begins = blob.read(0, log_line::BEGIN.len(), &mut head).is_ok() && head == log_line::BEGIN;
    begins && blob.read(0, BLOCK, &mut head).is_ok() && is_journal(&head)
}

/// Tells whether a file in a folder says by its name that it is JSON: then it is not passed over in silence, whatever
/// it holds.
fn claims_json(path: &Path) -> bool {
    has_extension(path, &["json", "jsonl", "ndjson"])
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| known.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Says what a file in a folder is that is not read: packed records are not passed over in silence, nor what was not
/// fetched.
fn why_passed_over(blob: &Blob) -> Result<PassedOver, Failure> {
    const NEITHER: &str = "its name says that it is packed JSON, and it is not";
    let mut head = Vec::new();
    blob.read(0, HEAD_BYTES, &mut head)?;
    let is_packed = blob.place().is_some_and(|place| claims_packed(place.path()));
    Ok(match not_records(&head) {
        Some(why) if is_packed || head.starts_with(LFS) => PassedOver::Unread(why),
        None if is_packed => PassedOver::Unread(NEITHER),
        _ => PassedOver::Other,
    })
}

/// Tells whether a file says by its name that it is packed JSON, or a log of Inspect, which is packed too.
fn claims_packed(path: &Path) -> bool {
    let packs_json = || path.file_stem().is_some_and(|stem| claims_json(Path::new(stem)));
    has_extension(path, &["eval"]) || has_extension(path, &["gz", "zst", "xz", "bz2", "zip"]) && packs_json()
}

/// Recognises a pipe by its beginning. It is read once, as it comes: memory does not grow with it. An empty one is a
/// source without records, like an empty file.
pub(crate) fn begin_pipe(
    pipe: File,
    name: &Shown,
    cache: &Arc<DocumentCache>,
    columns: &ColumnMap,
) -> Result<Source, Failure> {
    or_failure(name, || begun_pipe(pipe, name, cache, columns))
}

fn begun_pipe(
    mut pipe: File,
    name: &Shown,
    cache: &Arc<DocumentCache>,
    columns: &ColumnMap,
) -> Result<Source, Failure> {
    let fail = |error| Failure { what: "cannot read", path: name.clone(), source: reason(&error) };
    let stat = Stat::of_pipe(&pipe).map_err(fail)?;
    await_writer(&pipe);
    let mut head = Vec::new();
    (&mut pipe).take(BLOCK as u64).read_to_end(&mut head).map_err(fail)?;
    refuse_columns(&head, columns, name)?;
    let source = if decode_wide(&head).is_some()
        || may_be_notebook(&head)
        || begins_table(&head)
        || may_be_mapped(&head, columns)
    {
        // They are turned into lines, and that can be done only when all of it is there.
        let blob = Blob::in_memory(name.clone())?;
        spool(head.as_slice().chain(pipe), &blob, |_| true)?;
        recognise(blob, false, columns)?
            .ok_or_else(|| Failure::own("cannot read", name, "it does not look like JSON"))?
    } else if let Some(why) = not_records(&head) {
        return Err(Failure::own("cannot read", name, why));
    } else {
        let blob = Blob::passing(name.clone(), pipe, head.clone())?;
        source(Arc::new(blob), &head, false, stat)?
    };
    Ok(source.citing(Documents::nowhere(cache.clone())))
}

/// Reason given where something without columns was named along with columns.
const NO_TABLE: &str = "columns were named, and it is no table; leave out --columns, or name a Parquet or Arrow file";

/// Fails if columns were named for what begins like this, and it is no table.
fn refuse_columns(head: &[u8], columns: &ColumnMap, name: &Shown) -> Result<(), Failure> {
    if columns.is_empty() || begins_table(head) {
        return Ok(());
    }
    Err(Failure::own("cannot read", name, not_records(head).unwrap_or(NO_TABLE)))
}

/// Recognises bytes by their first block. `found`: no person named them, so only what looks like JSON counts.
pub fn recognise(blob: Blob, found: bool, columns: &ColumnMap) -> Result<Option<Source>, Failure> {
    let stat = blob.stat()?;
    let mut head = Vec::new();
    blob.read(0, BLOCK, &mut head)?;
    let is_wanted = !found || blob.place().is_some_and(|place| claims_packed(place.path()));
    if is_wanted && let Some(unpacked) = packed::unpacked(&blob, &head)? {
        // What is packed in it is read no deeper.
        let source = recognise(unpacked, found, columns)?;
        return Ok(source.map(|source| Source { stat, ..source }));
    }
    let is_table = begins_table(&head);
    if is_table && let Some(source) = table(&blob, stat, found, columns)? {
        return Ok(Some(source));
    }
    if !found {
        refuse_columns(&head, columns, blob.name())?;
    }
    if let Some(text) = decode_wide(&head).filter(|_| !begins_arrow(&head)) {
        return if found && !looks_like_json(&text) { Ok(None) } else { decoded(&blob, stat, columns).map(Some) };
    }
    if let Some(why) = not_records(&head) {
        return if found { Ok(None) } else { Err(Failure::own("cannot read", blob.name(), why)) };
    }
    if found && !looks_like_json(&head) {
        return Ok(None);
    }
    text(Arc::new(blob), &head, false, stat, columns).map(Some)
}

/// Makes a source whose beginning is known.
pub(crate) fn source(blob: Arc<Blob>, head: &[u8], decoded: bool, stat: Stat) -> Result<Source, Failure> {
    let layout = layout_of(&blob, head)?;
    Ok(Source { blob, layout, decoded, note: None, stat, documents: None, failures: Vec::new() })
}

/// Makes a source of lines that the program wrote itself.
fn own_lines(blob: Arc<Blob>, note: Option<Shown>, stat: Stat) -> Source {
    Source { blob, layout: Layout::Lines(b'\n'), decoded: true, note, stat, documents: None, failures: Vec::new() }
}

/// Tells the layout by the first block, or by as much more as its first lines need, up to the longest record.
fn layout_of(blob: &Blob, head: &[u8]) -> Result<Layout, Failure> {
    let mut told = Layout::of(head, head.len() < BLOCK);
    let (mut size, mut longer) = (BLOCK, Vec::new());
    while told.is_none() && size < MAX_TEXT {
        size *= 2;
        blob.read(0, size, &mut longer)?;
        told = Layout::of(&longer, longer.len() < size);
    }
    // A document that is longer than that is not read either.
    Ok(told.unwrap_or(Layout::Lines(b'\n')))
}

/// Reads the records of a table, if its rows are records: places are those of their lines. One in a folder that cannot
/// be read is reported: it may be a shard.
fn table(blob: &Blob, stat: Stat, found: bool, columns: &ColumnMap) -> Result<Option<Source>, Failure> {
    let Some(rows) = rows::read(blob, columns, found)? else { return Ok(None) };
    let (lines, mut head) = (Arc::new(rows.lines), Vec::new());
    lines.read(0, BLOCK, &mut head)?;
    Ok(Some(match by_map(&lines, &head, columns)? {
        Some(mapped) => own_lines(Arc::new(mapped.lines), Some(mapped.note), stat),
        None => own_lines(lines, rows.note, stat),
    }))
}

/// Makes a source of text that was read as UTF-8, or `decoded`. The places of a notebook's records are those of their
/// lines; one without records stays as it is.
fn text(blob: Arc<Blob>, head: &[u8], decoded: bool, stat: Stat, columns: &ColumnMap) -> Result<Source, Failure> {
    if let Some(gathered) = gathered(&blob, head, columns)? {
        return Ok(own_lines(Arc::new(gathered.lines), Some(gathered.note), stat));
    }
    if let Some(mapped) = by_map(&blob, head, columns)? {
        return Ok(own_lines(Arc::new(mapped.lines), Some(mapped.note), stat));
    }
    let Some(notebook) = notebook(&blob, head)? else { return source(blob, head, decoded, stat) };
    let note = said_of(&notebook);
    if notebook.records == 0 {
        return Ok(Source { note: note.filter(|_| notebook.unread > 0), ..source(blob, head, decoded, stat)? });
    }
    let lines = Blob::of_bytes(blob.name().clone(), &notebook.lines)?;
    Ok(own_lines(Arc::new(lines), note, stat))
}

/// Reads records that lie over several lines or files, if the first value is a part of one and no map was named.
fn gathered(blob: &Arc<Blob>, head: &[u8], columns: &ColumnMap) -> Result<Option<GatheredLines>, Failure> {
    if columns.row_map().is_some() || !may_be_gathered(head) {
        return Ok(None);
    }
    let is_all = blob.len()? <= head.len() as u64;
    let (mut tape, mut text) = (Tape::default(), Vec::new());
    let mut gatherer = first_of(head, is_all, &mut tape).map(gatherer_of);
    if gatherer.is_none() {
        // Its first value is longer than that.
        blob.read(0, MAX_TEXT, &mut text)?;
        gatherer = first_of(&text, blob.len()? <= text.len() as u64, &mut tape).map(gatherer_of);
    }
    let Some(gatherer) = gatherer.flatten() else { return Ok(None) };
    let layout = layout_of(blob, head)?;
    match guarded(|| gatherer.read(blob, layout, columns.named())) {
        Some(read) => read.map(Some),
        None => Err(Failure::own("cannot read", blob.name(), "its parts cannot be put together")),
    }
}

/// Reads the rows of another program by their map, if its first one has one.
fn by_map(blob: &Arc<Blob>, head: &[u8], columns: &ColumnMap) -> Result<Option<Mapped>, Failure> {
    let is_all = blob.len()? <= head.len() as u64;
    let found = guarded(|| {
        let mut tape = Tape::default();
        if let Some(root) = first_of(head, is_all, &mut tape) {
            // What is of a format of its own needs no map, unless a person names one.
            return if columns.row_map().is_none() && is_known(root) {
                None
            } else {
                maps::map_of(root, columns.row_map())
            };
        }
        let mut text = Vec::new();
        let is_whole = maps::may_hold_rows(head)
            && blob.len().is_ok_and(|len| len <= MAX_TEXT as u64)
            && blob.read(0, MAX_TEXT, &mut text).is_ok();
        is_whole.then(|| maps::map_of(tape.parse(without_filler(&text))?, columns.row_map())).flatten()
    });
    match found.flatten() {
        Some(map) => maps::read(blob, layout_of(blob, head)?, map).map(Some),
        None if columns.row_map().is_some() => {
            const OTHER: &str = "its first row lacks what the map asks for under match";
            Err(Failure::own("cannot read", blob.name(), OTHER))
        }
        None => Ok(None),
    }
}

/// Tells whether what comes through a pipe may be rows of another program.
fn may_be_mapped(head: &[u8], columns: &ColumnMap) -> bool {
    let mut tape = Tape::default();
    columns.row_map().is_some()
        || match first_of(head, head.len() < BLOCK, &mut tape) {
            Some(root) => gatherer_of(root).is_some() || !is_known(root) && maps::map_of(root, None).is_some(),
            None => maps::may_hold_rows(head) || may_be_gathered(head),
        }
}

/// Returns the first value of what begins like this; of a list its first item.
fn first_of<'t>(head: &'t [u8], is_all: bool, tape: &'t mut Tape) -> Option<Value<'t>> {
    let mut cuts = Vec::new();
    let layout = Layout::of(head, is_all)?;
    cut(layout, &mut State::default(), head, is_all, &mut cuts, &mut Skips::default());
    tape.parse(head.get(cuts.first()?.range.clone())?)
}

/// Reads a notebook, if it is one.
fn notebook(blob: &Blob, head: &[u8]) -> Result<Option<Notebook>, Failure> {
    let len = blob.len()?;
    if !may_be_notebook(head) || len > MAX_TEXT as u64 {
        return Ok(None);
    }
    let (mut text, mut tape) = (Vec::new(), Tape::default());
    blob.read(0, len as usize, &mut text)?;
    let read = guarded(|| tape.parse(without_filler(&text)).filter(|root| is_notebook(*root)).map(Notebook::read));
    Ok(read.flatten())
}

/// Names the parts of a notebook that hold no records, or too many.
fn said_of(notebook: &Notebook) -> Option<Shown> {
    const NAMED: usize = 5;
    let named = notebook.others.iter().take(NAMED).map(Shown::as_str).collect::<Vec<_>>().join("; ");
    let more = notebook.others.len().saturating_sub(NAMED) + notebook.more_others;
    let rest = if more > 0 { shown!("; and {more} more") } else { Shown::default() };
    let found = match notebook.records {
        0 => shown!("no record"),
        1 => shown!("1 record"),
        count => shown!("{count} records"),
    };
    let others = (!notebook.others.is_empty())
        .then(|| Shown::own(" read from its outputs; not read: ").join(&Shown::line(named.as_bytes())).join(&rest));
    let left_out = notebook.left_out;
    let too_many =
        (left_out > 0).then(|| shown!(" read from its outputs; {left_out} more exceed the limit of a notebook"));
    Some(found.join(&too_many.or(others)?))
}

/// Tells whether a document begins as a notebook does: with one of the four keys that it has.
fn may_be_notebook(head: &[u8]) -> bool {
    let text = without_filler(head);
    let Some(key) = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start) else { return false };
    let keys: [&[u8]; 6] = [
        b"\"cells\"",
        b"\"metadata\"",
        b"\"nbformat\"",
        b"\"nbformat_minor\"",
        b"\"worksheets\"",
        b"\"orig_nbformat\"",
    ];
    keys.iter().any(|known| key.starts_with(known))
}

/// Recognises what has come through a pipe so far; `None`: it is too early to tell.
pub(crate) fn recognise_pipe(blob: &Arc<Blob>, ended: bool, columns: &ColumnMap) -> Result<Option<Source>, Failure> {
    or_failure(blob.name(), || recognised(blob, ended, columns))
}

fn recognised(blob: &Arc<Blob>, ended: bool, columns: &ColumnMap) -> Result<Option<Source>, Failure> {
    let stat = blob.stat()?;
    let mut head = Vec::new();
    blob.read(0, BLOCK, &mut head)?;
    if head.len() < 8 && !ended {
        return Ok(None);
    }
    let is_table = begins_table(&head);
    if is_table && !ended {
        return Ok(None);
    }
    if is_table && let Some(source) = table(blob, stat, false, columns)? {
        return Ok(Some(source));
    }
    refuse_columns(&head, columns, blob.name())?;
    if decode_wide(&head).is_some() {
        return if ended { decoded(blob, stat, columns).map(Some) } else { Ok(None) };
    }
    if let Some(why) = not_records(&head) {
        return Err(Failure::own("cannot read", blob.name(), why));
    }
    let is_notebook = || Ok::<_, Failure>(may_be_notebook(&head) && layout_of(blob, &head)? == Layout::Values);
    if !ended && (may_be_mapped(&head, columns) || is_notebook()?) {
        return Ok(None);
    }
    text(blob.clone(), &head, false, stat, columns).map(Some)
}

fn decoded(blob: &Blob, stat: Stat, columns: &ColumnMap) -> Result<Source, Failure> {
    const WHY: &str = "this is UTF-16 or UTF-32 and larger than 64 MB; convert it to UTF-8 first: iconv -t UTF-8";
    let len = blob.len()?;
    if len > MAX_WIDE {
        return Err(Failure::own("cannot read", blob.name(), WHY));
    }
    let mut wide = Vec::new();
    blob.read(0, len as usize, &mut wide)?;
    let utf8 = decode_wide(&wide).unwrap_or_default();
    let head = &utf8[..utf8.len().min(BLOCK)];
    text(Arc::new(Blob::of_bytes(blob.name().clone(), &utf8)?), head, true, stat, columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::block::{Block, Cursor, Want};

    #[test]
    fn folders_are_searched_in_order_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["b/2.jsonl", "b/10.jsonl", "a.json", ".hidden.json", ".git/x.json", "z.txt", "notes.md"] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            let text = if name == "notes.md" { "# notes" } else { "{\"a\": 1}\n" };
            std::fs::write(at(name), text).unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), at("b/loop")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("b/dangling")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("b/pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let inputs: Vec<Input> = expand(&[dir.path().into(), "-".into(), at("nowhere")]).map(Result::unwrap).collect();
        let root = UnderRoot::root(dir.path()).unwrap();
        let names =
            ["a.json", "b/10.jsonl", "b/2.jsonl", "notes.md", "z.txt"].map(|name| Input::Found(root.join(name)));
        assert_eq!(inputs[..5], names);
        assert_eq!(inputs[5..], [Input::Standard, Input::Named(at("nowhere"))]);
        assert!(matches!(begin(&inputs[0], &Arc::default(), &ColumnMap::default()), Ok(Begun::Source(_))));
        assert!(
            matches!(
                begin(&inputs[3], &Arc::default(), &ColumnMap::default()),
                Ok(Begun::PassedOver(PassedOver::Other))
            ),
            "prose is no record"
        );
        assert!(
            matches!(begin(&inputs[4], &Arc::default(), &ColumnMap::default()), Ok(Begun::Source(_))),
            "told by content, not by name"
        );
        assert!(begin(&inputs[6], &Arc::default(), &ColumnMap::default()).is_err());
        assert!(
            begin(&Input::Found(root.join("gone.jsonl")), &Arc::default(), &ColumnMap::default()).is_err(),
            "records that cannot be read are said"
        );
        assert!(matches!(
            begin(&Input::Found(root.join("gone")), &Arc::default(), &ColumnMap::default()),
            Ok(Begun::PassedOver(PassedOver::Other))
        ));
    }

    #[test]
    fn documents_are_no_records_where_nobody_named_them() {
        let dir = tempfile::tempdir().unwrap();
        let line = r#"{"page_num": 1, "line_num": 1, "text": "a"}"#;
        let many = vec![line; 10_000].join(", ");
        let columns = ColumnMap::default();
        for (name, text, is_document) in [
            ("a.json", format!(r#"{{"lines": [{line}]}}"#), true),
            ("b.json", format!(r#"{{"doc_id": "b", "lines": [{line}]}}"#), true),
            ("c.json", format!("{{\n  \"lines\": [{many}]}}"), true),
            ("d.json", format!("[{line}, {line}]"), true),
            ("e.jsonl", format!("{line}\n{line}\n"), true),
            (
                "f.json",
                format!(r#"{{"question": "?", "document": {{"lines": [{line}]}}, "answer": {{"items": []}}}}"#),
                false,
            ),
            ("g.json", r#"{"lines": 3}"#.to_owned(), false),
        ] {
            std::fs::write(dir.path().join(name), text).unwrap();
            let found = Input::Found(UnderRoot::root(dir.path()).unwrap().join(name));
            let begun = begin(&found, &Arc::default(), &columns).unwrap();
            assert_eq!(matches!(begun, Begun::PassedOver(PassedOver::Other)), is_document, "{name}");
            let named = begin(&Input::Named(dir.path().join(name)), &Arc::default(), &columns);
            assert!(matches!(named, Ok(Begun::Source(_))), "{name}");
        }
    }

    #[test]
    fn what_a_dataset_says_of_itself_is_passed_over_where_nobody_named_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        std::fs::write(&path, r#"{"_data_files": [], "_fingerprint": "4"}"#).unwrap();
        let found = || Input::Found(UnderRoot::root(dir.path()).unwrap().join("state.json"));
        let columns = ColumnMap::new(&[("question".to_owned(), "prompt".to_owned())]);
        for columns in [&ColumnMap::default(), &columns] {
            assert!(matches!(begin(&found(), &Arc::default(), columns), Ok(Begun::PassedOver(PassedOver::Other))));
        }
        assert!(matches!(
            begin(&Input::Named(path.clone()), &Arc::default(), &ColumnMap::default()),
            Ok(Begun::Source(_))
        ));
        std::fs::write(&path, r#"{"id": 1, "question": "?", "state": {}}"#).unwrap();
        assert!(matches!(begin(&found(), &Arc::default(), &ColumnMap::default()), Ok(Begun::Source(_))));
        assert!(begin(&found(), &Arc::default(), &columns).is_err(), "a record that is left out is told");
    }

    #[test]
    fn files_of_forks_come_last_and_only_where_they_are_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a.jsonl", "a.jsonl.forks.jsonl", "b.jsonl", "gone.jsonl.forks.jsonl", "mine"] {
            std::fs::write(at(name), "{}\n").unwrap();
        }
        let all = |inputs: Expand| inputs.map(Result::unwrap).collect::<Vec<_>>();
        let folder = || expand(&[dir.path().into()]);
        let root = UnderRoot::root(dir.path()).unwrap();
        let found = ["a.jsonl", "b.jsonl", "mine"].map(|name| Input::Found(root.join(name)));
        assert_eq!(all(folder()), found, "what is checked");
        let forks = ["a.jsonl.forks.jsonl", "gone.jsonl.forks.jsonl"];
        let forks = forks.map(|name| Input::Forks(root.join(name).into()));
        assert_eq!(all(folder().with_forks(None)), [&found[..], &forks[..]].concat());
        let named = || expand(&[at("a.jsonl")]);
        let own = [Input::Named(at("a.jsonl")), Input::Forks(Place::Named(at("a.jsonl")).beside(FORKS_SUFFIX))];
        assert_eq!(all(named().with_forks(None)), own);
        let also = [&own[..], &[Input::Forks((&at("mine")).into())]].concat();
        assert_eq!(all(named().with_forks(Some(&at("mine")))), also);
        assert_eq!(all(expand(&[at("a.jsonl.forks.jsonl")])), [Input::Named(at("a.jsonl.forks.jsonl"))], "named");
    }

    #[test]
    fn wide_files_are_decoded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("wide.jsonl");
        let wide: Vec<u8> = "\u{feff}{\"a\": 1}\n{\"a\": 2}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        std::fs::write(&path, wide).unwrap();
        let Begun::Source(source) = begin(&Input::Named(path), &Arc::default(), &ColumnMap::default()).unwrap() else {
            panic!("not a source")
        };
        assert_eq!((source.layout, source.decoded, source.blob.len()), (Layout::Lines(b'\n'), true, Ok(18)));
    }

    #[test]
    fn a_notebook_is_read_in_any_encoding_and_from_a_pipe() {
        let record = r#"{\"question\": \"2 + 3?\", \"steps\": [\"2 + 3 = 5\"], \"answer\": 5}"#;
        let outputs = format!(r#"[{{"output_type": "stream", "name": "stdout", "text": "{record}"}}]"#);
        let text = format!("{{\n\"cells\": [{{\"outputs\": {outputs}}}],\n\"nbformat\": 4\n}}");
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [text.as_bytes(), &wide] {
            let blob = || Blob::of_bytes(Shown::own("n.ipynb"), bytes).unwrap();
            let read = recognise(blob(), false, &ColumnMap::default()).unwrap().unwrap();
            let piped = Arc::new(blob());
            assert!(recognise_pipe(&piped, false, &ColumnMap::default()).unwrap().is_none(), "it may go on");
            let piped = recognise_pipe(&piped, true, &ColumnMap::default()).unwrap().unwrap();
            assert_eq!((holds_known(&read), holds_known(&piped)), (true, true));
        }
    }

    #[test]
    fn what_a_folder_holds_and_is_not_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let root = UnderRoot::root(dir.path()).unwrap();
        let page: &[u8] = stepscope_report::page::carried::BEGIN;
        let bzip = PassedOver::Unread("this is bzip2; unpack it first: bunzip2");
        let pointer = [LFS, b"v1\noid sha256:0\nsize 12\n"].concat();
        let fetch = PassedOver::Unread("this is a Git LFS pointer, not the file itself; fetch it first: git lfs pull");
        let neither = PassedOver::Unread("its name says that it is packed JSON, and it is not");
        for (name, bytes, expected) in [
            ("runs.jsonl.bz2", &b"BZh91AY"[..], bzip),
            ("runs.jsonl.zst", b"words", neither),
            ("weights.gz", b"\x1f\x8b\x08\0", PassedOver::Other),
            ("log.eval", b"PK\x03\x04", PassedOver::Unread("this is a zip archive; unpack it first: unzip")),
            ("a.parquet", &pointer, fetch),
            ("page.html", page, PassedOver::Page),
            ("other.html", b"<html>", PassedOver::Other),
        ] {
            std::fs::write(dir.path().join(name), bytes).unwrap();
            let begun = begin(&Input::Found(root.join(name)), &Arc::default(), &ColumnMap::default());
            assert!(matches!(begun, Ok(Begun::PassedOver(why)) if why == expected), "{name}: {begun:?}");
        }
    }

    #[test]
    fn a_long_first_line_hides_none_of_the_others() {
        let (lines, values) = (Layout::Lines(b'\n'), Layout::Values);
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(3 * BLOCK));
        let (cut, good) = (&long[..2 * BLOCK], "{\"a\": 1}\n{\"a\": 2}\n");
        let dir = tempfile::tempdir().unwrap();
        for (text, layout, records) in [
            (format!("{long}\n{good}"), lines, 3),
            (format!("{long}\n{{\"a\":\n{good}"), lines, 4),
            (format!("{cut}\n{good}"), lines, 3),
            (format!("{{\"a\": 1, \"b\n{long}\n{good}"), lines, 4),
            (format!("{{\"a\": !\n{long}\n{good}"), lines, 4),
            (format!("{cut}\n{long}\n{good}"), lines, 4),
            (long.clone(), lines, 1),
            (format!("{long}{long}"), values, 2),
            (format!("{},\n\"b\": 1\n}}\n", long.trim_end_matches('}')), values, 1),
            (format!("[{long},{long}]"), values, 2),
            (format!("{{\n \"a\": [\n  {long}\n ]\n}}\n"), values, 1),
        ] {
            let path = dir.path().join("t.jsonl");
            std::fs::write(&path, &text).unwrap();
            let read = begin(&Input::Named(path.clone()), &Arc::default(), &ColumnMap::default()).unwrap();
            let Begun::Source(read) = read else { panic!("not a source") };
            let (name, columns) = (Shown::own("pipe"), ColumnMap::default());
            let piped = begin_pipe(File::open(path).unwrap(), &name, &Arc::default(), &columns).unwrap();
            for source in [read, piped] {
                let (mut cursor, mut block) = (Cursor::new(source.blob, source.layout), Block::default());
                while cursor.next(&mut block, u64::MAX, Want::Places).unwrap() {}
                let begin = &text[..20];
                assert_eq!((source.layout, cursor.index), (layout, records), "{begin}… {}", text.len());
            }
        }
    }

    #[test]
    fn packed_records_and_rows_of_others_open() {
        let dir = tempfile::tempdir().unwrap();
        let root = UnderRoot::root(dir.path()).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, b"{\"prompt\": \"?\", \"response\": \"x\"}\n").unwrap();
        for (name, bytes, lines) in [
            ("runs.jsonl.gz", gzip.finish().unwrap(), 1),
            ("table.csv", b"prompt,response\n2 + 3?,5\n\"a, b\nc\",\n".to_vec(), 2),
            ("verl.csv", b"input,output,gts,score\n?,#### 9,200,0.0\n".to_vec(), 1),
            ("5.jsonl", b"{\"input\": \"?\", \"output\": \"9\", \"gts\": \"9\", \"score\": 1.0}\n".to_vec(), 1),
        ] {
            std::fs::write(dir.path().join(name), bytes).unwrap();
            let Ok(Begun::Source(source)) =
                begin(&Input::Found(root.join(name)), &Arc::default(), &ColumnMap::default())
            else {
                panic!("{name} is no source")
            };
            assert!(holds_known(&source), "{name}");
            let (mut cursor, mut block) = (Cursor::new(source.blob, source.layout), Block::default());
            while cursor.next(&mut block, u64::MAX, Want::Places).unwrap() {}
            assert_eq!(cursor.index, lines, "{name}");
        }
    }

    #[test]
    fn a_map_that_does_not_fit_is_an_error_and_one_that_is_named_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.jsonl");
        std::fs::write(
            dir.path().join("m.toml"),
            "name = 'mine'\nmatch = ['$.in']\n[record]\nprompt = '$.in'\nresponse = '$.out'",
        )
        .unwrap();
        let columns = ColumnMap::default().with_map(maps::RowMap::read(&dir.path().join("m.toml")).unwrap());
        std::fs::write(&path, "{\"in\": \"?\", \"out\": \"x\"}\n").unwrap();
        let begun = begin(&Input::Named(path.clone()), &Arc::default(), &columns);
        assert!(matches!(&begun, Ok(Begun::Source(source)) if holds_known(source)), "{begun:?}");
        std::fs::write(&path, "{\"other\": \"?\"}\n").unwrap();
        let failure = begin(&Input::Named(path), &Arc::default(), &columns).unwrap_err().to_string();
        assert!(failure.contains("its first row lacks what the map asks for"), "{failure}");
    }

    #[test]
    fn what_is_packed_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.jsonl");
        std::fs::write(&path, b"BZh91AY").unwrap();
        let failure = begin(&Input::Named(path), &Arc::default(), &ColumnMap::default()).unwrap_err().to_string();
        assert!(failure.ends_with("runs.jsonl: this is bzip2; unpack it first: bunzip2"), "{failure}");
    }
}
