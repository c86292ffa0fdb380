//! docintel folders: `<root>/<sub>/<stem>/{parsing,questions}`, told by what lies in them, at any depth.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use super::line::{Asked, Number, Page, original_question};
use crate::domain::document::{Document, Heading};
use crate::domain::json::Tape;
use crate::domain::text::Shown;
use crate::io::cut::decode_wide;
use crate::io::failure::Failure;
use crate::io::library::Gathered;
use crate::io::open::{Opened, open};
use crate::io::parquet::{self, Cell, Columns};

/// Folders below a root are entered so deep.
const MAX_DEPTH: usize = 16;
/// To tell whether a folder holds documents, so many folders in it are looked at.
const MAX_LOOKED_AT: usize = 512;
/// More folders than that nobody watches.
const MAX_CHANGING: usize = 2048;
/// A larger file of a question is not read.
const MAX_PART: u64 = 16 << 20;
/// So many folders of a `questions` folder are looked at to tell that it is one.
const MAX_TOLD: usize = 32;
const READ: &str = "cannot read";
const QUESTIONS: &str = "questions";
const PARSING: &str = "parsing";
const LINES: &str = "line_df";
const CONTENTS: &str = "toc_df";
const PAGES: &str = "retrieved_pages.parquet";

/// What a folder is in a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// A parsed document and its questions.
    Document,
    /// The questions to a document.
    Questions,
    /// One question.
    Question,
}

/// Tells what a folder is; `None`: nothing that is known here.
pub(super) fn shape(folder: &Path) -> Option<Shape> {
    if is_question(folder) {
        Some(Shape::Question)
    } else if is_questions(folder) {
        Some(Shape::Questions)
    } else if is_questions(&folder.join(QUESTIONS)) || holds_tables(&folder.join(PARSING)) {
        Some(Shape::Document)
    } else {
        None
    }
}

fn is_question(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    let among_questions = || folder.parent().and_then(Path::file_name) == Some(OsStr::new(QUESTIONS));
    has("parsed_question.json") || has(PAGES) || (among_questions() && (has("answer.json") || has("meta.json")))
}

fn is_questions(folder: &Path) -> bool {
    folder.file_name() == Some(OsStr::new(QUESTIONS))
        && std::fs::read_dir(folder)
            .is_ok_and(|mut entries| entries.by_ref().take(MAX_TOLD).flatten().any(|entry| is_question(&entry.path())))
}

fn holds_tables(folder: &Path) -> bool {
    let known = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name == b"parsing_summary.json"
            || (name.ends_with(b".parquet")
                && [LINES, CONTENTS, "page_df"].iter().any(|table| name.starts_with(table.as_bytes())))
    };
    std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| known(&entry.file_name())))
}

/// Whether documents lie somewhere below a folder; looks at the nearest folders only.
pub(super) fn holds_documents(folder: &Path, is_other_store: fn(&Path) -> bool) -> bool {
    let mut todo = std::collections::VecDeque::from([folder.to_owned()]);
    let mut looked_at = 0;
    while let Some(folder) = todo.pop_front() {
        if shape(&folder).is_some() {
            return true;
        }
        for folder in folders_in(&folder) {
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT {
                return false;
            }
            if !is_other_store(&folder) {
                todo.push_back(folder);
            }
        }
    }
    false
}

/// The folders in a folder by name, without hidden ones.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<OsString> = entries
        .flatten()
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        // Without asking the disk for each entry, but for links.
        .filter(|entry| match entry.file_type() {
            Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
            kind => kind.is_ok_and(|kind| kind.is_dir()),
        })
        .map(|entry| entry.file_name())
        .collect();
    names.sort_unstable();
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// What a walk through folders finds.
pub(super) enum Found {
    /// A question to a document.
    Question(Asked),
    /// A document, after its questions; how many there were.
    Document(Vec<u8>, usize),
    /// Something that could not be read.
    Failed(Failure),
}

