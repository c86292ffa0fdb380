//! Stores of typed answers: what a pipeline left on disk, as lines of JSON.
//!
//! A store is a docintel folder, a `storage.sqlite`, or a root that holds both: then each answer comes once, from its
//! folder, and the database adds what the folders lack. The lines are made while they are read, so that the first are
//! there at once; texts of retrieved pages are left out, and documents are loaded when they are asked for.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::failure::Failure;
use super::open::{Blob, MAX_SPOOL, Opened, open};
use super::sqlite::{self, Database};
use crate::domain::document::Document;
use crate::domain::json::Tape;
use crate::domain::text::Shown;

mod database;
pub(crate) mod folder;
mod line;

use database::{Found as Row, Rows, question_key};
use folder::{Found, Shape, Walk};
use line::Asked;

/// The database of a root.
const DATABASE: &str = "storage.sqlite";
/// A root is looked for so far above the folder that was named.
const MAX_ABOVE: usize = 8;
/// Lines are handed over in pieces of this size, or when so much time has passed.
const PIECE: usize = 256 << 10;
const WAIT: Duration = Duration::from_millis(20);
/// Disks tell times no finer than this.
const GRAIN: Duration = Duration::from_millis(20);
/// The first lines are handed over at once.
const FIRST_PIECE: usize = 16 << 10;

/// Where a store lies, and what of it was asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AnswerStore {
    /// As it was named.
    path: PathBuf,
    /// The folder that the names of documents are relative to; `None`: a database alone.
    root: Option<PathBuf>,
    database: Option<PathBuf>,
    part: Part,
}

/// What of a store was asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Part {
    Whole,
    /// One document, by the name that it has in the store.
    Document(PathBuf),
    Question,
}

impl AnswerStore {
    /// A database alone.
    pub fn of_database(path: &Path) -> Self {
        Self { path: path.to_owned(), root: None, database: Some(path.to_owned()), part: Part::Whole }
    }

    fn whole(path: &Path, database: Option<PathBuf>) -> Self {
        Self { path: path.to_owned(), root: Some(path.to_owned()), database, part: Part::Whole }
    }

    /// The store that a folder is, or is a part of; `None`: it is none, though stores may lie below it.
    pub fn of_folder(path: &Path) -> Option<Self> {
        if is_root(path) {
            return Some(Self::whole(path, Some(path.join(DATABASE))));
        }
        let full = std::path::absolute(path).ok()?;
        let shape = folder::shape(&full)?;
        let document = match shape {
            Shape::Document => &full,
            Shape::Questions => full.parent()?,
            Shape::Question => full.parent()?.parent()?,
        };
        let root = root_above(document);
        let name = document.strip_prefix(&root).unwrap_or(document).to_owned();
        let part = if shape == Shape::Question { Part::Question } else { Part::Document(name) };
        let database = Some(root.join(DATABASE)).filter(|_| is_root(&root));
        Some(Self { path: path.to_owned(), root: Some(root), database, part })
    }

    /// A folder with documents somewhere below it, but without a database.
    pub fn of_root(path: &Path) -> Option<Self> {
        folder::holds_documents(path, is_root).then(|| Self::whole(path, None))
    }

    /// The store that a path leads to, if it does.
    pub fn of_named(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return Self::of_folder(path).or_else(|| Self::of_root(path));
        }
        let Ok(Opened::File(blob)) = open(path) else { return None };
        let mut head = Vec::new();
        blob.read(0, sqlite::MAGIC.len(), &mut head).ok()?;
        (head == sqlite::MAGIC).then(|| Self::of_database(path))
    }

    /// Whether it is a part of a store, and not its root.
    pub fn is_part(&self) -> bool {
        self.part != Part::Whole
    }

    /// `$DOCINTEL_OUTPUT_DIR`, else `~/.docintel/output`.
    pub fn usual_root() -> Option<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("DOCINTEL_OUTPUT_DIR").or_else(|| Some(set("HOME")?.join(".docintel/output")))
    }

    /// Its path, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its database, where it has one.
    pub fn database(&self) -> Option<&Path> {
        self.database.as_deref()
    }

    /// Where a question of it lies: the path that was named, and what of the question's folder goes beyond it.
    pub fn place(&self, folder: &[u8]) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        let Some(root) = &self.root else { return self.path.clone() };
        let full = root.join(OsStr::from_bytes(folder));
        let named = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let full = std::path::absolute(&full).unwrap_or(full);
        full.strip_prefix(&named).map_or_else(|_| full.clone(), |rest| joined(&self.path, rest))
    }

    /// Whether what a database has beyond the folders belongs to what was asked for.
    fn wants(&self, doc_id: Option<&[u8]>) -> bool {
        match &self.part {
            Part::Whole => true,
            Part::Document(name) => doc_id == Some(name.as_os_str().as_encoded_bytes()),
            Part::Question => false,
        }
    }
}

/// A path and what goes beyond it; without a trailing slash where nothing does.
fn joined(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}

/// Whether a folder below another store's root is a store of its own.
fn is_root(folder: &Path) -> bool {
    folder.join(DATABASE).is_file()
}

