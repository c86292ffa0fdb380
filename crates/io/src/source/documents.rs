//! The documents that answers cite: found by what a record says of them, loaded when they are asked for, and kept as long
//! as there is room. It is shared by everything that checks or shows records, on any thread.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use crate::failure::Failure;
use crate::source::answers::{AnswerStore, StoreDocuments, StoreVersion};
use crate::source::beneath::{Place, UnderRoot, folder};
use crate::source::lines::{MAX_LINES, MAX_TEXT};
use crate::system::os_name;
use stepscope_base::guard::lock;
use stepscope_base::json::Value;
use stepscope_base::text::Shown;
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::{TypedAnswer, inline_document};
use stepscope_samples::SAMPLES;

mod file;

/// Documents are kept up to so many bytes altogether; the one that was not asked for longest goes first.
const MAX_KEPT: usize = 192 << 20;

/// Key of a document that is loaded once and asked for often.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum DocumentKey {
    /// A document of a store, by its name.
    Store(StoreVersion, Vec<u8>),
    File(Place),
    /// A path that a record may not name.
    Outside(PathBuf),
    /// All that records name which came through a pipe.
    Piped,
    Sample(&'static str),
}

/// A document on its way, or that there is none.
type Loaded = Arc<OnceLock<Option<Arc<Document>>>>;

#[derive(Default, Debug)]
struct CachedDocuments {
    documents: HashMap<DocumentKey, (Loaded, u64)>,
    /// Counts the questions for documents.
    time: u64,
}

/// Every document that was asked for so far.
#[derive(Default, Debug)]
pub struct DocumentCache {
    kept: Mutex<CachedDocuments>,
    /// Paths named on the command line: names of documents are looked up there too.
    named: Vec<PathBuf>,
    named_stores: OnceLock<Vec<Arc<StoreDocuments>>>,
    /// The document of answers that name none.
    given: Option<Place>,
    failures: Mutex<Vec<Failure>>,
}

/// Access to the documents of some records.
#[derive(Clone, Debug)]
pub struct Documents {
    cache: Arc<DocumentCache>,
    place: Scope,
}

#[derive(Clone, Debug)]
enum Scope {
    /// The documents in their store.
    Store(Arc<StoreDocuments>),
    /// The documents in the folder of their file.
    Beside(UnderRoot),
    /// Among the samples.
    Samples,
    /// The document in the page that carries the record.
    Page(Option<Arc<Document>>),
    /// Nowhere but in the records themselves, and where the cache looks.
    Nowhere,
}

impl DocumentCache {
    /// Makes a cache for what was named.
    pub fn new(named: &[PathBuf]) -> Self {
        Self { named: named.to_vec(), ..Self::default() }
    }

    /// Adds a document for answers that name none. It must be a file, or a folder of tables.
    pub fn with_document(mut self, path: &Path) -> Result<Self, Failure> {
        file::look_at(path)?;
        self.given = Some(path.into());
        Ok(self)
    }

    /// Takes the failures to load since this was asked last, sorted by text: the order in which threads met them says
    /// nothing.
    pub fn failures(&self) -> Vec<Failure> {
        let mut failures = std::mem::take(&mut *lock(&self.failures));
        failures.sort_by_cached_key(Failure::to_string);
        failures
    }

    /// Returns a document: kept, or loaded now. A thread that asks for one that another thread is loading waits for it.
    fn get(&self, key: DocumentKey, load: impl FnOnce() -> Result<Option<Document>, Failure>) -> Option<Arc<Document>> {
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

    /// Passes a document on, unless it is too large to be kept along with another.
    fn bounded(document: Option<Document>, name: &Shown) -> Result<Option<Document>, Failure> {
        const WHY: &str = "this document has more than 2 million lines or 40 MB of text; split it";
        match document {
            Some(document) if document.len() > MAX_LINES || document.size() > MAX_TEXT + document.len() => {
                Err(Failure::own("did not use", name, WHY))
            }
            document => Ok(document),
        }
    }

    fn named_stores(&self) -> &[Arc<StoreDocuments>] {
        self.named_stores.get_or_init(|| {
            let store = |path: &PathBuf| AnswerStore::of_named(path).map(|store| Arc::new(StoreDocuments::new(store)));
            self.named.iter().filter_map(store).collect()
        })
    }

    fn of_store(&self, store: &StoreDocuments, doc_id: &[u8]) -> Option<Arc<Document>> {
        self.get(DocumentKey::Store(store.version(), doc_id.to_vec()), || store.document(doc_id))
    }

    fn of_file(&self, place: &Place) -> Option<Arc<Document>> {
        self.get(DocumentKey::File(place.clone()), || file::read(place).map(Some))
    }
}

impl DocumentKey {
    fn name(&self) -> Shown {
        match self {
            Self::Store(_, name) => Shown::line(name),
            Self::File(path) => Shown::path(path.path()),
            Self::Outside(path) => Shown::path(path),
            Self::Piped => Shown::own("the documents that piped records name"),
            Self::Sample(name) => Shown::own(name),
        }
    }
}

impl CachedDocuments {
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

impl Documents {
    /// Makes the access for the records of a store.
    pub(crate) const fn of_store(cache: Arc<DocumentCache>, store: Arc<StoreDocuments>) -> Self {
        Self { cache, place: Scope::Store(store) }
    }

