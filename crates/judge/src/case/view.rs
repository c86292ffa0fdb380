//! View of a record for the rules: its procedure, state and items.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use crate::case::{Case, Context, Location};
use crate::chain::ThoughtChain;
use crate::contract;
use crate::contract::{ContractBreach, Strictness};
use crate::excess;
use crate::excess::Excess;
use crate::gold::Gold;
use crate::lost::{LostValue, first_lost, is_in_order, may_hold_lost};
use crate::peer::Peer;
use crate::quantity_links::QuantityLinks;
use crate::recompute::execution::execute;
use crate::recompute::{Recomputed, RunAnswer, may_plan};
use crate::rightness::Rightness;
use crate::support;
use crate::support::{ItemSupport, ValueStanding};
use stepscope_arithmetic::expression::holds_typographic_sign;
use stepscope_arithmetic::quantity::{Quantity, find};
use stepscope_base::json::{Kind, Pointer, Problem, ProblemKind, Value};
use stepscope_base::schema::Schema;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::citations;
use stepscope_evidence::citations::ResolvedCitation;
use stepscope_evidence::document::Document;
use stepscope_evidence::truncation;
use stepscope_evidence::truncation::Truncation;
use stepscope_evidence::typed::{AnswerItem, AnswerRequest, Citation, TypedAnswer, UnreadRest};
use stepscope_record::finding::Place;
use stepscope_record::models::ModelNames;
use stepscope_record::procedure::flow::Flow;
use stepscope_record::procedure::model::{SchemaErrors, schema_errors};
use stepscope_record::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL, Field, PROBLEM_TEXT, Procedure};
use stepscope_record::state::State;
use stepscope_record::types::TypeRegistry;
use stepscope_record::{Record, RecordKind};

/// A case with its record, procedure, state and items: handles into the case's text. What is not borrowed from there is
/// kept in the case.
#[derive(Debug)]
pub struct CaseView<'c> {
    pub(crate) case: &'c Case<'c>,
    /// The record; `None` if the text could not be read.
    pub record: Option<Record<'c>>,
    procedure: OnceCell<Option<Procedure<'c>>>,
    procedure_errors: OnceCell<SchemaErrors>,
    flow: OnceCell<Flow<'c>>,
    state: OnceCell<State<'c>>,
    answered: OnceCell<Option<Box<Answered<'c>>>>,
    excess: OnceCell<Vec<Excess>>,
}

/// A structured answer, read once for all rules.
#[derive(Debug)]
pub struct Answered<'a> {
    /// Everything that was answered.
    pub items: Vec<AnswerItem<'a>>,
    /// Type of value that the question asks for.
    pub asked: AnswerRequest,
    /// Number of items and citations that are not read.
    pub rest: UnreadRest,
    /// Breaches of the contract.
    pub breaches: Vec<ContractBreach>,
}

impl<'a> Answered<'a> {
    fn of(typed: &TypedAnswer<'a>, types: &TypeRegistry) -> Self {
        let (items, rest) = typed.items_and_rest();
        let breaches = contract::breaches(typed, &items, types);
        Self { asked: typed.asked(), rest, breaches, items }
    }
}

/// Surroundings that a case for itself keeps.
#[derive(Debug)]
struct KeptAround {
    document: Option<Arc<Document>>,
    peers: Vec<Arc<Peer>>,
}

impl Context for KeptAround {
    fn document(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        self.document.document(typed)
    }

    fn peers(&self, _: &CaseView<'_>) -> Vec<Arc<Peer>> {
        self.peers.clone()
    }
}

impl<'c> CaseView<'c> {
    pub(super) fn of(case: &'c Case<'c>, mut record: Option<Record<'c>>) -> Self {
        if let Some(record) = record.as_mut().filter(|record| record.chain.is_some())
            && let Some(chain) = case.cache.chain.get_or_init(|| ThoughtChain::of(record).map(Box::new))
        {
            chain.complete(record);
        }
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

    /// The case for itself: with nothing around it but the document that it cites, and its peers.
    pub fn to_owned(&self) -> Case<'static> {
        let (text, tape) = (self.text().to_vec(), self.case.tape.clone());
        let around = KeptAround { document: self.document().cloned(), peers: self.peers() };
        Case::of(text, tape, self.origin(), Arc::new(around))
    }