/// The root of the store that a document lies in: the next folder above it with a database, or the usual root; else as
/// the usual layout has it, two folders above.
fn root_above(document: &Path) -> PathBuf {
    let usual = AnswerStore::usual_root();
    let is_known = |folder: &&Path| is_root(folder) || usual.as_deref() == Some(folder);
    let mut above = document.ancestors().skip(1).take(MAX_ABOVE);
    let known = above.clone().find(is_known);
    known.or_else(|| above.nth(1)).or_else(|| document.parent()).unwrap_or(document).to_owned()
}

/// The names by which changes of a store are told: of its database and that one's log, and of the folder that is read.
pub fn changing(store: &AnswerStore) -> Vec<PathBuf> {
    let mut names = Vec::new();
    if let Some(path) = store.database.as_deref().and_then(|path| path.canonicalize().ok()) {
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        names.extend([path, log.into()]);
    }
    if store.root.is_some() {
        names.extend(store.path.canonicalize());
    }
    names
}

/// What is to be said of the reading of a store.
#[derive(Debug, Default)]
pub struct Report {
    /// What could not be read; the rest was.
    pub failures: Vec<Failure>,
    /// How the database was opened, where that matters.
    pub note: Option<Shown>,
    /// The database was changed while it was read: what came does not count.
    pub changed: bool,
    /// The folders in which something may change.
    pub folders: Vec<PathBuf>,
    /// When the reading began.
    pub begun: Option<SystemTime>,
}

/// Whether anything in a folder was written since then, as far as the clock of the disk tells.
pub fn has_changed(folder: &Path, since: SystemTime) -> bool {
    let since = since.checked_sub(GRAIN).unwrap_or(since);
    let is_new = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).is_ok_and(|at| at >= since);
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    is_new(folder) || entries.any(|entry| is_new(&entry.path()))
}

/// Reads a store. Every line goes to `each`; `false` ends it.
pub fn read(store: &AnswerStore, each: &mut dyn FnMut(&[u8]) -> bool) -> Report {
    let mut report = Report { begun: Some(SystemTime::now()), ..Report::default() };
    let opened = store.database.as_deref().map(sqlite::open).transpose();
    let database = opened.unwrap_or_else(|failure| {
        report.failures.push(failure);
        None
    });
    report.note = database.as_ref().and_then(|database| database.note.clone());
    let failed = |error: &rusqlite::Error| database.as_ref().map(|database| database.failure(error));
    let rows = database.as_ref().map(Rows::new).transpose().unwrap_or_else(|error| {
        report.failures.extend(failed(&error));
        None
    });
    let mut reading =
        Reading { store, rows, known: HashSet::new(), bare: Vec::new(), tape: Tape::default(), line: Vec::new(), each };
    let go_on = reading.folders(&mut report, &failed);
    if go_on {
        let errors = reading.database();
        report.failures.extend(errors.iter().filter_map(failed));
    }
    // Damage is found again in each table.
    report.failures.dedup();
    if let Some(database) = &database {
        if store.root.is_none() && database::is_store(database).is_ok_and(|is| !is) {
            const WHY: &str =
                "this SQLite database is no store of answers: it has no table answers, questions, lines or llm_calls";
            report.failures.push(Failure::own("cannot read", &Shown::path(&store.path), WHY));
        }
        report.changed = !database.is_current();
    }
    report
}

/// Whether a database is a store at all; one that cannot be read may be.
pub fn is_store(path: &Path) -> bool {
    sqlite::open(path).is_ok_and(|database| database::is_store(&database).unwrap_or(true))
}

struct Reading<'r, 'd> {
    store: &'r AnswerStore,
    rows: Option<Rows<'d>>,
    /// What came from folders.
    known: HashSet<u64>,
    /// Documents that no folder has a question to.
    bare: Vec<Vec<u8>>,
    tape: Tape,
    line: Vec<u8>,
    each: &'r mut dyn FnMut(&[u8]) -> bool,
}

impl Reading<'_, '_> {
    /// The folders of the store; `false`: nobody listens any more.
    fn folders(&mut self, report: &mut Report, failed: &dyn Fn(&rusqlite::Error) -> Option<Failure>) -> bool {
        let store = self.store;
        let Some(root) = &store.root else { return true };
        // Names are relative to the root, so both have to be told in the same way.
        let part = if store.part == Part::Whole { None } else { std::path::absolute(&store.path).ok() };
        let mut walk = Walk::new(root, is_root);
        let go_on = walk.run(part.as_deref().unwrap_or(&store.path), &mut |found| match found {
            Found::Question(mut asked) => {
                let filled = self.rows.as_mut().map_or(Ok(()), |rows| rows.fill(&mut asked));
                if let Err(error) = filled {
                    report.failures.extend(failed(&error));
                    // One sentence is enough.
                    self.rows = None;
                }
                let key = asked.key();
                self.known.extend([key, question_key(asked.question_id.as_deref())]);
                self.question(&asked)
            }
            Found::Document(doc_id, questions) => {
                if questions > 0 {
                    self.known.insert(database::hash(&[Some(&doc_id)]));
                } else {
                    self.bare.push(doc_id);
                }
                true
            }
            Found::Failed(failure) => {
                report.failures.push(failure);
                true
            }
        });
        report.folders = walk.folders;
        go_on
    }

