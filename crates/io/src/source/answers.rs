//! Stores of structured answers: docintel folders and `storage.sqlite`, each question with its retrieved pages as one
//! line of JSON.
//!
//! A store is a docintel folder, a `storage.sqlite`, or a root that holds both: then each answer comes once, from its
//! folder, and the database adds what the folders lack. The lines are made while they are read, so that the first are
//! there at once; texts of retrieved pages are left out, and documents are loaded when they are asked for.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::failure::Failure;
use crate::source::beneath::{Place, UnderRoot};
use crate::source::magic::SQLITE;
use crate::source::open::{Blob, MAX_SPOOL, Opened, open};
use crate::source::sqlite::{self, Database};
use crate::system::{os_name, slashed};
use stepscope_base::guard::lock;
use stepscope_base::json::Tape;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::document::Document;

#[cfg(feature = "store")]
mod database;
pub(crate) mod folder;
mod line;
#[cfg(not(feature = "store"))]
mod no_database;

#[cfg(not(feature = "store"))]
use no_database as database;

use database::{Places, Rows};
use folder::{FolderKind, FoundInFolder, Walk};
use line::{Asked, FoundInDatabase, hash, question_key};

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

/// Location of a store, and the part of it that was asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AnswerStore {
    /// Path as it was named.
    path: PathBuf,
    /// `None`: a database alone.
    folders: Option<StoreFolders>,
    database: Option<Place>,
    part: StorePart,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct StoreFolders {
    /// The folder that was named.
    top: UnderRoot,
    /// The folder that the names of documents are relative to: that one, or one above it.
    root: UnderRoot,
    /// Path of `top` relative to the root.
    prefix: PathBuf,
}

impl StoreFolders {
    /// Returns the folder of a document: what data names beneath the root, or beneath the folder that was named, by
    /// whatever links a person may have named it.
    fn document(&self, name: &Path) -> UnderRoot {
        match name.strip_prefix(&self.prefix) {
            Ok(rest) => self.top.join(rest),
            Err(_) => self.root.join(name),
        }
    }
}

/// Part of a store that was asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum StorePart {
    Whole,
    /// One document, by the name that it has in the store.
    Document(PathBuf),
    Question,
}

impl AnswerStore {
    /// Takes a database alone.
    pub(crate) fn of_database(place: &Place) -> Self {
        Self { path: place.path().to_owned(), folders: None, database: Some(place.clone()), part: StorePart::Whole }
    }

    fn whole(folder: &UnderRoot, database: Option<Place>) -> Self {
        let folders = StoreFolders { top: folder.clone(), root: folder.clone(), prefix: PathBuf::new() };
        Self { path: folder.path().to_owned(), folders: Some(folders), database, part: StorePart::Whole }
    }

    /// Finds the store that a folder is, or is a part of; `None`: it is none, though stores may lie below it. For a
    /// folder that a person named, folders above it are searched too; one that a listing named belongs to nothing
    /// outside of what was named.
    pub(crate) fn of_folder(folder: &UnderRoot, named: bool) -> Option<Self> {
        if is_root(folder) {
            return Some(Self::whole(folder, Some(folder.join(DATABASE).into())));
        }
        let shape = folder::shape(folder)?;
        let full = std::path::absolute(folder.path()).ok()?;
        let document = match shape {
            FolderKind::Document => &full,
            FolderKind::Questions => full.parent()?,
            FolderKind::Question => full.parent()?.parent()?,
        };
        let root = if named { root_above(document)? } else { root_within(folder, &full, document)? };
        let above = std::path::absolute(root.path()).ok()?;
        let name = document.strip_prefix(&above).unwrap_or(document).to_owned();
        let prefix = full.strip_prefix(&above).unwrap_or(Path::new("")).to_owned();
        let part = if shape == FolderKind::Question { StorePart::Question } else { StorePart::Document(name) };
        let database = is_root(&root).then(|| root.join(DATABASE).into());
        let folders = StoreFolders { top: folder.clone(), root, prefix };
        Some(Self { path: folder.path().to_owned(), folders: Some(folders), database, part })
    }

    /// Takes a folder with documents somewhere below it, but without a database.
    pub(crate) fn of_root(folder: &UnderRoot) -> Option<Self> {
        folder::holds_documents(folder, is_root).then(|| Self::whole(folder, None))
    }

    /// Finds the store that a path leads to that a person named, if it does.
    pub(crate) fn of_named(path: &Path) -> Option<Self> {
        if path.is_dir() {
            let folder = UnderRoot::root(path).ok()?;
            return Self::of_folder(&folder, true).or_else(|| Self::of_root(&folder));
        }
        let Ok(Opened::File(blob)) = open(path) else { return None };
        let mut head = Vec::new();
        blob.read(0, SQLITE.len(), &mut head).ok()?;
        (head == SQLITE).then(|| Self::of_database(&path.into()))
    }

