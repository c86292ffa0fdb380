//! One record read and checked: what the background check, `stepscope check` and the screen have in common.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::beside::Beside;
use crate::cut::read_each;
use crate::library::Documents;
use stepscope_base::guard::guarded;
use stepscope_base::json::{MAX_TEXT, Tape};
use stepscope_core::answer::document::Document;
use stepscope_core::finding::Findings;
use stepscope_core::record::Record;
use stepscope_core::record::formats;
use stepscope_core::rules::answer::Schema;
use stepscope_core::rules::source::{duplicate_id, joined};
use stepscope_core::rules::{Subject, check};
use stepscope_core::table::row::{Flag, Row};

/// Of the texts above this size, only one is read at a time: a tape can be much larger than its text.
const LARGE: usize = 4 << 20;
static LARGE_TURN: Mutex<()> = Mutex::new(());

/// What is done with each record.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Depth {
    /// The rules look at it.
    #[default]
    Rules,
    /// It is only read: nobody asks for findings.
    Record,
}

/// Reads and checks records, one after another, in the same memory.
#[derive(Debug, Default)]
pub(crate) struct Examiner<'s> {
    tape: Tape,
    depth: Depth,
    answers: Option<&'s Schema>,
    documents: Option<Documents>,
}

/// What is known before a record is read.
#[derive(Clone, Copy)]
struct Known<'k, 's> {
    depth: Depth,
    answers: Option<&'s Schema>,
    documents: Option<&'k Documents>,
}

/// One record, read and checked.
#[derive(Debug)]
pub(crate) struct Examined<'a> {
    /// Its bytes in the text that was given.
    pub range: Range<usize>,
    /// It stands behind another value on one line or in one document.
    pub joined: bool,
    /// The record as the rules see it.
    pub subject: Subject<'a>,
    /// What the rules found.
    pub findings: Findings,
    /// Checking failed: a fault of stepscope, not of the record.
    pub fault: bool,
    depth: Depth,
}

impl<'s> Examiner<'s> {
    /// With a schema, takes every record as an answer object of it.
    pub(crate) fn judging(answers: Option<&'s Schema>) -> Self {
        Self { answers, ..Self::default() }
    }

    /// Only reads records: no rule looks at them, and nothing is found.
    pub(crate) fn reading() -> Self {
        Self { depth: Depth::Record, ..Self::default() }
    }

    /// Where the documents are that the next records cite.
    pub(crate) fn citing(&mut self, documents: Option<&Documents>) {
        self.documents = documents.cloned();
    }

