//! The registry of rules: everything that stepscope says about a record is said by one of them.
//!
//! To add one: write it in the file of its subject below `rules/` (or a new one), with a bad and a good example, and
//! add it to `RULES`. A test runs every example; `stepscope rules ID` prints them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use crate::answer::completeness::{self, Completeness};
use crate::answer::contract::{self, Breach, Strictness};
use crate::answer::document::Document;
use crate::answer::spans::{self, Cited};
use crate::answer::typed::{Asked, Item, Rest, Typed, inline_document};
use crate::arithmetic::gold::Gold;
use crate::arithmetic::quantity::{Quantity, Uptake, find};
use crate::arithmetic::recompute::{Recomputed, is_right_by};
use crate::excess::{self, Excess};
use crate::finding::{Findings, Severity};
use crate::procedure::Procedure;
use crate::record::Record;
use crate::record::types::{self, Registry};
use crate::run::state::State;
use stepscope_base::json::{Problem, Value};

pub mod answer;
pub(crate) mod plausibility;
pub mod procedure;
pub mod quantity;
pub(crate) mod reading;
pub mod review;
pub mod run;
pub mod source;
pub(crate) mod span;
pub mod typed;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id: subject and name, `procedure/unused`.
    pub id: &'static str,
    /// How grave its findings are.
    pub severity: Severity,
    /// What it looks for, in a sentence.
    pub summary: &'static str,
    /// Why that matters and what to do, in a few sentences.
    pub explanation: &'static str,
    /// A record (or text) in which it finds something; see [`example`].
    pub bad: &'static str,
    /// The same record mended: it finds nothing.
    pub good: &'static str,
    /// Looks, and says what it finds.
    pub check: fn(&Subject<'_>, &mut Findings),
}

/// What a rule looks at: a record, what was unusual while reading it, and its procedure read once for all rules.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The text of the record.
    pub text: &'a [u8],
    /// What was unusual in it.
    pub problems: &'a [Problem],
    /// The record; `None` if the text could not be read.
    pub record: Option<Record<'a>>,
    /// Its procedure.
    pub procedure: Option<Procedure<'a>>,
    /// The lists in it of which only the beginning is read.
    pub excess: Vec<Excess>,
    /// What upstream's schema says of the procedure: only if that is nothing the five rules speak.
    pub procedure_errors: procedure::SchemaErrors,
    /// Who writes and who reads what, if the procedure holds the schema.
    pub flow: Option<procedure::Flow<'a>>,
    /// The schema that answers must hold, where the user gave one; else the record's own.
    pub answer_schema: Option<&'a answer::Schema>,
    /// The document that a typed answer cites, where it is at hand.
    pub document: Option<Arc<Document>>,
    /// The types that values of typed answers can have.
    pub types: &'a Registry,
    /// What a typed answer holds.
    answered: Option<Box<Answered<'a>>>,
    completeness: OnceCell<Completeness>,
    uptake: OnceCell<Option<Uptake>>,
    numbers: OnceCell<Vec<Quantity>>,
    /// The run executed exactly, made when first asked for.
    recomputed: OnceCell<Option<Box<Recomputed>>>,
    gold: OnceCell<Option<Gold>>,
    right: OnceCell<bool>,
    /// The state is written as upstream writes it.
    in_order: OnceCell<bool>,
    /// What became of the cited spans, worked out when first asked for.
    cited: OnceCell<Vec<Cited>>,
}

/// A typed answer, read once for all rules.
#[derive(Debug)]
pub struct Answered<'a> {
    /// Everything that was answered.
    pub items: Vec<Item<'a>>,
    /// What the question asks for.
    pub asked: Asked,
    /// What of it is not read.
    pub rest: Rest,
    /// Where the answer does not hold the contract.
    pub breaches: Vec<Breach>,
}

impl<'a> Answered<'a> {
    fn of(typed: &Typed<'a>, types: &Registry) -> Self {
        let (items, rest) = typed.items_and_rest();
        let breaches = contract::breaches(typed, &items, types);
        Self { asked: typed.asked(), rest, breaches, items }
    }
}