    /// Returns the location of the store, and who named it.
    pub fn named(&self) -> Place {
        let database = || self.database.clone().unwrap_or_else(|| self.path.as_path().into());
        self.folders.as_ref().map_or_else(database, |folders| folders.top.clone().into())
    }

    /// Tells whether it is a part of a store, and not its root.
    pub fn is_part(&self) -> bool {
        self.part != StorePart::Whole
    }

    /// Returns `$DOCINTEL_OUTPUT_DIR`, else `~/.docintel/output`.
    pub fn usual_root() -> Option<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("DOCINTEL_OUTPUT_DIR").or_else(|| Some(set("HOME")?.join(".docintel/output")))
    }

    /// Returns its path, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its database, where it has one.
    pub fn database(&self) -> Option<&Path> {
        self.database.as_ref().map(Place::path)
    }

    /// Returns the path of a question's folder: the path that was named, and the rest of the folder's path below it.
    pub fn place(&self, folder: &[u8]) -> PathBuf {
        let Some(folders) = &self.folders else { return self.path.clone() };
        let full =
            os_name(folder).map_or_else(|| folders.root.path().to_owned(), |name| folders.root.path().join(name));
        let named = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let full = std::path::absolute(&full).unwrap_or(full);
        full.strip_prefix(&named).map_or_else(|_| full.clone(), |rest| joined(&self.path, rest))
    }

    /// Tells whether what a database has in addition to the folders belongs to the part that was asked for.
    fn wants(&self, doc_id: Option<&[u8]>) -> bool {
        match &self.part {
            StorePart::Whole => true,
            StorePart::Document(name) => doc_id == Some(&*slashed(name)),
            StorePart::Question => false,
        }
    }
}

/// Joins a path and what is below it; without a trailing slash where nothing is.
fn joined(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}

/// Tells whether a folder below another store's root is a store of its own.
fn is_root(folder: &UnderRoot) -> bool {
    folder.join(DATABASE).is_file()
}

/// Finds the root of the store that a document lies in which a person named, or something in it: the next folder above
/// it with a database, or the usual root; else as the usual layout has it, two folders above.
fn root_above(document: &Path) -> Option<UnderRoot> {
    let usual = AnswerStore::usual_root();
    let mut above = document.ancestors().skip(1).take(MAX_ABOVE);
    let known = above.clone().find_map(|folder| {
        let root = UnderRoot::root(folder).ok()?;
        (is_root(&root) || usual.as_deref() == Some(folder)).then_some(root)
    });
    known.or_else(|| UnderRoot::root(above.nth(1).or_else(|| document.parent()).unwrap_or(document)).ok())
}

/// Finds the root likewise for what a listing named: no higher than the folder that a person named.
fn root_within(folder: &UnderRoot, full: &Path, document: &Path) -> Option<UnderRoot> {
    let levels = full.strip_prefix(document).ok()?.components().count();
    let above: Vec<UnderRoot> = std::iter::successors(Some(folder.clone()), UnderRoot::parent).collect();
    let mut above = above.iter().skip(levels + 1).take(MAX_ABOVE);
    let known = above.clone().find(|folder| is_root(folder));
    known.or_else(|| above.clone().nth(1)).or_else(|| above.next()).cloned().or_else(|| Some(folder.clone()))
}

/// Lists the names by which changes of a store are told: of its database and that one's log, and of the folder that is
/// read.
pub(crate) fn changing(store: &AnswerStore) -> Vec<PathBuf> {
    let mut names = Vec::new();
    if let Some(path) = store.database().and_then(|path| path.canonicalize().ok()) {
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        names.extend([path, log.into()]);
    }
    if store.folders.is_some() {
        names.extend(store.path.canonicalize());
    }
    names
}

/// Report on the reading of a store.
#[derive(Debug, Default)]
pub struct StoreReport {
    /// Failures to read a part; the rest was read.
    pub failures: Vec<Failure>,
    /// Note on how the database was opened, where that matters.
    pub note: Option<Shown>,
    /// Number of bytes of its database and of the files of its questions; tables left out.
    pub size: u64,
    /// The database was changed while it was read: what came does not count.
    pub changed: bool,
    /// Number of symbolic links in documents and among their questions that were not followed.
    pub links: u64,
    /// The folders in which something may change.
    pub folders: Vec<PathBuf>,
    /// Time at which the reading began.
    pub begun: Option<SystemTime>,
}

