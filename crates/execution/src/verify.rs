//! Verifiers: a completion in, a reward out, as training runs give them.
//!
//! Results, details and errors are those of the Python package that writes `cycle_N_verified.jsonl` (halo-forge). What
//! it would hang on, or what would end it in an exception, is an error of its own here: the result is then a failure
//! without reward whose error says why.

use std::fmt::Write as _;

use bleu::{References, score_with};
pub use field::FieldPath;
use stepscope_base::json::write::{Object, Raw, python_float};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::pyload::{Refused, loads};
use stepscope_base::pyregex::{Pattern, Undecided};
use stepscope_base::python::{Message, strip, type_name};
use stepscope_base::schema::Schema;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

pub mod bleu;
mod field;
mod json;

/// Below this difference two rewards are one: both sides are floats from 0 to 1 that upstream adds up in another order, and
/// a weight may be small.
const SAME_REWARD: f64 = 1e-9;

/// The details where the reference ended in an exception.
const EXCEPTION: &str = "Verification exception";

/// Result of verifying a completion.
#[derive(Clone, PartialEq, Debug)]
pub struct VerifyResult {
    /// True if it passed.
    pub success: bool,
    /// From 0 to 1, as long as the weights of a chain add up to 1.
    pub reward: f64,
    /// Description of the outcome, for people.
    pub details: Untrusted<'static>,
    /// Reason of the failure: `invalid_json`, `schema_invalid`, `no_match`, ... or a sentence if it could not be
    /// judged.
    pub error: Option<Untrusted<'static>>,
    /// Progress of a chain.
    pub metadata: Metadata,
    /// True if it could be judged at all.
    pub judged: bool,
}

/// Further facts about a result.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum Metadata {
    /// Nothing.
    #[default]
    None,
    /// A chain passed all its stages.
    Passed {
        /// Number of stages.
        stages: usize,
    },
    /// A chain stopped.
    Failed {
        /// At which stage, from 0.
        stage: usize,
        /// Result of that stage.
        result: Box<VerifyResult>,
    },
}

impl VerifyResult {
    fn passed(details: Message) -> Self {
        Self {
            success: true,
            reward: 1.0,
            details: details.into(),
            error: None,
            metadata: Metadata::None,
            judged: true,
        }
    }

    fn failed(reward: f64, details: Message, error: &str) -> Self {
        let error = Some(Untrusted::from(error.to_owned()));
        Self { success: false, reward, error, ..Self::passed(details) }
    }

    /// A failure because nothing could be judged, and why.
    pub fn not_judged(why: &Shown) -> Self {
        let details = Message::new("Not scored: ").text(why.as_str());
        Self { judged: false, ..Self::failed(0.0, details, why.as_str()) }
    }

    /// The reward; `None`: it could not be judged, and nothing is no bad score.
    pub fn scored(&self) -> Option<f64> {
        self.judged.then_some(self.reward)
    }

    fn not_json(refused: Refused) -> Self {
        match refused {
            Refused::Decode(words) => {
                Self::failed(0.0, Message::new("Invalid JSON: ").text(words.bytes()), "invalid_json")
            }
            // The reference's verifier does not catch it: its caller does, and a chain ends there with nothing.
            Refused::Value(words) => Self { error: Some(words), ..Self::failed(0.0, Message::new(EXCEPTION), "") },
            Refused::Limit(words) => Self::not_judged(&Shown::own(words)),
        }
    }

    fn is_exception(&self) -> bool {
        self.details == EXCEPTION
    }

    fn empty() -> Self {
        Self::failed(0.0, Message::new("Empty response"), "empty_response")
    }

    /// Writes its members, and the reward that was recorded if there is one.
    pub fn members(&self, recorded: Option<f64>, object: &mut Object<'_>) {
        object.put("success", self.success).put("reward", self.scored().map(|reward| Raw(python_float(reward))));
        object.put("details", &self.details).put("error", &self.error).object("metadata", |metadata| {
            match &self.metadata {
                Metadata::None => {}
                Metadata::Passed { stages } => _ = metadata.put("stages_passed", stages),
                Metadata::Failed { stage, result } => {
                    metadata.put("failed_stage", stage).object("stage_result", |object| result.members(None, object));
                }
            }
            metadata.maybe("recorded_reward", recorded.map(|reward| Raw(python_float(reward))));
        });
    }
}