    /// Reads and checks the record of a text, or the records if several values stand in it. `len` is the length on
    /// disk, of which only the beginning may be at hand.
    pub(crate) fn each(&mut self, text: &[u8], len: u64, joined: bool, mut found: impl FnMut(&Examined<'_>)) {
        let known = Known { depth: self.depth, answers: self.answers, documents: self.documents.as_ref() };
        read_values(&mut self.tape, text, len, joined, |range, joined, tape| {
            let own = text.get(range.clone()).unwrap_or_default();
            found(&examine(range, joined, own, tape, known));
        });
    }
}

/// Reads the value of a text, or the values if several stand in it, each with its range and whether it stands behind
/// another. Of a text that is too long on disk nothing is read. One large text is read at a time.
pub(crate) fn read_values(
    tape: &mut Tape,
    text: &[u8],
    len: u64,
    joined: bool,
    mut found: impl FnMut(Range<usize>, bool, &Tape),
) {
    let _turn = (text.len() > LARGE).then(|| LARGE_TURN.lock().unwrap_or_else(PoisonError::into_inner));
    if len > MAX_TEXT as u64 {
        tape.refuse(text.len());
        return found(0..text.len(), joined, tape);
    }
    read_each(tape, text, joined, found);
    if text.len() > LARGE {
        *tape = Tape::default();
    }
}

/// Reads the record of a row for the screen; then `Subject::new(text, &tape.problems, tape.root(text).map(formats::read))`
/// and [`from_around`] give the findings that the background check gave.
pub fn read_row(tape: &mut Tape, text: &[u8], row: &Row) {
    if row.len as usize > MAX_TEXT {
        tape.refuse(text.len());
    } else {
        tape.read(text);
    }
}

/// What is said of a record because of what stands around it.
pub fn from_around(row: &Row, readable: bool) -> Findings {
    let joined = row.has(Flag::Joined).then(|| joined(readable));
    joined.into_iter().chain(row.has(Flag::Duplicate).then(|| duplicate_id(None))).collect()
}

fn examine<'a>(
    range: Range<usize>,
    joined: bool,
    text: &'a [u8],
    tape: &'a Tape,
    Known { depth, answers, documents }: Known<'_, 'a>,
) -> Examined<'a> {
    let done = guarded(|| {
        let read = |root| match answers {
            Some(_) => formats::answer::read(root),
            None => formats::read(root),
        };
        let record = tape.root(text).map(read);
        if depth == Depth::Record {
            let subject = Subject::bare(text, &tape.problems, record);
            return Examined { range: range.clone(), joined, subject, findings: Findings::new(), fault: false, depth };
        }
        let mut subject = Subject::new(text, &tape.problems, record);
        subject.answer_schema = answers;
        let findings = judge(&mut subject, documents);
        Examined { range: range.clone(), joined, subject, findings, fault: false, depth }
    });
    let mut examined = done.unwrap_or_else(|| {
        let subject = Subject::new(text, &tape.problems, None);
        Examined { range, joined, subject, findings: Findings::new(), fault: true, depth }
    });
    if depth == Depth::Rules {
        examined.findings.extend(joined.then(|| self::joined(examined.subject.record.is_some())));
    }
    examined
}

/// The document that a record cites: its own, or one of its store.
pub(crate) fn cited(record: Option<&Record<'_>>, documents: Option<&Documents>) -> Option<Arc<Document>> {
    documents?.of(record?.typed.as_deref()?)
}

/// What the rules find in a record, next to the document that it cites.
fn judge(subject: &mut Subject<'_>, documents: Option<&Documents>) -> Findings {
    if let Some(document) = cited(subject.record.as_ref(), documents) {
        subject.document = Some(document);
    }
    check(subject)
}

/// Looks with the rules at a record that was only read.
pub(crate) fn in_full<'a>(read: &Subject<'a>, joined: bool, documents: Option<&Documents>) -> (Subject<'a>, Findings) {
    let record = read.record.as_ref().map(|record| formats::read(record.root));
    let mut subject = Subject::new(read.text, read.problems, record);
    let mut findings = judge(&mut subject, documents);
    findings.extend(joined.then(|| self::joined(subject.record.is_some())));
    (subject, findings)
}

impl Examined<'_> {
    fn place(&self, base: u64, len: u64) -> Row {
        let whole = if len > MAX_TEXT as u64 { len } else { self.range.len() as u64 };
        let mut row = Row::unchecked(base + self.range.start as u64, whole);
        if self.joined {
            row.set(Flag::Joined);
        }
        row
    }

    /// Its row; `base` is where the text begins in the source, `len` its length on disk.
    pub(crate) fn row(&self, base: u64, len: u64, beside: &Beside) -> Row {
        let place = self.place(base, len);
        if self.depth == Depth::Record {
            return place.read(self.subject.record.as_ref());
        }
        let mut row = place.checked(&self.subject, &self.findings, beside.answer(self.subject.record.as_ref()));
        if self.fault {
            row.set(Flag::Fault);
        }
        row
    }

    /// A number for its id that hardly any other id has; `None` without an id.
    pub(crate) fn id_hash(&self) -> Option<u64> {
        id_hash(self.subject.record.as_ref()?)
    }
}

/// A number for a record's id that hardly any other id has; `None` without an id.
pub(crate) fn id_hash(record: &Record<'_>) -> Option<u64> {
    use std::hash::Hasher;
    let id = record.id_text()?;
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(id.bytes());
    Some(hasher.finish())
}