    /// Makes the access for the records of a file.
    pub fn beside(cache: Arc<DocumentCache>, file: &Place) -> Self {
        // Held open from now on: what they name is looked for in this folder, whatever takes its name meanwhile.
        let folder = match file {
            Place::UnderRoot(at) => at.parent(),
            place => UnderRoot::root(folder(place.path())).ok(),
        };
        Self { cache, place: folder.map_or(Scope::Nowhere, Scope::Beside) }
    }

    /// Makes the access for the sample runs.
    pub(crate) const fn of_samples(cache: Arc<DocumentCache>) -> Self {
        Self { cache, place: Scope::Samples }
    }

    /// Makes the access for the record of a page.
    pub(crate) const fn of_page(cache: Arc<DocumentCache>, document: Option<Arc<Document>>) -> Self {
        Self { cache, place: Scope::Page(document) }
    }

    /// Makes the access for records that came through a pipe.
    pub const fn nowhere(cache: Arc<DocumentCache>) -> Self {
        Self { cache, place: Scope::Nowhere }
    }

    /// Finds the document that an answer cites; `None`: it is not at hand. The record's own word counts first, then the
    /// document that was given for all.
    pub fn of(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        if let Some(document) = inline_document(typed) {
            return Some(Arc::new(document));
        }
        if let Scope::Page(Some(document)) = &self.place {
            return Some(document.clone());
        }
        let text = |value: Value<'_>| value.string().map(|text| text.bytes().to_vec());
        let path = typed.document.and_then(|document| text(document.get("path")?));
        let doc_id = typed.document.and_then(|document| text(document.get("doc_id")?));
        let doc_id = doc_id.or_else(|| typed.doc_id.and_then(text));
        path.and_then(|path| self.by_path(&path)).or_else(|| doc_id.and_then(|doc_id| self.by_name(&doc_id))).or_else(
            || match &self.cache.given {
                Some(given) => self.cache.of_file(given),
                None => self.unread(typed),
            },
        )
    }

    /// Says that a document is named and not looked for, because nobody knows where its record comes from.
    fn unread(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        const WHY: &str = "no folder is known in which they would be; pass one with --document, or the file of records";
        if !matches!(self.place, Scope::Nowhere) || typed.document?.get("path")?.string()?.is_empty() {
            return None;
        }
        let key = DocumentKey::Piped;
        let failure = Failure::own("did not read", &key.name(), WHY);
        self.cache.get(key, || Err(failure))
    }

    fn by_path(&self, path: &[u8]) -> Option<Arc<Document>> {
        let name = Path::new(os_name(path)?);
        match &self.place {
            Scope::Beside(folder) => {
                // A record is somebody else's word: it names files of its own folder, and no others.
                if name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                    return self.cache.of_file(&folder.join(name).into());
                }
                let why = "its path is absolute or has .. in it, and may lead outside the folder of the record that names \
                    it; pass it with --document";
                let failure = Failure::own("did not read", &Shown::line(path), why);
                self.cache.get(DocumentKey::Outside(name.to_owned()), || Err(failure))
            }
            Scope::Samples => {
                let sample = SAMPLES.iter().flat_map(|sample| sample.documents);
                let (name, bytes) = sample.into_iter().find(|(name, _)| name.as_bytes() == path)?;
                self.cache.get(DocumentKey::Sample(name), || file::of_bytes(bytes, &Shown::own(name)).map(Some))
            }
            Scope::Store(_) | Scope::Page(_) | Scope::Nowhere => None,
        }
    }

    fn by_name(&self, doc_id: &[u8]) -> Option<Arc<Document>> {
        if let Scope::Store(store) = &self.place
            && let Some(document) = self.cache.of_store(store, doc_id)
        {
            return Some(document);
        }
        if matches!(self.place, Scope::Samples | Scope::Store(_) | Scope::Page(_)) {
            return None;
        }
        self.cache.named_stores().iter().find_map(|store| self.cache.of_store(store, doc_id))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Makes a document of one line.
    fn document(bytes: usize) -> Document {
        Document::of(vec![(1, 1, vec![b'x'; bytes])], Vec::new())
    }

    #[test]
    fn a_document_is_read_once_for_all_who_ask_even_if_it_is_too_large_to_be_kept() {
        let cache = DocumentCache::new(&[]);
        let ask = |name: &'static str, bytes: usize| {
            let reads = Cell::new(0);
            let load = || {
                reads.set(reads.get() + 1);
                Ok(Some(document(bytes)))
            };
            let found = (0..100).filter(|_| cache.get(DocumentKey::Sample(name), load).is_some()).count();
            (reads.get(), found)
        };
        assert_eq!(ask("small", 10), (1, 100));
        assert_eq!(ask("too large", MAX_TEXT + 10), (1, 0));
        let failures = cache.failures();
        assert_eq!(failures.len(), 1, "said once");
        assert!(failures[0].to_string().ends_with("40 MB of text; split it"), "{}", failures[0]);
    }

    #[test]
    fn what_was_not_asked_for_longest_makes_room() {
        let cache = DocumentCache::new(&[]);
        let read = |name: &'static str| {
            let mut reads = 0;
            let load = || {
                reads += 1;
                Ok(Some(document(MAX_TEXT - 1)))
            };
            assert!(cache.get(DocumentKey::Sample(name), load).is_some());
            reads
        };
        let all = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(all.map(read), [1; 6]);
        assert!(MAX_KEPT / MAX_TEXT < all.len());
        assert_eq!((read("f"), read("a")), (0, 1));
    }
}
