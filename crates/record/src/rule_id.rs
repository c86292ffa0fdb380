//! The table of rules: every id with the records that it speaks of, its severity, and its class in the review queue.
//!
//! It knows no rule, so that findings, rows and routes can name one.

use std::fmt;

use crate::RecordKind;
use crate::severity::Severity;

/// Kinds of records that a rule is about. No rule is about both runs and structured answers but those about every
/// record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kinds {
    /// All, broken ones too.
    Every,
    /// All but structured answers and chains of thought, which have no procedure.
    Runs,
    /// All but structured answers.
    Worked,
    /// Structured answers.
    Typed,
}

impl Kinds {
    /// Tells whether a kind of record is among them.
    pub fn has(self, kind: RecordKind) -> bool {
        // Every kind is named, so that a new one does not compile before it is decided which rules look at it.
        match kind {
            RecordKind::Typed => matches!(self, Self::Every | Self::Typed),
            RecordKind::Chain => matches!(self, Self::Every | Self::Worked),
            RecordKind::Procedure
            | RecordKind::Procedural
            | RecordKind::Baseline
            | RecordKind::Fixed
            | RecordKind::Error
            | RecordKind::Answer
            | RecordKind::Call
            | RecordKind::Unknown
            | RecordKind::Broken => !matches!(self, Self::Typed),
        }
    }
}

stepscope_base::words! {
    /// Reason for the place of a record in the review queue, the most urgent first.
    pub enum QueueClass {
        /// It ended in an error, cannot be read, or has no answer.
        Missing = "missing" => "failed or no answer",
        /// A finding is fatal.
        Fatal = "fatal" => "fatal finding",
        /// It was judged wrong, or a rule about runs or answers spoke.
        Flagged = "flagged" => "wrong or flagged",
        /// Not everything rests on a place in the document.
        Ungrounded = "ungrounded" => "ungrounded",
        /// A baseline answers otherwise.
        Disagrees = "disagrees" => "differs from baseline",
        /// Nothing is known against it.
        Clean = "clean" => "no findings",
    }
}

macro_rules! table {
    ($($name:ident = $word:literal, $kinds:ident, $severity:ident, $queue:ident;)+) => {
        stepscope_base::words! {
            /// The id of a rule: its place in the table. Rules speak in this order.
            #[allow(missing_docs, reason = "each is named like its word, and its rule explains it")]
            pub enum RuleId { $($name = $word),+ }
        }

        impl RuleId {
            /// Returns the kinds of records that it is about.
            pub const fn kinds(self) -> Kinds {
                match self { $(Self::$name => Kinds::$kinds),+ }
            }

            /// Returns the severity of its findings, unless they set their own.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity),+ }
            }

            /// The class of a record of which it speaks; the gravest counts.
            pub const fn queue(self) -> QueueClass {
                match self { $(Self::$name => QueueClass::$queue),+ }
            }
        }
    };
}