/// Tells whether anything in a folder was written since then, as far as the clock of the disk shows.
pub(crate) fn has_changed(folder: &Path, since: SystemTime) -> bool {
    let since = since.checked_sub(GRAIN).unwrap_or(since);
    let is_new =
        |path: &Path| std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).is_ok_and(|at| at >= since);
    let mut any = is_new(folder);
    let listed = UnderRoot::root(folder).and_then(|root| {
        root.list(|entry| {
            any |= is_new(&folder.join(entry.name));
            !any
        })
    });
    any || listed.is_err()
}

/// Reads a store. Every line goes to `each`; `false` ends it.
pub fn read(store: &AnswerStore, each: &mut dyn FnMut(&[u8]) -> bool) -> StoreReport {
    let mut report = StoreReport { begun: Some(SystemTime::now()), ..StoreReport::default() };
    let opened = store.database.as_ref().map(sqlite::open).transpose();
    let database = opened.unwrap_or_else(|failure| {
        report.failures.push(failure);
        None
    });
    report.note = database.as_ref().and_then(|database| database.note.clone());
    report.size = database.as_ref().map_or(0, |database| database.size().unwrap_or(0));
    let failed = |error: &sqlite::Error| database.as_ref().map(|database| database.failure(error));
    let rows = database.as_ref().map(Rows::new).transpose().unwrap_or_else(|error| {
        report.failures.extend(failed(&error));
        None
    });
    let mut reading = StoreReader {
        store,
        rows,
        known: HashSet::new(),
        bare: Vec::new(),
        tape: Tape::default(),
        line: Vec::new(),
        each,
    };
    let go_on = reading.folders(&mut report, &failed);
    if go_on {
        let (errors, is_cut) = reading.database();
        report.failures.extend(errors.iter().filter_map(failed));
        if let Some(path) = store.database().filter(|_| is_cut) {
            const WHY: &str = "its questions share so many rows that the answers would be much longer than the \
                database; the later ones lack their pages and replies";
            report.failures.push(Failure::own("cannot read all of", &Shown::path(path), WHY));
        }
    }
    // Damage is found again in each table.
    report.failures.dedup();
    if let Some(database) = &database {
        let made = database.made(&database::TABLES).unwrap_or_default();
        if !made.is_empty() {
            let why = shown!(
                "views and virtual tables are not read, because they may cost anything: {}; make a copy of the database \
                in which they are tables",
                Shown::line(made.join(", ").as_bytes())
            );
            report.failures.push(Failure { what: "cannot read all of", path: Shown::path(&store.path), source: why });
        } else if store.folders.is_none() && database::is_store(database).is_ok_and(|is| !is) {
            const WHY: &str = "this SQLite database is not an answer store: it has no table answers, questions, lines or llm_calls; nor \
                 has it the tables of another program whose runs can be read";
            report.failures.push(Failure::own("cannot read", &Shown::path(&store.path), WHY));
        }
        let unread = database::unread_columns(database).unwrap_or_default();
        if !unread.is_empty() {
            let why = shown!(
                "columns that are computed when they are read are not read, because they may cost anything: {}; store \
                them, or make a copy of the database in which they are plain columns",
                Shown::line(unread.join(", ").as_bytes())
            );
            report.failures.push(Failure { what: "cannot read all of", path: Shown::path(&store.path), source: why });
        }
        report.changed = !database.is_current();
    }
    report
}

/// Tells whether a database is a store at all; one that cannot be read may be.
pub(crate) fn is_store(place: &Place) -> bool {
    sqlite::open(place).is_ok_and(|database| database::is_store(&database).unwrap_or(true))
}

struct StoreReader<'r, 'd> {
    store: &'r AnswerStore,
    rows: Option<Rows<'d>>,
    /// Keys of what came from folders.
    known: HashSet<u64>,
    /// Documents that no folder has a question to.
    bare: Vec<Vec<u8>>,
    tape: Tape,
    line: Vec<u8>,
    each: &'r mut dyn FnMut(&[u8]) -> bool,
}

