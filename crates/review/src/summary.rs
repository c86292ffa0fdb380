//! Summary of a record for reviews and comparisons: which item it is, its answer, its content, and whether two answers
//! are the same.

use crate::event::{AnswerPart, AnswerType, ItemRef, MAX_TEXT, SeenRecord, Text};
use crate::signal::Signal;
use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::stated::{SameAnswer, read, same_answer};
use stepscope_base::canonical::Digest;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted, head};
use stepscope_evidence::typed::{AnswerItem, whole};
use stepscope_judge::case::{CaseView, Location};
use stepscope_judge::cause::Cause;
use stepscope_judge::rightness::{Rightness, answer_text, final_number};
use stepscope_judge::row::RowFacts;
use stepscope_judge::texts;
use stepscope_judge::triage::Fix;
use stepscope_record::finding::Finding;
use stepscope_record::fork_origin::is_fork;
use stepscope_record::rule_id::RuleId;
use stepscope_record::{Record, RecordKind, hash_of};

/// A question is kept by so many characters: there may be a million of them.
const MAX_QUESTION: usize = 80;
/// More of it is kept of those that people disagree about, in bytes: they decide by it.
const MAX_LONG_QUESTION: usize = 4 << 10;

/// Execution of a fork.
const FORK: &str = "fork";

/// See the module.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Kind of the record.
    pub kind: RecordKind,
    /// Position of the record.
    pub origin: Location,
    /// Item that the record is about.
    pub item: ItemRef,
    /// Execution that it shows: `rec`, the recorded one, or `fork`.
    pub execution: Text,
    /// Its content.
    pub content: Digest,
    /// The document that its answer is about, where it names one.
    pub document: Option<Text>,
    /// Digest of what the model was asked.
    pub input: Option<Digest>,
    /// The beginning of the question, by which people know the item; `None`: nobody asked, or it has none.
    pub question: Option<Shown>,
    /// The final answer as a person reads it.
    pub answer: Option<Text>,
    /// The values of a structured answer in short; `None`: nobody asked, or it is none.
    pub values: Option<Shown>,
    /// The number of the answer.
    pub number: Option<Number>,
    /// The gold number.
    pub gold: Option<Number>,
    /// Type that a corrected answer must have.
    pub answer_type: AnswerType,
    /// Number of its steps; `None`: the record does not tell.
    pub steps: Option<usize>,
    /// Hashes of the names of its variables, in order; `None`: nobody asked, or the record does not tell.
    pub variables: Option<Box<[u64]>>,
    /// Number of citations of each of its items; `None`: not asked for, or no answer with cited lines.
    pub citations: Option<Box<[u32]>>,
    /// Verdict on whether it is right, and who gave it.
    pub rightness: Rightness,
    /// The rules that found something, each once.
    pub findings: Vec<RuleId>,
    /// Place to fix, as judged from the record itself; `None`: not asked for, or no run.
    pub fix: Option<Fix>,
    /// The step that is to be fixed, from 1, where one is named.
    pub fix_step: Option<u64>,
    /// Way in which it failed; `None`: not asked for, or nothing speaks against it.
    pub cause: Option<Cause>,
    /// Judgment of the program on it, without a person; `None`: not asked for.
    pub(crate) signal: Option<Signal>,
}

impl Summary {
    /// Of a record that the rules looked at; `position` is its place in its file, from 0.
    pub fn of(case: &CaseView<'_>, findings: &[Finding], dataset: Option<Text>, position: u64) -> Self {
        Self::of_asked(case, findings, dataset, position, |_| true)
    }

