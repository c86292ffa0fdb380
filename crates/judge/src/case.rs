//! One record and everything known about it, each answer worked out once, when it is first asked for.
//!
//! Six types hold a record on its way:
//!
//! 1. [`Case`](crate::case::Case) owns its text and the tape of its JSON, knows what stands around it, and keeps every answer;
//! 2. [`CaseView`](crate::case::CaseView) lends the case's parts as handles into that text: record, procedure, state, items;
//! 3. [`Record`](stepscope_record::Record) is the handles on the values that stand in known places;
//! 4. [`Finding`](stepscope_record::finding::Finding) is what a rule says of it;
//! 5. [`RowFacts`](crate::row::RowFacts) is what the table keeps, forty bytes; reviews and comparisons keep a
//!    the `Summary` of a review: who it is, and what it answers;
//! 6. [`RowTexts`](crate::texts::RowTexts) is what a row on screen shows.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::Arc;

use crate::chain::ThoughtChain;
use crate::gold::Gold;
use crate::lost::LostValue;
use crate::peer::Peer;
use crate::peer::opinion::PeerOpinion;
use crate::quantity_links::QuantityLinks;
use crate::recompute::{Recomputed, RunAnswer};
use crate::rightness::Rightness;
use crate::route::Routed;
use crate::support::ItemSupport;
use crate::triage::Triage;
use stepscope_arithmetic::quantity::Quantity;
use stepscope_base::json::{Problem, Tape, Value};
use stepscope_base::schema::Schema;
use stepscope_base::text::Untrusted;
use stepscope_evidence::citations::ResolvedCitation;
use stepscope_evidence::document::Document;
use stepscope_evidence::truncation::Truncation;
use stepscope_evidence::typed::{TypedAnswer, inline_document};
use stepscope_record::finding::Findings;
use stepscope_record::models::ModelNames;
use stepscope_record::types::TypeRegistry;
use stepscope_record::{Record, formats};

mod view;

pub use view::CaseView;

/// Surroundings of a record that help to judge it.
pub trait Context: fmt::Debug + Send + Sync {
    /// The document that a structured answer cites, where it is at hand.
    fn document(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        inline_document(typed).map(Arc::new)
    }

    /// The answer of the baseline to the same question.
    fn baseline(&self, _: &Record<'_>) -> Option<f64> {
        None
    }

    /// The other runs of the question of a record, itself not among them.
    fn peers(&self, _: &CaseView<'_>) -> Vec<Arc<Peer>> {
        Vec::new()
    }

    /// The types that values of structured answers can have.
    fn types(&self) -> &TypeRegistry {
        TypeRegistry::built_in()
    }

    /// The numbers of the names of models.
    fn models(&self) -> Option<&ModelNames> {
        None
    }

    /// The name of the record's source, as it was given.
    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        Untrusted::default()
    }

    /// The line of a record in its source; `line`: its line in what was read.
    fn line(&self, _: Option<&Record<'_>>, line: u64) -> u64 {
        line
    }

    /// Tells whether a final number that is not finite breaks the answer's schema: upstream's `check_finite_number`.
    fn checks_finite(&self) -> bool {
        true
    }

    /// The schema of the answer in the state of every run, whatever the record says.
    fn state_schema(&self) -> Option<&Schema> {
        None
    }

    /// The schema of every record: each is taken as an answer object.
    fn answer_schema(&self) -> Option<&Schema> {
        None
    }
}

/// Nothing but the record itself.
impl Context for () {}

/// The document that was at hand for the record.
impl Context for Option<Arc<Document>> {
    fn document(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        self.clone().or_else(|| inline_document(typed).map(Arc::new))
    }
}

/// Position of a record.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Location {
    /// The position of its source among all inputs, from 0.
    pub source: usize,
    /// The number of the line in which it begins, from 1.
    pub line: u64,
    /// The column in which it begins, in characters from 1.
    pub column: usize,
    /// Its position in the source, from 0. Values that share a line share it.
    pub index: u64,
    /// Its first byte in the source.
    pub offset: u64,
    /// Number of its bytes there: of a text that is too long only the beginning is at hand.
    pub len: u64,
    /// The bytes of its source are not those of the file: offset and length count what was made of them.
    pub decoded: bool,
    /// It stands behind another value on one line or in one document.
    pub joined: bool,
    /// Its id stands earlier in the same source.
    pub duplicate: bool,
}

