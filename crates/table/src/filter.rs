//! The filter language of the table: `correct:false rule:procedure/unused steps>4 conf>=.9 text:"two dozen"`.
//!
//! Terms stand side by side and all must hold; `-term` must not hold; `a,b` means either. A bare word is looked for
//! in what a person sees of the record. Terms over columns are answered from the `RowFacts` alone; only terms over text need
//! the bytes.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use crate::operator::Operator;
use crate::seen::first_place;
use crate::watch::{self, FUNCTIONS, Watch};
use stepscope_base::json::{Tape, Value};
use stepscope_base::text::Shown;
use stepscope_base::words::closest;
use stepscope_compare::{Basis, Cell};
use stepscope_evidence::truncation::TruncationVerdict;
use stepscope_judge::case::{Case, CaseView};
use stepscope_judge::cause::Cause;
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_judge::route::Route;
use stepscope_judge::row::{RowFacts, TypedRow};
use stepscope_judge::rule_set::RuleSet;
use stepscope_judge::rules::RULES;
use stepscope_judge::slip_form::SlipForm;
use stepscope_judge::texts::given_number;
use stepscope_judge::triage::Fix;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::formats;
use stepscope_record::models::{ModelNames, shown_name};
use stepscope_record::rule_id::RuleId;
use stepscope_record::types::TypeRegistry;
use stepscope_record::{Record, RecordKind, id_text};
use stepscope_review::event::{GoldStatus, Text};
use stepscope_review::fold::Outcome;
use stepscope_review::verdict_state::VerdictState;

/// A filter that was understood.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    wanted: bool,
    test: Test,
}

stepscope_base::words! {
    /// Grade of a record, as it is asked for.
    enum Grade {
        Right = "true" => "graded correct",
        Wrong = "false" => "graded wrong",
        Unknown = "unknown" => "not graded",
        Lucky = "lucky" => "graded correct, though a step or the plan is proven wrong",
    }
}

impl Grade {
    fn is_of(self, row: &RowFacts) -> bool {
        match self {
            Self::Right => row.correct() == Some(true),
            Self::Wrong => row.correct() == Some(false),
            Self::Unknown => row.correct().is_none(),
            Self::Lucky => row.is_lucky(),
        }
    }
}

#[derive(Clone, Debug)]
enum Test {
    Correct(Vec<Grade>),
    Kind(Vec<RecordKind>),
    Severity(Vec<Severity>),
    /// Place to fix.
    Fix(Vec<Fix>),
    /// Way of failing.
    Cause(Vec<Cause>),
    Slip(Vec<SlipForm>),
    /// True for records whose procedure gives the expected answer when recomputed, false for the others.
    RecoversGold(Vec<bool>),
    Rule(RuleSet),
    First(Vec<RuleId>),
    Route(Vec<Route>),
    Truncation(Vec<TruncationVerdict>),
    /// Places of types that are asked for.
    Type(Vec<usize>),
    Number(Column, Operator, f64),
    /// Values of the record.
    Watch(Box<Watch>, Option<Box<Regex>>),
    /// Named sets, resolved by the caller.
    Sets(Vec<String>),
    /// True for records that say that they are forks, false for the others.
    Fork(bool),
    Review(ReviewTest),
    /// Text that a person sees of a record.
    Text(Regex),
    Id(Regex),
    /// The letters of an id, and the whole of it.
    WholeId(Regex, String),
    /// The letters of any of the names of models, and the names.
    Model(Regex, Vec<ModelTest>),
}

/// Name of a model, as it is asked for.
#[derive(Clone, Debug)]
enum ModelTest {
    /// Part of the name, in small letters.
    Part(String),
    Whole(String),
}

impl ModelTest {
    fn holds(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.to_lowercase().contains(part),
            Self::Whole(whole) => name == whole,
        }
    }
}

fn holds_one(asked: &[ModelTest], name: &str) -> bool {
    asked.iter().any(|asked| asked.holds(name))
}

/// Asks the name of the model of a row; a row without one fits nothing. `None`: its model may be one of those that got
/// no number.
fn model_fits(asked: &[ModelTest], row: &RowFacts, models: &ModelNames) -> Option<bool> {
    match row.model() {
        Some(number) => models.name(number).map(|name| holds_one(asked, name.as_str())),
        None => models.has_room().then_some(false),
    }
}

/// Condition on what people said.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ReviewTest {
    Verdict(Vec<Outcome>),
    Label(Vec<Text>),
    /// True for records that I judged, false for the others.
    Reviewed(bool),
    Gold(Vec<GoldStatus>),
    /// True for records that changed since my verdict, false for the others.
    Stale(bool),
}

impl ReviewTest {
    fn holds(&self, judged: &VerdictState) -> bool {
        match self {
            Self::Verdict(outcomes) => outcomes.contains(&judged.outcome()),
            Self::Label(labels) => labels.iter().any(|label| judged.has_label(label)),
            Self::Reviewed(wanted) => judged.is_done() == *wanted,
            Self::Gold(status) => judged.gold.is_some_and(|gold| status.contains(&gold)),
            Self::Stale(wanted) => (judged.stale || judged.outcome() == Outcome::Stale) == *wanted,
        }
    }
}

/// A numeric column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Column {
    /// Number of steps.
    Steps,
    /// Step to fix, from 1.
    FixStep,
    /// The genetic search's score.
    Fitness,
    /// The reward that a verifier gave.
    Reward,
    /// Number of stages of a chain of verifiers that passed.
    Stages,
    /// The training cycle.
    Cycle,
    /// The generation of a genetic search.
    Generation,
    /// The model's own confidence.
    Confidence,
    /// The final number.
    Pred,
    /// Number of findings of a severity.
    Count(Severity),
    /// Number of findings.
    Findings,
    /// Share of the items of a structured answer that are grounded.
    Grounded,
    /// Number of items of a structured answer.
    Items,
    /// Share of its peers that give its answer.
    Agreement,
    /// Share of its values on the way that its peers have.
    SharedValues,
}

impl Column {
    const NAMES: [(&'static str, Self); 18] = [
        ("steps", Self::Steps),
        ("fitness", Self::Fitness),
        ("reward", Self::Reward),
        ("stages", Self::Stages),
        ("cycle", Self::Cycle),
        ("gen", Self::Generation),
        ("conf", Self::Confidence),
        ("pred", Self::Pred),
        ("fix_step", Self::FixStep),
        ("fatal", Self::Count(Severity::Fatal)),
        ("repairable", Self::Count(Severity::Repairable)),
        ("warning", Self::Count(Severity::Warning)),
        ("note", Self::Count(Severity::Note)),
        ("findings", Self::Findings),
        ("grounded", Self::Grounded),
        ("items", Self::Items),
        ("peers.agree", Self::Agreement),
        ("peers.values", Self::SharedValues),
    ];

    /// The column's value in a row, if it has one.
    pub fn of(self, row: &RowFacts) -> Option<f64> {
        let present = |value: f32| (!value.is_nan()).then_some(f64::from(value));
        match self {
            Self::FixStep => row.fix_step().map(f64::from),
            Self::Steps => row.step_count().map(f64::from),
            Self::Fitness => present(row.fitness()),
            Self::Reward => present(row.reward()),
            Self::Stages => row.stages().map(f64::from),
            Self::Cycle => row.cycle().map(f64::from),
            Self::Generation => row.generation().map(f64::from),
            Self::Confidence => present(row.confidence),
            Self::Pred => present(row.pred_num()),
            Self::Count(severity) => Some(f64::from(row.count(severity))),
            Self::Grounded => row.typed().as_ref().and_then(TypedRow::share),
            Self::Items => row.typed().map(|typed| f64::from(typed.items)),
            Self::Agreement => row.peers().map(|[agree, of]| f64::from(agree) / f64::from(of)),
            Self::SharedValues => row.shared_values(),
            Self::Findings => Some(Severity::ALL.iter().map(|severity| f64::from(row.count(*severity))).sum()),
        }
    }
}

/// From here on 32 bits do not tell cents apart.
const COARSE: f64 = 16_384.0;

/// Reason that a filter was not understood: the place in the typed text, the error, and what would work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// The bytes of the term.
    pub range: Range<usize>,
    /// A sentence; it may quote what was typed.
    pub message: String,
}

/// Values of `recovered:`.
const RECOVERED: [(&str, bool); 2] = [("gold", true), ("no", false)];

