//! The documents that answers cite: found by what a record says of them, loaded when they are asked for, and kept as long
//! as there is room. It is shared by everything that checks or shows records, on any thread.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::failure::Failure;
use crate::log::folder;
use crate::source::answers::{AnswerStore, Shelf};
use crate::source::beneath::{Beneath, Place};
use crate::source::samples::SAMPLES;
use stepscope_base::json::Value;
use stepscope_base::text::Shown;
use stepscope_core::answer::document::{Document, Heading};
use stepscope_core::answer::typed::{TypedAnswer, inline_document};

mod file;

/// Documents are kept up to so many bytes altogether; the one that was not asked for longest goes first.
const MAX_KEPT: usize = 192 << 20;
/// A document with more lines or more text is not used: it could not be kept, and would be read for each record anew.
const MAX_LINES: usize = 2 << 20;
const MAX_TEXT: usize = 40 << 20;

/// Lines on their way into a document.
#[derive(Debug)]
pub(crate) struct Gathered {
    lines: Vec<(i64, i64, Vec<u8>)>,
    text: usize,
    page: i64,
    line: i64,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { lines: Vec::new(), text: 0, page: 1, line: 0 }
    }
}

impl Gathered {
    /// Adds a line. One without numbers follows the one before it.
    pub(crate) fn push(&mut self, page: Option<i64>, line: Option<i64>, text: Vec<u8>) {
        if self.lines.len() > MAX_LINES || self.text > MAX_TEXT {
            return;
        }
        let last = self.page;
        self.page = page.unwrap_or(last);
        let next = if self.page == last { self.line.saturating_add(1) } else { 1 };
        self.line = line.unwrap_or(next);
        self.text += text.len();
        self.lines.push((self.page, self.line, text));
    }

    /// Whether there is no line.
    pub(crate) const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The document of these lines.
    pub(crate) fn document(self, toc: Vec<Heading>) -> Document {
        Document::of(self.lines, toc)
    }
}

/// What is loaded once and asked for often.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// A document of a store: which shelf, how often it was renewed, the name.
    Shelf(usize, u32, Vec<u8>),
    File(Place),
    /// What a record may not name.
    Outside(PathBuf),
    Sample(&'static str),
}

/// A document on its way, or that there is none.
type Loaded = Arc<OnceLock<Option<Arc<Document>>>>;

#[derive(Default, Debug)]
struct Kept {
    documents: HashMap<Key, (Loaded, u64)>,
    /// Counts the questions for documents.
    time: u64,
}

/// Every document that was asked for so far.
#[derive(Default, Debug)]
pub struct Library {
    kept: Mutex<Kept>,
    /// What was named on the command line: names of documents are looked up there too.
    named: Vec<PathBuf>,
    named_shelves: OnceLock<Vec<Arc<Stacks>>>,
    /// The document of answers that name none.
    given: Option<Place>,
    failures: Mutex<Vec<Failure>>,
}

/// The documents of a store, with what tells them from those of other stores.
#[derive(Debug)]
pub(crate) struct Stacks {
    shelf: Shelf,
    number: usize,
    renewed: std::sync::atomic::AtomicU32,
}

/// Where the documents of some records are found.
#[derive(Clone, Debug)]
pub struct Documents {
    library: Arc<Library>,
    place: Shelved,
}

#[derive(Clone, Debug)]
enum Shelved {
    /// In their store.
    Store(Arc<Stacks>),
    /// In the folder of their file.
    Beside(Beneath),
    /// Among the samples.
    Samples,
    /// Nowhere but in the records themselves, and where the library looks.
    Nowhere,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    /// A library for what was named.
    pub fn new(named: &[PathBuf]) -> Self {
        Self { named: named.to_vec(), ..Self::default() }
    }

    /// With a document for answers that name none. It must be a file, or a folder of tables.
    pub fn with_document(mut self, path: &Path) -> Result<Self, Failure> {
        file::look_at(path)?;
        self.given = Some(path.into());
        Ok(self)
    }

    /// What could not be loaded since this was asked last, by name: which thread met it first says nothing.
    pub fn failures(&self) -> Vec<Failure> {
        let mut failures = std::mem::take(&mut *lock(&self.failures));
        failures.sort_by_cached_key(Failure::to_string);
        failures
    }