    /// The same, where the content is worked out only of items that somebody asks about.
    pub fn of_asked(
        case: &CaseView<'_>,
        findings: &[Finding],
        dataset: Option<Text>,
        position: u64,
        is_asked: impl FnOnce(&ItemRef) -> bool,
    ) -> Self {
        let record = case.record.as_ref();
        let is_fork = record.is_some_and(|record| is_fork(record.root));
        let mut summary = Self {
            kind: case.kind(),
            origin: case.origin(),
            item: ItemRef { dataset, id: None, row_index: Some(position), side: None },
            execution: if is_fork { FORK.into() } else { "rec".into() },
            content: Digest::UNASKED,
            document: None,
            input: record.and_then(Record::input_digest),
            question: None,
            answer: None,
            values: None,
            number: None,
            gold: None,
            answer_type: AnswerType::Any,
            steps: None,
            variables: None,
            citations: None,
            rightness: Rightness::default(),
            findings: Vec::new(),
            fix: None,
            fix_step: None,
            cause: None,
            signal: None,
        };
        summary.take_findings(findings);
        if let Some(record) = record {
            summary.take(record);
            (summary.gold, summary.rightness) = (case.gold().map(|gold| gold.value), case.rightness());
        }
        if is_asked(&summary.item) {
            summary.take_content(case);
        }
        summary
    }

    fn take(&mut self, record: &Record<'_>) {
        let number = final_number(record);
        self.item.id = record.id_text().map(|id| id_of(&id));
        self.document = record.document_name().map(|name| id_of(&name));
        self.item.row_index = row_index(record).or(self.item.row_index);
        self.answer_type = AnswerType::of(record);
        // A structured answer is one call.
        self.steps = record.step_count().or(record.typed.is_some().then_some(0));
        self.answer = match (self.answer_type, number) {
            (AnswerType::Number, Some(number)) => Some(Untrusted::from(number.value.json())),
            _ => answer_text(record),
        };
        self.number = number.map(|number| number.value);
    }

    /// Also takes down its content.
    pub fn take_content(&mut self, case: &CaseView<'_>) {
        let record = case.record.as_ref();
        self.content = record.map_or_else(|| Digest::of_bytes(case.text()), |record| Digest::of(record.root));
    }

