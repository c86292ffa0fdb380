//! Searching whole sources for a text, on all cores, without reading records: block by block, the hits as addresses.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use regex::bytes::{Regex, RegexBuilder};

use super::failure::Failure;
use super::open::Blob;
use super::store::Store;
use crate::domain::text::Shown;

/// How much is searched at a time.
const PIECE: u64 = 1 << 20;
/// Of longer records only so much is searched at a time; a hit across such a border is missed.
const MAX_PIECE: u64 = 16 << 20;

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// A text as it stands, in any case unless it holds a capital letter. What JSON may write in two ways (quotes,
    /// line breaks, everything but ASCII) is found in both.
    pub fn text(text: &str) -> Result<Self, Failure> {
        let cased = text.chars().any(char::is_uppercase);
        let mut pattern = String::new();
        for c in text.chars() {
            let plain = regex::escape(c.encode_utf8(&mut [0; 4]));
            let escaped = as_json(c);
            let parts: &[&str] = if escaped.is_empty() { &[&plain] } else { &["(?:", &plain, "|", &escaped, ")"] };
            pattern.extend(parts.iter().copied());
        }
        Self::build(&pattern, !cased)
    }

    /// A regular expression over the bytes of a record as they stand in the file.
    pub fn regex(pattern: &str) -> Result<Self, Failure> {
        Self::build(pattern, false)
    }

    fn build(pattern: &str, any_case: bool) -> Result<Self, Failure> {
        RegexBuilder::new(pattern)
            .case_insensitive(any_case)
            .multi_line(true)
            .size_limit(4 << 20)
            .build()
            .map(Self)
            .map_err(|error| Failure {
                what: "cannot search for",
                path: Shown::line(pattern.as_bytes()),
                source: Shown::error(&error),
            })
    }

    /// Whether it stands in a record.
    pub fn is_in(&self, record: &[u8]) -> bool {
        self.0.is_match(record)
    }

    /// Where it stands in a record.
    pub fn ranges<'a>(&'a self, record: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        self.0.find_iter(record).map(|found| found.range())
    }
}

/// The other way in which JSON may write a character, as a pattern; empty: there is none.
fn as_json(c: char) -> String {
    let escaped = match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        _ if c.is_ascii() => String::new(),
        _ => {
            let units: Vec<String> = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
            units.concat()
        }
    };
    regex::escape(&escaped)
}

/// News of a search.
#[derive(Debug)]
pub enum SearchEvent {
    /// Hits, as first bytes in a source, ascending within one event; not all in order between events. Each is inside a
    /// record: [`Store::position`] tells which.
    Hits {
        /// Which source.
        source: usize,
        /// Where.
        bytes: Vec<u64>,
    },
    /// So much has been searched: pieces done, pieces there are.
    Progress(usize, usize),
    /// It was searched to the end.
    Done,
}

/// A search that goes on in the background. Dropping it ends it.
#[derive(Debug)]
pub struct Search(Arc<AtomicBool>);

impl Drop for Search {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

struct Piece {
    source: usize,
    blob: Arc<Blob>,
    span: Range<u64>,
}

/// Searches everything that a store holds. `sink` hears of it on background threads; `false` ends it.
pub fn search(
    store: &Store,
    pattern: &Pattern,
    threads: usize,
    sink: impl Fn(SearchEvent) -> bool + Send + Sync + 'static,
) -> Search {
    let stop = Arc::new(AtomicBool::new(false));
    let pieces = Arc::new(pieces(store));
    let (next, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let sink = Arc::new(sink);
    if pieces.is_empty() {
        sink(SearchEvent::Done);
    }
    for _ in 0..threads.clamp(1, pieces.len().max(1)) {
        // Each thread its own copy: the copies of a regex share nothing that threads would wait for.
        let (pattern, pieces, sink) = (pattern.clone(), pieces.clone(), sink.clone());
        let (next, done, stop) = (next.clone(), done.clone(), stop.clone());
        let work = move || {
            let mut block = Vec::new();
            while !stop.load(Ordering::Acquire) {
                let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                let bytes = hits(&pattern, piece, &mut block);
                let listening = bytes.is_empty() || sink(SearchEvent::Hits { source: piece.source, bytes });
                let done = done.fetch_add(1, Ordering::AcqRel) + 1;
                let last = done == pieces.len();
                let told = if last {
                    sink(SearchEvent::Done)
                } else {
                    done % 64 != 0 || sink(SearchEvent::Progress(done, pieces.len()))
                };
                if !listening || !told {
                    stop.store(true, Ordering::Release);
                }
            }
        };
        // Without a thread the others do its share; without any, the search never says that it is done.
        let _ = std::thread::Builder::new().name("search".to_owned()).spawn(work);
    }
    Search(stop)
}

/// Runs of whole records, small ones put together.
fn pieces(store: &Store) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (source, rows) in store.sources().iter().enumerate() {
        let Some(blob) = rows.blob() else { continue };
        for span in rows.spans() {
            match pieces.last_mut() {
                Some(last)
                    if last.source == source
                        && last.span.end == span.start
                        && last.span.end - last.span.start < PIECE =>
                {
                    last.span.end = span.end;
                }
                _ => pieces.push(Piece { source, blob: blob.clone(), span }),
            }
        }
    }
    pieces
}

fn hits(pattern: &Pattern, piece: &Piece, block: &mut Vec<u8>) -> Vec<u64> {
    let mut bytes = Vec::new();
    let mut from = piece.span.start;
    while from < piece.span.end {
        let want = MAX_PIECE.min(piece.span.end - from) as usize;
        // What cannot be read now has been cut or replaced; the store will hear of it.
        if piece.blob.read(from, want, block).is_err() || block.is_empty() {
            break;
        }
        let mut at = 0;
        while let Some(found) = pattern.0.find_at(block, at) {
            bytes.push(from + found.start() as u64);
            // One hit a line is enough: it is the record that is looked for.
            let rest = block.get(found.end()..).unwrap_or_default();
            at = memchr::memchr(b'\n', rest).map_or(block.len(), |end| found.end() + end);
            if at >= block.len() {
                break;
            }
            at += usize::from(at == found.start());
        }
        from += block.len() as u64;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_as_json_writes_it() {
        let found = |text: &str, record: &str| Pattern::text(text).unwrap().is_in(record.as_bytes());
        assert!(found("needle", "a NEEDLE b") && !found("Needle", "a NEEDLE b"));
        assert!(found("é 😀", r"x\u00E9 \ud83d\ude00") && found("é", "é"));
        assert!(found("say \"a.b\"", r#"say \"a.b\""#) && !found("a.b", "axb"));
        assert!(Pattern::regex("a[").is_err());
    }
}