/// A walk through the documents of a store.
pub(super) struct Walk<'s> {
    /// The root of the store, which names of documents are relative to.
    root: &'s Path,
    /// Folders that hold a store of their own.
    is_other_store: fn(&Path) -> bool,
    entered: HashSet<(u64, u64)>,
    tape: Tape,
    /// Folders in which something may change; not more than can be watched.
    pub folders: Vec<PathBuf>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(root: &'s Path, is_other_store: fn(&Path) -> bool) -> Self {
        Self { root, is_other_store, entered: HashSet::new(), tape: Tape::default(), folders: Vec::new() }
    }

    /// Goes through everything below a folder, in path order, until `each` has had enough; `false`: it had.
    pub(super) fn run(&mut self, part: &Path, each: &mut dyn FnMut(Found) -> bool) -> bool {
        match shape(part) {
            Some(Shape::Question) => {
                let document = part.parent().and_then(Path::parent).unwrap_or(part);
                self.changing(part);
                let asked = self.question(document, part, each);
                return asked.is_none_or(|asked| each(Found::Question(asked)));
            }
            Some(Shape::Questions) => return self.document(part.parent().unwrap_or(part), each),
            _ => {}
        }
        let mut todo = vec![(part.to_owned(), 0)];
        while let Some((folder, depth)) = todo.pop() {
            let identity = std::fs::metadata(&folder).map(|meta| (meta.dev(), meta.ino()));
            if depth > MAX_DEPTH || !identity.is_ok_and(|identity| self.entered.insert(identity)) {
                continue;
            }
            if depth > 0 && (self.is_other_store)(&folder) {
                continue;
            }
            self.changing(&folder);
            if shape(&folder) == Some(Shape::Document) {
                if !self.document(&folder, each) {
                    return false;
                }
                continue;
            }
            todo.extend(folders_in(&folder).into_iter().rev().map(|folder| (folder, depth + 1)));
        }
        true
    }

    fn document(&mut self, document: &Path, each: &mut dyn FnMut(Found) -> bool) -> bool {
        let questions = document.join(QUESTIONS);
        self.changing(&questions);
        let mut count = 0;
        for folder in folders_in(&questions) {
            self.changing(&folder);
            if let Some(asked) = self.question(document, &folder, each) {
                count += 1;
                if !each(Found::Question(asked)) {
                    return false;
                }
            }
        }
        each(Found::Document(self.relative(document), count))
    }

    /// What lies in the folder of a question; `None`: nobody listens any more.
    fn question(&mut self, document: &Path, folder: &Path, each: &mut dyn FnMut(Found) -> bool) -> Option<Asked> {
        let mut failed = Vec::new();
        let mut part = |name: &str| {
            read_part(&folder.join(name)).unwrap_or_else(|failure| {
                failed.push(failure);
                None
            })
        };
        let mut asked = Asked {
            doc_id: Some(self.relative(document)),
            folder: Some(self.relative(folder)),
            parsed: part("parsed_question.json"),
            answer: part("answer.json"),
            meta: part("meta.json"),
            ..Asked::default()
        };
        match read_pages(&folder.join(PAGES)) {
            Ok(pages) => asked.pages = pages,
            Err(failure) => failed.push(failure),
        }
        let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
        let question = asked.parsed.as_deref().and_then(|parsed| original_question(parsed, &mut self.tape));
        asked.question_id = Some(question_id(name, question.as_deref()));
        failed.into_iter().all(|failure| each(Found::Failed(failure))).then_some(asked)
    }

    fn changing(&mut self, folder: &Path) {
        if self.folders.len() < MAX_CHANGING {
            self.folders.push(folder.to_owned());
        }
    }

    /// A path as the store names it: relative to its root, with `/`.
    fn relative(&self, path: &Path) -> Vec<u8> {
        let name = path.strip_prefix(self.root).unwrap_or(path);
        let name = if name.as_os_str().is_empty() { path.file_name().unwrap_or_default() } else { name.as_os_str() };
        name.as_encoded_bytes().to_vec()
    }
}

/// A question's id: the beginning of the hash of its text, of which its folder's name holds the first half.
fn question_id(folder: &[u8], question: Option<&[u8]>) -> Vec<u8> {
    let half = folder.rsplit(|byte| *byte == b'_').next().filter(|half| is_hex(half, 8));
    let whole = question.map(|question| hash(question).into_bytes());
    match (whole, half) {
        (Some(whole), Some(half)) if !whole.starts_with(half) => half.to_vec(),
        (Some(whole), _) => whole,
        (None, Some(half)) => half.to_vec(),
        (None, None) => folder.to_vec(),
    }
}

/// The first 16 hex digits of the SHA-1 of a question.
fn hash(question: &[u8]) -> String {
    let mut digits = sha1_smol::Sha1::from(question).digest().to_string();
    digits.truncate(16);
    digits
}

/// Whether a text is so many hex digits.
pub(super) fn is_hex(text: &[u8], digits: usize) -> bool {
    text.len() == digits && text.iter().all(u8::is_ascii_hexdigit)
}

