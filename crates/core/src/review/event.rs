//! One event of a review: who said what about which item, and what they saw.

use crate::record::{AnswerSchema, Record};
use stepscope_base::canonical::Digest;
use stepscope_base::json::{Kind as Json, Tape, Value};
use stepscope_base::text::{Shown, Untrusted};

/// The version of the journal that this program writes; it reads this one and none above.
pub const VERSION: u64 = 1;
/// A longer note or correction is refused: nobody types it, and a journal is kept in memory.
pub const MAX_TEXT: usize = 64 << 10;

/// Text of an event: data like any other.
pub type Text = Untrusted<'static>;

stepscope_base::words! {
    /// What an event is.
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
    /// What somebody thinks of an item.
    pub enum Verdict {
        /// It is right.
        Pass = "pass",
        /// It is wrong.
        Fail = "fail",
        /// To be judged later.
        Defer = "defer",
        /// Not to be judged.
        Skip = "skip",
    }
}

stepscope_base::words! {
    /// What somebody thinks of an item's gold answer.
    pub enum GoldStatus {
        /// It is right.
        Ok = "ok",
        /// It may be wrong.
        Suspect = "suspect",
        /// It is wrong.
        Wrong = "wrong",
    }
}

stepscope_base::words! {
    /// What a reviewer is.
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

impl GoldStatus {
    /// Whether the gold answer is not to be counted by.
    pub(crate) const fn is_disputed(self) -> bool {
        matches!(self, Self::Suspect | Self::Wrong)
    }
}

/// Which item an event is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ItemRef {
    /// The name of the record file, without its folder.
    pub dataset: Option<Text>,
    /// The record's own id.
    pub id: Option<Text>,
    /// The record's own `row_index`, else its position in its file, from 0.
    pub row_index: Option<u64>,
    /// Which side of a comparison.
    pub side: Option<Text>,
}

/// What a reviewer had before their eyes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SeenRecord {
    /// The record's content; see [`Digest::of`].
    pub content_sha256: Option<Digest>,
    /// What the model was asked; see `Record::input_digest`.
    pub input_sha256: Option<Digest>,
    /// Which execution: `rec` for the recorded one, `r1` for the first re-run.
    pub execution: Option<Text>,
    /// What was hidden: `gold`, `baseline`, `triage`, `confidence`, `model`.
    pub hidden: Vec<Text>,
    /// The final answer, as a person reads it; what a later run is compared with.
    pub answer: Option<Text>,
}

/// Who says it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Reviewer {
    /// A name that tells reviewers apart.
    pub id: Text,
    /// What they are.
    pub kind: ReviewerKind,
}

/// A label in the version of its set in which it was given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LabelRef {
    /// The label.
    pub id: Text,
    /// Its set.
    pub set: Text,
    /// The version of the set; 0 before the set was written down.
    pub version: u64,
}

/// What a note or verdict points at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// A value of the record, by its JSON pointer.
    Pointer(Text),
    /// Lines of a document.
    Span {
        /// The document's name.
        document: Text,
        /// How the lines are numbered: `global_0`, `global_1` or `page_local`.
        numbering: Text,
        /// The page, where the numbering needs one.
        page: Option<u64>,
        /// The first line.
        line_start: u64,
        /// The last line.
        line_end: u64,
        /// What stands there.
        quote: Option<Text>,
    },
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
    /// For people: `item B`, `item B, citation 2`.
    pub fn phrase(self) -> String {
        let item = letter(usize::try_from(self.item).unwrap_or(usize::MAX));
        match self.citation {
            Some(citation) => format!("item {item}, citation {}", citation.saturating_add(1)),
            None => format!("item {item}"),
        }
    }
}

/// The sign of an item, from 0: a letter, so that it is no line's number. Terminals disagree about finer signs.
pub fn letter(item: usize) -> String {
    let sign = |n: usize| char::from(b'A' + (n % 26) as u8);
    if item < 26 { sign(item).to_string() } else { format!("{}{}", sign(item / 26 - 1), sign(item)) }
}

/// When it was done, and how long it took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReviewTimes {
    /// When the item was shown, RFC 3339 in UTC.
    pub shown: Option<Text>,
    /// When it was decided, RFC 3339 in UTC. It orders nothing: clocks jump.
    pub decided: Option<Text>,
    /// How long the reviewer was busy with the item, in milliseconds, pauses left out.
    pub active_ms: Option<u64>,
}

/// One label of a set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LabelDefinition {
    /// What verdicts refer to.
    pub id: Text,
    /// What people read.
    pub name: Text,
    /// When it is to be given.
    pub guideline: Option<Text>,
    /// One case of it.
    pub example: Option<Text>,
}

