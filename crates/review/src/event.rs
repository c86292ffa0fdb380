//! One event of a review: who said what about which item, and what they saw.

use stepscope_arithmetic::expression;
use stepscope_arithmetic::expression::{Names, Reading};
use stepscope_base::canonical::Digest;
use stepscope_base::json::write::Style;
use stepscope_base::json::{Kind as Json, Tape, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::currency;
use stepscope_evidence::date::Date;
use stepscope_record::types::TypeRegistry;
use stepscope_record::{AnswerSchema, Record};

/// Version of the review log that this program writes; it reads none above this one.
pub const VERSION: u64 = 1;
/// Maximum length of a note or correction, in bytes. A longer one is refused: no person types it, and a review log is
/// kept in memory.
pub const MAX_TEXT: usize = 64 << 10;

/// Text of an event: data like any other.
pub type Text = Untrusted<'static>;

stepscope_base::words! {
    /// Kind of an event.
    #[derive(Default)]
    pub enum EventKind {
        /// Somebody judged an item.
        #[default]
        Verdict = "verdict",
        /// Somebody wrote something down about an item, without a verdict.
        Note = "note",
        /// A set of labels, or a new version of it.
        LabelSet = "label_set",
        /// An earlier event of the same reviewer does not hold any more. Redo is an undo of the undo.
        Undo = "undo",
        /// The verdict on an item about which reviewers disagree.
        Adjudicate = "adjudicate",
        /// Somebody looked at what was hidden before they judged.
        Reveal = "reveal",
    }
}

stepscope_base::words! {
    /// Verdict on an item.
    pub enum Verdict {
        /// The item is right.
        Pass = "pass",
        /// The item is wrong.
        Fail = "fail",
        /// The item is to be judged later.
        Defer = "defer",
        /// The item is not to be judged.
        Skip = "skip",
    }
}

stepscope_base::words! {
    /// Judgment of an item's expected answer.
    pub enum GoldStatus {
        /// The expected answer is right.
        Ok = "ok" => "correct",
        /// The expected answer may be wrong.
        Suspect = "suspect" => "suspect",
        /// The expected answer is wrong.
        Wrong = "wrong" => "wrong",
    }
}

stepscope_base::words! {
    /// Kind of a reviewer.
    #[derive(Default)]
    pub enum ReviewerKind {
        /// A person.
        #[default]
        Person = "person",
        /// A language model.
        Model = "model",
        /// Another program.
        Program = "program",
    }
}

impl Verdict {
    /// Tells whether it says that the item is right or wrong; the others put it off.
    pub const fn judges(self) -> bool {
        matches!(self, Self::Pass | Self::Fail)
    }
}

impl GoldStatus {
    /// Tells whether the expected answer is doubted, so that it is not to be counted by.
    pub const fn is_disputed(self) -> bool {
        matches!(self, Self::Suspect | Self::Wrong)
    }
}

/// Reference to the item that an event is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ItemRef {
    /// The name of the record file, without its folder.
    pub dataset: Option<Text>,
    /// The record's own id.
    pub id: Option<Text>,
    /// The record's own `row_index`, else its position in its file, from 0.
    pub row_index: Option<u64>,
    /// Side of a comparison.
    pub side: Option<Text>,
}

impl ItemRef {
    /// Returns the text of its place for people: its id, or its position.
    pub fn name(&self) -> Text {
        match (&self.id, self.row_index) {
            (Some(id), _) => id.clone(),
            (None, Some(row)) => Text::from(format!("row {row}")),
            (None, None) => Text::default(),
        }
    }
}

/// Record as the reviewer saw it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SeenRecord {
    /// The record's content; see [`Digest::of`].
    pub content_sha256: Option<Digest>,
    /// Digest of what the model was asked; see `Record::input_digest`.
    pub input_sha256: Option<Digest>,
    /// Execution that was shown: `rec` for the recorded one, `r1` for the first re-run.
    pub execution: Option<Text>,
    /// Names of what was hidden: `gold`, `baseline`, `triage`, `confidence`, `model`.
    pub hidden: Vec<Text>,
    /// The final answer, as a person reads it; what a later run is compared with.
    pub answer: Option<Text>,
}

/// Author of an event.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Reviewer {
    /// A name that tells reviewers apart.
    pub id: Text,
    /// Kind of the reviewer.
    pub kind: ReviewerKind,
}

impl Reviewer {
    /// Makes a person of this name.
    pub fn person(id: impl Into<Text>) -> Self {
        Self { id: id.into(), kind: ReviewerKind::Person }
    }
}