/// The reward that a record holds.
pub fn recorded_reward(record: Value<'_>) -> Option<f64> {
    record.get("reward").filter(|reward| reward.is_number())?.float().filter(|reward| reward.is_finite())
}

/// Tells whether two rewards differ.
pub fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > SAME_REWARD
}

/// Input of a verifier.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The completion.
    pub text: &'a [u8],
    /// The record in which it stands.
    pub record: Value<'a>,
}

/// A verifier, ready to judge.
#[derive(Debug)]
pub enum Verifier {
    /// The completion is JSON.
    JsonStructure,
    /// The completion is JSON that a schema allows.
    JsonSchema {
        /// The schema; an empty one allows everything.
        schema: Option<Box<Schema>>,
        /// JSON of another shape is worth a half.
        partial_credit: bool,
    },
    /// The completion holds what a pattern describes, or is it.
    RegexFormat {
        /// The pattern.
        pattern: Box<Pattern>,
        /// The whole completion must be it.
        full_match: bool,
        /// To hold it where it should be it is worth a half.
        partial_credit: bool,
    },
    /// The completion is near to references, by sentence BLEU.
    Bleu(Bleu),
    /// Several, one after another.
    Chained(Chain),
}

/// Settings of [`Verifier::Bleu`].
#[derive(Clone, Debug)]
pub struct Bleu {
    /// References of every record.
    pub references: References,
    /// Path of a record's further references: a text, or a list of texts.
    pub field: Option<FieldPath>,
    /// The score, from 0 to 1, from which on it passes.
    pub threshold: f64,
    /// Orders that the completion is too short for do not count.
    pub effective_order: bool,
}

/// From this score on BLEU passes, if nothing else is said.
pub const THRESHOLD: f64 = 0.3;

/// Verifiers in order; the first that fails ends it.
#[derive(Debug)]
pub struct Chain {
    stages: Vec<Stage>,
}

/// One verifier of a chain.
#[derive(Debug)]
pub struct Stage {
    /// Its name, for people.
    pub name: Shown,
    /// Verifier of the stage.
    pub verifier: Verifier,
    /// Weight of its reward.
    pub weight: f64,
}

/// Reason that there is no such chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChainError {
    /// There is nothing in it.
    #[error("a chain needs at least one stage")]
    Empty,
    /// Some stages have a weight and others have none.
    #[error("give a weight to all stages of a chain, or to none")]
    SomeWeights,
    /// A weight is no usable number.
    #[error("a weight must be a number from 0 to 1000")]
    Weight,
}

/// Results of the stages of a chain for one completion, up to the first that breaks.
#[derive(Clone, PartialEq, Debug)]
pub struct ChainResult {
    /// The stages, from the first.
    pub stages: Vec<StageOutcome>,
    /// Result of the whole chain.
    pub result: VerifyResult,
}

/// One stage of a [`ChainResult`].
#[derive(Clone, PartialEq, Debug)]
pub struct StageOutcome {
    /// The stage's name.
    pub name: Shown,
    /// Weight of its reward.
    pub weight: f64,
    /// Result of the stage; `None`: the chain had stopped before.
    pub result: Option<VerifyResult>,
    /// Amount that it added to the reward.
    pub adds: f64,
}

impl ChainResult {
    /// The stage at which it stopped, from 0.
    pub fn stopped(&self) -> Option<usize> {
        self.stages.iter().position(|stage| stage.result.as_ref().is_some_and(|result| !result.success))
    }
}