    /// A document: kept, or loaded now. Whoever asks for one that another thread is loading waits for it.
    fn get(&self, key: Key, load: impl FnOnce() -> Result<Option<Document>, Failure>) -> Option<Arc<Document>> {
        let name = key.name();
        let loaded = {
            let mut kept = lock(&self.kept);
            kept.time += 1;
            let time = kept.time;
            let (loaded, last) = kept.documents.entry(key).or_default();
            *last = time;
            loaded.clone()
        };
        if let Some(document) = loaded.get() {
            return document.clone();
        }
        let document = loaded.get_or_init(|| match load().and_then(|document| Self::bounded(document, &name)) {
            Ok(document) => document.map(Arc::new),
            Err(failure) => {
                lock(&self.failures).push(failure);
                None
            }
        });
        lock(&self.kept).make_room();
        document.clone()
    }

    /// A document, unless it is too large to be kept beside another.
    fn bounded(document: Option<Document>, name: &Shown) -> Result<Option<Document>, Failure> {
        const WHY: &str = "this document has more than 2 million lines or 40 MB of text; split it";
        match document {
            Some(document) if document.len() > MAX_LINES || document.size() > MAX_TEXT + document.len() => {
                Err(Failure::own("did not use", name, WHY))
            }
            document => Ok(document),
        }
    }

    fn shelves(&self) -> &[Arc<Stacks>] {
        self.named_shelves.get_or_init(|| {
            let store = |path: &PathBuf| AnswerStore::of_named(path).map(|store| Arc::new(Stacks::new(store)));
            self.named.iter().filter_map(store).collect()
        })
    }

    fn of_store(&self, stacks: &Stacks, doc_id: &[u8]) -> Option<Arc<Document>> {
        let renewed = stacks.renewed.load(std::sync::atomic::Ordering::Relaxed);
        let key = Key::Shelf(stacks.number, renewed, doc_id.to_vec());
        self.get(key, || stacks.shelf.document(doc_id))
    }

    fn of_file(&self, place: &Place) -> Option<Arc<Document>> {
        self.get(Key::File(place.clone()), || file::read(place).map(Some))
    }
}

impl Key {
    fn name(&self) -> Shown {
        match self {
            Self::Shelf(_, _, name) => Shown::line(name),
            Self::File(path) => Shown::path(path.path()),
            Self::Outside(path) => Shown::path(path),
            Self::Sample(name) => Shown::own(name),
        }
    }
}

impl Kept {
    fn make_room(&mut self) {
        let weight = |loaded: &Loaded| loaded.get().and_then(Option::as_ref).map_or(64, |document| document.weight());
        let mut all: usize = self.documents.values().map(|(loaded, _)| weight(loaded)).sum();
        while all > MAX_KEPT && self.documents.len() > 1 {
            let oldest = self.documents.iter().min_by_key(|(_, (_, last))| *last).map(|(key, _)| key.clone());
            let Some((loaded, _)) = oldest.and_then(|oldest| self.documents.remove(&oldest)) else { return };
            all = all.saturating_sub(weight(&loaded));
        }
    }
}

impl Stacks {
    /// The documents of a store.
    pub(crate) fn new(store: AnswerStore) -> Self {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self { shelf: Shelf::new(store), number, renewed: std::sync::atomic::AtomicU32::new(0) }
    }