    /// What the database has beyond that, and then the documents that nobody asked anything.
    fn database(&mut self) -> Vec<rusqlite::Error> {
        let (store, mut known) = (self.store, std::mem::take(&mut self.known));
        let mut told = HashSet::new();
        let errors = self.rows.take().map_or_else(Vec::new, |mut rows| {
            rows.run(&mut known, &mut |found| match found {
                Row::Question(asked) if store.wants(asked.doc_id.as_deref()) => {
                    told.insert(asked.doc_id.clone());
                    self.question(&asked)
                }
                Row::Document(doc_id) if store.wants(Some(&doc_id)) => {
                    told.insert(Some(doc_id.clone()));
                    self.document(doc_id)
                }
                Row::Call(call) if store.wants(None) => {
                    self.line.clear();
                    call.write(&mut self.line);
                    (self.each)(&self.line)
                }
                _ => true,
            })
        });
        for doc_id in std::mem::take(&mut self.bare) {
            if !told.contains(&Some(doc_id.clone())) && !self.document(doc_id) {
                break;
            }
        }
        errors
    }

    /// A document that was asked nothing.
    fn document(&mut self, doc_id: Vec<u8>) -> bool {
        self.question(&Asked { doc_id: Some(doc_id), ..Asked::default() })
    }

    fn question(&mut self, asked: &Asked) -> bool {
        self.line.clear();
        asked.write(&mut self.tape, &mut self.line);
        (self.each)(&self.line)
    }
}

impl Asked {
    /// A number for this question to this document that hardly any other has.
    fn key(&self) -> u64 {
        database::hash(&[self.doc_id.as_deref(), self.question_id.as_deref()])
    }
}

/// Lines on their way into a blob, in pieces.
#[derive(Debug)]
pub struct Spool<'b> {
    blob: &'b Blob,
    at: u64,
    piece: Vec<u8>,
    last: Instant,
    /// Why the rest is not kept.
    pub failure: Option<Failure>,
}

impl<'b> Spool<'b> {
    /// Appends to a blob in memory.
    pub fn new(blob: &'b Blob) -> Self {
        Self { blob, at: blob.len().unwrap_or(0), piece: Vec::new(), last: Instant::now(), failure: None }
    }

    /// Takes a line; whether what has come was handed over. After a failure nothing more is taken.
    pub fn push(&mut self, line: &[u8]) -> bool {
        self.piece.extend_from_slice(line);
        let size = if self.at == 0 { FIRST_PIECE } else { PIECE };
        (self.piece.len() >= size || self.last.elapsed() >= WAIT) && self.hand_over()
    }

    /// Hands over what is left; whether there was anything.
    pub fn hand_over(&mut self) -> bool {
        self.last = Instant::now();
        if self.piece.is_empty() || self.failure.is_some() {
            return false;
        }
        let end = self.at + self.piece.len() as u64;
        if end > MAX_SPOOL {
            let why = "it holds more than 1 GB of answers; open the folder of one of its documents";
            self.failure = Some(Failure::own("cannot read all of", self.blob.name(), why));
        } else if let Err(failure) = self.blob.append(&self.piece, self.at) {
            self.failure = Some(failure);
        } else {
            self.at = end;
        }
        self.piece.clear();
        self.failure.is_none()
    }

    /// How many bytes have been handed over.
    pub const fn len(&self) -> u64 {
        self.at
    }

    /// Whether nothing has been handed over yet.
    pub const fn is_empty(&self) -> bool {
        self.at == 0
    }
}

/// The documents of a store, loaded one by one.
#[derive(Debug)]
pub struct Shelf {
    store: AnswerStore,
    /// Opened when the first document is wanted.
    database: Mutex<Option<Database>>,
}

impl Shelf {
    /// The documents of a store.
    pub const fn new(store: AnswerStore) -> Self {
        Self { store, database: Mutex::new(None) }
    }

    /// The document of this name; `None`: the store has no lines of it.
    pub fn document(&self, doc_id: &[u8]) -> Result<Option<Document>, Failure> {
        if let Some(root) = &self.store.root
            && let Some(document) = folder::document(root, doc_id)?
        {
            return Ok(Some(document));
        }
        let Some(path) = &self.store.database else { return Ok(None) };
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = Ok(None);
        // What was read from a file that was changed meanwhile does not count.
        for _ in 0..3 {
            let open = match database.take().filter(Database::is_current) {
                Some(open) => open,
                None => sqlite::open(path)?,
            };
            last = database::document(&open, doc_id).map_err(|error| open.failure(&error));
            if open.is_current() {
                *database = Some(open);
                break;
            }
        }
        last
    }

    /// Forgets what is open: the database has changed.
    pub fn refresh(&self) {
        *self.database.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