impl Chain {
    /// A chain of verifiers with their names and weights; without weights each counts alike.
    pub fn new(stages: Vec<(Shown, Verifier, Option<f64>)>) -> Result<Self, ChainError> {
        let given = stages.iter().filter(|(_, _, weight)| weight.is_some()).count();
        if stages.is_empty() {
            return Err(ChainError::Empty);
        }
        if given > 0 && given < stages.len() {
            return Err(ChainError::SomeWeights);
        }
        let even = 1.0 / stages.len() as f64;
        let stages = stages.into_iter().map(|(name, verifier, weight)| {
            let weight = weight.unwrap_or(even);
            if (0.0..=1000.0).contains(&weight) {
                Ok(Stage { name, verifier, weight })
            } else {
                Err(ChainError::Weight)
            }
        });
        Ok(Self { stages: stages.collect::<Result<_, _>>()? })
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    fn judge_stages(&self, candidate: Candidate<'_>, tape: &mut Tape) -> ChainResult {
        let mut reward = 0.0;
        let mut details = Message::default();
        let mut stopped = None;
        let mut stages = Vec::with_capacity(self.stages.len());
        for (n, Stage { name, verifier, weight }) in self.stages.iter().enumerate() {
            let mut stage = StageOutcome { name: name.clone(), weight: *weight, result: None, adds: 0.0 };
            if stopped.is_none() {
                let result = verifier.verify(candidate, tape);
                if result.success {
                    stage.adds = result.reward * weight;
                    reward += stage.adds;
                    let between = if n > 0 { "; " } else { "" };
                    details =
                        details.text(between).text("Stage ").number(n + 1).text(": ").text(result.details.bytes());
                } else {
                    stopped = Some((n, result.clone()));
                }
                stage.result = Some(result);
            }
            stages.push(stage);
        }
        let result = match stopped {
            None => VerifyResult {
                reward,
                metadata: Metadata::Passed { stages: self.stages.len() },
                ..VerifyResult::passed(details)
            },
            Some((_, result)) if result.is_exception() => result,
            Some((stage, result)) => VerifyResult {
                success: false,
                reward,
                details: Message::new("Stage ").number(stage + 1).text(" failed: ").text(result.details.bytes()).into(),
                error: result.error.clone(),
                judged: result.judged,
                metadata: Metadata::Failed { stage, result: Box::new(result) },
            },
        };
        ChainResult { stages, result }
    }
}

impl Verifier {
    /// The name of its kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::JsonStructure => "json_structure",
            Self::JsonSchema { .. } => "json_schema",
            Self::RegexFormat { .. } => "regex_format",
            Self::Bleu(_) => "bleu",
            Self::Chained(_) => "chained",
        }
    }

    /// Judges a completion.
    pub fn verify(&self, candidate: Candidate<'_>, tape: &mut Tape) -> VerifyResult {
        match self {
            Self::JsonStructure => json_structure(candidate.text, tape),
            Self::JsonSchema { schema, partial_credit } => {
                json_schema(candidate.text, schema.as_deref(), *partial_credit, tape)
            }
            Self::RegexFormat { .. } if candidate.text.is_empty() => VerifyResult::empty(),
            Self::RegexFormat { pattern, full_match, partial_credit } => {
                let result = regex_format(candidate.text, pattern, *full_match, *partial_credit);
                result.unwrap_or_else(|undecided| VerifyResult::not_judged(&Shown::error(&undecided)))
            }
            Self::Bleu(bleu) => bleu.verify(candidate),
            Self::Chained(chain) => chain.judge_stages(candidate, tape).result,
        }
    }

    /// Judges a completion and keeps what every stage said; a verifier alone is a chain of one stage.
    pub fn judge_stages(&self, candidate: Candidate<'_>, tape: &mut Tape) -> ChainResult {
        if let Self::Chained(chain) = self {
            return chain.judge_stages(candidate, tape);
        }
        let result = self.verify(candidate, tape);
        let stage = StageOutcome {
            name: Shown::own(self.kind()),
            weight: 1.0,
            adds: result.reward,
            result: Some(result.clone()),
        };
        ChainResult { stages: vec![stage], result }
    }
}

/// The completion that stands in a field of a record, or why there is none. `null` is an empty one.
pub fn completion<'a>(record: Value<'a>, field: &FieldPath) -> Result<Untrusted<'a>, Shown> {
    let Some(value) = field.find(record) else {
        return Err(shown!("no field \"{}\"; set --field", field.shown()));
    };
    match value.kind() {
        Kind::String => Ok(value.string().expect("a string")),
        Kind::Null => Ok(Untrusted::default()),
        _ => Err(shown!("field \"{}\" is not a string", field.shown())),
    }
}

