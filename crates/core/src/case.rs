//! One record and everything that can be said of it, each answer worked out when it is first asked for, and once.
//!
//! A record meets six types on its way:
//!
//! 1. [`Case`](crate::case::Case) owns its text and the tape of its JSON, knows what stands around it, and keeps every answer;
//! 2. [`CaseView`](crate::case::CaseView) lends the case's parts as handles into that text: record, procedure, state, items;
//! 3. [`Record`](crate::record::Record) is the handles on the values that stand in known places;
//! 4. [`RowFacts`](crate::table::row::RowFacts) is what the table keeps: forty bytes;
//! 5. [`Summary`](crate::summary::Summary) is what reviews and comparisons keep: who it is, and what it answers;
//! 6. the screen's open record is a case with what the panes draw.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::Arc;

use crate::answer::citations::{self, ResolvedCitation};
use crate::answer::contract::{self, ContractBreach, Strictness};
use crate::answer::document::Document;
use crate::answer::route::{Routed, route};
use crate::answer::truncation::{self, Truncation};
use crate::answer::typed::{AnswerItem, AnswerRequest, TypedAnswer, UnreadRest, inline_document};
use crate::arithmetic::gold::Gold;
use crate::arithmetic::quantity::{Quantity, QuantityLinks, find};
use crate::arithmetic::recompute::{Recomputed, is_right_by};
use crate::excess::{self, Excess};
use crate::finding::{Finding, Findings};
use crate::procedure::Procedure;
use crate::record::types::TypeRegistry;
use crate::record::{Record, RecordKind, formats};
use crate::rules::procedure::{Flow, SchemaErrors, schema_errors};
use crate::rules::source::{duplicate_id, joined};
use crate::rules::{self, run};
use crate::run::state::State;
use crate::triage::Triage;
use stepscope_base::json::{Problem, Tape, Value};
use stepscope_base::schema::Schema;
use stepscope_base::text::Untrusted;

/// What stands around a record and helps to judge it.
pub trait Context: fmt::Debug + Send + Sync {
    /// The document that a typed answer cites, where it is at hand.
    fn document(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        inline_document(typed).map(Arc::new)
    }

    /// The answer of the baseline to the same question.
    fn baseline(&self, _: &Record<'_>) -> Option<f64> {
        None
    }

    /// The types that values of typed answers can have.
    fn types(&self) -> &TypeRegistry {
        TypeRegistry::built_in()
    }

    /// The name of the record's source, as it was given.
    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        Untrusted::default()
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

/// Where a record stands.
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
    /// How many bytes it has there: of a text that is too long only the beginning is at hand.
    pub len: u64,
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
    origin: Location,
    cache: Cache,
}

