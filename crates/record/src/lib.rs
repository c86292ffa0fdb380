//! One record of a file, whatever its format: handles on the values that the rules, the state and the screen ask for.
//!
//! Law: says what a record holds, and judges nothing. Knows no files, no network, no terminal.

// A panic is told with the record: everything here runs under `guard::guarded`.
#![allow(clippy::indexing_slicing, clippy::expect_used, clippy::missing_panics_doc)]

/// The time and the tokens that the steps of a recorded run took.
pub mod cost;
/// Findings: what is said about a record, and where.
pub mod finding;
/// Origin of a fork, as its record has it.
pub mod fork_origin;
/// Format of records: how it is recognised and read.
pub mod format;
/// The registry of record formats, recognised by content.
pub mod formats;
/// Conversations.
pub mod messages;
/// Names of the models of records.
pub mod models;
/// Runs that were printed into notebooks.
pub mod notebook;
/// Overlapping marks made into segments.
pub mod paint;
/// A procedure as it stands in a record.
pub mod procedure;
/// The text of a reply, taken apart.
pub mod reply;
/// Ids of the rules, in the order in which they speak.
pub mod rule_id;
/// Replies as servers send them and records keep them.
pub mod saved_reply;
/// The JSON Schemas that are part of the program.
pub mod schemas;
/// Severity of a finding, and of the rule that makes it.
mod severity;
/// The global state over time: what every step could read and what it wrote.
pub mod state;
/// The few statistics that reviews and comparisons need.
pub mod statistics;
/// Recorded calls of the steps.
pub mod trace;
/// The types of their values.
pub mod types;

use crate::formats::chain::ChainParts;
use crate::procedure::{FINAL_ANSWER, FINAL_ANSWER_NUMERICAL};
use stepscope_base::canonical::Digest;
use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::text::Untrusted;
use stepscope_evidence::typed::{TypedAnswer, whole};

stepscope_base::words! {
    /// Kind of a record.
    pub enum RecordKind {
        /// A procedure alone.
        Procedure = "procedure",
        /// A run of a procedure.
        Procedural = "procedural",
        /// A direct prompt, no procedure.
        Baseline = "baseline",
        /// The same procedure on changed numbers.
        Fixed = "fixed",
        /// A run that ended in an error.
        Error = "error",
        /// An answer object alone.
        Answer = "answer",
        /// A chain of thought: a question and the steps of its solution as texts.
        Chain = "chain",
        /// A structured answer with cited spans, alone or with its trace.
        Typed = "typed",
        /// One call of a model: prompt and reply.
        Call = "call",
        /// JSON of no known shape.
        Unknown = "unknown",
        /// Not readable as JSON.
        Broken = "broken",
    }
}

impl RecordKind {
    /// Returns the name for people; files and filters keep the word.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Typed => "structured answer",
            Self::Chain => "chain of thought",
            kind => kind.word(),
        }
    }
}

stepscope_base::words! {
    /// The published answer schemas (`evoproc_procedures.schemas`).
    pub enum AnswerSchema {
        /// `final_answer` alone.
        General = "general",
        /// With `final_answer_bool`.
        Bool = "bool",
        /// With `final_answer_numerical`.
        Gsm = "gsm",
        /// One of A to D.
        Arc = "arc",
    }
}

impl AnswerSchema {
    /// Finds a published schema by its name, with or without the version of the package: `gsm@1.0`.
    pub fn named(name: &str) -> Option<PublishedSchema> {
        let (word, version) = name.split_once('@').map_or((name, None), |(word, version)| (word, Some(version)));
        let schema = Self::from_word(word)?;
        let is_first = match version {
            None | Some("1.1" | "1.1.0" | "1.2" | "1.2.0") => false,
            Some("0.1" | "0.1.0" | "1.0" | "1.0.0") => true,
            Some(_) => return None,
        };
        Some(PublishedSchema { schema, is_first: is_first && schema == Self::Gsm, has_version: version.is_some() })
    }
}

/// A published schema in one of its versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PublishedSchema {
    /// The schema.
    pub schema: AnswerSchema,
    /// True if it is the version before 1.1.0, and that is another.
    pub is_first: bool,
    /// True if the name says which version.
    pub has_version: bool,
}