/// A version of a set of labels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelSet {
    /// The set's id.
    pub id: Text,
    /// Its version, from 1.
    pub version: u64,
    /// Its labels, in their order on the screen.
    pub labels: Vec<LabelDefinition>,
    /// What became of labels of earlier versions: two that lead to one were merged, one that leads to several was
    /// split, one that leads to none is gone. A label that is not named keeps its id.
    pub mapping: Vec<(Text, Vec<Text>)>,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// A UUID v7; an event that was written twice has it twice.
    pub event_id: Text,
    /// What it is.
    pub kind: EventKind,
    /// What it is about; only sets of labels and undos are about no item.
    pub item: Option<ItemRef>,
    /// What the reviewer saw.
    pub seen: SeenRecord,
    /// Who says it.
    pub reviewer: Reviewer,
    /// What they say.
    pub verdict: Option<Verdict>,
    /// Why.
    pub labels: Vec<LabelRef>,
    /// Where to fix it: `step_run`, `procedure`, `gold`, `none`, `unknown`; another word in what other programs wrote.
    pub fix_target: Option<Text>,
    /// The first step that went wrong, from 1.
    pub first_bad_step: Option<u64>,
    /// The variable that it is about.
    pub variable: Option<Text>,
    /// Where to look.
    pub anchors: Vec<Anchor>,
    /// What they think of the gold answer.
    pub gold_status: Option<GoldStatus>,
    /// The right answer, as JSON on one line.
    pub correction: Option<Text>,
    /// In their own words.
    pub note: Option<Text>,
    /// Of a note: the part of the answer that its verdict and labels are about, and not the whole item.
    pub part: Option<AnswerPart>,
    /// Still being typed: the next event of this reviewer about this item takes its place.
    pub draft: bool,
    /// When.
    pub times: ReviewTimes,
    /// The rules whose findings were shown; `None`: nobody knows.
    pub findings: Option<Vec<Text>>,
    /// The event that this one takes the place of, or undoes.
    pub supersedes: Option<Text>,
    /// The verdicts that this one decides between.
    pub adjudicates: Vec<Text>,
    /// What was hidden and then looked at.
    pub revealed: Vec<Text>,
    /// The labels, of a label set.
    pub label_set: Option<LabelSet>,
    /// The version of stepscope that wrote it.
    pub tool_version: Text,
}

impl Event {
    /// An event of a kind with nothing in it but who says it. The journal gives it its id and time.
    pub fn new(kind: EventKind, reviewer: Reviewer) -> Self {
        Self { kind, reviewer, ..Self::default() }
    }

    /// A verdict on an item.
    pub fn verdict(reviewer: Reviewer, item: ItemRef, verdict: Verdict) -> Self {
        Self { item: Some(item), verdict: Some(verdict), ..Self::new(EventKind::Verdict, reviewer) }
    }

    /// Takes an earlier event back; of an undo, brings back what it took.
    pub fn undo(reviewer: Reviewer, of: &Self) -> Self {
        let (item, supersedes) = (of.item.clone(), Some(of.event_id.clone()));
        Self { item, supersedes, ..Self::new(EventKind::Undo, reviewer) }
    }

    /// What is missing for the event to mean something; `None`: nothing.
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
}

/// What a corrected answer has to be.
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
    /// Anything: the record does not tell.
    Any,
}

impl AnswerType {
    /// What the answer of a record is.
    pub fn of(record: &Record<'_>) -> Self {
        match record.answer_schema {
            Some(AnswerSchema::Gsm) => return Self::Number,
            Some(AnswerSchema::Bool) => return Self::Bool,
            Some(AnswerSchema::Arc) => return Self::Choice,
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

    /// Why a correction, written as JSON, is no answer of this type; `None`: it is one.
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
            Self::Any => kind != Json::NotFinite,
        };
        (!fits).then_some(Shown::own(match self {
            Self::Number => "the correction must be a number, as the answer is",
            Self::Bool => "the correction must be true or false, as the answer is",
            Self::Choice => "the correction must be A, B, C or D, as the answer is",
            Self::Text => "the correction must be a string, as the answer is",
            Self::Any => "the correction must be a finite number",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::formats;

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
    }

    #[test]
    fn an_event_says_what_it_lacks() {
        let reviewer = Reviewer { id: "ada".into(), kind: ReviewerKind::Person };
        let item = ItemRef { id: Some("a".into()), ..ItemRef::default() };
        let verdict = Event::verdict(reviewer.clone(), item, Verdict::Pass);
        assert_eq!(verdict.lacks(), None);
        assert_eq!(Event::undo(reviewer.clone(), &verdict).lacks(), None);
        for kind in EventKind::ALL {
            assert!(Event::new(kind, reviewer.clone()).lacks().is_some(), "{kind:?}");
        }
    }
}