    /// The text of the record.
    pub fn text(&self) -> &'c [u8] {
        &self.case.text
    }

    /// Its JSON, if it could be read.
    pub fn root(&self) -> Option<Value<'c>> {
        self.case.root()
    }

    /// Returns its position.
    pub fn origin(&self) -> Location {
        self.case.origin
    }

    /// The name of its source, as it was given.
    pub fn source(&self) -> Untrusted<'c> {
        self.case.around.source(self.record.as_ref())
    }

    /// Lists the other runs of its question.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.case.around.peers(self)
    }

    /// The line on which it begins in its source.
    pub fn line(&self) -> u64 {
        self.case.around.line(self.record.as_ref(), self.case.origin.line)
    }

    /// Its source and line, for people.
    pub fn place_name(&self) -> Shown {
        shown!("{}:{}", self.source().line(), self.line())
    }

    /// Tells whether looking at it failed: a fault of stepscope, not of the record.
    pub fn is_fault(&self) -> bool {
        self.case.cache.fault.get()
    }

    /// Returns its kind.
    pub fn kind(&self) -> RecordKind {
        self.record.as_ref().map_or(RecordKind::Broken, |record| record.kind)
    }

    /// Its own id, string or number.
    pub fn id(&self) -> Option<Value<'c>> {
        self.record.as_ref()?.id
    }

    /// Lists what was unusual in its text: of each kind the first.
    pub fn problems(&self) -> &'c [Problem] {
        self.case.tape.problems()
    }

    /// Counts the problems of a kind that are not listed.
    pub(crate) fn unlisted(&self, kind: ProblemKind) -> usize {
        self.case.tape.unlisted(kind)
    }

    /// The types that values of structured answers can have.
    pub fn types(&self) -> &'c TypeRegistry {
        self.case.around.types()
    }

    /// The numbers of the names of models.
    pub(crate) fn models(&self) -> Option<&'c ModelNames> {
        self.case.around.models()
    }

    /// Tells whether a final number that is not finite breaks the answer's schema.
    pub(crate) fn checks_finite(&self) -> bool {
        self.case.around.checks_finite()
    }

    /// The schema that answers must hold, where the user gave one; else the record's own.
    pub(crate) fn answer_schema(&self) -> Option<&'c Schema> {
        self.case.around.answer_schema()
    }

    /// The schema that the answer in a state is to have, where a person named one.
    pub(crate) fn state_schema(&self) -> Option<&'c Schema> {
        self.case.around.state_schema()
    }

    /// Its procedure.
    pub fn procedure(&self) -> Option<&Procedure<'c>> {
        let read = || self.record.as_ref()?.procedure.map(Procedure::read);
        self.procedure.get_or_init(read).as_ref()
    }

    /// Finds the procedure's errors by upstream's schema: only if there are none, the five rules check it.
    pub(crate) fn procedure_errors(&self) -> &SchemaErrors {
        self.procedure_errors.get_or_init(|| self.procedure().map_or_else(SchemaErrors::default, schema_errors))
    }

    /// The procedure, if it holds upstream's schema.
    pub fn valid_procedure(&self) -> Option<&Procedure<'c>> {
        self.procedure().filter(|_| self.procedure_errors().is_empty())
    }

    /// The procedure with who writes and who reads what, if it holds upstream's schema.
    pub(crate) fn valid_flow(&self) -> Option<(&Procedure<'c>, &Flow<'c>)> {
        let procedure = self.valid_procedure()?;
        Some((procedure, self.flow.get_or_init(|| Flow::of(procedure))))
    }

    /// The global state over time; of what could not be read none.
    pub fn state(&self) -> &State<'c> {
        let of = |record| State::of(record, self.procedure());
        self.state.get_or_init(|| self.record.as_ref().map_or_else(State::default, of))
    }

    /// The lists in it of which only the beginning is read.
    pub fn excess(&self) -> &[Excess] {
        self.excess.get_or_init(|| {
            let Some(record) = &self.record else { return Vec::new() };
            let rest = self.answered().map_or_else(UnreadRest::default, |(_, answered)| answered.rest);
            excess::of(record, self.procedure(), rest)
        })
    }

    /// Returns the place of the procedure in the record.
    pub fn procedure_pointer(&self) -> &Pointer {
        static WHOLE: Pointer = Pointer(Vec::new());
        self.record.as_ref().map_or(&WHOLE, |record| &record.procedure_pointer)
    }

    /// The run that was made of a chain of thought.
    pub fn chain(&self) -> Option<&'c ThoughtChain> {
        self.case.cache.chain.get()?.as_deref()
    }

    /// Maps a place in what is looked at to the record: in a chain of thought, to its texts.
    pub fn place(&self, place: &Place) -> Place {
        self.chain().map_or_else(|| place.clone(), |chain| chain.place(place))
    }

    /// The same of an address.
    pub fn pointer(&self, pointer: Pointer) -> Pointer {
        match self.chain() {
            Some(chain) => chain.place(&Place::Value(pointer)).pointer(),
            None => pointer,
        }
    }

    /// The parts of a structured answer, if the record is one.
    pub fn typed(&self) -> Option<&TypedAnswer<'c>> {
        self.record.as_ref()?.typed.as_deref()
    }

    /// A structured answer with everything it holds.
    pub fn answered(&self) -> Option<(&TypedAnswer<'c>, &Answered<'c>)> {
        let typed = self.typed()?;
        let read = || Some(Box::new(Answered::of(typed, self.types())));
        Some((typed, self.answered.get_or_init(read).as_deref()?))
    }

    /// The items of a structured answer; none of any other record.
    pub fn items(&self) -> &[AnswerItem<'c>] {
        self.answered().map_or(&[], |(_, answered)| answered.items.as_slice())
    }

    /// The document that a structured answer cites, where it is at hand.
    pub fn document(&self) -> Option<&'c Arc<Document>> {
        self.case.cache.document.get_or_init(|| self.case.around.document(self.typed()?)).as_ref()
    }

    /// Resolves every citation, in order; empty where the document is not at hand.
    pub fn resolutions(&self) -> &'c [ResolvedCitation] {
        let resolve = || {
            let claims = (self.items(), &*self.typed()?.retrieved());
            Some(citations::resolve_all(self.document()?, claims, self.text().len()))
        };
        self.case.cache.cited.get_or_init(|| resolve().unwrap_or_default())
    }

    /// The lines of the document that a citation means, by its quote where that tells.
    pub(crate) fn meant_lines(&self, citation: &Citation<'_>) -> Option<Range<usize>> {
        citations::meant_lines(citation, self.resolutions(), self.document()?)
    }

    /// Compares every item of a structured answer with what it cites, in order.
    pub fn supports(&self) -> &'c [ItemSupport] {
        let compare = || {
            let (typed, answered) = self.answered()?;
            let question = Value::text_of(self.record.as_ref()?.question);
            let question = question.readable();
            let document = self.document().map(AsRef::as_ref);
            Some(support::supports(typed, &answered.items, &answered.asked, question, document, self.resolutions()))
        };
        self.case.cache.supports.get_or_init(|| compare().unwrap_or_default())
    }

    /// Tells whether an item is grounded: its quotes are in their lines, and its value stands there too, as far as it is
    /// compared. Without a quote the value alone tells.
    pub(crate) fn is_item_grounded(&self, item: usize) -> bool {
        let standing = self.supports().get(item).map(|support| support.standing);
        match standing {
            Some(ValueStanding::Missing | ValueStanding::Paraphrased) => false,
            Some(ValueStanding::Stands) if !citations::has_item_quote(self.resolutions(), item) => true,
            _ => citations::is_item_grounded(self.resolutions(), item),
        }
    }

    /// Counts the items of a structured answer that are grounded; `None` where the document that would tell is not at
    /// hand.
    pub fn grounded(&self) -> Option<usize> {
        let items = self.items();
        if self.document().is_none() {
            return items.iter().all(|item| item.citations.is_empty()).then_some(0);
        }
        Some((0..items.len()).filter(|item| self.is_item_grounded(*item)).count())
    }

    /// Judges whether the model saw everything.
    pub fn truncation(&self) -> Option<&'c Truncation> {
        let judge = || {
            let (typed, answered) = self.answered()?;
            let document = self.document().map(AsRef::as_ref);
            Some(truncation::judge(typed, &answered.items, &answered.asked, (document, self.resolutions())))
        };
        self.case.cache.truncation.get_or_init(judge).as_ref()
    }

    /// Finds out which readers would take a structured answer; `None` where its dialect has no published contract.
    pub fn strictness(&self) -> Option<Strictness> {
        let (typed, answered) = self.answered()?;
        contract::strictness(typed, &answered.items, &answered.breaches)
    }

    /// The gold answer.
    pub fn gold(&self) -> Option<&'c Gold> {
        self.case.cache.gold.get_or_init(|| Gold::of(self.record.as_ref()?)).as_ref()
    }

    /// The answer of the run, as its fields and its final text give it.
    pub(crate) fn answer(&self) -> &'c RunAnswer {
        self.case.cache.answer.get_or_init(|| self.record.as_ref().map_or_else(RunAnswer::default, RunAnswer::of))
    }

    /// Verdict on whether the run is right, and who gave it.
    pub fn rightness(&self) -> Rightness {
        let judge = || {
            let record = self.record.as_ref()?;
            Some(Rightness::by(self.gold(), record, || self.answer()))
        };
        let judge = || judge().unwrap_or_default();
        *self.case.cache.rightness.get_or_init(judge)
    }

    /// Tells whether the run is known to be right.
    pub fn is_right(&self) -> bool {
        self.rightness().is_right()
    }

    /// Tells whether the state is written as upstream writes it, by `judge` when first asked.
    pub(crate) fn in_order(&self, judge: impl FnOnce() -> bool) -> bool {
        *self.case.cache.in_order.get_or_init(judge)
    }

    /// Links the quantities of the question to what the run made of them.
    pub fn quantity_links(&self) -> Option<&'c QuantityLinks> {
        let links = || match self.chain() {
            Some(chain) => chain.quantity_links(self.record.as_ref()?),
            None => QuantityLinks::of(self.record.as_ref()?, self.procedure()),
        };
        self.case.cache.links.get_or_init(links).as_ref()
    }

    /// The quantities of the question.
    pub fn numbers(&self) -> &'c [Quantity] {
        if let Some(links) = self.quantity_links() {
            return &links.quantities;
        }
        self.case
            .cache
            .numbers
            .get_or_init(|| find(Value::text_of(self.record.as_ref().and_then(|record| record.question)).bytes()))
    }

    /// The run executed exactly; `None` of what could not be read.
    pub fn executed(&self) -> Option<&'c Recomputed> {
        let run = || {
            let record = self.record.as_ref()?;
            if let Some(chain) = self.chain() {
                return Some(Box::new(chain.recomputed(record, self.state())));
            }
            Some(Box::new(execute(record, self.procedure(), self.state(), self.rightness().verdict())))
        };
        self.case.cache.executed.get_or_init(run).as_deref()
    }

    /// The state of a run that came to its end, of which the values can be judged.
    pub(crate) fn run_state(&self) -> Option<Value<'c>> {
        let record = self.record.as_ref()?;
        let is_run = match record.kind {
            RecordKind::Procedural | RecordKind::Fixed | RecordKind::Chain => true,
            RecordKind::Procedure
            | RecordKind::Baseline
            | RecordKind::Error
            | RecordKind::Answer
            | RecordKind::Typed
            | RecordKind::Call
            | RecordKind::Unknown
            | RecordKind::Broken => false,
        };
        record.state.filter(|state| is_run && state.kind() == Kind::Object)
    }

    /// The run executed exactly, where that is worth its time for the rules: to read every step costs more than all other
    /// rules together, and without signs, or words between numbers, there is nothing to find.
    pub fn recomputed(&self) -> Option<&'c Recomputed> {
        let is_worth = || {
            let (record, plan) = (self.record.as_ref()?, self.procedure()?.value);
            Some(match record.kind {
                RecordKind::Error => record.trace_steps.is_some_and(|steps| !steps.is_empty()),
                _ => self.run_state().is_some_and(|state| {
                    let may_slip = |procedure| record.kind == RecordKind::Chain || may_slip(procedure, state);
                    let is_in_words = || !self.is_right() && self.procedure().is_some_and(may_slip);
                    may_calculate(&plan.unescaped()) || may_calculate(&state.unescaped()) || is_in_words()
                }),
            })
        };
        let is_worth = *self.case.cache.is_worth_executing.get_or_init(|| is_worth() == Some(true));
        if is_worth { self.executed() } else { None }
    }

    /// The first output of the run that was left without a usable value, though a later step reads it.
    pub(crate) fn lost(&self) -> Option<&'c LostValue> {
        let find = || {
            let (record, procedure, state) = (self.record.as_ref()?, self.procedure()?, self.run_state()?);
            if record.kind == RecordKind::Chain
                || (self.in_order(|| is_in_order(procedure, state)) && !may_hold_lost(state))
            {
                return None;
            }
            let is_number = |variable: usize, step: usize| {
                self.executed().is_some_and(|executed| executed.must_be_number(variable, step))
            };
            first_lost(record, procedure, self.state(), &is_number)
        };
        self.case.cache.lost.get_or_init(find).as_ref()
    }

    /// The answer of the baseline to the same question.
    pub fn baseline(&self) -> Option<f64> {
        *self.case.cache.baseline.get_or_init(|| self.case.around.baseline(self.record.as_ref()?))
    }
}