/// Values of `cell:` in addition to the five cells.
pub(crate) const OTHER_CELLS: [(&str, &str); 5] = [
    (REGRESSION, "correct in the baseline, not in this run"),
    (ALONE, "not in the baseline"),
    (DUPLICATE, "duplicate id: only the first is compared"),
    (REPEATED, "repeated question, and no id that says which record of the baseline it belongs to"),
    (LEFT_OUT, "its expected answer is disputed: left out of the adjusted counts"),
];
/// Right in the baseline, not in the run.
pub const REGRESSION: &str = "regression";
/// Without a partner.
pub const ALONE: &str = "alone";
/// Left out because its id stands earlier.
pub const DUPLICATE: &str = "duplicate";
/// Without a partner because its question repeats.
pub const REPEATED: &str = "repeated";
/// Left out because its gold answer is disputed.
pub const LEFT_OUT: &str = "left_out";

/// The name of the set of a cell: `cell:only_a`. The cells without another word are those of the last basis, as the
/// command line has them; of the others the basis goes before, as in `cell:recorded/only_a`.
pub fn cell_set(basis: Basis, word: &str) -> String {
    match basis {
        Basis::GoldAdjusted => format!("cell:{word}"),
        _ => format!("cell:{}/{word}", basis.word()),
    }
}

/// Result of asking the columns of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowAnswer {
    /// It fits.
    Yes,
    /// It does not.
    No,
    /// The text must be asked: [`Filter::fits_text`].
    AskText,
}

/// The fields of the language, with what they take: for completion and help.
pub const FIELDS: &[(&str, &str)] = &[
    ("correct:", "true, false, unknown or lucky (correct, though a step is wrong)"),
    ("kind:", "procedure, procedural, baseline, fixed, error, answer, typed, call, unknown, broken"),
    ("rule:", "rule id or part of it: procedure/unused, unused, answer"),
    ("first:", "rule id of the worst finding, or part of it: first:unused"),
    ("severity:", "fatal, repairable, warning, note"),
    ("fix:", "where to fix: none, step_run, procedure, gold, unknown"),
    ("fix_step", "step to fix: fix_step=2; -fix_step>0: no single step"),
    ("cause:", "way of failing: misread, slip, wrong_copy, quantity_missed, stops_early, other_plan, not_cited, ..."),
    ("slip:", "how the wrong value differs: sign, digits, off_by_one, unit, copied, operation, one_operand, ..."),
    ("route:", "route of an answer: reject, show_conflict, clarify, reparse, no_answer, broaden, human_review, ship"),
    ("type:", "requested type: amount, date, list, table"),
    ("strong:", "whether the list continues on the next page: bounded, truncated, unknown"),
    ("grounded", "share of the items with a citation found in the document: grounded<1"),
    ("items", "number of items in the answer: items=0"),
    ("recovered:", "wrong runs; gold: recomputing gives the expected answer; no: it does not"),
    ("steps", "a number: steps>4"),
    ("fitness", "a number: fitness<1"),
    ("reward", "a number, of completions with a reward: reward<0.5"),
    ("stages", "verifier stages passed: stages<2"),
    ("cycle", "training cycle: cycle=3"),
    ("gen", "generation of a genetic search: gen>=5"),
    ("conf", "a number: conf>=.9"),
    ("pred", "a number: pred=42"),
    ("fatal", "a count: fatal>0"),
    ("repairable", "a count: repairable>1"),
    ("warning", "a count: warning>0"),
    ("note", "a count: note>0"),
    ("findings", "a count: findings=0"),
    ("peers.agree", "with --peers, the share of them that give its answer: peers.agree<0.5"),
    ("peers.values", "with --peers, the share of its values on the way that they have: peers.values<0.5"),
    (
        "cell:",
        "comparison with the baseline: both, only_a, only_b, none, missing; regression, alone, duplicate, repeated, left_out",
    ),
    ("fork:", "true: forks, which have trace.fork, in whatever file; false: the other records"),
    ("board:", "records behind a number of the dashboard (O), which writes this filter"),
    ("verdict:", "review verdict: pass, fail, defer, skip, disputed, stale, open"),
    ("label:", "label id or part of its name: label:slip, label:\"wrong unit\""),
    ("reviewed:", "true: you reviewed it; false: not yet"),
    ("gold:", "review of the expected answer: ok, suspect, wrong"),
    ("stale:", "true: changed since its review"),
    ("model:", "part of the model's name: model:gemma; in quotes the whole: model:\"gemma3:1b\""),
    ("text:", "text shown in the record: text:apples, text:\"two dozen\""),
    ("id:", "part of the id"),
];

impl Filter {
    /// Reads what was typed. `types`: those that `type:` knows.
    pub fn parse(typed: &str, types: &TypeRegistry) -> Result<Self, FilterError> {
        let mut terms = Vec::new();
        for range in words(typed)? {
            let word = without_blanks(&typed[range.clone()]);
            let (wanted, body) = match word.strip_prefix(['-', '!']) {
                Some(rest) if !rest.is_empty() => (false, rest),
                _ => (true, word.as_str()),
            };
            let test = parse_test(body, types).map_err(|message| FilterError { range, message })?;
            terms.push(Term { wanted, test });
        }
        Ok(Self { terms })
    }

    /// Reads the name of a value, `state.total` or `trace[2].temperature`, and returns what shows it of a record.
    pub fn value_reader(name: &str) -> Result<impl Fn(&CaseView<'_>) -> Shown, String> {
        watch::reader(name)
    }

    /// Matches what has exactly this id. An error: the id is too long to look for.
    pub fn of_id(id: &str) -> Result<Self, String> {
        let letters = pattern(&escaped_source(id, false), false)?;
        Ok(Self { terms: vec![Term { wanted: true, test: Test::WholeId(letters, id.to_owned()) }] })
    }

    /// Tells whether everything fits.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Tells whether the text must be asked, where rows know their models by these names.
    pub fn needs_text_with(&self, models: &ModelNames) -> bool {
        let is_known = |test: &Test| matches!(test, Test::Model(..)) && models.has_room();
        self.terms.iter().any(|term| term.test.asks_text() && !is_known(&term.test))
    }