    /// Also takes down the rules that found something.
    pub(crate) fn take_findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            if !self.findings.contains(&finding.rule) {
                self.findings.push(finding.rule);
            }
        }
    }

    /// Also takes down where its run is to be fixed.
    pub fn take_fix(&mut self, case: &CaseView<'_>) {
        let triage = case.triage();
        self.fix = triage.map(|triage| triage.fix);
        self.fix_step = triage.and_then(|triage| triage.step).map(|step| step as u64 + 1);
    }

    /// Also takes down what rules, verdict and peers say of it: how accurate all records are is estimated by that.
    pub fn take_signal(&mut self, case: &CaseView<'_>) {
        let mut row = RowFacts::unchecked(0, 0).ruled(case, case.findings(), case.baseline());
        if let Some(triage) = case.triage() {
            row.judge(triage);
        }
        self.signal = Some(Signal::of(&row));
    }

    /// Tells whether somebody tried something else than the record of the run.
    pub(crate) fn is_fork(&self) -> bool {
        self.execution == FORK
    }

    /// Also takes down the way in which it failed.
    pub fn take_cause(&mut self, case: &CaseView<'_>) {
        self.cause = case.cause(case.findings(), case.triage());
    }

    /// Also takes down the beginning of its question, and the values of a structured answer.
    pub fn take_question(&mut self, case: &CaseView<'_>) {
        self.values = case.record.as_ref().and_then(texts::answered).map(|values| values.cut(MAX_QUESTION));
        let question = case.record.as_ref().and_then(texts::question);
        self.question = question.filter(|text| !text.as_str().is_empty()).map(|text| text.cut(MAX_QUESTION));
    }

    /// The same with nearly all of its question.
    pub fn take_long_question(&mut self, case: &CaseView<'_>) {
        self.take_question(case);
        let question = case.record.as_ref().and_then(|record| texts::question_up_to(record, MAX_LONG_QUESTION));
        self.question = question.filter(|_| self.question.is_some());
    }

    /// Names the item as people know it, in at most so many characters: by its question, else its id or position.
    pub fn title(&self, characters: usize) -> Shown {
        let question = self.question.clone();
        question.unwrap_or_else(|| self.item.name().line()).cut(characters)
    }

    /// Also takes down the rules that found something, the names of its variables, where the record tells them, and what
    /// its answer consists of.
    pub fn take_parts(&mut self, case: &CaseView<'_>) {
        self.take_findings(case.findings());
        let variables = case.state().variables().iter();
        let mut names: Vec<u64> = variables.map(|variable| hash_of(variable.name.bytes())).collect();
        names.sort_unstable();
        self.variables = (case.typed().is_none() && !names.is_empty()).then(|| names.into());
        let citations = |item: &AnswerItem<'_>| u32::try_from(item.citations.len()).unwrap_or(u32::MAX);
        self.citations = case.answered().map(|(_, answered)| answered.items.iter().map(citations).collect());
    }

    /// Explains why a review cannot be about this part of the record; `None`: it may have it.
    pub fn refuses_part(&self, part: AnswerPart) -> Option<Shown> {
        let Some(citations) = &self.citations else {
            return Some(Shown::own("this record is no answer with cited lines; leave out the part"));
        };
        let item = usize::try_from(part.item).ok().and_then(|item| citations.get(item));
        let Some(item) = item else {
            return Some(shown!("there is no item {} (from 0): this answer has {}", part.item, citations.len()));
        };
        let citation = part.citation.filter(|citation| *citation >= u64::from(*item))?;
        Some(shown!("there is no citation {citation} (from 0): this item has {item}"))
    }

    /// Explains why a review cannot be about this step or variable of the record; `None`: it may have them.
    pub fn refuses(&self, step: Option<u64>, variable: Option<&Text>) -> Option<Shown> {
        if let Some((step, steps)) = step.zip(self.steps).filter(|(step, steps)| *step > *steps as u64) {
            return Some(match steps {
                0 => shown!("no step {step}: this record has no steps"),
                1 => shown!("no step {step}: this record has 1 step"),
                _ => shown!("no step {step}: this record has {steps} steps"),
            });
        }
        let (variable, names) = variable.zip(self.variables.as_deref())?;
        let is_there = names.binary_search(&hash_of(variable.bytes())).is_ok();
        (!is_there).then(|| shown!("this record has no variable \"{}\"", variable.line().cut(40)))
    }

    /// Describes what a person sees who judges it now.
    pub fn seen(&self) -> SeenRecord {
        SeenRecord {
            content_sha256: Some(self.content),
            input_sha256: self.input,
            execution: Some(self.execution.clone()),
            hidden: Vec::new(),
            answer: self.answer.clone(),
        }
    }

    /// Tells whether it ended without an answer: in an error, or unreadable.
    pub const fn is_error(&self) -> bool {
        matches!(self.kind, RecordKind::Error | RecordKind::Broken)
    }

    /// Tells whether its answer is the same as another; `None` where that cannot be told.
    pub fn answers(&self, other: &Text) -> Option<bool> {
        let other_words = other.utf8().and_then(read)?;
        if self.number.is_some_and(|number| other_words.says(number)) {
            return Some(true);
        }
        let (own, other) = (self.answer.as_ref()?.utf8()?, other.utf8()?);
        // Of a text of several lines only the last one is a statement.
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if folded(own) == folded(other) {
            return Some(true);
        }
        let own_words = read(own)?;
        if own_words.number().is_none() && !own_words.is_announced {
            return None;
        }
        match same_answer(&other_words, &own_words) {
            SameAnswer::Same => Some(true),
            SameAnswer::Different => Some(false),
            SameAnswer::CannotTell => (self.number.is_some() && other_words.number().is_some()).then_some(false),
        }
    }
}

/// A record's id as journals have it: what is no text in JSON is replaced there.
pub fn id_of(id: &Untrusted<'_>) -> Text {
    match id.utf8() {
        Some(_) => id.to_owned(),
        None => Untrusted::from(String::from_utf8_lossy(head(id.bytes(), MAX_TEXT)).into_owned()),
    }
}