/// A label in the version of its set in which it was given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LabelRef {
    /// The label.
    pub id: Text,
    /// Set of the label.
    pub set: Text,
    /// The version of the set; 0 before the set was written down.
    pub version: u64,
}

/// Target of a note or verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// A value of the record, by its JSON pointer.
    Pointer(Text),
    /// Lines of a document.
    Span {
        /// The document's name.
        document: Text,
        /// Numbering of the lines: `global_0`, `global_1` or `page_local`.
        numbering: Text,
        /// The page, where the numbering needs one.
        page: Option<u64>,
        /// The first line.
        line_start: u64,
        /// The last line.
        line_end: u64,
        /// Text of those lines.
        quote: Option<Text>,
    },
}

impl Anchor {
    /// Phrases the place for people: `/state/b`, `lines 3 to 5`; `None`: the whole record.
    fn phrase(&self) -> Option<Shown> {
        match self {
            Self::Pointer(pointer) if pointer.is_empty() => None,
            Self::Pointer(pointer) => Some(pointer.line().cut(60)),
            Self::Span { line_start, line_end, .. } if line_start == line_end => Some(shown!("line {line_start}")),
            Self::Span { line_start, line_end, .. } => Some(shown!("lines {line_start} to {line_end}")),
        }
    }

    /// The same without the words of the lines.
    #[must_use]
    pub fn without_quote(self) -> Self {
        match self {
            Self::Span { document, numbering, page, line_start, line_end, quote: _ } => {
                Self::Span { document, numbering, page, line_start, line_end, quote: None }
            }
            pointer @ Self::Pointer(_) => pointer,
        }
    }

    /// Name of the value, or of the document.
    pub const fn name_mut(&mut self) -> &mut Text {
        match self {
            Self::Pointer(name) | Self::Span { document: name, .. } => name,
        }
    }

    /// The same, to look at.
    pub const fn name(&self) -> &Text {
        match self {
            Self::Pointer(name) | Self::Span { document: name, .. } => name,
        }
    }
}

/// Phrases the place of a note: its variable, or else its anchor.
pub fn place(variable: Option<&Text>, anchor: Option<&Anchor>) -> Option<Shown> {
    variable.map(|variable| variable.line().cut(60)).or_else(|| anchor?.phrase())
}

/// A part of an answer with cited lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AnswerPart {
    /// The item, from 0.
    pub item: u64,
    /// One of its citations, from 0; `None`: the item itself.
    pub citation: Option<u64>,
}

impl AnswerPart {
    /// Names the part for people: `item B`, `item B, citation 2`.
    pub fn phrase(self) -> String {
        let item = letter(usize::try_from(self.item).unwrap_or(usize::MAX));
        match self.citation {
            Some(citation) => format!("item {item}, citation {}", citation.saturating_add(1)),
            None => format!("item {item}"),
        }
    }
}

/// Returns the sign of an item, from 0: a letter, so that it is no line's number. Terminals disagree about finer
/// signs.
pub fn letter(item: usize) -> String {
    let sign = |n: usize| char::from(b'A' + (n % 26) as u8);
    if item < 26 { sign(item).to_string() } else { format!("{}{}", sign(item / 26 - 1), sign(item)) }
}

/// Times of a review, and its duration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReviewTimes {
    /// Time at which the item was shown, RFC 3339 in UTC.
    pub shown: Option<Text>,
    /// Time at which it was decided, RFC 3339 in UTC. It orders nothing: clocks jump.
    pub decided: Option<Text>,
    /// Time that the reviewer was busy with the item, in milliseconds, pauses left out.
    pub active_ms: Option<u64>,
}

/// One label of a set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LabelDefinition {
    /// Id that verdicts refer to.
    pub id: Text,
    /// Name that people read.
    pub name: Text,
    /// Rule for when to give the label.
    pub guideline: Option<Text>,
    /// One case of it.
    pub example: Option<Text>,
}

/// A version of a set of labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelSet {
    /// The set's id.
    pub id: Text,
    /// Version of the set, from 1.
    pub version: u64,
    /// Labels of the set, in their order on the screen.
    pub labels: Vec<LabelDefinition>,
    /// Successors of labels of earlier versions: two that lead to one were merged, one that leads to several was
    /// split, one that leads to none is gone. A label that is not named keeps its id.
    pub mapping: Vec<(Text, Vec<Text>)>,
}