/// Tells quickly whether a step may have slipped at a calculation in words: it writes one number, reads nothing but numbers,
/// and its text names an operation or a number.
fn may_slip(procedure: &Procedure<'_>, state: Value<'_>) -> bool {
    let is_number = |field: &Field<'_>| {
        let value = field.name_text().and_then(|name| Some(state.member_spelt(name.bytes())?.value));
        value.is_some_and(|value| match value.kind() {
            Kind::String => value.raw().iter().any(u8::is_ascii_digit) || !value.raw().is_ascii(),
            _ => value.is_number(),
        })
    };
    let names_number = |text: &Untrusted<'_>| {
        text.utf8().is_some_and(|text| may_plan(text) || text.bytes().any(|byte| byte.is_ascii_digit()))
    };
    // "State the total": copied, or not.
    let copies_other = |inputs: &[&Field<'_>]| {
        let value = |name: &[u8]| state.member_spelt(name).map(|member| member.value);
        let given = inputs.first().filter(|_| inputs.len() == 1).and_then(|field| value(field.name_text()?.bytes()));
        given.and_then(Value::float) != value(FINAL_ANSWER_NUMERICAL.as_bytes()).and_then(Value::float)
    };
    procedure.steps.iter().any(|step| {
        let [output] = step.outputs.as_slice() else { return false };
        let is_own = |field: &&Field<'_>| field.name_text().is_none_or(|name| name != PROBLEM_TEXT);
        let own: Vec<&Field<'_>> = step.inputs.iter().filter(is_own).collect();
        let is_end = output.name_text().is_some_and(|name| name == FINAL_ANSWER);
        let texts = || [step.text, output.description].into_iter().flatten().filter_map(Value::string);
        (is_end || is_number(output))
            && !own.is_empty()
            && own.iter().all(|field| is_number(field))
            && (texts().any(|text| names_number(&text)) || is_end && copies_other(&own))
    })
}

/// The bytes of a calculation in signs; hyphens and percent are in every prose.
fn may_calculate(bytes: &[u8]) -> bool {
    let spaced =
        |at: usize| bytes.get(at + 1) == Some(&b' ') && at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b' ');
    memchr::memchr3(b'*', b'+', b'=', bytes).is_some()
        || memchr::memchr2_iter(b'/', b'-', bytes).any(spaced)
        || holds_typographic_sign(bytes)
}