    /// The names of the sets of records that are asked for.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        let named = self.terms.iter().filter_map(|term| match &term.test {
            Test::Sets(names) => Some(names),
            _ => None,
        });
        named.flatten().map(String::as_str)
    }

    /// The first field that asks for something hidden, with what that is.
    pub fn asks_hidden(&self, hide: Hide) -> Option<(&'static str, Hidden)> {
        self.terms.iter().find_map(|term| {
            let (field, told) = term.test.tells()?;
            Some((field, told.iter().copied().find(|hidden| hide.has(*hidden))?))
        })
    }

    /// Tells whether exactly the records that fit are meant: those behind a number, or with or without forks.
    pub fn is_exact(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Fork(_) | Test::Sets(_)))
    }

    /// Tells whether what people said must be asked.
    pub fn needs_reviews(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Review(_)))
    }

    /// Tells whether it asks for the rule about repeated ids alone, which other records decide.
    pub fn asks_duplicates(&self) -> bool {
        let is_alone = |test: &Test| matches!(test, Test::Rule(rules) if rules.rules().eq([RuleId::DuplicateId]));
        self.terms.iter().any(|term| is_alone(&term.test))
    }

    /// The first field that asks for what others may have said.
    pub fn asks_others(&self) -> Option<&'static str> {
        self.terms.iter().find_map(|term| match term.test {
            Test::Review(ReviewTest::Verdict(_)) => Some("verdict"),
            Test::Review(ReviewTest::Label(_)) => Some("label"),
            Test::Review(ReviewTest::Gold(_)) => Some("gold"),
            _ => None,
        })
    }

    /// Tells whether the terms about what people said hold.
    pub fn fits_judged(&self, judged: &VerdictState) -> bool {
        self.terms.iter().all(|term| match &term.test {
            Test::Review(asked) => asked.holds(judged) == term.wanted,
            _ => true,
        })
    }

    /// Asks the columns of a row; what people said is asked by [`Filter::fits_judged`].
    pub fn fits_row(&self, row: &RowFacts) -> RowAnswer {
        self.fits(row, None, |_| None)
    }

    /// The same, where somebody can say whether the record is in a set.
    pub fn fits_in(&self, row: &RowFacts, models: &ModelNames, is_in: impl Fn(&str) -> bool) -> RowAnswer {
        self.fits(row, Some(models), |names| Some(names.iter().any(|name| is_in(name))))
    }

    /// The same, where rows know their models by these names.
    pub fn fits_row_with(&self, row: &RowFacts, models: &ModelNames) -> RowAnswer {
        self.fits(row, Some(models), |_| None)
    }

    fn fits(
        &self,
        row: &RowFacts,
        models: Option<&ModelNames>,
        is_in: impl Fn(&[String]) -> Option<bool>,
    ) -> RowAnswer {
        let mut answer = RowAnswer::Yes;
        for term in &self.terms {
            let holds = match &term.test {
                // What people said is asked apart.
                Test::Review(_) => continue,
                Test::Sets(names) => is_in(names),
                Test::Model(_, asked) => models.and_then(|models| model_fits(asked, row, models)),
                test => test.on_row(row),
            };
            match holds {
                Some(holds) if holds != term.wanted => return RowAnswer::No,
                Some(_) => {}
                None => answer = RowAnswer::AskText,
            }
        }
        answer
    }

    /// Tells whether a record that the rules have looked at fits; what people said is asked by [`Filter::fits_judged`].
    pub fn takes(&self, case: &CaseView<'_>, findings: &[Finding]) -> bool {
        let row = RowFacts::unchecked(0, 0);
        // Most terms ask nothing of the verdict, which costs more than the rules.
        let row = match self.terms.iter().any(|term| term.test.asks_verdict()) {
            true => row.checked(case, findings, case.baseline()),
            false => row.ruled(case, findings, case.baseline()),
        };
        match self.fits_row(&row) {
            RowAnswer::Yes => true,
            RowAnswer::No => false,
            RowAnswer::AskText => self.fits_case(case),
        }
    }

    /// Tells whether the terms about texts and values hold in a record, given as its bytes.
    pub fn fits_text(&self, text: &[u8]) -> bool {
        // Most records do not even hold the names.
        if self.terms.iter().any(|term| term.wanted && term.test.lacks_name(text)) {
            return false;
        }
        if self.terms.iter().any(|term| term.test.asks_values()) {
            return self.fits_case(&Case::read(text).view());
        }
        let Some(open) = self.open_letters(text) else { return false };
        if open.is_empty() {
            return true;
        }
        let mut tape = Tape::default();
        tape.read(text);
        let record = tape.root(text).map(formats::read);
        open.iter().all(|term| term.test.is_seen(record.as_ref()) == term.wanted)
    }

    fn fits_case(&self, case: &CaseView<'_>) -> bool {
        let holds = |term: &Term| term.test.on_values(case).is_none_or(|holds| holds == term.wanted);
        let is_seen = |open: &&Term| open.test.is_seen(case.record.as_ref()) == open.wanted;
        self.terms.iter().all(holds) && self.open_letters(case.text()).is_some_and(|open| open.iter().all(is_seen))
    }

    /// Lists the terms over text whose letters a record holds, so that it must be asked where; `None`: it cannot fit.
    fn open_letters(&self, text: &[u8]) -> Option<Vec<&Term>> {
        let mut open = Vec::new();
        for term in &self.terms {
            let Some(letters) = term.test.letters() else { continue };
            // Most records do not even hold the letters.
            match letters.is_match(text) {
                true => open.push(term),
                false if term.wanted => return None,
                false => {}
            }
        }
        Some(open)
    }
}

impl Test {
    /// The letters that a record must hold.
    const fn letters(&self) -> Option<&Regex> {
        match self {
            Self::Text(letters) | Self::Id(letters) | Self::WholeId(letters, _) | Self::Model(letters, _) => {
                Some(letters)
            }
            _ => None,
        }
    }

    /// The comparison of an answer with a number that 32 bits do not tell from others; `None`: there is none.
    fn exact_number(&self) -> Option<(Operator, f64)> {
        match self {
            Self::Number(Column::Pred, comparison, limit) if limit.abs() >= COARSE => Some((*comparison, *limit)),
            _ => None,
        }
    }

    /// Tells whether a row may not know, so that the text must be asked.
    fn asks_text(&self) -> bool {
        self.letters().is_some() || self.asks_values()
    }

    /// The field, and what it tells of a record that a reviewer may not want to know; `None`: nothing.
    fn tells(&self) -> Option<(&'static str, &'static [Hidden])> {
        use Hidden as H;
        const JUDGED: &[Hidden] = &[H::Gold, H::Baseline, H::Triage];
        Some(match self {
            Self::Correct(_) => ("correct", &[H::Gold]),
            Self::Fix(_) => ("fix", JUDGED),
            Self::Cause(_) => ("cause", &[H::Gold, H::Baseline, H::Triage, H::Confidence]),
            Self::Slip(_) => ("slip", &[H::Gold, H::Baseline, H::Triage, H::Confidence]),
            Self::Number(Column::FixStep, ..) => ("fix_step", JUDGED),
            Self::Number(Column::Agreement, ..) => ("peers.agree", JUDGED),
            Self::Number(Column::SharedValues, ..) => ("peers.values", JUDGED),
            Self::RecoversGold(_) => ("recovered", JUDGED),
            Self::Route(_) => ("route", &[H::Triage, H::Confidence]),
            Self::Number(Column::Confidence, ..) => ("conf", &[H::Confidence]),
            Self::Number(Column::Reward, ..) => ("reward", &[H::Gold]),
            Self::Number(Column::Stages, ..) => ("stages", &[H::Gold]),
            Self::Model(..) => ("model", &[H::Model]),
            Self::Rule(_) => ("rule", &[H::Gold, H::Confidence]),
            Self::First(_) => ("first", &[H::Gold, H::Confidence]),
            Self::Severity(_) => ("severity", &[H::Gold, H::Confidence]),
            Self::Number(Column::Count(severity), ..) => (severity.word(), &[H::Gold, H::Confidence]),
            Self::Number(Column::Findings, ..) => ("findings", &[H::Gold, H::Confidence]),
            Self::Review(ReviewTest::Gold(_)) => ("gold", &[H::Gold]),
            Self::Watch(watch, _) if watch.is_of_state() => return None,
            Self::Watch(..) => ("watch", &[H::Gold, H::Baseline, H::Triage, H::Confidence, H::Model]),
            Self::Sets(_) => ("cell", &[H::Gold, H::Baseline, H::Triage, H::Confidence]),
            Self::Kind(_)
            | Self::Fork(_)
            | Self::Truncation(_)
            | Self::Type(_)
            | Self::Number(..)
            | Self::Review(_)
            | Self::Text(_)
            | Self::Id(_)
            | Self::WholeId(..) => return None,
        })
    }

    /// Tells whether only the verdict on a run can answer it.
    const fn asks_verdict(&self) -> bool {
        matches!(
            self,
            Self::Fix(_) | Self::Cause(_) | Self::Slip(_) | Self::RecoversGold(_) | Self::Number(Column::FixStep, ..)
        )
    }

    /// Tells whether the record must be read to answer it.
    fn asks_values(&self) -> bool {
        self.exact_number().is_some() || matches!(self, Self::Watch(..))
    }

    /// Tells whether a text does not even hold the name that it asks for.
    fn lacks_name(&self, text: &[u8]) -> bool {
        matches!(self, Self::Watch(_, Some(letters)) if !letters.is_match(text))
    }

    /// Asks the values of a record; `None`: that is not asked.
    fn on_values(&self, case: &CaseView<'_>) -> Option<bool> {
        if let Some((comparison, limit)) = self.exact_number() {
            let number = case.record.as_ref().and_then(given_number);
            return Some(number.is_some_and(|number| comparison.holds_exactly(number, limit)));
        }
        match self {
            Self::Watch(watch, _) => Some(watch.holds(case)),
            _ => None,
        }
    }

    /// Tells whether a person sees the letters where they are looked for; of what is not JSON, everything is seen.
    fn is_seen(&self, record: Option<&Record<'_>>) -> bool {
        match (self, record) {
            (Self::Text(letters), Some(record)) => first_place(record, &|piece| letters.is_match(piece)).is_some(),
            (Self::Id(letters), record) => record.and_then(own_id).is_some_and(|id| letters.is_match(id.raw())),
            (Self::WholeId(_, id), record) => record
                .and_then(own_id)
                .is_some_and(|own| id_text(own).is_some_and(|text| text == id.as_str()) || own.raw() == id.as_bytes()),
            (Self::Model(_, asked), record) => record.and_then(Record::model).is_some_and(|name| {
                let name = shown_name(&name);
                holds_one(asked, name.as_str())
            }),
            _ => true,
        }
    }