/// A record: its kind, and the values that stand in known places. What stands elsewhere is still in `root`.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Kind of the record.
    pub kind: RecordKind,
    /// The whole JSON value.
    pub root: Value<'a>,
    /// The record's own id, string or number.
    pub id: Option<Value<'a>>,
    /// The task's text.
    pub question: Option<Value<'a>>,
    /// The worked gold answer, ending `#### 42`.
    pub gold_answer: Option<Value<'a>>,
    /// The gold number as the notebook read it.
    pub gold_num: Option<Value<'a>>,
    /// The procedure, if the record holds one.
    pub procedure: Option<Value<'a>>,
    /// Position of the procedure, as a JSON pointer.
    pub procedure_pointer: Pointer,
    /// The final global state.
    pub state: Option<Value<'a>>,
    /// The fitness that was recorded.
    pub fitness: Option<Value<'a>>,
    /// The reward that a verifier gave.
    pub reward: Option<Value<'a>>,
    /// Description of that by the verifier.
    pub details: Option<Value<'a>>,
    /// Number of the training cycle or of the generation of a genetic search, from 0 or 1.
    pub round: Option<Value<'a>>,
    /// The name of the model that gave the answer, where the record names one for all of it.
    pub model: Option<Value<'a>>,
    /// The final text.
    pub pred_answer: Option<Value<'a>>,
    /// The final number.
    pub pred_num: Option<Value<'a>>,
    /// True if the run was judged right.
    pub correct: Option<bool>,
    /// The raw reply of a baseline.
    pub raw: Option<Value<'a>>,
    /// Class of the error that ended the run.
    pub error_type: Option<Value<'a>>,
    /// The error's text.
    pub error: Option<Value<'a>>,
    /// Recorded steps: the `steps` of the run trace.
    pub trace_steps: Option<Value<'a>>,
    /// Origin of the record, if it is a fork: the `fork` of the run trace.
    pub trace_fork: Option<Value<'a>>,
    /// Values that a person set while it was made, if it is no fork: the `values` of our run trace.
    pub trace_values: Option<Value<'a>>,
    /// True if it was made of what another program keeps, which its trace names.
    pub is_gathered: bool,
    /// Schema that the final answer follows, where that is known.
    pub answer_schema: Option<AnswerSchema>,
    /// The record's answer object: the state of a run, the whole of an answer.
    pub answer: Option<Value<'a>>,
    /// The parts of a structured answer, if it is one.
    pub typed: Option<Box<TypedAnswer<'a>>>,
    /// The parts of a chain of thought, if it is one.
    pub chain: Option<Box<ChainParts<'a>>>,
}

impl<'a> Record<'a> {
    /// Names what the model was asked: the question, without the blanks around it. `None` where there is no question.
    pub fn input_digest(&self) -> Option<Digest> {
        let question = self.question?.string()?;
        Some(Digest::of_bytes(question.bytes().trim_ascii()))
    }

    /// A record of a kind with nothing but its value.
    pub fn bare(kind: RecordKind, root: Value<'a>) -> Self {
        Self {
            kind,
            root,
            id: None,
            question: None,
            gold_answer: None,
            gold_num: None,
            procedure: None,
            procedure_pointer: Pointer::default(),
            state: None,
            fitness: None,
            reward: None,
            details: None,
            round: None,
            model: None,
            pred_answer: None,
            pred_num: None,
            correct: None,
            raw: None,
            error_type: None,
            error: None,
            trace_steps: None,
            trace_fork: None,
            trace_values: None,
            is_gathered: false,
            answer_schema: None,
            answer: None,
            typed: None,
            chain: None,
        }
    }

    /// The record's id as text.
    pub fn id_text(&self) -> Option<Untrusted<'a>> {
        id_text(self.id?)
    }

    /// The document that its answer is about, where it names one. It is a part of the item: a trace has its id from its
    /// question, which may be asked of several documents.
    pub fn document_name(&self) -> Option<Untrusted<'a>> {
        let typed = self.typed.as_ref()?;
        id_text(typed.doc_id.or_else(|| typed.document?.get("doc_id"))?)
    }

    /// The confidence that the model gave itself.
    pub fn confidence(&self) -> Option<f64> {
        self.answer?.get("confidence")?.float()
    }

    /// Returns the position of the final number: `final_answer_numerical`, else `pred_num`, else the text.
    pub fn number_pointer(&self) -> Pointer {
        let has = |key: &str| self.answer.and_then(|answer| answer.get(key)).is_some();
        let in_answer = |key: &'static str| match self.kind {
            RecordKind::Answer => Pointer::from_iter([key]),
            _ => Pointer::from_iter(["state", key]),
        };
        if has(FINAL_ANSWER_NUMERICAL) {
            in_answer(FINAL_ANSWER_NUMERICAL)
        } else if self.pred_num.is_some() {
            Pointer::from_iter(["pred_num"])
        } else if has(FINAL_ANSWER) {
            in_answer(FINAL_ANSWER)
        } else if self.pred_answer.is_some() {
            Pointer::from_iter(["pred_answer"])
        } else {
            Pointer::default()
        }
    }

    /// The name of the model that gave the answer: of a run that names one a step, that of the last recorded step.
    pub fn model(&self) -> Option<Untrusted<'a>> {
        let of_step = || self.trace_steps?.items().last()?.get("model");
        self.model.or_else(of_step)?.string().filter(|name| !name.bytes().is_empty())
    }

    /// Counts the steps of the procedure.
    pub fn step_count(&self) -> Option<usize> {
        self.procedure?.get("steps").map(Value::len)
    }
}

/// Computes a 64-bit hash of bytes, the same in every run of the program.
pub fn hash_of(bytes: &[u8]) -> u64 {
    use std::hash::BuildHasher as _;
    foldhash::fast::FixedState::default().hash_one(bytes)
}

/// An id as text: a string without quotes, a number as it is written. Where others of its column are missing, pandas makes
/// a float of a whole number: `7.0` is the id `7`.
pub fn id_text(id: Value<'_>) -> Option<Untrusted<'_>> {
    match id.kind() {
        Kind::Int => Some(Untrusted::new(id.raw())),
        Kind::Float => Some(whole(id).map_or_else(|| Untrusted::new(id.raw()), |number| number.to_string().into())),
        _ => id.string(),
    }
}