/// A file of a question, in UTF-8; `None`: there is none.
fn read_part(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    if std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let Opened::File(blob) = open(path)? else {
        return Err(Failure::own(READ, &Shown::path(path), "it is a pipe, not a file"));
    };
    let len = blob.len()?;
    if len > MAX_PART {
        return Err(Failure::own(READ, &Shown::path(path), "it is larger than 16 MB"));
    }
    let mut text = Vec::new();
    blob.read(0, len as usize, &mut text)?;
    Ok(Some(decode_wide(&text).unwrap_or(text)))
}

/// The pages that the model saw; `None`: they were not written down.
fn read_pages(path: &Path) -> Result<Option<Vec<Page>>, Failure> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    let table = parquet::read(path, &["page_num", "rank", "score", "similarity", "match_count"])?;
    let number = |column, row| match table.cell(column, row) {
        Cell::Int(n) => Number::Int(*n),
        Cell::Float(x) if !x.is_nan() => Number::Float(*x),
        _ => Number::None,
    };
    let page = |row| {
        Some(Page {
            number: table.cell(0, row).int()?,
            rank: number(1, row),
            score: number(2, row),
            similarity: number(3, row),
            matches: number(4, row),
        })
    };
    Ok(table.has(0).then(|| (0..table.rows).filter_map(page).collect()))
}

/// The document of this name below a root; `None`: its lines are not there.
pub(super) fn document(root: &Path, doc_id: &[u8]) -> Result<Option<Document>, Failure> {
    use std::os::unix::ffi::OsStrExt as _;
    let name = Path::new(OsStr::from_bytes(doc_id));
    // A name from data leads nowhere else.
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(None);
    }
    document_in(&root.join(name))
}

/// The document whose folder, or folder of tables, this is.
pub(crate) fn document_in(folder: &Path) -> Result<Option<Document>, Failure> {
    let parsing = folder.join(PARSING);
    let parsing = if parsing.is_dir() { parsing } else { folder.to_owned() };
    let Some((lines, suffix)) = table(&parsing, LINES, None) else { return Ok(None) };
    let toc = match table(&parsing, CONTENTS, Some(&suffix)) {
        Some((path, _)) => contents(&path)?,
        None => Vec::new(),
    };
    read_lines(&lines, toc).map(Some)
}

/// A table in a folder: `line_df.parquet`, else that of another parser, `line_df_docling.parquet`; with the suffix that
/// it has, or has to have.
fn table(folder: &Path, name: &str, suffix: Option<&OsStr>) -> Option<(PathBuf, OsString)> {
    let mut found: Vec<(OsString, OsString)> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| {
            use std::os::unix::ffi::OsStrExt as _;
            let file = entry.file_name();
            let rest = file.as_bytes().strip_prefix(name.as_bytes())?.strip_suffix(b".parquet")?;
            (rest.is_empty() || rest.starts_with(b"_")).then(|| (OsStr::from_bytes(rest).to_owned(), file.clone()))
        })
        .filter(|(own, _)| suffix.is_none_or(|suffix| own == suffix))
        .collect();
    found.sort_unstable();
    let (suffix, file) = found.into_iter().next()?;
    Some((folder.join(file), suffix))
}

/// The lines of a table with `page_num`, `line_num` and `text`.
pub(super) fn read_lines(path: &Path, toc: Vec<Heading>) -> Result<Document, Failure> {
    let table = parquet::read(path, &["page_num", "line_num", "text"])?;
    lines_of(&table, &Shown::path(path), toc)
}

/// The lines of a table that was read.
pub(crate) fn lines_of(table: &Columns, name: &Shown, toc: Vec<Heading>) -> Result<Document, Failure> {
    if !table.has(2) {
        return Err(Failure::own(READ, name, "the table has no column text: it is no table of lines"));
    }
    let mut gathered = Gathered::default();
    for row in 0..table.rows {
        let text = table.cell(2, row).text().unwrap_or_default().to_vec();
        gathered.push(table.cell(0, row).int(), table.cell(1, row).int(), text);
    }
    Ok(gathered.document(toc))
}

fn contents(path: &Path) -> Result<Vec<Heading>, Failure> {
    let table = parquet::read(path, &["level", "title", "start_page", "end_page"])?;
    let heading = |row| Heading {
        level: table.cell(0, row).int().and_then(|level| u32::try_from(level).ok()).unwrap_or(1),
        title: table.cell(1, row).text().unwrap_or_default().to_vec(),
        pages: (table.cell(2, row).int(), table.cell(3, row).int()),
    };
    Ok((0..table.rows).map(heading).collect())
}