/// Event of a review log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// A UUID v7; an event that was written twice has it twice.
    pub event_id: Text,
    /// Kind of the event.
    pub kind: EventKind,
    /// Item that it is about; only sets of labels and undos are about no item.
    pub item: Option<ItemRef>,
    /// Record as the reviewer saw it.
    pub seen: SeenRecord,
    /// Author of the event.
    pub reviewer: Reviewer,
    /// Verdict, where the event gives one.
    pub verdict: Option<Verdict>,
    /// Labels that give the reasons.
    pub labels: Vec<LabelRef>,
    /// Place to fix it: `step_run`, `procedure`, `gold`, `none`, `unknown`; other programs may write another word.
    pub fix_target: Option<Text>,
    /// The first step that went wrong, from 1.
    pub first_bad_step: Option<u64>,
    /// The variable that it is about.
    pub variable: Option<Text>,
    /// Places to look at.
    pub anchors: Vec<Anchor>,
    /// Judgment of the expected answer.
    pub gold_status: Option<GoldStatus>,
    /// The right answer, as JSON on one line.
    pub correction: Option<Text>,
    /// Note in the reviewer's own words.
    pub note: Option<Text>,
    /// Part of the answer that a note's verdict and labels are about, in place of the whole item.
    pub part: Option<AnswerPart>,
    /// True while it is still being typed: the next event of this reviewer about this item takes its place.
    pub draft: bool,
    /// Times of the review.
    pub times: ReviewTimes,
    /// Seed by which chance chose the record, and out of which records, as in `7:all`; `None`: nobody can tell.
    pub drawn: Option<Text>,
    /// Rules whose findings were shown; `None`: unknown.
    pub findings: Option<Vec<Text>>,
    /// The event that this one takes the place of, or undoes.
    pub supersedes: Option<Text>,
    /// The verdicts that this one decides between.
    pub adjudicates: Vec<Text>,
    /// Names of what was hidden and then looked at.
    pub revealed: Vec<Text>,
    /// The labels, of a label set.
    pub label_set: Option<Box<LabelSet>>,
    /// The version of stepscope that wrote it.
    pub tool_version: Text,
}

impl Event {
    /// Creates an event of a kind with nothing in it but its author. The review log gives it its id and time.
    pub fn new(kind: EventKind, reviewer: Reviewer) -> Self {
        Self { kind, reviewer, ..Self::default() }
    }

    /// Phrases the place that its note is about: `total`, `line 3`; `None`: the whole record, or there is no note.
    pub fn place(&self) -> Option<Shown> {
        self.note.as_ref()?;
        place(self.variable.as_ref(), self.anchors.first())
    }

    /// Creates a verdict on an item.
    pub fn verdict(reviewer: Reviewer, item: ItemRef, verdict: Verdict) -> Self {
        Self { item: Some(item), verdict: Some(verdict), ..Self::new(EventKind::Verdict, reviewer) }
    }

    /// Takes an earlier event back; of an undo, brings back what it took.
    pub fn undo(reviewer: Reviewer, of: &Self) -> Self {
        let (item, supersedes) = (of.item.clone(), Some(of.event_id.clone()));
        Self { item, supersedes, ..Self::new(EventKind::Undo, reviewer) }
    }

    /// Names what is missing for the event to mean something; `None`: nothing.
    pub fn lacks(&self) -> Option<&'static str> {
        let judges = matches!(self.kind, EventKind::Verdict | EventKind::Adjudicate);
        let about_item = !matches!(self.kind, EventKind::LabelSet | EventKind::Undo);
        let no_place = self.item.as_ref().is_none_or(|item| item.id.is_none() && item.row_index.is_none());
        if about_item && no_place {
            Some("an item with an id or a row_index")
        } else if (judges || self.part.is_some()) && self.verdict.is_none() {
            Some("a verdict")
        } else if self.kind == EventKind::LabelSet && self.label_set.is_none() {
            Some("a label_set")
        } else if self.kind == EventKind::Undo && self.supersedes.is_none() {
            Some("what it undoes, in supersedes")
        } else {
            None
        }
    }

    /// Names what does not go with the verdict; `None`: nothing. On the screen, too, only a fail has reasons.
    pub fn contradicts(&self) -> Option<Shown> {
        let verdict = self.verdict.filter(|verdict| *verdict != Verdict::Fail)?;
        let what = if !self.labels.is_empty() {
            "labels belong"
        } else if self.first_bad_step.is_some() {
            "first_bad_step belongs"
        } else {
            return None;
        };
        Some(shown!("{what} to the verdict fail, and this one is {}", verdict.word()))
    }
}