/// One record; see the module.
#[derive(Debug)]
pub struct Case<'t> {
    text: Cow<'t, [u8]>,
    tape: Tape,
    around: Arc<dyn Context + 't>,
    pub(crate) origin: Location,
    cache: Cache,
    pub(crate) judgments: Judgments,
}

/// Judgments of a case, kept here; [`crate::judged`] asks for them.
#[derive(Debug, Default)]
pub(crate) struct Judgments {
    pub(crate) findings: OnceCell<Findings>,
    pub(crate) peers: OnceCell<Option<Box<PeerOpinion>>>,
    pub(crate) triage: OnceCell<Option<Triage>>,
    pub(crate) routed: OnceCell<Option<Routed>>,
}

/// Answers that need no handles.
#[derive(Debug, Default)]
struct Cache {
    fault: Cell<bool>,
    chain: OnceCell<Option<Box<ThoughtChain>>>,
    document: OnceCell<Option<Arc<Document>>>,
    gold: OnceCell<Option<Gold>>,
    answer: OnceCell<RunAnswer>,
    rightness: OnceCell<Rightness>,
    in_order: OnceCell<bool>,
    is_worth_executing: OnceCell<bool>,
    links: OnceCell<Option<QuantityLinks>>,
    numbers: OnceCell<Vec<Quantity>>,
    executed: OnceCell<Option<Box<Recomputed>>>,
    lost: OnceCell<Option<LostValue>>,
    truncation: OnceCell<Option<Truncation>>,
    cited: OnceCell<Vec<ResolvedCitation>>,
    supports: OnceCell<Vec<ItemSupport>>,
    baseline: OnceCell<Option<f64>>,
}

impl<'t> Case<'t> {
    /// Reads a text, with nothing around it.
    pub fn read(text: impl Into<Cow<'t, [u8]>>) -> Self {
        let (text, mut tape) = (text.into(), Tape::default());
        tape.read(&text);
        Self::of(text, tape, Location::default(), Arc::new(()))
    }

    /// Reads a text with what stands around it.
    pub fn around(text: impl Into<Cow<'t, [u8]>>, around: Arc<dyn Context + 't>) -> Self {
        Self { around, ..Self::read(text) }
    }

    /// Reads a text next to the document that it cites.
    pub fn citing(text: impl Into<Cow<'t, [u8]>>, document: Option<Arc<Document>>) -> Self {
        Self::around(text, Arc::new(document))
    }

    /// Of a text and the tape that read it.
    pub fn of(text: impl Into<Cow<'t, [u8]>>, tape: Tape, origin: Location, around: Arc<dyn Context + 't>) -> Self {
        Self { text: text.into(), tape, origin, around, cache: Cache::default(), judgments: Judgments::default() }
    }

    /// The record with its parts, for as many questions as there are.
    pub fn view(&self) -> CaseView<'_> {
        self.view_as(if self.around.answer_schema().is_some() { formats::answer::read } else { formats::read })
    }

    /// The same of a record that is known to have a format.
    pub fn view_as<'c>(&'c self, read: impl FnOnce(Value<'c>) -> Record<'c>) -> CaseView<'c> {
        CaseView::of(self, self.root().map(read))
    }

    /// The same of a record that stepscope cannot cope with: as if it were not readable.
    pub(crate) fn view_as_fault(&self) -> CaseView<'_> {
        self.cache.fault.set(true);
        CaseView::of(self, None)
    }

    /// Its text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Its JSON, if it could be read.
    pub fn root(&self) -> Option<Value<'_>> {
        self.tape.root(&self.text)
    }

    /// Lists what was unusual in its text: of each kind the first.
    pub fn problems(&self) -> &[Problem] {
        self.tape.problems()
    }

    /// Its tape, to be used again.
    pub fn into_tape(self) -> Tape {
        self.tape
    }
}

#[cfg(test)]
mod tests;
