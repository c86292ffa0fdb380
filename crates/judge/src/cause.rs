//! Cause of a failure: a word that is the same for records that failed in the same way, so that fifty failures are a few
//! groups. It comes from one record alone, so that a group is the same whatever else is looked at.

use stepscope_record::RecordKind;
use stepscope_record::finding::{Finding, Severity};
use stepscope_record::rule_id::RuleId;

stepscope_base::words! {
    /// Way in which a record failed.
    pub enum Cause {
        /// An error of the runner or the server.
        Failed = "failed" => "Run ended with an error",
        /// A step without a usable value.
        OutputLost = "output_lost" => "Step left no usable value",
        /// An expression in place of its result.
        Unevaluated = "unevaluated" => "Calculation passed on unevaluated",
        /// A reply that ended before its end.
        CutOff = "cut_off" => "Reply cut off",
        /// An extracted number that the question does not have.
        Misread = "misread" => "Number misread from the question",
        /// A result that does not follow from the step's own calculation.
        Slip = "slip" => "Step miscalculated",
        /// A last step that states another value than it reads.
        WrongCopy = "wrong_copy" => "Answer copied wrongly",
        /// A quantity of the question that the plan does not use.
        QuantityMissed = "quantity_missed" => "Plan leaves out a quantity",
        /// A plan whose last result is on the way to the answer.
        StopsEarly = "stops_early" => "Plan ends too early",
        /// A value that the plan reads and never uses.
        ValueUnused = "value_unused" => "Plan never uses a value it reads",
        /// A plan that calculates otherwise than it should.
        OtherPlan = "other_plan" => "Plan calculates something else",
        /// A procedure that its own rules reject.
        InvalidPlan = "invalid_plan" => "Procedure not valid",
        /// A final answer of another form than is asked for.
        AnswerForm = "answer_form" => "Answer in another form than asked",
        /// A wrong expected answer.
        ExpectedAnswer = "expected_answer" => "Expected answer at fault",
        /// Values that differ by a unit.
        Unit = "unit" => "Off by a unit",
        /// Values that differ by rounding.
        Rounding = "rounding" => "Rounded otherwise",
        /// A fork whose later steps were not run again.
        OutOfDate = "out_of_date" => "Out of date after a change",
        /// A run unlike other runs of its question.
        LeavesPeers = "leaves_peers" => "Leaves its peers",
        /// A structured answer without an answer.
        NoAnswer = "no_answer" => "No answer given",
        /// Fields that contradict one another.
        Contradiction = "contradiction" => "Answer contradicts itself",
        /// A value that does not follow from the cited ones.
        ComputedWrong = "computed_wrong" => "Computed value does not follow",
        /// A value that its cited lines do not have.
        NotCited = "not_cited" => "Cited lines lack the value",
        /// A quote that is in other lines, or none.
        WrongLines = "wrong_lines" => "Quote in other lines than cited",
        /// A quote that the document does not have.
        NotInDocument = "not_in_document" => "Quote not in the document",
        /// A list without its end, or a sentence without its condition.
        Incomplete = "incomplete" => "List or cited part not whole",
        /// A completion that its verifier rejects.
        NotPassed = "not_passed" => "Rejected by its verifier",
        /// Bytes that are no record.
        Unreadable = "unreadable" => "Record cannot be read",
        /// A wrong answer without a reason in the record.
        Unknown = "unknown" => "Wrong, and not known why",
    }
}

impl Cause {
    /// Finds the cause that rules tell of, the first of the gravest; `None`: nothing more than a note speaks against the
    /// record.
    pub(crate) fn of_findings(kind: RecordKind, is_wrong: bool, findings: &[Finding]) -> Option<Self> {
        // A field that is missing next to a wrong number is not why the number is wrong.
        let explains = |finding: &&Finding| !(is_wrong && finding.rule == RuleId::AnswerSchema);
        let loud = findings.iter().filter(|finding| finding.severity < Severity::Note).filter(explains);
        let causes = loud.filter_map(|finding| Some((finding.severity, Self::of_rule(finding.rule)?)));
        let otherwise = match kind {
            RecordKind::Broken => Some(Self::Unreadable),
            RecordKind::Call if is_wrong => Some(Self::NotPassed),
            _ => is_wrong.then_some(Self::Unknown),
        };
        causes.min_by_key(|(severity, _)| *severity).map(|(_, cause)| cause).or(otherwise)
    }