/// Type that a corrected answer must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerType {
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// A, B, C or D.
    Choice,
    /// A text.
    Text,
    /// A sum of money with its currency, of a structured answer.
    Amount,
    /// A day, of a structured answer.
    Date,
    /// Anything: the record does not tell.
    Any,
}

impl AnswerType {
    /// Determines the type of a record's answer.
    pub fn of(record: &Record<'_>) -> Self {
        match record.answer_schema {
            Some(AnswerSchema::Gsm) => return Self::Number,
            Some(AnswerSchema::Bool) => return Self::Bool,
            Some(AnswerSchema::Arc) => return Self::Choice,
            _ => {}
        }
        let asked = record.typed.as_ref().map(|typed| typed.asked()).filter(|asked| asked.many != Some(true));
        match asked.as_ref().and_then(|asked| asked.kind.as_ref()?.utf8()) {
            Some("amount") => return Self::Amount,
            Some("date") => return Self::Date,
            Some("boolean") => return Self::Bool,
            _ => {}
        }
        let number = |value: Option<Value<'_>>| value.is_some_and(Value::is_number);
        if number(record.gold_num) || number(record.pred_num) {
            Self::Number
        } else if record.pred_answer.or(record.answer.and_then(|answer| answer.get("final_answer"))).is_some() {
            Self::Text
        } else {
            Self::Any
        }
    }

    /// Makes JSON of an answer as a person types it: as it is if it is JSON, a number as the screen shows it (`1,080`), else a
    /// text.
    pub fn json_of(self, typed: &str) -> Text {
        let as_it_is = match self {
            Self::Choice | Self::Text => typed.starts_with('"'),
            Self::Amount | Self::Date => typed.starts_with(['"', '{']),
            Self::Number | Self::Bool | Self::Any => Tape::default().parse(typed.as_bytes()).is_some(),
        };
        if as_it_is {
            return Text::from(typed.to_owned());
        }
        if self == Self::Number
            && !typed.contains(char::is_alphabetic)
            && let Reading::Number(number) = expression::read(typed, &Names::default())
        {
            return Text::from(number.value.json());
        }
        let text = if self == Self::Choice { typed.to_uppercase() } else { typed.to_owned() };
        Text::owned(Style::ASCII.of(text))
    }

    /// Explains why a correction, written as JSON, is no answer of this type; `None`: it is one.
    pub fn refuses(self, correction: &[u8]) -> Option<Shown> {
        let mut tape = Tape::default();
        let Some(value) = tape.parse(correction) else {
            return Some(Shown::own("the correction is not JSON; put a string in quotes"));
        };
        let kind = value.kind();
        let fits = match self {
            Self::Number => matches!(kind, Json::Int | Json::Float),
            Self::Bool => value.bool().is_some(),
            Self::Choice => ["A", "B", "C", "D"].iter().any(|choice| value.is_string(choice)),
            Self::Text => kind == Json::String,
            Self::Amount => {
                is_text(value, currency::is_amount)
                    || is_typed("amount", value)
                        && value
                            .get("currency")
                            .is_some_and(|code| is_text(code, |code| currency::is_code(code.as_bytes())))
            }
            Self::Date => {
                let is_day = |value| is_text(value, |day| Date::iso(day.as_bytes()).is_ok());
                is_day(value) || is_typed("date", value) && value.get("iso").is_some_and(is_day)
            }
            Self::Any => kind != Json::NotFinite,
        };
        (!fits).then_some(Shown::own(match self {
            Self::Number => "the correction must be a number, as the answer is",
            Self::Bool => "the correction must be true or false, as the answer is",
            Self::Choice => "the correction must be A, B, C or D, as the answer is",
            Self::Text => "the correction must be a string, as the answer is",
            Self::Amount => "the correction must be an amount, e.g. 500 EUR",
            Self::Date => "the correction must be a date, e.g. 2026-03-31",
            Self::Any => "the correction must be a finite number",
        }))
    }
}

fn is_text(value: Value<'_>, is_right: impl Fn(&str) -> bool) -> bool {
    value.string().is_some_and(|text| text.utf8().is_some_and(is_right))
}

