//! What a record is, what it answers, and where it is to be fixed.

use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_judge::texts::gold_text;
use stepscope_judge::triage::{Confidence, Fix, Triage};
use stepscope_record::Record;
use stepscope_record::messages::{Conversation, last_asked, told};

use crate::values::{one_line, present, prose};

/// Verdict on where to fix a run, as the header shows it.
#[derive(Debug, Clone)]
pub struct WhereToFix {
    /// Part to fix.
    pub fix: Fix,
    /// The part as people read it.
    pub phrase: &'static str,
    /// The first bad step.
    pub step: Option<usize>,
    /// Number that the procedure gives when it is recomputed.
    pub recovered: Option<Shown>,
    /// True if that is with a mistake corrected.
    pub corrected: bool,
    /// True if that is the expected number.
    pub recovers_gold: bool,
    /// Confidence.
    pub confidence: Confidence,
}

impl WhereToFix {
    pub(crate) fn of(triage: &Triage) -> Self {
        Self {
            fix: triage.fix,
            phrase: triage.phrase(),
            step: triage.step,
            recovered: triage.recovered.map(|number| shown!("{}", number.shown())),
            corrected: triage.corrected,
            recovers_gold: triage.recovers_gold,
            confidence: triage.confidence,
        }
    }
}

/// The plain facts of a record.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) id: Shown,
    pub(crate) question: Shown,
    pub(crate) gold: Option<Shown>,
    pub(crate) worked: Option<Shown>,
    pub(crate) pred: Option<Shown>,
    pub(crate) answer: Option<Shown>,
    pub(crate) correct: Option<bool>,
    pub(crate) error: Option<Shown>,
    pub(crate) reply: Option<Shown>,
    pub(crate) fitness: Option<Shown>,
    pub(crate) reward: Option<Shown>,
    pub(crate) has_trace: bool,
}

impl Facts {
    pub(crate) fn of(case: &CaseView<'_>, record: &Record<'_>, conversation: &Conversation) -> Self {
        // What was said before stands among the messages.
        let last = |asked| last_asked(asked).filter(|_| conversation.is_long()).map(|asked| Shown::prose(&asked));
        let line = |value: Option<Value<'_>>| present(value).map(one_line);
        let own = |key: &str| record.answer.and_then(|answer| answer.get(key));
        let error = present(record.error).map(|error| match present(record.error_type) {
            Some(kind) => shown!("{}: {}", one_line(kind), prose(error)),
            None => prose(error),
        });
        Self {
            id: record.id_text().map(|id| id.line()).unwrap_or_default(),
            question: present(record.question)
                .map(|asked| last(asked).or_else(|| told(asked)).unwrap_or_else(|| prose(asked)))
                .unwrap_or_default(),
            gold: gold_text(record),
            worked: present(record.gold_answer).filter(|gold| gold.kind() == Kind::String).map(prose).filter(is_prose),
            pred: line(record.pred_num).or_else(|| line(own("final_answer_numerical"))),
            answer: line(record.pred_answer).or_else(|| line(own("final_answer"))),
            correct: case.rightness().verdict(),
            error,
            reply: present(record.raw).map(prose),
            fitness: line(record.fitness),
            reward: line(record.reward),
            has_trace: record.trace_steps.is_some(),
        }
    }
}

/// Tells whether a text is more than a word or a number.
fn is_prose(text: &Shown) -> bool {
    text.as_str().trim().contains(char::is_whitespace)
}