    fn on_row(&self, row: &RowFacts) -> Option<bool> {
        Some(match self {
            Self::Correct(grades) => grades.iter().any(|grade| grade.is_of(row)),
            Self::Kind(kinds) => kinds.contains(&row.kind()),
            Self::Severity(severities) => severities.iter().any(|severity| row.count(*severity) > 0),
            Self::Fix(places) => row.fix().is_some_and(|fix| places.contains(&fix)),
            Self::Cause(causes) => row.cause().is_some_and(|cause| causes.contains(&cause)),
            Self::Slip(forms) => row.slip_form().is_some_and(|form| forms.contains(&form)),
            // Of a right run nothing has to be recovered.
            Self::RecoversGold(wanted) => {
                row.fix().is_some_and(|fix| fix != Fix::None) && wanted.contains(&row.recovers_gold())
            }
            Self::Rule(rules) => row.spoke(rules),
            Self::First(rules) => row.leading().is_some_and(|rule| rules.contains(&rule)),
            Self::Route(routes) => {
                row.typed().and_then(|typed| typed.route).is_some_and(|route| routes.contains(&route))
            }
            Self::Truncation(verdicts) => row.typed().is_some_and(|typed| verdicts.contains(&typed.truncation)),
            Self::Type(places) => {
                row.typed().and_then(|typed| typed.asked).is_some_and(|asked| places.contains(&usize::from(asked)))
            }
            Self::Number(Column::Pred, _, limit)
                if self.exact_number().is_some() && row.pred_num().total_cmp(&(*limit as f32)).is_eq() =>
            {
                return None;
            }
            Self::Number(column, comparison, limit) => {
                column.of(row).is_some_and(|value| comparison.holds(value, *limit))
            }
            Self::Fork(wanted) => row.is_fork() == *wanted,
            // A row knows its model by a number only.
            Self::Sets(_)
            | Self::Review(_)
            | Self::Text(_)
            | Self::Id(_)
            | Self::WholeId(..)
            | Self::Model(..)
            | Self::Watch(..) => {
                return None;
            }
        })
    }
}

/// Cuts at blanks outside double quotes.
fn words(typed: &str) -> Result<Vec<Range<usize>>, FilterError> {
    let (mut out, mut start, mut quote) = (Vec::new(), None, None);
    for (at, c) in typed.char_indices() {
        match c {
            '"' => {
                quote = if quote.is_some() { None } else { Some(at) };
                start = start.or(Some(at));
            }
            _ if c.is_whitespace() && quote.is_none() => {
                if let Some(from) = start.take() {
                    out.push(from..at);
                }
            }
            _ => start = start.or(Some(at)),
        }
    }
    if let Some(at) = quote {
        return Err(FilterError { range: at..typed.len(), message: "missing closing quote".into() });
    }
    out.extend(start.map(|from| from..typed.len()));
    Ok(with_comparisons(typed, out))
}

/// Joins what blanks around a comparison set apart: `steps > 4` is `steps>4`.
fn with_comparisons(typed: &str, words: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let is_sign = |word: &Range<usize>| typed.get(word.clone()).is_some_and(watch::is_comparison);
    let mut joined: Vec<Range<usize>> = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        match joined.last_mut().filter(|_| is_sign(&word) && words.peek().is_some()) {
            Some(before) => before.end = words.next().map_or(word.end, |next| next.end),
            None => joined.push(word),
        }
    }
    joined
}

/// The same without blanks outside quotes.
fn without_blanks(word: &str) -> String {
    let mut quoted = false;
    let kept = word.chars().filter(|c| {
        quoted ^= *c == '"';
        quoted || !c.is_whitespace()
    });
    kept.collect()
}

fn parse_test(word: &str, types: &TypeRegistry) -> Result<Test, String> {
    for (name, column) in Column::NAMES {
        if let Some(rest) = word.strip_prefix(name)
            // `grounded:<1` is `grounded<1`.
            && let rest = rest.strip_prefix(':').filter(|rest| rest.starts_with(['<', '>', '='])).unwrap_or(rest)
            && let Some((number, comparison)) =
                Operator::SIGNS.iter().find_map(|(sign, comparison)| Some((rest.strip_prefix(sign)?, comparison)))
        {
            return number_test(name, column, *comparison, number);
        }
    }
    let is_name = |field: &str| field.chars().all(|c| c.is_alphabetic() || c == '_');
    let Some((field, value)) = word.split_once(':').filter(|(field, _)| is_name(field)) else {
        if let Some(why) = meant_as_comparison(word) {
            return Err(why);
        }
        return match Watch::parse(word) {
            Some(watch) => watch_test(watch?),
            None => text_test(word),
        };
    };
    match field {
        "text" => text_test(value),
        "id" => id_test(value),
        "model" => model_test(value),
        "correct" => choice(field, value, Grade::ALL, Grade::word).map(Test::Correct),
        "kind" => choice(field, value, RecordKind::ALL, RecordKind::word).map(Test::Kind),
        "severity" => choice(field, value, Severity::ALL, Severity::word).map(Test::Severity),
        "rule" => rule_test(value),
        "first" => first_test(value),
        "route" => choice(field, value, Route::ALL, Route::word).map(Test::Route),
        "strong" => choice(field, value, TruncationVerdict::ALL, TruncationVerdict::word).map(Test::Truncation),
        "type" => choices(field, value, &type_names(types)).map(Test::Type),
        "cell" => cell_test(value),
        "board" => board_test(value),
        "fork" => flag(field, value).map(Test::Fork),
        "fix" => choice(field, value, Fix::ALL, Fix::word).map(Test::Fix),
        "cause" => choice(field, value, Cause::ALL, Cause::word).map(Test::Cause),
        "slip" => choice(field, value, SlipForm::ALL, SlipForm::word).map(Test::Slip),
        "verdict" => choice(field, value, Outcome::ALL, Outcome::word).map(ReviewTest::Verdict).map(Test::Review),
        "label" => label_test(value),
        "reviewed" => flag(field, value).map(ReviewTest::Reviewed).map(Test::Review),
        "stale" => flag(field, value).map(ReviewTest::Stale).map(Test::Review),
        "gold" => choice(field, value, GoldStatus::ALL, GoldStatus::word).map(ReviewTest::Gold).map(Test::Review),
        "recovered" => choices(field, value, &RECOVERED).map(Test::RecoversGold),
        _ => {
            let fields = || FIELDS.iter().map(|(name, _)| name.trim_end_matches(':'));
            Err(format!("unknown field {field:?}.{} Fields: {}", meant(field, fields()), names(fields())))
        }
    }
}

/// The question whether one of the words that there are was meant.
fn meant<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest(word, known).map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default()
}

/// Explains why a word that begins with no column is not taken as text to find: it compares something. Quoted text is
/// never refused.
fn meant_as_comparison(word: &str) -> Option<String> {
    const SIGNS: [char; 6] = ['<', '>', '=', '≤', '≥', '≠'];
    let is_sign = |at: usize| word[at..].starts_with(SIGNS) || word[at..].starts_with("!=");
    let name_end = word.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(word.len());
    let name = &word[..name_end];
    if !is_sign(name_end) {
        return None;
    }
    let value = word[name_end..].trim_start_matches(['<', '>', '=', '≤', '≥', '≠', '!']);
    if name.is_empty() {
        // `<think>` is text; `>4` lost its column at a blank.
        let is_number = value.is_empty() || value.parse::<f64>().is_ok();
        return is_number.then(|| format!("{word:?} compares nothing; write it without spaces, as in steps>4"));
    }
    let numbers = || names(Column::NAMES.iter().map(|(name, _)| *name));
    if Column::NAMES.iter().any(|(known, _)| *known == name) {
        return Some(format!("{name} takes <, <=, =, >= or >; - excludes, as in -{name}=4"));
    }
    if let Some((field, takes)) = FIELDS.iter().find(|(field, _)| field.strip_suffix(':') == Some(name)) {
        return Some(format!("{name} is not a number; write {field} and {takes}"));
    }
    if word.get(name_end..).is_some_and(|rest| rest.starts_with(['≤', '≥'])) {
        return Some(format!("{name} takes <, <=, =, !=, >=, > or ~"));
    }
    // Any other name is a variable's, unless it is nearly a column's.
    let close = closest(name, Column::NAMES.iter().map(|(name, _)| *name)).filter(|_| !name.contains('.'))?;
    Some(format!(
        "no number is called {name:?}. Did you mean {close:?}? A variable of that name is state.{name}. Numbers: {}",
        numbers()
    ))
}