impl<'a> Subject<'a> {
    /// Prepares a record for the rules.
    pub fn new(text: &'a [u8], problems: &'a [Problem], record: Option<Record<'a>>) -> Self {
        let mut subject = Self::bare(text, problems, record);
        let record = subject.record.as_ref();
        let procedure = record.and_then(|record| record.procedure).map(Procedure::read);
        let typed = record.and_then(|record| record.typed.as_deref());
        subject.document = typed.and_then(inline_document).map(Arc::new);
        subject.answered = typed.map(|typed| Box::new(Answered::of(typed, subject.types)));
        subject.procedure_errors = procedure.as_ref().map(procedure::schema_errors).unwrap_or_default();
        subject.flow = procedure.as_ref().filter(|_| subject.procedure_errors.is_empty()).map(procedure::Flow::of);
        let rest = subject.answered.as_deref().map(|answered| answered.rest).unwrap_or_default();
        subject.excess = record.map(|record| excess::of(record, procedure.as_ref(), rest)).unwrap_or_default();
        subject.procedure = procedure;
        subject
    }

    /// A record that no rule looks at: nothing is prepared but what it says itself.
    pub fn bare(text: &'a [u8], problems: &'a [Problem], record: Option<Record<'a>>) -> Self {
        Self {
            text,
            problems,
            record,
            procedure: None,
            excess: Vec::new(),
            procedure_errors: procedure::SchemaErrors::default(),
            flow: None,
            answer_schema: None,
            document: None,
            types: types::in_use(),
            answered: None,
            completeness: OnceCell::new(),
            uptake: OnceCell::new(),
            numbers: OnceCell::new(),
            gold: OnceCell::new(),
            right: OnceCell::new(),
            in_order: OnceCell::new(),
            recomputed: OnceCell::new(),
            cited: OnceCell::new(),
        }
    }

    /// What became of every cited span, in order; empty where the document is not at hand. Worked out when first asked.
    pub fn resolutions(&self) -> &[Cited] {
        let resolve = || {
            let (document, typed) = (self.document.as_deref()?, self.record.as_ref()?.typed.as_deref()?);
            Some(spans::resolve_all(document, self.items(), &typed.retrieved()))
        };
        self.cited.get_or_init(|| resolve().unwrap_or_default())
    }

    /// How many items of a typed answer rest on quotes that stand where they should; `None` where the document that
    /// would tell is not at hand.
    pub fn grounded(&self) -> Option<usize> {
        let items = self.items();
        if self.document.is_none() {
            return items.iter().all(|item| item.citations.is_empty()).then_some(0);
        }
        let cited = self.resolutions();
        Some((0..items.len()).filter(|item| spans::is_item_grounded(cited, *item)).count())
    }

    /// The gold answer; read when first asked.
    pub fn gold(&self) -> Option<&Gold> {
        self.gold.get_or_init(|| Gold::of(self.record.as_ref()?)).as_ref()
    }

    /// Whether the run is known to be right; see `is_right_by`.
    pub fn is_right(&self) -> bool {
        let right = |record: &Record<'a>| is_right_by(self.gold(), record) == Some(true);
        *self.right.get_or_init(|| self.record.as_ref().is_some_and(right))
    }

    /// What the run made of the quantities of its question; worked out when first asked.
    pub fn uptake(&self) -> Option<&Uptake> {
        let uptake = || Uptake::of(self.record.as_ref()?, self.procedure.as_ref());
        self.uptake.get_or_init(uptake).as_ref()
    }

    /// The quantities of the question; found when first asked.
    pub fn numbers(&self) -> &[Quantity] {
        if let Some(uptake) = self.uptake() {
            return &uptake.quantities;
        }
        self.numbers.get_or_init(|| {
            let question = self.record.as_ref().and_then(|record| record.question).and_then(Value::string);
            question.map(|question| find(question.bytes())).unwrap_or_default()
        })
    }