fn json_structure(text: &[u8], tape: &mut Tape) -> VerifyResult {
    let text = strip(text);
    if text.is_empty() {
        return VerifyResult::empty();
    }
    match loads(tape, &json::unfenced(text)) {
        Ok(value) => VerifyResult::passed(Message::new("Valid JSON (").text(type_name(value)).text(")")),
        Err(refused) => VerifyResult::not_json(refused),
    }
}

fn json_schema(text: &[u8], schema: Option<&Schema>, partial_credit: bool, tape: &mut Tape) -> VerifyResult {
    let text = json::unfenced(text);
    if text.is_empty() {
        return VerifyResult::empty();
    }
    let value = match loads(tape, &text) {
        Ok(value) => value,
        Err(refused) => return VerifyResult::not_json(refused),
    };
    let Some(schema) = schema else {
        return VerifyResult::passed(Message::new("No schema configured; valid JSON."));
    };
    match schema.judge(value) {
        Ok(None) => VerifyResult::passed(Message::new("JSON valid + schema-compliant")),
        Ok(Some(problem)) => {
            let details = Message::new("Schema validation failed: ").text(problem.bytes());
            VerifyResult::failed(if partial_credit { 0.5 } else { 0.0 }, details, "schema_invalid")
        }
        Err(undecided) => VerifyResult::not_judged(&Shown::error(&undecided)),
    }
}

fn regex_format(
    text: &[u8],
    pattern: &Pattern,
    full_match: bool,
    partial_credit: bool,
) -> Result<VerifyResult, Undecided> {
    if full_match && pattern.is_all_of(text)? {
        return Ok(VerifyResult::passed(Message::new("Full match against /").text(pattern.text()).text("/")));
    }
    let found = if full_match && !partial_credit { None } else { pattern.search(text)? };
    Ok(match found {
        None => VerifyResult::failed(0.0, Message::new("No match for /").text(pattern.text()).text("/"), "no_match"),
        Some(at) if full_match => {
            let details = Message::new("Pattern found at offset ").number(at).text(" but not full-match");
            VerifyResult::failed(0.5, details, "partial_match")
        }
        Some(at) => VerifyResult::passed(Message::new("Matched at offset ").number(at)),
    })
}

impl Bleu {
    fn verify(&self, candidate: Candidate<'_>) -> VerifyResult {
        if candidate.text.is_empty() {
            return VerifyResult::failed(0.0, Message::new("Empty candidate"), "empty_response");
        }
        let own = match self.field.as_ref().map(|field| self.of(candidate.record, field)).transpose() {
            Ok(own) => own,
            Err(why) => return VerifyResult::not_judged(&why),
        };
        let references: Vec<&References> = std::iter::once(&self.references).chain(&own).collect();
        let score = match score_with(&references, candidate.text, self.effective_order) {
            Ok(score) => (score / 100.0).clamp(0.0, 1.0),
            Err(undecided) => return VerifyResult::not_judged(&Shown::error(&undecided)),
        };
        let mut details = String::new();
        let _ = write!(details, "BLEU = {score:.4} (threshold {:.2})", self.threshold);
        let success = score >= self.threshold;
        VerifyResult { success, reward: score, ..VerifyResult::passed(Message::new(&details)) }
    }

    /// The references of this record.
    fn of(&self, record: Value<'_>, field: &FieldPath) -> Result<References, Shown> {
        let found = field.find(record);
        let texts: Vec<_> = match found.map(Value::kind) {
            Some(Kind::String) => found.into_iter().collect(),
            Some(Kind::Array) => found.into_iter().flat_map(Value::items).collect(),
            _ => Vec::new(),
        };
        let mut references = References::default();
        for text in texts {
            let Some(text) = text.string() else {
                return Err(shown!("field \"{}\" has a reference that is not a string", field.shown()));
            };
            references.add(text.bytes()).map_err(|why| Shown::error(&why))?;
        }
        if references.is_empty() && self.references.is_empty() {
            return Err(shown!("no reference in field \"{}\"", field.shown()));
        }
        Ok(references)
    }
}

#[cfg(test)]
mod tests;