/// Of a condition on values, with the letters that a record must hold.
fn watch_test(watch: Watch) -> Result<Test, String> {
    let letters = watch.name().map(|name| pattern(&escaped_source(name, false), false)).transpose()?.map(Box::new);
    Ok(Test::Watch(Box::new(watch), letters))
}

fn number_test(name: &str, column: Column, comparison: Operator, value: &str) -> Result<Test, String> {
    let limit = value.parse::<f64>().ok().filter(|limit| limit.is_finite());
    let limit = limit.ok_or_else(|| format!("{name} needs a number, as in {name}>4"))?;
    Ok(Test::Number(column, comparison, limit))
}

fn choice<T: Copy, const N: usize>(
    field: &str,
    value: &str,
    all: [T; N],
    word: fn(T) -> &'static str,
) -> Result<Vec<T>, String> {
    choices(field, value, &all.map(|one| (word(one), one)))
}

fn choices<T: Copy>(field: &str, value: &str, known: &[(&str, T)]) -> Result<Vec<T>, String> {
    value
        .split(',')
        .map(|word| {
            known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
                let words = || known.iter().map(|(name, _)| *name);
                format!("{field}: takes {}, not {word:?}.{}", names(words()), meant(word, words()))
            })
        })
        .collect()
}

fn flag(field: &str, value: &str) -> Result<bool, String> {
    let found = choices(field, value, &[("true", true), ("false", false)])?;
    match found.as_slice() {
        [one] => Ok(*one),
        _ => Err(format!("{field}: takes true or false")),
    }
}

fn label_test(value: &str) -> Result<Test, String> {
    let labels = value.split(',').map(|label| label.replace('"', "")).filter(|label| !label.is_empty());
    let labels: Vec<Text> = labels.map(Text::from).collect();
    if labels.is_empty() { Err("label: needs a label".into()) } else { Ok(Test::Review(ReviewTest::Label(labels))) }
}

/// The names of the types with their places.
fn type_names(types: &TypeRegistry) -> Vec<(&str, usize)> {
    let names = types.types().iter().enumerate();
    names.filter_map(|(n, known)| Some((known.name.utf8()?, n))).collect()
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| name.trim_end_matches(':')).collect::<Vec<_>>().join(", ")
}

fn rule_test(value: &str) -> Result<Test, String> {
    let mut rules = RuleSet::default();
    for word in value.split(',') {
        let mut found =
            RuleId::ALL.into_iter().filter(|rule| !word.is_empty() && rule.word().contains(word)).peekable();
        if found.peek().is_none() {
            return Err(format!("no rule id contains {word:?}; `stepscope rules` lists them"));
        }
        rules.extend(found);
    }
    Ok(Test::Rule(rules))
}

/// A rule's whole id is that rule alone.
fn first_test(value: &str) -> Result<Test, String> {
    rule_test(value)?;
    let rules = value.split(',').flat_map(|word| match RuleId::from_word(word) {
        Some(rule) => vec![rule],
        None => RuleId::ALL.into_iter().filter(|rule| rule.word().contains(word)).collect(),
    });
    Ok(Test::First(rules.collect()))
}

/// The words of `cell:`, with what they mean.
fn cell_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    Cell::ALL.into_iter().map(|cell| (cell.word(), cell.phrase())).chain(OTHER_CELLS)
}

fn cell_test(value: &str) -> Result<Test, String> {
    let set = |typed: &str| {
        let (basis, word) = typed.split_once('/').unwrap_or((Basis::GoldAdjusted.word(), typed));
        let word = word.replace('-', "_");
        let basis = Basis::ALL.into_iter().find(|known| known.word() == basis);
        let known = cell_words().any(|(known, _)| known == word);
        basis.filter(|_| known).map(|basis| cell_set(basis, &word)).ok_or_else(|| {
            format!(
                "cell: takes {}, not {typed:?}; the prefix recorded/ or reviewed/ is optional",
                names(cell_words().map(|(word, _)| word))
            )
        })
    };
    value.split(',').map(set).collect::<Result<_, _>>().map(Test::Sets)
}

fn board_test(value: &str) -> Result<Test, String> {
    let names: Vec<String> = value.replace('"', "").split(',').map(|name| format!("board:{name}")).collect();
    if names.iter().any(|name| name == "board:") {
        return Err("board: needs the name of a number; the dashboard (O) writes it".into());
    }
    Ok(Test::Sets(names))
}

fn text_test(value: &str) -> Result<Test, String> {
    let text = value.replace('"', "");
    if text.is_empty() {
        return Err("text: needs text to search for".into());
    }
    let [written, _] = text_patterns(&text)?;
    Ok(Test::Text(written))
}

/// Names in quotes are whole, others parts.
fn model_test(value: &str) -> Result<Test, String> {
    let mut asked = Vec::new();
    let mut letters = Vec::new();
    let mut is_quoted = false;
    for part in value.split('"') {
        let names: Vec<&str> = if is_quoted { vec![part] } else { part.split(',').collect() };
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            // What was made printable stands otherwise in the record: there every record is asked.
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/@+ ".contains(c));
            letters.push(if is_plain { escaped_source(name, true) } else { String::new() });
            asked.push(if is_quoted {
                ModelTest::Whole(name.to_owned())
            } else {
                ModelTest::Part(name.to_lowercase())
            });
        }
        is_quoted = !is_quoted;
    }
    if asked.is_empty() {
        return Err("model: needs the name of a model, or a part of it".into());
    }
    Ok(Test::Model(pattern(&letters.join("|"), true)?, asked))
}

fn id_test(value: &str) -> Result<Test, String> {
    let id = value.replace('"', "");
    if id.is_empty() {
        return Err("id: needs an id, or a part of one".into());
    }
    pattern(&escaped_source(&id, true), true).map(Test::Id)
}

/// Patterns that find a text: in JSON, whether its characters stand there as themselves or escaped, and as people read it,
/// without escapes. Small letters find capitals too; a capital finds only itself.
pub fn text_patterns(text: &str) -> Result<[Regex; 2], String> {
    let ignore_case = !text.chars().any(char::is_uppercase);
    let shown = pattern(&regex::escape(text), ignore_case)?;
    Ok([pattern(&escaped_source(text, ignore_case), ignore_case)?, shown])
}

/// The id of a record, also of one of no known format.
fn own_id<'a>(record: &Record<'a>) -> Option<Value<'a>> {
    record.id.or_else(|| record.root.get("id"))
}

fn pattern(source: &str, ignore_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(source)
        .case_insensitive(ignore_case)
        .size_limit(1 << 20)
        .build()
        .map_err(|_| "this search text is too long".into())
}

fn escaped_source(text: &str, ignore_case: bool) -> String {
    use std::fmt::Write as _;
    // An escape of the other case is no other case of the escape.
    let cases = |c: char| {
        let (lower, upper) = (c.to_lowercase(), c.to_uppercase());
        let other = [lower.clone().next(), upper.clone().next()].into_iter().flatten();
        let is_one = lower.count() == 1 && upper.count() == 1;
        [c].into_iter().chain(other.filter(move |other| ignore_case && is_one && *other != c))
    };
    let mut source = String::new();
    for c in text.chars() {
        let plain = regex::escape(c.encode_utf8(&mut [0; 4]));
        match c {
            '"' | '\\' => {
                let _ = write!(source, r"\\{plain}");
            }
            '/' => source.push_str(r"\\?/"),
            ' '..='~' => source.push_str(&plain),
            _ => {
                let _ = write!(source, "(?:{plain}");
                let short = [('\n', 'n'), ('\t', 't'), ('\r', 'r'), ('\u{8}', 'b'), ('\u{c}', 'f')];
                for (_, letter) in short.into_iter().filter(|(short, _)| *short == c) {
                    let _ = write!(source, r"|(?-i:\\{letter})");
                }
                for case in cases(c) {
                    source.push_str("|(?i:");
                    for unit in case.encode_utf16(&mut [0; 2]) {
                        let _ = write!(source, r"\\u{unit:04x}");
                    }
                    source.push(')');
                }
                source.push(')');
            }
        }
    }
    source
}

/// A completion of the word before the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The whole word that would stand there.
    pub word: String,
    /// Values that it takes, or its meaning.
    pub help: &'static str,
}

