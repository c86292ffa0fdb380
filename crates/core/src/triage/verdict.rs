//! Where a run is to be fixed, how sure that is, and why.

use crate::arithmetic::number::Number;
use stepscope_base::json::Pointer;
use stepscope_base::text::{Shown, Untrusted};

stepscope_base::words! {
    /// Place to fix in a run.
    pub enum Fix {
        /// The answer is right.
        None = "none" => "nothing",
        /// A right procedure, executed wrongly.
        StepRun = "step_run" => "model output",
        /// A quantity missed, or a wrong plan.
        Procedure = "procedure" => "procedure",
        /// The gold answer, or its unit.
        Gold = "gold" => "expected answer",
        /// The record does not tell.
        Unknown = "unknown" => "unknown",
    }
}

impl Fix {
    /// A place as people read it: `step_run` is the model output. A name of somebody's own stays as it is.
    pub fn phrase_of(place: &Untrusted<'_>) -> Shown {
        place.utf8().and_then(Self::from_word).map_or_else(|| place.line(), |fix| Shown::own(fix.phrase()))
    }
}

stepscope_base::words! {
    /// Confidence of a verdict.
    pub enum Confidence {
        /// Proved by calculation.
        Sure = "sure",
        /// The best explanation.
        Likely = "likely",
        /// Hardly more than a guess.
        Unsure = "unsure",
    }
}

/// One reason, with the place that proves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// The rule that belongs to it, else `triage/...`.
    pub rule: &'static str,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// In a sentence.
    pub text: Shown,
}

/// Place to fix in a run, with the reasons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Triage {
    /// Place to fix.
    pub fix: Fix,
    /// Position of the first bad step, from 0.
    pub step: Option<usize>,
    /// Result of the procedure when it is recomputed.
    pub recovered: Option<Number>,
    /// That is with a mistake corrected: a number that was misread, or a result that the expected solution works out
    /// otherwise.
    pub corrected: bool,
    /// That number is the gold number.
    pub recovers_gold: bool,
    /// Confidence of the verdict.
    pub confidence: Confidence,
    /// The argument, strongest first.
    pub why: Vec<Argument>,
}