table! {
    RecordNotJson = "record/not_json", Every, Fatal, Clean;
    CutOff = "record/cut_off", Every, Fatal, Clean;
    NotFinite = "record/not_finite", Every, Warning, Clean;
    DuplicateKey = "record/duplicate_key", Every, Warning, Clean;
    ControlCharacter = "record/control_character", Every, Warning, Clean;
    InvalidUtf8 = "record/invalid_utf8", Every, Warning, Clean;
    LoneSurrogate = "record/lone_surrogate", Every, Warning, Clean;
    HugeInteger = "record/huge_integer", Every, Warning, Clean;
    NumberOutOfRange = "record/number_out_of_range", Every, Note, Clean;
    TooLarge = "record/too_large", Every, Warning, Clean;
    UnknownShape = "record/unknown_shape", Every, Note, Clean;
    ProcedureSchema = "procedure/schema", Runs, Fatal, Clean;
    FirstStepInputs = "procedure/first_step_inputs", Runs, Fatal, Clean;
    FinalStepOutput = "procedure/final_step_output", Runs, Fatal, Clean;
    UnresolvedInput = "procedure/unresolved_input", Runs, Fatal, Clean;
    Redefined = "procedure/redefined", Runs, Repairable, Clean;
    Unused = "procedure/unused", Runs, Repairable, Clean;
    PlanNotJson = "plan/not_json", Runs, Fatal, Clean;
    FinalStepDescribes = "plan/final_step_describes", Runs, Note, Clean;
    ComputedNumber = "plan/computed_number", Runs, Note, Clean;
    OnceDescribed = "plan/once_described", Runs, Note, Clean;
    // The run is over and its procedure may be sound: one field of one answer is to be mended, or one step re-run.
    AnswerSchema = "answer/schema", Runs, Repairable, Flagged;
    FinalBool = "answer/final_bool", Runs, Warning, Flagged;
    FinalLetter = "answer/final_letter", Runs, Warning, Flagged;
    RunError = "run/error", Runs, Warning, Missing;
    LastStep = "run/last_step", Runs, Warning, Flagged;
    OutputMissing = "run/output_missing", Runs, Warning, Missing;
    OutputUndeclared = "run/output_undeclared", Runs, Note, Flagged;
    OutputAmbiguous = "run/output_ambiguous", Runs, Note, Flagged;
    Unevaluated = "run/unevaluated", Runs, Warning, Flagged;
    Recompute = "run/recompute", Worked, Warning, Flagged;
    Equation = "run/equation", Runs, Warning, Flagged;
    FinalMismatch = "run/final_mismatch", Worked, Warning, Flagged;
    Grade = "run/grade", Worked, Warning, Flagged;
    GoldNum = "run/gold_num", Worked, Warning, Flagged;
    GoldSteps = "run/gold_steps", Worked, Note, Flagged;
    ReplyDiffers = "run/reply_differs", Runs, Warning, Flagged;
    ReplyCut = "run/reply_cut", Runs, Warning, Flagged;
    QuestionDiffers = "run/question_differs", Runs, Warning, Flagged;
    LostBackslash = "run/lost_backslash", Worked, Warning, Flagged;
    NotPassed = "call/not_passed", Every, Note, Flagged;
    QuantityMissed = "run/quantity_missed", Worked, Warning, Flagged;
    QuantityInvented = "run/quantity_invented", Runs, Warning, Flagged;
    QuantityChanged = "run/quantity_changed", Runs, Warning, Flagged;
    AnswerZero = "run/answer_zero", Worked, Note, Flagged;
    AnswerNegative = "run/answer_negative", Worked, Note, Flagged;
    AnswerNotFinite = "run/answer_not_finite", Worked, Note, Flagged;
    AnswerFractional = "run/answer_fractional", Worked, Note, Flagged;
    AnswerMagnitude = "run/answer_magnitude", Worked, Note, Flagged;
    AnswerUnit = "run/answer_unit", Worked, Note, Flagged;
    AnswerFactor = "run/answer_factor", Worked, Note, Flagged;
    JsonInvalid = "answer/json_invalid", Typed, Fatal, Flagged;
    AnswerMissing = "answer/answer_missing", Typed, Repairable, Missing;
    MissingField = "answer/missing_field", Typed, Repairable, Flagged;
    UnknownField = "answer/unknown_field", Typed, Warning, Flagged;
    WrongType = "answer/wrong_type", Typed, Repairable, Flagged;
    EnumInvalid = "answer/enum_invalid", Typed, Repairable, Flagged;
    ConfidenceOutOfRange = "answer/confidence_out_of_range", Typed, Repairable, Flagged;
    ShapeMismatch = "answer/shape_mismatch", Typed, Repairable, Flagged;
    FoundItemsMismatch = "answer/found_items_mismatch", Typed, Repairable, Flagged;
    CompleteWithoutFound = "answer/complete_without_found", Typed, Repairable, Flagged;
    MethodItemsMismatch = "answer/method_items_mismatch", Typed, Repairable, Flagged;
    DateNotIso8601 = "answer/date_not_iso8601", Typed, Repairable, Flagged;
    DateImpossible = "answer/date_impossible", Typed, Repairable, Flagged;
    DateOriginalDisagrees = "answer/date_original_disagrees", Typed, Warning, Flagged;
    CurrencyNotIso4217 = "answer/currency_not_iso4217", Typed, Repairable, Flagged;
    PhantomZeroSuspected = "answer/phantom_zero_suspected", Typed, Warning, Flagged;
    TableNotRectangular = "answer/table_not_rectangular", Typed, Repairable, Flagged;
    AnswerDiffersFromRawResponse = "answer/answer_differs_from_raw_response", Typed, Warning, Flagged;
    RawResponseUnusable = "answer/raw_response_unusable", Typed, Warning, Flagged;
    ListTruncatedNextPage = "answer/list_truncated_next_page", Typed, Warning, Flagged;
    ComputedDiffers = "answer/computed_differs", Typed, Warning, Flagged;
    ConflictUnflagged = "answer/conflict_unflagged", Typed, Warning, Flagged;
    ThresholdUncited = "answer/threshold_uncited", Typed, Note, Flagged;
    ValueNotInCitation = "answer/value_not_in_citation", Typed, Warning, Ungrounded;
    OtherValueAsked = "answer/other_value_asked", Typed, Warning, Flagged;
    ListIncomplete = "answer/list_incomplete", Typed, Note, Flagged;
    SecondLook = "answer/second_look", Typed, Note, Flagged;
    ItemNoSpans = "span/item_no_spans", Typed, Warning, Ungrounded;
    LineStartNotInDoc = "span/line_start_not_in_doc", Typed, Repairable, Ungrounded;
    LineEndNotInDoc = "span/line_end_not_in_doc", Typed, Repairable, Ungrounded;
    RangeReversed = "span/range_reversed", Typed, Repairable, Ungrounded;
    QuoteNotInCitedLines = "span/quote_not_in_cited_lines", Typed, Warning, Ungrounded;
    QuoteOkAfterDehyphenation = "span/quote_ok_after_dehyphenation", Typed, Note, Ungrounded;
    QuoteFoundInWiderRange = "span/quote_found_in_wider_range", Typed, Note, Ungrounded;
    QuoteFoundNearby = "span/quote_found_nearby", Typed, Note, Ungrounded;
    QuoteFoundElsewhere = "span/quote_found_elsewhere", Typed, Note, Ungrounded;
    QuoteNowhereInDoc = "span/quote_nowhere_in_doc", Typed, Fatal, Ungrounded;
    QuoteStitched = "span/quote_stitched", Typed, Warning, Ungrounded;
    QuoteUndecided = "quote/undecided", Typed, Note, Clean;
    VerbatimWithoutQuote = "span/verbatim_without_quote", Typed, Warning, Ungrounded;
    SpanOutsideRetrievedPages = "span/span_outside_retrieved_pages", Typed, Warning, Ungrounded;
    SpanCrossesPage = "span/span_crosses_page", Typed, Note, Ungrounded;
    SharedOffset = "span/shared_offset", Typed, Note, Ungrounded;
    SpanBoundary = "span/boundary", Typed, Note, Ungrounded;
    MeaningCut = "span/meaning_cut", Typed, Warning, Ungrounded;
    RecordJoined = "record/joined", Every, Note, Clean;
    DuplicateId = "record/duplicate_id", Every, Note, Clean;
    ReviewFailed = "review/failed", Every, Warning, Clean;
    ReviewDisputed = "review/disputed", Every, Note, Clean;
    ReviewStale = "review/stale", Every, Note, Clean;
    Peers = "run/peers", Worked, Note, Disagrees;
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