/// Lists what could be typed at the cursor, with the bytes it would replace.
pub fn completions(typed: &str, cursor: usize, types: &TypeRegistry) -> (Range<usize>, Vec<Completion>) {
    let before = typed.get(..cursor).unwrap_or(typed);
    let start = before.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8());
    let word = &before[start..];
    let sign = usize::from(word.starts_with(['-', '!']));
    let (prefix, body) = word.split_at(sign);
    let make = |text: String, help| Completion { word: format!("{prefix}{text}"), help };
    let found = match body.split_once(':') {
        Some((field @ ("rule" | "first"), part)) => RULES
            .iter()
            .filter(|rule| rule.id.word().contains(part) && rule.id.word() != part)
            .map(|rule| make(format!("{field}:{}", rule.id), rule.summary))
            .collect(),
        Some((field, part)) => {
            let (done, last) = part.rsplit_once(',').map_or(("", part), |(done, last)| (done, last));
            let comma = if done.is_empty() { "" } else { "," };
            let fits = value_words(field, types).into_iter().filter(|(name, _)| name.contains(last) && *name != last);
            fits.map(|(name, help)| make(format!("{field}:{done}{comma}{name}"), help)).collect()
        }
        None => FIELDS
            .iter()
            .chain(FUNCTIONS)
            .filter(|(name, _)| name.starts_with(body) && *name != body)
            .map(|(name, help)| make((*name).to_owned(), help))
            .collect(),
    };
    (start..cursor.min(typed.len()), found)
}