    /// With the document that its answer cites, where one is at hand beside the record.
    #[must_use]
    pub fn document(mut self, document: Option<Arc<Document>>) -> Self {
        self.document = document.or(self.document);
        self
    }

    /// The parts of a typed answer, if the record is one.
    pub fn typed(&self) -> Option<&Typed<'a>> {
        self.record.as_ref()?.typed.as_deref()
    }

    /// A typed answer with everything it holds.
    pub fn answered(&self) -> Option<(&Typed<'a>, &Answered<'a>)> {
        self.typed().zip(self.answered.as_deref())
    }

    /// The items of a typed answer; none of any other record.
    pub fn items(&self) -> &[Item<'a>] {
        self.answered.as_deref().map(|answered| answered.items.as_slice()).unwrap_or_default()
    }

    /// Whether the model saw all there is; worked out when first asked.
    pub fn completeness(&self) -> Option<&Completeness> {
        let (typed, answered) = self.answered()?;
        let judge = || completeness::judge(typed, &answered.items, &answered.asked, self.document.as_deref());
        Some(self.completeness.get_or_init(judge))
    }

    /// Which readers would take a typed answer; `None` where its dialect has no published contract.
    pub fn strictness(&self) -> Option<Strictness> {
        let (typed, answered) = self.answered()?;
        contract::strictness(typed, &answered.items, &answered.breaches)
    }

    /// The procedure, if it holds upstream's schema.
    pub fn valid_procedure(&self) -> Option<&Procedure<'a>> {
        self.procedure.as_ref().filter(|_| self.procedure_errors.is_empty())
    }

    /// The run executed exactly; `None` where neither procedure nor state holds a calculation in signs.
    pub fn recomputed(&self) -> Option<&Recomputed> {
        let made = self.recomputed.get_or_init(|| {
            let (record, procedure) = (self.record.as_ref()?, self.procedure.as_ref()?);
            run::is_worth_executing(record, procedure).then(|| {
                let state = State::of(record, Some(procedure));
                Box::new(Recomputed::of(record, Some(procedure), &state))
            })
        });
        made.as_deref()
    }

    /// The procedure with its flow of variables, if it holds upstream's schema.
    pub(crate) fn valid_flow(&self) -> Option<(&Procedure<'a>, &procedure::Flow<'a>)> {
        self.valid_procedure().zip(self.flow.as_ref())
    }
}