/// Answers that need no handles.
#[derive(Debug, Default)]
struct Cache {
    fault: Cell<bool>,
    document: OnceCell<Option<Arc<Document>>>,
    gold: OnceCell<Option<Gold>>,
    right: OnceCell<Option<bool>>,
    in_order: OnceCell<bool>,
    is_worth_executing: OnceCell<bool>,
    links: OnceCell<Option<QuantityLinks>>,
    numbers: OnceCell<Vec<Quantity>>,
    executed: OnceCell<Option<Box<Recomputed>>>,
    truncation: OnceCell<Option<Truncation>>,
    cited: OnceCell<Vec<ResolvedCitation>>,
    findings: OnceCell<Findings>,
    baseline: OnceCell<Option<f64>>,
    triage: OnceCell<Option<Triage>>,
    routed: OnceCell<Option<Routed>>,
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
        Self { text: text.into(), tape, origin, around, cache: Cache::default() }
    }

    /// The record with its parts, for as many questions as there are.
    pub fn view(&self) -> CaseView<'_> {
        self.view_as(if self.around.answer_schema().is_some() { formats::answer::read } else { formats::read })
    }

    /// The same of a record that is known to have a format.
    pub fn view_as<'c>(&'c self, read: impl FnOnce(Value<'c>) -> Record<'c>) -> CaseView<'c> {
        CaseView::of(self, self.root().map(read))
    }

    /// The same of a record that stepscope cannot cope with: as if it were not readable, and without findings.
    pub fn view_of_fault(&self) -> CaseView<'_> {
        self.cache.fault.set(true);
        let _ = self.cache.findings.set(self.because_of_place(false));
        CaseView::of(self, None)
    }

    fn because_of_place(&self, readable: bool) -> Findings {
        let joined = self.origin.joined.then(|| joined(readable));
        joined.into_iter().chain(self.origin.duplicate.then(|| duplicate_id(None))).collect()
    }

    /// Its text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Its JSON, if it could be read.
    pub fn root(&self) -> Option<Value<'_>> {
        self.tape.root(&self.text)
    }

    /// What was unusual in its text.
    pub fn problems(&self) -> &[Problem] {
        self.tape.problems()
    }

    /// What the rules find in it, with what is to be said because of its place.
    pub fn findings(&self) -> &Findings {
        self.cache.findings.get().unwrap_or_else(|| self.view().findings())
    }

    /// Forgets what the rules found but for some of it. To be called before anything that rests on findings is asked.
    pub fn retain_findings(&mut self, keeps: impl FnMut(&Finding) -> bool) {
        let mut findings = self.findings().clone();
        findings.retain(keeps);
        self.cache.findings = OnceCell::from(findings);
    }

    /// Its tape, to be used again.
    pub fn into_tape(self) -> Tape {
        self.tape
    }
}

/// A case with its record, procedure, state and items: handles into the case's text. What is not borrowed from there is
/// kept in the case.
#[derive(Debug)]
pub struct CaseView<'c> {
    case: &'c Case<'c>,
    /// The record; `None` if the text could not be read.
    pub record: Option<Record<'c>>,
    procedure: OnceCell<Option<Procedure<'c>>>,
    procedure_errors: OnceCell<SchemaErrors>,
    flow: OnceCell<Flow<'c>>,
    state: OnceCell<State<'c>>,
    answered: OnceCell<Option<Box<Answered<'c>>>>,
    excess: OnceCell<Vec<Excess>>,
}

/// A typed answer, read once for all rules.
#[derive(Debug)]
pub struct Answered<'a> {
    /// Everything that was answered.
    pub items: Vec<AnswerItem<'a>>,
    /// What the question asks for.
    pub asked: AnswerRequest,
    /// What of it is not read.
    pub rest: UnreadRest,
    /// Where the answer does not hold the contract.
    pub breaches: Vec<ContractBreach>,
}

impl<'a> Answered<'a> {
    fn of(typed: &TypedAnswer<'a>, types: &TypeRegistry) -> Self {
        let (items, rest) = typed.items_and_rest();
        let breaches = contract::breaches(typed, &items, types);
        Self { asked: typed.asked(), rest, breaches, items }
    }
}

impl<'c> CaseView<'c> {
    fn of(case: &'c Case<'c>, record: Option<Record<'c>>) -> Self {
        Self {
            case,
            record,
            procedure: OnceCell::new(),
            procedure_errors: OnceCell::new(),
            flow: OnceCell::new(),
            state: OnceCell::new(),
            answered: OnceCell::new(),
            excess: OnceCell::new(),
        }
    }