/// The values that a field takes, each with its meaning.
fn value_words<'t>(field: &str, types: &'t TypeRegistry) -> Vec<(&'t str, &'static str)> {
    match field {
        "correct" => Grade::ALL.map(|grade| (grade.word(), grade.phrase())).to_vec(),
        "kind" => RecordKind::ALL.map(|kind| (kind.word(), "records of this kind")).to_vec(),
        "severity" => Severity::ALL.map(|severity| (severity.word(), "findings of this severity")).to_vec(),
        "route" => Route::ALL.map(|route| (route.word(), route.phrase())).to_vec(),
        "strong" => TruncationVerdict::ALL.map(|verdict| (verdict.word(), "whether the list continues")).to_vec(),
        "type" => type_names(types).into_iter().map(|(name, _)| (name, "answers of this type")).collect(),
        "cell" => cell_words().collect(),
        "verdict" => Outcome::ALL.map(|outcome| (outcome.word(), "review verdict")).to_vec(),
        "gold" => GoldStatus::ALL.map(|status| (status.word(), "review of the expected answer")).to_vec(),
        "reviewed" | "stale" | "fork" => vec![("true", "yes"), ("false", "no")],
        "fix" => Fix::ALL.map(|fix| (fix.word(), fix.phrase())).to_vec(),
        "cause" => Cause::ALL.map(|cause| (cause.word(), cause.phrase())).to_vec(),
        "slip" => SlipForm::ALL.map(|form| (form.word(), form.phrase())).to_vec(),
        "recovered" => {
            vec![("gold", "recomputed or corrected, it gives the expected answer"), ("no", "a wrong run that does not")]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::triage::Triage;

    fn error(typed: &str) -> String {
        Filter::parse(typed, TypeRegistry::built_in()).unwrap_err().message
    }

    /// Tells whether the text must be asked, where rows know no names of models.
    fn needs_text(filter: &Filter) -> bool {
        filter.terms.iter().any(|term| term.test.asks_text())
    }

    #[test]
    fn errors_say_what_would_do() {
        assert!(error("correct:maybe").contains("true, false, unknown"));
        assert!(error("colour:red").contains("correct, kind, rule"));
        assert!(error("steps>many").contains("steps>4"));
        assert!(error("rule:nothing_like_it").contains("stepscope rules"));
        assert_eq!(Filter::parse("a text:\"b", TypeRegistry::built_in()).unwrap_err().range, 7..9);
    }

    #[test]
    fn what_compares_is_never_looked_for_as_text() {
        for (typed, words) in [
            ("score<", "a comparison needs a value behind it"),
            ("score≤1", "score takes <, <=, =, !=, >=, > or ~"),
            ("reward≤1", "reward takes <, <=, =, >= or >"),
            ("model:", "model: needs the name of a model"),
            ("steps!=4", "-steps=4"),
            ("correct=false", "write correct: and true, false, unknown or lucky"),
            ("kind!=error", "write kind: and procedure"),
            ("steps >4", "without spaces, as in steps>4"),
            ("fitnes<1", "no number is called \"fitnes\". Did you mean \"fitness\"?"),
            ("score:1", "unknown field \"score\""),
            ("corect:true", "unknown field \"corect\". Did you mean \"correct\"? Fields: correct, "),
            ("fix_steps:2", "unknown field \"fix_steps\". Did you mean \"fix_step\"?"),
            ("id:", "id: needs an id"),
            ("model:\"\"", "model: needs the name of a model"),
            ("correct:ture", "not \"ture\". Did you mean \"true\"?"),
        ] {
            assert!(error(typed).contains(words), "{typed}: {}", error(typed));
        }
        let steps = |typed: &str| Filter::parse(typed, TypeRegistry::built_in()).map(|filter| format!("{filter:?}"));
        assert_eq!(steps("-steps > 4 correct:true"), steps("-steps>4 correct:true"));
        for text in ["<think>", "\"x=3\"", "text:\"reward<1\"", "2x=4", "a+b=c", "2=2", "hello!", "a-b"] {
            assert!(needs_text(&Filter::parse(text, TypeRegistry::built_in()).unwrap()), "{text}");
        }
    }

    #[test]
    fn neighbouring_numbers_are_told_apart() {
        for (sign, value, limit, holds) in [
            (Operator::Equal, 1_000_000.0, 1_000_001.0, false),
            (Operator::More, 1_000_001.0, 1_000_000.0, true),
            (Operator::Less, 1_000_000.0, 1_000_001.0, true),
            (Operator::Equal, 1e-7, 0.0, false),
            (Operator::Equal, f64::from(0.149_087_34_f32), 0.149_087, true),
            (Operator::AtMost, f64::from(0.1_f32), 0.1, true),
        ] {
            assert_eq!(sign.holds(value, limit), holds, "{value} {limit}");
        }
    }

    #[test]
    fn wrong_runs_are_filtered_by_the_step_to_fix() {
        let row = |step| {
            let mut row = RowFacts::unchecked(0, 3);
            let confidence = stepscope_judge::triage::Confidence::Sure;
            let (recovered, why) = (None, Vec::new());
            let fix = Fix::Procedure;
            let (corrected, recovers_gold, is_chain) = (false, false, false);
            let cause = None;
            row.judge(&Triage { fix, step, recovered, corrected, recovers_gold, is_chain, confidence, cause, why });
            row
        };
        let (fourth, whole) = (row(Some(3)), row(None));
        let fits = |typed: &str, row: &RowFacts| {
            Filter::parse(typed, TypeRegistry::built_in()).unwrap().fits_row(row) == RowAnswer::Yes
        };
        assert!(fits("recovered:no", &whole) && !fits("recovered:gold", &whole) && fits("recovered:gold,no", &whole));
        // Of a right run nothing was recovered, nor not.
        assert!(!fits("recovered:no", &RowFacts::unchecked(0, 3)));
        for (typed, fits) in [
            ("fix_step=4", [true, false]),
            ("fix_step:4", [true, false]),
            ("fix_step>=2 fix_step<5", [true, false]),
            ("fix_step>4", [false, false]),
            ("-fix_step=4", [false, true]),
            ("-fix_step>0", [false, true]),
            ("fix:procedure fix_step=4", [true, false]),
            ("fix:gold fix_step=4", [false, false]),
        ] {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            let answers = [&fourth, &whole].map(|row| filter.fits_row(row) == RowAnswer::Yes);
            assert_eq!(answers, fits, "{typed}");
            for hidden in [Hidden::Gold, Hidden::Baseline, Hidden::Triage] {
                assert!(filter.asks_hidden(Hide::of([hidden])).is_some(), "{typed} {hidden:?}");
            }
        }
        let (_, found) = completions("fix_", 4, TypeRegistry::built_in());
        assert_eq!(found.iter().map(|found| found.word.as_str()).collect::<Vec<_>>(), ["fix_step"]);
        assert!(error("fix_step>many").contains("fix_step>4"));
    }

    #[test]
    fn forks_are_told_by_what_they_say() {
        const RUN: &str = r#"{"id": 1, "question": "q", "state": {"a": 1}, "trace": {"fork": {"how": "edit"}}}"#;
        const ANSWER: &str =
            r#"{"format": "stepscope.answer_trace", "answer": {"items": []}, "trace": {"fork": {"how": "rerun"}}}"#;
        let row = |text: &str, is_checked| RowFacts::of(&Case::read(text.as_bytes()).view(), is_checked);
        let forks = [RUN, ANSWER].into_iter().flat_map(|text| [row(text, true), row(text, false)]);
        let others = [row(&RUN.replace(r#"{"how": "edit"}"#, "null"), true), RowFacts::unchecked(u64::MAX, 3)];
        for (typed, fits) in
            [("fork:true", [true, false]), ("fork:false", [false, true]), ("-fork:true", [false, true])]
        {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            assert!(filter.is_exact() && !needs_text(&filter), "{typed}");
            for (is_fork, row) in forks.clone().map(|row| (true, row)).chain(others.map(|row| (false, row))) {
                let expected = if fits[usize::from(!is_fork)] { RowAnswer::Yes } else { RowAnswer::No };
                assert_eq!(filter.fits_row(&row), expected, "{typed} {row:?}");
            }
        }
        let (_, found) = completions("fork:", 5, TypeRegistry::built_in());
        assert_eq!(found.iter().map(|found| found.word.as_str()).collect::<Vec<_>>(), ["fork:true", "fork:false"]);
    }

    /// Tells whether a record fits, by its row or, where that does not know, by its text.
    fn takes(typed: &str, text: &str) -> bool {
        let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
        let row = RowFacts::of(&Case::read(text.as_bytes()).view(), true);
        match filter.fits_row(&row) {
            RowAnswer::Yes => true,
            RowAnswer::No => false,
            RowAnswer::AskText => {
                assert!(needs_text(&filter), "{typed}");
                filter.fits_text(text.as_bytes())
            }
        }
    }

    #[test]
    fn an_answer_is_found_by_the_number_that_is_shown() {
        const CHAIN: &str =
            r#"{"question": "?", "steps": ["2 + 3 = 5", "5 + 7 = 12. The answer is 12."], "answer": "12"}"#;

        let run = |fields: &str| format!(r#"{{"id": 1, "question": "q", "mode": "baseline", {fields}}}"#);
        for (text, number) in [
            (run(r#""pred_num": 1200, "state": {"final_answer_numerical": 7}"#), "1200"),
            (run(r#""pred_num": "1,200", "state": {}"#), "1200"),
            (run(r#""state": {"final_answer": "It is", "final_answer_numerical": 100}"#), "100"),
            (run(r#""state": {"final_answer_numerical": "2.5"}, "pred_answer": "7""#), "2.5"),
            (run(r#""state": {}, "pred_answer": "-6""#), "-6"),
            (r#"{"final_answer": "It is", "final_answer_numerical": 9, "confidence": 0.5}"#.to_owned(), "9"),
            (CHAIN.to_owned(), "12"),
        ] {
            for (typed, fits) in [("pred=", true), ("pred<", false), ("pred>=", true), ("-pred=", false)] {
                assert_eq!(takes(&format!("{typed}{number}"), &text), fits, "{typed}{number} {text}");
            }
        }
        // A short text with one number states it.
        assert!(takes("pred=5", &run(r#""state": {}, "pred_answer": "Tom has 5""#)));
        let open = run(r#""state": {}, "pred_answer": "Tom has 5 apples.\nNobody knows more.""#);
        assert!(!takes("pred>-1e300", &open), "shown as a text");
        assert!(takes("steps=2", CHAIN) && takes("steps>0", CHAIN) && !takes("steps>2", CHAIN));
    }

    #[test]
    fn numbers_that_a_row_cannot_tell_apart_are_asked_of_the_text() {
        let run = |number: &str| format!(r#"{{"id": 1, "mode": "baseline", "pred_num": {number}, "state": {{}}}}"#);
        for (number, typed, fits) in [
            ("16777217", "pred=16777217", true),
            ("16777216", "pred=16777217", false),
            ("16777216", "pred<16777217", true),
            ("99999999", "pred>=100000000", false),
            ("100000000", "pred>=100000000", true),
            ("100000000", "-pred>99999999", false),
            ("1234567.89", "pred=1234567.89", true),
            ("1234567.91", "pred=1234567.89", false),
            ("1e300", "pred=1e300", true),
            ("2e300", "pred=1e300", false),
            ("12345.67", "pred=12345.67", true),
            ("12345.68", "pred=12345.67", false),
            ("20000", "pred=20000 kind:error", false),
        ] {
            assert_eq!(takes(typed, &run(number)), fits, "{typed} {number}");
        }
    }

    #[test]
    fn typed_answers_are_filtered_by_their_own_columns() {
        let row = |answer: &str| {
            let text = format!(
                r#"{{"format": "stepscope.answer_trace", "parsed_question": {{"expected_answer_shape": "date"}}, "answer": {answer}}}"#
            );
            let case = Case::read(text.as_bytes());
            let view = case.view();
            RowFacts::unchecked(0, 3).checked(&view, view.findings(), None)
        };
        let wrong =
            row(r#"{"answer_found": true, "confidence": 1, "items": [{"date": {"iso": "2004-02"}, "spans": []}]}"#);
        let run = RowFacts::unchecked(0, 3);
        for typed in [
            "route:reject",
            "route:ship,reject",
            "type:date",
            "strong:unknown",
            "grounded<1",
            "grounded:<1",
            "items=1",
            "rule:answer/date_not_iso8601",
            "rule:answer",
            "kind:typed",
            "-route:ship",
            "-type:amount",
        ] {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            assert_eq!(filter.fits_row(&wrong), RowAnswer::Yes, "{typed}");
            assert!(typed.starts_with('-') || filter.fits_row(&run) == RowAnswer::No, "{typed}");
        }
        assert_eq!(
            Filter::parse("grounded<1", TypeRegistry::built_in()).unwrap().fits_row(&row("null")),
            RowAnswer::No
        );
        assert!(error("route:home").contains("show_conflict") && error("type:vin").contains("iban"));
        assert_eq!(Filter::parse("rule:procedure", TypeRegistry::built_in()).unwrap().fits_row(&wrong), RowAnswer::No);
    }

    #[test]
    fn every_rule_is_found_by_its_id_and_by_each_beginning_of_it() {
        use stepscope_base::json::Pointer;
        use stepscope_judge::rules::example;
        use stepscope_record::finding::{Finding, Place};
        for rule in RULES {
            let case = Case::read(example(rule.bad));
            let finding = Finding::new(rule.id, "m", Place::Value(Pointer::default()));
            let row = RowFacts::unchecked(0, 3).checked(&case.view(), &[finding], None);
            let id = rule.id.word();
            for end in 1..=id.len() {
                let typed = format!("rule:{}", &id[..end]);
                assert_eq!(
                    Filter::parse(&typed, TypeRegistry::built_in()).unwrap().fits_row(&row),
                    RowAnswer::Yes,
                    "{typed} of {}",
                    rule.id
                );
            }
        }
    }

    #[test]
    fn text_is_found_however_json_wrote_it() {
        let filter = Filter::parse("text:\"naïve 😀\" -text:zzz", TypeRegistry::built_in()).unwrap();
        assert!(filter.fits_text("{\"q\": \"Naïve 😀\"}".as_bytes()));
        assert!(filter.fits_text(br#"{"q": "na\u00efve \uD83D\uDE00"}"#));
        assert!(!filter.fits_text(br#"{"q": "na\u00efve \uD83D\uDE00 zzz"}"#));
        assert!(!filter.fits_text(b"{\"q\": \"naive\"}"));
        assert!(Filter::parse("Apples", TypeRegistry::built_in()).unwrap().fits_text(b"Apples"));
        assert!(!Filter::parse("Apples", TypeRegistry::built_in()).unwrap().fits_text(b"apples"));
        assert!(Filter::parse("apples", TypeRegistry::built_in()).unwrap().fits_text(b"Apples"));
        // An escape of a capital is found by the small letter, and not the other way round.
        let found = |typed: &str, text: &str| {
            Filter::parse(typed, TypeRegistry::built_in()).unwrap().fits_text(text.as_bytes())
        };
        for text in ["{\"a\": \"Äpfel\"}", r#"{"a": "\u00c4pfel"}"#, r#"{"a": "\u00C4pfel"}"#] {
            assert!(found("äpfel", text) && found("Äpfel", text), "{text}");
        }
        for text in ["{\"a\": \"äpfel\"}", r#"{"a": "\u00e4pfel"}"#] {
            assert!(found("äpfel", text) && !found("Äpfel", text), "{text}");
        }
        assert!(found("and/or", r#"{"a": "and\/or"}"#) && found("ß", r#"{"a": "\u00df"}"#));
        let whole = |id: &str, text: &str| Filter::of_id(id).unwrap().fits_text(text.as_bytes());
        assert!(whole("a\"b", r#"{"id": "a\"b"}"#) && whole("7", r#"{"id": 7}"#));
        // As `check` prints it and `show --id` takes it.
        assert!(whole("7", r#"{"id": 7.0}"#) && whole("7.0", r#"{"id": 7.0}"#) && !whole("7", r#"{"id": 7.5}"#));
        assert!(whole("n\nl", r#"{"id": "n\nl"}"#) && whole("n\nl", r#"{"id": "n\u000al"}"#));
        assert!(!whole("n\nl", r#"{"id": "n\\nl"}"#) && whole("a\tb", r#"{"id": "a\tb"}"#));
        assert!(!whole("16", r#"{"id": "16c9"}"#) && !whole("A", r#"{"id": "a"}"#));
        assert!(Filter::parse("id:16c9", TypeRegistry::built_in()).unwrap().fits_text(br#"{"id": "16C951"}"#));
        assert!(
            !Filter::parse("id:16c9", TypeRegistry::built_in()).unwrap().fits_text(br#"{"id": "a", "text": "16c9"}"#)
        );
    }

    #[test]
    fn text_is_what_a_person_sees_and_an_id_is_the_record_s_own() {
        let run = br#"{"id": "r7", "question": "How many?", "procedure": {"NameDescription": "n", "steps": [{"id": 16, "stepDescription": "Read"}]},
            "state": {"final_answer": "say \"two\""}, "trace": {"version": 1, "steps": [{"step_index": 0, "schema": {"title": "secret"}}]}}"#;
        for (typed, fits) in [
            ("text:stepDescription", false),
            ("text:secret", false),
            ("-text:secret", true),
            ("text:read text:many", true),
            ("text:read -text:many", false),
            ("text:final_answer", true),
            ("id:16", false),
            ("id:R7", true),
            ("-id:16 text:read", true),
        ] {
            assert_eq!(Filter::parse(typed, TypeRegistry::built_in()).unwrap().fits_text(run), fits, "{typed}");
        }
    }

    #[test]
    fn models_are_found_by_a_part_of_their_name_or_by_all_of_it() {
        let call = r#"{"model": "gemma3:1b", "prompt": "smollm2?", "response": "x"}"#;
        let run = r#"{"id": 1, "question": "?", "state": {}, "trace": {"steps": [{"model": "Smo\u006clm2 \"x\""}]}}"#;
        for (typed, text, fits) in [
            ("model:GEMMA", call, true),
            ("model:\"gemma3:1b\"", call, true),
            ("model:\"gemma3\"", call, false),
            ("model:smollm2", call, false),
            ("-model:smollm2", call, true),
            ("model:llama,gemma", call, true),
            ("model:\"a,b\",gemma", call, true),
            ("model:\"Smollm2 'x'\"", run, true),
            ("model:\"smollm2 'x'\"", run, false),
            ("model:'x'", run, true),
        ] {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            assert!(needs_text(&filter));
            assert_eq!(filter.fits_text(text.as_bytes()), fits, "{typed}");
        }
    }

    #[test]
    fn a_row_answers_for_its_model_where_the_names_are_known() {
        #[derive(Debug)]
        struct Named(ModelNames);
        impl stepscope_judge::case::Context for Named {
            fn models(&self) -> Option<&ModelNames> {
                Some(&self.0)
            }
        }
        let around = std::sync::Arc::new(Named(ModelNames::default()));
        let row = |text: &str| {
            let case = stepscope_judge::case::Case::around(text.as_bytes(), around.clone());
            RowFacts::of(&case.view(), true)
        };
        let call = |model: &str| format!(r#"{{"model": "{model}", "prompt": "?", "response": "x"}}"#);
        let texts = [call("gemma3:1b"), call("smollm2"), r#"{"prompt": "gemma3:1b", "response": "x"}"#.to_owned()];
        let rows: Vec<RowFacts> = texts.iter().map(|text| row(text)).collect();
        for typed in ["model:gemma", "-model:gemma", "model:\"gemma3:1b\"", "model:\"gemma3\"", "model:llama,SMOL"] {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            assert!(needs_text(&filter) && !filter.needs_text_with(&around.0), "{typed}");
            for (row, text) in rows.iter().zip(&texts) {
                // What the row says is what the text says.
                let expected = if filter.fits_text(text.as_bytes()) { RowAnswer::Yes } else { RowAnswer::No };
                assert_eq!(filter.fits_row_with(row, &around.0), expected, "{typed} {text}");
                assert_eq!(filter.fits_row(row), RowAnswer::AskText);
            }
        }
        // With a text to look for the text is read after all.
        let both = Filter::parse("model:gemma x", TypeRegistry::built_in()).unwrap();
        assert!(both.needs_text_with(&around.0));
        // Once there are more models than numbers, only a row with a number answers.
        for n in 0..stepscope_record::models::MAX_MODELS {
            around.0.number(&stepscope_base::text::Untrusted::from(n.to_string().as_str()));
        }
        let late = row(&call("late"));
        let filter = Filter::parse("model:late", TypeRegistry::built_in()).unwrap();
        assert!(filter.needs_text_with(&around.0));
        assert_eq!(filter.fits_row_with(&late, &around.0), RowAnswer::AskText);
        assert_eq!(filter.fits_row_with(&rows[0], &around.0), RowAnswer::No);
    }

    #[test]
    fn cells_are_sets_that_somebody_else_knows() {
        let (row, is_a) = (RowFacts::unchecked(0, 3), |name: &str| name == "cell:only_a");
        for (typed, fits) in [
            ("cell:only_a", RowAnswer::Yes),
            ("cell:only-a,none", RowAnswer::Yes),
            ("-cell:only_a", RowAnswer::No),
            ("cell:recorded/only_a", RowAnswer::No),
            ("cell:gold_adjusted/only_a", RowAnswer::Yes),
            ("cell:only_a kind:error", RowAnswer::No),
            ("board:label/slip", RowAnswer::No),
        ] {
            let filter = Filter::parse(typed, TypeRegistry::built_in()).unwrap();
            assert_eq!(filter.fits_in(&row, &ModelNames::default(), is_a), fits, "{typed}");
            assert!(!needs_text(&filter));
        }
        let filter = Filter::parse("cell:both,none x board:\"label/two words\"", TypeRegistry::built_in()).unwrap();
        assert_eq!(filter.sets().collect::<Vec<_>>(), ["cell:both", "cell:none", "board:label/two words"]);
        assert_eq!(filter.fits_row(&row), RowAnswer::AskText, "without an answer nothing is decided");
        assert!(error("cell:only").contains("only_a") && error("cell:recorded/x").contains("missing"));
        assert!(error("board:").contains('O'));
    }

    #[test]
    fn what_people_said_is_asked_apart_from_the_columns() {
        let filter =
            Filter::parse("verdict:fail,open -label:\"wrong unit\" reviewed:false", TypeRegistry::built_in()).unwrap();
        assert!(filter.needs_reviews() && !needs_text(&filter));
        assert_eq!(filter.fits_row(&RowFacts::unchecked(0, 3)), RowAnswer::Yes);
        assert!(filter.fits_judged(&VerdictState::default()));
        let label = |name: &str| stepscope_review::labels::CurrentLabel {
            set: "default".into(),
            id: "u".into(),
            name: Text::from(name.to_owned()),
        };
        let failed =
            VerdictState { outcome: Some(Outcome::Fail), labels: vec![label("Wrong unit")], ..VerdictState::default() };
        assert!(!filter.fits_judged(&failed));
        assert!(
            Filter::parse("label:u gold:suspect", TypeRegistry::built_in())
                .unwrap()
                .fits_judged(&VerdictState { gold: Some(GoldStatus::Suspect), ..failed })
        );
        for wrong in ["verdict:good", "reviewed:perhaps", "reviewed:true,false", "gold:maybe", "label:"] {
            assert!(Filter::parse(wrong, TypeRegistry::built_in()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn completion_knows_fields_values_and_rules() {
        let words = |typed: &str| {
            completions(typed, typed.len(), TypeRegistry::built_in()).1.into_iter().map(|c| c.word).collect::<Vec<_>>()
        };
        assert_eq!(words("steps>4 corr"), ["correct:"]);
        assert_eq!(words("-correct:f"), ["-correct:false"]);
        assert_eq!(words("kind:error,base"), ["kind:error,baseline"]);
        assert_eq!(completions("steps>4 corr", 12, TypeRegistry::built_in()).0, 8..12);
    }
}
