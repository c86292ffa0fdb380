//! Bytes of a record -> a `Case`, for commands, background loading and screen alike.

use std::borrow::Cow;
use std::hash::Hasher as _;
use std::sync::{Arc, Mutex};

use crate::source::block::Block;
use crate::source::cut::Cut;
use stepscope_base::guard::{guarded, lock};
use stepscope_base::json::{MAX_TEXT, Tape};
use stepscope_judge::case::{Case, CaseView, Context, Location};
use stepscope_judge::row::{Flag, RowFacts};
use stepscope_record::Record;

/// Size above which only one text is read at a time: a tape can be much larger than its text.
const LARGE: usize = 4 << 20;
static LARGE_TURN: Mutex<()> = Mutex::new(());

/// A text of one record.
#[derive(Clone, Copy)]
pub(crate) struct Text<'t> {
    pub(crate) bytes: &'t [u8],
    /// Its length on disk, of which only the beginning may be at hand.
    pub(crate) len: u64,
    /// True if it follows another value of the same line or document.
    pub(crate) joined: bool,
}

impl<'t> Text<'t> {
    /// Takes a cut of a block.
    pub(crate) fn of(block: &'t Block, cut: &Cut) -> Self {
        Self { bytes: block.text(cut), len: block.len_of(cut), joined: cut.joined }
    }

    /// Gives the record as a case, with what the rules find if it is to be checked. A fault of ours costs nothing but the
    /// findings: what is done with the case runs under the guard, and once more with a case that says so.
    pub(crate) fn case(
        self,
        tape: &mut Tape,
        around: &Arc<dyn Context + 't>,
        checks: bool,
        place: Location,
        mut found: impl FnMut(&CaseView<'_>),
    ) {
        let Self { bytes, len, joined } = self;
        self.read(tape, |tape, is_sound| {
            let origin = Location { joined, len, ..place };
            let case = Case::of(bytes, std::mem::take(tape), origin, around.clone());
            let look = || {
                let view = case.view();
                if checks {
                    view.findings();
                }
                found(&view);
            };
            if !is_sound || guarded(look).is_none() {
                found(&case.view_of_fault());
            }
            *tape = case.into_tape();
        });
    }

    /// Reads the text, and tells whether that could be done without a fault of ours. Of one that is too long on disk nothing
    /// is read. One large text is read at a time.
    pub(crate) fn read(self, tape: &mut Tape, found: impl FnOnce(&mut Tape, bool)) {
        let Self { bytes, len, .. } = self;
        let _turn = (bytes.len() > LARGE).then(|| lock(&LARGE_TURN));
        let read = guarded(|| {
            if len > MAX_TEXT as u64 {
                tape.refuse(bytes.len());
            } else {
                tape.read(bytes);
            }
        });
        if read.is_none() {
            *tape = Tape::default();
        }
        found(tape, read.is_some());
        if bytes.len() > LARGE {
            *tape = Tape::default();
        }
    }
}

/// Makes the case of a row of the table, with its context.
pub fn case_of_row<'t>(
    text: impl Into<Cow<'t, [u8]>>,
    mut tape: Tape,
    row: &RowFacts,
    around: Arc<dyn Context + 't>,
) -> Case<'t> {
    let text = text.into();
    if row.len as usize > MAX_TEXT {
        tape.refuse(text.len());
    } else {
        tape.read(&text);
    }
    let (joined, duplicate) = (row.has(Flag::Joined), row.has(Flag::Duplicate));
    Case::of(text, tape, Location { offset: row.offset(), joined, duplicate, ..Location::default() }, around)
}

/// Computes a number for a record's id that hardly any other has; `None` without an id.
pub(crate) fn id_hash(record: &Record<'_>) -> Option<u64> {
    Some(item_hash(record, record.id_text()?.bytes()))
}

/// Computes such a number for a record's question.
pub(crate) fn question_hash(record: &Record<'_>) -> Option<u64> {
    Some(item_hash(record, record.question?.string()?.bytes().trim_ascii()))
}

/// The document that a record names belongs to what it is about.
fn item_hash(record: &Record<'_>, name: &[u8]) -> u64 {
    match record.document_name() {
        Some(document) => hash(&[name, b"\n", document.bytes()].concat()),
        None => hash(name),
    }
}

/// Computes a 64-bit hash of bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