    /// The case for itself: with nothing around it but the document that it cites.
    pub fn to_owned(&self) -> Case<'static> {
        let (text, tape) = (self.text().to_vec(), self.case.tape.clone());
        Case::of(text, tape, self.origin(), Arc::new(self.document().cloned()))
    }

    /// The text of the record.
    pub fn text(&self) -> &'c [u8] {
        &self.case.text
    }

    /// Its JSON, if it could be read.
    pub fn root(&self) -> Option<Value<'c>> {
        self.case.root()
    }

    /// Where it stands.
    pub fn origin(&self) -> Location {
        self.case.origin
    }

    /// The name of its source, as it was given.
    pub fn source(&self) -> Untrusted<'c> {
        self.case.around.source(self.record.as_ref())
    }

    /// Whether looking at it failed: a fault of stepscope, not of the record.
    pub fn is_fault(&self) -> bool {
        self.case.cache.fault.get()
    }

    /// What it is.
    pub fn kind(&self) -> RecordKind {
        self.record.as_ref().map_or(RecordKind::Broken, |record| record.kind)
    }

    /// Its own id, string or number.
    pub fn id(&self) -> Option<Value<'c>> {
        self.record.as_ref()?.id
    }

    /// What was unusual in its text.
    pub fn problems(&self) -> &'c [Problem] {
        self.case.tape.problems()
    }

    /// The types that values of typed answers can have.
    pub fn types(&self) -> &'c TypeRegistry {
        self.case.around.types()
    }

    /// The schema that answers must hold, where the user gave one; else the record's own.
    pub fn answer_schema(&self) -> Option<&'c Schema> {
        self.case.around.answer_schema()
    }

    /// Its procedure.
    pub fn procedure(&self) -> Option<&Procedure<'c>> {
        let read = || self.record.as_ref()?.procedure.map(Procedure::read);
        self.procedure.get_or_init(read).as_ref()
    }

    /// What upstream's schema says of the procedure: only if that is nothing the five rules speak.
    pub fn procedure_errors(&self) -> &SchemaErrors {
        self.procedure_errors.get_or_init(|| self.procedure().map(schema_errors).unwrap_or_default())
    }

    /// The procedure, if it holds upstream's schema.
    pub fn valid_procedure(&self) -> Option<&Procedure<'c>> {
        self.procedure().filter(|_| self.procedure_errors().is_empty())
    }

    /// The procedure with who writes and who reads what, if it holds upstream's schema.
    pub fn valid_flow(&self) -> Option<(&Procedure<'c>, &Flow<'c>)> {
        let procedure = self.valid_procedure()?;
        Some((procedure, self.flow.get_or_init(|| Flow::of(procedure))))
    }

    /// The global state over time; of what could not be read none.
    pub fn state(&self) -> &State<'c> {
        let state = || self.record.as_ref().map(|record| State::of(record, self.procedure()));
        self.state.get_or_init(|| state().unwrap_or_default())
    }

    /// The lists in it of which only the beginning is read.
    pub fn excess(&self) -> &[Excess] {
        self.excess.get_or_init(|| {
            let rest = self.answered().map(|(_, answered)| answered.rest).unwrap_or_default();
            self.record.as_ref().map(|record| excess::of(record, self.procedure(), rest)).unwrap_or_default()
        })
    }

    /// The parts of a typed answer, if the record is one.
    pub fn typed(&self) -> Option<&TypedAnswer<'c>> {
        self.record.as_ref()?.typed.as_deref()
    }

    /// A typed answer with everything it holds.
    pub fn answered(&self) -> Option<(&TypedAnswer<'c>, &Answered<'c>)> {
        let typed = self.typed()?;
        let read = || Some(Box::new(Answered::of(typed, self.types())));
        Some((typed, self.answered.get_or_init(read).as_deref()?))
    }

    /// The items of a typed answer; none of any other record.
    pub fn items(&self) -> &[AnswerItem<'c>] {
        self.answered().map(|(_, answered)| answered.items.as_slice()).unwrap_or_default()
    }

    /// The document that a typed answer cites, where it is at hand.
    pub fn document(&self) -> Option<&'c Arc<Document>> {
        self.case.cache.document.get_or_init(|| self.case.around.document(self.typed()?)).as_ref()
    }

    /// What became of every cited span, in order; empty where the document is not at hand.
    pub fn resolutions(&self) -> &'c [ResolvedCitation] {
        let resolve = || Some(citations::resolve_all(self.document()?, self.items(), &self.typed()?.retrieved()));
        self.case.cache.cited.get_or_init(|| resolve().unwrap_or_default())
    }

    /// How many items of a typed answer rest on quotes that stand where they should; `None` where the document that
    /// would tell is not at hand.
    pub fn grounded(&self) -> Option<usize> {
        let items = self.items();
        if self.document().is_none() {
            return items.iter().all(|item| item.citations.is_empty()).then_some(0);
        }
        let cited = self.resolutions();
        Some((0..items.len()).filter(|item| citations::is_item_grounded(cited, *item)).count())
    }

    /// Whether the model saw all there is.
    pub fn truncation(&self) -> Option<&'c Truncation> {
        let judge = || {
            let (typed, answered) = self.answered()?;
            let document = self.document().map(AsRef::as_ref);
            Some(truncation::judge(typed, &answered.items, &answered.asked, document))
        };
        self.case.cache.truncation.get_or_init(judge).as_ref()
    }

    /// Which readers would take a typed answer; `None` where its dialect has no published contract.
    pub fn strictness(&self) -> Option<Strictness> {
        let (typed, answered) = self.answered()?;
        contract::strictness(typed, &answered.items, &answered.breaches)
    }

    /// The gold answer.
    pub fn gold(&self) -> Option<&'c Gold> {
        self.case.cache.gold.get_or_init(|| Gold::of(self.record.as_ref()?)).as_ref()
    }

    /// Whether the run is right: by gold where there is one, else as it was judged.
    pub fn right(&self) -> Option<bool> {
        *self.case.cache.right.get_or_init(|| is_right_by(self.gold(), self.record.as_ref()?))
    }

    /// Whether the run is known to be right.
    pub fn is_right(&self) -> bool {
        self.right() == Some(true)
    }

    /// Whether the state is written as upstream writes it, by `judge` when first asked.
    pub(crate) fn in_order(&self, judge: impl FnOnce() -> bool) -> bool {
        *self.case.cache.in_order.get_or_init(judge)
    }

    /// What the run made of the quantities of its question.
    pub fn quantity_links(&self) -> Option<&'c QuantityLinks> {
        let links = || QuantityLinks::of(self.record.as_ref()?, self.procedure());
        self.case.cache.links.get_or_init(links).as_ref()
    }

    /// The quantities of the question.
    pub fn numbers(&self) -> &'c [Quantity] {
        if let Some(links) = self.quantity_links() {
            return &links.quantities;
        }
        self.case.cache.numbers.get_or_init(|| {
            let question = self.record.as_ref().and_then(|record| record.question).and_then(Value::string);
            question.map(|question| find(question.bytes())).unwrap_or_default()
        })
    }

    /// The run executed exactly; `None` of what could not be read.
    pub fn executed(&self) -> Option<&'c Recomputed> {
        let execute = || {
            let record = self.record.as_ref()?;
            Some(Box::new(Recomputed::judged(record, self.procedure(), self.state(), self.right())))
        };
        self.case.cache.executed.get_or_init(execute).as_deref()
    }

    /// The same; `None` where neither procedure nor state holds a calculation in signs: most runs need no execution.
    pub fn recomputed(&self) -> Option<&'c Recomputed> {
        let is_worth = || Some(run::is_worth_executing(self.record.as_ref()?, self.procedure()?));
        let is_worth = *self.case.cache.is_worth_executing.get_or_init(|| is_worth().unwrap_or_default());
        if is_worth { self.executed() } else { None }
    }

    /// What the rules find in it, with what is to be said because of its place.
    pub fn findings(&self) -> &'c Findings {
        self.case.cache.findings.get_or_init(|| {
            let mut findings = rules::check(self);
            findings.extend(self.case.because_of_place(self.record.is_some()));
            findings
        })
    }

    /// The answer of the baseline to the same question.
    pub fn baseline(&self) -> Option<f64> {
        *self.case.cache.baseline.get_or_init(|| self.case.around.baseline(self.record.as_ref()?))
    }

    /// Where to fix the run; `None` of what is no run.
    pub fn triage(&self) -> Option<&'c Triage> {
        let judge = || Triage::judge(self, self.findings(), self.baseline());
        self.case.cache.triage.get_or_init(judge).as_ref()
    }

    /// What should happen with a typed answer, and why.
    pub fn routed(&self) -> Option<&'c Routed> {
        self.case.cache.routed.get_or_init(|| route(self, self.findings())).as_ref()
    }
}
