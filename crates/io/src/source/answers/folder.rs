//! docintel folders: `<root>/<sub>/<stem>/{parsing,questions}`, told by what lies in them, at any depth, and their files
//! of questions and documents, read.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::StoreFolders;
use super::line::{Asked, SeenPage, StoredNumber, original_question};
use crate::failure::Failure;
use crate::source::beneath::UnderRoot;
use crate::source::columns::{Cell, Columns};
use crate::source::cut::decode_wide;
use crate::source::lines::Gathered;
use crate::source::open::{beneath_failure, open_beneath, read_small_beneath};
use crate::source::typed;
use crate::system::{FileId, FileType, is_link, os_name, slashed};
use stepscope_base::json::Tape;
use stepscope_base::text::Shown;
use stepscope_evidence::document::{Document, Heading};

/// Folders below a root are entered so deep.
const MAX_DEPTH: usize = 16;
/// Number of folders in a folder that are looked at to tell whether it holds documents.
const MAX_LOOKED_AT: usize = 512;
/// Number of folders that are watched for changes; more are not.
const MAX_CHANGING: usize = 2048;
/// A larger file of a question is not read.
const MAX_PART: u64 = 16 << 20;
/// Number of folders of a `questions` folder that are looked at to tell that it is one.
const MAX_TOLD: usize = 32;
const READ: &str = "cannot read";
const QUESTIONS: &str = "questions";
const PARSING: &str = "parsing";
const LINES: &str = "line_df";
const CONTENTS: &str = "toc_df";
const PAGES: &str = "retrieved_pages.parquet";

/// Role of a folder in a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FolderKind {
    /// A parsed document and its questions.
    Document,
    /// The questions to a document.
    Questions,
    /// One question.
    Question,
}

/// Tells what a folder is; `None`: nothing that is known here.
pub(super) fn shape(folder: &UnderRoot) -> Option<FolderKind> {
    let (name, above) = names(folder);
    if is_question(folder, above.as_deref() == Some(OsStr::new(QUESTIONS))) {
        Some(FolderKind::Question)
    } else if name.as_deref() == Some(OsStr::new(QUESTIONS)) && holds_questions(folder) {
        Some(FolderKind::Questions)
    } else if holds_questions(&folder.join(QUESTIONS)) || holds_tables(&folder.join(PARSING)) {
        Some(FolderKind::Document)
    } else {
        None
    }
}

/// Returns the names of a folder and of the one that it lies in.
fn names(folder: &UnderRoot) -> (Option<OsString>, Option<OsString>) {
    let full = std::path::absolute(folder.path()).unwrap_or_else(|_| folder.path().to_owned());
    let name = |path: &Path| path.file_name().map(OsStr::to_owned);
    (name(&full), full.parent().and_then(name))
}

fn is_question(folder: &UnderRoot, among_questions: bool) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has("parsed_question.json") || has(PAGES) || (among_questions && (has("answer.json") || has("meta.json")))
}

fn holds_questions(folder: &UnderRoot) -> bool {
    let (mut told, mut found) = (0, false);
    let listed = folder.list(|entry| {
        told += 1;
        found = entry.kind == FileType::Directory && is_question(&folder.join(entry.name), true);
        !found && told < MAX_TOLD
    });
    listed.is_ok() && found
}

fn holds_tables(folder: &UnderRoot) -> bool {
    let known = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name == b"parsing_summary.json"
            || (name.ends_with(b".parquet")
                && [LINES, CONTENTS, "page_df"].iter().any(|table| name.starts_with(table.as_bytes())))
    };
    let mut found = false;
    let listed = folder.list(|entry| {
        found = known(&entry.name);
        !found
    });
    listed.is_ok() && found
}

