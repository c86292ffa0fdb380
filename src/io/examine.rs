//! One record read and checked: what the background check, `stepscope check` and the screen have in common.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::cut::{mark_joined, read_each};
use crate::domain::finding::{Finding, Findings, Place, Severity};
use crate::domain::formats;
use crate::domain::json::{MAX_TEXT, Pointer, Tape};
use crate::domain::record::Record;
use crate::domain::row::{Flag, Row};
use crate::domain::rules::answer::Schema;
use crate::domain::rules::{Subject, check};

/// Says that an id stands earlier in the same source.
pub const DUPLICATE_ID: &str = "record/duplicate_id";

/// Of the texts above this size, only one is read at a time: a tape can be much larger than its text.
const LARGE: usize = 4 << 20;
static LARGE_TURN: Mutex<()> = Mutex::new(());

/// Reads and checks records, one after another, in the same memory.
#[derive(Debug, Default)]
pub struct Examiner<'s> {
    tape: Tape,
    answers: Option<&'s Schema>,
}

/// One record, read and checked.
#[derive(Debug)]
pub struct Examined<'a> {
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
}

impl<'s> Examiner<'s> {
    /// With a schema, takes every record as an answer object of it.
    pub fn judging(answers: Option<&'s Schema>) -> Self {
        Self { answers, ..Self::default() }
    }

    /// Reads and checks the record of a text, or the records if several values stand in it. `len` is the length on
    /// disk, of which only the beginning may be at hand.
    pub fn each(&mut self, text: &[u8], len: u64, joined: bool, mut found: impl FnMut(&Examined<'_>)) {
        let _turn = (text.len() > LARGE).then(|| LARGE_TURN.lock().unwrap_or_else(PoisonError::into_inner));
        if len > MAX_TEXT as u64 {
            self.tape.refuse(text.len());
            found(&examine(0..text.len(), joined, text, &self.tape, self.answers));
            return;
        }
        let answers = self.answers;
        read_each(&mut self.tape, text, joined, |range, joined, tape| {
            let own = text.get(range.clone()).unwrap_or_default();
            found(&examine(range, joined, own, tape, answers));
        });
        if text.len() > LARGE {
            self.tape = Tape::default();
        }
    }
}

/// Reads the record of a row for the screen, with everything that the background check knew; then
/// `Subject::new(text, &tape.problems, tape.root(text).map(formats::read))` gives the same findings.
pub fn read_row(tape: &mut Tape, text: &[u8], row: &Row) {
    if row.len as usize > MAX_TEXT {
        tape.refuse(text.len());
    } else {
        tape.read(text);
    }
    if row.has(Flag::Joined) {
        mark_joined(tape, text.len());
    }
}

/// What is said of a record whose id stands earlier in the same source: no rule can see that in the record alone.
pub fn duplicate_id(first_line: Option<u64>) -> Finding {
    let message = match first_line {
        Some(line) => format!("This id stands already in line {line}; runs are joined by id."),
        None => "This id stands earlier in the same file; runs are joined by id.".to_owned(),
    };
    let place = Place::Value(Pointer::from_iter(["id"]));
    Finding::new(DUPLICATE_ID, Severity::Note, message, place).help("give each run its own id")
}

fn examine<'a>(
    range: Range<usize>,
    joined: bool,
    text: &'a [u8],
    tape: &'a Tape,
    answers: Option<&'a Schema>,
) -> Examined<'a> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let read = |root| if answers.is_some() { formats::answer::read(root) } else { formats::read(root) };
        let subject = Subject::new(text, &tape.problems, tape.root(text).map(read)).answer_schema(answers);
        let findings = check(&subject);
        (subject, findings)
    }));
    let fault = done.is_err();
    let (subject, findings) = done.unwrap_or_else(|_| (Subject::new(text, &tape.problems, None), Vec::new()));
    Examined { range, joined, subject, findings, fault }
}

impl Examined<'_> {
    /// Its row; `base` is where the text begins in the source, `len` its length on disk.
    pub fn row(&self, base: u64, len: u64) -> Row {
        let whole = if len > MAX_TEXT as u64 { len } else { self.range.len() as u64 };
        let mut row = Row::unchecked(base + self.range.start as u64, whole);
        if self.joined {
            row.set(Flag::Joined);
        }
        let mut row = row.checked(&self.subject, &self.findings);
        if self.fault {
            row.set(Flag::Fault);
        }
        row
    }

    /// A number for its id that hardly any other id has; `None` without an id.
    pub fn id_hash(&self) -> Option<u64> {
        id_hash(self.subject.record.as_ref()?)
    }
}

/// A number for a record's id that hardly any other id has; `None` without an id.
pub fn id_hash(record: &Record<'_>) -> Option<u64> {
    use std::hash::Hasher;
    let id = record.id_text()?;
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(id.bytes());
    Some(hasher.finish())
}