    /// Returns the way of failing that a rule tells of; `None` of rules about how a record is written or was reviewed.
    pub(crate) const fn of_rule(rule: RuleId) -> Option<Self> {
        Some(match rule {
            RuleId::RecordNotJson | RuleId::CutOff => Self::Unreadable,
            RuleId::ProcedureSchema
            | RuleId::FirstStepInputs
            | RuleId::FinalStepOutput
            | RuleId::UnresolvedInput
            | RuleId::Redefined
            | RuleId::Unused
            | RuleId::PlanNotJson => Self::InvalidPlan,
            RuleId::AnswerSchema
            | RuleId::FinalBool
            | RuleId::FinalLetter
            | RuleId::LastStep
            | RuleId::JsonInvalid
            | RuleId::MissingField
            | RuleId::UnknownField
            | RuleId::WrongType
            | RuleId::EnumInvalid
            | RuleId::ConfidenceOutOfRange
            | RuleId::ShapeMismatch
            | RuleId::DateNotIso8601
            | RuleId::DateImpossible
            | RuleId::CurrencyNotIso4217
            | RuleId::TableNotRectangular
            | RuleId::RawResponseUnusable => Self::AnswerForm,
            RuleId::RunError => Self::Failed,
            RuleId::OutputMissing | RuleId::OutputUndeclared | RuleId::OutputAmbiguous => Self::OutputLost,
            RuleId::Unevaluated => Self::Unevaluated,
            RuleId::Recompute | RuleId::Equation => Self::Slip,
            RuleId::FinalMismatch | RuleId::ReplyDiffers | RuleId::LostBackslash => Self::WrongCopy,
            RuleId::Grade | RuleId::GoldNum | RuleId::GoldSteps => Self::ExpectedAnswer,
            RuleId::ReplyCut => Self::CutOff,
            RuleId::QuestionDiffers | RuleId::QuantityInvented | RuleId::QuantityChanged => Self::Misread,
            RuleId::QuantityMissed => Self::QuantityMissed,
            RuleId::NotPassed => Self::NotPassed,
            RuleId::AnswerUnit | RuleId::AnswerFactor => Self::Unit,
            RuleId::Peers => Self::LeavesPeers,
            RuleId::AnswerMissing => Self::NoAnswer,
            RuleId::FoundItemsMismatch
            | RuleId::CompleteWithoutFound
            | RuleId::MethodItemsMismatch
            | RuleId::DateOriginalDisagrees
            | RuleId::AnswerDiffersFromRawResponse
            | RuleId::ConflictUnflagged => Self::Contradiction,
            RuleId::ComputedDiffers => Self::ComputedWrong,
            RuleId::ThresholdUncited | RuleId::ValueNotInCitation | RuleId::OtherValueAsked | RuleId::ItemNoSpans => {
                Self::NotCited
            }
            RuleId::LineStartNotInDoc
            | RuleId::LineEndNotInDoc
            | RuleId::RangeReversed
            | RuleId::QuoteNotInCitedLines
            | RuleId::QuoteFoundInWiderRange
            | RuleId::QuoteFoundNearby
            | RuleId::QuoteFoundElsewhere
            | RuleId::SpanOutsideRetrievedPages
            | RuleId::SharedOffset => Self::WrongLines,
            RuleId::PhantomZeroSuspected
            | RuleId::QuoteNowhereInDoc
            | RuleId::QuoteStitched
            | RuleId::VerbatimWithoutQuote => Self::NotInDocument,
            RuleId::ListTruncatedNextPage | RuleId::ListIncomplete | RuleId::MeaningCut | RuleId::SpanBoundary => {
                Self::Incomplete
            }
            RuleId::NotFinite
            | RuleId::DuplicateKey
            | RuleId::ControlCharacter
            | RuleId::InvalidUtf8
            | RuleId::LoneSurrogate
            | RuleId::HugeInteger
            | RuleId::NumberOutOfRange
            | RuleId::TooLarge
            | RuleId::UnknownShape
            | RuleId::AnswerZero
            | RuleId::AnswerNegative
            | RuleId::AnswerNotFinite
            | RuleId::AnswerFractional
            | RuleId::AnswerMagnitude
            | RuleId::SecondLook
            | RuleId::QuoteOkAfterDehyphenation
            | RuleId::QuoteUndecided
            | RuleId::SpanCrossesPage
            | RuleId::RecordJoined
            | RuleId::DuplicateId
            | RuleId::ReviewFailed
            | RuleId::ReviewDisputed
            | RuleId::ReviewStale
            | RuleId::FinalStepDescribes
            | RuleId::ComputedNumber
            | RuleId::OnceDescribed => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::row::RowFacts;

    fn run(question: &str, text: &str, state: &str, gold: &str) -> String {
        format!(
            r#"{{"id":"a","question":"{question}","mode":"procedural","gold_answer":"{gold}","procedure":{{"NameDescription":"n","steps":[
            {{"id":1,"inputs":[{{"name":"problem_text","description":""}}],"stepDescription":"Extract the quantities.","output":[{{"name":"cups","description":"cups"}},{{"name":"price","description":"price"}}]}},
            {{"id":2,"inputs":[{{"name":"cups","description":""}},{{"name":"price","description":""}}],"stepDescription":"{text}","output":[{{"name":"total","description":""}}]}},
            {{"id":3,"inputs":[{{"name":"total","description":""}}],"stepDescription":"State the answer.","output":[{{"name":"final_answer","description":"Describes the answer"}}]}}]}},
            "state":{{{state}}}}}"#
        )
    }

    #[test]
    fn what_failed_in_the_same_way_has_the_same_cause() {
        const QUESTION: &str = "A cup costs 7 euros. What do 4 cups cost?";
        let state = |cups: u8, total: u8, answer: u8| {
            format!(
                r#""cups":{cups},"price":7,"total":{total},"final_answer":"{answer}","final_answer_numerical":{answer},"confidence":0.9"#
            )
        };
        let times = "Calculate cups * price.";
        for (text, state, gold, cause) in [
            (times, state(4, 28, 28), "4*7=<<4*7=28>>28 #### 28", None),
            (times, state(4, 27, 27), "4*7=<<4*7=28>>28 #### 28", Some(Cause::Slip)),
            (times, state(4, 82, 82), "#### 28", Some(Cause::Slip)),
            (times, state(9, 63, 63), "4*7=<<4*7=28>>28 #### 28", Some(Cause::Misread)),
            (times, state(4, 28, 29), "#### 28", Some(Cause::WrongCopy)),
            ("Calculate cups + price.", state(4, 11, 11), "4*7=<<4*7=28>>28 #### 28", Some(Cause::OtherPlan)),
            (times, state(4, 28, 28), "4*7=<<4*7=28>>28. 28-5=<<28-5=23>>23 #### 23", Some(Cause::StopsEarly)),
        ] {
            let case = Case::read(run(QUESTION, text, &state, gold).into_bytes());
            let view = case.view();
            assert_eq!(view.cause(view.findings(), view.triage()), cause, "{text} {state} {gold}");
            assert_eq!(RowFacts::of(&view, true).cause(), cause);
        }
    }

    #[test]
    fn a_row_keeps_every_cause_next_to_its_place() {
        for cause in Cause::ALL {
            let mut row = RowFacts::unchecked((1 << 42) - 1, 7);
            row.set_cause(Some(cause));
            assert_eq!(
                (row.cause(), row.offset(), row.is_fork(), row.fix_step()),
                (Some(cause), (1 << 42) - 1, false, None)
            );
            row.set_cause(None);
            assert_eq!((row.cause(), row.offset()), (None, (1 << 42) - 1));
        }
    }
}