/// Tells whether there are documents somewhere below a folder; looks at the nearest folders only.
pub(super) fn holds_documents(folder: &UnderRoot, is_other_store: fn(&UnderRoot) -> bool) -> bool {
    let mut todo = std::collections::VecDeque::from([folder.clone()]);
    let mut looked_at = 0;
    while let Some(folder) = todo.pop_front() {
        if shape(&folder).is_some() {
            return true;
        }
        for folder in folders_in(&folder).0 {
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

/// Lists the folders in a folder by name, without hidden ones, and counts the links, which are not followed.
fn folders_in(folder: &UnderRoot) -> (Vec<UnderRoot>, u64) {
    let (mut names, mut links) = (Vec::new(), 0);
    // What cannot be listed has nothing that could be read.
    let _ = folder.list(|entry| {
        match entry.kind {
            FileType::Directory => names.push(entry.name),
            FileType::Symlink => links += 1,
            _ => {}
        }
        true
    });
    names.sort_unstable();
    (names.into_iter().map(|name| folder.join(name)).collect(), links)
}

/// Item that a walk through folders finds.
pub(super) enum FoundInFolder {
    /// A question to a document.
    Question(Asked),
    /// A document, after its questions; how many there were.
    Document(Vec<u8>, usize),
    /// Something that could not be read.
    Failed(Failure),
}

/// A walk through the documents of a store.
pub(super) struct Walk<'s> {
    /// Folder where the walk begins.
    top: &'s UnderRoot,
    /// Prefix of the names in the store, in front of the path below `top`.
    prefix: &'s Path,
    /// Folders that hold a store of their own.
    is_other_store: fn(&UnderRoot) -> bool,
    entered: HashSet<FileId>,
    tape: Tape,
    /// Folders in which something may change; not more than can be watched.
    pub folders: Vec<PathBuf>,
    /// Number of links in documents and among their questions that were not followed.
    pub links: u64,
}

impl<'s> Walk<'s> {
    pub(super) fn new(top: &'s UnderRoot, prefix: &'s Path, is_other_store: fn(&UnderRoot) -> bool) -> Self {
        let (entered, tape) = (HashSet::new(), Tape::default());
        Self { top, prefix, is_other_store, entered, tape, folders: Vec::new(), links: 0 }
    }

    /// Goes through everything below the folder, in path order, until `each` has had enough; `false`: it had.
    pub(super) fn run(&mut self, each: &mut dyn FnMut(FoundInFolder) -> bool) -> bool {
        let top = self.top;
        let (part, above) = (self.relative(top), self.prefix.parent());
        let name = |path: Option<&Path>| slashed(path.unwrap_or(Path::new(""))).into_owned();
        match shape(top) {
            Some(FolderKind::Question) => {
                let document = name(above.and_then(Path::parent));
                self.changing(top);
                let asked = self.question(&document, &part, top, each);
                return asked.is_none_or(|asked| each(FoundInFolder::Question(asked)));
            }
            Some(FolderKind::Questions) => return self.document(name(above), top, each),
            _ => {}
        }
        let mut todo = vec![(top.clone(), 0)];
        while let Some((folder, depth)) = todo.pop() {
            let identity = folder.kind().map(|found| found.id);
            if depth > MAX_DEPTH || !identity.is_ok_and(|identity| self.entered.insert(identity)) {
                continue;
            }
            if depth > 0 && (self.is_other_store)(&folder) {
                continue;
            }
            self.changing(&folder);
            if shape(&folder) == Some(FolderKind::Document) {
                self.links += folders_in(&folder).1;
                if !self.document(self.relative(&folder), &folder.join(QUESTIONS), each) {
                    return false;
                }
                continue;
            }
            // Links in these folders are counted where the folders are listed.
            let (folders, _) = folders_in(&folder);
            todo.extend(folders.into_iter().rev().map(|folder| (folder, depth + 1)));
        }
        true
    }

    fn document(
        &mut self,
        document: Vec<u8>,
        questions: &UnderRoot,
        each: &mut dyn FnMut(FoundInFolder) -> bool,
    ) -> bool {
        self.changing(questions);
        let mut count = 0;
        let (folders, links) = folders_in(questions);
        self.links += links;
        for folder in folders {
            self.changing(&folder);
            let name = self.relative(&folder);
            if let Some(asked) = self.question(&document, &name, &folder, each) {
                count += 1;
                if !each(FoundInFolder::Question(asked)) {
                    return false;
                }
            }
        }
        each(FoundInFolder::Document(document, count))
    }

    /// Reads the folder of a question; `None`: the reader is gone.
    fn question(
        &mut self,
        document: &[u8],
        name: &[u8],
        folder: &UnderRoot,
        each: &mut dyn FnMut(FoundInFolder) -> bool,
    ) -> Option<Asked> {
        let mut failed = Vec::new();
        let mut part = |name: &str| {
            read_part(&folder.join(name)).unwrap_or_else(|failure| {
                failed.push(failure);
                None
            })
        };
        let mut asked = Asked {
            doc_id: Some(document.to_vec()),
            folder: Some(name.to_vec()),
            parsed: part("parsed_question.json"),
            answer: part("answer.json"),
            meta: part("meta.json"),
            ..Asked::default()
        };
        match read_pages(&folder.join(PAGES)) {
            Ok(pages) => asked.pages = pages,
            Err(failure) => failed.push(failure),
        }
        let name = names(folder).0.unwrap_or_default().into_encoded_bytes();
        let question = asked.parsed.as_deref().and_then(|parsed| original_question(parsed, &mut self.tape));
        asked.question_id = Some(question_id(&name, question.as_deref()));
        failed.into_iter().all(|failure| each(FoundInFolder::Failed(failure))).then_some(asked)
    }

    fn changing(&mut self, folder: &UnderRoot) {
        if self.folders.len() < MAX_CHANGING {
            self.folders.push(folder.path().to_owned());
        }
    }

    /// Returns the name of a folder in the store: relative to its root, with `/`.
    fn relative(&self, folder: &UnderRoot) -> Vec<u8> {
        let below = folder.path().strip_prefix(self.top.path()).unwrap_or(folder.rest());
        let name = if self.prefix.as_os_str().is_empty() { below.to_owned() } else { self.prefix.join(below) };
        // Without a slash behind it.
        let name = name.components().as_path();
        if name.as_os_str().is_empty() {
            names(folder).0.unwrap_or_default().into_encoded_bytes()
        } else {
            slashed(name).into_owned()
        }
    }
}

/// Returns a question's id: the beginning of the hash of its text, of which its folder's name holds the first half.
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

/// Computes the first 16 hex digits of the SHA-1 of a question.
fn hash(question: &[u8]) -> String {
    let mut digits = sha1_smol::Sha1::from(question).digest().to_string();
    digits.truncate(16);
    digits
}

/// Tells whether a text consists of this many hex digits.
pub(super) fn is_hex(text: &[u8], digits: usize) -> bool {
    text.len() == digits && text.iter().all(u8::is_ascii_hexdigit)
}

/// Reads a file of a question, in UTF-8; `None`: there is none.
fn read_part(at: &UnderRoot) -> Result<Option<Vec<u8>>, Failure> {
    if is_absent(at) {
        return Ok(None);
    }
    let text = read_small_beneath(at, MAX_PART, READ)?;
    Ok(Some(decode_wide(&text).unwrap_or(text)))
}

fn is_absent(at: &UnderRoot) -> bool {
    at.kind().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Reads the pages that the model saw; `None`: they were not written down.
fn read_pages(at: &UnderRoot) -> Result<Option<Vec<SeenPage>>, Failure> {
    if is_absent(at) {
        return Ok(None);
    }
    let table = read_table(at, &["page_num", "rank", "score", "similarity", "match_count"])?;
    let number = |column, row| match table.cell(column, row) {
        Cell::Int(n) => StoredNumber::Int(*n),
        Cell::Float(x) if !x.is_nan() => StoredNumber::Float(*x),
        _ => StoredNumber::None,
    };
    let page = |row| {
        Some(SeenPage {
            number: table.cell(0, row).int()?,
            rank: number(1, row),
            score: number(2, row),
            similarity: number(3, row),
            matches: number(4, row),
        })
    };
    Ok(table.has(0).then(|| (0..table.rows).filter_map(page).collect()))
}

fn read_table(at: &UnderRoot, names: &[&str]) -> Result<Columns, Failure> {
    typed::read_columns(&open_beneath(at)?, names)
}

/// Reads the document of this name below a root; `None`: its lines are not there.
pub(super) fn document(folders: &StoreFolders, doc_id: &[u8]) -> Result<Option<Document>, Failure> {
    let Some(name) = os_name(doc_id).map(Path::new) else { return Ok(None) };
    // A name from data leads nowhere else.
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(None);
    }
    document_in(&folders.document(name))
}

/// Reads the document whose folder, or folder of tables, this is.
pub(crate) fn document_in(folder: &UnderRoot) -> Result<Option<Document>, Failure> {
    let parsing = folder.join(PARSING);
    let parsing = match parsing.kind() {
        Ok(found) if found.kind == FileType::Directory => parsing,
        Err(error) if is_link(&error) => return Err(beneath_failure(READ, parsing.path(), &error)),
        _ => folder.clone(),
    };
    let Some((lines, suffix)) = table(&parsing, LINES, None) else { return Ok(None) };
    let toc = match table(&parsing, CONTENTS, Some(&suffix)) {
        Some((at, _)) => contents(&at)?,
        None => Vec::new(),
    };
    read_lines(&lines, toc).map(Some)
}

/// Finds a table in a folder: `line_df.parquet`, else that of another parser, `line_df_docling.parquet`; with the
/// suffix that it has, or has to have.
fn table(folder: &UnderRoot, name: &str, suffix: Option<&OsStr>) -> Option<(UnderRoot, OsString)> {
    let mut found: Vec<(OsString, OsString)> = Vec::new();
    let listed = folder.list(|entry| {
        let rest =
            entry.name.as_encoded_bytes().strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_suffix(b".parquet"));
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(b"_")).and_then(os_name);
        if let Some(rest) = rest {
            found.push((rest.to_owned(), entry.name.clone()));
        }
        true
    });
    listed.ok()?;
    found.retain(|(own, _)| suffix.is_none_or(|suffix| own == suffix));
    found.sort_unstable();
    let (suffix, file) = found.into_iter().next()?;
    Some((folder.join(file), suffix))
}

