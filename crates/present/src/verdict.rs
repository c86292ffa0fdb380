//! What a record is, what it answers, and where it is to be fixed.

use stepscope_base::json::{Kind, Pointer, Value};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_evidence::citations::Grounding;
use stepscope_execution::verify::recorded_reward;
use stepscope_judge::case::CaseView;
use stepscope_judge::rightness::final_number;
use stepscope_judge::route::Route;
use stepscope_judge::texts::gold_text;
use stepscope_judge::triage::{Argument, Confidence, Fix, Triage};
use stepscope_record::finding::Severity;
use stepscope_record::messages::{Conversation, last_asked, told};
use stepscope_record::{Record, RecordKind};

use crate::notes::FindingPlaces;
use crate::values::{one_line, present, prose, short_line};

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
    /// The argument, strongest first.
    pub why: Vec<FixReason>,
}

impl WhereToFix {
    pub(crate) fn of(triage: &Triage, places: &mut FindingPlaces<'_, '_>) -> Self {
        let why = |argument: &Argument| FixReason {
            text: argument.text.clone(),
            rule: argument.rule,
            pointer: argument.pointer.clone(),
            step: places.argument(argument).step,
        };
        Self {
            fix: triage.fix,
            phrase: triage.phrase(),
            step: triage.step,
            recovered: triage.recovered.map(|number| shown!("{}", number.shown())),
            corrected: triage.corrected,
            recovers_gold: triage.recovers_gold,
            confidence: triage.confidence,
            why: triage.why.iter().map(why).collect(),
        }
    }

    /// `model output, step 2 (sure)`
    pub fn words(&self) -> Shown {
        shown!("{}{} ({})", self.phrase, self.step_words(), self.confidence.word())
    }

    /// `Fix: model output, step 2 (sure)`; of what there is nothing to fix in, that.
    pub fn heading(&self) -> Shown {
        match self.fix {
            Fix::None => Shown::own("Nothing to fix"),
            Fix::StepRun | Fix::Procedure => shown!("Fix: {}", self.words()),
            Fix::Gold => shown!("Check the expected answer{} ({})", self.step_words(), self.confidence.word()),
            Fix::Unknown => shown!("Where to fix: {}", self.words()),
        }
    }

    fn step_words(&self) -> Shown {
        self.step.map_or_else(Shown::default, |step| shown!(", step {}", step + 1))
    }
}

/// Argument for where to fix a record.
#[derive(Debug, Clone)]
pub struct FixReason {
    /// The sentence.
    pub text: Shown,
    /// Rule that it rests on.
    pub rule: &'static str,
    /// Position in the record, as a JSON pointer.
    pub pointer: Pointer,
    /// The step that it is about.
    pub step: Option<usize>,
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

/// Rating, shown as a sign, a word and a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// As it should be.
    Good,
    /// Something speaks against it.
    Doubt,
    /// Wrong.
    Bad,
    /// It ended with an error, or cannot be read.
    Failed,
    /// Nobody can tell, or nobody asked.
    Open,
}

impl Mood {
    /// Returns its sign.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Doubt => "▲",
            Self::Bad => "✗",
            Self::Failed => "⊘",
            Self::Open => "•",
        }
    }

    /// Of a finding.
    pub const fn of(severity: Severity) -> Self {
        match severity {
            Severity::Fatal | Severity::Repairable => Self::Bad,
            Severity::Warning => Self::Doubt,
            Severity::Note => Self::Open,
        }
    }

    /// Of a citation, and of an item by its worst one.
    pub const fn of_citation(grounding: Grounding) -> Self {
        match grounding {
            Grounding::Grounded => Self::Good,
            Grounding::Unproven => Self::Open,
            Grounding::Misplaced => Self::Doubt,
            Grounding::Nowhere => Self::Bad,
        }
    }
}

/// Verdict on a record, in a sentence.
#[derive(Debug, Clone)]
pub struct RecordVerdict {
    /// Its rating.
    pub mood: Mood,
    /// The sentence, without its full stop.
    pub words: Shown,
}

impl RecordVerdict {
    /// Of a record.
    pub(crate) fn of(case: &CaseView<'_>, is_lucky: bool) -> Self {
        let (mood, words) = Self::rated(case, is_lucky);
        Self { mood, words }
    }

    fn rated(case: &CaseView<'_>, is_lucky: bool) -> (Mood, Shown) {
        let Some(record) = &case.record else { return (Mood::Failed, Shown::own("Not readable as JSON")) };
        if let Some(routed) = case.routed() {
            let mood = match routed.route {
                Route::Ship => Mood::Good,
                Route::Reject => Mood::Bad,
                Route::Pending => Mood::Open,
                _ => Mood::Doubt,
            };
            let grounded = match (case.grounded(), case.items().len()) {
                (Some(grounded), items) if items > 0 => shown!("; {grounded} of {items} items grounded"),
                _ => Shown::default(),
            };
            let mut phrase = routed.route.phrase().chars();
            let first = phrase.next().map_or_else(String::new, |first| first.to_uppercase().to_string());
            return (mood, shown!("{first}{}{grounded}", phrase.as_str()));
        }
        match record.kind {
            RecordKind::Error => {
                let kind =
                    record.error_type.map(|kind| short_line(kind, 200)).filter(|kind| !kind.as_str().trim().is_empty());
                let kind = kind.map(|kind| shown!(": {kind}")).unwrap_or_default();
                (Mood::Failed, shown!("Run ended with an error{kind}"))
            }
            RecordKind::Procedure => match case.findings().iter().map(|finding| finding.severity).min() {
                Some(worst) if worst <= Severity::Repairable => (Mood::Bad, Shown::own("Procedure has errors")),
                Some(Severity::Warning) => (Mood::Doubt, Shown::own("Procedure has warnings")),
                _ => (Mood::Good, Shown::own("No errors found in the procedure")),
            },
            RecordKind::Call => match recorded_reward(record.root) {
                Some(reward) => (Mood::Open, shown!("Scored {reward:?}")),
                None => (Mood::Open, Shown::own("Not scored")),
            },
            RecordKind::Unknown => (Mood::Open, Shown::own("Not a record")),
            _ => Self::graded(case, record, is_lucky),
        }
    }

    /// A run against its expected answer.
    fn graded(case: &CaseView<'_>, record: &Record<'_>, is_lucky: bool) -> (Mood, Shown) {
        let answered = final_number(record).map(|number| number.value.shown());
        let answered = answered.map(|number| shown!("answered {number}"));
        let answered =
            answered.or_else(|| record.pred_answer.map(|value| shown!("answered {}", short_line(value, 120))));
        let expected = case.gold().map(|gold| shown!(", expected {}", gold.value.shown())).unwrap_or_default();
        let answered = answered.unwrap_or_else(|| Shown::own("no answer"));
        let rightness = case.rightness();
        match rightness.verdict() {
            Some(true) if rightness.is_contradicted() => {
                (Mood::Good, shown!("Right, though graded wrong: {answered}{expected}"))
            }
            Some(false) if rightness.is_contradicted() => {
                (Mood::Bad, shown!("Wrong, though graded right: {answered}{expected}"))
            }
            Some(true) if is_lucky => (Mood::Doubt, shown!("Right by luck: {answered}{expected}")),
            Some(true) => (Mood::Good, shown!("Right: {answered}{expected}")),
            Some(false) => (Mood::Bad, shown!("Wrong: {answered}{expected}")),
            None => (Mood::Open, shown!("Not graded: {answered}")),
        }
    }
}
