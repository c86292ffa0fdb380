//! Where a run is to be fixed, how sure that is, and why.

use crate::cause::Cause;
use stepscope_arithmetic::number::Number;
use stepscope_base::json::Pointer;
use stepscope_base::json::write::{Json, Raw, Writer};
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::RecordKind;

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
    /// Tells whether the run is at fault, by its model or its procedure.
    pub const fn is_in_run(self) -> bool {
        matches!(self, Self::StepRun | Self::Procedure)
    }

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

stepscope_base::words! {
    /// Reason for a place to fix that is no rule's finding.
    pub enum Reason {
        /// The expected answer.
        Right = "triage/right" => "The answer is the expected one.",
        /// A right answer behind a wrong step.
        Luck = "triage/luck" => "The answer is right, though a step on the way is proven wrong: right by luck.",
        /// The record's own grade alone.
        Judged = "triage/judged" => "The record says that the run is right, and holds no expected answer.",
        /// A number misread, or two exchanged.
        Misread = "triage/misread" => "With a number of the question in place of the one that was extracted, or two exchanged, the run gives the expected answer.",
        /// Another variable than the words say.
        Names = "triage/names" => "A step calculates with another variable than its words or names say.",
        /// A plan that does not lead to the answer.
        Plan = "triage/plan" => "The steps follow the plan, but the plan does not lead to the expected answer.",
        /// A step unlike the expected solution.
        Departs = "triage/departs" => "A step gives a number that the expected solution does not have, or continues where that ends.",
        /// An intermediate result as the answer.
        Partial = "triage/partial" => "The answer is an intermediate result, or the plan ends before the question is answered.",
        /// A result unlike that of the expected solution from the same inputs.
        Worked = "triage/worked" => "A step that says nothing of how it calculates wrote another number than the expected solution works out from the same inputs.",
        /// A quantity without a number.
        UnknownQuantity = "triage/unknown_quantity" => "The plan calculates with a quantity that no step gives a number.",
        /// A fork whose answer is out of date.
        OutOfDate = "triage/out_of_date" => "The answer of a fork comes from a step that was not run again though what it reads was changed.",
        /// A fork that calculates with what a person set.
        Overridden = "triage/overridden" => "A person overrode the question or a value, so the expected answer need not hold.",
        /// A difference by rounding.
        Rounding = "triage/rounding" => "Run and expected answer differ by how they round.",
        /// A difference by a unit.
        Unit = "triage/unit" => "Run and expected answer differ by a unit.",
        /// A second model that agrees with the run.
        Baseline = "triage/baseline" => "Another model gives the answer of the run, not the expected one.",
        /// No reason in the record.
        Unknown = "triage/unknown" => "The record does not show what went wrong.",
    }
}

/// One reason, with the place that proves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// The rule that belongs to it, else the word of a [`Reason`].
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
    /// True if the run is a chain of thought: it has no procedure, and what is wrong with its plan is its reasoning.
    pub is_chain: bool,
    /// Confidence of the verdict.
    pub confidence: Confidence,
    /// Way in which the run failed, as far as it is known.
    pub cause: Option<Cause>,
    /// The argument, strongest first.
    pub why: Vec<Argument>,
}

impl Triage {
    /// Tells whether a right record of a kind needs no fix: one that ended in an error needs one, and others are no runs.
    pub(crate) const fn asks_whether_right(kind: RecordKind) -> bool {
        matches!(kind, RecordKind::Procedural | RecordKind::Fixed | RecordKind::Baseline | RecordKind::Chain)
    }

    /// The place to fix as people read it.
    pub const fn phrase(&self) -> &'static str {
        match self.fix {
            Fix::Procedure if self.is_chain => "reasoning",
            fix => fix.phrase(),
        }
    }
}

/// Writes where to fix a run. Steps count from 1, as people count them.
impl Json for Triage {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.object(|object| {
            object.put("fix", self.fix.word()).put("step", self.step.map(|step| step + 1));
            object.put("recovered", self.recovered.map(|recovered| Raw(recovered.json())));
            object.put("recovers_gold", self.recovers_gold);
            object.put("confidence", self.confidence.word()).objects("why", &self.why, |argument, object| {
                object.put("rule", argument.rule).put("pointer", argument.pointer.text()).put("text", &argument.text);
            });
        });
    }
}