/// Tells whether a value is as the schema of its type says.
fn is_typed(kind: &str, value: Value<'_>) -> bool {
    let known = TypeRegistry::built_in().named(kind.as_bytes());
    known.is_some_and(|known| matches!(known.schema.judge(value), Ok(None)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{item, label};
    use stepscope_record::formats;

    #[test]
    fn a_correction_has_the_type_of_the_answer() {
        let refused = |record: &str, correction: &str| {
            let mut tape = Tape::default();
            let record = formats::read(tape.parse(record.as_bytes()).unwrap());
            AnswerType::of(&record).refuses(correction.as_bytes()).is_some()
        };
        let number = r#"{"id": 1, "question": "?", "gold_num": 7.0, "state": {"final_answer": "7"}, "correct": true}"#;
        assert!(!refused(number, "7.50") && refused(number, "\"7\"") && refused(number, "NaN") && refused(number, "{"));
        let choice = r#"{"final_answer": "A", "choice_rationale": "x"}"#;
        assert!(!refused(choice, "\"D\"") && refused(choice, "\"E\"") && refused(choice, "4"));
        let bool = r#"{"final_answer": "yes", "final_answer_bool": true}"#;
        assert!(!refused(bool, "false") && refused(bool, "0"));
        assert!(!refused(r#"{"x": 1}"#, "[1]") && refused(r#"{"x": 1}"#, "NaN"));
        let answer = |schema: &str| {
            format!(
                r#"{{"question": "?", "schema": "{schema}", "answer": {{"answer_found": false, "confidence": 0.9, "extraction_method": "verbatim", "items": []}}}}"#
            )
        };
        let amount = answer("AmountAnswer");
        for right in [r#""500 EUR""#, r#""€ 1,200.50 per claim""#, r#"{"value": 500, "currency": "EUR"}"#] {
            assert!(!refused(&amount, right), "{right}");
        }
        for wrong in [
            r#""abc""#,
            "500",
            r#""500""#,
            r#"{"value": "500", "currency": "EUR"}"#,
            r#"{"value": 5, "currency": "E"}"#,
        ] {
            assert!(refused(&amount, wrong), "{wrong}");
        }
        let date = answer("DateAnswer");
        assert!(
            !refused(&date, r#""2026-03-31""#) && refused(&date, r#""31 March""#) && refused(&date, r#""2026-02-30""#)
        );
        assert!(
            !refused(&date, r#"{"iso": "2026-03-31", "original": "31 March"}"#)
                && refused(&date, r#"{"iso": "2026-03-31"}"#)
        );
        let bool = answer("BooleanAnswer");
        assert!(!refused(&bool, "true") && refused(&bool, r#""perhaps""#));
        assert!(!refused(&answer("ListAnswer"), r#""abc""#));
    }

    #[test]
    fn an_answer_is_taken_as_it_is_typed() {
        for (kind, typed, json) in [
            (AnswerType::Number, "7.50", "7.50"),
            (AnswerType::Number, "1,080", "1080"),
            (AnswerType::Number, "seven and", "\"seven and\""),
            (AnswerType::Choice, "b", "\"B\""),
            (AnswerType::Text, "1,080", "\"1,080\""),
            (AnswerType::Bool, "true", "true"),
            (AnswerType::Amount, "500 EUR", "\"500 EUR\""),
            (AnswerType::Amount, "{\"value\": 5}", "{\"value\": 5}"),
            (AnswerType::Date, "2026-03-31", "\"2026-03-31\""),
            (AnswerType::Any, "é", "\"\\u00e9\""),
        ] {
            assert_eq!(kind.json_of(typed), json, "{typed}");
        }
    }

    #[test]
    fn an_event_says_what_it_lacks() {
        let reviewer = Reviewer::person("ada");
        let verdict = Event::verdict(reviewer.clone(), item("a"), Verdict::Pass);
        assert_eq!(verdict.lacks(), None);
        assert_eq!(Event::undo(reviewer.clone(), &verdict).lacks(), None);
        for kind in EventKind::ALL {
            assert!(Event::new(kind, reviewer.clone()).lacks().is_some(), "{kind:?}");
        }
    }

    #[test]
    fn only_a_fail_has_labels_and_a_first_bad_step() {
        for verdict in Verdict::ALL {
            let plain = Event::verdict(Reviewer::default(), ItemRef::default(), verdict);
            let labelled = Event { labels: vec![label("slip")], ..plain.clone() };
            let placed = Event { first_bad_step: Some(1), ..plain.clone() };
            assert_eq!(plain.contradicts(), None);
            for event in [labelled, placed] {
                assert_eq!(event.contradicts().is_none(), verdict == Verdict::Fail, "{event:?}");
            }
        }
    }
}