impl StoreReader<'_, '_> {
    /// Reads the folders of the store; `false`: the reader is gone.
    fn folders(&mut self, report: &mut StoreReport, failed: &dyn Fn(&sqlite::Error) -> Option<Failure>) -> bool {
        let store = self.store;
        let Some(folders) = &store.folders else { return true };
        let mut walk = Walk::new(&folders.top, &folders.prefix, is_root);
        let go_on = walk.run(&mut |found| match found {
            FoundInFolder::Question(mut asked) => {
                report.size += asked.size();
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
            FoundInFolder::Document(doc_id, questions) => {
                if questions > 0 {
                    self.known.insert(hash(&[Some(&doc_id)]));
                } else {
                    self.bare.push(doc_id);
                }
                true
            }
            FoundInFolder::Failed(failure) => {
                report.failures.push(failure);
                true
            }
        });
        report.folders = walk.folders;
        report.links = walk.links;
        go_on
    }

    /// Reads what the database has in addition, and then the documents without a question. Returns the errors, and
    /// whether some of the data around answers was left out.
    fn database(&mut self) -> (Vec<sqlite::Error>, bool) {
        let (store, mut known) = (self.store, std::mem::take(&mut self.known));
        let mut told = HashSet::new();
        let done = self.rows.take().map(|mut rows| {
            let errors = rows.run(&mut known, &mut |found| match found {
                FoundInDatabase::Question(asked) if store.wants(asked.doc_id.as_deref()) => {
                    told.insert(asked.doc_id.clone());
                    self.question(&asked)
                }
                FoundInDatabase::Document(doc_id) if store.wants(Some(&doc_id)) => {
                    told.insert(Some(doc_id.clone()));
                    self.document(doc_id)
                }
                FoundInDatabase::Call(call) if store.wants(None) => {
                    self.line.clear();
                    call.write(&mut self.line);
                    (self.each)(&self.line)
                }
                _ => true,
            });
            (errors, rows.is_cut)
        });
        for doc_id in std::mem::take(&mut self.bare) {
            if !told.contains(&Some(doc_id.clone())) && !self.document(doc_id) {
                break;
            }
        }
        done.unwrap_or_default()
    }

    /// Passes on a document that was asked nothing.
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
    /// Computes a number for this question to this document that hardly any other has.
    fn key(&self) -> u64 {
        hash(&[self.doc_id.as_deref(), self.question_id.as_deref()])
    }
}

/// Lines on their way into a blob, in pieces.
#[derive(Debug)]
pub(crate) struct LineBuffer<'b> {
    blob: &'b Blob,
    at: u64,
    piece: Vec<u8>,
    last: Instant,
    /// Reason why the rest is not kept.
    pub failure: Option<Failure>,
}

impl<'b> LineBuffer<'b> {
    /// Appends to a blob in memory.
    pub(crate) fn new(blob: &'b Blob) -> Self {
        Self { blob, at: blob.len().unwrap_or(0), piece: Vec::new(), last: Instant::now(), failure: None }
    }

    /// Takes a line; whether what has come was handed over. After a failure nothing more is taken.
    pub(crate) fn push(&mut self, line: &[u8]) -> bool {
        self.piece.extend_from_slice(line);
        let size = if self.at == 0 { FIRST_PIECE } else { PIECE };
        (self.piece.len() >= size || self.last.elapsed() >= WAIT) && self.hand_over()
    }

    /// Hands over what is left; whether there was anything.
    pub(crate) fn hand_over(&mut self) -> bool {
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

    /// Tells whether nothing has been handed over yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.at == 0
    }
}

/// Store that a document was loaded from, and the number of its changes by then.
pub(crate) type StoreVersion = (usize, u32);

/// The documents of a store, loaded one by one.
#[derive(Debug)]
pub(crate) struct StoreDocuments {
    store: AnswerStore,
    number: usize,
    changes: AtomicU32,
    /// Opened when the first document is wanted.
    database: Mutex<Option<(Database, Places)>>,
}

impl StoreDocuments {
    pub(crate) fn new(store: AnswerStore) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { store, number, changes: AtomicU32::new(0), database: Mutex::new(None) }
    }

    /// Tells its documents from those of other stores, and from what they were.
    pub(crate) fn version(&self) -> StoreVersion {
        (self.number, self.changes.load(Ordering::Relaxed))
    }

    /// Reads the document of this name; `None`: the store has no lines of it.
    pub(crate) fn document(&self, doc_id: &[u8]) -> Result<Option<Document>, Failure> {
        if let Some(folders) = &self.store.folders
            && let Some(document) = folder::document(folders, doc_id)?
        {
            return Ok(Some(document));
        }
        let Some(place) = &self.store.database else { return Ok(None) };
        let mut database = lock(&self.database);
        let mut last = Ok(None);
        // What was read from a file that was changed meanwhile does not count.
        for _ in 0..3 {
            let (open, mut places) = match database.take().filter(|(open, _)| open.is_current()) {
                Some(open) => open,
                None => (sqlite::open(place)?, Places::default()),
            };
            last = database::document(&open, &mut places, doc_id).map_err(|error| open.failure(&error));
            last = last.map(|found| found.map(|document| document.from_file(Shown::path(place.path()))));
            if open.is_current() {
                *database = Some((open, places));
                break;
            }
        }
        last
    }

    /// Drops what is open, since the store has changed: what was loaded from it no longer counts.
    pub(crate) fn renew(&self) {
        *lock(&self.database) = None;
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