    /// The store has changed: what was loaded from it no longer counts.
    pub(crate) fn renew(&self) {
        self.shelf.refresh();
        self.renewed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Documents {
    /// For the records of a store.
    pub(crate) const fn of_store(library: Arc<Library>, stacks: Arc<Stacks>) -> Self {
        Self { library, place: Shelved::Store(stacks) }
    }

    /// For the records of a file.
    pub fn beside(library: Arc<Library>, file: &Place) -> Self {
        // Held open from now on: what they name is looked for in this folder, whatever takes its name meanwhile.
        let folder = match file {
            Place::Beneath(at) => at.parent(),
            place => Beneath::root(folder(place.path())).ok(),
        };
        Self { library, place: folder.map_or(Shelved::Nowhere, Shelved::Beside) }
    }

    /// For the sample runs.
    pub(crate) const fn of_samples(library: Arc<Library>) -> Self {
        Self { library, place: Shelved::Samples }
    }

    /// For records that came through a pipe.
    pub const fn nowhere(library: Arc<Library>) -> Self {
        Self { library, place: Shelved::Nowhere }
    }

    /// The document that an answer cites; `None`: it is not at hand. The record's own word counts first, then the
    /// document that was given for all.
    pub fn of(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        if let Some(document) = inline_document(typed) {
            return Some(Arc::new(document));
        }
        let text = |value: Value<'_>| value.string().map(|text| text.bytes().to_vec());
        let path = typed.document.and_then(|document| text(document.get("path")?));
        let doc_id = typed.document.and_then(|document| text(document.get("doc_id")?));
        let doc_id = doc_id.or_else(|| typed.doc_id.and_then(text));
        path.and_then(|path| self.by_path(&path))
            .or_else(|| doc_id.and_then(|doc_id| self.by_name(&doc_id)))
            .or_else(|| self.library.given.as_ref().and_then(|given| self.library.of_file(given)))
    }

    fn by_path(&self, path: &[u8]) -> Option<Arc<Document>> {
        use std::os::unix::ffi::OsStrExt as _;
        let name = Path::new(std::ffi::OsStr::from_bytes(path));
        match &self.place {
            Shelved::Beside(folder) => {
                // A record is somebody else's word: it names files of its own folder, and no others.
                if name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                    return self.library.of_file(&folder.join(name).into());
                }
                let why = "a record names this document outside of its own folder; give it with --document";
                let failure = Failure::own("did not read", &Shown::line(path), why);
                self.library.get(Key::Outside(name.to_owned()), || Err(failure))
            }
            Shelved::Samples => {
                let sample = SAMPLES.iter().flat_map(|sample| sample.documents);
                let (name, bytes) = sample.into_iter().find(|(name, _)| name.as_bytes() == path)?;
                self.library.get(Key::Sample(name), || file::of_bytes(bytes, &Shown::own(name)).map(Some))
            }
            Shelved::Store(_) | Shelved::Nowhere => None,
        }
    }

    fn by_name(&self, doc_id: &[u8]) -> Option<Arc<Document>> {
        if let Shelved::Store(stacks) = &self.place
            && let Some(document) = self.library.of_store(stacks, doc_id)
        {
            return Some(document);
        }
        if matches!(self.place, Shelved::Samples | Shelved::Store(_)) {
            return None;
        }
        self.library.shelves().iter().find_map(|stacks| self.library.of_store(stacks, doc_id))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A document of one line.
    fn document(bytes: usize) -> Document {
        Document::of(vec![(1, 1, vec![b'x'; bytes])], Vec::new())
    }

    #[test]
    fn a_document_is_read_once_for_all_who_ask_even_if_it_is_too_large_to_be_kept() {
        let library = Library::new(&[]);
        let ask = |name: &'static str, bytes: usize| {
            let reads = Cell::new(0);
            let load = || {
                reads.set(reads.get() + 1);
                Ok(Some(document(bytes)))
            };
            let found = (0..100).filter(|_| library.get(Key::Sample(name), load).is_some()).count();
            (reads.get(), found)
        };
        assert_eq!(ask("small", 10), (1, 100));
        assert_eq!(ask("too large", MAX_TEXT + 10), (1, 0));
        let failures = library.failures();
        assert_eq!(failures.len(), 1, "said once");
        assert!(failures[0].to_string().ends_with("40 MB of text; split it"), "{}", failures[0]);
    }

    #[test]
    fn what_was_not_asked_for_longest_makes_room() {
        let library = Library::new(&[]);
        let read = |name: &'static str| {
            let mut reads = 0;
            let load = || {
                reads += 1;
                Ok(Some(document(MAX_TEXT - 1)))
            };
            assert!(library.get(Key::Sample(name), load).is_some());
            reads
        };
        let all = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(all.map(read), [1; 6]);
        assert!(MAX_KEPT / MAX_TEXT < all.len());
        assert_eq!((read("f"), read("e"), read("a")), (0, 0, 1));
    }
}