/// Every rule, in the order in which they speak.
pub const RULES: &[&Rule] = &[
    &reading::NOT_JSON,
    &reading::CUT_OFF,
    &reading::NOT_FINITE,
    &reading::DUPLICATE_KEY,
    &reading::CONTROL_CHARACTER,
    &reading::INVALID_UTF8,
    &reading::LONE_SURROGATE,
    &reading::HUGE_INTEGER,
    &reading::NUMBER_OUT_OF_RANGE,
    &reading::TOO_LARGE,
    &reading::UNKNOWN_SHAPE,
    &procedure::SCHEMA,
    &procedure::FIRST_STEP_INPUTS,
    &procedure::FINAL_STEP_OUTPUT,
    &procedure::UNRESOLVED_INPUT,
    &procedure::REDEFINED,
    &procedure::UNUSED,
    &procedure::NOT_JSON,
    &answer::SCHEMA,
    &run::ERROR,
    &run::LAST_STEP,
    &run::OUTPUT_MISSING,
    &run::OUTPUT_UNDECLARED,
    &run::OUTPUT_AMBIGUOUS,
    &run::UNEVALUATED,
    &run::RECOMPUTE,
    &run::FINAL_MISMATCH,
    &run::GOLD_NUM,
    &run::GOLD_STEPS,
    &quantity::MISSED,
    &quantity::INVENTED,
    &quantity::CHANGED,
    &plausibility::ZERO,
    &plausibility::NEGATIVE,
    &plausibility::NOT_FINITE,
    &plausibility::FRACTIONAL,
    &plausibility::MAGNITUDE,
    &plausibility::UNIT,
    &plausibility::FACTOR,
    &typed::contract::JSON_INVALID,
    &typed::contract::ANSWER_MISSING,
    &typed::contract::MISSING_FIELD,
    &typed::contract::UNKNOWN_FIELD,
    &typed::contract::WRONG_TYPE,
    &typed::contract::ENUM_INVALID,
    &typed::contract::CONFIDENCE_OUT_OF_RANGE,
    &typed::flags::SHAPE_MISMATCH,
    &typed::flags::FOUND_ITEMS_MISMATCH,
    &typed::flags::COMPLETE_WITHOUT_FOUND,
    &typed::flags::METHOD_ITEMS_MISMATCH,
    &typed::values::DATE_NOT_ISO8601,
    &typed::values::DATE_IMPOSSIBLE,
    &typed::values::DATE_ORIGINAL_DISAGREES,
    &typed::values::CURRENCY_NOT_ISO4217,
    &typed::values::PHANTOM_ZERO_SUSPECTED,
    &typed::values::TABLE_NOT_RECTANGULAR,
    &typed::source::ANSWER_DIFFERS_FROM_RAW_RESPONSE,
    &typed::source::LIST_TRUNCATED_NEXT_PAGE,
    &span::ITEM_NO_SPANS,
    &span::LINE_START_NOT_IN_DOC,
    &span::LINE_END_NOT_IN_DOC,
    &span::RANGE_REVERSED,
    &span::QUOTE_NOT_IN_CITED_LINES,
    &span::QUOTE_OK_AFTER_DEHYPHENATION,
    &span::QUOTE_FOUND_IN_WIDER_RANGE,
    &span::QUOTE_FOUND_NEARBY,
    &span::QUOTE_FOUND_ELSEWHERE,
    &span::QUOTE_NOWHERE_IN_DOC,
    &span::QUOTE_UNDECIDED,
    &span::VERBATIM_WITHOUT_QUOTE,
    &span::SPAN_OUTSIDE_RETRIEVED_PAGES,
    &span::SPAN_CROSSES_PAGE,
    &span::SHARED_OFFSET,
    &span::BOUNDARY,
    &source::JOINED,
    &source::DUPLICATE_ID,
    &review::FAILED,
    &review::DISPUTED,
    &review::STALE,
];

/// What all rules say of a record.
pub fn check(subject: &Subject<'_>) -> Findings {
    #[cfg(debug_assertions)]
    counted::note(subject.text);
    check_by(subject, |_| true)
}

/// What some rules say of a record.
pub(crate) fn check_by(subject: &Subject<'_>, speaks: impl Fn(&Rule) -> bool) -> Findings {
    let mut findings = Findings::new();
    // What holds for a part of a record need not hold for all of it.
    let speaks_of_part = |rule: &Rule| rule.id.starts_with("record/") || rule.id == procedure::SCHEMA.id;
    let is_whole = subject.excess.is_empty();
    for rule in RULES.iter().filter(|rule| (is_whole || speaks_of_part(rule)) && speaks(rule)) {
        (rule.check)(subject, &mut findings);
    }
    findings.tell_rest();
    findings
}

/// How often the rules were run, for tests: on the records that hold a text which no other test has. Only debug builds
/// count.
#[cfg(debug_assertions)]
pub mod counted {
    use std::sync::{Mutex, PoisonError};