/// Reads the lines of a table with `page_num`, `line_num` and `text`.
fn read_lines(at: &UnderRoot, toc: Vec<Heading>) -> Result<Document, Failure> {
    let table = read_table(at, &["page_num", "line_num", "text"])?;
    lines_of(&table, &Shown::path(at.path()), toc)
}

/// Takes the lines of a table that was read.
pub(crate) fn lines_of(table: &Columns, name: &Shown, toc: Vec<Heading>) -> Result<Document, Failure> {
    if !table.has(2) {
        return Err(Failure::own(READ, name, "it has no column \"text\", so it is not a table of document lines"));
    }
    let mut gathered = Gathered::default();
    for row in 0..table.rows {
        let text = table.cell(2, row).text_or_nothing().to_vec();
        gathered.push(table.cell(0, row).int(), table.cell(1, row).int(), text);
    }
    Ok(gathered.document(toc).from_file(name.clone()))
}

fn contents(at: &UnderRoot) -> Result<Vec<Heading>, Failure> {
    let table = read_table(at, &["level", "title", "start_page", "end_page"])?;
    let heading = |row| Heading {
        level: table.cell(0, row).int().and_then(|level| u32::try_from(level).ok()).unwrap_or(1),
        title: table.cell(1, row).text_or_nothing().to_vec(),
        pages: (table.cell(2, row).int(), table.cell(3, row).int()),
    };
    Ok((0..table.rows).map(heading).collect())
}