fn row_index(record: &Record<'_>) -> Option<u64> {
    u64::try_from(whole(record.root.get("row_index").filter(|row| row.is_number())?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_judge::case::Case;

    fn summary(text: &str) -> Summary {
        let case = Case::read(text.as_bytes());
        let view = case.view();
        Summary::of(&view, view.findings(), Some("runs.jsonl".into()), 4)
    }

    #[test]
    fn a_zero_beside_a_text_with_a_number_is_not_shown_as_the_answer() {
        let run = |answer: &str, rest: &str| {
            format!(
                r#"{{"id": 1, "question": "q", "gold_answer": "x #### 1,080", "status": "ok", "mode": "baseline",
                "pred_answer": "{answer}", "pred_num": 0.0, "state": {{{rest}}}}}"#
            )
        };
        let shown = |text: &str| {
            let case = Case::read(text.as_bytes());
            let (view, summary) = (case.view(), summary(text));
            let record = view.record.as_ref().unwrap();
            assert_eq!(
                stepscope_judge::texts::RowTexts::of(record).pred.as_str().replace(',', ""),
                match summary.number {
                    Some(number) if number != Number::ZERO => number.json(),
                    _ => "0.0".to_owned(),
                }
            );
            summary.answer.unwrap().utf8().unwrap().to_owned()
        };
        for (answer, number) in [("1,080", "1080"), ("It is 1080.", "1080"), ("none of the 5", "0"), ("0 of 5", "0")] {
            assert_eq!(shown(&run(answer, "")), number, "{answer}");
        }
        assert_eq!(shown(&run("5 are left", r#""final_answer": "5 are left", "final_answer_numerical": 0"#)), "0");
    }

    #[test]
    fn a_card_says_what_a_person_needs_to_know_again() {
        let run = summary(
            r#"{"id": 17, "row_index": 9, "question": " How many? ", "gold_answer": "x #### 1,080", "gold_num": 80.0,
            "state": {"final_answer": "It is 1080.", "final_answer_numerical": 1080.0}, "pred_num": 1080.0, "correct": false}"#,
        );
        assert_eq!((run.item.id.as_ref(), run.item.row_index), (Some(&"17".into()), Some(9)));
        assert_eq!((run.rightness.recorded, run.rightness.by_expected), (Some(false), Some(true)));
        assert_eq!(run.answer, Some("1080".into()));
        assert_eq!(run.input, Some(Digest::of_bytes(b"How many?")));
        assert_eq!((run.answers(&"1080.0".into()), run.answers(&"80".into())), (Some(true), Some(false)));
        assert!(!run.is_error());
        assert!(run.findings.contains(&RuleId::GoldNum));
        assert_eq!((run.question.as_ref(), run.title(9).as_str()), (None, "17"));

        let text = summary(r#"{"final_answer": "The  Big\nHouse "}"#);
        assert_eq!(text.answers(&"the big house".into()), Some(true));
        assert_ne!(text.answers(&"the house".into()), Some(true));
        assert_eq!((text.item.id, text.item.row_index), (None, Some(4)));

        let named = |text: &str| {
            let case = Case::read(text.as_bytes());
            let mut summary = Summary::of(&case.view(), &[], None, 4);
            summary.take_question(&case.view());
            summary
        };
        let long = named(&format!(
            r#"{{"id": 1, "question": "\u001b[31m{}", "gold_num": 4, "state": {{}}}}"#,
            "é".repeat(200)
        ));
        assert_eq!(long.question.as_ref().unwrap().as_str(), format!("␛[31m{}…", "é".repeat(MAX_QUESTION - 5)));
        assert_eq!(long.title(7).as_str(), "␛[31méé…");
        // Without a question nothing else of the record is told: it may be hidden.
        assert_eq!(named(r#"{"id": 7, "gold_num": 4, "state": {}}"#).title(20).as_str(), "7");

        let broken = summary("{\"id\": ");
        assert!(broken.is_error() && broken.content == Digest::of_bytes(b"{\"id\": "));
    }
}