    static WATCHED: Mutex<Vec<(&'static str, usize)>> = Mutex::new(Vec::new());

    fn watched<T>(then: impl FnOnce(&mut Vec<(&'static str, usize)>) -> T) -> T {
        then(&mut WATCHED.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts from now on.
    pub fn watch(mark: &'static str) {
        watched(|all| all.push((mark, 0)));
    }

    /// How often it was since it is watched.
    pub fn runs(mark: &str) -> usize {
        watched(|all| all.iter().find(|(known, _)| *known == mark).map_or(0, |(_, runs)| *runs))
    }

    pub(crate) fn note(text: &[u8]) {
        watched(|all| {
            for (mark, runs) in all {
                *runs += usize::from(memchr::memmem::find(text, mark.as_bytes()).is_some());
            }
        });
    }
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

/// The bytes of an example. A byte that is not UTF-8 stands in it as it is shown on screen: `⟨E9⟩`.
pub fn example(text: &str) -> Cow<'_, [u8]> {
    let mut parts = text.split('⟨');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let marked = part.split_once('⟩').and_then(|(hex, rest)| Some((u8::from_str_radix(hex, 16).ok()?, rest)));
        let Some((byte, rest)) = marked else { return Cow::Borrowed(text.as_bytes()) };
        out.push(byte);
        out.extend_from_slice(rest.as_bytes());
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::finding::{Finding, Place};
    use crate::record::formats;
    use stepscope_base::json::Tape;

    fn findings(text: &[u8]) -> Vec<Finding> {
        let mut tape = Tape::default();
        tape.read(text);
        let root = tape.root(text);
        let found = check(&Subject::new(text, &tape.problems, root.map(formats::read)));
        for finding in &found {
            for label in finding.labels() {
                match (&label.place, root) {
                    (Place::Key(pointer), Some(root)) => {
                        assert!(root.find(pointer).expect("a place").key.is_some(), "{finding:?}");
                    }
                    (Place::Value(pointer), Some(root)) => assert!(root.find(pointer).is_some(), "{finding:?}"),
                    (Place::Span { pointer, start, end }, Some(root)) => {
                        let text = root.find(pointer).expect("a place").value.string().expect("a string");
                        assert!(start < end && text.bytes().get(*start..*end).is_some(), "{finding:?}");
                    }
                    (Place::Bytes { start, end }, _) => assert!(start <= end && *end <= text.len(), "{finding:?}"),
                    _ => panic!("a pointer into what could not be read: {finding:?}"),
                }
            }
        }
        found.into_iter().collect()
    }

    #[test]
    fn every_example_does_what_it_says() {
        // What is said because of what stands around a record is tested there.
        let around =
            |rule: &&&Rule| source::SOURCE_RULES.iter().chain(review::REVIEW_RULES).any(|other| other.id == rule.id);
        for rule in RULES.iter().filter(|rule| !around(rule)) {
            let bad = findings(&example(rule.bad));
            assert!(bad.iter().any(|finding| finding.rule == rule.id), "{} finds nothing: {bad:?}", rule.id);
            for finding in bad.iter().filter(|finding| finding.rule == rule.id) {
                assert_eq!(finding.severity, rule.severity, "{}", rule.id);
                assert!(finding.help.is_some_and(|help| help.ends_with(['.'])), "{}", rule.id);
            }
            let good = findings(&example(rule.good));
            assert!(good.iter().all(|finding| finding.rule != rule.id), "{} finds {good:?}", rule.id);
        }
    }

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        let ids: HashSet<_> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for id in ids {
            assert_eq!(rule(id).map(|rule| rule.id), Some(id));
        }
    }

    #[test]
    fn what_hides_behind_a_later_key_is_placed_by_its_bytes() {
        for text in [r#"{"state": {"a": {"x": NaN}, "a": 1}, "id": 1}"#, r#"{"state": {"a": [1e999], "a": []}}"#] {
            let found = findings(text.as_bytes());
            assert!(found.iter().any(|finding| matches!(finding.place(), Place::Bytes { .. })), "{found:?}");
        }
    }

    #[test]
    fn many_problems_of_one_kind_are_counted() {
        let text = format!(r#"{{"id": 1, "question": "?", "state": [{}1e999, NaN]}}"#, "NaN, 1e400, ".repeat(9));
        let messages = |id| {
            let found = findings(text.as_bytes()).into_iter().filter(|finding| finding.rule == id);
            found.map(|finding| finding.message.line().into_string()).collect::<Vec<_>>()
        };
        for id in [reading::NOT_FINITE.id, reading::NUMBER_OUT_OF_RANGE.id] {
            let messages = messages(id);
            assert_eq!(messages.len(), 3, "{messages:?}");
            assert!(messages[2].ends_with(", and 7 more") && !messages[1].contains("more"), "{messages:?}");
        }
    }
}
